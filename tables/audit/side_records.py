"""Checks signatures, certificates, pay tables and other derived rows against the log, and counts of the cage against
all logs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ledger import cage, clock_corrections
from ledger.models import Account, Book, LogEntry, SlipSignature
from ledger.proof.chain import Entry
from ledger.proof.chips import called
from tables import models
from tables.approvals import signing
from tables.audit import dual_control
from tables.audit.outside.cage_counts import SLACK
from tables.cage import chip_stock, custody_items, key_register
from tables.floor import signature_checks
from tables.floor.handlers import checks
from tables.games.catalog import GAMES
from tables.games.odds import PayTable
from tables.games.protocol import Illegal
from tables.limits import plans
from tables.log.catalog import read, read_as
from tables.log.duties import PIT_BOSS
from tables.log.entries.carried_rows import RowsNoted, RowsTakenOver, TableAdded
from tables.log.entries.chips import (
    AtTheCounter,
    ChipSeriesAdded,
    DenominationRetired,
    Redeemed,
    SoldAtTheCage,
)
from tables.log.entries.custody import DropScheduled, HouseKeySet
from tables.log.entries.journal import AlertRaised
from tables.log.entries.limit_plans import LimitPlanSet
from tables.log.entries.passkeys import AboutPasskey, PasskeyEnded, PasskeysDemanded, PasskeyVouched
from tables.log.entries.pits import FloorPlanDrawn, PitSectionSet
from tables.log.entries.posts import CoverSet, PostSet, Stand
from tables.log.entries.settings import PAYS, PayTableMade, TableSet
from tables.log.entries.slips import HouseSlipSigned, SlipSigned
from tables.log.entries.staff import AboutStaff, CertificateIssued, PasskeyRegistered, PasskeyWithdrawn
from tables.log.entries.terminal_keys import (
    AboutTerminalKey,
    SignaturesDemanded,
    TerminalKeyEnded,
    TerminalKeyMade,
    TerminalKeyVouched,
)
from tables.log.event import AuditFailure
from tables.log.slip_types import HOUSE_COUNTS
from tables.reports.gaming_hours import DAY
from tables.setup import floor_plans, pit_assignments, pits, role_choices
from tables.training import certificates


@checks(CertificateIssued)
def check_certificate(event: CertificateIssued, entry: Entry) -> None:
    """Check that a certificate equals its row, and the result of its practice when that is replayed."""
    if wrong := certificates.unlike(event, entry.seq, entry.by):
        raise AuditFailure(wrong)


@checks(PayTableMade)
def check_pay_table(event: PayTableMade, entry: Entry) -> None:
    """Check that a pay table has its game's form, a digest of its lines, and the next version number. Its row is
    compared with all rows at once."""
    try:
        GAMES[event.game].pay_form.read(PayTable(event.name, event.version, event.wagers, event.sha256))
    except KeyError:
        raise AuditFailure(f"there is no game {event.game}") from None
    except Illegal as illegal:
        raise AuditFailure(illegal.sentence) from None
    entries = LogEntry.objects.filter(book_id=entry.book_id, seq__lt=entry.seq, subject=event.subject)
    earlier = [read_as(PayTableMade, body) for body in entries.values_list("body", flat=True)]
    versions = [before.version for before in earlier if (before.game, before.name) == (event.game, event.name)]
    # A missing version could have been used by a table and removed afterwards.
    if event.version != len(versions) + 1:
        raise AuditFailure(f"version {event.version} of {event.name} does not follow {len(versions)} of before")
    dual_control.check_pay_table(event, entry)


@checks(TableSet)
def check_pays(event: TableSet, entry: Entry) -> None:
    """Check that an operator's pay table that a table uses was created with exactly these lines."""
    option = (event.after.get("options") or {}).get(PAYS)
    if option is None:
        return
    name, version, digest = (option.get(key) for key in ("name", "version", "sha256"))
    if not models.PayTable.objects.filter(name=name, version=version, sha256=digest).exists():
        raise AuditFailure(f"nobody made the pay table {name} version {version} with such lines")


@checks(SlipSigned)
def check_signature(event: SlipSigned, entry: Entry) -> None:
    """Check that a signature row equals its entry, and that its signer was not barred by a PIN reset. Missing rows are
    found for the whole log at once."""
    signing.check_barred(entry, event.username, event.after.begun_seq)
    role_choices.check_signer(event.after, event.role, entry)
    row = SlipSignature.objects.select_related("slip").filter(book_id=entry.book_id, seq=entry.seq).first()
    if row is None:
        return
    if (str(row.slip), row.stage, row.username, row.role) != (event.slip, event.stage, event.username, event.role):
        raise AuditFailure(f"the signature kept beside it is {row}, as {row.role}")
    about = event.after.series.about_cents(event.chips)
    if row.slip.seq == entry.seq and row.slip.total_cents != about:
        raise AuditFailure(f"the slip kept beside it is about {row.slip.total_cents}, it says {about}")


