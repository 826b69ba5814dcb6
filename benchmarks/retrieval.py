"""Whether documents that are called similar have the same label.

python benchmarks/retrieval.py FOLDER [--models elife-0 nyt-1 arxiv_200k-0] [--lists elife] [--out FILE]
python benchmarks/retrieval.py --show FILE

FOLDER has models/NAME-SEED and corpora/NAME. A model's index is made if it has none. For queries drawn from the corpus,
all other documents are ranked by each similarity. A document is relevant if it has the label of the query or, where
labels are lists (--lists, parted by ", "), one of its labels. Printed are precision@10 and NDCG@10 with standard errors
over queries:

- locations: cosine of documents' locations; proportions: cosine of their topics; roots: the Bhattacharyya coefficient,
  which is the product of the roots of proportions
- model: what ``similar`` takes from the model, roots less their mean and locations; words: what it adds; similar: both
- tfidf: cosine of scikit-learn's TF-IDF with sublinear counts, tfidf_plain with plain ones; lsi and lsi_plain: of 100
  dimensions of these (TruncatedSVD)

Queries come from two parts of a corpus that have no document in common. Those of the first part choose weights: how
much of ``similar`` is words, and how much locations. Everything that is printed is of the second part. The weights that
the package has are judged, and, for each corpus, those that are best on the first parts of all *other* corpora
(``--show``): so chosen, a corpus has no say in its own weights.
"""

import argparse
import json
import os
import platform
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy.sparse import csr_array, csr_matrix
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer

from diln.analysis.index import FOLDER, Index, index_of
from diln.analysis.index.search import Searcher
from diln.corpus import Corpus
from diln.errors import StoreError
from diln.models.fitted import Fitted

Floats = NDArray[np.float32]
Score = Callable[[NDArray[np.int64]], Floats]  # how like each query every document is

FIRST = 3000  # documents of the first part
QUERIES = 1500  # of the second part, and twice those of the first
TOP = 10
BLOCK = 125  # queries at once
DIMS = 100
# Parts of locations and words; the rest is topics.
GRID = [
    (place, words) for words in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8) for place in (0.0, 0.1, 0.2, 0.3) if place + words < 1
]


def unit(vectors: Floats) -> Floats:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12), np.float32)


def dense(vectors: Floats) -> Score:
    return lambda rows: vectors[rows] @ vectors.T


def sparse(vectors: csr_matrix) -> Score:
    return lambda rows: np.asarray((vectors[rows] @ vectors.T).todense(), np.float32)


def searched(index: Index, parts: tuple[int, ...]) -> Score:
    """The default similarity, or parts of it: 0 for topics, 1 for locations, 2 for words."""
    searcher: Searcher = index._searcher

    def score(rows: NDArray[np.int64]) -> Floats:
        before = searcher.parts
        searcher.parts = np.where(np.isin(np.arange(3), parts), before, 0).astype(np.float32)
        found = np.stack([searcher.scores(index.query(int(row))) for row in rows])
        searcher.parts = before
        return found

    return score


def by_weights(index: Index, queries: NDArray[np.int64], labels: csr_array) -> list[float]:
    """Precision with each of the weights of GRID."""
    weights = np.array([(1 - place - words, place, words) for place, words in GRID], np.float32)
    searcher, hits = index._searcher, np.zeros(len(GRID))
    before, cosines = searcher.parts, np.empty((3, len(index)), np.float32)
    for row in queries:
        relevant, query = (labels @ labels[[row]].T).toarray().ravel() > 0, index.query(int(row))
        for part in range(3):
            searcher.parts = np.eye(3, dtype=np.float32)[part]
            cosines[part] = searcher.scores(query)
        for place, scores in enumerate(weights @ cosines):
            scores[row] = -np.inf
            hits[place] += relevant[np.argpartition(scores, -TOP)[-TOP:]].mean()
    searcher.parts = before
    return list(hits / len(queries))


def methods(index: Index, corpus: Corpus) -> Iterator[tuple[str, Score]]:
    yield "similar", searched(index, (0, 1, 2))
    yield "model", searched(index, (0, 1))
    yield "words", searched(index, (2,))
    if index.locations is not None:
        yield "locations", dense(unit(np.asarray(index.locations)))
    theta = index.proportions(np.arange(len(index)))
    yield "proportions", dense(unit(theta))
    yield "roots", dense(np.sqrt(theta))
    del theta
    counts = csr_matrix(corpus.counts.astype(np.float32))
    for end, sublinear in (("", True), ("_plain", False)):
        weighted = TfidfTransformer(sublinear_tf=sublinear).fit_transform(counts).astype(np.float32)
        yield f"tfidf{end}", sparse(weighted)
        reduced = TruncatedSVD(DIMS, random_state=0).fit_transform(weighted).astype(np.float32)
        yield f"lsi{end}", dense(unit(reduced))


