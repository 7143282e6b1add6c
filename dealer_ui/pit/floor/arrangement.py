"""Which tables the floor's page shows, and in what order: read from its address, and kept for the person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any, Final
from urllib.parse import urlencode

from dealer_ui.pit.floor.cards import Seen
from tables.games.catalog import GAMES
from tables.setup.pit_assignments import YOURS
from tables.setup.pits import NOWHERE, natural

NO_PIT: Final = "No pit"
ORDERS: Final[Mapping[str, str]] = {"place": "By pit", "need": "By need"}
STATES: Final[Mapping[str, str]] = {"needs": "Needs me", "open": "Open", "closed": "Closed"}
LONGEST: Final = 80


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The viewer's choice of order and filters of the floor."""

    order: str = "place"
    place: str = ""
    """A pit, or a section of one, by the name that it has in the list."""
    game: str = ""
    state: str = ""
    q: str = ""
    """Typed text: part of a table's name, its game, its place or its dealer's name."""
    folded: str = ""
    """The pits that are folded, one a line."""
    own: frozenset[str] = frozenset()
    """The pits of the viewer, empty for one who has the whole floor."""

    @classmethod
    def read(cls, chosen: Mapping[str, Any], own: frozenset[str] = frozenset()) -> Arrangement:
        """From an address or from what was kept; nonsense in it asks for nothing."""
        typed = {name: str(chosen.get(name, ""))[:LONGEST] for name in ("place", "q")}
        order, game, state = (str(chosen.get(name, "")) for name in ("order", "game", "state"))
        return cls(
            order=order if order in ORDERS else "place",
            game=game if game in GAMES else "",
            state=state if state in STATES else "",
            folded=str(chosen.get("folded", ""))[: 20 * LONGEST],
            own=own,
            **typed,
        )

    @property
    def kept(self) -> dict[str, str]:
        """The values that a session stores: those that differ from the default."""
        return {name: value for name, value in asdict(self).items() if value and value != "place" and name != "own"}

    @property
    def query(self) -> str:
        """The arrangement as a query string."""
        return urlencode(self.kept)

    def shows(self, card: Seen) -> bool:
        """Whether a table passes the filters, apart from the typed text."""
        is_in_state = {"": True, "needs": bool(card.needs), "open": card.standing.is_open}
        return (
            (self.place in ("", pit_of(card), section_of(card)) or self._is_own(card))
            and self.game in ("", card.table.game)
            and is_in_state.get(self.state, not card.standing.is_open)
        )

    def _is_own(self, card: Seen) -> bool:
        """Whether a table is to be shown as one of the viewer's own; of who runs everything, each is."""
        return self.place == YOURS and (not self.own or card.place.pit in self.own)

    def of(self, cards: Sequence[Seen]) -> list[Seen]:
        """The tables that match the filters: the whole text typed as a phrase, or else each of its words."""
        shown, typed = [card for card in cards if self.shows(card)], " ".join(self.q.casefold().split())
        with_phrase = [card for card in shown if typed in _text(card)]
        return with_phrase or [card for card in shown if all(word in _text(card) for word in typed.split())]


def pit_of(card: Seen) -> str:
    return card.place.pit or NO_PIT


def section_of(card: Seen) -> str:
    """Its section as the list of places names it; of a pit without sections the pit."""
    return f"{card.place.pit}, section {card.place.section}" if card.place.section else pit_of(card)


def _text(card: Seen) -> str:
    return "\n".join((card.table.name, card.title, section_of(card), card.board.dealer_name or "")).casefold()


@dataclass(frozen=True, slots=True)
class Group:
    """The tables of a pit; or all of them, where they stand by what they need."""

    name: str
    cards: Sequence[Seen]
    is_folded: bool = False

    @property
    def open(self) -> int:
        return sum(card.standing.is_open for card in self.cards)

    @property
    def win_cents(self) -> int:
        return sum(card.win_cents or 0 for card in self.cards)

    @property
    def needing(self) -> int:
        return sum(bool(card.needs) for card in self.cards)

    @property
    def sections(self) -> list[tuple[str, list[Seen]]]:
        """Its tables by section, in their order."""
        return [(name, list(cards)) for name, cards in groupby(self.cards, key=lambda card: card.place.section)]


def arranged(cards: Sequence[Seen], chosen: Arrangement) -> list[Group]:
    """The filtered tables in groups: by pit, or in one group with the most urgent first."""
    shown = sorted(chosen.of(cards), key=lambda card: card.place.order(card.table.name))
    if chosen.order == "need":
        return [Group("", sorted(shown, key=lambda card: -card.rank))] if shown else []
    folded = chosen.folded.splitlines()
    pits = [(name, list(group)) for name, group in groupby(shown, key=pit_of)]
    if [name for name, _ in pits] == [NO_PIT]:
        return [Group("", shown)]
    return [Group(name, group, name in folded) for name, group in pits]


def places(cards: Sequence[Seen]) -> list[str]:
    """The pits and sections that have tables, in their order."""
    names = {name: card.place for card in cards if card.place != NOWHERE for name in (pit_of(card), section_of(card))}
    return sorted(names, key=natural)


def games(cards: Sequence[Seen]) -> list[tuple[str, str]]:
    """The games that are spread, each by how it is called."""
    return sorted({card.table.game: card.title for card in cards}.items(), key=lambda game: game[1])
