"""What a .npy file says of its array, read before any memory is taken for it."""

import math
from typing import IO, NamedTuple

import numpy as np
from numpy.lib import format as npy

READERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


class Header(NamedTuple):
    """An array's shape and type, and how many bytes its file must have."""

    shape: tuple[int, ...]
    dtype: np.dtype
    n_bytes: int


def read_header(file: IO[bytes]) -> Header:
    """The header at the start of a file; ValueError if it is none, or that of Python objects."""
    try:
        shape, _, dtype = READERS[npy.read_magic(file)](file)
    except Exception:  # NumPy parses Python there, and raises many kinds where it is none
        raise ValueError("is not a .npy file") from None
    if dtype.hasobject or dtype.names is not None:
        raise ValueError(f"holds values of type {dtype}")
    return Header(shape, dtype, file.tell() + math.prod(shape) * dtype.itemsize)
