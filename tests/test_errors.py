"""Messages are one line, whatever they quote."""

import pickle

import pytest

from diln.errors import DilnError, SourceError, StoreError


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
