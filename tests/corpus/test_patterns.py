"""Patterns run with a deadline, and find what Python's own engine finds."""

import json
import re
import signal
import sys

import pytest

from diln import Corpus
from diln.corpus import append, build, patterns
from diln.corpus.pattern_process import REQUEST
from diln.corpus.patterns import Finder, find_spans, find_tokens
from diln.corpus.rules import TextRule

EVIL, TRAP = r"(?:a|aa)+$|b", "a" * 60 + "!"
TEXTS = [
    "Plain words, re-entry isn't hard; C3PO 1,000 times.",
    "हिन्दी में लिखा है",
    "İstanbul'da ışık, ΟΔΥΣΣΕΥΣ и Ёлка",
    "中文 한국어 ไทย ١٢٣ ½ ⅷ",
    "half \ud800 of one \udfff and e\u0301",
    "",
]


@pytest.fixture
def hurried(monkeypatch):
    """A deadline that is over soon."""
    monkeypatch.setattr(patterns, "DEADLINE", 0.3)


@pytest.mark.parametrize("pattern", [r"\w+", r"(?u)\b\w\w+\b", r"#?(\w)\w*", "[a-z]*", ".", r"(x)?\d", "(?i)STRASSE|ı"])
def test_tokens_are_those_of_python(pattern):
    assert find_tokens(pattern, TEXTS) == [re.findall(pattern, text) for text in TEXTS]
    group = re.compile(pattern).groups
    places = [[found.span(group) for found in re.finditer(pattern, text)] for text in TEXTS]
    assert find_spans(pattern, TEXTS) == places


def test_a_pattern_that_takes_too_long_ends_with_a_sentence(hurried):
    with pytest.raises(ValueError, match=r"token_pattern '\(\?:a\|aa\)\+\$\|b' took longer than 0.3 seconds .* write"):
        find_tokens(EVIL, [TRAP])
    assert find_tokens("[a-z]+", ["and others go on"]) == [["and", "others", "go", "on"]]


def test_a_pattern_that_takes_too_long_to_compile_ends_with_a_sentence(hurried):
    with pytest.raises(ValueError, match="took longer than") as caught:
        TextRule(token_pattern="(?i)" + r"[\x00-\U0010ffff]" * 20_000)
    assert len(str(caught.value)) < 600


def test_corpora_are_not_built_by_a_pattern_that_takes_too_long(hurried, tmp_path):
    (tmp_path / "sound.txt").write_text("b b b\nb b\n", "utf-8")
    (tmp_path / "trap.txt").write_text(f"b b b\n{TRAP}\n", "utf-8")
    options = {"token_pattern": EVIL, "min_df": 1}
    with pytest.raises(ValueError, match="took longer than"):
        Corpus.from_texts(["b b", TRAP], **options)
    with pytest.raises(ValueError, match="took longer than"):
        build(tmp_path / "trap.txt", tmp_path / "corpus", **options)
    build(tmp_path / "sound.txt", tmp_path / "corpus", **options)
    with pytest.raises(ValueError, match="took longer than"):
        append(tmp_path / "trap.txt", tmp_path / "corpus", id="none")
    assert Corpus.open(tmp_path / "corpus").n_tokens == 5


def test_a_process_that_is_killed_is_told_of_and_replaced(monkeypatch):
    ended = Finder()
    ended.process.kill()
    monkeypatch.setattr(patterns, "_idle", [ended])
    with pytest.raises(ValueError, match="made the process that runs it end"):
        find_tokens("[a-z]+", ["fox"])
    assert find_tokens("[a-z]+", ["fox"]) == [["fox"]]
    assert ended not in patterns._idle
    for finder in patterns._idle:
        finder.end()


@pytest.mark.skipif(sys.platform == "win32", reason="no alarms")
def test_a_process_whose_parent_has_gone_ends_at_its_deadline():
    finder = Finder()
    request = json.dumps([EVIL, [TRAP], False]).encode()
    finder.requests.write(REQUEST.pack(0.2, len(request)) + request)
    finder.requests.flush()
    assert finder.process.wait(60) == -signal.SIGALRM
    finder.end()
