"""Records of arrays and numbers: one table of their fields serves to save, restore, copy, add up and choose topics."""

from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, NamedTuple, Self, get_type_hints

import numpy as np
from numpy.typing import NDArray

from diln.engine.compile import LANES
from diln.inference.data import Array


class ByTopic(NamedTuple):
    """Which axes of an array are topics, and whether these are as wide as whole lanes, 0 beyond the topics."""

    axes: tuple[int, ...]
    lanes: bool = True


TopicRows = Annotated[Array, ByTopic((0,))]
TopicColumns = Annotated[Array, ByTopic((-1,))]
TopicVector = Annotated[Array, ByTopic((0,), lanes=False)]
TopicPairs = Annotated[Array, ByTopic((0, 1), lanes=False)]


def padded(n_topics: int) -> int:
    """The next whole number of lanes."""
    return -(-n_topics // LANES) * LANES


def layout(kind: Any) -> dict[str, ByTopic]:
    """The arrays of a record by name, with their axes of topics."""
    hints = get_type_hints(kind, include_extras=True)
    return {name: hint.__metadata__[0] for name, hint in hints.items() if hasattr(hint, "__metadata__")}


@dataclass(slots=True)
class Stats:
    """A record whose fields are arrays by topic, as their types say, and numbers."""

    def tensors(self) -> dict[str, Array]:
        """The arrays by name."""
        return {name: getattr(self, name) for name in layout(type(self))}

    def numbers(self) -> dict[str, Any]:
        """The numbers by name."""
        arrays = layout(type(self))
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name not in arrays}

    @classmethod
    def restored(cls, tensors: dict[str, Array], numbers: dict[str, Any], end: str = "") -> Self:
        """Take back what ``tensors`` and ``numbers`` gave, the former with this end to their names."""
        arrays = {name: tensors[name + end] for name in layout(cls)}
        known = {one.name for one in fields(cls)}
        return cls(**arrays, **{name: value for name, value in numbers.items() if name in known})

    def copy(self) -> Self:
        """The same in memory of its own."""
        arrays: dict[str, Any] = {name: array.copy() for name, array in self.tensors().items()}
        return replace(self, **arrays)

    def chosen(self, topics: NDArray[np.intp]) -> Self:
        """The same of these topics, in this order."""
        arrays: dict[str, Any] = {
            name: taken(getattr(self, name), topics, *how) for name, how in layout(type(self)).items()
        }
        return replace(self, **arrays)

    def widened(self, n_topics: int, by: int) -> Self:
        """The same of more topics than these: new ones, of which nothing is known, come after them."""
        arrays: dict[str, Any] = {
            name: wide(getattr(self, name), n_topics, by, *how) for name, how in layout(type(self)).items()
        }
        return replace(self, **arrays)

    def move(self, other: "Stats", keep: float, share: float) -> None:
        """Every array <- keep * array + share * the other's."""
        for name, array in self.tensors().items():
            array *= keep
            array += share * getattr(other, name)

    def scale(self, by: float) -> None:
        """Multiply every array."""
        for array in self.tensors().values():
            array *= array.dtype.type(by)


def taken(array: Array, topics: NDArray[np.intp], axes: tuple[int, ...], lanes: bool) -> Array:
    """An array of these topics, in this order."""
    for axis in axes:
        array = np.take(array, topics, axis)
        edges = [(0, 0)] * array.ndim
        edges[axis] = (0, padded(len(topics)) - len(topics) if lanes else 0)
        array = np.pad(array, edges)
    return np.ascontiguousarray(array)


def wide(array: Array, n_topics: int, by: int, axes: tuple[int, ...], lanes: bool) -> Array:
    """An array of so many topics with others after them, which are 0."""
    for axis in axes:
        edges = [(0, 0)] * array.ndim
        edges[axis] = (0, (padded(n_topics + by) - padded(n_topics)) if lanes else by)
        array = np.pad(array, edges)
    return np.ascontiguousarray(array)
