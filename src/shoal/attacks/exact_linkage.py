"""Exact linkage: a person is taken for a published record that agrees in everything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from typing_extensions import Doc

from shoal.adversary.perturbed_columns import PerturbedColumns, perturbed_categories
from shoal.core.contracts.attack import Attack, Attempt, Known
from shoal.core.dataset import Dataset
from shoal.core.displacement import Codes, coded
from shoal.core.parameters import Share
from shoal.core.release import Release
from shoal.core.run import Run
from shoal.errors import NotDefined


@dataclass(frozen=True, kw_only=True)
class ExactLinkage(Attack):
    """Knows the true quasi-identifiers of everybody, and takes each person for a published record that agrees in all
    of them; among several at random.

    This is whom swapping and PRAM mean to mislead: somebody who looks for one person and believes what the table
    says. `detail` has, of the people for whom exactly one record fits, how many there are (`unique`) and for which
    share that is another person's record (`wrong`): the doubt that the perturbation casts on a find.

    Does not allow for values that were changed; `distance-linkage` and `assignment-linkage` do, for numbers. It needs
    the release as it was made: a file does not tell which record became which. The figure is a lower bound.

    Reference: G. Duncan, D. Lambert, The risk of disclosure for microdata, 1989.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"town": list("aabb"), "age": [20, 30, 20, 40]})
        >>> data = shoal.read(table, quasi=["town", "age"])
        >>> release = shoal.anonymize(data, algorithm="targeted-swapping:geography=town,k=2")
        >>> shoal.attack(data, release, "exact-linkage")[0].success
        0.0
    """

    threshold: Annotated[Share, Doc("the chance above which a record counts as exposed")] = 0.2

    def attempt(self, dataset: Dataset, release: Release, known: Known, run: Run) -> Attempt:
        pairs = [*_changed(dataset, release), *_unchanged(dataset, release)]
        if not pairs:
            raise NotDefined("no quasi-identifier is published, so there is nothing to link by")
        records = dataset.records
        # People and records together, so that equal tuples have one number.
        columns = np.stack([np.concatenate(pair) for pair in pairs])
        tuples = np.unique(columns, axis=1, return_inverse=True)[1].ravel()
        people, shown = tuples[:records], tuples[records:]
        run.check()
        fitting = np.bincount(shown, minlength=int(tuples.max()) + 1)[people]
        right = people == shown
        chances = np.where(right, 1 / np.maximum(fitting, 1), 0.0)
        unique = fitting == 1
        return self.attempt_over(
            chances,
            baseline=1 / records,
            knew="the true quasi-identifiers of everybody in the table",
            meaning="how often a record that agrees with a person in everything is that person's",
            lower_bound=True,
            detail={
                "unique": int(unique.sum()),
                "wrong": float((~right[unique]).mean()) if unique.any() else None,
            },
        )


def _changed(dataset: Dataset, release: Release) -> Iterator[tuple[Codes, Codes]]:
    """The quasi-identifiers that were changed: what people have, and what records show."""
    quasi = set(dataset.schema.quasi)
    for name, (before, after) in perturbed_categories(dataset, release).items():
        if name in quasi:
            yield before.astype(np.int64), after.astype(np.int64)
    try:
        numbers = PerturbedColumns.of(dataset, release)
    except NotDefined:
        return
    for name, before, after in zip(numbers.names, numbers.before.T, numbers.after.T, strict=True):
        if name in quasi:
            people, records = coded((before, after))
            yield people, records


def _unchanged(dataset: Dataset, release: Release) -> Iterator[tuple[Codes, Codes]]:
    """The quasi-identifiers that are published as they are."""
    assert release.recoding is not None
    names = [name for name in dataset.schema.quasi if name not in release.recoding.changed]
    for codes in dataset.table.listing((), names, release.seed) if names else ():
        yield codes.astype(np.int64), codes.astype(np.int64)
