"""The dbt package: its macros are those that the models' SQL makes, say what the assertions say, and run in dbt."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import yaml
from counts import LONG, count

from shoal import registry
from shoal.integrations import dbt
from shoal.testing import exposure

duckdb = pytest.importorskip("duckdb")
jinja2 = pytest.importorskip("jinja2")
sqlglot = pytest.importorskip("sqlglot")

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "integrations" / "dbt"
DBT = ROOT / ".venv-dbt" / "bin" / "dbt"
BOUNDS: dict[str, list[Any]] = {
    "k-anonymity": [2, 4], "distinct-l-diversity": [2, 3], "entropy-l-diversity": [1.5, 2.0],
    "frequency-l-diversity": [1.5, 2.0], "t-closeness": [0.0, 0.25, 1 / 3],
}  # fmt: skip


def test_the_macros_are_those_that_the_models_make() -> None:
    written = {path.name: path.read_text(encoding="utf-8") for path in (PACKAGE / "macros").iterdir()}
    assert written == dbt.macros(), "run make docs"


def rendered(dialect: str, model: str, *, person: str | None, bound: float, worst: float) -> str:
    text = (PACKAGE / "macros" / f"{dialect}.sql").read_text(encoding="utf-8")
    macro = getattr(jinja2.Environment().from_string(text).module, f"{dialect}__{model.replace('-', '_')}")
    return str(macro("people", ["age", "zip"], "ill", person, bound, worst))


def drawn(seed: int) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    rows = int(draw.integers(1, 40))
    return pl.DataFrame(
        {
            "age": draw.choice([20, 30, None], rows).tolist(),
            "zip": draw.choice(["a", "b", None], rows).tolist(),
            "ill": draw.choice(["flu", "cold", "hiv", None], rows).tolist(),
            "who": draw.integers(0, 12, rows),
        },
        schema={"age": pl.Int64, "zip": pl.String, "ill": pl.String, "who": pl.Int64},
    )


@pytest.mark.parametrize("model", dbt.MODELS)
@pytest.mark.parametrize("person", [None, "who"])
def test_the_macros_say_what_the_assertions_say(model: str, person: str | None) -> None:
    exposed, connection = 0, duckdb.connect(config={"threads": 1})
    for seed in range(count(2, 60)):
        people = drawn(seed)
        for bound in BOUNDS[model]:
            (parameter,) = dbt.MODELS[model]
            made = registry.make("models", model, {parameter: bound})
            query = rendered("duckdb", model, person=person, bound=bound, worst=made.threshold)
            connection.register("people", people.to_arrow())
            rows = connection.execute(query).fetchall()
            (told,) = exposure(people, made, quasi=["age", "zip"], sensitive=["ill"], person=person)
            assert bool(rows) == bool(told.groups)
            if rows:
                assert rows[0][:4] == (told.people, told.everybody, told.groups, told.all_groups)
                assert rows[0][4] == pytest.approx(told.finding.value)
                exposed += 1
    assert exposed, "no case broke the model"


@pytest.mark.parametrize("dialect", dbt.DIALECTS)
def test_every_dialect_reads_its_macros(dialect: str) -> None:
    for model in dbt.MODELS:
        for person in (None, "who"):
            sqlglot.parse_one(rendered(dialect, model, person=person, bound=2, worst=2), read=dialect)


@pytest.mark.skipif(not LONG, reason="they are long: make test-long")
def test_spark_runs_its_macros(spark: Any) -> None:
    people = drawn(3)
    spark.createDataFrame(people.to_arrow()).createOrReplaceTempView("people")
    for model in ("k-anonymity", "t-closeness"):
        made = registry.make("models", model, dict(registry.examples("models", model)[0]))
        query = rendered("spark", model, person="who", bound=made.bound, worst=made.threshold)
        (row,) = spark.sql(query).collect()
        (told,) = exposure(people, made, quasi=["age", "zip"], sensitive=["ill"], person="who")
        assert tuple(row)[:4] == (told.people, told.everybody, told.groups, told.all_groups)


VISITS = """age,born,ill,who
a,2000,flu,1\na,2000,cold,1\na,2000,flu,2\na,2000,cold,2
b,2000,flu,3\nb,2000,flu,4\nb,2000,flu,5\nb,2000,flu,6\nb,2000,flu,7\nb,2000,flu,1
"""
CHECKS: dict[str, tuple[str, dict[str, Any], Any]] = {
    "k_holds": ("k_anonymous", {"quasi": ["age", "born"], "k": 4}, 0),
    "k_breaks": ("k_anonymous", {"quasi": ["age", "born"], "k": 5}, 4),
    "k_of_people": ("k_anonymous", {"quasi": "age", "k": 4, "person": "who"}, 2),
    "l_breaks": ("l_diverse", {"quasi": ["age"], "sensitive": "ill", "l": 2}, 6),
    "l_by_entropy": ("l_diverse", {"quasi": ["age"], "sensitive": "ill", "l": 2, "notion": "entropy"}, 6),
    "l_by_frequency": ("l_diverse", {"quasi": ["born"], "sensitive": "ill", "l": 1.25, "notion": "frequency"}, 0),
    "t_holds": ("t_close", {"quasi": ["age"], "sensitive": "ill", "t": 0.31}, 0),
    "t_breaks": ("t_close", {"quasi": ["age"], "sensitive": "ill", "t": 0.25}, 4),
    "no_such_column": ("k_anonymous", {"quasi": ["zip"], "k": 2}, "zip"),
}
"""A test of the package, its arguments, and how many people it finds exposed or what its error names: the same figures
as those of `tests/unit/test_testing.py`."""


class Project:
    """A dbt project of somebody who uses the package."""

    def __init__(self, folder: Path, target: dict[str, Any], checks: dict[str, Any] | None = None) -> None:
        if not DBT.exists():
            pytest.skip("they need dbt, with its adapters for DuckDB and PostgreSQL: make .venv-dbt/tried")
        self.folder = folder
        tests = [
            {f"shoal.{test}": {"name": name, "arguments": given}}
            for name, (test, given, _) in (checks or CHECKS).items()
        ]
        files: dict[str, Any] = {
            "dbt_project.yml": {"name": "hospital", "version": "1.0.0", "profile": "hospital",
                                "flags": {"send_anonymous_usage_stats": False}},
            "profiles.yml": {"hospital": {"target": "here", "outputs": {"here": {"threads": 1, **target}}}},
            "packages.yml": {"packages": [{"local": str(PACKAGE)}]},
            "seeds/visits.yml": {"seeds": [{"name": "visits", "data_tests": tests}]},
        }  # fmt: skip
        (folder / "seeds").mkdir()
        (folder / "seeds" / "visits.csv").write_text(VISITS)
        for name, content in files.items():
            (folder / name).write_text(yaml.safe_dump(content))
        (folder / "dbt_packages").mkdir()
        (folder / "dbt_packages" / "shoal").symlink_to(PACKAGE)  # which `dbt deps` does in the long suite

    def run(self, *arguments: str) -> tuple[int, str, dict[str, Any]]:
        """The code, what was printed, and for each test how many people it found or its error."""
        apart = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        done = subprocess.run(
            [DBT, "--no-use-colors", "--no-version-check", *arguments],
            cwd=self.folder, capture_output=True, text=True, env=apart,
        )  # fmt: skip
        results = self.folder / "target" / "run_results.json"
        told = {}
        for each in json.loads(results.read_text())["results"] if results.exists() else ():
            told[each["unique_id"].split(".")[2]] = each["message"] if each["status"] == "error" else each["failures"]
        return done.returncode, done.stdout + done.stderr, told

    def check(self) -> None:
        code, printed, told = self.run("build")
        assert code == 1, printed
        for name, (_, _, expected) in CHECKS.items():
            assert expected in told[name] if isinstance(expected, str) else told[name] == expected, printed
        assert "flu" not in printed and "cold" not in printed


def test_dbt_runs_it_on_duckdb(tmp_path: Path) -> None:
    project = Project(tmp_path, {"type": "duckdb", "path": "hospital.duckdb"})
    if LONG:
        shutil.rmtree(tmp_path / "dbt_packages")
        code, printed, _ = project.run("deps")
        assert code == 0, printed
    project.check()


def server(port: int, user: str = "holder") -> dict[str, Any]:
    return {
        "type": "postgres", "host": "127.0.0.1", "port": port, "user": user, "password": "", "dbname": "postgres",
        "schema": "hospital",
    }  # fmt: skip


@pytest.mark.skipif(not LONG, reason="they are long: make test-long")
def test_dbt_runs_it_on_postgresql(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    Project(tmp_path, server(request.getfixturevalue("postgres"))).check()


@pytest.mark.skipif(not LONG, reason="they are long: make test-long")
def test_a_table_that_may_not_be_read_is_an_error(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """A test that cannot look must not pass."""
    port = request.getfixturevalue("postgres")
    project = Project(tmp_path, server(port), {"k": CHECKS["k_breaks"]})
    project.run("seed")
    import postgres as servers

    grants = "CREATE ROLE guest LOGIN; GRANT USAGE ON SCHEMA hospital TO guest"
    command = [servers.PROGRAMS[-1] / "psql", "-h", "127.0.0.1", "-p", str(port), "-U", "holder", "-d", "postgres"]
    subprocess.run([*command, "-qc", grants], check=True)
    outputs = {"here": {"threads": 1, **server(port, "guest")}}
    (tmp_path / "profiles.yml").write_text(yaml.safe_dump({"hospital": {"target": "here", "outputs": outputs}}))
    code, _, told = project.run("test")
    assert code == 1 and "permission denied" in told["k"]


@pytest.mark.skipif(not LONG, reason="they are long: make test-long")
@pytest.mark.parametrize(
    ("test", "given", "expected"),
    [
        ("k_anonymous", {"quasi": ["age"], "k": 0}, "k is a number, at least 1"),
        ("k_anonymous", {"quasi": [], "k": 2}, "at least one"),
        ("t_close", {"quasi": ["age"], "sensitive": "ill", "t": 2}, "between 0 and 1"),
        (
            "l_diverse",
            {"quasi": ["age"], "sensitive": "ill", "l": 2, "notion": "odd"},
            "distinct, entropy or frequency",
        ),
    ],
)
def test_wrong_arguments_are_refused(tmp_path: Path, test: str, given: dict[str, Any], expected: str) -> None:
    project = Project(tmp_path, {"type": "duckdb", "path": "hospital.duckdb"}, {"wrong": (test, given, None)})
    code, printed, _ = project.run("build")
    assert code in (1, 2) and expected in printed
