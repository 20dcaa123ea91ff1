"""Every engine reads, groups, publishes and writes the same: held against the default one, found in the registry.

Where combinations are tried, each value of one option meets each value of another, as far as they have to do with each
other; `LONG` tries all combinations.
"""

import datetime
import gzip
import importlib
import threading
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from counts import LONG, long_on_spark
from making import ONLY, names

import shoal
from shoal import registry
from shoal.api import quick_metrics
from shoal.core.contracts.divisible import Divisible
from shoal.core.finding import Findings
from shoal.diagnosis.plain_columns import plain_columns
from shoal.engines import DEFAULT
from shoal.errors import InputError, MissingExtraError, MissingProgramError, SchemaError, ShoalError

KEY = b"a key of at least sixteen bytes"
ROLES = {
    "quasi": ["age", "sex", "born", "town"],
    "sensitive": ["disease", "insured"],
    "identifiers": ["name"],
}


@cache
def people(rows=240, seed=0):
    """Numbers, dates, times, booleans and odd texts, with missing values among all of them."""
    draw = np.random.default_rng(seed)

    def some(values, lacking=0.05):
        picked = [values[place] for place in draw.integers(0, len(values), rows)]
        return [None if absent else value for value, absent in zip(picked, draw.random(rows) < lacking, strict=True)]

    def spelled(first, others):
        return [first, *some([first, *others])[1:]]

    days = [datetime.date(1950 + 7 * place, 1 + place, 28 - place) for place in range(9)]
    return pl.DataFrame(
        {
            "name": [f"person {place}" for place in range(rows)],
            "age": some(list(range(20, 60, 3))),
            "sex": spelled("f", ["m", " f"]),
            "born": some(days),
            "town": some(['Saint "Étienne"', "a,b", "two\nlines", "Łódź", "plain", "true"]),
            "disease": spelled("flu", ["cold", "gout", "it's", "flu "]),
            "insured": some([True, False]),
            "weight": some([55.5, 60.0, 71.25, 1 / 3, 1e-7, 1e20], 0.1),
            "seen": some([datetime.datetime(2020, 1, day, 12, 30, day) for day in range(1, 9)]),
            "note": some(["", "x", "ünï", "=1+1", "'; DROP TABLE t; --", 'a""b']),
        }
    )


ENGINES = names("engines")
OTHERS = tuple(name for name in ENGINES if name != DEFAULT)


@cache
def lacking(name):
    """Why an engine cannot be tried here; None where it can."""
    try:
        shoal.read(pl.DataFrame({"a": [1]}), quasi=["a"], engine=name)
    except (MissingExtraError, MissingProgramError) as reason:
        return str(reason)
    return None


def installed(request):
    """The name of an engine whose packages are installed; Spark runs on a real cluster."""
    if request.param == "spark":
        request.getfixturevalue("spark")
    if lacking(request.param):
        pytest.skip(lacking(request.param))
    return request.param


@pytest.fixture(params=ENGINES)
def engine(request):
    """Each engine."""
    return installed(request)


@pytest.fixture(params=OTHERS)
def other(request):
    """Each engine but the default one, with which it is compared."""
    return installed(request)


def both(source, engine, **options):
    """The same table in the hands of the default engine and of another one."""
    chosen = {**ROLES, **options}
    return shoal.read(source, engine=DEFAULT, **chosen), shoal.read(source, engine=engine, **chosen)


def facts(findings: Findings):
    return [(finding.name, finding.value, finding.bound, finding.holds, finding.how) for finding in findings]


def same_classes(left, right):
    assert left.attributes == right.attributes and left.records == right.records
    assert np.array_equal(left.keys, right.keys) and np.array_equal(left.sizes, right.sizes)
    assert len(left.sensitive) == len(right.sensitive)
    assert (left.people is None) == (right.people is None)
    everything = [*left.sensitive, *([left.people] if left.people else [])]
    for mine, other in zip(everything, [*right.sensitive, *([right.people] if right.people else [])], strict=True):
        assert (mine.people is None) == (other.people is None)
        if mine.people is not None:
            assert mine.people.count == other.people.count
            for what in ("codes", "population"):
                assert np.array_equal(getattr(mine.people, what), getattr(other.people, what)), what
        for what in ("starts", "values", "counts", "population", "contexts"):
            ours, theirs = getattr(mine, what), getattr(other, what)
            assert (ours is None) == (theirs is None), what
            assert ours is None or np.array_equal(ours, theirs), what


SOURCES = {
    "polars": lambda table, folder: table,
    "pandas": lambda table, folder: table.to_pandas(),
    "arrow": lambda table, folder: table.to_arrow(),
    "parquet": lambda table, folder: _written(folder / "people.parquet", table.write_parquet),
    "csv": lambda table, folder: _written(folder / "people.csv", table.write_csv),
    "csv.gz": lambda table, folder: _compressed(folder / "people.csv.gz", table),
    "arrow file": lambda table, folder: _written(folder / "people.arrow", table.write_ipc),
}


def _written(path, write):
    write(path)
    return path


def _compressed(path, table):
    path.write_bytes(gzip.compress(table.write_csv(separator=";").encode()))
    return path


KINDS = ("polars", "parquet", "csv")
_FOLDER = TemporaryDirectory(prefix="shoal-sources-")


