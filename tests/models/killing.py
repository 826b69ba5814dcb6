"""Fits in processes of their own that are killed at random moments and taken up again, until one is done.

By hand: python tests/models/killing.py KILLS [SEED]

As a command, ``run`` is ``diln`` with a corpus growing, and steps begun, at sizes that suit a test; with ``--die N``
before the rest, the process kills itself as it is about to bring the N-th file down to the disk; with ``--hold N
FOLDER`` it waits after its N-th sweep or step, or before all with 0, until there is FOLDER/go.
"""

import os
import signal
import subprocess
import sys
import time
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from diln.corpus import Corpus
from diln.models.checkpoints import CHECKPOINT
from diln.models.files import StoredModel, read_model

GROWING = ((60, 12), (120, 8))  # documents, sweeps
CHAIN_DOCS = 100  # documents of the chain that steps start from
OPTIONS = {
    "batch": ("--learning", "batch", "--passes", "50"),
    "grow": ("--learning", "grow", "--keep-states", "2"),
    "chains": ("--learning", "batch", "--passes", "30", "--chains", "3", "-j2"),
    "online": ("--learning", "online", "--batch-size", "7", "--model", "hdp"),
}


def write_corpus(directory: Path, n_docs: int, seed: int = 0) -> Path:
    """Documents of a few themes each."""
    rng = np.random.default_rng(seed)
    themes = rng.dirichlet(np.full(300, 0.05), 12)
    names = np.array(["".join(letters) for letters in product("bdfgklmnprst", "aeiou", "bdfgk")])
    mixed = rng.dirichlet(np.full(12, 0.2), n_docs) @ themes
    Corpus.from_texts([" ".join(rng.choice(names, 60, p=row)) for row in mixed]).save(directory)
    return directory


def command(
    corpus: Path, model: Path, learning: str, *options: str, die: int | None = None, hold: int | None = None
) -> list[str]:
    """The words that start a fit; batch learning is the command itself."""
    line = ["fit", str(corpus), "-o", str(model), "--quiet", "-j1", *OPTIONS[learning], *options]
    if learning in ("batch", "chains") and die is None and hold is None:
        return [sys.executable, "-m", "diln", *line]
    first = [] if die is None else ["--die", str(die)]
    first += [] if hold is None else ["--hold", str(hold), str(model.parent)]
    return [sys.executable, __file__, "run", *first, *line]


