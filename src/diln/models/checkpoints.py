"""A fit on its way, on disk: written now and then, and taken up again by a fit of the same documents."""

import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any
from warnings import warn

import numpy as np

import diln
from diln.errors import DilnWarning, StoreError
from diln.files import MANIFEST, Kind, remove, writing
from diln.files.safe import TEMPORARY
from diln.inference.data import Array
from diln.models import migrations, start
from diln.models.counts import PART, Rows
from diln.models.files import MODEL, StoredModel, Tensors, WriteShards, read_model, write_model
from diln.models.parameters import Parameters
from diln.models.reading import checkpoint_content, stored_values

ANEW = "begin anew with --force in place of --resume"
CHECKPOINT = Kind(
    format="diln-checkpoint",
    schema=3,
    noun="checkpoint",
    make="begin without --resume",
    mend=ANEW,
    part=re.compile(rf"{MODEL.part.pattern}|g\d{{4,}}-shards"),
    parts=MODEL.parts,
    inside=re.compile(rf"\d+|{TEMPORARY.format('[0-9]+')}"),
    migrations={1: migrations.checkpoint_of_1, 2: dict},  # which had documents among the tensors
)
FREE = ("n_jobs", "verbose", "max_time", "memory")  # parameters that may be others when a fit is taken up


class Checkpoints:
    """Where a fit is kept while it is on its way, and how often it is written there.

    With ``first``, a fit that takes fewer seconds is not written, and others are after so many. ``name`` says what the
    parameters are called where a message is about them.
    """

    def __init__(
        self,
        directory: str | Path,
        every: float,
        *,
        first: float | None = None,
        resume: bool = False,
        name: Callable[[str], str] = str,
    ) -> None:
        self.directory, self.every, self.first = Path(directory), every, first
        self.resume, self.name = resume, name
        self.begun = time.monotonic()
        self.next = self.begun + (every if first is None else first)
        self.current = False  # whether what is on disk is of the fit under way
        self.others: dict[int, Checkpoints] = {}  # of further chains

    def of_chain(self, number: int) -> "Checkpoints":
        """Where another chain of the fit is kept, beside the first: chain 1, from 0 on, in DIRECTORY.2, and so on."""
        if number not in self.others:
            directory = self.directory.with_name(f"{self.directory.name}.{number + 1}")
            self.others[number] = Checkpoints(
                directory, self.every, first=self.first, resume=self.resume, name=self.name
            )
        return self.others[number]

    def _of_chains(self) -> list["Checkpoints"]:
        """Those of further chains that are on disk, of an earlier fit too."""
        name = re.compile(re.escape(self.directory.name) + r"\.(\d+)")
        beside = self.directory.parent.iterdir() if self.directory.parent.is_dir() else ()
        numbers = [int(found[1]) - 1 for path in beside if (found := name.fullmatch(path.name))]
        return [one for one in map(self.of_chain, sorted(numbers)) if (one.directory / MANIFEST).exists()]

    @property
    def there(self) -> bool:
        """Whether a fit has left something, of any of its chains."""
        return (self.directory / MANIFEST).exists() or bool(self._of_chains())

    @property
    def usable(self) -> bool:
        """Whether what is on disk, of any chain, is of the fit under way."""
        return self.current or any(one.current for one in self.others.values())

    @property
    def due(self) -> bool:
        """Whether it is time to write."""
        return time.monotonic() >= self.next

    @property
    def long(self) -> bool:
        """Whether the fit has taken long enough to be written."""
        return time.monotonic() >= self.begun + (self.first or 0.0)

    @property
    def to_take_up(self) -> bool:
        """Whether there is something that the fit is to go on from."""
        return self.resume and (self.directory / MANIFEST).exists()

    def check(self) -> None:
        """Raise if no checkpoint can be written: better known before the fit than amid it."""
        with writing(self.directory, CHECKPOINT, "replace"):
            pass

    def write(
        self, content: dict[str, Any], tensors: Tensors, vocabulary: list[str], shards: WriteShards | None = None
    ) -> None:
        """Replace what is there, in one step; where that cannot be, it stays, and the fit goes on all the same."""
        try:
            write_model(self.directory, content, tensors, vocabulary, CHECKPOINT, None, shards)
            self.current = True
        except (StoreError, MemoryError) as error:
            reason = str(error) or "there is not enough memory"
            warn(f"no checkpoint was written, and the fit goes on without: {reason}", DilnWarning, stacklevel=2)
        self.next = time.monotonic() + self.every

    def found(self, fingerprint: dict[str, Any]) -> StoredModel | None:
        """What a fit of the same documents and parameters has left, where it is to be taken up and there is any."""
        if not self.to_take_up:
            return None
        stored = read_model(self.directory, CHECKPOINT)
        with stored.checking():
            stored = replace(stored, content=checkpoint_content(stored.content), tensors=renamed(stored.tensors))
            before = as_now(stored.content["fingerprint"])
        other = [key for key in {**before, **fingerprint} if before.get(key) != fingerprint.get(key)]
        if other:
            raise StoreError(
                f"{self.directory}: the checkpoint is of {self._told(other[0], before, fingerprint)}; give what it was "
                f"begun with, or {ANEW}"
            )
        if stored.versions["diln"] != diln.__version__:
            warn(
                f"{self.directory}: the checkpoint is of diln {stored.versions['diln']}, and this is "
                f"{diln.__version__}; the model may differ in its last digits from one that was not stopped",
                DilnWarning,
                stacklevel=2,
            )
        self.current = True
        return stored

    def _told(self, key: str, before: dict[str, Any], now: dict[str, Any]) -> str:
        """What is other about a fit: its documents, or a parameter."""
        if key == "documents":
            return "other documents"
        if key == "init":
            return f"a fit with another {self.name(key)}"
        old, new = ("left out" if one.get(key) is None else one[key] for one in (before, now))
        return f"a fit with {self.name(key)} {old}, not {new}"

    def remove(self, *, stale: bool = False) -> None:
        """The fit is done, and its model is safe: leave nothing but what is not ours.

        With ``stale`` it was stopped: leave what it goes on from, and nothing of fits before it.
        """
        for other in self._of_chains():
            other.remove(stale=stale)
        if self.directory.is_dir() and not (stale and (self.current or self.resume)):
            with suppress(StoreError, OSError):
                remove(self.directory, CHECKPOINT)


