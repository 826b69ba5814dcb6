"""What studies come to, made up: no fit is needed to draw it."""

import numpy as np

from diln.study.curves import Curve, CurvesView, Panel, PanelsView, PassView
from diln.study.table import Against, Repeated, Row, Score, TableView

MODELS = ("DILN", "HDP", "LDA", "CTM")
LEVELS = {"DILN": 1770.0, "HDP": 1850.0, "LDA": 2050.0, "CTM": 1990.0}


def table_view(models: tuple[str, ...] = MODELS) -> TableView:
    rows = []
    for model in models:
        level, others = LEVELS[model], [other for other in models if other != model]
        best = min(others, key=lambda other: LEVELS[other], default=None)
        against = None if best is None else Against(best, 100 * (level / LEVELS[best] - 1), 0.5, True)
        chosen = {"topic_word_prior": 0.03, "n_components": 1200 if model in ("LDA", "CTM") else None}
        scores = tuple(Score(0, seed, level + 8 * seed - 8, 20.0, 150, 0.1, 0.5, 0.4, 12.5) for seed in range(3))
        repeated = Repeated(0.8, 0.75, None)
        row = Row(model, (chosen,), level, 21.5, 8.0, against, 150, 0.123, 0.5, 0.4, repeated, 1234.5, scores)
        rows.append(row)
    return TableView(tuple(rows), ("chosen at the end of what was tried: LDA --topics 1200",))


def prior_view() -> CurvesView:
    priors, errors = (0.01, 0.03, 0.1), (10.0, 8.0, 12.0)
    curves = [Curve(m, m, priors, tuple(LEVELS[m] + 30 * k for k in range(3)), errors) for m in MODELS]
    return CurvesView(tuple(curves), 5)


def steps_view() -> PanelsView:
    seen = tuple(range(1000, 12_001, 1000))
    panels = []
    for decay in (0.6, 0.75, 0.9):
        for size in (250, 750, 1250):
            curves = [Curve(m, m, seen, tuple(LEVELS[m] + 9e5 * decay / one for one in seen)) for m in MODELS]
            panels.append(Panel(decay, size, tuple(curves)))
    return PanelsView(tuple(panels))


def time_view() -> CurvesView:
    seconds = (1.0, 3.0, 10.0, 30.0)
    online = Curve("DILN", "mini-batches", seconds, (2500.0, 2100.0, 1900.0, 1850.0))
    return CurvesView((online, Curve("DILN", "batch", seconds, (3000.0, 2600.0, 2000.0, 1800.0))))


def pass_view() -> PassView:
    rng, points = np.random.default_rng(0), 12
    shares = np.sort(rng.dirichlet(np.full(60, 0.5), points), axis=1)[:, ::-1]
    walks = np.clip(rng.uniform(-0.6, 0.6, 100) + rng.normal(0, 0.05, (points, 100)).cumsum(axis=0), -1, 1)
    return PassView(
        model="DILN", batch_size=750, documents=tuple(range(1000, 1000 * points + 1, 1000)),
        alpha=tuple(np.linspace(5, 9, points)), beta=tuple(np.linspace(2, 3, points)), topics_in_use=(40,) * points,
        correlations=tuple(map(tuple, walks)), shares=tuple(map(tuple, shares)),
    )  # fmt: skip


VIEWS = {"table": table_view, "prior": prior_view, "steps": steps_view, "time": time_view, "pass": pass_view}