def begin(*words: Any, **options: Any) -> subprocess.Popen:
    return subprocess.Popen(command(*words, **options), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def complete(*words: Any, **options: Any) -> StoredModel:
    """The model of a fit that nobody stops."""
    process = begin(*words, **options)
    _, printed = process.communicate(timeout=300)
    assert process.returncode == 0, printed
    return read_model(words[1])


def beside(model: Path) -> Path:
    return model.with_name(f"{model.name}.checkpoint")


def manifest_of(directory: Path) -> tuple | None:
    """Tells one manifest from the next."""
    try:
        known = (directory / "manifest.json").stat()
    except FileNotFoundError:
        return None
    return known.st_mtime_ns, known.st_ino


def killed_and_resumed(
    corpus: Path, model: Path, learning: str, kills: int, rng: np.random.Generator, spread: float = 0.2
) -> tuple[StoredModel, list[str]]:
    """The model of a fit that is killed so many times, and what each death found it at.

    Half the deaths, by chance, come up to ``spread`` seconds after the process has written its first checkpoint, the
    others at any moment of its life before.
    """
    begun_with, deaths, life = ("--checkpoint-every", "0", "--resume", "--force"), [], 3.0
    while len(deaths) < kills:
        process, born = begin(corpus, model, learning, *begun_with), time.monotonic()
        before, end = manifest_of(beside(model)), born + (np.inf if rng.random() < 0.5 else rng.uniform(0, life))
        while process.poll() is None and time.monotonic() < end and manifest_of(beside(model)) == before:
            time.sleep(0.002)
        if time.monotonic() < end:
            life = time.monotonic() - born
            time.sleep(rng.uniform(0, spread))
        process.kill()
        _, printed = process.communicate()
        if process.returncode == 0:  # it was done before
            break
        assert process.returncode == -signal.SIGKILL, printed
        deaths.append(place(model))
    return complete(corpus, model, learning, *begun_with), deaths


def place(model: Path) -> str:
    """How far the checkpoint of a model has come; whatever is on disk must be whole."""
    if manifest_of(model):
        read_model(model)
    if manifest_of(beside(model)) is None:
        return "the end" if manifest_of(model) else "nothing"
    content = read_model(beside(model), CHECKPOINT).content
    if content["phase"] == "online":
        return f"step {content['online']['state']['steps']}"
    return f"sweep {content['chain']['run']['number']}"


def differences(one: StoredModel, other: StoredModel, *, but: tuple[str, ...] = ()) -> list[str]:
    """What two models differ in, but for times and these parameters."""
    contents = [timeless(stored.content, but) for stored in (one, other)]
    found = [key for key in contents[0] | contents[1] if contents[0].get(key) != contents[1].get(key)]
    found += ["vocabulary"] if one.vocabulary != other.vocabulary else []
    names = one.tensors.keys() | other.tensors.keys()
    return found + [name for name in sorted(names) if bits(one, name) != bits(other, name)]


def timeless(content: dict[str, Any], but: tuple[str, ...]) -> dict[str, Any]:
    history = [{**entry, "seconds": None} for entry in content["history"]]
    parameters = {name: value for name, value in content["parameters"].items() if name not in but}
    return {**content, "history": history, "parameters": parameters}


def bits(stored: StoredModel, name: str) -> tuple | None:
    tensor = stored.tensors.get(name)
    return None if tensor is None else (tensor.dtype, tensor.shape, tensor.tobytes())


def by_hand(kills: int, seed: int) -> None:
    """Kill fits of every kind so many times each, and print what became of them."""
    rng = np.random.default_rng(seed)
    with TemporaryDirectory() as folder:
        corpus = write_corpus(Path(folder) / "corpus", 600)
        for learning in OPTIONS:
            whole = complete(corpus, Path(folder) / f"{learning}-whole", learning)
            model = Path(folder) / learning
            stored, deaths = killed_and_resumed(corpus, model, learning, kills, rng)
            found = differences(whole, stored) or "the same bits"
            left = beside(model).exists()
            print(f"{learning}: {len(deaths)} deaths, at {', '.join(deaths)}; {found}; checkpoint left: {left}")


def run(words: list[str]) -> None:
    """The command, with sizes that suit a test."""
    from diln.cli.main import main
    from diln.models import parameters, sampling

    parameters.STAGES, parameters.GROWN_SWEEPS, sampling.CHAIN_DOCS = GROWING, 30, CHAIN_DOCS
    if words[0] == "--die":
        die_at(int(words[1]))
        words = words[2:]
    if words[0] == "--hold":
        hold_at(int(words[1]), Path(words[2]))
        words = words[3:]
    sys.argv = ["diln", *words]
    main()


def die_at(number: int) -> None:
    """Have the process killed in place of its call of ``os.fsync`` of this number, from 1 on."""
    to_disk, calls = os.fsync, 0

    def sync(descriptor: int) -> None:
        nonlocal calls
        calls += 1
        if calls == number:
            os.kill(os.getpid(), signal.SIGKILL)
        to_disk(descriptor)

    os.fsync = sync


def hold_at(number: int, folder: Path) -> None:
    """Have a fit wait after so many sweeps or steps: it makes FOLDER/here, and once it is to stop FOLDER/asked."""
    from diln.cli.fitline import FitLine

    look, enter, seen = FitLine.look, FitLine.__enter__, 0

    def wait(line: FitLine) -> None:
        (folder / "here").touch()
        while not (folder / "go").exists():
            if line.stop():
                (folder / "asked").touch()
            time.sleep(0.005)

    def looked(line: FitLine, progress: Any) -> None:
        nonlocal seen
        look(line, progress)
        seen += 1
        if seen == number:
            wait(line)

    def entered(line: FitLine) -> FitLine:
        if number == 0:
            wait(line)
        return enter(line)

    FitLine.look, FitLine.__enter__ = looked, entered


if __name__ == "__main__":
    if sys.argv[1] == "run":
        run(sys.argv[2:])
    else:
        by_hand(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
