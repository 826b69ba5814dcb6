"""Documents that a stream brings, put behind those of a corpus on disk, whose vocabulary may have grown at its end."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diln.corpus.assemble import check_ids, next_number
from diln.corpus.corpus import Corpus, as_shard
from diln.corpus.dates import DateForm
from diln.corpus.scan import hash_rows
from diln.corpus.shards import Shard, concatenate
from diln.corpus.store import StoredShards, commit, read_manifest, read_terms, shard_name, write_shard, writing
from diln.corpus.strings import Strings
from diln.errors import StoreError
from diln.files import Held, guarded, next_generation

SHARD_DOCS = 16_384  # of a shard that is full
SHARD_BYTES = 16 << 20  # of text, likewise


class Extension:
    """A corpus on disk that takes documents in; they are part of it once ``commit`` is called.

    Shards of earlier documents that are not full are written anew with those that follow: however many updates there
    are, there are few shards.
    """

    def __init__(self, held: Held) -> None:
        self.held, self.directory = held, held.directory
        self.n_new = 0
        self._open()

    def _open(self) -> None:
        """Read what the directory holds now."""
        manifest = read_manifest(self.directory)
        self.content, self.dates = manifest.content, manifest.dates
        self.vocabulary = read_terms(self.directory, manifest)
        self.entries, self.stored = list(manifest.shards), StoredShards(self.directory, manifest)
        self.ids = KnownIds(self.stored.ids())
        self.generation, self.pending, self.fresh = next_generation(self.directory), list[Shard](), 0

    def check(self, corpus: Corpus) -> None:
        """Raise if one of these documents has the id of another."""
        self.ids.check(id_column(corpus), str(self.directory))

    def known(self, ids: Strings) -> NDArray[np.bool_]:
        """For each id whether a document of the corpus has it."""
        return self.ids.known(ids)

    @property
    def next_number(self) -> int:
        """A number above every id that is a number."""
        return self.ids.next_number

    def add(self, corpus: Corpus) -> None:
        """Put documents behind all others."""
        self.ids.add(id_column(corpus))
        self.vocabulary = corpus.vocabulary
        self.n_new += len(corpus)
        if not self.pending and not self.fresh and self.entries and not self._is_full(self.entries[-1]):
            last = self.entries.pop()
            self.pending.append(self.stored[len(self.entries)].take(np.arange(last["documents"])))
        self.pending.append(as_shard(corpus))
        if _full(sum(map(len, self.pending)), sum(map(_bytes, self.pending))):
            self._write()

    @staticmethod
    def _is_full(entry: dict[str, Any]) -> bool:
        """Whether a stored shard is not to be written anew."""
        return _full(entry["documents"], sum(file["bytes"] for file in entry["files"].values()))

    def _write(self) -> None:
        name = shard_name(self.generation, self.fresh)
        self.entries.append(write_shard(self.directory, name, concatenate(self.pending)))
        self.fresh, self.pending = self.fresh + 1, []

    def commit(self) -> None:
        """From here on the documents are part of the corpus."""
        if not self.n_new:
            return
        if self.pending:
            self._write()
        tally = {**self.content["tally"], "documents": self.content["tally"].get("documents", 0) + self.n_new}
        rule, dates = self.content["rule"], DateForm(self.dates.order, self.dates.as_given)
        commit(self.held, self.generation, self.entries, self.vocabulary, rule, tally, dates)
        self.n_new = 0
        ids = self.ids
        self._open()
        self.ids = ids


class KnownIds:
    """Ids of documents, as hashes; only where two are the same are the ids themselves compared."""

    def __init__(self, columns: Sequence[Strings]) -> None:
        self.columns = list(columns)
        self.hashes = np.sort(np.concatenate([np.zeros(0, np.uint64), *map(_hashes, columns)]))
        self.next_number = next_number(columns)

    def known(self, ids: Strings) -> NDArray[np.bool_]:
        """For each id whether it is known."""
        return np.isin(_hashes(ids), self.hashes)

    def check(self, ids: Strings, name: str) -> None:
        """Raise if one of the ids is known, or stands twice."""
        hashes = _hashes(ids)
        if len(np.unique(hashes)) < len(hashes) or np.isin(hashes, self.hashes).any():
            check_ids([*self.columns, ids], name)

    def add(self, ids: Strings) -> None:
        """Know these, too."""
        self.columns.append(ids)
        self.hashes = np.union1d(self.hashes, _hashes(ids))
        self.next_number = max(self.next_number, next_number([ids]))


def id_column(corpus: Corpus) -> Strings:
    """The ids of documents."""
    return Strings.pack(corpus.documents.ids)


def _hashes(ids: Strings) -> NDArray[np.uint64]:
    found: NDArray[np.uint64] = hash_rows(ids.data, ids.offsets)
    return found


def _full(documents: int, size: int) -> bool:
    return documents >= SHARD_DOCS or size >= SHARD_BYTES


def _bytes(shard: Shard) -> int:
    return sum(len(column.data) for column in shard.columns.values())


@guarded
def extending(directory: Path, vocabulary: list[str]) -> Iterator[Extension]:
    """Hold a corpus for more documents, whose terms are those of a vocabulary that begins as the corpus' does."""
    with writing(directory, "extend") as held:
        extension = Extension(held)
        if extension.vocabulary != vocabulary[: len(extension.vocabulary)]:
            raise StoreError(
                f"{directory}: the corpus has other terms than the model beside it; index the model's documents again "
                "with: diln index MODEL SOURCE"
            )
        yield extension
