"""The papers: every entry of the lists can be repeated, and nothing in the contents of a paper lacks an entry."""

import ast
import importlib
import re
import runpy
import shlex
import shutil
from functools import cache
from pathlib import Path

import pytest
from counts import LONG
from typer.main import get_command

import shoal
from shoal import registry
from shoal.cli import app, main
from shoal.job.plugins import plugin

ROOT = Path(__file__).parents[2]
TEXTS = ROOT.parent / "shared" / "papers"
written = runpy.run_path(str(ROOT / "docs" / "paper_pages.py"))
PAPERS = {paper.number: paper for paper in written["papers"]()}
ENTRIES = [
    pytest.param(entry, id=f"{paper.number}-{entry.section}-{entry.title}")
    for paper in PAPERS.values()
    for entry in paper.entries
]


@cache
def text(number: str) -> str:
    """The text of a paper, which lies beside the repository."""
    found = sorted(TEXTS.glob(f"{number}_*.txt"))
    if not found:
        pytest.skip("the texts of the papers are not beside the repository")
    return found[0].read_text(encoding="utf-8")


def numbered(what: str, pattern: str, part: str) -> list[str]:
    return [f"{what} {number}".strip() for number in re.findall(pattern, part, re.MULTILINE)]


def between(number: str, begin: str, end: str) -> str:
    return text(number).split(begin, 1)[1].split(end, 1)[0]


def balance_thesis() -> list[str]:
    contents = between("000", "CONTENTS", "List of Tables")
    tables, figures = between("000", "List of Tables", "List of Figures"), between("000", "List of Figures", "ABSTRACT")
    body = text("000").split("CHAPTER 1", 1)[1]
    return [
        *numbered("", r"^(?:\w+)?\t(\d+(?:\.\d+)+)\.? ", contents),
        *numbered("Table", r"^(\d+\.\d+)\t", tables),
        *numbered("Figure", r"^(\d+\.\d+)\t", figures),
        *(f"{kind} {number}" for kind, number in re.findall(r"^(Table|Figure) (\d+\.\d+):", body, re.MULTILINE)),
        *numbered("Definition", r"^Definition (\d)", body),
        "5",
    ]


def framework_thesis() -> list[str]:
    contents = between("001", "TABLE OF CONTENTS", "LIST OF TABLES")
    body = text("001").split("CHAPTER 1\n", 1)[1]
    return [
        *numbered("", r"^(\d+(?:\.\d+)+)\s", contents),
        *numbered("Appendix", r"^APPENDIX ([A-Z])", contents),
        *numbered("Table", r"^Table (\d+\.\d+)\t", between("001", "LIST OF TABLES", "LIST OF FIGURES")),
        *numbered("Figure", r"^Figure (\d+\.\d+)\t", between("001", "LIST OF FIGURES", "LISTINGS")),
        *numbered("Listing", r"^(\d+\.\d+)\t", between("001", "LISTINGS", "LIST OF ABBREVIATIONS")),
        *numbered("Definition", r"^Definition (\d\.\d)", body),
    ]


def spanning_trees() -> list[str]:
    body = text("002").split("REFERENCES", 1)[0]
    return [
        *numbered("", r"^#+ \**(\d(?:\.\d)?)\.?\**\s", body),
        *(f"{kind} {number}" for kind, number in re.findall(r"^(Figure|Table)\.? ?(\d)", body, re.MULTILINE)),
        *numbered("Definition", r"\*\*Definition (\d)", body),
    ]


def classification_trees() -> list[str]:
    body = text("003")
    headings = re.findall(r"^([A-Z][A-Z ]{5,})$", body, re.MULTILINE)
    steps = re.findall(r"^(\w[\w ]*)\n\nInput:", body, re.MULTILINE)
    captions = re.findall(r"^(Figure|Table) (\d):", body, re.MULTILINE)
    title = "PRIVACY PRESERVING USING ANONYMIZATION AND PERTURBATION IN CLASSIFICATION"
    return [*(each.lower() for each in headings + steps if each != title), *(" ".join(each) for each in captions)]


