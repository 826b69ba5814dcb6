"""Spoil arrays and sparse matrices: their types, shapes, values, and what ties the parts of a matrix together."""

from contextlib import suppress
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

FLOATS = [
    np.nan,
    np.inf,
    -np.inf,
    -1.0,
    0.0,
    -0.0,
    0.5,
    1e-320,
    1e-45,
    1e30,
    1e38,
    1e300,
    1.7e308,
    2.0**24 + 2,
    2.0**31,
    1e16,
]
WHOLES = [0, 1, -1, 2, 30, 1000, 127, 255, 65535, 10**8, 2**31 - 1, 2**31, -(2**31), 2**62, -(2**63)]
TYPES = [
    "f2",
    "f4",
    "f8",
    "i1",
    "i2",
    "i4",
    "i8",
    "u1",
    "u2",
    "u4",
    "u8",
    "?",
    "c16",
    ">f8",
    ">i4",
    "O",
    "U3",
    "f16",
    "M8[s]",
]
STORED = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"]  # types that safetensors has

Array = NDArray[Any]


def spoilt(rng: Random, array: Array, rounds: int, types: list[str] = TYPES) -> Array:
    """The array after some mutations."""
    array = np.array(array)
    for _ in range(rounds):
        how, array = rng.randrange(8), np.asarray(array)  # a row of objects may be one of them
        array = _retyped(rng, array, types) if how == 0 else _reshaped(rng, array) if how <= 2 else revalued(rng, array)
    return array


def revalued(rng: Random, array: Array) -> Array:
    """Another value in one place, in some, or in all; or the values in another order."""
    if not array.size or array.dtype.kind not in "fiuc":
        return array
    array = np.array(array)
    flat = array.reshape(-1)
    how = rng.randrange(6)
    place = rng.randrange(len(flat))
    value = _value(rng, array.dtype)
    if how <= 2:
        flat[place] = value
    elif how == 3:
        flat[place : place + rng.randrange(1, 20)] = value
    elif how == 4:
        flat[:] = value
    else:
        flat[:] = flat[[rng.randrange(len(flat)) for _ in range(len(flat))]]
    return array


def _value(rng: Random, kind: np.dtype[Any]) -> Any:
    with np.errstate(all="ignore"):
        if kind.kind in "fc":
            return np.float64(rng.choice(FLOATS)).astype(kind)
        return np.array(rng.choice(WHOLES)).astype(kind)


def _retyped(rng: Random, array: Array, types: list[str]) -> Array:
    kind = np.dtype(rng.choice(types))
    with np.errstate(all="ignore"):
        try:
            return array.real.astype(kind) if array.dtype.kind == "c" else array.astype(kind)
        except (TypeError, ValueError):
            return array


def _reshaped(rng: Random, array: Array) -> Array:
    how = rng.randrange(10)
    axis = rng.randrange(max(array.ndim, 1))
    if how == 0 or not array.ndim:
        return array[np.newaxis] if rng.random() < 0.5 else array.reshape(-1)
    if how == 1:
        return array.reshape(-1)
    if how == 2:
        return array.T
    if how == 3:
        return np.delete(array, rng.randrange(array.shape[axis]), axis) if array.shape[axis] else array
    if how == 4:
        return np.concatenate([array, array], axis)
    if how == 5:
        return np.take(array, range(min(1, array.shape[axis])), axis)
    if how == 6:
        return np.take(array, [], axis)
    if how == 7:
        return array[0] if len(array) else array
    if how == 8:
        return np.asfortranarray(array)
    return np.take(array, range(array.shape[axis] - 1, -1, -1), axis)


def spoilt_rows(rng: Random, rows: Any, rounds: int) -> Any:
    """A sparse matrix after some mutations, each of one of its parts."""
    rows = rows.copy()
    parts = [_data, _float_data, _shape, _coordinates, _coordinates] if rows.format == "coo" else PARTS
    for _ in range(rounds):
        with suppress(Exception):  # a part that was spoilt before may not be there to be spoilt
            rng.choice(parts)(rng, rows)
    return rows


def _indices(rng: Random, rows: Any) -> None:
    if len(rows.indices):
        place = rng.randrange(len(rows.indices))
        columns = rows.shape[1]
        rows.indices[place] = rng.choice((columns, columns + 1, -1, 77, 10**8, 2**31 - 1, -(2**31), rows.indices[0]))


def _coordinates(rng: Random, rows: Any) -> None:
    rows.coords[rng.randrange(2)][rng.randrange(rows.nnz)] = rng.choice((-1, 20, 77, 10**8, 2**31 - 1, -(2**31)))


def _offsets(rng: Random, rows: Any) -> None:
    place = rng.choice((0, -1, rng.randrange(len(rows.indptr))))
    rows.indptr[place] = rng.choice((0, 1, -1, len(rows.indices), len(rows.indices) + 5, 10**8, 2**31 - 1, -(2**31)))


def _data(rng: Random, rows: Any) -> None:
    rows.data = spoilt(rng, rows.data, 1) if rng.random() < 0.3 else revalued(rng, rows.data)


def _float_data(rng: Random, rows: Any) -> None:
    rows.data = revalued(rng, rows.data.astype(rng.choice(("f4", "f8"))) if rows.data.dtype.kind in "iu" else rows.data)


def _shape(rng: Random, rows: Any) -> None:
    n, m = rows.shape
    rows._shape = rng.choice(
        ((n + 1, m), (n - 1, m), (n, m - 1), (n, m + 1), (0, m), (n, 0), (m, n), (n, 2**31), (10**9, m))
    )


def _order(rng: Random, rows: Any) -> None:
    rows.indices = rows.indices[::-1].copy()
    rows.has_sorted_indices = rows.has_canonical_format = rng.random() < 0.5


def _part(rng: Random, rows: Any) -> None:
    name = rng.choice(("data", "indices", "indptr"))
    setattr(rows, name, spoilt(rng, getattr(rows, name), 1))


PARTS = [_indices, _indices, _offsets, _data, _data, _float_data, _shape, _order, _part]


def in_form(rng: Random, rows: Any) -> Any:
    """Counts as one of the things that people give for them."""
    table = rows.toarray()
    how = rng.randrange(12)
    if how < len(FORMS):
        return getattr(sparse, FORMS[how])(rows)
    return (table.tolist(), table, np.asfortranarray(table), np.ma.masked_equal(table, 0), table[::-1, ::-1])[
        how - len(FORMS)
    ]


FORMS = ["csc_matrix", "coo_matrix", "lil_matrix", "dok_matrix", "csr_array", "bsr_array", "coo_array"]
