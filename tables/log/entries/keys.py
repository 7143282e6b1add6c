"""The keys that the house seals its days with."""

from __future__ import annotations

from typing import ClassVar

from tables.log.event import Event
from tables.log.exception_categories import KEYS
from tables.log.kind_record import NO_ALERT, NOTHING, KindRecord
from tables.log.message import from_fields
from tables.log.published.form import OPERATIONS
from tables.log.writers import COMMAND, SITE


def _beginning(key: str) -> str:
    """The first digits of a key, by which people compare it."""
    return key[:16]


class AboutKey(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A public key of the house; the newest one counts."""

    subject: ClassVar[str] = "key"
    of_the_house: ClassVar[bool] = True

    key: str
    """In hex."""


class KeyPublished(AboutKey, frozen=True, kw_only=True, omit_defaults=True):
    """The house's first key."""

    kinds: ClassVar[tuple[str, ...]] = ("published",)
    record = KindRecord(writer=SITE, moves=NOTHING, exception=KEYS, feed=OPERATIONS, alert=NO_ALERT)

    description = from_fields("The key that days are sealed with is published: {key}", key=_beginning)


class KeyRotated(AboutKey, frozen=True, kw_only=True, omit_defaults=True):
    """Another key, signed by the one before."""

    kinds: ClassVar[tuple[str, ...]] = ("rotated",)
    record = KindRecord(writer=COMMAND, moves=NOTHING, exception=KEYS, feed=OPERATIONS, alert=NO_ALERT)

    rotation: dict[str, str]
    """The statement that the old key signed."""
    signature: str

    description = from_fields("Another key takes the place of the old one, which signs it: {key}", key=_beginning)


class KeyReplaced(AboutKey, frozen=True, kw_only=True, omit_defaults=True):
    """Another key, for which nothing stands but the house's word."""

    kinds: ClassVar[tuple[str, ...]] = ("replaced",)
    record = KindRecord(writer=COMMAND, moves=NOTHING, exception=KEYS, feed=OPERATIONS, alert=NO_ALERT)

    reason: str

    description = from_fields("The key is lost, and another takes its place: {reason}")
