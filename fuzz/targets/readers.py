"""Every reader: spoilt files, spoilt vocabularies and stop words, and odd ways to read sound ones."""

import gzip
from random import Random
from typing import Any
from unittest.mock import patch

from diln import Corpus
from diln.analysis.spans import token_spans
from diln.corpus import patterns
from diln.corpus.rules import TextRule
from diln.errors import DilnError
from fuzz.case import Case, Run, target
from fuzz.judge import WrongError
from fuzz.mutate import octets
from fuzz.seeds import SOURCES, STOP_WORDS, VOCABULARY, WORDS

BAGS = ("bags.ldac", "docword.bags.txt", "counts.npz", "bags.ldac.gz")
TEXT = ("lines.txt", "table.csv", "table.tsv", "records.jsonl", "lines.txt.gz", "table.csv.gz", "records.jsonl.gz")
PATTERNS = [
    r"\w+", r"(?u)\b\w\w+\b", "(", "[a-", "a*", "(a)(b)", "", ".", r"\S+", "(?P<a>x)", "\ud800", "(?i)FOX",
    "a{1,99999999999}", r"\\", "[[:alpha:]]", "(?<!a)b", "x" * 5000, "(" * 200 + ")" * 200, 3, b"a", None, r"(\w)+",
    "^", "$", "(?!)",
]  # fmt: skip
ATTACKS = [  # patterns that take for ever on text of few letters, or to compile
    r"(?:a|aa)+$|b", "(a+)+$", r"(?:[a-b]+[a-b ]*)+$", r"(?:(a)|b|ab)*c", "(?:a?){40}a{40}", "(?:a|aa){1,100}c",
    "(?i)" + r"[\x00-\U0010ffff]" * 2000, "(?:" * 90 + "a" + "{1,1000})" * 90, r"(?=(?:a|aa)+$)", r"(?:.*,)*;",
]  # fmt: skip
ENCODINGS = [
    "utf-8", "latin-1", "utf-16", "utf-32", "cp1252", "ascii", "utf-8-sig", "utf-7", "punycode", "idna", "rot13",
    "base64", "hex", "zlib", "unicode_escape", "raw_unicode_escape", "utf-16-le", "gb18030", "shift_jis", "cp037", "",
    "no-such", "\0", "mbcs", "undefined", 3, None, "utf_8\n", "a" * 5000, "../x",
]  # fmt: skip
ODD: list[Any] = [
    None, True, 0, 1, -1, 2, 1.5, 0.5, 0.0, float("nan"), float("inf"), 10**30, "", "a", "text", "id", "\0", "\ud800",
    b"a", [], ["text", "title"], [3], {}, (), (1, 2), (2, 1), (0, 0), (1, 10**9), (1.0, 2), ("a", "b"), object(),
    {"a": 1}, "none", "tab", "\\t", ";", '"', "\n", "english",
]  # fmt: skip
FEW: list[dict[str, Any]] = [
    {}, {}, {}, {"errors": "replace"}, {"errors": "ignore"}, {"encoding": "latin-1"}, {"encoding": "utf-16"},
    {"text": "text"}, {"drop_duplicates": True}, {"min_tokens": 1}, {"vocabulary": WORDS}, {"ngram_range": (1, 2)},
    {"keep_text": False}, {"stop_words": None, "min_df": 1}, {"text": ["title", "text"]}, {"id": "none"},
    {"token_pattern": r"\S+"},
]  # fmt: skip
OPTIONS = (
    "text id title date label format delimiter errors vocabulary alphabet lowercase min_length stop_words ngram_range "
    "tokenizer min_df max_df max_terms min_tokens drop_duplicates keep_text n_jobs"
).split()
SECRET = "hunter2"
PROTOCOLS = "memory Memory nosuch data file dir reference zip tar simplecache::memory zip://news.csv::memory".split()
URL_PARTS = [
    "bob",
    "@",
    ":",
    "/",
    "?sig=",
    "#",
    "%40",
    "::",
    "zip://",
    "[::1]",
    ".csv",
    "*",
    " ",
    "'",
    "\u202e",
    "a" * 90,
]
FORMATS = ("lines", "csv", "tsv", "jsonl", "parquet", "ldac", "uci", "npz", "folder", "json", "xml")


