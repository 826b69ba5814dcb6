"""From blocks of documents to shards of counts: count, agree on the vocabulary, renumber."""

import sys
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from diln.corpus.rules import TextRule
from diln.corpus.scan import hash_rows
from diln.corpus.shards import Shard, sorted_rows
from diln.corpus.sources import Block, Counted, Source, numbers_from
from diln.corpus.strings import Strings, offsets_of, spread
from diln.corpus.vocabulary import DROPPED, Choice, TermTable, choose, limits
from diln.engine.processes import Processes
from diln.errors import DilnWarning, SourceError

SHARD_BYTES = 32 << 20  # of text and fields
SHARD_ENTRIES = 4 << 20
UNSPACED_SHARE = 0.1

Put = TypeVar("Put")
Finished = TypeVar("Finished")


class Watch(Protocol):
    """Someone who looks on while a corpus is built."""

    def note(self, text: str) -> None:
        """Something was guessed."""

    def step(self, position: int, total: int, documents: int) -> None:
        """So much of the source has been read (total 0: not known), and so many documents were found."""


class Notes:
    """A watch that writes guesses to the standard error stream, where a wrong one can be noticed, and no more."""

    def note(self, text: str) -> None:
        """Write a guess."""
        sys.stderr.write(f"{text}\n")

    def step(self, position: int, total: int, documents: int) -> None:
        """Say nothing."""


@dataclass(slots=True)
class Tally:
    """What happened to the documents and tokens of a source."""

    documents: int = 0
    without_text: int = 0
    duplicates_dropped: int = 0
    short_dropped: int = 0
    unknown_tokens: int = 0  # tokens of terms outside a fixed vocabulary
    letters: int = 0
    unspaced_letters: int = 0

    def to_json(self) -> dict[str, int]:
        """As plain numbers."""
        return asdict(self)


@dataclass(slots=True)
class RawShard:
    """Documents whose terms still have the numbers of the table of all terms."""

    ids: NDArray[np.int32]
    counts: NDArray[np.int32]
    offsets: NDArray[np.int64]
    columns: dict[str, Strings]


@dataclass(frozen=True, slots=True)
class Renumbering:
    """All that is needed to finish a shard once the vocabulary is known."""

    numbers: NDArray[np.int32]
    n_terms: int
    min_tokens: int

    def finish(self, raw: RawShard) -> tuple[Shard, NDArray[np.int64] | None]:
        """The shard with its final terms; and the rows kept, if short documents were dropped."""
        offsets, terms, counts = sorted_rows(self.numbers[raw.ids], raw.counts, raw.offsets, self.n_terms)
        shard = Shard(offsets, terms, counts, raw.columns)
        if self.min_tokens == 0:
            return shard, None
        kept = np.flatnonzero(shard.sizes >= self.min_tokens)
        return (shard, None) if len(kept) == len(shard) else (shard.take(kept), kept)


class Sink(ABC, Generic[Put, Finished]):
    """Where shards go, in two stages: put away raw, and finished once the vocabulary is known."""

    @abstractmethod
    def put(self, raw: RawShard) -> Put:
        """Put a raw shard away."""

    @abstractmethod
    def ids(self, put: Put) -> Strings:
        """The ids of a raw shard's documents."""

    @abstractmethod
    def finish(
        self, put: list[Put], renumbering: Renumbering, processes: Processes
    ) -> Iterator[tuple[Finished, int, int]]:
        """Finish every shard: what it became, its number of documents, and its number of tokens."""


class MemorySink(Sink[RawShard, Shard]):
    """Keeps shards in memory."""

    def put(self, raw: RawShard) -> RawShard:
        """Keep it."""
        return raw

    def ids(self, put: RawShard) -> Strings:
        """The ids of its documents."""
        return put.columns["id"]

    def finish(
        self, put: list[RawShard], renumbering: Renumbering, processes: Processes
    ) -> Iterator[tuple[Shard, int, int]]:
        """Finish each in this process: the loop is short, and shards are not worth sending."""
        for raw in put:
            shard, _ = renumbering.finish(raw)
            yield shard, len(shard), int(shard.counts.sum(dtype=np.int64))


