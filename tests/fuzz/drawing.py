"""Draws a case from a number: every algorithm with its examples, models, shapes and odd values in turn."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from functools import cache, partial
from random import Random
from typing import Any

import pyarrow as pa
from tests.fuzz import pools
from tests.fuzz.case import FRAMES, Case, Column, Given, Step
from tests.fuzz.definitions import DEFINITIONS, OF_OWNERS, Group
from tests.fuzz.lexicon import Lexicon
from tests.fuzz.meaning import arrow_text, bare, moment, number
from tests.fuzz.pools import Pool

from shoal import job, registry
from shoal.core.contracts.algorithm import Algorithm

RECORDS = (1, 2, 4, 8, 8, 13, 13, 20, 20, 20, 30, 30, 45, 60)
LARGE = 200
"""Records of one case in a hundred; small tables find what large ones do, and a hundred of them take a few seconds."""
BOUNDS: dict[str, tuple[Any, ...]] = {
    "k": (1, 2, 2, 3, 5), "l": (1, 2, 2, 3), "c": (0.5, 1.5, 3.0), "t": (0.2, 0.5, 0.8, 1.0), "alpha": (0.4, 0.7, 1.0),
    "p": (1, 2, 3), "beta": (0.5, 2.0, 9.0), "delta": (0.1, 0.5, 1.0), "epsilon": (0.0, 0.01), "delta_min": (0.0, 0.05),
    "delta_max": (0.5, 0.8, 1.0), "rho1": (0.2, 0.35), "rho2": (0.5, 0.8, 0.95), "enhanced": (False, True),
    "strict": (True, False), "distance": ("equal", "ordered", "hierarchical"),
}  # fmt: skip
"""What the parameters of models are drawn from, by their names; others are as the model's own examples have them."""


ENDINGS = ("csv", "csv.gz", "tsv", "parquet", "arrow")
SERIES = 0.12
"""The share of the cases that are series of releases."""
APART = ("anatomy", "bucketization", "slicing", "m-invariance")
VARIED = ("l-member", "bucket-clustering", "m-invariance", "dependency-safe", "anatomy")
"""Algorithms that must be told how many different values are wanted."""
ONE_SENSITIVE = (*APART, *VARIED, "overlapping-slicing")
"""Algorithms that take one sensitive attribute."""
IN_SERIES = (
    "coarsening",
    "coarsening",
    "mondrian",
    "mondrian",
    "optimal",
    "k-member",
    "anatomy",
    "slicing",
    "multiset",
)
"""Algorithms of a series, those that need an earlier release first."""
VARIETIES: dict[str, dict[str, Any]] = {
    "distinct-l-diversity": {},
    "frequency-l-diversity": {},
    "entropy-l-diversity": {},
    "recursive-l-diversity": {"c": 3.0},
}


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
    if chance.random() < SERIES:
        return series(number, chance)
    container = chance.choice(["csv"] * 4 + ["csv.gz", "parquet", "parquet", "arrow", *FRAMES])
    records = LARGE if chance.random() < 0.01 else chance.choice(RECORDS)
    algorithm, parameters = algorithms()[number % len(algorithms())]
    kind = registry.find("algorithms", algorithm)
    names = chance.sample(pools.NAMES, len(pools.NAMES))
    if algorithm in APART and chance.random() < 0.95:
        names = [name for name in names if name not in ("group", "count")]
    columns = [_quasi(chance, names.pop(), records, container) for _ in range(chance.choice([1, 2, 2, 3]))]
    if not kind.claims and chance.random() < 0.85:
        columns[0] = _suited_quasi(chance, algorithm, columns[0].name, records, container)
    alone = algorithm in ONE_SENSITIVE and chance.random() < 0.9
    sensitive = 1 if alone else chance.choice([0, 1, 1, 1, 2, 2])
    columns += [_sensitive(chance, names.pop(), records, container, varied=alone) for _ in range(sensitive)]
    plain = [0, 1] if algorithm == "cell-suppression" else [0, 0, 1]
    columns += [_plain(chance, names.pop(), records, container) for _ in range(chance.choice(plain))]
    if chance.random() < (0.3 if kind.counts_people else 0.02):
        columns = _of_people(chance, columns, names.pop(), number)
    if chance.random() < (0.2 if kind.counts_people else 0.03):
        columns.append(_household(chance, columns, names.pop(), number))
    if chance.random() < (0.2 if kind.counts_people else 0.05):
        columns.append(_weight(chance, columns, names.pop(), container))
    if chance.random() < 0.3:
        columns.append(_identifier(chance, names.pop(), number, records))
    traced = None
    if chance.random() < 0.85:
        traced = "row"
        columns.append(_token(number, records))
    elif records > 2:  # duplicates, which nothing tells apart
        rows = [chance.randrange(records) for _ in range(records)]
        columns = [column.at(rows) for column in columns]
    chance.shuffle(columns)
    parameters = _suited(algorithm, parameters, columns)
    claims = job.plugin("algorithms", {"name": algorithm, **parameters}).claims
    count = chance.choice([1, 1, 2]) if claims else 0
    command = container not in FRAMES and chance.random() < 0.07
    engine = "duckdb" if chance.random() < 0.07 else "embedded"
    case = replace(
        _plainly(number, chance), columns=tuple(columns), container=container, delimiter=chance.choice(",,;\t|"),
        told=chance.random() < 0.7, missing=chance.choice([(), (), ("NA", "?"), ("b",)]), ending=chance.choice(ENDINGS),
        algorithm=(algorithm, parameters),
        suppression=chance.choice([0.1, 0.5, 1.0] if algorithm in (*VARIED, "sampling") else [0.0, 0.0, 0.1, 0.1, 1.0]),
        objective=chance.choice(objectives()) if chance.random() < 0.2 else None,
        strict=chance.random() < 0.5, pseudonyms=chance.choice([None, "keyed", "random"]),
        command=command, occupied=chance.random() < 0.3, traced=traced,
        encoding=chance.choice(["utf-8"] * 6 + ["utf-8-sig", "utf-16"]), line=chance.choice(["\n", "\n", "\r\n"]),
        engine=engine, repeated=command or engine != "embedded" or chance.random() < 0.25,
        questions=chance.choice([0, 0, 1, 3]),
    )  # fmt: skip
    if case.weight is not None and chance.random() < 0.4:
        case = replace(case, weights=chance.choice(["means", "means", "scaled", "means:5", "scaled:0.5"]))
    models = [_likely_model(chance, case, tuple(columns)) for _ in range(count)]
    if algorithm in VARIED and alone:
        wanted = "inference-l" if algorithm == "dependency-safe" else chance.choice(sorted(VARIETIES))
        models[0] = (wanted, {"l": 2, **VARIETIES.get(wanted, {})})
    return replace(case, models=tuple(models))


