"""Shoes: loading, deck check, shuffle, cut card, burn, and retirement; and the secret orders of house shoes.

Two sources deal through one interface. From a keyed shoe the dealer names each card as it is turned. A house shoe
is shuffled here by the operating system's generator: SHA-256 over a nonce and the order is in the log before the
first card, and both are opened there when the shoe is shuffled again or retired.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from msgspec import UNSET, structs

from ledger.proof.chain import Entry
from ledger.proof.chips import money
from tables.floor import commission, permissions
from tables.floor.command_context import CommandContext, Decision, PendingEntry
from tables.floor.game_kinds import dealing_at, no_rounds
from tables.floor.handlers import enters, reproduces
from tables.floor.inputs import Burn, CutCardOut, LoadShoe, PlaceCutCard, RetireShoe, ShuffleShoe
from tables.games.cards import PAIRS, UNKNOWN, Composition, pack_of
from tables.games.protocol import MIDDLE, Action, AskCard, Card, Illegal
from tables.log.entries.shoes import (
    Burned,
    CardSetAside,
    CutCardPlaced,
    DeckChecked,
    Loaded,
    Retired,
    Shuffled,
)
from tables.log.entries.shoes import CutCardOut as CutCardCame
from tables.log.event import AuditFailure, Opened
from tables.log.game_kinds import kind_of
from tables.log.shoe_orders import commitment_of, pick_apart
from tables.log.state import SHUFFLERS, Round, Shoe, StandardShoe, TableState
from tables.models import HouseShoe, ShoeSource, Table
from tables.refusals import Refused, sentence
from tables.setup import policies

COUNTED: Final = "counted"
"""In place of a step, at a table without rounds."""
SENTENCES: Final = {
    COUNTED: no_rounds().sentence,
    "load": "Load a shoe first.",
    "check": "Spread and count the decks first.",
    "commission": "Collect the commission that is marked first.",
    "shuffle": "Shuffle the shoe first.",
    "cut": "Place the cut card first.",
    "burn": "Burn the first cards first.",
    "relief": "Burn a card first: another dealer took the table.",
    "retire": "Retire this shoe first: the table is set to another one now, or what it holds is not known exactly.",
}
"""What to say when something else is asked while a step of the shoe is due."""


def due(scene: CommandContext) -> str | None:
    """The step that the shoe needs before a round may open: a key of SENTENCES, or None when it is ready."""
    shoe = scene.standing.shoe
    if not dealing_at(scene).is_dealt:
        return COUNTED
    if shoe is None:
        return "load"
    if shoe.uncertain or _kind_of_shoe(shoe) != _kind_of_shoe(_new_shoe(scene)):
        return "retire"
    if shoe.stage == "ready":
        if not dealing_at(scene).is_used_up(scene, shoe):
            return "relief" if scene.standing.burn_is_due else None
        return "commission" if scene.standing.marks else "shuffle"
    return {"loaded": "check", "checked": "shuffle", "shuffled": "cut", "cut": "burn"}[shoe.stage]


# --- the steps -------------------------------------------------------------------------------------------------


@enters(LoadShoe, permit=permissions.the_dealer)
def load(scene: CommandContext, entered: LoadShoe) -> Decision:
    """A shoe is on the table. The system's own is whole by construction: it is shuffled and ready at once."""
    expect(scene, "load")
    shoe = _new_shoe(scene)
    steps = [PendingEntry(Loaded(shoe=shoe))]
    if shoe.source == ShoeSource.HOUSE:
        checked = replace(shoe, stage="checked")
        steps.append(PendingEntry(DeckChecked(shoe=checked, counts=shoe.pack.shoes[shoe.decks])))
        steps += _shuffled(scene, checked)
    return Decision(steps)


def _new_shoe(scene: CommandContext) -> Shoe:
    decks, pack = scene.game.decks(scene.rules), kind_of(scene.game).pack(scene.rules)
    standard = UNSET if pack is PAIRS else StandardShoe(pack.name)
    return Shoe(scene.standing.shoes + 1, decks, scene.table.source, "loaded", standard=standard)


def _kind_of_shoe(shoe: Shoe) -> tuple[str, int, str]:
    """What a table's settings say of its shoe."""
    return shoe.pack.name, shoe.decks, shoe.source


