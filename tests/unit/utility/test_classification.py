"""What classifiers learn from a release, and what they are compared with."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from counts import LONG

import shoal
from shoal.api.learning import learner
from shoal.errors import ParameterError, SchemaError
from shoal.utility.classification import LabelledRecords, accuracy_on, majority, of_dataset, of_release, ten_fold
from shoal.utility.learning import cross_validated, person_folds

LEARNERS = ["decision-stump", "c45", "naive-bayes", "sklearn.tree.DecisionTreeClassifier:max_depth=3"]


def plain(table: pl.DataFrame) -> list[str]:
    return [name for name in table.columns if name not in ("age", "sex")]


@pytest.fixture(scope="module")
def heart() -> pl.DataFrame:
    return shoal.samples.heart_statlog()


@pytest.fixture(scope="module")
def data(heart) -> shoal.Dataset:
    return shoal.read(heart, quasi=["age", "sex", "resting-blood-pressure"])


@pytest.fixture(scope="module")
def release(data) -> shoal.Release:
    return shoal.anonymize(data, "k-anonymity:k=5", algorithm="mondrian", seed=1)


@pytest.mark.parametrize("name", ["decision-stump", "c45", "naive-bayes"])
def test_ten_fold_is_what_the_learners_have_on_the_frame(data, release, name):
    """`cross_validated` equals WEKA; the evaluation deals the same folds of the same rows."""
    frame = release.frame
    wanted = cross_validated(learner(name)[1], frame.drop("class"), frame["class"])
    found = shoal.evaluate(data, release, "gcp", target="class", learners=[name])[f"accuracy-{name}"]
    assert found.value == wanted
    shares = frame["class"].value_counts()["count"]
    assert found.baselines["majority"] == pytest.approx(shares.max() / len(frame))
    assert found.baselines["original"] > found.baselines["majority"]


def test_a_classifier_of_scikit_learn_by_its_path_or_as_an_object(data, release):
    from sklearn.tree import DecisionTreeClassifier

    by_path = shoal.evaluate(data, release, "gcp", target="class", learners=[LEARNERS[3]])
    as_object = shoal.evaluate(data, release, "gcp", target="class", learners=[DecisionTreeClassifier(max_depth=3)])
    assert by_path["accuracy-DecisionTreeClassifier"] == as_object["accuracy-DecisionTreeClassifier"]


def test_scikit_learn_sees_names_as_columns_and_numbers_as_numbers():
    from sklearn.linear_model import LogisticRegression

    generator = np.random.default_rng(1)
    number, name = generator.normal(size=200), generator.choice(["a", "b", "c"], 200)
    labels = np.where((number > 0) ^ (name == "b"), "yes", "no")
    records = LabelledRecords({"number": number.tolist(), "name": name.tolist()}, labels.tolist())
    matrix = np.column_stack([(number - number.mean()) / number.std(), *(name == value for value in "abc")])
    model = LogisticRegression(random_state=1).fit(matrix, labels)
    assert accuracy_on(learner(LogisticRegression())[1], records, records) == pytest.approx(model.score(matrix, labels))


def test_held_out_records_are_recoded_like_the_release(heart, tmp_path):
    data = shoal.read(heart[:200], quasi=["age", "sex", "resting-blood-pressure"])
    release = shoal.anonymize(data, "k-anonymity:k=5", algorithm="mondrian", seed=1)
    release.write(tmp_path / "out.csv")
    heart[200:].write_csv(tmp_path / "held.csv")
    found, second = {}, "c45" if LONG else "decision-stump"
    for name, given in {"made": release, "file": tmp_path / "out.csv"}.items():
        found[name] = shoal.evaluate(
            data, given, "gcp", target="class", learners=["naive-bayes", second], held_out=tmp_path / "held.csv"
        )
    for each in ("accuracy-naive-bayes-held-out", f"accuracy-{second}-held-out"):
        assert found["made"][each] == found["file"][each]
        assert 0.5 < found["made"][each].value <= 1
    own = learner("naive-bayes")[1].fit(heart[:200].drop("class"), heart[:200]["class"])
    score = own.score(heart[200:].drop("class"), heart[200:]["class"])
    assert found["made"]["accuracy-naive-bayes-held-out"].baselines["original"] == pytest.approx(score)


def test_records_of_the_table_itself_are_recoded_as_they_were_published(data, release, heart):
    """Where classes do not overlap, the rule gives back what is published."""
    from shoal.publishing.reusable_recoding import ReusableRecoding

    keys = np.repeat(data.summary.keys, data.summary.sizes, axis=1)
    again = sorted(
        zip(*(texts.tolist() for texts in ReusableRecoding.shown_by(release).labels(data, keys)), strict=True)
    )
    shown = release.frame.select(data.schema.quasi).cast(pl.String).rows()
    assert again == sorted(shown)


def test_nobody_is_on_both_sides_of_a_fold():
    generator = np.random.default_rng(3)
    people, labels = generator.integers(0, 60, 400), generator.integers(0, 3, 400)
    asked = []
    for training, test in person_folds(labels, people):
        assert not set(people[training]) & set(people[test])
        assert len(training) + len(test) == 400
        asked += test.tolist()
    assert sorted(asked) == list(range(400))


def test_people_are_kept_together_or_the_figure_is_refused(heart):
    table = heart.with_row_index("row").with_columns((pl.col("row") // 3).alias("who")).drop("row")
    data = shoal.read(table, quasi=["age", "sex"], person="who")
    release = shoal.anonymize(data, "k-anonymity:k=3", algorithm="mondrian", seed=1, allow_plain=plain(heart))
    found = shoal.evaluate(data, release, "gcp", target="class")["accuracy-decision-stump"]
    assert found.value is None and "whose" in found.how
    named = shoal.anonymize(
        data, "k-anonymity:k=3", algorithm="mondrian", seed=1, pseudonyms=shoal.Pseudonyms(), allow_plain=plain(heart)
    )
    found = shoal.evaluate(data, named, "gcp", target="class")["accuracy-decision-stump"]
    assert 0.5 < found.value <= 1
    assert of_release(named, "class", ()).people is not None


def test_bad_targets(data, release, heart):
    with pytest.raises(SchemaError, match="clas"):
        shoal.evaluate(data, release, "gcp", target="clas")
    wide = heart.with_row_index("row").with_columns(pl.lit("x").alias("same"))
    odd = shoal.read(wide, quasi=["age", "sex"])
    made = shoal.anonymize(
        odd, "k-anonymity:k=3", algorithm="mondrian", seed=1, allow_plain=[*plain(heart), "row", "same"]
    )
    with pytest.raises(ParameterError, match="nothing to predict"):
        shoal.evaluate(odd, made, "gcp", target="same")
    with pytest.raises(ParameterError, match="nearly one each"):
        shoal.evaluate(odd, made, "gcp", target="row")


def test_bad_learners(data, release):
    for given in ("c46", "sklearn.svm.Nothing", "os.path", "sklearn.linear_model.LinearRegression", "c45:size=3", 7):
        with pytest.raises(ParameterError):
            shoal.evaluate(data, release, "gcp", target="class", learners=[given])
    with pytest.raises(ParameterError, match="target"):
        shoal.evaluate(data, release, "gcp", held_out="held.csv")


def test_a_form_that_does_not_tell_the_class(heart):
    table = heart.select("age", "sex", "class")
    data = shoal.read(table, quasi=["age", "sex"], sensitive=["class"])
    release = shoal.anonymize(data, "frequency-l-diversity:l=2", algorithm="anatomy", seed=1, suppression=0.2)
    found = shoal.evaluate(data, release, "suppression-share", target="class")["accuracy-decision-stump"]
    assert found.value is None and "which record" in found.how


def test_without_columns_the_most_frequent_class_is_guessed():
    records = LabelledRecords({}, ["a", "a", "b", None])
    assert ten_fold(learner("c45")[1], records) == majority(records, records) == pytest.approx(2 / 3)


@pytest.mark.parametrize("income", [["1.0", "2.50", "+3"], ["café", "cafe\u0301 x", "\u200by"], [1.0, 2.5, 3.0]])
def test_a_plain_target_is_known_in_any_spelling(income: list) -> None:
    """It is published as it came, and the table knows it by what it says."""
    table = pl.DataFrame({"age": [20, 40, 60] * 10, "income": income * 10})
    data = shoal.read(table, quasi=["age"])
    release = shoal.anonymize(data, "k-anonymity:k=2", algorithm="optimal", allow_plain=["income"], seed=1)
    own, published = of_dataset(data, "income"), of_release(release, "income", ["age"])
    assert set(own.target) == set(published.target)
