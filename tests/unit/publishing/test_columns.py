"""What is said of each column of a release, against what is counted in the published table."""

from __future__ import annotations

from pathlib import Path

import polars
import pytest

import shoal
from shoal.core.schema import Role
from shoal.publishing.columns import ReleasedColumn


@pytest.fixture
def data() -> shoal.Dataset:
    tree = shoal.Hierarchy.from_paths(
        "zip", [("11", "1*", "*"), ("12", "1*", "*"), ("21", "2*", "*"), ("22", "2*", "*")]
    )
    rows = {
        "name": [f"p{n}" for n in range(24)],
        "age": [20] * 12 + [45] * 11 + [70],
        "zip": ["11", "12", "21", "22"] * 6,
        "ill": ["flu", "cold", "hiv"] * 8,
    }
    return shoal.read(
        polars.DataFrame(rows), quasi=["age", "zip"], sensitive=["ill"], identifiers=["name"], hierarchies={"zip": tree}
    )


def described(data: shoal.Dataset, release: shoal.Release | str | Path) -> dict[str, ReleasedColumn]:
    return {column.name: column for column in shoal.columns(data, release)}


def test_shares_of_exact_and_hidden_cells_are_those_of_the_table(data: shoal.Dataset) -> None:
    release = shoal.anonymize(data, "k-anonymity:k=4", algorithm="mondrian:numeric=interval", seed=1)
    found, published = described(data, release), release.frame
    age, zip_code = published["age"].cast(str), published["zip"]
    assert found["age"].shape == "intervals"
    assert found["age"].exact == pytest.approx((~age.str.contains("-")).mean())
    assert found["zip"].exact == pytest.approx((~zip_code.str.contains(r"\*")).mean())
    assert found["zip"].hidden == pytest.approx((zip_code == "*").mean())
    assert (found["ill"].words, found["ill"].lost) == ("as it was", 0.0)
    assert found["name"].words == "not published" and found["name"].lost == 1


def test_a_file_is_described_as_the_release_in_memory(data: shoal.Dataset, tmp_path: Path) -> None:
    for algorithm in ("mondrian:numeric=interval", "optimal", "k-member"):
        release = shoal.anonymize(data, "k-anonymity:k=3", algorithm=algorithm, seed=1)
        release.write(tmp_path / "out.csv")
        assert shoal.columns(data, tmp_path / "out.csv") == shoal.columns(data, release), algorithm


def test_a_file_whose_values_are_not_understood_is_not_called_raw(data: shoal.Dataset, tmp_path: Path) -> None:
    shoal.anonymize(data, "k-anonymity:k=3", algorithm="mdav", seed=1).write(tmp_path / "out.csv")
    found = described(data, tmp_path / "out.csv")["age"]
    assert (found.shape, found.lost) == ("unknown", None)


def test_one_level_for_all_is_named(data: shoal.Dataset) -> None:
    release = shoal.anonymize(data, "k-anonymity:k=3", algorithm="optimal", seed=1)
    found = described(data, release)
    assert release.recoding is not None and release.recoding.levels is not None
    for name, level in zip(("age", "zip"), release.recoding.levels, strict=True):
        height = data.schema[name].hierarchy.height
        assert (found[name].lowest, found[name].highest) == (level, level)
        expected = "as it was" if level == 0 else "hidden" if level == height else f"level {level} of {height}"
        assert found[name].words.startswith(expected)


def test_left_out_records_lost_everything(data: shoal.Dataset) -> None:
    release = shoal.anonymize(data, "k-anonymity:k=3", algorithm="optimal", suppression=0.9, seed=1)
    assert release.suppressed > 0
    for column in described(data, release).values():
        if column.role == "quasi":
            assert column.lost is not None and column.lost >= release.suppressed / data.records


def test_what_a_form_does_not_tell_is_not_made_up(data: shoal.Dataset) -> None:
    swapped = described(data, shoal.anonymize(data, algorithm="rank-swapping:share=0.5", seed=1))
    assert swapped["age"].shape == "changed" and swapped["age"].lost is None
    release = shoal.anonymize(data, "frequency-l-diversity:l=2", algorithm="anatomy", seed=1)
    tables = described(data, release)
    assert (tables["age"].words, tables["age"].lost) == ("as it was", 0.0)
    assert tables["ill"].shape == "grouped"
    named = shoal.anonymize(data, "k-anonymity:k=3", algorithm="mondrian", pseudonyms=shoal.Pseudonyms(), seed=1)
    assert described(data, named)["name"].shape == "pseudonyms"


def test_shares_that_rounding_leaves_over_are_not_told():
    column = ReleasedColumn(name="sex", role=Role.QUASI, shape="levels", exact=0.18, hidden=0.82, lowest=0, highest=1)
    assert 1 - column.exact - column.hidden > 0
    assert column.words == "levels: 18 % exact, 82 % hidden"
