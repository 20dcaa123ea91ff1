"""Classification: how well a learner that was trained on a release predicts a column, beside what it could have done.

Two tests. *Ten-fold*: on the release itself, as the literature does; the test records were recoded together with the
training records, so it flatters. *Held out*: on records that the release was not made from, recoded in the same way;
that is what a recipient gets.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.core.contracts.table import Published
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.formats import interpret
from shoal.core.grouping import Codes
from shoal.core.release import Release
from shoal.core.schema import WITHHELD, Kind
from shoal.core.survey import spaced
from shoal.errors import NotDefined, ParameterError, unknown_columns
from shoal.parsing.identity import plain_numbers, plain_text
from shoal.parsing.labels import number
from shoal.publishing.reusable_recoding import ReusableRecoding
from shoal.utility.examples import Examples, attributes_of_columns, class_codes, columns_of
from shoal.utility.learning import Learner, folds, person_folds, share_predicted

MOST = 5_000
"""Records that learners are trained and tested on; of more, evenly spaced ones."""
FOLDS = 10
SEED = 1


@dataclass(frozen=True, eq=False, repr=False)
class LabelledRecords:
    """Columns of values, the class of each record, and whose each record is where that is known."""

    columns: Mapping[str, Sequence[Any]]
    target: Sequence[str | None]
    people: Codes | None = None

    def __len__(self) -> int:
        return len(self.target)

    @property
    def numeric(self) -> frozenset[str]:
        """The columns of numbers."""
        columns = self.columns.items()
        return frozenset(name for name, column in columns if not any(isinstance(value, str) for value in column))

    def without(self, names: Sequence[str]) -> LabelledRecords:
        return replace(self, columns={name: each for name, each in self.columns.items() if name not in names})


def accuracies(
    data: Dataset, release: Release, target: str, learner: Learner, name: str, held_out: Dataset | None = None
) -> list[Finding]:
    """The accuracy of a learner on the release, ten-fold, and on held-out records where there are some."""
    original = of_dataset(data, target)
    check_target(original, target)
    try:
        published = of_release(release, target, original.numeric)
    except NotDefined as reason:
        return [Finding(name=f"accuracy-{name}", value=None, how=f"not defined: {reason}")]
    hidden = original.without(data.schema.quasi)
    within = Finding(
        name=f"accuracy-{name}",
        value=ten_fold(learner, published),
        unit="share",
        label=f"{name} predicts {target}",
        how=f"share of the records of the release whose {target} {name} predicts, ten-fold",
        baselines={
            "original": ten_fold(learner, original),
            "hidden": ten_fold(learner, hidden),
            "majority": majority(original, original),
        },
    )
    if held_out is None:
        return [within]
    asked = of_dataset(held_out, target)
    outside = Finding(
        name=f"accuracy-{name}-held-out",
        value=accuracy_on(learner, published, recoded_like(release, held_out, target)),
        unit="share",
        label=f"{name} predicts {target}, held out",
        how=f"share of {len(asked):,} held-out records whose {target} is predicted by {name}, trained on the release; "
        "they were recoded like the release",
        baselines={
            "original": accuracy_on(learner, original, asked),
            "hidden": accuracy_on(learner, hidden, asked.without(data.schema.quasi)),
            "majority": majority(original, asked),
        },
    )
    return [within, outside]


def check_target(records: LabelledRecords, target: str) -> None:
    """Refuses a column that there is nothing to learn about."""
    present = [value for value in records.target if value is not None]
    classes = len(set(present))
    if classes < 2:
        raise ParameterError(f"column {target!r} has {classes} values, so there is nothing to predict; choose another")
    if classes > len(present) / 2:
        raise ParameterError(
            f"column {target!r} has {classes:,} values in {len(present):,} records, nearly one each, so nothing can be "
            "learned about it; choose a column with few values, or round it"
        )
    if len(present) < FOLDS:
        raise ParameterError(f"{len(present)} records are too few for {FOLDS} folds")


def of_dataset(data: Dataset, target: str) -> LabelledRecords:
    """The records of a table, in an order that follows from their content alone."""
    if target not in data.schema.names:
        raise unknown_columns([target], data.schema.names)
    names = [name for name in _telling(data) if name != target]
    known = data.knowing([*names, target])
    person = data.schema.person
    listed = known.table.listing((), [*names, target, *([] if person is None else [person])], SEED)
    chosen = spaced(data.records, MOST)
    columns = {name: _values(known, name, codes[chosen]) for name, codes in zip(names, listed, strict=False)}
    classes = _values(known, target, listed[len(names)][chosen], plain=True)
    return LabelledRecords(columns, classes, None if person is None else listed[-1][chosen])


def _telling(data: Dataset) -> list[str]:
    """The columns of a table that are published."""
    return [column.name for column in data.schema.columns if column.role not in WITHHELD]


def _values(data: Dataset, name: str, codes: Codes, *, plain: bool = False) -> Sequence[Any]:
    """A column as numbers, where it has them, else as texts."""
    tree = data.schema.hierarchy_of(name)
    if tree.ordered and tree.values is not None and not plain:
        return [None if value != value else value for value in tree.values[codes].tolist()]
    texts: Sequence[Any] = tree.labels[0][codes].tolist()
    return texts


def of_release(release: Release, target: str, numeric: Collection[str]) -> LabelledRecords:
    """The published records: the columns that stand together with the target. A `numeric` column of the table is one
    here, too, if everything that is published of it is a number, also in a file that holds texts."""
    linked = next((each for each in release.view.linked() if target in each.columns), None)
    if linked is None:
        raise NotDefined(f"column {target!r} is not published, so nothing can be learned about it")
    person = release.schema.person
    named = (*release.schema.identifiers, *(() if person is None else (person,)))
    names = [name for name in linked.columns if name != target and name not in named]
    if linked.count is not None or not names:
        raise NotDefined(f"the release does not tell which record has which {target}")
    table = release.tables[linked.part]
    if person is not None and person not in table.names:
        raise NotDefined(
            "the release does not say whose its records are, and the records of one person would be both learned from "
            "and asked about"
        )
    published = dict(zip(*columns_of(table.frame()), strict=True))
    chosen = spaced(table.records, MOST).tolist()
    whose = None
    if person is not None:
        places = {value: place for place, value in enumerate(dict.fromkeys(published[person]))}
        whose = np.array([places[published[person][row]] for row in chosen], np.int32)
    columns: dict[str, Sequence[Any]] = {}
    for name in names:
        texts = _published(release, table, name, published[name], chosen)
        values = [None if text is None else number(text) for text in texts]
        shown = name in numeric and not any(value != value for value in values)
        columns[name] = values if shown else texts
    return LabelledRecords(columns, _published(release, table, target, published[target], chosen), whose)


def _published(
    release: Release, table: Published, name: str, values: Sequence[Any], chosen: Sequence[int]
) -> list[str | None]:
    """What some published records show of a column; dates that have a role as labels spell them."""
    notation = release.schema.notations.get(name)
    if notation is None or notation.kind is not Kind.DATE:
        return _spelled(name, [values[row] for row in chosen])
    labels, codes = table.labels(name), table.codes(name)
    return [labels[codes[row]] for row in chosen]


def _spelled(column: str, values: Sequence[Any]) -> list[str | None]:
    """What published values say, in the spelling in which the table's own values are known."""
    texts = [None if value is None or value != value else plain_text(str(value)) or None for value in values]
    distinct = sorted({text for text in texts if text is not None})
    spelled: Sequence[str | None] | None = plain_numbers(distinct)
    if spelled is None:
        spelled = interpret(column, distinct, None, None, plain=False).texts
    known = dict(zip(distinct, spelled, strict=True))
    return [None if text is None else known[text] for text in texts]


