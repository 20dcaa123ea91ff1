"""Overlapping slicing (after Li, Li, Zhang and Molloy, 2012)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from pydantic import BeforeValidator
from typing_extensions import Doc

from shoal.algorithms._bucketing import Bucketing
from shoal.algorithms.slicing import check_models, sliced
from shoal.core.contracts.algorithm import Algorithm
from shoal.core.dataset import Dataset
from shoal.core.parameters import Examples
from shoal.core.policy import Policy
from shoal.core.recoding import Recoding
from shoal.core.run import Run
from shoal.errors import InfeasibleError
from shoal.publishing.slices import checked, joined_back, split, the_sensitive


@dataclass(frozen=True, kw_only=True)
class OverlappingSlicing(Algorithm):
    """Slicing in which the sensitive attribute may stand in several columns, so that how each of them goes with it is
    kept.

    Whoever joins such columns on the sensitive attribute often gets the records back: in the example that it was
    explained with, those of all eight patients. So buckets are cut only as long as, in each, every sensitive value can
    be exchanged for others, as many as the policy's models ask for: values that stand equally often beside the same
    quasi-identifiers in every column, so that nothing that is published tells them apart. A table without such values
    is refused: `slicing` keeps the attribute in one column, and `bucketization` makes what that example prints.

    Does not protect against being found, and takes no k-anonymity: the quasi-identifiers are published as they are.
    Leaves no record out.

    Reference: T. Li, N. Li, J. Zhang, I. Molloy, Slicing: a new approach for privacy preserving data publishing, 2012,
    who name it; the check is ours.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame(
        ...     {"age": [21, 21, 30, 30], "sex": list("FFMM"), "disease": ["flu", "hiv", "cold", "gout"]}
        ... )
        >>> data = shoal.read(table, quasi=["age", "sex"], sensitive=["disease"])
        >>> method = "overlapping-slicing:columns=age+disease|sex+disease"
        >>> release = shoal.anonymize(data, shoal.FrequencyLDiversity(l=2), algorithm=method, seed=1)
        >>> {part: frame.columns for part, frame in release.frames.items()}
        {'': ['age', 'disease', 'bucket'], 'sensitive-2': ['sex', 'disease', 'bucket']}
    """

    columns: Annotated[
        tuple[tuple[str, ...], ...],
        BeforeValidator(split),
        Doc(
            "the attributes that stand together, as age+disease|zip+disease, the sensitive one in several if wanted; "
            "by default it stands alone, and all quasi-identifiers together"
        ),
    ] = ()

    examples: ClassVar[Examples] = (
        {"columns": (("age", "race", "marital-status"), ("sex", "occupation"), ("occupation",))},
    )

    def search(self, dataset: Dataset, policy: Policy, run: Run) -> Recoding:
        check_models(policy, "overlapping-slicing")
        columns = self.columns or (dataset.schema.quasi, (the_sensitive(dataset.schema),))
        checked(dataset.schema, columns, overlapping=True)
        bucketing = Bucketing(dataset, policy, columns)
        try:
            return sliced(dataset, policy, columns, bucketing, run)
        except InfeasibleError as error:
            if len(bucketing.beside) < 2 or "broken" not in error.attempt:
                raise
            certain = _certain(dataset, bucketing)
            raise InfeasibleError(
                f"columns: whoever joins them on {dataset.schema.sensitive[0]!r} knows its value of {certain:,} of "
                f"{dataset.records:,} people; take slicing, which keeps it in one column, or bucketization",
                {**error.attempt, "certain": certain},
            ) from None


def _certain(dataset: Dataset, bucketing: Bucketing) -> int:
    """Of how many people the value is known, even with the whole table as one bucket."""
    histogram = dataset.summary.histogram(bucketing.value)
    beside = [inside[histogram.owners] for inside in bucketing.beside]
    people, chances = joined_back(beside, histogram.values, histogram.counts)
    sure = {tuple(person) for person in people.T[chances.max(axis=1) > 1 - 1e-9].tolist()}
    known = [tuple(person) in sure for person in np.stack(beside, axis=1).tolist()]
    return int(histogram.counts[np.array(known, dtype=np.bool_)].sum())
