"""A table whose game nobody deals here: its chips, what its counts tell, and what it refuses."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from dealer_ui.placards.reading import placard_of
from ledger import cage, inspection
from ledger.models import Account, Alert, Book, Discrepancy, Transfer
from tables import dealing
from tables.audit import proofs
from tables.board.picture import board
from tables.day import figures, hours, inventory
from tables.disputes import moments, register
from tables.inputs import AcceptBet, AnnounceRound, BeginSlip, CloseDispute, DisputeInput, OpenDispute, RuleDispute
from tables.models import Staff
from tables.refusals import Refused
from tables.roles import Role
from tables.setup import limit_plans, limits, table_settings
from tables.slips import cage_desk
from tests import floor
from tests.clock import Clock
from tests.floor import Hand
from tests.ready import ready_made
from tests.tables.setup.test_limit_plans import drafted
from tests.tables.wheel import wheel as roulette

pytestmark = pytest.mark.slow("sets up a house for each test")

RACK_CENTS = floor.FLOAT_CENTS - floor.POCKET_CENTS


@pytest.fixture
@ready_made
def wheel(db: None) -> tuple[Hand, Hand]:
    """A roulette table that is open, with its dealer: the dealer's hand and the pit boss's."""
    made = roulette()
    boss = Hand(made, floor.staff(Role.PIT_BOSS, "bella"))
    boss("open_table")
    dora = floor.staff(Role.DEALER, "dora", "101")
    dealing.sign_in(made, dora)
    return Hand(made, dora), boss


def in_place(hand: Hand, place: str) -> int:
    return cage.balance(Account.objects.get(book_id=hand.table.book_id, place=place))


def kinds(hand: Hand) -> list[tuple[str, int]]:
    """What was moved at the table since its first fill."""
    transfers = Transfer.objects.filter(book_id=hand.table.book_id).order_by("seq", "leg")
    return [move for move in transfers.values_list("kind", "amount_cents") if not move[0].startswith("fill")]


def is_proved(hand: Hand) -> bool:
    return proofs.verify(Book.objects.get(pk=hand.table.book_id)).fault is None


def test_what_it_won_shows_when_its_rack_is_counted(wheel: tuple[Hand, Hand]) -> None:
    """Harm: a table's win is booked as a surplus that somebody has to explain, or is in no figure at all."""
    dealer, boss = wheel
    dealer("sell_chips", amount_cents=60_000)
    floor.counted(boss, "rack", over_cents=25_000)
    assert kinds(dealer)[-1] == ("table_win", 25_000)
    floor.counted(boss, "closer", over_cents=-40_000)
    assert kinds(dealer)[-1] == ("table_loss", 40_000)
    assert not Discrepancy.objects.exists()
    [line] = figures.day(hours.day_of(timezone.now()), [dealer.table]).lines
    assert (line.game, line.drop_cents, line.win_cents) == ("Roulette", 60_000, 60_000 + 25_000 - 40_000 - 60_000)
    assert inventory.on(hours.day_of(timezone.now())).agrees
    assert is_proved(dealer)


def test_an_opener_that_differs_is_a_discrepancy_as_anywhere(wheel: tuple[Hand, Hand]) -> None:
    """Harm: chips that went missing from a locked rack overnight are told as what players won."""
    dealer, boss = wheel
    boss("close_table")
    floor.counted(boss, "opener", over_cents=-500)
    assert kinds(dealer)[-1] == ("short", 500)
    assert [found.amount_cents for found in Discrepancy.objects.all()] == [-500]


def test_a_dealt_rack_that_is_off_stays_a_discrepancy(hands: tuple[Hand, Hand]) -> None:
    """Harm: where every round is known, a shortage disappears in the win."""
    dealer, boss = hands
    floor.counted(boss, "rack", over_cents=-500)
    assert kinds(dealer)[-1] == ("short", 500)


