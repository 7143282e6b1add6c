"""Every kind of entry that a house writes, and the one place where an entry's content is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, TypeVar

import msgspec

from ledger.proof import spelling
from ledger.proof.chain import Entry
from ledger.proof.spelling import Misspelled
from tables.games.cards import PAIRS, Pack
from tables.log.entries import (
    alert_rules,
    back_entry,
    carried_rows,
    checkpoints,
    chips,
    clocks,
    commission,
    corrections,
    custody,
    days,
    disputes,
    house_terms,
    irregularities,
    journal,
    keys,
    limit_plans,
    limits,
    passkeys,
    pits,
    posts,
    proposals,
    readers,
    refusals,
    restored,
    rounds,
    seats,
    service_accounts,
    settings,
    shoe_audits,
    shoes,
    slips,
    staff,
    tables,
    terminal_keys,
    terminals,
)
from tables.log.event import Event, Unreadable
from tables.log.state import TableState

EVENTS: Final[tuple[type[Event], ...]] = (
    rounds.Played, rounds.Paid, rounds.TakenBack, rounds.Voided,
    shoes.Loaded, shoes.DeckChecked, shoes.DeckCheckFailed, shoes.Shuffled, shoes.CutCardPlaced, shoes.Burned,
    shoes.CutCardOut, shoes.CutCardBack, shoes.Retired, shoes.CardSetAside, shoes.Doubted, shoes.CardRefused,
    readers.ReaderStarted, readers.ReaderStopped, readers.ReaderSettled, readers.ReaderTakenOver,
    readers.ReaderGivenBack,
    irregularities.MishapEntered, irregularities.TableAbandoned, irregularities.RackLocked, irregularities.RackUnlocked,
    restored.BookBehind, restored.RestoreConfirmed,
    back_entry.BackEntryBegun, back_entry.BackEntryEnded, back_entry.EnteredFromPaper, back_entry.RoundFromPaper,
    back_entry.PaperCompared,
    back_entry.HouseBackEntryBegun, back_entry.HouseBackEntryEnded, back_entry.HouseEnteredFromPaper,
    back_entry.HousePaperCompared,
    seats.BoughtIn, seats.CashedOut, seats.TimeCharged, seats.SeatPageIssued, seats.SeatPageRevoked,
    commission.CommissionCollected, commission.CommissionForgiven,
    chips.ChipsSold, chips.SaleUndone, chips.ChipsChanged, chips.ChipsIssued, chips.SoldAtTheCage, chips.Redeemed,
    chips.DenominationAdded, chips.DenominationChanged, chips.DenominationRetired, chips.ChipSeriesAdded,
    slips.SlipSigned, slips.HouseSlipSigned,
    tables.TableOpened, tables.TableClosed, tables.DealerSignedIn, tables.DealerSignedOut,
    disputes.DisputeOpened, disputes.DisputeNoted, disputes.DisputeRuled, disputes.DisputeClosed,
    corrections.CorrectionProposed, corrections.CorrectionSigned, corrections.CorrectionDeclined,
    settings.TableSet, settings.TableRetired, settings.PayTableMade, settings.HoursSet,
    custody.HouseKeySet, custody.DropScheduled,
    pits.PitSectionSet,
    pits.FloorPlanDrawn,
    posts.PostSet, posts.CoverSet,
    limit_plans.LimitPlanSet, limits.LimitsAnnounced,
    house_terms.TermsChanged,
    proposals.Proposed, proposals.ProposalCommented,
    proposals.ProposalApproved, proposals.ProposalDecided, proposals.ProposalDeclined, proposals.ProposalWithdrawn,
    proposals.ProposalExpired, proposals.ProposalInForce, proposals.ProposalCalledOff, proposals.ProposalLapsed,
    days.DayProposed, days.DayClosed, days.DaySealed, days.NoteRestored,
    keys.KeyPublished, keys.KeyRotated, keys.KeyReplaced, checkpoints.CheckpointsBegun,
    clocks.ClockMended, clocks.HouseClockMended, clocks.ClockConfirmed,
    staff.StaffAdded, staff.StaffChanged, staff.StaffSignedIn, staff.StaffSignedOut, staff.StaffLockedOut,
    staff.StaffLockOutLifted, staff.EmergencyCodeMade, staff.EmergencySignIn, staff.AccessReviewed,
    staff.CertificateIssued,
    staff.CodeAsked, staff.CodeConfirmed, staff.CodeWithdrawn, staff.SecretReset, staff.SecretMade,
    staff.PasskeyRegistered, staff.PasskeyWithdrawn,
    service_accounts.ServiceAccountSet, service_accounts.ServiceAccountEnded, service_accounts.ServiceTokenMade,
    service_accounts.ServiceTokenEnded, service_accounts.ServiceTokensSealed,
    terminals.TerminalAdded, terminals.TerminalEnrolled, terminals.TerminalLinkMade, terminals.TerminalRevoked,
    terminals.TerminalLockedOut,
    terminals.TerminalLockOutLifted, terminals.TerminalChanged,
    terminal_keys.TerminalKeyMade, terminal_keys.TerminalKeyVouched, terminal_keys.TerminalKeyEnded,
    terminal_keys.SignaturesDemanded,
    passkeys.PasskeyVouched, passkeys.PasskeyEnded, passkeys.PasskeysDemanded,
    carried_rows.TableAdded, carried_rows.PepperCarriedOver, carried_rows.RowsNoted, carried_rows.RowsTakenOver,
    journal.AlertRaised, journal.AlertAcknowledged, journal.AlertEscalated, journal.DiscrepancyOpened,
    journal.DiscrepancyAssigned, journal.DiscrepancyFound, journal.BookmarkMade,
    alert_rules.AlertRuleSet, alert_rules.ChannelSet, alert_rules.DeadLettersResent,
    refusals.InputRefused,
    shoe_audits.AuditsListed, shoe_audits.AuditViewed, shoe_audits.AuditExported,
)  # fmt: skip

E = TypeVar("E", bound=Event)


def _by_name(*, house: bool) -> Mapping[tuple[str, str], type[Event]]:
    of_the_book = [event for event in EVENTS if event.of_the_house is house]
    return {(event.subject, kind): event for event in of_the_book for kind in event.kinds}


AT_TABLES: Final = _by_name(house=False)
IN_THE_HOUSE: Final = _by_name(house=True)

HOUSE: Final = "house"
"""The name of the house's own book."""


