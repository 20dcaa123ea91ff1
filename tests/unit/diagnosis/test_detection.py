"""Detection of roles: by form, by heading, by what singles people out; and that no value shows."""

from __future__ import annotations

import json
from itertools import combinations, permutations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.core.schema import Role
from shoal.diagnosis import contributions, detection
from shoal.errors import ParameterError, SchemaError

ROWS = 60


def table(**columns):
    return pl.DataFrame(columns)


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(5)
    return table(
        contact=[f"person{number}@example.org" for number in range(ROWS)],
        surname=[f"Family{number % 20}" for number in range(ROWS)],
        customer_no=[f"K{number:05}" for number in range(ROWS)],
        remark=[f"was seen on ward {number} and went home well" for number in range(ROWS)],
        age=rng.integers(20, 60, ROWS),
        zip=[f"{code:05}" for code in rng.integers(0, 8, ROWS)],
        flag=rng.integers(0, 2, ROWS),
        diagnosis=[("flu", "cold", "none")[number % 3] for number in range(ROWS)],
        country=["NL"] * ROWS,
        nothing=pl.Series([None] * ROWS, dtype=pl.String),
        weight=rng.normal(70, 9, ROWS),
    )


@pytest.fixture(scope="module")
def found(people):
    return shoal.detect(people)


@pytest.mark.smoke
def test_roles_and_reasons(found):
    expected = {
        "contact": ("identifier", "e-mail"), "surname": ("identifier", "heading"),
        "customer_no": ("identifier", "key of people"), "remark": ("identifier", "free text"),
        "age": ("quasi", "heading"), "zip": ("quasi", "heading"), "diagnosis": ("sensitive", "heading"),
        "country": ("plain", "same value"), "nothing": ("plain", "no value"), "weight": ("quasi", "alone"),
    }  # fmt: skip
    for column, (role, reason) in expected.items():
        assert found[column].role == role, column
        assert any(reason in text for text in found[column].reasons), column
    roles = found.roles()
    assert roles["identifiers"] == ["contact", "surname", "customer_no", "remark"]
    assert roles["sensitive"] == ["diagnosis"]


def test_suggested_roles_can_be_read(people, found):
    data = shoal.read(people, **found.roles())
    assert set(data.schema.identifiers) == set(found.roles()["identifiers"])


def test_no_value_is_shown(people, found):
    shown = json.dumps(found.as_dict()) + str(found)
    for column in ("contact", "surname", "customer_no", "remark", "zip", "diagnosis"):
        for value in people[column].unique().to_list():
            assert str(value) not in shown


def test_figures_against_their_definitions(people, found):
    for column in ("age", "zip", "flag"):
        values = people[column].to_list()
        pairs = list(combinations(values, 2))
        assert found[column].distinct == len(set(values))
        assert found[column].separation == pytest.approx(sum(a != b for a, b in pairs) / len(pairs))
        assert found[column].unique_share == sum(values.count(value) == 1 for value in values) / ROWS
        assert found[column].distinct_ratio == len(set(values)) / ROWS


def unique_share(frame, chosen):
    return (
        0.0
        if not chosen
        else frame.select(chosen).group_by(chosen).len().filter(pl.col("len") == 1).height / frame.height
    )


def test_contributions_are_shapley_values(people):
    frame = people.select("age", "zip", "flag")
    found = shoal.detect(frame)
    assert found.contributions.startswith("exact")
    expected = dict.fromkeys(frame.columns, 0.0)
    for order in permutations(frame.columns):
        for place, column in enumerate(order):
            expected[column] += (unique_share(frame, order[: place + 1]) - unique_share(frame, order[:place])) / 6
    for column, worth in expected.items():
        assert found[column].contribution == pytest.approx(worth)
    assert sum(suggestion.contribution for suggestion in found.suggestions) == pytest.approx(found.unique_share)


def test_sampled_contributions_are_close_seeded_and_said_to_be(people, monkeypatch):
    frame = people.select("age", "zip", "flag")
    exact = shoal.detect(frame)
    monkeypatch.setattr(contributions, "WORK", 1)
    monkeypatch.setattr(contributions, "FEWEST_ORDERS", 40)
    first, second = shoal.detect(frame, seed=1), shoal.detect(frame, seed=1)
    assert first.contributions.startswith("sampled, 40 orders, seed 1, standard error at most ")
    assert first == second
    for column in frame.columns:
        error = first[column].contribution_error
        assert 0 < error < 0.1
        assert abs(first[column].contribution - exact[column].contribution) < 4 * error
    assert exact["age"].contribution_error is None


def test_figures_do_not_depend_on_the_time_there_is(people):
    hurried, patient = shoal.detect(people, time_limit=0), shoal.detect(people, time_limit=None)
    assert not hurried.proven and patient.proven
    assert hurried.contributions == patient.contributions
    for column in people.columns:
        assert hurried[column].contribution == patient[column].contribution
    assert set(hurried.singling_out) <= set(patient.singling_out)


