"""One fit, in a process of its own: python -m peers.child, told by one line of JSON on the standard input.

At each checkpoint it writes the state to a file, says so in a line, and reads whether to go on. After the last it says
how its own inference does. What tools print goes to the standard error stream.
"""

import json
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from scipy.sparse import csr_array, load_npz

from peers import tools
from peers.watch import State, Watch


def private_output() -> TextIO:
    """The standard output, for this program alone."""
    mine = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return mine


def main() -> None:
    warnings.simplefilter("ignore")
    out = private_output()
    told = json.loads(sys.stdin.readline())
    folder, states = Path(told["folder"]), Path(told["states"])

    def say(record: dict[str, Any]) -> None:
        print(json.dumps(record), file=out, flush=True)

    def judged(watch: Watch, state: State) -> bool:
        path = states / f"{watch.units}.npz"
        np.savez(path, topics=state.topics, prior=state.prior, tokens=state.tokens)
        spent = {"cpu_s": watch.cpu, "wall_s": watch.wall, "peak_mb": watch.peak}
        say({"state": str(path), "units": watch.units, "passes": watch.passes, **spent})
        answer = sys.stdin.readline()
        if not answer:
            raise SystemExit("nobody is there to judge any more")
        return answer.strip() == "on"

    watch = Watch(told["marks"], told["capped"], told["threads"], judged)
    own = getattr(tools, told["maker"])(folder, watch, told["seed"], told["eta"], **told["told"])
    begun, last = time.process_time(), dict[str, Any]()
    if told["own"]:
        found = own(csr_array(load_npz(folder / "observed.npz")))
        if isinstance(found, tuple):
            found, last["own_perplexity"] = found
        np.save(states / "theta.npy", found)
        last["theta"] = str(states / "theta.npy")
    say({**last, "own_cpu_s": time.process_time() - begun})


if __name__ == "__main__":
    main()
