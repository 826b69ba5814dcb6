"""Models made by hand: with these topics, so large, at these places."""

from types import SimpleNamespace

import numpy as np

from diln.models.fitted import Fitted
from diln.models.parameters import parameters_of


def model(topic_word, tokens=None, vocabulary=None, locations=None, kind="DILN") -> Fitted:
    """A model of topics (n_topics, n_terms) that hold so many tokens, all alike unless told."""
    rows = np.asarray(topic_word, float)
    rows = rows / rows.sum(axis=1, keepdims=True)
    tokens = np.ones(len(rows)) if tokens is None else np.asarray(tokens, float)
    locations = np.zeros((len(rows), 0)) if locations is None else np.asarray(locations, float)
    covariance = locations @ locations.T if locations.size else None
    posterior = SimpleNamespace(
        n_topics=len(rows),
        topic_tokens=tokens,
        locations=locations,
        covariance=covariance,
        log_lift=lambda known: known,  # as if lifts of proportions were those of weights
        spread=None,
        placed=locations.any(axis=1),
        topic_word=lambda: rows.T,
    )
    terms = [f"w{j}" for j in range(rows.shape[1])] if vocabulary is None else list(vocabulary)
    return Fitted(parameters_of(kind, {}), posterior, terms, 0)


def shuffled(fitted: Fitted, seed: int = 0) -> Fitted:
    """The same model with its topics in another order."""
    order = np.random.default_rng(seed).permutation(len(fitted.topic_weights))
    posterior = fitted.posterior
    return model(
        fitted.topic_word[order], posterior.topic_tokens[order], fitted.vocabulary, posterior.locations[order],
        fitted.kind,
    )  # fmt: skip


def random_model(seed: int, n_topics: int = 6, n_terms: int = 30, n_dims: int = 3) -> Fitted:
    """A model of which no two topics are alike."""
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.full(n_terms, 0.1), n_topics) + 1e-9
    return model(rows, rng.uniform(1, 5, n_topics), locations=rng.standard_normal((n_topics, n_dims)))
