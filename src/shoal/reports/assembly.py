"""Making a report: everything is asked of the verbs that a holder can ask too, so that figures are theirs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal import api, manifest
from shoal.api.attacking import release_to_attack
from shoal.api.reading import check_dataset
from shoal.core.contracts.attack import Known
from shoal.core.dataset import Dataset
from shoal.core.finding import Findings
from shoal.core.members import check_same
from shoal.core.release import Release
from shoal.core.risk_line import LINE, one_in
from shoal.core.run import Run
from shoal.errors import InputError, MissingExtraError, NotDefined, VerificationError
from shoal.job.job import Job
from shoal.plots.attack import attacks
from shoal.plots.drawing import altair
from shoal.plots.exposure import class_sizes
from shoal.plots.exposure import risk as risk_picture
from shoal.plots.loss import loss
from shoal.plots.marginals import marginal
from shoal.publishing.headlines import survey_risk, verified
from shoal.publishing.signing import PublicKey
from shoal.publishing.writable_release import manifest_path
from shoal.reports import sentences
from shoal.reports.contents import About, Holder, PublishedFile, promised
from shoal.reports.document import Report
from shoal.reports.limits import limits
from shoal.reports.reproduction import commands, job_shown
from shoal.reports.risk import Risk, classes_of, left
from shoal.storage.files import sha256
from shoal.version import __version__


def report(
    data: Dataset,
    release: str | Path,
    *,
    recipient: str = "",
    purpose: str = "",
    author: str = "",
    date: str = "",
    threshold: float | None = None,
    key: PublicKey | str | Path | None = None,
    holder: bool = False,
    quick: bool = False,
    job: Job | None = None,
    known: Known | None = None,
    made: Release | None = None,
    run: Run | None = None,
) -> Report:
    """Everything about a release that a privacy officer signs: a page that stands on its own, and JSON.

    By default it holds no value of any cell and no seed, so that it may be handed to a regulator or a recipient.

    Args:
        data: the table that the release was made from.
        release: the file of the release, with its manifest beside it.
        recipient: who gets the release.
        purpose: what for.
        author: who answers for it.
        date: the day of the report, such as 2026-05-17; no clock is asked.
        threshold: the highest risk of a person that is accepted, such as 0.09, which means one in eleven. One that is
            given decides, with the verification, whether the report `holds`.
        key: the public key, or its file, that must have signed the manifest.
        holder: adds a part for the holder alone: values before and after, exact figures, facts about the table.
        quick: leaves out measures that take long, and what the others would be for other tables.
        job: how the release was made, where its manifest is not all that is known.
        known: what the attackers have beside the release.
        made: the release as it was made here, which knows what its file leaves open, such as who is in which class.
        run: is told how far the work is, and can stop it.

    Example:
        >>> import shoal, tempfile
        >>> table = shoal.samples.adult().head(1000)
        >>> data = shoal.read(table, quasi=["age", "sex", "race"], sensitive=["occupation"])
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = shoal.anonymize(data, shoal.KAnonymity(k=11), algorithm="mondrian").write(folder / "release.csv")
        >>> made = shoal.report(data, folder / "release.csv", recipient="the university", threshold=0.09)
        >>> made.holds
        True
        >>> [path.name for path in made.write(folder / "report.html", folder / "report.json")]
        ['report.html', 'report.json']
    """
    check_dataset(data)
    about = About(recipient=recipient, purpose=purpose, author=author, day=date)
    line = 1 / one_in(LINE if threshold is None else threshold)
    watched = run or Run()
    path = Path(release)
    stated = manifest.load(path)
    _check_origin(data, stated, path)
    verification = api.verify(path, key=key, engine=data.engine)
    watched.report(0.1, "measuring")
    made_by = job or Job()
    # What was changed is reported as such; whatever else is no release of the table is refused.
    unchanged = verification["unchanged"].holds
    opened = _opened(data, path, made) if unchanged else api.open_release(path, data)
    metrics = api.quick_metrics() if quick else ()
    measured = api.evaluate(data, opened, *metrics, analyses=made_by.analyses, baselines=not quick)
    analyses, findings = _apart(measured, len(made_by.analyses))
    columns = api.columns(data, opened)
    watched.report(0.5, "attacking")
    attempts, not_made = api.every_attack(data, opened, known or Known(), watched)
    watched.report(0.9, "drawing")
    classes = classes_of(opened)
    risk: Risk | str = classes if isinstance(classes, str) else left(classes, line)
    policy = manifest.policy_of(stated)
    models = tuple(
        promised(each, parameters) for each, parameters in zip(policy.models, stated["policy"]["models"], strict=True)
    )
    out, plain = opened.suppressed, opened.plain_risk
    people = _people(opened, stated)
    unverified = stated.get("unverified") is not None
    return Report(
        about=about, release=path.name, form=stated["form"], records=opened.records,
        published=opened.published.records, people=people, identifiers=stated["identifiers"],
        files=_files(stated, path), columns=columns, policy=policy, promises=models, algorithm=stated["algorithm"],
        strict=stated.get("strict", False), unverified=unverified, verification=verification,
        verified=verified(verification, findings), plain=plain, risk=risk, attempts=attempts,
        not_made=not_made, findings=findings, analyses=analyses,
        limits=limits(opened, models, columns, unverified=unverified), manifest=_manifest(path),
        signature=_signature(stated, verification),
        job=job_shown(made_by, stated, path), commands=commands(made_by, path, signed="signature" in stated),
        sentences=(
            sentences.published(path.name, opened.records, out, people, recipient, purpose),
            sentences.promise(
                verification, findings, claims=opened.claims, unverified=unverified, people=stated.get("people"),
                quasi=data.schema.quasi, plain=plain,
            ),
            " ".join(filter(None, (sentences.exposed(risk, data.schema.quasi), survey_risk(findings)))),
            sentences.tried(attempts, not_made),
            sentences.cost(columns, out, opened.records, analyses),
        ),
        shoal=__version__, threshold_given=threshold is not None,
        pictures=_pictures(data, opened, columns, attempts, line, holder=holder),
        holder=_holder(data, opened, made_by, measured, attempts) if holder else None,
    )  # fmt: skip


def _opened(data: Dataset, path: Path, made: Release | None) -> Release:
    """The release in a file; where it was made here, as it was made."""
    if made is None:
        return release_to_attack(data, path)
    with suppress(NotDefined):
        in_file = api.open_release(path, data)
        try:
            check_same(in_file.view.people(), made.view.people())
        except VerificationError:
            raise InputError(f"{path.name}: this is not the file of the release that was made") from None
    return made


def _check_origin(data: Dataset, stated: Mapping[str, Any], path: Path) -> None:
    """Refuses a table that the release was not made from, as far as its manifest tells."""
    roles = {column["name"]: column["role"] for column in stated["columns"]}
    here = {column.name: str(column.role) for column in data.schema.columns}
    if set(roles) != set(here):
        lacking = [name for name in roles if name not in here] or [name for name in here if name not in roles]
        raise InputError(
            f"{path.name}: this is a release of another table: column {lacking[0]!r} is in only one of the two"
        )
    other = next((name for name, role in roles.items() if here[name] != role), None)
    if other is not None:
        raise InputError(
            f"{path.name}: the release was made with column {other!r} as {roles[other]}, and here it is {here[other]}; "
            "give the roles that it was made with, or none"
        )
    if stated["records"] != data.records:
        raise InputError(
            f"{path.name}: this is a release of a table with {stated['records']:,} records, and this one has "
            f"{data.records:,}"
        )


def _apart(measured: Findings, count: int) -> tuple[Findings, Findings]:
    """Declared analyses, which come first, without their names, which may spell values; and all other findings."""
    shown = [
        replace(each, name=f"analysis-{place}", detail={}, label=f"declared analysis {place}{_after(each.label)}")
        for place, each in enumerate(measured.entries[:count], start=1)
    ]
    return Findings(tuple(shown)), Findings(measured.entries[count:])


def _after(label: str) -> str:
    """What is measured of an analysis."""
    return f": {label.rpartition(': ')[2]}" if label else ""


def _files(stated: Mapping[str, Any], path: Path) -> tuple[PublishedFile, ...]:
    places = manifest.parts(stated, path)
    return tuple(
        PublishedFile(name=places[table["part"]].name, part=table["part"], rows=table["rows"], sha256=table["sha256"])
        for table in stated["tables"]
    )


def _manifest(path: Path) -> PublishedFile:
    beside = manifest_path(path)
    return PublishedFile(name=beside.name, part="manifest", rows=0, sha256=sha256(beside))


def _signature(stated: Mapping[str, Any], verification: Any) -> dict[str, str]:
    """Who signed the manifest, and whether that was checked."""
    signature, finding = stated.get("signature"), verification.get("signature")
    if signature is None:
        return {"state": "missing" if finding is not None else "none"}
    return {"state": str(finding.value), "algorithm": signature["algorithm"], "key": signature["key"]}


def _people(release: Release, stated: Mapping[str, Any]) -> int | None:
    """How many people are in the release, where they are counted."""
    people = stated.get("people")
    return None if people is None else int(people["published"])


def _pictures(
    data: Dataset, release: Release, columns: Any, attempts: Any, line: float, *, holder: bool
) -> dict[str, Any]:
    """Every picture that the form of the release allows."""
    pictures: dict[str, Any] = {}
    try:
        altair()
    except MissingExtraError:  # JSON needs none
        return pictures
    classes = classes_of(release)
    least = release.policy.least if release.policy is not None else 1
    if not isinstance(classes, str):
        pictures["risk"] = risk_picture(classes, line=line)
        pictures["classes"] = class_sizes({"release": classes}, k=least)
        if holder:
            pictures["classes-before"] = class_sizes({"original": data.summary, "release": classes}, k=least)
    if any(column.lost is not None and str(column.role) == "quasi" for column in columns):
        pictures["loss"] = loss(columns)
    if attempts:
        pictures["attacks"] = attacks(attempts)
    for place, name in enumerate((*data.schema.quasi, *data.schema.sensitive) if holder else (), start=1):
        with suppress(NotDefined):
            pictures[f"marginal-{place}"] = marginal(data, release, name)
    return pictures


def _holder(data: Dataset, release: Release, job: Job, findings: Any, attempts: Any) -> Holder:
    table: dict[str, Any] = {"records": data.records, "columns": len(data.schema.columns)}
    if job.input is not None and job.input.is_file():
        table |= {"name": job.input.name, "sha256": sha256(job.input)}
    least = release.policy.least if release.policy is not None else None
    return Holder(table=table, exposure=api.diagnose(data, k=least), findings=findings, attempts=attempts)
