"""A table whose game nobody deals here: its chips, what its counts tell, and what it refuses."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from dealer_ui.players.placard_context import placard_of
from ledger import cage, inspection
from ledger.models import Account, Alert, Discrepancy, Transfer
from tables.board.table_view import board
from tables.cage import cage_desk
from tables.disputes import disputed_moment, register
from tables.floor import recorder
from tables.floor.inputs import AcceptBet, AnnounceRound, BeginSlip, CloseDispute, OpenDispute, RuleDispute
from tables.limits import enforcement, plans
from tables.models import Staff
from tables.reports import figures, gaming_hours, inventory
from tables.roles import Role
from tables.setup import table_settings
from tests import floor
from tests.clock import Clock
from tests.floor import Hand
from tests.ready import ready_made
from tests.tables.floor.acts import enter, refusal, verify
from tests.tables.limits.test_plans import drafted
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
    recorder.sign_in(made, dora)
    return Hand(made, dora), boss


def in_place(hand: Hand, place: str) -> int:
    return cage.balance(Account.objects.get(book_id=hand.table.book_id, place=place))


def kinds(hand: Hand) -> list[tuple[str, int]]:
    """What was moved at the table since its first fill."""
    transfers = Transfer.objects.filter(book_id=hand.table.book_id).order_by("seq", "leg")
    return [move for move in transfers.values_list("kind", "amount_cents") if not move[0].startswith("fill")]


def test_what_it_won_shows_when_its_rack_is_counted(wheel: tuple[Hand, Hand]) -> None:
    """Harm: a table's win is booked as a surplus that somebody has to explain, or is in no figure at all."""
    dealer, boss = wheel
    dealer("sell_chips", amount_cents=60_000)
    floor.counted(boss, "rack", over_cents=25_000)
    assert kinds(dealer)[-1] == ("table_win", 25_000)
    floor.counted(boss, "closer", over_cents=-40_000)
    assert kinds(dealer)[-1] == ("table_loss", 40_000)
    assert not Discrepancy.objects.exists()
    [line] = figures.day(gaming_hours.day_of(timezone.now()), [dealer.table]).lines
    assert (line.game, line.drop_cents, line.win_cents) == ("Roulette", 60_000, 60_000 + 25_000 - 40_000 - 60_000)
    assert inventory.on(gaming_hours.day_of(timezone.now())).agrees
    verify(dealer.table)


def test_an_opener_that_differs_is_a_discrepancy_as_anywhere(wheel: tuple[Hand, Hand]) -> None:
    """Harm: chips that went missing from a locked rack overnight are told as what players won."""
    dealer, boss = wheel
    boss("close_table")
    floor.counted(boss, "opener", over_cents=-500)
    assert kinds(dealer)[-1] == ("short", 500)
    assert [row.amount_cents for row in Discrepancy.objects.all()] == [-500]


def test_a_dealt_rack_that_is_off_stays_a_discrepancy(hands: tuple[Hand, Hand]) -> None:
    """Harm: where every round is known, a shortage disappears in the win."""
    dealer, boss = hands
    floor.counted(boss, "rack", over_cents=-500)
    assert kinds(dealer)[-1] == ("short", 500)


def test_chips_are_sold_although_the_transfers_show_none(wheel: tuple[Hand, Hand]) -> None:
    """Harm: players' losses are in the rack in plain view, and the system refuses to sell them; or a wrong key leaves a
    win behind that was never made."""
    dealer, boss = wheel
    dealer("sell_chips", amount_cents=RACK_CENTS - 10_000)
    before = in_place(dealer, "rack"), in_place(dealer, "players")
    sale = dealer("sell_chips", amount_cents=50_000)
    assert kinds(dealer)[-3:] == [("table_win", 40_000), ("buy_in", 50_000), ("drop", 50_000)]
    assert in_place(dealer, "rack") == 0
    dealer("undo_sale", sale=sale.entry)
    assert (in_place(dealer, "rack"), in_place(dealer, "players")) == before
    dealer("sell_chips", amount_cents=50_000)
    floor.counted(boss, "closer", over_cents=70_000)
    [line] = figures.day(gaming_hours.day_of(timezone.now()), [dealer.table]).lines
    assert line.win_cents == 40_000 + 70_000
    verify(dealer.table)


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
    assert "cannot be redeemed" in refusal(cage_desk.redeem, 10_000, by=cashier, key=uuid4()).sentence


