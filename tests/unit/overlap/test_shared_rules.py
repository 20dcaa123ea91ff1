"""Rules of three holders: the counts of the joined table, nothing that is too small, and nothing else to read."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from counts import count
from jsonschema import validate

from shoal.cli import main, schemas
from shoal.errors import InputError, ParameterError
from shoal.ledger import Ledger
from shoal.overlap import cardinality, encrypted_counts, points
from shoal.overlap.rules_message import RulesMessage, RulesPlan
from shoal.overlap.shared_rules import RulesHolder, margin, shared_counts, started, take_turn, transactions
from shoal.overlap.sums import add, negate

ITEMS = (("sex", "f"), ("sex", "m"), ("town", "a"), ("town", "b"), ("ill", "yes"))
Rows = list[dict[str, str | None]]


def rows_of(seed: int, size: int) -> Rows:
    generator = np.random.default_rng(seed)
    drawn = zip(*(generator.choice(list(values), size) for values in ("fm", "aab", "ynn")), strict=True)
    return [{"sex": str(sex), "town": str(town), "ill": "yes" if ill == "y" else None} for sex, town, ill in drawn]


def session(plan: RulesPlan, tables: list[Rows], person: str | None = None) -> tuple[bytes, list[bytes], list[Any]]:
    """The finished file, every file that went round, and the holders."""
    message, holders, messages = started(plan), [None] * len(tables), []
    while not RulesMessage.unpacked(message).finished:
        place = len(messages) % len(tables)
        messages.append(message)
        message, holders[place] = take_turn(message, tables[place], holders[place], person=person)
        saved = RulesHolder.loaded(holders[place].saved())
        assert vars(saved) == vars(holders[place])
    return message, messages, holders


def shown(plan: RulesPlan, tables: list[Rows]) -> dict[tuple[int, ...], int]:
    """The itemsets that may be shown, and their counts, from all records in one place."""
    has = [[row[column] == value for column, value in plan.items] for table in tables for row in table]
    counts = {
        itemset: sum(all(row[item] for item in itemset) for row in has)
        for length in range(plan.longest + 1)
        for itemset in combinations(range(len(plan.items)), length)
    }
    return {itemset: number for itemset, number in counts.items() if number >= plan.fewest}


@pytest.fixture
def exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody blurs anything, so that counts can be compared."""
    monkeypatch.setattr(cardinality, "noise", cardinality.spread)


@pytest.mark.parametrize("seed", range(count(2, 20)))
def test_counts_are_those_of_the_joined_table_and_none_is_too_small(exact: None, seed: int) -> None:
    holders = 3 + seed % 2
    plan = RulesPlan(items=ITEMS, holders=holders, fewest=(4, 6, 5)[seed % 3], longest=3)
    tables = [rows_of(10 * seed + place, 14) for place in range(holders)]
    expected = shown(plan, tables)
    found = shared_counts(session(plan, tables)[0])
    assert {(): found.total, **found.counts} == expected
    assert 6 < len(expected) < 18, "some pass and some do not"


def test_what_is_shown_is_blurred_by_every_holder() -> None:
    """Of items that nobody has, what all holders added together, read with all parts of the key: the noise of three,
    whose spread is known. Nobody's own noise is zero everywhere, so that two cannot take the third one's off."""
    items = tuple(("town", f"t{number}") for number in range(count(60, 400)))
    plan, rows = RulesPlan(items=items, holders=3, fewest=5), [{"town": None}] * 9
    message, holders = started(plan), []
    for _ in range(3):
        message, holder = take_turn(message, rows, None)
        holders.append(holder)
    sums = []
    for holder in holders:
        message, _ = take_turn(message, rows, holder)
        pairs = encrypted_counts.unpacked(RulesMessage.unpacked(message).sums)[len(items) + 2 :]
        keyed = b"".join(first[0].to_bytes(32, "big") for first, _ in pairs)
        for part in holders:
            keyed = points.multiply("point", part.key, keyed)
        sums.append(np.array(encrypted_counts.decrypted(pairs, keyed, 3 * cardinality.spread(5) + 1)))
    weights = np.array(cardinality.weights(5))
    deviation = np.sqrt((np.arange(len(weights)) - cardinality.spread(5)) ** 2 @ weights / weights.sum())
    for own in np.diff(np.stack([np.zeros_like(sums[0]), *sums]), axis=0):
        assert np.abs(own.mean()) < 4 * deviation / np.sqrt(len(own)) and np.count_nonzero(own) > 0.6 * len(own)
    assert 0.6 * deviation * np.sqrt(3) < sums[2].std() < 1.6 * deviation * np.sqrt(3)
    assert (np.abs(sums[2]) <= margin(plan)).mean() > 0.8


