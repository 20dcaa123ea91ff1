"""Packing: what an algorithm decided as a file of numbers and texts, and back; nothing in such a file is ever run."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from shoal.core.blocks import Blocks
from shoal.core.codebook import Codebook
from shoal.core.grouping import Codes
from shoal.core.recoding import Counterfeits, Plan, Recoding
from shoal.parsing.labels import objects
from shoal.storage.checkpoint import Checkpoint

STATED = "told"
BLOCK = "block-"
"""How the parts of a run's state begin that are about blocks."""

_BOOK = ("low", "high", "levels", "lengths")

Packed = tuple[dict[str, Any], dict[str, NDArray[Any]]]
"""What is packed: what JSON can spell, and arrays."""

BROKEN = (OSError, ValueError, KeyError, TypeError, IndexError, EOFError, zipfile.BadZipFile)
"""What reading a file raises that was not packed here."""


def pack(file: IO[bytes], stated: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Writes what JSON can spell, and arrays of numbers or texts beside it."""
    texts = {name: array.tolist() for name, array in arrays.items() if array.dtype == object}
    header = json.dumps({"told": stated, "texts": texts}, default=_plain).encode("utf-8", "surrogatepass")
    numbers = {name: array for name, array in arrays.items() if name not in texts}
    np.savez(file, allow_pickle=False, **{STATED: np.frombuffer(header, np.uint8)}, **numbers)


def _plain(value: Any) -> Any:
    """A number of numpy, or an array of them, as JSON spells it."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(type(value).__name__)


def unpack(path: Path) -> Packed:
    """What was packed; raises one of `BROKEN` where nothing was."""
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    header = json.loads(arrays.pop(STATED).tobytes().decode("utf-8", "surrogatepass"))
    for name, texts in header["texts"].items():
        arrays[name] = objects(texts)
    return header["told"], arrays


def spelled(recoding: Recoding, known: Codes | None = None) -> Packed:
    """A recoding, to be packed; keys that are those `known` of a summary are left out, which has them."""
    arrays: dict[str, NDArray[Any]] = {}
    stated: dict[str, Any] = {
        "form": recoding.form, "options": dict(recoding.options), "facts": dict(recoding.facts),
        "hulls": dict(recoding.hulls), "levels": recoding.levels, "trail": recoding.trail,
        "changed": list(recoding.changed), "ghosts": {name: list(keys) for name, keys in recoding.ghosts.items()},
        "books": None,
    }  # fmt: skip
    plan, fakes = recoding.plan, recoding.counterfeits
    if plan is not None:
        stated["books"] = [[book.column, book.raw, book.means] for book in plan.codebooks]
        stated["by_record"] = plan.by_record
        arrays |= {"classes": plan.classes, "withheld": plan.withheld, "cells": plan.cells}
        if plan.keys is not known:
            arrays["keys"] = plan.keys
        if plan.sizes is not None:
            arrays["tuple_sizes"] = plan.sizes
        if plan.blocks is not None:
            arrays |= {f"cut_{name}": array for name, array in cuts(plan.blocks).items()}
        for at, book in enumerate(plan.codebooks):
            arrays[f"labels{at}"] = book.labels.astype(object)
            arrays |= {f"{what}{at}": getattr(book, what) for what in _BOOK}
    if fakes is not None:
        arrays |= {"fake_groups": fakes.groups, "fake_leaves": fakes.leaves}
    arrays |= {f"changed{at}": values for at, values in enumerate(recoding.changed.values())}
    return stated, arrays


def read(stated: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], known: Codes | None = None) -> Recoding:
    """The recoding that was spelled so."""
    plan = None
    if stated["books"] is not None:
        books = tuple(
            Codebook(column, arrays[f"labels{at}"], **_numbers(arrays, at), raw=raw, means=means)
            for at, (column, raw, means) in enumerate(stated["books"])
        )
        keys = arrays.get("keys", known)
        if keys is None:
            raise KeyError("keys")
        cut = {name.removeprefix("cut_"): array for name, array in arrays.items() if name.startswith("cut_")}
        plan = Plan(
            keys, arrays["classes"], arrays["withheld"], arrays["cells"], books, stated["by_record"],
            Blocks(**cut) if cut else None, arrays.get("tuple_sizes"),
        )  # fmt: skip
    return Recoding(
        plan, stated["form"], stated["options"], stated["facts"], stated["hulls"],
        levels=None if stated["levels"] is None else tuple(stated["levels"]),
        trail=tuple((tuple(node), holds) for node, holds in stated["trail"]),
        changed={name: arrays[f"changed{at}"] for at, name in enumerate(stated["changed"])},
        counterfeits=Counterfeits(arrays["fake_groups"], arrays["fake_leaves"]) if "fake_groups" in arrays else None,
        ghosts={name: tuple(keys) for name, keys in stated["ghosts"].items()},
    )  # fmt: skip


def cuts(blocks: Blocks) -> dict[str, NDArray[Any]]:
    """The arrays that blocks are made of."""
    return {field.name: getattr(blocks, field.name) for field in fields(blocks)}


def _numbers(arrays: Mapping[str, NDArray[Any]], at: int) -> dict[str, Any]:
    """What a codebook has beside its labels."""
    return {what: arrays[f"{what}{at}"] for what in _BOOK}


Made = TypeVar("Made")


def once(
    checkpoint: Checkpoint | None,
    name: str,
    make: Callable[[], Made],
    put: Callable[[Made], Packed],
    take: Callable[[dict[str, Any], dict[str, NDArray[Any]]], Made],
) -> Made:
    """What was made when a run was begun, by the name of that part of its state; otherwise it is made now, and kept."""
    path = None if checkpoint is None else checkpoint.part(name)
    if checkpoint is None or path is None:
        result = make()
        if checkpoint is not None:
            with checkpoint.keeping(name) as file:
                pack(file, *put(result))
        return result
    try:
        return take(*unpack(path))
    except BROKEN:
        raise checkpoint.damaged() from None
