"""Whether anything is ever lost: commands killed, interrupted, racing each other, without room or streams, at random.

python benchmarks/torture.py [kill] [race] [full] [interrupt] [closed] [--times N] [--only NAME]
                                [--seed 0] [--out FILE.json]

kill   corpus build, append, fit, compare and save, each killed 100 times (SIGKILL): half at any moment of its life,
       half at any of its operations on files of the directory, so that the moment of commitment is hit often. Then
       the directory must hold what it held or what is new, whole; the next writer must sweep what was left; a fit and
       a comparison must go on to the same bits as one that nobody disturbed.
race   pairs of fit, corpus build and save into one directory, 20 of each, some time apart. Without --force one wins,
       the other must say a sentence, and what is there must be the winner's.
full   corpus build, append, fit, save, transform and compare, each on a disk (a small tmpfs, for which one must be
       root; else a limit on the size of files) that has too little room, 50 moments of each. Nothing may be lost, and
       the command must say so in a sentence.
interrupt  corpus build, append, fit, transform and compare, each sent SIGINT or SIGTERM at any moment of its life, 40
       times. Then what was there or what is new must be there, whole, with nothing beside it but a checkpoint; the
       exit code must be that of the signal, and there must be no traceback.
closed commands that print, and one that writes a table, 40 times without some of their standard streams or with one
       that nobody reads. They must end as they would have, without a traceback, and the table must be sound.

Most processes are forked from this one, which has done it all before; every 25th is a fresh interpreter.
"""

import argparse
import contextlib
import json
import os
import platform
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a process of several threads is not to be forked

import diln.show.comparison  # noqa: F401 - what commands would import each time
from diln.__main__ import main as command
from diln.cli.interrupts import leave
from diln.corpus import Corpus, build
from diln.errors import StoreError
from diln.files import MANIFEST
from diln.models.checkpoints import CHECKPOINT
from diln.models.files import StoredModel, read_model
from diln.models.fitted import Fitted
from diln.models.fitting import fit as _fit  # noqa: F401

LONGEST = 300  # seconds that any process may take
FRESH = 25  # every so many processes is not forked
TOGETHER = 10  # deaths of a fit or a comparison before it is left to come to its end
SAVES = 6  # in a row, of one process
FIT = ("--passes", "12", "-j1", "-q")
COMPARE = ("--model", "lda", "--topics", "2", "--topics", "3", "--topic-prior", "0.1", "--seeds", "2", "--passes", "4")
INTERRUPTS = (signal.SIGINT, signal.SIGTERM)
START = 0.3  # seconds in which Python itself starts, on a quiet machine
WATCHED = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate"}


# Processes