@cache
def source(kind):
    """The people as a source of a kind; nobody changes its file."""
    return SOURCES[kind](people(), Path(_FOLDER.name))


_DATASETS = {}


def shared(kind, engine, **options):
    """The people in the hands of the default engine and of another one, which read them once for all tests."""
    return [_read(kind, name, options) for name in (DEFAULT, engine)]


def _read(kind, engine, options):
    key = (kind, engine, repr(options))
    if key not in _DATASETS:
        _DATASETS[key] = shoal.read(source(kind), engine=engine, **{**ROLES, **options})
    return _DATASETS[key]


def of_kinds(*daily, spark=("parquet",), long=KINDS, long_spark=("parquet",)):
    """Other engines with kinds of sources. Spark has fewer: a case takes seconds there, and all but Parquet is read by
    the driver and sent to the workers. An engine that a package adds has one: whether everything is asked of it is the
    question then."""
    if ONLY:
        daily = daily[:1]
    kinds = {name: (long if LONG else daily) if name != "spark" else long_spark if LONG else spark for name in OTHERS}
    pairs = [(name, kind) for name in OTHERS for kind in kinds[name]]
    return pytest.mark.parametrize(("other", "kind"), pairs, indirect=["other"])


@of_kinds(*SOURCES, long=SOURCES, long_spark=SOURCES)
def test_a_table_is_read_alike(other, kind):
    if kind == "pandas":
        pytest.importorskip("pandas")
    reference, data = shared(kind, other)
    coded = (*reference.schema.quasi, *reference.schema.sensitive)
    if other == "spark" and not LONG:
        coded = ("born", "disease")  # each is a job there
    assert data.records == reference.records
    assert [(each.name, each.role, each.kind) for each in data.schema.columns] == [
        (each.name, each.role, each.kind) for each in reference.schema.columns
    ]
    for mine, other in zip(data.schema.columns, reference.schema.columns, strict=True):
        if other.hierarchy is not None:
            assert np.array_equal(mine.hierarchy.codes, other.hierarchy.codes), mine.name
            assert mine.hierarchy.rows() == other.hierarchy.rows()
    same_classes(data.summary, reference.summary)
    same_classes(data.group(("disease", "age")), reference.group(("disease", "age")))
    for name in coded:
        assert np.array_equal(data.codes(name), reference.codes(name)), name
    for mine, other in zip(data.listing(7), reference.listing(7), strict=True):
        assert np.array_equal(mine, other)
    assert facts(shoal.diagnose(data, k=3)) == facts(shoal.diagnose(reference, k=3))
    asked, expected = shoal.ask(data, k=3), shoal.ask(reference, k=3)
    assert asked.positive_border == expected.positive_border and asked.negative_border == expected.negative_border


@of_kinds("polars", "csv", long_spark=KINDS)
def test_plain_columns_are_judged_alike(other, kind, tmp_path):
    table = people().with_columns(pl.col("age").alias("age.1"), (pl.col("weight") * 2).alias("double"))
    for more in ({"missing_rules": {"age": "drop"}}, {})[: 1 if other == "spark" and not LONG else 2]:
        reference, data = both(SOURCES[kind](table, tmp_path), other, identifiers=[], **more)
        expected, found = plain_columns(reference), plain_columns(data)
        assert found == expected
        assert found.telling.keys() == {"name", "age.1"} and found.alone > 0


ALGORITHMS = {
    "optimal": ["k-anonymity:k=4"],
    "mondrian": ["k-anonymity:k=4", "distinct-l-diversity:l=2"],
    "mondrian:strict=false": ["k-anonymity:k=4"],
    "k-member:refine=true": ["k-anonymity:k=4"],
    "cell-suppression:importance=age=2": ["k-anonymity:k=4"],
    "anatomy": ["frequency-l-diversity:l=2"],
    "multiset": ["k-anonymity:k=4"],
    "bucketization:base=k-member": ["distinct-l-diversity:l=2"],
    "slicing:columns=age+sex|born|town+disease": ["distinct-l-diversity:l=2"],
    "rank-swapping:share=0.2": [],
    "targeted-swapping:geography=town,match=sex": [],
}
ON_SPARK = ("optimal", "anatomy")
"""What the others publish has one of the same forms, which the same queries carry out: one table, and two tables that
belong together. Changed values are published every day from a table with odd names."""
LEFT_TO_LONG = ("mondrian:strict=false", "bucketization:base=k-member", "targeted-swapping:geography=town,match=sex")
"""Their plans are by record as that of `k-member` is, their tables those of `anatomy`, their values changed as those of
`rank-swapping` are."""
ENDINGS = ("csv", "parquet")
APART = ("anatomy", "bucketization", "slicing")
"""Those that publish one sensitive attribute apart from the quasi-identifiers."""


def release_cases():
    """Each on one kind of source and in one format, in turns; those whose forms others have, and most of them on
    Spark, in the long suite, which tries every kind and format."""
    found = []
    for place, algorithm in enumerate(ALGORITHMS):
        for name in OTHERS:
            kinds = KINDS if name != "spark" else ("parquet",)
            if LONG:
                found += [(name, algorithm, kind, ending) for kind in kinds for ending in ENDINGS]
            elif name == "spark":
                daily = algorithm.partition(":")[0] in ON_SPARK
                found += [(name, algorithm, "parquet", ENDINGS[place % 2])] if daily else []
            elif algorithm not in LEFT_TO_LONG:
                found += [(name, algorithm, KINDS[place % 3], ENDINGS[place % 2])]
    return found


