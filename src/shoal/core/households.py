"""Households: who lives with whom, and which columns are the same for all members of a household."""

from __future__ import annotations

import numpy as np

from shoal.core.classes import Classes
from shoal.core.contracts.table import EngineTable
from shoal.core.grouping import Codes
from shoal.core.schema import Schema
from shoal.errors import InputError, SchemaError

ENOUGH = 10
"""Households of several records that must agree before a column is taken for a household variable unasked."""


def homes_of(classes: Classes) -> Codes:
    """The household of each person by code, from the classes of the household column with the people in them; -1 for a
    code that nobody has. Raises where somebody is in two households."""
    people = classes.people
    assert people is not None
    homes: Codes = np.full(len(people.population), -1, np.int32)
    homes[people.values] = classes.keys[0][people.owners]
    twice = int(np.sum(np.bincount(people.values) > 1))
    if twice:
        who = "1 person is" if twice == 1 else f"{twice:,} people are"
        raise InputError(
            f"by columns {people.column!r} and {classes.attributes[0]!r}, {who} in more than one household; a person "
            "belongs to one: correct these records, or name other columns"
        )
    return homes


def check_households(schema: Schema, table: EngineTable) -> None:
    """Refuses somebody who is in two households, and declared household variables that differ inside a household."""
    household, person = schema.household, schema.person
    if household is None:
        return
    if person is not None:
        homes_of(table.group((household,), (), person=person))
    for name in schema.household_variables:
        if name not in (*schema.quasi, *schema.sensitive):
            raise SchemaError(
                f"column {name!r} is {schema[name].role}, and a household variable is a quasi-identifier or sensitive; "
                "leave it out of the household variables or give it such a role"
            )
        histogram = table.group((household,), (name,)).sensitive[0]
        differing = int(np.sum(histogram.distinct > 1))
        if differing:
            raise InputError(
                f"column {name!r} is declared as a household variable and differs inside {differing:,} of "
                f"{len(histogram.distinct):,} households; correct these records or leave it out of the household "
                "variables"
            )


def shared_attributes(classes: Classes) -> tuple[str, ...]:
    """The attributes that are the same in all records of each household, where enough households have several records
    to tell."""
    households = classes.households
    if households is None or np.sum(households.population > 1) < ENOUGH:
        return ()
    return tuple(
        name
        for name, keys in zip(classes.attributes, classes.keys, strict=True)
        if not len(differing_households(classes, keys))
    )


def differing_households(classes: Classes, keys: Codes) -> Codes:
    """The households, by code, that are in classes with different keys."""
    households = classes.households
    assert households is not None
    least = np.full(len(households.population), np.iinfo(np.int32).max, np.int32)
    greatest = np.full(len(households.population), -1, np.int32)
    entries = keys[households.owners].astype(np.int32)
    np.minimum.at(least, households.values, entries)
    np.maximum.at(greatest, households.values, entries)
    return np.flatnonzero(least < greatest).astype(np.int32)
