"""The ledger: what it refuses, what passes, and that it stays whole."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.api import publish
from shoal.cli import main
from shoal.core.contracts.model import Model
from shoal.core.policy import Policy
from shoal.core.recoding import Recoding
from shoal.core.run import Run
from shoal.errors import DisclosureError, InfeasibleError, InputError, OutputError, ParameterError
from shoal.job import Job
from shoal.ledger import Ledger, entry, store, verdicts

FOUR = pl.DataFrame(
    {
        "age": [21, 22, 23, 24],
        "gender": ["Female", "Male", "Male", "Male"],
        "zip": ["17651", "17652", "17661", "17662"],
        "disease": ["Cancer", "Flu", "HIV", "HIV"],
    }
)


def adults(first: int = 0, last: int = 400) -> shoal.Dataset:
    table = shoal.samples.adult().select("age", "sex", "race", "occupation").with_row_index("person")[first:last]
    return shoal.read(
        table, quasi=["age", "sex", "race"], sensitive=["occupation"], identifiers=["person"],
    )  # fmt: skip


def parted(data: shoal.Dataset, classes: list[int], *models: Model) -> shoal.Release:
    kinds = ["interval" if tree.ordered else "hierarchy" for tree in data.summary.hierarchies]
    recoding = Recoding.of_partition(data.summary, np.array(classes, np.int32), kinds)
    return publish(data, recoding, Policy(models=models))


def entered(ledger: Ledger, data: shoal.Dataset, release: shoal.Release) -> None:
    with ledger.publishing(data, release, Run()) as publication:
        publication.enter({"tables": [], "policy": {"models": []}, "form": "generalized"}, None)


class TestGolden:
    """The 2-anonymous and the 2-diverse table of four patients compose to certainty."""

    data = shoal.read(FOUR, quasi=["age", "gender", "zip"], sensitive=["disease"])

    def test_the_second_is_refused_after_the_first(self, tmp_path: Path) -> None:
        ledger = Ledger(tmp_path / "four.ledger")
        entered(ledger, self.data, parted(self.data, [0, 0, 1, 1], shoal.KAnonymity(k=2)))
        diverse = parted(self.data, [0, 1, 0, 1], shoal.KAnonymity(k=2), shoal.DistinctLDiversity(l=2))
        with pytest.raises(DisclosureError, match="release 1") as refused:
            entered(ledger, self.data, diverse)
        found = {each.attack: each for each in refused.value.breaches}  # type: ignore[attr-defined]
        assert set(found) == {"complementary-release", "composition"}
        assert found["composition"].worst == 1.0 and found["composition"].exposed == 0.5
        assert found["complementary-release"].exposed == 1.0
        assert len(ledger.entries()) == 1
        for value in FOUR["disease"]:
            assert value not in str(refused.value)

    def test_the_same_again_passes(self, tmp_path: Path) -> None:
        ledger = Ledger(tmp_path / "four.ledger")
        for _ in range(3):
            entered(ledger, self.data, parted(self.data, [0, 0, 1, 1], shoal.KAnonymity(k=2)))
        assert len(ledger.entries()) == 3 and not any(each.breaches for each in verdicts(ledger, Run()))


class TestReleases:
    def test_another_recoding_is_refused_and_a_coarser_one_passes(self, tmp_path: Path) -> None:
        ledger = tmp_path / "adults.ledger"
        first = shoal.anonymize(adults(), "k-anonymity:k=5", algorithm="mondrian", seed=1, ledger=ledger)
        with pytest.raises(DisclosureError, match="coarsening"):
            shoal.anonymize(adults(), "k-anonymity:k=5", algorithm="k-member", seed=1, ledger=ledger)
        second = shoal.anonymize(adults(), "k-anonymity:k=12", algorithm="coarsening", seed=3, ledger=ledger)
        assert int(second.classes.sizes.min()) >= 12
        assert [entry.models for entry in Ledger(ledger).entries()] == [["k-anonymity"]] * 2
        joined = shoal.attack(adults(), second, "complementary-release", earlier=[first])[0]
        assert joined.detail["k"] >= 5, "joined releases are no finer than the first"
        # what was refused is refused in whichever order
        with pytest.raises(DisclosureError, match="release"):
            shoal.anonymize(adults(), "k-anonymity:k=5", algorithm="k-member", seed=1, ledger=ledger)

    def test_a_table_that_grew(self, tmp_path: Path) -> None:
        ledger = tmp_path / "adults.ledger"
        shoal.anonymize(adults(0, 390), "k-anonymity:k=5", algorithm="mondrian", seed=1, ledger=ledger)
        with pytest.raises(DisclosureError, match="temporal-release"):
            shoal.anonymize(adults(), "k-anonymity:k=5", algorithm="mondrian", seed=1, ledger=ledger)
        grown = shoal.anonymize(adults(), "k-anonymity:k=5", algorithm="coarsening", seed=1, ledger=ledger)
        assert grown.suppressed == 0, "ten newcomers are enough for a class of their own"
        with pytest.raises(InfeasibleError, match="hide among fewer than 5"):
            shoal.anonymize(adults(0, 402), "k-anonymity:k=5", algorithm="coarsening", seed=1, ledger=ledger)
        waiting = shoal.anonymize(
            adults(0, 402), "k-anonymity:k=5", algorithm="coarsening", suppression=0.01, seed=1, ledger=ledger
        )
        assert waiting.suppressed == 2

    def test_nothing_of_the_table_is_in_the_file_but_what_was_published(self, tmp_path: Path) -> None:
        ledger = tmp_path / "canary.ledger"
        table = pl.DataFrame(
            {
                "name": [f"canary-name-{n}" for n in range(6)],
                "age": [101, 102, 103, 104, 105, 999],
                "ill": [*"ababa", "canary-value"],
            }
        )
        data = shoal.read(table, quasi=["age"], sensitive=["ill"], identifiers=["name"])
        release = parted(data, [0, 0, 1, 1, 1, -1], shoal.KAnonymity(k=2))
        with Ledger(ledger).publishing(data, release, Run()) as publication:
            publication.enter(release.manifest([""]), None)
        content = ledger.read_bytes()
        row = Ledger(ledger).store.entries()[0]
        assert row.located is not None
        held = entry.unpack(row.located, "")
        assert held.values["ill"].texts == ("a", "b"), "the value of whoever was left out is not there"
        assert b"canary" not in content and b"canary" not in row.located
        assert np.all(np.diff(held.ids.astype(object)) > 0), "in the order of hashes"
        assert ledger.stat().st_mode & 0o077 == 0 and Ledger(ledger).store.key_path.stat().st_mode & 0o077 == 0

    def test_another_table_is_not_taken_for_the_data_set(self, tmp_path: Path) -> None:
        ledger = tmp_path / "adults.ledger"
        shoal.anonymize(adults(), "k-anonymity:k=5", algorithm="mondrian", ledger=ledger)
        other = shoal.read(FOUR, quasi=["age", "zip"], sensitive=["disease"])
        with pytest.raises(InputError, match="'person'"):
            shoal.anonymize(other, "k-anonymity:k=2", ledger=ledger, allow_plain=["gender"])

    def test_a_perturbed_release_is_entered_only_where_that_is_allowed(self, tmp_path: Path) -> None:
        ledger = tmp_path / "adults.ledger"
        shoal.anonymize(adults(), "k-anonymity:k=5", algorithm="mondrian", seed=1, ledger=ledger)
        with pytest.raises(DisclosureError, match="--allow-unjudged release:this"):
            shoal.anonymize(adults(), algorithm="rank-swapping", ledger=ledger, seed=1)
        with pytest.raises(ParameterError, match="'relaese:this'"):
            shoal.anonymize(adults(), algorithm="rank-swapping", ledger=ledger, seed=1, allow_unjudged=["relaese:this"])
        release = shoal.anonymize(
            adults(), algorithm="rank-swapping", ledger=ledger, seed=1, allow_unjudged=["release:this"]
        )
        assert any("perturbed" in note for note in release.notes) and len(Ledger(ledger).entries()) == 2
        # what comes later cannot be held against it either
        again = {"algorithm": "coarsening", "seed": 1, "ledger": ledger}
        with pytest.raises(DisclosureError, match="--allow-unjudged release:2"):
            shoal.anonymize(adults(), "k-anonymity:k=5", **again)
        shoal.anonymize(adults(), "k-anonymity:k=5", **again, allow_unjudged=["release:2"])
        assert [each.holds for each in verdicts(Ledger(ledger), Run())] == [True] * 3


class TestFile:
    def test_a_foreign_file_is_refused_and_left_alone(self, tmp_path: Path) -> None:
        foreign = tmp_path / "other.db"
        with sqlite3.connect(foreign) as database:
            database.execute("CREATE TABLE mine (x)")
        before = foreign.read_bytes()
        with pytest.raises(InputError, match="not a ledger"):
            Ledger(foreign).entries()
        with pytest.raises(InputError, match="not a ledger"):
            shoal.anonymize(adults(), "k-anonymity:k=5", algorithm="mondrian", ledger=foreign)
        assert foreign.read_bytes() == before
        text = tmp_path / "text.db"
        text.write_text("no database at all, but long enough to have a header of some hundred bytes" * 4)
        with pytest.raises(InputError, match="not a ledger"):
            Ledger(text).entries()
        with pytest.raises(InputError, match="no such ledger"):
            Ledger(tmp_path / "nowhere").entries()

    def test_versions(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        file = tmp_path / "adults.ledger"
        shoal.anonymize(adults(), "k-anonymity:k=5", algorithm="mondrian", ledger=file)
        with sqlite3.connect(file) as database:
            database.execute("PRAGMA user_version = 9")
        with pytest.raises(InputError, match="newer version of Shoal"):
            Ledger(file).entries()
        with sqlite3.connect(file) as database:
            database.execute("PRAGMA user_version = 1")
        with pytest.raises(InputError, match="not sealed"):
            Ledger(file).check_writable()
        with sqlite3.connect(file) as database:
            database.execute("PRAGMA user_version = 2")
        monkeypatch.setattr(store, "UPGRADES", ("ALTER TABLE sessions ADD COLUMN remark TEXT",))
        with pytest.raises(InputError, match="older format 2"):
            Ledger(file).entries()
        Ledger(file).check_writable()
        assert len(Ledger(file).entries()) == 1, "it was upgraded, and nothing was lost"

    def test_a_ledger_without_its_key(self, tmp_path: Path) -> None:
        file = tmp_path / "adults.ledger"
        shoal.anonymize(adults(), "k-anonymity:k=5", algorithm="mondrian", ledger=file)
        Ledger(file).store.key_path.unlink()
        with pytest.raises(InputError, match="put the file back"):
            shoal.anonymize(adults(), "k-anonymity:k=5", algorithm="mondrian", ledger=file)

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
    def test_a_read_only_folder_for_users(self, tmp_path: Path) -> None:
        tmp_path.chmod(0o500)
        with pytest.raises(OutputError):
            Ledger(tmp_path / "adults.ledger").check_writable()

    def test_a_read_only_file_can_be_listed_and_not_written(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = tmp_path / "adults.ledger"
        shoal.anonymize(adults(), "k-anonymity:k=5", algorithm="mondrian", ledger=file)
        connect = sqlite3.connect
        monkeypatch.setattr(
            sqlite3, "connect", lambda path, **given: connect(str(path).replace("mode=rw", "mode=ro"), **given)
        )
        assert len(Ledger(file).entries()) == 1
        with pytest.raises(OutputError, match="cannot be written"):
            Ledger(file).check_writable()

    def test_concurrent_writers(self, tmp_path: Path) -> None:
        file, refused = tmp_path / "adults.ledger", []

        def publishing(algorithm: str) -> None:
            try:
                shoal.anonymize(adults(), "k-anonymity:k=5", algorithm=algorithm, seed=1, ledger=file)
            except DisclosureError as error:
                refused.append(error)

        threads = [threading.Thread(target=publishing, args=(name,)) for name in ("mondrian", "k-member", "mondrian")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        kept = len(Ledger(file).entries())
        assert kept + len(refused) == 3 and 1 <= kept <= 2
        assert not Ledger(file).store.damage() and not any(each.breaches for each in verdicts(Ledger(file), Run()))


class TestTogether:
    """The release and its entry are both there, or none is."""

    def job(self, folder: Path) -> Job:
        table = shoal.samples.adult().select("age", "sex", "race", "occupation").head(300)
        table.write_csv(folder / "adult.csv")
        columns = {name: {"role": "quasi"} for name in ("age", "sex", "race")} | {"occupation": {"role": "sensitive"}}
        return shoal.job.parse(
            {
                "input": {"path": "adult.csv"}, "columns": columns, "algorithm": "mondrian",
                "policy": {"models": ["k-anonymity:k=5"]},
                "output": {"path": "release.csv", "ledger": "adult.ledger"},
            },
            folder,
        )  # fmt: skip

    def test_both_are_there(self, tmp_path: Path) -> None:
        job = self.job(tmp_path)
        shoal.run(job)
        (entry,) = Ledger(tmp_path / "adult.ledger").entries()
        manifest = json.loads((tmp_path / "release.csv.manifest.json").read_text())
        assert entry.manifest == manifest and entry.name == "release.csv"
        assert shoal.job.parse(__import__("tomllib").loads(shoal.job.toml(job, tmp_path)), tmp_path) == job

    def test_neither_is_there_when_writing_fails(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        from shoal.storage import exchange

        job = self.job(tmp_path)

        def fail(self: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(exchange.Exchange, "carry_out", fail)
        with pytest.raises(OutputError):
            shoal.run(job)
        assert not (tmp_path / "release.csv").exists() and not Ledger(tmp_path / "adult.ledger").entries()

    def test_neither_is_there_when_the_entry_fails(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(self: object, row: object) -> int:
            raise OutputError("the disk is full")

        monkeypatch.setattr(store.Store, "add", fail)
        with pytest.raises(OutputError, match="the disk is full"):
            shoal.run(self.job(tmp_path))
        assert not (tmp_path / "release.csv").exists() and not Ledger(tmp_path / "adult.ledger").entries()

    @pytest.mark.parametrize("when", ["before", "after"])
    def test_a_process_that_was_killed_in_between(self, tmp_path: Path, when: str, commands: Any) -> None:
        self.job(tmp_path)
        (tmp_path / "job.toml").write_text(shoal.job.toml(self.job(tmp_path), tmp_path))
        script = (
            "import os, sys\nfrom pathlib import Path\nfrom shoal import api\nfrom shoal.storage import exchange\n"
            "carry_out = exchange.Exchange.carry_out\n"
            "def killed(self):\n"
            f"    {'carry_out(self)' if when == 'after' else 'pass'}\n    os._exit(9)\n"
            "exchange.Exchange.carry_out = killed\napi.run(Path(sys.argv[1]))\n"
        )
        assert commands.run(tmp_path / "job.toml", script=script).code == 9
        ledger = Ledger(tmp_path / "adult.ledger")
        rows = ledger.store.entries()
        assert [row.state for row in rows] == [store.PENDING]
        there = when == "after"
        assert (tmp_path / "release.csv").exists() == there and len(ledger.entries()) == there
        with ledger.store.locked():
            ledger.recover()
        assert [row.state for row in ledger.store.entries()] == [store.PUBLISHED] * there


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    return int(stop.value.code or 0)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from jsonschema import validate

    from shoal.cli import schemas

    monkeypatch.chdir(tmp_path)
    shoal.samples.adult().select("age", "sex", "race", "occupation").head(300).write_csv("adult.csv")
    table = ("adult.csv", "--quasi", "age,sex,race", "--sensitive", "occupation", "--seed", "1", "--ledger", "l.db")
    assert run("anonymize", *table, "-o", "one.csv", "--k", "5", "--algorithm", "mondrian") == 0
    assert run("anonymize", *table, "-o", "two.csv", "--k", "5", "--algorithm", "k-member") == 3
    assert "one.csv" in capsys.readouterr().err and not Path("two.csv").exists()
    assert run("anonymize", *table, "-o", "two.csv", "--k", "9", "--algorithm", "coarsening") == 0
    capsys.readouterr()
    for command, more in (("list", ()), ("check", ()), ("export", ("-o", "out.json", "--overwrite"))):
        assert run("ledger", command, "l.db", *more, "--json") == 0
        validate(json.loads(capsys.readouterr().out), schemas.schema(f"ledger-{command}"))
        assert run("ledger", command, "l.db", *more) == 0
        assert "2 releases" in capsys.readouterr().out
    assert len(json.loads(Path("out.json").read_text())["releases"]) == 2
    assert run("anonymize", *table[:-1], "one.csv", "-o", "three.csv", "--k", "5") == 2


def test_sessions_of_overlap_are_entered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    pl.DataFrame({"name": [f"p{n}" for n in range(20)]}).write_csv("mine.csv")
    pl.DataFrame({"name": [f"p{n}" for n in range(5, 40)]}).write_csv("yours.csv")
    assert run("overlap", "start", "mine.csv", "--column", "name", "-o", "ask", "--state", "state") == 0
    assert run("overlap", "answer", "yours.csv", "ask", "--column", "name", "-o", "reply", "--ledger", "yours.db") == 0
    assert (
        run("overlap", "finish", "mine.csv", "reply", "--column", "name", "--state", "state", "--ledger", "l.db") == 0
    )
    (answered,), (finished,) = (Ledger(name).store.sessions() for name in ("yours.db", "l.db"))
    assert (answered["step"], answered["other"]) == ("answer", 20)
    assert (finished["step"], finished["own"], finished["other"]) == ("finish", 20, 35)
    assert b"p17" not in Path("l.db").read_bytes()
    capsys.readouterr()
    assert run("ledger", "list", "l.db") == 0 and "1 session of overlap" in capsys.readouterr().out


def test_everything_that_was_published_before_is_looked_at(tmp_path: Path) -> None:
    """Not the last release alone: somebody who left and came back is in an earlier one."""
    ledger, data = Ledger(tmp_path / "four.ledger"), TestGolden.data
    for count in range(3):
        assert len(ledger.history(data).releases) == count
        entered(ledger, data, parted(data, [0, 0, 0, 0], shoal.KAnonymity(k=4)))
