"""The pages of seats: who gets one, what may be entered there, several seats at once, and how the log proves it."""

import re
import uuid
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from ledger.log import entries
from ledger.models import Alert, LogEntry
from tables.floor import inputs, player_pages, recorder, shoes
from tables.floor.recorder import Receipt
from tables.games.catalog import GAMES
from tables.models import SeatPage
from tables.refusals import Refused
from tests import floor
from tests.floor import Hand, Player, for_pot
from tests.intruder import at_work
from tests.tables.at_once import at_once
from tests.tables.chance import by_seed
from tests.tables.floor.acts import fault, refusal, verify

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]

Table = tuple[Hand, Hand, dict[int, Player]]


def electronic(game: str = "hawthorn", seats: int = 3) -> Table:
    """A game on a house shoe is dealt, and every seat has its page: the dealer, the pit boss, the players."""
    dealer, boss = for_pot(game, seats=dict.fromkeys(range(1, seats + 1), 5_000), source="house")
    players = {seat: floor.player(dealer, seat) for seat in range(1, seats + 1)}
    dealer("start_game")
    return dealer, boss, players


@pytest.fixture(autouse=True)
def _seeded(monkeypatch: pytest.MonkeyPatch) -> None:
    by_seed(monkeypatch, "seat pages")


@pytest.fixture
def table() -> Table:
    return electronic()


def kinds(hand: Hand) -> list[tuple[str, dict[str, Any]]]:
    """What the log says of pages."""
    return [(entry.kind, entry.content) for entry in entries(hand.table.book_id) if entry.subject == "seat_page"]


# --- the address -----------------------------------------------------------------------------------------------


def test_the_database_has_the_digest_of_a_token_and_salted_hashes_of_hands(table: Table) -> None:
    """Harm: a reader of the database or a backup opens every hand in play, or hashes a few hundred possible hands until
    one matches the hash that every auditor sees."""
    dealer, _, players = table
    token = players[1].token
    assert len(token) >= 43, "256 bits"
    page = player_pages.find(token)
    assert page is not None
    assert page.seat == 1
    with connection.cursor() as cursor:
        cursor.execute("SELECT row_to_json(page)::text FROM tables_seatpage AS page")
        rows = str(cursor.fetchall())
    bodies = [bytes(body).decode() for body in LogEntry.objects.values_list("body", flat=True)]
    assert token not in rows
    assert not [body for body in bodies if token in body or page.token_digest in body]
    plays = [entry for entry in entries(dealer.table.book_id) if entry.subject == "round"]
    assert {len(entry.content["salt"]) for entry in plays} == {32}


def test_a_new_address_revokes_the_old_one_and_alerts_the_pit(table: Table) -> None:
    """Harm: a player who left the table, or a photograph of the screen, still gives access to the hand; or a dealer of
    any table creates a Player page and looks at the hand of its seat without an alert."""
    dealer, boss, players = table
    stranger = Hand(dealer.table, floor.staff(dealer.by.role, "dirk", "103"))
    assert refusal(floor.player, stranger, 1).code == "not_your_table"
    assert refusal(floor.player, dealer, 9).code == "unknown_seat"
    assert not Alert.objects.exists()
    floor.player(dealer, 2)
    assert Alert.objects.get().message == "Hawthorn, round 1: Dora made a page for seat 2 in mid-game"
    again = floor.player(boss, 1)
    assert player_pages.find(players[1].token) is None
    assert player_pages.find(again.token) is not None
    assert refusal(players[1].chooses, players[1].choices[0]).code == "page_revoked"
    again.chooses(again.choices[0])
    assert [content["again"] for _, content in kinds(dealer)] == [False, False, False, True, True]
    verify(dealer.table)


def test_cashing_out_and_closing_revoke_and_the_log_says_so() -> None:
    """Harm: the next player at a seat is watched by the one before."""
    dealer, boss = for_pot("hawthorn", seats={1: 1_000, 2: 1_000}, source="house")
    players = [floor.player(dealer, seat) for seat in (1, 2)]
    dealer("cash_out", seat=1)
    assert player_pages.find(players[0].token) is None
    assert kinds(dealer)[-1] == ("revoked", {"seat": 1})
    dealer("cash_out", seat=2)
    floor.player(dealer, 3)
    boss("close_table")
    assert not SeatPage.objects.exists()
    assert kinds(dealer)[-1] == ("revoked", {"seat": 3})
    verify(dealer.table)


