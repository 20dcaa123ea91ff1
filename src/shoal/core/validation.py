"""What a value must be, in words of our own: pydantic's messages name its classes and are not for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

NOUNS = {
    "bool": "true or false", "int": "a whole number", "float": "a number", "string": "text", "list": "a list",
    "tuple": "a list", "set": "a list", "frozen_set": "a list", "dict": "a table", "mapping": "a table",
    "model": "a table", "path": "a path", "date": "a date", "finite": "a finite number",
}  # fmt: skip
"""By how pydantic's name of an error begins, such as `bool_type` or `int_parsing`."""
BOUNDS = {
    "greater_than_equal": ("ge", "at least"), "greater_than": ("gt", "greater than"),
    "less_than_equal": ("le", "at most"), "less_than": ("lt", "less than"),
}  # fmt: skip


def demand(errors: Iterable[Mapping[str, Any]]) -> str:
    """What is demanded where validation failed, to be read after the name of the parameter.

    Several errors are those of a parameter that may be one thing or another.

    Example:
        >>> from pydantic import TypeAdapter, ValidationError
        >>> try:
        ...     TypeAdapter(int | bool).validate_python("often")
        ... except ValidationError as error:
        ...     demand(error.errors())
        'must be a whole number or true or false'
    """
    problems = list(errors)
    own = next((each for each in problems if each["type"] in ("value_error", "assertion_error")), None)
    if own is not None:
        return str(own["ctx"]["error"])
    if any(each["type"] == "missing" for each in problems):
        return "is missing"
    nouns = dict.fromkeys(filter(None, map(_noun, problems)))
    if NOUNS["float"] in nouns:
        nouns.pop(NOUNS["int"], None)
    return f"must be {' or '.join(nouns)}" if nouns else "has a value that does not fit"


def _noun(error: Mapping[str, Any]) -> str | None:
    kind, context = error["type"], error.get("ctx", {})
    if kind in BOUNDS:
        key, words = BOUNDS[kind]
        return f"{words} {context[key]:g}"
    if kind in ("enum", "literal_error"):
        return str(context["expected"])
    if kind.endswith("too_short"):
        return _length(kind, context["min_length"], "at least")
    if kind.endswith("too_long"):
        return _length(kind, context["max_length"], "at most")
    return next((noun for name, noun in NOUNS.items() if kind.startswith(f"{name}_")), None)


def _length(kind: str, bound: int, words: str) -> str:
    what, one, many = (
        ("text", "character", "characters") if kind.startswith("string") else ("a list", "entry", "entries")
    )
    return f"{what} of {words} {bound} {one if bound == 1 else many}"
