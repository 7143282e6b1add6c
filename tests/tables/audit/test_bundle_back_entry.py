"""Nights with outages, entered from paper by chance: chips are conserved, proofs hold, and forgeries are named."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import pytest
from django.db import transaction
from django.utils import timezone

from ledger import log as book_log
from ledger import site_log
from ledger.log import Draft
from ledger.models import Book, LogEntry
from tables.audit import proofs
from tables.cage import cage_desk, site_back_entry
from tables.floor import recorder
from tables.floor.back_entry import FromPaper
from tables.floor.inputs import AnnounceRound, BeginBackEntry, BeginSlip, ComparePaper, EndBackEntry, Input, SignSlip
from tables.models import Staff
from tables.refusals import Refused
from tables.reports import gaming_hours
from tables.roles import Role
from tables.state import table_state
from tests.clock import Clock, travelling
from tests.floor import CREW, counted, crew, dealt, staff
from tests.tables.audit.sealed_days import SealedDays, refusal, verified
from tests.tables.bundles import ONE
from tests.tables.floor.test_recorder import chips_everywhere
from tests.tiers import sampled

DEEDS = ("begin", "round", "round", "fill", "sell", "compare", "end", "live", "count")
PAPERS = ("11", "12", "13")


class Night:
    """A table and the cage, and people who enter papers in any order that comes to their minds."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.dealer, self.boss = dealt()
        self.table = self.dealer.table
        self.cashier, self.guard = staff(Role.CASHIER, "carl"), staff(Role.SECURITY, "gus")
        self.before = sum(chips_everywhere().values())

    def do(self, deed: str, seed: int) -> None:
        """One deed; what is refused has changed nothing."""
        chance, seq, chips = Random(seed), self.dealer.now.seq, chips_everywhere()
        self.clock.stand(timezone.now() + timedelta(minutes=chance.choice((1, 10, 40))))
        try:
            with transaction.atomic():
                getattr(self, f"_{deed}")(chance)
        except Refused:
            table_state.cache.clear()  # what was undone here was in nobody's way
            assert (self.dealer.now.seq, chips_everywhere()) == (seq, chips)

    def hold_together(self) -> None:
        assert sum(chips_everywhere().values()) == self.before
        site_log.flush_queue()
        table_state.cache.clear()
        for book in Book.objects.filter(head_seq__gt=0):
            fault = proofs.verify(book, with_note=False).fault
            assert fault is None, str(fault)

    def finish(self) -> None:
        """Whatever waits is compared and ended, by whoever may."""
        for number in PAPERS:
            for by in (self.guard, self.cashier):
                for enter in (self._at_table, self._in_house):
                    _unless_refused(lambda by=by, enter=enter, number=number: enter(by, ComparePaper(number)))  # type: ignore[misc]
        _unless_refused(lambda: self._at_table(self.boss.by, EndBackEntry("carl")))
        _unless_refused(lambda: self._in_house(self.boss.by, EndBackEntry("carl")))
        assert self.dealer.now.back_entry is None
        assert site_back_entry.mode_at(None) is None

    def _at_table(self, by: Staff, entered: Input, paper: FromPaper | None = None) -> None:
        recorder.record(self.table, entered, by=by, key=uuid4(), expected_seq=None, paper=paper)

    def _in_house(self, by: Staff, entered: Any) -> None:
        site_back_entry.enter(entered, by=by, key=uuid4())

    def _begin(self, chance: Random) -> None:
        since, until = chance.choice(((60, 2), (30, 1), (5, 50), (20, -5)))
        begun = BeginBackEntry("power", ago(since), ago(until), "dark", chance.choice(("carl", "carl", "bella", "")))
        self._in_house(self.boss.by, begun) if chance.random() < 0.3 else self._at_table(self.boss.by, begun)

    def _round(self, chance: Random) -> None:
        self._at_table(self.dealer.by, AnnounceRound(chance.choice(PAPERS), ago(chance.randrange(90))))
        self._dealt(chance)

    def _live(self, chance: Random) -> None:
        self._dealt(chance)

    def _dealt(self, chance: Random) -> None:
        if self.dealer.board.due != "bets":
            self.dealer("retire_shoe")
            self.dealer.ready_shoe()
        self.dealer.bets(seat1=chance.choice((1_000, 2_000)))
        while self.dealer.now.round_open and not self.dealer.board.pay:
            self.dealer.cards(chance.choice(range(5, 11)))
        self.dealer.pay()

    def _fill(self, chance: Random) -> None:
        number, minutes = chance.choice(PAPERS), chance.randrange(90)
        self._at_table(crew("requested"), BeginSlip("fill", ((2_500, 4),)), FromPaper(number, ago(minutes)))
        slip = self.dealer.now.slips[-1].name
        for stage in list(CREW)[1:]:
            by = self.dealer.by if stage == "received" else crew(stage)
            self._at_table(by, SignSlip(slip, stage), FromPaper(number, ago(minutes)))

    def _sell(self, chance: Random) -> None:
        paper = FromPaper(chance.choice(PAPERS), ago(chance.randrange(90)))
        cage_desk.sell(5_000, by=self.cashier, key=uuid4(), paper=paper)

    def _compare(self, chance: Random) -> None:
        by = chance.choice((self.guard, self.boss.by, self.cashier, self.dealer.by))
        enter = chance.choice((self._at_table, self._in_house))
        enter(by, ComparePaper(chance.choice(PAPERS)))

    def _end(self, chance: Random) -> None:
        enter = chance.choice((self._at_table, self._in_house))
        enter(self.boss.by, EndBackEntry(chance.choice(("carl", "bella"))))

    def _count(self, chance: Random) -> None:
        counted(self.boss, "closer")
        counted(self.boss, "opener")
        recorder.sign_in(self.table, self.dealer.by)