def test_chips_are_sold_though_the_transfers_have_none_left(wheel: tuple[Hand, Hand]) -> None:
    """Harm: players' losses lie in the rack before the dealer's eyes, and the system refuses to sell them."""
    dealer, boss = wheel
    dealer("sell_chips", amount_cents=RACK_CENTS - 10_000)
    dealer("sell_chips", amount_cents=50_000)
    assert kinds(dealer)[-3:] == [("table_win", 40_000), ("buy_in", 50_000), ("drop", 50_000)]
    assert in_place(dealer, "rack") == 0
    floor.counted(boss, "closer", over_cents=70_000)
    [line] = figures.day(hours.day_of(timezone.now()), [dealer.table]).lines
    assert line.win_cents == 40_000 + 70_000
    assert is_proved(dealer)


def test_a_sale_that_brought_chips_back_is_undone_whole(wheel: tuple[Hand, Hand]) -> None:
    """Harm: a wrong key leaves a win behind that nobody made."""
    dealer, _ = wheel
    before = in_place(dealer, "rack"), in_place(dealer, "players")
    sold = dealer("sell_chips", amount_cents=RACK_CENTS + 30_000)
    dealer("undo_sale", sale=sold.entry)
    assert (in_place(dealer, "rack"), in_place(dealer, "players")) == before
    assert is_proved(dealer)


def test_winnings_of_an_uncounted_table_are_redeemed_and_no_more(wheel: tuple[Hand, Hand]) -> None:
    """Harm: a player who won at roulette is refused at the cage; or chips that no table can have lost are paid for."""
    _, boss = wheel
    cashier = floor.crew("issued")
    cage_desk.sell(2_000_000, by=cashier, key=uuid4())
    floor.counted(boss, "rack", over_cents=floor.POCKET_CENTS + 2_000_000)
    assert cage.held_by_players() == 0
    cage_desk.redeem(200_000, by=cashier, key=uuid4())
    inspection.inspect_house()
    assert not Alert.objects.filter(kind="negative").exists()
    floor.counted(boss, "closer", over_cents=-200_000)
    assert cage.held_by_players() == 0
    with pytest.raises(Refused, match="cannot be redeemed"):
        cage_desk.redeem(10_000, by=cashier, key=uuid4())


def test_a_closer_that_tells_too_much_is_seen_over_all_tables(wheel: tuple[Hand, Hand]) -> None:
    """Harm: a count of chips that nobody lost makes a win, and nothing ever contradicts it."""
    _, boss = wheel
    floor.counted(boss, "closer", over_cents=floor.POCKET_CENTS + 5_000)
    inspection.inspect_house()
    assert Alert.objects.filter(kind="negative").count() == 1


@pytest.mark.parametrize(
    "entered",
    [
        {"do": "load_shoe"}, {"do": "bet", "seat": 1, "amount_cents": 1_000}, {"do": "close_bets"}, {"do": "deal"},
        {"do": "card", "rank": 3}, {"do": "start_game", "seats": (1,)}, {"do": "burn"}, {"do": "shuffle_shoe"},
        {"do": "take_back"}, {"do": "buy_in", "seat": 1, "amount_cents": 1_000}, {"do": "cut_card_out"},
        {"do": "check_decks", "counts": (1,)}, {"do": "retire_shoe"}, {"do": "paid", "seat": 1},
    ],
    ids=lambda entered: str(entered["do"]),
)  # fmt: skip
def test_nothing_is_dealt(wheel: tuple[Hand, Hand], entered: dict[str, object]) -> None:
    """Harm: a key of another table's screen opens a round that no engine can settle, or ends in a server error."""
    dealer, _ = wheel
    seq = dealer.now.seq
    with pytest.raises(Refused) as refused:
        dealer(**entered)
    assert refused.value.sentence
    assert dealer.now.seq == seq


