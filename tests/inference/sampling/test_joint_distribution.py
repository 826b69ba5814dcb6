"""The whole sampler at once: sweeps, and words drawn anew between them, leave the joint distribution as it is.

Parameters and words are drawn from the model (Geweke, 2004). Each drawing is the start of a chain of its own: a sweep
draws everything else given the words, then new words are drawn given everything else, a few times over. If every
draw is right, what the chains end with has the law that they began with, so it is compared with fresh drawings of
the model. The drawings are independent, and tests of two samples hold as they are.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp
from small import empty_state, everything, held, terms_of
from small import tell as count

from diln.inference.data import Tokens
from diln.inference.emissions.multinomial_draws import TopicCounts
from diln.inference.sampling import chain as chains
from diln.inference.sampling.chain import SETTLING, Chain
from diln.inference.sampling.state import SampledDocuments
from diln.inference.weights import gamma_process_draws, gaussian_draws, located_draws
from diln.inference.weights.dirichlet_draws import DirichletDraws
from diln.inference.weights.gamma_process_draws import GammaProcessDraws, draw_weights
from diln.inference.weights.gaussian_draws import GaussianDraws, GaussianState, draw_gaussian
from diln.inference.weights.located_draws import LocatedDraws, draw_locations
from diln.inference.weights.log_weight_kernels import LogWeights, draw_log_weights
from diln.inference.weights.place_kernels import Places, gather_places
from diln.prob.polya_gamma import draw_polya_gamma

LENGTHS = np.array([5, 0, 6, 4])
N_TOPICS, N_TERMS = 3, 4
OF = np.repeat(np.arange(len(LENGTHS)), LENGTHS)  # document of each token
FIXED_WEIGHTS = np.array([0.3, 0.6, 1.2])
LEAST, CAUGHT = 1e-4, 1e-6
CHAINS, FEW, SWEEPS, FRESH = 500, 200, 3, 10_000

RATE, ALPHA, PRECISION, TOPIC_WORD = 2.0, (5.0, 2.0), (6.0, 5.0), (5.0, 10.0)
MODELS = {  # with Polya-Gamma variables drawn exactly: then a chain is one of the posterior itself
    "lda": DirichletDraws(exact=True),
    "hdp": GammaProcessDraws(RATE, ALPHA, exact=True),
    "diln": LocatedDraws(RATE, ALPHA, exact=True, n_dims=2, precision=PRECISION),
    "ctm": GaussianDraws(8.0),
}


def learns(weights):
    """Whether a0 is drawn."""
    return isinstance(weights, GammaProcessDraws | LocatedDraws)


def dims_of(weights):
    """Dimensions of locations."""
    return weights.n_dims if isinstance(weights, LocatedDraws) else 0


@dataclass
class Drawings:
    """Independent drawings of everything; the first axis is theirs."""

    alpha: np.ndarray  # (R,)
    a0: np.ndarray  # (R, T)
    gamma_0: np.ndarray  # (R,)
    c: np.ndarray  # (R,)
    ell: np.ndarray  # (R, T, d)
    u: np.ndarray  # (R, M, d), or log weights (R, M, T)
    s: np.ndarray  # (R, M)
    topics: np.ndarray  # (R, tokens)
    words: np.ndarray  # (R, tokens)
    mean: np.ndarray  # (R, T) of log weights, where documents have them
    sigma: np.ndarray  # (R, T, T)


def choose(p, rng):
    """One place in the last axis of p, in proportion to it, for each of the others."""
    sums = np.cumsum(p, axis=-1)
    return (rng.random((*p.shape[:-1], 1)) * sums[..., -1:] >= sums).sum(axis=-1)


def log_gammas(shape, rng):
    """Logarithms of gamma numbers, which may be nearer to 0 than numbers go."""
    return np.log(rng.gamma(shape + 1)) + np.log1p(-rng.random(shape.shape)) / shape


def draw_model(weights, size, rng):
    """Draw from the model itself, down to the words."""
    T, V, M, d = N_TOPICS, N_TERMS, len(LENGTHS), dims_of(weights)
    alpha = rng.gamma(ALPHA[0], 1 / ALPHA[1], size) if learns(weights) else np.ones(size)
    a0 = rng.gamma(np.repeat(alpha[:, None] / T, T, axis=1), 1 / RATE)
    a0 = a0 if learns(weights) else np.tile(FIXED_WEIGHTS, (size, 1))
    gamma_0 = rng.gamma(TOPIC_WORD[0], 1 / TOPIC_WORD[1], size)
    c = 1 / rng.gamma(PRECISION[0], 1 / PRECISION[1], size) if d else np.ones(size)
    ell, u = rng.normal(size=(size, T, d)) * np.sqrt(c)[:, None, None], rng.normal(size=(size, M, d))
    log_Z = log_gammas(np.repeat(a0[:, None], M, axis=1), rng) + np.einsum("rkd,rmd->rmk", ell, u)
    total = logsumexp(log_Z, axis=2)
    s = np.where(LENGTHS > 0, np.log(rng.gamma(np.maximum(LENGTHS, 1), size=(size, M))) - total, 0.0)
    s = s if learns(weights) else 0 * s
    mean, sigma = np.zeros((size, 0)), np.zeros((size, 0, 0))
    if isinstance(weights, GaussianDraws):
        degrees, scale = T + 1 + weights.prior, weights.prior * np.eye(T)
        sigma = stats.invwishart(degrees, scale).rvs(size, random_state=rng)
        roots = np.linalg.cholesky(sigma)
        mean = np.einsum("rij,rj->ri", roots, rng.normal(size=(size, T)))
        u = mean[:, None] + np.einsum("rij,rmj->rmi", roots, rng.normal(size=(size, M, T)))
        log_Z, total = u, logsumexp(u, axis=2)
        a0 = np.ones_like(a0)
    topics = choose(np.exp(log_Z - total[:, :, None])[:, OF], rng)
    eta = rng.gamma(np.tile(gamma_0[:, None, None], (1, T, V)))
    words = choose(np.take_along_axis(eta, topics[:, :, None], axis=1), rng)
    return Drawings(alpha, a0, gamma_0, c, ell, u, s, topics, words, mean, sigma)


def measures(x, weights):
    """Numbers (R,) of each drawing, by name: what is in the middle, how it spreads, how one part goes with another."""
    R = np.arange(len(x.words))[:, None]
    n, table = np.zeros((len(R), len(LENGTHS), N_TOPICS)), np.zeros((len(R), N_TERMS, N_TOPICS))
    np.add.at(n, (R, OF, x.topics), 1)
    np.add.at(table, (R, x.words, x.topics), 1)
    seen = np.zeros((len(R), len(LENGTHS), N_TERMS))
    np.add.at(seen, (R, OF, x.words), 1)
    out = {
        "gamma_0": x.gamma_0,
        "tokens of documents in topics, squared": (n**2).sum(axis=(1, 2)),
        "tokens of topics, squared": (table.sum(axis=1) ** 2).sum(axis=1),
        "tokens of terms in topics, squared": (table**2).sum(axis=(1, 2)),
        "tokens of terms, squared": (table.sum(axis=2) ** 2).sum(axis=1),
        "tokens of terms in documents, squared": (seen**2).sum(axis=(1, 2)),
        "tokens of the first topic": n[:, :, 0].sum(axis=1),
        "terms in topics and gamma_0": (table**2).sum(axis=(1, 2)) * x.gamma_0,
    }
    if learns(weights):
        log = np.log(x.a0)
        out |= {
            "alpha": x.alpha,
            "beta": x.a0.sum(axis=1),
            "log weights": log.sum(axis=1),
            "log weights, squared": (log**2).sum(axis=1),
            "largest share": x.a0.max(axis=1) / x.a0.sum(axis=1),
            "first s": x.s[:, 0],
            "last s": x.s[:, -1],
            "s and log beta": x.s[:, LENGTHS > 0].sum(axis=1) + np.log(x.a0.sum(axis=1)),
            "alpha and topics in use": x.alpha * (table.sum(axis=1) > 0).sum(axis=1),
            "tokens and weights": (n.sum(axis=1) * x.a0).sum(axis=1) / x.a0.sum(axis=1),
        }
    if dims_of(weights):
        w = np.einsum("rkd,rmd->rmk", x.ell, x.u)
        out |= {
            "c": x.c,
            "one coordinate of a topic": x.ell[:, 0, 0],
            "length of a topic": (x.ell[:, 0] ** 2).sum(axis=1),
            "lengths of topics over c": (x.ell**2).sum(axis=(1, 2)) / x.c,
            "two topics": (x.ell[:, 0] * x.ell[:, 1]).sum(axis=1),
            "one coordinate of a document": x.u[:, 0, 0],
            "length of a document": (x.u[:, 0] ** 2).sum(axis=1),
            "two documents": (x.u[:, 0] * x.u[:, 2]).sum(axis=1),
            "a document and one without tokens": (x.u[:, 0] * x.u[:, 1]).sum(axis=1),
            "a topic and a document": w[:, 0, 0],
            "topics and documents, squared": (w**2).sum(axis=(1, 2)),
            "tokens where topics are near": (n * w).sum(axis=(1, 2)),
            "gates": (w + x.s[:, :, None])[:, LENGTHS > 0].max(axis=(1, 2)),
        }
    if isinstance(weights, GaussianDraws):
        off = x.u[:, LENGTHS > 0] - x.mean[:, None]
        out |= {
            "mean of a topic": x.mean[:, 0],
            "means, squared": (x.mean**2).sum(axis=1),
            "variance of a topic": x.sigma[:, 1, 1],
            "covariance of two topics": x.sigma[:, 0, 1],
            "volume": np.linalg.slogdet(x.sigma)[1],
            "a log weight": x.u[:, 0, 0],
            "log weights, squared": (x.u[:, LENGTHS > 0] ** 2).sum(axis=(1, 2)),
            "two topics of a document": off[:, 0, 0] * off[:, 0, 1],
            "distances from the mean": np.einsum("rmi,rij,rmj->r", off, np.linalg.inv(x.sigma), off),
            "tokens where weights are large": (n * x.u).sum(axis=(1, 2)),
        }
    return out


# A chain from one of the drawings


def lay_out(words, topics):
    """Tokens in their documents' order of terms, and their topics with them."""
    order = np.lexsort((words, OF))
    cells, counts = np.unique(OF[order] * N_TERMS + words[order], return_counts=True)
    starts = np.concatenate([[0], np.cumsum(LENGTHS)]).astype(np.int64)
    indptr = np.searchsorted(cells, np.arange(len(LENGTHS) + 1) * N_TERMS).astype(np.int64)
    tokens = Tokens(indptr, (cells % N_TERMS).astype(np.int32), counts.astype(np.int32), starts, N_TERMS)
    return tokens, topics[order].astype(np.uint16)


