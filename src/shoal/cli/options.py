"""The options that commands share, in blocks, and the job that they make."""

from __future__ import annotations

import csv
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from shoal.errors import ParameterError

if TYPE_CHECKING:
    from shoal.core.contracts.engine import Engine
    from shoal.job import Job


def taken_apart(command: Callable[..., None]) -> Callable[..., None]:
    """The command with each parameter that is a block of options (a dataclass) taken apart into these options.

    Typer sees the options; the command gets the blocks.
    """
    hints = get_type_hints(command, include_extras=True)
    blocks: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters = []
    for parameter in inspect.signature(command).parameters.values():
        block = blocks.get(parameter.name)
        if block is None:
            parameters.append(parameter.replace(annotation=hints[parameter.name], kind=parameter.KEYWORD_ONLY))
        else:
            inner = get_type_hints(block, include_extras=True)
            parameters += [
                inspect.Parameter(
                    field.name, parameter.KEYWORD_ONLY, default=field.default, annotation=inner[field.name]
                )
                for field in fields(block)
            ]

    @wraps(command)
    def taking(**given: Any) -> None:
        made = {
            name: block(**{field.name: given.pop(field.name) for field in fields(block)})
            for name, block in blocks.items()
        }
        command(**made, **given)

    taking.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    taking.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return taking


def names_of(family: str) -> Callable[[str], list[str]]:
    """Completes the name of a plug-in."""

    def complete(incomplete: str) -> list[str]:
        from shoal import registry

        return [name for name in registry.names(family) if name.startswith(incomplete)]

    return complete


JobFile = Annotated[
    Path | None, typer.Option("--job", help="Job file (TOML). Options on the command line override it.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
All = Annotated[bool, typer.Option("--all", help="Show every measure, with its unit and how it is computed.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="File to write the result to.")]
Models = Annotated[
    list[str] | None,
    typer.Option("--model", help="Privacy model, as NAME:key=value,… Repeatable.", autocompletion=names_of("models")),
]
Suppression = Annotated[
    float | None,
    typer.Option("--suppression", help="Largest share of the records that may be left out, such as 0.02 (default: 0)."),
]
Objective = Annotated[
    str | None,
    typer.Option("--objective", help="Loss to minimize: the name of a metric.", autocompletion=names_of("metrics")),
]
ProtectJointly = Annotated[
    bool | None,
    typer.Option("--protect-jointly", help="Protect each sensitive column even against someone who knows the others."),
]

EngineName = Annotated[
    str | None,
    typer.Option(
        "--engine",
        help="Engine that processes the table, as NAME:key=value,… (default: this process).",
        autocompletion=names_of("engines"),
    ),
]
RowsArePeople = Annotated[
    bool | None,
    typer.Option(
        "--rows-are-people", help="Confirm that every row is a different person, even where an identifier repeats."
    ),
]
AllowPlain = Annotated[
    str | None,
    typer.Option(
        "--allow-plain", help="Columns without a role to publish unchanged without a check, separated by commas."
    ),
]


@dataclass(frozen=True, kw_only=True)
class Source:
    """The table, and how its file is read."""

    source: Annotated[
        Path | None,
        typer.Argument(
            help="The table: CSV or JSON lines (also .gz, .zst), Parquet (also a folder), Arrow IPC, a spreadsheet, or "
            "a Stata, SPSS or SAS file; - reads standard input."
        ),
    ] = None
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            "--kind", help="Kind of a column: COLUMN=numeric|categorical|date|text (default: detected). Repeatable."
        ),
    ] = None
    date_formats: Annotated[
        list[str] | None,
        typer.Option(
            "--date-format",
            help="How a column writes dates: COLUMN=day-first|month-first|iso, or a pattern such as COLUMN=%d.%m.%y "
            "(default: detected). Repeatable.",
        ),
    ] = None
    number_formats: Annotated[
        list[str] | None,
        typer.Option(
            "--number-format",
            help="How a column writes numbers: COLUMN=decimal-comma|decimal-point (default: detected). Repeatable.",
        ),
    ] = None
    missing: Annotated[
        str | None, typer.Option("--missing", help="Cells that mean a missing value, such as NA, separated by commas.")
    ] = None
    delimiter: Annotated[
        str | None, typer.Option("--delimiter", help="Delimiter of the CSV file (default: detected).")
    ] = None
    encoding: Annotated[
        str | None, typer.Option("--encoding", help="Encoding of the CSV file (default: detected).")
    ] = None
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="File format: csv|parquet|arrow|xlsx|jsonl|arff|dta|sav|sas7bdat|xpt (default: detected).",
        ),
    ] = None
    sheet: Annotated[str | None, typer.Option("--sheet", help="Sheet to read from a workbook with several sheets.")] = (
        None
    )
    rename_duplicates: Annotated[
        bool | None,
        typer.Option("--rename-duplicates", help="Number columns that have the same name: x, x.1, …"),
    ] = None
    neutralize_formulas: Annotated[
        bool | None,
        typer.Option(
            "--neutralize-formulas", help="Put an apostrophe before texts that a spreadsheet would run as a formula."
        ),
    ] = None
    engine: EngineName = None
    master: Annotated[
        str | None, typer.Option("--master", help="Address of the cluster, such as spark://host:7077 (with --engine).")
    ] = None
    job: JobFile = None

    def made(self) -> Job:
        """The job file with what the options say in the place of what it says."""
        from shoal import job
        from shoal.core.schema import Kind
        from shoal.parsing import dates, numbers

        made = job.load(self.job) if self.job is not None else job.Job()
        made = overridden(
            made, input=self.source, delimiter=self.delimiter, encoding=self.encoding,
            missing=tuple(listed(self.missing)) or None, format=self.format, sheet=self.sheet,
            rename_duplicates=self.rename_duplicates,
            neutralize_formulas=self.neutralize_formulas,
            engine=self._engine(),
        )  # fmt: skip
        kinds = paired(self.kinds, "--kind")
        dated, written = paired(self.date_formats, "--date-format"), paired(self.number_formats, "--number-format")
        return of_columns(
            made,
            kind={name: job.member(Kind, text, "kind") for name, text in kinds.items()},
            date_format={name: dates.checked(text) for name, text in dated.items()},
            number_format={name: numbers.checked(text) for name, text in written.items()},
        )

    def _engine(self) -> Engine | None:
        """The engine, at the address of a cluster where one is given."""
        from shoal import job

        if self.master is None:
            return None if self.engine is None else job.engine(self.engine)
        if self.engine is None:
            raise ParameterError("--master needs an engine that runs on a cluster; name it with --engine")
        name, values = job.parse_spec(self.engine)
        return job.engine({"name": name, **values, "master": self.master})  # whose address may have commas


