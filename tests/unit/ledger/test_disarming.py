"""What would switch the ledger's judgement off, and does not: each of these series was published in full once."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.cli import main
from shoal.core.release_history import LocatedRelease, Promise, PublishedValues
from shoal.core.run import Run
from shoal.errors import DisclosureError, InfeasibleError, InputError, ParameterError
from shoal.ledger import Ledger, verdicts
from shoal.ledger.judgement import judge

PEOPLE = (
    shoal.samples.adult()
    .select("age", "sex", "race", "occupation")
    .head(200)
    .with_row_index("person")
    .with_columns(pl.col("person").cast(pl.String).str.zfill(4))
)
QUASI = ["age", "sex", "race"]
VALUES, K = "distinct-l-diversity:l=3", "k-anonymity:k=5"


def read(table: pl.DataFrame = PEOPLE, sensitive: str | None = "occupation", **roles: object) -> shoal.Dataset:
    given = roles or {"identifiers": ["person"]}
    return shoal.read(table, quasi=QUASI, sensitive=[sensitive] if sensitive else [], **given)  # type: ignore[arg-type]


@pytest.fixture
def published(tmp_path: Path) -> Callable[..., shoal.Release]:
    """Publishes a table by the ledger of this test."""

    def publish(data: shoal.Dataset, model: str, algorithm: str, **more: object) -> shoal.Release:
        return shoal.anonymize(data, model, algorithm=algorithm, seed=1, ledger=tmp_path / "l.ledger", **more)  # type: ignore[arg-type]

    return publish


Publish = Callable[..., shoal.Release]


def changed(person: str, value: str) -> pl.DataFrame:
    """The table with another value for one person."""
    chosen = pl.col("person") == person
    return PEOPLE.with_columns(pl.when(chosen).then(pl.lit(value)).otherwise(pl.col("occupation")).alias("occupation"))


class TestChangedValues:
    def test_a_changed_value_leaves_the_others_judged(self, published: Publish) -> None:
        published(read(), VALUES, "mondrian")
        with pytest.raises(DisclosureError, match=r"composition: .* of 200 people") as refused:
            published(read(changed("0007", "Adm-clerical")), VALUES, "k-member")
        (breach,) = refused.value.breaches
        assert breach.people > 80 and breach.left == 1  # type: ignore[attr-defined]
        assert "Adm-clerical" not in str(refused.value)

    def test_whoever_is_concerned_cannot_be_judged_and_that_stops_the_run(self, published: Publish) -> None:
        published(read(), K, "mondrian")
        with pytest.raises(DisclosureError, match=r"not judged: occupation: no table fits .* \d+ people") as refused:
            published(read(changed("0007", "Adm-clerical")), K, "coarsening")
        assert not refused.value.breaches and "--allow-unjudged occupation" in str(refused.value)
        release = published(read(changed("0007", "Adm-clerical")), K, "coarsening", allow_unjudged=["occupation"])
        assert any("values were changed" in note for note in release.notes)

    def test_only_their_own_groups_are_concerned(self) -> None:
        """Two groups that have nothing to do with one another; in one of them a value changed."""
        values = [(value, group) for group in (0, 1) for value in "abc"]
        first = seen([0, 0, 0, 1, 1, 1], values, l=2)
        second = seen([0, 0, 0, 1, 1, 1], [*values[:2], ("d", 0), *values[3:]], l=2)
        found = judge([first], second, Run())
        assert not found.breaches, "two values are left"
        (unjudged,) = found.unjudged
        assert unjudged.name == "ill" and "3 people (50 %)" in unjudged.reason


class TestColumns:
    def test_a_release_in_between_without_the_column(self, published: Publish) -> None:
        published(read(), VALUES, "mondrian")
        published(read(PEOPLE.drop("occupation"), None), K, "mondrian")
        with pytest.raises(DisclosureError, match=r"composition: together with release 1 "):
            published(read(), VALUES, "k-member")

    @pytest.mark.parametrize("name", ["job", "OCCUPATION"])
    def test_a_column_under_another_name(self, published: Publish, name: str) -> None:
        published(read(), VALUES, "mondrian")
        renamed = read(PEOPLE.rename({"occupation": name}), name)
        with pytest.raises(DisclosureError, match="composition"):
            published(renamed, VALUES, "k-member")

    def test_a_new_column_is_taken_for_an_old_one_only_until_somebody_says_otherwise(self, published: Publish) -> None:
        answers = PEOPLE.with_columns(
            smokes=pl.Series(["yes", "no"] * 100), drives=pl.Series(["yes", "yes", "no", "no"] * 50)
        )
        published(read(answers.select("person", *QUASI, "smokes"), "smokes"), K, "mondrian")
        other = read(answers.select("person", *QUASI, "drives"), "drives")
        with pytest.raises(DisclosureError, match="'smokes' had in earlier releases"):
            published(other, K, "coarsening")
        published(other, K, "coarsening", allow_unjudged=["drives"])

    def test_a_sensitive_column_that_was_published_as_it_is(self, published: Publish) -> None:
        published(read(PEOPLE, None), K, "mondrian", allow_plain=["occupation"])
        with pytest.raises(DisclosureError, match="not as a sensitive attribute"):
            published(read(), K, "coarsening")
        published(read(), K, "coarsening", allow_unjudged=["occupation"])

    def test_values_in_another_spelling(self, published: Publish) -> None:
        published(read(), VALUES, "mondrian")
        spelled = PEOPLE.with_columns(pl.col("occupation").str.to_uppercase())
        with pytest.raises(DisclosureError, match="composition") as refused:
            published(read(spelled), VALUES, "k-member")
        assert "not judged" not in str(refused.value)


class TestPromises:
    @pytest.mark.parametrize("turn", [1, -1])
    def test_a_release_that_promises_no_k(self, published: Publish, turn: int) -> None:
        first, second = [(K, "mondrian"), (VALUES, "k-member")][::turn]
        published(read(), *first)
        with pytest.raises(DisclosureError, match="complementary-release") as refused:
            published(read(), *second)
        found = {each.attack: each for each in refused.value.breaches}  # type: ignore[attr-defined]
        assert found["complementary-release"].people > 60 and found["complementary-release"].bound == 0.2

    def test_each_release_is_held_to_its_own(self) -> None:
        """Six people in two classes of three, which one of the releases promises."""
        first, second = seen([0, 0, 0, 1, 1, 1], [], k=2), seen([0, 0, 0, 1, 1, 1], [], k=3)
        assert not judge([first], second, Run()).breaches
        crossing = seen([0, 0, 1, 1, 1, 1], [], k=2)
        (breach,) = judge([second], crossing, Run()).breaches
        assert (breach.people, breach.worst, breach.bound) == (1, 1.0, 1 / 3), "the third, who is alone in both"

    def test_fewer_values_than_promised_though_none_of_them_is_more_certain(self) -> None:
        first = seen([0] * 10 + [-2] * 6, [*[("a", 0)] * 8, ("b", 0), ("c", 0)], l=3)
        second = seen([0] + [-2] * 9 + [0] * 6, [("a", 0), *[("b", 0)] * 5, ("d", 0)])
        (breach,) = judge([first], second, Run()).breaches
        assert (breach.attack, breach.people, breach.left) == ("composition", 10, 2)
        assert 0.8 < breach.worst < 0.83, "of the other nine; the first one may have two values, each less likely"

    def test_coarsening_keeps_what_each_release_promises(self, published: Publish) -> None:
        """Eight newcomers are enough for the first release's k, and not for that of the second."""
        published(read(PEOPLE[:192]), K, "mondrian")
        with pytest.raises(InfeasibleError, match="8 of 200 people hide among fewer than 12"):
            published(read(), "k-anonymity:k=12", "coarsening")
        assert published(read(), "k-anonymity:k=8", "coarsening").suppressed == 0


