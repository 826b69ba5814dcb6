"""A process that looks for a pattern in texts, so that a pattern that takes too long can be ended.

Python's ``re`` cannot be stopped from another thread, and keeps all threads waiting. This file runs as a script,
without the package: it starts in some hundredths of a second. It answers requests until its standard input ends.
"""

import json
import re
import signal
import struct
import sys
from typing import Any

REQUEST = struct.Struct("<dq")  # seconds that the answer may take, and bytes of JSON that follow
ANSWER = struct.Struct("<q")  # bytes of JSON that follow


def answer(pattern: str, texts: list[str], spans: bool) -> dict[str, Any]:
    """What each text has of the pattern, or of its group if it has one: tokens, or where they begin and end."""
    try:
        form = re.compile(pattern)
        if (group := form.groups) > 1:
            return {"flaw": f"has {group} groups; use one at most, write others as (?:...)"}
        if spans:
            return {"tokens": [[match.span(group) for match in form.finditer(text)] for text in texts]}
        return {"tokens": list(map(form.findall, texts))}
    except MemoryError:
        return {"flaw": "needs more memory than there is; write it with fewer repeats"}
    except (re.error, OverflowError, RecursionError) as error:
        return {"flaw": f"is not a regular expression: {error}"}


def main() -> None:
    """Answer requests; a process whose parent is gone ends at the end of its deadline."""
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    while len(head := requests.read(REQUEST.size)) == REQUEST.size:
        seconds, size = REQUEST.unpack(head)
        alarm(seconds)
        data = json.dumps(answer(*json.loads(requests.read(size)))).encode()
        alarm(0.0)
        answers.write(ANSWER.pack(len(data)) + data)
        answers.flush()


def alarm(seconds: float) -> None:
    """End this process after some seconds, where the system has such an alarm; 0 for never."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_REAL, seconds)


if __name__ == "__main__":
    main()
