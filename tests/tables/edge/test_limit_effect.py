"""What other limits would come to at a table."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from tables.approvals import proposals
from tables.edge import limit_effect
from tables.limits import plans
from tables.log import dual_control
from tables.models import Proposal
from tables.roles import Role
from tables.setup import table_settings
from tests import floor
from tests.clock import Clock
from tests.floor import Hand
from tests.tables.limits.test_plans import drafted

pytestmark = pytest.mark.django_db


@pytest.fixture
def dealer(clock: Clock) -> Hand:
    """Four rounds, a minute apart: seat 1 bets 10, seat 2 bets 100."""
    hand, moment = floor.dealt(options={"decks": 6})[0], timezone.now()
    for minute in range(4):
        clock.stand(moment + timedelta(minutes=minute))
        hand.bets(seat1=1_000, seat2=10_000)
        hand.cards(5, 5, 3)
        hand.pay()
    return hand


def test_bets_are_held_to_the_new_limits_at_the_tables_own_pace(dealer: Hand) -> None:
    """Harm: whoever approves is shown what the house would win of bets that nobody could place."""
    before = table_settings.settings_of(dealer.table)
    after = replace(before, min_cents=2_000, max_cents=5_000, seat_max_cents=4_000)
    effect = limit_effect.of_change(dealer.table, before, after)
    assert (effect.rounds, effect.an_hour) == (4, 60)
    assert effect.before.handle_cents == 60 * 11_000
    assert effect.after.handle_cents == 60 * 6_000
    assert (effect.before.exposure_cents, effect.after.exposure_cents) == (60_000, 24_000)
    assert effect.before.theoretical_cents is not None
    assert effect.after.theoretical_cents is not None
    edge = effect.before.theoretical_cents / effect.before.handle_cents
    assert effect.after.theoretical_cents == pytest.approx(edge * effect.after.handle_cents, abs=2)


def test_a_proposed_plan_is_told_at_each_table_that_it_is_for(dealer: Hand) -> None:
    """Harm: a plan for one table is judged by another one's bets, or nothing is shown of it."""
    floor.table("Rocket 2")
    olga = floor.staff(Role.OPERATOR, "olga", "301")
    event = drafted(values={"max_cents": 20_000, "cap_cents": 50_000})
    proposals.propose(plans.proposed(event, expected_version=0), "", by=olga)
    rocket1, rocket2 = limit_effect.of_proposal(Proposal.objects.get())
    assert (rocket1.table, rocket1.rounds, rocket1.after.exposure_cents) == ("Rocket 1", 4, 50_000)
    assert (rocket2.table, rocket2.rounds, rocket2.after.theoretical_cents) == ("Rocket 2", 0, None)


def test_options_in_the_players_favour_show_what_they_cost(dealer: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: the second person approves an option by which the casino loses, and sees no amount."""
    monkeypatch.setattr(table_settings, "_edges", lambda game, rules: {"main": "0.1000 %"})
    olga = floor.staff(Role.OPERATOR, "olga", "301")
    options = {**table_settings.settings_of(dealer.table).options, "burn": 6}
    draft = table_settings.draft_of(dealer.table, {"options": options})
    assert draft is not None
    assert draft.matter == dual_control.EDGE
    [effect] = limit_effect.of_proposal(proposals.propose(draft, "", by=olga))
    assert (effect.table, effect.rounds) == ("Rocket 1", 4)


def test_every_table_of_a_plan_is_told_and_goes_out_as_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: whoever approves a plan for twenty tables sees what it costs at twelve."""
    floor.table()
    olga = floor.staff(Role.OPERATOR, "olga", "301")
    draft = plans.proposed(drafted(values={"max_cents": 20_000}), expected_version=0)
    proposal = proposals.propose(draft, "", by=olga)
    [effect] = limit_effect.of_proposal(proposal)
    effects = [replace(effect, table=f"Rocket {number}") for number in range(1, 15)]
    monkeypatch.setattr(limit_effect, "of_proposal", lambda _: effects)
    browser, page = floor.client(olga), f"/admin/tables/proposal/{proposal.pk}/change/"
    text = browser.get(page).content.decode()
    assert "2 further tables" in text
    assert "Rocket 14" in text
    file = browser.get(page, {"effect": "csv"}).content.decode()
    assert file.startswith("\ufefftable,")
    assert len(file.splitlines()) == 15
    assert "Rocket 14," in file
