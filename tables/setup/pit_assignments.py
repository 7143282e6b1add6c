"""Pit assignments: those that an operator sets from a moment on, and temporary ones that a pit boss takes.

Rows are only added, each with its entry. ``tables/log/pit_assignments.py`` has the rule; this module reads the rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from ledger import clock_corrections, site_log
from ledger.models import LogEntry
from ledger.proof.chain import Entry as Chained
from ledger.proof.chain import Head
from tables.log import dual_control
from tables.log.catalog import read, read_as
from tables.log.entries.pits import PitSectionSet
from tables.log.entries.posts import CoverSet, PostSet, Stand
from tables.log.entries.staff import StaffChanged
from tables.log.event import Unreadable
from tables.log.pit_assignments import LONGEST_COVER, Cover, Duty, Posts, duty
from tables.log.pit_assignments import Post as Held
from tables.models import PitCover, Post, Staff
from tables.projections import site_rows
from tables.refusals import Faults, Refused, refuse_faults
from tables.roles import Role
from tables.setup import pits, policies
from tables.setup.dual_control import ApprovalHandler, ApprovedProposal, ProposalDraft, handles, refuse_alone

RUNS: Final = "tables.run_floor"
SETS: Final = "tables.add_post"
REQUIRED: Final = "post_required"
"""Policy: a pit boss without an assignment may not act at any table."""
LONGEST_REASON: Final = 200
YOURS: Final = "Your pits"
"""Heading of the user's own pits in lists of pits."""


# --- In force --------------------------------------------------------------------------------------------------


def duty_of(person: Staff, moment: datetime | None = None) -> Duty:
    """The pits of a pit boss now, or at a moment."""
    return duties([person.username], moment)[person.username]


def duties(usernames: Collection[str], moment: datetime | None = None) -> dict[str, Duty]:
    """The pits of several pit bosses now, or at a moment, by user name, in two queries."""
    moment = moment or timezone.now()
    required = bool(policies.in_force(REQUIRED, moment))
    rows = newest(usernames, moment)
    covers: dict[str, list[Cover]] = {}
    for cover in covers_near(moment).filter(username__in=usernames):
        covers.setdefault(cover.username, []).append(Cover(cover.at, cover.seq, cover.pit, cover.until))
    return {name: duty(_post_of(rows.get(name)), covers.get(name, ()), moment, required=required) for name in usernames}


def _post_of(row: Post | None) -> Held | None:
    return Held(row.effective, row.seq, frozenset(row.pits), row.whole_floor) if row else None


def newest(usernames: Collection[str], moment: datetime) -> dict[str, Post]:
    """The posts that hold at a moment, by user name."""
    rows = Post.objects.filter(username__in=usernames, effective__lte=moment)
    return {row.username: row for row in rows.order_by("username", "-effective", "-seq").distinct("username")}


def covers_near(moment: datetime) -> Any:
    """The covers that may still last at a moment, in the order in which they were entered."""
    return PitCover.objects.filter(at__lte=moment, at__gt=moment - LONGEST_COVER).order_by("seq")


def refuse(person: Staff, table: str, moment: datetime | None = None) -> None:
    """Raises Refused where a pit boss is not assigned to the pit of a table. Other roles are not restricted.

    ``moment`` is the time of the entry that will record the action, so that a proof decides by the same assignments.
    """
    refuse_any(person, [table], moment)


def refuse_any(person: Staff, tables: Iterable[str], moment: datetime | None = None) -> None:
    """Raises Refused where a pit boss is not assigned to the pit of one of several tables."""
    if not person.has_perm(RUNS) or (duty := duty_of(person, moment)).whole_floor:
        return
    # Of one moment for all tables, so that one decision rests on one set of assignments.
    places = {name: row.pit for row in pits.sections(moment=moment) for name in row.tables}
    for table in sorted(tables, key=pits.natural):
        pit = places.get(table, "")
        if not duty.runs(pit):
            raise Refused("not_your_pit", not_yours(person, table, pit, duty), 403, pit=pit)


