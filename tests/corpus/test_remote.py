"""Sources at URLs: the same corpus as from a file here, or one sentence that names the URL and none of its secrets."""

import gzip
import json
import subprocess
import sys
import tempfile
import time
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
from scipy.sparse import csr_array, save_npz
from web import Site

from diln.addresses import is_url, shown, without_secrets
from diln.corpus import Corpus, build
from diln.corpus.readers import remote, remote_folder, troubles
from diln.errors import DilnWarning, SourceError, StoreError
from diln.files.urls import as_local

pytest.importorskip("fsspec.registry")
WORDS = "ant bat bee cat cow dog elk fox hen owl ape asp auk cod eel emu ewe gnu jay pig".split()
TEXTS = [" ".join(WORDS[(7 * row + k * k) % 20] for k in range(6)) for row in range(300)]
ROWS = [{"id": f"d{row}", "text": text} for row, text in enumerate(TEXTS)]
JSONL = "".join(json.dumps(row) + "\n" for row in ROWS).encode()


def as_npz() -> bytes:
    file = BytesIO()
    counts = [[text.split().count(word) for word in WORDS] for text in TEXTS]
    save_npz(file, csr_array(np.array(counts)))
    return file.getvalue()


def as_ldac() -> bytes:
    lines = []
    for text in TEXTS:
        pairs = [f"{n}:{text.split().count(word)}" for n, word in enumerate(WORDS) if word in text.split()]
        lines.append(" ".join([str(len(pairs)), *pairs]))
    return "\n".join(lines).encode()


def as_parquet() -> bytes:
    import pyarrow
    import pyarrow.parquet

    file = BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(ROWS), file)
    return file.getvalue()


FILES = {
    "news.jsonl": JSONL,
    "news.jsonl.gz": gzip.compress(JSONL),
    "news.txt": "\n".join(TEXTS).encode(),
    "news.csv": ("id,text\n" + "\n".join(f"d{row},{text}" for row, text in enumerate(TEXTS))).encode(),
    "news.tsv.gz": gzip.compress(("id\ttext\n" + "\n".join(f"d{n}\t{text}" for n, text in enumerate(TEXTS))).encode()),
    "news.json": json.dumps(ROWS).encode(),
    "news.parquet": as_parquet(),
    "news.npz": as_npz(),
    "news.ldac": as_ldac(),
}


@pytest.fixture(autouse=True)
def no_long_waits(monkeypatch):
    monkeypatch.setattr(remote, "PAUSE", 0.001)


@pytest.fixture(autouse=True)
def scratch(tmp_path_factory, monkeypatch):
    """A folder for temporary files, which must be empty in the end."""
    folder = tmp_path_factory.mktemp("scratch")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


@pytest.fixture
def site():
    site = Site()
    site.files = dict(FILES)
    yield site
    site.close()


@pytest.fixture
def memory():
    """A file system in memory, empty before and after."""
    import fsspec

    fs = fsspec.filesystem("memory")
    yield fs
    fs.store.clear()
    fs.pseudo_dirs[:] = [""]


def options_of(name):
    return {"vocabulary": WORDS} if name.endswith((".npz", ".ldac")) else {}


def assert_same(corpus, other):
    assert corpus.vocabulary == other.vocabulary
    assert corpus.documents.ids == other.documents.ids
    assert (corpus.counts != other.counts).nnz == 0


def said_of(url, **options):
    with pytest.raises(SourceError) as raised:
        Corpus.read(url, **options)
    return str(raised.value)


@pytest.mark.parametrize("name", sorted(FILES))
@pytest.mark.parametrize("way", ["ranges", "whole"])
def test_a_file_on_the_web_is_the_corpus_of_the_file(site, file, name, way):
    assert_same(
        Corpus.read(site.url(f"{way}/{name}"), **options_of(name)),
        Corpus.read(file(name, FILES[name]), **options_of(name)),
    )


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_file_of_any_file_system_is_the_corpus_of_the_file(memory, file, name):
    memory.pipe(f"/shelf/{name}", FILES[name])
    here = file(name, FILES[name])
    for url in (f"memory://shelf/{name}", here.as_uri(), f"file://localhost{here}"):
        assert_same(Corpus.read(url, **options_of(name)), Corpus.read(here, **options_of(name)))


