"""Kinds of options: how a value is written in a job file, on the command line and in Python.

The annotation of an option's field says which kind it is of. Nothing here imports what a run needs before one is under
way: the command shows its help without it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from shoal.job.lists import join_names, split_names

if TYPE_CHECKING:
    from shoal.core.contracts.builder import Builder


@dataclass(frozen=True)
class OptionKind:
    """How a value is written; this one is a text. `of_command` is the type that the command line takes, and `family`
    that of the plug-ins that it names, where it does."""

    of_command: Any = str | None
    family: str | None = None

    @property
    def metavar(self) -> str | None:
        """What the help of the command shows in the place of the value."""
        return "NAME:key=value,…" if self.family else METAVARS.get(self.of_command, "TEXT")

    @property
    def of_file(self) -> Any:
        """The type that the job file takes."""
        return str

    def read(self, stated: Any, folder: Path) -> Any:
        """The value that a job file in a folder states."""
        return stated

    def write(self, value: Any, folder: Path | None) -> Any:
        """The value as a job file in a folder states it; without a folder, paths are written as they are."""
        return value

    def parse(self, given: Any) -> Any:
        """The value that is given on the command line."""
        return given

    def words(self, value: Any) -> list[str | None]:
        """The value on the command line: what follows the option each time that it is written; None for nothing."""
        return [str(value)]

    def merge(self, before: Any, value: Any) -> Any:
        """The value on the command line in the place of the one of the job file."""
        return value

    def source(self, value: Any) -> str:
        """The value as Python."""
        return repr(value)


@dataclass(frozen=True)
class FlagKind(OptionKind):
    """True or false."""

    of_command: Any = bool | None

    @property
    def of_file(self) -> Any:
        from pydantic import StrictBool

        return StrictBool

    def words(self, value: Any) -> list[str | None]:
        return [None] if value else []


@dataclass(frozen=True)
class NumberKind(OptionKind):
    """A number, or a whole one, at least as large as `least`."""

    whole: bool = False
    least: int | None = None

    @property
    def of_file(self) -> Any:
        from pydantic import Field, StrictFloat, StrictInt

        number = StrictInt if self.whole else StrictFloat | StrictInt
        return number if self.least is None else Annotated[number, Field(ge=self.least)]


@dataclass(frozen=True)
class ChoiceKind(OptionKind):
    """One of a few texts."""

    texts: tuple[str, ...] = ()

    @property
    def metavar(self) -> str | None:
        return "|".join(self.texts)

    @property
    def of_file(self) -> Any:
        return Literal[self.texts]


@dataclass(frozen=True)
class FileKind(OptionKind):
    """A file, a folder or the address of a table; in a job file, from where that file lies."""

    of_command: Any = Path | None

    def read(self, stated: Any, folder: Path) -> Any:
        from shoal.storage.files import STANDARD, address

        return Path(stated) if stated == STANDARD or address(stated) is not None else folder / stated

    def write(self, value: Any, folder: Path | None) -> Any:
        from shoal.storage.files import STANDARD, address

        if folder is None or str(value) == STANDARD:
            return str(value)
        return address(value) or os.path.relpath(value, folder)

    def source(self, value: Any) -> str:
        return repr(str(value))


@dataclass(frozen=True)
class NamesKind(OptionKind):
    """Several texts: on the command line, separated by commas, with the option given once or again for more; or,
    `repeated`, each with the option before it."""

    repeated: bool = False

    @property
    def metavar(self) -> str | None:
        return "TEXT" if self.repeated else "A,B,…"

    @property
    def of_file(self) -> Any:
        return list[str]

    def read(self, stated: Any, folder: Path) -> Any:
        return tuple(stated)

    def write(self, value: Any, folder: Path | None) -> Any:
        return list(value)

    def parse(self, given: Any) -> Any:
        texts = [given] if isinstance(given, str) else given
        return tuple(texts if self.repeated else (name for text in texts for name in split_names(text)))

    def words(self, value: Any) -> list[str | None]:
        return list(value) if self.repeated else [join_names(value)]

    def source(self, value: Any) -> str:
        return repr(list(value))


@dataclass(frozen=True)
class MemberKind(OptionKind):
    """A member of an enumeration of a schema, by its name."""

    enumeration: str = ""

    @property
    def _options(self) -> type[StrEnum]:
        from shoal.core import schema

        options: type[StrEnum] = getattr(schema, self.enumeration)
        return options

    @property
    def of_file(self) -> Any:
        return self._options

    def write(self, value: Any, folder: Path | None) -> Any:
        return str(value)

    def parse(self, given: Any) -> Any:
        from shoal.job.plugins import member

        return member(self._options, given, {"Missing": "missing-value rule"}.get(self.enumeration, "kind"))

    def source(self, value: Any) -> str:
        return repr(str(value))


class FormatKind(OptionKind):
    """How dates or numbers are written, by its name or as a pattern."""

    def read(self, stated: Any, folder: Path) -> Any:
        return self.parse(stated)


class DateFormatKind(FormatKind):
    def parse(self, given: Any) -> Any:
        from shoal.parsing import dates

        return dates.checked(given)


class NumberFormatKind(FormatKind):
    def parse(self, given: Any) -> Any:
        from shoal.parsing import numbers

        return numbers.checked(given)


class PluginKind(OptionKind):
    """A plug-in of a family: its name and parameters."""

    @property
    def of_file(self) -> Any:
        return dict[str, Any] | str

    def read(self, stated: Any, folder: Path) -> Any:
        return self.parse(stated)

    def write(self, value: Any, folder: Path | None) -> Any:
        from shoal.job.plugins import spelled

        return spelled(value)

    def parse(self, given: Any) -> Any:
        from shoal.job.plugins import plugin

        return plugin(self.family or "", given)

    def words(self, value: Any) -> list[str | None]:
        from shoal.job.plugins import written

        return [written(value)]

    def source(self, value: Any) -> str:
        return repr(self.words(value)[0])


class HierarchyKind(PluginKind):
    """How the hierarchy of a column is made: the path of a file, or a builder."""

    def read(self, stated: Any, folder: Path) -> Builder:
        from shoal import registry
        from shoal.job.plugins import builder, parse_spec

        if isinstance(stated, Mapping) and isinstance(stated.get("path"), str):
            stated = {**stated, "path": folder / stated["path"]}
        elif isinstance(stated, str) and parse_spec(stated)[0] not in registry.names("hierarchies"):
            stated = folder / stated
        return builder(stated)

    def write(self, value: Any, folder: Path | None) -> Any:
        stated = super().write(value, folder)
        return {**stated, "path": FileKind().write(Path(stated["path"]), folder)} if "path" in stated else stated

    def parse(self, given: Any) -> Builder:
        from shoal.job.plugins import builder

        return builder(given)

    def words(self, value: Any) -> list[str | None]:
        path = value.parameters().get("path")
        return [str(path)] if isinstance(path, Path) else super().words(value)


@dataclass(frozen=True)
class PluginsKind(OptionKind):
    """Several plug-ins of a family, each with the option before it."""

    of_command: Any = list[str] | None

    @property
    def _each(self) -> PluginKind:
        return PluginKind(family=self.family)

    @property
    def of_file(self) -> Any:
        return list[dict[str, Any] | str]

    def read(self, stated: Any, folder: Path) -> Any:
        return self.parse(stated)

    def write(self, value: Any, folder: Path | None) -> Any:
        return [self._each.write(each, folder) for each in value]

    def parse(self, given: Any) -> Any:
        return tuple(self._each.parse(each) for each in given)

    def words(self, value: Any) -> list[str | None]:
        return [word for each in value for word in self._each.words(each)]

    def merge(self, before: Any, value: Any) -> Any:
        """Those that are given, and the job's others of other kinds."""
        given = {type(each) for each in value}
        return (*(each for each in before if type(each) not in given), *value)

    def source(self, value: Any) -> str:
        return repr(self.words(value))


