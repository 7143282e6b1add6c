"""The generated client against the running web process."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any

import pytest

from tables.models import Proposal, Staff
from tables.roles import Role
from tests import floor, processes
from tests.generated_client import casino_client

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="session")
def module() -> ModuleType:
    """As somebody has it who copied the file."""
    return casino_client()


def connected(module: ModuleType, web: processes.Web, somebody: Staff) -> Any:
    """A client with the session of somebody, on a terminal."""
    house = module.Casino(web.url)
    if somebody.role == Role.DEALER:  # by badge and PIN, at the screen
        for cookie in floor.cookies_of(somebody, web.url):
            house.keep(cookie["name"], cookie["value"])
        house.keep("csrftoken", "c" * 32)
        return house
    house.sign_in(somebody.username, floor.PASSWORD)
    house.keep("terminal", floor.terminal_cookie(somebody))
    return house


def test_a_round_is_dealt_and_a_slip_signed_through_the_client(module: ModuleType, web: processes.Web) -> None:
    """Harm: the client that everybody copies does not do the two things that a table lives by."""
    dealer, _ = floor.dealt()
    house, pk = connected(module, web, dealer.by), dealer.table.pk
    for entered in (
        {"do": "bet", "seat": 1, "amount_cents": 2_000},
        {"do": "close_bets"},
        {"do": "card", "rank": 8},
        {"do": "card", "rank": 10},
        {"do": "card", "rank": 8},
    ):
        house.enter(pk, expected_seq=house.read_board(pk)["seq"], input=entered)
    assert house.read_round(pk, 1)["complete"]

    boss, cashier = floor.staff(Role.PIT_BOSS, "bruno", "202"), floor.staff(Role.CASHIER, "carl", "404")
    pit = connected(module, web, boss)
    slip = pit.begin_slip(table=pk, series="fill", chips=[[10_000, 2]], badge="202", pin=floor.PIN)
    assert (slip["due"], slip["total_cents"]) == ("issued", 20_000)
    series, year, number = slip["series"], *slip["name"].split("/")[1:]
    slip = pit.sign_slip(series, year, number, stage="issued", badge=cashier.badge, pin=floor.PIN)
    assert [step["signed_by"] for step in slip["steps"]][:2] == ["Bruno", "Carl"]
    assert [line["number"] for line in module.every(pit.list_rounds, pk, limit=1)] == [1]


def test_a_write_that_two_threads_send_under_one_key_happens_once(module: ModuleType, web: processes.Web) -> None:
    """Harm: a client that lost its patience and one that did not propose the same twice, or one is told that it
    failed."""
    dealer, boss = floor.dealt()
    houses = [connected(module, web, boss.by) for _ in range(4)]
    version = houses[0].read_settings(dealer.table.pk)["version"]
    key = str(uuid.uuid4())
    ask = {"expected": version, "changes": {"max_cents": 20_000}, "comment": "A guest asks for more", "key": key}
    with ThreadPoolExecutor(len(houses)) as threads:
        answers = list(threads.map(lambda house: house.propose_settings(dealer.table.pk, **ask), houses))
    assert [answer["number"] for answer in answers] == [1] * len(houses)
    assert Proposal.objects.count() == 1
    with pytest.raises(module.Refused, match="key_reused"):
        houses[0].propose_settings(dealer.table.pk, **ask | {"comment": "Another one"})
