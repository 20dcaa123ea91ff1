"""What a model, a metric, an algorithm, a hierarchy builder, a form, an attack and an engine must offer."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from shoal.core.finding import Finding
from shoal.core.grouping import Codes, Counts
from shoal.core.parameters import Parametrized
from shoal.core.read_request import AS_IT_IS, Description, Opening
from shoal.errors import NotDefined, ParameterError
from shoal.storage.files import replacing_all, sha256

if TYPE_CHECKING:
    from shoal.core.blocks import Blocks
    from shoal.core.classes import Classes
    from shoal.core.dataset import Dataset
    from shoal.core.displacement import Displacement
    from shoal.core.hierarchy import Hierarchy
    from shoal.core.policy import Policy
    from shoal.core.pseudonyms import Pseudonyms
    from shoal.core.recoding import Recoding
    from shoal.core.release import Release
    from shoal.core.release_history import History, Seen
    from shoal.core.run import Run
    from shoal.core.schema import Kind, Schema
    from shoal.core.survey import Overview, Survey
    from shoal.core.values import Values
    from shoal.storage.checkpoint import Checkpoint


Levels = NDArray[Any]

SLACK = 1e-12
"""How far rounding may carry a level past its bound, as a share of a bound above 1. What is a tie by the definition
keeps the bound; whatever else this lets through differs from a tie by less than anyone can use."""


UNBOUNDED = "1e300"
"""What stands for infinity in SQL, which has no number for it."""


class Model(Parametrized, ABC):
    """A privacy model: gives every class a level and bounds it by a parameter. The worst class decides.

    This is the one definition of the notion: anonymizing, verifying and the questions of the diagnosis all ask it.
    """

    asks: ClassVar[str]
    """The parameter that bounds the level, which questions of the diagnosis are about."""

    level: ClassVar[str]
    """The name of the level, which is the name of the finding."""

    how: ClassVar[str]
    """How the level of a table is computed."""

    unit: ClassVar[str] = ""
    """What the level counts, as `Finding.unit` says it."""

    more_is_safer: ClassVar[bool] = True
    """Whether the bound is the least level that a class may have, or the greatest."""

    merge_monotone: ClassVar[bool]
    """Whether the union of two classes that satisfy it satisfies it too. Then adding attributes never makes the level
    of a table better, and questions can be asked about sets of attributes."""

    suppression_monotone: ClassVar[bool]
    """Whether a class that satisfied it still does when records of other classes are left out.

    What a class is compared with, the population, stays that of the whole original table.
    """

    growth_monotone: ClassVar[bool] = False
    """Whether a class that satisfies it still does when any records join it; then no part of a class that breaks it
    satisfies it, and searches prune far more."""

    whole_table: ClassVar[bool] = False
    """Whether the level of a class depends on the other classes too. Then classes are judged all together: searches
    that look at a few at a time refuse it, and questions about sets of attributes are not asked."""

    by_size: ClassVar[bool] = False
    """Whether its level is the size of the class, so that a class satisfies it as soon as it has `least` records."""

    identity: ClassVar[bool] = False
    """Whether it is about telling people apart, not only about what is learned of them."""

    by_population: ClassVar[bool] = False
    """Whether it compares a class with the whole table, whose counts of sensitive values a manifest then must state."""

    needs_sensitive: ClassVar[bool] = False
    """Whether it looks at sensitive values."""

    counts_people: ClassVar[bool] = False
    """Whether it counts people, not records, where a table says whose each record is."""

    examples: ClassVar[tuple[Mapping[str, Any], ...]]
    """Parameters of models that make sense, and that together show every parameter. Examples are about a column
    `disease`, some of whose values are `cancer`, `flu` and `hiv`."""

    @property
    def least(self) -> int:
        """A size that every class that satisfies it has."""
        return 1

    @property
    def variety(self) -> int:
        """How many different sensitive values every class that satisfies it has at least."""
        return 1

    @property
    def bound(self) -> float | int:
        """What the level of every class is held against."""
        value: float | int = getattr(self, self.asks)
        return value

    @property
    def claim(self) -> str:
        """What a table is that satisfies it, in a few words."""
        return f"{self.level} {'at least' if self.more_is_safer else 'at most'} {self.bound:g}"

    @property
    def whole(self) -> bool:
        """Whether levels are whole numbers."""
        return isinstance(self.bound, int)

    @property
    def threshold(self) -> float:
        """The worst level that keeps the bound."""
        if self.whole:
            return self.bound
        slack = SLACK * max(abs(self.bound), 1.0)
        return self.bound - slack if self.more_is_safer else self.bound + slack

    @abstractmethod
    def levels(self, classes: Classes) -> Levels:
        """The level of each class: the safest value of the parameter `asks` with which the class satisfies the model,
        whatever that parameter is now; infinitely bad when there is none."""

    def keeps(self, levels: Levels) -> NDArray[np.bool_]:
        """Which levels keep the bound."""
        kept: NDArray[np.bool_] = levels >= self.threshold if self.more_is_safer else levels <= self.threshold
        return kept

    def holds(self, classes: Classes) -> NDArray[np.bool_]:
        """For each class, whether it satisfies the model."""
        return self.keeps(self.levels(classes))

    def judge(self, classes: Classes) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """For each class, whether it satisfies the model, and how many of its records have to be left out at least,
        however it is split. A model that knows more than that one part breaks it lets searches prune more."""
        holds = self.holds(classes)
        return holds, np.where(holds | (not self.merge_monotone), 0, 1)

    def measure(self, classes: Classes) -> Finding:
        """The level of the model that the classes have, held against the parameter."""
        levels = self.levels(classes)
        return Finding(
            name=self.level, value=self.told(self.worst(levels)), bound=self.bound,
            holds=bool(self.keeps(levels).all()), how=self.said(classes), claim=self.claim,
            unit="people" if self.unit == "records" and classes.people is not None else self.unit,
        )  # fmt: skip

    def said(self, classes: Classes) -> str:
        """How the level of such classes is computed."""
        return self.how if classes.people is None else f"{self.how}, counted in people"

    def worst(self, levels: Levels) -> float | int:
        """The worst of some levels; 0 when there are none."""
        found: float | int = (levels.min() if self.more_is_safer else levels.max()).item() if len(levels) else 0
        return found

    def told(self, level: float) -> float | int:
        """A level as people read it."""
        return int(level) if self.whole and math.isfinite(level) else level

    def sql(self) -> str | None:
        """The level of a class as an SQL aggregate, where it has one.

        It is over the rows of a class, or with `needs_sensitive` over its distinct sensitive values: `n` counts one in
        the class, `prior` in the whole table; `size` and `records` count the class and the table, `most` is the
        greatest n of the class, and `tail` the sum of n over this value and all that are no more frequent. `mass` and
        `whole` sum n over the class and the table, which differs where people are counted and have several values.

        The query of a release knows more: `chosen` is 1 where the model is about the value, else 0; `ahead` sums
        n/mass − prior/whole over this value and all before it; `apart` is the value's part of the distance of the class
        from the table along the hierarchy; `twins` counts the values that occur as often in every class. Where
        `sql_every` holds, the aggregate is over all values of the table, n being 0 where a class lacks one.
        """
        return None

    @property
    def sql_every(self) -> bool:
        """Whether `sql` is also over values that a class lacks."""
        return False

    def check_people(self) -> None:
        """Raises when it would take records for people."""
        if not self.counts_people:
            raise ParameterError(f"{type(self).__name__} does not count people; leave it or the person column out")

    def concealed(self, schema: Schema) -> Model:
        """The same model as a manifest may show it: without any value of a cell among its parameters."""
        return self


class Metric(Parametrized, ABC):
    """A measure of what a release lost, or of what it is still good for."""

    quick: ClassVar[bool] = True
    """Whether it takes next to no time once classes are known. Every release is measured by the quick ones when it is
    made; `evaluate` measures by all."""

    flawless: ClassVar[float | None] = None
    """What the table itself scores, where the definition says it, so that nobody has to compute it."""

    compared: ClassVar[bool] = True
    """Whether its value for the table as it is, and for one with everything hidden, tells anything."""

    @abstractmethod
    def score(self, dataset: Dataset, release: Release) -> Finding:
        """The measure of a release of a dataset."""


class Algorithm(Parametrized, ABC):
    """An anonymizer: decides how a table is recoded so that a policy holds."""

    counts_people: ClassVar[bool] = False
    """Whether it keeps models that count people, of whom some have several records."""

    claims: ClassVar[bool] = True
    """Whether what it makes satisfies a policy, which then needs a model; a perturbation claims nothing."""

    in_blocks: ClassVar[bool] = False
    """Whether it recodes a block of a table as it would a table: each class on its own, published as ranges."""

    extras: ClassVar[Mapping[str, str]] = {}
    """Optional packages that it imports, and the extra that installs each; they are looked for before any work."""

    @property
    def by_record(self) -> bool:
        """Whether it works on records one by one, not on distinct tuples, so that many records take it long."""
        return False

    @property
    def unverified(self) -> bool:
        """Whether what it makes need not satisfy the policy that it aims at. It is published only when that is allowed
        by name, and claims nothing."""
        return False

    def remembering(self, dataset: Dataset, history: History) -> Dataset:
        """The table with what it must know of earlier releases, such as values that nobody has now."""
        return dataset

    @property
    def seed_protects(self) -> bool:
        """Whether whoever finds its seed undoes it: values were changed at random, or choices were drawn so that nobody
        can repeat them. Such a seed is mixed with randomness of the operating system."""
        return any(isinstance(part, Algorithm) and part.seed_protects for part in vars(self).values())

    def displacement(self, before: NDArray[np.float64], after: NDArray[np.float64]) -> Displacement | None:
        """How far it moves numbers, records by columns before and after, as whoever knows the algorithm does; None
        where that says nothing about whose record is whose."""
        return None

    @abstractmethod
    def search(self, dataset: Dataset, policy: Policy, run: Run) -> Recoding:
        """The recoding; raises `InfeasibleError` when no release satisfies the policy."""


class Builder(Parametrized, ABC):
    """Makes a hierarchy for the distinct values of a column."""

    @abstractmethod
    def build(self, values: Values) -> Hierarchy:
        """The hierarchy; raises `HierarchyError` when the values do not suit it."""


What = Literal["cell", "raw", "group", "count", "pseudonym", "changed"]


@dataclass(frozen=True, kw_only=True)
class Shown:
    """One column of a published table.

    `what` says what stands in it: the plan's `cell` of a quasi-identifier, the `raw` value of a column, the number of
    the record's `group`, the `count` of equal rows, a `pseudonym`, or what a perturbation `changed`.
    """

    name: str
    what: What


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """One published table: a row a record, or a row a distinct combination where there is a `count`."""

    part: str
    columns: tuple[Shown, ...]

    @property
    def counted(self) -> str | None:
        """The column that counts equal rows."""
        return next((column.name for column in self.columns if column.what == "count"), None)


class Published(Protocol):
    """A published table in an engine's hands."""

    @property
    def records(self) -> int:
        """The number of rows."""
        ...

    @property
    def names(self) -> Sequence[str]:
        """The columns, in order."""
        ...

    def labels(self, name: str) -> Sequence[str | None]:
        """The distinct values of a column as a recipient reads them, as text in ascending order, missing last;
        `group` uses their positions as codes."""
        ...

    def places(self, name: str) -> Codes:
        """For each entry of the codebook that a quasi-identifier was published by, its position in `labels`;
        negative where it does not occur."""
        ...

    def group(
        self,
        attributes: Sequence[str],
        sensitive: Sequence[tuple[str, Hierarchy | None]],
        *,
        count: str | None = None,
        person: str | None = None,
    ) -> Classes:
        """The classes of the published values. Sensitive codes are leaves, or positions in `labels`. Rows count as
        often as the column `count` says, and are those of the people that the column `person` names."""
        ...

    def codes(self, name: str) -> Codes:
        """A column row by row, in the order of the table, as positions in `labels`."""
        ...

    def frame(self) -> Any:
        """The table as the type that came in."""
        ...

    def write(self, path: Path, *, rows_per_file: int, run: Run) -> None:
        """Writes the table in the format that the path's ending names; where it has none, as a folder of Parquet files
        of so many rows, as `core.files.piece` names them. The run is told how far it is, and can stop it."""
        ...


