"""Figures of a comparison show what the studies came to, in the house style, as .svg and .png."""

import re
import subprocess
import sys

import pytest
from IPython.core.formatters import DisplayFormatter
from views import LEVELS, VIEWS, table_view

from diln.show.comparison import DASHES, FIGURES, draw
from diln.show.style import COLOURS, colour, label_ends, new_figure, style


@pytest.mark.parametrize("name", sorted(VIEWS))
def test_every_study_has_a_figure_that_is_800_pixels_wide(name, tmp_path):
    svg, png = draw(name, VIEWS[name](), tmp_path)
    assert svg.read_text("utf-8").lstrip().startswith("<?xml")
    header = png.read_bytes()[:24]
    assert header[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(header[16:20]) == 800


@pytest.mark.parametrize("name", sorted(VIEWS))
def test_a_notebook_shows_the_figure_of_a_study_as_a_picture(name):
    with style():
        figure = FIGURES[name](VIEWS[name]())
    data, metadata = DisplayFormatter().format(figure)
    assert data["image/png"].startswith(b"\x89PNG")
    assert metadata["image/png"]["width"] == 800


def test_the_same_view_gives_the_same_bytes(tmp_path):
    first = [path.read_bytes() for path in draw("table", table_view(), tmp_path)]
    assert [path.read_bytes() for path in draw("table", table_view(), tmp_path)] == first


def test_a_figure_that_cannot_be_drawn_leaves_the_old_one(tmp_path, monkeypatch):
    before = [path.read_bytes() for path in draw("table", table_view(), tmp_path)]

    def fail(figure, file, **settings):
        file.write(b"half of a figure")
        raise RuntimeError("no room")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", fail)
    with pytest.raises(RuntimeError, match="no room"):
        draw("table", table_view(), tmp_path)
    assert [path.read_bytes() for path in sorted(tmp_path.iterdir(), reverse=True)] == before


def drawn(name: str):
    with style():
        return FIGURES[name](VIEWS[name]())


def test_the_table_has_every_model_at_its_perplexity():
    (axes,) = drawn("table").axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["LDA", "CTM", "HDP", "DILN"]
    means = {line.get_color(): line.get_xdata()[0] for line in axes.get_lines() if len(line.get_xdata()) == 1}
    assert means == {COLOURS[model]: level for model, level in LEVELS.items()}


def test_a_table_of_one_model_has_nothing_beside_it(tmp_path):
    assert draw("table", table_view(("DILN",)), tmp_path)


def test_lines_are_named_at_their_ends():
    (axes,) = drawn("prior").axes
    assert {text.get_text() for text in axes.texts} == set(LEVELS)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0.01", "0.03", "0.1"]


def test_bars_over_splits_are_said_to_be_no_test_of_differences():
    (axes,) = drawn("prior").axes
    assert axes.get_title(loc="left") == "Mean of 5 splits; bars: standard errors over splits, not of differences"


def test_names_that_would_lie_on_each_other_are_moved_apart():
    with style():
        _, axes = new_figure(3)
        plot = axes[0, 0]
        plot.set_ylim(0, 100)
        label_ends(plot, [(1, 50, "one", "black"), (1, 51, "two", "black"), (1, 90, "three", "black")])
    places = {text.get_text(): text.xy[1] for text in plot.texts}
    assert places["one"] == 50
    assert places["two"] - places["one"] >= 5
    assert places["three"] == 90


def test_steps_have_a_panel_for_each_model_and_size_and_a_line_for_each_decay():
    figure = drawn("steps")
    assert len(figure.axes) == 3 * len(LEVELS)
    for axes in figure.axes:
        assert sorted(line.get_linestyle() for line in axes.get_lines()) == sorted(DASHES)
    model = figure.axes[0].get_title(loc="left").split(",")[0]
    assert figure.axes[0].get_lines()[0].get_color() == colour(model)
    ticks = [label.get_text() for label in figure.axes[-1].get_xticklabels()]
    assert any(re.fullmatch(r"\d+,000", tick) for tick in ticks)


def test_a_pass_shows_every_pair_of_topics():
    figure = drawn("pass")
    assert len(figure.axes[2].get_lines()) == 100 + 1  # and the line of no correlation


def test_a_model_has_one_colour_everywhere_and_no_two_have_the_same():
    assert len(set(COLOURS.values())) == len(COLOURS)
    assert colour("DILN") == COLOURS["DILN"]
    assert colour("another") not in COLOURS.values()


def test_drawing_needs_no_screen_and_changes_no_settings_of_the_user():
    code = (
        "import sys; sys.path.insert(0, 'tests/show'); import matplotlib as m; before = m.rcParams.copy()\n"
        "from views import table_view; from pathlib import Path; from tempfile import mkdtemp\n"
        "from diln.show.comparison import draw; draw('table', table_view(), Path(mkdtemp()))\n"
        "assert m.rcParams.copy() == before; assert 'matplotlib.pyplot' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
