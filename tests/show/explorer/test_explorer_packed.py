"""Answers to other machines are packed: the same text, smaller; and what must not be packed is not."""

import pytest
from shop import client

TOKEN = "secret-token"
PATHS = (
    "/",
    "/app.js",
    "/diln/base.css",
    "/openapi.json",
    "/docs",
    "/api/topics",
    "/api/map",
    "/api/themes",
    "/api/documents",
)


@pytest.fixture
def far(desk):
    """A server that others can reach, and somebody who has its token."""
    page = client(desk, token=TOKEN, host="0.0.0.0")
    page.headers = {"authorization": f"Bearer {TOKEN}"}
    return page


def plain(page, path, **params):
    return page.get(path, headers={"accept-encoding": "identity"}, params=params)


def packed(page, path, encoding="gzip, br", **params):
    return page.get(path, headers={"accept-encoding": encoding}, params=params)


@pytest.mark.parametrize("path", PATHS)
def test_a_text_is_packed_for_other_machines_alone(far, page, path):
    whole, small, here = plain(far, path), packed(far, path), packed(page, path)
    assert small.content == whole.content  # which the client has unpacked
    assert small.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in whole.headers
    assert "content-encoding" not in here.headers
    assert int(small.headers["content-length"]) < 0.6 * len(whole.content)
    for answer in (whole, small):
        assert answer.headers["vary"] == "Accept-Encoding"
    assert packed(far, path).content == whole.content  # kept answers, too
    assert "content-encoding" not in plain(far, path).headers


def test_an_export_is_packed_as_it_comes(far):
    whole, small = plain(far, "/api/export/documents.csv"), packed(far, "/api/export/documents.csv")
    assert small.headers["content-encoding"] == "gzip"
    assert small.content == whole.content
    assert small.text.count("\n") == 161


def test_what_is_small_or_a_stream_is_not_packed(far):
    assert "content-encoding" not in packed(far, "/api/documents", q="nothingofthekind").headers
    assert "content-encoding" not in packed(far, "/api/training/events").headers


def test_a_packed_file_that_the_browser_has_is_not_sent_again(far):
    first = packed(far, "/app.js")
    assert first.headers["etag"].startswith('W/"')  # the same whether packed or not
    assert first.headers["etag"] == plain(far, "/app.js").headers["etag"]
    again = far.get("/app.js", headers={"accept-encoding": "gzip", "if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["vary"] == "Accept-Encoding"


def test_no_answer_has_the_token_in_it(far, desk):
    for path in PATHS:
        assert TOKEN not in packed(far, path, q=TOKEN[:6]).text
    far.headers = {}
    for path in ("/", "/api/model"):
        refused = packed(far, path, token="wrong")
        assert refused.status_code == 401
        assert TOKEN not in refused.text
        assert "content-encoding" not in refused.headers
    redirected = far.get("/", params={"token": TOKEN, "x": 2000 * "x"}, follow_redirects=False)
    assert redirected.status_code == 303
    assert "content-encoding" not in redirected.headers
    assert TOKEN not in redirected.text
    far.cookies.clear()
