"""Themes of a model: a hierarchy of its topics, cut where asked or where the rule says, with names and documents."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from diln.analysis.inputs import Model, fitted_of, in_use
from diln.analysis.themes.document_themes import DocumentGroups, ThemeShares, document_groups
from diln.analysis.themes.hierarchy import FINE, grow
from diln.analysis.themes.names import names
from diln.analysis.themes.number import automatic
from diln.analysis.themes.records import Theme, Themes, Tree
from diln.analysis.themes.shown import Floats, Whole, shown_topics
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
        self._shown = shown_topics(self._fitted, topics, merges)
        with threadpool_limits(1):  # more threads lose time on matrices of this size
            found = None if documents is None else of_documents(documents, self._shown)
            items = of_topics(self._fitted, self._shown) if found is None else found[1]
            self._space = None if found is None else found[0]
            self._hierarchy = grow(items)
        ids, linkage = self._shown.ids, self._hierarchy.linkage()
        self.tree = Tree(_ids(ids), linkage, _ids(ids[leaf_order(linkage, items.topic_points)]))
        self._fine: DocumentGroups | None = None

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
        group = _by_size([node.topics for node in self._hierarchy.groups(number)], shown.shares)
        of_docs = shares = None
        if self._documents is not None:
            of_docs, shares = self._groups_of(self._documents, group), ThemeShares(self._documents, shown, group)
        words = names(self._joint(group, of_docs), self._fitted.vocabulary, n_words)
        theme_of = None if of_docs is None else of_docs.group
        return Themes(
            n=number, auto=automatically, themes=tuple(self._themes(group, words, theme_of)),
            topic_theme=dict(zip(_ids(shown.ids), group.tolist(), strict=True)), tree=self.tree,
            document_theme=theme_of, _shares=shares,
        )  # fmt: skip

    def _groups_of(self, documents: Documents, group: Whole) -> DocumentGroups:
        """All documents in these groups of topics; fine groups are made once, and joined."""
        n, most = int(group.max()) + 1, len(self._shown.ids)
        fine = min(FINE, most) if n <= FINE else most  # once for all numbers, and once more for all large ones
        known = self._fine  # which another thread may replace meanwhile
        if known is None or len(known.mass) < fine:
            with threadpool_limits(1):
                known = document_groups(documents, self._shown, self._space, self._hierarchy, fine)
            self._fine = known
        into = np.array([group[node.topics[0]] for node in self._hierarchy.groups(len(known.mass))], np.int64)
        return known.joined(into, n)

    def _joint(self, group: Whole, of_docs: DocumentGroups | None) -> Floats:
        """Probabilities of theme and term (n, n_terms): of the themes' documents, or else of their topics.

        Topics that are in use and not shown are left out.
        """
        topic_word, shown = self._fitted.topic_word, self._shown
        if of_docs is None or self._space is None:
            mass = np.zeros((int(group.max()) + 1, len(topic_word)))
            mass[group[shown.place], shown.parts] = shown.sizes
        else:
            hidden = np.setdiff1d(np.flatnonzero(in_use(self._fitted)), shown.parts)
            mass = of_docs.mass.copy()
            mass[:, hidden] = 0
        return np.asarray(mass / mass.sum() @ topic_word)

    def _themes(self, group: Whole, words: list[tuple[str, ...]], of_docs: NDArray[np.int16] | None) -> Iterator[Theme]:
        shown, sizes = self._shown, self._fitted.topic_weights[self._shown.parts]
        shares = np.bincount(group[shown.place], weights=sizes, minlength=len(words))
        for one, name in enumerate(words):
            n_docs = None if of_docs is None else int((of_docs == one).sum())
            yield Theme(one, ", ".join(name), name, float(shares[one]), n_docs, _ids(shown.ids[group == one]))


def _ids(numbers: Whole) -> tuple[int, ...]:
    return tuple(numbers.tolist())


def _by_size(groups: list[Whole], shares: Floats) -> Whole:
    """The group of each topic (n_topics,), numbered by size; of equal size, that with the first topic first."""
    order = sorted(groups, key=lambda topics: (-shares[topics].sum(), topics.min()))
    group = np.empty(len(shares), np.int64)
    for number, topics in enumerate(order):
        group[topics] = number
    return group
