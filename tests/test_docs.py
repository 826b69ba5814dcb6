"""What the documentation says is so: its examples run, its reference is current, its links lead somewhere."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
EXAMPLE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


@pytest.mark.parametrize(
    "page", [page for page in PAGES if EXAMPLE.search(page.read_text("utf-8"))], ids=lambda p: p.name
)
def test_the_examples_of_a_page_run(page, tmp_path):
    code = "\n".join(EXAMPLE.findall(page.read_text("utf-8")))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_reference_of_the_command_is_what_it_says_itself():
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    assert (ROOT / "docs" / "cli.md").read_text("utf-8") == generate.command_reference(), "run: python docs/generate.py"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in LINK.findall(page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


def test_every_option_that_the_pages_name_is_one_of_the_command():
    known = set(re.findall(r"--[a-z-]+", (ROOT / "docs" / "cli.md").read_text("utf-8")))
    for page in PAGES:
        assert set(re.findall(r"(?<=`)--[a-z-]+", page.read_text("utf-8"))) <= known, page.name


def test_make_has_the_targets_that_the_readme_promises():
    shown = subprocess.run(
        ["make", "--dry-run", "demo", "test", "check", "bench", "docs"],
        cwd=ROOT, capture_output=True, text=True, check=True, env={**os.environ, "MAKEFLAGS": ""},
    ).stdout  # fmt: skip
    steps = ["corpus build builtin:docs", "diln fit", "diln themes", "diln correlations", "diln report", "diln explore"]
    for step in [*steps, "pytest", "ruff check", "mypy", "mkdocs build"]:
        assert step in shown


def test_no_page_has_a_placeholder_left():
    for page in PAGES:
        assert not re.search(r"\b(TODO|FIXME|TBD|XXX|[A-Z]+_TABLE)\b", page.read_text("utf-8")), page.name
