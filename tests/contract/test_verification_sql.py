"""The queries that `verify --sql` prints say what the verifier says, for every model, form and database at hand."""

from __future__ import annotations

import math
import sqlite3
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from counts import LONG
from making import names

import shoal
from shoal import api, manifest, registry
from shoal.api.opening import as_published
from shoal.core.policy import Policy
from shoal.diagnosis.published_sql import name_of, queries
from shoal.errors import NotDefined, ParameterError

duckdb = pytest.importorskip("duckdb")

FORMS = {
    "generalized": "mondrian", "left out": "optimal", "two-table": "anatomy", "multisets": "multiset",
    "sliced": "slicing:columns=age+sex|occupation+race",
}  # fmt: skip


def people(count: int = 300) -> pl.DataFrame:
    table = shoal.samples.adult(complete=False).head(count).select("age", "sex", "race", "occupation", "workclass")
    odd = pl.when(pl.col("occupation") == "Sales").then(pl.lit('o\'Sales \\ "x"')).otherwise(pl.col("occupation"))
    return table.with_columns(odd.alias("occupation"), (pl.int_range(pl.len()) // 2).alias("who"))


def in_databases(release):
    """The published tables in each database, columns as text, as a recipient would load them."""
    connections = {"duckdb": duckdb.connect(config={"threads": 1}), "sqlite": sqlite3.connect(":memory:")}
    for part, frame in release.frames.items():
        texts = frame.with_columns(pl.all().cast(pl.String))
        name = name_of("my release", part)
        columns = ", ".join(f'"{column}" {"INT" if column == "count" else "TEXT"}' for column in texts.columns)
        for connection in connections.values():
            connection.execute(f'CREATE TABLE "{name}" ({columns})')
        connections["duckdb"].register("loaded", texts.to_arrow())
        connections["duckdb"].execute(f'INSERT INTO "{name}" SELECT * FROM loaded')
        values = ", ".join("?" * texts.width)
        connections["sqlite"].executemany(f'INSERT INTO "{name}" VALUES ({values})', texts.rows())
    return connections


def expected(release, model, column):
    """The worst level and the verdict, by the model itself."""
    one = replace(model, column=column) if column is not None and model.column is None else model
    classes = release.judged(one)
    levels = one.levels(classes)
    floor = getattr(one, "floor", 1)
    worst = one.measure(classes).value if one.margins else one.worst(levels)
    return worst, bool(one.keeps(levels).all()), classes.headcounts.min() < floor


def check(release, models, databases=None):
    """Every model that is defined on the release has a query that agrees with it; returns how many did."""
    asked = replace(release, policy=Policy(models=models))
    agreed = 0
    for dialect, connection in (databases or in_databases(release)).items():
        for query in queries(asked, "my release", dialect):
            if query.sql is None and query.model.sql() is None:
                continue  # a model of another package need not have any
            if query.sql is None:
                with pytest.raises(NotDefined):
                    release.judged(query.model)
                continue
            level, bound, holds = map(float, connection.execute(query.sql).fetchone())
            wanted, kept, too_small = expected(release, query.model, query.column)
            assert float(bound) == query.model.bound
            assert bool(holds) == kept, (query.model, dialect)
            if not too_small:
                level = math.copysign(math.inf, level) if abs(level) >= 1e300 else level
                assert level == pytest.approx(wanted, rel=1e-9, abs=1e-12), (query.model, dialect)
            agreed += 1
    return agreed


def every_model():
    """Every example of every model that the registry knows, about the column of the table here."""
    for name in names("models"):
        for example in registry.examples("models", name):
            given = {key: value for key, value in example.items() if key != "column"}
            if "values" in given:
                given["values"] = ('o\'Sales \\ "x"', "Tech-support")
            yield registry.make("models", name, given)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A release of each form, written and read as a recipient does."""
    table = people().drop("workclass").with_columns(who=2.5 + pl.col("who") % 5)
    data = shoal.read(table, quasi=["age", "sex", "race"], sensitive=["occupation"], weight="who")
    found = {}
    for form, algorithm in FORMS.items():
        path = tmp_path_factory.mktemp("sql") / "release.csv"
        model = "k-anonymity:k=2" if form in ("generalized", "left out", "multisets") else "frequency-l-diversity:l=2"
        method = (
            {"name": "slicing", "columns": [["age", "sex"], ["race", "occupation"]]} if form == "sliced" else algorithm
        )
        release = shoal.anonymize(data, model, "t-closeness:t=0.95", algorithm=method,
                                  suppression=0.3 if form == "left out" else 0.0, seed=3,
                                  publish_weights="means" if form in ("generalized", "left out") else None)  # fmt: skip
        release.write(path)
        found[form] = path, data
    return found


@pytest.fixture(scope="module")
def loaded(written):
    """The releases as their files say them, and the databases into which a recipient loaded them."""
    releases = {form: as_published(path, manifest.load(path), registry.engine()) for form, (path, _) in written.items()}
    return {form: (release, in_databases(release)) for form, release in releases.items()}


MODELS = list(every_model())
IN_TURNS = ("duckdb", "sqlite")
"""Every day a model's query for a form is asked of one database, so that each model meets both; of both in the long
suite. To write a query takes longer than to run it."""


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("place", range(len(MODELS)), ids=[registry.name_of(model) for model in MODELS])
def test_every_model_on_every_form(form, place, written, loaded):
    model = MODELS[place]
    _, data = written[form]
    release, databases = loaded[form]
    assert bool(release.suppressed) == (form == "left out")
    told = model.concealed(data.schema)
    turn = IN_TURNS[(place + list(FORMS).index(form)) % 2]
    chosen = databases if LONG else {turn: databases[turn]}
    agreed = check(release, (told,), chosen)
    try:
        release.judged(told)
    except NotDefined:
        assert agreed == 0
    else:
        shipped = type(model).__module__.startswith("shoal.")
        assert agreed == len(chosen) or (not shipped and model.sql() is None), "there is a verdict, and no query"


@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical"])
def test_distances_along_a_hierarchy(distance, tmp_path):
    hierarchies = shoal.samples.hierarchies("adult")
    data = shoal.read(people().select("age", "sex", "workclass"), quasi=["age", "sex"], sensitive=["workclass"],
                      hierarchies=hierarchies)  # fmt: skip
    path = tmp_path / "release.csv"
    shoal.anonymize(data, "k-anonymity:k=3", "t-closeness:t=0.99", algorithm="optimal", suppression=0.1, seed=1).write(
        path
    )
    release = as_published(path, manifest.load(path), registry.engine())
    assert check(release, (shoal.TCloseness(t=0.3, distance=distance),)) == 2


def test_several_attributes_strictly(tmp_path):
    table = people().select("age", "sex", "occupation", "workclass")
    for strict in (False, True):
        data = shoal.read(table, quasi=["age", "sex"], sensitive=["occupation", "workclass"], protect_jointly=strict)
        path = tmp_path / "release.csv"
        shoal.anonymize(data, "k-anonymity:k=12", algorithm="mondrian", seed=1).write(path)
        release = as_published(path, manifest.load(path), registry.engine())
        models = (
            shoal.DistinctLDiversity(l=2),
            shoal.EntropyLDiversity(l=2),
            shoal.models.PSensitiveKAnonymity(p=1, k=13),
            shoal.models.AlphaKAnonymity(alpha=0.9, k=12),
            shoal.models.DeltaDisclosure(delta=3, strict=False),
        )
        assert check(release, models) == 2 * 2 * len(models)


def test_people(tmp_path):
    table = people().select("age", "sex", "occupation", "who")
    data = shoal.read(table, quasi=["age", "sex"], sensitive=["occupation"], person="who")
    path = tmp_path / "release.csv"
    shoal.anonymize(data, "k-anonymity:k=4", "t-closeness:t=0.9", algorithm="mondrian", seed=1,
                    pseudonyms=shoal.Pseudonyms()).write(path)  # fmt: skip
    release = as_published(path, manifest.load(path), registry.engine())
    models = tuple(model for model in every_model() if model.counts_people and not getattr(model, "values", ()))
    models = tuple(model for model in models if not getattr(model, "leaves", ()) and not model.counts_population)
    assert check(release, models) == 2 * len(models) > 20
    shoal.anonymize(data, "k-anonymity:k=4", algorithm="mondrian", seed=1).write(path)
    [query] = api.verification_sql(path)
    assert query.sql is None and "without the column 'who'" in query.reason


def test_every_dialect_reads_its_queries(written):
    import sqlglot

    path, _ = written["left out"]
    others = {"dax", "prql"}  # languages of their own, not SQL
    for dialect in sorted({str(each.value) for each in sqlglot.Dialects if each.value} - others):
        for query in api.verification_sql(path, dialect):
            assert sqlglot.parse_one(query.sql, read=dialect), dialect
    with pytest.raises(ParameterError, match="no such SQL dialect"):
        api.verification_sql(path, "sequel")


def test_a_model_without_sql_says_so(written):
    from dataclasses import dataclass

    @dataclass(frozen=True, kw_only=True)
    class Silent(shoal.KAnonymity):
        def sql(self):
            return None

    path, _ = written["generalized"]
    release = as_published(path, manifest.load(path), registry.engine())
    [query] = queries(replace(release, policy=Policy(models=(Silent(k=2),))), "release", "duckdb")
    assert query.sql is None and query.reason == "the model has no SQL"


def test_a_changed_table_is_seen(written, tmp_path: Path):
    path, _ = written["generalized"]
    [query, *_] = api.verification_sql(path)
    frame = pl.read_csv(path, infer_schema=False)
    for table, holds in ((frame, 1), (frame.tail(-1).vstack(frame.head(1).with_columns(pl.lit("7").alias("age"))), 0)):
        connection = duckdb.connect()
        connection.register("release", table.to_arrow())
        assert connection.execute(query.sql).fetchone()[2] == holds
