"""The messages of a session and the asker's state: a line that marks them, a header as JSON, and the bytes."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Literal

from shoal.errors import InputError, ParameterError

Step = Literal["ask", "answer", "state"]

MOST = 10_000_000
"""People that are taken from the other holder at most."""
MOST_FEWEST = 10_000
"""The greatest number of people whose joint presence can be hidden."""
LONGEST_HEADER = 1_000
_MAGIC = b"shoal overlap 2\n"
_ALWAYS = {"session": str, "size_only": bool, "own": int, "sha256": str}
_FIELDS: dict[Step, dict[str, type]] = {
    "ask": _ALWAYS,
    "answer": {**_ALWAYS, "yours": int, "asked": str, "fewest": int},
    "state": {**_ALWAYS, "asked": str, "key": str, "list": str},
}


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def check_session(session: Any) -> None:
    if not isinstance(session, str) or not 8 <= len(session) <= 100 or not session.isascii() or not session.isalnum():
        raise ParameterError("a session is named by 8 to 100 letters and digits")


def pack(step: Step, header: dict[str, Any], body: bytes) -> bytes:
    """A message. Its header has a hash of the body, which tells damage; it does not tell who sent it."""
    stated = {"step": step, **header, "sha256": digest(body)}
    return _MAGIC + json.dumps(stated, sort_keys=True).encode() + b"\n" + body


def unpack(message: bytes, step: Step, *, most: int = MOST) -> tuple[dict[str, Any], bytes]:
    """The header and the body of a message, which may be anything at all."""
    wrong = InputError(f"this is not the {step if step == 'state' else step + ' message'} of an overlap session")
    if not message.startswith(_MAGIC):
        raise wrong
    end = message.find(b"\n", len(_MAGIC), len(_MAGIC) + LONGEST_HEADER)
    try:
        header: Any = json.loads(message[len(_MAGIC) : end]) if end > 0 else None
        check_session(header["session"] if isinstance(header, dict) else None)
    except (ValueError, RecursionError, KeyError, ParameterError):
        raise wrong from None
    fields = _FIELDS[step]
    if header.get("step") != step or any(type(header.get(name)) is not kind for name, kind in fields.items()):
        raise wrong
    if any(not header[name] > 0 for name in ("own", "yours", "fewest") if name in fields):
        raise wrong
    if header["own"] > most:
        raise InputError(f"the other holder's list is longer than {most:,}, the most that is taken")
    if header.get("fewest", 1) > MOST_FEWEST:
        raise wrong
    body = message[end + 1 :]
    if digest(body) != header["sha256"]:
        raise InputError("this message is damaged or cut short; ask for it again")
    return header, body
