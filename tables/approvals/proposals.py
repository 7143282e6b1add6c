"""Proposals: settings under dual control wait here for a second person.

An approval is one transaction: its entry, and the change by the function that a single person would use, with its
checks. A refused change leaves the proposal waiting.

A change with a later effective time is approved and then waits. A worker brings it into force in one transaction of
its entry and the change. That entry's key is derived from the proposal, and a log accepts a key once: the change is
made exactly once, whatever process dies and however many workers try. A change that takes effect with a table's next
shoe waits likewise, and is also tried when a shoe ends. A dated change outside dual control is decided by its
proposer.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID, uuid5

import msgspec
from django.db import DatabaseError, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from ledger import alerts, cage, log, site_log
from ledger.clock import WrongClock
from ledger.log import Draft as Entry
from ledger.models import LogEntry
from ledger.proof.chain import Head
from ledger.proof.chips import money
from tables.approvals import signing
from tables.approvals.signing import SigningStage
from tables.log import dual_control
from tables.log.entries.proposals import (
    AboutProposal,
    ProposalApproved,
    ProposalCalledOff,
    ProposalCommented,
    ProposalDecided,
    ProposalDeclined,
    ProposalExpired,
    ProposalInForce,
    ProposalLapsed,
    ProposalWithdrawn,
    Proposed,
    builtins,
)
from tables.log.limit_plans import AMOUNTS, WAGER, Schedule
from tables.log.message import text_of
from tables.log.policies import described, title_of
from tables.log.signatory import Signatory, with_badge_from
from tables.models import Proposal, ProposalEnd, Staff
from tables.models.proposals import CARRIED_OUT
from tables.projections import site_rows
from tables.refusals import Refused
from tables.setup import pit_assignments, policies
from tables.setup.dual_control import BY_THE_CLOCK, HANDLERS, ApprovalHandler, ProposalDraft, handles

MOST_WORDS: Final = 500


# --- Reading ---------------------------------------------------------------------------------------------------


def waiting() -> QuerySet[Proposal]:
    """Open proposals, the oldest first. An expired one stays in the list until the watch records its expiry."""
    ended = ProposalEnd.objects.filter(proposal=OuterRef("pk"))
    rows: QuerySet[Proposal] = Proposal.objects.filter(~Exists(ended)).order_by("number")
    return rows


def waiting_for(viewer: Staff) -> list[Proposal]:
    """The proposals that a person may approve or decline."""
    return [row for row in waiting() if second_stage(row).is_open_to(viewer, proposer(row))]


def to_come(about: str | None = None) -> list[Proposal]:
    """Approved or decided changes that wait for their effective time or a shoe, the earliest first; all, or those of a
    table, chip or person."""
    dated = [name for name, handler in HANDLERS.items() if handler.dates_itself]
    waits = Q(effective__gt=F("end__at")) | Q(after__takes="shoe")
    approved = Proposal.objects.filter(waits, end__outcome__in=CARRIED_OUT).exclude(matter__in=dated)
    if about is not None:
        approved = approved.filter(about=about)
    rows = list(approved.select_related("end").order_by("effective", "number"))
    settled = _settled(rows) if rows else {}
    return [row for row in rows if row.number not in settled]


def next_changes(about: str) -> list[Proposal]:
    """The next changes of a table, chip or person: approved, or waiting for a second person."""
    return to_come(about) + [row for row in waiting().filter(about=about) if row.matter != "call_off"]


def _settled(rows: list[Proposal]) -> dict[int, LogEntry]:
    """The entry that settled each approved proposal, by number: in force, called off or lapsed."""
    numbers = {key_of(row.number): row.number for row in rows}
    entries = LogEntry.objects.of_site().filter(key__in=numbers)
    return {numbers[entry.key]: entry for entry in entries if entry.key is not None}


_KEYS: Final = UUID("4d1f6f3e-7c1b-5c58-9a53-0c2b7a1f3e77")
"""The namespace of the keys of settling entries."""


def key_of(number: int) -> UUID:
    """The key of the entry that settles a proposal. A log accepts a key once."""
    return uuid5(_KEYS, f"proposal {number}")


def is_to_come(proposal: Proposal, moment: datetime) -> bool:
    """Whether a change approved at ``moment`` waits for its effective time or a shoe."""
    waits = proposal.waits_for_shoe or _is_early(proposal, moment)
    return waits and not HANDLERS[proposal.matter].dates_itself


def _is_early(proposal: Proposal, moment: datetime) -> bool:
    return proposal.effective is not None and proposal.effective > moment


def may_propose(matter: str, by: Staff) -> bool:
    handler = HANDLERS[matter]
    return any(by.has_perm(permission) for permission in (handler.permission, *handler.may_propose))


# --- Proposing -------------------------------------------------------------------------------------------------


def propose(draft: ProposalDraft, comment: str, *, by: Staff) -> Proposal:
    """Propose a change to a second person. Raises Refused."""
    if not may_propose(draft.matter, by):
        raise Refused("not_permitted", "You may not propose that.", 403)
    if not draft.after:
        raise Refused("nothing_changes", "Nothing would be changed by that.", 422)
    with transaction.atomic():
        head = site_log.lock()
        _refuse_other_pits(draft, by)
        if draft.effective and (sentence := effective_fault(draft.effective, head.moment)):
            raise Refused("bad_moment", sentence, 422)
        _refuse_second(draft)
        event = Proposed(
            number=Proposal.objects.count() + 1,
            **by.signatory.unbadged,
            matter=draft.matter,
            about=draft.about,
            before=builtins(draft.before),
            after=builtins(draft.after),
            comment=words(comment),
            effective=policies.spelled(draft.effective) if draft.effective else None,
            expires=policies.spelled(head.moment + lifetime(head.moment)),
        )
        return site_rows.PROPOSALS.append(head, event, by.signature)


def decide(draft: ProposalDraft, comment: str, *, by: Staff) -> Proposal:
    """Decide a dated change, or one for the next shoe, that is not under dual control. Raises Refused."""
    by.require(HANDLERS[draft.matter].permission, "You may not decide that: propose it.")
    with transaction.atomic():
        proposal = propose(draft, comment, by=by)
        head = site_log.lock()
        if takes_two(proposal, head.moment):
            raise Refused("second_person", f"{dual_control.title_of(draft.matter)}: that takes two people.", 409)
        if not is_to_come(proposal, head.moment):
            raise Refused("waits_for_nothing", "Say from when it holds; or set it at once.", 422)
        _end(head, proposal, ProposalDecided, by)
    return proposal


def arrange(draft: ProposalDraft, comment: str, *, by: Staff) -> Proposal:
    """Propose a change under dual control; decide any other, to wait for its effective time. Raises Refused."""
    with transaction.atomic():
        enters = propose if takes_two(draft, site_log.lock().moment) else decide
        return enters(draft, comment, by=by)


def _refuse_other_pits(proposal: Proposal | ProposalDraft, by: Staff) -> None:
    pit_assignments.refuse_any(by, HANDLERS[proposal.matter].of_tables(proposal))


def takes_two(proposal: Proposal | ProposalDraft, moment: datetime) -> bool:
    """Whether a change is under dual control, by the policies in force at a moment."""
    asks = HANDLERS[proposal.matter].takes_two
    return asks is None or asks(proposal, policies.as_entered(moment))


def effective_fault(effective: datetime, moment: datetime) -> str:
    """The fault of an effective time, as a sentence; empty if it is valid."""
    if effective < moment:
        return "A change holds from now on, or from a moment to come: what was is not changed."
    if effective > moment + policies.FURTHEST:
        return f"A change is dated no more than {policies.FURTHEST.days} days ahead."
    return ""


def lifetime(moment: datetime) -> timedelta:
    """The waiting time of a proposal made at a moment, by the policy then in force."""
    return timedelta(hours=int(str(policies.as_entered(moment)["proposal_hours"])))


def _refuse_second(draft: ProposalDraft) -> None:
    """Raises Refused if a proposal about the same item waits: approving one would make the other stale."""
    rival = waiting().filter(matter=draft.matter, about=draft.about).first()
    if rival is not None:
        sentence = f"{rival} waits already, by {rival.by}: decline or withdraw it first."
        raise Refused("proposed_already", sentence, 409, proposal=rival.number)


def words(text: str) -> str:
    """A comment in its stored form. Raises Refused if it is too long."""
    text = " ".join(text.split())
    if len(text) > MOST_WORDS:
        raise Refused("too_long", f"Say it in {MOST_WORDS} characters.", 422)
    return text


# --- Ending ----------------------------------------------------------------------------------------------------


def approve(proposal: Proposal, *, by: Staff) -> ProposalEnd:
    """Give the second signature and make the change. Raises Refused; the proposal then waits as before."""
    with _waiting(proposal) as head:
        _refuse_approver(proposal, by)
        if sentence := stale(proposal):
            raise Refused("stale", sentence, 409)
        end = _end(head, proposal, ProposalApproved, by)
        if not is_to_come(proposal, head.moment):
            HANDLERS[proposal.matter].apply(proposal, by)
    return end


def decline(proposal: Proposal, reason: str, *, by: Staff) -> ProposalEnd:
    """Decline a proposal as the second person, with a reason. Raises Refused."""
    with _waiting(proposal) as head:
        _refuse_approver(proposal, by)
        return _end(head, proposal, ProposalDeclined, by, text=_reason(reason))


def withdraw(proposal: Proposal, reason: str, *, by: Staff) -> ProposalEnd:
    """Withdraw one's own proposal, with a reason. Raises Refused."""
    with _waiting(proposal) as head:
        if proposal.proposed_by != by.username:
            raise Refused("not_permitted", f"Only {proposal.by} withdraws it: decline it.", 403)
        return _end(head, proposal, ProposalWithdrawn, by, text=_reason(reason))


