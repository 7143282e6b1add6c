"""One-time codes, secrets as they were made and reset, and passkeys."""

from __future__ import annotations

from typing import Any

from ledger.site_log import digest_of
from tables.log.entries.carried_rows import PepperCarriedOver
from tables.log.entries.staff import (
    CodeAsked,
    CodeConfirmed,
    CodeWithdrawn,
    PasskeyRegistered,
    PasskeyWithdrawn,
    SecretMade,
    SecretReset,
)
from tables.models import OneTimeCode, Passkey, SecretVersion
from tables.projections.records import Rows, of_the_house


def codes_in_log() -> Rows:
    """Every code that may be used still, or waits for its second half."""
    codes: dict[str, dict[str, Any]] = {}
    kinds = ["code_asked", "code_confirmed", "code_withdrawn", "secret_made"]
    for entry in of_the_house("codes", staff=kinds, pepper=["carried_over"]):
        match entry.event:
            case CodeAsked() as event:
                codes[f"{event.username} {event.secret}"] = {
                    "asked_by": event.signer, "first": event.half, "confirmed_by": None, "second": "",
                }  # fmt: skip
            case CodeConfirmed() as event:
                code = codes.setdefault(f"{event.username} {event.secret}", {})
                code |= {"confirmed_by": event.signer, "second": event.half}
            case CodeWithdrawn() as event:
                codes.pop(f"{event.username} {event.secret}", None)
            case SecretMade() as event if event.code is not None:
                codes.pop(f"{event.username} {event.secret}", None)
            case PepperCarriedOver() as event:
                for username, secrets in event.secrets.items():
                    for name, digest in secrets.items():
                        if name.startswith("code:"):
                            _, secret, half = name.split(":")
                            codes.setdefault(f"{username} {secret}", {})[half] = digest
    return codes


def codes_in_database() -> Rows:
    """Every code that has a row."""
    return {
        f"{code.staff.username} {code.secret}": {
            "asked_by": code.asked_by.username,
            "first": digest_of(code.first),
            "confirmed_by": code.confirmed_by.username if code.confirmed_by else None,
            "second": digest_of(code.second),
        }
        for code in OneTimeCode.objects.select_related("staff", "asked_by", "confirmed_by")
    }


def versions_in_log() -> Rows:
    """Every secret that its owner set and every reset, by log entry."""
    versions: dict[str, dict[str, Any]] = {}
    for entry in of_the_house("secrets", staff=["secret_made", "secret_reset"], pepper=["carried_over"]):
        match entry.event:
            case SecretMade() | SecretReset() as event:
                kept = event.secrets[event.secret] if isinstance(event, SecretMade) else ""
                whose = {"username": event.username, "secret": event.secret, "kept": kept, "at": entry.at}
                versions[f"{event.username} {event.secret} of entry {entry.seq}"] = whose
            case PepperCarriedOver() as event:
                for username, secrets in event.secrets.items():
                    for name, digest in secrets.items():
                        if name.startswith("version:"):
                            _, secret, seq = name.split(":")
                            versions.setdefault(f"{username} {secret} of entry {seq}", {})["kept"] = digest
    return versions


def versions_in_database() -> Rows:
    """Every secret version in the database with a log entry. Secrets not set by their owners have none."""
    return {
        f"{row.staff.username} {row.secret} of entry {row.seq}": {
            "username": row.staff.username, "secret": row.secret, "kept": digest_of(row.kept), "at": row.at,
        }
        for row in SecretVersion.objects.exclude(seq=None).select_related("staff")
    }  # fmt: skip


def passkeys_in_log() -> Rows:
    """Every passkey that there ever was."""
    keys: dict[str, dict[str, Any]] = {}
    for entry in of_the_house("passkeys", staff=["passkey_registered", "passkey_withdrawn"]):
        match entry.event:
            case PasskeyRegistered() as event:
                keys[event.credential] = {
                    "username": event.username, "name": event.name, "public_key": event.public_key, "is_active": True,
                }  # fmt: skip
            case PasskeyWithdrawn() as event:
                keys.setdefault(event.credential, {})["is_active"] = False
    return keys


def passkeys_in_database() -> Rows:
    return {
        digest_of(row.credential): {
            "username": row.staff.username,
            "name": row.name,
            "public_key": row.public_key,
            "is_active": row.is_active,
        }
        for row in Passkey.objects.select_related("staff")
    }