def test_margins_are_those_of_as_many_noises() -> None:
    """Nineteen of twenty sums of three draws lie within; beside draws."""
    plan = RulesPlan(items=ITEMS, holders=3, fewest=10)
    draws = [sum(cardinality.noise(10) - cardinality.spread(10) for _ in range(3)) for _ in range(count(2000, 20000))]
    assert np.mean(np.abs(draws) <= margin(plan)) == pytest.approx(0.95, abs=0.02)
    assert np.mean(np.abs(draws) <= margin(plan) - 8) < 0.94


def test_a_blurred_session_shows_what_passed_and_never_less_than_the_fewest() -> None:
    plan = RulesPlan(items=ITEMS, holders=3, fewest=4)
    tables = [rows_of(seed, 20) for seed in range(3)]
    found, expected = shared_counts(session(plan, tables)[0]), shown(plan, tables)
    assert {(), *found.counts} == set(expected) and min(found.counts.values()) >= 4
    most = 3 * cardinality.spread(4)
    assert all(abs(found.counts[itemset] - expected[itemset]) <= most for itemset in found.counts)
    assert found.counts != {itemset: expected[itemset] for itemset in found.counts}
    assert all(0 < rule.confidence <= 1 and 0 < rule.support <= 1 for rule in found.rules(confidence=0.0))


def test_people_count_once_and_may_have_several_values_of_a_column(exact: None) -> None:
    plan = RulesPlan(items=ITEMS[2:], holders=3, fewest=2, people=True)
    own: Rows = [{"who": name, "town": town} for name in ("Ada", "Bo", "Cy", "Di") for town in "ab"]
    own += [{"who": "ada ", "town": "a"}, {"who": None, "town": "a"}, {"who": None, "town": "a"}]
    found = shared_counts(session(plan, [own] * 3, person="who")[0])
    assert found.total == 18 and found.counts == {(0,): 18, (1,): 12, (0, 1): 12}
    with pytest.raises(ParameterError, match="agreed to count people"):
        take_turn(started(plan), own, None)
    with pytest.raises(ParameterError, match="leave the person column out"):
        take_turn(started(RulesPlan(items=ITEMS, holders=3)), own, None, person="who")


def test_too_few_records_tell_nothing() -> None:
    plan = RulesPlan(items=ITEMS, holders=3, fewest=10)
    message, messages, _ = session(plan, [rows_of(seed, 3) for seed in range(3)])
    assert shared_counts(message).total is None and not shared_counts(message).counts
    assert len(messages) == 9, "key, counts, test"


def test_rules(exact: None) -> None:
    plan = RulesPlan(items=ITEMS, holders=3, fewest=2)
    tables = [rows_of(seed, 30) for seed in range(3)]
    found = shared_counts(session(plan, tables)[0])
    counts = {(): found.total, **found.counts}
    rules = found.rules(support=0.1, confidence=0.4)
    for rule in rules:
        given, both = [ITEMS.index(item) for item in rule.given], [ITEMS.index(i) for i in (*rule.given, rule.then)]
        assert rule.count == counts[tuple(sorted(both))] and rule.support == rule.count / 90 >= 0.1
        assert rule.confidence == rule.count / counts[tuple(given)] >= 0.4
    assert rules and len(found.rules(confidence=0.0)) > len(rules)


@pytest.fixture(scope="module")
def watched() -> tuple[list[RulesMessage], list[RulesHolder]]:
    """A session in which nobody is ill but two people of the third holder."""
    tables = [[{**row, "ill": None} for row in rows_of(seed, 20)] for seed in range(3)]
    tables[2][0]["ill"] = tables[2][1]["ill"] = "yes"
    message, messages, holders = session(RulesPlan(items=ITEMS, holders=3, fewest=5), tables)
    assert (4,) not in shared_counts(message).counts
    return [RulesMessage.unpacked(each) for each in (*messages, message)], holders


