"""The screens, in the order in which somebody walks through them. Each is one question.

A screen is a module with `facts`, which its JSON version shows and its template gets, `ACTIONS`, which change the job
and are posted to `/<screen>/<action>`, `PICTURES`, charts under `/<screen>/<picture>.svg`, and `FILES` to be saved,
under `/<screen>/<file>`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from shoal.web.session import PageSession

NAMES = ("exposed", "why", "give-up", "candidates", "before-after", "attack", "balance", "hand-over")

Fields = Mapping[str, str]
"""What an address asks for, or a form holds."""


@dataclass(frozen=True)
class Screen:
    """A screen's name and what its module offers."""

    name: str
    facts: Callable[[PageSession, Fields], dict[str, Any]]
    actions: Mapping[str, Callable[[PageSession, Fields], str | None]]
    pictures: Mapping[str, Callable[[PageSession, Fields], Any]]
    files: Mapping[str, Callable[[PageSession, Fields], tuple[str, bytes]]]

    @property
    def address(self) -> str:
        return f"/{self.name}"

    @property
    def key(self) -> str:
        """Of its words and its template."""
        return self.name.replace("-", "_")


def screens_by_name() -> dict[str, Screen]:
    """All screens by name."""
    screens = {}
    for name in NAMES:
        module = import_module(f"shoal.web.screens.{name.replace('-', '_')}")
        offered = (getattr(module, part, {}) for part in ("ACTIONS", "PICTURES", "FILES"))
        screens[name] = Screen(name, module.facts, *offered)
    return screens
