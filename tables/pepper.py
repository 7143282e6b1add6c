"""The pepper: keys outside the database, without which the stored hashes of PINs and passwords cannot be attacked.

A four-digit PIN can be guessed from its hash within an hour, so the hash is stored encrypted (AES-256-GCM). The
ciphertext is bound to its owner and purpose, so a copy in another user's row cannot be decrypted. The file has one key
per line, the current key first; old keys stay below it until every hash is encrypted with the current one. A change of
keys needs no user's PIN.
"""

from __future__ import annotations

import base64
import binascii
import logging
import os
import secrets
import stat
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning
from django.core.exceptions import ImproperlyConfigured

log = logging.getLogger(__name__)

_SEALED: Final = "peppered"
_NONCE_BYTES: Final = 12
_KEY_BYTES: Final = 32


class NoSuchKey(Exception):
    """A hash was sealed with a key that the file does not have, or belongs to another row."""


def seal(hashed: str, owner: str) -> str:
    """A hash as it is kept. What is no hash (nothing, or Django's mark for "no password") stays as it is."""
    if not _is_hash(hashed):
        return hashed
    name, key = next(iter(keys().items()))
    nonce = secrets.token_bytes(_NONCE_BYTES)
    sealed = nonce + AESGCM(key).encrypt(nonce, hashed.encode(), owner.encode())
    return "$".join((_SEALED, name, base64.b64encode(sealed).decode()))


def unseal(kept: str, owner: str) -> str:
    """The hash again; one from before there was a pepper is read as it is. Raises NoSuchKey."""
    if not kept.startswith(f"{_SEALED}$"):
        return kept
    _, name, text = kept.split("$")
    sealed = base64.b64decode(text)
    try:
        key = _key(name)
        return AESGCM(key).decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], owner.encode()).decode()
    except (KeyError, InvalidTag):
        raise NoSuchKey(f"the {owner} was not sealed with a key in PEPPER_FILE") from None


def unseal_if_possible(sealed: str, owner: str) -> str:
    """The text that was sealed; empty if the key that seals it is missing."""
    try:
        return unseal(sealed, owner)
    except NoSuchKey:
        return ""


def is_current(kept: str) -> bool:
    """Whether nothing has to be carried over: sealed with the first key, or no hash at all."""
    return not _is_hash(kept) or kept.startswith(f"{_SEALED}${current()}$")


def current() -> str:
    """The name of the key that hashes are sealed with now. It is no secret, and tells nothing of the key."""
    return next(iter(keys()))


def is_sealed(kept: str) -> bool:
    """Whether some key is needed to read it."""
    return kept.startswith(f"{_SEALED}$")


def _is_hash(text: str) -> bool:
    return bool(text) and not text.startswith("!")


# --- The file --------------------------------------------------------------------------------------------------


_known: Final[dict[Path, tuple[int, Mapping[str, bytes]]]] = {}
"""When each file was changed that this process has read, and its keys."""


def keys() -> Mapping[str, bytes]:
    """The keys by their names, the current one first. Raises ImproperlyConfigured.

    A changed file is read again, so a running process uses a new key at once. If the file is later lost or damaged,
    the process continues with the keys that it has read, so that no user is signed out.
    """
    path = _path()
    try:
        changed_ns = path.stat().st_mtime_ns
        if path not in _known or _known[path][0] != changed_ns:
            _known[path] = changed_ns, _read(path)
    except (OSError, ImproperlyConfigured) as fault:
        if path not in _known:
            raise ImproperlyConfigured(f"PEPPER_FILE {path} has no keys that can be read: {fault}") from None
        log.error("PEPPER_FILE %s cannot be read any more; its old keys stay in use: %s", path, fault)
    return _known[path][1]


def add_key() -> None:
    """A new key on the first line, the old ones below it; the file is never half written."""
    path = _path()
    old = path.read_text() if path.exists() else ""
    draft = path.with_name(f"{path.name}.new")
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(f"{base64.b64encode(secrets.token_bytes(_KEY_BYTES)).decode()}\n{old}")
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def exists() -> bool:
    """Whether there is a file of keys."""
    return _path().exists()


def check(**_: Any) -> list[CheckMessage]:
    """For ``manage.py check --deploy``."""
    try:
        keys()
    except ImproperlyConfigured as fault:
        return [Error(str(fault), id="tables.E001")]
    others = stat.S_IRWXO & _path().stat().st_mode
    return [Warning(f"PEPPER_FILE {_path()} is open to everybody: chmod 600", id="tables.W001")] if others else []


def _path() -> Path:
    if not settings.PEPPER_FILE:
        says = "PEPPER_FILE is not set: it names the file of keys that PINs and passwords are sealed with"
        raise ImproperlyConfigured(says)
    return Path(settings.PEPPER_FILE)


def _key(name: str) -> bytes:
    return keys()[name]


def _read(path: Path) -> Mapping[str, bytes]:
    lines = [line.strip() for line in path.read_text().splitlines() if line.strip()]
    try:
        decoded = [base64.b64decode(line, validate=True) for line in lines]
    except binascii.Error:
        decoded = []
    if not decoded or any(len(key) != _KEY_BYTES for key in decoded):
        raise ImproperlyConfigured(f"write one key a line, {_KEY_BYTES} bytes in base64")
    return {sha256(b"casino pepper" + key).hexdigest()[:8]: key for key in decoded}
