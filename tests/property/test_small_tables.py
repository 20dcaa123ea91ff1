"""Every algorithm on small tables at the edge: one record, one tuple, k = n, budgets up to everything, huge numbers."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest
from counts import count

import shoal
from shoal import registry
from shoal.core.policy import Policy
from shoal.core.run import Run
from shoal.errors import InfeasibleError, ParameterError, SchemaError

BUDGETS = (0.0, 0.3, 1.0)
TABLES, EACH = count(4, 12), count(2, 3)
"""How many tables there are, and how many of the budgets each is tried with, in which they take turns."""


NAMES = [
    name
    for name in registry.names("algorithms")
    if registry.complete("algorithms", name) and registry.make("algorithms", name, {}).claims
]


@cache
def takes_k(name: str) -> bool:
    data = shoal.read(pl.DataFrame({"q": [1, 2], "s": ["a", "b"]}), quasi=["q"], sensitive=["s"])
    try:
        shoal.anonymize(data, shoal.KAnonymity(k=1), algorithm=registry.make("algorithms", name, {}), seed=1)
    except ParameterError:
        return False
    return True


@pytest.fixture(autouse=True)
def _takes_k(name: str) -> None:
    """One that publishes quasi-identifiers as they are can promise no k-anonymity, which these tests ask for."""
    if not takes_k(name):
        pytest.skip("they ask for k-anonymity, which the algorithm cannot promise")


def variants() -> list[tuple[str, dict[str, Any]]]:
    """Each algorithm as it is, and, where it can refine, with that."""
    found: list[tuple[str, dict[str, Any]]] = []
    for name in NAMES:
        found.append((name, {}))
        if "refine" in registry.find("algorithms", name).__dataclass_fields__:
            found.append((name, {"refine": True}))
    return found


def drawn(generator: np.random.Generator) -> pl.DataFrame:
    rows = int(generator.integers(1, 16))
    return pl.DataFrame(
        {
            "number": [None if generator.random() < 0.1 else int(value) for value in generator.integers(0, 5, rows)],
            "letter": generator.choice(list("abc"), rows),
            "other": generator.integers(0, int(generator.integers(1, 50)), rows),
            "illness": generator.choice(list("pq"), rows),
        },
        schema={"number": pl.Int64, "letter": pl.String, "other": pl.Int64, "illness": pl.String},
    )


@cache
def tables() -> tuple[tuple[pl.DataFrame, shoal.Dataset, int, tuple[Any, ...]], ...]:
    """Tables, each read once for all algorithms, with the k and the models that are asked for."""
    generator, found = np.random.default_rng(1), []
    for _ in range(TABLES):
        table = drawn(generator)
        data = shoal.read(table, quasi=["number", "letter", "other"], sensitive=["illness"])
        k = int(generator.choice([1, 2, 3, table.height]))
        models = (shoal.KAnonymity(k=k), *([shoal.DistinctLDiversity(l=2)] if generator.random() < 0.3 else []))
        found.append((table, data, k, models))
    return tuple(found)


@pytest.mark.parametrize(("name", "options"), variants(), ids=str)
def test_a_release_or_a_reason(name: str, options: dict[str, Any]) -> None:
    """Somebody is always published, classes keep the policy, and the budget is kept."""
    algorithm = registry.make("algorithms", name, options)
    released = 0
    for place, (table, data, k, models) in enumerate(tables()):
        for budget in (BUDGETS * 2)[place % 3 :][:EACH]:
            try:
                release = shoal.anonymize(data, *models, algorithm=algorithm, suppression=budget)
            except InfeasibleError:
                assert len(models) > 1 or k > table.height
                continue
            except ParameterError as error:
                assert name == "kactus" and "one value only" in str(error)  # nothing to learn
                continue
            released += 1
            assert 0 <= release.suppressed <= budget * table.height
            assert release.published.records == table.height - release.suppressed > 0
            assert release.classes.sizes.min() >= k
    assert released > TABLES * EACH / 2


@cache
def two_groups() -> shoal.Dataset:
    """They have nothing in common, and everybody of a group has the same illness."""
    table = pl.DataFrame({"number": [0, 0, 9, 9], "letter": list("aabb"), "illness": list("ppqq")})
    return shoal.read(table, quasi=["number", "letter"], sensitive=["illness"])


@pytest.mark.parametrize(("name", "options"), variants(), ids=str)
def test_leaving_everybody_out_is_no_release(name: str, options: dict[str, Any]) -> None:
    """Each of the two groups breaks the policy: both would rather be left out."""
    release = shoal.anonymize(
        two_groups(), "k-anonymity:k=2", "distinct-l-diversity:l=2", suppression=1.0,
        algorithm=registry.make("algorithms", name, options),
    )  # fmt: skip
    assert release.published.records > 0
    assert release.classes.sensitive[0].distinct.min() == 2


@pytest.mark.parametrize(("name", "options"), variants(), ids=str)
def test_ranges_that_no_float_holds(name: str, options: dict[str, Any]) -> None:
    numbers = [-1.7e308, -1.6e308, -1.0, 0.0, 1.0, 2.0, 1.6e308, 1.7e308]
    table = pl.DataFrame({"number": numbers * 2, "letter": list("abababab") * 2})
    data = shoal.read(table, quasi=["number", "letter"])
    policy = Policy(models=(shoal.KAnonymity(k=4),))
    if name == "kactus":  # it learns a column
        data = shoal.read(table, quasi=["number"], sensitive=["letter"])
    with np.errstate(over="raise", invalid="raise"):
        registry.make("algorithms", name, options).search(data, policy, Run())


@cache
def wide() -> shoal.Dataset:
    table = pl.DataFrame({f"q{place}": [place % 3, 1, 2, place % 2, 1, 2] for place in range(65)})
    return shoal.read(table, quasi=table.columns)


@pytest.mark.parametrize("name", NAMES)
def test_more_attributes_than_bits(name: str) -> None:
    """Mondrian takes up to 64; all others take any number."""
    try:
        release = shoal.anonymize(wide(), shoal.KAnonymity(k=2), algorithm=_in_time(name), suppression=0.5)
    except SchemaError as error:
        assert "up to 64" in str(error)  # of Mondrian, or by it
        assert name in ("mondrian", "in-blocks", "multiset", "bucketization", "coarsening")
    except ParameterError as error:
        assert "too many" in str(error) or (name == "kactus" and "target" in str(error))
    else:
        assert release.classes.sizes.min() >= 2


def _in_time(name: str) -> Any:
    fields = registry.find("algorithms", name).__dataclass_fields__
    return registry.make("algorithms", name, {"check_limit": 50} if "check_limit" in fields else {})
