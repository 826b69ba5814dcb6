"""Fits on a Dask cluster: what it costs beside threads, how it scales, and whether a kill ever changes a bit.

python benchmarks/cluster.py speed CORPUS [--topics 200] [--sweeps 16] [--workers 1 2]
python benchmarks/cluster.py kills [--fits 30] [--all-but-one 10]
python benchmarks/cluster.py resumes [--fits 100]
Each with [--seed 0] and [--out benchmarks/results/cluster.json], where the results of the others stay; fits of several
seeds add up.

``speed`` takes a corpus directory and makes batch sweeps over all of it, with one thread, with as many as there are
workers, which is what the machine can do, and with clusters of some worker processes on loopback, all in turn; seconds
a sweep are medians of the later half, by the clock. ``kills`` fits a small corpus again and again while workers are
SIGKILLed at random moments; ``resumes`` kills the whole command, on threads and on local:2 in turn, and takes it up
with --resume until it is done. Models are compared bit for bit.
"""

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import threading
import time
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from diln import DILN, Corpus, Dask, Sampling, simulate
from diln.files import MANIFEST
from diln.inference.sampling import documents
from diln.models import recovery
from diln.models.files import read_model

SMALL_SHARD = 4_000  # tokens, so that a small corpus has many
LONGEST = 600.0  # seconds of a command


