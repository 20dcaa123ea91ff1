"""Charts in a notebook: a picture that is drawn here, and nothing from the network."""

from __future__ import annotations

import inspect
import pkgutil
from importlib import import_module

import altair
import polars

import shoal
from shoal import plots
from shoal.plots import exposure


def test_a_chart_shows_itself_without_a_network() -> None:
    classes = shoal.read(polars.DataFrame({"sex": list("fffmm")}), quasi=["sex"]).summary
    chart = exposure.class_sizes({"original": classes}, k=2)
    bundle = chart._repr_mimebundle_()
    assert bundle["image/svg+xml"].startswith("<svg") and not {"text/html", "application/javascript"} & set(bundle)
    assert "cdn" not in str(bundle) and "<script" not in str(bundle)
    assert isinstance(chart, altair.TopLevelMixin) and "mark" in str(chart.to_dict())
    assert "image/svg+xml" in chart.properties(width=100)._repr_mimebundle_()  # also when it was changed


def test_every_function_that_gives_a_chart_does_so() -> None:
    lacking = []
    for module in pkgutil.iter_modules(plots.__path__):
        if module.name == "drawing":
            continue
        for name, function in inspect.getmembers(import_module(f"shoal.plots.{module.name}"), inspect.isfunction):
            own = function.__module__ == f"shoal.plots.{module.name}" and not name.startswith("_")
            if own and inspect.signature(function).return_annotation == "Any" and not hasattr(function, "__wrapped__"):
                lacking.append(f"{module.name}.{name}")
    assert not lacking
