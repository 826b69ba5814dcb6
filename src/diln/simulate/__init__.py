"""Draw from the models: topic weights, documents' topics, whole corpora with the truth, and the weights' exact moments.

Whatever is random takes ``rng``, a seed or a ``numpy.random.Generator``.
"""

from diln.simulate.corpora import (
    Poisson,
    Simulated,
    ctm_corpus,
    diln_corpus,
    draw_corpus,
    draw_topics,
    hdp_corpus,
    lda_corpus,
)
from diln.simulate.kernels import Kernel, gaussian_kernel, linear_kernel
from diln.simulate.moments import stick_moments, weight_moments, weight_moments_marginal
from diln.simulate.priors import Weights, ctm_weights, diln_weights, hdp_weights, lda_weights, stick_weights

__all__ = [
    "Kernel",
    "Poisson",
    "Simulated",
    "Weights",
    "ctm_corpus",
    "ctm_weights",
    "diln_corpus",
    "diln_weights",
    "draw_corpus",
    "draw_topics",
    "gaussian_kernel",
    "hdp_corpus",
    "hdp_weights",
    "lda_corpus",
    "lda_weights",
    "linear_kernel",
    "stick_moments",
    "stick_weights",
    "weight_moments",
    "weight_moments_marginal",
]
