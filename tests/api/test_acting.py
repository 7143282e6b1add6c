"""Dealing over the API."""

import uuid

import pytest

from ledger.models import Alert, Transfer
from tables.audit import proofs
from tests.api.conftest import Floor, nothing_written, problem, rows_and_heads

pytestmark = pytest.mark.django_db


def test_a_round_is_dealt_and_settled_over_the_api(house: Floor) -> None:
    """Harm: what the screens can do, a shoe reader or another client cannot."""
    caller = house.as_(house.dealer.by)
    for entered in (
        {"do": "bet", "seat": 1, "amount_cents": 2_000},
        {"do": "close_bets"},
        {"do": "card", "rank": 8},
        {"do": "card", "rank": 10},
        {"do": "card", "rank": 8},
    ):
        seq = house.dealer.now.seq
        answer = caller.enter(**entered)
        assert answer.status_code == 200
        assert answer.json() == {"entry": seq + 1, "seq": seq + 1, "again": False}
    kinds = Transfer.objects.filter(book=house.table.book, seq=seq + 1).order_by("leg").values_list("kind", flat=True)
    assert list(kinds) == ["stake", "loss", "return"]
    assert proofs.verify(house.table.book).fault is None


def test_a_card_that_the_shoe_cannot_hold_is_refused_and_reported_once(house: Floor) -> None:
    """Harm: a wrong card in the shoe, or a wrong key, leaves no trace; or a retry makes two alarms of one."""
    house.dealer.bets(seat1=1_000, seat2=1_000)
    house.dealer.cards(1)
    caller, key, seq = house.as_(house.dealer.by), uuid.uuid4(), house.dealer.now.seq
    answer = problem(caller.enter("card", key=key, rank=1), 422, "impossible_card")
    assert (answer["rank"], answer["seq"]) == (1, seq + 1)
    evidence = Alert.objects.get().evidence
    assert {name: evidence[name] for name in ("round", "seq", "rank")} == {"round": 1, "seq": seq + 1, "rank": 1}
    with nothing_written():
        assert problem(caller.enter("card", key=key, seq=seq, rank=1), 422, "impossible_card") == answer


def test_a_dealer_taps_out_over_the_api_and_a_lost_answer_can_be_asked_for(house: Floor) -> None:
    """Harm: the retry of a tap-out that went through is told off, and the client never learns that it is done."""
    caller, key = house.as_(house.dealer.by), uuid.uuid4()
    seq = house.dealer.now.seq
    assert caller.enter("sign_out", key=key).status_code == 200
    before = rows_and_heads()
    again = caller.enter("sign_out", key=key, seq=seq)
    assert again.json() == {"entry": seq + 1, "seq": seq + 1, "again": True}
    assert rows_and_heads() == before
    problem(caller.enter("sign_out"), 403, "not_your_table")
