"""Finds the optima of `optima.json`: every node of the lattice is grouped, judged and scored, nothing is searched.

It shares no code with the searches: tables are the samples, hierarchies are read from their files as plain text, and
models and losses are written down here from their definitions. It takes some minutes:

    python tests/golden/enumerate_optima.py
"""

from __future__ import annotations

import json
import re
import sys
from itertools import product
from math import inf, prod
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import shoal.samples

FACTS = Path(__file__).with_name("optima.json")
SEVEN = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass")
SIX = SEVEN[:-1]
SENSITIVE = "occupation"
K5 = "k-anonymity:k=5"
OBJECTIVES = ("loss", "loss-arithmetic", "precision", "gcp", "height", "dm", "dm-all", "aecs", "entropy")
CASES: list[dict[str, Any]] = [
    *({"part": "train", "quasi": SEVEN, "models": [K5], "suppression": limit, "objective": "loss"}
      for limit in (0.0, 0.02, 0.05, 1.0)),
    *({"part": "train", "quasi": SEVEN, "models": [K5], "suppression": limit, "objective": objective}
      for limit in (0.0, 0.02) for objective in OBJECTIVES[1:]),
    *({"part": "test", "quasi": SIX, "models": [K5], "suppression": limit, "objective": "loss"}
      for limit in (0.0, 0.02, 0.05, 1.0)),
    *({"part": "train", "quasi": SIX, "models": models, "suppression": limit, "objective": "loss"}
      for models in ([K5, "distinct-l-diversity:l=3"], ["entropy-l-diversity:l=3"], ["recursive-l-diversity:c=4,l=3"],
                     ["t-closeness:t=0.2"], ["t-closeness:t=0.2,distance=hierarchical"])
      for limit in (0.0, 0.04, 1.0)),
    *({"part": "train", "quasi": SIX, "models": ["entropy-l-diversity:l=3"], "suppression": 0.04, "objective": other}
      for other in ("dm", "entropy")),
]  # fmt: skip


class Tree:
    """A hierarchy file: `codes[level]` has the node of each leaf, leaves numbered by their line."""

    def __init__(self, name: str) -> None:
        lines = (shoal.samples.hierarchies("adult") / f"{name}.csv").read_text(encoding="utf-8").splitlines()
        self.paths = [line.split(";") for line in lines]
        self.leaf = {path[0]: at for at, path in enumerate(self.paths)}
        self.height = len(self.paths[0]) - 1
        self.labels = [sorted({path[level] for path in self.paths}) for level in range(self.height + 1)]
        self.codes = [
            np.array([self.labels[level].index(path[level]) for path in self.paths]) for level in range(self.height + 1)
        ]
        self.numbers = [float(path[0]) for path in self.paths] if name == "age" else None

    def shares(self, level: int) -> np.ndarray:
        """Of each leaf, the share of all leaves under its node."""
        below = np.bincount(self.codes[level])
        return below[self.codes[level]] / len(self.paths)

    def penalties(self, level: int, least: float, greatest: float) -> np.ndarray:
        """Of each leaf, the certainty penalty of its node: the length of its interval over the table's range where
        the column is a number, else its share of the leaves; nothing for a single leaf."""
        below = np.bincount(self.codes[level])[self.codes[level]]
        if self.numbers is None:
            return np.where(below == 1, 0.0, self.shares(level))
        found = np.empty(len(self.paths))
        for at, path in enumerate(self.paths):
            interval = re.fullmatch(r"\[(\d+)-(\d+)\]", path[level])
            members = [
                number for number, other in zip(self.numbers, self.paths, strict=True) if other[level] == path[level]
            ]
            length = float(interval[2]) - float(interval[1]) if interval else max(members) - min(members)
            found[at] = min(1.0, length / (greatest - least))
        return np.where(below == 1, 0.0, found)


