"""The Spark engine: queries where the data live, on a cluster or on the cores of one machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import and_
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge
from typing_extensions import Doc

from shoal.core.contracts.table import Published
from shoal.core.read_request import Description, Opening
from shoal.core.run import Run
from shoal.core.schema import Column, Notation
from shoal.core.survey import Overview
from shoal.engines.common.column_types import check_type
from shoal.engines.common.encoding import bind
from shoal.engines.common.engine import CommonEngine, check_some_left, check_some_there, encode_column, required_values
from shoal.engines.common.published_table import open_published
from shoal.engines.spark.apply_plan import SparkApplication
from shoal.engines.spark.encoding import SparkColumn
from shoal.engines.spark.profiling import profile
from shoal.engines.spark.published_table import ListedColumn, SparkPublished
from shoal.engines.spark.reading_checkpoint import checkpointed_tally
from shoal.engines.spark.session import ClusterSession
from shoal.engines.spark.source import SparkSource, open_source
from shoal.engines.spark.table import SparkTable
from shoal.storage.checkpoint import Checkpoint


@dataclass(frozen=True, kw_only=True)
class Spark(CommonEngine):
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
    def session(self) -> ClusterSession:
        """Where everything is done that does not come with a session of its own."""
        return ClusterSession.start(self.master)

    @classmethod
    def takes(cls, source: Any) -> bool:
        return type(source).__module__.startswith("pyspark.sql.") and hasattr(source, "sparkSession")

    def _open(self, source: Any, opening: Opening) -> SparkSource:
        return open_source(self.session, source, opening)

    def _encode(
        self, source: SparkSource, names: Sequence[str], request: Description, run: Run, checkpoint: Checkpoint | None
    ) -> tuple[SparkTable, Mapping[str, Column]]:
        """The distinct rows of the columns are counted and encoded now."""
        for name in names:
            check_type(name, source.type_of(name) or source.arrow_type(name))
        with source.session.stopped_by(run, "reading"):
            tally = checkpointed_tally(checkpoint, source, names)
        check_some_there(len(tally.counts))
        records = int(tally.counts.sum())
        encoded = {name: encode_column(name, tally.column(source, name), source, request, records) for name in names}
        required = required_values(encoded, request, dict.fromkeys(names, tally.counts))
        included = reduce(and_, required.values(), np.ones(len(tally.counts), np.bool_))
        check_some_left(int(included.sum()))
        counts = tally.counts[included]
        columns, coded = {}, {}
        for name, each in encoded.items():
            places = tally.places[name][included]
            some = replace(each, indices=each.indices[included])
            codes, hierarchy, raw = bind(some, request.hierarchy(each.values), counts)
            leaves = np.full(len(tally.spelled[name]), -1, np.int32)
            leaves[places] = codes
            coded[name] = SparkColumn(codes, places, hierarchy, raw, tally.spelled[name], leaves)
            columns[name] = request.column(each.values, hierarchy)
        table = SparkTable(source, coded, SparkApplication, frozenset(required), known=request.known, weights=counts)
        return table, columns

    def profile(self, source: SparkSource) -> Overview:  # type: ignore[override]
        return profile(source)

    def watch(self, run: Run, doing: str) -> AbstractContextManager[None]:
        return self.session.stopped_by(run, doing)

    def open_published(self, path: Path, notations: Mapping[str, Notation] | None = None) -> Published:
        source = open_source(self.session, path)
        if source.opened is not None:
            return open_published(path, notations)
        columns = tuple(ListedColumn(name, source.column(name), source.type_of(name)) for name in source.names)
        return SparkPublished(
            source.session, source.rows, columns, label=path.name, notations=notations or {}, source=source, read=True
        )
