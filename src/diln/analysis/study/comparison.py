"""A comparison: all runs of the studies asked for, those left to do in several processes, and what came of them."""

import json
import platform
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import diln
from diln.analysis.study.base import Study, View
from diln.analysis.study.curves import Pass, Prior, Steps, Time
from diln.analysis.study.measure import Place, perform
from diln.analysis.study.runs import Run
from diln.analysis.study.settings import Settings
from diln.analysis.study.shelf import DATA, Shelf, digest_of
from diln.analysis.study.table import Table
from diln.corpus import Corpus
from diln.engine.processes import Processes
from diln.errors import WorkerError
from diln.files import MANIFEST

STUDIES: dict[str, Study] = {study.name: study for study in (Table(), Prior(), Steps(), Time(), Pass())}
"""The studies by name: "table", "prior", "steps", "time" and "pass"."""


class Watch(Protocol):
    """Someone who looks on."""

    def expect(self, runs: list[Run], later: int) -> None:
        """These are the runs, done or not, that are known by now; so many more will follow from them."""


@dataclass(frozen=True)
class Comparison:
    """What is compared, on which corpus, and where it is kept.

    Parameters
    ----------
    corpus : Corpus
        The documents.
    settings : Settings
        What is compared, as ``settings_for`` makes it.
    shelf : Shelf
        Where all that comes of it is kept.
    studies : tuple of Study
        What is asked: some of the values of ``STUDIES``.
    """

    corpus: Corpus
    settings: Settings
    shelf: Shelf
    studies: tuple[Study, ...]

    def carry_out(self, n_jobs: int = 1, watch: Watch | None = None) -> dict[str, View]:
        """Do the runs that are left to do, write down what came of all, and return it by study.

        May be stopped at any moment, and goes on from there when it is called again.

        Parameters
        ----------
        n_jobs : int
            Processes, each with a fit of its own; -1 for one for each core. The results are the same for any number.
        watch : Watch, optional
            Is told which runs there are: ``expect(runs, later)`` is called with those that are known by now, done or
            not, and the number of those that will follow from them.

        Returns
        -------
        dict
            By the studies' names: of "table" a ``TableView``, of "prior" and "time" a ``CurvesView``, of "steps" a
            ``PanelsView``, of "pass" a ``PassView``. Each has ``to_json``.
        """
        with self.shelf.opened(self.corpus):
            self.shelf.check()
            place = Place(on_disk(self.corpus, self.shelf), self.shelf.directory)
            with Processes(n_jobs, place, worthwhile=2) as processes, self._stopping():
                first = _distinct(run for study in self.studies for run in study.first(self.settings))
                later = sum(study.n_then(self.settings) for study in self.studies)
                self._do(first, processes, watch, later)
                then = _distinct(run for study in self.studies for run in study.then(self.settings, self.shelf))
                self._do(_distinct([*first, *then]), processes, watch)
            views = {study.name: study.view(self.settings, self.shelf) for study in self.studies}
            for name, view in views.items():
                self.shelf.write(DATA[name], json.dumps(self.described(name, view), indent=1) + "\n")
        return views

    def _do(self, runs: list[Run], processes: Processes, watch: Watch | None, later: int = 0) -> None:
        """Do those of the runs that are not done."""
        if watch is not None:
            watch.expect(runs, later)
        for _ in processes.map(perform, [run for run in runs if not self.shelf.has(run)]):
            pass

    @contextmanager
    def _stopping(self) -> Iterator[None]:
        """Have other processes stop where this one does: they would go on for as long as a fit takes."""
        try:
            yield
        except WorkerError as error:
            self.shelf.stop()
            raise WorkerError(f"{error}; runs that were done are kept, and the same command goes on") from error
        except BaseException:
            self.shelf.stop()
            raise

    @property
    def about(self) -> str:
        """What is compared on what, in a sentence."""
        corpus, settings = self.corpus, self.settings
        return (
            f"{len(corpus):,} documents of {corpus.n_terms:,} terms and {corpus.n_tokens:,} tokens; "
            f"inference: {settings.inference}; seeds: {settings.seeds}; splits: {settings.splits}."
        )

    def described(self, name: str, view: View) -> dict[str, Any]:
        """What came of a study, with what it was made of and made with, as plain values.

        Parameters
        ----------
        name : str
            The study's.
        view : TableView, CurvesView, PanelsView or PassView
            What ``carry_out`` gave for it.
        """
        return {
            "study": name,
            "diln": diln.__version__,
            "versions": {library: version(library) for library in ("numpy", "numba", "scipy")},
            "machine": platform.machine(),
            "corpus": {
                "documents": len(self.corpus), "terms": self.corpus.n_terms, "tokens": self.corpus.n_tokens,
            },
            "settings": self.settings.to_json(),
            name: view.to_json(),
        }  # fmt: skip


def on_disk(corpus: Corpus, shelf: Shelf) -> Path:
    """Where every process can open the corpus: where it is, unless it is a part of what is there, or on the shelf."""
    wanted = digest_of(corpus)
    for directory in (corpus.directory, shelf.corpus):
        if directory is not None and (directory / MANIFEST).exists() and digest_of(Corpus.open(directory)) == wanted:
            return directory.resolve()
    corpus.save(shelf.corpus, overwrite=True)
    return shelf.corpus.resolve()


def _distinct(runs: Iterable[Run]) -> list[Run]:
    return list(dict.fromkeys(runs))
