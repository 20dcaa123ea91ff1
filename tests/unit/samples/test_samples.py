"""The sample tables are what their sources say, and their hierarchies are hierarchies over them."""

import hashlib
import importlib.util
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import numpy as np
import polars as pl
import pytest

from shoal import samples
from shoal.errors import ParameterError

ADULT_COLUMNS = [
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
    "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country",
    "salary-class",
]  # fmt: skip
ADULT_HEIGHTS = {
    "age": 5,
    "education": 4,
    "education-num": 4,
    "hours-per-week": 4,
    "marital-status": 3,
    "native-country": 3,
    "occupation": 2,
    "race": 2,
    "relationship": 2,
    "salary-class": 1,
    "sex": 1,
    "workclass": 3,
}
CENSUS_SIZES = {
    "age": 78,
    "gender": 2,
    "education": 17,
    "marital-status": 6,
    "race": 9,
    "work-class": 10,
    "country": 83,
    "occupation": 50,
    "salary-class": 50,
}
HIERARCHY_FILES = sorted(
    (table, path.stem)
    for table in ("adult", "census", "patients-mst")
    for path in samples.hierarchies(table).glob("*.csv")
)


def paths(table: str, column: str) -> list[list[str]]:
    text = (samples.hierarchies(table) / f"{column}.csv").read_text("utf-8")
    return [line.split(";") for line in text.splitlines()]


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return samples.census(200_000, seed=7)


def test_every_name_is_a_table() -> None:
    assert len(samples.names()) == len(set(samples.names())) == 15
    for name in samples.names():
        table = getattr(samples, name.replace("-", "_"))
        frame = table(100) if name == "census" else table()
        assert frame.height > 0, name
        assert frame.null_count().sum_horizontal().item() == 0, name


def test_samples_do_not_load_the_compiler() -> None:
    program = (
        "import sys, shoal; before = set(sys.modules); import shoal.samples as s; s.adult(); s.census(10);"
        "print('numba' in set(sys.modules) - before)"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "False"


def test_admissions_are_of_fewer_people_and_the_same_for_a_seed() -> None:
    table = samples.admissions(rows=500, people=300, seed=3)
    assert (table.height, table["patient_id"].n_unique()) == (500, 300)
    assert table.equals(samples.admissions(rows=500, people=300, seed=3))
    assert not table.equals(samples.admissions(rows=500, people=300, seed=4))
    assert table.group_by("patient_id").agg(pl.all().exclude("admitted", "diagnosis", "days").n_unique()).select(
        pl.all().exclude("patient_id").max()
    ).rows() == [(1, 1, 1, 1, 1)]
    assert table["zip"].str.contains(r"^0\d{4}$").all()


@pytest.mark.parametrize(
    ("part", "complete", "rows"),
    [
        ("train", True, 30_162),
        ("train", False, 32_561),
        ("test", True, 15_060),
        ("test", False, 16_281),
        ("all", True, 45_222),
        ("all", False, 48_842),
    ],
)
def test_adult_rows(part: str, complete: bool, rows: int) -> None:
    frame = samples.adult(part=part, complete=complete)
    assert frame.height == rows
    assert (frame.null_count().sum_horizontal().item() == 0) is complete


def test_adult_is_clean() -> None:
    frame = samples.adult(part="all", complete=False)
    numbers = {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}
    assert frame.columns == ADULT_COLUMNS
    assert frame.schema == {name: pl.Int64 if name in numbers else pl.String for name in ADULT_COLUMNS}
    for column in frame.select(pl.col(pl.String)):
        present = column.drop_nulls()
        assert not present.str.contains("?", literal=True).any(), column.name
        assert (present == present.str.strip_chars()).all(), column.name
    nulls = {column: count for column, count in frame.null_count().row(0, named=True).items() if count}
    assert nulls == {"workclass": 2799, "occupation": 2809, "native-country": 857}
    assert Counter(frame["salary-class"]) == {"<=50K": 37_155, ">50K": 11_687}


def test_adult_complete_keeps_the_order() -> None:
    everything = samples.adult(part="train", complete=False)
    assert samples.adult().equals(everything.filter(~pl.any_horizontal(pl.all().is_null())))
    both = samples.adult(part="all", complete=False)
    assert both.head(everything.height).equals(everything)


def test_adult_rejects_an_unknown_part() -> None:
    with pytest.raises(ParameterError, match="train, test, all"):
        samples.adult(part="half")  # type: ignore[arg-type]


def source_lines(name: str) -> str:
    """The text of UCI's own file, made again from the table that ships."""
    if name.startswith("adult"):
        part = "train" if name == "adult.data" else "test"
        rows = samples.adult(part=part, complete=False).rows()
        ending, head = ("", "") if part == "train" else (".", "|1x3 Cross validator\n")
        lines = (", ".join("?" if value is None else str(value) for value in row) + ending for row in rows)
        return head + "\n".join(lines) + "\n\n"
    if name == "heart.dat":
        codes = {"absent": 1, "present": 2}
        rows = samples.heart_statlog().rows()
        return "".join(" ".join(f"{value:.1f}" for value in row[:-1]) + f" {codes[row[-1]]}\n" for row in rows)
    if name == "sonar.all-data":
        codes = {"rock": "R", "mine": "M"}
        rows = samples.sonar().rows()
        return "".join(",".join(f"{value:.4f}" for value in row[:-1]) + f",{codes[row[-1]]}\n" for row in rows)
    codes = {"survived": 1, "died": 2}
    return "".join(",".join(map(str, row[:-1])) + f",{codes[row[-1]]}\n" for row in samples.haberman().rows())


def prepare_module() -> ModuleType:
    location = Path(__file__).parents[3] / "experiments" / "prepare_samples.py"
    specification = importlib.util.spec_from_file_location("prepare", location)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["adult.data", "adult.test", "heart.dat", "sonar.all-data", "haberman.data"])
