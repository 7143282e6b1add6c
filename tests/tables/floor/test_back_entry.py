"""Back-entry after an outage: begun by two, entered from paper, compared by another, ended by two; and its proof."""

import uuid
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from ledger import cage
from ledger import log as book_log
from ledger.log import Draft
from ledger.models import Alert, Book, LogEntry
from tables.audit import proofs
from tables.cage import cage_desk, site_back_entry
from tables.floor import recorder
from tables.floor.back_entry import FromPaper
from tables.floor.inputs import (
    AnnounceRound,
    BeginBackEntry,
    BeginSlip,
    ComparePaper,
    EndBackEntry,
    Input,
    SignSlip,
    SlipInput,
)
from tables.models import Staff, Table
from tables.reports import exceptions, gaming_hours
from tables.roles import Role
from tables.state import table_state
from tests.clock import Clock
from tests.floor import CREW, Hand, crew, dealt, staff
from tests.tables.floor.acts import fault, refusal, verify
from tests.tables.floor.test_recorder import chips_everywhere

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


def record(table: Table, by: Staff, table_input: Input, paper: FromPaper | None = None) -> recorder.Receipt:
    return recorder.record(table, table_input, by=by, key=uuid.uuid4(), expected_seq=None, paper=paper)


def ago(minutes: float) -> datetime:
    return timezone.now() - timedelta(minutes=minutes)


class Night:
    """A table whose server was away for an hour: everybody stands there with their papers."""

    def __init__(self, clock: Clock, **settings: Any) -> None:
        self.dealer, self.boss = dealt(**settings)
        self.table = self.dealer.table
        self.cashier = staff(Role.CASHIER, "carl", "402")
        self.guard = staff(Role.SECURITY, "gus", "502")
        crew("confirmed")
        clock.stand(timezone.now() + timedelta(minutes=80))

    def begin(self, since: float = 65, until: float = 5, **more: Any) -> recorder.Receipt:
        facts = {"reason": "server", "note": "the server was away", "second": "carl"} | more
        entered = BeginBackEntry(since=ago(since), until=ago(until), **facts)
        return record(self.table, self.boss.by, entered)

    def announce(self, number: str = "104", minutes: float = 50) -> recorder.Receipt:
        return record(self.table, self.dealer.by, AnnounceRound(number, ago(minutes)))

    def round(self, *cards: int) -> None:
        self.dealer.bets(seat1=1_000)
        self.dealer.cards(*cards)
        self.dealer.pay()

    def enter_round(self) -> None:
        """Enter a round from paper, without the comparison."""
        self.announce()
        self.round(4, 3)

    def compare(self, number: str = "104", by: Staff | None = None) -> recorder.Receipt:
        return record(self.table, by or self.boss.by, ComparePaper(number))

    def end(self, second: str = "carl") -> recorder.Receipt:
        return record(self.table, self.boss.by, EndBackEntry(second))

    def sign(self, by: Staff, entered: SlipInput, paper: FromPaper) -> recorder.Receipt:
        return record(self.table, by, entered, paper)

    def fill(self, number: str = "17", first: float = 40) -> str:
        """A fill from its paper, each step some minutes after the one before it; nobody has compared it yet."""
        self.sign(crew("requested"), BeginSlip("fill", ((2_500, 20),)), FromPaper(number, ago(first)))
        slip = self.dealer.now.slips[-1].name
        for step, stage in enumerate(list(CREW)[1:], 1):
            by = self.dealer.by if stage == "received" else crew(stage)
            self.sign(by, SignSlip(slip, stage), FromPaper(number, ago(first - step)))
        return slip


@pytest.fixture
def night(clock: Clock) -> Night:
    return Night(clock)


# --- what can be done -------------------------------------------------------------------------------------------


def test_rounds_and_a_fill_are_entered_from_paper_and_proved(night: Night) -> None:
    """Harm: what happened during an outage is entered as if it happened now, or by one person alone."""
    before = sum(chips_everywhere().values())
    night.begin()
    night.enter_round()
    slip = night.fill()
    night.announce(minutes=30)
    night.round(4, 3)
    night.compare()
    night.compare("17", by=night.guard)
    night.end()
    assert night.dealer.now.back_entry is None
    assert sum(chips_everywhere().values()) == before
    verify(night.table)
    lines = site_back_entry.about(night.table.book_id, slip)
    assert [(line.number, line.compared_by) for line in lines] == [("17", night.guard.signature)] * 5
    dealt_round = site_back_entry.of_round(night.table.book_id, 1)
    assert dealt_round is not None
    assert (dealt_round.number, dealt_round.compared_by) == ("104", night.boss.by.signature)
    assert dealt_round.happened < dealt_round.entered - timedelta(minutes=30)
    assert Alert.objects.filter(kind="back_entry_begun", book=night.table.book).count() == 1


