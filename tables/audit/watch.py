"""The watch over chips and log: what is held against what, and how often. Each finding opens a discrepancy or an alert.

Expected is what the transfers say since the last recount; counted is what people counted. Rounds are replayed and
their transfers compared by the proof (``proofs.py``); here the house as a whole has to add up.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.conf import settings
from django.db import connection
from django.utils import timezone

from ledger import alerts, clock, discrepancies, inspection, runs, site_log
from ledger.alerts import raise_alert
from ledger.cage import all_books, net_effect
from ledger.clock import WrongClock
from ledger.inspection import inspect_book, inspect_house
from ledger.models import HOUSE, Account, Book
from ledger.proof.chips import CASH_PLACES, CHIP_PLACES
from ledger.runs import WatchPlan
from tables.alerts import overdue
from tables.approvals import proposals
from tables.audit import activity_checks, commitments, day_seals, drill, proofs, protections, schedule_notes, tree_proof
from tables.cage import back_entry
from tables.edge import cached_sheets, shoe_audit
from tables.limits import enforcement
from tables.models import Table
from tables.reports import cash_shifts, keys_and_drops
from tables.setup import service_accounts

PLANS: Final = (
    WatchPlan("recount", "Recounting every place", timedelta(minutes=5)),
    WatchPlan("prove_new", "Proving what is new in every log", timedelta(minutes=5)),
    WatchPlan("seal_days", "Sealing the gaming days that are over", timedelta(minutes=10)),
    WatchPlan("audit_shoes", "Auditing the shoes that were shuffled away", timedelta(minutes=10)),
    WatchPlan("value_games", "Valuing the games that take long", timedelta(minutes=5)),
    WatchPlan("look_after_keys", "Looking for keys, drops and papers of an outage that are late", timedelta(minutes=5)),
    WatchPlan("reconcile", "Holding the whole house's chips and cash together", timedelta(hours=1)),
    WatchPlan("prove_sums", "Adding up every transfer there ever was", timedelta(days=1), timedelta(hours=4)),
    WatchPlan("prove_shoes", "Proving every house shoe", timedelta(days=1), timedelta(hours=4.25)),
    WatchPlan("note_rows", "Noting what the watch has done", timedelta(hours=1)),
    WatchPlan("prove_rows", "Holding every row against the log", timedelta(days=1), timedelta(hours=4.75)),
    WatchPlan("prove_all", "Proving every log from its first entry", timedelta(days=1), timedelta(hours=4.5)),
    WatchPlan(
        "prove_tree", "Holding the tree of the books' heads against the log", timedelta(days=1), timedelta(hours=5)
    ),
    WatchPlan("look_after_drills", "Checking that a backup was restored this week", timedelta(days=1)),
    WatchPlan("look_after_protections", "Checking that every protection is on", timedelta(days=1)),
    overdue.PLAN,
)


def watch() -> list[str]:
    """Do whatever is due; the names of what was done. While the clocks differ, nobody can say what is. What waits at
    the door of the house's book is written first."""
    tasks = []
    try:
        _carry()
        for plan in PLANS:
            if runs.run(plan, DEEDS[plan.task], clock.agreed()):
                tasks.append(plan.task)
        _carry()
    except WrongClock as wrong:
        alerts.about_the_clock(wrong)
    return tasks


def look_after_alerts() -> bool:
    """The piece of it that goes by minutes, by itself: a proof that takes an hour must not keep an alert from being
    escalated. Whether this call did it."""
    try:
        return runs.run(overdue.PLAN, overdue.check_overdue, clock.agreed())
    except WrongClock as wrong:
        alerts.about_the_clock(wrong)
    return False


def bring_into_force() -> int:
    """Each minute, bring into force approved changes that are due, limits that plans set now, and dual control once the
    first table was opened. Nothing is due while a jump of the clock is unexplained."""
    try:
        if not activity_checks.unexplained(clock.agreed()):
            protections.turn_on()
            return proposals.bring_into_force() + enforcement.bring_into_force()
    except WrongClock as wrong:
        alerts.about_the_clock(wrong)
    return 0


def _carry() -> None:
    """Write what waits at the door of the house's book, and which proposals and programs have expired. Under a clock
    that leapt, that book would be dated by it."""
    if not activity_checks.unexplained(clock.agreed()):
        site_log.flush_queue()
        proposals.expire_due()
        service_accounts.note_expired()


# --- Whether anybody watches ------------------------------------------------------------------------------------

_LOOK_SECONDS: Final = 60.0
_GRACE_SECONDS: Final = 180.0
"""A house that opens in the morning has a web process before its worker did what the night left."""


@dataclass(slots=True)
class Lookout:
    """What this process saw of the watch: when it looked last, and since when all it saw was late."""

    looked: float = -math.inf
    late_since: float | None = None


lookout: Final = Lookout()
_STARTED: Final = time.monotonic()


def reason_to_wait() -> str:
    """Why the watch may be late without having stopped; empty if there is no such reason."""
    if runs.under_way(PLANS):  # the first round after the house was closed, or a proof that takes long
        return "A worker is at it"
    if settings.WEB_PROCESS and time.monotonic() - _STARTED < _GRACE_SECONDS:
        return "The house has just been started"
    return ""