class TestWhatCanBeRead:
    def test_two_holders_together_cannot_read_the_third_ones_count(self, watched) -> None:
        """With all three parts of the key the encrypted count is 2; with two it is nothing."""
        messages, holders = watched
        after_counts = next(each for each in messages if each.round == 2)
        pair = encrypted_counts.unpacked(after_counts.sums)[after_counts.candidates.index((4,))]

        def read(parts: list[RulesHolder]) -> int | None:
            keyed = pair[0][0].to_bytes(32, "big")
            for holder in parts:
                keyed = points.multiply("point", holder.key, keyed)
            return small_number(pair[1], points.lift(keyed))

        assert read(holders) == 2
        assert [read([one, other]) for one, other in combinations(holders, 2)] == [None, None, None]

    def test_a_test_tells_whether_and_not_which(self, watched) -> None:
        """Whoever has the last turn sees the pairs of a test without the key. They are the same or random; without
        fresh factors they would tell the count."""
        messages, holders = watched
        before = next(each for each in messages if each.round == 2 and each.place == 2)
        place = before.candidates.index((4,))

        def apart(joined: bytes) -> list[int | None]:
            pairs = [(joined[at : at + 32], joined[at + 32 : at + 64]) for at in range(0, len(joined), 64)]
            return [small_number(points.lift(second), points.lift(first)) for first, second in pairs]

        last_sees = encrypted_counts.blinded(holders[2].key, before.working, 5)[place * 320 : (place + 1) * 320]
        assert sorted(map(str, apart(last_sees))) == ["0", *["None"] * 4]
        first = next(each for each in messages if each.round == 2 and each.place == 0)
        naked = encrypted_counts.tests([encrypted_counts.unpacked(first.sums)[place]], 5)
        for holder in holders:
            pairs = [naked[at : at + 64] for at in range(0, len(naked), 64)]
            naked = b"".join(points.multiply("point", holder.key, pair[:32]) + pair[32:] for pair in pairs)
        assert apart(naked) == [2, 1, 0, 1, 2], "what the fresh factors are for"

    def test_only_what_passed_is_ever_read(self, watched) -> None:
        messages, _ = watched
        for each in messages:
            if each.round % 2 and each.place:
                assert len(each.working) == 32 * len(each.unread)
            assert (4,) not in each.passed

    def test_the_same_counts_look_different_each_time(self) -> None:
        public = points.pack(points.of(12345))[:32]
        once, again = (encrypted_counts.encrypted(public, [3, 0]) for _ in range(2))
        assert not {point for pair in once for point in pair} & {point for pair in again for point in pair}


def small_number(point, mask) -> int | None:
    """The number, up to 30 in size, that a point is apart from another one, whichever of the two points with its x."""
    for each in (mask, negate(mask)):
        if point[0] == each[0]:
            return 0
        (difference,) = add([point], [negate(each)])
        for number in range(1, 31):
            if points.of(number)[0] == difference[0]:
                return number
    return None


def test_large_counts_are_read() -> None:
    key = points.draw()
    public = points.multiply("point", key, points.pack(points.of(1))[:32])
    numbers = [1, 4095, 4096, 4097, 8192, 70_001]
    pairs = encrypted_counts.encrypted(public, numbers)
    keyed = points.multiply("point", key, b"".join(first[0].to_bytes(32, "big") for first, _ in pairs))
    assert encrypted_counts.decrypted(pairs, keyed) == numbers


@pytest.mark.parametrize(
    "wrong",
    [
        {"holders": 2}, {"fewest": 1}, {"longest": 5}, {"items": ()}, {"items": (("sex", "f"), ("Sex ", "F"))},
        {"items": (("sex", ""),)}, {"session": "short"},
    ],
)  # fmt: skip
def test_plans_that_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        RulesPlan(**{"items": ITEMS, "holders": 3, **wrong})


def test_turns_that_are_refused() -> None:
    plan, rows = RulesPlan(items=ITEMS, holders=3, fewest=2), rows_of(1, 10)
    first, one = take_turn(started(plan), rows, None)
    second, two = take_turn(first, rows, None)
    third, three = take_turn(second, rows, None)
    for message, table, holder, reason in (
        (started(plan), rows, one, "you had this turn before"),
        (second, rows, one, "turn of holder 3, and you are holder 1"),
        (third, rows, None, "secret state of it is missing"),
        (third, rows[1:], one, "not the one that the session was started with"),
        (started(RulesPlan(items=ITEMS, holders=3)), rows, one, "another session"),
        (third[:-1] + b"}", rows, one, "damaged or cut short|not the file"),
        (third[:-9], rows, one, "damaged or cut short|not the file"),
        (b"", rows, one, "not the file"),
        (third.replace(b'"turn": 3', b'"turn": 4'), rows, two, "not the file"),
        (third.replace(b'"candidates": [[]', b'"candidates": [[9]'), rows, one, "not the file"),
    ):
        with pytest.raises(InputError, match=reason):
            take_turn(message, table, holder)
    with pytest.raises(InputError, match="not finished: it is the turn of holder 1"):
        shared_counts(third)
    fourth, _ = take_turn(third, rows, one)
    known = RulesMessage.unpacked(fourth)
    off = RulesMessage(**{**vars(known), "sums": b"\1" * len(known.sums)}).packed()
    with pytest.raises(InputError, match="not on the curve"):
        take_turn(off, rows, two)
    with pytest.raises(InputError, match="not the state"):
        RulesHolder.loaded(three.saved()[:-5])


def test_spellings_are_made_alike() -> None:
    has = transactions([{"Town": " ROME"}, {"Town": None}, {"Town": "17.0"}], [("town", "rome"), ("town", "17")])
    assert has.tolist() == [[True, False], [False, False], [False, True]]


