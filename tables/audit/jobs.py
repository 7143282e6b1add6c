"""Audit jobs: verifications and bundles that auditors request, run by the worker one at a time, and their results.

A job is a run like those of scheduled checks: its row has the time of the request, its end the number of faults. Its
report lines, its requester and the newest bundles are in a folder that web and worker share (AUDIT_FOLDER).
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
"""The prefix of the names of these runs."""
LOCK: Final = "an errand of the auditors"
KEPT_BUNDLES: Final = 31
KEPT_ACCOUNTS: Final = 200
MOST_LINES: Final = 400
"""The maximum number of report lines that are stored; further ones are only counted."""
NO_FOLDER: Final = "This house keeps no folder for bundles: name one in AUDIT_FOLDER that web and worker share."


class JobKind(StrEnum):
    """The kind of an audit job."""

    VERIFY = "verify"
    EXPORT = "export"
    KEYS = "keys"


@dataclass(frozen=True, slots=True)
class AuditJob:
    """An audit job: of a gaming day, or of the whole site."""

    deed: JobKind
    day: date | None = None

    @property
    def task(self) -> str:
        """The name of its run."""
        return PREFIX + self.deed + (f" {self.day}" if self.day else "")

    @property
    def says(self) -> str:
        """Its title, capitalised."""
        if self.day is None:
            return "Checking the key and its note" if self.deed == JobKind.KEYS else "Verifying the whole house"
        return f"{'Exporting' if self.deed == JobKind.EXPORT else 'Verifying'} {self.day}"

    @classmethod
    def read(cls, deed: str, day: date | None) -> AuditJob | None:
        """A job from a form; None for an invalid combination. A check of the key is always of the whole site, an export
        always of a day."""
        if deed not in set(JobKind) or (deed == JobKind.KEYS and day) or (deed == JobKind.EXPORT and not day):
            return None
        return cls(JobKind(deed), day)

    @classmethod
    def of(cls, run: Run) -> AuditJob:
        """The job of a run."""
        deed, _, day = run.task.removeprefix(PREFIX).partition(" ")
        return cls(JobKind(deed), date.fromisoformat(day) if day else None)


class Account(msgspec.Struct, kw_only=True):
    """The requester, progress and report lines of a job, stored in a file."""

    by: str
    begun: bool = False
    """Whether a worker started it."""
    reached: str = ""
    lines: list[str] = msgspec.field(default_factory=list)


@dataclass(frozen=True, slots=True)
class JobState:
    """The state of a job."""

    run: Run
    errand: AuditJob
    account: Account
    is_worked_on: bool = False

    @property
    def name(self) -> str:
        """``holds`` or ``found`` after the end; before it ``waits``, ``running``, or ``gone`` if its worker died."""
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
    """Request a job. If another one is pending it is returned instead, and queued again if no worker runs it. Raises
    Refused."""
    folder()
    if errand.day is not None and not DayRoot.objects.filter(day=errand.day).exists():
        raise Refused("not_sealed", f"{errand.day} is not sealed: a day is proved and exported once it is over.")
    # Requests wait for one another, so that two of them cannot create two pending jobs.
    with transaction.atomic(), runs.in_turn(LOCK):
        run = _pending()
        if run is None:
            moment = clock.read().database
            run = Run.objects.create(task=errand.task, slot=moment, begun_at=moment)
            _write(run, Account(by=by))
        # A held lock means that a worker is running the job: a second task would only find it done.
        if not runs.is_held(LOCK):
            # After the commit: a fast worker would otherwise not find the run.
            transaction.on_commit(partial(_send, run.pk))
    return run


def _send(pk: int) -> None:
    """Queue a job for a worker. If the broker is away the job waits until the next request queues it again."""
    broker.send("tables.tasks.run_errand", pk, otherwise=f"errand {pk} waits until it is asked for again")


def _pending() -> Run | None:
    return Run.objects.filter(task__startswith=PREFIX, end=None).order_by("-pk").first()


def under_way() -> JobState | None:
    """The pending job, or None."""
    run = _pending()
    return None if run is None else JobState(run, AuditJob.of(run), account_of(run), runs.is_held(LOCK))


def latest(count: int) -> list[JobState]:
    """The jobs that ended last, newest first."""
    ended = Run.objects.filter(task__startswith=PREFIX, end__isnull=False).select_related("end").order_by("-pk")
    return [JobState(run, AuditJob.of(run), account_of(run)) for run in ended[:count]]


def asked_for(before: int | None, count: int) -> list[JobState]:
    """A page of jobs, newest first; ``before``: only those before this run id."""
    runs_of_errands = Run.objects.filter(task__startswith=PREFIX).select_related("end").order_by("-pk")
    page = runs_of_errands if before is None else runs_of_errands.filter(pk__lt=before)
    return [state_of(run) for run in page[:count]]


def state_of(run: Run) -> JobState:
    """The state of one run's job."""
    is_worked_on = not hasattr(run, "end") and runs.is_held(LOCK)
    return JobState(run, AuditJob.of(run), account_of(run), is_worked_on)


