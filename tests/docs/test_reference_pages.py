"""The reference pages are what the code says, and every command and plug-in has its words."""

import importlib.util
from functools import cache
from pathlib import Path

import pytest
from typer.main import get_command

from shoal import registry
from shoal.cli import app
from shoal.core.parameters import parameters

DOCS = Path(__file__).parents[2] / "docs"
spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
generate = importlib.util.module_from_spec(spec)
spec.loader.exec_module(generate)
WRITTEN = sorted(page.name for page in (DOCS / "reference").iterdir())


@cache
def made_pages():
    """The pages that the code makes, once for all tests, and not whenever tests are listed."""
    return generate.pages()


def test_every_reference_page_is_written_and_no_other():
    assert sorted(made_pages()) == WRITTEN


@pytest.mark.parametrize("name", WRITTEN)
def test_reference_pages_are_fresh(name):
    assert (DOCS / "reference" / name).read_text(encoding="utf-8") == made_pages()[name], "run make docs"


@pytest.mark.parametrize("path", sorted(generate.stubs()))
def test_stubs_are_fresh(path):
    assert (generate.PACKAGE / path).read_text(encoding="utf-8") == generate.stubs()[path], "run make docs"


def test_every_command_and_option_has_help():
    for name, command in get_command(app).commands.items():
        assert command.help, name
        for option in command.params:
            assert getattr(option, "help", None), f"{name} {option.name}"


@pytest.mark.parametrize("family", sorted(registry.CONTRACTS))
def test_every_plugin_is_documented(family):
    for name in registry.names(family):
        found = registry.find(family, name)
        assert ">>>" in found.__doc__, f"{name} has no example"
        if family not in ("hierarchies", "forms", "engines"):
            assert "Reference:" in found.__doc__, f"{name} names no reference"
            assert "Does not" in found.__doc__ or "Looks at" in found.__doc__, f"{name} states no limit"
        for parameter in parameters(found):
            assert parameter.help, f"{name}: {parameter.name}"
