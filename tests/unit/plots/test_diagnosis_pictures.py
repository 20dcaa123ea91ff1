"""Pictures of answers show what the answers say."""

from __future__ import annotations

import numpy as np
import pytest

import shoal
from shoal.errors import ParameterError

pytest.importorskip("altair")
from shoal.plots import diagnosis


@pytest.fixture(scope="module")
def patients():
    return shoal.read(shoal.samples.patients_eight(), quasi=["age", "gender", "zip"], sensitive=["disease"])


def values(chart):
    drawn = chart.to_dict()
    layers = drawn.get("layer", [drawn])
    return [layer.get("data", drawn.get("data"))["values"] for layer in layers]


def test_the_lattice_colours_every_set_by_the_borders(patients):
    dots = values(diagnosis.lattice(shoal.ask(patients, k=2)))[1]
    states = {dot["set"]: dot["state"] for dot in dots}
    assert len(dots) == 7
    assert states["gender"] == diagnosis.LARGEST and states["age"] == diagnosis.SMALLEST
    assert states["age, gender"] == states["age, gender, zip"] == "does not"
    unknown = values(diagnosis.lattice(shoal.ask(patients, k=2, time_limit=0)))[1]
    assert {dot["state"] for dot in unknown} == {"not known"}


def test_the_lattice_shows_values_where_there_are_no_borders(patients):
    dots = values(diagnosis.lattice(shoal.ask(patients)))[1]
    assert {dot["set"]: dot["value"] for dot in dots}["gender"] == 2


def test_the_curve_has_every_step(patients):
    (steps,) = values(diagnosis.curve(shoal.ask(patients, attributes=["gender"], delta="ask")))
    assert steps == [{"level": 2, "delta": 0.0}, {"level": 6, "delta": 0.25}]


def test_beyond_ten_attributes_the_borders_are_drawn(tmp_path):
    import polars as pl

    rng = np.random.default_rng(1)
    names = [f"c{position}" for position in range(12)]
    data = shoal.read(pl.DataFrame({name: rng.integers(0, 2, 200) for name in names}), quasi=names)
    answer = shoal.ask(data, k=20)
    cells = diagnosis.borders(answer).to_dict()["data"]["values"]
    shown = [*answer.positive_border[: diagnosis.ROWS], *answer.negative_border[: diagnosis.ROWS]]
    assert len(cells) == sum(len(chosen) for chosen in shown)
    written = diagnosis.picture(answer, tmp_path / "borders.svg").read_text()
    assert f"(positive border): {len(answer.positive_border)}" in written and "n001" not in written
    with pytest.raises(ParameterError, match="at most 10"):
        diagnosis.picture(shoal.ask(data), tmp_path / "lattice.svg")


def test_an_answer_without_a_picture_is_refused(patients, tmp_path):
    for given in ({"attributes": ["age"], "k": 2}, {"attributes": ["age"]}, {"delta": "ask"}):
        with pytest.raises(ParameterError, match="has no picture"):
            diagnosis.picture(shoal.ask(patients, **given), tmp_path / "picture.svg")
