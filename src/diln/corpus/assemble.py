"""From blocks of documents to shards of counts: count, agree on the vocabulary, renumber."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic

import numpy as np
from numpy.typing import NDArray

from diln.corpus.dates import DateForm, Days, Order, Unread, days_seen, from_days, iso_column, orders_seen, settled
from diln.corpus.letters import is_unspaced
from diln.corpus.rules import TextRule
from diln.corpus.scan import hash_rows
from diln.corpus.shards import Rows, Shard, concatenate, sorted_rows
from diln.corpus.sinks import Finished, Kept, Sink, Stash
from diln.corpus.sources import Block, Source, numbers_from
from diln.corpus.stopwords import language_of
from diln.corpus.strings import Strings, offsets_of
from diln.corpus.vocabulary import DROPPED, Choice, TermTable, choose, limits
from diln.corpus.watch import Tally, Watch
from diln.engine.processes import Processes
from diln.errors import DilnWarning, SourceError, brief

SHARD_BYTES = 16 << 20  # of text and fields
SHARD_ENTRIES = 2 << 20
UNSPACED_SHARE = 0.1
CUT = 3  # letters that words of such scripts have on average at most, where texts have been cut into words
SHORT_SHARE = 0.25  # of letters in words that are too short: in European languages it is below 0.15
OUTSIDE_SHARE = 0.25
OF_ADDRESSES, ADDRESS_SHARE, FEW = ("https", "http"), 0.25, 5  # words of web addresses; documents that have one
FEW_LETTERS = 50  # too few to tell anything
LOOKED_AT, TELLING = 30, 4  # most frequent terms; how many of them tell a language
SHOWN = 80  # characters of an id in a message


@dataclass(frozen=True, slots=True)
class CountedBlock(Generic[Kept]):
    """What is to be known of a counted block at once; the block itself is kept."""

    kept: Kept
    documents: int
    entries: int
    size: int  # bytes of the fields
    terms: list[str] | None
    frequency: NDArray[np.int64]  # of each term: in how many documents it is
    totals: NDArray[np.int64]  # and how often
    text_keys: list[bytes]
    date_orders: frozenset[frozenset[Order]]  # in which the dates of numbers can be read
    days: Days  # dates that are numbers of days
    missing: int
    unreadable: int
    letters: int
    unspaced: int
    unspaced_words: int
    short: int
    outside: int


Job = tuple[int, Block]  # number and block


def count_block(context: tuple[TextRule, Sink[Kept, Stash, Finished]], job: Job) -> CountedBlock[Kept]:
    """Count a block and keep it, in whatever process."""
    (rule, sink), (number, block) = context, job
    counted = block.count(rule)
    counts = counted.counts
    n_terms = len(counts.terms) if counts.terms is not None else int(counts.ids.max(initial=-1)) + 1
    totals = np.bincount(counts.ids, counts.counts, minlength=n_terms).astype(np.int64)
    unspaced = [is_unspaced(term) for term in counts.terms] if counts.terms and counts.unspaced else []
    return CountedBlock(
        kept=sink.keep(number, counted),
        documents=len(counts.offsets) - 1,
        entries=len(counts.ids),
        size=sum(len(column.data) for column in counted.columns.values()),
        terms=counts.terms,
        frequency=np.bincount(counts.ids, minlength=n_terms),
        totals=totals,
        text_keys=counted.text_keys,
        date_orders=orders_seen(counted.columns.get("date", ())),
        days=days_seen(counted.columns.get("date", ())),
        missing=counted.missing,
        unreadable=counted.unreadable,
        letters=counts.letters,
        unspaced=counts.unspaced,
        unspaced_words=int(totals[np.flatnonzero(unspaced)].sum()),
        short=counts.short,
        outside=counts.outside,
    )


@dataclass(frozen=True, slots=True)
class Part(Generic[Kept, Stash]):
    """A kept block as part of a shard: the numbers of its terms in the table, which of its rows (None: all), and the
    number of its first document, where documents get new numbers for ids.
    """

    kept: Kept
    numbers: Stash
    rows: Rows | None = None
    first_number: int | None = None


@dataclass(slots=True)
class Collector(Generic[Kept, Stash, Finished]):
    """Takes summaries of blocks in order: numbers their terms, sums up, and groups the blocks into shards."""

    table: TermTable
    sink: Sink[Kept, Stash, Finished]
    tally: Tally
    given: NDArray[np.int32]  # the numbers of the terms of a vocabulary that the source came with
    first_number: int | None  # where documents get new numbers for ids, the first one's
    shards: list[list[Part[Kept, Stash]]] = field(default_factory=list)
    n_blocks: int = 0
    unspaced_words: int = 0
    short: int = 0  # letters of words that are too short
    outside: int = 0  # characters beyond ASCII that break words
    date_orders: set[frozenset[Order]] = field(default_factory=set)
    days: Days = field(default_factory=Days)
    texts_seen: set[bytes] = field(default_factory=set)
    room: list[int] = field(default_factory=lambda: [0, 0])  # bytes and entries that the last shard still takes

    def add(self, block: CountedBlock[Kept]) -> None:
        """Take a block in."""
        number = None if self.first_number is None else self.first_number + self.tally.documents
        self.tally.documents += block.documents
        self.tally.without_text += block.missing
        self.tally.unreadable += block.unreadable
        self.tally.letters += block.letters
        self.tally.unspaced_letters += block.unspaced
        self.unspaced_words += block.unspaced_words
        self.short += block.short
        self.outside += block.outside
        self.date_orders |= block.date_orders
        self.days += block.days
        fresh = self._fresh(block.text_keys) if block.text_keys else None
        frequency, totals = block.frequency, block.totals
        if fresh is not None and len(fresh) < block.documents:
            frequency, totals = self._recount(block, fresh)
        numbers = self.given[: len(frequency)] if block.terms is None else self.table.numbers(block.terms)
        known = numbers != DROPPED
        self.tally.unknown_tokens += int(totals[~known].sum())
        np.add.at(self.table.document_frequency, numbers[known], frequency[known])
        stash = self.sink.keep_numbers(self.n_blocks, numbers)
        self.n_blocks += 1
        if min(self.room) <= 0:
            self.shards.append([])
            self.room = [SHARD_BYTES, SHARD_ENTRIES]
        self.shards[-1].append(Part(block.kept, stash, fresh, number))
        self.room = [self.room[0] - block.size, self.room[1] - block.entries]

    def _fresh(self, keys: list[bytes]) -> Rows:
        """Rows whose text has not been seen before."""
        fresh = []
        for row, key in enumerate(keys):
            if key not in self.texts_seen:
                self.texts_seen.add(key)
                fresh.append(row)
        self.tally.duplicates_dropped += len(keys) - len(fresh)
        return np.array(fresh, np.int64)

    def _recount(self, block: CountedBlock[Kept], rows: Rows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        counts = self.sink.load(block.kept).counts
        shard = Shard(counts.offsets, counts.ids, counts.counts).take(rows)
        n_terms = len(block.frequency)
        totals = np.bincount(shard.terms, shard.counts, minlength=n_terms).astype(np.int64)
        return np.bincount(shard.terms, minlength=n_terms), totals


@dataclass(frozen=True, slots=True)
class Finish(Generic[Kept, Stash]):
    """All that is needed to make a shard once the vocabulary is known."""

    number: int
    parts: list[Part[Kept, Stash]]
    numbers: NDArray[np.int32]  # for each term of the table its place in the vocabulary, or DROPPED
    n_terms: int
    min_tokens: int
    dates: DateForm

    def shard(self, sink: Sink[Kept, Stash, Finished]) -> tuple[Shard, Unread]:
        """The shard of the blocks, with its final terms, without documents that are too short; dates left out of it."""
        shard = concatenate([self._renumber(sink, part) for part in self.parts])
        kept = np.flatnonzero(shard.sizes >= self.min_tokens)
        shard = shard if len(kept) == len(shard) else shard.take(kept)
        if "date" not in shard.columns or self.dates.as_given:
            return shard, Unread()
        dates, unread = iso_column(shard.columns["date"], self.dates)
        return replace(shard, columns={**shard.columns, "date": dates}), unread

    def _renumber(self, sink: Sink[Kept, Stash, Finished], part: Part[Kept, Stash]) -> Shard:
        block = sink.load(part.kept)
        counts, in_table = block.counts, sink.load_numbers(part.numbers)
        numbers = np.where(in_table == DROPPED, DROPPED, self.numbers[in_table])
        rows = sorted_rows(numbers[counts.ids], counts.counts, counts.offsets, self.n_terms)
        columns = dict(block.columns)
        if part.first_number is not None:
            columns["id"] = Strings.pack(numbers_from(part.first_number, len(counts.offsets) - 1))
        shard = Shard(*rows, columns)
        return shard if part.rows is None else shard.take(part.rows)


def finish_shard(
    context: tuple[TextRule, Sink[Kept, Stash, Finished]], job: Finish[Kept, Stash]
) -> tuple[Finished, int, int, Unread]:
    """Make a shard and put it in its place; returns it with its numbers of documents and tokens, and dates left out."""
    _, sink = context
    shard, unread = job.shard(sink)
    return sink.write(job.number, shard), len(shard), int(shard.counts.sum(dtype=np.int64)), unread


Finishing = tuple[NDArray[np.int32], int, int, DateForm]  # what the Finish of every shard has


class Elsewhere(ABC, Generic[Kept, Stash, Finished]):
    """Who counts and finishes where this machine's processes do not."""

    @abstractmethod
    def counted(self, source: Source) -> Iterator[CountedBlock[Kept]]:
        """The blocks of a source, in order."""

    @abstractmethod
    def finished(
        self, shards: list[list[Part[Kept, Stash]]], same: Finishing
    ) -> Iterator[tuple[Finished, int, int, Unread]]:
        """The shards, in order."""


