"""What Python prints of an object, as in a traceback, shows no cell."""

import polars as pl

import shoal

SECRET = "unmistakable"


def reachable(thing, seen):
    """Everything of Shoal that can be reached from an object."""
    if id(thing) in seen:
        return
    seen[id(thing)] = thing
    inner = list(thing.values()) if isinstance(thing, dict) else list(thing) if isinstance(thing, tuple) else []
    if type(thing).__module__.startswith("shoal."):
        inner += list(getattr(thing, "__dict__", {}).values())
        yield thing
    for each in inner:
        yield from reachable(each, seen)


def test_no_object_of_a_run_shows_a_cell():
    table = pl.DataFrame({"town": [SECRET, "b"] * 5, "ill": [SECRET, "yes"] * 5, "note": [SECRET, "x"] * 5})
    data = shoal.read(table, quasi=["town"], sensitive=["ill"])
    release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm="mondrian", seed=1)
    perturbed = shoal.anonymize(data, algorithm="pram", seed=1)
    assert data.summary and release.view.people() and release.view.cells() is not None
    found = [thing for root in (data, release, perturbed) for thing in reachable(root, {})]
    assert len({type(thing) for thing in found}) > 15
    for thing in found:
        assert SECRET not in repr(thing), type(thing)
