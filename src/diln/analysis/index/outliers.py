"""Documents that no topic explains well."""

import numpy as np
from numpy.typing import NDArray

from diln.analysis.index.index import Index
from diln.errors import check_kind
from diln.models.checks import check_whole

GROUPS = 20  # of documents of about the same length, at most
FEWEST = 50  # documents of a group
DEVIATION = 1.4826  # times the median distance from the median: the deviation, were it normal


def outliers(index: Index, n: int = 20) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The documents that their topics explain least, compared with documents of about the same length.

    Of a document it is known by how much its topics make its words more probable than their frequencies in the corpus
    do. Where that is little, the document is about something that no topic is about, about many things, or about
    nothing. Long documents are harder to explain than short ones, so they are compared with each other.

    Parameters
    ----------
    index : Index
        Documents.
    n : int
        Maximum number of documents.

    Returns
    -------
    rows, scores : arrays
        The worst explained first: by how many deviations less than the median of such documents. None without a
        known token.
    """
    check_kind("index", index, Index)
    check_whole("n", n, 1)
    known = np.flatnonzero(index.tokens > 0)
    order = known[np.argsort(index.tokens[known], kind="stable")]
    scores = np.zeros(index.n_docs)
    for rows in np.array_split(order, max(1, min(GROUPS, len(order) // FEWEST))):
        values = index.explained[rows].astype(np.float64)
        if len(values):
            apart = values - np.median(values)
            scores[rows] = -apart / max(DEVIATION * float(np.median(np.abs(apart))), 1e-6)
    rows = known[np.argsort(-scores[known], kind="stable")[:n]]
    return rows, scores[rows]
