"""kACTUS: every group is large enough, nobody is lost, and only the literal output claims nothing."""

import json

import numpy as np
import polars as pl
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import InfeasibleError, InputError, ParameterError

TEN = ["age", "sex", "thal"]


def published(release, *names):
    return sorted(release.frame.select(*names).rows())


def test_the_ten_rows_of_the_worked_example():
    data = shoal.read(shoal.samples.heart_ten(), quasi=TEN)
    release = shoal.anonymize(data, shoal.KAnonymity(k=5), algorithm="kactus:target=class,smallest=1", seed=1)
    assert published(release, *TEN) == [("[56-63]", "[0-1]", "[6-7]")] * 5 + [("[64-74]", "[0-1]", "[3-7]")] * 5
    by_path = shoal.anonymize(data, shoal.KAnonymity(k=5), algorithm="kactus:target=class,smallest=1,recode=path")
    assert published(by_path, *TEN) == [("[56-63]", "*", "*")] * 5 + [("[64-74]", "*", "*")] * 5


def test_the_literal_output_has_to_be_allowed_and_claims_nothing(tmp_path):
    data = shoal.read(shoal.samples.heart_ten(), quasi=["age", "sex", "resting-blood-pressure"])
    literal = "kactus:target=class,smallest=1,recode=literal"
    with pytest.raises(ParameterError, match="allow_unverified"):
        shoal.anonymize(data, shoal.KAnonymity(k=5), algorithm=literal)
    release = shoal.anonymize(data, shoal.KAnonymity(k=5), algorithm=literal, seed=1, allow_unverified=True)
    rows = release.frame.select("age", "sex", "resting-blood-pressure", "class").rows()
    original = shoal.samples.heart_ten().select("age", "sex", "resting-blood-pressure", "class").rows()
    hidden = [row for row in rows if row[0] == "*"]
    assert sorted(row[3] for row in hidden) == ["absent"] * 4 + ["present"] and {row[:3] for row in hidden} == {
        ("*",) * 3
    }
    assert {tuple(map(str, row)) for row in rows if row[0] != "*"} <= {tuple(map(str, row)) for row in original}
    assert len(rows) == 10 and not release.claims
    release.write(tmp_path / "out.csv")
    stated = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert stated["unverified"] == {"k": 1} and stated["policy"]["models"] == []
    assert {finding.name for finding in shoal.verify(tmp_path / "out.csv")} >= {"unchanged", "published"}
    stated["policy"]["models"] = [{"name": "k-anonymity", "k": 5}]
    (tmp_path / "out.csv.manifest.json").write_text(json.dumps(stated))
    with pytest.raises(InputError, match="not verified"):
        shoal.verify(tmp_path / "out.csv")


def test_the_papers_perturbation_is_the_split_value_plus_half_the_value(tmp_path):
    """k = 6 is more than either side of the first split has, and nothing may be lent."""
    quasi = ["age", "sex", "resting-blood-pressure"]
    table = shoal.samples.heart_ten()
    data = shoal.read(table, quasi=quasi)
    method = "kactus:target=class,smallest=1,crossover=0,recode=perturbed"
    with pytest.raises(ParameterError, match="allow_unverified"):
        shoal.anonymize(data, shoal.KAnonymity(k=6), algorithm=method)
    release = shoal.anonymize(data, shoal.KAnonymity(k=6), algorithm=method, seed=1, allow_unverified=True)
    assert release.recoding.facts["perturbed"] == 10 and not release.claims
    wanted = [
        (f"{63 + age / 2:g}", "*", "*", label) if age <= 63 else ("*", "*", f"{128 + pressure / 2:g}", label)
        for age, pressure, label in table.select("age", "resting-blood-pressure", "class").rows()
    ]
    assert published(release, *quasi, "class") == sorted(wanted)
    assert ("*", "*", "185.5", "absent") in wanted  # a pressure of 115 at the split value of 128
    release.write(tmp_path / "out.csv")
    assert shoal.verify(tmp_path / "out.csv").holds
    stated = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert stated["policy"]["models"] == [] and stated["unverified"] == {"k": 1}


