"""What a figure is about: the topics that were asked for or the largest, and how they are called."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from diln.analysis.atlas import Atlas, By, NumberOfThemes
from diln.analysis.inputs import Model
from diln.analysis.themes import Theme
from diln.analysis.topic_infos import TopicInfo
from diln.errors import brief
from diln.models.checks import check_choice, check_whole
from diln.show.figures.sheet import in_room, label_in_room, shortened, showing, text_width
from diln.show.style import theme_mark

Found = TypeVar("Found")

MOST_TOPICS = 120  # in a figure with words


def atlas_of(given: Atlas | Model) -> Atlas:
    """The atlas that this is, or one of a fitted model without its documents."""
    return given if isinstance(given, Atlas) else Atlas(given)


def chosen_topics(
    atlas: Atlas, topics: Sequence[int] | None, top: int, most: int = MOST_TOPICS, n_words: int = 10
) -> tuple[list[TopicInfo], str]:
    """The topics that were asked for, or the largest, and a sentence if others are left out."""
    check_whole("top", top, 1)
    check_whole("n_words", n_words, 1)
    every = atlas.topics(n_words)
    if not every:
        raise ValueError("no topic of the model is shown: none is in use, or all are hidden; show one first")
    if topics is None:
        shown = list(every[: min(top, most)])
        return shown, showing(len(shown), len(every), "topics")
    shown = chosen_ids(topics, {topic.id: topic for topic in every}, "topic")
    return shown[:most], showing(min(len(shown), most), len(every), "topics", "")


def chosen_ids(ids: Sequence[int], known: Mapping[int, Found], what: str) -> list[Found]:
    """What has these ids, each once."""
    if not isinstance(ids, list | tuple | np.ndarray) or not len(ids):
        raise ValueError(f"topics is {brief(ids)}; give a list of at least one {what} id")
    for one in ids:
        whole = isinstance(one, int | np.integer) and not isinstance(one, bool)
        if not whole or int(one) not in known:
            raise ValueError(f"there is no {what} {brief(one)} among the {len(known):,} that are shown")
    return [known[one] for one in dict.fromkeys(map(int, ids))]


def evenly(number: int, most: int) -> tuple[int, int]:
    """Columns and rows of panels, with at most so many columns and rows about as full as each other."""
    columns = max(1, min(number, most))
    rows = -(-number // columns)
    return -(-number // max(rows, 1)), rows


def counted(number: int, what: str) -> str:
    """As in 1 topic, 1,200 topics."""
    return f"{number:,} {what}{'s' * (number != 1)}"


def topic_name(topic: TopicInfo, room: float, size: float) -> str:
    """A topic's number and its label, or as many of its words as fit."""
    number = f"{topic.id}  "
    space = room - text_width(number, size) - 0.06
    words = shortened(topic.label, space, size) if topic.named else in_room(topic.telling or topic.words, space, size)
    return f"{number}{words}"


@dataclass(frozen=True, slots=True)
class Choice:
    """The topics that a figure shows, and their themes."""

    atlas: Atlas
    topics: list[TopicInfo]  # the largest first, or as they were asked for; with the themes that were asked for
    themes: tuple[Theme, ...]  # that these topics are of
    order: dict[int, int]  # the place of each topic where those that are alike are next to each other
    cut: str  # what is left out, in words

    def by_theme(self) -> list[TopicInfo]:
        """The topics with those of a theme next to each other."""
        return sorted(self.topics, key=lambda topic: self.order.get(topic.id, len(self.order)))


def choose(
    given: Atlas | Model, topics: Sequence[int] | None, top: int, most: int, themes: NumberOfThemes, n_words: int = 10
) -> Choice:
    """The topics that were asked for, or the largest, in so many themes."""
    atlas = atlas_of(given)
    shown, cut = chosen_topics(atlas, topics, top, most, n_words)
    known = atlas.themes(themes)
    placed = [replace(topic, theme=known.topic_theme.get(topic.id)) for topic in shown]
    there = {topic.theme for topic in placed}
    order = {topic: place for place, topic in enumerate(known.tree.order)}
    return Choice(atlas, placed, tuple(one for one in known.themes if one.id in there), order, cut)


@dataclass(frozen=True, slots=True)
class Item:
    """A topic or a theme."""

    id: int
    theme: int | None
    topic: TopicInfo | None
    label: str

    def name(self, room: float, size: float) -> str:
        """Its number or letter, and its label, or as many of its words as fit."""
        if self.topic is not None:
            return topic_name(self.topic, room, size)
        mark = f"{theme_mark(self.id)}  "
        return f"{mark}{label_in_room(self.label, room - text_width(mark, size) - 0.06, size)}"


def chosen_items(
    atlas: Atlas, by: By, ids: Sequence[int] | None, top: int, most: int, themes: NumberOfThemes
) -> tuple[list[Item], str]:
    """Topics or themes that were asked for, or the largest, and a sentence if others are left out."""
    check_choice("by", by, ("theme", "topic"))
    check_whole("top", top, 1)
    if by == "topic":
        chosen = choose(atlas, ids, top, most, themes)
        return [Item(topic.id, topic.theme, topic, topic.label) for topic in chosen.topics], chosen.cut
    every = atlas.themes(themes).themes
    known = {one.id: Item(one.id, one.id, None, one.label) for one in every}
    if ids is None:
        shown = list(known.values())[: min(top, most)]
        return shown, showing(len(shown), len(every), "themes")
    asked = chosen_ids(ids, known, "theme")
    return asked[:most], showing(min(len(asked), most), len(every), "themes", "")
