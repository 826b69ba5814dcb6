"""Whom the server answers: its own page, on its own host, with its token; and what no answer is without."""

import asyncio
import re

import pytest
from shop import client

from diln.show.explorer.desk import Desk, Refused, Turns
from diln.show.explorer.guard import Guard
from diln.show.explorer.settings import Settings, host_name, is_loopback


@pytest.fixture(scope="module")
def empty():
    return client(Desk())


@pytest.fixture(scope="module")
def far():
    """A server that others can reach."""
    return client(Desk(), token="secret-token", host="0.0.0.0", hosts=frozenset({"localhost", "office"}))


def test_every_answer_has_its_headers(empty):
    for path in ("/", "/api/model", "/api/topics", "/nothing", "/docs"):
        headers = empty.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe-inline" not in re.search("script-src ([^;]*)", policy)[1]
        assert "http" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "no-store" in empty.get("/api/model").headers["cache-control"]


def test_the_page_has_no_script_inside_but_its_import_map(empty):
    answer = empty.get("/")
    inside = re.findall(r"<script(?![^>]*src=)[^>]*>", answer.text)
    assert inside == ['<script type="importmap">']
    assert "'sha256-" in answer.headers["content-security-policy"]
    assert " on" not in "".join(re.findall(r"<\w+( on\w+=)", answer.text))


@pytest.mark.parametrize("host", ["localhost", "localhost:1", "127.0.0.1:8642", "[::1]:8642", "127.1.2.3"])
def test_this_machine_is_known_by_its_names(empty, host):
    assert empty.get("/api/model", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "10.0.0.1", "", "127.0.0.1.evil.example", "@"]
)
def test_other_names_are_refused(empty, host):
    answer = empty.get("/api/model", headers={"host": host})
    assert answer.status_code == 421
    assert "error" in answer.json()


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"}, {"origin": "http://localhost:9999"}, {"origin": "http://["}, {"origin": ""},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},
    ],
)  # fmt: skip
def test_changes_from_other_pages_are_refused(own, headers):
    answer = client(own).post("/api/edits", json={"action": "hide", "topic": 0}, headers=headers)
    assert answer.status_code == 403
    assert not own.atlas.edits


@pytest.mark.parametrize("headers", [{}, {"origin": "http://localhost:8642", "sec-fetch-site": "same-origin"}])
def test_changes_from_our_own_page_are_made(own, headers):
    topic = int(own.atlas.folding.shown[0])
    answer = client(own).post("/api/edits", json={"action": "rename", "topic": topic, "label": "x"}, headers=headers)
    assert answer.status_code == 200
    assert own.atlas.edits


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_changes_that_a_form_can_send_are_refused(own, kind):
    answer = client(own).post("/api/edits", content=b'{"action": "undo"}', headers={"content-type": kind})
    assert answer.status_code == 415


