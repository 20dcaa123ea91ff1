"""Runs a case through Shoal, by the library or the command, and again with its rows in another order."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import tempfile
import warnings
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import tomli_w
from tests.fuzz import case as cases
from tests.fuzz import reader
from tests.fuzz.asking import check_answers
from tests.fuzz.case import Case, Given
from tests.fuzz.checking import Broken, Checks, caught, delimiter_of, demand, files_in, manifest_of
from tests.fuzz.measuring import check_models
from tests.fuzz.perturbing import check_perturbed
from tests.fuzz.series import Series

import shoal
from shoal import job
from shoal.core.hierarchy import Hierarchy

OLD = b"an older release"
MEMORY = Path("/dev/shm")
"""Where there is one, a folder in memory: every release is brought to the disk, which takes longer than all else."""


@dataclass(frozen=True)
class Outcome:
    """How a case ended: `published`, `refused` or `infeasible`, or which promise broke; and what was `seen` in it."""

    state: str
    broken: str | None = None
    told: str = ""
    seen: Counter[tuple[str, str]] = field(default_factory=Counter)


def run(case: Case) -> Outcome:
    seen: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as folder:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                if case.steps:
                    return Outcome(_series(case, Path(folder), seen), seen=seen)
                trial = Trial(case, Path(folder), seen)
                state = trial.run()
                return Outcome(state, told=trial.reason, seen=seen)
        except Broken as broken:
            return Outcome("broken", str(broken), seen=seen)


def _series(case: Case, folder: Path, seen: Counter[tuple[str, str]]) -> str:
    """Publishes one release after the other, each judged beside those before; ends as the last one does."""
    state, series = "refused", Series(case, seen)
    for place, step in enumerate(case.steps):
        if not step.rows:
            continue
        inside = folder / str(place)
        inside.mkdir()
        trial = Trial(case.release(step), inside, seen, ledger=folder / "people.ledger")
        state = trial.run()
        seen["ledger", f"release {place + 1} {state}"] += 1
        if state == "published":
            series.add(step, trial.checks)
    series.check_file(folder)
    return state


class Trial:
    """A case that is run in a folder."""

    def __init__(self, case: Case, folder: Path, seen: Counter[tuple[str, str]], ledger: Path | None = None) -> None:
        self.case, self.folder, self.ledger = case, folder, ledger
        self.given, self.out, self.again = (folder / name for name in ("given", "out", "again"))
        for place in (self.given, self.out, self.again):
            place.mkdir()
        self.target = self.out / f"release.{case.ending}"
        self.told: list[str] = []
        self.checks = Checks(case, self.target, self.told, seen)

    @property
    def reason(self) -> str:
        """Why nothing was published."""
        return next((text for text in self.told if "rror" in text), "")

    def run(self) -> str:
        case = self.case
        source = cases.put(case, self.given)
        if case.occupied:
            for path in (self.target, manifest_of(self.target)):
                path.write_bytes(OLD)
        held = _state(source)
        before = _hashes(self.out)
        if case.command:
            path = self.given / "job.toml"
            options = cases.job(case, source, self.given, self.target, self.ledger)
            path.write_text(tomli_w.dumps(options), encoding="utf-8")
            inputs = _hashes(self.given)
            state = self._commanded("anonymize", "--job", path, "--overwrite", *(["--json"] if case.number % 2 else []))
        else:
            trees = cases.hierarchies(case, self.given)
            inputs = _hashes(self.given)
            state = self.published(case, source, trees, self.target)
        demand(_hashes(self.given) == inputs and _state(source) == held, "the input was changed")
        if case.repeated and self.ledger is None:
            self._repeat(state)
        if state == "published":
            self._check()
        else:
            demand(_hashes(self.out) == before, "a run that failed changed files")
        self.checks.check_told()
        return state

    def _check(self) -> None:
        self.checks.release()
        if self.checks.stated["form"] == "perturbed":
            check_perturbed(self.checks)
        else:
            check_models(self.checks)
            check_answers(self.checks)
        if self.case.command:
            demand(self._commanded("verify", self.target) == "published", "the command does not verify the release")

    def published(self, case: Case, source: Any, trees: dict[str, Any], target: Path) -> str:
        """Publishes by the library."""
        with caught(self.told) as ended:
            data = shoal.read(
                source,
                quasi=[column.name for column in case.named("quasi")],
                sensitive=[column.name for column in case.named("sensitive")],
                identifiers=[column.name for column in case.named("identifier")],
                person=None if case.person is None else case.person.name,
                household=None if case.household is None else case.household.name,
                weight=None if case.weight is None else case.weight.name,
                hierarchies={
                    name: Hierarchy.from_paths(name, tree.paths) if isinstance(tree, Given) else tree
                    for name, tree in trees.items()
                },
                kinds={column.name: column.kind for column in case.columns if column.kind is not None},
                missing=case.missing,
                missing_rules={column.name: column.rule for column in case.columns},
                protect_jointly=case.strict,
                delimiter=case.delimiter if case.told and case.container.startswith("csv") else None,
                encoding=case.encoding if case.told and case.container.startswith("csv") else None,
                engine=case.engine,
            )
            self.told.append(repr(data))
            pseudonyms = {None: None, "keyed": shoal.Pseudonyms(key=cases.KEY), "random": shoal.Pseudonyms()}
            release = shoal.anonymize(
                data,
                *(job.plugin("models", {"name": name, **values}) for name, values in case.models),
                algorithm=job.plugin("algorithms", {"name": case.algorithm[0], **case.algorithm[1]}),
                suppression=case.suppression,
                objective=case.objective,
                seed=case.seed,
                repeatable=True,
                pseudonyms=pseudonyms[case.pseudonyms],
                rows_are_people=case.person is None,
                allow_plain=[column.name for column in case.named("plain")],
                publish_weights=case.weights,
                ledger=self.ledger,
            )
            self.told.append(repr(release))
            release.write(target)
            if target == self.target:
                self.checks.data, self.checks.made = data, release
                assert release.policy is not None
                self.checks.verified = release.verify(release.policy)
            for frame in release.frames.values():
                self.checks.check_frame(frame)
        return ended.state

    def _commanded(self, *arguments: object) -> str:
        from shoal.cli import main

        out, err, code = io.StringIO(), io.StringIO(), 0
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main([str(argument) for argument in arguments])
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else 0
        self.told += [out.getvalue(), err.getvalue()]
        demand("Traceback" not in err.getvalue(), f"{arguments[0]} printed a traceback")
        demand(code in (0, 2, 3), f"{arguments[0]} ended with code {code}: {err.getvalue().splitlines()[:1]}")
        return {0: "published", 2: "refused", 3: "infeasible"}[code]

    def _repeat(self, state: str) -> None:
        """The same records in another order give the same bytes, on the default engine too."""
        other = replace(self.case.permuted(), engine="embedded")
        folder = self.again / "given"
        folder.mkdir()
        target = self.again / "out" / self.target.name
        target.parent.mkdir()
        found = self.published(other, cases.put(other, folder), cases.hierarchies(other, folder), target)
        if state == "refused" and self.case.engine != "embedded":  # an engine may refuse what it cannot hold
            return
        demand(found == state, f"{state}, and with rows in another order or by the other front end {found}")
        if state == "published" and not (self.case.pseudonyms == "random" and self.case.naming):
            self._compare(target)

    def _compare(self, target: Path) -> None:
        """Two releases of the same records: the same bytes, or from different engines the same rows in order."""
        one, two = _hashes(self.out), _hashes(target.parent)
        demand(one.keys() == two.keys(), "other files with rows in another order")
        if self.case.engine == "embedded" or self.case.command:
            differing = [name for name in one if one[name] != two[name]]
            demand(not differing, f"other bytes with rows in another order: {', '.join(differing)}")
            return
        for path in files_in(self.out):
            if not path.name.endswith(".json"):
                here, there = (
                    reader.read(place, delimiter_of(self.case)) for place in (path, target.parent / path.name)
                )
                same = here.names == there.names and repr(here.rows) == repr(there.rows)
                demand(same, "engines publish other rows")


def _hashes(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(files_in(folder))}


def _state(source: Any) -> str:
    """What a frame holds; what lies in files is compared by its bytes."""
    if isinstance(source, Path):
        return ""
    return repr(
        source.to_pydict() if isinstance(source, pa.Table) else [source[name].to_list() for name in source.columns]
    )
