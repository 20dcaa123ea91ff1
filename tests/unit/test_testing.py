"""Assertions about tables, as other people's tests and pipelines make them."""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import polars
import pytest

import shoal
from shoal import registry
from shoal.core.policy import Policy
from shoal.errors import InputError, ParameterError, SchemaError
from shoal.testing import assert_k_anonymous, assert_l_diverse, assert_satisfies, assert_t_close, exposure

SECRET = "Zacharias"
TABLE = polars.DataFrame(
    {
        "age": ["[20 - 30]"] * 4 + ["[30 - 40]"] * 6,
        "born": [date(2000, 1, 1)] * 10,
        "ill": ["flu", "cold"] * 2 + ["flu"] * 6,
        "who": [1, 1, 2, 2, 3, 4, 5, 6, 7, 1],
    }
)
FRAMES = {
    "polars": lambda: TABLE,
    "lazy": TABLE.lazy,
    "pandas": TABLE.to_pandas,
    "arrow": TABLE.to_arrow,
    "duckdb": lambda: duckdb.from_arrow(TABLE.to_arrow()),
}


@pytest.mark.parametrize("frame", FRAMES)
def test_frames_of_any_kind(frame: str) -> None:
    made = FRAMES[frame]()
    assert_k_anonymous(made, ["age", "born"], k=4)
    expected = "the table is not 5-anonymous by age and born: 4 of 10 people are exposed, in 1 of 2 groups; k is 4"
    with pytest.raises(AssertionError, match=f"^{re.escape(expected)}$"):
        assert_k_anonymous(made, ["age", "born"], k=5)


def test_a_frame_of_spark(spark: Any) -> None:
    frame = spark.createDataFrame(TABLE.to_arrow())
    assert_k_anonymous(frame, ["age", "born"], k=4)
    with pytest.raises(AssertionError, match=r"4 of 10 people are exposed, in 1 of 2 groups"):
        assert_k_anonymous(frame, ["age", "born"], k=5)


def test_people_are_counted() -> None:
    with pytest.raises(AssertionError, match=r"2 of 7 people are exposed, in 1 of 2 groups; k is 2$"):
        assert_k_anonymous(TABLE, ["age"], k=4, person="who")
    assert_k_anonymous(TABLE, ["age"], k=2, person="who")


def test_its_siblings() -> None:
    assert_l_diverse(TABLE, ["born"], "ill", l=2)
    with pytest.raises(AssertionError, match=r"not distinct 2-diverse by age: 6 of 10 people"):
        assert_l_diverse(TABLE, ["age"], "ill", l=2)
    with pytest.raises(AssertionError, match=r"not entropy 2-diverse by age: 6 of 10 people"):
        assert_l_diverse(TABLE, ["age"], "ill", l=2, notion="entropy")
    assert_t_close(TABLE, ["age"], "ill", t=0.31)
    with pytest.raises(AssertionError, match=r"by age: 4 of 10 people are exposed"):
        assert_t_close(TABLE, ["age"], "ill", t=0.25)


def test_every_model_that_breaks_is_named() -> None:
    with pytest.raises(AssertionError) as failure:
        assert_satisfies(
            TABLE, "k-anonymity:k=4", "k-anonymity:k=5", "distinct-l-diversity:l=2", quasi=["age"], sensitive=["ill"]
        )
    assert [line.partition(" by ")[0] for line in str(failure.value).splitlines()] == [
        "the table is not 5-anonymous", "the table is not distinct 2-diverse",
    ]  # fmt: skip


