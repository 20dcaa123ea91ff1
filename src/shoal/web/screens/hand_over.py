"""Hand over: the release and everything that goes with it, and the same run without the page."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from shoal.core.contracts.attack import Known
from shoal.core.run import Run
from shoal.errors import ExistingOutputError, InputError, OutputError, ParameterError
from shoal.job import plugins, spelling
from shoal.job.job import Job
from shoal.publishing.signing import SigningKey
from shoal.web import packages
from shoal.web.candidates import chosen_algorithm
from shoal.web.packages import Order, Package
from shoal.web.panels import panel, plain_facts
from shoal.web.screens import Fields
from shoal.web.screens.attack import register_of
from shoal.web.session import PageSession

RELEASE = "release.csv"


def facts(session: PageSession, query: Fields) -> dict[str, Any]:
    job = _portable_job(session, session.order.name if session.order is not None else RELEASE)
    parts = {
        "chosen": chosen_algorithm(session), "local": session.local,
        "folder": str(_folder(session)) if session.local else "",
        "signer": None if session.signer is None else session.signer.public.fingerprint,
        "ledger": None if session.ledger is None else session.ledger.name, "name": RELEASE,
        "command": spelling.command(job), "python": spelling.python(job), "place": session.place,
        "history": [
            {"what": step.what, "words": dict(step.words), "when": f"{step.when:%H:%M}"} for step in session.steps
        ],
    }  # fmt: skip
    if session.order is not None:
        parts["report"] = panel(lambda: _report(session)) if session.about is not None else None
        parts["package"] = panel(lambda: _package_facts(session))
    return parts


def _folder(session: PageSession) -> Path:
    """Where files go unless somebody says otherwise: beside the table, where that is known."""
    source = session.job.input
    return Path.cwd() if session.uploaded or source is None else source.parent


def _portable_job(session: PageSession, name: str) -> Job:
    """The job as somebody would run it who has the table beside them."""
    source = session.job.input
    assert source is not None
    in_place = session.local and not session.uploaded
    return replace(
        session.job, input=source if in_place else Path(source.name), output=Path(name),
        algorithm=plugins.plugin("algorithms", chosen_algorithm(session)),
    )  # fmt: skip


def _package(session: PageSession) -> Package:
    order = session.order
    if order is None:
        raise InputError("make the release first")

    def make_package(run: Run) -> Package:
        session.check_unchanged()
        return packages.make(order, session.folder, run)

    return session.result(session.work.task(("package", order.number), "work.package", make_package, long=True))


def _package_facts(session: PageSession) -> dict[str, Any]:
    package = _package(session)
    return {
        "summary": package.outcome.summary, "plain": plain_facts(package.outcome.release),
        "given": list(package.for_recipient), "own": list(package.own),
        "files": list(package.names),
        "signed_by": package.signed_by,
        "stale": replace(package.order.job, sign=None, ledger=None, allow_unjudged=()) != _current(session),
        "saved": [str(path) for path in session.saved], "notes": list(package.outcome.notes),
    }  # fmt: skip


def _current(session: PageSession) -> Job:
    return replace(session.job, algorithm=plugins.plugin("algorithms", chosen_algorithm(session)))


def make(session: PageSession, form: Fields) -> str:
    """Makes the release, and everything that goes with it, in the private folder."""
    name = form.get("name", "").strip() or RELEASE
    if Path(name).name != name or name.startswith("."):
        raise ParameterError("the release needs the name of a file, without a folder")
    signer, job = _signing(session, form)
    ledger = _ledger(session, form)
    job = replace(job, ledger=ledger, allow_unjudged=_unjudged(session, form, ledger))
    number = 1 if session.order is None else session.order.number + 1
    session.order, session.saved = Order(number, job, name, session.uploaded, session.local, signer), ()
    session.about = None
    return "/hand-over#package"


def _signing(session: PageSession, form: Fields) -> tuple[SigningKey | None, Job]:
    """The key to sign with, and the job that names its file where whoever uses the page may know it."""
    job, path = _current(session), _file(session, form, "sign")
    if session.signer is not None:
        return (session.signer if form.get("signed") else None), job
    if path is None:
        return None, job
    signer = SigningKey.load(path, form.get("passphrase", "").encode() or None)
    return signer, replace(job, sign=path.resolve())


def _ledger(session: PageSession, form: Fields) -> Path | None:
    """The ledger: the one that the page was started with, else the one that is named."""
    path = _file(session, form, "ledger")
    if session.ledger is not None:
        return session.ledger
    return None if path is None else path.resolve()


def _unjudged(session: PageSession, form: Fields, ledger: Path | None) -> tuple[str, ...]:
    """What is published although the ledger cannot judge it; only somebody who sits at this machine may say so."""
    names = tuple(filter(None, (name.strip() for name in form.get("allow_unjudged", "").split(","))))
    if names and not session.local:
        raise InputError("only whoever runs this page can allow what the ledger cannot judge")
    if names and ledger is None:
        raise ParameterError("name the ledger that cannot judge these columns or releases")
    return names


def _file(session: PageSession, form: Fields, option: str) -> Path | None:
    """A file of this machine that a form names; only somebody who sits at it may name one."""
    path = form.get(option, "").strip()
    if path and not session.local:
        raise InputError(
            "this page is used from another machine, which cannot name files of this one; whoever runs the page can: "
            f"shoal serve --{option} FILE"
        )
    return Path(path).expanduser() if path else None


def write_report(session: PageSession, form: Fields) -> str:
    """Writes the report of the release that was made."""
    texts = {part: form.get(part, "").strip() for part in ("recipient", "purpose", "author")}
    session.about = {**texts, "date": f"{datetime.now():%Y-%m-%d}"}
    return "/hand-over#report"


def _report(session: PageSession) -> dict[str, Any]:
    package, about = _package(session), dict(session.about or {})
    known = Known(external=register_of(session))
    key = ("report", package.order.number, str(about), str(session.register))
    task = session.work.task(key, "work.report", lambda run: package.add_report(about, known, run), long=True)
    document = session.result(task)
    return {
        "summary": document.summary,
        "holds": document.holds,
        "complete": document.complete and plain_facts(package.outcome.release) is None,
    }


def make_key(session: PageSession, form: Fields) -> str:
    """Makes a pair of keys where the person wants it."""
    if not session.local:
        raise InputError("keys are made on the machine on which the page runs: shoal keys new FILE")
    path = Path(form.get("key", "").strip()).expanduser()
    if not path.name:
        raise ParameterError("name a file for the key")
    if path.exists():
        raise OutputError(f"{path.name}: this file exists already; name another one")
    key = SigningKey.new()
    key.save(path, form.get("passphrase", "").encode() or None)
    session.notice = ("hand_over.key_made", {"path": str(path), "fingerprint": key.public.fingerprint})
    return "/hand-over"


def save(session: PageSession, form: Fields) -> str:
    """Saves everything into a folder of the person's own, what is handed over apart from the rest."""
    if not session.local:
        raise InputError("this page is used from another machine; save the files through the browser")
    folder = Path(form.get("folder", "").strip()).expanduser()
    try:
        session.saved = tuple(_package(session).save(folder.resolve(), overwrite="overwrite" in form))
    except ExistingOutputError as error:
        session.notice = ("error.exists", {"names": ", ".join(error.names)})
        return "/hand-over#package"
    session.notice = ("hand_over.saved", {"count": len(session.saved), "folder": str(folder)})
    return "/hand-over#package"


def for_recipient(session: PageSession, query: Fields) -> tuple[str, bytes]:
    """What may be mailed: nothing that is the holder's alone."""
    package = _package(session)
    return f"{Path(package.order.name).stem}.zip", package.archive(package.for_recipient)


def own(session: PageSession, query: Fields) -> tuple[str, bytes]:
    """What makes the same release again, and must not leave the holder."""
    package = _package(session)
    return f"{Path(package.order.name).stem}-{packages.OWN}.zip", package.archive(package.own)


def one(session: PageSession, query: Fields) -> tuple[str, bytes]:
    name = query.get("name", "")
    return Path(name).name, _package(session).content(name)


ACTIONS = {"make": make, "report": write_report, "key": make_key, "save": save}
FILES = {"recipient.zip": for_recipient, "own.zip": own, "file": one}