@dataclass(frozen=True, slots=True)
class Assembled(Generic[Finished]):
    """Finished shards, their vocabulary, and what happened on the way."""

    shards: list[Finished]
    sizes: list[int]  # documents of each shard
    vocabulary: list[str]
    tally: Tally
    dates: DateForm


def assemble(
    source: Source,
    rule: TextRule,
    table: TermTable,
    sink: Sink[Kept, Stash, Finished],
    n_jobs: int,
    watch: Watch,
    earlier_ids: Sequence[Strings] = (),
    earlier_dates: DateForm | None = None,
    crew: "Elsewhere[Kept, Stash, Finished] | None" = None,
) -> Assembled[Finished]:
    """Count a source's documents and put them into a sink; the result is the same for any number of processes.

    ``earlier_ids`` and ``earlier_dates`` are those of documents that the new ones are added to. ``crew`` does the work
    in the place of this machine's processes.
    """
    for note in source.notes:
        watch.note(note)
    first_number = 1 if source.numbered and source.many else None
    if source.numbered and earlier_ids:
        first_number = next_number(earlier_ids)
    collector = Collector(
        table, sink, Tally(unreadable=source.unreadable), table.numbers(source.vocabulary or []), first_number
    )
    tally = collector.tally
    with Processes(n_jobs, (rule, sink)) as processes:
        try:
            blocks = processes.map(count_block, enumerate(source.blocks())) if crew is None else crew.counted(source)
            for block in blocks:
                collector.add(block)
                watch.step(source.position, source.total, tally.documents)
        except SourceError:
            if source.check_file is not None:
                source.check_file()
            raise
        finally:
            source.close()
        _warn_of_scripts(collector, rule)
        if earlier_ids or not source.numbered:
            check_ids([*earlier_ids, *_ids(collector)], source.name)
        choice = _choose_or_raise(source, table, tally, rule)
        if source.vocabulary is None and not table.closed:
            _warn_of_stop_words(table, rule)
            _warn_of_addresses(table, tally.documents, rule)
        dates = _date_form(source, collector, earlier_dates)
        if dates.days and not dates.as_given:
            watch.note(
                f"{source.name}: {collector.days.number:,} dates are numbers of days, as spreadsheets count them, and "
                f"are read so: {collector.days.example.strip()} is {from_days(collector.days.example)}"
            )
        same = (choice.numbers, len(choice.vocabulary), rule.min_tokens, dates)
        jobs = (Finish(number, parts, *same) for number, parts in enumerate(collector.shards))
        finished: list[tuple[Finished, int, int, Unread]] = list(
            _finish(processes, jobs, sink.shared) if crew is None else crew.finished(collector.shards, same)
        )
    sizes = [documents for _, documents, _, _ in finished]
    tally.short_dropped = tally.documents - tally.duplicates_dropped - sum(sizes)
    texts_of_known_terms = source.vocabulary is None and table.n_kept and sum(sizes)  # that none is met is no fault
    if not texts_of_known_terms and not sum(tokens for _, _, tokens, _ in finished):
        raise SourceError(
            f"{source.name}: no document has a token of the vocabulary that is kept; lower min_df, min_tokens or "
            "min_length, or check that the right text is read"
        )
    unread = sum((left_out for _, _, _, left_out in finished), Unread())
    tally.dates_left_out = unread.ambiguous + unread.unknown
    _warn_of_dates(source.name, unread)
    return Assembled([shard for shard, _, _, _ in finished], sizes, choice.vocabulary, tally, dates)


