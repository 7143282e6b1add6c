"""The regular inspection of logs: verify, recount, and open an alert for each fault."""

import logging
from collections.abc import Callable

from django.db import InterfaceError, OperationalError
from django.db.models import Max

from ledger.alerts import raise_alert
from ledger.cage import all_books, balances, horizons, net_effect
from ledger.models import Account, Alert, Book, Recount
from ledger.proof.chain import Broken, Fault
from ledger.proof.chips import CASH_PLACES, HOUSE_PLACES, MAY_BE_NEGATIVE, PLAYERS, money, short_places
from ledger.recount import prove, recount, wrong_recount

BY = "recount"
log = logging.getLogger(__name__)

OUTAGE = (OperationalError, InterfaceError)
"""The database is away, which is no fault of a log."""


def report(book: Book, fault: Fault) -> Alert:
    """Open the alert for a fault in a log."""
    return raise_alert(book, "log_broken", f"The log does not hold: {fault}", {"seq": fault.seq, "what": fault.what})


def inspect_book(book_id: int, by: str = BY) -> list[Alert]:
    """Verify the entries of a log since its last recount, then recount it. Returns the alerts opened.

    A log with a fault is not recounted: later sums would start from it. Raises the exceptions in OUTAGE.
    """
    book = Book.objects.get(pk=book_id)
    horizon = horizons([book_id])[book_id]
    try:
        for _ in prove(book_id, since=horizon):
            pass
        if fault := wrong_recount(book_id, since=_horizon_before(book_id, horizon)):
            raise Broken(fault)
        recount(book_id, by)
        return _negative(book)
    except Broken as broken:
        return [report(book, broken.fault)]
    # An unreachable database says nothing about the log: the task fails and runs again.
    except OUTAGE:
        raise
    except Exception as error:
        return [report(book, unexpected_fault(book.name, horizon + 1, error))]


def unexpected_fault(book: str, seq: int, error: Exception) -> Fault:
    """An unexpected exception that stopped verification, logged and turned into a fault.

    Content written into one log must not stop the verification of the others.
    """
    log.exception("The proof of %s stopped after entry %s", book, seq - 1, exc_info=error)
    return Fault(book, seq, f"the proof cannot go on from here: {type(error).__name__}")


def _negative(book: Book) -> list[Alert]:
    return [
        _less_than_nothing(book, str(account), cents)
        for account, cents in balances(book.pk).items()
        if cents < 0 and account.place not in MAY_BE_NEGATIVE | HOUSE_PLACES
    ]


_uncounted: Callable[[], int] = int


def use_uncounted(uncounted_cents: Callable[[], int]) -> None:
    """Set the function that returns chips held by players beyond the transfers, in cents: chips from racks of
    non-tracked tables, whose win only counts show."""
    global _uncounted
    _uncounted = uncounted_cents


def inspect_house() -> list[Alert]:
    """Check the invariants that only all logs together have: no negative shared place, and sums of zero. Returns the
    alerts opened."""
    house = Book.objects.site()
    totals: dict[str, int] = {}
    net = net_effect(all_books())
    for account, place in Account.objects.values_list("pk", "place"):
        totals[place] = totals.get(place, 0) + net.get(account, 0)
    # Chips of non-tracked tables reach players without a transfer until the rack is counted.
    with_players = totals.get(PLAYERS, 0) + _uncounted()
    short = short_places(totals | {PLAYERS: with_players})
    alerts = [_less_than_nothing(house, place, cents) for place, cents in short]
    chips = sum(cents for place, cents in totals.items() if place not in CASH_PLACES)
    cash = sum(cents for place, cents in totals.items() if place in CASH_PLACES)
    for subject, astray in (("chips in all places and the chips issued", chips), ("cash in all places", cash)):
        if astray:
            message = f"The {subject} do not add up to zero"
            alerts.append(raise_alert(house, "unbalanced", message, {"astray_cents": astray, "totals_cents": totals}))
    return alerts


def _less_than_nothing(book: Book, place: str, cents: int) -> Alert:
    message = f"{book.name}: {place.replace('_', ' ')} holds less than nothing"
    return raise_alert(book, "negative", message, {"place": place, "balance_cents": cents, "balance": money(cents)})


def _horizon_before(book_id: int, horizon: int) -> int:
    """The sequence number of the recount before the one at ``horizon``; 0 for none."""
    earlier = Recount.objects.filter(book_id=book_id, through_seq__lt=horizon).aggregate(seq=Max("through_seq"))
    return earlier["seq"] or 0
