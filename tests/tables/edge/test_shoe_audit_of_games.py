"""The shoe audit of games on standard cards: each wager by its own edge, and who bet by it."""

import csv
import io
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from ledger.models import LogEntry
from tables.edge import shoe_audit, worth
from tables.edge.shoe_audit import SCALE, NotFinished, ShoeAudit
from tables.games.cards import BY_RANK, Composition, pack_of
from tables.games.protocol import DEALER, AskCard, AskChoice
from tables.maths import baccarat, blackjack
from tables.maths.advantage import providers
from tables.maths.standard import by_rank
from tables.reports import figures, gaming_hours
from tables.roles import Role
from tests import floor
from tests.floor import Hand, dealt
from tests.load import whole
from tests.ready import ready_made
from tests.tables.chance import by_seed

Bets = dict[tuple[int, str], int]
EZ = {"decks": 4, "commission": "ez", "spread": ["tie", "dragon_7", "player_pair"]}
MANY = ["perfect_pairs", "twenty_one_plus_three"]


def play_round(dealer: Hand, bets: Bets, chance: random.Random) -> None:
    """From the bets to the last payment; seats choose by chance."""
    for (seat, wager), cents in bets.items():
        dealer("bet", seat=seat, amount_cents=cents, wager=wager)
    dealer("close_bets")
    while (current := dealer.now.round) is not None and (prompts := current.game.prompts(current.state)):
        ask = prompts[0]
        if isinstance(ask, AskChoice) and ask.seat != DEALER:
            dealer("choose", seat=ask.seat, choice=chance.choice(ask.choices).name)
        elif dealer.board.due == "deal":
            dealer("deal")
        else:
            turned = next(turn for turn in prompts if isinstance(turn, AskCard))
            dealer("standard_card", card=pack_of(turned.gone).spell(chance.choice(turned.may_come)))
    dealer.pay()


def seen_before(dealer: Hand, number: int) -> Composition:
    """The cards that lay faceup in the rounds before one, by rank, as the log spells them, and the burned one."""
    counts = [0] * 13
    book = LogEntry.objects.filter(book_id=dealer.table.book_id)
    turned = book.filter(subject="shoe", kind="burned").latest("seq").content["shoe"]["standard"].get("turned", 0)
    cards = [turned] if turned else []
    for entry in book.filter(subject="round", round__lt=number):
        cards += [action["rank"] for action in entry.content.get("actions", []) if action["do"] == "card"]
    for card in cards:
        counts[(card - 1) % 13] += 1
    return tuple(counts)


def shoe_of_baccarat(seed: int, bets: Callable[[float], Bets], rounds: int) -> Hand:
    """A shoe whose bets follow the edge of dragon 7, as a card counter's would."""
    dealer, _ = dealt(name="Table 1", game="baccarat", source="house", options=EZ, seats=3)
    values, rules = providers.round_provider("baccarat"), baccarat.Rules(**EZ | {"spread": tuple(EZ["spread"])})  # type: ignore[arg-type]
    assert values is not None
    for _ in range(rounds):
        if dealer.board.due != "bets":
            break
        unseen = tuple(full - out for full, out in zip(BY_RANK.shoes[4], dealer.now.gone, strict=True))
        play_round(dealer, bets(values.edges(rules, unseen)["dragon_7"].house), random.Random(seed))
    dealer("retire_shoe")
    shoe_audit.audit_shoes()
    return dealer


@pytest.fixture
def baccarat_table(db: None, monkeypatch: pytest.MonkeyPatch) -> Hand:
    """Four rounds: seat 1 bets on the player and dragon 7, seat 3 on the banker and the tie; seat 1 once, too."""
    by_seed(monkeypatch, 3)
    return _four_rounds()


@ready_made
def _four_rounds() -> Hand:
    sizes = iter([1_000, 3_000, 2_000, 5_000])

    def bets(_: float) -> Bets:
        size = next(sizes)
        own = {(1, "player"): size, (1, "dragon_7"): 1_000, (3, "banker"): 2_000, (3, "tie"): size}
        return own | ({(1, "tie"): 4_000} if size == 2_000 else {})

    return shoe_of_baccarat(3, bets, 4)


