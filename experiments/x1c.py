"""X1c: loss and time of k-member clustering and of two-phase clustering, splitting A and B, for each reading of how far
clusters grow in phase one (thesis, figures 4.16 to 4.19)."""

from __future__ import annotations

import time
from statistics import mean

import shoal
from experiments.pages import FOLDER, filled, lines, tabled

RECORDS, SIZES, SEEDS = 3000, (3, 5, 10, 15, 20, 30), 5
QUASI = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country")
ORIGINAL = "k-member"
READINGS = {
    "neighbours": "two-phase",
    "neighbours, 3 times": "two-phase:growth=neighbours,room=3",
    "record, 1.25 times": "two-phase:growth=record,room=1.25",
    "loss, 1.25 times": "two-phase:growth=loss,room=1.25",
    "size, twice": "two-phase:growth=size,room=2",
    "cores, half": "two-phase:growth=cores,room=2",
}
DRAWN = ("neighbours", "record, 1.25 times", "size, twice")


def measured(data: shoal.Dataset, k: int, algorithm: str) -> dict[str, float]:
    """Means over the seeds: the loss, seconds of the processor, and how many clusters phase two added."""
    losses, seconds, added = [], [], []
    for seed in range(1, SEEDS + 1):
        began = time.process_time()
        release = shoal.anonymize(data, f"k-anonymity:k={k}", algorithm=algorithm, seed=seed)
        seconds.append(time.process_time() - began)
        losses.append(shoal.evaluate(data, release, "gcp")["gcp"].value)
        assert release.recoding is not None
        added.append(release.recoding.facts.get("split-off", 0))
    return {"loss": mean(losses), "seconds": mean(seconds), "added": mean(added)}


def splitting(algorithm: str, which: str) -> str:
    return f"{algorithm}{',' if ':' in algorithm else ':'}splitting={which}"


def tables() -> dict[str, shoal.Dataset]:
    adult = shoal.samples.adult().sample(RECORDS, seed=1).select(QUASI)
    people = shoal.samples.census(RECORDS, seed=1).drop("occupation")
    return {
        "Adult": shoal.read(adult, quasi=QUASI, hierarchies=shoal.samples.hierarchies("adult")),
        "like OCC": shoal.read(people, quasi=people.columns, hierarchies=shoal.samples.hierarchies("census")),
    }


def main() -> None:
    algorithms = {f"{name}, {which}": splitting(each, which) for name, each in READINGS.items() for which in "AB"}
    text = (
        f"Means over {SEEDS} seeds. A and B: the loss as a share of that of k-member, below 100 in bold; in brackets "
    )
    text += "how many clusters phase two added.\n\n"
    shown: list[dict[str, object]] = []
    for table, data in tables().items():
        for each in (ORIGINAL, *algorithms.values()):  # compiles
            shoal.anonymize(data, "k-anonymity:k=50", algorithm=each, seed=1)
        found: dict[tuple[str, int], dict[str, float]] = {}
        for k in SIZES:
            for name, algorithm in {ORIGINAL: ORIGINAL, **algorithms}.items():
                found[name, k] = measured(data, k, algorithm)
            print(table, k, flush=True)
        rows = [["k-member: loss", "", *(f"{found[ORIGINAL, k]['loss']:.4f}" for k in SIZES)]]
        rows += [
            [reading, which, *(cell(found[f"{reading}, {which}", k], found[ORIGINAL, k]) for k in SIZES)]
            for reading in READINGS
            for which in "AB"
        ]
        text += f"**{table}**\n\n" + tabled(["phase one", "splitting", *(f"k = {k}" for k in SIZES)], rows)
        text += "\nSeconds of processor time.\n\n"
        rows = [
            [name, *(f"{found[name, k]['seconds']:.2f}" for k in SIZES)]
            for name in (ORIGINAL, *(f"{reading}, A" for reading in READINGS))
        ]
        text += tabled(["", *(f"k = {k}" for k in SIZES)], rows) + "\n"
        shown += [
            {"k": k, "loss": 100 * found[name, k]["loss"] / found[ORIGINAL, k]["loss"], "who": who,
             "panel": f"{table}: {reading}"}
            for reading in DRAWN
            for who, name in ((ORIGINAL, ORIGINAL), *((f"splitting {which}", f"{reading}, {which}") for which in "AB"))
            for k in SIZES
        ]  # fmt: skip
    filled("x1c", text)
    titles = {"k": "k", "loss": "loss, % of that of k-member"}
    lines(shown, FOLDER / "x1c.svg", x="k", y="loss", by="who", panel="panel", titles=titles, columns=3, shared=True)


def cell(each: dict[str, float], original: dict[str, float]) -> str:
    share = f"{100 * each['loss'] / original['loss']:.1f}"
    return f"{f'**{share}**' if each['loss'] < original['loss'] else share} ({each['added']:.0f})"


if __name__ == "__main__":
    main()
