"""Stable orders, and the value of a rank. They compile in a fraction of the time that the library's own sorts take."""

from typing import Any

import numpy as np

from shoal.kernels.compilation import inner, kernel


@kernel
def order_of(values):
    """The places of values in ascending order; equal ones stay in the order in which they stand."""
    count = len(values)
    order = np.empty(count, np.int64)
    spare = np.empty(count, np.int64)
    for place in range(count):
        order[place] = place
    width = 1
    while width < count:
        for begin in range(0, count, 2 * width):
            middle = begin + width
            if middle > count:
                middle = count
            end = begin + 2 * width
            if end > count:
                end = count
            left, right = begin, middle
            for place in range(begin, end):
                if left < middle and (right == end or not values[order[right]] < values[order[left]]):
                    spare[place] = order[left]
                    left += 1
                else:
                    spare[place] = order[right]
                    right += 1
        order, spare = spare, order
        width *= 2
    return order


@kernel
def value_of_rank(values, rank):
    """The value that would stand at a place if all were in ascending order; puts them into another order."""
    low, high = 0, len(values) - 1
    while low < high:
        pivot, left, right = values[(low + high) // 2], low, high
        while left <= right:
            while values[left] < pivot:
                left += 1
            while values[right] > pivot:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                left += 1
                right -= 1
        if rank <= right:
            high = right
        elif rank >= left:
            low = left
        else:
            break
    return values[rank]


@inner(borrowing=True)
def first_from(wanted, ascending, begin, end):
    """The first of the places from `begin` on that has a number no less than `wanted`, `end` where none has. (What
    numpy has for it takes a third of a second to compile.)"""
    while begin < end:
        middle = (begin + end) // 2
        if ascending[middle] < wanted:
            begin = middle + 1
        else:
            end = middle
    return begin


@inner(borrowing=True)
def insert(distance, name, distances, names, last):
    """Puts a name where its distance belongs among ascending ones; what stood at the place `last` goes."""
    slot = last
    while slot > 0 and distances[slot - 1] > distance:
        distances[slot], names[slot] = distances[slot - 1], names[slot - 1]
        slot -= 1
    distances[slot], names[slot] = distance, name


DIGIT = 8
DIGITS = 1 << DIGIT


@kernel
def by_digits(keys, spare, low, high):
    """Keys from 0 up in the ascending order of their bits from `low` to before `high`, equal ones as they stand. Both
    arrays are overwritten; one of them is what it returns. Many keys take a fraction of the time of comparing them."""
    passes = (high - low + DIGIT - 1) // DIGIT
    last = np.uint64(DIGITS - 1)
    ends = np.zeros((passes, DIGITS), np.int64)
    for place in range(len(keys)):
        key = np.uint64(keys[place]) >> np.uint64(low)
        for digit in range(passes):
            ends[digit, key & last] += 1
            key >>= np.uint64(DIGIT)
    for digit in range(passes):
        total = 0
        for value in range(DIGITS):
            total, ends[digit, value] = total + ends[digit, value], total
        shift, begins = np.uint64(low + digit * DIGIT), ends[digit]
        for place in range(len(keys)):
            key = keys[place]
            value = (np.uint64(key) >> shift) & last
            spare[np.uint64(begins[value])] = key
            begins[value] += 1
        keys, spare = spare, keys
    return keys


@kernel
def count_digits(keys, low, counts):
    """Adds to how many keys have each value of the digit that begins at a bit."""
    last = np.uint64(DIGITS - 1)
    for place in range(len(keys)):
        counts[(np.uint64(keys[place]) >> np.uint64(low)) & last] += 1


def places_of_digits(counts: Any) -> tuple[Any, Any]:
    """Where the keys with each value of a digit end, and where those of each thread begin, by how many each has."""
    ends = np.cumsum(counts.sum(axis=0))
    return ends, ends - counts[::-1].cumsum(axis=0)[::-1]


@kernel
def place_by_digit(keys, low, begins, placed):
    """Writes keys where those with the same value of the digit that begins at a bit are to stand; moves `begins` on."""
    last = np.uint64(DIGITS - 1)
    for place in range(len(keys)):
        key = keys[place]
        value = (np.uint64(key) >> np.uint64(low)) & last
        placed[np.uint64(begins[value])] = key
        begins[value] += 1


@kernel
def each_by_digits(keys, spare, ends, low, high):
    """Sorts stretches of keys, one up to each of the `ends`, by their bits from `low` to before `high`. Both arrays are
    overwritten; one of them is what it returns."""
    begin = 0
    for end in ends:
        by_digits(keys[begin:end], spare[begin:end], low, high)
        begin = end
    return spare if (high - low + DIGIT - 1) // DIGIT % 2 else keys


@kernel
def place_by_first_digit(hashes, first, last, begins, places):
    """Writes the places of the hashes `first:last` in the order of their first digit, those with each value of it from
    its place in `begins` on, which moves on; equal ones stay as they stand."""
    shift = np.uint64(64 - DIGIT)
    for place in range(first, last):
        value = hashes[place] >> shift
        places[np.uint64(begins[value])] = place
        begins[value] += 1


@kernel
def by_further_digits(hashes, places):
    """Sorts places of hashes that have the same first digit, equal ones as they stand. Hashes are spread evenly: a few
    digits tell nearly all of them apart, and where they do not, all digits are looked at."""
    count, last = len(places), np.uint64(DIGITS - 1)
    keys, spare = np.empty(count, np.uint64), np.empty(count, np.uint64)
    ordered, others = np.empty(count, places.dtype), np.empty(count, places.dtype)
    for at in range(count):
        ordered[at] = places[at]
        keys[at] = hashes[places[at]]
    for low in (64 - 5 * DIGIT, 0):
        for shift in range(low, 64 - DIGIT, DIGIT):
            begins = np.zeros(DIGITS, np.int64)
            for at in range(count):
                begins[(keys[at] >> np.uint64(shift)) & last] += 1
            total = 0
            for value in range(DIGITS):
                total, begins[value] = total + begins[value], total
            for at in range(count):
                value = (keys[at] >> np.uint64(shift)) & last
                place = np.uint64(begins[value])
                begins[value] += 1
                spare[place] = keys[at]
                others[place] = ordered[at]
            keys, spare = spare, keys
            ordered, others = others, ordered
        ascending = True
        for at in range(1, count):
            ascending &= keys[at - 1] <= keys[at]
        if ascending:
            break
    for at in range(count):
        places[at] = ordered[at]
