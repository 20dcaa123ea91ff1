"""Suppression share: how many quasi-identifier cells say nothing any more (Tandon and Jain, 2010)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from math import isfinite
from typing import Annotated, ClassVar, Literal

import numpy as np
from typing_extensions import Doc

from shoal.core.contracts.metric import Metric
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.formatting import enumerated
from shoal.core.parameters import Examples
from shoal.core.release import Release
from shoal.errors import NotDefined, unknown_columns
from shoal.parsing.labels import number


@dataclass(frozen=True, kw_only=True)
class SuppressionShare(Metric):
    """Suppressed quasi-identifier cells over all of them: the share of what is published as the one value at the
    top of its hierarchy, or left out with its record. It is the privacy side of the balance between privacy and
    utility.

    Does not count cells that are only less precise, nor means, which say something however wide their class is, nor a
    column that has one single value. A column that is published as means can therefore never be suppressed; name the
    other `columns` to leave it out of the share.

    Reference: A. Tandon, S. Jain, Balancing between data utility and privacy preservation in data mining, 2010.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"age": [20, 20, 30, 30], "sex": list("fmfm")}), quasi=["age", "sex"])
        >>> shoal.metrics.SuppressionShare().score(data, shoal.anonymize(data, shoal.KAnonymity(k=2))).value
        0.5
    """

    missing: Annotated[
        Literal["value", "suppressed"],
        Doc(
            "whether a published missing value is a value of its own or counts as suppressed, as the source seems to do"
        ),
    ] = "value"
    columns: Annotated[
        tuple[str, ...], Doc("the quasi-identifiers whose cells count, separated by | (default: all of them)")
    ] = ()

    examples: ClassVar[Examples] = ({}, {"missing": "suppressed", "columns": ("age",)})

    def counted(self, dataset: Dataset) -> tuple[str, ...]:
        """The quasi-identifiers whose cells count."""
        quasi = dataset.schema.quasi
        unknown = [name for name in self.columns if name not in quasi]
        if unknown:
            raise unknown_columns(unknown, quasi)
        return tuple(name for name in quasi if not self.columns or name in self.columns)

    def score(self, dataset: Dataset, release: Release) -> Finding:
        cells, people = release.view.cells(), release.view.people()
        sizes, shares, counted = people.sizes, {}, self.counted(dataset)
        for position, hierarchy in enumerate(dataset.hierarchies):
            if hierarchy.column not in counted:
                continue
            low, high = cells.low[position], cells.high[position]
            top = (low == 0) & (high == hierarchy.size - 1) & (hierarchy.size > 1)
            if hierarchy.ordered and top.any():
                with suppress(NotDefined):  # what is only a draft has no labels yet
                    labels = release.published.labels(hierarchy.column)
                    top &= ~np.array([isfinite(number(label)) for label in labels])[people.keys[position]]
            if self.missing == "suppressed" and hierarchy.missing:
                top |= (low == 0) & (high == 0)
            shares[hierarchy.column] = (int(np.dot(top, sizes)) + release.suppressed) / dataset.records
        mean = sum(shares.values()) / len(shares)
        which = f" of {enumerated(counted)}" if self.columns else ""
        how = f"quasi-identifier cells{which} at the top of their hierarchy or in left-out records, over all of them"
        return Finding(name="suppression-share", value=mean, detail=shares, unit="share", how=how)