def looked_at(corpus: Corpus) -> list[object]:
    """All that can be asked of a corpus."""
    documents = corpus.documents
    fields = [documents.ids, documents.titles, documents.dates, documents.labels, list(documents.texts)]
    rows = corpus.counts
    if rows.shape != (len(corpus), corpus.n_terms) or any(len(field) != len(corpus) for field in fields):
        raise AssertionError("the parts of the corpus do not fit together")
    return [
        rows,
        corpus.doc_lengths,
        corpus.document_frequency,
        corpus.n_tokens,
        repr(corpus),
        corpus[: len(corpus) // 2].counts,
    ]


def _file(name: str) -> Any:
    """A target for spoilt files of this name."""

    def prepare(case: Case) -> Run:
        sound, packed = SOURCES[name], name.endswith(".gz") and case.rng.random() < 0.5
        others = [data for other, data in SOURCES.items() if other.endswith(".gz") == name.endswith(".gz")]
        if packed:
            data = gzip.compress(octets.spoilt(case.spoiling, gzip.decompress(sound), case.rounds), 1, mtime=0)
        else:
            data = octets.spoilt(case.spoiling, sound, case.rounds, others)
        path = case.write(name, data)
        options: dict[str, Any] = {"vocabulary": WORDS} if name in BAGS else _few(case.rng)
        return lambda: looked_at(Corpus.read(path, **options))

    prepare.__name__ = "read-" + name.replace(".", "-")
    return prepare


def _few(rng: Random) -> dict[str, Any]:
    """Options that make sense, often none."""
    return rng.choice(FEW)


for _name in SOURCES:
    target(2 if _name in ("counts.npz", "table.parquet") else 3, strict=True)(_file(_name))


@target(2, strict=True)
def read_any_format(case: Case) -> Run:
    """Any file, spoilt or not, read as of any format."""
    name = case.rng.choice(sorted(SOURCES))
    path = case.write("file", octets.spoilt(case.spoiling, SOURCES[name], case.rounds - 1, list(SOURCES.values())))
    kind = case.rng.choice(FORMATS)
    return lambda: looked_at(Corpus.read(path, format=kind, vocabulary=WORDS))


@target(1, strict=True)
def read_folder(case: Case) -> Run:
    """A folder of texts with odd names, links and files that are none."""
    folder, rng = case.folder / "texts", case.rng
    for number in range(rng.randrange(5)):
        name = rng.choice(
            [
                "a.txt",
                "b/c.txt",
                ".hidden.txt",
                "d.TXT",
                "e.md",
                "\u00e9.txt",
                "f\n.txt",
                "g\udcff.txt",
                f"{number}.txt",
            ]
        )
        data = octets.spoilt(case.spoiling, SOURCES["lines.txt"], rng.randrange(case.rounds + 1))
        case.write(f"texts/{name}", data)
    folder.mkdir(exist_ok=True)
    for link, there in (("loop", "."), ("gone.txt", "nowhere"), ("folder.txt", "texts"), ("self.txt", "self.txt")):
        if rng.random() < 0.1:
            (folder / link).symlink_to(there)
    options = _few(rng)
    return lambda: looked_at(Corpus.read(folder, **options))


@target(0.5, strict=True)
def read_urls(case: Case) -> Run:
    """A URL with a secret, of a file that is nowhere; none is asked for in a network."""
    rng, protocol = case.rng, case.rng.choice(PROTOCOLS)
    login = rng.choice(["", f"{SECRET}:x@", f"bob:{SECRET}@", f"bob:{SECRET}{rng.choice(URL_PARTS)}@"])
    host, query = rng.choice(["h", "h:80", "[::1]"]), rng.choice(["?sig=", "?a=b&sig="]) + SECRET
    path = "".join(rng.choices(URL_PARTS, k=rng.randrange(5))).replace("@", "").replace("::", "")
    url = f"{protocol}://{login}{host}/{path}{query}"

    def run() -> object:
        try:
            return looked_at(Corpus.read(url))
        except DilnError as error:
            if SECRET in str(error):
                raise WrongError(f"shows a secret: {error}") from None
            raise

    return run


@target(2)
def read_options(case: Case) -> Run:
    """A sound file with odd options."""
    name, rng = case.rng.choice(sorted(SOURCES)), case.rng
    path = case.write(name, SOURCES[name])
    options = {rng.choice(OPTIONS): rng.choice(ODD) for _ in range(case.rounds)}
    if options.get("n_jobs") not in (None, 0, 1, 1.5):
        options.pop("n_jobs", None)
    return lambda: looked_at(Corpus.read(path, **options))


@target(2)
def encodings_and_patterns(case: Case) -> Run:
    """Any encoding, or any regular expression."""
    name, rng = case.rng.choice(TEXT), case.rng
    path = case.write(name, octets.spoilt(case.spoiling, SOURCES[name], case.rounds - 1))
    if rng.random() < 0.5:
        options = {"encoding": rng.choice(ENCODINGS), "errors": rng.choice(("strict", "replace", "ignore"))}
    else:
        pattern = rng.choice(PATTERNS)
        if isinstance(pattern, str) and rng.random() < 0.5:
            pattern = octets.spoilt(case.spoiling, pattern.encode("utf-8", "replace"), 1)[:300].decode(
                "utf-8", "replace"
            )
        options = {"token_pattern": pattern}
    return lambda: looked_at(Corpus.read(path, **options))


@target(0.1, strict=True)
def patterns_that_take_for_ever(case: Case) -> Run:
    """A regular expression that tries more ways than can be tried, on a text that makes it."""
    pattern, rng = case.rng.choice(ATTACKS), case.rng
    text = "".join(rng.choices("aaaaaaab ,", k=rng.choice((61, 5000)))) + rng.choice("!c")
    rule = TextRule(token_pattern=r"\S+")
    object.__setattr__(rule, "token_pattern", pattern)  # as if it had taken no time to compile

    def run() -> object:
        with patch.object(patterns, "DEADLINE", 0.2):
            return [token_spans([text], rule), looked_at(Corpus.from_texts([text], token_pattern=pattern))]

    return run


@target(2, strict=True)
def vocabulary_file(case: Case) -> Run:
    """A spoilt file of terms."""
    terms = case.write("terms.txt", octets.spoilt(case.spoiling, VOCABULARY, case.rounds))
    name = case.rng.choice([*BAGS, *TEXT])
    path = case.write(name, SOURCES[name])
    return lambda: looked_at(Corpus.read(path, vocabulary=terms))


@target(2, strict=True)
def stop_words_file(case: Case) -> Run:
    """A spoilt file of stop words."""
    words = case.write("stop.txt", octets.spoilt(case.spoiling, STOP_WORDS, case.rounds))
    path = case.write("lines.txt", SOURCES["lines.txt"])
    return lambda: looked_at(Corpus.read(path, stop_words=words))
