"""A job with suggested roles, to be saved as a file and looked at."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from shoal import registry
from shoal.diagnosis.detection import Detection
from shoal.errors import ShoalError
from shoal.job.job import Job
from shoal.job.plugins import plugin

SUGGESTED_K = 5
"""Of a job that is suggested: who looks at it decides."""


def suggested(job: Job, detection: Detection, file: Path) -> Job:
    """The job with the roles that a detection suggests and k-anonymity; the release goes beside the job's file unless
    the job says where. An identifier that repeats says whose each record is."""
    models = job.models or (plugin("models", {"name": "k-anonymity", "k": SUGGESTED_K}),)
    roles = job.with_columns({"role": detection.job_roles()})
    return replace(roles, models=models, output=job.output or _release_beside(job, file))


def _release_beside(job: Job, file: Path) -> Path:
    source = job.input or file
    place = file.with_name(f"{source.name.split('.')[0]}-release{''.join(source.suffixes) or '.csv'}")
    try:
        (job.engine or registry.engine()).check_format(place)
    except ShoalError:  # it can be read and not be written
        return place.with_name(f"{source.name.split('.')[0]}-release.csv")
    return place
