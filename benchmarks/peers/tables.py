"""Tables of results, as Markdown: a row for each tool, a column for each corpus, a number for each seed."""

from collections.abc import Callable, Sequence
from itertools import product
from statistics import mean, median

from peers.plan import ALL_SIZES, CORPORA, SWEPT, TOOLS, TRIED
from peers.results import Record, chosen_eta, predicted, predicted_new, tried, ways

OURS = ("DILN", "HDP")
TARGETS = (1.25, 1.1, 1.0)  # times what the best peer gets
Text = Callable[[Record], str]


def rows_of(results: Record, corpus: str, tool: str, threads: int = 1) -> list[Record]:
    """The runs of a tool on test documents with the prior that was chosen, by seed."""
    eta = chosen_eta(results, corpus, TOOLS[tool].size)
    found = [
        row
        for row in results["rows"]
        if (row["corpus"], row["tool"], row["threads"]) == (corpus, tool, threads)
        and not row["validation"]
        and "error" not in row
        and row["eta"] in (None, eta)
    ]
    return sorted(found, key=lambda row: int(row["seed"]))


def corpora_of(results: Record) -> list[str]:
    """Corpora with results, those of the plan first."""
    there = dict.fromkeys(row["corpus"] for row in results["rows"] if not row["validation"])
    return [name for name in CORPORA if name in there] + [name for name in there if name not in CORPORA]


def tools_of(results: Record) -> list[str]:
    """Tools with results, in the order of the plan, without DILN given topics and the shortened fits of ours."""
    there = {row["tool"] for row in results["rows"] if not row["validation"]}
    return [name for name in TOOLS if name in there and not TOOLS[name].apart and "/" not in name]


def peers_of(results: Record) -> list[str]:
    """Tools that are not ours."""
    return [name for name in tools_of(results) if TOOLS[name].maker != "ours"]


def mean_of(rows: Sequence[Record]) -> float:
    """Mean perplexity over seeds."""
    return mean(map(predicted, rows))


def best_peer(results: Record, corpus: str) -> str | None:
    """The peer of least mean perplexity on a corpus, number of topics included."""
    found = [(mean_of(rows), name) for name in peers_of(results) if (rows := rows_of(results, corpus, name))]
    return min(found)[1] if found else None