def test_a_query_is_sent_but_does_not_tell_the_format(site):
    assert len(Corpus.read(site.url("ranges/news.jsonl?sig=a.parquet"))) == 300
    site.files["export"] = JSONL
    assert "the name does not tell" in said_of(site.url("ranges/export?format=jsonl"))
    assert len(Corpus.read(site.url("ranges/export?format=jsonl"), format="jsonl")) == 300


def test_a_busy_server_is_asked_again(site):
    assert len(Corpus.read(site.url("busy/news.jsonl"))) == 300


@pytest.mark.parametrize(("way", "begins_again"), [("cut-once", False), ("cut-once-whole", True)])
def test_a_transfer_that_breaks_off_goes_on_where_it_was_if_the_server_can(site, file, way, begins_again):
    site.files["large.jsonl"] = JSONL.replace(b"\n", b" " * 20_000 + b"\n")  # more than a connection holds on its way
    assert_same(Corpus.read(site.url(f"{way}/large.jsonl")), Corpus.read(file("news.jsonl", JSONL)))
    asked = [one for one in site.asked if one.startswith("GET")]
    starts = [one.partition("bytes=")[2].partition("-")[0] for one in asked]
    assert starts[0] == "" and int(starts[1]) > 0
    assert (starts[-1] == "") is begins_again


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("404/news.jsonl", ["there is no such file or folder (the server says 404)", "check the address"]),
        ("403/news.jsonl", ["you have no permission to read it (the server says 403)", "signed"]),
        ("500/news.jsonl", ["the server answers with the error 500", "try again later"]),
        ("loop/news.jsonl", ["redirects without end"]),
        ("cut/news.jsonl", ["the transfer broke off"]),
        ("cut/news.jsonl.gz", ["the transfer broke off"]),
        ("chunks-cut/news.jsonl", ["the transfer broke off"]),
        ("slow/news.jsonl", ["nothing came for", "try again later"]),
        ("ranges/none.jsonl", ["there is no such file"]),
    ],
)
def test_what_does_not_come_is_one_sentence_without_secrets_and_builds_nothing(site, tmp_path, monkeypatch, path, said):
    monkeypatch.setattr(remote, "TIMEOUT", 0.3)
    url = site.url(f"{path}?signature=s3cret", login="user:pa55@")
    with pytest.raises(SourceError) as raised:
        build(url, tmp_path / "corpus")
    message = str(raised.value)
    assert message.startswith(f"{site.url(path)}: ")
    assert all(part in message for part in said)
    assert "s3cret" not in message and "pa55" not in message and "user" not in message
    assert not (tmp_path / "corpus").exists()


def test_a_host_that_is_not_there_is_named():
    site = Site()
    gone = site.url("ranges/news.jsonl")
    site.close()
    assert said_of(gone) == f"{gone}: the host cannot be reached; check the address and the connection"
    assert "there is no such host, or no network" in said_of("http://no-such-host.invalid/news.csv")


def test_a_full_disk_is_said_of_the_copy(site, monkeypatch):
    class Full(BytesIO):
        def write(self, data):
            raise OSError(28, "No space left on device")

    opened = remote.Path.open
    monkeypatch.setattr(
        remote.Path, "open", lambda path, mode="r", **options: Full() if mode == "xb" else opened(path, mode, **options)
    )
    assert "cannot be kept in a temporary file (No space left on device); make room, or set TMPDIR" in said_of(
        site.url("ranges/news.jsonl")
    )


def test_what_has_no_end_is_not_read_on(site, monkeypatch):
    def said_and_sent(path):
        site.sent = 0
        said = said_of(site.url(path))
        time.sleep(0.1)
        return said, site.sent >> 20

    site.files |= {f"shelf/{name}.txt": b"elk dog" for name in ("a", "b-endless", "c-endless", "d")}
    said, sent = said_and_sent("endless/shelf/")
    assert "shelf/b-endless.txt: has more than 256 MB, the most that a document can have" in said and sent < 320
    said, sent = said_and_sent("endless-page/shelf/")
    assert "its answer has no end, or is far too long" in said and sent < 320
    monkeypatch.setattr(remote, "LARGEST", 20 << 20)
    for path in ("endless/endless.txt", "endless/shelf/*endless.txt"):
        said, sent = said_and_sent(path)
        assert "has sent 20,971,520 bytes and goes on, with no word of its size" in said and sent < 100


