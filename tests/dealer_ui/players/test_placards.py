"""Placards: what a stranger learns of a table, and what not; and that a thousand phones cost next to nothing."""

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dealer_ui.players import placards
from tables.approvals import proposals
from tables.games.catalog import DEALT
from tables.games.in_words import HOW_IT_GOES
from tables.limits import placard_address, plans
from tables.log.entries.limit_plans import LimitPlanSet
from tables.log.entries.pits import PitSectionSet
from tables.log.limit_plans import Always
from tables.models import Staff, Table
from tables.roles import Role
from tables.setup import pits, table_settings
from tests import floor
from tests.ready import ready_made

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


@pytest.fixture(autouse=True)
def _nothing_drawn_yet() -> None:
    cache.clear()


@pytest.fixture
@ready_made
def table() -> Table:
    return floor.table()


def text(address: str, status: int = 200) -> str:
    cache.clear()
    answer = Client().get(address)
    assert answer.status_code == status
    return " ".join(answer.content.decode().split())


def test_it_tells_limits_rules_and_the_state_and_nothing_of_the_game_that_goes_on() -> None:
    """Harm: a public page says who deals, who sits there for how much, or what cards lie."""
    dealer, boss = floor.dealt(options={"decks": 6})
    dealer.bets(seat1=2_000, seat4=5_000)
    dealer.cards(8, 4)
    page = text(placard_address.of_table(dealer.table))
    for told in (dealer.table.name, "Rocket", "<dt>Minimum</dt><dd>10.00", "<dd>100.00", "Open", "<dd>6</dd>"):
        assert told.replace(".00", "") in page.replace(".00", "")
    for kept in (dealer.by.name, boss.by.name, "20.00", "50.00", "rack", "seat", "burn", "cut card", "csrf"):
        assert kept.lower() not in page.lower()


def test_it_tells_which_bets_are_taken_and_that_winnings_are_rounded() -> None:
    """Harm: a table pays a bet of 15 less than 3 to 2, and neither the sign nor the dealer's screen says so."""
    table = partial(floor.table, game="blackjack", unit_cents=50, bet_step_cents=500)
    rounds = partial(table, unit_cents=500, bet_step_cents=None)
    signs = {
        "exact": (table("A", options={}), "Bets by 5.00.", ""),
        "down": (rounds("B", options={}), "Winnings are rounded down to whole chips of 5.00.", "down"),
        "up": (rounds("C", options={"rounding": "up"}), "Winnings are rounded up to whole chips of 5.00.", "up"),
        "by wager": (rounds("D", options={"rounding": "exact"}), "Bet by 10.00.", ""),
    }
    for felt, line, rounding in signs.values():
        page = text(placard_address.of_table(felt)).replace(".00", "")
        assert line.replace(".00", "") in page, felt
        assert f"rounded {rounding}" in page if rounding else "rounded" not in page, felt


def test_a_closed_table_says_so_and_an_address_that_leads_nowhere_too(table: Table) -> None:
    """Harm: a sign shows limits of a table that nobody deals, or an error page of the house."""
    assert "Closed now" in text(placard_address.of_table(table))
    Table.objects.filter(pk=table.pk).update(retired_at=timezone.now())
    assert "on the floor no more" in text(placard_address.of_table(table), 404)
    wrong = placard_address.of_table(table)[:-2] + ("a/" if placard_address.of_table(table)[-2] != "a" else "b/")
    huge = "/placard/99999999999999999999-aaaaaaaaaa/"
    for address in (wrong, "/placard/x/", f"/placard/{table.pk}-/", huge, "/placard/pit/x/"):
        assert "Ask" in text(address, 404)


def test_what_was_approved_for_later_is_announced_with_the_new_limits(
    table: Table, operator: Staff, terms: Any
) -> None:
    """Harm: players learn of a minimum that was raised when their bet is refused."""
    second = floor.staff(Role.OPERATOR, "olga")
    terms(two_people=True)
    draft = table_settings.draft_for_later(table, {"min_cents": 2_000, "max_cents": 20_000})
    draft = replace(draft, effective=timezone.now() + timedelta(hours=1))
    proposal = proposals.propose(draft, "weekend", by=operator)
    assert "From" not in text(placard_address.of_table(table))
    proposals.approve(proposal, by=second)
    page = text(placard_address.of_table(table))
    assert "20 to 200" in page.partition("From")[2][:120]
    assert "weekend" not in page
    assert operator.name not in page


