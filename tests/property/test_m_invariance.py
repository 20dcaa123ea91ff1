"""m-invariance on random series of small tables: signatures stay, and every world of all releases is counted."""

from __future__ import annotations

import tempfile
from pathlib import Path

import polars as pl
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import InfeasibleError, InputError
from shoal.ledger import Ledger

PEOPLE = 14


def of(people: list[int], values: list[str], engine: str | None = None) -> shoal.Dataset:
    rows = {
        "name": [f"p{person}" for person in people],
        "age": [20 + person // 2 for person in people],
        "ill": [values[person] for person in people],
    }
    return shoal.read(pl.DataFrame(rows), quasi=["age"], sensitive=["ill"], identifiers=["name"], engine=engine)


def signatures(release: shoal.Release, ledger: Path) -> dict[int, frozenset[str | None]]:
    """The values of the group of each person, by the ledger's hash of the person."""
    laid = Ledger(ledger).history(release.origin).releases[-1]  # type: ignore[arg-type]
    spread = laid.values["ill"]
    held: dict[int, set[str | None]] = {}
    for owner, value, times in zip(spread.owners.tolist(), spread.values.tolist(), spread.counts.tolist(), strict=True):
        assert times == 1, "the values of a group are all different"
        held.setdefault(owner, set()).add(spread.texts[value])
    places = zip(laid.ids.tolist(), laid.groups.tolist(), strict=True)
    return {person: frozenset(held[group]) for person, group in places if group >= 0}


@settings(max_examples=count(9, 40), deadline=None)
@given(
    st.lists(st.sampled_from("abcd"), min_size=PEOPLE, max_size=PEOPLE),
    st.lists(st.lists(st.booleans(), min_size=PEOPLE, max_size=PEOPLE), min_size=2, max_size=3),
    st.integers(2, 3),
)
def test_signatures_stay_and_no_value_is_likelier_than_one_of_m(
    values: list[str], tables: list[list[bool]], m: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ledger, releases, last, known = Path(folder) / "people.ledger", [], {}, set()
        for chosen in tables:
            people = [person for person in range(PEOPLE) if chosen[person]]
            if not people:
                continue
            data = of(people, values)
            try:
                model = shoal.FrequencyLDiversity(l=m)
                release = shoal.anonymize(data, model, algorithm="m-invariance", suppression=0.9, seed=3, ledger=ledger)
            except InfeasibleError:
                continue
            except InputError:
                assert releases and not known & set(people), "the ledger refuses a table of which it knows nobody"
                continue
            known |= set(people)
            now = signatures(release, ledger)
            assert all(len(signature) >= m for signature in now.values())
            assert all(now[person] == last[person] for person in now if person in last), "while somebody is there"
            last = {**last, **now}
            releases.append(release)
            if len(releases) > 1:
                found = shoal.attack(data, release, "composition", earlier=releases[:-1])[0]
                assert found.detail["exact"] == 1.0 and found.worst <= 1 / m + 1e-12


def test_both_engines_publish_the_same_counterfeits(tmp_path: Path) -> None:
    values = [*"ababababababac"]
    frames = []
    for engine in (None, "duckdb"):
        ledger = tmp_path / f"{engine}.ledger"
        for people in (list(range(14)), [0, 2, 5, 7, 9, 12]):
            release = shoal.anonymize(
                of(people, values, engine), shoal.FrequencyLDiversity(l=2), algorithm="m-invariance:m=2",
                suppression=0.5, seed=1, ledger=ledger,
            )  # fmt: skip
        assert release.provenance["counterfeits"] >= 2
        frames.append({part: frame.rows() for part, frame in release.frames.items()})
    assert frames[0] == frames[1]


def test_a_value_that_changed_is_refused(tmp_path: Path) -> None:
    ledger, model = tmp_path / "people.ledger", shoal.FrequencyLDiversity(l=2)
    shoal.anonymize(of([0, 1, 2, 3], [*"abab"] + ["c"] * 10), model, algorithm="m-invariance", seed=1, ledger=ledger)
    with pytest.raises(shoal.errors.ParameterError, match="changed"):
        shoal.anonymize(of([0, 1, 2, 3], [*"cbab"] + ["c"] * 10), model, algorithm="m-invariance", ledger=ledger)
