"""A folder for a case, canaries beside it, and an eye on what is opened outside."""

import os
import shutil
import sys
from pathlib import Path
from typing import Any

from diln.corpus.patterns import SCRIPT

SOUND = (sys.prefix, sys.base_prefix, "/usr", "/lib", "/proc", "/sys", "/dev", str(Path(__file__).parents[1]))
CHANGING = {
    "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod", "os.chown",
    "shutil.rmtree", "shutil.move",
}  # fmt: skip
WHOLE = {"os.truncate", "shutil.rmtree", "shutil.move"}  # which are told no folder that a path is relative to
NEVER = {"pickle.find_class", "os.system", "os.exec", "subprocess.Popen", "socket.connect"}
VICTIMS = ("victim.txt", "deep/victim.txt")
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Box:
    """The folder that a case may touch, and what lies beside it and must stay as it is."""

    def __init__(self, root: Path) -> None:
        self.root, self.case, self.beside = root, root / "case", root / "beside"
        self.case.mkdir(parents=True)
        (self.beside / "deep").mkdir(parents=True)
        for name in VICTIMS:
            (self.beside / name).write_text("untouched\n", encoding="utf-8")
        self.sound = self._seen()

    def empty(self) -> None:
        """Remove all that a case has left."""
        with os.scandir(self.case) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    Path(entry.path).unlink()

    def _seen(self) -> list[object]:
        folders = (self.root, self.beside, self.beside / "deep")
        listed = [sorted(path.name for path in folder.iterdir()) for folder in folders]
        known = [(self.beside / name).stat() for name in VICTIMS]
        return [*listed, *((one.st_size, one.st_mtime_ns, one.st_ino, one.st_mode) for one in known)]

    def untouched(self) -> bool:
        """Whether all beside the case's folder is as it was."""
        try:
            return self._seen() == self.sound
        except OSError:
            return False


class Eye:
    """Sees files that Python opens, changes or removes outside a folder, and code that data would have run."""

    def __init__(self, inside: Path) -> None:
        self.inside, self.open, self.seen = f"{inside}/", False, list[str]()
        sys.addaudithook(self._hook)

    def _hook(self, event: str, args: tuple[Any, ...]) -> None:
        if not self.open:
            return
        if event == "open":
            path, _, flags = args
            self._look(event, path, bool(isinstance(flags, int) and flags & WRITES))
        elif event in CHANGING:
            self._look(event, args[0] if event in WHOLE else _at(args[0], args[-1]), True)
        elif event in NEVER and not _of_numba() and not (event == "subprocess.Popen" and _finds_tokens(args[1])):
            self.seen.append(f"{event} {args[:2]}"[:200])

    def _look(self, event: str, path: Any, writes: bool) -> None:
        if not isinstance(path, str | bytes | os.PathLike):
            return
        self.open = False  # realpath is not to be seen
        real = os.path.realpath(os.fsdecode(path))
        self.open = True
        if f"{real}/".startswith(self.inside) or real == "/dev/null" or "__pycache__" in real:
            return
        if writes or not real.startswith(SOUND):
            self.seen.append(f"{event} {real}")


def _at(path: Any, folder: Any) -> Any:
    """The path, where it is told relative to an open folder."""
    return f"/proc/self/fd/{folder}/{os.fsdecode(path)}" if isinstance(folder, int) and folder >= 0 else path


def _finds_tokens(command: Any) -> bool:
    """Whether a command is diln's own process for regular expressions."""
    return isinstance(command, list) and command[-1] == SCRIPT


def _of_numba() -> bool:
    """Whether numba is at it, which keeps what it has compiled as pickles of its own."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        frame = frame.f_back
        if "/numba/" in frame.f_code.co_filename:
            return True
    return False
