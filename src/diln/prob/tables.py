"""Tables of Chinese restaurants: how many of n guests sit down at a new table, summed over many restaurants.

Guest j, counted from 0, takes a new table with chance a / (a + j), independently of the others (Antoniak, 1974).
Restaurants that share a concentration are told by a histogram: column j holds how many of them have j guests, and its
last column those with as many or more, which is the caller's to see to.
"""

import numpy as np
from numpy.typing import NDArray


def more_than(histogram: NDArray[np.integer]) -> NDArray[np.int64]:
    """Histogram (n_rows, J) of entries equal to j -> (n_rows, J-1), how many are greater than j: have a guest j."""
    at_least = np.cumsum(histogram[:, :0:-1], axis=1, dtype=np.int64)
    return at_least[:, ::-1]


def draw_tables(histogram: NDArray[np.integer], a: NDArray[np.floating], rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw the tables of each row's restaurants, added up, for concentrations a (n_rows,): (n_rows,).

    All guests j of a row are one binomial draw. Exact, if no entry is beyond the last column.
    """
    rows, guests, chances = _guests(histogram, a)
    return _row_sums(rows, rng.binomial(guests, chances), len(histogram)).astype(np.int64)


def expected_tables(histogram: NDArray[np.integer], a: NDArray[np.floating]) -> NDArray[np.float64]:
    """The mean of ``draw_tables``: a (digamma(a + n) - digamma(a)), summed over the entries n of each row."""
    rows, guests, chances = _guests(histogram, a)
    return _row_sums(rows, guests * chances, len(histogram))


def _guests(
    histogram: NDArray[np.integer], a: NDArray[np.floating]
) -> tuple[NDArray[np.intp], NDArray[np.int64], NDArray[np.float64]]:
    """Where a row has guests j at all: the row, how many there are and their chance of a new table."""
    more = more_than(histogram)
    rows, j = np.nonzero(more)
    concentration = np.asarray(a, np.float64)[rows]
    return rows, more[rows, j], concentration / (concentration + j)


def _row_sums(rows: NDArray[np.intp], values: NDArray[np.number], n_rows: int) -> NDArray[np.float64]:
    sums: NDArray[np.float64] = np.bincount(rows, weights=values, minlength=n_rows)  # type: ignore[assignment]
    return sums
