"""One value in several spellings is one value: to every model and engine, in hierarchies, registers and the ledger."""

from __future__ import annotations

import csv
import hashlib
import json
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from counts import LONG, long_on_spark

import shoal
from shoal import registry
from shoal.core.release_history import Naming
from shoal.core.schema import Kind
from shoal.engines.spark.identity import PublishedSpelling
from shoal.errors import HierarchyError, InfeasibleError, SchemaError, ShoalError
from shoal.overlap import Asker, answered

PAIRS = {
    "a decimal point": ("1", "1.0"),
    "idle zeros": ("1.5", "1.50"),
    "an exponent": ("1", "1e0"),
    "a plus": ("+1", "1"),
    "a zero with a sign": ("0.0", "-0.0"),
    "a minus of typesetters": ("-5", "\u22125"),
    "no zero before the point": ("0.5", ".5"),
    "composed letters": ("caf\u00e9", "cafe\u0301"),
    "a zero-width blank": ("flu", "fl\u200bu"),
    "a zero-width joiner": ("flu", "flu\u200d"),
    "a byte order mark": ("flu", "\ufeffflu"),
    "a soft hyphen": ("influenza", "influ\u00adenza"),
    "a mark of direction": ("flu", "\u200eflu"),
    "a blank that does not break": ("hay fever", "hay\u00a0fever"),
    "a hyphen that does not break": ("B-cell", "B\u2011cell"),
    "blanks around": ("flu", " flu\u2003"),
    "a day and its midnight": ("2020-01-31", "2020-01-31 00:00:00"),
    "a time": ("2020-01-31 10:00:00", "2020-01-31T10:00"),
    "a moment": ("2020-01-31T08:00Z", "2020-01-31T10:00+02:00"),
}
ENGINES = ("embedded", "duckdb")
SPELLED = [(pair, "embedded") for pair in PAIRS] + [
    (pair, "duckdb") for pair in ("a decimal point", "a zero with a sign", "composed letters", "a moment")
]
ROLES: dict[str, Any] = {"quasi": ["ward"], "sensitive": ["ill"]}


