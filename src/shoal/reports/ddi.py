"""DDI-Codebook 2.5: the codebook of a release as archives exchange it."""

from __future__ import annotations

from xml.etree import ElementTree

from shoal.core.formatting import printable
from shoal.core.schema import Role
from shoal.reports.codebook_contents import Category, CodebookContents, Variable

NAMESPACE = "ddi:codebook:2_5"
PLACE = "http://www.ddialliance.org/Specification/DDI-Codebook/2.5/XMLSchema/codebook.xsd"
INSTANCE = "http://www.w3.org/2001/XMLSchema-instance"
NOTE = {"type": "disclosure control"}


def document(book: CodebookContents) -> str:
    """The codebook as XML. Elements stand in the order that the schema wants."""
    root = ElementTree.Element(
        "codeBook",
        {
            "version": "2.5",
            "xmlns": NAMESPACE,
            "xmlns:xsi": INSTANCE,
            "xsi:schemaLocation": f"{NAMESPACE} {PLACE}",
            "xml:lang": "en",
        },
    )
    study = _add(root, "stdyDscr")
    _add(_add(_add(study, "citation"), "titlStmt"), "titl", book.title)
    method = _add(study, "method")
    for sentence in (*book.promises, book.method):
        _add(method, "notes", sentence, **NOTE)
    for name, reason in book.left_out.items():
        _add(method, "notes", f"{name}: {reason}", **NOTE)
    files = {name: f"F{place}" for place, name in enumerate(book.tables, 1)}
    for name, rows in book.tables.items():
        text = _add(_add(root, "fileDscr", ID=files[name]), "fileTxt")
        _add(text, "fileName", name)
        size = _add(text, "dimensns")
        _add(size, "caseQnty", str(rows))
        _add(size, "varQnty", str(sum(variable.table == name for variable in book.variables)))
    data = _add(root, "dataDscr")
    for place, variable in enumerate(book.variables, 1):
        _add_variable(data, variable, f"V{place}", files[variable.table])
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _add(parent: ElementTree.Element, tag: str, text: str | None = None, /, **attributes: str) -> ElementTree.Element:
    element = ElementTree.SubElement(parent, tag, {key: printable(value) for key, value in attributes.items()})
    if text is not None:
        element.text = printable(text)
    return element


def _add_variable(data: ElementTree.Element, variable: Variable, identity: str, file: str) -> None:
    numeric = variable.kind == "numeric"
    continuous = numeric and all(category.missing for category in variable.categories)
    kind = {"intrvl": "contin" if continuous else "discrete"} | ({"wgt": "wgt"} if variable.role == Role.WEIGHT else {})
    element = _add(data, "var", ID=identity, name=variable.name, files=file, **kind)
    if variable.label:
        _add(element, "labl", variable.label)
    if variable.statistics is not None:
        ends = {"min": f"{variable.statistics['min']:.10g}", "max": f"{variable.statistics['max']:.10g}"}
        _add(_add(element, "valrng"), "range", UNITS=_units(*ends.values()), **ends)
    if variable.missing_codes:
        invalid = _add(element, "invalrng")
        for code in sorted(variable.missing_codes, key=lambda code: " to " in code):  # ranges come after single codes
            low, _, high = code.partition(" to ")
            if high:
                _add(invalid, "range", UNITS=_units(low, high), min=low, max=high)
            else:
                _add(invalid, "item", UNITS=_units(code), VALUE=code)
    _add(element, "sumStat", str(variable.valid), type="vald")
    _add(element, "sumStat", str(variable.missing), type="invd")
    for name, value in (variable.statistics or {}).items():
        _add(element, "sumStat", f"{value:.10g}", type=name)
    for category in variable.categories:
        _add_category(element, category)
    _add(element, "varFormat", type="numeric" if numeric else "character")
    _add(element, "notes", variable.treatment, **NOTE)


def _units(*numbers: str) -> str:
    """Whether numbers are whole; without a word, the schema takes them to be."""
    return "INT" if all(number.lstrip("-").isdigit() for number in numbers) else "REAL"


def _add_category(variable: ElementTree.Element, category: Category) -> None:
    element = _add(variable, "catgry", **({"missing": "Y"} if category.missing else {}))
    _add(element, "catValu", category.value)
    if category.label:
        _add(element, "labl", category.label)
    _add(element, "catStat", str(category.count), type="freq")
