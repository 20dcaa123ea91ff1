"""The command starts without pandas, and whoever needs it still has it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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


def test_holders_read_their_lists_without_pandas(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    (tmp_path / "list.csv").write_text("name,town\nAda,Rome\nBo,\n")
    read = """
import sys
from pathlib import Path
from shoal.cli.overlap import texts
assert texts(Path(sys.argv[1]), ["name", "town"]) == {"name": ["Ada", "Bo"], "town": ["Rome", None]}
assert "pandas" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", read, tmp_path / "list.csv"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
