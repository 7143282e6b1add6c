"""Policies of the site: the values in force, and changes that take effect at a moment.

Policies are read often, also while cards are dealt, so a process caches the changes for a few seconds. A value that a
record depends on permanently is stored in its log entry.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.core.checks import CheckMessage, Warning
from django.db import transaction
from django.utils import timezone
from msgspec import structs

from ledger import clock_corrections, replica, site_log
from ledger.models import LogEntry, Slip
from ledger.proof.chain import Entry as Chained
from ledger.proof.chain import Head
from tables.log import policies
from tables.log.dual_control import needed as two_people_needed
from tables.log.entries.house_terms import TermsChanged
from tables.log.policies import TERMS, PolicyChange, Value, Values
from tables.models import HouseTerms, Staff
from tables.projections import site_rows
from tables.refusals import refuse_faults
from tables.roles import Role
from tables.setup import dual_control
from tables.setup.dual_control import ApprovalHandler, ApprovedProposal, ProposalDraft, handles

JUDGES: Final[list[Callable[[Values], dict[str, str]]]] = []
"""Checks by other packages beyond the range of a policy. Each returns a sentence by policy."""
KEPT: Final = 5.0
"""Seconds for which a process keeps what it read: so much later than this one's, other processes' rounds, slips and
tries may go by a change that was entered just now."""
SLACK: Final = timedelta(seconds=30)
"""So much later, or earlier by a clock that is a little off, a process may have gone by another value: see KEPT."""
FURTHEST: Final = timedelta(days=366)
"""How far ahead a change can be dated."""

_read: tuple[float, tuple[PolicyChange, ...]] | None = None
"""When the changes were read, in seconds of the monotonic clock, and all of them."""
_read_there: tuple[float, tuple[PolicyChange, ...]] | None = None
"""Cached changes as read from the replica. They may lack the newest, so dealers' inputs are decided by ``_read``."""


# --- In force --------------------------------------------------------------------------------------------------


def in_force(name: str, moment: datetime | None = None) -> Any:
    """The value of a term now, or at a moment: a number in the unit of its name, a bool, a word, or a tuple."""
    return all_in_force(moment)[name]


def number(name: str, moment: datetime | None = None) -> int:
    """The value in force of a policy that is a number or an amount in cents."""
    return int(in_force(name, moment))


def went_by(name: str, entry: Chained, fits: Callable[[Any], bool]) -> bool:
    """Whether a value in force at the time of an entry, of any log, fits.

    Values in force just before or after count too: processes read changes late, and their clocks differ a little.
    Entries with a corrected clock pass.
    """
    # A corrected time is exact to the day only, so which value was in force cannot be told.
    if entry.at is None or clock_corrections.of(entry.book_id, entry.seq, entry.seq):
        return True
    return _went_by(every_change(), name, entry.at, fits) or _went_by(changes(), name, entry.at, fits)


def _went_by(changes: Sequence[PolicyChange], name: str, moment: datetime, fits: Callable[[Any], bool]) -> bool:
    near = [change for change in changes if name in change.values and abs(change.effective - moment) < SLACK]
    # Of every process its cache: within SLACK of a change, entries by the old and by the new value are both valid.
    values = [policies.read(TERMS[name], change.values[name]) for change in near]
    values += [policies.in_force(changes, then)[name] for then in (moment - SLACK, moment)]
    return any(fits(value) for value in values)


def levels(name: str, moment: datetime | None = None) -> tuple[int, ...]:
    """The value in force of a policy that is a list of rising amounts."""
    return tuple(in_force(name, moment))


def words(name: str, moment: datetime | None = None) -> tuple[str, ...]:
    """The value in force of a policy that is a list of words."""
    return tuple(in_force(name, moment))


def all_in_force(moment: datetime | None = None) -> dict[str, Value]:
    """The value of every term now, or at a moment."""
    return policies.in_force(every_change(), moment or timezone.now())


def every_change() -> tuple[PolicyChange, ...]:
    """Every change that was ever entered, as this process last read them."""
    global _read
    # What is read from the replica must not enter the cache that dealers are decided by: the replica may be behind.
    if replica.as_of() is not None:
        return _kept_there()
    if _read is None or time.monotonic() - _read[0] > KEPT:
        _read = time.monotonic(), changes()
    return _read[1]


def _kept_there() -> tuple[PolicyChange, ...]:
    global _read_there
    if _read_there is None or time.monotonic() - _read_there[0] > KEPT:
        _read_there = time.monotonic(), changes()
    return _read_there[1]


def changes(before_seq: int | None = None) -> tuple[PolicyChange, ...]:
    """All changes in the order of their entries, or those before an entry of the site's log."""
    rows = HouseTerms.objects.order_by("seq")
    rows = rows if before_seq is None else rows.filter(seq__lt=before_seq)
    return tuple(PolicyChange(*row) for row in rows.values_list("effective", "seq", "values"))


def forget() -> None:
    """Discard the cached changes, so that the next use reads them again."""
    global _read, _read_there
    _read = _read_there = None


# --- Changing them ---------------------------------------------------------------------------------------------


def change(
    values: Values,
    effective: datetime | None = None,
    *,
    by: Staff,
    profile: str | None = None,
    proposal: int | None = None,
) -> HouseTerms | None:
    """Change policies from a moment on, or at once; None where nothing changes. Raises Refused.

    ``proposal`` is the approved proposal where dual control needs one. The site's log is locked before the values in
    force are read, so no other change can be entered in between.
    """
    by.require("tables.add_houseterms", "Only an operator changes the house's terms.")
    values = as_read(values)
    with transaction.atomic():
        head = site_log.lock()
        moment = effective or head.moment
        refuse_faults("bad_terms", faults(values, moment, head.moment))
        dual_control.refuse_alone("profile" if profile else "terms", as_entered(head.moment), proposal)
        # Not from the cache: the entry names the values before the change, which have to be those of the log.
        before = as_entered(moment)
        changed = policies.differing(before, values)
        if not changed:
            return None
        event = structs.replace(event_of(moment, before, changed), proposal=proposal, profile=profile)
        return _enter(head, event, by.signature)


