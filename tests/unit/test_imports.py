"""What is imported when, and by whom."""

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import shoal
from shoal import registry

ROOT = Path(shoal.__file__).parent
HEAVY = ("numpy", "pyarrow", "pandas", "sklearn", "numba", "altair", "pyspark", "scipy", "duckdb", "sqlglot", "jinja2")
TABLE = re.findall(r"^\| (\d+) \| ([^|]+) \|", (ROOT.parents[1] / "docs" / "architecture.md").read_text(), re.MULTILINE)
RANK = {room: int(layer) for layer, rooms in TABLE for room in re.findall(r"`(\w+)`", rooms)}
"""The layer of each room, as the page on the architecture has it."""
PLUGINS = {room for room, layer in RANK.items() if layer == RANK["models"]}


def test_nothing_heavy_is_imported_at_the_start():
    script = (
        "import sys\nimport shoal\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])\n"
        "import shoal.cli\ntry:\n    shoal.cli.main(['--help'])\nexcept SystemExit as stop:\n    assert not stop.code\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    lines = done.stdout.strip().splitlines()
    assert lines[0] == lines[-1] == "[]"


UNUSED = ("pandas", "scipy.linalg", "sklearn", "altair", "duckdb", "pyspark", "sqlglot", "jinja2", "pyarrow.parquet")
COMPILER = ["scipy.linalg", "numba.np.arraymath"]
"""What the compiler imports before it compiles; scipy only where it is installed."""


def test_an_anonymization_imports_what_it_needs_and_no_more(tmp_path):
    table = tmp_path / "people.csv"
    table.write_text("age,sex,zip\n" + "".join(f"{20 + row % 9},{'FM'[row % 2]},{row % 5}\n" for row in range(90)))
    names = (*UNUSED, COMPILER[1])
    script = f"""
import sys
from shoal.cli import main
try:
    main()
except SystemExit as stop:
    assert not stop.code
print([name for name in {names!r} if name in sys.modules])
from numba import njit
njit(lambda: 7)()
print([name for name in {names!r} if name in sys.modules])
"""
    arguments = ["anonymize", str(table), "--quasi", "age,sex,zip", "--k", "3", "--algorithm", "mondrian"]
    for name in ("first", "second"):  # the first one may have to compile
        run, compiled = subprocess.run(
            [sys.executable, "-c", script, *arguments, "-o", str(tmp_path / f"{name}.csv")],
            capture_output=True, text=True, check=True,
        ).stdout.splitlines()[-2:]  # fmt: skip
        assert compiled in (str(COMPILER), str(COMPILER[1:]))
        if run == "[]":
            return
    pytest.fail(f"a run that compiles nothing imports {run}")


def test_every_verb_is_found_where_the_types_say_it_is():
    from shoal import api

    tree = ast.parse(Path(api.__file__).read_text(encoding="utf-8"))
    typed = next(node for node in tree.body if isinstance(node, ast.If))
    declared = {
        node.module.removeprefix("shoal."): tuple(alias.name for alias in node.names)
        for node in typed.body
        if isinstance(node, ast.ImportFrom) and node.module
    }
    assert declared == api._FOUND_IN
    assert sorted(name for names in declared.values() for name in names) == sorted(api.__all__)
    assert all(getattr(api, name) is not None for name in api.__all__)
    with pytest.raises(AttributeError):
        _ = api.no_such_verb


@cache
def nodes(path):
    """The parts of a module that these tests ask about."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    asked = (ast.Import, ast.ImportFrom, ast.Call, ast.ClassDef)
    return [node for node in ast.walk(tree) if isinstance(node, asked)]


def imported(path):
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "shoal":
            parts = node.module.split(".")[1:]
            yield from [parts[0]] if parts else [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            yield from (alias.name.split(".")[1] for alias in node.names if alias.name.startswith("shoal."))


def test_imports_go_one_way():
    for path in ROOT.rglob("*.py"):
        own = path.relative_to(ROOT).parts[0].removesuffix(".py")
        if own in ("__init__", "__main__"):
            continue
        for other in imported(path):
            if other == own:
                continue
            assert RANK[other] <= RANK[own], f"{path.name} of {own} imports {other}"
            assert not (own in PLUGINS and other in PLUGINS), f"{own} imports {other}"
            assert not (own == "kernels" and other == "core"), "kernels take arrays, not nouns"


def module_of(path):
    parts = ("shoal", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_modules(path, modules):
    """The modules that a module imports at the top, inside a function, or for its types only."""
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            for name in (f"{node.module}.{alias.name}" for alias in node.names):
                yield name if name in modules else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def knots(graph):
    """The sets of modules that reach one another, each of two modules at least."""
    reach = {module: {module} for module in graph}
    changed = True
    while changed:
        changed = False
        for module, others in graph.items():
            wider = reach[module].union(*(reach[other] for other in others))
            changed |= len(wider) > len(reach[module])
            reach[module] = wider
    return {frozenset(each for each in reach[module] if module in reach[each]) for module in graph if graph[module]}


def test_no_import_cycle_even_through_lazy_and_type_only_imports():
    modules = {module_of(path): path for path in ROOT.rglob("*.py")}
    graph = {name: set(imported_modules(path, modules)) & set(modules) - {name} for name, path in modules.items()}
    assert knots({"a": {"b"}, "b": {"a"}, "c": {"a"}}) == {frozenset("ab"), frozenset("c")}
    assert not sorted(sorted(knot) for knot in knots(graph) if len(knot) > 1)


LONGEST = 400


def test_no_file_is_longer_than_a_reader_can_follow():
    long = {path.relative_to(ROOT).as_posix(): len(path.read_text().splitlines()) for path in ROOT.rglob("*.py")}
    assert not {name: lines for name, lines in long.items() if lines > LONGEST}


def test_no_two_classes_share_a_name():
    """But for those of engines, which have the same parts by the same names."""
    homes = {}
    for path in ROOT.rglob("*.py"):
        place = path.relative_to(ROOT)
        home = "an engine" if place.parts[0] == "engines" and place.parts[1] != registry.SHARED else place.as_posix()
        for node in nodes(path):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, set()).add(home)
    assert not {name: places for name, places in homes.items() if len(places) > 1}


def test_every_room_has_a_layer():
    assert set(RANK) == {path.stem for path in ROOT.iterdir() if path.suffix in ("", ".py") and path.stem[:2] != "__"}


def test_no_engine_imports_another():
    for name in registry.names("engines"):
        others = tuple(f"shoal.engines.{other}" for other in registry.names("engines") if other != name)
        for path in (ROOT / "engines" / name).rglob("*.py"):
            for node in nodes(path):
                modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                assert not any(module.startswith(others) for module in modules), path


def test_nothing_outside_the_engines_names_one():
    names = registry.names("engines")
    outside = [path for path in ROOT.rglob("*.py") if path.relative_to(ROOT).parts[0] != "engines"]
    for path in outside:
        for node in nodes(path):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("shoal.engines"):
                # the lookup asks which engine is the default; it finds all of them by their folders
                assert path.name == "registry.py" and [alias.name for alias in node.names] == ["DEFAULT"], path
            elif isinstance(node, ast.Import):
                assert not any(alias.name.startswith("shoal.engines") for alias in node.names), path
            elif isinstance(node, ast.Call):
                called = getattr(node.func, "attr", getattr(node.func, "id", ""))
                given = [entry.value for entry in node.args if isinstance(entry, ast.Constant)]
                assert called not in ("engine", "import_module") or not any(
                    name in str(text) for text in given for name in names
                ), path


def test_numba_is_used_in_kernels_only():
    for path in ROOT.rglob("*.py"):
        if path.parent.name != "kernels":
            for node in nodes(path):
                if isinstance(node, ast.ImportFrom) and node.module == "numba":
                    assert {alias.name for alias in node.names} <= {"get_num_threads"}, path


def test_every_public_name_can_be_reached():
    for name in dir(shoal):
        assert getattr(shoal, name) is not None
    with pytest.raises(AttributeError):
        _ = shoal.NoSuchModel
