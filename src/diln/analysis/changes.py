"""What has changed from one model to another: topics and their words, terms, and which topics go together."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diln.analysis.inputs import Model, fitted_of, used_topics
from diln.analysis.records import Record, Records
from diln.models.checks import check_whole
from diln.models.fitted import Fitted
from diln.prob.matching import SAME, matched

GROWN = 1.25  # times its share that a topic must have to count as grown, or that it must have had to count as shrunk
KINDS = ("born", "faded", "grown", "shrunk", "steady")


@dataclass(frozen=True, slots=True)
class TopicChange(Record):
    """A topic before and after.

    Attributes
    ----------
    kind : {"born", "faded", "grown", "shrunk", "steady"}
        Born: in use now and not before. Faded: the other way round. Grown or shrunk: its share is 1.25 times what it
        was, or was 1.25 times what it is.
    old, new : int or None
        Its number in the old and in the new model; None if it is not there.
    before, after : float
        Its share of the tokens of the old and of the new model; 0 if it is not there.
    affinity : float or None
        How alike its words are: 1 for the same probabilities, 0 for no word in common; None if it is in one model only.
    words : tuple of str
        Its most probable words now, or those that it had if it is not there any more.
    came, left : tuple of str
        Words that are among the most probable ones now and were not, and the other way round.
    """

    kind: str
    old: int | None
    new: int | None
    before: float
    after: float
    affinity: float | None
    words: tuple[str, ...]
    came: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PairChange(Record):
    """Two topics that go together more, or less, than before.

    Attributes
    ----------
    first, second : int
        Numbers of the topics in the new model, the smaller one first.
    before, after : float
        How many times as often as by chance the two are together in a document.
    """

    first: int
    second: int
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class ModelDiff(Record):
    """What has changed from one model to another.

    Attributes
    ----------
    one_line : bool
        Whether the new model is the old one after updates: topics are then the same by their numbers, else by their
        words.
    documents : (float, float)
        Documents that the old and the new model stand for.
    n_topics : (int, int)
        Topics in use.
    topics : Records of TopicChange
        Every topic in use in either model: born, faded, grown, shrunk and steady ones, the largest changes first.
    new_terms, gone_terms : tuple of str
        Terms that are in one of the vocabularies only.
    pairs : Records of PairChange
        Pairs of topics in both models, those whose lift has changed most first; empty for models without correlations.
    """

    one_line: bool
    documents: tuple[float, float]
    n_topics: tuple[int, int]
    topics: Records[TopicChange]
    new_terms: tuple[str, ...]
    gone_terms: tuple[str, ...]
    pairs: Records[PairChange]


def diff(old: Model, new: Model, n_words: int = 10, n_pairs: int = 10) -> ModelDiff:
    """Compare a model with an earlier one, or with another.

    Parameters
    ----------
    old, new : DILN, HDP, LDA or CTM
        Fitted estimators, or models read by ``diln.load``. If the new one is not the old one after updates, topics are
        matched by their words among the terms that both have.
    n_words : int
        Number of a topic's most probable words that are compared.
    n_pairs : int
        Maximum number of pairs of topics.

    Returns
    -------
    ModelDiff
    """
    check_whole("n_words", n_words, 1)
    check_whole("n_pairs", n_pairs, 0)
    one, two = fitted_of(old), fitted_of(new)
    same = is_one_line(one, two)
    places = {term: place for place, term in enumerate(two.vocabulary)}
    own = np.array([place for place, term in enumerate(one.vocabulary) if term in places], np.int64)
    if not len(own):
        raise ValueError("the models have no term in common, so nothing can be compared; give models of like documents")
    common = Common(one, two, own, np.array([places[one.vocabulary[place]] for place in own.tolist()], np.int64))
    pairs = common.by_number() if same else common.by_words()
    topics = sorted((common.change(*pair, n_words) for pair in pairs), key=_order)
    known = set(one.vocabulary)
    return ModelDiff(
        one_line=same,
        documents=(float(one.population), float(two.population)),
        n_topics=(one.n_topics, two.n_topics),
        topics=Records(topics),
        new_terms=tuple(term for term in two.vocabulary if term not in known),
        gone_terms=tuple(term for term in one.vocabulary if term not in places),
        pairs=Records(changed_pairs(one, two, pairs, n_pairs)),
    )


def is_one_line(one: Fitted, two: Fitted) -> bool:
    """Whether a model is another one after updates, or that one itself."""
    size, topics = len(one.vocabulary), one.posterior.n_topics
    begun = two.vocabulary[:size] == one.vocabulary and two.posterior.n_topics >= topics
    later = two.steps >= one.steps and two.seed == one.seed and two.kind == one.kind and two.seen >= one.seen
    return begun and later and (two.stream is not None or two.steps == one.steps)


@dataclass(frozen=True, slots=True)
class Common:
    """Two models, and where the terms that both have are in each."""

    one: Fitted
    two: Fitted
    own: NDArray[np.int64]
    other: NDArray[np.int64]

    def by_number(self) -> list[tuple[int | None, int | None]]:
        """Topics that are in use in either, each with itself."""
        size = self.one.posterior.n_topics
        used = sorted({*used_topics(self.one).tolist(), *used_topics(self.two).tolist()})
        return [(topic if topic < size else None, topic) for topic in used]

    def by_words(self) -> list[tuple[int | None, int | None]]:
        """Topics in use, those whose words are alike together."""
        used, others = used_topics(self.one), used_topics(self.two)
        shares = self.one.topic_word[used][:, self.own], self.two.topic_word[others][:, self.other]
        found = [(int(used[i]), int(others[j])) for i, j, like in zip(*matched(*shares), strict=True) if like > SAME]
        left, right = {i for i, _ in found}, {j for _, j in found}
        gone = [(topic, None) for topic in used.tolist() if topic not in left]
        return [*found, *gone, *((None, topic) for topic in others.tolist() if topic not in right)]

    def change(self, old: int | None, new: int | None, n_words: int) -> TopicChange:
        """A topic before and after."""
        before = 0.0 if old is None else float(self.one.topic_weights[old])
        after = 0.0 if new is None else float(self.two.topic_weights[new])
        was = () if old is None else top_words(self.one, old, n_words)
        now = () if new is None else top_words(self.two, new, n_words)
        affinity = None
        if old is not None and new is not None:
            shares = self.one.topic_word[old, self.own], self.two.topic_word[new, self.other]
            affinity = min(1.0, float(np.sqrt(shares[0] * shares[1]).sum()))
        came = tuple(word for word in now if was and word not in was)
        left = tuple(word for word in was if now and word not in now)
        return TopicChange(
            self._kind(old, new, before, after), old, new, before, after, affinity, now or was, came, left
        )

    def _kind(self, old: int | None, new: int | None, before: float, after: float) -> str:
        was = old is not None and old in used_topics(self.one)
        is_now = new is not None and new in used_topics(self.two)
        if was != is_now:
            return "born" if is_now else "faded"
        if after >= GROWN * before:
            return "grown"
        return "shrunk" if before >= GROWN * after else "steady"


def top_words(fitted: Fitted, topic: int, n_words: int) -> tuple[str, ...]:
    """A topic's most probable words."""
    order = np.argsort(-fitted.topic_word[topic], kind="stable")[:n_words]
    return tuple(fitted.vocabulary[term] for term in order.tolist())


