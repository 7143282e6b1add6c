"""The road maps of a shoe as drawings, for a display over the table.

They are read from across the pit, so they are large. No meaning depends on colour alone: the bead plate and the big
road have letters, pairs and naturals have fixed corners, and a choppy mark in a derived road is broken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from ledger.proof.chips import money
from tables.board import roads
from tables.board.roads import ROWS, Hand, Road, RoadCell, Roads, Winner

register = template.Library()

CELL: Final = 20
"""The side of a cell, in the units of each drawing."""
BEAD_COLUMNS: Final = 15
BIG_COLUMNS: Final = 39
DERIVED_COLUMNS: Final = 28
"""How many columns fit; a road that is longer shows its last ones."""


# --- Signs ------------------------------------------------------------------------------------------------------

_PLAYER_PAIR: Final = mark_safe('<circle class="road__pair side--player" cx="16.2" cy="16.2" r="2.7"/>')
_BANKER_PAIR: Final = mark_safe('<circle class="road__pair side--banker" cx="3.8" cy="3.8" r="2.7"/>')
_NATURAL: Final = mark_safe('<path class="road__natural" d="M16.2 .6 19.4 3.8 16.2 7 13 3.8Z"/>')
_TIED: Final = mark_safe('<path class="road__tied" d="M2.2 17.8 6.6 13.4M13.4 6.6 17.8 2.2"/>')
_WAITING: Final = mark_safe('<path class="road__tied" d="M3 17 17 3"/>')


# --- What a display shows ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Side:
    """One way for a hand to end, as it is lettered and called."""

    winner: Winner
    letter: str
    name: str


@dataclass(frozen=True, slots=True)
class Game:
    """What the roads of a game are called."""

    name: str
    sides: tuple[Side, Side, Side]
    has_bonuses: bool
    """Whether its hands can hold pairs and naturals."""

    def side(self, winner: str) -> Side:
        """The side of a winner."""
        return next(side for side in self.sides if side.winner == winner)


BACCARAT: Final = Game(
    "Baccarat",
    (Side("player", "P", "Player"), Side("banker", "B", "Banker"), Side("tie", "T", "Tie")),
    has_bonuses=True,
)
DRAGON_TIGER: Final = Game(
    "Dragon Tiger",
    (Side("dragon", "D", "Dragon"), Side("tiger", "T", "Tiger"), Side("tie", "=", "Tie")),
    has_bonuses=False,
)


@dataclass(frozen=True, slots=True)
class PostedLimit:
    """The least and the most that may be bet."""

    name: str
    least_cents: int
    most_cents: int

    @property
    def written(self) -> str:
        """The two as a range: 100 – 50,000."""
        return f"{money(self.least_cents)} – {money(self.most_cents)}"


@dataclass(frozen=True, slots=True)
class HandCount:
    """How often a hand of the shoe ended like this."""

    side: Side
    hands: int


@dataclass(frozen=True, slots=True)
class Bonus:
    """How often something else happened in the shoe, and the sign that a bead has for it."""

    sign: SafeString
    name: str
    hands: int


@dataclass(frozen=True)
class Display:
    """All that the page of a table's display is drawn from."""

    table: str
    game: Game
    shoe: int
    hands: Sequence[Hand]
    limits: tuple[PostedLimit, ...] = ()
    roads: Roads = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "roads", roads.roads(self.hands))

    @property
    def outcomes(self) -> list[HandCount]:
        """How often each side won, and how often neither did."""
        won = Counter(hand.winner for hand in self.hands)
        return [HandCount(side, won[side.winner]) for side in self.game.sides]

    @property
    def bonuses(self) -> list[Bonus]:
        """How often the small signs of a bead were given; nothing in a game without them."""
        if not self.game.has_bonuses:
            return []
        return [
            Bonus(_PLAYER_PAIR, "Player pair", sum(hand.player_pair for hand in self.hands)),
            Bonus(_BANKER_PAIR, "Banker pair", sum(hand.banker_pair for hand in self.hands)),
            Bonus(_NATURAL, "Natural", sum(hand.natural is not None for hand in self.hands)),
        ]

    @property
    def spoken(self) -> str:
        """The outcomes in words: Player 12, Banker 15, Tie 2."""
        return ", ".join(f"{count.side.name} {count.hands}" for count in self.outcomes)

    @property
    def last(self) -> Side | None:
        """How the last hand ended."""
        return self.game.side(self.hands[-1].winner) if self.hands else None

    @property
    def last_notes(self) -> list[str]:
        """What else the last hand was."""
        if not self.hands:
            return []
        hand = self.hands[-1]
        notes = [f"Natural {hand.natural}"] if hand.natural else []
        return notes + ["Player pair"] * hand.player_pair + ["Banker pair"] * hand.banker_pair


# --- The drawings ------------------------------------------------------------------------------------------------


@register.simple_tag
def bead_plate(display: Display) -> SafeString:
    """Every hand as a bead with its letter."""
    name = f"Bead plate, {_counted(len(display.hands), 'hand')}: {display.spoken}"
    return _drawn(display.roads.bead_plate, BEAD_COLUMNS, name, lambda cell: _bead(cell, display.game))


@register.simple_tag
def big_road(display: Display) -> SafeString:
    """The runs as columns of rings."""
    road = display.roads.big_road
    lengths = [len(run) for run in roads.runs(display.hands)]
    name = "Big road: nobody has won yet"
    if lengths:
        last = display.game.side(road[-1].kind).name
        name = f"Big road: {_counted(len(lengths), 'run')}, the last of them {last}, {lengths[-1]} long"
    return _drawn(road, BIG_COLUMNS, name, lambda cell: _ring(cell, display.game))


