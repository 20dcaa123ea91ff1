"""Every guard is tried: something is broken on purpose, and must be caught before it is handed out.

An engine that errs is made by changing the plan that it is given; what it publishes is then not what was decided.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from truth import held_values, tables_of, untrue_cells

import shoal
from shoal import registry
from shoal.api import open_release, publish
from shoal.core.codebook import Codebook
from shoal.core.contracts.algorithm import Algorithm
from shoal.core.policy import Policy
from shoal.core.recoding import Counterfeits, Plan, Recoding
from shoal.core.release import Release
from shoal.core.run import Run
from shoal.engines.common.published_table import MemoryPublished
from shoal.errors import VerificationError
from shoal.storage.files import sha256

K = shoal.KAnonymity(k=3)
DIVERSE = shoal.FrequencyLDiversity(l=2)


@pytest.fixture
def table() -> pl.DataFrame:
    """Four classes of three and of six; the last age is alone."""
    ages = [20, 21, 22, 40, 41, 42, 43, 44, 45, 60, 61, 62, 70, 71, 72, 99]
    diseases = ["flu", "hiv", "cold", *["flu", "hiv"] * 3, "flu", "hiv", "cold", "flu", "hiv", "gout", "rare"]
    return pl.DataFrame({"age": ages, "disease": diseases, "row": range(16)})


def read(table: Any) -> shoal.Dataset:
    return shoal.read(table, quasi=["age"], sensitive=["disease"], hierarchies={"age": "intervals:width=20"})


@dataclass(frozen=True)
class Erring:
    """A table whose engine does not publish what it is told to."""

    table: Any
    change: Callable[[Plan], Plan]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.table, name)

    def publish(self, schema: Any, recoding: Recoding, sheets: Any, **more: Any) -> Any:
        assert recoding.plan is not None
        return self.table.publish(schema, replace(recoding, plan=self.change(recoding.plan)), sheets, **more)


def erring(data: shoal.Dataset, change: Callable[[Plan], Plan]) -> shoal.Dataset:
    return replace(data, table=Erring(data.table, change))


def swapped(plan: Plan, left: int, right: int) -> Plan:
    """Two entries of a plan change places."""
    classes = plan.classes.copy()
    classes[[left, right]] = classes[[right, left]]
    return replace(plan, classes=classes)


def test_without_a_fault_everything_holds(table: pl.DataFrame) -> None:
    data = erring(read(table), lambda plan: plan)
    for models, algorithm in (((K,), "mondrian"), ((K,), "optimal"), ((DIVERSE,), "anatomy"), ((K,), "k-member")):
        release = shoal.anonymize(data, *models, algorithm=algorithm, suppression=0.3, seed=1)
        assert release.policy is not None and release.verify(release.policy).holds


@pytest.mark.parametrize("algorithm", ["optimal", "mondrian:numeric=interval", "k-member:numeric=interval"])
def test_rows_scrambled_between_classes(algorithm: str, table: pl.DataFrame) -> None:
    """The first tuple and one of another class, with other diseases, change places: sizes stay the same."""
    data = erring(read(table), lambda plan: swapped(plan, 0, 10))
    with pytest.raises(VerificationError, match="other values than was decided"):
        shoal.anonymize(data, K, algorithm=algorithm, suppression=0.1, seed=1)


def test_rows_scrambled_so_that_no_count_tells(table: pl.DataFrame) -> None:
    """Two people with the same disease change classes: only the truth of their cells tells, and a contract test of
    every algorithm on every engine looks at it."""
    data = read(table)
    release = shoal.anonymize(erring(data, lambda plan: swapped(plan, 0, 3)), K, algorithm="optimal", suppression=0.1)
    assert set(untrue_cells(release, table, data)) == {"age"}
    honest = shoal.anonymize(data, K, algorithm="optimal", suppression=0.1)
    assert not set(untrue_cells(honest, table, data))


@pytest.mark.parametrize(("moved", "to"), [(0, 3), (3, 0)], ids=["below", "above"])
def test_an_algorithm_whose_cells_do_not_cover_their_records(moved: int, to: int, table: pl.DataFrame) -> None:
    """The fault is in the decision, so every engine carries it out faithfully."""

    def strayed(plan: Plan) -> Plan:
        return replace(plan, classes=np.where(np.arange(len(plan.classes)) == moved, plan.classes[to], plan.classes))

    with pytest.raises(VerificationError, match="'age': a published value does not cover"):
        shoal.anonymize(read(table), K, algorithm=_Changed(change=strayed), seed=1, suppression=0.1)


@dataclass(frozen=True, kw_only=True)
class _Changed(Algorithm):
    """The optimum, changed before it is returned."""

    change: Any

    def search(self, dataset: shoal.Dataset, policy: Policy, run: Run) -> Recoding:
        found = shoal.algorithms.Optimal().search(dataset, policy, run)
        assert found.plan is not None
        return replace(found, plan=self.change(found.plan))


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The changed algorithm goes by a name, as a plug-in does."""
    from shoal import registry

    known = registry.name_of
    monkeypatch.setattr(registry, "name_of", lambda one: "changed" if isinstance(one, _Changed) else known(one))