def put(path: Path, columns: dict[str, list[str]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([list(columns), *zip(*columns.values(), strict=True)])
    return path


def released(source: Any, *models: str, **options: Any) -> bytes:
    """The published rows of a release of `ward` and `ill`, as a CSV file has them."""
    algorithm = options.pop("algorithm", "mondrian")
    data = shoal.read(source, **ROLES, **options)
    release = shoal.anonymize(data, *(models or ("k-anonymity:k=2",)), algorithm=algorithm, seed=1)
    frame = release.frame
    return pl.from_arrow(frame).write_csv().encode() if isinstance(frame, pa.Table) else frame.write_csv().encode()


@pytest.mark.parametrize(("pair", "engine"), SPELLED)
def test_two_spellings_are_no_diversity(pair: str, engine: str, tmp_path: Path) -> None:
    one, other = PAIRS[pair]
    columns = {"ward": ["x", "x", "x", "x", "y", "y"], "ill": [one, other, one, other, one, other]}
    data = shoal.read(put(tmp_path / "table.csv", columns), **ROLES, engine=engine)
    assert data.summary.sensitive[0].distinct.tolist() == [1, 1]
    for model in ("frequency-l-diversity:l=2", "distinct-l-diversity:l=2", "entropy-l-diversity:l=2"):
        with pytest.raises(InfeasibleError):
            shoal.anonymize(data, model, algorithm="optimal", seed=1)
    spelled = [note for note in data.notes if "spell" in note]
    assert spelled and all("'ill'" in note for note in spelled)
    assert not any(text in note for note in data.notes for text in (one, other) if len(text) > 2)


@pytest.mark.parametrize(("pair", "engine"), SPELLED)
def test_two_spellings_are_one_class_and_published_in_one(pair: str, engine: str, tmp_path: Path) -> None:
    one, other = PAIRS[pair]
    sick = ["a", "b"] * 3
    mixed = put(tmp_path / "mixed.csv", {"ward": [one, other, other, one, other, one], "ill": sick})
    alike = put(tmp_path / "alike.csv", {"ward": [one] * 6, "ill": sick})
    for algorithm in ("optimal", "k-member") if engine == "embedded" else ("k-member",):
        found = [released(source, "k-anonymity:k=6", algorithm=algorithm, engine=engine) for source in (mixed, alike)]
        assert found[0] == found[1] and len({line.split(b",")[0] for line in found[0].splitlines()[1:]}) == 1


def test_what_is_published_does_not_tell_the_spelling(tmp_path: Path) -> None:
    for spelled, plain in (("1.50", "1.5"), ("+7", "7"), ("cafe\u0301", "café"), ("\u200bx", "x"), ("1e3", "1000")):
        columns = {"ward": [spelled] * 4, "ill": [spelled] * 4, "plain": [spelled] * 4}
        data = shoal.read(put(tmp_path / "table.csv", columns), **ROLES)
        frame = shoal.anonymize(data, "k-anonymity:k=2", algorithm="mondrian", allow_plain=["plain"], seed=1).frame
        assert frame.row(0) == (plain, plain, spelled)


def test_withheld_records_leave_no_spelling(tmp_path: Path) -> None:
    """Whether somebody who is left out wrote a value otherwise cannot be told from what is left."""
    rest = {"ward": ["1.50"] * 6, "ill": ["a"] * 6}
    for last in ("1.5", "1.50", "+1.5"):
        columns = {"ward": [*rest["ward"], last, "9"], "ill": [*rest["ill"], "a", "b"]}
        data = shoal.read(put(tmp_path / "table.csv", columns), **ROLES)
        release = shoal.anonymize(data, "k-anonymity:k=2", algorithm="optimal", suppression=0.2, seed=1)
        assert release.suppressed == 1 and set(release.frame["ward"]) == {"1.5"}


def test_codes_stay_apart(tmp_path: Path) -> None:
    for texts in (["007", "7", "07"], ["01234", "1234"], ["12345678901234567890", "12345678901234567891"],
                  ["008.45", "8.45"], ["ICD 250.0", "ICD 250.00"], ["x", "X"], ["a b", "a  b"]):  # fmt: skip
        data = shoal.read(
            put(tmp_path / "table.csv", {"ward": texts * 2, "ill": texts * 2}),
            quasi=["ward"],
            sensitive=["ill"],
        )
        assert len(data.summary) == len(texts)
        frame = shoal.anonymize(data, "k-anonymity:k=2", algorithm="optimal", seed=1).frame
        assert sorted(frame["ward"]) == sorted(frame["ill"]) == sorted(texts * 2)


def test_numbers_beside_texts_ask_where_two_spell_the_same(tmp_path: Path) -> None:
    for texts in (["1", "1.0", "unknown"], ["7", "7.0", "007"], ["1e301", "10e300", "1"]):
        source = put(tmp_path / "table.csv", {"ward": ["x"] * 3, "ill": texts})
        with pytest.raises(SchemaError, match="'ill': 1 of its distinct values spell a number that another one spells"):
            shoal.read(source, **ROLES)
        data = shoal.read(source, **ROLES, kinds={"ill": "text"})
        assert data.summary.sensitive[0].distinct.tolist() == [3]
        assert any("count as other values" in note for note in data.notes)
    data = shoal.read(put(tmp_path / "table.csv", {"ward": ["x"] * 3, "ill": ["1", "1.0", "unknown"]}), quasi=["ward"],
                      sensitive=["ill"], missing=["unknown"])  # fmt: skip
    assert data.schema["ill"].hierarchy.labels[0].tolist() == [None, "1"]


def test_a_column_that_is_said_to_be_text_keeps_its_codes(tmp_path: Path) -> None:
    source = put(tmp_path / "table.csv", {"ward": ["250.0", "250.00"] * 3, "ill": ["1.10", "1.1"] * 3})
    kinds = {"ward": "text", "ill": "categorical"}
    data = shoal.read(source, **ROLES, kinds=kinds)
    assert data.summary.keys.shape[1] == 2
    release = shoal.anonymize(data, "k-anonymity:k=3", algorithm="optimal", seed=1)
    release.write(tmp_path / "release.csv")
    assert shoal.verify(tmp_path / "release.csv").holds
    assert sorted(release.frame["ill"]) == ["1.1"] * 3 + ["1.10"] * 3
    assert shoal.evaluate(data, tmp_path / "release.csv", "gcp")["gcp"].value == 0


def test_a_column_that_is_said_to_be_numeric_has_numbers(tmp_path: Path) -> None:
    source = put(tmp_path / "table.csv", {"ward": ["007", "7", "7.0", "8"], "ill": list("abab")})
    data = shoal.read(source, **ROLES, kinds={"ward": "numeric"})
    assert data.schema["ward"].hierarchy.labels[0].tolist() == ["7", "8"]
    assert "3 of its 4 distinct" in data.notes[0] or "2 of its 4 distinct" in data.notes[0]


def test_what_is_almost_alike_is_told_and_stays_apart(tmp_path: Path) -> None:
    source = put(tmp_path / "table.csv", {"ward": ["x"] * 5, "ill": ["Flu", "flu", "fl u", "gout", "FLU"]})
    data = shoal.read(source, **ROLES)
    assert data.summary.sensitive[0].distinct.tolist() == [5]
    assert data.notes == (
        "column 'ill': 3 of its 5 distinct values differ from another one only in case or blanks, and count as other "
        "values",
    )


def test_notes_count_spellings(tmp_path: Path) -> None:
    source = put(tmp_path / "table.csv", {"ward": ["1.50", "1.5", "2", "2.0"], "ill": ["a", " a", "a\u200b", "b"]})
    data = shoal.read(source, **ROLES)
    assert data.notes == (
        "column 'ward' is read as numbers: 2 of its 4 distinct values are published without idle zeros, plus signs "
        "and exponents; if they are codes, say --kind COLUMN=text",
        "column 'ward': 2 of its 4 distinct spellings say the same as another one, and count as one value with it",
        "column 'ill': 2 of its 4 distinct spellings say the same as another one, and count as one value with it",
    )


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()])
@pytest.mark.parametrize("engine", ENGINES)
def test_zeros_of_typed_columns(engine: str, kind: pa.DataType) -> None:
    table = pa.table({"ward": pa.array([0.0, -0.0, -0.0, 1.5], kind), "ill": pa.array([-0.0, 0.0, -0.0, 2.5], kind)})
    data = shoal.read(table, **ROLES, engine=engine)
    assert len(data.summary) == 2 and data.summary.sensitive[0].distinct.tolist() == [1, 1]
    frame = shoal.anonymize(data, "k-anonymity:k=1", algorithm="optimal", seed=1).frame
    assert not np.signbit(frame["ward"].to_numpy()).any() and not np.signbit(frame["ill"].to_numpy()).any()


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()])
def test_zeros_on_the_workers_of_spark(kind: pa.DataType) -> None:
    nothing = pa.array([], pa.string())
    column = pa.chunked_array([pa.array(np.array([0.0, -0.0, 1.5, np.nan], kind.to_pandas_dtype()), kind)])
    shown = PublishedSpelling(nothing, nothing)(column)
    assert (
        shown.type == kind and repr([value and float(value) for value in shown.to_pylist()]) == "[0.0, 0.0, 1.5, None]"
    )


