"""The derivation, the code and the tests know each other: a tag leads from each to the others."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = "\n".join((ROOT / "docs" / name).read_text("utf-8") for name in ("derivation.md", "sampling.md"))
SOURCES = "\n".join(path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
ROWS = [line.strip("|").split("|") for line in PAGE.splitlines() if re.match(r"\| [A-Z]\d+ ", line)]
TAGS = {row[0].strip() for row in ROWS}


# Of the preprint: its 48 numbered equations, counted through its LaTeX source, by label.
EQUATIONS = {
    "expvar": "13", "moments2": "14", "lowerbound": "21", "upC": "22", "upZ": "23", "upU": "24", "upEta": "25",
    "dqV": "26", "upL": "27", "alpha_up": "28", "upBeta": "29", "generic_grad": "34", "stochtopicup": "36",
    "dqVHess": "38, 39", "test": "40", "taylor1": "44",
}  # fmt: skip


def defined(folder):
    names = set()
    for path in (ROOT / folder).rglob("*.py"):
        names.add(path.name)
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.add(node.name)
            if isinstance(node, ast.ClassDef):
                names |= {f"{node.name}.{one.name}" for one in node.body if isinstance(one, ast.FunctionDef)}
    return names


def test_every_tag_in_the_code_is_on_the_page_and_the_other_way_round():
    comments = re.findall(r"#.*?\b([A-Z]\d+(?:, [A-Z]\d+)*)\b", SOURCES)
    used = {tag for tags in comments for tag in tags.split(", ") if re.fullmatch(r"[DBSLPMGC]\d{1,2}", tag)}
    assert used == TAGS
    assert len(TAGS) > 35


def test_every_equation_of_the_paper_has_its_number_beside_its_label():
    page = (ROOT / "docs" / "derivation.md").read_text("utf-8")
    assert not re.findall(r"Eqs?\. [^\d].*", page)
    cited = {(label, number) for number, label in re.findall(r"(\d+(?:, \d+)*) \((\w+)\)", page)}
    assert cited == set(EQUATIONS.items())


def test_every_function_on_the_page_is_in_the_code():
    known = defined("src")
    for row in ROWS:
        for name in re.findall(r"`([^`]+)`", row[-2]):
            assert name in known, row


def test_every_test_on_the_page_is_there():
    known = defined("tests")
    for row in ROWS:
        names = re.findall(r"`([^`]+)`", row[-1])
        assert names or "the same" in row[-1], row
        assert set(names) <= known, row
