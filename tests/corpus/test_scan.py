import re
import unicodedata
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from diln.corpus.counting import Words, count_texts, ngrams, scan_texts
from diln.corpus.letters import UNSPACED_SCRIPTS, ascii_letters, unicode_letters
from diln.corpus.rules import TextRule
from diln.corpus.scan import hash_rows, scan, tally
from diln.corpus.strings import decode, encode, offsets_of

MAY_GO = "[\u0610-\u061a\u064b-\u0652\u0656-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed]"
many = settings(derandomize=True, deadline=None, max_examples=150)

SPECIAL = [
    *("İ", "ı", "ß", "ẞ", "ς", "Σ", "ŉ", "ǰ", "ﬁ", "ŒUVRE", "Ångström", "ÅNGSTRÖM", "ΣΟΦΟΣ ΟΔΟΣ"),
    *("e\u0301", "o\u0308", "\u0301", "\u0327\u0301", "a\u0328\u0301", "\u00ad", "co\u00adope\u00adrate"),
    *("हिन्दी", "की", "Привет", "ЁЛКА", "한국어", "\u1112\u1161\u11ab", "日本語", "ไทย", "العَرَبِيَّة", "עִברִית"),
    *("𝔘𝔫𝔦", "𐐀𐐁𐐂", "𠮷野家", "👩\u200d👩\u200d👧", "❤\ufe0f", "\ud800", "\udfff", "\ud83d\ude00", "\U0010ffff"),
    *("don't", "x2y", "a_b", "a\u2028b", "\0", "\n", " ", "ab", "abc", "THE", "_", "·", "\u00a0", "\u200c"),
]
# Selectors of variants of Han characters are marks above the planes that the table of letters has.
characters = st.characters(exclude_categories=()).filter(lambda c: not "\U000e0100" <= c <= "\U000e01ef")
letters_and_marks = st.characters(categories=("L", "M", "Zs")).filter(lambda c: c < "\U000e0000")
texts = st.lists(st.sampled_from(SPECIAL) | characters | letters_and_marks, max_size=30).map("".join)


def plain_letter(char):
    """A letter as NFKC has it, without marks that Arabic writers may leave out."""
    if char in ("\u00ad", "\u0640") or (unicodedata.category(char) == "Mn" and re.fullmatch(MAY_GO, char)):
        return ""
    is_letter = unicodedata.category(char)[0] in "LM" and char > "\x7f" and not "\u3131" <= char <= "\u318e"
    changed = unicodedata.normalize("NFKC", char) if is_letter else char
    return re.sub(f"{MAY_GO}|\u0640", "", changed)


def plain_form(text, lowercase=True):
    spelt = unicodedata.normalize("NFC", "".join(map(plain_letter, text)))
    lowered = unicodedata.normalize("NFC", spelt.lower() if lowercase else spelt)
    return lowered if text.isascii() else lowered.replace("i\u0307", "i")


def plain_words(text, min_length=3, lowercase=True):
    """Longest runs of letters and marks that begin with a letter, character by character."""
    words, word = [], ""
    for char in plain_form(text, lowercase) + " ":
        kind = unicodedata.category(char)[0]
        if kind == "L" or (kind == "M" and word):
            word += char
            continue
        if len(word) >= min_length:
            words.append(word)
        word = ""
    return words


def by_document(words):
    """The tokens of each document, as strings."""
    return [
        [words.terms[k] for k in words.ids[start:end]]
        for start, end in zip(words.starts[:-1], words.starts[1:], strict=True)
    ]


@many
@given(st.lists(texts, max_size=5), st.integers(1, 5))
@example(["İstanbul straße ΣΟΦΟΣ cafe\u0301", "", "हिन्दी की किताब", "\ud83d\ude00\ud800abc\udfffdef"], 3)
@example(["co\u00adope\u00adrate e\u00ad\u0301te\u0301"], 3)
@example(["\u0301\u0301abc\u0301\u0301 \u0301ab"], 3)
def test_the_scanner_finds_the_words_that_a_plain_loop_finds(documents, min_length):
    found = scan_texts(documents, TextRule(min_length=min_length))
    assert by_document(found) == [plain_words(text, min_length) for text in documents]
    assert len(set(found.terms)) == len(found.terms)


