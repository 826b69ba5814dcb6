"""A model on disk that is updated: it, its edits, its index and its corpus follow one after the other."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from diln.cli.console import ERR, ProgressLine, complain
from diln.cli.index import CORPUS_FOLDER, FOLDER, corpus_of
from diln.cli.interrupts import StopSign
from diln.cli.options import Given, flag
from diln.cli.source import READING, is_corpus, source_of, tokens_of
from diln.errors import DilnError, SourceError, StoreError

if TYPE_CHECKING:
    from diln.analysis.index import Index
    from diln.corpus import Corpus
    from diln.corpus.batches import Batch
    from diln.corpus.dates import DateForm
    from diln.corpus.extending import Extension
    from diln.corpus.rules import TextRule
    from diln.engine.base import Engine
    from diln.models.fitted import Fitted


class ModelOnDisk:
    """A model under way from what a directory has to what is written there next."""

    def __init__(self, directory: Path, fitted: "Fitted", index: "Index | None", extension: "Extension | None") -> None:
        from diln.analysis.edit_files import carries_edits, state_of

        self.directory, self.fitted, self.index, self.extension = directory, fitted, index, extension
        self.state, self.carries = state_of(directory), carries_edits(directory, fitted)

    @classmethod
    @contextmanager
    def opened(
        cls, model: Path, output: Path | None, *, force: bool, index: bool, corpus: bool
    ) -> Iterator["ModelOnDisk"]:
        """The model that a directory has, or a copy of it that is made first."""
        from diln.corpus.extending import extending
        from diln.models.fitted import Fitted

        fitted = Fitted.load(model)
        if output is not None and output.resolve() != model.resolve():
            copied(model, fitted, output, force=force, documents=corpus)
            model = output
        known = _index(model, fitted) if index else None
        with ExitStack() as stack:
            held = None
            place = model / CORPUS_FOLDER
            if corpus and is_corpus(str(place)) and not place.is_symlink():
                held = stack.enter_context(extending(place, fitted.vocabulary))
            yield cls(model, fitted, known, held)

    @property
    def dates(self) -> "DateForm | None":
        """How the dates of its documents are kept."""
        return None if self.extension is None else self.extension.dates

    @property
    def elsewhere(self) -> Path | None:
        """Where its documents are, if not beside it: there new ones have to be added by hand."""
        return None if self.extension is not None or self.index is None else self.index.corpus

    @property
    def next_number(self) -> int:
        """The number for the next document without an id."""
        return self.fitted.seen if self.extension is None else self.extension.next_number

    def documents(
        self, source: str, reading: Given, stop: StopSign, every: float | None, quiet: bool
    ) -> "Iterator[Batch]":
        """New documents in batches; ``every`` so many seconds at least of a source that is followed."""
        from diln.corpus import Corpus
        from diln.corpus.batches import in_batches, of_corpus, of_source
        from diln.corpus.options import columns_of, open_with

        size = int(self.fitted.parameters.settled("batch_size"))
        if is_corpus(source):
            if every is not None:
                raise SourceError(f"{source}: a corpus directory cannot be followed; give a folder of .txt files, or -")
            given = [flag(kind) for name, kind in READING.items() if name in reading]
            if given:
                raise SourceError(f"{source}: is a corpus, which is read already; leave out {', '.join(given)}")
            if Path(source).resolve() == (self.directory / CORPUS_FOLDER).resolve():
                raise SourceError(f"{source}: these are the documents that the model has learned from; give new ones")
            return in_batches(of_corpus(Corpus.open(source)), size)
        rule = self._rule()
        if every is not None:
            return self._followed(source, reading, rule, size, stop, every)
        options: Any = reading
        opened = open_with(source_of(source), options, columns_of(self.fitted.rule)).source
        for note in () if quiet else opened.notes:
            ERR.print(f"[dim]{escape(note)}[/]", soft_wrap=True)
        return in_batches(of_source(opened, rule), size)

    def _rule(self) -> "TextRule":
        """How texts are counted: as the model's own were, where that is known."""
        from diln.corpus.rules import TextRule
        from diln.models.updating import rule_of_texts

        tokens_of(self.fitted)  # which says so if a tokenizer is needed
        return TextRule() if self.fitted.rule is None else rule_of_texts(self.fitted)

    def _followed(
        self, source: str, reading: Given, rule: "TextRule", size: int, stop: StopSign, every: float
    ) -> "Iterator[Batch]":
        import sys

        import numpy as np

        from diln.corpus.following import FolderFollower, Pace, PipeFollower
        from diln.corpus.options import columns_of

        pace, path = Pace(size, every, stop), Path(source)
        if path.is_dir():
            known = (lambda ids: np.zeros(len(ids), bool)) if self.extension is None else self.extension.known
            return FolderFollower(path, rule, reading, known).batches(pace)  # type: ignore[arg-type]
        if source != "-":
            raise SourceError(f"{source}: only a folder or the standard input (-) can be followed; leave out --follow")
        if "format" not in reading:
            raise SourceError("standard input: say what its lines are with --format lines or --format jsonl")
        columns: Any = {} if (known_columns := columns_of(self.fitted.rule)) is None else {"columns": known_columns}
        options: Any = {**columns, **reading}
        return PipeFollower(sys.stdin.fileno(), Path("standard input"), reading["format"], rule, options).batches(pace)

    def add(self, corpus: "Corpus") -> None:
        """Have documents that were learned from written with the model."""
        if self.extension is not None and len(corpus):
            self.extension.check(corpus)
            self.extension.add(corpus)

    def write(self, engine: "Engine", quiet: bool) -> None:
        """Write the model, and after it what goes with it."""
        from diln.analysis.edit_files import carry_edits, state_of
        from diln.files import writing
        from diln.models.files import MODEL

        with writing(self.directory, MODEL, "replace") as held:
            if state_of(self.directory) != self.state:
                raise StoreError(
                    f"{self.directory}: another process has written the model since this update began; run it again"
                )
            if self.carries:
                carry_edits(self.directory, self.fitted, before=True)
            self.fitted.save(self.directory, held)
            if self.carries:
                carry_edits(self.directory, self.fitted, before=False)
            self.state = state_of(self.directory)
        try:
            self._write_documents(engine, quiet)
        except (DilnError, ValueError, OSError, MemoryError) as error:
            complain(
                "warning",
                f"{self.directory} has the updated model, but not its new documents ({error}); mend that, then: diln "
                f"index {self.directory} SOURCE",
            )

    def _write_documents(self, engine: "Engine", quiet: bool) -> None:
        from diln.corpus import Corpus

        if self.extension is not None:
            self.extension.commit()
        if self.index is None:
            return
        place = self.directory / CORPUS_FOLDER if self.extension is not None else self.index.corpus
        if place is None:
            return
        with ProgressLine("indexing", quiet=quiet) as watch:
            self.index = self.index.followed(self.fitted, Corpus.open(place), watch=watch, engine=engine)
        self.index.write(self.directory / FOLDER)


def _index(model: Path, fitted: "Fitted") -> "Index | None":
    """The index beside a model, if there is a sound one of this model."""
    from diln.cli.keeping import known_index

    return known_index(fitted, model)


def copied(model: Path, fitted: "Fitted", output: Path, *, force: bool, documents: bool) -> None:
    """A copy of a model, with its edits, its index and the documents that it keeps."""
    from diln.analysis.edit_files import FILE
    from diln.analysis.index import Index
    from diln.corpus import Corpus
    from diln.files import write_whole, writing
    from diln.models.files import MODEL

    with writing(output, MODEL, "replace" if force else "new") as held:
        fitted.save(output, held)
    if (model / FILE).exists():
        write_whole(output / FILE, (model / FILE).read_text(encoding="utf-8"))
    place = corpus_of(model)
    if documents and place is not None and place.resolve() == (model / CORPUS_FOLDER).resolve():
        place = Corpus.open(place).save(output / CORPUS_FOLDER, overwrite=True).directory
    index = _index(model, fitted)
    if index is not None:
        index = Index.open(model / FOLDER)
        index.corpus = place
        index.write(output / FOLDER)