def markdown(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """A table."""
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def by_corpus(results: Record, tools: Sequence[str], cell: Callable[[list[Record]], str], threads: int = 1) -> str:
    """Tools by corpora, each cell made of the runs there."""
    names = corpora_of(results)
    body = [[tool, *(cell(rows_of(results, name, tool, threads)) for name in names)] for tool in tools]
    return markdown(["", *names], [line for line in body if any(line[1:])])


def listed(text: Text) -> Callable[[list[Record]], str]:
    """A cell with every seed's value."""
    return lambda rows: ", ".join(text(row) for row in rows)


def perplexity(results: Record) -> str:
    """Perplexity of test documents, every seed; the least mean of a corpus in bold."""
    names, tools = corpora_of(results), tools_of(results)
    body = []
    means = {(tool, name): mean_of(rows) for tool in tools for name in names if (rows := rows_of(results, name, tool))}
    for tool in tools:
        line = [tool]
        for name in names:
            text = ", ".join(f"{predicted(row):.0f}" for row in rows_of(results, name, tool))
            least = text and means[tool, name] == min(value for (_, other), value in means.items() if other == name)
            line.append(f"**{text}**" if least else text)
        body.append(line)
    return markdown(["", *names], body)


def judged(results: Record) -> str:
    """Seed 0 three ways: by the common fold-in, with late states averaged, by the tool's own inference."""

    def cell(rows: list[Record]) -> str:
        if not rows:
            return ""
        return " / ".join("-" if value is None else f"{value:.0f}" for value in ways(rows[0]))

    return by_corpus(results, tools_of(results), cell)


def seconds(results: Record) -> str:
    """CPU seconds of fitting on one thread."""
    return by_corpus(results, tools_of(results), listed(lambda row: f"{row['cpu_s']:.0f}"))


def topics(results: Record) -> str:
    """Topics in use of topics there are."""
    return by_corpus(results, tools_of(results), listed(lambda row: f"{row['in_use']}"))


def coherent(row: Record) -> str:
    """NPMI of a fit; a dash where no topic is in use."""
    return "-" if row["coherence"] is None else f"{row['coherence']:.3f}"


def coherence(results: Record) -> str:
    """NPMI of topics in use."""
    return by_corpus(results, tools_of(results), listed(coherent))


def memory(results: Record) -> str:
    """Peak memory while fitting, of the first seed."""
    return by_corpus(results, tools_of(results), lambda rows: f"{rows[0]['peak_mb']:.0f}" if rows else "")


def threads(results: Record) -> str:
    """Seconds by the clock on one thread and on two, of seed 0."""
    names = corpora_of(results)
    body = []
    for tool in tools_of(results):
        line = [tool]
        for name in names:
            pair = rows_of(results, name, tool, 1)[:1] + rows_of(results, name, tool, 2)[:1]
            line.append(" → ".join(f"{row['wall_s']:.0f}" for row in pair) if len(pair) == 2 else "")
        body.append(line)
    body = [line for line in body if any(line[1:])]
    return markdown(["", *names], body) if body else "No run on two threads yet."


def curve(results: Record, corpus: str, tool: str) -> list[tuple[float, float]]:
    """CPU seconds and perplexity at the checkpoints of seed 0; of ours, of a fit each; the last as ``predicted``."""
    if TOOLS[tool].maker == "ours":
        names = [name for name in (f"{tool} 1/4", f"{tool} 1/2", tool) if name in TOOLS]
        rows = [row for name in names for row in rows_of(results, corpus, name)[:1]]
        return [(row["cpu_s"], predicted(row)) for row in rows]
    first = rows_of(results, corpus, tool)[:1]
    return [
        (point["cpu_s"], predicted(row) if point is row["checkpoints"][-1] else point["perplexity"])
        for row in first
        for point in row["checkpoints"]
    ]


def time_to(results: Record) -> str:
    """CPU seconds to a perplexity, by the number of topics that gets there first; without those who never do."""
    goals = [(corpus, goal * times) for corpus, goal in _goals(results) for times in TARGETS]
    columns = {
        family: [_reached(results, corpus, family, goal) for corpus, goal in goals]
        for family in dict.fromkeys(map(family_of, tools_of(results)))
    }
    columns = {family: cells for family, cells in columns.items() if any("s" in cell for cell in cells)}
    body = [[corpus, f"{goal:.0f}", *cells] for (corpus, goal), *cells in zip(goals, *columns.values(), strict=True)]
    return markdown(["corpus", "perplexity", *columns], body)


def _goals(results: Record) -> list[tuple[str, float]]:
    """What the best peer gets on each corpus, with its first seed."""
    best = [(corpus, best_peer(results, corpus)) for corpus in corpora_of(results)]
    return [(corpus, predicted(rows_of(results, corpus, tool)[0])) for corpus, tool in best if tool is not None]


def family_of(tool: str) -> str:
    """A tool's name without its number of topics."""
    return tool.rstrip("0123456789 ")


def _reached(results: Record, corpus: str, family: str, goal: float) -> str:
    """When the first of a family gets there, and with how many topics if it was told; nothing if it was not run."""
    sizes = [name for name in tools_of(results) if family_of(name) == family]
    points = [
        (cpu, name.removeprefix(family).strip(), value) for name in sizes for cpu, value in curve(results, corpus, name)
    ]
    found = [(cpu, size) for cpu, size, value in points if value <= goal * (1 + 1e-9)]
    if not found:
        return "-" if points else ""
    cpu, size = min(found)
    return f"{cpu:.0f} s" + (f" ({size})" if size else "")


def priors(results: Record) -> str:
    """What was tried on validation documents, for few topics and for many, and what was chosen."""
    body = []
    for corpus, tool in product(corpora_of(results), TRIED):
        rows = sorted(tried(results, corpus, tool), key=lambda row: float(row["eta"]))
        shown = ", ".join(f"{row['eta']:g}: {predicted(row):.0f}" for row in rows)
        body.append([corpus, tool, shown or "not tried", f"{chosen_eta(results, corpus, TOOLS[tool].size):g}"])
    return markdown(["corpus", "tried with", "prior: perplexity of validation documents", "chosen"], body)


def headline(results: Record) -> str:
    """For each corpus the best peer, HDP and DILN: mean perplexity over seeds, and CPU seconds."""
    body = []
    for corpus in corpora_of(results):
        best, ours = best_peer(results, corpus), [rows_of(results, corpus, name) for name in OURS[::-1]]
        if best is not None and all(ours):
            others = rows_of(results, corpus, best)
            beside = mean_of(ours[-1]) / mean_of(others) - 1
            body.append([corpus, f"{best}: {_mean(others)}", *map(_mean, ours), f"{100 * beside:+.1f}%"])
    return markdown(["corpus", "best of the others", *OURS[::-1], "DILN beside it"], body)


def _mean(rows: Sequence[Record]) -> str:
    return f"{mean_of(rows):.0f} ({mean(row['cpu_s'] for row in rows):.0f} s)"


def given(results: Record) -> str:
    """All who are given the number of topics: perplexity, NPMI and CPU seconds, medians over seeds; how many seeds."""
    families, body = ("DILN", *SWEPT), []
    for corpus, size in product(corpora_of(results), ALL_SIZES):
        found = [rows_of(results, corpus, f"{family} {size}") for family in families]
        values = [median(map(predicted, rows)) for rows in found if rows]
        least = min(values) if len(values) > 1 else None  # of one alone there is no least
        seeds = ", ".join(str(len(rows)) if rows else "-" for rows in found)
        body.append([corpus, str(size), *(_medians(rows, least) for rows in found), seeds])
    return markdown(["corpus", "topics", *families, "seeds"], [line for line in body if any(line[2:-1])])


def _medians(rows: Sequence[Record], least: float | None) -> str:
    if not rows:
        return ""
    value, npmi, cpu = (
        median(map(of, rows))
        for of in (predicted, lambda row: float(row["coherence"]), lambda row: float(row["cpu_s"]))
    )
    return f"{f'**{value:.0f}**' if value == least else f'{value:.0f}'} ({npmi:.3f}, {cpu:.0f} s)"


def new_words(results: Record) -> str:
    """Perplexity of words that a document's observed half lacks, seed 0: the best peer, HDP and DILN."""
    body = []
    for corpus in corpora_of(results):
        others = [(value, name) for name in peers_of(results) if (value := _new(results, corpus, name)) is not None]
        hdp, diln = (_new(results, corpus, name) for name in OURS[::-1])
        best = f"{min(others)[1]}: {min(others)[0]:.0f}" if others else "-"
        beside = f"{100 * (diln / min(others)[0] - 1):+.1f}%" if others and diln is not None else "-"
        body.append([corpus, best, *("-" if value is None else f"{value:.0f}" for value in (hdp, diln)), beside])
    return markdown(["corpus", "best of the others", *OURS[::-1], "DILN beside it"], body)


def _new(results: Record, corpus: str, tool: str) -> float | None:
    """A tool's perplexity of new words with seed 0; None if it was not run, or before there was this figure."""
    return next((predicted_new(row) for row in rows_of(results, corpus, tool) if row["seed"] == 0), None)


def setting(results: Record) -> str:
    """Machine and versions."""
    machine, versions = results["machine"], results["versions"]
    where = f"{machine['processor']}, {machine['cores']} cores, {machine['system']}, Python {machine['python']}"
    return where + "; " + ", ".join(f"{name} {number}" for name, number in versions.items()) + "."


TABLES: dict[str, Callable[[Record], str]] = {
    "setting": setting, "headline": headline, "perplexity": perplexity, "time-to": time_to, "seconds": seconds,
    "given": given, "new-words": new_words, "threads": threads, "topics": topics, "coherence": coherence,
    "memory": memory, "judged": judged, "priors": priors,
}  # fmt: skip