@pytest.mark.parametrize("name", registry.names("models"))
def test_any_model_can_be_asserted(name: str) -> None:
    """Every model of the registry, by its examples, breaks where the model itself says so, and says so in counts."""
    table = TABLE.with_columns(
        disease=polars.Series(["cancer", "flu", "hiv", "flu", "cancer", *["flu"] * 5]), weight=2.5
    )
    roles = {"sensitive": ["disease"], "household": "who", "weight": "weight"}
    data = shoal.read(table, quasi=["age", "born"], kinds={"age": "categorical", "born": "categorical"}, **roles)
    for example in registry.examples("models", name):
        model = registry.make("models", name, dict(example))
        finding = model.measure(data.summary)
        (told,) = exposure(table, model, quasi=["age", "born"], **roles)
        assert told.finding.value == finding.value and bool(told.groups) == (not finding.holds)
        if not finding.holds:
            with pytest.raises(
                AssertionError, match=r"by age and born: \d+ of 10 people are exposed, in \d of 2 groups"
            ):
                assert_satisfies(table, model, quasi=["age", "born"], **roles)


def test_a_policy_can_be_asserted() -> None:
    policy = Policy(models=(shoal.KAnonymity(k=4), shoal.models.DistinctLDiversity(l=2)))
    assert_satisfies(TABLE, policy, quasi=["born"], sensitive=["ill"])
    with pytest.raises(AssertionError, match=r"^the table is not distinct 2-diverse by age: 6 of 10 people.* is 1$"):
        assert_satisfies(TABLE, policy, quasi=["age"], sensitive=["ill"])


def test_hidden_cells_may_stand_for_any_value() -> None:
    table = polars.DataFrame({"age": ["20", "20", "*"], "sex": list("fff")})
    assert_satisfies(table, "wildcard-k-anonymity:k=3", quasi=["age", "sex"])
    with pytest.raises(AssertionError, match="1 of 3 people are exposed"):
        assert_satisfies(table, "k-anonymity:k=2", quasi=["age", "sex"])


def test_people_are_not_taken_for_records() -> None:
    with pytest.raises(ParameterError, match="does not count people"):
        assert_satisfies(TABLE, "wildcard-k-anonymity:k=2", quasi=["age"], person="who")
    with pytest.raises(ParameterError, match="counts households"):
        assert_satisfies(TABLE, "k-households:k=2", quasi=["age"])


def test_ranges_are_compared_as_cells() -> None:
    """Numbers are not put into intervals, and `07` and `7` are two cells to whoever compares them."""
    for values in ([1.5, 2.5], ["07", "7"]):
        with pytest.raises(AssertionError, match="k is 1"):
            assert_k_anonymous(polars.DataFrame({"n": values}), ["n"], k=2)


def test_wrong_input() -> None:
    with pytest.raises(SchemaError, match="no column named 'zip'"):
        assert_k_anonymous(TABLE, ["zip"], k=5)
    with pytest.raises(InputError, match="this is int"):
        assert_k_anonymous(7, ["age"], k=5)
    with pytest.raises(ParameterError, match="at least one privacy model"):
        assert_satisfies(TABLE, quasi=["age"])
    with pytest.raises(ParameterError):
        assert_k_anonymous(TABLE, ["age"], k=0)
    with pytest.raises(InputError, match="no record"):
        assert_k_anonymous(TABLE.clear(), ["age"], k=5)


def test_no_value_is_told() -> None:
    with pytest.raises(AssertionError) as failure:
        assert_k_anonymous(polars.DataFrame({"name": [SECRET, "a", "a"]}), ["name"], k=2)
    assert SECRET not in str(failure.value)


SUITE = """
import polars, pytest

TABLE = polars.DataFrame({"age": ["[20 - 30]"] * 4})

@pytest.mark.privacy("k-anonymity:k=4", quasi=["age"])
class TestExports:
    def test_it_holds(self, assert_private):
        assert_private(TABLE)

    @pytest.mark.privacy("k-anonymity:k=5", quasi=["age"])
    def test_it_breaks(self, assert_private):
        assert_private(TABLE)

def test_without_a_marker(assert_private):
    assert_private(TABLE, "k-anonymity:k=4", quasi=["age"])
"""


def test_pytest_finds_the_fixture_and_the_marker(tmp_path: Path) -> None:
    (tmp_path / "test_exports.py").write_text(SUITE)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--strict-markers", "-p", "no:cacheprovider", tmp_path],
        capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 failed, 2 passed" in done.stdout
    assert "the table is not 5-anonymous by age: 4 of 4 people are exposed" in done.stdout
