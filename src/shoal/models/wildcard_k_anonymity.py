"""k-anonymity when a hidden cell may stand for any value (sdcMicro's counting; Templ, Kowarik and Meindl, 2015)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge
from typing_extensions import Doc

from shoal.core.classes import Classes
from shoal.core.contracts.model import Levels, Model
from shoal.core.finding import Finding
from shoal.core.wildcards import wildcard_sums
from shoal.models.k_anonymity import KAnonymity


@dataclass(frozen=True, kw_only=True)
class WildcardKAnonymity(Model):
    """At least `k` records match every record, where a hidden cell (`*`) matches anything. **This is not k-anonymity**:
    a record that hides a cell counts for several combinations at once, so that a record without hidden cells may match
    no other such record.

    Promises: whoever looks for a person finds at least `k` records that may be that person's, as long as a hidden cell
    may be anything to them.

    Does not protect against: whoever compares cells. A record that shows everything may be unique among those that do.
    Most of the `k` records may be the same few for everybody: in any table, k − 1 records without a single value make
    the others match k. What the records are worth to somebody who compares cells is in the finding's detail, and the
    prosecutor attack measures it.

    It is there for comparison with releases of sdcMicro, which counts so. Missing values are values of their own.
    `cell-suppression` keeps it as it is; any other algorithm keeps k-anonymity, which implies it.

    Reference: M. Templ, A. Kowarik, B. Meindl, Statistical disclosure control for micro-data using the R package
    sdcMicro, 2015.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"age": [30, 31, 40], "sex": list("fff")})
        >>> data = shoal.read(table, quasi=["age", "sex"])
        >>> release = shoal.anonymize(data, WildcardKAnonymity(k=2), algorithm="cell-suppression")
        >>> sorted(release.frame["age"]), release.verify(release.policy)[0].detail
        (['*', '31', '40'], {'strict k': 1, 'records in smaller classes': 3})
    """

    k: Annotated[int, Ge(1), Doc("the least number of records that match a record")]

    asks: ClassVar[str] = "k"
    level: ClassVar[str] = "wildcard-k"
    how: ClassVar[str] = "the fewest records that match a record, where a hidden cell may stand for any value"
    unit: ClassVar[str] = "records"
    merge_monotone: ClassVar[bool] = True
    identity: ClassVar[bool] = True
    suppression_monotone: ClassVar[bool] = False
    growth_monotone: ClassVar[bool] = True
    whole_table: ClassVar[bool] = True
    wildcards: ClassVar[bool] = True
    examples: ClassVar = ({"k": 3},)

    @property
    def claim(self) -> str:
        return f"{self.k}-anonymous only if a hidden cell may stand for any value"

    def by_class(self) -> Model:
        return KAnonymity(k=self.k)

    def levels(self, classes: Classes) -> Levels:
        if classes.hidden is None:
            return classes.sizes
        unknown = classes.keys == classes.hidden[:, None]
        return np.rint(wildcard_sums(classes.keys, unknown, [classes.sizes])[0]).astype(np.int64)

    def measure(self, classes: Classes) -> Finding:
        few = classes.sizes < self.k
        detail = {
            "strict k": int(classes.sizes.min()) if len(classes) else 0,
            "records in smaller classes": int(classes.sizes[few].sum()),
        }
        return replace(super().measure(classes), detail=detail)

    def sql(self) -> str:
        return "SUM(n)"