@checks(HouseSlipSigned)
def check_house_signature(event: HouseSlipSigned, entry: Entry) -> None:
    """Check a slip of the site log: its signature, its chip series, custody of keys and envelopes, and a count of a
    shared place against the transfers of all logs, as far as each had been read."""
    check_signature(event, entry)
    _check_chip_series(event, entry)
    if fault := custody_items.entry_fault(event, entry):
        raise AuditFailure(fault)
    place = HOUSE_COUNTS.get(event.kind)
    if place is None:
        return
    expected, through = event.after.expected_cents, event.through or {}
    books = dict(Book.objects.of_tables().values_list("name", "pk"))
    for name, pk in books.items():
        # The counter chose how far each log was read: an old position would hide later transfers.
        _refuse_other_time(entry, name, pk, through.get(name, 0))
    # The expected amount is recomputed as of the count: later transfers must not excuse a wrong one.
    extent = {books[name]: seq for name, seq in through.items()} | {entry.book_id: entry.seq - 1}
    balance = cage.balance_at(Account.objects.get(place=place), extent)
    if balance != expected:
        raise AuditFailure(f"it expects {expected} in the {called(place)}, the transfers of all books left {balance}")


def _check_chip_series(event: HouseSlipSigned, entry: Entry) -> None:
    """Check that a slip's chip series existed with these denominations; and that a slip that closes a series equals the
    stock that the slips before it left."""
    slip = event.after
    name = slip.facts.get("series")
    if not name:
        return
    series = models.ChipSeries.objects.filter(name=name, seq__lt=entry.seq).first()
    if series is None:
        raise AuditFailure(f"it is about a series {name}, which there was not")
    if strange := {value for value, _ in (*slip.chips, *slip.noted, *event.chips)} - set(series.values):
        raise AuditFailure(f"the series {name} has no chip of {min(strange)} cents")
    # The final slip of a series must account for all pieces that were ever recorded.
    if slip.series.count and slip.series.count.rest and slip.noted:
        pieces = chip_stock.of(name, before_seq=entry.seq).left
        if pieces != slip.noted:
            raise AuditFailure(f"it has {slip.noted} of the series {name}, the slips before it left {pieces}")


@checks(SoldAtTheCage, Redeemed)
def check_counter(event: AtTheCounter, entry: Entry) -> None:
    """Check that chips sold or redeemed at the cage were of existing series, not discontinued when sold, and redeemed
    within the redemption period. One day of tolerance covers the casino's time zone."""
    for value, name in event.of_series:
        series = models.ChipSeries.objects.filter(name=name, seq__lt=entry.seq).first()
        if series is None or value not in series.values:
            raise AuditFailure(f"there was no chip of {value} cents of a series {name}")
        retirement = models.SeriesRetirement.objects.filter(series=series, seq__lt=entry.seq).first()
        if retirement is None or entry.at is None:
            continue
        if isinstance(event, SoldAtTheCage) or entry.at.date() > retirement.last_day + DAY:
            raise AuditFailure(f"chips of the series {name} pass the counter, which was retired")


@checks(ChipSeriesAdded)
def check_chip_series(event: ChipSeriesAdded, entry: Entry) -> None:
    """Check that a series has a new name and an ordered list of values. Its row is compared with all rows at once."""
    entries = LogEntry.objects.filter(book_id=entry.book_id, seq__lt=entry.seq, subject=event.subject)
    if event.name in {read_as(ChipSeriesAdded, body).name for body in entries.values_list("body", flat=True)}:
        raise AuditFailure(f"there was a series {event.name} already")
    if list(event.values) != sorted(set(event.values), reverse=True) or not event.values:
        raise AuditFailure("its kinds are not in order, each once")


@checks(DenominationRetired)
def check_retired_kind(event: DenominationRetired, entry: Entry) -> None:
    """Check that a retired denomination exists and its row is retired."""
    chip = models.Denomination.objects.filter(value_cents=event.value_cents).first()
    if chip is None or chip.retired_at is None:
        raise AuditFailure(f"the chip of {event.value_cents} cents is not retired")


def _refuse_other_time(entry: Entry, name: str, book_id: int, through: int) -> None:
    """Raise AuditFailure if a table's log was read up to an entry from long before, or after, the entry that says
    so."""
    if clock_corrections.of(book_id, through, through + 1) or clock_corrections.of(entry.book_id, entry.seq, entry.seq):
        return  # of mended times the day is known, and not the minute
    rows = LogEntry.objects.filter(book_id=book_id, seq__in=(through, through + 1)).values_list("seq", "at")
    moments, counted_at = dict(rows), entry.at
    if counted_at is None or (through and through not in moments):
        raise AuditFailure(f"it goes by what {name} had then, and {name} has no entry {through}")
    too_late = through and moments[through] > counted_at + SLACK
    if too_late or moments.get(through + 1, counted_at) < counted_at - SLACK:
        raise AuditFailure(f"it goes by {name} as it stood at another time, after entry {through}")