def test_every_wager_has_its_exact_edge_before_each_round(baccarat_table: Hand) -> None:
    """Harm: a bet on dragon 7 is worth what a bet on the player is; or the cards that are gone are not looked at."""
    rows = {row.wager: row for row in ShoeAudit.objects.all()}
    assert set(rows) == {"player", "banker", "tie", "dragon_7"}, "nobody bet on a pair"
    rules = baccarat_table.now.round.rules if baccarat_table.now.round else None
    assert isinstance(rules, baccarat.Rules)
    for place in range(4):
        dealt_before = seen_before(baccarat_table, place + 1)
        unseen = tuple(full - out for full, out in zip(BY_RANK.shoes[4], dealt_before, strict=True))
        exact = baccarat.sheet(rules, unseen).wagers
        for wager, row in rows.items():
            line = row.rounds[place]
            assert tuple(line["gone"]) == dealt_before
            assert line["edge"] == round(exact[wager].house_edge * SCALE)
            assert line["variance"] == pytest.approx(exact[wager].standard_deviation ** 2 * SCALE, rel=1e-12)
    assert [[bet[:2] for bet in line["bets"]] for line in rows["tie"].rounds] == [
        [[3, 1_000]], [[3, 3_000]], [[1, 4_000], [3, 2_000]], [[3, 5_000]],
    ]  # fmt: skip
    assert rows["tie"].staked_cents == 15_000
    assert rows["tie"].crossed == 2 * 4_000 * 2_000


def test_the_page_and_the_list_tell_a_shoe_wager_by_wager(baccarat_table: Hand) -> None:
    """Harm: an auditor who sees one wager of a shoe and takes it for all; or cannot compute it again."""
    row = ShoeAudit.objects.filter(wager="tie").get()
    client = floor.client(floor.staff(Role.AUDITOR, "some_auditor"))
    address = reverse("pit:shoe", args=[baccarat_table.table.pk, row.begun_seq])
    page = client.get(address).content.decode()
    assert "Did bets on player follow the edge?" in page
    assert "?wager=dragon_7" in page
    tie = client.get(address, {"wager": "tie"}).content.decode()
    assert "Did bets on tie follow the edge?" in tie
    assert "<td>40</td>" in tie
    every = client.get(reverse("pit:shoes")).content.decode()
    assert "Table 1, seat 3, tie" in every
    assert every.count("Table 1, shoe 1</a>") == 1
    answer = client.get(reverse("pit:shoe-csv", args=[baccarat_table.table.pk, row.begun_seq]))
    lines = list(csv.DictReader(io.StringIO(whole(answer).decode("utf-8-sig"))))
    assert len(lines) == 17
    assert [line["bet_cents"] for line in lines if line["wager"] == "tie" and line["seat"] == "1"] == ["4000"]
    assert int(lines[0]["unseen_A"]) + int(lines[0]["unseen_K"]) in (31, 32), "of the first card burned it is known"


def test_the_theoretical_win_adds_up_wager_by_wager(baccarat_table: Hand) -> None:
    """Harm: a house that reckons a tie at the player's edge, or by a full shoe what it dealt from a rest of one."""
    (line,) = figures.day(gaming_hours.day_of(timezone.now())).lines
    rows = ShoeAudit.objects.all()
    assert line.theoretical == sum((Fraction(int(row.worth), SCALE) for row in rows), Fraction())
    assert (line.theoretical_is, line.audited_cents) == (figures.EXACT, line.handle_cents)
    (audited,) = worth.of([(baccarat_table.table.book_id, 0, 10**9)])
    assert {name: bets.staked_cents for name, bets in audited.wagers.items()} == {
        row.wager: row.staked_cents for row in rows
    }
    cut = rows[0].rounds[1]["seq"]
    parts = worth.of([(baccarat_table.table.book_id, 0, cut), (baccarat_table.table.book_id, cut, 10**9)])
    for name, bets in audited.wagers.items():
        assert sum(part.wagers[name].cents for part in parts) == bets.cents


