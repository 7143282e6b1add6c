"""Rocket beyond its golden rounds: against a round dealt by hand, and what no round record shows."""

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tables.games.cards import NOTHING, count, shoe
from tables.games.play import play, replay, run
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
    Choose,
    CloseBets,
    Illegal,
    Limits,
    Opening,
    Prompt,
    Shuffle,
)
from tables.games.record import judge
from tables.games.rocket import Rocket, Rules, State
from tests.games.rocket_by_hand import HandDealt

ROCKET = Rocket()


# --- against a round dealt by hand ----------------------------------------------------------------------------


@st.composite
def rounds_by_hand(draw: st.DrawFn) -> HandDealt:
    """Rounds of every kind: any options, full and nearly empty shoes, timid and bold seats; not dealt yet."""
    decks, burn = draw(st.just(1) | st.integers(1, 8)), draw(st.just(20) | st.integers(0, 20))
    unit = draw(st.sampled_from([1, 5, 25, 100]))
    seats = sorted(draw(st.just({1, 2, 4, 7, 8}) | st.sets(st.integers(1, 9), min_size=1, max_size=6)))
    chance = Random(draw(st.integers(0, 2**32)))
    boldness = draw(st.sampled_from([1.0, 0.95, 0.8, 0.5, 0.0]))
    round_ = HandDealt(
        decks=decks,
        burn=burn,
        start=draw(st.sampled_from(["dealer_left", "low_card"])),
        unit=unit,
        bets={seat: 10 * unit * draw(st.integers(1, 100)) for seat in seats},
        button=draw(st.none() | st.integers(1, 9)),
        hits=lambda seat: chance.random() < boldness,
        chance=chance,
        avoid_pairs=draw(st.booleans()),
    )
    full = decks * 55 - burn
    cards_left = draw(st.just(full) | st.integers(0, full) | st.integers(0, min(full, 20)))
    round_.new_shoe(dealt_count=full - cards_left)
    return round_


def options_of(round_: HandDealt) -> dict[str, Any]:
    return {"decks": round_.decks, "burn": round_.burn, "start": round_.start, "unit": round_.unit}


@given(rounds_by_hand())
def test_a_record_is_judged_as_the_round_was_dealt_by_hand(round_: HandDealt) -> None:
    """Harm: the engine pays otherwise than the rules say, in a course of play that no golden round pins."""
    record: dict[str, Any] = {
        "format": "round-record/1",
        "game": "rocket",
        "options": options_of(round_),
        "seats": [{"seat": seat, "bet": bet} for seat, bet in round_.bets.items()],
        "dealt": count(round_.discards),
    }
    if round_.button:
        record["button"] = round_.button
    round_.play()
    record["cards"] = round_.cards
    record["actions"] = [{"seat": seat, "do": do} for seat, do in round_.decisions]
    assert judge(json.dumps(record)) == {
        "game": "rocket",
        "complete": True,
        "results": [
            {"seat": seat, "outcome": outcome, "card": card, "net": won, "returned": round_.bets[seat] + won}
            for seat, (outcome, card, won) in sorted(round_.results.items())
        ],
        "house_net": -sum(won for _, _, won in round_.results.values()),
        "pot_left": 0,
        "next": [],
    }


@given(rounds_by_hand())
def test_the_shoe_stands_as_if_dealt_by_hand(round_: HandDealt) -> None:
    """Harm: after a shuffle in mid-round, a card is refused that may come, or one let through that cannot."""
    rules = Rules(**options_of(round_))
    opening = Opening(tuple(round_.bets), Limits(), count(round_.discards), round_.button)
    round_.play()
    bets = iter([Bet(seat, bet) for seat, bet in round_.bets.items()])
    cards, decisions = iter(round_.cards), iter(round_.decisions)
    shuffles = []

    def answer(prompts: tuple[Prompt, ...]) -> Action:
        ask = prompts[0]
        if isinstance(ask, AskCard):
            return Card(next(cards), ask.to)
        if isinstance(ask, AskChoice):
            return Choose(*next(decisions))
        if isinstance(ask, AskShuffle):
            shuffles.append(ask)
            return Shuffle()
        return next(bets, CloseBets())

    state = run(ROCKET, ROCKET.open(rules, opening), answer)
    full = shoe(round_.decks)
    unseen = count(round_.unseen())
    assert ROCKET.gone(state) == tuple(whole - hidden for whole, hidden in zip(full, unseen, strict=True))
    assert ROCKET.cards_left(state) == len(round_.deck)
    assert len(shuffles) == round_.shuffles
    for payout in ROCKET.settle(state):
        assert abs(payout.net_cents) <= payout.staked_cents, "more than the bet was lost or won"


# --- the shoe and the button ----------------------------------------------------------------------------------