def test_long_files_of_a_folder_on_the_web_are_read_one_by_one(site, monkeypatch):
    monkeypatch.setattr(remote_folder, "AT_ONCE", 1000)
    site.files = {f"shelf/{number}.txt": TEXTS[number].encode() * (1 + 99 * (number % 3 == 1)) for number in range(9)}
    site.files["shelf/9.txt"] = b"elk fox " * 600_000
    corpus = Corpus.read(site.url("ranges/shelf/"), stop_words=None, min_df=1, max_df=1.0)
    words = [len(site.files[f"shelf/{number}.txt"].split()) for number in range(10)]
    assert corpus.doc_lengths.tolist() == pytest.approx(words, abs=100)  # words at a joint are one
    assert [site.count(f"GET ranges/shelf/{number}.txt") for number in range(10)] == [1, 2, 1, 1, 2, 1, 1, 2, 1, 2]


def test_more_bytes_than_were_told_are_no_error_of_the_address(site):
    site.files = {f"shelf/{number}.txt": b"elk dog" for number in range(3)}
    rounds = (refused(site, 3) for _ in range(50))  # they may come so late that aiohttp has left the connection
    said = [troubles.trouble_of(error, site.url("more/")) for error in next(filter(None, rounds), [])]
    assert said and all("may send more bytes than it says" in one.reason and one.passing for one in said)


def refused(site, number):
    """What aiohttp raises of answers that are longer than they say, one after the other on one connection."""
    fs, paths = remote.Remote(site.url("more/")).fs, [site.url(f"more/shelf/{at}.txt") for at in range(number)]
    every = [fs.cat(paths[at : at + 1], on_error="return") for at in range(number)]
    return [one for found in every for one in found.values() if isinstance(one, Exception)]


@pytest.mark.parametrize(
    ("url", "shown_as"),
    [
        ("HTTP://{at}/ranges/news.jsonl", ""),
        ("simplecache::Http://{at}/ranges/news.jsonl", ""),
        ("filecache::blockcache::http://{at}/ranges/news.jsonl?sig=s3cret", ""),
        ("zip://news.jsonl::http://u:p@{at}/ranges/news.zip?sig=s3cret", "zip://news.jsonl::http://{at}/ranges/news.zip"),
        ("ZIP://*.jsonl::HTTP://{at}/ranges/news.zip#s3cret", "zip://news.jsonl::http://{at}/ranges/news.zip"),
    ],
)  # fmt: skip
def test_protocols_in_capitals_and_chains_are_read(site, file, capsys, url, shown_as):
    packed = BytesIO()
    with ZipFile(packed, "w") as archive:
        archive.writestr("news.jsonl", JSONL)
    site.files["news.zip"] = packed.getvalue()
    at = site.url("").partition("://")[2].rstrip("/")
    assert_same(Corpus.read(url.format(at=at)), Corpus.read(file("news.jsonl", JSONL)))
    assert (shown_as or "http://{at}/ranges/news.jsonl").format(at=at) in capsys.readouterr().err


def halves(memory, folder="/shelf/year=2024"):
    lines = JSONL.splitlines(keepends=True)
    memory.pipe(f"{folder}/b.jsonl.gz", gzip.compress(b"".join(lines[200:])))
    memory.pipe(f"{folder}/a.jsonl.gz", gzip.compress(b"".join(lines[:200])))


def test_a_pattern_reads_the_files_that_fit_in_order(memory, file, capsys):
    halves(memory)
    memory.pipe("/shelf/year=2024/c.csv", b"not wanted")
    found = Corpus.read("memory://shelf/year=2024/*.jsonl.gz")
    assert_same(found, Corpus.read(file("news.jsonl", JSONL)))
    assert "reading 2 files, the first being memory://shelf/year=2024/a.jsonl.gz" in capsys.readouterr().err


