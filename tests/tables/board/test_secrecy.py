"""Nothing that a player holds facedown is on any page, in any answer, event or view of the log, for anybody else.

The whole house is walked, address by address, as everybody who works there and as every seat, while games of several
kinds go on at a house shoe; and what nobody may know is looked for in all of it.
"""

import json
import logging
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.core.cache import cache
from django.db import transaction
from django.test import Client
from django.urls import reverse

from ledger.log import entries
from ledger.proof.chain import Entry
from tables.audit import round_steps
from tables.games.catalog import GAMES
from tables.games.protocol import AskCard, AskChoice, Card
from tables.models import HouseShoe, Staff
from tables.reports import entry_list
from tables.roles import Role
from tests import floor
from tests.floor import Hand, Player, for_pot
from tests.tables.chance import by_seed
from tests.tables.test_roles import ADDRESSES, House
from tests.tiers import sampled

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]

SECRET_GAMES = ["hawthorn", "troll_guts", "monster", "sweep", "goblin_poker", "kitty", "regent"]
OF_THE_HOUSE = [route for route in ADDRESSES if not re.fullmatch(r"api/(v1/)?(schema|reference)/", route)]
"""The examples of the schema, and of the page made of it, are a file of the code: their cards are no house's."""
SHOWS_ROUNDS = re.compile(
    r"tables/<int:pk>|logentry|transfer|^pit/$|^pit/(alerts|disputes|find|log|plan|restored|rounds|shoes)"
    r"|^api/(alerts|disputes|events|exports|log|tables)"
)
OF_TABLES = [route for route in OF_THE_HOUSE if SHOWS_ROUNDS.search(route)]
"""The addresses that show a table, its rounds, or words of its log."""


@dataclass
class Game:
    """A game that goes on at a house shoe, every seat with its page."""

    dealer: Hand
    boss: Hand
    players: dict[int, Player]

    @property
    def log(self) -> list[Entry]:
        """The entries of the game."""
        return [entry for entry in entries(self.dealer.table.book_id) if entry.round]

    def hand(self, seat: int) -> tuple[int, ...]:
        """What a seat holds facedown."""
        current = self.dealer.now.round
        return next(view.hand for view in current.game.view(current.state, seat).seats if view.seat == seat)

    def secrets_of(self, seat: int) -> set[str]:
        """What nobody but this seat may read, however it is spelled."""
        spellings = set()
        for cards in {self.hand(seat), tuple(sorted(self.hand(seat)))}:
            spellings |= {f'"hand":{json.dumps(cards, separators=(",", ":"))}'} if cards else set()
            if len(cards) > 3:  # fewer could stand anywhere
                ranks = [str(rank) for rank in cards]
                spellings |= {json.dumps(cards), json.dumps(cards, separators=(",", ":")), ", ".join(ranks)}
                spellings |= {" ".join(ranks), json.dumps(cards, indent=1), json.dumps(cards, indent=2)}
        current = self.dealer.now.round
        for ask in current.game.prompts(current.state):
            if isinstance(ask, AskChoice) and ask.seat == seat:
                spellings |= {f'"card":{choice.card}' for choice in ask.choices if choice.card}
        return spellings

    def secrets_of_all(self) -> set[str]:
        """What nobody at all may read while it goes on: what proves the log, and would give the cards away."""
        proofs = set()
        for entry in self.log:
            if entry.subject == "round":
                proofs |= {entry.content["salt"], entry.content["request"], str(entry.key)}
        for shoe in HouseShoe.objects.all():
            order = list(bytes(shoe.order))
            proofs |= {bytes(shoe.nonce).hex(), json.dumps(order), json.dumps(order, separators=(",", ":"))}
        return proofs | {player.token for player in self.players.values()}


