"""An option of a run: declared once, as a field of a noun, and spelled everywhere from there.

From the declaration come the command's option, the key of the job file and its check, the argument of a Python verb,
the JSON schema, the log, what a report shows and the reference. The field's annotation says its kind.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cache
from typing import Any

from shoal.job.kinds import OptionKind, kind_of


@dataclass(frozen=True, kw_only=True)
class Option:
    """One option of a run.

    Args:
        name: the field's name.
        field: the field that it is declared as, whose `default` it has where nobody says otherwise.
        kind: how its value is written.
        place: the table and the key of the job file; a table alone stands for whether it is there.
        help: what it does, in a sentence or two.
        commands: the commands that have it.
        flags: how they spell it; none for an argument without a name.
        verbs: the Python verbs that take it, and `argument` its name there where it is another: that of a mapping from
            column to value, for what is said of single columns.
        public: whether anybody may read it; of files and engines, their names alone. A report shows nothing else.
        logged: whether a log says what was given, or only that something was.
        formerly: the name that it had before.
    """

    name: str
    field: Any
    kind: OptionKind
    place: tuple[str, ...]
    help: str
    commands: frozenset[str]
    flags: tuple[str, ...]
    verbs: tuple[str, ...]
    argument: str
    public: bool
    logged: bool
    formerly: str | None

    @property
    def default(self) -> Any:
        """Its value where nobody says otherwise."""
        made = self.field.default_factory
        return self.field.default if made is dataclasses.MISSING else made()

    @property
    def key(self) -> str:
        """Its key in the table of the job file."""
        return self.place[-1]

    @property
    def by_column(self) -> bool:
        """Whether it is said of single columns: commands and verbs then take it for several at once."""
        return self.argument != self.name

    @property
    def flag(self) -> str:
        """How a command spells it, in full."""
        return self.flags[0] if self.flags else self.name.upper()


def option(
    default: Any,
    place: str,
    help: str,
    commands: frozenset[str] = frozenset(),
    *,
    flags: str | None = None,
    verbs: str = "",
    argument: str | None = None,
    kind: OptionKind | None = None,
    public: bool = False,
    logged: bool = True,
    formerly: str | None = None,
    **limits: Any,
) -> Any:
    """A field that is an option; see `Option`. `limits` are those of its kind, such as `least=1`."""
    declared = {
        "place": tuple(filter(None, place.split("."))), "help": help, "commands": commands, "verbs": verbs,
        "flags": flags, "argument": argument, "kind": kind, "public": public, "logged": logged, "formerly": formerly,
        "limits": limits,
    }  # fmt: skip
    if callable(default):
        return dataclasses.field(default_factory=default, metadata=declared)
    return dataclasses.field(default=default, metadata=declared)


def options(noun: Any) -> tuple[Option, ...]:
    """The options of a noun, in the order in which they are declared."""
    return _declared(noun if isinstance(noun, type) else type(noun))


@cache
def _declared(noun: type) -> tuple[Option, ...]:
    return tuple(_option(field) for field in dataclasses.fields(noun) if "place" in field.metadata)


def _option(field: dataclasses.Field[Any]) -> Option:
    declared = field.metadata
    flags = declared["flags"]
    return Option(
        name=field.name,
        field=field,
        kind=declared["kind"] or kind_of(str(field.type), **declared["limits"]),
        place=declared["place"],
        help=declared["help"],
        commands=declared["commands"],
        flags=(f"--{field.name.replace('_', '-')}",) if flags is None else tuple(flags.split()),
        verbs=tuple(declared["verbs"].split()),
        argument=declared["argument"] or field.name,
        public=declared["public"],
        logged=declared["logged"],
        formerly=declared["formerly"],
    )
