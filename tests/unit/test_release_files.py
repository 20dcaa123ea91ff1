"""What goes with a release says what the code says: the workflow, the recipe for conda, the citation, the templates."""

from __future__ import annotations

import re
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml
from distribution import building

import shoal

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / ".github"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def loaded(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", sorted(GITHUB.glob("workflows/*.yml")), ids=lambda path: path.stem)
def test_workflows_name_what_there_is(path: Path) -> None:
    workflow = loaded(path)
    jobs = workflow["jobs"]
    assert workflow["permissions"] == {"contents": "read"}, "nothing may write unless its job says so"
    for job in jobs.values():
        assert {job["needs"]} <= set(jobs) if "needs" in job else True
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step)
            for module in re.findall(r"python3? -m (\S+)", step.get("run", "")):
                assert find_spec(module) is not None, module
            for target in re.findall(r"make (\w+)", step.get("run", "")):
                assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE), target


def test_a_tag_builds_tries_and_publishes() -> None:
    workflow = loaded(GITHUB / "workflows" / "release.yml")
    assert workflow[True] == {"push": {"tags": ["v*"]}}  # YAML takes the key "on" for a truth value
    jobs = workflow["jobs"]
    assert [jobs[name]["needs"] for name in ("try", "publish", "image")] == ["build", "try", "publish"]
    assert tuple(jobs["try"]["strategy"]["matrix"]["python"]) == building.PYTHONS
    set_up = next(step for step in jobs["build"]["steps"] if "setup-python" in step.get("uses", ""))
    assert sorted(set_up["with"]["python-version"].split()) == sorted(building.PYTHONS)
    assert any("--final" in step.get("run", "") for step in jobs["build"]["steps"])


def test_the_recipe_needs_what_the_package_needs(tmp_path: Path) -> None:
    recipe = loaded(ROOT / "distribution" / "conda" / "recipe.yaml")
    assert recipe["context"]["version"] == shoal.__version__
    run = {requirement.replace(" ", "") for requirement in recipe["requirements"]["run"]}
    assert run == {f"python{PROJECT['requires-python']}", *PROJECT["dependencies"]}
    built_with = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    assert set(built_with) <= {requirement.replace(" ", "") for requirement in recipe["requirements"]["host"]}
    (tmp_path / "shoal.tar.gz").write_bytes(b"sdist")
    building.write_recipe(ROOT, tmp_path / "shoal.tar.gz", tmp_path)
    digest = "714772a9f82b2aeb4fa5f7092d00fe4ac4c9cdeb6800840b6ed39ea64c4d785a"
    assert loaded(tmp_path / "recipe.yaml")["source"]["sha256"] == digest


def test_the_citation_is_of_this_version() -> None:
    citation = loaded(ROOT / "CITATION.cff")
    assert citation["version"] == shoal.__version__ and citation["license"] == PROJECT["license"]
    assert {"cff-version", "message", "title", "authors"} <= set(citation)


@pytest.mark.parametrize("name", ["bug", "feature"])
def test_issue_forms_ask_something(name: str) -> None:
    form = loaded(GITHUB / "ISSUE_TEMPLATE" / f"{name}.yml")
    assert {"name", "description", "body"} <= set(form)
    asked = [part for part in form["body"] if part["type"] != "markdown"]
    assert len({part["id"] for part in asked}) == len(asked)
    assert all(part["attributes"]["label"] for part in asked)
    assert any(part.get("validations", {}).get("required") for part in asked)


def test_the_page_of_the_installation_names_every_extra() -> None:
    page = (ROOT / "docs" / "installation.md").read_text(encoding="utf-8")
    listed = {
        extra for row in re.findall(r"^\| (`.*?`) \|", page, re.MULTILINE) for extra in re.findall(r"`(\w+)`", row)
    }
    assert listed == set(PROJECT["optional-dependencies"]) - {"dev"}
    names = [re.split(r"[>=\[]", requirement)[0] for requirement in PROJECT["dependencies"]]
    assert [name for name in names if name not in page and name != "typing-extensions"] == []
