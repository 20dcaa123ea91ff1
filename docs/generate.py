"""Writes the reference pages, and what else is made from the code. A test fails when they are stale."""

from __future__ import annotations

import inspect
import json
import re
import runpy
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl
from typer.main import get_command

import shoal
from shoal import registry
from shoal.cli import EXIT_CODES, app, schemas
from shoal.core.contracts.attack import Known
from shoal.core.parameters import parameters
from shoal.core.run import Run
from shoal.errors import NotDefined
from shoal.integrations import dbt
from shoal.job.columns import ColumnJob, Roles
from shoal.job.job import Job
from shoal.job.option import Option, options

FOLDER = Path(__file__).parent / "reference"
PACKAGE = Path(shoal.__file__).parent
SCHEMAS = Path(__file__).parent / "schemas"
MACROS = Path(__file__).parents[1] / "integrations" / "dbt" / "macros"
PAPERS = Path(__file__).parent / "papers"


def plugin_page(family: str) -> str:
    """The page of a family: each plug-in with its docstring and its parameters."""
    about = import_module(f"shoal.{family}").__doc__ or ""
    parts = [f"# {family.capitalize()}\n\n{about}\n\nMade from the code by `make docs`.\n"]
    for name in registry.names(family):
        found = registry.find(family, name)
        text = inspect.cleandoc(found.__doc__ or "")
        prose, _, example = text.partition("\nExample:\n")
        parts.append(f"\n## {name}\n\n`{home(found)}`\n\n{prose.strip()}\n")
        rows = parameters(found)
        if rows:
            parts.append("\n| parameter | type | default | bounds | meaning |\n|---|---|---|---|---|\n")
            for row in rows:
                default = "required" if row.required else f"`{row.default!r}`"
                kind = row.kind.replace("|", "\\|")
                help_ = row.help.replace("|", "\\|")
                parts.append(f"| `{row.name}` | {kind} | {default} | {row.bounds} | {help_} |\n")
        if example:
            parts.append(f"\n```python\n{inspect.cleandoc(example)}\n\n```\n")
    return "".join(parts)


def home(plugin: type) -> str:
    """Where a user finds a plug-in: `shoal.models.KAnonymity`."""
    folder = plugin.__module__.split(".")[1]
    return f"{plugin.__module__ if folder == 'engines' else f'shoal.{folder}'}.{plugin.__name__}"


def stubs() -> dict[str, str]:
    """What type checkers and editors read of names that are imported when they are first used, by the path of its file
    in the package."""
    top = [f"from shoal.{module} import {name} as {name}" for name, module in sorted(shoal._HOME.items())]
    top += [f"from shoal import {name} as {name}" for name in shoal._MODULES]
    written = {"__init__.pyi": ["from shoal.version import __version__ as __version__", *top]}
    for folder in FOLDERS:
        package = import_module(f"shoal.{folder}")
        classes = [getattr(package, name) for name in dir(package)]
        written[f"{folder}/__init__.pyi"] = [
            f"from {each.__module__} import {each.__name__} as {each.__name__}" for each in classes
        ]
    return {path: "\n".join(["# Made from the code by `make docs`.", *lines, ""]) for path, lines in written.items()}


FOLDERS = [path.parent.name for path in sorted(PACKAGE.glob("*/__init__.py")) if "lazy import" in path.read_text()]
"""The folders of plug-ins whose classes are names of the folder."""


def command_page() -> str:
    """The page of the command: how it ends, and each subcommand with its options."""
    parts = ["# The command\n\nMade from the code by `make docs`.\n"]
    parts.append("\n## Exit codes\n\n| code | meaning |\n|---|---|\n")
    parts += [f"| {code} | {meaning} |\n" for code, meaning in EXIT_CODES.items()]
    commands = {}
    for name, sub in get_command(app).commands.items():  # type: ignore[attr-defined]
        commands.update({f"{name} {step}": each for step, each in getattr(sub, "commands", {}).items()} or {name: sub})
    for name, sub in sorted(commands.items()):
        parts.append(f"\n## shoal {name}\n\n{inspect.cleandoc(sub.help or '')}\n\n| option | meaning |\n|---|---|\n")
        for option in sub.params:
            spelled = (
                ", ".join(f"`{text}`" for text in option.opts)
                if option.param_type_name == "option"
                else (f"`{(option.metavar or option.name).upper()}`")
            )
            text = re.sub(r"\s+", " ", getattr(option, "help", "") or "").replace("|", "\\|")
            parts.append(f"| {spelled} | {text} |\n")
    return "".join(parts)


