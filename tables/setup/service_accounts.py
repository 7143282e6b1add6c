"""Service accounts of API clients: scopes, tables, networks and expiry.

An operator sets them, under dual control where access needs it. Each change, renewal and revocation is an entry of the
site's log.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from ipaddress import ip_network
from typing import Any, Final

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from ledger import log, site_log
from ledger.log import Draft as Entry
from ledger.proof.chain import Head
from tables.log import dual_control, scopes
from tables.log.entries.proposals import builtins
from tables.log.entries.service_accounts import ServiceAccountEnded, ServiceAccountSet
from tables.models import ServiceAccount, ServiceToken, Staff, Table
from tables.refusals import Faults, Refused, refuse_faults
from tables.setup import policies
from tables.setup.dual_control import ApprovalHandler, ApprovedProposal, ProposalDraft, handles, refuse_alone

BY_THE_CLOCK: Final = "the watch"
LONGEST_NAME: Final = 40
LONGEST_TEXT: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The access of a service account, as an operator sets it."""

    purpose: str
    scopes: tuple[str, ...]
    tables: tuple[str, ...] = ()
    """Names of the tables it may access. Empty for all tables."""
    addresses: tuple[str, ...] = ()
    """Networks that it may connect from. Empty for any."""
    expires: datetime

    def facts(self) -> dict[str, Any]:
        """The access as an entry and a proposal record it."""
        return builtins(asdict(self) | {"expires": policies.spelled(self.expires)})

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Access:
        """The access from these fields."""
        lists = {name: tuple(facts[name]) for name in ("scopes", "tables", "addresses")}
        return cls(purpose=facts["purpose"], expires=datetime.fromisoformat(facts["expires"]), **lists)


def access_of(account: ServiceAccount) -> Access:
    """The access of a stored account."""
    return Access(
        purpose=account.purpose,
        scopes=tuple(account.scopes),
        tables=tuple(account.tables),
        addresses=tuple(account.addresses),
        expires=account.expires_at,
    )


# --- Setting ---------------------------------------------------------------------------------------------------


def set_account(name: str, access: Access, *, by: Staff, proposal: int | None = None) -> ServiceAccount:
    """Create a service account or replace its access. Raises Refused."""
    permit(by)
    with transaction.atomic():
        head = site_log.lock()
        row = ServiceAccount.objects.filter(name=name).first()
        refuse_faults("bad_service_account", faults(name, access, head.moment))
        # Read under the lock: whether dual control applies depends on what the access is widened from.
        before = access_of(row).facts() if row else {}
        matter = dual_control.of_service_account(before, access.facts())
        refuse_alone(matter, policies.as_entered(head.moment), proposal)
        log.append(head, Entry.of(_event(name, access, proposal), by.signature))
        row = row or ServiceAccount(name=name)
        row.purpose, row.expires_at = access.purpose, access.expires
        row.scopes, row.tables, row.addresses = list(access.scopes), list(access.tables), list(access.addresses)
        row.ended_at, row.by, row.at = None, by.signature, head.moment
        row.save()
        # A token outlives no account: one whose time was shortened takes its tokens along.
        ServiceToken.objects.filter(account=row, until__gt=access.expires).update(until=access.expires)
    return row


def _event(name: str, access: Access, proposal: int | None) -> ServiceAccountSet:
    content = asdict(access) | {"expires": policies.spelled(access.expires)}
    return ServiceAccountSet(name=name, proposal=proposal, **content)


def revoke(account: ServiceAccount, reason: str, *, by: Staff) -> None:
    """Revoke a service account at once and for good. One operator is enough. Raises Refused."""
    # One operator is enough: a leaked token has to be stopped before a second one is found.
    permit(by)
    if not reason.strip() or not reason.isprintable() or len(reason) > LONGEST_TEXT:
        raise Refused("no_reason", f"Say why in 1 to {LONGEST_TEXT} characters.", 422)
    with transaction.atomic():
        head = site_log.lock()
        # The page was drawn earlier; another operator may have revoked it since.
        account.refresh_from_db()
        if account.ended_why:
            raise Refused("revoked_already", f"{account} was revoked already: {account.ended_why}.", 409)
        _end(head, account, reason.strip(), by.signature)


def note_expired() -> int:
    """Record the expiry of each account whose time is over; returns their number."""
    due = ServiceAccount.objects.filter(ended_at=None, expires_at__lte=timezone.now())
    if not due.exists():
        return 0
    with transaction.atomic():
        head = site_log.lock()
        # Under the lock and by its moment: an account renewed meanwhile has not expired.
        rows = list(due.filter(expires_at__lte=head.moment).order_by("pk"))
        for row in rows:
            _end(head, row, "", BY_THE_CLOCK)
            head = site_log.lock()
    return len(rows)


def _end(head: Head, account: ServiceAccount, reason: str, by: str) -> None:
    log.append(head, Entry.of(ServiceAccountEnded(name=account.name, why=reason), by))
    account.ended_at, account.ended_why = head.moment, reason
    account.save(update_fields=["ended_at", "ended_why"])


def permit(by: Staff) -> None:
    """Raises Refused for users who may not manage service accounts."""
    by.require("tables.change_serviceaccount", "Only an operator says what programs may do.")


# --- By two people ---------------------------------------------------------------------------------------------


def draft(name: str, access: Access) -> ProposalDraft | None:
    """The proposal of access under dual control; None where one person may change it."""
    row = ServiceAccount.objects.filter(name=name).first()
    before, after = access_of(row).facts() if row else {}, access.facts()
    matter = dual_control.of_service_account(before, after)
    if matter is None or not dual_control.needed(matter, policies.as_entered(timezone.now())):
        return None
    return ProposalDraft(matter, name, before, after)


