"""What a plug-in says of itself: its docstring, taken apart. It is the one place where a promise and its limits are
written down."""

from __future__ import annotations

import inspect
import re

PROMISE, LIMIT = "Promises:", "Does not protect against:"
OTHER_LIMITS = ("Does not", "Looks at")
"""How a limit begins where there is no promise to hold it against."""


def paragraphs(plugin: object) -> list[str]:
    """The prose of a plug-in's docstring, a text each, without references and examples."""
    text = inspect.cleandoc(type(plugin).__doc__ or "").partition("\nReference:")[0].partition("\nExample:")[0]
    return [_unmarked(" ".join(part.split())) for part in re.split(r"\n\s*\n", text) if part.strip()]


def meaning(plugin: object) -> str:
    """What it is, in a sentence or two.

    Example:
        >>> import shoal
        >>> meaning(shoal.KAnonymity(k=5))
        'Every combination of published quasi-identifier values occurs at least k times.'
    """
    return next(iter(paragraphs(plugin)), "")


def promise(plugin: object) -> str:
    """What it promises; empty where it promises nothing."""
    return _paragraph(plugin, PROMISE)


def limit(plugin: object) -> str:
    """What it does not protect against.

    Example:
        >>> import shoal
        >>> limit(shoal.KAnonymity(k=5))[:61]
        'Learning the sensitive value when a class has only one (homog'
    """
    text = _paragraph(plugin, LIMIT)
    return text or next((part for part in paragraphs(plugin) if part.startswith(OTHER_LIMITS)), "")


def _paragraph(plugin: object, heading: str) -> str:
    paragraph = next((part for part in paragraphs(plugin) if part.startswith(heading)), "")
    text = paragraph.removeprefix(heading).strip()
    return text[:1].upper() + text[1:]


def _unmarked(text: str) -> str:
    """The text without the marks of code and of emphasis."""
    return re.sub(r"(?<![\w*])\*(\w[^*]*)\*(?![\w*])", r"\1", text.replace("`", ""))
