"""Closing a gaming day: who may, when, once; and what arrives for it later."""

from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from ledger import log, site_log
from ledger.log import Draft
from ledger.models import HOUSE, Book, LogEntry
from tables.audit import proofs
from tables.floor import inputs
from tables.log.catalog import described, read_as
from tables.log.entries.days import DayClosed, DayProposed
from tables.log.event import AuditFailure
from tables.log.message import text_of
from tables.models import DayClose, Staff, Terminal
from tables.refusals import Refused
from tables.reports import day_close, figures, gaming_hours
from tables.roles import Role
from tables.staff import terminal_keys
from tables.state import table_state
from tests import floor
from tests.clock import Clock
from tests.database import rollback
from tests.floor import Hand, dealt, signs
from tests.ready import ready_made
from tests.software_terminal import SoftwareTerminal, fills_in
from tests.tables.at_once import at_once
from tests.tables.reports.forged_closes import fault_of_close
from tests.tables.reports.test_figures import box, count, plays, record

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


@pytest.fixture
def noon(clock: Clock) -> datetime:
    """Set the clock to the middle of a day, so that a test does not run over the end of a real day."""
    moment = timezone.now().replace(hour=12, minute=0, second=0, microsecond=0) + timedelta(days=1)
    clock.stand(moment)
    return moment


def played() -> Hand:
    """A table at which a round was played and cash dropped; it is open."""
    hand = dealt(options={"decks": 6})[0]
    plays(hand)
    hand("sell_chips", amount_cents=10_000)
    return hand


@pytest.fixture
@ready_made
def dealer(noon: datetime) -> Hand:
    return played()


@pytest.fixture
@ready_made
def counted_dealer(noon: datetime) -> Hand:
    """The dealer of a closed table whose box is counted."""
    hand = played()
    Hand(hand.table, Staff.objects.get(username="bella"))("close_table")
    box(hand.table, cash=((10_000, 1),))
    return hand


@pytest.fixture
def boss(noon: datetime) -> Staff:
    """The pit boss of the table. The fixture of the table has to be named first."""
    return Staff.objects.get(username="bella")


@pytest.fixture
def operator(db: None) -> Staff:
    return floor.staff(Role.OPERATOR, "olga")


@pytest.fixture
def over(counted_dealer: Hand, noon: datetime, clock: Clock) -> date:
    """The day is over, and everything of it was counted."""
    clock.stand(noon + timedelta(days=1))
    return gaming_hours.day_of(noon)


def refused(call: Any) -> Refused:
    with pytest.raises(Refused) as refusal:
        call()
    return refusal.value


def closes(on: date, boss: Staff, operator: Staff) -> DayClose:
    return day_close.close(on, by=operator, digest=day_close.propose(on, by=boss).digest)


def test_two_people_close_a_day(over: date, boss: Staff, operator: Staff) -> None:
    """Harm: one person alone signs a day's win, or a button that is pressed twice signs twice."""
    proposed = day_close.propose(over, by=boss)
    assert [row["name"] for row in proposed.rows] == ["Rocket 1"]
    assert day_close.propose(over, by=boss).seq == proposed.seq
    row = day_close.close(over, by=operator, digest=proposed.digest)
    assert (row.day, row.proposed_by, row.closed_by) == (over, "bella", "olga")
    assert day_close.close(over, by=operator, digest=proposed.digest) == row
    assert refused(lambda: day_close.propose(over, by=boss)).code == "day_closed"
    colleague = floor.staff(Role.OPERATOR, "otto")
    assert refused(lambda: day_close.close(over, by=colleague, digest=proposed.digest)).code == "day_closed"
    closed_day = day_close.closed(over)
    assert closed_day is not None
    assert list(closed_day.as_closed) == [line.row() for line in closed_day.current.lines]
    assert not closed_day.adjustments
    assert proofs.verify(Book.objects.get(name=HOUSE)).fault is None
    body = LogEntry.objects.get(book__name=HOUSE, seq=row.seq).body
    assert text_of(described(read_as(DayClosed, body))) == f"Olga signs second: {over} is closed"


def test_the_roles_of_the_first_and_the_second_signature(over: date, boss: Staff) -> None:
    """Harm: the second signature is worthless because every role may give it."""
    digest = day_close.propose(over, by=boss).digest
    for role in Role:
        person = Staff(username="other", name="Other", role=role)
        if role != Role.PIT_BOSS:
            assert refused(lambda person=person: day_close.propose(over, by=person)).code == "not_permitted", role
        if role != Role.OPERATOR:
            refusal = refused(lambda person=person: day_close.close(over, by=person, digest=digest))
            assert refusal.code == "not_permitted", role


