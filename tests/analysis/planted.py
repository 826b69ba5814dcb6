"""Models whose topics lie in groups, and documents that are found in one of them each."""

import numpy as np
from handmade import model

GROUPS, EACH, DIMS = 7, 4, 7


class Papers:
    """Documents with these proportions and locations."""

    def __init__(self, theta, locations=None):
        self.theta, self.locations, self.n_docs = theta, locations, len(theta)

    def proportions(self, rows):
        return self.theta[rows].astype(np.float32)


def planted(seed=0, n_docs=600, located=True):
    """A model whose topics lie in seven groups, its documents, and the groups of both."""
    rng = np.random.default_rng(seed)
    centres = np.linalg.qr(rng.standard_normal((GROUPS, DIMS)))[0] * 3
    group = np.arange(GROUPS * EACH) % GROUPS
    ell = centres[group] + 0.3 * rng.standard_normal((len(group), DIMS))
    of_docs = rng.integers(0, GROUPS, n_docs)
    u = centres[of_docs] + 0.5 * rng.standard_normal((n_docs, DIMS))
    theta = rng.gamma(2.0, size=(n_docs, len(group))) * np.exp(0.35 * u @ ell.T)
    theta /= theta.sum(axis=1, keepdims=True)
    words = rng.dirichlet(np.full(60, 0.02), len(group)) + 1e-6
    fitted = model(words, theta.sum(axis=0), locations=ell if located else None, kind="DILN" if located else "LDA")
    return fitted, Papers(theta, u.astype(np.float32) if located else None), group, of_docs
