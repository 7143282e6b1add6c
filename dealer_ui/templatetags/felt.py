"""Cards and chips as drawings. Symbols stand once in a page, everything else refers to them.

Only SVG attributes carry what is computed: the content policy admits no style attributes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Final

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from ledger.proof import chips
from tables.board.descriptions import Chips
from tables.board.table_view import HandBox, ShoeBox
from tables.games.cards import RANKS
from tables.games.protocol import HandView
from tables.models import Denomination

register = template.Library()


@register.filter
def money(cents: int) -> str:
    """An amount as it is said at the table, with a minus sign that is one: 16, 2.50, −1,000."""
    return chips.money(cents).replace("-", "−")


@register.filter
def size(cents: int) -> str:
    """An amount without its sign; a word next to it gives the direction."""
    return chips.money(abs(cents))


# --- Cards -----------------------------------------------------------------------------------------------------

_PIP_ROWS: Final[dict[int, tuple[int, ...]]] = {
    1: (1,),
    2: (2,),
    3: (1, 2),
    4: (2, 2),
    5: (2, 1, 2),
    6: (1, 2, 3),
    7: (2, 3, 2),
    8: (3, 2, 3),
    9: (3, 3, 3),
    10: (1, 2, 3, 4),
}
"""A card of rank r has r pips: triangles for the triangular numbers, as the deck itself is a triangle."""

_RANK_INKS: Final = (
    "#3b4a54",
    "#0d6660",
    "#b3261e",
    "#5b2a86",
    "#3a6412",
    "#1c4c9c",
    "#9c1f63",
    "#7a4010",
    "#30308c",
    "#161a18",
)
_PIP: Final = "M0-10C2-3 3-2 10 0 3 2 2 3 0 10-2 3-3 2-10 0-3-2-2-3 0-10Z"
_FACEDOWN: Final = mark_safe(
    '<symbol id="facedown" viewBox="0 0 100 140"><rect x="1" y="1" width="98" height="138" rx="11" fill="#fbf7ec"'
    ' stroke="#c9bfa6" stroke-width="2"/><rect x="9" y="9" width="82" height="122" rx="7" fill="#7d2430"/>'
    '<path d="M50 22 82 70 50 118 18 70ZM50 44 33 70 50 96 67 70Z" fill="none" stroke="#e7b9a8" stroke-width="5"/>'
    "</symbol>"
)
_ROW_LENGTH: Final = 5
_BACKS: Final = 3
"""The most card backs drawn; the number of cards is given as text."""


@register.simple_tag
@cache
def card_symbols() -> SafeString:
    """The ten cards, to be referred to; once in a page."""
    drawn = format_html_join("", "{}", ((_card_symbol(rank),) for rank in RANKS))
    pip = format_html('<symbol id="pip" viewBox="-10 -10 20 20" overflow="visible"><path d="{}"/></symbol>', _PIP)
    return format_html('<svg class="symbols" aria-hidden="true">{}{}{}</svg>', pip, drawn, _FACEDOWN)


@register.simple_tag
def card(rank: int) -> SafeString:
    """One card, with its name for those who cannot see it."""
    return format_html(
        '<svg class="card" viewBox="0 0 100 140" role="img" aria-label="{}"><use href="#card-{}"/></svg>', rank, rank
    )


@register.simple_tag
def fan(stack: Sequence[int]) -> SafeString:
    """A stack as it lies: overlapping, every rank in sight, in rows of five."""
    return _fan(tuple(stack))


@lru_cache(maxsize=4_096)
def _fan(stack: tuple[int, ...]) -> SafeString:
    rows = (stack[start : start + _ROW_LENGTH] for start in range(0, len(stack), _ROW_LENGTH))
    drawn = format_html_join("", '<span class="fan">{}</span>', ((_row(row),) for row in rows))
    return format_html(
        '<span class="stack" role="img" aria-label="Cards: {}">{}</span>', ", ".join(map(str, stack)), drawn
    )


# --- Standard cards --------------------------------------------------------------------------------------------

_SUIT_NAMES: Final = {"S": "spades", "H": "hearts", "D": "diamonds", "C": "clubs"}
_SUIT_SHAPES: Final = {
    "s": "M50 18C62 38 84 46 84 66a17 17 0 0 1-29 12c1 9 4 13 9 16H36c5-3 8-7 9-16A17 17 0 0 1 16 66C16 46 38 38 50"
    " 18Z",
    "h": "M50 92C30 72 16 60 16 42a17 17 0 0 1 34-5 17 17 0 0 1 34 5c0 18-14 30-34 50Z",
    "d": "M50 16 80 55 50 94 20 55Z",
    "c": "M50 18a17 17 0 0 1 14 27 17 17 0 1 1-9 31c1 10 4 15 9 18H36c5-3 8-8 9-18a17 17 0 1 1-9-31A17 17 0 0 1 50 18Z",
}
_SUIT_INKS: Final = {"s": "#161a18", "h": "#b3261e", "d": "#1c4c9c", "c": "#0d6660"}
"""Four colours, so that no two suits are alike in dim light; their shapes say it without colour."""
_RANK_NAMES: Final = {"A": "ace", "T": "10", "J": "jack", "Q": "queen", "K": "king"}


@register.filter
def suit_name(letter: str) -> str:
    """A suit in words."""
    return _SUIT_NAMES[letter.upper()]


@register.simple_tag
@lru_cache(maxsize=128)
def face(name: str) -> SafeString:
    """One standard card, with its suit where that is known: its rank in the corner, which a fan leaves in sight."""
    rank, suit = name[0], name[1:]
    ink = _SUIT_INKS.get(suit, "#161a18")
    words = _RANK_NAMES.get(rank, rank) + (f" of {suit_name(suit)}" if suit else "")
    written = "10" if rank == "T" else rank
    return format_html(
        '<svg class="card card--standard" viewBox="0 0 100 140" role="img" aria-label="{words}">'
        '<rect x="1" y="1" width="98" height="138" rx="11" fill="#fbf7ec" stroke="#c9bfa6" stroke-width="2"/>'
        '<text x="25" y="45" fill="{ink}" font-size="46" font-weight="800" text-anchor="middle"{squeeze}>{written}'
        "</text>{body}</svg>",
        words=words,
        ink=ink,
        squeeze=mark_safe(' textLength="42" lengthAdjust="spacingAndGlyphs"') if rank == "T" else "",
        written=written,
        body=_suited(suit, ink) if suit else _unsuited(written),
    )


def _suited(suit: str, ink: str) -> SafeString:
    """The suit under the rank, where a fan shows it, and large in the body."""
    return format_html(
        '<path d="{shape}" fill="{ink}" transform="translate(10 51) scale(.3)"/>'
        '<path d="{shape}" fill="{ink}" transform="translate(33 66) scale(.62)"/>',
        shape=_SUIT_SHAPES[suit],
        ink=ink,
    )


def _unsuited(written: str) -> SafeString:
    """Of a card whose suit does not count: a frame, and the rank once more, faint."""
    return format_html(
        '<rect x="8" y="56" width="84" height="76" rx="7" fill="#161a18" fill-opacity=".05" stroke="#161a18"'
        ' stroke-opacity=".16" stroke-width="1.5"/><text x="50" y="116" fill="#161a18" fill-opacity=".2"'
        ' font-size="64" font-weight="800" text-anchor="middle" aria-hidden="true">{}</text>',
        written,
    )


@register.simple_tag
def faces(cards: Sequence[str], facedown: int = 0) -> SafeString:
    """A hand of standard cards as it lies, in rows of five, with its facedown ones after those that are seen."""
    drawn = [face(card) for card in cards] + [_drawn(("facedown",))] * facedown
    rows = (drawn[start : start + _ROW_LENGTH] for start in range(0, len(drawn), _ROW_LENGTH))
    fans = format_html_join("", '<span class="fan">{}</span>', ((_joined(row),) for row in rows))
    words = format_html('<span class="unseen">{} facedown</span>', facedown) if facedown else ""
    return format_html('<span class="stack">{}{}</span>', words, fans)


@register.simple_tag
def held(hand: HandBox | HandView, names: Sequence[int | str]) -> SafeString:
    """A hand as it lies, its cards by their names or by their numbers in a pack with these names."""
    cards = [card if isinstance(card, str) else str(names[card - 1]) for card in hand.cards]
    return faces(cards, hand.facedown) if cards or hand.facedown else mark_safe("")


def _joined(cards: Iterable[SafeString]) -> SafeString:
    return format_html_join("", "{}", ((card,) for card in cards))


@register.simple_tag
def backs(count: int) -> SafeString:
    """Facedown cards: how many."""
    return format_html(
        '<span class="backs" role="img" aria-label="{} facedown"><span class="fan">{}</span> <b>{}</b></span>',
        count,
        _drawn(("facedown",) * min(count, _BACKS)),
        count,
    )


@register.simple_tag
def columns(sides: Sequence[tuple[int, Sequence[int]]]) -> SafeString:
    """A seat's side of each column: the target, and the cards laid to it."""
    drawn = ((target, " ".join(map(str, cards)) or "–") for target, cards in sides)
    rows = format_html_join("", '<tr><th scope="row">{}</th><td>{}</td></tr>', drawn)
    return format_html('<table class="sides">{}</table>', rows)


