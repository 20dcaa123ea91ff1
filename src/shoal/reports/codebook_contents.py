"""What a codebook says: the columns of a release, their values, and how they were treated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Category:
    """A published value: its code where the file has one, its label, and how many records have it."""

    value: str
    label: str = ""
    count: int = 0
    missing: bool = False


@dataclass(frozen=True, kw_only=True)
class Variable:
    """A published column."""

    name: str
    table: str
    label: str
    kind: str
    role: str
    treatment: str
    valid: int
    missing: int
    distinct: int
    categories: tuple[Category, ...] = ()
    statistics: Mapping[str, float] | None = None
    missing_codes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CodebookContents:
    """What there is to know of a release to work with it."""

    title: str
    release: str
    records: int
    form: str
    method: str
    promises: tuple[str, ...]
    tables: Mapping[str, int]
    variables: tuple[Variable, ...]
    left_out: Mapping[str, str]
    shoal: str
