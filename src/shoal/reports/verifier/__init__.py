"""The page that a recipient checks a release with: one file, which needs no network and no Python.

It measures with JavaScript what `shoal verify` measures. How a model is bounded, what a manifest looks like and how
cells are spelled comes from the library itself, so that the two cannot drift apart in that.
"""

from __future__ import annotations

import base64
import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from shoal import manifest, registry
from shoal.core.contracts.model import SLACK
from shoal.core.hierarchy import TOP
from shoal.core.parameters import parameter_schema, parameters
from shoal.parsing import identity
from shoal.publishing.writable_release import FORMAT
from shoal.version import __version__

PAGE = "verify.html"
"""What the page is called where nobody names it."""
FOLDER = Path(__file__).parent
SCRIPTS = ("parsing", "trust", "manifest", "classes", "models", "checking", "page")
"""In the order in which the page runs them."""
MOST_BYTES = 100 << 20
"""Of a file, and of what is packed in it: a browser takes seconds for so much, and may run out of memory beyond."""
MOST_SETS, MOST_STEPS = 2000, 400_000_000
"""Sets of columns that the page counts, and comparisons of cells that it makes."""
OTHER_FORMATS = (b"PAR1", b"ARROW1", b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"\x28\xb5\x2f\xfd")
"""How files begin that the page does not read: Parquet, Arrow, workbooks, zstd."""


@cache
def page() -> str:
    """The page, the same for every release.

    Example:
        >>> page().startswith("<!doctype html>"), "http://" in page() or "https://" in page()
        (True, False)
    """
    style = _text("page.css")
    # In a script of a page, "<" of a text could end the script.
    facts = json.dumps(_facts(), ensure_ascii=True, sort_keys=True).replace("<", "\\u003c")
    script = "\n".join(['"use strict";', f"const FACTS = {facts};", *(_text(f"{name}.js") for name in SCRIPTS)])
    filled = {
        "version": __version__, "style": style, "style_hash": _hash(style), "script": script,
        "script_hash": _hash(script),
    }  # fmt: skip
    content = _text("page.html")
    for name in ("version", "style_hash", "script_hash", "style", "script"):  # what is long last: it may have braces
        content = content.replace(f"{{{name}}}", filled[name])
    return content


def messages() -> dict[str, dict[str, str]]:
    """Each message of the page by its key, in each language."""
    return dict(_flat(tomllib.loads(_text("messages.toml"))))


def _flat(raw: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, dict[str, str]]]:
    for key, value in raw.items():
        if all(isinstance(text, str) for text in value.values()):
            yield f"{above}{key}", value
        else:
            yield from _flat(value, f"{above}{key}.")


def _facts() -> dict[str, Any]:
    """What the scripts know from the library."""
    own = [name for name in registry.names("algorithms") if _is_own(registry.find("algorithms", name))]
    return {
        "format": FORMAT,
        "schema": manifest.json_schema(),
        "models": {
            name: _model_facts(registry.find("models", name))
            for name in registry.names("models")
            if _is_own(registry.find("models", name))
        },
        # of some algorithms it depends on their parameters, and the page says that there is no promise
        "without_models": [name for name in own if registry.find("algorithms", name).claims is not True],
        "slack": SLACK,
        "hidden": TOP,
        "most_bytes": MOST_BYTES,
        "most_sets": MOST_SETS,
        "most_steps": MOST_STEPS,
        "other_formats": [list(start) for start in OTHER_FORMATS],
        "identity": {
            "invisible": [*identity.CONTROLS, *identity.INVISIBLE],
            "blanks": identity.BLANKS,
            "hyphens": identity.HYPHENS,
            "most_zeros": identity.MOST_ZEROS,
        },
        "messages": messages(),
    }


def _model_facts(model: Any) -> dict[str, Any]:
    kinds = {entry.name: entry.kind for entry in parameters(model)}
    names = (
        "asks", "level", "unit", "more_is_safer", "identity", "needs_sensitive", "by_population", "growth_monotone",
        "counts_people", "counts_households",
    )  # fmt: skip
    schema = parameter_schema(model)
    schema["properties"]["name"] = {"type": "string"}
    return {name: getattr(model, name) for name in names} | {"whole": kinds[model.asks] == "int", "schema": schema}


def _is_own(plugin: Any) -> bool:
    """Whether a plug-in is Shoal's: the page is the same wherever it is written."""
    return str(plugin.__module__).startswith("shoal.")


def _text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