def ago(minutes: float) -> datetime:
    return timezone.now() - timedelta(minutes=minutes)


def _unless_refused(deed: Callable[[], None]) -> None:
    with suppress(Refused):
        deed()


@pytest.mark.django_db
@pytest.mark.parametrize("seed", sampled(range(5), "enters and verifies random nights"))
def test_papers_in_any_order_lose_no_chip(seed: int) -> None:
    """Harm: in some order of papers, live rounds and counts a chip is there twice, or the log cannot be proved."""
    chance = Random(seed)
    with travelling() as clock:
        night = Night(clock)
        for deed in ("begin", *(chance.choice(DEEDS) for _ in range(14))):
            night.do(deed, chance.randrange(2**16))
        night.hold_together()
        night.finish()
        night.hold_together()


# --- Whoever has only the bundle ---------------------------------------------------------------------------------


def bundle(days: SealedDays) -> Path:
    """End the day, and return the bundle of all days: shortly before a day ends, papers are entered in the next one."""
    today = gaming_hours.day_of(timezone.now())
    days.end(today)
    return days.bundle(ONE, today)


@pytest.mark.django_db
@pytest.mark.slow("seals and exports a day")
def test_an_outsider_verifies_a_night_of_papers(days: SealedDays) -> None:
    """Harm: only the casino can prove rounds entered from paper. Back-entry is active over the end of the day."""
    night = Night(days.clock)
    night.clock.stand(timezone.now() + timedelta(minutes=70))
    beginning = BeginBackEntry("power", ago(60), ago(5), "dark", "carl")
    night._at_table(night.boss.by, beginning)
    night._in_house(night.boss.by, beginning)
    night._at_table(night.dealer.by, AnnounceRound("11", ago(50)))
    night._dealt(Random(3))
    night._at_table(crew("requested"), BeginSlip("fill", ((2_500, 4),)), FromPaper("12", ago(40)))
    cage_desk.sell(5_000, by=night.cashier, key=uuid4(), paper=FromPaper("13", ago(30)))
    night._at_table(night.guard, ComparePaper("11"))
    assert any(line.startswith("holds  Rocket 1") for line in verified(bundle(days), key=days.public))
    night.finish()
    night.hold_together()


@pytest.mark.django_db
@pytest.mark.slow("seals and exports a day")
def test_a_forged_beginning_is_named_by_an_outsider(days: SealedDays) -> None:
    """Harm: only the casino can detect that one person alone began the entry of papers."""
    night = Night(days.clock)
    night.clock.stand(timezone.now() + timedelta(minutes=70))
    night._at_table(night.boss.by, BeginBackEntry("power", ago(60), ago(5), "dark", "carl"))
    night._at_table(night.boss.by, EndBackEntry("carl"))
    honest = LogEntry.objects.filter(book_id=night.table.book_id, subject="outage").earliest("seq")
    alone = {"second": {"username": "bella", "name": "Bella", "badge": None, "role": "pit_boss"}}
    _append(night, "outage", "back_entry_begun", night.boss.by.signature, honest.content | alone)
    assert "two signatures are not of two people" in refusal(bundle(days)).what


@pytest.mark.django_db
@pytest.mark.slow("seals and exports a day")
def test_a_round_that_nobody_announced_is_named_by_an_outsider(days: SealedDays) -> None:
    """Harm: a live round in back-entry passes for one of paper."""
    night = Night(days.clock)
    night.dealer("bet", seat=1, amount_cents=1_000)
    played = LogEntry.objects.filter(book_id=night.table.book_id, subject="round").latest("seq")
    night.dealer("take_back")
    night.clock.stand(timezone.now() + timedelta(minutes=70))
    night._at_table(night.boss.by, BeginBackEntry("power", ago(60), ago(5), "dark", "carl"))
    _append(night, "round", "play", night.dealer.by.signature, played.content, round=1)
    assert "type the number of the paper" in refusal(bundle(days)).what


def _append(night: Night, subject: str, kind: str, by: str, content: dict[str, Any], **parts: Any) -> None:
    content = {name: value for name, value in content.items() if name != "request"}
    with transaction.atomic():
        book_log.append(book_log.lock(night.table.book_id), Draft(subject, kind, by, content, **parts))
    table_state.cache.clear()
