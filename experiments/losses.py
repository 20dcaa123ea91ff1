"""What the experiments share that compare losses and times of algorithms."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import shoal


def compared(
    data: shoal.Dataset, algorithms: Mapping[str, str], models: Sequence[str], metrics: Sequence[str]
) -> dict[str, Any]:
    """What each algorithm loses under some models, and its seconds of the processor, by the name of the algorithm."""
    found = {}
    for name, algorithm in algorithms.items():
        began = time.process_time()
        release = shoal.anonymize(data, *models, algorithm=algorithm, seed=1)
        spent = time.process_time() - began
        scores = shoal.evaluate(data, release, *metrics)
        found[name] = {"seconds": spent, **{metric: scores[metric].value for metric in metrics}}
    return found
