"""All that can be said of how good topics are, without a person who reads them."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from diln.analysis.coherence import Together, count_together, npmi, umass
from diln.analysis.distinct import diversity, effective_topics, exclusivity
from diln.analysis.inputs import Model, fitted_of, used_topics
from diln.analysis.topics import Topic, largest_topics
from diln.models.fitted import Fitted

if TYPE_CHECKING:
    from diln.corpus import Corpus
    from diln.corpus.watch import Watch
    from diln.engine.base import Engine


@dataclass(frozen=True, slots=True)
class TopicQuality:
    """A topic and how good it is.

    Attributes
    ----------
    id : int
        Its number: the column of ``transform``, and the same everywhere else.
    weight : float
        The share of the tokens that it holds.
    words : tuple of str
        Its most probable words, in descending order.
    npmi, umass : float
        Coherence of these words by ``npmi`` and ``umass``; 0 if the corpus has no pair of them.
    n_pairs : int
        Number of pairs of its words in the corpus. If it is 0, the coherence means nothing.
    exclusivity : float
        How much its words belong to this topic only, by ``exclusivity``.
    """

    id: int
    weight: float
    words: tuple[str, ...]
    npmi: float
    umass: float
    n_pairs: int
    exclusivity: float


@dataclass(frozen=True, slots=True)
class Quality:
    """A model's topics and how good they are. Means are over topics in use, with equal weight.

    Attributes
    ----------
    topics : tuple of TopicQuality
        Those in use, the largest first.
    npmi, umass : float
        Means over the topics that have a pair of words in the corpus; 0 if there is none.
    exclusivity : float
        Mean over the topics.
    diversity : float
        Share of distinct words among the words of all topics.
    effective_topics : float
        Number of topics of equal size that would be as diverse.
    coverage : float
        Share of the topics' distinct words that are in the corpus.
    n_scored : int
        Number of topics that have a pair of words in the corpus.
    n_docs : int
        Documents of the corpus.
    n_words : int
        Words of each topic.
    """

    topics: tuple[TopicQuality, ...]
    npmi: float
    umass: float
    exclusivity: float
    diversity: float
    effective_topics: float
    coverage: float
    n_scored: int
    n_docs: int
    n_words: int

    def to_json(self) -> dict[str, Any]:
        """As plain numbers."""
        return {**asdict(self), "n_topics": len(self.topics)}


def quality(
    model: Model, corpus: "Corpus", n_words: int = 10, watch: "Watch | None" = None, engine: "Engine | None" = None
) -> Quality:
    """Measure the topics in use of a model by their most probable words.

    Parameters
    ----------
    model : DILN, HDP, LDA or CTM
        A fitted estimator, or a model read by ``diln.load``.
    corpus : Corpus
        Documents in which to count words: those that the model was fitted to or, better, others. Terms are matched
        by name.
    n_words : int
        Number of words for each topic.
    watch : Watch, optional
        Is notified of progress.
    engine : Dask, optional
        Where to count words. Default: where the model's fits run.

    Returns
    -------
    Quality
        Means over all topics in use, and numbers for each topic.
    """
    return qualities([model], corpus, n_words, watch, engine)[0]


def qualities(
    models: Sequence[Model],
    corpus: "Corpus",
    n_words: int = 10,
    watch: "Watch | None" = None,
    engine: "Engine | None" = None,
) -> list[Quality]:
    """Measure several models, going through the corpus once.

    Parameters
    ----------
    models : list of DILN, HDP, LDA or CTM
        Fitted estimators, or models read by ``diln.load``.
    corpus : Corpus
        See ``quality``.
    n_words : int
        See ``quality``.
    watch : Watch, optional
        See ``quality``.
    engine : Dask, optional
        See ``quality``; default: that of the first model that has one.

    Returns
    -------
    list of Quality
        In the order of the models.
    """
    every = [fitted_of(model) for model in models]
    for fitted in every:
        used_topics(fitted)  # raises if there is none, before the long work
    topics = [largest_topics(fitted, n_words=n_words) for fitted in every]
    if engine is None:
        engine = next((one for model in models if (one := getattr(model, "engine", None)) is not None), None)
    counted = iter(count_together(corpus, [topic.words for some in topics for topic in some], watch, engine))
    return [
        _quality(fitted, some, [next(counted) for _ in some], n_words)
        for fitted, some in zip(every, topics, strict=True)
    ]


def _quality(fitted: Fitted, topics: list[Topic], counted: list[Together], n_words: int) -> Quality:
    own = exclusivity(fitted, n_words)
    measured = tuple(
        TopicQuality(topic.id, topic.weight, topic.words, npmi(found), umass(found), found.n_pairs, own[topic.id])
        for topic, found in zip(topics, counted, strict=True)
    )
    scored = [topic for topic in measured if topic.n_pairs]
    words = {word for topic in topics for word in topic.words}
    return Quality(
        topics=measured,
        npmi=_mean([topic.npmi for topic in scored]),
        umass=_mean([topic.umass for topic in scored]),
        exclusivity=_mean(list(own.values())),
        diversity=diversity(fitted, n_words),
        effective_topics=effective_topics(fitted),
        coverage=len({word for found in counted for word in found.words}) / len(words),
        n_scored=len(scored),
        n_docs=counted[0].n_docs,
        n_words=n_words,
    )


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else 0.0
