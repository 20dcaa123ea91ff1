"""What the answering holder insists on: the command refuses with a reason and changes nothing."""

import json
import socket
import threading

import pytest
from jsonschema import validate

from shoal.cli import main, schemas
from shoal.errors import DisclosureError, InputError
from shoal.ledger import Ledger
from shoal.ledger.sessions import enter_answer
from shoal.overlap import Asker, cardinality, exchange

PEOPLE = [f"person {number}" for number in range(40)]
OTHERS = [f"person {number}" for number in range(15, 75)]


def ended(*arguments):
    with pytest.raises(SystemExit) as end:
        main([*map(str, arguments)])
    return int(end.value.code or 0)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, people in (("ours", PEOPLE), ("theirs", OTHERS)):
        (tmp_path / f"{name}.csv").write_text("who\n" + "\n".join(people) + "\n", encoding="utf-8")
    return tmp_path


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


START = ("overlap", "start", "ours.csv", "--column", "who", "-o", "ask.points", "--state", "ask.state")
ANSWER = ("overlap", "answer", "theirs.csv", "ask.points", "--column", "who", "-o", "answer.points")
FINISH = ("overlap", "finish", "ours.csv", "answer.points", "--column", "who", "--state", "ask.state")


@pytest.mark.parametrize(
    "asking, answering, reason",
    [
        ((), ("--size-only",), "asks who is common"),
        ((), ("--fewest", 5), "asks who is common"),
        ((), ("--fewest", 1), "asks who is common"),
        (("--size-only",), ("--fewest", 41), "fewer than 41 people"),
        (("--size-only",), ("--most", 39), "longer than 39"),
        (("--size-only",), ("--sessions", 5), "--ledger"),
    ],
)
def test_what_is_refused_changes_nothing(folder, capsys, asking, answering, reason):
    assert ended(*START, *asking) == 0
    before = contents(folder)
    ledger = () if "--sessions" in answering else ("--ledger", "their.ledger")
    capsys.readouterr()
    assert ended(*ANSWER, *answering, *ledger) == 2
    assert reason in " ".join(capsys.readouterr().err.split()) and contents(folder) == before


@pytest.mark.parametrize("size_only", [True, False])
@pytest.mark.parametrize("damage", [lambda message: message[:-1], lambda message: message + b"x", lambda message: b""])
def test_a_message_that_is_cut_or_damaged_changes_nothing(folder, capsys, size_only, damage):
    assert ended(*START, *(["--size-only"] * size_only)) == 0
    message = (folder / "ask.points").read_bytes()
    (folder / "ask.points").write_bytes(damage(message))
    before = contents(folder)
    assert ended(*ANSWER, "--ledger", "their.ledger") == 2 and contents(folder) == before
    (folder / "ask.points").write_bytes(message)
    assert ended(*ANSWER) == 0
    answer = (folder / "answer.points").read_bytes()
    (folder / "answer.points").write_bytes(damage(answer))
    before = contents(folder)
    assert ended(*FINISH, "--ledger", "our.ledger") == 2 and contents(folder) == before
    assert "Traceback" not in capsys.readouterr().err


