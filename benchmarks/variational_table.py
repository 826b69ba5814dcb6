"""Variational DILN, HDP and LDA side by side: perplexity of completed documents, for each prior and truncation.

python benchmarks/variational_table.py DATA [--corpora ap nyt elife] [--out results.json]
    [--models DILN HDP] [--priors 0.05 1] [--topics 200] [--draws 5 20 100 1000] [--tol 1e-3]
python benchmarks/variational_table.py --show [--out benchmarks/results/variational_table.json]
python benchmarks/variational_table.py --fill docs/paper.md docs/models.md [--out ...]

DATA holds a folder for each corpus with counts.npz (a scipy sparse matrix). A fifth of the documents, 2,000 at most,
are for testing: half the tokens of each are observed and the others predicted. Every cell is fitted on one thread with
the model's defaults but for what the table names, tol=1e-4 (the default and the paper's is 1e-3), and a learned
Dirichlet prior for LDA; one cell of each model and corpus, in batch and online, with three seeds.

Each is judged by the expected topics and proportions (plug-in) and, as the paper does, by the mean probability over
draws from Q; the first 5, 20, ... of the same draws, so that the column shows where they have converged. Cells that
--out has with these draws are not measured again. --show prints the tables of the documentation, and --fill puts them
into its pages.
"""

import argparse
import json
import re
import time
import warnings
from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
from scipy.sparse import csr_array, load_npz

from diln import DILN, HDP, LDA, Variational
from diln.engine.threads import Threads
from diln.inference.predict import log_likelihood
from peers.split import split

PRIORS = (0.05, 0.1, 0.25, 0.5, 0.75, 1.0)  # the paper's, and one below
FIRST_PRIOR = 0.1  # of the paper's
TRUNCATIONS = (100, 200)
MODELS = {"DILN": DILN, "HDP": HDP, "LDA": LDA}
SEEDED = (0.1, 100)  # the cell with three seeds
TOL = 1e-4
NAMES = ("model", "prior", "topics", "learning", "seed")

STORED = Path(__file__).parent / "results" / "variational_table.json"
MARKED = re.compile(r"(<!-- variational: ([a-z0-9-]+) -->\n).*?(<!-- /variational -->)", re.DOTALL)

NUMBERS = ("5", "20", "100", "1000")  # of draws
MEASURES: dict[str | None, str] = {number: f"{int(number):,}" for number in NUMBERS} | {None: "plug-in"}

Row = dict[str, Any]
Cell = tuple[str, float, int, str, int]
Counts = csr_array


def measure(cell: Cell, tol: float, draws: list[int], parts: tuple[Counts, Counts, Counts]) -> dict[str, Any]:
    """The row of a cell."""
    model, prior, topics, learning, seed = cell
    train, observed, held_out = parts
    given: dict[str, Any] = {
        "inference": Variational(tol=tol),
        "topic_word_prior": prior,
        "random_state": seed,
        "learning_method": learning,
    }
    if model == "LDA":
        given["doc_topic_prior"] = "auto"
    begun = time.process_time()
    fitted = MODELS[model](topics, **given).fit(train)
    seconds = time.process_time() - begun
    return {
        "perplexity": fitted.perplexity(observed, held_out),
        "perplexity_draws": by_draws(fitted, observed, held_out, draws),
        "in_use": fitted.n_topics_, "passes": fitted.n_iter_, "cpu_s": seconds,
        "beta": getattr(fitted, "beta_", None),
    }  # fmt: skip


def by_draws(model: Any, observed: Counts, held_out: Counts, numbers: list[int]) -> dict[str, float]:
    """The perplexity by the first so many draws from Q, for each of these numbers."""
    fitted, out = model.fitted_, {}
    values, rng = np.full(held_out.shape[0], -np.inf), np.random.default_rng([fitted.seed, 2])
    limits = fitted.parameters.document_steps, fitted.parameters.mean_change_tol
    with Threads(1) as threads:
        drawn = fitted.posterior.draws(observed, *limits, max(numbers), rng, threads)
        for number, (topics, proportions) in enumerate(drawn, 1):
            values = np.logaddexp(values, log_likelihood(topics, proportions, held_out, threads))
            if number in numbers:
                out[str(number)] = float(np.exp(-np.sum(values - np.log(number)) / held_out.sum()))
    return out


def cells() -> list[Cell]:
    """What the table is made of."""
    batch = [(m, p, t, "batch", 0) for p, t, m in product(PRIORS, TRUNCATIONS, MODELS)]
    seeds = [(m, *SEEDED, "batch", s) for m in MODELS for s in (1, 2)]
    return batch + seeds + [(m, *SEEDED, "online", s) for m in MODELS for s in (0, 1, 2)]


def judged(row: Row | None, draws: str | None) -> float | None:
    """A row's perplexity by this number of draws, or by the expected topics and proportions."""
    if row is None:
        return None
    value: float | None = row["perplexity"] if draws is None else row["perplexity_draws"].get(draws)
    return value


