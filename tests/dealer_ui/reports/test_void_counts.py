"""A round that is void is no round of anybody's day: every place that counts rounds comes to the same."""

import uuid

import pytest
from django.utils import timezone

from dealer_ui.pit.floor import cards as pit_floor
from tables.floor import recorder
from tables.floor.inputs import VoidRound
from tables.models import Staff
from tables.reports import exceptions, figures, gaming_hours
from tables.roles import Role
from tests import floor
from tests.floor import Hand, dealt, for_pot

pytestmark = pytest.mark.django_db


def void(boss: Hand) -> None:
    entered = VoidRound("misdeal", "seen by the pit")
    recorder.record(boss.table, entered, by=boss.by, key=uuid.uuid4(), expected_seq=boss.now.seq)


def plays(dealer: Hand) -> None:
    dealer.bets(seat1=1_000)
    dealer.cards(8, 3)
    dealer.pay()


def counted_rounds(viewer: Staff) -> dict[str, int]:
    """How many rounds of today each place tells of."""
    day = gaming_hours.day_of(timezone.now())
    report = exceptions.of_day(day, whole=True)
    return {
        "figures": figures.day(day).pit.rounds,
        "dealers": sum(line.rounds for line in report.dealers),
        "floor": pit_floor.strip_of(pit_floor.seen(viewer), 0).rounds_today,
    }


def test_a_void_round_against_the_house_is_counted_nowhere() -> None:
    """Harm: the day's report, the dealer's pace and the floor each tell another number of rounds."""
    dealer, boss = dealt(options={"decks": 6})
    plays(dealer)
    dealer.bets(seat1=1_000)
    dealer.cards(8)
    void(boss)
    plays(dealer)
    assert counted_rounds(boss.by) == {"figures": 2, "dealers": 2, "floor": 2}
    report = exceptions.of_day(gaming_hours.day_of(timezone.now()), whole=True)
    assert [line.void for line in report.dealers] == [1]
    voids = [line for heading in report.headings if heading.matter.name == "voids" for line in heading.lines]
    assert [line.round for line in voids] == [2], "it is listed apart"


def test_a_round_that_is_void_while_its_seats_are_paid_is_counted_nowhere() -> None:
    """Harm: a round whose chips moved and moved back is a round of the day."""
    dealer, boss = dealt(options={"decks": 6})
    plays(dealer)
    dealer.bets(seat1=1_000, seat4=1_000)
    dealer.cards(8, 4, 10, 8, 7, 10)
    assert dealer.board.pay
    void(boss)
    assert counted_rounds(boss.by) == {"figures": 1, "dealers": 1, "floor": 1}


def test_a_void_game_for_a_pot_is_counted_nowhere() -> None:
    """Harm: games for a pot are counted by their numbers, and a void one has a number."""
    dealer, boss = for_pot("hawthorn", seats={1: 2_000, 2: 2_000, 3: 2_000})
    dealer("start_game")
    while not dealer.now.pot_cents:
        dealer.cards(9)
    void(boss)
    assert counted_rounds(boss.by) == {"figures": 0, "dealers": 0, "floor": 0}


def test_a_void_round_is_taken_off_the_dealer_who_began_it() -> None:
    """Harm: the relief dealt a round and is told to have dealt none."""
    dealer, boss = dealt(options={"decks": 6})
    plays(dealer)
    dealer.bets(seat1=1_000)
    other = floor.staff(Role.DEALER, "dan", "102")
    recorder.relieve(dealer.table, other, dealer.by.username, confirmed_by=boss.by)
    void(boss)
    relief = Hand(dealer.table, other)
    plays(relief)
    report = exceptions.of_day(gaming_hours.day_of(timezone.now()), whole=True)
    assert {line.username: (line.rounds, line.void) for line in report.dealers} == {"dora": (1, 1), "dan": (1, 0)}
