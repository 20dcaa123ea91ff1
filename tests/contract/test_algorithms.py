"""Every algorithm is asked the same questions."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal import registry
from shoal.core.policy import Policy
from shoal.core.run import Run
from shoal.errors import InfeasibleError, ParameterError

NAMES = registry.names("algorithms")
QUASI = ["age", "sex", "race", "marital-status"]
K = shoal.KAnonymity(k=4)
POLICIES: dict[str, tuple[Any, ...]] = {
    "k-anonymity": (K,),
    "k-anonymity and diversity": (K, shoal.DistinctLDiversity(l=2)),
    "t-closeness": (shoal.KAnonymity(k=2), shoal.TCloseness(t=0.5)),
}


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return shoal.samples.adult().select(*QUASI, "occupation", "hours-per-week").head(400)


def opened(table: pl.DataFrame) -> shoal.Dataset:
    hierarchies = shoal.samples.hierarchies("adult")
    return shoal.read(table, quasi=QUASI, sensitive=["occupation"], hierarchies=hierarchies)


def released(name: str, data: shoal.Dataset, policy: str, **more: Any) -> shoal.Release:
    """A release, or a skip when the algorithm says that it does not take such a policy."""
    try:
        return shoal.anonymize(data, *POLICIES[policy], algorithm=name, **more)
    except ParameterError as refusal:
        pytest.skip(str(refusal))


def test_full_domain_searches_are_among_them() -> None:
    assert {"samarati", "optimal", "incognito", "datafly"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_takes_some_policy(name: str, table: pl.DataFrame) -> None:
    data = opened(table)
    taken = []
    for policy in POLICIES:
        try:
            taken.append(shoal.anonymize(data, *POLICIES[policy], algorithm=name, suppression=0.2))
        except (ParameterError, InfeasibleError):
            continue
    assert taken


@pytest.mark.parametrize("suppression", [0.0, 0.2])
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", NAMES)
def test_satisfies_its_policy(name: str, policy: str, suppression: float, table: pl.DataFrame) -> None:
    data = opened(table)
    try:
        release = released(name, data, policy, suppression=suppression)
    except InfeasibleError as error:
        assert error.attempt
        return
    assert release.policy is not None
    findings = release.verify(release.policy)
    assert findings.holds
    assert 0 <= release.suppressed <= suppression * table.height
    assert release.published.records == table.height - release.suppressed > 0


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_same_bytes(name: str, table: pl.DataFrame, tmp_path: Path) -> None:
    written = []
    for run in ("one", "two"):
        path = tmp_path / run / "release.csv"
        path.parent.mkdir()
        released(name, opened(table), "k-anonymity", suppression=0.1, seed=7).write(path)
        manifest = path.with_name("release.csv.manifest.json")
        written.append([hashlib.sha256(file.read_bytes()).hexdigest() for file in (path, manifest)])
    assert written[0] == written[1]


@pytest.mark.parametrize("name", NAMES)
def test_leaves_its_input_alone(name: str, table: pl.DataFrame) -> None:
    data = opened(table)
    keys, sizes = data.summary.keys.copy(), data.summary.sizes.copy()
    codes = {column: data.codes(column).copy() for column in (*QUASI, "occupation")}
    before = table.clone()
    released(name, data, "k-anonymity", suppression=0.1)
    assert table.equals(before)
    assert (data.summary.keys == keys).all() and (data.summary.sizes == sizes).all()
    assert all((data.codes(column) == held).all() for column, held in codes.items())


@pytest.mark.parametrize("name", NAMES)
def test_row_order_changes_no_finding(name: str, table: pl.DataFrame) -> None:
    """Whatever decides on distinct tuples must not see in which order the rows came."""
    policy = Policy(models=POLICIES["k-anonymity"], suppression=0.1)
    data = opened(table)
    try:
        recoding = registry.make("algorithms", name, {}).search(data, policy, Run())
    except ParameterError as refusal:
        pytest.skip(str(refusal))
    if getattr(recoding, "over_rows", not hasattr(recoding, "levels")):
        pytest.skip("decides on rows")
    shuffled = opened(table.sample(fraction=1.0, shuffle=True, seed=3))
    one = released(name, data, "k-anonymity", suppression=0.1)
    other = released(name, shuffled, "k-anonymity", suppression=0.1)
    findings = [shoal.evaluate(*pair).as_dict() for pair in ((data, one), (shuffled, other))]
    assert findings[0] == findings[1]


@pytest.mark.parametrize("name", NAMES)
def test_facts_fit_into_json(name: str, table: pl.DataFrame) -> None:
    release = released(name, opened(table), "k-anonymity", suppression=0.1)
    assert release.recoding is not None
    facts = release.recoding.facts
    assert json.loads(json.dumps(facts)) == facts


@pytest.mark.parametrize("name", NAMES)
def test_documents_itself(name: str) -> None:
    text = registry.find("algorithms", name).__doc__ or ""
    for section in (r"\bnot\b", r"^ *Reference: ", r"^ *Example:\n *>>> "):
        assert re.search(section, text, re.MULTILINE), section