def dealt(name: str) -> Game:
    """Cards lie facedown, and somebody has chosen in secret."""
    game, chance = GAMES[name], random.Random(name)
    seats = game.seat_counts[0] if len(game.seat_counts) == 1 else game.seat_counts[1]
    chips = dict.fromkeys(range(1, seats + 1), 5_000) if game.coins else {}
    dealer, boss = for_pot(name, seats=chips, source="house")
    dealer("start_game", seats=list(range(1, seats + 1)))
    felt = Game(dealer, boss, {seat: floor.player(dealer, seat) for seat in range(1, seats + 1)})
    for _ in range(seats - 1):
        current = dealer.now.round
        ask = current.game.prompts(current.state)[0]
        if not isinstance(ask, AskChoice):
            dealer("deal")
            continue
        careful = [choice for choice in ask.choices if choice.name != "fold"]
        felt.players[ask.seat].chooses(chance.choice(careful or ask.choices))
    assert not dealer.now.round.over
    return felt


@pytest.fixture(params=sampled(SECRET_GAMES, "deals another game; tests/games/worlds.py compares its views", test=2))
def game(request: Any, db: None, monkeypatch: pytest.MonkeyPatch) -> Game:
    by_seed(monkeypatch, request.param)
    return dealt(request.param)


# --- the walk --------------------------------------------------------------------------------------------------


@pytest.fixture
def quiet() -> Iterator[None]:
    cache.clear()  # the tries of the walk before count for a minute
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


def walk(game: Game, routes: list[str]) -> Iterator[tuple[str, str, str]]:
    """What everybody who works here gets at each of these addresses: who, where, and what."""
    staff = [game.dealer.by, game.boss.by]
    elsewhere = set(Role) - {Role.DEALER, Role.PIT_BOSS}
    staff += [Staff.objects.create_staff(f"a.{role}", name=role.label, role=role) for role in sorted(elsewhere)]
    plays = [entry for entry in game.log if entry.subject == "round"]
    keys = {"table": game.dealer.table.pk, "alert": 1, "discrepancy": 1}
    for viewer in (None, *staff):
        client = Client(raise_request_exception=False)
        if viewer is not None:
            client.force_login(viewer, backend="django.contrib.auth.backends.ModelBackend")
        for route in routes:
            for entry in (plays[0], plays[-1]) if "logentry/<path" in route else plays[:1]:
                house = House({}, _Keys(keys | {"logentry": f"{entry.book_id}-{entry.seq}"}))
                for path in {house.path(route), house.path(route).replace("do/retire-shoe", "do/take-back")}:
                    mark = transaction.savepoint()
                    answer = client.get(path)
                    yield f"{viewer}", path, body_of(answer)
                    transaction.savepoint_rollback(mark)


class _Keys(dict[str, int | str]):
    """The first of anything else."""

    def __missing__(self, name: str) -> int:
        return 1


def body_of(answer: Any) -> str:
    """All that an answer says; of a stream that never ends, nothing."""
    if not answer.streaming:
        return str(answer.content.decode(errors="replace"))
    if answer["Content-Type"].startswith("text/event-stream"):
        return ""

    async def read() -> bytes:
        return b"".join([part async for part in answer])

    return async_to_sync(read)().decode(errors="replace")


def leaks(text: str, secrets: set[str]) -> list[str]:
    """Which of them it says, whatever a page or a table of values makes of its quotation marks."""
    plain = text.replace("&quot;", '"').replace('""', '"')
    spaceless = re.sub(r"(?<=[:,\[{])\s+", "", plain)
    return sorted(secret for secret in secrets if secret in plain or secret in spaceless)


@pytest.mark.parametrize(
    ("game", "routes"),
    sampled(
        [("kitty", OF_TABLES), ("hawthorn", OF_THE_HOUSE), *((name, OF_TABLES) for name in SECRET_GAMES)],
        "opens every address as every role",
    ),
    indirect=["game"],
)
def test_nobody_who_works_here_reads_what_a_player_holds(game: Game, quiet: None, routes: list[str]) -> None:
    """Harm: a dealer, a pit boss or an auditor tells a friend at the table what the others have."""
    secrets = game.secrets_of_all().union(*(game.secrets_of(seat) for seat in game.players))
    assert any(game.hand(seat) for seat in game.players)
    readings = {
        f"{reader} reads {secret} at {path}"
        for reader, path, text in walk(game, routes)
        for secret in leaks(text, secrets)
    }
    assert readings == set()


