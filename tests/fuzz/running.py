"""Runs a case through Shoal and holds what comes out against what was promised."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import io
import json
import math
import tempfile
import traceback
import warnings
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import tomli_w
from tests.fuzz import case as cases
from tests.fuzz import reader
from tests.fuzz.case import Case, Column, Given
from tests.fuzz.definitions import DEFINITIONS, LEAST_SIZE, OF_SIZES, TOGETHER
from tests.fuzz.meaning import Lexicon, attribute, covers, number, spellings
from tests.fuzz.reader import Sheet

import shoal
from shoal import job
from shoal.errors import InfeasibleError, ShoalError

OLD = b"an older release"
LONG = 7
"""Cells of at least so many characters are looked for in what is printed; shorter ones occur anyway."""


class Broken(Exception):  # noqa: N818 - it is an answer
    """A promise that was not kept, in words that hold no value."""


@dataclass(frozen=True)
class Outcome:
    """How a case ended: `published`, `refused` or `infeasible`, or which promise broke."""

    state: str
    broken: str | None = None
    told: str = ""


def demand(kept: bool, promise: str) -> None:
    if not kept:
        raise Broken(promise)


def run(case: Case) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        trial = _Trial(case, Path(folder))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                return Outcome(trial.run(), told=trial.told[0] if trial.told else "")
        except Broken as broken:
            return Outcome("broken", str(broken))


class _Trial:
    def __init__(self, case: Case, folder: Path) -> None:
        self.case, self.folder = case, folder
        self.given, self.out, self.again = (folder / name for name in ("given", "out", "again"))
        for place in (self.given, self.out, self.again):
            place.mkdir()
        self.target = self.out / f"release.{case.ending}"
        self.told: list[str] = []
        self.lexicons = {column.name: Lexicon(column, case) for column in case.columns if column.role in _JUDGED}

    def run(self) -> str:
        case = self.case
        source = cases.put(case, self.given)
        if case.occupied:
            for path in (self.target, _manifest(self.target)):
                path.write_bytes(OLD)
        copy = _copied(source)
        before = _hashes(self.out)
        if case.command:
            path = self.given / "job.toml"
            path.write_text(tomli_w.dumps(cases.job(case, source, self.given, self.target)), encoding="utf-8")
            inputs = _hashes(self.given)
            state = self._commanded("anonymize", "--job", path, *(["--json"] if case.number % 2 else []))
        else:
            trees = cases.hierarchies(case, self.given)
            inputs = _hashes(self.given)
            state = self._published(case, source, trees, self.target)
        demand(_hashes(self.given) == inputs and _same(source, copy), "the input was changed")
        self._repeated(state)
        if state == "published":
            self._check()
        else:
            demand(_hashes(self.out) == before, "a run that failed changed files")
        self._check_told()
        return state

    # ------------------------------------------------------------------------------------------------- running

    def _published(self, case: Case, source: Any, trees: dict[str, Any], target: Path) -> str:
        """Publishes by the library."""
        with _caught(self.told) as ended:
            data = shoal.read(
                source,
                quasi=[column.name for column in case.named("quasi")],
                sensitive=[column.name for column in case.named("sensitive")],
                identifiers=[column.name for column in case.named("identifier")],
                hierarchies=trees,
                kinds={column.name: column.kind for column in case.columns if column.kind is not None},
                missing=case.missing,
                missing_rules={column.name: column.rule for column in case.columns},
                strict=case.strict,
                delimiter=case.delimiter if case.told and case.container.startswith("csv") else None,
            )
            self.told.append(repr(data))
            pseudonyms = {None: None, "keyed": shoal.Pseudonyms(key=cases.KEY), "random": shoal.Pseudonyms()}
            release = shoal.anonymize(
                data,
                *(job.plugin("models", {"name": name, **values}) for name, values in case.models),
                algorithm=job.plugin("algorithms", {"name": case.algorithm[0], **case.algorithm[1]}),
                suppression=case.suppression,
                seed=case.seed,
                pseudonyms=pseudonyms[case.pseudonyms],
            )
            self.told.append(repr(release))
            release.write(target)
            for frame in release.frames.values():
                self._check_frame(frame)
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

    def _repeated(self, state: str) -> None:
        """The same records in another order give the same bytes."""
        other = self.case.permuted()
        folder = self.again / "given"
        folder.mkdir()
        target = self.again / "out" / self.target.name
        target.parent.mkdir()
        found = self._published(other, cases.put(other, folder), cases.hierarchies(other, folder), target)
        demand(found == state, f"{state}, and with rows in another order or by the other front end {found}")
        if state == "published" and not (self.case.pseudonyms == "random" and self.case.named("identifier")):
            one, two = _hashes(self.out), _hashes(target.parent)
            demand(one.keys() == two.keys(), "other files with rows in another order")
            differing = [name for name in one if one[name] != two[name]]
            demand(not differing, f"other bytes with rows in another order: {', '.join(differing)}")

    # ------------------------------------------------------------------------------------------------- checking

    def _check(self) -> None:
        case = self.case
        manifest = _manifest(self.target)
        stated = json.loads(manifest.read_text(encoding="utf-8"))
        paths = {entry["part"]: _part(self.target, entry["part"]) for entry in stated["tables"]}
        demand(_files(self.out) == {*paths.values(), manifest}, "files beside the release and its manifest")
        delimiter = case.delimiter if case.container.startswith("csv") else ","
        try:
            sheets = {part: reader.read(path, delimiter) for part, path in paths.items()}
        except (AssertionError, ValueError, pa.ArrowException) as error:
            raise Broken(f"a recipient cannot read a file ({type(error).__name__})") from None
        kept = self._kept()
        self._check_counts(stated, sheets, paths, len(kept))
        rows = self._traced(sheets[""], kept)
        if stated["form"] == "perturbed":
            self._check_columns(sheets[""], kept, rows)
        else:
            self._check_cells(sheets, rows, stated["form"])
            self._check_models(sheets, kept, stated["form"])
        self._check_pseudonyms(sheets[""], rows)
        means = {column.name for column in case.named("quasi")}
        for part, sheet in sheets.items():
            if case.container.startswith("csv") or sheet.types:
                demand(
                    reader.in_order(sheet, means), f"rows of the table {part!r} are not in the order of their content"
                )
        self._check_secrets(paths, kept, rows)

    def _kept(self) -> list[int]:
        """The records that the missing-value rules leave."""
        kept = list(range(self.case.records))
        for column in self.case.columns:
            if column.rule != "value" and column.name in self.lexicons:
                present = [row for row in kept if self.lexicons[column.name].values[row] is not None]
                demand(column.rule == "drop" or len(present) == len(kept), "a missing value was not refused")
                kept = present
        return kept

    def _check_counts(self, stated: dict[str, Any], sheets: dict[str, Sheet], paths: Any, records: int) -> None:
        published = len(sheets[""].rows)
        demand(stated["records"] == records, f"records: {stated['records']} stated, {records} in the table")
        demand(stated["published"] == published, "the manifest counts other records than the file has")
        withheld = records - published
        demand(0 <= withheld <= math.floor(self.case.suppression * records + 1e-9), f"{withheld} of {records} withheld")
        for entry in stated["tables"]:
            demand(entry["rows"] == len(sheets[entry["part"]].rows), "the manifest counts other rows")
            digest = hashlib.sha256(paths[entry["part"]].read_bytes()).hexdigest()
            demand(entry["sha256"] == digest, "the manifest has another hash")
        demand(str(self.case.seed) not in _manifest(self.target).read_text(encoding="utf-8"), "the seed was published")

    def _traced(self, sheet: Sheet, kept: list[int]) -> list[int] | None:
        """The record that each published row is, by its plain row number."""
        if self.case.traced is None:
            return None
        known = {value: row for row, value in enumerate(self._named(self.case.traced).values)}
        try:
            rows = [known[token] for token in sheet.column(self.case.traced)]
        except (KeyError, ValueError):
            raise Broken("a plain value was changed") from None
        demand(len(set(rows)) == len(rows), "a record was published twice")
        demand(set(rows) <= set(kept), "a dropped record was published")
        return rows

    def _named(self, name: str) -> Column:
        return next(column for column in self.case.columns if column.name == name)

    def _check_columns(self, sheet: Sheet, kept: list[int], rows: list[int] | None) -> None:
        """Perturbed: every column keeps its values; those that nothing changed are true of their records."""
        for name in sheet.names:
            column = self._named(name)
            if column.role in _JUDGED:
                found = Counter(self._read(sheet, name))
                demand(found == Counter(self.lexicons[name].values[row] for row in kept), "swapping changed the values")
        if rows is not None:
            self._check_plain(sheet, rows)

    def _read(self, sheet: Sheet, name: str) -> list[Hashable]:
        """A column that is published as it is, as values."""
        try:
            return [self.lexicons[name].read(cell, sheet.types.get(name)) for cell in sheet.column(name)]
        except (StopIteration, RuntimeError):
            raise Broken(f"a {self._named(name).role} cell is none of its column's values") from None

    def _check_plain(self, sheet: Sheet, rows: list[int]) -> None:
        for column in self.case.named("plain"):
            for cell, row in zip(sheet.column(column.name), rows, strict=True):
                demand(self._is(cell, column.values[row], column, sheet), "a plain value was changed")

    def _is(self, cell: Any, raw: Any, column: Column, sheet: Sheet) -> bool:
        """Whether a cell is published as it came."""
        if (
            raw is None
            or raw != raw
            or raw == ""
            or (self.case.container.startswith("csv") and raw in self.case.missing)
        ):
            return cell is None or cell == raw or cell != cell or (cell == "nan" and raw != raw)
        if cell == raw or (number(cell) is not None and number(cell) == number(raw)):
            return True
        if sheet.types or not isinstance(cell, str):
            kind = sheet.types.get(column.name, column.type)
            return not isinstance(cell, str) and bool(_texts(cell, kind) & _texts(raw, column.type))
        return cell in _texts(raw, column.type) or pa.types.is_binary(column.type)

    def _check_cells(self, sheets: dict[str, Sheet], rows: list[int] | None, form: str) -> None:
        """Every published cell is true of its record."""
        if rows is None:
            return
        sheet = sheets[""]
        self._check_plain(sheet, rows)
        quasi = [sheet.column(column.name) for column in self.case.named("quasi")]
        classes = defaultdict(list)
        for place, key in enumerate(zip(*quasi, strict=True)):
            classes[key].append(rows[place])
        for column in self.case.named("quasi"):
            values = self.lexicons[column.name].values
            for cell, key, row in zip(sheet.column(column.name), zip(*quasi, strict=True), rows, strict=True):
                true = covers(cell, column.values[row], values[row], column, sheet.types.get(column.name))
                if true is None:
                    members = [number(column.values[other]) for other in classes[key]]
                    true = None not in members and _is_mean(number(cell), members)
                demand(bool(true), f"a published cell of a quasi-identifier is not true of its record ({column.type})")
        for column in self.case.named("sensitive"):
            if form != "two-table":
                values = self.lexicons[column.name].values
                demand(self._read(sheet, column.name) == [values[row] for row in rows], "a sensitive value was changed")

    def _check_models(self, sheets: dict[str, Sheet], kept: list[int], form: str) -> None:
        """The models hold in the file, and Shoal's own verifier sees the same figures there."""
        classes = self._groups(sheets) if form == "two-table" else self._classes(sheets[""])
        with _caught(self.told, expected=False) as ended:
            found = shoal.verify(self.target)
            self.told.append(repr(found))
        demand(ended.state == "published", f"verify: {ended.state}")
        measured = list(found)
        demand(found.holds, f"verify says no: {', '.join(finding.name for finding in found if finding.holds is False)}")
        for (name, given), finding in zip(self.case.models, measured, strict=False):
            level, holds = self._level(name, given, classes, kept)
            demand(holds, f"{name} is broken")
            if classes:
                same = finding.value == level or math.isclose(finding.value, level, rel_tol=1e-9, abs_tol=1e-9)
                demand(same, f"{name}: the verifier measures {finding.value}, the file has {level}")

    def _classes(self, sheet: Sheet) -> list[dict[str, list[Hashable]]]:
        """The sensitive values of each class of equal published quasi-identifiers, by column."""
        sensitive = {column.name: self._read(sheet, column.name) for column in self.case.named("sensitive")}
        keys = list(zip(*(sheet.column(column.name) for column in self.case.named("quasi")), strict=True))
        found: dict[Any, dict[str, list[Hashable]]] = {}
        for place, key in enumerate(keys):
            held = found.setdefault(key, {"": [], **{name: [] for name in sensitive}})
            held[""].append(None)
            for name, values in sensitive.items():
                held[name].append(values[place])
        return list(found.values())

    def _groups(self, sheets: dict[str, Sheet]) -> list[dict[str, list[Hashable]]]:
        """The sensitive values of each group, from the second table; the first one has groups of the same sizes."""
        (column,) = self.case.named("sensitive")
        second = sheets["sensitive"]
        values = self._read(second, column.name)
        found: dict[str, list[Hashable]] = defaultdict(list)
        for group, value, count in zip(second.column("group"), values, second.column("count"), strict=True):
            found[str(group)] += [value] * int(count)
        demand(Counter(map(str, sheets[""].column("group"))) == {group: len(held) for group, held in found.items()},
               "the two tables have groups of other sizes")  # fmt: skip
        return [{"": [None] * len(held), column.name: held} for held in found.values()]

    def _level(self, name: str, given: dict[str, Any], classes: Any, kept: list[int]) -> tuple[float, bool]:
        """The level of a model that a file has, and whether it holds."""
        if not classes:
            return 0, True
        smallest = min(len(held[""]) for held in classes)
        if name in OF_SIZES:
            return smallest, smallest >= given[OF_SIZES[name]]
        definition = DEFINITIONS[name]
        holds = smallest >= given.get(LEAST_SIZE.get(name, ""), 1)
        levels = []
        for column in self.case.named("sensitive"):
            if given.get("column") in (None, column.name):
                about = attribute(self.lexicons[column.name], kept, given.get("values", ()))
                parts = list(self._parts(classes, column.name))
                if name in TOGETHER:
                    levels += TOGETHER[name](parts)
                    holds &= min(levels) >= given[definition.bound]
                    continue
                for part in parts:
                    levels.append(definition.level(part, about, given))
                    holds &= definition.keeps(part, about, given)
        return definition.worst(levels), holds

    def _parts(self, classes: Any, name: str) -> Iterator[list[Hashable]]:
        """The values of each class; where each attribute is protected against whoever knows the others, of the people
        of a class who agree on those."""
        others = [column.name for column in self.case.named("sensitive") if column.name != name]
        for held in classes:
            parts = defaultdict(list)
            for place, value in enumerate(held[name]):
                parts[tuple(held[other][place] for other in others) if self.case.strict else ()].append(value)
            yield from parts.values()

    def _check_pseudonyms(self, sheet: Sheet, rows: list[int] | None) -> None:
        for column in self.case.named("identifier"):
            if self.case.pseudonyms is None:
                demand(column.name not in sheet.names, "an identifier was published")
            elif rows is not None:
                people: dict[Any, Any] = {}
                for cell, row in zip(sheet.column(column.name), rows, strict=True):
                    person = column.values[row]
                    demand((cell is None) == (person is None), "a missing identifier got a pseudonym, or lost one")
                    demand(people.setdefault(person, cell) == cell, "a person has two pseudonyms")
                    if self.case.pseudonyms == "keyed" and person is not None:
                        demand(cell == _keyed(column.name, person), "a keyed pseudonym is not the documented one")
                demand(len(set(people.values())) == len(people), "two people have one pseudonym")

    def _check_frame(self, frame: Any) -> None:
        """No dictionary of a frame lists what no record has."""
        if self.case.container in ("pandas", "pyarrow"):
            table = frame if isinstance(frame, pa.Table) else pa.Table.from_pandas(frame, preserve_index=False)
            idle = [name for name in table.column_names for c in table[name].chunks if reader.idle_entries(c)]
            demand(not idle, "a dictionary of the frame lists values that no published record has")

    def _check_secrets(self, paths: dict[str, Path], kept: list[int], rows: list[int] | None) -> None:
        """No file holds an identifier, what only withheld records have, or dictionary entries of no cell."""
        held = {part: reader.everything(path) for part, path in paths.items()}
        secret = [value for column in self.case.named("identifier") for value in column.values if value is not None]
        if rows is not None:
            gone = set(range(self.case.records)) - set(rows)
            token = self._named(self.case.traced or "")
            secret += [token.values[row] for row in gone]
            for column in self.case.columns:
                if column.role != "identifier" and not isinstance(column.hierarchy, (Given, str)):
                    here = {text for row in rows for text in _texts(column.values[row], column.type)}
                    there = {text for row in gone for text in _texts(column.values[row], column.type)}
                    secret += [text for text in there - here if len(text) >= LONG and "uetzal" in text]
        columns = self.case.columns
        shown = {text for row in rows or () for column in columns for text in _texts(column.values[row], column.type)}
        for value in secret:
            leaked = any(value.encode() in data for data in held.values())
            demand(not leaked or any(value in text for text in shown), "a file holds what only withheld records have")
        for path in paths.values():
            if path.suffix in (".parquet", ".arrow"):
                columns = reader.arrow_table(path).columns
                idle = any(reader.idle_entries(chunk) for column in columns for chunk in column.chunks)
                demand(not idle, "a dictionary of the file lists values that no record has")
        self.told.append(_manifest(self.target).read_text(encoding="utf-8"))
        self.told += [path.name for path in self.out.iterdir()]

    def _check_told(self) -> None:
        """Nothing that was printed, raised or stated holds a cell's value."""
        names = [column.name for column in self.case.columns]
        names += [label for c in self.case.columns if isinstance(c.hierarchy, str) for label in [c.hierarchy]]
        values = {
            text
            for column in self.case.columns
            for raw in set(map(_hashable, column.values))
            for text in _texts(raw, column.type)
            if len(text) >= LONG and not _ordinary(text)
        }
        told = "\n".join(self.told)
        leaked = [text for text in values if text in told and not any(text in name for name in names)]
        demand(not leaked, f"{len(leaked)} cells were printed or stated")
        demand(cases.KEY.decode() not in told, "the key was printed")


