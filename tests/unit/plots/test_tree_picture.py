"""The picture of a tree, read back as the data that it draws."""

import json
from itertools import pairwise

import pytest

import shoal
from shoal.errors import InputError
from shoal.plots import tree as plot

pytest.importorskip("altair")


def drawn(learner, path):
    layers = json.loads(plot.picture(learner, path).read_text(encoding="utf-8"))["layer"]
    return [layer["data"]["values"] for layer in layers]


def trained(sample, **more):
    *names, target = sample.columns
    return shoal.learners.C45(**more).fit(sample.select(names), sample[target])


def test_every_leaf_and_every_condition_is_shown_once_and_none_overlap(tmp_path):
    learner = trained(shoal.samples.heart_statlog())
    lines, conditions, leaves = drawn(learner, tmp_path / "tree.json")
    assert [leaf["text"].partition(" ")[0] for leaf in leaves] == [
        rule.rpartition(": ")[2].partition(" ")[0] for rule in learner.rules()
    ]
    ways = {(node, place) for _, way in learner.tree_.leaves() for node, place in ((id(n), p) for n, p in way)}
    assert len(conditions) == len(ways) == len([line for line in lines if line["y"] == line["y2"]])
    texts = [*conditions, *leaves]
    for column in {text["x"] for text in texts}:
        rows = sorted(text["y"] for text in texts if text["x"] == column)
        assert all(later - earlier >= 12 for earlier, later in pairwise(rows))


def test_of_a_large_tree_the_upper_part_is_drawn(tmp_path):
    large = trained(shoal.samples.adult().head(3000).drop("fnlwgt"), prune=False)
    leaves = drawn(large, tmp_path / "tree.json")[2]
    assert 1 < len(leaves) <= plot.MOST_ROWS < sum(1 for _ in large.tree_.leaves())
    hidden = sum(
        int(leaf["text"].rpartition("… ")[2].split()[0].replace(",", "")) for leaf in leaves if "…" in leaf["text"]
    )
    whole = sum("…" not in leaf["text"] for leaf in leaves)
    assert hidden + whole == sum(1 for _ in large.tree_.leaves())


def test_a_tree_of_one_leaf(tmp_path):
    table = shoal.samples.heart_ten().filter(shoal.samples.heart_ten()["class"] == "absent")
    (conditions, leaves) = drawn(trained(table), tmp_path / "tree.json")
    assert not conditions and [leaf["text"] for leaf in leaves] == [f"absent ({len(table)})"]


@pytest.mark.parametrize("ending, start", [("svg", b"<svg"), ("png", b"\x89PNG"), ("html", b"<!DOCTYPE html>")])
def test_formats(tmp_path, ending, start):
    path = plot.picture(trained(shoal.samples.heart_ten(), smallest=1), tmp_path / f"tree.{ending}")
    assert path.read_bytes().lstrip().startswith(start)


def test_an_untrained_tree_has_no_picture(tmp_path):
    with pytest.raises(InputError, match="fit first"):
        plot.picture(shoal.learners.C45(), tmp_path / "tree.svg")
    assert not list(tmp_path.iterdir())
