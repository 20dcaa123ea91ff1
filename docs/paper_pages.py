"""Writes the pages of the five papers from the lists in `docs/papers`. A test holds the lists against the papers."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap

DOCS = Path(__file__).parent
FOLDER = DOCS / "papers"
KINDS = ("method", "definition", "example", "table", "figure", "experiment", "claim")
STATUSES = {
    "implemented": "implemented",
    "corrected": "implemented, corrected",
    "reconstructed": "implemented, reconstructed",
    "reproduced": "reproduced",
    "confirmed": "confirmed",
    "partly": "confirmed in part",
    "unconfirmed": "not confirmed",
    "refused": "left out: unsafe",
    "missing": "not implemented",
}
"""What became of an entry, and what that means on the page."""
DOUBTFUL = ("partly", "unconfirmed", "refused", "missing")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One thing of a paper: where it stands (a section, and the tables, figures, listings and definitions `also`), what
    became of it, where it is `here`, and what repeats it: a command, a test, or an experiment, whose page says what was
    measured."""

    section: str
    kind: str
    title: str
    status: str
    also: tuple[str, ...] = ()
    here: tuple[str, ...] = ()
    text: str = ""
    command: str = ""
    test: str = ""
    experiment: str = ""

    @property
    def places(self) -> tuple[str, ...]:
        """What of the paper's contents it is about."""
        return (self.section, *self.also)


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper: its `chapters` by the first number of their sections, its entries in its order, and what is no method,
    with the reason."""

    number: str
    title: str
    source: str
    about: str
    copy: str
    chapters: dict[str, str]
    entries: tuple[Entry, ...]
    skipped: dict[str, str]

    def chapter(self, section: str) -> str:
        """The heading under which a section stands."""
        first = section.partition(".")[0]
        return self.chapters.get(section, self.chapters.get(first, first))


def papers() -> list[Paper]:
    """The papers, by number."""
    read = []
    for path in sorted(FOLDER.glob("*.toml")):
        listed = tomllib.loads(path.read_text(encoding="utf-8"))
        entries = [
            Entry(**{name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()})
            for entry in listed.pop("entry")
        ]
        skipped = {place: each["reason"] for each in listed.pop("skipped") for place in each["places"]}
        read.append(Paper(number=path.stem, entries=tuple(entries), skipped=skipped, **listed))
    return read


def page(paper: Paper) -> str:
    """The page of a paper."""
    parts = [
        f"# {paper.title}\n\n*{paper.source}*\n\n{paper.about}\n\n{paper.copy}\n\n"
        "Entries stand in the order of the paper. Commands take `adult.csv`, which `shoal demo --write-sample "
        "adult.csv` writes, and `release.csv`, a release of it by `--quasi age,sex,race --sensitive occupation --k 5`."
        " Made from one list by `make docs`; a test holds the list against the paper's own contents.\n"
    ]
    counts = {status: sum(entry.status == status for entry in paper.entries) for status in STATUSES}
    parts.append("\n| entries | status |\n|---|---|\n")
    parts += [f"| {count} | {STATUSES[status]} |\n" for status, count in counts.items() if count]
    doubtful = [entry for entry in paper.entries if entry.status in DOUBTFUL]
    if doubtful:
        parts.append("\n**What was not confirmed, or is not here:**\n\n")
        parts += [
            f"- [{_place(entry.section)}{entry.title}](#{_anchor(entry)}): {STATUSES[entry.status]}\n"
            for entry in doubtful
        ]
    before, measured = "", set[str]()
    for entry in paper.entries:
        chapter = paper.chapter(entry.section)
        if chapter != before:
            parts.append(f"\n## {chapter}\n")
            before = chapter
        parts.append(_block(entry, again=entry.experiment in measured))
        measured.add(entry.experiment)
    parts.append("\n## What is no method, table or claim\n\n| in the paper | why it has no entry |\n|---|---|\n")
    reasons: dict[str, list[str]] = {}
    for place, reason in paper.skipped.items():
        reasons.setdefault(reason, []).append(place)
    parts += [f"| {', '.join(places)} | {reason} |\n" for reason, places in reasons.items()]
    return "".join(parts)


def _place(section: str) -> str:
    """The number of a section; one without a number goes by its title."""
    return f"{section} " if section[0].isdigit() else ""


def _anchor(entry: Entry) -> str:
    """The address of an entry on its page, as the site makes it from the heading."""
    text = re.sub(r"[^\w\s-]", "", f"{_place(entry.section)}{entry.title}".encode("ascii", "ignore").decode()).lower()
    return re.sub(r"[-\s]+", "-", text.strip())


def _block(entry: Entry, *, again: bool) -> str:
    """An entry: what it is, where it is here, what was measured, unless that stands above, and what repeats it."""
    facts = [f"*{entry.kind}*", *entry.also, f"**{STATUSES[entry.status]}**", *map(_link, entry.here)]
    block = f"\n### {_place(entry.section)}{entry.title}\n\n{' · '.join(facts)}\n"
    if entry.text:
        block += f"\n{with_figures(entry.text)}\n"
    if entry.experiment:
        name = entry.experiment
        block += f"\nMeasured in [{name.upper()}](../experiments/{name}.md)"
        block += ", see above.\n" if again else f":\n\n{what_it_says(name)}\n{_shell(f'python -m experiments {name}')}"
    if entry.command:
        block += _shell(entry.command)
    if entry.test:
        block += f"\nTested by `{entry.test}`.\n"
    return block


def _shell(command: str) -> str:
    """A command, on as many lines as it takes."""
    lines = wrap(command, 110, break_long_words=False, break_on_hyphens=False)
    return "\n```console\n$ {}\n```\n".format(" \\\n    ".join(lines))


def _link(place: str) -> str:
    """Where something is here: a plug-in, a page, or a name of Python."""
    kind, _, name = place.partition(":")
    if kind == "docs":
        title = (DOCS / name).read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        return f"[{title}](../{name})"
    return f"[`{name}`](../reference/{kind}.md#{name})" if name else f"`{place}`"


def what_it_says(name: str) -> str:
    """The conclusions of an experiment's page, as they stand there."""
    text = (DOCS / "experiments" / f"{name}.md").read_text(encoding="utf-8")
    found = re.search(r"^## What it says\n+(.*?)\n+(?=^## )", text, re.DOTALL | re.MULTILINE)
    if found is None:
        raise ValueError(f"the page of {name} has no part 'What it says'")
    return re.sub(r"\]\((\w+\.md)", r"](../experiments/\1", found.group(1))


