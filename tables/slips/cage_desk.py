"""The cage: chips sold to players and redeemed, chips between the vault and the cage, and counts of what it holds.

All of it is written in the house's own book. Selling and redeeming take the cashier's signature; what goes between the
vault and the cage takes two, and a count two people who count for themselves.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec
from django.db import transaction
from django.utils import timezone

from ledger import cage, discrepancies, house, slips
from ledger.log import Draft
from ledger.models import HOUSE, Account, Book, LogEntry
from ledger.proof.chain import Head
from ledger.proof.chips import BANK, CAGE, PLAYERS, VAULT, money
from ledger.proof.moves import Move
from ledger.slips import Signing
from tables.inputs import BeginSlip, SignSlip
from tables.log import paper
from tables.log.entries.chips import Redeemed, SoldAtTheCage
from tables.log.entries.slips import HouseSlipSigned
from tables.log.paper import Said, Slip, Wrong
from tables.log.settlement import at_the_counter
from tables.models import Denomination, Staff
from tables.refusals import Refused
from tables.roles import Role

MOST_CENTS: Final = 10**12
"""So much passes no counter in one go: a slip of the finger."""


@dataclass(frozen=True, slots=True)
class Holdings:
    """What the house holds now, in cents, by place."""

    vault: int
    cage: int
    bank: int
    tables: int
    """In racks, on layouts, in play and on the way, at every table."""
    outstanding: int
    """With the players: what the house may be asked to redeem."""


def holdings() -> Holdings:
    """What lies where now, over all books."""
    net = cage.net_effect(cage.all_books())
    sums: dict[str, int] = {}
    for account, place in Account.objects.values_list("pk", "place"):
        sums[place] = sums.get(place, 0) + net.get(account, 0)
    at_tables = sum(sums.get(place, 0) for place in ("rack", "layout", "seat", "pot", "transit"))
    return Holdings(sums.get(VAULT, 0), sums.get(CAGE, 0), sums.get(BANK, 0), at_tables, sums.get(PLAYERS, 0))


def sell(amount_cents: int, *, by: Staff, key: UUID) -> None:
    """Chips to a player for cash. Raises Refused."""
    _exchange("sold", amount_cents, by, key, out_of=CAGE)


def redeem(amount_cents: int, *, by: Staff, key: UUID) -> None:
    """Cash to a player for chips. Raises Refused."""
    _exchange("redeemed", amount_cents, by, key, out_of=BANK)


def _exchange(kind: str, amount_cents: int, by: Staff, key: UUID, *, out_of: str) -> None:
    if by.role != Role.CASHIER:
        raise Refused("wrong_role", f"A cashier signs for this, not {by.name}.", 403)
    least = min(Denomination.objects.values_list("value_cents", flat=True), default=1)
    if amount_cents <= 0 or amount_cents % least:
        raise Refused("bad_amount", f"An amount in chips is more than 0 and a multiple of {money(least)}.", 422)
    if amount_cents > MOST_CENTS:
        raise Refused("bad_amount", f"At most {money(MOST_CENTS)} pass the counter in one go.", 422)
    said = {"amount_cents": amount_cents}
    with transaction.atomic():
        head = house.lock()
        if (before := _known(head, key)) is not None:
            _refuse_another(before, (kind, by.signature, said) == (before.kind, before.by, before.content))
            return
        cage.hold_shared()
        there = cage.balance(Account.objects.get(book_id=head.book_id, place=out_of))
        if amount_cents > there:
            says = f"The {out_of} holds {money(there)}: it cannot give {money(amount_cents)}."
            raise Refused("bad_amount", says, 422)
        moves = at_the_counter(cage.chart(head.book_id), kind, amount_cents)
        event = {"sold": SoldAtTheCage, "redeemed": Redeemed}[kind](amount_cents=amount_cents)
        cage.post(head, Draft.of(event, by.signature, key=key), moves)


class _Before(NamedTuple):
    """What was recorded under a key: the kind of entry, whose, and what it says."""

    kind: str
    by: str
    content: dict[str, Any]


def _known(head: Head, key: UUID) -> _Before | None:
    rows = LogEntry.objects.filter(book_id=head.book_id, key=key).values_list("kind", "by", "body")
    return next((_Before(kind, by, json.loads(bytes(body))["content"]) for kind, by, body in rows), None)


def _refuse_another(before: _Before, same: bool) -> None:
    """A key stands for one input: who sends another under it has to be told that nothing came of it."""
    if not same:
        raise Refused("key_reused", "This form was signed already, for something else: fill in a new one.", 409)


# --- Slips of the house ----------------------------------------------------------------------------------------


def in_progress(book_id: int, through: int | None = None) -> tuple[Slip, ...]:
    """The house's slips that wait for a signature."""
    rows = LogEntry.objects.filter(book_id=book_id, subject="slip").order_by("-seq")
    body = (rows if through is None else rows.filter(seq__lte=through)).values_list("body", flat=True).first()
    return () if body is None else tuple(paper.read(one) for one in json.loads(bytes(body))["content"]["open"])


def is_counted_by(viewer: Staff) -> bool:
    """Whether the cage is being counted by people like the viewer, who must not know then what is due there."""
    counting = [slip.due for slip in in_progress(cage.open_house().pk) if slip.series == "cage"]
    return any(stage is not None and viewer.role in stage.by for stage in counting)


