"""One file at a time: whole or as it was, through no link, and of a dead process nothing is left."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from diln.errors import StoreError
from diln.files import create, make_folder, touch, whole, write_parts, write_whole
from diln.show import style

NO_ROOM = "there is no room left on the disk; make room or name another place"


@pytest.fixture
def victim(tmp_path) -> Path:
    """A file of somebody else, that a link may point to."""
    path = tmp_path / "elsewhere" / "victim.txt"
    path.parent.mkdir()
    path.write_text("years of work")
    return path


@pytest.fixture
def home(tmp_path) -> Path:
    path = tmp_path / "home"
    path.mkdir()
    return path


def test_no_file_is_created_where_a_link_or_a_file_is(home, victim):
    (home / "link").symlink_to(victim)
    (home / "dangling").symlink_to(victim.with_name("new.txt"))
    (home / "file").write_text("mine")
    for name in ("link", "dangling", "file"):
        for write in (create, lambda path: write_parts(path, b"x")):
            with pytest.raises(StoreError, match=f"{name}: cannot be written \\(File exists\\)"):
                write(home / name)
    with pytest.raises(StoreError, match="cannot be written"):
        touch(home / "link")
    assert [path.name for path in victim.parent.iterdir()] == ["victim.txt"]
    assert (victim.read_text(), (home / "file").read_text()) == ("years of work", "mine")


def test_a_link_is_replaced_and_not_followed(home, victim):
    (home / "table.csv").symlink_to(victim)
    write_whole(home / "table.csv", "new")
    assert not (home / "table.csv").is_symlink()
    assert ((home / "table.csv").read_text(), victim.read_text()) == ("new", "years of work")


def test_nobody_can_guess_the_name_of_a_fresh_copy(home):
    names = set()
    for _ in range(3):
        with whole(home / "table.csv"):
            names |= {path.name for path in home.iterdir()} - {"table.csv"}
    assert len(names) == 3


def test_a_name_as_long_as_can_be_is_written(home):
    path = home / ("ä" * 125 + ".csv")
    write_whole(path, "new")
    assert [other.name for other in home.iterdir()] == [path.name]


def test_a_folder_that_is_a_link_is_refused(home, victim):
    (home / "figures").symlink_to(victim.parent, target_is_directory=True)
    with pytest.raises(StoreError, match="is a symbolic link, and diln follows none"):
        make_folder(home / "figures")
    with pytest.raises(StoreError, match="is a symbolic link"), style.style():
        style.save(style.new_figure(1)[0], home / "figures", "table")
    assert len(list(victim.parent.iterdir())) == 1


DYING = """
import os, signal, sys
from pathlib import Path
from diln.files import whole
with whole(Path(sys.argv[1])) as file:
    file.write(b"half of")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_dead_process_left_is_swept_and_what_a_living_one_writes_is_not(home):
    others = [".table.csv.new", ".table.csv.0123.new", ".other.csv.0123456789abcdef.new", "table.csv.new"]
    for name in others:
        (home / name).write_text("mine")
    died = subprocess.run([sys.executable, "-c", DYING, home / "table.csv"], check=False)
    assert died.returncode == -signal.SIGKILL
    assert len(list(home.iterdir())) == len(others) + 1
    with whole(home / "table.csv") as slow:
        slow.write(b"slow")
        write_whole(home / "table.csv", "quick")
        assert (home / "table.csv").read_text() == "quick"
    assert (home / "table.csv").read_text() == "slow"
    assert {path.name for path in home.iterdir()} == {"table.csv", *others}


def test_a_full_disk_is_told_in_a_sentence_and_nothing_is_left(home):
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    with pytest.raises(StoreError, match=NO_ROOM), whole(home / "table.csv") as file:
        os.dup2(os.open("/dev/full", os.O_WRONLY), file.fileno())
        file.write(bytes(1 << 21))
    with pytest.raises(StoreError, match=NO_ROOM), create(home / "part") as file:
        os.dup2(os.open("/dev/full", os.O_WRONLY), file.fileno())
        file.write(b"little")
    assert [path.name for path in home.iterdir()] == ["part"]


def test_what_goes_wrong_while_a_file_is_written_keeps_its_own_name(home):
    with pytest.raises(FileNotFoundError, match="source"), whole(home / "table.csv"):
        raise FileNotFoundError(errno.ENOENT, "no such source")
    assert list(home.iterdir()) == []
