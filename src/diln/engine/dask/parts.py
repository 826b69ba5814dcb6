"""Taking a record apart into a small message and its large arrays, and putting it together again.

The arrays go by themselves, so that one that has not changed need not be sent again. Put together they are what they
were: as aligned, as writeable, and in the same order in memory. A compiled loop is another one for arrays that are not.
"""

import pickle
from hashlib import blake2b
from typing import Any, NamedTuple

import cloudpickle
import numpy as np
from numpy.typing import NDArray

LARGE = 64 * 1024  # bytes from which an array goes by itself
ALIGNED = 64  # bytes

Bytes = NDArray[np.uint8]


class Message(NamedTuple):
    """A record without its large arrays."""

    pickled: bytes
    locked: tuple[bool, ...]  # which of the arrays must not be written to


def taken_apart(record: Any) -> tuple[Message, list[Bytes]]:
    """The message, and the bytes of the large arrays, in memory that is shared with the record."""
    large: list[Bytes] = []
    locked: list[bool] = []

    def small(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes < LARGE:
            return True
        large.append(np.frombuffer(raw, np.uint8))
        locked.append(raw.readonly)
        return False

    try:
        pickled = pickle.dumps(record, protocol=5, buffer_callback=small)
        whole = b"__main__" not in pickled
    except (pickle.PicklingError, AttributeError, TypeError):
        whole = False
    if not whole:  # something of a script or a notebook, which workers cannot import
        large.clear()
        locked.clear()
        pickled = cloudpickle.dumps(record, protocol=5, buffer_callback=small)
    return Message(pickled, tuple(locked)), large


def put_together(message: Message, large: list[Bytes]) -> Any:
    """The record; its large arrays share memory with the bytes, where these are as they should be."""
    buffers = []
    for part, locked in zip(large, message.locked, strict=True):
        view = sound(part).data
        buffers.append(view.toreadonly() if locked else view)
    return pickle.loads(message.pickled, buffers=buffers)  # noqa: S301 - from the process that this one works for


def sound(part: Bytes) -> Bytes:
    """The bytes in memory that is aligned and may be written to."""
    if part.flags.writeable and part.ctypes.data % ALIGNED == 0:
        return part
    room = np.empty(part.nbytes + ALIGNED, np.uint8)
    start = -room.ctypes.data % ALIGNED
    room[start : start + part.nbytes] = part
    return room[start : start + part.nbytes]


def content(part: Bytes) -> str:
    """A name that only the same bytes have."""
    return blake2b(part.data, digest_size=16).hexdigest()
