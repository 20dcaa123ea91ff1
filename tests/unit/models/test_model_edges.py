"""Privacy models at the edges: wrong parameters, constant columns, missing values, one record."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import polars
import pytest

import shoal
from shoal.core.classes import Classes, summarize
from shoal.errors import ParameterError, SchemaError

WRONG = [
    ("KAnonymity", {"k": 0}),
    ("DistinctLDiversity", {"l": 0}),
    ("DistinctLDiversity", {"l": 1.5}),
    ("EntropyLDiversity", {"l": 0.5}),
    ("FrequencyLDiversity", {"l": 0.99}),
    ("RecursiveLDiversity", {"c": 0, "l": 2}),
    ("RecursiveLDiversity", {"c": 1, "l": 0}),
    ("TCloseness", {"t": -0.01}),
    ("TCloseness", {"t": 1.01}),
    ("TCloseness", {"t": 0.5, "distance": "euclidean"}),
    ("AlphaKAnonymity", {"alpha": 1.1, "k": 2}),
    ("AlphaKAnonymity", {"alpha": 0.5, "k": 0}),
    ("AlphaKAnonymity", {"alpha": 0.5, "k": 1, "leaves": (-1,)}),
    ("PSensitiveKAnonymity", {"p": 0, "k": 2}),
    ("BetaLikeness", {"beta": 0}),
    ("DeltaDisclosure", {"delta": 0}),
    ("DeltaPresence", {"delta_min": 0.5, "delta_max": 0.4, "leaves": (0,)}),
    ("DeltaPresence", {"delta_max": 0.4}),
    ("KMap", {"k": 3}),
    ("RhoPrivacy", {"rho1": 0.5, "rho2": 0.5}),
    ("RhoPrivacy", {"rho1": 0, "rho2": 0.5}),
    ("RhoPrivacy", {"rho1": 0.5, "rho2": 1}),
    ("DisclosureBounds", {"delta": 1.5}),
    ("DisclosureBounds", {"delta": 0.5, "epsilon": -1}),
    ("InferenceL", {"l": 0}),
]


@pytest.mark.parametrize(("name", "values"), WRONG, ids=str)
def test_parameters_out_of_range(name: str, values: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=name):
        getattr(shoal.models, name)(**values)


def classes_of(counts: list[list[int]]) -> Classes:
    rows = [(key, value) for key, row in enumerate(counts) for value, count in enumerate(row) for _ in range(count)]
    keys, values = np.array(rows, np.int32).T
    return summarize(["key"], [keys.copy()], [len(counts)], [("kind", values.copy(), len(counts[0]), None)])


def test_a_constant_sensitive_column() -> None:
    """One value in the whole table: no diversity, and nothing to learn from a class that the table does not say."""
    classes = classes_of([[3], [5]])
    assert shoal.DistinctLDiversity(l=2).measure(classes).value == 1
    assert shoal.EntropyLDiversity(l=2).measure(classes).value == 1
    assert shoal.FrequencyLDiversity(l=2).measure(classes).value == 1
    assert shoal.models.RecursiveLDiversity(c=9, l=2).measure(classes).value == float("inf")
    for distance in ("equal", "ordered"):
        assert shoal.TCloseness(t=0, distance=distance).measure(classes).holds
    assert shoal.models.BetaLikeness(beta=0.1, enhanced=True).measure(classes).value == 0
    assert shoal.models.DeltaDisclosure(delta=0.1).measure(classes).value == 0
    assert shoal.models.DisclosureBounds(delta=0.1).measure(classes).value == 0
    assert shoal.models.RhoPrivacy(rho1=0.1, rho2=0.2).measure(classes).value == 0


def test_a_column_of_missing_values() -> None:
    table = polars.DataFrame(
        {"zip": ["a", "a", "b"], "kind": [None, None, None]}, schema_overrides={"kind": polars.String}
    )
    classes = shoal.read(table, quasi=["zip"], sensitive=["kind"]).summary
    assert shoal.DistinctLDiversity(l=1).measure(classes).value == 1
    for distance in ("equal", "ordered", "hierarchical"):
        assert shoal.TCloseness(t=0, distance=distance).measure(classes).value == 0


def test_missing_is_a_value_of_its_own() -> None:
    table = polars.DataFrame({"zip": ["a", "a", "b", "b"], "kind": [None, "x", "x", "x"]})
    classes = shoal.read(table, quasi=["zip"], sensitive=["kind"]).summary
    assert shoal.DistinctLDiversity(l=2).holds(classes).tolist() == [True, False]
    assert shoal.TCloseness(t=1).measure(classes).value == 0.25


def test_uniform_classes_are_exactly_as_diverse_as_they_have_values() -> None:
    for values in (*range(1, 13), 23, 31, 59):
        for count in (1, 2, 3, 7, 1000 if values < 8 else 100):
            classes = classes_of([[count] * values])
            assert shoal.EntropyLDiversity(l=values).holds(classes).all()
            assert not shoal.EntropyLDiversity(l=values + 1e-6).holds(classes).any()
            assert shoal.FrequencyLDiversity(l=values).measure(classes).value == values


def test_recursive_counts_are_taken_in_descending_order() -> None:
    classes = classes_of([[1, 5, 2, 4]])
    assert shoal.models.RecursiveLDiversity(c=1, l=1).measure(classes).value == 5 / 12
    assert shoal.models.RecursiveLDiversity(c=1, l=2).measure(classes).value == 5 / 7
    assert shoal.models.RecursiveLDiversity(c=1, l=3).measure(classes).value == 5 / 3
    assert shoal.models.RecursiveLDiversity(c=1, l=4).measure(classes).value == 5
    assert shoal.models.RecursiveLDiversity(c=1, l=5).measure(classes).value == float("inf")


def test_recursive_is_strict() -> None:
    assert not shoal.models.RecursiveLDiversity(c=0.1, l=1).holds(classes_of([[1] * 10])).any()
    assert shoal.models.RecursiveLDiversity(c=0.1, l=1).holds(classes_of([[1] * 11])).all()


def test_hierarchical_distance_needs_a_hierarchy() -> None:
    with pytest.raises(SchemaError, match="'kind'"):
        shoal.TCloseness(t=0.5, distance="hierarchical").holds(classes_of([[1, 1]]))


def test_hierarchical_distance_over_the_flat_tree_is_the_equal_one() -> None:
    table = polars.DataFrame({"zip": list("aabbbb"), "kind": list("xyxxzz")})
    classes = shoal.read(table, quasi=["zip"], sensitive=["kind"]).summary
    flat, equal = (shoal.TCloseness(t=1, distance=name).measure(classes).value for name in ("hierarchical", "equal"))
    assert flat == pytest.approx(equal, abs=1e-15)


def test_enhanced_beta_has_no_level_when_the_cap_is_broken() -> None:
    """Half of the table has the value: the gain to certainty is 1 and the cap ln 2, whatever beta says."""
    classes = classes_of([[2, 0], [0, 2]])
    assert shoal.models.BetaLikeness(beta=1).measure(classes).holds
    assert shoal.models.BetaLikeness(beta=100, enhanced=True).measure(classes).value == float("inf")


def test_places_beyond_the_values() -> None:
    with pytest.raises(ParameterError, match="'kind'"):
        shoal.models.KMap(k=2, leaves=(7,)).holds(classes_of([[1, 1]]))


def test_k_map_without_members_is_not_bounded() -> None:
    assert shoal.models.KMap(k=9, leaves=(1,)).measure(classes_of([[1, 0]])).value == float("inf")


def test_a_share_of_exactly_rho1_counts_as_unlikely() -> None:
    """By hand: one of four has a value that fills half of its class. A reading with < would leave it out."""
    table = polars.DataFrame({"sex": list("ffmm"), "disease": ["flu", "hiv", "hiv", "hiv"]})
    classes = shoal.read(table, quasi=["sex"], sensitive=["disease"]).summary
    assert shoal.models.RhoPrivacy(rho1=0.25, rho2=0.4).holds(classes).tolist() == [False, True]
    assert shoal.models.RhoPrivacy(rho1=0.2499, rho2=0.4).holds(classes).all()


def test_rho_bounds_the_absence_of_a_frequent_value() -> None:
    """Eight of ten have the first value; in the second class it is absent, though no rare value is likely there."""
    classes = classes_of([[8, 0, 0, 0, 0], [0, 1, 1, 0, 0]])
    model = shoal.models.RhoPrivacy(rho1=0.2, rho2=0.6)
    assert model.holds(classes).tolist() == [True, False]
    assert model.measure(classes).value == 1
    assert shoal.models.RhoPrivacy(rho1=0.19, rho2=0.6).measure(classes).value == 0.5


def test_inference_is_about_all_classes_together() -> None:
    """The examples of the attack: unequal counts (B), and a chain of value sets (C), leave somebody without twins."""

    def level(*classes: str) -> float:
        rows = [(key, value) for key, values in enumerate(classes) for value in values.split()]
        table = polars.DataFrame(rows, schema=["key", "ill"], orient="row")
        model = shoal.models.InferenceL(l=2)
        return model.measure(shoal.read(table, quasi=["key"], sensitive=["ill"]).summary).value

    assert level("1 1 2 3") == 1
    assert level("1 2 3 4", "1 2 3") == 1
    assert level("1 2 3 4", "1 2") == 2
    assert level("1 2 3", "1 2 3") == 3


@pytest.mark.parametrize("algorithm", ["mondrian", "k-member:refine=true"])
def test_searches_that_judge_classes_apart_refuse_inference(algorithm: str) -> None:
    table = polars.DataFrame({"age": range(6), "ill": list("abcabc")})
    data = shoal.read(table, quasi=["age"], sensitive=["ill"])
    with pytest.raises(ParameterError, match="judges all classes of a table together"):
        shoal.anonymize(data, shoal.models.InferenceL(l=3), algorithm=algorithm)
    for other in ("optimal", "k-member"):
        release = shoal.anonymize(data, shoal.models.InferenceL(l=3), algorithm=other, seed=1)
        assert release.verify(release.policy)["inference-l"].value == 3
    with pytest.raises(ParameterError, match="cannot be asked about sets"):
        shoal.ask(data, notion="inference-l", bound=2)
    assert shoal.ask(data, notion="inference-l", attributes=["age"], question=2).answer == 1


@pytest.mark.parametrize(
    ("model", "least"),
    [
        (shoal.TCloseness(t=0.3), 2),
        (shoal.TCloseness(t=0.1), 3),
        (shoal.TCloseness(t=0.0), 4),
        (shoal.TCloseness(t=0.2, distance="ordered"), 1),
        (shoal.models.BetaLikeness(beta=0.5), 2),
        (shoal.models.BetaLikeness(beta=2.0, enhanced=True), 1),
        (shoal.models.AlphaKAnonymity(alpha=0.4, k=2), 3),
        (shoal.models.AlphaKAnonymity(alpha=0.4, k=2, values=("a",)), 1),
        (shoal.EntropyLDiversity(l=2.5), 3),
    ],
)
def test_no_class_has_fewer_values_than_follow_from_the_table(model: Any, least: int) -> None:
    """Held against every class that can be made of the records."""
    table = polars.DataFrame({"place": ["x"] * 11, "illness": list("aaaaabbbccd")})
    data = shoal.read(table, quasi=["place"], sensitive=["illness"])
    (values,) = data.listing(0)
    assert model.variety_among(data.summary.sensitive[0]) == least
    ranks = np.array([np.sum(values[:row] == value) for row, value in enumerate(values)])
    for some in itertools.product(range(6), range(4), range(3), range(2)):
        owners = np.where(ranks < np.array(some)[values], 0, 1).astype(np.int32)
        if sum(some) and model.holds(data.partitioned(owners, 2, seed=0))[0]:
            assert np.count_nonzero(some) >= least
