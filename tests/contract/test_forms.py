"""The same questions to every form that the registry knows, reached through an algorithm that makes it."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from making import by_form, names, people, small, tells_no_value

import shoal
from shoal import registry
from shoal.api import open_release
from shoal.core.classes import Classes
from shoal.core.codebook import Cells
from shoal.core.contracts.form import Candidates, Form
from shoal.errors import NotDefined, SchemaError
from shoal.publishing.writable_release import part_path
from shoal.storage.files import sha256

FORMS = names("forms")


def answered(question: Callable[[], Any]) -> Any:
    """What a view answers; None where it refuses and says why."""
    try:
        return question()
    except NotDefined as reason:
        assert len(str(reason)) > 20 and tells_no_value(str(reason))
        return None


@pytest.mark.parametrize("name", FORMS)
class TestForm:
    def test_some_algorithm_makes_it(self, name: str) -> None:
        assert name in by_form()

    def test_tables(self, name: str) -> None:
        release = by_form()[name]
        form: Form = release.form
        for pseudonyms in (False, True):
            sheets = form.sheets(small().schema, pseudonyms=pseudonyms)
            parts = [sheet.part for sheet in sheets]
            assert parts[0] == "" and len(set(parts)) == len(parts)
            assert all(re.fullmatch(r"[a-z0-9-]{0,40}", part) for part in parts)
            for sheet in sheets:
                names = [column.name for column in sheet.columns]
                assert len(set(names)) == len(names)
        assert list(release.tables) == [sheet.part for sheet in form.sheets(small().schema, pseudonyms=False)]
        for part, frame in release.frames.items():
            assert frame.columns == list(release.tables[part].names)
            assert frame.height == release.tables[part].records

    def test_identifiers_are_published_as_pseudonyms_or_not_at_all(self, name: str) -> None:
        data = shoal.read(people(80), quasi=list(small().schema.quasi), sensitive=["occupation"], identifiers=["row"])
        for pseudonyms in (False, True):
            sheets = by_form()[name].form.sheets(data.schema, pseudonyms=pseudonyms)
            shown = [column.what for sheet in sheets for column in sheet.columns if column.name == "row"]
            assert shown == ["pseudonym"] * len(shown) and bool(shown) == pseudonyms

    def test_view_answers_or_says_why_not(self, name: str) -> None:
        release = by_form()[name]
        view, quasi = release.view, release.schema.quasi
        persons, groups, cells = (answered(question) for question in (view.people, view.groups, view.cells))
        for classes in (persons, groups):
            if classes is not None:
                assert isinstance(classes, Classes)
                assert classes.sizes.sum() == release.published.records and classes.sizes.min() > 0
                assert classes.records == release.records
        if cells is not None:
            assert persons is not None and isinstance(cells, Cells)
            for what in (cells.low, cells.high, cells.levels, cells.lengths):
                assert what.shape == (len(quasi), len(persons))
            assert (cells.low >= 0).all() and (cells.low <= cells.high).all()
            for high, tree in zip(cells.high, small().hierarchies, strict=True):
                assert high.max() < tree.size

    def test_every_model_gets_classes_or_a_reason(self, name: str) -> None:
        view = by_form()[name].view
        for model in registry.names("models"):
            for example in registry.examples("models", model):
                if all(key in example for key in _required(model)):
                    made = registry.make("models", model, dict(example))
                    classes = answered(lambda made=made: view.judged_by(made))
                    assert classes is None or isinstance(classes, Classes)

    def test_a_release_that_claims_a_model_can_be_judged_by_it(self, name: str) -> None:
        release = by_form()[name]
        assert release.policy is not None
        for model in release.policy.models:
            assert model.holds(release.view.judged_by(model)).all()

    def test_where_people_can_be(self, name: str) -> None:
        """Of every person of the table: chances add up to 1, and what is true is possible where the form is truthful.
        Whoever was left out may be anywhere or nowhere."""
        release, summary = by_form()[name], small().summary
        found: Candidates | None = answered(lambda: release.view.candidates(summary.keys))
        if found is None:
            return
        groups = release.view.groups()
        assert len(found.starts) == len(summary) + 1 and found.starts[-1] == len(found.classes) == len(found.chances)
        assert (found.chances > 0).all() and ((found.classes >= 0) & (found.classes < len(groups))).all()
        values = np.zeros((len(groups), len(groups.histogram().population)))
        values[groups.histogram().owners, groups.histogram().values] = groups.histogram().shares
        shown = set(release.frame["row"])
        values_of = defaultdict(list)
        codes = np.stack([small().codes(column) for column in (*release.schema.quasi, "occupation")])
        for row, code in enumerate(codes.T.tolist()):
            values_of[tuple(code[:-1])].append((row in shown, code[-1]))
        for at, key in enumerate(summary.keys.T.tolist()):
            some = slice(found.starts[at], found.starts[at + 1])
            chances, classes = found.chances[some], found.classes[some]
            assert len(set(classes.tolist())) == len(classes)
            published = [value for kept, value in values_of[tuple(key)] if kept]
            assert len(chances) or not published, "a published person is nowhere"
            assert not len(chances) or chances.sum() == pytest.approx(1)
            if release.view.truthful:
                assert all((chances @ values[classes])[value] > 0 for value in published), "the truth is impossible"

    def test_files_and_manifest(self, name: str, tmp_path: Path) -> None:
        release, path = by_form()[name], tmp_path / "release.csv"
        stated = json.loads(release.write(path).read_text())
        assert [entry["part"] for entry in stated["tables"]] == list(release.tables)
        for entry in stated["tables"]:
            place = part_path(path, entry["part"])
            assert entry["sha256"] == sha256(place) and entry["rows"] == release.tables[entry["part"]].records
        assert len(list(tmp_path.iterdir())) == len(release.tables) + 1
        assert tells_no_value(json.dumps(stated))
        assert shoal.verify(path).holds

    def test_files_say_what_the_release_said(self, name: str, tmp_path: Path) -> None:
        release = by_form()[name]
        release.write(tmp_path / "release.csv")
        read = open_release(tmp_path / "release.csv", small())
        assert type(read.form) is type(release.form) and read.view.truthful == release.view.truthful
        for question in ("people", "groups"):
            left, right = (answered(getattr(one.view, question)) for one in (release, read))
            assert (left is None) == (right is None)
            if left is not None:
                assert left.sizes.tolist() == right.sizes.tolist()

    def test_a_change_in_any_file_is_noticed(self, name: str, tmp_path: Path) -> None:
        release, path = by_form()[name], tmp_path / "release.csv"
        for part in release.tables:
            release.write(path)
            place = part_path(path, part)
            lines = place.read_text().splitlines(keepends=True)
            place.write_text("".join([*lines[:-1], lines[1]]))
            assert not shoal.verify(path)["unchanged"].holds, part

    def test_repr_tells_no_value(self, name: str) -> None:
        assert tells_no_value(repr(by_form()[name]))

    def test_documents_itself(self, name: str) -> None:
        assert re.search(r"^ *Example:\n *>>> ", registry.find("forms", name).__doc__ or "", re.MULTILINE)


def _required(model: str) -> list[str]:
    from shoal.core.parameters import parameters

    return [parameter.name for parameter in parameters(registry.find("models", model)) if parameter.required]


def test_names_that_a_form_adds_are_refused_as_columns() -> None:
    table = people(80).rename({"row": "group"})
    data = shoal.read(table, quasi=list(small().schema.quasi), sensitive=["occupation"])
    with pytest.raises(SchemaError, match="'group'"):
        registry.make("forms", "two-table", {}).sheets(data.schema, pseudonyms=False)