def with_figures(text: str) -> str:
    """A text with the figures that it takes from the tables of experiments: `{x2 | MST | k=3 | =GCP}` is the cell of
    the column MST in the row whose column k is 3 and whose column without a name is GCP."""

    def look_up(match: re.Match[str]) -> str:
        name, column, *conditions = (part.strip() for part in match.group(1).split("|"))
        return figure(name, column, dict(tuple(each.split("=", 1)) for each in conditions))

    return re.sub(r"\{(x\w+ \|[^}]*)\}", look_up, text)


def figure(name: str, column: str, where: dict[str, str]) -> str:
    """One cell of the tables of an experiment; a question mark where no table, or more than one row, has it."""
    found, headings = [], list[str]()
    for line in (DOCS / "experiments" / f"{name}.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip().replace("*", "") for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            headings = []
        elif not headings:
            headings = cells
        elif column in headings and set(where) <= set(headings) and len(cells) == len(headings):
            row = dict(zip(headings, cells, strict=True))
            if all(row[heading] == value for heading, value in where.items()):
                found.append(row[column])
    return found[0] if len(found) == 1 else "?"


def overview(listed: list[Paper]) -> str:
    """The page of all papers: how many of the entries of each have which status."""
    shown = [
        status for status in STATUSES if any(entry.status == status for paper in listed for entry in paper.entries)
    ]
    parts = [
        "# The papers\n\nShoal began with five papers. Each has a page with its methods, tables, figures and claims in "
        "its order: what became of them, where they are, what we measured, what did not hold, and the command or test "
        "that repeats it. This table counts the entries. Made from the lists by `make docs`.\n\n"
        "*Corrected* means that the paper has an error, which the entry names. *Reconstructed* means that our copy of "
        "the paper lacks the details. What the papers only mention has [a page of its own](../papers-mention.md).\n"
    ]
    parts.append(f"\n| paper | {' | '.join(STATUSES[status] for status in shown)} |\n|---|{'---|' * len(shown)}\n")
    for paper in listed:
        counts = (str(sum(entry.status == status for entry in paper.entries) or "") for status in shown)
        parts.append(f"| [{paper.title}]({paper.number}.md) | {' | '.join(counts)} |\n")
    return "".join(parts)


def pages() -> dict[str, str]:
    """Every page of a paper, and the one of all of them, by its file name."""
    listed = papers()
    return {"index.md": overview(listed), **{f"{paper.number}.md": page(paper) for paper in listed}}
