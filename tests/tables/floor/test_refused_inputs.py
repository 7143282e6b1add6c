"""Inputs that were refused and that somebody should read of: which they are, how many, and where they are told."""

import uuid

import pytest
from django.utils import timezone

from ledger import site_log
from ledger.models import HOUSE, Book, LogEntry, Notice
from tables.audit import proofs
from tables.floor import recorder, refused_inputs
from tables.floor.inputs import Input, KeyCard, VoidRound
from tables.games.protocol import Bet
from tables.log.entries.refusals import InputRefused
from tables.models import Terminal
from tables.refusals import Refused
from tables.reports import exceptions, gaming_hours
from tables.roles import Role
from tables.staff import signatures
from tests import floor
from tests.floor import Hand, dealt

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def unbound(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that noted nothing yet."""
    monkeypatch.setattr(refused_inputs, "bound", refused_inputs.Bound())


def refused(hand: Hand, entered: Input) -> Refused:
    with pytest.raises(Refused) as caught:
        recorder.record(hand.table, entered, by=hand.by, key=uuid.uuid4(), expected_seq=hand.now.seq)
    return caught.value


def refusals_of_the_day() -> list[str]:
    """What the day's exceptions say was refused."""
    report = exceptions.of_day(gaming_hours.day_of(timezone.now()), whole=False)
    return [line.says for heading in report.headings if heading.matter.name == "refused" for line in heading.lines]


def test_who_tried_what_they_may_not_is_read_in_the_morning() -> None:
    """Harm: a dealer tries all night to void rounds, and nobody ever knows."""
    dealer, _ = dealt()
    dealer.bets(seat1=1_000)
    seq = dealer.now.seq
    answer = refused(dealer, VoidRound("misdeal", "it would be nice"))
    assert dealer.now.seq == seq, "the table's own book has nothing of it"
    refusals = [f"Refused at {dealer.table.name}, void round: {answer.sentence}"]
    assert refusals_of_the_day() == refusals, "before it has an entry, it waits at the door of the house's book"
    site_log.flush_queue()
    entry = LogEntry.objects.get(subject="refusal")
    assert entry.by == dealer.by.signature
    assert refusals_of_the_day()[0].startswith(refusals[0])
    assert proofs.verify(Book.objects.get(name=HOUSE), with_note=False).fault is None


def test_a_note_that_nobody_left_is_found() -> None:
    """Harm: whoever has the application's database role blames somebody for what they never tried."""
    dealer, _ = dealt()
    site_log.append(InputRefused(entered="void_round", code="not_permitted", says="No."), dealer.by.signature)
    fault = proofs.verify(Book.objects.get(name=HOUSE), with_note=False).fault
    assert fault is not None
    assert "was not left at the book's door" in fault.what


def test_a_bet_over_the_limit_is_noted_and_one_below_it_is_not() -> None:
    """Harm: somebody asks again and again for more than the limit, and the floor never hears of it."""
    dealer, _ = dealt()
    refused(dealer, Bet(1, 100))
    assert refusals_of_the_day() == []
    refused(dealer, Bet(1, 1_000_000))
    assert len(refusals_of_the_day()) == 1
    assert "is over the maximum" in refusals_of_the_day()[0]


def test_a_wrong_key_and_an_old_screen_are_not_noted() -> None:
    """Harm: the morning's list is full of what happens to everybody."""
    dealer, boss = dealt()
    refused(dealer, KeyCard(4))
    with pytest.raises(Refused):
        recorder.record(dealer.table, VoidRound("misdeal", "x"), by=boss.by, key=uuid.uuid4(), expected_seq=1)
    assert not Notice.objects.filter(subject="refusal").exists()


def test_a_wrong_pin_at_a_terminal_is_noted_by_badge_and_without_the_pin() -> None:
    """Harm: PINs are tried on slips, below the number that locks a terminal, night after night."""
    floor.staff(Role.PIT_BOSS, "petra", "201")
    floor.terminal_cookie(floor.staff(Role.OPERATOR, "olga"))
    terminal = Terminal.objects.get()
    for badge in ("201", "777"):
        with pytest.raises(Refused):
            signatures.sign(terminal, badge, "9876", lambda staff: None)
    notes = Notice.objects.filter(subject="refusal").order_by("pk")
    assert [note.by for note in notes] == ["badge 201", "a badge that nobody has"]
    assert not any("9876" in str(note.content) or "777" in str(note.content) for note in notes)
    assert all(sentence.startswith(f"Refused at {terminal.name}, signature") for sentence in refusals_of_the_day())


def test_a_key_that_is_stuck_fills_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: a stuck key, or somebody who wants to, fills the disk with refused inputs."""
    dealer, _ = dealt()
    clock = [0.0]
    monkeypatch.setattr("tables.floor.refused_inputs.time.monotonic", lambda: clock[0])
    for _ in range(50):
        refused(dealer, VoidRound("misdeal", "again"))
    assert Notice.objects.filter(subject="refusal").count() == 1
    clock[0] += refused_inputs.APART
    refused(dealer, VoidRound("misdeal", "again"))
    latest = Notice.objects.filter(subject="refusal").order_by("-pk")[0]
    assert latest.content["more"] == 49
    assert refusals_of_the_day()[-1].endswith("; 49 more since the last that was noted")


def test_a_process_notes_only_so_many_a_minute() -> None:
    """Harm: made-up badges at many terminals get around the bound of each."""
    bound = refused_inputs.Bound()
    admitted = [bound.admits((str(number),), 0.0) for number in range(1_000)]
    assert sum(admitted) == refused_inputs.MOST
    assert len(bound.left_out) <= 10 * refused_inputs.MOST
    assert bound.admits(("new",), refused_inputs.APART)
