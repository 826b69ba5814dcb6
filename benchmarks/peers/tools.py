"""The tools: each a function that fits one model, asks its watch between units of work, and returns how it infers.

What is returned gives proportions of topics (n_docs, n_topics) of new documents by the tool's own inference, and, of
ours, the perplexity, too. Nothing is imported before it is needed, so that a process holds one tool alone.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, load_npz

from peers.watch import Array, State, Watch

Own = Callable[[csr_array], Array]
OursOwn = Callable[[csr_array], tuple[Array, float]]
INFERRED = 100  # sweeps of tomotopy's own inference of a test document
CHUNKS = 128, 4096  # documents of a stochastic step: a tenth of all of them, from, to
GENSIM_CHUNK = 2000  # of gensim's LDA at least: its own, and on validation documents better than fewer
HDP_CHUNK = 1024  # of gensim's HDP at most
DECAY = 0.6  # of steps of gensim's HDP; its own, 1, predicts validation documents worse
FIRST_TOPICS = 100  # that tomotopy's HDP starts with
ALPHA_SUM, OPTIMIZE, SAMPLES = 5.0, 10, 10  # of topica's LDA: first weight, sweeps between weights, states averaged
CONCENTRATION = 5.0  # both, of topica's HDP at first; from its own, 0.1, it ends with one topic or two
LEAST = 1e-9  # probability of a term in a topic that a tool gives none
LOGNORMAL = 5.0  # weight of the prior of CTM's documents, where they are judged as if it were a Dirichlet's


def counts_of(folder: Path) -> csr_array:
    return csr_array(load_npz(folder / "train.npz"))


def chunk_size(counts: csr_array) -> int:
    return max(CHUNKS[0], min(CHUNKS[1], counts.shape[0] // 10))


def ours(folder: Path, watch: Watch, seed: int, eta: float, model: str, share: float = 1.0, **told: Any) -> OursOwn:
    import diln
    from diln.models.choice import chosen
    from diln.models.parameters import parameters_of
    from diln.models.sampling import planned

    train = diln.Corpus.open(folder / "train")
    if share < 1:
        known = parameters_of(model, told)
        plan = planned(known, chosen(known, len(train), train.n_tokens).method, train.n_tokens)
        told["max_iter"] = round(share * plan.max_iter)
    watch.start()
    fitted = getattr(diln, model)(random_state=seed, n_jobs=watch.threads, **told).fit(train)
    found = fitted.fitted_.posterior
    watch.over(fitted.n_iter_, lambda: State.of(fitted.topic_word_, found.a0, found.topic_tokens))
    held_out = csr_array(load_npz(folder / "held_out.npz"))
    return lambda observed: (fitted.transform(observed), fitted.perplexity(observed, held_out))


def words_of(counts: csr_array, m: int) -> list[str]:
    row = slice(counts.indptr[m], counts.indptr[m + 1])
    return list(np.repeat(counts.indices[row], counts.data[row]).astype(str))


def tomotopy_topics(model: Any, n_terms: int) -> Array:
    """Topics (n_topics, n_terms); terms that no training document has get next to nothing."""
    topics = np.full((model.k, n_terms), LEAST)
    known = np.array([int(term) for term in model.used_vocabs])
    for k in range(model.k):
        topics[k, known] = model.get_topic_word_dist(k)
    return topics


def tomotopy_fit(
    folder: Path, watch: Watch, model: Any, plain: Callable[[Any], Any], prior: Callable[[Any], Any]
) -> Own:
    """Fit in strides; ``plain`` makes of the model one that has topics and counts, ``prior`` its documents' weights."""
    train = counts_of(folder)
    for m in range(train.shape[0]):
        model.add_doc(words_of(train, m))

    def state() -> State:
        seen = plain(model)
        return State.of(tomotopy_topics(seen, train.shape[1]), prior(seen), seen.get_count_by_topics())

    def own(observed: csr_array) -> Array:
        terms = set(model.used_vocabs)
        kept = [m for m in range(observed.shape[0]) if terms.intersection(words_of(observed, m))]
        documents = [model.make_doc(words_of(observed, m)) for m in kept]
        found = np.asarray(model.infer(documents, iterations=INFERRED, workers=watch.threads)[0])
        theta = np.tile(found.mean(axis=0), (observed.shape[0], 1))
        theta[kept] = found
        return theta

    watch.start()
    while True:
        stride = watch.stride
        model.train(stride, workers=watch.threads)
        if not watch.more(stride, state):
            return own


def tomotopy_lda(folder: Path, watch: Watch, seed: int, eta: float, size: int) -> Own:
    import tomotopy

    model = tomotopy.LDAModel(k=size, eta=eta, seed=seed)
    return tomotopy_fit(folder, watch, model, lambda seen: seen, lambda seen: seen.alpha)


