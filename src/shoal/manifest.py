"""The manifest of a release, read with distrust: whoever held the release may have changed it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, Field, StrictBool, StrictFloat, StrictInt, StrictStr, ValidationError, model_validator

from shoal.core.release import FORMAT, manifest_path
from shoal.core.schema import Kind, Role
from shoal.errors import InputError

Count = Annotated[StrictInt, Field(ge=0)]


class _Column(BaseModel):
    name: StrictStr
    role: Role
    kind: Kind


class _Policy(BaseModel):
    models: list[dict[str, Any]] = Field(min_length=1)
    suppression: StrictFloat | StrictInt
    objective: dict[str, Any] | None = None


class _Sensitive(BaseModel):
    leaves: list[Count]
    population: list[Count]
    levels: list[list[Count]]

    @model_validator(mode="after")
    def _is_a_tree(self) -> _Sensitive:
        size = len(self.population)
        if len(set(self.leaves)) < len(self.leaves) or any(leaf >= size for leaf in self.leaves):
            raise ValueError("its leaves do not fit its population")
        finer = np.arange(size)
        for level in self.levels:
            codes = np.array(level, dtype=np.int64)
            steps = np.diff(codes)
            # nodes are numbered along the leaves, and one that is left behind never parts again
            if len(codes) != size or codes[:1].sum() != 0 or not np.isin(steps, (0, 1)).all():
                raise ValueError("its levels are no tree")
            if bool((steps[np.diff(finer) == 0] != 0).any()):
                raise ValueError("its levels are no tree")
            finer = codes
        return self


class _Manifest(BaseModel):
    sha256: StrictStr
    records: Count
    published: Count
    seed: Count
    policy: _Policy
    columns: list[_Column]
    sensitive: dict[str, _Sensitive]
    strict: StrictBool = False

    @model_validator(mode="after")
    def _fits_together(self) -> _Manifest:
        names = [column.name for column in self.columns]
        if len(set(names)) < len(names):
            raise ValueError("it names a column twice")
        if {column.name for column in self.columns if column.role is Role.SENSITIVE} != set(self.sensitive):
            raise ValueError("its sensitive attributes are not those of its columns")
        if any(sum(shape.population) != self.records for shape in self.sensitive.values()):
            raise ValueError("its counts of sensitive values do not add up to its records")
        return self


def load(path: Path) -> dict[str, Any]:
    """What the manifest beside a release says, when it is one and its parts fit together."""
    beside = manifest_path(path)
    try:
        stated = json.loads(beside.read_text(encoding="utf-8"))
    except OSError:
        raise InputError(f"{beside.name}: there is no manifest beside the release") from None
    except (ValueError, RecursionError):
        raise InputError(f"{beside.name}: this is not a manifest") from None
    if not isinstance(stated, dict) or "format" not in stated:
        raise InputError(f"{beside.name}: this is not a manifest of a Shoal release")
    if stated["format"] != FORMAT:
        raise InputError(f"{beside.name}: its format is not {FORMAT}; verify it with the version that wrote it")
    try:
        _Manifest.model_validate(stated)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{beside.name}: this manifest is broken: {place} {first['msg']}".replace(" :", ":")) from None
    return stated
