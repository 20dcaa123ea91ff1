"""Running a job: the table read, a release made, measured and written, all files together. Both front ends stand on
it."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal import recodings, registry
from shoal.api.anonymizing import anonymize
from shoal.api.attacking import attempts, attempts_above, public_figures
from shoal.api.evaluating import columns, evaluate, every_plugin, policy_and_risk, quick_metrics
from shoal.api.reading import read_job
from shoal.core.contracts.attack import Attempt
from shoal.core.dataset import Dataset
from shoal.core.finding import Findings
from shoal.core.policy import Policy
from shoal.core.pseudonyms import Pseudonyms
from shoal.core.risk_line import line_words, risk_words
from shoal.core.run import Run
from shoal.errors import ExistingOutputError, InputError, NotDefined, OutputError, ParameterError, VerificationError
from shoal.job.arguments import arguments
from shoal.job.file import load, toml
from shoal.job.job import DEFAULT_ALGORITHM, Job
from shoal.job.plugins import check_policy, plugin
from shoal.notices import tell
from shoal.plots.drawing import check_picture
from shoal.plots.release import picture
from shoal.publishing.columns import ReleasedColumn
from shoal.publishing.headlines import attacked, released
from shoal.publishing.reusable_recoding import ReusableRecoding
from shoal.publishing.signing import SigningKey
from shoal.publishing.writable_release import WritableRelease, manifest_path
from shoal.storage.checkpoint import check_folder
from shoal.storage.files import STANDARD, check_outputs, names_table, recover, shown
from shoal.storage.private import PrivateFolder, write_private

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
        return evaluate(self.data, self.release, *quick_metrics(), baselines=False)

    @property
    def summary(self) -> str:
        """The sentence that leads: how much is published, what holds, who was left out, which columns lost most."""
        release = self.release
        return released(self.standing, self.columns, release.records, release.published.records, release.plain_risk)


def run(
    job: Job | str | Path, *, save: str | Path | None = None, signer: SigningKey | None = None, run: Run | None = None
) -> Outcome:
    """Reads the table of a job, anonymizes and measures it, and writes every file of the job together at the very end.

    Files are checked before any work is done. Whatever goes wrong, also a cancelled run, changes no file but those in
    the job's `resume_dir`, from which the same job goes on.

    Args:
        job: the job, or its file.
        save: where the job itself is written, with the seed that was drawn or mixed.
        signer: the key in the file that the job says to `sign` with, where somebody unlocked it already.
        run: receives progress, and can stop the work.

    Example:
        >>> import shoal, tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> shoal.samples.adult().write_csv(folder / "adult.csv")
        >>> job = shoal.job.parse(
        ...     {
        ...         "input": {"path": "adult.csv"},
        ...         "columns": {"age": {"role": "quasi"}, "sex": {"role": "quasi"}},
        ...         "policy": {"models": ["k-anonymity:k=5"]},
        ...         "output": {"path": "release.csv"},
        ...     },
        ...     folder,
        ... )
        >>> outcome = shoal.run(job)
        >>> outcome.findings["k"].holds, [path.name for path in outcome.files]
        (True, ['release.csv', 'release.csv.manifest.json'])
    """
    job = job if isinstance(job, Job) else load(Path(job))
    if job.engine is None and any(map(names_table, (job.input, job.output))):
        job = replace(job, engine=registry.engine_for(job.input, job.output))
    run, saved = run or Run(), None if save is None else Path(save)
    if job.output is None:
        raise OutputError("name the file for the release with -o, or - for the standard output")
    if not to_standard_output(job):
        if job.manifest is not None and not (job.engine or registry.engine()).in_database(job.output):
            raise ParameterError("the manifest lies beside the release; name its file only with -o - or a database")
        return _run(job, job.output, run, saved, signer)
    if job.manifest is None:
        if job.sign is not None:
            raise ParameterError("what is signed is the manifest; name a file for it with --manifest")
        tell("the release has no manifest, without which nobody can verify it; name a file for one with --manifest")
    folder = PrivateFolder()
    try:
        return _run(job, folder.path / "release.csv", run, saved, signer)
    finally:
        folder.wipe()


def _pseudonyms(job: Job) -> Pseudonyms | None:
    """What identifiers are replaced by; a key comes from a file or the environment, never from the job itself."""
    if job.pseudonyms is None:
        return None
    if job.pseudonyms == "random":
        return Pseudonyms()
    if job.key_file is not None:
        try:
            return Pseudonyms(key=job.key_file.read_bytes().strip())
        except OSError:
            raise InputError("the file with the pseudonym key cannot be read") from None
    if "SHOAL_KEY" in os.environ:
        return Pseudonyms(key=os.environb[b"SHOAL_KEY"].strip())
    raise ParameterError("keyed pseudonyms need a key: give --key-file, or set SHOAL_KEY in the environment")


def to_standard_output(job: Job) -> bool:
    """Whether the release goes to the standard output."""
    return str(job.output) == STANDARD


def _run(job: Job, output: Path, run: Run, save: Path | None, signer: SigningKey | None) -> Outcome:
    started = time.perf_counter()
    others = [path for path in (save, job.plot, job.recoding) if path is not None]
    _check(job, output, others)
    if job.sign is not None:
        signer = signer or SigningKey.load(job.sign)
    pseudonyms = _pseudonyms(job)
    ledger = None if job.ledger is None else _ledger(job.ledger)
    data = read_job(job, resume=True, run=run.part(between=(0.0, READ)))
    run.report(READ, "read")
    options = {**arguments(job, "anonymize"), "ledger": None, "allow_unjudged": ()}  # it is entered with the files
    release = anonymize(
        data,
        *job.models,
        **options,
        pseudonyms=pseudonyms,
        history=None if ledger is None else ledger.history(data),
        run=run.part(between=(READ, MADE)),
    )
    recoding = "" if job.recoding is None else recodings.spelled(ReusableRecoding.of(release))
    assert release.policy is not None and release.method is not None
    seed = release.policy.seed
    # What is saved repeats this run: with the seed that it had, which nobody mixes again.
    job = replace(job, seed=seed, repeatable=job.repeatable or release.method.seed_protects)
    attacks: tuple[Attempt, ...] = ()
    if job.attack:
        run.report(MADE, "attacking")
        release, attacks = _attack(job, data, release, run)
    run.report(MADE, "measuring")
    findings = policy_and_risk(data, release)
    released_columns = columns(data, release)
    parts = release.files(output, None if to_standard_output(job) else job.manifest)
    if to_standard_output(job):
        if len(parts) > 2:
            raise OutputError("this release is more than one table, which the standard output cannot hold; name a file")
        parts = (output, job.manifest or parts[-1])
    figures = {
        **(release.recoding.facts if release.recoding is not None else {}), "records": release.records,
        **{finding.name: finding.value for finding in findings if finding.name == "classes"},
        "suppressed": release.suppressed, "seed": seed, "notes": list(release.notes),
        **({"attacks": [attempt.as_dict() for attempt in attacks]} if job.attack else {}),
        **({"manifest": str(parts[-1])} if job.manifest is not None or not to_standard_output(job) else {}),
    }  # fmt: skip
    run.report(MADE, "writing")
    replaced = [path for path in (*parts, *others) if not data.engine.in_database(path)]
    check_outputs(replaced, job.reads(), overwrite=job.overwrite)
    # The entry is made first and the files take their places last: both are there then, or none is.
    judging = run.part(between=(MADE, JUDGED))
    entering = nullcontext() if ledger is None else ledger.publishing(data, release, judging, job.allow_unjudged)
    with entering as publication, data.engine.staging(*parts, *others) as places:
        release.put(
            output, places[: len(parts)], signer, rows_per_file=job.rows_per_file, run=run.part(between=(MADE, 1.0))
        )
        beside = dict(zip(others, places[len(parts) :], strict=True))
        if save is not None:
            write_private(beside[save], toml(replace(job, overwrite=False), save.parent))
        if job.plot is not None:
            picture(data, release, beside[job.plot])
        if job.recoding is not None:
            write_private(beside[job.recoding], recoding)
        run.check()
        if publication is not None:
            stated = json.loads(places[len(parts) - 1].read_text(encoding="utf-8"))
            publication.enter(stated, None if to_standard_output(job) else output)
            figures["notes"] = [*release.notes, *publication.notes]
        if to_standard_output(job):
            _send(places[0])
    if data.checkpoint is not None:
        data.checkpoint.remove()
    figures["seconds"] = round(time.perf_counter() - started, 3)
    files = tuple(path for path in (*parts, *others) if path.parent != output.parent or not to_standard_output(job))
    return Outcome(
        data=data, release=release, standing=findings, columns=released_columns, figures=figures, files=files,
        notes=data.notes, attacks=attacks,
    )  # fmt: skip


def _attack(job: Job, data: Dataset, release: WritableRelease, run: Run) -> tuple[WritableRelease, tuple[Attempt, ...]]:
    """The release with the figures of attacks on it in its manifest, once nobody's risk is above the threshold."""
    selection = job.attacks or every_plugin("attacks")[0]
    results, reasons = attempts(data, release, selection, run=run)
    threshold = job.attack_threshold
    if threshold is not None and not results:
        raise NotDefined(f"there is no risk to compare with the threshold of attacks. {attacked(results, reasons)}")
    broken = [] if threshold is None else attempts_above(results, threshold)
    if broken:
        worst = ", ".join(f"{attempt.name} {risk_words(attempt.worst)}" for attempt in broken)
        raise VerificationError(
            f"attacks reach more than {line_words(threshold or 0.0)} for the most exposed person ({worst}), so nothing "
            "was written; ask for more with models, leave columns out, or accept a higher threshold"
        )
    stated = {**release.provenance, "attacks": public_figures(data, release, selection, run)}
    return replace(release, provenance=stated), results


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
    if engine.in_database(output) and str(output) == str(job.input):
        raise OutputError(f"{shown(output)}: this would overwrite the table that is read; name another one")
    if not job.overwrite and engine.in_database(output) and engine.occupied(output):
        raise ExistingOutputError([shown(output)])
    check_outputs(outputs, job.reads(), overwrite=job.overwrite)
