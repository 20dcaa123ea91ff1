"""What all clustering algorithms share: their parameters, and the way from clusters to a recoding."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt
from typing_extensions import Doc

from shoal.algorithms._effort import growing, merging, refining
from shoal.algorithms._merging import check_feasible, merged, merged_as_published
from shoal.algorithms._records import Records
from shoal.algorithms._refinement import ENDLESS, REBUILDINGS, refined
from shoal.core.codebook import grid_width
from shoal.core.contracts.algorithm import Algorithm
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes
from shoal.core.hierarchy import Hierarchy
from shoal.core.policy import Policy
from shoal.core.recoding import Recoding
from shoal.core.run import Run
from shoal.errors import ParameterError, unknown_columns

OUTPUTS = ("interval", "hierarchy", "mean")

Numeric = Annotated[
    Literal["given", "interval", "hierarchy", "mean"],
    Doc(
        "how numeric attributes are published: along a hierarchy only if one was given, or always as this says: "
        "the interval from least to greatest value, the closest common ancestor, or the mean"
    ),
]
Publish = Annotated[
    tuple[str, ...],
    Doc("columns published otherwise than `numeric` says: column=interval, =hierarchy, =mean or =grid:WIDTH"),
]
Refine = Annotated[bool, Doc("end by moving and swapping records between classes while the loss falls")]
TimeLimit = Annotated[
    float,
    Gt(0),
    Doc("seconds after which the refinement stops; a run that stops so depends on the speed of the machine"),
]
Rebuildings = Annotated[
    int, Ge(0), Doc("how often, for each record, the refinement dissolves and rebuilds neighbouring classes at most")
]

Work = Annotated[
    float,
    Gt(0),
    Doc(
        "million steps after which the refinement stops, about a second of one processor core each; the same everywhere"
    ),
]


@dataclass(frozen=True, kw_only=True)
class ClusteringAlgorithm(Algorithm):
    """An algorithm that puts every record into one cluster and publishes each cluster as one class."""

    numeric: Numeric = "interval"
    publish: Publish = ()
    refine: Refine = False
    time_limit: TimeLimit = 600.0
    rebuildings: Rebuildings = REBUILDINGS
    work: Work = ENDLESS

    counts_people: ClassVar[bool] = True
    in_blocks: ClassVar[bool] = True
    by_union: ClassVar[bool] = False
    """Whether clusters that break the policy merge by the cost of the union, not by what the merger adds."""

    @property
    def by_record(self) -> bool:
        return True

    @abstractmethod
    def cluster(self, records: Records, generator: np.random.Generator, run: Run) -> tuple[Codes, dict[str, Any]]:
        """The cluster of each record, and facts worth knowing. Whoever is without, -1, is left out for good: only
        clusterings whose `check` allows for that leave records without."""

    def check(self, records: Records) -> None:
        """Raises when no release can satisfy the policy."""
        check_feasible(records)

    def beginning(self, dataset: Dataset, policy: Policy) -> float | None:
        """The effort of `cluster`; None where it does not suit the policy."""
        return growing(dataset)

    def effort(self, dataset: Dataset, policy: Policy) -> float | None:
        begun = self.beginning(dataset, policy)
        if begun is None:
            return None
        return begun + merging(dataset, policy) + (refining(dataset, policy, self.rebuildings) if self.refine else 0.0)

    def search(self, dataset: Dataset, policy: Policy, run: Run) -> Recoding:
        if self.refine:
            policy.check_apart("refinement")
        records = Records.of(dataset, policy, outputs(dataset, self.numeric, self.publish))
        self.check(records)
        # Where a single record may be enough, equal ones are where mergers begin.
        owners, facts = records.tuples, dict[str, Any]()
        clustered, all_hold = (0.4, 0.5) if self.refine else (0.8, 1.0)
        if policy.least > 1:
            watch = run.part(between=(0.0, clustered))
            owners, facts = self.cluster(records, np.random.default_rng(policy.seed), watch)
        owners, mergers = merged(records, owners, run.part(between=(clustered, all_hold)), by_union=self.by_union)
        facts = {**facts, "mergers": mergers}
        if self.refine:
            watch = run.part(between=(all_hold, 1.0))
            owners, facts["refinement"] = refined(
                records, owners, self.time_limit, watch, rebuildings=self.rebuildings, work=self.work
            )
        owners, more = merged_as_published(records, owners, run, by_union=self.by_union)
        return records.recoding(owners, {**facts, "mergers": mergers + more})


def outputs(dataset: Dataset, numeric: str, publish: tuple[str, ...]) -> tuple[str, ...]:
    """How each quasi-identifier is published: `interval`, `hierarchy` or `mean`."""
    chosen = {tree.column: _output(tree, numeric) for tree in dataset.hierarchies}
    for entry in publish:
        column, equals, output = entry.rpartition("=")
        if not equals or (output not in OUTPUTS and grid_width(output) is None):
            raise ParameterError(
                f"publish: write column=output, where output is one of {', '.join(OUTPUTS)}, or grid:WIDTH"
            )
        if column not in chosen:
            raise unknown_columns([column], chosen)
        if output != "hierarchy" and not dataset.schema[column].hierarchy.ordered:  # type: ignore[union-attr]
            raise ParameterError(f"publish: column {column!r} is not numeric, so it has no {output.partition(':')[0]}")
        if grid_width(output) is not None and dataset.schema[column].hierarchy.calendar is not None:  # type: ignore[union-attr]
            raise ParameterError(f"publish: column {column!r} has dates, which lie on no grid; publish its hierarchy")
        chosen[column] = output
    return tuple(chosen.values())


def _output(tree: Hierarchy, numeric: str) -> str:
    if not tree.ordered or (numeric == "given" and not tree.automatic):
        return "hierarchy"
    return "interval" if numeric == "given" else numeric
