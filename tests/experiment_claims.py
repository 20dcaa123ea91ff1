"""What the pages of the experiments say in numbers, recomputed from the figures that stand on them.

A claim is a phrase of a page as it must read; those of the set-up come from the experiment's script.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from itertools import pairwise
from math import ceil, floor, log2
from pathlib import Path
from statistics import mean
from typing import Any

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "experiments"
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def numbers(text: str) -> list[float]:
    return [float(each.replace(",", "")) for each in NUMBER.findall(text)]


def first(text: str) -> float:
    return numbers(text)[0]


@dataclass(frozen=True)
class ExperimentPage:
    name: str

    @cached_property
    def text(self) -> str:
        return (FOLDER / f"{self.name}.md").read_text(encoding="utf-8")

    @cached_property
    def script(self) -> Any:
        """The script that fills it."""
        if str(ROOT) not in sys.path:
            sys.path.append(str(ROOT))
        return import_module(f"experiments.{self.name}")

    @cached_property
    def says(self) -> str:
        """What it says in words, above the figures, in one line and without names of files."""
        introduction, rest = self.text.split("## What it says")
        text = f"{introduction} {rest.split(chr(10) + '## ')[0]}"
        return " ".join(re.sub(r"\[X\d\w?\]\(x\d\w?\.md\)|\(x\d\w?\.svg\)|^# X\d\w?:", "…", text).split())

    @cached_property
    def measured(self) -> str:
        return self.text.split("<!-- measured -->")[1].split("<!-- end -->")[0]

    @cached_property
    def tables(self) -> list[list[dict[str, str]]]:
        """Its tables: a row each, cells by their headings."""
        found: list[list[dict[str, str]]] = []
        for block in re.findall(r"(?:^\|.*\n?)+", self.measured, re.MULTILINE):
            lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in block.strip().splitlines()]
            found.append([dict(zip(lines[0], line, strict=True)) for line in lines[2:]])
        return found

    def by(self, heading: str, table: int = 0) -> dict[str, dict[str, str]]:
        return {row[heading]: row for row in self.tables[table]}


PAGES = {path.stem: ExperimentPage(path.stem) for path in sorted(FOLDER.glob("x*.md"))}


def to(values: list[float], digits: int = 0, joint: str = " to ") -> str:
    return f"{min(values):.{digits}f}{joint}{max(values):.{digits}f}"


@dataclass(frozen=True)
class Crossings:
    """Where the curves of a balance meet, as its page tells: of the means, and the first one of each sample."""

    means: list[tuple[float, float]]
    samples: int
    ends: tuple[float, float]
    values: str

    @classmethod
    def of(cls, page: ExperimentPage, reading: str) -> Crossings:
        line = next(line for line in page.measured.splitlines() if line.startswith(f"**{reading}**"))
        means = [(float(k), float(value)) for k, value in re.findall(r"at k = ([\d.]+) \((\d+) %\)", line)]
        low, high, values = re.findall(r"between k = ([\d.]+) and ([\d.]+), at (\d+ to \d+ %)", line)[0]
        return cls(means, int(re.findall(r"those of (\d+) of 10", line)[0]), (float(low), float(high)), values)


EVERY, WITHOUT = "All quasi-identifiers", "Without age"
PRIVACY, NO_AGE, UTILITY, GUESS = "privacy %", "privacy %, without age", "utility %", "most frequent value %"


def balance(page: ExperimentPage) -> tuple[dict[int, dict[str, list[float]]], Crossings, Crossings]:
    rows = {int(row["k"]): {name: numbers(cell) for name, cell in row.items()} for row in page.tables[0]}
    return rows, Crossings.of(page, EVERY), Crossings.of(page, WITHOUT)


def x0a(page: ExperimentPage) -> Iterator[str]:
    rows, every, without = balance(page)
    assert page.script.COLUMNS == ("age", "education", "marital-status", "occupation", "race", "native-country")
    middle, least, greatest = rows[3][UTILITY]
    yield f"{middle:.0f} % are classified correctly here ({least:.0f} to {greatest:.0f} % by sample)"
    for name, where in ((PRIVACY, "There privacy is {} % here"), (NO_AGE, "at k = 8 and 9 privacy is {} %")):
        shares = [rows[k][name] for k in (8, 9)]
        most = ceil(max(share[2] for share in shares))
        yield f"{where.format(to([share[0] for share in shares]))}, in no sample more than {most} %"
    assert not every.means and len(without.means) == 1 and without.samples == 10
    yield f"{every.samples} of 10 samples cross, at k = {to([*every.ends])}, at {every.values}"
    yield f"cross at k = {without.means[0][0]}, where both are {without.means[0][1]:.0f} %"
    yield f"all 10 samples cross, between k = {without.ends[0]} and {without.ends[1]}"
    lowest = min(rows, key=lambda k: rows[k][UTILITY][0])
    yield f"falls to about {rows[lowest][UTILITY][0]:.0f} % at k = {lowest}"
    yield f"within {ceil(max(row[UTILITY][0] - row[GUESS][0] for row in rows.values()))} points of the stump at every k"


def x0b(page: ExperimentPage) -> Iterator[str]:
    rows, every, without = balance(page)
    (at, value), (again, later) = every.means
    yield f"cross at k = {at}, where both are {value:.0f} %"
    yield f"at k = {without.means[0][0]} and {without.means[0][1]:.0f} %"
    yield f"anything from k = {to([*every.ends])}"
    yield f"{every.samples} of 10 samples cross, at {every.values}"
    assert without.samples == 10
    yield f"all 10 cross, at k = {to([*without.ends], 1)}"
    yield f"at k = {again} and {later:.0f} %"
    lowest = min(rows, key=lambda k: rows[k][UTILITY][0])
    yield f"from k = {lowest} on utility rises"
    yield f"holds up to k = {lowest} here"
    far = next(k for k, row in rows.items() if row[UTILITY][0] - row[GUESS][0] > 1)
    yield f"Up to k = {far - 1} it is within a point"
    counted = {k: row["privacy %, missing counts"][0] - row[PRIVACY][0] for k, row in rows.items()}
    most = max(counted, key=lambda k: counted[k])
    rest = max(each for k, each in counted.items() if k >= 7)
    yield f"at most {counted[most]:.1f} points at k = {most} and {rest:.1f} from k = 7 on"


def x0c(page: ExperimentPage) -> Iterator[str]:
    rows, every, without = balance(page)
    smaller, _, before = balance(PAGES["x0b"])
    assert not every.means and without.samples == 10
    yield f"cross at k = {without.means[0][0]}, where both are {without.means[0][1]:.0f} %"
    yield f"All 10 samples cross, at k = {to([*without.ends], 1)}"
    yield f"{every.samples} of 10 samples cross**, at k = {to([*every.ends])} and at {every.values}"
    closest = min(row[UTILITY][0] - row[PRIVACY][0] for row in rows.values())
    yield f"within {ceil(closest)} points of each other and do not cross"
    yield f"At k = 10 and 11 privacy is then {to([rows[k][PRIVACY][0] for k in (10, 11)])} %"
    yield f"by {to([smaller[k][PRIVACY][0] - row[PRIVACY][0] for k, row in rows.items()], 1)} points"
    yield f"without age from {before.means[0][0]} to {without.means[0][0]}"
    spreads = [[row[UTILITY][2] - row[UTILITY][1] for k, row in each.items() if k in rows] for each in (rows, smaller)]
    assert mean(spreads[0]) < mean(spreads[1])


def x0d(page: ExperimentPage) -> Iterator[str]:
    rows = [{k: first(row[f"k = {k}"]) for k in page.script.SIZES} for row in page.tables[0]]
    yield f"With {page.script.RECORDS[2]:,} and {page.script.RECORDS[3]:,} records"
    yield f"{to([after[k] / before[k] for before, after in pairwise(rows) for k in before], 1)} times as long"
    (greatest,) = {max(row, key=lambda k: row[k]) for row in rows[2:]}
    yield f"greatest at k = {greatest}"


def x1a(page: ExperimentPage) -> Iterator[str]:
    sizes = page.script.SIZES
    yield f"for k = {sizes[0]} to {sizes[-1]}, without suppression and with a share of {page.script.SHARES[1]}"
    plain, tenth = ([r for r in page.tables[0] if r[""] == each] for each in ("nothing left out", "10% left out"))
    yield f"so there are {plain[0]['every set']} sets"
    yield f"We take {log2(first(plain[0]['every set']) + 1):.0f} columns"
    yield f"{to([first(row['calls']) for row in plain])} of {plain[0]['every set']} without suppression"
    calls = [first(row["calls"]) for row in tenth]
    assert calls == sorted(calls, reverse=True)
    yield f"Calls go up to {calls[0]:,.0f}, and fall with k"
    more = max(first(row["level by level"]) / first(row["calls"]) - 1 for row in tenth)
    yield f"needs up to {more:.0%} more".replace("%", " %")


def x1b(page: ExperimentPage) -> Iterator[str]:
    rows = page.tables[0]
    yield f"{first(page.script.OCC):,.0f} invented people"
    for table in ("Adult", "like OCC"):
        runs: dict[str, list[float]] = {}
        for row in rows:
            if row["table"] == table:
                runs.setdefault(row["notion"], []).append(first(row["calls"]))
        sets = next(row["every set"] for row in rows if row["table"] == table)
        least, most = ([each[place] for each in runs.values()] for place in (0, -1))
        yield f"from {to(least, 0, '–')} calls at l = 2 to {to(most, 0, '–')} at the greatest l, of {sets} sets"
        if table == "Adult":
            yield "hardly changes: {:.0f}, {:.0f} and {:.0f} calls".format(*runs["entropy-l"])
    more = sum(first(row["calls"]) > first(row["level by level"]) for row in rows)
    yield f"in {more} of {len(rows)} cases"


def x1c(page: ExperimentPage) -> Iterator[str]:
    sizes = page.script.SIZES
    yield f"We take {page.script.RECORDS:,} records of Adult"
    assert page.script.SEEDS == 5 and len(page.script.QUASI) == 7
    for reading, phrase in (
        ("record, 1.25 times", "here {} times as much"),
        ("loss, 1.25 times", "more than {} times what they did"),
        ("size, twice", "until the cluster has {}k records"),
        ("neighbours, 3 times", '"{} times": three times as much'),
    ):
        yield phrase.format(page.script.READINGS[reading].rpartition("=")[2])
    losses, others = (
        {(row["phase one"], row["splitting"]): {k: numbers(row[f"k = {k}"]) for k in sizes} for row in table[1:]}
        for table in page.tables[::2]
    )
    excess, other = (
        {key: {k: cell[0] - 100 for k, cell in row.items()} for key, row in table.items()} for table in (losses, others)
    )
    ours = [excess["record, 1.25 times", which] for which in "AB"]
    assert ours[0] != ours[1] and all(each[k] < 0 for each in ours for k in (3, 5))
    yield f"at k = 3 and 5, by {to([-each[k] for each in ours for k in (3, 5)], 1)} %"
    above = [each[k] for each in ours for k in sizes if k >= 10]
    assert min(above) >= 0
    yield f"From k = 10 on they lose as much or more, up to {max(above):.1f} %"
    for which in "AB":
        assert all((each < 0) == (k in (3, 5)) for k, each in excess["neighbours, 3 times", which].items())
    yield f"`record` loses {to([e for w in 'AB' for e in other['record, 1.25 times', w].values()], 1)} % more"
    default = losses["neighbours", "A"]
    assert default == losses["neighbours", "B"] and sum(cell[0] < 100 for cell in default.values()) == 5
    yield f"phase two adds {default[3][1]:.0f} cluster at k = 3 and none above"
    assert not any(cell[1] for k, cell in default.items() if k > 3)
    yield f"within {max(abs(each) for each in other['neighbours', 'A'].values()):.1f} % of k-member"
    sized = [each for table in (excess, other) for which in "AB" for each in table["size, twice", which].values()]
    yield f"the result is {to(sized, 1)} % worse"
    cores = [each for table in (excess, other) for each in table["cores, half", "A"].values()]
    yield f"worse at {sum(each > 0 for each in cores)} of {len(cores)} places"
    deep, there = (table["loss, 1.25 times", "B"] for table in (excess, other))
    assert min(each for table in (excess, other) for each in table["loss, 1.25 times", "A"].values()) > 0
    yield f"it wins at k = 20 and 30, by {-deep[20]:.1f} and {-deep[30]:.1f} % on Adult"
    yield f"by {-there[20]:.1f} and {-there[30]:.1f} % on the other table"
    for table in page.tables[1::2]:
        seconds = {row[""]: [first(row[f"k = {k}"]) for k in sizes] for row in table}
        original = seconds.pop("k-member")
        assert all(sum(each) > sum(original) for each in seconds.values())


def x1d(page: ExperimentPage) -> Iterator[str]:
    rows = page.by("l")
    yield f"We take {page.script.RECORDS:,} records of Adult"
    assert len(page.script.QUASI) == 7
    losses = {
        bound: [first(row[f"loss: {name} clustering"]) for name in ("bucket", "optimistic")]
        for bound, row in rows.items()
    }
    assert all(losses[bound][0] < min(losses[bound][1], first(row["loss: Anatomy"])) for bound, row in rows.items())
    shares = {bound: 100 * bucket / optimistic for bound, (bucket, optimistic) in losses.items()}
    yield f"{shares.pop('2'):.0f} % of what optimistic clustering loses at l = 2, {to([*shares.values()])} % above"
    yield f"one class** at l = {next(bound for bound, each in losses.items() if each[1] == 1)}"
    seconds = [{name: first(cell) for name, cell in row.items() if name.startswith("seconds")} for row in rows.values()]
    assert all(max(each.values()) < 0.1 and min(each, key=each.__getitem__) == "seconds: Anatomy" for each in seconds)


def x1e(page: ExperimentPage) -> Iterator[str]:
    rows = {row["left out"]: {name: first(cell) for name, cell in row.items()} for row in page.tables[0]}
    none, some, most = (rows[share] for share in ("0%", "30%", "90%"))
    ones = "sets whose k is 1"
    yield f"the {log2(none['every set'] + 1):.0f} columns of"
    yield f"of Adult and {none['every set']:,.0f} sets"
    yield f"{none['calls']:.0f} calls for {none['every set']:,.0f} sets"
    yield f"{none[ones]:,.0f} sets have a k of 1"
    yield f"{some['calls']:,.0f} calls at 30 % and {most['calls']:,.0f} at 90 %"
    yield f"{some[ones]:,.0f} and {most[ones]:,.0f} there"
    for what in ("calls", "seconds"):
        values = [row[what] for row in rows.values()]
        assert values == sorted(values)
    (curve,) = ({first(share): first(k) for share, k in row.items() if share != "left out"} for row in page.tables[1])
    yield f"k is 1 up to {max(share for share, k in curve.items() if k == 1):.0f} %"
    yield f"{curve[30]:.0f} at 30 %, {curve[50]:.0f} at 50 % and {curve[90]:.0f} at 90 %"
    yield f"{next(share for share, k in curve.items() if k == 2):.0f} % of the records"


def x2(page: ExperimentPage) -> Iterator[str]:
    algorithms = tuple(page.script.ALGORITHMS)
    yield "of height {}, {}, {}, {} and {}".format(*page.script.HEIGHTS)
    yield "k is {}, {} … {}".format(*page.script.SIZES[:2], page.script.SIZES[-1])
    cells = {
        (int(row["quasi-identifiers"]), int(row["k"]), row[""]): {name: row[name] for name in algorithms}
        for row in page.tables[0]
    }
    best = {key: {name for name, cell in row.items() if "**" in cell} for key, row in cells.items()}
    loss = {key: {name: first(cell) for name, cell in row.items()} for key, row in cells.items()}
    settings = [key[:2] for key in cells if key[2] == "GCP"]
    assert all(best[*each, size] == {"k-member"} for each in settings for size in ("DM", "C_AVG"))
    wins = {name: [each for each in settings if "k-member" in best[*each, name]] for name in ("GCP", "GCP, own values")}
    assert (
        not [each for each in wins["GCP"] if each[0] < 4] and len([each for each in wins["GCP"] if each[0] == 5]) == 7
    )
    yield f"With 4 it is k-member from k = {min(k for count, k in wins['GCP'] if count == 4)} on, with 5 at every k"
    last = loss[5, 21, "GCP"]
    yield f"{last['k-member']:.3f} against {last['MST']:.3f} of the paper's tree at k = 21"
    counts = len(wins["GCP"]), len(wins["GCP, own values"])
    yield f"lowest in {counts[0]} of {len(settings)} settings by ours, in {counts[1]} by the paper's"
    own = {count: [k for each, k in wins["GCP, own values"] if each == count] for count in (3, 4, 5)}
    assert len(own[4]) == len(own[5]) == 7
    yield f"with 3 quasi-identifiers from k = {own[3][0]} on, with 4 and 5 at every k"
    changed = sum(best[*each, "GCP"] != best[*each, "GCP, clipped"] for each in settings)
    yield f"changes the lowest in {changed} of {len(settings)} settings"
    yield f"of {loss[5, 21, 'C_AVG']['MST']:.1f} times the least size on average"
    yield f"takes {100 * (1 - last['MST, balanced'] / last['MST']):.0f} % off that loss"
    assert all(loss[5, k, "GCP"]["MST, balanced"] < loss[5, k, "GCP"]["Mondrian"] for _, k in settings)


Accuracies = dict[tuple[str, str, str], list[float]]


def accuracies(page: ExperimentPage) -> Accuracies:
    """By table, learner and row, one for each k; of the original table, the paper's and ours."""
    found: Accuracies = {}
    headings = re.findall(r"\*\*([\w-]+), (.+?)\.\*\* .*?: ([\d.]+) in the paper, ([\d.]+) here", page.measured)
    for (table, learner, *before), rows in zip(headings, page.tables, strict=True):
        found[table, learner, "original"] = [float(each) for each in before]
        for row in rows:
            found[table, learner, row[""]] = [float(row[f"k={k}"]) for k in page.script.SIZES]
    return found


