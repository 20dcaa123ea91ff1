"""A hierarchy from a nested file."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from typing_extensions import Doc

from shoal.core.contracts.builder import Builder
from shoal.core.hierarchy import TOP, Hierarchy
from shoal.core.parameters import Examples
from shoal.core.values import Values
from shoal.errors import HierarchyError


@dataclass(frozen=True, kw_only=True)
class Tree(Builder):
    """Nested groups in TOML or JSON: a table's keys are groups, a list holds raw values.

    Branches may have different depths: a raw value on a short branch stays as it is until the level of its
    parent. One single outermost group is the top; with several, `*` is put above them.

    Example:
        >>> from pathlib import Path; import tempfile
        >>> from shoal.core.schema import Kind
        >>> path = Path(tempfile.mkdtemp()) / "country.toml"
        >>> _ = path.write_text('Europe = ["France", "Italy"]\\nAsia = ["Japan"]\\n')
        >>> tree = Tree(path=path).build(Values.of("country", Kind.CATEGORICAL, ["France", "Italy", "Japan"]))
        >>> tree.labels[1].tolist()
        ['Europe', 'Asia']
    """

    path: Annotated[Path, Doc("the .toml or .json file")]

    examples: ClassVar[Examples] = ({"path": Path(__file__).parents[1] / "samples/example-tree.toml"},)

    def build(self, values: Values) -> Hierarchy:
        where = f"the hierarchy of column {values.column!r}"
        try:
            text = self.path.read_text(encoding="utf-8")
            nested = json.loads(text) if self.path.suffix == ".json" else tomllib.loads(text)
        except OSError:
            raise HierarchyError(f"{where}: the file {self.path.name!r} cannot be read") from None
        except (ValueError, RecursionError):
            raise HierarchyError(f"{where}: the file {self.path.name!r} is not well-formed") from None
        if not isinstance(nested, dict) or not nested:
            raise HierarchyError(f"{where}: the outermost level must be named groups")
        branches = _branches(nested, (), where)
        if len(nested) > 1:
            branches = [(*branch, TOP) for branch in branches]
        if not branches:
            raise HierarchyError(f"{where}: its groups hold no raw value")
        height = max(len(branch) for branch in branches)
        return Hierarchy.from_paths(
            values.column, [(branch[0],) * (height - len(branch)) + branch for branch in branches]
        )


def _branches(node: Any, above: tuple[str, ...], where: str) -> list[tuple[str, ...]]:
    if isinstance(node, dict):
        return [branch for name, child in node.items() for branch in _branches(child, (str(name), *above), where)]
    if isinstance(node, list) and not any(isinstance(leaf, (dict, list)) for leaf in node):
        return [(str(leaf), *above) for leaf in node]
    raise HierarchyError(f"{where}: a group holds either named groups or a list of raw values")
