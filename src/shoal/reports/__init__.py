"""Reports: what a privacy officer signs, as a page that stands on its own and as JSON."""

from __future__ import annotations

from shoal.reports.contents import About
from shoal.reports.document import Report
from shoal.reports.making import report

__all__ = ["About", "Report", "report"]
