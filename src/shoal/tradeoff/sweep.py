"""A sweep: the parameters that vary, and the settings that they make together."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any, cast

from shoal import registry
from shoal.core.contracts.algorithm import Algorithm
from shoal.core.contracts.metric import Metric
from shoal.core.contracts.model import Model
from shoal.errors import ParameterError, alternatives
from shoal.job import plugins

MODELS = {"k": "k-anonymity", "l": "distinct-l-diversity", "t": "t-closeness"}
"""The model of a swept parameter where the policy has none with such a parameter."""
AXES = (*MODELS, "suppression", "algorithm")
MOST_AXES, MOST_VALUES = 2, 1000
WRITTEN = "write k=2..20 (from 2 to 20), t=0.1..0.5..0.1 (in steps of 0.1), or values as in algorithm=oka,mondrian"


def parsed(text: str) -> tuple[str, list[Any]]:
    """The name and the values of a sweep as it is written; an algorithm with parameters of its own is quoted.

    Example:
        >>> parsed("k=2..8..2"), parsed("t=0.1..0.3..0.1")
        (('k', [2, 4, 6, 8]), ('t', [0.1, 0.2, 0.3]))
        >>> parsed('algorithm=oka,"k-means:iterations=5,numeric=mean"')
        ('algorithm', ['oka', 'k-means:iterations=5,numeric=mean'])
    """
    name, equals, rest = text.partition("=")
    name = name.strip()
    if not equals or not rest.strip():
        raise ParameterError(f"a sweep cannot be read; {WRITTEN}")
    if name not in AXES:
        raise ParameterError(f"this cannot be swept; {alternatives(name, AXES)}")
    if name == "algorithm":
        return name, [entry.strip() for entry in next(csv.reader([rest], skipinitialspace=True)) if entry.strip()]
    ends = [_number(part) for part in rest.split("..")]
    if len(ends) > 3 or (len(ends) > 1 and None in ends):
        raise ParameterError(f"the range of {name} cannot be read; {WRITTEN}")
    if len(ends) == 1:
        numbers = [_number(part) for part in rest.split(",")]
        if None in numbers:
            raise ParameterError(f"a value of {name} is no number; {WRITTEN}")
        return name, [_plain(number, name) for number in numbers if number is not None]
    first, last, *steps = (end for end in ends if end is not None)
    step = steps[0] if steps else Fraction(1)
    if step <= 0 or last < first:
        raise ParameterError(f"the range of {name} goes from the least value up, by steps above 0")
    count = (last - first) // step + 1
    if count > MOST_VALUES:
        raise ParameterError(f"the range of {name} has {count:,} values; sweep at most {MOST_VALUES:,}")
    return name, [_plain(first + at * step, name) for at in range(count)]


def _number(text: str) -> Fraction | None:
    try:
        return Fraction(text.strip()) if "/" not in text else None
    except ValueError:
        return None


def _plain(number: Fraction, name: str) -> int | float:
    if name == "k" and number.denominator != 1:
        raise ParameterError("k is a whole number")
    return int(number) if name in ("k", "l") and number.denominator == 1 else float(number)


def checked(name: str, values: Iterable[Any]) -> tuple[Any, ...]:
    """The values of a swept parameter, each once: algorithms as they were named, numbers in ascending order."""
    try:
        ordered = [plugins.plugin("algorithms", value) for value in values] if name == "algorithm" else sorted(values)
    except TypeError:
        raise ParameterError(f"the values of {name} are numbers") from None
    if not ordered:
        raise ParameterError(f"the sweep of {name} has no values")
    return tuple({shown(value): value for value in ordered}.values())


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What one release of a sweep is made with: a policy without its seed, and an algorithm."""

    place: tuple[Any, ...]
    models: tuple[Model, ...]
    algorithm: Algorithm
    suppression: float
    objective: Metric | None = None
    rows_are_people: bool = False
    allow_plain: tuple[str, ...] = ()

    def spelled(self) -> dict[str, Any]:
        """Everything that decides what comes out, for the state of a sweep, which holds a hash of it."""
        return {
            "models": [plugins.spelled(model) for model in self.models],
            "algorithm": plugins.spelled(self.algorithm),
            "suppression": self.suppression,
            "objective": None if self.objective is None else plugins.spelled(self.objective),
            "rows_are_people": self.rows_are_people,
            "allow_plain": list(self.allow_plain),
        }


def settings(swept: Mapping[str, tuple[Any, ...]], basis: Setting) -> Iterator[Setting]:
    """Every combination of the swept values, the first one changing fastest, in the place of what the basis has."""
    if not 1 <= len(swept) <= MOST_AXES:
        raise ParameterError(
            f"sweep one or two of {', '.join(AXES)}; {len(swept) or 'none'} of them has several values"
        )
    for values in product(*reversed(list(swept.values()))):
        setting = basis
        for name, value in zip(swept, reversed(values), strict=True):
            setting = _with(setting, name, value)
        yield replace(setting, place=tuple(shown(value) for value in reversed(values)))


def shown(value: Any) -> Any:
    """A swept value as it is printed and stored."""
    return plugins.written(value) if isinstance(value, Algorithm) else value


def _with(setting: Setting, name: str, value: Any) -> Setting:
    if name == "algorithm":
        return replace(setting, algorithm=value)
    if name == "suppression":
        return replace(setting, suppression=value)
    taking = [name in model.parameters() for model in setting.models]
    if not any(taking):
        return replace(setting, models=(*setting.models, registry.make("models", MODELS[name], {name: value})))
    # The value is checked as ever.
    models: list[Any] = [
        replace(cast(Any, model), **{name: value}) if takes else model
        for model, takes in zip(setting.models, taking, strict=True)
    ]
    return replace(setting, models=tuple(models))
