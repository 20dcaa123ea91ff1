"""Table expressions of Ibis on DuckDB: where they are queried, and as which query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from shoal.engines.duckdb.session import GuestSession
from shoal.errors import InputError

LABEL = "the expression"


def lives_in_duckdb(source: Any) -> bool:
    """Whether something is a table expression of Ibis, bound to a database of DuckDB."""
    if not type(source).__module__.startswith("ibis.expr.types.") or not hasattr(source, "columns"):
        return False
    try:
        return bool(source.get_backend().name == "duckdb")
    except Exception:  # of several databases, or of none
        return False


def in_place(expression: Any) -> tuple[GuestSession, str] | None:
    """A session in the database of an expression, and the expression as a relation there; None where another connection
    than its own cannot see what it is about, such as temporary tables, or where nothing can be stored beside it."""
    import sqlglot
    from sqlglot import exp

    backend = expression.get_backend()
    host = backend.con
    current, schema = host.sql("SELECT current_database(), current_schema()").fetchall()[0]
    temporary = dict(
        host.sql(
            "SELECT view_name, sql FROM duckdb_views() WHERE temporary AND NOT internal "
            "UNION ALL SELECT table_name, NULL FROM duckdb_tables() WHERE temporary"
        ).fetchall()
    )
    query = sqlglot.parse_one(backend.compile(expression), read="duckdb")
    common = {each.alias for each in query.find_all(exp.CTE)}
    views = []
    for table in query.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier) or table.catalog:
            continue
        if not table.db and table.name in common:
            continue
        if not table.db and table.name in temporary:
            views.append(temporary[table.name])
            continue
        table.set("db", exp.to_identifier(table.db or schema, quoted=True))
        table.set("catalog", exp.to_identifier(current, quoted=True))
    try:
        session = GuestSession(host)
        for view in views:
            if view is None:
                return None
            session.execute(view.replace("CREATE TEMP VIEW", "CREATE OR REPLACE VIEW", 1), what=LABEL)
        relation = f"({query.sql(dialect='duckdb')})"
        session.types_of(relation, what=LABEL)
    except InputError:
        return None
    return session, relation


def rows(expression: Any) -> Iterator[pa.Table]:
    """The rows of an expression, all at once: Ibis runs it where it lives, and not every version of it hands over the
    rows of every version of DuckDB piece by piece."""
    try:
        yield expression.to_pyarrow()
    except Exception as error:  # whose texts may quote cells
        raise InputError(f"{LABEL}: its rows cannot be read ({type(error).__name__})") from None
