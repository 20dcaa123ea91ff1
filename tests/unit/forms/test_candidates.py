"""Where a person can be, against every pair of a person and a group, and against the plan."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.adversary import fitting
from shoal.core.contracts.form import Candidates


def table(seed: int, rows: int) -> shoal.Dataset:
    generator = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "age": generator.integers(20, 40, rows),
            "sex": generator.choice(["f", "m", None], rows).tolist(),
            "disease": generator.choice(list("abcd"), rows),
        }
    )
    return shoal.read(frame, quasi=["age", "sex"], sensitive=["disease"])


def listed(found: Candidates, person: int) -> dict[int, float]:
    some = slice(found.starts[person], found.starts[person + 1])
    return dict(zip(found.classes[some].tolist(), found.chances[some].tolist(), strict=True))


@given(st.integers(0, 999), st.integers(4, 40), st.sampled_from(["mondrian", "optimal", "oka:numeric=mean"]))
@settings(max_examples=count(11, 40), deadline=None)
def test_a_generalized_person_is_in_every_class_that_covers(seed: int, rows: int, algorithm: str) -> None:
    data = table(seed, rows)
    release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm=algorithm, suppression=0.3, seed=seed)
    cells, sizes, people = release.view.cells(), release.view.people().sizes, data.summary.keys
    found = release.view.candidates(people)
    for person in range(people.shape[1]):
        inside = [
            at for at in range(len(sizes))
            if all(cells.low[j, at] <= people[j, person] <= cells.high[j, at] for j in range(2))
        ]  # fmt: skip
        total = sum(sizes[at] for at in inside)
        assert listed(found, person) == {at: pytest.approx(sizes[at] / total) for at in inside}
    assert release.recoding is not None and release.recoding.plan is not None
    plan = release.recoding.plan
    if not plan.by_record:
        placed = release.placement(release.recoding.plan, release.view.people())
        assert all(placed[own] in listed(found, at) for at, own in enumerate(plan.owners) if own >= 0)


def test_blocks_do_not_change_what_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    data = table(1, 60)
    release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm="mondrian", seed=1)
    whole = release.view.candidates(data.summary.keys)
    monkeypatch.setattr(fitting, "BLOCK", 7)
    parts = release.view.candidates(data.summary.keys)
    assert parts.starts.tolist() == whole.starts.tolist() and parts.classes.tolist() == whole.classes.tolist()
    assert parts.chances.tolist() == whole.chances.tolist()


@pytest.mark.parametrize(("block", "portion"), [(1 << 22, 1 << 14), (50, 3), (2, 40)])
def test_pairs_are_those_of_looking_at_every_class(block: int, portion: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "BLOCK", block)
    monkeypatch.setattr(fitting, "PORTION", portion)
    generator = np.random.default_rng(block)
    low = generator.integers(0, 6, (3, 90)).astype(np.int32)
    high = np.minimum(low + generator.integers(0, 4, (3, 90)), 5).astype(np.int32)
    people = generator.integers(-1, 6, (3, 60)).astype(np.int32)
    inside = (people[:, :, None] < 0) | ((low[:, None] <= people[:, :, None]) & (people[:, :, None] <= high[:, None]))
    persons, classes = np.nonzero(inside.all(axis=0))
    blocks = list(fitting.pairs(low, high, people))
    assert np.concatenate([block[0] for block in blocks]).tolist() == persons.tolist()
    assert np.concatenate([block[1] for block in blocks]).tolist() == classes.tolist()
    # A block ends before the person with whom there are as many pairs as fill another one.
    full = np.cumsum(np.bincount(persons, minlength=people.shape[1])) // block
    ends = [0, *(np.flatnonzero(np.diff(full)) + 1).tolist(), people.shape[1]]
    sizes = [int(((begin <= persons) & (persons < end)).sum()) for begin, end in pairwise(ends)]
    assert [len(block[0]) for block in blocks] == [size for size in sizes if size]


def test_nobody_at_all() -> None:
    data = table(1, 20)
    release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm="mondrian", seed=1)
    found = release.view.candidates(data.summary.keys[:, :0])
    assert found.starts.tolist() == [0] and not len(found.classes)


@given(st.integers(0, 999), st.integers(8, 40))
@settings(max_examples=count(11, 40), deadline=None)
def test_with_two_tables_a_person_is_where_the_rows_are(seed: int, rows: int) -> None:
    data = table(seed, rows)
    try:
        release = shoal.anonymize(data, shoal.FrequencyLDiversity(l=2), algorithm="anatomy", suppression=0.5, seed=seed)
    except shoal.errors.InfeasibleError:
        return
    assert release.recoding is not None and release.recoding.plan is not None
    plan, numbers = release.recoding.plan, release.tables["sensitive"].labels("group")
    found = release.view.candidates(data.summary.keys)
    tuples = np.repeat(np.arange(len(data.summary)), data.summary.sizes)
    for person in range(len(data.summary)):
        own = [numbers.index(str(owner)) for owner in plan.owners[tuples == person] if owner >= 0]
        expected = {at: pytest.approx(own.count(at) / len(own)) for at in set(own)}
        assert listed(found, person) == expected
    stranger = np.array([[0], [0]], np.int32)
    if not any((data.summary.keys == stranger).all(axis=0)):
        assert listed(release.view.candidates(stranger), 0) == {}
