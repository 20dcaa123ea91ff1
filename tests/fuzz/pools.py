"""Odd values, types and names: what tables hold that nobody thought of."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa

MOMENT = dt.datetime(2021, 3, 4, 5, 6, 7)
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
TYPED = (
    _pool(True, False, None, type=pa.bool_()),
    _pool(dt.date(1984, 5, 17), dt.date(2000, 2, 29), dt.date(1999, 12, 31), None, type=pa.date32()),
    _pool(MOMENT, MOMENT + dt.timedelta(days=400), MOMENT.replace(microsecond=5), None, type=pa.timestamp("us")),
    _pool(MOMENT, MOMENT + dt.timedelta(days=99), None, type=pa.timestamp("us", "Europe/Paris")),
    _pool(MOMENT, MOMENT + dt.timedelta(days=99), type=pa.timestamp("ms", "+05:30")),
    _pool(dt.time(1, 2), dt.time(3, 4, 5), None, type=pa.time64("us")),
    _pool(dt.timedelta(days=1), dt.timedelta(seconds=5), None, type=pa.duration("us"), numeric=True),
    _pool(None, type=TEXT),
    _pool(None, type=pa.null()),
)
ALL = TEXTS + NUMBERS + TYPED
NESTED = (
    _pool(["quetzal-one", "quetzal-two"], ["quetzal-three"], [], None, type=pa.list_(TEXT), role=False),
    _pool(["quetzal-one"], ["quetzal-two", None], type=pa.list_(CODES), role=False),
    _pool({"a": "quetzal-one"}, {"a": None}, None, type=pa.struct({"a": TEXT}), role=False),
    _pool({"a": "quetzal-one"}, {"a": "quetzal-two"}, type=pa.struct({"a": CODES}), role=False),
    _pool(b"quetzal\xff", b"", None, type=pa.binary(), role=False),
)  # fmt: skip

NAMES = (
    "age", "sex", "zip code", "größe", "x,y", 'the "job"', "a;b", "=SUM(A1)", "it's", "<b>bold</b>", "名前", "a|b",
    "key:with=signs", "a/b", "[red]wage[/red]", "group", "count", "العمر", "n" * 200, "{name}", "%s", "Age", "a.b",
)  # fmt: skip

BUILDERS = {
    "number": ("intervals:width=10", "intervals:width=2.5", "intervals:width=10,bottom=20,top=60", "ordering:fanout=3"),
    "text": ("masking", "masking:side=left,step=2", "ordering", "ordering:fanout=3"),
    "date": ("dates", "dates:units=year|decade", "masking:step=3"),
}
