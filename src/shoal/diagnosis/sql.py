"""SQL: the query behind an answer, for a database of the holder's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shoal.diagnosis.questions import Answer
from shoal.errors import MissingExtraError, ParameterError

MOST_SETS = 256
"""Sets in one query; each is a grouping of its own."""

# Levels of classes whose cells are counted as n, with the class' size and the whole table's count of the value beside.
_LEVELS = {
    "distinct-l": "COUNT(*)",
    "entropy-l": "EXP(LN(MAX(size)) - SUM(n * LN(n)) / MAX(size))",
    "frequency-l": "MAX(size) * 1.0 / MAX(n)",
    "t": "SUM(CASE WHEN n * 1.0 / size > prior * 1.0 / records THEN n * 1.0 / size - prior * 1.0 / records ELSE 0 END)",
}


def sql(answer: Answer, table: str = "data", *, dialect: str = "duckdb") -> str:
    """The query whose result is the answer, in a dialect that sqlglot knows.

    The query of a question about borders gives the level of every set in either border (and, with δ, the records
    below the bound), which proves both. Missing values must be NULL in the database, and values must not differ by
    blanks around them, as Shoal takes those for equal. Ground distances other than `equal` have no query.

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
    try:
        import sqlglot
    except ImportError:
        raise MissingExtraError("SQL", "sql") from None
    if dialect not in sqlglot.Dialects.__members__.values() or not dialect:
        known = ", ".join(sorted(str(name.value) for name in sqlglot.Dialects if name.value))
        raise ParameterError(f"there is no such SQL dialect; choose one of {known}")
    if answer.distance != "equal":
        raise ParameterError("only the equal distance has a query")
    single = answer.question in (1, 2, 5, 6, 9, 11)
    sets: Sequence[Sequence[str]] = [answer.attributes] if single else _sets(answer)
    if len(sets) > MOST_SETS:
        raise ParameterError(
            f"the query would have {len(sets):,} groupings and {MOST_SETS} are the most; ask about fewer attributes"
        )
    if not sets:
        raise ParameterError("the answer names no set, so there is nothing to query")
    queries = [_query(answer, chosen, table, number, single) for number, chosen in enumerate(sets)]
    parts = ", ".join(part for common, _ in queries for part in common)
    text = f"WITH {parts} " + " UNION ALL ".join(last for _, last in queries)
    return str(
        sqlglot.transpile(text, read="duckdb", write=dialect, pretty=True, unsupported_level=sqlglot.ErrorLevel.IGNORE)[
            0
        ]
    )


def _sets(answer: Answer) -> list[tuple[str, ...]]:
    if answer.positive_border is not None and answer.negative_border is not None:
        return [*answer.positive_border, *answer.negative_border]
    return list(answer.answer)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _query(answer: Answer, chosen: Sequence[str], table: str, number: int, single: bool) -> tuple[list[str], str]:
    """The common table expressions of a set and the query on them."""
    suffix = "" if single else f"_{number + 1}"
    classes, cells = f"classes{suffix}", f"cells{suffix}"
    keys = ", ".join(_quoted(name) for name in chosen)
    if answer.sensitive is None:
        common = [f"{classes} AS (SELECT COUNT(*) AS size, COUNT(*) AS level FROM {_quoted(table)} GROUP BY {keys})"]
    else:
        common = _cells(answer, keys, table, cells, suffix)
        level = _LEVELS.get(answer.notion, "SUM(CASE WHEN most < c_tail THEN 1 ELSE 0 END)")
        inner = f"ranked{suffix}" if answer.notion == "recursive-l" else cells
        common.append(f"{classes} AS (SELECT MAX(size) AS size, {level} AS level FROM {inner} GROUP BY {keys})")
    return common, _asked(answer, classes, chosen, single)


def _cells(answer: Answer, keys: str, table: str, cells: str, suffix: str) -> list[str]:
    value = _quoted(str(answer.sensitive))
    counted = f"counted{suffix}"
    parts = [
        f"{counted} AS (SELECT {keys}, {value}, COUNT(*) AS n FROM {_quoted(table)} GROUP BY {keys}, {value})",
        f"{cells} AS (SELECT {keys}, n, SUM(n) OVER (PARTITION BY {keys}) AS size, "
        f"SUM(n) OVER (PARTITION BY {value}) AS prior, SUM(n) OVER () AS records, "
        f"ROW_NUMBER() OVER (PARTITION BY {keys} ORDER BY n DESC) AS place FROM {counted})",
    ]
    if answer.notion == "recursive-l":
        parts.append(
            f"ranked{suffix} AS (SELECT {keys}, size, MAX(n) OVER (PARTITION BY {keys}) AS most, {answer.c} * SUM(n) "
            f"OVER (PARTITION BY {keys} ORDER BY place DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) "
            f"AS c_tail FROM {cells})"
        )
    return parts


def _asked(answer: Answer, classes: str, chosen: Sequence[str], single: bool) -> str:
    letter, far = answer.notion[-1], answer.notion == "t"
    whole = answer.notion in ("k", "distinct-l", "recursive-l")
    slack = "" if whole else " * (1 + 1e-12)" if far else " * (1 - 1e-12)"
    worst, breaks = ("MAX", f"level > {answer.bound}{slack}") if far else ("MIN", f"level < {answer.bound}{slack}")
    lost = f"COALESCE(SUM(CASE WHEN {breaks} THEN size ELSE 0 END), 0)"
    label = "" if single else f"{_text(', '.join(chosen))} AS attributes, "
    budget = int(answer.delta * answer.records + 1e-9) if isinstance(answer.delta, (int, float)) else 0
    direction = "DESC" if far else "ASC"
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
