"""record(): the one place where an input at a table becomes durable.

In one transaction: lock the table's book, refuse what was entered on an old state, play it, write its entries and,
on a round's last card, the transfers that settle it. An input with a known idempotency key is answered as before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Final
from uuid import UUID, uuid4

import msgspec
from django.db import connection, transaction

from ledger import alerts, cage, discrepancies, log
from ledger import slips as trail
from ledger.lanes import turn_at
from ledger.log import Draft
from ledger.models import LogEntry
from ledger.prepared import Statement
from ledger.proof.chain import Head, canonical
from tables import standing
from tables.disputes import claims, corrections
from tables.games.catalog import GAMES
from tables.inputs import (
    BeginSlip,
    Bet,
    Burn,
    BuyIn,
    CashOut,
    ChangeChips,
    CheckDecks,
    Choose,
    CloseBets,
    CloseDispute,
    CutCardOut,
    Deal,
    DeclineCorrection,
    Input,
    IssueSeatPage,
    KeyCard,
    LoadShoe,
    NoteDispute,
    OpenDispute,
    Paid,
    PlaceCutCard,
    ProposeCorrection,
    RetireShoe,
    RuleDispute,
    SellChips,
    Shuffle,
    ShuffleShoe,
    SignCorrection,
    SignIn,
    SignOut,
    SignSlip,
    StartGame,
    TakeBack,
    TimeCharge,
    VoidSlip,
    spell,
)
from tables.log.fold import Standing, fold
from tables.log.paper import RACKS
from tables.log.terms import limits_of, rules_of
from tables.models import Staff, Table
from tables.play import cash, doors, pots, rounds, seat_pages, shoes
from tables.refusals import Refused
from tables.roles import Role
from tables.scene import AtSeat, Outcome, Scene
from tables.slips import signing

_HANDLERS: Final[Mapping[type, Callable[[Scene, Any], Outcome]]] = {
    Bet: rounds.enter,
    CloseBets: rounds.enter,
    Choose: rounds.enter,
    Shuffle: rounds.enter,
    KeyCard: rounds.enter,
    Deal: rounds.enter,
    StartGame: rounds.enter,
    BuyIn: pots.buy_in,
    CashOut: pots.cash_out,
    TimeCharge: pots.time_charge,
    SellChips: cash.sell,
    ChangeChips: cash.change,
    Paid: rounds.paid,
    TakeBack: rounds.take_back,
    LoadShoe: shoes.load,
    CheckDecks: shoes.check,
    ShuffleShoe: shoes.shuffle,
    PlaceCutCard: shoes.place_cut_card,
    Burn: shoes.burn,
    CutCardOut: shoes.cut_card_out,
    RetireShoe: shoes.retire,
    BeginSlip: signing.begin,
    SignSlip: signing.sign,
    VoidSlip: signing.void,
    SignIn: doors.sign_in,
    SignOut: doors.sign_out,
    IssueSeatPage: seat_pages.issue,
    OpenDispute: claims.open_dispute,
    NoteDispute: claims.note,
    RuleDispute: claims.rule,
    CloseDispute: claims.close,
    ProposeCorrection: corrections.propose,
    SignCorrection: corrections.sign_with_chips,
    DeclineCorrection: corrections.decline,
}

_SLIPS: Final = (BeginSlip, SignSlip, VoidSlip)
"""Signatures: who may give which is the slip's to say."""
_DISPUTES: Final = (OpenDispute, NoteDispute, RuleDispute, CloseDispute)
_CORRECTIONS: Final = (ProposeCorrection, SignCorrection, DeclineCorrection)
"""Inputs about what is over: they may come when the table is closed, too."""
_OFF_THE_LAYOUT: Final = ("slip", "dispute", "correction", "clock")
"""The subjects of entries that leave the cards, the bets and who deals as they were. None of them is entered on a
sequence number, so none is entered twice by two screens that show the same one."""
_EITHER: Final = (TakeBack, RetireShoe, IssueSeatPage)
"""Inputs of the dealer at the table, or of those who run the floor."""


@dataclass(frozen=True, slots=True)
class After:
    """What was read and written under the table's lock: its settings, and where it stands since."""

    table: Table
    standing: Standing


@dataclass(frozen=True, slots=True)
class Answer:
    """What record() acknowledges: the first entry that it wrote, and the table's sequence number now."""

    entry: int
    seq: int
    again: bool = False
    """Whether this input had been recorded before, under the same key."""
    after: After | None = field(default=None, compare=False, repr=False)
    """The table as this input left it, so that a screen need not read it again; unless it was recorded before."""