def test_one_column_that_is_almost_unique_hides_no_other(people):
    with_it = shoal.detect(people.select("age", "zip", "flag", "weight"))
    without = shoal.detect(people.select("age", "zip", "flag"))
    assert with_it.singling_out == (("weight",), *without.singling_out)
    for column in ("age", "zip", "flag"):
        assert with_it[column].contribution == without[column].contribution
    assert with_it["weight"].contribution is None and "without 1 almost unique" in with_it.contributions


def test_twins_get_the_role_of_what_they_tell():
    rng = np.random.default_rng(3)
    frame = table(age=rng.integers(20, 60, 300), flag=rng.integers(0, 2, 300)).with_columns(
        (pl.col("age") * 3 + 1).alias("code")
    )
    found = shoal.detect(frame, share=0.5)
    assert found["code"].role is Role.QUASI and "tells 'age'" in found["code"].reasons[0]
    assert found["flag"].role is Role.PLAIN


def test_an_identifier_that_repeats_counts_people():
    frame = table(patient_id=[f"P{number % 40:04}" for number in range(200)], flag=[0, 1] * 100)
    found = shoal.detect(frame)
    assert found["patient_id"].repeats == 40
    assert "repeats: 40 people, so it says whose each row is" in found["patient_id"].reasons
    assert found.as_dict()["columns"][0]["repeats"] == 40 and found["flag"].repeats is None


def test_codes_below_a_word_for_people_name_them_and_counts_do_not():
    frame = table(
        patient=[f"P{number % 40:04}" for number in range(200)], staff=[number % 30 for number in range(200)],
        Kunde=[100_000 + number % 50 for number in range(200)],
    )  # fmt: skip
    found = shoal.detect(frame)
    assert (found["patient"].repeats, found["Kunde"].repeats, found["staff"].repeats) == (40, 50, None)
    assert found["staff"].role is not Role.IDENTIFIER


def test_smallest_sets_that_single_out(people):
    frame = people.select("age", "zip", "flag")
    sets = [set(chosen) for size in (1, 2, 3) for chosen in combinations(frame.columns, size)]
    for share in (0.0, 0.2, 0.5):
        over = [chosen for chosen in sets if unique_share(frame, sorted(chosen)) > share]
        smallest = {frozenset(chosen) for chosen in over if not any(other < chosen for other in over)}
        assert {frozenset(chosen) for chosen in shoal.detect(frame, share=share).singling_out} == smallest


def test_a_column_that_cannot_be_looked_at_is_left_plain():
    frame = table(age=[1, 2, 3], many=[[1], [2], [3]])
    found = shoal.detect(frame)
    assert found["many"].role is Role.PLAIN and "list" in found["many"].reasons[0]


def test_time_limit_and_wrong_share(people):
    assert not shoal.detect(people, time_limit=0).proven
    for share in (-0.1, 1.0):
        with pytest.raises(ParameterError):
            shoal.detect(people, share=share)


def test_files_datasets_and_frames_alike(people, tmp_path):
    people.drop("weight").write_csv(tmp_path / "people.csv")
    from_file = shoal.detect(tmp_path / "people.csv")
    from_frame = shoal.detect(people.drop("weight"))
    data = shoal.read(tmp_path / "people.csv", quasi=["age"])
    assert [s.role for s in from_file.suggestions] == [s.role for s in from_frame.suggestions]
    assert shoal.detect(data) == from_file


def test_suggestions_are_iterated_counted_and_looked_up(people, found):
    assert [each.column for each in found] == people.columns and len(found) == people.width
    assert "age" in found and "nobody" not in found
    with pytest.raises(SchemaError, match="no column named 'nobody'; the table has"):
        found["nobody"]


def test_a_wide_table_takes_a_counted_amount_of_work(monkeypatch):
    rng = np.random.default_rng(7)
    wide = table(**{f"c{place}": rng.integers(0, 2 + place % 9, 200) for place in range(20)})
    monkeypatch.setattr(detection, "SETS_WORK", 200 * 250)
    once, again, longer = shoal.detect(wide), shoal.detect(wide), shoal.detect(wide, time_limit=600)
    assert once == again and not once.proven and longer.proven
    assert set(once.singling_out) < set(longer.singling_out)
    assert {each.column: each.role for each in once} == {each.column: each.role for each in longer}


def test_a_key_of_households_is_no_key_of_people():
    homes = [row // 3 for row in range(60)]
    table = pl.DataFrame({"hhid": homes, "age": [20 + row * 7 % 23 for row in range(60)], "sex": ["f", "m"] * 30})
    detection = shoal.detect(table)
    assert detection.household == "hhid" and detection.person is None
    assert detection.job_roles()["hhid"] is Role.HOUSEHOLD and detection.as_dict()["household"] == "hhid"
    assert "households" in detection["hhid"].reasons[0]
    moving = table.with_columns(patient_id=pl.Series([row % 20 for row in range(60)]))
    assert shoal.detect(moving).person == "patient_id" and shoal.detect(moving).household is None
    empty = table.with_columns(hhid=pl.when(pl.int_range(60) < 2).then(None).otherwise("hhid"))
    assert shoal.detect(empty).household is None
