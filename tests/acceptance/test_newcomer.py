"""A newcomer with five messy files: detects, does what the errors advise, publishes with every default, and is right
by a check that knows nothing of Shoal."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from confirmation import confirm, read
from counts import LONG
from messy import FILES, ROW

from shoal.cli import main

K = 5
MEASURED = ("court", "covid")
"""Files whose releases are measured every day by all that there is, one of records and one of people; `LONG` measures
all of them so."""
Shell = Callable[..., tuple[int, str, str]]


@dataclass(frozen=True)
class Knowledge:
    """What the newcomer knows about a table. The `answers` are said only when an error asks for them."""

    person: str | None
    missing: str = ""
    births: tuple[str, ...] = ()
    answers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    delimiter: str = ","
    dates: str = "%Y-%m-%d"


KNOWN = {
    "hospital": Knowledge(person="SSN", missing="NA", births=("BIRTHDATE",)),
    "court": Knowledge(
        person=None, missing="NA,n/a,?", births=("dob",), answers={"--rename-duplicates": ()}, dates="%m/%d/%Y",
    ),
    "covid": Knowledge(person="patient_id", births=("Geburtsdatum",), delimiter=";", dates="%d.%m.%Y"),
    "panel": Knowledge(
        person="pid", missing="-8,NA,.", dates="%d/%m/%Y",
        answers={"--rename-duplicates": (), "--date-format": ("interview_date=day-first",)},
    ),
    "insurance": Knowledge(person="Versichertennummer", births=("Geburtsdatum",), delimiter=";", dates="%d.%m.%Y"),
}  # fmt: skip


@pytest.fixture
def shell(tmp_path, monkeypatch, capsys) -> Shell:
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            main(list(arguments))
        said = capsys.readouterr()
        return stop.value.code or 0, said.out, said.err

    return run


def advised(shell: Shell, known: Knowledge, used: set[str], *command: str) -> dict:
    """What a command says once everything was done that its errors advise; each stop leaves the folder as it was."""
    while True:
        before = {path.name: path.read_bytes() for path in Path().iterdir()}
        code, out, err = shell(*command, "--json")
        if code == 0:
            return json.loads(out)
        assert code == 2 and before == {path.name: path.read_bytes() for path in Path().iterdir()}
        asked = [option for option in known.answers if option in err and option not in command]
        assert asked, err
        used |= {*asked}
        command = (*command, *(word for option in asked for word in (option, *known.answers[option])))


@pytest.mark.parametrize("name", FILES)
def test_a_newcomer_publishes_what_an_independent_check_confirms(name, shell):
    known, table, used = KNOWN[name], f"{name}.csv", set()
    meant = FILES[name](Path(table)).to_pandas()
    spelled = ("--missing", known.missing) if known.missing else ()
    advised(shell, known, used, "diagnose", table, "--detect", "--save-job", "job.toml", *spelled)
    columns = tomllib.loads(Path("job.toml").read_text(encoding="utf-8"))["columns"]
    by_role = {role: [column for column, said in columns.items() if said["role"] == role] for role in
               ("quasi", "identifier", "entity")}  # fmt: skip
    quasi = [column for column in by_role["quasi"] if column != ROW]
    released = advised(
        shell, known, used, "anonymize", "--job", "job.toml", "-o", "out.csv", "--k", str(K), "--quasi",
        ",".join(quasi), "--allow-plain", ROW, "--save-job", "run.toml",
    )  # fmt: skip
    assert used == {*known.answers}
    assert by_role["entity"] == ([known.person] if known.person else [])
    published = read(Path("out.csv"), known.delimiter)
    confirm(
        published, meant, key=ROW, person=known.person, quasi=quasi, births=list(known.births), dates=known.dates, k=K,
        hidden=by_role["identifier"] + by_role["entity"],
    )  # fmt: skip
    assert released["suppressed"] == len(meant) - len(published)
    stated = json.loads(Path("out.csv.manifest.json").read_text(encoding="utf-8"))
    assert stated["suppressed"] == len(meant) - len(published)
    measures = () if LONG or name in MEASURED else ("--metrics", "gcp")
    told = (table, "out.csv", "--job", "run.toml")
    for command in (("verify", "out.csv"), ("evaluate", *told, *measures), ("attack", *told)):
        code, out, err = shell(*command, "--json")
        assert code == 0, err
        findings = json.loads(out).get("findings", {"k": {"value": K}})
        assert findings["k"]["value"] >= K
    with Path("out.csv").open("a", encoding="utf-8") as file:
        file.write(published.iloc[0].str.cat(sep=known.delimiter) + "\n")
    assert shell("verify", "out.csv", "--json")[0] == 1