def comment(proposal: Proposal, text: str, *, by: Staff) -> None:
    """Comment on an open proposal that the author may see. Raises Refused."""
    if not (by.has_perm("tables.view_proposal") or may_propose(proposal.matter, by)):
        raise Refused("not_permitted", "You may not see that proposal.", 403)
    if not text.strip():
        raise Refused("no_words", "Say something, in a few words.", 422)
    with _waiting(proposal) as head:
        event = ProposalCommented(number=proposal.number, **by.signatory.unbadged, text=words(text))
        log.append(head, Entry.of(event, by.signature))


@contextmanager
def _waiting(proposal: Proposal) -> Iterator[Head]:
    """A transaction under the lock of the site's log, for an open proposal. Raises Refused if it has ended."""
    with transaction.atomic():
        head = site_log.lock()
        end = ProposalEnd.objects.filter(proposal=proposal).first()
        if end is not None:
            raise Refused("ended_already", f"{proposal} was {end.outcome} by {end.by} already.", 409)
        if proposal.expires <= head.moment:
            raise Refused("expired", f"{proposal} has expired: propose it anew.", 409)
        yield head


def comments(proposal: Proposal) -> list[LogEntry]:
    """The entries of the comments on a proposal, in order, between its first entry and the entry that ended it."""
    rows = LogEntry.objects.of_site().filter(
        subject=ProposalCommented.subject, kind=ProposalCommented.kinds[0], seq__gt=proposal.seq
    )
    end = getattr(proposal, "end", None)
    rows = rows.filter(seq__lt=end.seq) if end else rows
    return [row for row in rows.order_by("seq") if row.content["number"] == proposal.number]


