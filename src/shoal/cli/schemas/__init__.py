"""What commands print with `--json`, as types, and the job file: a schema is made of each.

Keys may be added at any time; what stands here stays as it is until the version changes.
"""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from shoal.cli.output import VERSION
from shoal.cli.schemas.diagnosis import Dependent, Detected, Diagnosed, Hierarchical, Scanned, SpecialUniques
from shoal.cli.schemas.entries import Failed
from shoal.cli.schemas.release import (
    Anonymized,
    Applied,
    Attacked,
    Demonstrated,
    Evaluated,
    Keyed,
    Queried,
    Recovered,
    Sampled,
    Verified,
    VerifyingPage,
    VerifyingQueries,
)
from shoal.cli.schemas.report import Described, Reported
from shoal.cli.schemas.several_releases import Exported, Judged, Listed, Overlapping, RulesOutput
from shoal.cli.schemas.sweep import Balanced, Comparing
from shoal.job import file

OUTPUTS: dict[str, Any] = {
    "anonymize": Anonymized, "apply": Applied, "attack": Attacked, "balance": Balanced, "codebook": Described,
    "compare": Comparing, "demo": Demonstrated, "dependencies": Dependent, "detect": Detected, "diagnose": Diagnosed,
    "error": Failed, "evaluate": Evaluated, "hierarchy": Hierarchical, "keys": Keyed, "ledger-check": Judged,
    "ledger-export": Exported, "ledger-list": Listed, "overlap": Overlapping, "query": Queried, "recover": Recovered,
    "report": Reported, "rules": RulesOutput, "sample": Sampled, "scan": Scanned, "suda": SpecialUniques,
    "verify": Verified, "verify-page": VerifyingPage, "verify-sql": VerifyingQueries,
}  # fmt: skip
"""By the `command` that the output names."""


JOB = "job"
NAMES = (*OUTPUTS, JOB)
"""Whatever has a schema: the job file, too."""


def schema(name: str) -> dict[str, Any]:
    """The JSON schema of what a command prints, or of the job file."""
    body = file.schema() if name == JOB else TypeAdapter(OUTPUTS[name]).json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"shoal/{name}/{VERSION}",
        "title": "A job file of Shoal" if name == JOB else f"shoal {name}",
        **{key: value for key, value in body.items() if key != "title"},
    }
