"""Spoil folders that diln has written: the manifest, the files, and, where that is wanted, mend the checksums."""

import io
import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import PurePosixPath
from random import Random
from typing import Any

import numpy as np
import safetensors.numpy

from fuzz.mutate import arrays, octets, tree
from fuzz.seeds import Files

MANIFEST = "manifest.json"
Entry = dict[str, Any]


def spoilt(rng: Random, files: Files, rounds: int, others: list[Files]) -> Files:
    """A folder with something wrong in it. Checksums are left as they are in one of three cases, else mended."""
    files = dict(files)
    for _ in range(rounds):
        name = MANIFEST if rng.random() < 0.4 else rng.choice(sorted(files))
        how = rng.randrange(10)
        if name not in files or how == 0:
            _moved(rng, files, name, others)
        elif how == 1:
            donors = [other[name] for other in others if name in other]
            files[name] = octets.spoilt(rng, files[name], 1, donors)
        else:
            files[name] = _content(rng, name, files[name])
    if rng.random() < 2 / 3:
        mend(files)
    return files


def _moved(rng: Random, files: Files, name: str, others: list[Files]) -> None:
    """A file is missing, is another's, or has another name."""
    how, data = rng.randrange(4), files.pop(name, b"")
    if how == 1:
        files[name] = rng.choice(sorted(rng.choice(others).items()))[1]
    elif how == 2:
        files[f"{name}2"] = data
    elif how == 3:
        files[name], files[f"{name}.new"] = data, data


def _content(rng: Random, name: str, data: bytes) -> bytes:
    """Spoil what a file says, as one of its kind."""
    try:
        if name.endswith(".json"):
            return _json(rng, json.loads(data)).encode("utf-8", "surrogatepass")
        if name.endswith(".safetensors"):
            return _tensors(rng, data)
        if name.endswith(".npy"):
            return _npy(arrays.spoilt(rng, np.load(io.BytesIO(data)), 1))
    except Exception:
        pass
    return octets.spoilt(rng, data, 1)


def _json(rng: Random, value: Any) -> str:
    if isinstance(value, list) and len(value) > 3 and rng.random() < 0.5:  # a vocabulary: terms twice, or out of order
        value = [rng.choice(value) for _ in value] if rng.random() < 0.5 else value[:-1]
    return tree.text(tree.spoilt(rng, value, 1))


def _tensors(rng: Random, data: bytes) -> bytes:
    tensors = safetensors.numpy.load(data)
    names = sorted(tensors)
    name, how = rng.choice(names), rng.randrange(8)
    if how == 0:
        del tensors[name]
    elif how == 1:
        tensors[rng.choice([f"{name}2", "u", "mean", "statistics", rng.choice(names)])] = tensors[name]
    else:
        tensors[name] = arrays.spoilt(rng, tensors[name], 1, arrays.STORED)
    return safetensors.numpy.save({name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()})


def _npy(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def mend(files: Files) -> None:
    """Make every checksum and size in the manifest, and that of the manifest, right again."""
    try:
        content = json.loads(files[MANIFEST])
        for name, entry in _entries(content, ""):
            if name in files:
                entry["bytes"], entry["sha256"] = len(files[name]), sha256(files[name]).hexdigest()
                if "shape" in entry and name.endswith(".npy"):
                    _describe(entry, files[name])
        content.pop("checksum", None)
        plain = json.dumps(content, sort_keys=True, separators=(",", ":"))
        content["checksum"] = sha256(plain.encode()).hexdigest()
        files[MANIFEST] = json.dumps(content, indent=1, sort_keys=True).encode()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return  # beyond mending


def _entries(value: Any, folder: str) -> Iterator[tuple[str, Entry]]:
    """What the manifest says of files, by their paths: entries that name their file, and those of a shard's folder."""
    if isinstance(value, list):
        for one in value:
            yield from _entries(one, folder)
    elif isinstance(value, dict):
        if "sha256" in value and isinstance(value.get("file"), str):
            yield str(PurePosixPath(folder, value["file"])), value
        inner = value["name"] if isinstance(value.get("name"), str) and "files" in value else folder
        for key, one in value.items():
            if isinstance(one, dict) and "sha256" in one and "file" not in one:
                yield str(PurePosixPath(inner, key)), one
            else:
                yield from _entries(one, inner)


def _describe(entry: Entry, data: bytes) -> None:
    try:
        array = np.load(io.BytesIO(data), mmap_mode=None, allow_pickle=False)
        entry["dtype"], entry["shape"] = array.dtype.str, list(array.shape)
    except Exception:
        return
