"""What the experiments of X0 share: samples of Adult, the thesis' hierarchies as far as it shows them, WEKA's k-means,
and the curves of ten samples in one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import shoal
from experiments.pages import FOLDER, filled, tabled
from shoal.plots.balance import curves
from shoal.tradeoff.balance import Balance
from shoal.tradeoff.sweep_result import Point

SAMPLES = 10
TARGET, ALGORITHM = "native-country", "simple-k-means:numeric=mean"
PLAIN, COUNTED = "suppression-share", "suppression-share:missing=suppressed"
MEAN = "age"
"""The quasi-identifier that is published as a mean: it is never suppressed, and the thesis does not ask for it."""
READINGS = {PLAIN: "all quasi-identifiers", COUNTED: "all quasi-identifiers, and missing counts as suppressed"}

EDUCATION = {
    "School": ("Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad"),
    "Graduate": ("Some-college", "Assoc-voc", "Assoc-acdm", "Bachelors", "Prof-school"),
    "Post-graduate": ("Masters", "Doctorate"),
}
COUNTRY = {
    "North_America": ("United-States", "Canada", "Outlying-US(Guam-USVI-etc)", "Mexico", "Puerto-Rico", "Cuba",
                      "Jamaica", "Haiti", "Dominican-Republic", "Guatemala", "Honduras", "Nicaragua", "El-Salvador",
                      "Trinadad&Tobago"),
    "South_America": ("Columbia", "Ecuador", "Peru", "South"),
    "Europe": ("England", "Germany", "Greece", "Italy", "Poland", "Portugal", "Ireland", "France", "Hungary",
               "Scotland", "Yugoslavia", "Holand-Netherlands"),
    "Asia": ("Cambodia", "India", "Japan", "China", "Iran", "Philippines", "Vietnam", "Laos", "Taiwan", "Thailand",
             "Hong"),
}  # fmt: skip
WORK = {
    "Private_emp": ("Private",),
    "Government": ("Federal-gov", "State-gov", "Local-gov"),
    "Self": ("Self-emp-inc", "Self-emp-not-inc"),
    "Other": ("Without-pay", "Never-worked"),
}
RACE = {"": ("White", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other")}
TREES: dict[str, dict[str, tuple[str, ...]]] = {
    "education": EDUCATION,
    "native-country": COUNTRY,
    "workclass": WORK,
    "race": RACE,
}


def _tables(folder: Path) -> None:
    """The hierarchies as files: a value, the group above it where there are groups, and the root."""
    for column, groups in TREES.items():
        rows = [";".join(filter(None, (value, group, "*"))) for group, values in groups.items() for value in values]
        (folder / f"{column}.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")


def sample(records: int, number: int, columns: Sequence[str] | None, quasi: Sequence[str]) -> shoal.Dataset:
    """So many records of the training part of Adult, those with missing values too."""
    table = shoal.samples.adult(complete=False).sample(records, seed=number)
    chosen = table if columns is None else table.select(columns)
    with TemporaryDirectory() as folder:
        _tables(Path(folder))
        return shoal.read(chosen, quasi=quasi, hierarchies=folder)


def swept(
    records: int, columns: Sequence[str] | None, quasi: Sequence[str], sizes: Iterable[int], samples: int = SAMPLES
) -> Balance:
    """The curves of several samples, each with a seed of its own: one point a k, one run a sample."""
    allowed = [] if columns is not None else ["education-num"]  # it tells the education; the thesis published both
    found: list[Balance] = []
    privacies = [PLAIN, COUNTED, queried(quasi)]
    for number in range(1, samples + 1):
        data = sample(records, number, columns, quasi)
        found.append(
            shoal.balance(
                data, target=TARGET, k=sizes, algorithm=ALGORITHM, seed=number, allow_plain=allowed,
                privacy=privacies,
            )
        )  # fmt: skip
        print(f"sample {number}: {found[-1].summary}", flush=True)
    points = tuple(
        Point(place=each[0].place, runs=tuple(run for point in each for run in point.runs))
        for each in zip(*(one.points for one in found), strict=True)
    )
    return replace(found[0], points=points, seeds=samples)


def queried(quasi: Sequence[str]) -> str:
    """The share of suppressed cells of the columns that the thesis' queries name."""
    return f"{PLAIN}:columns={'|'.join(column for column in quasi if column != MEAN)}"


def report(name: str, found: Balance, paper: str) -> None:
    """The curves as a table and a picture, and where they meet in each sample."""
    rows = []
    for point in found.points:
        cells = [point.share(each.name) for each in (found.utility, *found.privacies)]
        shown = [f"{100 * each.mean:.1f} ({100 * each.least:.1f}–{100 * each.greatest:.1f})" for each in cells if each]
        rows.append([point.place["k"], *shown, f"{100 * (point.baseline or 0):.1f}"])
    told = [f"{paper}\n"]
    for pair in found.pairs:
        met = [each[0] for each in pair.by_seed if each]
        which = READINGS.get(pair.privacy, "without age")
        mean = " and ".join(f"at k = {each.at:.1f} ({100 * each.value:.0f} %)" for each in pair.crossings)
        mean = f"the mean curves cross {mean}" if mean else "the mean curves do not cross"
        several = ""
        if met:
            places, values = [each.at for each in met], [100 * each.value for each in met]
            several = (
                f" The first crossings lie between k = {min(places):.1f} and {max(places):.1f}, at {min(values):.0f} "
                f"to {max(values):.0f} %."
            )
        told.append(
            f"**{which[0].upper()}{which[1:]}**: {mean}; those of {len(met)} of {found.seeds} samples do.{several}\n"
        )
    headings = ["k", "utility %", "privacy %", "privacy %, missing counts", "privacy %, without age",
                "most frequent value %"]  # fmt: skip
    text = "\n".join(told) + f"\nMeans of {found.seeds} samples, and in brackets the least and the greatest.\n\n"
    filled(name, text + tabled(headings, rows))
    every, _, some = found.privacies  # whether missing values count cannot be seen; where the second reading meets, can
    curves(replace(found, privacies=(some, every)), FOLDER / f"{name}.svg", runs="samples")