@dataclass
class Started:
    """A process, and the file that it prints to."""

    pid: int
    log: Path
    ended: int | None = None

    def wait(self, seconds: float = LONGEST) -> int:
        """Its exit code, or minus the signal that ended it."""
        end = time.monotonic() + seconds
        while self.ended is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.ended = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > end:
                self.kill()
                raise TimeoutError(f"a process took more than {seconds} s: {self.printed}")
            else:
                time.sleep(0.001)
        return self.ended

    def kill(self) -> None:
        """End it."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    @property
    def printed(self) -> str:
        """What it has printed."""
        return self.log.read_text(errors="replace")


class Home:
    """A folder to work in, texts and models to work with, and the processes that are started."""

    def __init__(self, directory: Path, rng: random.Random, *, compares: bool) -> None:
        self.directory, self.rng, self.started = directory, rng, 0
        for name in ("old", "new", "more"):
            (directory / f"{name}.txt").write_text(texts(rng, 60))
        self.corpus = build(directory / "old.txt", directory / "corpus").directory
        self.warm_up(compares)
        for seed in (0, 1):
            self.run("fit", self.corpus, "-o", self.model(seed), "--seed", seed, *FIT)

    def warm_up(self, compares: bool) -> None:
        """Import and compile what commands need, once for all that are forked."""
        with (self.directory / "log").open("w") as log, contextlib.redirect_stdout(log):
            child(["fit", str(self.corpus), "-o", str(self.directory / "warm"), *FIT], 0, "", 0)
            if compares:
                child(["compare", str(self.corpus), "-o", str(self.directory / "c"), *COMPARE, "-q", "-j1"], 0, "", 0)

    def model(self, seed: int) -> Path:
        """A model of the old texts."""
        return self.directory / f"model{seed}"

    def start(
        self, *words: Any, die: int | None = None, under: Path | None = None, limit: int | None = None
    ) -> Started:
        """Start a command; it kills itself at its operation ``die`` on files under a folder."""
        self.started += 1
        log = self.directory / f"log{self.started}"
        log.touch()
        told = [str(word) for word in words]
        sys.stdout.flush()
        if self.started % FRESH == 0:
            options = ["--die", str(die or 0), "--under", str(under or ""), "--limit", str(limit or 0)]
            with log.open("wb") as file:
                line = [sys.executable, __file__, "child", *options, "--", *told]
                process = subprocess.Popen(line, stdout=file, stderr=subprocess.STDOUT)
            return Started(process.pid, log)
        signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTS)
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGINT, leave)  # as the command has it from its first line on
            signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTS)
            with log.open("wb") as file:
                os.dup2(file.fileno(), 1)
                os.dup2(file.fileno(), 2)
            os._exit(child(told, die or 0, str(under or ""), limit or 0))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTS)
        return Started(pid, log)

    def fresh(self, *words: Any, closed: Iterable[int] = (), unread: bool = False) -> Started:
        """Start a command as people do, perhaps without some streams, or with a reader of its output that is gone."""
        self.started += 1
        log = self.directory / f"log{self.started}"
        line = [sys.executable, "-m", "diln", *map(str, words)]
        with log.open("wb") as file:
            out: Any = file
            if unread:
                gone, out = os.pipe()
                os.close(gone)
            process = subprocess.Popen(
                line, stdin=subprocess.DEVNULL, stdout=out, stderr=file,
                preexec_fn=partial(close_all, closed),
            )  # fmt: skip
            if unread:
                os.close(out)
        return Started(process.pid, log)

    def interrupted(self, number: int, life: float, *words: Any) -> Started:
        """A command that is sent this signal at any moment."""
        fresh = (self.started + 1) % FRESH == 0 or self.rng.random() < 4 / FRESH
        process = self.fresh(*words) if fresh else self.start(*words)
        time.sleep(self.rng.uniform(START if fresh else 0, life + (2 * START if fresh else 0)))
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, number)
        process.wait()
        return process

    def run(self, *words: Any, **options: Any) -> Started:
        """A command that nobody stops and that comes to a good end."""
        done = self.start(*words, **options)
        if done.wait() != 0:
            raise RuntimeError(f"{words}: {done.printed}")
        return done

    def operations(self, under: Path, *words: Any) -> tuple[int, float]:
        """How many operations on files a command has, and how long it takes."""
        begun = time.monotonic()
        done = self.run(*words, die=1 << 40, under=under)
        return int(done.printed.rpartition("operations: ")[2].split()[0]), time.monotonic() - begun

    def killed(self, under: Path, operations: int, life: float, *words: Any) -> tuple[str, Started]:
        """A command that was killed, and how; perhaps it was done before."""
        if self.rng.random() < 0.5:
            number = self.rng.randint(1, operations)
            process = self.start(*words, die=number, under=under)
            process.wait()
            return "at an operation", process
        process = self.start(*words)
        time.sleep(self.rng.uniform(0, life))
        process.kill()
        process.wait()
        return "at a moment", process


def close_all(streams: Iterable[int]) -> None:
    """Close these streams."""
    for stream in streams:
        os.close(stream)


def child(words: list[str], die: int, under: str, limit: int) -> int:
    """Be a command."""
    count = dying(die, under) if die else [0]
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    code = 0
    try:
        if words[0] == "save":
            save(*words[1:])
        else:
            sys.argv = ["diln", *words]
            command()
    except SystemExit as done:
        code = done.code if isinstance(done.code, int) else int(done.code is not None)
    except StoreError as error:
        print(f"error: {error}")
        code = 2
    except BaseException:
        import traceback

        traceback.print_exc()
        code = 70
    if die:
        print(f"operations: {count[0]}", flush=True)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    return code


def save(target: str, times: str, *models: str) -> None:
    """Save models in turn."""
    fitted = [Fitted.load(model) for model in models]
    for number in range(int(times)):
        fitted[number % len(fitted)].save(target)


def dying(number: int, under: str) -> list[int]:
    """Have this process killed at an operation of this number on files under a folder; returns the count so far."""
    count, to_disk = [0], os.fsync

    def counted() -> None:
        count[0] += 1
        if count[0] == number:
            os.kill(os.getpid(), signal.SIGKILL)

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event in WATCHED and isinstance(args[0], str | os.PathLike) and os.fspath(args[0]).startswith(under):
            counted()

    def sync(descriptor: int) -> None:
        counted()
        to_disk(descriptor)

    sys.addaudithook(hook)
    os.fsync = sync  # type: ignore[assignment]
    return count


def texts(rng: random.Random, documents: int) -> str:
    """Documents of a few themes, a line each."""
    words = ["".join(rng.choice("bdfgklmnprst") + rng.choice("aeiou") for _ in range(3)) for _ in range(60)]
    themes = [rng.sample(words, 12) for _ in range(4)]
    return "".join(f"{' '.join(rng.choice(rng.choice(themes)) for _ in range(25))}\n" for _ in range(documents))


# What is there


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def corpus_there(directory: Path) -> list[str] | None:
    """The texts of a corpus, every byte of which is checked."""
    return list(Corpus.open(directory, check=True).documents.texts) if (directory / MANIFEST).exists() else None


def model_there(directory: Path) -> Any:
    """What tells models apart, every byte of which is checked."""
    return of_model(read_model(directory)) if (directory / MANIFEST).exists() else None


def of_model(stored: StoredModel) -> Any:
    tensors = {name: (tensor.dtype.str, tensor.shape, tensor.tobytes()) for name, tensor in stored.tensors.items()}
    return timeless(stored.content), tensors, stored.vocabulary


def timeless(value: Any) -> Any:
    """JSON without what took how long."""
    if isinstance(value, dict):
        return {key: timeless(one) for key, one in value.items() if "second" not in key and "time" not in key}
    return [timeless(one) for one in value] if isinstance(value, list) else value


def files_of(directory: Path) -> set[str]:
    return {path.name.split("-", 1)[-1] for path in directory.iterdir()}


def comparison_there(directory: Path) -> Any:
    """What came of a comparison, as far as it has come; everything there must be whole."""
    if not (directory / MANIFEST).exists():
        return None
    found: dict[str, Any] = {}
    for path in sorted((directory / "runs").glob("*.json")):
        found[path.name] = timeless(json.loads(path.read_text()))
    for path in sorted((directory / "models").glob("*")):
        found[f"model of {path.name}"] = model_there(path)
    for path in directory.glob("*.json"):
        content = json.loads(path.read_text())
        found[path.name] = timeless(content) if path.name != MANIFEST else True
    return found


def left_over(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.rglob("*") if path.name.endswith((".new", ".begun")))


# Kills


@dataclass
class Tally:
    """What came of many cases."""

    seen: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def note(self, what: str) -> None:
        """Count a case of this."""
        self.seen[what] += 1

    def check(self, sound: bool, fault: str) -> None:
        """Count a fault if it is not sound."""
        if not sound:
            self.faults.append(fault)

    @contextlib.contextmanager
    def watched(self, where: str) -> Iterator[None]:
        """An exception is a fault, and the next case goes on."""
        try:
            yield
        except Exception as error:
            self.faults.append(f"{where}: {type(error).__name__}: {error}"[:600])

    def to_json(self) -> dict[str, Any]:
        """All of it."""
        return {"seen": dict(sorted(self.seen.items())), "faults": self.faults}


def kill_replacing(
    home: Home, times: int, words: list[Any], directory: Path, reset: Callable[[], None],
    there: Callable[[Path], Any], states: dict[str, Any],
) -> Tally:  # fmt: skip
    """Kill a command that replaces what is in a directory."""
    tally = Tally()
    reset()
    clean = files_of(directory)
    operations, life = home.operations(directory, *words)
    number = 0
    while number < times:
        with tally.watched(f"kill {number}"):
            reset()
            how, process = home.killed(directory, operations, life, *words)
            died = process.ended == -signal.SIGKILL
            number += died
            tally.note(f"killed {how}" if died else "done before")
            found = [name for name, state in states.items() if there(directory) == state]
            tally.check(bool(found), f"kill {number} {how}: neither old nor new is there")
            tally.note(f"found {found[0] if found else 'something else'}")
            reset()
            tally.check(files_of(directory) == clean, f"kill {number} {how}: left {files_of(directory) - clean}")
    return tally


def kill_build(home: Home, times: int) -> Tally:
    """Kill ``diln corpus build --force`` over a corpus."""
    directory, old, new = home.directory / "built", home.directory / "old.txt", home.directory / "new.txt"
    words = ["corpus", "build", new, "-o", directory, "-f", "-q", "-j1"]
    states = {"old": lines(old), "new": lines(new)}
    return kill_replacing(
        home, times, words, directory, lambda: void(build(old, directory, overwrite=True)), corpus_there, states
    )


def kill_append(home: Home, times: int) -> Tally:
    """Kill ``diln corpus append``."""
    directory, old, more = home.directory / "appended", home.directory / "old.txt", home.directory / "more.txt"
    words = ["corpus", "append", more, directory, "-q", "-j1"]
    states = {"old": lines(old), "new": lines(old) + lines(more)}
    return kill_replacing(
        home, times, words, directory, lambda: void(build(old, directory, overwrite=True)), corpus_there, states
    )


def kill_save(home: Home, times: int) -> Tally:
    """Kill a process that saves two models in turn over one another."""
    directory = home.directory / "saved"
    words = ["save", directory, SAVES, home.model(1), home.model(0)]
    states = {"old": model_there(home.model(0)), "new": model_there(home.model(1))}
    reset = Fitted.load(home.model(0))
    return kill_replacing(home, times, words, directory, lambda: reset.save(directory), model_there, states)


def void(_: object) -> None:
    """Forget it."""


def kill_going_on(
    home: Home, times: int, words: Callable[[Path], list[Any]], check: Callable[[Path, Tally], None],
    there: Callable[[Path], Any],
) -> Tally:  # fmt: skip
    """Kill a command that goes on where it was, some times in a row, and then leave it to come to its end."""
    tally, whole = Tally(), home.directory / "whole"
    operations, life = home.operations(whole, *words(whole))
    wanted, number = there(whole), 0
    while number < times:
        directory = home.directory / f"went{number}"
        for _ in range(min(TOGETHER, times - number)):
            with tally.watched(f"kill {number}"):
                how, process = home.killed(directory, operations, life, *words(directory))
                if process.ended == -signal.SIGKILL:
                    number += 1
                    tally.note(f"killed {how}")
                else:
                    tally.check(process.ended == 0, f"kill {number}: {process.printed[-300:]}")
                    tally.note("done before")
                    break
                check(directory, tally)
        with tally.watched(f"kill {number}"):
            home.run(*words(directory))
            tally.check(there(directory) == wanted, f"kill {number}: other bits in the end")
            tally.check(not left_over(directory), f"kill {number}: left {left_over(directory)}")
            tally.note("came to the end")
            for path in home.directory.glob(f"{directory.name}*"):
                shutil.rmtree(path)
    shutil.rmtree(whole)
    return tally


def kill_fit(home: Home, times: int) -> Tally:
    """Kill ``diln fit`` with a checkpoint after every sweep."""

    def words(directory: Path) -> list[Any]:
        return ["fit", home.corpus, "-o", directory, *FIT, "--checkpoint-every", "0", "--resume", "-f"]

    def check(directory: Path, tally: Tally) -> None:
        beside = directory.with_name(f"{directory.name}.checkpoint")
        at = len(read_model(beside, CHECKPOINT).content) and "a checkpoint" if (beside / MANIFEST).exists() else "none"
        tally.note(f"found {'a model' if model_there(directory) else at}")

    return kill_going_on(home, times, words, check, model_there)


def kill_compare(home: Home, times: int) -> Tally:
    """Kill ``diln compare``."""

    def words(directory: Path) -> list[Any]:
        return ["compare", home.corpus, "-o", directory, *COMPARE, "-q", "-j1"]

    def check(directory: Path, tally: Tally) -> None:
        runs = len(list((directory / "runs").glob("*.json"))) if comparison_there(directory) else 0
        tally.note(f"found {runs} runs")

    return kill_going_on(home, times, words, check, comparison_there)


# Races


def race(home: Home, pairs: int, words: Callable[[Path, int], list[Any]], there: Callable[[Path], Any],
         states: list[Any], *, replaces: bool) -> Tally:  # fmt: skip
    """Two commands into one directory, some time apart."""
    tally, lone = Tally(), home.directory / "lone"
    begun = time.monotonic()
    home.run(*words(lone, 0))
    life = time.monotonic() - begun
    shutil.rmtree(lone)
    for number in range(pairs):
        directory = home.directory / f"raced{number}"
        with tally.watched(f"pair {number}"):
            first = home.start(*words(directory, 0))
            time.sleep(home.rng.uniform(0, 1.2 * life) if home.rng.random() < 0.7 else 0.0)
            second = home.start(*words(directory, 1))
            codes = [first.wait(), second.wait()]
            found = there(directory)
            won = [one for one, code in enumerate(codes) if code == 0]
            tally.note(f"exit codes {codes[0]} and {codes[1]}")
            allowed = (1, 2) if replaces else (1,)
            tally.check(len(won) in allowed, f"pair {number}: {codes} {first.printed} {second.printed}")
            tally.check(any(found == states[one] for one in won), f"pair {number}: the winner's is not there")
            for one, process in enumerate((first, second)):
                if codes[one]:
                    told(process, tally, f"pair {number}")
                    tally.note(f"told: {process.printed.strip().rpartition(': ')[2]}")
        shutil.rmtree(directory, ignore_errors=True)
    return tally


def told(process: Started, tally: Tally, where: str) -> None:
    """A command that failed must have said so in one sentence."""
    errors = [line for line in process.printed.splitlines() if line.startswith("error: ")]
    sound = process.ended in (1, 2) and len(errors) == 1 and "Traceback" not in process.printed
    tally.check(sound, f"{where}: exit {process.ended}, printed {process.printed[-600:]}")


def race_fit(home: Home, pairs: int) -> Tally:
    """Two fits."""
    states = [model_there(home.model(seed)) for seed in (0, 1)]
    return race(
        home, pairs, lambda directory, seed: ["fit", home.corpus, "-o", directory, "--seed", seed, *FIT], model_there,
        states, replaces=False,
    )  # fmt: skip


def race_build(home: Home, pairs: int) -> Tally:
    """Two corpora."""
    sources = [home.directory / "old.txt", home.directory / "new.txt"]
    return race(
        home, pairs, lambda directory, one: ["corpus", "build", sources[one], "-o", directory, "-q", "-j1"],
        corpus_there, [lines(source) for source in sources], replaces=False,
    )  # fmt: skip


def race_save(home: Home, pairs: int) -> Tally:
    """Two processes that save; the later may replace what the earlier has saved."""
    states = [model_there(home.model(seed)) for seed in (0, 1)]
    return race(
        home, pairs, lambda directory, seed: ["save", directory, 3, home.model(seed)], model_there, states,
        replaces=True,
    )  # fmt: skip


# No room


class Disk:
    """A small disk, or where there can be none a limit on the size of files."""

    def __init__(self, home: Home, size: int = 4 << 20) -> None:
        self.home, self.path, self.size = home, home.directory / "disk", size
        self.path.mkdir()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(self.path)], capture_output=True, check=False
        )
        self.mounted = done.returncode == 0

    def start(self, room: int, *words: Any) -> Started:
        """Start a command for which there is so much room, and no more."""
        if not self.mounted:
            return self.home.start(*words, limit=max(1, room))
        free = shutil.disk_usage(self.path).free
        with (self.path / "ballast").open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, max(1, free - room))
        return self.home.start(*words)

    def lighten(self) -> None:
        """Have all the room again."""
        (self.path / "ballast").unlink(missing_ok=True)

    def empty(self) -> None:
        """Remove all that is there."""
        for path in self.path.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def used(self) -> int:
        """Bytes in use."""
        return shutil.disk_usage(self.path).used if self.mounted else sum(
            path.stat().st_size for path in self.path.rglob("*") if path.is_file()
        )  # fmt: skip

    def close(self) -> None:
        """Give it back."""
        if self.mounted:
            subprocess.run(["umount", str(self.path)], check=True)


@dataclass
class Filling:
    """A command that writes to the disk, and what is there of it."""

    words: list[Any]
    reset: Callable[[], object]
    there: Callable[[], Any]


def fill(home: Home, disk: Disk, moments: int, filling: Filling, *, goes_on: bool = False) -> Tally:
    """Give a command too little room."""
    tally = Tally()
    disk.empty()
    filling.reset()
    old = filling.there()
    home.run(*filling.words)
    new, need = filling.there(), disk.used() * 3 // 2
    for number in range(moments):
        with tally.watched(f"moment {number}"):
            filling.reset()
            process = disk.start(home.rng.randrange(0, need), *filling.words)
            code = process.wait()
            disk.lighten()
            found = filling.there()
            tally.note("there was room" if code == 0 else "no room")
            if code:
                told(process, tally, f"moment {number}")
                tally.note(f"told: {reason(process.printed)}")
            part = goes_on and code != 0
            tally.check(part or found == (old if code else new), f"moment {number}: exit {code}, and lost")
            if goes_on:
                home.run(*filling.words)
                tally.check(filling.there() == new, f"moment {number}: other bits in the end")
    return tally


def reason(printed: str) -> str:
    """What an error says, without its path."""
    line = next((line for line in printed.splitlines() if line.startswith("error: ")), "nothing")
    return line.removeprefix("error: ").partition(": ")[2].partition(";")[0]


def full(home: Home, moments: int, only: str | None) -> dict[str, Tally]:
    """All commands that write, on a disk without room."""
    disk, old, new = Disk(home), home.directory / "old.txt", home.directory / "new.txt"
    at = {name: disk.path / name for name in ("corpus", "model", "table.csv", "comparison")}
    kept = Fitted.load(home.model(0))

    def corpus() -> Any:
        return corpus_there(at["corpus"])

    quiet = ("-q", "-j1")
    ways = {
        "corpus build": Filling(
            ["corpus", "build", new, "-o", at["corpus"], "-f", *quiet],
            lambda: build(old, at["corpus"], overwrite=True), corpus,
        ),
        "append": Filling(
            ["corpus", "append", home.directory / "more.txt", at["corpus"], *quiet],
            lambda: build(old, at["corpus"], overwrite=True), corpus,
        ),
        "fit": Filling(
            ["fit", home.corpus, "-o", at["model"], "--seed", 1, "-f", *FIT],
            lambda: kept.save(at["model"]), lambda: model_there(at["model"]),
        ),
        "save": Filling(
            ["save", at["model"], 1, home.model(1)],
            lambda: kept.save(at["model"]), lambda: model_there(at["model"]),
        ),
        "transform": Filling(
            ["transform", home.model(0), home.corpus, "-o", at["table.csv"]],
            lambda: at["table.csv"].write_text("an old table"), at["table.csv"].read_bytes,
        ),
        "compare": Filling(
            ["compare", home.corpus, "-o", at["comparison"], *COMPARE, *quiet], disk.empty,
            lambda: comparison_there(at["comparison"]),
        ),
    }  # fmt: skip
    try:
        return {
            name: fill(home, disk, moments, way, goes_on=name == "compare")
            for name, way in ways.items() if only in (None, name)
        }  # fmt: skip
    finally:
        disk.close()


# Interrupts


def interrupt(
    home: Home, times: int, words: list[Any], reset: Callable[[], object], there: Callable[[], Any],
    *, between: bool = False,
) -> Tally:  # fmt: skip
    """Interrupt a command that writes into the folder ``interrupted``; ``between`` old and new there may be others."""
    tally, place = Tally(), home.directory / "interrupted"

    def begin() -> None:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        reset()

    begin()
    old, clean = there(), names(place)
    begun = time.monotonic()
    home.run(*words)
    life, new = time.monotonic() - begun, there()
    allowed = clean | names(place)
    for case in range(times):
        with tally.watched(f"interrupt {case}"):
            begin()
            number = home.rng.choice(INTERRUPTS)
            process = home.interrupted(number, life, *words)
            codes = (0, 128 + number, -number)  # the last where Python itself had not begun
            tally.note("done before" if process.ended == 0 else "interrupted")
            tally.check(process.ended in codes, f"interrupt {case}: exit {process.ended} {process.printed[-300:]}")
            ours = ", in main\n" in process.printed  # else Python itself was starting, and says what it likes
            tally.check(not ("Traceback" in process.printed and ours), f"interrupt {case}: {process.printed[-600:]}")
            found = there()
            which = "old" if found == old else "new" if found == new else "something between"
            tally.note(f"found {which}")
            sound = which == "new" if process.ended == 0 else between or which != "something between"
            tally.check(sound, f"interrupt {case}: exit {process.ended}, found {which}")
            left = {name for name in names(place) - allowed if not name.startswith("model.checkpoint")}
            tally.check(not left, f"interrupt {case}: left {left}")
    shutil.rmtree(place)
    return tally


def names(place: Path) -> set[str]:
    """What is in a folder, where generations of parts count as one."""
    return {re.sub(r"[0-9a-f]{8,}", "*", path.relative_to(place).as_posix()) for path in place.rglob("*")}


def interrupt_build(home: Home, times: int) -> Tally:
    """Interrupt ``diln corpus build --force`` over a corpus."""
    directory = home.directory / "interrupted" / "corpus"
    words = ["corpus", "build", home.directory / "new.txt", "-o", directory, "-f", "-q", "-j1"]
    return interrupt(
        home, times, words, lambda: build(home.directory / "old.txt", directory), lambda: corpus_there(directory)
    )


def interrupt_append(home: Home, times: int) -> Tally:
    """Interrupt ``diln corpus append``."""
    directory = home.directory / "interrupted" / "corpus"
    words = ["corpus", "append", home.directory / "more.txt", directory, "-q", "-j1"]
    return interrupt(
        home, times, words, lambda: build(home.directory / "old.txt", directory), lambda: corpus_there(directory)
    )


def interrupt_fit(home: Home, times: int) -> Tally:
    """Interrupt ``diln fit --force`` over a model; once it has swept, it writes the model as it is then."""
    directory, kept = home.directory / "interrupted" / "model", Fitted.load(home.model(0))
    words = ["fit", home.corpus, "-o", directory, "--seed", 1, "-f", *FIT]
    return interrupt(home, times, words, lambda: kept.save(directory), lambda: model_there(directory), between=True)


def interrupt_transform(home: Home, times: int) -> Tally:
    """Interrupt ``diln transform`` over a table."""
    table = home.directory / "interrupted" / "table.csv"
    words = ["transform", home.model(0), home.corpus, "-o", table, "-q"]
    return interrupt(home, times, words, lambda: table.write_text("an old table"), table.read_bytes)


def interrupt_compare(home: Home, times: int) -> Tally:
    """Interrupt ``diln compare``; what runs have found by then stays."""
    directory = home.directory / "interrupted" / "comparison"
    words = ["compare", home.corpus, "-o", directory, *COMPARE, "-q", "-j1"]
    return interrupt(home, times, words, lambda: None, lambda: comparison_there(directory), between=True)


# Streams


def closed(home: Home, times: int) -> Tally:
    """Commands without standard streams, or with output that nobody reads."""
    tally, table = Tally(), home.directory / "closed.csv"
    model, corpus = home.model(0), home.corpus
    printing: list[list[Any]] = [
        ["topics", model], ["topics", model, "--json"], ["themes", model], ["info", model], ["corpus", "info", corpus],
        ["correlations", model, "--all"], ["documents", model, "--topic", "0"], ["--help"], ["fit", "--help"],
    ]  # fmt: skip
    writing: list[Any] = ["transform", model, corpus, "-o", table]
    home.run(*writing)
    wanted = table.read_bytes()
    for case in range(times):
        with tally.watched(f"closed {case}"):
            streams = [one for one in (0, 1, 2) if home.rng.random() < 0.5]
            unread = home.rng.random() < 0.3
            words = writing if home.rng.random() < 0.4 else home.rng.choice(printing)
            table.unlink(missing_ok=True)
            process = home.fresh(*words, closed=streams, unread=unread)
            code = process.wait()
            tally.note(f"{words[0]}: exit {code}")
            where = f"closed {case}: {words} without {streams}{' unread' * unread}"
            tally.check(code == 0, f"{where}: exit {code}")
            tally.check("Traceback" not in process.printed, f"{where}: {process.printed[-600:]}")
            if words is writing:
                tally.check(table.exists() and table.read_bytes() == wanted, f"{where}: the table is not sound")
    return tally


# All of it

Ways = dict[str, Callable[[Home, int], Tally]]

KILLS: Ways = {
    "corpus build": kill_build,
    "append": kill_append,
    "fit": kill_fit,
    "compare": kill_compare,
    "save": kill_save,
}
RACES: Ways = {"fit": race_fit, "corpus build": race_build, "save": race_save}
INTERRUPTED: Ways = {
    "corpus build": interrupt_build,
    "append": interrupt_append,
    "fit": interrupt_fit,
    "transform": interrupt_transform,
    "compare": interrupt_compare,
}
WAYS: dict[str, Ways] = {
    "kill": KILLS, "race": RACES, "full": {}, "interrupt": INTERRUPTED, "closed": {"streams": closed},
}  # fmt: skip
TIMES = {"kill": 100, "race": 20, "full": 50, "interrupt": 40, "closed": 40}


def show(name: str, tally: Tally) -> None:
    seen = "; ".join(f"{what}: {number}" for what, number in sorted(tally.seen.items()))
    print(f"{name:22} faults: {len(tally.faults)}   {seen}", flush=True)
    for fault in tally.faults:
        print(f"{'':22} {fault}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", metavar="|".join(WAYS), help="Default: all.")
    parser.add_argument("--times", type=int, help="cases of each command, in place of its usual number")
    parser.add_argument("--only", help="one command alone")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    found: dict[str, dict[str, Any]] = {}
    for what in args.what or list(WAYS):
        with tempfile.TemporaryDirectory(prefix="torture-") as folder:
            home = Home(Path(folder), random.Random(args.seed), compares=args.only in (None, "compare"))
            begun = time.monotonic()
            tallies: dict[str, Tally] = {}
            for name, way in WAYS[what].items():
                if args.only in (None, name):
                    tallies[name] = way(home, args.times or TIMES[what])
                    show(f"{what} {name}", tallies[name])
            if what == "full":
                tallies = full(home, args.times or TIMES[what], args.only)
                for name, tally in tallies.items():
                    show(f"{what} {name}", tally)
            found[what] = {name: tally.to_json() for name, tally in tallies.items()}
            print(f"{what}: {time.monotonic() - begun:,.0f} s", flush=True)
    if args.out:
        about = {
            "seed": args.seed, "machine": platform.platform(), "python": platform.python_version(),
            "diln": version("diln"),
        }  # fmt: skip
        args.out.write_text(json.dumps({**about, **found}, indent=1) + "\n")
    sys.exit(any(one["faults"] for each in found.values() for one in each.values()))


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        parser = argparse.ArgumentParser()
        parser.add_argument("--die", type=int)
        parser.add_argument("--under")
        parser.add_argument("--limit", type=int)
        parser.add_argument("words", nargs="+")
        line = parser.parse_args(sys.argv[2:])
        sys.exit(child(line.words, line.die, line.under, line.limit))
    main()
