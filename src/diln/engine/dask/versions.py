"""What must be the same on all machines for the same bits, and for steps to be understood."""

import platform
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import diln
from diln.engine.compile import PACKAGE, digest_of

PACKAGES = ("numpy", "numba", "llvmlite", "scipy")


class Versions(NamedTuple):
    """What runs in a process."""

    worker: str  # the name that sentences have
    parts: dict[str, str]
    processor: str


def versions(worker: str = "") -> Versions:
    """Those of this process."""
    from llvmlite.binding import get_host_cpu_name

    python = ".".join(platform.python_version_tuple()[:2])
    parts = {"diln": diln.__version__, "Python": python, **{name: version(name) for name in PACKAGES}}
    return Versions(worker, {**parts, "diln's code": digest_of(Path(PACKAGE))[:12]}, get_host_cpu_name())


def versions_of_worker() -> Versions:
    """Those of the worker that this is called on."""
    from distributed import get_worker

    from diln.engine.dask.worker import named

    return versions(named(get_worker()))


def difference(here: Versions, there: Versions) -> str | None:
    """What is other on a worker, as a sentence, or nothing."""
    for name, own in here.parts.items():
        other = there.parts.get(name, "none")
        if other != own:
            what = f"has {name} {other} and this process has {own}"
            if name == "diln's code":
                what = f"has diln {there.parts['diln']} with other code than this process"
            return f"{there.worker} {what}; install the same versions on all of them"
    return None
