"""Arrays of .npy files are NumPy's own, and any number of threads may read them at the same time."""

import gc
import sys
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO

import numpy as np
import pytest

from diln.corpus.npy import as_npy, map_array, read_array, read_header

ARRAYS = [
    np.arange(7, dtype=np.uint16),
    np.zeros(0, np.int64),
    np.ones((3, 4), np.float32),
    np.zeros((0, 5), np.float16),
    np.arange(6.0).reshape(2, 3, 1),
    np.array(3, np.uint8),
    np.array([b"csr", b"coo"]),
    np.arange(4, dtype=">i4"),
    np.array([True, False]),
]
OTHERS = [np.asfortranarray(np.arange(12.0).reshape(3, 4)), np.array(["a", "bc"]), np.array(["2026-11-18"], "M8[D]")]


def same(found, array):
    np.testing.assert_array_equal(found, array)
    assert (found.dtype, found.shape, type(found)) == (array.dtype, array.shape, np.ndarray)


@pytest.mark.parametrize("array", [*ARRAYS, *OTHERS], ids=lambda array: f"{array.dtype.str} {array.shape}")
def test_a_file_of_numpy_is_mapped_as_numpy_reads_it(tmp_path, array):
    path = tmp_path / "a.npy"
    np.save(path, array)
    with path.open("rb") as file:
        header = read_header(file)
    assert header.n_bytes == path.stat().st_size
    same(map_array(path, header), array)


def test_arrays_one_after_the_other_are_read_as_they_were_written(tmp_path):
    path = tmp_path / "all"
    with path.open("wb") as file:
        for array in ARRAYS:
            file.writelines(as_npy(array))
    with path.open("rb") as file:
        for array in ARRAYS:
            same(read_array(file), array if array.shape else array.reshape(1))
    assert np.load(BytesIO(b"".join(as_npy(ARRAYS[2])))).shape == (3, 4)


@pytest.fixture
def restless():
    """Threads take turns as often as they can, amid whatever Python's parser does, too."""
    interval, threshold = sys.getswitchinterval(), gc.get_threshold()
    callback = lambda *_: sum(i for i in range(3))  # noqa: E731
    gc.callbacks.append(callback)
    gc.set_threshold(5)
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)
    gc.set_threshold(*threshold)
    gc.callbacks.remove(callback)


def test_threads_that_read_headers_at_the_same_time_get_headers(restless):
    data = [b"".join(as_npy(array)) for array in ARRAYS]
    read = lambda number: read_header(BytesIO(data[number % len(data)])).n_bytes  # noqa: E731
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(read, range(3000)))
    assert found == [len(data[number % len(data)]) for number in range(3000)]