def _enter(head: Head, event: TermsChanged, by: str) -> HouseTerms:
    """Write the entry of a change and its row."""
    row = site_rows.POLICIES.append(head, event, by)
    # After the commit: emptied before it, the cache could be filled again with the values before the change.
    transaction.on_commit(forget)
    return row


def turn_on_dual_control() -> bool:
    """Turn dual control on at a site that opened its first table in the last day; returns whether it was turned on. A
    site that ever entered the term keeps its choice. At least two operators are needed."""
    if chose_dual_control(every_change()) or _operators() < 2 or not opened_lately():
        return False
    with transaction.atomic():
        head = site_log.lock()
        # Asked again under the lock: an operator may have chosen since.
        if chose_dual_control(changes()):
            return False
        _enter(head, event_of(head.moment, {DUAL_CONTROL: False}, {DUAL_CONTROL: True}), dual_control.BY_THE_CLOCK)
    forget()
    return True


DUAL_CONTROL: Final = "two_people"
OPENING: Final = timedelta(days=1)
"""Time after the opening of the first table within which dual control turns itself on. Older sites are not changed."""


def chose_dual_control(entered: Sequence[PolicyChange]) -> bool:
    """Whether the site ever entered the term for dual control."""
    return any(DUAL_CONTROL in change.values for change in entered)


def opened_lately() -> bool:
    """Whether the first table of this site was opened in the last day."""
    first = Slip.objects.filter(series="opener", signatures__stage="recounted").order_by("pk").first()
    if first is None:
        return False
    return LogEntry.objects.filter(book_id=first.book_id, seq=first.seq, at__gt=timezone.now() - OPENING).exists()


def as_read(values: Values) -> dict[str, Any]:
    """Values from JSON or a form, converted to the types of their policies."""
    return {name: policies.read(TERMS[name], value) if name in TERMS else value for name, value in values.items()}


def as_entered(moment: datetime) -> dict[str, Value]:
    """The value of every policy at a moment, read without the cache: for callers that have locked the site's log."""
    return policies.in_force(changes(), moment)


def draft(
    values: Values, effective: datetime | None = None, profile: str | None = None, about: str = ""
) -> ProposalDraft | None:
    """A change as it is proposed, where it takes two people; None where one enters it. ``about`` tells changes apart of
    which each may wait. Raises Refused."""
    moment, values = timezone.now(), as_read(values)
    refuse_faults("bad_terms", faults(values, effective or moment, moment))
    matter = "profile" if profile else "terms"
    if not two_people_needed(matter, as_entered(moment)):
        return None
    before = as_entered(effective or moment)
    changed = policies.differing(before, values)
    event = event_of(effective or moment, before, changed)
    return ProposalDraft(matter, profile or about, event.before, event.after, effective)


def _present_values(proposals: Sequence[ApprovedProposal]) -> list[Mapping[str, Any]]:
    entered, moment = changes(), timezone.now()
    terms = [policies.in_force(entered, proposal.effective or moment) for proposal in proposals]
    return [
        _builtins({name: values[name] for name in proposal.before if name in values})
        for proposal, values in zip(proposals, terms, strict=True)
    ]


def _apply(proposal: ApprovedProposal, by: Staff) -> None:
    profile = proposal.about if proposal.matter == "profile" else None
    effective = proposal.effective if proposal.effective and proposal.effective > site_log.lock().moment else None
    change(proposal.after, effective, by=by, profile=profile, proposal=proposal.number)


handles("terms", "profile", matter=ApprovalHandler(_present_values, _apply, "tables.add_houseterms", dates_itself=True))


def event_of(effective: datetime, before: Values, after: Values) -> TermsChanged:
    """The entry of a change."""
    earlier = {name: before[name] for name in after}
    return TermsChanged(effective=spelled(effective), before=_builtins(earlier), after=_builtins(after))


def spelled(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()


def _builtins(values: Values) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def faults(values: Mapping[str, Any], effective: datetime, moment: datetime) -> dict[str, str]:
    """The faults of a change entered at a moment: a sentence for each policy, and for the time of effect."""
    sentences = policies.faults(values)
    for judge in JUDGES:
        sentences |= judge(values)
    if not values:
        sentences["values"] = "Change a term at least."
    if effective < moment:
        sentences["effective"] = "A change holds from now on, or from a moment to come: what was is not changed."
    elif values.get(DUAL_CONTROL) is True and _operators() < 2:
        sentences[DUAL_CONTROL] = "Two people are needed for that: take on another operator first."
    elif effective > moment + FURTHEST:
        sentences["effective"] = f"A change is dated no more than {FURTHEST.days} days ahead."
    return sentences


def _operators() -> int:
    return Staff.objects.filter(role=Role.OPERATOR, is_active=True).count()


def check(**_: Any) -> list[CheckMessage]:
    """System check for ``manage.py check`` and ``migrate``: warn of environment variables that policies replaced."""
    hint = "Enter it in the admin under House terms, where it is not the default, and take it out of the environment."
    return [
        Warning(f"{name} is set in the environment, which nothing goes by any more.", hint=hint, id="tables.W002")
        for name in settings.SET_IN_VAIN
    ]
