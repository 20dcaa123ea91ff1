"""Background knowledge: whoever can rule values out is surer of what is left."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray
from typing_extensions import Doc

from shoal.adversary.guessing import entries_of_groups, strongest, with_control
from shoal.adversary.locating import groups_of_records, groups_of_tuples
from shoal.core.classes import Histogram
from shoal.core.contracts.attack import Attack, Attempt, Known
from shoal.core.dataset import Dataset
from shoal.core.formatting import counted
from shoal.core.grouping import Codes, Counts, group
from shoal.core.hierarchy import Floats, Hierarchy
from shoal.core.parameters import Examples, Share
from shoal.core.release import Release
from shoal.core.run import Run
from shoal.errors import ParameterError
from shoal.utility.conditions import where
from shoal.utility.published_labels import Labels

MOST_RULES = 30


@dataclass(frozen=True, kw_only=True)
class BackgroundKnowledge(Attack):
    """Finds a person's group and rules out `values` of its sensitive values that the person does not have: for each
    person those that leave the true one most likely. The risk is the probability of the true value that is left, its
    share of the group over 1 less the shares that are ruled out.

    Rules say what else is known, such as `sex = Male => breast cancer`: whoever meets the conditions (several are
    joined by `and`, and each is written as in queries) does not have that value. They go by the true quasi-identifiers
    of each person, and apply before other values are ruled out. Rules hold values of cells; nothing that is printed
    shows them.

    The baseline is the same without the release: the shares are those of the whole table.

    Does not put together what is known of several people of a group, each of whom is taken alone.

    Reference: A. Machanavajjhala and others, l-diversity: privacy beyond k-anonymity, 2006.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"sex": list("fffmmm"), "disease": ["flu", "hiv", "acne", "flu", "flu", "acne"]})
        >>> data = shoal.read(table, quasi=["sex"], sensitive=["disease"])
        >>> release = shoal.anonymize(data, "k-anonymity:k=6", seed=1)
        >>> found = shoal.attack(data, release, "background-knowledge:values=1")[0]
        >>> round(found.success, 3), round(found.worst, 3)
        (0.653, 0.75)
        >>> attack = BackgroundKnowledge(values=0, rules=("sex = m => hiv",))
        >>> round(shoal.attack(data, release, attack)[0].worst, 3)
        0.6
    """

    values: Annotated[int, Ge(0), Doc("how many values the attacker can rule out for a person")] = 1
    rules: Annotated[
        tuple[str, ...], Doc("what is known besides: CONDITION and CONDITION => VALUE rules the value out")
    ] = field(default=(), repr=False)
    column: Annotated[
        str | None, Doc("the sensitive attribute that it is about; rules need it where there are several")
    ] = None
    threshold: Annotated[Share, Doc("the certainty above which a person counts as exposed")] = 0.9

    examples: ClassVar[Examples] = ({}, {"values": 0}, {"values": 2, "threshold": 0.05})

    def attempt(self, dataset: Dataset, release: Release, known: Known, run: Run) -> Attempt:
        names = dataset.schema.sensitive
        if self.column is not None and self.column not in names:
            raise ParameterError(f"column {self.column!r} is no sensitive attribute")
        if self.rules and self.column is None and len(names) > 1:
            raise ParameterError("rules are about one sensitive attribute and there are several; name it with column")

        def attempt_on(histogram: Histogram) -> Attempt | None:
            if self.column not in (None, histogram.column):
                return None
            if self.rules:
                return self._by_rules(dataset, release, histogram)
            risks = beliefs_after(histogram.starts, histogram.shares, self.values)
            priors = histogram.distribution
            baseline = float(priors @ beliefs_after(np.array([0, len(priors)]), priors, self.values))
            attempt = self._over(risks, histogram.counts, baseline)
            return with_control(attempt, release, known, histogram, self._hits)

        return strongest(release, attempt_on)

    def _over(self, risks: Floats, people: Counts, baseline: float) -> Attempt:
        ruled = "" if not self.values else f", and {counted(self.values, 'values')} that the person does not have"
        rules = "" if not self.rules else f", and {counted(len(self.rules), 'rules')} about who cannot have which value"
        return self.attempt_over(
            risks,
            people,
            baseline=baseline,
            knew=f"which group a person is in{ruled}{rules}",
            meaning="how likely the person's true sensitive value is, when others are ruled out",
        )

    def _hits(self, posteriors: Floats, truths: Codes) -> Floats:
        rows, width = posteriors.shape
        starts = np.arange(rows + 1) * width
        risks = beliefs_after(starts, posteriors.ravel(), self.values).reshape(rows, width)
        return np.where(truths >= 0, risks[np.arange(rows), truths], 0.0)

    def _by_rules(self, dataset: Dataset, release: Release, histogram: Histogram) -> Attempt:
        tree = histogram.hierarchy
        assert tree is not None
        masks, excluded = self._exclusions(dataset, tree)
        columns, counts, whose = self._entries(dataset, release, histogram.column, masks)
        inside = columns[0] >= 0
        cells = group([codes[inside] for codes in columns], weights=counts[inside])
        weights = cells.counts if not whose else np.ones(cells.keys.shape[1], np.int64)
        # A part for each group and each set of rules that somebody in it meets, without what those rules exclude.
        parts = group(list(cells.keys[:2]), index=True)
        homes, entries = entries_of_groups(histogram, parts.keys[0])
        places, here = histogram.values[entries], histogram.shares[entries]
        risks = self._left(homes, here, excluded[parts.keys[1][homes], places], parts.keys.shape[1])
        width = len(histogram.population)
        at = np.searchsorted(homes * width + places, parts.index.astype(np.int64) * width + cells.keys[2])
        count = len(excluded)
        sets, everywhere = np.repeat(np.arange(count), width), np.tile(histogram.distribution, count)
        priors = self._left(sets, everywhere, excluded.ravel(), count)
        baseline = priors.reshape(excluded.shape)[cells.keys[1], cells.keys[2]] @ weights
        return self._over(risks[at], weights, float(baseline) / max(int(weights.sum()), 1))

    def _entries(self, dataset: Dataset, release: Release, name: str, masks: Codes) -> tuple[list[Codes], Counts, bool]:
        """The group, the rules that are met, the sensitive value and, where that is known, the person of records; how
        many records have these, and whether the person is known. Records themselves are looked at only where a plan
        tells those of one tuple apart."""
        tuples = groups_of_tuples(dataset, release)
        if tuples is not None:
            truth = dataset.summary.histogram(name)
            people = [] if truth.people is None else [truth.people.codes]
            columns = [tuples[truth.owners], masks[truth.owners], truth.values, *people]
            return columns, truth.counts, bool(people)
        person = () if dataset.schema.person is None else (dataset.schema.person,)
        groups = groups_of_records(dataset, release)
        listed = dataset.table.listing(dataset.schema.quasi, (name, *person), release.seed)
        columns = [groups, np.repeat(masks, dataset.summary.sizes), *listed]
        return columns, np.ones(len(groups), np.int64), bool(person)

    def _left(self, homes: NDArray[np.int64], shares: Floats, excluded: NDArray[np.bool_], parts: int) -> Floats:
        """How likely each entry is when some are excluded; entries stand part by part."""
        left = np.where(excluded, 0.0, shares)
        gone = np.bincount(homes, weights=shares - left, minlength=parts).astype(np.float64)
        return beliefs_after(np.searchsorted(homes, np.arange(parts + 1)), left, self.values, gone)

    def _exclusions(self, dataset: Dataset, tree: Hierarchy) -> tuple[Codes, NDArray[np.bool_]]:
        """For each tuple of quasi-identifiers, which rules its people meet, as a number; and for each such number the
        values that they cannot have."""
        if len(self.rules) > MOST_RULES:
            raise ParameterError(f"at most {MOST_RULES} rules are taken")
        quasi, keys = dataset.schema.quasi, dataset.summary.keys
        met = np.zeros(len(dataset.summary), np.int64)
        ruled_out = []
        for place, rule in enumerate(self.rules):
            conditions, arrow, value = rule.rpartition("=>")
            leaf = tree.parse(value.strip())
            if not arrow or not conditions.strip():
                raise ParameterError("a rule is written CONDITION => VALUE, such as 'sex = Male => breast cancer'")
            if leaf is None:
                raise ParameterError(f"rule {place + 1} names a value that column {tree.column!r} does not have")
            here = np.ones(len(met), dtype=np.bool_)
            for condition in where(conditions.split(" and "), quasi):
                name, hierarchy = condition.column, dataset.schema.hierarchy_of(condition.column)
                texts, kind = hierarchy.labels[0].tolist(), dataset.schema[name].kind
                labels = Labels(name, texts, np.ones(len(texts)), hierarchy=hierarchy, kind=kind)
                here &= condition.meaning(labels).sure[keys[quasi.index(name)]]
            met |= here.astype(np.int64) << place
            ruled_out.append(leaf)
        sets, index = np.unique(met, return_inverse=True)
        excluded = np.zeros((len(sets), tree.size), dtype=np.bool_)
        for place, (first, last) in enumerate(ruled_out):
            excluded[:, first : last + 1] |= ((sets >> place) & 1).astype(np.bool_)[:, None]
        return index.astype(np.int32), excluded


def beliefs_after(starts: Counts, shares: Floats, ruled_out: int, gone: Floats | None = None) -> Floats:
    """How likely each entry is when so many of the largest other ones of its group are ruled out, and a share of the
    group that is `gone` already. Where people have several values, shares add up to more than 1, and nothing is more
    than certain."""
    owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    order = np.lexsort((-shares, owners))
    sums = np.append(0.0, np.cumsum(shares[order]))
    ranks = np.empty(len(shares), np.int64)
    ranks[order] = np.arange(len(shares)) - np.asarray(starts)[owners]
    first, last = np.asarray(starts)[:-1], np.asarray(starts)[1:]
    top, more = (sums[np.minimum(first + count, last)] - sums[first] for count in (ruled_out, ruled_out + 1))
    others = np.where(ranks < ruled_out, more[owners] - shares, top[owners])
    left = 1 - others - (0.0 if gone is None else gone[owners])
    return np.minimum(np.where(shares > 0, shares / np.maximum(np.maximum(left, shares), 1e-300), 0.0), 1.0)
