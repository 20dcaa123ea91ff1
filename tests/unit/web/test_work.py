"""Background work: it queues, can be stopped, is found again, and tells no value of an error."""

from __future__ import annotations

import importlib
import threading

import pytest

from shoal.core.run import Run
from shoal.errors import InputError
from shoal.web.work import MOST_KEPT, TaskState, Work


@pytest.fixture
def work():
    made = Work()
    yield made
    made.stop()


def patient(gate: threading.Event):
    """Work that goes on until it is let or told to stop."""

    def waits(run: Run) -> str:
        while not gate.wait(0.01):
            run.report(0.5, "waiting")
        return "done"

    return waits


def test_whoever_asks_for_the_same_finds_it_again(work: Work) -> None:
    gate = threading.Event()
    first = work.task("one", "work.look", patient(gate))
    assert work.task("one", "work.look", patient(gate)) is first
    gate.set()
    assert work.wait_for(first, 5).result == "done" and first.state is TaskState.DONE


def test_long_tasks_queue_and_the_first_goes_first(work: Work) -> None:
    gate = threading.Event()
    tasks = [work.task(name, "work.look", patient(gate), long=True) for name in "abc"]
    while tasks[0].state is not TaskState.RUNNING:
        pass
    assert [task.state for task in tasks] == [TaskState.RUNNING, TaskState.WAITING, TaskState.WAITING]
    assert [task.number for task in work.active] == [task.number for task in tasks]
    gate.set()
    assert all(work.wait_for(task, 5).state is TaskState.DONE for task in tasks)


def test_a_task_is_stopped_while_it_runs_and_while_it_waits(work: Work) -> None:
    gate = threading.Event()
    running, waiting = (work.task(name, "work.look", patient(gate), long=True) for name in "ab")
    while running.state is not TaskState.RUNNING:
        pass
    for task in (waiting, running):
        work.cancel(task.number)
    assert work.wait_for(running, 5).state is work.wait_for(waiting, 5).state is TaskState.STOPPED
    work.again(running.number)
    gate.set()
    fresh = work.task("a", "work.look", patient(gate), long=True)
    assert fresh is not running and work.wait_for(fresh, 5).state is TaskState.DONE


def test_a_task_that_met_another_one_in_the_middle_of_an_import_tries_again(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[int] = []

    def importing(run: Run) -> int:
        tries.append(1)
        if len(tries) < 3:
            raise importlib._bootstrap._DeadlockError
        return 4

    task = work.wait_for(work.task("import", "importing", importing), 5)
    assert (task.state, task.result, len(tries)) == (TaskState.DONE, 4, 3)
    tries.clear()
    monkeypatch.setattr("shoal.web.work._DEADLOCK", ())  # as in a Python that has no such error
    task = work.wait_for(work.task("again", "importing", importing), 5)
    assert task.state is TaskState.FAILED and "_DeadlockError" in task.error and len(tries) == 1


def test_only_errors_that_are_meant_for_people_are_told(work: Work) -> None:
    def refuses(run: Run) -> None:
        raise InputError("the table has no record")

    def breaks(run: Run) -> None:
        raise ValueError("Jane Doe, 1984-05-17")

    told, untold = work.task("a", "work.look", refuses), work.task("b", "work.look", breaks)
    assert work.wait_for(told, 5).error == "the table has no record"
    assert work.wait_for(untold, 5).error == "something went wrong inside Shoal (ValueError)"
    assert "Doe" not in str(untold.as_dict())


def test_only_so_many_results_are_kept(work: Work) -> None:
    for number in range(MOST_KEPT + 20):
        work.wait_for(work.task(number, "work.look", lambda run: 1), 5)
    work.task("last", "work.look", lambda run: 1)
    assert work.find(0) is None and work.find(MOST_KEPT + 10) is not None
