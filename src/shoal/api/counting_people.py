"""Whether people and households can be counted in a table, by the models and the algorithm of a run."""

from __future__ import annotations

from shoal import registry
from shoal.core.contracts.algorithm import Algorithm
from shoal.core.dataset import Dataset
from shoal.core.policy import Policy
from shoal.errors import ParameterError, SchemaError

MANY, OFTEN = 50, 0.1
"""A column that has fewer different values, and fewer than this share of the records, does not tell people apart."""


def _check_rows(data: Dataset) -> None:
    """Refuses to take records for people where the best of the identifiers repeats.

    One that is different in every record says that each is a person of its own, whatever first names do; one of a few
    values only, which was made an identifier to drop it, says nothing about people.
    """
    repeated = {name: data.table.count_repeats(name) for name in data.schema.identifiers}
    if not repeated:
        return
    name = min(repeated, key=repeated.__getitem__)
    distinct = data.records - repeated[name]
    if repeated[name] and (distinct > MANY or distinct >= OFTEN * data.records):
        raise SchemaError(
            f"identifier {name!r} repeats in {repeated[name]:,} of {data.records:,} records, so one person may have "
            "several records. Name the column that identifies the person with person (--person COLUMN), or confirm "
            "with rows_are_people (--rows-are-people) that every row is a separate person"
        )


def check_people(data: Dataset, policy: Policy, method: Algorithm, rows_are_people: bool) -> None:
    """Refuses to take records for people where an identifier says otherwise, and what cannot count people or
    households."""
    for model in policy.models:
        model.check_columns(data.schema)
    counting = [model for model in policy.models if model.counts_households or model.counts_population]
    if counting and not method.counts_people:
        raise _not_counting(method)
    person = data.schema.person
    if person is None:
        if not rows_are_people:
            _check_rows(data)
        return
    if rows_are_people:
        raise SchemaError(
            f"column {person!r} identifies the person of each record, so rows may share a person; leave out either "
            "rows_are_people or that column"
        )
    for model in policy.models:
        model.check_people()
    if not method.counts_people:
        raise _not_counting(method)


def _not_counting(method: Algorithm) -> ParameterError:
    return ParameterError(
        f"{registry.name_of(method)} cannot count people, only records; use mondrian, a clustering algorithm such "
        "as k-member, or a full-domain search such as optimal"
    )
