"""The defence against dependencies: blocks that remove fewest records, and classes that keep the bound."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from math import inf

import polars as pl
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.algorithms._twin_blocks import VARIANTS, dynamic, removed
from shoal.errors import InfeasibleError

SKEWED = st.lists(st.sampled_from([1, 1, 2, 3, 5, 8, 13, 40, 90]), min_size=2, max_size=8)


def fewest(frequencies: list[int], l: int) -> float:  # noqa: E741
    """The fewest records over all partitions of the values into blocks of at least l, whichever values they have."""

    @cache
    def best(left: frozenset[int]) -> float:
        if not left:
            return 0
        first, others = min(left), sorted(left - {min(left)})
        found = inf
        for chosen in range(1 << len(others)):
            block = [first, *(value for at, value in enumerate(others) if chosen >> at & 1)]
            if len(block) >= l:
                counts = [frequencies[value] for value in block]
                found = min(found, sum(counts) - len(counts) * min(counts) + best(left - set(block)))
        return found

    return best(frozenset(range(len(frequencies))))


@settings(max_examples=count(9, 60), deadline=None)
@given(SKEWED, st.integers(1, 3))
def test_no_blocks_remove_fewer_records(frequencies: list[int], l: int) -> None:  # noqa: E741
    frequencies = sorted(frequencies, reverse=True)
    if len(frequencies) < l:
        return
    found = {name: variant(frequencies, l) for name, variant in VARIANTS.items()}
    for blocks in found.values():
        assert [begin for begin, _ in blocks] == [0, *(end for _, end in blocks[:-1])] and blocks[-1][1] == len(
            frequencies
        )
        assert all(end - begin >= l for begin, end in blocks)
    counts = {name: removed(frequencies, blocks) for name, blocks in found.items()}
    assert counts["dynamic"] == fewest(frequencies, l)
    assert counts["dynamic"] <= min(counts.values())
    assert counts["dynamic"] <= removed(frequencies, [(0, len(frequencies))])


@st.composite
def tables(draw: st.DrawFn) -> pl.DataFrame:
    """Up to sixteen people; the illness determines the ward."""
    ward = [draw(st.integers(0, 2)) for _ in range(5)]
    ills = draw(st.lists(st.integers(0, 4), min_size=4, max_size=16))
    ages = [draw(st.integers(20, 40)) for _ in ills]
    return pl.DataFrame({"age": ages, "ward": [f"w{ward[ill]}" for ill in ills], "ill": [f"i{ill}" for ill in ills]})


@settings(max_examples=count(9, 60), deadline=None)
@given(
    tables(), st.integers(2, 3), st.sampled_from(["IG", "DG", "CG"]), st.sampled_from(["generalized", "two-table"]),
    st.booleans(),
)  # fmt: skip
def test_no_posterior_exceeds_the_bound(table: pl.DataFrame, l: int, layout: str, form: str, repair: bool) -> None:  # noqa: E741
    """Counted exactly; the records that go are those of the best blocks, or fewer where only the ward matters."""
    data = shoal.read(table, quasi=["age"], sensitive=["ill"], drop=["ward"])
    frequencies = sorted(table["ill"].value_counts()["count"].to_list(), reverse=True)
    algorithm = shoal.algorithms.DependencySafe(layout=layout, form=form, l=l, repair="ward" if repair else None)
    models = [shoal.FrequencyLDiversity(l=1)] if repair else [shoal.models.InferenceL(l=l)]
    try:
        release = shoal.anonymize(data, *models, algorithm=algorithm, suppression=1.0, seed=1)
    except InfeasibleError as error:
        assert len(frequencies) < l and error.attempt["values"] == len(frequencies)
        return
    assert release.policy is not None and release.verify(release.policy).holds
    fewest = removed(frequencies, dynamic(frequencies, l))
    assert release.suppressed <= fewest if repair else release.suppressed == fewest
    attacks = [shoal.attacks.FunctionalDependency(determinant=("ill",), dependent="ward")]
    if not repair:
        attacks.append(shoal.attacks.FunctionalDependency(determinant=("ill", "age"), dependent="ward"))
    for found in shoal.attack(data, release, *attacks):
        assert found.worst <= 1 / l + 1e-12
        assert found.detail["exact"] or not repair


@settings(max_examples=count(9, 30), deadline=None)
@given(tables())
def test_a_chain_of_value_sets(table: pl.DataFrame) -> None:
    data = shoal.read(table, quasi=["age"], sensitive=["ill"])
    if table["ill"].n_unique() < 2:
        return
    release = shoal.anonymize(
        data,
        shoal.models.InferenceL(l=2),
        algorithm="dependency-safe:layout=CG,form=two-table",
        suppression=1.0,
        seed=1,
    )
    sets = sorted(
        (set(group["ill"]) for _, group in release.frames["sensitive"].group_by("group")), key=len, reverse=True
    )
    assert all(larger >= smaller for larger, smaller in pairwise(sets))
    layers = [len(larger - smaller) for larger, smaller in pairwise(sets)]
    assert all(layer == 0 or layer >= 2 for layer in layers) and len(sets[-1]) >= 2


@pytest.mark.parametrize("seed", [1, 2])
def test_classes_of_the_sample(seed: int) -> None:
    """Before the defence everything is found; after it nothing above one half."""
    data = shoal.read(shoal.samples.patients_wards(), quasi=["age", "sex", "ward"], sensitive=["disease"])
    usual = (shoal.KAnonymity(k=10), shoal.EntropyLDiversity(l=3), shoal.TCloseness(t=0.1))
    attack = shoal.attacks.FunctionalDependency(determinant=("disease",), dependent="ward")
    for algorithm in ("mondrian", "optimal", "k-member"):
        release = shoal.anonymize(data, *usual, algorithm=algorithm, seed=seed)
        assert shoal.attack(data, release, attack)[0].success > 0.9
        assert shoal.attack(data, release, "homogeneity")[0].success < 0.5
    safe = shoal.anonymize(
        data,
        shoal.KAnonymity(k=4),
        shoal.models.InferenceL(l=2),
        algorithm="dependency-safe",
        suppression=0.2,
        seed=seed,
    )
    assert safe.suppressed == 8
    (found,) = shoal.attack(data, safe, attack)
    assert found.detail["exact"] and found.worst == 0.5
