"""Single columns: what names people and what does not; when a column determines another one."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.core.schema import Kind
from shoal.core.values import Values
from shoal.diagnosis.person_names import is_name
from shoal.diagnosis.single_columns import determines, is_copy, naming

ROWS = 400
NUMBERS = range(ROWS)
GIVEN = ["Anna", "Peter", "Maria", "Hans", "Ursula", "Klaus", "Sabine", "Xaver", "Lies", "Gundula"]
FAMILY = ["Huber", "Meier", "Schulz", "Gruber", "Kolb", "Ott", "Lutz", "Zorn"]
CITIES = ["Houston", "Dallas", "Austin", "Jackson", "Madison", "Lincoln", "Charlotte", "Florence", "Paris", "Ulm"]


def reasons(name, texts, kind=Kind.CATEGORICAL, present=ROWS):
    values = Values.of(name, kind, list(dict.fromkeys(texts)))
    return naming(name, values, len(values.texts), present)


NAMING = {
    "e-mails": ("contact", [f"p{number}@example.org" for number in NUMBERS]),
    "e-mails that repeat": ("contact", [f"p{number}@example.org" for number in range(30)]),
    "SSN without dashes": ("SSN", [f"{100000000 + 7919 * number}" for number in NUMBERS]),
    "given names under no heading": (
        "c3",
        ["Anna", "Peter", "Maria", "Hans", "Ursula", "Klaus", "Sabine", "Bernd", "Xaver", "Lies", "Gundula"],
    ),
    "full names": (
        "v1",
        [f"{name}, Maria" for name in ["Huber", "Meier", "Schulz", "Gruber", "Kolb", "Ott", "Lutz", "Zorn"]],
    ),
    "names with digits": ("LAST", [f"Langosh{number}" for number in NUMBERS]),
    "codes": ("contract_no", [f"K{number:05}" for number in NUMBERS]),
    "whole numbers of people": ("patient_id", [f"{number}" for number in range(50)]),
    "free text": ("remark", [f"was seen on ward {number} and went home" for number in NUMBERS]),
    "texts of their own": ("token", [f"x{number:04}y" for number in NUMBERS]),
    "phone numbers": ("c9", [f"+49 40 {100000 + 37 * number}" for number in NUMBERS]),
}
NOT_NAMING = {
    "a weight": ("fnlwgt", [f"{10000 + 131 * number}" for number in NUMBERS], Kind.NUMERIC),
    "a measurement": ("band-01", [f"0.{1234567 + 7919 * number}" for number in NUMBERS], Kind.NUMERIC),
    "a measurement read as text": ("value", [f"0.{1234567 + 7919 * number}" for number in NUMBERS]),
    "decimal commas": ("amount", [f"{number},{number % 90 + 10}" for number in NUMBERS]),
    "dates": ("seen", [f"{1 + day % 28:02}.{1 + day % 12:02}.{1980 + day // 28}" for day in NUMBERS]),
    "countries": ("country", ["Jordan", "Chad", "Georgia", "Israel", "Germany", "France", "Spain", "Italy"]),
    "colours": ("hair", ["brown", "black", "white", "gray", "green", "red"]),
    "months": ("month", ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]),
    "cities": (
        "place",
        [
            "Houston",
            "Dallas",
            "Austin",
            "Jackson",
            "Madison",
            "Lincoln",
            "Charlotte",
            "Florence",
            "Paris",
            "Berlin",
            "Ulm",
        ],
    ),
    "a flag named after a phone": ("phone", ["yes", "no"]),
    "a count of cards": ("card", ["0", "1", "2", "3"], Kind.NUMERIC),
    "codes of drugs": ("drug_code", [f"{number:08}" for number in range(30)]),
    "codes of regions": ("region_id", [f"{number}" for number in range(30)], Kind.NUMERIC),
    "ZIP codes": ("zip_code", [f"{10000 + number}" for number in NUMBERS]),
    "few records": ("letter", ["a", "b", "c", "d"]),
}


@pytest.mark.parametrize("case", NAMING)
def test_what_names_people(case):
    found = reasons(*NAMING[case])
    assert found
    assert not any(text in reason for reason in found for text in NAMING[case][1])


@pytest.mark.parametrize("case", NOT_NAMING)
def test_what_names_nobody(case):
    name, texts, *kind = NOT_NAMING[case]
    present = len(texts) if case == "few records" else ROWS
    assert reasons(name, texts, *kind, present=present) == ()


def test_names_of_many_languages():
    for name in ["O'Connor Mary", "MÜLLER", "José García", "Giulia", "Gonçalves", "de Vries", "Krzysztof", "Fatima"]:
        assert is_name(name), name
    for text in ["Hypertension", "United-States", "Never-married", "12 James", ""]:
        assert not is_name(text), text


@pytest.fixture
def draw():
    return np.random.default_rng(4)


def codes(values):
    return np.unique(values, return_inverse=True)[1].astype(np.int32)


def test_recodings_and_functions_are_found(draw):
    born = draw.integers(0, 9000, 5000)
    age = born // 365
    assert determines(codes(born), codes(age))
    assert not determines(codes(age), codes(born))
    letters = codes(draw.permutation(30)[age])
    assert determines(letters, codes(age)) and determines(codes(age), letters)


def test_a_few_damaged_cells_hide_nothing(draw):
    priors = codes(draw.geometric(0.3, 5000))
    copy = priors.copy()
    copy[draw.choice(5000, 20, replace=False)] = 0
    assert determines(copy, priors)
    copy[draw.choice(5000, 2000, replace=False)] = 0
    assert not determines(copy, priors)


def test_chance_and_correlation_are_no_function(draw):
    age = draw.integers(20, 80, 5000)
    for other in (draw.permutation(5000), draw.integers(0, 4000, 5000), age + draw.integers(0, 3, 5000), age * 0):
        assert not determines(codes(other), codes(age))
    mostly = codes((draw.random(5000) < 0.001).astype(int))
    assert not determines(codes(draw.integers(0, 3, 5000)), mostly)


def test_many_rows_are_judged_as_few_are(draw):
    born = codes(draw.integers(0, 9000, 60_000))
    assert determines(born, born // 365) and not determines(born // 365, born)


def test_copies_need_not_repeat():
    texts = [f"{number}" for number in range(12)]
    values, places = Values.of("age", Kind.NUMERIC, texts), np.arange(12, dtype=np.int32)
    assert is_copy((values, places), (values, places))
    assert not is_copy((values, places), (values, places[::-1].copy()))
    few = Values.of("flag", Kind.NUMERIC, ["0", "1"]), np.array([0, 1, 0, 1], np.int32)
    assert not is_copy(few, few)
