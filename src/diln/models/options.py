"""All that models and inferences can be told: every option once, with its default and its description."""

from dataclasses import Field, InitVar, dataclass, field, fields
from typing import Any, ClassVar, Literal, Self

from diln.errors import brief
from diln.models.checks import LARGE, SMALL, ParameterError
from diln.models.declared import Pair, about, about_of, documented, like, option

DIRICHLET_PROCESSES = ("DILN", "HDP")
MOST_TOPICS = 65_520  # as many as sampling has numbers for
MOST_SWEEPS = 1_000_000  # and passes, updates and states: what takes longer than anybody waits is a slip
FITTED = "a fitted model of the same terms"


class Options:
    """The manners of scikit-learn's estimators, without its imports: a dataclass that it can read, change and copy."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The options by name."""
        return {one.name: getattr(self, one.name) for one in fields(self)}  # type: ignore[arg-type]

    def set_params(self, **given: Any) -> Self:
        """Change some of the options."""
        known = self.get_params()
        for name, value in given.items():
            if name not in known:
                raise ValueError(f"{type(self).__name__} has no option {name!r}; it has {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        told = [one for one in fields(self) if getattr(self, one.name) != one.default]  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(f'{one.name}={getattr(self, one.name)!r}' for one in told)})"


@documented
@dataclass(kw_only=True, repr=False)
class Sampling(Options):
    """Gibbs sampling: draws from the posterior, of which late ones are averaged. The default way to fit a model."""

    name: ClassVar[str] = "sampling"

    n_states: int | None = option(
        None,
        "Number of late states of the chain to average: the model is their mean.",
        "No more than half the sweeps.",
        default="a third of the sweeps, at least 50; grow 10",
        most=MOST_SWEEPS,
    )
    keep_states: int = option(
        0,
        'Number of averaged states to keep, the last ones, for perplexity by "draws".',
        "Online learning keeps none.",
        least=0,
        most=10_000,
    )
    n_chains: int = option(
        1,
        "Number of chains over the same documents. The first is the model; the others tell which topics and "
        "correlations another run finds again. 4 are enough for most uses.",
        "The model has the same bits for any number of chains; chain i, counted from 0, has the bits of a fit with "
        "``random_state + i``. Chains run side by side as threads allow. ``partial_fit`` uses one chain, and drops "
        "what the others told. See ``diln.analysis``.",
        most=1000,
    )
    warm_up: int = option(
        20,
        "Sweeps before the chain may converge, before DILN's topics get locations, and before the CTM's documents get "
        "log weights; at most a quarter of all sweeps.",
        "Topics should take shape first.",
        least=0,
        most=MOST_SWEEPS,
    )
    tol: float = option(
        0.002,
        "The chain has converged when the score gains less than this in 10 sweeps, in nats per token.",
        "Averaging then begins.",
        least=0,
    )
    memory: str = option(
        "auto",
        'How much memory documents may take, such as "8 GB". What does not fit is kept on disk, and the result is the '
        "same.",
        '"auto" is half of what is free, in a container half of what is left of its limit. On disk a fit needs memory '
        'for the model and for a shard of documents per thread. Batch learning and "grow" only: online learning has '
        "one mini-batch in memory.",
        kind="str",
    )
    max_time: float | None = option(
        None,
        "Maximum time in seconds. The fit then stops with what it has.",
        default="no limit",
    )
    weight_rate: float = option(
        10.0,
        "Rate of the gamma prior of the topics' weights: larger values give smaller weights, and with them a smaller "
        "beta.",
        "DILN and HDP only.",
        least=SMALL,
        most=LARGE,
        built_in=True,
        models=DIRICHLET_PROCESSES,
    )
    omega: Literal["matched", "exact"] = option(
        "matched",
        "How Polya-Gamma variables are drawn: with the right mean and variance, which is fast, or exactly.",
        'In practice the results cannot be told apart; "exact" takes several times as long. DILN only.',
        models=("DILN",),
    )
    init: Literal["draws"] | Any = option(
        "draws",
        'Where the topics start: from random draws of every token\'s topic ("draws"), or from a fitted model.',
        kind=f'"draws" or {FITTED}',
    )
    batch_size: int = option(500, "Number of documents in a step of online learning.")
    learning_decay: float = option(
        0.6,
        "How fast the steps of online learning shrink, from 0.5 to 1.",
        "Step t, counted from 0, has length ``(learning_offset + t) ** -learning_decay``.",
        least=0.5,
        most=1,
    )
    learning_offset: float = option(
        20.0,
        "How much the first steps of online learning are held back.",
        least=1,
        most=1e9,
    )
    mean_change_tol: float = option(
        1e-3,
        "A new document has converged when its topics' expected tokens change by less than this share of its tokens.",
        least=0,
    )
    max_doc_update_iter: int = option(50, "Maximum number of updates of a new document.", most=MOST_SWEEPS)


@documented
@dataclass(kw_only=True, repr=False)
class Variational(Options):
    """Mean-field variational inference, the algorithm of the paper: a lower bound is raised until it converges."""

    name: ClassVar[str] = "variational"

    tol: float = option(
        1e-3,
        "Batch learning has converged when the bound changes by less than this, relative to its size, in a pass.",
        least=0,
    )
    evaluate_every: int = option(
        0,
        "Compute the perplexity after this many passes (batch) or steps (online); 0 for never.",
        least=-1,
    )
    beta_prior: Pair = option(
        (1.0, 1e-3),
        "Gamma prior of the concentration of the topics' weights in documents.",
        "DILN and HDP only.",
        built_in=True,
        models=DIRICHLET_PROCESSES,
    )
    init: Literal["kmeans", "random"] | Any = option(
        "kmeans",
        'Where the topics start: from three rounds of k-means on documents with L1 distance ("kmeans"), from noise '
        '("random"), or from a fitted model.',
        kind=f'"kmeans", "random" or {FITTED}',
    )
    batch_size: int = like(Sampling, "batch_size", 250)
    learning_decay: float = like(Sampling, "learning_decay", 0.6)
    learning_offset: float = like(Sampling, "learning_offset", 25.0)
    mean_change_tol: float = option(
        1e-3,
        "A document has converged when its topics' expected tokens change by less than this on average.",
        least=0,
    )
    max_doc_update_iter: int = like(Sampling, "max_doc_update_iter", 100)


Inference = Sampling | Variational
INFERENCES: dict[str, type[Inference]] = {"sampling": Sampling, "variational": Variational}
RENAMED = {"polya_gamma": "omega"}  # what was once called otherwise


# By kind, in the order that they are shown. A class that says which kind it is comes in by itself, behind these.
MODELS: dict[str, type["ModelOptions"]] = dict.fromkeys(("DILN", "HDP", "LDA", "CTM"))  # type: ignore[assignment]


@dataclass(kw_only=True, repr=False, eq=False)
class ModelOptions:
    """What all models can be told."""

    kind: ClassVar[str]
    keeps_all: ClassVar[bool] = False  # whether n_components is the number of topics, not the most there can be

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        if "kind" in vars(cls):
            MODELS[cls.kind] = cls

    n_components: int | Literal["auto"] = field(
        default="auto",
        kw_only=False,
        metadata=about(
            'Maximum number of topics, or "auto" for as many as it takes.',
            'With "auto" sampling starts with 1.2 sqrt(tokens) topics, 16 to 800, drops topics that are not used, and '
            'splits topics when most are used; with variational inference "auto" is 200.',
            most=MOST_TOPICS,
            built_in=True,
        ),
    )
    topic_word_prior: float | Literal["auto"] | None = option(
        None,
        'Prior of a topic\'s terms: smaller values give sharper topics. Sampling can learn it ("auto").',
        "It is gamma_0, the parameter of a symmetric Dirichlet distribution. The default of sampling follows the "
        "number of topics that a fit starts with: 0.015 (400 / topics)^0.7, at most 0.2; 2.0 times as much with "
        'learning_method="grow", 2.5 times with "online".',
        default=("by the number of topics", "0.1"),
        by_inference=(None, 0.1),
        least=SMALL,
        most=LARGE,
        built_in=True,
    )
    inference: Literal["sampling", "variational"] | Inference = option(
        "sampling",
        'How the posterior is found: by drawing from it ("sampling") or by raising a lower bound ("variational").',
        "A name stands for ``Sampling()`` or ``Variational()``. Give the object to set its options: "
        "``inference=Sampling(n_chains=4)``, or later ``set_params(inference__n_chains=4)``.",
        kind='"sampling", "variational", Sampling or Variational',
        free=True,
        built_in=True,
    )
    learning_method: Literal["auto", "batch", "grow", "online"] = option(
        "auto",
        'Which documents are visited before an update: all ("batch"), first some of them and then all ("grow"), '
        'or one mini-batch ("online"). The default chooses by their number and by memory ("auto").',
        '"grow", for sampling only, begins with 20,000 documents, continues with 60,000, then with all. "online" has '
        'one mini-batch in memory. "auto" is "batch" up to 20,000 documents. Beyond, it is "grow" up to 200 million '
        "tokens, and for more tokens if they fit into ``memory`` (by default into half of what the machine or the "
        'container has); or else "online". With variational inference it is "batch".',
    )
    max_iter: int | None = option(
        None,
        "Maximum number of sweeps or passes over the documents.",
        'Sampling: 150 (400 / topics)^0.6, from 60 to 250; with "grow" 105, and fewer beyond 400 topics.',
        default=("60 to 250 by the number of topics, grow 105, online 1", "100, online 5"),
        most=MOST_SWEEPS,
    )
    total_samples: float | None = option(
        None,
        "Number of documents in the stream that ``partial_fit`` sees.",
        default="the number seen so far",
        least=1,
        most=1e15,
    )
    n_jobs: int | None = option(
        None,
        "Number of threads; -1 uses all cores. The result is the same for any number.",
        default="1",
        free=True,
    )
    random_state: Any = option(
        None,
        "The same seed gives the same model.",
        kind="int, Generator or RandomState",
        free=True,
    )
    verbose: int = option(
        0,
        "1 writes a line for each sweep, pass or step to the standard error stream.",
        free=True,
    )
    engine: InitVar[Any] = None  # where fits run: no parameter, for it is of a machine and not of a model


@dataclass(kw_only=True, repr=False, eq=False)
class HDPOptions(ModelOptions):
    """What the HDP can be told."""

    kind: ClassVar[str] = "HDP"

    alpha_prior: Pair | None = option(
        None,
        "Gamma prior of the concentration of the topics' weights in the corpus.",
        by_inference=((1.0, 1.0), (1.0, 1e-3)),
        built_in=True,
    )


@dataclass(kw_only=True, repr=False, eq=False)
class DILNOptions(HDPOptions):
    """What DILN can be told."""

    kind: ClassVar[str] = "DILN"

    n_dims: int | None = option(
        None,
        "Number of dimensions of the space that topics and documents are placed in.",
        "At most 1,000; and above 20 no more than there are topics or documents, because more would be empty.",
        by_inference=(10, 20),
        most=1000,
        hint=": HDP is DILN without any",
        built_in=True,
    )
    location_variance: float | Literal["auto"] | None = option(
        None,
        'Prior variance of a topic\'s location in each dimension. Sampling can learn it ("auto").',
        default=("0.5", "1 / dimensions"),
        by_inference=(0.5, None),
        least=SMALL,
        most=1000,
        built_in=True,
    )


@dataclass(kw_only=True, repr=False, eq=False)
class FixedOptions(ModelOptions):
    """What a model with a given number of topics can be told."""

    keeps_all: ClassVar[bool] = True

    n_components: int = field(
        default=100, kw_only=False, metadata=about("Number of topics.", most=MOST_TOPICS, built_in=True)
    )


@dataclass(kw_only=True, repr=False, eq=False)
class LDAOptions(FixedOptions):
    """What LDA can be told."""

    kind: ClassVar[str] = "LDA"

    doc_topic_prior: float | Literal["auto"] | None = option(
        None,
        'Prior of a document\'s topics, the parameter of a symmetric Dirichlet distribution. "auto" learns one for '
        "each topic.",
        default="1 / topics",
        least=SMALL,
        most=LARGE,
        built_in=True,
    )


@dataclass(kw_only=True, repr=False, eq=False)
class CTMOptions(FixedOptions):
    """What the CTM can be told."""

    kind: ClassVar[str] = "CTM"

    covariance_prior: float | None = option(
        None,
        "Number of documents that the prior of the topics' covariance counts as: larger values give weaker "
        "correlations.",
        "The prior is the identity. The correlation of topics that have nothing to do with each other is "
        "-1 / (n_components - 1). With less than 0.001 the covariance might have no inverse.",
        default="the number of topics",
        least=1e-3,
        most=1e9,
        built_in=True,
    )


def options_of(kind: str, inference: str) -> dict[str, Field[Any]]:
    """All options of a model that is fitted in this way, by name; those of the inference that have an effect on it."""
    known = [one for one in fields(INFERENCES[inference]) if not (only := about_of(one).models) or kind in only]
    return {one.name: one for one in (*fields(MODELS[kind]), *known)}


def resolved(inference: Any) -> Inference:
    """The options of an inference: those given, or its defaults where its name is given."""
    if isinstance(inference, Inference):
        return inference
    if not isinstance(inference, str) or inference not in INFERENCES:
        raise ParameterError(
            "inference", f"is {brief(inference)}; give 'sampling', 'variational', Sampling(...) or Variational(...)"
        )
    return INFERENCES[inference]()


def flat(model: ModelOptions) -> dict[str, Any]:
    """The options of a model and of its inference in one, by name, with the inference's name; raise if one is idle."""
    how = resolved(model.inference)
    known = options_of(model.kind, how.name)
    idle = {one.name: one for one in fields(how) if one.name not in known}
    for name, one in idle.items():
        if getattr(how, name) != one.default:
            raise misplaced(name, model.kind, how.name)
    own = {one.name: getattr(model, one.name) for one in fields(model)}
    return {**own, "inference": how.name} | {name: value for name, value in vars(how).items() if name in known}


def misplaced(name: str, kind: str, inference: str) -> ParameterError:
    """An option that has no effect, and where it has one."""
    for other in INFERENCES:
        if name in options_of(kind, other):
            return ParameterError(name, f"is for {other} inference, and this is {inference}; leave it out")
    kinds = [one for one in MODELS if any(name in options_of(one, way) for way in INFERENCES)]
    if not kinds:
        return ParameterError(
            name, f"is unknown; leave it out, or give one of {', '.join(options_of(kind, inference))}"
        )
    return ParameterError(name, f"is for {' and '.join(kinds)}, and the model is {kind}; leave it out")
