"""How the explorer's server holds up: many clients at a time, mixed requests, on a model with many documents.

    python benchmarks/explorer_load.py MODEL [--corpus DIR] [--clients 50] [--seconds 60] [--pause 1.0] [--out FILE]

Starts ``diln serve`` on loopback as a process of its own and waits until search is ready. Every client asks one thing
after the other, as a reader of the page does: a card, a list, a search, a document, points in a box, with a pause of
``--pause`` seconds on average between an answer and the next request (0 for none). Nothing is asked for twice on
purpose, but clients choose from the same topics and words. Prints the times from request to last byte. Before that, one
client alone tries texts of 200 words, opens documents with those like them, and searches, and the server's work for
each is told, too.
"""

import argparse
import asyncio
import json
import os
import platform
import re
import subprocess
import sys
import time
import urllib.request
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

MIX = {
    "topic card": 20, "topic words": 10, "list of a topic": 12, "search": 18, "search in a topic": 4, "document": 12,
    "box of the map": 8, "trend of a topic": 5, "words": 5, "topics": 2, "map": 2, "pairs": 1, "model": 1,
}  # fmt: skip
ALLOWED = 100.0  # milliseconds
ALONE, WARM = 40, 5  # requests of each kind by one client alone, and how many before them do not count
LENGTH = 200  # words of a text that is tried


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--pause", type=float, default=1.0)
    parser.add_argument("--warm", type=float, default=10, help="seconds before counting")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    return parser.parse_args()


def serve(model: Path, corpus: Path | None, *, read_only: bool = True) -> tuple[subprocess.Popen[str], int]:
    command = [sys.executable, "-m", "diln", "serve", str(model), "--port", "0", "-q"]
    command += ["--read-only"] if read_only else []
    command += ["--corpus", str(corpus)] if corpus is not None else []
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    found = re.search(r":(\d+)/", process.stdout.readline()) if process.stdout is not None else None
    if found is None:
        raise SystemExit("the server did not start")
    return process, int(found[1])


def asked(port: int, path: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/api/{path}", data, {"Content-Type": "application/json"} if data else {}
    )
    with urllib.request.urlopen(request, timeout=600) as answer:
        return json.loads(answer.read())


def alone(port: int, server: int, words: list[str], documents: int, seed: int) -> dict[str, dict[str, float]]:
    """Times of one client that nobody else keeps waiting."""
    rng = np.random.default_rng(seed)
    asks: dict[str, Callable[[], Any]] = {
        "try a text": lambda: asked(port, "read", {"text": " ".join(rng.choice(words, LENGTH))}),
        "document and those like it": lambda: asked(port, f"documents/{int(rng.integers(documents))}"),
        "search, one word": lambda: asked(port, f"documents?q={rng.choice(words)}"),
        "search, two words": lambda: asked(port, f"documents?q={'%20'.join(rng.choice(words, 2))}"),
    }
    found = {}
    for kind, ask in asks.items():
        times = []
        for number in range(WARM + ALONE):
            if number == WARM:
                work = worked(server)
            begun = time.perf_counter()
            ask()
            times.append(1000 * (time.perf_counter() - begun))
        found[kind] = {**summary(np.array(times[WARM:])), "server cpu ms": 1000 * (worked(server) - work) / ALONE}
    return found


def most_memory(process: int) -> float:
    """The most megabytes that a process has had in memory, mapped files included, where the system says so."""
    try:
        text = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    except OSError:
        return float("nan")
    return int(re.search(r"VmHWM:\s+(\d+)", text)[1]) / 1024  # type: ignore[index]


