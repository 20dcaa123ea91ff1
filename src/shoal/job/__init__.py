"""Jobs: the options of a run, each declared once, and everything that spells them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.job.columns import ColumnJob as ColumnJob
    from shoal.job.file import load as load
    from shoal.job.file import parse as parse
    from shoal.job.file import toml as toml
    from shoal.job.job import DEFAULT_ALGORITHM as DEFAULT_ALGORITHM
    from shoal.job.job import Job as Job
    from shoal.job.plugins import builder as builder
    from shoal.job.plugins import engine as engine
    from shoal.job.plugins import plugin as plugin
    from shoal.job.plugins import spelled as spelled
    from shoal.job.plugins import written as written

_FOUND_IN = {
    "file": ("load", "parse", "toml"),
    "columns": ("ColumnJob",),
    "job": ("DEFAULT_ALGORITHM", "Job"),
    "plugins": ("builder", "engine", "plugin", "spelled", "written"),
}
"""What users of jobs need, imported on first use: the command shows its help without the rest."""


def __getattr__(name: str) -> Any:
    for module, names in _FOUND_IN.items():
        if name in names:
            return getattr(import_module(f"shoal.job.{module}"), name)
    raise AttributeError(f"module 'shoal.job' has no attribute {name!r}")
