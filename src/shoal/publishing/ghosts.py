"""Ghosts: columns without a role that are hidden wherever a cell of a quasi-identifier is to which they are linked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.core.contracts.table import Sheet
from shoal.core.grouping import group
from shoal.core.hierarchy import TOP
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.errors import ParameterError, VerificationError


def with_ghost_columns(sheets: tuple[Sheet, ...], recoding: Recoding) -> tuple[Sheet, ...]:
    """The sheets in which ghosts that are hidden somewhere are marked as such."""
    hidden = {name for name in recoding.ghosts if recoding.hides(name)[recoding.planned.published].any()}
    return tuple(
        replace(
            sheet,
            columns=tuple(
                replace(column, what="ghost") if column.name in hidden else column for column in sheet.columns
            ),
        )
        for sheet in sheets
    )


def check_ghosts(release: Release, recoding: Recoding) -> None:
    """Raises unless every ghost is hidden in exactly those published classes in which it was decided to be."""
    for name in recoding.ghosts:
        rows, people = release.published.group((*release.schema.quasi, name), ()), release.view.people()
        labels = list(release.published.labels(name))
        stars = rows.keys[-1] == (labels.index(TOP) if TOP in labels else -1)
        placement, decided = release.view.placement(recoding), np.zeros(len(people), np.bool_)
        shown = placement >= 0
        decided[placement[shown]] = recoding.hides(name)[shown]
        wanted = decided[group(list(rows.keys[:-1]), index=True).index]
        if bool(np.any(wanted & ~stars)):
            raise VerificationError(f"column {name!r}: a value is published that was to be hidden")
        if bool(np.any(stars & ~wanted)):
            raise ParameterError(
                f"linked: a hidden cell reads {TOP!r}, and column {name!r} has that as a value; spell it otherwise in "
                "the table"
            )
