"""The picture of a lattice, read back as the data that it draws."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

import shoal
from shoal.errors import MissingExtraError, ParameterError
from shoal.plots import lattice as plot

altair = pytest.importorskip("altair")


def searched(quasi: list[str], **more: object) -> tuple[shoal.Dataset, shoal.Release]:
    table = shoal.samples.adult().drop("education-num")
    data = shoal.read(table, quasi=quasi, hierarchies=shoal.samples.hierarchies("adult"))
    return data, shoal.anonymize(data, shoal.KAnonymity(k=5), suppression=0.02, **more)


def drawn(path: Path) -> list[dict]:
    """Every row of data in the picture."""
    text = json.loads(path.read_text(encoding="utf-8"))
    tables = [layer["data"]["values"] for layer in text.get("layer", []) if "data" in layer]
    tables += [text["data"]["values"]] if "data" in text else []
    return [row for table in tables for row in table]


def test_every_node_stands_at_its_height(tmp_path: Path) -> None:
    data, release = searched(["age", "sex", "race"], algorithm="samarati")
    rows = [
        row for row in drawn(plot.lattice(data.hierarchies, release.recoding, tmp_path / "l.json")) if "state" in row
    ]
    nodes = {tuple(map(int, row["levels"].split())): row for row in rows}
    heights = [tree.height for tree in data.hierarchies]
    assert len(nodes) == (heights[0] + 1) * (heights[1] + 1) * (heights[2] + 1)
    assert all(sum(node) == row["height"] for node, row in nodes.items())
    assert nodes[release.recoding.levels]["state"] == plot.TAKEN
    counted = Counter(row["state"] for row in nodes.values())
    checked = dict(release.recoding.trail)
    assert counted[plot.BREAKS] == sum(not satisfies for satisfies in checked.values())
    assert counted[plot.PRUNED] == len(nodes) - len(checked)


def test_large_lattices_are_counted(tmp_path: Path) -> None:
    quasi = ["age", "sex", "race", "education", "occupation", "workclass", "relationship"]
    data, release = searched(quasi, algorithm="optimal")
    rows = [
        row for row in drawn(plot.lattice(data.hierarchies, release.recoding, tmp_path / "l.json")) if "nodes" in row
    ]
    assert sum(row["nodes"] for row in rows) == release.recoding.facts["nodes"]["total"] > plot.MOST_NODES
    assert sum(row["nodes"] for row in rows if row["state"] != plot.PRUNED) == len(release.recoding.trail)
    assert [row["height"] for row in rows if row["state"] == plot.TAKEN] == [sum(release.recoding.levels)]
    assert all(row["nodes"] >= 0 for row in rows)


@pytest.mark.parametrize("ending", ["svg", "png"])
@pytest.mark.smoke
def test_formats(ending: str, tmp_path: Path) -> None:
    data, release = searched(["sex", "race"], algorithm="optimal")
    written = plot.lattice(data.hierarchies, release.recoding, tmp_path / f"l.{ending}").read_bytes()
    assert written.startswith(b"\x89PNG" if ending == "png" else b"<svg")


def test_other_releases_have_no_lattice(tmp_path: Path) -> None:
    data, release = searched(["sex", "race"], algorithm="mondrian")
    with pytest.raises(ParameterError, match="full-domain"):
        plot.lattice(data.hierarchies, release.recoding, tmp_path / "l.svg")
    assert not list(tmp_path.iterdir())


def test_without_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    data, release = searched(["sex", "race"], algorithm="optimal")
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(MissingExtraError, match="plots"):
        plot.lattice(data.hierarchies, release.recoding, tmp_path / "l.svg")
