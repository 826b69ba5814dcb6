"""How fast inference is: against scikit-learn's, against the machine, and one model against the other.

python benchmarks/inference_speed.py COUNTS.npz [--topics 200] [--out results.json]

COUNTS.npz is a scipy sparse matrix of counts (n_docs, n_terms). All figures are of one run, the median of interleaved
rounds: CPU seconds of one thread for the word step, seconds for the rest.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import scipy
import sklearn
from numba import njit
from scipy.sparse import csr_array, load_npz
from sklearn.decomposition import LatentDirichletAllocation
from threadpoolctl import threadpool_limits

from diln import Corpus
from diln.engine.threads import Threads
from diln.inference.data import TermCounts
from diln.inference.variational.documents import Limits
from diln.inference.variational.posterior import VariationalPosterior
from diln.inference.variational.run import TURNS
from diln.inference.variational.start import clusters, smoothed
from diln.models.counts import as_rows
from diln.models.parameters import parameters_of

INNER = 10
ROUNDS = 5


def timed(call: Callable[[], Any], clock: Callable[[], float] = time.process_time) -> float:
    begun = clock()
    call()
    return clock() - begun


def posterior_of(kind: str, counts: csr_array, topics: int, threads: Threads, passes: int = 0) -> VariationalPosterior:
    """A model after some passes, as it is in the midst of a fit."""
    rng = np.random.default_rng(0)
    start = smoothed(clusters(counts, topics, rng, threads), float(counts.sum()), rng)
    parameters = parameters_of(kind, {"n_components": topics, "inference": "variational"})
    posterior = VariationalPosterior(np.ascontiguousarray(start, np.float32), 0.1, parameters.weights(rng))
    posterior.refresh(threads)
    batch = TermCounts.of(counts)
    documents = posterior.weights.start(batch.lengths, np.float32)
    for _ in range(passes):
        one_pass(posterior, batch, documents, threads)
    return posterior


def one_pass(
    posterior: VariationalPosterior, counts: TermCounts, documents: Any, threads: Threads, tol: float = 0.0
) -> None:
    """A pass of batch inference, with the bound; with ``tol`` documents that are settled are left early."""
    posterior.refresh(threads)
    posterior.topic_term(threads)
    visited = posterior.visit(counts, documents, Limits(TURNS, tol), threads)
    posterior.gather(counts, visited, 0.0, 1.0, threads)
    posterior.weights.update(visited.sums, documents, 1.0, 1.0, threads)


def peak_gflops() -> float:
    """GFLOP/s of the word step's own arithmetic, a row times a vector and back, on rows that stay in the cache."""

    @njit(fastmath=True)
    def multiply(rows: Any, x: Any, y: Any, rounds: int) -> None:
        for _ in range(rounds):
            for i in range(0, rows.shape[0], 4):
                a = b = c = d = np.float32(0)
                for k in range(x.size):
                    a += x[k] * rows[i, k]
                    b += x[k] * rows[i + 1, k]
                    c += x[k] * rows[i + 2, k]
                    d += x[k] * rows[i + 3, k]
                for k in range(x.size):
                    y[k] += a * rows[i, k] + b * rows[i + 1, k] + c * rows[i + 2, k] + d * rows[i + 3, k]

    rows, x, y = np.full((16, 256), 1e-6, np.float32), np.ones(256, np.float32), np.zeros(256, np.float32)
    multiply(rows, x, y, 1)
    rounds = 20_000
    return max(4 * rows.size * rounds / timed(lambda: multiply(rows, x, y, rounds)) / 1e9 for _ in range(ROUNDS))


def word_step(counts: csr_array, topics: int) -> dict[str, float]:
    """LDA's document step with a fixed number of turns, ours and scikit-learn's."""
    one = Threads(1)
    posterior = posterior_of("LDA", counts, topics, one, passes=3)
    batch = TermCounts.of(counts)
    table = csr_array(counts).astype(np.float64)
    theirs = LatentDirichletAllocation(
        topics, doc_topic_prior=1 / topics, topic_word_prior=0.1, max_doc_update_iter=INNER, mean_change_tol=0.0
    )
    theirs._init_latent_vars(counts.shape[1], np.float64)
    theirs.components_ = posterior.statistics.T.astype(np.float64) + 0.1
    theirs.exp_dirichlet_component_ = np.ascontiguousarray(posterior.expected.T.astype(np.float64))

    def ours() -> None:
        visited = posterior.visit(batch, posterior.weights.start(batch.lengths, np.float32), Limits(INNER, 0.0), one)
        saved = posterior.statistics.copy()
        posterior.gather(batch, visited, 0.0, 1.0, one)
        posterior.statistics[:] = saved

    def sklearns() -> None:
        theirs._e_step(table, cal_sstats=True, random_init=False)

    ours()
    with threadpool_limits(1):
        pairs = [(timed(ours), timed(sklearns)) for _ in range(ROUNDS)]
    mine, other = (median(column) for column in zip(*pairs, strict=True))
    flops = 4 * counts.nnz * topics * (INNER + 0.5)  # the gathering is one product in place of two
    return {"diln_s": mine, "sklearn_s": other, "ratio": other / mine, "gflops": flops / mine / 1e9}


