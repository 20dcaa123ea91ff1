"""Attacking: what an adversary gets out of a release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from shoal import job, registry
from shoal.api.evaluating import every
from shoal.api.opening import open_release
from shoal.core.contracts import Attack, Attempt, Known
from shoal.core.dataset import Dataset
from shoal.core.release import Release
from shoal.core.run import Run
from shoal.core.seen import Seen, naming, seen
from shoal.errors import NotDefined

NOTHING = Known()
"""An attacker who has the release alone."""


def attack(
    data: Dataset,
    release: Release | str | Path,
    *attacks: Attack | str,
    external: Dataset | None = None,
    earlier: Sequence[Release | str | Path] = (),
    held_out: Dataset | None = None,
    run: Run | None = None,
) -> tuple[Attempt, ...]:
    """Attacks a release as an adversary would (every attack unless some are named); no person is named.

    Attacks that the form of the release does not allow are left out, unless they are named: then the reason is raised.

    Args:
        data: the table that the release was made from.
        release: the release, or the path of its file.
        attacks: the attacks, as objects or as text such as `"prosecutor:threshold=0.09"`.
        external: a table about people that the attacker has, read with the quasi-identifiers that it shares.
        earlier: earlier releases of some of the same people: releases that were made here, also of other tables, or
            paths of files, whose people are found in the table by their quasi-identifiers.
        held_out: people like those of the table who are not in the release, to measure by.
        run: is told how far the work is, and can stop it.

    Example:
        >>> import shoal
        >>> data = shoal.read(shoal.samples.adult(), quasi=["age", "sex", "race"])
        >>> shoal.attack(data, shoal.anonymize(data, shoal.KAnonymity(k=5)), "prosecutor")[0].worst <= 0.2
        True
    """
    opened = release if isinstance(release, Release) else open_release(release, data)
    known = replace(knowing(data, opened, earlier), external=external, held_out=held_out)
    if attacks:
        chosen = [job.plugin("attacks", attack) for attack in attacks]
        return tuple(attack.attempt(data, opened, known, run or Run()) for attack in chosen)
    return every_attack(data, opened, known, run)[0]


def knowing(data: Dataset, release: Release | str | Path, earlier: Sequence[Release | str | Path]) -> Known:
    """An attacker who has earlier releases too, where somebody can say who is where in them."""
    if not earlier:
        return NOTHING
    opened = release if isinstance(release, Release) else open_release(release, data)
    by, key = naming(data), 0  # the hashes stay in this process

    def laid(each: Release | str | Path, place: int) -> Seen:
        name = f"earlier release {place}" if isinstance(each, Release) else Path(each).name
        found = each if isinstance(each, Release) else open_release(each, data, earlier=True)
        return seen(found.origin or data, found, by=by, key=key, name=name)

    try:
        later = seen(opened.origin or data, opened, by=by, key=key, name="the release")
        return Known(earlier=tuple(laid(each, place) for place, each in enumerate(earlier, start=1)), later=later)
    except NotDefined as reason:
        return Known(obstacle=str(reason))


def every_attack(
    data: Dataset, release: Release | str | Path, known: Known = NOTHING, run: Run | None = None
) -> tuple[tuple[Attempt, ...], dict[str, str]]:
    """Every attack on a release, and why others were not made."""
    opened = release if isinstance(release, Release) else open_release(release, data)
    found, reasons = [], {}
    for attack in every("attacks")[0]:
        try:
            found.append(attack.attempt(data, opened, known, run or Run()))
        except NotDefined as reason:
            reasons[registry.name_of(attack)] = str(reason)
    return tuple(found), reasons
