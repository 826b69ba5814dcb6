"""The one door to what a model says of its documents, as its user has named, merged and hidden topics."""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from diln.analysis.correlations import Correlations, Lifts, Pair, ranked_pairs
from diln.analysis.document_view import DocumentView
from diln.analysis.edit_files import change_edits, folded, state_of
from diln.analysis.edits import Edits
from diln.analysis.finding import TopicHit, Vocabulary, topics_of
from diln.analysis.groups import Groups, groups
from diln.analysis.html import stacked, table
from diln.analysis.index import Index, duplicates, outliers
from diln.analysis.inputs import Model, fitted_of, hint_at_names, used_topics
from diln.analysis.labels import checked_separator
from diln.analysis.listing import DocumentInfo, Listing, Neighbour
from diln.analysis.opening import opened
from diln.analysis.pair_matrix import PairMatrix, folded_lifts, pair_matrix
from diln.analysis.reading import Reading, check_text
from diln.analysis.records import Records
from diln.analysis.selection import Columns, Selection
from diln.analysis.summary import Summary, summary
from diln.analysis.theme_labels import named_themes
from diln.analysis.themes import Grouping, Themes
from diln.analysis.topic_infos import LEAST, TopicInfo, TopicWords, topic_info
from diln.analysis.topic_map import TopicMap, moved, topic_map
from diln.analysis.trends import MIN_DOCUMENTS, LabelTrends, Trends, label_trends, trends
from diln.analysis.typical import Typical
from diln.analysis.words import RELEVANCE, Word, WordTopic, word_topics, words_of
from diln.corpus import Corpus
from diln.errors import check_kind
from diln.models.checks import check_choice, check_number, check_whole

if TYPE_CHECKING:
    from diln.corpus.watch import Watch

By = Literal["topic", "theme"]
NumberOfThemes = int | Literal["auto"]
SENTENCES = 2  # of a typical document
LISTED = 5  # topics of a document in a list
THEMES_KEPT = 4  # numbers of themes whose themes are kept, beside "auto": each has the theme of all documents
# What takes a while, and what it depends on: on merges and hidden topics, not on names.
UNNAMED = ("_grouping", "_lifts", "_maps", "_unnamed")


class _Once:
    """What is found once for a model, and no edit changes."""

    def __init__(self) -> None:
        self.grouping: Grouping | None = None
        self.maps: dict[NumberOfThemes, TopicMap] = {}
        self.vocabulary: Vocabulary | None = None