def test_whoever_has_no_value_of_a_number_that_is_split_on_is_hidden():
    ages = [*range(20, 26), *range(40, 46), *range(60, 66), None]
    table = pl.DataFrame({"age": ages, "ill": ["yes"] * 6 + ["no"] * 6 + ["yes"] * 7})
    method = "kactus:target=ill,smallest=1,crossover=0,confidence=0.5,recode=perturbed"
    release = shoal.anonymize(
        shoal.read(table, quasi=["age"]), shoal.KAnonymity(k=14), algorithm=method, seed=1, allow_unverified=True
    )
    wanted = ["*" if age is None else f"{(25 if age <= 25 else 45) + age / 2:g}" for age in ages]
    assert sorted(release.frame["age"]) == sorted(wanted)


def three_towns(pure, small):
    """Two large towns, one of which is pure in the target, and a small one, in which nobody is ill."""
    towns = {"pure": (pure, 0), "mixed": (12, 4), "small": (0, small)}
    rows = [(town, ill) for town, (yes, no) in towns.items() for ill in ["yes"] * yes + ["no"] * no]
    return pl.DataFrame(rows, schema=["town", "ill"], orient="row")


@pytest.mark.parametrize("donor", ["entropy", "random"])
def test_the_purest_sibling_lends(donor):
    """One record is lent to the small town, and all of them are then published as one group."""
    lenders = set()
    for seed in range(8):
        data = shoal.read(three_towns(10, 3), quasi=["town"])
        release = shoal.anonymize(
            data, shoal.KAnonymity(k=4), algorithm=f"kactus:target=ill,smallest=1,recode=path,donor={donor}", seed=seed
        )
        assert release.recoding.facts["lent"] == 1
        left = dict(release.frame.group_by("town").len().rows())
        assert left["*"] == 4
        lenders.add("pure" if left["pure"] == 9 else "mixed")
    assert lenders == ({"pure"} if donor == "entropy" else {"pure", "mixed"})


@pytest.mark.parametrize("pure, lender", [(14, "pure"), (13, "mixed")])
def test_the_purest_sibling_lends_only_if_it_can_lend_all(pure, lender):
    """Four are needed; a pure town of 13 can spare three."""
    data = shoal.read(three_towns(pure, 6), quasi=["town"])
    method = "kactus:target=ill,smallest=1,recode=path"
    release = shoal.anonymize(data, shoal.KAnonymity(k=10), algorithm=method, seed=1)
    wanted = {"pure": pure, "mixed": 16, "*": 10}
    wanted[lender] -= 4
    assert dict(release.frame.group_by("town").len().rows()) == wanted


def test_a_tree_over_all_columns_generalizes_quasi_identifiers_alone():
    """The class follows from a column that is none: the tree splits on it, and the region stays whole."""
    table = shoal.samples.heart_statlog()
    quasi = ["age", "sex", "resting-blood-pressure"]
    data = shoal.read(table, quasi=quasi)
    found = {}
    for grow in ("quasi", "all"):
        release = shoal.anonymize(data, "k-anonymity:k=5", algorithm=f"kactus:target=class,grow={grow}", seed=1)
        assert release.frame.group_by(quasi).len()["len"].min() >= 5 and release.frame.height == 270
        others = [name for name in table.columns if name not in quasi]
        assert sorted(release.frame.select(others).rows()) == sorted(table.select(others).rows())
        found[grow] = release.recoding.facts
    assert found["all"]["leaves"] > found["quasi"]["leaves"]


