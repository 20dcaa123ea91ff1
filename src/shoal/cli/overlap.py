"""`shoal overlap`: start, answer and finish by files, or listen and ask on this machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import options, output

if TYPE_CHECKING:
    from shoal.overlap import Overlap, Question

app = typer.Typer(
    help="Find how many people two data holders have in common, or who, without showing each other their lists.",
    no_args_is_help=True,
)

List = Annotated[Path, typer.Argument(help="Table with your list of people.")]
Name = Annotated[
    str, typer.Option("--column", help="Column that identifies a person, spelled the same way by both holders.")
]
SizeOnly = Annotated[bool, typer.Option("--size-only", help="Learn how many people are in both lists, but not who.")]
TellSize = Annotated[bool, typer.Option("--size-only", help="Reveal how many people are in both lists, but never who.")]
Fewest = Annotated[
    int | None,
    typer.Option(
        "--fewest", min=1, max=10_000, show_default="10",
        help="Blur the count so that it hides overlaps of fewer people than this, and refuse shorter lists; 1 gives "
        "the exact count. Implies --size-only.",
    ),
]  # fmt: skip
Sessions = Annotated[
    int | None,
    typer.Option(
        "--sessions", min=1, show_default="10",
        help="With --ledger: refuse to answer after this many answered sessions.",
    ),
]  # fmt: skip
Most = Annotated[
    int, typer.Option("--most", min=1, help="Refuse a list from the other holder with more people than this.")
]
State = Annotated[Path, typer.Option("--state", help="File for your secret key of this session; `finish` deletes it.")]
Target = Annotated[Path, typer.Option("--output", "-o", help="File for the message to the other holder.")]
Common = Annotated[
    Path | None, typer.Option("--output", "-o", help="CSV file for the people in both lists, one per line.")
]
Book = Annotated[
    Path | None, typer.Option("--ledger", help="Ledger of your data set, in which the session is recorded.")
]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="Port on this machine; 0 takes any free one.")]

SECRET = "The other holder learns how long your list is, and nothing else about it."
CAUTION = (
    "Whoever asks can ask about guessed people, so know whom you deal with, and count your answers with --ledger: "
    "sessions with almost the same list tell about the people in whom they differ."
)


@app.command()
def start(
    source: List, column: Name, target: Target, state: State, size_only: SizeOnly = False, as_json: options.Json = False
) -> None:
    """Start a session: write a message for the other holder, and your secret key of the session."""
    from shoal.overlap import Asker, points
    from shoal.storage.files import check_outputs

    points.check_installed()
    check_outputs([target, state], [source])
    listed = _identifiers(source, column)
    asker = Asker.of(listed, size_only=size_only)
    _write({target: asker.message, state: asker.saved(listed)}, secret=state)
    _tell(as_json, {"own": asker.own}, f"{asker.own:,} people are in the message. {SECRET}")


@app.command()
def answer(
    source: List,
    message: Annotated[Path, typer.Argument(help="Message from the other holder.")],
    column: Name,
    target: Target,
    size_only: TellSize = False,
    fewest: Fewest = None,
    most: Most = 10_000_000,
    ledger: Book = None,
    sessions: Sessions = None,
    as_json: options.Json = False,
) -> None:
    """Answer the other holder's message. You learn the length of their list; they learn who is in both, or how many."""
    from shoal.overlap import FEWEST, answered, asked, points
    from shoal.storage.files import check_outputs

    points.check_installed()
    check_outputs([target], [source, message])
    received = _read(message)
    question = asked(received, most=most)
    before = _check_answer(ledger, sessions, question)
    insist, least = size_only or fewest is not None, FEWEST if fewest is None else fewest
    reply = answered(received, _identifiers(source, column), most=most, size_only=insist, fewest=least)
    _write({target: reply}, entering=lambda: _enter_answer(ledger, "answer", column, question, least, sessions))
    _tell(as_json, {"other": question.people}, f"{_answered(question, least, before, sessions)} {CAUTION}")


@app.command()
def finish(
    source: List,
    message: Annotated[Path, typer.Argument(help="Answer from the other holder.")],
    column: Name,
    state: State,
    target: Common = None,
    ledger: Book = None,
    as_json: options.Json = False,
) -> None:
    """Finish a session: show the overlap, and delete your secret key of the session."""
    from shoal.overlap import Asker, points
    from shoal.storage.files import check_outputs

    points.check_installed()
    check_outputs([] if target is None else [target], [source, message, state])
    _check(ledger)
    listed = _identifiers(source, column)
    asker = Asker.loaded(_read(state), listed)
    _check_common(asker.size_only, target)
    found = asker.finished(_read(message))
    _enter(ledger, "finish", column, {"own": found.own, "other": found.other})
    _hand_over(found, listed, column, target, as_json)
    state.unlink()


