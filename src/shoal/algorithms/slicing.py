"""Slicing (Li, Li, Zhang and Molloy, 2012)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge
from pydantic import BeforeValidator
from typing_extensions import Doc

from shoal.algorithms._bucketing import Bucketing, TargetBucketing
from shoal.algorithms._columns import chosen_columns
from shoal.algorithms._eligibility import check_no_identity
from shoal.algorithms._partition import without_cells
from shoal.core.contracts.algorithm import Algorithm
from shoal.core.dataset import Dataset
from shoal.core.parameters import Examples
from shoal.core.policy import Policy
from shoal.core.recoding import Recoding
from shoal.core.run import Run
from shoal.errors import InfeasibleError, SchemaError
from shoal.publishing.slices import Columns, checked, split, the_sensitive


@dataclass(frozen=True, kw_only=True)
class Slicing(Algorithm):
    """Puts attributes that have most to do with one another into a column, cuts the records into buckets as Mondrian
    does, and publishes every column of a bucket apart, values as they are.

    Columns are found by PAM with the distance 1 − φ², with as few quasi-identifiers beside the sensitive attribute as
    it takes, or given. In every bucket the models of the policy hold for the
    people who have equal quasi-identifiers beside the sensitive attribute: then whoever knows everybody's
    quasi-identifiers finds no value of a person more likely than they allow (1/l for frequency-l-diversity).

    With `attacker="target"` buckets are cut as the authors do, who think of somebody who knows the quasi-identifiers
    of one person only. Somebody who knows more can then be certain of a value, and a recipient, who lacks the
    table, cannot check it: such a release promises nothing, and takes no model.

    Does not protect against being found where one column has what singles a person out, and takes no k-anonymity: the
    quasi-identifiers are published as they are. Leaves no record out.

    Reference: T. Li, N. Li, J. Zhang, I. Molloy, Slicing: a new approach for privacy preserving data publishing, 2012.
    The check against whoever knows everybody is ours.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame(
        ...     {"age": [22, 22, 33, 52], "sex": list("MFFF"), "disease": ["flu", "cold", "flu", "gout"]}
        ... )
        >>> data = shoal.read(table, quasi=["age", "sex"], sensitive=["disease"])
        >>> slicing = "slicing:columns=age+sex|disease"
        >>> release = shoal.anonymize(data, shoal.FrequencyLDiversity(l=2), algorithm=slicing, seed=1)
        >>> sorted(release.frames["sensitive"]["disease"]), release.view.groups().sizes.tolist()
        (['cold', 'flu', 'flu', 'gout'], [2, 2])
    """

    columns: Annotated[
        tuple[tuple[str, ...], ...],
        BeforeValidator(split),
        Doc("the attributes that stand together, as age+sex|zip+disease; found by how they go together if not given"),
    ] = ()
    number: Annotated[int, Ge(1), Doc("how many columns are made, if none are given")] = 2
    beside: Annotated[
        int, Ge(0), Doc("how many quasi-identifiers stand beside the sensitive one at most, if no columns are given")
    ] = 1
    bins: Annotated[int, Ge(2), Doc("into how many bins numbers go before it is seen how they go together")] = 10
    attacker: Annotated[
        Literal["all", "target"],
        Doc("whom the buckets hold against: who knows everybody's quasi-identifiers, or one person's (the authors')"),
    ] = "all"
    l: Annotated[  # noqa: E741
        int, Ge(2), Doc("of attacker=target, which takes no model: no value is more likely than 1/l")
    ] = 2

    examples: ClassVar[Examples] = (
        {"beside": 0},
        {"columns": (("age", "sex"), ("race", "marital-status"), ("occupation",))},
        {"attacker": "target", "beside": 0, "bins": 5, "number": 3},
    )

    @property
    def claims(self) -> bool:  # type: ignore[override]
        """Whether a recipient can check what it promises."""
        return self.attacker == "all"

    def search(self, dataset: Dataset, policy: Policy, run: Run) -> Recoding:
        check_models(policy, "slicing")
        the_sensitive(dataset.schema)
        if self.columns:
            columns: Columns = checked(dataset.schema, self.columns, overlapping=False)
            return sliced(dataset, policy, columns, self._bucketing(dataset, policy, columns), run)
        # What stands beside the sensitive attribute may be too telling for any bucket.
        for beside in range(min(self.beside, len(dataset.schema.quasi)), -1, -1):
            columns = chosen_columns(dataset, self.number, beside, self.bins)
            bucketing = self._bucketing(dataset, policy, columns)
            if bucketing.passes:
                break
        return sliced(dataset, policy, columns, bucketing, run)

    def _bucketing(self, dataset: Dataset, policy: Policy, columns: Columns) -> Bucketing:
        if self.attacker == "all":
            return Bucketing(dataset, policy, columns)
        return TargetBucketing(dataset, policy, columns, self.l)


def check_models(policy: Policy, who: str) -> None:
    """Refuses models that a sliced release cannot keep, or that cannot be judged bucket by bucket."""
    check_no_identity(policy, who)
    policy.check_apart(who)


def sliced(dataset: Dataset, policy: Policy, columns: Columns, bucketing: Bucketing, run: Run) -> Recoding:
    """Buckets cut from the whole table, if that keeps the policy as one."""
    if len(dataset.summary.attributes) > 64:
        raise SchemaError(f"slicing takes up to 64 quasi-identifiers; there are {len(dataset.summary.attributes)}")
    if not bucketing.passes:
        raise _infeasible(dataset, policy, columns, bucketing)
    owners = bucketing.run(run)
    facts: dict[str, Any] = {"columns": [list(column) for column in columns], "buckets": int(owners.max()) + 1}
    plan = without_cells(dataset.summary.keys, owners, np.random.default_rng(policy.seed), by_record=False)
    return Recoding(plan, form="sliced", options={"columns": columns}, facts=facts)


def _infeasible(dataset: Dataset, policy: Policy, columns: Columns, bucketing: Bucketing) -> InfeasibleError:
    value = dataset.schema.sensitive[0]
    values = int(np.count_nonzero(dataset.summary.histogram(value).population))
    if values < policy.least:
        return InfeasibleError(
            f"{policy.least} different sensitive values are wanted together and the table has {values}",
            {"values": values, "least": policy.least},
        )
    beside = any(len(column) > 1 for column in columns if value in column)
    advice = (
        "put fewer quasi-identifiers beside the sensitive attribute, or ask for less"
        if beside
        else "ask for less, or take anatomy, which can leave records out"
    )
    trouble, figures = bucketing.trouble()
    return InfeasibleError(f"with the whole table as one bucket {trouble}; {advice}", figures)
