"""The codebook of a release: what it says, in which order the schema of DDI wants it, and that it tells no more."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest
from tests.unit.reports.ddi_schema import DDI, errors

import shoal
from shoal.cli import main
from shoal.errors import OutputError, VerificationError

pyreadstat = pytest.importorskip("pyreadstat")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SPSS file with labels and user-missing codes, and releases of it."""
    folder = tmp_path_factory.mktemp("codebook")
    rows = range(60)
    table = pl.DataFrame(
        {
            "age": [20.0 + row % 7 for row in rows], "sex": [1.0 + row % 2 for row in rows],
            "job": [float(row % 3) for row in rows], "income": [100.0 * row if row % 10 else -9.0 for row in rows],
            "id": [float(row) for row in rows],
        }
    )  # fmt: skip
    pyreadstat.write_sav(
        table, str(folder / "in.sav"), column_labels={"age": "Age in years", "income": "Income <gross>"},
        variable_value_labels={"sex": {1: "female", 2: "male"}, "job": {0: "none", 1: "part & time", 2: "full"},
                               "income": {-9: "refused"}},
        missing_ranges={"income": [-9.0]},
    )  # fmt: skip
    data = shoal.read(folder / "in.sav", quasi=["age", "sex"], sensitive=["job"], identifiers=["id"])
    release = shoal.anonymize(data, shoal.KAnonymity(k=5), algorithm="mondrian", seed=1)
    for name in ("out.sav", "out.csv"):
        release.write(folder / name)
    shoal.anonymize(data, algorithm="top-bottom-coding:top=age=10%").write(folder / "coded.csv")
    return folder


def test_labels_codes_counts_and_treatments(folder: Path) -> None:
    book = shoal.codebook(folder / "out.sav")
    variables = {variable.name: variable for variable in book.variables}
    assert book.promises == ("5-anonymous",) and book.left_out == {"id": "an identifier, not published"}
    assert variables["age"].label == "Age in years" and variables["age"].treatment == "made coarser to ranges"
    assert [(each.value, each.label, each.count) for each in variables["job"].categories] == [
        ("0", "none", 20), ("1", "part & time", 20), ("2", "full", 20)
    ]  # fmt: skip
    assert variables["income"].missing_codes == ("-9",) and variables["income"].statistics["max"] == 5900
    assert [(each.value, each.label, each.count) for each in variables["income"].categories] == [("-9", "refused", 6)]
    published = pl.from_pandas(pyreadstat.read_sav(str(folder / "out.sav"))[0])
    labels = pyreadstat.read_sav(str(folder / "out.sav"))[1].variable_value_labels.get("age", {})
    shown = {labels.get(value, value): count for value, count in published["age"].value_counts().rows()}
    assert {each.value if not each.label else each.label: each.count for each in variables["age"].categories} == shown


def test_labels_of_another_file_and_changed_columns(folder: Path) -> None:
    plain = shoal.codebook(folder / "coded.csv")
    titled = shoal.codebook(folder / "coded.csv", labels_from=folder / "in.sav")
    assert plain.variables[0].label == "" and titled.variables[0].label == "Age in years"
    assert "changed by top-bottom-coding" in plain.variables[0].treatment and not plain.promises
    assert {each.name: each.treatment for each in plain.variables}["sex"] == "published as it is"


def test_the_xml_is_ddi_codebook(folder: Path) -> None:
    root = ElementTree.fromstring(shoal.codebook(folder / "out.sav", title="A <study>").xml())
    assert root.tag == f"{DDI}codeBook" and root.get("version") == "2.5"
    assert root.findtext(f"{DDI}stdyDscr/{DDI}citation/{DDI}titlStmt/{DDI}titl") == "A <study>"
    income = next(each for each in root.iter(f"{DDI}var") if each.get("name") == "income")
    assert income.find(f"{DDI}invalrng/{DDI}item").get("VALUE") == "-9" and income.get("intrvl") == "contin"