class Table(Protocol):
    """A table in an engine's hands: what touches rows, and the summary."""

    @property
    def records(self) -> int: ...

    @property
    def source(self) -> Any:
        """The `Source` that it was read from."""
        ...

    def group(self, attributes: Sequence[str], sensitive: Sequence[str], *, person: str | None = None) -> Classes:
        """Distinct tuples with counts and histograms, and with whose the records are where a person column is named,
        computed where the data live."""
        ...

    def repeated(self, name: str) -> int:
        """How many records have a value in a column that an earlier one has, whatever the role of the column."""
        ...

    def codes(self, name: str) -> Codes:
        """A column as integers, row by row."""
        ...

    def listed(self, quasi: Sequence[str], names: Sequence[str], seed: int) -> tuple[Codes, ...]:
        """Columns as integers, records by quasi-identifier tuple, those of one tuple by a hash of the whole record
        that is keyed with the seed."""
        ...

    def digests(self, names: Sequence[str], key: int, quasi: Sequence[str], seed: int) -> NDArray[np.uint64]:
        """A keyed hash of some columns of each record, whatever their role, records in the order of `listed`; values
        that differ only in their spelling (`one_spelling`) have one hash."""
        ...

    def numbers(self, names: Sequence[str], seed: int) -> dict[str, NDArray[np.float64]]:
        """Numeric columns, missing values as not-a-number, records by their keyed hash."""
        ...

    def survey(self, names: Sequence[str], counted: Sequence[str], *, records: int, values: int, run: Run) -> Survey:
        """A look at columns as they stand at the source, of at most so many records and distinct values; the
        `counted` ones among them are counted over all records where they can be looked at."""
        ...

    def publish(
        self,
        schema: Schema,
        recoding: Recoding,
        sheets: Sequence[Sheet],
        *,
        seed: int,
        pseudonyms: Pseudonyms | None,
        run: Run,
    ) -> dict[str, Published]:
        """The tables of a release by their parts: the plan carried out, without what it withholds.

        The order of the rows of a table follows from their content alone.
        """
        ...


