"""What a job says, as the arguments of the Python verbs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.job.columns import ColumnJob
from shoal.job.job import Job
from shoal.job.option import Option, options


def arguments(job: Job, verb: str) -> dict[str, Any]:
    """The arguments of a verb by name, without those that are as they always are.

    Example:
        >>> arguments(Job(delimiter=";", suppression=0.02), "anonymize")
        {'suppression': 0.02}
    """
    return {option.argument: value for option, value in given(job) if verb in option.verbs}


def given(job: Job) -> list[tuple[Option, Any]]:
    """Every option that a job sets, with its value: first what is read, in which roles. A setting of columns has a
    mapping from column to value."""
    nouns: tuple[Any, ...] = (job, job.roles)
    set_options = [
        (option, value)
        for noun in nouns
        for option in options(noun)
        if (value := getattr(noun, option.name)) != option.default
    ]
    settings = [(option, column_settings(job, option)) for option in options(ColumnJob) if option.verbs]
    return [*set_options, *((option, values) for option, values in settings if values)]


def column_settings(job: Job, option: Option) -> Mapping[str, Any]:
    """What a job sets of an option of columns, by column."""
    values = {name: getattr(column, option.name) for name, column in job.columns.items()}
    return {name: value for name, value in values.items() if value != option.default}
