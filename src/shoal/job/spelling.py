"""A job as a command line and as Python: whoever reads it can do the same run elsewhere."""

from __future__ import annotations

import pprint
import shlex
from typing import Any

from shoal.core.parameters import parameters
from shoal.job.arguments import given
from shoal.job.columns import Roles
from shoal.job.file import stated
from shoal.job.job import Job
from shoal.job.option import Option, options

WIDEST = 88
COMMAND = "anonymize"
VERBS = ("read", "anonymize", "write")
"""The Python verbs that do what the command does."""
FIRST = ("input", "output", *(option.name for option in options(Roles)))
"""What a reader looks for first."""
BY_PLACE = ("input", "models", "output")
"""What the verbs take without a name."""


def command(job: Job) -> str:
    """The run of a job as a command line.

    Example:
        >>> from pathlib import Path
        >>> from shoal.core.schema import Role
        >>> from shoal.job import ColumnJob
        >>> print(command(Job(input=Path("a.csv"), columns={"age": ColumnJob(role=Role.QUASI)}, output=Path("r.csv"))))
        shoal anonymize a.csv -o r.csv --quasi age
    """
    parts = [f"shoal {COMMAND}"]
    for option, value in sorted(_set(job), key=lambda entry: _place(entry[0])):
        flag = option.flags[-1:]
        for word in _words(option, value):
            parts.append(" ".join([*flag, *([] if word is None else [shlex.quote(word)])]))
    return _wrapped(parts)


def _set(job: Job) -> list[tuple[Option, Any]]:
    return [(option, value) for option, value in given(job) if COMMAND in option.commands]


def _place(option: Option) -> int:
    return FIRST.index(option.name) if option.name in FIRST else len(FIRST)


def _words(option: Option, value: Any) -> list[str | None]:
    if option.by_column:
        return [f"{column}={option.kind.words(each)[0]}" for column, each in value.items()]
    return option.kind.words(value)


def _wrapped(parts: list[str]) -> str:
    """Options on as few lines as stay readable."""
    lines = [parts[0]]
    for part in parts[1:]:
        if len(lines[-1]) + len(part) + 1 > WIDEST:
            lines.append(f"    {part}")
        else:
            lines[-1] += f" {part}"
    return " \\\n".join(lines)


def python(job: Job) -> str:
    """The run of a job as Python: by the verbs, or, where it has what no verb takes, by the job itself."""
    chosen = _set(job)
    if any(not option.verbs and option.name not in (*BY_PLACE, "overwrite") for option, _ in chosen):  # write replaces
        tables = pprint.pformat(stated(job), sort_dicts=False, width=WIDEST)
        lines = [*_call("job = shoal.job.parse", [tables.replace("\n", "\n    "), "Path()"]), "shoal.run(job)", ""]
        return "\n".join(["from pathlib import Path", "", "import shoal", "", *lines])
    reading, making, writing = (
        [f"{option.argument}={_source(option, value)}" for option, value in chosen if verb in option.verbs]
        for verb in VERBS
    )
    models = [f"shoal.models.{_made(model)}" for model in job.models]
    return "\n".join([
        "import shoal", "", *_call("data = shoal.read", [repr(str(job.input)), *reading]),
        *_call("release = shoal.anonymize", ["data", *models, *making]),
        f"release.write({', '.join([repr(str(job.output)), *writing])})", "",
    ])  # fmt: skip


def _source(option: Option, value: Any) -> str:
    if option.by_column:
        return "{" + ", ".join(f"{column!r}: {option.kind.source(each)}" for column, each in value.items()) + "}"
    return option.kind.source(value)


def _call(start: str, arguments: list[str]) -> list[str]:
    return [f"{start}(", *(f"    {argument}," for argument in arguments), ")"]


def _made(plugin: Any) -> str:
    """How a plug-in is made in Python."""
    usual = {each.name: each.default for each in parameters(type(plugin)) if not each.required}
    values = {key: value for key, value in plugin.parameters().items() if key not in usual or value != usual[key]}
    return f"{type(plugin).__name__}({', '.join(f'{key}={value!r}' for key, value in values.items())})"
