"""`shoal overlap`: start, answer and finish by files, or listen and ask on this machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import fast_start, options, output

if TYPE_CHECKING:
    from shoal.overlap import Overlap, OverlapQuestion

app = typer.Typer(
    help="Find how many people two data holders have in common, or who, without showing each other their lists.",
    no_args_is_help=True,
)

List = Annotated[Path, typer.Argument(help="Table with your list of people.")]
Name = Annotated[
    str, typer.Option("--column", help="Column that identifies a person, spelled the same way by both holders.")
]
SizeOnly = Annotated[bool, typer.Option("--size-only", help="Learn how many people are in both lists, but not who.")]
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
    "Whoever asks can also ask about people at a guess, so know whom you deal with. Count your answers with --ledger: "
    "two sessions with almost the same list reveal the people in whom they differ."
)


@dataclass(frozen=True, kw_only=True)
class AnswerLimits:
    """What the holder who answers tells at most, and how often."""

    size_only: Annotated[
        bool, typer.Option("--size-only", help="Reveal how many people are in both lists, but never who.")
    ] = False
    fewest: Annotated[
        int | None,
        typer.Option(
            "--fewest", min=1, max=10_000, show_default="10",
            help="Blur the count so that it hides overlaps of fewer people than this, and refuse shorter lists; 1 "
            "gives the exact count. Implies --size-only.",
        ),
    ] = None  # fmt: skip
    most: Annotated[
        int, typer.Option("--most", min=1, help="Refuse a list from the other holder with more people than this.")
    ] = 10_000_000
    ledger: Book = None
    sessions: Annotated[
        int | None,
        typer.Option(
            "--sessions", min=1, show_default="10",
            help="With --ledger: refuse to answer after this many answered sessions.",
        ),
    ] = None  # fmt: skip

    @property
    def arguments(self) -> dict[str, Any]:
        """What the answer to a question is told."""
        insist = self.size_only or self.fewest is not None
        return {"most": self.most, "size_only": insist, "fewest": self.least_overlap}

    @property
    def least_overlap(self) -> int:
        from shoal.overlap import FEWEST

        return FEWEST if self.fewest is None else self.fewest

    @property
    def most_sessions(self) -> int:
        from shoal.ledger.sessions import SESSIONS

        return self.sessions or SESSIONS

    def check(self, question: OverlapQuestion | None = None) -> int | None:
        """How many sessions were answered before; refuses, before any work is done, one that may not be answered."""
        from shoal.errors import ParameterError
        from shoal.ledger import Ledger
        from shoal.ledger.sessions import check_answer

        if self.ledger is None:
            if self.sessions is not None:
                raise ParameterError("--sessions needs a ledger in which sessions are counted; name it with --ledger")
            return None
        session = None if question is None else question.session
        before = check_answer(Ledger(self.ledger), most=self.most_sessions, session=session)
        _check(self.ledger)
        return before

    def enter(self, step: str, column: str, question: OverlapQuestion) -> None:
        """Enters a session that is about to be answered: what is told, and of how many people."""
        from shoal.ledger import Ledger
        from shoal.ledger.sessions import enter_answer

        if self.ledger is None:
            return
        figures = {"step": step, "column": column, "other": question.people, "size_only": question.size_only}
        if question.size_only:
            figures["fewest"] = self.least_overlap
        enter_answer(Ledger(self.ledger), question.session, figures, most=self.most_sessions)

    def sentence(self, question: OverlapQuestion, before: int | None) -> str:
        """What the other holder asked and learns, and how many sessions were answered by now."""
        from shoal.overlap.cardinality import margin

        blur = margin(self.least_overlap)
        learns = (
            "which of them are in your list" if not question.size_only
            else f"about how many of them are in your list, give or take {blur:,}" if blur
            else "how many of them are in your list"
        )  # fmt: skip
        count = "" if before is None else f" This is answered session {before + 1:,} of at most {self.most_sessions:,}."
        return f"The other holder asks about {question.people:,} people and learns {learns}.{count}"


def _command(command: Callable[..., None]) -> Callable[..., None]:
    """Adds a command whose options include a group."""
    app.command()(options.expand_options(command.__name__, command))
    return command


@app.command()
def start(
    source: List,
    column: Name,
    target: Target,
    state: State,
    size_only: SizeOnly = False,
    overwrite: options.Overwrite = False,
    as_json: options.Json = False,
) -> None:
    """Start a session: write a message for the other holder, and your secret key of the session."""
    from shoal.overlap import Asker, points

    points.check_installed()
    output.claim([target, state], [source], overwrite=overwrite)
    people = _identifiers(source, column)
    asker = Asker.of(people, size_only=size_only)
    write_files({target: asker.message, state: asker.saved(people)}, secret=state)
    _tell(as_json, {"own": asker.own}, f"{asker.own:,} people are in the message. {SECRET}")


@_command
def answer(
    source: List,
    message: Annotated[Path, typer.Argument(help="Message from the other holder.")],
    column: Name,
    target: Target,
    limits: AnswerLimits,
    overwrite: options.Overwrite = False,
    as_json: options.Json = False,
) -> None:
    """Answer the other holder's message. You learn the length of their list; they learn who is in both, or how many."""
    from shoal.overlap import answered, asked, points

    points.check_installed()
    output.claim([target], [source, message], overwrite=overwrite)
    received = content(message)
    question = asked(received, most=limits.most)
    before = limits.check(question)
    reply = answered(received, _identifiers(source, column), **limits.arguments)
    write_files({target: reply}, entering=lambda: limits.enter("answer", column, question))
    _tell(as_json, {"other": question.people}, f"{limits.sentence(question, before)} {CAUTION}")