COLUMNS = {
    "texts": ["1", "2.0", "+3", "4e0"],
    "whole numbers": [1, 2, 3, 4],
    "floats": [1.0, 2.0, 3.0, 4.0],
    "narrow floats": pl.Series([1, 2, 3, 4], dtype=pl.Float32),
    "decimals": pl.Series(["1.00", "2.00", "3.00", "4.00"]).cast(pl.Decimal(10, 2)),
    "categories": pl.Series(["1", "2", "3", "4.0"], dtype=pl.Categorical),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_types_do_not_matter_beside_a_register(kind: str) -> None:
    table = pl.DataFrame({"ward": ["1", "1.0", "2", "+2", "3", "3.0", "4", "4"], "ill": list("abababab")})
    data = shoal.read(table, **ROLES)
    release = shoal.anonymize(data, "k-anonymity:k=2", algorithm="optimal", seed=1)
    register = shoal.read(pl.DataFrame({"ward": COLUMNS[kind]}), quasi=["ward"])
    found = shoal.attack(data, release, "journalist", external=register)
    plain = shoal.read(pl.DataFrame({"ward": ["1", "2", "3", "4"]}), quasi=["ward"])
    assert found == shoal.attack(data, release, "journalist", external=plain)
    other = shoal.read(pl.DataFrame({"ward": ["01", "02", "003", "0004"]}), quasi=["ward"])
    with pytest.raises(ShoalError):  # codes are not these numbers
        shoal.attack(data, release, "journalist", external=other)


def test_hierarchies_know_every_spelling(tmp_path: Path) -> None:
    tree = tmp_path / "ward.csv"
    tree.write_text("1.0;low;*\n+2;low;*\n3e0;high;*\ncafe\u0301;high;*\n", encoding="utf-8")
    data = shoal.read(
        pl.DataFrame({"ward": ["1", "2.00", "3", "3.0"]}),
        quasi=["ward"],
        hierarchies={"ward": tree},
        kinds={"ward": "numeric"},
    )
    assert {"1", "2", "3"} <= set(data.hierarchies[0].labels[0])
    words = shoal.read(pl.DataFrame({"ward": ["caf\u00e9", "+2"]}), quasi=["ward"], hierarchies={"ward": tree})
    assert words.hierarchies[0].leaf("cafe\u0301") == words.hierarchies[0].leaf("café\u200b") is not None
    tree.write_text("1;low;*\n1.0;high;*\n", encoding="utf-8")
    with pytest.raises(HierarchyError, match="1 value more than once, with different levels"):
        shoal.read(pl.DataFrame({"ward": ["1", "1.0"]}), quasi=["ward"], hierarchies={"ward": tree})
    codes = shoal.read(
        pl.DataFrame({"ward": ["1", "1.0"]}), quasi=["ward"], hierarchies={"ward": tree}, kinds={"ward": "text"}
    )
    assert len(codes.summary) == 2


def test_a_zip_code_is_not_found_under_a_number() -> None:
    tree = shoal.Hierarchy.from_paths("zip", [["01234", "0****", "*"], ["12345", "1****", "*"]])
    assert tree.values is None and tree.leaf("1234") is None and tree.leaf("01234") == 0
    numbers = shoal.Hierarchy.from_paths("age", [["7", "*"], ["8", "*"]])
    assert numbers.leaf("007") is None and numbers.leaf("7.0") == numbers.leaf("+7") == 0


def test_chosen_values_may_be_spelled_in_any_way() -> None:
    table = pl.DataFrame({"ward": ["x"] * 4 + ["y"] * 4, "ill": ["hépatite", "1", "2", "3"] * 2})
    data = shoal.read(table, **ROLES)
    spelled = unicodedata.normalize("NFD", "hépatite")
    for values in ([spelled], ["hépatite\u200b"]):
        model, stricter = (
            registry.make("models", "alpha-k-anonymity", {"alpha": alpha, "k": 2, "values": values})
            for alpha in (0.25, 0.2)
        )
        assert shoal.anonymize(data, model, algorithm="optimal", seed=1).claims
        with pytest.raises(InfeasibleError):
            shoal.anonymize(data, stricter, algorithm="optimal", seed=1)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("pseudonyms", ["keyed", "random"])
def test_a_person_has_one_pseudonym(pseudonyms: str, engine: str, tmp_path: Path) -> None:
    people = ["1", "1.0", "2", "+2", "3", "3.00", "4", " 4"]
    names = ["Zoé", "Zoe\u0301", "Bo\u200b", "Bo", "Al Ho", "Al\u00a0Ho", "x", "X"]
    source = put(tmp_path / "table.csv", {"id": people, "name": names, "ward": ["a"] * 8, "ill": list("uvuvuvuv")})
    key = shoal.Pseudonyms(key=b"a key of at least sixteen bytes") if pseudonyms == "keyed" else shoal.Pseudonyms()
    data = shoal.read(source, **ROLES, identifiers=["name"], person="id", engine=engine)
    release = shoal.anonymize(data, "k-anonymity:k=4", algorithm="mondrian", pseudonyms=key, seed=1)
    with pytest.raises(InfeasibleError):
        shoal.anonymize(data, "k-anonymity:k=5", algorithm="mondrian", pseudonyms=key, seed=1)
    assert release.frame["id"].n_unique() == 4 and release.frame["name"].n_unique() == 5
    release.write(tmp_path / "release.csv")
    assert shoal.verify(tmp_path / "release.csv", engine=engine)["people"].value == 4
    if pseudonyms == "keyed":
        assert set(release.frame["id"]) == set(key.of("id", ["1", "2", "3", "4"]))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("by", ["person", "identifier", "values"])
def test_the_ledger_knows_people_again(by: str, engine: str, tmp_path: Path) -> None:
    """Two releases whose classes cross: whoever is in both is known, whatever the spelling and the type."""
    rows = 8
    plain = {
        "id": [str(row) for row in range(1, rows + 1)], "ward": [str(row // 4) for row in range(rows)],
        "r": [str(row % 2) for row in range(rows)], "ill": ["flu", "hiv", "flu", "hiv", "hiv", "flu", "hiv", "flu"],
    }  # fmt: skip
    spelled = {
        "id": [f"{text}.0" for text in plain["id"]], "ward": [f"+{text}" for text in plain["ward"]],
        "r": [f"{text}.00" for text in plain["r"]], "ill": [f"{text}\u200b" for text in plain["ill"]],
    }  # fmt: skip
    roles = {"person": {"person": "id"}, "identifier": {"identifiers": ["id"]}, "values": {}}[by]
    if by == "values":
        plain.pop("id"), spelled.pop("id")
    ids = []
    typed = pl.DataFrame({name: pl.Series(texts).cast(pl.Float64, strict=False) if name != "ill" else texts
                          for name, texts in plain.items()})  # fmt: skip
    for source in (put(tmp_path / "plain.csv", plain), put(tmp_path / "spelled.csv", spelled), typed):
        data = shoal.read(source, quasi=["ward", "r"], sensitive=["ill"], engine=engine, **roles)
        names = Naming.of(data).apart
        assert names == (("id",) if by != "values" else ("ward", "r", "ill"))
        assert "id" not in data.schema.names or by == "person" or data.table.count_repeats("id") == 0
        ids.append(sorted(data.table.digests(names, 5, data.schema.quasi, 1).tolist()))
    assert ids[0] == ids[1] == ids[2]
    elsewhere = shoal.read(put(tmp_path / "plain.csv", plain), quasi=["ward", "r"], sensitive=["ill"], **roles)
    assert sorted(elsewhere.table.digests(names, 5, ("ward", "r"), 1).tolist()) == ids[0]


@pytest.mark.parametrize("role", ["person", "identifier"])
def test_identifiers_say_the_same_in_every_list(role: str) -> None:
    """Whatever else a list has: one name among numbers, or none."""
    roles: dict[str, Any] = {"person": "id"} if role == "person" else {"identifiers": ["id"]}
    lists = (["1.0", "2.50", "+3"], ["1", "2.5", "3", "x7"], [1.0, 2.5, 3.0], ["2.5", "3.00", "x7", "1."])
    known = []
    for ids in lists:
        table = pl.DataFrame({"id": ids, "ward": ["a"] * len(ids), "ill": ["u"] * len(ids)})
        digests = shoal.read(table, **ROLES, **roles).table.digests(("id",), 3, ("ward",), 1).tolist()
        assert len(set(digests)) == len(ids)
        known.append(set(digests))
    assert len(known[0] & known[1]) == len(known[0] & known[2]) == len(known[0] & known[3]) == 3


def test_people_who_are_called_codes_stay_two() -> None:
    table = pl.DataFrame({"id": ["1.1", "1.10"] * 2, "ward": ["a"] * 4, "ill": ["u"] * 4})
    data = shoal.read(table, **ROLES, person="id", kinds={"id": "text"})
    release = shoal.anonymize(data, "k-anonymity:k=2", algorithm="mondrian", pseudonyms=shoal.Pseudonyms(), seed=1)
    assert release.frame["id"].n_unique() == 2


def test_two_holders_spell_people_alike() -> None:
    ours, theirs = ["Zoé", "17.0", "018", "Al\u00a0Ho\u200b"], ["ZOE\u0301", "17", "18", "al ho"]
    asker = Asker.of(ours)
    assert asker.finished(answered(asker.message, theirs)).places == (0, 1, 3)


def test_a_release_that_spells_a_value_in_two_ways_does_not_verify(tmp_path: Path) -> None:
    """As an older version, or somebody by hand, may have made it."""
    data = shoal.read(pl.DataFrame({"ward": ["x"] * 4, "ill": ["1", "2"] * 2}), **ROLES)
    path = tmp_path / "release.csv"
    shoal.anonymize(data, "frequency-l-diversity:l=2", algorithm="optimal", seed=1).write(path)
    assert shoal.verify(path).holds
    manifest = path.with_name(path.name + ".manifest.json")
    stated = json.loads(manifest.read_text())
    for one, other in (("1", "1.0"), ("1", "+1")):
        put(path, {"ward": ["x"] * 4, "ill": [one, other] * 2})
        stated["tables"][0]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
        manifest.write_text(json.dumps(stated))
        for engine in ENGINES:
            with pytest.raises(ShoalError):
                shoal.verify(path, engine=engine)
    stated["columns"] = [{**column, "kind": "categorical"} for column in stated["columns"]]
    for one, other in (("é", "e\u0301"), ("a", "a\u200b")):
        put(path, {"ward": ["x"] * 4, "ill": [one, other] * 2})
        stated["tables"][0]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
        manifest.write_text(json.dumps(stated))
        with pytest.raises(ShoalError):
            shoal.verify(path)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_release_of_another_tool_is_read_by_what_it_says(engine: str, tmp_path: Path) -> None:
    table = {"ward": ["1", "2", "1", "2"], "ill": ["3", "4", "4", "3"]}
    data = shoal.read(put(tmp_path / "table.csv", table), **ROLES, engine=engine)
    other = put(tmp_path / "other.csv", {"ward": ["1.0", "2.0", "+1", "2"], "ill": ["3.0", "4", "4.00", "3e0"]})
    found = shoal.evaluate(data, other, "gcp")
    assert found["gcp"].value == 0
    assert shoal.api.opening.open_release(other, data).classes.sizes.tolist() == [2, 2]


def test_missing_values_are_known_in_any_spelling() -> None:
    table = pl.DataFrame({"ward": ["caf\u00e9", "cafe\u0301", "\u200b", "\u00a0", "x"]})
    data = shoal.read(table, quasi=["ward"], missing=["cafe\u0301"])
    assert data.schema["ward"].hierarchy.labels[0].tolist() == [None, "x"] and int((data.codes("ward") == 0).sum()) == 4


def test_pandas_objects_and_nullable_numbers() -> None:
    for column in (
        pd.Series(["1", "1.0", "2", "2.0"], dtype=object), pd.Series([1, 1, 2, 2], dtype="Int64"),
        pd.Series([1.0, 1.0, 2.0, 2.0]), pd.Series(["1", "1.0", "2", "+2"], dtype="category"),
    ):  # fmt: skip
        data = shoal.read(pd.DataFrame({"ward": column}), quasi=["ward"])
        assert data.schema["ward"].kind is Kind.NUMERIC
        assert data.schema["ward"].hierarchy.labels[0].tolist() == ["1", "2"] and data.summary.sizes.tolist() == [
            2,
            2,
        ]


def test_spark_knows_values_by_what_they_say(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Every day, people, values and pseudonyms in two spellings are compared by the contract tests."""
    long_on_spark("spark")
    request.getfixturevalue("spark")
    columns = {"id": ["1", "1.0", "2", "+2", "3", "4"], "ward": ["1", "1.0", "+1", "2", "2.0", "2e0"],
               "ill": ["café", "cafe\u0301", "x", "x\u200b", "café", "x"]}  # fmt: skip
    plain = {"id": ["1", "1", "2", "2", "3", "4"], "ward": ["1", "1", "1", "2", "2", "2"],
             "ill": ["café", "café", "x", "x", "café", "x"]}  # fmt: skip
    files = put(tmp_path / "spelled.csv", columns), put(tmp_path / "plain.csv", plain)
    key = shoal.Pseudonyms(key=b"a key of at least sixteen bytes")
    found = []
    for engine, source in (("spark", files[0]), ("embedded", files[0]), ("embedded", files[1])):
        data = shoal.read(source, **ROLES, person="id", engine=engine)
        release = shoal.anonymize(data, "k-anonymity:k=2", algorithm="k-member", pseudonyms=key, seed=1)
        found.append((release.frame.rows(), sorted(data.table.digests(("id",), 3, ("ward",), 1).tolist())))
        assert data.table.count_repeats("id") == 2
    assert all(each == found[0] for each in found)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2020-01-31", "2020-01-31T00:00"),
        ("2020-01-31 10:00:00", "2020-01-31T10:00"),
        ("2020-01-31T08:00Z", "2020-01-31T10:00+02:00"),
        ("10:00", "10:00:00"),
        ("9:30", "09:30:00.0"),
    ],
)
@pytest.mark.parametrize(
    ("engine", "beside"),
    [(engine, beside) for engine in ENGINES for beside in ("unknown", "11:45")]
    if LONG
    else [("embedded", "unknown"), ("duckdb", "11:45")],
)
def test_one_moment_is_no_diversity_beside_other_texts(one: str, other: str, engine: str, beside: str) -> None:
    """A single word in a column of dates makes it one of texts; the same moment does not become two values by it."""
    table = pl.DataFrame({"ward": ["a"] * 8 + ["b"] * 8, "ill": [one, other] * 4 + [beside, "late"] * 4})
    with pytest.raises(SchemaError, match="spell a date or a time that another one spells too; write each in one way"):
        shoal.read(table, engine=engine, **ROLES)
    data = shoal.read(table, engine=engine, kinds={"ill": "text"}, **ROLES)
    assert any("spell a date or a time" in note and "count as other values" in note for note in data.notes)
