"""What auditors ask the worker for: proofs and bundles, one at a time, and what came of each.

An errand is a run, as those of the watch are: its row says when it was asked for, its end how many things do not hold.
Its lines, who asked, and the bundles lie in a folder that web and worker share (AUDIT_FOLDER), the newest of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Final

import msgspec
from django.conf import settings
from django.db import transaction
from django.db.models import F, Sum

from ledger import broker, clock, runs
from ledger.models import BookRoot, DayRoot, Run, RunEnd
from ledger.proof import seals
from ledger.proof.seals import BadKey
from ledger.replica import Unread
from tables.audit import export, keys, proofs, sealed_note_checks, verification_report
from tables.audit.export import NotYet
from tables.audit.outside import verifier
from tables.audit.verification_report import Finding
from tables.refusals import Refused

PREFIX: Final = "audit "
"""What the names of these runs begin with."""
LOCK: Final = "an errand of the auditors"
KEPT_BUNDLES: Final = 31
KEPT_ACCOUNTS: Final = 200
MOST_LINES: Final = 400
"""A proof that finds more than this says how many more."""
NO_FOLDER: Final = "This house keeps no folder for bundles: name one in AUDIT_FOLDER that web and worker share."


class JobKind(StrEnum):
    """What is asked for."""

    VERIFY = "verify"
    EXPORT = "export"
    KEYS = "keys"


@dataclass(frozen=True, slots=True)
class AuditJob:
    """One thing asked for: of a gaming day, or of the whole house."""

    deed: JobKind
    day: date | None = None

    @property
    def task(self) -> str:
        """The name of its run."""
        return PREFIX + self.deed + (f" {self.day}" if self.day else "")

    @property
    def says(self) -> str:
        """In words, as a sentence begins."""
        if self.day is None:
            return "Checking the key and its note" if self.deed == JobKind.KEYS else "Verifying the whole house"
        return f"{'Exporting' if self.deed == JobKind.EXPORT else 'Verifying'} {self.day}"

    @classmethod
    def read(cls, deed: str, day: date | None) -> AuditJob | None:
        """As a form brings it; None for what nobody can ask for. The key is the whole house's; a bundle is a day's."""
        if deed not in set(JobKind) or (deed == JobKind.KEYS and day) or (deed == JobKind.EXPORT and not day):
            return None
        return cls(JobKind(deed), day)

    @classmethod
    def of(cls, run: Run) -> AuditJob:
        """What a run was asked for."""
        deed, _, day = run.task.removeprefix(PREFIX).partition(" ")
        return cls(JobKind(deed), date.fromisoformat(day) if day else None)


class Account(msgspec.Struct, kw_only=True):
    """What is told of an errand beside its run: by whom it was asked for, how far it is, and its lines."""

    by: str
    begun: bool = False
    """Whether a worker took it up."""
    reached: str = ""
    lines: list[str] = msgspec.field(default_factory=list)


@dataclass(frozen=True, slots=True)
class JobState:
    """How an errand stands."""

    run: Run
    errand: AuditJob
    account: Account
    is_worked_on: bool = False

    @property
    def name(self) -> str:
        """``holds`` or ``found``, once it is over; until then it ``waits``, is ``running``, or its worker is gone."""
        if hasattr(self.run, "end"):
            return "found" if self.run.end.found else "holds"
        if self.is_worked_on:
            return "running"
        return "gone" if self.account.begun else "waits"

    @property
    def is_over(self) -> bool:
        return hasattr(self.run, "end")


# --- Asking ----------------------------------------------------------------------------------------------------


def ask(errand: AuditJob, by: str) -> Run:
    """Ask the worker for it. Where an errand is under way already that one is returned, and sent for again if nobody
    works on it. Raises Refused."""
    folder()
    if errand.day is not None and not DayRoot.objects.filter(day=errand.day).exists():
        raise Refused("not_sealed", f"{errand.day} is not sealed: a day is proved and exported once it is over.")
    with transaction.atomic(), runs.in_turn(LOCK):
        run = _pending()
        if run is None:
            moment = clock.read().database
            run = Run.objects.create(task=errand.task, slot=moment, begun_at=moment)
            _write(run, Account(by=by))
        if not runs.is_held(LOCK):
            transaction.on_commit(partial(_send, run.pk))
    return run


def _send(pk: int) -> None:
    """To a worker. If none can be asked now, the errand waits, and whoever asks again sends it again."""
    broker.send("tables.tasks.run_errand", pk, otherwise=f"errand {pk} waits until it is asked for again")


def _pending() -> Run | None:
    return Run.objects.filter(task__startswith=PREFIX, end=None).order_by("-pk").first()


def under_way() -> JobState | None:
    """The errand that is not over."""
    run = _pending()
    return None if run is None else JobState(run, AuditJob.of(run), account_of(run), runs.is_held(LOCK))


def latest(count: int) -> list[JobState]:
    """The errands that ended last."""
    ended = Run.objects.filter(task__startswith=PREFIX, end__isnull=False).select_related("end").order_by("-pk")
    return [JobState(run, AuditJob.of(run), account_of(run)) for run in ended[:count]]


def asked_for(before: int | None, count: int) -> list[JobState]:
    """Errands, those that were asked for last first; those before a run's number."""
    runs_of_errands = Run.objects.filter(task__startswith=PREFIX).select_related("end").order_by("-pk")
    page = runs_of_errands if before is None else runs_of_errands.filter(pk__lt=before)
    return [state_of(run) for run in page[:count]]


