"""What perturbations of numeric columns share: which columns, their values, and the way to a recoding."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Doc

from shoal.core.contracts.algorithm import Algorithm
from shoal.core.dataset import Dataset
from shoal.core.displacement import Coordinate, Displacement, ranks
from shoal.core.grouping import group
from shoal.core.policy import Policy
from shoal.core.recoding import Recoding
from shoal.core.run import Run
from shoal.core.schema import Kind
from shoal.errors import ParameterError, SchemaError, unknown_columns

Floats = NDArray[np.float64]

EXACT = 2**53
"""Up to here floating point has every whole number."""


@dataclass(frozen=True, kw_only=True)
class ColumnPerturbation(Algorithm):
    """Changes the values of numeric columns, going by whatever the table has. Missing values stay missing."""

    columns: Annotated[tuple[str, ...], Doc("the columns to change; by default all numeric quasi-identifiers")] = ()

    claims: ClassVar[bool] = False

    @abstractmethod
    def perturbed(
        self, dataset: Dataset, values: Floats, names: tuple[str, ...], seed: int, run: Run
    ) -> tuple[Floats, dict[str, Any]]:
        """The new values, records by columns, not-a-number where missing, and facts worth knowing. Records stand in the
        order of their keyed hash."""

    def search(self, dataset: Dataset, policy: Policy, run: Run) -> Recoding:
        names = chosen_columns(dataset, self.columns, is_numeric, "numeric", "this changes numbers")
        values = exact_numbers(dataset, names, policy.seed)
        run.report(0.0, "changing values")
        after, facts = self.perturbed(dataset, values, names, policy.seed, run)
        run.check()
        columns = dict(zip(names, np.ascontiguousarray(after.T), strict=True))
        return Recoding(form="perturbed", facts={"columns": list(names), **facts}, changed=columns)


@dataclass(frozen=True, kw_only=True)
class NumericPerturbation(ColumnPerturbation):
    """Changes the values of numeric columns at random, going by nothing but them."""

    seed_protects: ClassVar[bool] = True

    @abstractmethod
    def changed(self, values: Floats, names: tuple[str, ...], generator: np.random.Generator, run: Run) -> Floats:
        """The new values: records by columns, not-a-number where missing."""

    def perturbed(
        self, dataset: Dataset, values: Floats, names: tuple[str, ...], seed: int, run: Run
    ) -> tuple[Floats, dict[str, Any]]:
        return self.changed(values, names, np.random.default_rng(seed), run), {}


def exact_numbers(dataset: Dataset, names: tuple[str, ...], seed: int) -> Floats:
    """Numeric columns, records by columns in the order of the keyed hash; numbers that doubles would round are
    refused."""
    numbers = dataset.table.numbers(names, seed)
    for name, column in numbers.items():
        if np.abs(np.nan_to_num(column)).max(initial=0.0) >= EXACT:
            raise SchemaError(
                f"column {name!r} has numbers from {EXACT:,} up, which this would round; make it categorical or "
                "leave it out"
            )
    return np.stack(list(numbers.values()), axis=1)


def people_of(dataset: Dataset, seed: int) -> NDArray[np.int64]:
    """Whose each record is, in the order of the keyed hash: a number for each person, or for each record where no
    column names the person."""
    person = dataset.schema.person
    if person is None:
        return np.arange(dataset.records)
    return dataset.table.listing((), (person,), seed)[0].astype(np.int64)


def units_of(dataset: Dataset, seed: int) -> NDArray[np.int64]:
    """What goes together, in the order of the keyed hash: a number for each household where there is a column of them,
    else for each person."""
    household = dataset.schema.household
    if household is None:
        return people_of(dataset, seed)
    return dataset.table.listing((), (household,), seed)[0].astype(np.int64)


def record_weights(dataset: Dataset, seed: int) -> Floats:
    """How many people of the population each record stands for, in the order of the keyed hash; 1 without weights."""
    name = dataset.schema.weight
    return np.ones(dataset.records) if name is None else dataset.table.numbers((name,), seed)[name]


def numbered(*columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """The combination of values that each record has, as a number.

    Example:
        >>> numbered(np.array([7, 7, 3]), np.array([0, 0, 1])).tolist()
        [1, 1, 0]
    """
    codes = [np.unique(column, return_inverse=True)[1].astype(np.int32) for column in columns]
    radices = [int(column.max(initial=0)) + 1 for column in codes]
    return group(codes, radices, index=True).index.astype(np.int64)


def headcounts(groups: NDArray[np.int64], people: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many people each group has; of negative groups nobody is counted.

    Example:
        >>> headcounts(np.array([0, 0, 1, -1]), np.array([5, 5, 6, 7])).tolist()
        [1, 1]
    """
    inside = groups >= 0
    pairs = numbered(groups[inside], people[inside])
    first = np.unique(pairs, return_index=True)[1]
    return np.bincount(groups[inside][first])


