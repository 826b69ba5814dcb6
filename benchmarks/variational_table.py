"""Variational DILN, HDP and LDA side by side: perplexity of completed documents, for each prior and truncation.

python benchmarks/variational_table.py DATA [--corpora ap nyt elife] [--out results.json]

DATA holds a folder for each corpus with counts.npz (a scipy sparse matrix). A fifth of the documents, 2,000 at most,
are for testing: half the tokens of each are observed and the others predicted. Every cell is fitted on one thread with
the model's defaults but for what the table names, tol=1e-4, and a learned Dirichlet prior for LDA; one cell of each
model and corpus, in batch and online, with three seeds.
"""

import argparse
import json
import time
import warnings
from itertools import product
from pathlib import Path
from typing import Any

from scipy.sparse import csr_array, load_npz

from diln import DILN, HDP, LDA, Variational
from peers.split import split

PRIORS = (0.05, 0.1, 0.25, 0.5)
TRUNCATIONS = (100, 200)
MODELS = {"DILN": DILN, "HDP": HDP, "LDA": LDA}
SEEDED = (0.1, 100)  # the cell with three seeds


def measure(model: str, prior: float, topics: int, learning: str, seed: int, parts: Any) -> dict[str, Any]:
    train, observed, held_out = parts
    given: dict[str, Any] = {
        "inference": Variational(tol=1e-4),
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
        "model": model, "prior": prior, "topics": topics, "learning": learning, "seed": seed,
        "perplexity": fitted.perplexity(observed, held_out),
        "perplexity_draws": fitted.perplexity(observed, held_out, method="draws"),
        "in_use": fitted.n_topics_, "passes": fitted.n_iter_, "cpu_s": seconds,
        "beta": getattr(fitted, "beta_", None),
    }  # fmt: skip


def cells() -> list[tuple[str, float, int, str, int]]:
    batch = [(m, p, t, "batch", 0) for p, t, m in product(PRIORS, TRUNCATIONS, MODELS)]
    seeds = [(m, *SEEDED, "batch", s) for m in MODELS for s in (1, 2)]
    return batch + seeds + [(m, *SEEDED, "online", s) for m in MODELS for s in (0, 1, 2)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--corpora", nargs="+", default=["ap", "nyt", "elife"])
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    results = []
    print("corpus  model  prior  topics  learning  seed  perplexity  (draws)  in use  passes  CPU s  beta", flush=True)
    for corpus in given.corpora:
        parts = split(csr_array(load_npz(given.data / corpus / "counts.npz")), 0, False)
        for cell in cells():
            row = {"corpus": corpus, **measure(*cell, parts)}
            results.append(row)
            beta = "" if row["beta"] is None else f"{row['beta']:.1f}"
            print(
                f"{corpus:7} {row['model']:5}  {row['prior']:5}  {row['topics']:6}  {row['learning']:8}  "
                f"{row['seed']:4}  {row['perplexity']:10.1f}  {row['perplexity_draws']:7.1f}  {row['in_use']:6}  "
                f"{row['passes']:6}  {row['cpu_s']:5.1f}  {beta}",
                flush=True,
            )
            if given.out:
                given.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
