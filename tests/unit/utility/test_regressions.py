"""Regressions by themselves."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from shoal.utility.regressions import chances, fit


def test_figures_do_not_depend_on_the_number_of_processors() -> None:
    draw = np.random.default_rng(0)
    terms, outcome = (draw.random((1500, 160)) < 0.3).astype(float), (draw.random(1500) < 0.4).astype(float)
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            if threads not in {library["num_threads"] for library in threadpool_info()}:
                pytest.skip("they need linear algebra that can use two threads")
            line = fit("linear", terms, outcome, np.ones(1500))
            found.append((chances(terms, outcome), line.coefficients, line.errors))
    for one, two in zip(*found, strict=True):
        assert one.tolist() == two.tolist()
