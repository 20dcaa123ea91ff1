"""Survey weights: how many people of the population each record of a sample stands for."""

from __future__ import annotations

import numpy as np

from shoal.core.contracts.table import EngineTable
from shoal.core.formatting import counted
from shoal.core.hierarchy import Floats
from shoal.core.schema import Schema
from shoal.errors import InputError, SchemaError


def check_weights(schema: Schema, table: EngineTable) -> None:
    """Refuses a weight column that is not of numbers above 0, and people whose records differ in it."""
    name = schema.weight
    if name is None:
        return
    values = schema.hierarchy_of(name).values
    if values is None:
        raise SchemaError(f"column {name!r} is not numeric, and weights are numbers; choose another column")
    weights = table.group((name,), ())
    wrong = int(weights.sizes[~(values[weights.keys[0]] > 0)].sum())
    if wrong:
        raise InputError(
            f"column {name!r} is not above 0 in {wrong:,} of {weights.records:,} records; a weight says how many "
            "people of the population a record stands for; correct them or leave these records out"
        )
    if schema.person is not None:
        several = int((table.group((schema.person,), (name,)).sensitive[0].distinct > 1).sum())
        if several:
            raise InputError(
                f"the records of {counted(several, 'people')} differ in the weight column {name!r}; a person has one "
                "weight"
            )


def weight_notes(schema: Schema, table: EngineTable) -> tuple[str, ...]:
    """What to know about weights that cannot be those of a population."""
    name = schema.weight
    if name is None or schema.person is not None:
        return ()
    weights = table.group((name,), ())
    total = float(weights_of(schema, name)[weights.keys[0]] @ weights.sizes)
    if total >= weights.records * (1 + 1e-9):
        return ()
    return (
        f"the weights in column {name!r} add up to {total:,.0f}, no more than the {weights.records:,} records, so "
        "that the table counts as the whole population; give weights that add up to the population",
    )


def weights_of(schema: Schema, name: str) -> Floats:
    """The weight that each code of a weight column stands for."""
    values = schema.hierarchy_of(name).values
    assert values is not None, "checked when the table was read"
    return values


def class_weights(schema: Schema, table: EngineTable, attributes: tuple[str, ...]) -> Floats | None:
    """What `Classes.weights` has for classes of such attributes; None where there is no weight column.

    Sums are taken in the order of the values, so that they are the same on every engine.
    """
    name, person = schema.weight, schema.person
    if name is None:
        return None
    values = weights_of(schema, name)
    if person is None:
        weights = table.group(attributes, (name,)).sensitive[0]
        return np.asarray(weights.total(weights.counts * values[weights.values]), np.float64)
    people = table.group((person,), (name,))
    by_person = np.zeros(schema.hierarchy_of(person).size)
    by_person[people.keys[0]] = values[people.sensitive[0].values]
    return by_person
