"""Documents' proportions of topics in a file: id, n_tokens and topic_0, topic_1, ... of each document."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, NamedTuple

from diln.errors import DilnError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DIGITS = "%.7g"  # as many as single precision has


class Part(NamedTuple):
    """Some documents: their ids, numbers of known tokens, and proportions of topics (n_docs, n_topics)."""

    ids: list[str]
    tokens: "NDArray[np.int64]"
    theta: "NDArray[np.float64]"


def check_target(path: Path, inputs: Iterable[Path] = (), directories: Iterable[Path] = ()) -> None:
    """Raise if nothing can be written there: better known before the work than after.

    Nor may it take the place of one of the files that are read, or lie in a directory that diln keeps.
    """
    if path.suffix.lower() not in WRITERS:
        raise DilnError(f"{path}: the name must end in one of {', '.join(WRITERS)}; choose what to write")
    if path.is_dir():
        raise DilnError(f"{path}: is a folder; name a file")
    if not path.parent.is_dir():
        raise DilnError(f"{path.parent}: there is no such folder; make it first")
    if path.suffix.lower() == ".parquet" and find_spec("pyarrow") is None:
        raise DilnError(f"{path}: needs pyarrow; install it with: pip install 'diln[tables]', or write .csv")
    for directory in directories:
        if path.resolve().is_relative_to(directory.resolve()):
            raise DilnError(f"{path}: lies in {directory}, which holds only what diln puts there; name another file")
    for other in inputs:
        if path.exists() and other.exists() and path.samefile(other):
            raise DilnError(f"{path}: is also what is read, and would be lost; name another file")


def write(path: Path, parts: Iterable[Part], n_topics: int) -> int:
    """Write the file in one step, so that it is whole or as it was; returns how many documents have no known token."""
    empty = 0

    def counting() -> Iterator[Part]:
        nonlocal empty
        for part in parts:
            empty += int((part.tokens == 0).sum())
            yield part

    with _in_place_of(path) as fresh:
        WRITERS[path.suffix.lower()](fresh, counting(), ["id", "n_tokens", *(f"topic_{k}" for k in range(n_topics))])
    return empty


@contextmanager
def _in_place_of(path: Path) -> Iterator[Path]:
    """A path to write to, that takes the place of ``path`` when all went well, and else is gone."""
    fresh = path.with_name(f".{path.name}.{token_hex(4)}.new")
    try:
        yield fresh
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def _write_csv(path: Path, parts: Iterable[Part], columns: list[str], delimiter: str = ",") -> None:
    numbers = delimiter.join(["%d", *[DIGITS] * (len(columns) - 2)])
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        table = csv.writer(file, delimiter=delimiter, lineterminator="")
        table.writerow(columns)
        for ids, tokens, theta in parts:
            for name, size, row in zip(ids, tokens.tolist(), theta.tolist(), strict=True):
                file.write("\n")
                table.writerow([name])
                file.write(delimiter + numbers % (size, *row))
        file.write("\n")


def _write_tsv(path: Path, parts: Iterable[Part], columns: list[str]) -> None:
    _write_csv(path, parts, columns, "\t")


def _write_jsonl(path: Path, parts: Iterable[Part], columns: list[str]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for ids, tokens, theta in parts:
            rounded = ([float(DIGITS % value) for value in row] for row in theta.tolist())
            for name, size, row in zip(ids, tokens.tolist(), rounded, strict=True):
                file.write(json.dumps(dict(zip(columns, (name, size, *row), strict=True))) + "\n")


def _write_npz(path: Path, parts: Iterable[Part], columns: list[str]) -> None:
    import numpy as np

    ids, tokens, theta = zip(*parts, strict=True)
    with path.open("wb") as file:
        np.savez(
            file,
            theta=np.concatenate(theta),
            ids=np.array([name for some in ids for name in some], np.str_),
            n_tokens=np.concatenate(tokens),
        )


def _write_parquet(path: Path, parts: Iterable[Part], columns: list[str]) -> None:
    import numpy as np
    import pyarrow
    from pyarrow import parquet

    def column(kind: Any, size: int, *buffers: "NDArray[Any] | bytes") -> Any:
        """A column from its bytes; pyarrow.array would import pandas to see whether the values are of pandas."""
        return pyarrow.Array.from_buffers(kind, size, [None, *map(pyarrow.py_buffer, buffers)])

    kinds = [pyarrow.string(), pyarrow.int64(), *[pyarrow.float64()] * (len(columns) - 2)]
    schema = pyarrow.schema(list(zip(columns, kinds, strict=True)))
    with parquet.ParquetWriter(path, schema) as file:
        for ids, tokens, theta in parts:
            names = [name.encode("utf-8", "backslashreplace") for name in ids]
            ends = np.cumsum([0, *map(len, names)], dtype=np.int32)
            values = [np.ascontiguousarray(numbers) for numbers in (tokens, *theta.T)]
            text = column(kinds[0], len(ids), ends, b"".join(names))
            made = [column(kind, len(ids), numbers) for kind, numbers in zip(kinds[1:], values, strict=True)]
            file.write_batch(pyarrow.record_batch([text, *made], schema=schema))


WRITERS: dict[str, Callable[[Path, Iterable[Part], list[str]], Any]] = {
    ".csv": _write_csv,
    ".tsv": _write_tsv,
    ".jsonl": _write_jsonl,
    ".npz": _write_npz,
    ".parquet": _write_parquet,
}
