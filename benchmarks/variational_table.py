"""Variational DILN, HDP and LDA side by side: perplexity of completed documents, for each prior and truncation.

python benchmarks/variational_table.py DATA [--corpora ap nyt elife] [--out results.json]
    [--models DILN HDP] [--priors 0.05 1] [--topics 200] [--draws 5 20 100 1000] [--tol 1e-3]

DATA holds a folder for each corpus with counts.npz (a scipy sparse matrix). A fifth of the documents, 2,000 at most,
are for testing: half the tokens of each are observed and the others predicted. Every cell is fitted on one thread with
the model's defaults but for what the table names, tol=1e-4 (the default and the paper's is 1e-3), and a learned
Dirichlet prior for LDA; one cell of each model and corpus, in batch and online, with three seeds.

Each is judged by the expected topics and proportions (plug-in) and, as the paper does, by the mean probability over
draws from Q; the first 5, 20, ... of the same draws, so that the column shows where they have converged. Cells that
--out has with these draws are not measured again.
"""

import argparse
import json
import time
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, load_npz

from diln import DILN, HDP, LDA, Variational
from diln.engine.threads import Threads
from diln.inference.predict import log_likelihood
from peers.split import split

PRIORS = (0.05, 0.1, 0.25, 0.5, 0.75, 1.0)  # the paper's, and one below
TRUNCATIONS = (100, 200)
MODELS = {"DILN": DILN, "HDP": HDP, "LDA": LDA}
SEEDED = (0.1, 100)  # the cell with three seeds
TOL = 1e-4
NAMES = ("model", "prior", "topics", "learning", "seed")

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--corpora", nargs="+", default=["ap", "nyt", "elife"])
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--priors", nargs="+", type=float, default=PRIORS)
    parser.add_argument("--topics", nargs="+", type=int, default=TRUNCATIONS)
    parser.add_argument("--draws", nargs="+", type=int, default=[20])
    parser.add_argument("--tol", type=float, default=TOL)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
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