def test_a_class_below_k(table: pl.DataFrame) -> None:
    data = read(table)
    alone = lambda plan: replace(plan, withheld=np.arange(len(plan.withheld)) == 0)  # noqa: E731
    with pytest.raises(VerificationError, match=r"changed made breaks its policy \(k\)"):
        shoal.anonymize(data, K, algorithm=_Changed(change=alone), seed=1, suppression=0.1)


def test_more_left_out_than_allowed(table: pl.DataFrame) -> None:
    first = lambda plan: replace(plan, withheld=plan.withheld | (plan.classes == plan.classes[0]))  # noqa: E731
    with pytest.raises(VerificationError, match=r"breaks its policy \(suppressed\)"):
        shoal.anonymize(read(table), K, algorithm=_Changed(change=first), seed=1, suppression=0.1)


def relabelled(plan: Plan, text: str) -> Plan:
    """The label of the first class' entry is another one."""
    entry = plan.cells[0, plan.classes[0]]
    labels = plan.codebooks[0].labels.copy()
    labels[entry] = text
    return replace(plan, codebooks=(replace(plan.codebooks[0], labels=labels),))


def test_a_leaked_label(table: pl.DataFrame) -> None:
    """The engine publishes a class by a finer label than its own."""
    with pytest.raises(VerificationError, match="'age': a class is published as something else"):
        shoal.anonymize(erring(read(table), lambda plan: relabelled(plan, "21")), K, algorithm="optimal", seed=1,
                        suppression=0.1)  # fmt: skip


def test_a_leaked_label_of_one_record(table: pl.DataFrame) -> None:
    """One record of a class is published as it is."""

    def leaked(plan: Plan) -> Plan:
        book = plan.codebooks[0]
        finer = replace(
            book,
            labels=np.append(book.labels, "20"),
            **{name: np.append(getattr(book, name), 0) for name in ("low", "high", "levels", "lengths")},
        )
        classes = plan.classes.copy()
        classes[0] = plan.count
        return replace(plan, classes=classes, cells=np.append(plan.cells, [[len(book)]], axis=1), codebooks=(finer,))

    with pytest.raises(VerificationError, match="not those that were decided on"):
        shoal.anonymize(erring(read(table), leaked), K, algorithm="optimal", seed=1, suppression=0.1)


def test_an_algorithm_that_labels_finer_than_it_groups(table: pl.DataFrame) -> None:
    data = read(table)
    finer = _Changed(change=lambda plan: relabelled(plan, "[20-21]"))
    release = shoal.anonymize(data, K, algorithm=finer, seed=1, suppression=0.1)
    assert set(untrue_cells(release, table, data)) == {"age"}


