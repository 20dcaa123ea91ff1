"""However the values of a table are spelled, every model's verdict and every release are those of the plain spelling.

What a cell says is worked out anew here: numbers as exact fractions, texts by Unicode's tables.
"""

from __future__ import annotations

import csv
import random
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Hashable
from fractions import Fraction
from pathlib import Path

import pytest
from counts import count
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import shoal
from shoal import registry
from shoal.core.dataset import Dataset
from shoal.errors import NotDefined, ShoalError

NUMBERS = ("-3.5", "0", "0.25", "1", "2", "10", "250.01", "9007199254740993")
TEXTS = ("café", "Ångström", "hay fever", "B-cell", "x", "naïve Bayes", "한국", "déjà vu")
INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f\u061c\u202a\u202c\ufe0f\u034f"
BLANKS = " \u00a0\u2009\u202f\u3000"
ENGINES = ("embedded", "duckdb")
MODELS = [
    registry.make("models", name, dict(example))
    for name in registry.names("models")
    for example in registry.examples("models", name)
]
ALGORITHMS = ("mondrian", "optimal", "k-member", "oka", "anatomy", "slicing", "multiset")
Table = dict[str, list[str]]


def number_spelled(text: str, chance: random.Random) -> str:
    """The same number in another spelling."""
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
    if not sign:
        sign = chance.choice(["", "", "+"]) if Fraction(digits) else chance.choice(["", "-", "+"])
    elif chance.random() < 0.3:
        sign = "\u2212"
    point = "" if "." in digits else "."
    way = chance.randrange(5)
    if way == 1:
        digits += point + "0" * chance.randint(1, 3)
    elif way == 2 and digits.startswith("0."):
        digits = digits[1:]
    elif way == 3:
        digits += chance.choice(["e0", "E+0", "e-00"])
    elif way == 4 and not point:
        whole, rest = digits.split(".")
        digits = f"{int(whole + rest)}e-{len(rest)}"
    return sign + digits


def text_spelled(text: str, chance: random.Random) -> str:
    """A text that looks the same."""
    signs = list(unicodedata.normalize(chance.choice(["NFC", "NFD"]), text))
    signs = [chance.choice(BLANKS) if sign == " " else sign for sign in signs]
    signs = [chance.choice("-\u2010\u2011") if sign == "-" else sign for sign in signs]
    for _ in range(chance.randint(0, 3)):
        signs.insert(chance.randint(0, len(signs)), chance.choice(INVISIBLE))
    return "".join([chance.choice(["", *BLANKS]), *signs, chance.choice(["", *BLANKS, "\t"])])


def said(text: str) -> Hashable:
    """What a cell says."""
    try:
        return Fraction(text.strip().replace("\u2212", "-"))
    except ValueError:
        kept = [sign for sign in text if unicodedata.category(sign) not in ("Cf", "Cc") and sign not in "\ufe0f\u034f"]
        plain = "".join(" " if sign.isspace() else "-" if sign in "\u2010\u2011" else sign for sign in kept)
        return unicodedata.normalize("NFC", plain).strip()


def written(path: Path, table: Table) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([list(table), *zip(*table.values(), strict=True)])
    return path


@st.composite
def tables(draw: st.DrawFn) -> tuple[Table, Table]:
    """A table in the plain spelling, and the same records spelled in any way and in another order."""
    chance = random.Random(draw(st.integers(0, 10**9)))
    rows = draw(st.integers(4, 40))
    pools = {"dose": NUMBERS, "place": TEXTS, "illness": draw(st.sampled_from([NUMBERS, TEXTS]))}
    few = draw(st.integers(1, 4))
    plain = {name: [chance.choice(pool[:few]) for _ in range(rows)] for name, pool in pools.items()}
    order = chance.sample(range(rows), rows)
    spelled = {
        name: [(number_spelled if pools[name] is NUMBERS else text_spelled)(cells[row], chance) for row in order]
        for name, cells in plain.items()
    }
    return plain, spelled


def verdicts(data: Dataset) -> list[tuple[str, object, bool | None]]:
    """What every model says about the table as it is."""
    found = []
    for model in MODELS:
        try:
            measured = model.measure(data.summary)
        except (NotDefined, ShoalError) as reason:
            found.append((repr(model), type(reason).__name__, None))
        else:
            found.append((repr(model), measured.value, measured.holds))
    return found


@settings(max_examples=count(5, 12), deadline=None, suppress_health_check=list(HealthCheck))
@given(pair=tables(), algorithm=st.sampled_from(ALGORITHMS), engine=st.sampled_from(ENGINES), k=st.integers(1, 3))
def test_spelling_changes_nothing(
    tmp_path: Path, pair: tuple[Table, Table], algorithm: str, engine: str, k: int
) -> None:
    found = []
    for name, table, chosen in (("plain", pair[0], "embedded"), ("spelled", pair[1], engine)):
        source, target = written(tmp_path / f"{name}.csv", table), tmp_path / f"{name}.release.csv"
        data = shoal.read(source, quasi=["dose", "place"], sensitive=["illness"], engine=chosen)
        outcome: object
        try:
            model = f"k-anonymity:k={k}" if algorithm not in ("anatomy", "slicing") else f"distinct-l-diversity:l={k}"
            release = shoal.anonymize(data, model, algorithm=algorithm, suppression=0.1, seed=7)
            release.write(target)
            assert shoal.verify(target, engine=chosen).holds
            outcome = [path.read_bytes() for path in sorted(tmp_path.glob(f"{name}.release*.csv"))]
        except ShoalError as error:
            outcome = type(error).__name__
        found.append((verdicts(data), outcome, [path.unlink() for path in tmp_path.glob(f"{name}*")]))
    assert found[0][0] == found[1][0] and found[0][1] == found[1][1]


@settings(max_examples=count(5, 20), deadline=None, suppress_health_check=list(HealthCheck))
@given(pair=tables(), engine=st.sampled_from(ENGINES))
def test_classes_are_those_of_what_cells_say(tmp_path: Path, pair: tuple[Table, Table], engine: str) -> None:
    """Read by hand: how many are alike, and how many sensitive values they have."""
    for table in pair:
        classes: dict[tuple[Hashable, ...], list[Hashable]] = defaultdict(list)
        for dose, place, illness in zip(*table.values(), strict=True):
            classes[said(dose), said(place)].append(said(illness))
        source = written(tmp_path / "table.csv", table)
        data = shoal.read(source, quasi=["dose", "place"], sensitive=["illness"], engine=engine)
        assert sorted(data.summary.sizes.tolist()) == sorted(map(len, classes.values()))
        assert sorted(data.summary.sensitive[0].distinct.tolist()) == sorted(
            len(set(held)) for held in classes.values()
        )
        most = [max(Counter(held).values()) / len(held) for held in classes.values()]
        level = shoal.FrequencyLDiversity(l=1).measure(data.summary).value
        assert level == pytest.approx(1 / max(most))


@settings(max_examples=count(10, 40), deadline=None)
@given(st.sampled_from(NUMBERS), st.sampled_from(TEXTS), st.integers(0, 10**6))
def test_the_spellings_of_this_test_say_what_they_should(number: str, text: str, seed: int) -> None:
    chance = random.Random(seed)
    assert said(number_spelled(number, chance)) == Fraction(number) and said(text_spelled(text, chance)) == text
