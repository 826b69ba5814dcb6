"""Documents added to an index: the old ones stay as they are, and only the new ones are inferred."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from diln.analysis.index.build import Arrays, by_both, coherences, described, inferred
from diln.analysis.index.sparse import Shares
from diln.analysis.index.words import WordSpace
from diln.corpus import Corpus
from diln.engine.base import Engine
from diln.models.counts import aligned
from diln.models.fitted import Fitted

if TYPE_CHECKING:
    from diln.corpus.watch import Watch

ROWS = ("tokens", "explained", "words", "locations")  # that each document has one of


def grown_arrays(
    fitted: Fitted,
    corpus: Corpus,
    known: Mapping[str, NDArray[Any]],
    engine: Engine,
    watch: "Watch | None",
    about: Arrays | None = None,
) -> Arrays:
    """All arrays of the index of a corpus whose first documents are known; ``about`` is what it says of documents."""
    n_docs = len(known["tokens"])
    space = WordSpace(*(np.asarray(known[f"word_{name}"]) for name in WordSpace._fields))
    fresh = inferred(fitted, aligned(corpus[n_docs:], fitted.vocabulary), space, engine, watch)
    rows = {name: np.concatenate([known[name], fresh[name]]) for name in ROWS if name in fresh}
    shares = by_both([_shares(known), _shares(fresh)], fitted.posterior.n_topics)
    words = {f"word_{name}": getattr(space, name) for name in WordSpace._fields}
    about = described(corpus) if about is None else about
    return {**rows, **shares, **words, **about, "coherence": coherences(fitted, corpus, engine)}


def _shares(arrays: Mapping[str, NDArray[Any]]) -> Shares:
    names = ("topics", "shares", "rest", "totals")
    return Shares(np.diff(arrays["offsets"]), *(np.asarray(arrays[name]) for name in names))
