"""Arrays in .npy files: what a file says of its array, read before any memory is taken for it, and the array."""

import math
import re
from io import BytesIO
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

READERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
# How NumPy writes the header of an array of numbers. It reads headers with Python's parser, which raises SystemError
# when threads use it at the same time (Python 3.11 and 3.12, https://github.com/python/cpython/issues/106905).
WRITTEN = re.compile(
    rb"\{'descr': '([<>|=]?[a-zA-Z]\d+)', 'fortran_order': False, 'shape': \((\d*(?:, ?\d+)*),?\), \} *\n"
)
START = 10  # where the text of a header of version 1.0 begins: after the magic bytes, the version and the length


class Header(NamedTuple):
    """An array's shape, type and order, and where in its file it begins."""

    shape: tuple[int, ...]
    dtype: np.dtype
    fortran: bool
    start: int

    @property
    def n_bytes(self) -> int:
        """How many bytes the file must have."""
        return self.start + math.prod(self.shape) * self.dtype.itemsize


def read_header(file: IO[bytes]) -> Header:
    """The header where a file is; ValueError if it is none, or that of Python objects."""
    try:
        header = _parsed(file)
    except Exception:  # NumPy parses Python there, and raises many kinds where it is none
        raise ValueError("is not a .npy file") from None
    if header.dtype.hasobject or header.dtype.names is not None:
        raise ValueError(f"holds values of type {header.dtype}")
    return header


def _parsed(file: IO[bytes]) -> Header:
    begin = file.tell()
    opening = file.read(START)
    text = file.read(int.from_bytes(opening[8:], "little")) if opening[:8] == b"\x93NUMPY\x01\x00" else b""
    if (found := WRITTEN.fullmatch(text)) is not None:
        shape = tuple(int(size) for size in found[2].split(b",") if size)
        return Header(shape, np.dtype(found[1].decode()), False, START + len(text))
    file.seek(begin)
    shape, fortran, dtype = READERS[npy.read_magic(file)](file)
    return Header(shape, dtype, fortran, file.tell() - begin)


def as_npy(array: NDArray[Any]) -> tuple[bytes, memoryview]:
    """An array as .npy, in two parts; NumPy's own writer says nothing useful where the disk is full."""
    array = np.ascontiguousarray(array)
    header = BytesIO()
    npy.write_array_header_1_0(header, npy.header_data_from_array_1_0(array))
    return header.getvalue(), array.data


def read_array(file: IO[bytes]) -> NDArray[Any]:
    """Read the array where a file is that we have written."""
    header = read_header(file)
    return np.fromfile(file, header.dtype, math.prod(header.shape)).reshape(header.shape)


def map_array(path: Path, header: Header) -> NDArray[Any]:
    """The array of a file, mapped into memory."""
    if 0 in header.shape:  # which cannot be mapped
        return np.zeros(header.shape, header.dtype)
    order: Literal["C", "F"] = "F" if header.fortran else "C"
    return np.memmap(path, header.dtype, "r", header.start, header.shape, order).view(np.ndarray)
