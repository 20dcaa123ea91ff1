"""Keys and signatures of manifests, also as other tools see them."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import pickle
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError, OutputError, ParameterError
from shoal.publishing.signing import PublicKey, SigningKey, canonical, checked

STATED = {"format": 2, "records": 10, "policy": {"models": [{"name": "k-anonymity", "k": 5}], "suppression": 0.05},
          "tables": [{"part": "", "rows": 10, "sha256": "ab" * 32}], "columns": [{"name": "größe\u2028"}]}  # fmt: skip


def paths(value, path=()):
    """The way to every leaf of a manifest."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    leaves = [leaf for key, entry in entries for leaf in paths(entry, (*path, key))]
    return leaves or [path]


def test_a_change_of_any_leaf_is_seen() -> None:
    key = SigningKey.new()
    signed = key.signed(STATED)
    assert checked(signed, key.public).holds is True
    for way in paths(signed):
        changed = copy.deepcopy(signed)
        place = changed
        for step in way[:-1]:
            place = place[step]
        place[way[-1]] = "another"
        assert checked(changed, key.public).holds is False, way
    assert checked({**signed, "more": 1}, key.public).holds is False
    assert checked({name: value for name, value in signed.items() if name != "tables"}, key.public).holds is False


def test_layout_and_order_do_not_matter() -> None:
    key = SigningKey.new()
    signed = key.signed(STATED)
    turned = json.loads(json.dumps(dict(reversed(signed.items())), indent=7))
    assert checked(turned, key.public).holds is True


def test_wrong_key_missing_signature_and_no_key() -> None:
    key, other = SigningKey.new(), SigningKey.new()
    signed = key.signed(STATED)
    assert (checked(signed, other.public).value, checked(signed, other.public).holds) == ("by another key", False)
    assert (checked(STATED, key.public).value, checked(STATED, key.public).holds) == ("missing", False)
    assert (checked(signed, None).value, checked(signed, None).holds) == ("not checked", None)
    assert checked(STATED, None) is None
    claimed = {**signed, "signature": {**signed["signature"], "key": other.public.fingerprint}}
    assert checked(claimed, other.public).value == "wrong"
    for value in ("", "!", signed["signature"]["value"][:-8]):
        assert checked({**signed, "signature": {**signed["signature"], "value": value}}, key.public).value == "wrong"


def test_canonical_form_is_that_of_rfc_8785() -> None:
    # The example of section 3.2 of the RFC, without its invalid surrogates.
    stated = {"numbers": [333333333.33333329, 1e30, 4.50, 2e-3, 1e-27], "literals": [None, True, False], "\r": 1}
    assert canonical(stated).decode() == (
        '{"\\r":1,"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27]}'
    )
    with pytest.raises(InputError, match="canonical JSON"):
        canonical({"large": 2**60})


@given(st.dictionaries(st.text(max_size=3), st.one_of(st.integers(-100, 100), st.text(max_size=5), st.booleans())))
def test_every_small_object_is_signed_and_checked(stated) -> None:
    stated.pop("signature", None)
    key = SigningKey.new()
    assert checked(key.signed(stated), key.public).holds is True


@pytest.mark.parametrize("passphrase", [None, b"a long passphrase"])
def test_keys_are_kept_for_their_owner(tmp_path: Path, passphrase: bytes | None) -> None:
    key = SigningKey.new()
    private, public = key.save(tmp_path / "key.pem", passphrase)
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    again = SigningKey.load(private, passphrase)
    assert again.public == key.public == PublicKey.load(public)
    with pytest.raises(OutputError, match="no key is overwritten"):
        SigningKey.new().save(private)
    assert SigningKey.load(private, passphrase).public == key.public
    private.unlink()
    with pytest.raises(OutputError, match=r"key\.pem\.pub"):  # nor is the public one, when only that is there
        SigningKey.new().save(private)


def test_a_passphrase_is_needed_and_must_be_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHOAL_PASSPHRASE", raising=False)
    key = SigningKey.new()
    private, _ = key.save(tmp_path / "key.pem", b"a long passphrase")
    with pytest.raises(ParameterError, match="SHOAL_PASSPHRASE"):
        SigningKey.load(private)
    with pytest.raises(InputError, match="its passphrase is another one"):
        SigningKey.load(private, b"another passphrase")
    monkeypatch.setenv("SHOAL_PASSPHRASE", "a long passphrase")
    assert SigningKey.load(private).public == key.public
    with pytest.raises(ParameterError, match="at least 8"):
        key.save(tmp_path / "short.pem", b"short")
    assert not (tmp_path / "short.pem").exists()


def test_files_that_are_no_keys(tmp_path: Path) -> None:
    private, public = SigningKey.new().save(tmp_path / "key.pem")
    for whole, load in ((private, SigningKey.load), (public, PublicKey.load)):
        for content in (b"", whole.read_bytes()[:60], b"\0\1\2", whole.read_bytes().replace(b"M", b"N")):
            damaged = tmp_path / "damaged"
            damaged.write_bytes(content)
            with pytest.raises(InputError, match="damaged, cut off, or another file"):
                load(damaged)
    with pytest.raises(InputError, match="this is a signing key, which is secret"):
        PublicKey.load(private)
    with pytest.raises(InputError, match="this is the public key"):
        SigningKey.load(public)
    with pytest.raises(InputError, match="cannot be read"):
        PublicKey.load(tmp_path / "none")


def test_a_key_of_another_kind(tmp_path: Path) -> None:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    pem, pkcs8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    (tmp_path / "ec.pem").write_bytes(key.private_bytes(pem, pkcs8, serialization.NoEncryption()))
    public = key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo)
    (tmp_path / "ec.pub").write_bytes(public)
    with pytest.raises(InputError, match="not of the kind Ed25519"):
        SigningKey.load(tmp_path / "ec.pem")
    with pytest.raises(InputError, match="not of the kind Ed25519"):
        PublicKey.load(tmp_path / "ec.pub")


def test_a_key_is_not_shown(tmp_path: Path) -> None:
    key = SigningKey.new()
    private, _ = key.save(tmp_path / "key.pem")
    secret = private.read_text().splitlines()[1]
    assert secret not in repr(key) and repr(key) == "SigningKey()"
    with pytest.raises(TypeError):
        pickle.dumps(key)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_openssl_reads_the_keys_and_checks_the_signature(tmp_path: Path) -> None:
    key = SigningKey.new()
    _, public = key.save(tmp_path / "key.pem")
    signed = key.signed(STATED)
    (tmp_path / "message").write_bytes(canonical(signed))
    (tmp_path / "signature").write_bytes(base64.b64decode(signed["signature"]["value"]))
    subprocess.run(
        ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", public, "-rawin", "-in", tmp_path / "message",
         "-sigfile", tmp_path / "signature"], check=True, capture_output=True,
    )  # fmt: skip
    der = subprocess.run(
        ["openssl", "pkey", "-pubin", "-in", public, "-outform", "DER"], check=True, capture_output=True
    ).stdout
    assert hashlib.sha256(der).hexdigest() == key.public.fingerprint
