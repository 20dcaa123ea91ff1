"""A session between two processes over a socket: one asks, the other answers once. Only messages of points cross."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable

from shoal.errors import InputError
from shoal.overlap import FEWEST, Asker, Overlap, OverlapQuestion, answered, asked, cardinality
from shoal.overlap.messages import LONGEST_HEADER, MOST, MOST_FEWEST

HOST = "127.0.0.1"
_HEADER = 8


def listen(
    identifiers: Iterable[str | None],
    *,
    port: int = 0,
    most: int = MOST,
    size_only: bool = False,
    fewest: int = FEWEST,
    seconds: float = 600.0,
    announce: Callable[[int], object] = print,
    entering: Callable[[OverlapQuestion], object] = lambda question: None,
) -> OverlapQuestion:
    """Answers one session on this machine, and says what was asked. `announce` is called with the port, and `entering`
    with the question when the answer is ready and before any of it is sent; where that raises, nothing is sent."""
    listed = list(identifiers)
    with socket.create_server((HOST, port)) as server:
        server.settimeout(seconds)
        announce(server.getsockname()[1])
        try:
            connection, _ = server.accept()
        except TimeoutError:
            raise InputError("nobody asked within the time; nothing was told") from None
        with connection:
            connection.settimeout(seconds)
            message = _received(connection, 2 * LONGEST_HEADER + cardinality.asked_bytes(most), most)
            question = asked(message, most=most)
            answer = answered(message, listed, most=most, size_only=size_only, fewest=fewest)
            entering(question)
            try:
                _send(connection, answer)
            except OSError:
                raise InputError("the other holder closed the connection before it had the whole answer") from None
            return question


def ask(
    identifiers: Iterable[str | None],
    *,
    port: int,
    size_only: bool = False,
    most: int = MOST,
    seconds: float = 600.0,
) -> Overlap:
    """Asks the holder that listens on a port of this machine."""
    asker = Asker.of(identifiers, size_only=size_only)
    longest = 2 * LONGEST_HEADER + cardinality.answered_bytes(most + asker.own, MOST_FEWEST)
    try:
        with socket.create_connection((HOST, port), timeout=seconds) as connection:
            _send(connection, asker.message)
            answer = _received(connection, longest, most)
    except (ConnectionError, TimeoutError):
        raise InputError("the other holder does not answer; is it listening on this port?") from None
    return asker.finished(answer)


def _send(connection: socket.socket, message: bytes) -> None:
    connection.sendall(len(message).to_bytes(_HEADER, "big") + message)


def _received(connection: socket.socket, longest: int, most: int) -> bytes:
    size = int.from_bytes(_exactly(connection, _HEADER), "big")
    if size > longest:
        raise InputError(f"the other holder's list is longer than {most:,}, the most that is taken")
    return _exactly(connection, size)


def _exactly(connection: socket.socket, size: int) -> bytes:
    pieces = []
    while size:
        try:
            piece = connection.recv(min(size, 1 << 20))
        except TimeoutError:
            raise InputError("the other holder stopped in the middle of a message") from None
        except ConnectionError:
            piece = b""
        if not piece:
            raise InputError(
                "the other holder closed the connection before its message was complete; if it refused to answer, its "
                "own output says why"
            )
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)