def _date_form(source: Source, collector: Collector[Kept, Stash, Finished], earlier: DateForm | None) -> DateForm:
    """How the dates of a source are read: in the order that is given, that of earlier documents, or its own."""
    known = source.date_order or (earlier.order if earlier is not None else None)
    as_given = earlier is not None and earlier.as_given
    return DateForm(known or settled(collector.date_orders), as_given, collector.days.meant)


def _finish(
    processes: Processes, jobs: Iterable[Finish[Kept, Stash]], shared: bool
) -> Iterator[tuple[Finished, int, int, Unread]]:
    return processes.map(finish_shard, jobs) if shared else (finish_shard(processes.context, job) for job in jobs)


def _ids(collector: Collector[Kept, Stash, Finished]) -> Iterator[Strings]:
    """The ids of the new documents, block by block."""
    for part in (part for parts in collector.shards for part in parts):
        ids = collector.sink.ids(part.kept)
        if part.first_number is not None:
            ids = Strings.pack(numbers_from(part.first_number, len(ids)))
        yield ids if part.rows is None else ids.take(part.rows)


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


def next_number(columns: Sequence[Strings]) -> int:
    """A number above every id that is a number."""
    numbers = (int(found) for column in columns for found in column if found.isdecimal() and len(found) < 19)
    return max(numbers, default=-1) + 1


