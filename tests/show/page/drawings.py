"""Data for every view, made up, and a page that draws one of them."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np

import diln

PAGE = Path(diln.__file__).parent / "show" / "page"
VIEWS = {
    "map": ("map", "createMap"), "matrix": ("matrix", "createMatrix"), "network": ("network", "createNetwork"),
    "trends": ("trends", "createTrends"), "words": ("bars", "createWords"), "groups": ("bars", "createGroups"),
    "match": ("match", "createMatch"),
}  # fmt: skip
KINDS = {".js": "text/javascript", ".css": "text/css"}
HTML = """<!doctype html><html lang="en"><meta charset="utf-8"><title>A view</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="/base.css">
<script type="importmap">{"imports": {"diln/": "/"}}</script>
<body><div class="card"><div id="tools"></div><div id="host"></div></div>
<script type="module">
import { tools } from "diln/export.js";
const host = document.getElementById("host");
window.draw = async (module, name, data, options = {}) => {
  const made = await import(`diln/${module}.js`);
  let state = {};
  window.asked = [];
  window.hovered = [];
  window.view?.destroy();
  window.view = made[name](host, data, {
    onSelect: (part) => { window.asked.push(part); state = { ...state, ...part }; window.view.update(state); },
    onHover: (part) => window.hovered.push(part), ...options,
  });
  document.getElementById("tools").replaceChildren(tools(window.view, name, host));
  await window.settled();
};
const frame = () => new Promise((done) => requestAnimationFrame(done));
window.settled = () => frame().then(frame).then(frame);
window.ready = true;
</script></body></html>"""


class _Files(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        path = self.path.split("?")[0].lstrip("/")
        text = (PAGE / path).read_bytes() if path else HTML.encode()
        self.send_response(200)
        self.send_header("Content-Type", f"{KINDS.get(Path(path).suffix, 'text/html')}; charset=utf-8")
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args: Any) -> None:
        """Nothing is said."""


@contextmanager
def served() -> Iterator[str]:
    """Address of the page."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Files)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def made(n: int, n_themes: int = 6) -> dict[str, Any]:
    """All that the views are given, of a model with n topics."""
    rng = np.random.default_rng(n)
    home = np.sort(rng.integers(0, n_themes, n)) if n else np.zeros(0, int)
    share = rng.dirichlet(np.full(n, 2.0)) if n else np.zeros(0)
    turn = home / n_themes * 2 * np.pi
    x, y = (0.6 * part + 0.14 * rng.normal(size=n) for part in (np.cos(turn), np.sin(turn)))
    topics = [_topic(at, float(share[at]), int(home[at]), rng) for at in np.argsort(-share).tolist()]
    themes = [_theme(at, [t for t in topics if t["theme"] == at]) for at in range(n_themes) if (home == at).any()]
    lift = np.where(home[:, None] == home[None], 0.8, -0.5) + 0.4 * rng.normal(size=(n, n))
    lift = (lift + lift.T) / 2 * (1 - np.eye(n))
    return {
        "topics": topics,
        "themes": {"n": n_themes, "auto": True, "themes": themes, "topic_theme": dict(enumerate(home.tolist()))},
        "map": {"points": [{"id": at, "x": float(x[at]), "y": float(y[at])} for at in range(n)], "themes": [],
                "origin": [0.0, 0.0], "explained": 0.4, "note": ""},
        "pairs": _pairs(lift), "trends": _trends(topics[:9], rng), "groups": _groups(topics[:5], rng),
        "matrix": {"order": list(range(n)), "log_lift": np.round(lift, 3).tolist(),
                   "sure": (np.abs(lift) > 1).tolist(), "themes": home.tolist()},
        "words": topics[0]["list"] if topics else [], "topic": topics[0] if topics else None,
        **_matching(topics, rng),
    }  # fmt: skip


