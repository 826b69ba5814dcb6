"""What a fitted model says: its topics, which of them go together, and how good all that is."""

from diln.analysis.assess import Quality, TopicQuality, qualities, quality
from diln.analysis.coherence import Together, count_together, npmi, umass
from diln.analysis.completion import Completed, Difference, compare_completions, complete
from diln.analysis.correlation_agreement import CorrelationAgreement, compare_correlations
from diln.analysis.correlations import Correlations, Pair, correlated_pairs
from diln.analysis.distinct import diversity, effective_topics, exclusivity
from diln.analysis.documents import DocumentTopics, TopicShare, document_topics, topic_documents
from diln.analysis.inputs import in_use
from diln.analysis.matching import Match, Matching, match_topics
from diln.analysis.repeats import Repeat, Stability, stability
from diln.analysis.topics import Topic, largest_topics
from diln.analysis.training import TrainedOn, trained_on

__all__ = [
    "Completed", "CorrelationAgreement", "Correlations", "Difference", "DocumentTopics", "Match", "Matching", "Pair",
    "Quality", "Repeat", "Stability", "Together", "Topic", "TopicQuality", "TopicShare", "TrainedOn",
    "compare_completions", "compare_correlations", "complete", "correlated_pairs", "count_together", "diversity",
    "document_topics", "effective_topics", "exclusivity", "in_use", "largest_topics", "match_topics", "npmi",
    "qualities", "quality", "stability", "topic_documents", "trained_on", "umass",
]  # fmt: skip
