"""Plug-ins by their spelling."""

import pytest

import shoal
from shoal import job, registry
from shoal.errors import ParameterError


def test_spelling_and_back():
    algorithm = job.plugin("algorithms", "mondrian:strict=false,numeric=interval")
    assert algorithm == shoal.Mondrian(strict=False, numeric="interval")
    assert job.plugin("algorithms", job.spelled(algorithm)) == algorithm
    assert registry.name_of(shoal.KAnonymity(k=2)) == "k-anonymity"
    assert job.plugin("hierarchies", "ordering:order=a|b|c").order == ("a", "b", "c")
    assert job.plugin("hierarchies", "dates:units=year").units == ("year",)


@pytest.mark.parametrize("text", ["k-anonymity", "k-anonymity:k=0", "k-anonymity:k=many", "k-anonymity:5", "no-such"])
def test_wrong_spellings_are_refused(text):
    with pytest.raises(ParameterError):
        job.plugin("models", text)


def test_a_plugin_of_another_family_is_refused():
    with pytest.raises(ParameterError):
        job.plugin("models", shoal.Mondrian())
