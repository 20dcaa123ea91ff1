"""Linkage: a list of people with names is joined to the release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from typing_extensions import Doc

from shoal.adversary.external_table import ExternalTable
from shoal.core.contracts.attack import Attack, Attempt, Known
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, group
from shoal.core.parameters import Share
from shoal.core.release import Release
from shoal.core.risk_line import LINE
from shoal.core.run import Run
from shoal.errors import NotDefined


@dataclass(frozen=True, kw_only=True)
class Linkage(Attack):
    """Has a list of people, such as a voters list, and takes each person for one of the records that fit: whose
    published values, ranges or nodes of a hierarchy can be the person's. Of several that fit, one is picked at random.

    Columns that the list lacks are not used. A value that is missing, in the list or in the release, fits everything.
    `success` is over the people of the table who are on the list, that is whose values in the common columns are; the
    baseline is a record that is picked blindly. The detail counts the people of the list: `in_table`, whose values are
    in the table too; `fitting`, who fit some record; `single`, who fit exactly one; `certain`, who fit exactly one that
    nobody else on the list fits; `disclosed`, all of whose fitting records have one and the same sensitive value;
    `mistaken`, whose values are not in the table and who fit a record all the same.

    Does not forgive errors: somebody whose entry in the list is out of date is not found. `probabilistic-linkage` does.

    Reference: L. Sweeney, k-anonymity: a model for protecting privacy, 2002.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"age": [21, 22, 23, 24], "disease": ["flu", "hiv", "flu", "flu"]})
        >>> data = shoal.read(table, quasi=["age"], sensitive=["disease"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=2), seed=1)
        >>> voters = shoal.read(polars.DataFrame({"name": ["Ann", "Bob"], "age": [23, 60]}), quasi=["age"])
        >>> found = shoal.attack(data, release, "linkage", external=voters)[0]
        >>> found.success, found.baseline, found.detail["disclosed"]
        (0.5, 0.25, 1)
    """

    threshold: Annotated[Share, Doc("the chance above which a person counts as exposed")] = LINE

    def attempt(self, dataset: Dataset, release: Release, known: Known, run: Run) -> Attempt:
        if known.external is None:
            raise NotDefined("there is no list of people to link: give an external table")
        external = ExternalTable.once(known, release, known.external, what="the external table")
        heads = external.published.headcounts.astype(np.float64)
        own = external.own(dataset)
        listed = _among(own, external.keys)
        fitting = external.weights_of(heads, own, run)
        people = np.where(listed & (fitting > 0), dataset.summary.headcounts, 0)
        return self.attempt_over(
            1 / np.maximum(fitting, 1),
            people,
            baseline=1 / max(int(heads.sum()), 1),
            knew=f"a list of {external.people:,} people with {_columns(external)}",
            meaning="how often the record that somebody on the list is linked to is the person's",
            detail=self._people_on_list(external, heads, own, run),
        )

    def _people_on_list(self, external: ExternalTable, heads: np.ndarray, own: Codes, run: Run) -> dict[str, Any]:
        counts, there = external.counts, external.population(run)
        fitting = external.weights_of(heads, external.keys, run)
        # Where one record fits, this is how many people of the list fit it.
        rivals = external.weights_of(there.astype(np.float64), external.keys, run)
        inside = _among(external.keys, own)
        people = {
            "listed": external.people,
            "in_table": int(counts[inside].sum()),
            "fitting": int(counts[fitting > 0].sum()),
            "single": int(counts[fitting == 1].sum()),
            "certain": int(counts[(fitting == 1) & (rivals == 1)].sum()),
            "mistaken": int(counts[~inside & (fitting > 0)].sum()),
        }
        disclosed = self._disclosures(external, run)
        return people if disclosed is None else {**people, "disclosed": disclosed}

    def _disclosures(self, external: ExternalTable, run: Run) -> int | None:
        """People of the list all of whose fitting records agree on a sensitive value, where records show theirs."""
        published = external.published
        if external.release.view.people() is not external.release.view.groups() or not published.sensitive:
            return None
        certain = np.zeros(len(external.counts), dtype=np.bool_)
        for histogram in (each.parts for each in published.sensitive if each.contexts is None):
            only = np.where(
                histogram.distinct == 1,
                histogram.values[np.minimum(histogram.starts[:-1], len(histogram.values) - 1)],
                -1,
            )
            least = np.full(len(certain), np.iinfo(np.int64).max)
            most = np.full(len(certain), -1)
            for persons, classes in external.fits(run):
                np.minimum.at(least, persons, only[classes])
                np.maximum.at(most, persons, only[classes])
            certain |= (least == most) & (most >= 0)
        return int(external.counts[certain].sum())


def _among(some: Codes, others: Codes) -> np.ndarray:
    """Which of some tuples are among others."""
    together = np.hstack([some, others]) + np.int32(1)
    ids = group(list(together), index=True).index
    return np.isin(ids[: some.shape[1]], ids[some.shape[1] :])


def _columns(external: ExternalTable) -> str:
    names, every = external.classes.attributes, external.release.schema.quasi
    return "all quasi-identifiers" if len(names) == len(every) else f"{len(names)} of {len(every)} quasi-identifiers"
