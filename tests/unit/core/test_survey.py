"""What is counted of all records, and what is looked at of some."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.core.survey import Overview, alone


@given(st.lists(st.tuples(st.integers(-1, 2), st.integers(-1, 3)), min_size=1, max_size=40))
def test_who_is_alone_by_distinct_rows_is_who_is_alone_by_records(rows):
    expected = sum(count == 1 for count in Counter(rows).values())
    columns = [np.array(column, np.int8) for column in zip(*rows, strict=True)]
    assert alone(columns) == expected
    distinct = Counter(rows)
    columns = [np.array(column, np.int8) for column in zip(*distinct, strict=True)]
    assert alone(columns, np.array(list(distinct.values()))) == expected


@given(st.lists(st.integers(1, 9), min_size=1, max_size=30), st.integers(1, 60))
def test_some_records_are_spread_evenly_over_the_rows(counts, most):
    table = Overview(sum(counts), {}, {}, np.array(counts))
    records = np.repeat(np.arange(len(counts)), counts)
    chosen = np.linspace(0, len(records) - 1, min(len(records), most)).astype(int)
    assert table.some(most).tolist() == records[chosen].tolist()