@register.simple_tag
def big_eye_boy(display: Display) -> SafeString:
    """Rings, as they are drawn by hand."""
    return _derived(display.roads.big_eye_boy, "Big eye boy", EYES)


@register.simple_tag
def small_road(display: Display) -> SafeString:
    """Discs."""
    return _derived(display.roads.small_road, "Small road", DISCS)


@register.simple_tag
def cockroach_pig(display: Display) -> SafeString:
    """Strokes."""
    return _derived(display.roads.cockroach_pig, "Cockroach pig", STROKES)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


def _derived(road: Road, name: str, shapes: dict[str, SafeString]) -> SafeString:
    marks = Counter(cell.kind for cell in road)
    spoken = f"{name}: {marks['regular']} regular, {marks['choppy']} choppy"
    return _drawn(road, DERIVED_COLUMNS, spoken, lambda cell: shapes[cell.kind])


def _drawn(road: Road, columns: int, name: str, shape: Callable[[RoadCell], SafeString]) -> SafeString:
    """A road on its grid, with the newest cell lit."""
    gone = _columns_gone(road, columns)
    shown = [cell for cell in road if cell.column >= gone]
    lit = [_lit(road[-1], gone)] if road else []
    return format_html(
        '<svg class="road" viewBox="0 0 {width} {height}" role="img" aria-label="{name}">'
        '<path class="road__grid" d="{grid}"/>{lit}{cells}</svg>',
        width=columns * CELL,
        height=ROWS * CELL,
        name=name,
        grid=_grid(columns),
        lit=_joined(lit),
        cells=_joined(_placed(cell, gone, shape(cell)) for cell in shown),
    )


def _columns_gone(road: Road, columns: int) -> int:
    """How many columns have left at the left: as few as can be, and never that of the newest cell.

    A tail may reach far beyond the runs after it, which begin to the right of its own top.
    """
    if not road:
        return 0
    beyond = 1 + max(cell.column for cell in road) - columns
    return max(0, min(beyond, road[-1].column))


def _grid(columns: int) -> str:
    down = "".join(f"M{column * CELL} 0V{ROWS * CELL}" for column in range(columns + 1))
    across = "".join(f"M0 {row * CELL}H{columns * CELL}" for row in range(ROWS + 1))
    return down + across


def _joined(shapes: Iterable[SafeString]) -> SafeString:
    return format_html_join("", "{}", ((shape,) for shape in shapes))


def _placed(cell: RoadCell, gone: int, shape: SafeString) -> SafeString:
    place = (cell.column - gone) * CELL, cell.row * CELL
    return format_html('<g class="side--{}" transform="translate({} {})">{}</g>', cell.kind, *place, shape)


def _lit(cell: RoadCell, gone: int) -> SafeString:
    place = (cell.column - gone) * CELL, cell.row * CELL
    return format_html('<rect class="road__last" x="{}" y="{}" width="{}" height="{}"/>', *place, CELL, CELL)


# --- Shapes ------------------------------------------------------------------------------------------------------

EYES: Final = {
    "regular": mark_safe('<circle class="road__eye" cx="10" cy="10" r="6.4"/>'),
    "choppy": mark_safe(
        '<path class="road__eye" d="M3.6 8.2A6.4 6.4 0 0 1 16.4 8.2M3.6 11.8A6.4 6.4 0 0 0 16.4 11.8"/>'
    ),
}
DISCS: Final = {
    "regular": mark_safe('<circle class="road__disc" cx="10" cy="10" r="8"/>'),
    "choppy": mark_safe('<path class="road__disc" d="M2.2 8.2A8 8 0 0 1 17.8 8.2ZM2.2 11.8A8 8 0 0 0 17.8 11.8Z"/>'),
}
STROKES: Final = {
    "regular": mark_safe('<path class="road__stroke" d="M4 16 16 4"/>'),
    "choppy": mark_safe('<path class="road__stroke" d="M3.4 16.6 7.4 12.6M12.6 7.4 16.6 3.4"/>'),
}


def _bead(cell: RoadCell, game: Game) -> SafeString:
    letter = game.side(cell.kind).letter
    bead = format_html(
        '<circle class="road__bead" cx="10" cy="10" r="8.8"/><text class="road__letter" x="10" y="14">{}</text>', letter
    )
    return _joined([bead, *_pairs(cell), *([_NATURAL] if cell.natural else [])])


def _ring(cell: RoadCell, game: Game) -> SafeString:
    if cell.kind == "tie":
        return _joined([_WAITING, *_more_ties(cell)])
    letter = game.side(cell.kind).letter
    ring = format_html(
        '<circle class="road__ring" cx="10" cy="10" r="7.8"/><text class="road__initial" x="10" y="13.3">{}</text>',
        letter,
    )
    tied = [_TIED] if cell.ties else []
    return _joined([ring, *tied, *_pairs(cell), *_more_ties(cell)])


def _pairs(cell: RoadCell) -> list[SafeString]:
    return [_BANKER_PAIR] * cell.banker_pair + [_PLAYER_PAIR] * cell.player_pair


def _more_ties(cell: RoadCell) -> list[SafeString]:
    """One tie is a stroke through the ring; how many there are is written if there are more."""
    if cell.ties < 2:
        return []
    badge = (
        '<circle class="road__badge" cx="15.6" cy="4.4" r="4.4"/><text class="road__ties" x="15.6" y="7.2">{}</text>'
    )
    return [format_html(badge, cell.ties)]