class TestPeople:
    @pytest.mark.parametrize(
        "spelled",
        [
            pl.col("person").cast(pl.Int64),
            pl.lit(" ") + pl.col("person").cast(pl.Int64).cast(pl.String) + pl.lit("\u00a0"),
            pl.lit("000") + pl.col("person"),
        ],
    )
    def test_identifiers_in_another_spelling(self, published: Publish, spelled: pl.Expr) -> None:
        published(read(), K, "mondrian")
        with pytest.raises(DisclosureError, match="complementary-release"):
            published(read(PEOPLE.with_columns(spelled.alias("person"))), K, "k-member")

    def test_names_in_another_case(self, published: Publish) -> None:
        named = PEOPLE.with_columns(pl.lit("Zoë ") + pl.col("person"))
        published(read(named.with_columns(pl.col("literal").alias("person")).drop("literal")), K, "mondrian")
        other = PEOPLE.with_columns(person=pl.lit("ZOE\u0308\u200b  ") + pl.col("person"))
        with pytest.raises(DisclosureError, match="complementary-release"):
            published(read(other), K, "k-member")

    def test_the_share_that_is_known_is_told_and_nobody_stops_the_run(self, published: Publish, tmp_path: Path) -> None:
        published(read(), K, "mondrian")
        strangers = PEOPLE.with_columns(person=pl.lit("x") + pl.col("person"))
        with pytest.raises(InputError, match="knows nobody of this table by 'person'"):
            published(read(strangers), K, "mondrian")
        release = published(read(pl.concat([PEOPLE, strangers])), K, "coarsening")
        assert any("knows 200 of 400 people (50 %)" in note for note in release.notes)
        assert len(Ledger(tmp_path / "l.ledger").entries()) == 2

    def test_values_of_people_who_have_several_records(self, published: Publish) -> None:
        visits = pl.concat([PEOPLE, PEOPLE[:50].with_columns(age=pl.col("age") + 1)])
        published(read(visits, person="person"), VALUES, "mondrian")
        with pytest.raises(DisclosureError, match=r"composition: .* of 200 people"):
            published(read(visits, person="person"), VALUES, "k-member")

    def test_people_who_have_several_records_are_found(self, published: Publish) -> None:
        visits = pl.concat([PEOPLE, PEOPLE[:50].with_columns(age=pl.col("age") + 1)])
        published(read(visits, person="person"), K, "mondrian")
        with pytest.raises(DisclosureError, match=r"complementary-release: .* of 200 people"):
            published(read(visits, person="person"), K, "k-member")
        published(read(visits, person="person"), "k-anonymity:k=9", "coarsening")