def x3(page: ExperimentPage) -> Iterator[str]:
    found = accuracies(page)
    heart, sonar, haberman = (
        {learner: {row: found[name, learner, row] for at, of, row in found if (at, of) == (name, learner)}
         for learner in ("C4.5", "naive Bayes")}
        for name in ("heart-statlog", "sonar", "haberman")
    )  # fmt: skip
    tree, bayes = sonar["C4.5"], sonar["naive Bayes"]
    yield f"lifts C4.5 from {tree['original'][1]:.0f} % to {tree['hull'][0]:.0f} %"
    yield f"the same learners have {to(tree['new people'] + bayes['new people'])} %"
    yield f"The paper's {to(bayes['paper'][1:])} % for naive Bayes on sonar"
    yield f"against {bayes['original'][0]:.0f} % before"
    yield f"hull is between {to(heart['C4.5']['hull'], 2, ' and ')} %"
    assert len(set(heart["C4.5"]["hull"][:4])) == 1
    plain = [each for row in ("hull", "means", "path", "literal") for each in heart["naive Bayes"][row]]
    before = heart["naive Bayes"]["original"][1]
    yield f"stay within {max(abs(each - before) for each in plain):.1f} points of the original table"
    yield f"releases of hull, means and path range from {to(tree['hull'] + tree['means'] + tree['path'])} %"
    yield f"path comes close to the paper at k = 8 and 10 ({bayes['path'][1]:.2f} and {bayes['path'][2]:.2f} against"
    yield f"{bayes['paper'][1]:.2f} and {bayes['paper'][2]:.2f})"
    assert max(bayes["path"][3:]) < 84.13
    for learner in ("C4.5", "naive Bayes"):
        assert all(len(set(haberman[learner][row])) == 1 for row in ("hull", "means", "path", "literal", "perturbed"))
    grown = haberman["C4.5"]["all columns"]
    yield f"C4.5 has {grown[0]:.2f} % of it at k = 5, the paper {haberman['C4.5']['paper'][0]:.2f} %"
    apart = [abs(ours - paper) for ours, paper in zip(grown, haberman["C4.5"]["paper"], strict=True)][1:]
    yield f"at the other k they differ by {to(apart, 1)} points"
    lifted = heart["C4.5"]["all columns"], heart["naive Bayes"]["all columns"]
    originals = heart["C4.5"]["original"][1], before
    yield f"On heart-statlog hull then has up to {max(lifted[0]):.1f} % (C4.5) and {max(lifted[1]):.1f} % (naive Bayes)"
    yield f"where the original table has {originals[0]:.1f} and {originals[1]:.1f} %"
    pairs = {
        rows: [ours - theirs for at, of, row in found if row == rows[0]
               for ours, theirs in zip(found[at, of, row], found[at, of, rows[1]], strict=True)]
        for rows in (("perturbed", "literal"), ("all columns, perturbed", "paper"), ("hull", "any donor"))
    }  # fmt: skip
    yield f"{mean(pairs['perturbed', 'literal']):.1f} points more than literal on average over all 36 cells"
    recipe = [abs(each) for each in pairs["all columns, perturbed", "paper"]]
    near = sum(each <= 1 for each in recipe)
    yield f"{mean(recipe):.1f} points from the paper's figures on average, and within 1 point in {near} of 36"
    donors = pairs["hull", "any donor"]
    less, more = sum(each < 0 for each in donors), sum(each > 0 for each in donors)
    assert all(each == 0 for each in (*donors[:12], *donors[24:]))
    yield f"better in {more} and worse in {less} of 12 cells, by {max(map(abs, donors)):.1f} points at most"
    literal = haberman["naive Bayes"]
    yield f"from {literal['original'][1]:.2f} to {literal['literal'][0]:.2f} %"
    assert set(numbers(page.measured.split("really has: heart")[1])) == {1.0}


