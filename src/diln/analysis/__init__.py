"""What a fitted model says: its topics, which of them go together, and how good all that is."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diln.analysis.assess import Quality, TopicQuality, qualities, quality
    from diln.analysis.atlas import Atlas
    from diln.analysis.changes import ModelDiff, PairChange, TopicChange, diff
    from diln.analysis.coherence import Together, count_together, npmi, umass
    from diln.analysis.completion import Completed, Difference, compare_completions, complete
    from diln.analysis.correlation_agreement import CorrelationAgreement, compare_correlations
    from diln.analysis.correlations import Correlations, Pair, correlated_pairs
    from diln.analysis.distinct import diversity, effective_topics, exclusivity
    from diln.analysis.documents import DocumentTopics, TopicShare, document_topics, topic_documents
    from diln.analysis.edits import Change, Edits, ThemeLabel
    from diln.analysis.finding import TopicHit
    from diln.analysis.groups import GroupCell, GroupLabel, Groups
    from diln.analysis.index import Index
    from diln.analysis.inputs import in_use
    from diln.analysis.listing import DocumentInfo, Listing, Neighbour
    from diln.analysis.matching import Match, Matching, match_topics
    from diln.analysis.pair_matrix import PairMatrix
    from diln.analysis.reading import Reading, Token
    from diln.analysis.records import Records
    from diln.analysis.repeats import Repeat, Stability, stability
    from diln.analysis.summary import Summary
    from diln.analysis.themes import Theme, Themes, Tree
    from diln.analysis.topic_infos import TopicInfo
    from diln.analysis.topic_map import MapPoint, TopicMap
    from diln.analysis.topics import Topic, largest_topics
    from diln.analysis.training import TrainedOn, trained_on
    from diln.analysis.trends import LabelTrends, Series, Trends
    from diln.analysis.trends_mix import Mix
    from diln.analysis.typical import Typical
    from diln.analysis.words import Word, WordTopic

__all__ = [
    "Atlas", "Change", "Completed", "CorrelationAgreement", "Correlations", "Difference", "DocumentInfo",
    "DocumentTopics", "Edits", "GroupCell", "GroupLabel", "Groups", "Index", "LabelTrends", "Listing", "MapPoint",
    "Match", "Matching", "Mix", "ModelDiff", "Neighbour", "Pair", "PairChange", "PairMatrix", "Quality", "Reading",
    "Records", "Repeat", "Series", "Stability", "Summary", "Theme", "ThemeLabel", "Themes", "Together", "Token",
    "Topic", "TopicChange", "TopicHit", "TopicInfo", "TopicMap", "TopicQuality", "TopicShare", "TrainedOn", "Tree",
    "Trends",
    "Typical", "Word", "WordTopic", "compare_completions", "compare_correlations", "complete", "correlated_pairs",
    "count_together", "diff", "diversity", "document_topics", "effective_topics", "exclusivity", "in_use",
    "largest_topics", "match_topics", "npmi", "qualities", "quality", "stability", "topic_documents", "trained_on",
    "umass",
]  # fmt: skip

_HOMES = {
    "Quality": "diln.analysis.assess",
    "TopicQuality": "diln.analysis.assess",
    "qualities": "diln.analysis.assess",
    "quality": "diln.analysis.assess",
    "Together": "diln.analysis.coherence",
    "count_together": "diln.analysis.coherence",
    "npmi": "diln.analysis.coherence",
    "umass": "diln.analysis.coherence",
    "Completed": "diln.analysis.completion",
    "Difference": "diln.analysis.completion",
    "compare_completions": "diln.analysis.completion",
    "complete": "diln.analysis.completion",
    "CorrelationAgreement": "diln.analysis.correlation_agreement",
    "compare_correlations": "diln.analysis.correlation_agreement",
    "Correlations": "diln.analysis.correlations",
    "Pair": "diln.analysis.correlations",
    "correlated_pairs": "diln.analysis.correlations",
    "diversity": "diln.analysis.distinct",
    "effective_topics": "diln.analysis.distinct",
    "exclusivity": "diln.analysis.distinct",
    "DocumentTopics": "diln.analysis.documents",
    "TopicShare": "diln.analysis.documents",
    "document_topics": "diln.analysis.documents",
    "topic_documents": "diln.analysis.documents",
    "Change": "diln.analysis.edits",
    "Edits": "diln.analysis.edits",
    "ThemeLabel": "diln.analysis.edits",
    "in_use": "diln.analysis.inputs",
    "Match": "diln.analysis.matching",
    "Matching": "diln.analysis.matching",
    "match_topics": "diln.analysis.matching",
    "Records": "diln.analysis.records",
    "Repeat": "diln.analysis.repeats",
    "Stability": "diln.analysis.repeats",
    "stability": "diln.analysis.repeats",
    "Topic": "diln.analysis.topics",
    "largest_topics": "diln.analysis.topics",
    "TrainedOn": "diln.analysis.training",
    "trained_on": "diln.analysis.training",
    "Atlas": "diln.analysis.atlas",
    "Mix": "diln.analysis.trends_mix",
    "ModelDiff": "diln.analysis.changes",
    "PairChange": "diln.analysis.changes",
    "TopicChange": "diln.analysis.changes",
    "diff": "diln.analysis.changes",
    "DocumentInfo": "diln.analysis.listing",
    "GroupCell": "diln.analysis.groups",
    "GroupLabel": "diln.analysis.groups",
    "Groups": "diln.analysis.groups",
    "Index": "diln.analysis.index",
    "LabelTrends": "diln.analysis.trends",
    "Listing": "diln.analysis.listing",
    "MapPoint": "diln.analysis.topic_map",
    "Neighbour": "diln.analysis.listing",
    "PairMatrix": "diln.analysis.pair_matrix",
    "Reading": "diln.analysis.reading",
    "Series": "diln.analysis.trends",
    "Summary": "diln.analysis.summary",
    "Theme": "diln.analysis.themes",
    "Themes": "diln.analysis.themes",
    "Token": "diln.analysis.reading",
    "TopicHit": "diln.analysis.finding",
    "TopicInfo": "diln.analysis.topic_infos",
    "TopicMap": "diln.analysis.topic_map",
    "Tree": "diln.analysis.themes",
    "Trends": "diln.analysis.trends",
    "Typical": "diln.analysis.typical",
    "Word": "diln.analysis.words",
    "WordTopic": "diln.analysis.words",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for only when it is asked for, so that commands stay quick."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'diln.analysis' has no attribute {name!r}")
