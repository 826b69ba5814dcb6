"""Running sums in lanes against NumPy's, wherever the arrays lie, and compiled to what they were written for."""

import os
import platform
import re
import subprocess
import sys

import numpy as np
import pytest
from llvmlite import binding as llvm
from numba import float32, int64, njit
from numba.core.errors import TypingError

from diln.engine.lanes import LANES, running_sums

SIZES = [16, 32, 48, 64, 112, 400, 1024]


@njit
def write(weights, row, prior, sums, size):
    running_sums(weights, row, prior, sums, size)


def twin(weights, row, prior):
    return np.cumsum((weights * (row + prior)).reshape(-1, LANES), axis=0).ravel()


def sums_of(weights, row, prior):
    sums = np.full(weights.size, np.nan, np.float32)
    write(weights, row, np.float32(prior), sums, weights.size)
    return sums


def arrays(size, seed=1):
    rng = np.random.default_rng(seed)
    return rng.gamma(0.3, 1.0, size).astype(np.float32), rng.poisson(2.0, size).astype(np.float32)


@pytest.mark.parametrize("size", SIZES)
def test_running_sums_are_numpys(size):
    weights, row = arrays(size)
    exact = twin(weights.astype(np.float64), row.astype(np.float64), 0.05)
    np.testing.assert_allclose(sums_of(weights, row, 0.05), exact, rtol=6e-8 * (4 + size / LANES))
    np.testing.assert_allclose(sums_of(weights, row, 0.05), twin(weights, row, np.float32(0.05)), rtol=1e-5)


def test_running_sums_of_whole_numbers_are_exact():
    rng = np.random.default_rng(2)
    weights, row = (rng.integers(0, 30, 512).astype(np.float32) for _ in range(2))
    np.testing.assert_array_equal(sums_of(weights, row, 3.0), twin(weights, row, np.float32(3)))


@pytest.mark.parametrize("scale", [1e-30, 1e-15, 1e15, 1e30])
def test_running_sums_are_numpys_at_tiny_and_huge_values(scale):
    weights, row = arrays(160)
    weights *= np.float32(scale)
    exact = twin(weights.astype(np.float64), row.astype(np.float64), 1e-3)
    np.testing.assert_allclose(sums_of(weights, row, 1e-3), exact, rtol=1e-6, atol=1e-44)


def test_running_sums_beyond_the_largest_number_are_infinite_in_their_lane_only():
    weights, row = np.ones(64, np.float32), np.ones(64, np.float32)
    weights[16 + 3] = row[16 + 3] = np.float32(1e38)
    sums = sums_of(weights, row, 0.0).reshape(-1, LANES)
    assert np.isinf(sums[1:, 3]).all()
    assert np.isfinite(np.delete(sums, 3, axis=1)).all()


def test_running_sums_may_start_at_any_float():
    """Vectors are loaded and stored from where a float may lie: at any multiple of four bytes."""
    size = 96
    for first in range(17):
        for second, third in ((0, 0), (1, 5), (3, 16 - first)):
            rng = np.random.default_rng(first)
            weights, row = (rng.random(size + 16, np.float32)[i : i + size] for i in (first % 16, second))
            kept = np.full(size + 64, -1, np.float32)
            start = third + 20
            write(weights, row, np.float32(0.5), kept[start : start + size], size)
            np.testing.assert_allclose(kept[start : start + size], twin(weights, row, np.float32(0.5)), rtol=1e-6)
            assert (kept[:start] == -1).all()
            assert (kept[start + size :] == -1).all()


def test_running_sums_fill_as_many_as_told_and_no_more():
    weights, row = arrays(128)
    for size in range(0, 129, LANES):
        sums = np.full(128, -1, np.float32)
        write(weights, row, np.float32(0.1), sums, size)
        np.testing.assert_allclose(sums[:size], twin(weights[:size], row[:size], np.float32(0.1)), rtol=1e-6)
        assert (sums[size:] == -1).all()


def test_running_sums_are_the_same_bits_wherever_the_arrays_lie():
    weights, row = arrays(400)
    right = sums_of(weights, row, 0.05)
    for shift in (1, 7, 13):
        moved = [np.empty(420, np.float32)[shift : shift + 400] for _ in range(2)]
        moved[0][:], moved[1][:] = weights, row
        np.testing.assert_array_equal(sums_of(*moved, 0.05), right)


ONES = np.ones(64, np.float32)
WRONG = {
    "weights of double precision": ((ONES.astype(np.float64), ONES, np.float32(1), ONES, 64), "weights must be"),
    "a row of integers": ((ONES, ONES.astype(np.int32), np.float32(1), ONES, 64), "row must be"),
    "a strided row": ((ONES, np.ones(128, np.float32)[::2], np.float32(1), ONES, 64), "row must be"),
    "sums in two dimensions": ((ONES, ONES, np.float32(1), ONES.reshape(4, 16), 64), "sums must be"),
    "a prior of double precision": ((ONES, ONES, 1.0, ONES, 64), "prior must be a float32"),
    "a size that is not whole": ((ONES, ONES, np.float32(1), ONES, 64.0), "size must be an integer"),
}


@pytest.mark.parametrize("case", WRONG)
def test_other_types_are_refused_when_the_loop_is_compiled(case):
    arguments, message = WRONG[case]
    with pytest.raises(TypingError, match=message):
        write(*arguments)


def test_sums_that_cannot_be_written_are_refused_when_the_loop_is_compiled():
    fixed = np.ones(64, np.float32)
    fixed.setflags(write=False)
    with pytest.raises(TypingError, match="cannot be written"):
        write(ONES, ONES, np.float32(1), fixed, 64)
    sums = np.empty(64, np.float32)
    write(fixed, fixed, np.float32(1), sums, 64)
    np.testing.assert_array_equal(sums, twin(fixed, fixed, np.float32(1)))


def has_vectors():
    features = llvm.get_host_cpu_features() if platform.machine().lower() in ("x86_64", "amd64") else {}
    return features.get("avx2", False) and features.get("fma", False)


@pytest.mark.skipif(not has_vectors(), reason="a processor with AVX2 and FMA is needed")
def test_running_sums_multiply_and_add_on_all_lanes_and_stay_in_registers():
    fresh = njit(write.py_func)
    line = float32[::1]
    fresh.compile((line, line, float32, line, int64))
    (assembly,) = fresh.inspect_asm().values()
    assert re.search(r"\bvfmadd\d+ps\b.*[yz]mm", assembly)
    assert re.search(r"\bvmovups\b.*[yz]mm", assembly)
    assert not re.search(r"\bvf?m(ul|add\d+)ss\b", assembly)
    loops = [part for part in assembly.split("\n.LBB") if "vfmadd" in part]
    assert not any(re.search(r"\(%r[sb]p", part) for part in loops)  # nothing kept on the stack


CALLER = """
import numpy as np
from diln.engine.compile import kernel
from diln.engine.lanes import running_sums

@kernel
def write(weights, row, prior, sums):
    running_sums(weights, row, prior, sums, sums.size)

row, sums = np.arange(32, dtype=np.float32), np.empty(32, np.float32)
write(row, row, np.float32(1), sums)
print(int(sums[0]), int(sums[16]), int(sums[31]), sum(write.stats.cache_hits.values()))
"""


def test_running_sums_are_found_compiled_by_a_second_process(tmp_path):
    (tmp_path / "caller.py").write_text(CALLER)
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kept")}
    for hits in (0, 1):
        done = subprocess.run(
            [sys.executable, "-c", "import caller"], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.split() == ["0", "272", str(15 * 16 + 31 * 32), str(hits)]
