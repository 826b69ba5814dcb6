"""The corpus on disk: what goes in comes out, damage is named, and nothing is ever half-written."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_array

import diln.corpus.assemble
import diln.files
from diln.corpus import Corpus, append, build, store, summarise
from diln.corpus.in_memory import TextsSource
from diln.errors import SourceError, StoreError

TEXTS = [
    "The quick brown fox jumps over the lazy dog",
    "A dog sleeps while foxes hunt",
    "",
    "Süße Äpfel und жёлтые лимоны",
    "fox fox fox dog",
]


def texts_source(texts=TEXTS, **fields):
    return TextsSource(texts, fields)


def tree(directory: Path) -> dict[str, bytes]:
    return {
        path.relative_to(directory).as_posix(): path.read_bytes() for path in directory.rglob("*") if path.is_file()
    }


def same(a: Corpus, b: Corpus) -> bool:
    return (
        a.vocabulary == b.vocabulary
        and (a.counts != b.counts).nnz == 0
        and list(a.documents) == list(b.documents)
        and len(a) == len(b)
    )


@pytest.fixture
def stored(tmp_path):
    return build(texts_source(label=["a", "b", "a", "c", "a"]), tmp_path / "corpus")


words = st.text("abcé漢", min_size=1, max_size=3)
fields = st.text(max_size=8)


@settings(max_examples=60, deadline=None)
@given(documents=st.lists(st.tuples(st.lists(words, max_size=8), fields, fields), min_size=1, max_size=12))
def test_what_is_saved_comes_back(tmp_path_factory, documents):
    tokens, titles, labels = (list(column) for column in zip(*documents, strict=True))
    if not any(tokens):
        tokens[0] = ["word"]
    corpus = Corpus.from_tokens(tokens, titles=titles, labels=labels, max_df=1.0)
    back = corpus.save(tmp_path_factory.mktemp("store") / "corpus")
    assert same(corpus, back)
    assert back.n_tokens == sum(map(len, tokens))  # no token lost
    assert back.documents.titles == titles
    assert back.tally == corpus.tally
    assert back.rule == corpus.rule


@settings(max_examples=60, deadline=None)
@given(
    X=hnp.arrays(np.int64, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=st.integers(0, 2**31 - 1)),
    data=st.data(),
)
def test_any_counts_survive_the_store_at_any_width(tmp_path_factory, X, data):
    X[0, 0] = max(1, X[0, 0])
    corpus = Corpus.from_matrix(X, [f"t{j}" for j in range(X.shape[1])])
    back = corpus.save(tmp_path_factory.mktemp("store") / "corpus")
    np.testing.assert_array_equal(back.counts.toarray(), X)
    rows = data.draw(st.lists(st.integers(0, len(X) - 1), max_size=8))
    np.testing.assert_array_equal(back.rows(rows).toarray(), X[rows])
    np.testing.assert_array_equal(back.doc_lengths, X.sum(axis=1))


def test_types_are_as_narrow_as_the_numbers_allow_and_widen(tmp_path):
    small = Corpus.from_matrix([[1, 255]], ["a", "b"]).save(tmp_path / "small")
    large = Corpus.from_matrix([[1, 256]], ["a", "b"]).save(tmp_path / "large")
    wide = Corpus.from_matrix(csr_array(([70_000], ([0], [70_000])), shape=(1, 70_001)), map(str, range(70_001)))
    dtypes = [{f: e["dtype"] for f, e in manifest(c)["shards"][0]["files"].items()} for c in (small, large)]
    assert [d["counts.npy"] for d in dtypes] == ["|u1", "<u2"]
    files = manifest(wide.save(tmp_path / "wide"))["shards"][0]["files"]
    assert (files["terms.npy"]["dtype"], files["counts.npy"]["dtype"]) == ("<u4", "<u4")


def manifest(corpus: Corpus) -> dict:
    return json.loads((corpus.directory / "manifest.json").read_text())


def test_arrays_are_mapped_not_read(stored):
    shard = stored._shards[0]
    assert isinstance(shard.terms.base, np.memmap)
    assert not shard.terms.flags.writeable


def test_a_document_can_be_read_back(stored):
    document = stored.documents[3]
    assert (document.id, document.label, document.text) == ("3", "c", TEXTS[3])
    assert [d.text for d in stored.documents[1:3]] == TEXTS[1:3]
    assert list(stored.documents.texts) == TEXTS
    assert stored.documents[-1].text == TEXTS[-1]
    with pytest.raises(IndexError, match="the corpus has 5"):
        stored.documents[5]


def test_texts_are_left_out_when_not_wanted(tmp_path):
    corpus = build(texts_source(), tmp_path / "corpus", keep_text=False)
    assert corpus.documents.fields == ("id",)
    assert corpus.documents[0].text == ""
    assert b"lazy" not in b"".join(data for name, data in tree(tmp_path / "corpus").items() if "vocab" not in name)


def test_a_part_of_a_corpus_in_another_order_is_saved_as_it_is(stored, tmp_path):
    part = stored[[4, 0, 3]]
    assert same(part, part.save(tmp_path / "part"))
    assert part.documents.ids == ["4", "0", "3"]
    np.testing.assert_array_equal(part.counts.toarray(), stored.counts.toarray()[[4, 0, 3]])
    np.testing.assert_array_equal(stored[np.array([True, False] * 2 + [True])].doc_lengths, stored.doc_lengths[::2])
    assert len(stored[[]]) == len(stored[:0]) == stored[[]].n_tokens == 0
    with pytest.raises(TypeError, match=r"corpus.documents\[i\]"):
        stored[2]


def many(n=3000, seed=0) -> list[str]:
    rng = np.random.default_rng(seed)
    vocabulary = np.array([f"word{chr(97 + j // 26)}{chr(97 + j % 26)}" for j in range(500)])
    return [" ".join(vocabulary[rng.integers(0, 500, rng.integers(0, 60))]) for _ in range(n)]


@pytest.fixture
def small_blocks(monkeypatch):
    """Make blocks and shards small enough that a small corpus has many of each."""
    monkeypatch.setattr("diln.corpus.in_memory.BLOCK_BYTES", 20_000)
    monkeypatch.setattr(diln.corpus.assemble, "SHARD_BYTES", 100_000)


def test_any_number_of_processes_gives_the_same_bytes(tmp_path, small_blocks):
    texts = many()
    trees = []
    for n_jobs in (1, 2, 3):
        build(texts_source(texts), tmp_path / str(n_jobs), n_jobs=n_jobs, min_tokens=3, drop_duplicates=True)
        trees.append(tree(tmp_path / str(n_jobs)))
    assert trees[0] == trees[1] == trees[2]
    corpus = Corpus.open(tmp_path / "1")
    assert len(corpus._shards) > 5
    assert same(corpus, Corpus.from_texts(texts, min_tokens=3, drop_duplicates=True))


def test_mini_batches_bring_every_document_once(tmp_path, small_blocks):
    corpus = build(texts_source(many()), tmp_path / "corpus")
    batches = list(corpus.minibatches(256, np.random.default_rng(5)))
    assert [batch.shape[0] for batch in batches] == [256] * 11 + [184]
    order = np.random.default_rng(5).permutation(len(corpus))
    whole = corpus.counts
    for first, batch in zip(range(0, 3000, 256), batches, strict=True):
        assert (batch != whole[order[first : first + 256]]).nnz == 0
    with pytest.raises(ValueError, match="at least 1"):
        next(corpus.minibatches(0, np.random.default_rng(0)))


def test_duplicates_and_short_documents_are_dropped_and_counted(tmp_path):
    texts = ["alpha beta", "gamma delta", "alpha beta", "alpha", "beta gamma delta"]
    corpus = build(texts_source(texts), tmp_path / "corpus", drop_duplicates=True, min_tokens=2)
    assert corpus.documents.ids == ["0", "1", "4"]
    assert (corpus.tally.duplicates_dropped, corpus.tally.short_dropped) == (1, 1)
    everyone = build(texts_source(texts), tmp_path / "everyone", drop_duplicates=True, min_df=2)
    assert everyone.vocabulary == ["alpha", "beta", "delta", "gamma"]  # frequencies without the duplicate
    np.testing.assert_array_equal(everyone.document_frequency, [2, 2, 2, 2])


class TestAppending:
    def test_with_the_vocabulary_fixed_counts_only_known_terms(self, stored):
        before = stored.counts.toarray()
        corpus = append(texts_source(["fox zebra zebra", "dog"], id=["x", "y"]), stored.directory)
        assert corpus.vocabulary == stored.vocabulary
        assert corpus.documents.ids == ["0", "1", "2", "3", "4", "x", "y"]
        assert corpus.documents.labels == ["a", "b", "a", "c", "a", "", ""]
        np.testing.assert_array_equal(corpus.counts.toarray()[:5], before)
        assert corpus.doc_lengths[5:].tolist() == [1, 1]
        assert corpus.tally.unknown_tokens == 2

    def test_documents_without_any_known_term_are_empty_rows(self, stored):
        assert append(texts_source(["zebra"]), stored.directory).doc_lengths[5:].tolist() == [0]

    def test_with_a_growing_vocabulary_puts_new_terms_at_the_end(self, stored):
        corpus = append(texts_source(["fox zebra zebra", "yak dog"]), stored.directory, grow=True)
        assert corpus.vocabulary == [*stored.vocabulary, "yak", "zebra"]
        assert corpus.rows([5]).toarray()[0, -1] == 2
        assert corpus.documents.ids[-2:] == ["5", "6"]
        again = append(texts_source(["zebra gnu"]), stored.directory, grow=True)
        assert again.vocabulary[-3:] == ["yak", "zebra", "gnu"]
        assert len(again) == 8

    def test_uses_the_rule_the_corpus_was_built_with(self, tmp_path):
        build(
            texts_source(["Alpha BETA"]), tmp_path / "corpus", lowercase=False, stop_words=["stop"], ngram_range=(1, 2)
        )
        corpus = append(texts_source(["Alpha beta stop Gamma"]), tmp_path / "corpus", grow=True)
        assert corpus.vocabulary == ["Alpha", "Alpha BETA", "BETA", "Alpha beta", "Gamma", "beta", "beta Gamma"]

    def test_takes_counts_with_another_vocabulary(self, stored, tmp_path):
        (tmp_path / "more.ldac").write_text("2 0:3 1:1\n")
        (tmp_path / "vocab.txt").write_text("zebra\nfox\n")
        read = {"vocabulary": tmp_path / "vocab.txt"}
        corpus = append(tmp_path / "more.ldac", stored.directory, **read)
        assert corpus.rows([5]).toarray()[0, corpus.vocabulary.index("fox")] == 1
        assert corpus.n_terms == stored.n_terms
        grown = append(tmp_path / "more.ldac", stored.directory, **read, grow=True)
        assert grown.rows([6]).toarray()[0, grown.vocabulary.index("zebra")] == 3

    def test_a_numbered_file_goes_on_numbering(self, tmp_path):
        (tmp_path / "a.txt").write_text("one fox\n\n\ntwo dogs\nthree hens\n")
        (tmp_path / "b.txt").write_text("four fox\n")
        assert build(tmp_path / "a.txt", tmp_path / "corpus").documents.ids == ["1", "4", "5"]
        assert append(tmp_path / "b.txt", tmp_path / "corpus").documents.ids == ["1", "4", "5", "6"]
        assert append(tmp_path / "b.txt", tmp_path / "corpus").documents.ids[-1] == "7"

    def test_takes_no_vocabulary_for_texts(self, stored):
        with pytest.raises(SourceError, match="its own vocabulary"):
            append(texts_source(["fox"]), stored.directory, vocabulary=["fox"])

    def test_goes_on_after_ten_thousand_writes(self, stored):
        for path in stored.directory.glob("g0001-*"):
            path.rename(path.with_name(path.name.replace("g0001", "g9999")))
        text = (stored.directory / "manifest.json").read_text().replace("g0001", "g9999")
        content = json.loads(text)
        del content["checksum"]
        diln.files.write_manifest(stored.directory, content)
        for number in range(3):
            assert len(append(texts_source(["fox"]), stored.directory)) == 6 + number

    def test_an_id_that_is_there_already_is_refused_and_nothing_changes(self, stored):
        before = tree(stored.directory)
        with pytest.raises(SourceError, match="same id '3'"):
            append(texts_source(["fox"], id=["3"]), stored.directory)
        assert tree(stored.directory) == before

    def test_to_no_corpus_is_refused_and_makes_nothing(self, tmp_path):
        with pytest.raises(StoreError, match="there is no corpus here"):
            append(texts_source(), tmp_path / "none")
        assert not (tmp_path / "none").exists()

    def test_wants_the_tokenizer_again_and_no_other_option(self, tmp_path):
        build(texts_source(["alpha beta"]), tmp_path / "corpus", tokenizer=str.split)
        with pytest.raises(ValueError, match="give it again"):
            append(texts_source(["alpha"]), tmp_path / "corpus")
        with pytest.raises(ValueError, match="leave them out"):
            append(texts_source(["alpha"]), tmp_path / "corpus", min_df=2, tokenizer=str.split)
        assert len(append(texts_source(["alpha"]), tmp_path / "corpus", tokenizer=str.split)) == 2


def test_a_corpus_of_many_shards_needs_few_file_descriptors(tmp_path, small_blocks, monkeypatch):
    monkeypatch.setattr(diln.corpus.assemble, "SHARD_BYTES", 1)
    corpus = build(texts_source(many()), tmp_path / "corpus")
    assert len(corpus._shards) > 20
    monkeypatch.setattr(store, "MAPPED_AT_ONCE", 2)
    opened = Corpus.open(tmp_path / "corpus")
    before = len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").exists() else 0
    assert (opened.counts != corpus.counts).nnz == 0
    assert opened.rows(np.arange(len(opened))[::-7]).shape[0] == -(-len(opened) // 7)
    assert opened.documents.ids == corpus.documents.ids
    assert len(opened._shards.mapped) == 2
    if before:
        assert len(list(Path("/proc/self/fd").iterdir())) <= before + 2 * 15


def test_a_shard_that_another_thread_has_let_go_is_read_all_the_same(tmp_path, small_blocks, monkeypatch):
    monkeypatch.setattr(diln.corpus.assemble, "SHARD_BYTES", 1)
    build(texts_source(many()), tmp_path / "corpus")
    shards = Corpus.open(tmp_path / "corpus")._shards
    let_go = shards._let_go

    def meanwhile(number):
        shards.mapped.pop(number, None)
        let_go(number)

    monkeypatch.setattr(shards, "_let_go", meanwhile)
    assert len(shards[0].offsets) == len(shards[0].offsets) > 1


def test_mapped_shards_leave_file_descriptors_to_others(monkeypatch):
    resource = pytest.importorskip("resource")
    for allowed, shards in ((64, 8), (256, 14), (1024, 59), (1 << 20, 256), (-1, 256)):
        monkeypatch.setattr(resource, "getrlimit", lambda which, allowed=allowed: (allowed, allowed))
        assert store.mapped_at_once() == shards


def test_an_empty_part_can_be_saved_and_looked_at(stored, tmp_path):
    empty = stored[[]].save(tmp_path / "empty")
    assert (len(empty), empty.n_tokens, empty.counts.shape) == (0, 0, (0, stored.n_terms))
    assert summarise(empty).documents == 0


class TestDamage:
    def every_file(self, corpus):
        return sorted(path for path in corpus.directory.rglob("*") if path.is_file() and path.name != ".lock")

    def read_all(self, directory):
        corpus = Corpus.open(directory)
        return corpus.counts, list(corpus.documents)

    def test_of_any_kind_to_any_file_is_named(self, stored, tmp_path):
        for number, path in enumerate(self.every_file(stored)):
            for kind in ("missing", "truncated", "flipped"):
                copy = tmp_path / f"{number}-{kind}"
                shutil.copytree(stored.directory, copy)
                victim = copy / path.relative_to(stored.directory)
                data = bytearray(victim.read_bytes())
                if kind == "missing":
                    victim.unlink()
                elif kind == "truncated":
                    victim.write_bytes(data[:-2])
                else:
                    data[len(data) // 2] ^= 1
                    victim.write_bytes(data)
                with pytest.raises(StoreError) as caught:
                    self.read_all(copy)
                message = str(caught.value)
                assert "\n" not in message
                assert victim.name in message or "no corpus here" in message
                assert "build" in message
                with pytest.raises(StoreError):
                    Corpus.open(copy, check=True)

    def test_that_a_bit_flipped_is_seen_before_wrong_numbers_are_given(self, stored):
        corpus = Corpus.open(stored.directory)
        path = next(stored.directory.glob("*/counts.npy"))
        data = bytearray(path.read_bytes())
        data[-1] ^= 4
        path.write_bytes(data)
        with pytest.raises(StoreError, match="does not match its checksum"):
            corpus.rows([0])

    def test_a_damaged_corpus_can_be_built_anew_but_not_added_to(self, stored):
        (stored.directory / "manifest.json").write_text("{")
        with pytest.raises(StoreError, match="build it again"):
            append(texts_source(["fox"]), stored.directory)
        with pytest.raises(StoreError, match="--force"):
            build(texts_source(), stored.directory)
        assert same(build(texts_source(), stored.directory, overwrite=True), Corpus.from_texts(TEXTS))

    def test_a_newer_format_and_a_foreign_one_are_told_apart(self, stored):
        content = manifest(stored)
        for change, message in (({"schema": 99}, "install a newer diln"), ({"format": "diln-model"}, "not a corpus")):
            (stored.directory / "manifest.json").write_text(json.dumps({**content, **change}))
            with pytest.raises(StoreError, match=message):
                Corpus.open(stored.directory)


class TestWriting:
    def test_never_touches_a_directory_with_other_things(self, tmp_path):
        (tmp_path / "thesis.tex").write_text("years of work")
        for overwrite in (False, True):
            with pytest.raises(StoreError, match=r"thesis\.tex"):
                build(texts_source(), tmp_path, overwrite=overwrite)
        assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]

    def test_a_corpus_is_replaced_only_when_told_to(self, stored):
        with pytest.raises(StoreError, match="overwrite=True"):
            build(texts_source(["one fox"]), stored.directory)
        corpus = build(texts_source(["one fox"]), stored.directory, overwrite=True)
        assert len(corpus) == 1
        assert len([path for path in stored.directory.iterdir() if path.is_dir()]) == 1  # the old one is gone

    def test_a_failed_build_leaves_the_old_corpus_or_nothing(self, stored, tmp_path, small_blocks):
        before = tree(stored.directory)
        for n_jobs in (1, 2):
            texts = [*many(2000), 17]
            with pytest.raises(TypeError, match="document 2000 is a int"):
                build(texts_source(texts), stored.directory, overwrite=True, n_jobs=n_jobs)
            assert tree(stored.directory) == before
            with pytest.raises(TypeError):
                build(texts_source(texts), tmp_path / "new", n_jobs=n_jobs)
            assert not (tmp_path / "new").exists()

    def test_another_writer_is_kept_out(self, stored):
        fcntl = pytest.importorskip("fcntl")
        with (stored.directory / ".lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            with pytest.raises(StoreError, match="another process is writing here"):
                append(texts_source(["fox"]), stored.directory)
        assert len(append(texts_source(["fox"]), stored.directory)) == 6

    def test_one_that_comes_too_late_leaves_the_other_alone(self, tmp_path, monkeypatch):
        fcntl = pytest.importorskip("fcntl")
        whole, other = diln.files.folders.locked, []

        def late(directory):  # another process takes the lock between the making of the directory and ours
            other.append((directory / ".lock").open("w"))
            fcntl.flock(other[0], fcntl.LOCK_EX)
            (directory / "g0001-00000").mkdir()
            return whole(directory)

        monkeypatch.setattr(diln.files.folders, "locked", late)
        with pytest.raises(StoreError, match="another process"):
            build(texts_source(), tmp_path / "corpus")
        assert (tmp_path / "corpus" / "g0001-00000").is_dir()
        other[0].close()

    def test_what_a_file_manager_leaves_does_not_matter(self, stored):
        (stored.directory / ".DS_Store").write_text("")
        assert len(append(texts_source(["fox"]), stored.directory)) == 6
        assert (stored.directory / ".DS_Store").exists()

    def test_a_directory_that_cannot_be_made_is_named(self, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(StoreError, match="cannot be made"):
            build(texts_source(), tmp_path / "file" / "corpus")

    def test_a_reader_keeps_what_it_has_opened_while_the_corpus_is_replaced(self, stored):
        counts = stored.counts.toarray()
        opened = Corpus.open(stored.directory)
        opened.rows([0])
        build(texts_source(["one fox"]), stored.directory, overwrite=True)
        np.testing.assert_array_equal(opened.counts.toarray(), counts)


ORPHAN = """
import sys, time
import diln.corpus.in_memory
from diln.corpus import build
from diln.corpus.in_memory import TextsSource
diln.corpus.in_memory.BLOCK_BYTES = 100

