"""Files of counts with a vocabulary file beside them: LDA-C, UCI docword, and scipy's .npz."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from diln.corpus.matrix import MatrixSource, tidy_rows
from diln.corpus.npy import read_header
from diln.corpus.readers.lines import LineReader, Lines, Name, check_file
from diln.corpus.rules import TextRule
from diln.corpus.sound import LARGEST_COUNT, check_filled
from diln.corpus.sources import Block, CountBlock, Counted, Source, numbers_from
from diln.corpus.strings import offsets_of
from diln.errors import SourceError

UNPACKED = 64 << 20  # bytes that any archive may unpack to
PACKED_TIMES = (
    200  # times its size that a larger one may: indices are packed to a half or a quarter, not to a thousandth
)


@dataclass(frozen=True, slots=True)
class LdacBlock(Block):
    """Lines of LDA-C, not yet parsed."""

    lines: Lines
    n_terms: int

    def count(self, rule: TextRule) -> Counted:
        """Parse the lines; a document's id is its line number."""
        numbers, rows = [], []
        for number, line in self.lines.numbered():
            numbers.append(str(number))
            rows.append(self._row(number, line))
        pairs = np.concatenate(rows) if rows else np.zeros((0, 2), np.int64)
        offsets = offsets_of([len(row) for row in rows])
        return bag_block(pairs[:, 0], pairs[:, 1], offsets, self.n_terms, numbers, str(self.lines.path)).count(rule)

    def _row(self, number: int, line: str) -> NDArray[np.int64]:
        size, *entries = line.split()
        where = f"{self.lines.path}, line {number}"
        try:
            pairs = np.array([entry.split(":", 1) for entry in entries], np.int64).reshape(len(entries), 2)
            expected = int(size)
        except (ValueError, OverflowError):
            raise SourceError(
                f"{where}: not an LDA-C document; each must be a number of terms and then term:count pairs, "
                "all whole numbers"
            ) from None
        if expected != len(pairs):
            raise SourceError(
                f"{where}: says {expected} terms but lists {len(pairs)}; the line was cut or is not LDA-C"
            )
        check_pairs(pairs[:, 0], pairs[:, 1], self.n_terms, where)
        return pairs


def bag_block(
    ids: NDArray[np.int64],
    counts: NDArray[np.int64],
    offsets: NDArray[np.int64],
    n_terms: int,
    numbers: list[str],
    name: str,
) -> CountBlock:
    """The block of these counts, its documents with numbers for ids."""
    rows = tidy_rows(ids, counts, offsets, n_terms, name)
    return CountBlock(rows.indices, rows.data, rows.indptr.astype(np.int64), {"id": numbers})


def check_pairs(ids: NDArray[np.int64], counts: NDArray[np.int64], n_terms: int, where: str, first: int = 0) -> None:
    """Raise unless every term, of numbers from ``first`` on, is in the vocabulary and every count is a possible one."""
    if len(ids) and (ids.min() < first or ids.max() >= first + n_terms):
        bad = int(ids.min()) if ids.min() < first else int(ids.max())
        raise SourceError(
            f"{where}: has term number {bad} but the vocabulary's terms have the numbers from {first} to "
            f"{first + n_terms - 1}; give the vocabulary that belongs to these counts"
        )
    if len(counts) and (counts.min() < 0 or counts.max() > LARGEST_COUNT):
        bad = int(counts.min()) if counts.min() < 0 else int(counts.max())
        raise SourceError(f"{where}: has a count of {bad}; counts must be whole numbers from 0 to {LARGEST_COUNT}")


class LdacSource(Source):
    """An LDA-C file: a document a line, as ``n term:count term:count ...``."""

    numbered = True

    def __init__(self, reader: LineReader, vocabulary: list[str] | None) -> None:
        self.name, self.reader, self.total = str(reader.path), reader, reader.total
        self.vocabulary: list[str] = _given(vocabulary, self.name)

    def blocks(self) -> Iterator[Block]:
        """Blocks of whole lines."""
        for lines in self.reader.blocks():
            self.position = self.reader.position
            yield LdacBlock(lines, len(self.vocabulary))


