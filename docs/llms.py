"""Writes `llms.txt` when the site is built: what each page is about, for language models (https://llmstxt.org)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_menu: list[Any] = []


def on_nav(nav: Any, config: Any, files: Any) -> Any:
    _menu[:] = nav.items
    return nav


def on_post_build(config: Any) -> None:
    parts = [f"# {config.site_name}\n\n> {config.site_description}\n"]
    for section in _menu:
        lines = [f"- [{page.title}]({page.url}): {_first_sentence(page.markdown)}\n" for page in _pages(section)]
        parts.append(f"\n## {section.title}\n\n{''.join(lines)}")
    (Path(config.site_dir) / "llms.txt").write_text("".join(parts), encoding="utf-8")


def _pages(item: Any) -> list[Any]:
    return [item] if item.children is None else [page for child in item.children for page in _pages(child)]


def _first_sentence(markdown: str) -> str:
    """How a page begins below its heading, without links and code."""
    prose = re.sub(r"^```.*?^```$", "", markdown, flags=re.DOTALL | re.MULTILINE)
    plain = (part for part in re.split(r"\n\s*\n", prose) if re.match(r"\s*[\w*`\[]", part))
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(next(plain, "").split()))
    return re.split(r"(?<=[.?]) ", text)[0]
