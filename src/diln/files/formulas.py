"""Texts that a spreadsheet would calculate when it opens a file of plain text."""

import re
from unicodedata import category, normalize

NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?", re.IGNORECASE)
BLANK = "\u115f\u1160\u2800\u3164\uffa0"  # letters and signs that show nothing


def is_formula(text: str) -> bool:
    """Return whether a spreadsheet may take a text as a formula: by its first sign that can be seen, wide or not."""
    if text[:1].isalnum() and text[0] not in BLANK:
        return False
    first = next((c for c in text if category(c)[0] not in "CMZ" and c not in BLANK), " ")
    begins = text.startswith(("\t", "\r")) or normalize("NFKC", first)[0] in "=+-@"
    return begins and NUMBER.fullmatch(text) is None
