"""Targeted record swapping (Dalenius and Reiss, 1982; Shlomo, Tudor and Groom, 2010)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge, Le, MinLen
from numpy.typing import NDArray
from typing_extensions import Doc

from shoal.core.contracts.algorithm import Algorithm
from shoal.core.dataset import Dataset
from shoal.core.parameters import Examples
from shoal.core.policy import Policy
from shoal.core.recoding import Recoding
from shoal.core.run import Run
from shoal.errors import ParameterError, SchemaError, unknown_columns
from shoal.perturbation._numeric import groups_by, headcounts, numbered, people_of, units_of

Places = NDArray[np.int64]
Mask = NDArray[np.bool_]

DRAWN, TRIES = 1 << 16, 16
"""Units whose partners are drawn between two looks at the run, and random picks before the free partners are listed."""


@dataclass(frozen=True, kw_only=True)
class TargetedSwapping(Algorithm):
    """Swaps the areas of records at risk with those of similar records elsewhere.

    `geography` names nested columns, the widest first. A record is at risk at a level where fewer than `k` people of
    its area have the same other quasi-identifiers (or the `risk` columns). Its partner lives in another area of the
    widest level at which it is at risk, inside the same area one level up where there is somebody, else as near as
    possible, and agrees in the `match` columns. The two trade all geography columns; nothing else changes, and nobody
    is swapped twice. Besides, at least a `share` of all is swapped, so that nobody can be sure of anybody.

    Every count by area and by the match columns is exactly as it was, and so is every table without geography. So put
    strata, and what must stay true of an area, among the match columns. A household, where a column names it, goes
    together, else the records of a person do; it is swapped with one of as many records that agree one by one. Where
    its records lie in several areas, which the run tells, those of each area go together.

    Does not protect against: linkage by columns that say nothing of the area. Records at risk that no similar one can
    be found for stay where they are; the run says how many. It claims no privacy model, and the area of a record need
    not be true of it.

    Reference: N. Shlomo, C. Tudor, P. Groom, Data swapping for protecting census tables, 2010.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"town": list("aaabbb"), "size": [1, 2, 2, 1, 2, 2], "job": list("xxyyxx")})
        >>> data = shoal.read(table, quasi=["town", "size", "job"])
        >>> swap = TargetedSwapping(geography=("town",), match=("size",), k=2)
        >>> release = shoal.anonymize(data, algorithm=swap)
        >>> release.frame.group_by("town", "size").len().sort("town", "size").rows()
        [('a', 1, 1), ('a', 2, 2), ('b', 1, 1), ('b', 2, 2)]
    """

    geography: Annotated[tuple[str, ...], MinLen(1), Doc("columns of nested areas, the widest first")]
    match: Annotated[tuple[str, ...], Doc("columns in which partners agree, such as household size and stratum")] = ()
    risk: Annotated[
        tuple[str, ...], Doc("columns that tell people apart in an area; by default all other quasi-identifiers")
    ] = ()
    k: Annotated[int, Ge(1), Doc("people with the same values in an area, below which they are at risk")] = 3
    share: Annotated[float, Ge(0), Le(1), Doc("how many of all are swapped at least, at risk or not")] = 0.0

    claims: ClassVar[bool] = False
    seed_protects: ClassVar[bool] = True
    examples: ClassVar[Examples] = ({"geography": ("race",)}, {"geography": ("race", "sex"), "k": 5, "share": 0.2})

    def search(self, dataset: Dataset, policy: Policy, run: Run) -> Recoding:
        self._check(dataset)
        run.report(0.0, "looking for records at risk")
        seed, people = policy.seed, people_of(dataset, policy.seed)
        codes = np.stack(dataset.table.listing((), self.geography, seed)).astype(np.int64)
        areas = _nested(codes)
        risk = groups_by(dataset, self._risk_columns(dataset), seed)
        levels = at_risk(areas, risk, people, self.k)
        together = units_of(dataset, seed)
        units = _units(numbered(together, areas[-1]))
        first = units.first
        exposed = np.full(len(first), len(self.geography))
        np.minimum.at(exposed, units.of, levels)
        missing = np.zeros(dataset.records, np.bool_)
        for name, column in zip(self.geography, codes, strict=True):
            missing |= column < int(dataset.schema.hierarchy_of(name).missing)
        free = ~missing[first]
        profiles = _profiles(groups_by(dataset, self.match, seed), units)
        generator = np.random.default_rng(seed)
        partners = _Partners(areas[:, first], profiles, free, np.arange(len(first)), generator)
        for level in range(len(self.geography)):
            partners.swap(np.flatnonzero(exposed == level), level, run)
        lonely = int(((exposed < len(self.geography)) & (partners.of == np.arange(len(first))))[units.of].sum())
        more = round(self.share * len(first)) - int((partners.of != np.arange(len(first))).sum())
        if more > 0:
            partners.swap(np.flatnonzero(partners.free), len(self.geography) - 1, run, most=more)
        origin = first[partners.of][units.of]
        changed = {
            name: _labels(dataset, name, column[origin])
            for name, column in zip(self.geography, codes, strict=True)
        }  # fmt: skip
        facts: dict[str, Any] = {
            "columns": list(self.geography),
            "at_risk": [int((levels == level).sum()) for level in range(len(self.geography))],
            "swapped": int((partners.of != np.arange(len(first)))[units.of].sum()),
            "unswapped": lonely,
            "split": int((np.bincount(np.unique(together[units.first], return_inverse=True)[1]) > 1).sum()),
        }
        return Recoding(form="perturbed", facts=facts, changed=changed)

    def _check(self, dataset: Dataset) -> None:
        schema = dataset.schema
        named = (*self.geography, *self.match, *self.risk)
        unknown = [name for name in named if name not in schema.names]
        if unknown:
            raise unknown_columns(unknown, schema.names)
        bare = [name for name in self.geography if name not in (*schema.quasi, *schema.sensitive)]
        if bare:
            raise SchemaError(f"column {bare[0]!r} is swapped, so it needs a role; name it as a quasi-identifier")
        twice = [name for name in self.geography if name in self.match or self.geography.count(name) > 1]
        if twice:
            raise ParameterError(f"column {twice[0]!r} is named twice, or both swapped and matched; choose one")

    def _risk_columns(self, dataset: Dataset) -> tuple[str, ...]:
        return self.risk or tuple(name for name in dataset.schema.quasi if name not in self.geography)


def at_risk(areas: Places, values: Places, people: Places, k: int) -> Places:
    """The widest level at which each record is at risk; the number of levels where it is not.

    Example:
        >>> areas = np.array([[0, 0, 0, 0], [0, 0, 1, 1]])
        >>> at_risk(areas, np.array([0, 0, 0, 1]), np.arange(4), 2).tolist()
        [2, 2, 1, 0]
    """
    levels = np.full(len(values), len(areas))
    for level in reversed(range(len(areas))):
        classes = numbered(areas[level], values)
        levels[headcounts(classes, people)[classes] < k] = level
    return levels


def _nested(codes: Places) -> Places:
    """The area of each record at each level: the same one only where all wider ones are the same, too."""
    areas = [numbered(codes[0])]
    for column in codes[1:]:
        areas.append(numbered(areas[-1], column))
    return np.stack(areas)


@dataclass(frozen=True)
class _Units:
    """What is swapped as a whole: the unit of each record, and the first record of each unit."""

    of: Places
    first: Places


def _units(people: Places) -> _Units:
    _, first, of = np.unique(people, return_index=True, return_inverse=True)
    return _Units(of.astype(np.int64), first.astype(np.int64))


def _profiles(matches: Places, units: _Units) -> Places:
    """A number for each unit, the same for units whose records agree one by one, in some order."""
    order = np.lexsort((matches, units.of))
    sizes = np.bincount(units.of)
    begins = np.cumsum(sizes) - sizes
    profiles = np.zeros(len(sizes), np.int64)
    for place in range(int(sizes.max(initial=0))):
        longer = np.flatnonzero(sizes > place)
        added = np.full(len(sizes), -1)
        added[longer] = matches[order[begins[longer] + place]]
        profiles = numbered(profiles, added)
    return profiles


@dataclass(eq=False)
class _Partners:
    """Who is swapped with whom: `of` has the partner of each unit, itself where there is none."""

    areas: Places
    profiles: Places
    free: Mask
    of: Places
    generator: np.random.Generator

    def swap(self, units: Places, level: int, run: Run, most: int | None = None) -> None:
        """Swaps units, in random order, with others in another area of a level, as near as there are any."""
        from shoal.kernels.swapping import pair

        waiting = self.generator.permutation(units[self.free[units]])
        left = len(self.free) if most is None else most
        for near in reversed(range(level + 1)):
            pool, exhausted = self._pool(level, near)
            for begin in range(0, len(waiting), DRAWN):
                some = waiting[begin : begin + DRAWN]
                draws = self.generator.random((len(some), TRIES + 1))
                left -= int(pair(some, draws, pool, exhausted, self.free, self.of, left, run.flag))
                run.check()
            waiting = waiting[self.free[waiting]]

    def _pool(self, level: int, near: int) -> tuple[Any, Mask]:
        """Who may be whose partner, and that none of the pools is exhausted. Partners agree in their profiles and live
        in one area of the level above `near`, or anywhere."""
        from shoal.kernels.swapping import Pool

        wide = numbered(self.profiles, self.areas[near - 1]) if near else numbered(self.profiles)
        narrow = numbered(wide, self.areas[level])
        chosen = np.flatnonzero(self.free)
        order = chosen[np.argsort(narrow[chosen], kind="stable")]
        # Both numbers rise together, so that pools and areas in them are slices.
        ends, own_ends = (
            np.cumsum(np.bincount(each[chosen], minlength=int(each.max()) + 1)) for each in (wide, narrow)
        )
        begins, own_begins = np.append(0, ends[:-1]), np.append(0, own_ends[:-1])
        pool = Pool(order, begins[wide], own_begins[narrow], own_ends[narrow], ends[wide], narrow)
        return pool, np.zeros(len(own_ends), np.bool_)


def _labels(dataset: Dataset, name: str, codes: Places) -> NDArray[Any]:
    """The values of leaves; None where missing."""
    hierarchy = dataset.schema.hierarchy_of(name)
    texts = hierarchy.labels[0].astype(object)
    texts[: int(hierarchy.missing)] = None
    labels: NDArray[Any] = texts[codes]
    return labels
