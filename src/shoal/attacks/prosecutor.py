"""The prosecutor: somebody who knows that a person is in the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from typing_extensions import Doc

from shoal.core.contracts.attack import Attack, Attempt, Known
from shoal.core.dataset import Dataset
from shoal.core.parameters import Share
from shoal.core.release import Release, people_in
from shoal.core.risk_line import LINE
from shoal.core.run import Run


@dataclass(frozen=True, kw_only=True)
class Prosecutor(Attack):
    """Knows that a person is in the release, knows the person's quasi-identifiers, and picks a record at random among
    those that match. The chance is 1 over the size of the person's class, in people where a person column is named.
    Cells are compared: of a release that counted hidden cells as wildcards, the detail says how many people are in
    classes below its k.

    Does not say what the attacker learns from the right record, nor how likely it is to know that somebody is in it.

    Reference: K. El Emam, F. Dankar, Protecting privacy using k-anonymity, 2008.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"age": [21, 22, 23, 24]}), quasi=["age"])
        >>> found = shoal.attack(data, shoal.anonymize(data, shoal.KAnonymity(k=2), seed=1), "prosecutor")[0]
        >>> found.success, found.baseline, found.worst
        (0.5, 0.25, 0.5)
    """

    threshold: Annotated[Share, Doc("the risk above which a person counts as exposed")] = LINE

    def attempt(self, dataset: Dataset, release: Release, known: Known, run: Run) -> Attempt:
        classes = release.in_people(release.view.people())
        heads = classes.headcounts
        counted = classes.people is not None
        everybody = people_in(classes) if counted else int(heads.sum())
        records = (
            "the quasi-identifiers of one of the person's records" if counted else "the person's quasi-identifiers"
        )
        who = "somebody who is picked among the people that match is the person"
        what = "a record that is picked among the matching ones is the person's"
        asked = [int(model.bound) for model in release.policy.models if model.wildcards] if release.policy else []
        detail = {"k": max(asked), "share below k": float(heads[heads < max(asked)].sum() / everybody)} if asked else {}
        return self.attempt_over(
            1 / np.maximum(heads, 1),
            heads,
            hits=len(heads),
            baseline=1 / everybody if everybody else 0.0,
            knew=f"that a person is in the release, and {records}",
            meaning=f"how often {who if counted else what}",
            detail=detail,
        )
