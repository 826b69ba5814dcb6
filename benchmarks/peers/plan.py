"""What is run, with what settings and in what order: the most telling first, for all of it takes most of a day."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import Any


@dataclass(frozen=True)
class Budget:
    """How long a corpus is worked on: sweeps of tomotopy's LDA, CPU seconds of what is capped, topic-word priors."""

    sweeps: int
    cap: float
    etas: tuple[float, ...] = (0.01, 0.02, 0.05, 0.1)  # tried on validation documents; of one alone there is no choice


CORPORA = {
    "ap": Budget(400, 30),
    "newsarticles2016": Budget(200, 45),
    "nyt": Budget(200, 55),
    "wikipedia": Budget(100, 45),
    "elife": Budget(100, 75),
    "arxiv_200k": Budget(24, 140, (0.05,)),
}
OTHERS = Budget(200, 60)  # of corpora that are not in the table
SIZES = (50, 100, 200, 400)
LARGER = ("ap", "elife")  # a small corpus and a large one, on which 800 topics are tried with the two that did best
TRIED = ("tomotopy LDA 100", "tomotopy LDA 200")  # what the topic-word prior is chosen with, for few and many topics
MANY = 200  # topics


@dataclass(frozen=True)
class Tool:
    """A model of a library and what it is told; ``maker`` is a function of ``peers.tools``."""

    maker: str
    told: dict[str, Any] = field(default_factory=dict)
    capped: bool = True  # by CPU seconds; else by sweeps
    states: bool = False  # whether its checkpoints are states of a chain, of which an average makes sense
    only: tuple[str, ...] = ()  # corpora where it makes sense, if not everywhere
    never: tuple[str, ...] = ()  # corpora where a cap would end it after its first sweeps

    @property
    def size(self) -> int:
        """Topics it is told to have; 0 where it is told none, or is ours."""
        return int(self.told.get("size", 0))

    @property
    def apart(self) -> bool:
        """Whether it is in the table of larger models, and in no other."""
        return self.only == LARGER

    def fits(self, corpus: str) -> bool:
        """Whether it is run on a corpus."""
        return corpus not in self.never and (not self.only or corpus in self.only)


def _tools() -> dict[str, Tool]:
    ours = {
        name: Tool("ours", {"model": name.removeprefix("diln ").split()[0], **told}, capped=False, only=where)
        for name, told, where in (
            ("DILN", {}, ()), ("HDP", {}, ()),
            ("DILN 1/2", {"share": 0.5}, ()), ("DILN 1/4", {"share": 0.25}, ()),
            ("HDP 1/2", {"share": 0.5}, ()), ("HDP 1/4", {"share": 0.25}, ()),
            ("DILN 800", {"n_components": 800}, LARGER),
            ("DILN online", {"learning_method": "online"}, ("arxiv_200k",)),
            ("diln CTM 100", {"n_components": 100}, ()),
            ("diln LDA 200", {"n_components": 200, "doc_topic_prior": "auto"}, ()),
        )
    }  # fmt: skip
    slow = ("arxiv_200k",)
    sized = {
        **{f"tomotopy LDA {size}": Tool("tomotopy_lda", {"size": size}, capped=False, states=True) for size in SIZES},
        "tomotopy LDA 800": Tool("tomotopy_lda", {"size": 800}, capped=False, states=True, only=LARGER),
        **{f"lda {size}": Tool("lda_lda", {"size": size}, states=True, never=slow) for size in SIZES},
        **{f"scikit-learn LDA {size}": Tool("sklearn_lda", {"size": size}) for size in SIZES},
        **{f"gensim LDA {size}": Tool("gensim_lda", {"size": size}) for size in SIZES},
    }
    others = {
        "gensim HDP": Tool("gensim_hdp"),
        "tomotopy HDP": Tool("tomotopy_hdp", states=True),
        "tomotopy CTM 50": Tool("tomotopy_ctm", {"size": 50}, states=True, never=slow),
    }
    return {**ours, **sized, **others}


TOOLS = _tools()


@dataclass(frozen=True)
class Run:
    """One fit. ``eta`` is given of a validation run, and else the one chosen by these."""

    corpus: str
    tool: str
    seed: int = 0
    threads: int = 1
    eta: float | None = None

    @property
    def validation(self) -> bool:
        """Whether it is judged by validation documents instead of test documents."""
        return self.eta is not None

    def told(self) -> dict[str, Any]:
        """As a row of results begins."""
        return asdict(self)


def ordered(corpora: Sequence[str], seeds: Sequence[int], threads: Sequence[int]) -> list[Run]:
    """All runs, the most telling first; each once."""
    wanted = [
        run
        for run in _phases(corpora)
        if run.seed in seeds and run.threads in threads and TOOLS[run.tool].fits(run.corpus)
    ]
    return list(dict.fromkeys(wanted))


def _phases(corpora: Sequence[str]) -> Iterator[Run]:
    main = ["DILN", "HDP", *(f"tomotopy LDA {size}" for size in (200, 400, 100, 50))]
    for corpus in corpora:
        etas = CORPORA.get(corpus, OTHERS).etas
        yield from (Run(corpus, tool, eta=eta) for tool in TRIED for eta in etas if len(etas) > 1)
        yield from (Run(corpus, tool) for tool in main)
    yield from _each(corpora, ["DILN 1/2", "DILN 1/4", "HDP 1/2", "HDP 1/4", "DILN online"])
    for seed in (1, 2):
        yield from _each(corpora, ["DILN", "HDP", "tomotopy LDA 400", "tomotopy LDA 200"], seed)
    for size in (100, 200, 50, 400):
        yield from _each(corpora, [f"{name} {size}" for name in ("scikit-learn LDA", "gensim LDA", "lda")])
    yield from _each(corpora, ["diln CTM 100", "diln LDA 200", "gensim HDP", "tomotopy HDP", "tomotopy CTM 50"])
    yield from _each(corpora, ["DILN", "HDP", "tomotopy LDA 200", "scikit-learn LDA 100"], threads=2)
    for seed in (0, 1, 2):
        yield from _each(corpora, [tool for tool in TOOLS if "/" not in tool], seed)


def _each(corpora: Sequence[str], tools: Sequence[str], seed: int = 0, threads: int = 1) -> Iterator[Run]:
    return (Run(corpus, tool, seed, threads) for corpus, tool in product(corpora, tools))
