"""Attacking: what an adversary gets out of a release."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from shoal import registry
from shoal.adversary.locating import locate
from shoal.api.evaluating import every_plugin
from shoal.api.opening import open_release
from shoal.api.reading import check_dataset, read
from shoal.core.codebook import Codebook
from shoal.core.contracts.attack import Attack, Attempt, Attempts, Known
from shoal.core.dataset import Dataset
from shoal.core.read_request import Opening
from shoal.core.release import Release
from shoal.core.release_history import LocatedRelease, Naming
from shoal.core.risk_line import is_above
from shoal.core.run import Run
from shoal.core.schema import Kind
from shoal.errors import InputError, NotDefined, SchemaError, quoted, unknown_columns
from shoal.job import plugins
from shoal.storage.files import received

NOTHING = Known()
"""An attacker who has the release alone."""


def attack(
    data: Dataset,
    release: Release | str | Path,
    *attacks: Attack | str,
    external: Dataset | str | Path | None = None,
    earlier: Sequence[Release | str | Path] = (),
    held_out: Dataset | str | Path | None = None,
    run: Run | None = None,
) -> Attempts:
    """Attacks a release as an adversary would (every attack unless some are named); no person is named.

    Attacks that the form of the release does not allow are left out, unless they are named: then the reason is raised.

    Args:
        data: the table that the release was made from.
        release: the release, or the path of its file.
        attacks: the attacks, as objects or as text such as `"prosecutor:threshold=0.09"`.
        external: a table about people that the attacker has, such as a register: a path, or a table that was read with
            the quasi-identifiers that it shares.
        earlier: earlier releases of some of the same people: releases that were made here, also of other tables, or
            paths of files, whose people are found in the table by their quasi-identifiers.
        held_out: people like those of the table who are not in the release, to measure by.
        run: receives progress, and can stop the work.

    Raises:
        InputError: the release is not one of this table.
        SchemaError: another table shares no quasi-identifier with the release.
        NotDefined: a named attack cannot be made on this form, or needs what is not known.

    Example:
        >>> import shoal
        >>> data = shoal.read(shoal.samples.adult(), quasi=["age", "sex", "race"])
        >>> shoal.attack(data, shoal.anonymize(data, shoal.KAnonymity(k=5)), "prosecutor")[0].worst <= 0.2
        True
    """
    check_dataset(data)
    opened = release_to_attack(data, release)
    known = replace(
        knowledge_of(data, opened, earlier),
        external=_people(external, data, "the external table"),
        held_out=_people(held_out, data, "the table of held-out people", sensitive=True),
    )
    if attacks:
        selection = [plugins.plugin("attacks", attack) for attack in attacks]
        return Attempts(attack.attempt(data, opened, known, run or Run()) for attack in selection)
    return every_attack(data, opened, known, run)[0]


def knowledge_of(data: Dataset, release: Release | str | Path, earlier: Sequence[Release | str | Path]) -> Known:
    """An attacker who has earlier releases too, where somebody can say who is where in them."""
    if not earlier:
        return NOTHING
    opened = release_to_attack(data, release)
    by, key = Naming.of(data), 0  # the hashes stay in this process

    def located(each: Release | str | Path, place: int) -> LocatedRelease:
        name = f"earlier release {place}" if isinstance(each, Release) else Path(each).name
        earlier_release = each if isinstance(each, Release) else open_release(each, data, earlier=True)
        return locate(earlier_release.origin or data, earlier_release, by=by, key=key, name=name)

    try:
        later = locate(opened.origin or data, opened, by=by, key=key, name="the release")
        return Known(earlier=tuple(located(each, place) for place, each in enumerate(earlier, start=1)), later=later)
    except NotDefined as reason:
        return Known(obstacle=str(reason))


def every_attack(
    data: Dataset, release: Release | str | Path, known: Known = NOTHING, run: Run | None = None
) -> tuple[Attempts, dict[str, str]]:
    """Every attack on a release, and why others were not made."""
    return attempts(data, release_to_attack(data, release), every_plugin("attacks")[0], known, run)


def attempts(
    data: Dataset, release: Release, attacks: Iterable[Attack], known: Known = NOTHING, run: Run | None = None
) -> tuple[Attempts, dict[str, str]]:
    """Some attacks on a release, and why others of them were not made."""
    results, reasons = [], {}
    data = release.table_of(data)
    for attack in attacks:
        try:
            results.append(attack.attempt(data, release, known, run or Run()))
        except NotDefined as reason:
            reasons[registry.name_of(attack)] = str(reason)
    return Attempts(results), reasons


def public_figures(
    data: Dataset, release: Release, attacks: Iterable[Attack], run: Run | None = None
) -> list[dict[str, Any]]:
    """The figures of attacks as a manifest may state them: what anybody could compute from the published tables.

    They are held against the counts of the release, not of the whole table, which would tell about records that were
    left out; attacks that need more than a recipient has are passed over.
    """
    public = replace(release, populations={}, crowd=None, members=None)
    results = attempts(data, public, attacks, run=run)[0]
    stated = ("name", "success", "worst", "above", "threshold", "knew")
    return [{name: getattr(attempt, name) for name in stated} for attempt in results]


def attempts_above(attempts: Iterable[Attempt], threshold: float) -> list[Attempt]:
    """The attempts in which somebody's risk is above what a threshold accepts."""
    return [attempt for attempt in attempts if is_above(attempt.worst, threshold)]


