"""The default: several algorithms are tried, and the release that loses least is taken."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import log2, sqrt
from typing import Annotated, Any, ClassVar, NamedTuple

from annotated_types import Ge
from typing_extensions import Doc

from shoal.algorithms._clustering import ClusteringAlgorithm, Numeric, Publish, outputs
from shoal.algorithms._records import Records
from shoal.algorithms._refinement import REBUILDINGS, refined
from shoal.algorithms.dependency_safe import DependencySafe
from shoal.algorithms.full_domain.optimal import Optimal
from shoal.algorithms.k_member import KMember
from shoal.algorithms.mdav import Mdav
from shoal.algorithms.mondrian import Mondrian
from shoal.algorithms.mst import Mst
from shoal.algorithms.two_phase import TwoPhase
from shoal.core.contracts.algorithm import Algorithm
from shoal.core.dataset import Dataset
from shoal.core.lattice import Lattice
from shoal.core.parameters import Examples
from shoal.core.policy import Policy
from shoal.core.recoding import Recoding
from shoal.core.run import Run
from shoal.errors import InfeasibleError, NotDefined, ParameterError, SchemaError, ShoalError
from shoal.publishing.draft import DraftRelease
from shoal.publishing.losses import misclassifications

MILLION = 1e6
CHECKS = 2_000
"""Nodes of the lattice that the optimal search checks at most."""
ENDLESS = 1e9
"""Seconds for a refinement: its work is counted before it begins, and a clock would make releases differ."""
THOROUGH = ((REBUILDINGS, 0.1), (8, 1.0), (2, 2.0))
"""How often, for each record, refinements rebuild: the first of these of which two take no more than a share of the
budget. With eight a release loses some 2 % more than with all, in two thirds of the time."""
LITTLE = 0.1
"""Of the budget, what may be spent when a further beginning ends."""
TIME_IS_UP = "the time was up"
ANOTHER = "choose another objective, or name an algorithm"


@dataclass(frozen=True, kw_only=True)
class Auto(Algorithm):
    """Tries several algorithms as far as a budget of work goes, and takes the release that loses least.

    First come `mondrian` and `two-phase`, then the refinement of the better one, then that of the other, then
    `k-member`, `mdav` and `mst` with refinement on tables so small that all this takes a tenth of the budget. The
    larger the table, the less a refinement rebuilds. Where records may be left out `optimal`
    is tried too, which follows the hierarchies. Where a model judges all classes together nothing is refined, and
    `dependency-safe` is tried too. All others publish values by the same rule. What is compared is the policy's
    objective, and without one the loss metric LM, which these algorithms minimize. Of equal losses the one
    that was tried first wins.

    The budget is counted in steps, which follow from the number of distinct tuples, the columns and k before anything
    is tried, never in seconds: the same seed gives the same release on a fast and on a slow machine. Mondrian is
    always tried. The facts of the recoding say what was `chosen`, the `losses`
    of all that were tried, and the `reasons` why others have none. Only a deadline of the run lets the machine have a
    say.

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
        whole, done = sum(step.work for step in steps), 0.0
        for number, step in enumerate(steps, 1):
            trial.share = done / whole, (done + step.work) / whole
            trial.place = f"{number} of {len(steps)}"
            step.take()
            done += step.work
        return trial.best()

    def _steps(self, trial: _Trial) -> Iterator[_Step]:
        """Every attempt, in the order in which they are tried as long as the budget lasts."""
        rule: dict[str, Any] = {"numeric": self.numeric, **({"publish": self.publish} if self.publish else {})}
        work = _Work.of(trial.dataset, trial.policy)

        def attempt(name: str, method: Algorithm, work: float, ahead: float = 0.0, **named: Any) -> _Step:
            spelled = _spelled(name, named)
            return _Step(spelled, partial(trial.attempt, spelled, method), work, ahead)

        yield attempt("mondrian", Mondrian(**rule), work.cutting, **rule)
        together = any(model.whole_table for model in trial.policy.models)
        if together:  # a refinement looks at a few classes at a time
            yield attempt("two-phase", TwoPhase(**rule), work.growing, **rule)
            yield attempt("k-member", KMember(**rule), work.growing, **rule)
        else:
            # Clusters are not worth growing if nothing is left to refine them.
            rebuildings, refining = self._thoroughness(work)
            yield attempt("two-phase", TwoPhase(**rule), work.growing, refining, **rule)
            for name in ("refining the best one", "refining the second best one"):
                yield _Step(name, partial(trial.refine, name, rebuildings), refining)
            # Where classes are few, luck decides, and further beginnings are worth their little work.
            # A spanning tree that is cut literally leaves what a refinement makes more of than of even cuts.
            beginnings: tuple[tuple[str, type[ClusteringAlgorithm], float, dict[str, Any]], ...] = (
                ("k-member", KMember, work.growing, {}),
                ("mdav", Mdav, work.averaging, {}),
                ("mst", Mst, work.spanning, {"cut": "literal"}),
            )
            for name, kind, begun, own in beginnings:
                method = kind(**rule, **own, refine=True, time_limit=ENDLESS, rebuildings=rebuildings)
                spelled = {**rule, **own, **_refinement(rebuildings)}
                yield attempt(name, method, begun + refining, (1 - LITTLE) * self.budget, **spelled)
        if trial.policy.suppression > 0 and "mean" not in trial.published:
            yield attempt("optimal", Optimal(check_limit=CHECKS), work.checking)
        if together:
            yield attempt("dependency-safe", DependencySafe(**rule), work.growing, **rule)

    def _thoroughness(self, work: _Work) -> tuple[int, float]:
        """How often refinements rebuild for each record, and the work of one."""
        fitting = (many for many, share in THOROUGH if 2 * work.refining(many) <= share * self.budget)
        rebuildings = next(fitting, THOROUGH[-1][0])
        return rebuildings, work.refining(rebuildings)