def dealt(cards: list[int], *, bets: dict[int, int], rules: Rules, opening: Opening, hits: str = "") -> State:
    """A round with these bets, as far as the cards go; ``hits`` lists the decisions as h and f."""
    pile, choices = iter(cards), iter(hits)
    placed: Iterator[Action] = iter([*(Bet(seat, cents) for seat, cents in bets.items()), CloseBets()])

    def answer(prompts: tuple[Prompt, ...]) -> Action | None:
        ask = prompts[0]
        if isinstance(ask, AskCard):
            rank = next(pile, None)
            return None if rank is None else Card(rank, ask.to)
        if isinstance(ask, AskChoice):
            choice = next(choices, None)
            return None if choice is None else Choose(ask.seat, {"h": "hit", "f": "fold"}[choice])
        return None if isinstance(ask, AskShuffle) else next(placed)

    return run(ROCKET, ROCKET.open(rules, opening), answer)


def test_the_shuffle_in_mid_round_says_how_many_cards_it_takes() -> None:
    """Harm: the dealer shuffles cards that are in play, or leaves burned ones out."""
    rules = Rules(decks=1, burn=5)
    opening = Opening((1, 2), Limits(), count([10] * 8 + [9] * 9 + [8] * 8 + [7] * 7 + [6] * 6 + [5] * 5 + [4] * 4))
    state = dealt([2, 3, 10], bets={1: 100, 2: 100}, rules=rules, opening=opening, hits="h")
    assert ROCKET.cards_left(state) == 0
    assert ROCKET.prompts(state) == (AskShuffle(cards=52, burn=5),)
    after = play(ROCKET, state, Shuffle())
    assert ROCKET.gone(after) == count([2, 3, 10])
    assert ROCKET.cards_left(after) == 47
    assert ROCKET.prompts(after) == (AskCard(1, count([2, 3, 10]), 1),)


@pytest.mark.parametrize(
    ("previous", "ranks", "button"),
    [(None, (4, 4, 6), 2), (2, (4, 4, 6), 3), (3, (4, 4, 6), 2), (6, (4, 6, 4), 2), (2, (6, 6, 5), 5)],
)
def test_the_button_moves_to_the_seat_that_starts(previous: int | None, ranks: tuple[int, ...], button: int) -> None:
    """Harm: the next round's tie is broken from the wrong seat. Ties are shown by the button of the next round."""
    rules, opening = Rules(start="low_card"), Opening((2, 3, 5), button=previous)
    state = dealt([*ranks, 9], bets={2: 10, 3: 10, 5: 10}, rules=rules, opening=opening)
    assert ROCKET.view(state, None).button == button
    (ask,) = ROCKET.prompts(state)
    assert isinstance(ask, AskChoice)
    assert ask.seat == button


def test_without_the_option_the_button_stays() -> None:
    """Harm: switching the option on later breaks the first tie from a seat where the button never lay."""
    state = dealt([5, 4, 9], bets={1: 10, 2: 10}, rules=Rules(), opening=Opening((1, 2), button=2))
    assert ROCKET.view(state, None).button == 2


@pytest.mark.parametrize(
    ("rules", "cards"),
    [
        (Rules(), 66),
        (Rules(decks=1), 11),
        (Rules(decks=8, reshuffle_at=0.5), 220),
        (Rules(decks=2, reshuffle_at=0.1), 11),
    ],
)
def test_the_cut_card_lies_before_its_share_of_the_shoe(rules: Rules, cards: int) -> None:
    """Harm: the shoe is dealt deeper than the operator allows, which helps those who count cards."""
    assert ROCKET.at_cut(rules) == cards


def test_an_opening_must_leave_the_burn() -> None:
    """Harm: a round starts from a shoe that cannot be, and its cards are refused one by one."""
    fits = (1, 2, 3, 4, 5, 6, 7, 8, 9, 5)
    assert ROCKET.cards_left(ROCKET.open(Rules(decks=1), Opening((1,), dealt=fits))) == 0
    for impossible in [(*fits[:9], 6), (2, *fits[1:]), (-1, *fits[1:])]:
        with pytest.raises(Illegal) as refusal:
            ROCKET.open(Rules(decks=1), Opening((1,), dealt=impossible))
        assert refusal.value.code == "impossible_shoe"


def test_an_opening_counts_ten_ranks() -> None:
    """Harm: a composition that was cut short is taken for that of a full shoe."""
    for counts in (NOTHING[:9], (*NOTHING, 0)):
        with pytest.raises(ValueError):
            ROCKET.open(Rules(), Opening((1,), dealt=counts))


# --- bets -----------------------------------------------------------------------------------------------------


def ask_of(state: State, seat: int) -> AskBet:
    return next(ask for ask in ROCKET.prompts(state) if isinstance(ask, AskBet) and ask.seat == seat)


