"""How the pit's pages write amounts, hashes and names."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from fractions import Fraction
from typing import Any

import msgspec
from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from ledger.proof import chips
from ledger.proof.slip_name import SlipName
from tables.board.descriptions import OutcomeLine
from tables.board.table_view import SeatBox
from tables.games.cards import Pack
from tables.games.catalog import GAMES
from tables.games.protocol import Payout, SeatView
from tables.log.entries import rounds
from tables.log.message import text_of
from tables.log.state import Play

register = template.Library()


@register.filter
def signed(cents: int | None) -> str:
    """A difference, its sign spelled out: +16, −34, ±0."""
    if cents is None:
        return ""
    return f"{'+' if cents > 0 else '−' if cents < 0 else '±'}{chips.money(abs(cents))}"


@register.filter
def explain(payout: Payout, game: str) -> str:
    """Why a seat ended as it did."""
    return GAMES[game].explain(payout)


@register.filter
def of_the_bet(bets: float) -> str:
    """An amount as a part of the bet: +50 %, −100 %."""
    percent = round(bets * 100)
    return f"{'+' if percent > 0 else '−' if percent < 0 else '±'}{abs(percent)} %"


@register.simple_tag
def worth_bar(cents: float, most: float) -> SafeString:
    """A bar from zero to an amount, at a scale of 100 for the most."""
    width = abs(cents) / most * 100
    way = "up" if cents > 0 else "down"
    return format_html(
        '<rect class="meter__fill meter__fill--{}" x="{}" y="2" width="{}" height="8"></rect>',
        way, f"{min(cents, 0) and -width:.2f}", f"{width:.2f}",
    )  # fmt: skip


@register.filter
def told(play: Play, pack: Pack) -> str:
    """An input of a round, in words."""
    return text_of(rounds.clauses_of(msgspec.to_builtins(play.actions)), pack)


@register.filter
def share(chance: float) -> str:
    """A chance as people read it: "5 %"; small ones with a digit more."""
    digits = 1 if chance < 0.1 else 0
    return f"{chance:.{digits}%}".replace("%", " %")


@register.filter
def per_cent(permille: int) -> str:
    """A part of a thousand, as it is said: 5 %, 2.5 %, −510 %."""
    return f"{permille / 10:g} %".replace("-", "−")


@register.filter
def minus(text: str) -> str:
    """A number as ``floatformat`` writes it, with a minus sign that is one."""
    return text.replace("-", "−")


@register.filter
def rounded(ratio: Fraction | float) -> int:
    """A ratio, or an expected amount in cents, as a whole number."""
    return round(ratio)


@register.filter
def trend(cents: int | None) -> str:
    """What a difference is, as a class: up, down, even."""
    return "up" if (cents or 0) > 0 else "down" if (cents or 0) < 0 else "even"


@register.filter
def short(digest: bytes | None) -> str:
    """The first ten digits of a hash; a dash where there is none."""
    return bytes(digest).hex()[:10] if digest else "—"


@register.filter
def whole(digest: bytes | None) -> str:
    """A hash in full."""
    return bytes(digest).hex() if digest else ""


@register.filter
def words(name: Any) -> str:
    """A name or an option from the log as words: dealer_pair is "dealer pair", a list its items, true "yes"."""
    if isinstance(name, bool):
        return "yes" if name else "no"
    if isinstance(name, list | tuple):
        return ", ".join(map(words, name)) or "none"
    return "" if name is None else str(name).replace("_", " ")


@register.filter
def lasted(began: datetime, ended: datetime) -> str:
    """How long something took, in minutes and seconds: 1:24."""
    minutes, seconds = divmod(int((ended - began).total_seconds()), 60)
    return f"{minutes}:{seconds:02}"


@register.filter
def by_outcome(seats: Sequence[SeatView]) -> list[tuple[str, list[SeatView]]]:
    """The seats of a round under what became of them; those that are still in under nothing."""
    groups: dict[str, list[SeatView]] = {}
    for seat in seats:
        groups.setdefault(seat.payout.outcome if seat.payout else "", []).append(seat)
    return list(groups.items())


@register.filter
def total(counts: Sequence[int]) -> int:
    """What some counts add up to."""
    return sum(counts)


@register.filter
def outcome_of(seat: SeatView | SeatBox) -> Payout | OutcomeLine | None:
    """What became of a seat, on the layout of now as on one of the past."""
    return seat.payout if isinstance(seat, SeatView) else seat.outcome


@register.filter
def whom(seat: int) -> str:
    """A seat, or the dealer."""
    return text_of(rounds.place_of(seat))


@register.filter
def slip_name(spelled: str) -> SlipName:
    """The name of a slip, by its parts."""
    return SlipName.parse(spelled)


@register.filter
def padded(number: int) -> str:
    """The number of a slip as it stands on its paper: 00012."""
    return f"{number:05d}"


@register.filter
def pay_or_take(cents: int) -> str:
    """What is to be done about a difference: "The house pays 20", "The house takes 16"."""
    return f"The house {'pays' if cents > 0 else 'takes'} {chips.money(abs(cents))}"
