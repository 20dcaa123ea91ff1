"""`shoal schema`."""

from __future__ import annotations

import json
from typing import Annotated

import typer


def run(
    command: Annotated[str | None, typer.Argument(help="The command (default: list all commands).")] = None,
) -> None:
    """Print the JSON schema of a command's --json output."""
    from shoal.cli import schemas
    from shoal.errors import ParameterError, alternatives

    if command is None:
        typer.echo("\n".join(schemas.OUTPUTS))
        return
    if command not in schemas.OUTPUTS:
        raise ParameterError(f"there is no schema of that name; {alternatives(command, schemas.OUTPUTS)}")
    typer.echo(json.dumps(schemas.schema(command), indent=2))
