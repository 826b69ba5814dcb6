"""Where a comparison is on disk: a file for every run that is done, and what came of all of them.

Every file is written in one step. Whatever is there of a comparison that was stopped is whole, and the same comparison
goes on from it.
"""

import json
import platform
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import diln
from diln.corpus import Corpus
from diln.errors import StoreError
from diln.files import (
    MANIFEST,
    Content,
    Kind,
    StoredFiles,
    guarded,
    make_folder,
    read_manifest,
    sweep_fresh,
    touch,
    write_whole,
    writing,
)
from diln.models.checkpoints import documents
from diln.models.counts import CorpusRows
from diln.models.files import MODEL
from diln.models.fitted import Fitted
from diln.study.runs import KEPT, Run

RUNS, MODELS, CORPUS, FIGURES, STOP = "runs", "models", "corpus", "figures", "stop"
BEGUN = ".begun"
AGAIN = "remove it, and the same command makes it again"
LIBRARIES = ("numpy", "numba", "scipy")  # whose numbers may be others in another version
# The part of the code that the result of a run depends on.
ROOMS = ("engine", "prob", "corpus", "inference", "models")
MEASURES = (
    "analysis/assess", "analysis/coherence", "analysis/completion", "analysis/distinct", "analysis/edit_files",
    "analysis/edits", "analysis/folding", "analysis/html", "analysis/inputs", "analysis/records", "analysis/topics",
    "study/measure", "study/streams",
)  # fmt: skip
TABLE = "table.md"
DATA = {"table": "results.json", "prior": "prior.json", "steps": "steps.json", "time": "time.json", "pass": "pass.json"}
COMPARISON = Kind(
    format="diln-comparison",
    schema=1,
    noun="comparison",
    make="name an empty or a new directory",
    mend="name another directory, or remove this one",
    # Runs, models and figures begin after the manifest: a folder without one has none that are of a comparison.
    part=re.compile(rf"{STOP}|\.?({'|'.join(map(re.escape, (TABLE, *DATA.values())))})(\.[0-9a-f]{{16}})?\.new"),
    parts=lambda content: set(),
)


