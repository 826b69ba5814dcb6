"""The topics of a model in words."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from diln.analysis.edit_files import folded
from diln.analysis.edits import Edits
from diln.analysis.folding import Folding
from diln.analysis.html import Bar, Row, table
from diln.analysis.inputs import Model, fitted_of, hint_at_names
from diln.models.checks import check_whole


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic in words.

    Attributes
    ----------
    id : int
        Its number: the column of ``transform``, and the same everywhere else.
    weight : float
        The share of the tokens that it holds.
    words : tuple of str
        Its most probable words, in descending order.
    probabilities : tuple of float
        Probabilities of these words.
    found, n_chains : int or None
        Number of chains that found it (including the model itself), and number of chains; None for one chain.
    label : str or None
        The name that the user gave it, where edits are known.
    merged : tuple of int
        Numbers of the topics that were merged into it.
    """

    id: int
    weight: float
    words: tuple[str, ...]
    probabilities: tuple[float, ...]
    found: int | None = None
    n_chains: int | None = None
    label: str | None = None
    merged: tuple[int, ...] = ()


class TopicList(list[Topic]):
    """Topics, which a notebook shows as a table."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        longest = max((topic.weight for topic in self), default=1.0)
        rows: list[Row] = [
            {"topic": one.id, "share": Bar(one.weight, longest), "words": ", ".join(one.words)} for one in self
        ]
        return table(rows)


def largest_topics(
    model: Model,
    n_topics: int | None = None,
    n_words: int = 10,
    *,
    unused: bool = False,
    edits: Edits | None = None,
) -> TopicList:
    """The topics of a model, the largest first.

    Parameters
    ----------
    model : DILN, HDP, LDA or CTM
        A fitted estimator, or a model read by ``diln.load``.
    n_topics : int, optional
        Maximum number of topics. Default: all.
    n_words : int
        Number of words for each topic.
    unused : bool
        Whether to include topics that are not in use (less than one in 500 tokens).
    edits : Edits, optional
        Names, merges and hidden topics.

    Returns
    -------
    list of Topic
        Topics of the same size are in the order of their numbers.
    """
    for name, value in (("n_topics", n_topics), ("n_words", n_words)):
        if value is not None or name == "n_words":
            check_whole(name, value, 1)
    fitted = fitted_of(model)
    hint_at_names(fitted)
    return edited_topics(folded(fitted, edits), n_topics, n_words, unused=unused)


def edited_topics(
    folding: Folding, n_topics: int | None, n_words: int, *, unused: bool = False, hidden: bool = False
) -> TopicList:
    """The topics as they are named and merged, the largest first; without hidden ones, unless they are asked for."""
    fitted, edits, weights = folding.fitted, folding.edits, folding.shares
    wanted = np.ones(len(weights), bool) if unused else folding.used
    wanted = wanted & (folding.target == np.arange(len(weights)))
    if not hidden:
        wanted[sorted(edits.hidden)] = False
    order = [int(k) for k in np.argsort(-weights, kind="stable") if wanted[k]]
    named = TopicList(
        replace(
            _topic(k, float(weights[k]), folding.topic_word[k], fitted.vocabulary, n_words),
            label=edits.labels.get(k), merged=folding.parts(k)[1:],
        )
        for k in order[:n_topics]
    )  # fmt: skip
    if (agreement := fitted.agreement) is None:
        return named
    found = {k: int(agreement.found[list(folding.parts(k))].min()) for k in order[:n_topics]}
    return TopicList(replace(one, found=found[one.id], n_chains=agreement.n_chains) for one in named)


def _topic(
    number: int, weight: float, word_probabilities: NDArray[np.float64], terms: list[str], n_words: int
) -> Topic:
    top = np.argsort(-word_probabilities, kind="stable")[:n_words].tolist()
    return Topic(
        id=number,
        weight=weight,
        words=tuple(terms[term] for term in top),
        probabilities=tuple(float(word_probabilities[term]) for term in top),
    )