def not_yours(person: Staff, table: str, pit: str, duty: Duty) -> str:
    """The refusal of a pit boss at a table of another pit: the reason, the pit bosses assigned, and the remedy."""
    own = f"runs {_listed(duty.pits)}" if duty.pits else "has no post"
    present = runners_of(pit)
    verb = "runs" if len(present) == 1 else "run"
    runners = f"{_listed(present)} {verb} it" if present else "nobody has it as a post"
    sentence = f"{table} stands in {pit}: {person.name} {own}, and {runners}."
    return f"{sentence} Take {pit} over on the floor's page to act there."


def _listed(names: Iterable[str]) -> str:
    ordered = sorted(names, key=pits.natural)
    return f"{', '.join(ordered[:-1])} and {ordered[-1]}" if len(ordered) > 1 else "".join(ordered)


def runners_of(pit: str) -> list[str]:
    """The names of the active pit bosses with an assignment, also a temporary one, to a pit."""
    people = runners()
    all_duties = duties([person.username for person in people])
    return [person.name for person in people if pit in all_duties[person.username].pits]


def own(person: Staff) -> Duty | None:
    """The pits of a pit boss now; None for other roles."""
    return duty_of(person) if person.has_perm(RUNS) else None


def in_words(person: Staff) -> str:
    """The pits of a pit boss now, for a screen; empty for other roles."""
    duty = own(person)
    if duty is None or duty.whole_floor:
        return "the whole floor" if duty else ""
    return _listed(duty.pits) or "no pit"


def bounds(person: Staff) -> frozenset[str]:
    """The pits that screens show first; empty where no pit comes first."""
    duty = own(person)
    return frozenset() if duty is None or duty.whole_floor else duty.pits


@dataclass(frozen=True, slots=True)
class Runner:
    """A pit boss and their assignments."""

    person: Staff
    duty: Duty
    post: Post | None
    covers: Mapping[str, tuple[datetime, str]]
    """Temporary assignments: each pit with its end and reason."""
    to_come: Post | None = None
    """The assignment that takes effect next."""


def everyone(moment: datetime | None = None) -> list[Runner]:
    """Everybody who works here and runs the floor, in the same queries however many there are."""
    moment, people = moment or timezone.now(), runners()
    usernames = [person.username for person in people]
    all_duties, rows = duties(usernames, moment), newest(usernames, moment)
    lasting = {(row.username, row.pit): row for row in covers_near(moment).filter(username__in=usernames)}
    following = Post.objects.filter(username__in=usernames, effective__gt=moment).order_by("-effective", "-seq")
    to_come = {row.username: row for row in following}
    return [
        Runner(
            person,
            all_duties[person.username],
            rows.get(person.username),
            {
                pit: (row.until, row.reason)
                for (username, pit), row in lasting.items()
                if username == person.username and row.until > moment
            },
            to_come.get(person.username),
        )
        for person in people
    ]


def runners() -> list[Staff]:
    """Everybody who works here and runs the floor in one of their roles."""
    people = Staff.objects.filter(is_active=True).order_by("name")
    return [person for person in people if Role.PIT_BOSS in person.roles]


# --- Posts, set by an operator ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AssignmentChange:
    """The new assignment of a pit boss: pits, or the whole floor."""

    username: str
    pits: tuple[str, ...] = ()
    whole_floor: bool = False

    def facts(self) -> dict[str, Any]:
        return {"pits": list(self.pits), "whole_floor": self.whole_floor}


def set_post(
    post: AssignmentChange,
    *,
    by: Staff,
    basis_seq: int | None = None,
    effective: datetime | None = None,
    proposal: int | None = None,
) -> Post | None:
    """Assign pits to a pit boss, at once or from a moment on; None where nothing changes. Raises Refused.

    ``basis_seq`` is the entry of the assignment that the operator looked at, 0 for none.
    """
    by.require(SETS, "Only an operator says who runs which pit.")
    with transaction.atomic():
        head = site_log.lock()
        refuse_faults("bad_post", faults(post, effective, head.moment))
        # Optimistic locking: the operator must not overwrite an assignment that another one has set since.
        if basis_seq is not None:
            _refuse_changed(post.username, basis_seq)
        current = _facts(post.username, effective or head.moment)
        if current == post.facts() and not _to_come(post.username, head.moment):
            return None
        matter = dual_control.of_post(current, post.facts())
        # By the policies as entered, read under the lock: the cache may lack a change to dual control of a second ago.
        refuse_alone(matter, policies.as_entered(head.moment), proposal)
        person = Staff.objects.get(username=post.username)
        return _write(head, post, person, effective or head.moment, proposal=proposal, by=by)


