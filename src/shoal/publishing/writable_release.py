"""A release that can be written: its files, and the manifest beside them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shoal.core.classes import Histogram
from shoal.core.grouping import Counts
from shoal.core.release import Release, occurring, people_in
from shoal.core.run import Run
from shoal.errors import InputError, VerificationError
from shoal.publishing.signing import SigningKey
from shoal.storage.exchange import flush_all
from shoal.storage.files import address, in_folder

FORMAT = 2

WILDCARDS = "wildcard: a hidden cell may stand for any value; this is not k-anonymity for whoever compares cells"
"""What a manifest says about hidden cells where a model takes them so; everywhere else they are values of their own."""

WRITTEN = 0.6
"""The share of writing a release that is done once the files are there; the rest is reading them back."""

ROWS_PER_FILE = 10_000_000
"""Of a release that is a folder, unless somebody says otherwise: files of some hundred megabytes at most."""


@dataclass(frozen=True, eq=False, repr=False)
class WritableRelease(Release):
    """A release that was made here: it can be written and signed."""

    def files(self, path: Path, manifest: Path | None = None) -> tuple[Path, ...]:
        """Every file that `write` makes at a path: the tables, and last the manifest."""
        return (*(part_path(path, part) for part in self.tables), manifest or manifest_path(path))

    def put(
        self,
        path: Path,
        places: Sequence[Path],
        signer: SigningKey | None = None,
        *,
        rows_per_file: int | None = None,
        run: Run | None = None,
    ) -> None:
        """Writes the files of a release to places of their own, reads them as a recipient does, verifies them and
        signs the manifest."""
        run = run or Run()
        run.report(0.0, "writing")
        each = WRITTEN / len(self.tables)
        for at, (table, place) in enumerate(zip(self.tables.values(), places, strict=False)):
            part = run.part(between=(at * each, (at + 1) * each))
            table.write(place, rows_per_file=rows_per_file or ROWS_PER_FILE, run=part)
        run.report(WRITTEN, "reading back")
        watched = self.engine.watch(run.part(between=(WRITTEN, 1.0)), "reading back")
        at_once = not any(map(self.engine.in_database, places))  # one connection does one thing at a time
        with watched, ThreadPoolExecutor(1) as pool:
            hashing = pool.map(self._flushed, places[:-1] if at_once else ())  # while the files are read
            opened = {
                part: self.engine.open_published(place, self.schema.notations)
                for part, place in zip(self.tables, places, strict=False)
            }
            read = replace(self, tables=opened)
            if self.policy is not None and not read.verify(self.policy).holds:
                raise VerificationError(f"{path.name}: the file as it would be read breaks the policy and is withheld")
            hashes = list(hashing) if at_once else [self.engine.digest(place) for place in places[:-1]]
        stated = read.manifest(hashes)
        text = json.dumps(stated if signer is None else signer.signed(stated), indent=2, ensure_ascii=False)
        places[-1].write_text(text + "\n", encoding="utf-8")
        run.report(1.0, "reading back")

    def _flushed(self, place: Path) -> str:
        """The hash of a table that is brought to the disk first, which takes time and no processor."""
        flush_all(place)
        return self.engine.digest(place)

    def write(
        self,
        path: str | Path,
        *,
        manifest: str | Path | None = None,
        sign: SigningKey | str | Path | None = None,
        rows_per_file: int | None = None,
        run: Run | None = None,
    ) -> Path:
        """Writes the release, and beside it the manifest, whose path it returns; or the `manifest` elsewhere, which a
        table of a server needs.

        A path without an ending becomes a folder of Parquet files of `rows_per_file` rows each; one after the other,
        they have the rows in the order of a single file. All files are written beside their places first and take them
        together; when anything goes wrong the old ones stay as they were. With `sign`, a signing key or the file of
        one, the manifest is signed. The `run` is told how far the work is, and can stop it. A state that was kept for
        this is removed.
        """
        path = Path(path)
        signer = SigningKey.load(sign) if isinstance(sign, (str, Path)) else sign
        self.engine.check_format(path)
        files = self.files(path, None if manifest is None else Path(manifest))
        with self.engine.staging(*files) as places:
            self.put(path, places, signer, rows_per_file=rows_per_file, run=run)
        if self.origin is not None and self.origin.checkpoint is not None:
            self.origin.checkpoint.remove()
        return files[-1]

    def manifest(self, hashes: Sequence[str]) -> dict[str, Any]:
        """What another machine needs to check the release, and no cell's value: counts, policy, schema, hashes."""
        columns = [
            {"name": column.name, "role": str(column.role), "kind": str(column.kind)}
            | ({"spelling": self.spellings[column.name]} if column.name in self.spellings else {})
            | ({} if column.form is None else {"format": column.form})
            for column in self.schema.columns
        ]
        tables = [
            {"part": part, "rows": table.records, "sha256": digest}
            for (part, table), digest in zip(self.tables.items(), hashes, strict=True)
        ]
        return {
            "format": FORMAT,
            **self.provenance,
            "records": self.records,
            "published": self.published.records,
            "suppressed": self.suppressed,
            **({"hidden_cells": WILDCARDS} if self.policy and any(m.wildcards for m in self.policy.models) else {}),
            **self._stated_people(),
            **self._stated_weights(),
            "tables": tables,
            "columns": columns,
            "strict": self.schema.strict,
            "sensitive": {name: self._shape(name) for name in self.schema.sensitive} if self.claims else {},
        }

    def _stated_people(self) -> dict[str, Any]:
        """How many people were counted. How many have each sensitive value in the whole table is stated only where
        pseudonyms let somebody count again and a model compares with that."""
        if self.schema.person is None or not self.claims:
            return {}
        classes = self.in_people(self.view.people())
        stated: dict[str, Any] = {
            "column": self.schema.person,
            "published": people_in(classes),
            "smallest_class": int(classes.headcounts.min()) if len(classes) else 0,
        }
        if self.schema.person in self.published.names and self.crowd is not None and self.compares_with_table():
            stated["count"] = self.crowd.count
            stated["populations"] = {name: counts.tolist() for name, counts in self.crowd.populations.items()}
        return {"people": stated}

    def _stated_weights(self) -> dict[str, Any]:
        """How survey weights are published, where they are."""
        weights = None if self.recoding is None else self.recoding.weights
        if weights is None:
            return {}
        return {"weights": {"column": self.schema.weight, "scaled": weights.scaled, "base": weights.base}}

    def _shape(self, name: str) -> dict[str, Any]:
        """A sensitive attribute without its values: the leaf of each published label, the table's counts, the tree."""
        hierarchy = self.schema.hierarchy_of(name)
        leaves = hierarchy.leaves(self.holding(name).labels(name))
        if None in leaves:
            raise VerificationError(
                f"column {name!r}: {leaves.count(None)} published values are not read back as they were written"
            )
        return {
            "leaves": leaves,
            "population": self._stated_counts(name).tolist(),
            "levels": hierarchy.codes[1:-1].tolist(),
        }

    def _stated_counts(self, name: str) -> Counts:
        """The counts that a manifest states: of the whole table where a model compares with them, else of the release,
        so that they tell nothing about the records that were left out."""
        histogram: Histogram = self.view.groups().histogram(name)
        return histogram.population if self.compares_with_table() else occurring(histogram)


def manifest_path(path: Path) -> Path:
    """Where the manifest of a release lies; that of the table `release` in `base.duckdb` is
    `base.duckdb.release.manifest.json`. Beside a table of a server there is no place for one."""
    if address(path) is not None:
        raise InputError(
            "a table of a server has no folder beside it for the manifest; name the manifest's file with --manifest "
            "(manifest in Python and in job files)"
        )
    return path.with_name(path.name.replace("::", ".") + ".manifest.json")


def part_path(path: Path, part: str) -> Path:
    """Where a further table of a release lies: `release.csv.gz` has its part `sensitive` in `release.sensitive.csv.gz`.

    Example:
        >>> part_path(Path("out/release.csv.gz"), "sensitive").name
        'release.sensitive.csv.gz'
        >>> part_path(Path("release"), "sensitive").name
        'release-sensitive'
    """
    if not part:
        return path
    stem, dot, endings = path.name.partition(".")
    if in_folder(path):
        return path.with_name(f"{path.name}-{part}")
    return path.with_name(f"{stem}.{part}{dot}{endings}")
