"""The image and the workflow in `examples/`: what they name exists, and the workflow's commands run."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

import shoal
from shoal.cli import app, main

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DOCKERFILE = (ROOT / "examples" / "Dockerfile").read_text(encoding="utf-8")
JOB = """
[input]
path = "people.csv"
[columns.age]
role = "quasi"
[columns.sex]
role = "quasi"
[policy]
models = ["k-anonymity:k=5"]
[output]
path = "release.csv"
"""


def instructions() -> list[tuple[str, str]]:
    text = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", DOCKERFILE, flags=re.MULTILINE))
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in text.splitlines() if line)]


def parsed(arguments: list[str]) -> None:
    """Raises unless the command takes these arguments."""
    commands: Any = get_command(app)
    commands.commands[arguments[0]].make_context(arguments[0], arguments[1:])


def test_the_image_names_what_exists() -> None:
    found = instructions()
    words = [word for word, _ in found]
    assert words[0] == "FROM" and set(words) <= {"FROM", "ARG", "COPY", "RUN", "ENV", "USER", "WORKDIR", "ENTRYPOINT"}
    version = found[0][1].removeprefix("python:").removesuffix("-slim")
    assert f"Programming Language :: Python :: {version}" in PROJECT["classifiers"]
    sources = [source for word, rest in found if word == "COPY" for source in rest.split()[:-1]]
    assert "src" in sources and all((ROOT / source).exists() for source in sources)
    extras = next(rest for word, rest in found if word == "ARG").removeprefix("EXTRAS=").split(",")
    assert set(extras) <= set(PROJECT["optional-dependencies"])
    needed = {PROJECT["readme"], *PROJECT["license-files"], "pyproject.toml"}
    assert needed <= set(sources), "the build of the package needs these files"
    runs = [part.strip() for word, rest in found if word == "RUN" for part in rest.split("&&")]
    ours = [shlex.split(run)[1:] for run in runs if run.startswith("shoal ")]
    assert ours
    for arguments in ours:
        parsed(arguments)
    assert words.index("USER") < len(words) - 1 - words[::-1].index("RUN"), "kernels are compiled by the one who runs"
    assert dict(found)["ENTRYPOINT"] == '["shoal"]' and PROJECT["scripts"]["shoal"] == "shoal.cli:main"


def test_the_workflow_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workflow = yaml.safe_load((ROOT / "examples" / "github-actions.yml").read_text(encoding="utf-8"))
    (job,) = workflow["jobs"].values()
    runs = [step["run"] for step in job["steps"] if "run" in step]
    install = next(run for run in runs if run.startswith("pip"))
    assert set(re.search(r"\[(.*)\]", install)[1].split(",")) <= set(PROJECT["optional-dependencies"])  # type: ignore[index]
    monkeypatch.chdir(tmp_path)
    shoal.samples.adult().head(200).write_csv(tmp_path / "people.csv")
    (tmp_path / "job.toml").write_text(JOB, encoding="utf-8")
    ours = [shlex.split(run)[1:] for run in runs if run.startswith("shoal ")]
    assert [arguments[0] for arguments in ours] == ["anonymize", "verify", "attack", "evaluate"]
    for arguments in ours:
        with pytest.raises(SystemExit) as end:
            main(arguments)
        assert not end.value.code, arguments
    kept = next(step["with"]["path"] for step in job["steps"] if "upload" in step.get("uses", ""))
    assert all((tmp_path / name).is_file() for name in kept.split())
