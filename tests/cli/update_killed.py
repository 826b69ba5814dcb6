"""Updates of a model, each in a process of its own that kills itself as it brings its N-th file down to the disk.

python tests/cli/update_killed.py FOLDER KILLS SEED, where FOLDER has ``model`` and ``new.jsonl``; prints what became of
each, as JSON. All processes are forked from this one, which has done it before.
"""

import json
import os
import random
import shutil
import signal
import sys
import warnings
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from unittest.mock import patch

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a process of several threads is not to be forked

from diln.analysis.edit_files import read_edits
from diln.analysis.index import Index
from diln.cli.main import main
from diln.corpus import Corpus
from diln.models.files import read_model
from diln.models.fitted import Fitted


def forked(work: Callable[[], None]) -> int:
    """How a process ended that did this work: its exit code, or minus the signal."""
    child = os.fork()
    if not child:
        try:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
            work()
        except SystemExit as ended:
            os._exit(int(ended.code or 0))
        os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def update(folder: Path, die: int | None) -> Callable[[], None]:
    """The command, which dies before its N-th call of fsync."""
    left, known = [die], os.fsync

    def fsync(descriptor: int) -> None:
        if left[0] is not None:
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)
        known(descriptor)

    def work() -> None:
        with (
            patch("os.fsync", fsync),
            patch.object(sys, "argv", ["diln", "update", str(folder / "model"), str(folder / "new.jsonl"), "-qj1"]),
        ):
            main()

    return work


def digest(model: Path) -> str:
    """Of all numbers of a model, whose files must be whole."""
    stored, found = read_model(model), sha256()
    for name in sorted(stored.tensors):
        found.update(stored.tensors[name].tobytes())
    found.update(json.dumps(stored.vocabulary).encode())
    return found.hexdigest()


def state(model: Path) -> dict[str, object]:
    """What is in a model's directory; all of it must be sound."""
    corpus, fitted = Corpus.open(model / "corpus", check=True), Fitted.load(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labels = dict(read_edits(model, fitted).labels)
    index = Index.open(model / "documents")
    follows = index.is_of(fitted) and index.matches(corpus)
    return {"digest": digest(model), "documents": len(corpus), "labels": labels, "indexed": follows}


def run(folder: Path, kills: int, seed: int) -> None:
    shutil.copytree(folder / "model", folder / "kept")
    old = state(folder / "kept")
    assert forked(update(folder, None)) == 0
    new, ends, die = state(folder / "model"), [], 0
    rng, steps = random.Random(seed), 60
    moments = sorted(rng.sample(range(steps), kills))
    for die in moments:
        shutil.rmtree(folder / "model")
        shutil.copytree(folder / "kept", folder / "model")
        code = forked(update(folder, die))
        ends.append({"die": die, "code": code, **state(folder / "model")})
    again = forked(update(folder, None)) if ends[-1]["digest"] == old["digest"] else None
    print(json.dumps({"old": old, "new": new, "ends": ends, "again": again}))


if __name__ == "__main__":
    run(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
