"""The inputs of a round: bets, cards, decisions, payments made, and keys taken back."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from ledger import cage
from ledger.models import Transfer
from ledger.proof.chips import money
from ledger.proof.moves import Move
from tables.games.felt import (
    DEALER,
    Action,
    AskCard,
    AskChoice,
    Card,
    Choose,
    Illegal,
    Payout,
    Shuffle,
)
from tables.games.game import BankedGame
from tables.games.play import admitted, out_of_turn
from tables.inputs import Deal, GameInput, KeyCard, Paid, StartGame, TakeBack
from tables.log.fold import Play, Round, Shoe
from tables.log.settlement import chips_moved
from tables.log.terms import banked_opening
from tables.models import ShoeSource, Staff
from tables.play import pots, shoes
from tables.refusals import Refused, sentence
from tables.scene import Outcome, Scene, Step

REPORTED = ("impossible_card",)
"""Refusals that the pit hears of: a wrong card is in the shoe, or a wrong key was pressed. Either matters."""


@dataclass(slots=True)
class Made:
    """What an input comes to as the game's actions."""

    actions: list[Action] = field(default_factory=list)
    apart: list[list[Any]] = field(default_factory=list)
    """For the shoe's proof: which of them is a card that was shuffled apart, among which, and at what moment."""


def enter(scene: Scene, entered: GameInput) -> Outcome:
    """A bet, a card, a decision, a shuffle in mid-round. Opens the next round with its first bet."""
    shoe_ready(scene)
    current, opening = round_at(scene, entered)
    made = Made()
    try:
        state = _play(scene, current, entered, made)
    except Illegal as illegal:
        return _refuse(scene, current, entered, illegal)
    decided = _newly_decided(current, state)
    content: dict[str, Any] = {"actions": msgspec.to_builtins(tuple(made.actions))}
    if made.apart:
        content["apart"] = made.apart
    if current.secret:
        # Everyone may see the entry's hash, and there are few cards to try it with.
        content["salt"] = secrets.token_hex(16)
    if opening:
        content["opening"] = opening
    if decided:
        content["decided"] = msgspec.to_builtins(decided)
    moves = chips_moved(scene.chart, current, state)
    if any(type(action) is Shuffle for action in made.actions):
        content |= shoes.shuffled_in_play(scene, current, state)
    steps = [Step("round", "play", content, current.number, moves)]
    if cut_comes_out(scene, current, state):
        steps.append(shoes.cut_step(scene))
    return Outcome(steps)


def paid(scene: Scene, entered: Paid) -> Outcome:
    """The dealer has paid (or taken from) a seat at the end of the round, right to left."""
    current = scene.standing.round
    due = current.to_pay if current else ()
    if current is None or not due:
        raise Refused("nothing_to_pay", "No seat is waiting to be paid.", 409)
    if due[0].seat != entered.seat:
        raise Refused("out_of_turn", f"Seat {due[0].seat} is paid next: right to left.", 422)
    return Outcome([Step("round", "paid", {"seat": entered.seat}, current.number)])


def take_back(scene: Scene, entered: TakeBack) -> Outcome:
    """Undo the latest input of the round by a correcting entry; chips that it moved go back by reversals.

    A dealer may do so until the next card; those who run the floor may go further back in the round.
    """
    current = scene.standing.round
    target = last_input(scene)
    assert current is not None  # noqa: S101 -- last_input refuses otherwise
    moves: Sequence[Move] = ()
    if current.over or not current.game.banked:
        moves = cage.reverse(Transfer.objects.filter(book_id=scene.table.book_id, seq=target.seq))
    content = {"corrects": target.seq, "actions": msgspec.to_builtins(target.actions)}
    step = Step("round", "take_back", content, current.number, moves)
    if not (moves and current.over):
        return Outcome([step])
    alert = (
        f"{scene.table.name}, round {current.number}: {scene.by.name} took back entry {target.seq}, which settled it"
    )
    return Outcome([step], alert=alert, evidence={"round": current.number, "seq": scene.next_seq})


# --- the round that an input belongs to ------------------------------------------------------------------------


def shoe_ready(scene: Scene) -> None:
    """Raises Refused while a seat is to be paid, or the shoe needs a step before a round may open."""
    now = scene.standing
    if now.round_open:
        if now.round is not None and now.round.to_pay:
            raise Refused("pay_first", f"Pay seat {now.round.to_pay[0].seat} first.", 409)
        return
    due = shoes.due(scene)
    if due is not None:
        raise Refused("shoe_not_ready", shoes.SENTENCES[due], 409)


