"""Dagster assets: a release made from a table, and an asset check that fails when anybody in it is exposed.

The rows stay in files; Dagster keeps counts, and no cell.
"""

import dagster as dg

import shoal
from shoal.testing import exposure

QUASI = ["age", "sex", "town"]


class Files(dg.Config):
    """Where the table lies, and where the release goes."""

    table: str = "visits.csv"
    release: str = "release.csv"


@dg.asset
def release(config: Files) -> dg.MaterializeResult:
    """The table of visits, anonymized; its manifest lies beside it."""
    data = shoal.read(config.table, quasi=QUASI, sensitive=["disease"], identifiers=["name"])
    made = shoal.anonymize(data, "k-anonymity:k=5", "distinct-l-diversity:l=2", suppression=0.05)
    made.write(config.release)
    return dg.MaterializeResult(metadata={"path": dg.MetadataValue.path(config.release), "left out": made.suppressed})


@dg.asset_check(asset=release, blocking=True)
def nobody_is_exposed(config: Files) -> dg.AssetCheckResult:
    """The published file, read as a recipient does, and held against its manifest."""
    told = exposure(config.release, "k-anonymity:k=5", "distinct-l-diversity:l=2", quasi=QUASI, sensitive=["disease"])
    return dg.AssetCheckResult(
        passed=not any(each.groups for each in told) and shoal.verify(config.release).holds,
        metadata={each.finding.claim: f"{each.people} of {each.everybody} people exposed" for each in told},
    )


defs = dg.Definitions(assets=[release], asset_checks=[nobody_is_exposed])
