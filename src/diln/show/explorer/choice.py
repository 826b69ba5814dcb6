"""Which documents are selected: by topic, pair, theme, label and date, and by what is searched for."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from copy import copy
from dataclasses import dataclass
from threading import Lock
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from diln.analysis import Atlas
from diln.analysis.document_view import DocumentView
from diln.analysis.selection import Selection
from diln.analysis.topic_infos import LEAST, TopicWords

Rows = NDArray[np.int64]
BOTH = 0.05  # share of each topic of a pair that a document with both has
KEPT = 32  # selections

Value = TypeVar("Value")


class Kept(Generic[Value]):
    """The latest of what was found, by what was asked for; looked for once, however many ask at the same time."""

    def __init__(self, most: int = KEPT) -> None:
        self.most, self.known, self.lock = most, OrderedDict[Hashable, Value](), Lock()
        self.looking: dict[Hashable, Lock] = {}

    def has(self, key: Hashable) -> bool:
        """Whether this was found before."""
        with self.lock:
            return key in self.known

    def get(self, key: Hashable, find: Callable[[], Value]) -> Value:
        """What was found before, or what is found now."""
        with self.lock:
            if key in self.known:
                self.known.move_to_end(key)
                return self.known[key]
            turn = self.looking.setdefault(key, Lock())
        with turn:
            with self.lock:
                if key in self.known:  # somebody else has just found it
                    return self.known[key]
            try:
                value = find()
            except BaseException:
                self.looking.pop(key, None)
                raise
            with self.lock:
                self.looking.pop(key, None)
                self.known[key] = value
                while len(self.known) > self.most:
                    self.known.popitem(last=False)
        return value


@dataclass(frozen=True, slots=True)
class Choice:
    """What documents are to have; None for whatever.

    A document is one of a topic if at least a tenth of it is of the topic, one of a pair of topics with a twentieth of
    each, and one of the theme that it is nearest to.
    """

    topic: int | None = None
    other: int | None = None
    theme: int | None = None
    n_themes: Any = "auto"
    label: str | None = None
    since: str | None = None
    until: str | None = None

    @property
    def everything(self) -> bool:
        """Whether all documents are selected."""
        return all(one is None for one in (self.topic, self.theme, self.label, self.since, self.until))


@dataclass(frozen=True, slots=True)
class Chosen:
    """Documents: of a topic, a pair or a theme those with the largest share of it first, and by row otherwise."""

    rows: Rows
    shares: NDArray[np.float32] | None = None

    def mask(self, n_docs: int) -> NDArray[np.bool_]:
        """For each document of the corpus, whether it is one of these."""
        found = np.zeros(n_docs, bool)
        found[self.rows] = True
        return found


class Chooser:
    """Selects documents of an atlas."""

    def __init__(self, atlas: Atlas) -> None:
        self.atlas = atlas
        self.view = DocumentView(TopicWords(atlas.folding), atlas.index, atlas.corpus)
        self.selection = Selection(self.view)
        self.kept: Kept[Chosen] = Kept()
        self.kept_usual: Kept[NDArray[np.float64]] = Kept()

    def edited(self, atlas: Atlas) -> "Chooser":
        """The same for topics as they are edited now; names change no selection."""
        other = copy(self)
        other.atlas = atlas
        other.view = self.view.edited(self.view.words.edited(atlas.folding))
        other.selection = self.selection.edited(other.view)
        if not atlas.is_arranged_as(self.atlas):
            other.kept, other.kept_usual = Kept(), Kept()
        return other

    @property
    def n_docs(self) -> int:
        """Documents of the corpus; raises ValueError where they are not known."""
        return self.view.index.n_docs

    def chosen(self, choice: Choice) -> Chosen:
        """The documents that are selected."""
        return self.kept.get(choice, lambda: self._chosen(choice))

    def _chosen(self, choice: Choice) -> Chosen:
        rows, shares = self._ranked(choice)
        kept = self.selection.kept(choice.label, choice.since or None, choice.until or None, None)
        if choice.theme is not None:
            own = self._of_theme(choice)
            kept = own if kept is None else kept & own
        if kept is not None:
            wanted = kept[rows]
            rows, shares = rows[wanted], None if shares is None else shares[wanted]
        return Chosen(rows, shares)

    def _ranked(self, choice: Choice) -> tuple[Rows, NDArray[np.float32] | None]:
        if choice.topic is None:
            return (np.arange(self.n_docs), None) if choice.theme is None else self._by_theme(choice)
        pair = None if choice.other is None else (choice.topic, choice.other)
        topic = choice.topic if pair is None else None
        rows, shares = self.selection.ranked(topic, None, pair, None, self.atlas.themes())
        if shares is None:
            return rows, None
        enough = shares >= (LEAST if pair is None else BOTH)
        return rows[enough], shares[enough].astype(np.float32)

    def _by_theme(self, choice: Choice) -> tuple[Rows, NDArray[np.float32]]:
        """All documents, those with the largest share of the theme first."""
        rows, shares = self.selection.ranked(None, choice.theme, None, None, self.atlas.themes(choice.n_themes))
        others = np.setdiff1d(np.arange(self.n_docs), rows, assume_unique=True)
        known = np.zeros(self.n_docs, np.float32)
        known[: len(rows)] = shares
        return np.concatenate([rows, others]), known

    def _of_theme(self, choice: Choice) -> NDArray[np.bool_]:
        themes = self.atlas.themes(choice.n_themes)
        self.selection.parts_of_theme(choice.theme, themes)  # raises if there is no such theme
        known = themes.document_theme
        if known is None:
            raise ValueError("the documents' themes are not known; give the corpus with --corpus")
        return np.asarray(known == choice.theme)

    def shares(self, choice: Choice) -> dict[str, Any]:
        """How much of the selected documents is of each topic, and how many times as much as of all."""
        chosen, folding, index = self.chosen(choice), self.atlas.folding, self.view.index
        everywhere = self.kept_usual.get("tokens", lambda: self._tokens(np.ones(self.n_docs, bool)))
        inside = everywhere if choice.everything else self._tokens(chosen.mask(self.n_docs))
        some, every = (max(float(index.tokens[rows].sum()), 1.0) for rows in (chosen.rows, slice(None)))
        topics = []
        for topic, here, usual in zip(folding.shown.tolist(), inside.tolist(), everywhere.tolist(), strict=True):
            lift = (here / some) / (usual / every) if usual > 0 else 1.0
            topics.append({"id": topic, "share": here / some, "lift": lift})
        return {"n_docs": len(chosen.rows), "topics": topics}

    def _tokens(self, mask: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Tokens of each shown topic in some documents."""
        index, folding = self.view.index, self.atlas.folding
        tokens = index.tokens.astype(np.float32) * mask
        found = []
        for topic in folding.shown.tolist():
            parts = (index.rows_of_topic(part) for part in folding.parts(topic))
            found.append(sum(float(tokens[rows] @ shares) for rows, shares in parts))
        return np.array(found)
