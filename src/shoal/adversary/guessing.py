"""Guessing: what attacks on sensitive values share. Whoever finds a person's group believes what the group says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.adversary.external_table import ExternalTable
from shoal.adversary.rates import Rate, excess, wilson
from shoal.core.classes import Histogram
from shoal.core.contracts.attack import Attempt, Known
from shoal.core.grouping import Codes, ranges
from shoal.core.hierarchy import Floats
from shoal.core.release import Release
from shoal.errors import NotDefined

BLOCK = 1 << 22
"""Cells of posteriors that are looked at together."""

Hits = Callable[[Floats, Codes], Floats]
"""Row by row of posteriors, the chance that a guess by them is the true value."""


def strongest(release: Release, attempt_on: Callable[[Histogram], Attempt | None]) -> Attempt:
    """The attempt on the sensitive attribute that gives most away; people are counted where they are known.

    Under a strict schema the attacker knows the other sensitive attributes of the person. What `attempted` has no
    answer about is passed over.
    """
    groups = release.in_people(release.view.groups())
    if not groups.sensitive:
        raise NotDefined("there is no sensitive attribute to guess")
    attempts = [attempt for histogram in groups.sensitive if (attempt := attempt_on(histogram.parts)) is not None]
    if not attempts:
        raise NotDefined("no sensitive attribute has values that could be alike: none has a hierarchy or is a number")
    best = max(attempts, key=lambda attempt: (attempt.success - attempt.baseline, attempt.success))
    if not release.schema.strict or len(groups.sensitive) < 2:
        return best
    return replace(best, knew=f"{best.knew}, and the person's other sensitive attributes")


def most_likely(posteriors: Floats, truths: Codes) -> Floats:
    """The chance that the most likely value is the true one; among equally likely ones the guess is random."""
    best = posteriors.max(axis=1, initial=0.0)
    among = posteriors >= best[:, None] * (1 - 1e-12)
    hit = (truths >= 0) & among[np.arange(len(truths)), truths]
    return np.where(hit, 1 / np.maximum(among.sum(axis=1), 1), 0.0)


def with_control(attempt: Attempt, release: Release, known: Known, histogram: Histogram, hits: Hits) -> Attempt:
    """The attempt with the success of the same attack on people who were held out, where there are some whose
    sensitive value is known; what the attack gains over that is in the detail."""
    rate, people = held_out_rate(release, known, histogram, hits)
    if rate is None:
        return attempt
    gain = excess(Rate(attempt.success), rate)
    detail: dict[str, Any] = {
        **attempt.detail,
        "held_out": people[1],
        "control_interval": list(rate.interval),
        "excess": gain.value,
        "excess_error": gain.error,
    }
    return replace(attempt, control=people[0] / people[1], detail=detail)


def held_out_rate(
    release: Release, known: Known, histogram: Histogram, hits: Hits
) -> tuple[Rate | None, tuple[float, int]]:
    """How often people who were held out are guessed right, with the interval, as successes and people too."""
    name = histogram.column
    if known.held_out is None or name not in known.held_out.schema.sensitive:
        return None, (0.0, 0)
    external = ExternalTable.once(known, release, known.held_out, what="the table of held-out people", every=True)
    candidates = external.release.view.candidates(external.keys)
    theirs = external.classes.histogram(name)
    truths, owners, counts = external.leaves(name)[theirs.values], theirs.owners, theirs.counts
    width = len(histogram.population)
    successes = 0.0
    step = max(1, BLOCK // max(width, 1))
    for first in range(0, len(truths), step):
        some = slice(first, first + step)
        rows, places = np.unique(owners[some], return_inverse=True)
        times = np.diff(candidates.starts)[rows]
        at = ranges(candidates.starts[rows], times)
        homes, entries = entries_of_groups(histogram, candidates.classes[at])
        weights = candidates.chances[at][homes] * histogram.shares[entries]
        posteriors = np.zeros((len(rows), width))
        np.add.at(posteriors, (np.repeat(np.arange(len(rows)), times)[homes], histogram.values[entries]), weights)
        nowhere = posteriors.sum(axis=1) <= 0
        posteriors[nowhere] = histogram.priors  # whom no group can hold is guessed by the whole table
        successes += float(hits(posteriors[places], truths[some]) @ counts[some])
    everybody = int(counts.sum())
    return (wilson(successes, everybody) if everybody else None), (successes, everybody)


def entries_of_groups(histogram: Histogram, groups: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The entries of some groups, one group after the other: for each the place of its group among them, and the
    entry."""
    times = histogram.distinct[groups]
    return np.repeat(np.arange(len(groups)), times), ranges(histogram.starts[groups], times)
