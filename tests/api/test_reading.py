"""What the API tells, and whom."""

import json
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from casino.embedded.servers import SUPERUSER
from ledger.models import Run
from tables.audit import jobs
from tables.disputes import correction_records, corrections
from tables.floor import inputs, recorder
from tables.games.record import judge
from tables.models import Staff
from tables.roles import Role
from tables.state import table_state
from tests import floor
from tests.api.conftest import Caller, Floor, caller
from tests.database import database_url

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


def test_the_list_has_the_tables_that_one_may_see(house: Floor) -> None:
    """Harm: a dealer reads in the list of tables what goes on at a table that is not theirs."""

    def names(staff: Staff) -> list[str]:
        return [line["name"] for line in house.as_(staff).get("tables/").json()["items"]]

    assert names(house.boss.by) == ["Rocket 1", "Rocket 2"]
    assert names(house.dealer.by) == ["Rocket 1"]
    assert names(house.idle) == []


def test_a_list_says_where_each_table_stands_in_a_few_queries(house: Floor) -> None:
    """Harm: a pit of fifty tables costs a hundred queries every time somebody looks."""
    house.dealer("bet", seat=1, amount_cents=1_000)
    caller = house.as_(house.boss.by)
    table_state.cache.clear()
    with CaptureQueriesContext(connection) as captured:
        table, neighbour = caller.get("tables/").json()["items"]
    assert table == {
        "id": house.table.pk,
        "name": "Rocket 1",
        "game": "rocket",
        "seats": 6,
        "source": "keyed",
        "seq": house.dealer.now.seq,
        "is_open": True,
        "dealer": "Dora",
        "round": 1,
        "round_open": True,
    }
    assert (neighbour["is_open"], neighbour["dealer"], neighbour["round_open"]) == (False, None, False)
    others = "session|arrival|POINT|attemptcount|pg_prepared_statements"
    statements = [query["sql"] for query in captured if not re.search(others, query["sql"])]
    assert len(statements) == 3  # who asks, the tables, and all standings at once


def test_a_board_says_what_can_be_entered_now(house: Floor) -> None:
    """Harm: a client has to know the rules of the game to know what comes next."""
    caller = house.as_(house.dealer.by)
    asks = caller.get(f"tables/{house.table.pk}/").json()
    assert (asks["due"], asks["seq"]) == ("bets", house.dealer.now.seq)
    assert [ask["kind"] for ask in asks["prompts"]] == ["bet"] * 6
    assert asks["prompts"][0] | {"seat": 0} == {
        "kind": "bet", "seat": 0, "low_cents": 1_000, "high_cents": 10_000, "step_cents": 1_000,
        "placed_cents": 0, "capped": False, "step_is": "ten chip units", "wager": "main", "needs": "", "opposite": "",
        "seat_full": False,
    }  # fmt: skip
    house.dealer.bets(seat2=5_000)
    house.dealer.cards(8, 9)
    asks = caller.get(f"tables/{house.table.pk}/").json()
    assert asks["prompts"] == [
        {
            "kind": "choose",
            "seat": 2,
            "choices": [
                {"name": "hit", "draws": True},
                {"name": "fold", "cost_cents": 4_000},
            ],
        }
    ]
    assert {button["input"]["do"] for button in asks["buttons"]} >= {"choose", "take_back"}


def test_no_board_tells_what_is_left_in_the_shoe(house: Floor) -> None:
    """Harm: the house's own system counts cards for whoever can read its network traffic."""
    house.dealer.bets(seat2=5_000)
    for staff in (house.dealer.by, house.boss.by):
        board = house.as_(staff).get(f"tables/{house.table.pk}/").json()
        assert "gone" not in json.dumps(board)
        assert board["prompts"] == [{"kind": "card", "to": 2}]


