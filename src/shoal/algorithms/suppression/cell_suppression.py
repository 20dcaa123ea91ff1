"""Cell suppression: hides single cells until the models hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray
from typing_extensions import Doc

from shoal.algorithms._merging import infeasible_as_one_class, merged, merged_as_published
from shoal.algorithms.suppression._combination_search import CombinationSearch, wanted_margins
from shoal.algorithms.suppression._hidden_cells import HiddenCells
from shoal.algorithms.suppression._wildcard_search import WildcardSearch
from shoal.core.contracts.algorithm import Algorithm
from shoal.core.dataset import Dataset
from shoal.core.formatting import counted
from shoal.core.hierarchy import TOP, Floats, Hierarchy
from shoal.core.parameters import Examples
from shoal.core.policy import Policy
from shoal.core.recoding import Recoding
from shoal.core.run import Run
from shoal.core.schema import Role, Schema
from shoal.errors import InfeasibleError, ParameterError, unknown_columns
from shoal.parsing.labels import number

Importance = Annotated[
    tuple[str, ...],
    Doc("what a cell of a column is worth, as column=number above 0; cells that are worth less are hidden first"),
]


@dataclass(frozen=True, kw_only=True)
class CellSuppression(Algorithm):
    """Hides single cells of quasi-identifiers, as few or as unimportant ones as it can, until the models hold. What is
    not hidden is published as it is.

    A hidden cell is a value of its own (*strict*): whoever compares cells finds no class that breaks the policy. Only
    where the policy asks for `wildcard-k-anonymity` and nothing else may it stand for any value, which hides far less
    and is worth far less. Cells of a column
    with a higher `importance` are hidden less; each is 1 unless something else is said. A column that is `linked` to a
    quasi-identifier is hidden wherever that one is, whatever its own role; no model can look at a sensitive column that
    is linked. A column of `strata` is never hidden, so that the models hold within each stratum.

    A policy of nothing but `k-combinations` is kept as it is: cells of combinations that are too rare are hidden.

    Patterns of hidden columns are tried from the cheapest up: records that read alike, and are enough, stay together.
    Then groups with more records than they need lend some, where nothing is sensitive: records that were alike stay
    together otherwise, and the table keeps the diversity that it had. The facts tell how many cells of each column are
    hidden, what they are worth together, and a `bound`: no release of the table that satisfies the policy by hiding
    cells costs less. With `exact` that is what it costs, but integer programming is for small tables only.

    Does not protect against more than the models of the policy do, and need not find the least cost.

    Reference: A. Meyerson, R. Williams, On the complexity of optimal k-anonymity, 2004; as local suppression in
    M. Templ, A. Kowarik, B. Meindl, Statistical disclosure control for micro-data using the R package sdcMicro, 2015.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"age": [21, 21, 40, 41], "sex": list("ffmm")})
        >>> data = shoal.read(table, quasi=["age", "sex"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm=CellSuppression())
        >>> sorted(release.frame.rows()), release.recoding.facts["hidden"]
        ([('*', 'm'), ('*', 'm'), ('21', 'f'), ('21', 'f')], {'age': 2, 'sex': 0})
    """

    importance: Importance = ()
    linked: Annotated[
        tuple[str, ...], Doc("columns hidden together with another one, as column=other: other where column is")
    ] = ()
    strata: Annotated[tuple[str, ...], Doc("columns that are never hidden, so that the models hold within each")] = ()
    exact: Annotated[
        bool, Doc("find the least cost by integer programming: for k-anonymity of small tables; needs `shoal[exact]`")
    ] = False

    most: Annotated[
        int, Ge(1), Doc("with wildcard-k-anonymity, the most cells of a record that are hidden unless it needs more")
    ] = 2

    counts_people: ClassVar[bool] = True
    examples: ClassVar[Examples] = (
        {},
        {"importance": ("age=2.5",), "linked": ("race=sex",)},
        {"strata": ("sex",), "exact": False, "most": 1},
    )

    def simplified(self, policy: Policy) -> Policy:
        return policy if _is_wildcard(policy) or _is_of_combinations(policy) else super().simplified(policy)

    def search(self, dataset: Dataset, policy: Policy, run: Run) -> Recoding:
        if _is_of_combinations(policy) and dataset.schema.person is not None:
            return self.search(dataset, policy.by_class(), run)
        if not _is_wildcard(policy) and not _is_of_combinations(policy):
            policy.check_apart("cell suppression")
        ghosts = self.ghosts(dataset.schema)
        if ghosts:
            check_sign([tree for tree in dataset.hierarchies if any(tree.column in keys for keys in ghosts.values())])
        return replace(self._searched(dataset, policy, run), ghosts=ghosts)

    def _searched(self, dataset: Dataset, policy: Policy, run: Run) -> Recoding:
        records = HiddenCells.at(dataset, policy, self._weights(dataset), self._follows(dataset))
        self._check_strata(records)
        if _is_wildcard(policy):
            return self._with_wildcards(records, run)
        listed = records.patterns.listing()
        if _is_of_combinations(policy):
            return self._of_combinations(records, listed, run)
        watch = run.part(between=(0.2, 0.8))
        owners = records.least_dear(listed, watch) if self.exact else records.assigned(listed, watch)
        owners, _ = merged(records, owners, run.part(between=(0.8, 0.9)))
        owners, _ = merged_as_published(records, owners, run)
        recoding = records.recoding(owners, {})
        self._check_shown(recoding)
        spared = policy.budget(len(records))
        if self.exact and not spared:
            bound = recoding.facts["cost"]
        else:
            bound = records.patterns.bound(listed, policy.least, spared, run.part(between=(0.9, 1.0)))
        return replace(recoding, facts={**recoding.facts, "bound": round(bound, 6)})

    def _with_wildcards(self, records: HiddenCells, run: Run) -> Recoding:
        """The recoding in which a hidden cell may stand for any value."""
        if self.exact:
            raise ParameterError("exact: the least cost is found for k-anonymity, not where hidden cells are wildcards")
        check_sign(records.dataset.hierarchies)
        search = WildcardSearch(records.patterns, max(int(model.bound) for model in records.policy.models), self.most)
        masks = search.run(records.tuples, run)
        return records.hiding(masks, {"bound": round(search.bound(), 6)})

    def _of_combinations(self, records: HiddenCells, listed: Sequence[NDArray[np.bool_]], run: Run) -> Recoding:
        """The recoding in which every combination of so many columns is frequent enough."""
        if self.exact:
            raise ParameterError("exact: the least cost is found for k-anonymity, not for combinations of columns")
        wanted = wanted_margins([model.margins for model in records.policy.models], len(records.patterns.keys))
        search = CombinationSearch(records.patterns, wanted)
        hidden = search.run(listed, run)
        if hidden is None:
            return self._searched(records.dataset, records.policy.by_class(), run)
        return records.hiding(hidden[:, records.tuples], {"bound": round(search.bound, 6)})

    def _weights(self, dataset: Dataset) -> Floats:
        """What a cell of each quasi-identifier is worth; more than all others together in a column of strata."""
        quasi = dataset.schema.quasi
        weights = dict.fromkeys(quasi, 1.0)
        for entry in self.importance:
            column, equals, text = entry.rpartition("=")
            worth = number(text)
            if not equals or not (isfinite(worth) and worth > 0):
                raise ParameterError(
                    "importance: write column=number, and a number above 0; a column counts 1 where nothing is said"
                )
            weights[known_column("importance", column, quasi)] = worth
        return np.array([np.inf if name in self._strata(dataset) else weights[name] for name in quasi])

    def _strata(self, dataset: Dataset) -> tuple[str, ...]:
        return tuple(known_column("strata", name, dataset.schema.quasi) for name in self.strata)

    def _follows(self, dataset: Dataset) -> NDArray[np.bool_]:
        """Row `j` says which columns are hidden where column `j` is; links may lead further."""
        quasi, strata = dataset.schema.quasi, self._strata(dataset)
        follows = np.eye(len(quasi), dtype=np.bool_)
        for column, other in self._links(dataset.schema):
            if other in strata:
                raise ParameterError(f"linked: column {other!r} is one of the strata, which are never hidden")
            if other in quasi:
                follows[quasi.index(column), quasi.index(other)] = True
        for place in range(len(quasi)):
            follows |= follows[:, place, None] & follows[None, place]
        return follows

    def ghosts(self, schema: Schema) -> dict[str, tuple[str, ...]]:
        keys: dict[str, tuple[str, ...]] = {}
        for column, other in self._links(schema):
            if other in schema.quasi:
                continue
            if schema[other].role not in (Role.PLAIN, Role.SENSITIVE):
                raise ParameterError(
                    f"linked: column {other!r} is {schema[other].role}, which is not published; link another column"
                )
            keys[other] = (*keys.get(other, ()), column)
        return keys

    def _links(self, schema: Schema) -> list[tuple[str, str]]:
        """Each quasi-identifier with a column that is hidden wherever it is."""
        parts = [entry.partition("=") for entry in self.linked]
        if not all(equals for _, equals, _ in parts):
            raise ParameterError("linked: write column=other, and other is hidden wherever column is")
        return [
            (known_column("linked", column, schema.quasi), known_column("linked", other, schema.names))
            for column, _, other in parts
        ]

    def _check_strata(self, records: HiddenCells) -> None:
        """Raises when a stratum, or the whole table where there are none, breaks the policy even as one class."""
        groups = records.patterns.alike(np.isfinite(records.patterns.weights), np.arange(len(records.points)))
        broken = ~records.holds(groups.index[records.tuples])
        lacking = int(groups.counts[broken].sum())
        if not lacking or (self.strata and lacking <= records.policy.budget(len(records)) < len(records)):
            return
        if not self.strata:
            raise infeasible_as_one_class(len(records), records.policy)
        columns = ", ".join(map(repr, self.strata))
        raise InfeasibleError(
            f"{int(broken.sum()):,} of {len(broken):,} strata by {columns}, with {counted(lacking, 'records')}, do not "
            "satisfy the policy even when all other quasi-identifiers are hidden; join strata, ask for less, or allow "
            "that many records to be left out",
            {"strata": int(broken.sum()), "lacking": lacking, "least": records.policy.least},
        )

    def _check_shown(self, recoding: Recoding) -> None:
        """Raises when a column of strata had to be hidden."""
        hidden = recoding.facts["hidden"]
        if any(hidden[name] for name in self.strata):
            raise InfeasibleError(
                "within strata, what is left after every merger breaks the policy; join strata or ask for less",
                {"hidden": {name: hidden[name] for name in self.strata}},
            )


def _is_wildcard(policy: Policy) -> bool:
    """Whether all that a policy asks for lets a hidden cell stand for any value."""
    return bool(policy.models) and all(model.wildcards for model in policy.models)


def _is_of_combinations(policy: Policy) -> bool:
    """Whether all that a policy asks for is about combinations of so many columns."""
    return bool(policy.models) and all(model.margins for model in policy.models)


def known_column(parameter: str, column: str, names: Sequence[str]) -> str:
    """The name of a column; raises where there is none such."""
    if column not in names:
        raise ParameterError(f"{parameter}: {unknown_columns([column], names)}")
    return column


def check_sign(trees: Sequence[Hierarchy]) -> None:
    """Refuses columns in which a hidden cell would not be known by its sign."""
    for tree in trees:
        if tree.labels[-1][0] != TOP or tree.leaf(TOP) is not None:
            raise ParameterError(
                f"a hidden cell reads {TOP!r}, and column {tree.column!r} has that as a value, or its hierarchy does "
                f"not end in it; end the hierarchy in {TOP!r}, or ask for k-anonymity without linked columns that have "
                "no role"
            )