def test_other_pages_cannot_load_what_we_have(empty):
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "script"}
    assert empty.get("/api/model", headers=headers).status_code == 403
    assert empty.get("/", headers={"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}).status_code == 200


def test_loopback_needs_no_token_and_all_else_does():
    near, wide = (Settings.of(host, 1, read_only=False, page=True) for host in ("127.0.0.1", "0.0.0.0"))
    assert near.token is None
    assert len(wide.token) >= 32
    assert Settings.of("0.0.0.0", 1, read_only=False, page=True).token != wide.token


def test_a_token_is_asked_for(far):
    assert far.get("/api/model").status_code == 401
    assert far.get("/").status_code == 401
    for wrong in ("", "x", "secret-toke", "secret-token2", "é"):
        assert far.get("/api/model", params={"token": wrong}).status_code == 401
    assert far.get("/api/model", headers={"authorization": "Bearer wrong"}).status_code == 401
    assert far.get("/api/model", headers={"cookie": "diln-token-8642=wrong; a=b"}).status_code == 401


def test_a_token_is_taken_as_a_header_or_once_in_the_address(far):
    assert far.get("/api/model", headers={"authorization": "Bearer secret-token"}).status_code == 200
    answer = far.get("/", params={"token": "secret-token", "view": "map"}, follow_redirects=False)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/?view=map"
    assert {"HttpOnly", "SameSite=strict"} <= set(re.split("; ?", answer.headers["set-cookie"]))
    cookie = answer.headers["set-cookie"].partition(";")[0]
    assert far.get("/api/model", headers={"cookie": cookie}).status_code == 200
    far.cookies.clear()


@pytest.mark.parametrize("odd", ['prefs={"a": 1}', "a[b]=1; c=(d)", "=", ";;", "lonely", 'x="a;b"', "é=ü", 'y="'])
def test_cookies_of_other_applications_do_not_matter(far, odd):
    for cookies in (f"{odd}; diln-token-8642=secret-token", f"diln-token-8642=secret-token; {odd}"):
        assert far.get("/api/model", headers={"cookie": cookies.encode()}).status_code == 200
    assert far.get("/api/model", headers={"cookie": odd.encode()}).status_code == 401


def test_each_port_has_a_cookie_of_its_own(far):
    def cookie(host):
        headers = {"host": host}
        answer = far.get("/", params={"token": "secret-token"}, headers=headers, follow_redirects=False)
        far.cookies.clear()
        return answer.headers["set-cookie"].partition("=")[0]

    hosts = ["localhost:1", "localhost:2", "[::1]:3", "office"]
    assert [cookie(host) for host in hosts] == [f"diln-token-{port}" for port in (1, 2, 3, 8642)]
    both = {"host": "localhost:1", "cookie": "diln-token-1=secret-token; diln-token-2=other"}
    assert far.get("/api/model", headers=both).status_code == 200
    assert far.get("/api/model", headers={**both, "host": "localhost:2"}).status_code == 401


def test_who_is_refused_must_connect_again(far):
    assert far.get("/api/model").headers["connection"] == "close"
    bearer = {"authorization": "Bearer secret-token"}
    assert "connection" not in far.get("/api/model", headers=bearer).headers


def test_a_token_leads_to_no_other_server(far):
    answer = far.get("//evil.example/", params={"token": "secret-token"}, follow_redirects=False)
    far.cookies.clear()
    assert not answer.headers.get("location", "/").startswith(("//", "http"))


def test_a_far_server_is_known_by_addresses_and_its_own_names(far):
    for host, status in {"192.168.1.7:8642": 401, "office": 401, "evil.example": 421}.items():
        assert far.get("/api/model", headers={"host": host}).status_code == status


@pytest.mark.parametrize(
    "name", ["/../app.py", "/%2e%2e/app.py", "/diln/../../app.py", "/etc/passwd", "/page/", "/app.py"]
)
def test_only_files_of_the_page_are_sent(empty, name):
    assert empty.get(name).status_code == 404


def test_a_file_that_the_browser_has_is_not_sent_again(empty):
    first = empty.get("/diln/base.css")
    again = empty.get("/diln/base.css", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["vary"] == "Accept-Encoding"
    several = f'"other", {first.headers["etag"].removeprefix("W/")}'
    assert empty.get("/diln/base.css", headers={"if-none-match": several}).status_code == 304
    assert empty.get("/diln/base.css", headers={"if-none-match": '"other"'}).status_code == 200


def test_an_api_alone_has_no_page():
    page = client(Desk(), page=False)
    assert page.get("/").status_code == 404
    assert page.get("/docs").status_code == 200
    assert page.get("/diln/base.css").status_code == 200


def test_a_body_without_its_length_is_counted_all_the_same(empty):
    pieces = (b" " * 100_000 for _ in range(20))
    answer = empty.post("/api/read", content=pieces, headers={"content-type": "application/json"})
    assert answer.status_code == 413


def test_a_request_that_does_not_end_is_given_up():
    sent, scope = [], {"type": "http", "method": "POST", "path": "/api/read", "query_string": b"", "headers": [
        (b"host", b"localhost"), (b"content-type", b"application/json")]}  # fmt: skip

    async def app(scope, receive, send):
        while (await receive()).get("more_body"):
            pass

    async def receive():
        await asyncio.sleep(60)

    async def send(message):
        sent.append(message)

    settings = Settings(hosts=frozenset({"localhost"}), body_seconds=0.05)
    asyncio.run(Guard(app, settings)(scope, receive, send))
    assert sent[0]["status"] == 408


def test_only_some_texts_are_read_at_a_time():
    async def crowd():
        turns, gate = Turns(1, 1), asyncio.Event()
        loop = asyncio.get_running_loop()
        waits = lambda: asyncio.run_coroutine_threadsafe(gate.wait(), loop).result()  # noqa: E731
        begun = [asyncio.create_task(turns.run(waits)) for _ in range(2)]
        await asyncio.sleep(0.05)
        with pytest.raises(Refused) as refused:
            await turns.run(lambda: None)
        gate.set()
        await asyncio.gather(*begun)
        return refused.value, await turns.run(lambda: "read")

    sent_away, read = asyncio.run(crowd())
    assert sent_away.status == 503
    assert sent_away.headers == {"Retry_After": "1"}
    assert read == "read"


def test_hosts_and_their_ports():
    assert [host_name(one) for one in ("A:1", "a", "[::1]:2", "::1", "1.2.3.4:5")] == [
        "a",
        "a",
        "::1",
        "::1",
        "1.2.3.4",
    ]
    assert [is_loopback(one) for one in ("localhost", "127.0.0.9", "::1", "0.0.0.0", "x")] == [True] * 3 + [False] * 2
