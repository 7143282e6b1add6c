"""What takes long to value is valued once, by a worker, and read by everybody else."""

from fractions import Fraction

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from tables.audit import watch
from tables.edge import cached_sheets
from tables.edge.cached_sheets import KeptSheet
from tables.games.casino_war import Rules
from tables.log.terms import rules_of
from tables.maths import casino_war, providers
from tables.reports import figures, gaming_hours, outliers
from tables.roles import Role
from tests import floor
from tests.database import locked_by_another_worker
from tests.floor import Hand, dealt

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]

WAR = ("casino_war", Rules())


def at_war() -> Hand:
    return dealt(name="War 1", game="casino_war", options={}, seats=3)[0]


def war_round(dealer: Hand) -> None:
    """Seat 1 wins, seat 2 loses its bet and the tie."""
    dealer("bet", seat=1, amount_cents=2_000, wager="main")
    dealer("bet", seat=2, amount_cents=3_000, wager="main")
    dealer("bet", seat=2, amount_cents=1_000, wager="tie")
    dealer("close_bets")
    dealer.cards("K", "2", "8")
    dealer.pay()


def looked() -> outliers.Looked:
    [outlier] = outliers.day(gaming_hours.day_of(timezone.now()))
    return outlier


def line() -> figures.Figures:
    [row] = figures.day(gaming_hours.day_of(timezone.now())).lines
    return row


def test_what_a_table_has_is_valued_once_and_a_day_goes_by_it() -> None:
    """Harm: a page that computes for seconds, or a table whose luck nobody looks at."""
    dealer = at_war()
    war_round(dealer)
    worths = casino_war.sheet(Rules()).wagers
    expected = sum(
        Fraction(round(worths[bet].house_edge * 10**9), 10**9) * cents
        for bet, cents in (("main", 5_000), ("tie", 1_000))
    )
    assert line().theoretical == expected, "the sheet alone is quick"
    assert looked().win is None
    cached_sheets.value_games()
    interval = looked().win
    assert interval is not None
    together = casino_war.covariances(Rules())
    variance = (
        together["main", "main"].seat * (2_000**2 + 3_000**2)
        + together["main", "main"].seats * 2 * 2_000 * 3_000
        + together["tie", "tie"].seat * 1_000**2
        + 2 * together["main", "tie"].seat * 3_000 * 1_000
        + 2 * together["main", "tie"].seats * 2_000 * 1_000
    )
    assert (interval.high - interval.low) / 2 == pytest.approx(1.959964 * variance**0.5, rel=1e-6)
    assert cached_sheets.missing() == []
    cached_sheets.value_games()
    assert KeptSheet.objects.count() == 1


def test_the_watch_values_what_is_missing() -> None:
    """Harm: a list that somebody has to remember to fill."""
    at_war()
    assert "value_games" in {plan.task for plan in watch.PLANS}
    next(check for plan, check in watch.CHECKS.items() if plan.task == "value_games")()
    assert [row.game for row in KeptSheet.objects.all()] == ["casino_war"]


@pytest.mark.parametrize(
    "game",
    [
        pytest.param("casino_war", id="valued as Casino War, which takes no time"),
        pytest.param("blackjack", marks=pytest.mark.trial("values blackjack exactly"), id="valued exactly"),
    ],
)
def test_blackjack_is_being_computed_until_a_worker_has_valued_it(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: a report that stands still for half a minute, or one that says nothing is expected of the busiest game."""
    options = {"decks": 1, "splits": 0, "insurance": False}
    dealer, _ = dealt(name="Blackjack 1", game="blackjack", options=options, seats=1)
    dealer("bet", seat=1, amount_cents=2_000, wager="main")
    dealer("close_bets")
    dealer.cards("T", "9", "T")  # twenty against a nine
    dealer("choose", seat=1, choice="stand")
    dealer.cards("T")
    dealer.pay()
    with monkeypatch.context() as patched:
        patched.setattr(providers, "full_shoe", lambda *_: pytest.fail("a page computes"))
        patched.setattr(providers, "covariances", lambda *_: pytest.fail("a page computes"))
        assert (line().theoretical, line().theoretical_is) == (None, "being computed")
        assert looked().win is None
        assert "being computed" in reports()
    full_shoe, covariances = providers.full_shoe, providers.covariances
    with monkeypatch.context() as patched:
        if game == "casino_war":
            patched.setattr(providers, "full_shoe", lambda *_: full_shoe(*WAR))
            patched.setattr(providers, "covariances", lambda *_: covariances(*WAR))
        cached_sheets.value_games()
    with monkeypatch.context() as patched:
        patched.setattr(providers, "full_shoe", lambda *_: pytest.fail("a page computes"))
        edge = cached_sheets.of_table(dealer.table).edge("main")
        assert edge is not None
        assert line().theoretical == Fraction(round(edge * 10**9), 10**9) * 2_000
        assert "being computed" not in reports()
        assert looked().win is not None


def reports() -> str:
    auditor = floor.Staff.objects.filter(username="anna").first() or floor.staff(Role.AUDITOR, "anna")
    return floor.client(auditor).get(reverse("pit:reports")).content.decode()


def test_a_chip_unit_is_no_option_and_a_new_method_is_computed_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: a hundred rows for one game, or numbers of a method that was put right."""
    dealer = at_war()
    assert cached_sheets.key_of("casino_war", rules_of(dealer.table)) == cached_sheets.key_of(*WAR)
    assert cached_sheets.key_of("casino_war", Rules(decks=5)) != cached_sheets.key_of(*WAR)
    cached_sheets.value_games()
    assert not cached_sheets.of([WAR])[0].pending
    monkeypatch.setitem(cached_sheets.KEPT, "casino_war", 2)  # type: ignore[arg-type]
    assert cached_sheets.of([WAR])[0].pending
    cached_sheets.value_games()
    assert sorted(KeptSheet.objects.values_list("method", flat=True)) == [1, 2]


def test_what_another_worker_is_at_is_left_to_it() -> None:
    """Harm: every worker of the house at the same sum."""
    at_war()
    with locked_by_another_worker("value {} {}".format(*cached_sheets.key_of(*WAR))):
        cached_sheets.value_games()
        assert not KeptSheet.objects.exists()
    cached_sheets.value_games()
    assert KeptSheet.objects.count() == 1


def test_a_cached_sheet_is_written_once() -> None:
    """Harm: one game has two expectations, and pages choose between them by chance."""
    facts = {"game": "casino_war", "options_digest": "0", "method": 1, "options": {}, "wagers": {}, "covariances": []}
    KeptSheet.objects.create(**facts)
    with pytest.raises(IntegrityError, match="tables_keptsheet_once"), transaction.atomic():
        KeptSheet.objects.create(**facts)
