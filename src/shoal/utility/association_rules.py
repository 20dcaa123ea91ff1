"""Rules: what goes together in a table, or is expected to in a release."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from shoal.errors import NotDefined
from shoal.utility.expected import Expected
from shoal.utility.frequent_conditions import ConditionedTable

Item = tuple[str, int]
"""A column and a leaf."""
Itemset = frozenset[Item]
Rule = tuple[Itemset, Item]
"""Values that records have, and one that they then have as well."""
MOST = 500_000
"""Itemsets that are looked at."""


@dataclass(frozen=True, eq=False)
class Mined:
    """The rules of a table at some support and confidence, and the shares of the records that have sets of values."""

    table: Expected
    rules: frozenset[Rule]
    shares: dict[Itemset, float]
    _tables: dict[frozenset[str], ConditionedTable] = field(default_factory=dict)

    @classmethod
    def of(cls, table: Expected, names: Sequence[str], support: float, confidence: float, longest: int) -> Mined:
        shares = itemsets(table, names, support, longest)
        rules = {
            (items - {last}, last)
            for items, share in shares.items()
            for last in (items if len(items) > 1 else ())
            if share >= confidence * shares[items - {last}] - 1e-12
        }
        return cls(table, frozenset(rules), shares)

    def figures(self, rule: Rule) -> tuple[float, float]:
        """The support and the confidence of a rule, whether it is one here or not."""
        first, last = rule
        both, alone = self.share(first | {last}), self.share(first)
        return both, both / alone if alone > 0 else 0.0

    def share(self, items: Itemset) -> float:
        """The share of the records that have all of some values."""
        if items not in self.shares:
            names = frozenset(name for name, _ in items)
            if names not in self._tables:
                self._tables[names] = ConditionedTable.of(self.table, sorted(names))
            left = self._tables[names]
            for name, leaf in sorted(items):
                left = left.where(name, leaf, leaf)
            self.shares[items] = left.total() / max(self.table.records, 1.0)
        return self.shares[items]


def itemsets(table: Expected, names: Sequence[str], support: float, longest: int) -> dict[Itemset, float]:
    """Every set of values of different columns that at least a share of the records has, with that share."""
    ordered = sorted(names, key=lambda name: -table.trees[name].size)
    records, least = max(table.records, 1.0), support - 1e-12
    frequent = {}
    for name in ordered:
        shares = table.marginal(name, np.arange(table.trees[name].size, dtype=np.int32))
        frequent[name] = np.flatnonzero(shares >= least).tolist()
    found: dict[Itemset, float] = {}

    def walk(at: int, left: ConditionedTable, met: Itemset) -> None:
        if at == len(ordered) or len(met) == longest:
            return
        name = ordered[at]
        for leaf in frequent[name]:
            chosen = left.where(name, leaf, leaf)
            share = chosen.total() / records
            if share >= least:
                if len(found) == MOST:
                    raise NotDefined(f"more than {MOST:,} sets of values are frequent; ask for more support")
                found[met | {(name, leaf)}] = share
                walk(at + 1, chosen, met | {(name, leaf)})
        walk(at + 1, left.without(name), met)

    walk(0, ConditionedTable.of(table, ordered), frozenset())
    return found


@dataclass(frozen=True)
class Change:
    """The share of rules that are lost and of those that are ghosts, and the mean shifts of support and confidence."""

    lost: float
    ghost: float
    support: float = 0.0
    confidence: float = 0.0


def changed(before: Collection[object], after: Collection[object]) -> Change:
    """The share of rules that are gone, and of those that are new.

    Example:
        >>> changed({"ab", "bc", "cd", "ac"}, {"ab", "bc", "da"})
        Change(lost=0.5, ghost=0.3333333333333333, support=0.0, confidence=0.0)
    """
    old, new = set(before), set(after)
    return Change(len(old - new) / max(len(old), 1), len(new - old) / max(len(new), 1))


def compared(before: Mined, after: Mined) -> Change:
    """How the rules of one table differ from those of another."""
    shares = changed(before.rules, after.rules)
    shifts = np.array(list(_shifts(before, after))).reshape(-1, 2)
    support, confidence = (float(column.mean()) if len(column) else 0.0 for column in shifts.T)
    return Change(shares.lost, shares.ghost, support, confidence)


def _shifts(before: Mined, after: Mined) -> Iterator[tuple[float, float]]:
    """How far the support and the confidence of each rule of either move."""
    for rule in sorted(before.rules | after.rules, key=lambda rule: (sorted(rule[0]), rule[1])):
        (support, confidence), (later, surer) = before.figures(rule), after.figures(rule)
        yield abs(support - later), abs(confidence - surer)
