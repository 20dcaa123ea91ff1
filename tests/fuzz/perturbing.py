"""What perturbations promise of every table: which values stay, and how far the others may go."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from fractions import Fraction
from typing import Any

from tests.fuzz.case import Column
from tests.fuzz.checking import JUDGED, Checks, demand
from tests.fuzz.meaning import quantity

SWAPPING, SIGNED, RANKED = "rank-swapping", "multiplicative-noise", ("resampling", "distortion")
KEEPING = (SWAPPING, "shuffling", "targeted-swapping")
CHOSEN = ("pram", "targeted-swapping")
MEANS = ("top-bottom-coding", "microaggregation")


def check_perturbed(checks: Checks) -> None:
    """Columns that are not changed are true of their records; those that are keep what their perturbation keeps."""
    sheet, name = checks.sheets[""], checks.case.algorithm[0]
    checks.seen["perturbation", name] += 1
    if checks.rows is not None:
        checks.check_plain(sheet, checks.rows)
    for column in checks.case.columns:
        if column.role in JUDGED:
            _check_column(checks, column)


def _check_column(checks: Checks, column: Column) -> None:
    sheet, name = checks.sheets[""], checks.case.algorithm[0]
    values = checks.lexicons[column.name].values
    if column.role == "sensitive" or name in KEEPING:
        found = Counter(checks.values(sheet, column.name))
        demand(found == Counter(values[row] for row in checks.kept), f"{name} changed the values of a column")
    if checks.rows is None:
        return
    cells = sheet.column(column.name)
    lost = [values[row] is not None and cell is None for cell, row in zip(cells, checks.rows, strict=True)]
    made = [values[row] is None and cell is not None for cell, row in zip(cells, checks.rows, strict=True)]
    demand(not any(made), "a missing value became one")
    demand(not any(lost) or name in ("random-projection", "rotation"), "a value became missing")
    if column.role == "sensitive" or name in CHOSEN:
        shown = checks.values(sheet, column.name)
        if column.role == "sensitive":
            demand(shown == [values[row] for row in checks.rows], "a perturbation changed a sensitive value")
        return
    numbers = [
        (quantity(column.values[row], column.type), quantity(cell, sheet.types.get(column.name, column.type)))
        for cell, row in zip(cells, checks.rows, strict=True)
        if values[row] is not None
    ]
    pairs = [(true, shown) for true, shown in numbers if true is not None and shown is not None]
    if len(pairs) == len(numbers):
        weight = checks.case.weight
        rows = [row for row in checks.rows if values[row] is not None]
        _check_numbers(checks, pairs, [Fraction(1 if weight is None else str(weight.values[row])) for row in rows])


def _check_numbers(checks: Checks, pairs: list[tuple[Fraction, Fraction]], weights: list[Fraction]) -> None:
    name, given = checks.case.algorithm
    if name == SIGNED:
        demand(all(true * shown >= 0 and (true != 0 or shown == 0) for true, shown in pairs), "a sign changed")
    if name in RANKED and given.get("assign", "rank") == "rank":
        ordered = sorted(pairs)
        shown = [cell for _, cell in sorted(ordered, key=lambda pair: (pair[0], pair[1]))]
        demand(shown == sorted(shown), f"{name} changed the ranks")
    if name in MEANS and pairs:
        weighed = list(zip(weights, pairs, strict=True))
        moved = abs(sum(weight * (shown - true) for weight, (true, shown) in weighed))
        whole = sum(weight * abs(true) for weight, (true, _) in weighed)
        demand(moved <= Fraction(1, 10**6) * whole, f"{name} changed a mean")
        new = Counter(shown for true, shown in pairs if true != shown)
        least = int(given.get("k", 3))
        kept = Counter(shown for true, shown in pairs if true == shown)
        demand(all(new[cell] + kept[cell] >= least for cell in new), "a mean stands for too few records")
    if name == "rounding" and any(true != shown for true, shown in pairs):  # else it may be a column of codes
        base = Fraction(str(given.get("base", 10)))
        most = base if given.get("random") else base / 2
        demand(all(abs(shown - true) <= most for true, shown in pairs), "a value was rounded too far")
        demand(all(shown % base == 0 for _, shown in pairs), "a rounded value is no multiple of the base")
    if name == SWAPPING:
        most = int(given.get("share", 0.05) * len(checks.rows or ()))
        values = sorted(true for true, _ in pairs)
        demand(all(_near(values, true, shown, most) for true, shown in pairs), "a value was swapped too far")


def _near(values: list[Any], true: Any, shown: Any, most: int) -> bool:
    """Whether two of the values are at most so many ranks apart."""
    gap = max(
        bisect_left(values, shown) - bisect_right(values, true), bisect_left(values, true) - bisect_right(values, shown)
    )
    return gap + 1 <= most or true == shown