def released(data, algorithm):
    suppression = 0.1 if algorithm in ("optimal", "anatomy") else 0.0
    return shoal.anonymize(
        data, *ALGORITHMS[algorithm], algorithm=algorithm, suppression=suppression, seed=11, repeatable=True,
        pseudonyms=shoal.Pseudonyms(key=KEY),
    )  # fmt: skip


@pytest.mark.parametrize(("other", "algorithm", "kind", "ending"), release_cases(), indirect=["other"])
def test_a_release_is_the_same_to_the_byte(other, algorithm, kind, ending, tmp_path):
    one = {"sensitive": ["disease"]} if algorithm.partition(":")[0] in APART else {}
    datasets = shared(kind, other, **one)
    expected, found = releases = [released(data, algorithm) for data in datasets]
    paths = [tmp_path / str(place) / f"release.{ending}" for place in range(2)]
    for path, release in zip(paths, releases, strict=True):
        path.parent.mkdir()
        release.write(path)
    assert found.suppressed == expected.suppressed
    for part, frame in expected.frames.items():
        assert found.frames[part].equals(frame), part
    files = sorted(path.name for path in paths[0].parent.iterdir())
    assert files == sorted(path.name for path in paths[1].parent.iterdir())
    for name in files:
        mine, theirs = (path.with_name(name) for path in paths)
        if name.endswith(".parquet"):
            assert pl.read_parquet(mine).equals(pl.read_parquet(theirs)), name
        elif ending == "csv":
            assert mine.read_bytes() == theirs.read_bytes(), name
    quick = quick_metrics()
    evaluated = LONG or other != "spark" or algorithm == "optimal"
    if LONG or (ending == "csv" and evaluated):
        scores = [facts(shoal.evaluate(data, made, *quick)) for data, made in zip(datasets, releases, strict=True)]
        assert scores[0] == scores[1]
    if ALGORITHMS[algorithm]:
        verdicts = [shoal.verify(paths[1], engine=name) for name in (DEFAULT, other)]
        assert verdicts[1].holds and facts(verdicts[1]) == facts(verdicts[0])
        if LONG or (ending == "parquet" and evaluated):
            scores = [facts(shoal.evaluate(data, paths[1], *quick)) for data in datasets]
            assert scores[0] == scores[1]


def written(rows=100):
    """Dates and numbers as people write them, some of them damaged."""
    draw = np.random.default_rng(1)
    days = [datetime.date(1950, 1, 1) + datetime.timedelta(days=int(day)) for day in draw.integers(0, 20_000, rows)]
    damaged = [f"{day:%d.%m.%Y}" for day in days]
    damaged[3], damaged[7], damaged[9] = "31.02.1984", "unknown", ""
    return pl.DataFrame(
        {
            "born": damaged,
            "seen": [f"{day:%m/%d/%Y} {place % 24:02d}:30" for place, day in enumerate(days)],
            "left": [f"{day}T00:00:00Z" for day in days],
            "compact": [int(f"{day:%Y%m%d}") for day in days],
            "wage": [f"{1 + place % 9}.{place:03d},{place % 10}" for place in range(rows)],
            "spent": [f"{place * 37:,}".replace(",", " ") for place in range(rows)],
        }
    ).with_columns(moment=pl.Series(days).cast(pl.Datetime("ms")).dt.replace_time_zone("Europe/Paris"))


@of_kinds("parquet", "csv")
@pytest.mark.parametrize("algorithm", ["mondrian", "optimal"] if LONG else ["in turns"])
def test_dates_and_numbers_as_people_write_them(other, algorithm, kind, tmp_path):
    if algorithm == "in turns":
        algorithm = "optimal" if kind == "csv" else "mondrian"
    options = {
        "quasi": ["born", "seen", "compact", "wage", "moment"], "sensitive": ["left", "spent"], "identifiers": [],
        "date_formats": {"compact": "%Y%m%d"}, "number_formats": {"wage": "decimal-comma"},
    }  # fmt: skip
    datasets = both(SOURCES[kind](written(), tmp_path), other, **options)
    reference, data = datasets
    assert data.notes == reference.notes and len(data.notes) == (5 if kind == "csv" else 4)
    assert [(each.kind, each.form) for each in data.schema.columns] == [
        ("date", "day-first"), ("date", "month-first"), ("date", None), ("date", "%Y%m%d"),
        ("numeric", "decimal-comma"), ("numeric", "decimal-point"), ("date", None),
    ]  # fmt: skip
    assert [(each.kind, each.form) for each in reference.schema.columns] == [
        (each.kind, each.form) for each in data.schema.columns
    ]
    same_classes(data.summary, reference.summary)
    made = [shoal.anonymize(each, "k-anonymity:k=4", algorithm=algorithm, suppression=0.1, seed=2) for each in datasets]
    assert made[1].frame.equals(made[0].frame)
    for place, release in enumerate(made):
        release.write(tmp_path / f"{place}.csv")
        figures = [
            facts(shoal.evaluate(datasets[place], each, "gcp", "lm")) for each in (release, tmp_path / f"{place}.csv")
        ]
        assert figures[0] == figures[1]
    assert (tmp_path / "1.csv").read_bytes() == (tmp_path / "0.csv").read_bytes()
    assert shoal.verify(tmp_path / "1.csv", engine=other).holds


