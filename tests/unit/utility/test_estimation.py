"""Estimates against every way to put the rows of a group together, and every value that a cell can stand for."""

from itertools import permutations, product

import numpy as np
import polars as pl
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.core.codebook import Codebook
from shoal.errors import NotDefined, ParameterError, SchemaError
from shoal.utility.conditions import Condition
from shoal.utility.estimation import PublishedPart, estimate
from shoal.utility.published_labels import Labels

PATIENTS = pl.DataFrame(
    {
        "age": [23, 27, 35, 59, 61, 65, 65, 70],
        "sex": list("MMMMFFFF"),
        "zip": [11000, 13000, 59000, 12000, 54000, 25000, 25000, 30000],
        "disease": ["pneumonia", "dyspepsia", "dyspepsia", "pneumonia", "flu", "gastritis", "flu", "bronchitis"],
    }
)
WANTED = {"disease": "pneumonia", "age": "<= 30", "zip": "10001..20000"}
GROUPS = np.array([0, 0, 0, 0, 1, 1, 1, 1], np.int32)


def part(groups, spelling="intervals", **columns):
    codes, labels = {}, {}
    for name, values in columns.items():
        texts = list(dict.fromkeys(values))
        codes[name] = np.array([texts.index(value) for value in values], np.int32)
        labels[name] = Labels(name, texts, np.bincount(codes[name]), spelling)
    return PublishedPart(np.asarray(groups, np.int32), np.ones(len(groups), np.int64), codes, labels)


def texts(values):
    return [None if value is None else str(value) for value in values]


def test_the_pneumonia_count_of_the_papers_two_groups():
    people = part(GROUPS, age=texts(PATIENTS["age"]), zip=texts(PATIENTS["zip"]))
    diseases = part(GROUPS, disease=texts(PATIENTS["disease"]))
    conditions = [Condition.parsed(name, text) for name, text in WANTED.items()]
    found = estimate([people, diseases], np.array([4, 4]), "count", None, conditions)
    assert found.value == 1  # two of four match, two of four have it
    assert (found.low, found.high) == (0, 2)


def test_the_same_count_from_a_generalization():
    labels = {"age": ["[21-60]"] * 4 + ["[61-70]"] * 4, "zip": ["[10001-60000]"] * 8}
    table = part(GROUPS * 0, **labels, disease=texts(PATIENTS["disease"]))
    conditions = [Condition.parsed(name, text) for name, text in WANTED.items()]
    assert estimate([table], np.array([8]), "count", None, conditions).value == pytest.approx(1 / 10)


def worlds(groups, *parts):
    """Every way to put the rows of the parts of each group together, as lists of records."""
    per_group = []
    for group in sorted(set(groups)):
        inside = [index for index, owner in enumerate(groups) if owner == group]
        per_group.append(
            [
                list(
                    zip(*([column[i] for i in order] for column, order in zip(parts, orders, strict=True)), strict=True)
                )
                for orders in product(
                    *([inside] if number == 0 else permutations(inside) for number in range(len(parts)))
                )
            ]
        )
    for chosen in product(*per_group):
        yield [record for records in chosen for record in records]