def test_uci_tables_lose_nothing(name: str) -> None:
    digest = hashlib.sha256(source_lines(name).encode()).hexdigest()
    assert digest == prepare_module().SOURCES[name]


def test_preparation_rebuilds_what_ships(tmp_path: Path) -> None:
    prepare, packaged = prepare_module(), Path(samples.__file__).parent
    (tmp_path / "tables").mkdir()
    for table in ("adult", "census"):
        (tmp_path / "hierarchies" / table).mkdir(parents=True)
    for name in prepare.SOURCES:
        (tmp_path / name).write_bytes(source_lines(name).encode())
    prepare.HERE = tmp_path
    prepare.main(tmp_path)
    rebuilt = [path.relative_to(tmp_path) for path in tmp_path.rglob("*.*") if path.name not in prepare.SOURCES]
    assert len(rebuilt) == 5 + len(prepare.INTERVALS)
    for path in rebuilt:
        if path.suffix == ".parquet":
            assert pl.read_parquet(tmp_path / path).equals(pl.read_parquet(packaged / path)), path
        else:
            assert (tmp_path / path).read_bytes() == (packaged / path).read_bytes(), path


def test_preparation_refuses_another_file(tmp_path: Path) -> None:
    (tmp_path / "adult.data").write_text("39, State-gov\n")
    with pytest.raises(SystemExit, match=r"adult\.data"):
        prepare_module().main(tmp_path)


def test_shapes_of_the_other_uci_tables() -> None:
    assert samples.heart_statlog().shape == (270, 14)
    assert samples.sonar().shape == (208, 61)
    assert samples.haberman().shape == (306, 4)
    assert Counter(samples.heart_statlog()["class"]) == {"absent": 150, "present": 120}
    assert Counter(samples.sonar()["class"]) == {"mine": 111, "rock": 97}
    assert Counter(samples.haberman()["class"]) == {"survived": 225, "died": 81}
    assert samples.heart_statlog()["oldpeak"].max() == 6.2
    assert samples.sonar().drop("class").max_horizontal().max() == 1.0