class ResultsFolder:
    """The directory of a comparison: a file for every finished run, stored models, and the results of all runs.

    Parameters
    ----------
    directory : path
        A new or empty directory, or that of a comparison on the same documents, which is then continued.
    """

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        self._read: dict[str, dict[str, Any]] = {}

    @cached_property
    def runs(self) -> Path:
        """Where the results of runs are."""
        return self.directory / RUNS

    @property
    def corpus(self) -> Path:
        """Where the documents are, if they are not a corpus on disk already."""
        return self.directory / CORPUS

    def model(self, run: Run) -> Path:
        """Where the model of a run is, of those that are kept."""
        return self.directory / MODELS / run.name

    def check_free(self) -> None:
        """Raise if the directory is somebody else's or in use: better known before the documents are read."""
        with writing(self.directory, COMPARISON, "any"):
            pass

    @guarded
    def opened(self, digest: str) -> Iterator[None]:
        """Hold the directory for writing, and begin or go on with a comparison on these documents; refuse others."""
        content = {"format": COMPARISON.format, "schema": COMPARISON.schema}
        now = {"diln": diln.__version__, "code": code(), "documents": digest, **made_with()}
        with writing(self.directory, COMPARISON, "any") as held:
            if (self.directory / MANIFEST).exists():
                self._check(read_manifest(self.directory, COMPARISON), now)
            held.commit({**content, "fingerprint": now})
            for folder in (self.runs, self.directory / MODELS, self.directory / FIGURES):
                make_folder(folder)
                sweep_fresh(folder)
            for left in (*self.runs.glob("*.json.new"), self.directory / STOP):
                left.unlink(missing_ok=True)
            self._none_under_way()
            try:
                yield
            finally:
                self._none_under_way()

    def _check(self, manifest: Content, now: dict[str, str]) -> None:
        other, before = f"{self.directory}: holds a comparison", manifest.get("fingerprint")
        if not isinstance(before, dict) or not before.keys() >= {"documents", "diln"}:
            raise COMPARISON.damaged(self.directory / MANIFEST, "does not say what was compared")
        if before["documents"] != now["documents"]:
            raise StoreError(f"{other} on other documents; give the source it was begun with, or another --output")
        for name, here in made_with().items():
            if before.get(name) != here:
                raise StoreError(
                    f"{other} made with {name} {before.get(name)}, and this is {name} {here}; give another --output, "
                    "or go on with what it was made with"
                )
        if before != now:
            raise StoreError(
                f"{other} made by other code, diln {before['diln']}, and this is diln {now['diln']}; give another "
                "--output, or go on with that code"
            )

    def has(self, run: Run) -> bool:
        """Whether a run is done."""
        return self._has(run.name)

    def _has(self, name: str) -> bool:
        """Whether there are the results of a run and, where it is kept, the model."""
        kept = name.startswith(f"{KEPT}-")
        return self._path(name).exists() and (not kept or (self.directory / MODELS / name / MANIFEST).exists())

    def check(self) -> None:
        """Read the results of all runs that are done; raises if one is damaged, or the model of one is cut off."""
        for name in self.done():
            self.read_named(name)
            if name.startswith(f"{KEPT}-"):
                self._check_model(self.directory / MODELS / name)

    def _check_model(self, path: Path) -> None:
        with made_again(path):
            entries = read_manifest(path, MODEL)["files"].values()
            StoredFiles(path, {entry["file"]: entry for entry in entries}, MODEL).check_sizes()

    def load(self, run: Run) -> Fitted:
        """The model of a run, of those that are kept, every byte of it checked."""
        with made_again(self.model(run)):
            return Fitted.load(self.model(run))

    def read(self, run: Run) -> dict[str, Any]:
        """What came of a run."""
        return self.read_named(run.name)

    def read_named(self, name: str) -> dict[str, Any]:
        """What came of the run of this name."""
        if name not in self._read:
            path = self._path(name)
            try:
                self._read[name] = dict(json.loads(path.read_text(encoding="utf-8"))["result"])
            except (OSError, ValueError, KeyError, TypeError):
                raise StoreError(f"{path}: cannot be read; {AGAIN}") from None
        return self._read[name]

    def begin(self, run: Run) -> None:
        """Note that a run is under way."""
        touch(self.runs / f"{run.name}{BEGUN}")

    def end(self, run: Run, result: dict[str, Any] | None) -> None:
        """Write down what came of a run, if anything did; it is under way no more."""
        if result is not None:
            text = json.dumps({"run": run.to_json(), "result": result}, allow_nan=False)
            write_whole(self._path(run.name), text + "\n")
        (self.runs / f"{run.name}{BEGUN}").unlink(missing_ok=True)

    def _none_under_way(self) -> None:
        for mark in self.runs.glob(f"*{BEGUN}"):
            mark.unlink(missing_ok=True)

    def under_way(self) -> list[str]:
        """The names of the runs that are under way, the oldest first."""
        begun = [path for path in self.runs.glob(f"*{BEGUN}") if path.exists()]
        return [path.name.removesuffix(BEGUN) for path in sorted(begun, key=_age)]

    def done(self) -> list[str]:
        """The names of the runs that are done, the last one last."""
        return [path.stem for path in sorted(self.runs.glob("*.json"), key=_age) if self._has(path.stem)]

    def stop(self) -> None:
        """Have every run that is under way, in whatever process, end without a result."""
        touch(self.directory / STOP)

    @property
    def stopped(self) -> bool:
        """Whether runs are to end."""
        return (self.directory / STOP).exists()

    def write(self, name: str, text: str) -> None:
        """Write a file with what came of all runs."""
        write_whole(self.directory / name, text)

    def _path(self, name: str) -> Path:
        return self.runs / f"{name}.json"


@contextmanager
def made_again(path: Path) -> Iterator[None]:
    """Say of a damaged folder what to do about it here: the command that wrote it is not the one it knows of."""
    try:
        yield
    except StoreError as error:
        fault = str(error).replace(f"{path}/", "").partition(";")[0]
        raise StoreError(f"{path} is damaged ({fault}); {AGAIN}") from None


def made_with() -> dict[str, str]:
    """The libraries and the kind of machine that results depend on, beside our own code."""
    return {**{library: version(library) for library in LIBRARIES}, "machine": platform.machine()}


def digest_of(corpus: Corpus) -> str:
    """A digest of a corpus' documents, the same wherever they are."""
    return documents(CorpusRows(corpus), corpus.vocabulary)


def code() -> str:
    """A digest of the code that runs depend on: results of other code are not to be mixed with its own."""
    found, root = sha256(), Path(diln.__file__).parent
    measures = [root / f"{name}.py" for name in MEASURES]
    for path in sorted([*measures, *(path for room in ROOMS for path in (root / room).rglob("*.py"))]):
        found.update(path.read_bytes())
    return found.hexdigest()


def _age(path: Path) -> tuple[float, str]:
    try:
        return path.stat().st_mtime_ns, path.name
    except OSError:  # it has just gone
        return 0, path.name
