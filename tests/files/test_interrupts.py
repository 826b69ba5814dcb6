"""An interrupt at any step of making something on disk, or of cleaning it up, leaves nothing half made."""

import contextlib
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import weakref
from pathlib import Path
from types import SimpleNamespace

import pytest

import diln
from diln.analysis import edit_files
from diln.cli import watching
from diln.cli.interrupts import StopSign, terminable
from diln.cli.table_files import write_table
from diln.cli.table_formats import Column
from diln.corpus import Corpus
from diln.corpus.readers import many, open_source
from diln.errors import StoreError
from diln.files import (
    guarded,
    interrupts,
    locked,
    read_manifest,
    remove,
    temporary_folder,
    uninterrupted,
    whole,
    writing,
)
from diln.files import write_whole as write
from diln.models.disk import scratch_folder
from diln.models.files import MODEL
from diln.show.explorer.record import Record
from diln.show.explorer.search import store

MANIFEST = {"format": MODEL.format, "schema": MODEL.schema, "versions": {}, "files": {}}
COUNTED = (str(Path(diln.__file__).parent), contextlib.__file__, tempfile.__file__, weakref.__file__)
SWALLOWED = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(autouse=True)
def interruptible():
    """Ctrl-C raises KeyboardInterrupt, as it does outside of test runners."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


class Steps:
    """Counts the places where Python calls handlers, and sends a signal at one of them.

    These are the beginning of every function and the end of every call of a compiled one; ``finely``, every instruction
    of the guard itself.
    """

    def __init__(self, at: int, number: int = signal.SIGINT, *, finely: bool = False) -> None:
        self.at, self.number, self.finely, self.count = at, number, finely, 0

    def __enter__(self):
        if self.finely:
            sys.settrace(self._traced)
        else:
            sys.setprofile(self._profiled)
        return self

    def __exit__(self, *error):
        sys.setprofile(None)
        sys.settrace(None)

    @property
    def sent(self) -> bool:
        return self.count >= self.at

    def _profiled(self, frame, event, arg):
        file = frame.f_code.co_filename
        if event in ("call", "c_return") and file.startswith(COUNTED) and file != __file__:
            self._step()

    def _traced(self, frame, event, arg):
        if frame.f_code.co_filename not in (interrupts.__file__, contextlib.__file__):
            return None
        frame.f_trace_opcodes = True
        self._step()
        return self._traced

    def _step(self) -> None:
        self.count += 1
        if self.count == self.at:
            signal.raise_signal(self.number)


def interrupted_at_each_step(
    run, check, prepare=lambda: None, number=signal.SIGINT, *, finely=False, exact=True
) -> int:
    """Do it again and again, with a signal at the first step, at the second, and so on, until there is no such step.

    Each time, KeyboardInterrupt must be raised if the signal was sent, and what there is then must pass the check. It
    is not ``exact`` where Python itself swallows one: in what it calls when an object goes.
    """
    at = 0
    while True:
        at += 1
        prepare()
        raised, steps = False, Steps(at, number, finely=finely)
        try:
            with steps:
                run()
        except KeyboardInterrupt:
            raised = True
        assert raised == steps.sent or not (exact or raised), f"step {at}"
        check(raised)
        if not steps.sent:
            return at


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").exists() else 0


@pytest.fixture
def temporary(tmp_path, monkeypatch) -> Path:
    """Where temporary files are made."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture(autouse=True)