def _plainly(number: int, chance: Random) -> Case:
    """A case without columns, as plain as it gets."""
    return Case(
        number=number, columns=(), container="csv", delimiter=",", told=True, missing=(), ending="csv",
        algorithm=("mondrian", {}), models=(), suppression=0.0, objective=None, strict=False,
        seed=chance.randrange(2**31), pseudonyms=None, command=False, occupied=False, traced=None, encoding="utf-8",
        line="\n", engine="embedded", repeated=False, questions=0,
    )  # fmt: skip


def series(number: int, chance: Random) -> Case:
    """A series of up to three releases of people who come and leave, small enough to count every world."""
    records = chance.randint(5, 14)
    container = chance.choice(["csv", "csv", "parquet"])
    some = (
        pools.TEXTS[0],
        pools.TEXTS[0],
        pools.TEXTS[3],
        *pools.SPELLED[:2],
        pools.NUMBERS[0],
        *pools.MOMENTS,
        *pools.TYPED,
    )
    pool = chance.choice(_suited_to(container, some))
    quasi = [
        _column(chance, name, "quasi", chance.choice(pools.SIMPLE), records, "csv")
        for name in ("age", "town")[: chance.choice([1, 2, 2])]
    ]
    sensitive = [_column(chance, "ill", "sensitive", pool, records, container, balanced=chance.random() < 0.7)]
    if chance.random() < 0.15:
        sensitive.append(_column(chance, "job", "sensitive", pools.TEXTS[2], records, "csv", balanced=True))
    quasi, sensitive = ([replace(each, rule="value") for each in some] for some in (quasi, sensitive))
    columns = [*quasi, *sensitive, _token(number, records)]
    who = chance.random()
    if who < 0.75:
        columns.append(Column("name", "identifier", tuple(f"Quetzal person {number}-{row}." for row in range(records))))
    elif who < 0.9:
        columns = _of_people(chance, columns, "visitor", number)
    case = replace(
        _plainly(number, chance), columns=tuple(columns), traced="row", container=container,
        pseudonyms=chance.choice([None, None, "keyed"]),
        command=chance.random() < 0.05, engine="duckdb" if chance.random() < 0.05 else "embedded",
        ending=chance.choice(["csv", "parquet"]), questions=chance.choice([0, 0, 1]),
    )  # fmt: skip
    invariant = chance.random() < 0.3
    rows, steps = set(range(records)), list[Step]()
    for _ in range(3):
        if chance.random() < 0.5:
            rows = {row for row in range(records) if chance.random() < (0.9 if row in rows else 0.5)}
        algorithm = "m-invariance" if invariant else chance.choice(IN_SERIES if steps else IN_SERIES[2:])
        step = Step(
            tuple(sorted(rows)), (algorithm, {}), _promises(chance, algorithm), chance.choice([0.0, 0.3, 0.6]),
            chance.randrange(2**31),
        )  # fmt: skip
        steps.append(replace(steps[-1], rows=step.rows) if steps and chance.random() < 0.2 else step)
    return replace(case, steps=tuple(steps))


