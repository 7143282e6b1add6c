"""The road maps of a table's display: the shoe that they show."""

import pytest
from django.urls import reverse

from tests import floor


@pytest.mark.django_db
def test_the_display_has_the_hands_of_the_shoe() -> None:
    """Harm: players bet by a road that is another shoe's, or short of the last hand."""
    hand = floor.dealt(name="Table 1", game="baccarat", options={}, seats=7)[0]
    for _ in range(2):
        hand("bet", seat=1, wager="player", amount_cents=5_000)
        hand("close_bets")
        hand.cards("9", "2", "K", "3")
        hand.pay()
    boss = floor.client(floor.staff(floor.Role.PIT_BOSS, "boris"))
    html = boss.get(reverse("pit:display", args=[hand.table.pk])).content.decode()
    assert "Bead plate, 2 hands: Player 2, Banker 0, Tie 0" in html
    assert "Natural 9" in html
