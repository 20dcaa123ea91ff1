"""Verifying: a release file held against its manifest."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shoal import manifest as manifests
from shoal.api.opening import as_published
from shoal.core.contracts.engine import Engine
from shoal.core.finding import Finding, Findings
from shoal.core.pseudonyms import are_pseudonyms
from shoal.core.release import Release, people_in
from shoal.core.schema import NAMING, Role
from shoal.diagnosis.published_sql import Query, queries
from shoal.errors import InputError, NotDefined, ShoalError, quoted
from shoal.job import plugins
from shoal.publishing.signing import PublicKey, checked


def verify(
    path: str | Path,
    *,
    key: PublicKey | str | Path | None = None,
    engine: Engine | str | None = None,
    manifest: str | Path | None = None,
) -> Findings:
    """Checks a release file against its manifest alone: unchanged, complete, and every model still holds.

    Neither the original table nor the hierarchies are needed. With the holder's public `key`, or the file of it, the
    manifest must be signed by that holder: anybody can make a manifest, and whoever changes a release can change its
    manifest too. The `manifest` lies beside the release unless another file is named, as for a table of a server.

    Example:
        >>> import shoal, tempfile
        >>> data = shoal.read(shoal.samples.adult(), quasi=["age", "sex", "race"])
        >>> path = Path(tempfile.mkdtemp()) / "release.csv"
        >>> _ = shoal.anonymize(data, shoal.KAnonymity(k=5)).write(path)
        >>> shoal.verify(path).holds
        True
    """
    if not isinstance(path, (str, Path)):
        raise InputError(
            f"the path of a release file is needed, which release.write makes; this is {type(path).__name__}"
        )
    path = Path(path)
    engine = plugins.engine(engine, path)
    stated = manifests.load(path, None if manifest is None else Path(manifest))
    places = manifests.parts(stated, path)
    lacking = [place.name for place in places.values() if not engine.exists(place)]
    if lacking:
        raise InputError(f"{lacking[0]}: there is no such file")
    hashes = {entry["part"]: entry["sha256"] for entry in stated["tables"]}
    same = all(engine.digest(place) == hashes[part] for part, place in places.items())
    unchanged = Finding(name="unchanged", value="yes" if same else "no", holds=same, how="SHA-256 of every file")
    signature = checked(stated, PublicKey.load(key) if isinstance(key, (str, Path)) else key)
    signatures = () if signature is None else (signature,)
    intact = Findings((unchanged, *signatures))
    try:
        release = as_published(path, stated, engine)
        rows = Finding(
            name="published", value=release.published.records, bound=stated["published"],
            holds=release.published.records == stated["published"],
            how="records in the file, held against the manifest", unit="records",
        )  # fmt: skip
        counts = (release.counts_agree(),) if release.populations else ()
        assert release.policy is not None
        models = release.verify(release.policy, as_far_as_known=True)
        return Findings(
            (*models, *_people_agree(release, stated), rows, *counts, _columns_agree(release, stated), *intact)
        )
    except ShoalError:
        if intact.holds:
            raise
        return intact  # it was changed into something that cannot be measured: the answer is no


def verification_sql(
    path: str | Path,
    dialect: str = "duckdb",
    *,
    table: str = "release",
    engine: Engine | str | None = None,
    manifest: str | Path | None = None,
) -> tuple[Query, ...]:
    """A query for each model that the manifest of a release states, for whoever wants to verify it without Shoal.

    Each gives the worst level of a class, the bound, and 1 or 0 for whether every class keeps it. They are about the
    main table by the name that is given; further parts have theirs after it, as in `release_sensitive`. All columns
    must be text there, and missing values NULL. A model for which there is no query has the reason.

    Example:
        >>> import shoal, tempfile
        >>> data = shoal.read(shoal.samples.adult(), quasi=["age", "sex", "race"])
        >>> path = Path(tempfile.mkdtemp()) / "release.csv"
        >>> _ = shoal.anonymize(data, shoal.KAnonymity(k=5), algorithm="mondrian").write(path)
        >>> [query] = shoal.verification_sql(path, "sqlite")
        >>> import sqlite3
        >>> connection = sqlite3.connect(":memory:")
        >>> _ = connection.execute("CREATE TABLE release (age TEXT, sex TEXT, race TEXT)")
        >>> import csv
        >>> rows = [(row["age"], row["sex"], row["race"]) for row in csv.DictReader(path.open())]
        >>> _ = connection.executemany("INSERT INTO release VALUES (?, ?, ?)", rows)
        >>> level, bound, holds = connection.execute(query.sql).fetchone()
        >>> level >= bound, holds
        (True, 1)
    """
    path = Path(path)
    stated = manifests.load(path, None if manifest is None else Path(manifest))
    return queries(as_published(path, stated, plugins.engine(engine)), table, dialect)


def _columns_agree(release: Release, stated: Mapping[str, Any]) -> Finding:
    """Whether the manifest describes every published column, but for those that the form adds, and whether those that
    name people hold pseudonyms: what it calls an identifier, or leaves out, is in no class that is counted."""
    roles = {column["name"]: Role(column["role"]) for column in stated["columns"]}
    added = {name for each in release.view.linked() for name in (*each.group, each.count)}
    allowed = stated.get("identifiers") in ("keyed", "random")
    wrong = sorted(
        name
        for table in release.tables.values()
        for name in table.names
        if (name not in roles and name not in added)
        or roles.get(name) is Role.DROP
        or (roles.get(name) is Role.WEIGHT and not stated.get("weights"))
        or (roles.get(name) in NAMING and not (allowed and are_pseudonyms(table.labels(name))))
    )
    how = "published columns, held against the manifest: each is described there, and identifiers hold pseudonyms"
    return Finding(
        name="columns-agree", value="no" if wrong else "yes", holds=not wrong,
        how=how if not wrong else f"{how}; not so: {', '.join(map(quoted, dict.fromkeys(wrong)))}",
    )  # fmt: skip


def _people_agree(release: Release, stated: Mapping[str, Any]) -> tuple[Finding, ...]:
    """How many people a release has, held against its manifest, or why they cannot be counted."""
    if "people" not in stated:
        return ()
    people_stated = stated["people"]
    try:
        people = people_in(release.in_people(release.view.people()))
    except NotDefined as reason:
        how = (
            f"not defined: {reason}; counted when it was made, as the manifest states: "
            f"{people_stated['published']:,} people, {people_stated['smallest_class']:,} in the smallest class"
        )
        return (Finding(name="people", value=None, how=how),)
    holds = release.people_agree(people_stated["published"])
    how = "people in the file, by their pseudonyms, held against the manifest"
    return (Finding(name="people", value=people, bound=people_stated["published"], holds=holds, how=how),)