def test_formats_that_are_in_doubt_are_asked_about_alike(other):
    for column in (["01/02/1984", "03/04/1985"], ["1984-05-17", "17.05.1984"], ["1,234", "5,678"]):
        reasons = []
        for name in (DEFAULT, other):
            with pytest.raises(SchemaError) as caught:
                shoal.read(pl.DataFrame({"x": column}), quasi=["x"], engine=name)
            reasons.append(str(caught.value))
        assert reasons[0] == reasons[1] and "distinct" in reasons[0]


def test_suppressed_records_are_not_published(other):
    long_on_spark(other)
    table = pl.DataFrame({"age": [1, 1, 1, 2, 2, 2, 99], "note": ["kept"] * 6 + ["gone"]})
    reference, data = both(table, other, quasi=["age"], sensitive=[], identifiers=[])
    made = [
        shoal.anonymize(each, "k-anonymity:k=3", algorithm="optimal", suppression=0.2, seed=1)
        for each in (reference, data)
    ]
    assert made[1].suppressed == made[0].suppressed == 1
    assert made[1].frame.equals(made[0].frame) and "gone" not in made[1].frame["note"].to_list()


@pytest.mark.parametrize("strict", [False, True])
def test_several_sensitive_attributes(other, strict):
    long_on_spark(other)
    datasets = both(people(), other, quasi=["age", "sex"], protect_jointly=strict)
    same_classes(datasets[1].summary, datasets[0].summary)
    made = [
        shoal.anonymize(
            data, "k-anonymity:k=5", "distinct-l-diversity:l=2", algorithm="mondrian", suppression=1.0, seed=2
        )
        for data in datasets
    ]
    assert made[1].frame.equals(made[0].frame)
    assert facts(made[1].verify(made[1].policy)) == facts(made[0].verify(made[0].policy))


KEYED = shoal.Pseudonyms(key=KEY)
VISITS = {"mondrian": KEYED, "k-member:refine=true": None} | ({"optimal": None} if LONG else {})
"""Algorithms by which people with several records are published, with pseudonyms for them or without."""


@cache
def visits(engine):
    """People with two or three records each, who are spelled in two ways, as in `1` and `1.0`."""
    row = pl.int_range(pl.len())
    table = people().with_columns(
        pl.format("{}{}", row % number, pl.when(row % 7 == 3).then(pl.lit(".0")).otherwise(pl.lit(""))).alias(name)
        for name, number in (("visitor", 90), ("home", 30))
    )
    return both(table, engine, quasi=["age", "sex"], person="visitor", household="home", missing_rules={"age": "drop"})


@pytest.mark.parametrize(
    ("algorithm", "pseudonyms"),
    [(name, given) for name, usual in VISITS.items() for given in ((None, KEYED) if LONG else (usual,))],
)
def test_people_with_several_records_are_counted_alike(other, algorithm, pseudonyms, tmp_path):
    if algorithm != "mondrian":
        long_on_spark(other)
    datasets = visits(other)
    assert datasets[1].people == datasets[0].people == 90
    repeats = [data.table.count_repeats("visitor") for data in datasets]
    assert repeats[1] == repeats[0] == datasets[0].records - 90
    known = [data.table.digests(("visitor",), 3, ("age", "sex"), 1) for data in datasets]
    assert np.array_equal(*known) and len(set(known[0].tolist())) == 90
    same_classes(datasets[1].summary, datasets[0].summary)
    assert np.array_equal(datasets[1].summary.headcounts, datasets[0].summary.headcounts)
    assert np.array_equal(datasets[1].summary.household_counts, datasets[0].summary.household_counts)
    assert facts(shoal.diagnose(datasets[1], k=3)) == facts(shoal.diagnose(datasets[0], k=3))
    models = ["k-anonymity:k=4", "k-households:k=3", "entropy-l-diversity:l=1.5"]
    made = [
        shoal.anonymize(data, *models, algorithm=algorithm, suppression=0.1, seed=3, pseudonyms=pseudonyms)
        for data in datasets
    ]
    assert made[1].frame.equals(made[0].frame)
    metrics = () if LONG else quick_metrics()
    scores = [facts(shoal.evaluate(data, release, *metrics)) for data, release in zip(datasets, made, strict=True)]
    assert scores[1] == scores[0]
    files = [tmp_path / str(place) / "release.csv" for place in range(2)]
    for release, path in zip(made, files, strict=True):
        path.parent.mkdir()
        assert release.write(path).is_file()
    assert files[0].read_bytes() == files[1].read_bytes()
    verdicts = [shoal.verify(path, engine=name) for path, name in zip(files, (DEFAULT, other), strict=True)]
    assert verdicts[1].holds and facts(verdicts[1]) == facts(verdicts[0])