@enters(ShuffleShoe, permit=permissions.the_dealer)
def shuffle(scene: CommandContext, entered: ShuffleShoe) -> Decision:
    """The whole shoe is shuffled, between rounds only."""
    shoe = scene.standing.shoe
    if shoe is None or not may_take_next_batch(scene, shoe):
        shoe = expect(scene, "shuffle")
    return Decision(_shuffled(scene, shoe))


def may_take_next_batch(scene: CommandContext, shoe: Shoe) -> bool:
    """Whether the dealer may take the next batch from the machine now: between rounds, after the first one."""
    is_dealt = scene.standing.dealt_before is not None and not scene.standing.round_open
    return shoe.source == ShoeSource.BATCHES and shoe.stage == "ready" and is_dealt and due(scene) is None


@enters(PlaceCutCard, permit=permissions.the_dealer)
def place_cut_card(scene: CommandContext, entered: PlaceCutCard) -> Decision:
    """The cut card lies before the last part of the shoe."""
    shoe = expect(scene, "cut")
    return Decision([PendingEntry(CutCardPlaced(shoe=replace(shoe, stage="cut"), cards_behind=_behind(scene)))])


@enters(Burn, permit=permissions.the_dealer)
def burn(scene: CommandContext, entered: Burn) -> Decision:
    """The first cards are burned, and from here on the shoe is dealt; or the one card that is due at a relief."""
    if due(scene) == "relief" and not scene.standing.round_open:
        if entered.turned:
            raise Refused("bad_burn", "The card that is burned at a relief is not turned: do not name it.", 422)
        return Decision([aside_step(scene, UNKNOWN, scene.next_seq, relief=True)])
    shoe = expect(scene, "burn")
    return Decision([PendingEntry(Burned(shoe=_burned(scene, shoe, entered.turned)))])


def aside_step(scene: CommandContext, card: int, seq: int, *, relief: bool = False) -> PendingEntry:
    """The entry of a card that leaves the shoe between two rounds. ``relief``: the one that is burned because another
    dealer took the table. Raises Refused."""
    standing, shoe, step = scene.standing, scene.standing.shoe, due(scene)
    if shoe is None or step not in (None, "relief"):
        raise Refused("shoe_not_ready", SENTENCES[step or "load"], 409)
    _no_round(scene)
    if relief and (step != "relief" or standing.dealer is None):
        raise Refused("out_of_turn", "No card is to be burned for a relief now.", 409)
    if scene.game.is_fresh_each_round(scene.rules) or not dealing_at(scene).begins_with_bets:
        says = f"{scene.game.title} is shuffled for each round: put the card back, and shuffle before the next."
        raise Refused("bad_burn", says, 422)
    if shoe.source == ShoeSource.CONTINUOUS:
        says = "The machine shuffles every card that it is given: put this one back into it between two rounds."
        raise Refused("bad_burn", says, 422)
    left = standing.cards_left
    if left <= 1:
        raise Refused("last_card", "It is the last card of the shoe: shuffle, or retire the shoe.", 409)
    is_house = shoe.source == ShoeSource.HOUSE
    if is_house and card == UNKNOWN:
        card = draw(shoe, left)
    if card != UNKNOWN:
        try:
            AskCard(MIDDLE, standing.gone, shoe.decks).admits(Card(card, MIDDLE))
        except Illegal as illegal:
            raise Refused(illegal.code, sentence(illegal.say(money)), 422) from None
    after = replace(shoe, aside=(*(shoe.aside or ()), (seq, card)))
    if relief and standing.dealer is not None:
        after = replace(after, relieved=standing.dealer.since_seq)
    return PendingEntry(CardSetAside(shoe=after, card=card, left=left if is_house else None, relief=relief))


def is_dealt_on(scene: CommandContext) -> bool:
    """Whether further rounds are dealt out of the shoe that lies here, so that a card burned now is out for them: not
    where cards are shuffled for every round, or all the time."""
    shoe = scene.standing.shoe
    if shoe is None or shoe.stage != "ready" or shoe.source == ShoeSource.CONTINUOUS:
        return False
    return dealing_at(scene).begins_with_bets and not scene.game.is_fresh_each_round(scene.rules)