def slow(text):
    time.sleep(0.02)
    return text.split()

if __name__ == "__main__":
    build(TextsSource([f"old apple{j} pear{j}" for j in range(2000)], {}), sys.argv[1], n_jobs=2, tokenizer=slow)
"""


def test_workers_of_a_killed_build_write_nothing_into_the_next(tmp_path):
    (tmp_path / "orphan.py").write_text(ORPHAN)
    (tmp_path / "temporary").mkdir()
    env = {**os.environ, "TMPDIR": str(tmp_path / "temporary")}
    process = subprocess.Popen([sys.executable, tmp_path / "orphan.py", tmp_path / "corpus"], env=env)
    while len(list((tmp_path / "corpus").glob(".raw-*"))) < 20:
        time.sleep(0.05)
        assert process.poll() is None
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    workers = [int(pid) for pid in children.read_text().split()] if children.exists() else []
    process.kill()
    process.wait()
    texts = [f"new word{chr(97 + j)}" for j in range(26)]
    corpus = build(texts_source(texts), tmp_path / "corpus", max_df=1.0)
    assert list(corpus.documents.texts) == texts
    deadline = time.monotonic() + 20
    while any(Path(f"/proc/{pid}").exists() and "spawn_main" in _command(pid) for pid in workers):
        assert time.monotonic() < deadline, "a worker outlives the process that started it"
        time.sleep(0.1)
    if workers:
        assert list((tmp_path / "temporary").glob("diln-*")) == []


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


KILL = """
import json, os, signal, sys
import diln.corpus.building as building, diln.corpus.store as store, diln.files.folders as folders
from diln.corpus.in_memory import TextsSource
import diln.corpus.in_memory
diln.corpus.in_memory.BLOCK_BYTES = 100
HOMES = {"sink": building.DiskSink, "building": building, "folders": folders, "held": folders.Held,
         "path": store.Path}

