"""Deck checks: before a shuffle, the decks are counted in columns, or read card by card by a machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from ledger.proof.chain import Entry
from tables.floor import permissions
from tables.floor.command_context import CommandContext, Decision, PendingEntry
from tables.floor.handlers import enters, reproduces
from tables.floor.inputs import CheckDecks, ReadDecks
from tables.floor.shoes import expect
from tables.games.cards import BY_RANK, PAIRS, STANDARD, Pack
from tables.log.entries.shoes import DeckChecked, DeckCheckFailed
from tables.log.state import Shoe
from tables.refusals import Refused

MOST_COUNTED: Final = 999
"""Largest count of one card."""
MOST_LISTED: Final = 1_000
"""Cards of one list: eight decks are 440 of the family's, or 416 standard ones."""
NAMED: Final = 3
"""Wrong counts that an alert names; its entry has all of them."""


@enters(CheckDecks, permit=permissions.the_dealer)
def check(context: CommandContext, entered: CheckDecks) -> Decision:
    """The decks were counted in columns. A wrong count is refused, recorded and alerted; the shoe cannot be dealt."""
    _refuse_impossible(expect(context, "check"), entered.counts)
    return _checked(context, entered)


def _refuse_impossible(shoe: Shoe, counts: Sequence[int]) -> None:
    """Refuse a mistyped count: more cards than two of the largest shoes contain. A count that is off by fewer is
    recorded."""
    for card, (counted, largest) in enumerate(zip(counts, shoe.pack.shoes[-1], strict=False), 1):
        if counted > 2 * largest:
            whole = shoe.pack.shoes[shoe.decks][card - 1]
            name = f"{shoe.pack.columns} {shoe.pack.spell(card)}"
            message = f"{counted} of {name} are more than any shoe has. This shoe has {whole}: correct the count."
            raise Refused("bad_counts", message, 422, column=card)


def _checked(context: CommandContext, entered: CheckDecks) -> Decision:
    shoe = expect(context, "check")
    full = shoe.pack.shoes[shoe.decks]
    if len(entered.counts) != len(full) or not all(0 <= count <= MOST_COUNTED for count in entered.counts):
        number = "ten" if shoe.pack is PAIRS else len(full)
        raise Refused("bad_counts", f"A deck check has {number} counts, one for each {shoe.pack.columns}.", 422)
    return _outcome(context, shoe, entered.counts, tuple(_off(shoe.pack, shoe.decks, entered.counts)))


@enters(ReadDecks, permit=permissions.the_dealer)
def check_list(context: CommandContext, entered: ReadDecks) -> Decision:
    """A machine read every card. It reads suits, so they are checked even where no bet depends on them."""
    shoe = expect(context, "check")
    cards, pack = entered.cards, _pack_read(shoe.pack, entered.cards)
    if not 0 < len(cards) <= MOST_LISTED:
        raise Refused("bad_cards", f"A reader's list has 1 to {MOST_LISTED:,} cards.", 422)
    numbers = [_number(pack, place, card) for place, card in enumerate(cards, 1)]
    counts = shoe.pack.count(numbers if pack is shoe.pack else (_rank_of(pack, number) for number in numbers))
    return _outcome(context, shoe, counts, tuple(_off(pack, shoe.decks, pack.count(numbers))), cards)


def _pack_read(pack: Pack, cards: Sequence[str]) -> Pack:
    """The pack with suits if the list names any, even at a table that deals by rank alone."""
    return STANDARD if pack is BY_RANK and any(len(card) == len(STANDARD_CARD) for card in cards) else pack


STANDARD_CARD: Final = "Ah"


def _rank_of(pack: Pack, number: int) -> int:
    return BY_RANK.number(str(pack.spell(number))[0])


def _number(pack: Pack, place: int, card: str) -> int:
    spelling: int | str = int(card) if pack is PAIRS and card.isascii() and card.isdecimal() else card
    try:
        return pack.number(spelling)
    except KeyError:
        message = f"Card {place} of the list is {card[:10]!r}; cards are written {pack.spell(1)}, {pack.spell(2)}, ..."
        raise Refused("bad_cards", message, 422) from None


def _off(pack: Pack, decks: int, counts: Sequence[int]) -> Iterator[str]:
    """A description of each card whose count differs from that of whole decks."""
    for card, (counted, whole) in enumerate(zip(counts, pack.shoes[decks], strict=True), 1):
        if counted != whole:
            yield f"{counted} of {pack.columns} {pack.spell(card)}, {whole} belong in it"


def _outcome(
    context: CommandContext, shoe: Shoe, counts: tuple[int, ...], wrong: Sequence[str], cards: tuple[str, ...] = ()
) -> Decision:
    if not wrong:
        return Decision([PendingEntry(DeckChecked(shoe=replace(shoe, stage="checked"), counts=counts, cards=cards))])
    message = f"This shoe is not whole: {'; '.join(wrong)}. Count again, or change the decks."
    # The failed count is written as well: a count repeated until it fits would hide a missing card.
    report = PendingEntry(DeckCheckFailed(shoe=shoe, counts=counts, cards=cards))
    rest = f"; and {len(wrong) - NAMED} more" if len(wrong) > NAMED else ""
    alert = f"{context.table.name}, shoe {shoe.number}: the deck check found {'; '.join(wrong[:NAMED])}{rest}"
    evidence = {"cause": f"shoe {shoe.number}", "counts": list(counts), "seq": context.next_seq}
    return Decision([report], Refused("decks_not_whole", message, 422), alert, evidence)


@reproduces(DeckChecked, DeckCheckFailed)
def enact_check(context: CommandContext, event: DeckChecked | DeckCheckFailed, entry: Entry) -> PendingEntry:
    outcome = (
        check_list(context, ReadDecks(event.cards)) if event.cards else _checked(context, CheckDecks(event.counts))
    )
    return outcome.steps[0]
