"""Learners against WEKA: its published figures, and itself, reading our ARFF files."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from counts import LONG

import shoal
from shoal.engines.common import arff
from shoal.errors import InputError, ParameterError
from shoal.learners.c45 import C45
from shoal.learners.decision_stump import DecisionStump
from shoal.learners.naive_bayes import NaiveBayes
from shoal.utility.examples import Attribute, attributes_of, class_codes
from shoal.utility.learning import JavaRandom, cross_validated, folds
from shoal.utility.trees import DEEPEST, Grower

WEKA = Path("/usr/share/java/weka.jar")
needs_weka = pytest.mark.skipif(not WEKA.exists() or not shutil.which("java"), reason="they need WEKA and Java")
FIGURES = {
    "heart_statlog": (76.67, 83.70),
    "sonar": (71.15, 67.79),
    "haberman": (71.90, 74.84),
}


@pytest.mark.parametrize("name", FIGURES)
def test_ten_folds_give_the_published_accuracies(name):
    table = getattr(shoal.samples, name)()
    target = table.columns[-1]
    for learner, figure in zip((C45(), NaiveBayes()), FIGURES[name], strict=True):
        if name == "sonar" and isinstance(learner, C45) and not LONG:
            continue  # sixty columns of numbers take a while, and the others are numbers, too
        found = cross_validated(learner, table.drop(target), table[target])
        assert round(100 * found, 2) == figure


def weka_hits(tmp_path, scheme, table, count, seed):
    path = tmp_path / "table.arff"
    path.write_text(arff.render(table.to_arrow()))
    command = [
        "java",
        "-cp",
        str(WEKA),
        f"weka.classifiers.{scheme}",
        "-t",
        str(path),
        "-x",
        str(count),
        "-s",
        str(seed),
    ]
    told = subprocess.run([*command, "-o"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"Stratified cross-validation.*?Correctly Classified Instances\s+(\d+)", told, re.DOTALL)
    return int(found[1])


def with_gaps(table, share, seed=0):
    random = np.random.default_rng(seed)
    *names, target = table.columns
    return table.with_columns(
        pl.when(pl.Series(random.random(len(table)) < share)).then(None).otherwise(pl.col(name)).alias(name)
        for name in names
    ).select(*names, target)


@needs_weka
@pytest.mark.parametrize("count, seed, gaps", [(10, 1, 0.0), (5, 3, 0.2), (3, 7, 0.05), (4, 2, 0.4)])
def test_the_stump_has_wekas_hits(tmp_path, count, seed, gaps):
    table = with_gaps(shoal.samples.adult().sample(400, seed=seed), gaps)
    target = table.columns[-1]
    found = cross_validated(DecisionStump(), table.drop(target), table[target], count=count, seed=seed)
    assert round(found * len(table)) == weka_hits(tmp_path, "trees.DecisionStump", table, count, seed)


@needs_weka
@pytest.mark.parametrize(
    "scheme, learner", [("trees.J48", C45()), ("bayes.NaiveBayes", NaiveBayes())], ids=["c45", "naive-bayes"]
)
def test_names_and_gaps_are_learned_as_weka_does(tmp_path, scheme, learner):
    table = with_gaps(shoal.samples.adult().sample(200, seed=5), 0.1)
    target = table.columns[-1]
    found = cross_validated(learner, table.drop(target), table[target])
    assert abs(round(found * len(table)) - weka_hits(tmp_path, scheme, table, 10, 1)) <= 2  # one percentage point


def test_java_draws_what_java_draws():
    random = JavaRandom(42)
    assert [random.below(10) for _ in range(6)] == [0, 3, 8, 4, 0, 5]
    assert JavaRandom(42).below(16) == 11


def test_folds_are_a_partition_with_every_class_in_proportion():
    labels = np.array([0] * 50 + [1] * 30 + [2] * 20)
    tested = []
    for training, test in folds(labels, 10, 1):
        assert set(training) | set(test) == set(range(100)) and not set(training) & set(test)
        assert np.bincount(labels[test]).tolist() == [5, 3, 2]
        tested += test.tolist()
    assert sorted(tested) == list(range(100))


def test_ten_rows_split_as_in_the_worked_example():
    """Supplement 5.2: J48 with leaves of one record over age, sex and blood pressure."""
    table = shoal.samples.heart_ten()
    chosen = [name for name in table.columns if name in ("age", "sex", "resting-blood-pressure")]
    tree = C45(smallest=1).fit(table.select(chosen), table[table.columns[-1]])
    assert [re.sub(r": .*", "", rule) for rule in tree.rules()] == [
        "age <= 63",
        "age > 63 and resting-blood-pressure <= 128",
        "age > 63 and resting-blood-pressure > 128",
    ]
    assert [leaf.total for leaf, _ in tree.tree_.leaves()] == [5, 4, 1]


def test_an_unpruned_tree_with_leaves_of_one_knows_its_records():
    table = shoal.samples.haberman().unique(
        subset=shoal.samples.haberman().columns[:-1], keep="none", maintain_order=True
    )
    target = table.columns[-1]
    tree = C45(smallest=1, prune=False).fit(table.drop(target), table[target])
    assert tree.score(table.drop(target), table[target]) > C45().fit(table.drop(target), table[target]).score(
        table.drop(target), table[target]
    )


def test_thresholds_are_the_greatest_values_of_the_table_below_the_middle():
    draw = np.random.default_rng(4)
    rows = np.round(draw.normal(0, 30, (300, 2)))
    labels = np.clip(rows.sum(axis=1) // 20 + 5, 0, 10).astype(np.int64)
    rows[draw.random(rows.shape) < 0.1] = np.nan
    grower = Grower([Attribute("a"), Attribute("b")], rows, labels, 11, prune=False)
    nodes, thresholds, beyond = [grower.grow()], 0, 0
    while nodes:
        node = nodes.pop()
        nodes += node.branches
        if node.threshold is None:
            continue
        thresholds += 1
        column = rows[node.rows, node.attribute]
        above = np.nanmin(column[column > node.threshold])
        below = np.nanmax(column[column <= node.threshold])
        middle = (below + above) / 2
        values = rows[:, node.attribute]
        assert node.threshold == max(value for value in values.tolist() if value <= middle + 1e-6)
        beyond += node.threshold > below
    assert thresholds > 20 and beyond > 5  # of other records than those of the node


@pytest.mark.parametrize("gaps", [False, True])
def test_a_tree_is_the_same_however_its_records_are_counted(monkeypatch, gaps):
    """By value or in order, all columns of names at once or one at a time."""
    draw = np.random.default_rng(6)
    rows = np.stack(
        [draw.integers(0, size, 600).astype(float) for size in (4, 9, 40)] + [draw.normal(size=600)], axis=1
    )
    labels = (rows[:, 0] + rows[:, 2] // 9 + draw.integers(0, 2, 600)).astype(np.int64)
    if gaps:
        rows[draw.random(rows.shape) < 0.1] = np.nan
    attributes = [Attribute("a", tuple("0123")), Attribute("b", tuple("012345678")), Attribute("c"), Attribute("d")]

    def spelled(node):
        return node.attribute, node.threshold, node.counts.tolist(), node.rows.tolist(), [*map(spelled, node.branches)]

    def grown():
        return spelled(Grower(attributes, rows, labels, int(labels.max()) + 1, prune=False).grow())

    first = grown()
    monkeypatch.setattr("shoal.utility.trees.MANY", 0)
    monkeypatch.setattr("shoal.utility.trees.MOST_NUMBERS", 0)
    assert grown() == first


def test_weights_of_records_with_gaps_add_up():
    table = with_gaps(shoal.samples.heart_statlog(), 0.3)
    target = table.columns[-1]
    attributes, rows = attributes_of(table.drop(target))
    classes, labels = class_codes(table[target])
    root = Grower(attributes, rows, labels, len(classes)).grow()
    assert sum(leaf.total for leaf, _ in root.leaves()) == pytest.approx(len(table))
    shares = C45().fit(table.drop(target), table[target]).predict_proba(table.drop(target))
    assert np.allclose(shares.sum(axis=1), 1)


@pytest.mark.parametrize("learner", [C45, NaiveBayes, DecisionStump])
def test_scikit_learn_takes_them(learner):
    from sklearn.base import clone, is_classifier
    from sklearn.model_selection import cross_val_score

    table = shoal.samples.haberman().to_pandas()
    made = clone(learner())
    assert is_classifier(made)
    scores = cross_val_score(made, table.iloc[:, :-1], table.iloc[:, -1], cv=3)
    assert scores.mean() > 0.6


def test_what_cannot_be_learned_from_is_refused():
    table = pl.DataFrame({"age": [1, 2]})
    with pytest.raises(InputError, match="no values"):
        C45().fit(table, [None, None])
    with pytest.raises(InputError, match="2 records and 1 classes"):
        C45().fit(table, ["a"])
    with pytest.raises(InputError, match="not trained"):
        C45().predict(table)
    with pytest.raises(ParameterError, match="no parameter"):
        C45().set_params(depth=3)
    tree = C45().fit(table, ["a", "a"])  # one class: nothing to split
    assert tree.rules() == ["always: a (2)"]
    with pytest.raises(InputError, match="trained with 1"):
        tree.predict(pl.DataFrame({"age": [1], "sex": ["f"]}))


def test_a_value_that_was_never_seen_is_missing():
    table = pl.DataFrame({"sex": ["f", "f", "m", "m"]})
    for learner in (C45(smallest=1), NaiveBayes(), DecisionStump()):
        made = learner.fit(table, ["no", "no", "yes", "yes"])
        assert np.allclose(made.predict_proba(pl.DataFrame({"sex": ["x"]})), 0.5)


def test_a_class_that_alternates_makes_a_deep_tree_and_no_overflow():
    """Each level takes off one end, so the tree would be as deep as there are runs."""
    place = np.arange(6_000)
    tree = C45(prune=False).fit(pl.DataFrame({"x": place}), (place // 30 % 2).tolist())
    assert max(len(way) for _, way in tree.tree_.leaves()) <= DEEPEST
