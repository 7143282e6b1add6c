"""The shoe of standard cards from which a game is valued: full decks, or a given composition."""

from __future__ import annotations

from collections.abc import Mapping

from tables.games.cards import BY_RANK, RANK_OF, STANDARD, Composition, Pack, pack_of
from tables.maths.situation import Unknowable


def shoe_of(composition: Composition | None, decks: int, least: int, *, suits: bool = False) -> Composition:
    """The cards that a round is dealt from, by card where suits count, else by rank.

    ``least`` cards are the most that a round takes. With fewer the shoe would run out in mid-round and be filled from
    discards, of which a composition says nothing. Raises Unknowable.
    """
    if composition is None:
        return (STANDARD if suits else BY_RANK).shoes[decks]
    _check(composition, decks)
    if suits and len(composition) != len(STANDARD.deck):
        raise Unknowable("suits count here, so a composition is written by card: As=8,2s=8 and so on")
    if sum(composition) < least:
        raise Unknowable(f"{sum(composition)} cards are too few: a round may take {least}")
    return composition if suits else by_rank(composition)


def by_rank(composition: Composition) -> Composition:
    """Number of cards of each rank, from a composition by rank or by card."""
    if len(composition) == len(BY_RANK.deck):
        return composition
    counts = [0] * len(BY_RANK.deck)
    for card, copies in enumerate(composition, 1):
        counts[RANK_OF[card] - 1] += copies
    return tuple(counts)


def _check(composition: Composition, decks: int) -> None:
    if len(composition) not in (len(BY_RANK.deck), len(STANDARD.deck)):
        raise Unknowable(f"a composition has 13 counts, by rank, or 52, by card; this has {len(composition)}")
    pack = pack_of(composition)
    for card, (count, most) in enumerate(zip(composition, pack.shoes[decks], strict=True), 1):
        if not 0 <= count <= most:
            holders = f"{decks} decks hold" if decks > 1 else "one deck holds"
            raise Unknowable(f"{count} cards of {pack.spell(card)} cannot be unseen: {holders} {most}")


def spelled(composition: Composition) -> dict[str, int]:
    """The counts by how each card is written."""
    pack = pack_of(composition)
    return {str(pack.spell(card)): copies for card, copies in enumerate(composition, 1)}


def composition_of(counts: Mapping[str, int]) -> Composition:
    """The composition of counts by rank or by card; omitted cards are gone.

    Raises Unknowable, whose message says how a card is written.
    """
    for pack in (BY_RANK, STANDARD):
        if counts and all(sign in pack.spellings for sign in counts):
            return _of_pack(pack, counts)
    odd = next((sign for sign in counts if sign not in BY_RANK.spellings + STANDARD.spellings), None)
    if odd is None:
        raise Unknowable("a composition names its cards all by rank, A=32, or all by card, As=8")
    raise Unknowable(
        f"there is no card {odd!r}: a rank is one of A23456789TJQK, a card is a rank and one of s, h, d, c"
    )


def _of_pack(pack: Pack, counts: Mapping[str, int]) -> Composition:
    return tuple(counts.get(str(spelling), 0) for spelling in pack.spellings)
