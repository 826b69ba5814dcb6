"""Documents that are almost the same: all pairs, found without comparing all.

Of two documents that have nearly all tokens in common, at least one is common to the rarest few of each. So documents
are only compared that share one of their rarest terms and are of about the same length; of these, only pairs whose
signatures (a few bits that tokens turn over) do not rule it out; and these exactly. Nothing is missed.
"""

from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from diln.analysis.index.overlaps import WORD, Bags, Lists, joined, listed, sign
from diln.corpus import Corpus
from diln.engine.threads import Threads, cut
from diln.errors import check_kind
from diln.models.checks import check_number, check_whole

if TYPE_CHECKING:
    from diln.corpus.watch import Watch

Pairs = tuple[tuple[int, int, float], ...]
LEAST = 0.5  # that can be asked for: below, there are too many to compare
BLOCK = 2_048  # documents that are compared with all before them at a time
ROOM = 1 << 18  # pairs that are held at a time, beside the best
MOST_WORDS = 16  # of a signature


def duplicates(
    corpus: Corpus, n: int | None = 20, least: float = 0.95, n_jobs: int = 1, watch: "Watch | None" = None
) -> Pairs:
    """Pairs of documents that have nearly all tokens in common, the most alike first.

    Parameters
    ----------
    corpus : Corpus
        Documents. Those without a token are left out.
    n : int, optional
        Maximum number of pairs; None for all.
    least : float
        Share of their tokens that documents have in common: of each term the smaller of its two counts, over the
        larger. From 0.5 on; the larger, the faster.
    n_jobs : int
        Number of threads; -1 uses all cores. The result is the same for any number.
    watch : Watch, optional
        Is notified of progress.

    Returns
    -------
    tuple of (int, int, float)
        Rows, the smaller one first, and the share. Of several documents with the same counts, each is paired with the
        first of them only, and only the first with others.
    """
    check_kind("corpus", corpus, Corpus)
    check_number("least", least, LEAST, 1)
    if n is not None:
        check_whole("n", n, 1, ", or None for all")
    counts = csr_array(corpus.counts)
    sizes = np.asarray(corpus.doc_lengths, np.int64)
    rows, best = _equal(counts, sizes)
    rows = rows[np.argsort(sizes[rows], kind="stable")]
    best = _best(best, n)
    if len(rows) > 1:
        best = _near(_bags(counts, sizes, rows), counts.shape[1], rows, best, n, float(least), n_jobs, watch)
    return tuple(zip(best.first.tolist(), best.second.tolist(), best.share.tolist(), strict=True))


class _Found(NamedTuple):
    """Pairs of rows, the smaller one first, and the shares that they have in common."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    share: NDArray[np.float64]


def _best(found: _Found, n: int | None) -> _Found:
    """The ``n`` most alike, in order."""
    order = np.lexsort((found.second, found.first, -found.share))[:n]
    return _Found(found.first[order], found.second[order], found.share[order])


def _together(*some: _Found) -> _Found:
    return _Found(*map(np.concatenate, zip(*some, strict=True)))


def _equal(counts: csr_array, sizes: NDArray[np.int64]) -> tuple[NDArray[np.int64], _Found]:
    """Documents with tokens that are the first with their counts, and the others, each with the first of its kind."""
    seen: dict[bytes, int] = {}
    first, same = [], []
    for row in np.flatnonzero(sizes).tolist():
        terms = slice(counts.indptr[row], counts.indptr[row + 1])
        key = blake2b(counts.indices[terms].tobytes() + counts.data[terms].tobytes(), digest_size=16).digest()
        earlier = seen.setdefault(key, row)
        if earlier == row:
            first.append(row)
        else:
            same.append((earlier, row))
    pairs = np.array(same, np.int64).reshape(-1, 2)
    return np.array(first, np.int64), _Found(pairs[:, 0], pairs[:, 1], np.ones(len(pairs)))


def _bags(counts: csr_array, sizes: NDArray[np.int64], rows: NDArray[np.int64]) -> Bags:
    """Some documents, by ascending size, with their rarest terms first."""
    kept, sizes = counts[rows], sizes[rows]
    n_docs, n_terms = kept.shape
    rank = np.empty(n_terms, np.int32)
    rank[np.argsort(np.bincount(kept.indices, minlength=n_terms), kind="stable")] = np.arange(n_terms, dtype=np.int32)
    ranked = csr_array((kept.data, rank[kept.indices], kept.indptr), shape=kept.shape)
    ranked.sort_indices()
    offsets, terms = ranked.indptr.astype(np.int64), ranked.indices.astype(np.int32)
    numbers = np.minimum(ranked.data, np.iinfo(np.int32).max).astype(np.int32)
    n_words = int(np.clip(-(-4 * np.median(sizes) // WORD), 1, MOST_WORDS))
    signatures = np.zeros((n_docs, n_words), np.uint64)
    sign(offsets, terms, numbers, signatures)
    return Bags(offsets, terms, numbers, sizes, signatures)


class _Work(NamedTuple):
    """What all blocks share."""

    bags: Bags
    lists: Lists
    rows: NDArray[np.int64]
    n: int | None
    floor: NDArray[np.float64]  # (1,): share below which a pair is none of the best any more; rises on the way


def _near(
    bags: Bags, n_terms: int, rows: NDArray[np.int64], best: _Found, n: int | None, least: float, n_jobs: int,
    watch: "Watch | None",
) -> _Found:  # fmt: skip
    """The best pairs among documents with different counts, and the best until now."""
    work = _Work(bags, listed(bags, n_terms, least), rows, n, np.array([least]))
    blocks = cut(len(rows), BLOCK)
    with Threads(n_jobs) as engine:
        for (_, last), found in zip(blocks, engine.map(_block, blocks, work), strict=True):
            best = _best(_together(best, found), n)
            if n is not None and len(best.share) == n:
                work.floor[0] = max(least, best.share[-1])  # a pair as good as the last may come before it
            if watch is not None:
                watch.step(last, len(rows), last)
    return best


def _block(block: tuple[int, int], work: _Work) -> _Found:
    """The best pairs of some documents with those before them."""
    at, last = block
    best = _Found(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    while at < last:
        room = max(ROOM, 2 * last)  # one document may be like all before it
        at, one, other, share = joined(work.bags, work.lists, float(work.floor[0]), at, last, room)
        both = np.sort(np.stack([work.rows[one], work.rows[other]]), axis=0)
        best = _best(_together(best, _Found(both[0], both[1], share)), work.n)
    return best
