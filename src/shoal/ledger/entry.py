"""One release of a ledger: its manifest, and who is where in it, packed."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shoal.core.release_history import LocatedRelease, Promise, PublishedValues
from shoal.ledger.judgement import THIS, Unjudged


@dataclass(frozen=True)
class Entry:
    """One release of the ledger, with what could not be judged of it and was allowed. `place` is where its file lies,
    from the ledger's folder on, and `located` says who is where in it, packed; None where nobody can say that."""

    number: int
    date: str
    name: str
    state: str
    place: str | None
    sha256: str | None
    manifest: dict[str, Any]
    located: bytes | None = field(repr=False)
    unjudged: tuple[Unjudged, ...] = ()

    @property
    def title(self) -> str:
        return f"release {self.number} ({self.name})"

    @property
    def models(self) -> list[str]:
        """The models that it promises."""
        return [str(model.get("name")) for model in self.manifest.get("policy", {}).get("models", [])]

    def release(self) -> LocatedRelease | None:
        """Who is where in it."""
        return None if self.located is None else unpack(self.located, self.title)

    @property
    def not_located(self) -> Unjudged:
        """That nobody can say who is where in it, and why."""
        reasons = [each.reason for each in self.unjudged if each.name == THIS]
        return Unjudged(f"release:{self.number}", next(iter(reasons), "nobody can say who is where in it"))

    def as_dict(self) -> dict[str, Any]:
        """The entry as JSON holds it; who was where stays in the ledger."""
        return {
            "number": self.number,
            "made": self.date,
            "name": self.name,
            "manifest": self.manifest,
            "not_judged": [each.sentence for each in self.unjudged],
        }


def pack(release: LocatedRelease) -> bytes:
    """Who is where in a release and what was published of it, in the order of the hashes, which tells nothing."""
    order = np.lexsort([*([] if release.records is None else [release.records]), release.ids])
    arrays: dict[str, Any] = {"ids": release.ids[order], "groups": release.groups[order]}
    if release.classes is not None and release.classes is not release.groups:
        arrays["classes"] = release.classes[order]
    if release.records is not None:
        arrays["records"] = release.records[order]
    for at, column in enumerate(release.values.values()):
        arrays |= {f"owners{at}": column.owners, f"values{at}": column.values, f"counts{at}": column.counts}
    stated = {
        "linking": release.linking,
        "shown": release.shown,
        "several": release.several,
        "promise": vars(release.promise),
        "identity": release.classes is not None,
        "texts": {name: each.texts for name, each in release.values.items()},
    }
    arrays["stated"] = np.frombuffer(json.dumps(stated).encode(), np.uint8)
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def unpack(content: bytes, name: str) -> LocatedRelease:
    """What `pack` gave, under another name."""
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        stated = json.loads(arrays["stated"].tobytes())
        values = {
            column: PublishedValues(tuple(texts), arrays[f"owners{at}"], arrays[f"values{at}"], arrays[f"counts{at}"])
            for at, (column, texts) in enumerate(stated["texts"].items())
        }
        groups = arrays["groups"]
        return LocatedRelease(
            name=name,
            ids=arrays["ids"],
            records=arrays["records"] if stated["several"] else None,
            classes=arrays["classes"] if "classes" in arrays else groups if stated["identity"] else None,
            groups=groups,
            values=values,
            linking=tuple(stated["linking"]),
            shown=tuple(stated["shown"]),
            promise=Promise(**stated["promise"]),
            several=stated["several"],
        )
