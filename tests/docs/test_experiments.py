"""Pages of experiments: every number that stands in a sentence is that of the figures below it."""

import re

import pytest
from experiment_claims import CLAIMS, GIVEN, PAGES


def test_every_experiment_has_its_page_and_its_claims() -> None:
    from experiment_claims import FOLDER

    scripts = {path.stem for path in (FOLDER.parents[1] / "experiments").glob("x*.py")}
    assert scripts == set(PAGES) == set(CLAIMS) == set(GIVEN)


@pytest.mark.parametrize("name", PAGES)
def test_what_a_page_says_is_true_of_its_figures(name: str) -> None:
    says = PAGES[name].says
    claims = list(CLAIMS[name](PAGES[name]))
    assert [claim for claim in claims if claim not in says] == []
    for phrase in sorted([*claims, *GIVEN[name]], key=len, reverse=True):
        assert phrase in says, f"{phrase!r} is not said any more"
        says = says.replace(phrase, "…")
    left = [match.group() for match in re.finditer(r"[^.:;]*\d[^.:;]*", says)]
    assert left == [], "numbers that nothing recomputes"
