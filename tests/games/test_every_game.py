"""What must hold in every game of the catalog. A new game is covered by these tests as soon as it is listed there."""

import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any, Literal

import msgspec
import pytest

from tables.games.cards import NOTHING, STANDARD, Composition, Pack, add, pack_of, shoe
from tables.games.cards import count as cards_of
from tables.games.catalog import DEALT
from tables.games.game import BankedGame, Game, PotGame
from tables.games.play import play, replay
from tables.games.protocol import (
    DEALER,
    Action,
    AskBet,
    AskCard,
    AskChoice,
    AskCloseBets,
    AskShuffle,
    Bet,
    Card,
    Choice,
    Choose,
    CloseBets,
    Illegal,
    Limits,
    Opening,
    Prompt,
    Shuffle,
)
from tables.games.record import judge, record_of
from tables.games.record_document import RecordError
from tests.games.goldens import goldens
from tests.games.piles import Pile, is_shown, unaccounted
from tests.pace import by_pace

PLAY_OUTS = by_pace(40, 400, 2_000)
"""How many random rounds of each game are played, besides its golden ones. After the 64th hardly any
takes a course through a game's code that none before it took (docs/testing.md)."""
RARE = {"regent": [775]}
"""Random rounds that take a course which none before them took, and come after all that are usually played."""
FEWER = by_pace(40, 200, 400)
"""So many are enough for what costs more than to play them."""
BRANCHING = by_pace(12, 75, 150)
BRANCHING_STATES = by_pace(40, 200, 400)
"""And so many for what branches off at every state: rounds, and states of a told game."""
STANDARD_STATES = by_pace(100, 500, 2_000)
"""States of a told game on standard cards, whose rounds have many bets and short scripts."""
WHOLE = 60
"""Of so many games that are told as scripts, every state is kept: each has its whole past in it."""
LONGEST = 2_000
"""No round takes more actions than this."""

every_game = pytest.mark.parametrize("game", DEALT.values(), ids=DEALT)


# --- golden rounds --------------------------------------------------------------------------------------------

GOLDENS = [(name, golden) for name in DEALT for golden in goldens(name).items()]


@pytest.mark.parametrize("name", DEALT)
def test_a_game_has_goldens(name: str) -> None:
    """Harm: a game whose rules nobody has worked out by hand pays what its own code says."""
    rounds = goldens(name).values()
    assert any("answer" in golden for golden in rounds), f"tests/games/{name} has no golden round"
    assert any("refused" in golden for golden in rounds), f"tests/games/{name} has no refused golden round"


@pytest.mark.parametrize(("name", "golden"), GOLDENS, ids=[f"{name}-{golden[0]}" for name, golden in GOLDENS])
def test_golden(name: str, golden: tuple[str, dict[str, Any]]) -> None:
    """Harm: a clause of the rules is paid otherwise than worked out by hand."""
    pinned = golden[1]
    assert pinned["record"]["game"] == name
    document = json.dumps(pinned["record"])
    if "refused" in pinned:
        with pytest.raises(RecordError) as refusal:
            judge(document)
        assert str(refusal.value) == pinned["refused"]
    else:
        assert judge(document) == pinned["answer"]


# --- random play-outs -----------------------------------------------------------------------------------------


