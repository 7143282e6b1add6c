"""Slips at a table: begun, signed step by step, made void. Each signature is an entry by the person who signed.

What a signature takes and brings about stands in ``paper.py``; here it meets the ledger: the slip's number, what the
rack and the box should hold, and the table that opens with its opener and closes with its closer.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import msgspec
from django.utils import timezone

from ledger import cage, slips
from ledger.models import Account, LogEntry, SlipSignature, Transfer
from ledger.proof.chain import Entry
from ledger.proof.chips import CAGE, DROP_BOX, HOUSE_PLACES, RACK, money
from ledger.proof.moves import Move
from ledger.slips import Signing
from tables import permits
from tables.handlers import enacts, enters
from tables.inputs import BeginSlip, SignSlip, VoidSlip
from tables.log import paper
from tables.log.catalog import read_as
from tables.log.entries.slips import SlipSigned
from tables.log.event import Misconduct
from tables.log.paper import RACKS, STAGES, Said, Slip, Wrong
from tables.models import Staff
from tables.play import doors
from tables.refusals import Refused
from tables.scene import Outcome, Scene, Step, Variance

CASH: Final = (1, 5, 10, 25, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
"""What may lie in a drop box, in cents: coins and notes."""
MOST_OF_ONE: Final = 100_000
"""So many chips of one kind are a mistake in counting them."""
LONGEST_REASON: Final = 300
LONGEST_MARK: Final = 20


@enters(BeginSlip, permit=permits.anybody_here)
def begin(scene: Scene, entered: BeginSlip) -> Outcome:
    """The first signature on a slip, which gives it its number. Raises Refused."""
    if entered.series not in STAGES or entered.series in paper.IN_THE_HOUSE:
        known = [one for one in STAGES if one not in paper.IN_THE_HOUSE]
        raise Refused("unknown_slip", f"A slip of a table is one of {', '.join(known)}.", 422)
    chips, first = _sane(scene, entered.series, entered.chips), STAGES[entered.series][0]
    year = timezone.localtime().year
    number = slips.next_number(entered.series, year)
    slip = f"{entered.series}/{year}/{number}"
    outcome = _signed(
        scene, slip, first.name, chips=chips, box=entered.box, begins_cents=_begins(entered.series, chips)
    )
    if entered.series in paper.VOIDABLE:
        _refuse_amount(scene, entered.series, paper.total(chips))
    if entered.series == "drop":
        _refuse_mark(entered.box)
    _refuse_second(scene, entered.series)
    return outcome


def _begins(series: str, chips: paper.Chips) -> int:
    """What a slip is about, beside its number; of a count nothing is said before it is agreed upon."""
    return 0 if series in (*RACKS, "drop") else paper.total(chips)


@enters(SignSlip, permit=permits.anybody_here)
def sign(scene: Scene, entered: SignSlip) -> Outcome:
    """The next signature on a slip in progress. Raises Refused."""
    series = entered.slip.split("/")[0]
    counts = entered.stage.startswith(("counted", "recounted"))
    return _signed(scene, entered.slip, entered.stage, chips=_sane(scene, series, entered.chips) if counts else ())


@enters(VoidSlip, permit=permits.anybody_here)
def void(scene: Scene, entered: VoidSlip) -> Outcome:
    """Ask for a slip to be void, with the reason. Raises Refused."""
    reason = entered.reason.strip()
    if not reason or len(reason) > LONGEST_REASON or not reason.isprintable():
        raise Refused("bad_reason", f"Say in 1 to {LONGEST_REASON} plain characters why the slip is void.", 422)
    finished = None
    if entered.slip not in {slip.name for slip in scene.standing.slips}:
        finished = _finished(scene, entered.slip)
    return _signed(scene, entered.slip, "void_asked", reason=reason, finished=finished)


def _signed(scene: Scene, slip: str, stage: str, *, begins_cents: int | None = None, **adds: Any) -> Outcome:
    """The outcome of a signature; the table opens or closes with the one that completes its opener or closer."""
    assert isinstance(scene.by, Staff)  # noqa: S101 -- record() lets nobody else sign
    series, year, number = slip.split("/") if slip.count("/") == 2 else ("", "0", "0")
    who = scene.by
    expected = expected_cents(scene, series) if paper.expects(series, stage) else 0
    salt = secrets.token_hex(16) if paper.is_count(stage) else ""
    said = Said(slip, stage, who.username, who.name, who.badge, who.role, expected_cents=expected, salt=salt, **adds)
    step, after = entry(scene, said)
    _refuse_own_shift(scene, after)
    _refuse_empty(scene, after, step.moves)
    signing = Signing(series, int(year), int(number), stage, who.username, who.role, begins_cents)
    return Outcome([step, *doors.follows(scene, after)], signing=signing, variance=_variance(scene, after))


_COUNTED: Final = {"opener": "the opener", "closer": "the closer", "rack": "the rack", "drop": "the drop box"}


def _variance(scene: Scene, slip: Slip) -> Variance | None:
    """What a count that was just agreed upon differs from the transfers, if it does."""
    if slip.agreed is None or slip.total_cents == slip.expected_cents:
        return None
    dealer = scene.standing.dealer
    involved = [one.username for one in slip.signed] + ([dealer.username] if dealer else [])
    return Variance(_COUNTED[slip.series], slip.total_cents - slip.expected_cents, slip.name, involved)


def entry(scene: Scene, said: Said) -> tuple[Step, Slip]:
    """The entry of a signature, and the slip after it. Raises Refused. A proof asks the same."""
    now = scene.standing
    dealer = now.dealer.username if now.dealer else None
    try:
        after = paper.sign(now.slips, said, scene.next_seq, dealer)
    except Wrong as wrong:
        raise Refused(wrong.code, wrong.sentence, 403 if wrong.code == "wrong_role" else 409) from None
    doors.may_count(scene, after)
    undone = cage.reverse(_moved(scene, after)) if said.stage == "voided" else ()
    event = msgspec.convert(paper.content(said, after, now.slips), SlipSigned)
    return Step(event, moves=paper.moves(scene.chart, after, undone)), after


@enacts(SlipSigned)
def enact_signature(scene: Scene, event: SlipSigned, signed: Entry) -> Step:
    """By the person whom the entry names."""
    author = Staff(username=event.username, name=event.name, badge=event.badge, role=event.role)
    if author.signature != signed.by:
        raise Misconduct(f"it is signed by {author.signature}, and {signed.by} wrote it")
    return entry(replace(scene, by=author), event.said)[0]


def _moved(scene: Scene, slip: Slip) -> Sequence[Transfer]:
    """Everything that a slip moved so far."""
    seqs = [one.seq for one in slip.signed]
    return list(Transfer.objects.filter(book_id=scene.table.book_id, seq__in=seqs))


def _finished(scene: Scene, slip: str) -> dict[str, Any]:
    """A slip of this table that was complete, as its last signature left it."""
    series, year, number = slip.split("/") if slip.count("/") == 2 else ("", "", "")
    found = SlipSignature.objects.filter(
        slip__series=series, slip__year=year or 0, slip__number=number or 0, book_id=scene.table.book_id
    )
    last = found.order_by("-seq").values_list("seq", flat=True).first() if number.isdecimal() else None
    if last is None:
        raise Refused("unknown_slip", f"There is no slip {slip} at {scene.table.name}.", 404)
    body = LogEntry.objects.values_list("body", flat=True).get(book_id=scene.table.book_id, seq=last)
    return read_as(SlipSigned, body).now.spelled()


def name_at(book_id: int, seq: int) -> str:
    """The slip that an entry signs."""
    body = LogEntry.objects.values_list("body", flat=True).get(book_id=book_id, seq=seq)
    return read_as(SlipSigned, body).slip


# --- What the ledger and the house know ------------------------------------------------------------------------


def expected_cents(scene: Scene, series: str) -> int:
    """What the transfers say lies where a count is made."""
    place = DROP_BOX if series == "drop" else RACK
    return cage.balance(Account.objects.get(book_id=scene.table.book_id, place=place))


def _sane(scene: Scene, series: str, chips: Sequence[Sequence[int]]) -> paper.Chips:
    """What was typed, if such chips or notes there are here."""
    known = CASH if series == "drop" else tuple(scene.table.denominations.values_list("value_cents", flat=True))
    for value, count in chips:
        if value not in known:
            raise Refused("unknown_chip", f"There is nothing worth {money(value)} to be counted here.", 422)
        if not 0 <= count <= MOST_OF_ONE:
            raise Refused("bad_count", f"Of {money(value)}, count 0 to {MOST_OF_ONE:,}.", 422)
    return paper.as_chips(chips)


def _refuse_amount(scene: Scene, series: str, cents: int) -> None:
    if cents <= 0:
        raise Refused("bad_amount", f"Say how many chips of each kind the {series} is for.", 422)
    place = CAGE if series == "fill" else RACK
    account = Account.objects.get(place=CAGE) if series == "fill" else _own(scene, RACK)
    there = cage.balance(account)
    if cents > there:
        raise Refused("bad_amount", f"The {place} holds {money(there)}: it cannot give {money(cents)}.", 422)


def _refuse_empty(scene: Scene, slip: Slip, moves: Sequence[Move]) -> None:
    """Chips that were there when a slip was begun may have gone elsewhere before they are carried, or brought back."""
    if slip.series not in paper.VOIDABLE:
        return
    gone: dict[int, int] = {}
    if any(move.source_place in HOUSE_PLACES for move in moves):
        cage.hold_shared()
    for move in moves:
        gone[move.source_account_id] = gone.get(move.source_account_id, 0) + move.amount_cents
        gone[move.target_account_id] = gone.get(move.target_account_id, 0) - move.amount_cents
    for account in Account.objects.filter(pk__in=[one for one, cents in gone.items() if cents > 0]):
        there, cents = cage.balance(account), gone[account.pk]
        if cents > there:
            says = f"The {account.place} holds {money(there)} by now: it cannot give {money(cents)}."
            raise Refused("bad_amount", says, 409)


def _own(scene: Scene, place: str) -> Account:
    return Account.objects.get(book_id=scene.table.book_id, place=place)


def _refuse_mark(box: str) -> None:
    if not box.strip() or len(box) > LONGEST_MARK or not box.isprintable():
        raise Refused("bad_box", f"Give the mark on the box, in 1 to {LONGEST_MARK} characters.", 422)


def _refuse_second(scene: Scene, series: str) -> None:
    """One count at a time, and one box: a second would be of the same chips."""
    same = [slip for slip in scene.standing.slips if slip.series in (RACKS if series in RACKS else (series,))]
    if same and (series in RACKS or (series == "drop" and "witnessed" not in same[-1].stages)):
        raise Refused("count_open", f"{same[-1].series.capitalize()} {same[-1].number} is to be signed first.", 409)


def _refuse_own_shift(scene: Scene, after: Slip) -> None:
    """Nobody of the table's own shift carries its box away. Shifts end with a closer: the shift is who signed here
    since the table opened."""
    if after.series != "drop" or after.signed[-1].stage not in ("removed", "witnessed"):
        return
    who = scene.by
    since = LogEntry.objects.filter(book_id=scene.table.book_id, subject="table", kind="opened").order_by("-seq")
    opened = since.values_list("seq", flat=True).first() or 0
    mine = LogEntry.objects.filter(book_id=scene.table.book_id, seq__gt=opened, by=who.signature)
    if mine.exclude(subject="slip", kind__startswith="drop").exists():
        raise Refused("own_shift", f"{who.name} worked at {scene.table.name} in this shift: another has to.", 403)