def test_a_pattern_of_files_here_needs_no_fsspec(file, tmp_path, monkeypatch):
    lines = JSONL.splitlines(keepends=True)
    file("part-1.jsonl", b"".join(lines[:100]))
    file("part-2.jsonl", b"".join(lines[100:]))
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    assert_same(Corpus.read(tmp_path / "part-?.jsonl"), Corpus.read(file("news.jsonl", JSONL)))
    assert_same(Corpus.read(f"file://{tmp_path}/part-*.jsonl"), Corpus.read(file("news.jsonl", JSONL)))
    assert "no file fits this pattern" in said_of(tmp_path / "*.csv")


def test_a_pattern_on_the_web_reads_the_page_of_the_folder(site, file):
    assert_same(Corpus.read(site.url("ranges/*.jsonl")), Corpus.read(file("news.jsonl", JSONL)))


def test_documents_of_many_files_without_ids_are_numbered_through(memory, tmp_path):
    memory.pipe("/shelf/a.txt", "\n".join(TEXTS[:3]).encode())
    memory.pipe("/shelf/b.txt", "\n".join(TEXTS[3:5]).encode())
    first = build("memory://shelf/*.txt", tmp_path / "corpus", min_df=1, max_df=1.0)
    assert first.documents.ids == ["1", "2", "3", "4", "5"]


def test_files_with_other_columns_or_formats_are_told(memory):
    memory.pipe("/shelf/a.csv", b"id,text\n1,elk dog\n")
    memory.pipe("/shelf/b.csv", b"text\ncat owl\n")
    said = said_of("memory://shelf/*.csv")
    assert "memory://shelf/b.csv: is read from the columns" in said and "--id none" in said
    assert len(Corpus.read("memory://shelf/*.csv", id="none", min_df=1, max_df=1.0)) == 2
    memory.pipe("/shelf/c.jsonl", JSONL)
    assert "memory://shelf/c.jsonl is jsonl and memory://shelf/a.csv is csv" in said_of("memory://shelf/*")
    assert "no file fits this pattern" in said_of("memory://shelf/*.tsv")


def test_a_fault_in_a_later_file_builds_nothing_and_leaves_no_copy(memory, tmp_path):
    halves(memory)
    memory.pipe("/shelf/year=2024/c.jsonl.gz", gzip.compress(JSONL.replace(b'"d', b'"e'))[:-400])
    memory.pipe("/shelf/year=2024/d.jsonl.gz", gzip.compress(JSONL))
    with pytest.raises(SourceError, match=r"c\.jsonl\.gz: the gzip file ends too early"):
        build("memory://shelf/year=2024/*.gz", tmp_path / "corpus")
    assert not (tmp_path / "corpus").exists()


def test_a_folder_elsewhere_is_the_corpus_of_the_folder(memory, site, file, tmp_path):
    for number, text in enumerate(TEXTS[:40]):
        name = f"{'sport/' if number % 3 else ''}{number:02}.txt"
        file(f"here/{name}", text)
        memory.pipe(f"/shelf/{name}", text.encode())
        site.files[f"shelf/{number:02}.txt"] = text.encode()
    memory.pipe("/shelf/.hidden.txt", b"elk")
    memory.pipe("/shelf/other.md", b"elk")
    here, there = Corpus.read(tmp_path / "here"), Corpus.read("memory://shelf")
    assert_same(there, here)
    assert there.documents.labels == here.documents.labels
    web = Corpus.read(site.url("ranges/shelf/"))
    assert web.documents.ids == [f"{number:02}.txt" for number in range(40)]


OUT = "".join(
    f'<a href="{link}">link</a>'
    for link in [
        "?C=N;O=D", "../", "/", "a.txt", "./a.txt", "a.txt#top", "b%20c.txt", "low/", "../more/", "../more/z.txt",
        "%2e%2e/more/z.txt", "low/../../more/z.txt", "/ranges/shelf/low/d.txt", "//elsewhere.invalid/w.txt",
        "https://elsewhere.invalid/v.txt?sig=hunter2", "mailto:x.txt", "javascript:void('.txt')", "http://[", "m.html",
    ]
)  # fmt: skip


