"""The risk that is left: how many people can be found how easily, held against thresholds in use."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from shoal.core.classes import Classes
from shoal.core.release import Release
from shoal.core.risk_line import LINE, one_in
from shoal.errors import NotDefined

USUAL = {
    1 / 20: "public release of data whose disclosure would do great harm",
    LINE: "public release: European Medicines Agency, Health Canada (written as 0.09)",
    1 / 5: "recipients under contract, in a safe place",
    1 / 3: "a floor that some holders use for trusted recipients",
}
"""Thresholds that regulators and holders name, and for what."""


@dataclass(frozen=True, kw_only=True)
class Threshold:
    """How many are above a risk of one in so many; `chosen` is the one that the report is held against."""

    one_in: int
    above: int
    share: float
    used_for: str = ""
    chosen: bool = False

    @property
    def risk(self) -> float:
        return 1 / self.one_in


@dataclass(frozen=True, kw_only=True)
class Risk:
    """The chance to find somebody who is known to be in the release, by the published quasi-identifiers alone.

    `counted` says what is counted: people, or records where nothing says whose they are.
    """

    counted: str
    everybody: int
    highest: float
    average: float
    thresholds: tuple[Threshold, ...]

    @property
    def chosen(self) -> Threshold:
        return next(each for each in self.thresholds if each.chosen)

    @property
    def holds(self) -> bool:
        """Whether nobody is above the chosen threshold."""
        return self.chosen.above == 0

    def as_dict(self) -> dict[str, Any]:
        listed = [{"risk": each.risk, **asdict(each)} for each in self.thresholds]
        return {**vars(self), "thresholds": listed, "holds": self.holds}


def classes_of(release: Release) -> Classes | str:
    """The classes in which people hide, or why there are none."""
    try:
        return release.in_people(release.view.people())
    except NotDefined as reason:
        return str(reason)


def left(classes: Classes, threshold: float) -> Risk:
    """The risk that is left in classes."""
    sizes, people = classes.hiding()
    everybody = int(people.sum())
    heads = classes.headcounts
    places = int(heads.sum())
    chosen = one_in(threshold)
    wanted = {one_in(usual): words for usual, words in USUAL.items()}
    listed = []
    for size in sorted({*wanted, chosen}, reverse=True):
        above = int(people[sizes < size].sum())
        share = above / max(everybody, 1)
        words = wanted.get(size, "")
        listed.append(Threshold(one_in=size, above=above, share=share, used_for=words, chosen=size == chosen))
    return Risk(
        counted="records" if classes.people is None else "people",
        everybody=everybody,
        highest=1 / int(heads.min()) if len(heads) else 0.0,
        average=len(heads) / places if places else 0.0,
        thresholds=tuple(listed),
    )