def _burned(scene: CommandContext, shoe: Shoe, turned: int) -> Shoe:
    """The shoe after its burn: a card that a game turns first says how many go with it."""
    game, pack = scene.game, shoe.pack
    if shoe.source in SHUFFLERS:
        return replace(shoe, stage="ready", burn=0, cut_out=False)
    if not kind_of(game).turns_burn(scene.rules):
        if turned:
            raise Refused("bad_burn", f"No card is turned for the burn of {game.title}.", 422)
        return replace(shoe, stage="ready", burn=game.burned(scene.rules), cut_out=False)
    if not 1 <= turned <= len(pack.deck):
        raise Refused("bad_burn", "Turn the first card and name it: it says how many are burned.", 422)
    burned = 1 + kind_of(game).burned_on(turned)
    return replace(shoe, stage="ready", burn=burned, cut_out=False).noting(turned=turned)


@enters(CutCardOut, permit=permissions.the_dealer)
def cut_card_out(scene: CommandContext, entered: CutCardOut) -> Decision:
    """The dealer saw the cut card come out before the count says so: the round in progress is the last. If it is
    earlier than the tolerance of the site allows, the pit gets an alert."""
    shoe = scene.standing.shoe
    if shoe is None or shoe.stage != "ready" or shoe.cut_out or shoe.source != ShoeSource.KEYED:
        raise Refused("out_of_turn", "No cut card can come out now.", 409)
    left, tolerance = scene.standing.cards_left_now, policies.number("cut_card_tolerance")
    steps, early = [cut_step(scene, left)], left - scene.at_cut
    if early <= tolerance:
        return Decision(steps)
    alert = (
        f"{scene.table.name}, shoe {shoe.number}: {scene.by.name} says that the cut card is out with {left} cards left,"
        f" {early} before its place; the tolerance is {tolerance}"
    )
    return Decision(steps, alert=alert, evidence={"seq": scene.next_seq, "cards_left": left})


@enters(RetireShoe, permit=permissions.for_the_shoe_to_go)
def retire(scene: CommandContext, entered: RetireShoe) -> Decision:
    """The shoe leaves the table; a house shoe's order is opened."""
    shoe = scene.standing.shoe
    if shoe is None:
        raise Refused("no_shoe", "There is no shoe on this table.", 409)
    _no_round(scene)
    commission.refuse_owed(scene, "the shoe goes")
    return Decision([PendingEntry(Retired(shoe=shoe, opened=order_opened(shoe)))])


def cut_step(scene: CommandContext, cards_left: int) -> PendingEntry:
    """The entry that says: last round of this shoe."""
    shoe = scene.standing.shoe
    assert shoe is not None  # noqa: S101 -- a card was just dealt from it
    current = scene.standing.round
    out = replace(shoe, cut_out=True).noting(cut_round=current.number if current else 0)
    return PendingEntry(CutCardCame(shoe=out, cards_left=cards_left))


def cut_comes_out(scene: CommandContext, current: Round, state: Any) -> bool:
    """Whether the cards that are left say that this is the last round of the shoe."""
    shoe = scene.standing.shoe
    return shoe is not None and not shoe.cut_out and is_at_cut(scene, current, state)


def is_at_cut(scene: CommandContext, current: Round, state: Any) -> bool:
    """Whether no more cards are left than lie behind the cut card."""
    shoe = scene.standing.shoe
    if shoe is None or shoe.source in SHUFFLERS:
        return False
    at_cut = kind_of(current.game).at_cut(current.rules)
    return at_cut > 0 and current.game.cards_left(state) <= at_cut


