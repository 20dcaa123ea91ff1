"""What a table in an engine's hands must offer: opened, read, and published.

A release has the same bytes on every engine. So engines have to agree on these things; `engines/common/` has code for
all of them, and an engine that does its work elsewhere must come to the same results.

**What a value says.** Values that say the same are one value, whatever their type and spelling (`parsing.identity`):
`1`, `1.0` and ` 1 ` are one number, a text is taken without the blanks around it, not-a-number and the spellings that
were named are missing, and a zero has no sign. The code of a value is the leaf of its hierarchy. A column with a role
is published, and hashed, in that one spelling; a plain column is published and hashed as it stands at the source, also
where it is encoded because somebody has to know it (`Description.known`).

**The row hash.** The hash of a cell is the last eight bytes, the least first, of the MD5 of a key, `=` and the value as
a text in UTF-8; of a missing value, of the key and `~`. The key is the name of the column and the byte 31; for a hash
that is keyed with a seed, the hexadecimal SHA-256 of the seed in decimal, the byte 31 and the name. The hash of a row
is the sum of those of its cells modulo 2**64, so that the order of the columns does not count. As texts, floats have
seventeen significant digits (`%.17g`), booleans are `true` and `false`, bytes are pairs of hexadecimal capitals, dates
are days since 1970, timestamps are microseconds since then, and times of day and durations are numbers in the unit of
their type. Lists, structs and maps are spelled as JSON is, with `, ` and `: ` between their parts; line ends and
control characters stay as they are, and a map is a list of structs of `key` and `value`.

**Orders.** Records are listed by their quasi-identifiers, leaf by leaf, and those of one tuple by their keyed hash, as
a number without a sign. Published rows stand in the order of the hashes of what is published of them, without a key.

**Files.** Values are written as `engines.common.writing` writes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.core.grouping import Codes

if TYPE_CHECKING:
    from shoal.core.classes import Classes
    from shoal.core.hierarchy import Hierarchy
    from shoal.core.pseudonyms import Pseudonyms
    from shoal.core.recoding import Recoding
    from shoal.core.run import Run
    from shoal.core.schema import Schema
    from shoal.core.survey import Survey


Trees = Sequence[tuple[str, "Hierarchy | None"]]
"""Sensitive columns, each with its hierarchy where it has one."""

What = Literal["cell", "raw", "group", "count", "pseudonym", "changed", "weight", "ghost"]


@dataclass(frozen=True, kw_only=True)
class SheetColumn:
    """One column of a published table.

    `what` says what stands in it: the plan's `cell` of a quasi-identifier, the `raw` value of a column, the number of
    the record's `group`, the `count` of equal rows, a `pseudonym`, what a perturbation `changed`, the `weight` of
    the record's class, or as text the value of a `ghost`, which the record's class may hide (`Recoding.hides`).
    """

    name: str
    what: What


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """One published table: a row a record, or a row a distinct combination where there is a `count`."""

    part: str
    columns: tuple[SheetColumn, ...]

    @property
    def count_name(self) -> str | None:
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

    def arrow(self) -> Any:
        """The table as one of Arrow, in its order."""
        ...

    def write(self, path: Path, *, rows_per_file: int, run: Run) -> None:
        """Writes the table in the format that the path's ending names; where it has none, as a folder of Parquet files
        of so many rows, as `core.files.piece` names them. The run is told how far it is, and can stop it."""
        ...


class EngineTable(Protocol):
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

    def count_repeats(self, name: str) -> int:
        """How many records have a value in a column that an earlier one has, whatever the role of the column."""
        ...

    def codes(self, name: str) -> Codes:
        """A column as integers, row by row."""
        ...

    def listing(self, quasi: Sequence[str], names: Sequence[str], seed: int) -> tuple[Codes, ...]:
        """Columns as integers, records by quasi-identifier tuple, those of one tuple by a hash of the whole record
        that is keyed with the seed."""
        ...

    def digests(self, names: Sequence[str], key: int, quasi: Sequence[str], seed: int) -> NDArray[np.uint64]:
        """A keyed hash of some columns of each record, whatever their role, records in the order of `listing`; values
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


class Source(Protocol):
    """A table that was opened: its columns are known, its rows are not read."""

    @property
    def names(self) -> Sequence[str]: ...

    @property
    def files(self) -> Mapping[Path, tuple[int, int]]:
        """The files that it is read from, with their sizes and times; none where it lies elsewhere."""
        ...
