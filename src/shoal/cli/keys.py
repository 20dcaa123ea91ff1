"""`shoal keys`: make a pair of keys that signs and checks manifests, or look at one."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import options, output

if TYPE_CHECKING:
    from shoal.publishing.signing import PublicKey, SigningKey

app = typer.Typer(
    help="Make and show keys that sign releases, so that recipients see who made them.", no_args_is_help=True
)


@app.command()
def new(
    path: Annotated[
        Path, typer.Argument(help="File for the signing key; the public key is written next to it with .pub added.")
    ],
    passphrase: Annotated[
        bool,
        typer.Option(
            "--passphrase", help="Encrypt the key with a passphrase, which is asked for unless SHOAL_PASSPHRASE is set."
        ),
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Make a pair of keys: a secret one that signs releases, and a public one that checks signatures."""
    from shoal.publishing.signing import SigningKey, public_path
    from shoal.storage.files import check_outputs

    check_outputs([path, public_path(path)])
    key = SigningKey.new()
    private, public = key.save(path, _new_passphrase() if passphrase else None)
    summary = f"{private} signs: keep it secret. {public} checks: give it to recipients."
    _tell(as_json, summary, key.public, files=[str(private), str(public)])


@app.command()
def show(
    path: Annotated[Path, typer.Argument(help="File of either key of the pair.")], as_json: options.Json = False
) -> None:
    """Show the public key of a pair and its fingerprint, for data holder and recipient to compare."""
    from shoal.errors import InputError
    from shoal.publishing.signing import PublicKey

    try:
        public = PublicKey.load(path)
    except InputError:
        key = unlock(path)
        assert key is not None
        public = key.public
    _tell(as_json, f"Fingerprint of {path.name}: {public.fingerprint}", public)


def unlock(path: Path | None) -> SigningKey | None:
    """The signing key in a file; a passphrase that the environment lacks is asked for where somebody can answer."""
    from shoal.publishing.signing import PASSPHRASE, SigningKey, encrypted

    if path is None:
        return None
    prompt = PASSPHRASE not in os.environ and sys.stdin.isatty() and path.is_file() and encrypted(path.read_bytes())
    return SigningKey.load(path, _prompt(f"Passphrase of {path.name}") if prompt else None)


def _new_passphrase() -> bytes:
    """The passphrase for a new key."""
    from shoal.errors import ParameterError
    from shoal.publishing.signing import PASSPHRASE

    if PASSPHRASE in os.environ:
        return os.environb[PASSPHRASE.encode()]
    if not sys.stdin.isatty():
        raise ParameterError(f"the passphrase cannot be asked for here; set it in {PASSPHRASE}")
    return _prompt("Passphrase", twice=True)


def _prompt(prompt: str, *, twice: bool = False) -> bytes:
    answer: str = typer.prompt(prompt, hide_input=True, confirmation_prompt=twice, err=True)
    return answer.encode()


def _tell(as_json: bool, summary: str, public: PublicKey, **more: list[str]) -> None:
    if as_json:
        output.emit("keys", {"summary": summary, "fingerprint": public.fingerprint, "public": public.pem, **more})
        return
    output.say(summary, style="bold")
    output.say(f"Fingerprint: {public.fingerprint}" if more else public.pem.rstrip())
