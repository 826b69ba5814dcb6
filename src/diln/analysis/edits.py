"""What the user has made of the topics: names, merges, what is hidden. The model's numbers never change.

Edits are the changes in the order in which they were made. What holds now follows from them; undoing drops the last.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from diln.analysis.records import Record, plain
from diln.errors import brief
from diln.models.checks import check_choice

LONGEST = 200  # characters of a label
MOST = 100_000  # changes
ACTIONS = ("rename", "rename theme", "merge", "hide", "show")


@dataclass(frozen=True, slots=True)
class Change(Record):
    """One change.

    Attributes
    ----------
    action : {"rename", "rename theme", "merge", "hide", "show"}
        What was done.
    topics : tuple of int
        To which topics: the one that is renamed; those of the theme that is renamed; those that are merged, the one
        whose number is kept first; those that are hidden or shown.
    label : str
        The new name; empty if the name is taken away.
    """

    action: str
    topics: tuple[int, ...]
    label: str = ""


@dataclass(frozen=True, slots=True)
class ThemeLabel(Record):
    """A name for a theme.

    Attributes
    ----------
    label : str
        The name.
    topics : tuple of int
        The topics of the theme when it was named. A theme bears the name if it shares at least half of their tokens,
        whatever the number of themes is.
    """

    label: str
    topics: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Edits(Record):
    """Names, merges and hidden topics. It does not change: ``rename``, ``merge``, ``hide``, ``show`` and ``undo`` give
    a new one.

    Attributes
    ----------
    changes : tuple of Change
        All changes, the first one first.
    labels : dict of str
        Names of topics, by their numbers.
    theme_labels : tuple of ThemeLabel
        Names of themes.
    merges : tuple of tuple of int
        Topics that are merged; each group has the number that is kept first.
    hidden : frozenset of int
        Topics that are hidden.
    """

    changes: tuple[Change, ...] = ()
    labels: dict[int, str] = field(init=False, compare=False)
    theme_labels: tuple[ThemeLabel, ...] = field(init=False, compare=False)
    merges: tuple[tuple[int, ...], ...] = field(init=False, compare=False)
    hidden: frozenset[int] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.changes, tuple | list) or not all(isinstance(one, Change) for one in self.changes):
            raise TypeError(f"changes are {brief(self.changes)}; make edits by rename, merge, hide and show")
        object.__setattr__(self, "changes", tuple(self.changes))
        if len(self.changes) > MOST:
            raise ValueError(f"there are {len(self.changes):,} changes; {MOST:,} at most are kept")
        now = _Now()
        for change in self.changes:
            now.take(change)
        for name, value in now.known().items():
            object.__setattr__(self, name, value)

    def __bool__(self) -> bool:
        """Whether there is any change."""
        return bool(self.changes)

    def rename(self, topic: int, label: str) -> Self:
        """With a name for a topic; an empty one takes the name away."""
        return self._with(Change("rename", _topics([topic]), checked_label(label)))

    def rename_theme(self, topics: Iterable[int], label: str) -> Self:
        """With a name for the theme that has these topics; an empty one takes the name away."""
        return self._with(Change("rename theme", _topics(topics), checked_label(label)))

    def merge(self, topics: Iterable[int]) -> Self:
        """With these topics as one, which has the number and the name of the first."""
        return self._with(Change("merge", _topics(topics)))

    def hide(self, topics: Iterable[int]) -> Self:
        """Without these topics."""
        return self._with(Change("hide", _topics(topics)))

    def show(self, topics: Iterable[int]) -> Self:
        """With these topics again, each for itself: hidden ones, and ones that were merged into another."""
        return self._with(Change("show", _topics(topics)))

    def undo(self) -> Self:
        """Without the last change."""
        if not self.changes:
            raise ValueError("there is no change to undo")
        return type(self)(self.changes[:-1])

    def _with(self, change: Change) -> Self:
        return type(self)((*self.changes, change))

    @property
    def topics(self) -> tuple[int, ...]:
        """Every topic that a change names."""
        return tuple(sorted({topic for change in self.changes for topic in change.topics}))

    def to_json(self) -> dict[str, Any]:
        """What holds now, and the changes that led to it, as plain JSON values."""
        return {
            "labels": plain(self.labels), "theme_labels": plain(self.theme_labels), "merges": plain(self.merges),
            "hidden": plain(self.hidden), "changes": plain(self.changes),
        }  # fmt: skip


class _Now:
    """What holds after some changes."""

    def __init__(self) -> None:
        self.labels: dict[int, str] = {}
        self.themes: dict[tuple[int, ...], str] = {}
        self.groups: dict[int, list[int]] = {}  # by the topic that is kept
        self.into: dict[int, int] = {}  # for each of their other topics, the one that is kept
        self.hidden: set[int] = set()

    def known(self) -> dict[str, Any]:
        return {
            "labels": dict(sorted(self.labels.items())),
            "theme_labels": tuple(ThemeLabel(label, topics) for topics, label in self.themes.items()),
            "merges": tuple(tuple(self.groups[keep]) for keep in sorted(self.groups)),
            "hidden": frozenset(self.hidden),
        }

    def take(self, change: Change) -> None:
        """Have a change made; raises ValueError if it makes no sense here."""
        check_choice("action", change.action, ACTIONS)
        topics = _topics(change.topics)
        if change.action == "rename":
            self._name(self.labels, self._own(topics)[0], change.label)
        elif change.action == "rename theme":
            self._name(self.themes, tuple(sorted(topics)), change.label)
        elif change.action == "merge":
            self._merge(self._own(topics))
        elif change.action == "hide":
            self.hidden |= set(self._own(topics))
        else:
            self._show(topics)

    @staticmethod
    def _name(names: dict[Any, str], key: Any, label: str) -> None:
        names.pop(key, None)
        if label:
            names[key] = label

    def _own(self, topics: tuple[int, ...]) -> tuple[int, ...]:
        """The topics, each of which must stand for itself."""
        for topic in topics:
            if topic in self.into:
                keep = self.into[topic]
                raise ValueError(f"topic {topic} is merged into topic {keep}; name that one, or show {topic} first")
        return topics

    def _merge(self, topics: tuple[int, ...]) -> None:
        if len(topics) < 2:
            raise ValueError(f"topic {topics[0]} alone cannot be merged; name at least two topics")
        group = [part for topic in topics for part in self.groups.pop(topic, [topic])]
        self.groups[topics[0]] = group
        self.into |= dict.fromkeys(group[1:], topics[0])
        self.hidden -= set(group)

    def _show(self, topics: tuple[int, ...]) -> None:
        for topic in topics:
            self.hidden.discard(topic)
            keep = self.into.pop(topic, None)
            if keep is not None:
                self.groups[keep].remove(topic)
                if len(self.groups[keep]) == 1:
                    del self.groups[keep]


def _topics(given: Any) -> tuple[int, ...]:
    """Numbers of topics, at least one and each once."""
    try:
        topics = tuple(given)
    except TypeError:
        raise TypeError(f"topics are {brief(given)}; give a list of their numbers") from None
    for topic in topics:
        if not isinstance(topic, int | np.integer) or isinstance(topic, bool) or topic < 0:
            raise ValueError(f"a topic is {brief(topic)}; give the number of one")
    if not topics:
        raise ValueError("no topic was named; name at least one")
    if len(set(topics)) < len(topics):
        twice = next(topic for at, topic in enumerate(topics) if topic in topics[:at])
        raise ValueError(f"topic {twice} was named twice; name each topic once")
    return tuple(map(int, topics))


def checked_label(label: Any) -> str:
    """A name on one line; raises if it is none."""
    if not isinstance(label, str):
        raise TypeError(f"the label is a {type(label).__name__}; give a text")
    line = " ".join(label.split())
    if len(line) > LONGEST:
        raise ValueError(f"the label has {len(line):,} characters; give at most {LONGEST}")
    if not line.isprintable():
        raise ValueError("the label has characters that cannot be shown; leave them out")
    return line
