"""What is not protected: what the models, the form and the roles leave open, each in its own words."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.core.formatting import enumerated, printable
from shoal.core.release import Release
from shoal.core.schema import Role
from shoal.publishing.columns import ReleasedColumn
from shoal.reports.contents import ModelPromise
from shoal.reports.docstrings import limit

MOST_NAMED = 12
"""Columns that are named one by one."""
OTHER_RELEASES = (
    "other releases",
    "Another release about the same people can be held against this one, and the two together may tell what neither "
    "tells alone. What is said here is about this release on its own.",
)
SEVERAL_RECORDS = (
    "people with several records",
    "Every record was taken for a person of its own. Where people have several, fewer people than records stand behind "
    "each figure.",
)
WEIGHTS = (
    "survey weights",
    "Every record has the mean weight of its class. A weight can tell what was made coarser: where one region was "
    "sampled more densely than the others, a low weight points to it. Round them, or do not publish them.",
)
PSEUDONYMS = (
    "pseudonyms",
    "Records of one person can be put together by the pseudonym, and whoever holds the key of keyed pseudonyms can "
    "compute them again.",
)


def limits(
    release: Release, promises: Sequence[ModelPromise], columns: Sequence[ReleasedColumn], *, unverified: bool
) -> tuple[tuple[str, str], ...]:
    """Who or what leaves something open, and what: the models first, then what is true of every release like this."""
    entries = [(each.claim, each.not_protected) for each in promises if each.not_protected]
    if not promises:
        reason = (
            "it was published without being checked against its policy" if unverified else "values need not be true"
        )
        entries.append(("no privacy model", f"Nothing is promised about any person: {reason}."))
    of_form = limit(release.form)
    if of_form:
        entries.append(("the form of the release", of_form))
    entries += _of_roles(release, columns)
    entries += _of_cells(columns)
    return (*entries, OTHER_RELEASES)


def _of_roles(release: Release, columns: Sequence[ReleasedColumn]) -> list[tuple[str, str]]:
    """What was taken to be known to outsiders, and what was not."""
    quasi = _named([column.name for column in columns if column.role is Role.QUASI])
    known = f"Only {quasi} were taken to be known to outsiders. Whoever knows something else about a person is not "
    entries = [("the roles of the columns", known + "held off by what is promised here.")]
    plain = [column.name for column in columns if column.role is Role.PLAIN and column.shape != "dropped"]
    if plain:
        stay = "is published as it was" if len(plain) == 1 else "are published as they were"
        consequence = "whoever knows one of these values of a person may find the record by it."
        text = f"{_named(plain)} {stay}. No model says anything about them: {consequence}"
        entries.append(("columns without a role", text))
    if release.schema.person is None:
        entries.append(SEVERAL_RECORDS)
    if any(column.role is Role.WEIGHT and column.shape != "dropped" for column in columns):
        entries.append(WEIGHTS)
    if any(column.shape == "pseudonyms" for column in columns):
        entries.append(PSEUDONYMS)
    return entries


def _of_cells(columns: Sequence[ReleasedColumn]) -> list[tuple[str, str]]:
    intervals = [column.name for column in columns if column.shape == "intervals"]
    ends = "begin at the least and end at the greatest value of their class, so that these two values are told"
    text = f"The intervals of {_named(intervals)} {ends}, though not whose they are."
    return [("ends of intervals", text)] if intervals else []


def _named(names: Sequence[str]) -> str:
    shown = [printable(name) for name in names[:MOST_NAMED]]
    return enumerated([*shown, f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else shown)
