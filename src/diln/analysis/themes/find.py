"""Themes of a model: a hierarchy of its topics, cut where asked or where the rule says, with names and documents."""

from collections.abc import Iterator, Sequence
from copy import copy
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from diln.analysis.inputs import Model, fitted_of, in_use
from diln.analysis.themes.cut import Cut, cut, linkage
from diln.analysis.themes.document_themes import DocumentGroups, ThemeShares, document_groups
from diln.analysis.themes.hierarchy import FINE, grow
from diln.analysis.themes.names import names
from diln.analysis.themes.number import automatic
from diln.analysis.themes.records import Theme, Themes, Tree
from diln.analysis.themes.shown import Floats, Shown, Whole, shown_topics
from diln.analysis.themes.space import Documents, of_documents, of_topics
from diln.analysis.themes.tree import leaf_order
from diln.models.checks import ParameterError, check_whole


def themes(
    model: Model,
    n: int | str = "auto",
    documents: Documents | None = None,
    *,
    topics: Sequence[int] | None = None,
    merges: Sequence[Sequence[int]] = (),
    n_words: int = 4,
) -> Themes:
    """Groups of topics that are found in the same documents.

    Parameters
    ----------
    model : DILN, HDP, LDA or CTM
        A fitted estimator, or a model read by ``diln.load``.
    n : int or "auto"
        Number of themes; "auto" chooses it. All numbers are cuts of one tree, so themes of a larger number lie inside
        themes of a smaller one.
    documents : Index, optional
        The documents that the model was fitted to. Themes are better with them, and each document gets its theme.
    topics : sequence of int, optional
        Numbers of the topics to group. Default: all in use.
    merges : sequence of sequence of int
        Topics to take for one: of each group, the number that is kept, then the others.
    n_words : int
        Number of words in the name of a theme.

    Returns
    -------
    Themes
    """
    return Grouping(model, documents, topics=topics, merges=merges).themes(n, n_words)


