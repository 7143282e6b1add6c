"""Programs: the accounts that an operator makes for them, and the tokens by which each is known."""

from __future__ import annotations

from typing import ClassVar, Final

from tables.log.event import Event
from tables.log.exception_categories import KEYS, PROGRAMS
from tables.log.kind_record import NO_ALERT, NOTHING, KindRecord
from tables.log.message import from_fields
from tables.log.published.form import ACCESS
from tables.log.scopes import titles
from tables.log.writers import ACCOUNT_ENDER, COMMAND, staff_with

MOST_LIVE: Final = 2
"""Tokens that a program may have at once: one, and the one that takes its place."""


class AboutServiceAccount(Event, frozen=True, kw_only=True, omit_defaults=True):
    """Something about the account of a program."""

    subject: ClassVar[str] = "service_account"
    of_the_house: ClassVar[bool] = True

    name: str


class ServiceAccountSet(AboutServiceAccount, frozen=True, kw_only=True, omit_defaults=True):
    """A program may do this; the newest entry of its name stands."""

    kinds: ClassVar[tuple[str, ...]] = ("set",)
    record = KindRecord(
        writer=staff_with("tables.change_serviceaccount"),
        moves=NOTHING,
        exception=PROGRAMS,
        feed=ACCESS,
        alert=NO_ALERT,
    )

    purpose: str
    scopes: tuple[str, ...]
    tables: tuple[str, ...] = ()
    """By name; none stands for all."""
    addresses: tuple[str, ...] = ()
    """The networks that it may call from; none stands for any."""
    expires: str
    """The moment from which on it may do nothing."""
    proposal: int | None = None
    """The proposal that two people stand for, where it took two."""

    description = from_fields(
        "The program {name} may, until {expires} at {tables}: {scopes}",
        scopes=titles,
        otherwise=from_fields("The program {name} may, until {expires}: {scopes}", scopes=titles),
    )


class ServiceAccountEnded(AboutServiceAccount, frozen=True, kw_only=True, omit_defaults=True):
    """A program may do nothing any more: it was revoked, or its time is over."""

    kinds: ClassVar[tuple[str, ...]] = ("revoked", "expired")
    record = KindRecord(
        writer=ACCOUNT_ENDER,
        moves=NOTHING,
        exception=PROGRAMS,
        feed=ACCESS,
        alert=NO_ALERT,
    )

    why: str = ""
    """Empty where its time is over."""

    @property
    def kind(self) -> str:
        return "revoked" if self.why else "expired"

    description = from_fields(
        "The program {name} is revoked: {why}", otherwise=from_fields("The program {name} has expired")
    )


class ServiceTokenMade(AboutServiceAccount, frozen=True, kw_only=True, omit_defaults=True):
    """A program has another token. It was shown once."""

    kinds: ClassVar[tuple[str, ...]] = ("token_made",)
    record = KindRecord(
        writer=staff_with("tables.change_serviceaccount"),
        moves=NOTHING,
        exception=PROGRAMS,
        feed=ACCESS,
        alert=NO_ALERT,
    )

    token: str
    """A public identifier of the token; no part of its secret."""
    kept: str
    """The digest of what is kept of it."""
    until: str
    earlier: dict[str, str] = {}
    """The tokens that it takes the place of, each with the moment up to which it is good still."""

    description = from_fields("The program {name} has another token, {token}")


class ServiceTokenEnded(AboutServiceAccount, frozen=True, kw_only=True, omit_defaults=True):
    """One token of a program is good no more."""

    kinds: ClassVar[tuple[str, ...]] = ("token_revoked",)
    record = KindRecord(
        writer=staff_with("tables.change_serviceaccount"),
        moves=NOTHING,
        exception=PROGRAMS,
        feed=ACCESS,
        alert=NO_ALERT,
    )

    token: str
    until: str

    description = from_fields("The token {token} of the program {name} is revoked")


class ServiceTokensSealed(Event, frozen=True, kw_only=True, omit_defaults=True):
    """The hashes of tokens are sealed with another key than before."""

    subject: ClassVar[str] = "service_account"
    kinds: ClassVar[tuple[str, ...]] = ("tokens_sealed",)
    of_the_house: ClassVar[bool] = True
    record = KindRecord(writer=COMMAND, moves=NOTHING, exception=KEYS, feed=ACCESS, alert=NO_ALERT)

    key: str
    """The name of the key, which is no secret."""
    tokens: dict[str, str]
    """The digest of what is kept of each."""

    description = from_fields("Tokens of programs are sealed with key {key}: {tokens}")
