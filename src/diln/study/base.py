"""What every study is: runs that it needs, runs that follow from these, and what they come to."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Protocol

from diln.study.folder import ResultsFolder
from diln.study.runs import Run
from diln.study.settings import Settings


class View(Protocol):
    """What a study came to."""

    def to_json(self) -> dict[str, Any]:
        """As plain values."""


class Study(ABC):
    """A question that is put to models and a corpus."""

    name: ClassVar[str]

    @abstractmethod
    def first(self, settings: Settings) -> list[Run]:
        """The runs that depend on no other."""

    def then(self, settings: Settings, folder: ResultsFolder) -> list[Run]:
        """The runs that depend on what came of the first."""
        return []

    def n_then(self, settings: Settings) -> int:
        """How many these will be."""
        return 0

    @abstractmethod
    def view(self, settings: Settings, folder: ResultsFolder) -> View:
        """What came of all of them."""
