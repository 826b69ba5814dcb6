"""Whether a change of the code moves a number: every model fitted in every way, and digests of what came of it.

python benchmarks/bits.py [--cases DILN HDP] [--out FILE]       fit, and store the digests
python benchmarks/bits.py --against FILE [--cases ...]          fit, and compare; exit code 1 if any bit moved

A case is a model, an inference and a way of learning on small simulated corpora: documents that are empty, short, and
longer than any table; more documents than the first stage of "grow" has; enough tokens for several blocks. Digests are
of public attributes, of transform and of perplexity, so that files and names inside may change. They hold on one kind
of processor with the same numba: the file says which.
"""

import argparse
import json
import platform
import sys
import time
import warnings
from collections.abc import Callable
from fnmatch import fnmatch
from hashlib import sha256
from pathlib import Path
from typing import Any

import numba
import numpy as np
from llvmlite import binding
from scipy.sparse import csr_array, vstack

from diln import CTM, DILN, HDP, LDA, Sampling, Variational
from diln.models.base import TopicModel
from diln.simulate import lda_corpus

ARRAYS = (
    "components_", "topic_weights_", "topic_locations_", "topic_covariance_", "topic_correlation_", "topic_lift_",
    "alpha_", "beta_", "bound_", "n_topics_", "n_iter_", "n_batch_iter_",
)  # fmt: skip
SEEN = ("score", "bound", "perplexity", "alpha", "beta", "n_topics", "topic_word_prior", "location_variance")


def corpora() -> dict[str, csr_array]:
    """Small documents, one of them empty and one very long; many short ones; some with many tokens in all."""
    small = csr_array(lda_corpus(120, 80, 6, doc_length=60, rng=0).corpus.counts)
    odd = csr_array(np.vstack([np.zeros(80, np.int64), np.r_[3000, np.ones(79, np.int64)]]))
    many = csr_array(lda_corpus(20_400, 60, 5, doc_length=6, rng=1).corpus.counts)
    long = csr_array(lda_corpus(1_300, 150, 8, doc_length=420, rng=2).corpus.counts)
    return {"small": csr_array(vstack([small, odd])), "many": many, "long": long}


def digest(model: TopicModel, counts: csr_array) -> str:
    """Of all that can be seen of a model, but for the time it took."""
    found = sha256()
    for name in ARRAYS:
        value = getattr(model, name, None)
        if name == "topic_lift_" and value is not None:  # once of weights: what follows from the rest is not asked for
            value = np.exp(model.topic_covariance_)
        if value is not None:
            found.update(name.encode() + np.ascontiguousarray(value, np.float64).tobytes())
    for entry in model.history_:
        found.update(json.dumps([entry.get(name) for name in SEEN]).encode())
    some = counts[:200]
    found.update(model.transform(some).tobytes())
    found.update(np.float64(model.perplexity(some)).tobytes())
    if hasattr(model, "document_locations"):
        found.update(np.ascontiguousarray(model.document_locations(some)).tobytes())
    agreement = model.fitted_.agreement
    judged = None if agreement is None else agreement.judged(model.fitted_.paired, np.asarray)
    if judged is not None:
        found.update(b"".join(np.ascontiguousarray(value).tobytes() for value in vars_of(judged)))
    return found.hexdigest()[:16]


def vars_of(record: Any) -> list[Any]:
    """The arrays of a record, by name."""
    names = sorted(getattr(record, "__dataclass_fields__", {}))
    return [getattr(record, name) for name in names if isinstance(getattr(record, name), np.ndarray)]


def models() -> dict[str, Callable[..., TopicModel]]:
    """What makes each model, given the rest."""
    return {
        "DILN": lambda **told: DILN(**{"n_components": 12, **told}),
        "HDP": lambda **told: HDP(**{"n_components": 12, **told}),
        "LDA": lambda **told: LDA(**{"n_components": 6, **told}),
        "LDA auto": lambda **told: LDA(**{"n_components": 6, "doc_topic_prior": "auto", **told}),
        "CTM": lambda **told: CTM(**{"n_components": 6, **told}),
    }


