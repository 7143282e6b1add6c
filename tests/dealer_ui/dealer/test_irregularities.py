"""The pages of mishaps: the procedure of each, what can be entered there, and who signs."""

import html
import re
import uuid

import pytest

from ledger.models import LogEntry
from tables.log.irregularities import MISHAPS
from tables.roles import Role
from tests import floor
from tests.floor import PIN, Hand, dealt

pytestmark = pytest.mark.django_db


def path(hand: Hand, name: str = "") -> str:
    return f"/tables/{hand.table.pk}/mishaps/" + (f"{name}/" if name else "")


def latest(hand: Hand) -> str:
    entry = LogEntry.objects.filter(book_id=hand.table.book_id).order_by("-seq")[0]
    return f"{entry.subject} {entry.kind}"


@pytest.mark.parametrize("source", ["keyed", "house"])
def test_each_procedure_is_shown_with_what_to_say_and_who_comes(source: str) -> None:
    """Harm: a dealer opens a procedure in mid-round and finds an error."""
    dealer, _ = dealt(source=source)
    dealer.bets(seat1=1_000)
    browser = floor.client(dealer.by)
    assert browser.get(path(dealer)).content.decode().count("mishaps__way") == len(MISHAPS)
    for name, mishap in MISHAPS.items():
        page = html.unescape(browser.get(path(dealer, name)).content.decode())
        assert [line for line in (mishap.says, mishap.bets, mishap.cards, *mishap.does) if line not in page] == [], name


def test_an_unknown_mishap_is_not_there_and_another_dealer_has_no_list() -> None:
    """Harm: somebody enters a mishap at a table that another one deals."""
    dealer, _ = dealt()
    other = floor.staff(Role.DEALER, "ida", "102")
    assert floor.client(dealer.by).get(path(dealer, "bad_luck")).status_code == 404
    assert floor.client(other).get(path(dealer)).status_code == 403


def posted(hand: Hand, name: str, **form: object) -> tuple[int, str]:
    sent = {"key": str(uuid.uuid4()), "seq": hand.now.seq, **form}
    answer = floor.client(hand.by).post(path(hand, name), sent)
    refused = re.search(r'id="refused"[^>]*>([^<]*)<', answer.content.decode())
    return answer.status_code, refused[1] if refused else ""


def test_a_void_takes_a_pit_boss_on_the_tables_terminal() -> None:
    """Harm: a dealer voids a round with a badge that is no pit boss's."""
    dealer, _ = dealt()
    floor.staff(Role.PIT_BOSS, "petra", "201")
    dealer.bets(seat1=1_000)
    form = {"act": "void", "reason": "misdeal", "note": "a card fell", "pin": PIN}
    assert posted(dealer, "void", **form, badge="101")[0] == 403
    assert posted(dealer, "void", **form | {"note": ""}, badge="201")[1] == "Say in a few words why the round is void."
    assert dealer.now.round_open
    assert posted(dealer, "void", **form, badge="201")[0] == 302
    assert latest(dealer) == "round voided"


def test_a_bet_over_the_limit_is_signed_for_at_the_table() -> None:
    """Harm: the house has no way to record the bet that lies there."""
    dealer, _ = dealt()
    floor.staff(Role.PIT_BOSS, "petra", "201")
    form = {"act": "accept_bet", "seat": "2", "amount": "150", "wager": "main", "badge": "201", "pin": PIN}
    assert posted(dealer, "over_limit", **form)[0] == 302
    assert dealer.now.round is not None
    assert dealer.now.round.view(0).seats[1].bet_cents == 15_000


def test_the_hand_of_a_player_who_left_is_ruled_on_at_the_table() -> None:
    """Harm: the only key that the dealer finds for a player who left is Fold."""
    dealer, _ = dealt()
    floor.staff(Role.PIT_BOSS, "petra", "201")
    dealer.bets(seat1=1_000)
    browser, page = floor.client(dealer.by), path(dealer, "player_left")
    assert "when that seat has to decide" in browser.get(page).content.decode()
    dealer.cards(8, 9)
    assert "Seat 1 has to decide" in browser.get(page).content.decode()
    form = {"act": "play_on", "seat": "1", "note": "called to the phone", "pin": PIN}
    assert posted(dealer, "player_left", **form, badge="101")[0] == 403
    assert posted(dealer, "player_left", **form, badge="201")[0] == 302
    entry = LogEntry.objects.filter(book_id=dealer.table.book_id, kind="entered").get()
    assert (entry.by, entry.content["act"], latest(dealer)) == ("201 Petra", "play_on", "round play")


def test_a_card_is_set_aside_and_a_mishap_noted_by_the_dealer_alone() -> None:
    """Harm: a note of a mishap waits for a pit boss who is at another table."""
    dealer, _ = dealt()
    dealer.bets(seat1=1_000)
    assert posted(dealer, "boxed_card", act="set_aside", card="")[0] == 422
    assert posted(dealer, "boxed_card", act="set_aside", card="7")[0] == 302
    assert latest(dealer) == "round play"
    assert posted(dealer, "misdeal", act="", called="Petra", note="two stuck together")[0] == 302
    assert latest(dealer) == "mishap entered"
    assert posted(dealer, "boxed_card", act="set_aside", card="99")[0] == 422


def test_the_pit_voids_a_round_and_abandons_a_table_from_the_floor() -> None:
    """Harm: in an evacuation nobody stands at the table to sign there."""
    dealer, boss = dealt()
    dealer.bets(seat1=1_000)
    browser = floor.client(boss.by)
    page = browser.get(f"/pit/tables/{dealer.table.pk}/do/void-round/").content.decode()
    assert "every bet goes back" in page
    form = {"key": str(uuid.uuid4()), "seq": dealer.now.seq, "reason": "misdeal", "note": "seen on camera"}
    assert browser.post(f"/pit/tables/{dealer.table.pk}/do/void-round/", form).status_code == 302
    assert latest(dealer) == "round voided"
    stale = {"key": str(uuid.uuid4()), "seq": 1, "reason": "fire", "note": "smoke"}
    assert browser.post(f"/pit/tables/{dealer.table.pk}/do/abandon/", stale).status_code == 302
    assert latest(dealer) == "dealer signed_out"
    page = browser.get(f"/pit/tables/{dealer.table.pk}/rounds/1/").content.decode()
    assert "void: misdeal" in page