def batch(rows: list[Row]) -> dict[tuple[str, int, float], dict[str, Row]]:
    """Rows of the first seed, learned in batch, by corpus, topics and prior, and then by model."""
    found: dict[tuple[str, int, float], dict[str, Row]] = {}
    for row in rows:
        if row["learning"] == "batch" and not row["seed"] and row["tol"] == TOL:
            found.setdefault((row["corpus"], row["topics"], row["prior"]), {})[row["model"]] = row
    order = list(dict.fromkeys(row["corpus"] for row in rows))
    return dict(sorted(found.items(), key=lambda item: (item[0][1], order.index(item[0][0]), item[0][2])))


def lead(models: dict[str, Row], draws: str | None) -> float:
    """Perplexity of DILN beside that of the HDP, in percent; below 0 where DILN is better."""
    diln, hdp = (judged(models[name], draws) for name in ("DILN", "HDP"))
    return 100 * (diln / hdp - 1) if diln and hdp else float("nan")


def in_percent(value: float) -> str:
    """A lead as a table has it."""
    return f"{value:+.1f}%" if abs(value) >= 0.05 else "0.0%"


def drawn(models: dict[str, Row], draws: str | None) -> bool:
    """Whether both models were judged by this number of draws."""
    return all(judged(models.get(name), draws) is not None for name in ("DILN", "HDP"))


def wins(rows: list[Row]) -> str:
    """In how many cells DILN is better than the HDP, and by how much; each part has the same cells for all measures."""
    lines, cells = [], batch(rows)
    for most in NUMBERS[1:]:
        part = [models for models in cells.values() if drawn(models, most)]
        if not part:
            continue
        leads = {
            draws: [lead(models, draws) for models in part] if all(drawn(models, draws) for models in part) else []
            for draws in MEASURES
            if draws is None or int(draws) <= int(most)
        }
        ahead = {draws: f"{sum(value < 0 for value in values)}" for draws, values in leads.items() if values}
        medians = {draws: in_percent(median(values)) for draws, values in leads.items() if values}
        means = {draws: in_percent(mean(values)) for draws, values in leads.items() if values}
        parts = {"better in": ahead, "median": medians, "mean": means}
        for said, made in parts.items():
            name = f"{len(part)} cells" if made is ahead else ""
            lines.append([name, said, *(made.get(draws, "") for draws in MEASURES)])
    return table(["draws:", "", *MEASURES.values()], lines)


def perplexities(rows: list[Row], topics: int) -> str:
    """Perplexity for each corpus and prior: by the expected topics and proportions, by 20 draws, and by 100."""
    lines = []
    for (corpus, size, prior), models in batch(rows).items():
        if size == topics:
            values = [best([judged(models.get(name), draws) for name in MODELS]) for draws in (None, "20", "100")]
            cells = (", ".join(of).rstrip(", -") or "-" for of in zip(*values, strict=True))
            lines.append([corpus, f"{prior:g}", *cells])
    return table(["corpus", "gamma_0", *MODELS], lines)


def best(values: list[float | None]) -> list[str]:
    """Perplexities of the models as a table has them; the least is bold if DILN and the HDP are there."""
    least = min((value for value in values if value is not None), default=None) if None not in values[:2] else None
    return ["-" if v is None else f"**{v:.0f}**" if v == least else f"{v:.0f}" for v in values]


def least(rows: list[Row]) -> str:
    """The least perplexity of each model over the paper's priors, and the prior that has it, by both measures."""
    lines, groups = [], dict[tuple[str, int], dict[float, dict[str, Row]]]()
    for (corpus, topics, prior), models in batch(rows).items():
        if prior >= FIRST_PRIOR:
            groups.setdefault((corpus, topics), {})[prior] = models
    for ((corpus, topics), priors), (said, draws) in product(groups.items(), (("plug-in", None), ("20 draws", "20"))):
        tried = {
            name: {prior: value for prior, models in priors.items() if (value := judged(models.get(name), draws))}
            for name in MODELS
        }
        values = best([min(of.values(), default=None) for of in tried.values()])
        at = [f" ({min(of, key=of.__getitem__):g})" if of else "" for of in tried.values()]
        lines.append([corpus, f"{topics}", said, *map("".join, zip(values, at, strict=True))])
    return table(["corpus", "topics", "judged by", *MODELS], lines)


def by_number(rows: list[Row]) -> str:
    """How perplexity falls as draws are added, where there are many."""
    lines = []
    for (corpus, topics, prior), models in batch(rows).items():
        if drawn(models, NUMBERS[-1]):
            cell = f"{corpus}, {topics} topics, {prior:g}"
            for name in ("DILN", "HDP"):
                values = [judged(models[name], draws) for draws in MEASURES]
                lines.append([cell if name == "DILN" else "", name, *best([None, None, *values])[2:]])
            lines.append(["", "lead", *(in_percent(lead(models, draws)) for draws in MEASURES)])
    return table(["draws:", "", *MEASURES.values()], lines)


