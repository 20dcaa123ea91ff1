"""One definition of a run's options: what is declared once is spelled alike everywhere."""

from __future__ import annotations

import dataclasses
import inspect
import shlex
import tomllib
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command

import shoal
from shoal.cli import app
from shoal.cli import options as command_options
from shoal.core.schema import Kind, Missing, Role
from shoal.job import Job, builder, file, plugin, spelling
from shoal.job.arguments import given
from shoal.job.columns import ColumnJob, Roles
from shoal.job.option import option, options
from shoal.publishing.writable_release import WritableRelease

COLUMNS = {
    "age": ColumnJob(role=Role.QUASI, kind=Kind.NUMERIC, hierarchy=builder("intervals:width=5,factor=2")),
    "born, at": ColumnJob(role=Role.QUASI, date_format="day-first", missing=Missing.DROP),
    "income": ColumnJob(role=Role.SENSITIVE, number_format="decimal-comma"),
    "name": ColumnJob(role=Role.IDENTIFIER),
    "who": ColumnJob(role=Role.ENTITY),
    "home": ColumnJob(role=Role.HOUSEHOLD),
    "design": ColumnJob(role=Role.WEIGHT),
}
FULL = Job(
    input=Path("people.csv"),
    missing=("?", "NA, not"),
    delimiter=";",
    encoding="cp1252",
    format="csv",
    sheet="People",
    rename_duplicates=True,
    neutralize_formulas=True,
    engine=plugin("engines", {"name": "spark", "master": "spark://one:7077,two:7077"}),
    hierarchies=Path("trees"),
    household_variables=("born, at",),
    columns=COLUMNS,
    models=(plugin("models", "k-anonymity:k=7"), plugin("models", "entropy-l-diversity:l=1.5")),
    algorithm=plugin("algorithms", "in-blocks:base=k-member:refine=true;time_limit=9"),
    suppression=0.123456789,
    objective=plugin("metrics", "gcp"),
    seed=17,
    repeatable=True,
    protect_jointly=True,
    allow_unverified=True,
    rows_are_people=True,
    allow_plain=("remark", "a, b"),
    publish_weights="scaled:10",
    attack=True,
    attacks=(plugin("attacks", "prosecutor:threshold=0.2"),),
    attack_threshold=0.5,
    output=Path("out.csv"),
    overwrite=True,
    manifest=Path("out.json"),
    pseudonyms="keyed",
    key_file=Path("secret.key"),
    sign=Path("sign.pem"),
    plot=Path("out.svg"),
    recoding=Path("recoding.json"),
    ledger=Path("people.ledger"),
    allow_unjudged=("income", "release:1"),
    rows_per_file=1000,
    resume_dir=Path("unfinished"),
    target="remark",
    sweep=("k=2..20", "algorithm=oka"),
    utility=("c45",),
    privacy=("suppression-share",),
    privacy_columns=("age",),
    seeds=3,
    analyses=(file.parse({"analyses": [{"analysis": "mean(age)"}]}, Path()).analyses),
)
"""A job that says something of everything."""
VERBS = {
    "read": shoal.read, "anonymize": shoal.anonymize, "balance": shoal.balance, "compare": shoal.compare,
    "apply": shoal.apply, "detect": shoal.detect, "dependencies": shoal.dependencies, "write": WritableRelease.write,
}  # fmt: skip


def names(job: Any) -> list[str]:
    return [each.name for each in options(job)]


def test_every_field_is_an_option_that_is_tried() -> None:
    assert {field.name for field in fields(Job)} == {*names(Job), "file", "columns"}
    for each in options(Job):
        assert getattr(FULL, each.name) != each.default, f"{each.name} is not tried"
    for each in options(ColumnJob):
        assert any(getattr(column, each.name) != each.default for column in COLUMNS.values()), each.name


def test_the_job_file_has_every_option() -> None:
    text = file.toml(FULL)
    assert file.parse(tomllib.loads(text), Path()) == FULL
    keys = {each.key for each in options(Job)} | {each.key for each in options(ColumnJob)}
    described = str(file.schema())
    assert all(f"'{key}'" in described for key in keys)


@pytest.mark.parametrize("command", ["anonymize", "balance", "compare", "diagnose", "evaluate", "apply", "hierarchy"])
def test_a_command_takes_what_the_job_says(command: str) -> None:
    declared = {each.argument: each for noun in (Job, Roles, ColumnJob) for each in options(noun)}
    taken = {parameter.name for parameter in command_options.run_parameters(command)} - {"master", "job_file"}
    assert taken == {name for name, each in declared.items() if command in each.commands}
    shown = {parameter.name: parameter for parameter in get_command(app).commands[command].params}  # type: ignore[attr-defined]
    for name in taken:
        assert declared[name].help.split()[0] in (shown[name].help or "")
        assert not declared[name].flags or list(declared[name].flags) == shown[name].opts


def test_every_command_of_an_option_exists_and_has_it() -> None:
    commands = get_command(app).commands  # type: ignore[attr-defined]
    for noun in (Job, Roles, ColumnJob):
        for each in options(noun):
            for command in each.commands:
                assert each.argument in {parameter.name for parameter in commands[command].params}, (command, each.name)


