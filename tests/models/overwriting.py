"""A process that overwrites a model: killed at every line in turn, or without end while another reads."""

import os
import signal
import sys
from itertools import count
from pathlib import Path

import numpy as np

import diln.files
import diln.models.files
from diln.errors import StoreError
from diln.models.files import StoredModel, read_model, write_model

OLD = ({"which": "old"}, {"x": np.zeros((50, 40))}, ["old"])
NEW = ({"which": "new"}, {"x": np.ones((30, 20)), "y": np.arange(5)}, ["new", "terms"])
TRACED = {module.__file__ for module in (diln.files.folders, diln.files.lock, diln.files.safe, diln.models.files)}


def same(stored: StoredModel, content: dict, tensors: dict, vocabulary: list) -> bool:
    """Whether what was read is what was written, to the bit."""
    return (
        stored.content == content
        and stored.vocabulary == vocabulary
        and {name: bits(tensor) for name, tensor in stored.tensors.items()}
        == {name: bits(tensor) for name, tensor in tensors.items()}
    )


def bits(tensor: np.ndarray) -> tuple:
    return tensor.dtype, tensor.shape, tensor.tobytes()


def files(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def whole_model(generation: int) -> set[str]:
    return {".lock", "manifest.json", f"g{generation:04}-tensors.safetensors", f"g{generation:04}-terms.json"}


def overwrite_and_die(directory: Path, lines: int) -> None:
    """Overwrite a model in a process that is killed after so many lines of it, or ends if it has no more."""
    seen = 0

    def trace(frame, event, _):
        nonlocal seen
        if frame.f_code.co_filename not in TRACED:
            return None
        seen += event == "line"
        if seen > lines:
            os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)
    write_model(directory, *NEW)
    os._exit(0)


def found(directory: Path) -> str:
    """Which model is there: the old one, the new one or none; anything else is an error."""
    try:
        stored = read_model(directory)
    except StoreError as error:
        if "there is no model here" not in str(error):
            raise
        return "none"
    which = stored.content["which"]
    assert same(stored, *{"old": OLD, "new": NEW}[which]), "a mixture"
    return which


def die_at_every_line(home: Path, there: bool) -> None:
    """Print which model is there after each of the deaths."""
    os.fsync = lambda descriptor: None  # is for the power to fail, and slow
    for lines in count():
        directory = home / str(lines)
        if there:
            write_model(directory, *OLD)
        child = os.fork()
        if child == 0:
            overwrite_and_die(directory, lines)
        _, status = os.waitpid(child, 0)
        print(found(directory))
        write_model(directory, *OLD)
        assert found(directory) == "old"
        assert len(files(directory)) == len(whole_model(1)), files(directory)
        if os.WIFEXITED(status):
            assert os.WEXITSTATUS(status) == 0, status
            return


def alternate(directory: Path) -> None:
    """Write one model after the other, without end."""
    print("begun", flush=True)
    for number in count():
        write_model(directory, *(OLD if number % 2 else NEW))


if __name__ == "__main__":
    if sys.argv[1] == "die":
        die_at_every_line(Path(sys.argv[2]), sys.argv[3] == "old model")
    else:
        alternate(Path(sys.argv[2]))
