"""Functional dependencies of a table: which columns determine others, always, almost always, or for one value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.core.formatting import counted, in_html, percent
from shoal.core.grouping import Codes, Counts
from shoal.core.policy import allowed
from shoal.core.run import Run
from shoal.core.schema import Role
from shoal.core.survey import Overview
from shoal.diagnosis.families import MOST, mask_of, members
from shoal.errors import ParameterError

HINT = (
    "safe and unsafe are hints, by the roles of the columns: unsafe where the determinant has a sensitive attribute. A "
    "dependency from columns that people know to the sensitive attribute can disclose as well: let the attack "
    "functional-dependency decide"
)

HELD = 1 << 28
"""Bytes of partitions that are kept for refinement."""
LOOKS = 64
"""Sets between two words to the run."""
SAMPLE = 20_000
"""Rows of which pairs are compared at the start."""


@dataclass(frozen=True, kw_only=True)
class Dependency:
    """Columns that determine another one, and no part of them does. `violations` records break it, a share of `g3` of
    all; `key` says that the determinant is unique per record, so that it determines everything."""

    determinant: tuple[str, ...]
    dependent: str
    violations: int = 0
    g3: float = 0.0
    key: bool = False
    label: Literal["safe", "unsafe"] | None = None


@dataclass(frozen=True, kw_only=True)
class Conditional:
    """A dependency that holds among the records that have one value of the column `condition`, for so many `values` of
    it, which `support` records have in all. Which values is not said. With an empty determinant, the dependent is
    constant there."""

    condition: str
    determinant: tuple[str, ...]
    dependent: str
    values: int
    support: int
    label: Literal["safe", "unsafe"] | None = None


@dataclass(frozen=True, kw_only=True)
class Dependencies:
    """The dependencies of a table. All of them with determinants of up to `complete` columns are there; `proven` says
    that there are no larger ones."""

    records: int
    columns: tuple[str, ...]
    tolerance: float
    found: tuple[Dependency, ...]
    conditional: tuple[Conditional, ...]
    complete: int
    proven: bool
    skipped: Mapping[str, str]
    hint: str = HINT

    def of(self, dependent: str) -> tuple[tuple[str, ...], ...]:
        """The determinants of a column."""
        return tuple(each.determinant for each in self.found if each.dependent == dependent)

    @property
    def summary(self) -> str:
        """What was found, in a sentence."""
        unsafe = sum(each.label == "unsafe" for each in self.found)
        origin = f", {unsafe:,} of them from a sensitive column" if unsafe else ""
        exact = "" if not self.tolerance else f" for all but {percent(self.tolerance)} of the records"
        times = counted(len(self.found), "times")
        return f"In {counted(self.records, 'records')}, a column follows from others {times}{exact}{origin}."

    def _repr_html_(self) -> str:
        rows = [
            (", ".join(each.determinant) or "(constant)", each.dependent, f"{each.violations:,}", each.label or "")
            for each in self.found
        ]
        return in_html(("determinant", "dependent", "records that break it", "hint"), rows, self.summary)

    def as_dict(self) -> dict[str, Any]:
        """The dependencies as JSON holds them."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class _Partition:
    """Rows by class of a set of columns, without those that are alone in theirs; `classes` counts these, too."""

    mask: int
    order: Codes
    starts: Codes
    classes: int


def dependencies(
    table: Overview, *, roles: Mapping[str, Role], tolerance: float, largest: int | None, support: int | None, run: Run,
) -> Dependencies:  # fmt: skip
    """Looks at determinants by their size, smaller ones first, as TANE does.

    Only *free* sets are looked at, of which no column follows from the others: a set that is not free determines
    nothing that a part of it does not. Every set starts from the columns that none of its parts determines, and is
    given up when none is left, which is at once the case for a key. With `support`, also dependencies for one value are
    looked for, among the values that so many records have.
    """
    if len(table.codes) > MOST:
        raise ParameterError(f"at most {MOST} columns are looked at and these are {len(table.codes)}; name fewer")
    search, limit = _DependencySearch(table), allowed(tolerance, table.records)
    rows, complete, proven = search.walk(limit, len(table.codes) if largest is None else largest, run)
    conditional = search.conditional(support, rows, run) if support is not None else []
    sensitive = {name for name, role in roles.items() if role is Role.SENSITIVE}

    def labelled(each: Any) -> Any:
        unsafe = sensitive & {*each.determinant, getattr(each, "condition", None)}
        return replace(each, label="unsafe" if unsafe else "safe") if roles else each

    return Dependencies(
        records=table.records, columns=search.names, tolerance=tolerance, found=tuple(map(labelled, rows)),
        conditional=tuple(map(labelled, conditional)), complete=complete, proven=proven,
        skipped={name: reason for name, reason in table.values.items() if isinstance(reason, str)},
    )  # fmt: skip


class _Open(NamedTuple):
    """Of a set of columns: the columns that no part of it determines, and those that a part determines exactly."""

    columns: int
    exact: int


