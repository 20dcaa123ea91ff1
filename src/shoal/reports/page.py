"""The report as a page: it stands on its own, runs no script, and shows every name as text."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from shoal import registry
from shoal.core.formatting import amount, percent, printable
from shoal.core.risk_line import hundredths
from shoal.errors import MissingExtraError
from shoal.plots.drawing import altair, svg
from shoal.reports.contents import ReportContents
from shoal.reports.docstrings import meaning
from shoal.reports.risk import Risk

FOLDER = Path(__file__).parent
SECTIONS = (
    ("published", "What was published, and for whom"),
    ("policy", "Under which policy"),
    ("verification", "How it was verified"),
    ("risk", "The risk that is left"),
    ("attacks", "Attacks that were tried"),
    ("loss", "What was lost, and what it is still good for"),
    ("limits", "What is not protected"),
    ("trust", "Hashes and signature"),
    ("repeat", "How to repeat it"),
)
"""In the order in which regulators ask."""
ROLES = {
    "identifier": "identifier: names a person",
    "drop": "left out",
    "quasi": "quasi-identifier: outsiders may know it",
    "sensitive": "sensitive: nobody should learn it",
    "plain": "none",
    "entity": "person: whose the record is",
    "household": "household: who lives together",
    "weight": "weight",
}
IDENTIFIERS = {"keyed": "replaced by keyed pseudonyms", "random": "replaced by random pseudonyms"}
SIGNED = {
    "valid": ("yes", "✓ signed, and the signature is valid"),
    "none": ("open", "not signed"),
    "not checked": ("open", "signed; the signature was not checked"),
}
"""How the state of a signature is shown; any other one is a signature that does not hold."""
BASELINES = {"original": "of the table", "hidden": "all hidden"}
"""What stands beside a figure, and the heading that it has."""
COVER = {
    "risk": "How many people can be found how easily by what outsiders may know. Bars to the right of the dashed line "
    "are above the risk that is accepted.",
    "loss": "The risk has no figure for this form of release; this is what it cost.",
}
"""Pictures for the first page, the first one that there is."""


def rendered(report: ReportContents) -> str:
    """The whole page as text."""
    altair()
    style = (FOLDER / "page.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    environment = _environment()
    markup = environment.filters["safe"]
    pictures = {name: markup(_inline(svg(chart), name)) for name, chart in report.pictures.items()}
    cover = next((name for name in COVER if name in pictures), "")
    measures = [each for each in report.findings if each.value is not None and each.holds is None]
    page: str = environment.get_template("page.html").render(
        report=report, style=markup(style), style_hash=f"sha256-{digest}", pictures=pictures,
        cover=cover, cover_caption=COVER.get(cover, ""),
        sections=[(number, *section) for number, section in enumerate(SECTIONS, start=1)],
        risk=report.risk if isinstance(report.risk, Risk) else None, lead=_lead(report),
        signed=SIGNED.get(report.signature["state"], ("no", f"✗ signature: {report.signature['state']}")),
        baselines=BASELINES, left_out=(report.records - report.published) / max(report.records, 1),
        form_meaning=meaning(registry.make("forms", report.form, {})), roles=ROLES,
        identifiers=IDENTIFIERS.get(report.identifiers, report.identifiers),
        algorithm=_spelled(report.algorithm), measures=measures,
        policy_kept=[each for each in report.findings if each.holds is not None],
        not_made=_by_reason(report.not_made.items()),
        unmeasured=_by_reason((each.title, each.how) for each in report.findings if each.value is None),
    )  # fmt: skip
    return page


@cache
def _environment() -> Any:
    """Templates in which everything is text unless it says otherwise."""
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError:
        raise MissingExtraError("a report", "report") from None
    environment = Environment(
        loader=FileSystemLoader(FOLDER), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters |= {
        "name": printable, "lines": lambda text: printable(text, keep="\n"), "percent": percent,
        "number": lambda count: f"{count:,}", "hundredths": hundredths, "parameters": _parameters,
        "sentence": _sentence, "details": amount, "lower_first": lambda text: text[:1].lower() + text[1:],
    }  # fmt: skip
    return environment


def _inline(drawing: str, name: str) -> str:
    """A drawing among others of a page: what it refers to inside itself keeps its own names apart."""
    apart = re.sub(r'\bid="', f'id="{name}-', drawing)
    return re.sub(r'(url\(#|href="#)', rf"\1{name}-", apart)


def _lead(report: ReportContents) -> str:
    about = report.about
    parts = [f"for {about.recipient}" if about.recipient else "", about.day]
    return " · ".join(filter(None, [report.form, *parts])) or report.form


def _by_reason(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Names that share a reason together."""
    names_by_reason: dict[str, list[str]] = {}
    for name, reason in pairs:
        names_by_reason.setdefault(reason.removeprefix("not defined: "), []).append(name)
    return [(reason, ", ".join(names)) for reason, names in names_by_reason.items()]


def _parameters(parameters: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} = {amount(value)}" for key, value in parameters.items() if value not in (None, [], {}))


def _spelled(algorithm: Mapping[str, Any]) -> str:
    parameters = _parameters({key: value for key, value in algorithm.items() if key != "name"})
    return f"{algorithm['name']} ({parameters})" if parameters else str(algorithm["name"])


def _sentence(text: str) -> str:
    shown = printable(text)
    return shown[:1].upper() + shown[1:] + ("" if shown.endswith(".") else ".")
