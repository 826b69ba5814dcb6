"""Labels of points that do not lie on each other, nor on the points."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Boxes = NDArray[np.float64]  # (n, 4): left, top, right, bottom


class Placed(NamedTuple):
    """Where a label is: its left end and its middle."""

    left: float
    middle: float


class Label(NamedTuple):
    """A label where it is."""

    left: float
    middle: float
    text: str
    shade: str


class Room:
    """A sheet on which labels find places one after the other, in inches from its upper left corner."""

    def __init__(self, width: float, height: float, most: int = 4000) -> None:
        self.width, self.height = width, height
        self._boxes = np.empty((most, 4))
        self._n = 0

    def take(self, left: float, top: float, right: float, bottom: float) -> None:
        """Let nothing else lie there."""
        if self._n == len(self._boxes):
            self._boxes = np.concatenate([self._boxes, np.empty_like(self._boxes)])
        self._boxes[self._n] = left, top, right, bottom
        self._n += 1

    def free(self, left: float, top: float, right: float, bottom: float) -> bool:
        """Whether nothing lies there, and it is on the sheet."""
        if left < 0 or top < 0 or right > self.width or bottom > self.height:
            return False
        taken = self._boxes[: self._n]
        apart = (taken[:, 2] <= left) | (taken[:, 0] >= right) | (taken[:, 3] <= top) | (taken[:, 1] >= bottom)
        return bool(apart.all())

    def place(self, x: float, y: float, radius: float, width: float, height: float) -> Placed | None:
        """The best free place for a label beside a point: to its right, left, above, below, or a little further."""
        for away in (0.03, 0.09, 0.17):
            far = radius + away
            near = 0.7 * far
            spots = (
                (x + far, y), (x - far - width, y), (x - width / 2, y - far - height / 2),
                (x - width / 2, y + far + height / 2), (x + near, y - near - height / 4),
                (x + near, y + near + height / 4), (x - near - width, y - near - height / 4),
                (x - near - width, y + near + height / 4),
            )  # fmt: skip
            for left, middle in spots:
                box = (left, middle - height / 2, left + width, middle + height / 2)
                if self.free(*box):
                    self.take(*box)
                    return Placed(left, middle)
        return None
