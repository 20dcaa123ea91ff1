"""The job file: a job as TOML, what is wrong with one, and its JSON schema."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from shoal.core.formatting import printable
from shoal.core.validation import demand
from shoal.errors import InputError, ParameterError, alternatives, quoted
from shoal.job.columns import ColumnJob
from shoal.job.job import Job
from shoal.job.kinds import FlagKind
from shoal.job.option import Option, options

COLUMNS = "columns"
"""The table of the job file that has one table for each column."""


def load(path: Path) -> Job:
    """A job from its file; paths in it are relative to the file.

    Another file that is taken for a job may hold values of a table: of one that is no job nothing is shown.
    """
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise InputError(f"{path.name}: the job file cannot be read") from None
    except UnicodeDecodeError:
        raise InputError(f"{path.name}: this is not a TOML file: it is not UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"at (line \d+, column \d+|end of document)", str(error))
        raise InputError(
            f"{path.name}: this is not a TOML file: there is an error at {place[1] if place else 'some line'}"
        ) from None
    except RecursionError:
        raise InputError(f"{path.name}: this is not a job file: it is nested too deeply") from None
    return replace(parse(raw, path.parent, path.name), file=path)


def parse(raw: Mapping[str, Any], folder: Path, where: str = "the job", *, noun: Any = Job) -> Job:
    """A job from the tables of a job file that lies in a folder."""
    tables = _tables(noun)
    if raw and not any(key in tables.model_fields for key in raw):  # the names in another file are nobody's business
        raise InputError(f"{where}: this is not a job file; a job file has {', '.join(tables.model_fields)}")
    try:
        stated = tables.model_validate(raw)
    except ValidationError as error:
        raise InputError(f"{where}: {_refusal(error.errors(), noun)}") from None
    try:
        columns = {
            name: ColumnJob(**_values(ColumnJob, column, folder))
            for name, column in (getattr(stated, COLUMNS) or {}).items()
        }
        job: Job = noun(columns=columns, **_values(noun, stated, folder))
    except ParameterError as error:
        raise ParameterError(f"{where}: {error}") from None
    return job


def _values(noun: type, stated: BaseModel, folder: Path) -> dict[str, Any]:
    """The values of the options of a noun that tables of a job file state."""
    values = {}
    for option in options(noun):
        value: Any = stated
        for name in option.place:
            value = None if value is None else getattr(value, name)
        if isinstance(option.kind, FlagKind) and isinstance(value, BaseModel):
            value = True
        if value is not None:
            values[option.name] = option.kind.read(value, folder)
    return values


def toml(job: Job, folder: Path | None = None, remarks: Iterable[str] = ()) -> str:
    """A job as a file that lies in a folder; reading it there gives the same job.

    Paths are written relative to the folder, so that job and data can move together; without one, as they are. Remarks
    stand above it, a line each.
    """
    import tomli_w

    lines = [f"# {printable(remark)}".rstrip() + "\n" for remark in remarks]
    return "".join(lines) + tomli_w.dumps(stated(job, folder))


def stated(job: Job, folder: Path | None = None) -> dict[str, Any]:
    """The tables of a job file; what is as it always is, is left out."""
    tables = _stated(job, folder)
    columns = {name: {"role": str(column.role), **_stated(column, folder)} for name, column in job.columns.items()}
    return {**tables, **({COLUMNS: columns} if columns else {})}


def _stated(noun: Any, folder: Path | None) -> dict[str, Any]:
    tables: dict[str, Any] = {}
    for option in options(noun):
        value = getattr(noun, option.name)
        if value == option.default:
            continue
        *above, key = option.place
        table = tables
        for name in above:
            table = table.setdefault(name, {})
        if isinstance(option.kind, FlagKind) and not above and key in _sections(noun.__class__):
            table.setdefault(key, {})
        else:
            table[key] = option.kind.write(value, folder)
    return tables


@cache
def _sections(noun: Any) -> dict[str, list[Option]]:
    """The tables of a job file with the options in each; those that stand alone are in a table without a name."""
    sections: dict[str, list[Option]] = {}
    for option in options(noun):
        sections.setdefault(option.place[0] if len(option.place) > 1 else "", []).append(option)
    return sections


@cache
def _tables(noun: Any) -> type[BaseModel]:
    """What a job file may have, for pydantic to check."""
    fields: dict[str, Any] = {}
    for section, declared in _sections(noun).items():
        entries = {option.key: _field(option) for option in declared}
        if not section:
            alone = entries
            continue
        table = create_model(section.capitalize(), __config__=CLOSED, **entries)
        fields[section] = (table | None, None)
    column = create_model("Column", __config__=CLOSED, **{each.key: _field(each) for each in options(ColumnJob)})
    fields[COLUMNS] = (dict[str, column] | None, None)  # type: ignore[valid-type]
    # A flag that is a table by itself says that the table is there.
    fields |= {key: entry for key, entry in alone.items() if key not in fields}
    return create_model("Job", __config__=CLOSED, **fields)


CLOSED = ConfigDict(extra="forbid", defer_build=True)


def _field(option: Option) -> Any:
    return option.kind.of_file | None, Field(default=None, description=option.help)


def _refusal(errors: Sequence[Mapping[str, Any]], noun: type) -> str:
    """What is wrong with a job file: the key, and what it may have meant or must be."""
    path = _key(errors[0]["loc"])
    place = quoted(".".join(map(str, path)))[1:-1]
    if errors[0]["type"] != "extra_forbidden":
        alike = [each for each in errors if _key(each["loc"]) == path]
        if alike[0]["type"] == "enum" and isinstance(alike[0]["input"], str):
            choices = re.findall(r"'([^']*)'", alike[0]["ctx"]["expected"])
            return f"{place}: {alternatives(alike[0]['input'], choices, 'it must be one of')}"
        entry = "an entry of " if isinstance(next(iter(alike[0]["loc"][len(path) :]), None), int) else ""
        return f"{entry}{place} {demand(alike)}"
    *section, key = path
    renamed = {(*each.place[:-1], each.formerly): each for each in options(noun) if each.formerly}
    if path in renamed:
        return f"{place} is called {'.'.join(renamed[path].place)} now"
    if not section:
        known = list(_tables(noun).model_fields)
    elif section[0] == COLUMNS:
        known = [each.key for each in options(ColumnJob)]
    elif section[0] == "analyses":
        known = ["analysis", "name", "error", "overlap"]
    else:
        known = [each.key for each in _sections(noun)[section[0]]]
    return f"unknown key {place}; {alternatives(key, known, 'the keys are')}"


def _key(place: Sequence[str | int]) -> tuple[str, ...]:
    """The names of tables and the key where validation failed, without the kinds of a key that may have several."""
    depth = {"algorithm": 1, COLUMNS: 3, "analyses": 3}.get(str(place[0]), 2)
    return tuple(str(part + 1) if isinstance(part, int) else part for part in place[:depth])


def schema(noun: Any = Job) -> dict[str, Any]:
    """The JSON schema of a job file, for editors that complete and check it."""
    return _tables(noun).model_json_schema()