def expire_due() -> int:
    """Record the expiry of proposals past their time. Returns their number."""
    if not waiting().exists():
        return 0
    with transaction.atomic():
        head = site_log.lock()
        due = list(waiting().filter(expires__lte=head.moment))
        for proposal in due:
            _end(head, proposal, ProposalExpired)
            # Each entry moves the head of the log; the next one needs the new head.
            head = site_log.lock()
    return len(due)


def _end(
    head: Head, proposal: Proposal, kind: type[AboutProposal], by: Staff | None = None, **adds: str
) -> ProposalEnd:
    author: dict[str, Any] = by.signatory.unbadged if by else {}
    event = kind(number=proposal.number, **author | adds)
    signature = by.signature if by else BY_THE_CLOCK
    entry = log.append(head, Entry.of(event, signature))
    end = ProposalEnd(
        proposal=proposal,
        seq=entry.seq,
        outcome=event.kind,
        proposed_by=proposal.proposed_by,
        ended_by=by.username if by else "",
        text=getattr(event, "text", ""),
        by=signature,
        at=head.moment,
    )
    end.save()
    return end


def _reason(reason: str) -> str:
    if not (text := words(reason)):
        raise Refused("no_reason", "Say why in a few words.", 422)
    return text


def second_stage(proposal: Proposal) -> SigningStage:
    """The second signature on a proposal: its permission, and refusals for the proposer."""
    return SigningStage(
        may=signing.with_permission(HANDLERS[proposal.matter].permission),
        refusal="Only an operator approves what was proposed.",
        action="approve it",
        did="proposed it",
        to="approve it",
        code="not_permitted",
    )


