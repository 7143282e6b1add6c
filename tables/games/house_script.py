"""House-banked games on standard cards as scripts: their states, and the dealer's phrases."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from tables.games.cards import BY_RANK, PAIRS, STANDARD, UNKNOWN, Composition, Pack, pack_of
from tables.games.game import BankedGame, Due, Part, Script, Words
from tables.games.house_layout import Hand, HouseLayout, Spot
from tables.games.odds import COMMISSION, HALF_TAKEN, HouseRules, Odds, payable_multiple
from tables.games.pays import Pays
from tables.games.protocol import (
    DEALER,
    Action,
    AskBet,
    AskCard,
    AskChoice,
    AskCloseBets,
    AskShuffle,
    HandView,
    Illegal,
    Money,
    Opening,
    Payout,
    Phrase,
    Prompt,
    SeatView,
    Settled,
    Struct,
    View,
    WagerView,
)
from tables.games.scripted import ScriptedGame, ScriptState, Telling, say_choices

Rules = TypeVar("Rules", bound=HouseRules)


class HandSeen(Struct, frozen=True):
    """A hand as the layout showed it; a facedown card in it is unknown."""

    seat: int
    number: int
    name: str
    cards: tuple[int, ...]
    state: str
    lies_at: tuple[int, ...] = ()
    """With how many cards left each of its facedown cards was dealt."""


class SpotSeen(Struct, frozen=True):
    """A seat that bet, as the layout showed it."""

    seat: int
    wagers: tuple[Settled, ...]
    hands: tuple[HandSeen, ...]


class HouseState(ScriptState, frozen=True, dict=True, gc=True):
    """A round between two actions."""

    spots: tuple[SpotSeen, ...]
    hands: tuple[HandSeen, ...]
    """The hands in front of the dealer."""
    placed: tuple[tuple[int, str, int], ...]
    """(seat, wager, cents) of the bets on the layout while betting is open."""
    gone: Composition
    left: int
    unseen: int
    """Unseen cards that left the shoe since its shuffle."""


class HouseScript(ScriptedGame[HouseState, Rules], BankedGame[HouseState, Rules], Generic[Rules]):
    """Base of the scripted house-banked games: each has its `script`, names and seat counts."""

    carries: ClassVar[frozenset[str]] = frozenset({"dealt"})
    seat_counts: ClassVar[range] = range(1, 8)
    parts: ClassVar[Mapping[Part, str]] = {"stack": "cards"}
    words: ClassVar[Mapping[str, Words]] = {}
    cards: ClassVar[Mapping[Due, str]] = {}
    outcomes: ClassVar[tuple[str, ...]] = ("win", "lose", "push")
    side_by_side: ClassVar[bool] = True
    suited: ClassVar[frozenset[str]] = frozenset()
    """The side bets that depend on suits."""
    behind_cut: ClassVar[int] = 0
    """Number of cards behind the cut card."""
    cut_part: ClassVar[int] = 0
    """Or which part of the shoe does: 4 for a quarter."""
    bets_rule: ClassVar[str] = "Every wager lies within its limits, before the first card."

    @abstractmethod
    def script(self, rules: Rules, layout: HouseLayout) -> Script[None]:
        """The round, from the first card to the last payment."""

    def decks(self, rules: Rules) -> int:
        """How many decks it is dealt from: as the operator sets it, unless the game says otherwise."""
        decks: int = rules.decks  # type: ignore[attr-defined]
        return decks

    def spread(self, rules: Rules) -> Sequence[str]:
        """The side bets of the table. Raises Illegal if the rules do not permit one of them."""
        spread: Sequence[str] = rules.spread  # type: ignore[attr-defined]
        if len({*spread}) < len(spread):
            twice = next(name for place, name in enumerate(spread) if name in spread[:place])
            raise Illegal("bad_spread", f"{twice} stands there twice", place="options.spread")
        return spread

    def results_of(self, rules: Rules, wager: str) -> Iterable[Odds]:
        """The results of a wager as odds: what it can win, and the part of it that the casino can take. Even money and
        the loss of the whole wager are left out: both are whole chips under every option."""
        pays = self.pay_form.in_force(rules)
        names = {wager, *(paid.name for paid in self.pay_form.wagers if paid.on == wager)}
        return [odds for name in names & pays.keys() for odds in pays[name].values()]

    def bet_steps(self, rules: Rules, *, commission_is_marked: bool = False) -> dict[str, int]:
        """By wager, the chip units of which a bet is a multiple: one, unless every result has to be payable exactly."""
        if rules.rounding != "exact":
            return {}
        marked = [COMMISSION] if commission_is_marked else []
        return {wager: payable_multiple(results) for wager, results in self._results(rules, marked).items()}

    def payable_wins(self, rules: Rules, *, commission_is_marked: bool = False) -> dict[str, int]:
        """By wager, the least number of chip units of which all multiples win whole chips."""
        excluded = [HALF_TAKEN, *([COMMISSION] if commission_is_marked else [])]
        return {wager: payable_multiple(results) for wager, results in self._results(rules, excluded).items()}

    def _results(self, rules: Rules, excluded: Collection[Odds]) -> dict[str, list[Odds]]:
        names = [wager.name for wager in self.wagers(rules)]
        return {name: [odds for odds in self.results_of(rules, name) if odds not in excluded] for name in names}

    # --- as a state machine ---

    def _begin(self, rules: Rules, opening: Opening) -> Telling[HouseLayout]:
        terms, dealt = _terms_of(self, rules), opening.dealt
        pack = pack_of(dealt)
        if pack is PAIRS:
            raise ValueError(f"the opening of {self.title} says what is gone of standard cards, not of the family's")
        if terms.pack is STANDARD is not pack:
            raise Illegal("suits_needed", "suits are looked at here: name every card with its suit", place="cards")
        if terms.is_fresh and any(dealt):
            sentence = f"{self.title} is shuffled before every round here: nothing can be gone"
            raise Illegal("impossible_shoe", sentence, place="dealt")
        if wrong := pack.impossible(dealt, terms.decks):
            raise Illegal("impossible_shoe", wrong, place="dealt")
        layout = HouseLayout(opening, terms.decks, rules, terms.pays)
        if layout.left < 0:
            raise Illegal("impossible_shoe", "more cards are gone than the shoe holds", place="dealt")
        return self._round(rules, layout), layout

    def _round(self, rules: Rules, layout: HouseLayout) -> Script[None]:
        is_marked = layout.opening.commission_is_marked is True
        yield from layout.take_bets(self.wagers(rules), _steps_of(self, rules, is_marked))
        yield from self.script(rules, layout)

    def _picture(
        self, rules: Rules, actions: tuple[Action, ...], prompts: tuple[Prompt, ...], layout: HouseLayout
    ) -> HouseState:
        return HouseState(
            prompts,
            rules,
            layout.opening,
            actions,
            tuple(_spot_seen(spot, layout) for spot in layout.spots),
            tuple(_hand_seen(hand, layout) for hand in layout.hands),
            self._placed(rules, layout) if layout.placed else (),
            tuple(layout.gone),
            layout.left,
            layout.burned,
        )

    def _placed(self, rules: Rules, layout: HouseLayout) -> tuple[tuple[int, str, int], ...]:
        """By seat, in the order of the wagers' names, whichever was placed first."""
        names = [wager.name for wager in self.wagers(rules)]
        return tuple(
            (seat, name, own[name]) for seat, own in sorted(layout.placed.items()) for name in names if name in own
        )

    # --- the shoe ---

    def pack(self, rules: Rules) -> Pack:
        """The pack: with suits if a bet depends on them."""
        return BY_RANK if self.suited.isdisjoint(self.spread(rules)) else STANDARD

    def gone(self, state: HouseState) -> Composition:
        """Cards gone since the shuffle, as far as they were seen."""
        return state.gone

    def cards_left(self, state: HouseState) -> int:
        """Cards still to be dealt from the shoe."""
        return state.left

    def unseen(self, state: HouseState) -> int:
        """Burned cards."""
        return state.unseen

    def at_cut(self, rules: Rules) -> int:
        """The number of cards behind the cut card; 0 if every round starts from a shuffle."""
        if self.is_fresh_each_round(rules):
            return 0
        return STANDARD.size * self.decks(rules) // self.cut_part if self.cut_part else self.behind_cut

    def is_fresh_each_round(self, rules: Rules) -> bool:
        """A single deck is."""
        return self.decks(rules) == 1

    def burned(self, rules: Rules) -> int:
        """One card, unseen, after a shuffle."""
        return 1

    def burning(self, rules: Rules, burn: int) -> Rules:
        """The unchanged rules: in these games the burn is part of the opening, not of the rules."""
        return rules

    def lying(self, state: HouseState, seat: int) -> tuple[int, ...]:
        """For each facedown card of the seat's hands, in order: the number of cards in the shoe when it was dealt."""
        hands = (hand for spot in state.spots if spot.seat == seat for hand in spot.hands)
        return tuple(place for hand in hands for place in hand.lies_at)

    # --- what comes out ---

    def settle(self, state: HouseState) -> tuple[Payout, ...]:
        """The payouts of the seats of which every wager is decided, in seat order."""
        if state.prompts:
            return tuple(_payout(spot) for spot in state.spots if all(wager.outcome for wager in spot.wagers))
        return tuple(map(_payout, state.spots))

    def view(self, state: HouseState, viewer: int | None) -> View:
        """The view of every viewer: facedown cards are unknown here too."""
        played = {spot.seat: spot for spot in state.spots}
        dealer = next((hand for hand in state.hands if hand.seat == DEALER and not hand.name), None)
        return View(
            tuple(self._seat_view(state, seat, played.get(seat)) for seat in state.opening.seats),
            tuple(card for card in dealer.cards if card != UNKNOWN) if dealer else (),
            None,
            state.left,
            not state.prompts,
            facedown=sum(hand.cards.count(UNKNOWN) for hand in state.hands),
            hands=tuple(self._hand_view(hand) for hand in state.hands),
        )

    def _seat_view(self, state: HouseState, seat: int, spot: SpotSeen | None) -> SeatView:
        if spot is None:
            lying = tuple(WagerView(wager, cents) for at_seat, wager, cents in state.placed if at_seat == seat)
            bet_cents = sum(wager.cents for wager in lying)
            return SeatView(seat, bet_cents, state="in" if lying else "empty", wagers=lying, hands=())
        decided = all(wager.outcome for wager in spot.wagers)
        return SeatView(
            seat,
            sum(wager.staked_cents for wager in spot.wagers),
            tuple(card for card in spot.hands[0].cards if card != UNKNOWN) if len(spot.hands) == 1 else (),
            "out" if decided else "in",
            _payout(spot) if decided else None,
            wagers=tuple(WagerView(wager.bet, wager.staked_cents, wager.hand, wager.outcome) for wager in spot.wagers),
            hands=tuple(self._hand_view(hand) for hand in spot.hands),
        )

    def _hand_view(self, hand: HandSeen) -> HandView:
        faceup = tuple(card for card in hand.cards if card != UNKNOWN)
        down = len(hand.cards) - len(faceup)
        return HandView(hand.number, faceup, down, hand.name, self.worth(faceup) if faceup else "", hand.state)

    def worth(self, cards: Sequence[int]) -> str:
        """Value of some cards in this game, in a word or two: "soft 17"."""
        return ""

    # --- words ---

    def say(self, state: HouseState, prompt: Prompt, money: Money) -> Phrase:
        """The prompt in the dealer's words."""
        if isinstance(prompt, AskChoice):
            return self.say_choice(state, prompt, money)
        if isinstance(prompt, AskCard):
            return self.say_card(state, prompt)
        if isinstance(prompt, AskShuffle):
            return Phrase(
                f"Shuffle the {prompt.cards} discards and go on.",
                "The shoe is out. Shuffling the discards.",
                "A shoe that runs out in mid-round is filled from the discards; cards in play stay.",
            )
        if isinstance(prompt, AskCloseBets):
            return Phrase("Close the bets.", "No more bets.", self.bets_rule)
        assert isinstance(prompt, AskBet)  # noqa: S101 -- there are no other prompts
        return Phrase(f"Seat {prompt.seat}: take the bets.", "Place your bets.", self.bets_rule)

    def say_choice(self, state: HouseState, prompt: AskChoice, money: Money) -> Phrase:
        """A decision in the dealer's words."""
        return say_choices(self.words, prompt, money)

    @abstractmethod
    def say_card(self, state: HouseState, prompt: AskCard) -> Phrase:
        """A card that is due, in the dealer's words."""


