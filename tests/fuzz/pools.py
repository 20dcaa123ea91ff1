"""Odd values, types and names: what tables hold that nobody thought of."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa

MOMENT = dt.datetime(2021, 3, 4, 5, 6, 7)
NIGHT = dt.datetime(2021, 10, 31, 0, 0)
"""In UTC: within the next hour, clocks in Berlin are put back from three to two."""
TEXT = pa.string()
CODES = pa.dictionary(pa.int32(), pa.string())


@dataclass(frozen=True)
class Pool:
    """Values that a column draws from, and the type that holds them. What has a `role` can have any; a numeric pool
    also suits what needs numbers."""

    values: tuple[Any, ...]
    type: pa.DataType = TEXT
    role: bool = True
    numeric: bool = False


def _pool(*values: Any, type: pa.DataType = TEXT, role: bool = True, numeric: bool = False) -> Pool:
    return Pool(values, type, role, numeric)


TEXTS = (
    _pool("Quetzal-flu", "Quetzal-hiv", "Quetzal-cold", "Quetzal-cancer", "Quetzal-cough"),
    _pool("Quetzal-flu", "Quetzal-hiv", "Quetzal-cold", "Quetzal-cancer", None, type=CODES),
    _pool("F", "M"),
    _pool("a", "b", "c", None),
    _pool("*", "**", "[1-2]", "{a|b}", "a|b", "a", "b"),
    _pool("a,b;c", 'say "quetzals"', '"', "two\nquetzal lines", "tab\tinside", "carriage\rreturn", "back\\slash"),
    _pool("\u00fcmlaut", "\u6f22\u5b57\u6f22\u5b57", "\u0645\u0631\u062d\u0628\u0627", "\U0001f469\u200d\U0001f467"),
    _pool("e\u0301", "\u00e9", "\u202eabc", "\ufeffx", "\u2028line", "\u00a0a", "a"),
    _pool("=1+1", "=cmd|'/c calc'!A0", "+1", "-x", "@SUM(A1)", "#N/A"),
    _pool("", " ", "a", " a ", "a ", "A", None),
    _pool("NA", "?", "null", "None", "nan", "inf", "x"),
    _pool("quetzal" * 900, "quetzal" * 900 + "!", "short"),
    _pool("53715", "53710", "53706", "12345", "90210", "90211"),
    _pool("007", "07", "7", "0007"),
    _pool("<18", "≥90", "[3-4)", "20", "1 – 2"),
    _pool("true", "false", "TRUE", None),
    _pool("S", "M", "L", "XL", "XXL", type=CODES),
    _pool("x" * 40, "y" * 40, type=pa.large_string()),
    _pool("1984-05-17", "1984-06-02", "1991-01-30", "2000-02-29", "1999-12-31"),
    _pool("2020-01-01", "2020-01-01 00:00:00.000", "2020-01-01 00:00:00", "1999-12-31", None),
    _pool("2020-01-01T00:00:00+05:30", "2020-01-01T00:00:00Z", "2020-06-01T12:30:00-08:00"),
)  # fmt: skip
NUMBERS = (
    _pool(*(str(age) for age in range(17, 80)), numeric=True),
    _pool("1", "2", "10", "-3", "1.5", "1e3", " 7", None, numeric=True),
    _pool("1.10", "1.10", "2.50", "3.75", numeric=True),
    _pool("1.10", "1.1", "2.5", numeric=True),
    _pool("-0", "0", "1", "2", numeric=True),
    _pool("1", "2", "3", "nan", numeric=True),
    _pool("1", "2", "3", "inf", numeric=True),
    _pool("9007199254740992", "9007199254740993", "9007199254740994", "5", numeric=True),
    _pool("0.1", "0.25", "0.30000000000000004", "12345678.9", numeric=True),
    _pool("1.7e308", "-1.7e308", "1e-300", "0", numeric=True),
    _pool(*range(17, 80), type=pa.int64(), numeric=True),
    _pool(1, 2, 3, None, -5, type=pa.int8(), numeric=True),
    _pool(2**53, 2**53 + 1, 2**53 + 2, 5, None, type=pa.int64(), numeric=True),
    _pool(2**64 - 1, 2**64 - 2, 5, type=pa.uint64(), numeric=True),
    _pool(0.1, 0.2, -0.0, 0.0, 1234567.25, None, type=pa.float64(), numeric=True),
    _pool(0.5, float("nan"), 2.0, 7.25, type=pa.float64(), numeric=True),
    _pool(0.1, 2.0, 3.5, type=pa.float32(), numeric=True),
    _pool(1.7e308, -1.7e308, 1e-300, type=pa.float64(), numeric=True),
    _pool(Decimal("1.50"), Decimal("2.00"), Decimal("-3.25"), None, type=pa.decimal128(10, 2), numeric=True),
    _pool(
        Decimal("12345678901234567.01"), Decimal("12345678901234567.02"), Decimal("0.10"),
        type=pa.decimal128(25, 2), numeric=True,
    ),
)  # fmt: skip
SPELLED = (
    _pool("Caf\u00e9", "Cafe\u0301", "Z\u00fcrich", "Zu\u0308rich", "Bern"),
    _pool("1", "1.0", "1e0", "+1", "2", "2.0", "3", numeric=True),
    _pool("1", "1.0", " 1", "1.00", "x", None),
    _pool("10", "10.0", "1e1", "20", "2e1", "30", None, numeric=True),
    _pool("Bern", "Be\u200brn", "Be\u00adrn", "\ufeffBern", "Bern\u00a0", "Basel"),
    _pool("\uac00", "\u1100\u1161", "\u212b", "\u00c5", "A\u030a"),
    _pool("0", "-0", "0.0", "-0.0", "+0", "1", numeric=True),
)
"""Values that are spelled in several ways: the same number, the same text in composed and decomposed characters, and
characters that nobody sees."""
MOMENTS = (
    _pool("2021-03-28 01:30:00", "2021-03-28 02:30:00", "2021-03-28 03:30:00", "2021-03-28", None),
    _pool("2021-10-31T02:30:00+02:00", "2021-10-31T02:30:00+01:00", "2021-10-31T00:30:00Z", "2021-10-31T01:30:00Z"),
    _pool("2020-02-29", "29 February 2020", "2020-03-01"),
    _pool("31/12/1999", "01/02/2000", "13/05/1984", None),
    _pool("2021-01-01T00:00:00.000Z", "2020-12-31T23:59:59.999Z", "2021-01-01T00:00:00Z"),
    _pool(
        *(NIGHT + dt.timedelta(minutes=30 * step) for step in range(5)), None, type=pa.timestamp("s", "Europe/Berlin")
    ),
    _pool(*(NIGHT + dt.timedelta(minutes=30 * step) for step in range(5)), type=pa.timestamp("ns", "UTC")),
    _pool(
        dt.datetime(1969, 12, 31, 23, 59, 59), dt.datetime(1970, 1, 1), dt.datetime(2262, 1, 1), type=pa.timestamp("ms")
    ),
    _pool(dt.date(1900, 1, 1), dt.date(1970, 1, 1), dt.date(2100, 12, 31), None, type=pa.date32()),
)
"""Dates and times: zones, and the nights in which clocks are put forward and back."""
SIMPLE = (
    _pool(*(str(age) for age in range(20, 32))),
    _pool("Bern", "Basel", "Genf", "Chur"),
    _pool("1", "1.0", "2", "3", "3.0", "5"),
    _pool("53715", "53710", "53706", "12345"),
)
TYPED = (
    _pool(True, False, None, type=pa.bool_()),
    _pool(dt.date(1984, 5, 17), dt.date(2000, 2, 29), dt.date(1999, 12, 31), None, type=pa.date32()),
    _pool(MOMENT, MOMENT + dt.timedelta(days=400), MOMENT.replace(microsecond=5), None, type=pa.timestamp("us")),
    _pool(MOMENT, MOMENT + dt.timedelta(days=99), None, type=pa.timestamp("us", "Europe/Paris")),
    _pool(MOMENT, MOMENT + dt.timedelta(days=99), type=pa.timestamp("ms", "+05:30")),
    _pool(dt.time(1, 2), dt.time(3, 4, 5), None, type=pa.time64("us")),
    _pool(dt.time(1, 2), dt.time(3, 4, 5), dt.time(23, 59, 59), type=pa.time64("ns")),
    _pool(dt.time(1, 2), dt.time(3, 4, 5), None, type=pa.time32("ms")),
    _pool(dt.timedelta(days=1), dt.timedelta(seconds=5), None, type=pa.duration("us"), numeric=True),
    _pool(None, type=TEXT),
    _pool(None, type=pa.null()),
)
ALL = TEXTS + NUMBERS + TYPED + SPELLED + MOMENTS
NESTED = (
    _pool(["quetzal-one", "quetzal-two"], ["quetzal-three"], [], None, type=pa.list_(TEXT), role=False),
    _pool(["quetzal-one"], ["quetzal-two", None], type=pa.list_(CODES), role=False),
    _pool({"a": "quetzal-one"}, {"a": None}, None, type=pa.struct({"a": TEXT}), role=False),
    _pool({"a": "quetzal-one"}, {"a": "quetzal-two"}, type=pa.struct({"a": CODES}), role=False),
    _pool(b"quetzal\xff", b"", None, type=pa.binary(), role=False),
)  # fmt: skip

FAMILIES = {
    "texts": TEXTS, "numbers": NUMBERS, "other types": TYPED, "spelled alike": SPELLED, "dates and times": MOMENTS,
    "nested": NESTED,
}  # fmt: skip


def family(pool: Pool) -> str:
    """The kind of values that a pool has."""
    return next((name for name, some in FAMILIES.items() if pool in some), "texts")


NAMES = (
    "age", "sex", "zip code", "größe", "x,y", 'the "job"', "a;b", "=SUM(A1)", "it's", "<b>bold</b>", "名前", "a|b",
    "key:with=signs", "a/b", "[red]wage[/red]", "group", "count", "العمر", "n" * 200, "{name}", "%s", "Age", "a.b",
)  # fmt: skip

BUILDERS = {
    "number": ("intervals:width=10", "intervals:width=2.5", "intervals:width=10,bottom=20,top=60", "ordering:fanout=3"),
    "text": ("masking", "masking:side=left,step=2", "ordering", "ordering:fanout=3"),
    "date": ("dates", "dates:units=year|decade", "masking:step=3"),
}
