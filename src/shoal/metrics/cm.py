"""Classification metric (Iyengar, 2002)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from typing_extensions import Doc

from shoal.core.contracts.metric import Metric
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.parameters import Examples
from shoal.core.release import Release
from shoal.errors import NotDefined, SchemaError


@dataclass(frozen=True, kw_only=True)
class Cm(Metric):
    """The share of records that the majority of their class gets wrong: left out, or with another value of the
    target than the most frequent one of their class. It is 0 when every class has one target value.

    Does not train a classifier: one that looks at single attributes may do better. What it rewards, classes in
    which everybody has the same value, is what diversity forbids when the target is sensitive.

    Reference: V. Iyengar, Transforming data to satisfy privacy constraints, 2002.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"age": [20, 20, 30, 40], "paid": ["no", "no", "no", "yes"]})
        >>> data = shoal.read(table, quasi=["age"])
        >>> shoal.metrics.Cm(target="paid").score(data, shoal.anonymize(data, shoal.KAnonymity(k=2))).value
        0.25
    """

    target: Annotated[
        str | None, Doc("the published column to be predicted; by default each sensitive attribute, and their mean")
    ] = None

    examples: ClassVar[Examples] = ({}, {"target": "occupation"})

    @property
    def further_columns(self) -> tuple[str, ...]:
        return () if self.target is None else (self.target,)

    def score(self, dataset: Dataset, release: Release) -> Finding:
        release.view.people()  # where records are no classes, nobody is outvoted
        quasi = release.schema.quasi
        targets = release.schema.sensitive if self.target is None else (self.target,)
        if self.target in quasi:
            raise SchemaError(
                f"the target {self.target!r} is a quasi-identifier; take a column that is published as it is"
            )
        wrong = {}
        for name in targets:
            if name in release.schema.names and name not in release.published.names:
                raise NotDefined(f"the column {name!r} does not stand beside the quasi-identifiers")
            (histogram,) = release.published.group(quasi, [(name, None)]).sensitive
            right = int(histogram.greatest(histogram.counts).sum())
            wrong[name] = (dataset.records - right) / dataset.records
        if not wrong:
            return Finding(name="cm", value=None, how="there is no target column")
        mean, detail = sum(wrong.values()) / len(wrong), wrong if len(wrong) > 1 else {}
        how = "records left out, or with another sensitive value than most of their class, over all records"
        return Finding(name="cm", value=mean, detail=detail, unit="share", how=how)