_NOTHING = _Open(0, 0)


class _DependencySearch:
    def __init__(self, table: Overview) -> None:
        self.names, self.records, self.counts = tuple(table.codes), table.records, table.counts
        self.columns = [_shifted(codes) for codes in table.codes.values()]
        self.distinct = [int(column.max(initial=0)) for column in self.columns]
        self.tally = np.zeros(max(self.distinct, default=0) + 1, np.int32)
        self.weighed = np.zeros(len(self.tally), np.int64)
        self.touched = np.zeros(len(self.tally), np.int32)
        order = np.arange(len(table.counts), dtype=np.int32)
        self.whole = _Partition(0, order, np.array([0, len(order)], np.int32), 1)
        self.partitions, self.room = {0: self.whole}, HELD

    def walk(self, limit: int, largest: int, run: Run) -> tuple[list[Dependency], int, bool]:
        """The dependencies that at most `limit` records break, the size up to which all are known, whether all are."""
        everything = (1 << len(self.names)) - 1
        witnesses = _Witnesses(self.columns, len(self.counts)) if not limit else None
        rows: list[Dependency] = []
        left = {0: self._tested(0, _Open(everything, 0), everything, self.whole, limit, rows, witnesses)}
        for size in range(1, min(largest, len(self.names)) + 1):
            candidates = self._candidates(size, left)
            if not candidates:
                return rows, len(self.names), True
            now = dict[int, _Open]()
            for number, (chosen, open_) in enumerate(candidates.items()):
                if number % LOOKS == 0:
                    run.report((size - 1 + number / len(candidates)) / len(self.names), "looking for dependencies")
                mask = mask_of(chosen)
                doubtful = open_.columns if witnesses is None else open_.columns & ~witnesses.differing(mask)
                if doubtful:
                    if run.expired:
                        return rows, size - 1, False
                    partition = self._partition(mask)
                    open_ = self._tested(mask, open_, doubtful, partition, limit, rows, witnesses)
                if open_.columns:
                    now[mask] = open_
            left = now
        ended = not self._candidates(min(largest, len(self.names)) + 1, left)
        return rows, len(self.names) if ended else largest, ended

    def _candidates(self, size: int, left: Mapping[int, _Open]) -> dict[tuple[int, ...], _Open]:
        """The free sets in lexicographic order, where a column is open that no part of them determines.

        A set is free when none of its columns is determined by the others, which was looked at with the others.
        """
        if size == 1:
            columns, exact = left[0]
            free = [column for column in range(len(self.names)) if not exact >> column & 1]
            return {(column,): _Open(columns & ~(1 << column), exact) for column in free if columns & ~(1 << column)}
        candidates = {}
        by_prefix: dict[tuple[int, ...], list[int]] = {}
        for mask in left:
            *prefix, last = members(mask)
            by_prefix.setdefault(tuple(prefix), []).append(last)
        for begin, ends in by_prefix.items():
            for first, second in combinations(sorted(ends), 2):
                chosen = (*begin, first, second)
                mask = mask_of(chosen)
                columns, exact = ~mask, 0
                for column in chosen:
                    part = left.get(mask & ~(1 << column), _NOTHING)
                    columns &= 0 if part.exact >> column & 1 else part.columns
                    exact |= part.exact
                if columns:
                    candidates[chosen] = _Open(columns, exact)
        return dict(sorted(candidates.items()))

    def _partition(self, mask: int) -> _Partition:
        """The partition of a set, from the finest one that is held of a set with one column less."""
        partition = self.partitions.get(mask)
        if partition is None:
            # Columns with many values first: what is left of the rows is soon little.
            parts = [mask & ~(1 << column) for column in sorted(members(mask), key=lambda each: self.distinct[each])]
            known = [self.partitions[part] for part in parts if part in self.partitions]
            coarser = min(known, key=lambda part: len(part.order)) if known else self._partition(parts[0])
            partition = self.partitions[mask] = self._refined(coarser, (mask & ~coarser.mask).bit_length() - 1)
            self.room -= partition.order.nbytes
            while self.room < 0 and len(self.partitions) > 2:
                oldest = next(key for key in self.partitions if key)
                self.room += self.partitions.pop(oldest).order.nbytes
        return partition

    def _refined(self, partition: _Partition, column: int) -> _Partition:
        from shoal.kernels.partitions import refine

        count = len(partition.order)
        finer, starts, lone = np.empty(count, np.int32), np.empty(count // 2 + 2, np.int32), np.empty(count, np.int32)
        several, rows, _ = refine(
            partition.order, partition.starts, self.columns[column], self.tally, self.touched, finer, starts, lone
        )
        mask = partition.mask | 1 << column
        classes = len(self.counts) - rows + several
        return _Partition(mask, finer[:rows].copy(), starts[: several + 1].copy(), classes)

    def _tested(
        self, mask: int, open_: _Open, asked: int, partition: _Partition, limit: int, rows: list[Dependency],
        witnesses: _Witnesses | None,
    ) -> _Open:  # fmt: skip
        """Adds what a set determines of the columns that are asked about, and returns what is open then."""
        from shoal.kernels.dependencies import violations

        pairs = []
        for column in members(asked):
            broken, *pair = violations(
                partition.order, partition.starts, self.columns[column], self.counts, limit, self.weighed
            )
            if broken > limit:
                pairs.append(pair)
                continue
            bit = 1 << column
            open_ = _Open(open_.columns & ~bit, open_.exact | (0 if broken else bit))
            names, dependent, g3 = self._named(mask), self.names[column], broken / self.records
            key = partition.classes == self.records and mask > 0
            rows.append(Dependency(determinant=names, dependent=dependent, violations=broken, g3=g3, key=key))
        if witnesses is not None and pairs:
            witnesses.add(np.array(pairs))
        return open_

    def _named(self, mask: int) -> tuple[str, ...]:
        return tuple(self.names[column] for column in members(mask))

    def conditional(self, support: int, exact: Sequence[Dependency], run: Run) -> list[Conditional]:
        """Dependencies of at most one column for values that so many records have, where they do not hold anyway."""
        from shoal.kernels.dependencies import varying

        always = {(frozenset(each.determinant), each.dependent) for each in exact}
        rows: list[Conditional] = []
        for at, condition in enumerate(self.names):
            column = self.columns[at]
            sizes = np.bincount(column, weights=self.counts).astype(np.int64)
            enough = sizes >= support
            repeated = np.zeros(len(sizes), dtype=np.bool_)  # values that equal records have
            repeated[column[self.counts > 1]] = True
            outer = self._refined(self.whole, at)
            constant: dict[int, Any] = {}
            for inner in (at, *(other for other in range(len(self.names)) if other != at)):
                run.report(at / len(self.names), "looking at single values")
                if run.expired:
                    return rows
                partition = outer if inner == at else self._refined(outer, inner)
                determinant = () if inner == at else (self.names[inner],)
                for target, dependent in enumerate(self.names):
                    parts = [frozenset(part) for part in ((), (condition,), determinant, (condition, *determinant))]
                    if target in (at, inner) or any((part, dependent) in always for part in parts):
                        continue
                    varies, shared = np.zeros(len(sizes), dtype=np.bool_), repeated.copy()
                    varying(partition.order, partition.starts, self.columns[target], column, varies, shared)
                    good = enough & shared & ~varies
                    if inner == at:
                        constant[target] = good
                    else:
                        good = good & ~constant.get(target, False)
                    if good.any():
                        rows.append(
                            Conditional(
                                condition=condition,
                                determinant=determinant,
                                dependent=dependent,
                                values=int(good.sum()),
                                support=int(sizes[good].sum()),
                            )
                        )
        return rows


class _Witnesses:
    """Pairs of rows, by the columns in which they agree: each says of every set of such columns that it determines none
    of the others. Most sets are answered by them, without a look at the rows."""

    def __init__(self, columns: Sequence[NDArray[Any]], rows: int) -> None:
        self.columns = columns
        some = np.arange(0, rows, max(1, rows // SAMPLE))
        few = [column[some] for column in columns]
        pairs = []
        for first in range(len(columns)):
            keys = [few[(first + turn) % len(columns)] for turn in range(len(columns))]
            order = some[np.lexsort(keys[::-1])]
            pairs.append(np.stack([order[:-1], order[1:]], axis=1))
        self.masks, self.count, self.known = np.zeros(1, np.uint64), 0, set[int]()
        self.add(np.concatenate(pairs) if pairs else np.zeros((0, 2), np.int64))

    def add(self, pairs: Counts) -> None:
        masks = np.zeros(len(pairs), np.uint64)
        for position, column in enumerate(self.columns):
            alike = column[pairs[:, 0]] == column[pairs[:, 1]]
            masks |= alike.astype(np.uint64) << np.uint64(position)
        fresh = set(masks.tolist()) - self.known
        self.known |= fresh
        if self.count + len(fresh) > len(self.masks):
            self.masks = np.append(self.masks, np.zeros(self.count + len(fresh), np.uint64))
        self.masks[self.count : self.count + len(fresh)] = sorted(fresh)
        self.count += len(fresh)

    def differing(self, mask: int) -> int:
        """Columns in which two rows differ that agree on a set."""
        chosen = np.uint64(mask)
        masks = self.masks[: self.count]
        agreeing = masks[masks & chosen == chosen]
        return ~int(np.bitwise_and.reduce(agreeing)) if len(agreeing) else 0


def _shifted(codes: NDArray[Any]) -> NDArray[Any]:
    """Codes from 0, which is missing, in as few bytes as they need."""
    count = int(codes.max(initial=0)) + 1
    narrow = np.uint8 if count < 1 << 8 else np.uint16 if count < 1 << 16 else np.int32
    shifted: NDArray[Any] = np.add(codes, 1, dtype=np.int32).astype(narrow)
    return shifted
