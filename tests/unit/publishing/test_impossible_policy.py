"""A policy that no release can keep is called impossible, with the most that a release could keep."""

from __future__ import annotations

import polars
import pytest

import shoal
from shoal.errors import InfeasibleError

PEOPLE = polars.DataFrame(
    {"age": [20 + place % 40 for place in range(120)], "hiv": ["yes", "no", "no"] * 40, "who": list(range(60)) * 2}
)


def refusal(*models: str, person: str | None = None, **more: object) -> str:
    data = shoal.read(PEOPLE.drop([] if person else ["who"]), quasi=["age"], sensitive=["hiv"], person=person)
    with pytest.raises(InfeasibleError) as caught:
        shoal.anonymize(data, *models, **more)
    return str(caught.value)


@pytest.mark.parametrize("suppression", [0.0, 0.05])
@pytest.mark.parametrize("algorithm", ["auto", "mondrian", "optimal", "anatomy"])
def test_more_values_than_there_are(algorithm: str, suppression: float) -> None:
    said = refusal("distinct-l-diversity:l=5", algorithm=algorithm, suppression=suppression)
    assert said.startswith(
        "distinct 5-diverse is impossible here: column 'hiv' has only 2 distinct values; ask for l = 2 at most ("
    )
    assert "full-domain search may" not in said


def test_what_is_named_as_possible_is_possible_and_no_more() -> None:
    """The figure is the greatest with two digits: with it there is a release, with one more in the last digit none."""
    assert "ask for l = 1.88 at most" in refusal("entropy-l-diversity:l=1.95")
    assert "impossible" in refusal("entropy-l-diversity:l=1.89")
    assert "ask for alpha = 0.67 at least" in refusal("alpha-k-anonymity:alpha=0.1,k=2")
    data = shoal.read(PEOPLE.drop("who"), quasi=["age"], sensitive=["hiv"])
    for model in ("entropy-l-diversity:l=1.88", "alpha-k-anonymity:alpha=0.67,k=2", "k-anonymity:k=120"):
        assert shoal.anonymize(data, model, algorithm="mondrian").published.records == 120


def test_more_people_than_there_are() -> None:
    assert "the table has only 120 records; ask for k = 120 at most" in refusal("k-anonymity:k=500", suppression=0.5)
    said = refusal("k-anonymity:k=61", person="who", algorithm="mondrian")
    assert "the table has only 60 people; ask for k = 60 at most" in said


def test_each_model_that_is_impossible_is_named() -> None:
    said = refusal("k-anonymity:k=500", "distinct-l-diversity:l=3", algorithm="mondrian")
    assert said.count("impossible") == 2


def test_a_policy_that_is_possible_keeps_the_words_of_the_search() -> None:
    data = shoal.read(PEOPLE.drop("who"), quasi=["age"], sensitive=["hiv"])
    with pytest.raises(InfeasibleError) as caught:
        shoal.anonymize(data, "k-anonymity:k=100", algorithm="optimal:greatest_levels=age:1")
    assert "impossible" not in str(caught.value)