def _write(
    head: Head, post: AssignmentChange, person: Staff, effective: datetime, *, proposal: int | None, by: Staff
) -> Post:
    # The entry carries the places of the tables as well, so a proof needs no rows to tell who ran which table.
    event = PostSet(
        username=person.username,
        name=person.name,
        badge=person.badge,
        pits=post.pits,
        whole_floor=post.whole_floor,
        effective=policies.spelled(effective),
        floor=stands(),
        proposal=proposal,
    )
    return site_rows.PIT_ASSIGNMENTS.append(head, event, by.signature)


def stands() -> tuple[Stand, ...]:
    """The tables of each section, as an entry records them."""
    return tuple(Stand(row.pit, row.section, tuple(row.tables)) for row in pits.sections())


def stood(before_seq: int) -> tuple[Stand, ...]:
    """The sections of all pits before an entry of the site's log.

    They are read from the log only: the rows may have been tampered with, and have a check of their own.
    """
    entries = LogEntry.objects.of_site().filter(subject=PitSectionSet.subject, kind=PitSectionSet.kinds[0])
    bodies = entries.filter(seq__lt=before_seq).order_by("seq").values_list("body", flat=True)
    events = [read_as(PitSectionSet, body) for body in bodies]
    newest_events = {(event.pit, event.section): event for event in events}
    current = [Stand(event.pit, event.section, event.tables) for event in newest_events.values() if event.tables]
    return tuple(sorted(current, key=lambda stand: (pits.natural(stand.pit), pits.natural(stand.section))))


def _refuse_changed(username: str, basis_seq: int) -> None:
    row = Post.objects.filter(username=username).order_by("-seq").first()
    if row is not None and row.seq != basis_seq:
        sentence = f"{row.by} set {username}'s post meanwhile: look at what stands now, then save again."
        raise Refused("changed_meanwhile", sentence, 409, seen=row.seq)


def _facts(username: str, moment: datetime) -> dict[str, Any]:
    """The assignment in effect at a moment, as fields; empty for a person without one."""
    return _facts_of(newest([username], moment).get(username))


def _facts_of(row: Post | None) -> dict[str, Any]:
    return facts_of(row) if row and (row.pits or row.whole_floor) else _NONE


def facts_of(row: Post) -> dict[str, Any]:
    """The fields of a row, as a proposal has them."""
    return {"pits": list(row.pits), "whole_floor": row.whole_floor}


def _to_come(username: str, moment: datetime) -> bool:
    return Post.objects.filter(username=username, effective__gt=moment).exists()


def faults(post: AssignmentChange, effective: datetime | None, moment: datetime) -> Faults:
    """The faults of an assignment to be set, by field."""
    wrong: Faults = {}
    person = Staff.objects.filter(username=post.username).first()
    if person is None or Role.PIT_BOSS not in person.roles or not person.is_active:
        wrong["username"] = f"{post.username or 'Nobody'} runs no floor here: name an active pit boss by user name."
    names = {row.pit for row in pits.sections()}
    if strangers := sorted(set(post.pits) - names):
        present = f"there is {_listed(names)}" if names else "say first which tables stand in it"
        wrong["pits"] = f"There is no pit {strangers[0]}: {present}."
    elif len(set(post.pits)) < len(post.pits):
        wrong["pits"] = "Name a pit once."
    elif post.pits and post.whole_floor:
        wrong["pits"] = "Choose either pits or the whole floor."
    if effective is not None and not moment <= effective <= moment + policies.FURTHEST:
        days = policies.FURTHEST.days
        wrong["effective"] = f"A post holds from now on, or from a moment within {days} days: what was is not changed."
    return wrong


