"""Peak memory of `diln fit` by the number of documents: a corpus, and the same documents ten times over.

python benchmarks/memory.py COUNTS.npz FOLDER [--times 1 10] [--topics 100] [--passes 4] [--out results.json]

COUNTS.npz is a scipy sparse matrix of counts (n_docs, n_terms). Both corpora are built into FOLDER, which should have
some gigabytes, and stay there for another run. Fits are online (some minutes of it), in batch and by "grow", with
documents in memory and on disk (--memory), each in a process of its own, whose peak of resident memory (VmHWM) the
system tells. Of that, memory of the process itself (anonymous) is told apart from pages of files that are mapped
(libraries and the corpus), which the system takes back when it needs room: peaks of what is seen 20 times a second,
and of the scratch folder once a second. A fit on a few documents goes before, so that loops are compiled. Documents in
memory and on disk must give the same score, bit for bit. With --out, fits that were measured before stay in the file,
and the table is of all in it.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, load_npz

import diln
from diln.corpus.dates import DateForm
from diln.corpus.shards import Shard
from diln.corpus.store import write_corpus
from diln.corpus.strings import Strings
from diln.corpus.watch import Tally

AT_ONCE = 16_384  # documents of a shard
EVERY = 0.05  # seconds from one look at a process to the next
KEY = ("way", "topics", "times")  # of a fit
PARTS = {"megabytes": "VmHWM", "anonymous": "RssAnon", "files": "RssFile"}
WAYS = {
    "online": ["--learning", "online", "--max-time", "60"],
    "batch, in memory": ["--learning", "batch", "--memory", "1 TB"],
    "batch, on disk": ["--learning", "batch", "--memory", "20 MB"],
    "grow, on disk": ["--learning", "grow", "--memory", "20 MB"],
}


def build(counts: csr_array, times: int, folder: Path) -> Path:
    """The documents so many times over, as a corpus on disk."""
    path = folder / f"corpus-{times}"
    if not (path / "manifest.json").exists():
        write_corpus(
            path, shards(counts, times), [f"t{i}" for i in range(counts.shape[1])], None,
            Tally(counts.shape[0] * times).to_json(), DateForm(), overwrite=True,
        )  # fmt: skip
    return path


def shards(counts: csr_array, times: int) -> Any:
    """Shards, one at a time."""
    for again in range(times):
        for first in range(0, counts.shape[0], AT_ONCE):
            part = csr_array(counts[first : first + AT_ONCE])
            ids = Strings.pack([f"{again}-{first + i}" for i in range(part.shape[0])])
            terms, numbers = part.indices.astype(np.uint16), part.data.astype(np.uint16)
            yield Shard(part.indptr.astype(np.int64), terms, numbers, {"id": ids})


def peak(corpus: Path, model: Path, told: list[str]) -> dict[str, Any]:
    """Peaks of memory of a fit, in MB, how long it took, and the last score."""
    command = [sys.executable, "-m", "diln", "fit", str(corpus), "-o", str(model), "--force", "--quiet", "--no-index"]
    begun = time.perf_counter()
    process = subprocess.Popen([*command, *told], stdout=subprocess.DEVNULL)
    peaks = dict.fromkeys([*PARTS, "scratch"], 0.0)
    for number in count():
        if process.poll() is not None:
            break
        now = resident(process.pid) | (
            {"scratch": size_of(model.with_name("model.scratch"))} if number % 20 == 0 else {}
        )
        peaks |= {name: max(peaks[name], size) for name, size in now.items()}
        time.sleep(EVERY)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} has ended with {process.returncode}")
    seconds = time.perf_counter() - begun
    fitted = diln.load(model)
    score = next((one["score"] for one in reversed(fitted.history_)), None)
    shutil.rmtree(model)
    return {**peaks, "seconds": seconds, "score": score}


def resident(pid: int) -> dict[str, float]:
    """The peak of a process so far, and its own memory and pages of mapped files now, in MB; 0 when it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        lines = []
    told = dict(line.split(":", 1) for line in lines)
    return {name: int(told.get(key, "0").split()[0]) / 1024 for name, key in PARTS.items()}


def size_of(folder: Path) -> float:
    """The files of a folder that is being written to, in MB."""
    sizes = []
    for path in folder.glob("*"):
        with suppress(OSError):  # gone meanwhile
            sizes.append(path.stat().st_size)
    return sum(sizes) / 1e6


def warm_up(corpus: Path, folder: Path, told: list[str]) -> None:
    """Compile what a fit runs, with documents enough for every step of it."""
    small = diln.Corpus.open(corpus)[:2000]
    small.save(folder / "few", overwrite=True)
    peak(folder / "few", folder / "model", told)


def measured(given: argparse.Namespace, found: dict[str, Any]) -> None:
    """Fit, and note what each fit took, after each."""
    counts = csr_array(load_npz(given.counts))
    corpora = {times: build(counts, times, given.folder) for times in given.times}
    for way in given.ways:
        epochs = 1 if way == "online" else given.passes
        told = ["--topics", str(given.topics), "--passes", str(epochs), "--seed", "0", "--jobs", "2", *WAYS[way]]
        warm_up(corpora[given.times[0]], given.folder, told)
        for times, corpus in corpora.items():
            row = {"way": way, "topics": given.topics, "times": times, "documents": counts.shape[0] * times}
            row |= {"passes": epochs, **peak(corpus, given.folder / "model", told)}
            key = tuple(row[name] for name in KEY)
            others = [one for one in found["fits"] if tuple(one[name] for name in KEY) != key]
            found["fits"] = sorted([*others, row], key=lambda one: [one[name] for name in KEY])
            if given.out:
                given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def show(fits: list[dict[str, Any]]) -> None:
    """Print a line for each kind of fit: peaks of resident memory, from few documents to many."""
    for way, topics in dict.fromkeys((one["way"], one["topics"]) for one in fits):
        rows = [one for one in fits if (one["way"], one["topics"]) == (way, topics)]
        more = rows[-1]["megabytes"] / rows[0]["megabytes"] - 1
        print(f"{way}, {topics} topics: {more:+.1%}")
        for one in rows:
            parts = f"{one['anonymous']:,.0f} of its own and {one['files']:,.0f} of files"
            print(
                f"  {one['documents']:9,} documents {one['megabytes']:7,.0f} MB ({parts}), {one['scratch']:,.0f} MB on "
                f"disk, {one['seconds']:,.0f} s"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("counts", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--times", type=int, nargs="+", default=[1, 10])
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--passes", type=int, default=4)
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=list(WAYS))
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, Any] = {"fits": []}
    if given.out and given.out.exists():
        found = json.loads(given.out.read_text(encoding="utf-8"))
    found |= {"python": platform.python_version(), "machine": platform.machine(), "cores": os.cpu_count()}
    measured(given, found)
    show(found["fits"])
    for one in found["fits"]:
        like = [two for two in found["fits"] if all(two[name] == one[name] for name in ("topics", "times", "passes"))]
        if len({two["score"] for two in like if two["way"].startswith("batch")}) > 1:
            raise SystemExit(f"documents on disk have given other bits: {like}")


if __name__ == "__main__":
    main()