def sign(entered: BeginSlip | SignSlip, *, by: Staff, key: UUID) -> str:
    """A signature on a slip of the house; the slip's name. Raises Refused, with nothing done."""
    with transaction.atomic():
        head = house.lock()
        if (before := _known(head, key)) is not None:
            _refuse_another(before, _is_same(before, entered, by))
            return str(before.content["slip"])
        read = _read_so_far()
        said, begins = _said(entered, by, head, read)
        waiting = in_progress(head.book_id)
        try:
            after = paper.sign(waiting, said, head.seq + 1, None)
        except Wrong as wrong:
            raise Refused(wrong.code, wrong.sentence, 403 if wrong.code == "wrong_role" else 409) from None
        _refuse_amount(after)
        _write(head, after, said, waiting, begins, read, key, by)
    return said.slip


def _read_so_far() -> dict[str, tuple[int, int]]:
    """How far every table's book is read for a count, by its name: its row and its last entry. That much is final."""
    found = Book.objects.exclude(name=HOUSE).filter(head_seq__gt=0).order_by("name")
    return {name: (pk, seq) for name, pk, seq in found.values_list("name", "pk", "head_seq")}


def _expected(head: Head, read: Mapping[str, tuple[int, int]]) -> int:
    """What the transfers of every book, as far as it was read, say lies in the cage."""
    return cage.balance_at(Account.objects.get(place=CAGE), dict(read.values()) | {head.book_id: head.seq})


def _is_same(before: _Before, entered: BeginSlip | SignSlip, by: Staff) -> bool:
    """Whether an entry is the signature that is sent now: by the same person, on the same step, with the same chips."""
    content = before.content
    if content.get("username") != by.username:
        return False
    if isinstance(entered, SignSlip):
        named = (content["slip"], content["stage"]) == (entered.slip, entered.stage)
        return named and (not content["chips"] or paper.as_chips(content["chips"]) == paper.as_chips(entered.chips))
    first = paper.STAGES[entered.series][0].name if entered.series in paper.IN_THE_HOUSE else ""
    begun = content["slip"].split("/")[0] == entered.series and content["stage"] == first
    return begun and paper.as_chips(content["chips"]) == paper.as_chips(entered.chips)


def _said(
    entered: BeginSlip | SignSlip, by: Staff, head: Head, read: Mapping[str, tuple[int, int]]
) -> tuple[Said, int | None]:
    chips = _sane(entered.chips)
    if isinstance(entered, SignSlip):
        name, stage, begins = entered.slip, entered.stage, None
    else:
        if entered.series not in paper.IN_THE_HOUSE:
            raise Refused("unknown_slip", f"A slip of the house is one of {', '.join(paper.IN_THE_HOUSE)}.", 422)
        year = timezone.localtime().year
        name = f"{entered.series}/{year}/{slips.next_number(entered.series, year)}"
        stage = paper.STAGES[entered.series][0].name
        begins = 0 if entered.series == "cage" else paper.total(chips)
    series = name.split("/")[0]
    expected = _expected(head, read) if paper.expects(series, stage) else 0
    given = chips if begins is not None or stage.startswith("recounted") else ()
    salt = secrets.token_hex(16) if paper.is_count(stage) else ""
    who = (by.username, by.name, by.badge, by.role)
    return Said(name, stage, *who, chips=given, expected_cents=expected, salt=salt), begins


def _sane(chips: tuple[tuple[int, int], ...]) -> paper.Chips:
    known = set(Denomination.objects.values_list("value_cents", flat=True))
    for value, count in chips:
        if value not in known:
            raise Refused("unknown_chip", f"There is no chip worth {money(value)}.", 422)
        if not 0 <= count <= 10_000_000:
            raise Refused("bad_count", f"Of {money(value)}, count 0 to 10,000,000.", 422)
    return paper.as_chips(chips)


def _refuse_amount(slip: Slip) -> None:
    """What is moved has to be there when it is asked for and when it is moved."""
    if slip.series == "cage":
        return
    if slip.total_cents <= 0:
        raise Refused("bad_amount", f"Say how many chips of each kind the {slip.series} is for.", 422)
    place = VAULT if slip.series == "withdrawal" else CAGE
    cage.hold_shared()
    there = cage.balance(Account.objects.get(place=place))
    if slip.total_cents > there:
        raise Refused("bad_amount", f"The {place} holds {money(there)}: it cannot give {money(slip.total_cents)}.", 422)


def _write(
    head: Head, after: Slip, said: Said, waiting: tuple[Slip, ...], begins: int | None,
    read: Mapping[str, tuple[int, int]], key: UUID, by: Staff,
) -> None:  # fmt: skip
    content = paper.content(said, after, waiting)
    if paper.expects(after.series, said.stage):
        content["through"] = {name: seq for name, (_, seq) in read.items()}
    moves: list[Move] = paper.moves(cage.chart(head.book_id), after)
    draft = Draft.of(msgspec.convert(content, HouseSlipSigned), by.signature, key=key)
    written = cage.post(head, draft, moves)
    series, year, number = said.slip.split("/")
    signing = Signing(series, int(year), int(number), said.stage, by.username, by.role, begins)
    slips.write(signing, head.book_id, written.seq)
    if after.agreed is not None and after.total_cents != after.expected_cents:
        discrepancies.variance(
            Book.objects.get(name=HOUSE),
            "the cage",
            after.total_cents - after.expected_cents,
            key=f"count:{head.book_id}:{written.seq}",
            involved=[one.username for one in after.signed],
            slip=after.name,
        )