def test_links_out_of_a_folder_on_the_web_are_not_followed_and_said_to_be_there(site):
    site.files = dict.fromkeys(("shelf/a.txt", "shelf/b%20c.txt", "shelf/low/d.txt", "more/z.txt"), b"elk dog")
    site.pages = {"shelf": OUT, "shelf/low": OUT.replace('"low/"', '"../low/"'), "more": '<a href="../shelf/">up</a>'}
    with pytest.warns(DilnWarning) as caught:
        corpus = Corpus.read(site.url("ranges/shelf/"), min_df=1, max_df=1.0)
    assert corpus.documents.ids == ["a.txt", "b%20c.txt", "low/d.txt"]
    (warning,) = {str(one.message) for one in caught}
    assert "/ranges/shelf/: links to 3 .txt files outside this folder, which are not read; the first is http" in warning
    assert "hunter2" not in warning
    assert not any("more" in asked for asked in site.asked)
    assert len(site.asked) < 40


def test_a_folder_on_the_web_that_keeps_to_itself_brings_no_warning(site, recwarn):
    site.files = {"shelf/a.txt": b"elk dog", "shelf/b.txt": b"cat owl"}
    site.pages = {"shelf": '<a href="../">up</a> <A HREF=a.txt>a</A> <a href="b.txt">b</a> <img src="/logo.txt">'}
    assert Corpus.read(site.url("ranges/shelf/"), min_df=1, max_df=1.0).documents.ids == ["a.txt", "b.txt"]
    assert not [one for one in recwarn if "outside" in str(one.message)]


def test_addresses_in_the_text_of_a_page_are_links_too(site):
    site.files = {"shelf/a.txt": b"elk dog", "shelf/b.txt": b"cat owl"}
    site.pages = {"shelf": f"get {site.url('ranges/shelf/a.txt')} or <b>{site.url('ranges/shelf/b.txt')}</b>"}
    assert Corpus.read(site.url("ranges/shelf/"), min_df=1, max_df=1.0).documents.ids == ["a.txt", "b.txt"]