@pytest.mark.parametrize(("models", "algorithm"), [((K,), "optimal"), ((DIVERSE,), "anatomy")])
def test_a_withheld_record_is_published(models: Any, algorithm: str, table: pl.DataFrame) -> None:
    table = table.with_columns(pl.when(pl.col("row") < 12).then(pl.lit("flu")).otherwise("disease").alias("disease"))

    def shown(plan: Plan) -> Plan:
        gone = np.flatnonzero(plan.withheld)
        assert len(gone)
        withheld, classes = plan.withheld.copy(), plan.classes.copy()
        withheld[gone[0]] = False
        classes[gone[0]] = plan.classes[~plan.withheld][0]
        return replace(plan, withheld=withheld, classes=classes)

    with pytest.raises(VerificationError, match="another number of records"):
        shoal.anonymize(erring(read(table), shown), *models, algorithm=algorithm, suppression=0.7, seed=1)


def written(release: Release, path: Path) -> dict[str, Any]:
    release.write(path)
    stated: dict[str, Any] = json.loads(path.with_name(path.name + ".manifest.json").read_text())
    return stated


def restated(path: Path, stated: dict[str, Any], engine: str | None = None) -> shoal.Findings:
    """What verification says of files that somebody changed together with their manifest."""
    for entry in stated["tables"]:
        part = path if not entry["part"] else path.with_name(f"{path.stem}.{entry['part']}{path.suffix}")
        entry["sha256"], entry["rows"] = sha256(part), pl.read_csv(part).height
    stated["published"] = stated["tables"][0]["rows"]
    path.with_name(path.name + ".manifest.json").write_text(json.dumps(stated))
    return shoal.verify(path, engine=engine)