def read_beside(
    source: Any, data: Dataset, *, what: str = "the other table", sensitive: bool = False, **reading: Any
) -> Dataset:
    """Another table about people, read with the columns that it shares with a table: quasi-identifiers, the person
    column, and if wanted the sensitive attributes; `reading` says how its file is read, as for `read`."""
    names = data.engine.open(received(source), Opening(**reading)).names
    schema = data.schema
    quasi = [name for name in schema.quasi if name in names]
    if not quasi:
        raise SchemaError(
            f"{what} shares no quasi-identifier with the table: it has none of the columns "
            f"{', '.join(map(quoted, schema.quasi))}; rename its columns so that they match"
        )
    columns = [schema[name] for name in (*quasi, *(schema.sensitive if sensitive else ())) if name in names]
    forms = {
        kind: {column.name: column.form for column in columns if column.kind is kind and column.form is not None}
        for kind in (Kind.DATE, Kind.NUMERIC)
    }
    return read(
        source, quasi=quasi, sensitive=[column.name for column in columns if column.name in schema.sensitive],
        person=schema.person if schema.person in names else None,
        kinds={column.name: str(column.kind) for column in columns}, date_formats=forms[Kind.DATE],
        number_formats=forms[Kind.NUMERIC], engine=data.engine, **reading,
    )  # fmt: skip


def _people(
    source: Dataset | str | Path | None, data: Dataset, what: str, *, sensitive: bool = False
) -> Dataset | None:
    return (
        source
        if source is None or isinstance(source, Dataset)
        else read_beside(source, data, what=what, sensitive=sensitive)
    )


def release_to_attack(data: Dataset, release: Release | str | Path) -> Release:
    """The release; one that lies in a file must be one of the table."""
    if isinstance(release, Release):
        return release
    opened = open_release(release, data)
    published_names = {name for table in opened.tables.values() for name in table.names}
    lacking = [name for name in (*data.schema.quasi, *data.schema.sensitive) if name not in published_names]
    if lacking:
        raise unknown_columns(lacking, published_names)
    with suppress(NotDefined):  # where nothing that it shows must be true of anybody
        _check_origin(data, opened, Path(release).name)
    return opened


def _check_origin(data: Dataset, release: Release, name: str) -> None:
    """Refuses a release that shows more of a sensitive value than the table has, or a class that its records cannot
    make up; labels of a hierarchy that was not given prove nothing."""
    groups = release.view.groups()
    for histogram in groups.sensitive:
        whole = release.populations[histogram.column]
        published_counts = np.bincount(histogram.values, weights=histogram.counts, minlength=len(whole))
        if len(published_counts) > len(whole) or bool(np.any(published_counts > whole)):
            raise InputError(
                f"{name}: it has values of {quoted(histogram.column)} more often than the table; it is not a release "
                "of it"
            )
    if "means" in release.spellings.values():
        return
    try:
        candidates = release.view.candidates(data.summary.keys)
    except InputError:
        for column in data.schema.quasi:
            plain = release.spellings.get(column) in ("values", "intervals")
            if plain and isinstance(
                Codebook.parsed(release.hierarchy_of(column), release.holding(column).labels(column)), int
            ):
                raise InputError(
                    f"{name}: column {quoted(column)} has values that the table lacks; it is not a release of it"
                ) from None
        return
    fitting = np.bincount(
        candidates.classes, weights=np.repeat(data.summary.sizes, np.diff(candidates.starts)), minlength=len(groups)
    )  # fmt: skip
    broken = int(np.count_nonzero(fitting < groups.sizes))
    if broken:
        raise InputError(
            f"{name}: {broken:,} of its {len(groups):,} groups hold more people than the table has with such values; "
            "it is not a release of it"
        )