def entry_fault(event: PostSet, entry: Chained) -> str:
    """Why an entry of an assignment is invalid; empty if it is valid."""
    names, effective = {stand.pit for stand in event.floor}, datetime.fromisoformat(event.effective)
    if strangers := sorted(set(event.pits) - names):
        return f"there was no pit {strangers[0]}"
    if len(set(event.pits)) < len(event.pits) or (event.pits and event.whole_floor):
        return "it names a pit twice, or one beside the whole floor"
    if entry.at is None or clock_corrections.of(entry.book_id, entry.seq, entry.seq):
        return ""
    return "" if entry.at <= effective <= entry.at + policies.FURTHEST else "it holds from a moment that was over"


def before(event: PostSet, entry: Chained) -> dict[str, Any]:
    """The assignment in effect at the time of a new one, before its entry."""
    rows = Post.objects.filter(username=event.username, effective__lte=event.effective, seq__lt=entry.seq)
    return _facts_of(rows.order_by("-effective", "-seq").first())


_NONE: Final[dict[str, Any]] = {"pits": [], "whole_floor": False}


# --- By two people ---------------------------------------------------------------------------------------------


def draft(post: AssignmentChange, effective: datetime | None = None) -> ProposalDraft | None:
    """The proposal of an assignment under dual control; None where one person may set it. Raises Refused."""
    moment = timezone.now()
    refuse_faults("bad_post", faults(post, effective, moment))
    current = _facts(post.username, effective or moment)
    matter = dual_control.of_post(current, post.facts())
    if matter is None or not dual_control.needed(matter, policies.as_entered(moment)):
        return None
    return ProposalDraft(matter, post.username, current, post.facts(), effective)


def _present_values(proposals: Sequence[ApprovedProposal]) -> list[Mapping[str, Any]]:
    rows, moment = Post.objects.filter(username__in=[proposal.about for proposal in proposals]), timezone.now()
    posts: dict[str, list[Post]] = {}
    for row in rows.order_by("effective", "seq"):
        posts.setdefault(row.username, []).append(row)
    moments = [proposal.effective or moment for proposal in proposals]
    return [
        _facts_of(next((row for row in reversed(posts.get(proposal.about, ())) if row.effective <= holds_at), None))
        for proposal, holds_at in zip(proposals, moments, strict=True)
    ]


def _apply(proposal: ApprovedProposal, by: Staff) -> None:
    effective = proposal.effective if proposal.effective and proposal.effective > site_log.lock().moment else None
    post = AssignmentChange(proposal.about, tuple(proposal.after["pits"]), bool(proposal.after["whole_floor"]))
    set_post(post, by=by, effective=effective, proposal=proposal.number)


handles(dual_control.POST, matter=ApprovalHandler(_present_values, _apply, SETS, dates_itself=True))


# --- Temporary assignments -------------------------------------------------------------------------------------


def take_over(pit: str, until: datetime, reason: str, *, by: Staff) -> PitCover:
    """Take over another pit up to a moment, as its temporary pit boss. Raises Refused.

    It takes a reason, but no operator: a floor cannot wait for one.
    """
    _permit_cover(by)
    with transaction.atomic():
        head = site_log.lock()
        reason = " ".join(reason.split())
        refuse_faults("bad_cover", cover_faults(pit, until, reason, head.moment))
        # At the time of the entry under the lock: an assignment set meanwhile may have made it the own pit.
        duty = duty_of(by, head.moment)
        if duty.whole_floor or pit in duty.pits - duty.covered:
            raise Refused("own_pit", f"{by.name} runs {pit} anyway: there is nothing to take over.", 409)
        return _cover(head, pit, until, reason, by)


def give_back(pit: str, *, by: Staff) -> PitCover:
    """End a cover before its time. Raises Refused."""
    _permit_cover(by)
    with transaction.atomic():
        head = site_log.lock()
        if pit not in duty_of(by, head.moment).covered:
            raise Refused("not_covered", f"{by.name} covers no pit {pit} now.", 409)
        # An entry that ends now, and no deletion: who ran the pit until then remains on record.
        return _cover(head, pit, head.moment, "", by)


