"""Topics that are one: pairs are merged where tokens and topics together are more probable as one topic than as two.

A chain that starts with many topics splits what belongs together, and draws of single tokens hardly ever bring it back.
What is compared is the joint probability of the state before and after, with locations left out.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from diln.inference.documents import Array
from diln.inference.sampling.chain import Chain
from diln.inference.sampling.state import Documents, State
from diln.inference.sampling.sweep import recount
from diln.inference.sampling.tokens import NO_TOPIC

ALIKE = 0.3  # affinity, sum_w sqrt(p_w q_w), of topics that are looked at
ROUNDS = 6  # of merges: what was merged may be merged again
MOST_CELLS = 20_000_000  # documents times topics that are laid out

Pairs = NDArray[np.intp]  # (n_pairs, 2)


def merge(chain: Chain) -> bool:
    """Merge what is one topic; whether there was anything to merge."""
    if chain.size * chain.state.n_topics > MOST_CELLS:
        return False
    merged = False
    for _ in range(ROUNDS):
        pairs = alike(chain.state)
        better = pairs[gains(chain.state, tokens_by_topic(chain.docs, chain.state.n_topics), pairs) > 0]
        if not len(better):
            break
        join(chain, better)
        merged = True
    return merged


def alike(state: State) -> Pairs:
    """Pairs of topics with the most in common first, each topic in one at most."""
    size = state.n_topics
    roots = np.sqrt(state.table[:, :size] / np.maximum(state.totals[:size], 1).astype(np.float32))
    affinity = np.triu(roots.T @ roots, 1)
    i, j = np.nonzero(affinity >= ALIKE)
    pairs, free = [], np.ones(size, bool)
    for place in np.argsort(-affinity[i, j], kind="stable"):
        if free[i[place]] and free[j[place]]:
            pairs.append((i[place], j[place]))
            free[[i[place], j[place]]] = False
    return np.array(pairs, np.intp).reshape(-1, 2)


def tokens_by_topic(docs: Documents, n_topics: int) -> Array:
    """n (n_docs, n_topics)."""
    known = docs.topics != NO_TOPIC
    rows = np.repeat(np.arange(len(docs)), np.diff(docs.tokens.starts))[known]
    cells = np.bincount(rows * n_topics + docs.topics[known], minlength=len(docs) * n_topics)
    return cells.reshape(len(docs), n_topics)


def gains(state: State, n: Array, pairs: Pairs) -> Array:
    """What ln p(terms, topics) would gain from merging each pair (n_pairs,), their weights added up."""  # G12
    i, j = pairs.T
    table, totals, prior, a0 = state.table, state.totals, np.full(len(pairs), state.prior), state.a0
    in_both = (table[:, i] > 0) & (table[:, j] > 0)  # elsewhere nothing changes: the prior of a term stays
    terms = gain(table, pairs, in_both, prior, prior, prior)
    base = state.n_terms * state.prior
    sizes = gammaln(totals[i] + base) + gammaln(totals[j] + base) - gammaln(totals[i] + totals[j] + base)
    docs = gain(n, pairs, (n[:, i] > 0) | (n[:, j] > 0), a0[i], a0[j], a0[i] + a0[j])
    return np.asarray(terms + sizes - gammaln(base) + docs)


def gain(counts: Array, pairs: Pairs, where: Array, a: Array, b: Array, both: Array) -> Array:
    """The sum of ln[both]_(x+y) - ln[a]_x - ln[b]_y over rows, [a]_n = Gamma(a + n)/Gamma(a), for each pair."""
    rows, pair = np.nonzero(where)
    x, y = counts[rows, pairs[pair, 0]].astype(np.float64), counts[rows, pairs[pair, 1]].astype(np.float64)
    a, b, both = a[pair], b[pair], both[pair]
    merged = gammaln(both + x + y) - gammaln(both)
    values = merged - gammaln(a + x) + gammaln(a) - gammaln(b + y) + gammaln(b)
    return np.bincount(pair, values, len(pairs))


def join(chain: Chain, pairs: Pairs) -> None:
    """Give all tokens of the second of each pair to the first."""
    state, docs = chain.state, chain.everything
    new = np.arange(NO_TOPIC + 1).astype(np.uint16)
    for i, j in pairs:
        new[j] = i
        shares = state.totals[[i, j]] / max(state.totals[i] + state.totals[j], 1)
        state.ells[:, i] = state.ells[:, [i, j]] @ shares
        state.a0[i] += state.a0[j]
    docs.topics[:] = new[docs.topics]
    recount(state, chain.docs)
    chain.keep(np.setdiff1d(np.arange(state.n_topics), pairs[:, 1]))
