"""DILN in sampling: every topic has a location, and a document's weight of it a gate sigma(ell_k . u + s)."""

from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from diln.inference.data import Array
from diln.inference.sampling.documents import HeldDocuments
from diln.inference.sampling.state import State
from diln.inference.sampling.token_step import TokenSums
from diln.inference.sampling.tokens import SampledShard
from diln.inference.stats import Stats
from diln.inference.weights.draws import Sweep
from diln.inference.weights.gamma_process_draws import (
    SETTLING,
    GatedDraws,
    GatedState,
    GatedSums,
    draw_weights,
    expect_weights,
    gated,
)
from diln.inference.weights.place_kernels import Places, PlaceSums

SPREADING = 20  # sweeps in which topics leave the origin before c follows them: it would hold them there
NEAR = 0.3  # of a location's prior deviation: how far from the origin topics are put when the gate opens


@dataclass(frozen=True, slots=True)
class LocatedDraws(GatedDraws):
    """DILN."""

    bears: ClassVar[bool] = True

    n_dims: int = 10  # d
    variance: float = 0.5  # c, or where it starts
    precision: tuple[float, float] | None = None  # gamma prior of 1 / c as (shape, rate); None: c is given

    @property
    def start_variance(self) -> float:
        """c."""
        return self.variance

    def closed(self, state: State) -> bool:
        """Whether topics have no locations yet."""
        return gated(state).n_dims == 0

    def open(self, state: State, docs: HeldDocuments, seed: tuple[int, ...]) -> None:
        """Put topics near the origin, and documents there."""
        weights, scale, rng = gated(state), NEAR * np.sqrt(gated(state).variance), np.random.default_rng(seed)
        weights.ells = np.zeros((self.n_dims, state.width), np.float32)
        weights.ells[:, : state.n_topics] = scale * rng.standard_normal((self.n_dims, state.n_topics))
        docs.place(at_the_origin, self.n_dims)

    def draw(self, state: State, docs: HeldDocuments, found: TokenSums, sweep: Sweep) -> None:
        """Weights given tokens, documents' places, topics' locations, and their variance."""
        if sweep.number >= SETTLING:
            draw_weights(state, found, self, sweep.rng)
        places = self.place(state, docs, sweep)
        if gated(state).n_dims:
            draw_locations(state, places, sweep.rng)
            if sweep.opened is None or sweep.number >= sweep.opened + SPREADING:
                draw_variance(state, self.precision, sweep.rng)

    def learn(self, state: State, sums: Stats) -> None:
        """Alpha, a0 and locations at their means."""  # G11
        found, size = cast(GatedSums, sums), state.n_topics
        expect_weights(state, found, self)
        linear = found.linear[:, :size].T[:, :, np.newaxis]
        gated(state).ells[:, :size] = np.linalg.solve(precisions_of(state, found), linear)[:, :, 0].T

    def covariance(self, state: State) -> Array | None:
        """ell_i . ell_j."""
        locations = self.locations(state)
        return np.asarray(locations @ locations.T)

    def placed(self, state: State, products: Array | None) -> NDArray[np.bool_]:
        """For each topic whether its location is told from the origin (n_topics,).

        It is where the mean location is longer than what the states are apart: where its square is more than half the
        mean square of the location's length. Where only one location is known, that is told from the origin unless it
        is there.
        """
        squares = (self.locations(state) ** 2).sum(axis=1)
        return np.asarray(squares > (0 if products is None else np.diag(products) / 2))

    def expected_spread(self, state: State, sums: Stats) -> Array | None:
        """That of the posterior, given where documents are."""
        return spread_of_products(self.locations(state), np.linalg.inv(precisions_of(state, cast(GatedSums, sums))))

    def concentrations(self, state: State) -> tuple[float | None, float | None]:
        """Mass of the gamma process, and concentration of a document's weights."""
        return gated(state).alpha, gated(state).beta

    def described(self, state: State) -> dict[str, Any]:
        """Concentrations, and c once there are locations."""
        alpha, beta = self.concentrations(state)
        variance = gated(state).variance if gated(state).n_dims else None
        return {"alpha": alpha, "beta": beta, "location_variance": variance}


def at_the_origin(shard: SampledShard, n_dims: int) -> Places:
    """Documents in a space of so many dimensions, where all are at the origin; their intercepts stay."""
    return Places(np.zeros((shard.tokens.n_docs, n_dims), np.float32), shard.places.s)


def draw_locations(state: State, places: PlaceSums, rng: np.random.Generator) -> None:
    """ell_k from its Gaussian given the documents' places."""  # G4
    weights, size = gated(state), state.n_topics
    factors = np.linalg.cholesky(precisions(places.precision, weights)[:size])
    half = np.linalg.solve(factors, places.linear.T[:size, :, np.newaxis].astype(np.float64))
    noise = rng.standard_normal(half.shape)
    ells = np.linalg.solve(np.swapaxes(factors, 1, 2), half + noise)[:, :, 0]
    weights.ells[:, :size] = ells.T


def draw_variance(state: State, prior: tuple[float, float] | None, rng: np.random.Generator) -> None:
    """c given the topics' locations."""  # G7
    if prior is None:
        return
    shape, rate = prior
    ells = gated(state).ells[:, : state.n_topics].astype(np.float64)
    gated(state).variance = float((rate + (ells**2).sum() / 2) / rng.gamma(shape + ells.size / 2))


def precisions(packed: Array, weights: GatedState) -> Array:
    """Precision matrices (n_topics, d, d) of the topics' locations, given sums packed row by row."""
    dims = weights.n_dims
    i, j = np.tril_indices(dims)
    matrices = np.zeros((len(packed), dims, dims))
    matrices[:, i, j] = matrices[:, j, i] = packed
    return matrices + np.eye(dims) / weights.variance


def precisions_of(state: State, sums: GatedSums) -> Array:
    """Precision matrices (n_topics, d, d) of the locations of the topics that there are."""
    return precisions(sums.precision[: state.n_topics], gated(state))


def spread_of_products(locations: Array, covariances: Array) -> Array:
    """Deviation of ell_i . ell_j (n_topics, n_topics), independent Gaussians of means (n_topics, d) and covariances.

    Its variance is ell_i' S_j ell_i + ell_j' S_i ell_j + tr S_i S_j.
    """
    size = len(locations)
    flat = covariances.reshape(size, -1)
    one_sided = np.einsum("ia,ib->iab", locations, locations).reshape(size, -1) @ flat.T
    return np.asarray(np.sqrt(one_sided + one_sided.T + flat @ flat.T), np.float32)
