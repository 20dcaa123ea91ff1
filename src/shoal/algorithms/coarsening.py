"""Coarsening: the classes of earlier releases again, merged where the policy asks for more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.adversary.locating import heads
from shoal.algorithms._clustering import Numeric, Publish, outputs
from shoal.algorithms._merging import merged, merged_as_published
from shoal.algorithms._records import Records, numbered
from shoal.algorithms.mondrian import Mondrian
from shoal.core.contracts.algorithm import Algorithm
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, group
from shoal.core.parameters import Examples
from shoal.core.policy import Policy
from shoal.core.recoding import Recoding
from shoal.core.release_history import History, Promise
from shoal.core.run import Run
from shoal.errors import InfeasibleError


@dataclass(frozen=True, kw_only=True)
class Coarsening(Algorithm):
    """Publishes people together who were together in every earlier release of a ledger, and merges such classes where
    the policy asks for more. Whoever lays all releases beside one another then finds no smaller class than the smallest
    that one of them has.

    People who came since the last release, and those who stayed of classes that others left, are classes of their own,
    because whoever knows who came and left tells them apart anyway. Where such a class is smaller than what the
    releases promise, its people are left out as far as the suppression allows: those who came wait for a later release.

    Does not protect people who left: what stood in an earlier release and is no longer there is known to be theirs. A
    ledger judges that when the release is made. Loses at least as much as the earlier releases together. The first
    release of a ledger is Mondrian's.

    Reference: decision 14 of this documentation.

    Example:
        >>> import shoal, tempfile
        >>> from pathlib import Path
        >>> ledger = Path(tempfile.mkdtemp()) / "people.ledger"
        >>> data = shoal.read(shoal.samples.adult().head(300), quasi=["age", "sex"], sensitive=["occupation"])
        >>> _ = shoal.anonymize(data, "k-anonymity:k=3", algorithm="mondrian", ledger=ledger)
        >>> release = shoal.anonymize(data, "k-anonymity:k=6", algorithm=Coarsening(), ledger=ledger)
        >>> int(release.classes.sizes.min()) >= 6
        True
    """

    numeric: Numeric = "interval"
    publish: Publish = ()

    counts_people: ClassVar[bool] = True
    examples: ClassVar[Examples] = ({},)

    def search(self, dataset: Dataset, policy: Policy, run: Run) -> Recoding:
        policy.check_apart("coarsening")
        history = policy.history
        if history is None or not history.releases:
            return Mondrian(numeric=self.numeric, publish=self.publish).search(dataset, policy, run)
        records = Records.of(dataset, policy, outputs(dataset, self.numeric, self.publish))
        owners, left_out, least = _together(dataset, policy, history)
        lacking, budget = int(left_out.sum()), min(policy.budget(len(records)), len(records) - 1)
        if lacking > budget:
            raise InfeasibleError(
                f"{lacking:,} of {len(records):,} people hide among fewer than {least} with the earlier releases, and "
                f"{budget:,} may be left out; allow more suppression, wait until more people came, or use m-invariance",
                {"least": least, "lacking": lacking, "budget": budget},
            )
        classes, mergers = merged(records, numbered(np.where(left_out, -1, owners)), run)
        classes, more = merged_as_published(records, classes, run)
        facts = {"together": len(np.unique(owners)), "mergers": mergers + more, "waiting": lacking}
        return records.recoding(classes, facts)


def _together(dataset: Dataset, policy: Policy, history: History) -> tuple[Codes, NDArray[np.bool_], int]:
    """A number for each record, the same for those who were together in every earlier release; which records are
    together with too few others; and the most that a release promises.

    A record needs as many as every release promises that shows it, this one included, unless one release alone has put
    it together with no more than are left.
    """
    classes, present, groups = history.places(dataset, policy.seed)
    columns = [*(classes + 1), *(groups + 1), *present.astype(np.int32)]
    owners = group(columns, index=True).index
    least = np.full(len(owners), max(Promise.of(policy.models).k, 1))
    alone = np.full(len(owners), np.iinfo(np.int64).max)
    for release, here in zip(history.releases, classes, strict=True):
        shown = here >= 0
        least[shown] = np.maximum(least[shown], release.promise.k)
        if release.classes is not None:
            alone[shown] = np.minimum(alone[shown], heads(release.classes, release.ids)[here[shown]])
    together = heads(owners, history.people(dataset, policy.seed))[owners]
    return owners, (together < least) & (together < alone), int(least.max(initial=1))
