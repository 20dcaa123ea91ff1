"""Joining: what the attacks on several releases have in common."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.core.contracts import SLACK, Known
from shoal.core.grouping import Codes, Counts, group
from shoal.core.hierarchy import Floats
from shoal.core.seen import Beside, Seen, beside
from shoal.errors import NotDefined

Chosen = NDArray[np.bool_]


def laid_out(known: Known) -> tuple[Seen, ...]:
    """The earlier releases and, last, the one that is attacked."""
    if not known.earlier or known.later is None:
        nothing = "there is no earlier release to lay beside this one; name it with --earlier, or keep a ledger"
        raise NotDefined(known.obstacle or nothing)
    return (*known.earlier, known.later)


def classes_beside(releases: Sequence[Seen]) -> Beside:
    """Who cannot be told apart in each of some releases."""
    places = [each.classes for each in releases if each.classes is not None]
    if len(places) < len(releases):
        raise NotDefined("a release has no table with all quasi-identifiers, so nobody's record can be found in it")
    return beside(releases, places)


def crowd(columns: Sequence[Codes]) -> Counts:
    """For each person, how many people are in the same places."""
    found = group([codes + 1 for codes in columns], [int(codes.max(initial=0)) + 2 for codes in columns], index=True)
    assert found.index is not None
    return found.counts[found.index]


def alone(people: Beside) -> Floats:
    """For each person, the greatest of the risks in the single releases."""
    found = np.zeros(people.places.shape[1])
    for places in people.places:
        found = np.maximum(found, np.where(places >= 0, 1 / crowd([places]), 0.0))
    return found


def linked(releases: Sequence[Seen]) -> tuple[str, ...]:
    """The columns by which rows of one release may be told to belong to rows of another."""
    return tuple(name for name in releases[0].linking if all(name in each.linking for each in releases[1:]))


def gained(together: Floats, apart: Floats, threshold: float) -> Chosen:
    """Whose risk is above a threshold with all releases, and was lower with each of them alone."""
    found: Chosen = (together > threshold + SLACK) & (together > apart + SLACK)
    return found
