"""Targets with every fault that the fuzzer is there to see, run as a program: prints what it saw, as JSON."""

import ctypes
import json
import os
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import numpy as np

from diln.errors import DilnError
from fuzz import drive
from fuzz.case import Case, Name, Target


def looping():
    while True:
        time.sleep(0.01)


def failing(error: BaseException):
    raise error


def half_written(case: Case):
    (case.folder / "out").write_text("half")
    return 1


FAULTS = {
    "sound": lambda case: 1.0,
    "refused": lambda case: failing(DilnError("there is no such file; name another")),
    "crash": lambda case: ctypes.string_at(0),
    "killed": lambda case: os.kill(os.getpid(), 9),
    "hang": lambda case: looping(),
    "memory": lambda case: np.ones(1 << 28),
    "nan": lambda case: {"topics": [np.array([0.5, np.nan])]},
    "infinite": lambda case: [1.0, float("inf")],
    "key": lambda case: {}["a"],
    "empty": lambda case: failing(ValueError()),
    "lines": lambda case: failing(ValueError("one\ntwo")),
    "bare": lambda case: failing(TypeError("'NoneType' object is not iterable")),
    "warned": lambda case: warnings.warn("divide by zero", RuntimeWarning, stacklevel=1),
    "read": lambda case: Path("/etc/hosts").read_bytes(),
    "written": lambda case: (case.folder.parent / "beside" / "victim.txt").write_text("touched"),
    "left": lambda case: (case.folder.parent / "new.txt").write_text("left"),
    "inside": half_written,
}


def clumsy(case: Case):
    raise KeyError("in making the input")


def seen(name: str, number: int = 3) -> dict[str, int]:
    """What is found in some cases, of which the second has the fault."""
    target = Target(name, lambda case: lambda: FAULTS[name](case) if case.name.number == 1 else 1, strict=True)
    tally = drive.Tally()
    drive.run(target, [Name(name, 0, i) for i in range(number)], tally)
    return {"cases": tally.cases, "found": {kind: one.name.number for kind, one in tally.findings.items()}}


drive.SECONDS = 1.0
found = {name: seen(name) for name in FAULTS}
tally = drive.Tally()
drive.run(Target("clumsy", clumsy), [Name("clumsy", 0, 1)], tally)
print(json.dumps({**found, "clumsy": {"found": list(tally.findings)}}))
