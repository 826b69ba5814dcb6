"""Whether strangers without the token can lock readers out of an explorer that they can reach.

    python benchmarks/explorer_attack.py MODEL [--attack NAME] [--connections 400] [--seconds 20] [--files 256]
        [--reader 127.0.0.2] [--out FILE]

Starts ``diln serve --host 0.0.0.0`` as a process of its own that may have ``--files`` files open, fewer than there are
connections. Each attack holds that many connections for some seconds, and opens one anew for each that the server
closes. Meanwhile a reader with the token asks for something four times a second, over a new connection each time, and
must have every answer within ``--allowed`` seconds. The log must stay small, and the server end when it is told to.

silent    connections that send nothing
unended   a request without its last line
dribble   the same, a byte a second
body      a request whose body never comes, a byte a second
deaf      requests one after the other, and none of the answers is read
garbage   what is no HTTP, as fast as it is taken
"""

import argparse
import asyncio
import contextlib
import json
import multiprocessing
import os
import platform
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

LONGEST = 15  # seconds that a reader waits
LOG = 100_000  # bytes
HEAD = b"GET /api/model HTTP/1.1\r\nHost: 127.0.0.1\r\n"
POST = b"POST /api/read HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"


@dataclass
class Server:
    """A process that serves a model, and how to ask it."""

    process: subprocess.Popen[str]
    port: int
    token: str
    log: Path
    reader: str  # the address that the reader comes from

    def ask(self) -> float:
        """Seconds until a reader has an answer; infinite if there is none."""
        begun = time.perf_counter()
        link = HTTPConnection("127.0.0.1", self.port, timeout=LONGEST, source_address=(self.reader, 0))
        with contextlib.suppress(OSError, HTTPException), contextlib.closing(link):
            link.request("GET", "/api/model", headers={"Authorization": f"Bearer {self.token}"})
            answer = link.getresponse()
            if answer.read() and answer.status == 200:
                return time.perf_counter() - begun
        return float("inf")


@dataclass
class Tally:
    """What came of an attack."""

    times: list[float] = field(default_factory=list)
    log: int = 0
    faults: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """For a file of results."""
        slowest = max(self.times)
        return {
            "answers": len(self.times), "slowest s": None if slowest == float("inf") else round(slowest, 3),
            "bytes of log": self.log, "faults": self.faults,
        }  # fmt: skip


def serve(model: Path, files: int, log: Path, reader: str) -> Server:
    """Start the command, with a limit on its files."""
    command = [sys.executable, "-m", "diln", "serve", str(model), "--host", "0.0.0.0", "--port", "0", "--read-only"]
    with log.open("w") as errors:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)),
        )  # fmt: skip
    said = re.search(r":(\d+)/\?token=(\S+)", process.stdout.readline()) if process.stdout is not None else None
    if said is None:
        raise SystemExit(f"the server did not start: {log.read_text()}")
    return Server(process, int(said[1]), said[2], log, reader)


async def silent(_: asyncio.StreamWriter) -> None:
    await asyncio.sleep(3600)


async def unended(out: asyncio.StreamWriter) -> None:
    out.write(HEAD)
    await asyncio.sleep(3600)


async def dribble(out: asyncio.StreamWriter, first: bytes = HEAD) -> None:
    out.write(first)
    while True:
        out.write(b"x")
        await out.drain()
        await asyncio.sleep(1)


async def body(out: asyncio.StreamWriter) -> None:
    await dribble(out, POST)


async def deaf(out: asyncio.StreamWriter) -> None:
    out.transport.pause_reading()  # type: ignore[attr-defined]
    while True:
        out.write(100 * (HEAD + b"\r\n"))
        await out.drain()
        await asyncio.sleep(0.05)


async def garbage(out: asyncio.StreamWriter) -> None:
    out.write(b"\x16\x03\x01 garbage\r\n\r\n")
    await out.drain()
    await asyncio.sleep(0.5)


ATTACKS = {attack.__name__: attack for attack in (silent, unended, dribble, body, deaf, garbage)}


async def stranger(port: int, attack: Callable[..., Any], ends: float) -> None:
    """Hold a connection until the attack ends, and open another if it is closed."""
    while time.monotonic() < ends:
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(ends - time.monotonic()):
                link, out = await asyncio.open_connection("127.0.0.1", port)
                work = [asyncio.create_task(attack(out))]
                if attack is not deaf:
                    work.append(asyncio.create_task(link.read()))
                try:
                    await asyncio.wait(work, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for task in work:
                        task.cancel()
                    await asyncio.gather(*work, return_exceptions=True)
                    out.transport.abort()
        await asyncio.sleep(0.02)


def strangers(port: int, name: str, connections: int, seconds: float) -> None:
    """Hold that many connections for some seconds."""

    async def hold() -> None:
        ends = time.monotonic() + seconds
        await asyncio.gather(*(stranger(port, ATTACKS[name], ends) for _ in range(connections)))

    asyncio.run(hold())


def attacked(server: Server, name: str, connections: int, seconds: float, allowed: float) -> Tally:
    """Attack a server by another process while a reader asks it, and once more after that."""
    tally, before = Tally(), server.log.stat().st_size
    attack = multiprocessing.Process(target=strangers, args=(server.port, name, connections, seconds))
    attack.start()
    time.sleep(1)
    while attack.is_alive():
        tally.times.append(server.ask())
        time.sleep(0.25)
    tally.times.append(server.ask())
    tally.log = server.log.stat().st_size - before
    if max(tally.times) > allowed:
        late = sum(taken > allowed for taken in tally.times)
        tally.faults.append(f"{late} of {len(tally.times)} answers did not come within {allowed:g} s")
    if tally.log > LOG:
        tally.faults.append(f"the log has grown by {tally.log:,} bytes")
    return tally


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--attack", choices=ATTACKS, action="append")
    parser.add_argument("--connections", type=int, default=400)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--allowed", type=float, default=3, help="seconds until a reader has an answer")
    parser.add_argument("--files", type=int, default=256)
    parser.add_argument(
        "--reader", default="127.0.0.2", help="address that the reader comes from; strangers: 127.0.0.1"
    )
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    tallies: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory(prefix="attack-") as folder:
        server = serve(args.model, args.files, Path(folder) / "log", args.reader)
        try:
            for name in args.attack or ATTACKS:
                tally = attacked(server, name, args.connections, args.seconds, args.allowed)
                tallies[name] = tally.to_json()
                print(f"{name:8} {tallies[name]}", flush=True)
        finally:
            server.process.send_signal(signal.SIGTERM)
            begun = time.monotonic()
            server.process.wait(30)
            print(f"ended in {time.monotonic() - begun:.1f} s")
    if args.out:
        about = {
            "files": args.files, "seconds": args.seconds, "allowed s": args.allowed,
            "machine": f"{platform.machine()}, {os.cpu_count()} cores", "python": platform.python_version(),
        }  # fmt: skip
        args.out.write_text(json.dumps({**about, "attacks": tallies}, indent=1) + "\n", encoding="utf-8")
    sys.exit(any(tally["faults"] for tally in tallies.values()))


if __name__ == "__main__":
    main()
