"""What the rules make of what happens on the floor: alerts once for each cause, nothing missed, nothing twice."""

import re
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from ledger import alerts, cage, discrepancies
from ledger.models import Alert, AlertRepeat, Book, Escalation
from tables.alerts import log_followers, overdue, rules_in_force
from tables.alerts.alert_types import DEFAULTS, Rule
from tables.alerts.models import BookPosition, ShiftWin
from tables.floor import recorder
from tables.floor.inputs import ProposeCorrection, SignCorrection, VoidRound
from tables.models import Staff
from tables.refusals import Refused
from tables.roles import Role
from tables.setup import table_settings
from tables.staff import codes
from tests import floor
from tests.clock import Clock
from tests.floor import Hand, dealt, for_pot
from tests.ready import ready_made

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a table for each test")]


@pytest.fixture
@ready_made
def felt(db: None) -> Hand:
    """A table without alerts, and a pit boss who sets rules. Settings and racks raise no alerts."""
    dealer, _ = dealt(options={"decks": 6})
    boss = floor.staff(Role.PIT_BOSS, "bettina", "209")
    for about in ("settings_changed", "rack_low_share"):
        rules_in_force.set_rule(replace(DEFAULTS[about], is_on=False), by=boss)
    log_followers.follow()
    return dealer


@pytest.fixture
def boss(db: None) -> Staff:
    return Staff.objects.filter(username="bettina").first() or floor.staff(Role.PIT_BOSS, "bettina", "209")


def set_(boss: Staff, about: str, **changes: object) -> Rule:
    rule = replace(rules_in_force.in_force()[about], **changes)  # type: ignore[arg-type]
    rules_in_force.set_rule(rule, by=boss)
    log_followers.follow()
    return rule


def raised(kind: str) -> list[Alert]:
    return list(Alert.objects.filter(kind=kind).order_by("pk"))


def test_a_large_bet_is_one_alert_however_often_it_is_seen(felt: Hand, boss: Staff) -> None:
    """Harm: a guest who bets like that all night drowns every other alert; or the floor hears of it once and never
    again."""
    set_(boss, "large_bet", threshold=5_000, tables=(felt.table.name,))
    felt.bets(seat1=2_000, seat4=5_000)
    felt.cards(8, 4, 10, 8, 7, 10)
    felt.pay()
    log_followers.follow()
    [alert] = raised("large_bet")
    assert alert.message == "Large bet at Rocket 1: seat 4 has 50 on the layout in round 1"
    assert alert.book == felt.table.book
    assert alert.evidence["level"] == 1
    assert alert.evidence["roles"] == ["pit_boss"]
    assert not AlertRepeat.objects.exists(), "the bet and what came of it are one matter"
    felt("bet", seat=4, amount_cents=5_000)
    log_followers.follow()
    assert raised("large_bet") == [alert]
    assert AlertRepeat.objects.get().round == 2
    alerts.acknowledge(alert, boss.signature, "known guest")
    felt("bet", seat=4, amount_cents=6_000)
    log_followers.follow()
    assert len(raised("large_bet")) == 2


def test_what_was_followed_is_not_looked_at_again_and_nothing_is_left_out(felt: Hand, boss: Staff) -> None:
    """Harm: a worker that is restarted raises everything again, or skips what came while it was down."""
    set_(boss, "large_bet", threshold=1_000)
    before = BookPosition.objects.get(book=felt.table.book).seq
    felt("bet", seat=1, amount_cents=1_000)
    felt("bet", seat=2, amount_cents=1_000)
    assert log_followers.behind() == 2
    assert log_followers.follow() >= 2
    assert log_followers.follow() == 0
    assert BookPosition.objects.get(book=felt.table.book).seq == before + 2
    assert len(raised("large_bet")) == 2


