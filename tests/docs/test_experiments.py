"""Pages of experiments: every number that stands in a sentence is that of the figures below it."""

import re

import pytest
from experiment_claims import CLAIMS, FOLDER, PAGES

import shoal

GIVEN: dict[str, tuple[str, ...]] = {
    "x0a": (
        "Experiment 1 of the thesis", "1,000 records of Adult",
        "**3-anonymous**", "84.68 % in the thesis", "999 of 1,000 records", "333 classes", "between k = 8 and 9",
        "To have 60 % of all cells at the root, 80 % of those", "k = 8 to 9 and 60 %",
    ),
    "x0b": (
        "Experiment 2 of the thesis", "1,000 records of Adult", "between k = 11 and 12, at about 52 %",
        "do not cross by k = 20",
    ),
    "x0c": (
        "the balance on 3,000 records", "Experiment 3 of the thesis",
        "on 3,000 records. We take seven k between 5 and 20", "between k = 10 and 11, at about 50 %", "1,000 records",
    ),
    "x0d": ("Figure 4.1", "n²/k"),
    "x1a": ("Figures 4.3 to 4.6", "30,162 records"),
    "x1b": ("figures 4.10 to 4.15", "Table 4.8", "for l = 3"),
    "x1c": (  # the trial before it is not repeated
        "We first tried 22 combinations", "`neighbours` 1, 1.25, 1.5, 2, 3 and 5 times",
        "`record` 0.8, 1 and 1.25 times", "`loss` 1, 1.25, 1.5, 2 and 3 times", "`size` 2, 3, 4 and 8 times",
        "`cores` 1.5, 2, 3 and 5", "Figures 4.16 to 4.19", "figure 4.19", '"neighbours, 3 times"',
    ),
    "x1d": ("Figures 4.20 and 4.21",),
    "x1e": (
        "Figures 4.7 and 4.8", "question 8", "Figure 4.9", "30,162 records", "--delta 0.1", "from k = 1 to k = 2",
    ),
    "x2": (
        "Figures 7 to 9", "30,162 records", "With 1 to 3 quasi-identifiers", "with 5 quasi-identifiers and k = 21",
    ),
    "x3": ("C4.5", "k up to 15", "all 60", "from k = 15 on", "k really is 1", "from k = 20 on", "seed 1"),
    "x4": ("Li and Li (2009)", "30,162 records", "seed 1", "a k of 1,000 and more", "near 0", "(k = 10)"),
}  # fmt: skip
"""Phrases whose numbers are a paper's, or only name something."""


def test_every_experiment_has_its_page() -> None:
    scripts = {path.stem for path in (FOLDER.parents[1] / "experiments").glob("x*.py")}
    assert scripts == set(PAGES) == set(GIVEN)


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


@pytest.mark.parametrize("k", [2, 5])
def test_the_losses_of_the_papers_are_theirs_record_by_record(k: int) -> None:
    """Against the frame: what is published of each record, and what the records that are published alike have."""
    losses = PAGES["x2"].script
    table = shoal.samples.adult().sample(60, seed=k).select("age", "education").with_row_index("row")
    data = shoal.read(table, quasi=["age", "education"], hierarchies=shoal.samples.hierarchies("adult"))
    method = "k-member:numeric=hierarchy"
    release = shoal.anonymize(data, f"k-anonymity:k={k}", algorithm=method, seed=1, allow_plain=["row"])
    joined = table.join(release.frame, on="row", suffix=" shown")
    ages, trees = table["age"], {tree.column: tree for tree in data.hierarchies}
    extent = ages.max() - ages.min()
    own = clipped = 0.0
    for (age, _), members in joined.group_by("age shown", "education shown"):
        low, high = ends = members["age"].min(), members["age"].max()
        known = [int(each) for each in trees["age"].labels[0] if each is not None]
        if age == "*":
            ends = min(known), max(known)
        elif "-" in str(age):
            first, last = map(int, str(age).strip("[]").split("-"))
            ends = max(first, min(known)), min(last, max(known))
        inside = [min(max(end, ages.min()), ages.max()) for end in ends]
        clipped += len(members) * (inside[1] - inside[0]) / extent
        own += len(members) * (high - low) / extent
        paths = [[level[code] for level, code in zip(trees["education"].labels, column, strict=True)]
                 for column in trees["education"].codes.T]  # fmt: skip
        wanted = [path for path in paths if path[0] in set(members["education"])]
        level = next(level for level in range(len(paths[0])) if len({path[level] for path in wanted}) == 1)
        leaves = sum(path[level] == wanted[0][level] for path in paths)
        cost = len(members) * (leaves / len(paths) if leaves > 1 else 0)
        own, clipped = own + cost, clipped + cost
    assert losses.own_gcp(data, release) == pytest.approx(own / 120)
    assert losses.clipped_gcp(data, release) == pytest.approx(clipped / 120)
    assert own < clipped
