"""A recipient at the page of `shoal verify --page`: drops files on it and reads what it says."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.errors import ShoalError
from shoal.manifest import parts
from shoal.publishing.writable_release import manifest_path

ROWS = """() => [...document.querySelectorAll('#checks tr')].map(row => [
  row.dataset.check, row.dataset.value, row.dataset.holds, row.cells[1].textContent, row.cells[4].textContent])"""


@dataclass(frozen=True)
class Answer:
    """What the page says: its verdict, the sentence, and each check as (name, value, holds, mark, meaning)."""

    verdict: str
    sentence: str
    checks: list[tuple[str, str, bool | None, str, str]]

    def __getitem__(self, name: str) -> tuple[str, bool | None]:
        [entry] = [each for each in self.checks if each[0] == name]
        return entry[1], entry[2]

    @property
    def not_here(self) -> list[str]:
        """The checks that the page leaves to the command."""
        return [name for name, _, _, mark, _ in self.checks if mark == "not checked here"]


class Recipient:
    def __init__(self, page: Any) -> None:
        self.page = page

    def drop(self, *files: Path) -> Answer:
        """Starts again with some files, and waits for the answer."""
        page = self.page
        if page.locator("#again").is_visible():
            page.click("#again")
        page.set_input_files("#choose", [str(file) for file in files])
        page.wait_for_function(
            "() => !['waiting', 'working'].includes(document.getElementById('verdict').dataset.verdict)"
        )
        verdict = page.get_attribute("#verdict", "data-verdict")
        holds = {"true": True, "false": False, "null": None}
        rows = page.evaluate(ROWS) if verdict != "error" else []
        return Answer(
            verdict,
            page.inner_text("#verdict"),
            [(name, value, holds[held], mark, meaning) for name, value, held, mark, meaning in rows],
        )

    def agree(self, path: Path, key: Path | None = None) -> Answer:
        """Drops a release, and asserts that the page says what `shoal.verify` says, where it says anything."""
        stated = None
        try:
            findings: Any = shoal.verify(path, key=key)
            stated = shoal.manifest.load(path)
        except ShoalError:
            findings = None
        tables = parts(stated, path).values() if stated else [path]
        answer = self.drop(*tables, manifest_path(path), *([] if key is None else [key]))
        if findings is None:
            assert answer.verdict == "error" or answer.not_here, answer
            return answer
        if not findings.holds:
            assert answer.verdict == "no" or answer.not_here, (answer, findings)
        else:
            assert answer.verdict in ("yes", "unsigned", "partly"), (answer, findings)
        named = [
            each for each in answer.checks if each[0] not in ("signature", "models") and each[3] != "not checked here"
        ]
        expected = [each for each in findings if each.name != "signature"]
        if answer.not_here:
            wanted = {each[0] for each in named}
            expected = [each for each in expected if each.name in wanted]
        assert [each[0] for each in named] == [each.name for each in expected], (answer, findings)
        for (name, value, held, _, _), finding in zip(named, expected, strict=True):
            assert held == finding.holds, (name, value, held, finding)
            if isinstance(finding.value, (int, float)):
                shown = math.inf if value == "Infinity" else float(value)
                assert shown == pytest.approx(finding.value, rel=1e-9, abs=1e-12), (name, value, finding)
        return answer
