"""Whether another run would show the same: lifts of matched topics from seed to seed, and pairs that are called sure.

python benchmarks/agreement.py DATA [--corpora newsarticles2016] [--topics 20 50 100 auto] [--seeds 5]
    [--models FOLDER] [--out FILE]
python benchmarks/agreement.py --table FILE   the table of docs/sampling.md

DATA holds a folder for each corpus with counts.npz (a scipy sparse matrix). DILN is fitted to all documents with the
defaults, once for each seed; for "auto", a model that FOLDER has as nyt-0, nyt-1 and so on is not fitted again. For
every two seeds, of topics in use that are matched (affinity above 0.5) and placed in both: the correlation, over pairs
of topics, of something in the one and in the other:

- the log lift, which is shown; of proportions, under the model;
- the same of the proportions that the documents have, which needs no locations;
- the covariance of log weights, from locations;
- the correlation of ln theta over documents, which needs no locations either.

Then all seeds but the last are the chains of one model, and the last says whether pairs that are called sure have their
sign in a further one.
"""

import argparse
import json
import time
import warnings
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, load_npz

from diln import DILN, load
from diln.inference.lifts import Moments, log_lifts
from diln.models.agreement import ChainAgreement, ChainSummary, places_of

LEAST = 1e-12  # of a proportion whose logarithm is taken


def pairs_of(matrix: NDArray[Any], topics: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.asarray(matrix[np.ix_(topics, topics)][np.triu_indices(len(topics), 1)], np.float64)


def told(model: DILN) -> NDArray[np.bool_]:
    """Topics that take part in lists of pairs."""
    return model.fitted_.paired


def compared(model: DILN, counts: csr_array) -> dict[str, NDArray[Any]]:
    """What is compared, by name, each (n_topics, n_topics)."""
    theta = model.transform(counts)
    return {
        "log_lift": np.log(model.topic_lift_),
        "theta_lift": log_lifts(Moments(theta.mean(axis=0), theta.T @ theta / len(theta))),
        "covariance": model.topic_covariance_,
        "ln_theta": np.corrcoef(np.log(np.maximum(theta, LEAST)).T),
    }


def agreement(models: list[DILN], known: list[dict[str, NDArray[Any]]]) -> dict[str, float]:
    """Means over every two models."""
    found: dict[str, list[float]] = {name: [] for name in (*known[0], "matched")}
    for i, j in combinations(range(len(models)), 2):
        place = places_of(models[i].topic_word_, models[j].topic_word_)
        chosen = np.flatnonzero((place >= 0) & told(models[i]) & told(models[j])[place])
        found["matched"].append(len(chosen) / told(models[i]).sum())
        for name in known[0]:
            both = pairs_of(known[i][name], chosen), pairs_of(known[j][name], place[chosen])
            found[name].append(float(np.corrcoef(*both)[0, 1]))
    return {name: float(np.mean(values)) for name, values in found.items()}


def further(models: list[DILN]) -> dict[str, float]:
    """Pairs that all models but the last call sure, and the share of them with the same sign in the last."""
    first, last = models[0].fitted_, models[-1].fitted_
    known = ChainAgreement.of(first.posterior, [ChainSummary.of(one.fitted_.posterior) for one in models[1:-1]])
    judged = known.judged(told(models[0]), first.posterior.log_lift)
    if judged is None:
        raise ValueError("the models have no correlations")
    place = places_of(models[0].topic_word_, models[-1].topic_word_)
    sure = np.argwhere(np.triu(judged.sure, k=1))
    seen = sure[(place[sure] >= 0).all(axis=1)]
    signs = np.sign(judged.log_lift[seen[:, 0], seen[:, 1]])
    again = np.sign(last.log_lift[place[seen[:, 0]], place[seen[:, 1]]])  # type: ignore[index]
    size = int(told(models[0]).sum())
    return {
        "pairs": size * (size - 1) // 2, "sure": len(sure), "sure_seen": len(seen),
        "same_sign": float((signs == again).mean()) if len(seen) else float("nan"),
    }  # fmt: skip


def fitted(given: argparse.Namespace, corpus: str, topics: str, seed: int, counts: csr_array) -> DILN:
    """A model of a seed: fitted before, or now."""
    before = None if given.models is None else given.models / f"{corpus}-{seed}"
    if topics == "auto" and before is not None and before.exists():
        model = load(before)
        if isinstance(model, DILN):
            return model
    return DILN(topics if topics == "auto" else int(topics), random_state=seed).fit(counts)


def table(rows: list[dict[str, Any]]) -> None:
    """Print rows as a table in Markdown."""
    agreements = "log lifts | of documents' proportions | covariances | ln theta"
    print(
        f"| corpus | topics | {agreements} | topics matched | pairs | sure | same sign |", "|---" * 10 + "|", sep="\n"
    )
    for row in rows:
        agreed = " | ".join(f"{row[name]:.2f}" for name in ("log_lift", "theta_lift", "covariance", "ln_theta"))
        signs = f"{row['same_sign']:.1%}" if row["sure_seen"] else "-"
        print(f"| {row['corpus']} | {row['topics']} | {agreed} | {row['matched']:.0%} | {row['pairs']:,} | "
              f"{row['sure']:,} | {signs} |")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--corpora", nargs="+", default=["newsarticles2016"])
    parser.add_argument("--topics", nargs="+", default=["20", "50", "100", "auto"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--models", type=Path, help="folder with models of the defaults, fitted before")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--table", type=Path, help="print what a file has as a table in Markdown")
    given = parser.parse_args()
    if given.table:
        table(json.loads(given.table.read_text(encoding="utf-8")))
        return
    warnings.simplefilter("ignore")
    rows = json.loads(given.out.read_text(encoding="utf-8")) if given.out and given.out.exists() else []
    print(
        "r of              topics  log lift  of theta  covariance  ln theta  matched   pairs    sure  same sign  CPU s"
    )
    for corpus in given.corpora:
        counts = csr_array(load_npz(given.data / corpus / "counts.npz"))
        for topics in given.topics:
            begun = time.process_time()
            models = [fitted(given, corpus, topics, seed, counts) for seed in range(given.seeds)]
            known = [compared(one, counts) for one in models]
            row = {
                "corpus": corpus, "topics": topics, "seeds": given.seeds, **agreement(models, known),
                **further(models), "cpu_s": time.process_time() - begun,
            }  # fmt: skip
            rows.append(row)
            print(
                f"{corpus:17} {topics:>6}  {row['log_lift']:8.2f}  {row['theta_lift']:8.2f}  "
                f"{row['covariance']:10.2f}  {row['ln_theta']:8.2f}  {row['matched']:7.0%}  "
                f"{row['pairs']:6}  {row['sure']:6}  {row['same_sign']:9.1%}  {row['cpu_s']:5.0f}",
                flush=True,
            )
            if given.out:
                given.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
