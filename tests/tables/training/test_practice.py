"""Practice: what is asked and scored, by the engine; and certificates, which the floor may ask for at a table."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from hypothesis import given
from hypothesis import settings as budget
from hypothesis import strategies as st
from msgspec import structs

from dealer_ui.training import felt
from ledger import log, site_log
from ledger.log import Draft
from ledger.models import HOUSE, Book, Transfer
from tables.audit import proofs
from tables.floor import recorder
from tables.floor.inputs import SignIn
from tables.games.rocket import Rocket
from tables.models import Certificate, Practice, PracticeAnswer, Staff
from tables.refusals import Refused
from tables.roles import Role
from tables.training import certificates, providers
from tables.training.questions import CourseSpec, score
from tables.training.rocket import KINDS
from tests import floor
from tests.pace import percent

pytestmark = pytest.mark.slow("deals by chance")

seeds = st.text("0123456789abcdef", min_size=1, max_size=32)


@budget(max_examples=percent(15))
@given(seeds)
def test_every_course_has_every_kind_of_ending_and_asks_what_the_engine_pays(seed: str) -> None:
    """Harm: a dealer who is certified without ever having paid a sudden death; or is taught a wrong payment."""
    course = CourseSpec(seed)
    questions = providers.script(course)
    assert questions == providers.script(course), "a session can be played again"
    states = {question.round: question.state for question in questions}.values()
    assert {payout.outcome for state in states for payout in Rocket().settle(state)} == set(KINDS)
    assert {question.round for question in questions} == set(range(1, course.rounds + 1))
    for question in questions:
        if question.pays:
            (payout,) = (settled for settled in Rocket().settle(question.state) if settled.seat == question.seat)
            assert question.right == str(payout.returned_cents - payout.staked_cents)
            tenth = payout.staked_cents // 10
            assert int(question.right) % tenth == 0
            assert 1 <= abs(int(question.right)) // tenth <= 10


@budget(max_examples=percent(25))
@given(seeds, st.data())
def test_the_score_is_the_share_of_right_answers_and_each_mistake_costs_one(seed: str, data: Any) -> None:
    """Harm: a pass that was none, or a mistake that nobody sees."""
    questions = providers.script(CourseSpec(seed, rounds=4))
    wrong = data.draw(st.sets(st.integers(0, len(questions) - 1)))
    answers = [
        question.right if index not in wrong else "0" if question.pays else "?"
        for index, question in enumerate(questions)
    ]
    result = score(questions, answers)
    assert result.asked == len(questions)
    assert result.right == len(questions) - len(wrong)
    assert result.passes(100) == (not wrong)
    parts = ((result.steps_right, result.steps), (result.payouts_right, result.payouts))
    assert result.passes(95) == all(20 * right >= 19 * count for right, count in parts)
    assert score(questions, answers[:5]).asked == 5


# --- Sessions and certificates ---------------------------------------------------------------------------------


@pytest.fixture
def boss() -> Staff:
    return floor.staff(Role.PIT_BOSS, "bo", "305")


@pytest.fixture
def dealer() -> Staff:
    return floor.staff(Role.DEALER, "tess", "102")


def finished(dealer: Staff, wrong: int = 0) -> Practice:
    """A practice whose first so many answers are wrong."""
    row = certificates.start(dealer)
    questions = certificates.session(row).questions
    for index, question in enumerate(questions):
        answer = question.right if index >= wrong else ("0" if question.right != "0" else "1")
        answer = "on" if index < wrong and question.kind == "called" and question.right != "on" else answer
        answer = "pair" if index < wrong and question.kind == "called" and question.right == "on" else answer
        PracticeAnswer.objects.create(practice=row, number=index + 1, answer=answer)
    return row


def test_rockets_felt_shows_nothing_that_is_asked() -> None:
    """Harm: a seat's net stands on the felt before the trainee has said it, and whoever reads it is certified."""
    for question in providers.script(CourseSpec("felt", 8)):
        drawn = felt.screen(CourseSpec("felt", 8), question)
        settled = {seat.box.seat for seat in drawn.seats if seat.box.outcome}
        assert settled == question.settled
        assert all(seat.box.bet_cents and not seat.paid for seat in drawn.seats if seat.box.seat not in settled)


@pytest.mark.django_db
def test_answers_are_given_once_in_order_and_by_the_trainee_alone(dealer: Staff) -> None:
    """Harm: a wrong answer that is quietly given again, or somebody else's practice."""
    row = certificates.start(dealer)
    question = certificates.session(row).questions[0]
    assert certificates.answer(row, 1, question.right, by=dealer)
    for number, by, answer in ((1, dealer, question.right), (3, dealer, "0"), (2, dealer, "nonsense")):
        with pytest.raises(Refused):
            certificates.answer(row, number, answer, by=by)
    with pytest.raises(Refused, match="somebody else's"):
        certificates.answer(row, 2, "0", by=floor.staff(Role.DEALER, "dan"))
    assert certificates.session(row).answers == (question.right,)


