"""The image and the workflow in `examples/`: what they name exists, and the workflow's commands run."""

from __future__ import annotations

import json
import os
import re
import shlex
import socket
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request
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
    steps = instructions()
    bases = [rest.split()[0] for word, rest in steps if word == "FROM"]
    (version,) = {base.removeprefix("python:").removesuffix("-slim") for base in bases}
    assert f"Programming Language :: Python :: {version}" in PROJECT["classifiers"]
    copied = [rest.split()[:-1] for word, rest in steps if word == "COPY" and not rest.startswith("--from")]
    sources = [source for each in copied for source in each]
    assert all((ROOT / source).exists() for source in sources)
    needed = {"src", "README.md", "hatch_build.py", *PROJECT["license-files"], "pyproject.toml"}
    assert needed <= set(sources), "the build of the package needs these files"
    extras = next(rest for word, rest in steps if word == "ARG").removeprefix("EXTRAS=").split(",")
    assert set(extras) <= set(PROJECT["optional-dependencies"])
    words = [word for word, _ in steps]
    assert words.index("USER") > len(words) - 1 - words[::-1].index("RUN"), "whoever runs it has changed nothing in it"
    assert PROJECT["scripts"]["shoal"] == "shoal.cli:main"


def test_the_image_serves_the_page_as_nobody(tmp_path: Path) -> None:
    steps = dict(instructions())
    user = int(steps["USER"].split(":")[0])
    command = json.loads(steps["CMD"])
    parsed(shlex.split(command[-1].replace("$HOSTNAME", "localhost"))[2:])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command[-1] = command[-1].replace(steps["EXPOSE"], port)
    assert port in command[-1]
    settings = dict(setting.split("=") for setting in steps["ENV"].split())
    settings = {name: value.replace("/tmp", str(tmp_path)) for name, value in settings.items()}
    tmp_path.chmod(0o777)
    can_change = os.getuid() == 0 and _can_read(user)
    server = subprocess.Popen(
        command, cwd="/", env={
            **os.environ, **settings, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOSTNAME": "localhost", "SHOAL_PASSWORD": "a secret", "PYTHONDONTWRITEBYTECODE": "1",
        },
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **({"user": user} if can_change else {}),
    )  # fmt: skip
    try:
        shown = _fetched(f"http://127.0.0.1:{port}/", server)
        assert "password" in shown and "<form" in shown
    finally:
        server.terminate()
        server.communicate(timeout=60)


def _fetched(address: str, server: subprocess.Popen[str]) -> str:
    """A page, as soon as its server listens."""
    while server.poll() is None:
        try:
            return str(urllib.request.urlopen(address, timeout=60).read().decode())
        except urllib.error.HTTPError as error:
            return str(error.read().decode())
        except urllib.error.URLError:
            time.sleep(0.05)
    raise AssertionError(server.stdout.read() if server.stdout else "")


def _can_read(user: int) -> bool:
    """Whether nobody can start this Python and read these sources: they may lie in somebody's own folder."""
    probe = [sys.executable, "-c", "import shoal.cli"]
    try:
        return subprocess.run(probe, user=user, capture_output=True, cwd="/").returncode == 0
    except PermissionError:
        return False


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
