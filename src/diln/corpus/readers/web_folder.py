"""Folders on the web: a page is a folder, and what it links to is in it, or leads out of it."""

import re
from collections.abc import Iterator
from contextlib import suppress
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urldefrag, urljoin, urlsplit

BARE = re.compile(r"https?://[^\s<>\"']+")  # an address in the text of a page
HTML = ("text/html", "application/octet-stream")  # the second is what aiohttp makes of no type at all


class Links(HTMLParser):
    """Where the links of a page lead to."""

    def __init__(self, page: str, text: str) -> None:
        super().__init__()
        self.page, self.addresses = page, set[str]()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a link."""
        for name, value in attrs:
            if tag == "a" and name == "href" and value:
                with suppress(ValueError):  # of what is no address
                    self.addresses.add(urldefrag(urljoin(self.page, value.strip())).url)

    def handle_data(self, data: str) -> None:
        """Note addresses in the text."""
        self.addresses.update(BARE.findall(data))


class WebFolders:
    """Lists folders in the place of fsspec, which takes ``../`` for a folder in this one, and goes round in circles."""

    def __init__(self, fs: Any) -> None:
        self.fs, self.linked = fs, set[str]()
        fs._ls_real = self.listed

    async def listed(self, url: str, detail: bool = True, **options: Any) -> list[Any]:
        """What is in a folder, as fsspec has it."""
        session = await self.fs.set_session()
        async with session.get(self.fs.encode_url(url), **self.fs.kwargs) as answer:
            self.fs._raise_not_found_for_status(answer, url)
            text = await answer.text(errors="ignore") if answer.content_type in HTML else ""
        links = Links(url.rstrip("/") + "/", text).addresses
        self.linked |= links
        names = sorted({self._plain(link): link for link in links if self._is_in(link, url)}.values())
        if not detail:
            return names
        return [{"name": name, "size": None, "type": "directory" if name.endswith("/") else "file"} for name in names]

    def leading_out(self, folder: str, suffix: str) -> list[str]:
        """Files that are not in this folder, though pages in it link to them."""
        return sorted({self._plain(link) for link in self._files(suffix) if not self._is_in(link, folder)})

    def _files(self, suffix: str) -> Iterator[str]:
        for link in self.linked:
            with suppress(ValueError):
                parts = urlsplit(link)
                if parts.scheme in ("http", "https") and parts.path.lower().endswith(suffix):
                    yield link

    def _plain(self, address: str) -> str:
        """An address as it is asked for: without dots that lead up."""
        try:
            return str(self.fs.encode_url(address))
        except ValueError:
            return ""

    def _is_in(self, address: str, folder: str) -> bool:
        """Whether an address is one in a folder, by http or https."""
        start = self._plain(folder).partition("://")[2].rstrip("/") + "/"
        rest = self._plain(address).partition("://")[2]
        return rest.startswith(start) and rest != start
