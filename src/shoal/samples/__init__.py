"""Tables that ship with Shoal: to learn on, to test on, and to rerun the literature's experiments on.

Each function is one table, named as in `names()` with underscores for hyphens. It gives a frame of polars, which has to
be installed (`shoal[polars]`); `adult.arrow()` gives the same as a table of Arrow, which always is. Sources, licences
and what was changed are in the README beside this file. `hierarchies(name)` is the folder of a table's hierarchies.

Example:
    >>> from shoal import samples
    >>> samples.patients_four().columns
    ['age', 'gender', 'zip', 'disease']
    >>> sorted(path.name for path in samples.hierarchies("patients-mst").iterdir())
    ['age.csv', 'gender.csv', 'zip.csv']
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Literal

import pyarrow as pa

from shoal.errors import ParameterError
from shoal.samples.hospital import admissions
from shoal.samples.population import census
from shoal.samples.sample import SampleTable, stored

__all__ = [
    "admissions",
    "adult",
    "census",
    "haberman",
    "heart_statlog",
    "heart_ten",
    "hierarchies",
    "names",
    "patients_eight",
    "patients_four",
    "patients_mst",
    "patients_nine",
    "patients_wards",
    "sonar",
    "students",
    "virus_tests",
    "voters",
]


def names() -> tuple[str, ...]:
    """The names of all tables, in alphabetical order.

    Example:
        >>> names()[:3]
        ('admissions', 'adult', 'census')
    """
    return tuple(name.replace("_", "-") for name in __all__ if name not in {"hierarchies", "names"})


def hierarchies(name: str) -> Path:
    """The folder with a table's generalization hierarchies, one `<column>.csv` each.

    A line is a raw value and what it becomes at each level, separated by semicolons, without a header. There
    are folders for `adult`, `census` and `patients-mst`. The last is the one of the published example: its
    highest values are `[20-40]` and `5352**` instead of `*`.

    Example:
        >>> (hierarchies("adult") / "sex.csv").read_text().split()
        ['Female;*', 'Male;*']
    """
    root = Path(str(resources.files(__package__) / "hierarchies"))
    available = sorted(folder.name for folder in root.iterdir())
    if name not in available:
        raise ParameterError(f"no hierarchies for {name!r}; there are some for {', '.join(available)}")
    return root / name


@SampleTable
def adult(*, part: Literal["train", "test", "all"] = "train", complete: bool = True) -> pa.Table:
    """The UCI Adult table: people of the United States in 1994, and whether they earn over 50,000 dollars.

    A missing value is null. `complete` leaves out the records that have one: of the 32,561 records of the
    training part 30,162 remain, of the 16,281 of the test part 15,060.

    Reference:
        B. Becker and R. Kohavi, "Adult", UCI Machine Learning Repository, 1996, doi:10.24432/C5XW20.

    Example:
        >>> adult().height, adult(part="all", complete=False).height
        (30162, 48842)
        >>> adult()["salary-class"].unique().sort().to_list()
        ['<=50K', '>50K']
    """
    parts = {"train": ["train"], "test": ["test"], "all": ["train", "test"]}
    if part not in parts:
        raise ParameterError(f"part must be one of {', '.join(parts)}, not {part!r}")
    table = pa.concat_tables([stored(f"adult-{each}.parquet") for each in parts[part]])
    return table.drop_null() if complete else table


@SampleTable
def heart_statlog() -> pa.Table:
    """Heart patients: 270 records, 13 measurements, and whether a heart disease is `present` or `absent`.

    Codes are UCI's: `sex` 1 male, 0 female; `chest-pain` 1 to 4; `fasting-blood-sugar` 1 over 120 mg/dl;
    `resting-ecg` 0 to 2; `exercise-angina` 1 yes; `oldpeak` the ST depression in mm; `slope` 1 to 3;
    `major-vessels` 0 to 3; `thal` 3 normal, 6 fixed defect, 7 reversible defect.

    Reference:
        "Statlog (Heart)", UCI Machine Learning Repository, doi:10.24432/C57303.

    Example:
        >>> heart_statlog().shape
        (270, 14)
    """
    return stored("heart-statlog.csv")


@SampleTable
def heart_ten() -> pa.Table:
    """The first ten records of `heart_statlog`, on which kACTUS is worked through with k = 5.

    Example:
        >>> heart_ten()["class"].value_counts().sort("class").rows()
        [('absent', 4), ('present', 6)]
    """
    return heart_statlog.arrow().slice(0, 10)


@SampleTable
def sonar() -> pa.Table:
    """Sonar echoes: 208 records, the energy in 60 frequency bands (`band-01` …), and `rock` or `mine`.

    Reference:
        T. Sejnowski and R. Gorman, "Connectionist Bench (Sonar, Mines vs. Rocks)", UCI Machine Learning
        Repository, doi:10.24432/C5T01Q.

    Example:
        >>> sonar().shape
        (208, 61)
    """
    return stored("sonar.parquet")


@SampleTable
def haberman() -> pa.Table:
    """Breast cancer patients: 306 records with age, year of operation (19xx) and number of positive nodes.

    `class` says whether the patient `survived` the five years after the operation or `died` within them.

    Reference:
        S. Haberman, "Haberman's Survival", UCI Machine Learning Repository, 1999, doi:10.24432/C5XK51.

    Example:
        >>> haberman().columns
        ['age', 'operation-year', 'positive-nodes', 'class']
    """
    return stored("haberman.csv")


@SampleTable
def patients_mst() -> pa.Table:
    """Ten patients, on which anonymization by a minimum spanning tree is worked through with k = 3.

    Example:
        >>> patients_mst().shape
        (10, 5)
    """
    return stored("patients-mst.csv")


@SampleTable
def patients_four() -> pa.Table:
    """Four patients without their names: 2-anonymous only after recoding, and then one class is all HIV.

    Example:
        >>> patients_four().join(voters(), on=["age", "gender", "zip"])["name"].to_list()
        ['Alice']
    """
    return stored("patients-four.csv")


@SampleTable
def voters() -> pa.Table:
    """A public list that names one of `patients_four`.

    Example:
        >>> voters().columns
        ['name', 'address', 'gender', 'age', 'zip']
    """
    return stored("voters.csv")


@SampleTable
def patients_eight() -> pa.Table:
    """Eight patients, on which multiset generalization and overlapping slicing are worked through.

    Example:
        >>> patients_eight().head(4)["zip"].to_list()
        ['12345', '12342', '12344', '12344']
    """
    return stored("patients-eight.csv")


@SampleTable
def patients_nine() -> pa.Table:
    """Nine patients with two sensitive columns: the first three have low salaries and a stomach disease.

    Reference:
        N. Li, T. Li and S. Venkatasubramanian, "t-closeness: privacy beyond k-anonymity and l-diversity",
        ICDE 2007.

    Example:
        >>> patients_nine().head(3)["salary"].to_list()
        [3000, 4000, 5000]
    """
    return stored("patients-nine.csv")


@SampleTable
def patients_wards() -> pa.Table:
    """Forty patients whose disease determines the ward that they lie in, made up for Shoal.

    Every decade of age has the same diseases, equally often, so that classes by age satisfy k-anonymity, entropy
    l-diversity and t-closeness. Whoever knows the dependency, and who lies in which ward, still learns every disease.

    Example:
        >>> patients_wards()["disease"].value_counts().sort("count")["count"].to_list()
        [4, 8, 12, 16]
    """
    return stored("patients-wards.csv")


@SampleTable
def students() -> pa.Table:
    """Eleven students, on which Samarati's distance vectors are worked through.

    Example:
        >>> students().select("department", "grade", "age", "roll").row(0)
        ('CIV', 7.5, 20, '10601012')
    """
    return stored("students.csv")


@SampleTable
def virus_tests() -> pa.Table:
    """The skewness attack as a table: 10,000 tests of which one in a hundred is positive.

    The districts are the classes of the argument: 49 positive of 50, half of 50, 1 of 50, and everybody else.

    Reference:
        N. Li, T. Li and S. Venkatasubramanian, "t-closeness: privacy beyond k-anonymity and l-diversity",
        ICDE 2007.

    Example:
        >>> tests = virus_tests()
        >>> tests.height, tests["result"].eq("positive").sum()
        (10000, 100)
    """
    districts = {"north": (49, 1), "east": (25, 25), "south": (1, 49), "west": (25, 9825)}
    records = [
        (district, result)
        for district, counts in districts.items()
        for result, count in zip(("positive", "negative"), counts, strict=True)
        for _ in range(count)
    ]
    return pa.table(list(zip(*records, strict=True)), names=["district", "result"])