class UciSource(Source):
    """A UCI docword file: numbers of documents, terms and entries, then ``document term count`` lines, from 1."""

    numbered = True

    def __init__(self, reader: LineReader, vocabulary: list[str] | None) -> None:
        self.name, self.reader, self.total = str(reader.path), reader, reader.total
        self.vocabulary: list[str] = _given(vocabulary, self.name)

    def blocks(self) -> Iterator[Block]:
        """Documents in blocks; a number that no line names is an empty document."""
        head: list[int] = []
        done, entries = 0, 0
        waiting = np.zeros((0, 3), np.int64)
        for lines in self.reader.blocks():
            self.position = self.reader.position
            triples = self._triples(lines, head)
            entries += len(triples)
            waiting = np.concatenate([waiting, triples])
            if len(waiting) and waiting[-1, 0] > done + 1:  # the last document may go on in the next block
                last = int(waiting[-1, 0]) - 1
                check_filled(last, entries, self.name, "documents")
                cut = int(np.searchsorted(waiting[:, 0], last, side="right"))
                yield self._block(waiting[:cut], done, last)
                waiting, done = waiting[cut:], last
        if len(head) < 3:
            raise SourceError(f"{self.name}: the three numbers at the top are missing; give a UCI docword file")
        self._check_terms(head[1])
        if entries != head[2]:
            raise SourceError(
                f"{self.name}: says {head[2]} entries at the top but has {entries}; it was cut off: copy it again"
            )
        check_filled(head[0], entries, self.name, "documents")
        yield self._block(waiting, done, head[0])

    def _triples(self, lines: Lines, head: list[int]) -> NDArray[np.int64]:
        rows = list(lines.numbered())
        while rows and len(head) < 3:
            number, line = rows.pop(0)
            head.extend(self._whole(number, line, 1, "one whole number (of documents, terms or entries)"))
        if not rows:
            return np.zeros((0, 3), np.int64)
        self._check_terms(head[1])
        try:
            triples = np.array([line.split() for _, line in rows], np.int64).reshape(len(rows), 3)
        except (ValueError, OverflowError):
            triples = np.array([self._whole(*row, 3, "three whole numbers (document, term, count)") for row in rows])
        docs, terms, counts = triples.T
        wrong = (
            (docs < 1) | (docs > head[0]) | (terms < 1) | (terms > head[1]) | (counts < 0) | (counts > LARGEST_COUNT)
        )
        if wrong.any():
            bad = int(np.argmax(wrong))
            where = f"{self.name}, line {rows[bad][0]}"
            check_pairs(terms[[bad]], counts[[bad]], head[1], where, first=1)
            raise SourceError(f"{where}: document numbers must be from 1 to {head[0]}, as said at the top; mend it")
        return triples

    def _whole(self, number: int, line: str, how_many: int, what: str) -> list[int]:
        try:
            values = [int(value) for value in line.split()]
        except ValueError:
            values = []
        limit = LARGEST_COUNT if how_many == 1 else np.iinfo(np.int64).max
        if len(values) != how_many or max(map(abs, values)) > limit or (how_many == 1 and values[0] < 0):
            raise SourceError(f"{self.name}, line {number}: is not {what}; mend it, or give a UCI docword file")
        return values

    def _check_terms(self, n_terms: int) -> None:
        if n_terms != len(self.vocabulary):
            raise SourceError(
                f"{self.name}: says {n_terms} terms at the top but the vocabulary has {len(self.vocabulary)}; give "
                "the vocabulary that belongs to these counts"
            )

    def _block(self, triples: NDArray[np.int64], done: int, last: int) -> Block:
        if (np.diff(triples[:, 0]) < 0).any() or (len(triples) and triples[0, 0] <= done):
            raise SourceError(f"{self.name}: documents are not in order; sort the lines by document (sort -n -k1)")
        offsets = offsets_of(np.bincount(triples[:, 0] - 1 - done, minlength=last - done))
        numbers = numbers_from(done + 1, last - done)
        return bag_block(triples[:, 1] - 1, triples[:, 2], offsets, len(self.vocabulary), numbers, self.name)


def npz_source(path: Name, vocabulary: list[str] | None, file: Path) -> MatrixSource:
    """A sparse matrix saved by ``scipy.sparse.save_npz``, a document a row; messages call the file by ``path``."""
    from scipy.sparse import load_npz

    check_file(path, file)
    terms = _given(vocabulary, str(path))
    try:
        check_archive(path, file)
        with warnings.catch_warnings(action="ignore"):  # of odd types, which are refused below
            matrix: Any = load_npz(file)
    except SourceError:
        raise
    except Exception as error:  # scipy and zipfile raise many kinds for a damaged or foreign file
        raise SourceError(
            f"{path}: not a sparse matrix of scipy.sparse.save_npz ({type(error).__name__}); save it so"
        ) from None
    return MatrixSource(matrix, terms, name=str(path))


def check_archive(path: Name, file: Path) -> None:
    """Raise if arrays are not what the archive has room for, or far more than a matrix can be packed into."""
    with ZipFile(file) as archive:
        members = archive.infolist()
        unpacked = sum(member.file_size for member in members)
        if unpacked > max(UNPACKED, PACKED_TIMES * file.stat().st_size):
            raise SourceError(
                f"{path}: unpacks to {unpacked:,} bytes, far more than a matrix of counts in so small a file; save it "
                "again with scipy.sparse.save_npz"
            )
        for member in members:
            with archive.open(member) as packed:
                try:
                    n_bytes = read_header(packed).n_bytes
                except ValueError as error:
                    raise SourceError(f"{path}: {member.filename!r} in it {error}; save it again") from None
            if n_bytes != member.file_size:
                raise SourceError(
                    f"{path}: {member.filename!r} in it says {n_bytes:,} bytes and has {member.file_size:,}; save it "
                    "again"
                )


def _given(vocabulary: list[str] | None, name: str) -> list[str]:
    if vocabulary is None:
        raise SourceError(f"{name}: holds counts without words; give the vocabulary's file with --vocabulary")
    return vocabulary
