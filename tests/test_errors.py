"""Messages are one line, whatever they quote."""

import errno
import pickle
import re
import time
from pathlib import Path
from warnings import warn

import pytest

from diln.corpus.watch import Notes
from diln.errors import DilnError, DilnWarning, SourceError, StoreError
from diln.files.safe import unreadable, unwritable


@pytest.mark.parametrize("kind", [DilnError, SourceError, StoreError])
def test_names_with_odd_characters_stay_in_one_line_that_can_be_printed(kind):
    message = str(kind("a\nb\x1b[31m\ud800.txt: is no file"))
    assert message == "a\\nb\\x1b[31m\\ud800.txt: is no file"
    assert message.encode()


def test_a_message_that_quotes_much_is_cut_in_the_middle():
    message = str(SourceError(f"there is no column {'x' * 10_000}; name one"))
    assert message.startswith("there is no column") and message.endswith("; name one")
    assert len(message) < 1000


@pytest.mark.parametrize("value", ["9" * 4000, "it's " * 500, "\\" * 4000, "a b\n" * 90, '"' * 500])
def test_a_long_value_between_quotes_is_cut_and_what_stands_around_it_is_not(value):
    message = str(DilnError(f"the users' file: {value!r} is no date ({value!r}), 'short' is one; don't give 'x'"))
    _, cut, end = re.fullmatch(r"(the users' file: )(.*)( is no date .*)", message).groups()
    assert (cut[0], cut[-4:-1], cut[-1]) == (repr(value)[0], "...", repr(value)[0])
    assert end == f" is no date ({cut}), 'short' is one; don't give 'x'"
    assert len(cut) < 100


def test_a_message_about_a_long_word_takes_no_time_in_the_square_of_its_length():
    begun = time.process_time()
    assert len(str(DilnError(f"{'a' * 300_000}: no file; see http://host/"))) < 1000
    assert len(str(DilnError(f"{'aa::' * 100_000}: no file; see http://host/"))) < 1000
    assert time.process_time() - begun < 20


@pytest.mark.parametrize("fails", [unwritable, unreadable])
def test_a_name_that_is_too_long_is_said_to_be(fails):
    said = str(fails(Path("a"), OSError(errno.ENAMETOOLONG, "File name too long")))
    assert said == "a: the name is too long; give a shorter one"


def test_an_error_comes_out_of_another_process_as_it_was():
    error = SourceError(f"a\nb {'x' * 5000}")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_warnings_and_notes_show_odd_characters_as_codes(capsys):
    with pytest.warns(DilnWarning) as warned:
        warn("label 'a\x1b]0;x\x07\u202e\nb'", DilnWarning, stacklevel=1)
    assert str(warned[0].message) == r"label 'a\x1b]0;x\x07\u202e\nb'"
    Notes().note("column 'a\x1b[2J\x9b\u202eb'")
    assert capsys.readouterr().err == "column 'a\\x1b[2J\\x9b\\u202eb'\n"


@pytest.mark.parametrize("path", [f"/{'deep/' * 30}no-such-file", f"./{'a' * 90}.csv", f"C:\\{'b' * 90}.csv"])
def test_paths_between_quotes_stay_whole(path):
    assert str(DilnError(f"there is no file: '{path}'")) == f"there is no file: '{path}'"
