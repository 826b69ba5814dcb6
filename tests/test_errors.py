"""Messages are one line, whatever they quote."""

import pickle
from warnings import warn

import pytest

from diln.corpus.watch import Notes
from diln.errors import DilnError, DilnWarning, SourceError, StoreError


@pytest.mark.parametrize("kind", [DilnError, SourceError, StoreError])
def test_names_with_odd_characters_stay_in_one_line_that_can_be_printed(kind):
    message = str(kind("a\nb\x1b[31m\ud800.txt: is no file"))
    assert message == "a\\nb\\x1b[31m\\ud800.txt: is no file"
    assert message.encode()


def test_a_message_that_quotes_much_is_cut_in_the_middle():
    message = str(SourceError(f"there is no column {'x' * 10_000}; name one"))
    assert message.startswith("there is no column") and message.endswith("; name one")
    assert len(message) < 1000


def test_an_error_comes_out_of_another_process_as_it_was():
    error = SourceError(f"a\nb {'x' * 5000}")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_warnings_and_notes_show_odd_characters_as_codes(capsys):
    with pytest.warns(DilnWarning) as warned:
        warn("label 'a\x1b]0;x\x07\u202e\nb'", DilnWarning, stacklevel=1)
    assert str(warned[0].message) == r"label 'a\x1b]0;x\x07\u202e\nb'"
    Notes().note("column 'a\x1b[2J\x9b\u202eb'")
    assert capsys.readouterr().err == "column 'a\\x1b[2J\\x9b\\u202eb'\n"
