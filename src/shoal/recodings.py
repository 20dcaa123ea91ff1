"""Saved recodings: the rule of a release in a file, with which its holder recodes new records in the same way.

The file has the hierarchies, and so raw values of the table. It is not for recipients: whoever has it learns these
values, and what each range of the release was made of. It is written so that only its owner can read it.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from shoal import registry
from shoal.core.codebook import Codebook
from shoal.core.hierarchy import Hierarchy
from shoal.core.policy import Policy
from shoal.core.release import Release
from shoal.core.schema import Column, Kind, Missing, Role, Schema
from shoal.errors import InputError, ShoalError
from shoal.job import plugins
from shoal.parsing.dates import Calendar
from shoal.parsing.labels import objects
from shoal.publishing.reusable_recoding import ReusableRecoding
from shoal.storage.files import replacing
from shoal.storage.private import write_private

FORMAT = 2


def save(release: Release, path: str | Path) -> Path:
    """Writes the rule of a release to a file that only its owner can read; that file is not for recipients."""
    path = Path(path)
    text = spelled(ReusableRecoding.of(release))
    with replacing(path) as beside:
        write_private(beside, text)
    return path


def spelled(rule: ReusableRecoding) -> str:
    """A rule as the text of its file."""
    return json.dumps(
        {
            "recoding": FORMAT,
            "keep": "This file has raw values of the table. It stays with whoever holds the table.",
            "form": registry.name_of(rule.form),
            "columns": [_column(column) for column in rule.schema.columns],
            "order": list(rule.schema.order),
            "strict": rule.schema.strict,
            "models": [plugins.spelled(model) for model in rule.policy.models],
            "suppression": rule.policy.suppression,
            "codebooks": [_codebook(book) for book in rule.codebooks],
            "cells": rule.cells.tolist(),
            "levels": None if rule.levels is None else list(rule.levels),
            "provenance": dict(rule.provenance),
        },
        ensure_ascii=False,
    )


def _column(column: Column) -> dict[str, Any]:
    tree = column.hierarchy
    return {
        "name": column.name, "role": str(column.role), "kind": str(column.kind), "missing": str(column.missing),
        "form": column.form,
        "hierarchy": None if tree is None else {
            "codes": tree.codes.tolist(), "labels": [level.tolist() for level in tree.labels],
            "values": None if tree.values is None else tree.values.tolist(),
            "bounds": None if tree.bounds is None else [[low.tolist(), high.tolist()] for low, high in tree.bounds],
            "missing": tree.missing, "automatic": tree.automatic,
            "calendar": None if tree.calendar is None else asdict(tree.calendar),
        },
    }  # fmt: skip


def _codebook(book: Codebook) -> dict[str, Any]:
    arrays = {what: getattr(book, what).tolist() for what in ("labels", "low", "high", "levels", "lengths")}
    return {"column": book.column, "raw": book.raw, **arrays}


def load(path: str | Path) -> ReusableRecoding:
    """A rule from its file."""
    path = Path(path)
    try:
        stated = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(stated, dict) or stated.get("recoding") != FORMAT:
            raise ValueError("another file")
        return _checked(_rule(stated))
    except OSError:
        raise InputError(f"{path.name}: the saved recoding cannot be read") from None
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError, ShoalError):
        raise InputError(f"{path.name}: this is not a recoding that this version of Shoal saved") from None


def _rule(stated: dict[str, Any]) -> ReusableRecoding:
    columns = tuple(
        Column(
            name=each["name"], role=Role(each["role"]), kind=Kind(each["kind"]), missing=Missing(each["missing"]),
            form=each["form"],
            hierarchy=None if each["hierarchy"] is None else _hierarchy(each["name"], each["hierarchy"]),
        )
        for each in stated["columns"]
    )  # fmt: skip
    books = tuple(_book(each) for each in stated["codebooks"])
    policy = Policy(
        models=tuple(plugins.plugin("models", model) for model in stated["models"]), suppression=stated["suppression"]
    )
    return ReusableRecoding(
        registry.make("forms", stated["form"], {}), Schema(columns, tuple(stated["order"]), stated["strict"]), policy,
        books, np.array(stated["cells"], np.int32), None if stated["levels"] is None else tuple(stated["levels"]),
        stated["provenance"],
    )  # fmt: skip


def _book(stated: dict[str, Any]) -> Codebook:
    low, high, levels = (np.array(stated[what], np.int32) for what in ("low", "high", "levels"))
    lengths = np.array(stated["lengths"], np.float64)
    return Codebook(stated["column"], objects(stated["labels"]), low, high, levels, lengths, raw=stated["raw"])


def _hierarchy(name: str, stated: dict[str, Any]) -> Hierarchy:
    return Hierarchy(
        name,
        np.array(stated["codes"], np.int32),
        tuple(objects(level) for level in stated["labels"]),
        None if stated["values"] is None else np.array(stated["values"], np.float64),
        None if stated["bounds"] is None else tuple((np.array(low), np.array(high)) for low, high in stated["bounds"]),
        stated["missing"],
        stated["automatic"],
        None if stated["calendar"] is None else Calendar(**stated["calendar"]),
    )


def _checked(rule: ReusableRecoding) -> ReusableRecoding:
    """The rule, when its parts fit together."""
    quasi = rule.schema.quasi
    fits = bool(rule.policy.models) and rule.cells.shape[1:] > (0,)
    for name, book, cells in zip(quasi, rule.codebooks, rule.cells, strict=True):
        tree = rule.schema[name].hierarchy
        if tree is None:
            raise ValueError("a quasi-identifier has no hierarchy")
        fits &= bool(cells.min() >= 0 and cells.max() < len(book) and book.levels.max() <= tree.height)
        fits &= bool(book.low.min() >= 0 and np.all(book.low <= book.high) and book.high.max() < tree.size)
    if not fits or (rule.levels is not None and len(rule.levels) != len(quasi)):
        raise ValueError("its parts do not fit together")
    return rule
