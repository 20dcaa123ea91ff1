"""The command starts without pandas, and whoever needs it still has it."""

from __future__ import annotations

import subprocess
import sys

import pytest

START = """
import sys
from shoal.cli.fast_start import without_pandas
without_pandas()
import pyarrow as pa
assert pa.array([1, None]).to_pylist() == [1, None] and pa.array([1, 2]).to_numpy().sum() == 3
assert "pandas" not in sys.modules
"""


@pytest.mark.parametrize(
    "then",
    [
        "assert pa.table({'a': [1, 2]}).to_pandas()['a'].sum() == 3",
        "import pandas; assert pa.Table.from_pandas(pandas.DataFrame({'a': ['x', None]}))['a'].null_count == 1",
        "import pandas; assert pa.table({'a': pandas.Series([1, 2])}).num_rows == 2",
    ],
)
def test_pandas_is_there_for_whoever_asks_for_it(then: str) -> None:
    pytest.importorskip("pandas")
    done = subprocess.run([sys.executable, "-c", START + then], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
