"""Two holders find their overlap; whatever a message says, nothing leaks and nothing crashes."""

import json
import re
import socket
import subprocess
import sys
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.cli import main
from shoal.errors import InputError, ParameterError, ShoalError
from shoal.overlap import Asker, answered, asked, exchange, points

ADA = ["Ada Lovelace ", "ruby", "Sam", "Brendan"]
RUBY = ["ADA  lovelace", "Ruby", "Alexander", "Mika", "Zoe"]


def ended(*arguments):
    with pytest.raises(SystemExit) as end:
        main([*map(str, arguments)])
    return int(end.value.code or 0)


def test_the_lists_of_the_supplement_have_two_people_in_common():
    asker = Asker.of(ADA)
    found = asker.finished(answered(asker.message, RUBY))
    assert (found.size, found.places, found.own, found.other) == (2, (0, 1), 4, 5)


def test_the_size_alone_is_shown_from_a_threshold_on():
    asker = Asker.of(ADA, size_only=True)
    answer = answered(asker.message, RUBY)
    assert asker.finished(answer).size is None and asker.finished(answer).fewer_than == 10
    found = asker.finished(answer, fewest=2)
    assert found.size == 2 and found.places is None


@settings(max_examples=25, deadline=None)
@given(st.sets(st.text(min_size=1, max_size=5)), st.sets(st.text(min_size=1, max_size=5)), st.booleans())
def test_any_two_lists(own, other, size_only):
    from shoal.overlap import normalized

    own, other = sorted(own), sorted(other)
    spelled = [{normalized(text) for text in listed} - {""} for listed in (own, other)]
    if not all(spelled):
        return
    asker = Asker.of(own, size_only=size_only)
    found = asker.finished(answered(asker.message, other), fewest=1)
    size = len(spelled[0] & spelled[1])
    assert found.size == (size or (None if size_only else 0))
    if not size_only:
        assert {normalized(own[place]) for place in found.places} == spelled[0] & spelled[1]


def test_only_the_size_says_nothing_about_who():
    """The points that come back are in their own order, whatever the order of those that were sent."""
    asker = Asker.of(ADA, size_only=True)
    answer = answered(asker.message, RUBY)
    body = answer[answer.index(b"\n", 20) + 1 :]
    returned = [body[start : start + 32] for start in range(0, 4 * 32, 32)]
    assert returned == sorted(returned)


def test_nothing_but_points_crosses_and_every_session_has_its_own():
    first, second = Asker.of(ADA), Asker.of(ADA)
    for message in (first.message, second.message, answered(first.message, RUBY)):
        for person in (*ADA, *RUBY):
            assert person.strip().lower().encode() not in message.lower()
    assert not set(split(first.sent)) & set(split(second.sent))
    assert first.key not in first.message and first.key.hex().encode() not in first.message
    assert "key" not in repr(first)


def split(joined):
    return [joined[start : start + 32] for start in range(0, len(joined), 32)]


def test_multiplying_commutes_and_processes_change_nothing(monkeypatch):
    one, other = points.draw(), points.draw()
    items = b"".join(bytes([number]) * 32 for number in range(40))
    here = points.multiplied("hash", one, items)
    assert points.multiplied("point", other, here) == points.multiplied(
        "point", one, points.multiplied("hash", other, items)
    )
    monkeypatch.setattr(points, "LARGE", 5)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    assert points.multiplied("hash", one, items) == here
    with pytest.raises(InputError, match="not on the curve"):
        points.multiplied("point", one, here[:-32] + b"\xff" * 32)


ASKED = Asker.of(ADA)
GOOD = answered(ASKED.message, RUBY)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_damaged_message_is_refused_and_leaks_no_key(data):
    message = bytearray(data.draw(st.sampled_from([ASKED.message, GOOD])))
    kind = data.draw(st.sampled_from(["cut", "flip", "add", "random"]))
    if kind == "cut":
        message = message[: data.draw(st.integers(0, len(message) - 1))]
    elif kind == "flip":
        place = data.draw(st.integers(0, len(message) - 1))
        message[place] ^= data.draw(st.integers(1, 255))
    elif kind == "add":
        message += data.draw(st.binary(min_size=1, max_size=64))
    else:
        message = bytearray(data.draw(st.binary(max_size=300)))
    for step in (lambda: answered(bytes(message), RUBY), lambda: ASKED.finished(bytes(message))):
        try:
            done = step()
        except ShoalError as error:
            assert ASKED.key.hex() not in str(error)
        else:  # a flipped bit can give another point of the curve, or another session; never a key
            assert ASKED.key not in (done if isinstance(done, bytes) else repr(done).encode())


