"""The verbs: read, detect, diagnose, ask, anonymize, compare, evaluate, attack, verify."""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np

from shoal import job, manifest, recodings, registry
from shoal.core import queries
from shoal.core.columns import PublishedColumn, published_columns
from shoal.core.comparison import ALGORITHMS, METRICS, Compared, Comparison
from shoal.core.contracts import Algorithm, Attack, Attempt, Builder, Engine, Metric, Model
from shoal.core.dataset import Dataset
from shoal.core.dates import checked as date_format
from shoal.core.estimation import Estimate
from shoal.core.files import received, recover, sha256
from shoal.core.finding import Finding, Findings
from shoal.core.grouping import Codes
from shoal.core.hierarchy import Hierarchy
from shoal.core.numbers import checked as number_format
from shoal.core.parameters import parameters
from shoal.core.policy import Policy
from shoal.core.pseudonyms import Pseudonyms
from shoal.core.publication import published, whole
from shoal.core.recoding import Recoding
from shoal.core.release import Release, manifest_path, people_in
from shoal.core.run import Run
from shoal.core.schema import Kind, Missing, Role, roles
from shoal.core.values import Values
from shoal.diagnosis.dependencies import Dependencies
from shoal.diagnosis.dependencies import dependencies as dependencies_of
from shoal.diagnosis.detection import Detection
from shoal.diagnosis.detection import detect as detected
from shoal.diagnosis.exposure import exposure, linked
from shoal.diagnosis.plain_columns import check_apart, plain_columns
from shoal.diagnosis.questions import TABLE, Answer, which
from shoal.diagnosis.questions import ask as answered
from shoal.diagnosis.sql import sql as sql
from shoal.errors import (
    CancelledError,
    HierarchyError,
    InputError,
    NotDefined,
    ParameterError,
    PluginError,
    SchemaError,
    ShoalError,
    VerificationError,
    alternatives,
    unknown_columns,
)

SEED_BITS = 63
"""Bits of a seed that is drawn: far too many to be tried, and still a number that every file format holds."""

_RULED = (Role.QUASI, Role.SENSITIVE)
"""The roles that may have a hierarchy and a missing-value rule."""

HierarchySpec = str | Path | Mapping[str, Any] | Builder | Hierarchy


def read(
    source: Any,
    *,
    quasi: Iterable[str] = (),
    sensitive: Iterable[str] = (),
    identifiers: Iterable[str] = (),
    person: str | None = None,
    hierarchies: str | Path | Mapping[str, HierarchySpec] | None = None,
    column_hierarchies: Mapping[str, HierarchySpec] | None = None,
    kinds: Mapping[str, str] | None = None,
    date_formats: Mapping[str, str] | None = None,
    number_formats: Mapping[str, str] | None = None,
    missing: Sequence[str] = (),
    missing_rules: Mapping[str, str] | None = None,
    strict: bool = False,
    delimiter: str | None = None,
    encoding: str | None = None,
    format: str | None = None,
    sheet: str | None = None,
    rename_duplicates: bool = False,
    neutralize_formulas: bool = False,
    engine: Engine | str | None = None,
) -> Dataset:
    """A table with roles: a path (CSV, Parquet, Arrow IPC, JSON lines, a spreadsheet, Stata, SPSS, SAS) or a frame
    (pandas, polars, pyarrow).

    Args:
        source: the path or the frame. It is never modified. `"-"` is the standard input; a folder, or a pattern such as
            `"parts/*.parquet"`, is its Parquet files together. A nameless first column of row numbers is left out.
        quasi: columns that outsiders may know.
        sensitive: columns that nobody should learn about a person.
        identifiers: columns that name a person; a release drops them.
        person: the column that says whose each record is, where people have several: then people are counted, not
            records. A release drops it, as identifiers.
        hierarchies: a folder with a file `<column>.csv` (or `.toml`, `.json`) for each column that has one, or a
            mapping from column to a file, a builder (`"intervals:width=5"`) or a `Hierarchy`. A quasi-identifier
            without one gets an automatic one.
        column_hierarchies: hierarchies of single columns, before those of the folder.
        kinds: `numeric`, `categorical`, `date` or `text`, where what is found out does not fit.
        date_formats: for each column whose dates are not found out, or could be read in two ways: `day-first`,
            `month-first`, `iso`, or a pattern such as `%d.%m.%y` that `strptime` takes.
        number_formats: likewise for numbers: `decimal-comma` or `decimal-point`; whatever stands between thousands is
            found out.
        missing: spellings of a missing value besides the empty one.
        missing_rules: for each column `value` (the default: missing is a value of its own), `refuse` or `drop`.
        strict: with several sensitive attributes, whether each is protected also against whoever knows the others,
            by models that look at sensitive attributes; otherwise each is protected on its own.
        delimiter: of a CSV file; found out by default.
        encoding: of a CSV file; found out by default.
        format: of a file: `csv`, `parquet`, `arrow`, `xlsx`, `jsonl`, `arff`, `dta`, `sav`, `sas7bdat` or `xpt`;
            found out by default.
        sheet: of a workbook, where several of its sheets hold something.
        rename_duplicates: whether names that occur more than once are numbered (`x`, `x.1`); by default they are
            refused.
        neutralize_formulas: whether texts that a spreadsheet would run as a formula get an apostrophe in front, here
            and in every release.
        engine: where the table is worked on: `embedded` (in this process, the default) or another engine's name.

    Example:
        >>> import shoal
        >>> data = shoal.read(shoal.samples.adult(), quasi=["age", "sex", "race"], sensitive=["occupation"])
        >>> data.records, len(data.summary)
        (30162, 528)
    """
    chosen_engine = job.engine(engine)
    opened = chosen_engine.open(
        received(source), delimiter=delimiter, encoding=encoding, missing=missing, neutralize=neutralize_formulas,
        format=format, sheet=sheet, rename_duplicates=rename_duplicates,
    )  # fmt: skip
    assigned = roles(
        opened.names, quasi=_listed(quasi), sensitive=_listed(sensitive), identifiers=_listed(identifiers),
        person=[] if person is None else [person],
    )  # fmt: skip
    formats = _formats(date_formats or {}, number_formats or {}, kinds or {})
    for named in (kinds or {}, formats, missing_rules or {}):
        unknown = [name for name in named if name not in assigned]
        if unknown:
            raise unknown_columns(unknown, assigned)
    rules = {name: job.member(Missing, rule, "missing-value rule") for name, rule in (missing_rules or {}).items()}
    idle = [name for name, rule in rules.items() if rule is not Missing.VALUE and assigned[name] not in _RULED]
    if idle:
        raise SchemaError(
            f"column {idle[0]!r} is {assigned[idle[0]]}, and missing-value rules are for quasi-identifiers and "
            "sensitive attributes; leave the rule out or give the column such a role"
        )
    chosen = {**_chosen_hierarchies(hierarchies, assigned), **_chosen_hierarchies(column_hierarchies, assigned)}

    notes: list[str] = []

    def hierarchy_for(values: Values, role: Role) -> Hierarchy:
        if values.doubt is not None:
            raise SchemaError(values.doubt)
        notes.extend(values.notes)
        spec = chosen.get(values.column)
        if isinstance(spec, Hierarchy):
            return spec
        if spec is not None and len(values.texts):
            return spec.build(values)
        if role is not Role.QUASI or not len(values.texts):
            return Hierarchy.flat(values.column, values.texts.tolist(), values.numbers)
        made: Hierarchy = registry.make("hierarchies", "automatic", {}).build(values)
        return made

    data = chosen_engine.read(
        opened,
        assigned,
        hierarchy_for,
        kinds={name: job.member(Kind, kind, "kind") for name, kind in (kinds or {}).items()},
        formats=formats,
        missing_rules=rules,
        strict=strict,
    )
    return replace(data, notes=tuple(notes))


