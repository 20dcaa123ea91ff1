"""Querying: counts, sums and means, as a recipient estimates them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from shoal import manifest
from shoal.api.opening import as_published, path_of
from shoal.api.reading import HierarchySpec, hierarchy_builders
from shoal.core.contracts.engine import Engine
from shoal.core.dataset import Dataset
from shoal.core.hierarchy import Hierarchy
from shoal.core.release import Release
from shoal.core.schema import Column, Kind
from shoal.core.values import Values
from shoal.job import plugins
from shoal.parsing.dates import Calendar
from shoal.utility import queries
from shoal.utility.estimation import Estimate


def query(
    source: Dataset | Release | str | Path,
    measure: Literal["count", "sum", "mean"] = "count",
    column: str | None = None,
    *,
    where: Mapping[str, Any] | Iterable[str] = (),
    hierarchies: str | Path | Mapping[str, HierarchySpec] | None = None,
    engine: Engine | str | None = None,
) -> Estimate:
    """A count, or the sum or mean of a column, over the records that meet all conditions, as a recipient estimates it.

    Of a release of any form, the estimate comes with its standard error and with the least and the greatest value that
    are certain, where the form allows them; of a dataset it is the truth.

    Args:
        source: a release, the path of a release file with its manifest beside it, or a dataset.
        measure: `count`, `sum` or `mean`.
        column: what is summed.
        where: conditions by column, as text (`{"age": "<= 30"}`), value, list of values or pair of ends; or as texts
            such as `"age <= 30"`.
        hierarchies: of columns of a file that are published at levels of a hierarchy, as `read` takes them.
        engine: where a file is read.

    Example:
        >>> import shoal
        >>> data = shoal.read(shoal.samples.adult(), quasi=["age", "sex", "race"], sensitive=["occupation"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=5), seed=1)
        >>> where = {"sex": "Female", "occupation": "Sales", "age": "<= 40"}
        >>> estimate, truth = shoal.query(release, where=where), shoal.query(data, where=where)
        >>> estimate.low <= truth.value <= estimate.high, abs(estimate.value - truth.value) < 10
        (True, True)
    """
    if isinstance(source, Dataset):
        return queries.of_dataset(source, measure, column, where)
    if isinstance(source, Release):
        trees = {each.name: each.hierarchy for each in source.schema.columns if each.hierarchy is not None}
        return queries.of_release(source, measure, column, where, trees)
    path = path_of(source)
    stated = manifest.load(path)
    release = as_published(path, stated, plugins.engine(engine, path))
    return queries.of_release(release, measure, column, where, _hierarchies_of_labels(release, hierarchies))


def _hierarchies_of_labels(
    release: Release, specs: str | Path | Mapping[str, HierarchySpec] | None
) -> dict[str, Hierarchy]:
    """The hierarchies that a recipient has, which must name their values themselves."""
    assigned = {column.name: column.role for column in release.schema.columns}
    trees = {}
    for name, spec in hierarchy_builders(specs, assigned).items():
        empty = Values.of(name, release.schema[name].kind, [])
        tree = spec if isinstance(spec, Hierarchy) else spec.build(empty)
        trees[name] = _in_iso(tree, release.schema[name])
    return trees


def _in_iso(tree: Hierarchy, column: Column) -> Hierarchy:
    """A hierarchy with its dates as labels spell them, also where it has them in the format of the release."""
    if column.kind is not Kind.DATE or column.form is None or tree.calendar is not None:
        return tree
    times = Calendar(column.form).moments([text for text in tree.labels[0] if text is not None]).times
    return tree.dated(Calendar(column.form, times))
