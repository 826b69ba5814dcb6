"""A fitted model on disk: a manifest with all that is JSON, one file of tensors, and one with the vocabulary.

Knows nothing of the models. The directory is replaced as ``diln.files`` says: a process killed at any moment leaves the
old model or the new one. No file can hold code: there is no pickle.
"""

import json
import math
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy
from numpy.typing import NDArray

from diln.errors import StoreError
from diln.fields import read
from diln.files import (
    Content,
    Entry,
    Held,
    Kind,
    StoredFiles,
    inside,
    make_folder,
    next_generation,
    read_manifest,
    unreadable,
    write_parts,
    writing,
)
from diln.files.frame import checking, versions
from diln.models import migrations
from diln.models.frame import FRAME

Tensors = dict[str, NDArray[Any]]
WriteShards = Callable[[Path], list[Entry]]  # writes the files of a folder, and says what was written

DTYPES = [np.dtype(name) for name in ("float32", "float64", "int64", "uint16")]
NONFINITE = "nonfinite"  # JSON has no NaN and no infinities; they are stored as {"nonfinite": "nan"}


def _parts(manifest: Content) -> set[str]:
    return {entry["file"] for entry in manifest["files"].values() if entry is not None}


MODEL = Kind(
    format="diln-model",
    schema=3,
    noun="model",
    make="fit one with: diln fit SOURCE -o DIR",
    mend="fit it again with: diln fit SOURCE -o DIR, or restore it from a copy",
    part=re.compile(r"g\d{4,}-(tensors\.safetensors|terms\.json)"),
    parts=_parts,
    migrations={1: migrations.model_of_1, 2: dict},
)


@dataclass(frozen=True, slots=True)
class StoredModel:
    """What ``write_model`` was given, and the versions of diln, numpy, python and safetensors that wrote it."""

    content: dict[str, Any]
    tensors: Tensors
    vocabulary: list[str]
    versions: dict[str, str]
    directory: Path
    kind: Kind
    tensor_file: str
    shards: Path | None = None  # the folder of shards, if there are any
    notes: list[Entry] = field(default_factory=list)  # bytes and checksum of each file in it

    def checking(self) -> AbstractContextManager[None]:
        """Say of what is found to be wrong where it is, and what to do."""
        return checking(self.kind, self.directory, {"versions": self.versions}, self.tensor_file)


def write_model(
    directory: str | Path,
    content: dict[str, Any],
    tensors: dict[str, NDArray[Any]],
    vocabulary: list[str],
    kind: Kind = MODEL,
    held: Held | None = None,
    shards: WriteShards | None = None,
) -> None:
    """Write a model to a directory, in place of the model that is there; or another thing made of the same parts.

    Parameters
    ----------
    directory : path
        A directory with a model, an empty one, or one to be made. One with anything else is refused.
    content : dict
        What JSON can hold; NaN and infinities too. Tuples come back as lists.
    tensors : dict of arrays
        Of type float32, float64, int64 or uint16 and any shape.
    vocabulary : list of str
        The terms, in the order of the tensors' columns.
    kind : Kind
        What it is.
    held : Held, optional
        The directory, if this process has held it for writing since before.
    shards : callable, optional
        Writes what is too large for one file into a folder of the directory.
    """
    directory = Path(directory)
    stored = _nonfinite_named(content)
    json.dumps(stored, allow_nan=False, sort_keys=True)  # what cannot be stored is to be known before anything is
    files = {"tensors.safetensors": _tensor_bytes(tensors), "terms.json": json.dumps(vocabulary, indent=0).encode()}
    with writing(directory, kind, "replace") if held is None else held.again() as here:
        _commit(here, stored, files, shards)