HOLDER = """
import sys, time
from pathlib import Path
from shoal.overlap.rules_message import RulesMessage
from shoal.overlap.shared_rules import take_turn

post, place, holder = Path(sys.argv[1]), int(sys.argv[2]), None
rows = [dict(zip(("sex", "town", "ill"), line.split(","))) for line in Path("own.csv").read_text().split()]
turn = place
while not (post / "done").exists():
    if (post / str(turn)).exists():
        message, holder = take_turn((post / str(turn)).read_bytes(), rows, holder)
        known, new = RulesMessage.unpacked(message), post / f"new{place}"
        new.write_bytes(message)
        new.rename(post / ("done" if known.finished else str(known.turn)))
        turn += known.plan.holders
    time.sleep(0.02)
"""


def test_three_processes_in_folders_of_their_own(tmp_path: Path) -> None:
    """Nothing passes between them but the file that goes round."""
    plan = RulesPlan(items=ITEMS, holders=3, fewest=3)
    tables = [rows_of(seed, 20) for seed in range(3)]
    (tmp_path / "post").mkdir()
    (tmp_path / "post" / "0").write_bytes(started(plan))
    processes = []
    for place, table in enumerate(tables):
        folder = tmp_path / f"holder{place}"
        folder.mkdir()
        lines = [",".join(value or "no" for value in row.values()) for row in table]
        (folder / "own.csv").write_text("\n".join(lines))
        command = [sys.executable, "-c", HOLDER, str(tmp_path / "post"), str(place)]
        processes.append(subprocess.Popen(command, cwd=folder))
    assert [process.wait(timeout=120) for process in processes] == [0, 0, 0]
    found = shared_counts((tmp_path / "post" / "done").read_bytes())
    assert {(), *found.counts} == set(shown(plan, tables))


def ended(*arguments: object) -> int:
    with pytest.raises(SystemExit) as end:
        main([*map(str, arguments)])
    return int(end.value.code or 0)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_by_the_command(
    exact: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = RulesPlan(items=ITEMS, holders=3, fewest=3)
    tables = [rows_of(seed, 20) for seed in range(3)]
    (tmp_path / "items.csv").write_text("column,value\n" + "".join(f"{column},{value}\n" for column, value in ITEMS))
    for place, table in enumerate(tables):
        lines = ["sex,town,ill", *(",".join(value or "" for value in row.values()) for row in table)]
        (tmp_path / f"h{place}").mkdir()
        (tmp_path / f"h{place}" / "own.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.chdir(tmp_path)
    assert ended("rules", "start", "items.csv", "--holders", 3, "--fewest", 3, "-o", "file0") == 0
    for turn in range(18):
        monkeypatch.chdir(tmp_path / f"h{turn % 3}")
        given = ("rules", "turn", "own.csv", f"../file{turn}", "--state", "own.state", "-o", f"../file{turn + 1}")
        if turn == 4:  # another holder's turn, and a table that has changed
            before = contents(tmp_path)
            assert ended("rules", "turn", "own.csv", "../file3", "--state", "own.state", "-o", "../again") == 2
            (Path("changed.csv")).write_text(Path("own.csv").read_text() + "f,a,\n")
            assert ended("rules", "turn", "changed.csv", *given[3:]) == 2
            Path("changed.csv").unlink()
            assert contents(tmp_path) == before and "Traceback" not in capsys.readouterr().err
        ledger = ("--ledger", "own.ledger") if turn % 3 == 0 else ()
        assert ended(*given, *ledger) == 0
    assert "send the file to all holders" in " ".join(capsys.readouterr().out.split())
    assert Path("own.state").stat().st_mode & 0o077 == 0
    assert len(Ledger(tmp_path / "h0" / "own.ledger").store.sessions()) == 1, "a session is entered once"
    monkeypatch.chdir(tmp_path / "h0")
    assert (
        ended("rules", "show", "../file18", "--json", "--confidence", 0, "-o", "rules.csv", "--state", "own.state") == 0
    )
    printed = json.loads(capsys.readouterr().out)
    validate(printed, schemas.schema("rules"))
    expected = shown(plan, tables)
    assert printed["total"] == expected.pop(()) and printed["itemsets"] == len(expected)
    assert len(printed["rules"]) == 2 * sum(len(itemset) == 2 for itemset in expected)
    assert len(Path("rules.csv").read_text().splitlines()) == len(printed["rules"]) + 1
    assert not Path("own.state").exists(), "the key is done with"
    assert ended("rules", "show", "../file18") == 0
    assert "rules among about 60 records of 3 holders" in " ".join(capsys.readouterr().out.split())
    assert ended("rules", "start", "../items.csv", "--holders", 3, "-o", "other") == 0
    limit = ("--ledger", "own.ledger", "--sessions", 1)
    assert ended("rules", "turn", "own.csv", "other", "--state", "new.state", "-o", "next", *limit) == 3
    assert not Path("new.state").exists() and not Path("next").exists()
