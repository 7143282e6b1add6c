"""Checks service accounts in the log: dual control of their rights, no token for an ended account, and at most
MOST_LIVE tokens at once."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from ledger.models import LogEntry
from ledger.proof.chain import Entry
from tables.audit import dual_control
from tables.floor.command_context import program_of
from tables.floor.handlers import checks
from tables.log import dual_control as rules
from tables.log.catalog import read
from tables.log.entries.readers import ReaderStarted
from tables.log.entries.rounds import Played
from tables.log.entries.service_accounts import (
    MOST_LIVE,
    AboutServiceAccount,
    ServiceAccountEnded,
    ServiceAccountSet,
    ServiceTokenEnded,
    ServiceTokenMade,
)
from tables.log.event import AuditFailure, Event
from tables.log.scopes import CARDS
from tables.setup import service_accounts
from tables.setup.service_accounts import Access


@checks(ServiceAccountSet)
def check_account(event: ServiceAccountSet, entry: Entry) -> None:
    """Check that an account was set under dual control where required, and not after it was revoked."""
    if any(isinstance(earlier, ServiceAccountEnded) and earlier.why for earlier in _before(event, entry)):
        raise AuditFailure(f"the program {event.name} was revoked before")
    sets = [_facts(earlier) for earlier in _before(event, entry) if isinstance(earlier, ServiceAccountSet)]
    before, after = sets[-1] if sets else {}, _facts(event)
    matter = rules.of_service_account(before, after)
    dual_control.require_approval(
        matter, event.proposal, entry, {"about": event.name, "before": before, "after": after}
    )


def _facts(event: ServiceAccountSet) -> dict[str, object]:
    return Access.of(event.content() | {"tables": event.tables, "addresses": event.addresses}).facts()


@checks(ServiceAccountEnded)
def check_ended(event: ServiceAccountEnded, entry: Entry) -> None:
    """Check that an account was ended by an operator, or because it had expired."""
    account = _account(event, entry)
    if event.why:
        return
    if entry.by != service_accounts.BY_THE_CLOCK:
        raise AuditFailure(f"the watch says that a program has expired, and {entry.by} wrote it")
    if entry.at is None or entry.at < datetime.fromisoformat(account.expires):
        raise AuditFailure(f"the program {event.name} had not expired")


@checks(ServiceTokenMade)
def check_made(event: ServiceTokenMade, entry: Entry) -> None:
    """Check that a token's account had not ended, that it expires no later than the account, and that no third token
    was made."""
    account = _account(event, entry)
    if datetime.fromisoformat(event.until) > datetime.fromisoformat(account.expires):
        raise AuditFailure("the token is good for longer than its account")
    if len(event.earlier) >= MOST_LIVE:
        raise AuditFailure(f"it is a third token of the program {event.name}")


@checks(ServiceTokenEnded)
def check_token_ended(event: ServiceTokenEnded, entry: Entry) -> None:
    """Check that an ended token had been made."""
    tokens = {earlier.token for earlier in _before(event, entry) if isinstance(earlier, ServiceTokenMade)}
    if event.token not in tokens:
        raise AuditFailure(f"the program {event.name} had no token {event.token}")


@checks(ReaderStarted)
def check_reader(event: ReaderStarted, entry: Entry) -> None:
    """Check that a card reader was assigned to this table by an operator, and its account had not ended."""
    _refuse_reader(event.name, entry)


@checks(Played)
def check_card(event: Played, entry: Entry) -> None:
    """Check that each card from a reader came while its account was in force."""
    name = program_of(entry.by)
    if event.read is None or name is None:
        return
    _refuse_reader(name, entry)


def _refuse_reader(name: str, entry: Entry) -> None:
    rows = LogEntry.objects.of_site().filter(subject=ServiceAccountSet.subject, at__lte=entry.at)
    account: ServiceAccountSet | None = None
    for kind, body in rows.order_by("seq").values_list("kind", "body"):
        event = read(ServiceAccountSet.subject, kind, body, house=True)
        if isinstance(event, ServiceAccountSet) and event.name == name:
            account = event
        elif isinstance(event, ServiceAccountEnded) and event.name == name:
            account = None
    # A reader decides which cards the log has: it must be assigned to exactly this table.
    if account is None or CARDS not in account.scopes or account.tables != (entry.book,):
        raise AuditFailure(f"the program {name} was not given the cards of {entry.book} then")
    if entry.at is None or entry.at >= datetime.fromisoformat(account.expires):
        raise AuditFailure(f"the program {name} had expired")


def _account(event: AboutServiceAccount, entry: Entry) -> ServiceAccountSet:
    """The account as it was set before an entry. Raises AuditFailure if there was none, or it had ended."""
    account: ServiceAccountSet | None = None
    for earlier in _before(event, entry):
        if isinstance(earlier, ServiceAccountSet):
            account = earlier
        elif isinstance(earlier, ServiceAccountEnded):
            account = None
    if account is None and isinstance(event, ServiceAccountEnded) and event.why:
        # An expired account can still be revoked for good.
        account = next((before for before in _before(event, entry) if isinstance(before, ServiceAccountSet)), None)
    if account is None:
        raise AuditFailure(f"there is no program {event.name} then")
    return account


def _before(event: AboutServiceAccount, entry: Entry) -> Iterator[Event]:
    """The entries about a service account before an entry."""
    rows = LogEntry.objects.filter(book_id=entry.book_id, subject=event.subject, seq__lt=entry.seq).order_by("seq")
    for kind, body in rows.values_list("kind", "body"):
        earlier = read(event.subject, kind, body, house=True)
        if isinstance(earlier, AboutServiceAccount) and earlier.name == event.name:
            yield earlier
