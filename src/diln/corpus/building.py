"""From a source of any size to a corpus on disk, in bounded memory and on any number of processes."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from diln.corpus.assemble import Assembled, Notes, RawShard, Renumbering, Sink, Tally, Watch, assemble, term_table
from diln.corpus.corpus import Corpus
from diln.corpus.readers import ReadOptions, open_source
from diln.corpus.rules import TextOptions, TextRule, Tokenizer
from diln.corpus.sources import Source
from diln.corpus.store import (
    Entry,
    StoredShards,
    commit,
    next_generation,
    shard_entry,
    shard_name,
    write_columns,
    write_rows,
    writing,
)
from diln.corpus.strings import Strings
from diln.corpus.vocabulary import TermTable, given_vocabulary
from diln.engine.processes import Processes

ROWS = ("ids", "counts", "offsets")


@dataclass(frozen=True, slots=True)
class Put:
    """A raw shard on disk: its columns where they will stay, its rows in a folder that is removed in the end."""

    directory: Path
    name: str
    columns: dict[str, Entry]

    @property
    def raw(self) -> Path:
        """The folder of the rows."""
        return self.directory / f".raw-{self.name}"

    def column(self, name: str) -> Strings:
        """A column as it was written."""
        folder = self.directory / self.name
        return Strings(np.load(folder / f"{name}.npy"), np.load(folder / f"{name}.offsets.npy"))

    def load(self) -> RawShard:
        """The rows, without the columns."""
        ids, counts, offsets = (np.load(self.raw / f"{row}.npy") for row in ROWS)
        return RawShard(ids, counts, offsets, {})


class DiskSink(Sink[Put, dict[str, Any]]):
    """Puts shards into a corpus directory."""

    def __init__(self, directory: Path, generation: int) -> None:
        self.directory, self.generation, self.number = directory, generation, 0

    def put(self, raw: RawShard) -> Put:
        """Write columns for good and rows for later."""
        name = shard_name(self.generation, self.number)
        self.number += 1
        (self.directory / name).mkdir()
        put = Put(self.directory, name, write_columns(self.directory / name, raw.columns))
        put.raw.mkdir()
        for row in ROWS:
            np.save(put.raw / f"{row}.npy", getattr(raw, row))
        return put

    def ids(self, put: Put) -> Strings:
        """The ids of its documents."""
        return put.column("id")

    def finish(
        self, put: list[Put], renumbering: Renumbering, processes: Processes
    ) -> Iterator[tuple[dict[str, Any], int, int]]:
        """Finish the shards, each in whatever process is free."""
        for entry in processes.map(finish_shard, ((one, renumbering) for one in put)):
            yield entry, entry["documents"], entry["tokens"]


def finish_shard(_: Any, job: tuple[Put, Renumbering]) -> dict[str, Any]:
    """Renumber a shard's terms, drop short documents, and write what is left; returns its manifest entry."""
    put, renumbering = job
    folder = put.directory / put.name
    shard, kept = renumbering.finish(put.load())
    columns = put.columns
    if kept is not None:
        names = [name.removesuffix(".offsets.npy") for name in columns if name.endswith(".offsets.npy")]
        columns = write_columns(folder, {name: put.column(name).take(kept) for name in names})
    return shard_entry(put.name, shard, {**columns, **write_rows(folder, shard)})


def build(
    source: str | Path | Source,
    directory: str | Path,
    *,
    overwrite: bool = False,
    n_jobs: int = 1,
    read: ReadOptions | None = None,
    watch: Watch | None = None,
    **options: Unpack[TextOptions],
) -> Corpus:
    """Count the documents of a source into a corpus on disk.

    Memory is bounded by the size of a block and the number of distinct terms, not by the number of documents. The
    directory's bytes are the same for any ``n_jobs``. If anything goes wrong, or the process is killed, the directory
    has the corpus it had before, or none.

    Parameters
    ----------
    source : path or Source
        A folder of .txt files, or a .txt, .csv, .tsv, .jsonl (each also .gz), .parquet, LDA-C, UCI or .npz file.
    directory : path
        Where to put the corpus.
    overwrite : bool
        Whether a corpus that is there may be replaced.
    n_jobs : int
        Number of processes.
    read : ReadOptions, optional
        How the file is read: format, encoding, errors, vocabulary, and the columns text, id, title, date, label.
    watch : Watch, optional
        Is told of guesses and of progress. By default guesses are written to the standard error stream.
    **options
        How text is made into counts; see ``TextRule``.
    """
    directory, how, rule = Path(directory), read or ReadOptions(), TextRule(**options)
    opened = source if isinstance(source, Source) else open_source(source, **how)
    table, within = term_table(opened, rule, given_vocabulary(how.get("vocabulary")))
    with writing(directory, "replace" if overwrite else "new"):
        generation = next_generation(directory)
        made = assemble(opened, within, table, DiskSink(directory, generation), n_jobs, watch or Notes())
        commit(directory, generation, _with_documents(made), made.vocabulary, rule.to_json(), made.tally.to_json())
    return Corpus.open(directory)


def append(
    source: str | Path | Source,
    directory: str | Path,
    *,
    grow: bool = False,
    tokenizer: Tokenizer | None = None,
    n_jobs: int = 1,
    read: ReadOptions | None = None,
    watch: Watch | None = None,
) -> Corpus:
    """Add the documents of a source to a corpus on disk, by the rule it was built with.

    The vocabulary stays as it is, or with ``grow`` takes up at its end the terms that, among the new documents alone,
    are within the rule's limits: numbers of terms and rows of documents that are there never change.
    """
    directory, how = Path(directory), read or ReadOptions()
    with writing(directory, "extend") as manifest:
        stored = manifest.content
        rule = TextRule.from_json(stored["rule"], tokenizer) if stored["rule"] else TextRule(tokenizer=tokenizer)
        earlier = Corpus.open(directory)
        opened = source if isinstance(source, Source) else open_source(source, **how)
        table = TermTable(earlier.vocabulary, closed=not grow)
        generation = next_generation(directory)
        sink = DiskSink(directory, generation)
        ids = [shard.columns["id"] for shard in StoredShards(directory, manifest)]
        made = assemble(opened, rule, table, sink, n_jobs, watch or Notes(), ids)
        shards = [*stored["shards"], *_with_documents(made)]
        tally = Tally(*(a + b for a, b in zip(stored["tally"].values(), made.tally.to_json().values(), strict=True)))
        commit(directory, generation, shards, made.vocabulary, stored["rule"], tally.to_json())
    return Corpus.open(directory)


def _with_documents(made: Assembled[dict[str, Any]]) -> list[dict[str, Any]]:
    """Shards that still have documents after short ones were dropped."""
    return [shard for shard in made.shards if shard["documents"]]
