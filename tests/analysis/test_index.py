"""An index says of documents what the model says, comes back from disk as it was, and is searched exactly."""

import json
import os
import shutil
import signal
import sys
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from newsroom import article, editor, paper, plain_editor
from scipy.sparse import csr_array

from diln import DILN, Corpus
from diln.analysis.index import FOLDER, Index, Query, duplicates, index_of, outliers
from diln.analysis.index.overlaps import differing, sign
from diln.analysis.index.search import PLACE, TOPICS, WORDS, Searcher, best
from diln.analysis.index.sparse import LEAST
from diln.analysis.index.store import KIND
from diln.analysis.index.words import directions, places
from diln.corpus.watch import Notes
from diln.engine.threads import Threads
from diln.errors import StoreError
from diln.files import read_manifest, write_manifest
from diln.models.counts import as_rows

EMPTY = 3  # row of a document without a known word


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """The newspaper with a document of unknown words in it, counted in the terms of its model."""
    known = paper()
    texts = [document.text for document in known.documents]
    texts[EMPTY] = "xyzzy qwertz"
    fields = {"labels": known.documents.labels, "dates": known.documents.dates, "titles": known.documents.titles}
    return Corpus.from_texts(texts, vocabulary=known.vocabulary, **fields)


def inferred(corpus: Corpus) -> np.ndarray:
    """The proportions of all documents, without a warning of the one without words."""
    with Threads(1) as engine:
        return editor().fitted_.infer(as_rows(corpus.counts), engine).proportions


@pytest.fixture(scope="module")
def index(corpus) -> Index:
    return Index.build(editor(), corpus)


@pytest.fixture
def stored(index, tmp_path) -> Path:
    index.write(tmp_path / FOLDER)
    return tmp_path / FOLDER


class TestWhatIsKept:
    def test_shares_are_those_of_transform(self, index, corpus):
        theta = inferred(corpus)
        found = index.proportions(np.arange(len(corpus)))
        large = theta >= LEAST
        large[EMPTY] = False
        np.testing.assert_allclose(found[large], theta[large], atol=2e-5)
        assert (np.abs(found - theta)[np.arange(len(corpus)) != EMPTY] < LEAST).all()

    def test_proportions_sum_to_one_but_for_documents_without_a_known_word(self, index):
        sums = index.proportions(np.arange(index.n_docs)).sum(axis=1)
        assert sums[EMPTY] == 0
        np.testing.assert_allclose(np.delete(sums, EMPTY), 1, atol=1e-5)

    def test_rows_are_chosen_as_in_a_corpus(self, index):
        mask = np.zeros(index.n_docs, bool)
        mask[[2, 7]] = True
        np.testing.assert_array_equal(index.proportions(mask), index.proportions([2, 7]))
        with pytest.raises(ValueError, match="there is no row 999"):
            index.proportions([999])

    def test_documents_of_a_topic_are_sorted_by_share_and_complete(self, index):
        theta = index.proportions(np.arange(index.n_docs))
        for topic in range(index.n_topics):
            rows, shares = index.rows_of_topic(topic)
            assert (np.diff(shares) <= 0).all()
            expected = np.flatnonzero(theta[:, topic] >= LEAST + 1e-4)
            assert set(expected) <= set(rows.tolist())
            np.testing.assert_allclose(shares, theta[rows, topic], atol=2e-5)

    @pytest.mark.parametrize("topic", [-1, 12, 1.5, True, "0"])
    def test_there_are_no_documents_of_a_topic_that_is_none(self, index, topic):
        with pytest.raises(ValueError, match="there is no topic"):
            index.rows_of_topic(topic)

    def test_totals_are_tokens_times_proportions(self, index, corpus):
        expected = corpus.doc_lengths @ inferred(corpus)
        np.testing.assert_allclose(index.topic_totals(), expected, rtol=1e-6)

    def test_tokens_dates_labels_and_locations_are_known(self, index, corpus):
        np.testing.assert_array_equal(index.tokens, corpus.doc_lengths)
        np.testing.assert_array_equal(index.timestamps, corpus.documents.timestamps)
        labels = [index.label_names[code] for code in index.label_codes]
        assert labels == corpus.documents.labels
        assert index.locations.shape == (len(corpus), 2)
        assert np.isfinite(index.coherence).sum() == editor().n_topics_

    def test_a_model_without_locations_has_none(self):
        index = Index.build(plain_editor(), paper())
        assert index.locations is None
        assert len(index.similar(index.query(0), 3)[0]) == 3

    def test_threads_do_not_change_it(self, index, corpus):
        other = Index.build(editor(), corpus, n_jobs=2)
        for name, array in index._arrays.items():
            np.testing.assert_array_equal(array, other._arrays[name], name)

    def test_a_corpus_without_dates_and_labels_has_none(self, tmp_path):
        texts = [document.text for document in paper().documents]
        index = Index.build(editor(), Corpus.from_texts(texts, vocabulary=paper().vocabulary))
        index.write(tmp_path / FOLDER)
        back = Index.open(tmp_path / FOLDER)
        assert back.timestamps is None
        assert back.label_names == ()
        assert (back.label_codes == -1).all()

    def test_an_empty_corpus_and_what_is_no_corpus_are_refused(self):
        with pytest.raises(ValueError, match="no documents"):
            Index.build(editor(), paper()[:0])
        with pytest.raises(TypeError, match="give a Corpus"):
            Index.build(editor(), [[1, 2]])