@checks(TerminalKeyMade, TerminalKeyVouched, TerminalKeyEnded, SignaturesDemanded, PasskeyEnded, PasskeysDemanded)
def check_signing_key(event: AboutTerminalKey | AboutPasskey, entry: Entry) -> None:
    """Check the entry of each table from which a key applies: it is where that table's log ended then. The key itself,
    and who vouched for it, is verified entry by entry (``Floor.attest``)."""
    for name, pk in Book.objects.of_tables().values_list("name", "pk"):
        _refuse_other_time(entry, name, pk, event.through.get(name, 0))


@checks(PasskeyVouched)
def check_passkey(event: PasskeyVouched, entry: Entry) -> None:
    """Check the entries from which a passkey applies, and that its owner registered it and has not withdrawn it. Its
    signatures are verified entry by entry (``Floor.attest``)."""
    check_signing_key(event, entry)
    rows = LogEntry.objects.filter(book_id=entry.book_id, seq__lt=entry.seq, subject=AboutStaff.subject)
    is_registered = False
    for kind, body in rows.filter(kind__in=_PASSKEY_KINDS).order_by("seq").values_list("kind", "body"):
        about = read(AboutStaff.subject, kind, body, house=True)
        if isinstance(about, PasskeyRegistered) and about.credential == event.credential:
            key = signature_checks.public_of(about.public_key)
            is_registered = (about.username, key) == (event.username, event.key)
        elif isinstance(about, PasskeyWithdrawn) and about.credential == event.credential:
            is_registered = False
    if not is_registered:
        raise AuditFailure(f"{event.username} has not registered the passkey {event.name}, or has withdrawn it")


_PASSKEY_KINDS: Final = (*PasskeyRegistered.kinds, *PasskeyWithdrawn.kinds)


@checks(HouseKeySet, DropScheduled)
def check_custody(event: HouseKeySet | DropScheduled, entry: Entry) -> None:
    """Check the form of a sensitive key or a drop schedule. Its row is compared with all rows at once."""
    if fault := key_register.entry_fault(event, entry):
        raise AuditFailure(fault)


@checks(PitSectionSet)
def check_pit(event: PitSectionSet, entry: Entry) -> None:
    """Check that a section has tables of the site that belonged to no other section."""
    if fault := pits.entry_fault(event, entry):
        raise AuditFailure(fault)


@checks(FloorPlanDrawn)
def check_floor_plan(event: FloorPlanDrawn, entry: Entry) -> None:
    """Check that a plan has the tables of its pit, each in its own place."""
    if fault := floor_plans.entry_fault(event, entry):
        raise AuditFailure(fault)


@checks(PostSet)
def check_post(event: PostSet, entry: Entry) -> None:
    """Check that a pit assignment starts at its entry, was made under dual control where required, and lists where the
    tables were."""
    _refuse_other_floor(event.floor, entry)
    if fault := pit_assignments.entry_fault(event, entry):
        raise AuditFailure(fault)
    dual_control.check_post(event, entry)


@checks(CoverSet)
def check_cover(event: CoverSet, entry: Entry) -> None:
    """Check that a temporary assignment was made by a floor supervisor, within the permitted duration, and with a
    reason."""
    _refuse_other_floor(event.floor, entry)
    if event.role != PIT_BOSS:
        raise AuditFailure(f"a pit boss takes over a pit, and {event.name} signs as {event.role}")
    if fault := pit_assignments.cover_entry_fault(event, entry):
        raise AuditFailure(fault)


def _refuse_other_floor(floor: Sequence[Stand], entry: Entry) -> None:
    if tuple(floor) != pit_assignments.stood(entry.seq):
        raise AuditFailure("tables stood elsewhere then than it says")


@checks(LimitPlanSet)
def check_limit_plan(event: LimitPlanSet, entry: Entry) -> None:
    """Check that a version of a limit plan follows the one before it and has the right form."""
    if fault := plans.entry_fault(event, entry):
        raise AuditFailure(fault)


@checks(RowsTakenOver)
def check_taking_over(event: RowsTakenOver, entry: Entry) -> None:
    """Check that older rows were taken over once, before the first entry of a release that records all such rows:
    later, any row could be declared to be old."""
    before = LogEntry.objects.filter(book_id=entry.book_id, seq__lt=entry.seq)
    for later in (TableAdded, AlertRaised, RowsNoted):
        if before.filter(subject=later.subject, kind=later.kinds[0]).exists():
            raise AuditFailure(f"it takes rows over after the first {later.subject} {later.kinds[0]}")
    earlier = before.filter(subject=RowsTakenOver.subject, kind=RowsTakenOver.kinds[0])
    if any(read_as(RowsTakenOver, body).rows == event.rows for body in earlier.values_list("body", flat=True)):
        raise AuditFailure(f"it takes {event.rows} over after the first time")