class Grouping:
    """The topics of a model, grouped once: themes for any number of them come from it without much work.

    Parameters
    ----------
    model, documents, topics, merges
        As ``themes`` has them.
    """

    def __init__(
        self,
        model: Model,
        documents: Documents | None = None,
        *,
        topics: Sequence[int] | None = None,
        merges: Sequence[Sequence[int]] = (),
    ) -> None:
        self._fitted, self._documents = fitted_of(model), documents
        self._shown = self._grouped = shown_topics(self._fitted, topics, merges)
        with threadpool_limits(1):  # more threads lose time on matrices of this size
            found = None if documents is None else of_documents(documents, self._shown)
            items = of_topics(self._fitted, self._shown) if found is None else found[1]
            self._space = None if found is None else found[0]
            self._hierarchy = grow(items)
        self._at = np.arange(len(self._shown.ids))
        self._points = items.topic_points
        self._fine: DocumentGroups | None = None
        self._whole = self

    def edited(self, topics: Sequence[int], merges: Sequence[Sequence[int]] = ()) -> "Grouping":
        """The same groups of other topics: without those that are hidden, and with those that are merged as one.

        A merged topic stays where the one is whose number it has. Nothing is grouped again, so no other topic and no
        document changes its group. A topic that was in no group goes where the topic is whose words are most like its.
        """
        other = copy(self._whole)
        other.__dict__.pop("tree", None)
        other._shown = shown_topics(self._fitted, topics, merges)
        other._at = self._leaves(other._shown)
        return other

    def _leaves(self, shown: Shown) -> Whole:
        """The leaf of each shown topic: its own, that of its largest part that has one, or the most alike."""
        ids, sizes = self._grouped.ids, self._fitted.topic_weights
        leaf = dict(zip(ids.tolist(), range(len(ids)), strict=True))
        at = np.empty(len(shown.ids), np.int64)
        for place, topic in enumerate(shown.ids.tolist()):
            parts = shown.parts[shown.place == place].tolist()
            known = [part for part in parts if part in leaf]
            if topic in leaf or known:
                at[place] = leaf[topic if topic in leaf else max(known, key=lambda part: float(sizes[part]))]
            else:
                words = np.sqrt(self._fitted.topic_word[max(parts, key=lambda part: float(sizes[part]))])
                at[place] = int((np.sqrt(self._fitted.topic_word[ids]) @ words).argmax())
        return at

    @property
    def beside(self) -> dict[int, int]:
        """For each topic the one that was grouped and has its place in the tree: itself, if it was."""
        return dict(zip(_ids(self._shown.ids), _ids(self._grouped.ids[self._at]), strict=True))

    @cached_property
    def _order(self) -> Whole:
        """The leaves, in the order in which they are shown."""
        return leaf_order(linkage(self._hierarchy, np.arange(len(self._points))), self._points)

    @cached_property
    def tree(self) -> Tree:
        """The hierarchy of the topics."""
        at_leaf: dict[int, list[int]] = {}
        for topic, leaf in zip(_ids(self._shown.ids), self._at.tolist(), strict=True):
            at_leaf.setdefault(leaf, []).append(topic)
        order = tuple(topic for leaf in self._whole._order.tolist() for topic in at_leaf.get(leaf, ()))
        return Tree(_ids(self._shown.ids), linkage(self._hierarchy, self._at), order)

    def themes(self, n: int | str = "auto", n_words: int = 4) -> Themes:
        """The themes, as ``themes`` returns them."""
        check_whole("n_words", n_words, 1)
        shown, automatically = self._shown, isinstance(n, str) and n == "auto"
        if not automatically:
            check_whole("n", n, 1, ', or "auto"')
            if int(n) > len(shown.ids):
                shown_now = "1 topic is" if len(shown.ids) == 1 else f"{len(shown.ids)} topics are"
                raise ParameterError("n", f"is {n}, but {shown_now} shown; give at most as many themes")
        number = automatic(self._hierarchy.gains) if automatically else int(n)
        found = cut(self._hierarchy, self._grouped.shares, self._at, shown.shares, number, exactly=not automatically)
        ids = np.unique(found.topics)
        column = np.searchsorted(ids, found.topics)
        of_docs = None if self._documents is None else self._groups_of(self._documents, found, int(ids[-1]) + 1)
        words = names(self._joint(column, ids, of_docs), self._fitted.vocabulary, n_words)
        theme_of = None if of_docs is None else of_docs.group
        listed = tuple(self._themes(found.topics, ids, words, theme_of))
        if self is not self._whole:  # whose numbers are in this order already
            listed = tuple(sorted(listed, key=lambda theme: -theme.share))
        shares = None
        if self._documents is not None:
            places = {theme.id: place for place, theme in enumerate(listed)}
            shares = ThemeShares(self._documents, shown, np.array([places[one] for one in found.topics.tolist()]))
        return Themes(
            n=len(ids), auto=automatically, themes=listed,
            topic_theme=dict(zip(_ids(shown.ids), found.topics.tolist(), strict=True)), tree=self.tree,
            document_theme=theme_of, _shares=shares,
        )  # fmt: skip

    def _groups_of(self, documents: Documents, found: Cut, n: int) -> DocumentGroups:
        """All documents in these n themes; fine groups are made once, whatever is hidden later, and joined."""
        whole, most = self._whole, len(self._grouped.ids)
        fine = (
            min(FINE, most) if found.depth <= FINE else most
        )  # once for all numbers, and once more for all large ones
        known = whole._fine  # which another thread may replace meanwhile
        if known is None or len(known.mass) < fine:
            with threadpool_limits(1):
                known = document_groups(documents, self._grouped, self._space, self._hierarchy, fine)
            whole._fine = known
        groups = self._hierarchy.groups(len(known.mass))
        return known.joined(np.array([found.leaves[node.topics[0]] for node in groups], np.int64), n)

    def _joint(self, column: Whole, ids: Whole, of_docs: DocumentGroups | None) -> Floats:
        """Probabilities of theme and term (n, n_terms): of the themes' documents, or else of their topics.

        Topics that are in use and not shown are left out.
        """
        topic_word, shown = self._fitted.topic_word, self._shown
        if of_docs is None or self._space is None:
            mass = np.zeros((len(ids), len(topic_word)))
            mass[column[shown.place], shown.parts] = shown.sizes
        else:
            hidden = np.setdiff1d(np.flatnonzero(in_use(self._fitted)), shown.parts)
            mass = of_docs.mass[ids]
            mass[:, hidden] = 0
        return np.asarray(mass / mass.sum() @ topic_word)

    def _themes(
        self, group: Whole, ids: Whole, words: list[tuple[str, ...]], of_docs: NDArray[np.int16] | None
    ) -> Iterator[Theme]:
        shown, sizes = self._shown, self._fitted.topic_weights[self._shown.parts]
        shares = np.bincount(group[shown.place], weights=sizes)
        n_docs = None if of_docs is None else np.bincount(of_docs[of_docs >= 0], minlength=len(shares))
        for one, name in zip(ids.tolist(), words, strict=True):
            documents = None if n_docs is None else int(n_docs[one])
            yield Theme(one, ", ".join(name), name, float(shares[one]), documents, _ids(shown.ids[group == one]))


def _ids(numbers: Whole) -> tuple[int, ...]:
    return tuple(numbers.tolist())
