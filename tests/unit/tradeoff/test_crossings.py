"""Crossings on curves that were made for it, against exact fractions and a plain definition."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from shoal.tradeoff.crossings import Crossing, closest, crossings, front


def told(*spots):
    return [(each.at, each.value, each.kind, each.until) for each in crossings(list(spots))]


def test_the_worked_example():
    assert told((8, 0.62, 0.58), (9, 0.58, 0.62)) == [(8.5, 0.6, "cross", None)]


def test_several_crossings_are_all_told_in_order():
    spots = [(2, 1, 0), (4, 0, 1), (6, 1, 0), (8, 0.25, 1)]
    assert told(*(tuple(map(Fraction, spot)) for spot in spots)) == [
        (3, Fraction(1, 2), "cross", None),
        (5, Fraction(1, 2), "cross", None),
        (6 + Fraction(8, 7), 1 - Fraction(4, 7) * Fraction(3, 4), "cross", None),
    ]


def test_curves_that_never_meet_come_closest_somewhere():
    spots = [(2, 0.9, 0.1), (3, 0.8, 0.3), (4, 0.85, 0.2)]
    assert told(*spots) == []
    near = closest(spots)
    assert near is not None and (near.at, near.utility, near.privacy, near.gap) == (3, 0.8, 0.3, 0.5)
    assert closest([None, None]) is None


def test_touching_is_told_from_crossing_at_a_swept_place():
    assert told((2, 0.9, 0.1), (3, 0.5, 0.5), (4, 0.9, 0.1)) == [(3, 0.5, "touch", None)]
    assert told((2, 0.9, 0.1), (3, 0.5, 0.5), (4, 0.1, 0.9)) == [(3, 0.5, "cross", None)]
    assert told((2, 0.5, 0.5), (3, 0.9, 0.1)) == [(2, 0.5, "touch", None)]


def test_equal_segments_are_told_once_with_both_ends():
    spots = [(2, 0.9, 0.1), (3, 0.5, 0.5), (4, 0.4, 0.4), (5, 0.3, 0.3), (6, 0.1, 0.9)]
    assert told(*spots) == [(3, 0.5, "equal", 5)]
    assert Crossing(at=3, value=0.5, kind="equal", until=5).as_dict("k") == {
        "k": 3, "value": 0.5, "kind": "equal", "until": 5,
    }  # fmt: skip
    assert told((2, 0.5, 0.5), (3, 0.5, 0.5)) == [(2, 0.5, "equal", 3)]


def test_nothing_is_interpolated_across_a_place_without_a_release():
    assert told((2, 0.9, 0.1), None, (4, 0.1, 0.9)) == []
    assert told((2, 0.9, 0.1), None, (4, 0.1, 0.9), (5, 0.9, 0.1)) == [(4.5, 0.5, "cross", None)]


shares = st.sampled_from([Fraction(sixths, 6) for sixths in range(7)])


@given(st.lists(st.tuples(shares, shares), min_size=1, max_size=8))
def test_the_curves_have_one_value_exactly_where_it_is_told(pairs):
    spots = [(Fraction(at), *pair) for at, pair in enumerate(pairs)]
    found = crossings(spots)

    def gap(at):
        left = min(int(at), len(spots) - 1)
        right = min(left + 1, len(spots) - 1)
        share = at - left
        values = [spots[left][side] + share * (spots[right][side] - spots[left][side]) for side in (1, 2)]
        return values[0] - values[1], values[0]

    for each in found:
        assert gap(each.at) == (0, each.value)
        if each.until is not None:
            assert gap(each.until)[0] == 0
    # wherever the sign changes between two places, or is nothing at one, something was told
    for (start, *one), (end, *other) in pairwise(spots):
        before, after = one[0] - one[1], other[0] - other[1]
        inside = [each for each in found if start <= (each.until or each.at) and each.at <= end]
        assert bool(inside) == (before * after <= 0)


@given(st.lists(st.one_of(st.none(), st.tuples(st.integers(0, 5), st.integers(0, 5))), max_size=12))
def test_the_front_is_what_nobody_beats(scores):
    def beaten(one):
        return any(other is not None and other != one and other[0] >= one[0] and other[1] >= one[1] for other in scores)

    plain = [place for place, one in enumerate(scores) if one is not None and not beaten(one)]
    assert list(front(scores)) == plain