def _shuffled(scene: CommandContext, shoe: Shoe) -> list[PendingEntry]:
    opened = order_opened(shoe)
    burned = scene.game.burned(scene.rules)
    if shoe.source != ShoeSource.HOUSE:
        shuffled = _just_shuffled(scene, shoe)
        step = PendingEntry(Shuffled(shoe=shuffled, opened=opened))
        if shuffled.stage != "cut" or (burned and shoe.source not in SHUFFLERS):
            return [step]
        return [step, PendingEntry(Burned(shoe=replace(shuffled, stage="ready", burn=0)))]
    shuffled = _just_shuffled(scene, shoe, _commit(scene.table, shoe.pack.shoes[shoe.decks]))
    cut, turned = replace(shuffled, stage="cut"), UNKNOWN
    if kind_of(scene.game).turns_burn(scene.rules):
        turned = _order(shuffled.commitment or "")[0]
    return [
        PendingEntry(Shuffled(shoe=shuffled, opened=opened)),
        PendingEntry(CutCardPlaced(shoe=cut, cards_behind=_behind(scene))),
        PendingEntry(Burned(shoe=_burned(scene, cut, turned))),
    ]


def _just_shuffled(scene: CommandContext, shoe: Shoe, commitment: str | None = None) -> Shoe:
    """A shoe after its shuffle. Where no cut card is placed, there is nothing to prompt for; nor to burn nothing."""
    prompts = shoe.source == ShoeSource.HOUSE or (_behind(scene) and shoe.source not in SHUFFLERS)
    stage = "shuffled" if prompts else "cut"
    return replace(shoe, stage=stage, cut_out=False, commitment=commitment, aside=UNSET, relieved=UNSET).noting(
        turned=UNKNOWN
    )


def expect(scene: CommandContext, step: str) -> Shoe:
    """The shoe, of which this step is due. Raises Refused when another one is."""
    _no_round(scene)
    expected = due(scene)
    if expected != step:
        says = SENTENCES[expected] if expected else "The shoe is ready: take bets."
        raise Refused("out_of_turn", says, 409)
    return scene.standing.shoe or Shoe(0, 0, "", "")


def _no_round(scene: CommandContext) -> None:
    if scene.standing.round_open:
        raise Refused("round_open", "Finish the round first.", 409)


def _behind(scene: CommandContext) -> int:
    """How many cards lie behind the cut card."""
    return scene.at_cut


# --- enacted anew ----------------------------------------------------------------------------------------------


@reproduces(Loaded)
def enact_load(scene: CommandContext, event: Loaded, entry: Entry) -> PendingEntry:
    """As the table was set then."""
    expect(scene, "load")
    return PendingEntry(Loaded(shoe=_new_shoe(scene)))


@reproduces(Shuffled)
def enact_shuffle(scene: CommandContext, event: Shuffled, entry: Entry) -> PendingEntry:
    """The order of a house shoe is a secret of the house: `commitments` proves it when it is opened."""
    shoe = scene.standing.shoe
    if shoe is None or not may_take_next_batch(scene, shoe):
        shoe = expect(scene, "shuffle")
    commitment = str(event.shoe.commitment) if shoe.source == ShoeSource.HOUSE else None
    return PendingEntry(Shuffled(shoe=_just_shuffled(scene, shoe, commitment), opened=event.opened))


@reproduces(CutCardPlaced)
def enact_cut(scene: CommandContext, event: CutCardPlaced, entry: Entry) -> PendingEntry:
    return place_cut_card(scene, PlaceCutCard()).steps[0]


@reproduces(Burned)
def enact_burn(scene: CommandContext, event: Burned, entry: Entry) -> PendingEntry:
    return burn(scene, Burn(event.shoe.turned)).steps[0]


@reproduces(CutCardCame)
def enact_cut_card_out(scene: CommandContext, event: CutCardCame, entry: Entry) -> PendingEntry:
    """By the dealer; of a house shoe, when the number of cards left says so. Entries of releases up to 0.9.0 do not
    have that number."""
    shoe, current = scene.standing.shoe, scene.standing.round
    if shoe is None or shoe.source != ShoeSource.HOUSE:
        step = cut_card_out(scene, CutCardOut()).steps[0]
    elif current is None or not cut_comes_out(scene, current, current.state):
        raise AuditFailure("the cut card of this house shoe does not come out here")
    else:
        step = cut_step(scene, scene.standing.cards_left_now)
    return step if event.cards_left is not None else replace(step, event=structs.replace(step.event, cards_left=None))


