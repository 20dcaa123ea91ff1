"""The codebook of a release: what each column holds and how it was treated, from the published files alone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal import api, manifest
from shoal.api.opening import as_published, path_of
from shoal.core.contracts.engine import Engine
from shoal.core.contracts.table import Published
from shoal.core.formatting import counted, enumerated
from shoal.core.hierarchy_paths import TOP
from shoal.core.schema import NAMING, Role
from shoal.errors import OutputError, VerificationError
from shoal.job import plugins
from shoal.parsing.labels import INTERVAL, number
from shoal.reports import codebook_page, ddi, docstrings
from shoal.reports.codebook_contents import Category, CodebookContents, Variable
from shoal.storage.files import replacing_all

MOST, MOST_NUMBERS = 100, 30
"""Different values of a column up to which each is listed; numbers are quantities where there are more."""
HIDDEN = "hidden: may be any value"
ENDINGS = (".xml", ".html", ".json")

TREATED = {
    "values": "published as it is",
    "levels": "made coarser along its hierarchy",
    "intervals": "made coarser to ranges",
    "means": "replaced by the mean of its group",
}
"""How a quasi-identifier was treated, by the way in which its cells are spelled."""
LEFT_OUT = {
    Role.IDENTIFIER: "an identifier, not published",
    Role.ENTITY: "names the person, not published",
    Role.WEIGHT: "the survey weight, not published",
    Role.HOUSEHOLD: "names the household, not published",
    Role.DROP: "left out",
}
ADDED = {"group": "added: the number of the group that the record is in", "count": "added: how many records have this"}
"""Columns that a form adds, by their names."""
COUNT = "count"


@dataclass(frozen=True, kw_only=True)
class ReleaseCodebook(CodebookContents):
    """What there is to know of a release to work with it. Every figure is counted in the published files, so it tells
    nothing that they do not.

    Example:
        >>> import shoal, tempfile
        >>> data = shoal.read(shoal.samples.adult().head(500).select("age", "sex"), quasi=["age", "sex"])
        >>> path = Path(tempfile.mkdtemp()) / "release.csv"
        >>> _ = shoal.anonymize(data, shoal.KAnonymity(k=5), algorithm="mondrian").write(path)
        >>> book = shoal.codebook(path, title="Adults")
        >>> book.variables[1].name, sum(category.count for category in book.variables[1].categories)
        ('sex', 500)
    """

    def as_dict(self) -> dict[str, Any]:
        """Everything as JSON holds it."""
        return asdict(self)

    def xml(self) -> str:
        """The codebook as DDI-Codebook 2.5."""
        return ddi.document(self)

    def html(self) -> str:
        """The codebook as a page that stands on its own."""
        return codebook_page.page(self)

    def json(self) -> str:
        """The codebook as JSON."""
        return json.dumps(self.as_dict(), indent=2)

    def write(self, *paths: str | Path) -> tuple[Path, ...]:
        """Writes it as DDI-Codebook (`.xml`), as a page (`.html`) or as JSON (`.json`); all of them, or none."""
        places = tuple(Path(path) for path in paths)
        check_codebook_endings(places)
        texts = [getattr(self, place.suffix[1:])() for place in places]
        with replacing_all(*places) as beside:
            for path, text in zip(beside, texts, strict=True):
                path.write_text(text, encoding="utf-8")
        return places


def check_codebook_endings(paths: tuple[Path, ...]) -> None:
    """Refuses, before any work is done, a codebook that could not be written."""
    for path in paths:
        if path.suffix not in ENDINGS:
            raise OutputError(f"{path.name}: a codebook ends in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}")


def codebook(
    release: str | Path,
    *,
    title: str = "",
    labels_from: str | Path | None = None,
    engine: Engine | str | None = None,
) -> ReleaseCodebook:
    """The codebook of a release file, made from the published files and the manifest alone.

    Args:
        release: the release file, with its manifest next to it; it is verified first.
        title: of the study; by default the name of the file.
        labels_from: a file of SPSS, Stata or SAS whose labels of variables are taken, where the release has none, as
            a CSV file. Nothing but these labels is taken from it.
        engine: reads the release.

    Raises:
        VerificationError: the release does not keep what its manifest says.
    """
    path = path_of(release)
    reader = plugins.engine(engine, path)
    if not api.verify(path, engine=reader).holds:
        raise VerificationError(f"{path.name} does not keep what its manifest says; shoal verify says what is wrong")
    stated = manifest.load(path)
    opened = as_published(path, stated, reader)
    titles = {} if labels_from is None else _labels(Path(labels_from))
    variables, tables = [], {}
    for part, place in manifest.parts(stated, path).items():
        table = opened.tables[part]
        tables[place.name] = table.records
        own = _labels(place)
        for name in table.names:
            known, other = own.get(name), titles.get(name)
            label = next((str(each.title) for each in (known, other) if each is not None and each.title), "")
            variables.append(_variable(stated, table, name, place.name, label, known))
    shown = {variable.name for variable in variables}
    left_out = {
        entry["name"]: LEFT_OUT.get(Role(entry["role"]), "not published")
        for entry in stated["columns"]
        if entry["name"] not in shown
    }
    assert opened.policy is not None
    return ReleaseCodebook(
        title=title or path.stem, release=path.name, records=stated["published"], form=stated["form"],
        method=_method(stated), promises=tuple(model.claim for model in opened.policy.models), tables=tables,
        variables=tuple(variables), left_out=left_out, shoal=str(stated.get("shoal", "")),
    )  # fmt: skip


def _labels(path: Path) -> Mapping[str, Any]:
    """What a file of a statistics program says of its columns."""
    labels: Mapping[str, Any] = getattr(plugins.engine(None, path).open(path), "labels", {})
    return labels


def _method(stated: Mapping[str, Any]) -> str:
    """What was done, in the first words of the algorithm on itself."""
    method = manifest.method_of(stated)
    name = str(stated["algorithm"]["name"])
    return name if method is None else f"{name}: {docstrings.meaning(method)}"


def _variable(stated: Mapping[str, Any], table: Published, name: str, place: str, label: str, known: Any) -> Variable:
    entry = next((each for each in stated["columns"] if each["name"] == name), None)
    texts, counts = table.labels(name), _counts(table, name, stated)
    absent = sum(int(count) for text, count in zip(texts, counts, strict=True) if text is None)
    present = [(text, int(count)) for text, count in zip(texts, counts, strict=True) if text is not None]
    numbers = np.array([number(text) for text, _ in present])
    numeric = bool(len(present)) and bool(np.isfinite(numbers).all())
    named = entry is not None and Role(entry["role"]) in NAMING
    listed = not named and len(present) <= (MOST_NUMBERS if numeric else MOST)
    codes = {} if known is None else known.codes
    return Variable(
        name=name, table=place, label=label,
        kind="numeric" if numeric else "ranges" if _ranges(present) else "text" if named else "categorical",
        role=str(entry["role"]) if entry is not None else "",
        treatment=_treatment(stated, entry, name, dict(present).get(TOP, 0)),
        valid=sum(count for _, count in present), missing=absent, distinct=len(present),
        categories=(*(_categories(present, codes) if listed else ()), *_missing(absent, known)),
        statistics=_statistics(numbers, present) if numeric and not named else None,
        missing_codes=() if known is None else tuple(_missing_codes(known.missing)),
    )  # fmt: skip


def _counts(table: Published, name: str, stated: Mapping[str, Any]) -> NDArray[np.int64]:
    """How many records have each value; where rows are counted, each as often as it says."""
    codes, size = table.codes(name), len(table.labels(name))
    counter = COUNT if COUNT in table.names else None
    if counter is None or counter == name or any(entry["name"] == counter for entry in stated["columns"]):
        return np.bincount(codes, minlength=size)
    often = np.array([number(text) for text in table.labels(counter)])[table.codes(counter)]
    return np.bincount(codes, weights=often, minlength=size).astype(np.int64)


def _ranges(present: list[tuple[str, int]]) -> bool:
    spelled = [bool(INTERVAL.fullmatch(text)) for text, _ in present]
    plain = (text == TOP or bool(np.isfinite(number(text))) for text, _ in present)
    return any(spelled) and all(one or other for one, other in zip(spelled, plain, strict=True))


def _categories(present: list[tuple[str, int]], codes: Mapping[str, Any]) -> Iterator[Category]:
    """Each value, numbers and ranges by size; where the file has codes, the code is the value and the text its
    label."""
    for text, count in sorted(present, key=lambda entry: _place(entry[0], codes)):
        label = HIDDEN if text == TOP else text if text in codes else ""
        yield Category(value=_spelled(codes[text]) if text in codes else text, label=label, count=count)


def _place(text: str, codes: Mapping[str, Any]) -> tuple[float, float, str]:
    """By which values are listed: by their codes, by their numbers, else by their texts."""
    ends = INTERVAL.fullmatch(text)
    low, high = (number(end) for end in (ends.groups() if ends else (text, text)))
    if text in codes:
        low = high = number(str(codes[text]))
    return (low, high, text) if low == low else (np.inf, np.inf, text)


def _spelled(code: Any) -> str:
    """A code as its program shows it."""
    return f".{code}" if isinstance(code, str) else f"{code:.15g}"


def _missing(absent: int, known: Any) -> Iterator[Category]:
    """What is missing, apart by the codes that say why."""
    counts = {}
    if known is not None and known.numbers is not None:
        values = {entry["values"]: int(entry["counts"]) for entry in known.numbers.column.value_counts().to_pylist()}
        counts = {code: values[value] for value, code in known.numbers.codes.items() if value in values}
        for code, count in counts.items():
            label = str(known.numbers.labels.get(code, "missing"))
            yield Category(value=_spelled(code), label=label, count=count, missing=True)
    if absent > sum(counts.values()):
        yield Category(value="", label="missing", count=absent - sum(counts.values()), missing=True)


def _statistics(numbers: NDArray[np.float64], present: list[tuple[str, int]]) -> dict[str, float]:
    counts = np.array([count for _, count in present], np.float64)
    mean = float(np.average(numbers, weights=counts))
    spread = float(np.sqrt(np.average((numbers - mean) ** 2, weights=counts)))
    return {"min": float(numbers.min()), "max": float(numbers.max()), "mean": mean, "stdev": spread}


def _missing_codes(ranges: Any) -> Iterator[str]:
    """The codes that count as missing: single ones, or ranges of them."""
    for each in ranges:
        low, high = each["lo"], each["hi"]
        yield _spelled(low) if low == high else f"{_spelled(low)} to {_spelled(high)}"


def _treatment(stated: Mapping[str, Any], entry: Mapping[str, Any] | None, name: str, hidden: int) -> str:
    """What was done to a column, of which so many cells may be any value, in words."""
    if entry is None:
        return ADDED.get(name, "added by the form of the release")
    role = Role(entry["role"])
    if role in NAMING:
        return f"{stated['identifiers']} pseudonyms in the place of what names people"
    if role is Role.WEIGHT:
        return "the survey weight: one for each group of records that look alike, not the record's own"
    if name in stated.get("changed", ()):
        return f"changed by {stated['algorithm']['name']}; a value need not be true of its record"
    if role is Role.QUASI:
        treated = TREATED.get(entry.get("spelling", "values"), "made coarser")
        return f"{treated}; {counted(hidden, 'cells')} hidden" if hidden else treated
    if name in stated.get("ghosts", {}):
        return f"published as it is; {counted(hidden, 'cells')} hidden, with {enumerated(stated['ghosts'][name])}"
    apart = "" if stated["form"] in ("generalized", "perturbed") else f"; see the form {stated['form']}"
    return f"published as it is{apart}"
