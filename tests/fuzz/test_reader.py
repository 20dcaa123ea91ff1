"""The fuzzer's own reader understands files as a recipient does."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pytest
from tests.fuzz import reader
from tests.fuzz.meaning import zone


@pytest.mark.parametrize("unit", ["s", "ns"])
def test_the_hour_that_comes_twice_is_two_hours(tmp_path: Path, unit: str) -> None:
    """Clocks in Berlin were put back at one in UTC: both hours began at two."""
    begin = dt.datetime(2021, 10, 31, tzinfo=dt.UTC)
    hours = [begin, begin + dt.timedelta(hours=1)]
    assert len({hour.astimezone(zone("Europe/Berlin")) for hour in hours}) == 1, "which is why the reader minds"
    kind = pa.timestamp(unit, "Europe/Berlin")
    pa.feather.write_feather(pa.table({"at": pa.array(hours, kind)}), tmp_path / "table.arrow")
    sheet = reader.read(tmp_path / "table.arrow", ",")
    assert sheet.column("at") == hours and len(set(sheet.column("at"))) == 2
    assert sheet.types == {"at": kind}
