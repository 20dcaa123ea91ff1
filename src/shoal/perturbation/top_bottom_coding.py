"""Top and bottom coding with the mean of what was coded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray
from typing_extensions import Doc

from shoal.core.contracts.algorithm import Algorithm
from shoal.core.dataset import Dataset
from shoal.core.displacement import Coordinate, Displacement
from shoal.core.parameters import Examples
from shoal.core.policy import Policy
from shoal.core.recoding import Recoding
from shoal.core.run import Run
from shoal.errors import InfeasibleError, ParameterError, VerificationError
from shoal.perturbation._numeric import (
    Floats,
    by_column,
    chosen_columns,
    exact_numbers,
    finite,
    is_numeric,
    people_of,
    record_weights,
)

Mask = NDArray[np.bool_]
DEFAULT = "1%"


@dataclass(frozen=True, kw_only=True)
class TopBottomCoding(Algorithm):
    """Replaces the highest and the lowest values of a column by their mean, so that nobody stands out at either end.

    Each tail has at least `k` people, which is checked; its values all become their mean. So the mean and the sum of
    the column stay what they were, but for the last digit of a floating-point number (the weighted ones, where the
    table has survey weights), and every value between the tails stays as it is.

    A tail begins at a value (`age=85`: 85 and above) or takes a share of the records (`income=1%`: the highest percent,
    and whoever has the same value); a share with too few people grows until there are `k`, a value with too few is
    refused. Without any, 1 % is coded at both ends of all numeric quasi-identifiers.

    Does not protect against: linkage by what lies between the tails, or by other columns. Tails of few people with
    one giant value tell about that value through their mean. It claims no privacy model.

    Reference: A. Hundepool and others, Statistical disclosure control, 2012, section 3.3.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"age": [30, 41, 52, 86, 91, 99]}), quasi=["age"])
        >>> release = shoal.anonymize(data, algorithm=TopBottomCoding(top=("age=85",), k=3))
        >>> sorted(release.frame["age"])
        [30, 41, 52, 92, 92, 92]
    """

    top: Annotated[tuple[str, ...], Doc("where the highest values begin: column=VALUE or column=SHARE%")] = ()
    bottom: Annotated[tuple[str, ...], Doc("where the lowest values end: column=VALUE or column=SHARE%")] = ()
    k: Annotated[int, Ge(2), Doc("people that a tail has at least")] = 3

    claims: ClassVar[bool] = False
    examples: ClassVar[Examples] = ({}, {"top": ("age=5%",), "k": 5})

    def search(self, dataset: Dataset, policy: Policy, run: Run) -> Recoding:
        top, bottom = by_column(self.top, "top"), by_column(self.bottom, "bottom")
        names = chosen_columns(
            dataset, tuple(dict.fromkeys((*top, *bottom))), is_numeric, "numeric", "this changes numbers"
        )
        if not top and not bottom:
            top = bottom = dict.fromkeys(names, DEFAULT)
        values, people = exact_numbers(dataset, names, policy.seed), people_of(dataset, policy.seed)
        weights = record_weights(dataset, policy.seed)
        counts, after = {}, values.copy()
        for place, name in enumerate(names):
            run.report(place / len(names), "coding tails")
            column = values[:, place]
            tails = [
                self._tail(name, sign * column, sign, said[name], people)
                for said, sign in ((top, 1), (bottom, -1))
                if name in said
            ]
            if len(tails) == 2 and (tails[0] & tails[1]).any():
                raise ParameterError(f"column {name!r}: the two tails overlap; choose shorter ones")
            for tail in tails:
                if len(np.unique(people[tail])) < self.k:
                    raise VerificationError(f"column {name!r}: a coded tail has fewer than k people")
                after[tail, place] = np.average(column[tail], weights=weights[tail])
            counts[name] = sum(int(tail.sum()) for tail in tails)
        columns = dict(zip(names, np.ascontiguousarray(after.T), strict=True))
        return Recoding(form="perturbed", facts={"columns": list(names), "coded": counts}, changed=columns)

    def _tail(self, name: str, values: Floats, sign: int, said: str, people: NDArray[np.int64]) -> Mask:
        """The records of the upper tail; of a lower one, the values have the other sign."""
        parameter = "top" if sign > 0 else "bottom"
        if not said.endswith("%"):
            tail: Mask = values >= sign * finite(said, parameter)
            count = len(np.unique(people[tail]))
            if count < self.k:
                raise InfeasibleError(
                    f"column {name!r}: {count} people are in the {parameter} tail, fewer than k = {self.k}; widen the "
                    "tail, or give it as a share such as 1%",
                    {"people": count},
                )
            return tail
        share = finite(said[:-1], parameter)
        if not 0 < share < 100:
            raise ParameterError(f"{parameter}: a share must be above 0% and below 100%")
        order = np.argsort(-values, kind="stable")[: int(np.count_nonzero(~np.isnan(values)))]
        first = np.zeros(len(order), np.bool_)
        first[np.unique(people[order], return_index=True)[1]] = True
        counts = np.cumsum(first)
        if not len(order) or counts[-1] < self.k:
            raise InfeasibleError(
                f"column {name!r}: {int(first.sum())} people have a value, fewer than k = {self.k}",
                {"people": int(first.sum())},
            )
        last = max(int(np.ceil(len(order) * share / 100)) - 1, int(np.searchsorted(counts, self.k)))
        reached: Mask = values >= values[order[last]]
        return reached

    def displacement(self, before: Floats, after: Floats) -> Displacement:
        return Displacement(tuple(chain.from_iterable(map(_coordinates, before.T, after.T))))


def _coordinates(before: Floats, after: Floats) -> Iterator[Coordinate]:
    """A coded value stands for any of its tail, all others for themselves."""
    low, high = after.copy(), after.copy()
    coded = after != before
    coded &= ~np.isnan(before)
    for mean in np.unique(after[coded]):
        tail = before[coded & (after == mean)]
        same = after == mean
        low[same], high[same] = min(tail.min(), mean), max(tail.max(), mean)
    yield Coordinate.between((low, high), (before, before), 0.0)
