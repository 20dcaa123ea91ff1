"""The check for pandera, in schemas of its backends."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from counts import LONG

from shoal.core.policy import Policy
from shoal.models import DistinctLDiversity, KAnonymity

pytest.importorskip("pandera")
import pandera.pandas
import pandera.polars
from pandera.config import ValidationDepth, config_context

from shoal.integrations.pandera import satisfies

SECRET = "Zacharias"
TABLE = pl.DataFrame({"age": ["a"] * 4 + ["b"] * 6, "ill": ["flu", SECRET] * 2 + [SECRET] * 6})


@pytest.mark.parametrize("backend", ["pandas", "polars", "lazy"])
@pytest.mark.parametrize("collected", [False, True])
def test_a_schema_with_the_check(backend: str, collected: bool) -> None:
    tool: Any = pandera.pandas if backend == "pandas" else pandera.polars
    frame = {"pandas": TABLE.to_pandas, "polars": lambda: TABLE, "lazy": TABLE.lazy}[backend]()
    policy = Policy(models=(KAnonymity(k=4), DistinctLDiversity(l=2)))
    kept = tool.DataFrameSchema(checks=satisfies("k-anonymity:k=4", quasi="age"))
    kept.validate(frame, lazy=collected)
    broken = tool.DataFrameSchema(checks=satisfies(policy, quasi=["age"], sensitive=["ill"]))
    error = tool.errors.SchemaErrors if collected else tool.errors.SchemaError
    # of lazy frames, pandera looks at the rows only where it is told to
    with config_context(validation_depth=ValidationDepth.SCHEMA_AND_DATA), pytest.raises(error) as failure:
        broken.validate(frame, lazy=collected)
    told = "the table is not distinct 2-diverse by age: 6 of 10 people are exposed, in 1 of 2 groups; distinct-l is 1"
    assert told in str(failure.value)
    assert SECRET not in str(failure.value) and SECRET not in str(failure.value.failure_cases)


def test_the_message_is_that_of_the_table_at_hand() -> None:
    schema = pandera.pandas.DataFrameSchema(checks=satisfies("k-anonymity:k=5", quasi=["age"]))
    for rows, told in ((TABLE, "4 of 10 people"), (TABLE.head(5), "5 of 5 people")):
        with pytest.raises(pandera.pandas.errors.SchemaError, match=told):
            schema.validate(rows.to_pandas())
    schema.validate(TABLE.tail(6).to_pandas())


def test_a_column_that_is_not_there_is_named_and_no_value() -> None:
    schema = pandera.pandas.DataFrameSchema(checks=satisfies("k-anonymity:k=2", quasi=["zip"]))
    with pytest.raises(pandera.pandas.errors.SchemaError, match="no column named 'zip'") as failure:
        schema.validate(TABLE.to_pandas())
    assert SECRET not in str(failure.value)


@pytest.mark.skipif(not LONG, reason="they are long: make test-long")  # and DuckDB complains of pandera at the end
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Ibis asks DuckDB as it did before version 2
def test_a_table_of_ibis() -> None:
    ibis = pytest.importorskip("ibis")
    import pandera.ibis

    base = ibis.duckdb.connect()
    base.con.register("arrived", TABLE.to_arrow())
    base.raw_sql("CREATE TABLE people AS FROM arrived")
    schema = pandera.ibis.DataFrameSchema(checks=satisfies("k-anonymity:k=5", quasi=["age"]))
    schema.validate(base.table("people").filter(ibis._.age == "b"))
    with pytest.raises(pandera.ibis.errors.SchemaError, match="4 of 10 people are exposed"):
        schema.validate(base.table("people"))
    base.disconnect()
