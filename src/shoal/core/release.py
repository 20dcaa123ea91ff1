"""Release: the published table, how it came to be, and the policy that it satisfies."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from shoal.core.classes import Classes, Histogram, joined
from shoal.core.contracts import Published
from shoal.core.files import replacing_all, sha256
from shoal.core.finding import Finding, Findings
from shoal.core.grouping import Codes, Counts
from shoal.core.hierarchy import Floats
from shoal.core.policy import Policy
from shoal.core.recoding import ByClass, ByLevel, Recoding
from shoal.core.schema import Schema
from shoal.errors import InputError

FORMAT = 1


@dataclass(frozen=True, eq=False)
class Release:
    """What is handed out. `records` counts the table that it was made from, `published.records` what is in it.

    `classes` regroups the published values; nothing that the algorithm believed goes into it.
    """

    published: Published
    schema: Schema
    records: int
    policy: Policy | None = None
    recoding: Recoding | None = None
    populations: Mapping[str, Counts] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def suppressed(self) -> int:
        """How many records were left out."""
        return self.records - self.published.records

    @property
    def frame(self) -> Any:
        """The published table as the type that came in."""
        return self.published.frame()

    @cached_property
    def classes(self) -> Classes:
        """The classes of the published quasi-identifier values."""
        sensitive = [(name, self.schema[name].hierarchy) for name in self.schema.sensitive]
        quasi, trees = self.schema.quasi, dict(sensitive)
        classes = self.published.group(quasi, sensitive)
        if self.schema.strict:
            classes = joined(
                classes, lambda others, name: self.published.group((*quasi, *others), [(name, trees[name])])
            )
        histograms = tuple(
            replace(histogram, population=self.populations.get(histogram.column, histogram.population))
            for histogram in classes.sensitive
        )
        return replace(classes, sensitive=histograms, records=self.records)

    @cached_property
    def ranges(self) -> tuple[Codes, Codes]:
        """For each quasi-identifier and class, the range of leaves that the published value stands for."""
        low, high = np.empty_like(self.classes.keys), np.empty_like(self.classes.keys)
        averaged = {}
        for position, name in enumerate(self.schema.quasi):
            hierarchy = self.schema[name].hierarchy
            if hierarchy is None:
                raise InputError(f"column {name!r} has no hierarchy, so its published values cannot be understood")
            means = self.recoding.mean_labels(position, hierarchy) if isinstance(self.recoding, ByClass) else None
            if means is not None:
                averaged[position] = means
                continue
            level = self.recoding.levels[position] if isinstance(self.recoding, ByLevel) else None
            parsed = [hierarchy.parse(label, level) for label in self.published.labels(name)]
            unknown = sum(found is None for found in parsed)
            if unknown:
                raise InputError(
                    f"column {name!r} of the release has {unknown} distinct values that its hierarchy does not know; "
                    "give the hierarchies that the release was made with"
                )
            bounds = np.array([found for found in parsed if found is not None], dtype=np.int32).reshape(-1, 2)
            low[position], high[position] = bounds[self.classes.keys[position]].T
        if averaged:
            self._spread(averaged, low, high)
        return low, high

    def _spread(self, averaged: Mapping[int, list[str | None]], low: Codes, high: Codes) -> None:
        """Fills in the ranges that means stand for. A mean does not tell them: they are those of the recoding's classes
        that are published alike."""
        assert isinstance(self.recoding, ByClass)
        others = [position for position in range(len(low)) if position not in averaged]
        codes = []
        for position, labels in averaged.items():
            places = {label: place for place, label in enumerate(self.published.labels(self.schema.quasi[position]))}
            codes.append([places.get(label, -1) for label in labels])
        decided = np.vstack([self.recoding.low[others], self.recoding.high[others], np.array(codes, np.int32)])
        shown = np.vstack([low[others], high[others], self.classes.keys[list(averaged)]])
        number = {column.tobytes(): place for place, column in enumerate(np.ascontiguousarray(shown.T))}
        low[list(averaged)], high[list(averaged)] = np.iinfo(np.int32).max, -1
        for place, column in enumerate(np.ascontiguousarray(decided.T, dtype=shown.dtype)):
            found = number.get(column.tobytes())
            if found is not None:
                for position in averaged:
                    low[position, found] = min(low[position, found], self.recoding.low[position, place])
                    high[position, found] = max(high[position, found], self.recoding.high[position, place])

    def lengths(self, name: str) -> Floats:
        """For each class, the length of the interval that a numeric quasi-identifier is published as."""
        position = self.schema.quasi.index(name)
        hierarchy = self.schema[name].hierarchy
        assert hierarchy is not None
        if isinstance(self.recoding, ByClass) and self.recoding.mean_labels(position, hierarchy) is not None:
            return hierarchy.extent(self.ranges[0][position], self.ranges[1][position])
        labels = self.published.labels(name)
        keys = self.classes.keys[position]
        ends = {
            key: (low, high) for key, low, high in zip(keys, *(side[position] for side in self.ranges), strict=True)
        }
        by_label: Floats = np.zeros(len(labels))
        for key, (low, high) in ends.items():
            by_label[key] = hierarchy.length(labels[key], int(low), int(high))
        lengths: Floats = by_label[keys]
        return lengths

    def verify(self, policy: Policy) -> Findings:
        """Each model of a policy and the suppression budget, measured on the published values."""
        budget = policy.budget(self.records)
        left_out = Finding(
            name="suppressed", value=self.suppressed, bound=budget, holds=0 <= self.suppressed <= budget,
            how="records of the table less records of the release",
        )  # fmt: skip
        return Findings((*(model.measure(self.classes) for model in policy.models), left_out))

    def write(self, path: str | Path) -> Path:
        """Writes the release, and beside it the manifest, whose path it returns.

        Both are written beside their places first and take them together; when anything goes wrong the old files stay
        as they were.
        """
        path = Path(path)
        files = self.files(path)
        with replacing_all(*files) as places:
            self.put(path, places)
        return files[-1]

    def files(self, path: Path) -> tuple[Path, ...]:
        """Every file that is written for a release at a path: tables first, the manifest last."""
        return path, manifest_path(path)

    def put(self, path: Path, places: Sequence[Path]) -> None:
        """Writes the files of a release at a path to other places, in the order of `files`."""
        table, manifest = places
        self.published.write(table)
        text = json.dumps({**self.manifest(), "sha256": sha256(table)}, indent=2, ensure_ascii=False)
        manifest.write_text(text + "\n", encoding="utf-8")

    def manifest(self) -> dict[str, Any]:
        """What another machine needs to check the release, and no cell's value: counts, policy, schema, seed."""
        columns = [
            {"name": column.name, "role": str(column.role), "kind": str(column.kind)} for column in self.schema.columns
        ]
        return {
            "format": FORMAT,
            **self.provenance,
            "records": self.records,
            "published": self.published.records,
            "classes": len(self.classes),
            "suppressed": self.suppressed,
            "columns": columns,
            "strict": self.schema.strict,
            "sensitive": {histogram.column: self._shape(histogram) for histogram in self.classes.sensitive},
        }

    def _shape(self, histogram: Histogram) -> dict[str, Any]:
        """A sensitive attribute without its values: the leaf of each published label, the table's counts, the tree."""
        hierarchy = histogram.hierarchy
        assert hierarchy is not None
        return {
            "leaves": [hierarchy.leaf(label) for label in self.published.labels(histogram.column)],
            "population": self._stated_counts(histogram).tolist(),
            "levels": hierarchy.codes[1:-1].tolist(),
        }

    def _stated_counts(self, histogram: Histogram) -> Counts:
        """The counts that a manifest states: of the whole table where a model compares with them, else of the release,
        so that they tell nothing about the records that were left out."""
        if self.policy is None or any(model.by_population for model in self.policy.models):
            return histogram.population
        counts = np.zeros_like(histogram.population)
        np.add.at(counts, histogram.values, histogram.counts)
        return counts


def manifest_path(path: Path) -> Path:
    """Where the manifest of a release lies."""
    return path.with_name(path.name + ".manifest.json")
