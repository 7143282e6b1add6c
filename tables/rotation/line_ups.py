"""Line-ups of strings of tables: reading those in force, setting, pushing and changing them.

A line-up is a row that mirrors its entry in the site's log; rows are never changed. Reliefs at the tables move a
line-up on without an entry of their own: the taps are in the logs of the tables (``tables/log/rotation.py``). A push by
mistake is taken back by another entry.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from ledger import log, site_log
from ledger.models import LogEntry
from ledger.proof.chain import Entry
from tables.floor.handlers import checks
from tables.games.catalog import GAMES
from tables.log.catalog import read_as
from tables.log.duties import PIT_BOSS
from tables.log.entries.rotation import LineUpSet
from tables.log.event import AuditFailure
from tables.log.rotation import LineUp, TableStatus, Tap, fault_of, is_push, moved_on
from tables.models import Certificate, Staff, Table
from tables.models import LineUp as Row
from tables.projections.site_rows import LINE_UPS
from tables.refusals import Refused
from tables.reports import gaming_hours
from tables.roles import Role
from tables.rotation import sessions
from tables.setup import pit_assignments, policies
from tables.setup.pits import natural

RUNS: Final = "tables.run_floor"
LONGEST_NAME: Final = 40
LONGEST_REASON: Final = 200
TURN_MINUTES: Final = (5, 240)
"""The shortest and the longest turn."""
MOST_TABLES: Final = 24


@dataclass(frozen=True, slots=True)
class StringLineUp:
    """A line-up in force, as a screen and a change of it need it."""

    row: Row
    line_up: LineUp
    """After the reliefs that tapped in since its entry."""
    names: Mapping[str, str]
    """Names of the dealers by user name."""
    follower: Tap | None = None
    """The first tap of a dealer at the table to which the push of the entry sent them; None without one."""

    @property
    def why_not_taken_back(self) -> str:
        """Why the newest push cannot be taken back, as a sentence; "" if it can."""
        string = self.row.string
        if not self.row.pushed:
            return f"The newest line-up of string {string} was not made by a push. Move the dealers instead."
        if self.follower is not None:
            dealer = self.names.get(self.follower.username, self.follower.username)
            return f"{dealer} has tapped in at {self.follower.table} since the push. Move the dealers instead."
        if self.line_up.at != self.row.at:
            return f"A relief tapped in: string {string} has moved on since the push. Move the dealers instead."
        return ""

    @property
    def basis(self) -> Basis:
        """The state that a change rests on."""
        return Basis(self.row.seq, self.line_up.push_at)

    @property
    def push_at_spelled(self) -> str:
        """The moment of the next push as a form sends it back."""
        return self.line_up.push_at.isoformat()


@dataclass(frozen=True, slots=True)
class Basis:
    """The state of a line-up that a pit boss saw: its entry, and the next push. A change on another basis is
    refused, so that two pit bosses who push at once, or a push and a tap, produce one push."""

    seq: int
    push_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LineUpChange:
    """The new content of a line-up."""

    string: str
    tables: tuple[str, ...]
    dealers: tuple[str, ...]
    turn_minutes: int
    push_at: datetime
    ends: datetime
    reason: str = ""


# --- In force --------------------------------------------------------------------------------------------------


def in_force(moment: datetime | None = None, table: str = "") -> list[StringLineUp]:
    """The line-ups of all strings at a moment, by name, in four queries; with ``table``, only of its string."""
    moment = moment or timezone.now()
    # A line-up ends within a day of its entry: older rows are not read, however many there are.
    rows = Row.objects.filter(at__lte=moment, at__gt=moment - gaming_hours.DAY)
    rows = rows.order_by("string", "-seq").distinct("string")
    current = [row for row in rows if row.tables and row.ends is not None and row.ends > moment]
    current = [row for row in current if not table or table in row.tables]
    usernames = {name for row in current for name in row.dealers}
    names = dict(Staff.objects.filter(username__in=usernames).values_list("username", "name"))
    events = _events(current, moment)
    return [_string(row, names, events) for row in sorted(current, key=lambda row: natural(row.string))]


def _string(row: Row, names: Mapping[str, str], events: Sequence[Tap | TableStatus]) -> StringLineUp:
    own, planned = [event for event in events if event.table in row.tables], line_up_of(row)
    taps = [event for event in own if isinstance(event, Tap) and event.at > row.at]
    follower = next((tap for tap in taps if row.pushed and tap.username == planned.dealer_of(tap.table)), None)
    return StringLineUp(row, moved_on(planned, own), names, follower)


def _events(rows: Sequence[Row], moment: datetime) -> list[Tap | TableStatus]:
    """The taps at the tables of line-ups since the oldest of them, and the openings and closings of these tables."""
    if not rows:
        return []
    tables = Table.objects.filter(name__in={name for row in rows for name in row.tables}).select_related("book")
    return list(sessions.events(tables, min(row.at for row in rows), moment))


def line_up_of(row: Row) -> LineUp:
    """The line-up of a row with tables, as its entry set it."""
    assert row.push_at is not None  # noqa: S101 -- a line-up with tables has both moments
    assert row.ends is not None  # noqa: S101
    return LineUp(
        string=row.string,
        tables=tuple(row.tables),
        dealers=tuple(row.dealers),
        turn=timedelta(minutes=row.turn_minutes),
        push_at=row.push_at,
        ends=row.ends,
        at=row.at,
        closed=frozenset(row.tables),  # a table is open from its last opening on
    )


def of_string(string: str, moment: datetime | None = None) -> StringLineUp:
    """The line-up of a string. Raises Refused if none is in force."""
    line_up = next((each for each in in_force(moment) if each.row.string == string), None)
    if line_up is None:
        raise Refused("no_line_up", f"There is no line-up of string {string} now: set it first.", 409)
    return line_up


# --- Certificates ----------------------------------------------------------------------------------------------


def uncertified(change: LineUpChange, usernames: Collection[str] | None = None) -> list[str]:
    """Sentences about each dealer of a string who lacks a certificate that the policies require for one of its games,
    or whose certificate ends before the line-up does. ``usernames`` limits them to some of its dealers."""
    required = set(policies.words("certificate_games"))
    games = required & set(Table.objects.filter(name__in=change.tables).values_list("game", flat=True))
    names = dict(Staff.objects.filter(username__in=change.dealers).values_list("username", "name"))
    rows = Certificate.objects.filter(dealer__username__in=change.dealers, game__in=games).order_by("valid_through")
    last_day = {
        (username, game): day for username, game, day in rows.values_list("dealer__username", "game", "valid_through")
    }
    today = timezone.localdate()
    end = timezone.localdate(change.ends - timedelta(microseconds=1))
    sentences = []
    for username in filter(None, change.dealers if usernames is None else usernames):
        for game in sorted(games):
            day, title = last_day.get((username, game)), GAMES[game].title
            if day is None or day < today:
                sentences.append(f"{names.get(username, username)} has no valid certificate for {title}.")
            elif day < end:
                sentences.append(f"The certificate of {names[username]} for {title} ends on {day}, within this shift.")
    return sentences


def unfit(tables: Sequence[str], dealers: Sequence[str]) -> dict[str, str]:
    """A sentence for each dealer whose position is a table where they could not tap in, by user name: a certificate is
    required for its game, and they have no valid one. A tap is refused by the same rule (``tables/training``)."""
    required = policies.words("certificate_games")
    games = dict(Table.objects.filter(name__in=tables, game__in=required).values_list("name", "game"))
    placed = {name: table for table, name in zip(tables, dealers, strict=False) if name and table in games}
    if not placed:
        return {}
    rows = Certificate.objects.filter(dealer__username__in=placed).order_by("valid_through")
    last_days = {
        (username, game): day for username, game, day in rows.values_list("dealer__username", "game", "valid_through")
    }
    names = dict(Staff.objects.filter(username__in=placed).values_list("username", "name"))
    sentences = {}
    for username, table in placed.items():
        day, title = last_days.get((username, games[table])), GAMES[games[table]].title
        who = f"{names.get(username, username)} may not deal at {table}"
        if day is None:
            sentences[username] = f"{who}: a certificate for {title} is required, and there is none."
        elif day < timezone.localdate():
            sentences[username] = f"{who}: the certificate for {title} ended on {day}."
    return sentences


def dealers_for(tables: Iterable[str]) -> list[Staff]:
    """The active dealers who may deal all of these tables today, by name."""
    people = [person for person in Staff.objects.filter(is_active=True).order_by("name") if Role.DEALER in person.roles]
    required = set(policies.words("certificate_games"))
    games = required & set(Table.objects.filter(name__in=list(tables)).values_list("game", flat=True))
    if not games:
        return people
    valid: dict[str, set[str]] = {}
    rows = Certificate.objects.filter(game__in=games, valid_through__gte=timezone.localdate())
    for username, game in rows.values_list("dealer__username", "game"):
        valid.setdefault(username, set()).add(game)
    return [person for person in people if games <= valid.get(person.username, set())]


# --- Changes ---------------------------------------------------------------------------------------------------


def set_line_up(change: LineUpChange, *, by: Staff, basis: Basis) -> Row:
    """Set the line-up of a string, at any time of a shift. ``basis``: the line-up that the form showed, with number 0
    for none. Raises Refused."""
    with transaction.atomic():
        head = site_log.lock()
        strings = in_force(head.moment)
        current = next((each for each in strings if each.row.string == change.string), None)
        # A pit boss of another pit may not take its tables out of their string either.
        _permit(by, {*change.tables, *(current.line_up.tables if current else ())}, head.moment)
        _refuse_moved(change.string, current, basis)
        if sentences := faults(change, head.moment, strings):
            raise Refused("bad_line_up", " ".join(sentences.values()), 422, fields=sentences)
        names = dict(Staff.objects.filter(username__in=change.dealers).values_list("username", "name"))
        event = LineUpSet(
            **_author(by),
            string=change.string,
            tables=change.tables,
            dealers=change.dealers,
            names=tuple(names.get(username, "") for username in change.dealers),
            turn_minutes=change.turn_minutes,
            push_at=policies.spelled(change.push_at),
            ends=policies.spelled(change.ends),
            reason=" ".join(change.reason.split()),
        )
        return LINE_UPS.append(head, event, by.signature)


def push(string: str, *, by: Staff, basis: Basis, without: Collection[str] = ()) -> Row:
    """Move each dealer of a string to the next position. ``without``: the dealers who leave the line-up before it if
    they may not deal at their next table. Raises Refused; ``moved_on`` if the line-up has moved on since ``basis``, by
    a push or a tap; ``not_certified`` if another dealer may not deal at the next table."""
    with transaction.atomic():
        head = site_log.lock()
        current = of_string(string, head.moment)
        _permit(by, current.line_up.tables, head.moment)
        _refuse_moved(string, current, basis)
        misfits = unfit(current.line_up.tables, current.line_up.coming)
        if sentences := [sentence for username, sentence in misfits.items() if username not in without]:
            raise Refused("not_certified", f"{' '.join(sentences)} Push without them, or replace them first.", 409)
        if misfits:
            # Two entries: a push changes nothing but the positions, and the log says who left the line-up, and why.
            stay = tuple("" if username in misfits else username for username in current.line_up.dealers)
            current = replace(current, line_up=replace(current.line_up, dealers=stay))
            reason = " ".join(misfits.values())[:LONGEST_REASON]
            LINE_UPS.append(head, _entry(current, current.line_up, by, reason=reason), by.signature)
            head = site_log.lock()
        return LINE_UPS.append(
            head, _entry(current, current.line_up.pushed(head.moment), by, pushed=True), by.signature
        )


def take_back(string: str, *, by: Staff, basis: Basis) -> Row:
    """Take the newest push of a string back: each dealer returns to the position before, and the next push is due when
    it was. Raises Refused; ``not_taken_back`` if something has happened since the push."""
    with transaction.atomic():
        head = site_log.lock()
        current = of_string(string, _moment_after_taps(of_string(string, head.moment).line_up.tables))
        _permit(by, current.line_up.tables, head.moment)
        _refuse_moved(string, current, basis)
        if sentence := current.why_not_taken_back:
            raise Refused("not_taken_back", sentence, 409)
        former = replace(current.line_up, dealers=current.line_up.former, push_at=_due_before(current.row))
        return LINE_UPS.append(head, _entry(current, former, by, takes_back=current.row.seq), by.signature)


def _moment_after_taps(tables: Iterable[str]) -> datetime:
    """Lock the logs of tables until the transaction ends. Returns a moment after all taps there so far: a tap that is
    being written might be the one that follows the push. Locked after the site's log, as by other changes."""
    books = Table.objects.filter(name__in=tables).order_by("book_id").values_list("book_id", flat=True)
    return max(log.lock(book).moment for book in books)


