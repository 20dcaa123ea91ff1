"""Compressed files that unpack to far more than they should."""

from __future__ import annotations

import gzip
import random
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest

import shoal
from shoal import job
from shoal.engines.common import csv, unpacking
from shoal.errors import InputError, ParameterError

ROWS = 400_000


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that stand for large ones."""
    monkeypatch.setattr(unpacking, "ENOUGH", 1 << 20)
    unpacking._check_unpacked.cache_clear()


def packed(path: Path, content: bytes) -> Path:
    with pa.output_stream(str(path), compression="zstd" if path.suffix == ".zst" else "gzip") as file:
        file.write(content)
    return path


BOMBS = {
    "people.csv.gz": b"age,sex\n" + b"31,f\n" * ROWS,
    "people.csv.zst": b"age,sex\n" + b"31,f\n" * ROWS,
    "accents.csv.gz": b"age,sex\n" + "31,é\n".encode("cp1252") * ROWS,
    "people.jsonl.gz": b'{"age": 31, "sex": "f"}\n' * ROWS,
    "people.arff.gz": b"@relation x\n@attribute age numeric\n@attribute sex {f,m}\n@data\n" + b"31,f\n" * ROWS,
}


@pytest.mark.parametrize("engine", ["embedded", "duckdb"])
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_told_as_what_it_is_and_leaves_nothing(
    name: str, engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    path = packed(tmp_path / name, BOMBS[name])
    assert len(BOMBS[name]) > unpacking.RATIO * path.stat().st_size
    chosen = job.engine(engine)
    with pytest.raises(InputError, match=r"came out of the first 0\.0 MB.*SHOAL_UNPACK_RATIO"):
        shoal.read(path, quasi=["age", "sex"], engine=chosen)
    del chosen
    assert {each.name for each in tmp_path.iterdir()} == {"temporary", name}
    assert not any(each.is_file() for each in temporary.rglob("*"))


def test_a_large_bomb_is_stopped_on_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv, "LARGE", 0)
    for name in ("people.csv.gz", "accents.csv.gz"):
        path = packed(tmp_path / name, BOMBS[name])
        with pytest.raises(InputError, match="came out of"):
            shoal.read(path, quasi=["age", "sex"])


@pytest.mark.parametrize("engine", ["embedded", "duckdb"])
@pytest.mark.parametrize("large", [0, 1 << 24])
def test_whoever_knows_the_file_can_lift_the_bound(
    large: int, engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv, "LARGE", large)
    path = packed(tmp_path / "people.csv.gz", BOMBS["people.csv.gz"])
    monkeypatch.setenv("SHOAL_UNPACK_RATIO", "2000")
    assert shoal.read(path, quasi=["age", "sex"], engine=engine).records == ROWS
    monkeypatch.setenv("SHOAL_UNPACK_RATIO", "many")
    with pytest.raises(ParameterError, match="whole number"):
        shoal.read(path, quasi=["age", "sex"], engine=engine)


@pytest.mark.parametrize("engine", ["embedded", "duckdb"])
def test_an_honest_file_is_read_however_large_it_is(engine: str, tmp_path: Path) -> None:
    chance = random.Random(1)
    rows = "".join(f"{chance.randrange(99)},{chance.choice('fm')},{chance.randrange(9999)}\n" for _ in range(200_000))
    path = tmp_path / "people.csv.gz"
    path.write_bytes(gzip.compress(b"age,sex,zip\n" + rows.encode(), 1))
    assert len(rows) > unpacking.ENOUGH
    assert shoal.read(path, quasi=["age", "sex"], engine=engine).records == 200_000


def test_a_workbook_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("fastexcel")
    path = tmp_path / "people.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"<row/>" * ROWS)
    with pytest.raises(InputError, match="came out of"):
        shoal.read(path, quasi=["age"])
