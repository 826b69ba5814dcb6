"""diln: find the themes in many documents, how many there are and which go together."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diln import corpus, datasets
    from diln.corpus import Corpus
    from diln.errors import DilnError, DilnWarning

__version__ = "0.1.0"
__all__ = ["Corpus", "DilnError", "DilnWarning", "__version__", "corpus", "datasets"]

_HOMES = {"Corpus": "diln.corpus", "DilnError": "diln.errors", "DilnWarning": "diln.errors"}
_MODULES = {"corpus", "datasets"}


def __getattr__(name: str) -> Any:
    """Import what is asked for only when it is asked for, so that ``import diln`` stays quick."""
    if name in _MODULES:
        return import_module(f"diln.{name}")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'diln' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