def test_nobody_signs_twice_whatever_their_role_became(over: date, boss: Staff) -> None:
    """Harm: a pit boss is made an operator overnight, and signs under their own figures."""
    digest = day_close.propose(over, by=boss).digest
    boss.role = Role.OPERATOR
    boss.save()
    assert refused(lambda: day_close.close(over, by=boss, digest=digest)).code == "signed_already"
    with pytest.raises(IntegrityError, match="tables_dayclose_by_two"), transaction.atomic():
        DayClose.objects.create(day=over, seq=1, proposed_by="bella", closed_by="bella", at=timezone.now())


def test_a_day_that_goes_on_is_not_closed(dealer: Hand, boss: Staff, noon: datetime) -> None:
    """Harm: what is played after the close belongs to no day."""
    assert refused(lambda: day_close.propose(gaming_hours.day_of(noon), by=boss)).code == "day_goes_on"


def test_a_day_waits_for_the_closer_and_the_boxes(dealer: Hand, boss: Staff, noon: datetime, clock: Clock) -> None:
    """Harm: figures that nobody counted are signed as if somebody had."""
    on = gaming_hours.day_of(noon)
    clock.stand(noon + timedelta(days=1))
    sentence = refused(lambda: day_close.propose(on, by=boss)).sentence
    assert "Rocket 1 was open at the end" in sentence
    assert "A drop box of Rocket 1 is not counted" in sentence
    Hand(dealer.table, boss)("close_table")
    box(dealer.table, cash=(), counted=False)
    reasons = day_close.open_matters(on)
    assert reasons == ["A drop box of Rocket 1 is not counted: remove it, and have it counted twice."]
    count(dealer.table, table_state.of(dealer.table).slips[-1].name, ((10_000, 1),))
    assert day_close.open_matters(on) == []


def test_a_day_waits_for_its_slips(over: date, counted_dealer: Hand, boss: Staff, noon: datetime, clock: Clock) -> None:
    """Harm: the day is closed while a fill is in transit, which is in no table's figures."""
    clock.stand(noon + timedelta(hours=25))
    Hand(counted_dealer.table, boss)("open_table")
    clock.stand(noon + timedelta(hours=26))
    signs(counted_dealer.table, floor.crew("requested"), inputs.BeginSlip("fill", ((500, 20),)))
    assert day_close.open_matters(over) == []
    on = gaming_hours.day_of(noon + timedelta(hours=26))
    assert "fill/" in " ".join(day_close.open_matters(on))


def test_figures_that_changed_since_the_first_signature_are_signed_anew(
    over: date, boss: Staff, operator: Staff, monkeypatch: Any
) -> None:
    """Harm: the second person signs other figures than the first, or than they saw."""
    proposal = day_close.propose(over, by=boss)
    assert refused(lambda: day_close.close(over, by=operator, digest="0" * 64)).code == "figures_changed"
    monkeypatch.setattr(figures, "_only_edge", lambda table, worths: None)
    assert refused(lambda: day_close.close(over, by=operator, digest=proposal.digest)).code == "figures_changed"
    again = day_close.propose(over, by=boss)
    assert again.seq > proposal.seq
    assert day_close.close(over, by=operator, digest=again.digest).day == over


def test_a_first_signature_is_found_however_many_follow(over: date, boss: Staff, operator: Staff) -> None:
    """Harm: a day that stayed open while others were signed loses its first signature: it can no longer be closed
    with it, and no operator is asked to."""
    proposal = day_close.propose(over, by=boss)
    content = day_close._figures(over)._asdict() | boss.signatory.unbadged
    later = [over + timedelta(days=number) for number in range(1, 61)]
    for day in later:
        log.append(site_log.lock(), Draft("day", "proposed", boss.signature, content | {"day": day.isoformat()}))
    assert day_close.proposal(over) == proposal
    assert [each.day for each in day_close.half_signed()] == [*reversed(later), over]
    day_close.close(over, by=operator, digest=proposal.digest)
    assert [each.day for each in day_close.half_signed()] == later[::-1]
    assert day_close.proposal(later[-1] + timedelta(days=1)) is None


