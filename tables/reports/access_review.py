"""The review of access: who may do what here, since when, and who granted it, from the log alone.

Former 25 CFR 543.16 and Nevada's checklist for table systems require a review each quarter, by a reviewer who does not
grant access. A signed review is an entry of the site log, with a digest of the reviewed list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import Final

from django.db import transaction

from ledger import log, site_log
from ledger.log import Draft
from ledger.models import LogEntry
from ledger.proof.spelling import canonical
from tables.log import scopes
from tables.log.catalog import read_as
from tables.log.entries.staff import AccessReviewed, StaffAdded, StaffChanged
from tables.models import ServiceAccount, Staff
from tables.refusals import Refused
from tables.reports.report import Column, Report, single_page
from tables.roles import WORDS
from tables.setup import role_choices, service_accounts

PROGRAM: Final = "program"
SAYS_NOTHING: Final = "before the log told of it"


@dataclass(frozen=True, slots=True)
class Access:
    """What one person may do."""

    username: str
    name: str
    badge: str
    role: str
    further: tuple[str, ...]
    is_active: bool
    since: datetime | None
    """When they were last given a role, or switched off; None where the log does not tell."""
    granted_by: str
    last_sign_in: datetime | None
    scopes: tuple[str, ...] = ()
    """Of a program, in words, what it may do and where."""

    @property
    def may(self) -> tuple[str, ...]:
        """In words, what they may do in any of their roles; nothing where they left."""
        if self.role == PROGRAM:
            return self.scopes if self.is_active else ()
        roles = (self.role, *self.further) if self.is_active else ()
        people = [Staff(username=self.username, role=role) for role in roles]
        return tuple(words for permission, words in WORDS.items() if any(each.has_perm(permission) for each in people))

    @property
    def otherwise(self) -> tuple[str, ...]:
        """In words, what the house chose for these roles otherwise than it ships."""
        roles = (self.role, *self.further) if self.is_active and self.role != PROGRAM else ()
        return tuple(dict.fromkeys(words for role in roles for words in role_choices.chosen_for(role)))


ACCESS: Final = Report[Staff, Access](
    name="access",
    permission=("tables.view_staff",),
    columns=(
        Column("username"), Column("name"), Column("badge"),
        Column("roles", lambda line: ", ".join((line.role, *line.further))),
        Column("active", lambda line: "yes" if line.is_active else "no"), Column("since"), Column("granted_by"),
        Column("last_sign_in"), Column("may", lambda line: "; ".join(line.may)),
        Column("chosen_by_the_house", lambda line: "; ".join(line.otherwise)),
    ),
    pages=lambda _: single_page(review()),
)  # fmt: skip


def review() -> list[Access]:
    """The access of all staff, active ones first, then of all service accounts."""
    grants = _grants()
    people = Staff.objects.order_by("-is_active", "name")
    staff = [_access(person, grants.get(person.username)) for person in people]
    return staff + [_program(account) for account in service_accounts.everyone()]


def _access(person: Staff, grant: tuple[datetime, str] | None) -> Access:
    since, granted_by = grant or (None, SAYS_NOTHING)
    return Access(
        username=person.username,
        name=person.name,
        badge=person.badge or "",
        role=str(person.role),
        further=tuple(person.further),
        is_active=person.is_active,
        since=since,
        granted_by=granted_by,
        last_sign_in=person.last_login,
    )


def _program(account: ServiceAccount) -> Access:
    where = ", ".join(account.tables) or "all tables"
    granted = [scopes.SCOPES[name] for name in account.scopes if name in scopes.SCOPES]
    words = [f"{scope.title} ({where})" if scope.of_tables else scope.title for scope in granted]
    return Access(
        username=account.username,
        name=account.name,
        badge="",
        role=PROGRAM,
        further=(),
        is_active=account.is_active,
        since=account.at,
        granted_by=account.by,
        last_sign_in=service_accounts.last_use(account),
        scopes=(*words, f"{account.purpose}; {service_accounts.state_of(account)}"),
    )


_GRANTS: Final = {"role", "further", "is_active"}


def _grants() -> Mapping[str, tuple[datetime, str]]:
    """When and by whom each person was last given what they may do."""
    entries = LogEntry.objects.of_site().filter(subject="staff", kind__in=["added", "changed"]).order_by("seq")
    grants: dict[str, tuple[datetime, str]] = {}
    for kind, moment, by, body in entries.values_list("kind", "at", "by", "body").iterator():
        event = read_as(StaffAdded if kind == "added" else StaffChanged, body)
        assert isinstance(event, StaffAdded | StaffChanged)  # noqa: S101 -- as it was asked
        if isinstance(event, StaffAdded) or _GRANTS & (event.after or {}).keys():
            grants[event.username] = moment, by
    return grants


# --- Signed ----------------------------------------------------------------------------------------------------


def digest_of(lines: Sequence[Access]) -> str:
    """SHA-256 over the permissions of all users, without their last sign-in, which changes during a review."""
    lasting = [replace(line, last_sign_in=None) for line in lines]
    rows = [[str(value) for value in row] for row in ACCESS.rows(lasting)]
    return sha256(canonical({"access": rows})).hexdigest()


def sign(digest: str, note: str, *, by: Staff) -> None:
    """Record that an auditor reviewed the access report with this digest. Raises Refused if it has changed since."""
    by.require("tables.review_access", "An auditor reviews who may do what.")
    if len(note) > 300 or not (note == "" or note.isprintable()):
        raise Refused("bad_note", "A note has 300 plain characters at most.", 422)
    with transaction.atomic():
        head = site_log.lock()
        lines = review()
        if digest_of(lines) != digest:
            raise Refused("changed", "Somebody's access changed while you read: look at the list again.", 409)
        event = AccessReviewed(username=by.username, people=len(lines), sha256=digest, note=note)
        log.append(head, Draft.of(event, by.signature))


def last_review() -> tuple[datetime, str] | None:
    """When a review was signed last, and by whom."""
    entries = LogEntry.objects.of_site().filter(subject="staff", kind="access_reviewed")
    row = entries.order_by("-seq").values_list("at", "by").first()
    return row if row is None else (row[0], row[1])
