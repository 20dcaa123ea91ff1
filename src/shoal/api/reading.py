"""Reading: a table with roles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal import registry
from shoal.core.contracts.builder import Builder
from shoal.core.contracts.engine import Engine
from shoal.core.contracts.table import Source
from shoal.core.dataset import Dataset
from shoal.core.hierarchy import Hierarchy
from shoal.core.read_request import Description, Opening
from shoal.core.release import Release
from shoal.core.run import Run
from shoal.core.schema import FILLED, Column, Kind, Missing, Role, roles
from shoal.core.survey import Overview
from shoal.core.values import Values
from shoal.core.weights import weight_notes
from shoal.errors import HierarchyError, InputError, SchemaError, quoted, unknown_columns
from shoal.job import plugins
from shoal.job.arguments import arguments
from shoal.job.job import Job
from shoal.parsing.dates import checked as date_format
from shoal.parsing.numbers import checked as number_format
from shoal.storage.checkpoint import TABLE, Checkpoint
from shoal.storage.files import identity, received

_RULED = (Role.QUASI, Role.SENSITIVE)
"""The roles that may have a hierarchy and a missing-value rule."""


LISTED = 8
"""Columns that a note names."""
HierarchySpec = str | Path | Mapping[str, Any] | Builder | Hierarchy


def read(
    source: Any,
    *,
    quasi: Iterable[str] = (),
    sensitive: Iterable[str] = (),
    identifiers: Iterable[str] = (),
    person: str | None = None,
    household: str | None = None,
    household_variables: Iterable[str] = (),
    weight: str | None = None,
    drop: Iterable[str] = (),
    hierarchies: str | Path | Mapping[str, HierarchySpec] | None = None,
    column_hierarchies: Mapping[str, HierarchySpec] | None = None,
    kinds: Mapping[str, str] | None = None,
    date_formats: Mapping[str, str] | None = None,
    number_formats: Mapping[str, str] | None = None,
    missing: Sequence[str] = (),
    missing_rules: Mapping[str, str] | None = None,
    protect_jointly: bool = False,
    delimiter: str | None = None,
    encoding: str | None = None,
    format: str | None = None,
    sheet: str | None = None,
    rename_duplicates: bool = False,
    neutralize_formulas: bool = False,
    engine: Engine | str | None = None,
    resume_dir: str | Path | None = None,
    run: Run | None = None,
) -> Dataset:
    """A table with roles: a path (CSV, Parquet, Arrow IPC, JSON lines, a spreadsheet, Stata, SPSS, SAS), a frame
    (pandas, polars, pyarrow, Spark, DuckDB, Ibis), or whatever streams Arrow (`__arrow_c_stream__`).

    Args:
        source: the path or the frame. It is never modified. `"-"` is the standard input; a folder, or a pattern such as
            `"parts/*.parquet"`, is its Parquet files together. A nameless first column of row numbers is left out.
        quasi: columns that outsiders may know.
        sensitive: columns that nobody should learn about a person.
        identifiers: columns that name a person; a release drops them.
        person: the column that says whose each record is, where people have several: then people are counted, not
            records. A release drops it, as identifiers.
        household: the column that says to which household each person belongs. A release drops it, as identifiers.
        household_variables: columns that are the same for all members of a household, such as the region; refused
            where they are not. By default, the quasi-identifiers that turn out to be.
        weight: the column of survey weights: how many people of the population each record stands for. A release drops
            it, because weights can identify people.
        drop: other columns that a release leaves out. They are not taken to name anybody: no pseudonyms replace them.
        hierarchies: a folder with a file `<column>.csv` (or `.toml`, `.json`) for each column that has one, or a
            mapping from column to a file, a builder (`"intervals:width=5"`) or a `Hierarchy`. A quasi-identifier
            without one gets an automatic one.
        column_hierarchies: hierarchies of single columns, before those of the folder.
        kinds: `numeric`, `categorical`, `date` or `text` by column, where the detected kind is wrong.
        date_formats: `day-first`, `month-first`, `iso` or a pattern of `strptime` such as `%d.%m.%y` by column, where
            the dates are not recognized or can be read in two ways.
        number_formats: `decimal-comma` or `decimal-point` by column; the thousands separator is detected.
        missing: spellings of a missing value, in addition to the empty cell.
        missing_rules: for each column `value` (the default: missing is a value of its own), `refuse` or `drop`.
        protect_jointly: protect each sensitive attribute even against someone who knows the person's other sensitive
            attributes. Otherwise each is protected on its own.
        delimiter: delimiter of a CSV file (default: detected).
        encoding: encoding of a CSV file (default: detected).
        format: `csv`, `parquet`, `arrow`, `xlsx`, `jsonl`, `arff`, `dta`, `sav`, `sas7bdat` or `xpt` (default:
            detected).
        sheet: the sheet to read, where a workbook has several with content.
        rename_duplicates: number column names that occur more than once (`x`, `x.1`); by default they are refused.
        neutralize_formulas: put an apostrophe before texts that a spreadsheet would run as a formula, here and in
            every release.
        engine: where the table is processed: `embedded` (in this process, the default) or another engine's name. A
            Spark frame is processed on its own cluster, an Ibis expression on DuckDB in its own database.
        resume_dir: a folder to save progress in, so that an interrupted run can continue: first what was read, then
            what `anonymize` decided, then what `Release.write` wrote, which removes the folder. It belongs to one run,
            and the table must lie in files. It holds values of the table and the seed; only its owner can read it.
        run: receives progress, and can stop the work.

    Raises:
        InputError: a file cannot be read, or `resume_dir` belongs to another run.
        CancelledError: the run was stopped; the progress so far is in `resume_dir`.

    Example:
        >>> import shoal
        >>> data = shoal.read(shoal.samples.adult(), quasi=["age", "sex", "race"], sensitive=["occupation"])
        >>> data.records, len(data.summary)
        (30162, 528)
    """
    chosen_engine = plugins.engine(engine, source)
    opening = Opening(
        delimiter=delimiter, encoding=encoding, missing=missing, format=format, sheet=sheet,
        rename_duplicates=rename_duplicates, neutralize=neutralize_formulas,
    )  # fmt: skip
    opened = chosen_engine.open(received(source), opening)
    assigned = roles(
        opened.names, quasi=as_list(quasi), sensitive=as_list(sensitive), identifiers=as_list(identifiers),
        person=[] if person is None else [person], household=[] if household is None else [household],
        weight=[] if weight is None else [weight], drop=as_list(drop),
    )  # fmt: skip
    formats = _formats(date_formats or {}, number_formats or {}, kinds or {})
    shared = as_list(household_variables)
    for named in (kinds or {}, formats, missing_rules or {}, shared):
        unknown = [name for name in named if name not in assigned]
        if unknown:
            raise unknown_columns(unknown, assigned)
    if shared and household is None:
        raise SchemaError("household variables need a household column; name it with household (--household COLUMN)")
    rules = {name: plugins.member(Missing, rule, "missing-value rule") for name, rule in (missing_rules or {}).items()}
    idle = [name for name, rule in rules.items() if rule is not Missing.VALUE and assigned[name] not in _RULED]
    if idle:
        raise SchemaError(
            f"column {idle[0]!r} is {assigned[idle[0]]}, and missing-value rules are for quasi-identifiers and "
            "sensitive attributes; leave the rule out or give the column such a role"
        )
    builders = {**hierarchy_builders(hierarchies, assigned), **hierarchy_builders(column_hierarchies, assigned)}

    declared_kinds = {name: plugins.member(Kind, kind, "kind") for name, kind in (kinds or {}).items()}
    if weight is not None and declared_kinds.setdefault(weight, Kind.NUMERIC) is not Kind.NUMERIC:
        raise SchemaError(f"column {weight!r} is the weight, and weights are numbers; leave its kind out")
    checkpoint = None
    if resume_dir is not None:
        reading = [
            delimiter, encoding, list(missing), format, sheet, rename_duplicates, neutralize_formulas, protect_jointly,
            list(assigned.items()), sorted(declared_kinds.items()), sorted(formats.items()), sorted(rules.items()),
            shared,
        ]  # fmt: skip
        checkpoint = _checkpoint(Path(resume_dir), opened, reading)
    notes: list[str] = []
    coded: dict[str, int] = {}

    def hierarchy_for(values: Values, role: Role) -> Hierarchy:
        if values.doubt is not None:
            raise SchemaError(values.doubt)
        if role is not Role.WEIGHT:  # it is not published, however it is spelled
            notes.extend(values.notes)
        if values.codes and len(values.texts) > 2:  # of two, hidden or not is all there is
            coded[values.column] = len(values.texts)
        spec = builders.get(values.column)
        if isinstance(spec, Hierarchy):
            return spec
        if spec is not None and len(values.texts):
            return spec.build(values)
        if role is not Role.QUASI or not len(values.texts):
            return Hierarchy.flat(values.column, values.texts.tolist(), values.numbers)
        tree: Hierarchy = registry.make("hierarchies", "automatic", {}).build(values)
        return tree

    try:
        description = Description(
            roles=assigned, hierarchy_for=hierarchy_for, kinds=declared_kinds, formats=formats, missing_rules=rules,
            strict=protect_jointly, household_variables=tuple(shared),
            possible_codes=[name for name, role in assigned.items() if role is Role.QUASI and name not in builders],
        )  # fmt: skip
        data = Dataset.read(chosen_engine, opened, description, run=run, checkpoint=checkpoint)
        if checkpoint is not None:
            checkpoint.bind("columns", *(_column_state(column) for column in data.schema.columns))
    except BaseException:
        if checkpoint is not None:
            checkpoint.close()
        raise
    return replace(data, notes=(*notes, *_code_notes(coded), *weight_notes(data.schema, data.table)))


def _code_notes(coded: Mapping[str, int]) -> list[str]:
    """What to know about columns whose numbers were taken as codes, of which it says how many they have."""
    names = list(coded)
    if not names:
        return []
    if len(names) == 1:
        return [
            f"column {quoted(names[0])}: {coded[names[0]]} whole numbers, taken as codes; if they are quantities, say "
            f"--kind {names[0]}=numeric"
        ]
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    listed = ", ".join(map(quoted, names[:LISTED]))
    return [
        f"columns {listed}{more}: a few whole numbers each, taken as codes; where they are quantities, say --kind "
        "COLUMN=numeric"
    ]


def read_job(job: Job, *, resume: bool = False, run: Run | None = None) -> Dataset:
    """The table of a job; with `resume`, what reading it found is kept in the job's `resume_dir`, where it has one."""
    if job.input is None:
        raise InputError("name the table to read, or give a job file that names it")
    options = arguments(job, "read")
    if not resume:
        options.pop("resume_dir", None)
    return read(job.input, **options, run=run)