@pytest.mark.parametrize("entered", [AnnounceRound("17", timezone.now()), AcceptBet(1, 90_000)], ids=["paper", "bet"])
def test_no_round_comes_by_another_door(wheel: tuple[Hand, Hand], entered: AnnounceRound | AcceptBet) -> None:
    """Harm: a round is announced from paper, or a bet accepted over the limit, where nothing can ever settle it."""
    dealer, boss = wheel
    by = dealer.by if isinstance(entered, AnnounceRound) else boss.by
    with pytest.raises(Refused, match="No rounds are entered at this table"):
        dealing.record(dealer.table, entered, by=by, key=uuid4(), expected_seq=dealer.now.seq)


def test_its_board_says_what_is_left(wheel: tuple[Hand, Hand]) -> None:
    """Harm: the dealer's screen asks for a shoe that nobody has."""
    dealer, boss = wheel
    drawn = dealer.board
    assert (drawn.due, drawn.kind, drawn.round_open, drawn.buttons, drawn.prompts) == (
        "counted",
        "counted",
        False,
        (),
        (),
    )
    assert len(drawn.seats) == 6
    assert board(dealer.table, boss.by).due == "counted"


def test_an_open_table_keeps_its_way_of_knowing_its_win(wheel: tuple[Hand, Hand], operator: Staff) -> None:
    """Harm: a table is set to another game in mid-play, and what it won until then is called a shortage."""
    dealer, boss = wheel
    with pytest.raises(Refused, match="Close the table first"):
        table_settings.change_table(dealer.table, {"game": "rocket", "options": {}}, by=operator)
    boss("close_table")
    table_settings.change_table(dealer.table, {"game": "rocket", "options": {}, "min_cents": 1_000}, by=operator)
    assert is_proved(dealer)


def test_a_credit_of_more_than_was_counted_asks_for_a_count(wheel: tuple[Hand, Hand]) -> None:
    """Harm: chips leave a rack that the transfers do not have in it; or whoever asks is told no way on."""
    dealer, boss = wheel
    chips = ((10_000, 200),)
    with pytest.raises(Refused, match="count it first"):
        floor.signs(dealer.table, boss.by, BeginSlip("credit", chips))


def test_its_placard_says_its_wagers_and_not_the_hold(wheel: tuple[Hand, Hand]) -> None:
    """Harm: the sign of a roulette table says nothing, or tells players what the house usually keeps."""
    placard = placard_of(wheel[0].table)
    assert placard.game == "Roulette"
    assert [(rule.title, rule.value) for rule in placard.rules] == [
        ("Straight up", "35 to 1"),
        ("Red or black", "evens"),
    ]


# --- disputes ---------------------------------------------------------------------------------------------------


def writes(hand: Hand, entered: DisputeInput) -> None:
    dealing.record(hand.table, entered, by=hand.by, key=uuid4(), expected_seq=None)


def claims_at(dealer: Hand, minutes_ago: int = 5, **others: Any) -> None:
    moment = timezone.localtime() - timedelta(minutes=minutes_ago)
    facts = {"round": 0, "claim": "Paid 17 to 1", "claimant": "The player", "claim_cents": 9_000}
    writes(dealer, OpenDispute(**facts | {"happened": f"{moment:%Y-%m-%dT%H:%M}"} | others))


