"""Every plug-in of every family answers the same questions."""

import dataclasses
from importlib import import_module

import pytest
from making import names

from shoal import registry
from shoal.core.parameters import parameters
from shoal.errors import ParameterError

PLUGINS = [(family, name) for family in registry.CONTRACTS for name in names(family)]


@pytest.mark.parametrize(("family", "name"), PLUGINS)
def test_is_one_frozen_keyword_only_dataclass(family, name):
    found = registry.find(family, name)
    assert dataclasses.is_dataclass(found)
    assert found.__dataclass_params__.frozen
    assert all(field.kw_only for field in dataclasses.fields(found))
    assert found.__name__.lower() == name.replace("-", "") + ("form" if family == "forms" else "")
    package, *folder = found.__module__.split(".")
    if package == "shoal":  # another package's classes are names of that package
        module = import_module(f"shoal.engines.{name}" if family == "engines" else f"shoal.{folder[0]}")
        assert getattr(module, found.__name__) is found


@pytest.mark.parametrize(("family", "name"), PLUGINS)
def test_refuses_what_it_does_not_know(family, name):
    with pytest.raises(ParameterError, match="no parameter"):
        registry.make(family, name, {"surely_not_a_parameter": 1})


@pytest.mark.parametrize(("family", "name"), PLUGINS)
def test_numeric_bounds_are_enforced(family, name):
    found = registry.find(family, name)
    for parameter in parameters(found):
        if "≥" in parameter.bounds or ">" in parameter.bounds:
            required = {entry.name: 1 for entry in parameters(found) if entry.required}
            with pytest.raises(ParameterError):
                registry.make(family, name, {**required, parameter.name: -(10**9)})


def test_unknown_plugins_are_named_with_what_there_is():
    with pytest.raises(ParameterError, match="k-anonymity"):
        registry.find("models", "k-anonimity")
