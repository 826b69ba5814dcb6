"""Records are put together as they were: values, order in memory, alignment, and what may be written to."""

from typing import NamedTuple

import numpy as np
import pytest

from diln.engine.dask.parts import LARGE, content, put_together, sound, taken_apart


class Record(NamedTuple):
    small: np.ndarray
    large: np.ndarray
    inside: tuple
    number: np.uint64


def locked(array):
    array.flags.writeable = False
    return array


TABLES = {
    "C": np.arange(40_000.0).reshape(200, 200),
    "F": np.asfortranarray(np.arange(40_000.0).reshape(200, 200)),
    "locked": locked(np.arange(40_000.0, dtype=np.float32)),
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("shift", [0, 1])
def test_a_record_comes_back_as_it_was_wherever_its_bytes_arrive(name, shift):
    table = TABLES[name]
    record = Record(np.arange(3), table, (np.ones(LARGE, np.uint8), "text"), np.uint64(2**63))
    message, large = taken_apart(record)
    assert len(message.pickled) < 2_000 and [part.nbytes for part in large] == [table.nbytes, LARGE]
    arrived = []
    for part in large:
        room = np.empty(part.nbytes + shift, np.uint8)
        room[shift:] = part
        arrived.append(locked(room[shift:]))
    back = put_together(message, arrived)
    np.testing.assert_array_equal(back.large, table)
    assert back.large.dtype == table.dtype and back.number == record.number and back.inside[1] == "text"
    for mine, theirs in ((back.large, table), (back.small, record.small), (back.inside[0], record.inside[0])):
        assert mine.flags.aligned
        for flag in ("writeable", "c_contiguous", "f_contiguous"):
            assert getattr(mine.flags, flag) == getattr(theirs.flags, flag)


def test_bytes_that_are_as_they_should_be_are_not_copied():
    part = sound(np.frombuffer(bytes(LARGE), np.uint8))
    assert sound(part) is part


def test_content_is_told_by_bytes_alone():
    one = np.arange(1000, dtype=np.uint8)
    assert content(one) == content(one.copy()) != content(one[::-1].copy())
