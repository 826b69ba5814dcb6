"""diln: find the themes in many documents, and which go together."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diln import analysis, corpus, datasets, simulate
    from diln.corpus import Corpus
    from diln.engine.dask.engine import Dask
    from diln.errors import DilnError, DilnWarning
    from diln.models.ctm import CTM
    from diln.models.diln import DILN
    from diln.models.hdp import HDP
    from diln.models.lda import LDA
    from diln.models.loading import load
    from diln.models.options import Sampling, Variational

__version__ = "0.1.0"
__all__ = [
    "CTM", "DILN", "HDP", "LDA", "Corpus", "Dask", "DilnError", "DilnWarning", "Sampling", "Variational", "__version__",
    "analysis", "corpus", "datasets", "load", "simulate",
]  # fmt: skip

_HOMES = {
    "CTM": "diln.models.ctm",
    "Corpus": "diln.corpus",
    "DILN": "diln.models.diln",
    "Dask": "diln.engine.dask.engine",
    "DilnError": "diln.errors",
    "DilnWarning": "diln.errors",
    "HDP": "diln.models.hdp",
    "LDA": "diln.models.lda",
    "Sampling": "diln.models.options",
    "Variational": "diln.models.options",
    "load": "diln.models.loading",
}
_MODULES = {"analysis", "corpus", "datasets", "simulate"}


def __getattr__(name: str) -> Any:
    """Import what is asked for only when it is asked for, so that ``import diln`` stays quick."""
    if name in _MODULES:
        return import_module(f"diln.{name}")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'diln' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