class Atlas:
    """A fitted model with its documents, and its topics as their user has named, merged and hidden them.

    Topics keep the model's numbers everywhere. Topics that are shown are those in use (at least one in 500 tokens) that
    are not hidden; a merged topic is shown once, under the number that is kept. Documents and words are told with small
    topics, too. Any method that takes the number of a topic takes those of hidden and small ones, too, and that of a
    part of a merged topic for the whole.

    Parameters
    ----------
    model : DILN, HDP, LDA or CTM
        A fitted estimator, or a model read by ``diln.load``.
    corpus : Corpus, optional
        The documents that it was fitted to. Without them, only what the model itself says is known.
    index : Index, optional
        What the model says of these documents. Default: made now. Dates and labels are those of the documents, even
        where the index has others.
    edits : Edits, optional
        Names, merges and hidden topics.
    directory : path, optional
        Directory of the model, where changes are kept.

    Attributes
    ----------
    fitted : Fitted
        The model.
    corpus : Corpus or None
        The documents.
    index : Index or None
        What the model says of them.
    edits : Edits
        Names, merges and hidden topics.
    directory : Path or None
        Directory of the model.
    """

    def __init__(
        self,
        model: Model,
        corpus: Corpus | None = None,
        *,
        index: Index | None = None,
        edits: Edits | None = None,
        directory: str | Path | None = None,
    ) -> None:
        self.fitted, self.corpus = fitted_of(model), corpus
        hint_at_names(self.fitted)
        self.directory = None if directory is None else Path(directory)
        if corpus is not None:
            check_kind("corpus", corpus, Corpus)
            index = Index.build(self.fitted, corpus) if index is None else index.grown(self.fitted, corpus)
        elif index is not None and not index.is_of(self.fitted):
            raise ValueError("the index was made with another model; make a new one with Index.build")
        self.index = index
        self._state: str | None = None  # that the model's directory was opened in
        self._arrange(Edits() if edits is None else edits)

    def _arrange(self, edits: Edits, before: "Atlas | None" = None) -> None:
        self.edits, self.folding = edits, folded(self.fitted, edits)
        if before is None:
            self._words = TopicWords(self.folding)
            self._view = DocumentView(self._words, self.index, self.corpus)
            self._chosen = Selection(self._view)
            self._infos: dict[tuple[Any, ...], TopicInfo] = {}
            self._once = _Once()
        else:  # what was found of topics that are not edited holds still
            self._words = before._words.edited(self.folding)
            self._view = before._view.edited(self._words)
            self._chosen = before._chosen.edited(self._view)
            self._infos, self._once = before._infos, before._once
        self._themes: dict[NumberOfThemes, Themes] = {}  # with the names that they were given
        self._unnamed: dict[NumberOfThemes, Themes] = {}
        self._topics: dict[int, Records[TopicInfo]] = {}
        self._maps: dict[NumberOfThemes, TopicMap] = {}

    @classmethod
    def open(
        cls,
        model: str | Path,
        corpus: str | Path | Corpus | None = None,
        n_jobs: int = 1,
        watch: "Watch | None" = None,
        *,
        keep: bool = True,
    ) -> "Atlas":
        """Open a model's directory, with its documents and edits.

        Parameters
        ----------
        model : path
            Directory of the model.
        corpus : path or Corpus, optional
            The documents that it was fitted to. Default: where its index says they are, or MODEL/corpus.
        n_jobs : int
            Number of threads; -1 uses all cores.
        watch : Watch, optional
            Is notified of progress, if an index has to be made.
        keep : bool
            Whether to keep an index that has to be made in the model's directory; if not, nothing is written.
        """
        state = state_of(Path(model))
        found = opened(Path(model), corpus, n_jobs, watch, keep=keep)
        made = cls(found.fitted, found.corpus, index=found.documents, edits=found.edits, directory=model)
        made._state = state
        return made

    def edited(self, edits: Edits) -> "Atlas":
        """The same model and documents with other edits; nothing is written.

        What the edits do not change is not found again: themes and maps are made of the groups and places that the
        model's topics have without any edit, and words, shares and documents of a topic are its own.
        """
        check_kind("edits", edits, Edits)
        other = copy(self)
        kept = {name: self.__dict__[name] for name in UNNAMED if name in self.__dict__}
        for name in kept:
            del other.__dict__[name]
        other._arrange(edits, self)
        if other.is_arranged_as(self):
            other.__dict__ |= kept
        return other

    def is_arranged_as(self, other: "Atlas") -> bool:
        """Whether the same topics of the same model are merged and hidden, whatever they are called."""
        arranged = [(one.edits.merges, one.edits.hidden) for one in (self, other)]
        return self.fitted is other.fitted and self.index is other.index and arranged[0] == arranged[1]

    def change(self, how: Callable[[Edits], Edits]) -> "Atlas":
        """Change the edits, and keep them in the model's directory if there is one.

        Parameters
        ----------
        how : callable
            Is given the edits as they are now, and returns new ones: ``lambda edits: edits.rename(12, "Trials")``.
            Processes that change edits at the same time wait for each other.

        Returns
        -------
        Atlas
            The same model and documents with the new edits.
        """
        if self.directory is None:
            return self.edited(how(self.edits))
        return self.edited(change_edits(self.directory, self.fitted, how, self._state))

    def topics(self, n_words: int = 10) -> Records[TopicInfo]:
        """The topics that are shown, the largest first, with this many words of each kind."""
        check_whole("n_words", n_words, 1)
        if n_words not in self._topics:
            self._topics[n_words] = Records(self._topic(int(topic), n_words) for topic in self.folding.shown)
        return self._topics[n_words]

    def topic(self, id: int, n_words: int = 10) -> TopicInfo:  # noqa: A002
        """One topic."""
        check_whole("n_words", n_words, 1)
        return self._topic(self._chosen.known(id), n_words)

    def _topic(self, topic: int, n_words: int) -> TopicInfo:
        key = (self.folding.parts(topic), n_words)
        if key not in self._infos:
            n_docs = None if self.index is None else self._view.n_docs(topic, LEAST)
            coherence = None if self.index is None else self.index.coherence
            self._infos[key] = topic_info(self._words, topic, n_words, n_docs, None, coherence)
        label, named = self._words.label(topic), topic in self.edits.labels
        theme = self.themes().topic_theme.get(topic)
        return replace(self._infos[key], label=label, named=named, theme=theme)

    def label(self, topic: int) -> str:
        """The name of a topic: the user's own, or its three most telling words."""
        return self._words.label(self._chosen.known(topic))

    def names(self) -> dict[int, str]:
        """The names of all topics that a document can be told to have: those that are shown, and small ones."""
        return {int(topic): self._words.label(int(topic)) for topic in self.folding.named}

    def words(self, topic: int, relevance: float = RELEVANCE, n: int = 30) -> Records[Word]:
        """The most relevant words of a topic.

        Parameters
        ----------
        topic : int
            The topic's number.
        relevance : float
            What is relevant: 1 for the most probable words, 0 for those with the highest lift, or something between.
        n : int
            Maximum number of words.
        """
        check_number("relevance", relevance, 0, 1)
        check_whole("n", n, 1)
        own = self.folding.words(self._chosen.known(topic))
        return Records(words_of(own, self._words.overall, self.fitted.vocabulary, relevance, n))

    def word(self, term: str, n: int = 10) -> Records[WordTopic]:
        """The topics of a word, small ones too; the one with most of its tokens first."""
        check_whole("n", n, 1)
        at, folding = self._words.place(term), self.folding
        found = word_topics(folding.word(at), folding.shares, float(self._words.overall[at]), folding.named, n)
        return Records(WordTopic(topic, self._words.label(topic), p, share) for topic, p, share in found)

    def find(self, text: str, n: int = 10) -> Records[TopicHit]:
        """The topics whose words these are, listed or not: those that have them most often, beside the corpus.

        Parameters
        ----------
        text : str
            One word or several, in any case. Words that the model does not know are left out; of the last one, its
            beginning is enough.
        n : int
            Maximum number of topics.
        """
        check_whole("n", n, 1)
        check_kind("text", text, str)
        if self._once.vocabulary is None:
            self._once.vocabulary = Vocabulary(self.fitted.vocabulary)
        return Records(topics_of(self._once.vocabulary.words(text), self._words, n))

    @cached_property
    def _lifts(self) -> Lifts:
        return folded_lifts(self.folding)

    def pairs(self, n_pairs: int = 10, unsure: bool = False) -> Correlations:
        """The pairs of topics that go together most, and those that avoid each other most.

        Parameters
        ----------
        n_pairs : int
            Maximum number of pairs of each kind.
        unsure : bool
            Whether to include pairs that are not sure, of a model with several chains.
        """
        check_whole("n_pairs", n_pairs, 1)
        labels = {int(topic): self._words.label(int(topic)) for topic in self._lifts.topics}
        return ranked_pairs(self._lifts, n_pairs, unsure=unsure).called(labels)

    def friends(self, topic: int, n: int = 5, unsure: bool = False) -> Records[Pair]:
        """Pairs of a topic with those that it goes together with most; sure ones only, of a model with chains."""
        check_whole("n", n, 1)
        return Records(self._lifts.beside(self._chosen.known(topic), 1, unsure=unsure)[:n])

    def rivals(self, topic: int, n: int = 5, unsure: bool = False) -> Records[Pair]:
        """Pairs of a topic with those that it avoids most; sure ones only, of a model with chains."""
        check_whole("n", n, 1)
        return Records(self._lifts.beside(self._chosen.known(topic), -1, unsure=unsure)[:n])

    def matrix(self, n: int | None = None, n_themes: NumberOfThemes = "auto") -> PairMatrix:
        """How all pairs of the largest ``n`` topics go together; topics of a theme are next to each other."""
        if n is not None:
            check_whole("n", n, 1, ", or None for all")
        found, large = self.themes(n_themes), set(self.folding.shown[:n].tolist())
        order = sorted((one for one in found.tree.order if one in large), key=found.topic_theme.__getitem__)
        return pair_matrix(self._lifts, order, found.topic_theme)

    @cached_property
    def _grouping(self) -> Grouping:
        """The topics that are shown, in the groups that the model's topics have."""
        if not self.edits.merges and not self.edits.hidden:
            return self._whole
        shown = self.folding.shown.tolist() or used_topics(self.fitted).tolist()
        return self._whole.edited(shown, self.edits.merges)

    @property
    def _whole(self) -> Grouping:
        """The model's own topics in use, grouped once for any number of themes and any edits."""
        if self._once.grouping is None:
            self._once.grouping = Grouping(self.fitted, self.index)
        return self._once.grouping

    def themes(self, n: NumberOfThemes = "auto") -> Themes:
        """Groups of the topics that are shown: this many, or as many as the rule for "auto" chooses."""
        if not (isinstance(n, str) and n == "auto"):
            check_whole("n", n, 1, ', or "auto"')
        known = self._themes.get(n)
        if known is None:
            found = self._unnamed.get(n) or self._grouping.themes(n)
            known = replace(found, themes=named_themes(found.themes, self.edits.theme_labels, self.folding))
            for every, made in ((self._unnamed, found), (self._themes, known)):
                every[n] = made
                for old in [one for one in list(every) if one != "auto"][:-THEMES_KEPT]:
                    every.pop(old, None)
        return known

    def map(self, n: NumberOfThemes = "auto") -> TopicMap:
        """Topics and themes where the model puts them."""
        found = self.themes(n)
        if n not in self._maps:
            grouping, whole = self._grouping, self._whole_map(n)
            merges = self.edits.merges
            moves = grouping is not self._whole
            self._maps[n] = moved(whole, self.fitted, found, grouping.beside, merges) if moves else whole
        return self._maps[n]

    def _whole_map(self, n: NumberOfThemes) -> TopicMap:
        """The map of the model's own topics, from where their themes are far apart."""
        maps = self._once.maps
        if n not in maps:
            most = len(self._whole.tree.topics)
            themes = self._whole.themes(n if isinstance(n, str) else min(n, most))
            maps[n] = topic_map(self.fitted, themes, self.index)
        return maps[n]

    def document(self, row: int, n_topics: int = 5) -> DocumentInfo:
        """One document, with its largest topics, small ones too."""
        check_whole("n_topics", n_topics, 1)
        rows = np.array([self._view.checked_row(row)])
        return self._view.infos(rows, n_topics, None, self.themes().document_theme)[0]

    def documents(
        self,
        *,
        topic: int | None = None,
        theme: int | None = None,
        pair: tuple[int, int] | None = None,
        label: str | None = None,
        since: Any = None,
        until: Any = None,
        rows: Sequence[int] | None = None,
        n: int = 20,
        offset: int = 0,
        n_themes: NumberOfThemes = "auto",
    ) -> Listing:
        """Documents of a topic, a theme or a pair, the largest share first; or all, in the order of the corpus.

        Parameters
        ----------
        topic : int, optional
            Documents with some of this topic (0.2% or more).
        theme : int, optional
            Documents with some of this theme.
        pair : (int, int), optional
            Documents with some of both topics, in the order of the smaller of the two shares.
        label : str, optional
            Only documents with this label, or with this and others.
        since, until : str or date, optional
            Only documents of this time; a year, a month or a day counts to its end.
        rows : sequence of int, optional
            Only these documents; in their order if no topic, theme or pair is given.
        n, offset : int
            List this many documents, after leaving out that many.
        n_themes : int or "auto"
            Number of themes that ``theme`` is one of, and the themes of the documents.
        """
        check_whole("n", n, 1)
        check_whole("offset", offset, 0)
        of = self.themes(n_themes)
        found, shares = self._chosen.ranked(topic, theme, pair, rows, of)
        kept = self._chosen.kept(label, since, until, rows)
        if kept is not None:
            wanted = kept[found]
            found, shares = found[wanted], None if shares is None else shares[wanted]
        some = slice(offset, offset + n)
        listed = self._view.infos(found[some], LISTED, None if shares is None else shares[some], of.document_theme)
        return Listing(len(found), listed)

    def typical(
        self, *, topic: int | None = None, theme: int | None = None, n: int = 5, n_themes: NumberOfThemes = "auto"
    ) -> Records[Typical]:
        """Documents that show what a topic or a theme is about, with their telling sentences.

        These are not the documents with the largest share, which may be tiny: of a short document less is sure, and its
        words have to be like those of the topic. Near-duplicates are left out.
        """
        check_whole("n", n, 1)
        if (topic is None) == (theme is None):
            raise ValueError("give a topic or a theme, one of them")
        of = self.themes(n_themes)
        if topic is None:
            parts: Sequence[int] = self._chosen.parts_of_theme(theme, of)
        else:
            parts = self.folding.parts(self._chosen.known(topic))
        return Records(self._view.typical(parts, n, SENTENCES, of.document_theme))

    def read(self, row: int, n_topics: int = 5) -> Reading:
        """A document's text, with its title if that was counted, and the topic of each word."""
        check_whole("n_topics", n_topics, 1)
        text = self._view.text(self._view.checked_row(row))
        if not text:
            raise ValueError(f"document {row} has no text, or its text was not kept")
        return self._view.read(text, n_topics, self._place)

    def read_text(self, text: str, n_topics: int = 5) -> Reading:
        """What a new text is about, with the topic of each word."""
        check_whole("n_topics", n_topics, 1)
        return self._view.read(check_text(text), n_topics, self._place)

    def _place(self, locations: NDArray[Any]) -> tuple[float, float] | None:
        """Where on the map a document with this location (1, n_dims) is."""
        if self.fitted.locations is None:
            return None
        x, y = self.map().place(locations)[0]
        return float(x), float(y)

    def similar(self, row: int | None = None, *, text: str | None = None, n: int = 10) -> Records[Neighbour]:
        """Documents that are most like a document, or like a new text: in topics, place and words.

        Documents without a known word are not among them, nor is the document itself.
        """
        check_whole("n", n, 1)
        if (row is None) == (text is None):
            raise ValueError("give a document or a text, one of them")
        index = self._view.index
        if text is None:
            query = index.query(self._view.checked_row(row))
        else:
            query = index.query_of(self.fitted, self._view.reader.counts(check_text(text)))
        rows, found = index.similar(query, n)
        documents = self._view.infos(rows, LISTED, None, self.themes().document_theme)
        return Records(map(Neighbour, documents, found.tolist()))

    def outliers(self, n: int = 20) -> Records[DocumentInfo]:
        """Documents that no topic explains well, compared with documents of about the same length; the worst first."""
        rows, _ = outliers(self._view.index, n)
        return Records(self._view.infos(rows, LISTED, None, self.themes().document_theme))

    def duplicates(
        self, n: int = 20, least: float = 0.95, n_jobs: int = 1, watch: "Watch | None" = None
    ) -> tuple[tuple[int, int, float], ...]:
        """Pairs of documents that have nearly all words in common: two rows and the share of words, largest first."""
        return duplicates(self._view.corpus, n, least, n_jobs, watch)

    def trends(
        self,
        by: By = "topic",
        granularity: str = "auto",
        ids: Sequence[int] | None = None,
        label: str | None = None,
        n_themes: NumberOfThemes = "auto",
        *,
        min_documents: int = MIN_DOCUMENTS,
        standardise: bool = False,
    ) -> Trends:
        """Topics or themes over time: their shares of the tokens in every period.

        Parameters
        ----------
        by : {"topic", "theme"}
            Whether topics or themes are counted; both as shares of all tokens.
        granularity : {"auto", "year", "quarter", "month", "week", "day"}
            How long a period is. "auto" takes the shortest periods of which there are at most 60, at most half of them
            without documents, and which have 20 documents each on average.
        ids : sequence of int, optional
            Numbers of topics or themes. Default: all that are shown.
        label : str, optional
            Only documents with this label.
        n_themes : int or "auto"
            Number of themes.
        min_documents : int
            Periods with fewer documents have no share.
        standardise : bool
            Whether to hold the mix of labels constant. In each period a share is then taken within each label, and the
            mean over labels is weighted by the label's share of all words that have a date and a label. Where a period
            lacks labels, the others count more (``covered`` of the result); where it lacks labels with more than a
            tenth of the words, it has no share. Nor has it one if it tells less than ``min_documents`` documents would
            that all count alike. A document with several labels is of each with an equal part of its words.

        See Also
        --------
        trends_by_label : The trends of each label alone.
        """
        if label is not None and standardise:
            raise ValueError("give a label or standardise=True, not both: one label has no mix to hold constant")
        columns = self._columns(by, ids, n_themes)
        if label is not None:
            columns = self._chosen.columns_of_label(columns, label)
        labels = None if label is not None else self._chosen.labels()
        mixed = labels if labels is not None and labels.names else None
        return trends(columns, self._chosen.times, by, granularity, min_documents, mixed, standardise=standardise)

    def trends_by_label(
        self,
        by: By = "topic",
        granularity: str = "auto",
        ids: Sequence[int] | None = None,
        n_themes: NumberOfThemes = "auto",
        *,
        min_documents: int = MIN_DOCUMENTS,
        n_labels: int | None = None,
    ) -> LabelTrends:
        """Topics or themes over time in the documents of each label, in the same periods.

        Parameters
        ----------
        by : {"topic", "theme"}
            Whether topics or themes are counted; both as shares of all tokens.
        granularity : {"auto", "year", "quarter", "month", "week", "day"}
            How long a period is; "auto" as in ``trends``.
        ids : sequence of int, optional
            Numbers of topics or themes. Default: all that are shown.
        n_themes : int or "auto"
            Number of themes.
        min_documents : int
            Periods with fewer documents of a label have no share there.
        n_labels : int, optional
            Only this many labels, those with most documents.
        """
        if n_labels is not None:
            check_whole("n_labels", n_labels, 1, ", or None for all")
        columns, labels = self._columns(by, ids, n_themes), self._chosen.labels()
        return label_trends(columns, self._chosen.times, by, labels, granularity, min_documents, n_labels)

    def groups(
        self,
        by: By = "topic",
        ids: Sequence[int] | None = None,
        n_themes: NumberOfThemes = "auto",
        separator: str | None = "auto",
    ) -> Groups:
        """Topics or themes by label: their shares of the tokens, and which differences are more than chance.

        Parameters
        ----------
        by : {"topic", "theme"}
            Whether topics or themes are counted; both as shares of all tokens.
        ids : sequence of int, optional
            Numbers of topics or themes. Default: all that are shown.
        n_themes : int or "auto"
            Number of themes.
        separator : str, optional
            What separates labels where documents have several, such as ";". "auto" finds out: "; ", ";", "|" or ", "
            if that makes labels at most half as many. None for one label each.
        """
        checked_separator(separator)
        return groups(self._columns(by, ids, n_themes), self._chosen.labels(separator), by)

    def _columns(self, by: Any, ids: Any, n_themes: Any) -> Columns:
        check_choice("by", by, ("topic", "theme"))
        return self._chosen.columns(by, ids, lambda: self.themes(n_themes))

    def _repr_html_(self) -> str:
        told = table([], note=" ".join(self.summary().sentences))
        return stacked(told, self.themes()._repr_html_()) if len(self.folding.shown) else told

    def labels(self) -> tuple[str, ...]:
        """The labels that documents have, those with most documents first; see ``groups`` for what separates them."""
        return tuple(self._chosen.labels().names)

    def summary(self) -> Summary:
        """The corpus and its model in a few plain sentences, and numbers."""
        return summary(self)
