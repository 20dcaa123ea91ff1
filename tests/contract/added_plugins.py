"""One plug-in of each family, as another package would add it; `test_added_plugins` puts them behind entry points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge, Gt, Le
from typing_extensions import Doc

from shoal.core.classes import Classes
from shoal.core.contracts.algorithm import Algorithm
from shoal.core.contracts.attack import Attack, Attempt, Known
from shoal.core.contracts.builder import Builder
from shoal.core.contracts.form import Form
from shoal.core.contracts.metric import Metric
from shoal.core.contracts.model import Model
from shoal.core.contracts.table import Sheet
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.hierarchy import Hierarchy
from shoal.core.parameters import Examples
from shoal.core.policy import Policy
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.core.run import Run
from shoal.core.schema import Schema
from shoal.core.values import Values
from shoal.errors import InfeasibleError
from shoal.forms.generalized import GeneralizedForm, GeneralizedView
from shoal.utility.objective import ClassObjective


@dataclass(frozen=True, kw_only=True)
class LeastShare(Model):
    """Every class has at least a share of the records of the table.

    Promises: nobody is in a class that is small for the table.
    Does not protect against: classes in which everybody has the same sensitive value.
    Reference: made up for a test.
    Example:
        >>> LeastShare(share=0.5).share
        0.5
    """

    share: Annotated[float, Gt(0), Le(1), Doc("the least share of the records in a class")]

    asks: ClassVar[str] = "share"
    level: ClassVar[str] = "share"
    how: ClassVar[str] = "the smallest class over all records"
    merge_monotone: ClassVar[bool] = True
    suppression_monotone: ClassVar[bool] = True
    growth_monotone: ClassVar[bool] = True
    identity: ClassVar[bool] = True
    examples: ClassVar[Examples] = ({"share": 0.1},)

    def levels(self, classes: Classes) -> Any:
        return classes.sizes / max(classes.records, 1)


@dataclass(frozen=True, kw_only=True)
class WeightedSuppression(Metric):
    """The share of records that were left out, times a weight that has to be given.

    Does not look at the published records.

    Reference: made up for a test.

    Example:
        >>> WeightedSuppression(weight=2.0).weight
        2.0
    """

    weight: Annotated[float, Ge(0), Doc("what a record that was left out costs")]

    examples: ClassVar[Examples] = ({"weight": 2.0},)

    def score(self, dataset: Dataset, release: Release) -> Finding:
        value = self.weight * release.suppressed / release.records
        return Finding(name="weighted-suppression", value=value, how="records that were left out, weighted")


@dataclass(frozen=True, kw_only=True)
class RootSize(ClassObjective):
    """Every record costs the root of the size of its class; one that is left out the root of the table's.

    Does not look at values.

    Reference: made up for a test.

    Example:
        >>> RootSize().base(np.array([4, 9]), 13)
        35.0
    """

    def base(self, sizes: Any, records: int) -> float:
        return float((sizes**1.5).sum())

    def extra(self, sizes: Any, records: int) -> float:
        return float((sizes * (records**0.5 - sizes**0.5)).sum())

    def value(self, total: float, records: int) -> float:
        return total

    def score(self, dataset: Dataset, release: Release) -> Finding:
        sizes = release.view.people().sizes
        value = self.base(sizes, release.records) + release.suppressed * release.records**0.5
        return Finding(name="root-size", value=value, how="roots of class sizes, summed over the records")


@dataclass(frozen=True, kw_only=True)
class OneClass(Algorithm):
    """Puts all records into one class.

    It is not meant to be useful.

    Reference: made up for a test.

    Example:
        >>> OneClass().form
        'sensitive-last'
    """

    form: Annotated[str, Doc("the form of the release")] = "sensitive-last"

    examples: ClassVar[Examples] = ({}, {"form": "generalized"})

    def search(self, dataset: Dataset, policy: Policy, run: Run) -> Recoding:
        run.report(0.0, "putting everybody into one class")
        together = np.zeros(len(dataset.summary), np.int32)
        if not policy.holds(dataset.partitioned(together, 1, seed=policy.seed)).all():
            raise InfeasibleError("the whole table breaks the policy", {"records": dataset.records})
        outputs = ["hierarchy"] * len(dataset.schema.quasi)
        found = Recoding.of_partition(dataset.summary, together, outputs)
        return Recoding(found.plan, form=self.form, facts={"classes": 1})


@dataclass(frozen=True, kw_only=True)
class SensitiveLastForm(Form):
    """One table, generalized, whose sensitive columns come last.

    Example:
        >>> SensitiveLastForm()
        SensitiveLastForm()
    """

    def sheets(self, schema: Schema, *, pseudonyms: bool) -> tuple[Sheet, ...]:
        (sheet,) = GeneralizedForm().sheets(schema, pseudonyms=pseudonyms)
        ordered = sorted(sheet.columns, key=lambda column: column.name in schema.sensitive)
        return (Sheet(part="", columns=tuple(ordered)),)

    def view(self, release: Release) -> GeneralizedView:
        return GeneralizedView(release)


@dataclass(frozen=True, kw_only=True)
class AnyRecord(Attack):
    """Picks any record of the release at random.

    It does not use what the attacker knows.

    Reference: made up for a test.

    Example:
        >>> AnyRecord().threshold
        0.5
    """

    threshold: Annotated[float, Ge(0), Le(1), Doc("the risk above which a record counts as exposed")] = 0.5

    def attempt(self, dataset: Dataset, release: Release, known: Known, run: Run) -> Attempt:
        chance = 1 / max(release.published.records, 1)
        return Attempt(
            name="any-record",
            success=chance,
            baseline=chance,
            worst=chance,
            above=float(chance > self.threshold),
            threshold=self.threshold,
            knew="that a person is in the release",
            meaning="how often any record is the person's",
        )


@dataclass(frozen=True, kw_only=True)
class FirstLetter(Builder):
    """A value is generalized to its first letter, then to the top.

    Example:
        >>> from shoal.core.schema import Kind
        >>> FirstLetter().build(Values.of("name", Kind.CATEGORICAL, ["Ada", "Alan", "Bob"])).labels[1].tolist()
        ['A..', 'B..']
    """

    def build(self, values: Values) -> Hierarchy:
        return Hierarchy.from_paths(values.column, [(text, f"{text[:1]}..", "*") for text in values.texts])