class Table:
    """The distinct tuples of a sample with their counts, and how often each has each sensitive value."""

    def __init__(self, part: str, quasi: tuple[str, ...]) -> None:
        frame = shoal.samples.adult(part=part).select(*quasi, SENSITIVE).with_columns(pl.all().cast(pl.String))
        self.trees = [Tree(name) for name in quasi]
        self.secret = Tree(SENSITIVE)
        rows = np.array(
            [[tree.leaf[value] for value in frame[name]] for tree, name in zip(self.trees, quasi, strict=True)]
        )
        self.n = rows.shape[1]
        self.tuples, inverse = np.unique(rows, axis=1, return_inverse=True)
        inverse = inverse.reshape(-1)
        self.counts = np.bincount(inverse)
        secrets = np.array([self.secret.leaf[value] for value in frame[SENSITIVE]])
        size = len(self.secret.paths)
        self.values = np.bincount(inverse * size + secrets, minlength=len(self.counts) * size).reshape(-1, size)
        self.population = self.values.sum(axis=0) / self.n

    def classes(self, node: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
        """The class of each tuple, and the histogram of each class."""
        key = np.zeros(self.tuples.shape[1], np.int64)
        for tree, level, leaves in zip(self.trees, node, self.tuples, strict=True):
            key = key * len(tree.labels[level]) + tree.codes[level][leaves]
        _, owner = np.unique(key, return_inverse=True)
        count = int(owner.max()) + 1
        values = np.stack([np.bincount(owner, weights=column, minlength=count) for column in self.values.T], axis=1)
        return owner, values.astype(np.int64)


def holds(model: str, values: np.ndarray, table: Table) -> np.ndarray:
    """Which classes satisfy a model, from its definition."""
    name, _, text = model.partition(":")
    given = dict(pair.split("=") for pair in text.split(","))
    sizes = values.sum(axis=1)
    if name == "k-anonymity":
        return sizes >= int(given["k"])
    if name == "distinct-l-diversity":
        return (values > 0).sum(axis=1) >= int(given["l"])
    if name == "entropy-l-diversity":
        l = int(given["l"])  # noqa: E741
        shares = values / sizes[:, None]
        entropy = -np.where(values > 0, shares * np.log(np.where(values > 0, shares, 1.0)), 0.0).sum(axis=1)
        found = entropy >= np.log(l)
        for at in np.flatnonzero(np.abs(entropy - np.log(l)) < 1e-9):  # ties are decided in whole numbers
            counts = [int(count) for count in values[at] if count]
            found[at] = sum(counts) ** sum(counts) >= l ** sum(counts) * prod(count**count for count in counts)
        return found
    if name == "recursive-l-diversity":
        c, l = int(given["c"]), int(given["l"])  # noqa: E741
        ranked = -np.sort(-values, axis=1)
        return ranked[:, 0] < c * ranked[:, l - 1 :].sum(axis=1)
    assert name == "t-closeness"
    difference = values / sizes[:, None] - table.population
    if given.get("distance", "equal") == "equal":
        distance = np.abs(difference).sum(axis=1) / 2
    else:
        distance = np.zeros(len(values))
        tree = table.secret
        for level in range(1, tree.height + 1):
            finer = np.stack([np.bincount(tree.codes[level - 1], weights=row) for row in difference])
            parents = [tree.codes[level][tree.codes[level - 1] == child][0] for child in range(finer.shape[1])]
            for parent in set(parents):
                extras = finer[:, [child for child, of in enumerate(parents) if of == parent]]
                give, take = np.maximum(extras, 0).sum(axis=1), np.maximum(-extras, 0).sum(axis=1)
                distance += level / tree.height * np.minimum(give, take)
    return distance <= float(given["t"]) + 1e-12


def score(
    objective: str, table: Table, node: tuple[int, ...], owner: np.ndarray, sizes: np.ndarray, kept: np.ndarray
) -> float:
    """A loss of a node of which some classes are left out, from its definition."""
    n, gone = table.n, ~kept[owner]
    left = int(sizes[~kept].sum())
    if objective == "height":
        return float(sum(node))
    if objective == "dm":
        return float((sizes[kept] ** 2).sum() + n * left)
    if objective == "dm-all":
        return float((sizes**2).sum())
    if objective == "aecs":
        return float(n / (int(kept.sum()) + (left > 0)))
    terms = []
    for tree, level, leaves in zip(table.trees, node, table.tuples, strict=True):
        if objective == "entropy":
            raw = np.bincount(leaves, weights=table.counts, minlength=len(tree.paths))
            codes = tree.codes[level]
            published = np.bincount(codes, weights=raw)
            present = raw > 0
            bits = float((raw[present] * np.log2(published[codes[present]] / raw[present])).sum())
            lost = np.bincount(codes[leaves[gone]], weights=table.counts[gone])
            lost = lost[lost > 0]
            terms.append(bits + (float((lost * np.log2(left / lost)).sum()) if left else 0.0))
            continue
        if objective == "precision":
            cost = np.full(len(leaves), level / tree.height)
        elif objective == "gcp":
            numbers = None if tree.numbers is None else np.array(tree.numbers)[leaves]
            ends = (0.0, 1.0) if numbers is None else (float(numbers.min()), float(numbers.max()))
            cost = tree.penalties(level, *ends)[leaves]
        else:
            cost = tree.shares(level)[leaves]
        spent = float((np.where(gone, 1.0, cost) * table.counts).sum())
        least = n / len(tree.paths) if objective.startswith("loss") else 0.0
        terms.append(max(0.0, (spent - least) / (n - least)))
    if objective == "entropy":
        return sum(terms)
    return prod(1 + term for term in terms) ** (1 / len(terms)) - 1 if objective == "loss" else sum(terms) / len(terms)


def enumerated() -> list[dict[str, Any]]:
    """The best node of every case; of equally good ones the first in the order of the levels."""
    found: list[dict[str, Any]] = [{**case, "score": inf} for case in CASES]
    for part, quasi in dict.fromkeys((case["part"], case["quasi"]) for case in CASES):
        table = Table(part, quasi)
        cases = [case for case in found if (case["part"], case["quasi"]) == (part, quasi)]
        lattice = list(product(*(range(tree.height + 1) for tree in table.trees)))
        print(
            part, quasi, f"{table.n:,} records, {len(table.counts):,} tuples, {len(lattice):,} nodes", file=sys.stderr
        )
        for node in lattice:
            owner, values = table.classes(node)
            sizes = values.sum(axis=1)
            verdicts = {model: holds(model, values, table) for case in cases for model in case["models"]}
            scores: dict[tuple[Any, ...], float] = {}
            for case in cases:
                kept = np.logical_and.reduce([verdicts[model] for model in case["models"]])
                left = int(sizes[~kept].sum())
                if left > int(case["suppression"] * table.n + 1e-9) or left == table.n:
                    continue
                key = (*case["models"], case["objective"])
                if key not in scores:
                    scores[key] = score(case["objective"], table, node, owner, sizes, kept)
                if scores[key] < case["score"] - 1e-12:
                    case.update(score=scores[key], suppressed=left, levels=node, classes=int(kept.sum()))
                case["nodes"] = len(lattice)
    return found


if __name__ == "__main__":
    facts = {
        "how": "every node of the lattice, by tests/golden/enumerate_optima.py, without any search",
        "cases": enumerated(),
    }
    FACTS.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
