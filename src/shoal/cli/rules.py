"""`shoal rules`: association rules of several holders, who pass one file round and show one another no count."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import options, output

if TYPE_CHECKING:
    from shoal.overlap.itemsets import AssociationRule, Item
    from shoal.overlap.rules_message import RulesMessage

app = typer.Typer(
    help="Find association rules in the records of three or more holders, without showing one another any count.",
    no_args_is_help=True,
)

Message = Annotated[Path, typer.Argument(help="File of the session, from the holder before you.")]
Target = Annotated[Path, typer.Option("--output", "-o", help="File of the session for the next holder.")]


@app.command()
def start(
    items: Annotated[
        Path,
        typer.Argument(help="Table of the items that all holders agreed on; its columns are called column and value."),
    ],
    holders: Annotated[int, typer.Option("--holders", min=3, max=20, help="How many holders take part.")],
    target: Target,
    fewest: Annotated[
        int,
        typer.Option("--fewest", min=2, max=100, help="Show no count, and nothing a count follows from, below this."),
    ] = 10,
    longest: Annotated[
        int, typer.Option("--longest", min=1, max=4, help="How many items are counted together, at most.")
    ] = 2,
    people: Annotated[
        bool, typer.Option("--people", help="Count people, who may have several records; every holder names --person.")
    ] = False,
    overwrite: options.Overwrite = False,
    as_json: options.Json = False,
) -> None:
    """Start a session: write the file that all holders pass round. Then take your own turn with it."""
    from shoal.cli.overlap import write_files
    from shoal.overlap import points
    from shoal.overlap.rules_message import RulesPlan
    from shoal.overlap.shared_rules import margin, started

    points.check_installed()
    output.claim([target], [items], overwrite=overwrite)
    plan = RulesPlan(items=_items(items), holders=holders, fewest=fewest, longest=longest, people=people)
    write_files({target: started(plan)})
    counted = "people" if people else "records"
    _tell(
        as_json,
        {"holders": holders, "turn": 0, "finished": False},
        f"{len(plan.items):,} items, {holders} holders; counts below {fewest} {counted} will not be shown, and all "
        f"others are blurred, give or take {margin(plan)}. The file has nobody's data yet; whoever takes the first "
        "turn is holder 1.",
    )


@app.command()
def turn(
    source: Annotated[Path, typer.Argument(help="Table with your records.")],
    message: Message,
    target: Target,
    state: Annotated[
        Path, typer.Option("--state", help="File for your secret part of the key; the same at each of your turns.")
    ],
    person: Annotated[
        str | None, typer.Option("--person", help="Column that says whose a record is, if people are counted.")
    ] = None,
    ledger: Annotated[
        Path | None, typer.Option("--ledger", help="Ledger of your data set, in which the session is recorded.")
    ] = None,
    sessions: Annotated[
        int | None,
        typer.Option(
            "--sessions", min=1, show_default="10", help="With --ledger: refuse after this many answered sessions."
        ),
    ] = None,
    overwrite: options.Overwrite = False,
    as_json: options.Json = False,
) -> None:
    """Take your turn: work on the file that goes round, and pass it on."""
    from shoal.cli.overlap import content, write_files
    from shoal.overlap import points
    from shoal.overlap.rules_message import RulesMessage
    from shoal.overlap.shared_rules import RulesHolder, take_turn

    points.check_installed()
    output.claim([target], [source, message, state], overwrite=overwrite)
    received = content(message)
    known = RulesMessage.unpacked(received)
    holder = RulesHolder.loaded(content(state)) if state.exists() else None
    entering = _entering(ledger, sessions, known, first=holder is None)
    after, holder = take_turn(received, _rows(source, known.plan.items, person), holder, person=person)
    passed_on = RulesMessage.unpacked(after)
    write_files({target: after, state: holder.saved()}, secret=state, entering=entering)
    figures = {"holders": known.plan.holders, "turn": passed_on.turn, "finished": passed_on.finished}
    _tell(as_json, figures, f"{_done(known)} {_next(passed_on)}")


@app.command()
def show(
    message: Annotated[Path, typer.Argument(help="File of the finished session.")],
    support: Annotated[
        float, typer.Option("--support", min=0, max=1, help="Least share of all records that a rule applies to.")
    ] = 0.0,
    confidence: Annotated[
        float, typer.Option("--confidence", min=0, max=1, help="Least share for which a rule is right.")
    ] = 0.5,
    target: Annotated[Path | None, typer.Option("--output", "-o", help="CSV file for the rules, one per line.")] = None,
    state: Annotated[
        Path | None, typer.Option("--state", help="Your secret part of the key, which is deleted: it is done with.")
    ] = None,
    overwrite: options.Overwrite = False,
    as_json: options.Json = False,
) -> None:
    """Show the rules of a finished session. Every holder sees the same."""
    from shoal.cli.overlap import content, write_files
    from shoal.overlap.rules_message import RulesMessage
    from shoal.overlap.shared_rules import RulesHolder, shared_counts

    output.claim([] if target is None else [target], [message], overwrite=overwrite)
    received = content(message)
    shared = shared_counts(received)
    plan = RulesMessage.unpacked(received).plan
    if state is not None and RulesHolder.loaded(content(state)).session == plan.session:
        state.unlink()
    rules = shared.rules(support=support, confidence=confidence)
    if target is not None:
        write_files({target: _table(rules)})
    counted = "people" if plan.people else "records"
    size = f"fewer than {plan.fewest}" if shared.total is None else f"about {shared.total:,}"
    sentence = (
        f"{len(rules):,} rules among {size} {counted} of {plan.holders} holders; {len(shared.counts):,} itemsets are "
        f"shown. Counts are blurred, give or take {shared.margin}."
    )
    if as_json:
        entries = [
            {**vars(rule), "given": [list(item) for item in rule.given], "then": list(rule.then)} for rule in rules
        ]
        figures = {
            "holders": plan.holders,
            "finished": True,
            "total": shared.total,
            "margin": shared.margin,
            "itemsets": len(shared.counts),
        }
        output.emit("rules", {"summary": sentence, **figures, "rules": entries})
        return
    output.say(sentence)
    if rules:
        output.tabulate(
            ("whoever has", "also has", counted, "support", "confidence"),
            [(*_words(rule), f"{rule.count:,}", f"{rule.support:.1%}", f"{rule.confidence:.1%}") for rule in rules],
            numbers=(counted, "support", "confidence"),
        )


def _words(rule: AssociationRule) -> tuple[str, str]:
    given, then = (", ".join(f"{column} = {value}" for column, value in side) for side in (rule.given, (rule.then,)))
    return given, then


def _table(rules: list[AssociationRule]) -> bytes:
    import csv
    import io

    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(["given", "then", "count", "support", "confidence"])
    lines.writerows([*_words(rule), rule.count, rule.support, rule.confidence] for rule in rules)
    return text.getvalue().encode()


def _done(known: RulesMessage) -> str:
    """What a turn did."""
    if known.round == 0:
        return f"You are holder {known.place + 1}, and your part of the key is in."
    if known.round % 2 == 0:
        return f"You tested, without seeing them, which of {len(known.candidates):,} counts may be shown."
    added = f"Your encrypted counts of {len(known.candidates):,} itemsets are in." if known.candidates else ""
    return added or "You helped to read the last counts."


def _next(after: RulesMessage) -> str:
    """What is to be done with the file."""
    if after.finished:
        return "The session is finished: send the file to all holders, who read it with `shoal rules show`."
    rounds = 2 * after.plan.longest + 2
    return (
        f"Send the file to holder {after.place + 1}. That was turn {after.turn} of "
        f"{'at most ' if after.round < rounds - 1 else ''}{rounds * after.plan.holders}."
    )


def _entering(ledger: Path | None, sessions: int | None, known: RulesMessage, *, first: bool) -> Any:
    """What enters the session in a ledger, at the first turn; refuses one that may not be answered any more."""
    from shoal.errors import ParameterError

    if ledger is None:
        if sessions is not None:
            raise ParameterError("--sessions needs a ledger in which sessions are counted; name it with --ledger")
        return lambda: None
    if not first:
        return lambda: None
    from shoal.ledger import Ledger
    from shoal.ledger.sessions import SESSIONS, check_answer, enter_answer

    most, book = sessions or SESSIONS, Ledger(ledger)
    check_answer(book, most=most, session=known.plan.session)
    book.check_writable()
    figures = {
        "step": "rules",
        "holders": known.plan.holders,
        "fewest": known.plan.fewest,
        "items": len(known.plan.items),
    }
    return lambda: enter_answer(book, known.plan.session, figures, most=most)


def _items(source: Path) -> tuple[Item, ...]:
    """The items of a table: a column and a value in each row."""
    from shoal.cli.overlap import texts
    from shoal.errors import InputError

    columns = texts(source, ["column", "value"])
    if any(text is None for column in columns.values() for text in column):
        raise InputError(f"{source.name}: an item lacks its column or its value")
    return tuple((str(column), str(value)) for column, value in zip(*columns.values(), strict=True))


def _rows(source: Path, items: tuple[Item, ...], person: str | None) -> Iterator[dict[str, str | None]]:
    """The records of a table, by the columns that items are about."""
    from shoal.cli.overlap import texts

    names = list(dict.fromkeys([column for column, _ in items] + ([] if person is None else [person])))
    columns = texts(source, names)
    return (dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True))


def _tell(as_json: bool, figures: dict[str, Any], sentence: str) -> None:
    if as_json:
        output.emit("rules", {"summary": sentence, **figures})
    else:
        output.say(sentence)
