"""k-means as WEKA's SimpleKMeans does it, to the last rounding: distances added up attribute by attribute, in order.

`rows` has numbers and, where an attribute is `nominal`, the places of names. Numbers are compared after scaling to the
range of the table; names are equal or one apart.
"""

import numpy as np

from shoal.kernels.compilation import inner, kernel


@kernel
def assign(rows, centres, nominal, low, width, owners, flag):
    """Gives every row the first of its nearest centres; returns whether any row changed."""
    scaled = np.empty_like(centres)
    for centre in range(len(centres)):
        for attribute in range(len(nominal)):
            scaled[centre, attribute] = _norm(centres[centre, attribute], attribute, nominal, low, width)
    changed = False
    row = np.empty(len(nominal))
    for record in range(len(rows)):
        if flag[0]:
            return True
        for attribute in range(len(nominal)):
            row[attribute] = _norm(rows[record, attribute], attribute, nominal, low, width)
        best, nearest = 2147483647.0, 0  # WEKA begins at the greatest int
        for centre in range(len(scaled)):
            total, within = 0.0, best * best * (1 + 1e-12)
            for attribute in range(len(nominal)):
                difference = row[attribute] - scaled[centre, attribute]
                if nominal[attribute] and difference != 0:
                    difference = 1.0
                total += difference * difference
                if total > within:
                    break
            distance = np.sqrt(total)  # rounds what differs by next to nothing to the same
            if total <= within and distance < best:
                best, nearest = distance, centre
        if owners[record] != nearest:
            owners[record] = nearest
            changed = True
    return changed


@inner
def _norm(value, attribute, nominal, low, width):
    if nominal[attribute]:
        return value
    return (value - low[attribute]) / width[attribute] if width[attribute] > 0 else 0.0


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
