"""k-anonymity of every combination of so many quasi-identifiers (the keys of µ-Argus; Hundepool and others, 2012)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge
from typing_extensions import Doc

from shoal.core.classes import Classes
from shoal.core.contracts.model import Levels, Model
from shoal.core.finding import Finding
from shoal.core.formatting import counted
from shoal.core.margins import least_shared
from shoal.errors import ParameterError
from shoal.models.k_anonymity import KAnonymity


@dataclass(frozen=True, kw_only=True)
class KCombinations(Model):
    """Whatever `size` quasi-identifiers somebody knows, every combination of their published values that occurs has at
    least `k` people.

    Nobody knows fifteen columns of a person, and k-anonymity of all of them costs a lot. This protects every set of
    `size` columns, and so all smaller ones. With `smaller`, sets of one column, two columns and so on have to be safer
    than that.

    Promises: whoever knows at most `size` quasi-identifiers of a person cannot narrow that person down to fewer than
    `k` people.

    Does not protect against: attackers who know more columns than that, learning the sensitive value of people who
    agree in it, or columns that should have been quasi-identifiers and were not named.

    A hidden cell and a missing one are values of their own: they match no other value.

    It looks across classes, at their margins: a class of one person is fine if each set of `size` columns has others.
    Full-domain searches and cell suppression keep it as it is. Algorithms that look at a few classes at a time keep
    k-anonymity of all columns instead, which implies it.

    Reference: A. Hundepool and others, Statistical disclosure control, 2012.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"age": [1, 1, 2, 2], "sex": list("fmfm"), "zip": [1, 2, 2, 1]})
        >>> data = shoal.read(table, quasi=["age", "sex", "zip"])
        >>> [shoal.models.KCombinations(k=2, size=size).measure(data.summary).value for size in (1, 2)]
        [2, 1]
    """

    k: Annotated[int, Ge(1), Doc("the least number of people who share a combination of values")]
    size: Annotated[int, Ge(1), Doc("how many quasi-identifiers an attacker knows at most")]
    smaller: Annotated[
        tuple[Annotated[int, Ge(1)], ...],
        Doc("the same as k for sets of one column, of two and so on, where fewer columns shall be safer"),
    ] = ()

    asks: ClassVar[str] = "k"
    level: ClassVar[str] = "k-combinations"
    how: ClassVar[str] = "the fewest people who share the values of so many quasi-identifiers"
    unit: ClassVar[str] = "records"
    merge_monotone: ClassVar[bool] = True
    identity: ClassVar[bool] = True
    suppression_monotone: ClassVar[bool] = False
    growth_monotone: ClassVar[bool] = True
    whole_table: ClassVar[bool] = True
    counts_people: ClassVar[bool] = True
    examples: ClassVar = ({"k": 4, "size": 2}, {"k": 3, "size": 2, "smaller": (6,)})

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.smaller) >= self.size:
            raise ParameterError(
                f"{type(self).__name__}: smaller has {len(self.smaller)} entries; sets of {self.size} columns have "
                f"{self.size - 1} smaller sizes at most"
            )
        if any(fewer < more for fewer, more in pairwise((*self.smaller, self.k))):
            raise ParameterError(
                f"{type(self).__name__}: fewer columns have to be at least as safe as more; give smaller in descending "
                "order, none of them below k"
            )

    @property
    def claim(self) -> str:
        return f"{self.k}-anonymous in every set of {counted(self.size, 'columns')}"

    @property
    def margins(self) -> Mapping[int, int]:
        return dict(enumerate(self.smaller, 1)) | {self.size: self.k}

    def by_class(self) -> Model:
        return KAnonymity(k=max((self.k, *self.smaller)))

    def check_attributes(self, attributes: Sequence[str]) -> None:
        if self.size > len(attributes):
            raise ParameterError(
                f"{type(self).__name__}: size is {self.size}, but there are {len(attributes)} quasi-identifiers; "
                f"ask for sets of at most {len(attributes)}"
            )

    def levels(self, classes: Classes) -> Levels:
        return self._levels(self._shared(classes))

    def _levels(self, shared: Mapping[int, Levels]) -> Levels:
        levels = shared[self.size]
        for size, least in self.margins.items():
            if size != self.size:
                levels = np.where(shared[size] < least, 0, levels)
        return levels

    def _shared(self, classes: Classes) -> dict[int, Levels]:
        """For each class and each size that it asks about, the fewest people who share a combination of values. Where
        only classes are known, not what is published of them, those of the class do for certain."""
        places = len(classes.keys)
        if not places:
            return dict.fromkeys(self.margins, classes.headcounts)
        return {size: least_shared(classes, min(size, places)) for size in self.margins}

    def measure(self, classes: Classes) -> Finding:
        shared = self._shared(classes)
        worst = {size: int(self.worst(levels)) for size, levels in shared.items()}
        detail = {counted(size, "columns"): level for size, level in worst.items()}
        return replace(
            self.finding(classes, self._levels(shared)),
            value=worst[self.size],
            detail=detail if len(detail) > 1 else {},
        )

    def sql(self) -> str:
        return "COUNT(*)"