def build(directory):
    texts = ["new fox number %d" % j for j in range(60)]
    building.build(TextsSource(texts, {}), directory, overwrite=True, max_df=1.0)

def die_at(home, name, nth):
    whole, calls = getattr(HOMES[home], name), [0]
    def fatal(*args, **kwargs):
        calls[0] += 1
        if calls[0] > nth:
            os.kill(os.getpid(), signal.SIGKILL)
        return whole(*args, **kwargs)
    setattr(HOMES[home], name, fatal)

build(sys.argv[1])  # once whole, so that those to be killed find all that they import
for point, directory in json.loads(sys.argv[2]):
    if os.fork() == 0:
        die_at(*point)
        build(directory)
        os._exit(0)
    print(os.WTERMSIG(os.wait()[1]))
"""

POINTS = [
    ("sink", "keep", 0),
    ("sink", "keep", 3),
    ("sink", "keep_numbers", 2),
    ("sink", "write", 0),
    ("building", "commit", 0),
    ("held", "commit", 0),
    ("path", "replace", 0),
    ("folders", "sweep", 1),  # after the new manifest is in place
]


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """Directories with and without an older corpus, after a build in each was killed at a point."""
    home = tmp_path_factory.mktemp("killed")
    made = {(point, there): home / f"{place}-{there}" for place, point in enumerate(POINTS) for there in (True, False)}
    for (_, there), directory in made.items():
        if there:
            build(texts_source(), directory)
    jobs = json.dumps([(point, str(directory)) for (point, _), directory in made.items()])
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # a process of several threads is not to be forked
    command = [sys.executable, "-c", KILL, str(home / "whole"), jobs]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert done.stdout.split() == [str(int(signal.SIGKILL))] * len(made), done.stderr
    return made


@pytest.mark.parametrize("point", POINTS, ids=str)
@pytest.mark.parametrize("there", [True, False], ids=["old corpus", "no corpus"])
def test_a_build_killed_at_any_point_leaves_the_old_corpus_or_the_new_one(killed, tmp_path, point, there):
    directory = killed[point, there]
    if point == ("folders", "sweep", 1):
        assert len(Corpus.open(directory, check=True)) == 60
    elif there:
        old = build(texts_source(), tmp_path / "old")
        np.testing.assert_array_equal(Corpus.open(directory, check=True).counts.toarray(), old.counts.toarray())
    else:
        with pytest.raises(StoreError, match="there is no corpus here"):
            Corpus.open(directory)
    corpus = build(texts_source(["alpha beta"]), directory, overwrite=True)
    assert len(corpus) == 1
    left = {path.name.split("-")[0] for path in directory.iterdir()}
    assert left == {".lock", "manifest.json", max(left - {".lock", "manifest.json"})}, "leftovers are swept away"
