"""A book that a wrong clock poisoned is mended: its rounds count to the day on which they were dealt."""

import json
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.test import Client
from django.utils import timezone

from ledger import log
from ledger.clock import WrongClock
from ledger.log import Draft
from ledger.models import BookRoot, LogEntry
from ledger.proof import seals
from ledger.proof.chain import MENDED, Head, Mend
from ledger.proof.spelling import timestamp
from tables.audit import clock_correction, day_seals, keys, proofs, round_list, round_steps
from tables.audit.clock_correction import CorrectionRequest, NoMend
from tables.audit.outside.bundle import Wrong
from tables.models import Staff
from tables.reports import day_close, figures, gaming_hours
from tables.roles import Role
from tables.staff import signers
from tests import floor
from tests.clock import Clock
from tests.floor import Hand, dealt
from tests.intruder import at_work
from tests.tables.audit.sealed_days import verified
from tests.tables.bundles import exported
from tests.tables.reports.test_figures import plays

pytestmark = [pytest.mark.django_db, pytest.mark.slow("deals and seals days for each test")]

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def noon(clock: Clock, tmp_path: Path, settings: Any) -> datetime:
    """Noon of a day, at a house with a key."""
    settings.AUDIT_KEY_FILE = str(tmp_path / "audit.pem")
    seals.make_key(tmp_path / "audit.pem")
    moment = timezone.now().replace(hour=12, minute=0, second=0, microsecond=0) + DAY
    clock.stand(moment)
    return moment


@pytest.fixture
def poisoned(noon: datetime, clock: Clock) -> Hand:
    """A round was dealt at noon, and two at one o'clock by clocks that were three days ahead; it is two o'clock."""
    hand = dealt(options={"decks": 6})[0]
    plays(hand)
    clock.stand(noon + HOUR + 3 * DAY)
    plays(hand)
    plays(hand)
    clock.stand(noon + 2 * HOUR)
    return hand


@pytest.fixture
def two() -> tuple[Staff, Staff]:
    """Who stands for a mend."""
    return floor.staff(Role.OPERATOR, "olga", "301"), floor.staff(Role.PIT_BOSS, "bettina", "302")


def rounds(on: date) -> int:
    """Of the day, as its report has it."""
    return figures.day(on).pit.rounds


def mended(hand: Hand, two: tuple[Staff, Staff], **terms: Any) -> list[Mend]:
    return [
        *clock_correction.mend(
            hand.table.book, CorrectionRequest(**terms), by=two, reason="NTP was off; the cameras have the time"
        )
    ]


def verdict_on(folder: Path, on: date) -> str:
    """The verifier's verdict on the bundle of a day."""
    bundle = folder / f"{on}.zip"
    bundle.write_bytes(exported(on, on))
    return "\n".join(verified(bundle))


def test_before_it_is_mended_nothing_is_written_and_nothing_sealed(
    poisoned: Hand, noon: datetime, clock: Clock
) -> None:
    """Harm: a day is sealed without its rounds, while the book waits for somebody to mend it."""
    with pytest.raises(WrongClock, match="ahead"):
        poisoned("bet", seat=1, amount_cents=1_000)
    assert rounds(gaming_hours.day_of(noon)) == 1
    clock.pass_until(noon + DAY)
    with pytest.raises(WrongClock, match="ahead"):
        day_seals.seal_finished()


def test_a_mended_day_has_its_rounds_is_sealed_and_verifies(
    poisoned: Hand, noon: datetime, clock: Clock, two: tuple[Staff, Staff], tmp_path: Path
) -> None:
    """Harm: one input under a wrong clock, and for three days every report is wrong and every bundle empty."""
    today = gaming_hours.day_of(noon)
    false = LogEntry.objects.filter(book=poisoned.table.book, at__gt=noon + DAY).count()
    (mend,) = mended(poisoned, two)
    assert mend.last - mend.first + 1 == false
    assert (mend.since, mend.until) == (timestamp(noon), timestamp(noon + 2 * HOUR))
    assert rounds(today) == 3
    assert rounds(today + 3 * DAY) == 0
    assert figures.day(today).pit.open_seconds == 2 * 3600
    plays(poisoned)
    assert rounds(today) == 4
    assert proofs.verify(poisoned.table.book).fault is None
    clock.pass_until(noon + DAY)
    plays(poisoned)
    day_seals.seal_finished()
    root = BookRoot.objects.get(book=poisoned.table.book, day=today)
    assert json.loads(bytes(root.body))["mended"] == [[mend.entry, *mend.spelled()]]
    verdict = verdict_on(tmp_path, today)
    assert f"entries {mend.first} to {mend.last} bear false times, mended by entry {mend.entry}" in verdict
    assert "4 rounds replayed" in verdict
    clock.pass_until(noon + 2 * DAY)
    day_seals.seal_finished()
    assert "1 rounds replayed" in verdict_on(tmp_path, today + DAY)
    assert proofs.verify(poisoned.table.book).fault is None
    clock.pass_until(noon + 5 * DAY)
    assert [rounds(today + number * DAY) for number in range(5)] == [4, 1, 0, 0, 0]