def _row(ranks: Iterable[int]) -> SafeString:
    return _drawn(f"card-{rank}" for rank in ranks)


def _drawn(symbols: Iterable[str]) -> SafeString:
    return format_html_join(
        "",
        '<svg class="card" viewBox="0 0 100 140" aria-hidden="true"><use href="#{}"/></svg>',
        ((symbol,) for symbol in symbols),
    )


def _card_symbol(rank: int) -> SafeString:
    ink = _RANK_INKS[rank - 1]
    pips = format_html_join("", '<use href="#pip" x="{}" y="{}" width="20" height="20"/>', _pip_places(rank))
    return format_html(
        '<symbol id="card-{rank}" viewBox="0 0 100 140">'
        '<rect x="1" y="1" width="98" height="138" rx="11" fill="#fbf7ec" stroke="#c9bfa6" stroke-width="2"/>'
        '<rect x="7" y="53" width="86" height="80" rx="7" fill="{ink}" fill-opacity=".09"/>'
        '<text x="25" y="45" fill="{ink}" font-size="46" font-weight="800" text-anchor="middle"{squeeze}>{rank}</text>'
        '<g fill="{ink}">{pips}</g></symbol>',
        rank=rank,
        ink=ink,
        squeeze=mark_safe(' textLength="42" lengthAdjust="spacingAndGlyphs"') if rank == 10 else "",
        pips=pips,
    )