@dataclass(slots=True)
class Collector(Generic[Put, Finished]):
    """Takes counted blocks in order, numbers their terms, and puts full shards away."""

    table: TermTable
    sink: Sink[Put, Finished]
    tally: Tally
    first_number: int | None  # where documents get new numbers for ids, the first one's
    put: list[Put] = field(default_factory=list)
    texts_seen: set[bytes] = field(default_factory=set)
    pending: list[RawShard] = field(default_factory=list)
    bytes_pending: int = 0
    entries_pending: int = 0

    def add(self, block: Counted) -> None:
        """Take a block in."""
        counts, table = block.counts, self.table
        ids = counts.ids if counts.terms is None else table.numbers(counts.terms)[counts.ids]
        raw = RawShard(ids, counts.counts, counts.offsets, self._columns(block, len(counts.offsets) - 1))
        self.tally.documents += len(counts.offsets) - 1
        self.tally.without_text += block.missing
        self.tally.letters += counts.letters
        self.tally.unspaced_letters += counts.unspaced
        if block.text_keys:
            raw = _rows_of(raw, self._fresh(block.text_keys))
        known = raw.ids != DROPPED
        self.tally.unknown_tokens += int(raw.counts[~known].sum(dtype=np.int64))
        found = np.bincount(raw.ids[known])
        table.document_frequency[: len(found)] += found
        self._keep(raw)

    def _columns(self, block: Counted, how_many: int) -> dict[str, Strings]:
        if self.first_number is None:
            return block.columns
        return {**block.columns, "id": Strings.pack(numbers_from(self.first_number + self.tally.documents, how_many))}

    def _fresh(self, keys: list[bytes]) -> NDArray[np.int64]:
        """Rows whose text has not been seen before."""
        fresh = []
        for row, key in enumerate(keys):
            if key not in self.texts_seen:
                self.texts_seen.add(key)
                fresh.append(row)
        self.tally.duplicates_dropped += len(keys) - len(fresh)
        return np.array(fresh, np.int64)

    def _keep(self, raw: RawShard) -> None:
        self.pending.append(raw)
        self.bytes_pending += sum(len(column.data) for column in raw.columns.values())
        self.entries_pending += len(raw.ids)
        if self.bytes_pending >= SHARD_BYTES or self.entries_pending >= SHARD_ENTRIES:
            self.flush()

    def flush(self) -> None:
        """Put away what has come together as one shard."""
        if self.pending:
            self.put.append(self.sink.put(join(self.pending)))
        self.pending, self.bytes_pending, self.entries_pending = [], 0, 0


def join(parts: list[RawShard]) -> RawShard:
    """Shards end to end. All of one source have the same columns."""
    if len(parts) == 1:
        return parts[0]
    columns = {name: Strings.concatenate([part.columns[name] for part in parts]) for name in parts[0].columns}
    sizes = np.concatenate([np.diff(part.offsets) for part in parts])
    ids, counts = np.concatenate([part.ids for part in parts]), np.concatenate([part.counts for part in parts])
    return RawShard(ids, counts, offsets_of(sizes), columns)


def _rows_of(raw: RawShard, rows: NDArray[np.int64]) -> RawShard:
    sizes = raw.offsets[rows + 1] - raw.offsets[rows]
    entries = spread(raw.offsets[rows], sizes)
    columns = {name: column.take(rows) for name, column in raw.columns.items()}
    return RawShard(raw.ids[entries], raw.counts[entries], offsets_of(sizes), columns)


@dataclass(frozen=True, slots=True)
class Assembled(Generic[Finished]):
    """Finished shards, their vocabulary, and what happened on the way."""

    shards: list[Finished]
    sizes: list[int]  # documents of each shard
    n_tokens: int
    vocabulary: list[str]
    tally: Tally


