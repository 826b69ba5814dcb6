"""Every kind of figure: its name, what it shows, and what it can be told."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass

from matplotlib.figure import Figure

from diln.show.figures.groups import by_label
from diln.show.figures.map import topic_map
from diln.show.figures.match import matched_topics
from diln.show.figures.matrix import correlation_matrices
from diln.show.figures.network import topic_network
from diln.show.figures.pairs import pairs_along_training
from diln.show.figures.similar import similar_documents
from diln.show.figures.states import pairs_by_state
from diln.show.figures.training import learning_curves, training
from diln.show.figures.tree import theme_tree
from diln.show.figures.trends import trends
from diln.show.figures.usage import topic_usage
from diln.show.figures.words import topic_words


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of figure."""

    draw: Callable[..., Figure]
    shows: str
    documents: bool = False  # whether it needs the model's documents

    @property
    def options(self) -> set[str]:
        """Names of what it can be told, beside the model."""
        return set(list(inspect.signature(self.draw).parameters)[1:])


KINDS = {
    "map": Kind(topic_map, "where topics are in the model's own space"),
    "network": Kind(topic_network, "which topics attract and which avoid each other"),
    "matrix": Kind(correlation_matrices, "which of the largest topics go together, pair by pair"),
    "words": Kind(topic_words, "words of the largest topics"),
    "themes": Kind(theme_tree, "the tree that themes are cut from"),
    "usage": Kind(topic_usage, "topics' shares, and topics of a document"),
    "trends": Kind(trends, "themes or topics over time", documents=True),
    "labels": Kind(by_label, "themes or topics by label", documents=True),
    "similar": Kind(similar_documents, "a document and those most like it", documents=True),
    "training": Kind(training, "concentrations and topics in use along the fit"),
    "score": Kind(learning_curves, "score, bound and perplexity along the fit"),
    "pairs": Kind(pairs_along_training, "correlations of random pairs of topics along the fit"),
    "states": Kind(pairs_by_state, "correlations of random pairs in each state that was kept"),
    "match": Kind(matched_topics, "which topics of two models match"),
}
