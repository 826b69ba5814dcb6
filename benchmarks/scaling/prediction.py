"""What the measured figures say of larger fits: the check, the tables and the figure of docs/scaling.md."""

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from scaling.simulation import Costs, Fit, Machines, best_workers, by_term, sweep, unwaited

FIGURE = Path(__file__).parents[2] / "docs" / "images" / "scaling.svg"
WORKERS = (10, 100, 1000)
CORES = 2  # of the machine that was measured on
HOUR, SWEEPS = 3600, 100


def exchange_speed(found: dict[str, Any]) -> tuple[float, float]:
    """Seconds of a task, and bytes a second of packing a table and taking it up again: a line through one worker's.

    The table is packed twice, to the worker and back, and added once; by processors' seconds, which others do not take.
    """
    rows = [row for row in found["cluster"]["exchanges"] if row["workers"] == 1]
    (small, quick), (large, slow) = sorted((row["bytes"], row["processor_seconds"]) for row in rows)
    slope = (slow - quick) / (large - small)
    adding = 1 / found["memory"]["add_bytes_per_second"]
    return max(quick - slope * small, 0.0), 2 / (slope - adding)


def costs_of(found: dict[str, Any], topics: int, terms: int, length: float) -> Costs:
    """The measured costs of a fit like this."""
    rows = [row for row in found["constants"] if (row["topics"], row["terms"]) == (topics, terms)]
    row = min(rows, key=lambda one: abs(one["length"] - length))
    step = next(row for row in found["corpus_steps"] if (row["topics"], row["terms"]) == (topics, terms))
    speed = found["memory"]["add_bytes_per_second"]
    return Costs(1 / row["tokens_per_second"], step["seconds"], speed, exchange_speed(found)[1])


def changed_late(found: dict[str, Any]) -> float:
    """The share of tokens that change their topic in a late sweep, over all fits without a delay."""
    late = [row["changed"][-1] for row in found["delays"] if row["delay"] == 0]
    return float(sum(late) / len(late))


def checks(found: dict[str, Any]) -> list[dict[str, float]]:
    """Measured beside simulated: seconds of a sweep, and processors' seconds of an exchange of the larger table.

    Workers share the cores and the memory of one machine: nothing goes over a network, and packing takes its cores.
    """
    swept = {row["workers"]: row for row in found["cluster"]["sweeps"]}
    larger = max(row["bytes"] for row in found["cluster"]["exchanges"])
    busy = {row["workers"]: row["processor_seconds"] for row in found["cluster"]["exchanges"] if row["bytes"] == larger}
    (overhead, pack), alone, add = exchange_speed(found), swept[0], found["memory"]["add_bytes_per_second"]
    fit = Fit(1, alone["tokens"], alone["topics"], found["cluster"]["terms"])
    out = []
    for workers in sorted(busy):
        cores = min(CORES / workers, 1.0)
        machines = Machines(workers, cores, 1e15, 2e-4, overhead, 0.0, tree=False)
        made = sweep(fit, machines, Costs(alone["seconds"] / alone["tokens"], 0.0, add, pack * cores))
        out.append(
            {
                "workers": workers, "measured": swept[workers]["seconds"], "simulated": made.seconds,
                "busy": busy[workers], "expected": workers * (overhead + larger * (2 / pack + 1 / add)),
            }
        )  # fmt: skip
    return out


def cases() -> list[Fit]:
    return [
        Fit(documents, length, topics, terms)
        for documents, length, topics, terms in product((1e8, 1e9), (60, 400), (400, 800), (10_000, 100_000))
    ]


def print_all(found: dict[str, Any]) -> None:
    """Every table of the page, as Markdown."""
    print_constants(found)
    print_checks(found)
    print_predictions(found)
    print_remedies(found)
    print_delays(found)


def print_constants(found: dict[str, Any]) -> None:
    print("\n| topics | terms | tokens a document | million tokens a second | corpus step, s |\n|---|---|---|---|---|")
    for row in found["constants"]:
        costs = costs_of(found, row["topics"], row["terms"], row["length"])
        speed = row["tokens_per_second"] / 1e6
        print(f"| {row['topics']} | {row['terms']:,} | {row['length']} | {speed:.2f} | {costs.corpus:.2f} |")
    overhead, pack = exchange_speed(found)
    print(f"\na task: {1000 * overhead:.0f} ms; packing a table: {pack / 1e9:.2f} GB/s", end="; ")
    print(f"adding: {found['memory']['add_bytes_per_second'] / 1e9:.2f} GB/s")


def print_checks(found: dict[str, Any]) -> None:
    print("\n| workers | a sweep, s | simulated | an exchange, processors' s | by the formula |\n|---|---|---|---|---|")
    for row in checks(found):
        numbers = " | ".join(f"{row[name]:.2f}" for name in ("measured", "simulated", "busy", "expected"))
        print(f"| {row['workers']} | {numbers} |")


