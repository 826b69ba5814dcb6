"""A folder of texts: what cannot be read is said, and left out only on demand."""

import os
from pathlib import Path

import pytest

import diln.corpus.readers.folder
from diln.corpus import Corpus
from diln.errors import DilnWarning, SourceError


@pytest.fixture
def news(file, tmp_path):
    """A folder with two documents."""
    file("news/a.txt", "elk dog")
    file("news/sport/b.txt", "cat")
    return tmp_path / "news"


def make_dangling(folder):
    (folder / "c.txt").symlink_to("gone.txt")


def make_loop(folder):
    (folder / "c.txt").symlink_to("d.txt")
    (folder / "d.txt").symlink_to("c.txt")


def make_pipe(folder):
    os.mkfifo(folder / "c.txt")


def make_device(folder):
    (folder / "c.txt").symlink_to("/dev/zero")


def make_dangling_folder(folder):
    (folder / "c").symlink_to("gone")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (make_dangling, ["c.txt: cannot be read (a link to nothing)", "make it readable, or", "--skip-unreadable"]),
        (
            make_loop,
            ["news: 2 files or folders in it cannot be read, the first being", "c.txt (", "make them readable"],
        ),
        (make_pipe, ["c.txt: cannot be read (a pipe, socket or device, not a file)"]),
        (make_device, ["c.txt: cannot be read (a pipe, socket or device, not a file)"]),
        (make_dangling_folder, ["c: cannot be read (a link to nothing)"]),
    ],
)
def test_what_cannot_be_read_in_a_folder_is_an_error_that_names_it_and_can_be_left_out(news, make, said, capsys):
    make(news)
    with pytest.raises(SourceError) as raised:
        Corpus.read(news)
    assert all(part in str(raised.value) for part in said)
    corpus = Corpus.read(news, skip_unreadable=True)
    assert corpus.documents.ids == ["a.txt", "sport/b.txt"]
    assert corpus.tally.unreadable == (2 if make is make_loop else 1)
    assert f"left out what cannot be read ({corpus.tally.unreadable}, the first being" in capsys.readouterr().err


def test_a_file_without_permission_is_named(news, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "b.txt")
    with pytest.raises(SourceError, match=r"b\.txt: cannot be read \(Permission denied\)"):
        Corpus.read(news)
    corpus = Corpus.read(news, skip_unreadable=True)
    assert (corpus.documents.ids, corpus.tally.unreadable) == (["a.txt"], 1)


def test_a_folder_that_cannot_be_listed_is_named(news, monkeypatch):
    def scandir(path):
        if Path(path).name == "sport":
            raise PermissionError(13, "Permission denied", str(path))
        return listed(path)

    listed = os.scandir
    monkeypatch.setattr(diln.corpus.readers.folder.os, "scandir", scandir)
    with pytest.raises(SourceError, match=r"sport: cannot be read \(Permission denied\)"):
        Corpus.read(news)
    assert Corpus.read(news, skip_unreadable=True).tally.unreadable == 1


def test_a_file_that_goes_away_while_the_folder_is_read_is_no_less_an_error(news):
    for skip, ids in ((False, None), (True, ["a.txt"])):
        source = diln.corpus.readers.folder.FolderSource(news, skip_unreadable=skip)
        (news / "sport" / "b.txt").unlink(missing_ok=True)
        if skip:
            source.files.append((news / "sport" / "b.txt", 3))
            source.total = 2
            corpus = Corpus.read(source)
            assert (corpus.documents.ids, corpus.tally.unreadable) == (ids, 1)
        else:
            with pytest.raises(SourceError, match=r"b\.txt: cannot be read \(No such file"):
                Corpus.read(source)


def test_a_folder_in_which_nothing_can_be_read_says_so(tmp_path):
    make_dangling(tmp_path)
    for skip in (False, True):
        with pytest.raises(SourceError, match=r"c\.txt: cannot be read \(a link to nothing\); make it readable$"):
            Corpus.read(tmp_path, skip_unreadable=skip)


def test_links_to_files_are_followed_and_links_to_folders_are_said_not_to_be(news, tmp_path, capsys):
    (news / "again.txt").symlink_to("a.txt")
    (news / "all").symlink_to(".")
    assert Corpus.read(news).documents.ids == ["a.txt", "again.txt", "sport/b.txt"]
    assert "links to folders are not followed (1, the first being" in capsys.readouterr().err


def test_links_to_files_outside_a_folder_are_told_of(news, tmp_path, recwarn):
    (news / "again.txt").symlink_to("a.txt")
    (news / "sport" / "up.txt").symlink_to("../a.txt")
    assert len(Corpus.read(news)) == 4
    assert not [one for one in recwarn if "lead out" in str(one.message)]
    secret = tmp_path / "secret.txt"
    secret.write_text("elk fox")
    (news / "sport" / "c.txt").symlink_to(secret)
    (news / "z.txt").symlink_to("../secret.txt")
    with pytest.warns(DilnWarning, match=r"2 of its files are links that lead out of it.*c\.txt, to .*secret\.txt;"):
        assert len(Corpus.read(news)) == 6


def test_a_folder_that_is_reached_by_a_link_does_not_lead_out_of_itself(news, tmp_path, recwarn):
    (news / "again.txt").symlink_to("a.txt")
    (tmp_path / "other").symlink_to(news)
    assert len(Corpus.read(tmp_path / "other")) == 3
    assert not [one for one in recwarn if "lead out" in str(one.message)]


def test_stray_links_and_hidden_files_are_no_documents(news):
    (news / ".hidden.txt").symlink_to("gone")
    (news / "notes.md").symlink_to("gone")
    assert len(Corpus.read(news)) == 2


def test_a_document_of_a_folder_has_a_greatest_size(news, monkeypatch):
    monkeypatch.setattr(diln.corpus.readers.folder, "LONGEST", 5)
    with pytest.raises(SourceError, match=r"a\.txt: has more than 256 MB.*split it"):
        Corpus.read(news)
