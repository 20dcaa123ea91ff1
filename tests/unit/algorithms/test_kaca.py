"""KACA beside an implementation that looks at all pairs of classes, and beside an example that is done by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from counts import count

import shoal
from shoal.core.hierarchy import Hierarchy


def climbed(levels: int, height: int, beta: float) -> float:
    weights = [1 / (height - level) ** beta for level in range(height)]
    return sum(weights[:levels]) / sum(weights)


def naive(rows: list[tuple[float, str]], paths: dict[str, tuple[str, ...]], k: int, beta: float) -> list[list[int]]:
    """Classes of the rows' numbers. Whoever has fewer than k records takes its turn in rounds, in the order of the
    classes, and joins the class with which the distortion of both grows least; who was joined waits for the next."""
    span = max(row[0] for row in rows) - min(row[0] for row in rows)

    def distortion(members: list[int]) -> float:
        numbers, labels = [rows[at][0] for at in members], [paths[rows[at][1]] for at in members]
        level = next(level for level in range(len(labels[0])) if len({label[level] for label in labels}) == 1)
        here = (max(numbers) - min(numbers)) / span + climbed(level, len(labels[0]) - 1, beta)
        return len(members) * here

    classes: list[list[int]] = []
    for row in sorted(set(rows), key=lambda row: (row[0], row[1])):
        classes.append([at for at, other in enumerate(rows) if other == row])
    while any(len(members) < k for members in classes):
        turns = [members for members in classes if len(members) < k]
        waiting: list[list[int]] = []
        for members in turns:
            if members not in classes or any(members is other for other in waiting):
                continue
            others = [other for other in classes if other is not members]
            added = [distortion(members + other) - distortion(members) - distortion(other) for other in others]
            nearest = others[int(np.argmin(added))]
            classes = [other for other in classes if other is not members]
            nearest += members
            waiting.append(nearest)
        classes.sort(key=lambda members: min(rows[at] for at in members))
    return sorted(sorted(members) for members in classes)


@pytest.mark.parametrize("beta", [0.0, 1.0, 2.5])
def test_the_same_classes_as_by_all_pairs(beta: float) -> None:
    """Numbers are such that no two distances are the same, so that nobody has a choice."""
    paths = {name: (name, name[0], "*") for name in ("a1", "a2", "b1", "b2", "b3")}
    tree = Hierarchy.from_paths("code", list(paths.values()))
    for seed in range(count(6, 60)):
        generator = np.random.default_rng(seed)
        drawn = generator.random(14).round(7).tolist()
        rows = [(drawn[at % 12], str(generator.choice(list(paths)))) for at in range(24)]
        table = pl.DataFrame({"x": [row[0] for row in rows], "code": [row[1] for row in rows], "row": range(24)})
        data = shoal.read(table, quasi=["x", "code"], hierarchies={"code": tree})
        for k in (2, 3, 5):
            method = f"kaca:beta={beta},numeric=interval"
            release = shoal.anonymize(data, f"k-anonymity:k={k}", algorithm=method, allow_plain=["row"])
            classes = release.frame.group_by("x", "code").agg(pl.col("row").sort())["row"].to_list()
            assert sorted(map(sorted, classes)) == naive(rows, paths, k, beta)


def test_by_hand() -> None:
    """Zip 11 alone joins 12, one step of weight 1/2 below the top; 21, whose step to the top weighs 1, stays."""
    paths = [("11", "1*", "*"), ("12", "1*", "*"), ("21", "2*", "*"), ("22", "2*", "*")]
    table = pl.DataFrame({"zip": ["11", "12", "12", "21", "21", "22", "22"]})
    data = shoal.read(table, quasi=["zip"], hierarchies={"zip": Hierarchy.from_paths("zip", paths)})
    release = shoal.anonymize(data, "k-anonymity:k=2", algorithm="kaca")
    assert sorted(release.frame["zip"]) == ["1*", "1*", "1*", "21", "21", "22", "22"]
    # Three of seven records climbed half a step of one and a half: (1/2) / (1/2 + 1) = 1/3.
    assert shoal.evaluate(data, release, "whd")["whd"].value == pytest.approx(3 / 7 / 3)


def test_large_classes_are_left_alone_and_other_models_hold() -> None:
    table = shoal.samples.adult().head(600).select("sex", "race", "education", "occupation")
    data = shoal.read(table, quasi=["sex", "race", "education"], sensitive=["occupation"])
    release = shoal.anonymize(data, "k-anonymity:k=4", algorithm="kaca")
    large = table.group_by("sex", "race", "education").len().filter(pl.col("len") >= 4).drop("len")
    assert len(large.join(release.frame.unique(), on=large.columns, how="semi")) > 0.6 * len(large)
    diverse = shoal.anonymize(data, "k-anonymity:k=4", "distinct-l-diversity:l=3", algorithm="kaca", suppression=0.05)
    assert diverse.verify(diverse.policy).holds
