"""The description of the API as a page: made from its OpenAPI schema, without scripts and without the network."""

from html import escape
from typing import Any

HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>diln: the API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/diln/base.css">
</head>
<body>
<main style="max-width: 60rem; margin: 2rem auto; padding: 0 1rem">
<h1>The API of diln {version}</h1>
<p>Answers are JSON unless something else is said, and errors are <code>{{"error": "a sentence"}}</code>. Numbers of
topics are those of the model. The same for machines: <a href="/openapi.json">openapi.json</a>.</p>
"""


def page(schema: dict[str, Any]) -> str:
    """The page."""
    parts = [HEAD.format(version=escape(schema["info"]["version"]))]
    for path, methods in schema["paths"].items():
        for method, what in methods.items():
            parts += [_entry(path, method.upper(), what, schema)]
    return "".join([*parts, "</main>\n</body>\n</html>\n"])


def _entry(path: str, method: str, what: dict[str, Any], schema: dict[str, Any]) -> str:
    head = f"<h2><code>{method} {escape(path)}</code></h2>\n<p>{escape(what['summary'])}</p>\n"
    parts = [f"<section class='card' style='margin-block: 1rem'>\n{head}"]
    parameters = [
        (one["name"], _kind(one["schema"]), one.get("description", ""))
        for one in what.get("parameters", ())
        if one["in"] != "header"
    ]
    parts += [_table("Parameters", parameters)] if parameters else []
    for body in what.get("requestBody", {}).get("content", {}).values():
        for one in _bodies(body["schema"], schema):
            fields = [(name, _kind(part), part.get("description", "")) for name, part in one["properties"].items()]
            parts += [_table(one.get("description", "Body"), fields)]
    given = what["responses"].get("200", {}).get("description", "")
    parts += [f"<p>{escape(given)}</p>\n"] if given not in ("", "Successful Response") else []
    kinds = [kind for kind in what["responses"].get("200", {}).get("content", {}) if kind != "application/json"]
    parts += [f"<p>Gives {escape(', '.join(kinds))}.</p>\n"] if kinds else []
    return "".join([*parts, "</section>\n"])


def _bodies(body: dict[str, Any], schema: dict[str, Any]) -> list[dict[str, Any]]:
    """The records that a body may be."""
    if "oneOf" in body:
        return [one for part in body["oneOf"] for one in _bodies(part, schema)]
    name = body["$ref"].rpartition("/")[2]
    return [schema["components"]["schemas"][name]]


def _kind(part: dict[str, Any]) -> str:
    """What a value must be, in words."""
    if "anyOf" in part:
        return " or ".join(_kind(one) for one in part["anyOf"] if one.get("type") != "null")
    words = [str(part.get("type", "value"))]
    if "const" in part:
        words = [repr(part["const"])]
    words += [f"from {part['minimum']:g}"] if "minimum" in part else []
    words += [f"to {part['maximum']:g}"] if "maximum" in part else []
    words += [f"of at most {part['maxLength']} characters"] if "maxLength" in part else []
    words += [f"(default {part['default']!r})"] if part.get("default") not in (None, "") else []
    return " ".join(words)


def _table(title: str, rows: list[tuple[str, str, str]]) -> str:
    lines = "".join(
        f"<tr><td><code>{escape(a)}</code></td><td>{escape(b)}</td><td>{escape(c)}</td></tr>\n" for a, b, c in rows
    )
    head = "<thead><tr><th>Name</th><th>Value</th><th>Meaning</th></tr></thead>"
    return f"<table>\n<caption>{escape(title)}</caption>\n{head}\n<tbody>\n{lines}</tbody>\n</table>\n"
