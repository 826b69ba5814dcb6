"""From a directory to an estimator."""

from pathlib import Path

from diln.engine.base import Engine, check_engine
from diln.models import ctm, diln, hdp, lda  # noqa: F401  (their classes come in by being imported)
from diln.models.base import ESTIMATORS, TopicModel
from diln.models.fitted import Fitted


def load(directory: str | Path, engine: Engine | None = None) -> TopicModel:
    """Read a model that was written by ``save`` or ``diln fit``.

    Parameters
    ----------
    directory : path
        Where it is.
    engine : Dask, optional
        Where to do what is asked of it, if not on threads.

    Returns
    -------
    DILN, HDP, LDA or CTM
        The estimator, which goes on exactly where it stopped.
    """
    check_engine(engine)
    fitted = Fitted.load(directory)
    model = ESTIMATORS[fitted.kind].of(fitted)
    model.engine = engine
    return model