ADULT = """
import resource, sys, time
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
import shoal
data = shoal.read(shoal.samples.adult().select({columns}), quasi={quasi}, sensitive=["occupation"])
shoal.anonymize(data, "k-anonymity:k=5", algorithm="mondrian", seed=1, ledger=sys.argv[1])
try:
    shoal.anonymize(data, "k-anonymity:k=5", algorithm="k-member", seed=1, ledger=sys.argv[1])
except shoal.errors.DisclosureError as error:
    # Not getrusage, which also counts what the process that started this one had.
    peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
    print(error, peak, sep="\\n")
"""


class TestEffort:
    def test_memory_on_adult(self, tmp_path: Path) -> None:
        quasi = ["age", "workclass", "sex", "race", "native-country"]
        script = ADULT.format(columns=[*quasi, "occupation"], quasi=quasi)
        ran = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path / "adult.ledger")], capture_output=True, text=True, timeout=300
        )
        assert ran.returncode == 0, ran.stderr
        told, peak = ran.stdout.splitlines()
        assert "complementary-release" in told and "of 30,162 people" in told
        assert int(peak) * 1024 < 2 << 30

    def test_what_cannot_be_counted_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Eight people in pairs, then in other pairs: one ring of groups."""
        first = seen([0, 0, 1, 1, 2, 2, 3, 3], [(value, group) for group in range(4) for value in "ab"])
        second = seen([3, 0, 0, 1, 1, 2, 2, 3], [(value, group) for group in range(4) for value in "ab"], k=1)
        third = seen([0, 0, 0, 1, 1, 1, 1, 1], [("a", 0), ("b", 0), ("b", 0), *[("a", 1)] * 3, ("b", 1), ("b", 1)])
        assert not judge([first, second], third, Run()).unjudged
        monkeypatch.setattr("shoal.adversary.world_count.CELLS", 10)
        (unjudged,) = judge([first, second], third, Run()).unjudged
        assert unjudged.name == "ill" and "8 people (100 %) hang together too widely" in unjudged.reason
        monkeypatch.undo()
        (late,) = judge([first, second], third, Run(), seconds=0.0).unjudged
        assert "within 0 seconds" in late.reason

    def test_estimates_come_in_blocks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        generator = np.random.default_rng(1)
        groups, others = generator.integers(0, 8, 60), generator.integers(0, 8, 60)
        values = generator.choice(list("abcde"), 60)
        made = [
            seen(np.unique(each, return_inverse=True)[1].tolist(), list(zip(values, each.tolist(), strict=True)), l=2)
            for each in (groups, others)
        ]
        monkeypatch.setattr("shoal.ledger.judgement.NODES", 1_000)
        whole = judge(made[:1], made[1], Run())
        monkeypatch.setattr("shoal.adversary.group_memberships.ENTRIES", 3)
        assert judge(made[:1], made[1], Run()).breaches == whole.breaches


def seen(groups: list[int], told: list[tuple[str, int]], k: int = 1, l: int = 1) -> LocatedRelease:  # noqa: E741
    """A release of people in groups (-2: not in its table), and what these show."""
    there = [person for person, group in enumerate(groups) if group != -2]
    places = np.array([groups[person] for person in there], np.int32)
    texts = sorted({value for value, _ in told})
    counts = {(group, texts.index(value)): 0 for value, group in told}
    for value, group in told:
        counts[group, texts.index(value)] += 1
    columns = np.array(sorted(counts), np.int32).reshape(-1, 2).T
    spread = PublishedValues(
        tuple(texts), columns[0], columns[1], np.array([counts[key] for key in sorted(counts)], np.int64)
    )
    return LocatedRelease(
        name="release", ids=np.array(there, np.uint64) + np.uint64(1), classes=places, groups=places, linking=("ill",),
        shown=("ill",), values={"ill": spread} if told else {}, promise=Promise(k=k, l=l),
    )  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of three releases and a session."""
    file = tmp_path_factory.mktemp("ledger") / "l.ledger"
    data = read(PEOPLE[:60])
    for _ in range(3):
        shoal.anonymize(data, K, algorithm="coarsening", seed=1, ledger=file)
    Ledger(file).enter_session({"step": "finish"})
    return file


