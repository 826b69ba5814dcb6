"""diln beside other topic models: perplexity, time, memory and coherence on the same documents.

python benchmarks/peers DATA [--corpora ap nyt] [--tools DILN "tomotopy*"] [--seeds 0 1 2] [--threads 1] [--out FILE]
python benchmarks/peers --merge FILE [FILE ...] --out FILE
python benchmarks/peers --table FILE

DATA holds a folder for each corpus with counts.npz (a scipy sparse matrix). A fifth of the documents, 2,000 at most,
are for testing: half the tokens of each are observed and the others predicted. Every fit is a process of its own, one
after the other; pin the program (taskset) to pin them all. Runs that FILE has are not run again, and it is written
after each, so the program can be ended at any time and called again. The last lines are the tables; ``--table`` makes
them alone and puts them into docs/peers.md and README.md. To run again what FILE has, write to another file and merge
the two: rows of files that are merged take the places of those of the same runs.
"""

import argparse
from dataclasses import replace
from fnmatch import fnmatch
from functools import reduce
from pathlib import Path
from tempfile import TemporaryDirectory

from peers import results as kept
from peers.drive import run
from peers.figure import draw
from peers.judge import Judge
from peers.pages import fill, printed
from peers.plan import CORPORA, OTHERS, TOOLS, Run, ordered
from peers.split import written
from peers.tables import coherent

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "docs" / "peers.md", ROOT / "README.md")
FIGURE = ROOT / "docs" / "images" / "peers.svg"


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("peers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--corpora", nargs="+", default=list(CORPORA), help="folders of DATA")
    parser.add_argument("--tools", nargs="+", default=["*"], help="names, or patterns of them")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2], help="of the fits; the split has one")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--sweeps", type=int, help="of tomotopy's LDA, in place of those of the plan")
    parser.add_argument("--cap", type=float, help="CPU seconds of what is capped, in place of those of the plan")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--merge", type=Path, nargs="+", help="results to put into those of --out; nothing is run")
    parser.add_argument("--table", type=Path, help="results to make the tables of; nothing is run")
    given = parser.parse_args(arguments)
    if sum(one is not None for one in (given.data, given.merge, given.table)) != 1:
        parser.error("give DATA, a folder with a folder for each corpus, or files of results: --merge or --table")
    if given.merge is not None and given.out is None:
        parser.error("give --out, the file of results that the others are put into")
    for path in [*(given.merge or []), *filter(None, [given.table])]:
        if not path.exists():
            parser.error(f"{path} is not there; give a file that a run wrote with --out")
    return given


def main(arguments: list[str] | None = None) -> None:
    given = parsed(arguments)
    if given.table is not None:
        results = kept.read(given.table)
        for page in PAGES:
            fill(page, results)
        draw(results, FIGURE)
    elif given.merge is not None:
        results = reduce(kept.merged, map(kept.read, given.merge), kept.read(given.out))
        kept.write(given.out, results)
    else:
        results = all_run(given)
    print(printed(results))


def all_run(given: argparse.Namespace) -> kept.Record:
    """Run what is wanted and not there yet."""
    results = kept.read(given.out)
    runs = ordered(given.corpora, given.seeds, given.threads)
    runs = [one for one in runs if any(fnmatch(one.tool, pattern) for pattern in given.tools)]
    with TemporaryDirectory() as temporary:
        folder, judge = None, None
        for number, one in enumerate(runs, 1):
            eta = kept.chosen_eta(results, one.corpus, TOOLS[one.tool].size) if one.eta is None else one.eta
            if kept.done(results, one, eta):
                continue
            needed = written(Path(temporary), given.data, one.corpus, results["split"], one.validation)
            if judge is None or needed != folder:
                folder, judge = needed, Judge.of(needed)
            budget = CORPORA.get(one.corpus, OTHERS)
            budget = replace(budget, sweeps=given.sweeps or budget.sweeps, cap=given.cap or budget.cap)
            row = run(one, needed, judge, budget, eta, 0.5 if one.validation else 1.0)
            results = kept.added(kept.read(given.out) if given.out else results, one, row)
            if given.out:
                kept.write(given.out, results)
            print(f"{number:3}/{len(runs)} {line(one, row)}", flush=True)
    return results


def line(one: Run, row: kept.Record) -> str:
    """A run in one line."""
    name = f"{one.corpus:17} {one.tool:21} seed {one.seed} threads {one.threads}"
    if "error" in row:
        return f"{name}  {row['error']}"
    prior = "" if row["eta"] is None else f"{row['eta']:.2f}{' tried' * one.validation}"
    _, averaged, own = kept.ways(row)
    shown = (("averaged", averaged), ("own", own), ("new words", kept.predicted_new(row)))
    also = "".join(f" {what} {value:.1f}" for what, value in shown if value is not None)
    return (
        f"{name} {prior:10} perplexity {row['perplexity']:.1f}{also}  {row['units']} units {row['cpu_s']:.1f} CPU s "
        f"{row['wall_s']:.1f} s {row['peak_mb']:.0f} MB  topics {row['in_use']} of {row['topics']}  "
        f"NPMI {coherent(row)}"
    )
