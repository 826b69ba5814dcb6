"""A model that follows a stream for years, beside models that are fitted anew each year.

python benchmarks/stream.py DOCS.jsonl.gz --out FILE.json [--figure FILE.svg] [--step 1] [--updates 1000] [--first 500]

Documents have a text (and a title) and a date. In order of date, every ``--step``-th of them: the first are fitted,
with their vocabulary, and the others come in some ``--updates`` of as many documents, with whatever terms and topics
they bring. No update has documents of two quarters: each quarter the model is kept, and knows nothing of what follows.
At the beginning of each year another is fitted from scratch to 10,000 at most of all documents by then, with their
vocabulary. Both predict the documents of the month after each quarter, from half of each document's tokens. Tokens
count that are in both vocabularies, with probabilities among these terms alone. Memory is that of the process that
updates, which reads documents a batch at a time.
"""

import argparse
import gzip
import json
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

import diln
from diln.analysis import in_use, largest_topics
from diln.corpus import Corpus
from diln.corpus.splits import halves
from diln.engine.threads import Threads
from diln.models.counts import as_rows
from diln.models.fitted import Fitted

REFITTED = 10_000  # documents at most of a model that is fitted anew
PREDICTED = 600  # documents of a month
FEW = 50  # documents of a month that is not predicted
LEAST = 1000  # documents before the first model that is fitted anew
SWEEPS = 40
WORDS = 8
PAGE = resource.getpagesize()


def documents(path: Path, step: int) -> list[tuple[str, str]]:
    """Dates and texts, in order of date."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    found = sorted((one["date"], f"{one.get('title', '')}\n{one['text']}") for one in records if one.get("date"))
    return found[::step]


def model_of(batch_size: int) -> diln.DILN:
    return diln.DILN(max_iter=SWEEPS, random_state=0, n_jobs=1, inference=diln.Sampling(batch_size=batch_size))


def quarter(date: str) -> str:
    return f"{date[:4]}-{1 + (int(date[5:7]) - 1) // 3 * 3:02}"


def memory() -> float:
    """Bytes that this process holds now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE / 1e6


def parts(records: Iterable[tuple[str, str]], size: int) -> Iterator[list[tuple[str, str]]]:
    """Documents of each update: so many, or fewer at the end of a quarter."""
    part: list[tuple[str, str]] = []
    for one in records:
        if part and (len(part) == size or quarter(one[0]) != quarter(part[0][0])):
            yield part
            part = []
        part.append(one)
    if part:
        yield part