def _promises(chance: Random, algorithm: str) -> tuple[tuple[str, dict[str, Any]], ...]:
    """What a release of a series promises: how many people somebody hides among, or how many values there are."""
    k = ("k-anonymity", {"k": chance.choice([2, 2, 2, 3])})
    name = "frequency-l-diversity" if algorithm == "m-invariance" else chance.choice(sorted(VARIETIES))
    varied: tuple[str, dict[str, Any]] = (name, {"l": chance.choice([2, 2, 2, 3]), **VARIETIES[name]})
    if algorithm in APART:
        return (varied,)
    return chance.choice([(k,), (varied,), (k, varied)])


def _likely_model(chance: Random, case: Case, columns: tuple[Column, ...]) -> tuple[str, dict[str, Any]]:
    """A model that mostly holds for the table as one class, so that most cases publish something."""
    lexicons = [Lexicon(column, case) for column in columns if column.role == "sensitive"]
    names = None if case.person is None else case.person.values
    wholes = {lexicon.column.name: Group(lexicon.values, names) for lexicon in lexicons}
    identity = case.algorithm[0] not in APART or chance.random() < 0.1
    for _ in range(8):
        counted = [name for name, role in OF_OWNERS.items() if case.named(role)]
        name, given = _model(chance, [lexicon.column for lexicon in lexicons], counted, identity=identity)
        about = [lexicon for lexicon in lexicons if given.get("column") in (None, lexicon.column.name)]
        if name not in DEFINITIONS:
            quasi = sum(column.role == "quasi" for column in columns)
            likely = (
                case.records >= max((given.get("k", 1), *given.get("smaller", ()))) and given.get("size", 1) <= quasi
            )
        else:
            likely = all(
                all(map(lexicon.has, given.get("values", ())))
                and DEFINITIONS[name].keeps(
                    wholes[lexicon.column.name],
                    lexicon.attribute(wholes[lexicon.column.name], given.get("values", ())),
                    given,
                )
                for lexicon in about
            )
        if case.person is not None:
            likely &= registry.find("models", name).counts_people
        if likely or chance.random() < 0.1:
            break
    return name, given


def _balanced(chance: Random, pool: Pool, records: int) -> tuple[Any, ...]:
    """Several values of a pool, all equally often as far as that goes."""
    values = chance.sample(pool.values, chance.randint(min(3, len(pool.values)), len(pool.values)))
    found = [values[place % len(values)] for place in range(records)]
    chance.shuffle(found)
    return tuple(found)


def _values(chance: Random, pool: Pool, records: int) -> tuple[Any, ...]:
    """Values of a pool: even, skewed, or almost all the same."""
    values = chance.sample(pool.values, chance.randint(1, len(pool.values)))
    shape = chance.choice(["even", "skewed", "lonely"])
    weights = {
        "even": [1.0] * len(values), "skewed": [0.5**place for place in range(min(len(values), 40))],
        "lonely": [50.0] + [1.0] * (len(values) - 1),
    }[shape]  # fmt: skip
    return tuple(chance.choices(values[: len(weights)], weights, k=records))


