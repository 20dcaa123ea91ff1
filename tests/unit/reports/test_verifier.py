"""The page that a recipient checks a release with, in a real browser: what it finds, and what it does not fall for."""

from __future__ import annotations

import hashlib
import json
import shutil
import string
from pathlib import Path
from typing import Any

import browser as browsers
import polars as pl
import pytest
from counts import LONG
from recipient import Answer, Recipient

import shoal
from shoal import registry
from shoal.cli import main
from shoal.publishing.signing import SigningKey
from shoal.reports.verifier import MOST_BYTES, PAGE, messages, page

pytest.importorskip("cryptography")

TO_THE_COMMAND = {"estimated-k-map"}
"""Models that the page leaves to the command: survey weights are not read there."""
EVIL = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / PAGE
    path.write_text(page(), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def looked_at(browser: Any) -> Any:
    with browsers.looking(browser) as seen:
        yield seen
        assert seen.quiet, (seen.console, seen.errors, seen.dialogs)


@pytest.fixture(scope="module")
def recipient(looked_at: Any, written: Path) -> Recipient:
    return Recipient(looked_at.open(written))


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a signed release, `release.csv`, and the keys of its holder and of somebody else."""
    folder = tmp_path_factory.mktemp("signed")
    table = shoal.samples.adult().head(400).select("age", "sex", pl.col("occupation").alias(EVIL))
    data = shoal.read(table, quasi=["age", "sex"], sensitive=[EVIL])
    for name in ("holder.pem", "other.pem"):
        SigningKey.new().save(folder / name)
    models = (shoal.KAnonymity(k=5), shoal.TCloseness(t=0.9))
    shoal.anonymize(data, *models, seed=3).write(folder / "release.csv", sign=folder / "holder.pem")
    return folder


@pytest.fixture
def folder(signed: Path, tmp_path: Path) -> Path:
    """A copy that a test may tamper with."""
    return Path(shutil.copytree(signed, tmp_path / "signed"))


def given(folder: Path, *others: str) -> list[Path]:
    return [folder / name for name in ("release.csv", "release.csv.manifest.json", *others)]


def changed(folder: Path, **values: Any) -> None:
    path = folder / "release.csv.manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | values), encoding="utf-8")


def test_an_honest_release(recipient: Recipient, signed: Path) -> None:
    answer = recipient.agree(signed / "release.csv", signed / "holder.pem.pub")
    assert answer.verdict == "yes" and all(held for _, _, held, _, _ in answer.checks)
    shown = recipient.page.inner_text("#fingerprint").replace(" ", "")
    der = SigningKey.load(signed / "holder.pem").public.der
    assert shown == hashlib.sha256(der).hexdigest()
    unsigned = recipient.drop(*given(signed))
    assert unsigned.verdict == "unsigned" and "was not checked" in unsigned.sentence
    assert unsigned["signature"] == ("unchecked", None)


def test_a_tampered_table(recipient: Recipient, folder: Path) -> None:
    path = folder / "release.csv"
    head, *rows = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join([head, *rows[1:], rows[1]]), encoding="utf-8")
    answer = recipient.agree(path, folder / "holder.pem.pub")
    assert answer.verdict == "no" and "Do not trust" in answer.sentence
    assert answer["unchanged"][1] is False and answer["signature"][1] is True
    path.write_text("".join([head, *rows[:-1]]), encoding="utf-8")
    assert recipient.agree(path)["published"] == (str(len(rows) - 1), False)
    path.write_text("age\n1\n", encoding="utf-8")
    assert recipient.drop(*given(folder)).verdict == "no"


def test_a_tampered_manifest(recipient: Recipient, folder: Path) -> None:
    stated = json.loads((folder / "release.csv.manifest.json").read_text("utf-8"))
    changed(folder, policy=stated["policy"] | {"models": [{"name": "k-anonymity", "k": 2}]})
    answer = recipient.agree(folder / "release.csv", folder / "holder.pem.pub")
    assert (answer.verdict, answer["signature"]) == ("no", ("wrong", False))
    changed(folder, policy=stated["policy"] | {"models": []})
    assert "manifest is broken" in recipient.drop(*given(folder)).sentence
    changed(folder, policy=stated["policy"] | {"models": [{"name": "k-anonymity", "k": 500}]})
    assert recipient.agree(folder / "release.csv")["k"][1] is False
    (folder / "release.csv.manifest.json").write_text('{"format": 2, "format": 2}', encoding="utf-8")
    assert "not a manifest" in recipient.drop(*given(folder)).sentence


def test_keys(recipient: Recipient, folder: Path) -> None:
    answer = recipient.agree(folder / "release.csv", folder / "other.pem.pub")
    assert (answer.verdict, answer["signature"]) == ("no", ("another", False))
    assert "is secret" in recipient.drop(*given(folder, "holder.pem")).sentence
    (folder / "bad.pub").write_text("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", encoding="ascii")
    assert "not a public key" in recipient.drop(*given(folder, "bad.pub")).sentence
    stated = json.loads((folder / "release.csv.manifest.json").read_text("utf-8"))
    del stated["signature"]
    (folder / "release.csv.manifest.json").write_text(json.dumps(stated), encoding="utf-8")
    assert recipient.drop(*given(folder))["signature"] == ("none", None)
    answer = recipient.agree(folder / "release.csv", folder / "holder.pem.pub")
    assert (answer.verdict, answer["signature"]) == ("no", ("missing", False))


def test_wrong_files(recipient: Recipient, folder: Path, written: Path) -> None:
    table, manifest = given(folder)
    assert "manifest is missing" in recipient.drop(table).sentence
    assert "table is missing" in recipient.drop(manifest).sentence
    assert recipient.drop(table, manifest, written).verdict == "unsigned", "the page itself is not needed"
    (folder / "holiday.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    answer = recipient.drop(manifest, folder / "holiday.csv")
    assert answer.verdict == "no" and answer["unchanged"] == ("", False)
    renamed = table.rename(folder / "release (1).csv")
    assert recipient.drop(manifest, renamed, folder / "holiday.csv").verdict == "unsigned", "known by its content"
    assert "Not part of this release: holiday.csv" in recipient.page.inner_text("#unused")
    (folder / "other.json").write_text('{"format": 1}', encoding="utf-8")
    assert "another format" in recipient.drop(folder / "other.json", renamed).sentence


def test_what_it_leaves_to_the_command(recipient: Recipient, folder: Path) -> None:
    data = shoal.read(shoal.samples.adult().head(300).select("age", "sex"), quasi=["age", "sex"])
    shoal.anonymize(data, shoal.KAnonymity(k=5), seed=3).write(folder / "release.parquet")
    answer = recipient.drop(folder / "release.parquet", folder / "release.parquet.manifest.json")
    assert answer.verdict == "partly" and "shoal verify release.parquet" in answer.sentence
    assert answer.not_here == ["models"] and answer["unchanged"][1] is True
    with (folder / "release.csv").open("r+b") as file:
        file.truncate(MOST_BYTES + 1)
    answer = recipient.drop(*given(folder))
    assert answer.verdict == "partly" and answer.not_here == ["models", "unchanged"]
    assert "too large for a browser. Run: shoal verify release.csv" in answer.checks[0][4]


def examples() -> list[dict[str, Any]]:
    """Every example of every model, about the values of a release by their places."""
    found = []
    for name in registry.names("models"):
        for example in registry.examples("models", name) if name != "k-households" else ():
            values = {key: value for key, value in example.items() if key not in ("column", "values")}
            found.append({"name": name, **values} | ({"leaves": [0, 2]} if "values" in example else {}))
    return [*found, *({"name": "t-closeness", "t": 0.1, "distance": each} for each in ("ordered", "hierarchical"))]


@pytest.mark.parametrize("algorithm", ["optimal", "anatomy", *(["multiset"] if LONG else [])])
def test_every_model(recipient: Recipient, tmp_path: Path, algorithm: str) -> None:
    """Each model by itself, as if the manifest promised it, on releases of people with and without pseudonyms."""
    table = shoal.samples.adult(complete=False).head(200).select("age", "sex", "workclass")
    table = table.with_columns(name=pl.int_range(pl.len()) // 2)
    several = algorithm == "optimal"
    data = shoal.read(
        table if several else table.drop("name"), quasi=["age", "sex"], sensitive=["workclass"],
        person="name" if several else None, hierarchies=shoal.samples.hierarchies("adult"),
    )  # fmt: skip
    release = shoal.anonymize(
        data, "distinct-l-diversity:l=2", "t-closeness:t=0.99", algorithm=algorithm, suppression=0.4, seed=1,
        pseudonyms=shoal.Pseudonyms() if several else None,
    )  # fmt: skip
    path = tmp_path / "release.csv"
    release.write(path)
    manifest = tmp_path / "release.csv.manifest.json"
    stated = json.loads(manifest.read_text("utf-8"))
    measured = 0
    for model in examples():
        manifest.write_text(
            json.dumps(stated | {"policy": stated["policy"] | {"models": [model]}}, default=list), encoding="utf-8"
        )
        answer = recipient.agree(path)
        assert not answer.not_here or model["name"] in TO_THE_COMMAND, answer
        measured += answer.verdict != "error"
    assert measured > len(examples()) / 2


def test_nothing_of_a_file_runs_and_nothing_leaves(recipient: Recipient, looked_at: Any, folder: Path) -> None:
    name = f"{EVIL.replace('/', '')}.csv"
    (folder / name).write_text("a\n1\n", encoding="utf-8")
    recipient.drop(*given(folder), folder / name)
    text = (folder / "release.csv").read_text("utf-8")
    (folder / "release.csv").write_text(text.replace(EVIL, "<script>alert(2)</script>"), encoding="utf-8")
    stated = json.loads((folder / "release.csv.manifest.json").read_text("utf-8"))
    columns = [each | {"name": each["name"].replace(EVIL, "<script>alert(2)</script>")} for each in stated["columns"]]
    changed(folder, columns=columns, sensitive={"<script>alert(2)</script>": stated["sensitive"][EVIL]})
    assert recipient.drop(*given(folder)).verdict == "no"
    assert recipient.page.locator("main img, main script").count() == 0
    assert looked_at.quiet and not looked_at.elsewhere
    assert [address for address in looked_at.requests if not address.startswith("data:")] == [recipient.page.url]
    blocked = recipient.page.evaluate("() => fetch('data:text/plain,x').then(() => 'loaded', () => 'blocked')")
    assert blocked == "blocked", "the page may ask for nothing, not even of itself"
    looked_at.console.clear()


@pytest.mark.parametrize(("width", "scheme", "language"), [(390, "dark", "de"), (1280, "light", "en")])
def test_everybody_can_use_it(recipient: Recipient, signed: Path, width: int, scheme: str, language: str) -> None:
    screen = recipient.page
    screen.set_viewport_size({"width": width, "height": 900})
    screen.emulate_media(color_scheme=scheme)
    answer: Answer = recipient.drop(*given(signed, "holder.pem.pub"))
    assert answer.verdict == "yes"
    screen.click(f"[data-language={language}]")
    assert screen.get_attribute("html", "lang") == language
    assert screen.evaluate("() => document.documentElement.scrollWidth") <= width
    assert "{" not in screen.inner_text("body")
    assert browsers.faults(screen) == []
    screen.click("[data-language=en]")


def test_every_message_is_there_in_both_languages_with_the_same_holes() -> None:
    for key, entry in messages().items():
        assert set(entry) == {"en", "de"}, key
        holes = [{name for _, name, _, _ in string.Formatter().parse(text) if name} for text in entry.values()]
        assert holes[0] == holes[1], key


def test_the_command_writes_the_same_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for code in (0, 2):
        with pytest.raises(SystemExit) as ended:
            main(["verify", "--page", str(tmp_path / PAGE)])
        assert (ended.value.code or 0) == code
    content = (tmp_path / PAGE).read_text("utf-8")
    assert content == page()
    assert hashlib.sha256(content.encode()).hexdigest() in capsys.readouterr().out


def test_a_release_given_with_the_page_is_not_taken_for_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["verify", "release.csv", "--page", str(tmp_path / PAGE)])
    assert ended.value.code == 2
    assert "checks none itself" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / PAGE).exists()
