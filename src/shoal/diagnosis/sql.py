"""SQL: the query behind an answer, for a database of the holder's own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from shoal.core.contracts.model import UNBOUNDED, Model
from shoal.core.policy import allowed
from shoal.diagnosis.questions import Answer
from shoal.errors import MissingExtraError, ParameterError, alternatives

MOST_SETS = 256
"""Sets in one query; each is a grouping of its own."""

# What a model may use of a distinct sensitive value besides its count n, each within its class (`keys`).
_WINDOWS = {
    "size": "SUM(n) OVER (PARTITION BY {keys})",
    "mass": "SUM(n) OVER (PARTITION BY {keys})",
    "prior": "SUM(n) OVER (PARTITION BY {value})",
    "records": "SUM(n) OVER ()",
    "whole": "SUM(n) OVER ()",
    "most": "MAX(n) OVER (PARTITION BY {keys})",
    "tail": "SUM(n) OVER (PARTITION BY {keys} ORDER BY n, {value} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)",
}

# The same where n counts people, of whom some have several values: the greatest of their ranks counts different ones.
_OF_PEOPLE = {
    "size": "MAX(heads) OVER (PARTITION BY {keys})",
    "prior": "MAX(carriers) OVER (PARTITION BY {value})",
    "records": "MAX(everybody) OVER ()",
    "whole": "MAX(pairs) OVER ()",
}
_RANKS = {
    "heads": "PARTITION BY {keys} ORDER BY {person}",
    "carriers": "PARTITION BY {value} ORDER BY {person}",
    "everybody": "ORDER BY {person}",
    "pairs": "ORDER BY {value}, {person}",
}


def sql(answer: Answer, table: str = "data", *, dialect: str = "duckdb") -> str:
    """The query whose result is the answer, in a dialect that sqlglot knows.

    The query of a question about borders gives the level of every set in either border (and, with δ, the records
    below the bound), which proves both. Missing values must be NULL in the database, and values must not differ by
    blanks around them, as Shoal takes those for equal. What a level is, the model says; not every model has SQL.

    Example:
        >>> import shoal
        >>> data = shoal.read(shoal.samples.adult(), quasi=["age", "sex"])
        >>> print(shoal.sql(shoal.ask(data, attributes=["age", "sex"]), "people", dialect="postgres"))
        WITH classes AS (
          SELECT
            COUNT(*) AS size,
            COUNT(*) AS level
          FROM "people"
          GROUP BY
            "age",
            "sex"
        )
        SELECT
          MIN(level) AS k
        FROM classes
    """
    check_dialect(dialect)
    level = _aggregate(answer.model)
    if level is None:
        raise ParameterError(f"{answer.notion} with these parameters has no query; its model has no SQL")
    single = answer.question in (1, 2, 5, 6, 9, 11)
    sets: Sequence[Sequence[str]] = [answer.attributes] if single else _sets(answer)
    if len(sets) > MOST_SETS:
        raise ParameterError(
            f"the query would have {len(sets):,} groupings and {MOST_SETS} are the most; ask about fewer attributes"
        )
    if not sets:
        raise ParameterError("the answer names no set, so there is nothing to query")
    queries = [_query(answer, level, chosen, table, number, single) for number, chosen in enumerate(sets)]
    parts = ", ".join(part for common, _ in queries for part in common)
    text = f"WITH {parts} " + " UNION ALL ".join(last for _, last in queries)
    return written(text, dialect)


def written(text: str, dialect: str, *, quote: bool = False) -> str:
    """A query in another dialect; with `quote`, every name in quotes, as one may be a word of the dialect."""
    import sqlglot

    tree = sqlglot.parse_one(text, read="duckdb").transform(_divided_as_doubles)
    ignored = sqlglot.ErrorLevel.IGNORE
    return str(tree.sql(dialect=dialect, pretty=True, identify=quote, unsupported_level=ignored))


def _divided_as_doubles(node: Any) -> Any:
    """A division of doubles: Snowflake would round one of decimals to a few digits."""
    from sqlglot import exp

    if isinstance(node, exp.Div) and not isinstance(node.this, exp.Cast):
        node.set("this", exp.cast(node.this, "DOUBLE"))
    return node


def _aggregate(model: Model) -> str | None:
    """The level of a class as SQL, where it is a number and takes only the counts of the class and of the table."""
    level, floor = model.sql(), getattr(model, "floor", 1)
    if level is None or UNBOUNDED in level or re.search(r"\b(chosen|ahead|apart|twins)\b", level):
        return None
    return None if model.sql_every or model.margins or model.counts_population or floor > 1 else level


def check_dialect(dialect: str) -> None:
    """Refuses, before any work is done, a dialect in which no query could be written."""
    try:
        import sqlglot
    except ImportError:
        raise MissingExtraError("SQL", "sql") from None
    known = sorted(str(name.value) for name in sqlglot.Dialects if name.value)
    if dialect not in known:
        raise ParameterError(f"there is no such SQL dialect; {alternatives(dialect, known)}")


def _sets(answer: Answer) -> list[tuple[str, ...]]:
    if answer.positive_border is not None and answer.negative_border is not None:
        return [*answer.positive_border, *answer.negative_border]
    return list(answer.answer)


def quoted_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def quoted_text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _query(
    answer: Answer, level: str, chosen: Sequence[str], table: str, number: int, single: bool
) -> tuple[list[str], str]:
    """The common table expressions of a set and the query on them."""
    suffix = "" if single else f"_{number + 1}"
    classes = f"classes{suffix}"
    keys = ", ".join(quoted_name(name) for name in chosen)
    if answer.person is not None and (answer.model.by_size or answer.model.counts_households):
        level = f"COUNT(DISTINCT {quoted_name(answer.person)})"
    if answer.sensitive is None:
        common = [f"{classes} AS (SELECT COUNT(*) AS size, {level} AS level FROM {quoted_name(table)} GROUP BY {keys})"]
        return common, _asked(answer, classes, chosen, single)
    inner = ", ".join(quoted_name(name) for name in (*chosen, *answer.contexts))
    common = _cells(answer, level, inner, table, suffix)
    size = "size"
    if answer.person is not None:
        size, level = "held", f"LEAST({level}, MAX(size))" if answer.model.more_is_safer else level
    figures, source = f"MAX({size}) AS size, {level} AS level", f"cells{suffix}"
    if answer.contexts:
        common.append(f"parts{suffix} AS (SELECT {keys}, {figures} FROM {source} GROUP BY {inner})")
        figures, source = f"SUM(size) AS size, {_worst(answer)}(level) AS level", f"parts{suffix}"
    common.append(f"{classes} AS (SELECT {figures} FROM {source} GROUP BY {keys})")
    return common, _asked(answer, classes, chosen, single)


def _cells(answer: Answer, level: str, keys: str, table: str, suffix: str) -> list[str]:
    """Every distinct sensitive value of a class, or of a part of one, with what the level is made of."""
    value = quoted_name(str(answer.sensitive))
    used = [name for name in _WINDOWS if name == "size" or re.search(rf"\b{name}\b", level)]
    if answer.person is not None:
        return _cells_of_people(used, keys, value, quoted_name(answer.person), table, suffix)
    windows = ", ".join(f"{_WINDOWS[name].format(keys=keys, value=value)} AS {name}" for name in used)
    return [
        f"counted{suffix} AS (SELECT {keys}, {value}, COUNT(*) AS n FROM {quoted_name(table)} "
        f"GROUP BY {keys}, {value})",
        f"cells{suffix} AS (SELECT {keys}, n, {windows} FROM counted{suffix})",
    ]


def _cells_of_people(used: list[str], keys: str, value: str, person: str, table: str, suffix: str) -> list[str]:
    """The same when n counts people; `held` counts the records of the class, which is what is left out."""
    chosen = {**_WINDOWS, **_OF_PEOPLE}
    windows = ", ".join(f"{chosen[name].format(keys=keys, value=value)} AS {name}" for name in used)
    needed = [name for name in _RANKS if name in windows]
    ranks = ", ".join(
        f"DENSE_RANK() OVER ({_RANKS[name].format(keys=keys, value=value, person=person)}) AS {name}" for name in needed
    )
    greatest = ", ".join(f"MAX({name}) AS {name}" for name in needed)
    return [
        f"entries{suffix} AS (SELECT {keys}, {value}, {person}, COUNT(*) AS held FROM {quoted_name(table)} "
        f"GROUP BY {keys}, {value}, {person})",
        f"ranked{suffix} AS (SELECT *, {ranks} FROM entries{suffix})",
        f"counted{suffix} AS (SELECT {keys}, {value}, COUNT(*) AS n, SUM(held) AS held, {greatest} "
        f"FROM ranked{suffix} GROUP BY {keys}, {value})",
        f"cells{suffix} AS (SELECT {keys}, n, SUM(held) OVER (PARTITION BY {keys}) AS held, {windows} "
        f"FROM counted{suffix})",
    ]


def _worst(answer: Answer) -> str:
    return "MIN" if answer.model.more_is_safer else "MAX"


def _asked(answer: Answer, classes: str, chosen: Sequence[str], single: bool) -> str:
    letter, worst = answer.parameter, _worst(answer)
    breaks = f"level {'<' if answer.model.more_is_safer else '>'} {answer.model.threshold!r}"
    lost = f"COALESCE(SUM(CASE WHEN {breaks} THEN size ELSE 0 END), 0)"
    label = "" if single else f"{quoted_text(', '.join(chosen))} AS attributes, "
    budget = allowed(answer.delta, answer.records) if isinstance(answer.delta, float) else 0
    direction = "ASC" if answer.model.more_is_safer else "DESC"
    reached = (
        f"(SELECT level, SUM(SUM(size)) OVER (ORDER BY level {direction}) AS reached, SUM(size) AS size "
        f"FROM {classes} GROUP BY level) AS steps"
    )
    column: dict[int, Any] = {
        1: f"SELECT {lost} = 0 AS holds FROM {classes}",
        2: f"SELECT {worst}(level) AS {letter} FROM {classes}",
        3: f"SELECT {label}{worst}(level) AS {letter} FROM {classes}",
        5: f"SELECT {lost} <= {budget} AS holds FROM {classes}",
        6: f"SELECT {label}{worst}(level) AS {letter} FROM {reached} WHERE reached > {budget}",
        7: f"SELECT {label}{lost} AS lost, {budget} AS budget FROM {classes}",
        9: f"SELECT {label}{lost} * 1.0 / SUM(size) AS delta FROM {classes}",
        11: f"SELECT {label}level AS {letter}, (reached - size) * 1.0 / {answer.records} AS delta FROM {reached}",
    }
    same = {4: 3, 8: 6, 10: 9, 12: 11}
    return str(column[same.get(answer.question, answer.question)])
