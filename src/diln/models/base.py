"""The estimators' common part: scikit-learn's verbs on top of a fitted model."""

import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import fields
from pathlib import Path
from typing import Any, Self, cast
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _clone_parametrized
from sklearn.utils.validation import check_is_fitted, validate_data

from diln.corpus import Corpus
from diln.corpus.batches import in_batches
from diln.corpus.sound import check_filled, sound_rows
from diln.corpus.vocabulary import check_vocabulary
from diln.engine.base import Engine
from diln.engine.compiling import telling_of_compiling
from diln.engine.threads import engine_or_threads
from diln.errors import DilnWarning
from diln.inference.progress import Progress
from diln.models.batches import HalvesPart, halves_in_parts, pairs_in_parts
from diln.models.checks import check_whole
from diln.models.choice import chosen
from diln.models.counts import (
    CorpusRows,
    MatrixRows,
    Rows,
    aligned,
    as_rows,
    as_table,
    check_smallest,
    text_given,
    whole,
)
from diln.models.fitted import DRAWS, MOST_DRAWS, Fitted, Floats
from diln.models.fitting import first, fit, more
from diln.models.options import INFERENCES, RENAMED, ModelOptions, flat, resolved
from diln.models.parameters import Parameters, parameters_of
from diln.models.updating import Growth, HalfLife, Update, Updater, parts_of

ESTIMATORS: dict[str, type["TopicModel"]] = {}  # by kind; a class comes in by itself


