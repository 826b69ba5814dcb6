"""Documents in Python objects as sources: strings, token lists, and the frames of pandas and polars."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from diln.corpus.readers.columns import ColumnOptions, choose_columns
from diln.corpus.sources import (
    BLOCK_BYTES,
    BLOCK_DOCS,
    Block,
    ParsedDocuments,
    Source,
    TextBlock,
    TokenBlock,
    as_texts,
    numbers_from,
)
from diln.errors import SourceError


class TextsSource(Source):
    """An iterable of strings, taken in once and block by block."""

    def __init__(self, texts: Iterable[str], fields: Mapping[str, Iterable[Any]]) -> None:
        if isinstance(texts, str | bytes | Mapping) or _is_frame(texts):
            raise TypeError(
                f"texts is one {type(texts).__name__}; give a list (or another iterable) with a string a document, or "
                "a frame to from_frame"
            )
        self.name = "texts"
        self.texts = texts
        self.fields = fields
        self.numbered = "id" not in fields
        self.total = len(texts) if isinstance(texts, Sequence) else 0

    def blocks(self) -> Iterator[Block]:
        """Texts in blocks of bounded size."""
        for first, texts, fields in in_blocks(self.texts, self.fields, _size_of_text):
            self.position = first + len(texts)
            yield TextBlock(ParsedDocuments(texts, {**fields, "text": texts}, sum(not text for text in texts)))


class TokensSource(Source):
    """An iterable of lists of tokens."""

    def __init__(self, documents: Iterable[Sequence[str]], fields: Mapping[str, Iterable[Any]]) -> None:
        self.name = "tokens"
        self.documents = documents
        self.fields = fields
        self.numbered = "id" not in fields
        self.total = len(documents) if isinstance(documents, Sequence) else 0

    def blocks(self) -> Iterator[Block]:
        """Documents in blocks of bounded size."""
        for first, tokens, fields in in_blocks(self.documents, self.fields, _size_of_tokens):
            self.position = first + len(tokens)
            yield TokenBlock([list(document) for document in tokens], fields)


class FrameSource(Source):
    """A pandas or polars frame, a document a row."""

    def __init__(self, frame: Any, asked: ColumnOptions) -> None:
        if not _is_frame(frame):
            raise TypeError(f"frame is a {type(frame).__name__}; give a DataFrame of pandas or polars")
        self.name = f"{type(frame).__module__.split('.')[0]} frame"
        self.frame = frame
        self.columns, self.notes = choose_columns(list(frame.columns), asked, self.name)
        self.numbered, self.columns_read = self.columns.numbered, self.columns.to_json()
        self.total = len(frame)

    def blocks(self) -> Iterator[Block]:
        """Rows in blocks."""
        values = {name: self._values(name) for name in self.columns.needed()}
        for first in range(0, self.total, BLOCK_DOCS):
            part = {name: column[first : first + BLOCK_DOCS] for name, column in values.items()}
            self.position = min(first + BLOCK_DOCS, self.total)
            yield TextBlock(self.columns.documents(range(first, self.position), part, f"{self.name}, row"))

    def _values(self, name: str) -> list[Any]:
        column = next(column for column in self.frame.columns if str(column) == name)
        values: list[Any] = self.frame[column].to_list()
        return values


def _is_frame(given: Any) -> bool:
    return hasattr(type(given), "columns") and hasattr(type(given), "to_numpy")  # not a polars LazyFrame


def in_blocks(
    documents: Iterable[Any], fields: Mapping[str, Iterable[Any]], size_of: Callable[[Any, int], int]
) -> Iterator[tuple[int, list[Any], dict[str, list[str]]]]:
    """Blocks of documents with the number of the first and, side by side, their fields."""
    columns = {name: iter(values) for name, values in fields.items()}
    first, size = 0, 0
    block: list[Any] = []
    for document in documents:
        size += size_of(document, first + len(block))
        block.append(document)
        if size >= BLOCK_BYTES or len(block) >= BLOCK_DOCS:
            yield first, block, _fields(columns, first, len(block))
            first, size, block = first + len(block), 0, []
    if block:
        yield first, block, _fields(columns, first, len(block))
    for name, values in columns.items():
        if next(values, columns) is not columns:
            raise SourceError(f"{name}s: there are more of them than documents; give one for each document")


def _fields(columns: dict[str, Iterator[Any]], first: int, how_many: int) -> dict[str, list[str]]:
    found = {"id": numbers_from(first, how_many)}
    for name, values in columns.items():
        found[name] = as_texts(islice(values, how_many))
        if len(found[name]) < how_many:
            raise SourceError(f"{name}s: there are fewer of them than documents; give one for each document")
    return found


def _size_of_text(text: Any, number: int) -> int:
    if isinstance(text, str):
        return len(text)
    raise TypeError(
        f"document {number} is a {type(text).__name__}, not a string; give strings to from_texts, lists of tokens to "
        "from_tokens, and put '' where there is no text"
    )


def _size_of_tokens(tokens: Any, number: int) -> int:
    if isinstance(tokens, str) or not isinstance(tokens, Sequence) or not all(isinstance(t, str) for t in tokens):
        raise TypeError(f"document {number} is not a list of strings; give lists of tokens, or strings to from_texts")
    return sum(map(len, tokens)) + 8 * len(tokens)