def dependencies() -> list[str]:
    body = text("004")
    headings = re.findall(r"(?:^|>)(?:I|Il|I1l|IV|V|V1)\. ?([A-Z][A-Z ]+)$", body, re.MULTILINE)
    parts = re.findall(r"^([A-Za-z]\w*(?:[ -]\w+)*):$", body, re.MULTILINE)
    tables = [{"L": "1"}.get(number, number) for number in re.findall(r"^TABLE ?([L\d])", body, re.MULTILINE)]
    figures = numbered("Figure", r"Figure (\d):", body)
    algorithm = re.findall(r"^Anonymization algorithm$", body, re.MULTILINE)
    return [each.lower() for each in (*headings, *parts, *algorithm)] + [f"Table {each}" for each in tables] + figures


CONTENTS = {
    "000": balance_thesis, "001": framework_thesis, "002": spanning_trees, "003": classification_trees,
    "004": dependencies,
}  # fmt: skip
FEWEST = {"000": 60, "001": 110, "002": 29, "003": 17, "004": 15}
"""Parts that are found in each paper at least: a text that is read wrongly would show nothing lacking."""


def test_every_paper_has_a_list() -> None:
    assert sorted(PAPERS) == sorted(CONTENTS)


@pytest.mark.parametrize("number", CONTENTS)
def test_nothing_in_the_contents_of_a_paper_lacks_an_entry_or_a_reason(number: str) -> None:
    paper, contents = PAPERS[number], set(CONTENTS[number]())
    named = {place for entry in paper.entries for place in entry.places}
    assert sorted(contents - named - set(paper.skipped)) == [], "no entry is about these"
    assert sorted((named | set(paper.skipped)) - contents) == [], "the paper has no such parts"
    assert sorted(named & set(paper.skipped)) == []
    assert len(contents) >= FEWEST[number]


@pytest.mark.parametrize("number", CONTENTS)
def test_entries_stand_in_the_order_of_the_paper(number: str) -> None:
    """Sections by their numbers; those without a number by where their headings stand."""
    sections = list(dict.fromkeys(entry.section for entry in PAPERS[number].entries))
    if sections[0][0].isdigit():
        keys = [tuple(map(int, each.split("."))) if each[0].isdigit() else (9, ord(each[-1])) for each in sections]
    else:
        body = text(number).lower()
        keys = [re.search(rf"{re.escape(each)}:?\s*$", body, re.MULTILINE).start() for each in sections]
        assert len(keys) == len(set(keys))
    assert keys == sorted(keys)


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_entry_says_what_it_is_and_can_be_repeated(entry) -> None:
    assert entry.kind in written["KINDS"] and entry.status in written["STATUSES"]
    assert entry.command or entry.test or entry.experiment or (entry.status == "missing" and entry.text)
    assert "?" not in written["with_figures"](entry.text) or "?" in entry.text, "a figure that no table has"
    for place in entry.here:
        kind, _, name = place.partition(":")
        if kind == "docs":
            assert (ROOT / "docs" / name).is_file(), place
        elif name:
            assert name in registry.names(kind), place
        else:
            assert exists(place), place
    if entry.test:
        assert entry.test in names_of_tests(entry.test.partition("::")[0]), entry.test
    if entry.experiment:
        assert (ROOT / "experiments" / f"{entry.experiment}.py").is_file()
        assert written["what_it_says"](entry.experiment).startswith("- ")
    if entry.command:
        check_command(entry.command)


def exists(path: str) -> bool:
    """Whether a name of Python leads to something."""
    thing = importlib.import_module("shoal")
    for name in path.split(".")[1:]:
        thing = getattr(thing, name)
    return thing is not None


