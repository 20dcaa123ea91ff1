"""Messages that say what was probably meant."""

from __future__ import annotations

import pickle

import pytest

import shoal
from shoal import job
from shoal.core.finding import Finding, Findings
from shoal.core.schema import Column, Kind, Role, Schema
from shoal.errors import ParameterError, SchemaError, Unshown, alternatives, unknown_columns
from shoal.job.plugins import member


def test_parameters_by_place_or_by_a_wrong_name_are_explained() -> None:
    with pytest.raises(ParameterError, match=r"KAnonymity takes its parameters by name, as in KAnonymity\(k=4\)"):
        shoal.KAnonymity(5)
    with pytest.raises(ParameterError, match=r"TCloseness has no parameter 'distanc'; did you mean 'distance'\?"):
        shoal.TCloseness(t=0.2, distanc="equal")
    assert pickle.loads(pickle.dumps(shoal.KAnonymity(k=5))) == shoal.KAnonymity(k=5)


def test_a_class_in_the_place_of_a_model_is_explained() -> None:
    with pytest.raises(ParameterError, match=r"KAnonymity is a class; make an instance of it, as in KAnonymity\(k=4\)"):
        job.plugin("models", shoal.KAnonymity)
    with pytest.raises(ParameterError, match=r"KAnonymity: k must be at least 1$"):
        shoal.KAnonymity(k=0)
    with pytest.raises(AttributeError, match="did you mean 'KAnonymity'"):
        _ = shoal.KAnonimity
    with pytest.raises(KeyError, match="did you mean 'gcp'"):
        Findings((Finding(name="gcp", value=0.1),))["gpc"]


@pytest.mark.parametrize(
    ("family", "spelled", "meant"),
    [("models", "k-anonimity:k=2", "k-anonymity"), ("algorithms", "Mondrain", "mondrian"), ("metrics", "GCP", "gcp")],
)
def test_a_plugin_that_is_almost_there_is_suggested(family: str, spelled: str, meant: str) -> None:
    with pytest.raises(ParameterError, match=f"did you mean '{meant}'"):
        job.plugin(family, spelled)


def test_a_kind_that_is_almost_there_is_suggested() -> None:
    with pytest.raises(ParameterError, match=r"did you mean 'numeric'\? There are 'numeric', 'categorical'"):
        member(Kind, "numerik", "kind")


def test_columns_are_suggested_and_long_lists_are_cut() -> None:
    assert "did you mean 'birth date'?" in str(unknown_columns(["birthdate"], ["birth date", "zip"]))
    assert "did you mean" not in str(unknown_columns(["colour"], ["age", "zip"]))
    many = alternatives("x", [f"column-{number}" for number in range(1000)])
    assert many.endswith("and 960 more") and len(many) < 1000


def test_the_fields_of_a_headless_table_are_not_suggested() -> None:
    header = [Unshown("Smith", 1), Unshown("1984", 2)]
    assert "Smit" not in str(unknown_columns(["name"], header)).replace("'name'", "")


def test_columns_that_occur_twice_are_named() -> None:
    columns = [Column(name=name, role=Role.PLAIN, kind=Kind.TEXT) for name in ("a", "b", "a", "c", "c", "c")]
    with pytest.raises(SchemaError, match=r"'a' \(2 times\), 'c' \(3 times\); rename them"):
        Schema(tuple(columns))
