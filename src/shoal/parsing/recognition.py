"""Recognition: what the texts of a column look like."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Recognition:
    """The format in which texts are dates or numbers, or the doubt that is left and the formats to choose from."""

    form: str | None = None
    doubt: str | None = None
    choices: tuple[str, ...] = ()
