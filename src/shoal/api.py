"""The verbs: read, detect, diagnose, ask, anonymize, evaluate, attack, verify."""

from __future__ import annotations

import contextlib
import math
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from shoal import job, manifest, registry
from shoal.core.contracts import Algorithm, Attack, Attempt, Builder, Engine, Metric, Model
from shoal.core.dataset import Dataset
from shoal.core.files import recover, sha256
from shoal.core.finding import Finding, Findings
from shoal.core.grouping import Codes
from shoal.core.hierarchy import Hierarchy
from shoal.core.parameters import parameters
from shoal.core.policy import Policy
from shoal.core.pseudonyms import Pseudonyms
from shoal.core.recoding import Recoding
from shoal.core.release import Release, manifest_path
from shoal.core.run import Run
from shoal.core.schema import Kind, Missing, Role, roles
from shoal.core.values import Values
from shoal.diagnosis.dependencies import Dependencies
from shoal.diagnosis.dependencies import dependencies as dependencies_of
from shoal.diagnosis.detection import Detection
from shoal.diagnosis.detection import detect as detected
from shoal.diagnosis.exposure import exposure
from shoal.diagnosis.questions import TABLE, Answer, which
from shoal.diagnosis.questions import ask as answered
from shoal.diagnosis.sql import sql as sql
from shoal.errors import (
    HierarchyError,
    InputError,
    NotDefined,
    ParameterError,
    PluginError,
    SchemaError,
    ShoalError,
    VerificationError,
    unknown_columns,
)

SEED_BITS = 63
"""Bits of a seed that is drawn: far too many to be tried, and still a number that every file format holds."""

_ENCODED = (Role.QUASI, Role.SENSITIVE)
"""The roles whose values are looked at; other columns are published as they are, or not at all."""

HierarchySpec = str | Path | Mapping[str, Any] | Builder | Hierarchy


