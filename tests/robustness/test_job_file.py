"""Job files: what is written reads back, what is wrong is said, and a saved job repeats its run."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import pytest
from canary_table import CANARY, ROLES

from shoal import job, registry
from shoal.core.schema import Kind, Missing, Role
from shoal.errors import ShoalError
from shoal.job.columns import ColumnJob
from shoal.job.file import parse
from shoal.job.job import Job
from shoal.job.option import options

FULL = """
algorithm = "mondrian:strict=false"
[input]
path = "people.csv"
delimiter = ";"
encoding = "cp1252"
format = "csv"
sheet = "People"
rename_duplicates = true
missing = ["?", "NA"]
hierarchies = "trees"
engine = "embedded"
neutralize_formulas = true
household_variables = ["zip"]
[columns.age]
role = "quasi"
kind = "numeric"
missing = "drop"
hierarchy = {name = "intervals", width = 5, factor = 3, levels = 2, origin = 1, bottom = 18, top = 90}
[columns.zip]
role = "quasi"
hierarchy = "masking:side=left,step=2,symbol=#"
[columns.born]
role = "quasi"
kind = "date"
hierarchy = {name = "dates", units = ["month", "year"]}
[columns."odd name, \\"quoted\\""]
role = "sensitive"
kind = "text"
hierarchy = {name = "ordering", order = ["a", "b"], fanout = 4}
[columns.city]
hierarchy = "files/city.csv"
role = "quasi"
[columns.job]
role = "quasi"
hierarchy = {name = "tree", path = "files/job.toml"}
[columns.name]
role = "identifier"
missing = "refuse"
[policy]
models = ["k-anonymity:k=7", {name = "k-anonymity", k = 3}]
suppression = 0.25
objective = "gcp"
seed = 17
protect_jointly = true
rows_are_people = true
allow_unverified = true
repeatable = true
allow_plain = ["remark"]
[output]
manifest = "out.json"
recoding = "recoding.json"
ledger = "people.ledger"
allow_unjudged = ["disease", "release:1"]
path = "out/release.parquet"
plot = "out/release.svg"
pseudonyms = "keyed"
key_file = "secret.key"
sign = "sign.pem"
rows_per_file = 1000
publish_weights = "means"
overwrite = true
resume_dir = "unfinished"
[balance]
target = "remark"
sweep = ["k=2..20", "algorithm=oka"]
utility = ["c45"]
privacy = ["suppression-share"]
privacy_columns = ["zip"]
seeds = 3
[[analyses]]
analysis = "mean(age) where zip = 1*"
name = "mean age"
error = 0.1
[attacks]
chosen = ["prosecutor:threshold=0.2"]
threshold = 0.5
"""


@pytest.mark.smoke
def test_everything_reads_back(tmp_path: Path) -> None:
    file = tmp_path / "job.toml"
    file.write_text(FULL)
    made = job.load(file)
    defaults = job.Job()
    for field in fields(job.Job):
        assert getattr(made, field.name) != getattr(defaults, field.name), f"{field.name} is not tried"
    assert made.input == tmp_path / "people.csv" and made.hierarchies == tmp_path / "trees"
    assert made.columns["age"].missing is Missing.DROP and made.columns["age"].kind is Kind.NUMERIC
    assert made.columns["city"].hierarchy.parameters() == {"path": tmp_path / "files" / "city.csv"}
    assert made.named(Role.IDENTIFIER) == ["name"]
    for folder in (None, tmp_path, tmp_path / "deeper"):
        place = (folder or tmp_path) / "again.toml"
        place.parent.mkdir(exist_ok=True)
        place.write_text(job.toml(made, folder))
        again = job.load(place)
        for field in (field for field in fields(job.Job) if field.compare):
            one, other = getattr(made, field.name), getattr(again, field.name)
            if isinstance(one, Path):
                one, other = one.resolve(), other.resolve()
            if field.name == "columns":
                one, other = ([resolved(column) for column in columns.items()] for columns in (one, other))
            assert one == other, field.name


def resolved(entry):
    name, column = entry
    parameters = dict(column.hierarchy.parameters()) if column.hierarchy else {}
    if "path" in parameters:
        parameters["path"] = parameters["path"].resolve()
    return name, column.role, column.kind, column.missing, type(column.hierarchy), parameters


def test_every_plug_in_is_spelled_and_read_back() -> None:
    needed = {"intervals": {"width": 2}, "table": {"path": "x.csv"}, "tree": {"path": "x.json"}}
    tried = 0
    for family in registry.CONTRACTS:
        for name in registry.names(family):
            try:
                made = registry.make(family, name, needed.get(name, {}))
            except ShoalError:
                continue  # it has parameters that nothing but its own test can know
            assert job.plugin(family, job.spelled(made)) == made
            tried += 1
    assert tried >= 10


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[input", "not a TOML file"),
        ("colour = 1", "not a job file"),
        ("colour = 1\n[input]", "unknown key colour; "),
        ("[polcy]\nseed = 1\n[input]", "unknown key polcy; did you mean 'policy'?"),
        ("[input]\nfile = 'x'", "unknown key input.file; the keys are 'path'"),
        ("[columns.age]\nrol = 'quasi'", "unknown key columns.age.rol; did you mean 'role'?"),
        ("[policy]\nstrict = true", "policy.strict is called policy.protect_jointly now"),
        ("[output]\nstate = 'x'", "output.state is called output.resume_dir now"),
        ("[input]\npath = 5", "input.path must be text"),
        ("[input]\nmissing = '?'", "input.missing must be a list"),
        ("[columns.age]\nrole = 'king'", "columns.age.role: it must be one of 'identifier', 'quasi', "),
        ("[columns.age]\nkind = 'colour'", "columns.age.kind"),
        ("[columns.age]\nmissing = 'maybe'", "columns.age.missing"),
        ("[columns.age]\nhierarchy = 5", "columns.age.hierarchy must be a table or text"),
        ("[columns.age]\nhierarchy = {width = 5}", "an entry of the hierarchies lacks its name"),
        ("[columns.age]\nhierarchy = {name = 'table', path = 5}", "path"),
        ("[columns.age]\nhierarchy = {name = 'intervals', width = 'wide'}", "width"),
        ("columns = 3", "columns must be a table"),
        ("input = 3\n[policy]", "input must be a table"),
        ("[policy]\nmodels = 'k-anonymity'", "policy.models"),
        ("[policy]\nmodels = [5]", "an entry of policy.models must be a table or text"),
        ("[policy]\nmodels = ['magic']", "no 'magic' among the models"),
        ("[policy]\nmodels = ['k-anonymity:k=x']", "k"),
        ("[policy]\nmodels = [{name = 'k-anonymity', k = [1]}]", "k"),
        ("[policy]\nmodels = [{name = 'k-anonymity', l = 3}]", "no parameter 'l'"),
        ("[policy]\nmodels = [{k = 3}]", "an entry of the models lacks its name"),
        ("[policy]\nsuppression = 'all'", "policy.suppression must be a number"),
        ("[policy]\nsuppression = 3.5", "between 0 and 1"),
        ("[policy]\nseed = 1.5", "policy.seed must be a whole number"),
        ("[policy]\nseed = 1.0", "policy.seed"),
        ("[policy]\nseed = '1'", "policy.seed"),
        ("[policy]\nseed = true", "policy.seed"),
        ("[policy]\nsuppression = '0.1'", "policy.suppression"),
        ("[policy]\nsuppression = true", "policy.suppression"),
        ("[policy]\nsuppression = nan", "between 0 and 1"),
        ("[policy]\nprotect_jointly = 'yes'", "policy.protect_jointly must be true or false"),
        ("[policy]\nseed = -1", "seed"),
        ("[policy]\nobjective = 'beauty'", "no 'beauty' among the metrics"),
        ("algorithm = 'magic'", "no 'magic' among the algorithms"),
        ("algorithm = 'mondrian:strict=perhaps'", "strict"),
        ("algorithm = 5", "algorithm"),
        ("[output]\npseudonyms = 'secret'", "output.pseudonyms must be 'keyed' or 'random'"),
        ("[output]\nrows_per_file = 0", "output.rows_per_file must be at least 1"),
        ("[output]\npath = ['a']", "output.path"),
    ],
)
def test_jobs_that_are_none(text: str, reason: str, table: Path, tmp_path: Path, shoal) -> None:
    file = tmp_path / "job.toml"
    file.write_text(text)
    ran = shoal("anonymize", table, "--job", file, *ROLES, "--k", 2, "-o", tmp_path / "out.csv")
    assert ran.code == 2 and reason in ran.err, ran
    assert not (tmp_path / "out.csv").exists()


def test_job_files_that_cannot_be_read(table: Path, tmp_path: Path, shoal) -> None:
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\0")
    (tmp_path / "deep.toml").write_text("a = " + "[" * 20_000)
    for file in (tmp_path / "none.toml", tmp_path, tmp_path / "binary.toml", tmp_path / "deep.toml", table):
        assert shoal("diagnose", "--job", file).code == 2, file


def test_a_saved_job_repeats_the_run(table: Path, tmp_path: Path, shoal, monkeypatch: pytest.MonkeyPatch) -> None:
    trees, jobs = tmp_path / "trees", tmp_path / "jobs"
    trees.mkdir()
    jobs.mkdir()
    (trees / "sex.csv").write_text("F;*\nM;*\n")
    monkeypatch.chdir(tmp_path)
    key = tmp_path / "secret.key"
    key.write_text(f"{CANARY} is a long enough key")
    options = (
        "--hierarchies", "trees", "--hierarchy", "age=intervals:width=10", "--hierarchy", "zip=masking",
        "--kind", "zip=text", "--missing", "?,-", "--missing-rule", "age=refuse", "--seed", 5, "--suppression", 0.1,
        "--algorithm", "mondrian:numeric=interval", "--objective", "gcp", "--pseudonyms", "keyed",
        "--key-file", key.name,
        "--delimiter", ",", "--encoding", "utf-8",
    )  # fmt: skip
    first = shoal("anonymize", table.name, "-o", "one.csv", *ROLES, "--k", 3, *options, "--save-job", "jobs/run.toml")
    assert first.code == 0, first
    text = (jobs / "run.toml").read_text()
    assert CANARY not in text and str(tmp_path) not in text
    monkeypatch.chdir(trees)
    released = (tmp_path / "one.csv").read_bytes()
    manifest = (tmp_path / "one.csv.manifest.json").read_bytes()
    (tmp_path / "one.csv").unlink()
    assert shoal("anonymize", "--job", "../jobs/run.toml", "--overwrite").code == 0
    assert (tmp_path / "one.csv").read_bytes() == released
    assert (tmp_path / "one.csv.manifest.json").read_bytes() == manifest
    assert shoal("verify", "--job", "../jobs/run.toml").code == 0
    assert shoal("evaluate", "--job", "../jobs/run.toml").code == 0
    assert shoal("diagnose", "--job", "../jobs/run.toml").code == 1


def test_options_override_the_job(table: Path, tmp_path: Path, shoal) -> None:
    file = tmp_path / "job.toml"
    common = ("anonymize", table, *ROLES, "--k", 3, "-o", tmp_path / "one.csv", "--save-job", file)
    assert shoal(*common).code == 0
    ran = shoal(
        "anonymize", "--job", file, "--k", 6, "--seed", 9, "--quasi", "age,sex", "-o", tmp_path / "two.csv", "--json"
    )
    assert ran.code == 0
    manifest = json.loads((tmp_path / "two.csv.manifest.json").read_text())
    assert manifest["policy"]["models"] == [{"name": "k-anonymity", "k": 6}]
    assert json.loads(ran.out)["seed"] == 9
    roles = {column["name"]: column["role"] for column in manifest["columns"]}
    assert roles["zip"] == "plain" and roles["disease"] == "sensitive"


@pytest.mark.parametrize(("option", "value"), [("--seed", "1.5"), ("--seed", "x"), ("--seed", "-1"),
                                              ("--suppression", "some"), ("--suppression", "nan")])  # fmt: skip
def test_options_that_are_none(option: str, value: str, table: Path, tmp_path: Path, shoal) -> None:
    ran = shoal("anonymize", table, *ROLES, "--k", 2, "-o", tmp_path / "out.csv", option, value)
    assert ran.code == 2 and option.strip("-") in ran.err.lower()
    assert list(tmp_path.iterdir()) == [table]


def test_a_drawn_seed_is_told_and_kept_in_the_job(table: Path, tmp_path: Path, shoal) -> None:
    target, file = tmp_path / "out.csv", tmp_path / "job.toml"
    common = ("anonymize", table, *ROLES, "--k", 3, "-o", target, "--overwrite")
    drawn = [json.loads(shoal(*common, "--json").out)["seed"] for _ in range(2)]
    assert drawn[0] != drawn[1]
    told = shoal(*common, "--save-job", file)
    seed = job.load(file).seed
    assert f"Seed {seed}: keep it" in " ".join(told.out.split())
    released = target.read_bytes()
    target.unlink()
    again = shoal("anonymize", "--job", file, "--overwrite", "--json")
    assert json.loads(again.out)["seed"] == seed and target.read_bytes() == released


def test_of_a_file_that_is_no_job_nothing_is_shown(tmp_path: Path, shoal) -> None:
    for text in (f"[{CANARY}]\n[{CANARY}]", f"{CANARY} = 1", f"a = {CANARY}", f"[{CANARY}]\nrole = 5"):
        file = tmp_path / "other.toml"
        file.write_text(text)
        ran = shoal("anonymize", "--job", file)  # which watches for the canary
        assert ran.code == 2 and "this is not" in ran.err, text


WRONG = (5, 1.5, True, "wrong", [], [5], ["wrong"], {}, {"wrong": 5}, [{"wrong": 5}], float("nan"))


def test_no_message_of_a_library_reaches_a_person(tmp_path: Path) -> None:
    """Every key of a job file with values of every kind: what is refused is refused in our own words."""
    said = []
    for noun, option in ((each, option) for each in (Job, ColumnJob) for option in options(each)):
        for value in WRONG:
            raw: dict = {"input": {}}
            inner = raw if noun is Job else raw.setdefault("columns", {}).setdefault("age", {})
            for table in option.place[:-1]:
                inner = inner.setdefault(table, {})
            inner[option.place[-1]] = value
            try:
                parse(raw, tmp_path, "job.toml")
            except ShoalError as error:
                said.append(str(error))
    assert len(said) > 200 and all(text.startswith("job.toml: ") for text in said)
    for foreign in ("Input should", "Extra inputs", "pydantic", "validation error", "type=", "Field required", "''"):
        assert not [text for text in said if foreign in text], foreign


def test_a_misspelled_key_or_role_is_told_what_it_may_mean(tmp_path: Path) -> None:
    for raw, meant in (
        ({"polcy": {}, "input": {}}, "unknown key polcy; did you mean 'policy'?"),
        ({"columns": {"age": {"role": "quazi"}}}, "columns.age.role: did you mean 'quasi'?"),
        ({"policy": {"models": [{"k": 5}]}}, "an entry of the models lacks its name"),
    ):
        with pytest.raises(ShoalError) as caught:
            parse(raw, tmp_path, "job.toml")
        assert meant in str(caught.value)
