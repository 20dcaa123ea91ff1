"""Two holders find their overlap; whatever a message says, nothing leaks and nothing crashes."""

import hashlib
import json
import re
import socket
import subprocess
import threading

import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.cli import main
from shoal.errors import InputError, ParameterError, ShoalError
from shoal.overlap import Asker, answered, asked, exchange, points
from shoal.overlap.messages import unpack

ADA = ["Ada Lovelace ", "ruby", "Sam", "Brendan"]
RUBY = ["ADA  lovelace", "Ruby", "Alexander", "Mika", "Zoe"]
NOT_A_POINT = (1).to_bytes(32, "big")
"""No point of the curve has this x-coordinate."""


def ended(*arguments):
    with pytest.raises(SystemExit) as end:
        main([*map(str, arguments)])
    return int(end.value.code or 0)


def test_the_lists_of_the_supplement_have_two_people_in_common():
    asker = Asker.of(ADA)
    found = asker.finished(answered(asker.message, RUBY))
    assert (found.size, found.places, found.own, found.other) == (2, (0, 1), 4, 5)


@settings(max_examples=count(6, 25), deadline=None)
@given(st.sets(st.text(min_size=1, max_size=5)), st.sets(st.text(min_size=1, max_size=5)), st.booleans())
def test_any_two_lists(own, other, size_only):
    from shoal.overlap import normalized

    own, other = sorted(own), sorted(other)
    spelled = [{normalized(text) for text in listed} - {""} for listed in (own, other)]
    if not all(spelled):
        return
    asker = Asker.of(own, size_only=size_only)
    found = asker.finished(answered(asker.message, other, fewest=1))
    assert found.size == len(spelled[0] & spelled[1])
    if not size_only:
        assert {normalized(own[place]) for place in found.places} == spelled[0] & spelled[1]


def test_nothing_but_points_crosses_and_every_session_has_its_own():
    first, second = Asker.of(ADA), Asker.of(ADA)
    for message in (first.message, second.message, answered(first.message, RUBY)):
        for person in (*ADA, *RUBY):
            assert person.strip().lower().encode() not in message.lower()
    assert not set(split(first.sent)) & set(split(second.sent))
    assert first.key not in first.message and first.key.hex().encode() not in first.message
    assert "key" not in repr(first)


def test_both_sides_draw_a_key_for_each_session():
    """In two sessions of one name everything but the keys is the same."""
    first = Asker.of(ADA)
    second = Asker.of(ADA, session=first.session)
    assert not set(split(first.sent)) & set(split(second.sent))
    one, other = (set(split(unpack(answered(first.message, RUBY), "answer")[1])) for _ in range(2))
    assert len(one) == len(ADA) + len(RUBY) and not one & other


def split(joined):
    return [joined[start : start + 32] for start in range(0, len(joined), 32)]


def test_multiplying_commutes_and_processes_change_nothing(monkeypatch):
    one, other = points.draw(), points.draw()
    items = b"".join(bytes([number]) * 32 for number in range(40))
    here = points.multiply("hash", one, items)
    assert points.multiply("point", other, here) == points.multiply("point", one, points.multiply("hash", other, items))
    monkeypatch.setattr(points, "SHARE", 4e-4)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    assert points.multiply("hash", one, items) == here
    found = Asker.of([f"p{number}" for number in range(40)], size_only=True)
    answer = answered(found.message, [f"p{number}" for number in range(25, 60)], fewest=1)
    assert found.finished(answer).size == 15
    with pytest.raises(InputError, match="not on the curve"):
        points.multiply("point", one, here[:-32] + b"\xff" * 32)


def test_an_interrupt_ends_the_processes(monkeypatch):
    """They would go on for minutes, and the command would wait for them."""
    started = []

    class Kept(subprocess.Popen):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            started.append(self)

    class Interrupted(threading.Thread):
        def join(self, timeout=None):
            raise KeyboardInterrupt

    monkeypatch.setattr(points.subprocess, "Popen", Kept)
    monkeypatch.setattr(points.threading, "Thread", Interrupted)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    with pytest.raises(KeyboardInterrupt):
        points.multiply("hash", points.draw(), bytes(32) * 100_000)
    assert len(started) == 2 and all(process.wait(20) for process in started)  # none ended well


ASKED = Asker.of(ADA)
GOOD = answered(ASKED.message, RUBY)
SIZE_ASKED = Asker.of(ADA, size_only=True)
SIZE_GOOD = answered(SIZE_ASKED.message, RUBY, fewest=1)


@settings(max_examples=count(56, 200), deadline=None)
@given(st.data())
def test_a_damaged_message_is_refused_and_leaks_no_key(data):
    message = bytearray(data.draw(st.sampled_from([ASKED.message, GOOD, SIZE_ASKED.message, SIZE_GOOD])))
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
    keys = [asker.key for asker in (ASKED, SIZE_ASKED)]
    for step in (answered_with(bytes(message)), *(finished_by(each, bytes(message)) for each in (ASKED, SIZE_ASKED))):
        try:
            done = step()
        except ShoalError as error:
            assert not any(key.hex() in str(error) for key in keys)
        else:  # a changed header can name another session or another number; never a key
            assert not any(key in (done if isinstance(done, bytes) else repr(done).encode()) for key in keys)


def answered_with(message):
    return lambda: answered(message, RUBY, fewest=1)


def finished_by(asker, message):
    return lambda: asker.finished(message)


def test_a_body_that_was_changed_on_the_way_is_refused():
    """A flipped bit may give another point of the curve, so it must not count as another person."""
    for message in (ASKED.message, SIZE_ASKED.message):
        for place in (-1, -40, -100):
            changed = bytearray(message)
            changed[place] ^= 1
            with pytest.raises(InputError, match="damaged"):
                answered(bytes(changed), RUBY, fewest=1)