def test_a_dispute_names_a_moment_and_its_evidence_is_the_log(wheel: tuple[Hand, Hand]) -> None:
    """Harm: a player at roulette is paid wrongly, and there is no paper of the claim, the ruling and the payment."""
    dealer, boss = wheel
    dealer("sell_chips", amount_cents=20_000)
    claims_at(dealer, seat=3)
    [dispute] = register.as_of(dealer.table.book_id, dealer.now.seq).open
    assert (dispute.round, dispute.seat, dispute.record_hash) == (0, 3, None)
    assert dispute.last_seq == dealer.now.seq - 1
    assert moments.holds(dealer.table.book_id, dispute)
    with pytest.raises(Refused, match="No round is to be void"):
        writes(boss, RuleDispute(1, "void", "so"))
    writes(boss, RuleDispute(1, "player", "The camera shows it"))
    with pytest.raises(Refused, match="how it was settled"):
        writes(boss, CloseDispute(1))
    writes(boss, CloseDispute(1, "Paid 180 from the rack"))
    assert not register.as_of(dealer.table.book_id, dealer.now.seq).open
    assert is_proved(dealer)


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        ({"round": 1}, "unknown_round"), ({"happened": ""}, "bad_moment"), ({"happened": "at noon"}, "bad_moment"),
        ({"happened": "2001-01-01T00:00"}, "bad_moment"), ({"minutes_ago": -30}, "bad_moment"),
        ({"seat": 7}, "unknown_seat"),
    ],
)  # fmt: skip
def test_what_no_dispute_can_be_about(wheel: tuple[Hand, Hand], facts: dict[str, Any], code: str) -> None:
    """Harm: a claim is kept that names no moment anybody can look up, or the page ends in a server error."""
    with pytest.raises(Refused) as refused:
        claims_at(wheel[0], **facts)
    assert refused.value.code == code


def test_a_dispute_is_opened_read_and_listed_on_the_pages(wheel: tuple[Hand, Hand]) -> None:
    """Harm: the pages of disputes look for a round that there is not, and end in nothing."""
    dealer, boss = wheel
    at_table, pit = floor.client(dealer.by), floor.client(boss.by)
    pk = dealer.table.pk
    form = at_table.get(f"/tables/{pk}/dispute/").content.decode()
    assert 'name="happened"' in form
    claims_at(dealer)
    for address in (
        "/pit/disputes/",
        f"/pit/tables/{pk}/disputes/1/",
        f"/pit/tables/{pk}/",
        f"/pit/tables/{pk}/rounds/0/dispute/",
    ):
        assert pit.get(address).status_code == 200, address
    page = pit.get(f"/pit/tables/{pk}/disputes/1/").content.decode()
    assert "Unchanged since the dispute was opened" in page
    assert "The round is void" not in page
    finder = pit.get(f"/pit/tables/{pk}/mispays/").content.decode()
    assert "has no rounds that could be weighed" in finder
    assert "<form" not in finder.split("<main")[1]


def test_players_whom_no_round_tells_of_get_their_notice(wheel: tuple[Hand, Hand], clock: Clock) -> None:
    """Harm: a minimum is raised over everybody at the wheel, for nobody is seated where no rounds are entered."""
    dealer, _ = wheel
    olga = floor.staff(Role.OPERATOR, "olga", "301")
    with pytest.raises(Refused, match="30 minutes' notice"):
        table_settings.change_table(dealer.table, {"min_cents": 2_000}, by=olga)
    limit_plans.set_plan(drafted(values={"min_cents": 2_000}), expected_version=0, by=olga)
    limits.bring_into_force()
    dealer.table.refresh_from_db()
    announced = dealer.now.announced
    assert announced is not None
    assert dealer.table.min_cents < 2_000
    clock.stand(announced.effective + timedelta(seconds=1))
    limits.bring_into_force()
    dealer.table.refresh_from_db()
    assert dealer.table.min_cents == 2_000
    assert is_proved(dealer)


def test_a_program_of_the_pit_opens_a_dispute_by_its_moment(wheel: tuple[Hand, Hand]) -> None:
    """Harm: over the API a claim at such a table can name nothing that it takes."""
    dealer, boss = wheel
    happened = f"{timezone.localtime():%Y-%m-%d %H:%M}"
    claim = {"claim": "Was not paid", "claimant": "Seat 3", "seat": 3, "happened": happened, "key": str(uuid4())}
    answer = floor.client(boss.by).post(
        f"/api/tables/{dealer.table.pk}/disputes/", claim, content_type="application/json"
    )
    assert (answer.status_code, answer.json()["round"]) == (200, 0)
