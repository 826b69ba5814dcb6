"""From a source of any size to a corpus on disk, in bounded memory and on any number of processes."""

from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from diln.corpus.assemble import assemble, term_table
from diln.corpus.corpus import Corpus
from diln.corpus.counting import Counts
from diln.corpus.dates import DateForm
from diln.corpus.npy import as_npy, read_array
from diln.corpus.options import CorpusOptions, columns_of, open_with, rule_of, stored_rule
from diln.corpus.rules import TextOptions, TextRule
from diln.corpus.shards import Shard, narrow
from diln.corpus.sinks import Sink
from diln.corpus.sources import Counted, Source
from diln.corpus.store import StoredShards, commit, read_manifest, read_terms, shard_name, write_shard, writing
from diln.corpus.strings import Strings
from diln.corpus.vocabulary import TermTable
from diln.corpus.watch import Notes, Watch
from diln.engine.base import Engine, check_engine
from diln.errors import SourceError
from diln.files import create, next_generation


@dataclass(frozen=True, slots=True)
class Spilled:
    """A counted block in a file: arrays one after the other, the columns in this order."""

    path: Path
    columns: tuple[str, ...]


class DiskSink(Sink[Spilled, Path, dict[str, Any]]):
    """Keeps blocks in files of a corpus directory, and writes shards beside them."""

    def __init__(self, directory: Path, generation: int) -> None:
        self.directory, self.generation = directory, generation
        self.token = token_hex(4)  # so that nothing left of another build can be taken for a part of this one

    def keep(self, number: int, counted: Counted) -> Spilled:
        """Write a block to a file that is removed in the end."""
        counts, columns = counted.counts, {"id": counted.columns["id"], **counted.columns}
        path = self.directory / f".raw-{self.token}-{number:06}"
        arrays = [array for column in columns.values() for array in (column.data, column.offsets)]
        with create(path) as file:
            for array in (*arrays, counts.ids, narrow(counts.counts), counts.offsets):
                file.writelines(as_npy(array))
        return Spilled(path, tuple(columns))

    def load(self, kept: Spilled) -> Counted:
        """Read a block back."""
        with kept.path.open("rb") as file:
            columns = {name: Strings(read_array(file), read_array(file)) for name in kept.columns}
            ids, counts, offsets = (read_array(file) for _ in range(3))
        return Counted(Counts(None, ids, counts, offsets), columns, [])

    def ids(self, kept: Spilled) -> Strings:
        """Read the ids of a block's documents, which come first."""
        with kept.path.open("rb") as file:
            return Strings(read_array(file), read_array(file))

    def keep_numbers(self, number: int, numbers: NDArray[np.int32]) -> Path:
        """Write numbers to a file that is removed in the end."""
        path = self.directory / f".raw-{self.token}-{number:06}.numbers.npy"
        with create(path) as file:
            file.writelines(as_npy(numbers))
        return path

    def load_numbers(self, stash: Path) -> NDArray[np.int32]:
        """Read numbers back."""
        with stash.open("rb") as file:
            return read_array(file)

    def write(self, number: int, shard: Shard) -> dict[str, Any]:
        """Write a finished shard; returns its manifest entry."""
        return write_shard(self.directory, shard_name(self.generation, number), shard)


