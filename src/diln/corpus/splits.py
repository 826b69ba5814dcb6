"""Training and test documents, and the two halves of each test document for document completion."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from diln.corpus.strings import offsets_of
from diln.errors import brief

if TYPE_CHECKING:
    from diln.corpus.corpus import Corpus

MOST_TEST_DOCUMENTS = 2000
MOST_VALIDATION_DOCUMENTS = 1000
MOST_SHUFFLED = 2**22  # tokens of a document that are shuffled one by one
MOST_DRAWN = 10**9  # tokens that NumPy draws from without putting them back

Tokens = tuple[NDArray[np.int32], NDArray[Any]]  # terms, and how often each


@dataclass(frozen=True, slots=True)
class Completion:
    """A split for document completion: fit on ``train``, see ``observed``, predict ``held_out``.

    Attributes
    ----------
    train, test : Corpus
        Documents to fit to, and documents to complete.
    observed, held_out : csr_array (n_test, n_terms)
        The two halves of each test document; they add up to the counts of ``test``.
    """

    train: "Corpus"
    test: "Corpus"
    observed: csr_array
    held_out: csr_array


def test_rows(
    n_docs: int, rng: np.random.Generator, n_test: int | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows for training and rows for testing, by one permutation; a fifth, 2,000 at most, are for testing."""
    n_test = min(MOST_TEST_DOCUMENTS, n_docs // 5) if n_test is None else n_test
    if not isinstance(n_test, int | np.integer) or not 0 < n_test < n_docs:
        raise ValueError(
            f"{brief(n_test)} of {n_docs} documents cannot be set aside for testing; set aside 1 to {n_docs - 1}"
        )
    order = rng.permutation(n_docs)
    return order[n_test:], order[:n_test]


def generator(seed: int) -> np.random.Generator:
    """The generator of a seed."""
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise ValueError(f"seed is {brief(seed)}; give a whole number from 0 on") from None


def completion_rows(
    n_docs: int, seed: int, n_test: int | None = None, *, validation: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.int64], np.random.Generator]:
    """Rows to fit on, rows whose documents are completed, and the generator that their halves are to be made with.

    These are the test documents, or with ``validation`` some of the training documents, an eighth and 1,000 at most:
    what is chosen on them has seen no test document.
    """
    rng = generator(seed)
    train, test = test_rows(n_docs, rng, n_test)
    if not validation:
        return train, test, rng
    rng = np.random.default_rng([seed, 1])
    size = min(MOST_VALIDATION_DOCUMENTS, len(train) // 8)
    if not size:
        raise ValueError(f"{len(train)} documents for training are too few to set some aside for validation; give more")
    mixed = rng.permutation(train)
    return mixed[size:], mixed[:size], rng


def halves(counts: csr_array, rng: np.random.Generator) -> tuple[csr_array, csr_array]:
    """Split each document's tokens at random in two: half (rounded down) observed, the rest held out.

    Document after document, its tokens (each term repeated by its count, terms ascending) are shuffled by ``rng`` and
    the first n // 2 are observed, so that the same generator gives the same halves everywhere. Of a document that is
    too long for that, the number of each term's tokens is drawn.
    """
    observed, kept = [], []
    for row in range(counts.shape[0]):
        entries = slice(counts.indptr[row], counts.indptr[row + 1])
        first, second = _halved(counts.indices[entries], counts.data[entries], rng)
        observed.append(first)
        kept.append(second)
    return _count(observed, counts.shape[1]), _count(kept, counts.shape[1])


def pass_over(counts: csr_array, rng: np.random.Generator) -> None:
    """Have a generator where ``halves`` of these documents leaves it: what it draws depends on how long they are."""
    ends = np.concatenate([[0], np.cumsum(counts.data, dtype=np.int64)])
    sizes = np.diff(ends[counts.indptr])
    room = np.zeros(min(int(sizes.max(initial=0)), MOST_SHUFFLED), np.int32)
    for row, size in enumerate(sizes.tolist()):
        if size <= MOST_SHUFFLED:
            rng.shuffle(room[:size])
        else:
            entries = slice(counts.indptr[row], counts.indptr[row + 1])
            _drawn(counts.data[entries].astype(np.int64), size, rng)


def _halved(terms: NDArray[np.int32], counts: NDArray[Any], rng: np.random.Generator) -> tuple[Tokens, Tokens]:
    """One document in two halves."""
    size = int(counts.sum(dtype=np.int64))
    if size > MOST_SHUFFLED:
        drawn = _drawn(counts.astype(np.int64), size, rng)
        return (terms, drawn), (terms, counts - drawn)
    tokens = np.repeat(terms, counts)
    rng.shuffle(tokens)
    ones = np.ones(size, np.int32)
    return (tokens[: size // 2], ones[: size // 2]), (tokens[size // 2 :], ones[size // 2 :])


def _drawn(counts: NDArray[np.int64], size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """How many tokens of each term are among half of them; of very many, each term's are drawn by themselves."""
    if size < MOST_DRAWN:
        return rng.multivariate_hypergeometric(counts, size // 2, method="marginals")
    return rng.binomial(counts, 0.5)


def _count(documents: list[Tokens], n_terms: int) -> csr_array:
    terms = np.concatenate([np.zeros(0, np.int32), *(terms for terms, _ in documents)])
    sizes = np.concatenate([np.zeros(0, np.int32), *(sizes for _, sizes in documents)]).astype(np.int32)
    offsets = offsets_of([len(terms) for terms, _ in documents])
    counts = csr_array((sizes, terms, offsets), shape=(len(documents), n_terms))
    counts.sum_duplicates()
    counts.eliminate_zeros()
    return counts
