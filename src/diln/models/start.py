"""Another model as a start: its topics and their weights, if they are of the same terms."""

from typing import Any

from diln.inference.data import Array


def of_model(model: Any, vocabulary: list[str]) -> tuple[Array, Array]:
    """Topics (n_topics, n_terms) and weights (n_topics,) of a fitted model; raise unless it knows these terms."""
    topics = getattr(model, "topic_word_", getattr(model, "topic_word", None))
    weights = getattr(model, "topic_weights_", getattr(model, "topic_weights", None))
    if topics is None or weights is None:
        raise ValueError(
            f"init is a {type(model).__name__} that is not fitted; give the name of a start or a fitted model (its "
            "fitted_ where scikit-learn clones, which forgets the fitting)"
        )
    if topics.shape[1] != len(vocabulary):
        raise ValueError(
            f"init is a model of {topics.shape[1]:,} terms but the documents have {len(vocabulary):,}; fit both on the "
            "same vocabulary"
        )
    known = getattr(model, "vocabulary_", getattr(model, "vocabulary", None))
    if list(known or []) != vocabulary:
        raise ValueError("init is a model of other terms than the documents have; fit both on the same vocabulary")
    return topics, weights
