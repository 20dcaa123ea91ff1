"""What a scan finds in a file: whether it is a table about people, and whether somebody in it is exposed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from shoal.core.formatting import counted, printable
from shoal.core.schema import Role
from shoal.diagnosis.detection import Detection
from shoal.diagnosis.headings import meaning_of

TELLING = 2
"""Headings such as age and sex that make a table one about people, where no column names them."""
MOST_NAMED = 4
"""Columns that a sentence names."""

Verdict = Literal["exposed", "safe", "release", "not people"]


@dataclass(frozen=True, kw_only=True)
class Scan:
    """What was found in a file.

    `exposed`: columns name people, or some share the quasi-identifiers with fewer than k - 1 others, `below` of all
    `people` (records, unless the table says whose they are). `safe`: neither is so. `release`: its manifest holds.
    `not people`: no column names people, and headings do not speak of them.

    Example:
        >>> scan = Scan(file="a.csv", verdict="exposed", k=5, people=90, below=7, identifiers=("name",), quasi=("age",))
        >>> scan.summary
        'a.csv: 1 column names people (name); 7 of 90 people share age with fewer than 4 others'
    """

    file: str
    verdict: Verdict
    k: int
    people: int = 0
    below: int = 0
    identifiers: tuple[str, ...] = ()
    quasi: tuple[str, ...] = ()

    @property
    def exposed(self) -> bool:
        return self.verdict == "exposed"

    @property
    def summary(self) -> str:
        """What was found, in a sentence that names columns and no value."""
        return f"{printable(self.file)}: {'; '.join(self.findings)}"

    @property
    def findings(self) -> list[str]:
        """What was found, without the file's name."""
        if self.verdict == "release":
            return ["a release whose manifest holds"]
        if self.verdict == "not people":
            return ["not a table about people, as far as its columns tell"]
        parts = []
        if self.identifiers:
            name = "names" if len(self.identifiers) == 1 else "name"
            parts.append(f"{counted(len(self.identifiers), 'columns')} {name} people ({_listed(self.identifiers)})")
        if self.quasi:
            who = f"{self.below:,} of {counted(self.people, 'people')} share" if self.below else "everybody shares"
            others = f"{'fewer than' if self.below else 'at least'} {counted(self.k - 1, 'others')}"
            parts.append(f"{who} {_listed(self.quasi)} with {others}")
        return parts

    def as_dict(self) -> dict[str, Any]:
        """The scan as JSON holds it."""
        return {**asdict(self), "identifiers": list(self.identifiers), "quasi": list(self.quasi)}


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(map(printable, names[:MOST_NAMED])) + ", …" * (len(names) > MOST_NAMED)


def about_people(detection: Detection) -> bool:
    """Whether a table is about people: a column names them, or headings speak of what they are."""
    if detection.roles()["identifiers"]:
        return True
    headings = [meaning_of(each.column) for each in detection]
    return sum(heading is not None and heading.role is not Role.PLAIN for heading in headings) >= TELLING