def test_no_seat_reads_what_another_one_holds(game: Game, quiet: None) -> None:
    """Harm: the page that was made to keep a hand secret shows it to the other players."""
    for seat, player in game.players.items():
        secrets = game.secrets_of_all() - {player.token}
        foreign = {secret for rival in game.players if rival != seat for secret in game.secrets_of(rival)}
        for name in ("seat", "seat-board"):
            text = body_of(Client().get(reverse(name, args=[player.token])))
            own = [game.secrets_of(seat)] if game.hand(seat) else []
            assert not leaks(text, secrets | foreign.difference(*own)), f"seat {seat}"
            assert text.count("Your") >= bool(game.hand(seat))


# --- the log ---------------------------------------------------------------------------------------------------


def test_the_log_tells_a_game_by_what_everyone_saw_until_it_is_over(game: Game) -> None:
    """Harm: the one place that everybody may read, so that nobody has to trust it, is where the cards are read."""
    book = game.dealer.table.book_id
    veiled = {entry.seq: entry for entry in entry_list.entries(book, count=1_000) if entry.subject == "round"}
    faceup = faceup_cards(game)
    for entry in game.log:
        if entry.subject != "round":
            continue
        content = veiled[entry.seq].content
        assert content["sealed"]
        assert veiled[entry.seq].hash == entry.hash
        assert not content.keys() & {"salt", "request", "apart", "opened"}
        assert len(content["actions"]) == len(entry.content["actions"])
        assert sum("rank" in action for action in content["actions"] if action["do"] == "card") <= faceup
        assert not [
            action for action in content["actions"] if action.keys() & {"cards", "card"} and "choice" not in action
        ]
        assert "cannot be read" not in entry_list.words_of(veiled[entry.seq])


def faceup_cards(game: Game) -> int:
    """How many cards of the game were turned for all to see: those in stacks and in the middle, or discarded since."""
    current = game.dealer.now.round
    down = sum(len(game.hand(seat)) for seat in game.players)
    return sum(isinstance(action, Card) for play in current.plays for action in play.actions) - down


@pytest.mark.parametrize("game", ["hawthorn"], indirect=True)
def test_a_game_is_read_in_full_once_it_is_over_and_not_before(game: Game, quiet: None) -> None:
    """Harm: the record of a game, or an entry found through the filters of the admin, reveals the cards before the game
    is over; or the cards can never be proved."""
    table = game.dealer.table
    story = round_steps.story(table, 1)
    assert story is not None
    assert (story.sealed, story.record) == (True, None)
    answer = floor.client(game.dealer.by).get(f"/api/tables/{table.pk}/rounds/1/")
    assert (answer.status_code, answer.json()["code"]) == (409, "round_sealed")
    entry = next(entry for entry in game.log if entry.subject == "round")
    auditor = floor.client(floor.staff(Role.AUDITOR, "ada"))
    for query in (f"key={entry.key}", f"key__startswith={str(entry.key)[:4]}", "body__contains=choice"):
        assert auditor.get(f"/admin/ledger/logentry/?{query}").status_code in (302, 400)
    _play_out(game)
    rows = entry_list.entries(table.book_id, count=1_000)
    raw = {entry.seq: entry.body for entry in game.log}
    assert all(bytes(entry.body) == bytes(raw[entry.seq]) for entry in rows if entry.subject == "round")
    story = round_steps.story(table, 1)
    assert story is not None
    assert story.record is not None


def _play_out(game: Game) -> None:
    chance = random.Random(7)
    while not game.dealer.now.round.over:
        current = game.dealer.now.round
        ask = chance.choice(current.game.prompts(current.state))
        if isinstance(ask, AskChoice):
            game.players[ask.seat].chooses(chance.choice(ask.choices))
        else:
            game.dealer("deal" if isinstance(ask, AskCard) else "shuffle")
