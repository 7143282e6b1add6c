"""House shoes: committed to before the first card, opened at the end, proved from the log; shuffled without bias."""

import json
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from ledger.models import Alert, LogEntry
from ledger.proof.chain import Broken
from tables.audit import commitments, watch
from tables.audit.commitments import Unproven
from tables.floor import shoes
from tables.games.cards import RANKS, count, shoe
from tables.models import HouseShoe
from tests.floor import Hand, dealt
from tests.intruder import at_work
from tests.tables.chance import BURNED, LAST, RARE_CUT, SPENT, in_this_order, run_out

# --- the commitment -------------------------------------------------------------------------------------------


def play(dealer: Hand, rounds: int) -> None:
    """Deal some rounds of one seat that always folds."""
    for _ in range(rounds):
        dealer.bets(seat1=1_000)
        dealer("deal")
        while dealer.now.round_open and not dealer.board.pay:
            dealer("choose", seat=1, choice="fold")
        dealer.pay()


@pytest.fixture
def dealer(db: None) -> Hand:
    """A house shoe of which twelve cards were dealt."""
    dealer, _ = dealt(source="house")
    play(dealer, 6)
    return dealer


def contents(hand: Hand, **where: Any) -> list[dict[str, Any]]:
    rows = LogEntry.objects.filter(book_id=hand.table.book_id, **where).order_by("seq")
    return [{"seq": row.seq} | row.content for row in rows]


@pytest.mark.slow("deals six rounds")
def test_the_commitment_is_logged_before_the_first_card_and_opened_when_the_shoe_is_retired(dealer: Hand) -> None:
    """Harm: the house chooses the order once it has seen the bets, and nobody can show it."""
    (shuffled,) = contents(dealer, subject="shoe", kind="shuffled")
    cards = [play for play in contents(dealer, kind="play") if any(act["do"] == "card" for act in play["actions"])]
    assert shuffled["seq"] < cards[0]["seq"]
    assert "order" not in json.dumps(contents(dealer))  # nothing tells the order while the shoe is dealt
    dealer("retire_shoe")
    (retired,) = contents(dealer, subject="shoe", kind="retired")
    opened = retired["opened"]
    assert opened["commitment"] == shuffled["shoe"]["commitment"]
    assert shoes.commitment_of(bytes.fromhex(opened["nonce"]), bytes(opened["order"])) == opened["commitment"]
    assert count(opened["order"]) == shoe(1)
    dealt_ranks = [act["rank"] for play in cards for act in play["actions"] if act["do"] == "card"]
    assert opened["order"][5 : 5 + len(dealt_ranks)] == dealt_ranks


@pytest.mark.slow("deals six rounds")
def test_the_command_proves_shoes_that_were_opened_and_the_one_that_is_sealed(
    dealer: Hand, capsys: pytest.CaptureFixture[str]
) -> None:
    """Harm: a proof that needs the house's word, or tells the order of a shoe that is being dealt."""
    call_command("shoe", "verify")
    printed = capsys.readouterr().out
    assert "holds  Rocket 1, shoe 1" in printed
    assert "12 cards dealt in its order, still sealed" in printed
    dealer("retire_shoe")
    dealer.ready_shoe()
    play(dealer, 1)
    call_command("shoe", "verify", table="Rocket 1")
    first, second = capsys.readouterr().out.strip().splitlines()
    assert "shoe 1" in first
    assert f"opened by entry {contents(dealer, kind='retired')[0]['seq']}" in first
    assert "shoe 2" in second
    assert "still sealed" in second
    call_command("shoe", "verify", shoe=2)
    assert "shoe 1" not in capsys.readouterr().out
    with pytest.raises(CommandError, match="no house shoe 3"):
        call_command("shoe", "verify", shoe=3)
    with pytest.raises(CommandError, match="no table 'Rocket 9'"):
        call_command("shoe", "verify", table="Rocket 9")


@pytest.mark.django_db
def test_a_house_without_house_shoes_has_nothing_to_prove(capsys: pytest.CaptureFixture[str]) -> None:
    """Harm: a house of keyed shoes is told every night that something is wrong."""
    dealt()
    call_command("shoe", "verify")
    assert "No house shoe was dealt." in capsys.readouterr().out


def another_order(document: dict[str, Any]) -> None:
    order = document["content"]["opened"]["order"]
    at = next(at for at in range(20, 54) if order[at] != order[at + 1])  # cards that were never dealt
    order[at], order[at + 1] = order[at + 1], order[at]


def another_nonce(document: dict[str, Any]) -> None:
    nonce = document["content"]["opened"]["nonce"]
    document["content"]["opened"]["nonce"] = ("0" if nonce[0] != "0" else "1") + nonce[1:]


def another_burn(document: dict[str, Any]) -> None:
    document["content"]["shoe"]["burn"] -= 1


def another_commitment(document: dict[str, Any]) -> None:
    document["content"]["shoe"]["commitment"] = "0" * 64


FORGERIES: list[tuple[str, Callable[[dict[str, Any]], None], str]] = [
    ("retired", another_order, "are not those that entry"),
    ("retired", another_nonce, "are not those that entry"),
    ("retired", lambda document: document["content"]["opened"].update(order=[]), "are not those that entry"),
    ("retired", lambda document: document["content"]["opened"].update(order=[700]), "no entry that a table can"),
    ("retired", lambda document: document["content"]["opened"].update(nonce="zz"), "no entry that a table can"),
    ("shuffled", another_commitment, "opens an order that the shoe was not dealt from"),
    ("burned", another_burn, "the order has a"),
]


