"""The files of the page: a fixed table of names, so that no request names a path."""

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

from fastapi import Request, Response

PAGE = Path(__file__).parent / "page"
SHARED = Path(__file__).parents[1] / "page"
FOLDERS = {"/": PAGE, "/diln/": SHARED}  # where their files are found by a browser
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
}
INSIDE = re.compile(rb"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", re.DOTALL)


STYLE = "/diln/base.css"


def table(*, page: bool = True) -> dict[str, Path]:
    """What can be asked for, and the file that has it; without the page, what its description needs."""
    if not page:
        return {STYLE: SHARED / "base.css"}
    found = {
        address + file.relative_to(folder).as_posix(): file
        for address, folder in FOLDERS.items()
        for file in sorted(folder.rglob("*"))
        if file.suffix in TYPES and file.is_file()
    }
    if "/index.html" in found:
        found["/"] = found["/index.html"]
    return found


def digests(files: dict[str, Path]) -> tuple[str, ...]:
    """Digests of the scripts that stand inside our pages (import maps), as a content security policy names them."""
    pages = {file for file in files.values() if file.suffix == ".html"}
    scripts = {script for page in pages for script in INSIDE.findall(page.read_bytes())}
    return tuple(sorted(f"sha256-{b64encode(sha256(script).digest()).decode()}" for script in scripts))


def reply(request: Request, file: Path) -> Response:
    """A file, or that the browser has it already."""
    data = file.read_bytes()
    tag = f'"{sha256(data).hexdigest()[:32]}"'
    headers = {"ETag": f"W/{tag}", "Cache-Control": "no-cache"}  # weak: the same, packed or not
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers={**headers, "Vary": "Accept-Encoding"})
    return Response(data, media_type=TYPES[file.suffix], headers=headers)
