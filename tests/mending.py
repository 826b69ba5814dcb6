"""Change what is in a stored corpus, model or checkpoint, and mend all checksums: right ones prove nothing.

Written by the description of the format alone, so that it can also write what the package never would.
"""

import json
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy

MANIFEST = "manifest.json"


def read_manifest(directory: Path) -> dict[str, Any]:
    return json.loads((directory / MANIFEST).read_text(encoding="utf-8"))


def entries(directory: Path, manifest: dict[str, Any]) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The files that a manifest speaks of, and what it says of each."""
    for entry in [*manifest.get("files", {}).values(), manifest.get("vocabulary")]:
        if entry is not None and "parts" in entry:
            for number, part in enumerate(entry["parts"]):
                yield directory / entry["file"] / str(number), part
        elif entry is not None:
            yield directory / entry["file"], entry
    for shard in manifest.get("shards", []):
        for name, entry in shard["files"].items():
            yield directory / shard["name"] / name, entry


def mend(directory: Path) -> None:
    """Have the manifest say of every file, and of itself, what is so; files that are gone are left to be missed."""
    manifest = read_manifest(directory)
    for path, entry in entries(directory, manifest):
        if path.is_file():
            data = path.read_bytes()
            entry["bytes"], entry["sha256"] = len(data), sha256(data).hexdigest()
    write_manifest(directory, manifest)


def write_manifest(directory: Path, manifest: Any) -> None:
    """Write a manifest, whatever it is, with the checksum that it must have."""
    if isinstance(manifest, dict):
        manifest.pop("checksum", None)
        text = json.dumps(manifest, sort_keys=True, separators=(",", ":"))
        manifest["checksum"] = sha256(text.encode()).hexdigest()
    (directory / MANIFEST).write_text(json.dumps(manifest, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def edit_manifest(directory: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change the manifest in place, or give another in its stead."""
    manifest = read_manifest(directory)
    changed = change(manifest)
    write_manifest(directory, manifest if changed is None else changed)


def edit_content(directory: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change the content of a model's or a checkpoint's manifest in place."""

    def within(manifest: dict[str, Any]) -> None:
        change(manifest["content"])

    edit_manifest(directory, within)


def file_of(directory: Path, part: str) -> Path:
    """The file of a model or a checkpoint: "tensors.safetensors" or "terms.json"."""
    return directory / read_manifest(directory)["files"][part]["file"]


def edit_tensors(directory: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change the tensors of a model or a checkpoint in place, those of documents among them: of a single shard."""
    shards = read_manifest(directory)["files"].get("shards")
    paths = [file_of(directory, "tensors.safetensors"), *([directory / shards["file"] / "0"] if shards else [])]
    found = [safetensors.numpy.load(path.read_bytes()) for path in paths]
    tensors = {name: one for some in found for name, one in some.items()}
    homes = {name: path for path, some in zip(paths, found, strict=True) for name in some}
    change(tensors)
    for path in paths:
        some = {name: np.ascontiguousarray(one) for name, one in tensors.items() if homes.get(name, paths[0]) == path}
        path.write_bytes(safetensors.numpy.save(some))
    mend(directory)


def edit_bytes(directory: Path, path: Path, change: Callable[[bytes], bytes]) -> None:
    """Change the bytes of any file."""
    path.write_bytes(change(path.read_bytes()))
    mend(directory)


def edit_terms(directory: Path, terms: Any) -> None:
    """Give a model or a checkpoint another vocabulary, whatever it is."""
    file_of(directory, "terms.json").write_text(json.dumps(terms), encoding="utf-8")
    mend(directory)


def edit_array(directory: Path, shard: int, name: str, change: Callable[[Any], Any]) -> None:
    """Change an array of a corpus's shard, in place or for another; its type and shape are said anew."""
    manifest = read_manifest(directory)
    entry = manifest["shards"][shard]
    path = directory / entry["name"] / name
    array = np.load(path)
    changed = change(array)
    array = array if changed is None else changed
    np.save(path, array)
    entry["files"][name] |= {"dtype": array.dtype.str, "shape": list(array.shape)}
    write_manifest(directory, manifest)
    mend(directory)
