"""X3: how well classifiers learn from what kACTUS releases, beside the paper's table.

Writes the figures into docs/experiments/x3.md, between its marks, and the picture beside it.
"""

from __future__ import annotations

import time

import polars as pl

import shoal
from experiments.pages import FOLDER, filled, lines
from shoal.utility.examples import class_codes
from shoal.utility.learning import cross_validated, folds

SIZES = (5, 8, 10, 15, 20, 25)
RECODINGS = {
    "hull": "kactus:recode=hull",
    "means": "kactus:recode=hull,numeric=mean",
    "path": "kactus:recode=path",
    "literal": "kactus:recode=literal",
    "perturbed": "kactus:recode=perturbed",
    "any donor": "kactus:recode=hull,donor=random",
    "all columns": "kactus:recode=hull,grow=all",
    "all columns, literal": "kactus:recode=literal,grow=all",
    "all columns, perturbed": "kactus:recode=perturbed,grow=all",
}
UNVERIFIED = [name for name, each in RECODINGS.items() if "literal" in each or "perturbed" in each]
DRAWN = ("paper", "hull", "path", "all columns", "all columns, perturbed", "new people")
TABLES = {
    "heart-statlog": (shoal.samples.heart_statlog, ["age", "sex", "resting-blood-pressure"]),
    "sonar": (shoal.samples.sonar, None),
    "haberman": (shoal.samples.haberman, ["age", "operation-year"]),
}
LEARNERS = {"C4.5": shoal.learners.C45, "naive Bayes": shoal.learners.NaiveBayes}
PAPER = {
    ("heart-statlog", "C4.5"): (76.66, 79.25, 82.59, 75.55, 75.55, 75.55, 75.55),
    ("heart-statlog", "naive Bayes"): (83.70, 81.85, 84.07, 82.22, 82.22, 82.22, 80.74),
    ("sonar", "C4.5"): (71.15, 71.63, 72.11, 72.11, 72.11, 72.11, 72.11),
    ("sonar", "naive Bayes"): (67.78, 67.78, 85.09, 86.05, 84.13, 84.13, 84.13),
    ("haberman", "C4.5"): (71.89, 76.79, 74.18, 73.85, 70.26, 73.20, 72.22),
    ("haberman", "naive Bayes"): (74.83, 75.16, 74.83, 75.81, 74.50, 72.87, 73.85),
}
"""Of the original table, then of a release for each k."""


def accuracy(learner: str, table: pl.DataFrame, target: str) -> float:
    """Ten-fold, in percent."""
    return 100 * cross_validated(LEARNERS[learner](), table.drop(target), table[target])


def released(table: pl.DataFrame, quasi: list[str], target: str, k: int, recoding: str) -> pl.DataFrame:
    data = shoal.read(table, quasi=quasi)
    algorithm = f"{RECODINGS[recoding]},target={target}"
    unverified = recoding in UNVERIFIED
    frame = shoal.anonymize(data, f"k-anonymity:k={k}", algorithm=algorithm, seed=1, allow_unverified=unverified).frame
    # The paper's learners are told that hidden cells are missing, so that the others stay numbers.
    hidden = (pl.col(name).cast(pl.String).replace({"*": None}).cast(pl.Float64) for name in quasi)
    return frame.with_columns(hidden) if unverified else frame


def of_new_people(learner: str, table: pl.DataFrame, quasi: list[str], target: str, k: int) -> float:
    """Trained on the means that are released of nine tenths of the records, asked about the others as they are."""
    hits = 0.0
    for training, test in folds(class_codes(table[target])[1]):
        frame = released(table[training.tolist()], quasi, target, k, "means")
        other = table[test.tolist()]
        hits += LEARNERS[learner]().fit(frame.drop(target), frame[target]).score(
            other.select(frame.drop(target).columns), other[target]
        ) * len(other)  # fmt: skip
    return 100 * hits / len(table)


def measured() -> tuple[list[dict[str, object]], dict[tuple[str, str], int]]:
    """A row for each accuracy, and the k that releases have which claim none: the greatest of all sizes asked for."""
    rows: list[dict[str, object]] = []
    real: dict[tuple[str, str], int] = {}
    for name, (sample, given) in TABLES.items():
        table = sample()
        target = table.columns[-1]
        quasi = given or table.columns[:-1]
        for learner in LEARNERS:
            before, *after = PAPER[name, learner]
            rows.append({"table": name, "learner": learner, "who": "paper", "k": 1, "accuracy": before})
            rows.append(
                {"table": name, "learner": learner, "who": "ours", "k": 1, "accuracy": accuracy(learner, table, target)}
            )
            rows += [
                {"table": name, "learner": learner, "who": "paper", "k": k, "accuracy": found}
                for k, found in zip(SIZES, after, strict=True)
            ]
        for recoding in RECODINGS:
            start = time.process_time()
            for k in SIZES:
                frame = released(table, quasi, target, k, recoding)
                least = frame.group_by(quasi).len()["len"].min()
                real[name, recoding] = max(real.get((name, recoding), 0), least)
                rows += [
                    {"table": name, "learner": learner, "who": recoding, "k": k,
                     "accuracy": accuracy(learner, frame, target)}
                    for learner in LEARNERS
                ]  # fmt: skip
            print(f"{name} {recoding}: {time.process_time() - start:.1f} s", flush=True)
        rows += [
            {"table": name, "learner": learner, "who": "new people", "k": k,
             "accuracy": of_new_people(learner, table, quasi, target, k)}
            for learner in LEARNERS for k in SIZES
        ]  # fmt: skip
    return rows, real


def tables(rows: list[dict[str, object]]) -> str:
    text = []
    found = {(row["table"], row["learner"], row["who"], row["k"]): row["accuracy"] for row in rows}
    for name, learner in PAPER:
        before = (found[name, learner, who, 1] for who in ("paper", "ours"))
        text += [
            f"**{name}, {learner}.** The original table: {next(before):.2f} in the paper, {next(before):.2f} here.",
            "",
            f"| | {' | '.join(f'k={k}' for k in SIZES)} |",
            f"|---|{'---|' * len(SIZES)}",
        ]
        for who in ("paper", *RECODINGS, "new people"):
            cells = " | ".join(f"{found[name, learner, who, k]:.2f}" for k in SIZES)
            text.append(f"| {who} | {cells} |")
        text.append("")
    return "\n".join(text)


def main() -> None:
    rows, real = measured()
    claimed = "; ".join(f"{name} {max(real[name, each] for each in UNVERIFIED)}" for name in TABLES)
    filled("x3", f"{tables(rows)}\nThe greatest k that a release without a promise really has: {claimed}.\n")
    shown = [
        {**row, "panel": f"{row['table']}, {row['learner']}"} for row in rows if row["who"] in DRAWN and row["k"] != 1
    ]
    shown.sort(key=lambda row: DRAWN.index(str(row["who"])))
    titles = {"k": "k", "accuracy": "accuracy in %"}
    lines(shown, FOLDER / "x3.svg", x="k", y="accuracy", by="who", panel="panel", titles=titles, shared=True)


if __name__ == "__main__":
    main()
