"""What is in a corpus directory: every field and array, as ``docs/files.md`` shows them.

A change here is a change of the format; ``docs/developing.md`` says what goes with it.
"""

from typing import Any

from diln.corpus.dates import ORDERS
from diln.corpus.rules import TextRule
from diln.fields import Field, MismatchError, Record, UnknownError, read, shown
from diln.files.frame import FILE, VERSIONS

NAMED_WORDS = ("english", "sklearn", "none")

COLUMNS_READ: Record = (
    Field("text", "texts", "Columns whose texts, joined, were counted"),
    *(Field(name, "text", f"Column of the {name}", None, null=True) for name in ("id", "title", "date", "label")),
)

RULE: Record = (
    Field("alphabet", "text", "Which characters are letters", "unicode", choices=("unicode", "ascii")),
    Field("lowercase", "flag", "Whether case is ignored", True),
    Field(
        "min_length",
        "whole",
        "Fewest characters of a token; null for 3, or 1 with a pattern or tokenizer",
        None,
        least=1,
        null=True,
    ),
    Field(
        "stop_words",
        "json",
        'Tokens left out: `"english"`, `"sklearn"`, `"none"`, the words themselves, or null',
        "english",
    ),
    Field("ngram_range", "wholes", "Shortest and longest run of tokens that is a term", lambda: [1, 1]),
    Field("token_pattern", "text", "Regular expression whose matches are the tokens", None, null=True),
    Field(
        "tokenizer",
        "text",
        "Name of the function that found the tokens, such as `jieba` or `module:function`; it is not stored",
        None,
        null=True,
    ),
    Field("normalise", "flag", "Whether letters that can be written in several ways were made one", False),
    Field("acronyms", "flag", "Whether short words in capitals were kept", False),
    Field("addresses", "flag", "Whether web and mail addresses and names with @ were cut into words", True),
    Field(
        "min_df",
        "number",
        "Terms in fewer documents are dropped; a share if it is no whole number",
        None,
        least=0,
        null=True,
    ),
    Field(
        "max_df",
        "number",
        "Terms in more documents are dropped; a share if it is no whole number",
        None,
        least=0,
        null=True,
    ),
    Field("max_terms", "whole", "Most terms", None, least=1, null=True),
    Field("min_tokens", "whole", "Documents with fewer tokens are dropped", 0, least=0),
    Field("drop_duplicates", "flag", "Whether documents with the text of an earlier one are dropped", False),
    Field("keep_text", "flag", "Whether texts are kept", True),
    Field(
        "columns",
        "record",
        "Columns, or keys, that documents were read from; null where there were none",
        None,
        null=True,
        of=COLUMNS_READ,
    ),
)

TALLY: Record = (
    Field("documents", "whole", "Documents read, those that were dropped too", 0, least=0),
    Field("without_text", "whole", "Documents without text", 0, least=0),
    Field("duplicates_dropped", "whole", "Documents dropped that had the text of an earlier one", 0, least=0),
    Field("short_dropped", "whole", "Documents dropped that had too few tokens", 0, least=0),
    Field("unknown_tokens", "whole", "Tokens of terms outside a given vocabulary", 0, least=0),
    Field("letters", "whole", "Letters of all texts", 0, least=0),
    Field("dates_left_out", "whole", "Dates that could not be read, or in more than one way", 0, least=0),
    Field("unreadable", "whole", "Files and folders left out that cannot be read", 0, least=0),
    Field("unspaced_letters", "whole", "Letters of scripts that are written without spaces", 0, least=0),
)

ARRAY: Record = (
    *FILE[1:],
    Field("dtype", "text", "Type of the array, as NumPy writes it, such as `<i8`"),
    Field("shape", "wholes", "Its shape, a list of one number"),
)

SHARD: Record = (
    Field("name", "text", "Name of its folder"),
    Field("documents", "whole", "Documents in it", least=0),
    Field("tokens", "whole", "Tokens in it", least=0),
    Field("files", "object", "Its arrays by the names of their files"),
)

MANIFEST: Record = (
    Field("format", "text", "`diln-corpus`"),
    Field("schema", "whole", "Number of the format: see [Schemas](#schemas)", least=1),
    Field("versions", "record", "What wrote the files; null of schema 1", None, null=True, of=VERSIONS),
    Field("documents", "whole", "Documents", least=0),
    Field("tokens", "whole", "Tokens", least=0),
    Field("terms", "whole", "Terms", least=0),
    Field("rule", "record", "How text was made into counts; null where counts were given", None, null=True, of=RULE),
    Field("tally", "record", "What happened to the documents on the way", dict, of=TALLY),
    Field(
        "dates", "text", "`iso` where dates are ISO 8601; null of schema 1, as given", None, null=True, choices=("iso",)
    ),
    Field(
        "date_order",
        "text",
        "Order of day, month and year in dates of numbers, where it is known",
        None,
        null=True,
        choices=ORDERS,
    ),
    Field("vocabulary", "record", "The file of terms", of=FILE),
    Field("shards", "records", "The shards, in the order of the documents", of=SHARD),
)

COLUMNS = {
    "id": "Tells a document from all others",
    "title": "Its title",
    "date": "Its date: ISO 8601, as exact as it is known (2017, 2017-03, 2017-03-02, 2017-03-02T10:30:15), in UTC",
    "label": "Its label",
    "text": "Its text, where that is kept",
}
ROWS = ("offsets.npy", "terms.npy", "counts.npy")


def manifest_content(content: Any) -> dict[str, Any]:
    """What a corpus's manifest says, as it is declared; raises where it is not."""
    found = read(MANIFEST, content)
    if found["rule"] is not None:
        check_rule(found["rule"])
    for number, shard in enumerate(found["shards"]):
        _check_files(shard["files"], f"shards.{number}.files")
    if len({shard["name"] for shard in found["shards"]}) < len(found["shards"]):
        raise MismatchError("has a shard twice")
    for name in ("documents", "tokens"):
        if found[name] != sum(shard[name] for shard in found["shards"]):
            raise MismatchError(f"has {name} {found[name]}, and its shards have others")
    return found


def _check_files(files: dict[str, Any], where: str) -> None:
    known = [*ROWS, *(f"{name}{end}" for name in COLUMNS for end in (".npy", ".offsets.npy"))]
    for name in files:
        if name not in known:
            raise UnknownError(f"a file {shown(name)}")
    for name in (*ROWS, "id.npy", *(f"{one}.offsets.npy" for one in COLUMNS if f"{one}.npy" in files)):
        if name not in files:
            raise MismatchError(f"lacks {where}.{name}")
    for name, entry in files.items():
        if name.endswith(".offsets.npy") and name.replace(".offsets", "") not in files:
            raise MismatchError(f"lacks {where}.{name.replace('.offsets', '')}")
        read(ARRAY, entry, f"{where}.{name}")


def check_rule(rule: dict[str, Any]) -> None:
    """Raise unless a rule, whose fields are as declared, makes sense; it may not name a file of stop words."""
    words = rule["stop_words"]
    if isinstance(words, list):
        known = all(isinstance(one, str) for one in words)
    else:
        known = words is None or words in NAMED_WORDS
    if not known:
        raise MismatchError(f"has rule.stop_words {shown(words)}, which are no words")
    try:
        TextRule.from_json({**rule, "tokenizer": None})
    except (ValueError, TypeError) as error:
        raise MismatchError(f"has a rule whose {str(error).partition(';')[0][:80]}") from None