def test_heart_ten_is_the_published_table() -> None:
    assert samples.heart_ten().rows() == [
        (70, 1, 4, 130, 322, 0, 2, 109, 0, 2.4, 2, 3, 3, "present"),
        (67, 0, 3, 115, 564, 0, 2, 160, 0, 1.6, 2, 0, 7, "absent"),
        (57, 1, 2, 124, 261, 0, 0, 141, 0, 0.3, 1, 0, 7, "present"),
        (64, 1, 4, 128, 263, 0, 0, 105, 1, 0.2, 2, 1, 7, "absent"),
        (74, 0, 2, 120, 269, 0, 2, 121, 1, 0.2, 1, 1, 3, "absent"),
        (65, 1, 4, 120, 177, 0, 0, 140, 0, 0.4, 1, 0, 7, "absent"),
        (56, 1, 3, 130, 256, 1, 2, 142, 1, 0.6, 2, 1, 6, "present"),
        (59, 1, 4, 110, 239, 0, 2, 142, 1, 1.2, 2, 1, 7, "present"),
        (60, 1, 4, 140, 293, 0, 2, 170, 0, 1.2, 2, 2, 7, "present"),
        (63, 0, 4, 150, 407, 0, 2, 154, 0, 4.0, 2, 3, 7, "present"),
    ]


def test_published_patients() -> None:
    assert samples.patients_mst().rows() == [
        (1, "Male", 21, "535280", "Flu"),
        (2, "Male", 24, "535280", "HIV"),
        (3, "Male", 25, "535280", "Heart Disease"),
        (4, "Female", 26, "535280", "Heart Disease"),
        (5, "Female", 26, "535285", "Cancer"),
        (6, "Female", 32, "535288", "Flu"),
        (7, "Female", 32, "535292", "Flu"),
        (8, "Male", 36, "535292", "HIV"),
        (9, "Male", 36, "535296", "Cancer"),
        (10, "Male", 38, "535296", "Obesity"),
    ]
    assert samples.patients_four().rows() == [
        (21, "Female", "17651", "Cancer"),
        (22, "Male", "17652", "Flu"),
        (23, "Male", "17661", "HIV"),
        (24, "Male", "17662", "HIV"),
    ]
    assert samples.patients_eight().rows() == [
        (20, "F", "12345", "AIDS"),
        (24, "M", "12342", "Flu"),
        (23, "F", "12344", "Flu"),
        (27, "M", "12344", "AIDS"),
        (35, "M", "12412", "Flu"),
        (34, "M", "12433", "Cancer"),
        (31, "M", "12453", "Flu"),
        (38, "M", "12455", "AIDS"),
    ]


def test_the_voters_list_names_exactly_one_patient() -> None:
    linked = samples.voters().join(samples.patients_four(), on=["gender", "age", "zip"])
    assert linked.select("name", "disease").rows() == [("Alice", "Cancer")]


def test_similarity_example() -> None:
    first = samples.patients_nine().head(3)
    assert first["disease"].to_list() == ["gastric ulcer", "gastritis", "stomach cancer"]
    assert first["salary"].to_list() == [3000, 4000, 5000]
    assert sorted(samples.patients_nine()["salary"]) == [1000 * thousands for thousands in range(3, 12)]


def test_skewness_example() -> None:
    tests = samples.virus_tests()
    overall = (tests["result"] == "positive").mean()
    counts = {district: (frame["result"] == "positive").sum() for (district,), frame in tests.group_by("district")}
    assert tests.height == 10_000 and overall == 0.01
    assert counts == {"north": 49, "east": 25, "south": 1, "west": 25}
    assert (tests["district"] == "north").sum() == 50
    assert counts["north"] / 50 - overall == pytest.approx(0.97)


def test_students() -> None:
    students = samples.students()
    assert students.columns == ["state", "department", "grade", "age", "roll"]
    assert students.select("department", "grade", "age", "roll").rows()[:2] == [
        ("CIV", 7.5, 20, "10601012"),
        ("CIV", 8.6, 21, "10601026"),
    ]
    assert students.height == students["roll"].n_unique() == 11
    assert Counter(students["department"]) == {"CIV": 2, "ELE": 4, "MEC": 2, "MET": 3}


@pytest.mark.parametrize(("table", "column"), HIERARCHY_FILES)
def test_hierarchies_are_trees(table: str, column: str) -> None:
    rows = paths(table, column)
    height = len(rows[0])
    assert all(len(row) == height for row in rows)
    assert len({row[0] for row in rows}) == len(rows)
    assert len({row[-1] for row in rows}) == 1
    assert all(label and label == label.strip() for row in rows for label in row)
    for level in range(height - 1):
        parents: dict[str, set[str]] = {}
        for row in rows:
            parents.setdefault(row[level], set()).add(row[level + 1])
        assert all(len(above) == 1 for above in parents.values()), level