def _pip_places(rank: int) -> list[tuple[float, float]]:
    rows = _PIP_ROWS[rank]
    down = 20 if len(rows) > 3 else 24
    return [
        (40 + 21 * (place - (count - 1) / 2), 83 + down * (row - (len(rows) - 1) / 2))
        for row, count in enumerate(rows)
        for place in range(count)
    ]


# --- Chips -----------------------------------------------------------------------------------------------------

_EDGES: Final = (
    "14.14 17.27",  # six wide spots
    "7.85 7.85",  # twelve narrow ones
    "23.56 23.56",  # four
    "5 5 5 16.42",  # six pairs
    "3 3 3 3 3 16.42",  # six times three
    "31.42 15.71",  # four long ones
    "2.600 5.250",  # a fine rim
    "47.12 15.71",  # three very long ones
)
"""How the spots lie around the rim (circumference 188.5): each denomination has its own, whatever its colour."""


@register.simple_tag
def chip_symbols(denominations: Iterable[Denomination]) -> SafeString:
    """The chips of a table seen from above, to be referred to; largest first, so that patterns stay put."""
    return _chip_symbols(tuple(sorted((chip.value_cents, chip.face) for chip in denominations)))


@lru_cache(maxsize=256)
def _chip_symbols(smallest_first: tuple[tuple[int, str], ...]) -> SafeString:
    """They lie in every board, and hardly ever change."""
    drawn = format_html_join("", "{}", ((_chip_symbol(*chip, place),) for place, chip in enumerate(smallest_first)))
    return format_html('<svg class="symbols" aria-hidden="true">{}</svg>', drawn)


