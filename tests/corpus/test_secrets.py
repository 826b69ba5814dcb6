"""No user, password, query or fragment of a URL is shown or stored, whatever its shape and whoever complains."""

import json
import os
import random
import subprocess
import sys
from itertools import product
from string import ascii_letters, digits

import pytest
from web import Site

from diln.addresses import HIDDEN, is_url, shown, without_secrets
from diln.corpus import Corpus, build
from diln.corpus.readers import remote
from diln.corpus.readers.troubles import trouble_of
from diln.errors import DilnError, SourceError

pytest.importorskip("fsspec.registry")
LOGINS = [
    "bob:{}@",
    "{}:x-oauth@",
    "{}:{}@",
    "bob:{}@{}@",
    "bob:{}/{}@",
    "bob:{}?{}@",
]
HOSTS = ["host", "host:80", "[::1]:80", "bucket.s3.example.org", "h%C3%A9", "127.0.0.1", ""]
PATHS = ["", "/", "/a/news.csv", "/year=2024/part-0.csv.gz", "/*.csv", "/a%20b::c.txt", "/~u/[1].jsonl"]
QUERIES = ["", "?sig={}", "?a=1&X-Amz-Signature={}&b=2", "?sig={}#{}", "?token={}&%2B=1", "?sig={}&at=@h/", "?x=/&y={}"]
WEB, OTHER = ["http", "https", "HTTP", "ftp", "sftp", "webdav"], ["s3", "S3a", "gs", "github", "smb", "oss"]
LINKS = ["", "simplecache::", "zip://news.csv::", "filecache::zip://*.csv::", "tar://a/b.txt::simplecache::"]


def urls(number=4000):
    """URLs of many shapes, each with the secrets in it."""
    rng = random.Random(5)
    for _ in range(number):
        secrets: list[str] = []

        def filled(part, secrets=secrets):
            while "{}" in part:
                secrets.append("".join(rng.choices(ascii_letters + digits + "!$()*,;-_~", k=rng.randrange(6, 20))))
                part = part.replace("{}", secrets[-1], 1)
            return part

        protocol = rng.choice(WEB + OTHER)
        query = rng.choice(QUERIES[:3] if protocol in OTHER else [*QUERIES, "#{}", "?{}"])
        url = rng.choice(LINKS) + protocol + "://" + rng.choice(["", *LOGINS]) + rng.choice(HOSTS)
        yield filled(url + rng.choice(PATHS) + query), secrets


def test_what_is_shown_of_a_url_of_any_shape_has_no_secret():
    for url, secrets in urls():
        assert is_url(url)
        texts = [
            shown(url),
            shown(shown(url)),
            without_secrets(f"Cannot open <{url}> as '{url}', see {url}"),
            without_secrets("".join(f"[{secret}]" for secret in secrets), url),
            str(DilnError(f"{url}: cannot be read")),
            trouble_of(OSError(f'Invalid bucket name "{"/".join(secrets)}" of {url}'), url).reason,
        ]
        assert not [(url, text) for text, secret in product(texts, secrets) if secret in text]


def test_what_is_no_secret_is_shown():
    for url in (
        "http://[::1]:8000/a.csv", "s3://news/year=2024/part-?.csv", "zip://a::b.csv::s3://news/a.zip", "abfs://box@me/a",
        "https://host/@user/a.csv", "simplecache::gs://news/*.csv", "a@b?c=d.csv", "C://a@b?c.csv", "x::y.csv",
    ):  # fmt: skip
        assert shown(url) == url and without_secrets(f"see {url}") == f"see {url}"
    assert shown("http://bob:a/b@host/x.csv") == f"http://{HIDDEN}"


class AngryError(Exception):
    """An error of a library that quotes all that it was told."""


