"""Figures of a fitted model show what it has found: readable, whole, and the same every time."""

import re
import subprocess
import sys
import warnings
from dataclasses import replace
from functools import cache
from pathlib import Path

import handmade
import newsroom
import numpy as np
import pytest
from IPython.core.formatters import DisplayFormatter
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import QuadMesh
from matplotlib.text import Text

from diln import DILN, LDA, Corpus, Sampling
from diln.analysis import Atlas, largest_topics
from diln.show import figures
from diln.show.figures import KINDS
from diln.show.figures.choice import evenly
from diln.show.figures.labels import Room
from diln.show.figures.sheet import label_in_room, plain, shortened, text_width
from diln.show.style import THEMES, figure_bytes, quiet, theme_colour, theme_mark

GIVEN = {"similar": {"document": 3}, "match": {"other": newsroom.plain_editor}}
OF_FIT = ("training", "score", "pairs", "states")
OF_MODEL = [name for name, kind in KINDS.items() if not kind.documents and name not in OF_FIT]


@cache
def stateful() -> Atlas:
    model = DILN(12, n_dims=2, max_iter=40, random_state=0, inference=Sampling(keep_states=5))
    return Atlas(model.fit(newsroom.paper()), newsroom.paper())


def drawn(name: str, atlas, **options):
    given = {key: value() if callable(value) else value for key, value in GIVEN.get(name, {}).items()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return KINDS[name].draw(atlas, **{**given, **options})


def texts(figure) -> list[str]:
    return [one.get_text() for one in figure.findobj(Text) if one.get_text()]


def told(figure) -> str:
    return " ".join(" ".join(texts(figure)).split())


def assert_whole(figure):
    """Nothing that is drawn lies outside the figure."""
    canvas = FigureCanvasAgg(figure)
    with quiet():
        box = figure.get_tightbbox(canvas.get_renderer())
    width, height = figure.get_size_inches()
    assert box.x0 >= -0.02
    assert box.y0 >= -0.02
    assert box.x1 <= width + 0.02
    assert box.y1 <= height + 0.02


@cache
def of_size(n_topics: int, n_dims: int = 3) -> Atlas:
    rng = np.random.default_rng(0)
    rows = rng.dirichlet(np.full(200, 0.05), n_topics) + 1e-9
    vocabulary = [f"word{at}" for at in range(200)]
    tokens, locations = rng.uniform(2, 5, n_topics), rng.standard_normal((n_topics, n_dims))
    return Atlas(handmade.model(rows, tokens, vocabulary, locations))


@pytest.mark.parametrize("name", sorted(KINDS))
def test_every_kind_is_drawn_whole_where_there_is_little_room(name):
    figure = drawn(name, stateful(), width=4.0)
    assert figure.get_size_inches()[0] == 4
    assert_whole(figure)


@pytest.mark.parametrize("name", sorted(KINDS))
def test_the_same_input_gives_the_same_bytes(name):
    first, second = (drawn(name, stateful()) for _ in range(2))
    assert_whole(first)
    for form in ("svg", "png", "pdf") if name == "match" else ("svg",):
        assert figure_bytes(first, form) == figure_bytes(second, form), form


@pytest.mark.parametrize("n_topics", [1, 2, 250])
@pytest.mark.parametrize("name", OF_MODEL)
def test_models_of_any_size_have_every_figure(name, n_topics):
    model = of_size(n_topics)
    options = {"other": model} if name == "match" else {}
    if n_topics == 1 and name == "network":
        with pytest.raises(ValueError, match="there is no pair to show"):
            drawn(name, model)
        return
    figure = drawn(name, model, **options)
    assert_whole(figure)
    if n_topics == 250 and name not in ("usage", "themes"):
        assert re.search(r"Showing \d+ of [\d,]+ ", told(figure))


def test_a_notebook_shows_a_figure_as_a_picture():
    """Without %matplotlib inline and without pyplot, which would tell IPython how."""
    figure = drawn("words", newsroom.atlas(), top=3, width=4.0)
    data, metadata = DisplayFormatter().format(figure)
    header = data["image/png"][:24]
    assert header[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(header[16:20]) == 800
    assert metadata["image/png"] == {"width": 400, "height": round(100 * figure.get_size_inches()[1])}
    assert figure.dpi == drawn("words", newsroom.atlas(), top=3, width=4.0).dpi  # and leaves it as it was


def test_words_of_the_largest_topics_are_there_with_a_bar_each():
    atlas = newsroom.atlas()
    figure = drawn("words", atlas, top=3, n_words=4)
    shown = atlas.topics(4)[:3]
    assert {word for topic in shown for word in topic.words} <= set(texts(figure))
    bars = [patch for axes in figure.axes for patch in axes.patches]
    assert len(bars) == 3 * 4
    assert f"Showing 3 of {len(atlas.topics())} topics, the largest" in told(figure)


def test_topics_that_are_asked_for_are_shown_in_this_order():
    ids = [topic.id for topic in newsroom.atlas().topics()][2:0:-1]
    found = texts(drawn("words", newsroom.atlas(), topics=ids))
    assert [text for text in found if text in map(str, ids)] == list(map(str, ids))


@pytest.mark.parametrize("wrong", [[], [10**6], [-1], "12", 3, [True], [1.5], [None]])
def test_unknown_topics_are_refused_in_a_sentence(wrong):
    with pytest.raises(ValueError, match=r"there is no topic|give a list"):
        drawn("words", newsroom.atlas(), topics=wrong)


@pytest.mark.parametrize("name", sorted(KINDS))
def test_what_is_no_model_is_refused_in_a_sentence(name):
    for wrong in (None, "model", 3, DILN()):
        with pytest.raises((TypeError, ValueError), match=r"give a fitted estimator|not fitted yet"):
            drawn(name, wrong)


def test_unknown_themes_are_refused_in_a_sentence():
    for wrong in ([], 1, "1", [99], [None]):
        with pytest.raises(ValueError, match=r"there is no theme|give a list"):
            drawn("labels", newsroom.atlas(), topics=wrong)


@pytest.mark.parametrize("name", sorted(KINDS))
@pytest.mark.parametrize("option", ["top", "width"])
def test_numbers_that_make_no_sense_are_refused(name, option):
    if option not in KINDS[name].options:
        return
    for wrong in (0, -1, float("nan"), "x", None, True):
        with pytest.raises(ValueError, match=option):
            drawn(name, newsroom.atlas(), **{option: wrong})


def test_matrices_have_as_many_cells_as_pairs_and_mark_the_sure_ones():
    atlas = newsroom.atlas(2)
    figure = drawn("matrix", atlas, top=6)
    matrix = atlas.matrix(6)
    off = matrix.log_lift[~np.eye(len(matrix.order), dtype=bool)]
    meshes = [part for axes in figure.axes for part in axes.collections if isinstance(part, QuadMesh)]
    assert len(meshes) == 2
    assert sum(part.get_array().count() for part in meshes) <= off.size
    dots = [part for axes in figure.axes for part in axes.collections if not isinstance(part, QuadMesh)]
    assert len(dots) == 2
    assert {str(topic) for topic in matrix.order} <= set(texts(figure))


def test_attracting_and_avoiding_pairs_differ_without_colour():
    atlas = newsroom.atlas()
    figure = drawn("network", atlas, top=5, unsure=True)
    lines = [line for line in figure.axes[0].lines if len(line.get_xdata()) == 2]
    found = atlas.pairs(5, True)
    styles = [line.get_linestyle() for line in lines]
    assert styles.count("-") == len(found.positive)
    assert styles.count("--") == len(found.negative)


def test_a_model_without_locations_has_no_network_and_says_why():
    with pytest.raises(ValueError, match="no correlations; fit a DILN or a CTM"):
        drawn("network", newsroom.plain_editor())


def test_names_on_the_map_do_not_lie_on_each_other():
    figure = drawn("map", of_size(100))
    renderer = FigureCanvasAgg(figure).get_renderer()
    names = [one for one in figure.axes[0].texts if re.match(r"\d+ ", one.get_text())]
    boxes = [one.get_window_extent(renderer) for one in names]
    assert len(boxes) > 20
    for place, box in enumerate(boxes):
        for other in boxes[:place]:
            assert not (box.shrunk(0.98, 0.8).overlaps(other.shrunk(0.98, 0.8)))


def test_the_map_has_a_circle_for_every_topic_and_the_origin():
    figure = drawn("map", newsroom.atlas())
    markers = [line.get_marker() for line in figure.axes[0].lines]
    assert markers.count("o") == len(newsroom.atlas().topics())
    assert markers.count("+") == 1


def test_usage_shows_shares_and_topics_of_a_document():
    atlas = newsroom.atlas()
    figure = drawn("usage", atlas)
    shares, documents = figure.axes
    assert len(shares.patches) == len(atlas.topics())
    assert sum(bar.get_height() for bar in documents.patches) == pytest.approx(100)
    assert len(drawn("usage", newsroom.editor()).axes) == 1  # documents are not known


def test_training_follows_the_history():
    fitted = newsroom.editor().fitted_
    alpha = drawn("training", fitted).axes[0].lines[0]
    assert alpha.get_ydata().tolist() == [one["alpha"] for one in fitted.history]
    score = drawn("score", fitted).axes[0].lines[0]
    assert score.get_ydata().tolist() == [one["score"] for one in fitted.history]


def test_pairs_have_a_panel_each_that_ends_where_the_history_does():
    atlas = stateful()
    history = atlas.fitted.history
    axes = drawn("pairs", atlas).axes
    assert len(axes) == len(history[-1]["correlations"]) > 0
    last = sorted(float(plot.lines[0].get_ydata()[-1]) for plot in axes)
    assert last == sorted(history[-1]["correlations"].values())
    assert {plot.lines[0].get_xdata()[-1] for plot in axes} == {history[-1]["iteration"]}
    with pytest.raises(ValueError, match="fit a DILN or a CTM"):
        drawn("pairs", newsroom.plain_editor())


def test_states_have_a_line_for_every_pair_and_models_without_them_say_so():
    (axes,) = drawn("states", stateful(), top=7).axes
    lines = [line for line in axes.lines if len(line.get_xdata()) == 5]
    assert len(lines) == 7
    assert all(np.abs(line.get_ydata()).max() <= 1 for line in lines)
    with pytest.raises(ValueError, match="--keep-states"):
        drawn("states", newsroom.editor())
    with pytest.raises(ValueError, match="no correlations"):
        drawn("states", newsroom.plain_editor())


def test_a_model_without_a_history_is_told_apart():
    with pytest.raises(ValueError, match="no history"):
        drawn("training", of_size(3))


def test_themes_over_time_have_a_panel_each_and_topics_too():
    atlas = newsroom.atlas()
    panels = lambda figure: [axes for axes in figure.axes if axes.lines]  # noqa: E731
    assert len(panels(drawn("trends", atlas, themes=2))) == 2
    ids = [topic.id for topic in atlas.topics()][:3]
    assert len(panels(drawn("trends", atlas, by="topic", topics=ids))) == 3
    one = drawn("trends", atlas, by="topic", top=1, granularity="year")
    assert "in 1 year" in told(one)


def test_documents_of_each_period_are_below_the_panels_and_hollow_where_there_is_no_share():
    atlas = newsroom.uneven()
    figure = drawn("trends", atlas, themes=2, granularity="quarter")
    panel, strip = figure.axes[:2]
    line = panel.lines[0].get_ydata()
    assert np.isnan(line).tolist() == [False] * 4 + [True]  # of one document
    heights = [bar.get_height() for bar in strip.patches]
    hollow = [bar.get_x() + 0.4 for bar in strip.patches if bar.get_facecolor()[3] == 0]
    assert hollow == [4]
    found = atlas.trends("theme", "quarter")
    assert max(heights) == max(found.n_docs)
    labels = [label.get_text() for label in strip.get_xticklabels()]
    assert labels == [f"{period}\n{n}" for period, n in zip(found.periods, found.n_docs, strict=True)]
    assert_whole(figure)
    told_below = told(figure)
    assert "No share where there are fewer than 10 documents: 2021-Q1 (1)" in told_below
    assert "The mix of labels changes over time" in told_below
    constant = drawn("trends", atlas, themes=2, granularity="quarter", standardise=True)
    assert "labels held constant" in told(constant)
    assert "The mix of labels" not in told(constant)


def test_sure_differences_between_labels_are_filled():
    atlas = newsroom.atlas()
    found = atlas.groups("theme")
    figure = drawn("labels", atlas)
    dots = [line for axes in figure.axes for line in axes.lines if line.get_marker() == "o"]
    filled = [dot for dot in dots if dot.get_markerfacecolor() != "white"]
    assert len(dots) == len(found.cells)
    assert len(filled) == sum(cell.sure for cell in found.cells)


def test_what_needs_documents_says_so_without_them():
    for name in ("trends", "labels", "similar"):
        with pytest.raises(ValueError, match="corpus"):
            drawn(name, Atlas(newsroom.editor()))


def test_many_labels_and_periods_are_cut_and_told():
    rng = np.random.default_rng(0)
    n_docs = 520
    dates = [str(np.datetime64("2010-01-04") + 7 * at) for at in range(n_docs)]
    corpus = Corpus.from_texts(
        [" ".join(rng.choice(["red", "fox", "owl", "bee", "elk"], 12)) for _ in range(n_docs)], dates=dates,
        labels=[f"label number {at % 50} with a rather long name" for at in range(n_docs)], min_df=1, max_df=1.0,
    )  # fmt: skip
    atlas = Atlas(LDA(2, max_iter=3, random_state=0).fit(corpus), corpus)
    weeks = drawn("trends", atlas, by="topic", granularity="week", min_documents=1)
    assert_whole(weeks)
    assert "520 documents in 520 weeks" in told(weeks)
    labels = drawn("labels", atlas, by="topic")
    assert_whole(labels)
    assert "Showing 12 of 50 labels" in told(labels)


def test_similar_documents_begin_with_the_query():
    atlas = newsroom.atlas()
    figure = drawn("similar", atlas, document=7, top=3)
    titles = [text for text in texts(figure) if text.startswith("Number ")]
    assert titles == ["Number 7", *(one.document.title for one in atlas.similar(7, n=3))]


def test_a_model_matches_itself():
    model = newsroom.editor()
    figure = drawn("match", model, other=model)
    assert "100% of the topics are in both models" in told(figure)


def test_the_tree_ends_in_groups_of_topics():
    atlas = newsroom.atlas()
    figure = drawn("themes", atlas, top=3, themes=2)
    fine = atlas.themes(3)
    for theme in fine.themes:
        assert theme.label in told(figure)


def test_labels_of_the_user_are_shown_as_they_are():
    atlas = newsroom.atlas()
    largest = atlas.topics()[0].id
    named = atlas.edited(atlas.edits.rename(largest, "Costs $5 or $6 <b>"))
    figure = drawn("words", named, top=2)
    assert any("Costs" in text for text in texts(figure))
    assert figure_bytes(figure, "png")  # and no formula of it


ODD = ["$x_1$", "$", "\\frac", "漢字", "😀😀", "a" * 500, "שלום", "\x07", "new\nline", "%", "", "\ud800"]


@pytest.mark.parametrize("name", ["words", "map", "matrix", "network", "themes"])
def test_odd_words_break_no_figure(name):
    model = replace(handmade.random_model(0, n_terms=len(ODD)), vocabulary=ODD)
    figure = drawn(name, model)
    assert_whole(figure)
    assert figure_bytes(figure, "svg")


def test_drawing_needs_no_screen_and_changes_no_settings_of_the_user():
    code = (
        "import sys; sys.path.insert(0, 'tests/analysis'); import matplotlib as m; before = m.rcParams.copy()\n"
        "import handmade; from diln.show import figures\n"
        "figures.topic_words(handmade.random_model(0)); figures.topic_map(handmade.random_model(0))\n"
        "assert m.rcParams.copy() == before; assert 'matplotlib.pyplot' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_themes_have_the_colours_and_letters_of_the_pages():
    style = (Path(figures.__file__).parents[1] / "page" / "base.css").read_text("utf-8")
    light = dict(re.findall(r"--theme-(\d+): light-dark\((#[0-9a-f]{6})", style))
    assert tuple(light[str(place)] for place in range(len(light))) == THEMES
    assert [theme_mark(place) for place in (None, 0, 25, 26, 51, 52)] == ["", "A", "Z", "AA", "AZ", "BA"]
    assert len({theme_colour(place) for place in range(36)}) == 36


def test_texts_are_cut_to_their_room():
    assert shortened("short", 5, 9) == "short"
    cut = shortened("a very long title of a document that nobody has room for", 1.5, 9)
    assert cut.endswith("…")
    assert text_width(cut, 9) <= 1.5
    assert label_in_room("one, two, three, four", 0.7, 9) == "one, two"
    assert plain(" a\n\tb$ ") == r"a b\$"


def test_panels_fill_their_rows_evenly():
    assert [evenly(number, 4) for number in (1, 4, 5, 8, 9)] == [(1, 1), (4, 1), (3, 2), (4, 2), (3, 3)]


def test_labels_find_places_beside_their_points_or_none():
    room = Room(2, 1)
    first = room.place(1, 0.5, 0.1, 0.5, 0.1)
    assert first is not None
    assert first.left > 1.1
    assert room.place(1, 0.5, 0.1, 0.5, 0.1) != first
    assert room.place(1, 0.5, 0.1, 3.0, 0.1) is None


def test_a_topic_has_one_number_everywhere():
    model = newsroom.editor()
    largest = [topic.id for topic in largest_topics(model, 4)]
    found = texts(drawn("words", model, top=4))
    assert [text for text in found if text.isdigit()] == list(map(str, largest))