def seeds(rows: list[Row]) -> str:
    """Three seeds of one cell, plug-in."""
    several: dict[tuple[str, str], dict[str, list[str]]] = {}
    for row in rows:
        if (row["prior"], row["topics"]) == SEEDED:
            models = several.setdefault((row["corpus"], row["learning"]), {name: [] for name in MODELS})
            models[row["model"]].append(f"{row['perplexity']:.0f}")
    lines = [[*key, *(", ".join(values) for values in models.values())] for key, models in several.items()]
    return table(["corpus", "learning", *MODELS], lines)


def similar() -> str:
    """Precision of the ten most similar documents by locations, as in the paper, and by others, on five corpora."""
    ways = {"locations": "locations, as in the paper", "proportions": "topics' proportions", "similar": "diln similar"}
    ways["tfidf"] = "TF-IDF"
    results = stored("retrieval")
    corpora = [name for name in results if name != "machine"]
    lines = [[way, *(f"{results[name][key]['precision']:.3f}" for name in corpora)] for key, way in ways.items()]
    return table(["ranked by", *(name.rpartition("-")[0] for name in corpora)], lines)


def signs() -> str:
    """How many strong correlations that were planted have the right sign."""
    lines = []
    for topics, name in ((12, "recovery"), (20, "recovery_20"), (50, "recovery_50")):
        found = stored(name)["rows"]
        strong = sum(row["strong"] for row in found)
        right = sum(row["strong"] * row["signs"] for row in found)
        lines.append([f"{topics}", f"{len(found)}", f"{strong}", f"{100 * right / strong:.1f}%"])
    return table(["topics asked for", "planted corpora", "strong correlations", "with the right sign"], lines)


def stored(name: str) -> Any:
    """Results of another benchmark."""
    return json.loads((STORED.parent / f"{name}.json").read_text(encoding="utf-8"))


def table(head: list[str], lines: Iterable[list[str]]) -> str:
    """A table in Markdown."""
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *lines])


TABLES: dict[str, Callable[[list[Row]], str]] = {
    "wins": wins,
    "by-number": by_number,
    "least": least,
    "topics-200": lambda rows: perplexities(rows, 200),
    "topics-100": lambda rows: perplexities(rows, 100),
    "seeds": seeds,
    "similar": lambda _: similar(),
    "signs": lambda _: signs(),
}


def filled(page: str, rows: list[Row]) -> str:
    """A page with the tables of these results where its markers are."""
    return MARKED.sub(lambda match: f"{match[1]}\n{TABLES[match[2]](rows)}\n\n{match[3]}", page)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--corpora", nargs="+", default=["ap", "nyt", "elife"])
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--priors", nargs="+", type=float, default=PRIORS)
    parser.add_argument("--topics", nargs="+", type=int, default=TRUNCATIONS)
    parser.add_argument("--draws", nargs="+", type=int, default=[20])
    parser.add_argument("--tol", type=float, default=TOL)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--fill", type=Path, nargs="+", default=[])
    given = parser.parse_args()
    if given.show or given.fill:
        results = json.loads((given.out or STORED).read_text(encoding="utf-8"))
        for page in given.fill:
            page.write_text(filled(page.read_text(encoding="utf-8"), results), encoding="utf-8")
        print("\n\n".join(f"{name}\n\n{made(results)}" for name, made in TABLES.items() if given.show))
        return
    if given.data is None:
        parser.error("name the folder of the corpora")
    warnings.simplefilter("ignore")
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    if given.out and given.out.exists():
        stored = json.loads(given.out.read_text(encoding="utf-8"))
        rows = {(row["corpus"], *(row[name] for name in NAMES), row["tol"]): row for row in stored}
    print(
        "corpus  model  prior  topics  learning  seed  tol  plug-in  (draws)  in use  passes  CPU s  beta", flush=True
    )
    for corpus in given.corpora:
        parts = split(csr_array(load_npz(given.data / corpus / "counts.npz")), 0, False)
        for cell in cells():
            if cell[0] not in given.models or cell[1] not in given.priors or cell[2] not in given.topics:
                continue
            key = (corpus, *cell, given.tol)
            if set(map(str, given.draws)) <= rows.get(key, {}).get("perplexity_draws", {}).keys():
                continue
            row = {
                "corpus": corpus, **dict(zip(NAMES, cell, strict=True)), "tol": given.tol,
                **measure(cell, given.tol, given.draws, parts),
            }  # fmt: skip
            rows[key] = row
            drawn = ", ".join(f"{number}: {value:.1f}" for number, value in row["perplexity_draws"].items())
            beta = "" if row["beta"] is None else f"{row['beta']:.1f}"
            print(
                f"{corpus:7} {row['model']:5}  {row['prior']:5}  {row['topics']:6}  {row['learning']:8}  "
                f"{row['seed']:4}  {row['tol']:g}  {row['perplexity']:7.1f}  ({drawn})  {row['in_use']:6}  "
                f"{row['passes']:6}  {row['cpu_s']:5.1f}  {beta}",
                flush=True,
            )
            if given.out:
                given.out.write_text(json.dumps(list(rows.values()), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