@pytest.mark.parametrize("chosen", [{"game": "hawthorn", "source": "keyed"}, {"game": "rocket", "source": "house"}])
def test_where_nothing_is_hidden_in_the_system_there_are_no_pages(chosen: dict[str, str]) -> None:
    """Harm: a page that shows nothing, or one by which somebody else than the dealer plays for the house's money."""
    game = chosen.pop("game")
    dealer, _ = for_pot(game, seats={}, **chosen) if game != "rocket" else floor.dealt(game=game, **chosen)
    assert refusal(floor.player, dealer, 1).code == "no_seat_pages"
    assert not SeatPage.objects.exists()


# --- choosing --------------------------------------------------------------------------------------------------


def test_a_seat_chooses_for_itself_and_nothing_else(table: Table) -> None:
    """Harm: whoever holds one player's address plays for the others, or runs the table."""
    dealer, _, players = table
    player, seq = players[1], dealer.now.seq
    for entered in ({"do": "choose", "seat": 2, "choice": "start", "card": 1}, {"do": "deal"}, {"do": "take_back"}):
        facts = {"by": player.by, "key": uuid.uuid4(), "expected_seq": seq}
        assert refusal(recorder.record, dealer.table, inputs.read(entered), **facts).code == "not_permitted"
    player.chooses(player.choices[0])
    assert refusal(player, "start", card=1).code == "not_asked"
    last = LogEntry.objects.get(book_id=dealer.table.book_id, seq=dealer.now.seq)
    assert (last.by, last.kind) == ("seat 1", "play")


def test_nobody_else_chooses_for_a_hidden_hand_or_finds_out_by_trying(table: Table) -> None:
    """Harm: a dealer who tries one card after the other learns a hand from what is refused."""
    dealer, boss, _ = table
    for hand in (dealer, boss):
        sentences = {refusal(hand, "choose", seat=1, choice="start", card=rank).sentence for rank in range(1, 11)}
        assert len(sentences) == 1


def test_the_dealer_may_still_choose_where_no_hand_is_hidden() -> None:
    """Harm: a game without a single facedown card waits for players who said aloud what they do."""
    dealer, _ = for_pot("starboard", seats={1: 1_000, 2: 1_000}, source="house")
    dealer("start_game")
    ask = dealer.now.round.game.prompts(dealer.now.round.state)[0]
    page = floor.player(dealer, ask.seat)
    dealer("choose", seat=ask.seat, choice="lock")
    if page.by.seat in dealer.now.round.asked:
        page.chooses(page.choices[-1])
    verify(dealer.table)


@pytest.mark.django_db(transaction=True)
def test_seats_and_devices_that_choose_at_once_are_recorded_once_each(table: Table) -> None:
    """Harm: one of two players who choose on the same state of the table is refused, although nothing visible to that
    player has changed; a second tap, on another device of the same player, answers the next question unseen; or a
    choice that is sent again after a slow answer is refused, or recorded twice."""
    dealer, _, players = table
    seq, key = dealer.now.seq, uuid.uuid4()
    device, tap = partial(_choose, players[1], seq), partial(_choose, players[2], seq, key)
    first, second, *taps = at_once(device, device, tap, tap)
    other_device, answer = sorted((first, second), key=lambda outcome: isinstance(outcome, Receipt))
    assert isinstance(other_device, Refused)
    assert other_device.code == "not_asked"
    assert {answer.entry, *(outcome.entry for outcome in taps)} == {seq + 1, seq + 2}
    assert _choose(players[3], seq).entry == seq + 3
    assert dealer.now.round.game.view(dealer.now.round.state, None).seats[0].stack
    verify(dealer.table)


def _choose(player: Player, seq: int, key: uuid.UUID | None = None) -> Receipt:
    choice = player.choices[0]
    return player(choice.name, card=choice.card, seq=seq, key=key)