def test_rounds_of_the_day_before_count_on_the_day_of_their_entry(clock: Clock) -> None:
    """Harm: a figure of a day that is over changes, or the next morning's report does not show that rounds were entered
    from paper, and from which day."""
    end = gaming_hours.span(gaming_hours.day_of(timezone.now())).end
    clock.stand(end - timedelta(minutes=70))
    night = Night(clock)
    night.begin()
    night.enter_round()
    night.compare()
    night.end()
    today = gaming_hours.day_of(timezone.now())
    lines = [line for line in exceptions.of_day(today).lines if line.matter.name == "from_paper"]
    kinds = ["back_entry_begun", "round_from_paper", "paper_compared", "back_entry_ended"]
    assert [line.kind for line in lines] == kinds
    assert "paper no. 104" in lines[1].says
    assert lines[1].note == f"of the gaming day {today - timedelta(days=1)}; counts on the day of its entry"
    assert not any(line.matter.name == "from_paper" for line in exceptions.of_day(today - timedelta(days=1)).lines)


def test_the_cage_has_a_book_of_its_own(night: Night) -> None:
    """Harm: chips sold at the cage by hand are dated when somebody found the time to type them."""
    boss, cashier, key = night.boss.by, night.cashier, uuid.uuid4
    begun = BeginBackEntry("network", ago(65), ago(5), "no network at the cage", "carl")
    site_back_entry.enter(begun, by=boss, key=key())
    paper = FromPaper("9", ago(20))
    cage_desk.sell(5_000, by=cashier, key=key(), paper=paper)
    cage_desk.redeem(2_000, by=cashier, key=key(), paper=paper)
    assert refusal(site_back_entry.enter, ComparePaper("9"), by=cashier, key=key()).code == "signed_already"
    assert refusal(site_back_entry.enter, EndBackEntry("carl"), by=boss, key=key()).code == "not_compared"
    site_back_entry.enter(ComparePaper("9"), by=night.guard, key=key())
    second_refusal = refusal(cage_desk.sell, 5_000, by=cashier, key=key(), paper=paper)
    assert second_refusal.code == "entered_already"
    site_back_entry.enter(EndBackEntry("carl"), by=boss, key=key())
    assert site_back_entry.mode_at(None) is None
    assert proofs.verify(Book.objects.get(name="house"), with_note=False).fault is None


def test_the_round_that_was_open_is_finished_from_paper(clock: Clock) -> None:
    """Harm: the power goes in mid-round, the cards are dealt out by hand, and nothing after it can be entered."""
    night = Night(clock)
    clock.stand(timezone.now() - timedelta(minutes=70))
    night.dealer.bets(seat1=1_000)
    clock.stand(timezone.now() + timedelta(minutes=70))
    night.begin()
    night.announce(minutes=64)
    night.dealer.cards(4, 3)
    assert refusal(night.announce).code == "pay_first"
    night.dealer.pay()
    night.enter_round()
    night.compare()
    night.end()
    verify(night.table)


def test_a_table_that_never_ends_it_is_closed_all_the_same(night: Night) -> None:
    """Harm: a mode that somebody forgot keeps a table from being closed."""
    night.begin()
    night.enter_round()
    night.announce(minutes=20)
    night.boss("close_table")
    assert not night.dealer.now.is_open
    assert night.dealer.now.back_entry is not None
    night.compare()
    night.end()
    verify(night.table)


def test_a_mode_that_stands_too_long_is_told(night: Night) -> None:
    """Harm: a table stays in back-entry over a shift's change, and the people who wrote the papers have left."""
    night.begin()
    assert site_back_entry.check_overdue(timezone.now()) == 0
    assert site_back_entry.check_overdue(timezone.now() + timedelta(hours=3)) == 1
    assert Alert.objects.get(kind="back_entry_stands").book == night.table.book


# --- what is refused --------------------------------------------------------------------------------------------


