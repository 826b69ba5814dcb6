"""DILN and the HDP with their defaults: perplexity of completed documents, time and memory.

python benchmarks/sampling_table.py DATA [--runs ap nyt arxiv-online ...] [--seeds 0 1 2] [--split 0] [--out FILE]

DATA holds a folder for each corpus with counts.npz (a scipy sparse matrix). A fifth of the documents, 2,000 at most,
are for testing: half the tokens of each are observed and the others predicted; ``--validation`` takes those documents
from the training part instead, for tuning. No number of topics is given to DILN and HDP. Every fit is a process of its
own on one thread that opens the training documents as a corpus on disk. ``cpu_s`` is the CPU time of fitting alone,
with compiled loops found in their cache.

``benchmarks/peers`` has other libraries beside them.
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

from diln import DILN, HDP
from peers.split import read, written
from peers.watch import peak_megabytes

RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "ap": ("ap", {}),
    "newsarticles2016": ("newsarticles2016", {}),
    "nyt": ("nyt", {}),
    "elife": ("elife", {}),
    "wikipedia": ("wikipedia", {}),
    "arxiv-online": ("arxiv_200k", {"learning_method": "online"}),
    "arxiv": ("arxiv_200k", {}),
}


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


def one(folder: Path, run: str, model: str, seed: int, jobs: int) -> dict[str, Any]:
    parts = read(folder)
    row = ours({"DILN": DILN, "HDP": HDP}[model], {**RUNS[run][1], "n_jobs": jobs}, seed, parts)
    return {"run": run, "model": model, "seed": seed, **row, "peak_mb": peak_megabytes()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--runs", nargs="+", default=["ap", "nyt", "wikipedia", "arxiv-online", "arxiv"], choices=RUNS)
    parser.add_argument("--models", nargs="+", default=["DILN", "HDP"])
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
    versions = {name: version(name) for name in ("diln", "numpy", "numba")}
    machine = {"processor": platform.processor() or platform.machine(), "python": platform.python_version()}
    results: list[dict[str, Any]] = []
    print("run           model             seed  perplexity  topics (in use)  sweeps  CPU s  peak MB", flush=True)
    with TemporaryDirectory() as temporary:
        for run, model, seed in product(given.runs, given.models, given.seeds):
            folder = written(Path(temporary), given.data, RUNS[run][0], given.split, given.validation)
            told = ["--runs", run, "--models", model, "--seeds", str(seed), "--jobs", str(given.jobs)]
            call = [sys.executable, __file__, str(folder), *told, "--one"]
            row = json.loads(subprocess.run(call, check=True, capture_output=True, text=True).stdout)
            results.append(row)
            topics = f"{row['topics']} ({row['in_use']})"
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