def tell(chain, words, topics):
    """Let a chain know other words."""
    docs = everything(chain)
    docs.tokens, docs.topics = lay_out(words, topics)
    count(chain.state, docs)


def start(x, r, weights):
    """The chain that goes on from drawing r."""
    given = (x.a0[r], float(x.gamma_0[r]), float(x.alpha[r]), float(x.c[r]), dims_of(weights))
    state, u = empty_state(N_TERMS, N_TOPICS, *given), x.u[r].astype(np.float32)
    state.weights.ells[:, :N_TOPICS] = x.ell[r].T
    places = Places(u, x.s[r].astype(np.float32))
    if isinstance(weights, GaussianDraws):
        state.weights = GaussianState(x.mean[r].copy(), x.sigma[r].copy())
        places = LogWeights(np.pad(u, ((0, 0), (0, state.width - N_TOPICS))))
    docs = SampledDocuments(*lay_out(x.words[r], x.topics[r]), places, np.arange(len(LENGTHS), dtype=np.uint64))
    count(state, docs)
    return Chain(state, held(docs), weights, seed=r, learned_prior=TOPIC_WORD, number=SETTLING)


def end(x, r, chain):
    """Put where a chain has come to in the place of drawing r."""
    state, docs = chain.state, everything(chain)
    known, places = state.weights, docs.places
    if isinstance(known, GaussianState):
        x.u[r], x.mean[r], x.sigma[r] = places.eta[:, :N_TOPICS], known.mean, known.covariance
    else:
        x.alpha[r], x.c[r], x.u[r], x.s[r] = known.alpha, known.variance, places.u, places.s
        x.a0[r], x.ell[r] = known.a0[:N_TOPICS], known.ells[:, :N_TOPICS].T
    x.gamma_0[r], x.topics[r], x.words[r] = state.counts.prior, docs.topics, terms_of(docs.tokens)