def test_a_closer_that_tells_too_much_is_seen_over_all_tables(wheel: tuple[Hand, Hand]) -> None:
    """Harm: a count of chips that nobody lost makes a win, and nothing ever contradicts it."""
    _, boss = wheel
    floor.counted(boss, "closer", over_cents=floor.POCKET_CENTS + 5_000)
    inspection.inspect_house()
    assert Alert.objects.filter(kind="negative").count() == 1


NOT_FOR_THIS_TABLE: list[dict[str, Any]] = [
    {"do": "load_shoe"}, {"do": "bet", "seat": 1, "amount_cents": 1_000}, {"do": "close_bets"}, {"do": "deal"},
    {"do": "card", "rank": 3}, {"do": "start_game", "seats": (1,)}, {"do": "burn"}, {"do": "shuffle_shoe"},
    {"do": "take_back"}, {"do": "buy_in", "seat": 1, "amount_cents": 1_000}, {"do": "cut_card_out"},
    {"do": "check_decks", "counts": (1,)}, {"do": "retire_shoe"}, {"do": "paid", "seat": 1},
]  # fmt: skip


def test_a_table_without_rounds_accepts_no_bets_or_cards(wheel: tuple[Hand, Hand]) -> None:
    """Harm: a key of another table's screen, a paper or an accepted bet opens a round that no engine can settle, or
    causes a server error."""
    dealer, boss = wheel
    seq = dealer.now.seq
    for fields in NOT_FOR_THIS_TABLE:
        assert refusal(dealer, **fields).sentence, fields
    sentence = "No rounds are entered at this table"
    assert sentence in refusal(enter, dealer, AnnounceRound("17", timezone.now())).sentence
    assert sentence in refusal(enter, boss, AcceptBet(1, 90_000)).sentence
    assert dealer.now.seq == seq


def test_its_board_says_what_is_left(wheel: tuple[Hand, Hand]) -> None:
    """Harm: the dealer's screen asks for a shoe that nobody has."""
    dealer, boss = wheel
    drawn = dealer.board
    assert (drawn.due, drawn.kind, drawn.round_open) == ("counted", "counted", False)
    assert (drawn.buttons, drawn.prompts, len(drawn.seats)) == ((), (), 6)
    assert board(dealer.table, boss.by).due == "counted"


def test_an_open_table_keeps_its_way_of_knowing_its_win(wheel: tuple[Hand, Hand], operator: Staff) -> None:
    """Harm: a table is set to another game in mid-play, and what it won until then is called a shortage."""
    dealer, boss = wheel
    change = {"game": "rocket", "options": {}, "min_cents": 1_000}
    answer = refusal(table_settings.change_table, dealer.table, change, by=operator)
    assert "Close the table first" in answer.sentence
    boss("close_table")
    table_settings.change_table(dealer.table, change, by=operator)
    verify(dealer.table)


def test_a_credit_of_more_than_was_counted_asks_for_a_count(wheel: tuple[Hand, Hand]) -> None:
    """Harm: chips leave a rack that the transfers do not have in it; or whoever asks is told no way on."""
    dealer, boss = wheel
    chips = ((10_000, 200),)
    assert "count it first" in refusal(floor.signs, dealer.table, boss.by, BeginSlip("credit", chips)).sentence


def test_its_placard_says_its_wagers_and_not_the_hold(wheel: tuple[Hand, Hand]) -> None:
    """Harm: the sign of a roulette table says nothing, or tells players what the house usually keeps."""
    placard = placard_of(wheel[0].table)
    assert placard.game == "Roulette"
    wagers = [("Straight up", "35 to 1"), ("Red or black", "evens")]
    assert [(rule.title, rule.value) for rule in placard.rules] == wagers


# --- disputes ---------------------------------------------------------------------------------------------------