def check_ids(columns: Sequence[Strings], name: str) -> None:
    """Raise if an id stands twice. Hashes are compared first; only ids with equal ones are looked at."""
    hashes = np.concatenate([np.zeros(0, np.uint64), *(hash_rows(column.data, column.offsets) for column in columns)])
    ordered = np.sort(hashes)
    twice = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    if len(twice):
        starts = offsets_of([len(column) for column in columns])
        seen: dict[str, int] = {}
        for row in np.flatnonzero(np.isin(hashes, twice)).tolist():
            home = int(np.searchsorted(starts, row, side="right")) - 1
            found = columns[home][row - int(starts[home])]
            if seen.setdefault(found, row) != row:
                what = f"the same id {found[:SHOWN]!r}; make ids differ" if found else "no id; give every document one"
                raise SourceError(
                    f"{name}: documents {seen[found] + 1} and {row + 1} have {what}, name another column with "
                    "--id, or pass --id none (id='none') to number the documents"
                )


def _warn_of_scripts(collector: Collector[Kept, Stash, Finished], rule: TextRule) -> None:
    tally = collector.tally
    if collector.short > max(FEW_LETTERS, SHORT_SHARE * tally.letters):
        warnings.warn(
            f"{collector.short / tally.letters:.0%} of the letters are in words of less than {rule.length} characters "
            "and are left out; where such words carry meaning, as in Korean or in Chinese cut into words, keep them "
            "with --min-length 1 or 2 (min_length=)",
            DilnWarning,
            stacklevel=2,
        )
    elif tally.unspaced_letters > max(UNSPACED_SHARE * max(1, tally.letters), CUT * collector.unspaced_words):
        warnings.warn(
            f"{tally.unspaced_letters / tally.letters:.0%} of the letters are of a script written without spaces "
            "(Chinese, Japanese, Thai, ...), where a run of letters is no word: pass a tokenizer for the language, "
            "--tokenizer jieba for Chinese, or module:function (tokenizer=)",
            DilnWarning,
            stacklevel=2,
        )
    if rule.alphabet == "ascii" and collector.outside > max(FEW_LETTERS, OUTSIDE_SHARE * tally.letters):
        warnings.warn(
            f"the texts have {tally.letters:,} letters from a to z and {collector.outside:,} characters beyond ASCII, "
            "which are left out; count the letters of all scripts with --alphabet unicode (alphabet=)",
            DilnWarning,
            stacklevel=2,
        )


def _warn_of_addresses(table: TermTable, n_docs: int, rule: TextRule) -> None:
    frequency = [int(table.document_frequency[table.index[term]]) for term in OF_ADDRESSES if term in table.index]
    if rule.addresses and rule.tokenizer is None and max(frequency, default=0) > max(FEW, ADDRESS_SHARE * n_docs):
        warnings.warn(
            f"{max(frequency) / n_docs:.0%} of the documents have web addresses, which are cut into words such as "
            "https; leave them out, with mail addresses and names such as @bob, with --no-addresses (addresses=False)",
            DilnWarning,
            stacklevel=2,
        )


def _warn_of_stop_words(table: TermTable, rule: TextRule) -> None:
    frequency = table.document_frequency[: len(table)]
    top, terms = np.argsort(-frequency, kind="stable")[:LOOKED_AT].tolist(), list(table.index)
    language, words = language_of(terms[at] for at in top)
    if rule.stop_set and len(words) >= TELLING:
        warnings.warn(
            f"the most frequent words look like stop words of language {language!r} ({', '.join(words[:TELLING])}); "
            f"leave them out with --stop-words {language} (stop_words=; pip install 'diln[languages]'), or a file of "
            "your own",
            DilnWarning,
            stacklevel=2,
        )


def _warn_of_dates(name: str, unread: Unread) -> None:
    shown = {kind: " and ".join(map(brief, texts)) for kind, texts in unread.examples.items()}
    if unread.ambiguous:
        warnings.warn(
            f"{name}: {unread.ambiguous:,} dates can be read in more than one way, such as {shown[True]}, and are left "
            "out; say what they are with --date-order dmy, mdy or ymd (date_order=)",
            DilnWarning,
            stacklevel=2,
        )
    if unread.unknown:
        warnings.warn(
            f"{name}: {unread.unknown:,} dates cannot be read, such as {shown[False]}, and are left out; write them as "
            "2017-03-02, or name another column with --date (date=), or none",
            DilnWarning,
            stacklevel=2,
        )