def _refuse_approver(proposal: Proposal, by: Staff) -> None:
    second_stage(proposal).refuse(by, proposer(proposal))
    _refuse_other_pits(proposal, by)


def proposer(proposal: Proposal) -> Signatory:
    """The proposer as a signatory."""
    return with_badge_from(proposal.by, proposal.proposed_by, proposal.by.partition(" ")[2])


# --- When its moment comes -------------------------------------------------------------------------------------


def bring_into_force() -> int:
    """Make the approved changes with an effective time that has come. Returns the number of proposals settled.

    A change that has to wait for the end of a round is retried for as long as a proposal may wait; one for the next
    shoe, until there is one. A change that is stale by now, or waited too long, lapses with an alert.
    """
    return sum(_settle(row.number) for row in to_come() if not _is_early(row, timezone.now()))


def with_the_shoe(table: str) -> bool:
    """Make the changes approved for the next shoe of this table. Returns whether any entry was written.

    A failure never prevents the end of the shoe: the worker tries again.
    """
    with suppress(WrongClock, DatabaseError):
        due = [row for row in to_come(table) if row.waits_for_shoe and not _is_early(row, timezone.now())]
        return sum(_settle(row.number) for row in due) > 0
    return False


def _settle(number: int) -> bool:
    with transaction.atomic():
        head = site_log.lock()
        proposal = Proposal.objects.select_related("end").get(number=number)
        # Checked again under the lock: another worker may have settled it since the list was read.
        if _settled([proposal]) or _is_early(proposal, head.moment):
            return False
        sentence = stale(proposal) or _missing_person(proposal, head.moment)
        if not sentence:
            try:
                # A savepoint: a refused change takes its entry back with it, and the lapse can still be recorded.
                with transaction.atomic():
                    _enter(site_log.lock(), ProposalInForce(number=number))
                    HANDLERS[proposal.matter].apply(proposal, _approver(proposal))
                return True
            except Refused as refused:
                if proposal.waits_for_shoe or head.moment < due_since(proposal) + lifetime(head.moment):
                    return False
                sentence = refused.sentence
        _enter(site_log.lock(), ProposalLapsed(number=number, text=sentence[:MOST_WORDS]))
        message = f"{proposal}, {title_of_proposal(proposal)}, was approved and does not come into force: {sentence}"
        alerts.raise_alert(cage.open_house(), "proposal_lapsed", message, {"proposal": number})
    return True


def _missing_person(proposal: Proposal, moment: datetime) -> str:
    """The reason why a change that one person decided needs a second person by now; empty if it does not."""
    if proposal.end.outcome != "decided" or not takes_two(proposal, moment):
        return ""
    return "It takes two people by now, and one decided it: propose it anew."


def due_since(proposal: Proposal) -> datetime:
    """The time of approval or the effective time, the later one: from then on only a hindrance delays the change."""
    approved: datetime = proposal.end.at
    return max(approved, proposal.effective or approved)


def _enter(head: Head, event: ProposalInForce | ProposalLapsed | ProposalCalledOff, by: str = BY_THE_CLOCK) -> None:
    log.append(head, Entry.of(event, by, key=key_of(event.number)))


def _approver(proposal: Proposal) -> Staff:
    """The last signer, with the role of that time: a decision remains valid after its author has left."""
    end = proposal.end
    approved = LogEntry.objects.of_site().get(seq=end.seq)
    approver = copy.copy(Staff.objects.get(username=end.ended_by))
    approver.role, approver.is_active, approver.as_of = approved.content["role"], True, end.at
    return approver


