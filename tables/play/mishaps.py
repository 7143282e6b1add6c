"""What goes wrong: a mishap as it is entered, a card that leaves the shoe unplayed, a void round, an abandoned table,
and a bet over the limit that was accepted.

Every act ends in a state that the ordinary inputs go on from: a void round is over, an abandoned table waits for a
dealer or for its closer.
"""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import Final

from ledger.proof.chain import Entry
from ledger.proof.chips import money
from tables import permits
from tables.games.cards import UNKNOWN
from tables.games.felt import MIDDLE, AskCard, Card, Illegal, SetAside
from tables.games.play import play
from tables.handlers import as_written, enacts, enters
from tables.inputs import AbandonTable, AcceptBet, Bet, EnterMishap, VoidRound
from tables.log import mishaps
from tables.log.entries import rounds as log
from tables.log.entries.mishaps import MishapEntered, TableAbandoned
from tables.log.entries.shoes import CardSetAside, Doubted, Retired
from tables.log.event import Misconduct
from tables.log.fold import CONTINUOUS, HOUSE_SHOE, Round, Shoe
from tables.past import words
from tables.play import doors, rounds, seat_pages, shoes
from tables.play.kinds import dealing_at
from tables.refusals import Refused, sentence
from tables.scene import Outcome, Scene, Step
from tables.voiding import void_step

MOST_NOTE: Final = 200
"""Characters."""


# --- a mishap ---------------------------------------------------------------------------------------------------


@enters(EnterMishap, permit=permits.the_dealer)
def enter(scene: Scene, entered: EnterMishap) -> Outcome:
    """The dealer says what went wrong; a card that leaves the shoe with it is in the same input. Raises Refused."""
    mishap = mishaps.MISHAPS.get(entered.which)
    if mishap is None:
        raise Refused("unknown_mishap", f"A mishap is one of {', '.join(mishaps.MISHAPS)}.", 422)
    if entered.act and entered.act not in mishap.acts:
        raise Refused("unknown_act", f"{mishap.title}: nothing is {entered.act} for it.", 422)
    if entered.act not in ("", "set_aside", "burn"):
        raise Refused("unknown_act", f"{mishap.title}: {entered.act} is entered by itself.", 422)
    event = MishapEntered(
        **scene.author,
        which=mishap.name,
        act=entered.act,
        called=_note(entered.called, "who came"),
        note=_note(entered.note, "what happened"),
    )
    steps = [Step(event, _number(scene))]
    if entered.act:
        steps += _card_leaves(scene, entered)
    alert = (
        f"{scene.table.name}: {mishap.title.lower()}, {scene.by.name} calls {mishap.calls}" if mishap.alerts else None
    )
    return Outcome(steps, alert=alert, evidence={"which": mishap.name, "seq": scene.next_seq} if alert else {})


@enacts(MishapEntered)
def enact_mishap(scene: Scene, event: MishapEntered, entry: Entry) -> Step:
    """By the dealer who entered it, as it is called in the catalogue."""
    acting = as_written(scene, event, entry, permits.the_dealer)
    mishap = mishaps.MISHAPS.get(event.which)
    if mishap is None or event.act not in ("", *mishap.acts):
        raise Misconduct(f"it is no mishap of this house, or one that leads to no {event.act}")
    return Step(event, _number(acting))


def _number(scene: Scene) -> int | None:
    current = scene.standing.round
    return current.number if current is not None and scene.standing.round_open else None


def _note(text: str, what: str) -> str:
    trimmed = " ".join(text.split())
    if len(trimmed) > MOST_NOTE or not trimmed.isprintable():
        raise Refused("bad_words", f"Say {what} in at most {MOST_NOTE} plain characters.", 422)
    return trimmed


# --- a card leaves the shoe unplayed ----------------------------------------------------------------------------


def _card_leaves(scene: Scene, entered: EnterMishap) -> list[Step]:
    """The entries of a card that is set aside or burned, after the one about the mishap."""
    shoe = scene.standing.shoe
    if shoe is None or shoe.stage != "ready":
        raise Refused("no_shoe", "No shoe is being dealt: no card can leave it.", 409)
    if entered.act == "burn":
        return _burned(scene, shoe, entered)
    if shoe.source == HOUSE_SHOE and entered.card:
        raise Refused("house_shoe", "The house shoe tells which card it is: do not name it.", 422)
    card = _card_named(shoe, entered.card)
    if not scene.standing.round_open:
        return _aside_between(scene, shoe, card)
    current = scene.standing.round
    assert current is not None  # noqa: S101 -- a round is open
    if current.to_pay:
        raise Refused("pay_first", f"Pay seat {current.to_pay[0].seat} first: no card is due any more.", 409)
    return _aside_in_round(scene, shoe, current, card)


