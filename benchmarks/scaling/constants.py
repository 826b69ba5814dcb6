"""What a sweep costs on this machine: drawing tokens and documents, and the corpus' own step.

Documents are drawn: terms by Zipf's law, as many as ``terms``, in documents of one length. A loop over all topics is
made for each token, whatever the counts are, so the time is that of real documents; how often a term comes again
decides what is found in caches. Every figure is the least of several rounds, in seconds of the processor on one thread,
which are those of the clock where nobody else uses the machine.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from diln.engine.threads import Threads
from diln.inference.sampling.chain import PRIOR_EVERY, Chain
from diln.inference.sampling.token_step import draw_tokens
from diln.inference.weights.draws import Sweep
from diln.inference.weights.located_draws import LocatedDraws
from diln.prob.streams import key_of
from sampling_speed import chain_of

TOKENS, DIMS, ROUNDS, FEW = (120_000, 480_000), 10, 5, 50  # tokens of two corpora of one shard each


def documents(terms: int, length: int, n_tokens: int) -> csr_array:
    """Counts of documents of one length, whose terms are Zipf's."""
    rng = np.random.default_rng([terms, length])
    chances = 1 / (np.arange(terms) + 10.0)
    drawn = rng.choice(terms, n_tokens, p=chances / chances.sum())
    docs = np.repeat(np.arange(n_tokens // length), length)
    counts = csr_array((np.ones(len(docs), np.int32), (docs, drawn[: len(docs)])), shape=(docs[-1] + 1, terms))
    counts.sum_duplicates()
    return counts


def seconds(call: Callable[[], Any]) -> float:
    """Of the processor, for a call on one thread."""
    begun = time.process_time()
    call()
    return time.process_time() - begun


def measure(topics: int, terms: int, length: int) -> dict[str, Any]:
    """Seconds of the parts of a sweep of DILN on one thread: what four times as many tokens take more, for each.

    A shard's own copy of the table takes as long for few tokens as for many, and is left out so. Where others disturb,
    the difference is no better than the time of all: then that is told.
    """
    parts = []
    for n_tokens in TOKENS:
        with Threads(1) as one:
            counts = documents(terms, length, n_tokens)
            parts.append(least(chain_of(counts, topics, LocatedDraws(n_dims=DIMS), one, warm=3, opened=1)))
    few, many = ([part["tokens_s"], part["places_s"]] for part in parts)
    more = np.subtract(many, few) / (TOKENS[1] - TOKENS[0])
    rate = 1 / float(np.minimum(more, np.array(many) / TOKENS[1]).sum())
    return {"topics": topics, "terms": terms, "length": length, "tokens_per_second": rate}


def least(chain: Chain) -> dict[str, float]:
    """The least seconds of each part, of several rounds."""
    rng, found = np.random.default_rng(0), dict[str, float]()
    for number in range(ROUNDS):
        key = key_of(1, number)
        sweep = Sweep(chain.number, chain.opened, chain.seed, key, rng)
        parts: dict[str, Callable[[], Any]] = {
            "tokens_s": partial(draw_tokens, chain.state, chain.docs, key),
            "places_s": partial(chain.weights.place, chain.state, chain.docs, sweep),  # type: ignore[attr-defined]
            "sweep_s": chain.sweep,
        }
        for name, call in parts.items():
            found[name] = min(seconds(call), found.get(name, np.inf))
    found["prior_s"] = seconds(partial(chain.state.counts.draw_prior, chain.state.n_topics, (1.0, 1.0), rng))
    return found


def corpus_step(topics: int, terms: int) -> float:
    """Seconds of what is done once a sweep, whatever the documents: a sweep of few, less their own part."""
    with Threads(1) as one:
        parts = least(
            chain_of(documents(terms, 60, 60 * FEW), topics, LocatedDraws(n_dims=DIMS), one, warm=3, opened=1)
        )
    return max(parts["sweep_s"] - parts["tokens_s"] - parts["places_s"], 0.0) + parts["prior_s"] / PRIOR_EVERY


def memory_speed(size: int = 160 << 20) -> dict[str, float]:
    """Bytes a second of adding one table to another, and of copying one."""
    table, other = np.ones(size // 4, np.float32), np.ones(size // 4, np.float32)
    times = {"add": np.inf, "copy": np.inf}
    for _ in range(ROUNDS):
        times["add"] = min(times["add"], seconds(partial(np.add, table, other, out=table)))
        times["copy"] = min(times["copy"], seconds(partial(np.copyto, other, table)))
    return {f"{name}_bytes_per_second": size / value for name, value in times.items()}