def test_every_codebook_is_as_the_standard_wants_it(folder: Path, tmp_path: Path) -> None:
    data = shoal.read(folder / "in.sav", quasi=["age", "sex"], sensitive=["job"], identifiers=["id"])
    shoal.anonymize(data, "frequency-l-diversity:l=2", algorithm="anatomy", seed=1).write(tmp_path / "two.csv")
    ghosts = {"name": "cell-suppression", "linked": ["age=income"]}
    hidden = shoal.anonymize(data, "k-anonymity:k=6", algorithm=ghosts, seed=1, pseudonyms=shoal.Pseudonyms())
    hidden.write(tmp_path / "hidden.sav")
    made = [folder / name for name in ("out.sav", "out.csv", "coded.csv")]
    for path in (*made, tmp_path / "two.csv", tmp_path / "hidden.sav"):
        assert errors(shoal.codebook(path).xml()) == [], path.name


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        ("<titl>", "<IDNo>1</IDNo><titl>", "titlStmt has"),
        ('type="vald"', 'type="valid"', "sumStat has no such attribute"),
        ('ID="V2"', 'ID="V1"', "the ID V1 is given twice"),
        ('files="F1"', 'files="F9"', "nothing has the ID F9"),
        ("<dataDscr>", "<dataDscr>words", "text beside"),
        ("<varFormat", "<labl>late</labl><varFormat", "var has"),
        ("<fileName>", "<fileName><b/>", "fileName has children"),
        ('xmlns="ddi:codebook:2_5"', 'xmlns="ddi:codebook:2_6"', "namespace"),
    ],
)
def test_a_codebook_that_is_not_is_found_out(folder: Path, right: str, wrong: str, words: str) -> None:
    text = shoal.codebook(folder / "out.sav").xml()
    assert right in text
    assert any(words in error for error in errors(text.replace(right, wrong, 1)))


def test_the_command_writes_all_or_nothing(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [tmp_path / f"book{ending}" for ending in (".xml", ".html", ".json")]
    with pytest.raises(SystemExit) as stop:
        main(["codebook", str(folder / "out.csv"), *(word for name in names for word in ("-o", str(name)))])
    assert not stop.value.code and all(name.exists() for name in names)
    page = names[1].read_text()
    assert "Income &lt;gross&gt;" not in page and "part &amp; time" in page and "<script" not in page
    assert json.loads(names[2].read_text())["records"] == 60
    assert "4 variables and 60 records in out.csv." in capsys.readouterr().out
    with pytest.raises(SystemExit) as stop:
        main(["codebook", str(folder / "out.csv"), "-o", str(tmp_path / "book.pdf")])
    assert stop.value.code == 2


def test_a_release_that_was_changed_has_no_codebook(folder: Path, tmp_path: Path) -> None:
    for name in ("out.csv", "out.csv.manifest.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    with (tmp_path / "out.csv").open("a") as file:
        file.write("99,male,full,1\n")
    with pytest.raises(VerificationError, match=r"out.csv does not keep what its manifest says"):
        shoal.codebook(tmp_path / "out.csv")
    with pytest.raises(OutputError, match="a codebook ends in"):
        shoal.codebook(folder / "out.csv").write(tmp_path / "book.txt")


def test_tables_of_counts_are_counted() -> None:
    """Two tables: the counts of sensitive values add up to the records, and added columns are told as such."""
    import tempfile

    table = pl.DataFrame({"age": [20, 21, 22, 23] * 5, "job": list("abcd") * 5})
    data = shoal.read(table, quasi=["age"], sensitive=["job"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "out.csv"
        shoal.anonymize(data, shoal.FrequencyLDiversity(l=2), algorithm="anatomy", seed=1).write(path)
        book = shoal.codebook(path)
    job = next(variable for variable in book.variables if variable.name == "job")
    assert job.valid == 20 and {category.count for category in job.categories} == {5}
    assert next(each.treatment for each in book.variables if each.name == "group").startswith("added: ")


def test_hidden_cells_are_counted(tmp_path: Path) -> None:
    table = pl.DataFrame({"town": [1] * 5 + [2] * 5 + [3], "sex": list("fffmmffmmmf")})
    data = shoal.read(table, quasi=["town", "sex"])
    shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm="cell-suppression", seed=1).write(tmp_path / "out.csv")
    hidden = {each.name: each for each in shoal.codebook(tmp_path / "out.csv").variables}
    counts = {name: sum(c.count for c in each.categories if c.value == "*") for name, each in hidden.items()}
    assert sum(counts.values()) > 0
    for name, each in hidden.items():
        assert each.treatment == "published as it is" + (f"; {counts[name]} cells hidden" if counts[name] > 1 else
                                                         "; 1 cell hidden" if counts[name] else "")  # fmt: skip


def test_a_weight_is_not_called_the_records_own(tmp_path: Path) -> None:
    table = pl.DataFrame({"age": [30, 30, 40, 40], "weight": [10.0, 20, 30, 50]})
    data = shoal.read(table, quasi=["age"], weight="weight")
    path = tmp_path / "out.csv"
    shoal.anonymize(data, "k-anonymity:k=2", algorithm="optimal", publish_weights="means").write(path)
    assert "one for each group" in shoal.codebook(path).html()
