"""How long a search for similar documents takes.

python benchmarks/similar_speed.py FOLDER [--documents 1000000] [--topics 400] [--entries 30] [--dims 10] [--out FILE]

An index of random documents is written to FOLDER and opened again, as a server does: what is measured is a search in
mapped files, on one core, after a first one. Every document has shares of so many topics, a few large and many small;
queries are documents of the index. On a machine that has other things to do, look at the time that the core was busy
(cpu) and at the load.
"""

import argparse
import json
import os
import platform
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diln.analysis.index import Index
from diln.analysis.index.build import by_both
from diln.analysis.index.sparse import Shares, sparse
from diln.analysis.index.words import DIMS
from diln.engine.threads import cut

PART = 1 << 14
TERMS = 10_000
QUANTILES = {"least": 0, "median": 0.5, "p95": 0.95}


def random_shares(rng: np.random.Generator, n_docs: int, n_topics: int, n_entries: int) -> Shares:
    theta = np.zeros((n_docs, n_topics))
    weights = rng.gamma(0.4, size=(n_docs, n_entries)) + 0.03
    chosen = np.argpartition(rng.random((n_docs, n_topics)), n_entries, axis=1)[:, :n_entries]
    np.put_along_axis(theta, chosen, weights, axis=1)
    return sparse(theta / theta.sum(axis=1, keepdims=True), np.full(n_docs, 100.0))


def made(n_docs: int, n_topics: int, n_entries: int, dims: int) -> Index:
    rng = np.random.default_rng(0)
    parts = [random_shares(rng, last - first, n_topics, n_entries) for first, last in cut(n_docs, PART)]
    words = rng.integers(-127, 128, (n_docs, DIMS), np.int8)
    arrays: dict[str, NDArray[Any]] = {
        "tokens": np.full(n_docs, 100, np.uint32), "locations": rng.standard_normal((n_docs, dims), np.float32),
        "explained": np.ones(n_docs, np.float32), "words": words, "word_weights": np.ones(TERMS, np.float32),
        "word_axes": np.zeros((TERMS, DIMS), np.float32), "word_mean": np.zeros(DIMS, np.float32),
        "times": np.zeros(n_docs, np.int64), "label_codes": np.full(n_docs, -1, np.int32),
        "label_bytes": np.zeros(0, np.uint8), "label_offsets": np.zeros(1, np.int64),
        "coherence": np.zeros(n_topics, np.float32), **by_both(parts, n_topics),
    }  # fmt: skip
    numbers = {
        "model": "", "documents": n_docs, "topics": n_topics, "dims": dims, "terms": TERMS, "word_dims": DIMS,
        "entries": len(arrays["topics"]), "labels": 0, "corpus": {"relative": None, "absolute": None, "digest": ""},
    }  # fmt: skip
    return Index(numbers, arrays)


def measured(index: Index, n_queries: int) -> dict[str, float]:
    rows = np.random.default_rng(1).integers(index.n_docs, size=n_queries)
    begun = time.perf_counter()
    index.similar(index.query(int(rows[0])))
    first, seconds, busy = time.perf_counter() - begun, [], []
    for row in rows:
        begun, worked = time.perf_counter(), time.thread_time()
        index.similar(index.query(int(row)))
        seconds.append(time.perf_counter() - begun)
        busy.append(time.thread_time() - worked)
    found = {"first_s": first}
    for name, times in (("", seconds), ("cpu_", busy)):
        found |= {f"{name}{word}_ms": float(np.quantile(times, at)) * 1e3 for word, at in QUANTILES.items()}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path)
    for name, default in (("documents", 1_000_000), ("topics", 400), ("entries", 30), ("dims", 10), ("queries", 50)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    if not (given.folder / "manifest.json").exists():
        made(given.documents, given.topics, given.entries, given.dims).write(given.folder)
    index = Index.open(given.folder)
    size = sum(path.stat().st_size for path in given.folder.iterdir())
    found = {
        "documents": index.n_docs, "topics": index.n_topics, "megabytes": size / 1e6, **measured(index, given.queries),
        "cores": os.cpu_count(), "load": os.getloadavg()[0], "machine": platform.machine(),
        "python": platform.python_version(), "numpy": np.__version__,
    }  # fmt: skip
    print(json.dumps(found, indent=1))
    if given.out:
        given.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