@settings(max_examples=count(17, 60), deadline=None)
@given(st.data())
def test_estimates_are_the_mean_over_all_worlds_and_bounds_hold_in_each(data):
    size = data.draw(st.integers(1, 6))
    groups = sorted(data.draw(st.lists(st.integers(0, 1), min_size=size, max_size=size)))
    groups = [group - groups[0] for group in groups]
    small = st.lists(st.integers(-3, 3), min_size=size, max_size=size)
    first, second, third = (
        data.draw(small),
        data.draw(small),
        data.draw(st.lists(st.integers(0, 1), min_size=size, max_size=size)),
    )
    three = data.draw(st.booleans()) and size <= 4
    cut, wanted = data.draw(st.integers(-3, 3)), data.draw(st.sampled_from([">= 0", "< 1", "!= 2", "in -1, 2"]))
    parts = [part(groups, a=texts(first)), part(groups, b=texts(second))]
    columns = [first, second]
    conditions = [Condition.parsed("a", f"<= {cut}"), Condition.parsed("b", wanted)]
    if three:
        parts.append(part(groups, c=texts(third)))
        columns.append(third)
        conditions.append(Condition.parsed("c", "= 1"))
    meets = {
        ">= 0": lambda b: b >= 0,
        "< 1": lambda b: b < 1,
        "!= 2": lambda b: b != 2,
        "in -1, 2": lambda b: b in (-1, 2),
    }
    counts, sums, means = [], [], []
    for records in worlds(groups, *columns):
        kept = [r[0] for r in records if r[0] <= cut and meets[wanted](r[1]) and (not three or r[2] == 1)]
        counts.append(len(kept))
        sums.append(sum(kept))
        if kept:
            means.append(sum(kept) / len(kept))
    sizes = np.bincount(groups)
    count = estimate(parts, sizes, "count", None, conditions)
    total = estimate(parts, sizes, "sum", "a", conditions)
    mean = estimate(parts, sizes, "mean", "a", conditions)
    assert count.value == pytest.approx(np.mean(counts)) and total.value == pytest.approx(np.mean(sums))
    assert count.error == pytest.approx(np.std(counts), abs=1e-6) and total.error == pytest.approx(
        np.std(sums), abs=1e-6
    )
    assert count.low <= min(counts) and max(counts) <= count.high
    assert total.low <= min(sums) + 1e-9 and max(sums) <= total.high + 1e-9
    if len(columns) == 2:  # with two parts the bounds are met
        assert (count.low, count.high) == (min(counts), max(counts))
        assert (total.low, total.high) == pytest.approx((min(sums), max(sums)))
    if means:
        assert mean.low <= min(means) + 1e-9 and max(means) <= mean.high + 1e-9


@settings(max_examples=count(17, 60), deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=4),
    st.integers(0, 8),
    st.sampled_from(["<=", "<", ">=", ">", "=", "!="]),
)
def test_a_cell_is_as_often_each_of_its_numbers(cells, end, sign):
    labels = [f"[{low}-{low + width}]" if width else str(low) for low, width in cells]
    meets = {"<=": int.__le__, "<": int.__lt__, ">=": int.__ge__, ">": int.__gt__, "=": int.__eq__, "!=": int.__ne__}[
        sign
    ]
    counts, sums = [], []
    for values in product(*(range(low, low + width + 1) for low, width in cells)):
        kept = [value for value in values if meets(value, end)]
        counts.append(len(kept))
        sums.append(sum(kept))
    table = part([0] * len(cells), age=labels)
    found = estimate([table], np.array([len(cells)]), "count", None, [Condition.parsed("age", f"{sign} {end}")])
    assert found.value == pytest.approx(np.mean(counts)) and found.error == pytest.approx(np.std(counts), abs=1e-9)
    assert (found.low, found.high) == (min(counts), max(counts))
    if sign == "<=":
        total = estimate([table], np.array([len(cells)]), "sum", "age", [Condition.parsed("age", f"{sign} {end}")])
        assert total.value == pytest.approx(np.mean(sums))
        assert total.low <= min(sums) and max(sums) <= total.high


K, L = "k-anonymity:k=5", "frequency-l-diversity:l=2"
TRIED = {
    "mondrian": [K], "optimal": [K], "k-member": [K], "multiset": [K], "anatomy": [L], "slicing": [L],
    "bucketization": [L], "rank-swapping": [],
}  # fmt: skip