def test_one_entry_that_cannot_be_judged_keeps_nobody_from_the_next(
    felt: Hand, boss: Staff, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: a fault in one rule silences all of them."""
    set_(boss, "large_bet", threshold=1_000)
    monkeypatch.setattr("tables.alerts.facts._wins", lambda *_: 1 / 0)
    felt.bets(seat1=1_000)
    felt.cards(5, 3)
    felt.pay()
    felt("bet", seat=2, amount_cents=1_000)
    log_followers.follow()
    assert [alert.evidence["cause"] for alert in raised("large_bet")] == ["seat 1", "seat 2"]


def test_many_tables_are_followed_in_few_statements_and_none_is_lost(felt: Hand, boss: Staff) -> None:
    """Harm: with a thousand tables at work the worker of the alerts takes two cores from the dealers; or what it looks
    at together is lost together."""
    set_(boss, "large_bet", threshold=2_000)
    hands = [felt]
    for number in range(2, 4):
        hands.append(Hand(floor.table(f"Rocket {number}", options={"decks": 6}), boss))
        hands[-1]("open_table")
        hands[-1] = Hand(hands[-1].table, floor.staff(Role.DEALER, f"dealer {number}", str(400 + number)))
        recorder.sign_in(hands[-1].table, hands[-1].by)
        hands[-1].ready_shoe()
    log_followers.follow()

    def asked(tables: int) -> int:
        for hand in hands[:tables]:
            hand("bet", seat=1 if tables == 1 else 3, amount_cents=1_000)
        with CaptureQueriesContext(connection) as texts:
            assert log_followers.follow() == tables
        return len(texts)

    assert asked(1) == asked(3)
    for hand in hands:
        hand("bet", seat=2, amount_cents=2_000)
    log_followers.follow()
    assert len(raised("large_bet")) == 3


def test_a_win_is_reckoned_by_round_and_by_shift_and_taken_back_with_its_round(felt: Hand, boss: Staff) -> None:
    """Harm: who wins a little in every round is never seen; or a win that was keyed wrongly counts for ever."""
    set_(boss, "large_win", threshold=300)
    set_(boss, "large_win_shift", threshold=500)
    for _ in range(2):
        felt.bets(seat1=1_000)
        felt.cards(5, 3)  # the dealer dies: 3 to 10
        log_followers.follow()
        felt.reopens()
        felt.cards(3)
        felt.pay()
    log_followers.follow()
    [win] = raised("large_win")
    assert "seat 1 won 3 in round 1" in win.message
    [shift] = raised("large_win_shift")
    assert "seat 1 has won 6 since the shift began" in shift.message
    assert ShiftWin.objects.get().cents == 600


def test_a_rack_that_is_low_is_told_once_for_each_opening_or_fill(felt: Hand, boss: Staff) -> None:
    """Harm: an alert at each payout, so that somebody switches the rule off and the next empty rack comes unseen."""
    opener = felt.now.opening_rack_cents
    set_(boss, "rack_low", is_on=True, threshold=opener)
    for _ in range(2):
        felt.bets(seat1=1_000)
        felt.cards(5, 3)
        felt.pay()
        log_followers.follow()
    [alert] = raised("rack_low")
    assert "a fill is due" in alert.message
    alerts.acknowledge(alert, boss.signature, "the fill is on its way")
    felt.bets(seat1=1_000)
    felt.cards(5, 3)
    log_followers.follow()
    assert len(raised("rack_low")) == 1


def test_a_dealers_streak_counts_take_backs_and_corrections(felt: Hand, boss: Staff) -> None:
    """Harm: a dealer who needs help, or helps a guest, is seen at the end of the week."""
    set_(boss, "corrections_streak", threshold=3)
    felt.bets(seat1=1_000)
    felt.cards(5)
    for _ in range(1):
        felt("take_back")
        felt.cards(5)
    felt.cards(3)
    felt.pay()
    bella = Staff.objects.get(username="bella")
    slip = ProposeCorrection(1, 1, 500, "Seat 1 was paid too little")
    recorder.record(felt.table, slip, by=bella, key=uuid4(), expected_seq=None)
    name = _waiting(felt)
    recorder.record(felt.table, SignCorrection(name), by=boss, key=uuid4(), expected_seq=None)
    log_followers.follow()
    assert raised("corrections_streak") == []
    felt("bet", seat=1, amount_cents=1_000)
    felt("take_back")
    log_followers.follow()
    [alert] = raised("corrections_streak")
    assert alert.message == "3 take-backs and corrections of 101 Dora within an hour at Rocket 1"


def _waiting(hand: Hand) -> str:
    from tables.disputes import corrections

    [waiting] = corrections.waiting(hand.table.book_id, hand.now.seq)
    return str(waiting.slip)


def test_a_discrepancy_at_the_level_of_the_regulator_is_told_to_all_who_watch(felt: Hand) -> None:
    """Harm: four of them, and nobody heard."""
    discrepancies.open_(felt.table.book, "variance", 100, "The rack is over by 1", key="small")
    discrepancies.open_(felt.table.book, "variance", -30_000, "The rack is short by 300", key="grave")
    log_followers.follow()
    [alert] = raised("discrepancy")
    assert re.fullmatch(r"Discrepancy \d+, level regulator: The rack is short by 300", alert.message)
    assert alert.evidence["level"] == 3
    assert alert.evidence["roles"] == ["auditor", "operator", "pit_boss", "surveillance"]
    assert alert.book == felt.table.book


def test_a_new_pin_a_role_and_a_setting_are_told(felt: Hand, boss: Staff) -> None:
    """Harm: an operator gives somebody a PIN, signs as them, and no one looks."""
    set_(boss, "settings_changed", is_on=True)
    olga = floor.staff(Role.OPERATOR, "olga", "301")
    set_(boss, "pin_reset", is_on=True)
    code = codes.ask(boss, "pin", by=olga)
    codes.confirm(code.code, by=floor.staff(Role.OPERATOR, "omar", "302"))
    table_settings.change_table(felt.table, {"max_cents": 20_000}, by=olga)
    log_followers.follow()
    [pin] = raised("pin_reset")
    assert "The PIN of bettina is reset, as 302 Omar confirmed" in pin.message
    assert any("max" in alert.message and alert.book == felt.table.book for alert in raised("settings_changed"))


def test_an_idle_table_and_a_relief_that_is_due_are_told_once(felt: Hand, boss: Staff, clock: Clock) -> None:
    """Harm: a dealer who is forgotten at a table; or an alert a minute for one that is known."""
    clock.stand(timezone.now() + timedelta(minutes=12))
    overdue.check_overdue()
    assert raised("table_idle") == []
    clock.stand(timezone.now() + timedelta(minutes=4))
    overdue.check_overdue()
    [idle] = raised("table_idle")
    assert idle.message.startswith("Rocket 1 stands idle: Dora deals")
    alerts.acknowledge(idle, boss.signature, "waits for guests")
    clock.stand(timezone.now() + timedelta(minutes=50))
    overdue.check_overdue()
    overdue.check_overdue()
    assert raised("table_idle") == [idle]
    [relief] = raised("relief_due")
    assert "Relief due at Rocket 1: Dora" in relief.message


def test_an_alert_goes_up_until_somebody_takes_note_of_it(felt: Hand, boss: Staff, clock: Clock) -> None:
    """Harm: the only one who was told has gone home."""
    set_(boss, "large_bet", threshold=1_000, escalate_minutes=5)
    felt("bet", seat=1, amount_cents=1_000)
    log_followers.follow()
    [alert] = raised("large_bet")
    for minutes, steps in ((4, 0), (2, 1), (1, 1), (5, 2), (5, 3), (5, 3), (5, 4)):
        clock.stand(timezone.now() + timedelta(minutes=minutes))
        overdue.check_overdue()
        assert Escalation.objects.filter(alert=alert).count() == steps
    escalation, *_, latest = Escalation.objects.filter(alert=alert).order_by("step")
    assert (escalation.level, escalation.roles) == (2, ["operator", "pit_boss", "surveillance"])
    assert latest.level == 2, "time alone makes nothing a matter for the regulator"
    alerts.acknowledge(alert, boss.signature, "seen")
    clock.stand(timezone.now() + timedelta(hours=5))
    overdue.check_overdue()
    assert Escalation.objects.filter(alert=alert).count() == 4


def test_what_no_rule_raised_is_escalated_too(felt: Hand, clock: Clock) -> None:
    """Harm: a broken log waits for somebody who scrolls."""
    alert = alerts.raise_alert(None, "log_broken", "entry 5 is missing")
    clock.stand(timezone.now() + timedelta(minutes=31))
    overdue.check_overdue()
    assert alert.escalations.count() == 1


def test_a_clock_that_is_wrong_is_told(felt: Hand) -> None:
    """Harm: a camera's moment is sought by the time of a tablet that is ten minutes off."""
    now_ms = int(timezone.now().timestamp() * 1_000)
    assert overdue.of_browser("Tablet 1", now_ms + 5_000) is None
    alert = overdue.of_browser("Tablet 1", now_ms - 600_000)
    assert alert is not None
    assert "The clock of Tablet 1 is behind the database's by" in alert.message
    assert overdue.of_browser("Tablet 1", now_ms - 601_000) is None
    assert overdue.of_browser("Tablet 1", -(10**30)) is None


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"threshold": None}, "threshold"),
        ({"threshold": 0}, "threshold"),
        ({"level": 4}, "level"),
        ({"roles": ()}, "roles"),
        ({"roles": ("dealer",)}, "roles"),
        ({"tables": ("Nowhere",)}, "tables"),
        ({"games": ("whist",)}, "games"),
        ({"escalate_minutes": 2_000}, "escalate_minutes"),
        ({"escalate_minutes": 5, "escalate_to": ()}, "escalate_to"),
        ({}, "about"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused_at_its_field(
    boss: Staff, changes: dict[str, object], field: str
) -> None:
    """Harm: a rule that never fires, and looks as if it would."""
    cage.open_house()
    with pytest.raises(Refused) as refused:
        rules_in_force.set_rule(replace(DEFAULTS["large_bet"], **changes), by=boss)  # type: ignore[arg-type]
    assert list(refused.value.facts["fields"]) == [field]


def test_the_rule_for_anything_else_stays_on_and_only_a_pit_boss_sets_rules(boss: Staff) -> None:
    """Harm: the broken log that nobody was to hear of; a rule that an operator bent to their own reset of a PIN."""
    cage.open_house()
    with pytest.raises(Refused, match="stays on"):
        rules_in_force.set_rule(replace(DEFAULTS["other"], is_on=False), by=boss)
    for role in set(Role) - {Role.PIT_BOSS}:
        with pytest.raises(Refused, match="Only a pit boss"):
            rules_in_force.set_rule(replace(DEFAULTS["pin_reset"], is_on=False), by=Staff(username="x", role=role))
    assert Book.objects.get(name="house").entries.filter(subject="alert_rule").count() == 0


# --- games for a pot --------------------------------------------------------------------------------------------


@pytest.fixture
def regent(db: None) -> Hand:
    """A game for a pot, with 5,000 in coins of 1 at two seats."""
    return for_pot("regent", seats={1: 5_000, 2: 5_000})[0]


def seat_1_wins(regent: Hand) -> None:
    """Seat 1 chooses to see seat 2, and wins 800 from it."""
    regent("start_game")
    regent.cards(6, 7)
    regent("choose", seat=1, choice="see")
    regent.cards(8, 8)
    assert regent.now.round is not None
    assert regent.now.round.over
    log_followers.follow()


def test_payments_into_a_pot_are_the_bet_of_a_seat(regent: Hand, boss: Staff) -> None:
    """Harm: at a table where players bet against each other, a large stake raises no alert, or each ante raises an
    alert."""
    set_(boss, "large_bet", threshold=800)
    seat_1_wins(regent)
    [alert] = raised("large_bet")
    assert alert.evidence["cause"] == "seat 2"
    assert re.fullmatch(r"Large bet at Regent.*: seat 2 has paid \d+ in round 1", alert.message)
    assert alert.book == regent.table.book


def test_what_a_seat_wins_of_the_others_is_a_win(regent: Hand, boss: Staff) -> None:
    """Harm: a player takes pot after pot, and neither the floor nor the surveillance is told."""
    set_(boss, "large_win", threshold=800)
    set_(boss, "large_win_shift", threshold=1_600)
    seat_1_wins(regent)
    [alert] = raised("large_win")
    assert alert.message.endswith("seat 1 won 8 from the others in round 1")
    assert dict(ShiftWin.objects.values_list("seat", "cents")) == {1: 800, 2: -800}
    regent.reopens()
    log_followers.follow()
    assert dict(ShiftWin.objects.values_list("seat", "cents")) == {1: 0, 2: 0}, "taken back it was not won"
    assert not raised("large_win_shift")


def test_a_win_of_a_round_that_is_void_was_not_won(felt: Hand, boss: Staff) -> None:
    """Harm: a seat's wins over the shift have a round that never was, while its seats were being paid."""
    set_(boss, "large_win", threshold=100)
    felt.bets(seat1=2_000, seat4=5_000)
    felt.cards(8, 4, 10, 8, 7, 10)
    assert felt.board.pay
    log_followers.follow()
    assert any(ShiftWin.objects.values_list("cents", flat=True))
    bella = Staff.objects.get(username="bella")
    entered = VoidRound("misdeal", "the wrong card was turned")
    recorder.record(felt.table, entered, by=bella, key=uuid4(), expected_seq=felt.now.seq)
    log_followers.follow()
    assert not any(ShiftWin.objects.values_list("cents", flat=True))