def state_of(run: Run) -> JobState:
    """How one stands."""
    is_worked_on = not hasattr(run, "end") and runs.is_held(LOCK)
    return JobState(run, AuditJob.of(run), account_of(run), is_worked_on)


def verified(days: Collection[date]) -> Mapping[date, JobState]:
    """When each of these days was verified last."""
    tasks = [AuditJob(JobKind.VERIFY, day).task for day in days]
    ended = Run.objects.filter(task__in=tasks, end__isnull=False).select_related("end").order_by("pk")
    states = [JobState(run, AuditJob.of(run), account_of(run)) for run in ended]
    return {state.errand.day: state for state in states if state.errand.day}


# --- Doing it --------------------------------------------------------------------------------------------------


def perform(pk: int) -> None:
    """Do what was asked for, unless it was done or another worker is at it."""
    with runs.alone(LOCK) as first:
        run = Run.objects.filter(pk=pk, end=None).first()
        if not first or run is None:
            return
        work = Work(run)
        try:
            work.do(AuditJob.of(run))
        except Exception:
            work.add(Finding.fault("it could not be done: what happened is in the worker's log"))
            raise
        finally:
            work.end()


@dataclass(slots=True)
class Work:
    """An errand in the worker's hands. Each line is kept as soon as it is there."""

    run: Run
    faults: int = 0
    unsaid: int = 0

    def do(self, errand: AuditJob) -> None:
        """All of it; what cannot be had is a line."""
        account = account_of(self.run)
        account.begun, account.lines = True, []
        _write(self.run, account)
        try:
            self._deed(errand)
        except (NotYet, BadKey, Unread) as wrong:
            self.add(Finding.fault(wrong))

    def _deed(self, errand: AuditJob) -> None:
        if errand.day is not None:
            self._of_day(errand.deed, errand.day)
        elif errand.deed == JobKind.KEYS:
            self._add_all(of_the_key())
        else:
            self._whole()

    def _whole(self) -> None:
        books = proofs.books()
        for number, book in enumerate(books, 1):
            self._reach(f"{number} of {len(books)} books: {book.name}")
            report = proofs.verify(book, every=True)
            proofs.alert(report, book)
            self._add_all(verification_report.of_book(report))
        self._reach("the rows beside the log")
        self._add_all(verification_report.of_roots(proofs.listed_roots()))
        self._add_all(verification_report.of_rows(every=True))

    def _of_day(self, deed: JobKind, day: date) -> None:
        self._reach("writing the bundle")
        path = make_bundle(day)
        self.add(Finding(f"holds  {path.name}: {path.stat().st_size:,} bytes, SHA-256 {digest(path)}"))
        if deed == JobKind.VERIFY:
            self._reach("verifying the bundle, as an outsider does")
            report: list[str] = []
            code = verifier.report(
                path, key=keys.published_key(), terminal_root=settings.TERMINAL_ROOTS, say=report.append
            )
            self._add_all(Finding(says) for says in report[:-1])
            self.add(Finding(report[-1], holds=code == 0))

    def _reach(self, reached: str) -> None:
        account = account_of(self.run)
        account.reached = reached
        _write(self.run, account)

    def _add_all(self, proved: Iterable[Finding]) -> None:
        for line in proved:
            self.add(line)

    def add(self, line: Finding) -> None:
        """Keep a line; beyond the most of them, only their number."""
        self.faults += not line.holds
        account = account_of(self.run)
        if len(account.lines) < MOST_LINES:
            account.lines.append(line.says)
            _write(self.run, account)
        else:
            self.unsaid += 1

    def end(self) -> None:
        """However it came out."""
        account = account_of(self.run)
        account.reached = ""
        if self.unsaid:
            account.lines.append(f"and {self.unsaid:,} more")
        _write(self.run, account)
        RunEnd.objects.create(run=self.run, at=clock.read().database, found=self.faults)
        _forget(folder().glob("run-*.json"), KEPT_ACCOUNTS)