def test_a_mend_over_a_days_end_says_where_the_day_ended(
    poisoned: Hand, noon: datetime, clock: Clock, two: tuple[Staff, Staff], tmp_path: Path
) -> None:
    """Harm: rounds of two days are counted to whichever day the mend was written on."""
    today, ends = gaming_hours.day_of(noon), gaming_hours.span(gaming_hours.day_of(noon)).end
    clock.pass_until(noon + DAY)
    with pytest.raises(NoMend, match="say through which entry"):
        mended(poisoned, two)
    entries = LogEntry.objects.filter(book=poisoned.table.book)
    leap_entry = entries.filter(at__gt=noon + 2 * DAY).order_by("seq").first()
    last_entry = entries.filter(round=2).order_by("-seq").first()
    assert leap_entry is not None
    assert last_entry is not None
    first_mend, second_mend = mended(poisoned, two, through=[(last_entry.seq, ends)])
    assert (first_mend.first, first_mend.last, second_mend.first) == (
        leap_entry.seq,
        last_entry.seq,
        last_entry.seq + 1,
    )
    assert [rounds(today), rounds(today + DAY)] == [2, 1]
    day_seals.seal_finished()
    clock.pass_until(noon + 2 * DAY)
    day_seals.seal_finished()
    assert "2 rounds replayed" in verdict_on(tmp_path, today)
    assert "bear false times" in verdict_on(tmp_path, today + DAY)
    assert proofs.verify(poisoned.table.book).fault is None


