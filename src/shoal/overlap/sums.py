"""Sums of points of the curve P-256, many at once. A point is a pair of coordinates; there is no point at infinity.

Nothing here takes the same time for every number. What it adds for a holder is fresh for each session, and the other
holder does not see how long a single sum took.
"""

from __future__ import annotations

from collections.abc import Sequence

from shoal.errors import ShoalError

Point = tuple[int, int]

PRIME = 2**256 - 2**224 + 2**192 + 2**96 - 1
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
GENERATOR: Point = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)
_B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B


def on_curve(point: Point) -> bool:
    """Whether two numbers are the coordinates of a point.

    Example:
        >>> on_curve(GENERATOR), on_curve((0, 0))
        (True, False)
    """
    x, y = point
    return 0 <= x < PRIME and 0 <= y < PRIME and (y * y - (x * x - 3) * x - _B) % PRIME == 0


def negate(point: Point) -> Point:
    return point[0], PRIME - point[1]


def add(points: Sequence[Point], others: Sequence[Point]) -> list[Point]:
    """Each point plus the other one in the same place. They must not be the same or opposite points, which happens to
    random points once in 2**255 times. The divisions of all sums are done together."""
    products, product = [], 1
    for (x, _), (other_x, _) in zip(points, others, strict=True):
        products.append(product)
        product = product * (other_x - x) % PRIME
    if not product:
        raise ShoalError("the same point was drawn twice; start the session again")
    inverse = pow(product, -1, PRIME)
    sums: list[Point] = []
    for place in range(len(points) - 1, -1, -1):
        (x, y), (other_x, other_y) = points[place], others[place]
        slope = (other_y - y) * inverse * products[place] % PRIME
        inverse = inverse * (other_x - x) % PRIME
        sum_x = (slope * slope - x - other_x) % PRIME
        sums.append((sum_x, (slope * (x - sum_x) - y) % PRIME))
    sums.reverse()
    return sums


def double(point: Point) -> Point:
    x, y = point
    slope = 3 * (x * x - 1) * pow(2 * y, -1, PRIME) % PRIME
    twice_x = (slope * slope - 2 * x) % PRIME
    return twice_x, (slope * (x - twice_x) - y) % PRIME


def times(number: int, point: Point) -> Point:
    """A point times a positive number.

    Example:
        >>> times(3, GENERATOR) == add([double(GENERATOR)], [GENERATOR])[0]
        True
    """
    product = point
    for bit in bin(number)[3:]:
        product = double(product)
        if bit == "1":
            product = add([product], [point])[0]
    return product


class Multiples:
    """A table of multiples of one point, from which many of them are summed up quickly: numbers are cut into digits of
    `width` bits, and a digit d at place i stands for d + 1 times 2**(i * width). So a number stands for itself plus
    `offset`, and no digit for the point at infinity."""

    def __init__(self, point: Point, *, bits: int, width: int) -> None:
        digits = -(-bits // width)
        bases = [point]
        for _ in range(digits - 1):
            for _ in range(width):
                point = double(point)
            bases.append(point)
        rows = [bases, [double(base) for base in bases]]
        while len(rows) < 2**width:
            rows.append(add(rows[-1], bases))
        self.width = width
        self.offset = sum(2 ** (place * width) for place in range(digits))
        self._tables = list(zip(*rows, strict=True))

    def add_to(self, points: Sequence[Point], numbers: Sequence[int]) -> Sequence[Point]:
        """Each point plus (number + offset) times the point of this table."""
        mask = 2**self.width - 1
        for place, table in enumerate(self._tables):
            shift = place * self.width
            points = add(points, [table[number >> shift & mask] for number in numbers])
        return points
