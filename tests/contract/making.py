"""Releases to ask questions about: every algorithm that the registry knows, with every policy that it takes.

A release is made once and shared by all tests of a process. No test may change what it gets from here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pytest
from counts import LONG, count

import shoal
from shoal import registry
from shoal.core.contracts.attack import Known
from shoal.errors import InfeasibleError, ParameterError, SchemaError

QUASI = ["age", "sex", "race", "marital-status"]
ROWS, SMALL = count(240, 400), 80
"""Records of the table that algorithms are given, and of the one that attacks and metrics ask about."""
POLICIES: dict[str, tuple[Any, ...]] = {
    "k-anonymity": (shoal.KAnonymity(k=4),),
    "k-anonymity and diversity": (shoal.KAnonymity(k=4), shoal.DistinctLDiversity(l=2)),
    "t-closeness": (shoal.KAnonymity(k=2), shoal.TCloseness(t=0.5)),
    "frequencies": (shoal.FrequencyLDiversity(l=3),),
    "twins": (shoal.models.InferenceL(l=2),),
    "nothing": (),
}


ONLY = frozenset(os.environ.get("SHOAL_ONLY", "").split())
"""The plug-ins that are asked, where it is not all of them: `test_added_plugins` names those that a package adds."""


def names(family: str) -> list[str]:
    """The plug-ins of a family that are asked."""
    return [name for name in registry.names(family) if not ONLY or name in ONLY]


def cases(family: str) -> list[Any]:
    """Every plug-in of a family that is asked, with each of its examples."""
    return [
        pytest.param(name, example, id="-".join([name, *(f"{key}={_short(value)}" for key, value in example.items())]))
        for name in names(family)
        for example in registry.examples(family, name)
    ]


def _short(value: Any) -> str:
    return value.name if isinstance(value, Path) else str(value)


def people(rows: int = ROWS) -> pl.DataFrame:
    """People of whom some ages are missing; a plain number tells the records apart."""
    columns = [*QUASI, "occupation", "hours-per-week"]
    sample = shoal.samples.adult().select(*columns).head(rows).with_row_index("row")
    return sample.with_columns(pl.when(pl.col("row") % 40 == 7).then(None).otherwise(pl.col("age")).alias("age"))


def opened(table: pl.DataFrame, **more: Any) -> shoal.Dataset:
    """The table with roles, and with survey weights."""
    hierarchies, weights = shoal.samples.hierarchies("adult"), (5 + pl.col("row") % 7 * 2.5).alias("weight")
    table = table.with_columns(weights)
    return shoal.read(table, quasi=QUASI, sensitive=["occupation"], weight="weight", hierarchies=hierarchies, **more)


ORDERS: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "as given": lambda table: table,
    "reversed": lambda table: table.reverse(),
    "shuffled": lambda table: table.sample(fraction=1.0, shuffle=True, seed=3),
}


@cache
def table(rows: int = ROWS, order: str = "as given") -> pl.DataFrame:
    return ORDERS[order](people(rows))


@cache
def dataset(rows: int = ROWS, order: str = "as given") -> shoal.Dataset:
    """A table that was read once for all algorithms; the small one has households of up to three people."""
    if rows != SMALL:
        return opened(table(rows, order))
    return opened(table(rows, order).with_columns((pl.col("row") // 3).alias("home")), household="home")


_RELEASES: dict[tuple[Any, ...], shoal.Release | None] = {}
CHANGED: set[tuple[str, str]] = set()
"""Examples of algorithms that changed what they were given."""


_GIVEN: dict[tuple[int, str], tuple[Any, ...]] = {}


def _given(rows: int, order: str) -> tuple[Any, ...]:
    """What an algorithm may read and not change, as something to compare."""
    summary = dataset(rows, order).summary
    return table(rows, order).hash_rows().to_list(), summary.keys.tobytes(), summary.sizes.tobytes()


def _changed(rows: int, order: str) -> bool:
    """Whether what algorithms are given is another than when this was asked before."""
    now = _given(rows, order)
    before, _GIVEN[rows, order] = _GIVEN.get((rows, order), now), now
    return before != now


def released(
    name: str, example: Any, policy: str, *, rows: int = ROWS, order: str = "as given", suppression: float = 0.2,
    seed: int = 7,
) -> shoal.Release | None:  # fmt: skip
    """The release of an algorithm for a policy; None where it does not take the table or the policy, or where there is
    no solution."""
    key = (name, repr(example), policy, rows, order, suppression, seed)
    if key not in _RELEASES:
        method = registry.make("algorithms", name, dict(example))
        if (rows, order) not in _GIVEN:
            _changed(rows, order)
        try:
            _RELEASES[key] = shoal.anonymize(
                dataset(rows, order),
                *POLICIES[policy],
                algorithm=method,
                suppression=suppression,
                seed=seed,
                repeatable=True,
            )
        except (ParameterError, SchemaError):
            _RELEASES[key] = None
        except InfeasibleError as error:
            assert error.attempt
            _RELEASES[key] = None
        if _changed(rows, order):
            CHANGED.add((name, repr(example)))
    return _RELEASES[key]


def releases(
    name: str, example: Any, *, first: int = 0, policies: Sequence[str] = tuple(POLICIES), **more: Any
) -> Iterator[tuple[str, shoal.Release]]:
    """A release for each policy that the algorithm takes, or for some, beginning with the policy at a place."""
    for policy in (policies[(first + at) % len(policies)] for at in range(len(policies))):
        release = released(name, example, policy, **more)
        if release is not None:
            yield policy, release


def one(name: str, example: Any, **more: Any) -> shoal.Release:
    """The release for the first policy that the algorithm takes."""
    return next(release for _, release in releases(name, example, **more))


_FOLDER = TemporaryDirectory(prefix="shoal-releases-")
_WRITTEN: dict[tuple[int, str], tuple[shoal.Release, Path]] = {}


def written(release: shoal.Release, ending: str = "csv") -> Path:
    """The main file of a shared release; nothing but the files of the release lies beside it."""
    key = id(release), ending
    if key not in _WRITTEN:
        path = Path(_FOLDER.name) / str(len(_WRITTEN)) / f"release.{ending}"
        path.parent.mkdir()
        release.write(path)
        _WRITTEN[key] = release, path  # with the release, so that no other gets its id
    return _WRITTEN[key][1]


def small() -> shoal.Dataset:
    return dataset(SMALL)


@cache
def knowledge() -> Known:
    """Somebody who has a register of more people than there are in the table, and people who were held out of it."""
    everybody = people(240)
    return Known(external=opened(everybody), held_out=opened(everybody.tail(60)))


MAKERS = ("additive-noise", "anatomy", "m-invariance", "multiset", "overlapping-slicing", "samarati")
"""Algorithms that make every form between them; Samarati's leaves records out."""