def _permit_cover(by: Staff) -> None:
    if not (by.is_active and by.has_perm(RUNS)):
        raise Refused("not_permitted", "Only who runs the floor takes over a pit.", 403)


def _cover(head: Head, pit: str, until: datetime, reason: str, by: Staff) -> PitCover:
    event = CoverSet(
        username=by.username,
        name=by.name,
        badge=by.badge,
        role=str(by.role),
        pit=pit,
        until=policies.spelled(until),
        reason=reason,
        floor=stands(),
    )
    return site_rows.PIT_COVERS.append(head, event, by.signature)


def cover_faults(pit: str, until: datetime, reason: str, moment: datetime) -> Faults:
    """The faults of a temporary assignment to be taken, by field."""
    wrong: Faults = {}
    names = {row.pit for row in pits.sections()}
    if pit not in names:
        wrong["pit"] = f"There is no pit {pit}: {f'there is {_listed(names)}' if names else 'the house has none'}."
    if not moment < until <= moment + LONGEST_COVER:
        hours = LONGEST_COVER // timedelta(hours=1)
        sentence = f"A pit is taken over until a moment within {hours} hours; for longer, an operator sets a post."
        wrong["until"] = sentence
    if not reason or len(reason) > LONGEST_REASON or not reason.isprintable():
        wrong["reason"] = f"Say in 1 to {LONGEST_REASON} plain characters why: the operators read it tomorrow."
    return wrong


def cover_entry_fault(event: CoverSet, entry: Chained) -> str:
    """Why an entry of a temporary assignment is invalid; empty if it is valid."""
    if event.pit not in {stand.pit for stand in event.floor}:
        return f"there was no pit {event.pit}"
    if len(event.reason) > LONGEST_REASON or not event.reason.isprintable():
        return "its reason is none that the house takes"
    if entry.at is None or clock_corrections.of(entry.book_id, entry.seq, entry.seq):
        return ""
    lasts = datetime.fromisoformat(event.until) - entry.at
    fits = timedelta(0) < lasts <= LONGEST_COVER if event.reason else not lasts
    return "" if fits else f"it lasts until {event.until}, which is too long, or over"


# --- As the log tells it, for proofs ---------------------------------------------------------------------------

_TELLING: Final[Mapping[str, tuple[str, ...]]] = {
    PostSet.subject: (*PostSet.kinds, *CoverSet.kinds),
    PitSectionSet.subject: PitSectionSet.kinds,
    StaffChanged.subject: StaffChanged.kinds,
}


def history(through_seq: int | None = None) -> Posts:
    """The assignments at every moment, from the site's log only, as of an entry of it."""
    entries = _telling() if through_seq is None else _telling().filter(seq__lte=through_seq)
    newest_entry = entries.order_by("-seq").values_list("book_id", "seq", "hash").first()
    if newest_entry is None or not entries.filter(subject=PostSet.subject).exists():
        return Posts()
    book_id, last_seq, digest = newest_entry
    return _folded(book_id, last_seq, bytes(digest))


def _telling() -> Any:
    subjects = list(_TELLING)
    kinds = [kind for several in _TELLING.values() for kind in several]
    return LogEntry.objects.of_site().filter(subject__in=subjects, kind__in=kinds)


@lru_cache(maxsize=4)
def _folded(book_id: int, last_seq: int, digest: bytes) -> Posts:
    """The assignments after replaying the entries up to ``last_seq``; ``digest``, its hash, makes the cache key unique.

    An invalid entry is ignored here: the verification of the site's log reports it.
    """
    folded = Posts()
    first = LogEntry.objects.filter(book_id=book_id, subject=PostSet.subject).order_by("seq").values_list("seq").first()
    entries = _telling().filter(book_id=book_id, seq__lte=last_seq, seq__gte=first[0] if first else 0)
    for seq, subject, kind, body, moment in entries.order_by("seq").values_list("seq", "subject", "kind", "body", "at"):
        try:
            folded.follow(read(subject, kind, body, house=True), seq, moment)
        except (Unreadable, ValueError):
            continue
    return folded
