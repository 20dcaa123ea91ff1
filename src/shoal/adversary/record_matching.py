"""Which published class the records of a table are in, as the holder of the table finds it out from the files.

Where ranges overlap, the quasi-identifiers of a record fit several classes. What else is published of it as it is (its
signature) tells most of them apart: a class has so many records of a signature, and no more. What the files leave open
is settled to the holder's disadvantage: somebody's records are put together, so that a class has few people, as long as
it has as many as are known to be in the smallest.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Sequence

import numpy as np

from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, group
from shoal.core.release import Release
from shoal.core.schema import WITHHELD, Column, Kind
from shoal.errors import NotDefined
from shoal.parsing.numbers import read

SEED = 0
"""Of the order in which records are listed; any will do."""
NOWHERE = -1
MOST_PAIRS, MOST_STEPS = 5_000_000, 8_000_000
"""Pairs of a tuple and a class that are looked at, and steps of the search: beyond that nobody waits for the answer."""

TURNS = 30
"""How often records are exchanged before the search gives up."""


def matched(dataset: Dataset, release: Release, smallest: int) -> Codes | None:
    """The class of each tuple of a table, or of each record as in its `listing`; negative: none.

    The smallest class has so many people; 1 where that is not known. None where the table and the published values do
    not go together, where that would take too long to find out, or where ranges overlap and no person column says which
    records go together."""
    try:
        candidates = release.view.candidates(dataset.summary.keys)
        counts, fits = np.diff(candidates.starts), candidates.classes
    except NotDefined:  # means do not say whose they are: everybody may be anywhere
        classes = len(release.view.people())
        if len(dataset.summary) * classes > MOST_PAIRS:
            return None
        counts = np.full(len(dataset.summary), classes)
        fits = np.tile(np.arange(classes, dtype=np.int32), len(counts))
    if len(fits) > MOST_PAIRS:
        return None
    if counts.max(initial=0) <= 1:
        owners = np.full(len(counts), NOWHERE, np.int32)
        owners[counts == 1] = fits
        return owners
    if dataset.schema.person is None:
        return None
    tuples = np.repeat(np.arange(len(counts)), dataset.summary.sizes)
    signatures, rooms, people = _signatures(dataset, release)
    fitting = [each.tolist() for each in np.split(fits, np.cumsum(counts)[:-1])]
    matching = _Matching(tuples.tolist(), signatures, people, fitting, rooms)
    if not (matching.fill(smallest) and matching.part(smallest) and matching.gather(smallest)):
        return None
    return np.array(matching.owners, np.int32)


def _signatures(dataset: Dataset, release: Release) -> tuple[list[int], dict[tuple[int, int], int], list[int]]:
    """A number for what is published of each record as it is, how many rows of each class have each number, and whose
    the records are."""
    published, quasi = release.published, dataset.schema.quasi
    rows = group([published.codes(name) for name in quasi], [len(published.labels(name)) for name in quasi], index=True)
    shown = [name for name in published.names if name not in quasi and dataset.schema[name].role not in WITHHELD]
    known = dataset.knowing(shown)
    *listed, people = known.table.listing(quasi, (*shown, str(dataset.schema.person)), SEED)
    columns, radices = [np.zeros(dataset.records + published.records, np.int32)], [1]
    for name, codes in zip(shown, listed, strict=True):
        leaves = _leaves(known.schema[name], published.labels(name))
        if None in leaves:  # these are not the values of the table
            continue
        columns.append(np.concatenate([codes, np.array(leaves, np.int32)[published.codes(name)]]))
        radices.append(known.schema.hierarchy_of(name).size)
    numbers = group(columns, radices, index=True).index
    pairs = group([rows.index, numbers[dataset.records :]])
    rooms = dict(zip(zip(*pairs.keys.tolist(), strict=True), pairs.counts.tolist(), strict=True))
    return numbers[: dataset.records].tolist(), rooms, people.tolist()


def _leaves(column: Column, labels: Sequence[str | None]) -> list[int | None]:
    """The leaves of published values, which are spelled as they came."""
    tree = column.hierarchy
    if tree is None:
        return [None]
    if column.kind is Kind.NUMERIC and column.form is not None:
        spelled = iter(read([label for label in labels if label is not None], column.form))
        labels = [label if label is None else next(spelled) or label for label in labels]
    return tree.leaves(labels)


class _Matching:
    """Records and the classes that they are put into: record `r` has a tuple, which fits some classes, a signature, for
    which each class has so much room, and a person. `present` counts the records of a person in a class."""

    def __init__(
        self,
        tuples: list[int],
        signatures: list[int],
        people: list[int],
        fitting: list[list[int]],
        rooms: dict[tuple[int, int], int],
    ) -> None:
        self.signatures, self.people, self.rooms = signatures, people, rooms
        self.options = [
            [each for each in fitting[home] if (each, signature) in rooms]
            for home, signature in zip(tuples, signatures, strict=True)
        ]
        self.owners = [NOWHERE] * len(tuples)
        self.inside: dict[tuple[int, int], set[int]] = defaultdict(set)
        self.present: dict[int, Counter[int]] = defaultdict(Counter)
        self.alike: dict[int, list[int]] = defaultdict(list)
        for record, signature in enumerate(signatures):
            self.alike[signature].append(record)
        self.steps = 0

    def fill(self, smallest: int) -> bool:
        """Whether records can be placed so that no room is left. Whoever has a record in a class comes there again, as
        long as there is room for as many others as the smallest class has."""
        count, spare = Counter(self.people), Counter[int]()
        for (owner, _), room in self.rooms.items():
            spare[owner] += room
        spare.subtract(dict.fromkeys(spare, smallest))
        order = sorted(range(len(self.owners)), key=lambda each: (len(self.options[each]), -count[self.people[each]]))
        for record in order:
            signature, person = self.signatures[record], self.people[record]
            free = [each for each in self.options[record] if self.rooms[each, signature]]
            if free:
                again = {each: bool(self.present[each][person]) for each in free}
                owner = max(free, key=lambda each: (again[each] == (spare[each] > 0), spare[each]))
                spare[owner] -= again[owner]
                self._put(record, owner)
            else:
                self._make_room(record)
            if self.steps > MOST_STEPS:
                return False
        return not any(self.rooms.values())

    def part(self, smallest: int) -> bool:
        """Whether every class can be given as many people as the smallest has: records of somebody who has several
        there are exchanged for those of others."""
        for turn in range(TURNS):
            waiting = [owner for owner, present in self.present.items() if len(+present) < smallest]
            for owner in waiting:
                for record in self._records(owner):
                    if len(+self.present[owner]) < smallest and self.present[owner][self.people[record]] > 1:
                        # every other turn another class may come to lack somebody, who is found in the next
                        self._exchange(record, owner, 0 if turn % 2 else smallest, turn)
            if not waiting or self.steps > MOST_STEPS:
                break
        return all(len(+present) >= smallest for present in self.present.values())

    def gather(self, smallest: int) -> bool:
        """Whether some class can be left with the people of the smallest: the one record of somebody there is exchanged
        for one of those who have others."""
        for owner in sorted(self.present, key=lambda each: len(+self.present[each])):
            for record in self._records(owner):
                if len(+self.present[owner]) > smallest and self.present[owner][self.people[record]] == 1:
                    self._exchange(record, owner, smallest, again=True)
            if len(+self.present[owner]) == smallest or self.steps > MOST_STEPS:
                break
        return smallest == 1 or any(len(+present) == smallest for present in self.present.values())

    def _records(self, owner: int) -> list[int]:
        return [record for record, where in enumerate(self.owners) if where == owner]

    def _put(self, record: int, owner: int) -> None:
        """Moves a record into a class, or out of any."""
        for place, change in ((self.owners[record], -1), (owner, 1)):
            if place != NOWHERE:
                slot = (place, self.signatures[record])
                self.rooms[slot] -= change
                self.present[place][self.people[record]] += change
                (self.inside[slot].add if change > 0 else self.inside[slot].discard)(record)
        self.owners[record] = owner

    def _make_room(self, record: int) -> None:
        """Puts a record where others can make room for it, if they can; the shortest chain of moves."""
        signature = self.signatures[record]
        origin: dict[int, tuple[int, int]] = dict.fromkeys(self.options[record], (record, NOWHERE))
        queue = deque(origin)
        while queue:
            owner = queue.popleft()
            if self.rooms[owner, signature]:
                while owner != NOWHERE:
                    moving, before = origin[owner]
                    self._put(moving, owner)
                    owner = before
                return
            for other in sorted(self.inside[owner, signature]):
                self.steps += len(self.options[other])
                for each in self.options[other]:
                    if each not in origin:
                        origin[each] = (other, owner)
                        queue.append(each)

    def _exchange(self, record: int, owner: int, smallest: int, first: int = 0, *, again: bool = False) -> None:
        """Exchanges a record of a class for one of the same signature, from the `first` on, whose person the class
        lacks, or has `again`; the class that it comes from keeps the people of the smallest."""
        person, alike = self.people[record], deque(self.alike[self.signatures[record]])
        alike.rotate(first)
        for other in alike:
            self.steps += 1
            place, another = self.owners[other], self.people[other]
            if place == owner or owner not in self.options[other] or bool(self.present[owner][another]) != again:
                continue
            if place != NOWHERE:
                present = self.present[place]
                missed = present[another] == 1 and not present[person]
                if place not in self.options[record] or (missed and len(+present) <= smallest):
                    continue
            self._put(record, place)
            self._put(other, owner)
            return
