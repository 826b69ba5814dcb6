"""Records and tensors of any origin are what is declared, or refused in words."""

import numpy as np
import pytest

from diln.fields import Field, MismatchError, Tensor, TensorError, UnknownError, bounds, check_tensors, read

RECORD = (
    Field("size", "whole", "", least=1, most=9),
    Field("share", "float", "", 0.5, above=0),
    Field("names", "texts", "", list),
    Field("kind", "text", "", None, null=True, choices=("a", "b")),
    Field("inner", "records", "", list, of=(Field("x", "any number", ""),)),
)


def test_a_record_has_its_defaults_and_floats_where_they_are_declared():
    assert read(RECORD, {"size": 3}) == {"size": 3, "share": 0.5, "names": [], "kind": None, "inner": []}
    found = read(RECORD, {"size": 1, "share": 2, "kind": "b", "inner": [{"x": float("nan")}]})
    assert isinstance(found["share"], float)
    assert np.isnan(found["inner"][0]["x"])


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([], "has list in place of an object"),
        ({}, "lacks size"),
        ({"size": 0}, "has size 0 in place of a whole number from 1 to 9"),
        ({"size": True}, "has size True in place of"),
        ({"size": 1.0}, "has size 1.0 in place of"),
        ({"size": 10**400}, "has size 1000"),
        ({"size": 1, "share": 0}, "has share 0 in place of a number above 0"),
        ({"size": 1, "share": float("inf")}, "has share inf in place of"),
        ({"size": 1, "share": 10**400}, "has share 1000"),
        ({"size": 1, "names": ["a", 1]}, "has names list in place of a list of texts"),
        ({"size": 1, "kind": "c"}, 'has kind \'c\' in place of "a" or "b", or null'),
        ({"size": 1, "kind": []}, "has kind list in place of"),
        ({"size": 1, "inner": [{"x": 1}, {}]}, "lacks inner.1.x"),
        ({"size": 1, "inner": [{"x": None}]}, "has inner.0.x None in place of"),
    ],
)
def test_what_is_not_declared_is_told_in_a_few_words(values, said):
    with pytest.raises(MismatchError) as caught:
        read(RECORD, values)
    assert str(caught.value).startswith(said)
    assert len(str(caught.value)) < 120


def test_what_nobody_declared_is_unknown():
    with pytest.raises(UnknownError, match=r"^a field 'inner.0.y'$"):
        read(RECORD, {"size": 1, "inner": [{"x": 1, "y": 2}]})
    with pytest.raises(UnknownError, match=r"^a tensor 'y'$"):
        check_tensors({}, {"y": np.zeros(2)}, {})


def test_bounds_hold_all_numbers():
    rng = np.random.default_rng(0)
    for odd in ([], [-0.0], [-1e-40], [np.inf], [-np.inf], [-3.0, np.inf], [1e-45]):
        array = np.concatenate([rng.gamma(1.0, size=50), odd]).astype(np.float32)
        low, high = bounds(array)
        assert low <= array.min()
        assert high == array.max()
    for odd in (np.nan, -np.nan):
        assert np.isnan(bounds(np.array([1, odd, -2], np.float32))).any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -1, 11, -0.0, 3])
def test_numbers_out_of_range_are_found_wherever_they_are(dtype, value):
    array = np.full((4, 3), 2, dtype)
    array[2, 1] = value
    one = Tensor("x", np.dtype(dtype).name, ("rows", "columns"), "", least=0, most=10)
    if 0 <= value <= 10:
        one.check(array, {"rows": 4, "columns": 3}, "x")
    else:
        with pytest.raises(TensorError, match="has numbers in tensor 'x' that are not from 0 to 10"):
            one.check(array, {"rows": 4, "columns": 3}, "x")