def _checkpoint(folder: Path, opened: Source, reading: Sequence[Any]) -> Checkpoint:
    """The checkpoint of a run on a table; refused where nothing shows whether the table is still the same."""
    if not opened.files:
        raise InputError(
            "resume_dir needs a table that lies in files, to check that it has not changed; write the table to Parquet "
            "first, or leave resume_dir out"
        )
    checkpoint = Checkpoint.open(folder)
    try:
        checkpoint.bind(TABLE, *map(identity, opened.files), list(reading))
    except BaseException:
        checkpoint.close()
        raise
    return checkpoint


def _column_state(column: Column) -> list[Any]:
    """A column as it is worked on. Whose a record is follows from the table alone."""
    tree = None if column.role in FILLED else column.hierarchy
    labels = [] if tree is None else [level.tolist() for level in tree.labels]
    values = [] if tree is None or tree.values is None else tree.values.tolist()
    shape = [] if tree is None else [tree.codes.tolist(), tree.missing, tree.automatic]
    return [column.name, column.role, column.kind, column.form, column.missing, labels, values, shape]


def _formats(dates: Mapping[str, str], numbers: Mapping[str, str], kinds: Mapping[str, str]) -> dict[str, str]:
    """The format of each column that has one, when it goes with what else is said of the column."""
    formats = {name: date_format(form) for name, form in dates.items()}
    formats |= {name: number_format(form) for name, form in numbers.items()}
    for named, kind in ((dates, Kind.DATE), (numbers, Kind.NUMERIC)):
        other = [name for name in named if kinds.get(name, kind) != kind or formats[name] != named[name]]
        if other:
            raise SchemaError(
                f"column {other[0]!r} has a {kind} format but is declared as another kind; change one of them"
            )
    return formats


