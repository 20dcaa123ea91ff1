"""A defence against functional dependencies (after Wang and Liu, 2011)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt
from typing_extensions import Doc

from shoal.adversary.possible_worlds import posteriors
from shoal.adversary.posteriors import Effort, KnownPeople, Posteriors
from shoal.algorithms._clustering import Numeric, Publish, outputs
from shoal.algorithms._effort import growing
from shoal.algorithms._eligibility import check_one_sensitive
from shoal.algorithms._merging import join_leftovers, merged, merged_as_published
from shoal.algorithms._partition import without_cells
from shoal.algorithms._records import PORTIONS, Records, numbered
from shoal.algorithms._twin_blocks import VARIANTS, Blocks, removed
from shoal.core.contracts.algorithm import Algorithm
from shoal.core.contracts.model import SLACK
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, Counts
from shoal.core.parameters import Examples
from shoal.core.policy import Policy
from shoal.core.recoding import Recoding
from shoal.core.run import Run
from shoal.core.schema import Role
from shoal.errors import InfeasibleError, ParameterError, unknown_columns

LOOKED_AT = 256
"""Records of a value that are compared when one is taken; of a more frequent value, so many are drawn."""
EFFORT = Effort(nodes=200_000, draws=0, sweeps=8)


@dataclass(frozen=True, kw_only=True)
class DependencySafe(Algorithm):
    """Makes sensitive values *twins*, which occur equally often in every class, so that nobody who knows a functional
    dependency can tell them apart.

    Phase 1 puts the values into blocks of at least l and cuts every value of a block to the frequency of the rarest
    one, with as few records removed as possible. Phase 2 builds classes from bundles, one record of each value of a
    block, that lose little together; the records that are not taken are those that phase 1 removes. Classes that break
    another model of the policy merge, which keeps twins. With `repair`, classes keep all records first, and records
    go one by one, from the value with the greatest exact posterior, until none exceeds 1/l: fewer, where the other
    column is coarse, but nobody can verify that without the original table.

    Removed people come from frequent values only, so how many went of each value must not be published; Shoal publishes
    their total alone. Does not protect against dependencies that name a value, nor against whoever reads the other
    column of the dependency beside the sensitive value: drop it, or make it a quasi-identifier.

    Reconstructed: the paper names the phases and the three layouts, not their rules.

    Reference: H. Wang, R. Liu, Privacy-preserving publishing microdata with full functional dependencies, 2011.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"age": [1, 2, 3, 7, 8, 9, 9], "ill": ["flu", "hiv", "flu", "hiv", "a", "b", "b"]})
        >>> data = shoal.read(table, quasi=["age"], sensitive=["ill"])
        >>> release = shoal.anonymize(data, "inference-l:l=2", algorithm="dependency-safe", suppression=0.2, seed=1)
        >>> release.suppressed, release.verify(release.policy)["inference-l"].value
        (1, 2)
    """

    l: Annotated[  # noqa: E741
        int | None, Ge(1), Doc("how many values stay equally likely; by default what the policy's inference-l asks for")
    ] = None
    variant: Annotated[
        Literal["dynamic", "bottom-up", "top-down"],
        Doc("how values are put into blocks: with fewest records removed, or as one of the paper's two variants does"),
    ] = "dynamic"
    layout: Annotated[
        Literal["IG", "DG", "CG"],
        Doc(
            "which bundles are a class: each one (IG), all of a block (DG), or one of every block that has one left, "
            "so that the values of classes are a chain of sets (CG)"
        ),
    ] = "IG"
    repair: Annotated[
        str | None,
        Doc("a column that the sensitive attribute determines: records go only as its exact posteriors demand"),
    ] = None
    time_limit: Annotated[
        float, Gt(0), Doc("seconds after which a repair is given up and the values are cut; depends on the machine")
    ] = 60.0
    form: Annotated[
        Literal["generalized", "two-table"],
        Doc("what is published: generalized classes, or quasi-identifiers as they are and the values of each group"),
    ] = "generalized"
    numeric: Numeric = "interval"
    publish: Publish = ()

    examples: ClassVar[Examples] = ({}, {"layout": "CG"}, {"form": "two-table"})

    def effort(self, dataset: Dataset, policy: Policy) -> float | None:
        return growing(dataset) if self.form == "generalized" else None

    def search(self, dataset: Dataset, policy: Policy, run: Run) -> Recoding:
        run.check()
        wanted = self._wanted(dataset, policy)
        records = Records.of(dataset, policy, outputs(dataset, self.numeric, self.publish))
        (values,) = dataset.listing(policy.seed)
        order, frequencies = _descending(values)
        if len(frequencies) < wanted:
            raise InfeasibleError(
                f"{wanted} values that occur equally often are wanted and the table has {len(frequencies)} values",
                {"least": wanted, "values": len(frequencies)},
            )
        blocks = VARIANTS[self.variant](frequencies, wanted)
        lacking, budget = removed(frequencies, blocks), min(policy.budget(len(records)), len(records) - 1)
        infeasible = InfeasibleError(
            f"twins among the sensitive values take {lacking:,} of the {len(records):,} records, and {budget:,} may be "
            "left out; allow more suppression or ask for less",
            {"least": wanted, "lacking": lacking, "budget": budget},
        )
        if self.repair is None and lacking > budget:
            raise infeasible
        owners = _Bundles(records, values, order, frequencies, blocks).laid_out(self.layout, run.part(between=(0, 0.5)))
        repaired = None
        if self.repair is not None:
            repaired = self._repaired(records, owners, values, wanted, min(lacking, budget), run)
            if repaired is None and lacking > budget:
                raise infeasible
        classes = self._settled(records, owners, run.part(between=(0.5, 1.0))) if repaired is None else repaired
        facts = {"blocks": len(blocks), "removed": int((classes < 0).sum()), "repaired": repaired is not None}
        if self.form == "generalized":
            return records.recoding(classes, facts)
        plan = without_cells(dataset.summary.keys, classes, np.random.default_rng(policy.seed), by_record=True)
        return Recoding(plan, form="two-table", facts=facts)

    def _wanted(self, dataset: Dataset, policy: Policy) -> int:
        """How many twins every value shall have, once the parameters and the policy fit each other."""
        check_one_sensitive(dataset, "dependency-safe")
        # Twins are what a model of the whole table asks for; margins are kept class by class.
        asked = [int(model.bound) for model in policy.models if model.whole_table]
        if self.repair is not None and asked:
            raise ParameterError(
                "a repair leaves values without twins, so that inference-l does not hold; give l to dependency-safe, "
                "and the policy another model"
            )
        if self.repair is not None and self.repair not in dataset.schema.names:
            raise unknown_columns([self.repair], dataset.schema.names)
        visible = self.repair is not None and dataset.schema[self.repair].role is Role.PLAIN
        if visible and self.form == "generalized":
            raise ParameterError(
                f"column {self.repair!r} would be published beside the sensitive value, so whoever knows it reads the "
                "row; drop it, make it a quasi-identifier, or take form=two-table"
            )
        if self.form == "two-table" and any(model.identity for model in policy.models):
            raise ParameterError(
                "two tables have quasi-identifiers as they are; ask for models of sensitive values only"
            )
        if self.l is None and not asked:
            raise ParameterError(
                "dependency-safe must be told how many values stay equally likely: give it l, or the policy inference-l"
            )
        return max([*asked, self.l or 1])

    def _settled(self, records: Records, owners: Codes, run: Run) -> Codes:
        """The classes with those that break the policy merged, which keeps twins; nobody else is left out."""
        unsparing = replace(records, policy=replace(records.policy, suppression=0.0))
        owners, _ = merged(unsparing, owners, run)
        return merged_as_published(unsparing, owners, run)[0] if self.form == "generalized" else owners

    def _repaired(
        self, records: Records, owners: Codes, values: Codes, wanted: int, budget: int, run: Run
    ) -> Codes | None:
        """Classes of all records, less one record after the other of what is most likely, until nothing is more likely
        than 1/l; None when that takes more than the budget, or too long."""
        assert self.repair is not None
        known = records.dataset.knowing([self.repair])
        (other,) = known.table.listing(known.schema.quasi, [self.repair], records.policy.seed)
        nothing, everybody = np.zeros(len(values), np.int32), np.ones(len(values), dtype=np.bool_)
        people = KnownPeople(nothing, values, other, nothing, everybody, determines=True)
        if people.violations():
            raise ParameterError(
                f"the sensitive attribute does not determine column {self.repair!r}: {people.violations():,} of "
                f"{len(values):,} records break that"
            )
        watch = run.part(seconds=self.time_limit, between=(0.5, 1.0))
        owners = join_leftovers(records, owners.copy(), watch)
        while not watch.expired:
            owners = self._settled(records, owners, Run(within=watch))
            here = replace(people, groups=owners).some(np.flatnonzero(owners >= 0))
            beliefs = posteriors(here, 0.0, EFFORT, Run(within=watch))
            exceeding = np.flatnonzero(beliefs.high > 1 / wanted + SLACK)
            if not len(exceeding):
                return owners
            owners = owners.copy()
            owners[_worst(records, owners, values, beliefs, exceeding, here)] = -1
            if int((owners < 0).sum()) > budget:
                return None
            owners = numbered(owners)
        return None


def _descending(values: Codes) -> tuple[Counts, list[int]]:
    """The values that occur, the most frequent first, and how often they do."""
    counts = np.bincount(values)
    order = np.lexsort([np.arange(len(counts)), -counts])[: np.count_nonzero(counts)]
    return order, counts[order].tolist()


@dataclass(frozen=True, eq=False)
class _Bundles:
    """Phase 2: records of the values of a block, put together so that they lose little."""

    records: Records
    values: Codes
    order: Counts
    frequencies: list[int]
    blocks: Blocks

    def laid_out(self, layout: str, run: Run) -> Codes:
        """The class of each record; -1 for those that are not taken."""
        owners = np.full(len(self.values), -1, dtype=np.int32)
        generator = np.random.default_rng(self.records.policy.seed)
        if layout == "CG":
            # Blocks stand by frequency, so that the values of every class are those of the first blocks.
            places = [place for block in self.blocks for place in _rarest_first(*block)]
            least = np.array([self.frequencies[end - 1] for begin, end in self.blocks for _ in range(begin, end)])
            widths = np.array([int((least > at).sum()) for at in range(int(least[0]))])
            self._bundle(places, widths, owners, 0, generator, run)
            return owners
        first = 0
        for at, (begin, end) in enumerate(self.blocks):
            count = self.frequencies[end - 1]
            watch = run.part(between=(at / len(self.blocks), (at + 1) / len(self.blocks)))
            widths = np.full(count, end - begin)
            self._bundle(_rarest_first(begin, end), widths, owners, first, generator, watch)
            if layout == "DG":
                owners[owners >= first] = first
            first += count
        return numbered(owners)

    def _bundle(
        self, places: list[int], widths: Counts, owners: Codes, first: int, generator: np.random.Generator, run: Run
    ) -> None:
        from shoal.kernels.bundles import Pools, bundle

        members = [np.flatnonzero(self.values == self.order[place]) for place in places]
        sizes = np.array([len(each) for each in members])
        order = np.concatenate(members)
        points = self.records.points[self.records.tuples[order]]
        pools = Pools(order, points, np.append(0, np.cumsum(sizes)[:-1]), sizes)
        edges = np.linspace(0, len(widths), min(PORTIONS, len(widths)) + 1).astype(np.int64)
        for begin, end in pairwise(edges.tolist()):
            some, at, seed = widths[begin:end], first + begin, int(generator.integers(2**31))
            bundle(pools, some, self.records.costs, LOOKED_AT, owners, at, seed, run.flag)
            run.report(end / len(widths), "building classes")


def _rarest_first(begin: int, end: int) -> list[int]:
    """The values of a block so that classes begin with one of which every record is taken."""
    return list(range(end - 1, begin - 1, -1))


def _worst(
    records: Records, owners: Codes, values: Codes, beliefs: Posteriors, exceeding: Counts, people: KnownPeople
) -> list[int]:
    """In every component, one record of the value that somebody is most likely to have: the one that lies farthest from
    the middle of its class. Components tell nothing about one another."""
    part_of = dict(zip(people.groups.tolist(), people.components()[0].tolist(), strict=True))
    worst: dict[int, int] = {}
    for kind in exceeding[np.argsort(-beliefs.high[exceeding], kind="stable")].tolist():
        worst.setdefault(part_of[int(beliefs.groups[kind])], kind)
    gone = []
    for kind in worst.values():
        inside = np.flatnonzero(owners == beliefs.groups[kind])
        members = inside[values[inside] == beliefs.values[kind]]
        middle = np.median(records.points[records.tuples[inside]], axis=0)
        far = np.abs(records.points[records.tuples[members]] - middle).sum(axis=1)
        gone.append(int(members[int(far.argmax())]))
    return gone
