"""Membership: whether somebody is in the table at all can be the secret."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from typing_extensions import Doc

from shoal.adversary.external_table import ExternalTable
from shoal.adversary.rates import wilson
from shoal.core.contracts.attack import Attack, Attempt, Known
from shoal.core.dataset import Dataset
from shoal.core.parameters import Share
from shoal.core.release import Release
from shoal.core.run import Run
from shoal.errors import NotDefined


@dataclass(frozen=True, kw_only=True)
class Membership(Attack):
    """Looks a person up in the release: whoever fits no class is not in it, and whoever fits one is in it with the
    probability that one of its records is theirs, people of the class over people of the population who fit it (the δ
    of δ-presence). A person who fits several classes can be in each.

    The population is the external table, which must have the people of the release; without one it is the people of
    the release and those who were held out. `success` is the mean over the people of the table of that probability, and
    the baseline the share of the population that is in the release. The detail has the least and the greatest
    probability, and `ruled_out`, the share of the population that is certainly not in the release.

    With people who were held out, `control` is the share of them who fit some class: they would wrongly be taken for
    members.

    Does not use the sensitive values, nor that somebody may be in the release twice.

    Reference: M. Nergiz, M. Atzori, C. Clifton, Hiding the presence of individuals from shared databases, 2007.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"age": [21, 22, 23, 24]}), quasi=["age"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=2), seed=1)
        >>> town = shoal.read(polars.DataFrame({"age": [21, 21, 22, 22, 23, 24, 50, 60]}), quasi=["age"])
        >>> found = shoal.attack(data, release, "membership", external=town)[0]
        >>> found.success, found.baseline, found.worst, found.detail["ruled_out"]
        (0.75, 0.5, 1.0, 0.25)
    """

    threshold: Annotated[Share, Doc("the probability above which a person counts as exposed")] = 0.5

    def attempt(self, dataset: Dataset, release: Release, known: Known, run: Run) -> Attempt:
        other = known.external or known.held_out
        if other is None:
            raise NotDefined("who is not in the release is not known: give an external table, or people held out of it")
        what = "the external table" if known.external is not None else "the table of held-out people"
        external = ExternalTable.once(known, release, other, what=what)
        heads = external.published.headcounts
        there, everybody = external.population(run), external.people
        if known.external is None:
            there, everybody = there + heads, everybody + int(heads.sum())
        shares = heads / np.maximum(np.maximum(there, heads), 1)
        members = np.minimum(external.weights_of(shares, external.own(dataset), run), 1.0)
        others = np.minimum(external.weights_of(shares, external.keys, run), 1.0)
        counts = np.where(members > 0, dataset.summary.headcounts, 0)
        detail: dict[str, Any] = {
            "population": everybody,
            "least": float(others.min(initial=1.0)),
            "greatest": float(max(others.max(initial=0.0), members.max(initial=0.0))),
            "ruled_out": int(external.counts[others <= 0].sum()) / max(everybody, 1),
        }
        attempt = self.attempt_over(
            members,
            counts,
            baseline=min(int(heads.sum()) / max(everybody, 1), 1.0),
            knew="the quasi-identifiers of a person, and of everybody else in the population",
            meaning="how sure the attacker can be that somebody who is in the release is in it",
            detail=detail,
        )
        return attempt if known.held_out is None else self._with_control(attempt, release, known, run)

    def _with_control(self, attempt: Attempt, release: Release, known: Known, run: Run) -> Attempt:
        assert known.held_out is not None
        outside = ExternalTable.once(known, release, known.held_out, what="the table of held-out people")
        fitting = outside.weights_of(np.ones(len(outside.published)), outside.keys, run) > 0
        mistaken, people = int(outside.counts[fitting].sum()), outside.people
        if not people:
            return attempt
        interval = list(wilson(mistaken, people).interval)
        detail = {**attempt.detail, "held_out": people, "control_interval": interval}
        return replace(attempt, control=mistaken / people, detail=detail)