def test_a_bet_may_be_replaced_and_taken_off_until_bets_are_closed() -> None:
    """Harm: a chip that was placed by mistake is lost, a seat that took its bet off is dealt in, or a round without
    bets opens and never ends."""
    opening = Opening((1, 2, 3))
    state = ROCKET.open(Rules(), opening)
    for before in (state, replay(ROCKET, Rules(), opening, [Bet(1, 10), Bet(1, 0)])):
        assert not any(isinstance(ask, AskCloseBets) for ask in ROCKET.prompts(before))
    state = replay(ROCKET, Rules(), opening, [Bet(2, 50), Bet(1, 20), Bet(2, 70), Bet(1, 0), Bet(3, 10), CloseBets()])
    assert ROCKET.prompts(state) == (AskCard(2, NOTHING, 6),)
    assert [(seat.seat, seat.bet_cents, seat.state) for seat in ROCKET.view(state, None).seats] == [
        (1, 0, "empty"),
        (2, 70, "in"),
        (3, 10, "in"),
    ]
    with pytest.raises(Illegal):
        play(ROCKET, state, Bet(1, 20))


def test_the_cap_leaves_room_for_what_is_not_staked_yet() -> None:
    """Harm: the house stands to lose more in one round than the table's cap."""
    opening = Opening((1, 2), Limits(min_cents=20, max_cents=100, cap_cents=150))
    state = replay(ROCKET, Rules(), opening, [Bet(1, 100)])
    assert ask_of(state, 1) == AskBet(1, 20, 100, 10, 100)
    assert ask_of(state, 2) == AskBet(2, 20, 50, 10, 0, capped=True)
    with pytest.raises(Illegal) as refusal:
        play(ROCKET, state, Bet(2, 60))
    assert refusal.value.sentence == (
        "seat 2: 60 would take the table over its exposure cap: 50 still fits; the nearest legal bet is 50"
    )
    full = play(ROCKET, play(ROCKET, state, Bet(2, 50)), Bet(1, 90))
    assert ask_of(full, 1) == AskBet(1, 20, 100, 10, 90)
    assert ask_of(full, 2) == AskBet(2, 20, 60, 10, 50, capped=True)


@given(
    st.integers(1, 50),
    st.integers(1, 2_000),
    st.integers(1, 5_000),
    st.none() | st.integers(0, 10_000),
    st.lists(st.tuples(st.integers(1, 6), st.integers(0, 6_000)), max_size=20),
)
def test_bets_never_pass_the_limits(
    unit: int, low: int, high: int, cap: int | None, attempts: list[tuple[int, int]]
) -> None:
    """Harm: by replacing bets, seats get over the maximum, under the minimum, off the tens, or over the cap."""
    state = ROCKET.open(Rules(unit=unit), Opening((1, 2, 3, 4, 5, 6), Limits(low, high, cap)))
    for seat, cents in attempts:
        try:
            state = play(ROCKET, state, Bet(seat, cents))
        except Illegal as illegal:
            for nearest in illegal.facts["nearest_cents"]:
                play(ROCKET, state, Bet(seat, nearest))
    bets = [seat.bet_cents for seat in ROCKET.view(state, None).seats if seat.bet_cents]
    assert all(low <= bet <= high and bet % (10 * unit) == 0 for bet in bets)
    assert cap is None or sum(bets) <= cap


# --- words ----------------------------------------------------------------------------------------------------


def test_a_decision_is_said_with_its_cost_and_its_rule() -> None:
    """Harm: the dealer announces another price than the seat is charged."""
    state = dealt([6, 4], bets={2: 20}, rules=Rules(), opening=Opening((1, 2)))
    phrase = ROCKET.say(state, ROCKET.prompts(state)[0], lambda cents: f"€{cents}")
    assert phrase.do == "Seat 2: hit, or fold for €8."
    assert phrase.say == "Seat 2, hit, or fold for €8?"
    assert phrase.rule.endswith("here 4.")


def test_cards_are_said_for_whom_they_are() -> None:
    """Harm: the dealer gives a card to the wrong place."""
    opening = Opening((1, 2))

    def sentence(cards: list[int], hits: str = "") -> str:
        state = dealt(cards, bets={2: 20}, rules=Rules(), opening=opening, hits=hits)
        return ROCKET.say(state, ROCKET.prompts(state)[0], str).do

    assert sentence([]) == "Deal a card to seat 2."
    assert sentence([6]) == "Deal your own card."
    assert sentence([6, 4], "h") == "Card for seat 2."
    assert sentence([6, 4, 5], "h") == "Dealer hits."


def test_every_viewer_sees_the_same_faceup_cards() -> None:
    """Harm: a seat is shown less, or more, than lies on the table."""
    state = dealt([6, 4, 5], bets={2: 20}, rules=Rules(), opening=Opening((1, 2)), hits="h")
    view = ROCKET.view(state, None)
    assert view == ROCKET.view(state, DEALER) == ROCKET.view(state, 1)
    assert view.dealer == (4,)
    assert [(seat.seat, seat.stack, seat.state) for seat in view.seats] == [(1, (), "empty"), (2, (6, 5), "in")]
    assert view.cards_left == 6 * 55 - 5 - 3
