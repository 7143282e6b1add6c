"""Shoes audited after the fact: exact, once, never while dealt from; read by auditors, and each look is logged."""

import io
import random
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from openpyxl import load_workbook

from dealer_ui.reports.shoe_audits import _header, _rows
from ledger import log, site_log
from ledger.log import Draft
from ledger.models import Book, LogEntry
from ledger.proof.chain import Entry
from tables.audit import proofs
from tables.edge import shoe_audit, worth
from tables.edge.shoe_audit import SCALE, ShoeAudit
from tables.games.cards import PAIRS, shoe
from tables.log.catalog import event_of
from tables.log.event import AuditFailure
from tables.maths.rocket_value import solve
from tables.maths.situation import Situation
from tables.reports import entry_list, figures, gaming_hours, outliers
from tables.roles import Role
from tests import floor
from tests.floor import Hand, dealt
from tests.load import whole
from tests.ready import ready_made
from tests.tables.chance import by_seed

pytestmark = pytest.mark.slow("sets up a house for each test")


def play(dealer: Hand, rounds: int, chance: random.Random) -> None:
    """Rounds of two seats with bets of any size; they hit but for a fold now and then."""
    for _ in range(rounds):
        dealer.bets(seat1=chance.choice([1_000, 2_000, 5_000]), seat4=1_000)
        dealer("deal")
        while dealer.now.round_open and not dealer.board.pay:
            if dealer.board.due == "choose":
                seat = next(ask.seat for ask in dealer.board.prompts if hasattr(ask, "choices"))
                dealer("choose", seat=seat, choice=chance.choice(["hit", "fold"]))
            else:
                dealer("deal")
        dealer.pay()


@pytest.fixture
def dealer(db: None, monkeypatch: pytest.MonkeyPatch) -> Hand:
    """A house shoe of one deck; two rounds were dealt from it."""
    by_seed(monkeypatch, 5)
    return _two_rounds()


@ready_made
def _two_rounds() -> Hand:
    dealer, _ = dealt(source="house")
    play(dealer, 2, random.Random(5))
    return dealer


@pytest.fixture
def audited_shoe(db: None, monkeypatch: pytest.MonkeyPatch) -> Hand:
    """A table whose shoe of two rounds is retired and audited."""
    by_seed(monkeypatch, 5)
    return _audited_shoe()


@ready_made
def _audited_shoe() -> Hand:
    dealer = _two_rounds()
    dealer("retire_shoe")
    shoe_audit.audit_shoes()
    return dealer


def begun(hand: Hand) -> int:
    """The entry that shuffled the shoe on the table."""
    return LogEntry.objects.filter(book_id=hand.table.book_id, subject="shoe", kind="shuffled").latest("seq").seq


def client_of(role: Role) -> Client:
    return floor.client(floor.staff(role, f"some_{role.value}"))


def views() -> list[dict[str, Any]]:
    """What the house's book says of looks."""
    rows = LogEntry.objects.filter(book__name="house", subject="shoe_audit").order_by("seq")
    return [{"kind": row.kind, "by": row.by} | row.content for row in rows]


def looked_at() -> list[Entry]:
    """The entries about looks."""
    book = Book.objects.get(name="house")
    return [entry for entry in log.entries(book.pk) if entry.subject == "shoe_audit"]


def test_a_shoe_on_the_table_is_not_audited_and_a_finished_one_is_once(dealer: Hand) -> None:
    """Harm: the worth of the next round is known while it can still be bet on; or a shoe counts twice, or never."""
    assert shoe_audit.audit_shoes() == 0
    assert not ShoeAudit.objects.exists()
    dealer("retire_shoe")
    shoe_audit.audit_shoes()
    shoe_audit.audit_shoes()
    row = ShoeAudit.objects.get()
    assert [round_["round"] for round_ in row.rounds] == [1, 2]
    round_1, round_2 = row.rounds
    assert round_1["edge"] == round(0.020788201249412625 * SCALE)
    dealt = [0] * 10
    for entry in LogEntry.objects.filter(book_id=dealer.table.book_id, subject="round", round=1):
        for act in entry.content.get("actions", []):
            if act["do"] == "card":
                dealt[act["rank"] - 1] += 1
    assert round_2["gone"] == dealt
    unseen = tuple(whole - out for whole, out in zip(shoe(1), dealt, strict=True))
    exact = solve(Situation(1, unseen, 5))
    assert round_2["edge"] == round(exact.house_edge * SCALE)
    assert round_2["variance"] == round(exact.variance * SCALE)
    bets = [[bet for _, bet, _ in round_["bets"]] for round_ in row.rounds]
    assert row.staked_cents == sum(map(sum, bets))
    assert row.worth == sum(round_["edge"] * sum(staked) for round_, staked in zip(row.rounds, bets, strict=True))
    assert row.crossed == sum(2 * low * high for low, high in bets)


