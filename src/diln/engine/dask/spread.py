"""Which worker gets which shard: evenly by weight, and with few moves where some have theirs already."""

from collections.abc import Iterable, Mapping


def spread(weights: Mapping[int, float], workers: Iterable[str], before: Mapping[int, str]) -> dict[int, str]:
    """The worker of every shard, given what each weighs and where it was; the same answer to the same question.

    Shards stay where they are unless their worker is gone or has more than its part. There may be more workers than
    shards: then some get none.
    """
    loads = dict.fromkeys(sorted(workers), 0.0)
    where = {number: worker for number, worker in before.items() if worker in loads}
    for number, worker in where.items():
        loads[worker] += weights[number]
    for number in sorted(weights.keys() - where.keys(), key=lambda number: (-weights[number], number)):
        where[number] = min(loads, key=loads.__getitem__)
        loads[where[number]] += weights[number]
    while (move := _better(weights, where, loads)) is not None:
        number, worker = move
        loads[where[number]] -= weights[number]
        loads[worker] += weights[number]
        where[number] = worker
    return where


def _better(
    weights: Mapping[int, float], where: Mapping[int, str], loads: Mapping[str, float]
) -> tuple[int, str] | None:
    """A shard of the busiest worker, and the idlest, if moving it there makes the busier of both less busy."""
    busiest, idlest = max(loads, key=loads.__getitem__), min(loads, key=loads.__getitem__)
    gap = loads[busiest] - loads[idlest]
    fits = [number for number, worker in where.items() if worker == busiest and 0 < weights[number] < 0.999 * gap]
    return (max(fits, key=lambda number: (weights[number], number)), idlest) if fits else None