def print_predictions(found: dict[str, Any]) -> None:
    print("\n| documents | tokens each | topics | terms | table | 10 workers | 100 | 1,000 | waits at 1,000 | up to |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for fit in cases():
        costs = costs_of(found, fit.topics, fit.terms, fit.length)
        made = [sweep(fit, Machines(workers), costs) for workers in WORKERS]
        waits = 1 - made[-1].drawing / made[-1].seconds
        times = " | ".join(spoken(one.seconds) for one in made)
        most = best_workers(fit, Machines(1), costs)
        print(
            f"| {fit.documents:.0e} | {fit.length:.0f} | {fit.topics} | {fit.terms:,} | {fit.table / 1e6:,.0f} MB | "
            f"{times} | {waits:.0%} | {most:,} |"
        )


def remedies(found: dict[str, Any], fit: Fit, workers: int) -> dict[str, float]:
    """Seconds of a sweep as it is, and with each remedy."""
    costs, machines = costs_of(found, fit.topics, fit.terms, fit.length), Machines(workers)
    return {
        "drawing alone": fit.tokens * costs.token / (workers * machines.cores),
        "from one to all": sweep(fit, replace(machines, tree=False), costs).seconds,
        "as it is": sweep(fit, machines, costs).seconds,
        "by term": by_term(fit, machines, costs),
        "by term, changes back": by_term(fit, machines, costs, changed_late(found)),
        "not waiting": unwaited(fit, machines, costs),
    }


def print_remedies(found: dict[str, Any]) -> None:
    names = list(remedies(found, cases()[0], 10))
    print(f"\n| documents | tokens each | topics | terms | {' | '.join(names)} |\n|{'---|' * (len(names) + 4)}")
    for fit in cases():
        values = " | ".join(spoken(value) for value in remedies(found, fit, 1000).values())
        print(f"| {fit.documents:.0e} | {fit.length:.0f} | {fit.topics} | {fit.terms:,} | {values} |")


def print_delays(found: dict[str, Any]) -> None:
    rows = found["delays"]
    print("\n| corpus | sweeps | seed | as it is | 1 sweep late | 2 | 4 | tokens that change at first | at last |")
    print("|---|---|---|---|---|---|---|---|---|")
    for corpus, sweeps, seed in sorted({(row["corpus"], row["sweeps"], row["seed"]) for row in rows}):
        same = {r["delay"]: r for r in rows if (r["corpus"], r["sweeps"], r["seed"]) == (corpus, sweeps, seed)}
        values = " | ".join(f"{same[delay]['perplexity']:,.0f}" for delay in sorted(same))
        first, last = (same[0]["changed"][place] for place in (1, -1))
        print(f"| {corpus} | {sweeps} | {seed} | {values} | {first:.0%} | {last:.0%} |")


def spoken(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:,.0f} min" if seconds < HOUR * 1.5 else f"{seconds / HOUR:,.1f} h"


def figure(found: dict[str, Any]) -> None:
    """Seconds of a sweep by workers, and perplexity by delay."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    from diln.show.style import COLOURS, SECOND, STYLE

    colours = [*COLOURS.values(), SECOND]
    with pyplot.rc_context(STYLE):
        drawn, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
        workers = [2**power for power in range(13)]
        for place, (topics, terms) in enumerate(((400, 10_000), (800, 100_000))):
            fit = Fit(1e9, 60, topics, terms)
            every = [remedies(found, fit, number) for number in workers]
            for name, dashes in (("as it is", "-"), ("by term, changes back", "--"), ("drawing alone", ":")):
                label = f"{topics} topics, {terms:,} terms" if name == "as it is" else None
                left.plot(workers, [one[name] for one in every], dashes, color=colours[place], label=label)
        left.set(xscale="log", yscale="log", xlabel="workers of 8 cores", ylabel="seconds a sweep")
        left.set_title("1,000,000,000 documents of 60 tokens")
        left.legend()
        pairs = sorted({(row["corpus"], row["sweeps"]) for row in found["delays"]})
        for place, (corpus, sweeps) in enumerate(pairs):
            same = [r for r in found["delays"] if (r["corpus"], r["sweeps"], r["seed"]) == (corpus, sweeps, 0)]
            base = next(row["perplexity"] for row in same if row["delay"] == 0)
            points = sorted((row["delay"], 100 * (row["perplexity"] / base - 1)) for row in same)
            right.plot(
                *zip(*points, strict=True),
                "os^D"[place] + "-",
                color=colours[place],
                label=f"{corpus}, {sweeps} sweeps",
            )
        right.set(xlabel="sweeps that counts of others are late", ylabel="perplexity, % more")
        right.set_title("Not waiting for each other")
        right.legend()
        drawn.savefig(FIGURE, metadata={"Date": None})
