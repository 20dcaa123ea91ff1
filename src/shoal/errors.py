"""Every exception that Shoal raises on purpose.

Messages name columns and counts, never a cell's value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Self

LONGEST_SHOWN = 100
MOST_LISTED = 40
"""Names that a message lists of those that there are."""


class ShoalError(Exception):
    """The base of all of them. `exit_code` is what the command returns."""

    exit_code = 2


class InputError(ShoalError):
    """A table, a manifest or a job file cannot be read as what it should be."""


class UnknownValuesError(InputError):
    """A column of a release has values that the table and its hierarchies lack."""


class SchemaError(ShoalError):
    """Roles, kinds or column names do not fit the table."""


class PlainColumnError(SchemaError):
    """A column that would be published as it is names people, or tells what another column hides. `columns` has the
    reason for each."""

    def __init__(self, columns: Mapping[str, str]) -> None:
        self.columns = dict(columns)
        listed = "; ".join(f"{quoted(name)}: {reason}" for name, reason in self.columns.items())
        many = len(self.columns) > 1
        super().__init__(
            f"{len(self.columns)} column{'s have' if many else ' has'} no role, would be published as "
            f"{'they are' if many else 'it is'}, and would give people away, so nothing was written. {listed}. Make "
            f"{'each' if many else 'it'} an identifier, which is dropped (--identifiers), or a quasi-identifier, which "
            "is generalized (--quasi); or name it with --allow-plain (allow_plain in Python and in job files) to "
            "publish it as it is"
        )


class HierarchyError(ShoalError):
    """A generalization hierarchy is not a hierarchy, or does not fit its column."""


class ParameterError(ShoalError):
    """A parameter is unknown, of the wrong type, or out of its bounds."""


class PluginError(ShoalError):
    """A plug-in breaks its contract, or cannot be loaded; the message names it and the rule."""


class OutputError(ShoalError):
    """A result could not be written; whatever stood there before is untouched."""


class ExistingOutputError(OutputError):
    """Files or tables that a result would replace are there already, and nobody said that it may."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)
        many = len(self.names) > 1
        super().__init__(
            f"{', '.join(self.names)} {'exist' if many else 'exists'} already; add --overwrite (overwrite = true under "
            f"[output] of a job file) to replace {'them' if many else 'it'}, or name "
            f"{'other files' if many else 'another file'}"
        )


class MissingExtraError(ShoalError):
    """A feature needs an optional package that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an optional package; install it with: pip install 'shoal[{extra}]'")


class MissingProgramError(ShoalError):
    """A feature needs a program that is not part of Python and is not there."""

    def __init__(self, feature: str, program: str, package: str) -> None:
        super().__init__(
            f"{feature} needs {program}, which was not found; on Debian and Ubuntu: apt-get install {package}"
        )


class InfeasibleError(ShoalError):
    """No release satisfies the policy. `attempt` holds the figures of the closest try."""

    exit_code = 3

    def __init__(self, message: str, attempt: Mapping[str, object] | None = None) -> None:
        super().__init__(message)
        self.attempt = dict(attempt or {})


class NotDefined(ShoalError):  # noqa: N818 - it is an answer, shown as the reason why there is no number
    """A form of release cannot answer a question; the message is the reason, and a report shows it."""


class PeopleUnknown(NotDefined):
    """A release does not say whose its records are, so that people cannot be counted in it."""


class ForkError(ShoalError):
    """A process that was forked would wait forever for threads that only its parent has."""


class CancelledError(ShoalError):
    """Somebody stopped the run; nothing was written."""

    exit_code = 130


class VerificationError(ShoalError):
    """A release breaks the policy it was made for, and is not handed out."""

    exit_code = 3


class DisclosureError(VerificationError):
    """A release and earlier ones of the same people would together break what they promise. `breaches` says how."""

    def __init__(self, message: str, breaches: Iterable[object] = ()) -> None:
        super().__init__(message)
        self.breaches = tuple(breaches)


class Unshown(str):
    """The name of a column in a table whose header looks like a record: no error shows it, but its place."""

    place: int

    def __new__(cls, name: str, place: int = 0) -> Self:
        text = super().__new__(cls, name)
        text.place = place
        return text

    def __repr__(self) -> str:
        return f"number {self.place}"


def quoted(name: str) -> str:
    """A name as a message shows it: quoted, nothing in it that a terminal would obey, and not at any length."""
    shown = repr(name)
    return shown if len(shown) <= LONGEST_SHOWN else f"{shown[:LONGEST_SHOWN]}…"


def alternatives(wanted: str, available: Iterable[str], there: str = "there are") -> str:
    """What may have been meant by a name that there is not, and the names that there are.

    Example:
        >>> alternatives("k-anonimity", ["k-anonymity", "k-map"])
        "did you mean 'k-anonymity'? There are 'k-anonymity', 'k-map'"
    """
    names = list(available)
    lower = {name.lower(): name for name in names}
    close = get_close_matches(wanted.lower(), lower, n=2, cutoff=0.6)
    shown = ", ".join(map(quoted, names[:MOST_LISTED])) or "none"
    more = f" and {len(names) - MOST_LISTED:,} more" if len(names) > MOST_LISTED else ""
    if not close:
        return f"{there} {shown}{more}"
    meant = " or ".join(quoted(lower[name]) for name in close)
    return f"did you mean {meant}? {there[0].upper()}{there[1:]} {shown}{more}"


def unknown_columns(unknown: Iterable[str], available: Iterable[str]) -> SchemaError:
    unknown = list(unknown)
    names = ", ".join(map(quoted, unknown))
    available = list(available)
    if any(isinstance(name, Unshown) for name in available):
        return SchemaError(
            f"no column named {names}; the first line of the table looks like a record, so its {len(available)} "
            "fields are not shown; add a header"
        )
    return SchemaError(f"no column named {names}; {alternatives(unknown[0], available, 'the table has')}")