def draft_of_calling_off(proposal: Proposal) -> ProposalDraft:
    """The proposal to call off a change that two people approved. Raises Refused."""
    _refuse_settled(proposal)
    return ProposalDraft("call_off", str(proposal.number), {}, {"called_off": proposal.number})


def call_off(proposal: Proposal, reason: str, *, by: Staff) -> None:
    """Call off a change that one person decided. Raises Refused."""
    by.require(HANDLERS[proposal.matter].permission, "You may not call that off.")
    with transaction.atomic():
        head = site_log.lock()
        _refuse_settled(proposal)
        if proposal.end.outcome != "decided":
            raise Refused("second_person", "Two people approved it: propose to call it off.", 409)
        _enter(head, ProposalCalledOff(number=proposal.number, text=_reason(reason)), by.signature)


def _refuse_settled(proposal: Proposal) -> None:
    if proposal not in to_come():
        sentence = f"{proposal} does not wait for its moment: it is in force, was called off, or was never approved."
        raise Refused("not_to_come", sentence, 409)


def _call_off(proposal: Any, by: Staff) -> None:
    target = Proposal.objects.get(number=int(proposal.about))
    head = site_log.lock()
    _refuse_settled(target)
    _enter(head, ProposalCalledOff(number=target.number, proposal=proposal.number), by.signature)


handles("call_off", matter=ApprovalHandler(lambda rows: [{} for _ in rows], _call_off, "tables.add_houseterms"))


# --- Whether it still fits -------------------------------------------------------------------------------------


def stale(proposal: Proposal) -> str:
    """The settings changed since the proposal that it would change too, as a sentence; empty if there are none."""
    return stale_all([proposal])[proposal.number]


def stale_all(rows: Iterable[Proposal]) -> dict[int, str]:
    """The staleness of several proposals, by number, with as many queries per matter as for one."""
    return {
        row.number: _stale(row, builtins(present))
        for matter, group in _by_matter(rows).items()
        for row, present in zip(group, HANDLERS[matter].present_values(group), strict=True)
    }


def _by_matter(rows: Iterable[Proposal]) -> dict[str, list[Proposal]]:
    groups: dict[str, list[Proposal]] = {}
    for row in rows:
        groups.setdefault(row.matter, []).append(row)
    return groups


def _stale(proposal: Proposal, present: Mapping[str, Any]) -> str:
    changed = [name for name, value in proposal.before.items() if present.get(name) != value]
    if not changed:
        return ""
    parts = [f"{_label(name)} is {spelled(name, present.get(name))} now" for name in changed]
    return f"Meanwhile it was changed by somebody else: {', '.join(parts)}. Decline this, and propose it anew."


def title_of_proposal(proposal: Proposal) -> str:
    """The matter of a proposal, and its subject."""
    return f"{dual_control.title_of(proposal.matter)}{f', {about_of(proposal)}' if proposal.about else ''}"


def entered(proposal: Proposal) -> str:
    """The state of a change that was just entered, as a sentence."""
    if not hasattr(proposal, "end"):
        return f"{proposal} waits for a second operator."
    return f"{proposal} is decided: it holds {holds_from(proposal)}."


def status(proposal: Proposal) -> str:
    """The state of a proposal: waiting, or its outcome with time, author and reason."""
    return statuses([proposal])[proposal.number]


def statuses(rows: Sequence[Proposal]) -> dict[int, str]:
    """The states of several proposals, by number, with as many queries per matter as for one."""
    texts = {row.number: _outcome(row) for row in rows}
    later = [row for row in rows if _waits_for_later(row)]
    settled, moment = _settled(later) if later else {}, timezone.now()
    due = [row for row in later if row.number not in settled and not _is_early(row, moment)]
    hindrances = _hindrances(due)
    for row in later:
        if entry := settled.get(row.number):
            texts[row.number] += f"; {_settlement(entry)}"
        elif row.number in hindrances:
            waits_for = hindrances[row.number] or "The next minute brings it into force."
            texts[row.number] += f"; due since {_clock(due_since(row))}. {waits_for}"
        else:
            texts[row.number] += f"; holds {holds_from(row)}"
    return texts


