"""Tables in the pages of the documentation, between markers of their names."""

import re
from pathlib import Path

from peers.results import Record
from peers.tables import TABLES

MARKED = re.compile(r"(<!-- peers: ([a-z-]+) -->\n).*?(<!-- /peers -->)", re.DOTALL)


def filled(page: str, results: Record) -> str:
    """A page with the tables of these results where its markers are."""
    return MARKED.sub(lambda found: f"{found[1]}\n{TABLES[found[2]](results)}\n\n{found[3]}", page)


def fill(path: Path, results: Record) -> None:
    """Put the tables into a page."""
    path.write_text(filled(path.read_text(encoding="utf-8"), results), encoding="utf-8")


def printed(results: Record) -> str:
    """All tables, with their names."""
    return "\n\n".join(f"{name}: {table.__doc__}\n\n{table(results)}" for name, table in TABLES.items())
