"""The chain of a ledger's entries: each has a keyed code of its content and of the code before it."""

from __future__ import annotations

import hmac
import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

ENTRIES = {
    "releases": "number, made, name, state, place, sha256, manifest, seen, unjudged",
    "sessions": "number, made, figures",
}
"""The columns of an entry that its code covers."""
SEAL = "seal"


@dataclass(frozen=True)
class Chain:
    """The codes of the entries of a ledger: each of an entry and of the code before it, and a seal over everything."""

    database: sqlite3.Connection
    secret: bytes

    def _code(self, *parts: Any) -> str:
        """A keyed code of texts, numbers and bytes, each with its kind and length, so that nothing runs together."""
        code = hmac.new(self.secret, b"shoal ledger", "sha256")
        for part in parts:
            content = part if isinstance(part, bytes) else json.dumps(part).encode()
            code.update(f"{type(part).__name__} {len(content)} ".encode() + content)
        return code.hexdigest()

    def _codes(self, table: str) -> list[tuple[int, str, str]]:
        """The number of each entry of a table, the code that it should have, and the one that it has."""
        codes: list[tuple[int, str, str]] = []
        for *content, written in self.database.execute(f"SELECT {ENTRIES[table]}, code FROM {table} ORDER BY number"):
            codes.append((content[0], self._code(table, codes[-1][1] if codes else "", *content), written))
        return codes

    def _seal(self, codes: Mapping[str, list[tuple[int, str, str]]]) -> str:
        ends = [(table, len(entries), entries[-1][1] if entries else "") for table, entries in codes.items()]
        facts = self.database.execute("SELECT name, value FROM facts WHERE name <> ? ORDER BY name", (SEAL,)).fetchall()
        return self._code("seal", ends, facts)

    def faults(self) -> list[str]:
        """What is not as it was entered."""
        codes = {table: self._codes(table) for table in ENTRIES}
        for table, entries in codes.items():
            what = table.removesuffix("s")
            for place, (number, code, written) in enumerate(entries, start=1):
                if number != place:
                    return [f"{what} {place} is missing"]
                if not hmac.compare_digest(code, written):
                    return [f"{what} {number} was changed"]
        seal = self.database.execute("SELECT value FROM facts WHERE name = ?", (SEAL,)).fetchone()
        if seal is None or not hmac.compare_digest(self._seal(codes), seal[0]):
            return ["the last entries are missing, or how people are told apart was changed"]
        return []

    def close(self) -> None:
        """Writes the codes of entries that changed, and the seal."""
        codes = {table: self._codes(table) for table in ENTRIES}
        for table, entries in codes.items():
            changed = [(code, number) for number, code, written in entries if code != written]
            self.database.executemany(f"UPDATE {table} SET code = ? WHERE number = ?", changed)
        self.database.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (SEAL, self._seal(codes)))
