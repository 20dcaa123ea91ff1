"""Arguments in the wrong order, and frames that are no flat tables: a clear error, of Shoal's own kind."""

from __future__ import annotations

import polars as pl
import pytest

import shoal
from shoal.errors import InputError


@pytest.fixture(scope="module")
def data():
    return shoal.read(pl.DataFrame({"age": [1, 2] * 10, "sex": ["f", "m"] * 10}), quasi=["age", "sex"])


@pytest.fixture(scope="module")
def release(data):
    return shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm="mondrian")


@pytest.mark.parametrize("verb", ["attack", "evaluate", "columns", "ask", "diagnose", "compare"])
def test_a_release_in_the_place_of_the_table(verb, data, release):
    others = (data,) if verb in ("attack", "evaluate", "columns") else ()
    with pytest.raises(InputError, match="not a release; the table comes first"):
        getattr(shoal, verb)(release, *others)


@pytest.mark.parametrize("verb", ["attack", "evaluate", "columns"])
def test_a_table_in_the_place_of_the_release(verb, data):
    with pytest.raises(InputError, match=r"a release is needed: .* this is Dataset"):
        getattr(shoal, verb)(data, data)


def test_no_path_to_verify_or_to_query(release):
    with pytest.raises(InputError, match=r"path of a release file is needed, which release\.write makes"):
        shoal.verify(release)
    with pytest.raises(InputError, match=r"a release is needed: .* this is int"):
        shoal.query(5)


def test_frames_that_are_no_flat_tables():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [1, 2], "sex": ["f", "m"], "wage": [3, 4]})
    for verb in (shoal.detect, shoal.read):
        with pytest.raises(InputError, match=r"rows of the frame are named by 2 columns .*reset_index\(\)"):
            verb(frame.set_index(["age", "sex"]))
        with pytest.raises(InputError, match="headings of the frame have 2 levels"):
            verb(frame.set_axis(pandas.MultiIndex.from_tuples([("a", "b"), ("a", "c"), ("d", "e")]), axis=1))
        with pytest.raises(InputError, match=r"a table is needed: .* this is Series"):
            verb(frame["age"])
