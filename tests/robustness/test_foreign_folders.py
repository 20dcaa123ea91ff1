"""An archive that somebody sent, with every kind of file that a program could obey because it lies there.

It is verified, queried, reported and served from; meanwhile the kernel tells whatever happens to the recipient's own
files, and Python every other place that is opened or changed.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import shutil
import sqlite3
import struct
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest
from canary_table import BODY, HEADER, ROLES

from shoal.cli import main
from shoal.kernels import caching
from shoal.storage.database_files import MAGIC

WATCHED = """
import contextlib, io, json, os, sys
from pathlib import Path

told = json.loads(sys.argv[1])
sys.path.insert(0, told["serving"])
CHANGES = ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.chmod", "os.chown",
           "os.truncate", "os.utime", "shutil.rmtree", "shutil.move", "os.mkfifo")
events, watching = [], False

def watch(event, arguments):
    if watching and (event in ("open", "os.listdir", "os.scandir", "subprocess.Popen", "os.exec") or event in CHANGES):
        paths = [each for each in arguments[:2] if isinstance(each, (str, bytes, os.PathLike))]
        if event == "open":
            written = isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
            paths, event = paths[:1], "write" if written else "open"
        below = arguments[-1] if event in ("os.remove", "os.rmdir", "os.mkdir") else -1
        folder = os.readlink(f"/proc/self/fd/{below}") if below >= 0 else os.getcwd()
        for path in map(os.fsdecode, paths):
            lies = os.path.join(folder, path)
            events.append((event, os.path.join(os.path.realpath(os.path.dirname(lies)), os.path.basename(lies))))

sys.addaudithook(watch)
from shoal.cli import main
import shoal.web.application, serving

os.chdir(told["archive"])
codes = {}
watching = True
for name, arguments in told["runs"].items():
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            main(arguments)
        except SystemExit as end:
            codes[name] = end.code or 0, printed.getvalue()[-600:]
        else:
            codes[name] = 0, ""
page = serving.Served(Path(told["temporary"]) / "page", Path("people.csv").resolve())
page.session.local = False
page.facts("/exposed.json", panel="exposure")
page.post("/exposed/role", column=1, role="quasi")
page.post("/hand-over/make", name="release.csv")
codes["page"] = 0 if page.facts("/hand-over.json", panel="package")["package"]["state"] == "ready" else 1, ""
page.stop()
watching = False
print(json.dumps({"codes": codes, "events": sorted(set(events)), "modules": sys.path}))
"""

OPENED, CHANGED = 0x20 | 0x1, 0x2 | 0x4 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800


class Kernel:
    """What the kernel tells of a tree: every file that is opened, read, changed, made, moved or removed."""

    def __init__(self, tree: Path) -> None:
        self._library = ctypes.CDLL(None, use_errno=True)
        self._handle = self._library.inotify_init1(os.O_NONBLOCK)
        for folder in (tree, *(path for path in tree.rglob("*") if path.is_dir())):
            assert self._library.inotify_add_watch(self._handle, bytes(folder), OPENED | CHANGED) >= 0

    def events(self) -> list[tuple[int, str]]:
        found, here = [], struct.Struct("iIII")
        while select.select([self._handle], [], [], 0)[0]:
            data = os.read(self._handle, 1 << 16)
            while data:
                _, mask, _, length = here.unpack_from(data)
                found.append((mask, data[here.size : here.size + length].rstrip(b"\0").decode()))
                data = data[here.size + length :]
        return found


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home with the recipient's files, and in it the archive, unpacked."""
    home = tmp_path_factory.mktemp("home")
    victim, archive = home / "victim", home / "archive"
    for folder in (victim, victim / "sub", archive):
        folder.mkdir()
    (victim / "secret.csv").write_text(HEADER + BODY)
    (victim / "age.csv").write_text("1;*\n")
    (victim / "sub" / "notes.txt").write_text("mine")
    (archive / "people.csv").write_text(HEADER + BODY)
    for name, more in {"release.csv": (), "parts": (), "tables.csv": ("--model", "frequency-l-diversity:l=2")}.items():
        method = ("--algorithm", "anatomy") if more else ("--k", "4", "--algorithm", "mondrian")
        with pytest.raises(SystemExit) as ended:
            main(["anonymize", str(archive / "people.csv"), "-o", str(archive / name), *ROLES, *more, *method])
        assert not ended.value.code
    lay_traps(archive, victim)
    yield home
    shutil.rmtree(home)


