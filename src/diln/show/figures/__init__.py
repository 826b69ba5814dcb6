"""Figures of a fitted model for papers and slides: each function returns a matplotlib figure."""

from diln.show.figures.groups import by_label
from diln.show.figures.kinds import KINDS, Kind
from diln.show.figures.map import topic_map
from diln.show.figures.match import matched_topics
from diln.show.figures.matrix import correlation_matrices
from diln.show.figures.network import topic_network
from diln.show.figures.similar import similar_documents
from diln.show.figures.states import pairs_by_state
from diln.show.figures.training import learning_curves, training
from diln.show.figures.tree import theme_tree
from diln.show.figures.trends import trends
from diln.show.figures.usage import topic_usage
from diln.show.figures.words import topic_words

__all__ = [
    "KINDS", "Kind", "by_label", "correlation_matrices", "learning_curves", "matched_topics", "pairs_by_state",
    "similar_documents", "theme_tree", "topic_map", "topic_network", "topic_usage", "topic_words", "training", "trends",
]  # fmt: skip