@pytest.mark.parametrize("algorithm", TRIED)
def test_a_file_answers_as_the_release_does(tmp_path, algorithm):
    data = shoal.read(
        shoal.samples.adult().drop("education-num").head(600), quasi=["age", "sex", "education"],
        sensitive=["occupation"], hierarchies={"sex": "automatic"},
    )  # fmt: skip
    models = TRIED[algorithm]
    release = shoal.anonymize(data, *models, algorithm=algorithm, suppression=0.1, seed=3)
    release.write(tmp_path / "out.csv")
    for measure, column in (("count", None), ("sum", "age"), ("mean", "hours-per-week")):
        where = {"age": "20..40", "occupation": ["Sales", "Tech-support"]}
        here, there = (shoal.query(source, measure, column, where=where) for source in (release, tmp_path / "out.csv"))
        assert here == there
        truth = shoal.query(data, measure, column, where=where)
        assert truth.low == truth.value == truth.high
        if release.view.truthful and not release.suppressed:
            assert here.low - 1e-9 <= truth.value <= here.high + 1e-9
        if not release.view.truthful:
            assert here.error is None and here.low is None and "perturbed" in here.how


def test_the_truth_is_what_polars_counts():
    table = shoal.samples.adult()
    data = shoal.read(table, quasi=["age", "sex"], sensitive=["occupation"])
    kept = table.filter((pl.col("age") > 30) & (pl.col("sex") == "Female") & (pl.col("education") != "Masters"))
    where = ["age > 30", "sex = Female", "education != Masters"]
    assert shoal.query(data, where=where).value == len(kept)
    assert shoal.query(data, "sum", "hours-per-week", where=where).value == kept["hours-per-week"].sum()
    assert shoal.query(data, "mean", "hours-per-week", where=where).value == pytest.approx(
        kept["hours-per-week"].mean()
    )
    assert shoal.query(data).value == len(table)


def test_missing_values_are_no_numbers():
    data = shoal.read(pl.DataFrame({"age": [20, None, 40, None], "sex": list("fmfm")}), quasi=["sex"])
    assert shoal.query(data, where={"age": "is missing"}).value == 2
    assert shoal.query(data, where={"age": "is not missing"}).value == 2
    assert shoal.query(data, where={"age": "!= 20"}).value == 1
    assert shoal.query(data, "mean", "age").value == 30


@pytest.mark.parametrize(
    "given_query, error",
    [
        ({"where": {"nothing": "1"}}, SchemaError),
        ({"where": {"age": "<= secret"}}, ParameterError),
        ({"where": {"age": ""}}, ParameterError),
        ({"where": ["age"]}, ParameterError),
        ({"measure": "median", "column": "age"}, ParameterError),
        ({"measure": "sum"}, ParameterError),
        ({"measure": "sum", "column": "sex"}, ParameterError),
        ({"column": "age"}, ParameterError),
    ],
)
def test_a_query_that_makes_no_sense_is_refused(given_query, error):
    data = shoal.read(PATIENTS, quasi=["age", "sex"], sensitive=["disease"])
    with pytest.raises(error) as raised:
        shoal.query(data, **given_query)
    assert "secret" not in str(raised.value)


def test_a_node_without_its_hierarchy_is_not_guessed(tmp_path):
    paths = [
        (country, region, "*")
        for country, region in (("fr", "Europe"), ("de", "Europe"), ("jp", "Asia"), ("cn", "Asia"))
    ]
    tree = shoal.Hierarchy.from_paths("country", paths)
    data = shoal.read(
        pl.DataFrame({"country": ["fr", "de", "jp", "cn"]}), quasi=["country"], hierarchies={"country": tree}
    )
    release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm="optimal")
    found = shoal.query(release, where={"country": "fr"})
    assert (found.value, found.low, found.high) == (1, 0, 2)
    release.write(tmp_path / "out.csv")
    with pytest.raises(NotDefined, match="give the hierarchy"):
        shoal.query(tmp_path / "out.csv", where={"country": "fr"})
    assert shoal.query(tmp_path / "out.csv", where={"country": "fr"}, hierarchies={"country": tree}) == found


def test_dates_are_compared_by_their_days():
    born = [f"198{year}-05-{day:02}" for year in range(5) for day in (3, 17)]
    data = shoal.read(pl.DataFrame({"born": born, "sex": list("fm") * 5}), quasi=["born", "sex"])
    assert shoal.query(data, where={"born": "<= 1982-05-03"}).value == 5
    release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm="k-member", seed=1)
    assert any(" - " in str(label) for label in release.frame["born"])
    found = shoal.query(release, where={"born": "1981-01-01..1983-12-31"})
    assert (found.low <= 6 <= found.high and found.low < found.high) or found.low == 6


