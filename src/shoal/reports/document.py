"""Report: what a report says, as a page, as JSON and as pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

from shoal.errors import ParameterError, alternatives
from shoal.plots.drawing import save
from shoal.reports.contents import PAGE, ReportContents, check_endings
from shoal.reports.page import rendered
from shoal.storage.files import replacing_all


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Report(ReportContents):
    """A report that can be shown and written."""

    def html(self) -> str:
        """The report as a page that stands on its own. It needs the extra `report`."""
        return rendered(self)

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(sentence)}</p>" for sentence in self.sentences)

    def write(self, *paths: str | Path, pictures: Mapping[str, Path] | None = None) -> tuple[Path, ...]:
        """Writes the report as a page (`.html`), as JSON (`.json`), or as both, and single pictures of it by their
        names; all of them, or none."""
        places, drawn = tuple(Path(path) for path in paths), dict(pictures or {})
        check_endings(places)
        unknown = [name for name in drawn if name not in self.pictures]
        if unknown:
            raise ParameterError(f"the report has no picture {unknown[0]!r}; {alternatives(unknown[0], self.pictures)}")
        if not places and not drawn:
            return ()
        texts = [self.html() if path.suffix == PAGE else self.json() for path in places]
        with replacing_all(*places, *drawn.values()) as beside:
            for path, text in zip(beside, texts, strict=False):
                path.write_text(text, encoding="utf-8")
            for path, name in zip(beside[len(places) :], drawn, strict=True):
                save(self.pictures[name], path)
        return (*places, *drawn.values())