def x4(page: ExperimentPage) -> Iterator[str]:
    rows = page.tables[0]
    values = {name: sweep for name, sweep, _ in page.script.SWEEPS.values()}
    yield f"k from {min(values['k'])} to {max(values['k']):,}"
    yield f"l from {min(values['l'])} to {max(values['l'])}"
    yield f"t from {min(values['t'])} to {max(values['t'])}"
    yield f"at least {100 * page.script.MINSUP:.0f} % of the records"
    yield f"({re.findall('Large populations: (.+)[.]', page.measured)[0]} of them)"
    by_model: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        by_model.setdefault(row["model"], []).append(row)
    for model in ("k-anonymity", "entropy l-diversity", "t-closeness"):
        for what, falls in (("privacy loss", True), ("utility loss", False)):
            losses = [float(row[what]) for row in by_model[model]]
            assert losses == sorted(losses, reverse=falls)
    least = {model: min(float(row["privacy loss"]) for row in each) for model, each in by_model.items()}
    yield f"down to a privacy loss of about {least['k-anonymity']:.1f}"
    close = {row["parameter"]: row["classes"] for row in by_model["t-closeness"]}
    yield f"at t = 0.15 {close['t = 0.15']} classes are left, from t = 0.1 on {close['t = 0.1']}"
    yield f"stays above {floor(100 * least['entropy l-diversity']) / 100}"
    finest, hidden = by_model["k-anonymity"][0], by_model["all hidden"][0]
    yield f"({float(finest['utility loss']):.3f} of {float(hidden['utility loss']):.3f} bits)"
    yield f"its worst class tells {float(finest['privacy loss']):.2f} of at most 1 bit"


CLAIMS: dict[str, Callable[[ExperimentPage], Iterator[str]]] = {name: globals()[name] for name in PAGES}