def _due_before(row: Row) -> datetime:
    """The moment at which a push was due when it was called."""
    before = Row.objects.filter(string=row.string, seq__lt=row.seq).latest("seq")
    return _string(before, {}, _events([before], row.at)).line_up.push_at


def _entry(current: StringLineUp, line_up: LineUp, by: Staff, **facts: Any) -> LineUpSet:
    """The entry of a line-up that has the tables and the turn of the one in force."""
    return LineUpSet(
        **_author(by),
        string=line_up.string,
        tables=line_up.tables,
        dealers=line_up.dealers,
        names=tuple(current.names.get(username, "") for username in line_up.dealers),
        turn_minutes=current.row.turn_minutes,
        push_at=policies.spelled(line_up.push_at),
        ends=policies.spelled(line_up.ends),
        **facts,
    )


def rearrange(string: str, dealers: Sequence[str], reason: str = "", *, by: Staff, basis: Basis) -> Row:
    """Put other dealers into the positions of a string: two change places, a gap is filled, a dealer leaves. Raises
    Refused."""
    current = of_string(string)
    change = LineUpChange(
        string=string,
        tables=current.line_up.tables,
        dealers=tuple(dealers),
        turn_minutes=current.row.turn_minutes,
        push_at=current.line_up.push_at,
        ends=current.line_up.ends,
        reason=reason,
    )
    return set_line_up(change, by=by, basis=basis)