def new_words(chain, rng):
    """Draw topics given the words, then words given topics."""
    counts = chain.state.counts
    eta = rng.gamma(counts.table[:, :N_TOPICS].T + counts.prior)
    return choose(eta[everything(chain).topics], rng)


def advance(x, weights, rng):
    """All chains after so many sweeps."""
    x = replace(x, **{name: np.array(value) for name, value in vars(x).items()})
    for r in range(len(x.words)):
        chain = start(x, r, weights)
        for _ in range(SWEEPS):
            chain.sweep()
            tell(chain, new_words(chain, rng), everything(chain).topics)
        end(x, r, chain)
    return x


def p_values(model, seed, size=CHAINS):
    """How likely each measure of the chains' ends is beside that of fresh drawings."""
    rng, weights = np.random.default_rng(seed), MODELS[model]
    ends = measures(advance(draw_model(weights, size, rng), weights, rng), weights)
    fresh = measures(draw_model(weights, FRESH, rng), weights)
    return {name: stats.ks_2samp(ends[name], fresh[name], method="asymp").pvalue for name in ends}


@pytest.fixture(autouse=True)
def every_sweep_draws_everything_once(monkeypatch):
    monkeypatch.setattr(chains, "PRIOR_EVERY", 1)


@pytest.mark.parametrize("model", MODELS)
def test_sweeps_leave_the_joint_distribution_as_it_is(model):
    found = p_values(model, 1)
    assert min(found.values()) > LEAST, found


