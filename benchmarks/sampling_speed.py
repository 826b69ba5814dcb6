"""How fast a sweep is: tokens a second of the token pass and of all of it, by topics, on one thread and on two.

python benchmarks/sampling_speed.py COUNTS.npz [--topics 100 200 400] [--out results.json]

COUNTS.npz is a scipy sparse matrix of counts (n_docs, n_terms). Chains of DILN and of the HDP are brought to their 30th
sweep; the figures are medians of further sweeps, one and two threads in turn. Seconds are of the clock.
"""

import argparse
import json
import platform
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, cast

import numba
import numpy as np
from scipy.sparse import csr_array, load_npz

from diln.engine.base import Engine
from diln.engine.threads import HeldHere, Threads
from diln.inference.emissions.multinomial_draws import TopicCounts
from diln.inference.sampling.chain import Chain
from diln.inference.sampling.documents import HeldDocuments, shard_ranges
from diln.inference.sampling.state import State
from diln.inference.sampling.token_step import draw_tokens
from diln.inference.weights.draws import Sweep
from diln.inference.weights.gamma_process_draws import GammaProcessDraws, GatedDraws
from diln.inference.weights.located_draws import LocatedDraws
from diln.models.counts import MatrixRows, as_rows
from diln.models.homes import homes_of
from diln.prob.streams import key_of

WARM, OPENED, ROUNDS, DIMS, PRIOR = 30, 10, 7, 10, 0.02


def chain_of(
    counts: csr_array, topics: int, weights: GatedDraws, engine: Engine, warm: int = WARM, opened: int = OPENED
) -> Chain:
    """A chain in the midst of a fit."""
    rows = MatrixRows(as_rows(counts))
    state = State(TopicCounts.empty(rows.n_terms, topics, PRIOR), weights.start(topics, topics), topics)
    ranges = shard_ranges(rows.lengths)
    held = engine.hold(homes_of(rows, ranges, weights, state, None))
    chain = Chain(state, HeldDocuments(held, ranges, rows.n_docs), weights, 0)
    for number in range(warm):
        if number == opened and chain.closed:
            chain.open()
        chain.sweep()
    return chain


def seconds(call: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def measure(counts: csr_array, topics: int, dims: int, pools: dict[int, Threads]) -> dict[str, Any]:
    weights = LocatedDraws(n_dims=dims) if dims else GammaProcessDraws()
    chain, rng = chain_of(counts, topics, weights, pools[max(pools)]), np.random.default_rng(0)
    tokens = chain.docs.n_tokens
    held = cast(HeldHere, chain.docs.held)
    times: dict[str, list[float]] = {f"{name}_{jobs}": [] for name in ("tokens", "places", "sweep") for jobs in pools}
    for number in range(ROUNDS):
        for jobs, threads in pools.items():
            key, held.engine = key_of(1, number, jobs), threads
            sweep = Sweep(chain.number, chain.opened, chain.seed, key, rng)
            passes: dict[str, Callable[[], Any]] = {
                "tokens": partial(draw_tokens, chain.state, chain.docs, key),
                "places": partial(weights.place, chain.state, chain.docs, sweep),
                "sweep": chain.sweep,
            }
            for name, call in passes.items():
                times[f"{name}_{jobs}"].append(seconds(call))
    rate = {name: tokens / median(values[1:]) / 1e6 for name, values in times.items()}
    return {"topics": topics, "dims": dims, "million_tokens_per_second": rate, "seconds": times}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("counts", type=Path)
    parser.add_argument("--topics", nargs="+", type=int, default=[100, 200, 400])
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    counts = csr_array(load_npz(given.counts)).astype(np.int32)
    rows = []
    print(f"{counts.shape[0]:,} documents, {int(counts.sum()):,} tokens; million tokens a second")
    print("model  topics  token pass  places  whole sweep  2 threads: token pass  whole sweep  times one")
    with Threads(1) as one, Threads(2) as two:
        for topics in given.topics:
            for dims in (DIMS, 0):
                row = measure(counts, topics, dims, {1: one, 2: two})
                rows.append(row)
                r = row["million_tokens_per_second"]
                print(
                    f"{'DILN' if dims else 'HDP':5} {topics:7}  {r['tokens_1']:10.1f}  {r['places_1']:6.1f}  "
                    f"{r['sweep_1']:11.1f}  {r['tokens_2']:21.1f}  {r['sweep_2']:11.1f}  "
                    f"{r['sweep_2'] / r['sweep_1']:9.2f}",
                    flush=True,
                )
    if given.out:
        told = {"python": platform.python_version(), "numba": numba.__version__, "machine": platform.machine()}
        given.out.write_text(json.dumps({**told, "rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
