"""The command, run in this process or in one of its own, and documents to run it on."""

import io
import json
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from diln.cli.main import main

THEMES = [
    "apple pear plum cherry orchard fruit harvest",
    "brake wheel engine gear motor fuel driver",
    "violin flute drum horn concert music orchestra",
    "vote party senate election minister law budget",
]


class Done(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def diln(*args: object) -> Done:
    """The command in this process: quick, and otherwise the same."""
    out, err, code = io.StringIO(), io.StringIO(), None
    with patch.object(sys, "argv", ["diln", *map(str, args)]), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as ended:
            code = ended.code
    return Done(int(code or 0), out.getvalue(), err.getvalue())


def in_its_own_process(*args: object, **settings: Any) -> Done:
    command = [sys.executable, "-m", "diln", *map(str, args)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, **settings)
    return Done(done.returncode, done.stdout, done.stderr)


def write_texts(path: Path, n_docs: int, seed: int = 0) -> Path:
    """Documents of one theme or two, a line each."""
    rng = np.random.default_rng(seed)
    with path.open("w", encoding="utf-8") as file:
        for number in range(n_docs):
            themes = rng.choice(len(THEMES), 1 + number % 2, replace=False)
            words = " ".join(THEMES[theme] for theme in themes).split()
            record = {"id": f"doc-{number}", "text": " ".join(rng.choice(words, 30))}
            file.write(json.dumps(record) + "\n")
    return path
