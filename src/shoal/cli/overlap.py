"""`shoal overlap`: start, answer and finish by files, or listen and ask on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import options, output

if TYPE_CHECKING:
    from shoal.overlap import Overlap

app = typer.Typer(
    help="Find how many people two holders have in common, or who, without showing each other their lists.",
    no_args_is_help=True,
)

List = Annotated[Path, typer.Argument(help="The table with your list.")]
Name = Annotated[str, typer.Option("--column", help="The column that names a person, spelled alike by both holders.")]
SizeOnly = Annotated[bool, typer.Option("--size-only", help="Learn how many people are common, not who.")]
Fewest = Annotated[int, typer.Option("--fewest", min=1, help="With --size-only, do not show an overlap below this.")]
Most = Annotated[int, typer.Option("--most", min=1, help="Refuse a list of the other holder that is longer.")]
State = Annotated[Path, typer.Option("--state", help="Your secret state of the session; `finish` deletes it.")]
Target = Annotated[Path, typer.Option("--output", "-o", help="The message for the other holder.")]
Common = Annotated[Path | None, typer.Option("--output", "-o", help="Where the common people go, one a line (CSV).")]
Book = Annotated[Path | None, typer.Option("--ledger", help="The ledger of your data set; the session is entered.")]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="The port on this machine; 0: any free one.")]

CAUTION = (
    "The other holder learns the length of your list and nothing else, as long as both follow the protocol. Whoever "
    "asks can try guessed people, so know whom you deal with, and do not repeat sessions with almost the same list."
)


@app.command()
def start(
    source: List, column: Name, target: Target, state: State, size_only: SizeOnly = False, as_json: options.Json = False
) -> None:
    """Start a session: write the message for the other holder, and your secret state."""
    from shoal.core.files import check_outputs
    from shoal.overlap import Asker, points

    points.check_installed()
    check_outputs([target, state], [source])
    listed = _identifiers(source, column)
    asker = Asker.of(listed, size_only=size_only)
    _write({target: asker.message, state: asker.saved(listed)}, secret=state)
    _tell(as_json, {"own": len(asker.places)}, f"{len(asker.places):,} people are in the message. {CAUTION}")


@app.command()
def answer(
    source: List,
    message: Annotated[Path, typer.Argument(help="The message of the other holder.")],
    column: Name,
    target: Target,
    most: Most = 10_000_000,
    ledger: Book = None,
    as_json: options.Json = False,
) -> None:
    """Answer the other holder's message. You learn the length of its list; it learns the overlap."""
    from shoal.core.files import check_outputs
    from shoal.overlap import answered, asked, points

    points.check_installed()
    check_outputs([target], [source, message])
    _check(ledger)
    received = _read(message)
    other = asked(received, most=most)
    reply = answered(received, _identifiers(source, column), most=most)
    _enter(ledger, "answer", column, {"other": other})
    _write({target: reply})
    _tell(as_json, {"other": other}, f"The other holder asks about {other:,} people. {CAUTION}")


@app.command()
def finish(
    source: List,
    message: Annotated[Path, typer.Argument(help="The answer of the other holder.")],
    column: Name,
    state: State,
    target: Common = None,
    fewest: Fewest = 10,
    ledger: Book = None,
    as_json: options.Json = False,
) -> None:
    """Finish a session: the overlap. The state, with your key, is deleted."""
    from shoal.core.files import check_outputs
    from shoal.overlap import Asker, points

    points.check_installed()
    check_outputs([] if target is None else [target], [source, message, state])
    _check(ledger)
    listed = _identifiers(source, column)
    found = Asker.loaded(_read(state), listed).finished(_read(message), fewest=fewest)
    _enter(ledger, "finish", column, {"own": found.own, "other": found.other})
    _hand_over(found, listed, column, target, as_json)
    state.unlink()


@app.command()
def listen(
    source: List,
    column: Name,
    port: Port = 0,
    most: Most = 10_000_000,
    ledger: Book = None,
    as_json: options.Json = False,
) -> None:
    """Answer one session on this machine, then end."""
    from shoal.overlap import exchange, points

    points.check_installed()
    _check(ledger)
    listed = _identifiers(source, column)
    other = exchange.listen(
        listed, port=port, most=most, told=lambda chosen: typer.echo(f"listening on port {chosen}", err=True)
    )
    _enter(ledger, "listen", column, {"other": other})
    _tell(as_json, {"other": other}, f"The other holder asked about {other:,} people.")


@app.command()
def ask(
    source: List,
    column: Name,
    port: Port,
    target: Common = None,
    size_only: SizeOnly = False,
    fewest: Fewest = 10,
    ledger: Book = None,
    as_json: options.Json = False,
) -> None:
    """Ask the holder that listens on a port of this machine."""
    from shoal.core.files import check_outputs
    from shoal.overlap import exchange, points

    points.check_installed()
    check_outputs([] if target is None else [target], [source])
    _check(ledger)
    listed = _identifiers(source, column)
    found = exchange.ask(listed, port=port, size_only=size_only, fewest=fewest)
    _enter(ledger, "ask", column, {"own": found.own, "other": found.other})
    _hand_over(found, listed, column, target, as_json)


def _check(ledger: Path | None) -> None:
    """Refuses, before any work is done, a ledger in which no session can be entered."""
    from shoal.ledger import Ledger

    if ledger is not None:
        Ledger(ledger).check_writable()


def _enter(ledger: Path | None, step: str, column: str, figures: dict[str, int]) -> None:
    """Enters a session: when it took place, which step of it was this holder's, and how long the lists were."""
    from shoal.ledger import Ledger

    if ledger is not None:
        Ledger(ledger).enter_session({"step": step, "column": column, **figures})


def _identifiers(source: Path, column: str) -> list[str | None]:
    """A column as it stands in a file, row by row."""
    from shoal import api

    data = api.read(source, sensitive=[column], kinds={column: "categorical"})
    hierarchy = data.schema[column].hierarchy
    assert hierarchy is not None
    texts = hierarchy.labels[0].tolist()
    return [texts[code] for code in data.codes(column).tolist()]


def _read(path: Path) -> bytes:
    from shoal.errors import InputError

    try:
        return path.read_bytes()
    except OSError:
        raise InputError(f"{path.name}: this file cannot be read") from None


def _write(files: dict[Path, bytes], secret: Path | None = None) -> None:
    from shoal.core.files import replacing_all

    with replacing_all(*files) as places:
        for place, (path, content) in zip(places, files.items(), strict=True):
            place.touch(mode=0o600 if path == secret else 0o644)
            place.write_bytes(content)


def _hand_over(found: Overlap, listed: Sequence[str | None], column: str, target: Path | None, as_json: bool) -> None:
    """Tells the size; the common people go into a file that only the person can read."""
    import csv
    import io

    from shoal.errors import ParameterError

    if target is not None:
        if found.places is None:
            raise ParameterError("with --size-only nobody learns who is common; leave -o out")
        text = io.StringIO()
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow([column])
        lines.writerows([listed[place]] for place in found.places)
        _write({target: text.getvalue().encode()}, secret=target)
    size = f"Fewer than {found.fewer_than}" if found.size is None else f"{found.size:,}"
    figures = {"own": found.own, "other": found.other, "size": found.size, "fewer_than": found.fewer_than}
    _tell(
        as_json, figures, f"{size} people are in both lists: {found.own:,} are in yours, {found.other:,} in the other."
    )


def _tell(as_json: bool, figures: dict[str, int | None], sentence: str) -> None:
    if as_json:
        output.emit("overlap", {"summary": sentence, **figures})
    else:
        output.say(sentence)
