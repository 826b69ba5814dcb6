"""Spoil bytes: of files of any kind, with tokens that parsers trip over."""

import re
from collections.abc import Callable, Sequence
from random import Random

NUMBERS = [
    b"-1", b"0", b"1", b"00", b"1e999", b"-1e999", b"1e-999", b"NaN", b"nan", b"Infinity", b"-inf", b"1.5", b".5",
    b"1_0", b"127", b"128", b"255", b"256", b"32768", b"65536", b"2147483647", b"2147483648", b"4294967296",
    b"-2147483649", b"9223372036854775807", b"9223372036854775808", b"18446744073709551616", b"1" * 40, b"9" * 5000,
    b"0x10", b"+3", "\u0663".encode(), "\u00b2".encode(),
]  # fmt: skip
TOKENS = [
    b"", b"\0", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xff", b"\x80", b"\xc3", b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80", b"\r", b"\n", b"\r\n", b"\n\n\n", b"\x0b", b"\x0c", b"\x1a", b"\x1c", b"\x85",
    "\u2028".encode(), "\u0085".encode(), b'"', b'""', b"'", b"\\", b"\\u0000", b"\\ud800", b"\\udc00", b"\\x", b",",
    b";", b"\t", b"|", b":", b" ", b"=", b"#", b"{", b"}", b"[", b"]", b"{}", b"[]", b"null", b"true", b"false",
    b'{"text": ', b'"text"', b'"id"', b'{"a":' * 60, b"[" * 100_000, b'{"a":' * 20_000, b"a" * 70_000, b"word " * 5000,
    b"\n" * 3000, b'"' * 301, b"," * 2000, b"\x1f\x8b", b"PK\x03\x04", b"PAR1", b"\x93NUMPY", b"../beside/victim.txt",
    b"/etc/passwd", b"%s%n", b"a\xcc\x81" * 50, "\u00df\u0130\ufb03\u1e9e".encode(), "\U0001f600".encode(),
    "\u202e\u200d\u00ad".encode(), "\u4e2d\u6587".encode(), *NUMBERS,
]  # fmt: skip
FOUND = re.compile(rb"-?\d+(?:\.\d+)?")

Mutation = Callable[[Random, bytes, Sequence[bytes]], bytes]


def spoilt(rng: Random, data: bytes, rounds: int, others: Sequence[bytes] = ()) -> bytes:
    """The bytes after some mutations; ``others`` are of the same kind, to be spliced in."""
    for _ in range(rounds):
        data = rng.choice(MUTATIONS)(rng, data, others)
    return data


def _range(rng: Random, data: bytes, longest: int = 64) -> tuple[int, int]:
    first = rng.randrange(len(data) + 1)
    return first, min(len(data), first + rng.randrange(longest) + 1)


def flip(rng: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Change a bit."""
    if not data:
        return data
    place = rng.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :]


def overwrite(rng: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Put random bytes in place of some."""
    first, last = _range(rng, data, 8)
    return data[:first] + rng.randbytes(last - first) + data[last:]


def truncate(rng: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Cut off the end, or the beginning."""
    place = rng.randrange(len(data) + 1)
    return data[:place] if rng.random() < 0.8 else data[place:]


def delete(rng: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Leave some out."""
    first, last = _range(rng, data)
    return data[:first] + data[last:]


def insert(rng: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Put in what parsers trip over."""
    place = rng.choice((0, len(data), rng.randrange(len(data) + 1)))
    return data[:place] + rng.choice(TOKENS) + data[place:]


def replace(rng: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Put it in place of something."""
    first, last = _range(rng, data, 16)
    return data[:first] + rng.choice(TOKENS) + data[last:]


def repeat(rng: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Have some twice, or many times."""
    first, last = _range(rng, data)
    return data[:last] + data[first:last] * rng.choice((1, 1, 2, 50)) + data[last:]


def splice(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Begin as this and end as another."""
    other = rng.choice(others) if others else data
    return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]


def number(rng: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Put another in place of a number."""
    found = list(FOUND.finditer(data[:100_000]))
    if not found:
        return data
    first, last = rng.choice(found).span()
    return data[:first] + rng.choice(NUMBERS) + data[last:]


def lines(rng: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Leave out, repeat, or swap whole lines."""
    every = data.split(b"\n")
    one, two = rng.randrange(len(every)), rng.randrange(len(every))
    how = rng.randrange(3)
    if how == 0:
        del every[one]
    elif how == 1:
        every.insert(two, every[one])
    else:
        every[one], every[two] = every[two], every[one]
    return b"\n".join(every)


MUTATIONS: list[Mutation] = [
    flip, overwrite, truncate, delete, insert, insert, replace, replace, repeat, splice, number, number, lines,
]  # fmt: skip