@pytest.mark.django_db
def test_a_certificate_is_signed_once_by_the_floor_and_stands_for_good(dealer: Staff, boss: Staff) -> None:
    """Harm: dealers who certify themselves, a certificate below the mark, one that is changed later."""
    row, before = finished(dealer), Transfer.objects.count()
    for signer in (dealer, floor.staff(Role.OPERATOR, "otto")):
        with pytest.raises(Refused, match="pit boss"):
            certificates.certify(row, by=signer)
    certificate = certificates.certify(row, by=boss)
    assert (certificate.number, certificate.answers_right) == (1, certificate.answers_asked)
    with pytest.raises(Refused, match="already"):
        certificates.certify(row, by=boss)
    with pytest.raises(Refused, match="of each have to be"):
        certificates.certify(finished(dealer, wrong=40), by=boss)
    with pytest.raises(Refused, match="not over"):
        certificates.certify(certificates.start(dealer), by=boss)
    assert certificates.certify(finished(dealer), by=boss).number == 2
    with pytest.raises(DatabaseError), transaction.atomic():
        Certificate.objects.create(
            number=3, seq=99, practice=certificates.start(dealer), dealer=dealer, game="rocket", rules_version="1",
            answers_right=1, answers_asked=1, signed_by=dealer, signed_as="x", on_day=certificate.on_day,
            valid_through=certificate.on_day,
        )  # fmt: skip
    assert Transfer.objects.count() == before, "no chip moves in practice"
    assert proofs.verify(Book.objects.get(name=HOUSE)).fault is None


@pytest.mark.django_db
def test_a_forged_certificate_is_found(dealer: Staff, boss: Staff) -> None:
    """Harm: an entry that certifies somebody who passed nothing."""
    certificate = certificates.certify(finished(dealer), by=boss)
    event = structs.replace(certificates.event_of(certificate), number=2)
    with transaction.atomic():
        log.append(site_log.lock(), Draft.of(event, boss.signature))
    fault = proofs.verify(Book.objects.get(name=HOUSE)).fault
    assert fault is not None
    assert "as it is kept beside the log" in fault.what
    assert certificates.faults(certificate) == ""
    certificate.answers_right -= 1
    assert "answers of its practice are right" in certificates.faults(certificate)


@pytest.mark.django_db
def test_a_table_can_ask_for_a_certificate(dealer: Staff, boss: Staff, terms: Callable[..., None]) -> None:
    """Harm: somebody deals for money who never showed that they can, or all stand still when nothing is asked."""
    hand, _ = floor.dealt()
    table = hand.table
    hand("sign_out")
    certificates.refuse_uncertified(dealer, table.game)
    terms(certificate_games=("rocket",))
    entry = SignIn(None)
    with pytest.raises(Refused, match="A valid certificate for Rocket is required"):
        recorder.record(table, entry, by=dealer, key=uuid.uuid4(), expected_seq=None)
    terms(certificate_games=("rocket",), certificate_days=-1)
    certificates.certify(finished(dealer), by=boss)
    assert not certificates.valid(dealer, "rocket"), "it has run out"
    terms(certificate_games=("rocket",), certificate_days=0)
    certificates.certify(finished(dealer), by=boss)
    recorder.record(table, entry, by=dealer, key=uuid.uuid4(), expected_seq=None)
    certificates.refuse_uncertified(dealer, "monster")


@pytest.mark.django_db
def test_the_screens_say_practice_and_lead_to_a_certificate(dealer: Staff, boss: Staff) -> None:
    """Harm: a practice that is taken for a table, or ends nowhere."""
    client = floor.client(dealer)
    path = client.post("/practice/")["Location"]
    page = client.get(path).content.decode()
    assert "PRACTICE" in page
    assert "Who is next?" in page
    client.post(f"{path}answer", {"number": "1", "answer": "over"})
    assert "✗ Wrong" in client.get(path).content.decode()
    row = finished(dealer)
    address = f"/practice/{row.pk}/"
    assert "Sign the certificate" in client.get(address).content.decode()
    assert client.post(f"{address}certify", {"badge": "102", "pin": floor.PIN}).status_code == 403
    signed = client.post(f"{address}certify", {"badge": "305", "pin": floor.PIN})
    assert signed["Location"] == "/practice/certificates/1/"
    assert "Certificate 1" in client.get(signed["Location"]).content.decode()
    dan = floor.client(floor.staff(Role.DEALER, "dan"))
    assert dan.get(address).status_code == 403
    dan.force_login(boss, backend="django.contrib.auth.backends.ModelBackend")
    assert "Every question and answer" in dan.get(address).content.decode()
    assert "Certificate" in dan.get("/practice/certificates/").content.decode()
