"""Sources in S3: a real server of moto's, on loopback, asked by s3fs."""

import gzip
import json

import pytest

from diln.corpus import Corpus, build
from diln.corpus.readers import remote
from diln.errors import SourceError

pytest.importorskip("s3fs")
moto_server = pytest.importorskip("moto.server")
WORDS = "ant bat bee cat cow dog elk fox hen".split()
ROWS = [{"id": f"d{row}", "text": " ".join(WORDS[(row + k * k) % 9] for k in range(3))} for row in range(30)]


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.fixture(scope="module")
def endpoint():
    """A server with a bucket of files."""
    import s3fs

    server = moto_server.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    address = "http://{}:{}".format(*server.get_host_and_port())
    fs = s3fs.S3FileSystem(key="key", secret="s3cret", endpoint_url=address, skip_instance_cache=True)
    fs.mkdir("news")
    fs.pipe("news/all.jsonl", lines(ROWS))
    fs.pipe("news/year=2024/a.jsonl.gz", gzip.compress(lines(ROWS[:20])))
    fs.pipe("news/year=2024/b.jsonl.gz", gzip.compress(lines(ROWS[20:])))
    fs.pipe({f"news/texts/{row['id']}.txt": row["text"].encode() for row in ROWS})
    yield address
    server.stop()


@pytest.fixture(autouse=True)
def environment(endpoint, monkeypatch, tmp_path):
    """What leads to the server, and to no other."""
    monkeypatch.setattr(remote, "PAUSE", 0.001)
    for name, value in {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "s3cret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": str(tmp_path / "none"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "none"),
    }.items():
        monkeypatch.setenv(name, value)


def test_a_file_a_pattern_and_a_folder_in_a_bucket_are_read(tmp_path):
    whole = Corpus.read("s3://news/all.jsonl")
    parts = build("s3://news/year=2024/*.jsonl.gz", tmp_path / "corpus", n_jobs=2)
    assert whole.documents.ids == parts.documents.ids == [row["id"] for row in ROWS]
    assert (whole.counts != parts.counts).nnz == 0
    texts = Corpus.read("s3://news/texts")
    assert texts.documents.ids == sorted(f"{row['id']}.txt" for row in ROWS)
    assert texts.n_tokens == whole.n_tokens


def test_a_large_file_comes_in_pieces(monkeypatch):
    monkeypatch.setattr(remote, "PIECE", 1 << 10)
    assert len(Corpus.read("s3://news/all.jsonl")) == len(ROWS)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("s3://news/none.jsonl", "s3://news/none.jsonl: there is no such file or folder"),
        ("s3://no-such-bucket/a.jsonl", "there is no such file or folder"),
        ("s3://news/*.csv", "no file fits this pattern"),
        ("s3://news/year=2024", "such as 's3://news/year=2024/*.jsonl.gz'"),
    ],
)
def test_what_is_not_there_is_said(url, said):
    with pytest.raises(SourceError) as raised:
        Corpus.read(url)
    assert said in str(raised.value) and "s3cret" not in str(raised.value)


def test_missing_credentials_are_said_with_where_they_come_from(monkeypatch):
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(SourceError, match=r"s3://news/all\.jsonl: no credentials were found; set AWS_ACCESS_KEY_ID"):
        Corpus.read("s3://news/all.jsonl")


def test_a_server_that_is_gone_is_said(monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    monkeypatch.setattr(remote, "TRIES", 2)
    with pytest.raises(SourceError, match=r"s3://news/all\.jsonl: the host cannot be reached"):
        Corpus.read("s3://news/all.jsonl")