def test_linked_columns_without_a_role_are_hidden_alike(other, tmp_path):
    long_on_spark(other)
    table = people().select("age", "sex", pl.int_range(240).mod(7).alias("pay") * 0.5, pl.col("town").alias("place"))
    files = []
    for data in both(table, other, quasi=["age", "sex"], sensitive=[], identifiers=[], hierarchies={}):
        method = {"name": "cell-suppression", "linked": ["age=pay", "sex=place"]}
        release = shoal.anonymize(data, "k-anonymity:k=7", algorithm=method, seed=2, allow_plain=["place"])
        assert release.verify(release.policy)["linked-columns"].holds
        files.append(tmp_path / f"{len(files)}.csv")
        release.write(files[-1])
    texts = [file.read_text() for file in files]
    assert texts[0] == texts[1] and "*" in texts[0]


def test_rules_for_missing_values(other):
    long_on_spark(other)
    rules = {"age": "drop", "disease": "drop", "sex": "value"}
    reference, data = both(people(), other, missing_rules=rules, missing=["cold"])
    assert 0 < data.records == reference.records < 240
    same_classes(data.summary, reference.summary)
    assert np.array_equal(data.codes("town"), reference.codes("town"))
    for algorithm, models in {"mondrian": ["k-anonymity:k=3"], "rank-swapping": []}.items():
        made = [
            shoal.anonymize(each, *models, algorithm=algorithm, seed=5, repeatable=True) for each in (reference, data)
        ]
        assert made[1].frame.equals(made[0].frame)
    reasons = []
    for name in (DEFAULT, other):
        with pytest.raises(InputError) as caught:
            shoal.read(people(), **ROLES, missing_rules={"sex": "refuse"}, engine=name)
        reasons.append(str(caught.value))
    assert reasons[0] == reasons[1]


def test_a_missing_value_that_only_dropped_records_had(other):
    table = pl.DataFrame({"age": [1, 2, None, 2], "sex": ["f", "m", None, "f"]})
    rules = {"age": "drop"}
    reference, data = both(table, other, quasi=["age", "sex"], sensitive=[], identifiers=[], missing_rules=rules)
    assert data.schema["sex"].hierarchy.missing == reference.schema["sex"].hierarchy.missing is False
    same_classes(data.summary, reference.summary)


def found_out(source, engine, **options):
    """What is found out about a table before its columns have roles."""
    return (
        shoal.detect(source, engine=engine, time_limit=None).as_dict(),
        shoal.dependencies(source, engine=engine, time_limit=None, **options).as_dict(),
    )


@of_kinds("csv", long=("parquet", "csv"))
def test_roles_and_dependencies_are_found_alike(other, kind, tmp_path):
    long_on_spark(other)
    table = pl.concat([people(), people()[:50]])
    given = SOURCES[kind](table, tmp_path)
    assert found_out(given, other) == found_out(given, DEFAULT)
    # A town has one region, but for a few records, and everybody of one town is ill alike.
    region = pl.when(pl.int_range(pl.len()) % 60 == 7).then(pl.lit("x")).otherwise(pl.col("town").str.slice(0, 1))
    illness = pl.when(pl.col("town") == "plain").then(pl.lit("flu")).otherwise("disease")
    telling = table.select("age", "town", "insured", region=region, illness=illness)
    for options in ({"tolerance": 0.1, "largest": 2}, {"support": 0.1, "largest": 1}):
        found, expected = (shoal.dependencies(telling, engine=name, **options) for name in (other, DEFAULT))
        assert found.as_dict() == expected.as_dict()
        assert any(each.violations for each in found.found) if "tolerance" in options else found.conditional


@pytest.mark.parametrize("shown", [2000, 3])
def test_columns_of_very_many_values_are_looked_at_alike(other, shown, monkeypatch, tmp_path):
    """Every column is taken for one, so that values of all types are known by their hashes."""
    long_on_spark(other)
    if other == "spark" and shown >= 240:
        pytest.skip("a case takes long there, and looks at fewer values all the same")
    given = source("parquet")
    exact = found_out(given, DEFAULT)
    for package in ("shoal.engines.common", registry.find("engines", other).__module__):
        if hasattr(importlib.import_module(package), "__path__"):  # an engine of one file has the common profiling
            profiling = importlib.import_module(f"{package}.profiling")
            monkeypatch.setattr(profiling, "WIDE", 1)
            monkeypatch.setattr(profiling, "SHOWN", shown)
    found = found_out(given, other)
    assert found == found_out(given, DEFAULT)
    if shown >= 240:  # all values of every column
        assert found == exact
    measured = ("distinct", "distinct_ratio", "separation", "unique_share", "missing_share", "contribution")
    for mine, true in zip(found[0]["columns"], exact[0]["columns"], strict=True):
        assert [mine[each] for each in measured[:-1]] == [true[each] for each in measured[:-1]], mine["column"]
    assert found[1] == exact[1]


ASKED = [
    {"attributes": ["age", "sex"], "k": 3}, {"attributes": ["age", "sex"]}, {"k": 3}, {},
    {"attributes": ["age", "sex"], "k": 3, "delta": 0.1}, {"attributes": ["age", "sex"], "delta": 0.1},
    {"k": 3, "delta": 0.1}, {"delta": 0.1}, {"attributes": ["age", "sex"], "k": 3, "delta": "ask"},
    {"k": 3, "delta": "ask"}, {"attributes": ["age", "sex"], "delta": "ask"}, {"delta": "ask"},
]  # fmt: skip


