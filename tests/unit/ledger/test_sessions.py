"""Answered sessions are counted before anything is told, and refused beyond what the holder allows."""

import threading

import pytest

from shoal.errors import DisclosureError, InputError
from shoal.ledger import Ledger
from shoal.ledger.sessions import check_answer, enter_answer


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "a.ledger")


def test_answers_are_counted_and_refused_beyond_the_limit(ledger):
    assert check_answer(ledger, most=1) == 0 and not ledger.path.exists()
    ledger.enter_session({"step": "finish", "own": 4, "other": 5})  # what the holder asked tells nothing about its list
    enter_answer(ledger, "a" * 16, {"step": "answer", "other": 4}, most=2)
    enter_answer(ledger, "b" * 16, {"step": "listen", "other": 7}, most=2)
    assert check_answer(ledger, most=3) == 2
    with pytest.raises(DisclosureError, match="2 answered sessions, and you allow 2") as refused:
        enter_answer(ledger, "c" * 16, {"step": "answer", "other": 4}, most=2)
    assert refused.value.exit_code == 3
    assert [each["step"] for each in ledger.store.sessions()] == ["finish", "answer", "listen"]


def test_a_session_is_answered_once(ledger):
    enter_answer(ledger, "a" * 16, {"step": "answer"})
    with pytest.raises(InputError, match="answered before"):
        enter_answer(ledger, "a" * 16, {"step": "answer"})
    with pytest.raises(InputError, match="answered before"):
        check_answer(ledger, most=10, session="a" * 16)
    enter_answer(ledger, "b" * 16, {"step": "answer"})
    assert len(ledger.store.sessions()) == 2


def test_of_several_answers_at_once_no_more_pass_than_are_allowed(ledger):
    passed, refused = [], []

    def answer(number):
        try:
            enter_answer(ledger, f"{number:016}", {"step": "answer"}, most=2)
            passed.append(number)
        except DisclosureError as error:
            refused.append(error)

    threads = [threading.Thread(target=answer, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(passed), len(refused), len(ledger.store.sessions())) == (2, 4, 2)
