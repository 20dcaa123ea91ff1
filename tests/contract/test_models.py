"""The same questions to every privacy model that the registry knows."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import polars
import pytest
from making import names

import shoal
from shoal import registry
from shoal.core.classes import Classes
from shoal.core.parameters import parameters
from shoal.errors import ParameterError, SchemaError
from shoal.job import plugin, spelled

NAMES = names("models")
EXAMPLES = [(name, number) for name in NAMES for number in range(len(registry.find("models", name).examples))]


def made(name: str, number: int = 0, **changed: Any) -> Any:
    return registry.make("models", name, {**registry.find("models", name).examples[number], **changed})


def table(order: Any = None) -> polars.DataFrame:
    """Twelve classes of one to six people."""
    generator = np.random.default_rng(3)
    zips = np.repeat(np.arange(12), [1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 6])
    frame = polars.DataFrame(
        {
            "zip": [f"z{zone:02}" for zone in zips],
            "disease": generator.choice(["cancer", "flu", "hiv"], len(zips)),
        }
    )
    return frame if order is None else frame[order]


def grouped(frame: polars.DataFrame) -> Classes:
    return shoal.read(frame, quasi=["zip"], sensitive=["disease"]).summary


@pytest.mark.parametrize("name", NAMES)
class TestModel:
    def test_is_a_frozen_dataclass_that_takes_keywords_only(self, name: str) -> None:
        kind = registry.find("models", name)
        assert dataclasses.is_dataclass(kind) and all(field.kw_only for field in dataclasses.fields(kind))
        with pytest.raises(dataclasses.FrozenInstanceError):
            made(name).column = "other"
        with pytest.raises(ParameterError):
            kind(1)

    def test_class_is_named_like_its_file(self, name: str) -> None:
        assert registry.find("models", name).__name__.lower() == name.replace("-", "")

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

    def test_examples_show_every_parameter(self, name: str) -> None:
        kind = registry.find("models", name)
        shown = {parameter for example in kind.examples for parameter in example}
        assert shown == {parameter.name for parameter in parameters(kind)}

    def test_is_bounded_by_one_of_its_parameters(self, name: str) -> None:
        kind = registry.find("models", name)
        assert kind.asks in {parameter.name for parameter in parameters(kind) if parameter.kind in ("int", "float")}
        assert kind.level and kind.how

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

    def test_no_class_at_all(self, name: str) -> None:
        classes = grouped(table())
        none = classes.rolled(np.full(12, -1, np.int32), np.zeros((1, 0), np.int32))
        assert made(name).holds(none).tolist() == [] and made(name).measure(none).holds is True

    def test_one_record(self, name: str) -> None:
        classes = grouped(polars.DataFrame({"zip": ["z"], "disease": ["cancer"]}))
        changed = {"values": ("cancer",)} if "values" in registry.find("models", name).examples[0] else {}
        assert made(name, **changed).measure(classes).holds == made(name, **changed).holds(classes)[0]

    def test_looks_at_sensitive_values_or_not_at_all(self, name: str) -> None:
        classes = shoal.read(table(), quasi=["zip"]).summary
        if made(name).needs_sensitive:
            with pytest.raises(SchemaError, match="sensitive"):
                made(name).holds(classes)
            with pytest.raises(SchemaError, match="sensitive"):
                made(name).measure(classes)
        else:
            assert made(name).holds(classes).tolist() == made(name).holds(grouped(table())).tolist()
        if made(name).by_size:
            assert made(name).holds(classes).tolist() == (classes.sizes >= made(name).least).tolist()

    def test_declares_what_keeps_it(self, name: str) -> None:
        assert isinstance(made(name).merge_monotone, bool) and isinstance(made(name).suppression_monotone, bool)
        assert made(name).merge_monotone or not made(name).growth_monotone

    def test_can_be_asked_by_name_or_says_what_it_needs(self, name: str) -> None:
        rows = table().with_row_index("home").with_columns(polars.col("home") // 2, weight=1.0 + polars.col("home") % 3)
        data = shoal.read(rows, quasi=["zip"], sensitive=["disease"], household="home", weight="weight")
        kind = registry.find("models", name)
        needed = {parameter.name for parameter in parameters(kind) if parameter.required} - {kind.asks}
        model = made(name)
        asked: dict[str, Any] = {"notion": name, "bound": model.bound, "attributes": ["zip"]}
        if needed or getattr(model, "values", ()):
            asked = {"notion": model, "attributes": ["zip"]}
        answer = shoal.ask(data, **asked)
        assert (answer.question, answer.parameter, answer.bound) == (1, kind.asks, model.bound)
        assert answer.answer is bool(answer.model.holds(data.summary).all())


@pytest.mark.parametrize(("name", "number"), EXAMPLES)
class TestExample:
    def test_holds_is_what_measure_says(self, name: str, number: int) -> None:
        """Every class alone: the verdict is that of the level measured on that class."""
        classes = grouped(table())
        verdicts = made(name, number).holds(classes)
        assert verdicts.dtype == np.bool_ and verdicts.shape == (12,)
        together = made(name, number).whole_table
        assert together or 0 < verdicts.sum() < 12
        assert made(name, number).measure(classes).holds is False
        for place in range(12):
            index = np.full(12, -1, np.int32)
            index[place] = 0
            alone = made(name, number).measure(classes.rolled(index, np.zeros((1, 1), np.int32)))
            # Where classes are judged together, one that is alone may only gain.
            assert alone.holds == verdicts[place] or (together and alone.holds)

    def test_the_level_does_not_depend_on_the_bound(self, name: str, number: int) -> None:
        """A class keeps its own level and no safer one."""
        classes, model = grouped(table()), made(name, number)
        levels = model.levels(classes)
        nearby = 1 if model.whole else 1e-6
        for place, level in enumerate(levels.tolist()):
            if not math.isfinite(level):
                continue
            for safer, expected in ((0, True), (nearby if model.more_is_safer else -nearby, False)):
                try:
                    # A strict bound is kept from just beside the level on.
                    slack = 0 if model.whole else 1e-9 * (-1 if model.more_is_safer else 1)
                    changed = made(name, number, **{model.asks: model.readable(level + slack + safer)})
                except ParameterError:
                    continue
                assert changed.levels(classes).tolist() == levels.tolist()
                assert changed.holds(classes)[place] == expected

    def test_order_of_rows_does_not_matter(self, name: str, number: int) -> None:
        shuffled, model = grouped(table(np.random.default_rng(8).permutation(47))), made(name, number)
        assert model.holds(shuffled).tolist() == model.holds(grouped(table())).tolist()
        assert model.measure(shuffled) == model.measure(grouped(table()))

    def test_no_class_smaller_than_least_holds(self, name: str, number: int) -> None:
        classes, model = grouped(table()), made(name, number)
        assert (classes.sizes[model.holds(classes)] >= model.least).all()

    def test_no_class_with_fewer_values_than_its_variety_holds(self, name: str, number: int) -> None:
        classes, model = grouped(table()), made(name, number)
        assert (classes.sensitive[0].distinct[model.holds(classes)] >= model.variety).all()

    def test_searches_are_told_no_more_than_the_verdict_allows(self, name: str, number: int) -> None:
        classes, model = grouped(table()), made(name, number)
        holds, lost = model.judge(classes)
        assert holds.tolist() == model.holds(classes).tolist()
        assert (lost[holds] == 0).all() and (lost <= classes.sizes).all()

    def test_spelling_gives_the_same_model_back(self, name: str, number: int) -> None:
        assert plugin("models", spelled(made(name, number))) == made(name, number)

    def test_manifest_form_shows_no_value(self, name: str, number: int) -> None:
        schema = shoal.read(table(), quasi=["zip"], sensitive=["disease"]).schema
        concealed = made(name, number).concealed(schema)
        assert not getattr(concealed, "values", ())
        classes = grouped(table())
        assert concealed.holds(classes).tolist() == made(name, number).holds(classes).tolist()
        assert plugin("models", spelled(concealed)) == concealed