def test_the_size_by_files(folder, capsys, monkeypatch):
    monkeypatch.setattr(cardinality, "noise", lambda fewest: cardinality.spread(fewest) + 3)
    assert ended(*START, "--size-only") == 0
    assert ended(*ANSWER, "--size-only", "--ledger", "their.ledger") == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "about how many of them are in your list, give or take 30" in told
    assert "answered session 1 of at most 10" in told
    before = contents(folder)
    assert ended(*FINISH, "-o", "common.csv", "--ledger", "our.ledger") == 2 and contents(folder) == before
    capsys.readouterr()
    assert ended(*FINISH, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    validate(found, schemas.schema("overlap"))
    assert (found["own"], found["other"], found["size"], found["margin"], found["fewer_than"]) == (40, 60, 28, 30, None)
    assert "About 28 people, give or take 30, are in both lists" in found["summary"]
    (entry,) = Ledger("their.ledger").store.sessions()
    assert (entry["step"], entry["other"], entry["size_only"], entry["fewest"]) == ("answer", 40, True, 10)


def test_sessions_are_counted_and_not_answered_twice(folder, capsys):
    assert ended(*START) == 0
    limited = (*ANSWER, "--ledger", "their.ledger", "--sessions", 2, "--overwrite")
    assert ended(*limited) == 0
    before = contents(folder)
    assert ended(*limited) == 2 and contents(folder) == before
    assert "answered before" in capsys.readouterr().err
    anew = (*START, "--overwrite")
    assert ended(*anew) == 0 and ended(*limited) == 0
    assert ended(*anew) == 0
    before = contents(folder)
    assert ended(*limited) == 3 and contents(folder) == before
    assert "2 answered sessions" in capsys.readouterr().err
    assert ended(*ANSWER, "--ledger", "their.ledger", "--sessions", 3, "--overwrite") == 0
    assert "This is answered session 3 of at most 3." in " ".join(capsys.readouterr().out.split())


def test_an_answer_that_could_not_be_written_does_not_count(folder, monkeypatch):
    assert ended(*START) == 0

    def full(self, *_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("pathlib.Path.write_bytes", full)
        assert ended(*ANSWER, "--ledger", "their.ledger") != 0
    assert not (folder / "answer.points").exists() and not (folder / "their.ledger").exists()
    assert ended(*ANSWER, "--ledger", "their.ledger") == 0


class Listener:
    """A holder that listens in a thread, and what became of it."""

    def __init__(self, **options):
        self.port, self.error, self.question = None, None, None
        ready = threading.Event()

        def told(port):
            self.port = port
            ready.set()

        def listening():
            try:
                self.question = exchange.listen(OTHERS, seconds=240, announce=told, **options)
            except (InputError, DisclosureError) as error:
                self.error = error

        self.thread = threading.Thread(target=listening)
        self.thread.start()
        assert ready.wait(240)


def test_the_size_between_two_processes(monkeypatch):
    monkeypatch.setattr(cardinality, "noise", cardinality.spread)
    listener = Listener(size_only=True, fewest=4)
    found = exchange.ask(PEOPLE, port=listener.port, size_only=True)
    listener.thread.join(240)
    assert (found.size, found.margin, listener.question.people, listener.question.size_only) == (25, 12, 40, True)


def test_a_listener_that_insists_on_the_size_tells_nothing_else():
    listener = Listener(size_only=True)
    with pytest.raises(InputError, match="closed the connection"):
        exchange.ask(PEOPLE, port=listener.port)
    listener.thread.join(240)
    assert "the size only" in str(listener.error)


def test_an_asker_that_closes_the_connection_is_counted_all_the_same(tmp_path):
    """It may have read nearly everything before it closed, so the entry comes first."""
    ledger = Ledger(tmp_path / "a.ledger")
    listener = Listener(entering=lambda question: enter_answer(ledger, question.session, {"step": "listen"}))
    message = Asker.of(PEOPLE).message
    with socket.create_connection(("127.0.0.1", listener.port)) as connection:
        connection.sendall(len(message).to_bytes(8, "big") + message)
        assert connection.recv(1)
    listener.thread.join(240)
    assert not listener.thread.is_alive() and len(ledger.store.sessions()) == 1


def test_a_listener_beyond_its_sessions_sends_nothing(tmp_path):
    ledger = Ledger(tmp_path / "a.ledger")
    enter_answer(ledger, "earlier0", {"step": "answer"})
    listener = Listener(entering=lambda question: enter_answer(ledger, question.session, {}, most=1))
    with pytest.raises(InputError, match="closed the connection"):
        exchange.ask(PEOPLE, port=listener.port, size_only=True)
    listener.thread.join(240)
    assert isinstance(listener.error, DisclosureError) and len(ledger.store.sessions()) == 1


def test_asking_for_the_size_and_a_file_of_people_is_refused_before_anybody_is_asked(folder, capsys):
    arguments = ("--column", "who", "--port", 1, "--size-only", "-o", "common.csv", "--ledger", "our.ledger")
    before = contents(folder)
    assert ended("overlap", "ask", "ours.csv", *arguments) == 2 and contents(folder) == before
    assert "leave -o out" in capsys.readouterr().err
