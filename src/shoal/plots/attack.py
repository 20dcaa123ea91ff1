"""How often attacks succeed, beside a guess without the release."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shoal.core.contracts.attack import Attempt
from shoal.core.risk_line import accepted, line_words
from shoal.errors import ParameterError
from shoal.plots.drawing import BLUE, ORANGE, altair, save, shown_offline

WIDTH, ROW = 460, 34
SUCCESS, BASELINE, CONTROL, WORST, LIMIT = BLUE, "#9fb7c4", "#5b8c5a", ORANGE, "#d1495b"
NAMES = {
    "with the release": SUCCESS,
    "without the release": BASELINE,
    "people held out": CONTROL,
    "most exposed person": WORST,
}


def picture(attempts: Sequence[Attempt], path: Path, *, threshold: float | None = None) -> Path:
    """The chart of attacks, written to `path`."""
    return save(attacks(attempts, threshold=threshold), path)


@shown_offline
def attacks(attempts: Sequence[Attempt], *, threshold: float | None = None) -> Any:
    """A chart with a row for each attack: how often it succeeds over all people, with its interval where it has one,
    how often the same guess does without the release, and the most exposed person."""
    if not attempts:
        raise ParameterError("no attack was made, so there is nothing to draw")
    library = altair()
    rows = []
    for each in attempts:
        shares = zip(NAMES, (each.success, each.baseline, each.control, each.worst), strict=True)
        rows += [{"attack": each.name, "who": who, "share": share} for who, share in shares if share is not None]
    shown = [name for name in NAMES if any(row["who"] == name for row in rows)]
    order = [each.name for each in attempts]
    across = library.X("share:Q", title="chance", scale={"domain": [0, 1]}, axis={"format": "%"})
    down = library.Y("attack:N", sort=order, title=None, axis={"labelLimit": 240})
    scale = {"domain": shown, "range": [NAMES[name] for name in shown]}
    legend = {"orient": "bottom", "columns": 2, "symbolOpacity": 1}
    colour = library.Color("who:N", title=None, scale=scale, legend=legend)
    base = library.Chart(library.Data(values=rows)).encode(
        x=across,
        y=down,
        color=colour,
        tooltip=[library.Tooltip("attack:N"), library.Tooltip("who:N"), library.Tooltip("share:Q", format=".2%")],
    )
    bars = base.transform_filter("datum.who == 'with the release'").mark_bar(size=14)
    ticks = base.transform_filter("datum.who == 'without the release' || datum.who == 'people held out'").mark_tick(
        thickness=4, size=24
    )
    points = base.transform_filter("datum.who == 'most exposed person'").mark_point(size=90, filled=True, opacity=1)
    layers = [bars, ticks, points]
    sampled = [
        {"attack": each.name, "low": each.interval[0], "high": each.interval[1]}
        for each in attempts
        if each.interval is not None
    ]
    if sampled:
        layers.append(
            library.Chart(library.Data(values=sampled))
            .mark_rule(strokeWidth=2)
            .encode(x=library.X("low:Q"), x2=library.X2("high:Q"), y=down)
        )
    if threshold is not None:
        line = library.Chart(library.Data(values=[{"share": accepted(threshold)}]))
        layers.append(line.mark_rule(color=LIMIT, strokeDash=[5, 4], strokeWidth=2).encode(x=library.X("share:Q")))
    title = {"text": "What attacks get out of the release"}
    if threshold is not None:
        title["subtitle"] = f"dashed: the threshold, {line_words(threshold)}"
    return library.layer(*layers).properties(width=WIDTH, height=ROW * len(attempts), title=title)
