"""Person columns: which column says whose each record is, where people have several, and who stands alone then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, group
from shoal.core.run import Run
from shoal.core.values import Values
from shoal.diagnosis.headings import Heading, is_key_of_households
from shoal.diagnosis.single_columns import (
    LOOKED_AT,
    SURVEYED,
    heading_of,
    is_identifier_that_repeats,
    is_key_of_person,
    may_be_person,
    naming,
    tells_people,
)

_SEX = frozenset(("sex", "gender", "geschlecht", "sexe", "sexo", "sesso", "geslacht", "genero", "genere"))


class JudgedColumn(NamedTuple):
    """What the choice of a person column goes by: the column's values and codes, what its heading says, why it names
    people, and how many distinct values it has among how many records that have one."""

    values: Values
    codes: Codes
    heading: Heading | None
    naming: tuple[str, ...]
    distinct: int
    present: int

    @classmethod
    def of(cls, name: str, values: Values, codes: Codes, distinct: int, present: int) -> JudgedColumn:
        """A column as it is judged by itself."""
        return cls(values, codes, heading_of(name, values), naming(name, values, distinct, present), distinct, present)

    def repeats(self, name: str) -> int | None:
        """How many people it names, where it names people and has several records of some."""
        again = self.naming and is_identifier_that_repeats(name, self.values, self.distinct, self.present)
        return self.distinct if again else None

    @property
    def personal(self) -> bool:
        """Whether what it says is a person's for good: a name, a number, a date of birth, the sex."""
        spoken = self.heading is not None and (self.heading.meaning == "birth" or self.heading.word in _SEX)
        return self.distinct > 1 and (bool(self.naming) or spoken)


def keys_by_values(looks: Mapping[str, JudgedColumn], rows: Sequence[int] | np.ndarray) -> dict[str, str]:
    """The columns that are keys of people by what they determine in some rows, whatever their heading says, with the
    reason."""
    codes = {name: look.codes[rows] for name, look in looks.items() if look.distinct > 1}
    keys = {}
    for name, look in looks.items():
        if look.naming or not may_be_person(look.values, look.distinct, look.present):
            continue
        others = {other: codes[other] for other in codes if other != name}
        personal = [code for other, code in others.items() if looks[other].personal]
        if tells_people(name, codes[name], personal, others.values()):
            keys[name] = "records with the same value agree in what belongs to a person: it is a key of people"
    return keys


def person_of(looks: Mapping[str, JudgedColumn], repeats: Mapping[str, int | None]) -> str | None:
    """Of the identifiers that repeat, the one to count people by: one whose heading says so, else that with the fewest
    values; of equals the first."""

    def rank(name: str) -> tuple[bool, int]:
        by_heading = is_key_of_person(name, looks[name].values)
        return not by_heading, 0 if by_heading else looks[name].distinct

    return min((name for name, count in repeats.items() if count is not None), key=rank, default=None)


def household_of(looks: Mapping[str, JudgedColumn], records: int) -> str | None:
    """The first column that says, by its heading, who lives together: every record has a value, and some share one."""
    telling = (name for name, look in looks.items() if look.present == records and 1 < look.distinct < records)
    return next(filter(is_key_of_households, telling), None)


def moves(person: Codes, household: Codes) -> bool:
    """Whether somebody is in several households."""
    return len(group([person, household]).counts) > len(group([person]).counts)


def proposed_person(data: Dataset, run: Run | None = None) -> str | None:
    """The column that says whose each record is, in a table that has none named: by a look at some of its records."""
    if data.schema.person is not None:
        return None
    looks = {}
    for name, look in data.survey(records=SURVEYED, values=LOOKED_AT, run=run or Run()).looks.items():
        if not isinstance(look, str) and name != data.schema.household:
            values, codes = look
            present = int((codes >= 0).sum())
            distinct = len(np.unique(codes[codes >= 0]))
            looks[name] = JudgedColumn.of(name, values, codes, distinct, present)
    keys = keys_by_values(looks, np.arange(min(data.records, SURVEYED)))
    repeats = {name: look.distinct if name in keys else look.repeats(name) for name, look in looks.items()}
    return person_of(looks, repeats)


def owners_of(person: Codes) -> Codes:
    """Whose each row is; who has no value is a person by themselves."""
    missing = person < 0
    owners: Codes = np.where(missing, int(person.max(initial=-1)) + np.cumsum(missing), person).astype(np.int32)
    return owners


def people_alone(columns: Sequence[Codes], person: Codes) -> tuple[int, int]:
    """How many people have a record with which nobody else's agrees in all columns, and how many people there are;
    records without a person count as one person each.

    Example:
        >>> ages, who = np.array([1, 1, 2, 2], np.int32), np.array([0, 0, 1, 2], np.int32)
        >>> people_alone([ages], who)
        (1, 3)
    """
    owners = owners_of(person)
    classes = np.zeros(len(owners), np.int32)
    for column in columns:
        classes = group([classes, column + np.int32(1)], index=True).index
    pairs = group([classes, owners])
    several = np.bincount(pairs.keys[0]) > 1
    alone = np.unique(pairs.keys[1][~several[pairs.keys[0]]])
    return len(alone), len(np.unique(owners))
