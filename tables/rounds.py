"""The inputs of a round: bets, cards, decisions, payments made, and keys taken back."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import structs

from ledger import cage
from ledger.cage import Chart, Move
from ledger.chips import LAYOUT, PLAYERS, RACK, money
from ledger.models import Transfer
from tables import shoes
from tables.games.felt import Action, AskCard, AskChoice, Card, Choose, Illegal, Opening, Payout, Shuffle
from tables.games.play import out_of_turn, play
from tables.inputs import Deal, GameInput, KeyCard, Paid, TakeBack
from tables.models import ShoeSource
from tables.refusals import Refused, sentence
from tables.scene import Outcome, Scene, Step
from tables.standing import Play, Round, Shoe

REPORTED = ("impossible_card",)
"""Refusals that the pit hears of: a wrong card is in the shoe, or a wrong key was pressed. Either matters."""


def enter(scene: Scene, entered: GameInput) -> Outcome:
    """A bet, a card, a decision, a shuffle in mid-round. Opens the next round with its first bet."""
    _shoe_ready(scene)
    current, opening = _round(scene)
    actions: list[Action] = []
    try:
        state = _play(scene, current, entered, actions)
    except Illegal as illegal:
        return _refuse(scene, current, entered, illegal)
    decided = _newly_decided(current, state)
    content: dict[str, Any] = {"actions": msgspec.to_builtins(tuple(actions))}
    if opening:
        content["opening"] = opening
    if decided:
        content["decided"] = msgspec.to_builtins(decided)
    moves: Sequence[Move] = ()
    if not current.game.prompts(state):
        moves = settlement(accounts(scene.table.book_id, max(current.opening.seats)), current.game.settle(state))
    if any(type(action) is Shuffle for action in actions):
        content |= shoes.shuffled_in_play(scene, current, state)
    steps = [Step("round", "play", content, current.number, moves)]
    if _cut_comes_out(scene, current, state):
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
    if current.over:
        moves = cage.reverse(Transfer.objects.filter(book_id=scene.table.book_id, seq=target.seq))
    content = {"corrects": target.seq, "actions": msgspec.to_builtins(target.actions)}
    step = Step("round", "take_back", content, current.number, moves)
    if not moves:
        return Outcome([step])
    alert = (
        f"{scene.table.name}, round {current.number}: {scene.by.name} took back entry {target.seq}, which settled it"
    )
    return Outcome([step], alert=alert, evidence={"round": current.number, "seq": scene.next_seq})


# --- the round that an input belongs to ------------------------------------------------------------------------


def _shoe_ready(scene: Scene) -> None:
    now = scene.standing
    if now.round_open:
        if now.round is not None and now.round.to_pay:
            raise Refused("pay_first", f"Pay seat {now.round.to_pay[0].seat} first.", 409)
        return
    due = shoes.due(scene)
    if due is not None:
        raise Refused("shoe_not_ready", shoes.SENTENCES[due], 409)


def _round(scene: Scene) -> tuple[Round, dict[str, Any] | None]:
    """The round in progress; or a new one, with what its first entry is to pin."""
    now = scene.standing
    if now.round_open and now.round is not None:
        return now.round, None
    fresh = next_round(scene)
    pinned = {
        "game": fresh.game.name,
        "rules": msgspec.to_builtins(fresh.rules),
        "opening": msgspec.to_builtins(fresh.opening),
        "shoe": now.shoe.number if now.shoe else 0,
    }
    return fresh, pinned


def next_round(scene: Scene) -> Round:
    """The round that the next bet opens: under the limits and options of now, on the shoe as it lies."""
    now, shoe = scene.standing, scene.standing.shoe
    # The burn was made when this shoe was shuffled, whatever the option says since.
    rules = structs.replace(scene.rules, burn=shoe.burn) if shoe else scene.rules
    opening = Opening(tuple(range(1, scene.table.seats + 1)), scene.limits, now.gone, now.button)
    return Round(now.next_number, scene.game, rules, opening, scene.next_seq, (), scene.game.open(rules, opening))


# --- playing ---------------------------------------------------------------------------------------------------


def _play(scene: Scene, current: Round, entered: GameInput, actions: list[Action]) -> Any:
    """Play an input as the game's actions, which are added to ``actions``. Raises Illegal or Refused."""
    house = scene.standing.shoe is not None and scene.standing.shoe.source == ShoeSource.HOUSE
    if isinstance(entered, KeyCard):
        if house:
            raise Refused("house_shoe", "The house shoe deals at this table: cards are not keyed.", 422)
        return _play_all(current, _keyed(current, entered), actions)
    if isinstance(entered, Deal):
        if not house:
            raise Refused("keyed_shoe", "Real cards are dealt at this table: key each card as it is turned.", 422)
        return _deal(scene, current, actions)
    state = _play_all(current, [entered], actions)
    if house and isinstance(entered, Choose):
        # A choice that takes a card gets it at once: one event at the table, one entry in the log.
        return _draw_once(scene, current, state, actions)
    return state


