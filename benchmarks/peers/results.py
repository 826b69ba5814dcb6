"""Results on disk: rows by run, written whole after each, so that work can be taken up where it ended."""

import json
import os
import platform
from importlib.metadata import distributions, version
from pathlib import Path
from typing import Any

from peers.plan import CORPORA, OTHERS, Run, tried_with

Record = dict[str, Any]
LIBRARIES = ("diln", "numpy", "scipy", "numba", "scikit-learn", "tomotopy", "topica", "gensim", "lda")
DEFAULT_ETA = 0.05


def read(path: Path | None) -> Record:
    """What is there, or results without rows."""
    if path and path.exists():
        found: Record = json.loads(path.read_text(encoding="utf-8"))
        return found
    return {"machine": machine(), "versions": versions(), "split": 0, "rows": []}


def write(path: Path, results: Record) -> None:
    """Put these results in the place of those that may be there, at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(path.name + ".new")
    new.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    new.replace(path)


def versions() -> Record:
    """Of the libraries that are there."""
    there = {one.metadata["Name"].lower() for one in distributions()}
    return {name: version(name) for name in LIBRARIES if name in there}


def machine() -> Record:
    """What the runs are run on."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return {
        "processor": names[0] if names else platform.machine(), "cores": os.cpu_count(), "system": platform.system(),
        "python": platform.python_version(),
    }  # fmt: skip


def same(row: Record, one: Run) -> bool:
    """Whether a row is of this run."""
    if bool(row["validation"]) != one.validation or (one.validation and row["eta"] != one.eta):
        return False
    return all(row[name] == getattr(one, name) for name in ("corpus", "tool", "seed", "threads"))


def done(results: Record, one: Run, eta: float) -> bool:
    """Whether a run is there, without error, and made with this prior if with one that was chosen."""
    return any(same(row, one) and "error" not in row and row["eta"] in (None, eta) for row in results["rows"])


def added(results: Record, one: Run, row: Record) -> Record:
    """Results with a row, which takes the place of one of the same run."""
    rows = [*(old for old in results["rows"] if not same(old, one)), row]
    return {**results, "versions": {**results["versions"], **versions()}, "rows": rows}


def run_of(row: Record) -> Run:
    """The run that a row is of."""
    eta = row["eta"] if row["validation"] else None
    return Run(row["corpus"], row["tool"], row["seed"], row["threads"], eta)


def merged(results: Record, others: Record) -> Record:
    """Results with the rows of others, which take the places of those of the same runs; failed ones are left out."""
    new = {run_of(row): row for row in others["rows"] if "error" not in row}
    rows = [row for row in results["rows"] if run_of(row) not in new]
    versions = {**results["versions"], **others["versions"]}
    return {**results, "versions": versions, "rows": [*rows, *new.values()]}


def predicted(row: Record) -> float:
    """The least perplexity that a fit was seen to have: by the common fold-in, averaged states or its own inference."""
    return min(value for value in ways(row) if value is not None)


def ways(row: Record, name: str = "perplexity") -> tuple[float | None, float | None, float | None]:
    """A fit's perplexity by the common fold-in, with averaged states and by its own inference; None if not known."""
    return row.get(name), row.get("averaged", {}).get(name), row.get(f"own_{name}")


def predicted_new(row: Record) -> float | None:
    """The least perplexity of new words, as ``predicted`` has that of all; None if it was not computed."""
    return min((value for value in ways(row, "new_words") if value is not None), default=None)


def tried(results: Record, corpus: str, tool: str) -> list[Record]:
    """The runs of a tool on validation documents."""
    rows = (row for row in results["rows"] if row["validation"] and "error" not in row)
    return [row for row in rows if (row["corpus"], row["tool"]) == (corpus, tool)]


def chosen_eta(results: Record, corpus: str, size: int) -> float:
    """The topic-word prior that predicts validation documents best, of those that were tried for so many topics."""
    found = tried(results, corpus, tried_with(size))
    if found:
        return float(min(found, key=predicted)["eta"])
    etas = CORPORA.get(corpus, OTHERS).etas
    return etas[0] if len(etas) == 1 else DEFAULT_ETA
