"""`shoal diagnose`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options, output, questions


def run(
    source: options.Input = None,
    quasi: options.Quasi = None,
    sensitive: options.Sensitive = None,
    identifiers: options.Identifiers = None,
    k: Annotated[
        int | None, typer.Option("--k", help="The least class size that is wanted; exit code 1 below it.")
    ] = None,
    models: options.Models = None,
    attributes: Annotated[
        str | None, typer.Option("--attributes", help="Look at these columns only, separated by commas.")
    ] = None,
    ask: Annotated[
        int | None,
        typer.Option("--ask", help="Answer this one of the twelve questions; what it does not need is passed over."),
    ] = None,
    l: Annotated[float | None, typer.Option("--l", help="The diversity that is wanted.")] = None,  # noqa: E741
    t: Annotated[float | None, typer.Option("--t", help="The closeness that is wanted.")] = None,
    delta: Annotated[
        str | None, typer.Option("--delta", help="The share of records that may be left out, or ask to be told it.")
    ] = None,
    notion: Annotated[
        str | None,
        typer.Option("--notion", help="k, distinct-l, entropy-l, frequency-l, recursive-l or t."),
    ] = None,
    c: Annotated[float | None, typer.Option("--c", help="The c of recursive-l.")] = None,
    distance: Annotated[str, typer.Option("--distance", help="Of t: equal, ordered or hierarchical.")] = "equal",
    about: Annotated[
        str | None, typer.Option("--about", help="The sensitive attribute of the question, where there are several.")
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option("--time-limit", help="Seconds after which what is proven is told.")
    ] = None,
    sql: Annotated[
        str | None, typer.Option("--sql", help="Print the query behind the answer: duckdb, postgres, spark, mysql, …")
    ] = None,
    table: Annotated[
        str | None, typer.Option("--table", help="The table's name in the query; the file's name by default.")
    ] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw the answer: a .svg, .png or .html file.")] = None,
    detect: Annotated[
        bool, typer.Option("--detect", help="Suggest roles for the columns, with reasons; needs no roles.")
    ] = False,
    share: Annotated[
        float, typer.Option("--share", help="Of --detect: sets that single out more than this share are listed.")
    ] = 0.05,
    hierarchies: options.Hierarchies = None,
    hierarchy_of: options.HierarchyOf = None,
    kinds: options.KindOf = None,
    missing: options.Missing = None,
    missing_rules: options.MissingRule = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    job: options.JobFile = None,
    as_json: options.Json = False,
) -> None:
    """Tell how exposed the people in a table are: its k, whom it singles out, the risk of being found.

    One of twelve questions is answered as well; which one follows from what is given: attributes, a bound (k, l, t),
    and the share of records that may be left out (--delta) or that is asked for (--delta ask). A bound without
    attributes asks which sets of columns keep it. --ask names the question. Without --quasi, every column that has no
    other role is looked at.
    """
    from shoal import api
    from shoal import job as jobs
    from shoal.core.finding import Findings
    from shoal.errors import InputError

    made = options.base_job(
        job, source=source, quasi=quasi, sensitive=sensitive, identifiers=identifiers, hierarchies=hierarchies,
        hierarchy_of=hierarchy_of, kinds=kinds, missing=missing, missing_rules=missing_rules, delimiter=delimiter,
        encoding=encoding,
    )  # fmt: skip
    if detect:
        if made.input is None:
            raise InputError("name the table to look at")
        found = api.detect(
            made.input, share=share, missing=made.missing, delimiter=made.delimiter, encoding=made.encoding,
            **({} if time_limit is None else {"time_limit": time_limit}),
        )  # fmt: skip
        questions.show_detection(found, as_json=as_json)
        return
    data = options.read_job(options.every_column_quasi(made))
    chosen = options.listed(attributes) or None
    wanted = made.models_with([jobs.plugin("models", model) for model in models or []])
    if k is None:
        k = max((model.least for model in wanted if model.by_size), default=None)
    bounded = [*wanted, *questions.bounded(l=l, t=t, notion=notion, c=c, distance=distance, column=about)]
    exposed = api.diagnose(data, k=k, attributes=chosen)
    classes = data.summary if chosen is None else data.group(tuple(chosen))
    findings = Findings((*exposed, *(model.measure(classes) for model in bounded if not model.by_size)))
    named = table or (made.input.name.split(".")[0] if made.input is not None else "data")
    if any(given is not None for given in (ask, l, t, delta, notion, sql, plot, time_limit)):
        asked = questions.needed(ask, {"k": k, "l": l, "t": t, "delta": questions.delta_of(delta), "notion": notion})
        with output.watching() as run:
            answer = api.ask(
                data, attributes=chosen, c=c, distance=distance, sensitive=about, question=ask, time_limit=time_limit,
                run=run, **asked,
            )  # fmt: skip
        questions.show(
            answer, as_json=as_json, sql=sql, table=named, plot=plot, records=data.records,
            **({"findings": findings.as_dict()} if as_json else {}),
        )  # fmt: skip
        by_number = ask is not None or delta is not None
        output.answer(answer.answer is not False if by_number else findings.holds)
        return
    implied = questions.implied(data, k=k, attributes=chosen)
    if as_json:
        more = {} if implied is None else implied.as_dict()
        output.show(findings, as_json=True, title="Exposure", records=data.records, **more)
    else:
        output.show(findings, as_json=False, title="Exposure", records=data.records)
        if implied is not None:
            questions.show(implied, as_json=False, sql=None, table=named, plot=None)
    output.answer(findings.holds)