def streamed(model: TopicModel, counts: csr_array) -> TopicModel:
    """The model after three calls of ``partial_fit``."""
    for part in (counts[:50], counts[50:90], counts[90:]):
        model.partial_fit(part)
    return model


def cases() -> dict[str, Callable[[dict[str, csr_array]], str]]:
    """Every case by name."""
    made: dict[str, Callable[[dict[str, csr_array]], str]] = {}

    def add(
        name: str, make: Callable[..., TopicModel], corpus: str = "small", stream: bool = False, **told: Any
    ) -> None:
        def run(data: dict[str, csr_array]) -> str:
            counts, model = data[corpus], make(random_state=3, **told)
            return digest(streamed(model, counts) if stream else model.fit(counts), counts)

        made[name] = run

    for name, make in models().items():
        add(f"{name} sampling batch", make, max_iter=40)
        add(f"{name} sampling grow", make, "many", learning_method="grow", max_iter=14)
        add(f"{name} sampling online", make, learning_method="online", inference=Sampling(batch_size=30))
        add(f"{name} sampling partial_fit", make, stream=True, inference=Sampling(batch_size=30), max_iter=30)
        add(f"{name} sampling blocks", make, "long", max_iter=8, n_jobs=2)
        add(f"{name} variational batch", make, max_iter=12, inference="variational")
        told: dict[str, Any] = {"learning_method": "online", "max_iter": 2, "inference": Variational(batch_size=61)}
        add(f"{name} variational online", make, **told)
        add(f"{name} variational partial_fit", make, stream=True, inference=Variational(batch_size=30))
    for name in ("DILN", "HDP"):
        make = models()[name]
        add(f"{name} sampling topics auto", make, n_components="auto", max_iter=40)
        add(f"{name} sampling chains", make, inference=Sampling(n_chains=3), max_iter=30, n_jobs=2)
    make = models()["DILN"]
    add("DILN sampling exact", make, inference=Sampling(omega="exact"), max_iter=30)
    add("DILN sampling learned priors", make, topic_word_prior="auto", location_variance="auto", max_iter=50)
    add("CTM sampling chains", models()["CTM"], inference=Sampling(n_chains=2), max_iter=30)
    seeded: dict[str, Any] = {"random_state": 3}
    made["DILN sampling init"] = lambda data: digest(started(data["small"], **seeded), data["small"])
    kept: dict[str, Any] = {"inference": Sampling(keep_states=4), "max_iter": 30, **seeded}
    made["DILN draws"] = lambda data: drawn(DILN(12, **kept), data["small"])
    made["CTM draws"] = lambda data: drawn(CTM(6, **kept), data["small"])
    return made


def started(counts: csr_array, **seeded: Any) -> TopicModel:
    """A DILN that starts from an LDA."""
    start = LDA(6, max_iter=20, **seeded).fit(counts).fitted_
    return DILN(12, max_iter=30, inference=Sampling(init=start), **seeded).fit(counts)


def drawn(model: TopicModel, counts: csr_array) -> str:
    """A digest of the perplexity over the states that were kept."""
    return sha256(np.float64(model.fit(counts).perplexity(counts, method="draws")).tobytes()).hexdigest()[:16]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="+", default=["*"], help="names, or patterns of them")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--against", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    data = corpora()
    found: dict[str, str] = {}
    before = json.loads(given.against.read_text())["digests"] if given.against else {}
    for name, run in cases().items():
        if not any(fnmatch(name, pattern) or name.startswith(pattern) for pattern in given.cases):
            continue
        begun = time.perf_counter()
        found[name] = run(data)
        moved = "" if not before else "  same" if before.get(name) == found[name] else "  MOVED"
        print(f"{name:32} {found[name]}  {time.perf_counter() - begun:5.1f} s{moved}", flush=True)
    if given.out:
        about = {"processor": binding.get_host_cpu_name(), "numba": numba.__version__}
        about |= {"numpy": np.__version__, "machine": platform.machine()}
        given.out.write_text(json.dumps({"about": about, "digests": found}, indent=1) + "\n")
    if before:
        others = [name for name in found if before.get(name) != found[name]]
        print(f"{len(found) - len(others)} of {len(found)} cases have the same bits")
        sys.exit(bool(others))


if __name__ == "__main__":
    main()