def job_page() -> str:
    """The page of the options of a run: where the job file has each, how commands spell it, and who takes it."""
    parts = [
        "# The options of a run\n\nEvery option, its key in the [job file](../job-files.md), how commands spell it, "
        "and which of them have it.\n\nMade from the code by `make docs`.\n"
    ]
    tables: dict[str, list[Option]] = {}
    for each in options(Job):
        tables.setdefault(each.place[0], []).append(each)
    tables["columns.NAME"] = list(options(ColumnJob))
    for table, declared in tables.items():
        parts.append(f"\n## {table}\n\n| key | option | commands | meaning |\n|---|---|---|---|\n")
        for each in declared:
            key = f"`{each.key}`" if each.key != table else ""
            spelled = ", ".join(f"`{flag}`" for flag in each.flags) if each.commands else ""
            commands = ", ".join(sorted(each.commands))
            parts.append(f"| {key} | {spelled} | {commands} | {each.help.replace('|', chr(92) + '|')} |\n")
    parts.append("\n## Roles\n\nCommands list the columns of a role; a job file has the `role` of each column.\n\n")
    parts.append("| option | meaning |\n|---|---|\n")
    parts += [f"| `{each.flag}` | {each.help} |\n" for each in options(Roles)]
    return "".join(parts)


def views_page() -> str:
    """The page of what each form answers: every model, metric and attack is asked, and what a form refuses is shown in
    its own words."""
    table = pl.DataFrame(
        {"age": [21, 22, 23, 24] * 2, "sex": list("ffmm") * 2, "row": range(8), "occupation": list("abcdbcda")}
    )
    data = shoal.read(table, quasi=["age", "sex"], sensitive=["occupation"])
    parts = ["# What each form answers\n\nMade from the code by `make docs`.\n"]
    for form in registry.names("forms"):
        algorithm, *models = MADE_BY[form]
        release = shoal.anonymize(data, *models, algorithm=algorithm, seed=2**64, repeatable=True)
        parts.append(f"\n## {form}\n\n| | answered | not defined, and why |\n|---|---|---|\n")
        for family, ask in QUESTIONS.items():
            answered, refused = [], dict[str, list[str]]()
            for name in registry.names(family):
                plugin = registry.make(family, name, dict(registry.examples(family, name)[0]))
                try:
                    ask(plugin, data, release)
                    answered.append(f"`{name}`")
                except NotDefined as reason:
                    words = str(reason).replace(type(plugin).__name__, "it")
                    refused.setdefault(words, []).append(f"`{name}`")
            whole = "all" if answered and not refused else "none" if not answered else ", ".join(answered)
            reasons = "<br>".join(f"{', '.join(names)}: {words}" for words, names in refused.items())
            parts.append(f"| {family} | {whole} | {reasons} |\n")
    return "".join(parts)


MADE_BY = {
    "counterfeited": ("m-invariance", "frequency-l-diversity:l=2"),
    "generalized": ("mondrian", "k-anonymity:k=2"),
    "multisets": ("multiset", "k-anonymity:k=2"),
    "perturbed": ("rank-swapping",),
    "sliced": ("slicing:columns=age|sex|occupation", "frequency-l-diversity:l=2"),
    "two-table": ("anatomy", "frequency-l-diversity:l=2"),
}
"""An algorithm that makes each form, and the models that it is asked for."""
QUESTIONS: dict[str, Callable[[Any, shoal.Dataset, shoal.Release], Any]] = {
    "models": lambda model, data, release: release.view.judged_by(model),
    "metrics": lambda metric, data, release: metric.score(data, release),
    "attacks": lambda attack, data, release: attack.attempt(data, release, Known(external=data, held_out=data), Run()),
}


def schemas_page() -> str:
    """The page of the JSON schemas: what each describes, and its file."""
    parts = [
        "# JSON schemas\n\nWhat each command prints with `--json`, and the job file, as JSON schemas (draft 2020-12); "
        "`shoal schema NAME` prints them too. Keys may be added at any time; what a schema names stays as it is until "
        "its version changes.\n\nMade from the code by `make docs`.\n\n"
        "| schema | what it describes | required keys |\n|---|---|---|\n"
    ]
    for name in schemas.NAMES:
        schema = schemas.schema(name)
        required = ", ".join(f"`{key}`" for key in schema.get("required", []))
        about = schema.get("description", schema["title"]).partition("\n\n")[0].replace("\n", " ")
        parts.append(f"| [{name}](../schemas/{name}.json) | {about} | {required} |\n")
    return "".join(parts)


def pages() -> dict[str, str]:
    """Every reference page by its file name."""
    families = {f"{family}.md": plugin_page(family) for family in registry.CONTRACTS}
    return {
        **families,
        "cli.md": command_page(),
        "job.md": job_page(),
        "views.md": views_page(),
        "schemas.md": schemas_page(),
    }


def written_schemas() -> dict[str, str]:
    """The JSON schema of the job file and of what each command prints, by its file name."""
    return {f"{name}.json": json.dumps(schemas.schema(name), indent=2) + "\n" for name in schemas.NAMES}


paper_pages = runpy.run_path(str(Path(__file__).with_name("paper_pages.py")))["pages"]

if __name__ == "__main__":
    for folder, texts in (
        (PACKAGE, stubs()), (FOLDER, pages()), (SCHEMAS, written_schemas()), (MACROS, dbt.macros()),
        (PAPERS, paper_pages()),
    ):  # fmt: skip
        folder.mkdir(exist_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
