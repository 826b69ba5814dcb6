"""One HTML file with all in it: text, styles, pictures' data and scripts. It asks the network for nothing."""

import json
import re
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Literal

from diln import __version__
from diln.analysis import Atlas
from diln.errors import DilnError, brief, check_kind
from diln.files import whole
from diln.models.checks import check_whole
from diln.show.report.gather import Content, Tell, Wanted, gather
from diln.show.report.markup import Markup, data, shown, together
from diln.show.report.sections import contents, section, sections
from diln.show.report.words import counted

PLACE = re.compile(r"\{\{(\w+)\}\}")
FOR_PICTURES = ("id", "label", "share", "n_docs", "theme", "found", "n_chains")  # of a topic
PICTURED = ("themes", "map", "pairs", "matrix", "theme_trends", "topic_trends", "held_trends", "documents")
WORDS = 8  # of a topic or theme that pictures show
NONE_SAID: Tell = lambda what, done, total: None  # noqa: E731


def write_report(
    atlas: Atlas,
    path: str | Path,
    *,
    title: str | None = None,
    n_themes: int | Literal["auto"] = "auto",
    n_documents: int = 3,
    texts: bool = True,
    overwrite: bool = False,
    tell: Tell = NONE_SAID,
) -> int:
    """Write a report on a model: one HTML file that opens without a network, and prints.

    Parameters
    ----------
    atlas : Atlas
        The model, with its documents if they are known.
    path : path
        The file to write, in one step.
    title : str, optional
        Title of the report. Default: made from the name of the model.
    n_themes : int or "auto"
        Number of themes.
    n_documents : int
        Number of documents to list for each topic.
    texts : bool
        Whether to tell titles, ids and sentences of documents; without them a report on a confidential corpus can be
        shared.
    overwrite : bool
        Whether to replace a file that is already there.
    tell : callable, optional
        Is called with what is being done, how much of it is done, and how much there is (0 if unknown).

    Returns
    -------
    int
        Bytes written.
    """
    check_kind("atlas", atlas, Atlas)
    check_whole("n_documents", n_documents, 0)
    if title is not None and not isinstance(title, str):
        raise TypeError(f"title is {brief(title)}; give a text")
    target = Path(path)
    check_free(target, overwrite=overwrite)
    page = made(gather(atlas, Wanted(title or titled(atlas), n_themes, n_documents, texts), tell))
    with whole(target) as file:
        file.write(page)
    return len(page)


def check_free(path: Path, *, overwrite: bool = False) -> None:
    """Raise if no report can be written there."""
    if path.is_dir():
        raise DilnError(f"{path}: is a folder; name a file")
    if not path.parent.is_dir():
        raise DilnError(f"{path.parent}: there is no such folder; make it first")
    if path.exists() and not overwrite:
        raise DilnError(f"{path}: is there already; pass --force (overwrite=True) to replace it, or name another file")


def titled(atlas: Atlas) -> str:
    """A title from the name of the model's directory."""
    name = "" if atlas.directory is None else " ".join(re.split(r"[-_\s]+", atlas.directory.resolve().name)).strip()
    return f"Topics of {name}" if name else "Topics"


def made(content: Content) -> bytes:
    """The page that tells this."""
    found = sections(content)
    about = content["about"]
    fields: dict[str, str] = {
        "title": content["title"],
        "eyebrow": content["title"],
        "description": " ".join(content["summary"]["sentences"][:2]),
        "generator": f"diln {__version__}",
        "contents": contents(found, content),
        "sections": together(*map(section, found)),
        "data": data("report-data", _for_pictures(content)),
        "footer": f"{about['kind']} model of {counted(about['documents'], 'document')}. Made with diln {__version__}. "
        "This file holds all it needs and loads nothing from the network.",
        "style": Markup(_read("page/base.css") + _read("report/page/report.css")),
        "script": Markup(_inline(_read("report/page/report.js"))),
        "modules": Markup(_modules()),
    }
    fields["nonce"] = _nonce("".join(fields.values()))
    template = _read("report/page/report.html")
    return PLACE.sub(lambda place: shown(fields[place[1]]), template).encode("utf-8")


def _nonce(text: str) -> str:
    """A word that scripts of ours bear, and no text in the page can know: it depends on all of it."""
    return b64encode(sha256(text.encode("utf-8", "replace")).digest()[:18], b"-_").decode()


def _folder() -> Traversable:
    return files("diln").joinpath("show")


def _read(name: str) -> str:
    return _folder().joinpath(name).read_text(encoding="utf-8")


def _inline(script: str) -> str:
    """A script that no text in it can end."""
    return script.replace("</", "<\\/").replace("<!--", "<\\!--")


def _modules() -> str:
    """An import map with the modules themselves in it: a page from the disk cannot import files."""
    shared = {f"diln/{name}": f"page/{name}" for name in sorted(_scripts())}
    every = {**shared, "report/search.js": "report/page/search.js"}
    addresses = {
        name: f"data:text/javascript;base64,{b64encode(_read(at).encode()).decode()}" for name, at in every.items()
    }
    return json.dumps({"imports": addresses})


def _scripts() -> list[str]:
    return [one.name for one in _folder().joinpath("page").iterdir() if one.name.endswith(".js")]


def _for_pictures(content: Content) -> dict[str, Any]:
    """What the scripts draw."""
    topics = [
        {**{name: one[name] for name in FOR_PICTURES}, "words": one["words"][:WORDS]} for one in content["topics"]
    ]
    return {"topics": topics, **{name: content.get(name) for name in PICTURED}}
