"""Sums of points, beside those of a library."""

import secrets

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from shoal.errors import ShoalError
from shoal.overlap.sums import GENERATOR, ORDER, PRIME, Multiples, add, double, negate, on_curve, times


def multiple(number):
    """A number times the generator, by the library."""
    found = ec.derive_private_key(number % ORDER, ec.SECP256R1()).public_key().public_numbers()
    return found.x, found.y


def test_sums_are_those_of_the_library():
    numbers = [secrets.randbelow(ORDER - 2) + 1 for _ in range(8)]
    others = [1, 2, 3, ORDER - 1, *(secrets.randbelow(ORDER) for _ in range(4))]
    found = add([multiple(number) for number in numbers], [multiple(other) for other in others])
    assert found == [multiple(one + other) for one, other in zip(numbers, others, strict=True)]
    assert double(GENERATOR) == multiple(2) and negate(multiple(7)) == multiple(-7)
    assert [times(number, multiple(3)) for number in (1, 2, 5, numbers[0])] == [
        multiple(3 * number) for number in (1, 2, 5, numbers[0])
    ]


@pytest.mark.parametrize("width", [2, 5, 8])
def test_a_table_of_multiples(width):
    table = Multiples(multiple(11), bits=40, width=width)
    numbers = [0, 1, 2**40 - 1, secrets.randbelow(2**40)]
    found = table.add_to([multiple(9)] * 4, numbers)
    assert list(found) == [multiple(9 + 11 * (number + table.offset)) for number in numbers]


def test_what_has_no_sum_is_refused_and_not_computed_wrongly():
    for other in (multiple(5), multiple(-5)):
        with pytest.raises(ShoalError, match="drawn twice"):
            add([multiple(3), multiple(5)], [multiple(4), other])


def test_only_points_are_on_the_curve():
    x, y = multiple(5)
    assert on_curve((x, y)) and on_curve((x, PRIME - y))
    for pair in ((x, y + 1), (x + PRIME, y), (x, y + PRIME), (y, x), (0, 0), (PRIME, PRIME), (-x, y)):
        assert not on_curve(pair)
