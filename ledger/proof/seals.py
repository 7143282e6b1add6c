"""Seals: the site's Ed25519 key and the documents that it signs. Uses no database and no file other than the key's.

A signature covers the canonical form of a document. A day's document has the hash of the day before, so a reader with
any later one notices when an earlier day is rewritten.
"""

import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from ledger.proof.slip_name import SlipName
from ledger.proof.spelling import canonical

BOOK_ROOT, DAY_ROOT, ROTATION = "book-root/1", "day-root/1", "key-rotation/1"
"""The formats of documents. The format is part of the signed document, so a signature cannot be used for another
kind."""


class BadKey(Exception):
    """An unusable key; the message says in one sentence what would be right."""


# --- Keys -----------------------------------------------------------------------------------------------------


def make_key(path: Path) -> Ed25519PrivateKey:
    """Create a key in a new file with mode 600. Raises BadKey if the file exists."""
    path.parent.mkdir(parents=True, exist_ok=True)
    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise BadKey(f"There is a file {path} already: a key is never written over.") from None
    with open(descriptor, "wb") as file:
        file.write(pem)
        file.flush()
        # A key that is published but lost in a power cut could never sign its successor.
        os.fsync(descriptor)
    return key


def load_key(path: Path) -> Ed25519PrivateKey:
    """The key in a file. Raises BadKey if other users can read the file, or it is not such a key."""
    try:
        with path.open("rb") as file:
            mode, pem = os.fstat(file.fileno()).st_mode, file.read()
    except OSError as error:
        raise BadKey(f"The key file {path} cannot be read ({error.strerror}): make one with `audit key`.") from None
    # A key that others could read may have signed forged days, so it is not used at all.
    if mode & 0o077:
        raise BadKey(f"Others can read the key file {path}: make it yours alone (chmod 600), or make a new key.")
    try:
        key = serialization.load_pem_private_key(pem, password=None)
    except (ValueError, TypeError):
        raise BadKey(f"The key file {path} holds no private key in PEM.") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise BadKey(f"The key in {path} is not one for Ed25519.")
    return key


def public_of(key: Ed25519PrivateKey) -> str:
    """The public key in hex, its name everywhere."""
    return key.public_key().public_bytes_raw().hex()


def read_public(text: str) -> str:
    """A public key from 64 hexadecimal digits, or from a file with those or with PEM. Raises BadKey."""
    spelled = text.strip()
    if len(spelled) != 64 and Path(text).is_file():
        spelled = Path(text).read_text(errors="replace").strip()
    try:
        if spelled.startswith("-----BEGIN"):
            key = serialization.load_pem_public_key(spelled.encode())
            if isinstance(key, Ed25519PublicKey):
                return key.public_bytes_raw().hex()
        elif len(bytes.fromhex(spelled)) == 32:
            return spelled.lower()
    except ValueError:
        pass
    raise BadKey(f"{text[:80]!r} is no public key: it has 64 hexadecimal digits, or is a file with those or with PEM.")


# --- Signing --------------------------------------------------------------------------------------------------


def sign(key: Ed25519PrivateKey, document: Mapping[str, Any]) -> bytes:
    return key.sign(canonical(document))


def is_signed(public: str, signature: bytes, document: Mapping[str, Any]) -> bool:
    """Whether this key signed exactly this document; False for an invalid key or signature."""
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)).verify(signature, canonical(document))
    except (InvalidSignature, ValueError):
        return False
    return True


def hash_of(document: Mapping[str, Any]) -> str:
    """The hex hash by which the next day's document refers to this one."""
    return sha256(canonical(document)).hexdigest()


def rotation(old: str, new: str) -> dict[str, Any]:
    """The statement that the old key signs: a reader who trusts the old key may trust the new one."""
    return {"format": ROTATION, "old": old, "new": new}


# --- Slips ----------------------------------------------------------------------------------------------------

Numbers = list[list[Any]]
"""[series and year, highest number, [lower numbers that are still missing]], sorted."""


def numbered(before: Sequence[Sequence[Any]], begun: Sequence[str]) -> tuple[Numbers, str | None]:
    """The slip numbers of each series and year after a day on which the slips ``begun`` started, and the first fault.

    The clocks of two hosts may assign two slips around a day's end in the wrong order: a number may be missing for that
    one day.
    """
    runs = {name: (highest, set(missing)) for name, highest, missing in before}
    wrong = [f"the slip {slip} is there twice" for slip in sorted(set(begun)) if begun.count(slip) > 1]
    for slip in sorted(set(begun)):
        name = SlipName.parse(slip)
        highest, missing = runs.get(name.run, (0, set()))
        # A slip may be filed on the next day if its hosts' clocks differ at a day's end, but not later.
        coming = missing | set(range(highest + 1, name.number + 1))
        if name.number not in coming:
            wrong.append(f"the slip {slip} is there twice")
        runs[name.run] = max(highest, name.number), coming - {name.number}
    overdue = [f"{name}/{number}" for name, _, missing in before for number in missing]
    wrong += [f"the slip {slip} is missing" for slip in overdue if slip not in begun]
    return [[name, highest, sorted(missing)] for name, (highest, missing) in sorted(runs.items())], next(
        iter(wrong), None
    )