def header(message, **changes):
    """A message with another header, and with a body that fits its hash."""
    start = message.index(b"\n") + 1
    end = message.index(b"\n", start)
    whole = {**json.loads(message[start:end]), "sha256": hashlib.sha256(message[end + 1 :]).hexdigest(), **changes}
    return message[:start] + json.dumps(whole).encode() + message[end:]


def infinite(start):
    """A message about the size with zeros instead of a point, as some programs write the point at infinity."""
    message = SIZE_ASKED.message
    begin = message.index(b"\n", message.index(b"\n") + 1) + 1 + start
    return header(message[:begin] + bytes(64) + message[begin + 64 :])


@pytest.mark.parametrize(
    "message, reason",
    [
        (b"", "not the ask message"),
        (header(ASKED.message, own=-1), "not the ask message"),
        (header(ASKED.message, own=True), "not the ask message"),
        (header(ASKED.message, own=5), "another number of points"),
        (header(ASKED.message, own=10**9), "longer than"),
        (header(ASKED.message, size_only=True), "another number of cells"),
        (header(SIZE_ASKED.message, size_only=False), "another number of points"),
        (header(SIZE_ASKED.message, own=9), "another number of cells"),
        (header(SIZE_ASKED.message[:-128]), "another number of cells"),
        (infinite(16), "not on the curve"),
        (infinite(16 + 64), "not on the curve"),
        (infinite(16 + 64 + 35 * 128 + 64), "not on the curve"),
        (header(SIZE_ASKED.message[:-32] + b"\xff" * 32), "not on the curve"),
        (header(ASKED.message, session="x"), "not the ask message"),
        (header(ASKED.message, step="answer"), "not the ask message"),
        (header(ASKED.message[:-32] + ASKED.message[-64:-32]), "repeats points"),
        (header(ASKED.message[:-32] + b"\xff" * 32), "not on the curve"),
        (header(ASKED.message[:-32] + NOT_A_POINT), "not on the curve"),
        (ASKED.message[:-1], "cut short"),
        (b"shoal overlap 1" + ASKED.message[15:], "not the ask message"),
    ],
)
def test_what_the_answering_holder_refuses(message, reason):
    with pytest.raises(InputError, match=reason):
        answered(message, RUBY, fewest=1)


@pytest.mark.parametrize(
    "message, reason",
    [
        (ASKED.message, "not the answer message"),
        (header(GOOD, session="another0session"), "another session"),
        (header(GOOD, asked="0" * 64), "another session"),
        (header(GOOD, size_only=True), "another session"),
        (header(GOOD, yours=3), "another number of points"),
        (header(GOOD, fewest=0), "not the answer message"),
        (header(GOOD, fewest=10**6), "not the answer message"),
        (header(GOOD[:-32]), "another number of points"),
        (GOOD[:-32], "cut short"),
        (header(GOOD[:-32] + GOOD[-64:-32]), "repeats points"),
        (header(GOOD[:-32] + b"\xff" * 32), "not on the curve"),
        (header(SIZE_GOOD, fewest=2), "another number of points"),
        (header(SIZE_GOOD, own=4), "another number of points"),
        (header(SIZE_GOOD[:-64] + NOT_A_POINT + bytes(32)), "not on the curve"),
    ],
)
def test_what_the_asker_refuses(message, reason):
    asker = SIZE_ASKED if SIZE_ASKED.session.encode() in message else ASKED
    with pytest.raises(InputError, match=reason):
        asker.finished(message)


def test_an_answer_to_a_message_that_was_changed_on_the_way_is_refused():
    """Somebody between the holders asks about a list of their own under the asker's session."""
    other = Asker.of(RUBY, session=ASKED.session)
    with pytest.raises(InputError, match="another session"):
        ASKED.finished(header(answered(other.message, RUBY), yours=4, own=5))


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
    capsys.readouterr()
    assert ended("overlap", "answer", ruby, asking, "--column", "who", "-o", answering) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "learns which of them are in your list" in told and "nothing else" not in told
    assert asked(asking.read_bytes()).people == 4
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


def test_by_two_processes(lists, commands):
    listening = commands.start("overlap", "listen", lists / "ruby.csv", "--column", "who", "--json")
    port = listening.until(lambda: re.search(r"port (\d+)\b.*\n", listening.err))[1]
    asking = commands.run("overlap", "ask", lists / "ada.csv", "--column", "who", "--port", port, "--json")
    heard = listening.ended()
    assert asking.code == heard.code == 0, asking.err + heard.err
    assert json.loads(asking.out)["size"] == 2 and json.loads(heard.out)["other"] == 4


@pytest.mark.parametrize("sent", [b"", b"\xff" * 8, b"\0" * 7 + b"\x05hello", b"\0" * 6 + b"\x01\x00only this"])
def test_a_listener_ends_cleanly_whatever_comes(sent):
    ports, errors = [], []
    told = threading.Event()

    def listening():
        try:
            exchange.listen(RUBY, seconds=240, announce=lambda port: (ports.append(port), told.set()))
        except ShoalError as error:
            errors.append(str(error))

    thread = threading.Thread(target=listening)
    thread.start()
    assert told.wait(240)
    with socket.create_connection(("127.0.0.1", ports[0])) as connection:
        connection.sendall(sent)
    thread.join(240)
    assert not thread.is_alive() and len(errors) == 1


def test_nobody_listening_is_told():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(InputError, match="listening"):
        exchange.ask(ADA, port=port)