def read(subject: str, kind: str, body: bytes | memoryview, *, house: bool = False) -> Event:
    """What an entry of a table's book says, or of the house's. Raises Unreadable."""
    event = (IN_THE_HOUSE if house else AT_TABLES).get((subject, kind))
    if event is None:
        raise Unreadable(f"the house writes no entry {subject} {kind} in this book")
    return read_as(event, body)


def read_as(event: type[E], body: bytes | memoryview) -> E:
    """What an entry says that is known to be of this kind. Raises Unreadable."""
    try:
        return msgspec.convert(spelling.read(event.subject, bytes(body)).content, event, str_keys=True)
    except (msgspec.MsgspecError, Misspelled, RecursionError) as wrong:
        raise Unreadable(f"it is no {event.subject} {event.kinds[0]} that a house can write: {wrong}") from None


def event_of(entry: Entry) -> Event:
    """What an entry says. Raises Unreadable."""
    return read(entry.subject, entry.kind, entry.body, house=entry.book == HOUSE)


def fold(standing: TableState, event: Event, *, seq: int, round: int | None) -> TableState:
    """The standing after one more entry."""
    return event.folded(replace(standing, seq=seq, counted=None), seq, round)


def follow(standing: TableState, entry: Entry) -> TableState:
    """The standing after one more entry that is still to be read."""
    return fold(standing, event_of(entry), seq=entry.seq, round=entry.round)


def told(event: Event, pack: Pack = PAIRS) -> str:
    """What an entry says, as one clause for people, with cards written as the pack writes them."""
    clause = event.words_in(pack)
    return f"{clause}, at {event.happened_at}: written later" if event.happened_at else clause
