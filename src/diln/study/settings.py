"""What is compared: models, the settings they are tried with, splits and seeds."""

from dataclasses import asdict, dataclass
from itertools import product
from math import sqrt
from typing import Any

from diln.corpus import Corpus
from diln.corpus.splits import completion_rows
from diln.errors import SourceError
from diln.models.checks import check_choice, check_number, check_whole
from diln.models.options import INFERENCES, MODELS
from diln.models.parameters import Parameters, defaults, parameters_of
from diln.study.runs import Values

TOPICS = (50, 100, 200)  # tried where a model needs a number
FEWEST_TOPICS = 4
FEWEST_DOCUMENTS = 9  # of which one is for testing and one for validation
ENOUGH_TOKENS = 250_000  # for that many topics; a corpus with fewer is tried with fewer
MOST_DRAWS = 10_000  # states that a chain keeps
PRIORS = {"sampling": (0.015, 0.04, 0.1), "variational": (0.05, 0.1, 0.25)}  # default gamma_0


@dataclass(frozen=True)
class Settings:
    """What is compared, and on how much; ``settings_for`` makes it.

    Attributes
    ----------
    models : tuple of str
        "DILN", "HDP", "LDA", "CTM", or some of them.
    topics : tuple of int
        Numbers of topics to try for models that need one.
    priors : tuple of float
        Topic priors gamma_0 to try for every model.
    seeds : int
        Number of chains for each model.
    splits : int
        Number of splits of the documents; settings are chosen for each split.
    inference : str
        "sampling" or "variational".
    max_iter : int or None
        Maximum number of sweeps or passes of a fit; None uses the default of each model.
    n_draws : int or None
        Number of draws from the posterior that a document's probability is averaged over; None uses the expected topics
        and proportions.
    n_docs : int
        Number of documents in the corpus.
    n_train : int
        Number of documents in a training part.
    """

    models: tuple[str, ...]
    topics: tuple[int, ...]
    priors: tuple[float, ...]
    seeds: int
    splits: int
    inference: str
    max_iter: int | None
    n_draws: int | None
    n_docs: int
    n_train: int

    def candidates(self, model: str) -> list[dict[str, Any]]:
        """What a model is tried with, one of which is chosen on validation documents."""
        topics = self.topics if needs_topics(model) else (None,)
        return [self.values(model, size, prior) for size, prior in product(topics, self.priors)]

    def values(self, model: str, topics: int | None, prior: float | None, **others: Any) -> dict[str, Any]:
        """What a model is told; LDA learns its documents' prior, as the others do."""
        learned = {"doc_topic_prior": "auto"} if "doc_topic_prior" in defaults(model) else {}
        given = {"n_components": topics, "topic_word_prior": prior, "inference": self.inference, **learned}
        return {**given, "max_iter": self.max_iter, **others}

    @property
    def judge(self) -> str:
        """What models are judged by, in words."""
        if self.n_draws is None:
            return "the expected topics and proportions"
        return f"the last {self.n_draws:,} states" if self.inference == "sampling" else f"{self.n_draws:,} draws"

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


def needs_topics(model: str) -> bool:
    """Whether a model must be told how many topics there are."""
    return MODELS[model].keeps_all


def settings_for(  # long by its description
    corpus: Corpus,
    *,
    models: tuple[str, ...] = (),
    topics: tuple[int, ...] = (),
    priors: tuple[float, ...] = (),
    seeds: int = 3,
    splits: int = 1,
    inference: str = "sampling",
    max_iter: int | None = None,
    n_draws: int | None = None,
) -> Settings:
    """Settings for a corpus: your choices, checked, and defaults that suit its size.

    Parameters
    ----------
    corpus : Corpus
        At least 9 documents.
    models : tuple of str
        "DILN", "HDP", "LDA", "CTM". Default: all.
    topics : tuple of int
        Numbers of topics to try for LDA and the CTM, which need one. Default: 50, 100 and 200, or fewer for a corpus
        with fewer than 250,000 tokens.
    priors : tuple of float
        Topic priors gamma_0 to try for every model. Default: 0.015, 0.04 and 0.1 for sampling; 0.05, 0.1 and 0.25 for
        variational inference.
    seeds : int
        Number of chains for each model, with the settings that were chosen for it.
    splits : int
        Number of splits into training and test documents.
    inference : "sampling" or "variational"
        How all models are fitted.
    max_iter : int, optional
        Maximum number of sweeps or passes of a fit. Default: that of each model.
    n_draws : int, optional
        Judge models by the probability of each document averaged over this many draws from the posterior, as in the
        paper. With sampling the draws are the last states that are averaged, at most this many. Default: judge by the
        expected topics and proportions.

    Returns
    -------
    Settings
        For ``Comparison``.
    """
    for model in models:
        check_choice("model", model, tuple(MODELS))
    check_choice("inference", inference, tuple(INFERENCES))
    check_whole("seeds", seeds, 1)
    check_whole("splits", splits, 1)
    for size in topics:
        check_whole("topics", size, 1)
    for prior in priors:
        check_number("prior", prior)
    if max_iter is not None:
        check_whole("max_iter", max_iter, 1)
    if n_draws is not None:
        check_whole("n_draws", n_draws, 1, most=MOST_DRAWS)
    if len(corpus) < FEWEST_DOCUMENTS:
        raise SourceError(
            f"comparing models takes at least {FEWEST_DOCUMENTS} documents, and the corpus has {len(corpus)}; give more"
        )
    settings = Settings(
        models=tuple(dict.fromkeys(models)) or tuple(MODELS),
        topics=tuple(sorted(set(map(int, topics)))) or default_topics(corpus.n_tokens),
        priors=tuple(sorted(set(map(float, priors)))) or PRIORS[inference],
        seeds=int(seeds),
        splits=int(splits),
        inference=inference,
        max_iter=None if max_iter is None else int(max_iter),
        n_draws=None if n_draws is None else int(n_draws),
        n_docs=len(corpus),
        n_train=len(completion_rows(len(corpus), 0)[0]),
    )
    for model in settings.models:
        for values in settings.candidates(model):
            checked(model, values)
    return settings


def default_topics(n_tokens: int) -> tuple[int, ...]:
    """Numbers of topics to try: fewer for a corpus with fewer tokens."""
    scale = min(1.0, sqrt(n_tokens / ENOUGH_TOKENS))
    return tuple(sorted({max(FEWEST_TOPICS, round(size * scale)) for size in TOPICS}))


def checked(model: str, values: Values) -> Parameters:
    """The parameters of a model that is told these values; raises if they make no sense."""
    return parameters_of(model, {name: value for name, value in values.items() if value is not None})
