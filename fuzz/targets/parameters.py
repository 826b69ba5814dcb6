"""Odd values of parameters: of estimators, of inferences, of analysis, and of simulation."""

from collections.abc import Callable
from typing import Any

import numpy as np

from diln import CTM, DILN, HDP, LDA, Corpus, Sampling, Variational, analysis, simulate
from fuzz.case import Case, Run, target
from fuzz.seeds import counts, seeds
from fuzz.targets.folders import asked

ODD: list[Any] = [
    None, True, False, 0, 1, 2, 3, -1, 2.0, 1.5, 0.5, 1e-3, 1e-320, 1e30, 1e308, -0.0, float("nan"), float("inf"),
    float("-inf"), 10**30, 2**63, "", "a", "auto", "kmeans", "random", "draws", "batch", "online", "grow", "exact",
    "sampling", "variational", b"a", [], [1], (1, 2), (1.0, 1e-3), (0, 0), (-1, 1), (float("nan"), 1), (1e308, 1e-308),
    {}, np.int64(2), np.float32(0.5), np.array(2), np.array([1, 2]), np.nan, 1j, object(), int,
    np.random.default_rng(0), np.random.RandomState(0), "\0", "\ud800",
]  # fmt: skip
LONG = {
    "max_iter",
    "max_doc_update_iter",
    "n_states",
    "keep_states",
    "n_chains",
    "warm_up",
    "n_jobs",
    "total_samples",
    "n_components",
    "n_dims",
}
SMALL = [
    value for value in ODD if not isinstance(value, int | float) or isinstance(value, bool) or not 3 < value < 2**40
]


def _value(case: Case, name: str) -> Any:
    """An odd value; not one that rightly asks for hours of work."""
    return case.spoiling.choice(SMALL if name in LONG else ODD)


@target(2)
def estimator_parameters(case: Case) -> Run:
    """Into a fit, as arguments or by set_params."""
    rng = case.rng
    maker, way = rng.choice((DILN, HDP, LDA, CTM)), rng.choice((Sampling, Variational))
    model: Any = maker(2, max_iter=2, inference=way(), random_state=0)
    names = sorted(set(model.get_params(deep=False)) - {"inference"}) + [
        f"inference__{name}" for name in way().get_params()
    ]
    told = {name: _value(case, name.removeprefix("inference__")) for name in rng.sample(names, case.rounds)}
    if rng.random() < 0.05:
        told["inference"] = rng.choice(ODD)
    rows, direct = counts(5), rng.random() < 0.3
    told_directly = {name: value for name, value in told.items() if "__" not in name}

    def run() -> object:
        if direct:
            return asked(
                maker(**{"n_components": 2, "max_iter": 2, "random_state": 0, **told_directly}).fit(rows), rows
            )
        return asked(model.set_params(**told).fit(rows), rows)

    return run


@target(2)
def analysis_arguments(case: Case) -> Run:
    """Into the functions of analysis."""
    rng, every = case.rng, seeds().estimators
    one: Any = every[rng.choice(sorted(every))]
    two: Any = every[rng.choice(sorted(every))] if rng.random() < 0.8 else rng.choice(ODD)
    odd: Any = rng.choice(ODD)
    number: Any = rng.choice((1, 2, 3, 100, 0, -1, 1.5, None, "a", True, 10**30, float("nan"), [2], np.int64(2)))
    corpus: Any = (
        Corpus.from_texts(["red fox runs", "blue dog", "red dog"], stop_words=None) if rng.random() < 0.8 else odd
    )
    words: Any = rng.choice(
        ([["red", "dog"]], [[]], [], ["red"], [["red", "red"]], [["no"]], [[3]], odd, [odd], [["red", "dog"], ["fox"]])
    )
    ways: list[Callable[[], object]] = [
        lambda: analysis.largest_topics(one, number, number if number else 3),
        lambda: analysis.correlated_pairs(one, number),
        lambda: analysis.match_topics(one, two).to_json(),
        lambda: analysis.compare_correlations(one, two),
        lambda: analysis.stability([one, two]).to_json(),
        lambda: analysis.stability(odd),
        lambda: analysis.diversity(one, number),
        lambda: analysis.exclusivity(one, number),
        lambda: analysis.effective_topics(two),
        lambda: analysis.quality(two, corpus, number).to_json(),
        lambda: analysis.quality(one, corpus).to_json(),
        lambda: [analysis.npmi(found) for found in analysis.count_together(corpus, words)],
        lambda: [analysis.umass(found, odd) for found in analysis.count_together(corpus, words)],
        lambda: analysis.complete(two, counts(3), counts(3, seed=1), n_draws=number).perplexity,
        lambda: analysis.in_use(two),
        lambda: one.perplexity(counts(3), method=odd, n_draws=number),
        lambda: one.perplexity(counts(3), seed=odd),
        lambda: one.get_feature_names_out(odd),
        lambda: setattr(one, "vocabulary_", odd),
    ]
    return rng.choice(ways)


@target(1)
def simulations(case: Case) -> Run:
    """Into what draws corpora from the models."""
    rng = case.rng
    numbers: list[Any] = [
        1,
        2,
        3,
        0,
        -1,
        1.5,
        None,
        "a",
        float("nan"),
        float("inf"),
        1e-300,
        1e300,
        True,
        [1, 2],
        [0.5, 0.5],
        [[1.0, 0.0], [0.0, 1.0]],
        [[2.0, 3.0], [3.0, 2.0]],
        [-1, 2],
        [[np.nan] * 2] * 2,
        10**30,
        [],
        object(),
    ]
    a, b, c = (rng.choice(numbers) for _ in range(3))
    seed = rng.choice((0, 0, 0, None, -1, "a"))
    ways: list[Callable[[], object]] = [
        lambda: simulate.stick_weights(a, b, seed),
        lambda: simulate.lda_weights(a, b, rng=seed).doc_topics,
        lambda: simulate.hdp_weights(a, b, beta=c, rng=seed).doc_topics,
        lambda: simulate.ctm_weights(a, b, c, rng=seed).doc_topics,
        lambda: simulate.draw_topics(a, b, c, rng=seed),
        lambda: simulate.weight_moments(a, b, c),
        lambda: simulate.weight_moments_marginal(a, b, c),
        lambda: simulate.stick_moments(a, b),
        lambda: simulate.gaussian_kernel(a, b)(np.eye(2), np.eye(2)),
    ]
    return rng.choice(ways)
