"""Privacy models by their definitions, from the sensitive values of each class and the shares in the whole table.

Written down again from the literature: nothing here comes from Shoal. A definition gives the level of a class, and
`more` says whether a greater level is safer; a class keeps the model when its level keeps the bound and what `also`
asks of it holds too.

People are counted, not records: somebody with several records has each of the values once.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, overload

Shares = dict[Hashable, float]
SLACK = 1e-9


class Group(Sequence[Hashable]):
    """The sensitive values of the people of a class: each value that a person has once, and how many people there are.
    Without their names every value is that of a person of its own."""

    def __init__(self, values: Iterable[Hashable], names: Iterable[Hashable] | None = None) -> None:
        if names is None:
            self.values = list(values)
            self.people = len(self.values)
        else:
            pairs = dict.fromkeys(zip(names, values, strict=True))
            self.values = [value for _, value in pairs]
            self.people = len({name for name, _ in pairs})

    @overload
    def __getitem__(self, place: int) -> Hashable: ...

    @overload
    def __getitem__(self, place: slice) -> list[Hashable]: ...

    def __getitem__(self, place: int | slice) -> Hashable | list[Hashable]:
        return self.values[place]

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True)
class Attribute:
    """A sensitive attribute: its shares in the whole table (`priors` of the people, `spread` of the values that people
    have), its values in order, the path of each to the top, and the values that a model is about."""

    priors: Shares
    spread: Shares
    order: Sequence[Hashable] = ()
    paths: dict[Hashable, tuple[Hashable, ...]] = field(default_factory=dict)
    chosen: frozenset[Hashable] | None = None


def shares(group: Group) -> Shares:
    """The share of the people who have each value; somebody may have several."""
    return {value: count / group.people for value, count in Counter(group).items()}


def spread(group: Group) -> Shares:
    """The share of each value among those that people have."""
    return {value: count / len(group) for value, count in Counter(group).items()}


def _entropy(group: Group) -> float:
    return math.exp(-sum(share * math.log(share) for share in spread(group).values()))


def _at_most_people(level: float, group: Group) -> float:
    """Three values of one person are no choice among three."""
    return min(level, group.people)


def _tail(group: Group, l: int) -> float:  # noqa: E741
    counts = sorted(Counter(group).values(), reverse=True)
    tail = sum(counts[l - 1 :])
    return counts[0] / tail if tail else math.inf


def _tied(group: Group) -> int:
    return min(Counter(Counter(group).values()).values())


def _distance(group: Group, about: Attribute, how: str) -> float:
    here = spread(group)
    values = about.order
    if how == "equal":
        return sum(max(here.get(value, 0.0) - prior, 0.0) for value, prior in about.spread.items())
    if how == "ordered":
        moved = total = 0.0
        for value in values:
            moved += here.get(value, 0.0) - about.spread[value]
            total += abs(moved)
        return total / max(len(values) - 1, 1)
    height = max((len(path) for path in about.paths.values()), default=2) - 1
    total = 0.0
    for level in range(height):
        nodes: Counter[Hashable] = Counter()
        for value in values:
            nodes[about.paths[value][level]] += here.get(value, 0.0) - about.spread[value]
        total += sum(abs(net) for net in nodes.values())
    return total / (2 * height)


def _gain(group: Group, about: Attribute, enhanced: bool) -> float:
    worst = 0.0
    for value, share in shares(group).items():
        prior = about.priors[value]
        gain = (share - prior) / prior
        worst = max(worst, math.inf if enhanced and gain > -math.log(prior) + SLACK else gain)
    return worst


def _change(group: Group, about: Attribute, strict: bool) -> float:
    here = shares(group)
    if strict and len(here) < len(about.priors):
        return math.inf
    return max(abs(math.log(share / about.priors[value])) for value, share in here.items())


def _chosen_share(group: Group, about: Attribute) -> float:
    return max((share for value, share in shares(group).items() if _is_chosen(value, about)), default=0.0)


def _is_chosen(value: Hashable, about: Attribute) -> bool:
    return about.chosen is None or value in about.chosen


def _members(group: Group, about: Attribute) -> int:
    return sum(_is_chosen(value, about) for value in group)


def _moved(group: Group, about: Attribute, rho1: float) -> float:
    here, worst = shares(group), 0.0
    for value, prior in about.priors.items():
        if _is_chosen(value, about):
            share = here.get(value, 0.0)
            worst = max(worst, share if prior <= rho1 + SLACK else 0.0, 1 - share if prior >= 1 - rho1 - SLACK else 0.0)
    return worst


def _least(group: Group, about: Attribute) -> float:
    here = shares(group)
    return min(here.get(value, 0.0) for value in about.priors)


@dataclass(frozen=True)
class Definition:
    """The level of a class, the parameter that bounds it, whether more is safer, and what else a class must keep."""

    level: Callable[[Group, Attribute, dict[str, Any]], float]
    bound: str
    more: bool
    also: Callable[[Group, Attribute, dict[str, Any]], bool] = lambda group, about, given: True

    def keeps(self, group: Group, about: Attribute, given: dict[str, Any]) -> bool:
        level, bound = self.level(group, about, given), given[self.bound]
        kept = level >= bound - SLACK if self.more else level <= bound + SLACK
        return kept and self.also(group, about, given)

    def worst(self, levels: list[float]) -> float:
        return min(levels) if self.more else max(levels)


def _twins(groups: Sequence[Group]) -> list[int]:
    """For each class the fewest values that occur, in every class, as often as one of its values."""
    counts = [Counter(group) for group in groups]
    rows = {value: tuple(count[value] for count in counts) for count in counts for value in count}
    alike = Counter(rows.values())
    return [min(alike[rows[value]] for value in group) for group in groups]


TOGETHER = {"inference-l": _twins}
"""The levels of classes that are judged all together; of one class alone the definition says the same."""
OF_SIZES = {"k-anonymity": "k"}
OF_MATCHES = {"wildcard-k-anonymity": "k"}
"""Models to which a hidden cell may stand for any value."""
OF_SETS = {"k-combinations": "k"}
"""Models of the combinations of values of every set of so many quasi-identifiers."""
OF_OWNERS = {"k-households": "household", "estimated-k-map": "weight"}
"""Models of tables that have a column of such a role."""
LEAST_SIZE = {"alpha-k-anonymity": "k", "p-sensitive-k-anonymity": "k"}
"""Models that also ask for classes of a size, parts of strict ones apart."""
DEFINITIONS = {
    "distinct-l-diversity": Definition(
        lambda group, about, given: _at_most_people(len(set(group)), group), "l", True
    ),
    "entropy-l-diversity": Definition(
        lambda group, about, given: _at_most_people(_entropy(group), group), "l", True
    ),
    "frequency-l-diversity": Definition(
        lambda group, about, given: group.people / max(Counter(group).values()), "l", True
    ),
    "recursive-l-diversity": Definition(
        lambda group, about, given: _tail(group, given["l"]), "c", False,
        lambda group, about, given: _tail(group, given["l"]) < given["c"] and group.people >= given["l"],
    ),
    "inference-l": Definition(lambda group, about, given: _tied(group), "l", True),
    "t-closeness": Definition(
        lambda group, about, given: _distance(group, about, given.get("distance", "equal")), "t", False
    ),
    "alpha-k-anonymity": Definition(lambda group, about, given: _chosen_share(group, about), "alpha", False),
    "p-sensitive-k-anonymity": Definition(
        lambda group, about, given: _at_most_people(len(set(group)), group), "p", True
    ),
    "beta-likeness": Definition(
        lambda group, about, given: _gain(group, about, given.get("enhanced", False)), "beta", False
    ),
    "delta-disclosure": Definition(
        lambda group, about, given: _change(group, about, given.get("strict", True)), "delta", False,
        lambda group, about, given: _change(group, about, given.get("strict", True)) < given["delta"],
    ),
    "delta-presence": Definition(
        lambda group, about, given: _members(group, about) / group.people, "delta_max", False,
        lambda group, about, given: _members(group, about) / group.people >= given.get("delta_min", 0.0) - SLACK,
    ),
    "k-map": Definition(
        lambda group, about, given: group.people if _members(group, about) else math.inf, "k", True
    ),
    "rho-privacy": Definition(lambda group, about, given: _moved(group, about, given["rho1"]), "rho2", False),
    "disclosure-bounds": Definition(
        lambda group, about, given: 1 - max(shares(group).values()), "delta", True,
        lambda group, about, given: _least(group, about) >= given.get("epsilon", 0.0) - SLACK,
    ),
}  # fmt: skip


def rarest(columns: Sequence[Sequence[Hashable]], names: Sequence[Hashable], size: int) -> int:
    """The fewest different people who share the values of so many columns."""
    fewest = len(set(names))
    for chosen in combinations(columns, size):
        sharing: dict[Hashable, set[Hashable]] = {}
        for values, name in zip(zip(*chosen, strict=True), names, strict=True):
            sharing.setdefault(values, set()).add(name)
        fewest = min(fewest, *map(len, sharing.values()))
    return fewest


def fewest_matches(rows: Sequence[Sequence[Hashable]]) -> int:
    """The fewest rows that agree with one wherever neither is hidden."""

    def agree(one: Sequence[Hashable], other: Sequence[Hashable]) -> bool:
        return all(a == b or "*" in (a, b) for a, b in zip(one, other, strict=True))

    counts = Counter(map(tuple, rows))
    return min(sum(count for other, count in counts.items() if agree(one, other)) for one in counts)