def as_list(names: Iterable[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def hierarchy_builders(
    specs: str | Path | Mapping[str, HierarchySpec] | None, assigned: Mapping[str, Role]
) -> dict[str, Builder | Hierarchy]:
    if specs is None:
        return {}
    if isinstance(specs, (str, Path)):
        folder = Path(specs)
        if not folder.is_dir():
            raise HierarchyError(f"the folder of hierarchies, {folder.name!r}, does not exist")
        files = {
            name: path
            for name, role in assigned.items()
            if role in _RULED
            for path in plugins.hierarchy_files(folder, name)
            if path.is_file()
        }
        return {name: plugins.builder(path) for name, path in files.items()}
    unknown = [name for name in specs if name not in assigned]
    if unknown:
        raise unknown_columns(unknown, assigned)
    return {name: spec if isinstance(spec, Hierarchy) else plugins.builder(spec) for name, spec in specs.items()}


def check_dataset(data: Any) -> None:
    if isinstance(data, Release):
        raise InputError("expected a dataset, as shoal.read returns it, not a release; the table comes first")
    if not isinstance(data, Dataset):
        raise InputError(f"expected a dataset, as shoal.read returns it, not {type(data).__name__}")


def profile(source: Any, engine: Engine | str | None, **reading: Any) -> Overview:
    """Every column of a source, or of a dataset's source, and its distinct rows."""
    if isinstance(source, Dataset):
        return source.engine.profile(source.table.source)
    engine = plugins.engine(engine, source)
    return engine.profile(engine.open(received(source), Opening(**reading)))