def test_a_file_that_cannot_be_read_in_a_folder_elsewhere_is_named_or_left_out(site):
    site.files = {"shelf/a.txt": b"elk dog", "shelf/b.txt": b"cat owl"}
    real = remote.Remote.inside

    def and_one_more(self, suffix):
        return [*real(self, suffix), remote.RemoteFile(site.url("ranges/shelf/gone.txt"), "gone.txt", None)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(remote.Remote, "inside", and_one_more)
        assert said_of(site.url("ranges/shelf/")).startswith("gone.txt: there is no such file")
        corpus = Corpus.read(site.url("ranges/shelf/"), skip_unreadable=True, min_df=1, max_df=1.0)
    assert len(corpus) == 2 and corpus.tally.unreadable == 1


def test_a_folder_of_other_files_asks_for_a_pattern(memory):
    halves(memory)
    assert "such as 'memory://shelf/year=2024/*.jsonl.gz'" in said_of("memory://shelf/year=2024")


def test_a_corpus_elsewhere_is_to_be_copied(memory, file, tmp_path):
    build(file("news.jsonl", JSONL), tmp_path / "corpus")
    memory.put(str(tmp_path / "corpus"), "/shelf/corpus", recursive=True)
    assert "copy the folder here" in said_of("memory://shelf/corpus")
    with pytest.raises(StoreError, match=r"memory://shelf/corpus: .* copy it here"):
        Corpus.open("memory://shelf/corpus")
    assert len(Corpus.open((tmp_path / "corpus").as_uri())) == 300


def test_memory_does_not_hold_the_file(memory, monkeypatch):
    monkeypatch.setattr(remote, "PIECE", 1000)
    read = []
    real = remote._write
    monkeypatch.setattr(remote, "_write", lambda kept, piece, file: (read.append(len(piece)), real(kept, piece, file)))
    memory.pipe("/shelf/news.jsonl", JSONL)
    assert len(Corpus.read("memory://shelf/news.jsonl")) == 300
    assert sum(read) == len(JSONL) and max(read) <= 1000


def test_how_much_has_come_is_told(memory):
    class Steps(list):
        def note(self, text):
            pass

        def step(self, position, total, documents):
            self.append((position, total, documents))

    memory.pipe("/shelf/news.jsonl", JSONL)
    steps = Steps()
    Corpus.read("memory://shelf/news.jsonl", watch=steps)
    assert steps[0] == (len(JSONL), len(JSONL), 0)


@pytest.mark.parametrize(
    ("missing", "url", "said"),
    [
        ("fsspec.core", "https://host/a.csv", "needs fsspec; install it with: pip install 'diln[remote]'"),
        (
            "aiohttp",
            "https://host/a.csv",
            "needs a package that is missing; install it with: pip install 'diln[remote]'",
        ),
        (
            "s3fs",
            "s3://bucket/a.csv",
            "reading from s3:// needs a package that is missing; install it with: pip install",
        ),
        ("gcsfs", "gs://bucket/a.csv", "reading from gs:// needs a package that is missing; install it with: pip"),
        (
            "adlfs",
            "abfs://box/a.csv",
            "reading from abfs:// needs a package that is missing; install its package (Install",
        ),
    ],
)
def test_a_missing_package_is_named(monkeypatch, missing, url, said):
    monkeypatch.setitem(sys.modules, missing, None)
    for name in ("fsspec.implementations.http",) if missing == "aiohttp" else ():
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(sys.modules["fsspec.registry"], "_registry", {})
    assert said in said_of(url)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("nosuch://host/a.csv", "there is no protocol 'nosuch'"),
        ("file://host/a.csv", "write three slashes"),
        ("memory://shelf/none.csv", "memory://shelf/none.csv: there is no such file or folder"),
        (Path("https://host/a.csv"), "give a URL as a string, not as a Path"),
    ],
)
def test_an_address_that_leads_nowhere_is_said(url, said):
    assert said in said_of(url)


@pytest.mark.parametrize(
    ("url", "clean"),
    [
        ("https://u:p@host:80/a/b.csv?x=1#y", "https://host:80/a/b.csv"),
        ("https://token@host/a.csv", "https://host/a.csv"),
        ("https://host", "https://host"),
        ("s3://key:secret@bucket/a.csv", "s3://bucket/a.csv"),
        ("s3://bucket/year=2024/part-?.csv", "s3://bucket/year=2024/part-?.csv"),
        ("s3://bucket/a.csv?versionId=7", "s3://bucket/a.csv"),
        ("abfs://box@account/a.csv", "abfs://box@account/a.csv"),
        ("a?b.csv", "a?b.csv"),
    ],
)
def test_what_is_shown_of_a_url_has_no_secret(url, clean):
    assert shown(url) == clean
    assert without_secrets(f"Cannot open '{url}', sorry") == f"Cannot open '{clean}', sorry"


def test_names_that_are_no_urls(tmp_path):
    assert not is_url("news.csv") and not is_url("C://news.csv") and not is_url("builtin:docs") and not is_url(tmp_path)
    odd = tmp_path / "a b%20#?é.csv"
    assert as_local(odd.as_uri()) == odd


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("NoCredentialsError", "no credentials were found; set AWS_ACCESS_KEY_ID"),
        ("PermissionError", "you have no permission"),
        ("EndpointConnectionError", "cannot be reached"),
        ("Strange", "cannot be read (Strange: at https://h/a.csv); check the address"),
    ],
)
def test_errors_of_others_are_told_apart_by_name(kind, said):
    error = type(kind, (Exception,), {})("at https://u:p@h/a.csv?sig=1")
    assert said in troubles.trouble_of(error, "s3://bucket/a.csv").reason


def test_reading_a_file_here_does_not_load_fsspec(file):
    path = file("news.jsonl", JSONL)
    code = f"import sys; from diln import Corpus; Corpus.read({str(path)!r}); print('fsspec' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
