"""The simulation of sweeps on many machines, which docs/scaling.md is made with."""

from dataclasses import replace

import numpy as np
import pytest

from scaling.simulation import Costs, Fit, Machines, arrivals, best_workers, by_term, formula, reduced, sweep, unwaited

COSTS = Costs(token=4e-7, corpus=0.1, add=1e10, pack=2e9)
FIT = Fit(documents=1e8, length=60, topics=400, terms=10_000)
EVEN = Machines(16, spread=0.0, overhead=0.0, latency=0.0)


@pytest.mark.parametrize("workers", [1, 2, 8, 64, 512])
@pytest.mark.parametrize("terms", [1_000, 100_000])
def test_the_simulation_takes_about_as_long_as_the_formula_says(workers, terms):
    fit, machines = replace(FIT, terms=terms), replace(EVEN, workers=workers)
    assert sweep(fit, machines, COSTS).seconds == pytest.approx(formula(fit, machines, COSTS), rel=0.25)


def test_the_tokens_of_one_worker_are_drawn_one_after_the_other():
    made = sweep(replace(FIT, terms=1), replace(EVEN, workers=1), COSTS)
    assert made.seconds == pytest.approx(6e9 * 4e-7 / 8 + 0.1, rel=1e-4)


def test_a_table_is_with_twice_as_many_workers_after_each_round():
    hop = 1e9 / EVEN.bandwidth + 1e9 / COSTS.pack
    for workers in (1, 2, 4, 16, 256):
        there = arrivals(replace(EVEN, workers=workers), 1e9, COSTS.pack)
        assert len(there) == workers
        assert there.max() == pytest.approx((1 + np.log2(workers)) * hop)
    one_to_all = arrivals(replace(EVEN, workers=256, tree=False), 1e9, COSTS.pack)
    assert one_to_all.max() > 10 * there.max()


def test_a_sum_waits_for_the_last_tally():
    ends = np.array([0.0] * 63 + [100.0])
    late = reduced(EVEN, ends, 1e6, COSTS)
    assert 100.0 < late < 100.1
    assert reduced(EVEN, np.zeros(64), 1e6, COSTS) < 1


def test_slow_machines_make_a_sweep_slower_and_more_workers_stop_paying():
    assert sweep(FIT, replace(EVEN, spread=0.3), COSTS).seconds > 1.2 * sweep(FIT, EVEN, COSTS).seconds
    narrow, wide = (best_workers(replace(FIT, terms=terms), EVEN, COSTS) for terms in (1_000, 100_000))
    assert wide < narrow < 1 << 20


def test_counts_by_term_and_not_waiting_help_where_tables_are_large():
    fit, machines = replace(FIT, terms=100_000), replace(EVEN, workers=1000)
    as_it_is = sweep(fit, machines, COSTS).seconds
    assert by_term(fit, machines, COSTS, changed=0.3) < by_term(fit, machines, COSTS) < as_it_is
    assert unwaited(fit, machines, COSTS) < as_it_is
    assert unwaited(fit, machines, COSTS) >= fit.tokens * COSTS.token / 8000
