"""Every algorithm stops soon after it is told to, also in the middle of its work on a large table."""

from __future__ import annotations

import time
from functools import cache
from threading import Thread
from typing import Any

import pytest
from counts import LONG
from making import names

import shoal
from shoal import registry
from shoal.core.policy import Policy
from shoal.core.run import Run
from shoal.errors import CancelledError, ParameterError

QUASI = ["age", "gender", "education", "marital-status", "race", "work-class", "country", "salary-class"]
POLICIES = (
    Policy(models=(shoal.KAnonymity(k=5),), suppression=0.01),
    Policy(models=(shoal.FrequencyLDiversity(l=3),), suppression=0.01),
    Policy(models=(shoal.models.InferenceL(l=2),), suppression=0.9),
    Policy(models=()),
    Policy(models=(), suppression=0.5),
)
SOON = 1.0
"""Half a second is promised; a slow machine gets another half."""


MOMENTS = (0.1, 0.3, 0.6) if LONG else (0.2,)
"""Seconds after which a search is cancelled."""
REFINING = ("refining", "rebuilding") if LONG else ("refining",)
"""How a search says that it improves what it has."""
NAMES = names("algorithms")
REFINED = [name for name in NAMES if "refine" in registry.find("algorithms", name).__dataclass_fields__]


NEEDED = {"targeted-swapping": {"geography": ("country",)}}
"""What an algorithm has to be told about the table."""


def made(name: str, options: dict[str, Any]) -> Any:
    return registry.make("algorithms", name, {**NEEDED.get(name, {}), **options})


def variants() -> list[tuple[str, dict[str, Any], float]]:
    """Each algorithm as it is; in the long suite also refined, which takes seconds to begin on a large table."""
    found = [(name, dict[str, Any](), seconds) for name in NAMES for seconds in MOMENTS]
    return [*found, *((name, {"refine": True}, 2.5) for name in REFINED if LONG)]


def census(rows: int) -> shoal.Dataset:
    data = shoal.read(
        shoal.samples.census(rows), quasi=QUASI, sensitive=["occupation"],
        hierarchies=shoal.samples.hierarchies("census"),
    )  # fmt: skip
    assert data.summary.records == rows
    return data


@cache
def small() -> shoal.Dataset:
    return census(1_000)


@cache
def large() -> shoal.Dataset:
    return census(300_000)


@cache
def searched(name: str, *, refine: bool = False) -> tuple[Policy, tuple[tuple[float, str], ...]]:
    """The first policy that an algorithm takes, and what its search reported. Its kernels are then compiled, which
    cannot be stopped."""
    algorithm = made(name, {"refine": True} if refine else {})
    for policy in POLICIES:
        if algorithm.claims == bool(policy.models):
            reports: list[tuple[float, str]] = []
            try:
                algorithm.search(small(), policy, Run(lambda share, doing, to=reports: to.append((share, doing))))
            except ParameterError:
                continue
            return policy, tuple(reports)
    raise AssertionError("it takes no policy at all")


def cancelled(
    algorithm: Any, data: shoal.Dataset, policy: Policy, seconds: float
) -> tuple[type[BaseException] | None, float]:
    """How a search ended that was cancelled after so many seconds, and how long that took: on the clock, or, where
    others kept the machine busy, in processor time."""
    run, ended = Run(), list[BaseException | None]()

    def work() -> None:
        try:
            algorithm.search(data, policy, run)
            ended.append(None)
        except BaseException as error:
            ended.append(error)

    thread = Thread(target=work)
    thread.start()
    thread.join(seconds)
    run.cancel()
    told, worked = time.perf_counter(), time.process_time()
    thread.join()
    late = min(time.perf_counter() - told, time.process_time() - worked)
    return type(ended[0]) if ended[0] is not None else None, late


@pytest.mark.parametrize(("name", "options", "seconds"), variants(), ids=str)
def test_stops_within_half_a_second(name: str, options: dict[str, Any], seconds: float) -> None:
    policy, _ = searched(name, **options)
    how, late = cancelled(made(name, options), large(), policy, seconds)
    assert late < SOON
    assert how in (CancelledError, None)


@pytest.mark.parametrize("phase", REFINING)
@pytest.mark.parametrize("name", REFINED)
def test_stops_while_it_refines(name: str, phase: str) -> None:
    """On a small table, since most of them take minutes to come so far with a large one."""

    def told(share: float, doing: str) -> None:
        if phase in doing:
            run.cancel()
            cancelled_at.append(time.process_time())

    algorithm, run, cancelled_at = made(name, {"refine": True}), Run(told), list[float]()
    policy, _ = searched(name)
    with pytest.raises(CancelledError):
        algorithm.search(small(), policy, run)
    assert len(cancelled_at) == 1 and time.process_time() - cancelled_at[0] < SOON


@pytest.mark.parametrize("name", NAMES)
def test_a_cancelled_run_never_ends_well(name: str) -> None:
    algorithm, run = made(name, {}), Run()
    policy, _ = searched(name)
    run.cancel()
    with pytest.raises(CancelledError):
        algorithm.search(small(), policy, run)


@pytest.mark.parametrize("name", NAMES)
def test_tells_how_far_it_is(name: str) -> None:
    _, reports = searched(name)
    shares = [share for share, _ in reports]
    assert shares == sorted(shares)
    assert shares and shares[0] >= 0 and shares[-1] <= 1
