"""With every default, no more than 5 % is lost beyond the best of all local algorithms with refinement."""

from __future__ import annotations

import pytest
from benchmarks.default import ALLOWED, DIVERSE, best, losses, office, part_of_adult
from benchmarks.local_recoding import NINE
from counts import LONG
from tables import TABLES

import shoal

SIZES = {
    "hospital admissions": {"rows": 420, "people": 300},
    "court records": {"rows": 300},
    "COVID register": {"rows": 420, "people": 300},
    "panel survey": {"people": 120},
    "insurance claims": {"rows": 420, "people": 300},
}


def adult(rows: int) -> shoal.Dataset:
    table = shoal.samples.adult().drop("education-num").gather_every(30162 // rows)
    return shoal.read(table, quasi=NINE, hierarchies=shoal.samples.hierarchies("adult"))


@pytest.mark.parametrize("name", [*TABLES, "Adult"] if LONG else ["panel survey", "Adult"])
def test_the_default_is_close_to_the_best(name):
    found = losses(adult(500) if name == "Adult" else office(name, **SIZES[name]))
    assert 0 < found["auto"].loss <= ALLOWED * found[best(found)].loss


def test_one_date_beside_its_ages_loses_no_more_than_a_spanning_tree_or_refined_cuts():
    """A date of birth with the age and its group beside it is what cuts take apart and a spanning tree follows."""
    found = losses(office("court records"), rivals=("mondrian", "mst:cut=literal"))
    assert found["auto"][0] <= ALLOWED * min(found["mondrian"][0], found["mst:cut=literal"][0])


@pytest.mark.parametrize(
    "models",
    [("frequency-l-diversity:l=4",), ("k-anonymity:k=5", "t-closeness:t=0.3", "distinct-l-diversity:l=3")],
    ids=["frequency", "k, t and l"],
)
def test_the_default_is_close_to_the_best_under_models_of_sensitive_values(models):
    results = losses(part_of_adult(250, "occupation"), models, ("mondrian", "k-member", "oka", "mdav", *DIVERSE))
    assert 0 < results["auto"].loss <= ALLOWED * results[best(results)].loss