def test_a_page_of_before_the_question_is_stale(table: Table) -> None:
    """Harm: a tap meant for one question answers the next one; or a page from the future is believed."""
    dealer, _, players = table
    seq = dealer.now.seq
    for player in players.values():
        _choose(player, seq)
    acting = players[next(iter(dealer.now.round.asked))]
    now = dealer.now.seq
    for wrong in (seq, now - 1, now + 1):
        assert refusal(acting, "fold", seq=wrong).code == "stale_sequence"
    floor.player(dealer, 6 - acting.by.seat if acting.by.seat != 3 else 1)  # an entry that does not touch the game
    acting("fold", seq=now)


# --- proof -----------------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_an_entry_that_no_page_of_its_seat_sends_is_found(table: Table) -> None:
    """Harm: a writer to the database makes a player's choice, or deals in a player's name, and the proof finds no
    fault."""
    dealer, _, players = table
    deal = dealer.now.seq
    choice = players[1].chooses(players[1].choices[0]).entry
    verify(dealer.table)
    forgeries = (
        (choice, "seat 2", "which may choose for itself"),
        (choice, "101 Dora", "101 Dora chose for seat 1"),
        (deal, "seat 1", "which may choose for itself"),
    )
    for seq, by, sentence in forgeries:
        with at_work() as intruder:
            intruder.rewrite(dealer.table.book_id, seq, lambda document, by=by: document.update(by=by))
            breach = fault(dealer.table)
        assert breach.seq == seq
        assert sentence in breach.what


# --- packets that seats look at ----------------------------------------------------------------------------------


@pytest.fixture
def packets() -> Table:
    """Three Card Poker from a house shoe: two seats have bet, and their packets lie facedown."""
    dealer, boss = floor.dealt(name="Table 1", game="three_card_poker", options={}, seats=3, source="house")
    players = {seat: floor.player(dealer, seat) for seat in (1, 2, 3)}
    for seat in (1, 3):
        dealer("bet", seat=seat, amount_cents=1_000, wager="ante")
    dealer("close_bets")
    return dealer, boss, players


def packet_of(dealer: Hand, seat: int) -> tuple[str, ...]:
    return shoes.packet(dealer.table, dealer.now, seat)


def test_a_packet_is_on_its_own_page_and_nowhere_else(packets: Table, client: Client) -> None:
    """Harm: a neighbour, the dealer or an auditor knows a hand before its seat has decided."""
    dealer, boss, players = packets
    own = packet_of(dealer, 1)
    assert len(own) == 3
    assert {*own}.isdisjoint(packet_of(dealer, 3))
    faces = {seat: client.get(reverse("seat", args=[players[seat].token])).content.decode() for seat in (1, 2, 3)}
    assert "Your packet: only you see it" in faces[1]
    drawn = {seat: set(re.findall(r'aria-label="([^"]* of [^"]*)"', page)) for seat, page in faces.items()}
    assert len(drawn[1]) == len(drawn[3]) == 3
    assert drawn[1].isdisjoint(drawn[3])
    assert not drawn[2]
    bodies = b"".join(bytes(entry.body) for entry in LogEntry.objects.filter(book_id=dealer.table.book_id, round=1))
    assert b'"card"' not in bodies
    assert b"~c" not in bodies
    for hand in (dealer, boss):
        assert all(not cards.cards for seat in hand.board.seats for cards in seat.hands)


def test_a_seat_plays_its_packet_or_tells_the_dealer(packets: Table) -> None:
    """Harm: a round waits for a player whose device has no power; or a seat decides for its neighbour."""
    dealer, _, players = packets
    own = {seat: packet_of(dealer, seat) for seat in (1, 3)}
    assert refusal(players[3], "play").code == "not_asked"
    players[1]("play")
    dealer("choose", seat=3, choice="fold")
    dealer("deal")
    dealer.pay()
    current = dealer.now.round
    assert current.over
    names = GAMES["three_card_poker"].pack(current.rules).spellings
    shown = {
        seat.seat: tuple(names[card - 1] for card in seat.hands[0].cards) for seat in current.dealt_in if seat.hands
    }
    assert shown == own
    assert packet_of(dealer, 1) == ()
    dealer("retire_shoe")
    verify(dealer.table)