def _card_named(shoe: Shoe, name: str) -> int:
    """The card of a shoe that is written so; UNKNOWN without a name."""
    if not name:
        return UNKNOWN
    spelling: int | str = int(name) if name.isascii() and name.isdecimal() and len(name) < 3 else name
    try:
        return shoe.pack.number(spelling)
    except KeyError:
        first, last = shoe.pack.spell(1), shoe.pack.spell(len(shoe.pack.deck))
        raise Refused("no_such_card", f"There is no card {name} here: cards are {first} to {last}.", 422) from None


def _aside_in_round(scene: Scene, shoe: Shoe, current: Round, card: int) -> list[Step]:
    if shoe.source == HOUSE_SHOE and current.game.cards_left(current.state):
        card = shoes.draw(shoe, current.game.cards_left(current.state))
    action = SetAside(card)
    try:
        state = play(current.game, current.state, action)
    except Illegal as illegal:
        raise Refused(illegal.code, sentence(illegal.say(money)), 422) from None
    salt = secrets.token_hex(16) if current.secret else None
    steps = [Step(log.Played(actions=(action,), salt=salt), current.number)]
    if shoes.cut_comes_out(scene, current, state):
        steps.append(shoes.cut_step(scene))
        shoe = replace(shoe, cut_out=True).noting(cut_round=current.number)
    return steps if card != UNKNOWN else [*steps, Step(_doubted(shoe))]


def _aside_between(scene: Scene, shoe: Shoe, card: int) -> list[Step]:
    step = _aside_step(scene, card, scene.next_seq + 1)
    event = step.event
    assert isinstance(event, CardSetAside)  # noqa: S101 -- it was just made
    return [step] if event.card != UNKNOWN else [step, Step(_doubted(event.shoe))]


def _burned(scene: Scene, shoe: Shoe, entered: EnterMishap) -> list[Step]:
    """A card is burned between two rounds: unseen, but for that of a house shoe, which its order tells."""
    if scene.standing.round_open:
        raise Refused("round_open", "Finish the round first: a card is burned between two rounds.", 409)
    if entered.card:
        raise Refused("bad_burn", "A burned card is not turned: do not name it.", 422)
    return [_aside_step(scene, UNKNOWN, scene.next_seq + 1)]


def _aside_step(scene: Scene, card: int, seq: int) -> Step:
    """The entry of a card that leaves the shoe between two rounds. Raises Refused."""
    standing, shoe = scene.standing, scene.standing.shoe
    due = shoes.due(scene)
    if due is not None or shoe is None:
        raise Refused("shoe_not_ready", shoes.SENTENCES[due or "load"], 409)
    if standing.round_open:
        raise Refused("round_open", "A round is open.", 409)
    if scene.game.is_fresh_each_round(scene.rules) or not dealing_at(scene).begins_with_bets:
        says = f"{scene.game.title} is shuffled for each round: put the card back, and shuffle before the next."
        raise Refused("bad_burn", says, 422)
    if shoe.source == CONTINUOUS:
        says = "The machine shuffles every card that it is given: put this one back into it between two rounds."
        raise Refused("bad_burn", says, 422)
    left = _left(scene, shoe)
    if left <= 1:
        raise Refused("last_card", "It is the last card of the shoe: shuffle, or retire the shoe.", 409)
    is_house = shoe.source == HOUSE_SHOE
    if is_house and card == UNKNOWN:
        card = shoes.draw(shoe, left)
    if card != UNKNOWN:
        try:
            AskCard(MIDDLE, standing.gone, shoe.decks).admits(Card(card, MIDDLE))
        except Illegal as illegal:
            raise Refused(illegal.code, sentence(illegal.say(money)), 422) from None
    after = replace(shoe, aside=(*(shoe.aside or ()), (seq, card)))
    return Step(CardSetAside(shoe=after, card=card, left=left if is_house else None))


def _left(scene: Scene, shoe: Shoe) -> int:
    """How many cards a shoe has left between two rounds."""
    before = scene.standing.dealt_before
    whole = shoe.pack.size * shoe.decks - shoe.burn
    left = before.game.cards_left(before.state) if before else whole
    return left - len(scene.standing.aside_since)


def _doubted(shoe: Shoe) -> Doubted:
    return Doubted(shoe=replace(shoe, uncertain=True))


@enacts(CardSetAside, permit=permits.the_dealer)
def enact_aside(scene: Scene, event: CardSetAside, entry: Entry) -> Step:
    """Which card it was, only who saw it knows; of a house shoe, its order proves it."""
    return _aside_step(scene, event.card, entry.seq)


@enacts(Doubted, permit=permits.the_dealer_or_the_floor)
def enact_doubt(scene: Scene, event: Doubted, entry: Entry) -> Step:
    if scene.standing.shoe is None:
        raise Misconduct("it doubts a shoe, and there is none")
    return Step(_doubted(scene.standing.shoe))


