"""The same questions to every privacy model that the registry knows."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import polars
import pytest

import shoal
from shoal import registry
from shoal.core.classes import Classes
from shoal.core.parameters import parameters
from shoal.errors import ParameterError, SchemaError
from shoal.job import plugin, spelled

PARAMETERS: dict[str, dict[str, Any]] = {
    "k-anonymity": {"k": 4},
    "distinct-l-diversity": {"l": 3},
    "entropy-l-diversity": {"l": 2.5},
    "frequency-l-diversity": {"l": 2},
    "recursive-l-diversity": {"c": 1.5, "l": 2},
    "t-closeness": {"t": 0.3, "distance": "hierarchical"},
    "alpha-k-anonymity": {"alpha": 0.4, "k": 3, "values": ("c",)},
    "p-sensitive-k-anonymity": {"p": 3, "k": 4},
    "beta-likeness": {"beta": 0.9, "enhanced": True},
    "delta-disclosure": {"delta": 1.0},
    "delta-presence": {"delta_min": 0.1, "delta_max": 0.4, "values": ("a",)},
    "k-map": {"k": 4, "values": ("a",)},
    "rho-privacy": {"rho1": 0.35, "rho2": 0.5},
    "disclosure-bounds": {"delta": 0.5, "epsilon": 0.1},
    "inference-l": {"l": 2},
}
NAMES = registry.names("models")


def made(name: str, **changed: Any) -> Any:
    return registry.make("models", name, {**PARAMETERS[name], **changed})


def table(order: Any = None) -> polars.DataFrame:
    """Twelve classes of one to six people."""
    generator = np.random.default_rng(3)
    zips = np.repeat(np.arange(12), [1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 6])
    frame = polars.DataFrame(
        {"zip": [f"z{zone:02}" for zone in zips], "kind": generator.choice(list("abc"), len(zips))}
    )
    return frame if order is None else frame[order]


def grouped(frame: polars.DataFrame) -> Classes:
    return shoal.read(frame, quasi=["zip"], sensitive=["kind"]).summary


@pytest.mark.parametrize("name", NAMES)
class TestModel:
    def test_is_a_frozen_dataclass_that_takes_keywords_only(self, name: str) -> None:
        kind = registry.find("models", name)
        assert dataclasses.is_dataclass(kind) and all(field.kw_only for field in dataclasses.fields(kind))
        with pytest.raises(dataclasses.FrozenInstanceError):
            made(name).column = "other"
        with pytest.raises(TypeError):
            kind(1)

    def test_class_is_named_like_its_file(self, name: str) -> None:
        assert registry.find("models", name).__name__.lower() == name.replace("-", "")
        assert getattr(shoal, registry.find("models", name).__name__) is registry.find("models", name)

    def test_docstring_says_what_it_does_and_does_not(self, name: str) -> None:
        text = registry.find("models", name).__doc__
        for heading in ("Promises:", "Does not protect against:", "Reference:", "Example:", ">>> "):
            assert heading in text

    def test_every_parameter_is_explained(self, name: str) -> None:
        found = parameters(registry.find("models", name))
        assert all(parameter.help for parameter in found)
        assert [parameter.required for parameter in found] == sorted(
            (parameter.required for parameter in found), reverse=True
        )

    def test_numbers_out_of_their_bounds_are_refused(self, name: str) -> None:
        for parameter in parameters(registry.find("models", name)):
            if parameter.kind in ("int", "float"):
                assert parameter.bounds
                for value in (-1, math.nan, "many"):
                    with pytest.raises(ParameterError, match=parameter.name):
                        made(name, **{parameter.name: value})

    def test_unknown_and_lacking_parameters_are_refused(self, name: str) -> None:
        with pytest.raises(ParameterError, match="colour"):
            made(name, colour=1)
        with pytest.raises(ParameterError, match="needs"):
            registry.make("models", name, {})

    def test_spelling_gives_the_same_model_back(self, name: str) -> None:
        assert plugin("models", spelled(made(name))) == made(name)

    def test_holds_is_what_measure_says(self, name: str) -> None:
        """Every class alone: the verdict is that of the level measured on that class."""
        classes = grouped(table())
        verdicts = made(name).holds(classes)
        assert verdicts.dtype == np.bool_ and verdicts.shape == (12,)
        together = made(name).whole_table
        assert together or 0 < verdicts.sum() < 12
        assert made(name).measure(classes).holds is False
        for place in range(12):
            index = np.full(12, -1, np.int32)
            index[place] = 0
            alone = made(name).measure(classes.rolled(index, np.zeros((1, 1), np.int32)))
            # Where classes are judged together, one that is alone may only gain.
            assert alone.holds == verdicts[place] or (together and alone.holds)

    def test_order_of_rows_does_not_matter(self, name: str) -> None:
        shuffled = grouped(table(np.random.default_rng(8).permutation(47)))
        assert made(name).holds(shuffled).tolist() == made(name).holds(grouped(table())).tolist()
        assert made(name).measure(shuffled) == made(name).measure(grouped(table()))

    def test_no_class_smaller_than_least_holds(self, name: str) -> None:
        classes = grouped(table())
        assert (classes.sizes[made(name).holds(classes)] >= made(name).least).all()

    def test_no_class_at_all(self, name: str) -> None:
        classes = grouped(table())
        none = classes.rolled(np.full(12, -1, np.int32), np.zeros((1, 0), np.int32))
        assert made(name).holds(none).tolist() == [] and made(name).measure(none).holds is True

    def test_one_record(self, name: str) -> None:
        classes = grouped(polars.DataFrame({"zip": ["z"], "kind": ["a"]}))
        changed = {"values": ("a",)} if "values" in PARAMETERS[name] else {}
        assert made(name, **changed).measure(classes).holds == made(name, **changed).holds(classes)[0]

    def test_manifest_form_shows_no_value(self, name: str) -> None:
        schema = shoal.read(table(), quasi=["zip"], sensitive=["kind"]).schema
        concealed = made(name).concealed(schema)
        assert not getattr(concealed, "values", ())
        classes = grouped(table())
        assert concealed.holds(classes).tolist() == made(name).holds(classes).tolist()
        assert plugin("models", spelled(concealed)) == concealed

    def test_needs_a_sensitive_attribute_or_looks_at_sizes_only(self, name: str) -> None:
        classes = shoal.read(table(), quasi=["zip"]).summary
        if made(name).by_size:
            assert made(name).holds(classes).tolist() == (classes.sizes >= made(name).least).tolist()
        else:
            with pytest.raises(SchemaError, match="sensitive"):
                made(name).holds(classes)
            with pytest.raises(SchemaError, match="sensitive"):
                made(name).measure(classes)

    def test_declares_what_keeps_it(self, name: str) -> None:
        assert isinstance(made(name).merge_monotone, bool) and isinstance(made(name).suppression_monotone, bool)
