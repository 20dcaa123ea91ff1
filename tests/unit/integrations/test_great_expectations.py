"""The expectation for Great Expectations; importing that takes seconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas
import pytest
from counts import LONG

SECRET = "Zacharias"
EXPORT = {"age": ["a"] * 4 + ["b"] * 6, "ill": ["flu", SECRET] * 2 + [SECRET] * 6, "who": [1, 1, 2, 2, *range(3, 9)]}

pytestmark = [
    pytest.mark.skipif(not LONG, reason="they are long: make test-long"),
    pytest.mark.filterwarnings("ignore"),  # its own, and those of what it imports
]


@pytest.fixture(scope="module")
def validate() -> Callable[..., Any]:
    """Validates a frame by an expectation."""
    gx = pytest.importorskip("great_expectations")
    from shoal.integrations.great_expectations import ExpectTableToSatisfyPrivacyModels

    context = gx.get_context(mode="ephemeral")
    sources = {"pandas": context.data_sources.add_pandas("here"), "spark": context.data_sources.add_spark("there")}

    def validated(frame: Any, kind: str = "pandas", **asked: Any) -> Any:
        asset = sources[kind].add_dataframe_asset(f"{len(sources[kind].assets)}")
        batch = asset.add_batch_definition_whole_dataframe("all").get_batch({"dataframe": frame})
        return batch.validate(ExpectTableToSatisfyPrivacyModels(**asked))

    return validated


def test_what_is_expected_of_a_frame(validate: Callable[..., Any]) -> None:
    export = pandas.DataFrame(EXPORT)
    assert validate(export, models=["k-anonymity:k=4"], quasi=["age"]).success
    told = validate(export, models=["k-anonymity:k=5", "distinct-l-diversity:l=2"], quasi=["age"], sensitive=["ill"])
    assert not told.success and told.result["observed_value"] == "6 of 10 people are exposed"
    assert told.result["details"]["broken"] == [
        "the table is not 5-anonymous by age: 4 of 10 people are exposed, in 1 of 2 groups; k is 4",
        "the table is not distinct 2-diverse by age: 6 of 10 people are exposed, in 1 of 2 groups; distinct-l is 1",
    ]
    assert SECRET not in str(told)
    people = validate(export, models=["k-anonymity:k=4"], quasi=["age"], person="who")
    assert people.result["observed_value"] == "2 of 8 people are exposed"


def test_a_column_that_is_not_there(validate: Callable[..., Any]) -> None:
    told = validate(pandas.DataFrame(EXPORT), models=["k-anonymity:k=2"], quasi=["zip"])
    assert not told.success and "no column named 'zip'" in str(told) and SECRET not in str(told)


def test_a_frame_of_spark(validate: Callable[..., Any], spark: Any) -> None:
    told = validate(spark.createDataFrame(pandas.DataFrame(EXPORT)), "spark", models=["k-anonymity:k=5"], quasi=["age"])
    assert told.result["observed_value"] == "4 of 10 people are exposed"