def label_matrix(corpus: Corpus, lists: bool) -> csr_array:
    """Which labels each document has (n_docs, n_labels)."""
    given = [label.split(", ") if lists else [label] for label in corpus.documents.labels]
    codes = {label: code for code, label in enumerate(sorted({one for each in given for one in each if one}))}
    pairs = [(row, codes[one]) for row, each in enumerate(given) for one in set(each) if one]
    rows, columns = np.array(pairs).T
    return csr_array((np.ones(len(pairs), np.float32), (rows, columns)), shape=(len(corpus), len(codes)))


def judged(score: Score, queries: NDArray[np.int64], labels: csr_array) -> dict[str, Any]:
    gains = 1 / np.log2(np.arange(2, TOP + 2))
    relevant, begun = [], time.perf_counter()
    for first in range(0, len(queries), BLOCK):
        rows = queries[first : first + BLOCK]
        scores = score(rows)
        scores[np.arange(len(rows)), rows] = -np.inf
        top = np.argpartition(-scores, TOP, axis=1)[:, :TOP]
        order = np.argsort(-np.take_along_axis(scores, top, axis=1), axis=1, kind="stable")
        for row, found in zip(rows, np.take_along_axis(top, order, axis=1), strict=True):
            relevant.append((labels[[row]] @ labels[found].T).toarray()[0] > 0)
    hits = np.array(relevant, float)
    values = {"precision": hits.mean(axis=1), "ndcg": hits @ gains / gains.sum()}
    errors = {f"{name}_error": float(one.std() / np.sqrt(len(one))) for name, one in values.items()}
    return {**{name: float(one.mean()) for name, one in values.items()}, **errors, "s": time.perf_counter() - begun}


def two_parts(known: NDArray[np.int64], n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Queries that weights are chosen with, and others that everything is judged by."""
    first = np.sort(np.random.default_rng(1).choice(known, min(FIRST, len(known) // 2), replace=False))
    others = np.setdiff1d(known, first)
    second = np.random.default_rng(2).choice(others, min(n, len(others)), replace=False)
    return first[:: max(1, 2 * len(first) // n)][: n // 2], np.sort(second)


def measured(folder: Path, name: str, lists: bool, n_queries: int) -> dict[str, Any]:
    model = folder / "models" / name
    corpus, fitted = Corpus.open(folder / "corpora" / name.rpartition("-")[0]), Fitted.load(model, -1)
    try:
        index = index_of(model, fitted)
    except StoreError:
        Index.build(fitted, corpus, -1).write(model / FOLDER)
        index = index_of(model, fitted)
    labels = label_matrix(corpus, lists)
    known = np.flatnonzero((index.tokens > 0) & (np.diff(labels.indptr) > 0))
    first, queries = two_parts(known, n_queries)
    found: dict[str, Any] = {"documents": len(corpus), "labels": labels.shape[1], "queries": len(queries)}
    found["weights"] = [
        {"locations": place, "words": words, "first": one, "second": other}
        for (place, words), one, other in zip(
            GRID, by_weights(index, first, labels), by_weights(index, queries, labels), strict=True
        )
    ]
    for method, score in methods(index, corpus):
        found[method] = judged(score, queries, labels)
        print(f"{name:20} {method:12} precision {found[method]['precision']:.4f} ndcg {found[method]['ndcg']:.4f} "
              f"± {found[method]['precision_error']:.4f}", flush=True)  # fmt: skip
    return found


def show(found: dict[str, Any]) -> None:
    """Print precision with the package's weights, with those that other corpora choose, and of LSI."""
    names = [name for name in found if name != "machine"]
    first = {name: np.array([row["first"] for row in found[name]["weights"]]) for name in names}
    second = {name: np.array([row["second"] for row in found[name]["weights"]]) for name in names}
    for name in names:
        others = [first[one] for one in names if one != name] or [first[name]]
        best = int(np.mean(others, axis=0).argmax())
        place, words = GRID[best]
        print(
            f"{name:20} similar {found[name]['similar']['precision']:.3f}  LSI {found[name]['lsi']['precision']:.3f}  "
            f"weights of the others (locations {place:.1f}, words {words:.1f}) {second[name][best]:.3f}  "
            f"best and worst of all weights {second[name].max():.3f} {second[name].min():.3f}"
        )
    every = np.mean(list(first.values()), axis=0)
    print(
        "mean of the first parts:",
        *(f"{place:.1f}/{words:.1f} {every[i]:.4f}" for i, (place, words) in enumerate(GRID)),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--models", nargs="+", default=["elife-0", "nyt-1", "arxiv_200k-0"])
    parser.add_argument("--lists", nargs="*", default=["elife"])
    parser.add_argument("--queries", type=int, default=QUERIES)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--show", type=Path, help="print what a file says of the weights")
    given = parser.parse_args()
    if given.show:
        show(json.loads(given.show.read_text()))
        return
    found: dict[str, Any] = json.loads(given.out.read_text()) if given.out and given.out.exists() else {}
    for name in given.models:
        lists = name.rpartition("-")[0] in given.lists
        found[name] = measured(given.folder, name, lists, given.queries)
        found["machine"] = {
            "cores": os.cpu_count(), "machine": platform.machine(), "python": platform.python_version(),
            "numpy": np.__version__, "scikit-learn": sklearn.__version__,
        }  # fmt: skip
        if given.out:
            given.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