def header(message, **changes):
    start = message.index(b"\n") + 1
    end = message.index(b"\n", start)
    return message[:start] + json.dumps({**json.loads(message[start:end]), **changes}).encode() + message[end:]


@pytest.mark.parametrize(
    "message, reason",
    [
        (b"", "not the ask message"),
        (header(ASKED.message, own=-1), "not the ask message"),
        (header(ASKED.message, own=True), "not the ask message"),
        (header(ASKED.message, own=5), "another number of points"),
        (header(ASKED.message, own=10**9), "longer than"),
        (header(ASKED.message, session="x"), "not the ask message"),
        (header(ASKED.message, step="answer"), "not the ask message"),
        (ASKED.message[:-32] + ASKED.message[-64:-32], "repeats points"),
        (ASKED.message[:-32] + b"\xff" * 32, "not on the curve"),
    ],
)
def test_what_the_answering_holder_refuses(message, reason):
    with pytest.raises(InputError, match=reason):
        answered(message, RUBY)


@pytest.mark.parametrize(
    "message, reason",
    [
        (ASKED.message, "not the answer message"),
        (header(GOOD, session="another0session"), "another session"),
        (header(GOOD, yours=3), "another number of points"),
        (GOOD[:-32], "another number of points"),
        (GOOD[:-32] + GOOD[-64:-32], "repeats points"),
        (GOOD[:-32] + b"\xff" * 32, "not on the curve"),
    ],
)
def test_what_the_asker_refuses(message, reason):
    with pytest.raises(InputError, match=reason):
        ASKED.finished(message)


def test_empty_lists_and_strange_sessions_are_refused():
    with pytest.raises(InputError, match="no identifiers"):
        Asker.of(["", None, "  "])
    with pytest.raises(ParameterError, match="letters and digits"):
        Asker.of(ADA, session="../../etc")


@pytest.fixture
def lists(tmp_path):
    for name, people in (("ada", ADA), ("ruby", RUBY)):
        (tmp_path / f"{name}.csv").write_text("who\n" + "\n".join(people) + "\n", encoding="utf-8")
    return tmp_path


def test_by_files(lists, capsys):
    ada, ruby = lists / "ada.csv", lists / "ruby.csv"
    asking, answering, state = lists / "ask.points", lists / "answer.points", lists / "ask.state"
    assert ended("overlap", "start", ada, "--column", "who", "-o", asking, "--state", state) == 0
    assert state.stat().st_mode & 0o077 == 0
    assert ended("overlap", "answer", ruby, asking, "--column", "who", "-o", answering) == 0
    assert asked(asking.read_bytes()) == 4
    capsys.readouterr()
    common = lists / "common.csv"
    # another list than the one that was asked about: nothing is written and the state stays
    arguments = ["--column", "who", "--state", state, "-o", common, "--json"]
    assert ended("overlap", "finish", ruby, answering, *arguments) == 2 and state.exists() and not common.exists()
    capsys.readouterr()
    assert ended("overlap", "finish", ada, answering, *arguments) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["own"], told["other"], told["size"], told["fewer_than"]) == (4, 5, 2, None)
    assert not state.exists()
    assert len(common.read_text().splitlines()) == 3 and common.stat().st_mode & 0o077 == 0


def test_by_two_processes(lists):
    command = [sys.executable, "-m", "shoal", "overlap"]
    listening = subprocess.Popen(
        [*command, "listen", lists / "ruby.csv", "--column", "who", "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    port = re.search(r"port (\d+)", listening.stderr.readline())[1]
    asking = subprocess.run(
        [*command, "ask", lists / "ada.csv", "--column", "who", "--port", port, "--json"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    out, _ = listening.communicate(timeout=60)
    assert json.loads(asking.stdout)["size"] == 2 and json.loads(out)["other"] == 4 and listening.returncode == 0


@pytest.mark.parametrize("sent", [b"", b"\xff" * 8, b"\0" * 7 + b"\x05hello", b"\0" * 6 + b"\x01\x00only this"])
def test_a_listener_ends_cleanly_whatever_comes(sent):
    ports, errors = [], []
    told = threading.Event()

    def listening():
        try:
            exchange.listen(RUBY, seconds=20, told=lambda port: (ports.append(port), told.set()))
        except ShoalError as error:
            errors.append(str(error))

    thread = threading.Thread(target=listening)
    thread.start()
    assert told.wait(20)
    with socket.create_connection(("127.0.0.1", ports[0])) as connection:
        connection.sendall(sent)
    thread.join(30)
    assert not thread.is_alive() and len(errors) == 1


def test_nobody_listening_is_told():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(InputError, match="listening"):
        exchange.ask(ADA, port=port)
