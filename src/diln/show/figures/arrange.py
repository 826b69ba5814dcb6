"""Places for the topics of a network: near each other where they go together, apart where they avoid each other."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

Floats = NDArray[np.float64]
Ends = tuple[int, int]  # two topics

FAR = 4.0  # steps between topics that nothing joins
AVOIDING = 3.0  # steps between topics that avoid each other, at least
STEPS, ROUNDS = 150, 250  # of bringing distances near what they should be, and of moving circles apart


def arranged(
    topics: Sequence[int], together: Iterable[Ends], apart: Iterable[Ends], width: float, height: float, radii: Floats
) -> Floats:
    """Places (n, 2) in inches, inside a frame of this size, with circles of these radii off each other."""
    place = {topic: at for at, topic in enumerate(topics)}
    wanted = distances(
        len(topics), [(place[i], place[j]) for i, j in together], [(place[i], place[j]) for i, j in apart]
    )
    spots = stretched(majorised(wanted, scaled(wanted)), width, height)
    return moved_apart(spots, radii, width, height)


def distances(n: int, together: Sequence[Ends], apart: Sequence[Ends]) -> Floats:
    """How far from each other topics should be: as many steps as there are between them."""
    rows = [i for i, _ in together]
    columns = [j for _, j in together]
    graph = csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, n))
    steps = np.minimum(shortest_path(graph, directed=False, unweighted=True), FAR)
    for i, j in apart:
        steps[i, j] = steps[j, i] = max(steps[i, j], AVOIDING)
    return np.asarray(steps, np.float64)


def scaled(wanted: Floats) -> Floats:
    """Classical scaling: the plane in which these distances are seen best (n, 2)."""
    n = len(wanted)
    middle = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-0.5 * middle @ wanted**2 @ middle)
    axes = vectors[:, ::-1][:, :2] * np.sqrt(np.maximum(values[::-1][:2], 0))
    flat = np.zeros((n, 2))
    flat[:, : axes.shape[1]] = axes * np.where(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])] < 0, -1, 1)
    angles = np.arange(n) * 2.399963  # turned so that no two topics lie in one place, or all on a line
    return np.asarray(flat + 0.05 * np.column_stack([np.cos(angles), np.sin(angles)]))


def majorised(wanted: Floats, flat: Floats) -> Floats:
    """Places whose distances are nearer to these, where near ones count most (stress majorisation)."""
    n = len(wanted)
    if n < 3:
        return flat
    weights = np.zeros_like(wanted)
    weights[wanted > 0] = wanted[wanted > 0] ** -2.0
    laplacian = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.pinv(laplacian)
    for _ in range(STEPS):
        gaps = np.linalg.norm(flat[:, np.newaxis] - flat, axis=2)
        ratio = weights * wanted / np.maximum(gaps, 1e-9)
        pull = np.diag(ratio.sum(axis=1)) - ratio
        flat = inverse @ pull @ flat
    return np.asarray(flat)


def stretched(flat: Floats, width: float, height: float) -> Floats:
    """The same, as large as the frame, halfway to where topics would be spread evenly along both sides."""
    sides = np.array([width, height])
    margin = np.minimum(np.array([0.6, 0.35]), sides / 6)
    low, reach = flat.min(axis=0), np.ptp(flat, axis=0)
    share = np.where(reach > 1e-9, (flat - low) / np.maximum(reach, 1e-9), 0.5)
    ranks = np.argsort(np.argsort(flat, axis=0, kind="stable"), axis=0) / max(len(flat) - 1, 1)
    return np.asarray(margin + (0.55 * share + 0.45 * np.where(reach > 1e-9, ranks, 0.5)) * (sides - 2 * margin))


def moved_apart(spots: Floats, radii: Floats, width: float, height: float) -> Floats:
    """The same with circles off each other, and room for names where there is some."""
    n = len(spots)
    room = min(0.5, 0.75 * np.sqrt(width * height / max(n, 1)))
    least = np.maximum(radii[:, np.newaxis] + radii + 0.05, room)
    np.fill_diagonal(least, 0)
    edge = np.column_stack([radii + 0.1, radii + 0.1])
    spots = spots.copy()
    for _ in range(ROUNDS):
        gaps = spots[:, np.newaxis] - spots
        far = np.maximum(np.linalg.norm(gaps, axis=2), 1e-6)
        push = np.maximum(least - far, 0) / far
        if not push.any():
            break
        spots += 0.25 * (push[:, :, np.newaxis] * gaps).sum(axis=1)
        spots = np.clip(spots, edge, np.array([width, height]) - edge)
    return spots
