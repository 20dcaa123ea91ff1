"""Impossible policies: what no release of a table can keep, why, and the most that one could keep."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from shoal.core.classes import Classes
from shoal.core.contracts.model import Model
from shoal.core.dataset import Dataset
from shoal.core.formatting import counted
from shoal.core.policy import Policy
from shoal.errors import InfeasibleError


@contextmanager
def explaining(data: Dataset, policy: Policy) -> Iterator[None]:
    """Says of a search that failed whether any other one must fail as well, and what to ask for instead."""
    try:
        yield
    except InfeasibleError as error:
        reasons = [reason for model in policy.models if (reason := _reason(data, model, policy.suppression))]
        if not reasons:
            raise
        details = str(error).partition("; a full-domain search may")[0]  # which would fail as well
        raise InfeasibleError(f"{'; '.join(reasons)} ({details})", error.attempt) from None


def _reason(data: Dataset, model: Model, suppression: float) -> str | None:
    """Why no release can keep a model; None where one may."""
    if not model.merge_monotone or model.whole_table:
        return None
    people = data.records if data.people is None else data.people
    everybody = counted(people, "records" if data.people is None else "people")
    head = f"{model.claim} is impossible here: "
    if model.least > people:
        most = f"; ask for {model.asks} = {people:,} at most" if model.by_size else ""
        return f"{head}the table has only {everybody}{most}"
    whole = _one_class(data.margin)
    if model.keeps(model.levels(whole)).all():
        return None
    best = _spelled(model, float(model.worst(model.levels(whole))))
    for histogram in whole.sensitive:
        values = int(np.count_nonzero(histogram.population))
        if getattr(model, "column", None) in (None, histogram.column) and values < model.variety:
            return f"{head}column {histogram.column!r} has only {counted(values, 'distinct values')}{best}"
    if suppression and model.judge(whole)[1].sum() <= suppression * data.records:
        return None
    return f"{head}even all {everybody} in one group, which hides the most, do not reach it{best}"


def _one_class(classes: Classes) -> Classes:
    return classes.rolled(np.zeros(len(classes), np.int32), classes.keys[:, :1])


def _spelled(model: Model, level: float) -> str:
    """What to ask for at most, rounded to the side that can be had."""
    if not math.isfinite(level):
        return ""
    if model.whole:
        figure = f"{int(level):,}"
    else:
        figure = f"{(math.floor if model.more_is_safer else math.ceil)(level * 100) / 100:g}"
    return f"; ask for {model.asks} = {figure} at {'most' if model.more_is_safer else 'least'}"