def parsed(words: list[str]) -> Job:
    """The job that a command makes of its words."""
    command = typer.Typer()
    made: list[Job] = []

    def run(job: Job) -> None:
        made.append(job)

    run.__annotations__ = {"job": Job, "return": None}
    command.command()(command_options.expand_options("anonymize", run))
    command(words, standalone_mode=False)
    return made[0]


def test_the_spelled_command_says_all_that_a_command_can_say() -> None:
    words = shlex.split(spelling.command(FULL).replace("\\\n", " "))
    assert words[:2] == ["shoal", "anonymize"]
    unsaid = {each.name: each.default for each in options(Job) if "anonymize" not in each.commands}
    assert parsed(words[2:]) == replace(FULL, **unsaid, attack=True)
    for each, _ in given(FULL):
        assert "anonymize" not in each.commands or not each.flags or each.flags[-1] in words, each.name


class Recorder:
    """Stands for the library where the spelled Python is run: it notes what each verb is given."""

    def __init__(self) -> None:
        self.calls: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {}
        self.models, self.job = shoal.models, shoal.job

    def __getattr__(self, verb: str) -> Any:
        def call(*places: Any, **named: Any) -> Recorder:
            self.calls[verb] = (places, named)
            return self

        return call


def carried_out(text: str) -> Recorder:
    recorder = Recorder()
    exec(compile(text.replace("import shoal\n", ""), "spelled", "exec"), {"shoal": recorder})
    return recorder


def test_the_spelled_python_says_all_that_the_verbs_can_say() -> None:
    job = replace(
        FULL, pseudonyms=None, key_file=None, plot=None, recoding=None, attack=False, attacks=(), attack_threshold=None
    )
    calls = carried_out(spelling.python(job)).calls
    for verb in spelling.VERBS:
        said = {each.argument for each, _ in given(job) if verb in each.verbs and "anonymize" in each.commands}
        assert set(calls[verb][1]) == said, verb
        inspect.signature(VERBS[verb]).bind_partial(**calls[verb][1])
    assert calls["read"][1]["kinds"] == {"age": "numeric"} and calls["read"][0] == ("people.csv",)
    assert calls["anonymize"][0][1:] == job.models and calls["write"][0] == ("out.csv",)


def test_what_no_verb_takes_is_spelled_as_a_job() -> None:
    (job,), _ = carried_out(spelling.python(FULL)).calls["run"]
    assert job == FULL


@pytest.mark.parametrize("verb", VERBS)
def test_verbs_have_the_options_with_the_same_defaults(verb: str) -> None:
    parameters = inspect.signature(VERBS[verb]).parameters
    for noun in (Job, Roles, ColumnJob):
        for each in options(noun):
            if verb not in each.verbs:
                continue
            default = parameters[each.argument].default
            by_itself = {"algorithm": "auto", "privacy": "suppression-share"}.get(each.name)
            assert default == each.default or default in (None, by_itself), (verb, each.name)


@dataclass(frozen=True, kw_only=True)
class Longer(Job):
    """A job with one option more."""

    colour: str | None = option(
        None, "output.colour", "Colour of the release.", frozenset({"anonymize"}), verbs="anonymize", formerly="paint"
    )


def test_an_option_that_is_added_in_one_place_is_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    job = Longer(input=Path("a.csv"), output=Path("b.csv"), colour="green")
    assert 'colour = "green"' in file.toml(job)
    assert file.parse(tomllib.loads(file.toml(job)), Path(), noun=Longer) == job
    assert "Colour of the release." in str(file.schema(Longer))
    with pytest.raises(shoal.errors.InputError, match=r"output\.paint is called output\.colour now"):
        file.parse({"output": {"paint": "green"}}, Path(), noun=Longer)
    with pytest.raises(shoal.errors.InputError, match=r"output\.colour must be text"):
        file.parse({"output": {"colour": 5}}, Path(), noun=Longer)
    assert "--colour green" in spelling.command(job)
    assert "    colour='green',\n" in spelling.python(job)
    assert "colour" in {parameter.name for parameter in command_options.run_parameters("anonymize", Longer)}
    assert "colour" not in {parameter.name for parameter in command_options.run_parameters("balance", Longer)}


def test_an_annotation_without_a_kind_is_refused() -> None:
    odd = dataclasses.make_dataclass("Odd", [("colours", "dict[str, int]", option({}.__class__, "x.colours", ""))])
    with pytest.raises(TypeError, match="no kind of option"):
        list(options(odd))


def test_a_list_that_is_given_twice_is_joined() -> None:
    """A column that the first of two --drop names must not be published because there is a second one."""
    nothing = dict.fromkeys((each.name for each in command_options.run_parameters("anonymize")), None)
    job = command_options.job_from("anonymize", {**nothing, "quasi": ["age", "sex,zip"], "drop": ["name", '"a,b"']})
    assert job.roles.quasi == ("age", "sex", "zip") and job.roles.drop == ("name", "a,b")
    kinds = {each.name: each.annotation for each in command_options.run_parameters("anonymize")}
    assert all("list[str]" in str(kinds[name]) for name in ("quasi", "sensitive", "identifiers", "drop", "allow_plain"))