def lay_traps(archive: Path, victim: Path) -> None:
    """Everything that a sender could put beside a release."""
    manifest = json.loads((archive / "release.csv.manifest.json").read_text())

    def released(name: str, stated: dict[str, Any] = manifest) -> Path:
        (archive / f"{name}.manifest.json").write_text(json.dumps(stated))
        return archive / name

    targets = ["sub/x", "../victim/secret.csv", str(victim / "age.csv"), "release.csv"]
    for folder in (archive, archive / "sub"):
        hidden = folder / ".shoal-0123456789abcdef"
        for inner in ("new", "old"):
            (hidden / inner).mkdir(parents=True)
            (hidden / inner / "secret.csv").write_text("theirs")
        (hidden / "plan.json").write_text(json.dumps(targets))
        (hidden / "exchanging.json").write_text("[0, 1, 2, 3]")
        (hidden / "mark.json").write_text("[0, 1, 2, 3]")
    released("linked.csv").symlink_to(victim / "secret.csv")
    shutil.copy(archive / "release.csv", archive / "elsewhere.csv")
    (archive / "elsewhere.csv.manifest.json").symlink_to(victim / "secret.csv")
    shutil.copytree(archive / "parts", released("leak"))
    (archive / "leak" / "part-00009.parquet").symlink_to(victim / "secret.csv")
    shutil.copytree(archive / "parts", archive / "deep")
    (archive / "deep" / "sub").symlink_to(victim)
    shutil.copy(archive / "parts.manifest.json", archive / "deep.manifest.json")
    os.mkfifo(released("pipe.csv"))
    up = json.loads(json.dumps(manifest))
    up["tables"].append({"part": "../victim/secret", "rows": 60, "sha256": "0" * 64})
    shutil.copy(archive / "release.csv", released("part.csv", up))
    led = json.loads(json.dumps(manifest))
    renamed = next(column for column in led["columns"] if column["name"] == "age")
    renamed["name"] = "../../victim/age"
    text = (archive / "release.csv").read_text().replace("age,", "../../victim/age,", 1)
    released("columns.csv", led).write_text(text)
    with duckdb.connect(str(archive / "base.duckdb")) as base:
        base.execute(f"CREATE VIEW release AS SELECT * FROM read_csv('{victim / 'secret.csv'}')")
    (archive / "base.duckdb.release.manifest.json").write_text(json.dumps(manifest))
    (archive / "hierarchies").mkdir()
    for module in ("numpy", "polars", "shoal", "sitecustomize", "usercustomize", "loky", "conftest"):
        (archive / f"{module}.py").write_text(f"open({str(victim / 'sub' / 'notes.txt')!r}, 'w').write('ran')\n")
    planted = {"cache_dir": str(archive), "debug": 1}
    (archive / ".numba_config.yaml").write_text("\n".join(f"{name}: {value}" for name, value in planted.items()))
    job = f'[input]\npath = "{victim / "secret.csv"}"\n[output]\npath = "{victim / "out.csv"}"\n'
    for name in ("job.toml", "shoal.toml", ".shoalrc", "pyproject.toml", "release.csv.job.toml"):
        (archive / name).write_text(job)
    (archive / "state").mkdir()
    (archive / "state" / "state.json").symlink_to(victim / "secret.csv")
    (archive / "release.csv.recoding").write_text("{}")
    sqlite3.connect(archive / "release.csv.ledger").close()
    (archive / "release.csv.ledger.key").write_text("0" * 64)
    (archive / "release.csv.ledger-journal").symlink_to(victim / "secret.csv")
    with closing(sqlite3.connect(archive / "base.sqlite")) as base:
        base.execute("CREATE TABLE release (age)")
        base.commit()
    (archive / "base.sqlite.release.manifest.json").write_text(json.dumps(manifest))
    text = str(victim / "secret.csv").encode()  # what SQLite removes when it goes on with this journal
    named = struct.pack(">I", (1 << 30) // 4096 + 1) + text + struct.pack(">2I", len(text), sum(text)) + MAGIC
    header = (MAGIC + struct.pack(">5I", 0, 1, 2, 512, 4096)).ljust(512, b"\0")
    (archive / "base.sqlite-journal").write_bytes(header + named)


def contents(folder: Path) -> dict[str, Any]:
    """What lies in a tree; links and pipes as such."""

    def content(path: Path) -> Any:
        if path.is_symlink():
            return path.readlink()
        return path.read_bytes() if path.is_file() else path.stat().st_mode

    return {str(path.relative_to(folder)): content(path) for path in folder.rglob("*")}


RUNS: dict[str, tuple[int, list[str]]] = {
    "verify": (0, ["verify", "release.csv"]),
    "verify a folder": (0, ["verify", "parts"]),
    "verify two tables": (0, ["verify", "tables.csv"]),
    "verify a link": (2, ["verify", "linked.csv"]),
    "a manifest that is a link": (2, ["verify", "elsewhere.csv"]),
    "a piece that is a link": (2, ["verify", "leak"]),
    "a folder that is a link": (2, ["verify", "deep"]),
    "a pipe": (2, ["verify", "pipe.csv"]),
    "a part elsewhere": (2, ["verify", "part.csv"]),
    "a view": (2, ["verify", "base.duckdb::release", "--engine", "duckdb"]),
    "a journal": (2, ["verify", "base.sqlite::release", "--engine", "duckdb"]),
    "into a database with a journal": (
        2,
        ["anonymize", "people.csv", "-o", "base.sqlite::out", *ROLES, "--k", "2", "--engine", "duckdb"],
    ),
    "a ledger with a link": (
        2,
        ["anonymize", "people.csv", "-o", "{out}/out.csv", *ROLES, "--k", "2", "--ledger", "release.csv.ledger"],
    ),
    "verify with duckdb": (0, ["verify", "release.csv", "--engine", "duckdb"]),
    "sql": (0, ["verify", "release.csv", "--sql", "duckdb"]),
    "query": (0, ["query", "release.csv", "--where", "age <= 40"]),
    "query by hierarchies": (0, ["query", "columns.csv", "--hierarchies", "hierarchies"]),
    "query a link": (2, ["query", "linked.csv"]),
    "evaluate": (0, ["evaluate", "people.csv", "release.csv", "--metrics", "gcp,utility-loss"]),
    "evaluate a link": (2, ["evaluate", "people.csv", "linked.csv"]),
    "attack": (0, ["attack", "people.csv", "release.csv"]),
    "report": (0, ["report", "people.csv", "release.csv", "--quick", "-o", "{out}/report.json"]),
    "diagnose": (0, ["diagnose", "people.csv", "--quasi", "age,sex"]),
    "anonymize": (0, ["anonymize", "people.csv", "-o", "{out}/out.csv", *ROLES, "--k", "2", "--algorithm", "mondrian"]),
    "recover": (0, ["recover", "."]),
    "a state of theirs": (
        2,
        ["anonymize", "people.csv", "-o", "{out}/out.csv", *ROLES, "--k", "2", "--resume-dir", "state"],
    ),
}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells what happens to a folder")
def test_an_archive_is_read_and_nothing_else_is_read_or_changed(tree: Path, tmp_path: Path, own_state: Path) -> None:
    archive, victim, out, temporary = tree / "archive", tree / "victim", tmp_path / "out", tmp_path / "temporary"
    out.mkdir()
    temporary.mkdir()
    before = contents(tree)
    kernel = Kernel(victim)
    spelled = {name: [part.format(out=out) for part in arguments] for name, (_, arguments) in RUNS.items()}
    serving = Path(__file__).parents[1] / "unit" / "web"
    told = {"archive": str(archive), "temporary": str(temporary), "runs": spelled, "serving": str(serving)}
    done = subprocess.run(
        [sys.executable, "-P", "-B", "-c", WATCHED, json.dumps(told)],
        capture_output=True, text=True, timeout=500, cwd=tmp_path, env={**os.environ, "TMPDIR": str(temporary)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert kernel.events() == []
    found = json.loads(done.stdout)
    assert {name: code for name, (code, _) in found["codes"].items()} == {
        **{name: code for name, (code, _) in RUNS.items()},
        "page": 0,
    }, found["codes"]
    after = contents(tree)
    assert after == before
    installed = [sys.prefix, sys.base_prefix, *sysconfig.get_paths().values()]
    installed += filter(None, [sys.pycache_prefix, *found["modules"]])
    installed = [os.path.realpath(place) for place in installed]  # an environment may be a link to one
    system = ["/proc", "/sys", "/dev", "/etc", "/usr", "/lib", "/bin", "/opt"]
    free = [out, temporary, own_state, caching.folder()]
    for event, path in found["events"]:
        places = free if event not in ("open", "os.listdir", "os.scandir") else [*free, archive, *installed, *system]
        assert any(Path(path).is_relative_to(place) for place in places), (event, path)
    assert {path.name for path in temporary.iterdir()} <= {"page"}
