"""Probabilistic linkage: a list of people is joined to the release, and its entries may be wrong."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge
from typing_extensions import Doc

from shoal.adversary.external_table import ExternalTable
from shoal.adversary.locating import groups_of_records
from shoal.adversary.rates import wilson
from shoal.core.contracts.attack import Attack, Attempt, Known
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, group
from shoal.core.parameters import Examples, Share
from shoal.core.release import Release
from shoal.core.risk_line import LINE
from shoal.core.run import Run, polled
from shoal.errors import CancelledError, InputError, MissingExtraError, NotDefined, ParameterError

RECALL = 0.7
"""How many true pairs are taken to agree in every column, before anything is learned."""
PAIRS = 100_000
"""Pairs of strangers that show how often these agree."""


@dataclass(frozen=True, kw_only=True)
class ProbabilisticLinkage(Attack):
    """Has a list of people in which entries may be wrong or out of date. For a person and a published class it weighs
    how much the columns that agree speak for the person, and those that differ against (Fellegi and Sunter); how much
    each counts is learned from the two tables alone. The person is taken for a record of the class that has the most
    weight, picked at random; a class that differs in more than one column is not looked at.

    A column agrees where the published value, range or node can be the person's; a missing value says nothing. Who on
    the list is whose record is told by `identifier`, a column that both tables have, which is used only to measure by.
    `success` is over the people on the list who are in the release. Of more than `people`, so many are drawn, and it
    has an interval. The baseline is a record that is picked blindly.

    Does not use sensitive values, nor how near two values are that differ. It needs the package splink.

    Reference: I. Fellegi, A. Sunter, A theory for record linkage, 1969; R. Linacre and others, Splink: free software
    for probabilistic record linkage at scale, 2022.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"name": range(20), "age": [21, 22, 23, 24] * 5, "zip": list("aabb") * 5})
        >>> data = shoal.read(table, quasi=["age", "zip"], identifiers=["name"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=5), algorithm="mondrian", seed=1)
        >>> found = shoal.attack(data, release, "probabilistic-linkage:identifier=name", external=data)[0]
        >>> found.success, found.baseline
        (0.2, 0.05)
    """

    identifier: Annotated[str, Doc("a column that names a person in both tables, only to measure by")]
    people: Annotated[int, Ge(1), Doc("how many people are linked at most")] = 1_000
    seed: Annotated[int, Ge(0), Doc("of what is drawn")] = 0
    threshold: Annotated[Share, Doc("the chance above which a person counts as exposed")] = LINE

    examples: ClassVar[Examples] = ({"identifier": "row", "people": 20},)

    def attempt(self, dataset: Dataset, release: Release, known: Known, run: Run) -> Attempt:
        if known.external is None:
            raise NotDefined("there is no list of people to link: give an external table")
        external = ExternalTable.once(known, release, known.external, what="the external table")
        shared = [place for place, name in enumerate(release.schema.quasi) if name in external.classes.attributes]
        if len(shared) < 2:
            raise NotDefined("the list shares one column with the release; weights are learned from two or more")
        low, high = self._ranges(external, shared)
        if find_spec("splink") is None:
            raise MissingExtraError("probabilistic-linkage", "linkage")
        tuples, homes = self._truth(dataset, release, known.external, external)
        if not len(tuples):
            raise NotDefined("nobody on the list is in the release, as far as the tables tell")
        everybody = len(tuples)
        if everybody > self.people:
            drawn = np.random.default_rng(self.seed).choice(everybody, self.people, replace=False)
            tuples, homes = tuples[drawn], homes[drawn]
        rows, index = np.unique(tuples, return_inverse=True)
        run.check()
        persons, classes = _link(external.keys[shared][:, rows], low, high, self.seed, run)
        heads = external.published.headcounts.astype(np.float64)
        among = np.bincount(persons, weights=heads[classes], minlength=len(rows))
        best = set(zip(persons.tolist(), classes.tolist(), strict=True))
        right = np.array([pair in best for pair in zip(index.tolist(), homes.tolist(), strict=True)])
        chances = np.where(right, 1 / np.maximum(among[index], 1), 0.0)
        sampled = everybody > len(index)
        return self.attempt_over(
            chances,
            np.ones(len(chances), np.int64),
            baseline=1 / max(int(heads.sum()), 1),
            knew=f"a list of {external.people:,} people, some of whose entries may be wrong",
            meaning="how often the record that somebody on the list is linked to is the person's",
            lower_bound=True,
            interval=wilson(float(chances.sum()), len(chances)).interval if sampled else None,
            detail={"in_release": everybody, "linked": len(index), "right_class": float(right.mean())},
        )

    def _ranges(self, external: ExternalTable, shared: list[int]) -> tuple[Codes, Codes]:
        """The ranges of the published classes in the common columns, negative where a value is missing."""
        if external.release.view.people() is not external.release.view.groups():
            raise NotDefined("this form does not show which sensitive value stands beside a person's record")
        try:
            cells = external.release.view.cells()
        except InputError as error:
            raise NotDefined(str(error)) from None
        low, high = cells.low[shared].copy(), cells.high[shared].copy()
        for row, place in enumerate(shared):
            if external.release.hierarchy_of(external.release.schema.quasi[place]).missing:
                absent = high[row] == 0
                low[row][absent] = high[row][absent] = -1
        return low, high

    def _truth(
        self, dataset: Dataset, release: Release, register: Dataset, external: ExternalTable
    ) -> tuple[np.ndarray, np.ndarray]:
        """For each person on the list who is in the release, the tuple on the list and the published class."""
        groups = groups_of_records(dataset, release)
        listed = self._tuples(dataset, release, register, external)
        both = (groups >= 0) & (listed >= 0)
        return listed[both], groups[both]

    def _tuples(self, dataset: Dataset, release: Release, register: Dataset, external: ExternalTable) -> np.ndarray:
        """For each record, the tuple on the list of whoever it is of; negative: nobody, or more than one."""
        for table, what in ((dataset, "the table"), (register, "the external table")):
            if self.identifier not in table.schema.names:
                raise ParameterError(f"{what} has no column {self.identifier!r} that could tell who is who")

        def names(table: Dataset, seed: int) -> list[Any]:
            wider = table.knowing([self.identifier])
            codes = wider.table.listing(table.schema.quasi, [self.identifier], seed)[0]
            texts: list[Any] = wider.schema.hierarchy_of(self.identifier).labels[0][codes].tolist()
            return texts

        shared = [register.schema.quasi.index(name) for name in external.classes.attributes]
        keys = register.summary.keys[shared]
        tuples = np.repeat(group(list(keys), index=True).index, register.summary.sizes)
        entries: dict[Any, int] = {}
        for name, tuple_ in zip(names(register, 0), tuples.tolist(), strict=True):
            entries[name] = -1 if name in entries or name is None else tuple_
        return np.array([entries.get(name, -1) for name in names(dataset, release.seed)])


@contextmanager
def _stopped_by(run: Run, connection: Any) -> Iterator[None]:
    """Meanwhile, the queries of a DuckDB connection stop when the run is cancelled."""

    def look() -> None:
        if run.cancelled:
            connection.interrupt()

    try:
        with polled(look):
            yield
    except Exception:  # an interrupted query's, which Splink may have wrapped; any other goes on as it is
        try:
            run.check()
        except CancelledError as cancelled:
            raise cancelled from None
        raise


def _agreement_counts_for(model: dict[str, Any]) -> dict[str, Any]:
    """A learned model in which a column that agrees never speaks against a pair. Classes are often boxes beside one
    another: of those that agree in all columns but one hardly any agrees in that one too, and it is learned that
    whoever is the same differs there. In such a column people are taken to agree more often than strangers do, as often
    as `RECALL` says of all columns together, or more."""
    comparisons = model["comparisons"]
    for _, agrees, differs in (comparison["comparison_levels"] for comparison in comparisons):
        strangers = min(agrees.get("u_probability", 0.5), 1 - 1 / PAIRS)
        same = agrees.get("m_probability", 0.0)
        if same <= strangers:
            same = max(RECALL ** (1 / len(comparisons)), (1 + strangers) / 2)
        same = min(same, 1 - 0.1 / PAIRS)
        agrees |= {"m_probability": same, "u_probability": strangers}
        differs |= {"m_probability": 1 - same, "u_probability": 1 - strangers}
    return model


def _link(people: Codes, low: Codes, high: Codes, seed: int, run: Run) -> tuple[np.ndarray, np.ndarray]:
    """The pairs of a person and a class with the most weight of all classes of the person."""
    import duckdb
    import pyarrow as pa
    from splink import DuckDBAPI, Linker, SettingsCreator
    from splink.comparison_level_library import CustomLevel, ElseLevel
    from splink.comparison_library import CustomComparison

    columns = range(len(people))

    def table(first: Codes, last: Codes) -> pa.Table:
        named = {f"low{at}": first[at] for at in columns} | {f"high{at}": last[at] for at in columns}
        # Splink compares numbers as texts anyway, and would spell them again in every join.
        return pa.table({"unique_id": pa.array(range(first.shape[1])).cast(pa.string()), **named})

    def agreeing(some: list[int]) -> str:
        return " and ".join(f"l.low{at} <= r.high{at} and r.low{at} <= l.high{at}" for at in some)

    # Splink learns from a join of both tables with both, and only then leaves out people beside people and classes
    # beside classes. What the rule says is known before the join.
    between = "l.source_dataset = 'people' and r.source_dataset = 'release'"

    def comparison(at: int) -> Any:
        levels: list[Any] = [
            CustomLevel(f"low{at}_l < 0 or low{at}_r < 0", "not known").configure(is_null_level=True),
            CustomLevel(f"low{at}_l <= high{at}_r and low{at}_r <= high{at}_l", "agrees"),
            ElseLevel(),
        ]
        return CustomComparison(output_column_name=f"column{at}", comparison_levels=levels)

    but_one: list[Any] = [agreeing([other for other in columns if other != at]) for at in columns]
    settings = SettingsCreator(
        link_type="link_only",
        comparisons=[comparison(at) for at in columns],
        blocking_rules_to_generate_predictions=but_one,
        retain_intermediate_calculation_columns=False,
    )
    connection = duckdb.connect(":memory:")
    engine, doing = DuckDBAPI(connection), "linking people and classes"
    with _stopped_by(run, connection):
        tables = [
            engine.register(table(people, people), dataset_display_name="people"),
            engine.register(table(low, high), dataset_display_name="release"),
        ]
        linker = Linker(tables, settings, log_level=logging.ERROR)
        logging.getLogger("splink").setLevel(logging.CRITICAL)
        linker.training.estimate_probability_two_random_records_match([agreeing(list(columns))], recall=RECALL)
        linker.training.estimate_u_using_random_sampling(max_pairs=PAIRS, seed=seed or 1)
        for done, rule in enumerate(but_one):
            run.report(done / (len(but_one) + 1), doing)
            linker.training.estimate_parameters_using_expectation_maximisation(f"{rule} and {between}")
        run.report(len(but_one) / (len(but_one) + 1), doing)
        model = _agreement_counts_for(linker.misc.save_model_to_json())
        linker = Linker(tables, model, log_level=logging.ERROR)
        predicted: Any = linker.inference.predict(threshold_match_weight=-1000)
        pairs = predicted.as_pyarrow_table()
    persons, classes = (pairs[name].cast(pa.int64()).to_numpy() for name in ("unique_id_l", "unique_id_r"))
    weights = pairs["match_weight"].to_numpy()
    most = np.full(people.shape[1], -np.inf)
    np.maximum.at(most, persons, weights)
    best = weights >= most[persons] - 1e-9
    return persons[best], classes[best]
