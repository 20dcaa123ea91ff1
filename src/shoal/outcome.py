"""Outcome: what a run of a job gave, and how it comes to be. Both front ends stand on it."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal import api, recodings, registry
from shoal.core.contracts.attack import Attempt
from shoal.core.dataset import Dataset
from shoal.core.finding import Findings
from shoal.core.formatting import percent
from shoal.core.policy import Policy
from shoal.core.run import Run
from shoal.errors import NotDefined, OutputError, ParameterError, VerificationError
from shoal.job import DEFAULT_ALGORITHM, Job, check_policy, plugin
from shoal.notices import tell
from shoal.plots.drawing import check_picture
from shoal.plots.release import picture
from shoal.publishing.columns import ReleasedColumn
from shoal.publishing.headlines import attacked, released
from shoal.publishing.reusable_recoding import ReusableRecoding
from shoal.publishing.signing import SigningKey
from shoal.publishing.writable_release import WritableRelease, manifest_path
from shoal.storage.checkpoint import check_folder
from shoal.storage.files import STANDARD, check_outputs, recover
from shoal.storage.private import PrivateFolder

if TYPE_CHECKING:
    from shoal.ledger import Ledger


READ, MADE, JUDGED = 0.2, 0.85, 0.9
"""The shares of a run that are done once the table is read, once the release is made and verified, and once a ledger
has judged it; the rest is writing it and reading it back."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A release of a table, what holds in it and what risk is left, what each column lost, figures of the run, the
    files that it wrote, notes on how the table was read, and attacks on the release where they were asked for.

    The figures have the seed: it is the holder's secret, and whoever has it can repeat the run.
    """

    data: Dataset = field(repr=False)
    release: WritableRelease
    standing: Findings
    columns: tuple[ReleasedColumn, ...]
    figures: Mapping[str, Any]
    files: tuple[Path, ...]
    notes: tuple[str, ...] = ()
    attacks: tuple[Attempt, ...] = ()

    @cached_property
    def findings(self) -> Findings:
        """What it cost and what risk is left: every quick metric, measured when somebody asks."""
        return api.evaluate(self.data, self.release, *api.quick_metrics(), baselines=False)

    @property
    def summary(self) -> str:
        """The sentence that leads: how much is published, what holds, who was left out, which columns lost most."""
        return released(self.standing, self.columns, self.release.records, self.release.published.records)


def carry_out(job: Job, run: Run, save: Path | None, signer: SigningKey | None = None) -> Outcome:
    """Runs a job. Files are checked before any work is done, and change only when all of it is."""
    if job.output is None:
        raise OutputError("name the file for the release with -o, or - for the standard output")
    if not sent(job):
        if job.manifest is not None and not (job.engine or registry.engine()).in_database(job.output):
            raise ParameterError("the manifest lies beside the release; name its file only with -o - or a database")
        return _carried_out(job, job.output, run, save, signer)
    if job.manifest is None:
        if job.sign is not None:
            raise ParameterError("what is signed is the manifest; name a file for it with --manifest")
        tell("the release has no manifest, without which nobody can verify it; name a file for one with --manifest")
    folder = PrivateFolder()
    try:
        return _carried_out(job, folder.path / "release.csv", run, save, signer)
    finally:
        folder.wipe()


def sent(job: Job) -> bool:
    """Whether the release goes to the standard output."""
    return str(job.output) == STANDARD


def _carried_out(job: Job, output: Path, run: Run, save: Path | None, signer: SigningKey | None) -> Outcome:
    started = time.perf_counter()
    others = [path for path in (save, job.plot, job.recoding) if path is not None]
    _check(job, output, others)
    if job.sign is not None:
        signer = signer or SigningKey.load(job.sign)
    pseudonyms = job.replacement()
    ledger = None if job.ledger is None else _ledger(job.ledger)
    data = job.read(run.part(between=(0.0, READ)), resume_dir=job.resume_dir)
    run.report(READ, "read")
    release = api.anonymize(
        data, *job.models, algorithm=job.algorithm or DEFAULT_ALGORITHM, suppression=job.suppression,
        objective=job.objective, seed=job.seed, repeatable=job.repeatable, pseudonyms=pseudonyms,
        allow_unverified=job.allow_unverified,
        rows_are_people=job.rows_are_people, allow_plain=job.allow_plain, run=run.part(between=(READ, MADE)),
        history=None if ledger is None else ledger.history(data),
    )  # fmt: skip
    recoding = "" if job.recoding is None else recodings.spelled(ReusableRecoding.of(release))
    assert release.policy is not None and release.method is not None
    seed = release.policy.seed
    # What is saved repeats this run: with the seed that it had, which nobody mixes again.
    job = replace(job, seed=seed, repeatable=job.repeatable or release.method.seed_protects)
    attacks: tuple[Attempt, ...] = ()
    if job.attack:
        run.report(MADE, "attacking")
        release, attacks = _attacked(job, data, release, run)
    run.report(MADE, "measuring")
    standing = api.standing(release)
    columns = api.columns(data, release)
    parts = release.files(output, None if sent(job) else job.manifest)
    if sent(job):
        if len(parts) > 2:
            raise OutputError("this release is more than one table, which the standard output cannot hold; name a file")
        parts = (output, job.manifest or parts[-1])
    figures = {
        **(release.recoding.facts if release.recoding is not None else {}), "records": release.records,
        **{finding.name: finding.value for finding in standing if finding.name == "classes"},
        "suppressed": release.suppressed, "seed": seed, "notes": list(release.notes),
        **({"attacks": [attempt.as_dict() for attempt in attacks]} if job.attack else {}),
        **({"manifest": str(parts[-1])} if job.manifest is not None or not sent(job) else {}),
    }  # fmt: skip
    run.report(MADE, "writing")
    check_outputs([path for path in (*parts, *others) if not data.engine.in_database(path)], job.reads())
    # The entry is made first and the files take their places last: both are there then, or none is.
    judging = run.part(between=(MADE, JUDGED))
    entering = nullcontext() if ledger is None else ledger.publishing(data, release, judging, job.allow_unjudged)
    with entering as publication, data.engine.staging(*parts, *others) as places:
        release.put(
            output, places[: len(parts)], signer, rows_per_file=job.rows_per_file, run=run.part(between=(MADE, 1.0))
        )
        beside = dict(zip(others, places[len(parts) :], strict=True))
        if save is not None:
            beside[save].write_text(job.toml(save.parent), encoding="utf-8")
        if job.plot is not None:
            picture(data, release, beside[job.plot])
        if job.recoding is not None:
            recodings.put(recoding, beside[job.recoding])
        run.check()
        if publication is not None:
            stated = json.loads(places[len(parts) - 1].read_text(encoding="utf-8"))
            publication.enter(stated, None if sent(job) else output)
            figures["notes"] = [*release.notes, *publication.notes]
        if sent(job):
            _send(places[0])
    if data.checkpoint is not None:
        data.checkpoint.remove()
    figures["seconds"] = round(time.perf_counter() - started, 3)
    files = tuple(path for path in (*parts, *others) if path.parent != output.parent or not sent(job))
    return Outcome(
        data=data, release=release, standing=standing, columns=columns, figures=figures, files=files, notes=data.notes,
        attacks=attacks,
    )  # fmt: skip


def _attacked(
    job: Job, data: Dataset, release: WritableRelease, run: Run
) -> tuple[WritableRelease, tuple[Attempt, ...]]:
    """The release with the figures of attacks on it in its manifest, once nobody's risk is above the threshold."""
    chosen = job.attacks or api.every("attacks")[0]
    found, reasons = api.attempts(data, release, chosen, run=run)
    threshold = job.attack_threshold
    if threshold is not None and not found:
        raise NotDefined(f"there is no risk to compare with the threshold of attacks. {attacked(found, reasons)}")
    broken = [] if threshold is None else api.above(found, threshold)
    if broken:
        worst = ", ".join(f"{attempt.name} {percent(attempt.worst)}" for attempt in broken)
        raise VerificationError(
            f"attacks reach more than {percent(threshold or 0.0)} for the most exposed person ({worst}), so nothing "
            "was written; ask for more with models, leave columns out, or accept a higher threshold"
        )
    stated = {**release.provenance, "attacks": api.public_figures(data, release, chosen, run)}
    return replace(release, provenance=stated), found


