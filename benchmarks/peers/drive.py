"""One run: starts the process that fits, judges what it shows at each checkpoint, and makes a row of results of it."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer
from typing import Any

import numpy as np

from diln.inference.progress import topics_in_use
from peers.judge import Judge
from peers.plan import TOOLS, Budget, Run
from peers.watch import Array, State, marks_of

STATES = 3  # late ones that are averaged
GAIN, APART = 0.995, 0.24  # a capped fit ends when perplexity is more than this share of what it was so long before
PATIENCE = 6, 600  # a process that takes so many caps, and so many seconds more, is ended
BENCHMARKS = Path(__file__).parents[1]
Record = dict[str, Any]


@dataclass
class Seen:
    """A checkpoint with what predictions need of it."""

    row: Record
    state: State
    theta: Array


def run(one: Run, folder: Path, judge: Judge, budget: Budget, eta: float, sweeps_share: float = 1.0) -> Record:
    """A row of results; one with "error" where the process failed."""
    tool = TOOLS[one.tool]
    total = budget.cap if tool.capped else max(1, round(budget.sweeps * sweeps_share))
    told = {
        "folder": str(folder), "maker": tool.maker, "told": tool.told, "seed": one.seed, "threads": one.threads,
        "eta": eta, "marks": marks_of(total, tool.capped), "capped": tool.capped, "own": not one.validation,
    }  # fmt: skip
    with TemporaryDirectory() as states, _started(one.threads) as child:
        limit = PATIENCE[0] * budget.cap + PATIENCE[1]
        timer = Timer(limit, child.kill)
        timer.start()
        try:
            seen, last = _conversation(child, {**told, "states": states}, judge, budget.cap if tool.capped else None)
            row = _row(seen, last, judge, tool.states)
        except (EOFError, BrokenPipeError):
            child.wait()
            row = {"error": f"the process ended with {child.returncode} (limit {limit:.0f} s)"}
        finally:
            timer.cancel()
    used = None if tool.maker in ("ours", "gensim_lda", "topica_ctm") else eta  # those have none, or their own
    return {**one.told(), "eta": used, "validation": one.validation, **row}


def _started(threads: int) -> "subprocess.Popen[str]":
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    path = os.pathsep.join([str(BENCHMARKS), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, **dict.fromkeys(names, str(threads))}
    call = [sys.executable, "-m", "peers.child"]
    return subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)


def _conversation(
    child: "subprocess.Popen[str]", told: Record, judge: Judge, cap: float | None
) -> tuple[list[Seen], Record]:
    """All checkpoints, and what the process says last."""
    seen: list[Seen] = []
    _say(child, json.dumps(told))
    while "state" in (said := _hear(child)):
        seen.append(_judged(said, judge))
        on = cap is None or gains([one.row for one in seen], cap)
        _say(child, "on" if on else "enough")
    if "theta" in said:
        theta = np.load(said.pop("theta"))
        said.setdefault("own_perplexity", judge.perplexity(seen[-1].state, theta))
        said["own_new_words"] = judge.new_words([(seen[-1].state, theta)])
    return seen, said


def _say(child: "subprocess.Popen[str]", line: str) -> None:
    assert child.stdin is not None
    child.stdin.write(line + "\n")
    child.stdin.flush()


def _hear(child: "subprocess.Popen[str]") -> Record:
    assert child.stdout is not None
    line = child.stdout.readline()
    if not line:
        raise EOFError
    said: Record = json.loads(line)
    return said


def _judged(said: Record, judge: Judge) -> Seen:
    path = Path(said.pop("state"))
    with np.load(path) as arrays:
        state = State(arrays["topics"], arrays["prior"], arrays["tokens"])
    path.unlink()
    theta = judge.proportions(state)
    row = {**said, "in_use": topics_in_use(state.tokens), "perplexity": judge.perplexity(state, theta)}
    return Seen(row, state, theta)


def gains(rows: Sequence[Record], cap: float) -> bool:
    """Whether documents are still new, or perplexity has fallen enough since a quarter of the cap ago."""
    if rows[-1]["passes"] < 1:
        return True
    before = [row for row in rows if row["cpu_s"] <= rows[-1]["cpu_s"] - APART * cap]
    return not before or bool(rows[-1]["perplexity"] <= GAIN * before[-1]["perplexity"])


def _row(seen: Sequence[Seen], last: Record, judge: Judge, averages: bool) -> Record:
    """What is known of a fit: its last checkpoint, its own inference, late states averaged, and all checkpoints."""
    end = seen[-1]
    row = {"topics": len(end.state.prior), **end.row, **last, "coherence": judge.coherence(end.state)}
    row["new_words"] = judge.new_words([(end.state, end.theta)])
    late = [one for one in seen if one.row["units"] * 2 >= end.row["units"]][-STATES:]
    if averages and len(late) > 1:
        pairs = [(one.state, one.theta) for one in late]
        row["averaged"] = {
            "states": [one.row["units"] for one in late],
            "perplexity": judge.averaged(pairs),
            "new_words": judge.new_words(pairs),
        }
    return {**row, "checkpoints": [one.row for one in seen]}
