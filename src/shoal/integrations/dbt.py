"""The macros of the dbt package, made from the queries that `shoal verify --sql` prints.

A release with one column of each role is asked for the query of a model; the names of its columns become arguments of a
macro. Instead of a verdict, the query counts the people in groups that break the model. `make docs` writes the macros.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from shoal import registry
from shoal.api.anonymizing import anonymize
from shoal.api.reading import read
from shoal.core.contracts.model import SLACK, Model
from shoal.core.policy import Policy
from shoal.core.pseudonyms import Pseudonyms
from shoal.core.release import Release
from shoal.diagnosis.published_sql import queries
from shoal.diagnosis.sql import written

DIALECTS = ("duckdb", "postgres", "snowflake", "bigquery", "spark")
"""Adapters of dbt, by names that sqlglot has for their dialects too. Redshift uses the macros of PostgreSQL, and
Databricks those of Spark."""

MODELS: dict[str, dict[str, Any]] = {
    "k-anonymity": {"k": 2},
    **{f"{notion}-l-diversity": {"l": 2} for notion in ("distinct", "entropy", "frequency")},
    "t-closeness": {"t": 0.5},
}
"""The models that have a macro, with bounds that give way to an argument."""

PLACES = {
    "quasi_columns": "{{ quasi | join(', ') }}", "sensitive_column": "{{ sensitive }}",
    "person_column": "{{ person }}", "tested_table": "{{ table }}", "worst_allowed": "{{ worst }}",
    "asked_bound": "{{ bound }}",
}  # fmt: skip
"""Names in a query, and what stands in the macro instead."""

RESULT = ("exposed_people", "people", "exposed_groups", "all_groups", "worst_level", "bound")
"""What a macro gives, in one row; none where everybody is safe."""

HEADER = "{# Made from the models' SQL by `make docs`. #}\n"


def macros() -> dict[str, str]:
    """Every file of macros by its name."""
    made = {name: registry.make("models", name, bound) for name, bound in MODELS.items()}
    releases = (_release(person=False), _release(person=True))
    asked = {name: [_query(release, model) for release in releases] for name, model in made.items()}
    return {
        "tests.sql": HEADER + TESTS.replace("SLACK", repr(SLACK)) + "".join(map(_dispatched, MODELS)),
        **{f"{dialect}.sql": HEADER + _dialect(dialect, asked) for dialect in DIALECTS},
    }


def _release(*, person: bool) -> Release:
    """A release with one column of each role, named as what it stands for."""
    import pyarrow as pa

    columns = {"quasi_columns": ["x"] * 4, "sensitive_column": ["y", "z"] * 2}
    if person:
        columns["person_column"] = list("abcd")
    data = read(
        pa.table(columns), quasi=["quasi_columns"], sensitive=["sensitive_column"],
        person="person_column" if person else None,
    )  # fmt: skip
    pseudonyms = Pseudonyms() if person else None
    return anonymize(data, "k-anonymity:k=2", algorithm="mondrian", pseudonyms=pseudonyms)


def _query(release: Release, model: Model) -> str:
    """The query of a model, which counts the people in groups that break it."""
    import sqlglot
    from sqlglot import exp

    (query,) = queries(replace(release, policy=Policy(models=(model,))), "tested_table", "duckdb")
    steps = sqlglot.parse_one(query.sql or "", read="duckdb").find_all(exp.CTE)
    people = release.schema.person is not None
    return f"WITH {', '.join(each.sql(dialect='duckdb') for each in steps)}, {_exposed(model, people=people)}"


def _macro(model: str) -> str:
    return model.replace("-", "_")


def _dispatched(model: str) -> str:
    """The macro that picks the one of the database's dialect; dbt wants its name spelled out."""
    return DISPATCH.replace("NAME", _macro(model))


def _dialect(dialect: str, asked: Mapping[str, Sequence[str]]) -> str:
    """The macros of a dialect: a query by rows and one by people for each model."""
    return "".join(
        f"\n{{% macro {dialect}__{_macro(name)}(table, quasi, sensitive, person, bound, worst) %}}\n"
        f"{{%- if person is none %}}\n{_in_dialect(by_row, dialect)}\n"
        f"{{%- else %}}\n{_in_dialect(by_person, dialect)}\n{{%- endif %}}\n{{% endmacro %}}\n"
        for name, (by_row, by_person) in asked.items()
    )


