"""How much memory a fit may use, how much its documents would take, and whether they are kept on disk instead."""

import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from diln.models.checks import bytes_of
from diln.models.parameters import Parameters

SHARE = 0.5  # of the memory that is free, which documents may take where nothing else is said
TOKEN = 10.0  # bytes of a token: its topic, and a count of its term
DOCUMENT = 24.0  # bytes of a document beside its tokens and what the weights know of it
NUMBER = 4.0  # bytes of each number of these
CGROUPS = (  # files that say what a container may use, and what it uses
    ("memory.max", "memory.current"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
)


class Placement(NamedTuple):
    """Where documents are kept while a chain goes over them."""

    on_disk: bool
    needed: float  # bytes that they take in memory
    allowed: float  # bytes that they may take there


def placed(parameters: Parameters, n_docs: int, n_tokens: float) -> Placement:
    """Where the documents of a chain over all of them are kept."""
    each = DOCUMENT + NUMBER * (1 + parameters.document_numbers)
    needed = TOKEN * n_tokens + each * n_docs
    given = bytes_of(parameters.memory)
    allowed = SHARE * free() if given is None else given
    return Placement(needed > allowed, needed, allowed)


def most(parameters: Parameters) -> float:
    """Bytes that documents may take when nothing else runs: the same at all times, on one machine."""
    given = bytes_of(parameters.memory)
    return SHARE * total() if given is None else given


def free(proc: Path = Path("/proc/meminfo"), cgroup: Path = Path("/sys/fs/cgroup")) -> float:
    """Bytes of memory that are free, in a container those that it may still use; no limit where nobody says."""
    found = [_available(proc), total() if not proc.exists() else float("inf")]
    for most, used in CGROUPS:
        with suppress(OSError, ValueError):
            found.append(float((cgroup / most).read_text()) - float((cgroup / used).read_text()))
    return max(0.0, min(found))


def _available(proc: Path) -> float:
    with suppress(OSError, ValueError, IndexError):
        for line in proc.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return float(line.split()[1]) * 1024
    return float("inf")


def total(cgroup: Path = Path("/sys/fs/cgroup")) -> float:
    """Bytes that the machine or the container has, or no limit where nobody says."""
    found = [float("inf")]
    with suppress(AttributeError, ValueError, OSError):
        found.append(float(os.sysconf("SC_PAGE_SIZE")) * float(os.sysconf("SC_PHYS_PAGES")))
    for most, _ in CGROUPS:
        with suppress(OSError, ValueError):
            found.append(float((cgroup / most).read_text()))
    return min(found)
