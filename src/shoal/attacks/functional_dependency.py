"""Functional dependencies: whoever knows that one column determines another rules assignments out (after paper 004)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge, Lt
from typing_extensions import Doc

from shoal.adversary.locating import groups_of_records
from shoal.adversary.possible_worlds import posteriors
from shoal.adversary.posteriors import Effort, KnownPeople, plain_posteriors
from shoal.core.contracts.attack import Attack, Attempt, Known
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, group
from shoal.core.parameters import Examples, Share
from shoal.core.policy import allowed
from shoal.core.release import Release
from shoal.core.run import Run
from shoal.core.schema import Role
from shoal.errors import NotDefined, ParameterError, unknown_columns


@dataclass(frozen=True, kw_only=True)
class FunctionalDependency(Attack):
    """Knows who is in which group, the other columns of a dependency of everybody, and that the dependency holds. All
    holders of one sensitive value then share one value of the other column, in their group and in every other one,
    which rules assignments out; what is left is counted, and the most likely value of each person is the guess.

    `success` is the mean over people of the probability of that guess, `worst` the greatest, and `baseline` the mean
    without the dependency: the share of the most frequent value of the group. `detail` has the number of maps between
    the two columns that are left, where they were counted, and `link`, the greatest probability that one value goes
    with one value of the other column (the d of (d, l)-inference). Where there is too much to count, `exact` is false:
    `worst` and `above` are then upper bounds, `success` is an estimate with its `error`, or, where none was possible,
    an upper bound too.

    A column of the dependency that is published as it is, in the same row as the sensitive value, needs no reasoning:
    the attacker reads the rows of the group that have the person's value there. `detail` has these columns as `read`,
    and the baseline reads them too. Leave such a column out, or make it a quasi-identifier.

    A dependency with further columns beside the sensitive one, one that some records break (every one that does
    makes a world less likely by g3/(1 − g3)) and one that holds only where another column has one value are answered by
    looking at all worlds, or at a walk among them.

    Does not use several dependencies together, nor what values mean. Reconstructed: the paper describes the attack, not
    its arithmetic.

    Reference: H. Wang, R. Liu, Privacy-preserving publishing microdata with full functional dependencies, 2011.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"age": [1, 1, 1, 2, 2, 2], "city": list("ABCADE"), "ill": list("123145")})
        >>> attack = FunctionalDependency(determinant=("ill",), dependent="city")
        >>> data = shoal.read(table, quasi=["age"], sensitive=["ill"], drop=["city"])
        >>> release = shoal.anonymize(data, shoal.DistinctLDiversity(l=3), seed=1)
        >>> found = shoal.attack(data, release, attack)[0]
        >>> round(found.success, 3), round(found.baseline, 3), found.worst, found.detail["maps"]
        (0.667, 0.333, 1.0, 4)
        >>> data = shoal.read(table, quasi=["age"], sensitive=["ill"])  # the city is published, too
        >>> release = shoal.anonymize(data, shoal.DistinctLDiversity(l=3), seed=1)
        >>> found = shoal.attack(data, release, attack)[0]
        >>> found.success, found.baseline, found.detail["read"]
        (1.0, 1.0, ['city'])
    """

    determinant: Annotated[tuple[str, ...], Doc("the columns that determine another one")]
    dependent: Annotated[str, Doc("the column that they determine; it or one of them is the sensitive attribute")]
    tolerance: Annotated[
        float, Ge(0), Lt(0.5), Doc("the share of the records that may break the dependency; it is refused if more do")
    ] = 0.0
    condition: Annotated[
        str | None, Doc("the column on one of whose values the dependency is conditional; none by default")
    ] = None
    value: Annotated[str, Doc("that value, as text")] = field(default="", repr=False)
    threshold: Annotated[Share, Doc("the certainty above which a record counts as exposed")] = 0.9
    nodes: Annotated[int, Ge(0), Doc("steps of the search up to which is counted, and not estimated")] = 200_000
    draws: Annotated[int, Ge(0), Doc("maps that are drawn for an estimate")] = 1_000
    sweeps: Annotated[int, Ge(8), Doc("passes over the people of a walk among worlds")] = 400
    seed: Annotated[int, Ge(0), Doc("of what is drawn")] = 0

    examples: ClassVar[Examples] = ({"determinant": ("row",), "dependent": "occupation"},)

    def attempt(self, dataset: Dataset, release: Release, known: Known, run: Run) -> Attempt:
        sensitive = self._sensitive(dataset)
        others = [name for name in (*self.determinant, self.dependent) if name != sensitive]
        if self.condition is not None and self.condition not in (sensitive, *others):
            others.append(self.condition)
        wider = dataset.knowing(others)
        visible = _visible(release, sensitive, others)
        groups = _told_apart(wider, groups_of_records(dataset, release), visible, release.seed)
        everybody = self._people(wider, groups, sensitive, release.seed)
        broken, concerned = everybody.violations(), int(everybody.concerns.sum())
        if broken > allowed(self.tolerance, concerned):
            raise ParameterError(
                f"the dependency does not hold: {broken:,} of {concerned:,} records break it; "
                "give a tolerance if it is meant to hold almost always"
            )
        people = everybody.some(np.flatnonzero(groups >= 0))
        if not len(people.groups):
            raise NotDefined("the release has no record")
        effort = Effort(nodes=self.nodes, draws=self.draws, sweeps=self.sweeps, seed=self.seed)
        beliefs = posteriors(people, broken / max(concerned - broken, 1), effort, run)
        count = int(beliefs.people.sum())
        detail: dict[str, Any] = {
            "dependency": f"{', '.join(self.determinant)} -> {self.dependent}",
            "violations": broken,
            "exact": beliefs.exact,
            "maps": beliefs.maps,
            "read": visible,
        }
        if beliefs.maps is not None:
            detail["link"] = beliefs.link
        if not beliefs.exact:
            low, high = (float(beliefs.people @ bound) / count for bound in (beliefs.low, beliefs.high))
            detail |= {"low": low, "high": high, "error": beliefs.error, "worst_low": float(beliefs.low.max())}
        return Attempt(
            name="functional-dependency",
            success=beliefs.mean,
            baseline=float(plain_posteriors(people).mean()),
            worst=float(beliefs.high.max()),
            above=int(beliefs.people[beliefs.high > self.line].sum()) / count,
            threshold=self.line,
            knew="which group a person is in, the other columns of the dependency, and that it holds",
            meaning="how often the most likely sensitive value is the person's",
            detail=detail,
        )

    def _sensitive(self, dataset: Dataset) -> str:
        """The sensitive attribute of the dependency, once its columns make sense."""
        schema = dataset.schema
        names = [*self.determinant, self.dependent, *([self.condition] if self.condition else [])]
        unknown = [name for name in names if name not in schema.names]
        if unknown:
            raise unknown_columns(unknown, schema.names)
        if not self.determinant or len(set(self.determinant)) < len(self.determinant):
            raise ParameterError("determinant: name at least one column, and each once")
        if self.dependent in self.determinant:
            raise ParameterError("a column determines itself; name another dependent column")
        sensitive = [name for name in (*self.determinant, self.dependent) if name in schema.sensitive]
        if len(sensitive) != 1:
            raise NotDefined(
                f"the dependency has {len(sensitive)} sensitive attributes; exactly one of its columns must be "
                "sensitive, because attackers know the others"
            )
        return sensitive[0]

    def _people(self, known: Dataset, groups: Codes, sensitive: str, seed: int) -> KnownPeople:
        """Everybody in the table, in the order of a plan by record."""
        determines = sensitive != self.dependent
        beside = [name for name in self.determinant if name != sensitive] if determines else []
        other = [self.dependent] if determines else list(self.determinant)
        condition = [] if self.condition is None else [self.condition]
        names = [sensitive, *beside, *other, *condition]
        columns = dict(zip(names, known.table.listing(known.schema.quasi, names, seed), strict=True))
        concerns, only = np.ones(len(groups), dtype=np.bool_), -1
        if self.condition is not None:
            hierarchy = known.schema[self.condition].hierarchy
            leaf = hierarchy.leaf(self.value) if hierarchy is not None else None
            if leaf is None:
                raise ParameterError(f"column {self.condition!r} has no such value as the condition names")
            if self.condition == sensitive:
                only = int(leaf)
            else:
                concerns = columns[self.condition] == leaf
        others, further = (_one([columns[name] for name in names], len(groups)) for names in (other, beside))
        return KnownPeople(groups, columns[sensitive], others, further, concerns, determines, only)


def _visible(release: Release, sensitive: str, names: list[str]) -> list[str]:
    """Which of the columns are published as they are, in the rows that have the sensitive value."""
    beside = {name for each in release.view.linked() if sensitive in each.columns for name in each.columns}
    plain = {column.name for column in release.schema.columns if column.role is Role.PLAIN}
    return [name for name in names if name in beside & plain]


def _told_apart(known: Dataset, groups: Codes, names: list[str], seed: int) -> Codes:
    """The groups, parted by what can be read beside the sensitive value; negative: none."""
    if not names:
        return groups
    parts = np.full(len(groups), -1, np.int32)
    shown = groups >= 0
    columns = known.table.listing(known.schema.quasi, names, seed)
    parts[shown] = group([groups[shown], *(codes[shown] for codes in columns)], index=True).index
    return parts


def _one(columns: list[Codes], records: int) -> Codes:
    """Several columns as one, numbered without gaps; none as a column that says nothing."""
    return group(columns, index=True).index if columns else np.zeros(records, np.int32)