def tomotopy_hdp(folder: Path, watch: Watch, seed: int, eta: float) -> Own:
    import tomotopy

    model = tomotopy.HDPModel(initial_k=FIRST_TOPICS, eta=eta, seed=seed)
    own = tomotopy_fit(folder, watch, model, lambda seen: seen.convert_to_lda()[0], lambda seen: seen.alpha)
    places = np.asarray(model.convert_to_lda()[1])  # of its topics in a state; -1 of those that are not there
    inside = np.flatnonzero(places >= 0)
    return lambda observed: own(observed)[:, inside[np.argsort(places[inside])]]


def tomotopy_ctm(folder: Path, watch: Watch, seed: int, eta: float, size: int) -> Own:
    import tomotopy

    def prior(seen: Any) -> Array:
        weights = np.exp(np.asarray(seen.prior_mean, np.float64))
        return np.asarray(LOGNORMAL * weights / weights.sum())

    model = tomotopy.CTModel(k=size, eta=eta, seed=seed)
    return tomotopy_fit(folder, watch, model, lambda seen: seen, prior)


def topica_fit(
    folder: Path, watch: Watch, model: Any, prior: Callable[[Array], Any], done: Callable[[], int], **told: Any
) -> Own:
    """Fit at once, for a fit cannot be taken up again.

    ``prior`` makes documents' weights of the topics' shares of all tokens; ``done`` are the sweeps in the end.
    """
    from topica import Corpus

    train = counts_of(folder)
    terms = [str(i) for i in range(train.shape[1])]
    documents = Corpus.from_documents([words_of(train, m) for m in range(train.shape[0])], vocabulary=terms)

    def state() -> State:
        tokens = np.asarray(train.sum(axis=1)) @ model.doc_topic
        return State.of(np.maximum(model.topic_word, LEAST), prior(tokens / tokens.sum()), tokens)

    watch.start()
    model.fit(documents, **told)
    watch.over(done(), state)
    return lambda observed: np.asarray(model.transform([words_of(observed, m) for m in range(observed.shape[0])]))