@pytest.mark.slow("values shoes card by card")
def test_who_counts_for_dragon_7_is_flagged_and_who_does_not_is_not(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: a counter of the side bets, where counters of baccarat live, is never seen; or a neighbour is blamed."""
    chance = random.Random(1)

    def bets(edge: float) -> Bets:
        sizes = {1: 10_000 if edge < 0.076 else 1_000, 2: chance.choice([1_000, 5_000, 10_000])}
        own = {(seat, "dragon_7"): cents for seat, cents in sizes.items()}
        return own | {(seat, "player"): 5_000 for seat in sizes}

    by_seed(monkeypatch, 4)
    shoe_of_baccarat(4, bets, 60)
    row = ShoeAudit.objects.get(wager="dragon_7")
    counter, innocent = row.seats
    assert len(row.rounds) > 30
    assert shoe_audit.flagged(counter), shoe_audit.chance_of(counter)
    assert not shoe_audit.flagged(innocent), shoe_audit.chance_of(innocent)
    assert not any("of" in seat for seat in ShoeAudit.objects.get(wager="player").seats), "a bet that never changed"


@pytest.mark.slow("values shoes card by card")
def test_blackjack_is_valued_by_the_cards_that_are_gone(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: the game that is counted most is not audited; or a double, or insurance, counts as a bet by the edge."""
    by_seed(monkeypatch, 8)
    options = {"decks": 2, "splits": 0, "spread": MANY}
    dealer, _ = dealt(name="Table 1", game="blackjack", source="house", options=options, seats=3, max_cents=50_000)
    chance = random.Random(8)
    for _ in range(2):
        play_round(dealer, {(1, "main"): 2_000, (2, "main"): 4_000, (2, "perfect_pairs"): 1_000}, chance)
    current = dealer.now.round
    dealer("retire_shoe")
    shoe_audit.audit_shoes()
    main, pairs = ShoeAudit.objects.order_by("wager")
    assert (main.wager, pairs.wager) == ("main", "perfect_pairs")
    assert [[bet[:2] for bet in line["bets"]] for line in main.rounds] == [[[1, 2_000], [2, 4_000]]] * 2
    assert current is not None
    for line in (main.rounds[0], main.rounds[-1]):
        unseen = tuple(full - out for full, out in zip(pack_of(line["gone"]).shoes[2], line["gone"], strict=True))
        best = -blackjack.solve(current.rules, by_rank(unseen)).mean
        assert best - 0.0005 < line["edge"] / SCALE < best + 0.01, "the chart of a full shoe loses a little"
    (figure,) = figures.day(gaming_hours.day_of(timezone.now())).lines
    assert figure.theoretical == Fraction(int(main.worth + pairs.worth), SCALE)


@pytest.mark.parametrize(
    ("game", "source", "options"),
    [("baccarat", "csm", {}), ("blackjack", "house", {"decks": 1, "insurance": False})],
)
def test_where_every_round_comes_from_whole_decks_there_is_nothing_to_audit(
    db: None, monkeypatch: pytest.MonkeyPatch, game: str, source: str, options: dict[str, Any]
) -> None:
    """Harm: players are tested against an edge that never moved; or each run reads all history of such a table."""
    by_seed(monkeypatch, 2)
    dealer, _ = dealt(name="Table 1", game=game, source=source, options=options, seats=3)
    play_round(dealer, {(1, dealer.board.prompts[0].wager): 2_000}, random.Random(2))
    if dealer.board.due != "bets":
        dealer.ready_shoe()
    begun = LogEntry.objects.filter(book_id=dealer.table.book_id, subject="shoe", kind="shuffled").earliest("seq").seq
    dealer("retire_shoe")
    shoe_audit.audit_shoes()
    row = ShoeAudit.objects.get()
    assert (row.rounds, row.seats, row.staked_cents) == ([], [], 0)
    shoe_audit.audit_shoes()
    assert ShoeAudit.objects.count() == 1
    if row.begun_seq != begun:
        with pytest.raises(NotFinished, match="shuffled for every round"):
            shoe_audit.of(dealer.table, begun)
