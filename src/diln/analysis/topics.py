"""The topics of a model in words."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from diln.analysis.inputs import Model, fitted_of, in_use
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
    """

    id: int
    weight: float
    words: tuple[str, ...]
    probabilities: tuple[float, ...]
    found: int | None = None
    n_chains: int | None = None


def largest_topics(
    model: Model, n_topics: int | None = None, n_words: int = 10, *, unused: bool = False
) -> list[Topic]:
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

    Returns
    -------
    list of Topic
        Topics of the same size are in the order of their numbers.
    """
    for name, value in (("n_topics", n_topics), ("n_words", n_words)):
        if value is not None or name == "n_words":
            check_whole(name, value, 1)
    fitted = fitted_of(model)
    weights, topics = fitted.topic_weights, fitted.topic_word
    wanted = np.ones(len(weights), bool) if unused else in_use(fitted)
    order = [int(k) for k in np.argsort(-weights, kind="stable") if wanted[k]]
    named = [_topic(k, float(weights[k]), topics[k], fitted.vocabulary, n_words) for k in order[:n_topics]]
    if (agreement := fitted.agreement) is None:
        return named
    return [replace(one, found=int(agreement.found[one.id]), n_chains=agreement.n_chains) for one in named]


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
