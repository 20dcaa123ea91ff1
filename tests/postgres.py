"""A PostgreSQL server of the tests' own, on a free port of this machine."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
USER = "holder"


@contextmanager
def started() -> Iterator[int]:
    """The port of a server that runs meanwhile, and that believes whoever says to be the `USER`."""
    folder = Path(tempfile.mkdtemp(prefix="shoal-"))
    folder.chmod(0o755)  # the server runs as somebody else, who must get there
    data = folder / "data"
    data.mkdir()
    as_owner: dict[str, Any] = {}
    if os.geteuid() == 0:
        shutil.chown(data, "postgres")
        as_owner = {"user": "postgres", "group": "postgres", "extra_groups": []}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    made = [PROGRAMS[-1] / "initdb", "-D", data, "-A", "trust", "-U", USER, "--no-sync", "-E", "UTF8"]
    subprocess.run(made, check=True, capture_output=True, cwd="/", **as_owner)
    running = subprocess.Popen(
        [PROGRAMS[-1] / "postgres", "-D", data, "-p", str(port), "-c", "listen_addresses=127.0.0.1",
         "-c", f"unix_socket_directories={data}", "-F"],
        stdout=subprocess.DEVNULL, stderr=(folder / "log").open("w"), cwd="/", **as_owner,
    )  # fmt: skip
    ready = [PROGRAMS[-1] / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(port)]
    while subprocess.run(ready).returncode:
        assert running.poll() is None, (folder / "log").read_text()
        time.sleep(0.1)
    try:
        yield port
    finally:
        running.terminate()
        running.wait(240)
        shutil.rmtree(folder)