def _ledger(path: Path) -> Ledger:
    from shoal.ledger import Ledger

    return Ledger(path)


def _send(path: Path) -> None:
    """Writes a file to the standard output."""
    try:
        with path.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    except OSError as error:
        raise OutputError(f"the standard output could not be written ({error.strerror})") from None


def _check(job: Job, output: Path, others: list[Path]) -> None:
    """Looks at everything that can be wrong before any work is done."""
    policy = Policy(models=job.models, suppression=job.suppression, objective=job.objective, seed=job.seed or 0)
    method = plugin("algorithms", job.algorithm or DEFAULT_ALGORITHM)
    check_policy(policy, method, allow_unverified=job.allow_unverified)
    if job.attack_threshold is not None and not 0 <= job.attack_threshold <= 1:
        raise ParameterError("the threshold of attacks must be a probability between 0 and 1")
    engine = job.engine or registry.engine()
    engine.check_format(output)
    if job.plot is not None:
        check_picture(job.plot)
    if job.ledger is not None:
        _ledger(job.ledger).check_writable()
    elif job.allow_unjudged:
        raise ParameterError("allow_unjudged needs a ledger (--ledger): it lists what the ledger cannot judge")
    if job.resume_dir is not None:
        check_folder(job.resume_dir)
    tables = [] if engine.in_database(output) else [output]
    outputs = [*tables, job.manifest or manifest_path(output), *others]
    for folder in {path.parent for path in outputs}:
        recover(folder)
    check_outputs(outputs, job.reads())
