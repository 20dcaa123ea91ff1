"""Association rules, propensity and clustering of a release: golden cases, oracles, and what they refuse."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import NotDefined
from shoal.utility.association_rules import Mined, changed, itemsets
from shoal.utility.expected import Expected
from shoal.utility.regressions import chances


def table(count: int = 60, seed: int = 1) -> pl.DataFrame:
    generator = np.random.default_rng(seed)
    a = generator.integers(1, 5, count)
    b = np.where(generator.random(count) < 0.7, a % 3, generator.integers(0, 3, count))
    s = np.where(generator.random(count) < 0.6, b, generator.integers(0, 3, count))
    return pl.DataFrame({"a": a, "b": np.array(list("xyz"))[b], "s": np.array(["flu", "hiv", "cold"])[s]})


def opened(frame: pl.DataFrame) -> shoal.Dataset:
    return shoal.read(frame, quasi=["a", "b"], sensitive=["s"])


def meanings(data, release):
    """Each published record as the records that it may be, with their chances."""
    trees = {name: data.schema[name].hierarchy for name in ("a", "b")}
    for a, b, s in release.frame.select("a", "b", "s").rows():
        cells = []
        for name, label in (("a", a), ("b", b)):
            first, last = trees[name].parse(str(label))
            cells.append(trees[name].labels[0][first : last + 1].tolist())
        yield {(x, y, s): 1 / len(cells[0]) / len(cells[1]) for x, y in product(*cells)}


def enumerated(records, least, longest):
    """Supports of all frequent sets of values, by counting."""
    weights = [(dict(zip("abs", values, strict=True)), chance) for each in records for values, chance in each.items()]
    total = sum(chance for _, chance in weights)
    found = {}
    for size in range(1, longest + 1):
        for names in combinations("abs", size):
            for values in {tuple(record[name] for name in names) for record, _ in weights}:
                share = sum(
                    c for record, c in weights if all(record[n] == v for n, v in zip(names, values, strict=True))
                )
                if share / total >= least - 1e-12:
                    found[frozenset(zip(names, values, strict=True))] = share / total
    return found


def named(data, sets):
    trees = {name: data.schema[name].hierarchy for name in ("a", "b", "s")}
    return {
        frozenset((name, trees[name].labels[0][leaf]) for name, leaf in items): share for items, share in sets.items()
    }


def test_lost_and_ghost_of_the_specification():
    found = changed({"ab", "bc", "cd", "ac"}, {"ab", "bc", "da"})
    assert (found.lost, found.ghost) == (1 / 2, 1 / 3)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("algorithm", ["mondrian", "optimal"])
def test_itemsets_and_rules_by_counting(seed, algorithm):
    frame = table(24, seed)
    data = opened(frame)
    release = shoal.anonymize(data, "k-anonymity:k=4", algorithm=algorithm, seed=1)
    told = list(meanings(data, release))
    exact = [{(str(a), b, s): 1.0} for a, b, s in frame.rows()]
    rules = []
    for expected, records in ((Expected.of_dataset(data, "abs"), exact), (Expected.of_release(release, "abs"), told)):
        wanted = enumerated(records, 0.1, 3)
        assert named(data, itemsets(expected, "abs", 0.1, 3)) == pytest.approx(wanted)
        mined = Mined.of(expected, "abs", 0.1, 0.6, 3)
        found = {
            (items - {last}, last) for items, share in wanted.items() for last in items
            if len(items) > 1 and share >= 0.6 * wanted[items - {last}] - 1e-12
        }  # fmt: skip
        trees = {name: data.schema[name].hierarchy for name in "abs"}
        shown = {
            (frozenset((n, trees[n].labels[0][v]) for n, v in first), (last[0], trees[last[0]].labels[0][last[1]]))
            for first, last in mined.rules
        }
        assert shown == found
        rules.append((found, wanted))
    (before, _), (after, _) = rules
    scored = shoal.metrics.AssociationRules(support=0.1, confidence=0.6).score(data, release)
    assert scored.value == pytest.approx(len(before - after) / len(before))
    assert scored.detail["ghost"] == pytest.approx(len(after - before) / max(len(after), 1))
    everything = [enumerated(records, 0.0, 3) for records in (exact, told)]
    shifts = []
    for first, last in before | after:
        supports = [each.get(first | {last}, 0.0) for each in everything]
        bases = [each.get(first, 0.0) for each in everything]
        confidences = [s / b if b else 0.0 for s, b in zip(supports, bases, strict=True)]
        shifts.append((abs(supports[0] - supports[1]), abs(confidences[0] - confidences[1])))
    assert scored.detail["mean shift of support"] == pytest.approx(np.mean([each[0] for each in shifts]))
    assert scored.detail["mean shift of confidence"] == pytest.approx(np.mean([each[1] for each in shifts]))


def test_baselines_of_rules():
    data = opened(table())
    found = shoal.evaluate(data, shoal.anonymize(data, "k-anonymity:k=8", seed=1), "association-rules")
    assert found["association-rules"].baselines["original"] == 0
    assert found["association-rules"].baselines["hidden"] >= found["association-rules"].value


def test_no_rule_is_no_figure():
    data = opened(table())
    with pytest.raises(NotDefined, match="ask for less"):
        shoal.metrics.AssociationRules(support=1.0).score(data, shoal.anonymize(data, "k-anonymity:k=8", seed=1))


def test_chances_equal_scikit_learn():
    """The same penalty, half the square of the coefficients."""
    from sklearn.linear_model import LogisticRegression

    generator = np.random.default_rng(2)
    terms = generator.integers(0, 2, (300, 4)).astype(float)
    outcome = (generator.random(300) < 0.3 + 0.4 * terms[:, 0]).astype(float)
    model = LogisticRegression(C=1.0, tol=1e-10, max_iter=1000).fit(terms, outcome)
    assert chances(terms, outcome) == pytest.approx(model.predict_proba(terms)[:, 1], abs=1e-5)


def test_propensity_lies_between_the_table_and_nothing():
    data = opened(table(600))
    fine, coarse = (shoal.anonymize(data, f"k-anonymity:k={k}", algorithm="mondrian", seed=1) for k in (5, 250))
    scores = [shoal.evaluate(data, release, "propensity")["propensity"] for release in (fine, coarse)]
    assert scores[0].baselines["original"] == pytest.approx(0, abs=1e-12)
    assert 0 <= scores[0].value < scores[1].value <= scores[1].baselines["hidden"] + 0.01 <= 0.25


def test_draws_have_the_shares_that_are_expected():
    data = opened(table(400))
    for algorithm in ("mondrian", "anatomy", "slicing"):
        model = "frequency-l-diversity:l=2" if algorithm != "mondrian" else "k-anonymity:k=40"
        release = shoal.anonymize(data, model, algorithm=algorithm, seed=1)
        expected = Expected.of_release(release, ("a", "b", "s"))
        drawn = expected.drawn(20_000, 1)
        for name in ("a", "b", "s"):
            every = np.arange(expected.trees[name].size, dtype=np.int32)
            shares = np.bincount(drawn[name], minlength=len(every)) / 20_000
            assert shares == pytest.approx(expected.marginal(name, every), abs=0.02)
        pair = np.zeros((expected.trees["b"].size, expected.trees["s"].size))
        np.add.at(pair, (drawn["b"], drawn["s"]), 1 / 20_000)
        bins = tuple(np.arange(size, dtype=np.int32) for size in pair.shape)
        assert pair == pytest.approx(expected.joint(("b", "s"), bins), abs=0.02)


def test_clusters_of_a_table_that_is_hardly_changed(tmp_path):
    ages = [20, 21, 22, 50, 51, 52, 80, 81, 82] * 4
    data = shoal.read(pl.DataFrame({"age": ages}), quasi=["age"])
    fine = tmp_path / "release.csv"
    pl.DataFrame({"age": [f"[{age - age % 10}-{age - age % 10 + 2}]" for age in ages]}).write_csv(fine)
    found = shoal.evaluate(data, fine, shoal.metrics.Clustering(clusters=3))["clustering"]
    assert found.detail["adjusted Rand index"] == 1
    assert found.detail["share of the records that change their cluster"] == 0
    assert found.baselines["original"] == 0
    # Ranges of three ages each: no distances are left within clusters.
    assert found.value == pytest.approx(1.0)


def test_clustering_by_the_definition():
    """The variance of the distances of pairs in one cluster, by a loop over pairs."""
    from shoal.metrics.clustering import _moved, _variance

    points = np.random.default_rng(1).random((12, 2))
    owners = np.array([0, 1, 2] * 4)
    distances = [
        float(np.linalg.norm(points[i] - points[j])) for i, j in combinations(range(12), 2) if owners[i] == owners[j]
    ]
    assert _variance(points, owners) == pytest.approx(np.var(distances))
    assert _moved(np.array([0, 0, 1, 1]), np.array([5, 5, 3, 5])) == pytest.approx(1 / 4)


def test_too_few_records_to_cluster():
    data = shoal.read(pl.DataFrame({"age": [20, 30] * 10}), quasi=["age"])
    with pytest.raises(NotDefined, match="different"):
        shoal.metrics.Clustering().score(data, shoal.anonymize(data, "k-anonymity:k=5", seed=1))