# The same test sees what is wrong


def weights_without_their_prior(state, found, prior, rng):
    before = state.weights.truncation
    state.weights.truncation = 1e6  # alpha over it is next to nothing
    draw_weights(state, found, replace(prior, alpha=None), rng)
    state.weights.truncation = before


def weights_with_a_document_left_out(state, found, prior, rng):
    draw_weights(state, replace(found, softs=found.softs * 2 / 3), prior, rng)


DRAW_PRIOR = TopicCounts.draw_prior


def gamma_0_with_a_term_left_out(counts, n_topics, learned, rng):
    table = counts.table.copy()
    counts.table[0] = 0
    DRAW_PRIOR(counts, n_topics, learned, rng)
    counts.table[:] = table


def omega_too_small(shape, psi, rng):
    return 0.7 * draw_polya_gamma(shape, psi, rng)


def mean_of_omega(shape, psi, rng):
    far = np.where(np.abs(psi) < 1e-6, 1e-6, psi)
    return shape * np.tanh(far / 2) / (2 * far)


def locations_turned_round(state, places, rng):
    draw_locations(state, places._replace(linear=-places.linear), rng)


def locations_of_twice_the_variance(state, places, rng):
    state.weights.variance *= 2
    draw_locations(state, places, rng)


def gather_without_offset(docs, *given):
    at_zero = docs.places._replace(s=np.zeros_like(docs.places.s))
    gather_places(docs._replace(places=at_zero), *given)


def covariance_without_its_prior(moments, prior, at_zero, rng):
    return draw_gaussian(moments, 1e-3, at_zero, rng)


def mean_at_zero(moments, prior, at_zero, rng):
    mean, covariance = draw_gaussian(moments, prior, at_zero, rng)
    return 0 * mean, covariance


def half_of_the_tokens_of_topics(starts, first, last, precision, room):
    draw_log_weights(starts, first, last, precision, room._replace(n=room.n / 2))


def log_weights_without_their_prior(starts, first, last, precision, room):
    draw_log_weights(starts, first, last, 0.5 * precision, room._replace(pull=0.5 * room.pull))


BUGS = [
    ("lda", TopicCounts, "draw_prior", gamma_0_with_a_term_left_out),
    ("hdp", gamma_process_draws, "draw_weights", weights_without_their_prior),
    ("hdp", gamma_process_draws, "draw_weights", weights_with_a_document_left_out),
    ("diln", gamma_process_draws, "draw_polya_gamma", omega_too_small),
    ("diln", located_draws, "draw_locations", locations_turned_round),
    ("diln", located_draws, "draw_locations", locations_of_twice_the_variance),
    ("diln", gamma_process_draws, "gather_places", gather_without_offset),
    ("ctm", gaussian_draws, "draw_log_weights", half_of_the_tokens_of_topics),
    ("ctm", gaussian_draws, "draw_log_weights", log_weights_without_their_prior),
    ("ctm", gaussian_draws, "draw_gaussian", covariance_without_its_prior),
    ("ctm", gaussian_draws, "draw_gaussian", mean_at_zero),
]


@pytest.mark.parametrize(("model", "room", "name", "bug"), BUGS, ids=[bug.__name__ for *_, bug in BUGS])
def test_a_bug_is_seen(model, room, name, bug, monkeypatch):
    monkeypatch.setattr(room, name, bug)
    assert min(p_values(model, 2, FEW).values()) < CAUGHT


def test_matched_draws_of_omega_are_too_near_the_exact_ones_to_be_told_apart(monkeypatch):
    """What chains do unless asked to be exact: the law of omega has the first two moments of the right one."""
    monkeypatch.setitem(MODELS, "diln", replace(MODELS["diln"], exact=False))
    found = p_values("diln", 1)
    assert min(found.values()) > LEAST, found


def test_the_mean_of_omega_in_place_of_a_draw_is_seen(monkeypatch):
    monkeypatch.setattr(gamma_process_draws, "draw_polya_gamma", mean_of_omega)
    assert min(p_values("diln", 2).values()) < CAUGHT
