"""The cutting kernel against a plain twin."""

import numpy as np
import polars as pl
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.core.policy import Policy
from shoal.core.run import Run


def width(tree, span, low, high, interval):
    if low == high:
        return 0.0
    if interval:
        if tree.missing and low == 0:
            return 1.0
        return (tree.values[high] - tree.values[low]) / span
    first, last = tree.widen(np.array([low], np.int32), np.array([high], np.int32))
    return float(last[0] - first[0] + 1) / tree.size


def cut(points, weights, k, trees, spans, intervals):
    """The parts of one partition, by the definition; None when it cannot be cut."""
    low, high = points.min(axis=0), points.max(axis=0)
    widths = [
        width(tree, span, lo, hi, interval)
        for tree, span, lo, hi, interval in zip(trees, spans, low, high, intervals, strict=True)
    ]
    ranked = sorted((-widths[place], tree.size, tree.column, place) for place, tree in enumerate(trees))
    for *_, attribute in ranked:
        if widths[attribute] == 0:
            return None
        codes = points[:, attribute]
        if intervals[attribute]:
            options = sorted(set(codes.tolist()))[:-1]
            sizes = {code: (weights[codes <= code].sum(), weights[codes > code].sum()) for code in options}
            allowed = [code for code in options if min(sizes[code]) >= k]
            if trees[attribute].missing and 0 in allowed:
                allowed = [0]
            if allowed:
                best = max(allowed, key=lambda code: (min(sizes[code]), -code))
                return [codes <= best, codes > best]
            continue
        level = trees[attribute].ancestor_levels(low[[attribute]], high[[attribute]])[0] - 1
        nodes = trees[attribute].codes[level][codes]
        totals = {node: weights[nodes == node].sum() for node in sorted(set(nodes.tolist()))}
        grown = [node for node in totals if totals[node] >= k]
        rest = sum(totals[node] for node in totals if node not in grown)
        if 0 < rest < k and grown:
            smallest = min(grown, key=lambda node: totals[node])
            grown.remove(smallest)
            rest += totals[smallest]
        parts = [nodes == node for node in grown]
        if rest:
            parts = [~np.isin(nodes, grown), *parts]
        if len(parts) > 1 and all(weights[part].sum() >= k for part in parts):
            return parts
    return None


def twin(points, weights, k, trees, spans, intervals):
    classes, stack = set(), [np.arange(len(points))]
    while stack:
        rows = stack.pop()
        parts = cut(points[rows], weights[rows], k, trees, spans, intervals)
        if parts is None:
            classes.add(frozenset(rows.tolist()))
        else:
            stack.extend(rows[part] for part in parts)
    return classes


@given(st.integers(0, 10**6), st.integers(1, 6), st.sampled_from(["interval", "hierarchy"]))
@settings(max_examples=count(22, 80), deadline=None)
def test_same_classes_as_the_twin(seed, k, numeric):
    generator = np.random.default_rng(seed)
    rows = int(generator.integers(k, 40))
    table = pl.DataFrame(
        {
            "age": generator.choice([20, 21, 25, 30, 31, 47, None], rows).tolist(),
            "city": generator.choice(["a1", "a2", "b1", "b2", "b3", "c1"], rows),
            "pay": generator.integers(0, 10**6, rows),
        }
    )
    data = shoal.read(table, quasi=["age", "city", "pay"])
    recoding = shoal.algorithms.Mondrian(numeric=numeric).search(data, Policy(models=(shoal.KAnonymity(k=k),)), Run())
    classes = recoding.plan.classes
    found = {frozenset(np.flatnonzero(classes == owner).tolist()) for owner in set(classes.tolist())}
    intervals = [tree.ordered and numeric == "interval" for tree in data.hierarchies]
    spans = []
    for tree, keys in zip(data.hierarchies, data.summary.keys, strict=True):
        present = keys[keys >= int(tree.missing)]
        span = tree.values[present.max()] - tree.values[present.min()] if tree.ordered and len(present) else 0
        spans.append(span or 1.0)
    points = np.ascontiguousarray(data.summary.keys.T)
    assert found == twin(points, data.summary.sizes, k, data.hierarchies, spans, intervals)