def test_the_command_asks_two_people(
    poisoned: Hand, two: tuple[Staff, Staff], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Harm: one person at a shell moves rounds from one day to another."""
    monkeypatch.setattr(signers, "getpass", lambda _: floor.PIN)
    with pytest.raises(SystemExit):
        call_command("clock", "status")
    assert "AHEAD   Rocket 1" in capsys.readouterr().out
    reason = ("--reason", "NTP was off")
    for by in (("--by", "olga"), ("--by", "olga", "--by", "olga")):
        with pytest.raises(CommandError, match="Two people"):
            call_command("clock", "mend", "Rocket 1", *by, *reason)
    with pytest.raises(CommandError, match="There is no book"):
        call_command("clock", "mend", "Rocket 9", "--by", "olga", "--by", "bettina", *reason)
    call_command("clock", "mend", "Rocket 1", "--by", "olga", "--by", "bettina", *reason)
    call_command("clock", "status")
    with pytest.raises(CommandError, match="No entry of Rocket 1 is of a moment to come"):
        call_command("clock", "mend", "Rocket 1", "--by", "olga", "--by", "bettina", *reason)


def test_a_mend_that_cannot_be_true_is_refused(poisoned: Hand, noon: datetime, two: tuple[Staff, Staff]) -> None:
    """Harm: a mend that poisons the book once more."""
    seq = log.read_head(poisoned.table.book_id).seq
    refusals: list[tuple[dict[str, Any], str]] = [
        ({"first": 999}, "No entry"),
        ({"since": noon + DAY}, "in their order"),
        ({"since": noon - DAY}, "they came after it"),
        ({"until": noon + 2 * DAY}, "none of a moment to come"),
        ({"through": [(1, noon + HOUR)]}, "in their order"),
    ]
    for terms, sentence in refusals:
        with pytest.raises(NoMend, match=sentence):
            mended(poisoned, two, **terms)
    assert log.read_head(poisoned.table.book_id).seq == seq


def test_what_is_sealed_or_mended_is_not_mended(
    poisoned: Hand, noon: datetime, clock: Clock, two: tuple[Staff, Staff]
) -> None:
    """Harm: a round is moved out of a day that was signed, or from day to day."""
    (mend,) = mended(poisoned, two)
    with pytest.raises(NoMend, match="mended times up to entry"):
        mended(poisoned, two, first=mend.last)
    clock.pass_until(noon + DAY)
    day_seals.seal_finished()
    with pytest.raises(NoMend, match="are sealed with"):
        mended(poisoned, two, first=2)


@pytest.mark.parametrize(
    ("changes", "sentence"), [({"key": "ab" * 32}, "not the house's"), ({"reason": "x"}, "not signed by its key")]
)
def test_a_forged_mend_is_found(poisoned: Hand, noon: datetime, changes: dict[str, str], sentence: str) -> None:
    """Harm: whoever holds the application's role moves rounds to a day on which nobody looks."""
    assert sentence in fault_of_mend(poisoned, noon, ["x", "y"], changes)


def fault_of_mend(hand: Hand, noon: datetime, people: list[str], changes: dict[str, str], back: int = 3) -> str:
    """Append a correction of the times of the newest entries by "x", which the key of the site signed before these
    changes, and return the fault that the proof finds."""
    key = keys.signing_key()
    head = log.read_head(hand.table.book_id)
    document = {
        "format": clock_correction.MEND, "book": "Rocket 1", "head": (head.hash or b"").hex(),
        "by": people, "reason": "z",
        "spans": [[head.seq - back, head.seq, timestamp(noon), timestamp(noon + HOUR)]], "key": seals.public_of(key),
    }  # fmt: skip
    signature = seals.sign(key, document).hex()
    with transaction.atomic():
        locked = log.lock(hand.table.book_id, to_mend=True)
        log.append(locked, Draft(*MENDED, "x", {"document": document | changes, "signature": signature}))
    fault = proofs.verify(hand.table.book).fault
    assert fault is not None
    assert fault.seq == locked.seq + 1
    return fault.what


@pytest.mark.parametrize(
    ("people", "sentence"),
    [
        (["x", "x"], "its two signatures are not of two people"),
        (["x"], "not signed by two people"),
        (["y", "x"], "not signed first by x"),
    ],
)
def test_a_mend_that_one_person_signed_is_found(
    poisoned: Hand, noon: datetime, people: list[str], sentence: str
) -> None:
    """Harm: one person with the key of the site moves rounds to another day, or names others as the signers."""
    false = LogEntry.objects.filter(book=poisoned.table.book, at__gt=noon + DAY).count()
    assert sentence in fault_of_mend(poisoned, noon, people, {}, back=false - 1)


@pytest.mark.django_db(transaction=True)
def test_time_steps_back_in_no_other_entry(poisoned: Hand, noon: datetime) -> None:
    """Harm: a back-dated entry that passes because mended books exist."""
    book = poisoned.table.book
    with at_work() as intruder:
        head = log.read_head(book.pk)
        before = Head(book.pk, book.name, head.seq, head.hash)
        log.append(before, Draft("round", "play", "x", {}, at=noon))
        assert intruder
        fault = proofs.verify(book).fault
    assert fault is not None
    assert "earlier than the entry before it" in fault.what


def test_a_bundle_whose_document_mends_otherwise_does_not_hold(
    poisoned: Hand, noon: datetime, clock: Clock, two: tuple[Staff, Staff], tmp_path: Path, monkeypatch: Any
) -> None:
    """Harm: the house tells the auditors another true time than its log."""
    (mend,) = mended(poisoned, two)
    lie = Mend(mend.entry, mend.first, mend.last, timestamp(noon + HOUR), mend.until)
    monkeypatch.setattr("ledger.clock_corrections.of", lambda *_: [lie])
    clock.pass_until(noon + DAY)
    day_seals.seal_finished()
    with pytest.raises(Wrong, match="than the days were sealed with"):
        verdict_on(tmp_path, gaming_hours.day_of(noon))


def test_a_mended_day_is_closed(poisoned: Hand, noon: datetime, clock: Clock, two: tuple[Staff, Staff]) -> None:
    """Harm: a mended book whose day nobody can close, or that is closed over other figures than its rounds'."""
    mended(poisoned, two)
    boss = Staff.objects.get(username="bella")
    clock.pass_until(noon + DAY)
    floor.counted(Hand(poisoned.table, boss), "rack")
    on = gaming_hours.day_of(noon)
    close = day_close.close(on, by=two[0], digest=day_close.propose(on, by=boss).digest)
    assert close.day == on
    assert proofs.verify(poisoned.table.book).fault is None


def test_histories_show_both_times(poisoned: Hand, noon: datetime, two: tuple[Staff, Staff]) -> None:
    """Harm: who looks at a dispute finds a round three days ahead, and does not know why; or cannot find it."""
    mended(poisoned, two)
    plays(poisoned)
    lines = {line.number: line for line in round_list.rounds(poisoned.table.book_id, through=4).lines}
    assert [lines[number].began for number in (1, 2, 3, 4)] == [noon, noon, noon, noon + 2 * HOUR]
    assert [lines[number].dated for number in (1, 2, 3, 4)] == [
        None,
        noon + HOUR + 3 * DAY,
        noon + HOUR + 3 * DAY,
        None,
    ]
    story = round_steps.story(poisoned.table, 2)
    assert story is not None
    assert story.line.dated == noon + HOUR + 3 * DAY
    assert round_list.first_since({poisoned.table.book_id: 4}, noon + HOUR) == {poisoned.table.book_id: 4}
    boss = Client()
    boss.force_login(Staff.objects.get(username="bella"), backend="django.contrib.auth.backends.ModelBackend")
    page = boss.get(f"/pit/tables/{poisoned.table.pk}/rounds/2/").content.decode()
    assert "by a wrong clock" in page
