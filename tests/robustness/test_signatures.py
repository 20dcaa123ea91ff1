"""Signed releases from the command line: what is changed, cut off, lost or mixed up."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from canary_table import ROLES


@pytest.fixture
def key(tmp_path: Path, shoal) -> Path:
    path = tmp_path / "key.pem"
    assert shoal("keys", "new", path).code == 0
    return path


@pytest.fixture
def release(table: Path, tmp_path: Path, key: Path, shoal) -> Path:
    path = tmp_path / "out.csv"
    ran = shoal("anonymize", table, "-o", path, *ROLES, "--k", 4, "--sign", key, "--save-job", tmp_path / "job.toml",
                "--log-file", tmp_path / "log.jsonl")  # fmt: skip
    assert ran.code == 0
    return path


def manifest_of(release: Path) -> Path:
    return release.with_name(release.name + ".manifest.json")


def signature(ran) -> object:
    return json.loads(ran.out)["findings"]["signature"]["value"]


def test_signed_and_verified(release: Path, key: Path, shoal) -> None:
    ran = shoal("verify", release, "--key", f"{key}.pub", "--json")
    assert ran.code == 0 and signature(ran) == "valid"
    assert signature(shoal("verify", release, "--json")) == "not checked"


def test_the_signing_key_is_nowhere_else(release: Path, key: Path, tmp_path: Path) -> None:
    secret = key.read_text().splitlines()[1]
    others = [path for path in tmp_path.iterdir() if path != key]
    assert {path.name for path in others} >= {"out.csv.manifest.json", "job.toml", "log.jsonl", "key.pem.pub"}
    for path in others:
        assert secret not in path.read_text(), path.name
    assert "key.pem" not in manifest_of(release).read_text()


def test_a_job_file_signs_again(release: Path, key: Path, tmp_path: Path, shoal) -> None:
    before = manifest_of(release).read_bytes()
    manifest_of(release).unlink()
    assert shoal("anonymize", "--job", tmp_path / "job.toml", "--overwrite").code == 0
    assert manifest_of(release).read_bytes() == before


@pytest.mark.parametrize("name", ["suppressed", "records", "shoal"])
def test_an_edited_manifest(name: str, release: Path, key: Path, shoal) -> None:
    stated = json.loads(manifest_of(release).read_text())
    manifest_of(release).write_text(json.dumps({**stated, name: 60 if name == "suppressed" else 61}))
    ran = shoal("verify", release, "--key", f"{key}.pub", "--json")
    assert ran.code == 1 and signature(ran) == "wrong"


def test_release_and_manifest_replaced_together(release: Path, key: Path, table: Path, shoal) -> None:
    # Whoever changes the table can make a manifest that fits it; only the signature tells.
    assert shoal("anonymize", table, "-o", release, "--overwrite", *ROLES, "--k", 2).code == 0
    assert shoal("verify", release).code == 0
    ran = shoal("verify", release, "--key", f"{key}.pub", "--json")
    assert ran.code == 1 and signature(ran) == "missing"


def test_an_edited_manifest_that_cannot_be_measured(release: Path, key: Path, shoal) -> None:
    stated = json.loads(manifest_of(release).read_text())
    stated["columns"].append({"name": "more", "role": "quasi", "kind": "numeric"})
    manifest_of(release).write_text(json.dumps(stated))
    assert shoal("verify", release).code == 2
    ran = shoal("verify", release, "--key", f"{key}.pub", "--json")
    assert ran.code == 1 and signature(ran) == "wrong"


def test_a_name_twice_is_no_manifest(release: Path, key: Path, shoal) -> None:
    # Others read the first of the two, and the signature holds with the second.
    text = manifest_of(release).read_text()
    manifest_of(release).write_text(text.replace('"records": 60', '"records": 70, "records": 60', 1))
    ran = shoal("verify", release, "--key", f"{key}.pub")
    assert ran.code == 2 and "not a manifest" in ran.err


def test_another_key_and_files_that_are_none(release: Path, key: Path, tmp_path: Path, shoal) -> None:
    other = tmp_path / "other.pem"
    assert shoal("keys", "new", other).code == 0
    ran = shoal("verify", release, "--key", f"{other}.pub", "--json")
    assert ran.code == 1 and signature(ran) == "by another key"
    (tmp_path / "cut.pub").write_bytes(Path(f"{key}.pub").read_bytes()[:60])
    for given in (tmp_path / "cut.pub", tmp_path / "none.pub", key, tmp_path):
        ran = shoal("verify", release, "--key", given)
        assert ran.code == 2 and ran.err.startswith("error: ") and given.name in ran.err


def test_a_key_that_cannot_sign_changes_nothing(release: Path, key: Path, table: Path, tmp_path: Path, shoal) -> None:
    before = release.read_bytes(), manifest_of(release).read_bytes()
    (tmp_path / "cut.pem").write_bytes(key.read_bytes()[:60])
    for given in (tmp_path / "cut.pem", f"{key}.pub", tmp_path / "none.pem"):
        assert shoal("anonymize", table, "-o", release, *ROLES, "--k", 2, "--sign", given).code == 2
        assert (release.read_bytes(), manifest_of(release).read_bytes()) == before
    ran = shoal("anonymize", table, "-o", key, *ROLES, "--k", 2, "--sign", key)
    assert ran.code == 2 and key.read_text().startswith("-----BEGIN")
    ran = shoal("anonymize", table, "-o", "-", *ROLES, "--k", 2, "--sign", key)
    assert ran.code == 2 and "--manifest" in ran.err


def test_keys_are_never_overwritten(key: Path, shoal) -> None:
    before = key.read_bytes()
    ran = shoal("keys", "new", key)
    assert ran.code == 2 and "no key is overwritten" in ran.err and key.read_bytes() == before


def test_an_encrypted_key(table: Path, tmp_path: Path, shoal, monkeypatch: pytest.MonkeyPatch) -> None:
    key, out = tmp_path / "locked.pem", tmp_path / "out.csv"
    monkeypatch.delenv("SHOAL_PASSPHRASE", raising=False)
    assert "SHOAL_PASSPHRASE" in shoal("keys", "new", key, "--passphrase").err
    monkeypatch.setenv("SHOAL_PASSPHRASE", "correct horse battery")
    assert shoal("keys", "new", key, "--passphrase").code == 0
    assert b"ENCRYPTED" in key.read_bytes()
    shown = json.loads(shoal("keys", "show", key, "--json").out)
    assert shown["fingerprint"] == json.loads(shoal("keys", "show", f"{key}.pub", "--json").out)["fingerprint"]
    monkeypatch.setenv("SHOAL_PASSPHRASE", "another passphrase")
    ran = shoal("anonymize", table, "-o", out, *ROLES, "--k", 4, "--sign", key)
    assert ran.code == 2 and "passphrase" in ran.err and not out.exists()
    monkeypatch.setenv("SHOAL_PASSPHRASE", "correct horse battery")
    assert shoal("anonymize", table, "-o", out, *ROLES, "--k", 4, "--sign", key).code == 0
    assert shoal("verify", out, "--key", f"{key}.pub").code == 0


@pytest.mark.skipif(os.name != "posix", reason="other systems have other rights")
def test_a_key_that_others_can_read_is_told(release: Path, key: Path, table: Path, tmp_path: Path, process) -> None:
    key.chmod(0o644)
    ran = process("anonymize", table, "-o", tmp_path / "again.csv", *ROLES, "--k", 4, "--sign", key)
    assert ran.code == 0 and "chmod 600" in ran.err