def _outcome(proposal: Proposal) -> str:
    end = getattr(proposal, "end", None)
    if end is None:
        return f"Waits for a second person until {_clock(proposal.expires)}"
    remark = f": {end.text}" if end.text else ""
    return f"{end.outcome.capitalize()} by {end.by}, {_clock(end.at)}{remark}"


def _waits_for_later(proposal: Proposal) -> bool:
    end = getattr(proposal, "end", None)
    return end is not None and end.outcome in CARRIED_OUT and is_to_come(proposal, end.at)


def _settlement(entry: LogEntry) -> str:
    became = {"came_into_force": "in force since", "called_off": "called off", "lapsed": "lapsed"}[entry.kind]
    text = entry.content.get("text")
    return f"{became} {_clock(entry.at)}{f': {text}' if text else ''}"


def _hindrances(rows: Iterable[Proposal]) -> dict[int, str]:
    """The hindrance of each change that is due, by number; empty if there is none."""
    hindrances: dict[int, str] = {}
    for matter, group in _by_matter(rows).items():
        judge = HANDLERS[matter].hindrances
        sentences = judge(group) if judge else [""] * len(group)
        hindrances |= {row.number: sentence for row, sentence in zip(group, sentences, strict=True)}
    return hindrances


def holds_from(proposal: Proposal) -> str:
    """The effective time, as a phrase."""
    moment = f"from {_clock(proposal.effective)}" if proposal.effective else ""
    shoe = "with the next shoe" if proposal.waits_for_shoe else ""
    return ", ".join(filter(None, (moment, shoe))) or "when it is approved"


def _clock(moment: datetime) -> str:
    return f"{timezone.localtime(moment):%Y-%m-%d %H:%M}"


def about_of(proposal: Proposal) -> str:
    """The table, chip, person or profile of a proposal."""
    if proposal.matter == "call_off":
        return f"proposal {proposal.about}"
    return spelled("value_cents", int(proposal.about)) if proposal.matter == "chips" else proposal.about


def changes(proposal: Proposal) -> list[tuple[str, str, str]]:
    """Label, old and new value of each changed setting; of a game's options, only those that differ."""
    before, after = _flat(proposal.before), _flat(proposal.after)
    if proposal.matter == dual_control.PLAN:  # a version has all of a plan: what it lacks, it removes
        after |= dict.fromkeys(sorted(before.keys() - after.keys()))
    changed = {name: value for name, value in after.items() if before.get(name) != value}
    return [(_label(name), spelled(name, before.get(name)), spelled(name, value)) for name, value in changed.items()]


_NAMES: Final = {
    "cap_cents": "Cap on all bets together",
    "unit_cents": "Smallest chip", "bet_step_cents": "Bet step",
    "player_edges": "What the player wins on average",
    "rake_permille": "Rake", "rake_cap_cents": "Most rake of one pot", "time_charge_cents": "Time charge",
    "is_active": "Works here", "value_cents": "Worth", "denominations": "Chips", "sha256": "Digest",
    "scope": "Is for", "of": "Which", "schedule": "When", "note": "Why",
    "takes": "Holds from the next", "keeps_seated": "Seats that play keep the old minimum", "version": "Version",
    "excluded": "Not at",
}  # fmt: skip


def _label(name: str) -> str:
    title = AMOUNTS.get(name) or title_of(name)
    return _NAMES.get(name) or title[:1].upper() + title[1:]


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with the options of a game and the limits of a plan as settings of their own."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        flat |= value if name in ("options", "values") and isinstance(value, dict) else {name: value}
    return flat


def spelled(name: str, value: Any) -> str:
    """The value of any setting as text."""
    if value is None or value in ("", [], {}):
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name.endswith("_permille"):
        return f"{value / 10:g} %"
    if name == "schedule" and isinstance(value, dict):
        return text_of(msgspec.convert(value, Schedule).description())
    if name.startswith(WAGER) and isinstance(value, list):
        return " to ".join(map(money, value))
    if name in ("tables", "excluded"):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return "; ".join(f"{key.replace('_', ' ')} {spelled(key, part)}" for key, part in value.items())
    if name == "denominations" or (name.endswith("_cents") and isinstance(value, int)):
        return ", ".join(map(money, value)) if isinstance(value, list) else money(value)
    return text_of(described(name, value)).replace("_", " ")
