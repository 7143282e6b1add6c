"""Practice of every game with several wagers: what is asked is what the engine does, whatever the options are."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import settings as budget
from hypothesis import strategies as st

from dealer_ui.training import felt
from dealer_ui.training.options import options_of
from ledger.models import HOUSE, Book
from tables.audit import proofs
from tables.games.catalog import GAMES
from tables.games.play import replay
from tables.games.protocol import AskCard, AskChoice, Illegal
from tables.models import Practice, PracticeAnswer
from tables.refusals import Refused
from tables.roles import Role
from tables.setup import pay_tables
from tables.training import certificates, providers
from tables.training.card_practice import SpreadPractice
from tables.training.providers import PROVIDERS
from tables.training.questions import OVER, CourseSpec, Question
from tests import floor
from tests.pace import percent
from tests.tiers import sampled

pytestmark = pytest.mark.slow("sets up a house for each test")

HOUSE_GAMES = sorted(name for name, practised in PROVIDERS.items() if isinstance(practised, SpreadPractice))
seeds = st.text("0123456789abcdef", min_size=1, max_size=32)


@st.composite
def courses(draw: Any, game: str) -> CourseSpec:
    """A course of a game under any options that can be dealt."""
    options = {}
    for option in options_of(game, {}):
        values = [value for _, _, value in option.values]
        options[option.name] = draw(
            st.lists(st.sampled_from(values), unique=True) if option.several else st.sampled_from(values)
        )
    unit = draw(st.sampled_from((1, 100, 250)))
    practised = PROVIDERS[game]
    try:
        rules = msgspec.convert({**options, "unit": unit}, practised.game.rules_type)
        return practised.course(draw(seeds), 20, rules)
    except Illegal:
        assume(False)
        raise


def test_every_game_against_the_house_has_a_practice() -> None:
    """Harm: a game is spread, and nobody can learn to deal it."""
    assert set(PROVIDERS) == {name for name, game in GAMES.items() if game.kind == "banked"}


@pytest.mark.slow("walks every course")
@pytest.mark.parametrize("game", HOUSE_GAMES)
@budget(max_examples=percent(12))
@given(st.data())
def test_a_course_has_every_ending_and_asks_what_the_engine_does(game: str, data: Any) -> None:
    """Harm: a dealer is certified who never paid an insurance, learned a wrong commission or practised with a seat
    order that differs from the table's; or a question has no right answer, or two, or shows its answer on the
    layout."""
    course = data.draw(courses(game))
    questions = providers.script(course)
    assert questions == providers.script(msgspec.json.decode(msgspec.json.encode(course), type=CourseSpec)), (
        "it can be replayed"
    )
    practised = PROVIDERS[game]
    assert isinstance(practised, SpreadPractice)
    states = {question.round: question.state for question in questions}.values()
    for way, has_ended_so in practised.ways(practised.rules(course)).items():
        assert any(map(has_ended_so, states)), f"no round ends with {way}"
    rounds = defaultdict(list)
    for question in questions:
        rounds[question.round].append(question)
        assert question.rule
        _has_one_right_answer(question)
        _calls_whom_the_engine_asks(question)
    assert set(rounds) == set(range(1, course.rounds + 1))
    for round_ in rounds.values():
        _pays_as_the_engine(course, round_)
    for question in rounds[1] + rounds[course.rounds]:
        _shows_nothing_that_is_asked(course, question)


def _has_one_right_answer(question: Question) -> None:
    if question.pays:
        assert not question.answers
        return
    names = [answer.name for answer in question.answers]
    keys = [answer.key for answer in question.answers]
    assert names.count(question.right) == 1
    assert len(set(names)) == len(names) == len(set(keys)) == len({answer.words for answer in question.answers})
    assert len(names) > 1
    assert max(map(len, names)) <= PracticeAnswer._meta.get_field("answer").max_length


def _calls_whom_the_engine_asks(question: Question) -> None:
    if question.kind != "turn" or not (question.right.isdecimal() or question.right == OVER):
        return
    due = question.state.prompts[0] if question.state.prompts else None
    asks = str(due.seat) if isinstance(due, AskChoice) else str(due.to) if isinstance(due, AskCard) else OVER
    assert question.right == asks


def _pays_as_the_engine(course: CourseSpec, questions: list[Question]) -> None:
    """Assert that the questions of a round cover each payment of the engine once, and no others."""
    game, rules, end = GAMES[course.game], PROVIDERS[course.game].rules(course), questions[-1].state
    assert not end.prompts, "the round is not over at its last question"
    expected = {
        (payout.seat, wager.bet, wager.hand): str(wager.returned_cents - wager.staked_cents)
        for payout in game.settle(replay(game, rules, end.opening, end.actions))
        for wager in payout.wagers
    }
    payments = [(question.wager, question.right) for question in questions if question.pays]
    assert len(payments) == len(expected)
    assert {tuple(wager): right for wager, right in payments if wager} == expected
    assert all(int(right) % rules.unit == 0 for _, right in payments)


def _shows_nothing_that_is_asked(course: CourseSpec, question: Question) -> None:
    screen = felt.screen(course, question)
    assert all(not hand.says and not hand.acting for hand in screen.board.hands)
    for seat in screen.seats:
        assert not any(hand.says for hand in seat.box.hands)
        open_wagers = {spot.wager for spot in seat.box.spots if spot.outcome}
        assert open_wagers <= {payout.bet for payout in question.paid if payout.seat == seat.box.seat}
        assert (seat.box.outcome is not None) == seat.paid


# --- Sessions and certificates -----------------------------------------------------------------------------------


def finished(row: Practice) -> Practice:
    """A practice in which every answer is right."""
    for number, question in enumerate(certificates.session(row).questions, 1):
        PracticeAnswer.objects.create(practice=row, number=number, answer=question.right)
    return row


@pytest.mark.django_db
@pytest.mark.parametrize("game", sampled(HOUSE_GAMES, "answers a whole course"))
def test_a_certificate_of_a_game_opens_its_tables_alone(game: str, terms: Callable[..., None]) -> None:
    """Harm: whoever can deal one game deals another for money; or the proof does not hold what was practised."""
    boss, dealer = floor.staff(Role.PIT_BOSS, "bo", "305"), floor.staff(Role.DEALER, "tess", "102")
    terms(certificate_games=(game, "rocket"))
    title = GAMES[game].title
    with pytest.raises(Refused, match=f"A valid certificate for {title} is required"):
        certificates.refuse_uncertified(dealer, game)
    row = finished(certificates.start(dealer, game))
    certificate = certificates.certify(row, by=boss)
    assert (certificate.game, certificate.title) == (game, title)
    certificates.refuse_uncertified(dealer, game)
    with pytest.raises(Refused, match="for Rocket"):
        certificates.refuse_uncertified(dealer, "rocket")
    assert certificates.faults(certificate) == ""
    assert proofs.verify(Book.objects.get(name=HOUSE)).fault is None
    event = certificates.event_of(certificate)
    assert set(event.course["options"]) == set(GAMES[game].rules_type.__struct_fields__) - {"unit", "pays"}


@pytest.mark.django_db
def test_other_options_are_another_version_of_the_rules() -> None:
    """Harm: a certificate does not say that it was earned where a blackjack pays 6 to 5."""
    boss, dealer = floor.staff(Role.PIT_BOSS, "bo", "305"), floor.staff(Role.DEALER, "tess", "102")
    usual = certificates.certify(finished(certificates.start(dealer, "blackjack")), by=boss)
    six_to_five = certificates.start(dealer, "blackjack", {"blackjack_pays": "6:5"})
    certificate = certificates.certify(finished(six_to_five), by=boss)
    assert usual.rules_version != certificate.rules_version
    page = floor.client(dealer).get(f"/practice/certificates/{certificate.number}/").content.decode()
    assert "deals <b>Blackjack</b>" in page
    assert "blackjack pays <b>6:5</b>" in page


@pytest.mark.django_db
def test_a_practice_is_started_under_the_options_that_were_chosen() -> None:
    """Harm: a trainee chooses how a table deals, and practises something else; or a bad choice is an error page."""
    dealer = floor.staff(Role.DEALER, "tess", "102")
    client = floor.client(dealer)
    assert "Practice Baccarat" in client.get("/practice/?game=baccarat").content.decode()
    form = {"game": "baccarat", "commission": "ez", "decks": "6", "spread_asked": "1", "spread": ["tie", "dragon_7"]}
    assert client.post("/practice/", form).status_code == 302
    course = Practice.objects.get().course
    assert (course["game"], course["decks"], course["options"]["commission"]) == ("baccarat", 6, "ez")
    assert course["options"]["spread"] == ["tie", "dragon_7"]
    refused = client.post("/practice/", form | {"commission": "five_percent"})
    assert refused.status_code == 422
    assert "dragon_7 is spread with ez only" in refused.content.decode()
    for odd in ({"game": "monster"}, {"game": "?"}):
        assert client.post("/practice/", odd).status_code == 422
    assert Practice.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize("game", sampled(HOUSE_GAMES, "asks every question of a course"))
def test_every_question_has_a_page(game: str) -> None:
    """Harm: a practice that ends in an error page at its first split."""
    dealer = floor.staff(Role.DEALER, "tess", "102")
    client = floor.client(dealer)
    row = certificates.start(dealer, game)
    page = client.get(f"/practice/{row.pk}/").content.decode()
    for number, question in enumerate(certificates.session(row).questions[:40], 1):
        assert f'name="number" value="{number}"' in page
        assert f"Round <b>{question.round}</b> of {row.course['rounds']}" in page
        way = {"way": "take" if question.right.startswith("-") else "pay" if question.right != "0" else "back"}
        amount = {"amount": f"{abs(int(question.right)) / 100:g}"} if question.pays else {}
        form = {**way, **amount} if question.pays else {"answer": question.right}
        client.post(f"/practice/{row.pk}/answer", {"number": number, **form})
        page = client.get(f"/practice/{row.pk}/").content.decode()
        assert "✓ Right" in page


@pytest.mark.django_db
def test_a_practice_is_paid_as_its_table_is() -> None:
    """Harm: a dealer practises with other options than those of their assigned table, or is certified on payments that
    the table does not make."""
    operator, dealer = floor.staff(Role.OPERATOR, "olga"), floor.staff(Role.DEALER, "tess", "102")
    row = pay_tables.make("baccarat", "Long ties", {"tie": {"tie": "10:1"}}, by=operator)
    table = floor.table(game="baccarat", options={"decks": 6, "pays": pay_tables.option_of(row)})
    client = floor.client(dealer)
    page = client.get(f"/practice/?game=baccarat&table={table.pk}").content.decode()
    assert f"as at {table.name}" in page
    assert '<option value="6" selected>' in page
    assert "Paid by <b>Long ties</b> version 1" in page
    form = {"game": "baccarat", "unit_cents": 100, "pays_of": table.pk}
    assert client.post("/practice/", form).status_code == 302
    session = certificates.session(Practice.objects.get(dealer=dealer))
    paid = [question for question in session.questions if question.pays and "pays 10 to 1" in question.rule]
    assert paid
    assert "Long ties version 1" in client.get(f"/practice/{session.row.pk}/").content.decode()