@many
@given(st.lists(texts, max_size=3))
def test_the_scanner_leaves_upper_case_where_it_is_told_to(documents):
    found = scan_texts(documents, TextRule(lowercase=False, acronyms=False))
    assert by_document(found) == [plain_words(text, lowercase=False) for text in documents]


@many
@given(st.lists(texts, max_size=3))
def test_the_ascii_alphabet_is_the_regular_expression_a_to_z(documents):
    found = scan_texts(documents, TextRule(alphabet="ascii"))
    assert by_document(found) == [re.findall("[a-z]{3,}", text.lower()) for text in documents]


@many
@given(st.lists(texts, max_size=3))
def test_letters_and_those_of_scripts_without_spaces_are_counted(documents):
    letters = [char for text in documents for char in plain_form(text) if unicodedata.category(char)[0] == "L"]
    unspaced = [char for char in letters if any(first <= ord(char) <= last for first, last in UNSPACED_SCRIPTS)]
    found = scan_texts(documents, TextRule())
    assert (found.letters, found.unspaced) == (len(letters), len(unspaced))


def test_every_character_alone_is_a_word_if_its_unicode_category_is_letter_but_few():
    points = [chr(point) for point in range(0x40000)]
    found = scan_texts(points, TextRule(min_length=1, lowercase=False, acronyms=False))
    letters = [unicodedata.category(char)[0] == "L" for char in points]
    words = [len(plain_words(char, 1, lowercase=False)) for char in points]
    np.testing.assert_array_equal(np.diff(found.starts), words)
    others = np.flatnonzero(np.array(words) != letters).tolist()  # marks of Arabic, and what NFKC takes apart
    assert {unicodedata.name(points[at]).split()[0] for at in others} <= {"ARABIC", "GREEK", "THAI", "LAO", "HALFWIDTH"}


@pytest.mark.parametrize("word", ["a" * 100_000, "é" * 50_000, "日" * 30_000, "𐐨" * 20_000, "क\u093f" * 9_000])
def test_a_very_long_word_is_one_word(word):
    found = scan_texts([f"{word} and {word} {word[:-2]}", word], TextRule())
    assert by_document(found) == [[word, "and", word, word[:-2]], [word]]


def test_composed_and_decomposed_spellings_are_one_term():
    found = scan_texts(["Café CAFE\u0301 cafe\u0301", "caf\u00ade\u0301"], TextRule())
    assert by_document(found) == [["café"] * 3, ["café"]]


@pytest.mark.parametrize("room", [1, 2, 16])
def test_the_table_of_terms_grows_in_the_middle_of_a_document(room):
    rng = np.random.default_rng(3)
    words = ["".join(rng.choice(list("abcdéя"), size=rng.integers(1, 7))) for _ in range(3_000)]
    documents = ["", " ".join(words[:2_000]), " ", " ".join(words[1_000:]), words[0]]
    data, sizes = encode(documents)
    found = scan(np.frombuffer(data, np.uint8), offsets_of(sizes), unicode_letters(), 1, room=room)
    terms = decode(data, *found.spans.T.tolist())
    assert len(terms) > 100 * room or room == 16
    assert by_document(Words(terms, found.ids, found.starts)) == [text.split() for text in documents]
    assert terms == list(dict.fromkeys(" ".join(documents).split()))
    assert found.letters == sum(len(text.replace(" ", "")) for text in documents)


def test_a_byte_that_starts_no_character_and_one_cut_off_at_the_end_separate_words():
    data = b"abc\xffdef jkl\xe2\x82"
    found = scan(np.frombuffer(data, np.uint8), offsets_of([len(data)]), unicode_letters(), 3)
    assert decode(data, *found.spans.T.tolist()) == ["abc", "def", "jkl"]


