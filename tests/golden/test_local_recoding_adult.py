"""What local recoding loses on Adult, held against other tools' results on the same data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from counts import LONG, count

import shoal

NINE = (
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "salary-class",
)  # fmt: skip
EIGHT = tuple(name for name in NINE if name != "occupation")

pytestmark = pytest.mark.reference


def read(reference: Path, quasi: tuple[str, ...], *sensitive: str) -> shoal.Dataset:
    return shoal.read(
        reference / "adult.csv", quasi=quasi, sensitive=sensitive, hierarchies=reference / "hierarchies", delimiter=";"
    )


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


def test_nine_attributes(nine: shoal.Dataset) -> None:
    """Another tool's local recoding: 0.0591 in seconds, about 0.052 in a minute."""
    release = shoal.anonymize(nine, "k-anonymity:k=5", algorithm="k-member:numeric=interval,refine=true")
    assert release.recoding.facts["refinement"]["finished"]
    assert loss(nine, release) <= 0.039


@pytest.mark.parametrize("algorithm", ["mondrian", "k-member", "two-phase"] if LONG else ["mondrian"])
def test_nine_attributes_along_hierarchies(nine: shoal.Dataset, algorithm: str) -> None:
    """Another tool's local recoding: 0.0570. Moves, swaps and splits alone end at 0.0558, 0.0616 and 0.0593."""
    release = shoal.anonymize(nine, "k-anonymity:k=5", algorithm=f"{algorithm}:numeric=hierarchy,refine=true", seed=1)
    assert loss(nine, release) <= 0.052


def test_eight_attributes_with_three_occupations_in_each_class(eight: shoal.Dataset) -> None:
    """Another tool: 0.0367."""
    release = shoal.anonymize(
        eight, "k-anonymity:k=5", "distinct-l-diversity:l=3", algorithm="k-member:numeric=interval,refine=true"
    )
    assert loss(eight, release) <= 0.030


@pytest.mark.parametrize(("k", "bound"), [(5, 0.030), (10, 0.053)] if LONG else [(5, 0.030)])
def test_eight_attributes(eight: shoal.Dataset, k: int, bound: float) -> None:
    """The best other Python tool: 0.0513 and 0.0914; a plain k-member 0.0316 and 0.0561."""
    release = shoal.anonymize(eight, f"k-anonymity:k={k}", algorithm="k-member:numeric=interval,refine=true")
    assert shoal.metrics.Gcp().score(eight, release).value <= bound


def test_plain_k_member(eight: shoal.Dataset) -> None:
    release = shoal.anonymize(eight, "k-anonymity:k=5", algorithm="k-member:numeric=interval")
    assert shoal.metrics.Gcp().score(eight, release).value == pytest.approx(0.0316, abs=0.001)


OTHERS = {
    "mondrian": 0.063,
    "two-phase:splitting=A": 0.0488,
    "two-phase:splitting=B": 0.0488,
    "oka": 0.11,
    "mst": 0.12,
    "mst:cut=literal": 0.18,
}


@pytest.mark.parametrize(("algorithm", "bound"), list(OTHERS.items())[: count(3, len(OTHERS))])
def test_the_others(nine: shoal.Dataset, algorithm: str, bound: float) -> None:
    spelled = f"{algorithm}{',' if ':' in algorithm else ':'}numeric=interval"
    release = shoal.anonymize(nine, "k-anonymity:k=5", algorithm=spelled)
    assert release.classes.sizes.min() >= 5
    assert loss(nine, release) <= bound


@pytest.mark.parametrize("l", [2, 5, 10] if LONG else [10])
def test_bucket_clustering_loses_less_than_the_extended_form(eight: shoal.Dataset, l: int) -> None:  # noqa: E741
    """Of ten different occupations in a class too few are frequent enough: as few records as can be are left out."""
    made = [
        shoal.anonymize(eight, f"frequency-l-diversity:l={l}", algorithm=name, suppression=0.4 if l > 7 else 0, seed=1)
        for name in ("bucket-clustering", "l-member")
    ]
    assert [release.suppressed > 0 for release in made] == [l > 7] * 2
    assert made[0].suppressed == made[1].suppressed
    assert loss(eight, made[0]) < 0.6 * loss(eight, made[1])


def test_bucket_clustering_of_three_occupations_is_close_to_the_best(eight: shoal.Dataset) -> None:
    """Within a tenth of what refined k-member loses, 0.0252."""
    release = shoal.anonymize(
        eight, "k-anonymity:k=5", "distinct-l-diversity:l=3", algorithm="bucket-clustering:refine=true", seed=1
    )
    assert loss(eight, release) <= 1.1 * 0.0252