class Reader:
    """What one client asks for."""

    def __init__(self, seed: int, topics: list[int], words: list[str], documents: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.topics, self.words, self.documents = topics, words, documents

    def next(self) -> tuple[str, str]:
        """A kind of request, and its address."""
        rng = self.rng
        kind = str(rng.choice(list(MIX), p=np.array(list(MIX.values())) / sum(MIX.values())))
        topic, word, other = int(rng.choice(self.topics)), str(rng.choice(self.words)), str(rng.choice(self.words))
        x, y = rng.uniform(-0.5, 0.4, 2)
        query = word if rng.random() < 0.5 else f"{word}%20{other}"
        paths = {
            "topic card": f"topics/{topic}",
            "topic words": f"topics/{topic}/words?relevance={rng.integers(0, 11) / 10}&n=20",
            "list of a topic": f"documents?topic={topic}&offset={20 * int(rng.integers(3))}",
            "search": f"documents?q={query}",
            "search in a topic": f"documents?q={word}&topic={topic}",
            "document": f"documents/{int(rng.integers(self.documents))}",
            "box of the map": f"map/documents?x0={x:.3f}&y0={y:.3f}&x1={x + 0.1:.3f}&y1={y + 0.1:.3f}&n=150",
            "trend of a topic": f"trends?by=topic&ids={topic}",
            "words": f"words?prefix={word[:3]}",
            "topics": "topics", "map": "map", "pairs": "pairs?n=150", "model": "model",
        }  # fmt: skip
        return kind, f"/api/{paths[kind]}"


async def client(reader: Reader, port: int, pause: float, begins: float, ends: float, times: Any, faults: Any) -> None:
    """Ask one thing after the other over one connection."""
    await asyncio.sleep(float(reader.rng.uniform(0, max(pause, 0.01))))
    link, out = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
    while time.perf_counter() < ends:
        kind, path = reader.next()
        begun = time.perf_counter()
        try:
            out.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
            head = await link.readuntil(b"\r\n\r\n")
            size = int(re.search(rb"content-length: (\d+)", head)[1])  # type: ignore[index]
            await link.readexactly(size)
            status = int(head.split(b" ", 2)[1])
        except (OSError, asyncio.IncompleteReadError, TypeError) as error:
            faults.append((path, repr(error)))
            link, out = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
            continue
        if status != 200:
            faults.append((path, status))
        if begun >= begins:
            times[kind].append(1000 * (time.perf_counter() - begun))
        if pause:
            await asyncio.sleep(float(reader.rng.exponential(pause)))
    out.close()


def worked(process: int) -> float:
    """Seconds of work that a process has done, where the system says so."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return float("nan")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def load(args: argparse.Namespace, port: int, server: int) -> dict[str, Any]:
    topics = asked(port, "topics")
    words = sorted({word for topic in topics for word in topic["words"] if word.isascii()})
    documents = asked(port, "model")["documents"]
    by_one = alone(port, server, words, documents, args.seed)
    times: dict[str, list[float]] = defaultdict(list)
    faults: list[Any] = []
    begins = time.perf_counter() + args.warm
    ends = begins + args.seconds
    ids = [topic["id"] for topic in topics]
    readers = [Reader(args.seed * 1000 + number, ids, words, documents) for number in range(args.clients)]
    before, work = os.times(), worked(server)
    await asyncio.gather(*(client(one, port, args.pause, begins, ends, times, faults) for one in readers))
    after, work = os.times(), worked(server) - work
    every = np.concatenate([np.array(found) for found in times.values()])
    return {
        "documents": documents, "topics": len(topics), "alone": by_one, "most MB of the server": most_memory(server),
        "requests": len(every), "a second": len(every) / args.seconds, "faults": faults[:5], "n_faults": len(faults),
        "ms": summary(every), "kinds": {kind: summary(np.array(times[kind])) for kind in MIX if times[kind]},
        "server cpu share": work / (args.seconds + args.warm),
        "client cpu share": (after.user + after.system - before.user - before.system) / (args.seconds + args.warm),
    }  # fmt: skip


def summary(times: Any) -> dict[str, float]:
    p50, p90, p99 = np.percentile(times, [50, 90, 99])
    over = float((times > ALLOWED).mean())
    return {"n": len(times), "p50": p50, "p90": p90, "p99": p99, "max": float(times.max()), "over 100 ms": over}


def main() -> None:
    args = parsed()
    process, port = serve(args.model, args.corpus)
    try:
        while asked(port, "model")["search"]["state"] == "building":
            time.sleep(1)
        busy = os.getloadavg()
        found = asyncio.run(load(args, port, process.pid))
    finally:
        process.terminate()
        process.wait(30)
    loads = f"load before {busy[0]:.1f}, after {os.getloadavg()[0]:.1f}"
    found |= {
        "clients": args.clients, "pause": args.pause, "seconds": args.seconds, "seed": args.seed,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {loads}",
        "python": platform.python_version(),
    }  # fmt: skip
    print(f"one client, {found['documents']:,} documents, {found['topics']} topics in use")
    for kind, row in found["alone"].items():
        print(f"{kind:28} p50 {row['p50']:6.1f}  p99 {row['p99']:6.1f} ms, {row['server cpu ms']:6.1f} ms of work")
    print(f"the server had at most {found['most MB of the server']:,.0f} MB in memory")
    print(f"{args.clients} clients")
    print(f"{'what':20} {'n':>7} {'p50':>8} {'p90':>8} {'p99':>8} {'max':>8}  ms")
    for kind, row in {**found["kinds"], "all": found["ms"]}.items():
        print(f"{kind:20} {row['n']:7} {row['p50']:8.1f} {row['p90']:8.1f} {row['p99']:8.1f} {row['max']:8.1f}")
    print(f"{found['a second']:.0f} requests a second, the server at {found['server cpu share']:.2f} cores")
    print(f"{found['n_faults']} faults {found['faults']}; {found['machine']}")
    if args.out:
        args.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
