"""Whether topics differ: in their words, and in how much of the corpus they hold."""

import numpy as np
from numpy.typing import NDArray

from diln.analysis.inputs import Model, fitted_of, used_topics
from diln.models.checks import check_whole


def diversity(model: Model, n_words: int = 10) -> float:
    """Share of distinct words among the most probable words of all topics in use: from 1 / n_topics to 1.

    Parameters
    ----------
    model : DILN, HDP, LDA or CTM
        A fitted estimator, or a model read by ``diln.load``.
    n_words : int
        Number of words for each topic.
    """
    fitted = fitted_of(model)
    top = _top(fitted.topic_word[used_topics(fitted)], n_words)
    return len(np.unique(top)) / top.size


def exclusivity(model: Model, n_words: int = 10) -> dict[int, float]:
    """How much the most probable words of each topic in use belong to this topic only: from 0 to 1.

    The mean over these words of p(w | k) / sum_j p(w | j), where j runs over the topics in use: 1 if no other topic
    has the words, 1 / n_topics if all topics share them equally.

    Parameters
    ----------
    model : DILN, HDP, LDA or CTM
        A fitted estimator, or a model read by ``diln.load``.
    n_words : int
        Number of words for each topic.

    Returns
    -------
    dict of float
        By the topics' numbers.
    """
    fitted = fitted_of(model)
    used = used_topics(fitted)
    topics = fitted.topic_word[used]
    sums = np.maximum(topics.sum(axis=0), np.finfo(float).tiny)
    shares = np.take_along_axis(topics / sums, _top(topics, n_words), axis=1)
    return dict(zip(used.tolist(), shares.mean(axis=1).tolist(), strict=True))


def effective_topics(model: Model) -> float:
    """Number of topics of equal size that would be as diverse: exp of the entropy of all topics' shares."""
    weights = fitted_of(model).topic_weights
    some = weights[weights > 0]
    return float(np.exp(-(some * np.log(some)).sum()))


def _top(topics: NDArray[np.float64], n_words: int) -> NDArray[np.int64]:
    """The most probable terms of each topic (n_topics, n_words)."""
    check_whole("n_words", n_words, 1)
    return np.argsort(-topics, axis=1, kind="stable")[:, :n_words]