def _commit(held: Held, content: dict[str, Any], files: dict[str, bytes], shards: WriteShards | None) -> None:
    generation, kind = next_generation(held.directory), held.kind
    entries: dict[str, Any] = {}
    for part, data in files.items():
        name = f"g{generation:04}-{part}"
        entries[part] = {"file": name, **write_parts(held.directory / name, data)}
    if shards is not None:
        name = f"g{generation:04}-shards"
        make_folder(held.directory / name, new=True)
        entries["shards"] = {"file": name, "parts": shards(held.directory / name)}
    manifest = {
        "format": kind.format,
        "schema": kind.schema,
        "versions": versions(safetensors=safetensors.__version__),
        "files": entries,
    }
    held.commit({**manifest, "content": content})


def read_model(directory: str | Path, kind: Kind = MODEL) -> StoredModel:
    """Read a model, or another thing made of the same parts, every byte of it checked.

    The tensors are in memory of their own and can be written to.
    """
    directory = Path(directory)
    manifest = read_manifest(directory, kind)
    while True:
        try:
            return _read(directory, manifest, kind)
        except StoreError:
            before, manifest = manifest, read_manifest(directory, kind)
            if manifest == before:  # else the model was replaced meanwhile, and its files with it
                raise


def _read(directory: Path, manifest: Content, kind: Kind) -> StoredModel:
    with checking(kind, directory, manifest):
        known = read(FRAME, manifest)
    shards = known["files"].pop("shards")
    names = {part: entry["file"] for part, entry in known["files"].items()}
    files = StoredFiles(directory, {entry["file"]: entry for entry in known["files"].values()}, kind)
    path = directory / names["terms.json"]
    try:
        files.check_sizes()
        vocabulary = _terms(files.check(names["terms.json"]), kind)
        path = directory / names["tensors.safetensors"]
        tensors = _tensors(files.check(names["tensors.safetensors"]), kind)
    except OSError as error:
        raise unreadable(path, error) from None
    content, versions = _nonfinite_back(known["content"]), known["versions"]
    folder = None if shards is None else inside(directory, shards["file"], kind)
    notes = [] if shards is None else shards["parts"]
    return StoredModel(
        content, tensors, vocabulary, versions, directory, kind, names["tensors.safetensors"], folder, notes
    )


def _terms(path: Path, kind: Kind) -> list[str]:
    try:
        terms = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise kind.damaged(path, "is not the JSON that was written") from None
    if not isinstance(terms, list) or not all(isinstance(term, str) for term in terms) or len(set(terms)) < len(terms):
        raise kind.damaged(path, "is not a list of different terms")
    return terms


def _tensors(path: Path, kind: Kind) -> Tensors:
    try:
        with safetensors.safe_open(path, framework="np") as opened:
            tensors = {name: np.array(opened.get_tensor(name)) for name in opened.keys()}  # noqa: SIM118
    except (safetensors.SafetensorError, ValueError, TypeError, AttributeError, KeyError, MemoryError):
        raise kind.damaged(path, "does not hold tensors of the types that are stored") from None
    return tensors


def _tensor_bytes(tensors: Tensors) -> bytes:
    """The tensors as safetensors, which would write what lies otherwise in memory in a wrong order, without a word."""
    for name, tensor in tensors.items():
        if tensor.dtype not in DTYPES:
            raise TypeError(
                f"tensor {name!r} is of type {tensor.dtype}; a model is stored as {', '.join(map(str, DTYPES))}: "
                "convert it with astype"
            )
    return safetensors.numpy.save({name: np.asarray(tensor, order="C") for name, tensor in tensors.items()})


def _nonfinite_named(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _nonfinite_named(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_nonfinite_named(one) for one in value]
    return {NONFINITE: str(float(value))} if isinstance(value, float) and not math.isfinite(value) else value


def _nonfinite_back(value: Any) -> Any:
    if isinstance(value, dict):
        if len(value) == 1 and value.get(NONFINITE) in ("nan", "inf", "-inf"):
            return float(value[NONFINITE])
        return {key: _nonfinite_back(one) for key, one in value.items()}
    return [_nonfinite_back(one) for one in value] if isinstance(value, list) else value
