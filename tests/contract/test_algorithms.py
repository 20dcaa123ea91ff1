"""Every algorithm, perturbations included, is asked the same questions; what it is given is its own `examples`."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from itertools import islice
from typing import Any

import pytest
from counts import LONG
from making import CHANGED, ORDERS, POLICIES, QUASI, cases, dataset, one, releases, table, written
from truth import untrue_cells

import shoal
from shoal import registry
from shoal.errors import NotDefined

CASES = cases("algorithms")


FORMATS = ("parquet", "arrow", "csv.gz")


def place(name: str, example: Any) -> int:
    """The place of an example among all of them, by which they take turns."""
    return [case.values for case in CASES].index((name, example))


def policies(name: str, example: Any) -> tuple[str, ...]:
    """All policies for the first example of an algorithm; for others two that it takes, in which they take turns."""
    every = tuple(POLICIES)
    if LONG or example == registry.examples("algorithms", name)[0]:
        return every
    first = place(name, example)
    ordered = [every[(first + at) % len(every)] for at in range(len(every))]
    return tuple(policy for policy, _ in islice(releases(name, example, policies=ordered), 2))


def formats(name: str, example: Any) -> tuple[str, ...]:
    """CSV, and one other format, in which the examples take turns; with `LONG` all of them."""
    return ("csv", *(FORMATS if LONG else [FORMATS[place(name, example) % len(FORMATS)]]))


@pytest.mark.parametrize(("name", "example"), CASES)
class TestAlgorithm:
    @pytest.mark.parametrize("suppression", [0.0, 0.2])
    def test_satisfies_its_policy(self, name: str, example: Any, suppression: float) -> None:
        """Policies with records that may be left out; without, one policy, in which the examples take turns."""
        first = 0 if suppression or LONG else place(name, example)
        asked = policies(name, example) if suppression or LONG else tuple(POLICIES)
        found = releases(name, example, suppression=suppression, first=first, policies=asked)
        checked = list(found if suppression or LONG else islice(found, 1))
        # What makes values equally frequent has to leave records out, and so has a sample.
        assert checked or (not suppression and name in ("dependency-safe", "sampling")), "it takes no policy at all"
        for policy, release in checked:
            assert release.policy is not None and release.verify(release.policy).holds, policy
            assert 0 <= release.suppressed <= suppression * table().height
            assert release.published.records == table().height - release.suppressed > 0

    def test_every_cell_is_true_of_its_own_record(self, name: str, example: Any) -> None:
        """Each published cell covers the true cell of the record that its plain row number names. Only the columns that
        a perturbation says it changed are other than they were, and what was missing still is."""
        for _, release in releases(name, example, policies=policies(name, example)):
            rows = release.frame["row"]
            assert rows.n_unique() == len(rows)
            if release.view.truthful:
                assert not set(untrue_cells(release, table(), dataset()))
                continue
            assert release.recoding is not None
            changed = set(release.recoding.changed)
            assert changed and changed <= set(QUASI)
            shown, true = release.frame.sort("row"), table().sort("row")
            assert shown.drop(changed).equals(true.drop(changed), null_equal=True)
            for column in changed:
                assert not shown.filter(true[column].is_null())[column].count(), "a missing value stays missing"
                if name in ("rank-swapping", "shuffling", "targeted-swapping"):
                    assert Counter(shown[column]) == Counter(true[column]), "a swap keeps the values"

    def test_neither_order_changes_a_byte(self, name: str, example: Any) -> None:
        """A release is a function of the records, the policy and the seed, not of the order of rows."""
        hashes = []
        for order in ORDERS if LONG else ("as given", "shuffled"):
            files = sorted(written(one(name, example, order=order)).parent.iterdir())
            hashes.append([(file.name, hashlib.sha256(file.read_bytes()).hexdigest()) for file in files])
        assert all(each == hashes[0] for each in hashes)

    def test_the_order_of_rows_follows_from_what_they_say(self, name: str, example: Any) -> None:
        """Whoever has the published rows in any order can restore theirs: it carries no information."""
        for frame in one(name, example).frames.values():
            rows = [tuple(row.items()) for row in frame.iter_rows(named=True)]
            assert rows == sorted(rows, key=content_hash)

    def test_leaves_its_input_alone(self, name: str, example: Any) -> None:
        """Whatever policy it is given; `making.released` looks at the table before and after."""
        assert list(releases(name, example, policies=policies(name, example))) and (name, repr(example)) not in CHANGED

    def test_facts_fit_into_json(self, name: str, example: Any) -> None:
        release = one(name, example)
        assert release.recoding is not None
        assert json.loads(json.dumps(release.recoding.facts)) == release.recoding.facts

    def test_is_read_back_from_every_format(self, name: str, example: Any) -> None:
        measured = {}
        for ending in formats(name, example):
            found = shoal.verify(written(one(name, example), ending))
            assert found.holds, ending
            measured[ending] = {finding.name: finding.value for finding in found}
        assert all(values == measured["csv"] for values in measured.values())

    def test_documents_itself(self, name: str, example: Any) -> None:
        text = registry.find("algorithms", name).__doc__ or ""
        for section in (r"\bnot\b", r"^ *Reference: ", r"^ *Example:\n *>>> "):
            assert re.search(section, text, re.MULTILINE), section


FIRST = [case for case in CASES if LONG or case.values[1] == registry.examples("algorithms", case.values[0])[0]]


@pytest.mark.parametrize(("name", "example"), FIRST)
def test_two_releases_do_not_line_up(name: str, example: Any) -> None:
    """A record that is published otherwise in two releases does not stand at the same place in both. Every day one
    example of each algorithm is asked: rows are put in order when all is decided."""
    frames = [one(name, example, seed=seed).frame.rows() for seed in (7, 8)]
    # The row number is the first column.
    moved = [(left, right) for left, right in zip(*frames, strict=False) if left != right]
    assert sum(left[0] == right[0] for left, right in moved) <= 0.05 * len(moved)


def content_hash(row: tuple[tuple[str, Any], ...]) -> int:
    """The documented order of rows, from the standard library: the sum of the values' MD5."""

    def one(name: str, value: Any) -> int:
        text = b"~" if value is None else b"=" + (f"{value:.17g}" if isinstance(value, float) else str(value)).encode()
        return int.from_bytes(hashlib.md5(name.encode() + b"\x1f" + text).digest()[8:], "little")

    return sum(one(name, value) for name, value in row) % 2**64


@pytest.mark.parametrize(("name", "example"), CASES)
def test_means_are_those_of_their_classes(name: str, example: Any) -> None:
    release = one(name, example)
    try:
        release.view.cells()
    except NotDefined:
        return
    joined = release.frame.join(table().select("row", true="age"), on="row")
    for (shown,), group in joined.group_by("age"):
        if shown is not None and re.fullmatch(r"[\d.]+", str(shown)):
            assert group["true"].mean() == pytest.approx(float(shown))
