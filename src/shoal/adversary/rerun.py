"""Rerun: what an anonymizer makes of other tables that a release leaves possible.

Whoever knows the code, the policy and the seed can try tables. Those of which the anonymizer makes another release are
not the table that this one was made from; what the others agree on is known for certain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from shoal.core.contracts.algorithm import Algorithm
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes
from shoal.core.hierarchy import Hierarchy
from shoal.core.policy import Policy
from shoal.core.read_request import Description
from shoal.core.release import Release
from shoal.core.run import Run
from shoal.core.schema import Role
from shoal.core.values import Values
from shoal.errors import NotDefined, ShoalError
from shoal.publishing.publish import published

Content = dict[str, dict[tuple[str | None, ...], int]]
"""By the part of a release, how often its table has each row; plain columns left out."""


MOST_RECORDS = 64
"""Of a table whose possible worlds are tried one by one; larger ones have too many in any case that matters."""


def check_small(dataset: Dataset) -> None:
    """Raises `NotDefined` where nobody would try every table."""
    if dataset.records > MOST_RECORDS:
        raise NotDefined(f"tables of more than {MOST_RECORDS} records are not tried one by one")


@dataclass(frozen=True, eq=False)
class Rerun:
    """A release that can be made again from the quasi-identifiers and sensitive values of a table alone."""

    dataset: Dataset
    release: Release
    method: Algorithm
    policy: Policy

    @classmethod
    def of(cls, dataset: Dataset, release: Release, run: Run) -> Rerun:
        """Raises `NotDefined` unless the algorithm makes this very release again of this table."""
        if release.method is None or release.policy is None:
            raise NotDefined("the algorithm that made the release is not known")
        if dataset.schema.person is not None or release.suppressed:
            raise NotDefined("other tables are tried only where nobody has several records and nobody was left out")
        rerun = cls(dataset, release, release.method, release.policy)
        if not rerun.fits(rerun.truth(), run):
            raise NotDefined(
                "the algorithm does not make this release again: it depends on the seed, which the file does not have, "
                "on plain columns, or on the speed of the machine"
            )
        return rerun

    @cached_property
    def content(self) -> Content:
        """What the release holds."""
        return self._content(self.release)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the tables that are tried."""
        return (*self.dataset.schema.quasi, *self.dataset.schema.sensitive)

    def truth(self) -> dict[str, Codes]:
        """The table itself, as leaves, records in the order of a plan by record."""
        summary, seed = self.dataset.summary, self.policy.seed
        quasi = np.repeat(summary.keys, summary.sizes, axis=1)
        return dict(zip(self.names, (*quasi, *self.dataset.listing(seed)), strict=True))

    def fits(self, leaves: Mapping[str, Codes], run: Run, seed: int | None = None) -> bool:
        """Whether the algorithm makes the release of a table, which has a leaf a record in each column, with the seed
        of the release or another one."""
        run.check()
        world = self._read(leaves)
        policy = self.policy if seed is None else replace(self.policy, seed=seed)
        try:
            recoding = self.method.search(world, self.method.simplified(policy), Run())
            release = published(self.release.form, world, recoding, policy, None, Run())
            return self._content(release) == self.content
        except ShoalError:  # of such a table it makes nothing
            return False

    def _read(self, leaves: Mapping[str, Codes]) -> Dataset:
        schema, engine = self.dataset.schema, self.dataset.engine
        labels = {name: schema.hierarchy_of(name).labels[0][leaves[name]] for name in self.names}
        texts = pa.table({name: pa.array(column, pa.string()) for name, column in labels.items()})

        def hierarchy_for(values: Values, role: Role) -> Hierarchy:
            return schema.hierarchy_of(values.column)

        # Labels are spelled in one way, whatever the format that the table has.
        described = Description.of([schema[name] for name in self.names], hierarchy_for, strict=schema.strict)
        return Dataset.read(engine, engine.open(texts), replace(described, formats={}))

    def _content(self, release: Release) -> Content:
        plain = {column.name for column in self.dataset.schema.columns if column.name not in self.names}
        content: Content = {}
        for part, table in release.tables.items():
            names = [name for name in table.names if name not in plain]
            classes = table.group(names, ())
            labels = [
                np.array([*table.labels(name), None], object)[keys]
                for name, keys in zip(names, classes.keys, strict=True)
            ]
            rows = zip(*(column.tolist() for column in labels), strict=True)
            content[part] = dict(zip(rows, classes.sizes.tolist(), strict=True))
        return content
