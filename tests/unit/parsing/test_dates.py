"""Texts as dates: each format, what is ambiguous, mixed or damaged, and back."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import ParameterError
from shoal.parsing.dates import Calendar, checked, hint, read, recognized
from shoal.parsing.instants import of_typed

DAY = (dt.date(1984, 5, 17) - dt.date(1970, 1, 1)).days
FORMATS = {
    "iso": ["%Y-%m-%d", "%Y/%m/%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S.%f"],
    "day-first": ["%d.%m.%Y", "%d/%m/%Y", "%d-%m-%Y", "%d.%m.%Y %H:%M", "%d/%m/%Y %H:%M:%S"],
    "month-first": ["%m/%d/%Y", "%m-%d-%Y", "%m/%d/%Y %I:%M %p", "%m/%d/%Y %H:%M:%S.%f"],
}
EACH = [(form, pattern) for form, patterns in FORMATS.items() for pattern in patterns]


@pytest.mark.parametrize(
    ("text", "form", "spelled"),
    [
        ("1984-05-17", "iso", "1984-05-17"),
        ("1984-05-17T10:22:00", "iso", "1984-05-17T10:22:00"),
        ("1984-05-17 10:22", "iso", "1984-05-17T10:22:00"),
        ("1984-05-17T10:22:00.250Z", "iso", "1984-05-17T10:22:00.25Z"),
        ("1984-05-17T10:22:00+0200", "iso", "1984-05-17T10:22:00+02:00"),
        ("1984-05-17T10:22:00,000000001-08:00", "iso", "1984-05-17T10:22:00.000000001-08:00"),
        ("17.05.1984", "day-first", "1984-05-17"),
        ("17/5/1984", "day-first", "1984-05-17"),
        ("17-05-1984", "day-first", "1984-05-17"),
        ("17.05.1984 10:22", "day-first", "1984-05-17T10:22:00"),
        ("05/17/1984", "month-first", "1984-05-17"),
        ("5/17/1984 10:22 PM", "month-first", "1984-05-17T22:22:00"),
        ("05/17/1984 12:00 am", "month-first", "1984-05-17T00:00:00"),
        ("17.05.84", "%d.%m.%y", "1984-05-17"),
        ("19840517", "%Y%m%d", "1984-05-17"),
        ("17-May-1984", "%d-%b-%Y", "1984-05-17"),
        ("17.05.1984 10:22+0200", "%d.%m.%Y %H:%M%z", "1984-05-17T10:22:00+02:00"),
        ("29.02.2000", "day-first", "2000-02-29"),
    ],
)
def test_each_format(text: str, form: str, spelled: str) -> None:
    moments = read([text], form)
    assert moments.spelled(times=True) == [spelled]
    assert moments.spelled(times=False) == [spelled[:10]]


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("31.02.1984", "day-first"), ("29.02.1900", "day-first"), ("00.05.1984", "day-first"),
        ("17.13.1984", "day-first"), ("05/17/1984", "day-first"), ("17.05/1984", "day-first"),
        ("17.05.84", "day-first"), ("1984-05-17", "day-first"), ("17.05.1984", "iso"), ("1984-02-30", "iso"),
        ("0000-01-01", "iso"), ("1984-05-17T24:00:00", "iso"), ("1984-05-17T10:60", "iso"),
        ("1984-05-17T10:22:61", "iso"), ("05/17/1984 13:00 PM", "month-first"), ("19840517", "iso"), ("x", "iso"),
        ("17.05.1984", "%d.%m.%y"), ("1984-05-17x", "iso"), ("１９８４-05-17", "iso"),
    ],
)  # fmt: skip
def test_what_is_no_date(text: str, form: str) -> None:
    moments = read([text, text], form)
    assert not moments.sound.any() and moments.spelled(times=True) == [None, None]
    assert np.isnan(moments.quantities(times=False)).all()


@given(
    moments=st.lists(st.datetimes(dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31)), min_size=1, max_size=20),
    chosen=st.sampled_from(EACH),
)
def test_what_is_written_is_read(moments: list[dt.datetime], chosen: tuple[str, str]) -> None:
    form, pattern = chosen
    # as strftime would write them, which does not fill the years before 1000 everywhere
    texts = [moment.strftime(pattern.replace("%Y", f"{moment.year:04d}")) for moment in moments]
    days = [(moment - dt.datetime(1970, 1, 1)).days for moment in moments]
    found = read(texts, form)
    assert found.sound.all() and found.days.tolist() == days
    assert [text[:10] for text in found.spelled(times=True)] == [str(moment.date()) for moment in moments]
    again = Calendar(form, True).moments(found.spelled(times=True))
    assert again.days.tolist() == days and np.array_equal(again.nanos, found.nanos)


@given(st.lists(st.dates(dt.date(1, 1, 1), dt.date(9999, 12, 31)), min_size=1, max_size=30))
def test_a_column_is_never_read_as_other_days(days: list[dt.date]) -> None:
    texts = sorted({f"{day:%d.%m.}{day.year:04d}" for day in days})
    found = recognized(texts)
    assert found is not None
    if any(day.day > 12 for day in days):
        assert found.form == "day-first"
    else:
        assert found.form is None and found.choices == ("day-first", "month-first")


def test_an_ambiguous_column_is_counted() -> None:
    found = recognized(["01/02/1984", "03/04/1984", "12/12/1984"])
    assert found is not None and found.form is None and "all 3 of its" in str(found.doubt)
    assert recognized(["01/02/1984", "03/04/1984", "13/12/1984"]).form == "day-first"  # type: ignore[union-attr]
    assert recognized(["01/02/1984", "03/04/1984", "12/13/1984"]).form == "month-first"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("texts", "counts"),
    [
        (["1984-05-17", "1984-05-18", "17.05.1984"], "2 iso, 1 year-last with ."),
        (["17.05.1984", "17/05/1984"], "1 year-last with ., 1 year-last with /"),
        (["17/05/1984", "05/17/1984", "01/02/1984"], "1 day-first, 1 month-first, 1 either"),
    ],
)
def test_several_formats_are_counted_and_not_read(texts: list[str], counts: str) -> None:
    found = recognized(texts)
    assert found is not None and found.form is None and not found.choices
    assert counts in str(found.doubt)


def test_a_few_damaged_values_leave_a_column_of_dates() -> None:
    dates = [f"{day:02d}.05.1984" for day in range(1, 31)]
    assert recognized([*dates, "31.02.1984", "unknown", "00.00.0000"]).form == "day-first"  # type: ignore[union-attr]
    assert recognized([*dates, "31.02.1984", "unknown", "00.00.0000", "never"]) is None
    assert recognized(["unknown"]) is None and recognized([]) is None


@pytest.mark.parametrize("texts", [["Mary", "Ann"], ["1.2", "3.4"], ["192.168.1.1"], ["12345-6789"], ["1984"]])
def test_other_texts_are_no_dates(texts: list[str]) -> None:
    assert recognized(texts) is None and hint(texts) is None


def test_hints_say_what_is_read_only_on_request() -> None:
    assert "two digits" in str(hint(["17.05.84", "1/2/03"])) and "separators" in str(hint(["19840517", "20000229"]))
    assert hint(["19840517", "19841317"]) is None


@pytest.mark.parametrize("form", ["", "day", "%d.%m", "%Y", "%H:%M", "%Q%d%m%Y", "%", "%d.%m.%Y%"])
def test_formats_that_are_none(form: str) -> None:
    with pytest.raises(ParameterError, match="a date format is"):
        checked(form)


def test_a_format_that_turns_iso_dates_round_is_refused() -> None:
    with pytest.raises(ParameterError, match="exchanges day and month"):
        checked("%Y-%d-%m")
    assert checked("%Y%m%d") == "%Y%m%d" and checked("%d.%m.%Y %H:%M%z") and checked("day-first")


def test_typed_columns() -> None:
    day = of_typed(pa.array([dt.date(1984, 5, 17), dt.date(1, 1, 1)]))
    assert day.days[0] == DAY and not day.times and day.spelled(times=False) == ["1984-05-17", "0001-01-01"]
    when = dt.datetime(1969, 12, 31, 23, 59, 59, 250000)
    for unit in ("ms", "us", "ns"):
        moments = of_typed(pa.array([when], pa.timestamp(unit)))
        assert moments.spelled(times=True) == ["1969-12-31T23:59:59.25"] and moments.quantities(times=True)[0] == -0.75
    # by the clock on the wall: half past midnight in Paris is the evening before in UTC
    zoned = pa.array([dt.datetime(2020, 7, 1, 22, 30)], pa.timestamp("s")).cast(pa.timestamp("s", "UTC"))
    assert of_typed(zoned.cast(pa.timestamp("s", "Europe/Paris"))).spelled(times=False) == ["2020-07-02"]


def test_quantities_are_in_order_before_and_after_1970() -> None:
    texts = ["1969-12-31T23:59:59", "1970-01-01T00:00:00", "1970-01-01T00:00:00.5"]
    assert read(texts, "iso").quantities(times=True).tolist() == [-1.0, 0.0, 0.5]
    assert Calendar("day-first").spelled(float(DAY)) == "1984-05-17"
