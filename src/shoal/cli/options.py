"""The options that commands share, and the job that they make."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.errors import ParameterError

if TYPE_CHECKING:
    from shoal.core.dataset import Dataset
    from shoal.job import Job


def _names(family: str) -> Any:
    def complete(incomplete: str) -> list[str]:
        from shoal import registry

        return [name for name in registry.names(family) if name.startswith(incomplete)]

    return complete


Input = Annotated[Path | None, typer.Argument(help="The table: CSV (also .gz, .zst), Parquet or Arrow IPC.")]
JobFile = Annotated[Path | None, typer.Option("--job", help="A job file (TOML); options given here override it.")]
SaveJob = Annotated[Path | None, typer.Option("--save-job", help="Write this run as a job file.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Quasi = Annotated[str | None, typer.Option("--quasi", help="Quasi-identifiers, separated by commas.")]
Sensitive = Annotated[str | None, typer.Option("--sensitive", help="Sensitive attributes, separated by commas.")]
Identifiers = Annotated[str | None, typer.Option("--identifiers", help="Direct identifiers, separated by commas.")]
Hierarchies = Annotated[Path | None, typer.Option("--hierarchies", help="A folder with <column>.csv files.")]
HierarchyOf = Annotated[
    list[str] | None,
    typer.Option("--hierarchy", help="COLUMN=FILE or COLUMN=BUILDER:key=value,… ; may be repeated."),
]
KindOf = Annotated[list[str] | None, typer.Option("--kind", help="COLUMN=numeric|categorical|date|text; repeatable.")]
Missing = Annotated[str | None, typer.Option("--missing", help="Spellings of a missing value, separated by commas.")]
MissingRule = Annotated[
    list[str] | None, typer.Option("--missing-rule", help="COLUMN=value|refuse|drop; may be repeated.")
]
Delimiter = Annotated[str | None, typer.Option("--delimiter", help="Of a CSV file; found out by default.")]
Encoding = Annotated[str | None, typer.Option("--encoding", help="Of a CSV file; found out by default.")]
K = Annotated[int | None, typer.Option("--k", help="Short for --model k-anonymity:k=K.")]
Models = Annotated[
    list[str] | None,
    typer.Option("--model", help="A privacy model, NAME:key=value,… ; repeatable.", autocompletion=_names("models")),
]
AlgorithmName = Annotated[
    str | None,
    typer.Option("--algorithm", help="The anonymizer, NAME:key=value,…", autocompletion=_names("algorithms")),
]
Suppression = Annotated[float | None, typer.Option("--suppression", help="The share of records to leave out at most.")]
Objective = Annotated[
    str | None, typer.Option("--objective", help="The loss to minimize.", autocompletion=_names("metrics"))
]
Seed = Annotated[int | None, typer.Option("--seed", help="The same seed gives the same release.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Where the result goes.")]


def listed(text: str | None) -> list[str]:
    """Names separated by commas; one that holds a comma is quoted."""
    cells = [] if text is None else next(csv.reader([text], skipinitialspace=True), [])
    return [name.strip() for name in cells if name.strip()]


def paired(entries: list[str] | None, option: str) -> dict[str, str]:
    """Entries of the form COLUMN=something."""
    pairs = {}
    for entry in entries or []:
        column, equals, value = entry.partition("=")
        if not equals:
            raise ParameterError(f"{option} is written COLUMN=…")
        pairs[column.strip()] = value.strip()
    return pairs


def base_job(
    job_file: Path | None,
    *,
    source: Path | None = None,
    quasi: str | None = None,
    sensitive: str | None = None,
    identifiers: str | None = None,
    hierarchies: Path | None = None,
    hierarchy_of: list[str] | None = None,
    kinds: list[str] | None = None,
    missing: str | None = None,
    missing_rules: list[str] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
) -> Job:
    """The part of a job that describes the input; what the options say overrides what the file says."""
    from shoal import job
    from shoal.core.schema import Kind, Role
    from shoal.core.schema import Missing as Rule

    made = job.load(job_file) if job_file is not None else job.Job()
    given: dict[str, Any] = {
        "input": source, "hierarchies": hierarchies, "delimiter": delimiter, "encoding": encoding,
        "missing": tuple(listed(missing)) or None,
    }  # fmt: skip
    made = replace(made, **{name: value for name, value in given.items() if value is not None})
    for role, names in ((Role.QUASI, quasi), (Role.SENSITIVE, sensitive), (Role.IDENTIFIER, identifiers)):
        if names is not None:
            made = made.with_role(role, listed(names))
    columns = dict(made.columns)
    settings = (
        ("hierarchy", paired(hierarchy_of, "--hierarchy"), job.builder),
        ("kind", paired(kinds, "--kind"), lambda text: job.member(Kind, text, "kind")),
        ("missing", paired(missing_rules, "--missing-rule"), lambda text: job.member(Rule, text, "missing-value rule")),
    )
    for field, pairs, parsed in settings:
        for name, text in pairs.items():
            columns[name] = replace(columns.get(name, job.ColumnJob()), **{field: parsed(text)})
    return replace(made, columns=columns)


def every_column_quasi(made: Job) -> Job:
    """The job with every column that has no role as a quasi-identifier, unless some are named."""
    from shoal import job
    from shoal.core.schema import Role

    if made.named(Role.QUASI) or made.input is None:
        return made
    names = job.engine(None).open(made.input, delimiter=made.delimiter, encoding=made.encoding, missing=()).names
    taken = {*made.named(Role.SENSITIVE), *made.named(Role.IDENTIFIER)}
    return made.with_role(Role.QUASI, [name for name in names if name not in taken])


def read_job(made: Job) -> Dataset:
    """The table of a job."""
    from shoal import api
    from shoal.core.schema import Role
    from shoal.errors import InputError

    if made.input is None:
        raise InputError("name the table to read, or a job file that does")
    return api.read(
        made.input,
        quasi=made.named(Role.QUASI),
        sensitive=made.named(Role.SENSITIVE),
        identifiers=made.named(Role.IDENTIFIER),
        hierarchies=made.hierarchies,
        column_hierarchies={name: column.hierarchy for name, column in made.columns.items() if column.hierarchy},
        kinds={name: column.kind for name, column in made.columns.items() if column.kind},
        missing=made.missing,
        missing_rules={name: column.missing for name, column in made.columns.items()},
        strict=made.strict,
        delimiter=made.delimiter,
        encoding=made.encoding,
    )


def refuse_overwriting(targets: Sequence[Path | None], sources: Sequence[Path | None]) -> None:
    """Refuses what could not be written, and what would overwrite a file that is read."""
    from shoal.core.files import check_target
    from shoal.errors import OutputError

    for target in filter(None, targets):
        check_target(target)
        if any(source.exists() and target.exists() and source.samefile(target) for source in filter(None, sources)):
            raise OutputError(f"{target.name}: this would overwrite a file that is read; name another one")


def pseudonyms(made: Job) -> Any:
    """Pseudonyms as the job asks for them; the key comes from a file or the environment, never from an option."""
    from shoal.core.pseudonyms import Pseudonyms
    from shoal.errors import InputError

    if made.pseudonyms is None:
        return None
    if made.pseudonyms == "random":
        return Pseudonyms()
    if made.key_file is not None:
        try:
            return Pseudonyms(key=made.key_file.read_bytes().strip())
        except OSError:
            raise InputError("the file with the pseudonym key cannot be read") from None
    if "SHOAL_KEY" in os.environ:
        return Pseudonyms(key=os.environb[b"SHOAL_KEY"].strip())
    raise ParameterError("keyed pseudonyms need a key: give --key-file, or set SHOAL_KEY in the environment")
