"""Assertions for tests and pipelines: nobody in a table that is about to be shared can be singled out or found out.

The table may be any that `shoal.read` takes: a path, or a frame of any kind. Groups are those that a recipient sees,
who compares cells as they are; an `AssertionError` counts people and never shows a value.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from shoal import registry
from shoal.api.reading import as_list, read
from shoal.core.classes import Classes
from shoal.core.contracts.model import Model
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.formatting import amount, counted, enumerated, printable
from shoal.core.hierarchy import TOP
from shoal.core.policy import Policy
from shoal.core.release import people_in
from shoal.errors import ParameterError
from shoal.job.plugins import plugin


@dataclass(frozen=True, kw_only=True)
class Exposed:
    """Whom a model leaves exposed: `people` of `everybody`, in `groups` of `all_groups`."""

    finding: Finding
    columns: tuple[str, ...]
    people: int
    everybody: int
    groups: int
    all_groups: int

    def __str__(self) -> str:
        columns = enumerated([printable(name) for name in self.columns])
        return (
            f"the table is not {self.finding.claim} by {columns}: {self.people:,} of "
            f"{counted(self.everybody, 'people')} are exposed, in {self.groups:,} of "
            f"{counted(self.all_groups, 'groups')}; {self.finding.name} is {amount(self.finding.value)}"
        )


def exposure(
    table: Any,
    *models: Model | Policy | str,
    quasi: Iterable[str],
    sensitive: Iterable[str] = (),
    person: str | None = None,
    **reading: Any,
) -> list[Exposed]:
    """For each privacy model, whom it leaves exposed in a table as it would be shared; `groups` is 0 where it holds.

    The arguments are those of `assert_satisfies`.

    Example:
        >>> import shoal.testing
        >>> [told] = shoal.testing.exposure(shoal.samples.adult(), "k-anonymity:k=500", quasi=["sex", "race"])
        >>> told.people, told.everybody, told.groups, told.all_groups
        (811, 30162, 5, 10)
    """
    chosen = [model for each in models for model in (each.models if isinstance(each, Policy) else [each])]
    if not chosen:
        raise ParameterError("name at least one privacy model, such as k-anonymity:k=5")
    made: list[Model] = [plugin("models", model) for model in chosen]
    names = as_list(quasi)
    kinds = {**dict.fromkeys(names, "categorical"), **reading.pop("kinds", {})}
    data = read(table, quasi=names, sensitive=sensitive, person=person, kinds=kinds, **reading)
    for model in made:
        model.check_attributes(names)
        model.check_columns(data.schema)
        if person is not None:
            model.check_people()
    return [_exposed(model, _judged(data, model)) for model in made]


def _judged(data: Dataset, model: Model) -> Classes:
    """The groups that a model judges, with the cells that are hidden where it asks."""
    if not model.wildcards:
        return data.summary
    leaves = [data.schema.hierarchy_of(name).labels[0].tolist() for name in data.schema.quasi]
    return replace(data.summary, hidden=np.array([labels.index(TOP) if TOP in labels else -1 for labels in leaves]))


def _exposed(model: Model, classes: Classes) -> Exposed:
    breaking = ~model.holds(classes)
    if classes.people is None:
        exposed, everybody = int(classes.sizes[breaking].sum()), int(classes.sizes.sum())
    else:  # somebody may be in several groups
        exposed = len(np.unique(classes.people.values[breaking[classes.people.owners]]))
        everybody = people_in(classes)
    return Exposed(
        finding=model.measure(classes), columns=tuple(classes.attributes), people=exposed, everybody=everybody,
        groups=int(breaking.sum()), all_groups=len(classes),
    )  # fmt: skip


def assert_satisfies(
    table: Any,
    *models: Model | Policy | str,
    quasi: Iterable[str],
    sensitive: Iterable[str] = (),
    person: str | None = None,
    **reading: Any,
) -> None:
    """Fails unless a table satisfies privacy models by its quasi-identifiers.

    Args:
        table: the table as it would be shared.
        models: at least one, such as `"k-anonymity:k=5"` or `shoal.TCloseness(t=0.2)`, or a policy that has some.
        quasi: columns that outsiders may know.
        sensitive: columns that nobody should learn about a person, where a model asks about them.
        person: the column that says whose each row is, where people have several: then people are counted.
        reading: more of what `shoal.read` takes, such as `missing`, `delimiter` or `household`.

    Raises:
        AssertionError: a model does not hold; the message says how many people are in how many groups that break it.
        ShoalError: the table cannot be read, or lacks a column.

    Example:
        >>> import shoal.testing
        >>> shoal.testing.assert_satisfies(
        ...     shoal.samples.adult(), "k-anonymity:k=5", "distinct-l-diversity:l=2", quasi=["sex"], sensitive=["race"]
        ... )
    """
    measured = exposure(table, *models, quasi=quasi, sensitive=sensitive, person=person, **reading)
    broken = [str(each) for each in measured if each.groups]
    if broken:
        raise AssertionError("\n".join(broken))


def assert_k_anonymous(table: Any, quasi: Iterable[str], *, k: int, person: str | None = None, **reading: Any) -> None:
    """Fails unless everybody shares the values of the quasi-identifiers with at least k - 1 others.

    Example:
        >>> import polars, shoal.testing
        >>> shoal.testing.assert_k_anonymous(polars.DataFrame({"age": ["[20 - 30]"] * 4}), ["age"], k=5)
        Traceback (most recent call last):
        ...
        AssertionError: the table is not 5-anonymous by age: 4 of 4 people are exposed, in 1 of 1 group; k is 4
    """
    assert_satisfies(table, registry.make("models", "k-anonymity", {"k": k}), quasi=quasi, person=person, **reading)


def assert_l_diverse(
    table: Any,
    quasi: Iterable[str],
    sensitive: str,
    *,
    l: float,  # noqa: E741
    notion: Literal["distinct", "entropy", "frequency"] = "distinct",
    person: str | None = None,
    **reading: Any,
) -> None:
    """Fails unless everybody who looks alike has enough different values of a sensitive attribute.

    Example:
        >>> import shoal.testing
        >>> shoal.testing.assert_l_diverse(shoal.samples.adult(), ["sex"], "occupation", l=5)
    """
    model = registry.make("models", f"{notion}-l-diversity", {"l": l})
    assert_satisfies(table, model, quasi=quasi, sensitive=[sensitive], person=person, **reading)


def assert_t_close(
    table: Any,
    quasi: Iterable[str],
    sensitive: str,
    *,
    t: float,
    distance: Literal["equal", "ordered", "hierarchical"] = "equal",
    person: str | None = None,
    **reading: Any,
) -> None:
    """Fails unless a sensitive attribute is distributed among those who look alike as in the whole table, but for t.

    Example:
        >>> import shoal.testing
        >>> shoal.testing.assert_t_close(shoal.samples.adult(), ["race"], "sex", t=0.3)
    """
    model = registry.make("models", "t-closeness", {"t": t, "distance": distance})
    assert_satisfies(table, model, quasi=quasi, sensitive=[sensitive], person=person, **reading)