def build(
    source: str | Path | Source,
    directory: str | Path,
    *,
    overwrite: bool = False,
    n_jobs: int = 1,
    watch: Watch | None = None,
    engine: Engine | None = None,
    **options: Unpack[CorpusOptions],
) -> Corpus:
    """Count the documents of a source into a corpus on disk.

    Memory is bounded by the size of a block and the number of distinct terms, not by the number of documents. The
    directory's bytes are the same for any ``n_jobs``. If anything goes wrong, or the process is killed, the directory
    has the corpus it had before, or none.

    Parameters
    ----------
    source : path, URL or Source
        A folder of .txt files, or a .txt, .csv, .tsv, .jsonl, .json (each also .gz), .parquet, .xlsx, LDA-C, UCI or
        .npz file; "-" is the standard input (with ``format``). A string with ``://`` is a URL of such a file or folder
        (extra ``remote``); one with ``*`` stands for every file that fits, all of one format.
    directory : path
        Directory for the corpus.
    overwrite : bool
        Whether to replace a corpus that is already there.
    n_jobs : int
        Number of processes; -1 uses all cores.
    watch : Watch, optional
        Is notified of guesses and of progress. By default guesses are written to the standard error stream.
    engine : Dask, optional
        A cluster whose workers count in the place of processes of this machine. They must see the directory, and the
        files of a pattern or a folder, which they read themselves.
    **options
        How to read the file (see ``ReadOptions``) and how to turn text into counts (see ``TextRule``).

    Returns
    -------
    Corpus
        Mapped from the directory.
    """
    directory = Path(directory)
    check_engine(engine)
    opened, vocabulary, text = open_with(source, options, watch=watch)
    rule = rule_of(text)
    table, within = term_table(opened, rule, vocabulary)
    with writing(directory, "replace" if overwrite else "new") as held:
        generation = next_generation(directory)
        sink, crew = DiskSink(directory, generation), None
        if engine is not None:
            from diln.corpus.elsewhere import Crew, SharedSink

            sink = SharedSink(directory.absolute(), generation)
            crew = Crew(engine, (within, sink))
        made = assemble(opened, within, table, sink, n_jobs, watch or Notes(), crew=crew)
        stored = stored_rule(rule, opened)
        commit(held, generation, made.shards, made.vocabulary, stored, made.tally.to_json(), made.dates)
    return Corpus.open(directory)


def append(
    source: str | Path | Source,
    directory: str | Path,
    *,
    grow: bool = False,
    n_jobs: int = 1,
    watch: Watch | None = None,
    **options: Unpack[CorpusOptions],
) -> Corpus:
    """Add the documents of a source to a corpus on disk, by the rule it was built with.

    The columns of old terms and the rows of old documents never change. If the rule drops duplicates, repeats among
    the new documents are dropped, but not repeats of old documents.

    Parameters
    ----------
    source : path or Source
        See ``build``.
    directory : path
        Where the corpus is.
    grow : bool
        Whether to add new terms at the end of the vocabulary: those that are within the limits of the rule, counted
        in the new documents only. By default the vocabulary does not change.
    n_jobs : int
        See ``build``.
    watch : Watch, optional
        See ``build``.
    **options
        How to read the file (see ``ReadOptions``). The options of ``TextRule`` are allowed only if the corpus was made
        from counts. The exception is ``tokenizer``: give it again if the corpus was built with one.

    Returns
    -------
    Corpus
        The old documents, followed by the new ones.
    """
    directory = Path(directory)
    with writing(directory, "extend") as held:
        manifest = read_manifest(directory)
        stored = manifest.content
        opened, vocabulary, text = open_with(source, options, columns_of(stored["rule"]), watch)
        if vocabulary is not None and opened.vocabulary is None:
            raise SourceError("a corpus has its own vocabulary: leave --vocabulary out (or pass --grow for new terms)")
        rule = _rule_again(stored["rule"], text)
        table = TermTable(read_terms(directory, manifest), closed=not grow)
        ids = StoredShards(directory, manifest).ids()
        generation = next_generation(directory)
        sink, dates = DiskSink(directory, generation), manifest.dates
        made = assemble(opened, rule, table, sink, n_jobs, watch or Notes(), ids, dates)
        tally = {name: number + stored["tally"].get(name, 0) for name, number in made.tally.to_json().items()}
        shards = [*stored["shards"], *made.shards]
        order = DateForm(dates.order or made.dates.order, dates.as_given)
        commit(held, generation, shards, made.vocabulary, stored["rule"], tally, order)
    return Corpus.open(directory)


def _rule_again(stored: dict[str, Any] | None, options: TextOptions) -> TextRule:
    if stored is None:
        return rule_of(options)
    if set(options) - {"tokenizer"}:
        raise SourceError(
            f"{', '.join(sorted(options))} cannot be chosen: documents are added by the rule that the corpus was built "
            "with; leave them out, or build the corpus anew"
        )
    return TextRule.from_json(stored, options.get("tokenizer"))
