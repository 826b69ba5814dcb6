"""A module of tokenizers, as a user may have one; importing it leaves a file behind where that is asked for."""

import os
from pathlib import Path

if mark := os.environ.get("MARK_OF_TOKENS"):
    Path(mark).write_text("imported")

NUMBER = 3


def words(text):
    """Words with hyphens, and the first as a lemma that does not stand in the text."""
    found = [word for word in text.replace(",", " ").replace(".", " ").split() if word]
    return [f"lemma-{found[0].lower()}", *(word.lower() for word in found[1:])] if found else []


def others(text):
    return text.split()