def verified(days: Collection[date]) -> Mapping[date, JobState]:
    """The last verification of each of these days."""
    tasks = [AuditJob(JobKind.VERIFY, day).task for day in days]
    ended = Run.objects.filter(task__in=tasks, end__isnull=False).select_related("end").order_by("pk")
    states = [JobState(run, AuditJob.of(run), account_of(run)) for run in ended]
    return {state.errand.day: state for state in states if state.errand.day}


# --- Doing it --------------------------------------------------------------------------------------------------


def perform(pk: int) -> None:
    """Run a job, unless it has ended or another worker runs one."""
    with runs.alone(LOCK) as is_alone:
        run = Run.objects.filter(pk=pk, end=None).first()
        if not is_alone or run is None:
            return
        work = Work(run)
        try:
            work.do(AuditJob.of(run))
        except Exception:
            # A job without an end would block all further ones, so a failure ends it with a fault.
            work.add(Finding.fault("it could not be done: what happened is in the worker's log"))
            raise
        finally:
            work.end()


@dataclass(slots=True)
class Work:
    """A job that a worker is running. Each report line is stored at once."""

    run: Run
    faults: int = 0
    unsaid: int = 0

    def do(self, errand: AuditJob) -> None:
        """Run the job from its start; a missing prerequisite becomes a report line."""
        account = account_of(self.run)
        # A job that a killed worker left starts again, so its old lines are dropped.
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
            # The stand-alone verifier, as an outsider would run it: it shares no database with this process.
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
        """Store a report line; beyond MOST_LINES, only count it."""
        self.faults += not line.holds
        account = account_of(self.run)
        if len(account.lines) < MOST_LINES:
            account.lines.append(line.says)
            _write(self.run, account)
        else:
            self.unsaid += 1

    def end(self) -> None:
        """End the run and remove the oldest accounts. Called after success and failure."""
        account = account_of(self.run)
        account.reached = ""
        if self.unsaid:
            account.lines.append(f"and {self.unsaid:,} more")
        _write(self.run, account)
        RunEnd.objects.create(run=self.run, at=clock.read().database, found=self.faults)
        _forget(folder().glob("run-*.json"), KEPT_ACCOUNTS)


def of_the_key() -> Iterator[Finding]:
    """Check the key in its file, the keys in the log, and the note next to the key. Raises BadKey."""
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
    """The folder of bundles and accounts, created if missing. Raises Refused if none is configured."""
    if not settings.AUDIT_FOLDER:
        raise Refused("no_folder", NO_FOLDER)
    path = Path(settings.AUDIT_FOLDER)
    path.mkdir(mode=0o750, parents=True, exist_ok=True)
    return path


def bundle_of(day: date) -> Path:
    """The path of a day's bundle, which may not exist."""
    return folder() / f"audit-{day}.zip"


def bundles(days: Collection[date]) -> Mapping[date, Path]:
    """The stored bundles of these days."""
    return {day: path for day in days if (path := bundle_of(day)).is_file()}


def entries_of(days: Collection[date]) -> Mapping[date, int]:
    """The number of entries of each of these sealed days, over all logs."""
    rows = BookRoot.objects.filter(day__in=days).values("day")
    sums = rows.annotate(entries=Sum(F("last_seq") - F("first_seq") + 1)).values_list("day", "entries")
    return dict.fromkeys(days, 0) | dict(sums)


def make_bundle(day: date) -> Path:
    """Write a day's bundle, complete or not at all, and remove the oldest ones. Raises NotYet."""
    path = bundle_of(day)
    part = path.with_suffix(".part")
    try:
        # A reader must never find an incomplete bundle under its final name.
        with part.open("wb") as file:
            export.export(day, day, file)
        part.rename(path)
    finally:
        part.unlink(missing_ok=True)
    _forget(folder().glob("audit-*.zip"), KEPT_BUNDLES)
    return path


def digest(path: Path) -> str:
    """The SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _forget(files: Iterable[Path], most: int) -> None:
    for path in sorted(files, key=lambda path: path.stat().st_mtime, reverse=True)[most:]:
        path.unlink(missing_ok=True)


def account_of(run: Run) -> Account:
    """The account of a run; an empty one if it was removed or is on another host."""
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
    # Written aside and renamed: the page reads this file while the worker updates it.
    part.write_bytes(msgspec.json.encode(account))
    part.rename(path)


# --- Who took which bundle -------------------------------------------------------------------------------------


class Taking(msgspec.Struct, kw_only=True):
    """A record that a bundle was downloaded."""

    day: str
    by: str
    moment: datetime
    size: int


def note_taking(day: date, by: str) -> Path:
    """Record the download of a day's bundle, and return its path. Raises Refused if there is no bundle."""
    path = bundle_of(day)
    if not path.is_file():
        raise Refused("no_bundle", f"No bundle of {day} is kept: export it, then take it.", 404)
    taking = Taking(day=str(day), by=by, moment=clock.read().database, size=path.stat().st_size)
    # Recorded before the bundle is sent: a download without a record must not exist.
    with (folder() / "taken.jsonl").open("ab") as file:
        file.write(msgspec.json.encode(taking) + b"\n")
    return path


def takings(count: int) -> list[Taking]:
    """The latest download records, newest first."""
    try:
        written = (folder() / "taken.jsonl").read_bytes().splitlines()
    except (OSError, Refused):
        return []
    return [msgspec.json.decode(line, type=Taking) for line in written[-count:][::-1]]
