"""k-means as WEKA's SimpleKMeans does it, to the last rounding: distances added up attribute by attribute, in order.

`rows` has numbers and, where an attribute is `nominal`, the places of names. Numbers are compared after scaling to the
range of the table; names are equal or one apart.
"""

import numpy as np

from shoal.kernels.compilation import inner, kernel

FARTHEST = 2147483647.0  # WEKA begins at the greatest int


@kernel
def scaled(points, nominal, low, width):
    """Points as they are compared, a row for each attribute."""
    columns = np.empty((len(nominal), len(points)))
    for attribute in range(len(nominal)):
        for point in range(len(points)):
            value = points[point, attribute]
            if not nominal[attribute]:
                value = (value - low[attribute]) / width[attribute] if width[attribute] > 0 else 0.0
            columns[attribute, point] = value
    return columns


@kernel
def assign(records, centres, moved, nominal, owners, flag):
    """Gives every record the first of its nearest centres; all points are `scaled`.

    `owners` has the nearest centre of each record before some of them `moved`, or -1. Where that one did not, only
    those that moved can be nearer.
    """
    everyone, moving = np.arange(len(moved)), np.flatnonzero(moved)
    among = np.empty((len(nominal), len(moving)))
    for attribute in range(len(nominal)):
        among[attribute] = centres[attribute][moving]
    squares = np.empty(len(moved))
    for record in range(len(owners)):
        if flag[0]:
            return
        best, nearest = FARTHEST, 0
        owner = owners[record]
        if owner >= 0 and not moved[owner]:
            _squares(records, record, centres, owner, owner + 1, nominal, squares)
            if np.sqrt(squares[0]) < best:
                best, nearest = np.sqrt(squares[0]), owner
            columns, names = among, moving
        else:
            columns, names = centres, everyone
        _squares(records, record, columns, 0, len(names), nominal, squares)
        within = best * best * (1 + 1e-12)
        for place in range(len(names)):
            if squares[place] <= within:
                distance = np.sqrt(squares[place])  # rounds what differs by next to nothing to the same
                if distance < best or (distance == best and names[place] < nearest):
                    best, nearest = distance, names[place]
                    within = best * best * (1 + 1e-12)
        owners[record] = nearest


@inner
def _squares(records, record, centres, begin, end, nominal, squares):
    """The squared distances of a record from some centres: attribute by attribute for all centres, which processors do
    for several at a time."""
    squares[: end - begin] = 0.0
    for attribute in range(len(nominal)):
        value, column = records[attribute, record], centres[attribute, begin:end]
        if nominal[attribute]:
            for place in range(end - begin):
                squares[place] += 1.0 if column[place] != value else 0.0
        else:
            for place in range(end - begin):
                difference = value - column[place]
                squares[place] += difference * difference


@kernel
def means(rows, owners, clusters, nominal, values):
    """The mean of each cluster's numbers and the most frequent of its names, the first of equals; and its size."""
    sizes = np.zeros(clusters, np.int64)
    centres = np.zeros((clusters, len(nominal)))
    for record in range(len(rows)):
        sizes[owners[record]] += 1
        for attribute in range(len(nominal)):
            if not nominal[attribute]:
                centres[owners[record], attribute] += rows[record, attribute]
    for attribute in range(len(nominal)):
        if nominal[attribute]:
            counts = np.zeros((clusters, values[attribute]), np.int64)
            for record in range(len(rows)):
                counts[owners[record], int(rows[record, attribute])] += 1
            for cluster in range(clusters):
                centres[cluster, attribute] = np.argmax(counts[cluster])
        else:
            for cluster in range(clusters):
                if sizes[cluster]:
                    centres[cluster, attribute] /= sizes[cluster]
    return centres, sizes