@app.command()
def finish(
    source: List,
    message: Annotated[Path, typer.Argument(help="Answer from the other holder.")],
    column: Name,
    state: State,
    target: Common = None,
    ledger: Book = None,
    overwrite: options.Overwrite = False,
    as_json: options.Json = False,
) -> None:
    """Finish a session: show the overlap, and delete your secret key of the session."""
    from shoal.overlap import Asker, points

    points.check_installed()
    output.claim([] if target is None else [target], [source, message, state], overwrite=overwrite)
    _check(ledger)
    people = _identifiers(source, column)
    asker = Asker.loaded(content(state), people)
    _check_common(asker.size_only, target)
    overlap = asker.finished(content(message))
    _enter(ledger, "finish", column, {"own": overlap.own, "other": overlap.other})
    _hand_over(overlap, people, column, target, as_json)
    state.unlink()


@_command
def listen(source: List, column: Name, *, port: Port = 0, limits: AnswerLimits, as_json: options.Json = False) -> None:
    """Wait for one session on a port of this machine, answer it, and stop."""
    from shoal.overlap import exchange, points

    points.check_installed()
    before = limits.check()
    people = _identifiers(source, column)
    question = exchange.listen(
        people, port=port, **limits.arguments,
        announce=lambda number: typer.echo(f"listening on port {number}", err=True),
        entering=lambda question: limits.enter("listen", column, question),
    )  # fmt: skip
    _tell(as_json, {"other": question.people}, limits.sentence(question, before))


@app.command()
def ask(
    source: List,
    column: Name,
    port: Port,
    target: Common = None,
    size_only: SizeOnly = False,
    ledger: Book = None,
    overwrite: options.Overwrite = False,
    as_json: options.Json = False,
) -> None:
    """Ask a holder who listens on a port of this machine."""
    from shoal.overlap import exchange, points

    points.check_installed()
    output.claim([] if target is None else [target], [source], overwrite=overwrite)
    _check_common(size_only, target)
    _check(ledger)
    people = _identifiers(source, column)
    overlap = exchange.ask(people, port=port, size_only=size_only)
    _enter(ledger, "ask", column, {"own": overlap.own, "other": overlap.other})
    _hand_over(overlap, people, column, target, as_json)


def _check(ledger: Path | None) -> None:
    """Refuses, before any work is done, a ledger in which no session can be entered."""
    if ledger is not None:
        from shoal.ledger import Ledger

        Ledger(ledger).check_writable()


def _enter(ledger: Path | None, step: str, column: str, figures: dict[str, int]) -> None:
    """Enters a session: when it took place, which step of it was this holder's, and how long the lists were."""
    if ledger is not None:
        from shoal.ledger import Ledger

        Ledger(ledger).enter_session({"step": step, "column": column, **figures})


def _check_common(size_only: bool, target: Path | None) -> None:
    """Refuses, before any work is done, a file of common people that nobody will know."""
    from shoal.errors import ParameterError

    if size_only and target is not None:
        raise ParameterError(
            "with --size-only you do not learn who is in both lists, so there is nothing to write; leave -o out"
        )


def _identifiers(source: Path, column: str) -> list[str | None]:
    return texts(source, [column])[column]


def texts(source: Path, names: Sequence[str]) -> dict[str, list[str | None]]:
    """Columns as they stand in a file, row by row."""
    from shoal import api

    fast_start.without_pandas()
    data = api.read(source, sensitive=names, kinds=dict.fromkeys(names, "categorical"))
    columns = {}
    for name in names:
        labels = data.schema.hierarchy_of(name).labels[0].tolist()
        columns[name] = [labels[code] for code in data.codes(name).tolist()]
    return columns


def content(path: Path) -> bytes:
    """What another holder sent."""
    from shoal.errors import InputError

    try:
        return path.read_bytes()
    except OSError:
        raise InputError(f"{path.name}: this file cannot be read") from None


def write_files(
    files: dict[Path, bytes], secret: Path | None = None, entering: Callable[[], object] = lambda: None
) -> None:
    """Writes files that take their places together, after `entering`; where that raises, none does."""
    from shoal.storage.files import replacing_all

    with replacing_all(*files) as places:
        for place, (path, content) in zip(places, files.items(), strict=True):
            place.touch(mode=0o600 if path == secret else 0o644)
            place.write_bytes(content)
        entering()


def _hand_over(overlap: Overlap, people: Sequence[str | None], column: str, target: Path | None, as_json: bool) -> None:
    """Tells the size; the common people go into a file that only the person can read."""
    import csv
    import io

    if target is not None and overlap.places is not None:
        text = io.StringIO()
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow([column])
        lines.writerows([people[place]] for place in overlap.places)
        write_files({target: text.getvalue().encode()}, secret=target)
    size = (
        f"Fewer than {overlap.fewer_than} people" if overlap.size is None
        else f"About {overlap.size:,} people, give or take {overlap.margin:,}," if overlap.margin
        else f"{overlap.size:,} people"
    )  # fmt: skip
    figures = {
        "own": overlap.own, "other": overlap.other, "size": overlap.size, "margin": overlap.margin,
        "fewer_than": overlap.fewer_than,
    }  # fmt: skip
    _tell(as_json, figures, f"{size} are in both lists: {overlap.own:,} are in yours, {overlap.other:,} in the other.")


def _tell(as_json: bool, figures: dict[str, int | None], sentence: str) -> None:
    if as_json:
        output.emit("overlap", {"summary": sentence, **figures})
    else:
        output.say(sentence)