@settings(max_examples=count(11, 40), deadline=None)
@given(st.data())
def test_whatever_the_tree_every_group_is_large_enough_and_nobody_is_lost(data):
    n = data.draw(st.integers(6, 60))
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    k = data.draw(st.integers(1, n // 2))
    table = pl.DataFrame(
        {
            "age": random.integers(0, 12, n).tolist(),
            "town": random.choice(["a", "b", "c", None], n).tolist(),
            "weight": [None if random.random() < 0.1 else float(value) for value in random.normal(size=n).round(1)],
            "ill": random.choice(["yes", "no", "maybe"], n).tolist(),
            "cost": random.integers(0, 9, n).tolist(),
        }
    )
    if table["ill"].n_unique() < 2:
        return
    opened = shoal.read(table, quasi=["age", "town", "weight"], sensitive=["ill"])
    recode = data.draw(st.sampled_from(["hull", "path"]))
    method = shoal.algorithms.Kactus(
        recode=recode, smallest=1, confidence=0.5, crossover=data.draw(st.sampled_from([0, 0.5, 1])),
        grow=data.draw(st.sampled_from(["quasi", "all"])), donor=data.draw(st.sampled_from(["entropy", "random"])),
    )  # fmt: skip
    release = shoal.anonymize(opened, shoal.KAnonymity(k=k), algorithm=method, seed=data.draw(st.integers(0, 99)))
    sizes = release.frame.group_by("age", "town", "weight").len()["len"]
    assert sizes.min() >= k and len(release.frame) == n
    assert sorted(release.frame["ill"]) == sorted(table["ill"])


def test_a_sensitive_target_asks_for_a_model_or_says_what_is_told():
    data = shoal.read(shoal.samples.heart_ten(), quasi=TEN, sensitive=["class"])
    alone = shoal.anonymize(data, shoal.KAnonymity(k=5), algorithm="kactus:smallest=1", seed=1)
    assert alone.recoding.facts["target-guessed"] == 0.9 and alone.recoding.facts["target-guessed-without"] == 0.6
    both = shoal.anonymize(
        data, shoal.KAnonymity(k=5), shoal.DistinctLDiversity(l=2), algorithm="kactus:smallest=1", seed=1
    )
    assert "target-guessed" not in both.recoding.facts
    assert both.frame.group_by(TEN).agg(pl.col("class").n_unique())["class"].min() == 2


def test_a_release_is_as_good_for_a_classifier_as_the_paper_says():
    table = shoal.samples.heart_statlog()
    quasi = ["age", "sex", "resting-blood-pressure"]
    data = shoal.read(table, quasi=quasi)
    release = shoal.anonymize(data, shoal.KAnonymity(k=10), algorithm="kactus:target=class", seed=1)
    from shoal.learners.c45 import C45
    from shoal.utility.learning import cross_validated

    found = cross_validated(C45(), release.frame.drop("class"), release.frame["class"])
    assert found > 0.72  # 75.55 % in the paper, 76.67 % in the original


@pytest.mark.parametrize(
    "method, reason",
    [
        ("kactus", "needs the target"),
        ("kactus:target=age", "quasi-identifier"),
        ("kactus:target=nothing", "no column"),
        ("kactus:target=one", "one value only"),
        ("kactus:target=class,recode=path,refine=true", "recode=hull"),
    ],
)
def test_what_makes_no_sense_is_refused(method, reason):
    data = shoal.read(shoal.samples.heart_ten().with_columns(one=pl.lit("x")), quasi=TEN)
    with pytest.raises(shoal.errors.ShoalError, match=reason):
        shoal.anonymize(data, shoal.KAnonymity(k=5), algorithm=method)


def test_a_target_of_very_many_values_is_refused():
    table = pl.DataFrame({"age": list(range(300)), "income": [float(value) for value in range(300)]})
    data = shoal.read(table, quasi=["age"], sensitive=["income"])
    with pytest.raises(ParameterError, match="has 300 values"):
        shoal.anonymize(data, shoal.KAnonymity(k=5), algorithm="kactus")


@pytest.mark.parametrize("recode", ["hull", "path"])
def test_people_count_not_their_records(recode):
    """Each leaf of the tree has enough records, of too few people."""
    random = np.random.default_rng(1)
    table = pl.DataFrame(
        {
            "who": [f"p{place // 4}" for place in range(160)],
            "copy": [f"p{place // 4}" for place in range(160)],
            "age": [20 + 5 * (place // 16) for place in range(160)],
            "town": random.choice(["a", "b"], 160).tolist(),
            "ill": ["yes" if place // 16 % 2 else "no" for place in range(160)],
        }
    )
    data = shoal.read(table, quasi=["age", "town"], sensitive=["ill"], person="who")
    method = shoal.algorithms.Kactus(recode=recode, smallest=1)
    release = shoal.anonymize(data, shoal.KAnonymity(k=6), algorithm=method, seed=1, allow_plain=["copy"])
    assert release.recoding.facts["mergers"] > 0  # groups of at least six records had fewer people
    assert release.suppressed == 0
    people = release.frame.group_by("age", "town").agg(pl.col("copy").n_unique())
    assert people["copy"].min() >= 6 and len(people) > 1 and len(release.frame) == 160


@pytest.mark.parametrize("recode", ["hull", "path"])
def test_numbers_that_are_stored_as_text_are_numbers(recode):
    table = shoal.samples.heart_ten()
    found = [
        published(shoal.anonymize(shoal.read(each, quasi=TEN), "k-anonymity:k=5", seed=1,
                                  algorithm=f"kactus:target=class,smallest=1,recode={recode}"), *TEN)
        for each in (table, table.with_columns(pl.col(TEN).cast(pl.String)))
    ]  # fmt: skip
    assert found[0] == found[1]


@pytest.mark.parametrize("recode", ["hull", "path", "literal"])
def test_a_k_above_the_number_of_records_is_refused(recode):
    data = shoal.read(shoal.samples.heart_ten(), quasi=TEN)
    with pytest.raises(InfeasibleError):
        shoal.anonymize(
            data, shoal.KAnonymity(k=11), algorithm=f"kactus:target=class,recode={recode}", allow_unverified=True
        )


@pytest.mark.parametrize("recode", ["hull", "path"])
def test_a_quasi_identifier_that_equals_the_class(recode):
    table = shoal.samples.heart_ten().with_columns(twin=pl.col("class"))
    data = shoal.read(table, quasi=["twin", "age"])
    method = f"kactus:target=class,smallest=1,recode={recode}"
    release = shoal.anonymize(data, shoal.KAnonymity(k=4), algorithm=method, seed=1)
    assert release.frame.group_by("twin", "age").len()["len"].min() >= 4
    apart = release.frame.filter(pl.col("twin") != "*")
    assert (apart["twin"] == apart["class"]).all() and len(apart) >= 4


def test_what_is_not_verified_states_its_k_in_people():
    table = pl.DataFrame(
        {"age": [30, 30, 30, 50, 50, 50] * 2, "who": ["a", "a", "a", "b", "c", "d"] * 2, "ill": list("yyynnn") * 2}
    )
    stated = {}
    for person in (None, "who"):
        data = shoal.read(table if person else table.drop("who"), quasi=["age"], person=person)
        release = shoal.anonymize(
            data, shoal.KAnonymity(k=1), algorithm="kactus:target=ill,recode=literal", seed=1, allow_unverified=True
        )
        stated[person] = release.provenance["unverified"]["k"]
    assert stated == {None: 6, "who": 1}


@pytest.mark.parametrize("delta", [0.7, 1.0])
@pytest.mark.parametrize("suppression", [0.0, 0.3])
def test_regions_that_look_alike_keep_the_policy_together(delta, suppression):
    """Two regions with the same labels are one class to whoever reads the release."""
    table = pl.DataFrame(
        {
            "ward": ["z", None, "x", "y", "y", None, "x", "z", "z", "y", "x", "z", "x", "z"],
            "age": [20, 26, 47, 42, 47, 26, 45, 52, 57, 39, 37, 24, 49, 47],
            "ill": [*"qrqrprrprprrqr"],
        }
    )
    data = shoal.read(table, quasi=["ward", "age"], sensitive=["ill"])
    method = "kactus:target=ill,recode=path,crossover=0.0,smallest=1.0,confidence=0.5"
    try:
        release = shoal.anonymize(
            data, f"delta-disclosure:delta={delta},strict=false", shoal.KAnonymity(k=2), algorithm=method,
            suppression=suppression, seed=39, rows_are_people=True,
        )  # fmt: skip
    except InfeasibleError:
        assert delta < 1
    else:
        assert release.verify(release.policy).holds