def of_the_key() -> Iterator[Finding]:
    """The key in its file, what the log says of it, and the note beside it. Raises BadKey."""
    key = keys.the_key()
    keys.refuse_another(key)
    public = seals.public_of(key)
    yield Finding(f"holds  the key in its file is the one that the house published: {public}")
    for book in proofs.books()[:1]:
        fault = keys.wrong_key(book)
        yield (
            Finding.fault(fault)
            if fault
            else Finding("holds  the keys in the log: each is signed by the one before it")
        )
    note = sealed_note_checks.agreed(public)
    yield Finding(f"holds  the note beside the key: the database has the {note.number} days that it names")


# --- The folder ------------------------------------------------------------------------------------------------


def folder() -> Path:
    """Where bundles and accounts lie. Raises Refused where the house names none."""
    if not settings.AUDIT_FOLDER:
        raise Refused("no_folder", NO_FOLDER)
    path = Path(settings.AUDIT_FOLDER)
    path.mkdir(mode=0o750, parents=True, exist_ok=True)
    return path


def bundle_of(day: date) -> Path:
    """Where the bundle of a day lies, if it is kept."""
    return folder() / f"audit-{day}.zip"


def bundles(days: Collection[date]) -> Mapping[date, Path]:
    """Those of these days whose bundle is kept."""
    return {day: path for day in days if (path := bundle_of(day)).is_file()}


def entries_of(days: Collection[date]) -> Mapping[date, int]:
    """How many entries each of these sealed days has, all books together."""
    rows = BookRoot.objects.filter(day__in=days).values("day")
    sums = rows.annotate(entries=Sum(F("last_seq") - F("first_seq") + 1)).values_list("day", "entries")
    return dict.fromkeys(days, 0) | dict(sums)


def make_bundle(day: date) -> Path:
    """Write a day's bundle, whole or not at all; the oldest ones go. Raises NotYet."""
    path = bundle_of(day)
    part = path.with_suffix(".part")
    try:
        with part.open("wb") as file:
            export.export(day, day, file)
        part.rename(path)
    finally:
        part.unlink(missing_ok=True)
    _forget(folder().glob("audit-*.zip"), KEPT_BUNDLES)
    return path


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _forget(files: Iterable[Path], kept: int) -> None:
    for path in sorted(files, key=lambda path: path.stat().st_mtime, reverse=True)[kept:]:
        path.unlink(missing_ok=True)


def account_of(run: Run) -> Account:
    """What is told of a run; nothing where it was forgotten or lies on another host."""
    if not settings.AUDIT_FOLDER:
        return Account(by="")
    try:
        return msgspec.json.decode(_account_path(run).read_bytes(), type=Account)
    except (OSError, msgspec.DecodeError):
        return Account(by="")


def _account_path(run: Run) -> Path:
    return folder() / f"run-{run.pk}.json"


def _write(run: Run, account: Account) -> None:
    path = _account_path(run)
    part = path.with_suffix(".part")
    part.write_bytes(msgspec.json.encode(account))
    part.rename(path)


# --- Who took which bundle -------------------------------------------------------------------------------------


class Taking(msgspec.Struct, kw_only=True):
    """Somebody took a bundle out of the house."""

    day: str
    by: str
    moment: datetime
    size: int


def note_taking(day: date, by: str) -> Path:
    """Note who takes the bundle of a day; where it lies. Raises Refused where none is kept."""
    path = bundle_of(day)
    if not path.is_file():
        raise Refused("no_bundle", f"No bundle of {day} is kept: export it, then take it.", 404)
    taking = Taking(day=str(day), by=by, moment=clock.read().database, size=path.stat().st_size)
    with (folder() / "taken.jsonl").open("ab") as file:
        file.write(msgspec.json.encode(taking) + b"\n")
    return path


def takings(count: int) -> list[Taking]:
    """The latest, the newest first."""
    try:
        written = (folder() / "taken.jsonl").read_bytes().splitlines()
    except (OSError, Refused):
        return []
    return [msgspec.json.decode(line, type=Taking) for line in written[-count:][::-1]]