def _formats(dates: Mapping[str, str], numbers: Mapping[str, str], kinds: Mapping[str, str]) -> dict[str, str]:
    """The format of each column that has one, when it goes with what else is said of the column."""
    formats = {name: date_format(form) for name, form in dates.items()}
    formats |= {name: number_format(form) for name, form in numbers.items()}
    for named, kind in ((dates, Kind.DATE), (numbers, Kind.NUMERIC)):
        other = [name for name in named if kinds.get(name, kind) != kind or formats[name] != named[name]]
        if other:
            raise SchemaError(f"column {other[0]!r} is given a format of kind {kind} and is said to be another one")
    return formats


def _listed(names: Iterable[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _chosen_hierarchies(
    given: str | Path | Mapping[str, HierarchySpec] | None, assigned: Mapping[str, Role]
) -> dict[str, Builder | Hierarchy]:
    if given is None:
        return {}
    if isinstance(given, (str, Path)):
        folder = Path(given)
        if not folder.is_dir():
            raise HierarchyError(f"there is no folder {folder.name!r} with hierarchies")
        files = {
            name: folder / f"{name}{ending}"
            for name, role in assigned.items()
            if role in _RULED
            for ending in job.ENDINGS
            if (folder / f"{name}{ending}").is_file()
        }
        return {name: job.builder(path) for name, path in files.items()}
    unknown = [name for name in given if name not in assigned]
    if unknown:
        raise unknown_columns(unknown, assigned)
    return {name: spec if isinstance(spec, Hierarchy) else job.builder(spec) for name, spec in given.items()}


def _check_dataset(data: Any) -> None:
    if not isinstance(data, Dataset):
        raise InputError(f"a dataset is needed, which shoal.read makes and gives roles; this is {type(data).__name__}")


def diagnose(data: Dataset, *, k: int | None = None, attributes: Iterable[str] | None = None) -> Findings:
    """How exposed people are by a set of attributes (all quasi-identifiers unless others are named).

    With `k`, also whether every class has that many records, and how many records do not.

    Example:
        >>> import shoal
        >>> data = shoal.read(shoal.samples.adult(), quasi=["age", "workclass", "education", "sex", "race"])
        >>> shoal.diagnose(data, k=3)["unique-records"].value
        3109
    """
    _check_dataset(data)
    if k is not None and (k < 1 or k != int(k)):
        raise ParameterError("k is a whole number from 1 up")
    if attributes is None:
        return exposure(data.summary, k)
    names = _listed(attributes)
    known = (*data.schema.quasi, *data.schema.sensitive)
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise unknown_columns(unknown, known)
    return exposure(data.group(tuple(names)), k)


def ask(
    data: Dataset,
    *,
    attributes: Iterable[str] | None = None,
    k: int | None = None,
    l: float | None = None,  # noqa: E741
    t: float | None = None,
    delta: float | Literal["ask"] | None = None,
    bound: float | None = None,
    notion: str | Model | None = None,
    c: float | None = None,
    distance: str = "equal",
    sensitive: str | None = None,
    question: int | None = None,
    time_limit: float | None = None,
    run: Run | None = None,
) -> Answer:
    """One of the twelve questions of the diagnosis; which one follows from what is given.

    Args:
        data: the table.
        attributes: the set that the question is about. Without it the question is about all sets of
            quasi-identifiers; with a `question` that is about sets, only these attributes are taken.
        k: the wanted size of the smallest class.
        l: the wanted diversity, of the `notion` `distinct-l` unless another one is named.
        t: the wanted closeness.
        bound: what is wanted of any other `notion`.
        delta: the share of records that may be left out, or `"ask"` to be told the share.
        notion: what is asked about: `k`, `distinct-l`, `entropy-l`, `frequency-l`, `recursive-l`, `t`, the name of any
            other model (`beta-likeness`), or a model with its parameters, whose bound is then taken unless another one
            is given or the `question` asks for it.
        c: of `recursive-l`.
        distance: of `t`: `equal`, `ordered` or `hierarchical`.
        sensitive: the sensitive attribute, where there are several.
        question: the number of the question, where it shall not follow from what is given.
        time_limit: seconds after which what is proven so far is returned.
        run: is told how far the search is, and can stop it.

    Example:
        >>> import shoal
        >>> data = shoal.read(shoal.samples.adult(), quasi=["age", "workclass", "education", "sex", "race"])
        >>> found = shoal.ask(data, k=5)
        >>> found.question, found.positive_border
        (3, (('workclass', 'sex'), ('education', 'sex'), ('sex', 'race')))
    """
    bounds = {name: given for name, given in (("k", k), ("l", l), ("t", t), ("bound", bound)) if given is not None}
    if len(bounds) > 1:
        raise ParameterError(f"give one of {', '.join(bounds)}, not both")
    letter, wanted = next(iter(bounds.items()), (None, None))
    if isinstance(notion, Model) or (notion is not None and ":" in notion):
        if c is not None or distance != "equal":
            raise ParameterError("a model has its own parameters; give c and distance to it, or name the notion only")
        model = job.plugin("models", notion)
        name = registry.name_of(model)
        if wanted is None and (question not in TABLE or TABLE[question][1]):
            wanted = model.bound
    else:
        name = _model_name(notion or {"l": "distinct-l", "t": "t"}.get(letter or "", "k"))
        fixed = {"c": c, "distance": None if distance == "equal" else distance}
        model = _prototype(name, {key: value for key, value in fixed.items() if value is not None})
    if letter not in (None, "bound", model.asks):
        raise ParameterError(f"{name} is bounded by {model.asks}, and {letter} is given")
    column = getattr(model, "column", None)
    if sensitive is not None and column not in (None, sensitive):
        raise ParameterError("the model names one sensitive attribute and the question another; name one")
    number = which(attributes=attributes is not None, bound=wanted is not None, delta=delta, forced=question)
    names = list(data.schema.quasi) if attributes is None else list(dict.fromkeys(_listed(attributes)))
    unknown = [name for name in names if name not in data.schema.quasi]
    if unknown:
        raise unknown_columns(unknown, data.schema.quasi)
    return answered(
        data.summary, model, names, question=number, bound=wanted, delta=delta,
        sensitive=sensitive or column, time_limit=time_limit, run=run, notion=_short(name),
    )  # fmt: skip


def _short(name: str) -> str:
    """A model's name as people shorten it: t for t-closeness."""
    return name.removesuffix("-anonymity").removesuffix("-closeness").removesuffix("-diversity")


def _model_name(notion: str) -> str:
    """The model that a question names, in full or shortened."""
    known = registry.names("models")
    for name in known:
        if notion in (name, _short(name)):
            return name
    raise ParameterError(f"there is no such notion; {alternatives(notion, map(_short, known))}")


def _prototype(name: str, fixed: Mapping[str, Any]) -> Model:
    """A model with the given parameters and any bound."""
    kind = registry.find("models", name)
    lacking = [each.name for each in parameters(kind) if each.required and each.name not in (kind.asks, *fixed)]
    if lacking:
        raise ParameterError(
            f"{name} also needs {', '.join(lacking)}; give notion a model that has it, as shoal.{kind.__name__}(…)"
        )
    made: Model = registry.make("models", name, {kind.asks: kind.examples[0][kind.asks], **fixed})
    return made


def detect(
    source: Any,
    *,
    share: float = 0.05,
    seed: int = 0,
    time_limit: float | None = 30.0,
    missing: Sequence[str] = (),
    delimiter: str | None = None,
    encoding: str | None = None,
    format: str | None = None,
    sheet: str | None = None,
    rename_duplicates: bool = False,
    engine: Engine | str | None = None,
    run: Run | None = None,
) -> Detection:
    """Suggests a role for every column, with reasons; the person decides. No value is shown.

    Args:
        source: a path, a frame, or a dataset whose source is looked at anew. Columns need no role.
        share: sets that make more than this share of the people unique are listed, the smallest ones.
        seed: of the contributions, where they are sampled.
        time_limit: seconds for the sets; what is not proven then is said to be.
        missing: spellings of a missing value besides the empty one.
        delimiter: of a CSV file; found out by default.
        encoding: of a CSV file; found out by default.
        format: of a file, as for `read`; found out by default.
        sheet: of a workbook, where several of its sheets hold something.
        rename_duplicates: whether names that occur more than once are numbered.
        engine: where the table is looked at, unless it is a dataset.
        run: is told how far the search is, and can stop it.

    Example:
        >>> import shoal
        >>> found = shoal.detect(shoal.samples.adult().select("age", "sex", "fnlwgt", "occupation"))
        >>> found["age"].role, found["sex"].distinct, found.singling_out[0]
        (<Role.QUASI: 'quasi'>, 2, ('fnlwgt',))
    """
    if not 0 <= share < 1:
        raise ParameterError("share is a share of the records: from 0 to less than 1")
    looks, records = _looked_at(
        source, engine, missing=missing, delimiter=delimiter, encoding=encoding, format=format, sheet=sheet,
        rename_duplicates=rename_duplicates,
    )  # fmt: skip
    watch = (run or Run()).part(seconds=time_limit)
    unique = registry.make("models", "k-anonymity", {"k": 2})
    return detected(looks, records, model=unique, share=share, seed=seed, run=watch)


def _looked_at(
    source: Any, engine: Engine | str | None, **reading: Any
) -> tuple[dict[str, tuple[Values, Codes] | str], int]:
    """Every column of a source, or of a dataset's source, as distinct values and codes."""
    if isinstance(source, Dataset):
        return source.engine.look(source.table.source)
    chosen = job.engine(engine)
    return chosen.look(chosen.open(received(source), **reading))


def dependencies(
    source: Any,
    *,
    tolerance: float = 0.0,
    largest: int | None = None,
    support: float | None = None,
    time_limit: float | None = 30.0,
    missing: Sequence[str] = (),
    delimiter: str | None = None,
    encoding: str | None = None,
    format: str | None = None,
    sheet: str | None = None,
    rename_duplicates: bool = False,
    engine: Engine | str | None = None,
    run: Run | None = None,
) -> Dependencies:
    """The functional dependencies between columns: which ones determine others, and no part of them does.

    With a dataset, each is marked safe or unsafe by the roles of its columns; that is a hint, and the attack
    `functional-dependency` decides. No value is shown.

    Args:
        source: a path, a frame, or a dataset, all columns of which are looked at whatever their role.
        tolerance: the share of the records that may break a dependency (g3); by default none.
        largest: the most columns of a determinant; by default any number.
        support: also look for dependencies of one column that hold for single values of another one, among values that
            this share of the records have.
        time_limit: seconds after which what is proven so far is returned.
        missing: spellings of a missing value besides the empty one.
        delimiter: of a CSV file; found out by default.
        encoding: of a CSV file; found out by default.
        format: of a file, as for `read`; found out by default.
        sheet: of a workbook, where several of its sheets hold something.
        rename_duplicates: whether names that occur more than once are numbered.
        engine: where the table is looked at, unless it is a dataset.
        run: is told how far the search is, and can stop it.

    Example:
        >>> import shoal
        >>> table = shoal.samples.adult().select("education", "education-num", "sex", "relationship")
        >>> found = shoal.dependencies(table)
        >>> [(each.determinant, each.dependent) for each in found.found]
        [(('education',), 'education-num'), (('education-num',), 'education')]
    """
    if not 0 <= tolerance < 1:
        raise ParameterError("tolerance is a share of the records: from 0 to less than 1")
    if largest is not None and largest < 1:
        raise ParameterError("largest is a number of columns from 1 up")
    if support is not None and not 0 < support <= 1:
        raise ParameterError("support is a share of the records: more than 0 and at most 1")
    looks, records = _looked_at(
        source, engine, missing=missing, delimiter=delimiter, encoding=encoding, format=format, sheet=sheet,
        rename_duplicates=rename_duplicates,
    )  # fmt: skip
    roles = {column.name: column.role for column in source.schema.columns} if isinstance(source, Dataset) else {}
    least = None if support is None else max(2, math.ceil(support * records))
    return dependencies_of(
        looks, records, roles=roles, tolerance=tolerance, largest=largest, support=least,
        run=(run or Run()).part(seconds=time_limit),
    )  # fmt: skip


def anonymize(
    data: Dataset,
    *models: Model | str,
    algorithm: Algorithm | str = job.DEFAULT_ALGORITHM,
    suppression: float = 0.0,
    objective: Metric | str | None = None,
    seed: int | None = None,
    pseudonyms: Pseudonyms | None = None,
    allow_unverified: bool = False,
    rows_are_people: bool = False,
    allow_plain: Iterable[str] = (),
    run: Run | None = None,
) -> Release:
    """A release that satisfies every model; it is read back from its published values before it is handed out.

    Identifiers are dropped, or replaced when `pseudonyms` are given. The order of the published rows follows from what
    they say, so it tells nothing. The same records (in any order), policy, algorithm and seed give the same release,
    random pseudonyms apart.

    Columns without a role are published as they are. One that names people, or tells a quasi-identifier or an
    identifier, stops the run; `release.notes` says what else there is to know of them.

    Args:
        data: the table.
        models: what must hold, as models or as text such as `"k-anonymity:k=5"`. A perturbation needs none.
        algorithm: the anonymizer, or a perturbation; by default several are tried and the least loss is taken.
        suppression: the share of the records that may be left out.
        objective: the loss to minimize, where the algorithm takes one.
        seed: decides what is chosen at random. It is the holder's secret, and is in no manifest; by default it is drawn
            from the operating system, and `release.policy.seed` tells it.
        pseudonyms: what stands in the place of identifiers.
        allow_unverified: whether what an algorithm makes that need not keep the policy is handed out all the same; it
            then claims nothing, and its manifest states the k that it has.
        rows_are_people: says that every record is a person of its own, also where an identifier repeats.
        allow_plain: columns without a role that may be published whatever they hold.
        run: is told how far the work is, and can stop it.

    Raises:
        PlainColumnError: a column without a role names people, or tells what another column hides.
        InfeasibleError: no release satisfies the policy.
        VerificationError: the release that was made breaks the policy; it is not handed out.
        CancelledError: the run was stopped.

    Example:
        >>> import shoal
        >>> data = shoal.read(shoal.samples.adult(), quasi=["age", "sex", "race"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=5))
        >>> release.verify(release.policy)["k"].holds
        True
    """
    _check_dataset(data)
    run = run or Run()
    if pseudonyms is not None and not isinstance(pseudonyms, Pseudonyms):
        raise ParameterError("pseudonyms are made by shoal.Pseudonyms(): random ones, or keyed ones with key=…")
    policy = Policy(
        models=tuple(job.plugin("models", model) for model in models),
        suppression=suppression,
        objective=None if objective is None else job.plugin("metrics", objective),
        seed=secrets.randbits(SEED_BITS) if seed is None else seed,
    )
    method = job.plugin("algorithms", algorithm)
    job.check_policy(policy, method, allow_unverified=allow_unverified)
    if policy.models:
        _check_people(data, policy, method, rows_are_people)
    run.report(0.0, "looking at the plain columns")
    plain = plain_columns(data, _listed(allow_plain), run)
    plain.check()
    recoding = method.search(data, policy, run)
    if method.unverified:
        policy = replace(policy, models=())
    run.report(1.0, "publishing")
    release = publish(data, recoding, policy, pseudonyms=pseudonyms, run=run)
    check_apart(data, release.view.linked(), plain.allowed, run)
    stated = manifest.provenance(policy, method, release.form, pseudonyms, data.schema)
    stated["plain"] = plain.as_dict()
    if method.unverified:
        heads = release.in_people(release.view.people()).headcounts
        stated["unverified"] = {"k": int(heads.min(initial=release.records))}
    release = replace(release, provenance=stated, notes=(plain.sentence,) if plain.sentence else ())
    run.check()
    release.view.check(data, recoding)
    broken = [finding.name for finding in release.verify(policy) if finding.holds is False]
    if broken:
        raise VerificationError(
            f"the release that {registry.name_of(method)} made breaks its policy ({', '.join(broken)}) and is withheld"
        )
    return release


MANY, OFTEN = 50, 0.1
"""A column that has fewer different values, and fewer than this share of the records, does not tell people apart."""


def _check_rows(data: Dataset) -> None:
    """Refuses to take records for people where the best of the identifiers repeats.

    One that is different in every record says that each is a person of its own, whatever first names do; one of a few
    values only, which was made an identifier to drop it, says nothing about people.
    """
    repeated = {name: data.table.repeated(name) for name in data.schema.identifiers}
    if not repeated:
        return
    name = min(repeated, key=repeated.__getitem__)
    distinct = data.records - repeated[name]
    if repeated[name] and (distinct > MANY or distinct >= OFTEN * data.records):
        raise SchemaError(
            f"identifier {name!r} repeats in {repeated[name]:,} of {data.records:,} records, and k of them may be "
            "those of one person; name the column that says whose each record is with person (--person COLUMN), or say "
            "with rows_are_people (--rows-are-people) that every row is a person of its own"
        )


def _check_people(data: Dataset, policy: Policy, method: Algorithm, rows_are_people: bool) -> None:
    """Refuses to take records for people where an identifier says otherwise, and what cannot count people."""
    person = data.schema.person
    if person is None:
        if not rows_are_people:
            _check_rows(data)
        return
    if rows_are_people:
        raise SchemaError(f"column {person!r} says whose each record is; leave rows_are_people out, or that column")
    for model in policy.models:
        model.check_people()
    if not method.counts_people:
        raise ParameterError(
            f"{registry.name_of(method)} does not count people yet; use mondrian, a clustering such as k-member, or a "
            "full-domain search such as optimal"
        )


def publish(
    data: Dataset,
    recoding: Recoding,
    policy: Policy | None = None,
    *,
    pseudonyms: Pseudonyms | None = None,
    run: Run | None = None,
) -> Release:
    """The release that carries a recoding out. Nothing is verified: `anonymize` does that before it hands one out."""
    form = registry.make("forms", recoding.form, dict(recoding.options))
    return published(form, data, recoding, policy, pseudonyms, run or Run())


def save_recoding(release: Release, path: str | Path) -> Path:
    """Saves how a generalized release was recoded, so that `apply` can recode new records in the same way.

    The file has raw values of the table. It is for the holder alone, and only its owner can read it.
    """
    return recodings.save(release, path)


def apply(
    recoding: str | Path,
    source: Any,
    *,
    missing: Sequence[str] = (),
    delimiter: str | None = None,
    encoding: str | None = None,
    format: str | None = None,
    sheet: str | None = None,
    rename_duplicates: bool = False,
    neutralize_formulas: bool = False,
    engine: Engine | str | None = None,
    run: Run | None = None,
) -> Release:
    """New records, recoded as a saved recoding says and verified against its policy on their own.

    Each value goes to the level at which it was published, or each record into the narrowest class that holds it. What
    no class holds, and classes that break the policy, are left out as far as the policy allows it.

    Args:
        recoding: the file that `save_recoding` wrote, or `anonymize --save-recoding`.
        source: the new records: a path or a frame, with the columns of the table that the release was made from;
            identifiers may be lacking, and are dropped.
        missing, delimiter, encoding, format, sheet, rename_duplicates, neutralize_formulas, engine: as for `read`.
        run: is told how far the work is, and can stop it.

    Raises:
        SchemaError: the columns are others.
        PlainColumnError: a plain column names people now, or tells another column, and was not allowed to.
        HierarchyError: there are values that the recoding does not know, and that none of its ranges holds.
        VerificationError: what it makes of these records breaks the policy; it is not handed out.

    Example:
        >>> import shoal, tempfile
        >>> table = shoal.samples.adult().select("age", "sex", "occupation")
        >>> data = shoal.read(table[:20000], quasi=["age", "sex"], sensitive=["occupation"])
        >>> release = shoal.anonymize(data, "k-anonymity:k=5", algorithm="optimal", suppression=0.01)
        >>> path = shoal.save_recoding(release, Path(tempfile.mkdtemp()) / "recoding.json")
        >>> shoal.apply(path, table[20000:]).verify(release.policy).holds
        True
    """
    rule = recodings.load(recoding)
    chosen = job.engine(engine)
    opened = chosen.open(
        received(source), delimiter=delimiter, encoding=encoding, missing=missing, neutralize=neutralize_formulas,
        format=format, sheet=sheet, rename_duplicates=rename_duplicates,
    )  # fmt: skip
    data = rule.read(opened, chosen)
    # The release was allowed to show these columns; what the others hold now nobody has looked at.
    plain = plain_columns(data, rule.provenance.get("plain", {}).get("allowed", ()), run)
    plain.check()
    release = rule.carried_out(data, run)
    return replace(release, provenance={**release.provenance, "plain": plain.as_dict()})


Wanted = Model | str | Sequence[Model | str]
"""A model, or several that must hold together."""


def compare(
    data: Dataset,
    *models: Wanted,
    k: Iterable[int] = (),
    algorithms: Iterable[Algorithm | str] = ALGORITHMS,
    metrics: Iterable[Metric | str] = METRICS,
    suppression: float = 0.0,
    objective: Metric | str | None = None,
    seed: int | None = None,
    run: Run | None = None,
) -> Comparison:
    """What each algorithm loses under each policy, in the order given; nothing is published.

    Every algorithm is tried with every one of the models, each time with k-anonymity for every k. Each release is made
    and verified as `anonymize` does it, measured and dropped. Where there is none, the row has the reason. The same
    seed gives the same figures, seconds apart.

    Args:
        data: the table.
        models: the policies to compare; several models that must hold together are given as one list.
        k: the k to compare, beside each of the models.
        algorithms: the anonymizers.
        metrics: the losses to measure.
        suppression: the share of the records that may be left out.
        objective: the loss to minimize, where an algorithm takes one.
        seed: of every release; drawn by default.
        run: is told how far the work is, and can stop it.

    Example:
        >>> import shoal
        >>> data = shoal.read(shoal.samples.haberman(), quasi=["age", "operation-year"])
        >>> found = shoal.compare(data, k=[2, 400], algorithms=["mondrian", "k-member"], metrics=["gcp"], seed=1)
        >>> [(row.algorithm, row.k, row.reason is None) for row in found]
        [('mondrian', 2, True), ('mondrian', 400, False), ('k-member', 2, True), ('k-member', 400, False)]
    """
    _check_dataset(data)
    run = run or Run()
    measures = [job.plugin("metrics", metric) for metric in metrics]
    methods = [job.plugin("algorithms", algorithm) for algorithm in algorithms]
    wanted = [[wish] if isinstance(wish, str | Model) else list(wish) for wish in models] or [[]]
    beside = [tuple(job.plugin("models", model) for model in wish) for wish in wanted]
    by_size: dict[int | None, tuple[Model, ...]] = {
        size: (registry.make("models", "k-anonymity", {"k": size}),) for size in k
    }
    by_size = by_size or {None: ()}
    if not methods or not (all(beside) or None not in by_size):
        raise ParameterError("name what to compare: an algorithm, and a privacy model or some k")
    if seed is None:
        seed = secrets.randbits(SEED_BITS)
    combinations = list(product(methods, beside, by_size))
    rows = []
    for number, (method, others, size) in enumerate(combinations):
        row = Compared(
            algorithm=job.written(method),
            models=" + ".join(job.written(model.concealed(data.schema)) for model in others),
            k=size, losses=dict.fromkeys(map(job.written, measures)), seconds=0.0,
        )  # fmt: skip
        share = number / len(combinations), (number + 1) / len(combinations)
        run.report(share[0], f"comparing {row.algorithm}, {number + 1} of {len(combinations)}")
        part = run.part(between=share)
        try:
            release = anonymize(
                data, *by_size[size], *others, algorithm=method, suppression=suppression, objective=objective,
                seed=seed, run=part,
            )  # fmt: skip
        except CancelledError:
            raise
        except ShoalError as error:
            rows.append(replace(row, seconds=round(part.elapsed, 3), reason=str(error)))
        else:
            rows.append(_measured(replace(row, seconds=round(part.elapsed, 3)), data, release, measures))
    run.report(1.0, "compared")
    return Comparison(tuple(rows), data.records, seed)


def _measured(row: Compared, data: Dataset, release: Release, measures: Sequence[Metric]) -> Compared:
    """A row with what its release lost; what that form of release does not tell has its reason."""
    found = [_scored(metric, data, release) for metric in measures]
    scores = dict(zip(row.losses, found, strict=True))
    unknown = [f"{name}: {finding.how}" for name, finding in scores.items() if finding.value is None]
    try:
        classes = len(release.classes)
    except NotDefined:
        classes = None
    return replace(
        row,
        losses={name: finding.as_dict()["value"] for name, finding in scores.items()},
        classes=classes,
        suppressed=release.suppressed,
        chosen=release.recoding.facts.get("chosen") if release.recoding is not None else None,
        reason="; ".join(unknown) or None,
    )


def evaluate(data: Dataset, release: Release | str | Path, *metrics: Metric | str) -> Findings:
    """What a release lost (every metric unless some are named), the models of its policy, and the risk that is left.

    The release may be a file of any tool, as long as its values are raw values, labels of the hierarchies, or
    intervals such as `[20-29]`. What the form of the release does not allow to be measured has no value and says why.

    Example:
        >>> import shoal
        >>> data = shoal.read(shoal.samples.adult(), quasi=["age", "sex", "race"])
        >>> found = shoal.evaluate(data, shoal.anonymize(data, shoal.KAnonymity(k=5)), "gcp")
        >>> 0 < found["gcp"].value < 0.1
        True
    """
    opened = release if isinstance(release, Release) else open_release(release, data)
    chosen, broken = ([job.plugin("metrics", metric) for metric in metrics], []) if metrics else _every("metrics")
    left_out = Finding(name="suppressed", value=opened.suppressed, how="records that were left out", unit="records")
    kept = opened.verify(opened.policy, as_far_as_known=True) if opened.policy else Findings((left_out,))
    scores = [*(_scored(metric, data, opened) for metric in chosen), *broken]
    named = {finding.name for finding in (*kept, *scores)}
    return Findings((*scores, *kept, *(finding for finding in _risk(opened) if finding.name not in named)))


def columns(data: Dataset, release: Release | str | Path) -> tuple[PublishedColumn, ...]:
    """What a release shows of each column of its table, and the share of the column's detail that it lost.

    Example:
        >>> import shoal
        >>> data = shoal.read(shoal.samples.adult(), quasi=["age", "sex"])
        >>> found = {column.name: column for column in shoal.columns(data, shoal.anonymize(data, "k-anonymity:k=5"))}
        >>> found["sex"].words, 0 < found["age"].lost < 0.1
        ('as it was', True)
    """
    return published_columns(data, release if isinstance(release, Release) else open_release(release, data))


def _every(family: str) -> tuple[list[Any], list[Finding]]:
    """Each plug-in of a family that needs no parameter; of those that break their contract, the rule in their place."""
    found, broken = [], []
    for name in registry.names(family):
        try:
            if registry.complete(family, name):
                found.append(registry.make(family, name, {}))
        except PluginError as reason:
            broken.append(Finding(name=name, value=None, how=str(reason)))
    return found, broken


def _scored(metric: Metric, data: Dataset, release: Release) -> Finding:
    try:
        return metric.score(data, release)
    except NotDefined as reason:
        return Finding(name=registry.name_of(metric), value=None, how=f"not defined: {reason}")


def _risk(release: Release) -> Findings:
    try:
        models = release.policy.models if release.policy else ()
        wanted = max((model.least for model in models if model.identity), default=None)
        classes = release.in_people(release.view.people())
        found = exposure(classes, wanted)
        if classes.people is None or release.schema.person not in release.published.names:
            return found
        return Findings((*found, linked(classes.people)))
    except NotDefined as reason:
        return Findings((Finding(name="k", value=None, how=f"not defined: {reason}"),))


def attack(
    data: Dataset, release: Release | str | Path, *attacks: Attack | str, run: Run | None = None
) -> tuple[Attempt, ...]:
    """Attacks a release as an adversary would (every attack unless some are named); no person is named.

    Attacks that the form of the release does not allow are left out, unless they are named: then the reason is raised.

    Example:
        >>> import shoal
        >>> data = shoal.read(shoal.samples.adult(), quasi=["age", "sex", "race"])
        >>> shoal.attack(data, shoal.anonymize(data, shoal.KAnonymity(k=5)), "prosecutor")[0].worst <= 0.2
        True
    """
    opened = release if isinstance(release, Release) else open_release(release, data)
    if attacks:
        chosen = [job.plugin("attacks", attack) for attack in attacks]
        return tuple(attack.attempt(data, opened, run or Run()) for attack in chosen)
    return every_attack(data, opened, run)[0]


def every_attack(
    data: Dataset, release: Release | str | Path, run: Run | None = None
) -> tuple[tuple[Attempt, ...], dict[str, str]]:
    """Every attack on a release, and why others were not made."""
    opened = release if isinstance(release, Release) else open_release(release, data)
    found, reasons = [], {}
    for attack in _every("attacks")[0]:
        try:
            found.append(attack.attempt(data, opened, run or Run()))
        except NotDefined as reason:
            reasons[registry.name_of(attack)] = str(reason)
    return tuple(found), reasons


def open_release(path: str | Path, data: Dataset) -> Release:
    """A release file next to the table that it was made from; a file without a manifest is taken as generalized."""
    path = Path(path)
    recover(path.parent)
    stated = manifest.load(path) if manifest_path(path).exists() else None
    form = registry.make("forms", stated["form"] if stated else "generalized", {})
    tables = {part: data.engine.open_published(place) for part, place in manifest.parts(stated, path).items()}
    release = Release(
        form=form, tables=tables, schema=data.schema, records=data.records, engine=data.engine,
        policy=manifest.policy_of(stated) if stated else None, **whole(data),
        stated_spellings=manifest.spellings_of(stated) if stated else {},
    )  # fmt: skip
    if release.suppressed < 0:
        raise InputError(f"{path.name} has more records than the table; it is not a release of it")
    return release if data.schema.person is None else _with_members(release, data)


def _with_members(release: Release, data: Dataset) -> Release:
    """A release with the people in its classes, where the table and the published values leave no doubt about them:
    when everybody fits into one class at most, and classes then have the records that they are published with."""
    try:
        people, candidates = release.view.people(), release.view.candidates(data.summary.keys)
        counts = np.diff(candidates.starts)
        if counts.max(initial=0) > 1:
            return release
        index = np.full(len(counts), -1, np.int32)
        index[counts == 1] = candidates.classes
        return release.with_members(data.summary.rolled(index, people.keys))
    except (NotDefined, InputError, VerificationError):
        return release


def query(
    source: Dataset | Release | str | Path,
    measure: Literal["count", "sum", "mean"] = "count",
    column: str | None = None,
    *,
    where: Mapping[str, Any] | Iterable[str] = (),
    hierarchies: str | Path | Mapping[str, HierarchySpec] | None = None,
    engine: Engine | str | None = None,
) -> Estimate:
    """A count, or the sum or mean of a column, over the records that meet all conditions, as a recipient estimates it.

    Of a release of any form, the estimate comes with its standard error and with the least and the greatest value that
    are certain, where the form allows them; of a dataset it is the truth.

    Args:
        source: a release, the path of a release file with its manifest beside it, or a dataset.
        measure: `count`, `sum` or `mean`.
        column: what is summed.
        where: conditions by column, as text (`{"age": "<= 30"}`), value, list of values or pair of ends; or as texts
            such as `"age <= 30"`.
        hierarchies: of columns of a file that are published at levels of a hierarchy, as `read` takes them.
        engine: where a file is read.

    Example:
        >>> import shoal
        >>> data = shoal.read(shoal.samples.adult(), quasi=["age", "sex", "race"], sensitive=["occupation"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=5), seed=1)
        >>> wanted = {"sex": "Female", "occupation": "Sales", "age": "<= 40"}
        >>> found, truth = shoal.query(release, where=wanted), shoal.query(data, where=wanted)
        >>> found.low <= truth.value <= found.high, abs(found.value - truth.value) < 10
        (True, True)
    """
    if isinstance(source, Dataset):
        return queries.of_dataset(source, measure, column, where)
    if isinstance(source, Release):
        trees = {each.name: each.hierarchy for each in source.schema.columns if each.hierarchy is not None}
        return queries.of_release(source, measure, column, where, trees)
    path = Path(source)
    stated = manifest.load(path)
    release = _as_published(path, stated, job.engine(engine))
    return queries.of_release(release, measure, column, where, _hierarchies_of_labels(release, hierarchies))


def _hierarchies_of_labels(
    release: Release, given: str | Path | Mapping[str, HierarchySpec] | None
) -> dict[str, Hierarchy]:
    """The hierarchies that a recipient has, which must name their values themselves."""
    assigned = {column.name: column.role for column in release.schema.columns}
    built = {}
    for name, spec in _chosen_hierarchies(given, assigned).items():
        empty = Values.of(name, release.schema[name].kind, [])
        built[name] = spec if isinstance(spec, Hierarchy) else spec.build(empty)
    return built


def _as_published(path: Path, stated: Mapping[str, Any], engine: Engine) -> Release:
    """A release as its files and its manifest tell it, without the table that it was made from."""
    tables = {part: engine.open_published(place) for part, place in manifest.parts(stated, path).items()}
    schema, populations = manifest.schema_of(stated, tables)
    return Release(
        form=registry.make("forms", stated["form"], {}), tables=tables, schema=schema, records=stated["records"],
        engine=engine, policy=manifest.policy_of(stated), populations=populations, crowd=manifest.crowd_of(stated),
        stated_spellings=manifest.spellings_of(stated),
    )  # fmt: skip


def verify(path: str | Path, *, engine: Engine | str | None = None) -> Findings:
    """Checks a release file against its manifest alone: unchanged, complete, and every model still holds.

    Neither the original table nor the hierarchies are needed.

    Example:
        >>> import shoal, tempfile
        >>> data = shoal.read(shoal.samples.adult(), quasi=["age", "sex", "race"])
        >>> path = Path(tempfile.mkdtemp()) / "release.csv"
        >>> _ = shoal.anonymize(data, shoal.KAnonymity(k=5)).write(path)
        >>> shoal.verify(path).holds
        True
    """
    path = Path(path)
    chosen = job.engine(engine)
    stated = manifest.load(path)
    places = manifest.parts(stated, path)
    lacking = [place.name for place in places.values() if not place.is_file()]
    if lacking:
        raise InputError(f"{lacking[0]}: there is no such file")
    hashes = {entry["part"]: entry["sha256"] for entry in stated["tables"]}
    same = all(sha256(place) == hashes[part] for part, place in places.items())
    unchanged = Finding(name="unchanged", value="yes" if same else "no", holds=same, how="SHA-256 of every file")
    try:
        release = _as_published(path, stated, chosen)
        rows = Finding(
            name="published", value=release.published.records, bound=stated["published"],
            holds=release.published.records == stated["published"],
            how="records in the file, held against the manifest", unit="records",
        )  # fmt: skip
        counts = (release.counts_agree(),) if release.populations else ()
        assert release.policy is not None
        kept = release.verify(release.policy, as_far_as_known=True)
        return Findings((*kept, *_people_found(release, stated), rows, *counts, unchanged))
    except ShoalError:
        if same:
            raise
        return Findings((unchanged,))  # it was changed into something that cannot be measured: the answer is no


def _people_found(release: Release, stated: Mapping[str, Any]) -> tuple[Finding, ...]:
    """How many people a release has, held against its manifest, or why they cannot be counted."""
    if "people" not in stated:
        return ()
    told = stated["people"]
    try:
        found = people_in(release.in_people(release.view.people()))
    except NotDefined as reason:
        how = (
            f"not defined: {reason}; counted when it was made, as the manifest states: {told['published']:,} people, "
            f"{told['smallest_class']:,} in the smallest class"
        )
        return (Finding(name="people", value=None, how=how),)
    holds = release.people_agree(told["published"])
    how = "people in the file, by their pseudonyms, held against the manifest"
    return (Finding(name="people", value=found, bound=told["published"], holds=holds, how=how),)
