"""The same screen without JavaScript: every button is a form, and every answer a page."""

from tests.browser.conftest import AtTable, bets_of, entries
from tests.floor import Hand


def test_a_round_without_a_script(at_table: AtTable, rocket: Hand) -> None:
    """Harm: a tablet whose script failed shows keys that enter nothing, or a refusal that nobody can read."""
    screen = at_table(rocket, java_script_enabled=False)
    page = screen.page
    page.goto(f"/tables/{rocket.table.pk}/")
    page.click(".seat[data-seat='2'] .seat__plate")
    page.fill("#amount", "5")
    page.click("#place")
    assert screen.refused == "bad_bet"
    page.click("#refused button")
    assert bets_of(rocket) == {2: 1_000}
    page.click("#close")
    page.click("#key-8")
    page.click("#key-10")
    assert screen.asks == ("choose", "seat 2")
    page.click("#key-7")
    page.click("#key-10")
    assert (screen.due, screen.to_pay) == ("pay", (2, 1_000))
    page.click(".steps button")
    assert screen.due == "bets"
    page.click(".seat__again")
    assert bets_of(rocket) == {2: 1_000}
    assert len(entries(rocket)) == rocket.now.seq