def test_what_a_plan_sets_next_is_announced(table: Table, operator: Staff) -> None:
    """Harm: the sign is silent about the evening's limits, and the dealer has to say no to each guest."""
    soon = timezone.now() + timedelta(hours=2)
    evening = LimitPlanSet(
        name="Evening", schedule=Always(), version=0, scope="table", of=table.name, effective=soon.isoformat(),
        values={"min_cents": 3_000, "max_cents": 30_000}, note="big night",
    )  # fmt: skip
    plans.set_plan(evening, expected_version=0, by=operator)
    page = text(placard_address.of_table(table))
    assert "30 to 300" in page.partition("From")[2]
    assert "big night" not in page


def test_the_odds_stand_there_only_where_the_house_shows_them(table: Table, terms: Any) -> None:
    """Harm: the house's edge is published by default; or a page for strangers solves a game for seconds."""
    assert "odds" not in text(placard_address.of_table(table))
    terms(placard_odds=True)
    page = text(placard_address.of_table(table))
    assert "The odds" in page
    assert " %</dd>" in page
    blackjack = floor.table(
        "Blackjack 1", game="blackjack", options={}, unit_cents=100, min_cents=1_000, max_cents=10_000
    )
    assert "The odds" not in text(placard_address.of_table(blackjack))


def test_another_series_makes_every_address_anew(table: Table, terms: Any) -> None:
    """Harm: an address that got to where it should not be can never be taken back."""
    former = placard_address.of_table(table)
    terms(placard_series=2)
    assert text(former, 404)
    assert table.name in text(placard_address.of_table(table))


def test_a_key_that_was_replaced_still_opens_printed_signs(table: Table, settings: Any) -> None:
    """Harm: all signs of the floor are waste paper when a server's key is changed."""
    former = placard_address.of_table(table)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another key of this house, long enough"  # pragma: allowlist secret
    assert placard_address.of_table(table) != former
    assert table.name in text(former)


def test_a_thousand_phones_cost_one_drawing_and_a_poll_nothing(table: Table) -> None:
    """Harm: a crowd with the sign on its phones takes the database from the dealers."""
    address, browser = placard_address.of_table(table), Client()
    first = browser.get(address)
    assert first["Cache-Control"] == "public, max-age=5"
    assert not first.cookies
    with CaptureQueriesContext(connection) as captured:
        assert browser.get(address).content == first.content
        poll = browser.get(address, headers={"If-None-Match": first["ETag"]})
    assert len(captured) == 0
    assert (poll.status_code, poll.content) == (304, b"")


def test_who_is_signed_in_leaves_no_session_in_a_page_that_proxies_keep(table: Table) -> None:
    """Harm: a shared cache hands an operator's cookie to the next phone."""
    browser = floor.client(floor.staff(Role.OPERATOR, "omar"))
    answer = browser.get(placard_address.of_table(table))
    assert not answer.cookies
    assert "Cookie" not in answer.get("Vary", "")


def test_who_tries_addresses_is_sent_away_and_known_signs_go_on(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: somebody counts through addresses; or one such visitor darkens the signs of the floor."""
    browser = Client()
    monkeypatch.setattr(placards, "STRANGERS_A_MINUTE", 30)
    browser.get(placard_address.of_table(table))
    statuses = [browser.get(f"/placard/{table.pk}-{number:010}/").status_code for number in range(40)]
    assert (statuses[0], statuses[-1]) == (404, 429)
    assert browser.get(placard_address.of_table(table)).status_code == 200
    monkeypatch.setattr(placards, "REQUESTS_A_MINUTE", 3)
    cache.clear()
    answers = [browser.get(placard_address.of_table(table)) for _ in range(5)]
    assert answers[-1].status_code == 429
    assert answers[-1]["Cache-Control"] == "no-store, private"


def test_a_pit_has_one_sign_and_names_are_only_text(table: Table, operator: Staff) -> None:
    """Harm: a table's name runs as a script on every phone of the floor."""
    script = table_settings.create_table("<script>alert(1)</script>", table_settings.settings_of(table), by=operator)
    pits.set_section(PitSectionSet(pit="<i>Pit", tables=(table.name, script.name)), by=operator)
    page = text(placard_address.of_pit("<i>Pit"))
    assert "<script>alert" not in page
    assert "<i>" not in page
    assert "<script>alert" not in text(placard_address.of_table(script))
    assert placard_address.of_table(table) in page


def test_every_game_has_its_words() -> None:
    """Harm: a new game's sign says nothing of how it goes."""
    assert HOW_IT_GOES.keys() == DEALT.keys()
