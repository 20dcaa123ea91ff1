"""Parameters: numbers that are none are refused, wherever a plug-in takes a number."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from shoal import registry
from shoal.core.parameters import Parametrized, parameters
from shoal.errors import ParameterError


@dataclass(frozen=True, kw_only=True)
class Sample(Parametrized):
    share: float = 0.5
    edges: tuple[float, ...] = ()
    weights: dict[str, float] = field(default_factory=dict)


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan"), "inf", "nan", "1e999"])
def test_numbers_are_finite(value: float | str) -> None:
    for wrong in ({"share": value}, {"edges": (1.0, value)}, {"weights": {"age": value}}):
        with pytest.raises(ParameterError, match=r"Sample: \w+: a number must be finite"):
            Sample(**wrong)
    assert Sample(share="0.25", edges=[1, 2], weights={"age": 3}).parameters() == {
        "share": 0.25, "edges": (1.0, 2.0), "weights": {"age": 3.0},
    }  # fmt: skip


def test_no_plug_in_takes_an_infinite_number() -> None:
    tried = 0
    for family in registry.CONTRACTS:
        for name in registry.names(family):
            plugin = registry.find(family, name)
            for parameter in parameters(plugin):
                if "float" not in parameter.kind:
                    continue
                others = {other.name: 1 for other in parameters(plugin) if other.required}
                with pytest.raises(ParameterError):
                    plugin(**{**others, parameter.name: float("inf")})
                tried += 1
    assert tried > 5