def speed(args: argparse.Namespace) -> dict[str, Any]:
    corpus = Corpus.open(args.corpus)

    def fit(engine: Dask | None, jobs: int = 1) -> tuple[DILN, float]:
        way = Sampling(n_states=1)
        model = DILN(
            args.topics, learning_method="batch", max_iter=args.sweeps, inference=way, random_state=0, n_jobs=jobs,
            engine=engine,
        )  # fmt: skip
        model.fit(corpus)
        ends = [entry["seconds"] for entry in model.history_]
        return model, median(np.diff(ends)[len(ends) // 2 :])

    fit(None) if args.warm else None
    alone, threads = fit(None)
    found: dict[str, Any] = {"documents": len(corpus), "tokens": corpus.n_tokens, "terms": corpus.n_terms}
    found |= {
        "topics": args.topics,
        "sweeps": args.sweeps,
        "load": os.getloadavg()[0],
        "seconds": {"threads 1": threads},
    }
    for jobs in args.workers[1:]:
        found["seconds"][f"threads {jobs}"] = fit(None, jobs)[1]
    for workers in args.workers:
        with Dask(f"local:{workers}") as engine:
            model, found["seconds"][f"workers {workers}"] = fit(engine)
            if not same(alone, model):
                raise SystemExit(f"{workers} workers gave other bits than threads")
        print(json.dumps(found["seconds"]), flush=True)
    if args.again:
        found["seconds"]["threads 1 again"] = fit(None)[1]
    one = found["seconds"].get("workers 1")
    if one:
        found["overhead of one worker"] = one / threads - 1
        for name, base in (("worker", one), ("thread", threads)):
            found[f"speed beside one {name}"] = {
                number: base / found["seconds"][f"{name}s {number}"] for number in args.workers if number > 1
            }
    return found


def same(one: DILN, other: DILN) -> bool:
    mine, theirs = (model.fitted_.posterior.tensors() for model in (one, other))
    return mine.keys() == theirs.keys() and all(np.array_equal(mine[name], theirs[name]) for name in mine)


def small_corpus() -> Corpus:
    return simulate.hdp_corpus(1500, 300, 12, alpha=3.0, beta=5.0, doc_length=simulate.Poisson(60), rng=1).corpus


def kills(args: argparse.Namespace) -> dict[str, Any]:
    """Fits while one worker is killed, and while all but one are, at random moments."""
    documents.SHARD, recovery.EVERY, recovery.SHARE = SMALL_SHARD, 0.5, np.inf
    rng = np.random.default_rng(args.seed)
    told: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        corpus = small_corpus().save(Path(folder) / "corpus")

        def fit(where: Dask | None) -> tuple[DILN, float]:
            begun = time.perf_counter()
            model = DILN(20, learning_method="grow", max_iter=60, random_state=3, engine=where).fit(corpus)
            return model, time.perf_counter() - begun

        alone, _ = fit(None)
        with Dask("local:3") as engine:
            model, seconds = fit(engine)
        counts: dict[str, Any] = {"undisturbed, same bits": int(same(alone, model)), "seconds undisturbed": seconds}
        for name, number, victims in (("one killed", args.fits, 1), ("all but one killed", args.all_but_one, 2)):
            equal = losses = 0
            for i in range(number):
                told.clear()
                with Dask("local:3", tell=told.append) as engine:
                    killer = threading.Timer(rng.uniform(0, seconds), kill, (engine, victims))
                    killer.start()
                    equal += same(alone, fit(engine)[0])
                    killer.join()
                losses += sum("goes back" in text for text in told)
                print(f"{name}: {i + 1} of {number}, {equal} with the same bits, {losses} losses", flush=True)
            counts |= {name: {"fits": number, "same bits": equal, "times a fit went back": losses}}
    return counts


def kill(engine: Dask, number: int) -> None:
    """SIGKILL so many workers at once; nannies start others."""
    pids = engine.client.run(os.getpid, on_error="ignore")
    for pid in sorted(pids.values())[:number]:
        os.kill(pid, signal.SIGKILL)


def resumes(args: argparse.Namespace) -> dict[str, Any]:
    """Commands that are killed at random moments and taken up again until they are done."""
    rng = np.random.default_rng(args.seed)
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpus = folder / "corpus"
        small_corpus().save(corpus)
        for where, options in (("threads", ["-j1"]), ("local:2", ["--scheduler", "local:2", "-j1"])):
            seconds, expected = whole(corpus, folder / "expected", options)
            equal = killed = 0
            for i in range(args.fits // 2):
                model = folder / f"{where.partition(':')[0]}{i}"
                for resume in ([], *([["--resume"]] * 200)):
                    if done(corpus, model, [*options, *resume], rng.uniform(0, 1.5 * seconds)):
                        break
                    killed += 1
                equal += tensors_equal(expected, model)
                print(f"{where}: {i + 1} of {args.fits // 2}, {equal} with the same bits, {killed} kills", flush=True)
            found[where] = {"fits": args.fits // 2, "same bits": equal, "kills": killed}
    return found


def command(corpus: Path, model: Path, options: list[str]) -> list[str]:
    line = ["fit", str(corpus), "-o", str(model), "--quiet", "--topics", "20", "--passes", "60", "--no-index"]
    return [sys.executable, "-m", "diln", *line, "--checkpoint-every", "0", *options]


def whole(corpus: Path, model: Path, options: list[str]) -> tuple[float, Path]:
    begun = time.perf_counter()
    line = [*command(corpus, model, options), "--force"]
    subprocess.run(line, check=True, timeout=LONGEST, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun, model


def done(corpus: Path, model: Path, options: list[str], seconds: float) -> bool:
    """Whether a fit was done before it was killed."""
    process = subprocess.Popen(command(corpus, model, options), stdout=subprocess.DEVNULL)
    try:
        code = process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return False
    if code and not ("--resume" in options and (model / MANIFEST).exists()):  # else it was killed when all was written
        raise SystemExit(f"a fit ended with {code}")
    return True


def tensors_equal(one: Path, other: Path) -> bool:
    mine, theirs = read_model(one).tensors, read_model(other).tensors
    return mine.keys() == theirs.keys() and all(np.array_equal(mine[name], theirs[name]) for name in mine)


def added(before: Any, found: Any) -> Any:
    """Numbers of fits, as they add up over runs; all else as it was found last."""
    if isinstance(found, dict):
        return {name: added((before or {}).get(name), value) for name, value in found.items()}
    return before + found if isinstance(found, int) and isinstance(before, int) else found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(dest="kind", required=True)
    for run in (speed, kills, resumes):
        kind = kinds.add_parser(run.__name__)
        kind.set_defaults(run=run)
        kind.add_argument("--out", type=Path)
        kind.add_argument("--seed", type=int, default=0)
    kinds.choices["speed"].add_argument("corpus", type=Path)
    kinds.choices["speed"].add_argument("--topics", type=int, default=200)
    kinds.choices["speed"].add_argument("--sweeps", type=int, default=16)
    kinds.choices["speed"].add_argument("--workers", type=int, nargs="+", default=[1, 2])
    kinds.choices["speed"].add_argument("--warm", action="store_true", help="compile first, by a fit that is not timed")
    kinds.choices["speed"].add_argument("--again", action="store_true", help="time threads once more at the end")
    kinds.choices["kills"].add_argument("--fits", type=int, default=30)
    kinds.choices["kills"].add_argument("--all-but-one", type=int, default=10)
    kinds.choices["resumes"].add_argument("--fits", type=int, default=100)
    args = parser.parse_args()
    before = json.loads(args.out.read_text()) if args.out is not None and args.out.exists() else {}
    known = {} if args.run is speed else before.get(args.kind, {})
    if args.seed in known.get("seeds", []):
        raise SystemExit(f"{args.out} has the fits of seed {args.seed}; give another with --seed")
    found = {**added(known, args.run(args)), "seeds": [*known.get("seeds", []), args.seed]}
    found["about"] = {"machine": f"{platform.machine()}, {os.cpu_count()} cores", "python": platform.python_version()}
    found["about"] |= {name: version(name) for name in ("diln", "numpy", "numba", "distributed")}
    print(json.dumps(found, indent=1))
    if args.out is not None:
        args.out.write_text(json.dumps({**before, args.kind: found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