def end(string: str, *, by: Staff, basis: Basis) -> Row:
    """End the line-up of a string before its shift. Raises Refused."""
    with transaction.atomic():
        head = site_log.lock()
        current = of_string(string, head.moment)
        _permit(by, current.line_up.tables, head.moment)
        _refuse_moved(string, current, basis)
        return LINE_UPS.append(head, LineUpSet(**_author(by), string=string, tables=()), by.signature)


def _author(by: Staff) -> dict[str, Any]:
    return {"username": by.username, "name": by.name, "badge": by.badge, "role": str(by.role)}


def _permit(by: Staff, tables: Iterable[str], moment: datetime) -> None:
    if not (by.is_active and by.has_perm(RUNS)):
        raise Refused("not_permitted", "Only a pit boss sets or pushes a line-up.", 403)
    pit_assignments.refuse_any(by, tables, moment)


def _refuse_moved(string: str, current: StringLineUp | None, basis: Basis) -> None:
    """Raises Refused if the line-up in force is not the one that the pit boss saw. ``current`` is read under the lock
    of the site's log."""
    if current is None:
        if basis.seq:
            raise Refused("moved_on", f"The line-up of string {string} has ended: look at it again.", 409)
        return
    if not basis.seq:
        raise Refused("moved_on", f"There is a string {string} already: set that one up, or take another name.", 409)
    if current.row.seq != basis.seq:
        change = _change_of(current.row)
        raise Refused("moved_on", f"{current.row.by} has {change} string {string} meanwhile. Look at it again.", 409)
    if basis.push_at is None or current.line_up.push_at == basis.push_at:
        return
    if current.line_up.at == current.row.at:
        due = f"{timezone.localtime(current.line_up.push_at):%H:%M}"
        sentence = f"A table of string {string} has opened: its next push is due at {due}. Look at it again."
        raise Refused("moved_on", sentence, 409)
    raise Refused("moved_on", f"A relief tapped in: string {string} has moved on already. Look at it again.", 409)


