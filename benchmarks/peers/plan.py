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
ALL_SIZES = (25, *SIZES, 800)  # of those that are quick enough
WARP_SIZES = (100, 400, 800)
FEW, MANY = 25, 200  # topics
SWEPT = ("tomotopy LDA", "topica LDA")  # have all sizes
# What the topic-word prior is chosen with: for few topics, for many, and for very few.
TRIED = ("tomotopy LDA 100", "tomotopy LDA 200", "tomotopy LDA 25")
FEW_ETAS = (0.05, 0.1, 0.2)  # in place of a budget's


def tried_with(size: int) -> str:
    """The tool that chooses the prior of as many topics; 0 where a tool is told no number."""
    return TRIED[2 if 0 < size <= FEW else int(size >= MANY)]


@dataclass(frozen=True)
class Tool:
    """A model of a library and what it is told; ``maker`` is a function of ``peers.tools``."""

    maker: str
    told: dict[str, Any] = field(default_factory=dict)
    capped: bool = True  # by CPU seconds; else by sweeps
    states: bool = False  # whether its checkpoints are states of a chain, of which an average makes sense
    apart: bool = False  # whether it is in the table of given numbers of topics, and in no other
    only: tuple[str, ...] = ()  # corpora where it makes sense, if not everywhere
    never: tuple[str, ...] = ()  # corpora where a cap would end it after its first sweeps

    @property
    def size(self) -> int:
        """Topics it is told to have; 0 where it is told none, or is ours."""
        return int(self.told.get("size", 0))

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
            ("DILN online", {"learning_method": "online"}, ("arxiv_200k",)),
            ("diln CTM 100", {"n_components": 100}, ()),
            ("diln LDA 200", {"n_components": 200, "doc_topic_prior": "auto"}, ()),
        )
    }  # fmt: skip
    given = {
        f"DILN {size}": Tool("ours", {"model": "DILN", "n_components": size}, capped=False, apart=True)
        for size in ALL_SIZES
    }
    slow = ("arxiv_200k",)
    swept = {
        **{f"tomotopy LDA {n}": Tool("tomotopy_lda", {"size": n}, capped=False, states=True) for n in ALL_SIZES},
        **{f"topica LDA {n}": Tool("topica_lda", {"size": n, "sampler": "sparse"}, capped=False) for n in ALL_SIZES},
        **{f"topica warp {n}": Tool("topica_lda", {"size": n, "sampler": "warp"}, capped=False) for n in WARP_SIZES},
    }
    sized = {
        **{f"lda {size}": Tool("lda_lda", {"size": size}, states=True, never=slow) for size in SIZES},
        **{f"scikit-learn LDA {size}": Tool("sklearn_lda", {"size": size}) for size in SIZES},
        **{f"gensim LDA {size}": Tool("gensim_lda", {"size": size}) for size in SIZES},
    }
    others = {
        "gensim HDP": Tool("gensim_hdp"),
        "tomotopy HDP": Tool("tomotopy_hdp", states=True),
        "tomotopy CTM 50": Tool("tomotopy_ctm", {"size": 50}, states=True, never=slow),
        "topica CTM 100": Tool("topica_ctm", {"size": 100}, capped=False, never=slow),
        "topica HDP": Tool("topica_hdp", capped=False),
    }
    return {**ours, **given, **swept, **sized, **others}


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
    main = ["DILN", "HDP", *(f"{name} {size}" for size in (200, 400, 800, 100, 50, 25) for name in SWEPT)]
    for corpus in corpora:
        yield from _validation(corpus)
        yield from (Run(corpus, tool) for tool in main)
    yield from _each(corpora, [f"DILN {size}" for size in ALL_SIZES])
    yield from _each(corpora, ["DILN 1/2", "DILN 1/4", "HDP 1/2", "HDP 1/4", "DILN online"])
    for seed in (1, 2):
        yield from _each(corpora, ["DILN", "HDP", "tomotopy LDA 400", "tomotopy LDA 200"], seed)
    for size in (100, 200, 50, 400):
        yield from _each(corpora, [f"{name} {size}" for name in ("scikit-learn LDA", "gensim LDA", "lda")])
    yield from _each(corpora, ["diln CTM 100", "diln LDA 200", "gensim HDP", "tomotopy HDP", "tomotopy CTM 50"])
    yield from _each(corpora, ["DILN", "HDP", "tomotopy LDA 200", "scikit-learn LDA 100"], threads=2)
    for seed in (0, 1, 2):
        yield from _each(corpora, [tool for tool in TOOLS if "/" not in tool], seed)


def _validation(corpus: str) -> Iterator[Run]:
    etas = CORPORA.get(corpus, OTHERS).etas
    if len(etas) > 1:
        tried = ((tool, FEW_ETAS if tool == TRIED[2] else etas) for tool in TRIED)
        yield from (Run(corpus, tool, eta=eta) for tool, some in tried for eta in some)


def _each(corpora: Sequence[str], tools: Sequence[str], seed: int = 0, threads: int = 1) -> Iterator[Run]:
    return (Run(corpus, tool, seed, threads) for corpus, tool in product(corpora, tools))