def record(table: Table, entered: Input, *, by: Staff | AtSeat, key: UUID, expected_seq: int | None) -> Answer:
    """Make an input durable and acknowledge it, or raise Refused with nothing done.

    ``expected_seq`` is the table's sequence number that the input was entered on; ``None`` only for what does not
    depend on the state (tapping in and out). The same ``key`` with the same input is answered as the first time.
    """
    fingerprint = _fingerprint(entered, by)
    with turn_at(table.book_id).turn(), transaction.atomic():
        head, table, known = _under_the_lock(table, key)
        if known:
            return _again(head, key, fingerprint)
        scene = Scene(table, GAMES[table.game], rules_of(table), limits_of(table), standing.at(head), by, head.moment)
        if isinstance(by, AtSeat):
            seat_pages.permit(scene, by, entered)
        else:
            permit(scene, by, type(entered))
        if expected_seq is not None and _has_moved_on(scene, expected_seq):
            raise _stale(head)
        outcome = _HANDLERS[type(entered)](scene, entered)
        now = _write(head, scene, outcome, key, fingerprint)
    if outcome.refusal:
        outcome.refusal.facts["seq"] = now.seq
        raise outcome.refusal
    return Answer(head.seq + 1, now.seq, after=After(table, now))


def sign_in(table: Table, staff: Staff, terminal: str | None = None) -> Answer:
    """A dealer takes a table where nobody deals. Raises Refused when it is closed or they stand at another one."""
    return record(table, SignIn(terminal), by=staff, key=uuid4(), expected_seq=None)


def relieve(table: Table, staff: Staff, dealer: str, *, confirmed_by: Staff, terminal: str | None = None) -> Answer:
    """A dealer takes a table from the one who deals there, in mid-round or not. Raises Refused unless that one, or a
    pit boss, has agreed by badge and PIN."""
    entered = SignIn(terminal, relieves=dealer, confirmed_by=confirmed_by.username)
    return record(table, entered, by=staff, key=uuid4(), expected_seq=None)


def sign_out(table: Table, staff: Staff) -> Answer:
    """The dealer of a table taps out."""
    return record(table, SignOut(), by=staff, key=uuid4(), expected_seq=None)


def give_seat_page(table: Table, seat: int, *, by: Staff, key: UUID, expected_seq: int) -> str:
    """Give a seat a page of its own; the token of its address, which nobody can find out later."""
    token = seat_pages.new_token()
    entered = IssueSeatPage(seat, seat_pages.digest_of(token))
    record(table, entered, by=by, key=key, expected_seq=expected_seq)
    return token


# --- who may ---------------------------------------------------------------------------------------------------


def permit(scene: Scene, by: Staff, asked: type) -> None:
    """Raises Refused unless somebody who works here may enter an input of this type where the table stands."""
    now = scene.standing
    if not by.is_active:
        raise Refused("not_permitted", f"{by.name} is no longer active here.", 403)
    if asked in _SLIPS:
        return
    if asked in _DISPUTES:
        claims.permit(scene, by, asked)
        return
    if asked in _CORRECTIONS:
        corrections.permit(scene, by, asked)
    if asked is SignIn:
        if by.role != Role.DEALER:
            raise Refused("not_permitted", "Only a dealer takes a table.", 403)
        return
    if counting := [slip for slip in now.slips if slip.series in RACKS and asked not in (RetireShoe, SignOut)]:
        says = f"The rack is being counted: sign {counting[0].series} {counting[0].number} first."
        raise Refused("count_open", says, 409)
    if asked in _CORRECTIONS:
        return
    if not now.is_open and asked is not RetireShoe:
        raise Refused("table_closed", f"{scene.table.name} is closed: a pit boss has to open it.", 409)
    if by.has_perm("tables.run_floor") and asked in _EITHER:
        return
    if now.dealer is None or now.dealer.username != by.username or not by.has_perm("tables.deal"):
        raise Refused("not_your_table", f"You are not signed in at {scene.table.name}.", 403)


# --- the same thing twice --------------------------------------------------------------------------------------


def _fingerprint(entered: Input, by: Staff | AtSeat) -> str:
    return sha256(canonical({"input": spell(entered), "by": by.username})).hexdigest()


