"""The questions: which one is asked, bad input, degenerate tables, interruption."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.core.classes import summarize
from shoal.core.run import Run
from shoal.diagnosis import borders, families, questions
from shoal.diagnosis.every_set import SetWalk
from shoal.diagnosis.weighted_rows import WeightedRows
from shoal.errors import ParameterError, SchemaError


@pytest.fixture(scope="module")
def patients():
    return shoal.read(shoal.samples.patients_eight(), quasi=["age", "gender", "zip"], sensitive=["disease"])


@pytest.mark.parametrize(
    ("given", "question"),
    [
        ({"attributes": ["age"], "k": 2}, 1), ({"attributes": ["age"]}, 2), ({"k": 2}, 3), ({}, 4),
        ({"attributes": ["age"], "k": 2, "delta": 0.1}, 5), ({"attributes": ["age"], "delta": 0.1}, 6),
        ({"k": 2, "delta": 0.1}, 7), ({"delta": 0.1}, 8), ({"attributes": ["age"], "k": 2, "delta": "ask"}, 9),
        ({"k": 2, "delta": "ask"}, 10), ({"attributes": ["age"], "delta": "ask"}, 11), ({"delta": "ask"}, 12),
    ],
)  # fmt: skip
def test_the_question_follows_from_what_is_given(given, question, patients):
    found = shoal.ask(patients, **given)
    assert found.question == question
    assert json.loads(json.dumps(found.as_dict()))["question"] == question


def test_known_answers_of_the_eight_patients(patients):
    assert shoal.ask(patients, attributes=["gender"]).answer == 2
    assert shoal.ask(patients, attributes=["gender"], notion="distinct-l").answer == 2
    assert shoal.ask(patients, attributes=["gender"], k=3, delta="ask").answer == 2 / 8
    assert shoal.ask(patients, attributes=["gender"], delta="ask").answer == ((2, 0.0), (6, 0.25))
    found = shoal.ask(patients, k=2)
    assert found.positive_border == (("gender",),)
    assert set(found.negative_border) == {("age",), ("zip",)}
    assert found.calls_brute == 7 and found.calls_levelwise == 3
    assert shoal.ask(patients).answer["gender"] == 2


def test_numbers_of_numpy_are_numbers(patients):
    found = shoal.ask(patients, attributes=["gender"], k=np.int64(3), delta=np.float32(0.25))
    assert found.answer is True and json.dumps(found.as_dict())


def test_a_forced_question_takes_the_attributes_as_the_universe(patients):
    found = shoal.ask(patients, attributes=["age", "gender"], k=2, question=3)
    assert found.attributes == ("age", "gender") and found.calls_brute == 3
    assert shoal.ask(patients, k=2, question=1).answer is False


def test_everything_suppressed_satisfies_anything(patients):
    found = shoal.ask(patients, attributes=["age"], delta=1.0)
    assert found.answer == float("inf") and found.as_dict()["answer"] == "inf"
    assert shoal.ask(patients, attributes=["age"], k=100, delta=1.0).answer is True
    assert shoal.ask(patients, attributes=["age"], notion="t", delta=1.0).answer == 0.0


@pytest.mark.parametrize(
    "given",
    [
        {"k": 0}, {"k": -1}, {"k": 2.5}, {"k": True}, {"l": 0}, {"l": 0.5, "notion": "entropy-l"},
        {"l": 1.5, "notion": "distinct-l"}, {"l": float("nan")}, {"t": -0.1}, {"t": 1.1}, {"delta": -0.1},
        {"delta": 1.01}, {"delta": "all"}, {"l": 2, "notion": "recursive-l"}, {"l": 2, "notion": "recursive-l", "c": 0},
        {"l": 2, "notion": "recursive-l", "c": -1}, {"k": 2, "c": 3}, {"k": 2, "l": 2}, {"k": 2, "notion": "t"},
        {"notion": "m"}, {"t": 0.2, "distance": "far"}, {"k": 2, "distance": "ordered"}, {"question": 13},
        {"question": 0}, {"question": 3}, {"question": 5, "k": 2}, {"question": 4, "k": 2},
        {"question": 1, "k": 2, "delta": 0.1}, {"attributes": []}, {"k": 2, "time_limit": -1},
    ],
    ids=str,
)  # fmt: skip
def test_parameters_out_of_range(given, patients):
    with pytest.raises(ParameterError):
        shoal.ask(patients, **given)


def test_columns_that_do_not_fit(patients):
    with pytest.raises(SchemaError, match="'agee'"):
        shoal.ask(patients, attributes=["agee"], k=2)
    with pytest.raises(SchemaError, match="'disease'"):
        shoal.ask(patients, attributes=["disease"], k=2)
    with pytest.raises(SchemaError, match="given twice"):
        shoal.read(shoal.samples.patients_eight(), quasi=["age", "disease"], sensitive=["disease"])
    plain = shoal.read(shoal.samples.patients_eight(), quasi=["age"])
    with pytest.raises(SchemaError, match="sensitive"):
        shoal.ask(plain, l=2)


def test_more_than_63_columns_are_refused_for_sets_and_63_are_not():
    rng = np.random.default_rng(1)
    names = [f"c{position}" for position in range(64)]
    frame = pl.DataFrame({name: rng.integers(0, 2, 40) for name in names})
    data = shoal.read(frame, quasi=names)
    with pytest.raises(ParameterError, match="63"):
        shoal.ask(data, k=2)
    assert shoal.ask(data, attributes=names).answer == 1
    assert shoal.ask(data, attributes=names, k=2, delta="ask").answer == 1.0
    found = shoal.ask(data, attributes=names[:63], question=3, k=30)
    assert found.proven and not found.positive_border and len(found.negative_border) == 63
    with pytest.raises(ParameterError, match="at most 20"):
        shoal.ask(data, attributes=names[:21], question=4)
    with pytest.raises(ParameterError, match="at most 16"):
        shoal.ask(data, attributes=names[:17], question=12)


def test_constant_unique_and_missing_columns():
    frame = pl.DataFrame(
        {
            "constant": [1] * 6,
            "unique": list(range(6)),
            "missing": pl.Series([None] * 6, dtype=pl.String),
            "pair": [1, 1, 2, 2, 3, 3],
        }
    )
    data = shoal.read(frame, quasi=frame.columns)
    found = shoal.ask(data, k=2)
    assert found.positive_border == (("constant", "missing", "pair"),)
    assert found.negative_border == (("unique",),)
    assert shoal.ask(data).answer["constant", "missing"] == 6
    assert shoal.ask(data, k=7).positive_border == ()
    assert shoal.ask(data, k=1).negative_border == ()
    assert shoal.ask(data, k=1).positive_border == (("constant", "unique", "missing", "pair"),)


def wide(rows=400, columns=20, seed=3):
    rng = np.random.default_rng(seed)
    names = [f"c{position}" for position in range(columns)]
    return names, summarize(
        names, [rng.integers(0, 2 + position % 3, rows).astype(np.int32) for position in range(columns)], [5] * columns
    )


class Patient(Run):
    """A run whose time is up after so many looks at the clock."""

    def __init__(self, looks):
        super().__init__()
        self.looks = looks

    @property
    def expired(self):
        self.looks -= 1
        return self.looks < 0


def test_what_is_proven_when_time_is_up_is_true():
    names, classes = wide()
    rows = WeightedRows.of(classes, shoal.KAnonymity(k=2), names)
    whole = borders.Search(rows, 5).run()
    good, bad = set(whole.positive), set(whole.negative)
    assert whole.proven and not whole.open
    for limit in (0, 1, 25, 60, 200, 500):
        found = borders.Search(rows, 5, watch=Patient(limit)).run()
        assert not found.proven or limit == 500
        assert set(found.positive) <= good
        assert set(found.negative) <= bad
        for mask in found.bad:
            assert any(minimal & ~mask == 0 for minimal in bad)
        for maximal in good - set(found.positive):
            assert any(maximal & ~candidate == 0 for candidate in found.open)


def test_both_ways_of_searching_find_the_same_borders(monkeypatch):
    names, classes = wide(columns=12)
    rows = WeightedRows.of(classes, shoal.KAnonymity(k=2), names)
    above = borders.Search(rows, 4).run()
    monkeypatch.setattr(borders, "WIDE", 0)
    below = borders.Search(rows, 4).run()
    assert above.positive == below.positive and above.negative == below.negative
    assert above.scans > 0 and below.scans == 0
    assert above.levelwise == below.levelwise


def test_searches_share_what_they_learned():
    names, classes = wide(columns=10)
    rows = WeightedRows.of(classes, shoal.KAnonymity(k=2), names)
    memory = borders.Memory()
    alone, shared = 0, 0
    for k in range(2, 12):
        found, fresh = borders.Search(rows, k, memory=memory).run(), borders.Search(rows, k).run()
        assert (found.positive, found.negative) == (fresh.positive, fresh.negative)
        alone, shared = alone + fresh.calls, shared + found.calls
    assert shared < alone / 3


def test_an_interrupted_search_and_walk_keep_what_they_have(patients):
    def interrupt(done, doing):
        raise KeyboardInterrupt

    found = shoal.ask(patients, k=2, run=Run(interrupt))
    assert not found.proven
    partial = shoal.ask(patients, run=Run(interrupt))
    assert not partial.proven and 0 < len(partial.answer) < 7
    assert shoal.ask(patients, k=2, time_limit=0).proven is False
    assert shoal.ask(patients, time_limit=0).answer == {}


def test_the_size_of_a_theory():
    assert families.subsets(()) == 0
    assert families.subsets((0b111,)) == 7
    assert families.subsets((0b0111, 0b1110)) == 7 + 7 - 3
    assert families.subsets(tuple(1 << position for position in range(40))) == 40


def test_walk_visits_every_set_once():
    names, classes = wide(rows=60, columns=6)
    rows = WeightedRows.of(classes, shoal.KAnonymity(k=2), names)
    walked = SetWalk(rows, lambda partitions, sizes, levels: len(sizes), False, Run()).run()
    assert sorted(walked.values) == list(range(1, 64))
    for mask, count in walked.values.items():
        assert count == len(np.unique(rows.columns[[j for j in range(6) if mask >> j & 1]], axis=1).T)


def test_every_question_has_words():
    assert questions.WORDS.keys() == questions.TABLE.keys() == set(range(1, 13))


@pytest.mark.parametrize("seed", [9, 25, 30, 39])
def test_a_witness_of_diversity_may_remove_candidates_that_it_does_not_refute(seed):
    # A class can be diverse by a set and not by a smaller one, which then takes candidates away that came before.
    generator = np.random.default_rng(seed)
    names = [f"q{position}" for position in range(8)]
    columns = [generator.integers(0, 2 + position % 3, 120).astype(np.int32) for position in range(8)]
    sensitive = generator.integers(0, 5, 120).astype(np.int32)
    classes = summarize(names, columns, [5] * 8, [("s", sensitive, 5, None)])
    model = shoal.FrequencyLDiversity(l=2)
    found = questions.ask(classes, model, names, question=3, bound=2.0)
    levels = questions.ask(classes, model, names, question=4).answer
    good = {frozenset(chosen) for chosen, level in levels.items() if level >= 2}
    assert {frozenset(chosen) for chosen in found.positive_border} == {
        chosen for chosen in good if not any(chosen < other for other in good)
    }


def test_a_model_that_also_wants_records_is_refuted_by_its_smallest_class():
    """Every class of both columns together has a value; two of them have too few records, which no scan for values
    would see."""
    frame = pl.DataFrame({"zip": list("aaaabbbb"), "sex": list("xxxyxyyy"), "disease": ["flu"] * 8})
    data = shoal.read(frame, quasi=["zip", "sex"], sensitive=["disease"])
    found = shoal.ask(data, notion=shoal.models.PSensitiveKAnonymity(p=1, k=3), time_limit=240)
    assert found.proven and found.positive_border == (("zip",), ("sex",))
    assert found.negative_border == (("zip", "sex"),)
    whole = ["zip", "sex"]
    assert shoal.ask(data, attributes=whole, notion=shoal.models.PSensitiveKAnonymity(p=1, k=3), question=2).answer == 0
    assert shoal.ask(data, attributes=whole, notion=shoal.models.PSensitiveKAnonymity(p=1, k=1), question=2).answer == 1


def test_a_strict_schema_counts_in_every_question():
    """Everyone with one other value has one disease: the class has two, and whoever knows the other value learns it."""
    frame = pl.DataFrame({"zip": list("aabb"), "drug": list("xyxy"), "disease": ["flu", "hiv", "flu", "hiv"]})
    for strict, level in ((False, 2), (True, 1)):
        data = shoal.read(frame, quasi=["zip"], sensitive=["drug", "disease"], protect_jointly=strict)
        model = shoal.DistinctLDiversity(l=2, column="disease")
        assert model.measure(data.summary).value == level
        assert shoal.ask(data, attributes=["zip"], notion="distinct-l", sensitive="disease").answer == level
        found = shoal.ask(data, attributes=["zip"], notion=model)
        assert found.answer is (level == 2) and found.contexts == (() if level == 2 else ("drug",))
        assert shoal.ask(data, l=2, sensitive="disease").positive_border == ((("zip",),) if level == 2 else ())


def test_ties_of_recursive_diversity_are_the_models_ties():
    """3 of 30 with c = 0.1 is a tie, which 0.1 times 30 is not in binary."""
    frame = pl.DataFrame({"zip": ["a"] * 30, "disease": [f"d{place // 3}" for place in range(30)]})
    data = shoal.read(frame, quasi=["zip"], sensitive=["disease"])
    assert not shoal.models.RecursiveLDiversity(c=0.1, l=1).holds(data.summary).any()
    assert shoal.ask(data, attributes=["zip"], notion="recursive-l", c=0.1, l=1).answer is False


def test_any_model_can_be_asked(patients):
    by_name = shoal.ask(patients, attributes=["gender"], notion="beta-likeness", bound=2.0)
    by_model = shoal.ask(patients, attributes=["gender"], notion=shoal.models.BetaLikeness(beta=2.0))
    by_text = shoal.ask(patients, attributes=["gender"], notion="beta-likeness:beta=2.0")
    assert by_name == by_model == by_text and by_name.question == 1
    assert by_name.words == "does {gender} have beta ≤ 2?"
    level = shoal.ask(patients, attributes=["gender"], notion="beta-likeness").answer
    assert level == shoal.models.BetaLikeness(beta=1).measure(patients.summary.select(["gender"])).value
    assert (
        shoal.ask(patients, attributes=["gender"], notion=shoal.models.BetaLikeness(beta=9), question=2).answer == level
    )
    assert shoal.ask(patients, attributes=["gender"], notion=shoal.models.BetaLikeness(beta=9), bound=2.0) == by_name
    assert shoal.ask(patients, notion="t-closeness", t=0.9).notion == "t"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"notion": "beauty"}, "beta-likeness.*k-map"),
        ({"notion": "alpha-k-anonymity", "bound": 0.5}, "also needs k.*shoal.models.AlphaKAnonymity"),
        ({"notion": "inference-l", "bound": 2}, "InferenceL cannot be asked about sets.*judges all classes"),
        ({"notion": "beta-likeness", "k": 2}, "bounded by beta"),
        ({"notion": "beta-likeness", "bound": -1.0}, "beta"),
        ({"notion": "beta-likeness", "bound": 1.0, "c": 2.0}, "no parameter 'c'"),
        ({"notion": shoal.models.RecursiveLDiversity(c=2, l=2), "c": 3.0}, "its own parameters"),
        ({"notion": shoal.DistinctLDiversity(l=2, column="disease"), "sensitive": "age"}, "name one"),
        ({"k": 2, "bound": 3}, "not both"),
    ],
)
def test_what_cannot_be_asked_and_why(given, message, patients):
    with pytest.raises(ParameterError, match=message):
        shoal.ask(patients, **given)


def test_a_model_that_merging_breaks_can_be_asked_about_one_set(patients):
    level = shoal.models.InferenceL(l=1).measure(patients.summary.select(["gender"])).value
    assert shoal.ask(patients, attributes=["gender"], notion="inference-l").answer == level


def test_under_a_strict_schema_an_attribute_can_save_records_of_any_diversity():
    """One person alone has drug x: the whole class is lost, unless an attribute tells that person apart."""
    frame = pl.DataFrame(
        {
            "one": ["a"] * 6,
            "two": list("pqqqqq"),
            "drug": list("xyyyyy"),
            "disease": ["flu", *["flu", "hiv"] * 2, "flu"],
        }
    )
    data = shoal.read(frame, quasi=["one", "two"], sensitive=["drug", "disease"], protect_jointly=True)
    found = shoal.ask(data, l=2, delta=0.2, sensitive="disease")
    assert not found.monotone
    assert (found.positive_border, found.negative_border) == ((("one", "two"),), (("one",),))