def test_the_order_of_a_house_shoe_is_nowhere(db: None) -> None:
    """Harm: whoever reads a board knows the next card."""
    dealer, boss = floor.dealt(source="house")
    board = caller(dealer.table, boss.by).get(f"tables/{dealer.table.pk}/").json()
    assert set(board["shoe"]) == {
        "number", "source", "stage", "decks", "size", "cards_left", "cut_at", "cut_out", "commitment"
    }  # fmt: skip
    assert "order" not in json.dumps(board)
    assert "nonce" not in json.dumps(board)


def test_an_outsider_can_replay_the_record_of_a_round(house: Floor) -> None:
    """Harm: a dispute is settled on the casino's word alone, or half a round is mistaken for a complete one."""
    caller, path = house.as_(house.dealer.by), f"tables/{house.table.pk}/rounds/1/"
    house.dealer.bets(seat1=2_000, seat4=5_000)
    house.dealer.cards(8)
    answer = caller.get(path).json()
    verdict = judge(json.dumps(answer["record"]))
    assert (answer["complete"], verdict["complete"], verdict["next"][0]["kind"]) == (False, False, "card")
    house.dealer.cards(4, 10, 8, 7, 10)
    answer = caller.get(path).json()
    assert (answer["table"], answer["round"], answer["complete"]) == ("Rocket 1", 1, True)
    assert judge(json.dumps(answer["record"]))["house_net"] == -3_400
    entries = answer["entries"]
    assert [entry["kind"] for entry in entries] == ["play"] * 9
    assert [after["prev_hash"] for after in entries[1:]] == [entry["hash"] for entry in entries[:-1]]
    assert entries[-1]["hash"] == bytes(house.dealer.now.hash or b"").hex()


def last_bets(house: Floor) -> dict[int, int]:
    return {seat.seat: seat.last_bet_cents for seat in house.dealer.board.seats if seat.last_bet_cents}


def test_the_bets_of_the_round_before_are_told_until_bets_are_closed(house: Floor) -> None:
    """Harm: a program repeats bets, and after the first of them every other seat seems to have bet nothing."""
    dealer = house.dealer
    assert last_bets(house) == {}
    dealer.bets(seat2=2_000, seat5=5_000)
    assert last_bets(house) == {}
    dealer.cards(8, 9, 3)
    dealer.pay()
    assert last_bets(house) == {2: 2_000, 5: 5_000}
    dealer("bet", seat=5, amount_cents=3_000)
    assert last_bets(house) == {2: 2_000, 5: 5_000}
    dealer("bet", seat=1, amount_cents=1_000)
    assert last_bets(house) == {2: 2_000, 5: 5_000}
    dealer("close_bets")
    assert last_bets(house) == {}
    dealer.cards(4, 6, 3)
    dealer.pay()
    assert last_bets(house) == {1: 1_000, 5: 3_000}


def test_a_round_that_is_settled_anew_is_told_by_its_new_bets(house: Floor) -> None:
    """Harm: a bet that was taken back is offered again, since the round before is told as it was settled first."""
    dealer = house.dealer
    dealer.bets(seat2=2_000, seat5=5_000)
    dealer.cards(8, 9, 3)
    dealer.pay()
    dealer("bet", seat=1, amount_cents=1_000)
    assert last_bets(house) == {2: 2_000, 5: 5_000}
    seats = {2, 5}
    while seats:
        house.boss("take_back")
        round_ = table_state.of(house.table).round
        assert round_ is not None
        seats &= {box.seat for box in dealer.board.seats if box.bet_cents} if not round_.over else seats
    dealer.bets(seat3=4_000)
    dealer.cards(8, 3)
    dealer.pay()
    dealer("bet", seat=1, amount_cents=1_000)
    assert last_bets(house) == {3: 4_000}


# --- Lists that do not grow with what was ----------------------------------------------------------------------


