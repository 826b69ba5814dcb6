"""The table of a comparison in words: for a terminal, and as Markdown."""

from typing import Any

from diln.study.table import Row, TableView

COLUMNS = {
    "model": "",
    "settings": "topics and topic prior; where several were tried, chosen on validation documents",
    "perplexity": "of the held-out halves of test documents, lower is better; ± its standard error over documents",
    "beside the best other": "difference of the perplexities, document by document; ± its standard error, ≈ where it "
    "may be chance (5%, Student's t)",
    "topics": "in use: those that hold at least one in 500 tokens",
    "NPMI": "coherence of the topics' ten most probable words, from -1 to 1",
    "diversity": "share of distinct words among the topics' ten most probable words",
    "exclusivity": "how much these words are their topic's own, from 0 to 1",
    "stability": "share of topics that two chains with different seeds have in common",
    "CPU s": "seconds of fitting one chain on one thread",
}


NOTHING = "-"  # in place of a number that is not defined


def cells(row: Row) -> list[str]:
    """A row in words, in the order of the columns."""
    return [
        row.model,
        told(row.chosen),
        f"{row.perplexity:,.0f}{_error(row.standard_error, '{:,.0f}')}" if row.perplexity >= 100
        else f"{row.perplexity:.2f}{_error(row.standard_error, '{:.2f}')}",
        _against(row),
        f"{row.topics_in_use:,.0f}",
        NOTHING if row.npmi is None else f"{row.npmi:.3f}",
        f"{row.diversity:.2f}",
        f"{row.exclusivity:.2f}",
        "" if row.stability is None else f"{row.stability.share:.0%}",
        f"{row.cpu_seconds:,.1f}" if row.cpu_seconds < 100 else f"{row.cpu_seconds:,.0f}",
    ]  # fmt: skip


def told(chosen: tuple[dict[str, Any], ...]) -> str:
    """What was chosen, split by split where it is not the same for all."""
    each = []
    for values in chosen:
        topics = "" if values.get("n_components") is None else f"{values['n_components']:,} topics, "
        each.append(f"{topics}prior {values['topic_word_prior']:g}")
    return "; ".join(dict.fromkeys(each))


def _error(value: float | None, form: str) -> str:
    return "" if value is None else f" ± {form.format(value)}"


def _against(row: Row) -> str:
    if row.against is None:
        return ""
    sign = "" if row.against.clear else "≈ "
    return f"{sign}{signed(row.against.percent)}%{_error(row.against.standard_error, '{:.1f}')} {row.against.other}"


def signed(percent: float) -> str:
    """With its sign and a digit; 0 has no sign, whatever rounding made of it."""
    text = f"{percent:+.1f}"
    return text if float(text) else "0.0"


def markdown(view: TableView, about: str) -> str:
    """The table, what it says, and how to read it."""
    lines = [
        "# Models beside each other", "", about, "", f"**{view.verdict}**", "",
        f"| {' | '.join(COLUMNS)} |", f"|{'---|' * 2}{'---:|' * (len(COLUMNS) - 2)}",
        *(f"| {' | '.join(cells(row))} |" for row in view.rows),
        *(["", *(f"- {note}." for note in view.notes)] if view.notes else []), "",
        *(f"- **{name}**: {meaning}." for name, meaning in COLUMNS.items() if meaning),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"