def _topic(number: int, share: float, theme: int, rng: np.random.Generator) -> dict[str, Any]:
    words = [f"{a}{b}" for a, b in zip(rng.choice(SYLLABLES, 8), rng.choice(SYLLABLES, 8), strict=True)]
    listed = [
        {"term": word, "probability": 0.1 / (at + 1), "lift": 2.0 + at, "relevance": -float(at)}
        for at, word in enumerate(words)
    ]
    return {
        "id": number, "label": ", ".join(words[:3]), "named": False, "share": share, "n_docs": int(1000 * share),
        "theme": theme, "words": words, "telling": words, "list": listed,
    }  # fmt: skip


SYLLABLES = ["court", "wind", "stone", "river", "bread", "light", "metal", "grain", "cloud", "salt", "glass", "sun"]


def _theme(number: int, topics: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": number, "label": topics[0]["label"], "words": topics[0]["words"], "n_docs": 10,
        "share": sum(topic["share"] for topic in topics), "topics": [topic["id"] for topic in topics],
    }  # fmt: skip


def _pairs(lift: Any) -> dict[str, Any]:
    ends = np.argwhere(np.triu(np.abs(lift) > 1, 1)).tolist()
    found = [
        {"first": i, "second": j, "log_lift": float(lift[i, j]), "lift": float(np.exp(lift[i, j])), "correlation": 0.1,
         "spread": 0.1, "low": 0.5, "high": 2.0, "sure": True, "n_chains": 4} for i, j in ends[:200]
    ]  # fmt: skip
    positive, negative = ([pair for pair in found if (pair["log_lift"] > 0) == up] for up in (True, False))
    return {"positive": positive, "negative": negative, "n_pairs": lift.size // 2, "n_sure": len(found)}


def _trends(topics: list[dict[str, Any]], rng: np.random.Generator) -> dict[str, Any]:
    periods = [f"{year}-{month:02d}" for year in (2016, 2017) for month in range(1, 13)]
    docs = [0 if at in (7, 8) else 50 for at in range(24)]
    series = []
    for topic in topics:
        values = topic["share"] * np.exp(0.2 * np.cumsum(rng.normal(size=24)))
        known = [None if docs[at] == 0 else float(values[at]) for at in range(24)]
        low, high = ([None if one is None else one * by for one in known] for by in (0.8, 1.2))
        series.append({"id": topic["id"], "label": topic["label"], "values": known, "low": low, "high": high})
    return {"by": "topic", "granularity": "month", "periods": periods, "n_docs": docs, "series": series}


def _groups(topics: list[dict[str, Any]], rng: np.random.Generator) -> dict[str, Any]:
    labels = ["business", "politics", "sport"]
    cells = []
    for topic in topics:
        for label in labels:
            lift = float(np.exp(rng.normal()))
            cells.append({"id": topic["id"], "label_name": label, "share": topic["share"] * lift, "lift": lift,
                          "low": lift * 0.8, "high": lift * 1.2, "sure": abs(lift - 1) > 0.3, "p": 0.01})  # fmt: skip
    return {"by": "topic", "labels": [{"name": label, "n_docs": 40} for label in labels], "cells": cells}


def _matching(topics: list[dict[str, Any]], rng: np.random.Generator) -> dict[str, Any]:
    kept = topics[: max(0, len(topics) - 1)]
    others = [{**topic, "id": topic["id"] + 1000} for topic in kept]
    matches = [{"first": t["id"], "second": t["id"] + 1000, "affinity": float(rng.uniform(0.2, 1))} for t in kept]
    return {"matching": {"matches": matches, "n_topics": [len(topics), len(kept)]}, "others": others}


def given(page: Any, data: dict[str, Any]) -> None:
    """Bring data to the page, once for all views; as text, which is quickest."""
    page.evaluate("(text) => { window.data = JSON.parse(text); }", json.dumps(data))


def shown(page: Any, name: str, data: dict[str, Any] | None = None, options: str = "{}") -> None:
    """Draw a view of the data, or of what was given before."""
    if data is not None:
        given(page, data)
    module, function = VIEWS[name]
    page.evaluate(f"draw({module!r}, {function!r}, window.data, {options})")