@pytest.mark.parametrize(("table", "column"), HIERARCHY_FILES)
def test_a_label_means_one_set_of_raw_values(table: str, column: str) -> None:
    rows = paths(table, column)
    meanings: dict[str, set[frozenset[str]]] = {}
    for level in range(len(rows[0])):
        members: dict[str, set[str]] = {}
        for row in rows:
            members.setdefault(row[level], set()).add(row[0])
        for label, values in members.items():
            meanings.setdefault(label, set()).add(frozenset(values))
    assert [label for label, sets in meanings.items() if len(sets) > 1] == []


@pytest.mark.parametrize(("table", "column"), HIERARCHY_FILES)
def test_intervals_hold_their_values(table: str, column: str) -> None:
    for row in paths(table, column):
        spans = [label[1:-1].split("-") for label in row if label.startswith("[")]
        bounds = [(int(low), int(high)) for low, high in spans]
        assert all(low <= int(row[0]) <= high for low, high in bounds)
        nested = pairwise(bounds)
        assert all(outer[0] <= inner[0] and inner[1] <= outer[1] for inner, outer in nested)


def test_adult_hierarchies_cover_the_table() -> None:
    frame = samples.adult(part="all", complete=False)
    assert {path.stem for path in samples.hierarchies("adult").iterdir()} == set(ADULT_HEIGHTS)
    for column, height in ADULT_HEIGHTS.items():
        rows = paths("adult", column)
        assert len(rows[0]) - 1 == height, column
        assert rows[0][-1] == "*", column
        assert set(frame[column].drop_nulls().cast(pl.String)) <= {row[0] for row in rows}, column
    assert len(paths("adult", "native-country")) == 41


def test_patients_mst_hierarchies_are_the_published_ones() -> None:
    frame = samples.patients_mst()
    for column in ("gender", "age", "zip"):
        assert set(frame[column].cast(pl.String)) == {row[0] for row in paths("patients-mst", column)}
    assert paths("patients-mst", "gender") == [["Female", "*"], ["Male", "*"]]
    assert paths("patients-mst", "age") == [
        ["21", "[20-25]", "[20-30]", "[20-40]"],
        ["24", "[20-25]", "[20-30]", "[20-40]"],
        ["25", "[20-25]", "[20-30]", "[20-40]"],
        ["26", "[26-30]", "[20-30]", "[20-40]"],
        ["32", "[31-35]", "[31-40]", "[20-40]"],
        ["36", "[36-40]", "[31-40]", "[20-40]"],
        ["38", "[36-40]", "[31-40]", "[20-40]"],
    ]
    for value, tens, hundreds in paths("patients-mst", "zip"):
        assert (tens, hundreds) == (value[:5] + "*", value[:4] + "**")


def test_unknown_hierarchies_are_refused() -> None:
    with pytest.raises(ParameterError, match="adult, census, patients-mst"):
        samples.hierarchies("sonar")


def test_census_has_the_attributes_of_occ(people: pl.DataFrame) -> None:
    assert people.columns == list(CENSUS_SIZES)
    assert {column: people[column].n_unique() for column in people.columns} == CENSUS_SIZES
    for column in people:
        assert column.dtype == (pl.Int64 if column.name in {"age", "salary-class"} else pl.Categorical)
    assert (people["age"].min(), people["age"].max()) == (17, 94)
    assert (people["salary-class"].min(), people["salary-class"].max()) == (0, 49)


def test_census_hierarchies_cover_exactly_its_values(people: pl.DataFrame) -> None:
    assert {path.stem for path in samples.hierarchies("census").iterdir()} == set(CENSUS_SIZES)
    for column in people.columns:
        rows = paths("census", column)
        assert rows[0][-1] == "*", column
        assert set(people[column].cast(pl.String)) == {row[0] for row in rows}, column