def _in_dialect(query: str, dialect: str) -> str:
    """A query in a dialect, with the places of its arguments."""
    text = written(query, dialect, quote=True).replace(" NULLS LAST", "")  # groups may be numbered in any order
    quote = '"' if '"' in text else "`"
    for name in RESULT:  # as fail_calc and people write them, whatever case the database gives to names
        text = text.replace(f"AS {quote}{name}{quote}", f"AS {name}").replace(f"{quote}{name}{quote} >", f"{name} >")
    for name, place in PLACES.items():
        text = text.replace(f"{quote}{name}{quote}", place)
    return text


def _exposed(model: Model, *, people: bool) -> str:
    """What is asked of the groups: how many people are in those that break the model."""
    worst, breaks = ("MIN", "<") if model.more_is_safer else ("MAX", ">")
    # somebody whose row does not say who it is may be anybody
    count = "COUNT(DISTINCT person) + SUM(CASE WHEN person IS NULL THEN 1 ELSE 0 END)" if people else "COUNT(*)"
    return (
        f"broken AS (SELECT class FROM classes WHERE level {breaks} worst_allowed), "
        f"told AS (SELECT (SELECT {count} FROM entries WHERE class IN (SELECT class FROM broken)) AS exposed_people, "
        f"(SELECT {count} FROM entries) AS people, (SELECT COUNT(*) FROM broken) AS exposed_groups, "
        f"COUNT(*) AS all_groups, {worst}(level) AS worst_level, asked_bound AS bound FROM classes) "
        "SELECT * FROM told WHERE exposed_groups > 0"
    )


TESTS = """
{% test k_anonymous(model, quasi, k, person=none) %}
{{ config(fail_calc='coalesce(max(exposed_people), 0)') }}
{%- set columns = shoal.checked('k_anonymous', quasi, 'k', k, 1, none) %}
{{ shoal.k_anonymity(model, columns, none, person, k, k) }}
{% endtest %}

{% test l_diverse(model, quasi, sensitive, l, notion='distinct', person=none) %}
{{ config(fail_calc='coalesce(max(exposed_people), 0)') }}
{%- set columns = shoal.checked('l_diverse', quasi, 'l', l, 1, none) %}
{%- set worst = l - SLACK * ([l, 1] | max) %}
{%- if notion == 'distinct' %}
{{ shoal.distinct_l_diversity(model, columns, sensitive, person, l, l) }}
{%- elif notion == 'entropy' %}
{{ shoal.entropy_l_diversity(model, columns, sensitive, person, l, worst) }}
{%- elif notion == 'frequency' %}
{{ shoal.frequency_l_diversity(model, columns, sensitive, person, l, worst) }}
{%- else %}
{%- do exceptions.raise_compiler_error('l_diverse: notion is distinct, entropy or frequency') %}
{%- endif %}
{% endtest %}

{% test t_close(model, quasi, sensitive, t, person=none) %}
{{ config(fail_calc='coalesce(max(exposed_people), 0)') }}
{%- set columns = shoal.checked('t_close', quasi, 't', t, 0, 1) %}
{{ shoal.t_closeness(model, columns, sensitive, person, t, t + SLACK) }}
{% endtest %}

{% macro checked(test, quasi, name, bound, least, most) %}
{#- The columns as a list; refuses a bound that is none. #}
{%- if bound is not number or bound < least or (most is not none and bound > most) %}
{%- set range = 'at least ' ~ least if most is none else 'between ' ~ least ~ ' and ' ~ most %}
{%- do exceptions.raise_compiler_error(test ~ ': ' ~ name ~ ' is a number, ' ~ range) %}
{%- endif %}
{%- if not quasi %}
{%- do exceptions.raise_compiler_error(test ~ ': quasi names the columns that outsiders may know, at least one') %}
{%- endif %}
{%- do return([quasi] if quasi is string else quasi) %}
{% endmacro %}
"""

DISPATCH = """
{% macro NAME(table, quasi, sensitive, person, bound, worst) %}
{{- adapter.dispatch('NAME', 'shoal')(table, quasi, sensitive, person, bound, worst) }}
{% endmacro %}
"""
