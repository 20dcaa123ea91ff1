"""Missing-value rules are kept, or refused where nobody would keep them."""

from __future__ import annotations

import polars as pl
import pytest

import shoal
from shoal.errors import SchemaError

TABLE = pl.DataFrame({"age": [31, 32], "note": ["a", None], "name": ["Ann", None]})


@pytest.mark.parametrize("column", ["note", "name"])
@pytest.mark.parametrize("rule", ["drop", "refuse"])
def test_a_rule_for_a_column_that_is_not_looked_at_is_refused(column: str, rule: str) -> None:
    with pytest.raises(SchemaError, match=f"'{column}' is (plain|identifier)"):
        shoal.read(TABLE, quasi=["age"], identifiers=["name"], missing_rules={column: rule})
    assert shoal.read(TABLE, quasi=["age"], identifiers=["name"], missing_rules={column: "value"}).records == 2
