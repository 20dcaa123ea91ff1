"""Signing: who vouches for a manifest, so that whoever has the public key sees that nobody changed it since.

What is signed is the manifest as canonical JSON (RFC 8785), everything in it but the value of the signature itself: the
policy, the counts, the columns, and the hash of every published file. Keys and signatures are Ed25519 in the usual
formats (PEM, base64), so that other tools can check them. The public key is not in the manifest: whoever verifies must
have it from the holder.

Reference: RFC 8032 (Ed25519), RFC 8785 (JSON Canonicalization Scheme).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from shoal.core.finding import Finding
from shoal.errors import InputError, MissingExtraError, OutputError, ParameterError
from shoal.notices import tell
from shoal.storage.files import replacing_all

ALGORITHM = "Ed25519"
PASSPHRASE = "SHOAL_PASSPHRASE"
"""The environment variable that holds the passphrase of a signing key."""
LEAST_PASSPHRASE = 8


@dataclass(frozen=True)
class PublicKey:
    """The key that checks signatures; everybody may have it.

    Its `fingerprint` is the SHA-256 of its DER form, which `openssl pkey -pubin -outform DER | sha256sum` gives too.
    """

    der: bytes = field(repr=False)

    @classmethod
    def load(cls, path: str | Path) -> PublicKey:
        """The key in a PEM file."""
        return cls.read(_bytes(path), Path(path).name)

    @classmethod
    def read(cls, pem: bytes, name: str = "the public key") -> PublicKey:
        """The key from the text of its file."""
        serialization, ed25519 = _cryptography()
        if b"PRIVATE KEY" in pem:
            raise InputError(f"{name}: this is a signing key, which is secret; give the public key, which ends in .pub")
        try:
            key = serialization.load_pem_public_key(pem)
        except Exception:  # the library raises several kinds, some of which quote what they read
            raise InputError(f"{name}: this is not a public key; it is damaged, cut off, or another file") from None
        if not isinstance(key, ed25519.Ed25519PublicKey):
            raise InputError(f"{name}: this public key is not of the kind {ALGORITHM}")
        return cls.of(key)

    @classmethod
    def of(cls, key: Any) -> PublicKey:
        """The key as the library has it."""
        serialization, _ = _cryptography()
        return cls(key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo))

    @property
    def fingerprint(self) -> str:
        """What people compare to see that they have the same key."""
        return hashlib.sha256(self.der).hexdigest()

    @property
    def pem(self) -> str:
        """The key as the text of a file."""
        lines = base64.encodebytes(self.der).decode().replace("\n", "")
        return f"-----BEGIN PUBLIC KEY-----\n{lines}\n-----END PUBLIC KEY-----\n"

    def signed(self, message: bytes, signature: bytes) -> bool:
        """Whether a signature of a message is by the key that belongs to this one."""
        from cryptography.exceptions import InvalidSignature

        serialization, _ = _cryptography()
        try:
            serialization.load_der_public_key(self.der).verify(signature, message)
        except InvalidSignature:
            return False
        return True


@dataclass(frozen=True)
class SigningKey:
    """The key that signs; it stays with the holder, and neither printing nor pickling shows it.

    Example:
        >>> key = SigningKey.new()
        >>> signed = key.signed({"format": 2, "records": 10})
        >>> checked(signed, key.public).holds, checked({**signed, "records": 9}, key.public).holds
        (True, False)
    """

    _key: Any = field(repr=False, compare=False)

    def __reduce__(self) -> Any:
        raise TypeError("a signing key is not copied into other files or processes")

    @classmethod
    def new(cls) -> Self:
        """A fresh key."""
        _, ed25519 = _cryptography()
        return cls(ed25519.Ed25519PrivateKey.generate())

    @classmethod
    def load(cls, path: str | Path, passphrase: bytes | None = None) -> Self:
        """The key in a PEM file; where it is encrypted, the passphrase that is not given comes from the environment."""
        serialization, ed25519 = _cryptography()
        path, pem = Path(path), _bytes(path)
        _check_private(path)
        if not encrypted(pem):
            passphrase = None
        elif passphrase is None:
            if PASSPHRASE not in os.environ:
                raise ParameterError(f"{path.name}: this key is encrypted; set its passphrase in {PASSPHRASE}")
            passphrase = os.environb[PASSPHRASE.encode()]
        try:
            key = serialization.load_pem_private_key(pem, passphrase)
        except Exception:  # as above
            if b"PUBLIC KEY" in pem:
                raise InputError(
                    f"{path.name}: this is the public key; signing takes the other file of the pair"
                ) from None
            what = "its passphrase is another one, or " if passphrase is not None else ""
            raise InputError(
                f"{path.name}: this signing key cannot be read: {what}it is damaged, cut off, or another file"
            ) from None
        if not isinstance(key, ed25519.Ed25519PrivateKey):
            raise InputError(f"{path.name}: this key is not of the kind {ALGORITHM}; make one with shoal keys new")
        return cls(key)

    @property
    def public(self) -> PublicKey:
        """The key that checks what this one signs."""
        return PublicKey.of(self._key.public_key())

    def save(self, path: Path, passphrase: bytes | None = None) -> tuple[Path, Path]:
        """Writes the key, for its owner alone and encrypted where there is a passphrase, and beside it the public
        one. A file that is there already is left alone."""
        serialization, _ = _cryptography()
        if passphrase is not None and len(passphrase) < LEAST_PASSPHRASE:
            raise ParameterError(f"the passphrase has {len(passphrase)} bytes; use at least {LEAST_PASSPHRASE}")
        files = (path, public_path(path))
        there = [file.name for file in files if file.exists()]
        if there:
            raise OutputError(f"{there[0]}: there is a file of that name, and no key is overwritten; name another one")
        protection = (
            serialization.NoEncryption()
            if passphrase is None
            else serialization.BestAvailableEncryption(passphrase)
        )  # fmt: skip
        secret = self._key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, protection)
        with replacing_all(*files) as (private, public):
            private.touch(mode=0o600)
            private.write_bytes(secret)
            public.write_text(self.public.pem, encoding="ascii")
        return files

    def signed(self, manifest: Mapping[str, Any]) -> dict[str, Any]:
        """The manifest with its signature."""
        head = {"algorithm": ALGORITHM, "key": self.public.fingerprint}
        value = base64.b64encode(self._key.sign(canonical({**manifest, "signature": head}))).decode()
        return {**manifest, "signature": {**head, "value": value}}


def public_path(path: Path) -> Path:
    """Where the public key of a pair lies."""
    return path.with_name(path.name + ".pub")


def canonical(manifest: Mapping[str, Any]) -> bytes:
    """What is signed of a manifest: all of it but the value of its signature, as canonical JSON (RFC 8785)."""
    try:
        import rfc8785
    except ImportError:
        raise MissingExtraError("signing", "crypto") from None

    stated = json.loads(json.dumps(manifest))
    if isinstance(stated.get("signature"), dict):
        stated["signature"].pop("value", None)
    try:
        content: bytes = rfc8785.dumps(stated)
    except rfc8785.CanonicalizationError:
        raise InputError(
            "the manifest has a number that canonical JSON (RFC 8785) does not know, so it cannot be signed"
        ) from None
    return content


def checked(manifest: Mapping[str, Any], key: PublicKey | None) -> Finding | None:
    """Whether a manifest is signed by the key that belongs to a public one. Without a key nothing is known of a
    signature, and of an unsigned manifest there is nothing to say."""
    signature = manifest.get("signature")
    if key is None:
        if signature is None:
            return None
        how = f"signed by key {signature['key'][:16]}…; to check it, get the public key from the holder and give --key"
        return Finding(name="signature", value="not checked", how=how)
    if signature is None:
        return _no("missing", "the manifest has no signature")
    if signature["key"] != key.fingerprint:
        return _no("by another key", f"signed by key {signature['key'][:16]}…, and not by {key.fingerprint[:16]}…")
    if not key.signed(canonical(manifest), _decoded(signature["value"])):
        return _no("wrong", "the manifest was changed after it was signed, or the signature was")
    how = f"{ALGORITHM}, key {key.fingerprint[:16]}…, over the manifest with the hash of every file"
    return Finding(name="signature", value="valid", holds=True, how=how, claim="signed by the key that was given")


def _no(value: str, how: str) -> Finding:
    return Finding(name="signature", value=value, holds=False, how=how)


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""


def encrypted(pem: bytes) -> bool:
    """Whether a signing key needs a passphrase."""
    return b"ENCRYPTED" in pem


def _bytes(path: str | Path) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:
        raise InputError(f"{Path(path).name}: the key cannot be read") from None


def _check_private(path: Path) -> None:
    if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
        tell(f"{path.name}: others on this machine may read this signing key; allow it to its owner alone (chmod 600)")


def _cryptography() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise MissingExtraError("signing", "crypto") from None
    return serialization, ed25519