def assemble(
    source: Source,
    rule: TextRule,
    table: TermTable,
    sink: Sink[Put, Finished],
    n_jobs: int,
    watch: Watch,
    earlier_ids: Sequence[Strings] = (),
) -> Assembled[Finished]:
    """Count a source's documents and write them to a sink; the result is the same for any number of processes.

    ``earlier_ids`` are those of documents that the new ones are added to.
    """
    for note in source.notes:
        watch.note(note)
    first_number = sum(map(len, earlier_ids)) if source.numbered and earlier_ids else None
    collector = Collector(table, sink, Tally(), first_number)
    tally = collector.tally
    with Processes(n_jobs, rule) as processes:
        for block in processes.map(count_block, source.blocks()):
            collector.add(block)
            watch.step(source.position, source.total, tally.documents)
        collector.flush()
        _warn_of_scripts(tally, rule)
        if earlier_ids or not source.numbered:
            check_ids([*earlier_ids, *map(sink.ids, collector.put)], source.name)
        choice = _choose_or_raise(source, table, tally, rule)
        renumbering = Renumbering(choice.numbers, len(choice.vocabulary), rule.min_tokens)
        finished = list(sink.finish(collector.put, renumbering, processes))
    sizes = [documents for _, documents, _ in finished]
    tally.short_dropped = tally.documents - tally.duplicates_dropped - sum(sizes)
    n_tokens = sum(tokens for _, _, tokens in finished)
    if n_tokens == 0:
        raise SourceError(
            f"{source.name}: no document has a token of the vocabulary that is kept; lower min_df, min_tokens or "
            "min_length, or check that the right text is read"
        )
    return Assembled([shard for shard, _, _ in finished], sizes, n_tokens, choice.vocabulary, tally)


def term_table(source: Source, rule: TextRule, vocabulary: Sequence[str] | None) -> tuple[TermTable, TextRule]:
    """The table to count a source with: open, or closed over a given vocabulary; and the rule for what is kept.

    A vocabulary given for texts is kept whole. One that came with counts is too, unless the rule sets limits.
    """
    if source.vocabulary is None:
        return TermTable(vocabulary or (), closed=vocabulary is not None), rule
    limited = (rule.min_df, rule.max_df, rule.max_terms) != (None, None, None)
    within = replace(
        rule,
        min_df=1 if rule.min_df is None else rule.min_df,
        max_df=1.0 if rule.max_df is None else rule.max_df,
        max_terms=len(source.vocabulary) if rule.max_terms is None else rule.max_terms,
    )
    return TermTable(source.vocabulary, closed=True, kept=not limited), within


def count_block(rule: Any, block: Block) -> Counted:
    """Count a block, here or in a worker process."""
    return block.count(rule)


def _choose_or_raise(source: Source, table: TermTable, tally: Tally, rule: TextRule) -> Choice:
    n_docs = tally.documents - tally.duplicates_dropped
    if n_docs == 0:
        raise SourceError(f"{source.name}: there is no document in it; give a source with documents")
    if len(table) == 0:
        raise SourceError(
            f"{source.name}: its {n_docs} documents have no usable token; check that the right text is read, and the "
            "stop words, the minimum length and the alphabet"
        )
    choice = choose(table, n_docs, rule)
    if not choice.vocabulary:
        least, most, _ = limits(n_docs, rule)
        raise SourceError(
            f"{source.name}: none of its {len(table)} terms is in at least {least:g} and at most {most:g} of the "
            f"{n_docs} documents; lower min_df or raise max_df"
        )
    return choice


def check_ids(columns: Sequence[Strings], name: str) -> None:
    """Raise if an id stands twice. Eight bytes an id are held; only ids with equal hashes are looked at."""
    hashes = np.concatenate([hash_rows(column.data, column.offsets) for column in columns] or [np.zeros(0, np.uint64)])
    ordered = np.sort(hashes)
    twice = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    if len(twice):
        starts = offsets_of([len(column) for column in columns])
        seen: dict[str, int] = {}
        for row in np.flatnonzero(np.isin(hashes, twice)).tolist():
            home = int(np.searchsorted(starts, row, side="right")) - 1
            found = columns[home][row - int(starts[home])]
            if seen.setdefault(found, row) != row:
                raise SourceError(
                    f"{name}: documents {seen[found] + 1} and {row + 1} have the same id {found!r}; make ids differ, "
                    "name another column with --id, or pass --id none to number the documents"
                )


def _warn_of_scripts(tally: Tally, rule: TextRule) -> None:
    if tally.unspaced_letters > UNSPACED_SHARE * max(1, tally.letters):
        warnings.warn(
            f"{tally.unspaced_letters / tally.letters:.0%} of the letters are of a script written without spaces "
            "(Chinese, Japanese, Thai, ...), where a run of letters is no word: pass a tokenizer for the language "
            "(tokenizer=), such as jieba.lcut or a spaCy pipeline",
            DilnWarning,
            stacklevel=2,
        )