# Settings and key are read after the lock was had: whoever changes a table's settings holds it too, and an input that
# was recorded already must not come near its handler, which may open what is secret.
_FIELDS: Final = Table._meta.concrete_fields
_NAMES: Final = [column.attname for column in _FIELDS]  # as in the database: no column of ours has another name
_READ: Final = Statement(
    "tables_under_the_lock",
    "bigint, uuid",
    f"""SELECT EXISTS (SELECT FROM ledger_logentry WHERE book_id = $1 AND key = $2),
        {", ".join(_NAMES)} FROM tables_table WHERE book_id = $1""",  # noqa: S608
)
_CONVERTED: Final = [(place, column) for place, column in enumerate(_FIELDS) if hasattr(column, "from_db_value")]


def _under_the_lock(table: Table, key: UUID) -> tuple[Head, Table, bool]:
    """Where the table's log ends, the table as it is set now, and whether the key was used before: one round trip."""
    head, row = log.lock_and_read(table.book_id, (_READ, [table.book_id, key]))
    if row is None:
        raise Table.DoesNotExist(f"{table} is not there any more")
    known, *values = row
    for place, column in _CONVERTED:
        values[place] = column.from_db_value(values[place], None, connection)
    return head, Table.from_db(connection.alias, _NAMES, values), known


def _again(now: Head, key: UUID, fingerprint: str) -> Answer:
    """The answer that this key had before. Raises Refused for another input under it."""
    seq, body = LogEntry.objects.values_list("seq", "body").get(book_id=now.book_id, key=key)
    content = msgspec.json.decode(bytes(body))["content"]
    if content.get("request") != fingerprint:
        raise Refused("key_reused", "This key was used for another input: send a new one.", 409, seq=now.seq)
    if refused := content.get("refused"):
        raise Refused(refused["code"], refused["sentence"], refused["status"], **refused["facts"], seq=now.seq)
    return Answer(seq, now.seq, again=True)


def _has_moved_on(scene: Scene, expected_seq: int) -> bool:
    """Whether the state that an input was entered on is another one now.

    What a seat chooses by, it has seen since it was asked: what others choose in secret meanwhile changes nothing of
    that. So several seats may answer on one number, whichever comes first. Nor does a slip, a dispute or a correction
    change the cards and bets that a dealer entered something on.
    """
    now, by = scene.standing, scene.by
    if isinstance(by, AtSeat) and now.round is not None:
        return not now.round.asked.get(by.seat, now.seq) <= expected_seq <= now.seq
    if expected_seq >= now.seq:
        return expected_seq > now.seq
    since = LogEntry.objects.filter(book_id=scene.table.book_id, seq__gt=expected_seq, seq__lte=now.seq)
    return since.exclude(subject__in=_OFF_THE_LAYOUT).exists()


def _stale(now: Head) -> Refused:
    return Refused(
        "stale_sequence",
        "The table has moved on since this screen was drawn; look at it again, then enter what is still to be done.",
        409,
        seq=now.seq,
    )


# --- writing ---------------------------------------------------------------------------------------------------


def _write(head: Head, scene: Scene, outcome: Outcome, key: UUID, fingerprint: str) -> Standing:
    """Write an outcome's entries; the first one carries the key and says what asked for it.

    The last one brings the commit with it, unless something is to be written beside the log.
    """
    now = scene.standing
    more = outcome.signing or outcome.variance or outcome.alert
    for at, step in enumerate(outcome.steps):
        content = dict(step.content)
        if at == 0:
            content["request"] = fingerprint
            if outcome.refusal:
                content["refused"] = outcome.refusal.spelled()
        draft = Draft(step.subject, step.kind, scene.signature, content, step.round, key if at == 0 else None)
        head = cage.post(head, draft, step.moves, commit=step is outcome.steps[-1] and not more)
        if at == 0 and outcome.signing:
            trail.write(outcome.signing, head.book_id, head.seq)
        if at == 0 and outcome.variance:
            found = outcome.variance
            discrepancies.variance(
                scene.table.book, found.what, found.amount_cents, key=f"count:{head.book_id}:{head.seq}",
                involved=found.involved, seq=head.seq, slip=found.slip,
            )  # fmt: skip
        now = fold(now, seq=head.seq, subject=step.subject, kind=step.kind, round=step.round, content=content)
    now = replace(now, hash=head.hash)
    standing.cache.put(scene.table.book_id, now)
    if outcome.alert:
        alerts.raise_alert(scene.table.book, outcome.steps[0].kind, outcome.alert, dict(outcome.evidence))
    return now
