"""How long a rename, a merge and a hiding take in the explorer, until the page has all that it shows then.

    python benchmarks/explorer_edits.py MODEL [--corpus DIR] [--rounds 5] [--seed 0] [--out FILE]

Works on a copy of the model. Starts ``diln serve`` on loopback as a process of its own, waits until search is ready and
the cards of topics are made ahead, and then changes topics at random. Counts from the change to the last byte of all
that the page asks for after it: the model, topics, names, themes and edits at the same time, then the map with its
lines and documents and the card. Prints the wall time, and the work of the server, which other programs on the machine
hardly change; the machine's load is told, too.
"""

import argparse
import json
import os
import platform
import shutil
import tempfile
import time
import urllib.request
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from explorer_load import asked, serve, worked

BOOK = ("model", "topics", "names", "themes", "edits")
MAP = ("map", "pairs?n=150", "map/documents?n=200000")
SETTLED = 3.0  # seconds in which the server does nothing, when it has made all cards ahead


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    return parser.parse_args()


def quiet(server: int) -> None:
    """Wait until the server has nothing more to do of its own accord."""
    since, work = time.monotonic(), worked(server)
    while time.monotonic() - since < SETTLED:
        time.sleep(0.2)
        if worked(server) - work > 0.05:
            since, work = time.monotonic(), worked(server)


def fetched(port: int, path: str) -> int:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/{path}", timeout=600) as answer:
        return len(answer.read())


def changed(port: int, pool: ThreadPoolExecutor, change: dict[str, Any], topic: int | None) -> None:
    """Make a change, and ask for all that the page then shows."""
    asked(port, "edits", change)
    list(pool.map(lambda path: fetched(port, path), BOOK))
    card = () if topic is None else (f"topics/{topic}",)
    list(pool.map(lambda path: fetched(port, path), (*MAP, *card)))


def measured(port: int, server: int, rounds: int, seed: int) -> dict[str, list[tuple[float, float]]]:
    """Wall time and the server's work in seconds, of each kind of change."""
    rng, times = np.random.default_rng(seed), defaultdict(list)
    with ThreadPoolExecutor(6) as pool:
        changed_once = {"action": "rename", "topic": asked(port, "topics")[0]["id"], "label": "warm"}
        changed(port, pool, changed_once, None)
        for number in range(rounds):
            first, second, third = (
                int(one) for one in rng.choice([one["id"] for one in asked(port, "topics")], 3, False)
            )
            steps: list[tuple[str, dict[str, Any], int | None]] = [
                ("rename", {"action": "rename", "topic": first, "label": f"Name {number}"}, first),
                ("merge", {"action": "merge", "keep": first, "others": [second]}, first),
                ("hide", {"action": "hide", "topic": third}, None),
                ("undo a hiding", {"action": "undo"}, None),
                ("undo a merge", {"action": "undo"}, first),
            ]
            for kind, change, topic in steps:
                quiet(server)
                begun, work = time.perf_counter(), worked(server)
                changed(port, pool, change, topic)
                times[kind].append((time.perf_counter() - begun, worked(server) - work))
    return times


def main() -> None:
    args = parsed()
    with tempfile.TemporaryDirectory() as folder:
        model = shutil.copytree(args.model, Path(folder) / args.model.resolve().name)
        process, port = serve(model, args.corpus, read_only=False)
        try:
            while (asked(port, "model")["search"] or {}).get("state") == "building":
                time.sleep(1)
            quiet(process.pid)
            about, busy = asked(port, "model"), os.getloadavg()
            times = measured(port, process.pid, args.rounds, args.seed)
        finally:
            process.terminate()
            process.wait(30)
    rows = {}
    for kind, pairs in times.items():
        wall, work = np.array(pairs).T
        rows[kind] = {"wall": float(np.median(wall)), "wall max": float(wall.max()), "work": float(np.median(work)),
                      "work max": float(work.max())}  # fmt: skip
    print(f"{about['documents']:,} documents, {about['topics_in_use']} topics in use, {args.rounds} of each kind")
    print(f"{'what':16} {'wall':>7} {'max':>7} {'work':>7} {'max':>7}  s")
    for kind, row in rows.items():
        print(f"{kind:16}" + "".join(f" {row[name]:7.2f}" for name in ("wall", "wall max", "work", "work max")))
    loads = f"load before {busy[0]:.1f}, after {os.getloadavg()[0]:.1f}"
    machine = f"{platform.machine()}, {os.cpu_count()} cores, {loads}, Python {platform.python_version()}"
    print(f"{machine}, seed {args.seed}")
    if args.out:
        told = {"documents": about["documents"], "topics": about["topics_in_use"], "rounds": args.rounds,
                "seed": args.seed, "machine": machine, "seconds": rows}  # fmt: skip
        args.out.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
