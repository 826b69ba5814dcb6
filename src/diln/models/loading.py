"""From a directory to an estimator."""

from pathlib import Path

from diln.models import ctm, diln, hdp, lda  # noqa: F401  (their classes come in by being imported)
from diln.models.base import ESTIMATORS, TopicModel
from diln.models.fitted import Fitted


def load(directory: str | Path) -> TopicModel:
    """Read a model that was written by ``save`` or ``diln fit``.

    Parameters
    ----------
    directory : path
        Where it is.

    Returns
    -------
    DILN, HDP, LDA or CTM
        The estimator, which goes on exactly where it stopped.
    """
    fitted = Fitted.load(directory)
    return ESTIMATORS[fitted.kind].of(fitted)
