"""What tests of several kernels share: the two precisions, and the token step as NumPy lines."""

import numpy as np
import pytest

REALS = [np.float32, np.float64]
each_real = pytest.mark.parametrize("real", REALS, ids=lambda real: real.__name__)


def token_twin(rows, counts, theta):
    """Expected tokens of each topic, and count / normaliser of each term, in double precision."""
    rows, theta = rows.astype(np.float64), theta.astype(np.float64)
    ratio = counts / (rows @ theta)
    return theta * (ratio @ rows), ratio
