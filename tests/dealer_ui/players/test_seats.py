"""The page of a seat: what it shows and to whom, how a choice is sent, and that its address does not get away."""

import json
import random
import re
import uuid
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from dealer_ui.players import seats
from dealer_ui.players.seat_context import SeatScreen
from ledger.models import LogEntry
from tables.floor import inputs
from tables.games.catalog import GAMES
from tables.games.protocol import AskCard, AskChoice, Choose
from tests import floor
from tests.floor import Hand, Player, for_pot
from tests.ready import ready_made
from tests.tables.chance import by_seed
from tests.tiers import sampled

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]

Table = tuple[Hand, Hand, dict[int, Player]]


def electronic(game: str, seats: int) -> Table:
    dealer, boss = for_pot(game, seats=dict.fromkeys(range(1, seats + 1), 5_000), source="house")
    players = {seat: floor.player(dealer, seat) for seat in range(1, seats + 1)}
    dealer("start_game")
    return dealer, boss, players


@pytest.fixture(autouse=True)
def _nobody_tried(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    by_seed(monkeypatch, "seat pages")
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
@ready_made
def table() -> Table:
    return electronic("hawthorn", 3)


def page(player: Player, name: str = "seat") -> str:
    return reverse(name, args=[player.token])


def look(player: Player) -> str:
    answer = Client().get(page(player))
    assert answer.status_code == 200
    return str(answer.content.decode())


def sent(text: str, **form: Any) -> dict[str, Any]:
    """A form of a page as a browser sends it."""
    key, seq = re.search(r'name="key" value="([^"]+)"', text), re.search(r'name="seq" value="(\d+)"', text)
    assert key
    assert seq
    return {"key": key[1], "seq": seq[1]} | form


def hand(dealer: Hand, seat: int) -> tuple[int, ...]:
    current = dealer.now.round
    return next(box.hand for box in current.game.view(current.state, seat).seats if box.seat == seat)


def start(seat: int, card: int) -> str:
    return json.dumps({"do": "choose", "seat": seat, "choice": "start", "card": card})


# --- what it shows ---------------------------------------------------------------------------------------------


def test_a_seat_sees_its_own_hand_and_of_the_others_only_backs(table: Table) -> None:
    """Harm: the page that was to keep cards secret shows them to another player."""
    dealer, _, players = table
    for player in players.values():
        text = look(player)
        assert f"Your hand: {', '.join(map(str, hand(dealer, player.by.seat)))}" in text
        assert "Your turn." in text.replace("your", "Your")
        others = [other for other in players if other != player.by.seat]
        assert text.count('aria-label="5 facedown"') == len(others)
        choices = set(re.findall(r"&quot;card&quot;: (\d+)", text))
        assert choices == {str(rank) for rank in hand(dealer, player.by.seat)}


def test_after_choosing_a_seat_waits_and_then_sees_what_all_laid(table: Table) -> None:
    _, _, players = table
    for player in (players[1], players[2]):
        player.chooses(player.choices[0])
    assert "You have chosen. Waiting for seat 3." in look(players[1])
    assert "Cards: " not in look(players[1]), "nothing is laid before all have chosen"
    players[3].chooses(players[3].choices[0])
    assert look(players[1]).count("Cards: ") == 3


def test_a_page_tells_how_the_game_came_out() -> None:
    dealer, _, players = electronic("hawthorn", 2)
    for player in players.values():
        player.chooses(player.choices[0])
    acting = players[next(iter(dealer.now.round.asked))]
    other = players[3 - acting.by.seat]
    acting("fold")
    assert "The game is over. You win." in look(other)
    assert "You are out: fold" in look(acting)


# --- choosing --------------------------------------------------------------------------------------------------


def test_a_card_is_tapped_and_recorded_without_any_script(table: Table) -> None:
    """Harm: a player whose browser runs no script cannot play."""
    dealer, _, players = table
    card = hand(dealer, 2)[0]
    form = sent(look(players[2]), choice=start(2, card))
    answer = Client().post(page(players[2], "seat-choose"), form)
    assert (answer.status_code, answer["Location"]) == (302, page(players[2]))
    assert 2 not in dealer.now.round.asked
    before = dealer.now.seq
    again = Client().post(page(players[2], "seat-choose"), form)
    assert again.status_code == 302, "the same tap, sent twice"
    assert dealer.now.seq == before


def test_a_refusal_is_one_sentence_on_the_page_as_it_stands(table: Table) -> None:
    dealer, _, players = table
    text, url = look(players[1]), page(players[1], "seat-choose")
    held = hand(dealer, 1)
    lacking = next(rank for rank in range(1, 11) if rank not in held)
    wrong = Client().post(url, sent(text, choice=start(1, lacking)))
    assert wrong.status_code == 422
    assert "seat 1 may start" in wrong.content.decode().lower()
    assert Client().post(url, sent(text, choice=start(2, held[0]))).status_code == 403
    assert Client().post(url, sent(text, choice='{"do":"deal"}')).status_code == 400
    assert Client().post(url, {"choice": start(1, held[0])}).status_code == 400
    players[1].chooses(players[1].choices[0])
    late = Client().post(url, sent(text, choice=start(1, held[0])), headers={"X-Part": "board"})
    assert late.status_code == 409
    assert "The game has gone on since" in late.content.decode()
    assert "<html" not in late.content.decode(), "a script asked for the board alone"


def test_five_cards_are_put_in_order() -> None:
    """Harm: a player stacks one order, and the system keeps another."""
    dealer, _, players = electronic("troll_guts", 3)
    text, held = look(players[1]), sorted(hand(dealer, 1))
    form = sent(text, way="arrange", card=held, place=[5, 4, 3, 2, 1])
    double = Client().post(page(players[1], "seat-choose"), form | {"place": [1, 1, 2, 3, 4]})
    assert double.status_code == 422
    assert "a place of its own" in double.content.decode()
    assert Client().post(page(players[1], "seat-choose"), form).status_code == 302
    for other in (players[2], players[3]):
        other.chooses(other.choices[0])
    assert hand(dealer, 1) == tuple(reversed(held))


def test_a_set_of_cards_is_ticked() -> None:
    """Harm: a player ticks the cards that go, and other ones go, or none."""
    dealer, _, players = electronic("monster", 4)
    discards = {
        seat: max((choice.cards for choice in player.choices if choice.cards), key=len, default=())
        for seat, player in players.items()
    }
    seat, cards = max(discards.items(), key=lambda discard: len(discard[1]))
    assert cards, "nobody has a pair to part with: another seed"
    before = hand(dealer, seat)
    form = sent(look(players[seat]), way="discard", card=list(cards))
    assert Client().post(page(players[seat], "seat-choose"), form).status_code == 302
    assert sorted(hand(dealer, seat)) == sorted((Counter(before) - Counter(cards)).elements())


POT_GAMES = [name for name, game in GAMES.items() if game.kind == "pot"]


@pytest.mark.parametrize("name", sampled(POT_GAMES, "plays whole games", test=3))
def test_every_choice_of_every_game_can_be_made_on_the_page(name: str) -> None:
    """Harm: a game whose choices the page cannot say stands still, and its pot with it."""
    game, chance = GAMES[name], random.Random(name)
    seats = range(1, game.seat_counts[min(1, len(game.seat_counts) - 1)] + 1)
    options = {"settlement": "cutchfeld", "five_card_catch": True} if name == "pairs" else {}
    chips = dict.fromkeys(seats, 5_000) if game.coins else {}
    dealer, _ = for_pot(name, seats=chips, source="house", options=options)
    players = {seat: floor.player(dealer, seat) for seat in seats}
    dealer("start_game", seats=list(seats))
    for _ in range(40):
        current = dealer.now.round
        if current.over:
            break
        ask = chance.choice(current.game.prompts(current.state))
        if not isinstance(ask, AskChoice):
            dealer("deal" if isinstance(ask, AskCard) else "shuffle")
            continue
        screen = SeatScreen(dealer.table, ask.seat, dealer.now, "token")
        taps = [tap for way in screen.ways for tap in way.taps]
        assert len({tap.label for tap in taps}) == len(taps), "each says what it does"
        plain = {ask.admits(inputs.read(tap.value)) for tap in taps}  # type: ignore[arg-type]
        choice = chance.choice(ask.choices)
        if choice.cards is None:
            action = Choose(ask.seat, choice.name, choice.card, target=choice.target, count=choice.count)
            assert action in plain
            form = {"choice": json.dumps(inputs.spell(action))}
        else:
            way = next(way for way in screen.ways if way.name == choice.name)
            assert not Counter(choice.cards) - Counter(way.cards)
            form = {"way": way.name, "card": list(choice.cards)}
            form |= {"place": list(range(1, len(choice.cards) + 1))} if way.ordered else {}
        player = players[ask.seat]
        answer = Client().post(page(player, "seat-choose"), sent(look(player), **form))
        assert answer.status_code == 302, answer.content.decode()


# --- the address -----------------------------------------------------------------------------------------------


def test_the_address_of_a_player_page_does_not_leak(table: Table) -> None:
    """Harm: the address gets into another site's log, a cache or a search engine; a foreign script reads the page; or a
    player's taps keep a staff session alive on a device that was left behind."""
    dealer, _, players = table
    answer = floor.client(dealer.by).get(page(players[1]))
    assert answer["Referrer-Policy"] == "no-referrer"
    assert "no-store" in answer["Cache-Control"]
    assert answer["X-Robots-Tag"] == "noindex"
    policy = answer["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not answer.cookies
    assert not re.findall(
        r'(?:href|src|action)="(?!/static/|/seat/|#)[^"]+"', answer.content.decode().replace('href="#main"', "")
    ), "nothing leads away from it"


def test_an_unknown_address_is_a_plain_page_and_trying_many_is_stopped(table: Table, monkeypatch: Any) -> None:
    """Harm: a guesser gets as many look-ups as the database stands; or stops the players on the same network."""
    _, _, players = table
    look(players[1])
    monkeypatch.setattr(seats, "TRIES", 3)
    for _ in range(3):
        answer = Client().get("/seat/nothing/")
        assert answer.status_code == 404
        assert "ask the dealer" in answer.content.decode()
        assert answer["Referrer-Policy"] == "no-referrer"
    assert Client().get("/seat/nothing/").status_code == 429
    assert "Your" in look(players[1]), "who plays here is not stopped by others"


def test_a_revoked_address_shows_nothing(table: Table) -> None:
    """Harm: the page of a player who has left goes on showing the hand of the next one."""
    dealer, _, players = table
    look(players[1])
    floor.player(dealer, 1)
    for name in ("seat", "seat-board", "seat-live"):
        assert Client().get(page(players[1], name)).status_code == 404


# --- handing over ----------------------------------------------------------------------------------------------


def test_the_dealer_and_the_pit_hand_an_address_over_once(table: Table) -> None:
    """Harm: an address that can be looked up later is one that somebody else looks up."""
    dealer, boss, _ = table
    for hand_ in (dealer, boss):
        client = floor.client(hand_.by)
        url = reverse("dealer:seats", args=[dealer.table.pk])
        answer = client.post(url, sent(client.get(url).content.decode(), seat=2))
        text = answer.content.decode()
        address = re.search(r"http://testserver(/seat/[\w-]{43}/)", text)
        assert answer.status_code == 200
        assert address
        assert "<svg" in text
        assert "no-store" in answer["Cache-Control"]
        assert Client().get(address[1]).status_code == 200
        assert address[1] not in client.get(url).content.decode()
    bodies = b"".join(bytes(body) for body in LogEntry.objects.values_list("body", flat=True))
    assert address[1].split("/")[2].encode() not in bodies


def test_a_form_sent_twice_makes_no_second_address(table: Table) -> None:
    """Harm: the address that was just handed over is revoked by a second tap, and nobody knows."""
    dealer, _, _ = table
    client = floor.client(dealer.by)
    url = reverse("dealer:seats", args=[dealer.table.pk])
    form = {"key": uuid.uuid4(), "seq": dealer.now.seq, "seat": 1}
    assert client.post(url, form).status_code == 200
    before = dealer.now.seq
    assert client.post(url, form).status_code == 409
    assert dealer.now.seq == before