@cache
def names_of_tests(file: str) -> set[str]:
    """The tests of a file by their full names."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    names = set()
    for node in tree.body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        prefix = f"{file}::{node.name}" if isinstance(node, ast.ClassDef) else file
        names |= {f"{prefix}::{each.name}" for each in inner if isinstance(each, ast.FunctionDef)}
    return names


def check_command(line: str) -> None:
    """Parses a command as a shell and the program would, without running it."""
    parts = shlex.shlex(line, posix=True, punctuation_chars=True)
    parts.whitespace_split = True
    program, *arguments = parts
    assert not {"|", ";", "&", ">", "<", "(", ")"} & set(arguments), "a shell would take these for its own"
    if program == "python":
        assert arguments[0] == "-m" and arguments[1] in ("experiments", "benchmarks"), line
        assert (ROOT / arguments[1] / f"{arguments[2]}.py").is_file(), line
        return
    assert program == "shoal", line
    command = get_command(app)
    while hasattr(command, "commands"):
        command = command.commands[arguments.pop(0)]
    values = command.make_context("shoal", list(arguments)).params
    for family, option in (("algorithms", "algorithm"), ("models", "model"), ("attacks", "attack")):
        given = values.get(option) or ()
        for spec in [given] if isinstance(given, str) else given:
            plugin(family, spec)


COMMANDS = sorted(
    {entry.command for paper in PAPERS.values() for entry in paper.entries if entry.command[:5] == "shoal"}
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the pages say that commands take: a table, and a release of it."""
    folder = tmp_path_factory.mktemp("papers")
    shoal.samples.adult()[:1200].write_csv(folder / "adult.csv")
    (folder / "ours.csv").write_text("patient\nA-100\nA-101\n")
    (folder / "items.csv").write_text("column,value\nsmoker,yes\n")
    data = shoal.read(folder / "adult.csv", quasi=["age", "sex", "race"], sensitive=["occupation"])
    for name, algorithm in (("release", "mondrian"), ("again", "optimal")):
        shoal.anonymize(data, "k-anonymity:k=5", algorithm=algorithm, seed=1).write(folder / f"{name}.csv")
    return folder


@pytest.mark.parametrize("line", COMMANDS if LONG else COMMANDS[::12])
def test_commands_run(line: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them in the long suite, a few every day."""
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    for name in {"release.csv", "release.csv.manifest.json"} if "-o release.csv" in line else ():
        Path(name).unlink()
    with pytest.raises(SystemExit) as stop:
        main(shlex.split(line)[1:])
    assert stop.value.code in (0, 1, None)


def test_pages_are_fresh() -> None:
    for name, page in written["pages"]().items():
        assert (ROOT / "docs" / "papers" / name).read_text(encoding="utf-8") == page, "run make docs"


@pytest.mark.parametrize("number", PAPERS)
def test_links_to_entries_lead_somewhere(number: str) -> None:
    """The addresses of headings, as the site makes them."""
    from markdown.extensions.toc import slugify

    page = (ROOT / "docs" / "papers" / f"{number}.md").read_text(encoding="utf-8")
    anchors = {slugify(heading, "-") for heading in re.findall(r"^### (.+)$", page, re.MULTILINE)}
    assert set(re.findall(r"\]\(#([^)]+)\)", page)) <= anchors


def test_a_figure_is_the_cell_of_its_table() -> None:
    figure = written["figure"]
    assert re.fullmatch(r"\d\.\d{4}", figure("x2", "k-member", {"quasi-identifiers": "5", "k": "21", "": "GCP"}))
    assert figure("x2", "k-member", {"k": "21"}) == "?" and figure("x2", "nobody", {}) == "?"


def test_the_printed_table_of_students_has_rows_that_stand_alone() -> None:
    """Table 2.1 of the balance thesis is called 2-anonymous by department, grade, age and roll number."""
    rows = re.findall(r"^[A-Z][\w ]+\t([A-Z.]+\t[<>\d.*]+\t[<>\d*]+\t\d+\*\*)$", text("000"), re.MULTILINE)
    assert len(rows) == 20 and sum(rows.count(row) == 1 for row in rows) == 2