@dataclass(frozen=True)
class AnalysesKind(OptionKind):
    """Analyses that must survive; those on the command line are added to those of the job file."""

    of_command: Any = list[str] | None

    @property
    def of_file(self) -> Any:
        from pydantic import ConfigDict, StrictFloat, StrictInt, create_model

        number = StrictFloat | StrictInt | None
        entry = create_model(
            "Analysis",
            __config__=ConfigDict(extra="forbid"),
            analysis=(str, ...),
            name=(str | None, None),
            error=(number, None),
            overlap=(number, None),
        )
        return list[entry]  # type: ignore[valid-type]

    def read(self, stated: Any, folder: Path) -> Any:
        return self.parse([each.model_dump() for each in stated])

    def write(self, value: Any, folder: Path | None) -> Any:
        return [analysis.spelled() for analysis in value]

    def parse(self, given: Any) -> Any:
        from shoal.utility.analyses import all_parsed

        return tuple(all_parsed(given))

    def words(self, value: Any) -> list[str | None]:
        return [analysis.spelled()["analysis"] for analysis in value]

    def merge(self, before: Any, value: Any) -> Any:
        return (*before, *value)

    def source(self, value: Any) -> str:
        return repr([analysis.spelled() for analysis in value])


METAVARS = {bool | None: None, int | None: "NUMBER", float | None: "NUMBER", Path | None: "FILE"}
FAMILIES = {
    "Algorithm": "algorithms", "Attack": "attacks", "Builder": "hierarchies", "Engine": "engines", "Metric": "metrics",
    "Model": "models",
}  # fmt: skip
KINDS: dict[str, type[OptionKind]] = {
    "str": OptionKind, "bool": FlagKind, "Path": FileKind, "tuple[str, ...]": NamesKind,
    "tuple[Analysis, ...]": AnalysesKind, "Builder": HierarchyKind,
}  # fmt: skip


def kind_of(annotation: str, **limits: Any) -> OptionKind:
    """The kind of a field by its annotation; `limits` are those of the kind."""
    bare = annotation.removesuffix(" | None")
    if bare.startswith("Literal["):
        texts = tuple(text.strip(" \"'") for text in bare[len("Literal[") : -1].split(","))
        return ChoiceKind(of_command=Literal[texts] | None, texts=texts)
    if bare in ("Kind", "Missing", "Role"):
        return MemberKind(enumeration=bare)
    if bare in ("int", "float"):
        whole = bare == "int"
        return NumberKind(of_command=int | None if whole else float | None, whole=whole, **limits)
    if KINDS.get(bare) is NamesKind:
        limits["of_command"] = list[str] | None
    several = bare.removeprefix("tuple[").removesuffix(", ...]")
    family = FAMILIES.get(several)
    kind = KINDS.get(bare) or (PluginsKind if several != bare else PluginKind)
    if kind in (PluginKind, PluginsKind) and family is None:
        raise TypeError(f"no kind of option is annotated as {annotation}")
    return kind(family=family, **limits)
