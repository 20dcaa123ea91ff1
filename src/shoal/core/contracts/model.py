"""What a privacy model must offer: the level of a class, and what survives merging and suppression."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.core.classes import Classes
from shoal.core.finding import Finding
from shoal.core.parameters import Parametrized
from shoal.core.schema import Schema
from shoal.errors import ParameterError

Levels = NDArray[Any]

SLACK = 1e-12
"""How far rounding may carry a level past its bound, as a share of a bound above 1. What is a tie by the definition
keeps the bound; whatever else this lets through differs from a tie by less than anyone can use."""

UNBOUNDED = "1e300"
"""What stands for infinity in SQL, which has no number for it."""


class Model(Parametrized, ABC):
    """A privacy model: gives every class a level and bounds it by a parameter. The worst class decides.

    This is the one definition of the notion: anonymizing, verifying and the questions of the diagnosis all ask it.
    """

    asks: ClassVar[str]
    """The parameter that bounds the level, which questions of the diagnosis are about."""

    level: ClassVar[str]
    """The name of the level, which is the name of the finding."""

    how: ClassVar[str]
    """How the level of a table is computed."""

    unit: ClassVar[str] = ""
    """What the level counts, as `Finding.unit` says it."""

    more_is_safer: ClassVar[bool] = True
    """Whether the bound is the least level that a class may have, or the greatest."""

    merge_monotone: ClassVar[bool]
    """Whether the union of two classes that satisfy it satisfies it too. Then adding attributes never makes the level
    of a table better, and questions can be asked about sets of attributes."""

    suppression_monotone: ClassVar[bool]
    """Whether a class that satisfied it still does when records of other classes are left out.

    What a class is compared with, the population, stays that of the whole original table.
    """

    growth_monotone: ClassVar[bool] = False
    """Whether a class that satisfies it still does when any records join it; then no part of a class that breaks it
    satisfies it, and searches prune far more."""

    whole_table: ClassVar[bool] = False
    """Whether the level of a class depends on the other classes too. Then classes are judged all together: searches
    that look at a few at a time refuse it, and questions about sets of attributes are not asked."""

    wildcards: ClassVar[bool] = False
    """Whether a hidden cell may stand for any value. Then it asks which cells of a release are hidden."""

    by_size: ClassVar[bool] = False
    """Whether its level is the size of the class, so that a class satisfies it as soon as it has `least` records."""

    identity: ClassVar[bool] = False
    """Whether it is about telling people apart, not only about what is learned of them."""

    by_population: ClassVar[bool] = False
    """Whether it compares a class with the whole table, whose counts of sensitive values a manifest then must state."""

    needs_sensitive: ClassVar[bool] = False
    """Whether it looks at sensitive values."""

    counts_people: ClassVar[bool] = False
    """Whether it counts people, not records, where a table says whose each record is."""

    counts_households: ClassVar[bool] = False
    """Whether its level is the number of households of a class; a table without a household column then is refused."""

    counts_population: ClassVar[bool] = False
    """Whether its level is what the survey weights of a class add up to; a table without a weight column then is
    refused."""

    examples: ClassVar[tuple[Mapping[str, Any], ...]]
    """Parameters of models that make sense, and that together show every parameter. Examples are about a column
    `disease`, some of whose values are `cancer`, `flu` and `hiv`."""

    @property
    def least(self) -> int:
        """A size that every class that satisfies it has."""
        return 1

    @property
    def margins(self) -> Mapping[int, int]:
        """For each number of quasi-identifiers whose combinations it counts, the least people that one has; empty where
        it counts classes. A model that counts any looks at what is published of classes (their keys) and judges them
        all together."""
        return {}

    def by_class(self) -> Model:
        """A model that implies it and that judges each class by itself, for searches that look at a few classes at a
        time; where none is known, the model itself."""
        return self

    @property
    def variety(self) -> int:
        """How many different sensitive values every class that satisfies it has at least."""
        return 1

    @property
    def bound(self) -> float | int:
        """What the level of every class is held against."""
        value: float | int = getattr(self, self.asks)
        return value

    @property
    def claim(self) -> str:
        """What a table is that satisfies it, in a few words."""
        return f"{self.level} {'at least' if self.more_is_safer else 'at most'} {self.bound:g}"

    @property
    def whole(self) -> bool:
        """Whether levels are whole numbers."""
        return isinstance(self.bound, int)

    @property
    def threshold(self) -> float:
        """The worst level that keeps the bound."""
        if self.whole:
            return self.bound
        slack = SLACK * max(abs(self.bound), 1.0)
        return self.bound - slack if self.more_is_safer else self.bound + slack

    @abstractmethod
    def levels(self, classes: Classes) -> Levels:
        """The level of each class: the safest value of the parameter `asks` with which the class satisfies the model,
        whatever that parameter is now; infinitely bad when there is none."""

    def keeps(self, levels: Levels) -> NDArray[np.bool_]:
        """Which levels keep the bound."""
        verdicts: NDArray[np.bool_] = levels >= self.threshold if self.more_is_safer else levels <= self.threshold
        return verdicts

    def holds(self, classes: Classes) -> NDArray[np.bool_]:
        """For each class, whether it satisfies the model."""
        return self.keeps(self.levels(classes))

    def judge(self, classes: Classes) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """For each class, whether it satisfies the model, and how many of its records have to be left out at least,
        however it is split. A model that knows more than that one part breaks it lets searches prune more."""
        holds = self.holds(classes)
        return holds, np.where(holds | (not self.merge_monotone), 0, 1)

    def measure(self, classes: Classes) -> Finding:
        """The level of the model that the classes have, held against the parameter."""
        return self.finding(classes, self.levels(classes))

    def finding(self, classes: Classes, levels: Levels) -> Finding:
        """The same of classes whose levels are known."""
        return Finding(
            name=self.level, value=self.readable(self.worst(levels)), bound=self.bound,
            holds=bool(self.keeps(levels).all()), how=self.explanation(classes), claim=self.claim,
            unit="people" if self.unit == "records" and classes.people is not None else self.unit,
        )  # fmt: skip

    def explanation(self, classes: Classes) -> str:
        """How the level of such classes is computed."""
        return self.how if classes.people is None else f"{self.how}, counted in people"

    def worst(self, levels: Levels) -> float | int:
        """The worst of some levels; 0 when there are none."""
        worst: float | int = (levels.min() if self.more_is_safer else levels.max()).item() if len(levels) else 0
        return worst

    def readable(self, level: float) -> float | int:
        """A level as people read it."""
        return int(level) if self.whole and math.isfinite(level) else level

    def sql(self) -> str | None:
        """The level of a class as an SQL aggregate, where it has one.

        It is over the rows of a class, or with `needs_sensitive` over its distinct sensitive values: `n` counts one in
        the class, `prior` in the whole table; `size` and `records` count the class and the table, `most` is the
        greatest n of the class, and `tail` the sum of n over this value and all that are no more frequent. `mass` and
        `whole` sum n over the class and the table, which differs where people are counted and have several values.

        The query of a release knows more: `chosen` is 1 where the model is about the value, else 0; `ahead` sums
        n/mass − prior/whole over this value and all before it; `apart` is the value's part of the distance of the class
        from the table along the hierarchy; `twins` counts the values that occur as often in every class. Where
        `sql_every` holds, the aggregate is over all values of the table, n being 0 where a class lacks one. Of a model
        with `margins` it is over the rows that share a combination of values.
        """
        return None

    @property
    def sql_every(self) -> bool:
        """Whether `sql` is also over values that a class lacks."""
        return False

    def check_attributes(self, attributes: Sequence[str]) -> None:
        """Raises when it asks for more quasi-identifiers than there are."""

    def check_people(self) -> None:
        """Raises when it would take records for people."""
        if not self.counts_people:
            raise ParameterError(f"{type(self).__name__} does not count people; leave it or the person column out")

    def check_columns(self, schema: Schema) -> None:
        """Raises when it would count households, or people of the population, and no column says which there are."""
        if self.counts_households and schema.household is None:
            raise ParameterError(
                f"{type(self).__name__} counts households; name the column that identifies them with household "
                "(--household COLUMN)"
            )
        if self.counts_population and schema.weight is None:
            raise ParameterError(
                f"{type(self).__name__} adds up survey weights; name their column with weight (--weight COLUMN)"
            )

    def concealed(self, schema: Schema) -> Model:
        """The same model as a manifest may show it: without any value of a cell among its parameters."""
        return self
