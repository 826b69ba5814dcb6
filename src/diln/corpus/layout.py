"""What is in a corpus directory: every field and array, as ``docs/files.md`` shows them.

A change here is a change of the format; ``docs/developing.md`` says what goes with it.
"""

from typing import Any

from diln.corpus.rules import TextRule
from diln.fields import Field, MismatchError, Record, shown

NAMED_WORDS = ("english", "sklearn", "none")

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
    Field("tokenizer", "text", "Name of a function that found the tokens; it is not stored", None, null=True),
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
)


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
        raise MismatchError(f"has a rule whose {str(error).partition(';')[0]}") from None
