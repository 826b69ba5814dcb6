"""The parent: has cases run in children, and finds out what a child died of."""

import json
import os
import select
import shutil
import signal
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from fuzz.case import Name, Target
from fuzz.child import CRASHED, Place, serve

SECONDS = 10.0  # that a case may take
CASES = 500  # of a child


@dataclass
class Finding:
    """Something that is not allowed: the first case that showed it, and how many did."""

    kind: str
    name: Name
    text: str
    cases: int = 1


@dataclass
class Tally:
    """What came of a target's cases."""

    cases: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    """Where refusals came from."""
    findings: dict[str, Finding] = field(default_factory=dict)

    def found(self, kind: str, name: Name, text: str) -> None:
        """Note a case that is not allowed."""
        if kind in self.findings:
            self.findings[kind].cases += 1
        else:
            self.findings[kind] = Finding(kind, name, text)


@dataclass
class Ended:
    """How a child ended: at which case, by which signal or for how long it ran, if it did not end by itself."""

    at: int | None = None
    how: str = ""
    trace: str = ""


class HarnessError(Exception):
    """The fuzzer itself is at fault."""


def run(target: Target, names: list[Name], tally: Tally) -> None:
    """Run cases, in as many children as it takes."""
    left = names
    while left:
        ended = _child(target, left, tally)
        if ended.at is None:
            tally.cases += len(left)
            return
        place = next(i for i, name in enumerate(left) if name.number == ended.at)
        tally.cases += place + 1
        _died(target, left[: place + 1], ended, tally)
        left = left[place + 1 :]


def _died(target: Target, names: list[Name], ended: Ended, tally: Tally) -> None:
    """Find out whether the last of these cases kills a child alone; what was slow only once is no finding."""
    alone = _child(target, names[-1:], Tally())
    if alone.at is not None:
        tally.found(alone.how, names[-1], alone.trace)
    elif not ended.how.startswith("slow"):
        tally.found(f"{ended.how} after others", names[-1], f"from case {names[0].number} on\n{ended.trace}")


def _child(target: Target, names: list[Name], tally: Tally) -> Ended:
    """Run cases in one child."""
    root, place = Path(tempfile.mkdtemp(prefix="diln-fuzz-", dir=_memory())), Place()
    place.enter(names[0].number)
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(reading)
        serve(target, names, root, place, writing)
    os.close(writing)
    try:
        slow = _listen(reading, pid, place, {name.number: name for name in names}, tally)
        _, status = os.waitpid(pid, 0)
        if not status:
            return Ended()
        trace = (root / CRASHED).read_text(encoding="utf-8", errors="replace") if (root / CRASHED).exists() else ""
        how = f"slow: more than {SECONDS:.0f} s" if slow else f"crash: {_signal(status)}"
        return Ended(place.case, f"{how} {_innermost(trace)}".strip(), trace)
    finally:
        os.close(reading)
        shutil.rmtree(root, ignore_errors=True)


def _listen(pipe: int, pid: int, place: Place, names: dict[int, Name], tally: Tally) -> bool:
    """Hear what a child says until it ends; True if it had to be ended because a case took too long."""
    data, slow = b"", False
    while True:
        if select.select([pipe], [], [], 0.5)[0]:
            piece = os.read(pipe, 1 << 16)
            if not piece:
                return slow
            *lines, data = (data + piece).split(b"\n")
            _note(map(json.loads, lines), names, tally)
        elif place.seconds > SECONDS and not slow:
            slow = True
            os.kill(pid, signal.SIGABRT)


def _note(messages: Iterable[dict[str, object]], names: dict[int, Name], tally: Tally) -> None:
    for message in messages:
        if "broken" in message:
            raise HarnessError(str(message["broken"]))
        if "case" in message:
            tally.found(str(message["kind"]), names[int(str(message["case"]))], str(message["text"]))
        for outcome, kind, number in message.get("seen", ()):  # type: ignore[attr-defined]
            tally.outcomes[outcome] += number
            if outcome in ("refused", "foreign"):
                tally.kinds[kind] += number


def minimised(target: Target, finding: Finding) -> Name:
    """The case with as few of its mutations as show the same."""
    for rounds in range(5):
        name, tally = finding.name._replace(rounds=rounds), Tally()
        run(target, [name], tally)
        if finding.kind in tally.findings:
            return name
    return finding.name


def _signal(status: int) -> str:
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return f"exit code {os.waitstatus_to_exitcode(status)}"


def _innermost(trace: str) -> str:
    """The innermost of our functions that a trace of faulthandler's names."""
    lines = [line.strip() for line in trace.splitlines() if "/diln/" in line]
    if not lines:
        return ""
    file, _, name = lines[0].partition(", line ")
    return f"in {file.rsplit('/diln/')[-1].rstrip(chr(34))} {name.partition(' in ')[2]}"


def _memory() -> str | None:
    """Where files are kept in memory, if there is such a place."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
