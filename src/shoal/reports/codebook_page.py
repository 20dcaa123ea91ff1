"""The codebook of a release as a page: it stands on its own, runs no script, and shows every name as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path

from shoal.core.formatting import counted, printable
from shoal.reports.codebook_contents import CodebookContents, Variable
from shoal.reports.page import ROLES

STYLE = Path(__file__).parent / "page.css"
STATISTICS = {"min": "least", "max": "greatest", "mean": "mean", "stdev": "standard deviation"}


def page(book: CodebookContents) -> str:
    """The page."""
    body = "\n".join(_body(book))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(book.title)}: codebook</title>\n<style>\n{STYLE.read_text(encoding='utf-8')}</style>\n"
        f"</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _text(text: object) -> str:
    return escape(printable(str(text)))


def _table(headings: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    head = "".join(f'<th scope="col">{_text(heading)}</th>' for heading in headings)
    body = "\n".join(f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table>"


def _body(book: CodebookContents) -> Iterator[str]:
    yield f"<h1>{_text(book.title)}</h1>"
    promises = f" It is {_text(', '.join(book.promises))}." if book.promises else " It claims no privacy model."
    yield f'<p class="lead">Codebook of {_text(book.release)}: {counted(book.records, "records")}.{promises}</p>'
    yield f"<p>Made by {_text(book.method)}</p>"
    yield "<p>Every count is of the published file.</p>"
    yield "<h2>Variables</h2>"
    yield _table(
        ("name", "label", "kind", "valid", "missing", "how it was treated"),
        (
            (each.name, each.label, each.kind, f"{each.valid:,}", f"{each.missing:,}", each.treatment)
            for each in book.variables
        ),
    )
    if book.left_out:
        yield "<h2>Not in the release</h2>"
        yield _table(("name", "why"), book.left_out.items())
    for variable in book.variables:
        yield from _variable(variable, several=len(book.tables) > 1)


def _variable(variable: Variable, *, several: bool) -> Iterator[str]:
    label = f": {_text(variable.label)}" if variable.label else ""
    yield f"<h2>{_text(variable.name)}{label}</h2>"
    place = f" In {_text(variable.table)}." if several else ""
    treatment = variable.treatment[:1].upper() + variable.treatment[1:]
    role = "no role" if variable.role == "plain" else ROLES.get(variable.role, "added").partition(":")[0]
    yield f"<p>{_text(variable.kind).capitalize()}, {_text(role)}. {_text(treatment)}.{place}</p>"
    if variable.missing_codes:
        yield f"<p>Codes that count as missing: {_text(', '.join(variable.missing_codes))}.</p>"
    if variable.categories:
        labeled = any(category.label for category in variable.categories)
        rows = (
            (category.value, *((category.label,) if labeled else ()), f"{category.count:,}")
            for category in variable.categories
        )
        yield _table(("value", *(("label",) if labeled else ()), "records"), rows)
    if all(category.missing for category in variable.categories):
        yield f"<p>{variable.distinct:,} different values, which are not listed here.</p>"
    if variable.statistics is not None:
        yield _table(STATISTICS.values(), [[f"{variable.statistics[name]:,.6g}" for name in STATISTICS]])