def test_a_later_change_is_an_adjustment(
    over: date, counted_dealer: Hand, boss: Staff, operator: Staff, clock: Clock
) -> None:
    """Harm: a closed day's figures change silently, or a payout error found later counts for another day."""
    closes(over, boss, operator)
    before = day_close.closed(over)
    assert before is not None
    clock.stand(timezone.now() + timedelta(hours=1))
    Hand(counted_dealer.table, boss)("open_table")
    correct(counted_dealer, boss)
    closed_day = day_close.closed(over)
    assert closed_day is not None
    assert closed_day.as_closed == before.as_closed
    [late] = closed_day.adjustments
    assert late.what == "correction of round 1"
    assert late.cents != 0
    assert closed_day.current.lines[0].win_cents == int(closed_day.as_closed[0]["win_cents"]) + late.cents


def correct(dealer: Hand, boss: Staff) -> None:
    """The seat that was paid 3 too little gets them."""
    won = dealer.now.round
    assert won is not None
    seat = won.settled[0].seat
    handed = won.settled[0].net_cents - 300 if won.settled[0].net_cents > 0 else won.settled[0].net_cents + 300
    proposed = inputs.ProposeCorrection(1, seat, handed, "Paid wrong by 3")

    record(dealer.table, proposed, boss)
    slip = f"correction/{timezone.localtime().year}/1"
    record(dealer.table, inputs.SignCorrection(slip), floor.staff(Role.PIT_BOSS, "bert"))


# --- What a forger may try ------------------------------------------------------------------------------------


def forged(on: date, basis: day_close.DayProposal, **changed: Any) -> None:
    """A close as the ledger would write it, with its row, but for some of what it says."""
    content = {
        "day": on.isoformat(), "figures": list(basis.rows), "digest": basis.digest,
        "through": {row["name"]: 1 for row in basis.rows}, "username": "olga",
        "name": "Olga", "role": "operator", "proposal": basis.seq, "proposed_by": basis.signer.username,
    } | changed  # fmt: skip
    with transaction.atomic():
        seq = log.append(site_log.lock(), Draft("day", "closed", "olga Olga", content)).seq
    DayClose.objects.create(day=on, seq=seq, proposed_by="bella", closed_by="olga", at=timezone.now())


def house_fault() -> str:
    fault = proofs.verify(Book.objects.get(name=HOUSE)).fault
    assert fault is not None
    return fault.what


def test_a_forged_close_is_found(over: date, boss: Staff, operator: Staff) -> None:
    """Harm: a day is closed with other figures, or by one person, and the proof accepts it."""
    proposal = day_close.propose(over, by=boss)
    forgeries: list[tuple[dict[str, Any], str]] = [
        ({"username": "bella"}, "signed by bella Olga, and olga Olga wrote it"),
        ({"proposed_by": "omar"}, "as it is kept beside the log"),
        ({"day": "2020-01-01"}, "as it is kept beside the log"),
        ({"proposal": 1}, "nobody proposed"),
        ({"digest": "0" * 64}, "not those that were signed first"),
        ({"figures": []}, "not those that its digest names"),
        ({"role": "pit_boss"}, "Olga may not sign it as pit_boss"),
        ({"name": "Otto"}, "signed by olga Otto, and olga Olga wrote it"),
    ]
    for change, sentence in forgeries:
        with rollback():
            forged(over, proposal, **change)
            assert sentence in house_fault(), change


def test_a_forged_first_signature_is_found(over: date, boss: Staff, operator: Staff) -> None:
    """Harm: an operator signs under figures that do not add up, come too early, or have a first signature by a person
    without permission."""
    content = day_close._figures(over)._asdict() | boss.signatory.unbadged
    [row] = content["figures"]
    inflated = content | {"figures": [row | {"win_cents": 10**9}]}
    values = (inflated[name] for name in ("figures", "cash", "cash_by_shift"))
    forgeries: list[tuple[dict[str, Any], str]] = [
        (content | {"role": "operator"}, "Bella may not sign it as operator"),
        (content | {"name": "Otto"}, "signed by bella Otto, and bella Bella wrote it"),
        (content | {"day": "2999-01-01"}, "not those that its digest names"),
        (content | {"figures": []}, "not those that its digest names"),
        (content | {"through": {}}, "not those of the books that it read"),
        (
            inflated | {"digest": day_close.digest_of(content["day"], *values)},
            "Rocket 1 won 1000000000 by it, its parts come to",
        ),
    ]
    for forgery, sentence in forgeries:
        with rollback():
            log.append(site_log.lock(), Draft("day", "proposed", "bella Bella", forgery))
            assert sentence in house_fault()
    with rollback():
        log.append(site_log.lock(), Draft("day", "proposed", "102 Maria Bella", content))
        assert "signed by 102 Bella, and 102 Maria Bella wrote it" in house_fault()
    closes(over, boss, operator)
    log.append(site_log.lock(), Draft("day", "proposed", "bella Bella", content))
    assert "of a day that was closed before" in house_fault()


