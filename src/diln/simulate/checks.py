"""What is given at the door: numbers, probabilities and covariances, or an error that says what to do."""

from math import prod
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diln.errors import brief

Rng = int | np.random.Generator
FloatArray = NDArray[np.float64]

# Between these, neither a reciprocal nor a product with a probability leaves what a float64 can hold.
SMALLEST, LARGEST = 1e-100, 1e100
MOST = 2**28  # numbers in memory, 2 GB of them
ROUNDING = 1e-5  # what single precision leaves of a sum that is 1, of an equality or of a 0


def whole(name: str, value: object, least: int = 1) -> int:
    """A whole number of at least ``least``."""
    if not isinstance(value, Integral) or not least <= int(value) <= MOST:
        raise ValueError(f"{name} is {brief(value)}; give a whole number of at least {least}, up to {MOST:,}")
    return int(value)


def check_room(*sizes: int) -> None:
    """Raise if there are more numbers to draw than a machine should hold."""
    if prod(sizes) > MOST:
        raise ValueError(
            f"{' times '.join(f'{size:,}' for size in sizes)} numbers were asked for; ask for up to {MOST:,}"
        )


def generator(rng: Rng) -> np.random.Generator:
    """The generator given, or that of a seed."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise ValueError(f"rng is {brief(rng)}; give a seed from 0 on, or a numpy.random.Generator") from None


def positive(name: str, value: Any) -> float:
    """A finite number above 0."""
    real = isinstance(value, Real)
    if not real or not SMALLEST <= value <= LARGEST:
        raise ValueError(f"{name} is {brief(value)}; give a number above 0, from {SMALLEST:g} to {LARGEST:g}")
    return float(value)


def numbers(name: str, values: ArrayLike, n_dims: int | None = None) -> FloatArray:
    """An array of finite numbers with ``n_dims`` dimensions, or any number of them."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} is {brief(values)}; give an array of numbers") from None
    if n_dims is not None and array.ndim != n_dims:
        raise ValueError(f"{name} has {array.ndim} dimensions, shape {array.shape}; give an array of {n_dims}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} has a value that is NaN or infinite; give finite numbers")
    return array


def weights_at_most_one(name: str, values: ArrayLike) -> FloatArray:
    """Probabilities (n,), of which some may be left out: none is negative and their sum is above 0 and at most 1."""
    array = numbers(name, values, 1)
    if not array.size or array.min() < 0 or not 0 < array.sum() <= 1 + ROUNDING:
        raise ValueError(
            f"{name} has {array.size} values from {array.min(initial=0):g} on with the sum {array.sum():g}; "
            "give probabilities from 0 on with a sum above 0 and at most 1"
        )
    return array


def distributions(name: str, values: ArrayLike) -> FloatArray:
    """Probabilities (n, size), each row of which has the sum 1, up to the rounding that is taken out."""
    array = numbers(name, values, 2)
    if not array.size or array.min() < 0 or np.abs(array.sum(axis=1) - 1).max() > ROUNDING:
        raise ValueError(f"{name}, shape {array.shape}, has a row that is no distribution; give rows with the sum 1")
    exact: FloatArray = array / array.sum(axis=1, keepdims=True)
    return exact


def covariance(name: str, values: ArrayLike, size: int | None = None) -> FloatArray:
    """A covariance matrix (size, size), of any size if None: symmetric and without a negative eigenvalue."""
    array = numbers(name, values, 2)
    size = max(1, len(array)) if size is None else size
    if array.shape != (size, size):
        raise ValueError(
            f"{name} has the shape {array.shape}; give ({size}, {size}), a row and a column for each topic"
        )
    scale = np.abs(array).max()
    if np.abs(array - array.T).max() > ROUNDING * scale:
        raise ValueError(f"{name} is not symmetric; give a covariance matrix, in which [i, j] equals [j, i]")
    least = np.linalg.eigvalsh(array)[0]
    if least < -ROUNDING * size * scale:
        raise ValueError(f"{name} has the negative eigenvalue {least:g}; give a covariance matrix, which has none")
    return array
