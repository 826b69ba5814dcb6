"""More documents into a model, batch by batch: its vocabulary grows with them, and old documents may fade."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from diln.corpus import Corpus
from diln.corpus.batches import Batch, of_corpus, of_source
from diln.corpus.dates import DateForm
from diln.corpus.in_memory import TextsSource
from diln.corpus.rules import TextRule, Tokenizer
from diln.corpus.vocabulary import least_documents
from diln.engine.base import Engine
from diln.errors import brief
from diln.inference.data import CountedBatch
from diln.inference.progress import Look
from diln.models import births
from diln.models.checks import check_whole
from diln.models.counts import as_rows, whole
from diln.models.fitted import Fitted
from diln.models.fitting import OnlinePass, step_length, stream_steps
from diln.models.stream import Stream

FEWEST = 2  # documents that a new term must be in
MOST_SHARE = 0.5  # of the documents that a new term may be in
WIDEST = 20_000  # terms that a vocabulary grows to, where it did not start with half as many or more
SHORTEST = 1e-9  # length of a step
DAYS = re.compile(r"\s*(\d+(?:\.\d*)?)\s*(?:d|days?)\s*")


class HalfLife(NamedTuple):
    """After how many documents, or days, what was learned counts for half."""

    number: float
    days: bool = False

    @classmethod
    def of(cls, given: Any) -> "HalfLife | None":
        """A number of documents (5000), or of days as text ("90d"); None for none."""
        if given is None or isinstance(given, HalfLife):
            return given
        found = DAYS.fullmatch(given) if isinstance(given, str) else None
        try:
            number = float(found[1]) if found else float(given)
        except (TypeError, ValueError, OverflowError):
            number = -1.0
        if not 0 < number < 1e12 or isinstance(given, bool):
            raise ValueError(f"half_life is {brief(given)}; give a number of documents (5000) or of days ('90d')")
        return cls(number, days=found is not None)

    def kept(self, n_docs: int, days: float) -> float:
        """How much of the old is left after so many documents and days."""
        return float(0.5 ** ((max(days, 0.0) if self.days else n_docs) / self.number))


def parts_of(documents: Any, fitted: Fitted, tokenizer: Tokenizer | None = None) -> Iterator[Batch]:
    """The documents of a corpus, or texts, which are counted as the model's own were."""
    if isinstance(documents, Corpus):
        return of_corpus(documents)
    return of_source(TextsSource(documents, {}), rule_of_texts(fitted, tokenizer))


def rule_of_texts(fitted: Fitted, tokenizer: Tokenizer | None = None) -> TextRule:
    """The rule that the texts of a model were counted by."""
    if fitted.rule is None:
        raise ValueError("the model does not know how texts are to be counted; give a Corpus of them")
    return TextRule.from_json(fitted.rule, tokenizer)


@dataclass(frozen=True, slots=True)
class Growth:
    """How a model follows a stream."""

    new_terms: bool = True  # whether the vocabulary grows
    min_docs: int | None = None  # documents that a new term must be in; None: as the model's rule has it
    max_terms: int | None = None  # that the vocabulary may have; None: twice those that it began with, or WIDEST
    half_life: HalfLife | None = None
    new_topics: bool | None = None  # whether topics are born; None: of models that have as many as they find

    def births(self, fitted: Fitted) -> bool:
        """Whether topics can be born in a model; raises if they are to be, and cannot."""
        sampled = fitted.inference == "sampling" and not fitted.parameters.keeps_all
        can = sampled and fitted.parameters.draws().bears
        if self.new_topics and not can:
            raise ValueError(
                f"new_topics is for DILN and HDP by sampling, and the model is a {fitted.kind} by {fitted.inference}; "
                "leave it out"
            )
        return can and (fitted.parameters.n_components == "auto" if self.new_topics is None else self.new_topics)

    def __post_init__(self) -> None:
        if self.min_docs is not None:
            check_whole("min_docs", self.min_docs, 1)
        if self.max_terms is not None:
            check_whole("max_terms", self.max_terms, 1)


@dataclass(slots=True)
class Update:
    """What became of documents that a model was updated with.

    Attributes
    ----------
    documents : int
        Documents that were learned from.
    tokens : int
        Their tokens of terms in the vocabulary.
    steps : int
        Steps of online learning.
    new_terms : list of str
        Terms that came into the vocabulary, in the order of their numbers.
    new_topics : list of int
        Numbers of the topics that were born.
    short_dropped : int
        Documents left out because they have fewer tokens than the model's rule asks for (``min_tokens``).
    """

    documents: int = 0
    tokens: int = 0
    steps: int = 0
    new_terms: list[str] = field(default_factory=list)
    new_topics: list[int] = field(default_factory=list)
    short_dropped: int = 0


