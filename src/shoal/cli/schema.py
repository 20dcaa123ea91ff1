"""`shoal schema`."""

from __future__ import annotations

import json
from typing import Annotated

import typer


def run(
    name: Annotated[
        str | None, typer.Argument(help="The command, or job for the job file (default: list all).")
    ] = None,
) -> None:
    """Print the JSON schema of a command's --json output, or of the job file."""
    from shoal.cli import schemas
    from shoal.errors import ParameterError, alternatives

    if name is None:
        typer.echo("\n".join(schemas.NAMES))
        return
    if name not in schemas.NAMES:
        raise ParameterError(f"there is no schema of that name; {alternatives(name, schemas.NAMES)}")
    typer.echo(json.dumps(schemas.schema(name), indent=2))