def round_at(scene: Scene, entered: GameInput) -> tuple[Round, dict[str, Any] | None]:
    """The round in progress; or a new one, with what its first entry is to pin."""
    now = scene.standing
    if now.round_open and now.round is not None:
        return now.round, None
    fresh = _fresh(scene, entered)
    pinned: dict[str, Any] = {
        "game": fresh.game.name,
        "rules": msgspec.to_builtins(fresh.rules),
        "opening": msgspec.to_builtins(fresh.opening),
        "shoe": now.shoe.number if now.shoe else 0,
    }
    if not fresh.game.banked:
        pinned |= {"stacks": fresh.stacks, "pot_cents": fresh.pot_cents, "coin_cents": fresh.coin_cents}
    return fresh, pinned


def _fresh(scene: Scene, entered: GameInput) -> Round:
    if scene.game.banked:
        return next_round(scene)
    if not isinstance(entered, StartGame):
        raise Refused("no_game", "Start the next game first.", 409)
    return pots.next_game(scene, entered.seats)


def next_round(scene: Scene) -> Round:
    """The round that the next bet opens: under the limits and options of now, on the shoe as it lies."""
    now = scene.standing
    rules, opening = banked_opening(scene.table, scene.rules, now)
    return Round(now.next_number, scene.game, rules, opening, scene.next_seq, (), scene.game.open(rules, opening))


# --- playing ---------------------------------------------------------------------------------------------------


def _play(scene: Scene, current: Round, entered: GameInput, made: Made) -> Any:
    """Play an input as the game's actions, which are added to ``made``. Raises Illegal or Refused."""
    house = scene.standing.shoe is not None and scene.standing.shoe.source == ShoeSource.HOUSE
    if isinstance(entered, KeyCard):
        if house:
            raise Refused("house_shoe", "The house shoe deals at this table: cards are not keyed.", 422)
        return _keyed(current, entered, made)
    if isinstance(entered, Deal):
        if not house:
            raise Refused("keyed_shoe", "Real cards are dealt at this table: key each card as it is turned.", 422)
        if _card_due(current, current.state) is None:
            raise Illegal("out_of_turn", "no card is due now")
        return _deal(scene, current, current.state, made)
    if isinstance(entered, StartGame):
        return _start(scene, current, made, house=house)
    if isinstance(entered, Choose):
        _refuse_for_another(scene, current, entered)
    state = _play_one(current, current.state, entered, made)
    if house and isinstance(entered, Choose):
        return _drawn(scene, current, state, entered, made)
    return state


def _refuse_for_another(scene: Scene, current: Round, entered: Choose) -> None:
    """Staff who could choose for a seat could find out what it holds, by what is refused."""
    if isinstance(scene.by, Staff) and current.hides_cards_of(entered.seat):
        says = f"Seat {entered.seat} holds cards that nobody else may know: it chooses on its own page."
        raise Refused("seat_chooses", says, 403)


def _start(scene: Scene, current: Round, made: Made, *, house: bool) -> Any:
    if scene.game.banked or scene.standing.round_open:
        raise Refused("out_of_turn", "A game is going on: finish it first.", 409)
    return _deal(scene, current, current.state, made) if house else current.state


def _play_one(current: Round, state: Any, action: Action, made: Made) -> Any:
    """The log is to say what was played: with all that the action names, though a key may leave it out."""
    action = admitted(current.game, state, action)
    made.actions.append(action)
    return current.game.apply(state, action)


def _keyed(current: Round, entered: KeyCard, made: Made) -> Any:
    """Play a keyed card: for the seat that is to decide, it means that the seat took a card."""
    state, prompts = current.state, current.game.prompts(current.state)
    if prompts and isinstance(prompts[0], AskChoice):
        drawing = [choice.name for choice in prompts[0].choices if choice.draws]
        if len(drawing) != 1:
            raise out_of_turn(prompts, Card(entered.rank, DEALER))
        state = _play_one(current, state, Choose(prompts[0].seat, drawing[0]), made)
    ask = _card_due(current, state)
    if ask is None:
        raise out_of_turn(current.game.prompts(state), Card(entered.rank, DEALER))
    return _play_one(current, state, Card(entered.rank, ask.to), made)


def _card_due(current: Round, state: Any) -> AskCard | None:
    prompts = current.game.prompts(state)
    return prompts[0] if prompts and isinstance(prompts[0], AskCard) else None


