"""Releases that are folders of Parquet files, on every engine."""

import shutil
from functools import cache

import numpy as np
import polars as pl
import pytest
from counts import long_on_spark
from making import names

import shoal
from shoal.core.run import Run
from shoal.errors import CancelledError, MissingExtraError, MissingProgramError, OutputError
from shoal.storage.files import sha256

ROLES = {"quasi": ["age", "town"], "sensitive": ["disease"]}


@cache
def people(rows=1234):
    draw = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "age": draw.integers(20, 60, rows),
            "town": draw.choice(["a", "b", "c", None], rows).tolist(),
            "disease": draw.choice(["flu", "cold", "none"], rows),
        }
    )


@pytest.fixture(params=names("engines"))
def engine(request):
    if request.param == "spark":
        request.getfixturevalue("spark")
    try:
        shoal.read(pl.DataFrame({"a": [1]}), quasi=["a"], engine=request.param)
    except (MissingExtraError, MissingProgramError) as reason:
        pytest.skip(str(reason))
    return request.param


@cache
def read(engine, plain=False):
    """The people in the hands of an engine; with a plain column too, which is published row by row."""
    table = people().with_columns(stay=pl.Series(np.arange(1234) % 11)) if plain else people()
    return shoal.read(table, **ROLES, engine=engine)


@cache
def released(engine, plain=False):
    return shoal.anonymize(read(engine, plain), "k-anonymity:k=5", algorithm="mondrian", seed=5)


@pytest.mark.parametrize("plain", [False, True])
def test_the_files_of_a_folder_are_the_rows_of_one_file(engine, plain, tmp_path):
    long_on_spark(engine)
    release = released(engine, plain)
    release.write(tmp_path / "one.parquet")
    release.write(tmp_path / "out", rows_per_file=300)
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == [f"part-{number:05d}.parquet" for number in range(5)]
    files = [pl.read_parquet(tmp_path / "out" / name) for name in names]
    assert [len(file) for file in files] == [300] * 4 + [34]
    assert pl.concat(files).equals(pl.read_parquet(tmp_path / "one.parquet"))
    assert shoal.verify(tmp_path / "out", engine=engine).holds
    found = [
        shoal.evaluate(read(engine, plain), made, "ncp", baselines=False)["ncp"] for made in (tmp_path / "out", release)
    ]
    assert found[0].value == found[1].value


def test_a_form_of_two_tables_is_two_folders(engine, tmp_path):
    long_on_spark(engine)
    release = shoal.anonymize(read(engine), "frequency-l-diversity:l=2", algorithm="anatomy", seed=5)
    release.write(tmp_path / "out", rows_per_file=1000)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "out-sensitive", "out.manifest.json"]
    assert shoal.verify(tmp_path / "out", engine=engine).holds


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The folder of an engine's release, written once; nobody changes it."""

    @cache
    def folder(engine):
        path = tmp_path_factory.mktemp(engine) / "out"
        released(engine).write(path, rows_per_file=500)
        return path.parent

    return folder


@pytest.mark.parametrize("change", ["removed", "added", "changed"])
def test_a_folder_that_was_changed_is_found_out(engine, change, written, tmp_path):
    if change != "changed":
        long_on_spark(engine)
    shutil.copytree(written(engine), tmp_path, dirs_exist_ok=True)
    first = tmp_path / "out" / "part-00000.parquet"
    before = sha256(tmp_path / "out")
    if change == "removed":
        first.unlink()
    elif change == "added":
        (tmp_path / "out" / "part-00009.parquet").write_bytes(first.read_bytes())
    else:
        pl.read_parquet(first).head(499).write_parquet(first)
    assert sha256(tmp_path / "out") != before
    assert not shoal.verify(tmp_path / "out", engine=engine)["unchanged"].holds


def test_a_folder_takes_the_place_of_the_one_before(engine, tmp_path):
    long_on_spark(engine)
    released(engine).write(tmp_path / "out", rows_per_file=400)
    released(engine).write(tmp_path / "out", rows_per_file=1000)
    assert len(list((tmp_path / "out").iterdir())) == 2 and shoal.verify(tmp_path / "out", engine=engine).holds
    (tmp_path / "out" / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match="other files"):
        released(engine).write(tmp_path / "out")
    assert (tmp_path / "out" / "notes.txt").read_text() == "mine"


def test_a_run_that_is_stopped_while_it_writes_leaves_nothing(engine, tmp_path):
    run = Run(lambda share, doing: run.cancel() if share > 0.3 else None)
    with pytest.raises(CancelledError):
        released(engine).write(tmp_path / "out", rows_per_file=100, run=run)
    assert list(tmp_path.iterdir()) == []
