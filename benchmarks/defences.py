"""What attackers who know the algorithm gain, and what the defences take from them and cost."""

from __future__ import annotations

from statistics import mean

import numpy as np
import polars as pl

import shoal

ROWS, SEEDS = 3_000, 16
PUBLISHED = ("interval", "grid:5", "grid:10", "hierarchy")
NON_MINIMAL = (
    "optimal",
    "optimal:within=0.5",
    "optimal:within=1",
    "mondrian",
    "mondrian:uncut=0.5",
    "mondrian:uncut=0.8",
)


def downcoding() -> None:
    """Which share of the less precise cells the ends of ranges restore, and the loss, on Adult."""
    table = shoal.samples.adult().head(ROWS).select("age", "sex", "race", "occupation")
    data = shoal.read(table, quasi=["age", "sex", "race"], sensitive=["occupation"])
    for algorithm in ("mondrian", "k-member", "two-phase:refine=true"):
        for output in PUBLISHED:
            spec = f"{algorithm}{',' if ':' in algorithm else ':'}publish=age={output}"
            release = shoal.anonymize(data, "k-anonymity:k=5", algorithm=spec, seed=1)
            restored = shoal.attack(data, release, "downcoding")[0].success
            loss = shoal.evaluate(data, release, "lm")["lm"].value
            print(f"{algorithm}, age as {output}: restored {restored:.1%}, LM {loss:.4f}")


def _jobs(ill: list[str]) -> shoal.Dataset:
    """Two people of one job and four of another."""
    return shoal.read(pl.DataFrame({"job": list("aabbbb"), "ill": ill}), quasi=["job"], sensitive=["ill"])


def minimality() -> None:
    """Both people of a job are ill, so the jobs are published together: how certain is that to somebody who has the
    seed, and who has not? The loss is the mean over tables in which anybody may be ill."""
    model = shoal.models.AlphaKAnonymity(alpha=0.5, k=2, values=("hiv",))
    exposed = _jobs(["hiv"] * 2 + ["no"] * 4)
    for algorithm in NON_MINIMAL:
        generator = np.random.default_rng(0)
        known, unknown, losses = [], [], []
        for seed in range(SEEDS):
            release = shoal.anonymize(exposed, model, algorithm=algorithm, seed=seed, repeatable=True)
            known.append(shoal.attack(exposed, release, "minimality")[0].worst)
            unknown.append(shoal.attack(exposed, release, f"minimality:seeds={SEEDS}")[0].worst)
            other = _jobs(generator.permutation(["hiv"] * 2 + ["no"] * 4).tolist())
            found = shoal.anonymize(other, model, algorithm=algorithm, seed=seed, repeatable=True)
            losses.append(float(shoal.evaluate(other, found, "lm")["lm"].value))
        beliefs = f"worst belief {mean(known):.3f} with the seed, {mean(unknown):.3f} without"
        print(f"{algorithm}: {beliefs}, LM {mean(losses):.3f}")


if __name__ == "__main__":
    downcoding()
    minimality()