def _present_values(proposals: Sequence[ApprovedProposal]) -> list[Mapping[str, Any]]:
    accounts = ServiceAccount.objects.filter(name__in=[proposal.about for proposal in proposals])
    facts = {account.name: access_of(account).facts() for account in accounts}
    return [{name: facts.get(row.about, {}).get(name) for name in row.before} for row in proposals]


def _apply(proposal: ApprovedProposal, by: Staff) -> None:
    set_account(proposal.about, Access.of(proposal.after), by=by, proposal=proposal.number)


handles(dual_control.SERVICE_ACCOUNT, matter=ApprovalHandler(_present_values, _apply, "tables.change_serviceaccount"))


# --- Judging ---------------------------------------------------------------------------------------------------


def faults(name: str, access: Access, moment: datetime) -> Faults:
    """The faults of the access of a service account, by field."""
    wrong: Faults = {}
    if not re.fullmatch(r"[A-Za-z0-9](?:[A-Za-z0-9 ._-]{0,38}[A-Za-z0-9])?", name):
        alphabet = "letters, digits, spaces, dots, dashes; the first and the last are a letter or a digit"
        wrong["name"] = f"A name has 1 to {LONGEST_NAME} of these: {alphabet}."
    elif ServiceAccount.objects.filter(name=name).exclude(ended_why="").exists():
        wrong["name"] = f"{name} was revoked, for good: choose another name."
    if not access.purpose.strip() or not access.purpose.isprintable() or len(access.purpose) > LONGEST_TEXT:
        wrong["purpose"] = f"Say in 1 to {LONGEST_TEXT} characters what the program is for."
    judged = {
        "scopes": _scopes_fault(access.scopes),
        "tables": _tables_fault(name, access),
        "addresses": next(filter(None, map(_network_fault, access.addresses)), ""),
        "expires": _expires_fault(access.expires, moment),
    }
    return wrong | {field: sentence for field, sentence in judged.items() if sentence}


def _scopes_fault(names: tuple[str, ...]) -> str:
    if stranger := next((name for name in names if name not in scopes.SCOPES), ""):
        return f"There is no scope {stranger}: there is {', '.join(scopes.SCOPES)}."
    if not names or list(names) != [name for name in scopes.SCOPES if name in names]:
        return "Choose one scope at least, each once and in the order of the list."
    if scopes.CARDS in names and len(names) > 1:
        return f"A card reader reads cards, and nothing else: give {scopes.CARDS} alone."
    return ""


def _tables_fault(name: str, access: Access) -> str:
    missing = set(access.tables) - set(Table.objects.filter(name__in=access.tables).values_list("name", flat=True))
    if missing:
        return f"There is no table {min(missing)}."
    if len(set(access.tables)) < len(access.tables):
        return "Name a table once."
    if scopes.CARDS in access.scopes and len(access.tables) != 1:
        return "A card reader is at one table: choose that one."
    apart = [name for name in access.scopes if name in scopes.SCOPES and not scopes.SCOPES[name].of_tables]
    if access.tables and apart:
        return f"{apart[0]} is about the whole house: give it to an account for all tables, and choose none here."
    return _other_reader(name, access)


def _other_reader(name: str, access: Access) -> str:
    """Two readers of one shoe would name each card twice."""
    if scopes.CARDS not in access.scopes:
        return ""
    accounts = ServiceAccount.objects.filter(ended_at=None, expires_at__gt=timezone.now()).exclude(name=name)
    rival = next((row for row in accounts if scopes.CARDS in row.scopes and set(row.tables) & set(access.tables)), None)
    return f"{rival} is the card reader of {access.tables[0]}: revoke that one first." if rival else ""


def _network_fault(text: str) -> str:
    try:
        ip_network(text)
    except ValueError:
        return f"{text} is no address and no network: write 10.0.3.7 or 10.0.3.0/24."
    return ""


def _expires_fault(expires: datetime, moment: datetime) -> str:
    days = policies.number("service_days")
    if not moment < expires <= moment + timedelta(days=days, minutes=1):
        latest = timezone.localtime(moment + timedelta(days=days))
        return f"Good until a moment to come, {latest:%Y-%m-%d} at the latest: the house's terms say {days} days."
    return ""


# --- In words --------------------------------------------------------------------------------------------------


def state_of(account: ServiceAccount) -> str:
    """The state of a service account in a few words: revoked, expired, without a token, or in use."""
    moment = timezone.now()
    if account.ended_why:
        return f"revoked: {account.ended_why}"
    if account.expires_at <= moment:
        return f"expired on {timezone.localtime(account.expires_at):%Y-%m-%d}"
    live = [token for token in account.tokens.all() if token.until > moment]
    if not live:
        return "has no token: make one"
    days = (account.expires_at - moment).days
    tokens = "two tokens, for as long as one takes the other's place" if len(live) > 1 else "in use"
    return f"{tokens}; expires in {days} day{'' if days == 1 else 's'}"


def last_use(account: ServiceAccount) -> datetime | None:
    """When one of its tokens was last used."""
    return max((token.used_at for token in account.tokens.all() if token.used_at), default=None)


def everyone() -> Iterable[ServiceAccount]:
    """All accounts, those that are in use first, with their tokens."""
    return ServiceAccount.objects.order_by(F("ended_at").desc(nulls_first=True), "name").prefetch_related("tokens")
