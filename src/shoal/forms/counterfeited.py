"""Two tables with counterfeits: some groups show values that none of their people has (Xiao and Tao, 2007)."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.published_tables import PublishedTables
from shoal.core.recoding import Recoding
from shoal.forms._reading import agreement
from shoal.forms.two_table import GROUP, TwoTableForm, TwoTableView
from shoal.publishing.decision import check_counterfeits, check_people


@dataclass(frozen=True, kw_only=True)
class CounterfeitedForm(TwoTableForm):
    """The main table has the quasi-identifiers as they are and a group number; a second one says how often each group
    has each sensitive value, and may count more values than the group has people. How many more is told by the two
    tables; which of the values are counterfeits is not.

    Counts over the second table are too high by the counterfeits, whose total is in the manifest. Who is in the table
    is told, as in two tables without them.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"age": [21, 22, 23, 24], "disease": ["flu", "hiv", "flu", "hiv"]})
        >>> data = shoal.read(table, quasi=["age"], sensitive=["disease"])
        >>> release = shoal.anonymize(data, shoal.FrequencyLDiversity(l=2), algorithm="m-invariance", seed=1)
        >>> release.view.agreement()[0].holds, release.provenance["counterfeits"]
        (True, 0)
    """

    def view(self, release: PublishedTables) -> CounterfeitedView:
        return CounterfeitedView(release)


@dataclass(frozen=True, eq=False)
class CounterfeitedView(TwoTableView):
    """Exact people, and groups whose values are those of their people and of counterfeits."""

    def check(self, dataset: Dataset, recoding: Recoding) -> None:
        placement = self.placement(recoding)
        check_counterfeits(dataset, recoding, self.groups(), placement, self.release.seed)
        check_people(dataset, recoding.planned, self._rows, placement)

    def agreement(self) -> tuple[Finding, ...]:
        listed = self._sizes("", self.release.grouped("", (GROUP,)))
        counted = self._sizes("sensitive", self.groups())
        agree = set(listed) == set(counted) and all(listed[name] <= counted[name] for name in listed)
        return agreement(agree, "no group of the main table has more records than the other table counts values")
