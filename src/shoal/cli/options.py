"""The options of commands: those of a run, as the job declares them, and those that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from shoal.errors import InputError, ParameterError
from shoal.job.columns import ColumnJob, Roles, role_of
from shoal.job.job import Job
from shoal.job.kinds import NumberKind
from shoal.job.lists import split_pairs
from shoal.job.option import Option, options

if TYPE_CHECKING:
    from shoal.core.contracts.engine import Engine


def expand_options(name: str, command: Callable[..., None]) -> Callable[..., None]:
    """The command with single options in the place of groups: a `Job` becomes the options of a run that the command
    has, and any other dataclass its fields. Typer sees the options; the command gets the groups."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {each: hint for each, hint in hints.items() if is_dataclass(hint)}
    expansions = {each: run_parameters(name) if hint is Job else _fields(hint) for each, hint in groups.items()}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        single = parameter.replace(annotation=hints[parameter.name], kind=parameter.KEYWORD_ONLY)
        parameters += expansions.get(parameter.name, [single])

    @wraps(command)
    def expanded(**arguments: Any) -> None:
        objects = {}
        for each, group in groups.items():
            values = {parameter.name: arguments.pop(parameter.name) for parameter in expansions[each]}
            objects[each] = job_from(name, values) if group is Job else group(**values)
        command(**objects, **arguments)

    expanded.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    expanded.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return expanded


def _fields(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [_parameter(field.name, hints[field.name], field.default) for field in fields(group)]


def _parameter(name: str, annotation: Any, default: Any = None) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def run_parameters(command: str, job: type[Job] = Job) -> list[inspect.Parameter]:
    """The options of a run that a command has, as Typer takes them, and the file that may have them all."""
    declared = [option for noun in (Roles, ColumnJob, job) for option in options(noun) if command in option.commands]
    parameters = [_parameter(option.argument, Annotated[_type(option), _typer_option(option)]) for option in declared]
    return [*parameters, _parameter("master", Master), _parameter("job_file", JobFile)]


def _type(option: Option) -> Any:
    return list[str] | None if option.by_column else option.kind.of_command


def _typer_option(option: Option) -> Any:
    if not option.flags:
        return typer.Argument(help=option.help)
    family = None if option.by_column else option.kind.family
    return typer.Option(
        *option.flags,
        help=option.help,
        metavar="COLUMN=…" if option.by_column else option.kind.metavar,
        rich_help_panel=_panel(option),
        min=option.kind.least if isinstance(option.kind, NumberKind) else None,
        autocompletion=None if family is None else names_of(family),
    )


def _panel(option: Option) -> str:
    """The heading under which the help of a command has an option: that of its table in the job file."""
    return PANELS["columns" if option.by_column or not option.place else option.place[0]]


PANELS = {
    "columns": "Columns", "input": "Reading the table", "policy": "Policy", "algorithm": "Policy", "attacks": "Policy",
    "output": "Output", "balance": "Balance", "analyses": "Analyses",
}  # fmt: skip


def job_from(command: str, arguments: Mapping[str, Any]) -> Job:
    """The job file with what the options of a command say in the place of what it says."""
    from shoal.job.file import load

    def entries(noun: type) -> list[tuple[Option, Any]]:
        values = [(option, arguments[option.argument]) for option in options(noun) if command in option.commands]
        return [(option, value) for option, value in values if value not in (None, [])]

    job = Job() if arguments["job_file"] is None else load(arguments["job_file"])
    changes = {
        option.name: option.kind.merge(getattr(job, option.name), option.kind.parse(value))
        for option, value in entries(Job)
        if option.name != "engine"
    }
    engine = _engine(arguments["engine"], arguments["master"])
    job = replace(job, **changes)
    job = job if engine is None else replace(job, engine=engine)
    roles = {role_of(option.name): _as_tuple(option.kind.parse(value)) for option, value in entries(Roles)}
    settings = {
        option.name: {name: option.kind.parse(text) for name, text in split_pairs(value, option.flag).items()}
        for option, value in entries(ColumnJob)
    }
    return job.with_roles(roles).with_columns(settings)


def _as_tuple(names: str | tuple[str, ...]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else names


def _engine(spec: str | None, master: str | None) -> Engine | None:
    """The engine, at the address of a cluster where one is given."""
    from shoal.job.plugins import engine, parse_spec

    if master is None:
        return None if spec is None else engine(spec)
    if spec is None:
        raise ParameterError("--master needs an engine that runs on a cluster; name it with --engine")
    name, values = parse_spec(spec)
    return engine({"name": name, **values, "master": master})


def job_and_release(job: Job, release: Path | None) -> tuple[Job, Path]:
    """The job of a table and the release of it. Roles come from the release's manifest where the job has none."""
    from shoal import manifest, registry
    from shoal.core.schema import Role
    from shoal.storage.files import names_table

    output = release or job.output
    if output is None:
        raise InputError("name the release file after the table")
    job = replace(job, output=output)
    if job.engine is None and names_table(output):
        job = replace(job, engine=registry.engine_for(output))
    if any(column.role is not Role.PLAIN for column in job.columns.values()):
        return job, output
    stated = manifest.columns_of(output)
    with_roles = {
        name: replace(column, role=stated[name].role, kind=column.kind or stated[name].kind)
        for name, column in job.columns.items()
        if name in stated
    }
    return replace(job, columns={**stated, **job.columns, **with_roles}), output


def names_of(family: str) -> Callable[[str], list[str]]:
    """Completes the name of a plug-in."""

    def complete(incomplete: str) -> list[str]:
        from shoal import registry

        return [name for name in registry.names(family) if name.startswith(incomplete)]

    return complete


JobFile = Annotated[
    Path | None, typer.Option("--job", help="Job file (TOML). Options on the command line override it.")
]
Master = Annotated[
    str | None,
    typer.Option(
        "--master",
        help="Address of the cluster, such as spark://host:7077 (with --engine).",
        rich_help_panel="Reading the table",
    ),
]
Release = Annotated[Path | None, typer.Argument(help="The release file.")]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help=next(each.help for each in options(Job) if each.name == "overwrite"))
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
All = Annotated[bool, typer.Option("--all", help="Show every measure, with its unit and how it is computed.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="File to write the result to.")]