def _deal(scene: Scene, current: Round, state: Any, made: Made) -> Any:
    """The house shoe deals all cards that are due, up to the next decision."""
    while ask := _card_due(current, state):
        state = _draw(scene, current, state, ask, made)
    return state


def _drawn(scene: Scene, current: Round, state: Any, choice: Choose, made: Made) -> Any:
    """A choice that takes a card gets it at once: one event at the table, one entry in the log. Where no dealer acts
    by rules of his own, neither does anybody wait for the cards that follow."""
    if not current.game.banked:
        return _deal(scene, current, state, made)
    ask = _card_due(current, state)
    return _draw(scene, current, state, ask, made) if ask and ask.to == choice.seat else state


def _draw(scene: Scene, current: Round, state: Any, ask: AskCard, made: Made) -> Any:
    shoe = scene.standing.shoe
    assert shoe is not None  # noqa: S101 -- no round opens without one
    if ask.apart:
        moment = shoes.moment(current, made.actions)
        rank = shoes.draw_apart(shoe, ask.may_come, moment)
        made.apart.append([len(made.actions), list(ask.may_come), moment])
    else:
        rank = shoes.draw(shoe, current.game.cards_left(state))
    return _play_one(current, state, Card(rank, ask.to), made)


def _newly_decided(current: Round, state: Any) -> tuple[Payout, ...]:
    known = {payout.seat for payout in current.game.settle(current.state)}
    return tuple(payout for payout in current.game.settle(state) if payout.seat not in known)


def cut_comes_out(scene: Scene, current: Round, state: Any) -> bool:
    """Whether the cards that are left say that this is the last round of the shoe."""
    shoe, game = scene.standing.shoe, current.game
    if shoe is None or shoe.cut_out or not isinstance(game, BankedGame):
        return False
    at_cut = game.at_cut(current.rules)
    return at_cut > 0 and game.cards_left(state) <= at_cut


def _refuse(scene: Scene, current: Round, entered: GameInput, illegal: Illegal) -> Outcome:
    """Raise the refusal; or, for one that the pit must hear of, give the report to write."""
    refusal = Refused(illegal.code, sentence(illegal.say(money)), 422, **illegal.facts)
    if illegal.code not in REPORTED:
        raise refusal from None
    refusal.sentence = f"{refusal.sentence} Wrong key: press the right one. Wrong card: call the pit."
    keyed = entered.rank if isinstance(entered, KeyCard) else None
    content = {"rank": keyed, "says": illegal.sentence}
    # The same words for the same card on the same board: pressed again and again, it is one alert.
    board = f"after entry {current.plays[-1].seq}" if current.plays else "at its start"
    alert = f"{scene.table.name}, round {current.number}, {board}: a {keyed} was keyed that the shoe cannot hold"
    step = Step("alert", "card_refused", content, current.number if scene.standing.round_open else None)
    return Outcome([step], refusal, alert, {"round": current.number, "seq": scene.next_seq, "rank": keyed})


# --- taking back -----------------------------------------------------------------------------------------------


def last_input(scene: Scene) -> Play:
    """The input that can be taken back now. Raises Refused when it stands."""
    now = scene.standing
    current, shoe = now.round, now.shoe
    if current is None or not current.plays:
        raise Refused("nothing_to_take_back", "There is nothing to take back in this round.", 409)
    if shoe is None or shoe.stage != "ready" or current.first_seq < shoe.ready_seq:
        raise Refused("nothing_to_take_back", "The shoe was changed or shuffled since: that round stands.", 409)
    if current.first_seq < now.opened_seq:
        raise Refused("nothing_to_take_back", "The table was closed since: that round stands.", 409)
    target = current.plays[-1]
    _may_take_back(scene, current, shoe, target)
    return target


def _may_take_back(scene: Scene, current: Round, shoe: Shoe, target: Play) -> None:
    if target.has_card and shoe.source == ShoeSource.HOUSE:
        raise Refused("card_stands", "The house shoe dealt this card: it stands.", 409)
    if not current.game.banked and target.actions and shoe.source == ShoeSource.HOUSE:
        raise Refused("card_stands", "A player chose this for himself: it stands.", 409)
    if scene.standing.seated_seq > target.seq:
        raise Refused("card_stands", "Chips were bought or cashed since: that game stands.", 409)
    if any(type(action) is Shuffle for action in target.actions):
        raise Refused("card_stands", "The discards were shuffled: that cannot be taken back.", 409)
    if scene.by.has_perm("tables.run_floor"):
        return
    if current.latest_card_seq > target.seq:
        raise Refused("card_stands", "Another card was keyed since: a pit boss has to take it back.", 409)
