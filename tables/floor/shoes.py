"""Shoes: load, deck check, shuffle, cut card, burn and retirement; and the secret orders of electronic shoes.

Two sources deal through one interface. From a hand-dealt shoe the dealer keys each card as it is turned. An electronic
shoe is shuffled here by the operating system's generator: SHA-256 over a nonce and the order is in the log before the
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
"""The step of a non-tracked table, which has no shoe."""
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
"""The refusal of other inputs while this step of the shoe is due."""


def due(context: CommandContext) -> str | None:
    """The step that the shoe needs before a round may open: a key of SENTENCES, or None when it is ready."""
    shoe = context.standing.shoe
    if not dealing_at(context).is_dealt:
        return COUNTED
    if shoe is None:
        return "load"
    # From unknown contents, neither an impossible card nor an advantage can be recognised.
    if shoe.uncertain or _kind_of_shoe(shoe) != _kind_of_shoe(_new_shoe(context)):
        return "retire"
    if shoe.stage == "ready":
        if not dealing_at(context).is_used_up(context, shoe):
            return "relief" if context.standing.burn_is_due else None
        return "commission" if context.standing.marks else "shuffle"
    return {"loaded": "check", "checked": "shuffle", "shuffled": "cut", "cut": "burn"}[shoe.stage]


# --- the steps -------------------------------------------------------------------------------------------------


@enters(LoadShoe, permit=permissions.the_dealer)
def load(context: CommandContext, entered: LoadShoe) -> Decision:
    """A shoe is on the table. An electronic shoe is complete by construction: it is shuffled and ready at once."""
    expect(context, "load")
    shoe = _new_shoe(context)
    steps = [PendingEntry(Loaded(shoe=shoe))]
    if shoe.source == ShoeSource.HOUSE:
        checked = replace(shoe, stage="checked")
        steps.append(PendingEntry(DeckChecked(shoe=checked, counts=shoe.pack.shoes[shoe.decks])))
        steps += _shuffled(context, checked)
    return Decision(steps)


def _new_shoe(context: CommandContext) -> Shoe:
    decks, pack = context.game.decks(context.rules), kind_of(context.game).pack(context.rules)
    standard = UNSET if pack is PAIRS else StandardShoe(pack.name)
    return Shoe(context.standing.shoes + 1, decks, context.table.source, "loaded", standard=standard)


def _kind_of_shoe(shoe: Shoe) -> tuple[str, int, str]:
    """The pack, the number of decks and the source of a shoe, which follow from the settings of its table."""
    return shoe.pack.name, shoe.decks, shoe.source


@enters(ShuffleShoe, permit=permissions.the_dealer)
def shuffle(context: CommandContext, entered: ShuffleShoe) -> Decision:
    """The whole shoe is shuffled, between rounds only. Raises Refused."""
    shoe = context.standing.shoe
    if shoe is None or not may_take_next_batch(context, shoe):
        shoe = expect(context, "shuffle")
    return Decision(_shuffled(context, shoe))


def may_take_next_batch(context: CommandContext, shoe: Shoe) -> bool:
    """Whether the dealer may take the next batch from the machine now: between rounds, after the first one."""
    is_dealt = context.standing.dealt_before is not None and not context.standing.round_open
    return shoe.source == ShoeSource.BATCHES and shoe.stage == "ready" and is_dealt and due(context) is None


@enters(PlaceCutCard, permit=permissions.the_dealer)
def place_cut_card(context: CommandContext, entered: PlaceCutCard) -> Decision:
    """The cut card is in its place, before the last part of the shoe. Raises Refused."""
    shoe = expect(context, "cut")
    return Decision([PendingEntry(CutCardPlaced(shoe=replace(shoe, stage="cut"), cards_behind=_behind(context)))])


@enters(Burn, permit=permissions.the_dealer)
def burn(context: CommandContext, entered: Burn) -> Decision:
    """The first cards are burned and the shoe is ready; or the card due at a relief is burned. Raises Refused."""
    if due(context) == "relief" and not context.standing.round_open:
        if entered.turned:
            raise Refused("bad_burn", "The card that is burned at a relief is not turned: do not name it.", 422)
        return Decision([aside_step(context, UNKNOWN, context.next_seq, relief=True)])
    shoe = expect(context, "burn")
    return Decision([PendingEntry(Burned(shoe=_burned(context, shoe, entered.turned)))])


def aside_step(context: CommandContext, card: int, seq: int, *, relief: bool = False) -> PendingEntry:
    """The entry for a card that leaves the shoe between two rounds. Raises Refused.

    ``relief`` marks the card burned because another dealer took the table.
    """
    state, shoe, step = context.standing, context.standing.shoe, due(context)
    if shoe is None or step not in (None, "relief"):
        raise Refused("shoe_not_ready", SENTENCES[step or "load"], 409)
    _no_round(context)
    if relief and (step != "relief" or state.dealer is None):
        raise Refused("out_of_turn", "No card is to be burned for a relief now.", 409)
    if context.game.is_fresh_each_round(context.rules) or not dealing_at(context).begins_with_bets:
        message = f"{context.game.title} is shuffled for each round: put the card back, and shuffle before the next."
        raise Refused("bad_burn", message, 422)
    if shoe.source == ShoeSource.CONTINUOUS:
        message = "The machine shuffles every card that it is given: put this one back into it between two rounds."
        raise Refused("bad_burn", message, 422)
    left = state.cards_left
    if left <= 1:
        raise Refused("last_card", "It is the last card of the shoe: shuffle, or retire the shoe.", 409)
    is_house = shoe.source == ShoeSource.HOUSE
    if is_house and card == UNKNOWN:
        card = draw(shoe, left)
    if card != UNKNOWN:
        try:
            # The shoe must be able to contain the card, or its contents would become negative.
            AskCard(MIDDLE, state.gone, shoe.decks).admits(Card(card, MIDDLE))
        except Illegal as illegal:
            raise Refused(illegal.code, sentence(illegal.say(money)), 422) from None
    after = replace(shoe, aside=(*(shoe.aside or ()), (seq, card)))
    if relief and state.dealer is not None:
        after = replace(after, relieved=state.dealer.since_seq)
    return PendingEntry(CardSetAside(shoe=after, card=card, left=left if is_house else None, relief=relief))


def is_dealt_on(context: CommandContext) -> bool:
    """Whether further rounds are dealt from the shoe at the table, so that a card burned now is missing from them.

    False where cards are shuffled before each round, or continuously.
    """
    shoe = context.standing.shoe
    if shoe is None or shoe.stage != "ready" or shoe.source == ShoeSource.CONTINUOUS:
        return False
    return dealing_at(context).begins_with_bets and not context.game.is_fresh_each_round(context.rules)


def _burned(context: CommandContext, shoe: Shoe, turned: int) -> Shoe:
    """The shoe after its burn. In some games a turned card decides the number of cards burned. Raises Refused."""
    game, pack = context.game, shoe.pack
    if shoe.source in SHUFFLERS:
        return replace(shoe, stage="ready", burn=0, cut_out=False)
    if not kind_of(game).turns_burn(context.rules):
        if turned:
            raise Refused("bad_burn", f"No card is turned for the burn of {game.title}.", 422)
        return replace(shoe, stage="ready", burn=game.burned(context.rules), cut_out=False)
    if not 1 <= turned <= len(pack.deck):
        raise Refused("bad_burn", "Turn the first card and name it: it says how many are burned.", 422)
    burned = 1 + kind_of(game).burned_on(turned)
    return replace(shoe, stage="ready", burn=burned, cut_out=False).noting(turned=turned)


@enters(CutCardOut, permit=permissions.the_dealer)
def cut_card_out(context: CommandContext, entered: CutCardOut) -> Decision:
    """The dealer saw the cut card before the count reached it: the current round is the last. Raises Refused.

    An alert is raised if it is earlier than the site's tolerance, in cards.
    """
    shoe = context.standing.shoe
    if shoe is None or shoe.stage != "ready" or shoe.cut_out or shoe.source != ShoeSource.KEYED:
        raise Refused("out_of_turn", "No cut card can come out now.", 409)
    left, tolerance = context.standing.cards_left_now, policies.number("cut_card_tolerance")
    steps, early = [cut_step(context, left)], left - context.at_cut
    # A cut card called early may end a shoe that favours the players, so the pit has to hear of it.
    if early <= tolerance:
        return Decision(steps)
    alert = (
        f"{context.table.name}, shoe {shoe.number}: {context.by.name} says that the cut card is out with {left} cards"
        f" left, {early} before its place; the tolerance is {tolerance}"
    )
    return Decision(steps, alert=alert, evidence={"seq": context.next_seq, "cards_left": left})


@enters(RetireShoe, permit=permissions.for_the_shoe_to_go)
def retire(context: CommandContext, entered: RetireShoe) -> Decision:
    """The shoe leaves the table; the order of an electronic shoe is opened. Raises Refused."""
    shoe = context.standing.shoe
    if shoe is None:
        raise Refused("no_shoe", "There is no shoe on this table.", 409)
    _no_round(context)
    commission.refuse_owed(context, "the shoe goes")
    # Opened in the entry that ends the shoe: earlier, the cards to come would be known.
    return Decision([PendingEntry(Retired(shoe=shoe, opened=order_opened(shoe)))])


def cut_step(context: CommandContext, cards_left: int) -> PendingEntry:
    """The entry for the cut card: the current round is the last of this shoe."""
    shoe = context.standing.shoe
    assert shoe is not None  # noqa: S101 -- a card was just dealt from it
    current = context.standing.round
    out = replace(shoe, cut_out=True).noting(cut_round=current.number if current else 0)
    return PendingEntry(CutCardCame(shoe=out, cards_left=cards_left))


def cut_comes_out(context: CommandContext, current: Round, state: Any) -> bool:
    """Whether the cut card comes out at this number of cards left."""
    shoe = context.standing.shoe
    return shoe is not None and not shoe.cut_out and is_at_cut(context, current, state)


def is_at_cut(context: CommandContext, current: Round, state: Any) -> bool:
    """Whether at most as many cards are left as there are behind the cut card."""
    shoe = context.standing.shoe
    if shoe is None or shoe.source in SHUFFLERS:
        return False
    at_cut = kind_of(current.game).at_cut(current.rules)
    return at_cut > 0 and current.game.cards_left(state) <= at_cut


def _shuffled(context: CommandContext, shoe: Shoe) -> list[PendingEntry]:
    # The order dealt so far is opened with the shuffle, so it can be verified before a card of the next one.
    opened = order_opened(shoe)
    burned = context.game.burned(context.rules)
    if shoe.source != ShoeSource.HOUSE:
        shuffled = _just_shuffled(context, shoe)
        step = PendingEntry(Shuffled(shoe=shuffled, opened=opened))
        if shuffled.stage != "cut" or (burned and shoe.source not in SHUFFLERS):
            return [step]
        return [step, PendingEntry(Burned(shoe=replace(shuffled, stage="ready", burn=0)))]
    shuffled = _just_shuffled(context, shoe, _commit(context.table, shoe.pack.shoes[shoe.decks]))
    cut, turned = replace(shuffled, stage="cut"), UNKNOWN
    if kind_of(context.game).turns_burn(context.rules):
        turned = _order(shuffled.commitment or "")[0]
    return [
        PendingEntry(Shuffled(shoe=shuffled, opened=opened)),
        PendingEntry(CutCardPlaced(shoe=cut, cards_behind=_behind(context))),
        PendingEntry(Burned(shoe=_burned(context, cut, turned))),
    ]


def _just_shuffled(context: CommandContext, shoe: Shoe, commitment: str | None = None) -> Shoe:
    """A shoe after its shuffle. Steps without an effect, such as a cut card with no cards behind it, are skipped."""
    prompts = shoe.source == ShoeSource.HOUSE or (_behind(context) and shoe.source not in SHUFFLERS)
    stage = "shuffled" if prompts else "cut"
    return replace(shoe, stage=stage, cut_out=False, commitment=commitment, aside=UNSET, relieved=UNSET).noting(
        turned=UNKNOWN
    )


def expect(context: CommandContext, step: str) -> Shoe:
    """The shoe for which this step is due. Raises Refused when another one is."""
    _no_round(context)
    expected = due(context)
    if expected != step:
        message = SENTENCES[expected] if expected else "The shoe is ready: take bets."
        raise Refused("out_of_turn", message, 409)
    return context.standing.shoe or Shoe(0, 0, "", "")


def _no_round(context: CommandContext) -> None:
    if context.standing.round_open:
        raise Refused("round_open", "Finish the round first.", 409)


def _behind(context: CommandContext) -> int:
    """The number of cards behind the cut card."""
    return context.at_cut


# --- enacted anew ----------------------------------------------------------------------------------------------


@reproduces(Loaded)
def enact_load(context: CommandContext, event: Loaded, entry: Entry) -> PendingEntry:
    """The shoe by the settings that the table had then."""
    expect(context, "load")
    return PendingEntry(Loaded(shoe=_new_shoe(context)))


@reproduces(Shuffled)
def enact_shuffle(context: CommandContext, event: Shuffled, entry: Entry) -> PendingEntry:
    """The shuffle. The order of an electronic shoe is secret until it is opened, when `commitments` verifies it."""
    shoe = context.standing.shoe
    if shoe is None or not may_take_next_batch(context, shoe):
        shoe = expect(context, "shuffle")
    commitment = str(event.shoe.commitment) if shoe.source == ShoeSource.HOUSE else None
    return PendingEntry(Shuffled(shoe=_just_shuffled(context, shoe, commitment), opened=event.opened))


@reproduces(CutCardPlaced)
def enact_cut(context: CommandContext, event: CutCardPlaced, entry: Entry) -> PendingEntry:
    return place_cut_card(context, PlaceCutCard()).steps[0]


@reproduces(Burned)
def enact_burn(context: CommandContext, event: Burned, entry: Entry) -> PendingEntry:
    return burn(context, Burn(event.shoe.turned)).steps[0]


@reproduces(CutCardCame)
def enact_cut_card_out(context: CommandContext, event: CutCardCame, entry: Entry) -> PendingEntry:
    """The cut card: seen by the dealer, or for an electronic shoe when the number of cards left requires it.

    Entries of releases up to 0.9.0 do not have that number.
    """
    shoe, current = context.standing.shoe, context.standing.round
    if shoe is None or shoe.source != ShoeSource.HOUSE:
        step = cut_card_out(context, CutCardOut()).steps[0]
    elif current is None or not cut_comes_out(context, current, current.state):
        raise AuditFailure("the cut card of this house shoe does not come out here")
    else:
        step = cut_step(context, context.standing.cards_left_now)
    return step if event.cards_left is not None else replace(step, event=structs.replace(step.event, cards_left=None))


@reproduces(Retired)
def enact_retirement(context: CommandContext, event: Retired, entry: Entry) -> PendingEntry:
    """The retirement between rounds, with the opened order as entered."""
    shoe = context.standing.shoe
    if shoe is None or context.standing.round_open:
        raise AuditFailure("it retires a shoe in mid-round, or none")
    return PendingEntry(Retired(shoe=shoe, opened=event.opened))


# --- house shoes -----------------------------------------------------------------------------------------------


def shuffled_in_play(context: CommandContext, current: Round, state: Any) -> tuple[str | None, Opened | None]:
    """For discards shuffled during a round: the commitment to their new order, and the opened old one.

    (None, None) for a hand-dealt shoe.
    """
    shoe = context.standing.shoe
    if shoe is None or shoe.source != ShoeSource.HOUSE:
        return None, None
    held, whole = current.game.gone(state), shoe.pack.shoes[shoe.decks]
    discards = tuple(all_of - row for all_of, row in zip(whole, held, strict=True))
    return _commit(context.table, discards), order_opened(shoe)


def draw(shoe: Shoe, cards_left: int) -> int:
    """The rank of the next card of an electronic shoe with ``cards_left`` cards left."""
    order = _order(shoe.commitment or "")
    return order[len(order) - cards_left]


def draw_lying(table: Table, shoe: Shoe, lies_at: int) -> int:
    """The card of an electronic shoe that was dealt face down with ``lies_at`` cards left.

    A negative number counts from the end of the order before the latest shuffle.
    """
    if lies_at > 0:
        return draw(shoe, lies_at)
    before = HouseShoe.objects.filter(table=table).order_by("-pk").values_list("order", flat=True)[1]
    return bytes(before)[lies_at]


def packet(table: Table, standing: TableState, seat: int) -> tuple[str, ...]:
    """The face-down cards of a seat as their pack spells them, for the page of that seat only.

    No entry contains them before they are shown, so the log does not reveal them.
    """
    current, shoe = standing.round, standing.shoe
    if current is None or shoe is None or shoe.source != ShoeSource.HOUSE or not standing.round_open:
        return ()
    lying = current.game.lying(current.state, seat) if current.game.looks else ()
    return tuple(str(shoe.pack.spell(draw_lying(table, shoe, lies_at))) for lies_at in lying)


def moment(current: Round, actions: Sequence[Action]) -> str:
    """The permanent name of a draw: the number of the round, and the number of its actions before the draw."""
    before = sum(len(play.actions) for play in current.plays)
    return f"{current.number}.{before + len(actions)}"


def draw_apart(shoe: Shoe, pool: Sequence[int], moment: str) -> int:
    """The rank of the next card from a side pool that is shuffled apart from the shoe.

    It follows from the shoe's nonce, which is committed to before the first card and opened at the next shuffle. So
    these cards can be verified like all others, and cannot be predicted without the nonce.
    """
    return pick_apart(_nonce(shoe.commitment or ""), pool, moment)


def _commit(table: Table, composition: Composition) -> str:
    """Shuffle a composition in secret, keep the order, and return the commitment to it."""
    order = bytes(_shuffle(pack_of(composition).cards(composition)))
    # Without a random nonce, the few orders of a small composition could be tried against the commitment.
    nonce = secrets.token_bytes(32)
    commitment = commitment_of(nonce, order)
    # In the transaction of its entry: a commitment without a stored order could never be opened.
    HouseShoe.objects.create(table=table, commitment=commitment, order=order, nonce=nonce)
    return commitment


def _shuffle(cards: Iterable[int]) -> list[int]:
    """A Fisher-Yates shuffle of the cards, in which all orders are equally likely.

    The system's generator draws each index without bias.
    """
    order = list(cards)
    for last in range(len(order) - 1, 0, -1):
        # Not `random`: its state can be computed from the cards seen.
        other = secrets.randbelow(last + 1)
        order[last], order[other] = order[other], order[last]
    return order


def order_opened(shoe: Shoe) -> Opened | None:
    """The order and the nonce of an electronic shoe, for the log; None for a hand-dealt one."""
    if shoe.commitment is None:
        return None
    row = HouseShoe.objects.get(commitment=shoe.commitment)
    return Opened(shoe.commitment, tuple(bytes(row.order)), bytes(row.nonce).hex())


@lru_cache(maxsize=200)
def _nonce(commitment: str) -> bytes:
    return bytes(HouseShoe.objects.values_list("nonce", flat=True).get(commitment=commitment))


@lru_cache(maxsize=200)
def _order(commitment: str) -> bytes:
    # Rows never change, so the cache needs no expiry. It saves a query for each card under the lock of the table.
    return bytes(HouseShoe.objects.values_list("order", flat=True).get(commitment=commitment))