@app.command()
def listen(
    source: List,
    column: Name,
    port: Port = 0,
    size_only: TellSize = False,
    fewest: Fewest = None,
    most: Most = 10_000_000,
    ledger: Book = None,
    sessions: Sessions = None,
    as_json: options.Json = False,
) -> None:
    """Wait for one session on a port of this machine, answer it, and stop."""
    from shoal.overlap import FEWEST, exchange, points

    points.check_installed()
    before = _check_answer(ledger, sessions)
    listed = _identifiers(source, column)
    insist, least = size_only or fewest is not None, FEWEST if fewest is None else fewest
    question = exchange.listen(
        listed, port=port, most=most, size_only=insist, fewest=least,
        announce=lambda chosen: typer.echo(f"listening on port {chosen}", err=True),
        entering=lambda question: _enter_answer(ledger, "listen", column, question, least, sessions),
    )  # fmt: skip
    _tell(as_json, {"other": question.people}, _answered(question, least, before, sessions))


@app.command()
def ask(
    source: List,
    column: Name,
    port: Port,
    target: Common = None,
    size_only: SizeOnly = False,
    ledger: Book = None,
    as_json: options.Json = False,
) -> None:
    """Ask a holder who listens on a port of this machine."""
    from shoal.overlap import exchange, points
    from shoal.storage.files import check_outputs

    points.check_installed()
    check_outputs([] if target is None else [target], [source])
    _check_common(size_only, target)
    _check(ledger)
    listed = _identifiers(source, column)
    found = exchange.ask(listed, port=port, size_only=size_only)
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


def _check_answer(ledger: Path | None, sessions: int | None, question: Question | None = None) -> int | None:
    """How many sessions were answered before; refuses, before any work is done, one that may not be answered."""
    from shoal.errors import ParameterError
    from shoal.ledger import Ledger
    from shoal.ledger.sessions import SESSIONS, check_answer

    if ledger is None:
        if sessions is not None:
            raise ParameterError("--sessions needs a ledger in which sessions are counted; name it with --ledger")
        return None
    session = None if question is None else question.session
    before = check_answer(Ledger(ledger), most=sessions or SESSIONS, session=session)
    _check(ledger)
    return before


def _enter_answer(
    ledger: Path | None, step: str, column: str, question: Question, fewest: int, sessions: int | None
) -> None:
    """Enters a session that is about to be answered: what is told, and of how many people."""
    from shoal.ledger import Ledger
    from shoal.ledger.sessions import SESSIONS, enter_answer

    if ledger is None:
        return
    figures = {"step": step, "column": column, "other": question.people, "size_only": question.size_only}
    if question.size_only:
        figures["fewest"] = fewest
    enter_answer(Ledger(ledger), question.session, figures, most=sessions or SESSIONS)


def _answered(question: Question, fewest: int, before: int | None, sessions: int | None) -> str:
    """What the other holder asked and learns, and how many sessions were answered by now."""
    from shoal.ledger.sessions import SESSIONS
    from shoal.overlap.cardinality import margin

    learns = (
        "who of them are in your list" if not question.size_only
        else f"about how many of them are in your list, give or take {margin(fewest):,}" if margin(fewest)
        else "how many of them are in your list"
    )  # fmt: skip
    count = "" if before is None else f" This is answered session {before + 1:,} of at most {sessions or SESSIONS:,}."
    return f"The other holder asks about {question.people:,} people and learns {learns}.{count}"


def _check_common(size_only: bool, target: Path | None) -> None:
    """Refuses, before any work is done, a file of common people that nobody will know."""
    from shoal.errors import ParameterError

    if size_only and target is not None:
        raise ParameterError(
            "with --size-only you do not learn who is in both lists, so there is nothing to write; leave -o out"
        )


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


def _write(files: dict[Path, bytes], secret: Path | None = None, entering: Callable[[], object] = lambda: None) -> None:
    """Writes files that take their places together, after `entering`; where that raises, none does."""
    from shoal.storage.files import replacing_all

    with replacing_all(*files) as places:
        for place, (path, content) in zip(places, files.items(), strict=True):
            place.touch(mode=0o600 if path == secret else 0o644)
            place.write_bytes(content)
        entering()


def _hand_over(found: Overlap, listed: Sequence[str | None], column: str, target: Path | None, as_json: bool) -> None:
    """Tells the size; the common people go into a file that only the person can read."""
    import csv
    import io

    if target is not None and found.places is not None:
        text = io.StringIO()
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow([column])
        lines.writerows([listed[place]] for place in found.places)
        _write({target: text.getvalue().encode()}, secret=target)
    size = (
        f"Fewer than {found.fewer_than} people" if found.size is None
        else f"About {found.size:,} people, give or take {found.margin:,}," if found.margin
        else f"{found.size:,} people"
    )  # fmt: skip
    figures = {
        "own": found.own, "other": found.other, "size": found.size, "margin": found.margin,
        "fewer_than": found.fewer_than,
    }  # fmt: skip
    _tell(as_json, figures, f"{size} are in both lists: {found.own:,} are in yours, {found.other:,} in the other.")


def _tell(as_json: bool, figures: dict[str, int | None], sentence: str) -> None:
    if as_json:
        output.emit("overlap", {"summary": sentence, **figures})
    else:
        output.say(sentence)
