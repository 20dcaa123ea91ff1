"""Diagnosis: how exposed people are, the twelve questions, suggested roles, dependencies."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from shoal import registry
from shoal.api.reading import as_list, check_dataset, profile
from shoal.core.classes import Classes
from shoal.core.contracts.engine import Engine
from shoal.core.contracts.model import Model
from shoal.core.dataset import Dataset
from shoal.core.finding import Findings
from shoal.core.parameters import parameters
from shoal.core.run import Run
from shoal.diagnosis.dependencies import Dependencies
from shoal.diagnosis.dependencies import dependencies as dependencies_of
from shoal.diagnosis.detection import Detection
from shoal.diagnosis.detection import detect as suggest_roles
from shoal.diagnosis.exposure import exposure
from shoal.diagnosis.household_exposure import household_exposure
from shoal.diagnosis.questions import TABLE, Answer, which
from shoal.diagnosis.questions import ask as answer_question
from shoal.diagnosis.suda import Convention, Suda
from shoal.diagnosis.suda import suda as special_uniques
from shoal.errors import ParameterError, alternatives, unknown_columns
from shoal.job import plugins

LONGEST = 30.0
"""Seconds after which the search of a detection ends on a very large table, where no time limit is given."""


def diagnose(data: Dataset, *, k: int | None = None, attributes: Iterable[str] | None = None) -> Findings:
    """How exposed people are by a set of attributes (all quasi-identifiers unless others are named).

    With `k`, also whether every class has that many records, and how many records do not.

    Example:
        >>> import shoal
        >>> data = shoal.read(shoal.samples.adult(), quasi=["age", "workclass", "education", "sex", "race"])
        >>> shoal.diagnose(data, k=3)["unique-records"].value
        3109
    """
    check_dataset(data)
    if k is not None and (k < 1 or k != int(k)):
        raise ParameterError("k must be a whole number, at least 1")
    if attributes is None:
        return _exposure(data, data.summary, k)
    names = as_list(attributes)
    available = (*data.schema.quasi, *data.schema.sensitive)
    unknown = [name for name in names if name not in available]
    if unknown or not names:
        raise unknown_columns(unknown, available)
    return _exposure(data, data.group(tuple(names)), k)


def _exposure(data: Dataset, classes: Classes, k: int | None) -> Findings:
    """How exposed people are by some classes, and their households where these are known."""
    return Findings((*exposure(classes, k), *household_exposure(data, classes)))


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
        run: receives progress, and can stop the search.

    Example:
        >>> import shoal
        >>> data = shoal.read(shoal.samples.adult(), quasi=["age", "workclass", "education", "sex", "race"])
        >>> answer = shoal.ask(data, k=5)
        >>> answer.question, answer.positive_border
        (3, (('workclass', 'sex'), ('education', 'sex'), ('sex', 'race')))
    """
    check_dataset(data)
    bounds = {name: value for name, value in (("k", k), ("l", l), ("t", t), ("bound", bound)) if value is not None}
    if len(bounds) > 1:
        raise ParameterError(f"give one of {', '.join(bounds)}, not both")
    letter, threshold = next(iter(bounds.items()), (None, None))
    if isinstance(notion, Model) or (notion is not None and ":" in notion):
        if c is not None or distance != "equal":
            raise ParameterError("a model has its own parameters; give c and distance to it, or name the notion only")
        model = plugins.plugin("models", notion)
        name = registry.name_of(model)
        if threshold is None and (question not in TABLE or TABLE[question][1]):
            threshold = model.bound
    else:
        name = model_name(notion or {"l": "distinct-l", "t": "t"}.get(letter or "", "k"))
        fixed = {"c": c, "distance": None if distance == "equal" else distance}
        model = prototype(name, {key: value for key, value in fixed.items() if value is not None})
    if letter not in (None, "bound", model.asks):
        raise ParameterError(f"{name} is bounded by {model.asks}, but {letter} is given")
    model.check_columns(data.schema)
    column = getattr(model, "column", None)
    if sensitive is not None and column not in (None, sensitive):
        raise ParameterError("the model names one sensitive attribute and the question another; name one")
    number = which(attributes=attributes is not None, bound=threshold is not None, delta=delta, forced=question)
    names = list(data.schema.quasi) if attributes is None else list(dict.fromkeys(as_list(attributes)))
    unknown = [name for name in names if name not in data.schema.quasi]
    if unknown:
        raise unknown_columns(unknown, data.schema.quasi)
    return answer_question(
        data.summary, model, names, question=number, bound=threshold, delta=delta,
        sensitive=sensitive or column, time_limit=time_limit, run=run, notion=_short(name),
    )  # fmt: skip


def _short(name: str) -> str:
    """A model's name as people shorten it: t for t-closeness."""
    return name.removesuffix("-anonymity").removesuffix("-closeness").removesuffix("-diversity")


def model_name(notion: str) -> str:
    """The model that a question names, in full or shortened."""
    names = registry.names("models")
    for name in names:
        if notion in (name, _short(name)):
            return name
    raise ParameterError(f"there is no such notion; {alternatives(notion, map(_short, names))}")


