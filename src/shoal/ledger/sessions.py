"""Answered sessions of `shoal overlap` and `shoal rules`: the ledger counts them, and no more are answered than its
holder allows.

Each answer tells something about the people of the data set, and answers add up. Two lists that differ by one person
tell about that person, and so does the same list before and after a person came. So every answer counts, whichever
list it was about and whoever asked: askers can talk to each other.
"""

from __future__ import annotations

from typing import Any

from shoal.core.formatting import counted
from shoal.errors import DisclosureError, InputError
from shoal.ledger import Ledger

SESSIONS = 10
"""How many sessions are answered, unless the holder says otherwise."""
_ANSWERING = ("answer", "listen", "rules")


def check_answer(ledger: Ledger, *, most: int, session: str | None = None) -> int:
    """How many sessions were answered before. Raises when there may be no more, and when this one is among them."""
    entered = ledger.store.sessions() if ledger.store.exists else []
    answered = [each for each in entered if each.get("step") in _ANSWERING]
    if session is not None and any(each.get("session") == session for each in answered):
        raise InputError("this session was answered before; the other holder must start a new one")
    if len(answered) >= most:
        raise DisclosureError(
            f"the ledger has {counted(len(answered), 'answered sessions')}, and you allow {most:,}; nothing was told. "
            "Answers add up: two lists that differ by one person tell about that person. Allow more sessions "
            "(--sessions) only if you trust all who asked"
        )
    return len(answered)


def enter_answer(ledger: Ledger, session: str, figures: dict[str, Any], *, most: int = SESSIONS) -> None:
    """Enters a session before its answer is told. Nobody else enters one between the count and the entry."""
    ledger.store.create()
    with ledger.store.locked():
        check_answer(ledger, most=most, session=session)
        ledger.enter_session({**figures, "session": session})