@runtime_checkable
class Divisible(Table, Protocol):
    """A table in an engine's hands that can be worked on block by block, so that no more than a block of it has to fit
    into memory. With these two questions any local recoding runs on any engine."""

    def sampled(self, names: Sequence[str], records: int, seed: int) -> tuple[Codes, ...]:
        """Columns as integers, of so many records at most: those whose keyed hash is least, so that neither the order
        of the rows nor the engine decides which ones."""
        ...

    def within(self, quasi: Sequence[str], low: Sequence[int], high: Sequence[int]) -> Table:
        """The records whose leaves in some columns lie between these, both included, as a table of their own."""
        ...


@runtime_checkable
class Spread(Divisible, Protocol):
    """A divisible table that lies on several machines, which work on its blocks side by side."""

    def map_blocks(
        self, schema: Schema, blocks: Blocks, work: Callable[[Dataset], Any], *, seed: int, run: Run, doing: str
    ) -> list[Any]:
        """What some `work` makes of each block, in their order. A block is a table in the memory of the machine that
        works on it, whose records can be `listed` by the quasi-identifiers and this seed, and nothing else of which
        is there: neither its source nor other columns than those with a role. Whatever Shoal raises there is raised
        here."""
        ...


class Engine(Parametrized, ABC):
    """Where tables live and are worked on: the only code that touches rows."""

    @property
    def at_a_time(self) -> int | None:
        """How many records an algorithm is given at a time that works on them one by one and can do so in blocks; None:
        all of a table."""
        return None

    @classmethod
    def takes(cls, source: Any) -> bool:
        """Whether it is the engine for such a source, unless another one is named."""
        return False

    @abstractmethod
    def open(self, source: Any, opening: Opening = AS_IT_IS) -> Source:
        """A path or a frame, opened and not yet read."""

    @abstractmethod
    def read(
        self, source: Source, description: Description, *, run: Run | None = None, checkpoint: Checkpoint | None = None
    ) -> Dataset:
        """The dataset. The `run` is told how far it is, and can stop it. What took long is kept in the `checkpoint` and
        taken from there; an engine that has nothing to keep leaves it alone."""

    @abstractmethod
    def look(self, source: Source) -> Overview:
        """Every column, and the distinct rows: counted where the table is."""

    @abstractmethod
    def open_published(self, path: Path, kinds: Mapping[str, Kind] | None = None) -> Published:
        """A release file, as a recipient reads it; `kinds` say what the values of its columns are, by which equal ones
        are known."""

    @abstractmethod
    def check_format(self, path: Path) -> None:
        """Refuses a path whose ending names no format that a release can be written in."""

    def watched(self, run: Run, doing: str) -> AbstractContextManager[None]:
        """Meanwhile, what this thread asks of published tables stops when the run is cancelled, which is told how far
        that is."""
        return nullcontext()

    def in_database(self, path: Path) -> bool:
        """Whether a path names no file or folder, but a table of a database."""
        return False

    def replacing(self, *paths: Path) -> AbstractContextManager[tuple[Path, ...]]:
        """Places beside those where a release is to be, to write to and to read from again. They take the others'
        places together when all went well; otherwise everything stays as it was."""
        return replacing_all(*paths)

    def digest(self, path: Path) -> str:
        """What changes when a published table does: the hash of its files, or of its rows in a database."""
        return sha256(path)

    def exists(self, path: Path) -> bool:
        """Whether there may be a published table at a path; a database tells when it is opened."""
        return path.exists()