def passes(counts: csr_array, topics: int) -> dict[str, float]:
    """A pass of batch inference, of each model, and of each on two threads; and once documents are settled."""
    results = {}
    with Threads(2) as two:
        one = Threads(1)
        models = {kind: posterior_of(kind, counts, topics, one, passes=4) for kind in ("LDA", "HDP", "DILN")}
        batch = TermCounts.of(counts)
        states = {kind: posterior.weights.start(batch.lengths, np.float32) for kind, posterior in models.items()}
        for kind, posterior in models.items():
            for _ in range(4):
                one_pass(posterior, batch, states[kind], one)
        seconds: dict[str, list[float]] = {}
        for _ in range(ROUNDS):
            for kind, posterior in models.items():
                for name, threads, tol in (("1", one, 0.0), ("2", two, 0.0), ("1_settled", one, 1e-3)):
                    call = lambda p=posterior, k=kind, t=threads, e=tol: one_pass(p, batch, states[k], t, e)  # noqa: E731
                    seconds.setdefault(f"{kind}_{name}", []).append(timed(call, time.perf_counter))
        results = {f"{name}_s": median(values) for name, values in seconds.items()}
    results["diln_over_hdp"] = results["DILN_1_s"] / results["HDP_1_s"]
    results["diln_over_hdp_settled"] = results["DILN_1_settled_s"] / results["HDP_1_settled_s"]
    for kind in models:
        results[f"{kind}_two_threads"] = results[f"{kind}_1_s"] / results[f"{kind}_2_s"]
    return results


def starts(counts: csr_array) -> dict[str, float]:
    """Compiling everything that a default fit needs, and how soon a second process begins its first pass."""
    code = """
import sys, time
from diln.inference import loops
begun, corpus, model = sys.argv[1:]
sweeps = loops.sweeps
loops.sweeps = lambda *given: (print("first pass at", time.time() - float(begun), file=sys.stderr), sweeps(*given))[1]
sys.argv = ["diln", "fit", corpus, "-o", model, "--topics", "50", "--passes", "1", "--quiet"]
from diln.cli.main import main
main()
"""
    with TemporaryDirectory() as folder:
        terms = [f"w{i}" for i in range(counts.shape[1])]
        Corpus.from_matrix(csr_array(counts[:3000]).astype(int), terms).save(f"{folder}/corpus")
        environment = {**os.environ, "NUMBA_CACHE_DIR": f"{folder}/cache"}

        def run() -> tuple[float, float]:
            begun = time.time()
            done = subprocess.run(
                [sys.executable, "-c", code, str(begun), f"{folder}/corpus", f"{folder}/model-{begun}"],
                env=environment, capture_output=True, text=True, check=True,
            )  # fmt: skip
            first = next(line for line in done.stderr.splitlines() if line.startswith("first pass at"))
            return float(first.split()[-1]), time.time() - begun

        cold = run()
        warm = sorted(run() for _ in range(ROUNDS))[ROUNDS // 2]
    return {
        "cold_total_s": cold[1],
        "warm_total_s": warm[1],
        "compile_s": cold[1] - warm[1],
        "first_pass_at_s": warm[0],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("counts", type=Path)
    parser.add_argument("--topics", type=int, default=200)
    parser.add_argument("--docs", type=int, default=4000, help="documents of the word step")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    counts = as_rows(load_npz(given.counts))
    peak = peak_gflops()
    words = word_step(as_rows(counts[: given.docs]), given.topics)
    results = {
        "counts": given.counts.parent.name,
        "topics": given.topics,
        "word_step": {**words, "in_cache_gflops": peak, "share_of_in_cache": words["gflops"] / peak},
        "passes": passes(counts, given.topics),
        "start": starts(counts),
        "machine": f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores",
        "versions": {"numpy": np.__version__, "scipy": scipy.__version__, "sklearn": sklearn.__version__},
    }
    print(json.dumps(results, indent=1))
    if given.out:
        given.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
