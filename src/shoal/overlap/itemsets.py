"""Itemsets that several holders count together: which ones are tried, and the rules among those that are shown. Nothing
here is secret."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from shoal.errors import InputError

Item = tuple[str, str]
"""A column and a value."""
Itemset = tuple[int, ...]
"""Places of items in the list that all holders agreed on, ascending."""

MOST_CANDIDATES = 20_000
"""Itemsets of one length that are counted at most."""


@dataclass(frozen=True, kw_only=True)
class AssociationRule:
    """Whoever has the items `given` mostly has the item `then` as well: `count` have all of them, which is the share
    `support` of everybody and the share `confidence` of those who have the given ones. All three are blurred."""

    given: tuple[Item, ...]
    then: Item
    count: int
    support: float
    confidence: float


@dataclass(frozen=True, kw_only=True)
class SharedCounts:
    """What all holders learn: about how many records, or people, they have together (None: too few), and about how many
    of them have each itemset that is not too rare. In 19 of 20 cases a count is off by at most `margin`."""

    items: tuple[Item, ...]
    total: int | None
    margin: int
    counts: Mapping[Itemset, int] = field(repr=False)

    def rules(self, *, support: float = 0.0, confidence: float = 0.5) -> list[AssociationRule]:
        """The rules with at least so much support and confidence, the surest first.

        Example:
            >>> items = (("disease", "flu"), ("season", "winter"))
            >>> shared = SharedCounts(items=items, total=100, margin=0, counts={(0,): 40, (1,): 50, (0, 1): 30})
            >>> [(rule.then, rule.support, rule.confidence) for rule in shared.rules()]
            [(('season', 'winter'), 0.3, 0.75), (('disease', 'flu'), 0.3, 0.6)]
        """
        rules = []
        for itemset, count in self.counts.items():
            for then in itemset if len(itemset) > 1 else ():
                given = tuple(item for item in itemset if item != then)
                # Blurred numbers of a part may be larger than those of the whole.
                share, sure = (min(count / whole, 1.0) for whole in (self.total or 1, self.counts[given]))
                if share >= support and sure >= confidence:
                    named = tuple(self.items[item] for item in given)
                    rules.append(
                        AssociationRule(given=named, then=self.items[then], count=count, support=share, confidence=sure)
                    )
        return sorted(rules, key=lambda rule: (-rule.confidence, -rule.count, rule.given, rule.then))


def candidates(passed: Collection[Itemset], length: int, items: Sequence[Item], *, several: bool) -> list[Itemset]:
    """The itemsets of a length whose parts have all passed; two values of one column only where somebody can have
    `several`.

    Example:
        >>> items = [("sex", "f"), ("sex", "m"), ("town", "a"), ("town", "b")]
        >>> candidates({(0,), (1,), (2,)}, 2, items, several=False)
        [(0, 2), (1, 2)]
    """
    known, longer = set(passed), []
    for itemset in sorted(each for each in known if len(each) == length - 1):
        for item in range(itemset[-1] + 1 if itemset else 0, len(items)):
            together = (*itemset, item)
            columns = {items[each][0] for each in together}
            if not several and len(columns) < length:
                continue
            if all(part in known for part in combinations(together, length - 1)):
                longer.append(together)
                if len(longer) > MOST_CANDIDATES:
                    raise InputError(
                        f"more than {MOST_CANDIDATES:,} itemsets of {length} items would be counted; agree on fewer "
                        "items or shorter itemsets"
                    )
    return longer