class TestOnDisk:
    def test_everything_comes_back_to_the_bit(self, index, stored):
        back = Index.open(stored)
        for name, array in index._arrays.items():
            np.testing.assert_array_equal(array, back._arrays[name], name)
        assert (back.n_docs, back.n_topics, back.model, back.digest) == (
            index.n_docs,
            index.n_topics,
            index.model,
            index.digest,
        )

    def test_it_knows_its_model_after_saving_and_loading(self, index, tmp_path):
        editor().save(tmp_path / "model")
        index.write(tmp_path / "model" / FOLDER)
        import diln

        again = diln.load(tmp_path / "model")
        assert index_of(tmp_path / "model", again).is_of(again)

    def test_that_of_another_model_is_refused(self, stored):
        other = DILN(5, n_dims=2, max_iter=5, random_state=3).fit(paper())
        assert not Index.open(stored).is_of(other)
        with pytest.raises(StoreError, match=r"another model.*diln index MODEL"):
            index_of(stored.parent, other)

    def test_it_tells_its_corpus_from_others(self, index, corpus):
        assert index.matches(corpus)
        assert not index.matches(corpus[::-1])
        assert not index.matches(corpus[:50])

    def test_the_corpus_is_found_where_it_was_and_where_it_was_moved_with_the_model(self, corpus, tmp_path):
        kept = corpus.save(tmp_path / "model" / "corpus")
        Index.build(editor(), kept).write(tmp_path / "model" / FOLDER)
        assert Index.open(tmp_path / "model" / FOLDER).corpus == tmp_path / "model" / "corpus"
        shutil.move(tmp_path / "model", tmp_path / "moved")
        assert Index.open(tmp_path / "moved" / FOLDER).corpus == tmp_path / "moved" / "corpus"
        shutil.rmtree(tmp_path / "moved" / "corpus")
        assert Index.open(tmp_path / "moved" / FOLDER).corpus is None

    @pytest.mark.parametrize("name", ["topics", "offsets", "words", "label_codes", "topic_rows", "times"])
    def test_a_changed_byte_is_one_sentence(self, stored, name):
        path = next(stored.glob(f"g*-{name}.npy"))
        data = bytearray(path.read_bytes())
        data[-1] ^= 0xFF
        path.write_bytes(data)
        with pytest.raises(StoreError, match=r"checksum.*make it again with: diln index MODEL"):
            _ = Index.open(stored)._arrays[name]

    @pytest.mark.parametrize(
        ("name", "value", "how"),
        [
            ("topics", 999, "has the number 999, and there are 12 topics"),
            ("topic_rows", 10**6, "there are 160 documents"),
            ("label_codes", 77, "there are 4 labels"),
            ("offsets", 10**9, "without a step back"),
            ("explained", np.nan, "not from"),
        ],
    )
    def test_numbers_that_lead_nowhere_are_one_sentence_though_checksums_are_right(self, stored, name, value, how):
        path = next(stored.glob(f"g*-{name}.npy"))
        array = np.load(path)
        array[len(array) // 2] = value
        np.save(path, array)
        manifest = read_manifest(stored, KIND)
        manifest["files"][name]["sha256"] = sha256(path.read_bytes()).hexdigest()
        write_manifest(stored, manifest)
        with pytest.raises(StoreError, match=f"{how}.*diln index MODEL"):
            _ = Index.open(stored)._arrays[name]

    @pytest.mark.parametrize("name", ["topics", "words", "word_axes"])
    def test_an_array_of_another_shape_is_refused(self, stored, name):
        path = next(stored.glob(f"g*-{name}.npy"))
        np.save(path, np.load(path)[:-1])
        manifest = read_manifest(stored, KIND)
        data = path.read_bytes()
        manifest["files"][name] |= {"sha256": sha256(data).hexdigest(), "bytes": len(data)}
        write_manifest(stored, manifest)
        with pytest.raises(StoreError, match="shape"):
            _ = Index.open(stored)._arrays[name]

    def test_missing_files_and_fields_are_found_when_it_is_opened(self, stored):
        manifest = json.loads((stored / "manifest.json").read_text())
        next(stored.glob("g*-words.npy")).unlink()
        with pytest.raises(StoreError, match="missing"):
            Index.open(stored)
        del manifest["files"]["words"], manifest["checksum"]
        write_manifest(stored, manifest)
        with pytest.raises(StoreError, match=r"lacks files\.words"):
            Index.open(stored)

    def test_a_folder_of_another_kind_is_neither_read_nor_written(self, index, corpus, tmp_path):
        corpus.save(tmp_path / "corpus")
        with pytest.raises(StoreError, match="'diln-corpus', not a document index"):
            Index.open(tmp_path / "corpus")
        with pytest.raises(StoreError, match="name another directory"):
            index.write(tmp_path / "corpus")
        with pytest.raises(StoreError, match="there is no document index here"):
            Index.open(tmp_path)

    def test_writing_again_leaves_nothing_of_the_old_one(self, index, stored):
        index.write(stored)
        assert {path.name.partition("-")[0] for path in stored.glob("g*")} == {"g0002"}

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
    def test_a_process_killed_at_any_file_leaves_the_old_index_or_the_new_one(self, index, stored):
        other = Index.build(editor(), paper()[:20])
        seen = set()
        for files in range(60):
            child = os.fork()
            if not child:
                overwrite_and_die(other, stored, files)
            ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            back = Index.open(stored)
            whole = {name: back._arrays[name] for name in back._arrays}
            expected = index if back.n_docs == index.n_docs else other
            seen.add(back.n_docs)
            for name, array in whole.items():
                np.testing.assert_array_equal(array, expected._arrays[name], name)
            if not ended:
                break
        assert (ended, seen) == (0, {160, 20})


def overwrite_and_die(index: Index, directory: Path, files: int) -> None:
    """Write an index in a process that is killed as it brings a file down to the disk, after so many files."""
    left, to_disk = [files], os.fsync

    def counted(descriptor: int) -> None:
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        left[0] -= 1
        to_disk(descriptor)

    os.fsync = counted
    index.write(directory)
    os._exit(0)


class TestGrowing:
    def test_new_documents_are_added_after_the_old_ones(self, index, corpus):
        rng = np.random.default_rng(5)
        texts = [document.text for document in corpus.documents] + [article("law", rng, 40) for _ in range(3)]
        more = Corpus.from_texts(texts, vocabulary=corpus.vocabulary)
        grown = index.grown(editor(), more)
        assert grown.n_docs == index.n_docs + 3
        np.testing.assert_allclose(grown.proportions(range(5)), index.proportions(range(5)), atol=1e-4)
        whole = Index.build(editor(), more)
        np.testing.assert_allclose(grown.proportions([160, 162]), whole.proportions([160, 162]), atol=2e-3)
        np.testing.assert_array_equal(grown.tokens, whole.tokens)
        for topic in range(3):
            np.testing.assert_array_equal(grown.rows_of_topic(topic)[0], whole.rows_of_topic(topic)[0])
        assert 160 in grown.similar(grown.query(161), grown.n_docs)[0]

    def test_documents_that_are_not_a_continuation_are_refused(self, index, corpus):
        with pytest.raises(ValueError, match="does not begin with"):
            index.grown(editor(), corpus[::-1])
        with pytest.raises(ValueError, match="another model"):
            index.grown(plain_editor(), corpus)


def twin(index: Index, query: Query) -> np.ndarray:
    """How like a query all documents are, in NumPy."""
    arrays, n_docs = index._arrays, index.n_docs
    roots = np.zeros((n_docs, index.n_topics))
    owners = np.repeat(np.arange(n_docs), np.diff(arrays["offsets"]))
    roots[owners, arrays["topics"]] = np.sqrt(arrays["shares"] / 65535)
    known = index.tokens > 0
    mean = roots[known].mean(axis=0)
    asked = np.where(query.proportions >= LEAST, np.sqrt(query.proportions), 0) - mean
    words = arrays["words"].astype(float)

    def cosine(rows, one):
        lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(one)
        return np.divide(rows @ one, lengths, out=np.zeros(n_docs), where=lengths > 1e-6)

    parts = np.stack([cosine(roots - mean, asked), cosine(index.locations, query.location), cosine(words, query.words)])
    scores = np.array([TOPICS, PLACE, WORDS]) @ parts / (TOPICS + PLACE + WORDS)
    scores[~known] = -np.inf
    return scores


class TestSearch:
    def test_it_finds_what_numpy_finds(self, index):
        for row in (0, 17, 101):
            query = index.query(row)
            expected = twin(index, query)
            expected[row] = -np.inf
            rows, found = index.similar(query, 20)
            np.testing.assert_allclose(found, np.sort(expected)[::-1][:20], atol=1e-5)
            np.testing.assert_allclose(expected[rows], found, atol=1e-5)

    def test_similar_documents_have_the_same_label(self, index):
        labels = index.label_codes
        hits = [(labels[index.similar(index.query(row), 5)[0]] == labels[row]).mean() for row in range(10, 60)]
        assert np.mean(hits) > 0.9

    def test_any_block_gives_the_same_bits(self, index):
        searcher, query = index._searcher, index.query(11)
        expected = searcher.scores(query)
        for block in (1, 7, 64, 10**6):
            np.testing.assert_array_equal(searcher.scores(query, block), expected)

    def test_the_document_itself_and_empty_ones_are_never_found(self, index):
        rows, _ = index.similar(index.query(0), 1000)
        assert len(rows) == index.n_docs - 2
        assert 0 not in rows
        assert EMPTY not in rows
        with pytest.raises(ValueError, match="no word that the model knows"):
            index.query(EMPTY)

    def test_a_new_text_finds_the_document_that_has_it(self, index, corpus):
        query = index.query_of(editor(), corpus.rows([42]))
        rows, found = index.similar(query, 3)
        assert rows[0] == 42
        assert found[0] == pytest.approx(1, abs=1e-3)

    def test_equal_documents_come_in_the_order_of_rows(self):
        texts = [document.text for document in paper()[:40].documents]
        index = Index.build(editor(), Corpus.from_texts(texts + [texts[5]] * 3, vocabulary=paper().vocabulary))
        rows, found = index.similar(index.query(5), 4)
        assert rows[:3].tolist() == [40, 41, 42]
        np.testing.assert_allclose(found[:3], 1, atol=1e-6)

    def test_a_searcher_of_documents_that_are_all_alike_finds_them_alike(self):
        text = paper().documents[0].text
        index = Index.build(editor(), Corpus.from_texts([text] * 4, vocabulary=paper().vocabulary))
        rows, found = index.similar(index.query(1), 5)
        assert rows.tolist() == [0, 2, 3]
        assert np.isfinite(found).all()

    def test_one_document_finds_none(self):
        index = Index.build(editor(), paper()[:1])
        assert len(index.similar(index.query(0), 5)[0]) == 0

    @pytest.mark.parametrize("row", [-1, 160, 1.0, True, "5", None])
    def test_what_is_no_row_is_refused(self, index, row):
        with pytest.raises(ValueError, match="there is no document"):
            index.query(row)

    def test_hostile_queries_are_refused(self, index):
        n_terms = len(paper().vocabulary)
        with pytest.raises(ValueError, match="no word that the model knows"):
            index.query_of(editor(), csr_array((1, n_terms)))
        with pytest.raises(ValueError, match="give those of one"):
            index.query_of(editor(), csr_array((2, n_terms)))
        with pytest.raises(ValueError, match="columns"):
            index.query_of(editor(), csr_array((1, 3)))
        with pytest.raises(TypeError, match="give a Query"):
            index.similar(5)
        with pytest.raises(ValueError, match="whole number from 1"):
            index.similar(index.query(0), 0)

    def test_the_best_are_sorted_and_ties_are_in_order(self):
        scores = np.array([1, 3, 2, 3, -np.inf, 3, 0], np.float32)
        assert best(scores, 2).tolist() == [1, 3]
        assert best(scores, 100).tolist() == [1, 3, 5, 2, 0, 6]
        assert best(np.full(3, -np.inf, np.float32), 2).tolist() == []

    def test_it_is_the_same_from_disk(self, index, stored):
        mapped = Index.open(stored)
        for row in (1, 99):
            for one, other in zip(index.similar(index.query(row)), mapped.similar(mapped.query(row)), strict=True):
                np.testing.assert_array_equal(one, other)
        assert isinstance(mapped._searcher, Searcher)


class TestWords:
    def test_directions_are_those_of_the_singular_value_decomposition(self):
        rng = np.random.default_rng(0)
        rows = rng.standard_normal((60, 6)) * [9, 7, 5, 3, 2, 1] @ np.linalg.qr(rng.standard_normal((40, 6)))[0].T
        rows *= rng.random(rows.shape) < 2  # as dense as it is
        expected = np.linalg.svd(rows)[2][:3].T
        found = directions(csr_array(rows.astype(np.float32)), 3)
        np.testing.assert_allclose(np.abs(found.T @ expected), np.eye(3), atol=1e-3)

    def test_a_document_lies_where_its_words_do_however_long_it_is(self, index, corpus):
        from diln.analysis.index.words import WordSpace

        space = WordSpace(*(index._arrays[f"word_{name}"] for name in WordSpace._fields))
        found = places(csr_array(corpus.rows([0, EMPTY])), space)
        assert np.abs(found[0]).max() == 127
        assert not found[1].any()
        np.testing.assert_array_equal(found[0], index._arrays["words"][0])


class TestOutliers:
    def test_a_document_of_words_at_random_is_one(self):
        rng = np.random.default_rng(1)
        texts = [document.text for document in paper().documents]
        texts[30] = " ".join(rng.choice(paper().vocabulary, 60))
        index = Index.build(editor(), Corpus.from_texts(texts, vocabulary=paper().vocabulary))
        rows, scores = outliers(index, 5)
        assert rows[0] == 30
        assert (np.diff(scores) <= 0).all()
        assert len(rows) == 5

    def test_documents_without_a_known_word_are_none(self, index):
        assert EMPTY not in outliers(index, 1000)[0]
        with pytest.raises(ValueError, match="whole number"):
            outliers(index, 0)
        with pytest.raises(TypeError, match="give a Index"):
            outliers("index")


def in_common(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.minimum(one, other).sum() / np.maximum(one, other).sum())


class TestDuplicates:
    @pytest.mark.parametrize("least", [0.5, 0.8, 0.95, 1.0])
    def test_all_pairs_are_found_and_no_others(self, least):
        rng = np.random.default_rng(2)
        counts = rng.poisson(rng.gamma(0.3, 2, 30), (120, 30))
        for row in range(60, 100):  # nearly as another
            counts[row] = counts[row - 60]
            counts[row, rng.integers(30, size=row % 4)] += 1
        corpus = Corpus.from_matrix(csr_array(counts), [f"w{term}" for term in range(30)])
        first = {}
        for row, one in enumerate(counts):
            first.setdefault(tuple(one), row)
        expected = set()
        for i in range(len(counts)):
            for j in range(i + 1, len(counts)):
                share = in_common(counts[i], counts[j]) if counts[i].any() and counts[j].any() else 0
                both = first[tuple(counts[i])] == i and first[tuple(counts[j])] == j
                if (share == 1 and first[tuple(counts[j])] == i) or (share >= least and both and share < 1):
                    expected.add((i, j, round(share, 9)))
        found = duplicates(corpus, None, least)
        assert {(i, j, round(share, 9)) for i, j, share in found} == expected
        assert len(found) == len(expected) > 0
        assert list(found) == sorted(found, key=lambda pair: (-pair[2], pair[0], pair[1]))

    def test_the_best_of_all_pairs_are_found_whatever_is_compared_at_a_time(self, monkeypatch):
        rng = np.random.default_rng(5)
        counts = rng.poisson(0.6, (400, 40))
        counts[200:] = counts[:200] + (rng.random((200, 40)) < 0.05)
        counts[390:] = counts[0]
        corpus = Corpus.from_matrix(csr_array(counts), [f"w{term}" for term in range(40)])
        every = duplicates(corpus, None, 0.5)
        assert len({share for _, _, share in every[:60]}) < 60  # some are as good as others
        module = sys.modules["diln.analysis.index.duplicates"]  # whose name is that of its function
        monkeypatch.setattr(module, "BLOCK", 7)
        monkeypatch.setattr(module, "ROOM", 1)
        for n in (1, 5, 30, 60, None):
            assert duplicates(corpus, n, 0.5, n_jobs=2) == every[:n]

    def test_signatures_differ_by_no_more_tokens_than_documents_do(self):
        rng = np.random.default_rng(6)
        dense = rng.poisson(rng.gamma(0.3, 3, 50), (30, 50)).astype(np.int32)
        dense[3, 4] = 500  # more than are told apart
        counts = csr_array(dense)
        signatures = np.zeros((30, 2), np.uint64)
        sign(counts.indptr, counts.indices, counts.data, signatures)
        for i in range(30):
            for j in range(30):
                found = differing(signatures, i, j)
                assert found == np.bitwise_count(signatures[i] ^ signatures[j]).sum()
                assert found <= np.abs(dense[i] - dense[j]).sum()
        assert differing(signatures, 0, 1) > 0

    def test_progress_is_told_up_to_the_last_document(self):
        steps = []

        class Watching(Notes):
            def step(self, position, total, documents):
                steps.append((position, total))

        duplicates(paper(), watch=Watching())
        assert steps[-1][0] == steps[-1][1] > 0

    def test_empty_documents_are_no_duplicates_and_few_are_asked_for(self):
        corpus = Corpus.from_texts(["apple pear"] * 4 + [""] * 3, min_df=1, max_df=1.0)
        assert duplicates(corpus) == ((0, 1, 1.0), (0, 2, 1.0), (0, 3, 1.0))
        assert duplicates(corpus, 1) == ((0, 1, 1.0),)

    @pytest.mark.parametrize("bad", [{"least": 0.2}, {"least": "x"}, {"n": 0}, {"least": np.nan}])
    def test_hostile_arguments_are_refused(self, bad):
        with pytest.raises(ValueError, match="give a"):
            duplicates(paper(), **bad)
        with pytest.raises(TypeError, match="give a Corpus"):
            duplicates("corpus")