def _play_all(current: Round, played: Sequence[Action], actions: list[Action]) -> Any:
    state = current.state
    for action in played:
        state = play(current.game, state, action)
        actions.append(action)
    return state


def _keyed(current: Round, entered: KeyCard) -> list[Action]:
    """A keyed card as actions: for the seat that is to decide, it means that the seat took a card."""
    prompts = current.game.prompts(current.state)
    ask = prompts[0] if prompts else None
    if isinstance(ask, AskCard):
        return [Card(entered.rank, ask.to)]
    if isinstance(ask, AskChoice):
        drawing = [choice.name for choice in ask.choices if choice.draws]
        if len(drawing) == 1:
            return [Choose(ask.seat, drawing[0]), Card(entered.rank, ask.seat)]
    raise out_of_turn(prompts, Card(entered.rank, 0))


def _deal(scene: Scene, current: Round, actions: list[Action]) -> Any:
    state = current.state
    prompts = current.game.prompts(state)
    if not prompts or not isinstance(prompts[0], AskCard):
        raise Illegal("out_of_turn", "no card is due now")
    while prompts and isinstance(prompts[0], AskCard):
        state = _draw(scene, current, state, prompts[0], actions)
        prompts = current.game.prompts(state)
    return state


def _draw_once(scene: Scene, current: Round, state: Any, actions: list[Action]) -> Any:
    prompts = current.game.prompts(state)
    choice = actions[-1]
    if prompts and isinstance(prompts[0], AskCard) and isinstance(choice, Choose) and prompts[0].to == choice.seat:
        return _draw(scene, current, state, prompts[0], actions)
    return state


def _draw(scene: Scene, current: Round, state: Any, ask: AskCard, actions: list[Action]) -> Any:
    shoe = scene.standing.shoe
    assert shoe is not None  # noqa: S101 -- no round opens without one
    card = Card(shoes.draw(shoe, current.game.cards_left(state)), ask.to)
    actions.append(card)
    return play(current.game, state, card)


def _newly_decided(current: Round, state: Any) -> tuple[Payout, ...]:
    known = {payout.seat for payout in current.game.settle(current.state)}
    return tuple(payout for payout in current.game.settle(state) if payout.seat not in known)


def _cut_comes_out(scene: Scene, current: Round, state: Any) -> bool:
    shoe = scene.standing.shoe
    if shoe is None or shoe.cut_out:
        return False
    return current.game.cards_left(state) <= current.game.at_cut(current.rules)


def _refuse(scene: Scene, current: Round, entered: GameInput, illegal: Illegal) -> Outcome:
    """Raise the refusal; or, for one that the pit must hear of, give the report to write."""
    refusal = Refused(illegal.code, sentence(illegal.say(money)), 422, **illegal.facts)
    if illegal.code not in REPORTED:
        raise refusal from None
    refusal.sentence = f"{refusal.sentence} Wrong key: press the right one. Wrong card: call the pit."
    keyed = entered.rank if isinstance(entered, KeyCard) else None
    content = {"rank": keyed, "says": illegal.sentence}
    where = f"{scene.table.name}, round {current.number}, entry {scene.next_seq}"
    alert = f"{where}: a {keyed} was keyed that the shoe cannot hold"
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
    if any(type(action) is Shuffle for action in target.actions):
        raise Refused("card_stands", "The discards were shuffled: that cannot be taken back.", 409)
    if scene.by.has_perm("tables.run_floor"):
        return
    if current.latest_card_seq > target.seq:
        raise Refused("card_stands", "Another card was keyed since: a pit boss has to take it back.", 409)


# --- chips -----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1_000)
def accounts(book_id: int, seats: int) -> Chart:
    """The accounts of a table with so many seats. They are never changed, so they are read once."""
    return cage.chart(book_id)


def settlement(chart: Chart, payouts: Sequence[Payout]) -> list[Move]:
    """A round in chips: each stake to the layout; from there losses to the rack, the rest back to the players;
    winnings from the rack."""
    moves: list[Move] = []
    for payout in payouts:
        layout = (LAYOUT, payout.seat)
        kept = min(payout.staked_cents, payout.returned_cents)
        moves.append(chart.move("stake", PLAYERS, layout, payout.staked_cents))
        if payout.net_cents < 0:
            moves.append(chart.move("loss", layout, RACK, -payout.net_cents))
        if payout.net_cents > 0:
            moves.append(chart.move("win", RACK, PLAYERS, payout.net_cents))
        if kept:
            moves.append(chart.move("return", layout, PLAYERS, kept))
    return moves
