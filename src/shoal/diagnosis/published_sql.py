"""SQL for recipients: a query for each model of a manifest, which anybody can run on the published tables.

A query numbers the classes of equal published values, counts the sensitive values of each, and lets the model's own SQL
(`Model.sql`) make a level of them. It gives the worst level, the bound, and 1 or 0 for whether every class keeps it.
What it cannot get from the table it has from the manifest: how often the whole table had a value where records were
left out, and which values a model is about.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from shoal.core.classes import Histogram
from shoal.core.contracts.form import Linked
from shoal.core.contracts.model import Model
from shoal.core.hierarchy import TOP
from shoal.core.release import Release, households_unknown
from shoal.core.sensitive import ChosenValuesModel, SensitiveModel
from shoal.diagnosis.sql import check_dialect, quoted_name, quoted_text, written
from shoal.errors import NotDefined, PeopleUnknown

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_SETS = 1000
"""Sets of columns that a query groups by at most."""
MOST_VALUES = 10_000
"""Sensitive values that a query spells at most."""

_WINDOWS = {
    "mass": "SUM(n) OVER (PARTITION BY class)",
    "most": "MAX(n) OVER (PARTITION BY class)",
    "tail": "SUM(n) OVER (PARTITION BY class ORDER BY n, value ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)",
}
_SURPLUS = "n * 1.0 / mass - prior * 1.0 / whole"
_OF_THE_TABLE = ("prior", "records", "whole", "chosen", "ahead", "apart", "twins")


@dataclass(frozen=True, kw_only=True)
class Query:
    """The query of a model, about one sensitive attribute where it is about any; or why there is none."""

    model: Model
    column: str | None = None
    sql: str | None = None
    reason: str = ""


def queries(release: Release, table: str, dialect: str) -> tuple[Query, ...]:
    """A query for each model of a release as it was read from its files. The main table goes by a name; further parts
    have theirs after it, as in `release_sensitive`. Columns are text, and missing values NULL."""
    check_dialect(dialect)
    entries: list[Query] = []
    for model in release.policy.models if release.policy is not None else ():
        try:
            judged = release.judged(model)
            histograms = model.histograms(judged) if isinstance(model, SensitiveModel) else (None,)
            texts = [
                (None if each is None else each.column, _Build(release, model, each, table).text())
                for each in histograms
            ]
            entries += [
                Query(model=model, column=column, sql=written(text, dialect, quote=True)) for column, text in texts
            ]
        except NotDefined as reason:
            entries.append(Query(model=model, reason=str(reason)))
    return tuple(entries)


def name_of(table: str, part: str) -> str:
    """The name of a part of a release in a database."""
    return table if not part else f"{table}_{part.replace('-', '_')}"


@dataclass(frozen=True, eq=False)
class _Build:
    """A query in the making: of a model, on the classes that a histogram counts, or on classes by their size."""

    release: Release
    model: Model
    histogram: Histogram | None
    table: str

    def text(self) -> str:
        if self.model.margins:
            return self._margins()
        if self.model.wildcards:
            return self._wildcards()
        level = self.model.sql()
        if level is None:
            raise NotDefined("the model has no SQL")
        steps = [self._rows(), f"sizes AS (SELECT class, {self._count} AS size FROM entries GROUP BY class)"]
        if self.histogram is None:
            source = "SELECT class, size AS level FROM sizes"
            if not self._by_size:
                source = f"SELECT class, {level} AS level FROM entries GROUP BY class"
        else:
            steps += self._cells(level)
            if self._person is not None and self._capped:
                level = f"CASE WHEN {level} < MAX(size) THEN {level} ELSE MAX(size) END"
            source = f"SELECT class, {level} AS level FROM cells GROUP BY class"
        return f"WITH {', '.join([*steps, f'classes AS ({source})'])} {self._verdict()}"

    def _margins(self) -> str:
        """The query of a model that counts the combinations of sets of columns."""
        linked, person, model = self._linked, self._person, self.model
        quasi = self.release.schema.quasi
        sets = [(names, least) for size, least in model.margins.items() for names in combinations(quasi, size)]
        if len(sets) > MOST_SETS:
            raise NotDefined(f"the query would have {len(sets):,} groupings, and {MOST_SETS} are the most")
        count = "COUNT(*)" if person is None else f"COUNT(DISTINCT {quoted_name(person)})"
        if linked.count is not None:
            count = f"SUM({quoted_name(linked.count)})"
        table = quoted_name(name_of(self.table, linked.part))
        parts = [
            f"SELECT {count} AS level, {least} AS least, {len(names)} AS columns_known FROM {table} "
            f"GROUP BY {', '.join(map(quoted_name, names))}"
            for names, least in sets
        ]
        return (
            f"WITH classes AS ({' UNION ALL '.join(parts)}) "
            f"SELECT MIN(CASE WHEN columns_known = {max(model.margins)} THEN level END) AS level, "
            f"{model.bound!r} AS bound, "
            "CASE WHEN MIN(level - least) >= 0 THEN 1 ELSE 0 END AS holds FROM classes"
        )

    def _wildcards(self) -> str:
        """The query of a model to which a hidden cell may stand for any value: what matches each class."""
        names, hidden = self.release.schema.quasi, self.release.view.judged_by(self.model).hidden
        columns = [f"c{place}" for place in range(len(names))]
        agree = []
        for place, column in enumerate(columns):
            cases = [f"a.{column} = b.{column}", f"a.{column} IS NULL AND b.{column} IS NULL"]
            if hidden is not None and hidden[place] >= 0:
                cases += [f"{side}.{column} = '{TOP}'" for side in "ab"]
            agree.append(f"({' OR '.join(cases)})")
        shown = ", ".join(f"{quoted_name(name)} AS {column}" for name, column in zip(names, columns, strict=True))
        table = quoted_name(name_of(self.table, self._linked.part))
        return (
            f"WITH entries AS (SELECT {shown} FROM {table}), "
            f"cells AS (SELECT {', '.join(columns)}, COUNT(*) AS n FROM entries GROUP BY {', '.join(columns)}), "
            f"classes AS (SELECT SUM(b.n) AS level FROM cells AS a JOIN cells AS b ON {' AND '.join(agree)} "
            f"GROUP BY {', '.join(f'a.{column}' for column in columns)}) {self._verdict()}"
        )

    def _verdict(self) -> str:
        model = self.model
        worst, breaks = ("MIN", "<") if model.more_is_safer else ("MAX", ">")
        broken = f"(SELECT COUNT(*) FROM classes WHERE level {breaks} {model.threshold!r}) = 0"
        floor = model.floor if isinstance(model, SensitiveModel) else 1
        small = ""
        if floor > 1:
            small = f" AND (SELECT MIN(held) FROM (SELECT {self._count} AS held FROM entries GROUP BY home) AS homes)"
            small += f" >= {floor}"
        return (
            f"SELECT {worst}(level) AS level, {model.bound!r} AS bound, "
            f"CASE WHEN {broken}{small} THEN 1 ELSE 0 END AS holds FROM classes"
        )

    @property
    def _linked(self) -> Linked:
        """The published columns that the classes are made of."""
        linked, quasi = self.release.view.linked(), self.release.schema.quasi
        if self.histogram is None or self.model.identity:
            whole = [entry for entry in linked if set(quasi) <= {*entry.columns, *entry.group}]
            if not whole:
                raise NotDefined("no table has all quasi-identifiers of a record")
            return whole[0]
        holding = [entry for entry in linked if self.histogram.column in entry.columns]
        telling = [entry for entry in holding if set(quasi) & set(entry.columns)] or holding[:1]
        if len(telling) > 1:
            raise NotDefined("the sensitive attribute stands in several tables, and no query joins them")
        return telling[0]

    @property
    def _keys(self) -> list[str]:
        """The columns by which classes are told apart."""
        linked, quasi = self._linked, self.release.schema.quasi
        if self.histogram is None or self.model.identity:
            return [quoted_name(name) for name in quasi]
        return [quoted_name(name) for name in (*linked.group, *(name for name in quasi if name in linked.columns))]

    @property
    def _person(self) -> str | None:
        """The column whose values are people; `in_people` said before that it is there."""
        person = self.release.schema.person
        if person is not None and person not in self.release.published.names:
            raise PeopleUnknown(f"people cannot be counted without the column {person!r}, which the release lacks")
        return person

    @property
    def _by_size(self) -> bool:
        """Whether the level of a class is its size; where no column says who lives together, people are households."""
        return self.model.by_size or (self.model.counts_households and self.release.schema.household is None)

    @property
    def _household(self) -> str:
        """The column whose values are households; `judged` said before that they are known."""
        household = self.release.schema.household
        if household is None or household not in self.release.published.names:
            raise households_unknown(household)
        return household

    @property
    def _count(self) -> str:
        if self._linked.count is not None:
            return "SUM(weight)"
        return "COUNT(*)" if self._person is None else "COUNT(DISTINCT person)"

    @property
    def _capped(self) -> bool:
        """Whether fewer than so many people who have so many values between them count as so many only."""
        model, histogram = self.model, self.histogram
        assert isinstance(model, SensitiveModel) and histogram is not None
        return model.more_is_safer and model.compiled(histogram.parts) is not None

    def _rows(self) -> str:
        """The records, with the number of the class that is judged and, as `home`, of the published one."""
        keys, linked = self._keys, self._linked
        others: Sequence[str] = ()
        if self.histogram is not None and self.release.schema.strict:
            others = [quoted_name(name) for name in self.release.schema.sensitive if name != self.histogram.column]
        chosen = [f"DENSE_RANK() OVER (ORDER BY {', '.join([*keys, *others])}) AS class"]
        if others or (isinstance(self.model, SensitiveModel) and self.model.floor > 1):
            chosen.append(f"DENSE_RANK() OVER (ORDER BY {', '.join(keys)}) AS home")
        if self.histogram is not None:
            chosen.append(f"{quoted_name(self.histogram.column)} AS value")
        if self._person is not None:
            chosen.append(f"{quoted_name(self._person)} AS person")
        if self.model.counts_households and not self._by_size:
            chosen.append(f"{quoted_name(self._household)} AS household")
        if self.model.counts_population:
            chosen.append(f"CAST({quoted_name(str(self.release.schema.weight))} AS DOUBLE) AS population")
        if linked.count is not None:
            chosen.append(f"{quoted_name(linked.count)} AS weight")
        return f"entries AS (SELECT {', '.join(chosen)} FROM {quoted_name(name_of(self.table, linked.part))})"

    def _cells(self, level: str) -> list[str]:
        """Every sensitive value of a class, or every one there is, with what the level is made of."""
        used = {name for name in (*_WINDOWS, *_OF_THE_TABLE) if re.search(rf"\b{name}\b", level)}
        every = self.model.sql_every or "twins" in used
        steps = [f"counted AS (SELECT class, value, {self._count} AS n FROM entries GROUP BY class, value)"]
        if not every and not used & set(_OF_THE_TABLE):
            steps.append(
                "joined AS (SELECT counted.class AS class, counted.value AS value, n, size FROM counted "
                "JOIN sizes ON sizes.class = counted.class)"
            )
        else:
            steps += [self._known(used), _joined(every)]
        if used & {"ahead", "apart"}:
            used.add("mass")
        windows = "".join(f", {_WINDOWS[name]} AS {name}" for name in _WINDOWS if name in used)
        if "twins" in used:
            steps += [
                "alike AS (SELECT a.place AS place, b.place AS other FROM joined AS a JOIN joined AS b "
                "ON a.class = b.class GROUP BY a.place, b.place "
                "HAVING SUM(CASE WHEN a.n <> b.n THEN 1 ELSE 0 END) = 0)",
                "twinned AS (SELECT place, COUNT(*) AS twins FROM alike GROUP BY place)",
                "cells AS (SELECT class, n, size, twins FROM joined JOIN twinned ON twinned.place = joined.place "
                "WHERE n > 0)",
            ]
            return steps
        moved = self._moved(used)
        steps.append(f"{'weighed' if moved else 'cells'} AS (SELECT *{windows} FROM joined)")
        return [*steps, f"cells AS (SELECT *, {moved} FROM weighed)"] if moved else steps

    def _moved(self, used: set[str]) -> str:
        """What part of a distance each value has."""
        if "ahead" in used:
            running = "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
            return f"SUM({_SURPLUS}) OVER (PARTITION BY class ORDER BY place {running}) AS ahead"
        if "apart" not in used:
            return ""
        over = [f"OVER (PARTITION BY class, node{level})" for level in range(len(self._nodes))]
        terms = [f"ABS(SUM({_SURPLUS}) {each}) / COUNT(*) {each}" for each in over]
        return f"({' + '.join(terms)}) / {2 * len(over)} AS apart"

    @property
    def _nodes(self) -> NDArray[np.int32]:
        """The node of each value at each level of the hierarchy below the top."""
        assert self.histogram is not None and self.histogram.hierarchy is not None
        return self.histogram.hierarchy.codes[:-1]

    def _known(self, used: set[str]) -> str:
        """The values of the whole table: from the release where it tells them all, else as the manifest states them."""
        model, histogram = self.model, self.histogram
        assert histogram is not None
        some = isinstance(model, ChosenValuesModel) and bool(model.values or model.leaves)
        if not some and not used & {"ahead", "apart"} and not (model.by_population and self.release.suppressed):
            total = f"(SELECT {self._count} FROM entries)"
            return (
                f"known AS (SELECT value, {self._count} AS prior, 1 AS chosen, {total} AS records, "
                f"SUM({self._count}) OVER () AS whole, DENSE_RANK() OVER (ORDER BY value) AS place, 1 AS shown "
                "FROM entries GROUP BY value)"
            )
        parts = histogram.parts
        present = np.flatnonzero(parts.population)
        if len(present) > MOST_VALUES:
            raise NotDefined(f"the query would have to spell more than {MOST_VALUES:,} values")
        chosen = model.chosen(parts) if isinstance(model, ChosenValuesModel) else np.ones(len(parts.population), bool)
        assert parts.hierarchy is not None
        labels, whole = parts.hierarchy.labels[0], int(parts.population.sum())
        stated = []
        for leaf in present.tolist():
            hidden = str(labels[leaf] or "").startswith("\0")  # nobody who has it is in the release
            text = "CAST(NULL AS TEXT)" if hidden or labels[leaf] is None else quoted_text(labels[leaf])
            nodes = [f"{row[leaf]} AS node{level}" for level, row in enumerate(self._nodes)] if "apart" in used else []
            columns = (
                f"{text} AS value", f"{parts.population[leaf]} AS prior", f"{int(chosen[leaf])} AS chosen",
                f"{parts.everybody or whole} AS records", f"{whole} AS whole", f"{leaf} AS place",
                f"{int(not hidden)} AS shown", *nodes,
            )  # fmt: skip
            stated.append(f"SELECT {', '.join(columns)}")
        return f"known AS ({' UNION ALL '.join(stated)})"


def _joined(every: bool) -> str:
    """Counts beside what the whole table has; of every value where that is asked for, else of those of the class."""
    same = "known.value IS NOT DISTINCT FROM counted.value AND known.shown = 1"
    if every:
        return (
            "joined AS (SELECT sizes.class AS class, sizes.size AS size, COALESCE(counted.n, 0) AS n, known.* "
            f"FROM sizes CROSS JOIN known LEFT JOIN counted ON counted.class = sizes.class AND {same})"
        )
    return (
        "joined AS (SELECT counted.class AS class, sizes.size AS size, counted.n AS n, known.* FROM counted "
        f"JOIN sizes ON sizes.class = counted.class JOIN known ON {same})"
    )
