"""Names that users gave to themes, put on the themes that they belong to now."""

from collections.abc import Sequence
from dataclasses import replace

from diln.analysis.edits import ThemeLabel
from diln.analysis.folding import Folding
from diln.analysis.themes import Theme

LEAST = 0.5  # of the tokens of both that a theme shares with the one that was named


def named_themes(themes: Sequence[Theme], labels: Sequence[ThemeLabel], folding: Folding) -> tuple[Theme, ...]:
    """The themes, with the names of those that were named.

    A theme is the one that was named if they share at least half of the tokens of both together. A name goes to the
    theme that shares most, and a theme has one name; so a name stays when the number of themes changes, as long as the
    theme hardly does.
    """
    found: dict[int, str] = {}
    alike = [
        (_shared(set(theme.topics), label, folding), -at, theme.id, label.label)
        for theme in themes
        for at, label in enumerate(reversed(labels))
    ]
    given: set[int] = set()
    for share, at, theme, name in sorted(alike, reverse=True):
        if share >= LEAST and theme not in found and at not in given:
            found[theme] = name
            given.add(at)
    return tuple(replace(theme, label=found[theme.id]) if theme.id in found else theme for theme in themes)


def _shared(topics: set[int], label: ThemeLabel, folding: Folding) -> float:
    """Share of the tokens of two sets of topics that are in both."""
    shown = set(folding.shown.tolist())
    named = {int(folding.target[topic]) for topic in label.topics} & shown
    both, either = ({*topics} & named, {*topics} | named)
    total = float(folding.shares[sorted(either)].sum())
    return float(folding.shares[sorted(both)].sum()) / total if total > 0 else 0.0
