"""Documents of a stream come in batches that depend on their order alone."""

import json

import numpy as np
import pytest

from diln.corpus import Corpus, sources
from diln.corpus.batches import in_batches, of_corpus, of_source
from diln.corpus.dates import DateForm
from diln.corpus.in_memory import TextsSource
from diln.corpus.readers import open_source
from diln.corpus.rules import TextRule

TEXTS = [f"alpha beta word{'abc'[i % 3]} term{'xyz'[i % 3]} alpha" for i in range(23)]


def tables(batches, vocabulary):
    index = {term: place for place, term in enumerate(vocabulary)}
    return [batch.corpus(vocabulary, index, DateForm(), 0).counts.toarray().tolist() for batch in batches]


@pytest.mark.parametrize("docs_in_a_block", [1, 3, 7, 23])
def test_batches_are_the_same_however_a_source_is_cut(monkeypatch, docs_in_a_block):
    monkeypatch.setattr(sources, "BLOCK_DOCS", docs_in_a_block)
    monkeypatch.setattr("diln.corpus.in_memory.BLOCK_DOCS", docs_in_a_block)
    whole = Corpus.from_texts(TEXTS, min_df=1, max_df=1.0)
    batches = list(in_batches(of_source(TextsSource(TEXTS, {}), TextRule()), 5))
    assert [len(batch) for batch in batches] == [5, 5, 5, 5, 3]
    assert tables(batches, whole.vocabulary) == tables(in_batches(of_corpus(whole), 5), whole.vocabulary)
    assert np.concatenate(tables(batches, whole.vocabulary)).tolist() == whole.counts.toarray().tolist()


def test_a_batch_keeps_ids_dates_and_texts_and_leaves_out_unknown_terms(tmp_path):
    path = tmp_path / "some.jsonl"
    records = [{"id": f"d{i}", "date": f"{13 + i}/02/2020", "text": "alpha beta"} for i in range(4)]
    path.write_text("\n".join(map(json.dumps, records)) + "\n")
    (batch,) = in_batches(of_source(open_source(path), TextRule()), 10)
    corpus = batch.corpus(["beta"], {"beta": 0}, DateForm(), 7)
    assert corpus.documents.ids == ["d0", "d1", "d2", "d3"]
    assert corpus.documents.dates == ["2020-02-13", "2020-02-14", "2020-02-15", "2020-02-16"]
    assert corpus.counts.toarray().tolist() == [[1]] * 4
    assert corpus.documents[0].text == "alpha beta"


def test_documents_without_an_id_get_the_numbers_that_follow():
    (batch,) = in_batches(of_source(TextsSource(["alpha", "beta"], {}), TextRule()), 10)
    assert batch.corpus(["alpha"], {"alpha": 0}, DateForm(), 7).documents.ids == ["7", "8"]


def test_of_documents_with_one_text_the_first_is_kept_where_the_rule_says_so():
    source = TextsSource(["alpha", "beta", "alpha"], {"id": ["a", "b", "c"]})
    (batch,) = of_source(source, TextRule(drop_duplicates=True))
    assert list(batch.rows.columns["id"]) == ["a", "b"]
