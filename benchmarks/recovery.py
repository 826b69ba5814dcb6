"""Whether DILN finds what was planted: topics, and the signs of strong correlations, seed by seed.

python benchmarks/recovery.py [--seeds 20] [--topics 12] [--prior 0.05] [--chains 4] [--apart 6] [--out results.json]

A corpus is drawn from DILN with 12 topics of even weight in 3 dimensions: locations are normal with variance 1 and then
centred, for a shift of all locations together changes no document; 1,500 documents of 150 tokens, 400 terms, topics
from a Dirichlet of 0.05, beta 12. A DILN is fitted to it with default parameters, or with the n_components and the
topic_word_prior given.

Every planted topic is matched with a found one, one to one, so that the sum of affinities is largest; the affinity of
two topics is sum_w sqrt(p_w q_w), 1 if they are the same. A pair of planted topics is strong if the cosine of their
locations is above 0.5 or below -0.5. Its sign is right if the log lift of the two matched topics has it; a pair with a
topic whose affinity is below 0.8, which was not found, counts as wrong.

``--apart`` topics have the origin for their location, so that they have nothing to do with any other. With ``--chains``
the share of such pairs that are called sure, and of strong ones, are told as well.
"""

import argparse
import json
import platform
import time
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

import diln
from diln import DILN, Corpus, Sampling, simulate

Floats = NDArray[np.float64]
STRONG = 0.5  # cosine of a strong pair
FOUND = 0.8  # affinity of a topic that was found


@dataclass(frozen=True)
class Planted:
    """A corpus, and what is in it."""

    corpus: Corpus
    topics: Floats  # (n_topics, n_terms)
    locations: Floats  # (n_topics, d)


@dataclass(frozen=True)
class Recovery:
    """How much of it was found."""

    affinity: float  # mean over planted topics
    worst: float  # least of them
    signs: float  # share of strong pairs with the right sign
    strong: int  # strong pairs
    pattern: float  # correlation of found and planted cosines over all pairs
    n_topics: int  # in use
    alive: tuple[float, ...]  # the largest singular values of the found locations over those of the planted ones
    sure: float | None  # share of strong pairs that are called sure
    false: float | None  # share of independent pairs that are called sure


def planted(
    seed: int, n_topics: int = 12, n_dims: int = 3, n_docs: int = 1500, length: int = 150, n_terms: int = 400,
    variance: float = 1.0, apart: int = 0,
) -> Planted:  # fmt: skip
    """A corpus with topics of even weight at random, centred locations, and so many of them at the origin."""
    rng = np.random.default_rng(seed)
    locations = np.sqrt(variance) * rng.standard_normal((n_topics, n_dims))
    locations[:apart] = 0
    locations[apart:] -= locations[apart:].mean(axis=0)
    topics = simulate.draw_topics(n_topics, n_terms, 0.05, rng=rng)
    weights = simulate.diln_weights(np.full(n_topics, 1 / n_topics), locations, n_docs, beta=float(n_topics), rng=rng)
    corpus, _ = simulate.draw_corpus(topics, weights.doc_topics, length, rng=rng)
    return Planted(corpus, topics, locations)


def matched(topics: Floats, found: Floats) -> tuple[NDArray[np.intp], Floats]:
    """For each planted topic the found one that is it, and their affinity."""
    affinity = np.sqrt(topics) @ np.sqrt(found).T
    rows, columns = linear_sum_assignment(-affinity)
    return columns, affinity[rows, columns]


def cosines(locations: Floats) -> Floats:
    """Cosine of every pair of locations; 0 beside the origin."""
    unit = locations / np.maximum(np.linalg.norm(locations, axis=1, keepdims=True), 1e-300)
    return np.asarray((unit @ unit.T)[np.triu_indices(len(unit), 1)])


def recovery(truth: Planted, model: Any) -> Recovery:
    """What of the truth is in a fitted DILN."""
    columns, affinity = matched(truth.topics, model.topic_word_)
    first, second = np.triu_indices(len(columns), 1)
    given, found = cosines(truth.locations), cosines(model.topic_locations_[columns])
    there = (affinity[first] >= FOUND) & (affinity[second] >= FOUND)
    strong = np.abs(given) > STRONG
    right = there & (np.sign(given) == np.sign(np.log(model.topic_lift_[columns[first], columns[second]])))
    lengths = [np.linalg.svd(one, compute_uv=False) for one in (model.topic_locations_, truth.locations)]
    judged = model.fitted_.judged()
    sure = None if judged is None else judged.sure[columns[first], columns[second]]
    return Recovery(
        float(affinity.mean()), float(affinity.min()), float(right[strong].mean()), int(strong.sum()),
        float(np.corrcoef(given, found)[0, 1]), model.n_topics_,
        tuple((lengths[0][: len(lengths[1])] / lengths[1]).tolist()),
        _share(sure, strong), _share(sure, given == 0),
    )  # fmt: skip


def _share(sure: NDArray[np.bool_] | None, pairs: NDArray[np.bool_]) -> float | None:
    return None if sure is None or not pairs.any() else float(sure[pairs].mean())


def _percent(share: float | None) -> str:
    return "   -" if share is None else f"{share:4.0%}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--topics", type=int)
    parser.add_argument("--prior", type=float)
    parser.add_argument("--chains", type=int, default=1)
    parser.add_argument("--apart", type=int, default=0)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    about = f"diln {diln.__version__}, numpy {np.__version__}, Python {platform.python_version()}, {platform.machine()}"
    print(about)
    print(
        "seed  affinity  worst  right signs  strong pairs  pattern  in use  sure  false  alive  sweeps  CPU s",
        flush=True,
    )
    rows = []
    for seed in range(given.seeds):
        truth, begun = planted(seed, apart=given.apart), time.process_time()
        how = Sampling(n_chains=given.chains)
        model = DILN(given.topics or "auto", topic_word_prior=given.prior, inference=how, random_state=100 * seed)
        model.fit(truth.corpus)
        row = {
            "seed": seed, **asdict(recovery(truth, model)), "sweeps": model.n_iter_,
            "cpu_s": time.process_time() - begun,
        }  # fmt: skip
        rows.append(row)
        print(
            f"{seed:4}  {row['affinity']:8.3f}  {row['worst']:5.3f}  {row['signs']:11.3f}  {row['strong']:12}  "
            f"{row['pattern']:7.3f}  {row['n_topics']:6}  {_percent(row['sure'])}  {_percent(row['false']):>5}  "
            f"{'/'.join(f'{one:.1f}' for one in row['alive'])}  {row['sweeps']:6}  {row['cpu_s']:5.1f}",
            flush=True,
        )
    pairs = np.array([row["strong"] for row in rows])
    signs = float(np.average([row["signs"] for row in rows], weights=pairs))
    print(f"{signs:.1%} of {pairs.sum()} strong pairs have the right sign; least of a seed", end=" ")
    print(f"{min(row['signs'] for row in rows):.1%}")
    for name, what in (("sure", "strong"), ("false", "independent")):
        if rows[0][name] is not None:
            print(f"{np.mean([row[name] for row in rows]):.1%} of {what} pairs are called sure")
    if given.out:
        given.out.write_text(json.dumps({"about": about, "rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