def test_shoes_that_were_missed_are_caught_up_and_none_is_read_again(
    dealer: Hand, django_assert_max_num_queries: Any
) -> None:
    """Harm: a shoe that no worker saw is never audited; or each run reads the whole history again."""
    chance = random.Random(6)
    for _ in range(3):
        dealer("retire_shoe")
        dealer.ready_shoe()
        play(dealer, 1, chance)
    shoe_audit.audit_shoes()
    rows = list(ShoeAudit.objects.order_by("begun_seq"))
    assert [len(row.rounds) for row in rows] == [2, 1, 1]
    assert begun(dealer) > rows[-1].ended_seq
    with django_assert_max_num_queries(3):  # the tables, the last audit, and the marks since
        shoe_audit.audit_shoes()


def test_what_was_taken_back_does_not_count(db: None) -> None:
    """Harm: a wrong key leaves a bet in the audit that nobody made."""
    dealer, _ = dealt()
    dealer("bet", seat=1, amount_cents=5_000)
    dealer("bet", seat=1, amount_cents=2_000)
    dealer("close_bets")
    dealer.cards(4)
    dealer("take_back")
    dealer.cards(5, 3)
    dealer.pay()
    dealer("retire_shoe")
    shoe_audit.audit_shoes()
    (round_,) = ShoeAudit.objects.get().rounds
    assert round_["bets"] == [[1, 2_000, 600]]


def test_only_auditors_see_a_shoe_and_each_look_is_in_the_log(audited_shoe: Hand) -> None:
    """Harm: a pit boss who knows when the shoe is good; and nobody knows who looked."""
    seq = begun(audited_shoe)
    addresses = [
        reverse("pit:shoes"),
        reverse("pit:shoes-csv") + "?as=xlsx",
        reverse("pit:shoe", args=[audited_shoe.table.pk, seq]),
        reverse("pit:shoe-csv", args=[audited_shoe.table.pk, seq]),
    ]
    boss = client_of(Role.PIT_BOSS)
    assert [boss.get(address).status_code for address in addresses] == [403] * 4
    assert views() == []
    auditor = client_of(Role.AUDITOR)
    pages = [auditor.get(address) for address in addresses]
    assert [page.status_code for page in pages] == [200] * 4
    rows = list(load_workbook(io.BytesIO(whole(pages[1]))).active.values)
    assert [(*row[:3], row[5]) for row in rows[1:]] == [("Rocket 1", 1, seq, 1), ("Rocket 1", 1, seq, 4)]
    assert "Rocket 1, shoe 1" in pages[2].content.decode()
    assert [view["kind"] for view in views()] == ["listed", "listed", "viewed", "exported"]
    assert {view["by"] for view in views()} == {"some_auditor Some_Auditor"}
    assert "Some_Auditor looks at the audit of Rocket 1" in entry_list.words_of(looked_at()[2])
    assert proofs.verify(Book.objects.get(name="house")).fault is None


def test_the_list_as_csv_has_every_bet_and_what_was_unseen(audited_shoe: Hand) -> None:
    """Harm: an auditor who has to believe the numbers, for nothing tells what they were computed from."""
    rows = [dict(zip(_header(PAIRS), row, strict=True)) for row in _rows(ShoeAudit.objects.get(), PAIRS)]
    assert len(rows) == 4
    assert [rows[0][f"unseen_{rank}"] for rank in range(1, 11)] == list(shoe(1))


def test_a_shoe_that_is_dealt_from_has_no_page(dealer: Hand) -> None:
    """Harm: an auditor tells a friend at the table when to bet."""
    auditor, seq = client_of(Role.AUDITOR), begun(dealer)
    for name in ("pit:shoe", "pit:shoe-csv"):
        answer = auditor.get(reverse(name, args=[dealer.table.pk, seq]))
        assert answer.status_code == 409
        assert "This shoe is on Rocket 1" in answer.content.decode()
        assert auditor.get(reverse(name, args=[dealer.table.pk, seq - 1])).status_code == 404
    dealer("retire_shoe")
    waiting = auditor.get(reverse("pit:shoe", args=[dealer.table.pk, seq]))
    assert waiting.status_code == 409
    assert "not audited yet" in waiting.content.decode()
    assert views() == []