def _column(
    chance: Random, name: str, role: str, pool: Pool, records: int, container: str, *, balanced: bool = False
) -> Column:
    values = (_balanced if balanced else _values)(chance, pool, records)
    kind = pool.type
    if container.startswith("csv"):
        kind, values = pools.TEXT, tuple(None if value is None else str(value) for value in values)
    rule = chance.choice(["value"] * 16 + ["drop"] * 3 + ["refuse"])
    return Column(name, role, values, kind, rule=rule, family=pools.family(pool))


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
    some = chance.choice([pools.NUMBERS, pools.NUMBERS, pools.TEXTS + pools.TYPED, pools.SPELLED + pools.MOMENTS])
    pool = chance.choice(_suited_to(container, some))
    column = _column(chance, name, "quasi", pool, records, container)
    return replace(column, hierarchy=_hierarchy(chance, column, pool), kind="numeric" if _said(chance, pool) else None)


def _suited_quasi(chance: Random, algorithm: str, name: str, records: int, container: str) -> Column:
    """A column that a perturbation can change: of numbers, or of categories."""
    some = (
        pools.TEXTS[:4]
        if algorithm in ("pram", "targeted-swapping")
        else pools.NUMBERS[:5] + pools.NUMBERS[10:12] + pools.NUMBERS[14:17]
    )
    pool = chance.choice(_suited_to(container, some))
    column = _column(chance, name, "quasi", pool, records, container, balanced=chance.random() < 0.7)
    return replace(column, rule="value")


def _said(chance: Random, pool: Pool) -> bool:
    return pool.numeric and not pa.types.is_duration(pool.type) and chance.random() < 0.15


def _sensitive(chance: Random, name: str, records: int, container: str, *, varied: bool) -> Column:
    """A sensitive column; a `varied` one has several values, mostly."""
    pool = chance.choice([pools.TEXTS[0], *chance.choices(_suited_to(container, pools.ALL), k=2)])
    column = _column(chance, name, "sensitive", pool, records, container, balanced=varied and chance.random() < 0.8)
    tree = _given(chance, column) if chance.random() < 0.3 else None
    return replace(column, hierarchy=tree, kind="numeric" if _said(chance, pool) else None)


def _plain(chance: Random, name: str, records: int, container: str) -> Column:
    pool = chance.choice(_suited_to(container, pools.ALL + pools.NESTED * 3))
    column = _column(chance, name, "plain", pool, records, container)
    return column if chance.random() < 0.1 else replace(column, rule="value")


def _identifier(chance: Random, name: str, number: int, records: int) -> Column:
    people = tuple(f"Quetzal person {number}-{chance.randrange(records)}." for _ in range(records))
    return Column(name, "identifier", tuple(None if chance.random() < 0.05 else person for person in people))


def _token(number: int, records: int) -> Column:
    """A plain column by which each published row is known again."""
    return Column("row", "plain", tuple(f"Quetzal{number}-{row}." for row in range(records)))


def _of_people(chance: Random, columns: list[Column], name: str, number: int) -> list[Column]:
    """The same records as those of fewer people; sometimes all that outsiders know of a person is always the same."""
    records = len(columns[0].values)
    count = max(1, round(records * chance.choice([0.3, 0.6, 0.9, 1.0])))
    owners = [chance.randrange(count) for _ in range(records)]
    if chance.random() < 0.5:
        firsts = [owners.index(owner) for owner in owners]
        columns = [column.at(firsts) if column.role == "quasi" else column for column in columns]
    return [*columns, Column(name, "person", tuple(f"Quetzal visitor {number}-{owner}." for owner in owners))]


def _household(chance: Random, columns: list[Column], name: str, number: int) -> Column:
    """Where people live; sometimes what outsiders know is the same for all of a household, rarely somebody has two."""
    records = len(columns[0].values)
    count = max(1, round(records * chance.choice([0.2, 0.4, 0.7, 1.0])))
    person = next((column.values for column in columns if column.role == "person"), range(records))
    homes = {each: chance.randrange(count) for each in dict.fromkeys(person)}
    texts = [f"Quetzal home {number}-{homes[each]}." for each in person]
    if chance.random() < 0.03:
        texts[chance.randrange(records)] = f"Quetzal home {number}-elsewhere."
    return Column(name, "household", tuple(texts))