def _order(change: TopicChange) -> tuple[int, float, int]:
    size = change.new if change.new is not None else change.old
    return KINDS.index(change.kind), -abs(change.after - change.before), size or 0


def changed_pairs(
    one: Fitted, two: Fitted, pairs: Sequence[tuple[int | None, int | None]], most: int
) -> list[PairChange]:
    """Pairs of topics that both models tell the lift of, those whose lift has changed most first."""
    before, after = one.log_lift, two.log_lift
    if before is None or after is None:
        return []
    both = [(i, j) for i, j in pairs if i is not None and j is not None and one.paired[i] and two.paired[j]]
    both.sort(key=lambda pair: pair[1])
    old, new = np.array([i for i, _ in both], np.int64), np.array([j for _, j in both], np.int64)
    first, second = np.triu_indices(len(both), 1)
    moved = after[new[first], new[second]] - before[old[first], old[second]]
    chosen = np.argsort(-np.abs(moved), kind="stable")[:most]
    lifts = (one.lift, two.lift)
    return [
        PairChange(int(new[i]), int(new[j]), float(lifts[0][old[i], old[j]]), float(lifts[1][new[i], new[j]]))  # type: ignore[index]
        for i, j in zip(first[chosen].tolist(), second[chosen].tolist(), strict=True)
    ]
