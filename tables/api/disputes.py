"""Disputes and corrections over the API, by the inputs that the pit's screens enter."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta
from rest_framework.response import Response

from ledger.proof.slip_name import SlipName
from tables.api import signing
from tables.api.forms import form_of
from tables.api.operations import Address, Call, Write, operation
from tables.api.pagination import Page, PageQuery
from tables.api.signing import Signed
from tables.api.views import FloorViewSet, table_of
from tables.disputes import cases, correction_records, corrections, register
from tables.disputes.cases import Case, Listed
from tables.disputes.correction_records import CorrectionRecord
from tables.floor import recorder
from tables.floor.inputs import (
    CloseDispute,
    CorrectionInput,
    DeclineCorrection,
    DisputeInput,
    NoteDispute,
    OpenDispute,
    ProposeCorrection,
    RuleDispute,
    SignCorrection,
)
from tables.models import Table
from tables.refusals import Refused
from tables.staff import terminals

Number = Annotated[int, Meta(ge=1, le=2**31 - 1)]
Cents = Annotated[int, Meta(ge=-(10**12), le=10**12)]
Words = Annotated[str, Meta(max_length=2_000)]


class DisputeLine(msgspec.Struct, frozen=True):
    """A dispute in a list."""

    table: int
    table_name: str
    number: int
    round: int
    seat: int
    claimant: str
    claim: str
    claim_cents: int
    state: str
    ruling: str | None
    opened_at: datetime | None

    @property
    def id(self) -> str:
        """The dispute in addresses of v1."""
        return f"{self.table}-{self.number}"


class DisputeWord(msgspec.Struct, frozen=True):
    """Something that was written about a dispute."""

    seq: int
    at: datetime
    by: str
    kind: str
    heard: str
    text: str


class DisputeForm(msgspec.Struct, frozen=True):
    """A dispute with everything that was written about it."""

    table: int
    table_name: str
    number: int
    round: int
    seat: int
    """0: the whole round."""
    claimant: str
    claim: str
    claim_cents: int
    reportable: bool
    state: str
    ruling: str | None
    reason: str | None
    ruled_by: str | None
    opened_at: datetime
    closed_at: datetime | None
    last_entry: int
    """The last entry of the round when the dispute was opened, and its hash."""
    last_hash: str
    record_hash: str | None
    words: list[DisputeWord]
    corrections: list[str]

    @property
    def id(self) -> str:
        """The dispute in addresses of v1."""
        return f"{self.table}-{self.number}"


class DisputesQuery(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Query parameters of the list of disputes."""

    state: Literal["open", "closed"] = "open"
    """Those that are open, by table; or those that are closed, the latest first."""