@cache
def by_form() -> dict[str, shoal.Release]:
    """A release of each form that some algorithm makes, some records of it left out where that is possible. Every day,
    other algorithms than a few, and other examples than their first, are looked at only while a form is missing."""
    found: dict[str, shoal.Release] = {}
    ordered = sorted(names("algorithms"), key=lambda name: name not in MAKERS)
    algorithms = [(name, registry.examples("algorithms", name)) for name in ordered]
    for number in range(max(len(examples) for _, examples in algorithms)):
        for place, (name, examples) in enumerate(algorithms):
            if place == len(MAKERS) and found.keys() >= set(names("forms")) and not LONG and not ONLY:
                break
            if number < len(examples):
                release = next((made for _, made in releases(name, examples[number], rows=SMALL)), None)
                if release is not None:
                    form = registry.name_of(release.form)
                    if form not in found or release.suppressed > found[form].suppressed:
                        found[form] = release
        if found.keys() >= set(names("forms")) and not LONG:
            break
    return found


@cache
def earlier() -> tuple[shoal.Release, ...]:
    """Releases that came before: of the table when it was smaller, and of the same table."""
    tables = dataset(60), small()
    return tuple(shoal.anonymize(each, shoal.KAnonymity(k=3), algorithm="mondrian", seed=5) for each in tables)


@cache
def _values() -> frozenset[str]:
    return frozenset(value for column in ("occupation", "marital-status") for value in table()[column].unique())


def tells_no_value(text: str) -> bool:
    """Whether a text has no word that is a value of a cell."""
    return not any(value in text for value in _values())