def topica_lda(folder: Path, watch: Watch, seed: int, eta: float, size: int, sampler: str) -> Own:
    """The library averages states itself: here those of the second half of the sweeps."""
    from topica import LDA

    sweeps = watch.total
    samples = min(SAMPLES, sweeps)
    apart = max(1, sweeps // (2 * samples))
    model = LDA(
        size, alpha_sum=ALPHA_SUM, beta=eta, optimize_interval=OPTIMIZE, burn_in=sweeps // 10, seed=seed,
        num_threads=watch.threads, sampler=sampler,
    )  # fmt: skip
    return topica_fit(
        folder, watch, model, lambda shares: model.alpha, lambda: sweeps, iters=sweeps - (samples - 1) * apart,
        num_samples=samples, sample_interval=apart, keep_theta_draws=False,
    )  # fmt: skip


def topica_ctm(folder: Path, watch: Watch, seed: int, eta: float, size: int) -> Own:
    """Until its bound has converged, or as many rounds as it is given sweeps; it has no topic-word prior."""
    from topica import CTM

    model = CTM(size, seed=seed)
    return topica_fit(
        folder, watch, model, lambda shares: LOGNORMAL * shares, lambda: len(model.bound_history), iters=watch.total,
        keep_eta_cov=False, num_threads=watch.threads,
    )  # fmt: skip


def topica_hdp(folder: Path, watch: Watch, seed: int, eta: float) -> Own:
    from topica import HDP

    model = HDP(alpha=CONCENTRATION, gamma=CONCENTRATION, beta=eta, seed=seed)
    sweeps = watch.total
    return topica_fit(
        folder, watch, model, lambda shares: model.alpha * shares, lambda: sweeps, iters=sweeps, keep_theta_draws=False
    )


def sklearn_lda(folder: Path, watch: Watch, seed: int, eta: float, size: int) -> Own:
    from sklearn.decomposition import LatentDirichletAllocation

    train, rng = counts_of(folder), np.random.default_rng(seed)
    chunk = chunk_size(train)
    model = LatentDirichletAllocation(
        size, topic_word_prior=eta, learning_method="online", total_samples=train.shape[0], random_state=seed,
        n_jobs=watch.threads, batch_size=chunk,
    )  # fmt: skip

    def state() -> State:
        return State.of(model.components_, np.full(size, model.doc_topic_prior_), model.components_.sum(axis=1))

    watch.units_of_a_pass = -(-train.shape[0] // chunk)
    watch.start()
    while True:
        order = rng.permutation(train.shape[0])
        for rows in np.array_split(order, watch.units_of_a_pass):
            model.partial_fit(train[rows])
            if not watch.more(1, state):
                return lambda observed: np.asarray(model.transform(observed))


class Enough(Exception):  # noqa: N818  (not an error)
    """The watch has said so, in the midst of a tool's own loop."""


class Watched:
    """Documents in gensim's form that ask the watch before each chunk after the first, which is when one is done."""

    def __init__(self, counts: csr_array, chunk: int, watch: Watch) -> None:
        self.documents, self.chunk, self.watch = pairs_of(counts), chunk, watch
        self.state: Callable[[], State] | None = None
        self.begun = False
        watch.units_of_a_pass = -(-len(self.documents) // chunk)

    def __len__(self) -> int:
        return len(self.documents)

    def __iter__(self) -> Iterator[list[tuple[int, int]]]:
        for m, document in enumerate(self.documents):
            if m % self.chunk == 0:
                if self.begun and self.state and not self.watch.more(1, self.state):
                    raise Enough
                self.begun = True
            yield document


def pairs_of(counts: csr_array) -> list[list[tuple[int, int]]]:
    """Documents as gensim has them: (term, count)."""
    ends = counts.indptr
    return [list(zip(counts.indices[a:b].tolist(), counts.data[a:b].tolist(), strict=True)) for a, b in pairwise(ends)]


def shares_of(gamma: Array) -> Array:
    """Rows that sum to 1; of empty documents, which have none, all alike."""
    gamma = np.where(gamma.sum(axis=1, keepdims=True) > 0, gamma, 1.0)
    return np.asarray(gamma / gamma.sum(axis=1, keepdims=True))


def gensim_lda(folder: Path, watch: Watch, seed: int, eta: float, size: int) -> Own:
    from gensim.models import LdaModel

    train = counts_of(folder)
    names = {i: str(i) for i in range(train.shape[1])}
    corpus = Watched(train, max(GENSIM_CHUNK, chunk_size(train)), watch)
    model = LdaModel(
        id2word=names, num_topics=size, alpha="auto", eta="auto", chunksize=corpus.chunk, random_state=seed,
        eval_every=None,
    )  # fmt: skip
    corpus.state = lambda: State.of(model.get_topics(), model.alpha, model.state.sstats.sum(axis=1))
    watch.start()
    with suppress(Enough):
        model.update(corpus, passes=1_000_000)
    return lambda observed: shares_of(model.inference(pairs_of(observed))[0])


def gensim_hdp(folder: Path, watch: Watch, seed: int, eta: float) -> Own:
    from gensim.models import HdpModel

    class WatchedHDP(HdpModel):  # type: ignore[misc]
        """Learns as it is made, as the library has it, until the watch says enough."""

        def update(self, corpus: Watched) -> None:
            corpus.state = self.seen
            watch.start()
            with suppress(Enough):
                super().update(corpus)

        def seen(self) -> State:
            self.update_expectations()
            self.lda_alpha, self.lda_beta = self.hdp_to_lda()
            return State.of(self.lda_beta, np.maximum(self.lda_alpha, 1e-12), self.m_lambda.sum(axis=1))

    train = counts_of(folder)
    corpus = Watched(train, min(HDP_CHUNK, chunk_size(train)), watch)
    names = {i: str(i) for i in range(train.shape[1])}
    model = WatchedHDP(corpus, names, chunksize=corpus.chunk, max_time=1e9, kappa=DECAY, eta=eta, random_state=seed)
    return lambda observed: shares_of(model.inference(pairs_of(observed)))


def lda_lda(folder: Path, watch: Watch, seed: int, eta: float, size: int) -> Own:
    import logging

    from lda import LDA

    class WatchedLDA(LDA):  # type: ignore[misc]
        """Asks the watch where the package would compute its log likelihood: before each sweep."""

        begun = False

        def loglikelihood(self) -> float:
            if not self.begun:
                self.begun = True
                watch.start()
            elif not watch.more(1, self.state):
                raise Enough
            return 0.0

        def state(self) -> State:
            return State.of(self.nzw_ + self.eta, np.full(size, self.alpha), self.nz_)

    logging.getLogger("lda").setLevel(logging.ERROR)
    train = counts_of(folder)
    model = WatchedLDA(size, n_iter=1_000_000, eta=eta, random_state=seed, refresh=1)
    with suppress(Enough):
        model.fit(train)
    model.components_ = model.state().topics.T.astype(np.float64)

    def own(observed: csr_array) -> Array:
        theta = np.full((observed.shape[0], size), 1 / size)
        filled = np.flatnonzero(np.diff(observed.indptr))
        theta[filled] = model.transform(observed[filled])
        return theta

    return own
