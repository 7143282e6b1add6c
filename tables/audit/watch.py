"""The scheduled checks of chips and log: what is compared, and how often. Each fault opens a discrepancy or an alert.

Expected amounts come from the transfers since the last recount, counted ones from people. Rounds are replayed and their
transfers compared by ``proofs.py``; here the site as a whole has to balance.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.conf import settings
from django.utils import timezone

from ledger import alerts, clock, discrepancies, inspection, runs, site_log
from ledger.alerts import raise_alert
from ledger.cage import all_books, net_effect
from ledger.clock import WrongClock
from ledger.inspection import inspect_book, inspect_house
from ledger.models import Account, Book
from ledger.proof.chips import CASH_PLACES, CHIP_PLACES
from ledger.raw_rows import fetch_rows
from ledger.runs import WatchPlan
from tables.alerts import overdue
from tables.approvals import proposals
from tables.audit import activity_checks, commitments, day_seals, drill, proofs, protections, schedule_notes, tree_proof
from tables.cage import site_back_entry
from tables.edge import cached_sheets, shoe_audit
from tables.limits import enforcement
from tables.models import Table
from tables.reports import cash_shifts, keys_and_drops
from tables.setup import service_accounts


def watch() -> list[str]:
    """Run all checks that are due, and write the queue of the site log before and after. Returns the names of the
    checks run.

    If the clocks differ, it is unknown which checks are due: the remaining ones wait, and an alert is raised. A check
    that fails does not stop the checks after it. Raises an ExceptionGroup of all failures.
    """
    tasks: list[str] = []
    failures: list[Exception] = []
    try:
        _carry()
        for plan, check in CHECKS.items():
            # Read again for each plan: a verification before it may have taken an hour.
            moment = clock.agreed()
            try:
                if runs.run(plan, check, moment):
                    tasks.append(plan.task)
            except WrongClock:
                raise
            except Exception as failure:
                failures.append(failure)
        _carry()
    except WrongClock as wrong:
        alerts.about_the_clock(wrong)
    if failures:
        raise ExceptionGroup("scheduled checks failed", failures)
    return tasks


def look_after_alerts() -> bool:
    """Run the check for overdue alerts, in a task of its own: a verification that takes an hour must not delay an
    escalation. Returns whether this call ran it."""
    try:
        return runs.run(overdue.PLAN, overdue.check_overdue, clock.agreed())
    except WrongClock as wrong:
        alerts.about_the_clock(wrong)
    return False


def bring_into_force() -> int:
    """Bring approved changes, limit plans and dual control into force when due; runs each minute. Returns the number of
    changes.

    Nothing is due while a jump of the clock is unexplained.
    """
    try:
        if not activity_checks.unexplained(clock.agreed()):
            protections.turn_on()
            return proposals.bring_into_force() + enforcement.bring_into_force()
    except WrongClock as wrong:
        alerts.about_the_clock(wrong)
    return 0


def _carry() -> None:
    """Write the queue of the site log, and expire proposals and service accounts; not while a jump of the clock is
    unexplained, which would date the site log."""
    if not activity_checks.unexplained(clock.agreed()):
        site_log.flush_queue()
        proposals.expire_due()
        service_accounts.note_expired()


# --- Whether anybody watches ------------------------------------------------------------------------------------

_LOOK_SECONDS: Final = 60.0
_GRACE_SECONDS: Final = 180.0
"""After a start in the morning, a worker needs this time for the checks that fell due overnight."""


@dataclass(slots=True)
class Lookout:
    """This process's view of the scheduled checks: the time of the last look, and since when checks were late in all
    looks."""

    looked: float = -math.inf
    late_since: float | None = None


lookout: Final = Lookout()
_STARTED: Final = time.monotonic()


def reason_to_wait() -> str:
    """Why checks may be late although workers are running; empty if there is no such reason."""
    if runs.under_way(PLANS):  # the first round after the house was closed, or a proof that takes long
        return "A worker is at it"
    if settings.WEB_PROCESS and time.monotonic() - _STARTED < _GRACE_SECONDS:
        return "The house has just been started"
    return ""


def is_kept() -> bool:
    """Whether the scheduled checks run as they should.

    A dead worker cannot report itself, so web processes look once a minute at most. Checks that stay late raise one
    alert for all processes.
    """
    moment = time.monotonic()
    if moment - lookout.looked > _LOOK_SECONDS:
        late = runs.late(PLANS)
        lookout.looked = moment
        lookout.late_since = (lookout.late_since or moment) if late else None
        if lookout.late_since and moment - lookout.late_since >= _GRACE_SECONDS:
            _report(late)
    return lookout.late_since is None


def _report(late: Sequence[WatchPlan]) -> None:
    """Raise one alert for all late checks, named by the most frequent one, so that its message stays equal while they
    are late."""
    says = f"{late[0].says} has stopped: nobody watches. Are the worker and beat running?"
    raise_alert(None, "watch_stopped", says, {"late": [plan.task for plan in late]})


# --- What it does -----------------------------------------------------------------------------------------------


def recount() -> int:
    """Verify and recount all logs. Returns the number of alerts."""
    return sum(len(inspect_book(book)) for book in all_books()) + len(inspect_house())


def prove_new() -> int:
    """Verify the new entries of each log: chain, rounds and transfers. Returns the number of logs with a fault."""
    return sum(proofs.alert(proofs.verify_new(book), book) is not None for book in proofs.books())


def prove_all() -> int:
    """Verify each log from its first entry. Returns the number of logs with a fault."""
    return len(proofs.verify_all())


def prove_tree() -> int:
    """Verify all leaves that outside witnesses were shown against the present log. Returns the number of faults."""
    faults = [report.fault for report in tree_proof.prove_all() if report.fault]
    for fault in faults:
        raise_alert(Book.objects.site(), "log_broken", f"The log does not hold: {fault}", {"what": fault})
    return len(faults)


def note_rows() -> int:
    """Record the runs, recounts and verifications since the last time in one entry, so that none can be removed
    unnoticed. Returns 0."""
    if not activity_checks.unexplained(clock.agreed()):
        schedule_notes.note()  # under a clock that leapt, the house's book would be dated by it
    return 0


def prove_rows() -> int:
    """Compare all derived rows with the log, and the schema with the migrations. Returns the number of faults."""
    return proofs.verify_rows()


def prove_shoes() -> int:
    """Verify that each electronic shoe was dealt in the order committed to before its first card. Returns the number of
    tables with a fault."""
    faults = [(table.book, commitments.fault(table)) for table in Table.objects.select_related("book")]
    return len([inspection.report(book, fault) for book, fault in faults if fault is not None])


def reconcile() -> int:
    """Check that chips and cash each add up to zero over all places, by the last recounts. Returns the number of
    discrepancies.

    Chips issued are in the vault, the cage, in transit, racks, on layouts, in play, in pots or with players; cash from
    players is in boxes or at the bank.
    """
    return _imbalances(by_place())


def prove_sums() -> int:
    """Check the sums over all transfers ever made, and compare the recounts of each place with them. Returns the number
    of faults."""
    afresh, recounts = by_place_afresh(), by_place()
    faults = _imbalances(afresh)
    for place, cents in recounts.items():
        # A wrong recount would be the start of all later sums, and so make them agree with each other.
        if cents != afresh.get(place, 0):
            house, key = Book.objects.site(), f"recounts:{place}:{timezone.now():%Y-%m-%d}"
            difference = cents - afresh.get(place, 0)
            discrepancies.variance(house, f"the recount of {place}", difference, key=key, involved=(), kept=cents)
            faults += 1
    return faults


def _imbalances(sums: Mapping[str, int]) -> int:
    house, faults = Book.objects.site(), 0
    for subject, places in (("the chips of the house", CHIP_PLACES), ("the cash of the house", CASH_PLACES)):
        difference = sum(sums.get(place, 0) for place in places)
        if difference:
            key = f"astray:{subject}:{timezone.now():%Y-%m-%d}"
            discrepancies.variance(house, subject, difference, key=key, involved=(), sums=dict(sums))
            faults += 1
    return faults


def by_place() -> Mapping[str, int]:
    """The amount in cents in each kind of place over all logs, from the last recounts and the transfers after them."""
    net, sums = net_effect(all_books()), dict.fromkeys((*CHIP_PLACES, *CASH_PLACES), 0)
    for account, place in Account.objects.values_list("pk", "place"):
        sums[place] += net.get(account, 0)
    return sums


def by_place_afresh() -> Mapping[str, int]:
    """The amount in cents in each kind of place, from all transfers ever made, in one pass."""
    rows = fetch_rows(
        "SELECT leg.place, sum(leg.cents) FROM ledger_transfer AS t, LATERAL (VALUES"
        " (t.source_place, -t.amount_cents), (t.target_place, t.amount_cents)) AS leg (place, cents)"
        " GROUP BY leg.place"
    )
    return {place: int(cents) for place, cents in rows}


def look_after_custody() -> int:
    """Check for keys that are not returned, late drops, cash not counted at the end of its shift, and outage forms that
    are not all entered. Returns the number of alerts."""
    moment = clock.agreed()
    checks = (keys_and_drops.check_overdue, cash_shifts.check_overdue, site_back_entry.check_overdue)
    return sum(check(moment) for check in checks)


_FIVE_MINUTES, _HOUR, _DAY = timedelta(minutes=5), timedelta(hours=1), timedelta(days=1)
CHECKS: Final[Mapping[WatchPlan, Callable[[], int]]] = {
    WatchPlan("recount", "Recounting every place", _FIVE_MINUTES): recount,
    WatchPlan("prove_new", "Proving what is new in every log", _FIVE_MINUTES): prove_new,
    WatchPlan("seal_days", "Sealing the gaming days that are over", 2 * _FIVE_MINUTES): day_seals.seal_days,
    **(
        {
            WatchPlan(
                "audit_shoes", "Auditing the shoes that were shuffled away", 2 * _FIVE_MINUTES
            ): shoe_audit.audit_shoes
        }
        if settings.ADVANTAGE_ANALYSIS
        else {}
    ),
    WatchPlan("value_games", "Valuing the games that take long", _FIVE_MINUTES): cached_sheets.value_games,
    WatchPlan(
        "look_after_keys", "Looking for keys, drops and papers of an outage that are late", _FIVE_MINUTES
    ): look_after_custody,
    WatchPlan("reconcile", "Holding the whole house's chips and cash together", _HOUR): reconcile,
    WatchPlan("prove_sums", "Adding up every transfer there ever was", _DAY, timedelta(hours=4)): prove_sums,
    WatchPlan("prove_shoes", "Proving every house shoe", _DAY, timedelta(hours=4.25)): prove_shoes,
    WatchPlan("note_rows", "Noting what the watch has done", _HOUR): note_rows,
    WatchPlan("prove_rows", "Holding every row against the log", _DAY, timedelta(hours=4.75)): prove_rows,
    WatchPlan("prove_all", "Proving every log from its first entry", _DAY, timedelta(hours=4.5)): prove_all,
    WatchPlan(
        "prove_tree", "Holding the tree of the books' heads against the log", _DAY, timedelta(hours=5)
    ): prove_tree,
    WatchPlan("look_after_drills", "Checking that a backup was restored this week", _DAY): drill.look_after,
    WatchPlan("look_after_protections", "Checking that every protection is on", _DAY): protections.look_after,
    overdue.PLAN: overdue.check_overdue,
}
"""The scheduled checks in their order: when each runs, and its function, which returns the number of faults found."""
PLANS: Final = tuple(CHECKS)