def is_kept() -> bool:
    """Whether the watch runs as it should. A worker that is dead cannot say so itself, so the web process looks, once a
    minute at most; what stays late raises an alert, once for all processes, and the pit hears of it."""
    moment = time.monotonic()
    if moment - lookout.looked > _LOOK_SECONDS:
        late = runs.late(PLANS)
        lookout.looked = moment
        lookout.late_since = (lookout.late_since or moment) if late else None
        if lookout.late_since and moment - lookout.late_since >= _GRACE_SECONDS:
            _report(late)
    return lookout.late_since is None


def _report(late: Sequence[WatchPlan]) -> None:
    """One alert for all that is late, named by what is due most often: it says the same for as long as it lasts."""
    says = f"{late[0].says} has stopped: nobody watches. Are the worker and beat running?"
    raise_alert(None, "watch_stopped", says, {"late": [plan.task for plan in late]})


# --- What it does -----------------------------------------------------------------------------------------------


def recount() -> int:
    """Every book's transfers, added up since the last time."""
    return sum(len(inspect_book(book)) for book in all_books()) + len(inspect_house())


def prove_new() -> int:
    """Every round that is new replayed, every new transfer compared, every new link of the chains hashed."""
    return sum(proofs.alert(proofs.verify_new(book), book) is not None for book in proofs.books())


def prove_all() -> int:
    """The same from the first entry on, and every fault counted."""
    return len(proofs.verify_all())


def prove_tree() -> int:
    """Every leaf that witnesses outside were ever shown, against the log as it is now."""
    faults = [report.fault for report in tree_proof.prove_all() if report.fault]
    for fault in faults:
        raise_alert(Book.objects.get(name=HOUSE), "log_broken", f"The log does not hold: {fault}", {"what": fault})
    return len(faults)


def note_rows() -> int:
    """What was run, recounted and proved since the last time, in one entry: none of it can be taken away later."""
    if not activity_checks.unexplained(clock.agreed()):
        schedule_notes.note()  # under a clock that leapt, the house's book would be dated by it
    return 0


def prove_rows() -> int:
    """Every row beside the log is what the log says, and the database is as its migrations make it."""
    return proofs.verify_rows()


def prove_shoes() -> int:
    """Every house shoe was dealt in the order that was committed to before its first card."""
    faults = [(table.book, commitments.fault(table)) for table in Table.objects.select_related("book")]
    return len([inspection.report(book, fault) for book, fault in faults if fault is not None])


def reconcile() -> int:
    """Chips issued are those in the vault, the cage, on their way, in the racks, on the layouts, in play, in pots and
    with the players; cash that came from the players is in boxes or at the bank. The rest is a discrepancy."""
    return _imbalances(by_place())


def prove_sums() -> int:
    """The same over every transfer there ever was, and what the recounts say of each place against it."""
    afresh, recounts = by_place_afresh(), by_place()
    faults = _imbalances(afresh)
    for place, cents in recounts.items():
        if cents != afresh.get(place, 0):
            house, key = Book.objects.get(name=HOUSE), f"recounts:{place}:{timezone.now():%Y-%m-%d}"
            difference = cents - afresh.get(place, 0)
            discrepancies.variance(house, f"the recount of {place}", difference, key=key, involved=(), kept=cents)
            faults += 1
    return faults


def _imbalances(sums: Mapping[str, int]) -> int:
    house, faults = Book.objects.get(name=HOUSE), 0
    for subject, places in (("the chips of the house", CHIP_PLACES), ("the cash of the house", CASH_PLACES)):
        difference = sum(sums.get(place, 0) for place in places)
        if difference:
            key = f"astray:{subject}:{timezone.now():%Y-%m-%d}"
            discrepancies.variance(house, subject, difference, key=key, involved=(), sums=dict(sums))
            faults += 1
    return faults


def by_place() -> Mapping[str, int]:
    """What lies in each kind of place, all books together: the last recounts and what followed them."""
    net, sums = net_effect(all_books()), dict.fromkeys((*CHIP_PLACES, *CASH_PLACES), 0)
    for account, place in Account.objects.values_list("pk", "place"):
        sums[place] += net.get(account, 0)
    return sums


def by_place_afresh() -> Mapping[str, int]:
    """The same from every transfer there ever was, in one pass over them."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT leg.place, sum(leg.cents) FROM ledger_transfer AS t, LATERAL (VALUES"
            " (t.source_place, -t.amount_cents), (t.target_place, t.amount_cents)) AS leg (place, cents)"
            " GROUP BY leg.place"
        )
        return {place: int(cents) for place, cents in cursor.fetchall()}


def look_after_custody() -> int:
    """Keys that are not back, drops that are late, cash that nobody counted at the end of its shift, and an outage
    whose papers are not all entered."""
    moment = clock.agreed()
    return keys_and_drops.check_overdue(moment) + cash_shifts.check_overdue(moment) + back_entry.check_overdue(moment)


DEEDS: Final[Mapping[str, Callable[[], int]]] = {
    "recount": recount,
    "prove_new": prove_new,
    "seal_days": day_seals.seal_days,
    "audit_shoes": shoe_audit.audit_shoes,
    "value_games": cached_sheets.value_games,
    "prove_shoes": prove_shoes,
    "look_after_keys": look_after_custody,
    "reconcile": reconcile,
    "prove_sums": prove_sums,
    "note_rows": note_rows,
    "prove_rows": prove_rows,
    "prove_all": prove_all,
    "prove_tree": prove_tree,
    "look_after_drills": drill.look_after,
    "look_after_protections": protections.look_after,
    overdue.PLAN.task: overdue.check_overdue,
}