def test_two_people_of_two_roles_begin_back_entry_for_a_past_span(night: Night) -> None:
    """Harm: one person, or a role that the casino does not permit, enters records with an earlier time; or an event is
    later than its entry, or a week old."""
    codes = {"bella": "signed_already", "": "second_person", "nobody": "second_person", "pia": "wrong_role"}
    assert {second: refusal(night.begin, second=second).code for second in codes} == codes
    entered = BeginBackEntry("power", ago(60), ago(5), "dark", "bella")
    assert refusal(record, night.table, night.cashier, entered).code == "not_permitted"
    for since, until in ((5, 65), (30, 30), (60, -10), (8 * 24 * 60, 5)):
        assert refusal(night.begin, since, until).code == "bad_span", (since, until)
    assert night.dealer.now.back_entry is None


def test_paper_is_entered_in_back_entry_and_live_rounds_outside_of_it(night: Night) -> None:
    """Harm: an entry has an earlier time without the permission of two people; or a live round is recorded between two
    paper rounds and cannot be told apart later."""
    begun = BeginSlip("fill", ((2_500, 20),))
    paper = FromPaper("17", ago(40))
    assert refusal(night.sign, crew("requested"), begun, paper).code == "no_back_entry"
    assert refusal(night.announce).code == "no_back_entry"
    night.begin()
    for minutes in (66, 4, -1):
        outside = FromPaper("17", ago(minutes))
        assert refusal(night.sign, crew("requested"), begun, outside).code == "outside_outage"
    assert not night.dealer.now.slips
    assert refusal(night.dealer.bets, seat1=1_000).code == "paper_first"
    night.enter_round()
    assert refusal(night.dealer.bets, seat1=1_000).code == "paper_first"
    assert refusal(night.announce, minutes=55).code == "out_of_order"


def test_a_paper_is_entered_once_and_compared_by_another_person(night: Night) -> None:
    """Harm: one person gives both signatures; or one paper is keyed twice, once as a fill and once as rounds."""
    night.begin()
    night.enter_round()
    assert refusal(night.fill, "104").code == "other_paper"
    assert refusal(night.compare, by=night.dealer.by).code == "signed_already"
    assert refusal(night.compare, "105").code == "unknown_paper"
    assert refusal(night.end).code == "not_compared"
    night.compare()
    assert refusal(night.announce, minutes=20).code == "entered_already"
    night.end()
    night.dealer.bets(seat1=1_000)
    verify(night.table)


def test_who_dealt_a_round_after_a_relief_does_not_compare_its_paper(night: Night) -> None:
    """Harm: a dealer who took over in mid-round enters the rest of a paper and then gives its second signature, too."""
    relief, other = Hand(night.table, staff(Role.DEALER, "rita", "120")), staff(Role.DEALER, "ines", "121")
    night.begin()
    night.announce()
    night.dealer.bets(seat1=1_000)
    recorder.relieve(night.table, relief.by, "dora", confirmed_by=night.boss.by)
    relief.cards(4, 3)
    relief.pay()
    assert refusal(night.compare, by=night.dealer.by).code == "signed_already"
    refused = refusal(night.compare, by=relief.by)
    assert (refused.code, refused.status) == ("signed_already", 403)
    assert "Rita dealt a round of paper no. 104" in refused.sentence
    night.dealer = relief
    night.announce("105", minutes=30)
    night.round(4, 3)
    night.compare(by=other)
    night.compare("105", by=other)
    night.end()
    verify(night.table)


def test_a_house_shoe_deals_nothing_again(clock: Clock) -> None:
    """Harm: the house shoe draws cards for a round whose real cards were others."""
    night = Night(clock, source="house")
    night.begin()
    answer = refusal(night.announce)
    assert answer.code == "house_shoe"
    assert "Count the rack" in answer.sentence
    night.end()


def test_what_happened_before_a_count_is_in_the_count(night: Night) -> None:
    """Harm: a fill of paper moves chips a second time that a count has taken over already."""
    night.boss("close_table")
    night.begin()
    answer = refusal(night.fill)
    assert answer.code == "counted_since"
    assert "discrepancy" in answer.sentence