def recoded_like(release: Release, held_out: Dataset, target: str) -> LabelledRecords:
    """Records that a release was not made from, as it would have published them."""
    quasi = held_out.schema.quasi
    others = [name for name in _telling(held_out) if name not in quasi]
    data = held_out.knowing(others)
    chosen = spaced(held_out.records, MOST)
    keys = np.repeat(held_out.summary.keys, held_out.summary.sizes, axis=1)[:, chosen]
    labels = ReusableRecoding.shown_by(release).labels(held_out, keys)
    listed = data.table.listing(quasi, others, SEED)
    columns: dict[str, Sequence[Any]] = {name: texts.tolist() for name, texts in zip(quasi, labels, strict=True)}
    for name, codes in zip(others, listed, strict=True):
        columns[name] = _values(data, name, codes[chosen], plain=name == target)
    asked = columns.pop(target)
    return LabelledRecords(columns, asked)


def ten_fold(learner: Learner, records: LabelledRecords) -> float:
    """The share of the records whose class is predicted when they are left out; nobody's records are split."""
    if not records.columns:
        return majority(records, records)
    examples = _examples(records)
    if records.people is None:
        dealt = folds(examples.labels, FOLDS, SEED)
    else:
        known = [value is not None for value in records.target]
        dealt = person_folds(examples.labels, records.people[known], FOLDS, SEED)
    return share_predicted(learner, examples, dealt)


def accuracy_on(learner: Learner, training: LabelledRecords, test: LabelledRecords) -> float:
    """The share of some records whose class is predicted by what was learned from others."""
    if not training.columns:
        return majority(training, test)
    examples, nothing = _examples(training), [None] * len(test)
    learner.learn(examples)
    asked = np.stack([each.coded(test.columns.get(each.name, nothing)) for each in examples.attributes], axis=1)
    guesses = np.array(examples.classes, object)[learner.shares(asked).argmax(axis=1)]
    pairs = [(guess, value) for guess, value in zip(guesses, test.target, strict=True) if value is not None]
    return float(sum(guess == value for guess, value in pairs) / max(len(pairs), 1))


def majority(training: LabelledRecords, test: LabelledRecords) -> float:
    """The share of some records that have the most frequent class of others."""
    values, counts = np.unique([value for value in training.target if value is not None], return_counts=True)
    most = values[counts.argmax()]
    present = [value for value in test.target if value is not None]
    return float(sum(value == most for value in present) / max(len(present), 1))


def _examples(records: LabelledRecords) -> Examples:
    """The records that have a class, as a learner sees them."""
    attributes, rows = attributes_of_columns(records.columns)
    classes, labels = class_codes(np.array(records.target, object))
    known = labels >= 0
    return Examples(attributes, rows[known], classes, labels[known])