def test_a_look_that_nobody_can_have_had_is_named(audited_shoe: Hand) -> None:
    """Harm: a forged entry that puts an auditor, or somebody who must not look, before a shoe."""
    content = {"username": "x", "name": "X", "badge": None, "table": "Rocket 1", "shoe": 1}
    for role, begun_seq, sentence in (
        ("pit_boss", begun(audited_shoe), "it shows a shoe's audit to somebody who is no auditor"),
        ("auditor", 1, "it shows the audit of a shoe that was not finished"),
    ):
        with transaction.atomic():
            draft = Draft("shoe_audit", "viewed", "x X", content | {"role": role, "begun_seq": begun_seq})
            after = log.append(site_log.lock(), draft)
            fault = proofs.verify(Book.objects.get(name="house")).fault
            assert fault is not None
            assert (fault.seq, fault.what) == (after.seq, sentence)
            transaction.set_rollback(True)


def test_a_look_before_the_shoe_was_finished_is_named(audited_shoe: Hand) -> None:
    """Harm: somebody looked while it was dealt from, and the log says so to nobody."""
    row = ShoeAudit.objects.get()
    shoe_audit.viewed(floor.staff(Role.AUDITOR, "ada"), row)
    entry = looked_at()[-1]
    shoe_audit.check_view(event_of(entry), entry)
    early = replace(entry, at=row.ended_at - timedelta(seconds=1))
    with pytest.raises(AuditFailure, match="not finished"):
        shoe_audit.check_view(event_of(early), early)


def today() -> figures.SpanFigures:
    return figures.day(gaming_hours.day_of(timezone.now()))


def test_the_theoretical_win_is_exact_where_a_shoe_was_audited(dealer: Hand) -> None:
    """Harm: a house that pays by a full shoe's edge what it never dealt; or bets that count twice, or not at all."""
    (before,) = today().lines
    assert before.theoretical_is == figures.FULL_SHOE
    dealer("retire_shoe")
    shoe_audit.audit_shoes()
    row = ShoeAudit.objects.get()
    (exact,) = today().lines
    assert (exact.theoretical_is, exact.audited_cents) == (figures.EXACT, before.handle_cents)
    assert exact.theoretical == Fraction(int(row.worth), SCALE) != before.theoretical
    assert outliers.day(gaming_hours.day_of(timezone.now()))[0].win is not None
    dealer.ready_shoe()
    play(dealer, 1, random.Random(1))
    (mixed,) = today().lines
    assert mixed.theoretical_is == figures.MIXED
    edge = figures.edge_of(dealer.table)
    assert edge is not None
    assert mixed.theoretical == exact.theoretical + edge * (mixed.handle_cents - exact.handle_cents)


def test_spans_that_cut_a_shoe_add_up_to_the_whole(audited_shoe: Hand) -> None:
    """Harm: a shoe over the end of a shift is worth something to both shifts, or to neither."""
    row, book = ShoeAudit.objects.get(), audited_shoe.table.book_id
    whole = worth.of([(book, 0, row.ended_seq + 5)])[0]
    assert whole.staked_cents == row.staked_cents
    for cut in [row.begun_seq, *(round_["seq"] for round_ in row.rounds), row.ended_seq - 1, row.ended_seq]:
        before_cut, after_cut = worth.of([(book, 0, cut), (book, cut, row.ended_seq + 5)])
        assert before_cut.staked_cents + after_cut.staked_cents == whole.staked_cents
        assert before_cut.cents + after_cut.cents == whole.cents
        assert before_cut.spread + after_cut.spread == whole.spread
        assert before_cut.squares + after_cut.squares == whole.squares
        assert before_cut.crossed + after_cut.crossed == whole.crossed == row.crossed
        assert before_cut.crossed_spread + after_cut.crossed_spread == whole.crossed_spread


def test_a_closed_day_keeps_what_its_audited_bets_were_worth(audited_shoe: Hand) -> None:
    """Harm: the month forgets what its days had counted exactly; or a day closed before audits cannot be read."""
    (exact,) = today().lines
    signed = exact.row()
    joined = figures.joined(audited_shoe.table, [figures.Figures.read(signed)])
    assert (joined.theoretical, joined.audited_cents) == (exact.theoretical_cents, exact.handle_cents)
    old = {name: value for name, value in signed.items() if name != "audited_cents"}
    edge = figures.edge_of(audited_shoe.table)
    assert edge is not None
    assert figures.joined(audited_shoe.table, [figures.Figures.read(old)]).theoretical == edge * exact.handle_cents
