"""House shoes: committed to before the first card, opened at the end, proved from the log; shuffled without bias."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import permutations, product
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from ledger.models import Alert, LogEntry
from ledger.proof.chain import Broken
from tables.audit import commitments, watch
from tables.audit.commitments import Unproven
from tables.games.cards import RANKS, count, shoe
from tables.models import HouseShoe
from tables.play import shoes
from tests.floor import Hand, dealt
from tests.intruder import Intruder, at_work
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
def dealer(transactional_db: None) -> Hand:
    """A house shoe of which twelve cards were dealt."""
    dealer, _ = dealt(source="house")
    play(dealer, 6)
    return dealer


@pytest.fixture
def intruder(dealer: Hand) -> Iterator[Intruder]:
    dealer("retire_shoe")
    with at_work() as somebody:
        yield somebody


def contents(hand: Hand, **where: Any) -> list[dict[str, Any]]:
    rows = LogEntry.objects.filter(book_id=hand.table.book_id, **where).order_by("seq")
    return [{"seq": row.seq} | row.content for row in rows]


def test_the_commitment_is_logged_before_the_first_card_and_opened_when_the_shoe_is_retired(dealer: Hand) -> None:
    """Harm: the house chooses the order once it has seen the bets, and nobody can show it."""
    (shuffled,) = contents(dealer, subject="shoe", kind="shuffled")
    cards = [one for one in contents(dealer, kind="play") if any(act["do"] == "card" for act in one["actions"])]
    assert shuffled["seq"] < cards[0]["seq"]
    assert "order" not in json.dumps(contents(dealer))  # nothing tells the order while the shoe is dealt
    dealer("retire_shoe")
    (retired,) = contents(dealer, subject="shoe", kind="retired")
    opened = retired["opened"]
    assert opened["commitment"] == shuffled["shoe"]["commitment"]
    assert shoes.commitment_of(bytes.fromhex(opened["nonce"]), bytes(opened["order"])) == opened["commitment"]
    assert count(opened["order"]) == shoe(1)
    dealt_ranks = [act["rank"] for one in cards for act in one["actions"] if act["do"] == "card"]
    assert opened["order"][5 : 5 + len(dealt_ranks)] == dealt_ranks


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


def test_a_house_without_house_shoes_has_nothing_to_prove(
    transactional_db: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """Harm: a house of keyed shoes is told every night that something is wrong."""
    dealer, _ = dealt()
    dealer.bets(seat1=1_000)
    dealer.cards(8, 3)
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


@pytest.mark.parametrize(
    ("kind", "change", "says"),
    [
        ("retired", another_order, "are not those that entry"),
        ("retired", another_nonce, "are not those that entry"),
        ("retired", lambda document: document["content"]["opened"].update(order=[]), "are not those that entry"),
        ("retired", lambda document: document["content"]["opened"].update(order=[700]), "no entry that a table can"),
        ("retired", lambda document: document["content"]["opened"].update(nonce="zz"), "no entry that a table can"),
        ("shuffled", another_commitment, "opens an order that the shoe was not dealt from"),
        ("burned", another_burn, "the order has a"),
    ],
)
def test_whatever_somebody_changes_about_a_shoe_is_found_though_every_hash_was_made_anew(
    dealer: Hand, intruder: Intruder, kind: str, change: Callable[[dict[str, Any]], None], says: str
) -> None:
    """Harm: the house deals seconds, and rewrites the log to fit."""
    (seq,) = (one["seq"] for one in contents(dealer, subject="shoe", kind=kind))
    intruder.rewrite(dealer.table.book_id, seq, change)
    with pytest.raises(Unproven) as found:
        list(commitments.prove(dealer.table))
    assert says in found.value.what
    with pytest.raises(SystemExit) as exit_:
        call_command("shoe", "verify")
    assert exit_.value.code == 1


def test_a_card_that_was_not_the_next_is_found_and_its_entry_named(
    dealer: Hand, intruder: Intruder, capsys: pytest.CaptureFixture[str]
) -> None:
    """Harm: one card in a thousand is not the one that was committed to."""
    deals = [one for one in contents(dealer, kind="play") if one["actions"][-1]["do"] == "card"]
    seq, rank = deals[3]["seq"], deals[3]["actions"][0]["rank"]
    other = next(one for one in (9, 10) if one != rank)

    def another_card(document: dict[str, Any]) -> None:
        document["content"]["actions"][0]["rank"] = other

    intruder.rewrite(dealer.table.book_id, seq, another_card)
    with pytest.raises(SystemExit):
        call_command("shoe", "verify")
    assert f"Rocket 1, entry {seq}: it deals a {other}, the order has a {rank} there" in capsys.readouterr().out


def test_a_byte_that_was_flipped_without_the_hashes_is_found_too(dealer: Hand, intruder: Intruder) -> None:
    """Harm: the proof of shoes trusts a log that does not hold."""
    intruder("UPDATE ledger_logentry SET body = set_byte(body, 20, get_byte(body, 20) # 1) WHERE seq = 5")
    with pytest.raises(Broken):
        list(commitments.prove(dealer.table))


@pytest.mark.parametrize("change", ['set_byte("order", 30, get_byte("order", 30) # 1)', 'sha256("order")'])
def test_an_order_that_was_exchanged_while_it_is_sealed_is_found(dealer: Hand, change: str) -> None:
    """Harm: somebody with the database puts the rest of the shoe in another order."""
    with at_work() as intruder:
        intruder(f'UPDATE tables_houseshoe SET "order" = {change}')
        with pytest.raises(Unproven, match="are not those that entry"):
            list(commitments.prove(dealer.table))
    with at_work() as intruder:
        intruder("DELETE FROM tables_houseshoe")
        with pytest.raises(Unproven, match="was not kept"):
            list(commitments.prove(dealer.table))


@pytest.mark.django_db
def test_an_exchanged_order_is_told_the_pit_the_same_night(dealer: Hand) -> None:
    """Harm: the order of a live shoe is exchanged, and nobody hears of it until somebody thinks of asking."""
    assert watch.prove_shoes() == 0
    with at_work() as intruder:
        intruder('UPDATE tables_houseshoe SET "order" = sha256("order")')
        assert watch.prove_shoes() == 1
        assert "Rocket 1, entry" in Alert.objects.get(kind="log_broken").message


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
    kept = HouseShoe.objects.get(commitment=shuffled["commitment"])
    assert count(bytes(kept.order)) == second.composition


@pytest.mark.django_db
def test_no_two_shoes_share_an_order_or_a_nonce() -> None:
    """Harm: who has seen one shoe knows the next."""
    dealer, _ = dealt(source="house")
    for _ in range(5):
        dealer("retire_shoe")
        dealer.ready_shoe()
    kept = list(HouseShoe.objects.all())
    assert len({bytes(one.order) for one in kept}) == len({bytes(one.nonce) for one in kept}) == 6
    assert all(len(bytes(one.nonce)) == 32 for one in kept)


# --- the shuffle ----------------------------------------------------------------------------------------------

Z = 4.7534
"""The one-sided normal quantile of one in a million: so rarely does an honest shuffle fail one of these tests."""


def most(freedom: int) -> float:
    """What chi-square with so many degrees of freedom exceeds once in a million (Wilson and Hilferty)."""
    part = 2 / (9 * freedom)
    return float(freedom * (1 - part + Z * part**0.5) ** 3)


def chi_square(counts: list[int], expected: float) -> float:
    return sum((one - expected) ** 2 / expected for one in counts)


Shuffle = Callable[[list[int]], list[int]]


def of_positions(shuffle: Shuffle, size: int, times: int) -> float:
    """How far the counts of card by position are from even, as chi-square with (size - 1)² degrees of freedom."""
    counts = [[0] * size for _ in range(size)]
    for _ in range(times):
        for position, card in enumerate(shuffle(list(range(size)))):
            counts[card][position] += 1
    return (size - 1) / size * sum(chi_square(row, times / size) for row in counts)


def of_orders(shuffle: Shuffle, size: int, times: int) -> float:
    """How far the counts of whole orders are from even."""
    counts = Counter(tuple(shuffle(list(range(size)))) for _ in range(times))
    orders = list(permutations(range(size)))
    return chi_square([counts[order] for order in orders], times / len(orders))


def swap_with_any(cards: list[int]) -> list[int]:
    """The classic mistake: each card changes places with any card, instead of one that is not placed yet."""
    for at in range(len(cards)):
        other = shoes.secrets.randbelow(len(cards))
        cards[at], cards[other] = cards[other], cards[at]
    return cards


def stop_one_short(cards: list[int]) -> list[int]:
    """The other one: no card may stay where it is."""
    for last in range(len(cards) - 1, 0, -1):
        other = shoes.secrets.randbelow(last)
        cards[last], cards[other] = cards[other], cards[last]
    return cards


def test_every_card_is_equally_likely_at_every_position() -> None:
    """Harm: the first cards of a shoe are more often low than they should be."""
    assert of_positions(shoes._shuffle, 10, 4_000) < most(81)
    assert of_positions(shoes._shuffle, 55, 1_000) < most(54**2)


def test_every_order_is_equally_likely() -> None:
    """Harm: cards that lay together stay together."""
    assert of_orders(shoes._shuffle, 4, 12_000) < most(23)


@pytest.mark.parametrize("mistake", [swap_with_any, stop_one_short])
def test_these_tests_find_a_shuffle_that_is_not_fair(mistake: Shuffle) -> None:
    """Harm: a test that nothing fails."""
    assert of_orders(mistake, 4, 12_000) > most(23)


def test_each_sequence_of_indices_leads_to_another_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: a shuffle that is only nearly fair, beyond what chance can show. All of them, counted: 5 x 4 x 3 x 2."""
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


@pytest.mark.parametrize("word", [8, 16, 32, 64])
def test_the_index_draw_has_no_modulo_bias(word: int) -> None:
    """Harm: the remainder of a machine word makes low indices likelier. Where three quarters of a word are wanted,
    such a draw would give the lower third half of the time."""
    bound, times = 3 * 2 ** (word - 2), 6_000
    thirds = Counter(shoes.secrets.randbelow(bound) * 3 // bound for _ in range(times))
    assert chi_square([thirds[third] for third in range(3)], times / 3) < most(2)
    by_remainder = Counter(shoes.secrets.randbits(word) % bound * 3 // bound for _ in range(times))
    assert chi_square([by_remainder[third] for third in range(3)], times / 3) > most(2)


def test_a_shuffle_keeps_the_cards() -> None:
    """Harm: a card more or less."""
    ranks = [rank for rank in RANKS for _ in range(rank * 8)]
    assert count(shoes._shuffle(ranks)) == shoe(8)
    assert shoes._shuffle([]) == []
