"""Where documents come from: what a source can be, and the options that say how it is read and counted."""

from enum import Enum
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from diln.addresses import is_url, shown
from diln.cli.console import ProgressLine
from diln.cli.options import Given, Options, defaults_to, flag
from diln.errors import SourceError, brief
from diln.files import MANIFEST
from diln.files.urls import as_local

if TYPE_CHECKING:
    from collections.abc import Sequence

    from diln.corpus import Corpus
    from diln.corpus.sources import Source
    from diln.models.fitted import Fitted

READING_PANEL, TOKENS_PANEL, TERMS_PANEL = "Reading", "Tokens", "Terms and documents"
BUILTIN_PREFIX = "builtin:"
BUILTIN_NAMES = ("docs",)  # of diln.datasets.BUILTIN, which takes long to import


class Format(Enum):
    """What a file is: diln.corpus.FORMATS, which takes long to import."""

    folder = "folder"
    lines = "lines"
    csv = "csv"
    tsv = "tsv"
    jsonl = "jsonl"
    json = "json"
    parquet = "parquet"
    xlsx = "xlsx"
    ldac = "ldac"
    uci = "uci"
    npz = "npz"


class DateOrder(Enum):
    """Which number of a date is what: diln.corpus.dates.ORDERS, which takes long to import."""

    dmy = "dmy"
    mdy = "mdy"
    ymd = "ymd"


class OnError(Enum):
    """What to do with bytes that are not text."""

    strict = "strict"
    replace = "replace"
    ignore = "ignore"


class Letters(Enum):
    """Which characters are letters."""

    unicode = "unicode"
    ascii = "ascii"


FILES = (
    "a folder of .txt files, or a .txt (one document per line), .csv, .tsv, .jsonl, .json (each also .gz), .parquet, "
    ".xlsx, LDA-C, UCI docword or .npz file; the URL of one (https://, s3://, gs://, ...); a pattern such as "
    "'news/*.jsonl' for many files of one format; - for the standard input (with --format); "
    f"or {', '.join(BUILTIN_PREFIX + name for name in BUILTIN_NAMES)}."
)


def plain_name(name: str | None) -> str | None:
    """A source as it was named; of a file:// URL its path."""
    return None if name is None else str(as_local(name))


FilesArg = Annotated[
    str, typer.Argument(metavar="SOURCE", help=f"A{FILES[1:]}", show_default=False, callback=plain_name)
]
SourceArg = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help=f"A corpus directory, or a source to count: {FILES}",
        show_default=False,
        callback=plain_name,
    ),
]


def _documents(value: str | None) -> int | float | None:
    """A number of documents (5) or a share of them (0.5)."""
    if value is None:
        return None
    try:
        return float(value) if "." in value else int(value)
    except ValueError:
        raise typer.BadParameter(f"{value!r} is neither a number of documents (5) nor a share of them (0.5)") from None


def _ngrams(value: int | None) -> tuple[int, int] | None:
    return None if value is None else (1, value)


def named_tokenizer(name: str | None) -> str | None:
    """A tokenizer that is named: from here on it is used for what was counted with it."""
    if name is not None:
        from diln.corpus.tokenizers import named

        named(name)
    return name


def _reading(*flags: str, **settings: Any) -> Any:
    return typer.Option(*flags, rich_help_panel=READING_PANEL, **settings)


def _tokens(*flags: str, **settings: Any) -> Any:
    return typer.Option(*flags, rich_help_panel=TOKENS_PANEL, **settings)


def _terms(*flags: str, **settings: Any) -> Any:
    return typer.Option(*flags, rich_help_panel=TERMS_PANEL, **settings)