@reproduces(Retired)
def enact_retirement(scene: CommandContext, event: Retired, entry: Entry) -> PendingEntry:
    """Between rounds, with the order that it was dealt from."""
    shoe = scene.standing.shoe
    if shoe is None or scene.standing.round_open:
        raise AuditFailure("it retires a shoe in mid-round, or none")
    return PendingEntry(Retired(shoe=shoe, opened=event.opened))


# --- house shoes -----------------------------------------------------------------------------------------------


def shuffled_in_play(scene: CommandContext, current: Round, state: Any) -> tuple[str | None, Opened | None]:
    """The discards were shuffled in mid-round: for a house shoe, the commitment to their order and the old order."""
    shoe = scene.standing.shoe
    if shoe is None or shoe.source != ShoeSource.HOUSE:
        return None, None
    held, whole = current.game.gone(state), shoe.pack.shoes[shoe.decks]
    discards = tuple(all_of - kept for all_of, kept in zip(whole, held, strict=True))
    return _commit(scene.table, discards), order_opened(shoe)


def draw(shoe: Shoe, cards_left: int) -> int:
    """The rank of the next card of a house shoe with so many cards left."""
    order = _order(shoe.commitment or "")
    return order[len(order) - cards_left]


def draw_lying(table: Table, shoe: Shoe, lies_at: int) -> int:
    """The card of a house shoe that was laid facedown with so many cards left; below zero, before the shuffle that the
    shoe is dealt from now."""
    if lies_at > 0:
        return draw(shoe, lies_at)
    before = HouseShoe.objects.filter(table=table).order_by("-pk").values_list("order", flat=True)[1]
    return bytes(before)[lies_at]


def packet(table: Table, standing: TableState, seat: int) -> tuple[str, ...]:
    """The cards that lie facedown before a seat, as their pack writes them: for the page of that seat, and nobody else.

    No entry has them before they are shown, so nobody who reads the log can know them.
    """
    current, shoe = standing.round, standing.shoe
    if current is None or shoe is None or shoe.source != ShoeSource.HOUSE or not standing.round_open:
        return ()
    lying = current.game.lying(current.state, seat) if current.game.looks else ()
    return tuple(str(shoe.pack.spell(draw_lying(table, shoe, lies_at))) for lies_at in lying)


def moment(current: Round, actions: Sequence[Action]) -> str:
    """Names a draw for good: the round, and how many actions it had before."""
    before = sum(len(play.actions) for play in current.plays)
    return f"{current.number}.{before + len(actions)}"


def draw_apart(shoe: Shoe, pool: Sequence[int], moment: str) -> int:
    """The rank of the next of a few cards that were shuffled apart from the shoe.

    Its nonce decides, which was committed to before the first card and is opened when the shoe is shuffled again: so
    these cards can be proved like all others, and nobody who does not hold the shoe can know them before.
    """
    return pick_apart(_nonce(shoe.commitment or ""), pool, moment)


def _commit(table: Table, composition: Composition) -> str:
    """Shuffle a composition in secret, keep the order, and return the commitment to it."""
    order = bytes(_shuffle(pack_of(composition).cards(composition)))
    nonce = secrets.token_bytes(32)
    commitment = commitment_of(nonce, order)
    HouseShoe.objects.create(table=table, commitment=commitment, order=order, nonce=nonce)
    return commitment


def _shuffle(cards: Iterable[int]) -> list[int]:
    """All orders are equally likely: Fisher-Yates, each index drawn without bias from the system's generator."""
    order = list(cards)
    for last in range(len(order) - 1, 0, -1):
        other = secrets.randbelow(last + 1)
        order[last], order[other] = order[other], order[last]
    return order


def order_opened(shoe: Shoe) -> Opened | None:
    """The order that a house shoe was dealt from, for the log."""
    if shoe.commitment is None:
        return None
    kept = HouseShoe.objects.get(commitment=shoe.commitment)
    return Opened(shoe.commitment, tuple(bytes(kept.order)), bytes(kept.nonce).hex())


@lru_cache(maxsize=200)
def _nonce(commitment: str) -> bytes:
    return bytes(HouseShoe.objects.values_list("nonce", flat=True).get(commitment=commitment))


@lru_cache(maxsize=200)
def _order(commitment: str) -> bytes:
    return bytes(HouseShoe.objects.values_list("order", flat=True).get(commitment=commitment))
