"""Whether documents are those that a model was trained on."""

from dataclasses import dataclass
from typing import Any

from diln.analysis.inputs import Model, fitted_of, running
from diln.corpus import Corpus
from diln.corpus.sound import sound_rows
from diln.engine.base import Engine
from diln.inference.data import Batch
from diln.models.batches import in_parts
from diln.models.counts import MatrixRows, Rows, aligned, as_rows, whole
from diln.models.fitted import Fitted, check_terms
from diln.models.trained import TrainingSketch


@dataclass(frozen=True, slots=True)
class TrainedOn:
    """How many of some documents a model was trained on: those with the same counts of the model's terms.

    Attributes
    ----------
    n_docs : int
        Documents with a known term; the others do not count.
    n_compared : int
        Number of these that could be compared with the training documents: all of them if ``exact``, otherwise a
        random part.
    n_found : int
        Number of these that the model was trained on.
    exact : bool
        Whether the model remembers all its training documents. It does up to 16,383 different ones; of more it
        remembers a random part.
    """

    n_docs: int
    n_compared: int
    n_found: int
    exact: bool

    @property
    def share(self) -> float | None:
        """Share of the documents that the model was trained on, an estimate unless ``exact``; None if none compares."""
        return self.n_found / self.n_compared if self.n_compared else None

    def to_json(self) -> dict[str, Any]:
        """As plain numbers."""
        names = ("share", "exact", "n_docs", "n_compared", "n_found")
        return {name: getattr(self, name) for name in names}


def trained_on(model: Model, X: Any) -> TrainedOn | None:
    """How many of these documents a model was trained on.

    A perplexity of documents that the model was trained on says little about new documents.

    Parameters
    ----------
    model : DILN, HDP, LDA or CTM
        A fitted estimator, or a model read by ``diln.load``.
    X : Corpus, or counts (n_docs, n_terms)
        Documents; the columns of counts must be in the order of the model's terms.

    Returns
    -------
    TrainedOn or None
        None if the model was saved by a version that did not keep what it was trained on.
    """
    fitted = fitted_of(model)
    if isinstance(X, Corpus):
        with running(model, 1) as engine:
            return rows_trained_on(fitted, aligned(X, fitted.vocabulary), engine)
    counts = as_rows(sound_rows(X, "X"))
    check_terms(counts, fitted.posterior)
    rows = MatrixRows(as_rows(whole(counts)) if fitted.inference == "sampling" else counts)
    with running(model, 1) as engine:
        return rows_trained_on(fitted, rows, engine)


def rows_trained_on(fitted: Fitted, rows: Rows, engine: Engine) -> TrainedOn | None:
    """The same of documents in the terms of the model."""
    sketch = fitted.trained
    if sketch is None:
        return None
    found = list(engine.each(step_look_up, in_parts(rows), sketch))
    n_docs, n_compared, n_found = (sum(numbers) for numbers in zip(*found, strict=True)) if found else (0, 0, 0)
    return TrainedOn(n_docs, n_compared, n_found, sketch.complete)


def step_look_up(part: Batch, sketch: TrainingSketch, engine: Engine) -> tuple[int, int, int]:
    """Documents with a token, those of them that can be compared, and those that are found."""
    counts = part.counts()
    return int((counts.indptr[1:] > counts.indptr[:-1]).sum()), *sketch.looked_up(counts)
