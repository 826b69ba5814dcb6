"""A case: one spoilt input, told by its target, the seed and its number alone."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

ROUNDS = (1, 1, 1, 1, 2, 2, 3, 5)  # how many mutations a case has

Run = Callable[[], Any]


class Name(NamedTuple):
    """What tells a case from all others; ``rounds`` is its number of mutations where they were made fewer."""

    target: str
    seed: int
    number: int
    rounds: int | None = None

    @property
    def command(self) -> str:
        """How to run it alone."""
        fewer = "" if self.rounds is None else f" --rounds {self.rounds}"
        return f"python fuzz --target {self.target} --seed {self.seed} --case {self.number}{fewer}"


@dataclass
class Case:
    """What a target makes its input from.

    ``rng`` chooses the input and how it is used, ``spoiling`` how it is spoilt: with fewer rounds of mutations the rest
    stays as it is. ``folder`` is empty, and all that the case may touch.
    """

    name: Name
    folder: Path
    rng: Random = field(init=False)
    spoiling: Random = field(init=False)
    rounds: int = field(init=False)

    def __post_init__(self) -> None:
        told = f"{self.name.target} {self.name.seed} {self.name.number}"
        self.rng, self.spoiling = Random(told), Random(f"{told} spoilt")
        drawn = self.rng.choice(ROUNDS)
        self.rounds = drawn if self.name.rounds is None else min(self.name.rounds, drawn)

    def write(self, name: str, data: bytes) -> Path:
        """A file in the case's folder."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path


@dataclass(frozen=True)
class Target:
    """Something to be fed: ``prepare`` makes a case's input, and returns what is to be judged when it is run."""

    name: str
    prepare: Callable[[Case], Run]
    share: float = 1.0
    """How many of all cases are its own, relative to the others."""
    strict: bool = False
    """Whether a plain ValueError or TypeError must be raised by diln itself: what comes from files is not arguments."""
    also: tuple[type[Exception], ...] = ()
    """What else may be raised: IndexError by what is indexed."""


TARGETS: dict[str, Target] = {}


def target(
    share: float = 1.0, *, strict: bool = False, also: tuple[type[Exception], ...] = ()
) -> Callable[[Callable[[Case], Run]], Callable[[Case], Run]]:
    """Make a function that prepares cases a target, by its own name."""

    def known(prepare: Callable[[Case], Run]) -> Callable[[Case], Run]:
        name = prepare.__name__.replace("_", "-")
        TARGETS[name] = Target(name, prepare, share, strict, also)
        return prepare

    return known
