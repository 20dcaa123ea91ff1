"""Draws a case from a number: every algorithm with its examples, models, shapes and odd values in turn."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

import pyarrow as pa
from tests.fuzz import pools
from tests.fuzz.case import FRAMES, Case, Column, Given
from tests.fuzz.definitions import DEFINITIONS
from tests.fuzz.meaning import Lexicon, attribute
from tests.fuzz.pools import Pool

from shoal import job, registry
from shoal.core.contracts import Algorithm

ENGINES = [name for name in registry.names("engines") if name != "spark"]
"""Those that take a fraction of a second for a small table."""

BOUNDS: dict[str, tuple[Any, ...]] = {
    "k": (1, 2, 2, 3, 5), "l": (1, 2, 2, 3), "c": (0.5, 1.5, 3.0), "t": (0.2, 0.5, 0.8, 1.0), "alpha": (0.4, 0.7, 1.0),
    "p": (1, 2, 3), "beta": (0.5, 2.0, 9.0), "delta": (0.1, 0.5, 1.0), "epsilon": (0.0, 0.01), "delta_min": (0.0, 0.05),
    "delta_max": (0.5, 0.8, 1.0), "rho1": (0.2, 0.35), "rho2": (0.5, 0.8, 0.95), "enhanced": (False, True),
    "strict": (True, False), "distance": ("equal", "ordered", "hierarchical"),
}  # fmt: skip
"""What the parameters of models are drawn from, by their names; others are as the model's own examples have them."""


@cache
def algorithms() -> tuple[tuple[str, dict[str, Any]], ...]:
    """Every algorithm with each of its examples."""
    return tuple(
        (name, {key: job.spelled(each) if isinstance(each, Algorithm) else each for key, each in example.items()})
        for name in registry.names("algorithms")
        for example in registry.examples("algorithms", name)
    )


@cache
def objectives() -> tuple[str, ...]:
    """Every metric that needs no parameter."""
    return tuple(name for name in registry.names("metrics") if registry.complete("metrics", name))


def drawn(number: int) -> Case:
    """The case of a number."""
    chance = Random(number)
    container = chance.choice(["csv"] * 4 + ["csv.gz", "parquet", "parquet", "arrow", *FRAMES])
    records = chance.choice([1, 2, 4, 8, 13, 20, 20, 30, 30, 45, 60, 200])
    algorithm, parameters = algorithms()[number % len(algorithms())]
    names = chance.sample(pools.NAMES, len(pools.NAMES))
    columns = [_quasi(chance, names.pop(), records, container) for _ in range(chance.choice([1, 2, 2, 3]))]
    columns += [_sensitive(chance, names.pop(), records, container) for _ in range(chance.choice([0, 1, 1, 1, 2]))]
    columns += [_plain(chance, names.pop(), records, container) for _ in range(chance.choice([0, 0, 1]))]
    if chance.random() < 0.4:
        columns.append(_identifier(chance, names.pop(), number, records))
    traced = None
    if chance.random() < 0.85:
        traced = "row"
        columns.append(Column(traced, "plain", tuple(f"Quetzal{number}-{row}" for row in range(records))))
    elif records > 2:  # duplicates, which nothing tells apart
        rows = [chance.randrange(records) for _ in range(records)]
        columns = [column.at(rows) for column in columns]
    chance.shuffle(columns)
    parameters = _suited(parameters, columns)
    claims = job.plugin("algorithms", {"name": algorithm, **parameters}).claims
    count = chance.choice([1, 1, 2]) if claims else 0
    endings = ["csv", "csv.gz", "tsv", "parquet", "arrow"]
    case = Case(
        number=number, columns=tuple(columns), container=container, delimiter=chance.choice(",,;\t|"),
        told=chance.random() < 0.7, missing=chance.choice([(), (), ("NA", "?"), ("b",)]), ending=chance.choice(endings),
        algorithm=(algorithm, parameters), models=(), suppression=chance.choice([0.0, 0.0, 0.1, 0.1, 1.0]),
        objective=chance.choice(objectives()) if chance.random() < 0.2 else None,
        strict=chance.random() < 0.3, seed=chance.randrange(2**31), pseudonyms=chance.choice([None, "keyed", "random"]),
        command=container not in FRAMES and chance.random() < 0.35, occupied=chance.random() < 0.3, traced=traced,
        encoding=chance.choice(["utf-8"] * 6 + ["utf-8-sig", "utf-16"]), line=chance.choice(["\n", "\n", "\r\n"]),
        engine=chance.choice(ENGINES),
    )  # fmt: skip
    return replace(case, models=tuple(_likely_model(chance, case, tuple(columns)) for _ in range(count)))