def fault(dealer: Hand) -> str:
    """The fault that a proof of the table's shoes finds."""
    with pytest.raises(Unproven) as caught:
        list(commitments.prove(dealer.table))
    return caught.value.what


@pytest.mark.django_db(transaction=True)
def test_a_change_to_a_shoe_is_found_even_with_new_hashes(dealer: Hand, capsys: pytest.CaptureFixture[str]) -> None:
    """Harm: the casino deals seconds, or one card in a thousand differs from the commitment, and the casino rewrites
    the log to match; or the proof of shoes trusts a log with wrong hashes."""
    dealer("retire_shoe")
    for kind, change, sentence in FORGERIES:
        [entry] = contents(dealer, subject="shoe", kind=kind)
        with at_work() as intruder:
            intruder.rewrite(dealer.table.book_id, entry["seq"], change)
            assert sentence in fault(dealer)
    play = [play for play in contents(dealer, kind="play") if play["actions"][-1]["do"] == "card"][3]
    rank = play["actions"][0]["rank"]
    wrong = 9 if rank == 10 else 10
    with at_work() as intruder:
        intruder.rewrite(
            dealer.table.book_id, play["seq"], lambda document: document["content"]["actions"][0].update(rank=wrong)
        )
        with pytest.raises(SystemExit) as end:
            call_command("shoe", "verify")
    assert end.value.code == 1
    printed = capsys.readouterr().out
    assert f"Rocket 1, entry {play['seq']}: it deals a {wrong}, the order has a {rank} there" in printed
    with at_work() as intruder:
        intruder("UPDATE ledger_logentry SET body = set_byte(body, 20, get_byte(body, 20) # 1) WHERE seq = 5")
        with pytest.raises(Broken):
            list(commitments.prove(dealer.table))


@pytest.mark.django_db(transaction=True)
def test_a_sealed_order_that_was_exchanged_raises_an_alert_the_same_night(dealer: Hand) -> None:
    """Harm: an intruder in the database reorders the rest of a live shoe, and no alert is raised until a user starts a
    verification."""
    assert watch.prove_shoes() == 0
    with at_work() as intruder:
        intruder('UPDATE tables_houseshoe SET "order" = set_byte("order", 30, get_byte("order", 30) # 1)')
        assert "are not those that entry" in fault(dealer)
    with at_work() as intruder:
        intruder('UPDATE tables_houseshoe SET "order" = sha256("order")')
        assert "are not those that entry" in fault(dealer)
        assert watch.prove_shoes() == 1
        assert "Rocket 1, entry" in Alert.objects.get(kind="log_broken").message
    with at_work() as intruder:
        intruder("DELETE FROM tables_houseshoe")
        assert "was not kept" in fault(dealer)


@pytest.mark.django_db
def test_a_shuffle_in_mid_round_is_committed_to_opened_and_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: the one order that nobody thinks of is the one that is not fair."""
    in_this_order(monkeypatch, BURNED + SPENT + LAST)
    dealer, _ = dealt(options=RARE_CUT, source="house")
    run_out(dealer)
    dealer("choose", seat=2, choice="hit")
    dealer("shuffle")
    shuffled = contents(dealer, subject="round", kind="play")[-1]
    assert shuffled["opened"]["order"] == BURNED + SPENT + LAST
    assert shuffled["commitment"] != shuffled["opened"]["commitment"]
    dealer("deal")
    first, second = commitments.prove(dealer.table)
    assert (first.opened_seq, len(first.dealt)) == (shuffled["seq"], 50)
    assert (second.committed_seq, second.opened_seq, sum(second.composition)) == (shuffled["seq"], None, 47)
    assert len(second.dealt) in (1, 2)
    shoe_row = HouseShoe.objects.get(commitment=shuffled["commitment"])
    assert count(bytes(shoe_row.order)) == second.composition


@pytest.mark.django_db
def test_no_two_shoes_share_an_order_or_a_nonce() -> None:
    """Harm: who has seen one shoe knows the next."""
    dealer, _ = dealt(source="house")
    for _ in range(5):
        dealer("retire_shoe")
        dealer.ready_shoe()
    shoes_dealt = HouseShoe.objects.all()
    nonces = {bytes(row.nonce) for row in shoes_dealt}
    assert len({bytes(row.order) for row in shoes_dealt}) == len(nonces) == 6
    assert {len(nonce) for nonce in nonces} == {32}


# --- the shuffle ----------------------------------------------------------------------------------------------


def test_each_sequence_of_indices_leads_to_another_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """All orders are counted: 5 x 4 x 3 x 2.

    Harm: some orders, or some cards at some positions, are likelier, because a card may change places with any other,
    none may stay, or an index is the remainder of a machine word.
    """
    orders = set()
    for indices in product(range(5), range(4), range(3), range(2)):
        waiting, bounds = list(indices), []

        def draw(bound: int, waiting: list[int] = waiting, bounds: list[int] = bounds) -> int:
            bounds.append(bound)
            return waiting.pop(0)

        monkeypatch.setattr(shoes.secrets, "randbelow", draw)
        orders.add(tuple(shoes._shuffle(range(5))))
        assert bounds == [5, 4, 3, 2]
    assert len(orders) == 120


def test_a_shuffle_keeps_the_cards() -> None:
    """Harm: a card more or less."""
    ranks = [rank for rank in RANKS for _ in range(rank * 8)]
    assert count(shoes._shuffle(ranks)) == shoe(8)
    assert shoes._shuffle([]) == []
