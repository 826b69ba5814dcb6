"""Tokens by a regular expression, which may be a stranger's: found in another process, which has a deadline."""

import atexit
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Timer
from time import monotonic
from typing import IO, Any, cast

from diln.corpus import pattern_process
from diln.corpus.pattern_process import ANSWER, REQUEST

DEADLINE = 5.0  # seconds for a request
PER_CHARACTER = 1e-6  # seconds more: some twenty times what an ordinary pattern takes
SCRIPT = str(Path(pattern_process.__file__).absolute())
SHOWN = 200  # characters of a pattern in a message


class Finder:
    """A process that finds the tokens of texts; see ``pattern_process``."""

    def __init__(self) -> None:
        command = [sys.executable, "-I", "-S", "-W", "ignore", SCRIPT]
        self.process = subprocess.Popen(  # noqa: S603 - our own script
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        self.requests, self.answers = cast(IO[bytes], self.process.stdin), cast(IO[bytes], self.process.stdout)

    def ask(self, request: list[Any], seconds: float) -> Any:
        """The answer to a request, which has a flaw of the pattern or its tokens; None where the process has ended."""
        data = json.dumps(request).encode()
        timer = Timer(seconds, self.process.kill)
        timer.daemon = True
        timer.start()
        try:
            self.requests.write(REQUEST.pack(seconds, len(data)) + data)
            self.requests.flush()
            head = self.answers.read(ANSWER.size)
            if len(head) == ANSWER.size:
                data = self.answers.read(*ANSWER.unpack(head))
                return json.loads(data) if (len(data),) == ANSWER.unpack(head) else None
        except BrokenPipeError:
            pass
        finally:
            timer.cancel()
        return None

    def end(self) -> None:
        """End the process, whatever it is at."""
        self.process.kill()
        self.process.wait()
        self.answers.close()
        with suppress(BrokenPipeError):  # of a request that it has not read
            self.requests.close()


_idle: list[Finder] = []  # a thread takes one out while it uses it


def check_pattern(pattern: str) -> None:
    """Raise unless the tokens of texts can be the matches of a pattern."""
    _ask(pattern, [], spans=False)


def find_tokens(pattern: str, texts: Sequence[str]) -> list[list[str]]:
    """The tokens of each text: the matches of a pattern, or of its group if it has one."""
    return cast(list[list[str]], _ask(pattern, texts, spans=False))


def find_spans(pattern: str, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
    """Where the tokens of each text begin and end; (-1, -1) for a group that is no part of a match."""
    return [[(begin, end) for begin, end in spans] for spans in _ask(pattern, texts, spans=True)]


def _ask(pattern: str, texts: Sequence[str], *, spans: bool) -> list[Any]:
    characters = sum(map(len, texts))
    seconds = DEADLINE + PER_CHARACTER * characters
    start = monotonic()
    try:
        finder = _idle.pop()
    except IndexError:
        finder = Finder()
    try:
        answer = finder.ask([pattern, texts, spans], seconds)
    except BaseException:
        finder.end()
        raise
    if answer is None:
        finder.end()
        raise ValueError(_unfinished(pattern, characters, seconds, late=monotonic() - start >= seconds))
    _idle.append(finder)
    if "flaw" in answer:
        raise ValueError(f"token_pattern {pattern!r:.{SHOWN}} {answer['flaw']}")
    return cast(list[Any], answer["tokens"])


def _unfinished(pattern: str, characters: int, seconds: float, *, late: bool) -> str:
    how = f"took longer than {seconds:.3g} seconds" if late else "made the process that runs it end, out of memory,"
    return (
        f"token_pattern {pattern!r:.{SHOWN}} {how} on texts of {characters:,} characters; write it without a repeat "
        r"inside a repeat or choices that begin alike, such as '[a-z]+' for '(?:[a-z]+)+', and build the corpus or the "
        "model again"
    )


@atexit.register
def _end_all() -> None:
    while _idle:
        _idle.pop().end()


if hasattr(os, "register_at_fork"):  # a process answers the one that started it, and no copy of that
    os.register_at_fork(after_in_child=_idle.clear)
