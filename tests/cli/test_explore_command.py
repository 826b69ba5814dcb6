"""``diln explore``, ``diln serve`` and ``diln fit --watch`` in processes of their own."""

import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from commands import diln

pytest.importorskip("uvicorn", reason="the explorer needs fastapi and uvicorn")

LONG = (
    b"POST /api/read HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 999999\r\n\r\n{"
)
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/")


def started(*args: object) -> tuple[subprocess.Popen[str], str]:
    """A command that serves, and the address that it says."""
    command = [sys.executable, "-m", "diln", *map(str, args)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = ""
    while line := process.stdout.readline():
        said += line
        if found := ADDRESS.search(line):
            return process, found[0]
    process.wait(10)
    raise AssertionError(said)


def asked(address: str) -> tuple[int, dict]:
    with urllib.request.urlopen(address, timeout=60) as answer:
        return answer.status, json.loads(answer.read())


def ended(process: subprocess.Popen[str], number: int = signal.SIGINT) -> tuple[int, str]:
    process.send_signal(number)
    rest = process.communicate(timeout=60)[0]
    return process.returncode, rest


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_model_is_explored_until_ctrl_c(shelf, tmp_path, number, code):
    model = shutil.copytree(shelf / "lda", tmp_path / "lda")
    process, address = started("explore", model, "--corpus", shelf / "corpus", "--no-browser", "--port", 0, "-q")
    assert asked(f"{address}api/model")[1]["kind"] == "LDA"
    with urllib.request.urlopen(address, timeout=60) as answer:
        assert b"<!doctype html>" in answer.read()
    returned, said = ended(process, number)
    assert returned == code
    assert "Traceback" not in said


def test_an_api_alone_is_served(shelf):
    process, address = started("serve", shelf / "hdp", "--port", 0, "--read-only", "-q")
    try:
        assert asked(f"{address}api/topics")[0] == 200
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(address, timeout=60)
        port = int(address.rpartition(":")[2].strip("/"))
        for begun in (
            b"",
            b"GET /api/topics HT",
            b"\x00\xff\r\n\r\n",
            LONG,
            b"GET /api/export/documents.csv HTTP/1.1\r\n",
        ):
            with socket.create_connection(("127.0.0.1", port)) as away:  # a browser that goes away
                away.sendall(begun)
        assert asked(f"{address}api/topics")[0] == 200
    finally:
        assert ended(process)[0] == 130


def test_a_port_in_use_is_told_or_the_next_is_taken(shelf):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = diln("explore", shelf / "lda", "--port", port, "--no-browser")
        assert done.code == 2
        assert f"port {port} is in use" in done.err
    with socket.socket() as usual:
        usual.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does
        try:
            usual.bind(("127.0.0.1", 8642))
            usual.listen()
        except OSError:
            pass  # somebody has it
        process, address = started("serve", shelf / "lda")
        try:
            assert ":8642/" not in address
            assert asked(f"{address}api/model")[0] == 200
        finally:
            ended(process)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        ("missing", "there is no model here"),
        ("foreign", "not a model"),
        ("damaged", "damaged"),
        ("text", "no model here"),
    ],
)
def test_what_is_no_model_is_told(shelf, tmp_path, spoil, said):
    model = tmp_path / "model"
    if spoil == "foreign":
        shutil.copytree(shelf / "corpus", model)
    elif spoil == "damaged":
        shutil.copytree(shelf / "lda", model)
        (model / "manifest.json").write_text("{")
    elif spoil == "text":
        model.write_text("hello")
    done = diln("explore", model, "--port", 0, "--no-browser", "-q")
    assert done.code == 2
    assert said in done.err
    assert "Traceback" not in done.err


def test_a_corpus_that_is_not_the_models_is_told(shelf, tmp_path):
    texts = tmp_path / "other.txt"
    texts.write_text("".join(f"apple wheel violin vote number{at % 7}\n" for at in range(60)))
    assert diln("corpus", "build", texts, "-o", tmp_path / "other", "-q", "--min-df", 1, "--max-df", "1.0").code == 0
    done = diln("explore", shelf / "lda", "--corpus", tmp_path / "other", "--port", 0, "--no-browser", "-q")
    assert done.code == 2
    assert "trained on none" in done.err


def test_no_host_is_told(shelf):
    done = diln("serve", shelf / "lda", "--host", "no.such.host.invalid", "--port", 0, "-q")
    assert done.code == 2
    assert "no.such.host.invalid" in done.err


def test_missing_packages_are_named(shelf, monkeypatch):
    monkeypatch.setattr("diln.cli.explore.NEEDED", ("no_such_package",))
    done = diln("explore", shelf / "lda")
    assert done.code == 2
    assert "pip install 'diln[explore]'" in done.err


def test_others_need_a_token(shelf):
    command = [sys.executable, "-m", "diln", "serve", str(shelf / "lda"), "--host", "0.0.0.0", "--port", "0", "-q"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    address = re.search(r"http://127\.0\.0\.1:\d+/\?token=[\w-]+", process.stdout.readline())[0]
    bare, _, token = address.partition("?token=")
    try:
        with pytest.raises(urllib.error.HTTPError, match="401"):
            asked(f"{bare}api/model")
        request = urllib.request.Request(f"{bare}api/model", headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert answer.status == 200
    finally:
        ended(process)


def test_a_fit_is_watched_from_its_first_sweep_to_its_model(shelf, tmp_path):
    model = tmp_path / "model"
    options = ("--watch", "--topics", 5, "--max-iter", 500_000, "--states", 400_000)
    process, address = started("fit", shelf / "corpus", "-o", model, *options)
    try:
        assert (tmp_path / "model.training").is_dir()
        assert asked(f"{address}api/model")[1]["watching"]
        with urllib.request.urlopen(f"{address}api/training/events?since=0", timeout=60) as stream:
            seen = "".join(stream.readline().decode() for _ in range(12))
        assert "event: progress" in seen
        process.send_signal(signal.SIGINT)  # the fit ends, and keeps its model
        assert process.wait(60) == 130
    finally:
        process.kill()
        process.communicate()
    assert (model / "manifest.json").exists()
    assert not (tmp_path / "model.training").exists()
    time.sleep(0.2)
    for _ in range(50):  # the explorer ends with the fit
        try:
            asked(f"{address}api/model")
        except OSError:
            return
        time.sleep(0.1)
    raise AssertionError("the explorer goes on")


def test_a_watched_fit_shows_its_model_when_it_is_done(shelf, tmp_path):
    model = tmp_path / "model"
    process, address = started("fit", shelf / "corpus", "-o", model, "--watch", "--topics", 5, "--max-iter", 20)
    try:
        for _ in range(600):
            found = asked(f"{address}api/model")[1]
            if found["ready"]:
                break
            time.sleep(0.1)
        assert found["kind"] == "DILN"
        assert asked(f"{address}api/topics")[0] == 200
    finally:
        code, said = ended(process)
    assert code == 0
    assert "explore the model at" in said
    assert not Path(f"{model}.training").exists()
