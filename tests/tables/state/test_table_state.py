"""Where a table stands: state plus events equals a fresh read, and no other history is ever served."""

import json
import random
from dataclasses import replace

import pytest
from django.db import transaction

from ledger import cage
from ledger.log import read_head
from tables.audit import proofs, round_steps
from tables.floor import shoes
from tables.games.cards import DECK_SIZE
from tables.games.record import judge
from tables.log.state import TableState
from tables.models import Table
from tables.state import table_state
from tables.state.table_state import Cache
from tests import floor
from tests.floor import Hand, dealt
from tests.tables.chance import Chance, chance
from tests.tiers import sampled

pytestmark = pytest.mark.django_db


def fresh(hand: Hand) -> TableState:
    """What the database says, to somebody who knows nothing."""
    head = read_head(hand.table.book_id)
    return table_state.read_anew([head])[head.book_id]


ANOTHER_PROCESS = Cache(size=100)


def caught_up(table: Table) -> TableState:
    """What another web process says, that folds what was written since it looked at the table last."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_state, "cache", ANOTHER_PROCESS)
        return table_state.of(table)


def check(floor_: Chance) -> None:
    """Check the state of the table, the shoe and the chips after a step."""
    current_standing = floor_.dealer.now
    assert current_standing == fresh(floor_.dealer)
    if current_standing.seq % 3 == 0:
        assert current_standing == caught_up(floor_.dealer.table)
    current = current_standing.round
    if current is not None and current_standing.round_open:
        rules, state = current.rules, current.state
        if not any(play.actions and type(play.actions[0]).__name__ == "Shuffle" for play in current.plays):
            dealt = sum(current.game.gone(state))
            assert dealt + current.game.cards_left(state) + rules.burn == rules.decks * DECK_SIZE
    if current_standing.seq % 5 == 0:
        check_chips(floor_)


def check_chips(floor_: Chance) -> None:
    """Check that chips add up to zero over all places and that none remain on the layout."""
    net = cage.net_effect(cage.all_books())
    assert sum(net.values()) == 0
    layout = cage.chart(floor_.dealer.table.book_id).ids
    assert not any(net.get(account, 0) for (place, _), account in layout.items() if place == "layout")


@pytest.mark.parametrize(
    ("seed", "steps", "settings"),
    sampled(
        [
            (3, 600, {"options": {"decks": 1}}),
            (2, 900, {"options": {"decks": 2, "start": "low_card", "burn": 0}, "seats": 3}),
            (
                7,
                900,
                {"options": {"decks": 1, "reshuffle_at": 0.1, "burn": 20}, "source": "house", "cap_cents": 20_000},
            ),
            (5, 900, {"options": {"decks": 1, "reshuffle_at": 0.1, "burn": 20}}),
        ],
        "walks a table by chance for hundreds of inputs",
    ),
)
def test_folding_each_entry_equals_reading_afresh_whatever_happens(
    seed: int, steps: int, settings: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: a web process that has been up since yesterday sees another table than one that was just started."""
    by_seed = random.Random(seed)  # a house shoe's own chance would meet something else in every run
    monkeypatch.setattr(shoes, "_shuffle", lambda ranks: by_seed.sample(cards := list(ranks), len(cards)))
    floor_ = chance(seed, **settings)
    for _ in range(steps):
        floor_.step()
        check(floor_)
    met = set(floor_.deeds) | set(floor_.refused)
    assert met >= {"paid", "close_table", "sign_out", "load_shoe", "take_back", "bad_bet", "round_open"}
    book = floor_.dealer.table.book
    assert proofs.verify(book).fault is None
    latest = floor_.dealer.now.round
    assert latest is not None
    for number in range(1, latest.number):
        story = round_steps.story(floor_.dealer.table, number)
        assert story is not None
        assert story.record is not None
        answer = judge(json.dumps(story.record))
        assert answer["house_net"] == story.line.house_net_cents


def test_several_tables_are_read_at_once_and_each_gets_its_own() -> None:
    """Harm: one table's round is shown on another's tile."""
    dealer, boss = dealt()
    dealer.bets(seat1=1_000)
    second_table = floor.table("Rocket 2")
    third = floor.table("Rocket 3")
    Hand(third, boss.by)("open_table")
    heads = [read_head(felt.book_id) for felt in (dealer.table, second_table, third)]
    table_state.cache.clear()
    read = table_state.at_all(heads)
    assert read[dealer.table.book_id] == fresh(dealer)
    assert not read[second_table.book_id].is_open
    assert read[third.book_id].is_open
    assert table_state.at_all(heads) == read


def test_a_table_on_which_nothing_happened_stands_at_nothing() -> None:
    """Harm: a new table cannot be opened."""
    table = floor.table()
    assert table_state.of(table) == replace(TableState(), seq=6, hash=read_head(table.book_id).hash)


def test_a_transaction_that_was_rolled_back_leaves_nothing_behind() -> None:
    """Harm: a standing that never became durable is served to the next request."""
    dealer, _ = dealt()
    before = dealer.now
    with transaction.atomic():
        dealer("bet", seat=1, amount_cents=1_000)
        never = dealer.now
        transaction.set_rollback(True)
    assert dealer.now == before
    dealer("bet", seat=2, amount_cents=5_000)
    after = dealer.now
    assert after.seq == never.seq
    assert after.hash != never.hash
    assert after == fresh(dealer)


def test_what_was_rolled_back_elsewhere_is_never_folded_upon() -> None:
    """Harm: an entry that never became durable stays on the screens of one web process for as long as it lives."""
    dealer, _ = dealt()
    with transaction.atomic():
        dealer("bet", seat=1, amount_cents=1_000)
        caught_up(dealer.table)
        transaction.set_rollback(True)
    dealer("bet", seat=2, amount_cents=5_000)
    dealer("bet", seat=3, amount_cents=5_000)
    assert caught_up(dealer.table) == fresh(dealer)


def test_an_old_head_is_read_as_the_table_stood_then() -> None:
    """Harm: what was added since then leaks into a proof that starts in the past."""
    dealer, _ = dealt()
    heads = []
    for cents in (1_000, 2_000, 3_000):
        dealer("bet", seat=1, amount_cents=cents)
        heads.append(read_head(dealer.table.book_id))
    table_state.cache.clear()
    for head, cents in zip(heads, (1_000, 2_000, 3_000), strict=True):
        then = table_state.at(head)
        assert then.seq == head.seq
        assert then.round is not None
        assert then.round.state.bets[0] == cents


def test_the_cache_keeps_a_bounded_number() -> None:
    """Harm: a web process grows with every card that is dealt, until it dies in the middle of an evening."""
    cache = Cache(size=3)
    for number in range(10):
        cache.put(1, TableState(seq=number, hash=bytes([number])))
    assert [cached.seq for cached in cache.items[1].values()] == [8, 9]
    assert cache.get(1, bytes([9])) is not None
    assert cache.get(2, bytes([9])) is None
    cache.put(1, TableState())
    assert cache.newest(1) == cache.get(1, bytes([9]))
    for book in range(2, 9):
        cache.put(book, TableState(hash=b"h"))
    assert [*cache.items] == [6, 7, 8]


def test_a_busy_table_pushes_no_other_out_of_the_cache() -> None:
    """Harm: on a large floor each input reads the table's registers anew, for others were busier meanwhile."""
    cache = Cache(size=2)
    cache.put(1, TableState(seq=5, hash=b"quiet"))
    for number in range(100):
        cache.put(2, TableState(seq=number, hash=bytes([number])))
    assert cache.get(1, b"quiet") is not None