def test_a_column_of_several_tables_is_not_counted():
    table = pl.DataFrame({"age": [1, 1, 2, 2] * 2, "sex": list("FMFMFMFM"), "ill": ["a"] * 4 + ["b"] * 4})
    data = shoal.read(table, quasi=["age", "sex"], sensitive=["ill"])
    method = "overlapping-slicing:columns=age+ill|sex+ill"
    release = shoal.anonymize(data, "frequency-l-diversity:l=2", algorithm=method, seed=1)
    with pytest.raises(NotDefined, match="several tables"):
        shoal.query(release, where={"ill": "a"})
    assert shoal.query(release, where={"age": 1, "sex": "F"}).value == pytest.approx(2)


@pytest.mark.parametrize("missing", [[], [None]])
def test_nothing_is_certain_of_means(tmp_path, missing):
    data = shoal.read(pl.DataFrame({"x": [10, 20, 10, 20, 30, 50, 60, 70, *missing]}), quasi=["x"])
    release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm="mdav", seed=1)
    release.write(tmp_path / "out.csv")
    assert release.spellings == {"x": "means"}
    for source in (release, tmp_path / "out.csv"):
        for value in (15, 10, 55):
            found = shoal.query(source, where={"x": value})
            assert (found.low, found.high, found.error) == (None, None, None) and "means" in found.how


def test_means_of_dates_are_means(tmp_path):
    born = [f"198{year}-05-{day:02}" for year in range(5) for day in (3, 17)]
    data = shoal.read(pl.DataFrame({"born": born}), quasi=["born"])
    release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm="mdav", seed=1)
    found = shoal.query(release, where={"born": "= 1980-05-10"})
    assert release.spellings == {"born": "means"} and found.low is None and "means" in found.how


def test_a_year_is_no_number_of_days(tmp_path):
    born = [f"198{number % 3}-05-{1 + number % 20:02}" for number in range(40)]
    data = shoal.read(pl.DataFrame({"born": born}), quasi=["born"], hierarchies={"born": "dates:units=year"})
    release = shoal.anonymize(data, shoal.KAnonymity(k=6), algorithm="optimal", seed=1)
    assert set(release.frame["born"]) == {"1980", "1981", "1982"}
    truth = shoal.query(data, where={"born": "<= 1981-01-01"}).value
    found = shoal.query(release, where={"born": "<= 1981-01-01"})
    assert found.low == found.high == truth == sum(text.startswith("1980") for text in born)
    release.write(tmp_path / "out.csv")
    with pytest.raises(NotDefined, match="give the hierarchy"):
        shoal.query(tmp_path / "out.csv", where={"born": "<= 1981-01-01"})


def test_a_top_with_a_name_hides_missing_values_too():
    paths = [("a", "A", "any"), ("b", "A", "any"), ("c", "C", "any")]
    table = pl.DataFrame({"x": [None, "a", "a", "b", "b", "c"]})
    tree = shoal.Hierarchy.from_paths("x", paths)
    release = shoal.anonymize(
        shoal.read(table, quasi=["x"], hierarchies={"x": tree}), shoal.KAnonymity(k=2), algorithm="mondrian", seed=1
    )
    assert "any" in release.frame["x"].to_list()
    found = shoal.query(release, where={"x": "is missing"})
    assert found.low == 0 and found.high == 2


