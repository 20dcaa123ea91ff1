"""Whole tables on which the default is timed: Adult and a survey, under every model that it serves and combinations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars

import shoal
from benchmarks.local_recoding import EIGHT, NINE, adult

SURVEY = Path(__file__).parents[2] / "shared" / "data" / "survey" / "testdata.csv"
"""The survey table of sdcMicro, where it lies beside the repository."""
SURVEYED = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "age"]
SEVEN = [name for name in EIGHT if name != "salary-class"]
K = "k-anonymity:k=5"
FEW_OUT = {"suppression": 0.02}
ALONG = {"algorithm": "auto:numeric=hierarchy"}
BUCKETS = {"algorithm": "bucket-clustering:refine=true"}


class Case(NamedTuple):
    """A table by its name, a policy, and whatever else is asked for."""

    table: str
    models: Sequence[str]
    options: Mapping[str, Any] = {}

    def __str__(self) -> str:
        asked = ", ".join((*self.models, *(f"{key} {value}" for key, value in self.options.items())))
        return f"{self.table}: {asked}"


def _adult(*sensitive: str, quasi: Sequence[str] = EIGHT, **read: Any) -> shoal.Dataset:
    """Adult with a drawn column for each of the roles that it has no column for."""
    table = shoal.samples.adult().drop("education-num")
    generator = np.random.default_rng(1)
    columns = {
        "person": generator.permutation(table.height) // 2,
        "household": generator.permutation(table.height) // 3,
        "weight": generator.integers(1, 40, table.height).astype(float),
    }
    table = table.with_columns(**{name: polars.Series(columns[name]) for name in read if name in columns})
    folder = shoal.samples.hierarchies("adult")
    return shoal.read(table, quasi=quasi, sensitive=sensitive, hierarchies=folder, **read)


def _survey(*sensitive: str, **read: Any) -> shoal.Dataset:
    table = polars.read_csv(SURVEY).select([*SURVEYED, *sensitive, *read.values()])
    return shoal.read(table, quasi=SURVEYED, sensitive=sensitive, **read)


TABLES: Mapping[str, Callable[[], shoal.Dataset]] = {
    "Adult": lambda: adult(EIGHT, "occupation"),
    "Adult, nine columns": lambda: adult(NINE),
    "Adult, two sensitive": lambda: _adult("occupation", "salary-class", quasi=SEVEN),
    "Adult, two jointly": lambda: _adult("occupation", "salary-class", quasi=SEVEN, protect_jointly=True),
    "Adult, people": lambda: _adult("occupation", person="person"),
    "Adult, households": lambda: _adult("occupation", household="household"),
    "Adult, weights": lambda: _adult("occupation", weight="weight"),
    "survey": lambda: _survey("hhcivil"),
    "survey, income": lambda: _survey("income"),
    "survey, two sensitive": lambda: _survey("hhcivil", "income"),
    "survey, people": lambda: _survey("hhcivil", person="ori_hid"),
    "survey, households": lambda: _survey("hhcivil", household="ori_hid"),
    "survey, weights": lambda: _survey("hhcivil", weight="household_weights"),
}


def _values(name: str, l: float, alpha: float, delta: float, member: str) -> Iterator[Case]:  # noqa: E741
    """Every model of sensitive values, at bounds that the table can keep."""
    for models in (
        (K, "distinct-l-diversity:l=3"),
        (f"frequency-l-diversity:l={l:g}",),
        (f"entropy-l-diversity:l={min(l + 0.5, 3):g}",),
        (f"recursive-l-diversity:c=2,l={3 if l > 2 else 2}",),
        ("p-sensitive-k-anonymity:p=3,k=5",),
        (f"alpha-k-anonymity:alpha={alpha},k=5",),
        (f"alpha-k-anonymity:alpha=0.4,k=5,values={member}",),
        (K, "beta-likeness:beta=2"),
        (K, "beta-likeness:beta=2,enhanced=true"),
        (K, "t-closeness:t=0.3"),
        (K, "t-closeness:t=0.2", "distinct-l-diversity:l=3"),
        (K, "t-closeness:t=0.15,distance=ordered"),
        (K, "t-closeness:t=0.3,distance=hierarchical"),
        (K, "delta-disclosure:delta=1"),
        (K, "delta-disclosure:delta=1,strict=false"),
        (f"delta-presence:delta_max=0.5,values={member}",),
        (f"delta-presence:delta_min=0.05,delta_max=0.5,values={member}",),
        (f"k-map:k=5,values={member}",),
        (K, f"disclosure-bounds:delta={delta}"),
        (K, "rho-privacy:rho1=0.1,rho2=0.5"),
    ):
        yield Case(name, models)
    yield Case(name, ("inference-l:l=2",), {"suppression": 0.3})


def _cases() -> Iterator[Case]:
    for name, l, alpha, delta, member in (  # noqa: E741
        ("Adult", 3, 0.4, 0.5, "Sales"),
        ("survey", 1.5, 0.65, 0.35, "2"),
    ):
        for models in ((K,), ("k-combinations:k=5,size=2",), ("k-combinations:k=5,size=3",)):
            yield Case(name, models)
        yield Case(name, ("wildcard-k-anonymity:k=5",))
        yield from (Case(name, (f"k-anonymity:k={k}",)) for k in (20, 50, 100, 200))
        yield from _values(name, l, alpha, delta, member)
        for models in ((K,), (K, "distinct-l-diversity:l=3"), (K, "t-closeness:t=0.3")):
            yield Case(name, models, FEW_OUT)
            yield Case(name, models, ALONG)
        yield Case(name, ("k-combinations:k=5,size=3",), FEW_OUT)
        yield Case(name, (K, "t-closeness:t=0.3"), {**ALONG, **FEW_OUT})
        for models in ((K,), (K, "distinct-l-diversity:l=3"), (K, "t-closeness:t=0.3")):
            yield Case(f"{name}, people", models)
        yield Case(f"{name}, households", ("k-households:k=3",))
        yield Case(f"{name}, households", (K, "k-households:k=3", "distinct-l-diversity:l=3"))
        yield Case(f"{name}, weights", ("estimated-k-map:k=50",))
        yield Case(f"{name}, weights", (K, "estimated-k-map:k=200"))
    yield Case("Adult", ("frequency-l-diversity:l=5",))
    yield Case("Adult", ("entropy-l-diversity:l=3",), ALONG)
    yield Case("Adult, people", ("frequency-l-diversity:l=3",))
    yield Case("Adult, nine columns", (K,))
    yield Case("Adult, nine columns", ("k-combinations:k=5,size=3",))
    for name in ("Adult, two sensitive", "Adult, two jointly"):
        for first in ("distinct-l-diversity:l=3", "t-closeness:t=0.3"):
            yield Case(name, (K, f"{first},column=occupation", "t-closeness:t=0.3,column=salary-class"))
    ordered = "t-closeness:t=0.3,distance=ordered,column=income"
    yield Case("survey, two sensitive", (K, "distinct-l-diversity:l=2,column=hhcivil", ordered))
    for models in (
        (K, "distinct-l-diversity:l=3"),
        ("frequency-l-diversity:l=3",),
        ("entropy-l-diversity:l=3",),
        (K, "t-closeness:t=0.3"),
        (K, "t-closeness:t=0.2,distance=ordered", "distinct-l-diversity:l=3"),
    ):
        yield Case("survey, income", models)
    for l in (3, 5):  # noqa: E741
        yield Case("Adult", (f"frequency-l-diversity:l={l}",), BUCKETS)


CASES = tuple(_cases())