@pytest.mark.parametrize("ask", ["info", "glob", "find", "cat", "open"])
def test_errors_of_libraries_are_told_without_secrets(monkeypatch, ask):
    import fsspec

    url = "memory://bob:hunter2@shelf/news.csv?sig=s1gnature"
    monkeypatch.setattr(remote, "PAUSE", 0.0)
    memory = type(fsspec.filesystem("memory"))
    real = memory.open

    def angry(self, *args, **options):
        raise AngryError(f"GET {url} as bob with hunter2 and s1gnature: {args} {options}")

    monkeypatch.setattr(memory, ask, angry)
    with pytest.raises(SourceError) as raised:
        there = remote.Remote(url)
        there.matching() if ask == "glob" else there.inside(".txt") if ask == "find" else there.file()
        if ask == "cat":
            raise there.texts([remote.RemoteFile("/x", shown(url), 3)])[0]
        Corpus.read(url)
    assert real is not None and "hunter2" not in str(raised.value) and "s1gnature" not in str(raised.value)


@pytest.fixture
def site():
    site = Site()
    lines = [
        json.dumps({"id": f"d{row}", "text": "elk dog fox cat"[: 4 + row % 12], "when": "02/03/17"})
        for row in range(60)
    ]
    site.files = {"news.jsonl": "\n".join(lines).encode(), "bad.csv": b"id,text\n1,a,b\n"}
    yield site
    site.close()


RUN = """
import json, sys
from diln.cli.main import main
for args in json.load(sys.stdin):
    sys.argv = ["diln", *args]
    try:
        main()
    except SystemExit as ended:
        print("ended with", ended.code)
"""


def test_nothing_stored_or_printed_has_a_secret(site, tmp_path):
    """Notes, progress, warnings, errors, JSON; corpora, models, comparisons."""
    login, query = "bob:hunter2@", "?sig=s1gnature"
    news, bad, gone = (
        site.url(f"{path}{query}", login) for path in ("ranges/news.jsonl", "ranges/bad.csv", "403/n.csv")
    )
    small = tmp_path / "small.txt"
    small.write_text("elk dog fox\ncat dog elk\n" * 20)
    few = ["--min-df", "1", "--max-df", "1.0", "--date", "when"]
    out = [f"{tmp_path}/{number}" for number in range(4)]
    commands = [
        ["corpus", "build", news, "-o", out[0], *few],
        ["corpus", "build", f"simplecache::{news}", "-o", out[1], *few],
        ["fit", news, "-o", out[2], "--passes", "3", "--topics", "2", *few],
        ["evaluate", out[2], news, "--json"],
        ["corpus", "build", bad, "-o", out[3]],
        ["corpus", "build", gone, "-o", out[3]],
        ["corpus", "build", f"zip://x.csv::{gone}", "-o", out[3]],
        ["corpus", "build", "s3://bob:hunter2@bucket/x.csv", "-o", out[3]],
        ["corpus", "build", str(small), "-o", out[3], "--vocabulary", news],
        ["corpus", "build", str(small), "-o", out[3], "--stop-words", news],
        ["info", news],
        ["diff", news, f"zip://a::{news}"],
    ]
    done = subprocess.run(
        [sys.executable, "-c", RUN], input=json.dumps(commands), capture_output=True, text=True, check=True,
        env={**os.environ, "AWS_EC2_METADATA_DISABLED": "true", "AWS_ENDPOINT_URL": site.url("")},
    )  # fmt: skip
    said = done.stdout + done.stderr
    assert said.count("ended with 0") == 4 and said.count("ended with 2") == 8
    stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert shown(news) in said and len(stored) > 10_000
    for secret in ("hunter2", "s1gnature"):
        assert secret not in said and secret.encode() not in stored
        assert not [path for path in tmp_path.rglob("*") if secret in path.name]


def test_a_note_of_python_has_no_secret(site, tmp_path, capfd):
    url = site.url("ranges/news.jsonl?sig=s1gnature", "bob:hunter2@")
    with pytest.warns(UserWarning, match="can be read in more than one way") as warned:
        build(url, tmp_path / "corpus", min_df=1, max_df=1.0, date="when")
    said = "".join(capfd.readouterr()) + "".join(str(one.message) for one in warned)
    assert shown(url) in said and "hunter2" not in said and "s1gnature" not in said
