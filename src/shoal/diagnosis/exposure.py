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
            name="k", value=smallest, bound=k, holds=None if k is None else smallest >= k, how="the smallest class"
        ),
        Finding(name="classes", value=len(sizes), how="distinct combinations"),
        Finding(name="unique-records", value=unique, how="records that no other one equals"),
        Finding(
            name="highest-risk", value=1 / smallest if smallest else 0.0, how="1 / the smallest class (prosecutor)"
        ),
        Finding(
            name="average-risk", value=len(sizes) / records if records else 0.0, how="classes / records (marketer)"
        ),
    ]
    if k is not None:
        below = int(sizes[sizes < k].sum())
        findings.append(
            Finding(name="records-below-k", value=below, bound=0, holds=below == 0, how=f"in classes below {k}")
        )
    return Findings(tuple(findings))
