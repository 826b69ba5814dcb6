"""What a report tells, made up: for any number of topics, with words that try to be more than words."""

from typing import Any

import numpy as np

from diln.show.report.gather import Content, plain_values

HOSTILE = (
    '</script><script>window.hacked = 1</script>', '"><img src="https://evil.example/x" onerror="window.hacked = 2">',
    "<!-- <script>", "{{nonce}} {{data}}", "'><svg onload=window.hacked=3>", "&lt;b&gt; & ]]>", "\u202eright to left",
    "]}</style><style>*{display:none}", "null\x00byte \x1b[31m", "lone \ud800 surrogate", "javascript:window.hacked=4",
)  # fmt: skip


def made_up(n_topics: int, *, hostile: bool = False, dates: bool = True, labels: bool = True, seed: int = 0) -> Content:
    """A report's content with so many topics."""
    rng = np.random.default_rng(seed)
    shares = np.sort(rng.dirichlet(np.full(n_topics, 2.0)))[::-1]
    n_themes = int(np.clip(np.sqrt(n_topics / 2), 1, 16))
    theme_of = np.arange(n_topics) % n_themes
    words = [f"word{number:04}" for number in range(400)]
    ids = rng.permutation(n_topics + 3)[:n_topics].tolist()

    def text(plain: str) -> str:
        return f"{plain} {HOSTILE[int(rng.integers(len(HOSTILE)))]}" if hostile else plain

    def topic(at: int) -> dict[str, Any]:
        own = [words[one] for one in rng.choice(400, 12, replace=False)]
        probabilities = np.sort(rng.random(12) / 10)[::-1].tolist()
        pair = {"first": ids[at], "second": ids[(at + 1) % n_topics], "log_lift": 1.4, "lift": 4.06, "correlation": 0.4,
                "spread": 0.1, "low": 2.0, "high": 8.0, "sure": True, "n_chains": 4}  # fmt: skip
        document = {"row": at, "id": text(f"id-{at}"), "title": text(f"Title {at}"), "date": "2016-03-02",
                    "label": text("news"), "n_tokens": 345, "theme": 0, "topics": [], "share": 0.81}  # fmt: skip
        return {
            "id": ids[at], "label": text(", ".join(own[:3])), "named": at == 1, "share": float(shares[at]),
            "n_docs": 40 + at, "theme": int(theme_of[at]), "words": [text(one) for one in own],
            "probabilities": probabilities, "telling": own[:5], "exclusive": own[:5], "coherence": 0.1,
            "found": at % 4 + 1, "n_chains": 4, "merged": [7] if at == 2 else [],
            "relevant": [{"term": text(one), "probability": p, "lift": 3.0, "relevance": 0.0}
                         for one, p in zip(own, probabilities, strict=True)],
            "friends": [pair] * (n_topics > 1), "n_friends": 9 * (n_topics > 1), "rivals": [], "n_rivals": 0,
            "typical": [{"document": document, "sentences": [text("A sentence that tells."), text("Another.")]}] * 3,
        }  # fmt: skip

    topics = [topic(at) for at in range(n_topics)]
    themes = [
        {"id": one, "label": text(f"theme {one}"), "words": words[one : one + 8], "n_docs": 100,
         "share": float(shares[theme_of == one].sum()), "topics": [ids[at] for at in np.flatnonzero(theme_of == one)]}
        for one in range(n_themes)
    ]  # fmt: skip
    pairs = [one["friends"][0] for one in topics if one["friends"]][:400]
    periods = [f"2016-{month:02}" for month in range(1, 13)]

    def trends(by: str, items: list[dict[str, Any]]) -> dict[str, Any]:
        values = rng.random(12) / 10
        series = [{"id": one["id"], "label": one["label"], "values": values, "low": values / 2, "high": values * 2}
                  for one in items]  # fmt: skip
        return {
            "by": by,
            "granularity": "month",
            "periods": periods,
            "n_docs": [10] * 12,
            "series": series,
            "n_undated": 3,
            "min_documents": 10,
            "notes": [],
            "mix": None,
        }

    def groups(by: str, items: list[dict[str, Any]]) -> dict[str, Any]:
        names = [text(f"label {number}") for number in range(5)]
        cells = [{"id": one["id"], "label_name": name, "share": 0.1, "lift": 2.5 if at % 2 else 0.4, "low": 1.5,
                  "high": 3.5, "sure": at % 3 == 0, "p": 0.01}
                 for one in items for at, name in enumerate(names)]  # fmt: skip
        return {"by": by, "labels": [{"name": name, "n_docs": 20} for name in names], "cells": cells, "n_unlabelled": 1}

    places = rng.uniform(-0.9, 0.9, (n_topics, 2)).tolist()
    lifts = rng.normal(0, 1, (n_topics, n_topics))[:200, :200]
    return plain_values({  # type: ignore[no-any-return]
        "title": text("A report"), "texts": True, "documents_wanted": 3,
        "about": {"kind": "DILN", "name": "made-up", "documents": 1234, "tokens": 98765, "terms": 400,
                  "topics": n_topics, "topics_in_use": n_topics, "n_chains": 4, "hidden": 0, "merged": 0,
                  "has": {"title": True, "date": dates, "label": labels, "text": True}, "located": True},
        "summary": {"sentences": [text("A corpus of 1,234 documents."), "It is about this and that."], "numbers": {}},
        "themes": {"n": n_themes, "auto": True, "themes": themes,
                   "topic_theme": {ids[at]: int(theme_of[at]) for at in range(n_topics)}},
        "map": {"points": [{"id": one, "x": x, "y": y} for one, (x, y) in zip(ids, places, strict=True)],
                "themes": [{"id": one, "x": 0.1 * one - 0.5, "y": 0.0} for one in range(n_themes)],
                "origin": [0.0, 0.0], "explained": 0.6, "note": "A view of the space."},
        "pairs": {"positive": pairs, "negative": [], "n_positive": len(pairs),
                  "n_negative": 0, "n_pairs": n_topics * (n_topics - 1) // 2, "n_sure": len(pairs)},
        "matrix": {"order": ids[:200], "log_lift": (lifts + lifts.T).round(3), "sure": (lifts > 0).astype(int),
                   "themes": theme_of[:200]} if n_topics > 1 else None,
        "documents": None, "theme_documents": [topics[0]["typical"]] * n_themes, "topics": topics,
        "theme_trends": trends("theme", themes) if dates else None,
        "topic_trends": trends("topic", topics) if dates else None,
        "held_trends": None,
        "theme_groups": groups("theme", themes) if labels else None,
        "topic_groups": groups("topic", topics) if labels else None,
        "method": ["A paragraph."], "sure": ["Another."], "settings": [["Model", "DILN"]], "cite": ["Cite this."],
        "versions": {"Fitted with": "diln 0.1.0", "Fitted on": "", "Report made with": "diln 0.1.0"},
    })  # fmt: skip
