"""A report that cannot be written, or is stopped, leaves what stood there as it was."""

from __future__ import annotations

from pathlib import Path

import pytest
from canary_table import ROLES

pytest.importorskip("altair")

LIMITED = """
import resource, signal, sys
sys.dont_write_bytecode = True  # the limit would cut that off as well, and nobody could import it any more
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
import shoal.engines.embedded, shoal.kernels.grouping, shoal.kernels.mondrian
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
from shoal.cli import main
main()
"""


@pytest.fixture
def released(table: Path, tmp_path: Path, shoal) -> Path:
    place = tmp_path / "release.csv"
    assert shoal("anonymize", table, "-o", place, *ROLES, "--k", "3").code == 0
    return place


def test_a_full_disk(table: Path, released: Path, process) -> None:
    page, data = released.with_name("report.html"), released.with_name("report.json")
    page.write_text("old page")
    data.write_text("old data")
    before = sorted(path.name for path in released.parent.iterdir())
    script = LIMITED.format(limit=12_000)
    ran = process("report", table, released, "-o", data, "-o", page, "--overwrite", "--quick", script=script)
    assert ran.code == 2 and "could not be written" in ran.err, ran
    assert page.read_text() == "old page" and data.read_text() == "old data"
    assert sorted(path.name for path in released.parent.iterdir()) == before


def test_places_where_nothing_can_be_written_are_told_before_any_work(table: Path, released: Path, shoal) -> None:
    for place, said in (
        (released.parent, "ends in .html or .json"),
        (released.parent / "none" / "report.html", "its folder does not exist"),
        (released, "ends in .html or .json"),
    ):
        ran = shoal("report", table, released, "-o", place)
        assert ran.code == 2 and said in ran.err, ran
    assert shoal("report", table, released).err.startswith("error: name the file for the report with -o")
    wrong = shoal("report", table, released, "--plot", "risk.svg")
    assert wrong.code == 2 and "write --plot as NAME=FILE" in wrong.err
    assert sorted(path.name for path in released.parent.iterdir() if path.suffix in (".html", ".svg")) == []


def test_nothing_of_the_table_is_printed(table: Path, released: Path, shoal) -> None:
    place = released.with_name("report.html")
    ran = shoal("report", table, released, "-o", place, "--holder", "--quick")
    assert ran.code == 0 and "do not hand it over" in ran.out
    assert shoal("report", table, released, "--json", "--quick").code == 0
