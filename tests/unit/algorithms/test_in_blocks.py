"""Local recoding block by block: the same promises, on either engine, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from counts import LONG

import shoal
from shoal.algorithms.in_blocks import InBlocks
from shoal.algorithms.k_member import KMember
from shoal.algorithms.mondrian import Mondrian
from shoal.core.blocks import Blocks
from shoal.core.dataset import Dataset
from shoal.core.policy import Policy
from shoal.core.run import Run
from shoal.errors import CancelledError, InfeasibleError, ParameterError, VerificationError
from shoal.publishing.divided_table import TableBlock, Whole

QUASI = ["age", "sex", "race", "marital-status"]


def adult(engine: str = "embedded", rows: int = 1000, **roles: Any) -> shoal.Dataset:
    table = shoal.samples.adult().head(rows).select(*QUASI, "occupation", "workclass")
    return shoal.read(
        table, quasi=QUASI, sensitive=["occupation"], hierarchies=shoal.samples.hierarchies("adult"), engine=engine,
        **roles,
    )  # fmt: skip


BASES = [Mondrian(), Mondrian(strict=False, numeric="interval"), KMember(), KMember(refine=True, numeric="hierarchy")]


@pytest.mark.parametrize("base", BASES, ids=repr)
@pytest.mark.parametrize("engine", ["embedded", "duckdb"] if LONG else ["embedded"])
def test_every_class_keeps_every_model(base: Any, engine: str) -> None:
    """On the other engine the next test has the same plans."""
    data = adult(engine)
    release = shoal.anonymize(
        data, "k-anonymity:k=4", "t-closeness:t=0.6", algorithm=InBlocks(base=base, records=150), seed=1
    )
    assert release.recoding.facts["blocks"] > 3
    assert release.published.records == 1000
    assert release.verify(release.policy).holds


@pytest.mark.parametrize("base", BASES[1:] if LONG else BASES[1::2], ids=repr)
def test_engines_cut_and_decide_alike(base: Any) -> None:
    found = [
        shoal.anonymize(adult(engine), "k-anonymity:k=4", algorithm=InBlocks(base=base, records=150), seed=1)
        for engine in ("embedded", "duckdb")
    ]
    one, other = (release.recoding.plan for release in found)
    assert np.array_equal(one.keys, other.keys)
    assert np.array_equal(one.classes, other.classes)
    assert np.array_equal(one.cells, other.cells)
    assert found[0].frame.equals(found[1].frame)


def test_a_block_is_recoded_as_a_table_of_its_records_would_be() -> None:
    """Two groups of people whom the first cut parts, and whose ranges span the whole table: the plan of both blocks
    together is that of two tables, one below the other."""
    generator = np.random.default_rng(5)
    ages = np.concatenate([[20, 79], generator.integers(20, 80, 198)])
    halves = [pl.DataFrame({"sex": [sex] * 200, "age": ages if sex == "F" else ages[::-1]}) for sex in "FM"]
    data = shoal.read(pl.concat(halves), quasi=["sex", "age"])
    together = shoal.anonymize(data, "k-anonymity:k=5", algorithm=InBlocks(base=KMember(), records=200), seed=3)
    assert together.recoding.facts["blocks"] == 2
    apart = [
        shoal.anonymize(shoal.read(half, quasi=["sex", "age"]), "k-anonymity:k=5", algorithm=KMember(), seed=3)
        .frame["age"]
        .to_list()
        for half in halves
    ]
    assert sorted(together.frame["age"].to_list()) == sorted([*apart[0], *apart[1]])


def test_a_small_table_is_not_cut() -> None:
    plain, cut = (
        shoal.anonymize(adult(rows=300), "k-anonymity:k=4", algorithm=algorithm, seed=1)
        for algorithm in (KMember(), InBlocks(base=KMember(), records=300))
    )
    assert "of-blocks" not in cut.recoding.facts
    assert plain.frame.equals(cut.frame)


def test_blocks_that_break_the_policy_are_joined() -> None:
    """Only a few women have the rarer values, so blocks that have none of them cannot stay alone."""
    table = pl.DataFrame({"age": list(range(20, 80)) * 4, "disease": (["flu"] * 59 + ["hiv"]) * 4})
    data = shoal.read(table, quasi=["age"], sensitive=["disease"])
    release = shoal.anonymize(
        data, "k-anonymity:k=2", "distinct-l-diversity:l=2", algorithm=InBlocks(records=40), seed=1
    )
    assert release.verify(release.policy).holds
    with pytest.raises(InfeasibleError, match="as one class"):
        shoal.anonymize(data, "k-anonymity:k=500", algorithm=InBlocks(records=40), seed=1)


def test_joining_keeps_what_is_not_broken() -> None:
    data = adult()
    whole = Whole.of(data)
    points = np.ascontiguousarray(data.summary.keys.T)
    from shoal.core.costs import width_costs

    trees = whole.schema.hierarchies
    blocks = Blocks.cut(points, width_costs(trees, whole.extent, [tree.ordered for tree in trees]), 60, Run())
    sizes = [tree.size for tree in trees]
    before, broken = blocks.of(data.summary.keys), np.zeros(len(blocks), np.bool_)
    broken[2] = True
    after = blocks.joined(broken)
    assert len(after) < len(blocks)
    homes = after.of(data.summary.keys)
    for block in range(len(blocks)):
        assert len(set(homes[before == block].tolist())) == 1
    assert int((before == 2).sum()) < int((homes == homes[before == 2][0]).sum())
    low, high = after.boxes(sizes)
    inside = ((low[:, :, None] <= data.summary.keys) & (data.summary.keys <= high[:, :, None])).all(axis=1)
    assert np.array_equal(inside.argmax(axis=0), homes) and (inside.sum(axis=0) == 1).all()


@pytest.mark.parametrize("engine", ["embedded", "duckdb"])
def test_a_block_knows_the_whole_table(engine: str) -> None:
    data = adult(engine)
    whole = Whole.of(data)
    low = [0] * 4
    high = [tree.size - 1 for tree in whole.schema.hierarchies]
    high[0] = 30
    block = whole.boxed(data, np.array(low), np.array(high))
    kept = data.summary.keys[0] <= 30
    assert np.array_equal(block.summary.keys, data.summary.keys[:, kept])
    assert np.array_equal(block.summary.sizes, data.summary.sizes[kept])
    assert np.array_equal(block.summary.sensitive[0].population, data.summary.sensitive[0].population)
    assert block.records == int(data.summary.sizes[kept].sum()) < block.summary.records == 1000
    listed = np.repeat(kept, data.summary.sizes)
    assert np.array_equal(block.listing(7)[0], data.listing(7)[0][listed])


@pytest.mark.parametrize("base", [Mondrian(), KMember()], ids=["tuples", "records"])
@pytest.mark.parametrize("engine", ["embedded", "duckdb"])
def test_nobody_makes_the_summary_of_the_whole_table(
    engine: str, base: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Neither the search, nor publishing, nor the check of what was published, nor writing and reading back."""
    made: list[type] = []
    summarized = Dataset.summarized
    monkeypatch.setattr(Dataset, "summarized", lambda self, quasi: made.append(type(self)) or summarized(self, quasi))
    data = adult(engine)
    grouped = type(data.table).group

    def group(self: Any, attributes: Any, *others: Any, **given: Any) -> Any:
        assert self is not data.table or len(attributes) < len(QUASI)
        return grouped(self, attributes, *others, **given)

    monkeypatch.setattr(type(data.table), "group", group)
    release = shoal.anonymize(
        data, "k-anonymity:k=4", "distinct-l-diversity:l=2", algorithm=InBlocks(base=base, records=250), seed=1
    )
    release.write(tmp_path / "release.csv")
    assert release.recoding is not None and release.recoding.facts["blocks"] > 1
    assert set(made) == {TableBlock}


