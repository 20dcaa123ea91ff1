"""Sweeps as they are written, and the settings that they make."""

from __future__ import annotations

import pytest

from shoal import job
from shoal.errors import ParameterError
from shoal.tradeoff.sweep import Setting, checked, parsed, settings


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("k=2..5", [2, 3, 4, 5]),
        ("k=2..20..6", [2, 8, 14, 20]),
        ("k = 5, 2", [5, 2]),
        ("l=1.5..2.5..0.5", [1.5, 2, 2.5]),
        ("t=0.1..0.3..0.1", [0.1, 0.2, 0.3]),
        ("suppression=0,0.02", [0.0, 0.02]),
        ('algorithm=oka,"k-means:iterations=5,numeric=mean"', ["oka", "k-means:iterations=5,numeric=mean"]),
    ],
)
def test_is_read_as_it_is_written(text, values):
    assert parsed(text)[1] == values


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("k", "cannot be read"),
        ("k=", "cannot be read"),
        ("j=2..3", "did you mean|There are|there are"),
        ("k=2..x", "cannot be read"),
        ("k=2..3..4..5", "cannot be read"),
        ("k=9..2", "from the least value up"),
        ("k=2..9..0", "from the least value up"),
        ("k=2..1e9", "at most"),
        ("k=two", "no number"),
        ("k=2.5,3", "whole number"),
        ("t=1/3", "no number"),
    ],
)
def test_a_bad_sweep_says_how_one_is_written(text, words):
    with pytest.raises(ParameterError, match=words):
        parsed(text)


def basis(*models: str) -> Setting:
    return Setting(
        place=(), models=tuple(job.plugin("models", model) for model in models), suppression=0.0,
        algorithm=job.plugin("algorithms", "mondrian"),
    )  # fmt: skip


def test_a_swept_parameter_takes_the_place_of_the_models_own():
    made = list(settings({"l": (2, 3)}, basis("k-anonymity:k=4", "entropy-l-diversity:l=9")))
    assert [[job.written(model) for model in each.models] for each in made] == [
        ["k-anonymity:k=4", "entropy-l-diversity:l=2.0"],
        ["k-anonymity:k=4", "entropy-l-diversity:l=3.0"],
    ]
    (plain,) = settings({"t": (0.2,)}, basis())
    assert [job.written(model) for model in plain.models] == ["t-closeness:t=0.2"]


def test_two_parameters_cross_and_the_first_changes_fastest():
    swept = {"k": checked("k", [3, 2, 3]), "algorithm": checked("algorithm", ["oka", "mondrian"])}
    assert [each.place for each in settings(swept, basis())] == [
        (2, "oka"), (3, "oka"), (2, "mondrian"), (3, "mondrian"),
    ]  # fmt: skip


@pytest.mark.parametrize("names", [(), ("k", "l", "t")])
def test_one_or_two_parameters_are_swept(names):
    with pytest.raises(ParameterError, match="one or two"):
        list(settings(dict.fromkeys(names, (2,)), basis()))


def test_a_value_out_of_bounds_is_refused_at_once():
    with pytest.raises(ParameterError):
        list(settings({"k": (0,)}, basis()))
    with pytest.raises(ParameterError, match="has no values"):
        checked("k", [])
    with pytest.raises(ParameterError, match="are numbers"):
        checked("k", [2, "many"])