@dataclass(frozen=True, kw_only=True)
class Table(Source):
    """The table with the roles and hierarchies of its columns."""

    quasi: Annotated[
        str | None,
        typer.Option("--quasi", help="Quasi-identifiers: columns that outsiders may know, separated by commas."),
    ] = None
    sensitive: Annotated[
        str | None,
        typer.Option(
            "--sensitive", help="Sensitive columns: what nobody should learn about a person, separated by commas."
        ),
    ] = None
    identifiers: Annotated[
        str | None,
        typer.Option(
            "--identifiers",
            help="Columns that name a person, such as a name or number, separated by commas; they are dropped.",
        ),
    ] = None
    person: Annotated[
        str | None,
        typer.Option(
            "--person", help="Column that identifies the person of each row; people are then counted instead of rows."
        ),
    ] = None
    hierarchies: Annotated[
        Path | None, typer.Option("--hierarchies", help="Folder with hierarchy files, one <column>.csv per column.")
    ] = None
    hierarchy_of: Annotated[
        list[str] | None,
        typer.Option(
            "--hierarchy", help="Hierarchy of a column: COLUMN=FILE or COLUMN=BUILDER:key=value,… Repeatable."
        ),
    ] = None
    missing_rules: Annotated[
        list[str] | None,
        typer.Option(
            "--missing-rule",
            help="What to do with missing values of a column: COLUMN=value|refuse|drop (default: value). Repeatable.",
        ),
    ] = None

    def made(self) -> Job:
        from shoal import job
        from shoal.core.schema import Missing, Role

        made = overridden(super().made(), hierarchies=self.hierarchies)
        roles = ((Role.QUASI, self.quasi), (Role.SENSITIVE, self.sensitive), (Role.IDENTIFIER, self.identifiers))
        given = {role: listed(names) for role, names in roles if names is not None}
        made = made.with_roles(given if self.person is None else {**given, Role.ENTITY: [self.person]})
        builders = paired(self.hierarchy_of, "--hierarchy")
        rules = paired(self.missing_rules, "--missing-rule")
        return of_columns(
            made,
            hierarchy={name: job.builder(text) for name, text in builders.items()},
            missing={name: job.member(Missing, text, "missing-value rule") for name, text in rules.items()},
        )


@dataclass(frozen=True, kw_only=True)
class Compared(Table):
    """The table and a release of it. Roles come from the release's manifest when none are given."""

    release: Annotated[Path | None, typer.Argument(help="The release file.")] = None

    def made(self) -> Job:
        from shoal import manifest
        from shoal.core.schema import Role
        from shoal.errors import InputError

        made = overridden(super().made(), output=self.release)
        if made.output is None:
            raise InputError("name the release file after the table")
        if any(column.role is not Role.PLAIN for column in made.columns.values()):
            return made
        stated = manifest.columns_of(made.output)
        given = {
            name: replace(column, role=stated[name].role, kind=column.kind or stated[name].kind)
            for name, column in made.columns.items()
            if name in stated
        }
        return replace(made, columns={**stated, **made.columns, **given})


def overridden(made: Job, **given: Any) -> Job:
    """The job with every value that is given in the place of its own."""
    return replace(made, **{name: value for name, value in given.items() if value is not None})


def of_columns(made: Job, **settings: dict[str, Any]) -> Job:
    """The job with settings of single columns in the place of its own."""
    from shoal.job import ColumnJob

    columns = dict(made.columns)
    for setting, values in settings.items():
        for name, value in values.items():
            columns[name] = replace(columns.get(name, ColumnJob()), **{setting: value})
    return replace(made, columns=columns)


def listed(text: str | None) -> list[str]:
    """Names separated by commas; one that holds a comma is quoted."""
    cells = [] if text is None else next(csv.reader([text], skipinitialspace=True), [])
    return [name.strip() for name in cells if name.strip()]


def paired(entries: list[str] | None, option: str, form: str = "COLUMN=…") -> dict[str, str]:
    """Entries of such a form."""
    pairs = {}
    for entry in entries or []:
        column, equals, value = entry.partition("=")
        if not equals:
            raise ParameterError(f"write {option} as {form}")
        pairs[column.strip()] = value.strip()
    return pairs
