"""Publication: a recoding carried out on the table that it was decided for, or on new records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.core.contracts.engine import Engine, broken_rule, check_parts
from shoal.core.contracts.form import Form
from shoal.core.contracts.table import Published, Sheet
from shoal.core.dataset import Dataset
from shoal.core.policy import Policy
from shoal.core.pseudonyms import Pseudonyms
from shoal.core.published_tables import Crowd
from shoal.core.recoding import Recoding
from shoal.core.run import Run
from shoal.errors import NotDefined
from shoal.publishing.decision import decided_groups
from shoal.publishing.ghosts import check_ghosts, with_ghost_columns
from shoal.publishing.weights import check_weight_column, with_weight_column
from shoal.publishing.writable_release import WritableRelease


def _check_tables(engine: Engine, sheets: Sequence[Sheet], tables: Mapping[str, Published]) -> None:
    """Refuses published tables that are not what an engine was asked for."""
    for sheet in sheets:
        if sheet.part not in tables:
            raise broken_rule(engine, "it must publish every sheet that it is given")
        check_parts(engine, tables[sheet.part], Published)
        if list(tables[sheet.part].names) != [column.name for column in sheet.columns]:
            raise broken_rule(engine, "a published table must have the columns of its sheet, in their order")


def published(
    form: Form, data: Dataset, recoding: Recoding, policy: Policy | None, pseudonyms: Pseudonyms | None, run: Run
) -> WritableRelease:
    """The release that carries a recoding out, with whose its records are where people are counted; not verified,
    but for the weights."""
    sheets = with_weight_column(form.sheets(data.schema, pseudonyms=pseudonyms is not None), data.schema, recoding)
    sheets = with_ghost_columns(sheets, recoding)
    seed = policy.seed if policy is not None else 0
    tables = data.table.publish(data.schema, recoding, sheets, seed=seed, pseudonyms=pseudonyms, run=run)
    _check_tables(data.engine, sheets, tables)
    release = WritableRelease(
        form=form,
        tables=tables,
        schema=data.schema,
        records=data.records,
        engine=data.engine,
        policy=policy,
        recoding=recoding,
        origin=data,
        **whole(data),
    )
    check_weight_column(release, recoding)
    check_ghosts(release, recoding)
    plan = recoding.plan
    counted = data.schema.owners or data.schema.weight is not None
    if not counted or plan is None or not _shows_people(release):
        return release
    placement, classes = release.view.placement(recoding), len(release.view.people())
    return release.with_members(decided_groups(data, plan, placement, classes, release.seed))


def _shows_people(release: WritableRelease) -> bool:
    """Whether what is told of people is told of the classes in which they are found."""
    try:
        return release.view.people() is release.view.groups()
    except NotDefined:
        return False


def whole(data: Dataset) -> dict[str, Any]:
    """What a release knows of the whole table."""
    histograms = data.margin.sensitive
    known: dict[str, Any] = {"populations": {histogram.column: histogram.population for histogram in histograms}}
    if data.people is not None:
        counted = {
            histogram.column: histogram.people.population for histogram in histograms if histogram.people is not None
        }
        known["crowd"] = Crowd(data.people, counted)
    return known