def claims_at(dealer: Hand, minutes_ago: int = 5, **others: Any) -> None:
    moment = timezone.localtime() - timedelta(minutes=minutes_ago)
    facts = {"round": 0, "claim": "Paid 17 to 1", "claimant": "The player", "claim_cents": 9_000}
    enter(dealer, OpenDispute(**facts | {"happened": f"{moment:%Y-%m-%dT%H:%M}"} | others))


WRONG_CLAIMS: list[tuple[dict[str, Any], str]] = [
    ({"round": 1}, "unknown_round"), ({"happened": ""}, "bad_moment"), ({"happened": "at noon"}, "bad_moment"),
    ({"happened": "2001-01-01T00:00"}, "bad_moment"), ({"minutes_ago": -90}, "bad_moment"),
    ({"seat": 7}, "unknown_seat"),
]  # fmt: skip


def test_a_dispute_names_a_moment_and_its_evidence_is_the_log(wheel: tuple[Hand, Hand]) -> None:
    """Harm: a roulette player is paid wrongly, and there is no record of the claim, the ruling and the payment; or a
    claim names no moment that can be looked up."""
    dealer, boss = wheel
    dealer("sell_chips", amount_cents=20_000)
    for facts, code in WRONG_CLAIMS:
        assert refusal(claims_at, dealer, **facts).code == code, facts
    claims_at(dealer, seat=3)
    [dispute] = register.as_of(dealer.table.book_id, dealer.now.seq).open
    assert (dispute.round, dispute.seat, dispute.record_hash) == (0, 3, None)
    assert dispute.last_seq == dealer.now.seq - 1
    assert disputed_moment.holds(dealer.table.book_id, dispute)
    assert "No round is to be void" in refusal(enter, boss, RuleDispute(1, "void", "so")).sentence
    enter(boss, RuleDispute(1, "player", "The camera shows it"))
    assert "how it was settled" in refusal(enter, boss, CloseDispute(1)).sentence
    enter(boss, CloseDispute(1, "Paid 180 from the rack"))
    assert not register.as_of(dealer.table.book_id, dealer.now.seq).open
    verify(dealer.table)


def test_a_dispute_is_opened_read_and_listed_on_the_pages(wheel: tuple[Hand, Hand]) -> None:
    """Harm: the pages of disputes look for a round that there is not, and end in nothing."""
    dealer, boss = wheel
    at_table, pit = floor.client(dealer.by), floor.client(boss.by)
    pk = dealer.table.pk
    form = at_table.get(f"/tables/{pk}/dispute/").content.decode()
    assert 'name="happened"' in form
    claims_at(dealer)
    for address in ("disputes/", f"tables/{pk}/", f"tables/{pk}/rounds/0/dispute/"):
        assert pit.get(f"/pit/{address}").status_code == 200, address
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
    answer = refusal(table_settings.change_table, dealer.table, {"min_cents": 2_000}, by=olga)
    assert "30 minutes' notice" in answer.sentence
    plans.set_plan(drafted(values={"min_cents": 2_000}), expected_version=0, by=olga)
    enforcement.bring_into_force()
    dealer.table.refresh_from_db()
    announced = dealer.now.announced
    assert announced is not None
    assert dealer.table.min_cents < 2_000
    clock.stand(announced.effective + timedelta(seconds=1))
    enforcement.bring_into_force()
    dealer.table.refresh_from_db()
    assert dealer.table.min_cents == 2_000
    verify(dealer.table)


def test_a_program_of_the_pit_opens_a_dispute_by_its_moment(wheel: tuple[Hand, Hand]) -> None:
    """Harm: over the API a claim at such a table can name nothing that it takes."""
    dealer, boss = wheel
    happened = f"{timezone.localtime():%Y-%m-%d %H:%M}"
    claim = {"claim": "Was not paid", "claimant": "Seat 3", "seat": 3, "happened": happened, "key": str(uuid4())}
    answer = floor.client(boss.by).post(
        f"/api/tables/{dealer.table.pk}/disputes/", claim, content_type="application/json"
    )
    assert (answer.status_code, answer.json()["round"]) == (200, 0)
