"""From a directory to an estimator."""

from pathlib import Path

from diln.models.base import TopicModel
from diln.models.ctm import CTM
from diln.models.diln import DILN
from diln.models.fitted import Fitted
from diln.models.hdp import HDP
from diln.models.lda import LDA

CLASSES: dict[str, type[TopicModel]] = {one.kind: one for one in (DILN, HDP, LDA, CTM)}


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
    return CLASSES[fitted.kind].of(fitted)