def follow(path: Path, n_docs: int, first: int, updates: int, folder: Path) -> dict[str, Any]:
    """Fit the first documents, update with the others, and keep the model of every quarter."""
    size = -(-(n_docs - first) // updates)
    with path.open(encoding="utf-8") as file:
        records = map(json.loads, file)
        start = list(islice(records, first))
        model = model_of(size).fit(Corpus.from_texts([text for _, text in start]))
        told: dict[str, Any] = {"batch": size, "first_terms": len(model.vocabulary_), "topics": [], "updates": []}
        examples: dict[str, list[str]] = {}
        used = set(np.flatnonzero(in_use(model)).tolist())
        told["came_into_use"] = []
        last, begun = quarter(start[-1][0]), time.perf_counter()
        for made, part in enumerate(parts(records, size), 1):
            date = part[0][0]
            if quarter(date) != last:
                last = quarter(date)
                model.save(folder / last)
            came = model.update([text for _, text in part])
            examples.setdefault(date[:4], []).extend(came.new_terms)
            if came.new_topics:
                words = {one.id: list(one.words) for one in largest_topics(model, None, WORDS, unused=True)}
                told["topics"] += [{"topic": one, "date": date, "words": words[one]} for one in came.new_topics]
            if made % 10 == 0:
                fresh = set(np.flatnonzero(in_use(model)).tolist()) - used
                used |= fresh
                largest = largest_topics(model, None, WORDS)
                told["came_into_use"] += [
                    {"topic": one.id, "date": date, "words": list(one.words)} for one in largest if one.id in fresh
                ]
                numbers = {"update": made, "date": date, "rss_mb": round(memory(), 1)}
                numbers |= {"terms": len(model.vocabulary_), "topics": len(model.topic_weights_)}
                numbers |= {"in_use": model.n_topics_, "seconds": round(time.perf_counter() - begun, 1)}
                told["updates"].append(numbers)
                print(numbers, flush=True)
    shares = model.topic_weights_.tolist()
    told["topics"] = [{**one, "share_at_the_end": shares[one["topic"]]} for one in told["topics"]]
    told["new_terms"] = {year: {"number": len(each), "some": each[:12]} for year, each in sorted(examples.items())}
    return told


def predicted(fitted: Fitted, common: list[str], observed: csr_array, held: csr_array) -> float:
    """Sum of ln p(held-out token among the common terms), given the observed ones."""
    places = {term: place for place, term in enumerate(fitted.vocabulary)}
    columns = np.array([places[term] for term in common])
    moved = csr_array((observed.data, columns[observed.indices], observed.indptr), (observed.shape[0], len(places)))
    moved.sort_indices()
    with Threads(1) as engine:
        theta = fitted.infer(as_rows(moved), engine).proportions
    topics = fitted.topic_word[:, columns]
    rows = np.repeat(np.arange(held.shape[0]), np.diff(held.indptr))
    inside = theta @ topics.sum(axis=1)
    total = 0.0
    for first in range(0, held.nnz, 8192):
        part = slice(first, first + 8192)
        among = np.einsum("ek,ke->e", theta[rows[part]], topics[:, held.indices[part]]) / inside[rows[part]]
        total += float(held.data[part] @ np.log(among))
    return total


def refit(found: list[tuple[str, str]], years: list[str], folder: Path) -> None:
    """Models that are fitted from scratch to documents before each of these years."""
    dates, rng = np.array([date for date, _ in found]), np.random.default_rng(0)
    for year in years:
        before = np.flatnonzero(dates < year)
        chosen = np.sort(rng.permutation(before)[:REFITTED])
        model_of(500).fit(Corpus.from_texts([found[i][1] for i in chosen])).save(folder / year)
        print({"refitted": year, "documents": len(chosen)}, flush=True)


def compare(found: list[tuple[str, str]], folder: Path, anew: Path) -> list[dict[str, Any]]:
    """Perplexities of the month after each quarter that a model was kept of."""
    months, rows = np.array([date[:7] for date, _ in found]), []
    for kept in sorted(folder.iterdir()):
        month = np.flatnonzero(months == kept.name)[:PREDICTED]
        if len(month) < FEW or not (anew / kept.name[:4]).exists():
            continue
        streamed, fresh = Fitted.load(kept), Fitted.load(anew / kept.name[:4])
        known = set(streamed.vocabulary)
        common = [term for term in fresh.vocabulary if term in known]
        counts = Corpus.from_texts([found[i][1] for i in month], vocabulary=common).counts
        observed, held = halves(counts, np.random.default_rng(0))
        tokens = float(held.sum())
        row = {"month": kept.name, "documents": len(month), "tokens": tokens, "common_terms": len(common)}
        for name, model in (("stream", streamed), ("refitted", fresh)):
            row[name] = round(float(np.exp(-predicted(model, common, observed, held) / tokens)), 1)
            row[f"{name}_topics"], row[f"{name}_terms"] = model.n_topics, len(model.vocabulary)
        rows.append(row)
        print(row, flush=True)
    return rows


def figure(result: dict[str, Any], path: Path) -> None:
    """Perplexity, terms, topics and memory over the years."""
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    def years(values: list[str]) -> list[float]:
        return [int(one[:4]) + (int(one[5:7]) - 1) / 12 for one in values]

    rows, steps = result["quarters"], result["stream"]["updates"]
    drawn, axes = plt.subplots(4, 1, figsize=(7, 8), sharex=True, constrained_layout=True)
    at = years([row["month"] for row in rows])
    axes[0].plot(at, [row["stream"] for row in rows], label="updated", color="#1f5fa8")
    axes[0].plot(at, [row["refitted"] for row in rows], label="fitted anew each year", color="#c4572a", linestyle="--")
    axes[0].set_ylabel("perplexity of\nthe next month")
    axes[0].legend(frameon=False)
    at = years([step["date"] for step in steps])
    shown = {"terms": "terms", "in_use": "topics in use", "rss_mb": "memory, MB"}
    for part, (name, label) in zip(axes[1:], shown.items(), strict=True):
        part.plot(at, [step[name] for step in steps], color="#1f5fa8")
        part.set_ylabel(label)
        part.set_ylim(bottom=0)
    for name, kind, label in (("came_into_use", "|", "came into use"), ("topics", "^", "was born")):
        dates = years([one["date"] for one in result["stream"].get(name, [])])
        if dates:
            axes[2].plot(dates, np.full(len(dates), 4.0), kind, color="#c4572a", markersize=7, label=f"a topic {label}")
    axes[2].legend(frameon=False, loc="center right")
    for part in axes:
        part.spines[["top", "right"]].set_visible(False)
    drawn.savefig(path, metadata={"Date": None})


def main() -> None:
    """Follow the stream in a process of its own, whose memory is measured, then compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--figure", type=Path)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--updates", type=int, default=1000)
    parser.add_argument("--first", type=int, default=500)
    parser.add_argument("--follow-into", type=Path)
    parser.add_argument("--number", type=int)
    told = parser.parse_args()
    if told.follow_into is not None:
        made = follow(told.documents, told.number, told.first, told.updates, told.follow_into)
        told.out.write_text(json.dumps(made), encoding="utf-8")
        return
    found = documents(told.documents, told.step)
    with tempfile.TemporaryDirectory() as scratch:
        names = ("models", "stream.json", "ordered.jsonl", "anew")
        folder, part, ordered, anew = (Path(scratch) / name for name in names)
        folder.mkdir()
        with ordered.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(one) + "\n" for one in found)
        words = [str(ordered), "--follow-into", str(folder), "--out", str(part), "--number", str(len(found))]
        words += ["--first", str(told.first), "--updates", str(told.updates)]
        under_way = subprocess.Popen([sys.executable, __file__, *words])
        anew.mkdir()
        years = sorted({date[:4] for date, _ in found[max(told.first, LEAST) :]})[1:]
        refit(found, years, anew)
        if under_way.wait():
            raise SystemExit("the stream was not followed to its end")
        result = {
            "documents": len(found), "first": told.first, "from": found[0][0], "to": found[-1][0], "step": told.step,
            "diln": diln.__version__, "python": platform.python_version(), "machine": platform.machine(), "seed": 0,
            "stream": json.loads(part.read_text(encoding="utf-8")), "quarters": compare(found, folder, anew),
        }  # fmt: skip
    told.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    if told.figure is not None:
        figure(result, told.figure)


if __name__ == "__main__":
    main()
