"""The index of a model that was updated: old documents stay as they were seen, and new ones come behind them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from diln.analysis.index.build import UNKNOWN, Arrays, described
from diln.analysis.index.grow import grown_arrays
from diln.corpus import Corpus
from diln.corpus.strings import Strings
from diln.engine.base import Engine
from diln.models.fitted import Fitted

if TYPE_CHECKING:
    from diln.corpus.watch import Watch


def followed_arrays(
    fitted: Fitted, corpus: Corpus, known: Mapping[str, NDArray[Any]], engine: Engine, watch: "Watch | None"
) -> Arrays:
    """All arrays of the index of a corpus whose first documents an earlier state of the model has seen."""
    wide = widened(known, fitted.posterior.n_topics, len(fitted.vocabulary))
    n_docs = len(known["tokens"])
    if len(corpus) == n_docs:
        return wide
    return grown_arrays(fitted, corpus, wide, engine, watch, both_described(known, described(corpus[n_docs:])))


def widened(known: Mapping[str, NDArray[Any]], n_topics: int, n_terms: int) -> Arrays:
    """Arrays of an index for more topics, that no document has, and more terms, that weigh nothing."""
    arrays = {name: np.asarray(known[name]) for name in known}
    topics, terms = n_topics - len(arrays["totals"]), n_terms - len(arrays["word_weights"])
    for name in ("rest", "totals"):
        arrays[name] = np.pad(arrays[name], (0, topics))
    arrays["coherence"] = np.pad(arrays["coherence"], (0, topics), constant_values=UNKNOWN)
    arrays["topic_offsets"] = np.pad(arrays["topic_offsets"], (0, topics), mode="edge")
    arrays["word_weights"] = np.pad(arrays["word_weights"], (0, terms))
    arrays["word_axes"] = np.pad(arrays["word_axes"], ((0, terms), (0, 0)))
    return arrays


def both_described(known: Mapping[str, NDArray[Any]], fresh: Arrays) -> Arrays:
    """Dates and labels of documents, and of others after them."""
    names = list(Strings(known["label_bytes"], known["label_offsets"]))
    places = {name: place for place, name in enumerate(names)}
    codes = [places.setdefault(name, len(places)) for name in Strings(fresh["label_bytes"], fresh["label_offsets"])]
    renamed = np.array([*codes, -1], np.int32)[fresh["label_codes"]]  # the last is the one of -1
    labels = Strings.pack(places)
    return {
        "times": np.concatenate([known["times"], fresh["times"]]),
        "label_codes": np.concatenate([known["label_codes"], renamed]),
        "label_bytes": labels.data,
        "label_offsets": labels.offsets,
    }
