"""Tokens with their places are the tokens that are counted."""

import unicodedata
from collections import Counter

import numpy as np
import pytest

from diln.analysis.spans import token_spans
from diln.corpus.counting import count_texts
from diln.corpus.rules import TextRule

ODD = [
    "Plain words, and 3 numbers: re-entry isn't hard.",
    "Cafe\u0301 cafe\u0301s CAFE\u0301 caf\u00e9",
    "İstanbul'da İYİ ışık",  # letters that become two in lower case
    "ΑΣ'Α ΟΔΥΣΣΕΥΣ ΣΣΣ",
    "soft\u00adhyphen a\u00ad\u0301b e\u00ad\u0301e\u0301e",
    "=\u0338abc <\u0338def \u0338ghi",
    "\u1112\u1161\u11ab\u1100\u116e\u11a8 한국어 \u1100\u1161",
    "\u0995\u09c7\u09be \u0995\u09c7\u09be\u0995",
    "中文文本 and ไทย text",
    "\ud800abc\udfffdef ghi\U000e0100jkl \U0003ffffabc",
    "",
    "   ",
    "ﬁne ﬁsh ﬂow ß ẞ STRASSE Straße",
    "\u0344\u0344\u0344abc\u0344 q\u0323\u0307 q\u0307\u0323rs",
]
ALPHABET = [
    *"abcABC çÇ.-'1\n",
    "é",
    "e\u0301",
    "\u0301",
    "\u0323",
    "\u00ad",
    "İ",
    "Σ",
    "ß",
    "\u1100",
    "\u1161",
    "\u11a8",
    "中",
    "=",
    "\u0338",
]


def counted(text, rule):
    found = count_texts([text], rule)
    return Counter(dict(zip([found.terms[at] for at in found.ids], found.counts.tolist(), strict=True)))


@pytest.mark.parametrize("text", ODD)
@pytest.mark.parametrize(
    "rule",
    [
        TextRule(min_length=1), TextRule(), TextRule(lowercase=False, min_length=2), TextRule(alphabet="ascii"),
        TextRule(token_pattern=r"\w+"), TextRule(token_pattern=r"(\w)\w*|-"),
    ],
    ids=["all", "usual", "case", "ascii", "pattern", "group"],
)  # fmt: skip
def test_spans_are_the_tokens_that_are_counted(text, rule):
    assert Counter(one.token for one in token_spans([text], rule)[0]) == counted(text, rule)


def test_spans_of_random_texts_are_the_tokens_that_are_counted():
    rng, rule = np.random.default_rng(0), TextRule(min_length=1, stop_words=None)
    for _ in range(2000):
        text = "".join(rng.choice(ALPHABET, rng.integers(0, 12)))
        spans = token_spans([text], rule)[0]
        assert Counter(one.token for one in spans) == counted(text, rule), ascii(text)
        ends = [0, *(place for one in spans for place in (one.first, one.last)), len(text)]
        assert ends == sorted(ends), ascii(text)


def test_a_span_holds_the_token():
    text = "Cafe\u0301s in İzmir: soft\u00adhyphens"
    found = {one.token: text[one.first : one.last] for one in token_spans([text], TextRule(min_length=1))[0]}
    assert found["caf\u00e9s"] == "Cafe\u0301s"
    assert found["izmir"] == "İzmir"
    assert found["softhyphens"] == "soft\u00adhyphens"


def test_a_long_text_of_marks_takes_no_long_time():
    text = "a" + "\u0301" * 200_000 + " " + "e\u0301\u0323" * 50_000
    spans = token_spans([text], TextRule(min_length=1, stop_words=None))[0]
    assert len(spans) == 2
    assert spans[0].token == unicodedata.normalize("NFC", "a" + "\u0301" * 200_000)
