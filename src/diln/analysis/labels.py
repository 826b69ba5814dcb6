"""Labels of documents: one each, or several that a separator tells apart."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from diln.errors import brief

AUTO = "auto"
SEPARATORS = ("; ", ";", "|", ", ")  # that "auto" looks for
OFTEN = 0.05  # share of the documents whose label must have one
FEWER = 0.5  # of the labels there must be this many parts at most


class Labels(NamedTuple):
    """Labels, those with most documents first, and which documents have them."""

    names: list[str]
    within: csr_array  # (n_labels, n_docs)

    def having(self, label: Any) -> NDArray[np.bool_] | None:
        """Which documents have a label (n_docs,); None if there is no such label."""
        if not isinstance(label, str) or label not in self.names:
            return None
        return np.asarray(self.within[[self.names.index(label)]].sum(axis=0) > 0)


def checked_separator(separator: Any) -> str | None:
    """What separates labels: a text, "auto" or None; raises if it is none of these."""
    if separator is not None and (not isinstance(separator, str) or not separator):
        raise ValueError(f'separator is {brief(separator)}; give a text such as ";", "auto", or None for no separator')
    return separator


def labels_of(names: Sequence[str], codes: NDArray[Any], separator: str | None = None) -> Labels:
    """Labels of documents, given by the place of each in ``names``, or -1.

    With a separator a document has all labels that its text names. "auto" finds out: labels are separated by "; ", ";",
    "|" or ", ", the first of these that at least one in 20 documents has in its label, and that leaves at most half as
    many labels.
    """
    if separator == AUTO:
        separator = _automatic(names, codes)
    parts = _parts(names, separator)
    places: dict[str, int] = {}
    of = [sorted({places.setdefault(part, len(places)) for part in each if part}) for each in parts]
    known = np.flatnonzero(codes >= 0)
    sizes = np.array([len(each) for each in of], np.int64)
    flat = np.array([place for each in of for place in each], np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    own = codes[known].astype(np.int64)
    documents = np.repeat(known, sizes[own])
    shifts = np.arange(len(documents)) - np.repeat(np.cumsum(sizes[own]) - sizes[own], sizes[own])
    rows = flat[starts[np.repeat(own, sizes[own])] + shifts] if len(documents) else np.zeros(0, np.int64)
    counts = np.bincount(rows, minlength=len(places))
    order = np.argsort(-counts, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    matrix = csr_array((np.ones(len(rows)), (rank[rows], documents)), shape=(len(places), len(codes)))
    listed = list(places)
    return Labels([listed[at] for at in order.tolist()], matrix)


def _parts(names: Sequence[str], separator: str | None) -> list[list[str]]:
    """The labels that each text names."""
    return [[name] if separator is None else [one.strip() for one in name.split(separator)] for name in names]


def _automatic(names: Sequence[str], codes: NDArray[Any]) -> str | None:
    """What separates labels, if anything does."""
    sizes = np.bincount(codes[codes >= 0], minlength=len(names))
    for separator in SEPARATORS:
        having = sum(int(size) for name, size in zip(names, sizes, strict=True) if separator in name)
        parts = {part for each in _parts(names, separator) for part in each}
        if having >= OFTEN * max(sizes.sum(), 1) and len(parts) <= FEWER * len(names):
            return separator
    return None
