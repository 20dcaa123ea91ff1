"""The Spark engine: queries where the data live, on a cluster or on the cores of one machine."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge
from typing_extensions import Doc

from shoal.core.contracts.engine import Engine
from shoal.core.contracts.table import Published
from shoal.core.read_request import AS_IT_IS, Description, Opening
from shoal.core.run import Run
from shoal.core.schema import Kind, Missing, Schema, refused, with_roles
from shoal.core.survey import Overview
from shoal.engines.common.encoding import MISSING, Encoded, bind, check_type, encode
from shoal.engines.common.published_table import format_of, open_published
from shoal.engines.spark.encoding import CodedColumn
from shoal.engines.spark.profiling import looked_at
from shoal.engines.spark.published_table import PublishedColumn, SparkPublished
from shoal.engines.spark.reading_checkpoint import kept_tally
from shoal.engines.spark.session import Session
from shoal.engines.spark.source import Source, open_source
from shoal.engines.spark.table import SparkTable
from shoal.errors import InputError
from shoal.storage.checkpoint import Checkpoint


@dataclass(frozen=True, kw_only=True)
class Spark(Engine):
    """Spark does the work on rows: it counts the distinct rows of the columns with a role, carries a plan out as a
    join, counts what would be published, orders and writes it. The driver gets what is counted, and searches there.

    Takes the session that runs in the process, as `spark-submit` and notebooks have one, or starts one. Frames of Spark
    are worked on by this engine unless another one is named, and come back as such; Parquet files are read by the
    workers, from a folder that all of them see. Whatever else the embedded engine reads passes through the driver.

    Local recodings that work on records one by one, such as k-member, get blocks of a table that has more than
    `block_records`; the workers solve them (`in-blocks`). Other algorithms that look at single records get the encoded
    columns in the driver, pseudonyms are made there from the distinct identifiers, and where a person column is named,
    people come as numbers, with the classes that they are in. The workers need Shoal too, to hash records as the other
    engines do and to solve blocks.

    Does not protect against: whoever can read the memory, the disks or the logs of the workers while the work is done.

    Reference: M. Zaharia et al., Resilient distributed datasets, NSDI 2012.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"age": [21, 22, 21, 22]})
        >>> data = shoal.read(table, quasi=["age"], engine="spark:master=local[2]")  # doctest: +SKIP
        >>> shoal.diagnose(data)["k"].value  # doctest: +SKIP
        2
    """

    master: Annotated[
        str | None,
        Doc("the cluster's address, such as spark://host:7077 or local[4]; by default that of the running session"),
    ] = None
    block_records: Annotated[
        int,
        Ge(1),
        Doc("how many records a local recoding gets at a time that works on them one by one; the workers solve blocks"),
    ] = 1_000_000

    @property
    def block_size(self) -> int:
        return self.block_records

    @cached_property
    def session(self) -> Session:
        """Where everything is done that does not come with a session of its own."""
        return Session.started(self.master)

    @classmethod
    def takes(cls, source: Any) -> bool:
        return type(source).__module__.startswith("pyspark.sql.") and hasattr(source, "sparkSession")

    def open(self, source: Any, opening: Opening = AS_IT_IS) -> Source:
        return replace(open_source(self.session, source, opening), neutralize=opening.neutralize)

    def read(
        self,
        source: Source,  # type: ignore[override]
        description: Description,
        *,
        run: Run | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> tuple[SparkTable, Schema]:
        """The table and its schema: the distinct rows of the columns with a role are counted and encoded now."""
        wanted = description if source.opened is None else source.opened.described(description)
        named = with_roles(source.names, wanted.roles)
        for name in named:
            check_type(name, source.came(name) or source.arrow_type(name))
        with source.session.stopped_by(run or Run(), "reading"):
            tallied = kept_tally(checkpoint, source, named)
        if not len(tallied.counts):
            raise InputError("the table has no record")
        encoded = {
            name: encode(
                name, tallied.came(source, name), wanted.kinds.get(name), source.missing, wanted.formats.get(name)
            )
            for name in named
        }
        dropping, kept = _kept(encoded, tallied.counts, wanted)
        columns, held = {}, {}
        for name, each in encoded.items():
            places = tallied.places[name][kept]
            codes, hierarchy, raw = bind(
                Encoded(each.codes[kept], each.values, each.raw), wanted.hierarchy(each.values), tallied.counts[kept]
            )
            leaves = np.full(len(tallied.spelled[name]), -1, np.int32)
            leaves[places] = codes
            held[name] = CodedColumn(codes, places, hierarchy, raw, tallied.spelled[name], leaves)
            columns[name] = wanted.column(each.values, hierarchy)
        table = SparkTable(source, held, tallied.counts[kept], frozenset(dropping))
        return table, wanted.schema(source.names, columns)

    def profile(self, source: Source) -> Overview:  # type: ignore[override]
        return looked_at(source)

    def watch(self, run: Run, doing: str) -> AbstractContextManager[None]:
        return self.session.stopped_by(run, doing)

    def open_published(self, path: Path, kinds: Mapping[str, Kind] | None = None) -> Published:
        source = open_source(self.session, path)
        if source.opened is not None:
            return open_published(path, kinds)
        columns = tuple(PublishedColumn(name, source.column(name), came=source.came(name)) for name in source.names)
        return SparkPublished(
            source.session, source.rows, columns, source, read=True, label=path.name, kinds=kinds or {}
        )

    def check_format(self, path: Path) -> None:
        format_of(path)


def _kept(encoded: Mapping[str, Encoded], counts: Any, wanted: Description) -> tuple[list[str], Any]:
    """The columns whose missing values leave records out, and which rows of the tally stay; a rule that refuses missing
    values is kept."""
    kept, dropping = np.ones(len(counts), np.bool_), []
    for name, column in encoded.items():
        if not column.has_missing:
            continue
        present = column.codes != MISSING
        if wanted.rule(name) is Missing.REFUSE:
            raise refused(name, wanted.roles[name], int(counts[~present].sum()), int(counts.sum()))
        if wanted.rule(name) is Missing.DROP:
            dropping.append(name)
            kept &= present
    if not kept.any():
        raise InputError("the missing-value rules leave no record")
    return dropping, kept
