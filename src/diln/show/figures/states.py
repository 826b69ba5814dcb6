"""Correlations of some pairs of topics from state to state of a chain."""

import numpy as np
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from diln.analysis.atlas import Atlas
from diln.analysis.inputs import Model
from diln.inference.sampling.posterior import SampledPosterior
from diln.models.checks import check_whole
from diln.models.fitted import Fitted
from diln.show.figures.choice import atlas_of, counted
from diln.show.figures.sheet import MARGIN, Sheet, figure, note_height, showing
from diln.show.style import ATTRACT, AVOID, GREY, WIDTH

Floats = NDArray[np.float64]

TOP, PANEL, LEFT, BELOW = 0.55, 3.2, 0.85, 0.55  # inches
MOST = 500  # pairs


@figure
def pairs_by_state(atlas: Atlas | Model, top: int = 100, *, width: float = WIDTH) -> Sheet:
    """Correlations of pairs of topics, chosen at random, in each state of the chain that was kept.

    Lines that stay on one side of 0 are correlations that the chain is certain of. Topics that take part differ
    clearly from the origin.

    Parameters
    ----------
    atlas : Atlas, or a DILN or CTM that was fitted with ``keep_states`` of at least 2
        What to show.
    top : int
        Maximum number of pairs.
    width : float
        Width in inches.

    Returns
    -------
    matplotlib.figure.Figure
    """
    check_whole("top", top, 1)
    fitted = atlas_of(atlas).fitted
    topics = np.flatnonzero(fitted.paired)
    first, second = (topics[side] for side in np.triu_indices(len(topics), k=1))
    some = np.sort(np.random.default_rng(0).permutation(len(first))[: min(top, MOST)])
    values = _correlations(fitted, first[some], second[some])
    notes = (
        showing(len(some), len(first), "pairs", "chosen at random"),
        "solid: pairs that go together on average; dashed: pairs that avoid each other",
    )
    height = TOP + PANEL + BELOW + note_height(width, *notes)
    sheet = Sheet(width, height, f"Correlations of {counted(len(some), 'pair')} of topics in each state")
    plot = sheet.axes(LEFT, TOP, width - LEFT - 2 * MARGIN, PANEL)
    states = np.arange(1, len(values) + 1)
    for line in values.T:
        together = line.mean() > 0
        plot.plot(
            states, line, color=ATTRACT if together else AVOID, linestyle="-" if together else (0, (3.5, 2.5)),
            linewidth=0.8, alpha=0.2 + 0.7 * min(1.0, 1.5 * abs(float(line.mean()))),
        )  # fmt: skip
    plot.axhline(0, color=GREY, linewidth=0.9)
    plot.set(xlim=(1, len(values)), ylim=(-1.02, 1.02), xlabel="state of the chain that was kept", ylabel="correlation")
    plot.xaxis.set_major_locator(MaxNLocator(8, integer=True, min_n_ticks=1))
    sheet.note(*notes)
    return sheet


def _correlations(fitted: Fitted, first: NDArray[np.int64], second: NDArray[np.int64]) -> Floats:
    """Correlations of pairs in each state that was kept (n_states, n_pairs)."""
    posterior = fitted.posterior
    if fitted.correlation is None:
        raise ValueError(f"the model is an {fitted.kind}, whose topics have no correlations; fit a DILN or a CTM")
    if not isinstance(posterior, SampledPosterior) or len(posterior.states) < 2:
        raise ValueError("fewer than two states of the chain were kept; fit with --keep-states 50 by sampling")
    if not len(first):
        raise ValueError("fewer than two topics differ clearly from the origin, so there are no pairs to show")
    found = []
    for state in posterior.states:
        covariance = np.asarray(posterior.weights.covariance(state), np.float64)
        deviations = np.sqrt(np.maximum(np.diag(covariance), np.finfo(float).tiny))
        found.append(np.clip(covariance[first, second] / deviations[first] / deviations[second], -1, 1))
    return np.stack(found)
