"""Published numbers read back as bounds and midpoints."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from shoal.core.intervals import ends, holds
from shoal.errors import InputError, ParameterError


def test_labels_say_what_they_say() -> None:
    assert ends("[20-24]") == (20, 24) and ends("[-5--1]") == (-5, -1) and ends("[1e3-2.5e3)") == (1000, 2500)
    assert ends("-7.5") == (-7.5, -7.5)
    for nothing in ("*", "young", "{20|21}", "[a-b]", "5371*", None, "nan", "inf", "20-24"):
        assert str(ends(nothing)) == "(nan, nan)"
    for label, inside, outside in (
        ("[20-24]", (20, 24), (19.9, 24.1)),
        ("[20-25)", (20, 24.9), (19.9, 25)),
        ("<18", (17.9, -1e9), (18, 19)),
        ("≥90", (90, 1e9), (89.9, 0)),
        ("31", (31,), (30, 32)),
        ("*", (), (0, 31)),
        ("young", (), (20,)),
    ):
        assert all(holds(label, value) for value in inside) and not any(holds(label, value) for value in outside)


@pytest.mark.parametrize("kind", [pl.Series, pd.Series, pa.array, lambda cells: pa.chunked_array([cells])])
def test_a_column_of_any_library(kind) -> None:
    found = shoal.intervals(kind(["[20-24]", None, "≥90", "<18", "31"]))
    rows = pl.DataFrame(found).fill_nan(None).rows()
    assert rows == [(20, 24, 22), (None, None, None), (90, None, None), (None, 18, None), (31, 31, 31)]
    assert type(found).__module__.split(".")[0] in type(kind(["1"])).__module__
    with pytest.raises(InputError, match="a column is needed"):
        shoal.intervals(["1"])


@pytest.mark.parametrize(
    "as_frame", [lambda frame: frame, lambda frame: frame.to_pandas(), lambda frame: frame.to_arrow()]
)
def test_a_release_with_numbers(as_frame) -> None:
    table = pl.DataFrame({"age": [20, 21, 30, 31] * 5, "sex": ["F", "M"] * 10, "note": range(20)})
    data = shoal.read(as_frame(table), quasi=["age", "sex"])
    release = shoal.anonymize(data, "k-anonymity:k=10", algorithm="mondrian", seed=1)
    labels = list(pl.DataFrame(release.frame)["age"])
    bounds = release.frame_with(numbers="bounds")
    assert type(bounds) is type(release.frame)
    shown = pl.DataFrame(bounds)
    assert shown.columns == ["age.low", "age.high", "sex", "note"]
    assert list(shown.select("age.low", "age.high").rows()) == [ends(label) for label in labels]
    middle = pl.DataFrame(release.frame_with(numbers="midpoint"))
    assert middle.columns == ["age", "sex", "note"] and list(middle["age"]) == [
        sum(ends(label)) / 2 for label in labels
    ]
    assert list(pl.DataFrame(release.frame_with(numbers="intervals"))["age"]) == labels
    with pytest.raises(ParameterError, match="intervals, bounds or midpoint"):
        release.frame_with(numbers="numbers")


def test_bounds_do_not_hide_a_column() -> None:
    table = pl.DataFrame({"age": [20, 21] * 5, "age.low": ["x"] * 10})
    release = shoal.anonymize(shoal.read(table, quasi=["age"]), "k-anonymity:k=10", algorithm="mondrian")
    with pytest.raises(ParameterError, match=r"need a column 'age\.low', and there is one"):
        release.frame_with(numbers="bounds")
