"""DILN and the HDP with their defaults beside tomotopy's LDA: perplexity of completed documents, time and memory.

python benchmarks/sampling_table.py DATA [--runs ap nyt arxiv-online ...] [--seeds 0 1 2] [--split 0] [--out FILE]

DATA holds a folder for each corpus with counts.npz (a scipy sparse matrix). A fifth of the documents, 2,000 at most,
are for testing: half the tokens of each are observed and the others predicted; ``--validation`` takes those documents
from the training part instead, for tuning. No number of topics is given to DILN and HDP. Every fit is a process of its
own on one thread that opens the training documents as a corpus on disk. ``cpu_s`` is the CPU time of fitting alone,
with compiled loops found in their cache.

tomotopy's topics are judged by the same fold-in as the HDP's, with its own prior of documents.
"""

import argparse
import json
import platform
import subprocess
import sys
import time
import warnings
from importlib.metadata import version
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy.sparse import csr_array, load_npz, save_npz

from diln import DILN, HDP, Corpus
from diln.corpus.splits import halves, test_rows
from diln.engine.threads import Threads
from diln.inference.predict import log_likelihood
from diln.inference.sampling.settle import settle

RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "ap": ("ap", {}),
    "newsarticles2016": ("newsarticles2016", {}),
    "nyt": ("nyt", {}),
    "elife": ("elife", {}),
    "wikipedia": ("wikipedia", {}),
    "arxiv-online": ("arxiv_200k", {"learning_method": "online"}),
    "arxiv": ("arxiv_200k", {}),
}
SWEEPS = {"ap": 400, "newsarticles2016": 200, "nyt": 200, "elife": 100, "wikipedia": 100, "arxiv": 24}  # tomotopy's
PEERS = {"tomotopy LDA 100": 100, "tomotopy LDA 200": 200}
ETA = 0.05
VALIDATED = 1000


def split(counts: csr_array, seed: int, validation: bool) -> tuple[csr_array, csr_array, csr_array]:
    """Training counts, and the observed and held-out halves of test or validation documents."""
    rng = np.random.default_rng(seed)
    train, test = test_rows(counts.shape[0], rng)
    if validation:
        rng = np.random.default_rng([seed, 1])
        mixed = rng.permutation(train)
        size = min(VALIDATED, len(train) // 8)
        test, train = mixed[:size], mixed[size:]
    observed, held_out = halves(csr_array(counts[test]), rng)
    return csr_array(counts[train]), observed, held_out


def written(folder: Path, data: Path, corpus: str, seed: int, validation: bool) -> Path:
    """A folder with the training documents as a corpus on disk, and the two halves of the others."""
    target = folder / f"{corpus}-{seed}"
    if not target.exists():
        train, observed, held_out = split(csr_array(load_npz(data / corpus / "counts.npz")), seed, validation)
        target.mkdir()
        Corpus.from_matrix(train, [f"t{i}" for i in range(train.shape[1])]).save(target / "train")
        save_npz(target / "observed.npz", observed)
        save_npz(target / "held_out.npz", held_out)
    return target


def read(folder: Path) -> tuple[Corpus, csr_array, csr_array]:
    observed, held_out = (csr_array(load_npz(folder / name)) for name in ("observed.npz", "held_out.npz"))
    return Corpus.open(folder / "train"), observed, held_out


def ours(model: type, given: dict[str, Any], seed: int, parts: Any) -> dict[str, Any]:
    train, observed, held_out = parts
    begun = time.process_time()
    fitted = model(random_state=seed, **given).fit(train)
    seconds = time.process_time() - begun
    return {
        "cpu_s": seconds, "perplexity": fitted.perplexity(observed, held_out), "in_use": fitted.n_topics_,
        "topics": len(fitted.topic_weights_), "sweeps": fitted.n_iter_, "steps": fitted.n_batch_iter_,
        "beta": fitted.beta_,
    }  # fmt: skip


def tomotopy_lda(size: int, sweeps: int, seed: int, parts: Any) -> dict[str, Any]:
    import tomotopy

    corpus, observed, held_out = parts
    train = corpus.counts
    model = tomotopy.LDAModel(k=size, eta=ETA, seed=seed)
    for m in range(train.shape[0]):
        row = slice(train.indptr[m], train.indptr[m + 1])
        model.add_doc(np.repeat(train.indices[row], train.data[row]).astype(str).tolist())
    begun = time.process_time()
    model.train(sweeps, workers=1)
    seconds = time.process_time() - begun
    topics = np.full((train.shape[1], size), 1e-9)
    known = np.array([int(term) for term in model.used_vocabs])
    topics[known] = np.array([model.get_topic_word_dist(k) for k in range(size)]).T
    topics = np.ascontiguousarray(topics / topics.sum(axis=0), np.float32)
    with Threads(1) as threads:
        theta, _ = settle(topics, np.asarray(model.alpha, float), np.zeros((size, 0)), observed, 50, 1e-3, threads)
        total = log_likelihood(topics, theta, held_out, threads).sum()
    return {
        "cpu_s": seconds, "perplexity": float(np.exp(-total / held_out.data.sum())), "topics": size, "sweeps": sweeps,
    }  # fmt: skip


def one(folder: Path, run: str, model: str, seed: int, jobs: int) -> dict[str, Any]:
    parts = read(folder)
    if model in PEERS:
        row = tomotopy_lda(PEERS[model], SWEEPS[run], seed, parts)
    else:
        row = ours({"DILN": DILN, "HDP": HDP}[model], {**RUNS[run][1], "n_jobs": jobs}, seed, parts)
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    peak = int(status["VmHWM"].split()[0]) / 1024  # resource.getrusage would count what the parent had before
    return {"run": run, "model": model, "seed": seed, **row, "peak_mb": peak}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--runs", nargs="+", default=["ap", "nyt", "wikipedia", "arxiv-online", "arxiv"], choices=RUNS)
    parser.add_argument("--models", nargs="+", default=["DILN", "HDP", *PEERS])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--split", type=int, default=0, help="seed of the split; --seeds are those of the fits")
    parser.add_argument("--validation", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.one:
        print(json.dumps(one(given.data, given.runs[0], given.models[0], given.seeds[0], given.jobs)))
        return
    versions = {name: version(name) for name in ("diln", "numpy", "numba", "tomotopy")}
    machine = {"processor": platform.processor() or platform.machine(), "python": platform.python_version()}
    results: list[dict[str, Any]] = []
    print("run           model             seed  perplexity  topics (in use)  sweeps  CPU s  peak MB", flush=True)
    with TemporaryDirectory() as temporary:
        for run, model, seed in product(given.runs, given.models, given.seeds):
            if model in PEERS and run not in SWEEPS:
                continue
            folder = written(Path(temporary), given.data, RUNS[run][0], given.split, given.validation)
            told = ["--runs", run, "--models", model, "--seeds", str(seed), "--jobs", str(given.jobs)]
            call = [sys.executable, __file__, str(folder), *told, "--one"]
            row = json.loads(subprocess.run(call, check=True, capture_output=True, text=True).stdout)
            results.append(row)
            topics = f"{row['topics']} ({row.get('in_use', row['topics'])})"
            print(
                f"{run:13} {model:17} {seed:4}  {row['perplexity']:10.1f}  {topics:>15}  {row['sweeps']:6}  "
                f"{row['cpu_s']:5.1f}  {row['peak_mb']:7.0f}",
                flush=True,
            )
            if given.out:
                told_json = {
                    "machine": machine,
                    "versions": versions,
                    "split": given.split,
                    "validation": given.validation,
                }
                given.out.write_text(json.dumps({**told_json, "rows": results}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
