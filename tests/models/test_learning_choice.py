"""Where nobody says how to learn, memory and the number of documents decide, and a sentence says what and why."""

import subprocess
import sys

import pytest
from killing import write_corpus

from diln import HDP, Sampling
from diln.corpus import Corpus
from diln.models import memory
from diln.models.choice import chosen
from diln.models.parameters import parameters_of

MANY = (3_000_000, 300_000_000)  # documents and tokens: 3.1 GB


def limited(monkeypatch, tmp_path, limit, used=0.0):
    """A container with so much memory, as the kernel tells of it."""
    (tmp_path / "memory.max").write_text(f"{limit:.0f}\n")
    (tmp_path / "memory.current").write_text(f"{used:.0f}\n")
    (tmp_path / "meminfo").write_text("MemAvailable:   1000000000 kB\n")
    total, free = memory.total, memory.free
    monkeypatch.setattr(memory, "total", lambda: total(tmp_path))
    monkeypatch.setattr(memory, "free", lambda: free(tmp_path / "meminfo", tmp_path))


def choose(n_docs, n_tokens, here=True, **given):
    return chosen(parameters_of("HDP", given), n_docs, n_tokens, here=here)


@pytest.mark.parametrize(
    ("limit", "used", "documents", "method", "on_disk", "said"),
    [
        (8e9, 0, (20_000, 2e6), "batch", False, "batch, for there are up to 20,000 documents; documents take 20.6 MB"),
        (8e9, 0, (20_001, 2e6), "grow", False, "grow, for there are more than 20,000 documents of up to 200 million"),
        (2e9, 0, (10**6, 1.5e8), "grow", True, "would take 1.5 GB of memory and may take 1.0 GB, half of what is free"),
        (8e9, 0, MANY, "grow", False, "grow, for there are more than 20,000 documents, and memory for all of them"),
        (8e9, 7e9, MANY, "grow", True, "3,000,000 documents would take 3.1 GB of memory and may take 500.0 MB"),
        (4e9, 0, MANY, "online", False, "200 million tokens, which would take 3.1 GB of memory and may take 2.0 GB"),
    ],
)
def test_auto_chooses_by_the_limit_of_a_container(limit, used, documents, method, on_disk, said, monkeypatch, tmp_path):
    limited(monkeypatch, tmp_path, limit, used)
    choice = choose(*documents)
    assert (choice.method, choice.on_disk) == (method, on_disk)
    assert choice.sentence.startswith(f"learning: {method}, for ")
    assert said in choice.sentence
    assert choice.warns == (on_disk or method == "online")
    assert choice.line == ("" if choice.warns else choice.sentence)


def test_memory_that_is_asked_for_stands_above_what_there_is(monkeypatch, tmp_path):
    limited(monkeypatch, tmp_path, 1e9)
    assert choose(*MANY).method == "online"
    assert choose(*MANY, memory="4 GB")[:2] == ("grow", False)
    told = choose(*MANY, memory="4 GB").sentence
    assert "documents take 3.1 GB of memory and may take 4.0 GB" in told
    assert "half" not in told


def test_the_method_does_not_follow_what_happens_to_be_free(monkeypatch, tmp_path):
    methods = set()
    for used in (0, 4e9, 7.9e9):
        with monkeypatch.context() as patch:
            limited(patch, tmp_path, 8e9, used)
            methods.add(choose(*MANY).method)
    assert methods == {"grow"}


def test_what_is_told_is_done_and_nothing_is_said_but_that_documents_go_to_disk(monkeypatch, tmp_path):
    limited(monkeypatch, tmp_path, 4e9)
    assert choose(*MANY, learning_method="online") == ("online", False, "", False)
    assert choose(100, 1000, learning_method="grow") == ("grow", False, "", False)
    asked = choose(*MANY, learning_method="grow", memory="1 GB")
    assert asked[:2] == ("grow", True)
    assert not asked.warns
    assert asked.line.startswith("3,000,000 documents would take 3.1 GB of memory and may take 1.0 GB: they are kept")
    assert choose(*MANY, learning_method="batch", here=False) == ("batch", False, "", False)


def test_variational_inference_learns_in_batch():
    assert choose(*MANY, inference="variational")[:2] == ("batch", False)
    assert choose(*MANY, inference="variational", learning_method="online") == ("online", False, "", False)


def test_a_fit_tells_its_choice_once(tmp_path, capfd):
    path = write_corpus(tmp_path / "corpus", 60)
    HDP(3, max_iter=2, random_state=0, verbose=1, inference=Sampling(memory="5 MB")).fit(Corpus.open(path))
    written = capfd.readouterr().err
    assert written.count("learning: batch, for there are up to 20,000 documents; documents take") == 1
    command = [sys.executable, "-m", "diln", "fit", str(path), "-o", str(tmp_path / "model"), "--topics", "3"]
    command += ["--passes", "2", "--memory", "5 MB"]
    found = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert found.stderr.count("learning: batch, for there are up to 20,000 documents; documents take") == 1
    found = subprocess.run([*command, "--force", "--quiet"], capture_output=True, text=True, timeout=300, check=True)
    assert "learning: batch, for" not in found.stderr
