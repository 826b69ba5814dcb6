"""A web server with faults: what a path begins with says how its files are sent."""

import re
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

MOST = 1 << 30  # bytes of an answer "without end"
PAGE = "<html><body>{}</body></html>"


class Site:
    """Files by name, sent in one of many ways, and a record of what was asked for."""

    def __init__(self):
        self.files: dict[str, bytes] = {}
        self.pages: dict[str, str] = {}  # links of folders, where they are not just what is in them
        self.asked: list[str] = []  # method, path and range of every request
        self.sent = 0  # bytes of answers without end
        self.over = Event()  # set when the test is over: nobody waits any longer
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (Handler,), {"site": self}))
        self.server.daemon_threads = True
        Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def url(self, path, login=""):
        return f"http://{login}127.0.0.1:{self.server.server_port}/{path}"

    def count(self, start):
        return sum(one.startswith(start) for one in self.asked)

    def close(self):
        self.over.set()
        self.server.shutdown()
        self.server.server_close()


class Handler(BaseHTTPRequestHandler):
    site: Site
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_HEAD(self):
        self.answer(body=False)

    def do_GET(self):
        self.answer(body=True)

    def answer(self, body):
        path = self.path.partition("?")[0].strip("/")
        way, _, name = path.partition("/")
        asked_range = self.headers.get("Range", "")
        self.site.asked.append(f"{self.command} {path} {asked_range}".strip())
        if way == "loop":
            return self.plain(302, b"", {"Location": self.path})
        if way in ("403", "404", "500"):
            return self.plain(int(way), b"")
        if way == "busy" and self.site.count(f"{self.command} {path}") <= 2:
            return self.plain(503, b"")
        if way == "endless-page" or (way == "endless" and path.endswith("endless.txt")):
            return self.endless(body, "text/html" if way == "endless-page" else "text/plain")
        if self.path.partition("?")[0].endswith("/"):
            return self.listing(name, body)
        if name not in self.site.files:
            return self.plain(404, b"")
        return self.send(way, path, self.site.files[name], asked_range, body)

    def endless(self, body, kind):
        """Send for as long as anybody takes it."""
        self.close_connection = True
        self.head(200, {"Content-Type": kind, "Connection": "close"}, None)
        line = b"elk fox gnu " * 5461 + b"\n"
        with suppress(ConnectionError):
            while body and not self.site.over.is_set() and self.site.sent < MOST:
                self.wfile.write(line)
                self.site.sent += len(line)

    def listing(self, folder, body):
        found = {name[len(folder) :].lstrip("/").split("/")[0] for name in self.site.files if name.startswith(folder)}
        links = "".join(f'<a href="{name}">{name}</a>' for name in sorted(found))
        page = PAGE.format(self.site.pages.get(folder, links)).encode()
        return self.plain(200, page if body else b"", {"Content-Type": "text/html"}, len(page))

    def send(self, way, path, data, asked_range, body):
        ranges = way in ("ranges", "cut-once")
        first, last = 0, len(data)
        if ranges and (found := re.fullmatch(r"bytes=(\d+)-(\d+)", asked_range)):
            first, last = int(found[1]), min(int(found[2]) + 1, len(data))
        part = data[first:last]
        headers = {"Content-Type": "application/octet-stream"}
        if first or last < len(data):
            headers["Content-Range"] = f"bytes {first}-{last - 1}/{len(data)}"
        if not body:
            return self.plain(200, b"", headers, len(data))
        if way == "slow":
            self.head(200, headers, len(part))
            self.wfile.write(part[: len(part) // 2])
            self.wfile.flush()
            self.site.over.wait(60)
        elif way == "cut" or (way.startswith("cut-once") and self.site.count(f"GET {path}") == 1):
            self.head(200, headers, len(part))
            self.wfile.write(part[: len(part) // 2 + 1])
        elif way == "more":
            self.head(200, headers, len(part))
            self.wfile.write(part + b"and more\n" * 10)
        elif way == "chunks-cut":
            self.head(200, {**headers, "Transfer-Encoding": "chunked"}, None)
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part) // 2, part[: len(part) // 2]))
        else:
            return self.plain(206 if "Content-Range" in headers else 200, part, headers)
        self.close_connection = True
        return None

    def plain(self, status, body, headers=(), length=None):
        self.head(status, dict(headers), len(body) if length is None else length)
        self.wfile.write(body)

    def head(self, status, headers, length):
        self.send_response(status)
        for name, value in {**headers, **({} if length is None else {"Content-Length": str(length)})}.items():
            self.send_header(name, value)
        self.end_headers()