class TopicModel(ModelOptions, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """What DILN, HDP, LDA and the CTM have in common; a model is a dataclass of its options."""

    fitted_: Fitted
    engine: Any = None

    def __post_init__(self, engine: Engine | None) -> None:
        """Keep where fits run."""
        self.engine = engine

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """Names of parameters: an engine is none, for it is of machines and not of a model."""
        return [name for name in super()._get_param_names() if name != "engine"]

    def __sklearn_clone__(self) -> Self:
        """The same parameters, and where fits run, without what was fitted."""
        copy = cast(Self, _clone_parametrized(self))
        copy.engine = self.engine
        return copy

    def __getstate__(self) -> dict[str, Any]:
        """For pickles, which know no cluster."""
        return {name: value for name, value in super().__getstate__().items() if name != "engine"}

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        ESTIMATORS[cls.kind] = cls

    def __new__(cls, *given: Any, **told: Any) -> Self:
        """Raise where an option is given that is one of the inference."""
        for name in set(told) - set(cls._get_param_names()):
            option = RENAMED.get(name, name)
            for way in INFERENCES.values():
                if option in (one.name for one in fields(way)):
                    better = f"{cls.__name__}(inference={way.__name__}({option}={told[name]!r}))"
                    raise TypeError(f"{name} is an option of the inference; give {better}")
        return cast(Self, super().__new__(cls))

    def set_params(self, **params: Any) -> Self:
        """Set parameters, as ``inference__n_states`` those of the inference, and as ``engine`` where fits run.

        Parameters
        ----------
        **params : dict
            Parameters by name.

        Returns
        -------
        self
        """
        if "engine" in params:
            self.engine = params.pop("engine")
        if any(name.startswith("inference__") for name in params):
            params["inference"] = resolved(params.get("inference", self.inference))
        return cast(Self, super().set_params(**params))

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit to documents, and forget what was fitted before.

        Parameters
        ----------
        X : Corpus, or counts (n_docs, n_terms)
            Documents; counts as a sparse matrix, an array or a frame.
        y : ignored
            For scikit-learn's pipelines.

        Returns
        -------
        self
        """
        parameters = self._parameters()
        if hasattr(self, "fitted_"):
            del self.fitted_  # whatever happens, no model of other documents is left beside what is known of X
        rows, vocabulary = self._rows(X, reset=True)
        if self.verbose and (line := chosen(parameters, rows.n_docs, rows.n_tokens, here=self.engine is None).line):
            sys.stderr.write(f"{line}\n")
        with telling_of_compiling():
            fitted = fit(parameters, rows, vocabulary, _Printed() if self.verbose else None, engine=self.engine)
        fitted.named = hasattr(self, "feature_names_in_")
        self.fitted_ = fitted
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from more documents by steps of online learning, in the order given.

        The first call starts a model as ``fit`` does, if there is none, fitted or loaded.

        Parameters
        ----------
        X : Corpus, or counts (n_docs, n_terms)
            Documents, of which ``batch_size`` make a step. After the first call terms must be the model's: a corpus
            is brought into their order, the columns of counts must be in it.
        y : ignored
            For scikit-learn's pipelines.

        Returns
        -------
        self
        """
        parameters, new = self._parameters(), not hasattr(self, "fitted_")
        rows, vocabulary = self._rows(X, reset=new)
        look = _Printed() if self.verbose else None
        if new:
            with telling_of_compiling():
                fitted = first(parameters, rows, vocabulary, look, self.engine)
            fitted.named = hasattr(self, "feature_names_in_")
        else:
            fitted = self.fitted_
            fitted.parameters = parameters.after(fitted.parameters)
            more(fitted, rows, look, self.engine)
        self.fitted_ = fitted
        return self

    def update(
        self,
        X: Any,
        *,
        new_terms: bool = True,
        min_docs: int | None = None,
        max_terms: int | None = None,
        half_life: float | str | None = None,
        new_topics: bool | None = None,
        tokenizer: Any = None,
    ) -> Update:
        """Learn from more documents of a stream, whose new terms come into the vocabulary.

        As ``partial_fit``, ``batch_size`` documents make a step, in the order given. A step goes the less far the more
        documents the model stands for, and one of fewer documents less far. ``diln update`` does the same to a model
        on disk.

        Parameters
        ----------
        X : Corpus, or iterable of str
            Documents; texts are counted by the rule of the documents that the model was fitted to.
        new_terms : bool
            Whether the vocabulary grows. New terms get the numbers after all others, which never change.
        min_docs : int, optional
            Number of documents a new term must be in; documents count for half after 20,000 others. Default: the
            ``min_df`` of the model's documents, or 2 to 10, depending on how many there were.
        max_terms : int, optional
            Maximum number of terms. Default: twice as many as before the first update, at least 20,000.
        half_life : float or str, optional
            After how many documents (5000), or days ("90d"), old documents count for half. By default they fade slowly,
            as steps make room for new ones.
        new_topics : bool, optional
            Whether a theme that the topics cannot explain becomes a topic, with the number after all others. DILN and
            HDP by sampling only; default: if ``n_components`` is "auto".
        tokenizer : callable, optional
            Give it again if the model's own documents were counted with one.

        Returns
        -------
        Update
            What came in.
        """
        check_is_fitted(self)
        growth = Growth(new_terms, min_docs, max_terms, HalfLife.of(half_life), new_topics)
        fitted = self.fitted_
        fitted.parameters = self._parameters().after(fitted.parameters)
        batches = in_batches(parts_of(X, fitted, tokenizer), int(fitted.parameters.settled("batch_size")))
        with self._running() as engine:
            updater = Updater(fitted, growth, engine, _Printed() if self.verbose else None)
            for batch in batches:
                updater.learn(batch)
        self.n_features_in_ = len(fitted.vocabulary)
        if hasattr(self, "feature_names_in_"):
            self.feature_names_in_ = np.array(fitted.vocabulary, object)
        return updater.found

    def transform(self, X: Any) -> Floats:
        """Expected proportions of topics in documents.

        Every document is taken by itself; one without a known term gets the proportions expected of any document.

        Parameters
        ----------
        X : Corpus, or counts (n_docs, n_terms)
            Documents, new or not. A corpus is brought into the order of the model's terms, and tokens of terms that it
            does not know are left out; the columns of counts must be in that order.

        Returns
        -------
        ndarray (n_docs, n_topics)
            Rows sum to 1; columns are the topics as ``topic_weights_`` has them.
        """
        check_is_fitted(self)
        rows, empty = self._rows(X, reset=False)[0], 0
        out = np.empty((rows.n_docs, self.fitted_.posterior.n_topics))
        with self._running() as engine:
            for first, last, tokens, proportions in self.fitted_.transformed(rows, engine):
                out[first:last] = proportions
                empty += int((tokens == 0).sum())
        if empty:
            warn(f"{empty:,} documents have no known term; they get what any document gets", DilnWarning, stacklevel=2)
        return out

    def perplexity(
        self, X: Any, held_out: Any = None, *, method: str = "plug-in", n_draws: int = DRAWS, seed: int = 0
    ) -> float:
        """Exp of minus the mean log probability of a token, given half of its document: lower is better.

        Parameters
        ----------
        X : Corpus, or counts (n_docs, n_terms)
            Documents. Each is split in two at random by ``seed``, half its tokens observed and the others predicted;
            or, with ``held_out``, the observed counts.
        held_out : counts like X, optional
            The counts to predict.
        method : "plug-in" or "draws"
            With the expected topics and proportions, or with the probability of each document averaged over draws
            from the posterior, as in the paper. With sampling the draws are the states that were kept
            (``keep_states``).
        n_draws : int, default=20
            Maximum number of draws or states.
        seed : int
            For the split in halves.
        """
        check_is_fitted(self)
        if method not in ("plug-in", "draws"):
            raise ValueError(f"method is {method!r}; give 'plug-in' or 'draws'")
        check_whole("n_draws", n_draws, 1, most=MOST_DRAWS)
        rows = self._rows(X, reset=False)[0]
        parts: Iterable[HalvesPart]
        if held_out is None:
            parts = halves_in_parts(rows, seed)
        else:
            parts = pairs_in_parts(rows, self._rows(held_out, reset=False)[0])
        with self._running() as engine:
            return self.fitted_.perplexity_of(parts, engine, n_draws if method == "draws" else None)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log probability of a token given half of its document, -ln(perplexity(X)): higher is better."""
        return -float(np.log(self.perplexity(X)))

    def save(self, directory: str | Path) -> None:
        """Write the model to a directory; ``diln.load`` reads it.

        Parameters
        ----------
        directory : path
            One to be made, an empty one, or one with a model, which is replaced.
        """
        check_is_fitted(self)
        self.fitted_.save(directory)

    @classmethod
    def of(cls, fitted: Fitted) -> Self:
        """The estimator of a fitted model."""
        values, way = fitted.parameters.values, INFERENCES[fitted.parameters.inference]
        how = way(**{one.name: values[one.name] for one in fields(way) if one.name in values})
        told = {name: values[name] for name in cls._get_param_names()}
        model = cls(**{**told, "inference": way.name if how == way() else how})
        model.fitted_, model.n_features_in_ = fitted, len(fitted.vocabulary)
        if fitted.named:
            model.feature_names_in_ = np.array(fitted.vocabulary, object)
        return model

    @property
    def components_(self) -> Floats:
        """Parameters of the topics' Dirichlet distributions (n_topics, n_terms).

        Here n_topics counts all topics, used or not, as ``len(topic_weights_)``. LDA, the CTM and variational inference
        keep ``n_components`` topics; sampling of the other models may drop and split topics.
        """
        return self._known().components

    @property
    def topic_word_(self) -> Floats:
        """Probability of each term in each topic (n_topics, n_terms); rows sum to 1."""
        return self._known().topic_word

    @property
    def topic_weights_(self) -> Floats:
        """Share of the tokens in each topic (n_topics,)."""
        return self._known().topic_weights

    @property
    def n_topics_(self) -> int:
        """Number of topics in use: those with at least one in 500 tokens.

        It is a property of the model, not of the corpus: a larger model tells more topics apart.
        """
        return self._known().n_topics

    @property
    def history_(self) -> list[dict[str, Any]]:
        """Progress, a dict for each sweep, pass or step of online learning; the last 10,000 after ``partial_fit``.

        All have ``iteration``, ``documents`` visited so far, ``seconds``, ``n_topics`` in use, ``alpha`` and ``beta``.
        Sampling adds ``score``, the mean log probability of a token given all others, ``topic_word_prior``,
        ``location_variance``, ``n_components`` (all topics, used or not) and ``n_states`` averaged so far. Variational
        inference adds ``bound``, its ``terms``, and ``perplexity`` as often as ``evaluate_every`` says. DILN and CTM
        add ``correlations`` of up to 12 pairs of topics, chosen at random, by the topics' numbers: ``{"3-17": 0.41}``.
        """
        return self._known().history

    @property
    def bound_(self) -> float | None:
        """Lower bound on ln p(documents and point estimates) after variational batch learning; else None."""
        return self._known().bound

    @property
    def learning_method_(self) -> str:
        """How the model was learned: "batch", "grow" or "online". It is "online" after ``partial_fit``."""
        return self._known().method

    @property
    def n_iter_(self) -> int:
        """Number of sweeps or passes over the documents."""
        return max(1, self._known().passes)

    @property
    def n_batch_iter_(self) -> int:
        """Number of steps of online learning."""
        return self._known().steps

    @property
    def vocabulary_(self) -> list[str]:
        """The terms, in the order of the columns. You can set it if the documents came without names."""
        return self._known().vocabulary

    @vocabulary_.setter
    def vocabulary_(self, terms: ArrayLike) -> None:
        names = check_vocabulary(str(term) for term in np.asarray(terms, object))
        if len(names) != self.n_features_in_:
            raise ValueError(
                f"{len(names):,} terms were given but the model has {self.n_features_in_:,}; give one for each"
            )
        self._known().vocabulary = names

    @property
    def _n_features_out(self) -> int:
        return self._known().posterior.n_topics

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "fitted_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _known(self) -> Fitted:
        if not hasattr(self, "fitted_"):
            raise AttributeError(f"this {type(self).__name__} is not fitted yet; call fit first")
        return self.fitted_

    def _parameters(self) -> Parameters:
        return parameters_of(self.kind, flat(self))

    def _running(self) -> AbstractContextManager[Engine]:
        return engine_or_threads(self.engine, self._parameters().jobs)

    def _rows(self, X: Any, *, reset: bool) -> tuple[Rows, list[str]]:
        """Documents in the form that inference takes, with their terms."""
        if isinstance(X, Corpus):
            if not len(X) or not X.n_terms:
                raise ValueError(f"the corpus has {len(X)} documents of {X.n_terms} terms; give at least one of each")
            if reset:
                if hasattr(self, "feature_names_in_"):
                    del self.feature_names_in_
                self.n_features_in_ = X.n_terms
                return CorpusRows(X), X.vocabulary
            return aligned(X, self.vocabulary_), self.vocabulary_
        counts = self._checked(X, reset)
        if not reset:
            return MatrixRows(counts), self.vocabulary_
        names = getattr(self, "feature_names_in_", None)
        return MatrixRows(counts), [f"x{i}" for i in range(counts.shape[1])] if names is None else check_vocabulary(
            names
        )

    def _checked(self, X: Any, reset: bool) -> csr_array:
        name, kinds = type(self).__name__, [np.float64, np.float32, np.int64, np.int32]
        table = as_table(X, name, fresh=reset)
        try:
            table = validate_data(self, table, reset=reset, accept_sparse="csr", dtype=kinds, ensure_all_finite=False)
        except ValueError as error:
            if "features, but" in str(error):
                raise ValueError(f"{error} Count the documents with vocabulary=model.vocabulary_") from None
            if "could not convert string" in str(error):
                raise text_given(name, fresh=reset, frame=table) from None
            if "Complex data" in str(error):  # which scikit-learn prints whole
                raise ValueError("Complex data not supported; give counts, which are whole numbers from 0 on") from None
            raise
        except OverflowError:
            raise ValueError("X has a number that is too large for a count; give whole numbers from 0 on") from None
        rows = as_rows(table if issparse(X) else sound_rows(table, "X"))
        if reset:
            check_filled(rows.shape[1], rows.nnz, "X", "columns")
        parameters = self.fitted_.parameters if hasattr(self, "fitted_") else self._parameters()
        sampled = parameters.inference == "sampling"
        check_counts(rows, name, rounds=sampled)
        return as_rows(whole(rows)) if sampled else rows


class Concentrated:
    """What models with any number of topics know: how concentrated weights are."""

    _known: Any

    @property
    def alpha_(self) -> float:
        """Concentration of the topics' weights in the corpus."""
        return cast(float, self._known().alpha)

    @property
    def beta_(self) -> float:
        """Concentration of the topics' weights in a document around those in the corpus."""
        return cast(float, self._known().beta)


class Correlated:
    """What models with correlations know: which topics go together."""

    _known: Any

    @property
    def topic_covariance_(self) -> Floats:
        """Covariance of the topics' log weights over documents (n_topics, n_topics).

        DILN: the inner products of the topics' locations, averaged over states where there are some; inner products of
        ``topic_locations_``, themselves a mean, are smaller. CTM: of log weights less their mean in each document:
        adding a number to all of them changes nothing.
        """
        return cast(Floats, self._known().covariance)

    @property
    def topic_lift_(self) -> Floats:
        """How many times as often as by chance two topics are together in a document (n_topics, n_topics).

        It is E[theta_i theta_j] / f_i f_j of a new document's proportions. What is by chance, f_i f_j, takes into
        account that proportions sum to 1: topics without correlations have a lift of 1.
        """
        return cast(Floats, self._known().lift)

    @property
    def topic_correlation_(self) -> Floats:
        """Correlation of the topics' log weights (n_topics, n_topics), from -1 to 1; the diagonal is 1.

        Above 0 topics go together, below 0 they avoid each other. DILN: the cosine of two topics' locations, and near 0
        beside a topic whose location is uncertain.
        """
        return cast(Floats, self._known().correlation)


def check_counts(counts: csr_array, name: str, *, rounds: bool) -> None:
    """Raise if the values are proportions or TF-IDF, warn if they are otherwise not counts."""
    if not (counts.data % 1).any():
        return
    if not rounds:
        check_smallest(counts, name)
    # Every normalisation in common use leaves rows of length 1 by one of these measures.
    filled = np.diff(counts.indptr) > 1
    squares = csr_array((counts.data.astype(np.float64) ** 2, counts.indices, counts.indptr), counts.shape)
    for table in (counts, squares):
        sums = np.asarray(table.sum(axis=1))[filled]
        if len(sums) and np.abs(sums - 1).max() < 1e-3:
            raise ValueError(
                f"{name} was given rows that are normalised (proportions or TF-IDF); give raw counts "
                "(CountVectorizer in place of TfidfVectorizer)"
            )
    taken = "rounded up, for sampling is of whole tokens" if rounds else "taken as weights of terms"
    warn(
        f"{name} was given values that are not whole numbers; they are {taken}; it is made for raw counts",
        DilnWarning,
        stacklevel=5,
    )


class _Printed:
    """Shows each pass on the standard error stream."""

    def look(self, progress: Progress) -> None:
        """Write a line."""
        shown = [] if progress.chain is None else [f"chain {progress.chain}"]
        shown += [f"pass {progress.iteration}", f"{progress.documents:,} documents", f"{progress.n_topics} topics"]
        shown += [] if progress.score is None else [f"score {progress.score:.4f}"]
        shown += [f"{progress.n_states} states averaged"] if progress.n_states else []
        shown += [] if progress.bound is None else [f"bound {progress.bound:.6g}"]
        shown += [] if progress.perplexity is None else [f"perplexity {progress.perplexity:.1f}"]
        sys.stderr.write(f"{', '.join(shown)}, {progress.seconds:.1f} s\n")
