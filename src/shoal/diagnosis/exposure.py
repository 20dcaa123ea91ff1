"""The exposure of a set of attributes: its k, and whom it singles out."""

from __future__ import annotations

from shoal.core.classes import Classes
from shoal.core.finding import Finding, Findings


def exposure(classes: Classes, k: int | None = None) -> Findings:
    """The k that a grouping has, the people that it singles out, and the risk of being found by it.

    Example:
        >>> import numpy as np
        >>> from shoal.core.classes import summarize
        >>> found = exposure(summarize(["sex"], [np.array([0, 0, 1], np.int32)], [2]), k=2)
        >>> found["k"].value, found["unique-records"].value, found["records-below-k"].value
        (1, 1, 1)
    """
    sizes = classes.sizes
    records = int(sizes.sum())
    smallest = int(sizes.min()) if len(sizes) else 0
    unique = int((sizes == 1).sum())
    findings = [
        Finding(
            name="k",
            value=smallest,
            bound=k,
            holds=None if k is None else smallest >= k,
            how="the smallest class",
            unit="records",
            claim="" if k is None else f"{k}-anonymous",
        ),
        Finding(name="classes", value=len(sizes), how="distinct combinations", unit="classes"),
        Finding(name="unique-records", value=unique, how="records that no other one equals", unit="records"),
        Finding(
            name="highest-risk",
            value=1 / smallest if smallest else 0.0,
            unit="share",
            how="the chance to find the record of a person who is known to be in the table, in the smallest class",
        ),
        Finding(
            name="average-risk",
            value=len(sizes) / records if records else 0.0,
            unit="share",
            how="the same chance for everybody, in the mean: classes / records",
        ),
    ]
    if k is not None:
        below = int(sizes[sizes < k].sum())
        findings.append(
            Finding(
                name="records-below-k",
                value=below,
                bound=0,
                holds=below == 0,
                how=f"in classes of fewer than {k}",
                unit="records",
            )
        )
    return Findings(tuple(findings))
