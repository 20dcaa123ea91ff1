"""One line for one risk: at most one in eleven, wherever it is drawn."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.cli import main
from shoal.core.risk_line import LINE, SAFE, accepted, is_above, one_in
from shoal.reports.risk import USUAL

SOURCE = Path(shoal.__file__).parent
TABLE = pl.DataFrame(
    {"age": [20 + row % 6 for row in range(66)], "disease": [("flu", "gout", "cold")[row % 3] for row in range(66)]}
)


@pytest.mark.parametrize("people", range(2, 18))
def test_a_threshold_of_two_digits_accepts_the_class_that_it_is_written_for(people: int) -> None:
    written = round(1 / people, 2)
    assert not is_above(1 / people, written)
    assert one_in(written) <= people and 1 / one_in(written) == pytest.approx(accepted(written), abs=0.006)


def test_a_threshold_of_more_digits_is_taken_as_it_is() -> None:
    assert accepted(0.091) == 0.091 and one_in(0.091) == 11 and is_above(0.1, 0.091)
    assert one_in(LINE) == SAFE == 11 and not is_above(LINE, LINE)
    assert is_above(1 / 10, 0.09) and not is_above(1 / 11, 0.09)


def test_eleven_are_on_the_safe_side_everywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Attacks by default and by a threshold that is given, a run, the report and the page."""
    source, path = tmp_path / "table.csv", tmp_path / "release.csv"
    TABLE.write_csv(source)
    data = shoal.read(source, quasi=["age"], sensitive=["disease"])
    release = shoal.anonymize(data, shoal.KAnonymity(k=11), algorithm="mondrian", seed=1)
    release.write(path)
    for name in ("prosecutor", "marketer", "prosecutor:threshold=0.09"):
        [attempt] = shoal.attack(data, release, name)
        assert attempt.worst == pytest.approx(1 / 11) and attempt.above == 0 and attempt.threshold == LINE
    assert shoal.attack(data, release, "prosecutor:threshold=0.0909")[0].above == 1
    command = ["attack", str(source), str(path), "--attack", "prosecutor", "--threshold"]
    for threshold, code, words in (("0.09", 0, "Nobody's risk is above 9 % (one in 11)."), ("0.08", 1, "above 8 %")):
        with pytest.raises(SystemExit) as end:
            main([*command, threshold])
        assert (end.value.code or 0) == code and words in capsys.readouterr().out
    report = shoal.report(data, path, threshold=0.09, quick=True)
    assert report.holds and report.risk.chosen.above == 0 and "9 % (one in 11) at most" in report.sentences[2]
    assert shoal.api.attempts_above(shoal.attack(data, release, "prosecutor"), 0.09) == []


def test_the_line_is_drawn_in_one_place() -> None:
    """No attack, picture or sentence of the page has a number of its own for it."""
    assert LINE in USUAL
    defaults = {name: shoal.registry.make("attacks", name, {}).threshold for name in ("prosecutor", "journalist")}
    assert set(defaults.values()) == {LINE}
    number = re.compile(r"= 0\.09|1 ?/ ?11\b|[ >]9(&#8239;| )%")
    for file in (*SOURCE.rglob("*.py"), *SOURCE.rglob("*.html"), SOURCE / "web" / "messages.toml"):
        code = re.sub(r'""".*?"""', "", file.read_text(), flags=re.S)
        assert not number.search(code), file
