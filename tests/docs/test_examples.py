"""Every example in docstrings, README and docs runs."""

import doctest
import importlib
import re
import shlex
from pathlib import Path

import pytest
from counts import LONG, count

import shoal
from shoal.cli import main
from shoal.samples.sample import SampleTable

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PACKAGE = Path(shoal.__file__).parent
SLOW = {"great_expectations"}
"""Modules whose imports take seconds: the long suite asks them."""
MODULES = {
    ".".join(("shoal", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
    if "kernels" not in path.parts and (LONG or path.stem not in SLOW)
}
WHOLE = {"README": "console", "diagnosis": "python", "first-steps": "python"}
"""Pages that say what only the whole Adult table says, and in which of their blocks."""
FEW, MORE = count(350, 3000), count(700, 3000)
"""Records of it in the file of all other blocks, whose figures are not compared or do not depend on them; and where
they speak of values that few people have."""
RARE = {"attacks", "full-domain"}
WITH_EXAMPLES = [name for name, path in MODULES.items() if re.search(r"^ *>>> ", path.read_text("utf-8"), re.MULTILINE)]


OF_ANY_PART = {f"shoal.api.{verb}" for verb in ("attacking", "evaluating", "querying", "running", "verifying")}
"""Modules whose examples take a while on the whole of Adult, and hold for few of its records too."""


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_docstrings(name, monkeypatch):
    if name in OF_ANY_PART:
        few = shoal.samples.adult.arrow()[:FEW]
        monkeypatch.setattr(shoal.samples, "adult", SampleTable(lambda: few))
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for test in doctest.DocTestFinder().find(importlib.import_module(name), name):
        if test.examples:  # to start a runner costs more than to run most of them
            runner.run(test)
    results = runner.summarize()
    assert results.failed == 0
    assert results.attempted > 0, "its examples are where nobody runs them"


def test_every_module_can_be_imported():
    assert [importlib.import_module(name).__name__ for name in MODULES] == list(MODULES)


def commands(block):
    """Each command of a shell block with what the page shows of its output: the first paragraph, up to an ellipsis."""
    for part in re.split(r"^\$ ", block.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output.partition("\n\n")[0].partition("…")[0]


def words(text):
    """What a text says, whatever its figures are and wherever its lines end."""
    return re.sub(r"\d[\d,.]*\d|\d", "#", " ".join(text.split()))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages(page, tmp_path, monkeypatch, capsys, request):
    """Python and shell blocks of a page run one after the other, in one folder, as a reader would.

    A command that is meant to be refused says so: `# exit code 2`. What a page shows of an
    output is what is printed, but for its figures.
    """
    if page.stem == "spark":
        request.getfixturevalue("spark")
    if page.stem == "coming-from":
        survey = request.getfixturevalue("reference").parent / "survey" / "testdata.csv"
        (tmp_path / "testdata.csv").write_text(
            "".join(survey.read_text().splitlines(keepends=True)[: count(801, 4581)])
        )
    adult = shoal.samples.adult()
    few = adult[: MORE if page.stem in RARE else FEW]
    tables = {language: adult if WHOLE.get(page.stem) == language else few for language in ("console", "python")}
    monkeypatch.setattr("shoal.tradeoff.points.available", lambda workers: 1)  # no figure depends on it
    monkeypatch.chdir(tmp_path)
    names = {}
    text = page.read_text(encoding="utf-8")
    table = tables["console"] if "--write-sample adult.csv" in text else None
    for language, block in re.findall(r"```(python|console|toml)\n(.*?)```", text, flags=re.DOTALL):
        if language in tables and tables[language] is not table:
            table = tables[language]
            table.write_csv(tmp_path / "adult.csv")
        if language == "toml":
            (tmp_path / "job.toml").write_text(block, encoding="utf-8")
        elif language == "console":
            for line, shown in commands(block):
                if line.startswith("shoal "):
                    command, _, code = line.removeprefix("shoal ").partition("# exit code ")
                    capsys.readouterr()
                    with pytest.raises(SystemExit) as stop, monkeypatch.context() as patched:
                        patched.setattr(shoal.samples, "adult", SampleTable(lambda: tables["console"].to_arrow()))
                        main(shlex.split(command))
                    assert stop.value.code in ((int(code),) if code else (0, 1, None)), line
                    printed = capsys.readouterr()
                    assert words(shown) in words(printed.out + printed.err), line
        elif ">>>" in block and "class " not in block:
            parsed = doctest.DocTestParser().get_doctest(block, names, page.name, str(page), 0)
            runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
            runner.run(parsed, clear_globs=False)
            names.update(parsed.globs)
            assert runner.summarize(verbose=False).failed == 0
        elif "class " not in block:
            exec(compile(block, page.name, "exec"), names)
