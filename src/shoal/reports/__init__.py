"""Reports: what a privacy officer signs, as a page that stands on its own and as JSON."""

from __future__ import annotations

from shoal.reports.assembly import report
from shoal.reports.codebook import ReleaseCodebook, codebook
from shoal.reports.contents import About
from shoal.reports.document import Report

__all__ = ["About", "ReleaseCodebook", "Report", "codebook", "report"]
