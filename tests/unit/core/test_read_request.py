"""What is said of columns before a table is read."""

import polars as pl

import shoal
from shoal.core.hierarchy import Hierarchy
from shoal.core.read_request import Description, Opening
from shoal.core.schema import Kind, Missing, Role
from shoal.core.values import Values
from shoal.registry import engine

TABLE = pl.DataFrame({"who": ["a", "b"], "when": ["2020-01-02", "2021-03-04"], "note": ["x", "y"]})


def flat(values: Values, role: Role) -> Hierarchy:
    return Hierarchy.flat(values.column, values.texts.tolist(), values.numbers)


def test_a_table_is_read_again_as_it_was():
    """Roles keep their order, kinds and rules stay, a column without a hierarchy stays as it is."""
    data = shoal.read(TABLE, quasi=["when"], sensitive=["note"], missing_rules={"note": "drop"})
    columns = [data.schema[name] for name in ("note", "when", "who")]
    again = Description.of(columns, flat, roles={"who": Role.PLAIN, "when": Role.SENSITIVE, "note": Role.QUASI})
    assert list(again.roles.items()) == [("note", Role.QUASI), ("when", Role.SENSITIVE), ("who", Role.PLAIN)]
    assert again.kinds == {"note": Kind.CATEGORICAL, "when": Kind.DATE}
    assert again.missing_rules == {"note": Missing.DROP, "when": Missing.VALUE}
    _, schema = engine().read(engine().open(TABLE), again)
    assert schema.names == tuple(TABLE.columns)
    assert (schema.quasi, schema.sensitive) == (("note",), ("when",))
    assert schema["who"].hierarchy is None and schema["note"].missing is Missing.DROP


def test_nobody_can_be_without_a_person():
    described = Description(roles={"who": Role.ENTITY, "note": Role.QUASI}, hierarchy_for=flat)
    assert (described.rule("who"), described.rule("note")) == (Missing.REFUSE, Missing.VALUE)


def test_names_are_numbered_where_that_is_asked_for(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("x;x\n1;?\n")
    opened = engine().open(path, Opening(delimiter=";", missing=("?",), rename_duplicates=True))
    assert (opened.names, opened.missing) == (("x", "x.1"), ("?",))
