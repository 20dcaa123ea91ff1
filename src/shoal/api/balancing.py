"""Balancing: releases along a sweep, and where their privacy and their utility meet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.api.learning import DEFAULT
from shoal.api.reading import as_list, check_dataset, read_job
from shoal.core.contracts.algorithm import Algorithm
from shoal.core.contracts.metric import Metric
from shoal.core.contracts.model import Model
from shoal.core.dataset import Dataset
from shoal.core.run import Run
from shoal.core.seeds import drawn as draw_seed
from shoal.errors import ParameterError
from shoal.job import plugins
from shoal.job.arguments import arguments
from shoal.job.job import DEFAULT_ALGORITHM, Job
from shoal.utility.analyses import Analysis, all_parsed

if TYPE_CHECKING:
    from shoal.tradeoff.balance import Balance

SEARCHED = ("auto", "mondrian", "k-member", "oka", "optimal", "anatomy", "multiset", "slicing")
"""Algorithms of every form that are tried for the analyses where nobody says what to try."""


def balance(
    data: Dataset,
    *models: Model | str,
    target: str | None = None,
    k: Iterable[int] | None = None,
    l: Iterable[int] | None = None,  # noqa: E741
    t: Iterable[float] | None = None,
    suppression: float | Iterable[float] = 0.0,
    algorithm: Algorithm | str | Iterable[Algorithm | str] = DEFAULT_ALGORITHM,
    utility: Any = None,
    privacy: Metric | str | Iterable[Metric | str] = "suppression-share",
    privacy_columns: Iterable[str] = (),
    analyses: Iterable[Analysis | str | Mapping[str, Any]] = (),
    seeds: int = 1,
    seed: int | None = None,
    objective: Metric | str | None = None,
    rows_are_people: bool = False,
    allow_plain: Iterable[str] = (),
    workers: int | None = None,
    resume_file: str | Path | None = None,
    run: Run | None = None,
) -> Balance:
    """Where privacy and utility balance: one release for each setting of a sweep, made, verified, measured and dropped.

    One or two parameters are swept: those of `k`, `l`, `t`, `suppression` and `algorithm` that are given several
    values. Curves of utility and privacy run along the first that is a number; every place where they meet is told,
    and where they do not, the place where they come closest. A setting that has no release is reported with the
    reason. The figures depend on the table, the settings and the seed, not on the number of workers, nor on how often
    the sweep was interrupted.

    Nothing is published, and the figures are for the holder of the table. A balance says what a policy costs, not
    whether it is enough.

    Args:
        data: the table.
        models: what must hold beside what is swept; a swept k, l or t takes the place of theirs. Where one asks for a
            k, no smaller one is recommended.
        target: the column that a classifier should still be able to tell; not needed where utility is a metric.
        k, l, t: the values to try, of k-anonymity, distinct l-diversity and t-closeness unless a model says otherwise.
        suppression: the share of the records that may be left out, or several to try.
        algorithm: the anonymizer, or several to try.
        utility: definitions of utility, the leading one first: a learner as for `evaluate` (`decision-stump`, `c45`,
            `naive-bayes`, a classifier of scikit-learn), `analyses`, or a metric that is a share, which is then what
            was lost. By default the analyses, where some are declared, else the decision stump.
        privacy: definitions of privacy, the leading one first: `suppression-share`, `highest-risk`, `average-risk`,
            `privacy-loss`.
        privacy_columns: the quasi-identifiers whose cells `suppression-share` counts; by default all of them. Leave out
            those that are published as means, which are never suppressed.
        analyses: what must survive, as for `evaluate`. Where nothing else is swept, algorithms of every form are: the
            release that keeps the analyses best under the policy is looked for.
        seeds: how many seeds to try for each setting; figures are then means.
        seed: the first of the seeds, from which the others follow; drawn by default, and a secret.
        objective: the loss to minimize, where an algorithm takes one.
        rows_are_people, allow_plain: as for `anonymize`.
        workers: how many processes work at once; by default as many as there are cores, where the sweep is long enough.
        resume_file: a file to save finished points in, so that an interrupted sweep can continue. It holds the seed,
            and no value of the table.
        run: receives progress, and can stop the work.

    Raises:
        ParameterError: what is swept, the target or a definition cannot be used.
        InputError: `resume_file` belongs to another sweep.
        CancelledError: the run was stopped; the progress so far is in `resume_file`.

    Reference: A. Tandon, S. Jain, Balancing between data utility and privacy preservation in data mining, 2010.

    Example:
        >>> import shoal
        >>> data = shoal.read(shoal.samples.haberman(), quasi=["age", "operation-year"])
        >>> result = shoal.balance(data, target="class", k=range(2, 30, 9), algorithm="oka", seed=1, workers=1)
        >>> sorted(result.as_dict()["points"][0])[:4]
        ['baseline', 'classes', 'k', 'measures']
    """
    from shoal.tradeoff.balance import Balance
    from shoal.tradeoff.measures import ANALYSES, Accuracy, check_columns, checked_target
    from shoal.tradeoff.measures import privacy as privacy_by
    from shoal.tradeoff.measures import utility as utility_by
    from shoal.tradeoff.points import SweepTask, carry_out
    from shoal.tradeoff.progress import SweepProgress
    from shoal.tradeoff.sweep import Setting, checked, settings, shown
    from shoal.tradeoff.sweep_result import Point, SweptAxis

    check_dataset(data)
    run = run or Run()
    swept: dict[str, Iterable[Any]] = {
        name: values for name, values in (("k", k), ("l", l), ("t", t)) if values is not None
    }
    if not isinstance(suppression, (int, float)):
        swept["suppression"] = suppression
    if not isinstance(algorithm, (str, Algorithm)):
        swept["algorithm"] = algorithm
    declared = all_parsed(analyses)
    for each in declared:
        each.columns(data.schema.names)
    if not swept and declared:
        swept["algorithm"] = SEARCHED
    axes = {name: checked(name, values) for name, values in swept.items()}
    basis = Setting(
        place=(), models=tuple(plugins.plugin("models", model) for model in models),
        algorithm=plugins.plugin("algorithms", algorithm if "algorithm" not in swept else DEFAULT_ALGORITHM),
        suppression=suppression if isinstance(suppression, (int, float)) else 0.0,
        objective=None if objective is None else plugins.plugin("metrics", objective),
        rows_are_people=rows_are_people, allow_plain=tuple(as_list(allow_plain)),
    )  # fmt: skip
    combinations = list(settings(axes, basis))
    definitions = (ANALYSES if declared else DEFAULT) if utility is None else utility
    utilities = tuple(utility_by(each, target, declared) for each in _several(definitions))
    columns = as_list(privacy_columns)
    privacies = tuple(privacy_by(each, columns) for each in _several(privacy))
    if not utilities or not privacies:
        raise ParameterError("name a definition of utility and one of privacy")
    check_columns(data, privacies, columns)
    if target is not None:
        checked_target(data, target)
    for name, number in (("seeds", seeds), ("workers", workers)):
        if number is not None and (isinstance(number, bool) or not isinstance(number, int) or number < 1):
            raise ParameterError(f"{name} must be a whole number, at least 1")
    progress = SweepProgress.open(None if resume_file is None else Path(resume_file), data, seed, draw_seed)
    measures = tuple({each.name: each for each in (*utilities, *privacies)}.values())
    task_seeds = _seeds(progress.seed, seeds)
    tasks = [
        SweepTask(setting=each, seed=one, measures=measures, target=target)
        for each in combinations
        for one in task_seeds
    ]
    results = {place: result for place, task in enumerate(tasks) if (result := progress.find(task)) is not None}

    def keep(place: int, result: Any) -> None:
        results[place] = result
        progress.add(tasks[place], result)

    remaining = {place: task for place, task in enumerate(tasks) if place not in results}
    carry_out(data, remaining, workers, keep, run)
    leading = utilities[0]
    return Balance(
        axes=tuple(SweptAxis(name, tuple(map(shown, values))) for name, values in axes.items()),
        utilities=tuple(each.definition for each in utilities), privacies=tuple(each.definition for each in privacies),
        records=data.records, seeds=seeds, seed=progress.seed,
        asked_k=max((model.least for model in basis.models if "k" in model.parameters()), default=1),
        target=target, original=leading.original(data) if isinstance(leading, Accuracy) else None,
        points=tuple(
            Point(
                place=dict(zip(axes, each.place, strict=True)),
                runs=tuple(results[number * seeds + at] for at in range(seeds)),
            )
            for number, each in enumerate(combinations)
        ),
    )  # fmt: skip


def balance_job(
    job: Job, *, resume_file: Path | None = None, workers: int | None = None, run: Run | None = None
) -> Balance:
    """Reads the table of a job and finds where its privacy and utility balance, along the job's sweep."""
    from shoal.tradeoff.sweep import parsed

    swept: dict[str, list[Any]] = {}
    for text in job.sweep:
        name, values = parsed(text)
        swept.setdefault(name, []).extend(values)
    if not swept and not job.analyses:
        raise ParameterError("name what to vary, as in --sweep k=2..20, or as sweep in [balance] of the job file")
    options = {**arguments(job, "balance"), **swept}
    return balance(read_job(job), *job.models, **options, resume_file=resume_file, workers=workers, run=run)


def _several(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _seeds(seed: int, count: int) -> list[int]:
    """The seed itself, with which `anonymize` makes the release of a point again, and others that follow from it."""
    words = np.random.SeedSequence(seed).generate_state(count, np.uint64).tolist()
    return [seed, *(word >> 1 for word in words[1:])]
