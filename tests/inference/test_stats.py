"""Records of arrays by topic: the types of their fields say how to choose, add up and restore them."""

from dataclasses import dataclass

import numpy as np
import pytest

from diln.engine.lanes import LANES
from diln.inference.emissions.multinomial_draws import TopicCounts
from diln.inference.stats import ByTopic, Stats, TopicColumns, TopicPairs, TopicRows, TopicVector, layout, padded
from diln.inference.weights.gamma_process_draws import GatedState, GatedSums
from diln.inference.weights.gaussian_draws import GaussianState, GaussianSums

TOPICS = LANES + 3


@dataclass(slots=True)
class Record(Stats):
    """An array of every kind, and numbers."""

    rows: TopicRows  # (width, 2)
    columns: TopicColumns  # (2, width) float32
    vector: TopicVector  # (n_topics,)
    pairs: TopicPairs  # (n_topics, n_topics)
    mass: float
    size: int


@pytest.fixture
def record():
    """Whole numbers, which tell where each came from; 0 beyond the topics."""
    width = padded(TOPICS)
    rows, columns = np.zeros((width, 2)), np.zeros((2, width), np.float32)
    rows[:TOPICS] = np.arange(2 * TOPICS).reshape(TOPICS, 2)
    columns[:, :TOPICS] = 100 + np.arange(2 * TOPICS).reshape(2, TOPICS)
    pairs = 1000 + np.arange(TOPICS**2, dtype=float).reshape(TOPICS, TOPICS)
    return Record(rows, columns, np.arange(TOPICS) / 2, pairs, 0.5, 7)


def same(one, other):
    assert type(one) is type(other)
    assert one.numbers() == other.numbers()
    assert list(one.tensors()) == list(other.tensors())
    for name, array in one.tensors().items():
        np.testing.assert_array_equal(array, other.tensors()[name], err_msg=name, strict=True)


def test_types_say_which_axes_are_topics_and_what_is_not_an_array_is_a_number(record):
    pairs, columns = ByTopic((0, 1), lanes=False), ByTopic((-1,))
    assert layout(Record) == {
        "rows": ByTopic((0,)), "columns": columns, "vector": ByTopic((0,), lanes=False), "pairs": pairs
    }  # fmt: skip
    assert record.numbers() == {"mass": 0.5, "size": 7}
    assert all(record.tensors()[name] is getattr(record, name) for name in layout(Record))


@pytest.mark.parametrize(
    ("kind", "arrays", "numbers"),
    [
        (TopicCounts, {"table", "totals"}, {"prior"}),
        (GatedState, {"a0", "ells"}, {"alpha", "variance", "truncation"}),
        (GatedSums, {"tables", "softs", "precision", "linear"}, set()),
        (GaussianState, {"mean", "covariance"}, set()),
        (GaussianSums, {"moments"}, set()),
    ],
)
def test_every_field_of_a_models_records_is_an_array_or_a_number(kind, arrays, numbers):
    assert set(layout(kind)) == arrays
    made = kind(**{name: np.zeros((1, 1)) for name in arrays}, **dict.fromkeys(numbers, 1.0))
    assert set(made.numbers()) == numbers


@pytest.mark.parametrize("size", [1, LANES - 1, LANES, LANES + 1])
def test_widths_are_the_next_whole_number_of_lanes(size):
    assert padded(size) % LANES == 0
    assert 0 <= padded(size) - size < LANES


@pytest.mark.parametrize(
    "topics", [[4, 1], [2], list(range(LANES)), list(range(TOPICS))[::-1], [0, 0, *range(TOPICS), 5]]
)
def test_chosen_topics_are_in_the_order_asked_for_and_nothing_is_beyond_them(record, topics):
    chosen, size, before = record.chosen(np.array(topics)), len(topics), record.copy()
    width = padded(size)
    assert chosen.rows.shape == (width, 2)
    assert chosen.columns.shape == (2, width)
    np.testing.assert_array_equal(chosen.rows[:size], record.rows[topics])
    np.testing.assert_array_equal(chosen.columns[:, :size], record.columns[:, topics])
    assert not chosen.rows[size:].any()
    assert not chosen.columns[:, size:].any()
    np.testing.assert_array_equal(chosen.vector, record.vector[topics])
    np.testing.assert_array_equal(chosen.pairs, record.pairs[np.ix_(topics, topics)])
    assert chosen.numbers() == record.numbers()
    for name, array in chosen.tensors().items():
        assert array.dtype == record.tensors()[name].dtype
        assert array.flags.c_contiguous
        array += 1
    same(record, before)


def test_moments_keep_the_row_and_column_of_ones():
    moments = np.arange(16.0).reshape(4, 4)
    np.testing.assert_array_equal(
        GaussianSums(moments).chosen(np.array([2, 0])).moments, moments[[0, 3, 1]][:, [0, 3, 1]]
    )


def test_a_move_keeps_a_part_and_adds_a_share_in_place(record):
    other, before, arrays = record.chosen(np.arange(TOPICS)[::-1]), record.copy(), record.tensors()
    given = other.copy()
    record.move(other, 0.75, 0.5)
    for name, array in record.tensors().items():
        assert array is arrays[name]
        assert array.dtype == before.tensors()[name].dtype
        np.testing.assert_array_equal(array, 0.75 * before.tensors()[name] + 0.5 * given.tensors()[name])
    assert record.numbers() == before.numbers()
    same(other, given)


def test_a_move_of_nothing_and_a_move_all_the_way(record):
    other, before = record.chosen(np.arange(TOPICS)[::-1]), record.copy()
    record.move(other, 1.0, 0.0)
    same(record, before)
    record.move(other, 0.0, 1.0)
    same(record, other)


def test_scaling_multiplies_every_array_in_its_own_precision_and_no_number(record):
    before = record.copy()
    record.scale(0.1)
    for name, array in record.tensors().items():
        old = before.tensors()[name]
        np.testing.assert_array_equal(array, old * old.dtype.type(0.1), strict=True)
    assert record.numbers() == before.numbers()


def test_what_is_restored_is_what_was_given_among_others_of_the_same_names(record):
    other = record.chosen(np.array([3, 1]))
    tensors = {
        **record.tensors(),
        **{f"{name}.0": array for name, array in other.tensors().items()},
        "more": record.rows,
    }
    numbers = {**record.numbers(), "n_topics": TOPICS}
    same(Record.restored(tensors, numbers), record)
    same(Record.restored(tensors, numbers, ".0"), other)
    with pytest.raises(KeyError):
        Record.restored(tensors, numbers, ".1")


def test_a_copy_has_memory_of_its_own(record):
    copied = record.copy()
    same(copied, record)
    for name, array in copied.tensors().items():
        assert not np.shares_memory(array, record.tensors()[name])
