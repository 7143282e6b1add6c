"""Which entries are exceptions: what somebody who was not there should look at the next morning.

The one list of it. Every kind of entry is either on it or declared ordinary; a test names what is on neither, so that a
new kind is one line here. Steps of slips are told apart by their stage, since a slip's kinds follow from its series.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from tables.log.catalog import EVENTS
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
from tables.log.event import Event
from tables.log.exception_categories import (
    ALERTS,
    CORRECTIONS,
    DISCREPANCIES,
    DISPUTES,
    FROM_PAPER,
    KEYS,
    LOCK_OUTS,
    MISHAPS,
    PEOPLE,
    POSTS,
    PROGRAMS,
    REFUSED,
    SETTINGS,
    TAKE_BACKS,
    TERMINALS,
    VOIDS,
    ExceptionCategory,
)
from tables.log.slip_types import SLIPS

EXCEPTIONS: Final[Mapping[type[Event], ExceptionCategory]] = MappingProxyType(
    {
        rounds.TakenBack: TAKE_BACKS,
        shoes.CutCardBack: TAKE_BACKS,
        chips.SaleUndone: TAKE_BACKS,
        rounds.Voided: VOIDS,
        irregularities.MishapEntered: MISHAPS,
        readers.ReaderStopped: MISHAPS,
        readers.ReaderSettled: MISHAPS,
        readers.ReaderTakenOver: MISHAPS,
        irregularities.TableAbandoned: MISHAPS,
        back_entry.BackEntryBegun: FROM_PAPER,
        back_entry.BackEntryEnded: FROM_PAPER,
        back_entry.EnteredFromPaper: FROM_PAPER,
        back_entry.RoundFromPaper: FROM_PAPER,
        back_entry.PaperCompared: FROM_PAPER,
        back_entry.HouseBackEntryBegun: FROM_PAPER,
        back_entry.HouseBackEntryEnded: FROM_PAPER,
        back_entry.HouseEnteredFromPaper: FROM_PAPER,
        back_entry.HousePaperCompared: FROM_PAPER,
        irregularities.RackLocked: MISHAPS,
        irregularities.RackUnlocked: MISHAPS,
        restored.BookBehind: MISHAPS,
        restored.RestoreConfirmed: MISHAPS,
        shoes.CardSetAside: MISHAPS,
        shoes.Doubted: MISHAPS,
        shoes.CardRefused: REFUSED,
        shoes.DeckCheckFailed: REFUSED,
        refusals.InputRefused: REFUSED,
        commission.CommissionForgiven: CORRECTIONS,
        corrections.CorrectionProposed: CORRECTIONS,
        corrections.CorrectionSigned: CORRECTIONS,
        corrections.CorrectionDeclined: CORRECTIONS,
        disputes.DisputeOpened: DISPUTES,
        disputes.DisputeRuled: DISPUTES,
        settings.TableSet: SETTINGS,
        settings.PayTableMade: SETTINGS,
        settings.HoursSet: SETTINGS,
        house_terms.TermsChanged: SETTINGS,
        chips.DenominationAdded: SETTINGS,
        chips.DenominationChanged: SETTINGS,
        chips.DenominationRetired: SETTINGS,
        chips.ChipSeriesAdded: SETTINGS,
        carried_rows.TableAdded: SETTINGS,
        custody.HouseKeySet: SETTINGS,
        custody.DropScheduled: SETTINGS,
        pits.PitSectionSet: SETTINGS,
        pits.FloorPlanDrawn: SETTINGS,
        posts.PostSet: POSTS,
        posts.CoverSet: POSTS,
        limit_plans.LimitPlanSet: SETTINGS,
        limits.LimitsAnnounced: SETTINGS,
        settings.TableRetired: SETTINGS,
        proposals.Proposed: SETTINGS,
        proposals.ProposalCommented: SETTINGS,
        proposals.ProposalDecided: SETTINGS,
        proposals.ProposalApproved: SETTINGS,
        proposals.ProposalDeclined: SETTINGS,
        proposals.ProposalWithdrawn: SETTINGS,
        proposals.ProposalExpired: SETTINGS,
        proposals.ProposalInForce: SETTINGS,
        proposals.ProposalCalledOff: SETTINGS,
        proposals.ProposalLapsed: SETTINGS,
        alert_rules.AlertRuleSet: SETTINGS,
        alert_rules.ChannelSet: SETTINGS,
        alert_rules.DeadLettersResent: ALERTS,
        staff.StaffAdded: PEOPLE,
        staff.StaffChanged: PEOPLE,
        staff.EmergencyCodeMade: PEOPLE,
        staff.EmergencySignIn: PEOPLE,
        staff.CodeAsked: PEOPLE,
        staff.CodeConfirmed: PEOPLE,
        staff.CodeWithdrawn: PEOPLE,
        staff.SecretReset: PEOPLE,
        staff.SecretMade: PEOPLE,
        staff.PasskeyRegistered: PEOPLE,
        staff.PasskeyWithdrawn: PEOPLE,
        staff.StaffLockedOut: LOCK_OUTS,
        staff.StaffLockOutLifted: LOCK_OUTS,
        terminals.TerminalLockedOut: LOCK_OUTS,
        terminals.TerminalLockOutLifted: LOCK_OUTS,
        terminals.TerminalAdded: TERMINALS,
        terminals.TerminalEnrolled: TERMINALS,
        terminals.TerminalLinkMade: TERMINALS,
        terminals.TerminalRevoked: TERMINALS,
        terminals.TerminalChanged: TERMINALS,
        terminal_keys.TerminalKeyMade: TERMINALS,
        terminal_keys.TerminalKeyVouched: TERMINALS,
        terminal_keys.TerminalKeyEnded: TERMINALS,
        terminal_keys.SignaturesDemanded: TERMINALS,
        passkeys.PasskeyVouched: TERMINALS,
        passkeys.PasskeyEnded: TERMINALS,
        passkeys.PasskeysDemanded: TERMINALS,
        service_accounts.ServiceAccountSet: PROGRAMS,
        service_accounts.ServiceAccountEnded: PROGRAMS,
        service_accounts.ServiceTokenMade: PROGRAMS,
        service_accounts.ServiceTokenEnded: PROGRAMS,
        days.NoteRestored: KEYS,
        keys.KeyPublished: KEYS,
        keys.KeyRotated: KEYS,
        keys.KeyReplaced: KEYS,
        checkpoints.CheckpointsBegun: KEYS,
        carried_rows.PepperCarriedOver: KEYS,
        service_accounts.ServiceTokensSealed: KEYS,
        clocks.ClockMended: KEYS,
        clocks.HouseClockMended: KEYS,
        clocks.ClockConfirmed: KEYS,
        journal.AlertRaised: ALERTS,
        journal.DiscrepancyOpened: DISCREPANCIES,
    }
)

ORDINARY: Final[frozenset[type[Event]]] = frozenset(
    {
        rounds.Played, rounds.Paid,
        readers.ReaderStarted, readers.ReaderGivenBack,
        shoes.Loaded, shoes.DeckChecked, shoes.Shuffled, shoes.CutCardPlaced, shoes.Burned, shoes.CutCardOut,
        shoes.Retired,
        seats.BoughtIn, seats.CashedOut, seats.TimeCharged, seats.SeatPageIssued, seats.SeatPageRevoked,
        commission.CommissionCollected,
        chips.ChipsSold, chips.ChipsChanged, chips.ChipsIssued, chips.SoldAtTheCage, chips.Redeemed,
        tables.TableOpened, tables.TableClosed, tables.DealerSignedIn, tables.DealerSignedOut,
        disputes.DisputeNoted, disputes.DisputeClosed,
        days.DayProposed, days.DayClosed, days.DaySealed,
        staff.StaffSignedIn, staff.StaffSignedOut, staff.CertificateIssued, staff.AccessReviewed,
        carried_rows.RowsNoted, carried_rows.RowsTakenOver,
        journal.AlertAcknowledged, journal.AlertEscalated, journal.BookmarkMade,
        journal.DiscrepancyAssigned, journal.DiscrepancyFound,
        shoe_audits.AuditsListed, shoe_audits.AuditViewed, shoe_audits.AuditExported,
    }
)  # fmt: skip
"""What a day is made of."""

_SLIPS: Final = frozenset({slips.SlipSigned, slips.HouseSlipSigned})


def undeclared() -> list[str]:
    """The kinds of entry that are neither an exception nor ordinary, or both."""
    return [event.__name__ for event in EVENTS if event not in _SLIPS and (event in EXCEPTIONS) == (event in ORDINARY)]


def _kinds() -> Iterable[tuple[bool, str, str, ExceptionCategory]]:
    for event, matter in EXCEPTIONS.items():
        for kind in event.kinds:
            yield event.of_the_house, event.subject, kind, matter
    for series in SLIPS.values():
        for kind, stage, _ in series.kinds():
            if stage.exception is not None:
                yield series.in_house, series.subject, kind, stage.exception


KINDS: Final[Mapping[tuple[bool, str, str], ExceptionCategory]] = MappingProxyType(
    {(house, subject, kind): matter for house, subject, kind, matter in _kinds()}
)
"""The same by how entries are looked for: (whether it is in the house's book, subject, kind)."""
