"""What a server has at hand: the atlas of a model, its search, a second model, and the course of its fit."""

import asyncio
from collections.abc import Callable
from threading import Event, Lock
from typing import TYPE_CHECKING, Any

from diln.show.explorer.choice import Chooser, Kept
from diln.show.explorer.points import PointMap

if TYPE_CHECKING:
    from diln.analysis import Atlas, Themes
    from diln.show.explorer.search import Search
    from diln.show.explorer.training import Training


CARDS = 1000  # topics whose cards are kept


class Refused(Exception):  # noqa: N818
    """A request that gets a sentence in place of an answer."""

    def __init__(self, status: int, sentence: str, **headers: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.headers = status, sentence, headers


class Desk:
    """One for each server; ``changes`` counts the edits, so that nothing older is shown.

    ``arrangements`` counts those that merge or hide topics; names alone leave much as it was.
    """

    def __init__(
        self,
        atlas: "Atlas | None" = None,
        *,
        other: "Atlas | None" = None,
        search: "Search | None" = None,
        training: "Training | None" = None,
        read_only: bool = False,
    ) -> None:
        self._atlas, self.other, self.search, self.training = atlas, other, search, training
        self._chooser: Chooser | None = None
        self._points: PointMap | None = None
        self.read_only = read_only
        self.changes = self.arrangements = 0
        self.lock = Lock()  # one change at a time
        self.told: Kept[Any] = Kept()  # answers that are found once
        self.cards: Kept[dict[str, Any]] = Kept(CARDS)  # what takes a while of them, by a topic's parts
        self.reads = Event()  # set when the first text will be read as fast as others
        self.closed = Event()

    @property
    def ready(self) -> bool:
        """Whether there is a model."""
        return self._atlas is not None

    @property
    def atlas(self) -> "Atlas":
        """The model and its documents."""
        if self._atlas is None:
            raise Refused(409, "the model is still being fitted; see /api/training until it is done")
        return self._atlas

    def show(self, atlas: "Atlas") -> None:
        """From now on, answer from this; what every page asks for first is found before anybody can ask."""
        known, before = self._points, self._atlas
        same = before is not None and before.fitted is atlas.fitted and before.index is atlas.index
        points = known.edited(atlas) if known is not None and same else PointMap(Chooser(atlas))
        arranged = known is None or before is None or not atlas.is_arranged_as(before)
        if arranged:
            atlas.map()
            if atlas.fitted.log_lift is not None:
                atlas.pairs()
            if atlas.index is not None:
                points.points("auto")
        self._atlas, self._chooser, self._points = atlas, points.chooser, points
        self.changes += 1
        self.arrangements += arranged

    def themes(self, n: Any = "auto") -> "Themes":
        """Themes of the model: looked for once, however many ask at the same time."""
        changes, atlas = self.changes, self.atlas
        found: Themes = self.told.get(("themes", n, changes), lambda: atlas.themes(n))
        return found

    def granularity(self) -> str:
        """How long a period of trends is by default: the same for all topics, and found once."""
        atlas = self.atlas
        first = [int(topic) for topic in atlas.folding.shown[:1]]
        found: str = self.told.get("granularity", lambda: atlas.trends("topic", ids=first).granularity)
        return found

    def close(self) -> None:
        """Let go of everything."""
        self.closed.set()
        if self.search is not None:
            self.search.close()

    @property
    def chooser(self) -> Chooser:
        """Selects documents."""
        atlas, known = self.atlas, self._chooser
        if known is None or known.atlas is not atlas:
            self._chooser = known = Chooser(atlas)
        return known

    @property
    def points(self) -> PointMap:
        """Documents on the map."""
        chooser, known = self.chooser, self._points
        if known is None or known.chooser is not chooser:
            self._points = known = PointMap(chooser)
        return known


class Turns:
    """Lets in some at a time and has some wait; whoever comes when all places are taken is sent away."""

    def __init__(self, at_once: int, waiting: int) -> None:
        self.free, self.places = asyncio.Semaphore(at_once), at_once + waiting
        self.inside = 0

    async def run(self, work: Callable[[], Any]) -> Any:
        """Do some work in another thread when it is its turn."""
        if self.inside >= self.places:
            raise Refused(503, "too many texts are being read just now; try again in a second", Retry_After="1")
        self.inside += 1
        try:
            async with self.free:
                return await asyncio.get_running_loop().run_in_executor(None, work)
        finally:
            self.inside -= 1