def test_a_node_that_looks_like_a_number_is_a_node():
    paths = [(str(age), str(age // 10 * 10), "*") for age in range(20, 40)]
    data = shoal.read(
        pl.DataFrame({"age": [*range(20, 40)]}), quasi=["age"],
        hierarchies={"age": shoal.Hierarchy.from_paths("age", paths)},
    )  # fmt: skip
    release = shoal.anonymize(data, shoal.KAnonymity(k=10), algorithm="optimal", seed=1)
    assert set(release.frame["age"]) == {"20", "30"}
    for condition, truth in (("= 20", 1), ("<= 20", 1), ("> 20", 19), ("= 25", 1), ("<= 29", 10)):
        found = shoal.query(release, where={"age": condition})
        assert found.low <= truth <= found.high, condition


def test_texts_that_look_like_labels_are_texts():
    odd = ["*", "[1-5]", "{a|b}", "3", "a", "b"]
    data = shoal.read(pl.DataFrame({"x": odd, "q": list("aabbcc")}), quasi=["q"], sensitive=["x"])
    release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm="mondrian", seed=1)
    for source in (data, release):
        for text in odd:
            found = shoal.query(source, where={"x": [text]})
            assert (found.value, found.low, found.high) == (1, 1, 1), text


def test_what_hides_a_value_is_not_the_value():
    data = shoal.read(pl.DataFrame({"x": ["a", "b", "c", "d"]}), quasi=["x"])
    release = shoal.anonymize(data, shoal.KAnonymity(k=4), algorithm="optimal", seed=1)
    found = shoal.query(release, where={"x": "= *"})
    assert set(release.frame["x"]) == {"*"} and found.low == 0


def test_numbers_are_compared_exactly():
    huge = [2**53, 2**53 + 1, 2**53 + 2]
    data = shoal.read(pl.DataFrame({"x": huge, "q": ["a", "a", "a"]}), quasi=["q"], sensitive=["x"])
    release = shoal.anonymize(data, shoal.KAnonymity(k=3), algorithm="mondrian", seed=1)
    for source in (data, release):
        assert shoal.query(source, where={"x": f"<= {2**53}"}).high == 1
        assert shoal.query(source, where={"x": 2**53 + 1}).value == 1


def test_an_interval_of_whole_numbers_may_hold_others():
    data = shoal.read(pl.DataFrame({"x": ["20", "20.5", "30", "40"]}), quasi=["x"])
    release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm="mondrian", seed=1)
    for condition, truth in (("20.2..20.9", 1), ("< 21", 2), ("= 20.5", 1)):
        assert shoal.query(data, where={"x": condition}).value == truth
        found = shoal.query(release, where={"x": condition})
        assert found.low <= truth <= found.high, condition


def test_booleans_are_asked_for_as_python_has_them():
    data = shoal.read(pl.DataFrame({"ill": [True, False, None, True], "q": list("aabb")}), quasi=["q"])
    assert shoal.query(data, where={"ill": True}).value == 2 and shoal.query(data, where={"ill": [False]}).value == 1


def test_numbers_too_large_for_a_sum_are_not_summed():
    data = shoal.read(pl.DataFrame({"x": [1.7e308, 1.7e308], "q": ["a", "a"]}), quasi=["q"], sensitive=["x"])
    assert shoal.query(data, where={"x": "> 1"}).value == 2
    with pytest.raises(NotDefined, match="too large"):
        shoal.query(data, "sum", "x")


def test_a_range_of_times_may_be_written_with_blanks() -> None:
    times = ["2021-10-31 01:00:00", "2021-10-31 02:00:00", "2021-10-31 03:00:00"]
    data = shoal.read(pl.DataFrame({"at": times * 2}), quasi=["at"])
    release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm="mondrian", seed=1)
    answer = shoal.query(release, "count", where={"at": "2021-10-31 01:00:00 .. 2021-10-31 02:00:00"})
    assert (answer.low, answer.value, answer.high) == (4, 4, 4)


def test_a_node_with_one_value_is_no_value():
    tree = shoal.Hierarchy.from_paths("x", [("Bern", "Bern", "here", "any"), ("7", "8", "there", "any")])
    leaves = tree.labels[0]
    stated = [Codebook.at_level(tree, level).spelling(np.arange(len(tree.labels[level])), leaves) for level in range(4)]
    assert stated == ["values", "levels", "levels", "levels"]
    bern = np.array([leaf == "Bern" for leaf in leaves]).nonzero()[0]
    assert Codebook.at_level(tree, 1).spelling(bern, leaves) == "values"
