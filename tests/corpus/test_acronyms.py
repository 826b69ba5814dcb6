"""Short words in capitals are kept, unless all around them is in capitals."""

import numpy as np
import pytest

from diln.analysis.spans import token_spans
from diln.corpus import Corpus, build
from diln.corpus.acronyms import is_acronym
from diln.corpus.counting import count_texts
from diln.corpus.rules import TextRule

KEPT = {
    "The EU and the UK met": ["eu", "uk"],
    "AI in Brussels": ["ai"],
    "US officials told us of it": ["US"],
    "the EU's plan, CO2 and MH370": ["co", "eu", "mh"],
    "EU UK": ["eu", "uk"],
    "US, UK, EU": ["US", "eu", "uk"],
    "DEAL WITH THE EU REACHED\nThe leaders of the EU met": ["eu"],
    "café EU naïve": ["eu"],
    "Ⱥpple and ẞtraße in the EU today": ["eu"],
    "ＥＵ today": ["eu"],
    "cafe\u0301 in the EU": ["eu"],
}
NOT_KEPT = {
    "headline": "STATE OF THE UNION IN NY TODAY",
    "umlauts": "ÜBER DEN EU GIPFEL",
    "stop words": "this IS what WE want TO do ON it, IT said",
    "one letter": "J K and plan B",
    "with small letters": "Mr Eu eU",
    "Cyrillic": "ЕС is written so",
    "with marks": "E\u0301U and EU\u0301",
}


def short(text, **options):
    return sorted(term for term in count_texts([text], TextRule(**options)).terms if len(term) < 3)


@pytest.mark.parametrize("text", KEPT)
def test_acronyms_are_kept_however_short(text):
    assert short(text) == KEPT[text]
    assert short(text, acronyms=False) == []


@pytest.mark.parametrize("text", NOT_KEPT.values(), ids=NOT_KEPT)
def test_what_is_no_acronym_is_not_kept(text):
    assert short(text) == []


def test_acronyms_are_as_long_as_may_be():
    corpus = Corpus.from_texts(["the NATO and the EU said so again"], min_length=6)
    assert corpus.vocabulary == ["eu", "nato"]
    assert Corpus.from_texts(["eu and EU"], min_length=1, stop_words=None).vocabulary == ["and", "eu"]


def test_the_united_states_are_not_we():
    corpus = Corpus.from_texts(["US troops; tell us", "US troops"], min_length=2, stop_words=None, max_df=1.0)
    assert corpus.vocabulary == ["US", "tell", "troops", "us"]
    assert corpus.counts.toarray().tolist() == [[1, 1, 1, 1], [1, 0, 1, 0]]
    assert "US" not in Corpus.from_texts(["US troops"], stop_words=["US"]).vocabulary
    assert "US" in Corpus.from_texts(["US troops"], stop_words=["us"]).vocabulary


def test_acronyms_are_parts_of_n_grams():
    assert "US troops" in Corpus.from_texts(["the US troops"], ngram_range=(1, 2)).vocabulary


@pytest.mark.parametrize(
    "options",
    [{"alphabet": "ascii"}, {"token_pattern": "[a-z]{3,}"}, {"acronyms": False}],
    ids=["ascii", "pattern", "no"],
)
def test_other_rules_keep_none(options):
    assert Corpus.from_texts(["the EU plan"], **options).vocabulary == ["plan"]


def test_ascii_texts_without_acronyms_are_counted_as_before():
    texts = ["The quick Brown fox, NASA and the OTHER dogs of Mr. J. Smith " * 3, "In A Word: Of Mice and Men", ""]
    now, before = (count_texts(texts, TextRule(acronyms=flag, normalise=flag)) for flag in (True, False))
    assert now.terms == before.terms
    for one, other in ((now.ids, before.ids), (now.counts, before.counts), (now.offsets, before.offsets)):
        np.testing.assert_array_equal(one, other)


def plain(text, start, end):
    return is_acronym.py_func(text.encode(), start, end, 0, len(text.encode()))


def test_the_compiled_rule_is_the_plain_one():
    rng = np.random.default_rng(0)
    words = ["EU", "of", "THE", "the", "NATO", "Über", "UNION", "US", "plans", "a", "-", ".", "3", "É", "ÉCOLE", "IN"]
    rule = TextRule(stop_words=None)
    for _ in range(1000):
        text = " ".join(rng.choice(words, rng.integers(1, 12)))
        spans = token_spans([text], rule)[0]
        found = count_texts([text], rule)
        counted = {found.terms[at]: int(n) for at, n in zip(found.ids, found.counts, strict=True)}
        marked = {}
        for span in spans:
            marked[span.token] = marked.get(span.token, 0) + 1
        assert marked == counted, text


def test_a_word_of_a_text_of_capitals_is_found_in_a_moment():
    import time

    text = "EU " * 300_000
    count_texts(["EU"], TextRule())
    begun = time.process_time()
    assert count_texts([text], TextRule()).counts.tolist() == [300_000]
    assert time.process_time() - begun < 5


def test_a_corpus_of_before_is_read_as_it_was(tmp_path):
    """A stored rule that does not speak of acronyms or spelling has neither."""
    from diln.corpus.layout import RULE
    from diln.fields import read

    stored = TextRule().to_json()
    for name in ("acronyms", "normalise", "addresses"):
        del stored[name]
    old = TextRule.from_json(read(RULE, {**stored, "columns": None}))
    assert (old.acronyms, old.normalise, old.addresses) == (False, False, True)
    new = TextRule.from_json(build_rule(tmp_path))
    assert (new.acronyms, new.normalise, new.addresses) == (True, True, True)


def build_rule(folder):
    (folder / "a.txt").write_text("the EU plan\n")
    return build(folder / "a.txt", folder / "corpus").rule


def test_shouted_surroundings_are_those_nearby():
    far = "X " * 60
    assert plain(f"SHOUT {far}EU {far}LOUD", 126, 128)
    assert not plain("SHOUT EU LOUD", 6, 8)
    assert plain("SHOUT EU loud", 6, 8)
    assert not plain("SHOUT EU", 6, 8)
    assert plain("NOT EU", 4, 6)
