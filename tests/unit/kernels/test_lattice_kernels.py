"""The lattice kernels against plain Python."""

from __future__ import annotations

from collections import Counter
from threading import Event
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests import counts

import shoal
from shoal.algorithms.full_domain import _checker, _groupings
from shoal.algorithms.full_domain._checker import Checker
from shoal.algorithms.full_domain._groupings import Groupings
from shoal.core.contracts.model import Model
from shoal.core.lattice import Lattice
from shoal.core.policy import Policy
from shoal.core.run import Run
from shoal.kernels import node_checks
from shoal.kernels.boxes import counted, greatest_costs

LEVELS = [(0, 0, 0), (1, 0, 1), (2, 1, 0), (3, 1, 1), (0, 1, 1), (4, 0, 0), (5, 1, 3)]


def made(rows: int = 600) -> shoal.Dataset:
    generator = np.random.default_rng(5)
    frame = pl.DataFrame(
        {
            "age": generator.integers(0, 60, rows),
            "sex": generator.choice(["f", "m"], rows),
            "code": [f"{value:03d}" for value in generator.integers(0, 400, rows)],
            "illness": generator.choice(list("pqrst"), rows),
        }
    )
    return shoal.read(frame, quasi=["age", "sex", "code"], sensitive=["illness"])


