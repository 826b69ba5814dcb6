"""Spoil what JSON holds: a value anywhere in it is left out, replaced, of another type, or somewhere else."""

import json
from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Any

DEEP = "so deep"  # stands for brackets that are too deep to be made as a value
VALUES: list[Any] = [
    None, True, False, 0, 1, 2, -1, 3, 7, 255, 2**31, -(2**31), 2**63, 2**64, 10**30, 10**400, 0.5, -0.5, 1e-320, 1e308,
    1e30, float("nan"), float("inf"), float("-inf"), "", "a", "nan", "0", "1", "\0", "\ud800", "\u202e", "a" * 3000,
    "..", ".", "/", "../beside/victim.txt", "../../beside/victim.txt", "/etc/passwd", "manifest.json", "draws",
    "kmeans", "random", "auto", "none", "sampling", "variational", "online", "batch", "DILN", "LDA", "HDP", "CTM", [],
    {}, [[]], [0], [1, 2], [None], ["a"], {"a": 1}, {"nonfinite": "nan"}, {"nonfinite": "inf"}, {"nonfinite": 3}, DEEP,
]  # fmt: skip

Place = tuple[Any, Any]  # a container and a key or index in it


def spoilt(rng: Random, value: Any, rounds: int) -> Any:
    """The value after some mutations."""
    holder = [deepcopy(value)]
    for _ in range(rounds):
        places = list(_places(holder))
        _mutate(rng, places, *rng.choice(places))
    return holder[0] if holder else None


def text(value: Any) -> str:
    """The value as JSON."""
    return json.dumps(value, indent=1, sort_keys=True, default=str).replace(f'"{DEEP}"', "[" * 100_000 + "]" * 100_000)


def _places(value: Any) -> Iterator[Place]:
    keys = value.keys() if isinstance(value, dict) else range(len(value))
    for key in list(keys):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])


def _mutate(rng: Random, places: list[Place], holder: Any, key: Any) -> None:
    how, value = rng.randrange(9), holder[key]
    if how <= 2:
        holder[key] = deepcopy(rng.choice(VALUES))
    elif how == 3 and len(places) > 1:
        del holder[key]
    elif how == 4:
        holder[key] = _near(rng, value)
    elif how == 5:
        holder[key] = rng.choice((str(value), [value], {"a": value}, [value, value], bool(value)))
    elif how == 6:  # what is elsewhere
        other, there = rng.choice(places)
        holder[key] = deepcopy(other.get(there) if isinstance(other, dict) else next(iter(other[there : there + 1]), 0))
    elif how == 7 and isinstance(holder, dict):  # by another name
        holder[rng.choice(["", "a", f"{key} ", f"{key}2", "file", "checksum", str(key).upper()])] = holder.pop(key)
    elif isinstance(holder, dict):
        holder[rng.choice(["a", f"{key}2", "extra"])] = deepcopy(value)
    else:
        holder.insert(key, deepcopy(value))


def _near(rng: Random, value: Any) -> Any:
    """Another value of the same type."""
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int):
        return value + rng.choice((-2, -1, 1, 2, 10, 1000, 10**9, -value, -2 * value))
    if isinstance(value, float):
        return rng.choice((-value, value * 1e300, value * 1e-300, value + 1, 0.0))
    if isinstance(value, str):
        return rng.choice((value[:-1], value + "a", value * 2, f"../{value}", f"./{value}", value[::-1], f"/{value}"))
    if isinstance(value, list):
        return rng.choice((value[:-1], value * 2, value[::-1], value[1:]))
    return dict(list(value.items())[:-1])