def groups_by(dataset: Dataset, names: tuple[str, ...], seed: int) -> NDArray[np.int64]:
    """The group of each record, in the order of the keyed hash: those that agree in all columns, whatever their
    role."""
    unknown = [name for name in names if name not in dataset.schema.names]
    if unknown:
        raise unknown_columns(unknown, dataset.schema.names)
    if not names:
        return np.zeros(dataset.records, np.int64)
    digests = dataset.table.digests(names, seed, (), seed)
    return np.unique(digests, return_inverse=True)[1].astype(np.int64)


def by_column(entries: tuple[str, ...], parameter: str) -> dict[str, str]:
    """What entries such as `age=85` say of each column."""
    parts = [entry.rpartition("=") for entry in entries]
    if not all(name and value for name, _, value in parts):
        raise ParameterError(f"{parameter}: write COLUMN=VALUE")
    said = {name: value for name, _, value in parts}
    if len(said) < len(parts):
        raise ParameterError(f"{parameter}: a column is named twice")
    return said


def finite(text: str, parameter: str) -> float:
    """A number of a parameter."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ParameterError(f"{parameter}: what stands after the = must be a number")
    return number


def chosen_columns(
    dataset: Dataset, columns: tuple[str, ...], fits: Callable[[Dataset, str], bool], kind: str, purpose: str
) -> tuple[str, ...]:
    """The columns to change: those that are named, or all quasi-identifiers that fit."""
    names = columns or tuple(name for name in dataset.schema.quasi if fits(dataset, name))
    unknown = [name for name in names if name not in dataset.schema.names]
    if unknown:
        raise unknown_columns(unknown, dataset.schema.names)
    unfit = [name for name in names if not fits(dataset, name)]
    if unfit:
        raise ParameterError(f"column {unfit[0]!r} is not {kind}; {purpose}")
    if not names:
        raise SchemaError(f"no quasi-identifier is {kind}; name the columns to change")
    return names


def is_numeric(dataset: Dataset, name: str) -> bool:
    """Whether a column has numbers; one whose hierarchy also names other things than numbers has none."""
    column = dataset.schema[name]
    return column.kind is Kind.NUMERIC and column.hierarchy is not None and column.hierarchy.values is not None


def varying(values: Floats, names: tuple[str, ...]) -> Floats:
    """The standard deviation of each column; one with a single value is refused, because noise in proportion to its
    spread would leave it as it is."""
    deviations = np.zeros(len(names))
    for place, column in enumerate(values.T):
        present = column[~np.isnan(column)]
        if len(present) and present.min() < present.max():  # the deviation of equal values may be a little above 0
            with np.errstate(invalid="ignore"):
                deviations[place] = np.nanstd(column)
    constant = [name for name, deviation in zip(names, deviations, strict=True) if deviation <= 0]
    if constant:
        raise ParameterError(f"column {constant[0]!r} has one value only, so there is no spread to measure noise by")
    return deviations


def by_rank(before: Floats, after: Floats) -> Displacement:
    """What is known where the record of each rank has the same rank afterwards: equal values of people share some."""
    columns = zip(after.T, before.T, strict=True)
    return Displacement(tuple(Coordinate.between(ranks(new, new), ranks(old, old), 0) for new, old in columns))


def ranked(column: Floats) -> NDArray[np.int64]:
    """The records that have a value, lowest first; of equal values in their order."""
    present = np.flatnonzero(~np.isnan(column))
    return present[np.argsort(column[present], kind="stable")]