_JUDGED = ("quasi", "sensitive")


@dataclass
class _Ended:
    state: str = "published"


@contextlib.contextmanager
def _caught(told: list[str], *, expected: bool = True) -> Iterator[_Ended]:
    """Says how a block ended: an error of Shoal is an answer, any other one is a broken promise."""
    ended = _Ended()
    try:
        yield ended
    except (Broken, KeyboardInterrupt):
        raise
    except ShoalError as error:
        told += [*traceback.format_exception_only(error), repr(error), repr(getattr(error, "attempt", ""))]
        told += [str(error.__cause__)] + ([] if error.__suppress_context__ else [str(error.__context__)])
        ended.state = "infeasible" if error.exit_code == InfeasibleError.exit_code else "refused"
        if type(error).__name__ == "VerificationError":
            raise Broken("a release was made that its own verification withholds") from None
    except BaseException as error:
        places = [frame for frame in traceback.extract_tb(error.__traceback__) if "shoal" in frame.filename]
        where = f"{Path(places[-1].filename).name}:{places[-1].lineno}" if places else "outside"
        raise Broken(f"raw {type(error).__name__} at {where}") from error


def _texts(raw: Any, kind: pa.DataType) -> set[str]:
    if raw is None or raw != raw:
        return set()
    if isinstance(raw, (list, dict)):
        inner = raw if isinstance(raw, list) else raw.values()
        return {entry for entry in inner if isinstance(entry, str)}
    return spellings(raw, kind)