@register.simple_tag
@lru_cache(maxsize=256)
def chip(value_cents: int) -> SafeString:
    """One chip; its value is written on it."""
    return format_html(
        '<svg class="chip" viewBox="0 0 72 72" aria-hidden="true"><use href="#chip-{}"/></svg>', value_cents
    )


@register.simple_tag
def piles(cut: Sequence[Chips], named: bool = False) -> SafeString:
    """An amount in chips, a pile for each colour, in words for those who cannot see it."""
    return _piles(tuple(cut), named)


@lru_cache(maxsize=4_096)
def _piles(cut: tuple[Chips, ...], named: bool) -> SafeString:
    words = ", ".join(f"{pile.count} {pile.colour}" for pile in cut)
    counts = (f"{pile.count} {pile.colour}" if named else f"×{pile.count}" for pile in cut)
    drawn = format_html_join(
        "",
        '<span class="chips__pile">{} <b>{}</b></span>',
        ((chip(pile.value_cents), count) for pile, count in zip(cut, counts, strict=True)),
    )
    return (
        format_html('<span class="chips" role="img" aria-label="{}">{}</span>', words, drawn) if cut else mark_safe("")
    )


def _chip_symbol(value_cents: int, face: str, place: int) -> SafeString:
    spots = "#2a3531" if _is_light(face) else "#fbf7ec"
    value = chips.money(value_cents)
    size = {1: 30, 2: 27, 3: 21, 4: 17, 5: 14}.get(len(value), 12)
    return format_html(
        '<symbol id="chip-{id}" viewBox="0 0 72 72">'
        '<circle cx="36" cy="36" r="35" fill="{face}" stroke="#0008" stroke-width="1.5"/>'
        '<circle cx="36" cy="36" r="30" fill="none" stroke="{spots}" stroke-width="9" stroke-dasharray="{edge}"/>'
        '<circle cx="36" cy="36" r="23" fill="#fbf7ec" stroke="{face}" stroke-width="2.5"/>'
        '<text x="36" y="{y}" fill="#17201c" font-size="{size}" font-weight="750" text-anchor="middle">{value}</text>'
        "</symbol>",
        id=value_cents,
        face=face,
        spots=spots,
        edge=_EDGES[place % len(_EDGES)],
        y=36 + size * 0.35,
        size=size,
        value=value,
    )


def _is_light(face: str) -> bool:
    red, green, blue = (int(face[place : place + 2], 16) for place in (1, 3, 5))
    return 0.299 * red + 0.587 * green + 0.114 * blue > 140


# --- The shoe --------------------------------------------------------------------------------------------------

_SHOE_LONG: Final = 116


@register.simple_tag
def shoe_drawing(shoe: ShoeBox) -> SafeString:
    """The shoe from the side: how much of it is left, and where the cut card lies."""
    left = round(_SHOE_LONG * min(shoe.cards_left, shoe.size) / shoe.size, 1)
    cut = round(_SHOE_LONG * shoe.cut_at / shoe.size, 1)
    return format_html(
        '<svg class="shoe__drawing" viewBox="0 0 132 62" aria-hidden="true">'
        '<path d="M8 6h100l18 22v28H8z" fill="#0b1512" stroke="#74867d" stroke-width="2" stroke-linejoin="round"/>'
        '<rect x="8" y="16" width="{}" height="32" fill="#fbf7ec"/>'
        '<path d="M8 20h{left}M8 24h{left}M8 28h{left}M8 32h{left}M8 36h{left}M8 40h{left}M8 44h{left}"'
        ' stroke="#b9ad90" stroke-width="1"/>'
        '<path d="M{cut} 11v42" stroke="#ffcf5c" stroke-width="4"/></svg>',
        left,
        left=left,
        cut=8 + cut,
    )
