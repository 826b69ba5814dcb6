"""Asking for memory early is a hint: it changes nothing, and is there in the compiled code."""

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from diln.engine.fetch import fetch_cell, fetch_row


@njit
def sum_rows(table, numbers):
    total = 0.0
    for i in range(numbers.size):
        if i + 1 < numbers.size:
            fetch_row(table, numbers[i + 1])
        total += table[numbers[i]].sum()
    return total


@pytest.mark.parametrize("columns", [1, 16, 400])
def test_rows_are_what_they_were(columns):
    rng = np.random.default_rng(0)
    table, numbers = rng.random((50, columns)).astype(np.float32), rng.integers(0, 50, 200).astype(np.int32)
    before = table.copy()
    assert sum_rows(table, numbers) == pytest.approx(table[numbers].sum(dtype=np.float64), rel=1e-4)
    assert np.array_equal(table, before)


def test_the_hint_is_in_the_compiled_code():
    sum_rows(np.zeros((3, 16), np.float32), np.arange(3, dtype=np.int32))
    assert any("prefetch" in code for code in sum_rows.inspect_asm().values())


def test_other_things_than_tables_are_refused():
    @njit
    def wrong(row):
        fetch_row(row, 0)

    with pytest.raises(TypingError, match="two dimensions"):
        wrong(np.zeros(4, np.float32))


def test_cells_are_what_they_were():
    @njit
    def sum_cells(table, rows, columns):
        for i in range(rows.size):
            fetch_cell(table, rows[i], columns[i])
        total = 0.0
        for i in range(rows.size):
            total += table[rows[i], columns[i]]
        return total

    rng = np.random.default_rng(1)
    table, rows, columns = rng.random((30, 7)), rng.integers(0, 30, 50), rng.integers(0, 7, 50)
    assert sum_cells(table, rows, columns) == pytest.approx(table[rows, columns].sum())
    with pytest.raises(TypingError, match="two dimensions"):
        sum_cells(table[0], rows, columns)