def corrected(house: Floor, count: int) -> list[str]:
    """So many corrections at one table, each declined but for the last; the slips' names."""
    second = floor.staff(Role.PIT_BOSS, "berta", "203")
    house.dealer.bets(seat1=2_000)
    house.dealer.cards(8, 10, 8)
    house.dealer.pay()

    def write(by: Staff, entered: inputs.CorrectionInput) -> None:
        recorder.record(house.table, entered, by=by, key=uuid.uuid4(), expected_seq=None)

    names = list[str]()
    for number in range(count):
        write(house.boss.by, inputs.ProposeCorrection(1, 1, 100 * (number + 1), "Paid wrong"))
        names.append(corrections.waiting(house.table.book_id, table_state.of(house.table).seq)[-1].slip)
        if number < count - 1:
            write(second, inputs.DeclineCorrection(names[-1], "He was paid right"))
    return names


def slips_of(caller: Caller, query: str) -> list[str]:
    """A whole list, page by page."""
    slips, cursor = [], ""
    while cursor is not None:
        page = caller.get(f"corrections/?{query}&cursor={cursor}").json()
        slips += [line["slip"] for line in page["items"]]
        cursor = page["next"]
    return slips


def test_corrections_are_listed_by_pages_of_each_state(house: Floor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: a page leaves out or repeats a correction; or one that waits for a signature is behind a year of others."""
    names = corrected(house, 5)
    caller = house.as_(house.auditor)
    assert slips_of(caller, "limit=2") == names[::-1]
    assert slips_of(caller, "limit=2&state=proposed") == names[-1:]
    monkeypatch.setattr(correction_records, "LOOKED_AT", 2)
    assert slips_of(caller, "limit=1&state=declined") == names[-2::-1]
    assert slips_of(caller, "state=signed") == []
    [waiting] = correction_records.listed(1)[0]
    assert (waiting.correction.slip, waiting.state) == (names[-1], "proposed")


def test_a_page_of_corrections_reads_its_own_entries_alone(house: Floor) -> None:
    """Harm: in its tenth year a house reads every correction that there ever was for the newest one."""
    corrected(house, 6)
    caller = house.as_(house.auditor)
    with CaptureQueriesContext(connection) as captured:
        assert len(caller.get("corrections/?limit=1").json()["items"]) == 1
    [reading] = [query["sql"] for query in captured if "ledger_slipsignature AS signature" in query["sql"]]
    with connection.cursor() as cursor:
        cursor.execute(reading)
        assert len(cursor.fetchall()) == 1


@contextmanager
def grown(*tables: str) -> Iterator[None]:
    """The planner sees a million rows in each: on a few, a sort or any index is as cheap as the right one."""
    with psycopg.connect(database_url(SUPERUSER), autocommit=True) as planner:
        sizes = "SELECT reltuples, relpages, relname FROM pg_class WHERE relname = ANY(%s)"
        resize = "UPDATE pg_class SET reltuples = %s, relpages = %s WHERE relname = %s"
        before = planner.execute(sizes, [list(tables)]).fetchall()
        for name in tables:
            planner.execute(resize, [1_000_000, 1, name])
        try:
            yield
        finally:
            for size in before:
                planner.execute(resize, size)


@pytest.mark.parametrize("path", ["exports/", "slips/?series=opener"])
def test_a_list_finds_its_newest_lines_by_an_index(house: Floor, path: str) -> None:
    """Harm: whoever lists what auditors asked for reads each run of the watch since the house opened."""
    Run.objects.create(task=jobs.PREFIX + "keys", slot=timezone.now(), begun_at=timezone.now())
    caller = house.as_(house.auditor)
    with CaptureQueriesContext(connection) as captured:
        assert caller.get(path).json()["items"]
    [listing] = [query["sql"] for query in captured if re.search("LIKE 'audit|unnest.*ledger_slip", query["sql"], re.S)]
    with grown("ledger_run", "ledger_slip"), connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {listing}")
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert re.search("ledger_run_asked|ledger_slip_newest", plan), plan