READING: Options = {
    "text": Annotated[
        list[str] | None, _reading("--text", help="Column with the text. Repeat to count several together.")
    ],
    "id": Annotated[str | None, _reading("--id", help="Column with the id, or none.")],
    "title": Annotated[str | None, _reading("--title", help="Column with the title.")],
    "date": Annotated[str | None, _reading("--date", help="Column with the date.")],
    "date_order": Annotated[
        DateOrder | None,
        _reading(
            "--date-order",
            help="Order of day, month and year in dates such as 02/03/2017. Default: as its other dates tell.",
        ),
    ],
    "label": Annotated[str | None, _reading("--label", help="Column with the label.")],
    "format": Annotated[Format | None, _reading("--format", help="Format of the file, if its name does not show it.")],
    "delimiter": Annotated[str | None, _reading("--delimiter", help="Separator of the columns of a .csv file.")],
    "sheet": Annotated[
        str | None,
        _reading("--sheet", help="Sheet of an .xlsx file, by name or number.", show_default="the first"),
    ],
    "encoding": Annotated[str | None, _reading("--encoding", help="Encoding of the text.", show_default="utf-8")],
    "errors": Annotated[
        OnError | None, _reading("--errors", help="What to do with bytes that are not text.", show_default="strict")
    ],
    "skip_unreadable": Annotated[
        bool | None,
        _reading("--skip-unreadable", help="Leave out files in a folder that cannot be read.", show_default="an error"),
    ],
    "vocabulary": Annotated[
        Path | None,
        _reading(
            "--vocabulary",
            help="File with one term per line: the terms of a file of counts, or the only terms to count in text.",
        ),
    ],
}
TOKENS: Options = {
    "alphabet": Annotated[
        Letters | None, _tokens("--alphabet", help="Letters of every script, or a to z.", show_default="unicode")
    ],
    "lowercase": Annotated[
        bool | None, _tokens("--lowercase/--case", help="Whether to ignore case.", show_default="lowercase")
    ],
    "min_length": Annotated[
        int | None, _tokens("--min-length", min=1, help="Minimum number of characters of a token.", show_default="3")
    ],
    "stop_words": Annotated[
        str | None,
        _tokens(
            "--stop-words",
            help="english, sklearn, none, a language such as de (pip install 'diln[languages]'), or a file with one "
            "word per line.",
            show_default="english",
        ),
    ],
    "ngram_range": Annotated[
        int | None,
        _tokens("--ngrams", min=1, callback=_ngrams, help="Maximum number of tokens in a term.", show_default="1"),
    ],
    "token_pattern": Annotated[str | None, _tokens("--token-pattern", help="Regular expression for a token.")],
    "tokenizer": Annotated[
        str | None,
        _tokens(
            "--tokenizer",
            metavar="NAME",
            callback=named_tokenizer,
            help="jieba for Chinese (pip install 'diln[chinese]'), or module:function of an installed module, which "
            "makes a list of tokens of a text.",
            show_default=False,
        ),
    ],
    "acronyms": Annotated[
        bool | None,
        _tokens(
            "--acronyms/--no-acronyms",
            help="Whether short words in capitals, such as EU, are kept.",
            show_default="acronyms",
        ),
    ],
    "addresses": Annotated[
        bool | None,
        _tokens(
            "--addresses/--no-addresses",
            help="Whether web and mail addresses and names with @ are cut into words, or left out.",
            show_default="addresses",
        ),
    ],
    "normalise": Annotated[
        bool | None,
        _tokens(
            "--normalise/--as-written",
            help="Whether letters that can be written in several ways, such as ligatures, are made one.",
            show_default="normalise",
        ),
    ],
}
TokenizerOption = Annotated[
    str | None,
    typer.Option(
        "--tokenizer",
        metavar="NAME",
        callback=named_tokenizer,
        help="The module:function that the documents were counted with, which is imported only if you name it here.",
        show_default=False,
    ),
]
SAME_TOKENS: Options = {name: defaults_to("the model's", kind) for name, kind in TOKENS.items()}
TERMS: Options = {
    "min_df": Annotated[
        str | None,
        _terms(
            "--min-df",
            callback=_documents,
            help="Minimum number of documents with a term, or a share of them such as 0.001. Default: 1 to 10, "
            "depending on the size of the corpus.",
        ),
    ],
    "max_df": Annotated[
        str | None,
        _terms(
            "--max-df",
            callback=_documents,
            help="Maximum number of documents with a term, or a share of them. Default: 0.5.",
        ),
    ],
    "max_terms": Annotated[
        int | None, _terms("--max-terms", min=1, help="Maximum number of terms. Default: 10,000 or more.")
    ],
}


