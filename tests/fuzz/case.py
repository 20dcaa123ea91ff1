"""One case: a table, what is asked of it, and the shape in which it goes in and comes out."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
from tests.fuzz import pools

KEY = b"a key of quetzals, long enough"
FRAMES = ("pandas", "polars", "pyarrow")


@dataclass(frozen=True)
class Given:
    """A hierarchy that is given: the path of each text from itself to the top, and how it is handed over."""

    paths: tuple[tuple[str, ...], ...]
    how: str

    @property
    def texts(self) -> dict[str, tuple[str, ...]]:
        return {path[0]: path for path in self.paths}


@dataclass(frozen=True)
class Column:
    """A column of a table, and the values that `earlier` releases of it may have shown."""

    name: str
    role: str
    values: tuple[Any, ...]
    type: pa.DataType = pools.TEXT
    hierarchy: Given | str | None = None
    rule: str = "value"
    kind: str | None = None
    family: str = "texts"
    earlier: tuple[Any, ...] = ()

    def at(self, rows: list[int]) -> Column:
        return replace(self, values=tuple(self.values[row] for row in rows))


@dataclass(frozen=True)
class Step:
    """One release of a series: which records the table has by then, and what is asked."""

    rows: tuple[int, ...]
    algorithm: tuple[str, dict[str, Any]]
    models: tuple[tuple[str, dict[str, Any]], ...]
    suppression: float
    seed: int


@dataclass(frozen=True)
class Case:
    """A table and what is asked of it; `weights` says how survey weights are published. With `steps` it is a series of
    releases that a ledger judges; then the columns have everybody who is ever in the table, and each step says what is
    asked."""

    number: int
    columns: tuple[Column, ...]
    container: str
    delimiter: str
    told: bool
    missing: tuple[str, ...]
    ending: str
    algorithm: tuple[str, dict[str, Any]]
    models: tuple[tuple[str, dict[str, Any]], ...]
    suppression: float
    objective: str | None
    strict: bool
    seed: int
    pseudonyms: str | None
    command: bool
    occupied: bool
    encoding: str
    line: str
    engine: str
    traced: str | None
    repeated: bool
    questions: int
    steps: tuple[Step, ...] = ()
    weights: str | None = None

    @property
    def records(self) -> int:
        return len(self.columns[0].values)

    @property
    def person(self) -> Column | None:
        """The column that says whose each record is."""
        return next(iter(self.named("person")), None)

    @property
    def household(self) -> Column | None:
        """The column that says where the person of each record lives."""
        return next(iter(self.named("household")), None)

    @property
    def weight(self) -> Column | None:
        """The column that says how many people each record stands for."""
        return next(iter(self.named("weight")), None)

    @property
    def naming(self) -> list[Column]:
        """The columns that are published as pseudonyms, or not at all."""
        return self.named("identifier") + self.named("person") + self.named("household")

    def named(self, role: str) -> list[Column]:
        return [column for column in self.columns if column.role == role]

    def column(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)

    def permuted(self) -> Case:
        order = list(range(self.records))
        Random(self.number).shuffle(order)
        return self.at(order)

    def at(self, rows: list[int]) -> Case:
        places = {row: place for place, row in enumerate(rows)}
        steps = tuple(
            replace(step, rows=tuple(places[row] for row in step.rows if row in places)) for step in self.steps
        )
        return replace(self, columns=tuple(column.at(rows) for column in self.columns), steps=steps)

    def release(self, step: Step) -> Case:
        """One release of a series as a case of its own."""
        alone = replace(self, steps=()).at(list(step.rows))
        columns = tuple(
            replace(column, earlier=whole.values) for column, whole in zip(alone.columns, self.columns, strict=True)
        )
        asked = {name: getattr(step, name) for name in ("algorithm", "models", "suppression", "seed")}
        return replace(alone, columns=columns, **asked)

    def __str__(self) -> str:
        """What the case is, without a value of it."""
        columns = ", ".join(f"{c.role} {c.type}{_hierarchy_text(c)}{_rule_text(c)}" for c in self.columns)
        asked = "; then ".join(
            f"{_asked(step)}{f' of {len(step.rows)} records' if self.steps else ''}" for step in self.steps or (self,)
        )
        return (
            f"{self.records} records as {self.container} ({columns}); {asked}; "
            f"objective {self.objective}{', strict' if self.strict else ''}, pseudonyms {self.pseudonyms}, "
            f"weights {self.weights}; "
            f"to {self.ending} by {'the command' if self.command else 'the library'}, {self.engine}"
        )


def _asked(step: Case | Step) -> str:
    models = " and ".join(f"{name}{_shown(values)}" for name, values in step.models) or "no model"
    name, values = step.algorithm
    return f"{name}{_shown(values)} for {models}, suppression {step.suppression}"


def _hierarchy_text(column: Column) -> str:
    given = column.hierarchy
    return "" if given is None else f" given as {given.how}" if isinstance(given, Given) else f" by {given}"


def _rule_text(column: Column) -> str:
    return "" if column.rule == "value" else f" missing={column.rule}"


def _shown(values: dict[str, Any]) -> dict[str, Any] | str:
    return {key: value for key, value in values.items() if key not in ("values", "column", "publish")} or ""


# ---------------------------------------------------------------------------------------------- handing it over


def table_of(case: Case) -> pa.Table:
    return pa.table({column.name: _array(column) for column in case.columns})


def _array(column: Column) -> pa.Array:
    kind = column.type
    if pa.types.is_dictionary(kind):
        return pa.array(column.values, kind.value_type).dictionary_encode()
    if pa.types.is_nested(kind) and any(pa.types.is_dictionary(kind.field(at).type) for at in range(kind.num_fields)):
        return _nested(column.values, kind)
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        plain = pa.array(column.values, pa.timestamp(kind.unit))
        return plain.cast(pa.int64()).cast(kind)
    return pa.array(column.values, kind)


def _nested(values: tuple[Any, ...], kind: pa.DataType) -> pa.Array:
    """A list or a struct of categories."""
    if pa.types.is_struct(kind):
        name = kind.field(0).name
        inner = pa.array([value[name] for value in values], pa.string()).dictionary_encode()
        return pa.StructArray.from_arrays([inner], [name])
    flat = [entry for value in values for entry in value]
    offsets = [0]
    for value in values:
        offsets.append(offsets[-1] + len(value))
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(flat, pa.string()).dictionary_encode())


def put(case: Case, folder: Path) -> Any:
    """Writes the table into a folder and gives its path, or makes the frame."""
    if case.container.startswith("csv"):
        path = folder / f"table.{case.container}"
        text = io.StringIO(newline="")
        writer = csv.writer(text, delimiter=case.delimiter, lineterminator=case.line)
        writer.writerow([column.name for column in case.columns])
        writer.writerows(zip(*([_text(value) for value in column.values] for column in case.columns), strict=True))
        data = text.getvalue().encode(case.encoding)
        path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
        return path
    table = table_of(case)
    if case.container == "parquet":
        path = folder / "table.parquet"
        pa.parquet.write_table(table, path)
        return path
    if case.container == "arrow":
        path = folder / "table.arrow"
        pa.feather.write_feather(table, path, compression="uncompressed")
        return path
    if case.container == "pyarrow":
        return table
    if case.container == "polars":
        import polars as pl

        return pl.from_arrow(table)
    import pandas as pd

    whole = all(not pa.types.is_integer(table[name].type) or not table[name].null_count for name in table.column_names)
    return table.to_pandas() if whole and case.number % 2 else table.to_pandas(types_mapper=pd.ArrowDtype)


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def hierarchies(case: Case, folder: Path) -> dict[str, Any]:
    """The hierarchies of a case as `shoal.read` takes them, but for those handed over as objects; files go into
    a folder."""
    found: dict[str, Any] = {}
    for place, column in enumerate(case.columns):
        given = column.hierarchy
        if isinstance(given, str) or (given is not None and given.how == "object" and not case.command):
            found[column.name] = given
        elif given is not None:
            path = folder / f"hierarchy{place}.{'json' if given.how == 'json' else 'csv'}"
            path.write_text(_tree(given) if given.how == "json" else _rows(given), encoding="utf-8")
            found[column.name] = path
    return found


def _rows(given: Given) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(given.paths)
    return text.getvalue()


def _tree(given: Given) -> str:
    root: dict[str, Any] = {}
    for path in given.paths:
        node: Any = root
        for label in reversed(path[2:]):
            node = node.setdefault(label, {})
        node.setdefault(path[1], []).append(path[0])
    return json.dumps(root, ensure_ascii=False)


def job(case: Case, source: Path, folder: Path, target: Path, ledger: Path | None = None) -> dict[str, Any]:
    """The case as the tables of a job file."""
    trees = hierarchies(case, folder)
    columns: dict[str, Any] = {}
    for column in case.columns:
        role = "entity" if column.role == "person" else column.role
        columns[column.name] = {"role": role, "missing": column.rule}
        if column.kind is not None:
            columns[column.name]["kind"] = column.kind
        if column.name in trees:
            columns[column.name]["hierarchy"] = str(trees[column.name])
    key = folder / "key"
    key.write_bytes(KEY)
    given: dict[str, Any] = {"path": str(source), "missing": list(case.missing)}
    if case.told and case.container.startswith("csv"):
        given |= {"delimiter": case.delimiter, "encoding": case.encoding}
    output = {"path": str(target)}
    if case.pseudonyms is not None:
        output |= {"pseudonyms": case.pseudonyms, "key_file": str(key)}
    if case.weights is not None:
        output |= {"publish_weights": case.weights}
    if ledger is not None:
        output |= {"ledger": str(ledger)}
    name, values = case.algorithm
    policy = {
        "suppression": case.suppression, "seed": case.seed, "repeatable": True, "protect_jointly": case.strict,
        "rows_are_people": case.person is None,
        "allow_plain": [column.name for column in case.named("plain")],
        "models": [{"name": name, **_listed(values)} for name, values in case.models],
    }  # fmt: skip
    if case.objective is not None:
        policy["objective"] = case.objective
    algorithm = {"name": name, **_listed(values)}
    return {"input": given, "columns": columns, "output": output, "algorithm": algorithm, "policy": policy}


def _listed(values: dict[str, Any]) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}


# ------------------------------------------------------------------------------------------------- simpler cases


def simpler(case: Case) -> Iterator[Case]:
    """Cases that are a little simpler than a case, the much simpler ones first."""
    for place in range(len(case.steps)):
        yield replace(case, steps=case.steps[:place] + case.steps[place + 1 :])
        if len(case.steps) == 1:
            yield case.release(case.steps[0])
    size = case.records
    step = size // 2
    while step:
        for start in range(0, size, step):
            rows = [row for row in range(size) if not start <= row < start + step]
            if rows:
                yield case.at(rows)
        step //= 2
    for column in case.columns:
        if len(case.columns) > 1 and column.name != case.traced:
            yield replace(case, columns=tuple(other for other in case.columns if other is not column))
    for place in range(len(case.models)):
        if len(case.models) > 1:
            yield replace(case, models=case.models[:place] + case.models[place + 1 :])
    plain = {
        "command": False, "strict": False, "pseudonyms": None, "missing": (), "occupied": False, "told": True,
        "objective": None, "encoding": "utf-8", "line": "\n", "engine": "embedded", "repeated": False, "questions": 0,
        "suppression": 0.0, "ending": "csv", "delimiter": ",", "weights": None,
    }  # fmt: skip
    for name, value in plain.items():
        if getattr(case, name) != value:
            yield replace(case, **{name: value})
    for place, column in enumerate(case.columns):
        for name, value in (("hierarchy", None), ("rule", "value"), ("kind", None)):
            if getattr(column, name) != value:
                changed = replace(column, **{name: value})
                yield replace(case, columns=(*case.columns[:place], changed, *case.columns[place + 1 :]))
