"""A corpus that workers of a cluster have counted: the same bytes, through lost workers, and errors that name files."""

import gzip
import json
import os
import re

import numpy as np
import pytest
from clusters import processes
from deadly import FLAG, WORD, deadly

from diln.corpus import build
from diln.corpus.elsewhere import SharedSink, count_part, parts_of
from diln.corpus.options import open_with
from diln.corpus.readers.many import FileAt, NextLocal
from diln.corpus.rules import TextRule
from diln.corpus.shards import Shard
from diln.corpus.store import writing
from diln.engine.dask.engine import Dask
from diln.engine.threads import Threads
from diln.errors import SourceError, StoreError, WorkerError

WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa")


def documents(rng, first, number):
    for i in range(first, first + number):
        text = " ".join(rng.choice(WORDS, 12)) + f" own{i % 7}"
        yield {"id": f"d{i}", "text": text, "title": f"Title {i}", "date": f"{1 + i % 28:02}/11/2016"}


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """Files of one format, a folder of texts, and one file of all."""
    folder, rng = tmp_path_factory.mktemp("sources"), np.random.default_rng(0)
    (folder / "texts").mkdir()
    every = []
    for number in range(5):
        some = list(documents(rng, 40 * number, 40))
        every += some
        lines = "\n".join(json.dumps(one) for one in some)
        (folder / f"part{number}.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    for one in every[:60]:
        (folder / "texts" / f"{one['id']}.txt").write_text(one["text"], encoding="utf-8")
    (folder / "all.jsonl").write_text("\n".join(json.dumps(one) for one in every), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    flag = tmp_path_factory.mktemp("flag") / "deadly"
    os.environ[FLAG] = str(flag)
    try:
        with processes(2) as (client, workers), Dask(client, patience=60) as engine:
            yield engine, workers, flag
    finally:
        del os.environ[FLAG]


@pytest.fixture
def small_shards(monkeypatch):
    """Several shards of few documents."""
    monkeypatch.setattr("diln.corpus.assemble.SHARD_ENTRIES", 300)


def content(directory):
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


@pytest.mark.usefixtures("small_shards")
@pytest.mark.parametrize("source", ["part*.jsonl.gz", "texts", "all.jsonl", "file"])
def test_workers_build_the_corpus_that_processes_build(source, sources, cluster, tmp_path):
    given = f"file://{sources}/part*.jsonl.gz" if source == "file" else sources / source
    options = {"min_df": 2, "max_df": 1.0, "drop_duplicates": True}
    here = build(given, tmp_path / "here", **options)
    there = build(given, tmp_path / "there", engine=cluster[0], **options)
    assert len(there) == len(here) > 0
    assert content(tmp_path / "there") == content(tmp_path / "here")
    assert len(here._sizes) > 1 or source in ("texts", "all.jsonl")


@pytest.mark.usefixtures("small_shards")
def test_a_worker_that_is_killed_costs_its_part_alone(sources, cluster, tmp_path):
    engine, workers, flag = cluster
    for number in range(5):
        lines = [json.dumps({"id": f"{number}-{i}", "text": f"{WORD} alpha beta own{i}"}) for i in range(20)]
        (tmp_path / f"{number}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    options = {"tokenizer": deadly, "min_df": 1, "max_df": 1.0}
    build(tmp_path / "*.jsonl", tmp_path / "here", **options)
    flag.touch()
    build(tmp_path / "*.jsonl", tmp_path / "there", engine=engine, **options)
    assert not flag.exists()
    assert content(tmp_path / "there") == content(tmp_path / "here")
    assert not list((tmp_path / "there").glob(".raw*"))
    workers.whole(2)


def test_what_is_wrong_with_a_file_is_said_as_it_is_here_and_nothing_is_left(sources, cluster, tmp_path):
    for number, line in enumerate(['{"id": "a", "text": "alpha beta"}', '{"id": "b", "text": "alpha', "{}"]):
        (tmp_path / f"{number}.jsonl").write_text(line + "\n", encoding="utf-8")
    said = []
    for engine in (None, cluster[0]):
        with pytest.raises(SourceError) as raised:
            build(tmp_path / "*.jsonl", tmp_path / "corpus", engine=engine)
        said.append(str(raised.value))
        assert not (tmp_path / "corpus").exists()
    assert said[0] == said[1]
    assert "1.jsonl" in said[0]


def test_a_path_that_no_worker_sees_is_named_and_nothing_is_left(sources, cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(NextLocal, "at", lambda _, number: FileAt(tmp_path / f"nowhere{number}.jsonl.gz"))
    told = rf"^worker tcp://\S+ on \S+: does not see {re.escape(str(tmp_path))}/nowhere\d.jsonl.gz; give a path on a"
    with pytest.raises(WorkerError, match=told):
        build(sources / "part*.jsonl.gz", tmp_path / "corpus", engine=cluster[0])
    assert not (tmp_path / "corpus").exists()
    cluster[0]._tasks.unfit.clear()


def test_a_worker_that_does_not_see_the_corpus_or_the_folder_says_so(sources, tmp_path):
    sink = SharedSink(tmp_path / "nowhere", 1)
    opened = open_with(sources / "texts", {}).source
    (part,) = parts_of(opened)[0]
    with pytest.raises(StoreError, match=r"^does not see .*nowhere; give a path on a file system that all workers"):
        count_part(part, (TextRule(), sink), Threads(1))
    with writing(tmp_path / "corpus", "new"):
        opened.root = part.block.root.with_name("gone")
        (part,) = parts_of(opened)[0]
        with pytest.raises(StoreError, match=r"^does not see .*gone; "):
            count_part(part, (TextRule(), SharedSink(tmp_path / "corpus", 1)), Threads(1))


def test_what_a_lost_worker_has_written_is_nobodys(tmp_path):
    with writing(tmp_path / "corpus", "new"):
        sink = SharedSink(tmp_path / "corpus", 1)
        shard = Shard(np.array([0, 1]), np.array([0], np.uint8), np.array([2], np.uint8))
        first, second = sink.write(0, shard), sink.write(0, shard)
        assert first["name"] != second["name"]
        entry = sink.settled(0, second)
        assert entry["name"] == "g0001-00000"
        assert {**entry, "name": ""} == {**first, "name": ""}
        assert (tmp_path / "corpus" / "g0001-00000" / "terms.npy").exists()
    assert not (tmp_path / "corpus").exists()