def _likely_model(chance: Random, case: Case, columns: tuple[Column, ...]) -> tuple[str, dict[str, Any]]:
    """A model that mostly holds for the table as one class, so that most cases publish something."""
    lexicons = [Lexicon(column, case) for column in columns if column.role == "sensitive"]
    rows = range(case.records)
    for _ in range(8):
        name, given = _model(chance, [lexicon.column for lexicon in lexicons])
        about = [lexicon for lexicon in lexicons if given.get("column") in (None, lexicon.column.name)]
        if name not in DEFINITIONS:
            likely = case.records >= given.get("k", 1)
        else:
            likely = all(
                set(given.get("values", ())) <= set(lexicon.known)
                and DEFINITIONS[name].keeps(lexicon.values, attribute(lexicon, rows, given.get("values", ())), given)
                for lexicon in about
            )
        if likely or chance.random() < 0.1:
            break
    return name, given


def _values(chance: Random, pool: Pool, records: int) -> tuple[Any, ...]:
    """Values of a pool: even, skewed, or almost all the same."""
    values = chance.sample(pool.values, chance.randint(1, len(pool.values)))
    shape = chance.choice(["even", "skewed", "lonely"])
    weights = {
        "even": [1.0] * len(values), "skewed": [0.5**place for place in range(min(len(values), 40))],
        "lonely": [50.0] + [1.0] * (len(values) - 1),
    }[shape]  # fmt: skip
    return tuple(chance.choices(values[: len(weights)], weights, k=records))


def _column(chance: Random, name: str, role: str, pool: Pool, records: int, container: str) -> Column:
    values = _values(chance, pool, records)
    kind = pool.type
    if container.startswith("csv"):
        kind, values = pools.TEXT, tuple(None if value is None else str(value) for value in values)
    rule = chance.choice(["value"] * 16 + ["drop"] * 3 + ["refuse"])
    return Column(name, role, values, kind, rule=rule)


def _suited_to(container: str, some: tuple[Pool, ...]) -> list[Pool]:
    """The pools whose values a container can hold."""
    if container.startswith("csv"):
        return [pool for pool in some if not pa.types.is_nested(pool.type) and not pa.types.is_binary(pool.type)]
    if container in ("pandas", "polars"):
        return [
            pool for pool in some if "05:30" not in str(pool.type) and not str(pool.type).startswith(("list", "struct"))
        ]
    return list(some)


def _quasi(chance: Random, name: str, records: int, container: str) -> Column:
    numeric = chance.random() < 0.5
    some = pools.NUMBERS if numeric else pools.TEXTS + pools.TYPED
    pool = chance.choice(_suited_to(container, some))
    column = _column(chance, name, "quasi", pool, records, container)
    return replace(column, hierarchy=_hierarchy(chance, column, pool), kind="numeric" if _said(chance, pool) else None)


def _said(chance: Random, pool: Pool) -> bool:
    return pool.numeric and not pa.types.is_duration(pool.type) and chance.random() < 0.15


def _sensitive(chance: Random, name: str, records: int, container: str) -> Column:
    pool = chance.choice([pools.TEXTS[0], *chance.choices(_suited_to(container, pools.ALL), k=2)])
    column = _column(chance, name, "sensitive", pool, records, container)
    tree = _given(chance, column) if chance.random() < 0.3 else None
    return replace(column, hierarchy=tree, kind="numeric" if _said(chance, pool) else None)


def _plain(chance: Random, name: str, records: int, container: str) -> Column:
    pool = chance.choice(_suited_to(container, pools.ALL + pools.NESTED * 3))
    column = _column(chance, name, "plain", pool, records, container)
    return column if chance.random() < 0.1 else replace(column, rule="value")