class TestEntries:
    """Nothing is taken out of a ledger, or changed in it, unnoticed."""

    @pytest.mark.parametrize(
        ("statement", "said"),
        [
            ("DELETE FROM releases", "last entries are missing"),
            ("DELETE FROM releases WHERE number = 3", "last entries are missing"),
            ("DELETE FROM releases WHERE number = 1", "release 1 is missing"),
            ("UPDATE releases SET number = 5 - number WHERE number > 1", "release 2 was changed"),
            ("UPDATE releases SET state = 'pending' WHERE number = 3", "release 3 was changed"),
            ("UPDATE releases SET seen = NULL WHERE number = 2", "release 2 was changed"),
            ("UPDATE releases SET manifest = '{}' WHERE number = 2", "release 2 was changed"),
            ("DELETE FROM sessions", "last entries are missing"),
            ("DELETE FROM facts WHERE name = 'people'", "told apart was changed"),
            ("DELETE FROM facts", "last entries are missing"),
        ],
    )
    def test_a_changed_ledger(
        self, made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], statement: str, said: str
    ) -> None:
        file = tmp_path / "l.ledger"
        for name in (made.name, made.name + ".key"):
            shutil.copy2(made.with_name(name), tmp_path / name)
        with sqlite3.connect(file) as database:
            if "5 - number" in statement:  # two entries change their places
                database.execute("UPDATE releases SET number = 9 WHERE number = 2")
                database.execute("UPDATE releases SET number = 2 WHERE number = 3")
                database.execute("UPDATE releases SET number = 3 WHERE number = 9")
            else:
                database.execute(statement)
        with pytest.raises(InputError, match=said):
            shoal.anonymize(read(PEOPLE[:60]), K, algorithm="mondrian", seed=1, ledger=file)
        with pytest.raises(InputError, match=said):
            Ledger(file).entries()
        for arguments in ([], ["--json"]):
            with pytest.raises(SystemExit) as stop:
                main(["ledger", "check", str(file), *arguments])
            assert stop.value.code == 1 and said in capsys.readouterr().out

    def test_a_ledger_with_the_key_of_another(self, made: Path, tmp_path: Path) -> None:
        shutil.copy2(made, tmp_path / "l.ledger")
        (tmp_path / "l.ledger.key").write_text("ab" * 32)
        with pytest.raises(InputError, match="the key beside it is that of another one"):
            Ledger(tmp_path / "l.ledger").entries()

    def test_a_key_without_its_ledger(self, made: Path, tmp_path: Path) -> None:
        shutil.copy2(made.with_name("l.ledger.key"), tmp_path)
        PEOPLE[:60].write_csv(tmp_path / "people.csv")
        before = sorted(tmp_path.iterdir())
        for attempt in (
            lambda: shoal.anonymize(read(PEOPLE[:60]), K, algorithm="mondrian", ledger=tmp_path / "l.ledger"),
            lambda: Ledger(tmp_path / "l.ledger").check_writable(),
            lambda: Ledger(tmp_path / "l.ledger").enter_session({}),
            lambda: Ledger(tmp_path / "l.ledger").entries(),
        ):
            with pytest.raises(InputError, match="put the ledger back beside its key"):
                attempt()
        with pytest.raises(SystemExit) as stop:
            table = [str(tmp_path / "people.csv"), "--quasi", "age,sex,race", "--sensitive", "occupation"]
            main(
                ["anonymize", *table, "--k", "5", "--ledger", str(tmp_path / "l.ledger"), "-o", str(tmp_path / "o.csv")]
            )
        assert stop.value.code == 2 and sorted(tmp_path.iterdir()) == before

    def test_what_was_allowed_is_in_the_entry(self, published: Publish, tmp_path: Path) -> None:
        published(read(), K, "mondrian")
        shoal.anonymize(
            read(), algorithm="rank-swapping", seed=1, ledger=tmp_path / "l.ledger", allow_unjudged="release:this"
        )
        (_, entry) = Ledger(tmp_path / "l.ledger").entries()
        assert [each.name for each in entry.unjudged] == ["release:this"]
        assert "perturbed" in json.dumps(entry.as_dict()["not_judged"])
        assert [each.holds for each in verdicts(Ledger(tmp_path / "l.ledger"), Run())] == [True, True]