def source_of(name: str) -> "str | Path | Source":
    """The source that a name stands for."""
    if not name.startswith(BUILTIN_PREFIX):
        return name if is_url(name) else Path(name)
    from diln.datasets import BUILTIN

    builtin = BUILTIN.get(name.removeprefix(BUILTIN_PREFIX))
    if builtin is None:
        raise SourceError(f"{name}: there is no such corpus; there is {', '.join(BUILTIN_PREFIX + n for n in BUILTIN)}")
    return builtin()


def is_corpus(name: str) -> bool:
    """Whether the name is that of a directory written by diln."""
    return not is_url(name) and (Path(name) / MANIFEST).is_file()


def check_rule(text: Given) -> None:
    """Raise, in one sentence, if the options make no rule for tokens."""
    from diln.corpus import TextRule

    try:
        TextRule(**text)
    except ValueError as error:
        raise SourceError(str(error)) from None


def read_corpus(name: str, reading: Given, text: Given, jobs: int, quiet: bool) -> "Corpus":
    """The corpus in a directory, or of a source that is counted in memory."""
    from diln.corpus import Corpus

    if not is_corpus(name):
        check_rule(text)
        source: Any = source_of(name)
        with ProgressLine("counting", quiet=quiet) as watch:
            return Corpus.read(source, n_jobs=jobs, watch=watch, **reading, **text)
    given = [flag(kind) for option, kind in {**READING, **TOKENS, **TERMS}.items() if option in {**reading, **text}]
    if given:
        raise SourceError(f"{name}: is a corpus, which is read and counted already; leave out {', '.join(given)}")
    return Corpus.open(name)


def read_for(models: "Sequence[Fitted]", name: str, reading: Given, text: Given, jobs: int, quiet: bool) -> "Corpus":
    """The corpus in a directory, or of a source that is counted as the documents of these models were."""
    if is_corpus(name):
        return read_corpus(name, reading, text, jobs, quiet)
    rules = [tokens_of(fitted, text.get("tokenizer")) for fitted in models]
    columns = [(fitted.rule or {}).get("columns") for fitted in models]
    if any(rule != rules[0] for rule in rules):
        raise SourceError(
            f"{shown(name)}: the models' own documents were counted by different rules; count these by one, with diln "
            "corpus build, and give that corpus"
        )
    terms = list(dict.fromkeys(term for fitted in models for term in fitted.vocabulary))
    known: Given = {"vocabulary": terms}
    if not name.startswith(BUILTIN_PREFIX) and columns[0] is not None and all(one == columns[0] for one in columns):
        known["columns"] = columns[0]
    return read_corpus(name, {**known, **reading}, {**rules[0], **text}, jobs, quiet)


def tokens_of(fitted: "Fitted", tokenizer: str | None = None) -> Given:
    """The rule for tokens that the model's own documents were counted by; ``tokenizer`` is the one that is named."""
    from diln.corpus.tokenizers import again

    if fitted.rule is None:
        return {}
    own = fitted.rule["tokenizer"]
    if own is not None and ":" in own and tokenizer not in (None, own):
        raise SourceError(
            f"the model's documents were counted with the tokenizer {brief(own)}, not with {brief(tokenizer)}; name "
            "the same with --tokenizer"
        )
    if own is not None and tokenizer is None and again(own) is None:
        name = own if ":" in own else "module:function"
        raise SourceError(
            f"the model's documents were counted with the tokenizer {brief(own)}, which is not imported unless you "
            f"name it; pass --tokenizer {quote(name)}, or count these in Python with it and "
            "vocabulary=model.vocabulary_"
        )
    known = {name: value for name, value in fitted.rule.items() if name in SAME_TOKENS}
    return {**known, "ngram_range": tuple(known["ngram_range"])}
