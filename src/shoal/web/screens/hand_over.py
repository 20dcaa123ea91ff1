"""Hand over: the release and everything that goes with it, and the same run without the page."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from shoal.errors import InputError, OutputError, ParameterError
from shoal.job import plugins, spelling
from shoal.job.job import Job
from shoal.publishing.signing import SigningKey
from shoal.reports import Report
from shoal.web import packages
from shoal.web.candidates import chosen
from shoal.web.packages import Order, Package
from shoal.web.panels import panel
from shoal.web.screens import Asked
from shoal.web.session import Session

RELEASE = "release.csv"


def facts(session: Session, asked: Asked) -> dict[str, Any]:
    job = _named(session, session.order.name if session.order is not None else RELEASE)
    told = {
        "chosen": chosen(session), "folder": str(_folder(session)) if session.local else "", "local": session.local,
        "signer": None if session.signer is None else session.signer.public.fingerprint,
        "ledger": None if session.ledger is None else session.ledger.name, "name": RELEASE,
        "command": spelling.command(job), "python": spelling.python(job), "place": session.place,
        "history": [
            {"what": step.what, "words": dict(step.words), "when": f"{step.when:%H:%M}"} for step in session.steps
        ],
    }  # fmt: skip
    if session.order is not None:
        told["report"] = panel(lambda: _report(session)) if session.about is not None else None
        told["package"] = panel(lambda: _told(session))
    return told


def _folder(session: Session) -> Path:
    """Where files go unless somebody says otherwise: beside the table, where that is known."""
    source = session.job.input
    return Path.cwd() if session.uploaded or source is None else source.parent


def _named(session: Session, name: str) -> Job:
    """The job as somebody would run it who has the table beside them."""
    source = session.job.input
    assert source is not None
    known = session.local and not session.uploaded
    return replace(
        session.job, input=source if known else Path(source.name), output=Path(name),
        algorithm=plugins.plugin("algorithms", chosen(session)),
    )  # fmt: skip


def _package(session: Session) -> Package:
    order = session.order
    if order is None:
        raise InputError("make the release first")
    task = session.work.task(
        ("package", order.number), "work.package", lambda run: packages.made(order, session.folder, run), long=True
    )
    made: Package = session.result(task)
    return made


def _told(session: Session) -> dict[str, Any]:
    made = _package(session)
    return {
        "summary": made.outcome.summary, "given": list(made.given), "own": list(made.own), "files": list(made.names),
        "signed_by": made.signed_by,
        "stale": replace(made.order.job, sign=None, ledger=None, allow_unjudged=()) != _current(session),
        "saved": [str(path) for path in session.saved], "notes": list(made.outcome.notes),
    }  # fmt: skip


def _current(session: Session) -> Job:
    return replace(session.job, algorithm=plugins.plugin("algorithms", chosen(session)))


def make(session: Session, given: Asked) -> str:
    """Makes the release, and everything that goes with it, in the private folder."""
    name = given.get("name", "").strip() or RELEASE
    if Path(name).name != name or name.startswith("."):
        raise ParameterError("the release needs the name of a file, without a folder")
    signer, job = _signing(session, given)
    ledger = _ledger(session, given)
    job = replace(job, ledger=ledger, allow_unjudged=_unjudged(session, given, ledger))
    number = 1 if session.order is None else session.order.number + 1
    session.order, session.saved = Order(number, job, name, session.uploaded, session.local, signer), ()
    session.about = None
    return "/hand-over#package"


def _signing(session: Session, given: Asked) -> tuple[SigningKey | None, Job]:
    """The key to sign with, and the job that names its file where whoever uses the page may know it."""
    job, named = _current(session), _file(session, given, "sign")
    if session.signer is not None:
        return (session.signer if given.get("signed") else None), job
    if named is None:
        return None, job
    signer = SigningKey.load(named, given.get("passphrase", "").encode() or None)
    return signer, replace(job, sign=named.resolve())


def _ledger(session: Session, given: Asked) -> Path | None:
    """The ledger: the one that the page was started with, else the one that is named."""
    named = _file(session, given, "ledger")
    if session.ledger is not None:
        return session.ledger
    return None if named is None else named.resolve()


def _unjudged(session: Session, given: Asked, ledger: Path | None) -> tuple[str, ...]:
    """What is published although the ledger cannot judge it; only somebody who sits at this machine may say so."""
    names = tuple(filter(None, (name.strip() for name in given.get("allow_unjudged", "").split(","))))
    if names and not session.local:
        raise InputError("only whoever runs this page can allow what the ledger cannot judge")
    if names and ledger is None:
        raise ParameterError("name the ledger that cannot judge these columns or releases")
    return names


def _file(session: Session, given: Asked, option: str) -> Path | None:
    """A file of this machine that a form names; only somebody who sits at it may name one."""
    named = given.get(option, "").strip()
    if named and not session.local:
        raise InputError(
            "this page is used from another machine, from which no file of this one can be named; whoever runs it "
            f"names that file: shoal serve --{option} FILE"
        )
    return Path(named).expanduser() if named else None


def write_report(session: Session, given: Asked) -> str:
    """Writes the report of the release that was made."""
    told = {part: given.get(part, "").strip() for part in ("recipient", "purpose", "author")}
    session.about = {**told, "date": f"{datetime.now():%Y-%m-%d}"}
    return "/hand-over#report"


def _report(session: Session) -> dict[str, Any]:
    made, about = _package(session), dict(session.about or {})
    key = ("report", made.order.number, str(about))
    task = session.work.task(key, "work.report", lambda run: made.add_report(about, run), long=True)
    told: Report = session.result(task)
    return {"summary": told.summary, "holds": told.holds}


def make_key(session: Session, given: Asked) -> str:
    """Makes a pair of keys where the person wants it."""
    if not session.local:
        raise InputError("keys are made on the machine on which the page runs: shoal keys new FILE")
    path = Path(given.get("key", "").strip()).expanduser()
    if not path.name:
        raise ParameterError("name a file for the key")
    if path.exists():
        raise OutputError(f"{path.name}: there is such a file already; name another one")
    made = SigningKey.new()
    made.save(path, given.get("passphrase", "").encode() or None)
    session.notice = ("hand_over.key_made", {"path": str(path), "fingerprint": made.public.fingerprint})
    return "/hand-over"


def save(session: Session, given: Asked) -> str:
    """Saves everything into a folder of the person's own."""
    if not session.local:
        raise InputError("this page is used from another machine; save the files through the browser")
    folder = Path(given.get("folder", "").strip()).expanduser()
    session.saved = tuple(_package(session).save(folder.resolve()))
    session.notice = ("hand_over.saved", {"count": len(session.saved), "folder": str(folder)})
    return "/hand-over#package"


def everything(session: Session, asked: Asked) -> tuple[str, bytes]:
    made = _package(session)
    return f"{Path(made.order.name).stem}.zip", made.archive()


def one(session: Session, asked: Asked) -> tuple[str, bytes]:
    name = asked.get("name", "")
    return Path(name).name, _package(session).content(name)


ACTIONS = {"make": make, "report": write_report, "key": make_key, "save": save}
FILES = {"package.zip": everything, "file": one}
