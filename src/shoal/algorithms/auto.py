"""The default: several algorithms are tried, and the release that loses least is taken."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import floor
from typing import Annotated, Any, ClassVar, NamedTuple

from annotated_types import Ge
from typing_extensions import Doc

from shoal.algorithms._clustering import ClusteringAlgorithm, Numeric, Publish, outputs
from shoal.algorithms._effort import is_judged, larger, refining
from shoal.algorithms._merging import merged_as_published
from shoal.algorithms._records import Records
from shoal.algorithms._refinement import REBUILDINGS, refined
from shoal.algorithms.bucket_clustering import ROOM, BucketClustering
from shoal.algorithms.dependency_safe import DependencySafe
from shoal.algorithms.full_domain.optimal import Optimal
from shoal.algorithms.k_member import KMember
from shoal.algorithms.l_member import LMember
from shoal.algorithms.mdav import Mdav
from shoal.algorithms.mondrian import Mondrian
from shoal.algorithms.mst import Mst
from shoal.algorithms.oka import Oka
from shoal.algorithms.two_phase import TwoPhase
from shoal.core.contracts.algorithm import Algorithm
from shoal.core.dataset import Dataset
from shoal.core.parameters import Examples
from shoal.core.policy import Policy
from shoal.core.recoding import Recoding
from shoal.core.run import Run
from shoal.errors import InfeasibleError, NotDefined, ParameterError, SchemaError, ShoalError
from shoal.publishing.draft import DraftRelease
from shoal.publishing.losses import misclassifications

CHECKS = 2_000
"""Nodes of the lattice that the optimal search checks at most."""
CLOCK = 1e9
"""Seconds for a refinement: its work is counted, and a clock would make releases differ."""
THOROUGH = ((REBUILDINGS, 0.1), (8, 1.0), (2, 2.0))
"""How often, for each record, refinements rebuild: the first of these of which two take no more than a share of the
budget. With eight a release loses some 2 % more than with all, in two thirds of the time."""
LITTLE = 0.1
"""Of the budget, what may be spent when a further beginning ends."""
FURTHER = ("third ", "fourth ", "fifth ")
"""What is refined too on tables on which that takes little of the budget, where mergers decide."""
HOPELESS = 1.8
"""Times the least loss so far at which a refinement does not make up for it; of those measured none did."""
TIME_IS_UP = "the time was up"
ANOTHER = "choose another objective, or name an algorithm"


@dataclass(frozen=True, kw_only=True)
class Auto(Algorithm):
    """Tries several algorithms as far as a budget of work goes, and takes the release that loses least.

    Each candidate says whether it suits the policy, and its work. First comes `mondrian`; then `bucket-clustering`,
    where the models ask for different sensitive values in every class, as the l-diversities and t-closeness do; then
    `two-phase`, and `k-member` and `oka` too where a model looks at more than the size of a class. The best of these
    is refined, then the second best, unless it loses far too much. On tables so small that all this takes a tenth of
    the budget, further beginnings are refined. The larger the table, the less a refinement rebuilds. Where records may
    be left out `optimal` is tried too, which follows the hierarchies, and where `k-combinations` is asked for, which
    the others keep by k-anonymity of all columns. Where twins of values are asked for (`inference-l`) nothing is
    refined, and `dependency-safe` is tried too. All publish values by the same rule. What is compared is the
    policy's objective, and without one the loss metric LM, which these algorithms minimize. Of equal losses the one
    that was tried first wins.

    The budget is counted in steps, never in seconds: the same seed gives the same release on a fast and on a slow
    machine. What an attempt takes follows from the number of distinct tuples, the columns, k and the models before
    anything is tried. A refinement counts its own steps, and stops where its part of the budget ends. Mondrian is
    always tried. The facts of the recoding say what was `chosen`, the `losses` of all that were tried, and the
    `reasons` why others have none. Only a deadline of the run lets the machine have a say.

    Does not protect against more than the models of the policy do, and does not find the least loss: it is the best
    of a few good attempts.

    Reference: decision 12 of Shoal's documentation, with what was measured for it.

    Example:
        >>> import shoal
        >>> data = shoal.read(shoal.samples.haberman(), quasi=["age", "operation-year", "positive-nodes"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=5), algorithm=Auto(), seed=1)
        >>> release.recoding.facts["chosen"]
        'mdav:numeric=interval,refine=true'
    """

    examples: ClassVar[Examples] = ({}, {"numeric": "given", "publish": ("age=mean",), "budget": 0.0})

    counts_people: ClassVar[bool] = True
    keeps_margins: ClassVar[bool] = True

    numeric: Numeric = "interval"
    publish: Publish = ()
    budget: Annotated[
        float, Ge(0), Doc("million steps of work that may be spent; one takes about a second of one processor core")
    ] = 30.0

    def search(self, dataset: Dataset, policy: Policy, run: Run) -> Recoding:
        trial = _Trial(dataset, policy, outputs(dataset, self.numeric, self.publish), run)
        steps: list[_Step] = []
        left = self.budget
        for step in self._steps(trial):
            if not steps or step.work + step.ahead <= left:
                steps.append(step)
                left -= step.work
            else:
                much = "is more than is left of" if step.work > left else "would leave too little of"
                trial.reasons[step.name] = f"it takes about {step.work:,.1f} million steps, which {much} the budget"
        whole, done, spent = sum(step.work for step in steps), 0.0, 0.0
        for number, step in enumerate(steps, 1):
            trial.share = done / whole, (done + step.work) / whole
            trial.place = f"{number} of {len(steps)}"
            done += step.work
            # What later steps do not need.
            spare = self.budget - spent - (whole - done)
            if trial.judged and number > 1 and step.work > self.budget - spent:
                trial.reasons[step.name] = "the steps before it took more of the budget than they were thought to"
                continue
            spent += step.take(spare)
        return trial.best()

    def _steps(self, trial: _Trial) -> Iterator[_Step]:
        """Every attempt, in the order in which they are tried as long as the budget lasts."""
        rule: dict[str, Any] = {"numeric": self.numeric, **({"publish": self.publish} if self.publish else {})}
        dataset, policy = trial.dataset, trial.policy

        def attempt(kind: type[Algorithm], ahead: float = 0.0, **named: Any) -> Iterator[_Step]:
            method = kind(**named)
            work = method.effort(dataset, method.simplified(trial.whole_policy))
            if work is not None:
                name = _spelled(kind, named)
                yield _Step(name, partial(trial.attempt, name, method, work), work, ahead)

        yield from attempt(Mondrian, **rule)
        if any(model.whole_table for model in policy.models):  # a refinement looks at a few classes at a time
            yield from attempt(TwoPhase, **rule)
            yield from attempt(KMember, **rule)
            yield from self._optimal(trial, attempt)
            yield from attempt(DependencySafe, **rule)
            return
        rebuildings, refinement = self._thoroughness(dataset, policy)
        judged, little = is_judged(dataset, policy), (1 - LITTLE) * self.budget
        yield from attempt(BucketClustering, **rule, room=ROOM)
        # Other clusters are not worth growing if nothing is left to refine them.
        yield from attempt(TwoPhase, refinement, **rule)
        if judged:  # mergers decide how good a beginning is
            yield from attempt(KMember, 2 * refinement, **rule)
            yield from attempt(Oka, 2 * refinement, **rule)
        for place, ahead in (("", 0.0), ("second ", 0.0), *((place, little) for place in FURTHER if judged)):
            name = f"refining the {place}best one"
            yield _Step(name, partial(trial.refine, name, rebuildings), refinement, ahead)
        # Where classes are few, luck decides, and further beginnings are worth their little work.
        # A spanning tree that is cut literally leaves what a refinement makes more of than of even cuts.
        again: tuple[type[Algorithm], dict[str, str]] = (LMember, {"variant": "intuitive"}) if judged else (KMember, {})
        for kind, own in (again, (Mdav, {}), (Mst, {"cut": "literal"})):
            yield from attempt(kind, little, **rule, **own, **_refinement(rebuildings))
        yield from self._optimal(trial, attempt)

    def _optimal(self, trial: _Trial, attempt: Callable[..., Iterator[_Step]]) -> Iterator[_Step]:
        """The optimal search, where leaving records out may make it the best, or the only one with an answer, or where
        it alone looks across classes."""
        if (trial.policy.suppression > 0 or trial.policy is not trial.whole_policy) and "mean" not in trial.published:
            yield from attempt(Optimal, check_limit=CHECKS)

    def _thoroughness(self, dataset: Dataset, policy: Policy) -> tuple[int, float]:
        """How often refinements rebuild for each record, and the work of one."""
        works = [(many, share, refining(dataset, policy, many)) for many, share in THOROUGH]
        fitting = ((many, work) for many, share, work in works if 2 * work <= share * self.budget)
        return next(fitting, (works[-1][0], works[-1][2]))


def _spelled(kind: type[Algorithm], parameters: dict[str, Any]) -> str:
    """An algorithm as it is written on the command line."""
    name = kind.__module__.rpartition(".")[2].replace("_", "-")
    return ":".join(filter(None, (name, ",".join(_written(parameters)))))


def _plain(name: str) -> str:
    """What somebody who watches a run calls an attempt: the algorithm, and whether its result is refined at once."""
    algorithm, _, parameters = name.partition(":")
    return f"{algorithm} with refinement" if "refine=true" in parameters else algorithm


def _written(parameters: dict[str, Any]) -> list[str]:
    """Parameters as they are written on the command line."""
    values = {key: "|".join(value) if isinstance(value, tuple) else str(value) for key, value in parameters.items()}
    return [f"{key}={value.lower() if value in ('True', 'False') else value}" for key, value in values.items()]


def _refinement(rebuildings: int) -> dict[str, Any]:
    """The parameters of a refinement that rebuilds so many times for each record."""
    return {"refine": True, **({} if rebuildings == REBUILDINGS else {"rebuildings": rebuildings})}


def _stopped(name: str, recoding: Recoding, work: float) -> str:
    """The name of an attempt with the work that was allowed, where that is what stopped its refinement."""
    stopped = recoding.facts.get("refinement", {}).get("stopped") == "work"
    return f"{name},work={work:g}" if stopped else name


class _Step(NamedTuple):
    """One attempt: what it does with so much of the budget, and tells what it spent; its work; and `ahead`, what must
    be left of the budget after it for it to make sense."""

    name: str
    take: Callable[[float], float]
    work: float
    ahead: float = 0.0


class _Trial:
    """What the attempts lost, and why some have no loss."""

    def __init__(self, dataset: Dataset, policy: Policy, published: tuple[str, ...], run: Run) -> None:
        self.dataset, self.published, self.run = dataset, published, run
        # All attempts but the optimal search look at a few classes at a time.
        self.whole_policy, self.policy = policy, policy.by_class()
        self.share, self.place = (0.0, 1.0), ""
        self.judged = is_judged(dataset, self.policy)
        self.results: dict[str, tuple[float, Recoding]] = {}
        self.reasons: dict[str, str] = {}
        self.unrefined: list[str] = []
        self.errors: list[ShoalError] = []

    def attempt(self, name: str, method: Algorithm, work: float, spare: float) -> float:
        """Tries an algorithm with so much of the budget, and tells what it took; what it refuses is a reason, not an
        end."""
        if self.results and self.run.expired:
            self.reasons[name] = TIME_IS_UP
            return 0.0
        allowed = 0.0
        if isinstance(method, ClusteringAlgorithm) and method.refine:
            work = replace(method, refine=False).effort(self.dataset, self.policy) or 0.0
            allowed = self._allowance(spare - work, method.rebuildings)
            method = replace(method, time_limit=CLOCK, work=allowed)
        try:
            policy = method.simplified(self.whole_policy)
            recoding = method.search(self.dataset, policy, self._watch(f"trying {_plain(name)}"))
        except (InfeasibleError, ParameterError, SchemaError) as error:
            self.reasons[name] = str(error)
            self.errors.append(error)
            return work
        if not allowed:
            self.unrefined.append(name)
        name = _stopped(name, recoding, allowed)
        self.results[name] = self._loss(recoding), recoding
        return work + float(recoding.facts.get("refinement", {}).get("work", 0.0))

    def refine(self, step: str, rebuildings: int, spare: float) -> float:
        """Refines the best attempt that is not refined yet, as its algorithm would have done; tells what it took."""
        name = min(self.unrefined, key=lambda name: self.results[name][0], default=None)
        if name is None:
            return 0.0
        if self.run.expired:
            self.reasons[step] = TIME_IS_UP
            return 0.0
        loss, base = self.results[name]
        if self.judged and self.policy.objective is None and loss > HOPELESS * self._least:
            self.reasons[step] = f"no other attempt loses less than {HOPELESS:g} times as much as the best one"
            return 0.0
        self.unrefined.remove(name)
        assert base.plan is not None
        records = self.records
        owners = base.plan.owners if base.plan.by_record else base.plan.owners[records.tuples]
        watch, work = self._watch(f"improving the result of {_plain(name)}"), self._allowance(spare, rebuildings)
        owners, facts = refined(records, owners, CLOCK, watch, rebuildings=rebuildings, work=work)
        owners, _ = merged_as_published(records, owners, watch)
        recoding = records.recoding(owners, {**base.facts, "refinement": facts})
        spelled = ",".join((name, *_written(_refinement(rebuildings))))
        self.results[_stopped(spelled, recoding, work)] = self._loss(recoding), recoding
        return float(facts["work"])

    @property
    def _least(self) -> float:
        return min(loss for loss, _ in self.results.values())

    def _allowance(self, spare: float, rebuildings: int) -> float:
        """Million steps after which a refinement stops, as they are written: what can be spared; and where sizes are
        all that counts, as much as its work can be underestimated."""
        doubled = 2 * refining(self.dataset, self.policy, rebuildings) / larger(self.policy.least)
        least = 0.0 if self.judged else doubled
        return max(floor(100 * max(spare, least)) / 100, 0.01)

    @cached_property
    def records(self) -> Records:
        return Records.of(self.dataset, self.policy, self.published)

    def _watch(self, doing: str) -> Run:
        """Says what is being tried, and gives the part of the run for it."""
        begin, end = self.share
        message = f"{doing} ({self.place})"
        self.run.report(begin, message)
        return Run(
            lambda share, step: self.run.report(begin + share * (end - begin), f"{message}: {step}"), within=self.run
        )

    def _loss(self, recoding: Recoding) -> float:
        draft, objective = DraftRelease.of(self.dataset, recoding, self.policy), self.policy.objective
        if objective is None:
            cells = self.dataset.records * len(self.dataset.hierarchies)
            return float(misclassifications(self.dataset, draft).sum()) / cells
        name = type(objective).__name__
        try:
            value = objective.score(self.dataset, draft).value
        except NotDefined as reason:
            raise ParameterError(f"auto cannot minimize {name}: {reason}; {ANOTHER}") from None
        if not isinstance(value, (int, float)):
            raise ParameterError(f"auto cannot minimize {name}, which has no value for this table; {ANOTHER}")
        return value

    def best(self) -> Recoding:
        """The recoding that loses least, with what is known of all; or the refusal that helps most."""
        if not self.results:
            # That no release exists says more than what an algorithm cannot do, and the last one looked closest.
            infeasible = [error for error in self.errors if isinstance(error, InfeasibleError)]
            raise infeasible[-1] if infeasible else self.errors[0]
        losses = {name: loss for name, (loss, _) in self.results.items()}
        chosen = min(losses, key=losses.__getitem__)
        recoding = self.results[chosen][1]
        by = "LM" if self.policy.objective is None else type(self.policy.objective).__name__
        facts = {"chosen": chosen, "minimized": by, "losses": losses, "reasons": self.reasons}
        return replace(recoding, facts={**recoding.facts, **facts})
