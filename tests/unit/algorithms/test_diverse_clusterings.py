"""Bucket clustering and l-member clustering: eligibility, every record placed, and what is told when not."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import InfeasibleError, ParameterError, SchemaError

DIVERSE = ["bucket-clustering", "l-member", "l-member:variant=intuitive"]


def read(values: list[object], ages: list[int] | None = None) -> shoal.Dataset:
    table = pl.DataFrame({"age": ages or list(range(len(values))), "disease": values})
    return shoal.read(table, quasi=["age"], sensitive=["disease"])


def classes(release: shoal.Release) -> list[list[str]]:
    return [sorted(group["disease"], key=str) for _, group in release.frame.group_by("age")]


@pytest.mark.parametrize("seed", range(12))
def test_nobody_is_homeless(seed: int) -> None:
    """Whoever begins with the rarest values has {b, c} and {a, d}, and no place for two a."""
    ages = np.random.default_rng(seed).permutation(60)[:6].tolist()
    data = read(list("aaabcd"), ages)
    release = shoal.anonymize(data, "frequency-l-diversity:l=2", algorithm="bucket-clustering", seed=seed)
    assert sorted(classes(release)) == [["a", "b"], ["a", "c"], ["a", "d"]]


@pytest.mark.parametrize("algorithm", DIVERSE)
def test_five_different_values_are_one_cluster_of_three_and_more(algorithm: str) -> None:
    release = shoal.anonymize(read(list("abcde")), "frequency-l-diversity:l=3", algorithm=algorithm, seed=1)
    assert classes(release) == [list("abcde")]


@pytest.mark.parametrize("algorithm", ["bucket-clustering", "bucket-clustering:refine=true"])
def test_the_four_patients_become_two_diverse(algorithm: str) -> None:
    """Who is alike has the same disease, so 2-anonymity alone gives two people away."""
    table = shoal.samples.patients_four()
    options = {"kinds": {"zip": "categorical"}, "column_hierarchies": {"zip": "masking"}}
    data = shoal.read(table, quasi=["age", "gender", "zip"], sensitive=["disease"], **options)
    release = shoal.anonymize(data, "frequency-l-diversity:l=2", algorithm=algorithm, seed=1)
    assert sorted(classes(release)) == [["Cancer", "HIV"], ["Flu", "HIV"]]
    assert sorted(set(release.frame["zip"])) == ["176**"]


@given(st.lists(st.integers(0, 5), min_size=2, max_size=60), st.integers(2, 4), st.integers(1, 6), st.integers(0, 99))
@settings(max_examples=count(22, 80), deadline=None)
def test_every_record_of_an_eligible_table_is_placed(codes: list[int], l: int, k: int, seed: int) -> None:  # noqa: E741
    eligible = max(Counter(codes).values()) * l <= len(codes) and k <= len(codes)
    data = read([f"d{code}" for code in codes], np.random.default_rng(seed).integers(0, 40, len(codes)).tolist())
    models = (shoal.KAnonymity(k=k), shoal.FrequencyLDiversity(l=l))
    if not eligible:
        with pytest.raises(InfeasibleError):
            shoal.anonymize(data, *models, algorithm="bucket-clustering", seed=seed)
        return
    release = shoal.anonymize(data, *models, algorithm="bucket-clustering", seed=seed)
    assert release.suppressed == 0 and release.verify(release.policy).holds
    facts = release.recoding.facts
    assert facts["mergers"] == 0 and facts["residue"] < l
    assert facts["clusters"] == max(1, len(codes) // l // -(-max(k, l) // l))


@given(st.lists(st.integers(0, 5), min_size=2, max_size=60), st.integers(2, 4), st.integers(1, 6), st.integers(0, 99))
@settings(max_examples=count(17, 60), deadline=None)
def test_different_values_need_no_table_without_frequent_ones(codes: list[int], l: int, k: int, seed: int) -> None:  # noqa: E741
    """Distinct l-diversity holds in as many clusters as there are rounds of different values, whatever is left over."""
    if len(set(codes)) < l or len(codes) < k:
        return
    data = read([f"d{code}" for code in codes], np.random.default_rng(seed).integers(0, 40, len(codes)).tolist())
    models = (shoal.KAnonymity(k=k), shoal.DistinctLDiversity(l=l))
    release = shoal.anonymize(data, *models, algorithm="bucket-clustering", seed=seed)
    counts = np.array(list(Counter(codes).values()))
    most = max(q for q in range(len(codes) + 1) if np.minimum(counts, q).sum() >= q * l)
    facts = release.recoding.facts
    assert release.suppressed == 0 and facts == {
        "clusters": min(most, len(codes) // max(k, l)), "residue": 0, "mergers": 0,
    }  # fmt: skip


@pytest.mark.parametrize("algorithm", DIVERSE)
@pytest.mark.parametrize(("l", "left_out"), [(2, 4), (3, 7), (4, None)])
def test_seven_two_and_one(algorithm: str, l: int, left_out: int | None) -> None:  # noqa: E741
    data, model = read(["flu"] * 7 + ["hiv"] * 2 + ["cold"]), shoal.FrequencyLDiversity(l=l)
    if left_out is None:
        with pytest.raises(
            InfeasibleError, match="4 different sensitive values are wanted together and the table has 3"
        ):
            shoal.anonymize(data, model, algorithm=algorithm, suppression=1.0)
        return
    release = shoal.anonymize(data, model, algorithm=algorithm, suppression=left_out / 10, seed=1)
    assert release.suppressed == left_out
    with pytest.raises(
        InfeasibleError, match=f"leaving out {left_out} of them would mend that, and {left_out - 1} may"
    ):
        shoal.anonymize(data, model, algorithm=algorithm, suppression=(left_out - 1) / 10)


def test_who_is_left_out_fits_in_worst() -> None:
    """Of five people with the frequent value those far from everybody else go."""
    data = read(["flu"] * 5 + ["hiv", "cold"], [20, 21, 90, 91, 92, 20, 22])
    release = shoal.anonymize(data, "frequency-l-diversity:l=2", algorithm="bucket-clustering", suppression=0.5, seed=1)
    assert release.suppressed == 3
    assert {int(bound) for label in release.frame["age"] for bound in label.strip("[]").split("-")} <= {20, 21, 22}


def test_the_intuitive_form_tells_who_has_no_place() -> None:
    """Clusters take neighbours with rare values, and of the people with the frequent one too many are left."""
    data = read(list("bcdefghiaaaa"), [1, 2, 3, 4, 5, 6, 60, 61, 62, 63, 64, 65])
    policy = ("frequency-l-diversity:l=3",)
    with pytest.raises(
        InfeasibleError, match="1 of the 12 records fit into no cluster, and 0 may be left out"
    ) as caught:
        shoal.anonymize(data, *policy, algorithm="l-member:variant=intuitive", seed=0)
    assert caught.value.attempt == {"least": 3, "clusters": 3, "leftovers": 3, "unplaceable": 1}
    release = shoal.anonymize(data, *policy, algorithm="l-member:variant=intuitive", seed=0, suppression=0.1)
    assert release.suppressed == release.recoding.facts["unplaceable"] == 1
    for algorithm in ("bucket-clustering", "l-member"):
        assert shoal.anonymize(data, *policy, algorithm=algorithm, seed=1).suppressed == 0


@pytest.mark.parametrize("algorithm", [*DIVERSE, "anatomy"])
class TestBadInput:
    def test_one_sensitive_value(self, algorithm: str) -> None:
        with pytest.raises(
            InfeasibleError, match="2 different sensitive values are wanted together and the table has 1"
        ):
            shoal.anonymize(read(["flu"] * 6), "distinct-l-diversity:l=2", algorithm=algorithm, suppression=0.9)

    def test_more_different_values_than_there_are(self, algorithm: str) -> None:
        with pytest.raises(InfeasibleError, match="the table has 3") as caught:
            shoal.anonymize(read(list("abcabc")), "frequency-l-diversity:l=4", algorithm=algorithm)
        assert caught.value.attempt["least"] == 4

    def test_missing_values_are_a_value(self, algorithm: str) -> None:
        data = read(["flu", None, "flu", None])
        release = shoal.anonymize(data, "frequency-l-diversity:l=2", algorithm=algorithm, seed=1)
        assert release.verify(release.policy)["frequency-l"].value == 2
        assert release.suppressed == 0

    def test_numbers_are_categories(self, algorithm: str) -> None:
        """Neighbouring numbers count as different, and the facts say so."""
        release = shoal.anonymize(read([1, 2, 3, 4]), "frequency-l-diversity:l=2", algorithm=algorithm, seed=1)
        assert release.verify(release.policy)["frequency-l"].value >= 2
        assert "categories" in release.recoding.facts["sensitive-numbers"]
        named = shoal.anonymize(read(list("abcd")), "frequency-l-diversity:l=2", algorithm=algorithm, seed=1)
        assert "sensitive-numbers" not in named.recoding.facts

    @pytest.mark.parametrize("sensitive", [[], ["disease", "job"]])
    def test_none_or_two_sensitive_attributes(self, algorithm: str, sensitive: list[str]) -> None:
        table = pl.DataFrame({"age": [1, 2, 3, 4], "disease": list("abab"), "job": list("xyxy")})
        data = shoal.read(table, quasi=["age"], sensitive=sensitive)
        models = ["frequency-l-diversity:l=2"] if sensitive else ["t-closeness:t=1"]
        with pytest.raises(SchemaError, match="sensitive attribute"):
            shoal.anonymize(data, *models, algorithm=algorithm)


@pytest.mark.parametrize("algorithm", DIVERSE)
def test_a_policy_without_diversity_is_refused(algorithm: str) -> None:
    with pytest.raises(ParameterError, match="take k-member"):
        shoal.anonymize(read(list("abab")), "k-anonymity:k=2", "t-closeness:t=0.9", algorithm=algorithm)


def test_nobody_is_left_out_where_the_policy_asks_for_less_than_different_values() -> None:
    """No value makes up more than two thirds of nine records; clusters of two different values leave one without."""
    data = read(list("aaaaabbbb"))
    release = shoal.anonymize(data, "frequency-l-diversity:l=1.5", algorithm="bucket-clustering", seed=1)
    assert release.suppressed == 0 and len(release.classes) > 1