class Updater:
    """Takes batches into a model, which it changes."""

    def __init__(self, fitted: Fitted, growth: Growth, engine: Engine, look: Look | None = None) -> None:
        self.fitted, self.growth, self.engine, self.look = fitted, growth, engine, look
        if fitted.stream is None:
            fitted.stream = Stream.begun(len(fitted.vocabulary), fitted.posterior.n_topics)
        self.stream, self.found = fitted.stream, Update()
        self.births = growth.births(fitted)
        self.index = {term: place for place, term in enumerate(fitted.vocabulary)}

    def learn(self, batch: Batch, dates: DateForm | None = None, first_number: int = 0) -> Corpus:
        """A step with these documents, after the terms that they bring in; returns them as the model counts them."""
        self._grow_terms(batch)
        dates = DateForm() if dates is None else dates
        corpus = batch.corpus(self.fitted.vocabulary, self.index, dates, first_number)
        least = int((self.fitted.rule or {}).get("min_tokens") or 0)
        long_enough = np.flatnonzero(corpus.doc_lengths >= least)
        self.found.short_dropped += len(corpus) - len(long_enough)
        corpus = corpus[long_enough]
        if len(corpus):
            self._step(corpus)
        return corpus

    def _grow_terms(self, batch: Batch) -> None:
        """Count the terms that the vocabulary lacks, and take in those that were seen in enough documents."""
        if not self.growth.new_terms:
            return
        pairs = zip(batch.terms, batch.frequency.tolist(), strict=True)
        unknown = {term: number for term, number in pairs if number and term not in self.index}
        candidates, rule = self.stream.candidates, self.fitted.rule or {}
        candidates.see(unknown, unknown.values(), len(batch))
        share = rule.get("max_df")
        share = float(share) if isinstance(share, float) else MOST_SHARE
        self.take_in(candidates.ripe(self._least(rule, candidates.seen), share, self._room()))

    def _least(self, rule: dict[str, Any], seen: float) -> float:
        """Documents that a new term must be in."""
        if self.growth.min_docs is not None:
            return self.growth.min_docs
        given = rule.get("min_df")
        if isinstance(given, float):
            return max(FEWEST, given * seen)
        return max(FEWEST, least_documents(int(self.fitted.population)) if given is None else given)

    def _room(self) -> int:
        """Terms that may come in."""
        default = max(2 * self.stream.first_terms, WIDEST)
        most = default if self.growth.max_terms is None else self.growth.max_terms
        return int(most) - len(self.fitted.vocabulary)

    def take_in(self, terms: Iterable[str]) -> None:
        """Have these terms in the vocabulary, after all others."""
        fitted, fresh = self.fitted, list(terms)
        if not fresh:
            return
        self.index.update({term: place for place, term in enumerate(fresh, len(fitted.vocabulary))})
        fitted.vocabulary = [*fitted.vocabulary, *fresh]
        self.stream.grow_terms(len(fitted.vocabulary))
        fitted.posterior.grow_terms(len(fitted.vocabulary))
        fitted.refresh(self.engine)
        self.found.new_terms += fresh

    def _step(self, corpus: Corpus) -> None:
        """Learn from documents."""
        fitted, counts = self.fitted, as_rows(corpus.counts)
        if fitted.inference == "sampling":
            counts = as_rows(whole(counts))
        if self.births:
            self._bear(counts)
        learner = self._weighed(len(corpus), self._day(corpus))
        stream_steps(learner, [CountedBatch(counts)], self.engine, self.look)
        fitted.method, fitted.stopped = "online", None
        self.stream.documents += len(corpus)
        self.found.documents += len(corpus)
        self.found.tokens += int(counts.data.sum(dtype=np.float64))
        self.found.steps += 1

    def _bear(self, counts: csr_array) -> None:
        """See which documents the topics explain badly; where they share a theme of their own, it becomes a topic."""
        found = births.scores(self.fitted, counts, self.engine)
        if births.note(self.stream, counts, found):
            number = births.born(self.fitted, self.stream, self.engine)
            self.found.new_topics += [] if number is None else [number]

    def _weighed(self, n_docs: int, day: float | None) -> OnlinePass:
        """A step that goes as far as so many documents weigh, as the model comes to stand for them, too."""
        fitted, life = self.fitted, self.growth.half_life
        passed = 0.0 if day is None or self.stream.day is None else day - self.stream.day
        self.stream.day = self.stream.day if day is None else max(day, self.stream.day or day)
        if life is not None:
            keep = life.kept(n_docs, passed)
            fitted.population = keep * fitted.population + n_docs
            length = max(1 - keep, SHORTEST)
            return OnlinePass(fitted, fitted.passes + 1, streams=True, length=length, scale=1 / length)
        parameters, size = fitted.parameters, int(fitted.parameters.settled("batch_size"))
        length = step_length(parameters, max(fitted.steps, fitted.population / size)) * min(1.0, n_docs / size)
        if parameters.total_samples is not None:
            fitted.population = parameters.total_samples
        else:
            fitted.population += n_docs
        return OnlinePass(fitted, fitted.passes + 1, streams=True, length=length)

    def _day(self, corpus: Corpus) -> float | None:
        """The mean date of documents, in days since 1970; raises if it is needed and none has one."""
        times = corpus.documents.timestamps
        known = times[~np.isnat(times)]
        if len(known):
            return float(known.astype("datetime64[s]").astype(np.int64).mean() / 86_400)
        if self.growth.half_life is not None and self.growth.half_life.days:
            raise ValueError(
                "the half-life is in days, and the documents have no dates; name their column with --date (date), or "
                "give a half-life in documents"
            )
        return None
