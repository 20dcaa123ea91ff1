"""Columns looked at together: rows that have both, and rows of two tables that only their groups put together."""

import numpy as np

from shoal.kernels.compilation import inner, kernel


@kernel
def pairs_of_rows(one, other, weights, width, height):
    """What the rows with each pair of codes weigh: `one` has codes below `width`, `other` below `height`."""
    counts = np.zeros((width, height), np.float64)
    for row in range(len(weights)):
        counts[one[row], other[row]] += weights[row]
    return counts


@inner
def _collected(rows, begin, end, codes, weights, totals, touched):
    """Adds the weights of some rows up by their codes; says how many codes there are, which `touched` begins with."""
    count = 0
    for at in range(begin, end):
        code, weight = codes[rows[at]], weights[rows[at]]
        if weight > 0.0 and totals[code] == 0.0:
            touched[count] = code
            count += 1
        totals[code] += weight
    return count


@kernel
def pairs_of_groups(rows, starts, codes, weights, other_rows, other_starts, other_codes, other_weights, counts, sizes):
    """Adds to `counts` how many records each pair of codes of two tables is expected to have. Both have the rows of a
    group from its start to that of the next one; within a group every way to put them together is as likely as any
    other."""
    totals, touched = np.zeros(counts.shape[0], np.float64), np.empty(counts.shape[0], np.int64)
    other_totals, other_touched = np.zeros(counts.shape[1], np.float64), np.empty(counts.shape[1], np.int64)
    rounded = np.zeros(counts.shape, np.float64)
    for group in range(len(sizes)):
        many = _collected(rows, starts[group], starts[group + 1], codes, weights, totals, touched)
        others = _collected(
            other_rows, other_starts[group], other_starts[group + 1], other_codes, other_weights, other_totals,
            other_touched,
        )  # fmt: skip
        for at in range(many):
            code = touched[at]
            share = totals[code] / max(sizes[group], 1.0)
            totals[code] = 0.0
            for place in range(others):
                other = other_touched[place]
                # What rounding takes off is added to the next one: there are millions, and differences are looked at.
                more = share * other_totals[other] - rounded[code, other]
                total = counts[code, other] + more
                rounded[code, other] = (total - counts[code, other]) - more
                counts[code, other] = total
        for place in range(others):
            other_totals[other_touched[place]] = 0.0


@kernel
def leaves_of_tuples(rows, begins, groups, weights, sizes, starts, leaves, counts, values, most):
    """Which of `values` leaves the records of each tuple are expected to have, as tuples, leaves and counts. A tuple
    has the `rows` from its begin to that of the next one; a group has the leaves from its start to that of the next
    one. Nothing where there are more than `most` of them."""
    totals, touched, room = np.zeros(values, np.float64), np.empty(values, np.int32), 1024
    owners, found, expected = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.float64)
    count = 0
    for each in range(len(begins) - 1):
        many = 0
        for at in range(begins[each], begins[each + 1]):
            group = groups[rows[at]]
            if group < len(starts) - 1:
                share = weights[rows[at]] / max(sizes[group], 1.0)
                for place in range(starts[group], starts[group + 1]):
                    leaf, more = leaves[place], share * counts[place]
                    if more > 0.0 and totals[leaf] == 0.0:
                        touched[many] = leaf
                        many += 1
                    totals[leaf] += more
        if count + many > most:
            count = 0
            break
        if count + many > room:
            room = 2 * room + many
            owners, found = _longer(owners, room), _longer(found, room)
            expected = _longer(expected, room)
        for place in range(many):
            leaf = touched[place]
            owners[count], found[count], expected[count] = each, leaf, totals[leaf]
            count += 1
            totals[leaf] = 0.0
    return owners[:count].copy(), found[:count].copy(), expected[:count].copy()


@inner
def _longer(array, length):
    """The same array with more room behind it."""
    longer = np.empty(length, array.dtype)
    longer[: len(array)] = array
    return longer
