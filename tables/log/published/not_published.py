"""The kinds of entry that have no event, and why."""

from __future__ import annotations

from tables.log.entries import (
    alert_rules,
    back_entry,
    carried_rows,
    checkpoints,
    chips,
    clocks,
    custody,
    days,
    house_terms,
    journal,
    keys,
    passkeys,
    pits,
    readers,
    refusals,
    restored,
    rounds,
    seats,
    service_accounts,
    settings,
    shoe_audits,
    shoes,
    staff,
    terminal_keys,
    terminals,
)
from tables.log.publication import not_published

not_published("A step of the dealer's walk: the result is told when the round is settled.", rounds.Paid)
not_published(
    "What lies in a shoe, and how it is made ready, is the table's alone.",
    shoes.Loaded, shoes.DeckChecked, shoes.DeckCheckFailed, shoes.Shuffled, shoes.CutCardPlaced, shoes.Burned,
    shoes.CutCardOut, shoes.CutCardBack, shoes.Retired, shoes.CardSetAside, shoes.Doubted, shoes.CardRefused,
)  # fmt: skip
not_published("Chips for chips: nothing changes hands but pieces.", chips.ChipsChanged, chips.ChipsIssued)
not_published(
    "Who may see a seat's page is between the seat and the table.", seats.SeatPageIssued, seats.SeatPageRevoked
)
not_published(
    "An outage's papers tell of what has events of its own.",
    back_entry.BackEntryBegun, back_entry.BackEntryEnded, back_entry.EnteredFromPaper, back_entry.RoundFromPaper,
    back_entry.PaperCompared, back_entry.HouseBackEntryBegun, back_entry.HouseBackEntryEnded,
    back_entry.HouseEnteredFromPaper, back_entry.HousePaperCompared,
)  # fmt: skip
not_published(
    "How the house is set up is read by the API where a program needs it.",
    chips.DenominationAdded, chips.DenominationChanged, chips.DenominationRetired, chips.ChipSeriesAdded,
    settings.PayTableMade, settings.HoursSet, custody.HouseKeySet, custody.DropScheduled, pits.PitSectionSet,
    pits.FloorPlanDrawn,
    house_terms.TermsChanged, alert_rules.AlertRuleSet, alert_rules.ChannelSet, alert_rules.DeadLettersResent,
)  # fmt: skip
not_published("A reader's own affair: what it stops has an event.", readers.ReaderStarted, readers.ReaderSettled)
not_published("The alert tells of it.", restored.BookBehind, restored.RestoreConfirmed)
not_published("One signature under a day closes nothing yet.", days.DayProposed)
not_published(
    "Clocks, keys and copies are for the house's own operators.",
    days.NoteRestored, keys.KeyPublished, keys.KeyRotated, keys.KeyReplaced,
    carried_rows.PepperCarriedOver, carried_rows.RowsNoted, carried_rows.RowsTakenOver,
    clocks.ClockMended, clocks.HouseClockMended, clocks.ClockConfirmed,
    checkpoints.CheckpointsBegun,
)  # fmt: skip
not_published(
    "How people, programs and terminals get in is told to nobody outside.",
    service_accounts.ServiceAccountSet, service_accounts.ServiceAccountEnded, service_accounts.ServiceTokenMade,
    service_accounts.ServiceTokenEnded, service_accounts.ServiceTokensSealed,
    staff.StaffAdded, staff.StaffChanged, staff.StaffLockOutLifted, staff.EmergencyCodeMade, staff.EmergencySignIn,
    staff.AccessReviewed, staff.CertificateIssued, staff.CodeAsked, staff.CodeConfirmed, staff.CodeWithdrawn,
    staff.SecretReset, staff.SecretMade, staff.PasskeyRegistered, staff.PasskeyWithdrawn,
    terminals.TerminalAdded, terminals.TerminalEnrolled, terminals.TerminalLinkMade, terminals.TerminalRevoked,
    terminals.TerminalLockedOut, terminals.TerminalLockOutLifted, terminals.TerminalChanged,
    terminal_keys.TerminalKeyMade, terminal_keys.TerminalKeyVouched, terminal_keys.TerminalKeyEnded,
    terminal_keys.SignaturesDemanded, passkeys.PasskeyVouched, passkeys.PasskeyEnded, passkeys.PasskeysDemanded,
)  # fmt: skip
not_published(
    "What the surveillance marks, what shoes were worth, what was refused: for those who look into it.",
    journal.BookmarkMade, journal.DiscrepancyAssigned, refusals.InputRefused, shoe_audits.AuditsListed,
    shoe_audits.AuditViewed, shoe_audits.AuditExported,
)  # fmt: skip
