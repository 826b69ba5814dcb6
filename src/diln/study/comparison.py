"""A comparison: all runs of the studies asked for, those left to do in several processes, and what came of them."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import diln
from diln.corpus import Corpus
from diln.corpus.splits import completion_rows
from diln.engine.processes import Processes
from diln.errors import SourceError, StoreError, WorkerError
from diln.files import MANIFEST
from diln.study.base import Study, View
from diln.study.curves import Pass, Prior, Steps, Time
from diln.study.folder import DATA, LIBRARIES, ResultsFolder, digest_of, made_again, made_with
from diln.study.measure import RunContext, perform
from diln.study.runs import Run
from diln.study.settings import Settings
from diln.study.table import Table

STUDIES: dict[str, Study] = {study.name: study for study in (Table(), Prior(), Steps(), Time(), Pass())}
"""The studies by name: "table", "prior", "steps", "time" and "pass"."""


class Watch(Protocol):
    """Follows the progress of a comparison."""

    def expect(self, runs: list[Run], later: int) -> None:
        """The runs that are known by now, done or not, and the number of runs that will follow from them."""


@dataclass(frozen=True)
class Comparison:
    """A comparison of models: what is compared, on which corpus, and where the results are stored.

    Parameters
    ----------
    corpus : Corpus
        The documents.
    settings : Settings
        What is compared, made by ``settings_for``.
    folder : ResultsFolder
        The directory for all results.
    studies : tuple of Study
        The studies to carry out: values of ``STUDIES``.
    """

    corpus: Corpus
    settings: Settings
    folder: ResultsFolder
    studies: tuple[Study, ...]

    def carry_out(
        self, n_jobs: int = 1, watch: Watch | None = None, show: Callable[[dict[str, View]], None] | None = None
    ) -> dict[str, View]:
        """Do the runs that are still to be done, write the results of all runs, and return them by study.

        You can stop it at any time; call it again to continue.

        Parameters
        ----------
        n_jobs : int
            Number of processes; -1 uses all cores. The results are the same for any number.
        watch : Watch, optional
            Is notified of the runs: ``expect(runs, later)`` is called with the runs known by now, done or not, and the
            number of runs that will follow from them.
        show : callable, optional
            Is called with the results while the directory is still locked, and may write files there.

        Returns
        -------
        dict
            Results by the name of the study: a ``TableView`` for "table", a ``CurvesView`` for "prior" and "time", a
            ``PanelsView`` for "steps", a ``PassView`` for "pass". Each has ``to_json``.
        """
        settled = (study.first(self.settings) or study.then(self.settings, self.folder) for study in self.studies)
        check_splits(self.corpus, [run for runs in settled for run in runs])
        digest = digest_of(self.corpus)
        with self.folder.opened(digest):
            self.folder.check()
            context = RunContext(on_disk(self.corpus, digest, self.folder), digest, self.folder.directory)
            with Processes(n_jobs, context, worthwhile=2) as processes, self._stopping():
                first = _distinct(run for study in self.studies for run in study.first(self.settings))
                later = sum(study.n_then(self.settings) for study in self.studies)
                self._do(first, processes, watch, later)
                then = _distinct(run for study in self.studies for run in study.then(self.settings, self.folder))
                self._do(_distinct([*first, *then]), processes, watch)
            views = {study.name: study.view(self.settings, self.folder) for study in self.studies}
            for name, view in views.items():
                self.folder.write(DATA[name], json.dumps(self.described(name, view), indent=1) + "\n")
            if show is not None:
                show(views)
        return views

    def _do(self, runs: list[Run], processes: Processes, watch: Watch | None, later: int = 0) -> None:
        """Do those of the runs that are not done."""
        if watch is not None:
            watch.expect(runs, later)
        for _ in processes.map(perform, [run for run in runs if not self.folder.has(run)]):
            pass

    @contextmanager
    def _stopping(self) -> Iterator[None]:
        """Have other processes stop where this one does: they would go on for as long as a fit takes."""
        try:
            yield
        except WorkerError as error:
            self.folder.stop()
            raise WorkerError(f"{error}; runs that were done are kept, and the same command goes on") from error
        except BaseException:
            self.folder.stop()
            raise

    @property
    def about(self) -> str:
        """The documents and settings in one sentence."""
        corpus, settings = self.corpus, self.settings
        return (
            f"{len(corpus):,} documents of {corpus.n_terms:,} terms and {corpus.n_tokens:,} tokens; inference: "
            f"{settings.inference}; judged by {settings.judge}; seeds: {settings.seeds}; splits: {settings.splits}."
        )

    def described(self, name: str, view: View) -> dict[str, Any]:
        """The results of a study with its corpus, settings and versions, as plain values.

        Parameters
        ----------
        name : str
            Name of the study.
        view : TableView, CurvesView, PanelsView or PassView
            Its result from ``carry_out``.
        """
        known = made_with()
        return {
            "study": name,
            "diln": diln.__version__,
            "versions": {library: known[library] for library in LIBRARIES},
            "machine": known["machine"],
            "corpus": {
                "documents": len(self.corpus), "terms": self.corpus.n_terms, "tokens": self.corpus.n_tokens,
            },
            "settings": self.settings.to_json(),
            name: view.to_json(),
        }  # fmt: skip


def on_disk(corpus: Corpus, digest: str, folder: ResultsFolder) -> Path:
    """Where every process can open the corpus: its own directory if that holds all of it and no more, or a copy."""
    own = corpus.directory
    if own is not None and (own / MANIFEST).exists() and digest_of(Corpus.open(own)) == digest:
        return own.resolve()
    if not (folder.corpus / MANIFEST).exists():
        corpus.save(folder.corpus)
    with made_again(folder.corpus):
        found = digest_of(Corpus.open(folder.corpus))
    if found != digest:
        raise StoreError(
            f"{folder.corpus}: holds other documents than those compared; move it elsewhere, and the same command goes "
            "on"
        )
    return folder.corpus.resolve()


def check_splits(corpus: Corpus, runs: list[Run]) -> None:
    """Raise if a split that these runs need, as it was drawn, leaves nothing to learn from or nothing to predict."""
    judged_by = {(run.split, either) for run in runs if run.way != "pass" for either in (run.validation, False)}
    for split, validation in sorted(judged_by):
        train, judged, _ = completion_rows(len(corpus), split, validation=validation)
        use = "validation" if validation else "test"
        for name, rows in (("training", train), (use, judged)):
            if not corpus.doc_lengths[rows].any():
                raise SourceError(
                    f"split {split + 1} (seed {split}): none of its {len(rows):,} {name} documents, which are drawn at "
                    "random, has a token; leave empty documents out (diln corpus build --min-tokens 1), or give more"
                )


def _distinct(runs: Iterable[Run]) -> list[Run]:
    return list(dict.fromkeys(runs))
