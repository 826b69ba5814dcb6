"""What a fitted model says: its topics, and which of them go together."""

from diln.analysis.correlations import Correlations, Pair, correlated_pairs
from diln.analysis.topics import Topic, in_use, largest_topics

__all__ = ["Correlations", "Pair", "Topic", "correlated_pairs", "in_use", "largest_topics"]
