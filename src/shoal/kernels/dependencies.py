"""How far columns depend on a partition of the rows; partitions are those of `kernels.partitions`."""

from shoal.kernels.compilation import kernel


@kernel
def violations(order, starts, column, counts, limit, tally):
    """How many records have to go so that a column is constant in every class, where a row stands for `counts` of them;
    as soon as that is more than `limit`, `limit + 1`. Then also two rows of a class that differ. `tally` is zero and
    longer than the greatest code."""
    broken = 0
    for owner in range(len(starts) - 1):
        begin, end = starts[owner], starts[owner + 1]
        most = total = 0
        for place in range(begin, end):
            row = order[place]
            tally[column[row]] += counts[row]
            total += counts[row]
            most = max(most, tally[column[row]])
        for place in range(begin, end):
            tally[column[order[place]]] = 0
        broken += total - most
        if broken > limit:
            other = begin
            while column[order[other]] == column[order[begin]]:
                other += 1
            return limit + 1, order[begin], order[other]
    return broken, 0, 0


@kernel
def varying(order, starts, column, owner_of, varies, shared):
    """Marks, by the code `owner_of` of their rows, the values some of whose classes are not constant in a column, and
    those that have a class of several rows at all."""
    for owner in range(len(starts) - 1):
        first = order[starts[owner]]
        value = owner_of[first]
        shared[value] = True
        if varies[value]:
            continue
        for place in range(starts[owner] + 1, starts[owner + 1]):
            if column[order[place]] != column[first]:
                varies[value] = True
                break
