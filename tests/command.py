"""Commands in processes of their own, forked from one that has everything imported: they start at once.

For tests of signals, exit codes, standard input and output, limits and kills. What is read once at the start of Python
(a hash seed, numba's settings) is that of the first process: whoever tests such things starts Python anew.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, Any, NoReturn

MAIN = "from shoal.cli import main; main()"
ASKED = {signal.SIGINT, signal.SIGTERM}
LONGEST = 1 << 20


@dataclass(frozen=True)
class Ended:
    """What a process left: its exit code, or the signal below zero; what it printed."""

    code: int
    out: str
    err: str


class Printed:
    """What a process prints, read from a pipe while it runs."""

    def __init__(self) -> None:
        self._reading, self.writing = os.pipe()
        self._held = bytearray()
        self._reader = threading.Thread(target=self._read, daemon=True)

    def begin(self) -> None:
        os.close(self.writing)
        self._reader.start()

    def _read(self) -> None:
        while data := os.read(self._reading, 1 << 16):
            self._held += data
        os.close(self._reading)

    def text(self) -> str:
        return bytes(self._held).decode(errors="replace")

    def whole(self) -> str:
        self._reader.join()
        return self.text()


class Running:
    """A process that was started."""

    def __init__(self, asked: Callable[..., Any], number: int, stdin: IO[bytes] | None, *printed: Printed) -> None:
        self._asked, self._printed = asked, printed
        self.number, self.stdin = number, stdin

    @property
    def alive(self) -> bool:
        return self._asked(ended=self.number) is None

    def send(self, sent: signal.Signals) -> None:
        """Until it was asked whether it is alive, its number is not given to another process."""
        os.kill(self.number, sent)

    @property
    def out(self) -> str:
        return self._printed[0].text()

    @property
    def err(self) -> str:
        return self._printed[1].text()

    def until(self, holds: Callable[[], Any]) -> Any:
        """Waits for something that the process does."""
        while not (found := holds()):
            assert self.alive, f"it ended: {self.err}"
            time.sleep(0.002)
        return found

    def ended(self, seconds: float = 300) -> Ended:
        """Waits for its end; after so many seconds it is killed."""
        if self.stdin is not None:
            with suppress(BrokenPipeError):
                self.stdin.close()
        until = time.monotonic() + seconds
        while (code := self._asked(ended=self.number, seconds=1.0)) is None:
            if time.monotonic() > until:
                self.send(signal.SIGKILL)
        return Ended(code, *(printed.whole() for printed in self._printed))


class Commands:
    """Starts commands, or other scripts, in processes that are forked from one that has everything imported."""

    def __init__(self) -> None:
        self._here, there = socket.socketpair()
        self._process = subprocess.Popen([sys.executable, __file__, str(there.fileno())], pass_fds=[there.fileno()])
        there.close()

    def start(
        self, *arguments: object, script: str = MAIN, given: bytes | None = b"", folder: Path | None = None,
        **environment: str,
    ) -> Running:  # fmt: skip
        """Starts a command, here or in another folder, with something in its standard input, or with `None` an input
        that stays open: `.stdin`."""
        reading, writing = os.pipe()
        out, err = Printed(), Printed()
        asked = {
            "arguments": [str(argument) for argument in arguments],
            "script": script,
            "folder": str(folder or Path.cwd()),
            "environment": {**os.environ, **environment},
        }
        number = self._asked([reading, out.writing, err.writing], **asked)
        os.close(reading)
        out.begin(), err.begin()
        stdin = os.fdopen(writing, "wb", buffering=0)
        if given is not None:
            with suppress(BrokenPipeError), stdin:
                stdin.write(given)
        return Running(self._asked, number, stdin if given is None else None, out, err)

    def run(self, *arguments: object, **more: Any) -> Ended:
        return self.start(*arguments, **more).ended()

    def stop(self) -> None:
        self._here.close()
        self._process.wait()

    def _asked(self, streams: list[int] | None = None, **asked: Any) -> Any:
        socket.send_fds(self._here, [json.dumps(asked).encode() + b"\n"], streams or [])
        return json.loads(_line(self._here)[0])


def _line(connection: socket.socket) -> tuple[bytes, list[int]]:
    """The next message, a line, and the open files that came with it; nothing where the other side has gone."""
    message, streams = b"", []
    while not message.endswith(b"\n"):
        data, more, _, _ = socket.recv_fds(connection, LONGEST, 3)
        if not data:
            return b"", streams
        message, streams = message + data, [*streams, *more]
    return message, streams


def _serve(connection: socket.socket) -> None:
    codes: dict[int, int] = {}
    while (received := _line(connection))[0]:
        asked, streams = json.loads(received[0]), received[1]
        if streams:
            signal.pthread_sigmask(signal.SIG_BLOCK, ASKED)
            answer = os.fork()
            if not answer:
                connection.close()
                _become(streams, **asked)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, ASKED)
            for stream in streams:
                os.close(stream)
        else:
            answer = _code(codes, asked["ended"], asked.get("seconds", 0))
        connection.sendall(json.dumps(answer).encode() + b"\n")


def _code(codes: dict[int, int], child: int, seconds: float) -> int | None:
    until = time.monotonic() + seconds
    while child not in codes:
        number, status = os.waitpid(child, os.WNOHANG)
        if number:
            codes[child] = os.waitstatus_to_exitcode(status)
        elif time.monotonic() >= until:
            return None
        else:
            time.sleep(0.002)
    return codes[child]


def _become(
    streams: list[int], arguments: list[str], script: str, folder: str, environment: dict[str, str]
) -> NoReturn:
    """Runs a script in a process that was just forked, and ends it as Python would."""
    for place, stream in enumerate(streams):
        os.dup2(stream, place)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None
    sys.argv = ["-c", *arguments]
    code: Any = 1
    try:
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, ASKED)
            exec(compile(script, "<script>", "exec"), {"__name__": "__main__"})
            code = 0
        except SystemExit as end:
            code = end.code or 0
        signal.pthread_sigmask(signal.SIG_BLOCK, ASKED)
    except KeyboardInterrupt:  # before a command had begun, or after its end
        code = 130
    except BaseException:
        traceback.print_exc()
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, ASKED)
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush(), sys.stderr.flush()
        os._exit(code)


IMPORTED = ("pyarrow.csv", "pyarrow.feather", "pyarrow.parquet", "rich.table", "shoal.api.running")


def _import() -> None:
    """Everything that commands import and load; nothing that computes in threads, which would not be in the child."""
    from shoal import registry
    from shoal.cli import fast_start
    from shoal.kernels import ahead

    fast_start.without_pandas()
    for name in IMPORTED:
        import_module(name)
    for family in registry.CONTRACTS:
        for name in registry.names(family):
            registry.find(family, name)
    ahead.compile_all(ahead.needed(["mondrian"]))


if __name__ == "__main__":
    sys.path[0] = ""
    _import()
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        _serve(connection)
    os._exit(0)