def swift(monkeypatch):
    """Wait for no disk."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


def test_a_guarded_context_is_left_whole_or_never_entered():
    made = []

    @guarded
    def making():
        made.append("made")
        try:
            yield made
        finally:
            made.remove("made")

    def run():
        with making() as here:
            assert here == ["made"]

    def check(raised):
        assert made == []

    assert interrupted_at_each_step(run, check, finely=True) > 100


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("old", [None, "old"])
def test_a_file_is_the_old_one_or_the_new_one(old, number, tmp_path):
    path = tmp_path / "table.csv"

    def prepare():
        path.unlink(missing_ok=True)
        if old is not None:
            path.write_text(old)

    def run():
        with whole(path) as file:
            file.write(b"new")

    before = descriptors()
    states = set()

    def check(raised):
        here = {other.name: other.read_text() for other in tmp_path.iterdir()}
        assert here in ({"table.csv": "new"}, {} if old is None else {"table.csv": old})
        assert raised or here == {"table.csv": "new"}
        assert descriptors() == before
        states.add(here.get("table.csv"))

    with terminable() as came:
        steps = interrupted_at_each_step(run, check, prepare, number)
    assert steps > 50
    assert len(came) == (steps - 1 if number == signal.SIGTERM else 0)
    assert states == {old, "new"}


def test_sigterm_has_its_own_exit_code_also_where_there_is_nothing_to_clean_up():
    told = "from diln.cli.interrupts import leave, terminable; import signal; signal.signal(signal.SIGINT, leave)"
    code = f"{told}\nwith terminable(): signal.raise_signal(signal.SIGTERM)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 128 + signal.SIGTERM


def test_an_interrupt_while_a_file_is_brought_to_the_disk_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    path.write_text("old")
    monkeypatch.setattr(os, "fsync", lambda descriptor: signal.raise_signal(signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        write(path, "new")
    assert [(other.name, other.read_text()) for other in tmp_path.iterdir()] == [("table.csv", "old")]


def test_a_second_interrupt_during_the_clean_up_leaves_nothing(tmp_path, temporary):
    """The first comes within the context, the second at each step from there."""
    contexts = {
        "file": lambda: whole(tmp_path / "table.csv"),
        "directory": lambda: writing(tmp_path / "a" / "model", MODEL, "new"),
        "scratch": lambda: scratch_folder(None),
        "temporary": temporary_folder,
        "lock": lambda: locked(temporary),
    }
    for name, context in contexts.items():
        at = 0
        while True:
            at += 1
            steps, said = Steps(at), False
            try:
                with context():
                    steps.__enter__()
                    raise KeyboardInterrupt("the first")
            except KeyboardInterrupt as interrupt:
                steps.__exit__()
                said = str(interrupt) == "the first"
            assert said == (not steps.sent), f"{name}, step {at}"
            if name == "lock":
                with locked(temporary):
                    pass
                (temporary / ".lock").unlink()
            assert [path.name for path in tmp_path.rglob("*")] == ["temporary"], f"{name}, step {at}"
            if not steps.sent:
                break
        assert at > 5, name


def test_a_lock_is_held_or_free(tmp_path):
    before = descriptors()

    def run():
        with locked(tmp_path):
            pass

    def check(raised):
        assert descriptors() == before
        with locked(tmp_path):
            pass

    assert interrupted_at_each_step(run, check) > 20


@pytest.mark.parametrize("there", [False, True])
def test_a_directory_is_the_old_one_or_the_new_one(there, tmp_path):
    home = tmp_path / "a" / "model"

    def prepare():
        shutil.rmtree(tmp_path / "a", ignore_errors=True)
        if there:
            with writing(home, MODEL, "new") as held:
                held.commit({**MANIFEST, "content": "old"})

    def run():
        with writing(home, MODEL, "replace") as held:
            (home / "g0001-terms.json").write_text("[]")
            held.commit({**MANIFEST, "content": "new"})

    def check(raised):
        try:
            content = read_manifest(home, MODEL)["content"]
        except StoreError:
            assert raised and not there and not (tmp_path / "a").exists()
            return
        assert content == "new" or (raised and there and content == "old")
        assert {path.name for path in home.iterdir()} <= {".lock", "manifest.json"}
        with locked(home):
            pass

    assert interrupted_at_each_step(run, check, prepare) > 200


def test_a_directory_is_removed_or_all_there(tmp_path):
    home = tmp_path / "model"

    def prepare():
        with writing(home, MODEL, "replace") as held:
            held.commit({**MANIFEST, "content": "old"})

    def check(raised):
        assert not home.exists() or (raised and read_manifest(home, MODEL)["content"] == "old")

    assert interrupted_at_each_step(lambda: remove(home, MODEL), check, prepare) > 100


@pytest.mark.parametrize("context", [temporary_folder, lambda: scratch_folder(None)])
def test_no_temporary_folder_stays(context, temporary):
    def run():
        with context() as folder:
            (folder / "0.tokens").write_text("x")

    def check(raised):
        assert not list(temporary.iterdir())

    assert interrupted_at_each_step(run, check) > 50


@SWALLOWED
def test_nothing_stays_of_a_stream_that_was_kept(temporary, monkeypatch):
    def run():
        data = io.BytesIO(b'{"text": "some words"}\n')
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=data, closed=False))
        source = open_source("-", format="jsonl", text="text")
        try:
            assert len(list(source.blocks())) == 1
        finally:
            source.close()

    def check(raised):
        assert not list(temporary.iterdir())

    assert interrupted_at_each_step(run, check, exact=False) > 50


@SWALLOWED
def test_nothing_stays_of_files_from_elsewhere(temporary, monkeypatch):
    class Remote:
        url = "memory://"

        def fetch(self, file, folder, step=None, stop=None):
            (folder / file.url).write_text(file.url)
            return folder / file.url

    files = [SimpleNamespace(url=name, size=1) for name in "abc"]

    def run():
        each = many.NextRemote(Remote(), files).each()
        try:
            assert [path.read_text() for path in each] == ["a", "b", "c"]
        finally:
            each.close()

    def check(raised):
        assert not list(temporary.iterdir())

    assert interrupted_at_each_step(run, check, exact=False) > 50
    monkeypatch.setattr(many, "Remote", lambda url: Remote())

    def one():
        with many.FileAt(None, "memory://", files[0]).opened(lambda path: path.read_text()) as text:
            assert text == "a"

    assert interrupted_at_each_step(one, check) > 50


@SWALLOWED
def test_nothing_stays_of_a_sheet_that_was_not_written(tmp_path, temporary):
    def run():
        write_table(tmp_path / "table.xlsx", [Column("word", "text")], [[["a", "b"]]])

    def check(raised):
        assert not list(temporary.iterdir())
        assert {path.name for path in tmp_path.iterdir()} <= {"temporary", "table.xlsx"}

    run()
    at = steps = 0
    while at == 0 or steps.sent:  # XlsxWriter takes thousands of steps, most of them within both contexts
        at += 97
        raised, steps = False, Steps(at)
        try:
            with steps:
                run()
        except KeyboardInterrupt:
            raised = True
        check(raised)


def test_a_search_file_is_whole_or_not_there(tmp_path):
    (tmp_path / "texts.txt").write_text("some words\nother words\n")
    corpus = Corpus.read(tmp_path / "texts.txt", min_df=1)
    (tmp_path / "texts.txt").unlink()
    path = tmp_path / store.FILE

    def run():
        store.build(path, corpus, "digest", lambda progress: True)

    def check(raised):
        assert [other.name for other in tmp_path.iterdir()] == ([path.name] if path.exists() else [])
        if path.exists():
            store.connect(path, "digest", 2).close()
            path.unlink()
        else:
            assert raised

    assert interrupted_at_each_step(run, check) > 100


def test_no_record_of_a_fit_stays(tmp_path, monkeypatch):
    ended = []
    page = SimpleNamespace(end=lambda: ended.append("ended"))
    monkeypatch.setattr(watching, "Beside", lambda record, model: page)

    def run():
        with watching.watched(tmp_path / "model", wanted=True):
            pass

    def check(raised):
        assert not list(tmp_path.iterdir())

    assert Record is not None
    assert interrupted_at_each_step(run, check) > 20


def test_the_folder_of_edits_is_free_again(tmp_path, monkeypatch):
    monkeypatch.setattr(edit_files, "PAUSE", 0.0)

    def run():
        with edit_files._alone(tmp_path):
            pass

    def check(raised):
        with locked(tmp_path):
            pass

    assert interrupted_at_each_step(run, check) > 20


def test_waiting_for_another_writer_can_be_interrupted(tmp_path, monkeypatch):
    monkeypatch.setattr(edit_files.time, "sleep", lambda seconds: signal.raise_signal(signal.SIGINT))
    with locked(tmp_path), pytest.raises(KeyboardInterrupt), edit_files._alone(tmp_path):
        pytest.fail("it was taken")


def test_what_is_done_within_a_guard_can_be_interrupted(tmp_path):
    done = []
    with pytest.raises(KeyboardInterrupt), whole(tmp_path / "table.csv"):
        signal.raise_signal(signal.SIGINT)
        done.append("after")
    assert (done, list(tmp_path.iterdir())) == ([], [])


def test_what_is_uninterrupted_is_done_to_the_end():
    done = []
    with pytest.raises(KeyboardInterrupt), uninterrupted():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        done.append("after")
    assert done == ["after"]


def test_a_handler_that_raises_nothing_is_told_all_the_same(tmp_path):
    """The first Ctrl-C of a fit ends it after the sweep under way, wherever it comes; the second abandons it."""
    with StopSign() as stop:
        stop.arm()
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            assert not stop()
        assert stop()
        with pytest.raises(KeyboardInterrupt):
            write_interrupted(tmp_path)
    assert list(tmp_path.iterdir()) == []


def write_interrupted(folder: Path) -> None:
    with whole(folder / "table.csv"):
        signal.raise_signal(signal.SIGINT)


def test_threads_are_not_held_up_and_hold_nothing_up(tmp_path):
    """Python interrupts the main thread only, so a guard in another one keeps nothing from it."""
    entered, go_on = threading.Event(), threading.Event()

    def work():
        with uninterrupted():
            entered.set()
            go_on.wait()

    thread = threading.Thread(target=work)
    thread.start()
    entered.wait()
    try:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    finally:
        go_on.set()
        thread.join()


def test_temporary_files_are_made_in_guarded_folders_only():
    root = Path(diln.__file__).parent
    makers = re.compile(r"\b(mkstemp|mkdtemp|TemporaryDirectory|(Named|Spooled)?TemporaryFile)\(")
    users = [path.relative_to(root).as_posix() for path in root.rglob("*.py") if makers.search(path.read_text())]
    assert users == ["files/temporary.py"]
