"""Starting and stopping the page."""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import socket
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path

from shoal.errors import InputError, MissingExtraError, ParameterError
from shoal.publishing.signing import SigningKey
from shoal.storage.private import PrivateFolder

PORT = 8765
"""Where the page is unless another port is named; the next ones are tried when it is taken."""
TRIED = 50
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def check_address(host: str, password: str | None) -> None:
    """Refuses an address that others can reach, unless a password guards it."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        address = None
    if address is not None and address.is_unspecified:
        raise ParameterError(
            f"{host} stands for every address of this machine; name the one by which the page is reached, so that "
            "requests to other names can be refused"
        )
    local = host in LOOPBACK or (address is not None and address.is_loopback)
    if not local and not password:
        raise ParameterError(
            f"{host} can be reached from other machines; that needs a password, in a file (--password-file) or in "
            "SHOAL_PASSWORD"
        )


def open_socket(host: str, port: int | None) -> socket.socket:
    """A socket that listens: at the port that is named, or at the first free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    ports = [port] if port is not None else [*range(PORT, PORT + TRIED), 0]
    for each in ports:
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, each))
            listener.listen(128)
        except OSError as error:
            listener.close()
            if error.errno == errno.EADDRINUSE and port is None:
                continue
            if error.errno == errno.EADDRINUSE:
                raise InputError(
                    f"port {each} is taken, perhaps by another page of Shoal; name another one with --port, or leave "
                    "--port out to have a free one chosen"
                ) from None
            raise InputError(f"the page cannot be opened at {host}, port {each} ({error.strerror})") from None
        except OverflowError:
            listener.close()
            raise ParameterError("a port must be a number from 0 to 65535") from None
        return listener
    raise InputError("no port is free; name one with --port")


def serve(
    file: Path | None = None,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    password: str | None = None,
    browser: bool = True,
    signer: SigningKey | None = None,
    ledger: Path | None = None,
    announce: Callable[[str], None] = print,
) -> None:
    """Serves the page until somebody stops it. `announce` gets its address, with the token that opens it once.

    A page with a password, or at another address than this machine's own, is for visitors: they can sign with the
    `signer` and enter releases into the `ledger`, and cannot name any file of this machine.
    """
    try:
        import jinja2  # noqa: F401
        import python_multipart  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn
    except ImportError:
        raise MissingExtraError("the page", "web") from None
    from shoal.web.application import application
    from shoal.web.safety import Gate
    from shoal.web.session import PageSession

    check_address(host, password)
    if file is not None and not file.exists():
        raise InputError(f"there is no file {file.name!r}")
    listener = open_socket(host, port)
    number = listener.getsockname()[1]
    host_name = f"[{host}]" if ":" in host else host
    names = {host_name, "127.0.0.1", "localhost"}
    folder = PrivateFolder()
    session = PageSession(folder.path)

    def address(token: str) -> str:
        return f"http://{host_name}:{number}/" + ("" if password else f"?token={token}")

    gate = Gate(
        frozenset(f"{name}:{number}" for name in names), password=password or None,
        announce=lambda token: announce(f"To open it in another browser: {address(token)}"),
    )  # fmt: skip
    try:
        if file is not None:
            session.open(file.resolve())
        session.local = host in LOOPBACK and not password
        session.signer, session.ledger = signer, None if ledger is None else ledger.resolve()
        config = uvicorn.Config(
            application(session, gate), log_config=None, access_log=False, lifespan="off", server_header=False,
            date_header=False, timeout_graceful_shutdown=1,
        )  # fmt: skip
        announce(f"The page: {address(gate.token)}")
        announce("Press Ctrl+C to stop it.")
        if browser:
            threading.Thread(target=webbrowser.open, args=(address(gate.token),), daemon=True).start()
        server = uvicorn.Server(config)
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listener])
    finally:
        session.work.stop()
        folder.wipe()
        listener.close()