def _change_of(row: Row) -> str:
    """The change that made a row, in a sentence about its string."""
    if row.pushed:
        return "pushed"
    body = LogEntry.objects.of_site().values_list("body", flat=True).get(seq=row.seq)
    return "taken back the push of" if read_as(LineUpSet, body).takes_back else "set"


def faults(change: LineUpChange, moment: datetime, strings: Sequence[StringLineUp]) -> dict[str, str]:
    """The faults of a line-up to be set, by field. ``strings``: the line-ups in force."""
    current = next((each for each in strings if each.row.string == change.string), None)
    others = [each for each in strings if each is not current]
    wrong: dict[str, str] = {}
    if not 1 <= len(change.string) <= LONGEST_NAME or change.string != change.string.strip():
        wrong["string"] = f"A string has a name of 1 to {LONGEST_NAME} characters, without a space at either end."
    elif not change.string.isprintable() or not change.string.strip("./"):
        wrong["string"] = "Give the string a name of letters or figures."
    if not 1 <= len(change.tables) <= MOST_TABLES:
        wrong["tables"] = f"A string has 1 to {MOST_TABLES} tables."
    elif fault := _tables_fault(change, current, others):
        wrong["tables"] = fault
    if fault := fault_of(change.tables, change.dealers) or _dealers_fault(change, current, others):
        wrong["dealers"] = fault
    least, most = TURN_MINUTES
    if not least <= change.turn_minutes <= most:
        wrong["turn_minutes"] = f"A turn lasts {least} to {most} minutes."
    if not change.ends > moment or change.ends > moment + gaming_hours.DAY:
        wrong["ends"] = "A line-up ends within the next 24 hours, with its shift."
    elif change.push_at > change.ends + timedelta(minutes=most):
        wrong["push_at"] = f"The line-up ends at {timezone.localtime(change.ends):%H:%M}: the next push is before that."
    if len(change.reason) > LONGEST_REASON:
        wrong["reason"] = f"Give the reason in at most {LONGEST_REASON} characters."
    return wrong