def test_a_wrong_time_is_announced_again(night: Night) -> None:
    """Harm: a slip of the finger in the time stands, because nothing was dealt yet and nothing takes it back."""
    night.begin()
    night.announce("103", minutes=20)
    night.announce("104", minutes=50)
    mode = night.dealer.now.back_entry
    assert mode is not None
    assert [(paper.number, paper.items) for paper in mode.papers] == [("104", 1)]
    night.round(4, 3)
    night.compare()
    night.end()
    verify(night.table)


# --- forged -----------------------------------------------------------------------------------------------------


def forgery(night: Night, kind: str, by: Staff, **changes: Any) -> str:
    """The fault found in a copy of the newest entry of this kind with some changes."""
    newest = LogEntry.objects.filter(book_id=night.table.book_id, subject="outage", kind=kind).latest("seq")
    content = {name: value for name, value in (newest.content | changes).items() if name != "request"}
    with transaction.atomic():
        head = book_log.lock(night.table.book_id)
        book_log.append(head, Draft("outage", kind, by.signature, content, round=newest.round))
        sentence = fault(night.table).what
        transaction.set_rollback(True)
    table_state.cache.clear()
    return sentence


def test_a_forged_beginning_is_named(night: Night) -> None:
    """Harm: a single signature or an impossible span is believed because it is in the log."""
    night.begin()
    night.end()
    bella = {"username": "bella", "name": "Bella", "badge": None, "role": "pit_boss"}
    forgeries: list[tuple[dict[str, Any], str]] = [
        ({"second": bella}, "another person has to sign"),
        ({"second": bella | {"username": "pia", "name": "Pia"}}, "another role"),
        ({"role": "dealer"}, "A pit boss or the cage manager"),
        ({"until": "2999-01-01T00:00Z"}, "has not come yet"),
        ({"since": "2001-01-01T00:00Z"}, "within 7 days"),
        ({"mode": None}, "stands otherwise"),
    ]
    for changes, sentence in forgeries:
        assert sentence in forgery(night, "back_entry_begun", night.boss.by, **changes)


def test_a_forged_entry_from_paper_and_a_forged_comparison_are_named(night: Night) -> None:
    """Harm: an entry has an earlier time without back-entry or outside of its span, or one person gives both
    signatures."""
    night.begin()
    night.fill()
    pia = crew("confirmed")
    assert "is outside of it" in forgery(night, "entered_from_paper", pia, happened="2999-01-01T00:00Z")
    night.compare("17", by=night.guard)
    night.announce("105", 20)
    signatory = {"username": "dora", "name": "Dora", "badge": "101", "role": "dealer"}
    assert "another person has to compare it" in forgery(
        night, "paper_compared", night.dealer.by, **signatory, number="105"
    )
    night.round(4, 3)
    night.compare("105")
    night.end()
    assert "has not begun here" in forgery(night, "entered_from_paper", pia)


def test_a_round_that_nobody_announced_is_named(night: Night) -> None:
    """Harm: a live round in back-entry passes for one of paper."""
    night.dealer("bet", seat=1, amount_cents=1_000)
    pinned = LogEntry.objects.filter(book_id=night.table.book_id, subject="round").latest("seq").content
    night.dealer("take_back")
    night.begin()
    with transaction.atomic():
        content = {name: value for name, value in pinned.items() if name != "request"}
        head = book_log.lock(night.table.book_id)
        book_log.append(head, Draft("round", "play", night.dealer.by.signature, content, round=1))
    assert "type the number of the paper" in fault(night.table).what


# --- killed in between ------------------------------------------------------------------------------------------


def test_a_signature_and_its_paper_are_one(night: Night, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: the server dies between a fill's signature and the word that it was from paper."""
    night.begin()
    posted, calls = cage.post, []

    def dies(head: Any, draft: Any, *rest: Any, **more: Any) -> Any:
        calls.append(draft.kind)
        if draft.kind == "entered_from_paper":
            raise OSError("the server is gone")
        return posted(head, draft, *rest, **more)

    monkeypatch.setattr(cage, "post", dies)
    before = night.dealer.now.seq
    with pytest.raises(OSError, match="gone"):
        night.sign(crew("requested"), BeginSlip("fill", ((2_500, 20),)), FromPaper("17", ago(40)))
    assert calls == ["fill_requested", "entered_from_paper"]
    monkeypatch.setattr(cage, "post", posted)
    table_state.cache.clear()
    assert night.dealer.now.seq == before
    assert not night.dealer.now.slips
    night.fill()
    night.compare("17", by=night.guard)
    night.end()
    verify(night.table)