def _hashable(raw: Any) -> Any:
    return None if isinstance(raw, (list, dict)) else raw


def _ordinary(text: str) -> bool:
    """Whether a text is a number that figures may be by chance."""
    found = number(text)
    return found is not None and abs(found) < 1_000_000_000


def _is_mean(shown: Any, members: list[Any]) -> bool:
    mean = sum(members) / len(members)
    return bool(abs(shown - mean) <= abs(mean) / 10**9 + max(map(abs, members)) / 10**12)


def _keyed(column: str, person: str) -> str:
    return hmac.new(cases.KEY, column.encode() + b"\0" + person.encode(), hashlib.sha256).hexdigest()[:32]


def _manifest(target: Path) -> Path:
    return target.with_name(target.name + ".manifest.json")


def _part(target: Path, part: str) -> Path:
    stem, dot, endings = target.name.partition(".")
    return target.with_name(f"{stem}.{part}{dot}{endings}") if part else target


def _files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


def _hashes(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(_files(folder))}


def _copied(source: Any) -> Any:
    if isinstance(source, (Path, pa.Table)):
        return source
    return source.clone() if hasattr(source, "clone") else source.copy(deep=True)


def _same(source: Any, copy: Any) -> bool:
    return isinstance(source, Path) or bool(source.equals(copy))
