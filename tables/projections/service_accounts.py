"""Programs and their tokens: each row is what the newest entries of its name make of it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ledger.site_log import digest_of
from tables.log.entries.service_accounts import (
    ServiceAccountEnded,
    ServiceAccountSet,
    ServiceTokenEnded,
    ServiceTokenMade,
    ServiceTokensSealed,
)
from tables.models import ServiceAccount, ServiceToken
from tables.projections.records import Rows, of_the_house

_TOKENS = ("set", "token_made", "token_revoked", "tokens_sealed")


def accounts_in_log() -> Rows:
    """Every program that there ever was, for none is deleted."""
    rows: dict[str, dict[str, Any]] = {}
    for entry in of_the_house("programs", service_account=["set", "revoked", "expired"]):
        match entry.event:
            case ServiceAccountSet() as event:
                rows[event.name] = {
                    "purpose": event.purpose,
                    "scopes": list(event.scopes),
                    "tables": list(event.tables),
                    "addresses": list(event.addresses),
                    "expires": datetime.fromisoformat(event.expires),
                    "has_ended": False,
                    "why": "",
                    "by": entry.by,
                }
            case ServiceAccountEnded() as event:
                rows.setdefault(event.name, {}).update(has_ended=True, why=event.why)
    return rows


def accounts_in_database() -> Rows:
    """Every service account in the database."""
    return {
        row.name: {
            "purpose": row.purpose,
            "scopes": row.scopes,
            "tables": row.tables,
            "addresses": row.addresses,
            "expires": row.expires_at,
            "has_ended": row.ended_at is not None,
            "why": row.ended_why,
            "by": row.by,
        }
        for row in ServiceAccount.objects.all()
    }


def tokens_in_log() -> Rows:
    """Every token that was made, with how long it is good: never longer than its account."""
    rows: dict[str, dict[str, Any]] = {}
    for entry in of_the_house("tokens of programs", service_account=_TOKENS):
        match entry.event:
            case ServiceTokenMade() as event:
                for ident, until in event.earlier.items():
                    rows.setdefault(ident, {})["until"] = datetime.fromisoformat(until)
                rows[event.token] = {
                    "program": event.name,
                    "kept": event.kept,
                    "until": datetime.fromisoformat(event.until),
                    "by": entry.by,
                }
            case ServiceTokenEnded() as event:
                rows.setdefault(event.token, {})["until"] = datetime.fromisoformat(event.until)
            case ServiceTokensSealed() as event:
                for ident, kept in event.tokens.items():
                    rows.setdefault(ident, {})["kept"] = kept
            case ServiceAccountSet() as event:
                expires = datetime.fromisoformat(event.expires)
                for row in rows.values():
                    if row.get("program") == event.name:
                        row["until"] = min(row["until"], expires)
    return rows


def tokens_in_database() -> Rows:
    """Every token of a service account in the database."""
    return {
        row.ident: {
            "program": row.account.name,
            "kept": digest_of(row.kept),
            "until": row.until,
            "by": row.made_by,
        }
        for row in ServiceToken.objects.select_related("account")
    }
