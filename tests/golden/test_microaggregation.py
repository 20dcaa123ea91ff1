"""The literature's figures of microaggregation on the CASC tables, 100 · SSE / SST."""

import numpy as np
import polars as pl
import pytest
from counts import LONG

import shoal

MDAV = {("Tarragona", 3): 16.93, ("Tarragona", 5): 22.46, ("Tarragona", 10): 33.19,
        ("EIA", 3): 0.59, ("EIA", 5): 1.59, ("EIA", 10): 3.27}  # fmt: skip
REFINED = {("Tarragona", 3): 14.55, ("Tarragona", 5): 20.25, ("Tarragona", 10): 30.3,
           ("EIA", 3): 0.37, ("EIA", 5): 0.76, ("EIA", 10): 1.86}  # fmt: skip


@pytest.fixture(scope="module")
def casc(reference):
    folder = reference.parent / "casc"
    if not folder.is_dir():
        pytest.skip("they need the CASC tables beside the reference data")
    return folder


def lost(folder, name, k, algorithm):
    """What a release reports that it lost, and what the published means say."""
    table = pl.read_csv(folder / f"{name}.csv").with_row_index("row")
    columns = table.columns[1:]
    release = shoal.anonymize(shoal.read(table, quasi=columns), f"k-anonymity:k={k}", algorithm=algorithm, seed=1)
    true, means = (frame.sort("row")[columns].to_numpy().astype(float) for frame in (table, release.frame))
    errors, totals = ((true - means) / true.std(axis=0)) ** 2, ((true - true.mean(axis=0)) / true.std(axis=0)) ** 2
    assert np.unique(means, axis=0, return_counts=True)[1].min() >= k
    return release.recoding.facts["loss"], 100 * errors.sum() / totals.sum()


@pytest.mark.parametrize(("name", "k"), MDAV)
def test_mdav_is_the_one_of_the_literature(casc, name, k):
    reported, measured = lost(casc, name, k, "mdav")
    assert reported == pytest.approx(MDAV[name, k], abs=0.005) and measured == pytest.approx(reported, rel=1e-6)


@pytest.mark.parametrize(("name", "k"), REFINED if LONG else [("Tarragona", 10)])
def test_refined_groups_lose_less(casc, name, k):
    reported, measured = lost(casc, name, k, "mdav:refine=true")
    assert reported <= REFINED[name, k] and measured == pytest.approx(reported, rel=1e-6)
