"""Beliefs about people, a row each with a number for each value, by the codes that are known of them.

Everything is added in the order of the people or of the features, as a plain loop would.
"""

import numpy as np

from shoal.kernels.compilation import kernel


@kernel
def sums_by_code(beliefs, codes, count):
    """The sum of the beliefs about the people of each code, a row each. `codes` has a row for each feature, and no code
    of one is a code of another."""
    people, width = beliefs.shape
    sums = np.zeros((count, width))
    for person in range(people):
        own = beliefs[person]
        for feature in range(len(codes)):
            row = sums[codes[feature, person]]
            for value in range(width):
                row[value] += own[value]
    return sums


@kernel
def add_by_code(scores, table, codes, below):
    """Adds to the scores of each person what the table has for the person's codes, summed first; `below` becomes how
    far each score is below the person's highest, as a negative number."""
    people, width = scores.shape
    for person in range(people):
        own, sums = scores[person], below[person]
        sums[:] = 0.0
        for feature in range(len(codes)):
            row = table[codes[feature, person]]
            for value in range(width):
                sums[value] += row[value]
        highest = -np.inf
        for value in range(width):
            own[value] += sums[value]
            highest = max(highest, own[value])
        for value in range(width):
            sums[value] = own[value] - highest