def prototype(name: str, fixed: Mapping[str, Any]) -> Model:
    """A model with the given parameters and any bound."""
    kind = registry.find("models", name)
    lacking = [each.name for each in parameters(kind) if each.required and each.name not in (kind.asks, *fixed)]
    if lacking:
        raise ParameterError(
            f"{name} also needs {', '.join(lacking)}; give notion a model that has it, as "
            f"shoal.models.{kind.__name__}(…)"
        )
    model: Model = registry.make("models", name, {kind.asks: kind.examples[0][kind.asks], **fixed})
    return model


def suda(
    data: Dataset,
    *,
    attributes: Iterable[str] | None = None,
    largest: int | None = None,
    convention: Convention = "original",
    fraction: float | None = None,
    ignore_missing: bool = False,
    run: Run | None = None,
) -> Suda:
    """SUDA2: the smallest sets of values that single a record out, scored, with DIS-SUDA and contributions.

    A minimal sample unique is a set of values that only one person has, and no part of which only one person has.

    Args:
        data: the table.
        attributes: the columns, all quasi-identifiers unless some are named.
        largest: the most columns of a minimal unique; by default one less than there are.
        convention: how a unique of s of m columns is scored. `original` (Elliot and others; the default of sdcMicro):
            the product of m − i for i from s to `largest`. `ihsn` (the IHSN's program; sdcMicro with
            `original_scores=FALSE`): (2^(m−s) − 1) · s! · (m − s)! / m!.
        fraction: the share of the population that is in the table, for the DIS score; by default the number of records
            by the sum of their weights, and 0.01 without weights.
        ignore_missing: no unique has a missing value, as in sdcMicro; otherwise it is a value like any other.
        run: receives progress, and can stop the search.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"a": [2, 1, 1], "b": [0, 3, 0], "c": [0, 6, 0]})
        >>> suda = shoal.suda(shoal.read(table, quasi=["a", "b", "c"]))
        >>> suda.contributions
        {'a': 0.5, 'b': 0.375, 'c': 0.375}
        >>> suda.by_record()["suda"].to_list()
        [2.0, 4.0, 2.0]
    """
    check_dataset(data)
    names = list(data.schema.quasi) if attributes is None else list(dict.fromkeys(as_list(attributes)))
    unknown = [name for name in names if name not in data.schema.quasi]
    if unknown or not names:
        raise unknown_columns(unknown, data.schema.quasi)
    unique = registry.make("models", "k-anonymity", {"k": 2})
    return special_uniques(
        data, data.group(tuple(names)), unique, largest=largest, convention=convention, fraction=fraction,
        ignore_missing=ignore_missing, run=run or Run(),
    )  # fmt: skip


def detect(
    source: Any,
    *,
    share: float = 0.05,
    seed: int = 0,
    time_limit: float | None = None,
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
        time_limit: seconds for the search for sets; what is not proven then is said to be. Without it the search
            ends after a fixed amount of work, a second or two, so that a table has the same answer on any machine.
        missing, delimiter, encoding, format, sheet, rename_duplicates, engine: as for `read`, unless the source is a
            dataset.
        run: receives progress, and can stop the search.

    Example:
        >>> import shoal
        >>> detection = shoal.detect(shoal.samples.adult().select("age", "sex", "fnlwgt", "occupation"))
        >>> detection["age"].role, detection["sex"].distinct, detection.singling_out[0]
        (<Role.QUASI: 'quasi'>, 2, ('fnlwgt',))
    """
    if not 0 <= share < 1:
        raise ParameterError("share must be a share of the records, at least 0 and less than 1")
    overview = profile(
        source, engine, missing=missing, delimiter=delimiter, encoding=encoding, format=format, sheet=sheet,
        rename_duplicates=rename_duplicates,
    )  # fmt: skip
    watch = (run or Run()).part(seconds=LONGEST if time_limit is None else time_limit)
    work = None if time_limit is None else math.inf
    unique = registry.make("models", "k-anonymity", {"k": 2})
    return suggest_roles(overview, model=unique, share=share, seed=seed, run=watch, work=work)


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
        missing, delimiter, encoding, format, sheet, rename_duplicates, engine: as for `read`, unless the source is a
            dataset.
        run: receives progress, and can stop the search.

    Example:
        >>> import shoal
        >>> table = shoal.samples.adult().select("education", "education-num", "sex", "relationship")
        >>> dependencies = shoal.dependencies(table)
        >>> [(each.determinant, each.dependent) for each in dependencies.found]
        [(('education',), 'education-num'), (('education-num',), 'education')]
    """
    if not 0 <= tolerance < 1:
        raise ParameterError("tolerance must be a share of the records, at least 0 and less than 1")
    if largest is not None and largest < 1:
        raise ParameterError("largest must be a number of columns, at least 1")
    if support is not None and not 0 < support <= 1:
        raise ParameterError("support must be a share of the records, more than 0 and at most 1")
    overview = profile(
        source, engine, missing=missing, delimiter=delimiter, encoding=encoding, format=format, sheet=sheet,
        rename_duplicates=rename_duplicates,
    )  # fmt: skip
    roles = {column.name: column.role for column in source.schema.columns} if isinstance(source, Dataset) else {}
    least = None if support is None else max(2, math.ceil(support * overview.records))
    return dependencies_of(
        overview, roles=roles, tolerance=tolerance, largest=largest, support=least,
        run=(run or Run()).part(seconds=time_limit),
    )  # fmt: skip
