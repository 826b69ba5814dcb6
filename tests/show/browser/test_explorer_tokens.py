"""Explorers that others can reach, in a real browser: each has its own token, whatever else has cookies there."""

from urllib.parse import urlsplit

from chromium import watched
from explorers import DESKTOP, settle, started


def test_two_explorers_on_one_host_do_not_log_each_other_out(browser, fitted):
    options = ("--host", "0.0.0.0", "--read-only")
    with (
        started(fitted, *options) as first,
        started(fitted, *options) as second,
        watched(browser, "http://127.0.0.1:", viewport=DESKTOP) as seen,
    ):
        tabs = [seen.page, seen.page.context.new_page()]
        bare = [one.address.partition("?")[0] for one in (first, second)]
        for tab, explorer in zip(tabs, (first, second), strict=True):
            tab.goto(explorer.address)
            tab.wait_for_selector("html[data-ready]")
            assert "token" not in tab.url
        seen.page.evaluate("""document.cookie = 'prefs={"a": 1}; path=/'""")
        for tab, address in zip(tabs, bare, strict=True):
            tab.goto(address)
            tab.wait_for_selector("html[data-ready]")
            settle(tab)
            assert tab.locator("#card h2").is_visible()
        names = {cookie["name"] for cookie in seen.page.context.cookies()}
        assert names == {"prefs"} | {f"diln-token-{urlsplit(address).port}" for address in bare}
        seen.check()


def test_pages_of_another_machine_come_packed(looking, fitted):
    with started(fitted, "--host", "0.0.0.0", "--read-only") as far:
        answers = []
        address, _, token = far.address.partition("?")
        page = looking(
            token, at=address, before=lambda page: page.on("response", lambda answer: answers.append(answer))
        ).page
        page.reload()
        page.wait_for_selector("html[data-ready]")
        settle(page)
        packed = [answer for answer in answers if answer.headers.get("content-encoding") == "gzip"]
        kinds = {answer.headers["content-type"].partition(";")[0] for answer in packed}
        assert {"text/html", "text/css", "text/javascript", "application/json"} <= kinds
        assert page.locator("#card h2").is_visible()