FAULTS = ["another class", "another block's class", "a tuple less", "a record more", "a narrower cell"]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_plan_that_errs_in_one_block_is_found_out(fault: str) -> None:
    data = adult()
    release = shoal.anonymize(data, "k-anonymity:k=4", algorithm=InBlocks(base=Mondrian(), records=150), seed=1)
    recoding = release.recoding
    assert recoding is not None and recoding.plan is not None and recoding.plan.blocks is not None
    release.view.check(data, recoding)
    plan, homes = recoding.plan, recoding.plan.blocks.of(recoding.plan.keys)
    classes, sizes, last = plan.classes.copy(), plan.sizes.copy(), homes == homes.max()
    if fault == "another class":
        first, second = np.unique(classes[last])[:2]
        classes[np.flatnonzero(classes == first)[0]] = second
    elif fault == "another block's class":
        classes[np.flatnonzero(last)[0]] = classes[homes == 0][0]
    elif fault == "a record more":
        sizes[np.flatnonzero(last)[0]] += 1
    wrong = replace(plan, classes=classes, sizes=sizes)
    if fault == "a tuple less":
        wrong = replace(
            plan, keys=plan.keys[:, :-1], classes=classes[:-1], withheld=plan.withheld[:-1], sizes=sizes[:-1]
        )
    if fault == "a narrower cell":
        book = plan.codebooks[0]
        wide = int(np.flatnonzero(book.high > book.low)[-1])
        narrow = replace(book, high=np.where(np.arange(len(book)) == wide, book.low, book.high))
        wrong = replace(plan, codebooks=(narrow, *plan.codebooks[1:]))
    with pytest.raises(VerificationError):
        release.view.check(data, replace(recoding, plan=wrong))


def test_what_is_refused() -> None:
    data = adult(rows=300)
    with pytest.raises(ParameterError, match="union"):
        shoal.anonymize(
            data, "k-anonymity:k=3", "delta-disclosure:delta=3,strict=false", algorithm=InBlocks(records=50)
        )
    with pytest.raises(ParameterError, match="all classes of a table together"):
        shoal.anonymize(data, "inference-l:l=2", algorithm=InBlocks(records=50))
    with pytest.raises(ParameterError, match="mondrian"):
        base = shoal.job.plugin("algorithms", "anatomy")
        shoal.anonymize(data, "frequency-l-diversity:l=2", algorithm=InBlocks(base=base, records=100))
    with pytest.raises(ParameterError):
        InBlocks(records=0)


def test_it_is_cancelled_between_blocks() -> None:
    run = Run()
    run.cancel()
    with pytest.raises(CancelledError):
        InBlocks(records=100).search(adult(), Policy(models=(shoal.KAnonymity(k=3),)), run)
