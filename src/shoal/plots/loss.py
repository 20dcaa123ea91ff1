"""What each column lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shoal.core.formatting import printable
from shoal.errors import ParameterError
from shoal.plots.drawing import BLUE, INK, WIDTH, altair, shown_offline
from shoal.publishing.columns import ReleasedColumn

ROW = 26
"""Pixels of a column's row."""


@shown_offline
def loss(columns: Sequence[ReleasedColumn]) -> Any:
    """A chart of the share of its detail that each quasi-identifier lost, the greatest loss first.

    Example:
        >>> import shoal
        >>> data = shoal.read(shoal.samples.adult(), quasi=["age", "sex"])
        >>> columns = shoal.columns(data, shoal.anonymize(data, "k-anonymity:k=5", algorithm="mondrian"))
        >>> [row["column"] for row in loss(columns).to_dict()["data"]["values"]]
        ['age', 'sex']
    """
    known = [(column.lost, column) for column in columns if column.lost is not None and str(column.role) == "quasi"]
    if not known:
        raise ParameterError("this form of release does not tell how much detail its columns lost")
    library = altair()
    rows = [
        {"column": printable(column.name), "lost": share, "label": column.lost_words}
        for share, column in sorted(known, key=lambda each: -each[0])
    ]
    names = [row["column"] for row in rows]
    title, axis = "share of the column's detail that was lost", {"format": "%", "tickCount": 5}
    base = library.Chart(library.Data(values=rows)).encode(
        y=library.Y("column:N", sort=names, title=None, axis={"ticks": False, "labelFontSize": 12}),
        x=library.X("lost:Q", title=title, axis=axis, scale={"domain": [0, 1]}),
    )
    bars = base.mark_bar(color=BLUE, height=14).encode(
        tooltip=[library.Tooltip("column:N"), library.Tooltip("lost:Q", format=".1%")]
    )
    inside = "datum.lost > 0.9"
    align, dx, color = f"{inside} ? 'right' : 'left'", f"{inside} ? -5 : 5", f"{inside} ? 'white' : '{INK}'"
    labels = base.mark_text(align={"expr": align}, dx={"expr": dx}, fontSize=11, color={"expr": color})
    labels = labels.encode(text=library.Text("label:N"))
    return library.layer(bars, labels).properties(
        width=WIDTH - 80, height=ROW * len(rows), title="What each quasi-identifier lost"
    )
