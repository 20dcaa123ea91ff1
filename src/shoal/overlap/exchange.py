"""A session between two processes over a socket: one asks, the other answers once. Only messages of points cross."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable

from shoal.errors import InputError
from shoal.overlap import FEWEST, MOST, Asker, Overlap, answered, asked
from shoal.overlap.points import BYTES

HOST = "127.0.0.1"
_HEADER = 8
_SLACK = 2_000


def listen(
    identifiers: Iterable[str | None],
    *,
    port: int = 0,
    most: int = MOST,
    seconds: float = 600.0,
    told: Callable[[int], object] = print,
) -> int:
    """Answers one session on this machine, and says how long the asker's list was. `told` is called with the port."""
    listed = list(identifiers)
    with socket.create_server((HOST, port)) as server:
        server.settimeout(seconds)
        told(server.getsockname()[1])
        try:
            connection, _ = server.accept()
        except TimeoutError:
            raise InputError("nobody asked within the time; nothing was told") from None
        with connection:
            connection.settimeout(seconds)
            message = _received(connection, most)
            _send(connection, answered(message, listed, most=most))
            return asked(message, most=most)


def ask(
    identifiers: Iterable[str | None],
    *,
    port: int,
    size_only: bool = False,
    fewest: int = FEWEST,
    most: int = MOST,
    seconds: float = 600.0,
) -> Overlap:
    """Asks the holder that listens on a port of this machine."""
    asker = Asker.of(identifiers, size_only=size_only)
    try:
        with socket.create_connection((HOST, port), timeout=seconds) as connection:
            _send(connection, asker.message)
            answer = _received(connection, most + len(asker.places))
    except (ConnectionError, TimeoutError):
        raise InputError("the other holder does not answer; is it listening on this port?") from None
    return asker.finished(answer, fewest=fewest)


def _send(connection: socket.socket, message: bytes) -> None:
    connection.sendall(len(message).to_bytes(_HEADER, "big") + message)


def _received(connection: socket.socket, most: int) -> bytes:
    size = int.from_bytes(_exactly(connection, _HEADER), "big")
    if size > most * BYTES + _SLACK:
        raise InputError(f"the other holder's list is longer than {most:,}, the most that is taken")
    return _exactly(connection, size)


def _exactly(connection: socket.socket, size: int) -> bytes:
    pieces = []
    while size:
        try:
            piece = connection.recv(min(size, 1 << 20))
        except TimeoutError:
            raise InputError("the other holder stopped in the middle of a message") from None
        if not piece:
            raise InputError("the other holder closed the connection in the middle of a message")
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)