@pytest.mark.parametrize("model", ["t-closeness:t=0.9", "distinct-l-diversity:l=2"])
def test_a_wrong_population_in_the_manifest(model: str, table: pl.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    release = shoal.anonymize(read(table), K, model, algorithm="optimal", suppression=0.1, seed=1)
    stated = written(release, path)
    assert restated(path, stated)["counts-agree"].holds
    counts = stated["sensitive"]["disease"]["population"]
    most, least = int(np.argmax(counts)), int(np.argmin(counts))
    counts[most], counts[least] = counts[least], counts[most]
    found = restated(path, stated)
    assert not found["counts-agree"].holds and not found.holds


def test_counts_of_the_release_where_those_of_the_table_are_needed(table: pl.DataFrame, tmp_path: Path) -> None:
    """A model that compares with the whole table cannot be checked with the counts of what is published."""
    path = tmp_path / "out.csv"
    release = shoal.anonymize(read(table), K, "t-closeness:t=0.9", algorithm="optimal", suppression=0.1, seed=1)
    stated = written(release, path)
    assert release.suppressed == 1
    rare = stated["sensitive"]["disease"]["population"]
    rare[-1] -= 1
    assert not restated(path, stated)["counts-agree"].holds


@pytest.mark.parametrize("identifiers", ["dropped", "keyed", "random"])
@pytest.mark.parametrize("engine", ["embedded", "duckdb"])
def test_a_published_column_that_the_manifest_hides(
    engine: str, identifiers: str, table: pl.DataFrame, tmp_path: Path
) -> None:
    """Whoever calls a quasi-identifier an identifier, or leaves it out, takes it out of every class that is counted."""
    path = tmp_path / "out.csv"
    data = shoal.read(table.with_columns(sex=pl.Series(["f", "m"] * 8)).drop("row"), quasi=["age", "sex"])
    stated = written(shoal.anonymize(data, "k-anonymity:k=1", algorithm="optimal", seed=1), path)
    assert shoal.verify(path, engine=engine)["columns-agree"].holds
    stated["identifiers"] = identifiers
    entry = next(entry for entry in stated["columns"] if entry["role"] == "quasi")
    entry["role"] = "identifier"
    found = restated(path, stated, engine)
    assert not found["columns-agree"].holds and not found.holds
    stated["columns"].remove(entry)
    found = restated(path, stated, engine)
    assert not found["columns-agree"].holds and not found.holds


@pytest.mark.parametrize("key", [None, b"a key of at least sixteen bytes"])
def test_pseudonyms_may_be_published_when_the_manifest_says_so(
    key: bytes | None, table: pl.DataFrame, tmp_path: Path
) -> None:
    path = tmp_path / "out.csv"
    data = shoal.read(table, quasi=["age"], sensitive=["disease"], identifiers=["row"])
    stated = written(shoal.anonymize(data, K, pseudonyms=shoal.Pseudonyms(key=key), algorithm="optimal"), path)
    assert restated(path, stated)["columns-agree"].holds
    stated["identifiers"] = "dropped"
    assert not restated(path, stated)["columns-agree"].holds


@pytest.mark.parametrize("native", ["pyarrow", "polars"])
def test_values_that_only_withheld_records_have(
    native: str, table: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    arrow = table.with_columns(note="n" + pl.col("row").cast(pl.String)).to_arrow()
    for name in ("disease", "note"):
        at = arrow.column_names.index(name)
        arrow = arrow.set_column(at, name, arrow[name].cast(pa.string()).dictionary_encode())
    source = arrow if native == "pyarrow" else pl.DataFrame(arrow)
    release = shoal.anonymize(read(source), K, algorithm="optimal", suppression=0.1, seed=1)
    assert release.suppressed == 1
    assert not {"rare", "n15"} & held_values(tables_of(release, tmp_path))
    # The check sees a dictionary that was not renewed.
    monkeypatch.setattr(MemoryPublished, "decode", lambda self, form=None: self.table)
    release.write(tmp_path / "raw.arrow")
    assert "rare" in held_values([pa.feather.read_table(tmp_path / "raw.arrow")])


@pytest.fixture
def two(table: pl.DataFrame, tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    """Two tables in files: ages with groups, and the diseases of the groups."""
    path = tmp_path / "out.csv"
    return path, written(shoal.anonymize(read(table), DIVERSE, algorithm="anatomy", seed=1), path)


def test_two_tables_whose_group_sizes_disagree(two: tuple[Path, dict[str, Any]]) -> None:
    path, stated = two
    assert restated(path, stated).holds
    main = pl.read_csv(path)
    other = main["group"][0]
    first = main.with_row_index().filter(pl.col("group") != other)["index"][0]
    moved = main.with_columns(pl.when(pl.int_range(pl.len()) == first).then(other).otherwise("group").alias("group"))
    moved.write_csv(path)
    found = restated(path, stated)
    assert not found["tables-agree"].holds and not found.holds


def test_a_group_that_only_one_table_has(two: tuple[Path, dict[str, Any]]) -> None:
    path, stated = two
    main = pl.read_csv(path)
    main.with_columns(pl.col("group").replace(main["group"][0], 77)).write_csv(path)
    assert not restated(path, stated)["tables-agree"].holds


def test_a_sensitive_value_moved_to_another_group(table: pl.DataFrame) -> None:
    data = read(table)

    def exchanged(plan: Plan) -> Plan:
        # Two people of different groups and with different diseases change places, in both tables alike.
        (diseases,) = data.listing(1)
        left = 0
        differ = (plan.classes != plan.classes[left]) & (diseases != diseases[left])
        return swapped(plan, left, int(np.flatnonzero(differ)[0]))

    with pytest.raises(VerificationError, match="'disease': a published group has other values"):
        shoal.anonymize(erring(data, exchanged), DIVERSE, algorithm="anatomy", seed=1)


def test_people_moved_to_other_groups(table: pl.DataFrame) -> None:
    """Two people with one disease change groups: the second table is as it was decided, the main one is not."""
    data = read(table)

    def exchanged(plan: Plan) -> Plan:
        (diseases,) = data.listing(1)
        same = (plan.classes != plan.classes[0]) & (diseases == diseases[0])
        return swapped(plan, 0, int(np.flatnonzero(same)[0]))

    with pytest.raises(VerificationError, match="not published in the groups"):
        shoal.anonymize(erring(data, exchanged), DIVERSE, algorithm="anatomy", seed=1)


def test_groups_that_nobody_decided_on(table: pl.DataFrame) -> None:
    data = erring(read(table), lambda plan: replace(plan, classes=plan.classes + np.int32(1)))
    with pytest.raises(VerificationError, match="groups are not those that were decided on"):
        shoal.anonymize(data, DIVERSE, algorithm="anatomy", seed=1)


def test_a_perturbation_that_publishes_other_values(table: pl.DataFrame) -> None:
    data = read(table)
    recoding = Recoding(form="perturbed", changed={"age": data.table.numbers(["age"], 0)["age"]})
    publish(data, recoding).view.check(data, recoding)
    other = replace(recoding, changed={"age": np.full(16, 20.0)})
    with pytest.raises(VerificationError, match="'age': the published values"):
        publish(data, other).view.check(data, recoding)


def test_a_codebook_reads_as_it_was_meant(table: pl.DataFrame) -> None:
    """Means are numbers, and another spelling of a number is the same mean."""
    data = shoal.read(table, quasi=["age"], sensitive=["disease"])
    release = shoal.anonymize(data, K, algorithm="k-member:numeric=mean", seed=1)
    assert release.recoding is not None and release.recoding.plan is not None
    book: Codebook = release.recoding.plan.codebooks[0]
    assert book.numeric and release.frame["age"].dtype == pl.Float64


def test_a_class_that_is_not_published(table: pl.DataFrame) -> None:
    """The engine forgets a whole class."""
    forgotten = lambda plan: replace(plan, withheld=plan.withheld | (plan.classes == plan.classes[0]))  # noqa: E731
    with pytest.raises(VerificationError, match="not among the published ones"):
        shoal.anonymize(erring(read(table), forgotten), K, algorithm="optimal", suppression=0.9, seed=1)


def test_another_raw_value(table: pl.DataFrame) -> None:
    """A raw value is published as another one: sizes and diseases are as they were decided."""

    def other(plan: Plan) -> Plan:
        book = plan.codebooks[0]
        assert book.raw
        low = book.low.copy()
        low[[0, 1]] = low[[1, 0]]
        return replace(plan, codebooks=(replace(book, low=low, high=low),))

    same = table.with_columns(disease=pl.lit("flu"))
    with pytest.raises(VerificationError, match="'age': a class is published as something else"):
        shoal.anonymize(erring(read(same), other), shoal.KAnonymity(k=1), algorithm="optimal", seed=1)


def test_a_file_that_reads_otherwise_is_not_written(
    table: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    release = shoal.anonymize(read(table), K, algorithm="optimal", suppression=0.1, seed=1)
    opened = type(release.engine).open_published

    def torn(self: Any, path: Path, kinds: Any = None) -> MemoryPublished:
        whole = opened(self, path, kinds)
        return replace(whole, table=whole.table.slice(2), _texts={})

    monkeypatch.setattr(type(release.engine), "open_published", torn)
    with pytest.raises(VerificationError, match="breaks the policy"):
        release.write(tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


def test_two_sensitive_attributes_do_not_fit_into_two_tables(table: pl.DataFrame) -> None:
    data = shoal.read(table, quasi=["age"], sensitive=["disease", "row"])
    with pytest.raises(shoal.errors.SchemaError, match="one sensitive attribute"):
        registry.make("forms", "two-table", {}).sheets(data.schema, pseudonyms=False)


def test_models_of_people_and_of_both_at_once_with_two_tables(table: pl.DataFrame) -> None:
    """k-anonymity is measured on the people; what ties people to values cannot be asked."""
    view = shoal.anonymize(read(table), DIVERSE, algorithm="anatomy", seed=1).view
    assert view.judged_by(K) is view.people() and view.judged_by(DIVERSE) is view.groups()
    with pytest.raises(shoal.errors.NotDefined, match="keep apart"):
        view.judged_by(shoal.models.PSensitiveKAnonymity(p=2, k=2))


def test_a_perturbed_table_lacks_nobody(table: pl.DataFrame) -> None:
    data = read(table)
    recoding = Recoding(form="perturbed")
    with pytest.raises(VerificationError, match="another number of records"):
        publish(read(table.head(10)), recoding).view.check(data, recoding)


def test_classes_with_one_mean_are_one_class() -> None:
    """Their range is that of all of them."""
    table = pl.DataFrame({"age": [10, 30, 19, 21], "sex": ["f", "f", "m", "m"]})
    data = shoal.read(table, quasi=["age"])
    partition = np.array([0, 1, 1, 0], np.int32)
    release = publish(data, Recoding.of_partition(data.summary, partition, ["mean"]))
    cells = release.view.cells()
    assert release.view.people().sizes.tolist() == [4]
    assert (cells.low.tolist(), cells.high.tolist(), cells.lengths.tolist()) == ([[0]], [[3]], [[20.0]])


def test_a_manifest_whose_levels_part_again(table: pl.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    stated = written(shoal.anonymize(read(table), K, "distinct-l-diversity:l=2", algorithm="mondrian", seed=1), path)
    size = len(stated["sensitive"]["disease"]["population"])
    stated["sensitive"]["disease"]["levels"] = [[0] * (size - 1) + [1], [0, 1] + [1] * (size - 2)]
    with pytest.raises(shoal.errors.InputError, match="no tree"):
        restated(path, stated)


def test_no_model_is_stated_only_by_what_claims_none(table: pl.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    stated = written(shoal.anonymize(read(table), algorithm="rank-swapping", seed=1), path)
    assert restated(path, stated).holds
    for name in ("mondrian", "unknown"):
        stated["algorithm"]["name"] = name
        with pytest.raises(shoal.errors.InputError, match="states no model"):
            restated(path, stated)


def test_strictness_is_verified_too(tmp_path: Path) -> None:
    """Whoever knows one sensitive attribute learns the other: only a strict verification sees it."""
    table = pl.DataFrame({"age": [1] * 4, "a": list("xxyy"), "b": list("ppqq")})
    path = tmp_path / "out.csv"
    data = shoal.read(table, quasi=["age"], sensitive=["a", "b"])
    models = [shoal.DistinctLDiversity(l=2, column=name) for name in "ab"]
    stated = written(shoal.anonymize(data, *models, algorithm="mondrian", seed=1), path)
    assert restated(path, stated).holds
    stated["strict"] = True
    assert not restated(path, stated).holds


def test_two_tables_with_values_that_are_not_those_of_the_table(
    two: tuple[Path, dict[str, Any]], table: pl.DataFrame
) -> None:  # fmt: skip
    path, stated = two
    data, main = read(table), pl.read_csv(path)
    main.with_columns(pl.col("age").replace(20, 77)).write_csv(path)
    restated(path, stated)
    with pytest.raises(shoal.errors.InputError, match="'age' of the release has 1 distinct values"):
        open_release(path, data).view.cells()
    main.with_columns(pl.col("group").replace(main["group"][0], 77)).write_csv(path)
    restated(path, stated)
    with pytest.raises(shoal.errors.InputError, match="1 groups of the main table are not in the other"):
        open_release(path, data).view.candidates(data.summary.keys)


def test_counterfeits_that_nobody_decided_on(table: pl.DataFrame) -> None:
    data = read(table)
    release = shoal.anonymize(data, DIVERSE, algorithm="m-invariance", seed=1)
    assert release.recoding is not None and release.recoding.counterfeits is not None
    release.view.check(data, release.recoding)
    one = Counterfeits(np.zeros(1, np.int32), np.zeros(1, np.int32))
    with pytest.raises(VerificationError, match="'disease': a published group has other values"):
        release.view.check(data, replace(release.recoding, counterfeits=one))
    published = publish(data, replace(release.recoding, counterfeits=one), release.policy)
    with pytest.raises(VerificationError, match="'disease': a published group has other values"):
        published.view.check(data, release.recoding)