def _refinement(rebuildings: int) -> dict[str, str]:
    """A refinement as it is written on the command line."""
    return {"refine": "true", **({"rebuildings": str(rebuildings)} if rebuildings != REBUILDINGS else {})}


def _spelled(name: str, parameters: dict[str, Any]) -> str:
    """An algorithm as it is written on the command line."""
    values = {key: value if isinstance(value, str) else "|".join(value) for key, value in parameters.items()}
    return ":".join(filter(None, (name, ",".join(f"{key}={value}" for key, value in values.items()))))


class _Step(NamedTuple):
    """One attempt and its work; `ahead` is what must be left of the budget after it for it to make sense."""

    name: str
    take: Callable[[], None]
    work: float
    ahead: float = 0.0


class _Work(NamedTuple):
    """Million steps that each kind of attempt takes, as measured on tables of 300 to 300,000 records."""

    cutting: float
    growing: float
    averaging: float
    spanning: float
    exchanging: float
    rebuilding: float
    checking: float

    def refining(self, rebuildings: int) -> float:
        """A refinement that rebuilds so many times for each record."""
        return self.exchanging + self.rebuilding * rebuildings

    @classmethod
    def of(cls, dataset: Dataset, policy: Policy) -> _Work:
        tuples = max(len(dataset.summary), 1)
        cells = tuples * len(dataset.hierarchies) / MILLION
        nodes = min(Lattice.of(dataset.hierarchies).size, CHECKS)
        return cls(
            cutting=0.02 * cells * log2(tuples + 2),
            growing=0.5 * cells * tuples**0.3,
            averaging=0.018 * cells * tuples / policy.least,
            spanning=0.05 * cells * tuples,
            exchanging=6 * cells * sqrt(policy.least),
            rebuilding=0.55 * cells * sqrt(policy.least),
            checking=0.05 * cells * nodes,
        )


class _Trial:
    """What the attempts lost, and why some have no loss."""

    def __init__(self, dataset: Dataset, policy: Policy, published: tuple[str, ...], run: Run) -> None:
        self.dataset, self.policy, self.published, self.run = dataset, policy, published, run
        self.share, self.place = (0.0, 1.0), ""
        self.results: dict[str, tuple[float, Recoding]] = {}
        self.reasons: dict[str, str] = {}
        self.unrefined: list[str] = []
        self.errors: list[ShoalError] = []

    def attempt(self, name: str, method: Algorithm) -> None:
        """Tries an algorithm; what it refuses is a reason, not an end."""
        if self.results and self.run.expired:
            self.reasons[name] = TIME_IS_UP
            return
        try:
            recoding = method.search(self.dataset, self.policy, self._watch(f"trying {name}"))
        except (InfeasibleError, ParameterError, SchemaError) as error:
            self.reasons[name] = str(error)
            self.errors.append(error)
        else:
            self.results[name] = self._loss(recoding), recoding
            self.unrefined.append(name)

    def refine(self, step: str, rebuildings: int) -> None:
        """Refines the best attempt that is not refined yet, as its algorithm would have done."""
        if not self.unrefined:
            return
        if self.run.expired:
            self.reasons[step] = TIME_IS_UP
            return
        name = min(self.unrefined, key=lambda name: self.results[name][0])
        self.unrefined.remove(name)
        base = self.results[name][1]
        assert base.plan is not None
        records = self.records
        owners = base.plan.owners if base.plan.by_record else base.plan.owners[records.tuples]
        watch = self._watch(f"refining {name}")
        owners, facts = refined(records, owners, ENDLESS, watch, rebuildings=rebuildings)
        recoding = records.recoding(owners, {**base.facts, "refinement": facts})
        spelled = ",".join((name, *(f"{key}={value}" for key, value in _refinement(rebuildings).items())))
        self.results[spelled] = self._loss(recoding), recoding

    @cached_property
    def records(self) -> Records:
        return Records.of(self.dataset, self.policy, self.published)

    def _watch(self, doing: str) -> Run:
        """Says what is being tried, and gives the part of the run for it."""
        begin, end = self.share
        message = f"{doing}, {self.place}"
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
