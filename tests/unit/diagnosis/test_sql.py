"""The query behind an answer gives the answer, in DuckDB."""

from __future__ import annotations

import polars as pl
import pytest

import shoal
from shoal.errors import ParameterError

duckdb = pytest.importorskip("duckdb")
ODD = {"age": 'a"ge', "sex": "select", "race": "native country;--", "occupation": "o'ccupation"}
NOTIONS = [
    {"notion": "k", "k": 100},
    {"notion": "distinct-l", "l": 5},
    {"notion": "entropy-l", "l": 2.5},
    {"notion": "frequency-l", "l": 2},
    {"notion": "recursive-l", "l": 3, "c": 2.0},
    {"notion": "t", "t": 0.4},
    {"notion": "beta-likeness", "bound": 9.0},
]
QUASI = [ODD["age"], ODD["sex"], ODD["race"]]


@pytest.fixture(scope="module")
def people():
    frame = shoal.samples.adult(complete=False).head(3000).select("age", "sex", "race", "occupation").rename(ODD)
    return frame.with_columns(
        pl.when(pl.int_range(pl.len()) % 97 == 0).then(None).otherwise(pl.col(QUASI[2])).alias(QUASI[2])
    )


@pytest.fixture(scope="module")
def data(people):
    return shoal.read(people, quasi=QUASI, sensitive=[ODD["occupation"]])


def run(query, people):
    connection = duckdb.connect()
    connection.register("my people", people.to_arrow())
    return connection.execute(query).fetchall()


def without_bound(notion):
    return {key: value for key, value in notion.items() if key in ("notion", "c")}


@pytest.mark.parametrize("notion", NOTIONS, ids=lambda notion: notion["notion"])
@pytest.mark.smoke
def test_questions_about_one_set(notion, data, people):
    for given in (notion, {**notion, "delta": 0.05}, {**notion, "delta": 0.9}):
        found = shoal.ask(data, attributes=QUASI[:2], **given)
        assert run(shoal.sql(found, "my people"), people) == [(found.answer,)]
    found = shoal.ask(data, attributes=QUASI[:2], delta="ask", **notion)
    assert run(shoal.sql(found, "my people"), people)[0][0] == pytest.approx(found.answer)
    for given in ({}, {"delta": 0.05}):
        found = shoal.ask(data, attributes=QUASI[:2], **without_bound(notion), **given)
        assert run(shoal.sql(found, "my people"), people)[0][0] == pytest.approx(found.answer)


@pytest.mark.parametrize("notion", NOTIONS, ids=lambda notion: notion["notion"])
def test_the_curve(notion, data, people):
    found = shoal.ask(data, attributes=QUASI[1:], delta="ask", **without_bound(notion))
    rows = sorted(run(shoal.sql(found, "my people"), people), key=lambda row: row[1])
    merged = [row for number, row in enumerate(rows) if number == 0 or abs(row[0] - rows[number - 1][0]) > 1e-9]
    assert len(merged) == len(found.answer)
    for row, step in zip(merged, found.answer, strict=True):
        assert tuple(row) == pytest.approx(step, abs=1e-9)


@pytest.mark.parametrize("notion", NOTIONS, ids=lambda notion: notion["notion"])
def test_both_borders_are_proved(notion, data, people):
    found = shoal.ask(data, **notion)
    rows = dict(run(shoal.sql(found, "my people"), people))
    bound, less = found.bound, not found.model.more_is_safer
    good = {name for name, level in rows.items() if (level <= bound if less else level >= bound)}
    assert good == {", ".join(names) for names in found.positive_border}
    assert rows.keys() - good == {", ".join(names) for names in found.negative_border}
    found = shoal.ask(data, delta=0.1, **notion)
    rows = run(shoal.sql(found, "my people"), people)
    assert {name for name, lost, budget in rows if lost <= budget} == {
        ", ".join(names) for names in found.positive_border
    }


@pytest.mark.parametrize("given", [{}, {"delta": 0.1}, {"k": 3, "delta": "ask"}])
def test_every_set(given, data, people):
    found = shoal.ask(data, **given)
    rows = dict(run(shoal.sql(found, "my people"), people))
    assert len(rows) == 7
    for names, value in found.answer.items():
        assert rows[", ".join(names)] == pytest.approx(value)


@pytest.mark.parametrize(
    ("dialect", "quoted"),
    [("mysql", "`select`"), ("postgres", '"select"'), ("spark", "`select`"), ("tsql", "[select]")],
)
def test_dialects_quote_odd_names(dialect, quoted, data):
    assert quoted in shoal.sql(shoal.ask(data, k=3), "my people", dialect=dialect)


def test_what_has_no_query(data):
    with pytest.raises(ParameterError, match="no such SQL dialect"):
        shoal.sql(shoal.ask(data, k=3), dialect="esperanto")
    with pytest.raises(ParameterError, match="no SQL"):
        shoal.sql(shoal.ask(data, t=0.5, distance="ordered"))


@pytest.mark.parametrize("notion", NOTIONS[1:], ids=lambda notion: notion["notion"])
def test_strict_schemas_look_at_the_parts_of_classes(notion, people):
    """The level of a class is that of its worst part; what is lost is the whole class."""
    strict = shoal.read(people, quasi=QUASI[:2], sensitive=[ODD["occupation"], QUASI[2]], protect_jointly=True)
    differs = []
    for given in (without_bound(notion), {**notion, "delta": "ask"}):
        found = shoal.ask(strict, attributes=QUASI[1:2], sensitive=ODD["occupation"], **given)
        assert found.contexts == (QUASI[2],)
        assert run(shoal.sql(found, "my people"), people)[0][0] == pytest.approx(found.answer)
        plain = shoal.read(people, quasi=QUASI[:2], sensitive=[ODD["occupation"]])
        differs.append(found.answer != shoal.ask(plain, attributes=QUASI[1:2], **given).answer)
    assert any(differs)


@pytest.mark.parametrize(
    "model",
    [
        shoal.models.AlphaKAnonymity(alpha=0.5, k=2),
        shoal.models.BetaLikeness(beta=1, enhanced=True),
        shoal.models.KMap(k=2, leaves=(0,)),
    ],
)
def test_models_without_sql_say_so(model, data):
    with pytest.raises(ParameterError, match="has no SQL"):
        shoal.sql(shoal.ask(data, notion=model, attributes=QUASI[:1]))
