"""A card that is burned because another dealer took the table: where the house's terms want it."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import override_settings

from ledger.proof import seals
from tables.audit import day_seals
from tables.audit.outside import verifier
from tables.audit.outside.bundle import Wrong
from tables.floor import recorder
from tables.games.cards import UNKNOWN
from tables.models import Staff
from tables.reports import gaming_hours
from tables.roles import Role
from tables.setup import policies
from tables.state import table_state
from tests import floor
from tests.clock import travelling
from tests.floor import Hand, dealt, for_pot
from tests.tables.bundles import ONE, exported
from tests.tables.floor.acts import burn_at_relief, fault, latest_kinds, refusal, set_aside, verify, void

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]

Terms = Callable[..., None]


def relieve(dealer: Hand, boss: Hand) -> Hand:
    """Another dealer takes the table from the one who stands there."""
    other = Staff.objects.filter(username="dan").first() or floor.staff(Role.DEALER, "dan")
    recorder.relieve(dealer.table, other, dealer.by.username, confirmed_by=boss.by)
    return Hand(dealer.table, other)


@pytest.mark.parametrize(
    ("burns", "settings"),
    [
        (False, {}),
        (True, {"source": "csm", "options": {"decks": 2}}),
        (True, {"game": "goblin_poker", "seats": {1: 3_000, 2: 3_000}}),
    ],
    ids=["not asked for", "shuffling machine", "pot"],
)
def test_no_burn_is_due_unless_the_terms_and_the_shoe_have_one(
    terms: Terms, burns: bool, settings: dict[str, Any]
) -> None:
    """Harm: a card is burned against the casino's policies, or where it does not stay out: the table stops at it, and
    the count of the shoe is off."""
    terms(burn_at_relief=burns)
    relief = relieve(*(for_pot(**settings) if "game" in settings else dealt(**settings)))
    assert not relief.now.burn_is_due
    assert relief.board.due != "relief"
    verify(relief.table)


@pytest.mark.parametrize("source", ["keyed", "house", "batch"])
def test_a_card_is_burned_before_the_next_round(terms: Terms, source: str) -> None:
    """Harm: the relief forgets the burn, and no screen shows that it is due; or another process, which did not see the
    relief, continues without the burn or requires a second one."""
    terms(burn_at_relief=True)
    dealer, boss = dealt(source=source, options={"decks": 2})
    relief = relieve(dealer, boss)
    table_state.cache.clear()
    assert relief.board.due == "relief"
    assert [button.label for button in relief.board.buttons if button.primary] == ["Card is burned"]
    assert refusal(relief.bets, seat1=1_000).sentence == "Burn a card first: another dealer took the table."
    assert refusal(relief, "burn", turned=3).code == "bad_burn"
    left = relief.now.cards_left
    relief("burn")
    assert latest_kinds(relief.table, 1) == ["shoe card_set_aside"]
    assert relief.now.cards_left == left - 1
    assert relief.board.due == "bets"
    shoe = relief.now.shoe
    assert shoe is not None
    assert (shoe.aside or ())[-1][1] == UNKNOWN or source == "house", "of real cards nobody saw which"
    relief.bets(seat1=1_000)
    table_state.cache.clear()
    assert not relief.now.burn_is_due
    verify(relief.table)


def test_a_relief_in_mid_round_burns_after_it(terms: Terms) -> None:
    """Harm: the round stops in its middle for a burn, and its cards come out in another order than they were to."""
    terms(burn_at_relief=True)
    dealer, boss = dealt()
    dealer.bets(seat1=1_000)
    relief = relieve(dealer, boss)
    assert relief.board.due == "card"
    void(boss)
    assert relief.board.due == "relief"
    burn_at_relief(relief)
    assert relief.board.due == "bets", "burned by the procedure it is burned as well"
    verify(relief.table)


def test_a_card_that_is_set_aside_is_not_the_burn(terms: Terms) -> None:
    """Harm: an exposed card counts as the due burn, or a tap out and a tap in are a relief without a burn."""
    terms(burn_at_relief=True)
    dealer, _ = dealt()
    recorder.sign_out(dealer.table, dealer.by)
    recorder.sign_in(dealer.table, dealer.by)
    assert dealer.board.due == "relief"
    set_aside(dealer, "4")
    assert dealer.board.due == "relief"
    dealer("burn")
    assert dealer.board.due == "bets"
    verify(dealer.table)


def test_the_last_card_of_a_shoe_is_left_in_it(terms: Terms) -> None:
    """Harm: the shoe has no card for the burn that is due, and the table cannot go on."""
    terms(burn_at_relief=True)
    dealer, boss = dealt()
    left = dealer.now.cards_left
    relief = relieve(dealer, boss)
    shoe = relief.now.shoe
    assert shoe is not None
    for burned, is_due in ((left - 2, True), (left - 1, False)):
        aside = ((shoe.ready_seq + 1, 0),) * burned
        assert replace(relief.now, shoe=replace(shoe, aside=aside)).burn_is_due == is_due


def test_after_a_shuffle_nothing_is_due(terms: Terms) -> None:
    """Harm: cards are burned twice, after the shuffle and for the relief before it."""
    terms(burn_at_relief=True)
    dealer, boss = dealt()
    dealer("cut_card_out")
    relief = relieve(dealer, boss)
    assert relief.board.due == "shuffle"
    relief("shuffle_shoe")
    relief.ready_shoe()
    assert relief.board.due == "bets"
    verify(relief.table)


def deals_on_regardless(relief: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    """A round is opened as by whoever has the application's database role, and asks nothing of the floor."""
    with monkeypatch.context() as patched:
        patched.setattr("tables.floor.shoes.due", lambda scene: None)
        relief.bets(seat1=1_000)


def test_a_proof_finds_a_round_that_was_opened_without_the_burn(terms: Terms, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: a dealer saves the burn, and nobody can tell."""
    terms(burn_at_relief=True)
    relief = relieve(*dealt())
    deals_on_regardless(relief, monkeypatch)
    assert fault(relief.table).what.endswith("Burn a card first: another dealer took the table.")


@pytest.mark.django_db(transaction=True)
def test_so_does_an_outsider(terms: Terms, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: only the house itself can tell that a burn is missing."""
    terms(burn_at_relief=True)
    key_file = tmp_path / "audit.pem"
    seals.make_key(key_file)
    with override_settings(AUDIT_KEY_FILE=str(key_file)), travelling() as clock:
        relief = relieve(*dealt(name="Rocket 9"))
        deals_on_regardless(relief, monkeypatch)
        clock.pass_until(gaming_hours.span(ONE)[1] + timedelta(hours=1))
        with monkeypatch.context() as patched:  # the house seals what it did not look at
            patched.setattr("tables.log.state.TableState.burn_is_due", False)
            day_seals.seal_finished()
        path = tmp_path / "bundle.zip"
        path.write_bytes(exported(ONE, ONE))
    with pytest.raises(Wrong, match="before the card was burned that is due at a relief"):
        verifier.verify(path, say=lambda line: None)


def test_a_proof_finds_a_relief_that_hid_its_burn(
    operator: Staff, terms: Terms, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: the entry of a relief says that nothing is to be burned, against the house's terms."""
    monkeypatch.setattr(policies, "SLACK", timedelta(0))
    dealer, boss = dealt()
    policies.change({"burn_at_relief": True}, by=operator)
    terms(burn_at_relief=False)
    relief = relieve(dealer, boss)
    policies.forget()
    assert "terms said otherwise" in fault(relief.table).what