@dataclass
class PlayOut:
    """A round played with random options, a shuffled shoe, and random answers to its prompts."""

    game: Game[Any, Any]
    rules: Any
    opening: Opening
    chance: random.Random
    boldness: float
    """How often a seat that may take a card does so."""
    kind: bool
    """Whether cards that decide something come last, so that rounds are long and shoes run out."""
    keeps: bool = field(default=True, kw_only=True)
    """Whether every state is kept, besides the last one."""
    state: Any = None
    unseen: list[int] = field(default_factory=list)
    pile: Pile | None = None
    """In games on standard cards, where cards lie facedown that nobody looks at."""
    actions: list[Action] = field(default_factory=list)
    states: list[Any] = field(default_factory=list)

    def run(self) -> None:
        self.state = self.game.open(self.rules, self.opening)
        self._shuffle()
        while prompts := self.game.prompts(self.state):
            assert len(self.actions) < LONGEST, "the round does not end"
            if self.keeps:
                self.states.append(self.state)
            self.take(self._answer(prompts))

    def take(self, action: Action) -> None:
        before, after = self.state, play(self.game, self.state, action)
        self.actions.append(action)
        self.state = after
        if self.game.kind != "banked":
            self._conserved()
        elif on_standard_cards(self.game):
            self._accounted(before, action)
        elif isinstance(action, Card):
            assert self.game.gone(after) == add(self.game.gone(before), action.rank)
            assert self.game.cards_left(after) == self.game.cards_left(before) - 1
        elif isinstance(action, Shuffle):
            self._shuffle()
        else:
            assert self.game.gone(after) == self.game.gone(before)
            assert self.game.cards_left(after) == self.game.cards_left(before)

    def _conserved(self) -> None:
        """A told game shuffles and returns cards as its rules say: what lies on the table is gone from the deck."""
        on_table = [rank for player in self.state.players for rank in (*player.stack, *player.hand, *player.kept)]
        lying = cards_of([*on_table, *self.state.middle])
        dealt = self.game.gone(self.state)
        assert all(faceup <= out <= rank for rank, faceup, out in zip(range(1, 11), lying, dealt, strict=True))
        assert 0 <= self.game.cards_left(self.state) <= 55 - sum(dealt)
        net = sum(player.payout.net_cents for player in self.state.players)
        assert net + self.game.pot(self.state) == self.opening.pot

    def _accounted(self, before: Any, action: Action) -> None:
        """Every card of the shoe is left in it, gone, burned unseen, or lies facedown."""
        dealt, decks, is_turned = (
            self.game.gone(self.state),
            self.game.decks(self.rules),
            is_shown(before.prompts, action),
        )
        if isinstance(action, Shuffle):
            self._shuffle()
        elif isinstance(action, Card):
            # A facedown card that is known to be the only one not accounted for was gone before it was turned.
            assert dealt == add(self.game.gone(before), action.rank) or (is_turned and dealt == self.game.gone(before))
        elif not isinstance(action, Choose):
            assert dealt == self.game.gone(before)
        short = unaccounted(self.game, self.state, decks)
        assert short == 0 or (short == -1 and Shuffle() in self.actions), "a card is nowhere, or twice"
        if self.pile and not isinstance(action, Shuffle):
            self.pile.follow(self.game, self.state)

    def _shuffle(self) -> None:
        """The shoe holds what is not gone, less the burn: the state says how many cards that leaves."""
        if on_standard_cards(self.game):
            self.pile = self.pile or Pile(self.chance)
            self.pile.shuffle(self.game, self.rules, self.state)
            return
        dealt, unseen_count = self.game.gone(self.state), self.game.cards_left(self.state)
        full = shoe(getattr(self.rules, "decks", 1))
        assert all(0 <= out <= whole for out, whole in zip(dealt, full, strict=True)), "a rank is over its count"
        self.unseen = [rank for rank in range(1, 11) for _ in range(full[rank - 1] - dealt[rank - 1])]
        self.chance.shuffle(self.unseen)
        assert 0 <= unseen_count <= len(self.unseen)
        del self.unseen[unseen_count:]

    def _answer(self, prompts: tuple[Prompt, ...]) -> Action:
        if self.pile:
            prompts = self.pile.truthful(prompts)
        prompts = tuple(ask for ask in prompts if not isinstance(ask, AskBet) or may_be_bet(ask))
        waiting = [ask for ask in prompts if isinstance(ask, AskBet) and not ask.placed_cents]
        ask = self.chance.choice(waiting if waiting and self.chance.random() < 0.97 else prompts)
        if isinstance(ask, AskBet):
            if ask.placed_cents and self.chance.random() < 0.3:
                return Bet(ask.seat, 0, ask.wager)
            low = -(-ask.low_cents // ask.step_cents)
            high = min(ask.high_cents // ask.step_cents, low + 100)
            return Bet(ask.seat, ask.step_cents * self.chance.randint(low, high), ask.wager)
        if isinstance(ask, AskCard) and self.pile:
            return Card(self.pile.turn(ask.to) if ask.shown else self.pile.draw(), ask.to)
        if isinstance(ask, AskCard):
            return Card(self._draw(ask.to) if self.game.kind == "banked" else self._any_of(ask), ask.to)
        if isinstance(ask, AskChoice):
            draws = [choice for choice in ask.choices if choice.draws]
            bold = draws and self.chance.random() < self.boldness
            return chosen(ask.seat, self.chance.choice(draws if bold else ask.choices))
        return Shuffle() if isinstance(ask, AskShuffle) else CloseBets()

    def _any_of(self, ask: AskCard) -> int:
        """A card that the prompt says may come: its deck may be a few pitched cards."""
        may_come = [rank for rank, out in enumerate(ask.gone, 1) for _ in range(rank * ask.decks - out)]
        return self.chance.choice(may_come)

    def _draw(self, to: int) -> int:
        if not self.kind:
            return self.unseen.pop()

        def harmless(rank: int) -> bool:
            after = self.game.apply(self.state, Card(rank, to))
            return len(self.game.settle(after)) == len(self.game.settle(self.state))

        rank = max(set(self.unseen), key=lambda rank: (harmless(rank), self.unseen.count(rank), rank))
        self.unseen.remove(rank)
        return rank


def chosen(seat: int, choice: Choice) -> Choose:
    """A choice as the decision that makes it."""
    return Choose(seat, choice.name, choice.card, cards=choice.cards, target=choice.target, count=choice.count)


def on_standard_cards(game: Game[Any, Any]) -> bool:
    """Whether it is one of the house-banked games on standard cards: several wagers a seat, cards that lie facedown."""
    return isinstance(game, BankedGame) and game.side_by_side


def may_be_bet(ask: AskBet) -> bool:
    """Whether the seat's other wagers allow this one."""
    return bool(ask.placed_cents) or not (ask.needs or ask.opposite)


def _random_rules(game: Game[Any, Any], chance: random.Random) -> Any:
    """Any options that the game's rules allow, found from their types."""
    options: dict[str, Any] = {}
    for option in msgspec.inspect.type_info(game.rules_type).fields:  # type: ignore[attr-defined]
        kind = option.type.type if isinstance(option.type, msgspec.inspect.Metadata) else option.type
        if isinstance(kind, msgspec.inspect.LiteralType):
            options[option.encode_name] = chance.choice(kind.values)
        elif isinstance(kind, msgspec.inspect.BoolType):
            options[option.encode_name] = chance.choice([False, True])
        elif isinstance(kind, msgspec.inspect.IntType):
            low, high = kind.ge or 0, kind.le or 100
            options[option.encode_name] = chance.choice([low, high, chance.randint(low, min(high, 100))])
        elif isinstance(kind, msgspec.inspect.FloatType):
            options[option.encode_name] = chance.uniform(kind.ge or 0, kind.le or 1)
        elif isinstance(kind, msgspec.inspect.VarTupleType):
            assert isinstance(kind.item_type, msgspec.inspect.LiteralType)
            names = kind.item_type.values
            options[option.encode_name] = chance.sample(names, chance.choice([0, len(names), *range(len(names))]))
    try:
        rules = msgspec.convert(options, game.rules_type)
        if isinstance(game, BankedGame):
            game.pack(rules)
        if game.faults(rules):
            return _random_rules(game, chance)
    except (msgspec.ValidationError, Illegal):  # options that do not go together
        return _random_rules(game, chance)
    return rules


def _random_start(game: Game[Any, Any], chance: random.Random) -> tuple[Any, Opening]:
    rules = _random_rules(game, chance)
    if on_standard_cards(game):
        return rules, _standard_opening(game, rules, chance)
    seats = tuple(sorted(chance.sample(range(1, 10), chance.choice(game.seat_counts))))
    dealt: Composition = NOTHING
    if "dealt" in game.carries:
        decks = getattr(rules, "decks", 1)
        cards = [rank for rank in range(1, 11) for _ in range(rank * decks)]
        longest = len(cards) - getattr(rules, "burn", 20)
        out = chance.sample(cards, chance.choice([0, longest, chance.randint(0, longest), max(0, longest - 20)]))
        dealt = tuple(out.count(rank) for rank in range(1, 11))
    button = chance.choice([None, chance.randint(1, 10)]) if "button" in game.carries else None
    pot = chance.choice([0, chance.randint(1, 9)]) if "pot" in game.carries else 0
    opener = chance.choice(seats) if "first" in game.carries else None
    return rules, Opening(seats, Limits(), dealt, button, pot=pot, first=opener)


def _standard_opening(game: Game[Any, Any], rules: Any, chance: random.Random) -> Opening:
    """Full and nearly empty shoes; now and then cards are told apart by suits though nobody looks at them."""
    assert isinstance(game, BankedGame)
    seats = tuple(sorted(chance.sample(range(1, 8), chance.choice(game.seat_counts))))
    pack: Pack = STANDARD if chance.random() < 0.3 else game.pack(rules)
    opening = Opening(seats, dealt=pack.nothing, blind=chance.random() < 0.3)
    if game.is_fresh_each_round(rules):
        return opening
    cards = pack.cards(pack.shoes[game.decks(rules)])
    whole = len(cards)
    out = chance.sample(cards, chance.choice([0, whole, chance.randint(0, whole), whole - chance.randint(0, 20)]))
    burned = chance.choice([0, 0, 1, 11])
    unseen = burned if 0 < burned <= whole - len(out) else msgspec.UNSET
    return msgspec.structs.replace(opening, dealt=pack.count(out), unseen=unseen)


def _possible_start(game: Game[Any, Any], chance: random.Random) -> tuple[Any, Opening]:
    """A random start; where an option needs other numbers of players than the game, one that has them."""
    while True:
        rules, opening = _random_start(game, chance)
        try:
            game.open(rules, opening)
        except Illegal as illegal:
            if illegal.code != "seat_count":
                raise
        else:
            return rules, opening


@dataclass
class Golden(PlayOut):
    """A golden round, dealt once more: those were chosen because something rare happens in them."""

    record: dict[str, Any] = field(default_factory=dict)

    def run(self) -> None:
        self.bets = iter(self._bets())
        number = pack_of(self.opening.dealt).number
        self.cards = iter([number(card) for card in self.record["cards"]])
        self.decisions = [*self.record.get("actions", [])]
        super().run()

    def _bets(self) -> Iterator[Bet]:
        for seat in self.record["seats"]:
            if "bet" in seat:
                yield Bet(seat["seat"], seat["bet"])
            elif isinstance(self.game, BankedGame):
                names = [wager.name for wager in self.game.wagers(self.rules) if wager.name in seat["bets"]]
                yield from (Bet(seat["seat"], seat["bets"][name], name) for name in names)

    def _shuffle(self) -> None:
        """Its cards stand in the record."""

    def _answer(self, prompts: tuple[Prompt, ...]) -> Action:
        ask = prompts[0]
        if isinstance(ask, AskBet):
            return next(self.bets, CloseBets())
        if isinstance(ask, AskCard):
            return Card(next(self.cards), ask.to)
        if isinstance(ask, AskChoice) and isinstance(prompts[-1], AskCard) and not self._is_next(ask):
            return Card(next(self.cards), prompts[-1].to)
        if isinstance(ask, AskChoice):
            decision = dict(self.decisions.pop(0))
            seat, choice = decision.pop("seat"), decision.pop("do")
            named = {self.game.names.get(key, key): value for key, value in decision.items()}
            return Choose(
                seat, choice, **{key: tuple(value) if key == "cards" else value for key, value in named.items()}
            )
        return Shuffle()

    def _is_next(self, ask: AskChoice) -> bool:
        return bool(self.decisions) and self.decisions[0]["seat"] == ask.seat


def _golden_rounds(game: Game[Any, Any]) -> Iterator[PlayOut]:
    for golden in goldens(game.name).values():
        record = golden["record"]
        if golden.get("answer", {}).get("complete") and "version" not in record:
            rules = msgspec.convert(record.get("options", {}), game.rules_type)
            seats = tuple(seat["seat"] for seat in record["seats"])
            dealt, carried = _dealt(game, rules, record), (record.get("pot", 0), record.get("first"))
            is_marked = record.get("commission_is_marked", msgspec.UNSET)
            opening = Opening(seats, Limits(), dealt, record.get("button"), *carried, commission_is_marked=is_marked)
            yield Golden(game, rules, opening, random.Random(), boldness=1, kind=False, record=record)


def _dealt(game: Game[Any, Any], rules: Any, record: dict[str, Any]) -> Composition:
    if not on_standard_cards(game):
        return tuple(record.get("dealt", NOTHING))
    pack = pack_of((0,) * (13 if len(record["cards"][0]) == 1 else 52))
    return pack.count(pack.number(card) for card in record.get("dealt", ()))


@cache
def _golden_play_outs(name: str) -> list[PlayOut]:
    rounds = [*_golden_rounds(DEALT[name])]
    for round_ in rounds:
        round_.run()
    return rounds


@cache
def _random_play_out(name: str, seed: int) -> PlayOut:
    chance = random.Random(f"{name} {seed}")
    game = DEALT[name]
    rules, opening = _possible_start(game, chance)
    kind = game.kind == "banked" and not on_standard_cards(game) and chance.random() < 0.5
    # Told games may go on until somebody stops taking cards.
    boldness = chance.choice([0.9, 1.0] if kind else [0.0, 0.5, 0.9, 1.0] if game.kind == "banked" else [0.0, 0.4, 0.8])
    round_ = PlayOut(game, rules, opening, chance, boldness, kind, keeps=game.kind == "banked" or seed < WHOLE)
    round_.run()
    return round_


def play_outs(name: str, count: int = PLAY_OUTS) -> list[PlayOut]:
    """The same rounds for every test below: the golden ones, and random ones (chance is seeded)."""
    rare = RARE.get(name, []) if count == PLAY_OUTS else []
    return [*_golden_play_outs(name), *(_random_play_out(name, seed) for seed in sorted({*range(count), *rare}))]


@pytest.mark.parametrize("name", DEALT)
def test_play_outs_meet_what_is_rare(name: str) -> None:
    """Harm: the tests below hold only because shoes never ran out in them, or rounds were over at once."""
    random_rounds = [round_ for round_ in play_outs(name) if not isinstance(round_, Golden)]
    outcomes = Counter(payout.outcome for round_ in random_rounds for payout in round_.game.settle(round_.state))
    assert len(outcomes) > 1
    game = DEALT[name]
    has_passes = game.kind == "banked" and not on_standard_cards(game)
    assert max(len(round_.actions) for round_ in random_rounds) > (100 if has_passes else 20)
    if isinstance(game, BankedGame) and not all(game.is_fresh_each_round(round_.rules) for round_ in random_rounds):
        assert sum(Shuffle() in round_.actions for round_ in random_rounds) > PLAY_OUTS // 100


@every_game
def test_a_round_replays_to_the_same_state(game: Game[Any, Any]) -> None:
    """Harm: the table that comes back after a crash is not the one that went down."""
    for round_ in play_outs(game.name):
        assert replay(game, round_.rules, round_.opening, round_.actions) == round_.state


@every_game
def test_actions_and_payouts_survive_json(game: Game[Any, Any]) -> None:
    """Harm: what the log holds as JSON replays to something else than was dealt."""
    for round_ in play_outs(game.name, FEWER):
        logged = msgspec.json.encode([round_.rules, round_.opening, round_.actions])
        read = msgspec.json.decode(logged, type=tuple[game.rules_type, Opening, list[Action]])  # type: ignore[name-defined]
        state = replay(game, *read)
        assert state == round_.state
        assert game.settle(state) == game.settle(round_.state)


@every_game
def test_chips_are_conserved(game: Game[Any, Any]) -> None:
    """Harm: a round creates or destroys money, or takes more from anyone than was at stake."""
    for round_ in play_outs(game.name):
        payouts = game.settle(round_.state)
        bets: dict[int, int] = {}
        for action in round_.actions:
            if isinstance(action, Bet):
                bets[action.seat] = action.amount_cents
        assert [payout.seat for payout in payouts] == sorted({payout.seat for payout in payouts})
        if on_standard_cards(game):
            _wagers_add_up(round_)
        elif game.kind == "banked":
            assert {payout.seat: payout.staked_cents for payout in payouts} == {
                seat: cents for seat, cents in bets.items() if cents
            }
            assert all(0 <= payout.returned_cents <= 2 * payout.staked_cents for payout in payouts)
        assert all(payout.net_cents == payout.returned_cents - payout.staked_cents for payout in payouts)
        assert all(map(game.explain, payouts))


FURTHER = {"raise": "main", "play": "ante", "insurance": "main"}
"""The wagers that a seat puts up later, and the bet that each goes with."""
HIGHEST_ODDS = 100
MOST_HANDS = 4


def _wagers_add_up(round_: PlayOut) -> None:
    """Each wager was placed, or follows from one that was; all are whole chips; and a seat's wagers are its payout."""
    unit, bets = round_.rules.unit, placed_in(round_.actions)
    payouts = round_.game.settle(round_.state)
    assert {payout.seat for payout in payouts} == {seat for seat, _ in bets}
    for payout in payouts:
        assert payout.staked_cents == sum(wager.staked_cents for wager in payout.wagers)
        assert payout.returned_cents == sum(wager.returned_cents for wager in payout.wagers)
        lying = Counter(wager.bet for wager in payout.wagers)
        own = {name for seat, name in bets if seat == payout.seat}
        assert own <= set(lying) <= own | {further for further, with_ in FURTHER.items() if with_ in own}
        for wager in payout.wagers:
            bet = bets[payout.seat, FURTHER.get(wager.bet, wager.bet)]
            assert wager.staked_cents in ((bet // (2 * unit) * unit,) if wager.bet == "insurance" else (bet, 2 * bet))
            assert wager.staked_cents == bet or wager.hand or wager.bet == "insurance"
            assert 0 <= wager.returned_cents <= (1 + HIGHEST_ODDS) * wager.staked_cents + unit
            owed = wager.commission_cents if round_.opening.commission_is_marked is True else 0
            assert (wager.returned_cents + owed) % unit == 0
            assert not (wager.broken_cents and round_.rules.rounding == "exact")
            assert wager.outcome
        assert all(count == 1 or (name == "main" and count <= MOST_HANDS) for name, count in lying.items())


def placed_in(actions: list[Action]) -> dict[tuple[int, str], int]:
    """What lay on each wager when the bets were closed."""
    bets: dict[tuple[int, str], int] = {}
    for action in actions:
        if isinstance(action, Bet):
            bets[action.seat, action.wager] = action.amount_cents
            if not action.amount_cents and action.wager == "main":  # side bets that go with it are taken off too
                bets = {key: cents for key, cents in bets.items() if key[0] != action.seat}
    return {key: cents for key, cents in bets.items() if cents}


@every_game
def test_payouts_once_decided_stand(game: Game[Any, Any]) -> None:
    """Harm: a seat that was paid is paid otherwise by what happens to others later."""
    for round_ in play_outs(game.name):
        standing: set[Any] = set()
        for state in [*round_.states, round_.state]:
            decided = set(game.settle(state))
            assert standing <= decided
            standing = decided


@every_game
def test_a_record_of_the_round_is_judged_the_same(game: Game[Any, Any]) -> None:
    """Harm: a dispute is settled from an exported record that says something else than the table's log."""
    for round_ in play_outs(game.name, FEWER):
        if round_.opening.unseen and Shuffle() in round_.actions:
            continue  # no record says what was burned: it is judged as if the shoe had lasted longer
        answer = judge(json.dumps(record_of(game, round_.rules, round_.opening, round_.actions)))
        assert answer["complete"]
        assert answer["pot_left"] == (game.pot(round_.state) if isinstance(game, PotGame) else 0)
        assert [(result["seat"], result["net"], result["returned"]) for result in answer["results"]] == [
            (payout.seat, payout.net_cents, payout.returned_cents) for payout in game.settle(round_.state)
        ]
        if game.kind == "banked":
            assert answer["house_net"] + sum(result["net"] for result in answer["results"]) == 0


@every_game
def test_an_open_round_is_answered_with_its_prompts(game: Game[Any, Any]) -> None:
    """Harm: the record of a round in progress is taken for a finished one, or asks for the wrong thing."""
    for round_ in branching(game):
        if on_standard_cards(game) and (round_.opening.blind or round_.opening.unseen):
            continue  # a record's packets stand there when all have been shown; and it says nothing of a burn
        closed = round_.actions.index(CloseBets()) + 1 if game.kind == "banked" else 0
        for length in range(closed, len(round_.actions)):
            prompts = game.prompts(round_.states[length])
            if isinstance(prompts[0], AskShuffle):
                continue  # no record holds it: it is carried out, and the card after it is due
            answer = judge(json.dumps(record_of(game, round_.rules, round_.opening, round_.actions[:length])))
            assert not answer["complete"]
            if on_standard_cards(game):
                assert [_due(ask) for ask in answer["next"]] == [_due_by(prompts[0])]
                continue
            assert [(ask["kind"], ask["seat"]) for ask in answer["next"]] == [_kind_and_seat(ask) for ask in prompts]


def _due(ask: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(ask.get(key) for key in ("kind", "seat", "hand", "choices"))


def _due_by(prompt: Prompt) -> tuple[Any, ...]:
    if isinstance(prompt, AskCard):
        return "card", None, None, None
    assert isinstance(prompt, AskChoice)
    if not prompt.seat:
        return "peek", None, None, None
    return "decision", prompt.seat, prompt.hand, [choice.name for choice in prompt.choices]


def _kind_and_seat(ask: Prompt) -> tuple[Literal["card", "choose"], int]:
    if isinstance(ask, AskCard):
        return "card", ask.to
    assert isinstance(ask, AskChoice)
    return "choose", ask.seat


# --- prompts and legality -------------------------------------------------------------------------------------


def _offered(prompts: tuple[Prompt, ...], decks: int) -> Iterator[Action]:
    """Actions that the prompts' own data say are legal."""
    for ask in prompts:
        if isinstance(ask, AskBet):
            if not (ask.needs or ask.opposite):
                yield from (Bet(ask.seat, cents, ask.wager) for cents in ask.nearest(0) + ask.nearest(10**18))
            if ask.placed_cents:
                yield Bet(ask.seat, 0, ask.wager)
        elif isinstance(ask, AskCloseBets):
            yield CloseBets()
        elif isinstance(ask, AskCard):
            yield from (
                Card(card, ask.to)
                for card, out in enumerate(ask.gone, 1)
                if out < _in_a_deck(ask, card) * decks and card not in ask.barred
            )
        elif isinstance(ask, AskChoice):
            yield from (chosen(ask.seat, choice) for choice in ask.choices)
        else:
            yield Shuffle()


def _in_a_deck(ask: AskCard, card: int) -> int:
    """Of each rank as many as it counts; four of a rank where suits are not told apart; or one of each card."""
    return {10: card, 13: 4, 52: 1}[len(ask.gone)]


def _attempts(prompts: tuple[Prompt, ...]) -> Iterator[Action]:
    """What anyone might send, most of it illegal."""
    yield CloseBets()
    yield Shuffle()
    for seat in (-1, 0, 1, 2, 5, 9, 10):
        yield from (Bet(seat, cents) for cents in (-10, 0, 5, 10, 10**15, 10**15 + 10, 10**30))
        yield from (Choose(seat, choice) for choice in ("hit", "fold", "", "stand"))
        yield from (Card(rank, seat) for rank in (-1, 0, 1, 10, 11, 10**30))
    for ask in prompts:
        if isinstance(ask, AskCard):
            yield from (Card(rank, ask.to) for rank in range(len(ask.gone) + 2))
        elif isinstance(ask, AskBet):
            yield Bet(ask.seat, ask.low_cents - 1, ask.wager)
            yield Bet(ask.seat, ask.high_cents + 1, ask.wager)
            yield Bet(ask.seat, ask.low_cents + ask.step_cents // 2, ask.wager)
            yield Bet(ask.seat, ask.low_cents, ask.wager)
            yield Bet(ask.seat, ask.low_cents, "no such wager")


def _legal(prompts: tuple[Prompt, ...], action: Action, decks: int) -> bool:
    """Legality judged from the prompts' data alone, without asking them."""
    for ask in prompts:
        if isinstance(ask, AskBet) and isinstance(action, Bet) and (action.seat, action.wager) == (ask.seat, ask.wager):
            cents = action.amount_cents
            in_range = ask.low_cents <= cents <= ask.high_cents and cents % ask.step_cents == 0
            in_range = in_range and not (ask.needs or ask.opposite)
            return in_range or (cents == 0 and ask.placed_cents > 0)
        if isinstance(ask, AskChoice) and isinstance(action, Choose) and action.seat == ask.seat:
            return sum(choice.means(action) for choice in ask.choices) == 1  # what is left out may be understood
        if isinstance(ask, AskCard | AskShuffle | AskCloseBets) and action in _offered((ask,), decks):
            return True
    return False


def branching(game: Game[Any, Any]) -> list[PlayOut]:
    """Some rounds for the tests that branch off at every state; a told game is told again for each branch."""
    rounds, states = [], 0
    most_states = BRANCHING_STATES if isinstance(game, PotGame) else LONGEST * BRANCHING
    if on_standard_cards(game):
        most_states = STANDARD_STATES
    for round_ in play_outs(game.name, BRANCHING)[:BRANCHING]:
        if states < most_states:
            rounds.append(round_)
            states += len(round_.states)
    return rounds


def alike(state: Any, twin: Any) -> bool:
    """Whether two states are the same but for the order of the actions that led there."""
    if hasattr(state, "actions"):
        state, twin = (msgspec.structs.replace(state, actions=()) for state in (state, twin))
    return bool(state == twin)


@every_game
def test_prompts_and_legality_agree(game: Game[Any, Any]) -> None:
    """Harm: a button that is drawn is refused, or an action that nothing offers changes the round."""
    for round_ in branching(game):
        decks = getattr(round_.rules, "decks", 1)
        for state in [*round_.states, round_.state]:
            prompts = game.prompts(state)
            before = msgspec.json.encode(state)
            for action in _offered(prompts, decks):
                assert play(game, state, action) != state or isinstance(action, Bet)
            for action in _attempts(prompts):
                if not _legal(prompts, action, decks):
                    with pytest.raises(Illegal) as refusal:
                        play(game, state, action)
                    assert refusal.value.code
                    assert refusal.value.sentence
            assert msgspec.json.encode(state) == before


@every_game
def test_prompts_that_are_open_together_may_be_answered_in_any_order(game: Game[Any, Any]) -> None:
    """Harm: which of two simultaneous inputs arrives first changes the round."""
    chance = random.Random(game.name)
    for round_ in branching(game):
        decks = getattr(round_.rules, "decks", 1)
        for state in round_.states:
            asks = [ask for ask in game.prompts(state) if isinstance(ask, AskBet | AskChoice)]
            asks = [ask for ask in asks if not isinstance(ask, AskBet) or may_be_bet(ask)]
            for ask, neighbour in pairwise(asks):
                if _exclude_each_other(game, round_.rules, ask, neighbour):
                    continue
                answer, neighbour_answer = (_answer_to(due, decks, chance) for due in (ask, neighbour))
                end = play(game, play(game, state, answer), neighbour_answer)
                assert alike(end, play(game, play(game, state, neighbour_answer), answer))


def _answer_to(ask: AskBet | AskChoice, decks: int, chance: random.Random) -> Action:
    """Any choice that a decision offers, or the first legal amount of a bet."""
    offered = [*_offered((ask,), decks)]
    return chance.choice(offered) if isinstance(ask, AskChoice) else offered[0]


def _exclude_each_other(
    game: Game[Any, Any], rules: Any, ask: AskBet | AskChoice, neighbour: AskBet | AskChoice
) -> bool:
    """Whether the two are bets of one seat on opposite sides."""
    if not (isinstance(game, BankedGame) and isinstance(ask, AskBet) and isinstance(neighbour, AskBet)):
        return False
    opposite = {wager.name: wager.opposite for wager in game.wagers(rules)}
    return ask.seat == neighbour.seat and opposite[ask.wager] == neighbour.wager


@every_game
def test_every_state_can_be_seen(game: Game[Any, Any]) -> None:
    """Harm: a screen fails in a rare state."""
    for round_ in play_outs(game.name, BRANCHING)[:BRANCHING]:
        for state in [*round_.states, round_.state]:
            prompts = game.prompts(state)
            for viewer in (None, DEALER, *round_.opening.seats):
                view = game.view(state, viewer)
                assert tuple(seat.seat for seat in view.seats) == round_.opening.seats
                assert view.over == (not prompts)
                assert view.cards_left == game.cards_left(state)
                assert all(not seat.hand for seat in view.seats if seat.seat != viewer), "a hand is seen by others"