def test_a_first_signature_under_a_day_that_goes_on_is_found(over: date, boss: Staff) -> None:
    """Harm: figures are signed before the day's last round, and nobody signs the rest."""
    proposal = day_close.propose(over, by=boss)
    [entry] = log.entries(Book.objects.get(name=HOUSE).pk, proposal.seq - 1, proposal.seq)
    event = read_as(DayProposed, entry.body)
    day_close.check_proposal(event, entry)
    with pytest.raises(AuditFailure, match="of a day that goes on"):
        day_close.check_proposal(event, replace(entry, at=gaming_hours.span(over).end - timedelta(seconds=1)))


def test_figures_that_two_people_invented_are_found(over: date, boss: Staff, operator: Staff) -> None:
    """Harm: two people sign a win that no round supports, or leave out the table that lost most, and every later total
    starts from it."""
    content = day_close._figures(over)._asdict()
    [row] = content["figures"]
    for additions in ({"closer_cents": 100, "win_cents": 100}, {"rounds": 1}, {"open_seconds": -60}):
        invented = {name: row[name] + amount for name, amount in additions.items()}
        with rollback():
            fault_text = fault_of_close(over, content | {"figures": [row | invented]}, boss, operator)
        name = next(iter(additions))
        assert f"Rocket 1: its {name} is {invented[name]}, and the log has {row[name]}" in fault_text
    fault_text = fault_of_close(over, content | {"figures": [], "through": {}}, boss, operator)
    assert "the log of Rocket 1 was not read to the end of the day" in fault_text


# --- At the same moment ---------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_a_day_is_closed_once_by_whoever_comes_first(over: date, boss: Staff, operator: Staff) -> None:
    """Harm: two operators close one day, over figures of two moments."""
    proposals = at_once(*[lambda: day_close.propose(over, by=boss)] * 4)
    assert len({proposal.seq for proposal in proposals}) == 1
    digest = proposals[0].digest
    operators = [operator, floor.staff(Role.OPERATOR, "otto")]
    results = at_once(*[lambda by=by: day_close.close(over, by=by, digest=digest) for by in operators * 2])
    assert DayClose.objects.count() == 1
    assert {result.code for result in results if isinstance(result, Refused)} == {"day_closed"}
    assert len({result.pk for result in results if isinstance(result, DayClose)}) == 1
    assert LogEntry.objects.filter(book__name=HOUSE, subject="day", kind="closed").count() == 1


@pytest.mark.slow("closes a day with every terminal's signature")
def test_terminals_sign_a_days_figures(over: date, operator: Staff) -> None:
    """Harm: figures that five people counted are closed by whoever has the database's password, signed by two."""
    boss, second = floor.staff(Role.PIT_BOSS, "bo", "301"), floor.staff(Role.OPERATOR, "omar", "302")
    browser = floor.client(boss)
    terminal = SoftwareTerminal(Terminal.objects.latest("pk").name)
    terminal.makes_key(operator)
    terminal_keys.demand(by=operator)
    assert refused(lambda: day_close.propose(over, by=boss)).code == "not_attested"
    credentials, url = {"badge": "301", "pin": floor.PIN}, f"/pit/reports/{over}/close"

    def page() -> str:
        return browser.get("/pit/reports/", {"day": str(over)}).content.decode()

    form = fills_in(terminal, page(), credentials)
    wrong = fills_in(terminal, page().replace(str(over), "2026-01-01"), credentials)
    browser.post(url, wrong)
    assert "signature does not hold" in page()
    browser.post(url, wrong | {"pin": "9999"})
    assert "signature does not hold" in page(), "a wrong PIN is answered otherwise than a right one"
    assert day_close.proposal(over) is None
    browser.post(url, form)
    proposed = day_close.proposal(over)
    assert proposed is not None
    closes_it = {"badge": "302", "pin": floor.PIN, "digest": proposed.digest}
    browser.post(url, closes_it)
    assert "This terminal did not sign" in page()
    assert day_close.closed(over) is None
    browser.post(url, fills_in(terminal, page(), closes_it))
    closed_day = day_close.closed(over)
    assert closed_day is not None
    assert closed_day.close.closed_by == second.username
    assert proofs.verify(Book.objects.get(name=HOUSE)).fault is None