def test_no_document_and_empty_documents_have_no_words():
    for documents in ([], [""], ["", " ", "1234 !?"]):
        found = scan_texts(documents, TextRule())
        assert (found.terms, len(found.ids), len(found.starts)) == ([], 0, len(documents) + 1)


def test_only_the_letters_of_the_ascii_table_are_letters():
    assert "".join(map(chr, np.flatnonzero(ascii_letters()))) == "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


@many
@given(st.lists(st.lists(st.integers(-1, 6), max_size=12), max_size=6))
def test_tally_counts_as_np_unique_does(documents):
    ids = np.array([k for document in documents for k in document], np.int32)
    starts = offsets_of([len(document) for document in documents])
    terms, counts, lengths = tally(ids, starts, 7)
    ends = offsets_of(lengths)
    for m, document in enumerate(documents):
        own = np.array(document, np.int64)
        expected = np.unique(own[own >= 0], return_counts=True)
        row = slice(ends[m], ends[m + 1])
        order = np.argsort(terms[row])
        np.testing.assert_array_equal(terms[row][order], expected[0])
        np.testing.assert_array_equal(counts[row][order], expected[1])
        assert terms[row].tolist() == list(dict.fromkeys(own[own >= 0].tolist()))


@many
@given(st.lists(st.binary(max_size=4), max_size=12))
def test_equal_rows_have_equal_hashes_and_these_others_have_not(rows):
    hashes = hash_rows(np.frombuffer(b"".join(rows), np.uint8), offsets_of([len(row) for row in rows]))
    assert len(set(hashes.tolist())) == len(set(rows))
    assert len(set(zip(rows, hashes.tolist(), strict=True))) == len(set(rows))


def test_the_hash_of_a_row_is_fnv_1a():
    def fnv_1a(row):
        key = 0xCBF29CE484222325
        for byte in row:
            key = (key ^ byte) * 0x100000001B3 % 2**64
        return key

    rows = [b"", b"a", b"foobar", bytes(range(256))]
    hashes = hash_rows(np.frombuffer(b"".join(rows), np.uint8), offsets_of([len(row) for row in rows]))
    assert hashes.tolist() == [fnv_1a(row) for row in rows]


def plain_ngrams(tokens, shortest, longest):
    """All runs of neighbouring tokens, the short ones first."""
    runs = [tokens[i : i + n] for n in range(shortest, longest + 1) for i in range(len(tokens) - n + 1)]
    return [" ".join(run) for run in runs]


@many
@given(
    st.lists(st.lists(st.sampled_from("abcd"), max_size=7), max_size=5),
    st.integers(1, 4),
    st.integers(0, 4),
)
@example([["a"], [], ["a", "b"]], 3, 2)
def test_ngrams_are_sliding_windows_within_a_document(documents, shortest, more):
    index = {"a": 0, "b": 1, "c": 2, "d": 3}
    ids = np.array([index[token] for tokens in documents for token in tokens], np.int32)
    words = Words(list(index), ids, offsets_of([len(tokens) for tokens in documents]))
    found = Words(*ngrams(words, shortest, shortest + more))
    assert by_document(found) == [plain_ngrams(tokens, shortest, shortest + more) for tokens in documents]
    assert len(set(found.terms)) == len(found.terms)


@many
@given(st.lists(texts, max_size=4), st.sampled_from([(1, 1), (1, 2), (2, 3)]))
def test_texts_are_counted_as_plain_loops_count_them(documents, ngram_range):
    rule = TextRule(ngram_range=ngram_range, stop_words=["abc", "ςοφός"], min_length=2)
    found = count_texts(documents, rule)
    for m, text in enumerate(documents):
        row = slice(found.offsets[m], found.offsets[m + 1])
        tokens = [word for word in plain_words(text, 2) if word not in rule.stop_set]
        counted = dict(zip(found.ids[row].tolist(), found.counts[row].tolist(), strict=True))
        expected = Counter(plain_ngrams(tokens, *ngram_range))
        assert {found.terms[k]: count for k, count in counted.items()} == expected
