"""What algorithms lose under several policies, side by side."""

from __future__ import annotations

from pathlib import Path

from shoal.errors import ParameterError
from shoal.plots.drawing import PANEL, SERIES, SHAPES, altair, save
from shoal.utility.comparison import Comparison


def picture(comparison: Comparison, path: Path) -> Path:
    """A panel for each loss and one for the seconds, a row of panels for each of the models, a line for each algorithm;
    written to `path`.

    Where the k differ they stand below; else the algorithms do.
    """
    library = altair()
    sizes = list(dict.fromkeys(row.k for row in comparison))
    rows = [
        {"algorithm": row.algorithm, "k": row.k, "measure": name, "value": value, "models": row.models}
        for row in comparison
        for name, value in {**row.losses, "seconds": row.seconds}.items()
        if isinstance(value, (int, float)) and (row.reason is None or name in row.losses)
    ]
    if not rows:
        raise ParameterError("no combination has a release, so there is nothing to draw")
    algorithms = list(dict.fromkeys(row.algorithm for row in comparison))
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    lacking = sum(row.classes is None and row.reason is not None for row in comparison)
    across = (
        library.X("k:O", sort=sizes, title="k", axis={"labelAngle": 0})
        if sizes != [None] and len(sizes) > 1
        else library.X("algorithm:N", sort=algorithms, title=None, axis={"labelAngle": -30, "labelLimit": 240})
    )
    scale, legend = {"domain": algorithms, "range": list(SERIES)}, {"orient": "bottom", "columns": 2}
    colour = library.Color("algorithm:N", sort=algorithms, title=None, scale=scale, legend=legend)
    names = map(library.Tooltip, ("algorithm:N", "models:N", "k:Q", "measure:N"))
    tooltip = [*names, library.Tooltip("value:Q", format=".4~f")]
    base = library.Chart().encode(x=across, y=library.Y("value:Q", title=None), color=colour, tooltip=tooltip)
    marks = library.Shape(
        "algorithm:N", sort=algorithms, title=None, scale={"domain": algorithms, "range": list(SHAPES)}
    )
    lines = library.layer(base.mark_line(), base.mark_point(size=60, filled=True, opacity=1).encode(shape=marks))
    drawn = lines if len(sizes) > 1 else base.mark_bar()
    title = f"{comparison.records:,} records: what each algorithm loses, and its seconds"
    more = f"{lacking} of {len(comparison)} combinations have no release" if lacking else ""
    chart = (
        drawn.properties(width=PANEL, height=PANEL)
        .facet(
            row=library.Row("models:N", title=None, sort=list(dict.fromkeys(row["models"] for row in rows))),
            column=library.Column("measure:N", title=None, sort=measures),
            data=library.Data(values=rows),
        )
        .resolve_scale(y="independent")
        .properties(title={"text": title, "subtitle": more})
    )
    return save(chart, path)
