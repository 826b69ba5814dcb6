"""Letters that can be written in several ways are one; ASCII stays as it is."""

import string
from unicodedata import category, normalize

import numpy as np
import pytest

from diln.analysis.spans import token_spans
from diln.corpus import Corpus
from diln.corpus.counting import scan_texts
from diln.corpus.rules import TextRule
from diln.corpus.spelling import unified, without_addresses
from diln.errors import DilnWarning

SAME = {
    "ligatures": ("ﬁrst eﬃcient ﬂow", "first efficient flow"),
    "wide letters": ("Ｅｕｒｏｐｅ", "Europe"),
    "accents": ("cafe\u0301 Zu\u0308rich", "café Zürich"),
    "soft hyphens": ("co\u00adope\u00adrate", "cooperate"),
    "Turkish": ("İstanbul İYİ I\u0307stanbul", "istanbul iyi istanbul"),
    "Arabic vowel signs": ("مُحَمَّدٌ", "محمد"),
    "tatweel": ("العـــربية", "العربية"),
    "Arabic presentation forms": ("\ufee3\ufea4\ufee4\ufeaa", "محمد"),
    "Arabic madda": ("ا\u0653لهة", "آلهة"),
    "half-width kana": ("\uff76\uff9e\uff77\uff9e", "\u30ac\u30ae"),
    "Hangul": ("\u1112\u1161\u11ab\u1100\u116e\u11a8", "한국"),
    "long s": ("ſoft", "soft"),
}


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_one_word_has_one_spelling(one, other):
    rule = TextRule(min_length=1, stop_words=None)
    assert scan_texts([one], rule).terms == scan_texts([other], rule).terms


@pytest.mark.parametrize("name", sorted(set(SAME) - {"accents", "soft hyphens", "Hangul", "Arabic madda"}))
def test_words_as_they_are_written_may_differ(name):
    one, other = SAME[name]
    rule = TextRule(min_length=1, stop_words=None, normalise=False)
    assert scan_texts([one], rule).terms != scan_texts([other], rule).terms


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_a_word_is_marked_as_it_is_written(one, other):
    rule = TextRule(min_length=1, stop_words=None)
    spans = token_spans([f"({one})"], rule)[0]
    assert [span.token for span in spans] == other.lower().split(" ")
    assert [f"({one})"[span.first : span.last] for span in spans] == one.split(" ")


def test_stop_words_are_spelt_as_the_words_are():
    assert Corpus.from_texts(["der ﬁsch schwimmt"], stop_words=["fisch"]).vocabulary == ["der", "schwimmt"]


def test_ascii_is_never_changed():
    rng = np.random.default_rng(0)
    for _ in range(300):
        text = "".join(rng.choice(list(string.printable), 60))
        assert unified(text) == (text, False)
        assert TextRule().forms(text) == (text, text.lower())


def test_letters_become_what_nfkc_makes_of_them_and_all_else_stays():
    for point in range(0x80, 0x40000):
        letter = chr(point)
        kind = category(letter)
        if kind[0] == "L" and not (0x3131 <= point <= 0x318E or 0xFB50 <= point <= 0xFEFF or point == 0x640):
            assert unified(letter)[0] == normalize("NFKC", letter), hex(point)
        elif kind[0] != "M" and point != 0xAD and not (0xFB50 <= point <= 0xFEFF or 0x3131 <= point <= 0x318E):
            assert unified(letter)[0] == letter or point == 0x640, hex(point)


def test_a_trade_mark_is_no_part_of_the_word_before_it():
    assert Corpus.from_texts(["Windows™ and Office℠ cost 5㎏ №"]).vocabulary == ["cost", "office", "windows"]


def test_letters_of_korean_that_stand_alone_stay():
    assert Corpus.from_texts(["ㅋㅋㅋ ㅠㅠㅠ"]).vocabulary == ["ㅋㅋㅋ", "ㅠㅠㅠ"]


TWEETS = [
    "RT @bob_smith: see https://t.co/AbC?x=1&y=2 and www.example.org/page, or mail me.too@example.org #brexit now",
    "HTTPS://EXAMPLE.ORG (http://x.y/z) brexit@",
]


def test_addresses_are_left_out_if_that_is_wanted():
    assert Corpus.from_texts(TWEETS, addresses=False, max_df=1.0).vocabulary == ["brexit", "mail", "see"]
    usual = Corpus.from_texts(TWEETS, max_df=1.0).vocabulary
    assert {"https", "bob", "smith", "example", "org", "brexit"} <= set(usual)


def test_addresses_are_left_out_in_place():
    for text in TWEETS:
        plain = without_addresses(text)
        assert len(plain) == len(text)
        assert all(a in (b, " ") for a, b in zip(plain, text, strict=True))
    spans = token_spans(TWEETS[:1], TextRule(addresses=False))[0]
    assert [TWEETS[0][span.first : span.last] for span in spans] == ["see", "mail", "brexit"]


@pytest.mark.parametrize("text", ["a" * 1_000_000, "a." * 500_000, "@" * 500_000, "RT " * 300_000, "www." * 200_000])
def test_addresses_are_looked_for_in_a_moment(text):
    import time

    begun = time.process_time()
    without_addresses(text)
    assert time.process_time() - begun < 3


def test_texts_with_many_addresses_are_told_how_to_leave_them_out():
    texts = [f"elk dog https://x.y/{number}" for number in range(20)] + ["cat hen ant"] * 30
    with pytest.warns(DilnWarning, match="40% of the documents have web addresses.*--no-addresses"):
        Corpus.from_texts(texts)
    assert "https" not in Corpus.from_texts(texts, addresses=False).vocabulary
    Corpus.from_texts(texts[:8] + ["cat hen ant"] * 30)