@of_kinds("csv")
def test_the_twelve_questions_are_answered_alike(other, kind):
    datasets = shared(kind, other)
    notions = (
        {"notion": "k"},
        {"notion": "distinct-l", "sensitive": "disease"},
        {"notion": "t", "sensitive": "disease"},
    )
    asked = set()
    for given in ASKED:
        for notion in notions:
            bound = {"k": 3, "distinct-l": 2, "t": 0.3}[notion["notion"]]
            letter = {"k": "k", "distinct-l": "l", "t": "t"}[notion["notion"]]
            question = {letter if name == "k" else name: bound if name == "k" else each for name, each in given.items()}
            expected, found = (shoal.ask(data, **notion, **question).as_dict() for data in datasets)
            assert found == expected and found["proven"]
            asked.add(found["question"])
    assert asked == set(range(1, 13))


ATTACKS = (
    "prosecutor", "journalist", "marketer", "homogeneity", "skewness", "similarity", "background-knowledge",
    "disclosure", "membership", "population-uniqueness",
)  # fmt: skip


@of_kinds("polars")
def test_classes_are_attacked_and_evaluated_alike(other, kind, tmp_path):
    long_on_spark(other)
    alike = [("flu", "viral", "*"), ("cold", "viral", "*"), ("gout", "other", "*"), ("it's", "other", "*")]
    trees = {"disease": shoal.Hierarchy.from_paths("disease", alike)}
    datasets = both(SOURCES[kind](people().drop("seen", "note"), tmp_path), other, hierarchies=trees)
    register = shoal.read(people(rows=600, seed=1), quasi=ROLES["quasi"])
    attempts, figures = [], []
    for data in datasets:
        release = shoal.anonymize(data, "k-anonymity:k=4", algorithm="mondrian", suppression=0.1, seed=5)
        attempts.append([each.as_dict() for each in shoal.attack(data, release, *ATTACKS, external=register)])
        figures.append(facts(shoal.evaluate(data, release, *quick_metrics(), baselines=False)))
    assert attempts[1] == attempts[0] and figures[1] == figures[0]


def test_people_are_known_again_alike(engine):
    table = people(rows=60).with_columns(
        name=pl.format("Åsa {}", pl.int_range(pl.len())), number=pl.int_range(pl.len())
    )
    other = table.with_columns(
        name=pl.format("  A\u030aSA\u200b {}", pl.int_range(pl.len())),
        number=pl.int_range(pl.len()).cast(pl.String).str.zfill(5),
    )
    found = [
        [data.table.digests([name], 7, ROLES["quasi"], 1).tolist() for name in ("name", "number")]
        for each in (table, other)
        for data in both(each, engine)
    ]
    assert all(each == found[0] for each in found) and len(set(found[0][0])) == table.height


def test_random_pseudonyms_stand_for_the_same_people(engine):
    long_on_spark(engine)
    table = people().with_columns((pl.int_range(pl.len()) % 200).cast(pl.String).alias("name"))
    data = shoal.read(table, **ROLES, engine=engine)
    frame = shoal.anonymize(
        data, "k-anonymity:k=3", algorithm="mondrian", seed=1, pseudonyms=shoal.Pseudonyms(), rows_are_people=True
    ).frame  # fmt: skip
    assert frame["name"].n_unique() == 200
    assert not set(frame["name"]) & set(table["name"])


def test_the_order_of_the_records_changes_nothing(engine):
    long_on_spark(engine)
    table = people().with_columns(pl.col("sex", "disease").str.strip_chars())
    shuffled = table.sample(fraction=1.0, shuffle=True, seed=3)
    datasets = [shoal.read(each, **ROLES, engine=engine) for each in (table, shuffled)]
    for algorithm in ("mondrian", "k-member"):
        made = [shoal.anonymize(data, "k-anonymity:k=4", algorithm=algorithm, seed=9) for data in datasets]
        assert made[0].frame.equals(made[1].frame), algorithm


