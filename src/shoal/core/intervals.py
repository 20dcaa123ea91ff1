"""Published numbers, read back: what an interval, a bound or a number says, and no more than that."""

from __future__ import annotations

import re
from typing import Any, Literal

import numpy as np

from shoal.core.hierarchy import Floats
from shoal.errors import InputError, ParameterError, quoted
from shoal.parsing.labels import INTERVAL, NUMBER, number

Numbers = Literal["intervals", "bounds", "midpoint"]
"""How numbers are shown: as they are published, as a lower and an upper bound, or as the middle between the two."""

_BELOW, _FROM = re.compile(rf"<({NUMBER})"), re.compile(rf"≥({NUMBER})")
_NOTHING = (float("nan"), float("nan"))


def ends(label: str | None) -> tuple[float, float]:
    """The bounds that a published label tells; not-a-number where it tells none.

    Example:
        >>> ends("[20-24]"), ends("31.5"), ends("≥90"), ends("*")
        ((20.0, 24.0), (31.5, 31.5), (90.0, nan), (nan, nan))
    """
    if label is None:
        return _NOTHING
    between = INTERVAL.fullmatch(label)
    if between:
        return float(between[1]), float(between[2])
    below, above = _BELOW.fullmatch(label), _FROM.fullmatch(label)
    if below or above:
        return (float("nan"), float(below[1])) if below else (float(above[1]) if above else 0.0, float("nan"))
    value = number(label)
    return (value, value) if np.isfinite(value) else _NOTHING


def holds(label: str, value: float) -> bool:
    """Whether a label tells bounds, and a number lies within them."""
    low, high = ends(label)
    if np.isnan(low) and np.isnan(high):
        return False
    open_end = label.endswith(")") or label.startswith("<")
    return not value < low and not (value >= high if open_end else value > high)


def bounds(column: Any) -> tuple[Floats, Floats]:
    """The lower and the upper bound of each published value of a column."""
    texts = [None if value is None or value != value else str(value).strip() for value in column]
    ends_of = {text: ends(text) for text in set(texts)}
    low, high = np.array([ends_of[text] for text in texts], np.float64).reshape(-1, 2).T
    return low, high


def intervals(column: Any) -> Any:
    """The `low`, `high` and `midpoint` of published numbers, as a frame of the type of the column.

    It reads what a generalized release shows: `[20-24]`, `[20-25)`, whose upper end is not part of it, `<18`, `≥90`, a
    single number. What a label does not tell is missing: both ends of `*`, one of `≥90`.

    Args:
        column: a series of pandas or polars, or an Arrow array.

    Example:
        >>> import polars, shoal
        >>> shoal.intervals(polars.Series(["[20-24]", "31", "≥90"])).rows()
        [(20.0, 24.0, 22.0), (31.0, 31.0, 31.0), (90.0, None, None)]
    """
    import narwhals as nw
    import pyarrow as pa

    native: Any = "pyarrow"
    values = column
    if isinstance(column, (pa.Array, pa.ChunkedArray)):
        values = column.to_pylist()
    else:
        try:
            native = nw.from_native(column, series_only=True).implementation.value
        except TypeError:
            raise InputError("a column is needed: a series of pandas or polars, or an Arrow array") from None
    low, high = bounds(values)
    shown = {"low": low, "high": high, "midpoint": low + (high - low) / 2}
    table = pa.table({name: pa.array(numbers, from_pandas=True) for name, numbers in shown.items()})
    return table if native == "pyarrow" else nw.from_arrow(table, backend=native).to_native()


def shown_as(frame: Any, columns: list[str], numbers: Numbers) -> Any:
    """A frame with some columns of published numbers as their bounds or their midpoints, in the same places."""
    import narwhals as nw

    if numbers not in ("intervals", "bounds", "midpoint"):
        raise ParameterError("numbers are shown as intervals, bounds or midpoint")
    if numbers == "intervals" or not columns:
        return frame
    wrapped = nw.from_native(frame)
    parts = []
    for name in wrapped.columns:
        if name not in columns:
            parts.append(wrapped[name])
            continue
        read = nw.from_native(intervals(wrapped[name].to_native()), eager_only=True)
        if numbers == "midpoint":
            parts.append(read["midpoint"].alias(name))
        else:
            parts += [read[end].alias(f"{name}.{end}") for end in ("low", "high")]
    titles = [series.name for series in parts]
    twice = [title for title in titles if titles.count(title) > 1]
    if twice:
        raise ParameterError(f"the bounds need a column {quoted(twice[0])}, and there is one; rename it")
    return nw.from_dict({series.name: series for series in parts}).to_native()
