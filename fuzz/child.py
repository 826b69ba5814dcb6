"""A process of its own for some cases of a target: whatever becomes of it, its parent sees which case it was at."""

import faulthandler
import json
import os
import resource
import shutil
import sys
import time
import traceback
import warnings
from collections import Counter
from mmap import mmap
from pathlib import Path

from fuzz import judge
from fuzz.box import Box, Eye
from fuzz.case import Case, Name, Target
from fuzz.judge import Verdict

MEMORY = 1 << 30  # bytes that a case may take beyond what the process has
CRASHED = "crash.txt"


class Place:
    """Where a child is, in memory that its parent sees too."""

    def __init__(self) -> None:
        self.numbers = memoryview(mmap(-1, 64)).cast("q")

    @property
    def case(self) -> int:
        """The number of the case under way."""
        return self.numbers[0]

    @property
    def seconds(self) -> float:
        """How long it has been under way."""
        return (time.monotonic_ns() - self.numbers[1]) / 1e9

    def enter(self, case: int) -> None:
        """A case begins."""
        self.numbers[0], self.numbers[1] = case, time.monotonic_ns()


def serve(target: Target, names: list[Name], root: Path, place: Place, pipe: int) -> None:
    """Run cases one after the other and write what came of them to a pipe; never returns."""
    try:
        _limit(root)
        box, met = Box(root / "box"), list[object]()
        eye = Eye(box.case)
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, *_, **__: met.append(message)
        seen: Counter[tuple[str, str]] = Counter()
        for name in names:
            place.enter(name.number)
            verdict = run(target, name, box, eye, met)
            if verdict.outcome == "wrong":
                _say(pipe, {"case": name.number, "kind": verdict.kind, "text": verdict.text})
                if not box.untouched():
                    shutil.rmtree(box.root)
                    box = Box(box.root)
            seen[verdict.outcome, verdict.kind] += 1
        _say(pipe, {"seen": [[*told, number] for told, number in seen.items()]})
        os._exit(0)
    except BaseException:
        _say(pipe, {"broken": traceback.format_exc()})
        os._exit(0)


def run(target: Target, name: Name, box: Box, eye: Eye, met: list[object]) -> Verdict:
    """What comes of one case."""
    box.empty()
    try:
        ready = target.prepare(Case(name, box.case))
    except Exception as error:
        return Verdict("wrong", f"a fault of the fuzzer: {type(error).__name__}", traceback.format_exc())
    met.clear()
    eye.seen.clear()
    eye.open = True
    try:
        verdict = judge.of_result(ready())
    except BaseException as error:
        verdict = judge.of_error(error, target)
    finally:
        eye.open = False
    if verdict.outcome == "wrong":
        return verdict
    if eye.seen:
        return Verdict("wrong", f"touched: {eye.seen[0].split()[0]}", "; ".join(eye.seen[:5]))
    if not box.untouched():
        return Verdict("wrong", "touched: what lies beside the folder")
    warned = (judge.of_warning(one) for one in met if isinstance(one, Warning))
    return next((one for one in warned if one is not None), verdict)


def _limit(root: Path) -> None:
    """No more memory, no core dumps, and a trace where the process crashes."""
    sys.stdout = sys.stderr = open(os.devnull, "w", errors="backslashreplace")  # noqa: PTH123, SIM115
    faulthandler.enable((root / CRASHED).open("w"))
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
        size = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _say(pipe: int, message: dict[str, object]) -> None:
    data = json.dumps(message).encode() + b"\n"
    while data:
        data = data[os.write(pipe, data) :]
