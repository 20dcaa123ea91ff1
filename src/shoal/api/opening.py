"""Opening: a release that lies in files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal import manifest, registry
from shoal.adversary.locating import groups_of_tuples
from shoal.adversary.record_matching import SEED, matched
from shoal.core.contracts.engine import Engine
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes
from shoal.core.release import Release
from shoal.core.schema import Notation
from shoal.errors import InputError, NotDefined, VerificationError
from shoal.publishing.publish import whole
from shoal.publishing.writable_release import manifest_path
from shoal.storage.files import address, check_whole


def path_of(release: Any) -> Path:
    """Where a release lies; raises when it is no path."""
    if not isinstance(release, (str, Path)):
        raise InputError(
            f"a release is needed: what shoal.anonymize returns, or a path; this is {type(release).__name__}"
        )
    return Path(release)


def open_release(path: str | Path, data: Dataset, *, earlier: bool = False) -> Release:
    """A release file next to the table that it was made from; a file without a manifest is taken as generalized.

    An `earlier` one may be of a table that has changed since, and have more records than it has now.
    """
    path = path_of(path)
    check_whole(path)
    beside = address(path) is None and manifest_path(path).exists()
    stated = manifest.load(path) if beside else None
    form = registry.make("forms", stated["form"] if stated else "generalized", {})
    tables = {
        part: data.engine.open_published(place, _notations(data, stated))
        for part, place in manifest.parts(stated, path).items()
    }
    ghosts = stated.get("ghosts", {}) if stated else {}
    schema = data.schema.without_role([name for name in data.schema.sensitive if name in ghosts])
    release = Release(
        form=form, tables=tables, schema=schema, records=data.records, engine=data.engine,
        policy=manifest.policy_of(stated) if stated else None, **whole(data),
        stated_spellings=manifest.spellings_of(stated) if stated else {}, provenance=stated or {},
        method=manifest.method_of(stated) if stated else None,
    )  # fmt: skip
    if release.suppressed < 0 and not earlier:
        raise InputError(f"{path.name} has more records than the table; it is not a release of it")
    return _with_members(release, data) if schema.owners or schema.weight is not None else release


def _notations(data: Dataset, stated: Mapping[str, Any] | None) -> dict[str, Notation]:
    """How a release spells what the table has: its manifest may state another format of dates than the table has."""
    stated_ones = manifest.notations_of(stated) if stated else {}
    return {
        name: other if (other := stated_ones.get(name, own)).kind is own.kind else own
        for name, own in data.schema.notations.items()
    }


def _with_members(release: Release, data: Dataset) -> Release:
    """A release with the people and the households in its classes, as the table and the published values tell them.
    Where several placements of the records are possible, one of them that has as many people as its manifest states;
    households and weights, of which it states nothing, then stay unknown."""
    try:
        people, names = release.view.people(), release.published.names
        shown = data.schema.weight is None and all(name in names for name in data.schema.owners)
        if shown or people is not release.view.groups():
            return release
        owners = _certain(release, data)
        if owners is not None:
            return release.with_members(data.partitioned(owners, len(people), seed=SEED))
        if data.schema.person in names:
            return release
        owners = matched(data, release, (release.provenance.get("people") or {}).get("smallest_class", 1))
        if owners is None:
            return release
        possible = data.partitioned(owners, len(people), seed=SEED)
        return release.with_members(replace(possible, households=None, weights=None))
    except (NotDefined, InputError, VerificationError):
        return release


def _certain(release: Release, data: Dataset) -> Codes | None:
    """The class of each tuple of a table with households or weights, where each fits into one only."""
    if data.schema.household is None and data.schema.weight is None:
        return None
    try:
        return groups_of_tuples(data, release)
    except NotDefined:
        return None


def as_published(path: Path, stated: Mapping[str, Any], engine: Engine) -> Release:
    """A release as its files and its manifest tell it, without the table that it was made from."""
    notations = manifest.notations_of(stated)
    tables = {part: engine.open_published(place, notations) for part, place in manifest.parts(stated, path).items()}
    schema, populations = manifest.schema_of(stated, tables)
    return Release(
        form=registry.make("forms", stated["form"], {}), tables=tables, schema=schema, records=stated["records"],
        engine=engine, policy=manifest.policy_of(stated), populations=populations, crowd=manifest.crowd_of(stated),
        stated_spellings=manifest.spellings_of(stated), 
        provenance={name: stated.get(name) for name in ("weights", "ghosts")},
    )  # fmt: skip
