"""What may I give up? How many people everybody hides among, what nobody may be able to say, and how values may be made
coarser."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from shoal import registry
from shoal.core.contracts.model import Model
from shoal.core.dataset import Dataset
from shoal.core.hierarchy import Hierarchy
from shoal.core.parameters import Parameter, parameters
from shoal.core.risk_line import SAFE
from shoal.core.run import Run
from shoal.core.schema import Kind, Role
from shoal.core.values import Values
from shoal.diagnosis.exposure import exposure
from shoal.errors import InputError, ParameterError, PluginError
from shoal.job import plugins
from shoal.web import editing
from shoal.web.packages import file_name
from shoal.web.panels import panel
from shoal.web.screens import Fields
from shoal.web.session import PageSession

MOST_NODES = 200
"""Groups of a level that the editor shows at once."""
BUILDERS = {
    Kind.NUMERIC: ("intervals", "automatic"),
    Kind.DATE: ("dates", "automatic"),
    Kind.CATEGORICAL: ("masking", "ordering", "automatic"),
    Kind.TEXT: ("masking", "automatic"),
}
"""Rules that suit each kind of values."""
UNITS = ("day", "month", "quarter", "year", "decade")


def facts(session: PageSession, query: Fields) -> dict[str, Any]:
    job = session.job
    parts = {
        "k": _k(session), "risk": 1 / _k(session), "safe": SAFE, "suppression": job.suppression,
        "models": list(_models(session)), "sensitive": job.named(Role.SENSITIVE),
        "columns": panel(lambda: _columns(session)),
    }  # fmt: skip
    if query.get("column", "").isdigit():
        parts["column"] = int(query["column"])
        parts["editor"] = panel(lambda: _editor(session, int(query["column"]), query.get("find", "")))
    return parts


def _k(session: PageSession) -> int:
    return max((model.least for model in session.job.models if model.by_size), default=1)


def _offered() -> Iterator[tuple[str, type[Model]]]:
    """Models that numbers describe; those that need a list of values are for job files."""
    for name in registry.names("models"):
        try:
            kind = registry.find("models", name)
        except PluginError:
            continue
        plain = all(_is_number(each) for each in parameters(kind) if each.required)
        if name != "k-anonymity" and plain and not any("values" in example for example in kind.examples[:1]):
            yield name, kind


def _is_number(parameter: Parameter) -> bool:
    return parameter.kind in ("int", "float")


def _models(session: PageSession) -> Iterator[dict[str, Any]]:
    models = {registry.name_of(model): model for model in session.job.models}
    for name, kind in _offered():
        model = models.get(name)
        numbers = [each for each in parameters(kind) if each.required and _is_number(each)]
        yield {
            "name": name, "chosen": model is not None, "needs_sensitive": kind.needs_sensitive,
            "about": (kind.__doc__ or "").strip().partition("\n\n")[0].replace("`", ""),
            "numbers": [
                {
                    "name": each.name, "whole": each.kind == "int", "help": each.help, "bounds": each.bounds,
                    "value": getattr(model, each.name) if model is not None else kind.examples[0].get(each.name),
                }
                for each in numbers
            ],
        }  # fmt: skip


def _columns(session: PageSession) -> dict[str, Any]:
    look, data = session.look(), session.prepared()
    rows = []
    for name in data.schema.quasi:
        column = session.job.columns.get(name)
        tree = data.schema[name].hierarchy
        assert tree is not None
        rule = None if column is None or column.hierarchy is None else registry.name_of(column.hierarchy)
        rows.append({
            "place": look.names.index(name), "name": name, "values": tree.size - tree.missing, "levels": tree.height,
            "rule": rule or ("automatic" if tree.automatic else "table"),
            "groups": [len(editing.nodes(tree, level)) for level in range(1, tree.height + 1)],
        })  # fmt: skip
    return {"rows": rows}


def _tree(session: PageSession, place: int) -> tuple[Dataset, Hierarchy]:
    name, data = session.column(place), session.prepared()
    tree = data.schema[name].hierarchy if name in data.schema.quasi else None
    if tree is None:
        raise InputError("only columns that outsiders may know are made coarser")
    return data, tree


def _editor(session: PageSession, place: int, find: str) -> dict[str, Any]:
    data, tree = _tree(session, place)
    name = tree.column
    task = session.work.task(
        ("effects", session.policy_free(), name), "work.effects", lambda run: _effects(data, name, run)
    )
    effects = session.result(task)
    counts = np.bincount(data.codes(name), minlength=tree.size)
    levels = []
    for level in range(tree.height + 1):
        sizes = np.bincount(tree.codes[level], weights=counts).astype(int)[editing.unplaced(tree, level) :]
        entries = [
            {"node": node, "label": label, "records": int(size), "group": group}
            for node, (label, size, group) in enumerate(
                zip(
                    editing.nodes(tree, level),
                    sizes,
                    editing.parents(tree, level) or [0] * len(sizes),
                    strict=True,
                )
            )
            if find.casefold() in label.casefold()
        ]
        levels.append({
            "level": level, "count": len(editing.nodes(tree, level)), "nodes": entries[:MOST_NODES],
            "more": max(0, len(entries) - MOST_NODES), **effects[level],
        })  # fmt: skip
    kind = data.schema[name].kind
    return {
        "place": place, "name": name, "levels": levels, "height": tree.height, "kind": str(kind), "find": find,
        "records": data.records, "missing": int(counts[0]) if tree.missing else 0, "rules": list(BUILDERS[kind]),
        "units": list(UNITS), "held": _rule_parameters(session, name),
    }  # fmt: skip


def _rule_parameters(session: PageSession, name: str) -> dict[str, Any]:
    """The parameters of the rule that the column has, where it has one."""
    column = session.job.columns.get(name)
    if column is None or column.hierarchy is None:
        return {}
    return {"rule": registry.name_of(column.hierarchy), **column.hierarchy.parameters()}


def _effects(data: Dataset, name: str, run: Run) -> list[dict[str, Any]]:
    """For each level of a column, with every other column as it is: the smallest group, and who stands alone."""
    effects = []
    trees = data.hierarchies
    at = data.schema.quasi.index(name)
    for level in range(trees[at].height + 1):
        run.report(level / (trees[at].height + 1), "counting groups")
        levels = [level if place == at else 0 for place in range(len(trees))]
        findings = exposure(data.summary.generalize(levels))
        alone = findings.get("unique-people") or findings["unique-records"]
        effects.append({"k": findings["k"].value, "alone": alone.value})
    return effects


def change_policy(session: PageSession, form: Fields) -> None:
    """Takes k, the share of rows that may be left out, and the models that are ticked with their numbers."""
    models = [plugins.plugin("models", {"name": "k-anonymity", "k": _whole(form.get("k", ""), "k")})]
    for name, kind in _offered():
        if form.get(f"model-{name}"):
            numbers = {
                each.name: _number(form.get(f"{name}.{each.name}", ""), each)
                for each in parameters(kind)
                if each.required
            }
            models.append(plugins.plugin("models", {"name": name, **numbers}))
    share = form.get("suppression", "0")
    try:
        suppression = float(share) / 100
    except ValueError:
        raise ParameterError("the share of rows that may be left out must be a percentage") from None
    if not 0 <= suppression < 1:
        raise ParameterError("the share of rows that may be left out must be at least 0 and less than 100 percent")
    session.change(replace(session.job, models=tuple(models), suppression=suppression), "history.policy")


def _whole(text: str, what: str) -> int:
    if not text.isdigit():
        raise ParameterError(f"{what} must be a whole number")
    return int(text)


def _number(text: str, parameter: Parameter) -> float | int:
    try:
        return int(text) if parameter.kind == "int" else float(text)
    except ValueError:
        raise ParameterError(
            f"{parameter.name} must be a {'whole ' if parameter.kind == 'int' else ''}number"
        ) from None


def edit(session: PageSession, form: Fields) -> str:
    """One change of a hierarchy; the file of it is a new one, so that it can be undone."""
    place = int(form["column"])
    _, tree = _tree(session, place)
    selection = {int(key.partition("-")[2]) for key in form if key.startswith("node-")}
    level, node = form.get("level", "0"), form.get("node", "")
    if ":" in node:  # dragged: the level and the node together
        level, _, single = node.partition(":")
        selection = {int(single)}
    group = form.get("group", "").partition(":")[2] or form.get("group", "")
    action = form["action"] if form["action"] != "move" or group else "group"
    paths = editing.edit(tree, action, int(level), selection, group, form.get("name", ""))
    number = sum(1 for _ in session.folder.glob("hierarchies/*.csv"))
    path = editing.save(tree, paths, session.folder / "hierarchies" / f"{number}.csv")
    session.change_column(tree.column, "history.hierarchy", hierarchy=plugins.builder(path))
    return f"/give-up?column={place}#editor"


def change_rule(session: PageSession, form: Fields) -> str:
    """A rule that makes the hierarchy: intervals, calendar levels, masking, an order."""
    place = int(form["column"])
    name, rule = session.column(place), form["rule"]
    if not any(rule in rules for rules in BUILDERS.values()):  # others read files of this machine
        raise ParameterError("there is no such rule here")
    kind = registry.find("hierarchies", rule)
    values: dict[str, Any] = {}
    for each in parameters(kind):
        text = form.get(each.name, "").strip()
        if each.name == "units":
            units = tuple(unit for unit in UNITS if form.get(f"unit-{unit}"))
            values |= {"units": units} if units else {}
        elif text and each.kind.split(" ")[0] in ("int", "float"):
            values[each.name] = _number(text, replace(each, kind=each.kind.split(" ")[0]))
        elif text:
            values[each.name] = text
    builder = registry.make("hierarchies", rule, values)
    builder.build(_values(session, name))  # what does not suit the values is refused here, and changes nothing
    session.change_column(name, "history.hierarchy", hierarchy=builder)
    return f"/give-up?column={place}#editor"


def _values(session: PageSession, name: str) -> Values:
    column = session.look().data.schema[name]
    assert column.hierarchy is not None
    texts = [text for text in column.hierarchy.labels[0] if text is not None]
    return Values.of(name, column.kind, texts)


def hierarchy_file(session: PageSession, query: Fields) -> tuple[str, bytes]:
    """The hierarchy of a column as a file of its own."""
    place = int(query["column"]) if query.get("column", "").isdigit() else -1
    _, tree = _tree(session, place)
    return file_name(tree.column, ".csv"), editing.as_csv(tree.rows()).encode("utf-8")


ACTIONS = {"policy": change_policy, "edit": edit, "rule": change_rule}
FILES = {"hierarchy.csv": hierarchy_file}