class Source(Protocol):
    """A table that was opened: its columns are known, its rows are not read."""

    @property
    def names(self) -> Sequence[str]: ...

    @property
    def files(self) -> Mapping[Path, tuple[int, int]]:
        """The files that it is read from, with their sizes and times; none where it lies elsewhere."""
        ...


@dataclass(frozen=True, eq=False)
class Cells:
    """How precise the published quasi-identifiers are: for each attribute and class the range of leaves that the
    published value stands for, the level of the hierarchy it is at, and the length of its interval."""

    low: Codes
    high: Codes
    levels: Codes
    lengths: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Where people can be: person `p` is in class `classes[i]` with probability `chances[i]`, for `i` from
    `starts[p]` up to `starts[p + 1]`; nowhere when there is none."""

    starts: Counts
    classes: Codes
    chances: NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Linked:
    """Columns of a published table that stand together for a record.

    Which row belongs to which row of another such set is told only as far as both are of the same group, which the
    columns `group` name. Rows count as often as the column `count` says. With `multisets`, a cell of the one column
    holds the values of the whole group.
    """

    part: str
    columns: tuple[str, ...]
    group: tuple[str, ...] = ()
    count: str | None = None
    multisets: bool = False


@dataclass(frozen=True, eq=False)
class Distribution:
    """What a form publishes of some columns together: part `groups[e]` of the records has, `counts[e]` times, the
    leaves `leaves[:, e]` in the `columns`."""

    columns: tuple[str, ...]
    groups: Codes
    leaves: Codes
    counts: Counts


class View(ABC):
    """What an attacker can read from a release. What a form does not tell is refused with the reason."""

    truthful: ClassVar[bool]
    """Whether what is published of a record is true of it, however coarse."""

    @abstractmethod
    def people(self) -> Classes:
        """The records that nobody can tell apart by the published quasi-identifiers."""

    @abstractmethod
    def groups(self) -> Classes:
        """The groups that tell about the sensitive values of their members."""

    def judged_by(self, model: Model) -> Classes:
        """The classes that a model is about."""
        return self.people() if model.identity else self.groups()

    @abstractmethod
    def cells(self) -> Cells:
        """How precise the published values of `people` are."""

    @abstractmethod
    def candidates(self, people: Codes) -> Candidates:
        """The groups in which people can be whose quasi-identifiers are the leaves `people[:, p]`."""

    def placed(self, recoding: Recoding) -> Codes:
        """For each class of a plan, the group that it is published as; negative: nothing of it is published."""
        raise NotDefined("this form does not say in which group a person is")

    @abstractmethod
    def linked(self) -> tuple[Linked, ...]:
        """Which published columns stand together for a record."""

    def owners(self, dataset: Dataset, recoding: Recoding) -> Codes:
        """For each entry of a plan of the dataset, the group that it is published in; negative: it is not."""
        assert recoding.plan is not None
        owners, placed = recoding.plan.owners, self.placed(recoding)
        found: Codes = np.where(owners >= 0, placed[owners], np.int32(-1)).astype(np.int32)
        return found

    def distributions(self) -> tuple[Distribution, ...]:
        """What is published of columns that stand together, part by part of the records; nothing is told about how
        columns of different distributions go together inside a part."""
        raise NotDefined("this form publishes ranges of values, not how often each value occurs")

    @abstractmethod
    def check(self, dataset: Dataset, recoding: Recoding) -> None:
        """Raises `VerificationError` unless the published tables of the dataset say what was decided."""

    def agreement(self) -> tuple[Finding, ...]:
        """Whether the tables of a release agree with one another, where a form has several."""
        return ()


class Form(Parametrized, ABC):
    """A way to publish: which tables there are, and what an attacker reads from them."""

    @abstractmethod
    def sheets(self, schema: Schema, *, pseudonyms: bool) -> tuple[Sheet, ...]:
        """The tables that are published; the main one, whose part has no name, first."""

    @abstractmethod
    def view(self, release: Release) -> View:
        """What the published tables of a release say."""


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """How often an attack succeeds, how often the same guess does without the release, and the worst record.

    The `baseline` is the best guess without the release; `random` is that of somebody who guesses as often as a value
    occurs. `above` is the share of the people whose risk is above the `threshold`. `control` is the success of the
    same attack on people who were held out of the release. Attacks on classes are computed, not sampled, and have no
    `interval`; that of a sampled success is Wilson's. `knew` says what the attacker knew, `meaning` what the figures
    mean. Where it is a `lower_bound`, somebody with the same knowledge may do better in another way.
    """

    name: str
    success: float
    baseline: float
    worst: float
    above: float
    threshold: float
    knew: str
    meaning: str
    random: float | None = None
    control: float | None = None
    interval: tuple[float, float] | None = None
    lower_bound: bool = False
    detail: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def over(
        cls, risks: NDArray[np.float64], people: Counts, *, threshold: float, hits: float | None = None, **told: Any
    ) -> Attempt:
        """The attempt whose risk is `risks[g]` for each of `people[g]` people: its success is the mean, or `hits` of
        all people where that is known without rounding. What rounding alone carries past the threshold is at it."""
        everybody = int(people.sum())
        risks = np.where(np.abs(risks - threshold) <= SLACK, threshold, risks)
        counted = risks[people > 0]
        worst = float(counted.max(initial=0.0))
        expected = float(risks @ people) if hits is None else hits
        return cls(
            success=min(expected / everybody, worst) if everybody else 0.0,
            worst=worst,
            above=int(people[risks > threshold].sum()) / everybody if everybody else 0.0,
            threshold=threshold,
            **told,
        )

    @property
    def gains(self) -> bool:
        """Whether the release helps the attacker at all."""
        return self.success > self.baseline * (1 + SLACK)

    def as_dict(self) -> dict[str, Any]:
        """The attempt as JSON holds it."""
        optional = ("random", "control", "interval", "detail")
        told = {name: value for name, value in vars(self).items() if name not in optional or value not in (None, {})}
        return {**told, "gains": self.gains}


@dataclass(frozen=True, kw_only=True)
class Known:
    """What an attacker has beside the release: an `external` table about people, with the quasi-identifiers that it
    shares with the release; `earlier` releases about some of the same people, laid beside this one as `later`; and, to
    measure by, people who were `held_out` of the release. Where releases cannot be laid beside one another, there are
    none, and the `obstacle` says why."""

    external: Dataset | None = None
    earlier: tuple[Seen, ...] = ()
    later: Seen | None = None
    obstacle: str = ""
    held_out: Dataset | None = None


class Attack(Parametrized, ABC):
    """An attack that a holder can run against a release before an adversary does. It names no person."""

    @abstractmethod
    def attempt(self, dataset: Dataset, release: Release, known: Known, run: Run) -> Attempt:
        """The figures of the attack; raises `NotDefined` where the form of the release does not allow it, or where it
        needs what is not known."""
