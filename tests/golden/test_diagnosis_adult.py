"""The diagnosis against figures of Adult that were computed elsewhere."""

from __future__ import annotations

import pytest

import shoal
from shoal.diagnosis.borders import Memory, Search
from shoal.diagnosis.weighted_rows import WeightedRows

QI5 = ["age", "workclass", "education", "sex", "race"]
QI8 = ["age", "workclass", "education", "marital-status", "race", "sex", "native-country", "salary-class"]


@pytest.fixture(scope="module")
def read(reference):
    def reading(quasi, sensitive=()):
        return shoal.read(reference / "adult.csv", quasi=quasi, sensitive=list(sensitive))

    return reading


@pytest.mark.parametrize(
    ("quasi", "unique", "below"),
    [(QI5, 3109, {3: 5175, 5: 8094, 10: 12297}), (QI8, 8841, {2: 8841, 3: 11971, 5: 15353, 10: 19100})],
)
def test_records_below_k(read, quasi, unique, below):
    data = read(quasi)
    curve = dict(shoal.ask(data, attributes=quasi, delta="ask").answer)
    assert curve[2] == unique / 30162
    for k, records in below.items():
        assert shoal.ask(data, attributes=quasi, k=k, delta="ask").answer == records / 30162
        assert shoal.ask(data, attributes=quasi, k=k, delta=records / 30162).answer is True
        assert shoal.ask(data, attributes=quasi, k=k, delta=(records - 1) / 30162).answer is False


def test_raw_levels(read):
    data = read(QI5, ["occupation"])
    levels = {"k": 1, "distinct-l": 1, "entropy-l": 1, "t": 0.9997016112989857}
    for notion, level in levels.items():
        assert shoal.ask(data, attributes=QI5, notion=notion).answer == pytest.approx(level, abs=1e-12)


def test_levels_agree_with_the_models(read):
    """One attribute set, every notion, against the model that anonymizing checks with."""
    chosen = ["workclass", "sex"]
    data = read(QI5, ["occupation"])
    classes = data.summary.select(chosen)
    for notion, model in {
        "distinct-l": shoal.DistinctLDiversity(l=2), "entropy-l": shoal.EntropyLDiversity(l=2),
        "frequency-l": shoal.FrequencyLDiversity(l=2), "t": shoal.TCloseness(t=0.2),
    }.items():  # fmt: skip
        assert shoal.ask(data, attributes=chosen, notion=notion).answer == pytest.approx(model.measure(classes).value)
    ordered = shoal.TCloseness(t=0.2, distance="ordered").measure(classes).value
    assert shoal.ask(data, attributes=chosen, notion="t", distance="ordered").answer == pytest.approx(ordered)
    for rank in (1, 2, 3, 5):
        holds = shoal.models.RecursiveLDiversity(c=3, l=rank).holds(classes)
        lost = int(classes.sizes[~holds].sum()) / 30162
        assert shoal.ask(data, attributes=chosen, l=rank, c=3, notion="recursive-l", delta="ask").answer == lost


@pytest.fixture(scope="module")
def fourteen():
    frame = shoal.samples.adult()
    return shoal.read(frame, quasi=[name for name in frame.columns if name != "salary-class"])


def test_borders_of_fourteen_attributes(fourteen):
    every = shoal.ask(fourteen).answer
    assert len(every) == 2**14 - 1
    for k in (2, 5, 50):
        found = shoal.ask(fourteen, k=k)
        good = {frozenset(chosen) for chosen, value in every.items() if value >= k}
        assert {frozenset(chosen) for chosen in found.positive_border} == {
            chosen for chosen in good if not any(chosen < other for other in good)
        }
        assert found.calls_levelwise == len(good) + len(found.negative_border)


def test_a_third_of_the_calls_of_levelwise_search(fourteen):
    """For k = 2 to 50; the value counts of the fourteen columns are taken once, all else anew for each k."""
    rows = WeightedRows.of(fourteen.summary, shoal.KAnonymity(k=2), fourteen.schema.quasi)
    counts = Memory()
    Search(rows, 2, memory=counts).run()
    alone = {mask: level for mask, level in counts.known.items() if mask.bit_count() == 1}
    calls, levelwise, members = len(alone), 0, 0
    for k in range(2, 51):
        found = Search(rows, k, memory=Memory(dict(alone), counts.by_value)).run()
        calls += found.calls
        levelwise += found.levelwise
        members += len(found.positive) + len(found.negative)
    assert (levelwise, members) == (1389, 1133)
    assert calls <= levelwise / 3


def test_questions_about_the_same_data_share_what_they_learned(fourteen):
    answers = [shoal.ask(fourteen, k=k) for k in range(2, 51)]
    assert sum(answer.calls for answer in answers) <= sum(answer.calls_levelwise for answer in answers) / 10
    again = shoal.ask(fourteen, k=7)
    assert again.calls == 0
    assert again.negative_border == answers[5].negative_border