def read(
    source: Any,
    *,
    quasi: Iterable[str] = (),
    sensitive: Iterable[str] = (),
    identifiers: Iterable[str] = (),
    hierarchies: str | Path | Mapping[str, HierarchySpec] | None = None,
    column_hierarchies: Mapping[str, HierarchySpec] | None = None,
    kinds: Mapping[str, str] | None = None,
    missing: Sequence[str] = (),
    missing_rules: Mapping[str, str] | None = None,
    strict: bool = False,
    delimiter: str | None = None,
    encoding: str | None = None,
    neutralize_formulas: bool = False,
    engine: Engine | str | None = None,
) -> Dataset:
    """A table with roles: a path (CSV also compressed, Parquet, Arrow IPC) or a frame (pandas, polars, pyarrow).

    Args:
        source: the path or the frame. It is never modified.
        quasi: columns that outsiders may know.
        sensitive: columns that nobody should learn about a person.
        identifiers: columns that name a person; a release drops them.
        hierarchies: a folder with a file `<column>.csv` (or `.toml`, `.json`) for each column that has one, or a
            mapping from column to a file, a builder (`"intervals:width=5"`) or a `Hierarchy`. A quasi-identifier
            without one gets an automatic one.
        column_hierarchies: hierarchies of single columns, before those of the folder.
        kinds: `numeric`, `categorical`, `date` or `text`, where what is found out does not fit.
        missing: spellings of a missing value besides the empty one.
        missing_rules: for each column `value` (the default: missing is a value of its own), `refuse` or `drop`.
        strict: with several sensitive attributes, whether each is protected also against whoever knows the others,
            by models that look at sensitive attributes; otherwise each is protected on its own.
        delimiter: of a CSV file; found out by default.
        encoding: of a CSV file; found out by default.
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
        source, delimiter=delimiter, encoding=encoding, missing=missing, neutralize=neutralize_formulas
    )
    assigned = roles(opened.names, quasi=_listed(quasi), sensitive=_listed(sensitive), identifiers=_listed(identifiers))
    for named in (kinds or {}, missing_rules or {}):
        unknown = [name for name in named if name not in assigned]
        if unknown:
            raise unknown_columns(unknown, assigned)
    rules = {name: job.member(Missing, rule, "missing-value rule") for name, rule in (missing_rules or {}).items()}
    idle = [name for name, rule in rules.items() if rule is not Missing.VALUE and assigned[name] not in _ENCODED]
    if idle:
        raise SchemaError(
            f"column {idle[0]!r} is {assigned[idle[0]]}, and missing-value rules are for quasi-identifiers and "
            "sensitive attributes; leave the rule out or give the column such a role"
        )
    chosen = {**_chosen_hierarchies(hierarchies, assigned), **_chosen_hierarchies(column_hierarchies, assigned)}

    def hierarchy_for(values: Values, role: Role) -> Hierarchy:
        spec = chosen.get(values.column)
        if isinstance(spec, Hierarchy):
            return spec
        if spec is not None and len(values.texts):
            return spec.build(values)
        if role is Role.SENSITIVE or not len(values.texts):
            return Hierarchy.flat(values.column, values.texts.tolist(), values.numbers)
        made: Hierarchy = registry.make("hierarchies", "automatic", {}).build(values)
        return made

    return chosen_engine.read(
        opened,
        assigned,
        hierarchy_for,
        kinds={name: job.member(Kind, kind, "kind") for name, kind in (kinds or {}).items()},
        missing_rules=rules,
        strict=strict,
    )


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
            if role in _ENCODED
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
    raise ParameterError(f"there is no such notion; choose one of {', '.join(_short(name) for name in known)}")


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
    looks, records = _looked_at(source, missing, delimiter, encoding, engine)
    watch = (run or Run()).part(seconds=time_limit)
    unique = registry.make("models", "k-anonymity", {"k": 2})
    return detected(looks, records, model=unique, share=share, seed=seed, run=watch)


def _looked_at(
    source: Any, missing: Sequence[str], delimiter: str | None, encoding: str | None, engine: Engine | str | None
) -> tuple[dict[str, tuple[Values, Codes] | str], int]:
    """Every column of a source, or of a dataset's source, as distinct values and codes."""
    if isinstance(source, Dataset):
        return source.engine.look(source.table.source)
    chosen = job.engine(engine)
    return chosen.look(chosen.open(source, delimiter=delimiter, encoding=encoding, missing=missing))


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
    looks, records = _looked_at(source, missing, delimiter, encoding, engine)
    roles = {column.name: column.role for column in source.schema.columns} if isinstance(source, Dataset) else {}
    least = None if support is None else max(2, math.ceil(support * records))
    return dependencies_of(
        looks, records, roles=roles, tolerance=tolerance, largest=largest, support=least,
        run=(run or Run()).part(seconds=time_limit),
    )  # fmt: skip


