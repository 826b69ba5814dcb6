"""The table of a comparison in words says what the view has."""

from views import table_view

from diln.show.table import COLUMNS, cells, markdown


def test_cells_are_in_the_order_of_the_columns():
    row = dict(zip(COLUMNS, cells(table_view().rows[2]), strict=True))
    assert row == {
        "model": "LDA", "settings": "1,200 topics, prior 0.03", "perplexity": "2,050 ± 22",
        "beside the best other": "+15.8% ± 0.5 DILN", "topics": "150", "NPMI": "0.123", "diversity": "0.50",
        "exclusivity": "0.40", "stability": "75%", "CPU s": "1,234",
    }  # fmt: skip


def test_small_perplexities_have_digits_and_chance_is_marked():
    view = table_view(("DILN", "HDP"))
    from dataclasses import replace

    row = replace(
        view.rows[0], perplexity=15.456, standard_error=None, against=replace(view.rows[0].against, clear=False)
    )
    assert cells(row)[2:4] == ["15.46", "≈ -4.3% ± 0.5 HDP"]


def test_no_difference_has_no_sign_and_no_coherence_no_number():
    from dataclasses import replace

    row = table_view().rows[0]
    for percent in (-0.0, 1e-14, -0.04):
        shown = cells(replace(row, npmi=None, against=replace(row.against, percent=percent)))
        assert shown[3] == "0.0% ± 0.5 HDP"
        assert shown[5] == "-"


def test_settings_that_differ_between_splits_are_all_named():
    from dataclasses import replace

    row = replace(table_view().rows[0], chosen=tuple({"topic_word_prior": prior} for prior in (0.01, 0.03, 0.01)))
    assert cells(row)[1] == "prior 0.01; prior 0.03"


def test_markdown_has_a_line_for_each_model_and_says_how_to_read_it():
    text = markdown(table_view(), "Two documents.")
    lines = text.splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 2 + 4
    assert {line.count("|") for line in table} == {len(COLUMNS) + 1}
    assert "Two documents." in lines
    assert f"**{table_view().verdict}**" in lines
    assert "- chosen at the end of what was tried: LDA --topics 1200." in lines