def fingerprint(parameters: Parameters, rows: Rows, vocabulary: list[str]) -> dict[str, Any]:
    """What tells fits apart: the model, its parameters, and the documents."""
    told = {name: value for name, value in parameters.to_json().items() if name not in FREE}
    if not isinstance(parameters.init, str | None):
        told["init"] = digest(*start.of_model(parameters.init, vocabulary))
    return {"model": parameters.kind, **told, "documents": documents(rows, vocabulary)}


def as_now(fingerprint: dict[str, Any]) -> dict[str, Any]:
    """A fingerprint as it is made now: parameters that came later have their defaults."""
    own: dict[str, Any] = {name: fingerprint.get(name) for name in ("model", "documents")}
    told = {name: value for name, value in fingerprint.items() if name not in own}
    values = stored_values(own["model"], told)
    return {**own, **{name: value for name, value in values.items() if name not in FREE}}


def renamed(tensors: Tensors) -> Tensors:
    """Tensors by the names that they have now: log weights once had that of locations."""
    if "mean" in tensors and "u" in tensors:
        return {"eta" if name == "u" else name: tensor for name, tensor in tensors.items()}
    return tensors


def documents(rows: Rows, vocabulary: list[str]) -> str:
    """A digest of all counts and terms."""
    found = sha256("\n".join([str(rows.n_docs), *vocabulary]).encode(errors="surrogatepass"))
    for part in rows.parts(PART):
        found.update(digest(part.indptr, part.indices, part.data).encode())
    return found.hexdigest()


def digest(*arrays: Array) -> str:
    """A digest of arrays, the same for the same numbers in another type."""
    found = sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array, np.float64).data)
    return found.hexdigest()


Fingerprint = Callable[[], dict[str, Any]]


class Keeper:
    """Writes a chain down when it is time to, when it is stopped, and where ``last`` says so when it is done.

    The fingerprint, which all documents must be read for, is asked for when something is written or found.
    """

    def __init__(
        self,
        checkpoints: Checkpoints | None = None,
        fingerprint: Fingerprint = dict,
        vocabulary: list[str] | None = None,
        *,
        last: bool = False,
    ) -> None:
        self.checkpoints, self.last = checkpoints, last
        self.fingerprint, self.vocabulary = fingerprint, vocabulary or []

    @classmethod
    def of_chain(
        cls, checkpoints: Checkpoints | None, number: int, told: Fingerprint, vocabulary: list[str], last: bool
    ) -> "Keeper":
        """The one of a chain, from 0 on."""
        own = checkpoints.of_chain(number) if checkpoints is not None and number else checkpoints
        return cls(own, told, vocabulary, last=last)

    def found(self, seed: int | None = None) -> StoredModel | None:
        """What an earlier fit has left, if it is to be taken up, and of this seed where one is given."""
        if self.checkpoints is None or not self.checkpoints.to_take_up:
            return None
        found = self.checkpoints.found(self.fingerprint())
        return None if found is None or seed not in (None, found.content["seed"]) else found

    def keep(
        self,
        seed: int,
        phase: str,
        stored: Callable[[], tuple[dict[str, Any], Tensors]],
        shards: WriteShards | None,
        *,
        done: bool,
        stopped: bool,
    ) -> None:
        """A sweep or a step is done, or all are; ``stored`` gives what is to be written, if it is time to.

        ``shards`` writes what is kept of documents.
        """
        kept = self.checkpoints
        if kept is not None and kept.every < np.inf and (kept.due or stopped or (self.last and done and kept.long)):
            content, tensors = stored()
            told = {"seed": seed, "phase": phase, phase: content, "fingerprint": self.fingerprint()}
            kept.write(told, tensors, self.vocabulary, shards)
