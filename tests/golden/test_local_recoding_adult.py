"""What local recoding loses on Adult, held against other tools' results on the same data.

Every day the quick searches are made on the whole table; refined ones on every sixth record, held against what they
lost there when they kept the bound on the whole.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from counts import LONG, count

import shoal

NINE = (
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "salary-class",
)  # fmt: skip
EIGHT = tuple(name for name in NINE if name != "occupation")

pytestmark = pytest.mark.reference


EVERY = count(6, 1)


def bound(whole: float, part: float) -> float:
    """What may be lost on the table that `nine` and `eight` are of."""
    return whole if EVERY == 1 else part


def read(reference: Path, quasi: tuple[str, ...], *sensitive: str, every: int = EVERY) -> shoal.Dataset:
    table = pl.read_csv(reference / "adult.csv", separator=";").gather_every(every)
    return shoal.read(table, quasi=quasi, sensitive=sensitive, hierarchies=reference / "hierarchies")


def loss(data: shoal.Dataset, release: shoal.Release) -> float:
    """Arithmetic Loss, by its definition: the share of each hierarchy's leaves that a cell covers."""
    low, high = release.view.cells().low, release.view.cells().high
    sizes = release.classes.sizes
    losses = []
    for position, hierarchy in enumerate(data.hierarchies):
        least = data.records / hierarchy.size
        covered = float(((high[position] - low[position] + 1) / hierarchy.size * sizes).sum()) + release.suppressed
        losses.append(max(0.0, (covered - least) / (data.records - least)))
    return float(np.mean(losses))


@pytest.fixture(scope="module")
def nine(reference: Path) -> shoal.Dataset:
    return read(reference, NINE)


@pytest.fixture(scope="module")
def eight(reference: Path) -> shoal.Dataset:
    return read(reference, EIGHT, "occupation")


@pytest.fixture(scope="module")
def whole(reference: Path) -> shoal.Dataset:
    return read(reference, EIGHT, "occupation", every=1)


def test_nine_attributes(nine: shoal.Dataset) -> None:
    """Another tool's local recoding: 0.0591 in seconds, about 0.052 in a minute."""
    release = shoal.anonymize(nine, "k-anonymity:k=5", algorithm="k-member:numeric=interval,refine=true")
    assert release.recoding.facts["refinement"]["finished"]
    assert loss(nine, release) <= bound(0.039, 0.0795)


@pytest.mark.parametrize("algorithm", ["mondrian", "k-member", "two-phase"] if LONG else ["mondrian"])
def test_nine_attributes_along_hierarchies(nine: shoal.Dataset, algorithm: str) -> None:
    """Another tool's local recoding: 0.0570. Moves, swaps and splits alone end at 0.0558, 0.0616 and 0.0593."""
    release = shoal.anonymize(nine, "k-anonymity:k=5", algorithm=f"{algorithm}:numeric=hierarchy,refine=true", seed=1)
    assert loss(nine, release) <= bound(0.052, 0.1035)


def test_eight_attributes_with_three_occupations_in_each_class(eight: shoal.Dataset) -> None:
    """Another tool: 0.0367."""
    release = shoal.anonymize(
        eight, "k-anonymity:k=5", "distinct-l-diversity:l=3", algorithm="k-member:numeric=interval,refine=true"
    )
    assert loss(eight, release) <= bound(0.030, 0.0490)


@pytest.mark.parametrize(("k", "most"), [(5, 0.030), (10, 0.053)] if LONG else [(5, 0.030)])
def test_eight_attributes(eight: shoal.Dataset, k: int, most: float) -> None:
    """The best other Python tool: 0.0513 and 0.0914; a plain k-member 0.0316 and 0.0561."""
    release = shoal.anonymize(eight, f"k-anonymity:k={k}", algorithm="k-member:numeric=interval,refine=true")
    assert shoal.metrics.Gcp().score(eight, release).value <= bound(most, 0.0545)


def test_plain_k_member(whole: shoal.Dataset) -> None:
    release = shoal.anonymize(whole, "k-anonymity:k=5", algorithm="k-member:numeric=interval")
    assert shoal.metrics.Gcp().score(whole, release).value == pytest.approx(0.0316, abs=0.001)


OTHERS = {
    "mondrian": bound(0.063, 0.113),
    "two-phase:splitting=A": bound(0.0488, 0.0995),
    "two-phase:splitting=B": bound(0.0488, 0.0995),
    "oka": bound(0.11, 0.17),
    "mst": bound(0.12, 0.185),
    "mst:cut=literal": bound(0.18, 0.33),
}


@pytest.mark.parametrize(("algorithm", "most"), OTHERS.items())
def test_the_others(nine: shoal.Dataset, algorithm: str, most: float) -> None:
    spelled = f"{algorithm}{',' if ':' in algorithm else ':'}numeric=interval"
    release = shoal.anonymize(nine, "k-anonymity:k=5", algorithm=spelled)
    assert release.classes.sizes.min() >= 5
    assert loss(nine, release) <= most


@pytest.mark.parametrize("l", [2, 5, 10] if LONG else [10])
def test_bucket_clustering_loses_less_than_the_extended_form(whole: shoal.Dataset, l: int) -> None:  # noqa: E741
    """Of ten different occupations in a class too few are frequent enough: as few records as can be are left out."""
    made = [
        shoal.anonymize(whole, f"frequency-l-diversity:l={l}", algorithm=name, suppression=0.4 if l > 7 else 0, seed=1)
        for name in ("bucket-clustering", "l-member")
    ]
    assert [release.suppressed > 0 for release in made] == [l > 7] * 2
    assert made[0].suppressed == made[1].suppressed
    assert loss(whole, made[0]) < 0.6 * loss(whole, made[1])


def test_bucket_clustering_of_three_occupations_is_close_to_the_best(eight: shoal.Dataset) -> None:
    """Within a tenth of what refined k-member loses."""
    release = shoal.anonymize(
        eight, "k-anonymity:k=5", "distinct-l-diversity:l=3", algorithm="bucket-clustering:refine=true", seed=1
    )
    assert loss(eight, release) <= 1.1 * bound(0.0252, 0.0485)