def _weight(chance: Random, columns: list[Column], name: str, container: str) -> Column:
    """How many people each record stands for, the same in all records of a person; rarely no weight at all."""
    records = len(columns[0].values)
    person = next((column.values for column in columns if column.role == "person"), range(records))
    pool = chance.choice([(1.0,), (1.0, 2.0, 3.5), (0.25, 17.0, 180.5, 4000.0), tuple(map(float, range(1, 40)))])
    each = {who: chance.choice(pool) for who in dict.fromkeys(person)}
    values: list[Any] = [each[who] for who in person]
    if chance.random() < 0.05:
        values[chance.randrange(records)] = chance.choice([0.0, -2.0, None])
    if container.startswith("csv"):
        return Column(name, "weight", tuple(None if value is None else str(value) for value in values))
    return Column(name, "weight", tuple(values), pa.float64())


def _hierarchy(chance: Random, column: Column, pool: Pool) -> Given | str | None:
    kind = chance.choice(["automatic", "automatic", "builder", "given"])
    if kind == "given":
        return _given(chance, column)
    if kind == "builder":
        dated = (
            pa.types.is_temporal(column.type)
            or pool in pools.MOMENTS
            or any("19" in str(value) for value in pool.values)
        )
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
    paths, places = [], dict[Any, int]()
    alike = chance.random() < 0.9  # else a value may have two places, which is refused
    for text in texts:
        meant = number(bare(text)) or moment(text, pools.TEXT) or bare(text)
        place = places.setdefault(meant if alike else text, len(places))
        paths.append((text, f"group {place % groups}", "any"))
    if chance.random() < 0.4:
        paths = [(text, inner, f"wide {int(inner[-1]) // 2}", top) for text, inner, top in paths]
    return Given(tuple(paths), chance.choice(["csv", "json", "object"]))


def _suited(algorithm: str, parameters: dict[str, Any], columns: list[Column]) -> dict[str, Any]:
    """An algorithm's example with the names of columns that this table has."""
    numeric = [c.name for c in columns if c.role == "quasi" and pa.types.is_integer(c.type) and "=" not in c.name]
    quasi = [column.name for column in columns if column.role == "quasi"]
    first, *others = [name for name in quasi if "=" not in name] or [""]
    ghosts = [c.name for c in columns if c.role == "plain" and c.name != "row" and not pa.types.is_nested(c.type)]

    def by_column(entries: Any) -> Any:
        return tuple(f"{name}={entry.partition('=')[2]}" for name, entry in zip(numeric, entries, strict=False))

    named = {
        "publish": by_column,
        "top": by_column,
        "geography": lambda entries: tuple(quasi[: len(entries)]),
        "strata": lambda entries: tuple(quasi[-len(entries) :]),
        "columns": lambda entries: _named(entries, columns, numeric),
        "importance": by_column,
        "linked": lambda entries: tuple(f"{first}={name}" for name, _ in zip(others, entries, strict=False)),
    }  # fmt: skip
    found = {key: named[key](value) if key in named else value for key, value in parameters.items()}
    if algorithm == "cell-suppression" and ghosts:
        found["linked"] = (*found.get("linked", ()), *(f"{name}={ghosts[0]}" for name in quasi if "=" not in name))
    if algorithm == "kactus":
        found["target"] = next((c.name for c in columns if c.role in ("sensitive", "plain")), columns[0].name)
    return found


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


def _model(
    chance: Random, sensitive: list[Column], counted: list[str], *, identity: bool = True
) -> tuple[str, dict[str, Any]]:
    """A model of some sensitive attributes, or one that counts households or weights; of those about telling people
    apart only where `identity` says so."""
    names = [name for name in registry.names("models") if name not in OF_OWNERS]
    names += counted * 4
    kinds = {name: registry.find("models", name) for name in names}
    suited = [
        name
        for name in names
        if (sensitive or not kinds[name].needs_sensitive) and (identity or not kinds[name].identity)
    ]
    name = chance.choice(suited or ["k-anonymity"])
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
            # A time of a zone is spelled with it: by the clock alone it may be one of two.
            zoned = pa.types.is_timestamp(column.type) and column.type.tz is not None
            spell = partial(arrow_text, kind=column.type) if zoned else str
            texts = sorted({spell(value).strip() for value in column.values if value not in (None, "")})
            values["values"] = tuple(chance.sample(texts, min(len(texts), chance.choice([1, 1, 2]))))
            values["column"] = column.name
        elif len(sensitive) > 1 and chance.random() < 0.5:
            values["column"] = column.name
    return name, values