# --- a round without a result -----------------------------------------------------------------------------------


@enters(VoidRound, permit=permits.the_floor)
def void(scene: Scene, entered: VoidRound) -> Outcome:
    """The open round ends without a result. Raises Refused."""
    if entered.reason not in mishaps.REASONS:
        raise Refused("unknown_reason", f"A round is void for one of {', '.join(mishaps.REASONS)}.", 422)
    steps = [void_step(scene, entered.reason, entered.note)]
    if entered.unknown or entered.reason in mishaps.SPOILED:
        steps += _shoe_goes(scene)
    current = scene.standing.round
    number = current.number if current else 0
    what = mishaps.REASONS[entered.reason].lower()
    alert = f"{scene.table.name}, round {number}: {scene.by.name} made it void ({what})"
    return Outcome(steps, alert=alert, evidence={"round": number, "seq": scene.next_seq, "reason": entered.reason})


def _shoe_goes(scene: Scene) -> list[Step]:
    shoe = scene.standing.shoe
    return [Step(Retired(shoe=shoe, opened=shoes.order_opened(shoe)))] if shoe else []


@enacts(log.Voided)
def enact_void(scene: Scene, event: log.Voided, entry: Entry) -> Step:
    """By a pit boss, of the round that is open, for a reason of the list."""
    acting = as_written(scene, event, entry, permits.the_floor)
    if event.reason not in mishaps.REASONS:
        raise Misconduct(f"it voids a round for {event.reason!r}, which is no reason of the list")
    return void_step(acting, event.reason, event.note)


# --- a table that everybody left --------------------------------------------------------------------------------


@enters(AbandonTable, permit=permits.the_floor_at_once)
def abandon(scene: Scene, entered: AbandonTable) -> Outcome:
    """From any state: the round is void, the shoe retired, the dealer signed out. Chips stay where they are."""
    if entered.reason not in mishaps.LEAVING:
        raise Refused("unknown_reason", f"A table is abandoned for one of {', '.join(mishaps.LEAVING)}.", 422)
    note, standing = words(entered.note, "what happened"), scene.standing
    steps = [Step(TableAbandoned(**scene.author, reason=entered.reason, note=note), _number(scene))]
    if standing.round_open:
        steps.append(void_step(scene, entered.reason, note))
    steps += [*_shoe_goes(scene), *seat_pages.revoke(scene)]
    if standing.dealer is not None:
        steps.append(doors.tap_out(standing.dealer.username, standing.dealer.name))
    alert = f"{scene.table.name}: {scene.by.name} abandoned the table ({mishaps.REASONS[entered.reason].lower()})"
    return Outcome(steps, alert=alert, evidence={"reason": entered.reason, "seq": scene.next_seq})


@enacts(TableAbandoned)
def enact_abandoning(scene: Scene, event: TableAbandoned, entry: Entry) -> Step:
    acting = as_written(scene, event, entry, permits.the_floor_at_once)
    if event.reason not in mishaps.LEAVING:
        raise Misconduct(f"it abandons the table for {event.reason!r}, which is no reason of the list")
    return Step(event, _number(acting))


# --- a bet over the limit that was accepted ---------------------------------------------------------------------


@enters(AcceptBet, permit=permits.the_floor)
def accept_bet(scene: Scene, entered: AcceptBet) -> Outcome:
    """A bet over the maximum was accepted: it stands, and is paid or lost in its entirety. A pit boss signs for it."""
    rounds.shoe_ready(scene)
    bet = Bet(entered.seat, entered.amount_cents, entered.wager, approved=True)
    current, opening = rounds.round_at(scene, bet)
    try:
        state = play(current.game, current.state, bet)
    except Illegal as illegal:
        raise Refused(illegal.code, sentence(illegal.say(money)), 422, **illegal.facts) from None
    _refuse_within(current, bet)
    event = log.Played(actions=(bet,), opening=opening, decided=current.newly_decided(state))
    alert = (
        f"{scene.table.name}, round {current.number}: {scene.by.name} let a bet of {money(bet.amount_cents)} stand at"
        f" seat {bet.seat}, over the limit"
    )
    evidence = {"round": current.number, "seat": bet.seat, "cents": bet.amount_cents, "seq": scene.next_seq}
    return Outcome([Step(event, current.number)], alert=alert, evidence=evidence)


def _refuse_within(current: Round, bet: Bet) -> None:
    """A bet within the limits takes no pit boss."""
    try:
        play(current.game, current.state, replace_approval(bet))
    except Illegal:
        return
    raise Refused("within_limits", "This bet is within the limits: the dealer enters it.", 422)


def replace_approval(bet: Bet) -> Bet:
    """The same bet without anybody's approval."""
    return Bet(bet.seat, bet.amount_cents, bet.wager)