def _hand_seen(hand: Hand, layout: HouseLayout) -> HandSeen:
    lies_at = layout.lies_at(hand) if layout.facedown else ()
    return HandSeen(hand.seat, hand.number, hand.name, tuple(hand.cards), hand.state, lies_at)


class DealTerms(NamedTuple):
    """The pack, decks and pay table under some rules."""

    pack: Pack
    decks: int
    is_fresh: bool
    """Whether the shoe is shuffled before every round."""
    pays: Pays


@lru_cache(maxsize=1_000)
def _steps_of(game: HouseScript[Any], rules: HouseRules, is_marked: bool) -> dict[str, int]:
    return game.bet_steps(rules, commission_is_marked=is_marked)


@lru_cache(maxsize=1_000)
def _terms_of(game: HouseScript[Any], rules: HouseRules) -> DealTerms:
    """The terms of a table's rules, cached for all rounds.

    Raises Illegal for side bets that the rules do not permit, or a pay table that does not fit the game's form.
    """
    game.spread(rules)
    if fault := game.faults(rules):
        raise Illegal("bad_options", fault, place="options")
    pays = game.pay_form.in_force(rules)
    return DealTerms(game.pack(rules), game.decks(rules), game.is_fresh_each_round(rules), pays)


def _spot_seen(spot: Spot, layout: HouseLayout) -> SpotSeen:
    wagers = [
        Settled(
            stake.bet,
            stake.cents,
            stake.returned_cents,
            stake.outcome,
            stake.why,
            hand=stake.hand,
            broken_cents=stake.broken_cents,
            parts=stake.parts,
            commission_cents=stake.commission_cents,
        )
        for stake in spot.stakes
    ]
    return SpotSeen(spot.seat, tuple(wagers), tuple(_hand_seen(hand, layout) for hand in spot.hands))


def _payout(spot: SpotSeen) -> Payout:
    """A seat's payout: its wagers in total and one by one."""
    staked = sum([wager.staked_cents for wager in spot.wagers])
    returned = sum([wager.returned_cents for wager in spot.wagers])
    outcome = "win" if returned > staked else "lose" if returned < staked else "push"
    return Payout(spot.seat, staked, returned, outcome, None, (), wagers=spot.wagers)


def hand_named(state: HouseState, name: str) -> HandSeen:
    """The hand of a name before the dealer."""
    return next(hand for hand in state.hands if hand.name == name)
