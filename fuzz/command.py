"""What `python fuzz` is told, and what it prints."""

import argparse
import json
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fuzz import drive
from fuzz.case import TARGETS, Name, Target
from fuzz.drive import CASES, Finding, Tally
from fuzz.seeds import seeds
from fuzz.targets import (  # noqa: F401  (come in by import)
    attacks,
    commands,
    edits,
    folders,
    indexes,
    matrices,
    parameters,
    readers,
)

FOUND = 3  # exit code where something is not allowed


def main() -> None:
    """Run the cases asked for, print a table, and end with a code that says whether all was allowed."""
    told = _parsed()
    targets = [TARGETS[name] for name in told.targets or TARGETS]
    seeds()
    commands.command()
    if told.case is not None:
        sys.exit(_alone(targets[0], Name(targets[0].name, told.seed, told.case, told.rounds)))
    began, tallies = time.monotonic(), {target.name: Tally() for target in targets}
    for target, first, last in _batches(targets, told.count, told.minutes, told.start):
        names = [Name(target.name, told.seed, number) for number in range(first, last)]
        drive.run(target, names, tallies[target.name])
        if told.out:
            _write(told.out, _results(tallies, told, time.monotonic() - began))
    _show(tallies, time.monotonic() - began)
    _show_findings(tallies, told.findings)
    if told.kinds:
        _show_kinds(tallies)
    sys.exit(FOUND if any(tally.findings for tally in tallies.values()) else 0)


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser("fuzz", description="Feed diln spoilt inputs, and see what comes of it.")
    parser.add_argument("--count", type=int, help="cases in total, over all targets by their shares")
    parser.add_argument("--minutes", type=float, help="go on until the time is over (default: 1, without --count)")
    parser.add_argument("--target", "--targets", dest="targets", nargs="+", choices=sorted(TARGETS), metavar="NAME")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0, help="number of the first case of each target")
    parser.add_argument("--case", type=int, help="run one case of one target alone")
    parser.add_argument("--rounds", type=int, help="with --case: at most so many mutations")
    parser.add_argument("--out", type=Path, help="file for the numbers, as JSON")
    parser.add_argument("--findings", type=Path, help="folder for what was found, with the files of its case")
    parser.add_argument("--kinds", action="store_true", help="list where refusals came from, too")
    told = parser.parse_args()
    if told.case is not None and len(told.targets or ()) != 1:
        parser.error("--case is of one --target")
    if told.count is None and told.minutes is None:
        told.minutes = 1.0
    return told


def _batches(
    targets: list[Target], count: int | None, minutes: float | None, start: int
) -> Iterator[tuple[Target, int, int]]:
    """Cases of each target by its share, in turns, until there are enough of them or the time is over."""
    total, began = sum(target.share for target in targets), time.monotonic()
    done = dict.fromkeys((target.name for target in targets), 0)
    turn = 0
    while True:
        turn += 1
        for target in targets:
            wanted = int(turn * CASES * target.share)
            if count is not None:
                wanted = min(wanted, round(count * target.share / total))
            for first in range(done[target.name], wanted, CASES):
                if minutes is not None and time.monotonic() - began > 60 * minutes:
                    return
                yield target, start + first, start + min(first + CASES, wanted)
            done[target.name] = max(wanted, done[target.name])
        if count is not None and all(done[target.name] >= round(count * target.share / total) for target in targets):
            return


def _alone(target: Target, name: Name) -> int:
    """Run one case, and say what came of it."""
    tally = Tally()
    drive.run(target, [name], tally)
    for finding in tally.findings.values():
        print(f"{finding.kind}\n{finding.text}")
    print(dict(tally.outcomes), dict(tally.kinds))
    return FOUND if tally.findings else 0


def _show(tallies: dict[str, Tally], seconds: float) -> None:
    print(f"{'target':28}{'cases':>10}{'accepted':>10}{'refused':>10}{'findings':>10}")
    total: Tally = Tally()
    for name, tally in [*tallies.items(), ("all", total)]:
        refused = tally.outcomes["refused"] + tally.outcomes["foreign"]
        print(f"{name:28}{tally.cases:10,}{tally.outcomes['accepted']:10,}{refused:10,}{len(tally.findings):10,}")
        if tally is not total:
            total.cases += tally.cases
            total.outcomes.update(tally.outcomes)
            total.findings |= tally.findings
    print(f"in {seconds:,.0f} s, {total.cases / max(seconds, 1e-9):,.0f} cases a second", flush=True)


def _show_findings(tallies: dict[str, Tally], folder: Path | None) -> None:
    for target, tally in tallies.items():
        for finding in sorted(tally.findings.values(), key=lambda one: -one.cases):
            finding.name = drive.minimised(TARGETS[target], finding)
            print(f"\n{finding.cases} x {finding.kind}\n  {finding.name.command}\n{_indented(finding.text)}")
            if folder is not None:
                _keep(folder, finding)


def _keep(folder: Path, finding: Finding) -> None:
    """The files of a case, and what came of it."""
    from fuzz.case import Case

    place = folder / f"{finding.name.target}-{finding.name.seed}-{finding.name.number}"
    (place / "case").mkdir(parents=True, exist_ok=True)
    TARGETS[finding.name.target].prepare(Case(finding.name, place / "case"))
    (place / "found.txt").write_text(
        f"{finding.kind}\n{finding.name.command}\n\n{finding.text}\n", encoding="utf-8", errors="replace"
    )


def _show_kinds(tallies: dict[str, Tally]) -> None:
    for target, tally in tallies.items():
        for kind, number in tally.kinds.most_common():
            print(f"{target:28}{number:10,}  {kind}")


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.strip().splitlines()[-30:])


def _results(tallies: dict[str, Tally], told: argparse.Namespace, seconds: float) -> dict[str, Any]:
    return {
        "commit": _commit(), "python": platform.python_version(), "seed": told.seed, "start": told.start,
        "seconds": round(seconds),
        "cases": sum(tally.cases for tally in tallies.values()),
        "targets": {
            name: {
                "cases": tally.cases, "accepted": tally.outcomes["accepted"],
                "refused": tally.outcomes["refused"] + tally.outcomes["foreign"],
                "findings": {one.kind: [one.cases, one.name.command] for one in tally.findings.values()},
            }
            for name, tally in tallies.items()
        },
    }  # fmt: skip


def _commit() -> str:
    done = subprocess.run(
        ["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False, cwd=Path(__file__).parent
    )
    return done.stdout.strip()


def _write(path: Path, results: dict[str, Any]) -> None:
    path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
