"""A fit on its way, on disk: written now and then, and taken up again by a fit of the same documents."""

import json
import shutil
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from diln.errors import StoreError
from diln.files import MANIFEST, Kind
from diln.inference.documents import Array
from diln.models.counts import Rows
from diln.models.files import MODEL, StoredModel, read_model, write_model
from diln.models.parameters import Parameters

CHECKPOINT = Kind(
    format="diln-checkpoint",
    schema=1,
    noun="checkpoint",
    make="begin without --resume",
    mend="begin again without --resume",
    part=MODEL.part,
    parts=MODEL.parts,
)
LOOKED_AT = 1000  # documents that two fits are told apart by, beside their numbers
FREE = ("n_jobs", "verbose", "random_state")  # parameters that the result does not depend on, or the seed stands for


class Checkpoints:
    """Where a fit is kept while it is on its way, and how often it is written there."""

    def __init__(self, directory: str | Path, every: float, *, resume: bool = False) -> None:
        self.directory, self.every, self.resume = Path(directory), every, resume
        self.written = time.monotonic()

    @property
    def due(self) -> bool:
        """Whether it is time to write."""
        return time.monotonic() - self.written >= self.every

    def write(self, content: dict[str, Any], tensors: dict[str, Array], vocabulary: list[str]) -> None:
        """Replace what is there, in one step."""
        write_model(self.directory, content, tensors, vocabulary, CHECKPOINT)
        self.written = time.monotonic()

    def found(self, fingerprint: str) -> StoredModel | None:
        """What a fit of the same documents and parameters has left, where it is to be taken up and there is any."""
        if not self.resume or not (self.directory / MANIFEST).exists():
            return None
        stored = read_model(self.directory, CHECKPOINT)
        if stored.content["fingerprint"] != fingerprint:
            raise StoreError(
                f"{self.directory}: the checkpoint is of other documents or other parameters; give those that it was "
                "begun with, or begin again without --resume"
            )
        return stored

    def remove(self) -> None:
        """The fit is done, and its model is safe."""
        shutil.rmtree(self.directory, ignore_errors=True)


def fingerprint(parameters: Parameters, rows: Rows, vocabulary: list[str]) -> str:
    """What tells fits apart: parameters, terms, numbers of documents and tokens, and the first documents."""
    told = {name: value for name, value in parameters.to_json().items() if name not in FREE}
    first = rows.take(np.arange(min(LOOKED_AT, rows.n_docs)))
    digest = sha256(json.dumps([told, vocabulary, rows.n_docs, rows.n_tokens], sort_keys=True).encode())
    for array in (first.indptr.astype(np.int64), first.indices.astype(np.int64), first.data):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
