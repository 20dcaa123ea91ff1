"""Entries that the output of several commands has."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

Share = float
Number = int | float | str | None
"""Numbers that JSON lacks (infinity) are written as text."""


class FindingEntry(TypedDict):
    """One measured fact; without a value, the reason."""

    value: Number
    bound: Number
    holds: bool | None
    unit: NotRequired[str]
    reason: NotRequired[str]
    detail: NotRequired[dict[str, Any]]
    baselines: NotRequired[dict[str, Number]]


class ColumnEntry(TypedDict):
    """What is published of a column; shares are of its cells."""

    name: str
    role: str
    shape: Literal["raw", "levels", "intervals", "means", "changed", "grouped", "pseudonyms", "dropped", "unknown"]
    words: str
    lost: NotRequired[Share]
    exact: NotRequired[Share]
    hidden: NotRequired[Share]
    lowest: NotRequired[int]
    highest: NotRequired[int]
    height: NotRequired[int]


class AttackEntry(TypedDict):
    """How often an attack succeeds, and for the most exposed person."""

    name: str
    success: Share
    baseline: Share
    worst: Share
    above: Share
    threshold: Share
    knew: str
    meaning: str
    lower_bound: bool
    gains: bool
    random: NotRequired[Share]
    control: NotRequired[Share]
    interval: NotRequired[list[Share]]
    detail: NotRequired[dict[str, Any]]


class Printed(TypedDict):
    """What every command prints."""

    command: str
    version: Literal[1]
    summary: str


Findings = dict[str, FindingEntry]
Sets = list[list[str]]


class Failed(TypedDict):
    """Whatever a command prints when it fails; where no release satisfies a policy, the closest attempt."""

    error: str
    command: str
    version: Literal[1]
    attempt: NotRequired[dict[str, Any]]


class PlainEntry(TypedDict):
    """What the columns that are published as they are single out together, held against the policy's risk; where it is
    `above`, a `warning` says what to do."""

    columns: list[str]
    singled_out: int
    records: int
    unit: Literal["records", "people"]
    accepted: Share
    share: Share
    above: bool
    warning: NotRequired[str]
