"""deFinetti: what groups say about one another is learned, and held against each person (Kifer, 2009)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt, Le
from numpy.typing import NDArray
from typing_extensions import Doc

from shoal.adversary.guessing import most_likely
from shoal.adversary.locating import groups_of_records
from shoal.adversary.rates import wilson
from shoal.attacks._group_regression import RIDGE, BalancedGroups, Regression, features_of, reconcile
from shoal.attacks._grouped_people import WEIGHED, GroupedPeople, Places, Sampler
from shoal.core.classes import Histogram
from shoal.core.contracts.attack import Attack, Attempt, Known
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes
from shoal.core.hierarchy import Floats
from shoal.core.parameters import Examples, Share
from shoal.core.release import Release
from shoal.core.run import Run
from shoal.errors import NotDefined

SETTLED = 5e-3
"""The change of a belief below which a regression has settled: finer ones change no guess."""
WIDEST = 1 << 26
"""Beliefs that are held at once: people times sensitive values."""


@dataclass(frozen=True, kw_only=True)
class Definetti(Attack):
    """Knows who is in which group and everybody's quasi-identifiers. Groups in which all share a quasi-identifier show
    how it goes with the sensitive values, and that is used to tell the people of mixed groups apart, which tells more
    about how they go together, and so on.

    Two learners are tried, and the figures are those of the one that is right more often (`learner`). `bayes` learns
    how likely each quasi-identifier is among the people who have a value, each column on its own (naive Bayes, every
    count one more than it is). `regression` learns how likely each value is of a person, by all columns together
    (multinomial logistic regression): columns that say the same thing count once. The values of a group are then handed
    out to its people with a probability that is proportional to the product of these likelihoods: exactly, over all
    permutations, in groups of up to `exact` people. In larger ones, `bayes` draws with a Gibbs sampler and `regression`
    balances beliefs until they sum to the group's counts. Both steps are repeated until nothing changes.

    `success` is how often the most likely value is the true one; `baseline` is how often the most frequent value of the
    table is. `worst` and the share above the threshold go by the belief in a person's true value. `detail` has as
    `naive` how often the most frequent value of the group is the true one, for somebody who learns nothing; as `belief`
    and `naive_belief` the mean belief in the true value, which is how often a guess that is drawn from the beliefs is
    right; and the success of each learner. Where groups were drawn, or the sampler was used, there is an interval.

    Does not use more than one sensitive attribute at a time. A belief may be wrong: the attacker learns from groups.
    Other learners may do better, so the figure is a lower bound.

    Reference: D. Kifer, Attacks on privacy and deFinetti's theorem, 2009.

    Example:
        >>> import polars, shoal
        >>> ill = ["cancer", "cancer", "flu", "flu", "cold", "cold"]
        >>> table = polars.DataFrame({"smokes": list("yyynnn") * 20, "ill": ill * 20})
        >>> data = shoal.read(table, quasi=["smokes"], sensitive=["ill"])
        >>> release = shoal.anonymize(data, shoal.FrequencyLDiversity(l=2), algorithm="anatomy", seed=1)
        >>> found = shoal.attack(data, release, "definetti")[0]
        >>> found.success > found.detail["naive"] + 0.05
        True
    """

    threshold: Annotated[Share, Doc("the belief in a true value above which a person is exposed")] = 0.9
    learner: Annotated[
        Literal["best", "bayes", "regression"],
        Doc("how the attacker learns; `best` is the one that is right more often"),
    ] = "best"
    exact: Annotated[int, Ge(1), Le(WEIGHED), Doc("the size up to which all permutations of a group are weighed")] = 8
    steps: Annotated[int, Ge(1), Doc("how often beliefs and what is learned are brought into line, at most")] = 50
    tolerance: Annotated[float, Gt(0), Doc("the change of a belief below which nothing changes any more")] = 1e-9
    sweeps: Annotated[int, Ge(1), Doc("passes of the sampler over the people of large groups, in each step")] = 10
    people: Annotated[int, Ge(1), Doc("of larger releases, so many people are attacked, in groups that are drawn")] = (
        50_000
    )
    seed: Annotated[int, Ge(0), Doc("of what is drawn")] = 0

    examples: ClassVar[Examples] = (
        {"steps": 4, "sweeps": 4},
        {"steps": 3, "sweeps": 3, "exact": 3, "threshold": 0.2},
        {"steps": 3, "learner": "regression", "exact": 2},
    )

    def attempt(self, dataset: Dataset, release: Release, known: Known, run: Run) -> Attempt:
        groups = release.view.groups()
        if not groups.sensitive:
            raise NotDefined("there is no sensitive attribute to guess")
        if dataset.schema.person is not None:
            raise NotDefined("somebody may have several records, which would be taken for several people")
        places, summary = groups_of_records(dataset, release), dataset.summary
        columns = np.repeat(summary.keys, summary.sizes, axis=1)
        attempts = [
            self._on(histogram, places, columns, truths, run)
            for histogram, truths in zip(groups.sensitive, dataset.listing(release.seed), strict=True)
        ]
        return max(attempts, key=lambda attempt: (attempt.success - attempt.baseline, attempt.success))

    def _on(self, histogram: Histogram, places: Codes, columns: Codes, truths: Codes, run: Run) -> Attempt:
        generator = np.random.default_rng(self.seed)
        drawn = _draw_groups(histogram.sizes, self.people, generator)
        inside = np.flatnonzero(drawn[places] & (places >= 0))
        if not len(inside):
            raise NotDefined("the release has no record")
        if len(inside) * len(histogram.population) > WIDEST:
            raise NotDefined("there are too many different sensitive values to learn about each")
        entries = drawn[histogram.owners]
        times = histogram.counts[entries]
        owners, values = np.repeat(histogram.owners[entries], times), np.repeat(histogram.values[entries], times)
        buckets = GroupedPeople(places[inside], columns[:, inside], owners, values, len(histogram.population))
        truth = truths[inside]
        chosen = ("bayes", "regression") if self.learner == "best" else (self.learner,)
        parts = [run.part(between=(at / len(chosen), (at + 1) / len(chosen))) for at in range(len(chosen))]
        tried = {
            name: _LEARNERS[name](buckets, self, generator, part) for name, part in zip(chosen, parts, strict=True)
        }
        hits = {name: most_likely(beliefs, truth) for name, (beliefs, _) in tried.items()}
        best = max(tried, key=lambda name: float(hits[name].sum()))
        beliefs, steps = tried[best]
        believed, right = beliefs[np.arange(len(truth)), truth], float(hits[best].mean())
        naive = buckets.alone
        sampled = not bool(drawn.all()) or (best == "bayes" and buckets.largest > self.exact)
        # Somebody's chance is at least as high as everybody's on average.
        risks = believed if right <= believed.max() else np.maximum(believed, right)
        return self.attempt_over(
            risks,
            hits=float(hits[best].sum()),
            baseline=float(histogram.priors.max()),
            random=float(histogram.priors @ histogram.distribution),
            lower_bound=True,
            knew="which group a person is in, and everybody's quasi-identifiers",
            meaning="how often the likeliest value, by what groups say about one another, is the person's",
            interval=wilson(float(hits[best].sum()), len(truth)).interval if sampled else None,
            detail={
                "naive": float(most_likely(naive, truth).mean()),
                "belief": float(believed.mean()),
                "naive_belief": float(naive[np.arange(len(truth)), truth].mean()),
                **{name: float(chances.mean()) for name, chances in hits.items()},
                "people": len(truth),
                "steps": steps,
            },
        )


def _draw_groups(sizes: Any, most: int, generator: np.random.Generator) -> NDArray[np.bool_]:
    """Groups of so many people at most, or all."""
    order = generator.permutation(len(sizes)) if sizes.sum() > most else np.arange(len(sizes))
    chosen = np.zeros(len(sizes), np.bool_)
    total = np.cumsum(sizes[order])
    chosen[order[(total <= most) | (total == total[0])]] = True
    return chosen


def by_bayes(buckets: GroupedPeople, effort: Definetti, generator: np.random.Generator, run: Run) -> tuple[Floats, int]:
    """What is believed of each person when beliefs and likelihoods are in line, and after how many steps. A sampler
    never comes to rest: then it is the mean over the second half of the steps."""
    beliefs, sampler = buckets.alone, Sampler.of(buckets, effort.exact)
    half, total = effort.steps // 2, np.zeros_like(beliefs)
    for step in range(1, effort.steps + 1):
        run.report(step / effort.steps, "learning from groups")
        before, beliefs = beliefs, hand_out(buckets, buckets.likelihoods(beliefs), effort, sampler, generator)
        if sampler is None and float(np.abs(beliefs - before).max(initial=0.0)) < effort.tolerance:
            return beliefs, step
        if step > half:
            total += beliefs
    return total / (effort.steps - half) if sampler is not None else beliefs, effort.steps


def hand_out(
    buckets: GroupedPeople,
    likelihoods: Sequence[Floats],
    effort: Definetti,
    sampler: Sampler | None,
    generator: np.random.Generator,
) -> Floats:
    """What is believed of each person, given how likely codes are among those who have a value; of large groups, by
    what the sampler draws."""
    from shoal.kernels.beliefs import add_by_code

    logs = np.zeros((len(buckets.homes), buckets.width))
    table = np.ascontiguousarray(np.log(np.concatenate(likelihoods)))
    add_by_code(logs, table, buckets.stacked[0], np.empty_like(logs))
    beliefs = deal(buckets, logs, effort.exact)
    if sampler is not None:
        beliefs += sampler.draw(logs, effort.sweeps, generator)
    return beliefs


def deal(buckets: GroupedPeople, logs: Floats, exact: int) -> Floats:
    """What is believed of the people of groups up to some size, over all permutations; nothing of the others."""
    beliefs = np.zeros(logs.size)
    few = {size: cells for size, cells in buckets.cells.items() if size <= exact}
    if few:
        chances = []
        for cells in few.values():
            weights = logs.ravel()[cells]
            chances.append(pair_chances(np.exp(weights - weights.max(axis=(1, 2), keepdims=True))))
        places, shares = (np.concatenate([each.ravel() for each in part]) for part in (few.values(), chances))
        beliefs += np.bincount(places, weights=shares, minlength=logs.size)
    return beliefs.reshape(logs.shape)


def by_regression(
    buckets: GroupedPeople,
    effort: Definetti,
    generator: np.random.Generator,
    run: Run,
    *,
    ridge: float = RIDGE,
    settled: float = SETTLED,
) -> tuple[Floats, int]:
    """What is believed of each person when beliefs and a regression of them are in line, and after how many steps."""
    large = np.zeros(int(buckets.homes.max()) + 1, np.bool_)
    for size, (people, _) in buckets.by_size.items():
        large[buckets.homes[people]] |= size > effort.exact
    some, slots = np.flatnonzero(large[buckets.homes]), large[buckets.owners]
    balance = BalancedGroups.of(buckets.homes[some], buckets.owners[slots], buckets.values[slots], buckets.width)

    def fitting(logs: Floats) -> Floats:
        beliefs = deal(buckets, logs, effort.exact)
        if len(some):
            beliefs[some] = balance.beliefs(logs[some])
        return beliefs

    regression = Regression(features_of(buckets.codes), buckets.width, ridge)
    return reconcile(buckets.alone, regression, fitting, effort.steps, max(effort.tolerance, settled), run)


_LEARNERS = {"bayes": by_bayes, "regression": by_regression}


def pair_chances(weights: Floats) -> Floats:
    """For each square of weights, the probability that a row goes with a column when a permutation is as likely as the
    product of its weights.

    Sums over subsets of the columns that the first rows have taken, which is the same as the sum over permutations.

    Example:
        >>> pair_chances(np.array([[[3.0, 1.0], [1.0, 1.0]]])).tolist()
        [[[0.75, 0.25], [0.25, 0.75]]]
    """
    count, size, _ = weights.shape
    before, after = np.zeros((2, 1 << size, count))
    before[0], after[-1] = 1, 1
    steps = _subsets(size)
    for row, column, taken, more in steps:
        before[more] += before[taken] * weights[:, row, column]
    for row, column, taken, more in reversed(steps):
        after[taken] += after[more] * weights[:, row, column]
    chances = np.empty_like(weights)
    for row, column, taken, more in steps:
        chances[:, row, column] = (before[taken] * weights[:, row, column] * after[more]).sum(axis=0)
    shares: Floats = chances / before[-1][:, None, None]
    return shares


@cache
def _subsets(size: int) -> list[tuple[int, int, Places, Places]]:
    """For each row and column, the subsets of as many columns that lack the column, and the same with it."""
    subsets = np.arange(1 << size)
    counts = np.array([subset.bit_count() for subset in range(1 << size)])
    found = []
    for row, column in product(range(size), repeat=2):
        taken = np.flatnonzero((counts == row) & (subsets >> column & 1 == 0))
        found.append((row, column, taken, taken | 1 << column))
    return found
