"""From directories to a desk: a model that is done, or one that is still being fitted."""

import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import scipy.cluster.hierarchy
import scipy.optimize
import scipy.stats.qmc  # noqa: F401 (these three are slow to import, and two threads that begin to at once may fail)

from diln.analysis import Atlas
from diln.errors import DilnError, one_line
from diln.files import MANIFEST
from diln.show.explorer.desk import Desk
from diln.show.explorer.record import beside
from diln.show.explorer.routes.documents import reading
from diln.show.explorer.routes.overview import card
from diln.show.explorer.search import Search
from diln.show.explorer.training import Training

if TYPE_CHECKING:
    from diln.corpus.watch import Watch

AHEAD = 200  # topics whose cards are made before somebody asks for them
REST = 2.0  # times as long as the work for one of them
QUIET = 2.0  # seconds after a change in which only what the page asks for is done
EVERY = 0.3  # seconds from one look at a fit to the next


def is_being_fitted(model: Path) -> bool:
    """Whether there is no model yet, but a fit that says how far it is."""
    return not (model / MANIFEST).exists() and beside(model).is_dir()


def open_desk(
    model: Path,
    corpus: Path | None,
    compare: Path | None,
    follow: bool = False,
    *,
    read_only: bool,
    jobs: int,
    watch: "Watch | None" = None,
) -> Desk:
    """All that a server needs; search is prepared in the background. ``follow`` if the model is being fitted anew."""
    if follow or is_being_fitted(model):
        return _following(model, corpus, read_only=read_only, jobs=jobs)
    other = None if compare is None else Atlas.open(compare, corpus, jobs, watch, keep=not read_only)
    desk = Desk(other=other, read_only=read_only)
    desk.show(Atlas.open(model, corpus, jobs, watch, keep=not read_only))
    start_search(desk)
    start_reading_ahead(desk)
    return desk


def start_search(desk: Desk) -> None:
    """Begin to prepare search, if there is something to search in."""
    atlas = desk.atlas
    if atlas.corpus is not None and atlas.index is not None:
        desk.search = Search(atlas.corpus, atlas.directory, keep=not desk.read_only)
        desk.search.start()


def read_a_text(desk: Desk) -> None:
    """Read a text as a user will: the loops that do it are loaded, and what is searched is in memory when one does."""
    atlas = desk.atlas
    largest = atlas.folding.shown[:1].tolist()
    with suppress(ValueError, DilnError):  # of a model that does not know how its texts were counted
        reading(desk, " ".join(word.term for topic in largest for word in atlas.words(topic)))
    desk.reads.set()


def start_reading_ahead(desk: Desk) -> None:
    """Make the cards of the largest topics while nobody has asked for them yet, with more rest than work."""

    def read_ahead() -> None:
        read_a_text(desk)
        wait = 0.0
        while not desk.closed.wait(wait):
            changes, folding, wait = desk.changes, desk.atlas.folding, QUIET
            for topic in folding.shown[:AHEAD].tolist():
                if desk.cards.has(folding.parts(topic)):
                    continue
                begun = time.perf_counter()
                with suppress(ValueError, DilnError):  # which is told when somebody asks for the card
                    card(desk, topic)
                if desk.closed.wait(REST * (time.perf_counter() - begun)) or desk.changes != changes:
                    break
            while desk.changes == changes and not desk.closed.wait(EVERY):
                pass

    threading.Thread(target=read_ahead, name="ahead", daemon=True).start()


def _following(model: Path, corpus: Path | None, *, read_only: bool, jobs: int) -> Desk:
    """A desk that shows a fit, and its model as soon as that is there."""
    training = Training([], beside(model))
    desk = Desk(training=training, read_only=read_only)

    def follow() -> None:
        while training.running:
            training.poll()
            time.sleep(EVERY)
        try:
            desk.show(Atlas.open(model, corpus, jobs, keep=not read_only))
            start_search(desk)
            start_reading_ahead(desk)
        except (DilnError, ValueError) as error:
            training.note = training.note or one_line(str(error))
        except Exception:
            training.note = training.note or "the model cannot be shown"
            raise
        finally:
            training.ended = True

    threading.Thread(target=follow, name="follow", daemon=True).start()
    return desk
