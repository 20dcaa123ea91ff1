"""The examples for Airflow and Dagster run, each in an environment of its own, and stop where somebody is exposed."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from counts import LONG

import shoal

ROOT = Path(__file__).parents[2]
SECRET = "Zacharias"

pytestmark = pytest.mark.skipif(not LONG, reason="they are long: make test-long")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A table of visits; everybody in it is alone."""
    rows = range(120)
    pl.DataFrame(
        {
            "name": [f"{SECRET} {row}" for row in rows],
            "age": [20 + row % 50 for row in rows],
            "sex": ["f", "m", "f"] * 40,
            "town": [f"town {row % 7}" for row in rows],
            "disease": ["flu", "cold", "hiv", "gout"] * 30,
        }
    ).write_csv(tmp_path / "visits.csv")
    return tmp_path


def run(tool: str, folder: Path, code: str, **more: str) -> str:
    """What Python prints in the environment of a tool."""
    python = ROOT / f".venv-{tool}" / "bin" / "python"
    if subprocess.run([python, "-c", f"import {tool}"], capture_output=True).returncode if python.exists() else True:
        pytest.skip(f"they need {tool}: make .venv-{tool}/tried")
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT / "examples" / tool)])
    environment = {**os.environ, "PYTHONPATH": paths, **more}
    environment["PATH"] = os.pathsep.join([str(python.parent), os.environ["PATH"]])
    done = subprocess.run([python, "-c", code], cwd=folder, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert SECRET not in done.stdout + done.stderr
    return done.stdout


DAGSTER = """
import json, shutil
import dagster as dg
from definitions import Files, nobody_is_exposed, release

def checked(assets):
    with dg.instance_for_test() as instance:
        done = dg.materialize(assets, instance=instance, raise_on_error=False)
        return [
            [each.passed, {name: entry.value for name, entry in each.metadata.items()}]
            for each in done.get_asset_check_evaluations()
        ]

made = checked([release, nobody_is_exposed])
shutil.copy("visits.csv", "release.csv")

@dg.asset(name="release")
def careless():
    pass

@dg.asset_check(asset=careless)
def again():
    return nobody_is_exposed.node_def.compute_fn.decorated_fn(Files())

print(json.dumps([made, checked([careless, again])]))
"""


def test_dagster(folder: Path) -> None:
    made, careless = json.loads(run("dagster", folder, DAGSTER).splitlines()[-1])
    ((passed, told),) = made
    assert passed and list(told) == ["5-anonymous", "distinct 2-diverse"]
    assert all(entry.startswith("0 of ") for entry in told.values())
    assert careless[0][0] is False and careless[0][1]["5-anonymous"] == "120 of 120 people exposed"
    assert shoal.verify(folder / "release.csv").holds is False


AIRFLOW = """
import json, shutil
from monthly_release import monthly_release
dag = monthly_release()
done = dag.test(run_conf={"table": "visits.csv", "release": "release.csv"})
states = {each.task_id: str(each.state) for each in done.get_task_instances()}
shutil.copy("visits.csv", "careless.csv")
try:
    dag.get_task("check").python_callable("careless.csv")
except AssertionError as failure:
    print(json.dumps([str(done.state), states, str(failure)]))
"""


def test_airflow(folder: Path) -> None:
    settings: dict[str, Any] = {
        "AIRFLOW_HOME": str(folder / "airflow"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__DAGS_FOLDER": str(ROOT / "examples" / "airflow"),
        "NO_PROXY": "*",
    }
    run("airflow", folder, "import subprocess; subprocess.run(['airflow', 'db', 'migrate'], check=True)", **settings)
    state, states, failure = json.loads(run("airflow", folder, AIRFLOW, **settings).splitlines()[-1])
    assert state == "success" and states == dict.fromkeys(("anonymize", "check", "verify"), "success")
    assert failure.startswith("the table is not 5-anonymous by age, sex and town: 120 of 120 people are exposed")
    assert shoal.verify(folder / "release.csv").holds
