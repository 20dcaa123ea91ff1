"""Assertions for tests and pipelines: nobody in a table that is about to be shared can be singled out or found out.

The table may be any that `shoal.read` takes: a path, or a frame of pandas, polars, Arrow, DuckDB or Spark. Groups are
those that a recipient sees, who compares cells as they are; an `AssertionError` counts people and never shows a value.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from shoal import registry
from shoal.api.reading import as_list, read
from shoal.core.classes import Classes
from shoal.core.contracts.model import Model
from shoal.core.formatting import amount, counted, enumerated, printable
from shoal.core.release import people_in
from shoal.errors import ParameterError
from shoal.job.plugins import plugin


def assert_satisfies(
    table: Any,
    *models: Model | str,
    quasi: Iterable[str],
    sensitive: Iterable[str] = (),
    person: str | None = None,
    **reading: Any,
) -> None:
    """Fails unless a table satisfies privacy models by its quasi-identifiers.

    Args:
        table: the table as it would be shared.
        models: at least one, such as `"k-anonymity:k=5"` or `shoal.TCloseness(t=0.2)`.
        quasi: columns that outsiders may know.
        sensitive: columns that nobody should learn about a person, where a model asks about them.
        person: the column that says whose each row is, where people have several: then people are counted.
        reading: more of what `shoal.read` takes, such as `missing` or `delimiter`.

    Raises:
        AssertionError: a model does not hold; the message says how many people are in how many groups that break it.
        ShoalError: the table cannot be read, or lacks a column.

    Example:
        >>> import shoal.testing
        >>> shoal.testing.assert_satisfies(
        ...     shoal.samples.adult(), "k-anonymity:k=5", "distinct-l-diversity:l=2", quasi=["sex"], sensitive=["race"]
        ... )
    """
    if not models:
        raise ParameterError("name at least one privacy model, such as k-anonymity:k=5")
    chosen = [plugin("models", model) for model in models]
    names = as_list(quasi)
    kinds = {**dict.fromkeys(names, "categorical"), **reading.pop("kinds", {})}
    data = read(table, quasi=names, sensitive=sensitive, person=person, kinds=kinds, **reading)
    for model in chosen:
        model.check_attributes(names)
    broken = [_failure(model, data.summary) for model in chosen if not model.holds(data.summary).all()]
    if broken:
        raise AssertionError("\n".join(broken))


def _failure(model: Model, classes: Classes) -> str:
    """Whom a model that does not hold leaves exposed, in numbers."""
    breaking, finding = ~model.holds(classes), model.measure(classes)
    columns = enumerated([printable(name) for name in classes.attributes])
    if classes.people is None:
        exposed, everybody = int(classes.sizes[breaking].sum()), int(classes.sizes.sum())
    else:  # somebody may be in several groups
        exposed = len(np.unique(classes.people.values[breaking[classes.people.owners]]))
        everybody = people_in(classes)
    return (
        f"the table is not {model.claim} by {columns}: {exposed:,} of {counted(everybody, 'people')} are exposed, in "
        f"{breaking.sum():,} of {counted(len(classes), 'groups')}; {finding.name} is {amount(finding.value)}"
    )


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