class DisputeOpened(Write, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is claimed, by whom, and how much is at stake."""

    round: Annotated[int, Meta(ge=0, le=2**31 - 1)] = 0
    """0 at a table without rounds, where `happened` says what it is about."""
    claim: Words
    claimant: Words
    seat: Annotated[int, Meta(ge=0, le=100)] = 0
    claim_cents: Cents = 0
    happened: Annotated[str, Meta(max_length=40)] = ""
    """By the house's clock, as 2026-11-22 21:40."""


class DisputeNoted(Write, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A statement that was heard, or evidence that was looked at."""

    heard: Words
    text: Words


class DisputeRuled(Write, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A ruling and its reason."""

    ruling: Annotated[str, Meta(max_length=40)]
    reason: Words


class DisputeDone(Write, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was ruled is done."""

    text: Words = ""


class CorrectionForm(msgspec.Struct, frozen=True):
    """A correction of a round that is over. Amounts are what the player won, below zero what they lost."""

    slip: str
    table: int
    table_name: str
    state: str
    round: int
    seat: int
    recorded_cents: int
    due_cents: int
    handed_cents: int
    difference_cents: int
    reason: str
    dispute: int | None
    earlier: str | None
    proposed_at: datetime
    proposed_by: str
    decided_at: datetime | None
    decided_by: str
    text: str

    @property
    def address(self) -> Address:
        """Where the correction is read."""
        name = SlipName.parse(self.slip)
        return Address("correction", {"pk": self.table, "year": name.year, "number": name.number})


class CorrectionsQuery(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Query parameters of the list of corrections."""

    state: Literal["", "proposed", "signed", "declined"] = ""


class CorrectionProposed(Write, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The amount that was handed over, and the one that the engine decided."""

    round: Number
    seat: Annotated[int, Meta(ge=0, le=100)]
    handed_cents: Cents
    reason: Words
    due_cents: Cents | None = None
    """Null: what the engine decided."""
    dispute: Number | None = None
    earlier: Annotated[str, Meta(max_length=60)] | None = None
    """The correction of this seat that is counted in."""


class CorrectionSigned(Signed, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The second signature on a correction."""


class CorrectionDeclined(Signed, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A correction is not signed."""

    reason: Words


# --- Disputes ----------------------------------------------------------------------------------------------------


class Disputes(FloorViewSet):
    """Disputes: those of the floor, one, and what is entered about it."""

    @operation(
        "list_disputes",
        "Disputes.",
        tag="Disputes",
        query=DisputesQuery,
        answers=Page[DisputeLine],
        may=("tables.watch_floor",),
        scope="read:disputes",
    )
    def list(self, call: Call[DisputesQuery, Any]) -> Response:
        """One line each."""
        place, count = self.paginator.place, call.query.limit + 1
        if call.query.state == "closed":
            before = (datetime.fromisoformat(place[0]), int(place[1])) if place else None
            closed = self.paginator.paginate(cases.closed(count, before), _closed_place)
            return self.get_paginated_response([dispute_line(listed) for listed, _ in closed])
        cases_open = sorted(cases.open_ones(tuple(place) if place else (0, 0), count), key=_open_place)
        rows = self.paginator.paginate(cases_open, _open_place)
        return self.get_paginated_response([dispute_line(listed) for listed in rows])

    @operation(
        "open_dispute",
        "Open a dispute.",
        tag="Disputes",
        body=DisputeOpened,
        answers=DisputeForm,
        creates=lambda dispute: Address("dispute", {"dispute": dispute.id}),
        may=("tables.run_floor", "tables.deal"),
    )
    def open(self, call: Call[Any, DisputeOpened], pk: int) -> DisputeForm:
        """A player disputes a round: a pit boss opens it, or the dealer at the table."""
        body, table = call.body, table_of(call.by, pk)
        if not call.by.has_perm("tables.run_floor"):
            terminals.for_dealing(call.request, table)
        entered = OpenDispute(body.round, body.claim, body.claimant, body.seat, body.claim_cents, body.happened)
        answer = recorder.record(table, entered, by=call.by, key=call.key, expected_seq=None)
        return _form(table, register.as_of(table.book_id, answer.entry).last)

    @operation(
        "read_dispute",
        "One dispute.",
        tag="Disputes",
        answers=DisputeForm,
        may=("tables.watch_floor",),
        scope="read:disputes",
    )
    def retrieve(self, call: Call[Any, Any], pk: int, number: int) -> DisputeForm:
        """With the claim, its evidence by the hash of the round, everything that was written, and the ruling."""
        return _form(table_of(call.caller, pk), number)

    @operation(
        "note_dispute",
        "Write down what was heard.",
        tag="Disputes",
        body=DisputeNoted,
        answers=DisputeForm,
        may=("tables.run_floor",),
    )
    def note(self, call: Call[Any, DisputeNoted], pk: int, number: int) -> DisputeForm:
        """Whom, and what they said; or what was looked at."""
        return _enter(call, pk, number, NoteDispute(number, call.body.heard, call.body.text))

    @operation(
        "rule_dispute",
        "Rule on a dispute.",
        tag="Disputes",
        body=DisputeRuled,
        answers=DisputeForm,
        may=("tables.run_floor",),
    )
    def rule(self, call: Call[Any, DisputeRuled], pk: int, number: int) -> DisputeForm:
        """Once, with a reason."""
        return _enter(call, pk, number, RuleDispute(number, call.body.ruling, call.body.reason))

    @operation(
        "close_dispute",
        "Close a dispute.",
        tag="Disputes",
        body=DisputeDone,
        answers=DisputeForm,
        may=("tables.run_floor",),
    )
    def close(self, call: Call[Any, DisputeDone], pk: int, number: int) -> DisputeForm:
        """Once what was ruled is done."""
        return _enter(call, pk, number, CloseDispute(number, call.body.text))


def _enter(call: Call[Any, Any], pk: int, number: int, entered: DisputeInput) -> DisputeForm:
    table = table_of(call.by, pk)
    recorder.record(table, entered, by=call.by, key=call.key, expected_seq=None)
    return _form(table, number)


def _form(table: Table, number: int) -> DisputeForm:
    case = cases.case(table.book_id, number)
    if case is None:
        raise Refused("unknown_dispute", f"There is no dispute {number} at {table.name}.", 404)
    return dispute_form(case)


def dispute_form(case: Case) -> DisputeForm:
    """A dispute with its statements and corrections."""
    return form_of(
        DisputeForm,
        case.dispute,
        table=case.table_id,
        table_name=case.table,
        opened_at=case.opened_at,
        closed_at=case.closed_at,
        last_entry=case.dispute.last_seq,
        words=[form_of(DisputeWord, word, at=word.written_at) for word in case.words],
        corrections=case.corrections,
    )


def dispute_line(listed: Listed) -> DisputeLine:
    """A dispute as a line of a list."""
    return form_of(
        DisputeLine, listed.dispute, table=listed.table_id, table_name=listed.table, opened_at=listed.opened_at
    )


def _closed_place(row: tuple[Listed, datetime]) -> list[Any]:
    listed, closed_at = row
    return [closed_at.isoformat(), listed.table_id]


def _open_place(listed: Listed) -> tuple[int, int]:
    return listed.table_id, listed.dispute.number


# --- Corrections -------------------------------------------------------------------------------------------------


class Corrections(FloorViewSet):
    """Corrections: those of the floor, one, its proposal and its second signature."""

    @operation(
        "list_corrections",
        "Corrections.",
        tag="Disputes",
        query=CorrectionsQuery,
        answers=Page[CorrectionForm],
        may=("tables.watch_floor",),
        scope="read:disputes",
    )
    def list(self, call: Call[CorrectionsQuery, Any]) -> Response:
        """Those that were proposed last come first. A page of one state may have fewer lines than
        requested, or none, while `next` leads on: a page examines a fixed number of them."""
        place, query = self.paginator.place, call.query
        lines, self.paginator.next_place = correction_records.page(place and tuple(place), query.limit, query.state)
        return self.get_paginated_response([correction_form(paper) for paper in lines])

    @operation(
        "propose_correction",
        "Propose a correction.",
        tag="Disputes",
        body=CorrectionProposed,
        answers=CorrectionForm,
        creates=lambda correction: correction.address,
        may=("tables.run_floor",),
    )
    def propose(self, call: Call[Any, CorrectionProposed], pk: int) -> CorrectionForm:
        """A mispay of a round is to be put right; a second person signs it."""
        body, table = call.body, table_of(call.by, pk)
        entered = ProposeCorrection(
            body.round, body.seat, body.handed_cents, body.reason, body.due_cents, body.dispute, body.earlier
        )
        answer = recorder.record(table, entered, by=call.by, key=call.key, expected_seq=None)
        return _correction(table, SlipName.parse(corrections.waiting(table.book_id, answer.entry)[-1].slip))

    @operation(
        "read_correction",
        "One correction.",
        tag="Disputes",
        answers=CorrectionForm,
        may=("tables.watch_floor",),
        scope="read:disputes",
    )
    def retrieve(self, call: Call[Any, Any], pk: int, year: int, number: int) -> CorrectionForm:
        """On its slip."""
        return _correction(table_of(call.caller, pk), SlipName(corrections.SERIES, year, number))

    @operation(
        "sign_correction",
        "Sign a correction.",
        tag="Disputes",
        body=CorrectionSigned,
        answers=CorrectionForm,
        may=("tables.watch_floor",),
    )
    def sign(self, call: Call[Any, CorrectionSigned], pk: int, year: int, number: int) -> CorrectionForm:
        """By badge and PIN of a second pit boss."""
        name = SlipName(corrections.SERIES, year, number)
        return _sign(call, table_of(call.by, pk), name, SignCorrection(str(name)))

    @operation(
        "decline_correction",
        "Decline a correction.",
        tag="Disputes",
        body=CorrectionDeclined,
        answers=CorrectionForm,
        may=("tables.watch_floor",),
    )
    def decline(self, call: Call[Any, CorrectionDeclined], pk: int, year: int, number: int) -> CorrectionForm:
        """By badge and PIN, with a reason."""
        name = SlipName(corrections.SERIES, year, number)
        return _sign(call, table_of(call.by, pk), name, DeclineCorrection(str(name), call.body.reason))


def _sign(call: Call[Any, Any], table: Table, name: SlipName, entered: CorrectionInput) -> CorrectionForm:
    attested = signing.attested(call)
    _correction(table, name)
    signing.sign(
        call,
        lambda by: recorder.record(table, entered, by=by, key=call.key, expected_seq=None, attested=attested),
    )
    return _correction(table, name)


def _correction(table: Table, name: SlipName) -> CorrectionForm:
    paper = correction_records.of_slip(table.book_id, name)
    if paper is None:
        raise Refused("unknown_slip", f"There is no such correction at {table.name}.", 404)
    return correction_form(paper)


def correction_form(paper: CorrectionRecord) -> CorrectionForm:
    """A correction with its signatures."""
    return form_of(
        CorrectionForm,
        paper.correction,
        table=paper.table_id,
        table_name=paper.table,
        state=paper.state,
        proposed_at=paper.proposed_at,
        proposed_by=paper.correction.proposed_as,
        decided_at=paper.decided_at,
        decided_by=paper.by,
        text=paper.text,
    )
