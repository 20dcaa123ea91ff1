"""What must hold of every clustering of any table."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from counts import count
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import InfeasibleError

ALGORITHMS = [
    "oka", "k-means", "k-member", "two-phase:splitting=A", "two-phase:splitting=B", "mst", "mdav",
    "oka:refine=true", "mst:refine=true", "mondrian:refine=true",
]  # fmt: skip

rows = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(0, 9)), st.sampled_from("abcd"), st.integers(-3, 3), st.sampled_from("xyz")
    ),
    min_size=1,
    max_size=40,
)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@settings(max_examples=count(5, 25), deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(table=rows, k=st.integers(1, 6), diseases=st.integers(1, 3), seed=st.integers(0, 3))
def test_a_clustering_is_a_partition_that_keeps_the_policy(
    algorithm: str,
    table: list[tuple],
    k: int,
    diseases: int,
    seed: int,
) -> None:
    frame = pl.DataFrame(table, schema={"a": pl.Int64, "b": pl.String, "c": pl.Int64, "s": pl.String}, orient="row")
    data = shoal.read(frame.with_row_index("row"), quasi=["a", "b", "c"], sensitive=["s"])
    models = (f"k-anonymity:k={k}", f"distinct-l-diversity:l={diseases}")
    feasible = len(table) >= k and frame["s"].n_unique() >= diseases
    try:
        release = shoal.anonymize(data, *models, algorithm=algorithm, seed=seed, allow_plain=["row"])
    except InfeasibleError:
        assert not feasible
        return
    assert feasible
    assert sorted(release.frame["row"]) == list(range(len(table)))
    published = release.frame.sort("row")
    assert published["s"].to_list() == frame["s"].to_list()
    groups = published.group_by("a", "b", "c").agg(pl.len(), pl.col("s").n_unique())
    assert groups["len"].min() >= k
    assert groups["s"].min() >= diseases
    again = shoal.anonymize(data, *models, algorithm=algorithm, seed=seed, allow_plain=["row"])
    assert again.frame.equals(release.frame)
    low, high = release.view.cells().low, release.view.cells().high
    assert np.all(low <= high)