def test_records_are_listed_in_one_order_whatever_else_is_known_of_them(engine):
    """Plain columns are published as they are spelled, and encoded as what they say, which is another spelling here."""
    numbers = range(60)
    table = pl.DataFrame(
        {
            "age": [f" {number // 20}.0" for number in numbers],
            "case": [f"case {number:02}" for number in numbers],
            "day": [f"{1 + number % 28:02}.{1 + number % 12:02}.2024" for number in numbers],
            "dose": [f" {number % 7}.50 " for number in numbers],
        }
    )
    data = shoal.read(table, quasi=["age"], sensitive=["case"], engine=engine)
    (cases,), shown = data.listing(5), data.encoded_columns(5)
    assert np.array_equal(shown["case"][1], cases)
    texts = {name: hierarchy.labels[0][codes].tolist() for name, (hierarchy, codes) in shown.items()}
    assert texts["day"][0][:4] == "2024" and texts["dose"][0][-2:] == ".5"
    for case, age, day, dose in zip(texts["case"], texts["age"], texts["day"], texts["dose"], strict=True):
        number = int(case[-2:])
        assert (age, dose) == (str(number // 20), f"{number % 7}.5")
        assert day == f"2024-{1 + number % 12:02}-{1 + number % 28:02}"


def test_a_dataset_may_be_used_from_several_threads(engine):
    long_on_spark(engine)
    data = shoal.read(people(), **ROLES, engine=engine)
    expected = shoal.anonymize(data, "k-anonymity:k=4", algorithm="k-member", seed=4).frame
    found, failed = [], []

    def work():
        try:
            same_classes(data.table.group(("age", "town"), ("disease",)), summary)
            found.append(shoal.anonymize(data, "k-anonymity:k=4", algorithm="k-member", seed=4).frame)
        except BaseException as error:
            failed.append(error)

    summary = data.table.group(("age", "town"), ("disease",))
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed and len(found) == len(threads)
    assert all(frame.equals(expected) for frame in found)


def test_odd_names_of_columns(other):
    names = ['the "age"', "select", "l'âge; --", "n", "owner", "hash", "value", "x0"]
    table = pl.DataFrame({name: [(place + row) % 3 for row in range(12)] for place, name in enumerate(names)})
    reference, data = both(table, other, quasi=names[:4], sensitive=names[4:5], identifiers=names[5:6])
    pseudonyms = shoal.Pseudonyms(key=KEY)
    both_forms = {"rank-swapping": [], "optimal": ["k-anonymity:k=2"]}
    for algorithm, models in list(both_forms.items())[: 1 if other == "spark" and not LONG else 2]:
        made = [
            shoal.anonymize(
                each,
                *models,
                algorithm=algorithm,
                seed=1,
                pseudonyms=pseudonyms,
                rows_are_people=True,
                allow_plain=names[6:],
            )
            for each in (reference, data)
        ]
        assert made[1].frame.equals(made[0].frame)


def test_a_hierarchy_that_lacks_values_is_refused_alike(other):
    tree = shoal.Hierarchy.from_paths("sex", [("f", "*")])
    reasons = []
    for name in (DEFAULT, other):
        with pytest.raises(ShoalError) as caught:
            shoal.read(people(), **ROLES, hierarchies={"sex": tree}, engine=name)
        reasons.append(str(caught.value))
    assert reasons[0] == reasons[1] and "records" in reasons[0]


SECRET = "canary4711"
BROKEN = {
    "numbers": ({"age": ["1", SECRET]}, {"quasi": ["age"], "kinds": {"age": "numeric"}}, SchemaError),
    "dates": ({"age": ["1", SECRET]}, {"quasi": ["age"], "kinds": {"age": "date"}}, SchemaError),
    "nested": ({"age": [["a"], [SECRET]]}, {"quasi": ["age"]}, SchemaError),
    "infinite": ({"age": [1.0, float("inf")]}, {"quasi": ["age"]}, InputError),
    "no record": ({"age": pl.Series([], dtype=pl.Int64)}, {"quasi": ["age"]}, InputError),
    "no role": ({"age": [1]}, {}, SchemaError),
    "no column": ({"age": [1]}, {"quasi": ["height"]}, SchemaError),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_is_wrong_is_said_without_a_value(engine, case):
    columns, options, error = BROKEN[case]
    with pytest.raises(error) as caught:
        shoal.read(pl.DataFrame(columns), **options, engine=engine)
    assert SECRET not in str(caught.value) and caught.value.__cause__ is None


@pytest.mark.parametrize("content", [b"a,b\n1,2\n1,2,3\n", b"a,b\n", b"", b"a,a\n1,2\n", b"\0\1\2\3", b'a,b\n"1,2\n'])
def test_files_that_are_no_tables_are_refused_alike(other, content, tmp_path):
    path = tmp_path / "torn.csv"
    path.write_bytes(content)
    reasons = []
    for name in (DEFAULT, other):
        with pytest.raises(InputError) as caught:
            data = shoal.read(path, quasi=["a"], engine=name)
            shoal.anonymize(data, "k-anonymity:k=1", algorithm="mondrian")
        reasons.append(str(caught.value))
    assert reasons[0] == reasons[1]


def test_a_file_that_changes_is_not_read_on(engine, tmp_path):
    path = tmp_path / "people.parquet"
    people().write_parquet(path)
    data = shoal.read(path, **ROLES, engine=engine)
    people(seed=1, rows=300).write_parquet(path)
    with pytest.raises(InputError, match="changed"):
        shoal.anonymize(data, "k-anonymity:k=3", algorithm="mondrian")


def test_a_format_that_is_not_known_is_refused_before_anything_is_written(engine, tmp_path):
    long_on_spark(engine)
    release = shoal.anonymize(shared("parquet", engine)[1], "k-anonymity:k=3", algorithm="mondrian")
    with pytest.raises(ShoalError, match="format"):
        release.write(tmp_path / "release.xyz")
    assert not list(tmp_path.iterdir())


def test_arrow_files_are_written_alike(other, tmp_path):
    long_on_spark(other)
    for place, data in enumerate(shared("polars", other)):
        shoal.anonymize(data, "k-anonymity:k=3", algorithm="mondrian", seed=1).write(tmp_path / f"{place}.arrow")
    assert pa.feather.read_table(tmp_path / "1.arrow").equals(pa.feather.read_table(tmp_path / "0.arrow"))


RARE = (pa.timestamp("ms"), pa.timestamp("us", "Europe/Paris"), pa.duration("us"), pa.time64("us"), pa.float16())


@pytest.mark.parametrize(
    ("role", "came"),
    [("sensitive", "file"), ("plain", "frame"), *([("sensitive", "frame"), ("plain", "file")] if LONG else [])],
)
def test_rare_types_are_published_as_they_came(other, role, came, tmp_path):
    """A column of each of them, and plain ones with values that are equal and not the same: a zero with a sign beside
    one without, numbers that are none, texts that differ in a blank."""
    if (role, came) != ("sensitive", "file"):
        long_on_spark(other)
    values = pa.array([None if row % 7 == 3 else row % 4 for row in range(24)])
    columns = {
        str(kind): (values.cast(pa.float32()) if pa.types.is_floating(kind) else values.cast(pa.int64())).cast(kind)
        for kind in RARE
    }
    equal = {
        "signed": [0.0, -0.0, float("nan"), None] * 6, "plus": [0.0, 0.0, float("nan"), None] * 6,
        "text": ["a", "a ", "", None] * 6, "whole": [1, 2, 2**40, None] * 6,
    }  # fmt: skip
    same = {name: pa.array(values, from_pandas=False) for name, values in equal.items()}
    path = tmp_path / "rare.parquet"
    pa.parquet.write_table(pa.table({"age": [row % 3 for row in range(24)], **columns, **same}), path)
    chosen = {"quasi": ["age"], "sensitive": list(columns) if role == "sensitive" else [], "identifiers": []}
    for place, data in enumerate(both(path if came == "file" else pa.parquet.read_table(path), other, **chosen)):
        release = shoal.anonymize(data, "k-anonymity:k=3", algorithm="mondrian", seed=1)
        release.write(tmp_path / f"{place}.csv")
        release.write(tmp_path / f"{place}.parquet")
    assert (tmp_path / "1.csv").read_bytes() == (tmp_path / "0.csv").read_bytes()
    assert (tmp_path / "1.csv").read_text().count(",-0") == 6
    tables = [pa.parquet.read_table(tmp_path / f"{place}.parquet") for place in (0, 1)]
    assert tables[1].schema.types == tables[0].schema.types
    assert repr(tables[1].to_pylist()) == repr(tables[0].to_pylist())  # in which a number that is none equals itself


def test_rows_that_occur_thousands_of_times(other, tmp_path):
    """More equal rows than any engine makes at a time, and a value that only withheld records have."""
    table = pl.DataFrame({"age": [20] * 5000 + [21] * 3000 + [70], "sex": ["f"] * 4999 + ["m"] * 3002})
    for place, data in enumerate(
        shoal.read(table, quasi=["age"], sensitive=["sex"], engine=each) for each in (DEFAULT, other)
    ):
        release = shoal.anonymize(data, "k-anonymity:k=5", algorithm="optimal", suppression=0.01, seed=1)
        release.write(tmp_path / f"{place}.parquet")
    assert pl.read_parquet(tmp_path / "0.parquet").equals(pl.read_parquet(tmp_path / "1.parquet"))
    assert b"70" not in (tmp_path / "1.parquet").read_bytes()


@pytest.mark.parametrize("algorithm", ["mondrian", "mondrian:strict=false"])
def test_more_combinations_than_a_number_has_bits_for(other, algorithm):
    long_on_spark(other)
    draw = np.random.default_rng(3)
    columns = {f"q{place}": draw.permutation(np.arange(3000) * 7) for place in range(6)}
    table = pl.DataFrame(columns).with_columns(disease=pl.Series(draw.integers(0, 4, 3000)).cast(pl.String))
    frames, summaries = [], []
    for each in (DEFAULT, other):
        data = shoal.read(table, quasi=list(columns), sensitive=["disease"], engine=each)
        frames.append(shoal.anonymize(data, "k-anonymity:k=50", algorithm=algorithm, seed=4).frame)
        summaries.append(data.summary)
    assert np.array_equal(summaries[0].keys, summaries[1].keys)
    assert np.array_equal(summaries[0].histogram().counts, summaries[1].histogram().counts)
    assert frames[0].equals(frames[1])


@pytest.mark.parametrize(
    ("base", "models", "roles"),
    [
        ("k-member:refine=true", ["k-anonymity:k=4", "t-closeness:column=disease,t=0.7"], {}),
        ("mondrian:strict=false", ["k-anonymity:k=4"], {"sensitive": []}),
        ("mondrian", ["k-anonymity:k=4"], {"person": "name", "identifiers": []}),
    ],
    ids=["by record", "counted", "people"],
)
def test_blocks_are_cut_and_solved_alike(other, base, models, roles, tmp_path):
    """Each block where the engine works on it, on Spark by its workers, and records in the order of their hashes."""
    if roles:
        long_on_spark(other)
    given = people(400, seed=3).drop("note", "seen", "weight")
    if "person" in roles:
        given = given.with_columns(pl.col("name").str.head(9))
    path = SOURCES["parquet"](given, tmp_path)
    if not isinstance(shared("parquet", other)[1].table, Divisible):
        pytest.skip("its tables cannot be cut into blocks")
    found = [
        shoal.anonymize(data, *models, algorithm=f"in-blocks:base={base},records=90", seed=5)
        for data in both(path, other, **roles)
    ]
    expected, made = (release.recoding for release in found)
    assert made.facts == expected.facts and made.facts["blocks"] > 2
    assert np.array_equal(made.plan.keys, expected.plan.keys)
    assert np.array_equal(made.plan.classes, expected.plan.classes)
    assert found[1].verify(found[1].policy).holds
    assert found[1].frame.equals(found[0].frame)