def _identifier(chance: Random, name: str, number: int, records: int) -> Column:
    people = tuple(f"Quetzal person {number}-{chance.randrange(records)}" for _ in range(records))
    return Column(name, "identifier", tuple(None if chance.random() < 0.05 else person for person in people))


def _hierarchy(chance: Random, column: Column, pool: Pool) -> Given | str | None:
    kind = chance.choice(["automatic", "automatic", "builder", "given"])
    if kind == "given":
        return _given(chance, column)
    if kind == "builder":
        dated = pa.types.is_temporal(column.type) or any("19" in str(value) for value in pool.values)
        suited = "number" if pool.numeric else "date" if dated else "text"
        return chance.choice(pools.BUILDERS[suited])
    return None


def _given(chance: Random, column: Column) -> Given | None:
    """A random tree over the texts of a column, of two or three levels."""
    raw = {str(value).strip() for value in column.values if type(value) in (str, int)}
    texts = sorted(filter(None, raw))
    if not texts:
        return None
    chance.shuffle(texts)
    texts += [f"absent{place}" for place in range(chance.choice([0, 0, 2]))]
    groups = chance.randint(1, 3)
    paths = []
    for place, text in enumerate(texts):
        inner = f"group {place % groups}"
        paths.append((text, inner, "any"))
    if chance.random() < 0.4:
        paths = [(text, inner, f"wide {int(inner[-1]) // 2}", top) for text, inner, top in paths]
    return Given(tuple(paths), chance.choice(["csv", "json", "object"]))


def _suited(parameters: dict[str, Any], columns: list[Column]) -> dict[str, Any]:
    """An algorithm's example with the names of columns that this table has."""
    numeric = [c.name for c in columns if c.role == "quasi" and pa.types.is_integer(c.type) and "=" not in c.name]
    named = {
        "publish": lambda entries: tuple(
            f"{name}={entry.partition('=')[2]}" for name, entry in zip(numeric, entries, strict=False)
        ),
        "columns": lambda entries: _named(entries, columns, numeric),
    }  # fmt: skip
    return {key: named[key](value) if key in named else value for key, value in parameters.items()}


def _named(entries: Any, columns: list[Column], numeric: list[str]) -> Any:
    """Groups of columns, single columns, or a word for some of them."""
    if isinstance(entries, str):
        return entries
    return _sliced(entries, columns) if isinstance(entries[0], tuple) else tuple(numeric[: len(entries)])


def _sliced(entries: tuple[tuple[str, ...], ...], columns: list[Column]) -> tuple[tuple[str, ...], ...]:
    """As many groups of columns as an example has; the sensitive attribute stands alone or with some of the others
    wherever it does there."""
    quasi = [column.name for column in columns if column.role == "quasi"]
    value = next((column.name for column in columns if column.role == "sensitive"), quasi[0])
    found = [quasi[at :: len(entries)] for at in range(len(entries))]
    for names, entry in zip(found, entries, strict=True):
        names += [value] if "occupation" in entry else []
    return tuple(tuple(names) for names in found if names)


def _model(chance: Random, sensitive: list[Column]) -> tuple[str, dict[str, Any]]:
    kinds = {name: registry.find("models", name) for name in registry.names("models")}
    name = chance.choice([name for name, kind in kinds.items() if sensitive or kind.by_size])
    values = dict(chance.choice(registry.examples("models", name)))
    fields = {entry.name: entry for entry in dataclasses.fields(kinds[name])}
    chosen = values.pop("leaves", ()) or values.pop("values", ())
    for key, entry in fields.items():
        needed = key not in values and entry.default is dataclasses.MISSING
        if key in BOUNDS and (needed or chance.random() < 0.5):
            values[key] = chance.choice(BOUNDS[key])
    if sensitive and "column" in fields:
        values.pop("column", None)
        column = chance.choice(sensitive)
        required = name in ("delta-presence", "k-map") or bool(chosen)
        if "values" in fields and (required or chance.random() < 0.4):
            texts = sorted({str(value).strip() for value in column.values if value not in (None, "")})
            values["values"] = tuple(chance.sample(texts, min(len(texts), chance.choice([1, 1, 2]))))
            values["column"] = column.name
        elif len(sensitive) > 1 and chance.random() < 0.5:
            values["column"] = column.name
    return name, values
