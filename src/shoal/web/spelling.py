"""A job as a command line and as Python: whoever reads it can do the same run without the page."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from shoal import registry
from shoal.core.parameters import parameters
from shoal.core.schema import Missing, Role
from shoal.job import Job, written

READING = ("delimiter", "encoding", "format", "sheet")
WIDEST = 88


def command(job: Job) -> str:
    """The run of a job as a command line.

    Example:
        >>> from shoal.job import ColumnJob
        >>> print(command(Job(input=Path("a.csv"), columns={"age": ColumnJob(role=Role.QUASI)}, output=Path("r.csv"))))
        shoal anonymize a.csv -o r.csv --quasi age
    """
    words = ["shoal", "anonymize", str(job.input), "-o", str(job.output)]
    roles = {"quasi": Role.QUASI, "sensitive": Role.SENSITIVE, "identifiers": Role.IDENTIFIER}
    options: list[tuple[str, str | None]] = [
        (option, _listed(job.named(role))) for option, role in roles.items() if job.named(role)
    ]
    options += [("person", job.person)] if job.person is not None else []
    options += [(name, str(getattr(job, name))) for name in READING if getattr(job, name) is not None]
    options += [("missing", _listed(job.missing))] if job.missing else []
    options += [("hierarchies", str(job.hierarchies))] if job.hierarchies is not None else []
    for name, column in job.columns.items():
        each = {
            "kind": column.kind, "date-format": column.date_format, "number-format": column.number_format,
            "hierarchy": None if column.hierarchy is None else _builder(column.hierarchy),
            "missing-rule": None if column.missing is Missing.VALUE else column.missing,
        }  # fmt: skip
        options += [(option, f"{name}={value}") for option, value in each.items() if value is not None]
    options += [("model", written(model)) for model in job.models]
    options += [("algorithm", written(job.algorithm))] if job.algorithm is not None else []
    options += [("suppression", f"{job.suppression:g}")] if job.suppression else []
    options += [("objective", written(job.objective))] if job.objective is not None else []
    options += [("allow-plain", _listed(job.allow_plain))] if job.allow_plain else []
    flags = {
        "protect-jointly": job.protect_jointly,
        "rows-are-people": job.rows_are_people,
        "rename-duplicates": job.rename_duplicates,
    }
    options += [(flag, None) for flag, given in flags.items() if given]
    options += [("ledger", str(job.ledger))] if job.ledger is not None else []
    options += [("allow-unjudged", _listed(job.allow_unjudged))] if job.allow_unjudged else []
    options += [("sign", str(job.sign))] if job.sign is not None else []
    options += [("seed", str(job.seed))] if job.seed is not None else []
    options += [("repeatable", None)] if job.repeatable else []
    parts = [" ".join(map(shlex.quote, words))]
    parts += [f"--{name}" if value is None else f"--{name} {shlex.quote(value)}" for name, value in options]
    return _wrapped(parts)


def _wrapped(parts: list[str]) -> str:
    """Options on as few lines as stay readable."""
    lines = [parts[0]]
    for part in parts[1:]:
        if len(lines[-1]) + len(part) + 1 > WIDEST:
            lines.append(f"    {part}")
        else:
            lines[-1] += f" {part}"
    return " \\\n".join(lines)


def _listed(names: Iterable[str]) -> str:
    """Names as options take them: one that holds a comma is quoted."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(list(names))
    return text.getvalue()


def _builder(made: Any) -> str:
    path = made.parameters().get("path")
    return str(path) if isinstance(path, Path) else written(made)


def python(job: Job) -> str:
    """The run of a job as Python."""
    reading: dict[str, Any] = {
        "quasi": job.named(Role.QUASI), "sensitive": job.named(Role.SENSITIVE),
        "identifiers": job.named(Role.IDENTIFIER), "person": job.person,
        **{name: getattr(job, name) for name in READING}, "missing": list(job.missing),
        "rename_duplicates": job.rename_duplicates or None, "protect_jointly": job.protect_jointly or None,
        "hierarchies": None if job.hierarchies is None else str(job.hierarchies),
        "column_hierarchies": {
            name: _builder(column.hierarchy) for name, column in job.columns.items() if column.hierarchy is not None
        },
        "kinds": {name: str(column.kind) for name, column in job.columns.items() if column.kind is not None},
        "date_formats": {name: each.date_format for name, each in job.columns.items() if each.date_format},
        "number_formats": {name: each.number_format for name, each in job.columns.items() if each.number_format},
        "missing_rules": {
            name: str(each.missing) for name, each in job.columns.items() if each.missing is not Missing.VALUE
        },
    }  # fmt: skip
    making: dict[str, Any] = {
        "algorithm": None if job.algorithm is None else written(job.algorithm),
        "suppression": job.suppression or None, "objective": None if job.objective is None else written(job.objective),
        "rows_are_people": job.rows_are_people or None, "allow_plain": list(job.allow_plain), "seed": job.seed,
        "repeatable": job.repeatable or None,
    }  # fmt: skip
    signed = f", sign={str(job.sign)!r}" if job.sign is not None else ""
    models = [f"    shoal.{_made(model)}," for model in job.models]
    return "\n".join([
        "import shoal", "", "data = shoal.read(", f"    {str(job.input)!r},", *_arguments(reading), ")",
        "release = shoal.anonymize(", "    data,", *models, *_arguments(making), ")",
        f"release.write({str(job.output)!r}{signed})", "",
    ])  # fmt: skip


def _made(model: Any) -> str:
    usual = {each.name: each.default for each in parameters(type(model)) if not each.required}
    given = {key: value for key, value in model.parameters().items() if key not in usual or value != usual[key]}
    name = registry.find("models", registry.name_of(model)).__name__
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in given.items())})"


def _arguments(values: dict[str, Any]) -> list[str]:
    return [f"    {name}={value!r}," for name, value in values.items() if value not in (None, [], {}, "")]
