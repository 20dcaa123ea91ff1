"""What must hold of a release, held against the files as a recipient reads them."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import math
import re
import traceback
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from tests.fuzz import case as cases
from tests.fuzz import reader
from tests.fuzz.case import Case, Column, Given
from tests.fuzz.lexicon import Lexicon
from tests.fuzz.meaning import DAY, moment, number, quantity, spellings
from tests.fuzz.reader import Sheet

from shoal.core.dataset import Dataset
from shoal.core.finding import Findings
from shoal.core.release import Release
from shoal.errors import InfeasibleError, ShoalError

TWO_TABLES = ("two-table", "counterfeited")
JUDGED = ("quasi", "sensitive")
LONG = 7
"""Cells of at least so many characters are looked for in what is printed; shorter ones occur anyway."""


EXAMPLE = re.compile(r"like 1984-05-17")
"""How messages say what a date is; the day is also one that tables have."""


class Broken(Exception):  # noqa: N818 - it is an answer
    """A promise that was not kept, in words that hold no value."""


def demand(kept: bool, promise: str) -> None:
    if not kept:
        raise Broken(promise)


@dataclass
class _Ended:
    state: str = "published"


@contextlib.contextmanager
def caught(told: list[str]) -> Iterator[_Ended]:
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


class Checks:
    """The promises of a release that was written to a target. What was printed or raised on the way is in `told`, what
    the holder's own verifier found in `verified`; `seen` counts what was looked at."""

    def __init__(self, case: Case, target: Path, told: list[str], seen: Counter[tuple[str, str]]) -> None:
        self.case, self.target, self.told, self.seen = case, target, told, seen
        self.lexicons = {column.name: Lexicon(column, case) for column in case.columns if column.role in JUDGED}
        self.verified: Findings | None = None
        self.data: Dataset | None = None
        self.made: Release | None = None

    def release(self) -> None:
        case = self.case
        manifest = manifest_of(self.target)
        stated = json.loads(manifest.read_text(encoding="utf-8"))
        self.stated, form = stated, stated["form"]
        self.seen["form", form] += 1
        paths = {entry["part"]: _part(self.target, entry["part"]) for entry in stated["tables"]}
        demand(files_in(self.target.parent) == {*paths.values(), manifest}, "files beside the release and its manifest")
        try:
            sheets = {part: reader.read(path, delimiter_of(case)) for part, path in paths.items()}
        except (AssertionError, ValueError, pa.ArrowException) as error:
            raise Broken(f"a recipient cannot read a file ({type(error).__name__})") from None
        self.sheets = sheets
        self._check_names(form)
        self.kept = kept = self._kept()
        self._check_counts(stated, sheets, paths, len(kept))
        self.rows = rows = self._traced(sheets[""], kept)
        if form != "perturbed":
            self._check_cells(sheets, rows, form)
        self._check_pseudonyms(sheets[""], rows)
        means = {column.name for column in case.named("quasi") + case.named("weight")}
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

    def _check_names(self, form: str) -> None:
        """Every table has the columns that its form says, and no other one."""
        case = self.case
        hidden = {column.name for column in case.naming} if case.pseudonyms is None else set[str]()
        hidden |= {column.name for column in case.named("weight") if case.weights is None}
        names = {column.name for column in case.columns} - hidden
        sensitive = {column.name for column in case.named("sensitive")}
        tables = {part: sheet.names for part, sheet in self.sheets.items()}
        demand(all(len(set(held)) == len(held) for held in tables.values()), "a table has a column twice")
        if form in TWO_TABLES:
            wanted = {"": names - sensitive | {"group"}, "sensitive": {"group", "count"} | sensitive}
            demand({part: set(held) for part, held in tables.items()} == wanted, "two tables have other columns")
        elif form == "sliced":
            beside = [set(held) - {"bucket"} for held in tables.values()]
            demand(set.union(*beside) == names, "a sliced release lacks columns, or has others")
            shared = [name for name in names if sum(name in held for held in beside) > 1]
            demand(set(shared) <= sensitive, "a column stands in two tables")
        else:
            demand({part: set(held) for part, held in tables.items()} == {"": names}, "a release has other columns")

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
        demand(
            str(self.case.seed) not in manifest_of(self.target).read_text(encoding="utf-8"), "the seed was published"
        )

    def _traced(self, sheet: Sheet, kept: list[int]) -> list[int] | None:
        """The record that each published row is, by its plain row number."""
        if self.case.traced is None:
            return None
        known = {value: row for row, value in enumerate(self.case.column(self.case.traced).values)}
        try:
            rows = [known[token] for token in sheet.column(self.case.traced)]
        except (KeyError, ValueError):
            raise Broken("a plain value was changed") from None
        demand(len(set(rows)) == len(rows), "a record was published twice")
        demand(set(rows) <= set(kept), "a dropped record was published")
        return rows

    def values(self, sheet: Sheet, name: str) -> list[Hashable]:
        """A column that is published as it is, as values."""
        try:
            return [self.lexicons[name].read(cell, sheet.types.get(name)) for cell in sheet.column(name)]
        except KeyError:
            raise Broken(f"a {self.case.column(name).role} cell is none of its column's values") from None

    def check_plain(self, sheet: Sheet, rows: list[int]) -> None:
        for column in self.case.named("plain"):
            keys = [sheet.column(name) for name in self.stated.get("ghosts", {}).get(column.name, ())]
            for place, (cell, row) in enumerate(zip(sheet.column(column.name), rows, strict=True)):
                hidden = any(key[place] == "*" for key in keys)
                demand((cell == "*") == hidden or not keys, "a linked value is hidden without its key, or not with it")
                demand(
                    hidden or self._is(cell, column.values[row], column, sheet, bool(keys)), "a plain value was changed"
                )

    def _is(self, cell: Any, raw: Any, column: Column, sheet: Sheet, as_text: bool = False) -> bool:
        """Whether a cell is published as it came; a file of text, or a column `as_text`, may spell what is not text in
        its own way."""
        lost = self.case.container.startswith("csv") and raw in self.case.missing
        if raw is None or raw != raw or raw == "" or lost:
            return cell is None or cell == raw or cell != cell or (cell == "nan" and raw != raw)
        if isinstance(raw, str) or cell == raw:
            return bool(cell == raw)
        if isinstance(raw, bytes):
            return not sheet.types
        exact = quantity(raw, column.type)
        if exact is not None and number(cell) == exact:
            return True
        if as_text and moment(raw, column.type) is not None and moment(cell, pa.string()) == moment(raw, column.type):
            return True
        kind = column.type if as_text else sheet.types.get(column.name, column.type)
        return bool(_texts(cell, kind) & _texts(raw, column.type))

    def _check_cells(self, sheets: dict[str, Sheet], rows: list[int] | None, form: str) -> None:
        """Every published cell is true of its record."""
        if rows is None:
            return
        sheet = sheets[""]
        self.check_plain(sheet, rows)
        if form == "sliced":
            self._check_sliced(sheets, rows)
            return
        if form == "multisets":
            self._check_multisets(sheet, rows)
            return
        if form in TWO_TABLES:
            self._check_groups(sheets, rows)
        quasi = [sheet.column(column.name) for column in self.case.named("quasi")]
        classes = defaultdict(list)
        for place, key in enumerate(zip(*quasi, strict=True)):
            classes[key].append(rows[place])
        for column in self.case.named("quasi"):
            for cell, key, row in zip(sheet.column(column.name), zip(*quasi, strict=True), rows, strict=True):
                true = self.covers(column, cell, sheet.types.get(column.name), row)
                if true is None:
                    measure = moment if number(cell) is None else quantity
                    members = [measure(column.values[other], column.type) for other in classes[key]]
                    shown = moment(cell, column.type) if measure is moment else number(cell)
                    rounded = 0 if measure is quantity else 0.5 if ":" in cell else DAY / 2
                    true = None not in members and _is_mean(shown, members, rounded)
                demand(bool(true), f"a published cell of a quasi-identifier is not true of its record ({column.type})")
        for column in self.case.named("sensitive"):
            if form not in TWO_TABLES:
                values = self.lexicons[column.name].values
                demand(
                    self.values(sheet, column.name) == [values[row] for row in rows], "a sensitive value was changed"
                )

    def covers(self, column: Column, cell: Any, kind: pa.DataType | None, row: int) -> bool | None:
        """Whether a cell of a quasi-identifier is true of a record, read as the manifest says."""
        stated = next(entry for entry in self.stated["columns"] if entry["name"] == column.name)
        as_it_was = stated.get("spelling") == "values"
        sets = self.stated.get("hulls", {}).get(column.name) != "hierarchy"
        return self.lexicons[column.name].covers(cell, kind, row, as_it_was=as_it_was, sets=sets)

    def _check_sliced(self, sheets: dict[str, Sheet], rows: list[int]) -> None:
        """Every table has, in every bucket, what the records have that the main table puts there."""
        buckets = [str(bucket) for bucket in sheets[""].column("bucket")]
        for sheet in sheets.values():
            names = [name for name in sheet.names if name in self.lexicons]
            columns = [self.values(sheet, name) for name in names]
            shown = Counter(zip(map(str, sheet.column("bucket")), *columns, strict=True))
            true = [[self.lexicons[name].values[row] for row in rows] for name in names]
            demand(shown == Counter(zip(buckets, *true, strict=True)), "a bucket has other values than its records")

    def _check_groups(self, sheets: dict[str, Sheet], rows: list[int]) -> None:
        """Every group shows the values of its people, and beside them only as many counterfeits as are stated."""
        (column,) = self.case.named("sensitive")
        values = self.lexicons[column.name].values
        held: dict[str, Counter[Hashable]] = defaultdict(Counter)
        for group, row in zip(map(str, sheets[""].column("group")), rows, strict=True):
            held[group][values[row]] += 1
        shown = self.groups(column.name)
        demand(all(held[group] <= shown.get(group, Counter()) for group in held), "a group lacks values of its people")
        fakes = sum(map(Counter.total, shown.values())) - len(rows)
        demand(fakes == self.stated.get("counterfeits", 0), "there are other counterfeits than the manifest counts")

    def groups(self, name: str) -> dict[str, Counter[Hashable]]:
        """How often each group has each sensitive value, by the second of two tables."""
        second = self.sheets["sensitive"]
        shown: dict[str, Counter[Hashable]] = defaultdict(Counter)
        for group, value, count in zip(
            second.column("group"), self.values(second, name), second.column("count"), strict=True
        ):
            shown[str(group)][value] += int(count)
        return shown

    def _check_multisets(self, sheet: Sheet, rows: list[int]) -> None:
        """Every cell counts what the records of its class have; classes with the same cells are one."""
        names = [column.name for column in self.case.named("quasi")]
        classes = defaultdict(list)
        for row, key in zip(rows, zip(*(sheet.column(name) for name in names), strict=True), strict=True):
            classes[key].append(row)
        for key, members in classes.items():
            for name, cell in zip(names, key, strict=True):
                demand(cell[0] + cell[-1] == "{}", "a cell is no multiset")
                told: Counter[Hashable] = Counter()
                for text, count in reader.multiset(cell):
                    told[self.meant(name, text)] += count
                times = len(members) // told.total()
                held = Counter(self.lexicons[name].values[row] for row in members)
                demand(held == Counter({value: count * times for value, count in told.items()}),
                       "a multiset is not that of its class")  # fmt: skip

    def meant(self, name: str, text: str | None) -> Hashable:
        try:
            return self.lexicons[name].read(text, pa.string())
        except KeyError:
            raise Broken("a value of a multiset is none of its column's") from None

    def _check_pseudonyms(self, sheet: Sheet, rows: list[int] | None) -> None:
        for column in self.case.naming:
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

    def check_frame(self, frame: Any) -> None:
        """No dictionary of a frame lists what no record has."""
        if self.case.container in ("pandas", "pyarrow"):
            table = frame if isinstance(frame, pa.Table) else pa.Table.from_pandas(frame, preserve_index=False)
            idle = [name for name in table.column_names for c in table[name].chunks if reader.idle_entries(c)]
            demand(not idle, "a dictionary of the frame lists values that no published record has")

    def _check_secrets(self, paths: dict[str, Path], kept: list[int], rows: list[int] | None) -> None:
        """No file holds an identifier, what only withheld records have, or dictionary entries of no cell."""
        held = {part: reader.everything(path) for part, path in paths.items()}
        named = self.case.named("identifier") + self.case.named("person")
        secret = [value for column in named for value in column.values if value is not None]
        if rows is not None:
            gone = set(range(self.case.records)) - set(rows)
            token = self.case.column(self.case.traced or "")
            secret += [token.values[row] for row in gone]
            for column in self.case.columns:
                if column not in named and not isinstance(column.hierarchy, (Given, str)):
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
        self.told.append(manifest_of(self.target).read_text(encoding="utf-8"))
        self.told += [path.name for path in self.target.parent.iterdir()]

    def check_told(self) -> None:
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
        told = EXAMPLE.sub("", "\n".join(self.told))
        leaked = [text for text in values if text in told and not any(text in name for name in names)]
        demand(not leaked, f"{len(leaked)} cells were printed or stated")
        demand(cases.KEY.decode() not in told, "the key was printed")


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


def _is_mean(shown: Any, members: list[Any], rounded: float = 0) -> bool:
    mean = sum(members) / len(members)
    return bool(abs(shown - mean) <= rounded + abs(mean) / 10**9 + max(map(abs, members)) / 10**12)


def _keyed(column: str, person: str) -> str:
    return hmac.new(cases.KEY, column.encode() + b"\0" + person.encode(), hashlib.sha256).hexdigest()[:32]


def manifest_of(target: Path) -> Path:
    return target.with_name(target.name + ".manifest.json")


def _part(target: Path, part: str) -> Path:
    stem, dot, endings = target.name.partition(".")
    return target.with_name(f"{stem}.{part}{dot}{endings}") if part else target


def files_in(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


def delimiter_of(case: Case) -> str:
    """What parts the cells of a release in CSV: what parted those of the table."""
    return case.delimiter if case.container.startswith("csv") else ","
