import subprocess
import sys

import numpy as np
import pytest
from scipy.stats.qmc import Sobol

from diln.prob.sobol import BITS, TURNED, sobol

MOST = 1 << BITS


@pytest.mark.parametrize(("n_points", "n_dims"), [(1, 1), (64, 3), (MOST, 11), (MOST, len(TURNED)), (16, 300)])
def test_points_are_those_of_scipy_to_the_last_bit(n_points, n_dims):
    expected = Sobol(n_dims, scramble=False).random(n_points)
    assert np.array_equal(sobol(n_points, n_dims), expected)


def test_points_of_usual_models_need_no_scipy_stats():
    code = f"import sys\nfrom diln.prob.sobol import sobol\nsobol({MOST}, 21)\nprint('scipy.stats' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]