def test_census_parameters_follow_the_hierarchies() -> None:
    tables = Path(samples.__file__).parent / "tables"
    occupations = [row[0] for row in paths("census", "occupation")]
    assert pl.read_csv(tables / "census-occupations.csv")["occupation"].to_list() == occupations
    for table, column, given in (
        ("census-races", "race", "country"),
        ("census-work-classes", "work-class", "occupation"),
    ):
        frame = pl.read_csv(tables / f"{table}.csv")
        assert set(frame.columns[1:]) == {row[0] for row in paths("census", column)}
        assert set(frame.to_series(0)) <= {label for row in paths("census", given) for label in row}


def test_census_is_the_same_for_the_same_seed(people: pl.DataFrame) -> None:
    assert people.equals(samples.census(200_000, seed=7))
    assert not people.head(1000).equals(samples.census(1000, seed=8))


def test_census_is_pinned() -> None:
    """The same people on every machine and with every release of numpy and Polars."""
    text = samples.census(70_000, seed=1).write_csv()
    assert (
        hashlib.sha256(text.encode()).hexdigest() == "2bf37c76994323af5ea38a4b1f8743a648ba07121a73fa672d893091f58294c9"
    )


@pytest.mark.parametrize("rows", [0, 1, 65_535, 65_536, 65_537, 131_072, 199_999])
def test_census_grows_at_its_end(people: pl.DataFrame, rows: int) -> None:
    smaller = samples.census(rows, seed=7)
    assert smaller.shape == (rows, 9)
    assert smaller.equals(people.head(rows))


def test_census_blocks_differ(people: pl.DataFrame) -> None:
    assert not people.slice(0, 1000).equals(people.slice(65_536, 1000))


@pytest.mark.parametrize(("rows", "seed"), [(-1, 0), (1, -1)])
def test_census_refuses_negative_numbers(rows: int, seed: int) -> None:
    with pytest.raises(ParameterError):
        samples.census(rows, seed=seed)


def association(frame: pl.DataFrame, one: str, other: str) -> float:
    """Cramér's V with the bias taken out, so that independent columns give about zero."""
    table = frame.group_by(one, other).len().pivot(on=other, index=one, values="len").fill_null(0)
    counts = table.drop(one).to_numpy().astype(float)
    total = counts.sum()
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0, keepdims=True) / total
    chi = ((counts - expected) ** 2 / expected).sum() / total
    height, width = counts.shape
    surplus = max(0.0, chi - (height - 1) * (width - 1) / (total - 1))
    smaller = min(height - (height - 1) ** 2 / (total - 1), width - (width - 1) ** 2 / (total - 1)) - 1
    return float(np.sqrt(surplus / smaller))


@pytest.mark.parametrize(
    ("one", "other", "least"),
    [
        ("age", "marital-status", 0.3),
        ("age", "education", 0.1),
        ("country", "race", 0.3),
        ("country", "education", 0.05),
        ("education", "occupation", 0.2),
        ("gender", "occupation", 0.4),
        ("occupation", "work-class", 0.3),
        ("occupation", "salary-class", 0.15),
    ],
)
def test_census_attributes_depend(people: pl.DataFrame, one: str, other: str, least: float) -> None:
    assert association(people, one, other) > least


def test_census_attributes_that_do_not_depend(people: pl.DataFrame) -> None:
    assert association(people, "age", "country") < 0.01
    assert association(people, "country", "gender") < 0.01


def test_census_is_plausible(people: pl.DataFrame) -> None:
    ranked = people["country"].value_counts(sort=True)
    assert ranked["country"][0] == "United-States"
    assert 0.84 < ranked["count"][0] / people.height < 0.86
    assert ranked["count"][1] > 10 * ranked["count"][40]
    minors = people.filter(pl.col("age") == 17)
    assert not minors["education"].cast(pl.String).is_in(["Bachelor", "Master", "Doctorate"]).any()
    soldiers = people.filter(pl.col("occupation") == "Soldiers")
    assert soldiers["work-class"].unique().to_list() == ["Armed-forces"]
    pay = people.group_by("occupation").agg(pl.col("salary-class").mean())
    means = dict(pay.with_columns(pl.col("occupation").cast(pl.String)).rows())
    assert means["Physicians"] > means["Nurses"] > means["Cashiers"]
    widowed = people.filter(pl.col("marital-status") == "Widowed")["age"].mean()
    single = people.filter(pl.col("marital-status") == "Never-married")["age"].mean()
    assert single < 30 < 65 < widowed