def test_the_option_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    PEOPLE.write_csv("people.csv")
    roles = ("--quasi", "age,sex,race", "--sensitive", "occupation", "--identifiers", "person", "--seed", "1")
    made = ("anonymize", "people.csv", *roles, "--ledger", "l.db")

    def run(*arguments: str) -> int:
        with pytest.raises(SystemExit) as stop:
            main(list(arguments))
        return int(stop.value.code or 0)

    assert run(*made, "--k", "5", "--algorithm", "mondrian", "-o", "one.csv") == 0
    swapped = ("--algorithm", "rank-swapping", "-o", "two.csv")
    assert run(*made, *swapped) == 3 and "--allow-unjudged release:this" in capsys.readouterr().err
    assert run(*made, *swapped, "--allow-unjudged", "release:9") == 2
    assert run(*made, *swapped, "--allow-unjudged", "release:this,occupation", "--save-job", "job.toml") == 0
    job = shoal.job.load(tmp_path / "job.toml")
    assert job.allow_unjudged == ("release:this", "occupation")
    capsys.readouterr()
    assert run(*made, "--k", "5", "--algorithm", "coarsening", "-o", "three.csv") == 3
    assert "--allow-unjudged release:2" in capsys.readouterr().err
    assert run("ledger", "check", "l.db") == 0 and "1 could not be judged in all respects" in capsys.readouterr().out
    assert run("anonymize", "people.csv", *roles, "--k", "5", "-o", "four.csv", "--allow-unjudged", "occupation") == 2
    with pytest.raises(ParameterError, match="needs a ledger"):
        shoal.anonymize(read(), K, algorithm="mondrian", allow_unjudged=["occupation"])
