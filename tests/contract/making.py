"""Releases to ask questions about: every algorithm that the registry knows, with every policy that it takes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal import registry
from shoal.core.contracts import Known
from shoal.errors import InfeasibleError, ParameterError

QUASI = ["age", "sex", "race", "marital-status"]
POLICIES: dict[str, tuple[Any, ...]] = {
    "k-anonymity": (shoal.KAnonymity(k=4),),
    "k-anonymity and diversity": (shoal.KAnonymity(k=4), shoal.DistinctLDiversity(l=2)),
    "t-closeness": (shoal.KAnonymity(k=2), shoal.TCloseness(t=0.5)),
    "frequencies": (shoal.FrequencyLDiversity(l=3),),
    "twins": (shoal.InferenceL(l=2),),
    "nothing": (),
}


def cases(family: str) -> list[Any]:
    """Every plug-in of a family with each of its examples."""
    return [
        pytest.param(name, example, id="-".join([name, *(f"{key}={_short(value)}" for key, value in example.items())]))
        for name in registry.names(family)
        for example in registry.examples(family, name)
    ]


def _short(value: Any) -> str:
    return value.name if isinstance(value, Path) else str(value)


def people(count: int = 400) -> pl.DataFrame:
    """People of whom some ages are missing; a plain number tells the records apart."""
    columns = [*QUASI, "occupation", "hours-per-week"]
    sample = shoal.samples.adult().select(*columns).head(count).with_row_index("row")
    return sample.with_columns(pl.when(pl.col("row") % 40 == 7).then(None).otherwise(pl.col("age")).alias("age"))


def opened(table: pl.DataFrame) -> shoal.Dataset:
    hierarchies = shoal.samples.hierarchies("adult")
    return shoal.read(table, quasi=QUASI, sensitive=["occupation"], hierarchies=hierarchies)


def releases(name: str, example: Any, data: shoal.Dataset, **more: Any) -> Iterator[tuple[str, shoal.Release]]:
    """A release for each policy that the algorithm takes."""
    method = registry.make("algorithms", name, dict(example))
    for policy, models in POLICIES.items():
        try:
            yield policy, shoal.anonymize(data, *models, algorithm=method, **{"seed": 7, **more})
        except ParameterError:
            continue
        except InfeasibleError as error:
            assert error.attempt


def one(name: str, example: Any, data: shoal.Dataset, **more: Any) -> shoal.Release:
    return next(release for _, release in releases(name, example, data, **more))


@cache
def small() -> shoal.Dataset:
    return opened(people(80))


@cache
def knowledge() -> Known:
    """Somebody who has a register of more people than there are in the table, and people who were held out of it."""
    everybody = people(240)
    return Known(external=opened(everybody), held_out=opened(everybody.tail(60)))


@cache
def by_form() -> dict[str, shoal.Release]:
    """A release of each form that some algorithm makes, some records of it left out where that is possible."""
    found: dict[str, shoal.Release] = {}
    for name in registry.names("algorithms"):
        for example in registry.examples("algorithms", name):
            release = next((made for _, made in releases(name, example, small(), suppression=0.2)), None)
            if release is not None:
                form = registry.name_of(release.form)
                if form not in found or release.suppressed > found[form].suppressed:
                    found[form] = release
    return found


@cache
def earlier() -> tuple[shoal.Release, ...]:
    """Releases that came before: of the table when it was smaller, and of the same table."""
    tables = opened(people(60)), small()
    return tuple(shoal.anonymize(each, shoal.KAnonymity(k=3), algorithm="mondrian", seed=5) for each in tables)


def tells_no_value(text: str) -> bool:
    """Whether a text has no word that is a value of a cell."""
    values = {value for column in ("occupation", "marital-status") for value in people()[column].unique()}
    return not any(value in text for value in values)
