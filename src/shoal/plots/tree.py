"""A classification tree: what is asked on the way to each leaf, and what the leaf says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from shoal.errors import InputError
from shoal.learners.c45 import C45
from shoal.plots.drawing import altair, save
from shoal.utility.tree_nodes import Node

MOST_ROWS = 80
ROW, CHARACTER, NARROWEST, WIDEST = 26, 6.5, 70, 260
"""Pixels: the height of a row, the width of a character, and that of the least and greatest column."""


def picture(learner: C45, path: Path | str) -> Path:
    """A picture of a trained tree; written to `path`. It shows values of the table, as the tree itself does.

    The root is on the left; above each line stands what it asks of a record. A leaf tells its class, its training
    records and how many of them are of another class. Of a tree with too many leaves the upper part is drawn, and each
    branch that is cut off says how many leaves it has.

    Example:
        >>> import shoal, tempfile
        >>> table = shoal.samples.haberman()
        >>> tree = shoal.learners.C45().fit(table.drop("class"), table["class"])
        >>> picture(tree, Path(tempfile.mkdtemp()) / "tree.svg").name
        'tree.svg'
    """
    if not hasattr(learner, "tree_"):
        raise InputError("the tree is not trained yet; call fit first")
    library = altair()
    places = _places(learner.tree_, _depth(learner.tree_))
    asked = {id(place): learner.condition(*place.way) for place in places if place.way is not None}
    verdicts = {id(place): _verdict(learner, place.node) for place in places if place.end}
    depth = max(place.depth for place in places)
    widths = [_width(asked[id(place)] for place in places if place.depth == level) for level in range(1, depth + 1)]
    starts = [sum(widths[:level]) for level in range(depth + 1)]
    lines, texts = [], []
    for place in places:
        x, y = starts[place.depth], place.row * ROW
        if place.way is not None:
            before = starts[place.depth - 1]
            lines.append({"x": before, "y": y, "x2": x, "y2": y})
            texts.append({"x": before + 8, "y": y - 8, "text": asked[id(place)], "bold": False})
        if place.end:
            texts.append({"x": x + 6, "y": y, "text": verdicts[id(place)], "bold": True})
        else:
            lines.append({"x": x, "y": place.first * ROW, "x2": x, "y2": place.last * ROW})
    height = ROW * sum(place.end for place in places)
    width = starts[-1] + int(CHARACTER * max(map(len, verdicts.values()))) + 20
    across = library.X("x:Q", axis=None, scale={"domain": [0, width], "nice": False})
    down = library.Y("y:Q", axis=None, scale={"domain": [height, -ROW], "nice": False})
    drawn = (
        library.Chart(library.Data(values=lines))
        .mark_rule(color="black", strokeWidth=1)
        .encode(x=across, y=down, x2=library.X2("x2:Q"), y2=library.Y2("y2:Q"))
    )
    layers = [drawn] if lines else []
    for bold, limit in ((False, WIDEST - 16), (True, width)):
        shown = [each for each in texts if each["bold"] is bold]
        style = {"align": "left", "baseline": "middle", "fontSize": 11, "limit": limit, "color": "black"}
        marks = library.Chart(library.Data(values=shown)).mark_text(fontWeight="bold" if bold else "normal", **style)
        layers.append(marks.encode(x=across, y=down, text=library.Text("text:N")))
    leaves = sum(1 for _ in learner.tree_.leaves())
    title = {"text": f"{learner.tree_.total:,.0f} records, {leaves:,} {'leaf' if leaves == 1 else 'leaves'}"}
    chart = library.layer(*layers).properties(width=width, height=height + ROW, title=title)
    return save(chart.configure_view(stroke=None), Path(path))


@dataclass(eq=False)
class _Place:
    """A node in the picture: its depth, its row, the rows of its first and its last branch, and the node above it with
    the branch that leads here. An `end` has no branches in the picture."""

    node: Node
    depth: int
    way: tuple[Node, int] | None
    end: bool
    row: float = 0.0
    first: float = 0.0
    last: float = 0.0


def _places(root: Node, depth: int) -> list[_Place]:
    """Ends one below the other, every other node in the middle of its branches."""
    rows = iter(range(1 << 30))

    def place(node: Node, level: int, way: tuple[Node, int] | None) -> list[_Place]:
        here = _Place(node, level, way, node.leaf or level == depth)
        if here.end:
            here.row = next(rows)
            return [here]
        branches = [place(branch, level + 1, (node, at)) for at, branch in enumerate(node.branches)]
        here.first, here.last = branches[0][0].row, branches[-1][0].row
        here.row = (here.first + here.last) / 2
        return [here, *(each for branch in branches for each in branch)]

    return place(root, 0, None)


def _depth(root: Node) -> int:
    """The greatest depth to which a tree can be drawn."""
    level, depth = [root], 0
    ends = 0
    while level:
        ends += sum(node.leaf for node in level)
        level = [branch for node in level for branch in node.branches]
        if ends + len(level) > MOST_ROWS:
            break
        depth += 1
    return max(depth, 1)


def _width(labels: Iterator[str]) -> int:
    return int(min(WIDEST, max(NARROWEST, CHARACTER * max(map(len, labels)) + 16)))


def _verdict(learner: C45, node: Node) -> str:
    if node.total == 0:
        return "no records"
    more = "" if node.leaf else f" … {sum(1 for _ in node.leaves()):,} leaves"
    wrong = f", {node.wrong:g} wrong" if node.wrong > 1e-6 else ""
    return f"{learner.classes_[node.classes.argmax()]} ({node.total:g}{wrong}){more}"