def _tables_fault(change: LineUpChange, current: StringLineUp | None, others: Sequence[StringLineUp]) -> str:
    present = set(Table.objects.filter(name__in=change.tables, retired_at=None).values_list("name", flat=True))
    # A table that was retired in this shift leaves with the next set-up; until then dealers are moved around it.
    present |= set(current.line_up.tables if current else ())
    if missing := next((name for name in change.tables if name not in present), ""):
        return f"There is no table {missing}."
    for string in others:
        if shared := set(string.line_up.tables) & set(change.tables):
            return f"{min(shared, key=natural)} is in string {string.row.string}: take it out there first."
    return ""


def _dealers_fault(change: LineUpChange, current: StringLineUp | None, others: Sequence[StringLineUp]) -> str:
    # Dealers of the same tables are not examined again unless they get another table: a deactivated dealer, or one
    # whose certificate has ended, would otherwise block every change of the string, their own leaving included.
    keeps_tables = current is not None and set(change.tables) <= set(current.line_up.tables)
    placed = current.line_up.dealers if current is not None and keeps_tables else ()
    usernames = {name for name in change.dealers if name and name not in placed}
    people = {person.username: person for person in Staff.objects.filter(username__in=usernames, is_active=True)}
    for username in sorted(usernames):
        person = people.get(username)
        if person is None or Role.DEALER not in person.roles:
            return f"{username} does not deal here: choose an active dealer."
    for string in others:
        if shared := set(string.line_up.dealers) & usernames:
            return f"{people[min(shared)].name} is in string {string.row.string}: take them out there first."
    lacking = [sentence for sentence in uncertified(change, usernames) if "no valid" in sentence]
    lacking += _moved_to(change, current).values() if current is not None else ()
    return lacking[0] if lacking else ""


def _moved_to(change: LineUpChange, current: StringLineUp) -> dict[str, str]:
    """Sentences about the dealers of a string whom a change sends to another table of it, where they may not deal."""
    dealers = [
        name if name in current.line_up.dealers and current.line_up.dealer_of(table) != name else ""
        for table, name in zip(change.tables, change.dealers, strict=False)
    ]
    return unfit(change.tables, dealers)


# --- Verification ----------------------------------------------------------------------------------------------


@checks(LineUpSet)
def check_line_up(event: LineUpSet, entry: Entry) -> None:
    """Check that a pit boss wrote a line-up with sound positions, and that a push only moved the dealers on. Raises
    AuditFailure."""
    if event.role != PIT_BOSS:
        raise AuditFailure(f"a pit boss sets a line-up, and {event.name} signs as {event.role}")
    if fault := fault_of(event.tables, event.dealers):
        raise AuditFailure(fault)
    if len(event.names) != len(event.dealers):
        raise AuditFailure("it names another number of dealers than it has positions")
    if not event.tables:
        return
    _moments_of(event)
    if not (event.pushed or event.takes_back):
        return
    seq, before = _before(event.string, entry.seq)
    is_same = before is not None and (before.tables, before.turn_minutes) == (event.tables, event.turn_minutes)
    if event.pushed and not (before and is_same and is_push(before.dealers, event.dealers)):
        raise AuditFailure("a push moves each dealer to the next position, and this one did something else")
    if event.takes_back and not (before and is_same and seq == event.takes_back and _is_taken_back(before, event)):
        raise AuditFailure("a push is taken back by the next entry of its string, with the dealers as before the push")


def _is_taken_back(push: LineUpSet, event: LineUpSet) -> bool:
    """Whether each dealer has the position before a push."""
    return push.pushed and not event.pushed and push.dealers == (*event.dealers[-1:], *event.dealers[:-1])


def _moments_of(event: LineUpSet) -> tuple[datetime, datetime]:
    try:
        return datetime.fromisoformat(event.push_at).astimezone(UTC), datetime.fromisoformat(event.ends)
    except ValueError:
        raise AuditFailure("its moments cannot be read") from None


def _before(string: str, seq: int) -> tuple[int, LineUpSet | None]:
    """The entry of a string's line-up before an entry, with its number, from the log alone: rows may have been tampered
    with."""
    entries = LogEntry.objects.of_site().filter(subject=LineUpSet.subject, seq__lt=seq).order_by("-seq")
    events = (
        (number, read_as(LineUpSet, body))
        for number, body in entries.values_list("seq", "body").iterator(chunk_size=50)
    )
    return next(((number, event) for number, event in events if event.string == string), (0, None))