def anonymize(
    data: Dataset,
    *models: Model | str,
    algorithm: Algorithm | str = "mondrian",
    suppression: float = 0.0,
    objective: Metric | str | None = None,
    seed: int | None = None,
    pseudonyms: Pseudonyms | None = None,
    run: Run | None = None,
) -> Release:
    """A release that satisfies every model; it is read back from its published values before it is handed out.

    Identifiers are dropped, or replaced when `pseudonyms` are given. The order of the published rows follows from what
    they say, so it tells nothing. The same records (in any order), policy, algorithm and seed give the same release,
    random pseudonyms apart.

    Args:
        data: the table.
        models: what must hold, as models or as text such as `"k-anonymity:k=5"`. A perturbation needs none.
        algorithm: the anonymizer, or a perturbation.
        suppression: the share of the records that may be left out.
        objective: the loss to minimize, where the algorithm takes one.
        seed: decides what is chosen at random. It is the holder's secret, and is in no manifest; by default it is drawn
            from the operating system, and `release.policy.seed` tells it.
        pseudonyms: what stands in the place of identifiers.
        run: is told how far the work is, and can stop it.

    Raises:
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
    job.check_policy(policy, method)
    recoding = method.search(data, policy, run)
    run.report(1.0, "publishing")
    release = publish(data, recoding, policy, pseudonyms=pseudonyms, run=run)
    release = replace(release, provenance=manifest.provenance(policy, method, release.form, pseudonyms, data.schema))
    run.check()
    release.view.check(data, recoding)
    broken = [finding.name for finding in release.verify(policy) if finding.holds is False]
    if broken:
        raise VerificationError(
            f"the release that {registry.name_of(method)} made breaks its policy ({', '.join(broken)}) and is withheld"
        )
    return release


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
    sheets = form.sheets(data.schema, pseudonyms=pseudonyms is not None)
    seed = policy.seed if policy is not None else 0
    return Release(
        form=form,
        tables=data.table.publish(data.schema, recoding, sheets, seed=seed, pseudonyms=pseudonyms, run=run or Run()),
        schema=data.schema,
        records=data.records,
        engine=data.engine,
        policy=policy,
        recoding=recoding,
        populations={histogram.column: histogram.population for histogram in data.summary.sensitive},
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
    left_out = Finding(name="suppressed", value=opened.suppressed, how="records that were left out")
    kept = opened.verify(opened.policy) if opened.policy else Findings((left_out,))
    scores = [*(_scored(metric, data, opened) for metric in chosen), *broken]
    named = {finding.name for finding in (*kept, *scores)}
    return Findings((*scores, *kept, *(finding for finding in _risk(opened) if finding.name not in named)))


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
        return exposure(release.view.people(), release.policy.least if release.policy else None)
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
    found = []
    for attack in _every("attacks")[0]:
        with contextlib.suppress(NotDefined):
            found.append(attack.attempt(data, opened, run or Run()))
    return tuple(found)


def open_release(path: str | Path, data: Dataset) -> Release:
    """A release file next to the table that it was made from; a file without a manifest is taken as generalized."""
    path = Path(path)
    recover(path.parent)
    stated = manifest.load(path) if manifest_path(path).exists() else None
    form = registry.make("forms", stated["form"] if stated else "generalized", {})
    tables = {part: data.engine.open_published(place) for part, place in manifest.parts(stated, path).items()}
    populations = {histogram.column: histogram.population for histogram in data.summary.sensitive}
    release = Release(
        form=form, tables=tables, schema=data.schema, records=data.records, engine=data.engine,
        policy=manifest.policy_of(stated) if stated else None, populations=populations,
    )  # fmt: skip
    if release.suppressed < 0:
        raise InputError(f"{path.name} has more records than the table; it is not a release of it")
    return release


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
    policy = manifest.policy_of(stated)
    places = manifest.parts(stated, path)
    lacking = [place.name for place in places.values() if not place.is_file()]
    if lacking:
        raise InputError(f"{lacking[0]}: there is no such file")
    hashes = {entry["part"]: entry["sha256"] for entry in stated["tables"]}
    same = all(sha256(place) == hashes[part] for part, place in places.items())
    unchanged = Finding(name="unchanged", value="yes" if same else "no", holds=same, how="SHA-256 of every file")
    try:
        tables = {part: chosen.open_published(place) for part, place in places.items()}
        schema, populations = manifest.schema_of(stated, tables)
        release = Release(
            form=registry.make("forms", stated["form"], {}), tables=tables, schema=schema, records=stated["records"],
            engine=chosen, policy=policy, populations=populations,
        )  # fmt: skip
        rows = Finding(
            name="published", value=release.published.records, bound=stated["published"],
            holds=release.published.records == stated["published"],
            how="records in the file, held against the manifest",
        )  # fmt: skip
        counts = (release.counts_agree(),) if populations else ()
        return Findings((*release.verify(policy), rows, *counts, unchanged))
    except ShoalError:
        if same:
            raise
        return Findings((unchanged,))  # it was changed into something that cannot be measured: the answer is no
