"""The server of a kept house is away for an hour: a round, a fill and a sale are entered from paper afterwards."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from django.utils import timezone

from tables.cage import cage_desk, site_back_entry
from tables.floor import recorder
from tables.floor.back_entry import FromPaper
from tables.floor.inputs import AnnounceRound, BeginBackEntry, BeginSlip, ComparePaper, EndBackEntry, Input, SignSlip
from tables.models import Staff, Table
from tests import floor
from tests.floor import Hand


def papers(house: Any) -> None:
    """At a table, and at the cage."""
    table = floor.table("Outage 1")
    dealer = Hand(table, house.dora)
    Hand(table, house.boss)("open_table")
    recorder.sign_in(table, house.dora)
    dealer.ready_shoe()
    house.later(minutes=70)
    begun = BeginBackEntry("server", _ago(65), _ago(5), "The server's disk was full", house.cashier.username)
    _enter(table, house.boss, begun)
    _enter(table, house.dora, AnnounceRound("104", _ago(60)))
    dealer.bets(seat1=1_000)
    dealer.cards(4, 3)
    dealer.pay()
    _fill(house, dealer)
    for number in ("104", "17"):
        _enter(table, house.teller, ComparePaper(number))
    _enter(table, house.boss, EndBackEntry(house.cashier.username))
    _at_the_cage(house, begun)
    dealer("retire_shoe")
    recorder.sign_out(table, house.dora)
    Hand(table, house.boss)("close_table")


def _fill(house: Any, dealer: Hand) -> None:
    steps = {
        "issued": house.cashier,
        "carried": floor.crew("carried"),
        "received": house.dora,
        "confirmed": house.second,
    }
    _enter(dealer.table, house.boss, BeginSlip("fill", ((2_500, 4),)), FromPaper("17", _ago(40)))
    slip = dealer.now.slips[-1].name
    for minutes, (stage, by) in enumerate(steps.items(), 1):
        _enter(dealer.table, by, SignSlip(slip, stage), FromPaper("17", _ago(40 - minutes)))


def _at_the_cage(house: Any, begun: BeginBackEntry) -> None:
    site_back_entry.enter(begun, by=house.boss, key=uuid4())
    cage_desk.sell(5_000, by=house.cashier, key=uuid4(), paper=FromPaper("9", _ago(20)))
    site_back_entry.enter(ComparePaper("9"), by=house.teller, key=uuid4())
    site_back_entry.enter(EndBackEntry(house.cashier.username), by=house.boss, key=uuid4())


def _enter(table: Table, by: Staff, entered: Input, paper: FromPaper | None = None) -> None:
    recorder.record(table, entered, by=by, key=uuid4(), expected_seq=None, paper=paper)


def _ago(minutes: float) -> datetime:
    return timezone.now() - timedelta(minutes=minutes)