def by_hand(data: shoal.Dataset, node: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The generalized tuple of each distinct tuple."""
    return [
        tuple(int(tree.codes[level][leaf]) for tree, level, leaf in zip(data.hierarchies, node, row, strict=True))
        for row in data.summary.keys.T.tolist()
    ]


@pytest.mark.parametrize("pack", [1, 64, 1 << 20])
@pytest.mark.parametrize("node", LEVELS)
def test_classes_are_those_of_plain_python(node: tuple[int, ...], pack: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_groupings, "PACK", pack)
    data = made()
    found = Groupings(data.summary).grouped(node)
    keys = by_hand(data, node)
    sizes = Counter()
    for key, weight in zip(keys, data.summary.sizes.tolist(), strict=True):
        sizes[key] += weight
    owners = found.owners
    assert len(found.sizes) == len(sizes)
    for key, owner in zip(keys, owners.tolist(), strict=True):
        assert found.sizes[owner] == sizes[key]


@pytest.mark.parametrize("node", [(0, 0, 0), (1, 0, 1), (1, 1, 1)])
def test_tables_that_do_not_fit_into_the_cache(node: tuple[int, ...]) -> None:
    """Keys that are hashed, the first ones, and keys that are addressed directly; memory is asked for in advance."""
    generator, rows = np.random.default_rng(6), 300_000
    sizes = (900, 800, 1600)
    frame = pl.DataFrame({f"c{at}": generator.integers(0, size, rows) for at, size in enumerate(sizes)})
    tens = {
        name: shoal.Hierarchy.from_paths(name, [(str(value), str(value // 10), "*") for value in range(size)])
        for name, size in zip(frame.columns, sizes, strict=True)
    }
    data = shoal.read(frame, quasi=frame.columns, hierarchies=tens)
    groupings = Groupings(data.summary)
    found = groupings.grouped(node)
    keys = np.stack(
        [tree.codes[level][row] for tree, level, row in zip(data.hierarchies, node, data.summary.keys, strict=True)]
    )
    values, firsts, owners = np.unique(keys, axis=1, return_index=True, return_inverse=True)
    order = np.argsort(firsts)  # classes are numbered as they come
    assert np.array_equal(found.owners, np.argsort(order)[owners.ravel()])
    assert np.array_equal(found.firsts, firsts[order])
    assert np.array_equal(found.sizes, np.bincount(owners.ravel(), data.summary.sizes)[order])
    counts = found.sizes // 2
    occurrences = counted(np.array(node), groupings.table, found.firsts, counts, False, groupings.domain)
    for position, start in enumerate(groupings.domain.leaf_starts):
        expected = np.bincount(values[position][order], counts, minlength=sizes[position])
        assert np.array_equal(occurrences[start : start + sizes[position]], expected)


@pytest.mark.parametrize("rest", [False, True])
@pytest.mark.parametrize("node", LEVELS)
def test_values_of_some_records(node: tuple[int, ...], rest: bool) -> None:
    """So many records of each class, or all the others: how often each value of the node's levels occurs in them."""
    data = made()
    groupings = Groupings(data.summary)
    found = groupings.grouped(node)
    chosen = found.sizes // 2
    counts = counted(np.array(node), groupings.table, found.firsts, chosen, rest, groupings.domain)
    keys = by_hand(data, node)
    of_class = {}
    for key, owner in zip(keys, found.owners.tolist(), strict=True):
        of_class[owner] = key
    for position, start in enumerate(groupings.domain.leaf_starts):
        expected = Counter()
        for owner, count in enumerate((found.sizes - chosen if rest else chosen).tolist()):
            expected[of_class[owner][position]] += count
        values = data.hierarchies[position].size
        assert counts[start : start + values].tolist() == [expected[value] for value in range(values)]


def test_the_greatest_cost_below_a_value() -> None:
    data = made()
    groupings = Groupings(data.summary)
    generator = np.random.default_rng(3)
    costs = [generator.random(tree.codes.shape) for tree in data.hierarchies]
    heights = np.array([tree.height for tree in data.hierarchies])
    greatest, starts, alike = greatest_costs(
        np.concatenate([part.ravel() for part in costs]), heights, groupings.domain
    )
    assert not alike
    for position, tree in enumerate(data.hierarchies):
        for level in range(tree.height + 1):
            for above in range(level, tree.height + 1):
                for value in range(int(tree.codes[above].max()) + 1):
                    found = greatest[starts[position, level, above] + value]
                    assert found == costs[position][level][tree.codes[above] == value].max()


@pytest.mark.parametrize("dense", [0, 1 << 24])
def test_histograms_of_a_node(dense: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_groupings, "DENSE", dense)
    data = made()
    groupings = Groupings(data.summary)
    for node in LEVELS:
        found = groupings.grouped(node)
        owners = found.owners
        classes = groupings.classes(found)
        held, rolled = data.summary.sensitive[0], classes.sensitive[0]
        expected = Counter()
        for owner, value, count in zip(owners[held.owners], held.values, held.counts, strict=True):
            expected[int(owner), int(value)] += int(count)
        got = {
            (int(owner), int(value)): int(count)
            for owner, value, count in zip(rolled.owners, rolled.values, rolled.counts, strict=True)
        }
        assert got == dict(expected)
        assert all(
            np.all(np.diff(rolled.values[a:b]) > 0) for a, b in zip(rolled.starts, rolled.starts[1:], strict=False)
        )


@pytest.mark.parametrize("cells", [1, 7, 1 << 25])
def test_histograms_are_rolled_up_in_blocks(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However few counts are held at a time, also fewer than there are values, the histogram is that of all at once."""
    monkeypatch.setattr(node_checks, "_CELLS", cells)
    owners, size = np.array([2, 0, 3, 2, 1, 0], np.int32), 4
    places = np.array([1, -1, 0, 2], np.int32)  # class 1 is left out
    tuples, values = np.array([0, 0, 1, 2, 2, 3, 4, 4], np.int32), np.array([0, 3, 1, 0, 2, 3, 1, 2], np.int32)
    held = node_checks.SparseCounts(tuples, values, np.arange(1, 9), size)
    found = node_checks.rolled.py_func(owners, places, 3, held)
    assert [array.tolist() for array in found] == [[0, 2, 3, 5], [0, 3, 1, 0, 2], [1, 8, 3, 4, 5]]


def test_bases_give_the_same_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    """With small bases made eagerly and given up often, nodes still have the classes that they have from the rows."""
    monkeypatch.setattr(_groupings, "SMALL", 1)
    monkeypatch.setattr(_groupings, "SHARE", 1 << 30)
    monkeypatch.setattr(_groupings, "BASES", 3)
    monkeypatch.setattr(_groupings, "LONGEST_PAUSE", 1)
    data = made()
    eager = Groupings(data.summary)
    generator = np.random.default_rng(1)
    heights = [tree.height for tree in data.hierarchies]
    made_from = set()
    for _ in range(150):
        node = tuple(int(generator.integers(0, height + 1)) for height in heights)
        base = eager.base(node)
        made_from.add(base.node)
        found = eager.grouped_from(base, node, eager.room())
        assert sorted(found.sizes.tolist()) == sorted(data.summary.generalize(node).sizes.tolist())
        eager.rebased(node, base, len(found.sizes))
        assert len(eager.bases) <= 3
    assert len(made_from) > 3


def test_keys_wider_than_64_bits() -> None:
    generator = np.random.default_rng(2)
    frame = pl.DataFrame({f"q{at}": generator.integers(0, 90, 120) for at in range(12)})
    data = shoal.read(frame, quasi=frame.columns)
    groupings = Groupings(data.summary)
    assert np.prod([float(width) for width in groupings.domain.widths[:, 0]]) > 2.0**63
    found = groupings.grouped((0,) * 12)
    assert len(found.sizes) == 120 and found.base is groupings.raw
    release = shoal.anonymize(data, shoal.KAnonymity(k=3), algorithm="datafly", suppression=0.3)
    assert release.verify(release.policy).holds


@pytest.mark.parametrize("objective", [None, shoal.metrics.Dm()])
@pytest.mark.parametrize("model", [shoal.KAnonymity(k=4), shoal.TCloseness(t=0.4), shoal.DistinctLDiversity(l=3)])
def test_nodes_grouped_from_small_bases_get_the_same_verdicts(
    model: shoal.KAnonymity, objective: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nodes checked as bases, in three threads, then their generalizations from them: as when each is grouped alone."""
    monkeypatch.setattr(_checker, "SHARED", 0)
    data = made(4000)
    policy = Policy(models=(model,), suppression=0.3, objective=objective)
    lattice = Lattice.of(data.hierarchies)
    here = tuple(max(level - 1, 0) for level in lattice.greatest)
    checker = Checker(data, policy, Run())
    checker.threads = 3
    checker.check_all(list(lattice.specializations(here)), as_bases=True)
    bases = checker.groupings.bases
    assert len(bases) > 1 and all(_groupings.SMALLER * len(base) <= len(bases[0]) for base in bases[1:])
    for node in lattice.specializations(here):
        for above in (here, *lattice.generalizations(node)):
            alone = Checker(data, policy, Run())
            assert str(checker.check(above)) == str(alone.check(above))
            if alone.by_cells and checker.check(above).lost <= checker.budget:
                assert checker.bounds([(node, above)]) == alone.bounds([(node, above)])


@pytest.mark.parametrize(
    "models",
    [
        (shoal.KAnonymity(k=4),),
        (shoal.TCloseness(t=0.4),),
        (shoal.TCloseness(t=0.4), shoal.DistinctLDiversity(l=3)),  # two levels: not the compiled look
    ],
)
def test_threads_take_turns_at_nodes(models: tuple[Model, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches that three threads share, again and again, some of which come when all is done: as one thread."""
    monkeypatch.setattr(_checker, "SHARED", 0)
    data = made(4000)
    policy, lattice = Policy(models=models, suppression=0.3), Lattice.of(data.hierarchies)
    nodes = [node for height in range(lattice.height + 1) for node in lattice.at(height)]
    alone = Checker(data, policy, Run())
    alone.threads = 1
    alone.check_all(nodes)
    for _ in range(counts.count(5, 40)):
        checker = Checker(data, policy, Run())
        checker.threads = 3
        for begin in range(0, len(nodes), 5):
            checker.check_all(nodes[begin : begin + 5])
        assert str(checker.verdicts) == str(alone.verdicts)


def test_what_goes_wrong_in_another_thread_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where this thread has nothing left to do."""
    monkeypatch.setattr(_checker, "SHARED", 0)
    data = made(4000)
    checker = Checker(data, Policy(models=(shoal.KAnonymity(k=4),)), Run())
    checker.threads = 2
    there, check = Event(), checker.groupings.check

    def broken(batch: Any, most: int, asked: Any, rates: Any, room: Any) -> int:
        if room is checker.groupings.room():
            assert there.wait(60)
            return check(batch, most, asked, rates, room)
        checker.groupings.turns.take(batch.turns, checker.groupings.turns.COMPILED)
        there.set()
        raise MemoryError

    monkeypatch.setattr(checker.groupings, "check", broken)
    with pytest.raises(MemoryError):
        checker.check_all([(0, 0, 0), (1, 0, 0), (0, 1, 0)])


def test_a_thread_that_nobody_waits_for_keeps_its_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """The main thread is interrupted while another one is in its room; the nodes are then checked again."""
    monkeypatch.setattr(_checker, "SHARED", 0)
    nodes, policy = [(0, 0, 0), (1, 0, 0), (0, 1, 0)], Policy(models=(shoal.KAnonymity(k=4),))
    checker, alone = (Checker(made(4000), policy, Run()) for _ in range(2))
    checker.threads, alone.threads = 2, 1
    there, leave, left, check, first = Event(), Event(), Event(), checker.groupings.check, checker.groupings.room()
    kept = []

    def interrupted(batch: Any, most: int, asked: Any, rates: Any, room: Any) -> int:
        if room is first:
            assert there.wait(60)
            raise KeyboardInterrupt
        kept.append(room)
        there.set()
        assert leave.wait(60)
        last = check(batch, most, asked, rates, room)
        left.set()
        return last

    monkeypatch.setattr(checker.groupings, "check", interrupted)
    with pytest.raises(KeyboardInterrupt):
        checker.check_all(nodes)
    monkeypatch.setattr(checker.groupings, "check", check)
    checker.threads = 1  # the other one is still where it was
    checker.check_all(nodes)
    assert str(checker.verdicts) == str(alone.check_all(nodes) or alone.verdicts)
    rooms = {id(array) for room in checker.groupings.rooms for array in room}
    assert len(kept) == 1 and not rooms & {id(array) for array in (*kept[0], *first)}
    leave.set()
    assert left.wait(60)


def test_bases_that_were_used_longest_ago_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_groupings, "BASES", 3)
    groupings = Groupings(made().summary)
    for node in [(4, 0, 3), (3, 1, 3), (4, 1, 2), (5, 1, 3)]:
        found = groupings.small(groupings.raw, node, len(groupings.grouped(node).sizes), groupings.room())
        assert found is not None
        groupings.keep(found)
        assert groupings.base(node) is found
    assert {base.node for base in groupings.bases} == {(0, 0, 0), (4, 1, 2), (5, 1, 3)}
