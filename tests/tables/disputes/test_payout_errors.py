"""The mispay finder: a mistake that was planted in a day of rounds is found, with the right sign, and soon."""

import random
import uuid
from collections.abc import Sequence
from dataclasses import replace
from math import exp, pi, sqrt
from time import process_time

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ledger.models import LogEntry
from tables.alerts import bookmarks
from tables.disputes import chip_evidence, payout_error_trials, payout_errors, rack_history, round_evidence
from tables.disputes.payout_errors import Mistake, Suspect
from tables.disputes.rack_history import Dealt, Exchange
from tables.floor import recorder
from tables.floor.inputs import BuyIn, OpenDispute
from tables.games.protocol import Payout
from tables.log.payout_error_rates import DEFAULTS
from tables.roles import Role
from tables.setup import policies
from tests import floor
from tests.floor import Hand, dealt, for_pot
from tests.tables import rocket_day
from tests.tables.rocket_day import KINDS, VALUES
from tests.tiers import sampled

HOUR = 60
"""Rounds of an hour."""


def names(slips: Sequence[Mistake]) -> set[tuple[str, int]]:
    return {(slip.kind, slip.seat) for slip in slips}


def deal_rounds(dealer: Hand, count: int = 1) -> None:
    """Deal rounds in which seat 1 bets 20 and wins 20."""
    for _ in range(count):
        dealer.bets(seat1=2_000)
        dealer.cards(8, 10, 9, 10)
        dealer.pay()


def place_of(suspects: Sequence[Suspect], number: int) -> int:
    """How far down the list a round is, from 1 on."""
    return next(place for place, suspect in enumerate(suspects, 1) if suspect.round == number)


# --- A planted mistake -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", sampled(sorted(KINDS), "deals an hour and searches it", test=3))
def test_a_planted_mistake_is_in_the_list(kind: str) -> None:
    """Harm: the one round that the pit looks for is left out, and somebody else's is blamed."""
    for seed in range(4):
        chance = random.Random(f"{kind} {seed}")
        day = rocket_day.day(HOUR, chance)
        planted = rocket_day.plant(kind, day, chance)
        suspects = payout_errors.suspects(day, [], planted.rack_cents, VALUES)
        (suspect,) = [suspect for suspect in suspects if suspect.round == planted.round]
        assert (kind, planted.seat) in names(suspect.slips)
        assert {slip.rack_cents for suspect in suspects for slip in suspect.slips} == {planted.rack_cents}


@pytest.mark.slow("deals rounds and searches them")
def test_planted_mistakes_of_an_hour_are_soon_come_to() -> None:
    """Harm: a list in which the true round stands as far down as chance would put it."""
    places = []
    for seed in range(3):
        chance = random.Random(seed)
        day = rocket_day.day(HOUR, chance)
        for kind in KINDS:
            planted = rocket_day.plant(kind, day, chance)
            suspects = payout_errors.suspects(day, [], planted.rack_cents, VALUES)
            places.append((place_of(suspects, planted.round), len(suspects)))
    within_five = sum(place <= 5 for place, _ in places) / len(places)
    first_half = sum(place <= (listed + 1) / 2 for place, listed in places) / len(places)
    assert within_five > 0.25
    assert first_half > 0.6


def test_an_odd_amount_leads_to_its_round() -> None:
    """Harm: an amount that only one round can explain, lost among those that are near it."""
    chance = random.Random(5)
    day = rocket_day.day(300, chance)
    index = next(index for index, dealt in enumerate(day) if any(payout.net_cents > 0 for payout in dealt.payouts))
    odd = tuple(replace_bet(payout, 3_700) if payout.net_cents > 0 else payout for payout in day[index].payouts)
    day[index] = replace(day[index], payouts=odd)
    won = next(payout for payout in odd if payout.net_cents > 0)
    suspects = payout_errors.suspects(day, [], -won.net_cents, VALUES)
    assert place_of(suspects, day[index].number) <= 5


def replace_bet(payout: Payout, bet: int) -> Payout:
    assert payout.card is not None
    return Payout(payout.seat, bet, bet + payout.card * bet // 10, payout.outcome, card=payout.card, why=payout.why)


# --- The sign --------------------------------------------------------------------------------------------------


def of(*payouts: tuple[int, int, int, str, int | None]) -> Dealt:
    """A round of these payouts: seat, staked, net, outcome, card."""
    paid = tuple(Payout(seat, bet, bet + net, outcome, card=card, why="") for seat, bet, net, outcome, card in payouts)
    return replace(rocket_day.deal(1, random.Random(1)), game=NoCards(), actions=(), payouts=paid)


class NoCards(type(rocket_day.GAME)):  # type: ignore[misc]
    """Rocket, of which only what was paid is looked at."""


@pytest.mark.parametrize(
    ("variance", "slip"),
    [
        (-1_000, ("paid_twice", 1)),
        (1_000, ("not_paid", 1)),
        (2_000, ("wrong_way", 1)),
        (3_000, ("wrong_way", 1)),
        (-600, ("not_taken", 2)),
        (600, ("taken_twice", 2)),
        (-1_200, ("wrong_way", 2)),
        (1_400, ("took_all", 2)),
        (-3_000, ("push_paid", 3)),
        (3_000, ("took_all", 3)),
        (500, ("other_rank", 1)),
        (-100, ("chip_more", 2)),
        (100, ("chip_more", 2)),
    ],
)
def test_each_mistake_leaves_the_rack_off_in_its_own_direction(variance: int, slip: tuple[str, int]) -> None:
    """Harm: the house looks for a seat that it paid twice when it was the player who was not paid."""
    won, lost, even = (1, 2_000, 1_000, "dealer_pair", 10), (2, 2_000, -600, "fold", 3), (3, 3_000, 0, "push", None)
    assert slip in names(payout_errors.slips(of(won, lost, even), variance, VALUES))


def test_a_payout_of_another_bet_is_found() -> None:
    """Harm: a bet is paid as its neighbour's, with chips that were not keyed or at the odds of another outcome, and the
    search finds only double payments."""
    neighbours = of((1, 2_000, 1_800, "dealer_pair", 9), (2, 5_000, 4_500, "dealer_pair", 9))
    assert ("neighbour", 1) in names(payout_errors.slips(neighbours, -2_700, VALUES))
    assert ("neighbour", 2) in names(payout_errors.slips(neighbours, 2_700, VALUES))
    won = of((4, 5_000, 2_000, "dealer_pair", 4))
    assert ("other_bet", 4) in names(payout_errors.slips(won, -1_000, VALUES))  # 75 lay there: 30 was paid, not 20
    assert ("other_bet", 4) in names(payout_errors.slips(won, 1_000, VALUES))  # 25 lay there
    natural = of((1, 2_000, 3_000, "blackjack", None))
    assert ("other_odds", 1) in names(payout_errors.slips(natural, 1_000, VALUES, payout_errors.odds_of([natural])))


@pytest.mark.parametrize(("fours_gone", "possible"), [(0, True), (3, False)])
def test_a_card_is_only_another_one_that_could_have_come(fours_gone: int, possible: bool) -> None:
    """Harm: the pit is told that a fifth 4 may have lain there, in a deck that has four."""
    dealt = (0, 0, 0, fours_gone, *(0,) * 6)
    round_ = rocket_day.by_hand({1: 2_000}, [8, 10, 9, 4, 7, 10], dealt)
    assert [pay.net_cents for pay in round_.payouts] == [2_000]
    texts = {slip.says for slip in payout_errors.slips(round_, 1_200, VALUES) if slip.kind == "card"}
    assert ("Card 3 of the dealer was named 10 and may have been 4." in texts) == possible


def test_trouble_makes_a_round_likelier_and_players_who_are_paid_too_little_speak_up() -> None:
    """Harm: a list that puts what would have been noticed before what would not."""
    won = of((1, 2_000, 1_000, "dealer_pair", 5))
    (overpaid,) = [slip for slip in payout_errors.slips(won, -1_000, VALUES) if slip.kind == "paid_twice"]
    (underpaid,) = [slip for slip in payout_errors.slips(won, 1_000, VALUES) if slip.kind == "not_paid"]
    assert underpaid.weight == payout_errors.RATES["not_paid"] * payout_errors.PLAYERS_NOTICE
    (again,) = [
        slip for slip in payout_errors.slips(replace(won, troubled=True), -1_000, VALUES) if slip.kind == "paid_twice"
    ]
    assert again.weight == overpaid.weight * payout_errors.TROUBLED


def test_neighbouring_keys_are_pressed_for_each_other() -> None:
    """Harm: a 2 for a 9 is thought as likely as a 2 for a 3."""
    assert payout_errors.nearness(2, 3) > payout_errors.nearness(2, 4) > payout_errors.nearness(2, 9)
    assert payout_errors.nearness(6, 9) > payout_errors.nearness(5, 8)


# --- Exchanges -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("exchange", "variance", "kind"),
    [
        (Exchange(1, "buy_in", 5_000, 2), 5_000, "brought_as_bought"),
        (Exchange(1, "buy_in", 5_000, 2), -5_000, "given_twice"),
        (Exchange(1, "buy_in", 5_000, 2), 2_500, "chip_more"),
        (Exchange(1, "buy_in", 5_000, 2), -7_500, "chip_other"),
        (Exchange(1, "brought", 5_000, 2), -5_000, "bought_as_brought"),
        (Exchange(1, "rake", 300, None, 7), -300, "rake_missed"),
        (Exchange(1, "rake", 300, None, 7), 300, "taken_twice"),
        (Exchange(1, "rake", 300, None, 7), -100, "chip_more"),
        (Exchange(1, "time_charge", 500, 3), -500, "charge_missed"),
    ],
)
def test_what_goes_wrong_in_an_exchange(exchange: Exchange, variance: int, kind: str) -> None:
    """Harm: a shortage at a table with a pot is looked for in games, where no chip of the house moves."""
    assert kind in {slip.kind for slip in payout_errors.exchange_slips(exchange, variance, VALUES)}
    (suspect, *_) = payout_errors.suspects([], [exchange], variance, VALUES)
    assert suspect.round == exchange.round


# --- In a table's log ------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_only_the_rounds_of_a_span_are_searched() -> None:
    """Harm: a payout error before the last count, which that count has settled, is found again; or an empty page does
    not say whether rounds were searched."""
    dealer, _ = dealt(options={"decks": 6})
    deal_rounds(dealer, 2)
    (round_1, round_2) = rack_history.dealt_rounds(dealer.table.book_id, 1, 2, 0, dealer.now.seq)
    assert [(payout.seat, payout.net_cents) for payout in round_1.payouts] == [(1, 2_000)]
    assert [suspect.round for suspect in payout_errors.find(dealer.table, -2_000, 0, dealer.now.seq).suspects] == [2, 1]
    later = payout_errors.find(dealer.table, -2_000, round_1.seq, dealer.now.seq)
    assert ([suspect.round for suspect in later.suspects], later.rounds) == ([2], 1)
    before = payout_errors.find(dealer.table, -2_000, round_1.seq, round_2.seq - 1)
    assert (before.suspects, before.rounds) == ((), 0)
    assert round_2.seq > round_1.seq
    findings = payout_errors.find(dealer.table, 37, round_1.seq, dealer.now.seq)
    assert (findings.suspects, findings.says) == ((), "No single mistake in 1 round explains this amount.")
    assert payout_errors.find(dealer.table, 0, 0, dealer.now.seq).says.startswith("There is nothing to explain")


@pytest.mark.django_db
def test_a_round_counts_as_it_stands_after_its_corrections() -> None:
    """Harm: a payout that was taken back at the table is suspected in the count."""
    dealer, _ = dealt(options={"decks": 6})
    dealer.bets(seat1=2_000)
    dealer.cards(8, 10, 9, 10)
    dealer.reopens()
    (nothing,) = [*rack_history.dealt_rounds(dealer.table.book_id, 1, 1, 0, dealer.now.seq)] or [None]
    assert nothing is None
    dealer.cards(3)
    dealer.pay()
    (round_,) = rack_history.dealt_rounds(dealer.table.book_id, 1, 1, 0, dealer.now.seq)
    assert ([pay.net_cents for pay in round_.payouts], round_.troubled) == ([600], True)


@pytest.mark.django_db
def test_a_search_is_cut_and_says_where(monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: the search of a long log takes longer and longer, or a search that stopped half way looks complete."""
    dealer, _ = dealt(options={"decks": 6})

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            payout_errors.find(dealer.table, 2_000, 0, dealer.now.seq)
        return len(captured)

    deal_rounds(dealer)
    before = queries()
    deal_rounds(dealer, 3)
    assert queries() <= before
    monkeypatch.setattr(payout_errors, "MOST_ROUNDS", 2)
    findings = payout_errors.find(dealer.table, 2_000, 0, dealer.now.seq)
    assert (findings.rounds, findings.cut_at, [suspect.round for suspect in findings.suspects]) == (2, 3, [4, 3])
    assert findings.says.endswith("Rounds before 3 were not looked at.")


@pytest.mark.django_db
def test_disputes_and_bookmarks_are_read_and_bookmarks_shown_to_nobody_else() -> None:
    """Harm: a pit boss learns from a percentage what the surveillance has marked; or a dispute is not looked at."""
    dealer, boss = dealt(options={"decks": 6})
    deal_rounds(dealer, 3)
    table = dealer.table
    dispute = OpenDispute(round=1, claim="Not paid", claimant="Seat 1", seat=1)
    recorder.record(table, dispute, by=boss.by, key=uuid.uuid4(), expected_seq=None)
    vera = floor.staff(Role.SURVEILLANCE, "vera", "801")
    moment = LogEntry.objects.filter(book=table.book_id, round=2).latest("seq").at
    bookmarks.mark(table, moment, "Leans over", by=vera, round=2)

    def ranked(*, with_bookmarks: bool) -> dict[int | None, tuple[float, tuple[str, ...]]]:
        places = payout_errors.find(table, -2_000, 0, dealer.now.seq, with_bookmarks=with_bookmarks).suspects
        return {place.round: (place.weight, place.reasons) for place in places if place.round}

    pit, watcher = ranked(with_bookmarks=False), ranked(with_bookmarks=True)
    assert pit[1] == (pytest.approx(10 * pit[3][0]), ("a dispute was opened about it",))
    assert pit[2] == (pytest.approx(pit[3][0]), ())
    assert watcher[2] == (pytest.approx(5 * pit[3][0]), ("the surveillance marked it",))
    for viewer, sees in ((boss.by, False), (vera, True)):
        page = floor.client(viewer).get(f"/pit/tables/{table.pk}/mispays/?variance=-20&since=0").content.decode()
        assert "a dispute was opened about it" in page
        assert ("the surveillance marked it" in page) == sees


@pytest.mark.django_db
def test_the_terms_of_the_house_order_the_list() -> None:
    """Harm: an operator sets what the house has counted, and the finder goes on by what we guessed."""
    dealer, _ = dealt(options={"decks": 6})
    deal_rounds(dealer)
    olga = floor.staff(Role.OPERATOR, "olga", "301")
    [before] = payout_errors.find(dealer.table, 2_000, 0, dealer.now.seq).suspects
    assert "not_paid" in {slip.kind for slip in before.slips}
    policies.change({"mispay_rate_not_paid": 0}, by=olga)
    policies.forget()
    assert payout_errors.find(dealer.table, 2_000, 0, dealer.now.seq).suspects == (), "nothing else explains it"


@pytest.mark.django_db
def test_a_table_with_a_pot_is_searched_by_what_its_rack_saw() -> None:
    """Harm: the finder fails at every table that is not Rocket's, or blames a game between players."""
    dealer, _ = for_pot("pairs", seats={1: 5_000, 2: 5_000}, rake_permille=100)
    seq = dealer.now.seq
    recorder.record(dealer.table, BuyIn(3, 4_000, chips=True), by=dealer.by, key=uuid.uuid4(), expected_seq=seq)
    findings = payout_errors.find(dealer.table, 5_000, 0, dealer.now.seq)
    assert {slip.kind for suspect in findings.suspects for slip in suspect.slips} >= {"brought_as_bought"}
    assert [
        slip.kind
        for suspect in payout_errors.find(dealer.table, -4_000, 0, dealer.now.seq).suspects
        for slip in suspect.slips
    ] == ["bought_as_brought"]


def test_a_day_of_a_table_is_searched_in_a_few_seconds() -> None:
    """Harm: nobody waits for it, so nobody uses it. (The bound is ten times what was measured.)"""
    day = rocket_day.day(150, random.Random(1))
    started = process_time()
    payout_errors.suspects(day, [], -600, VALUES)
    assert process_time() - started < 3


# --- What can be told, and how often that is right ------------------------------------------------------------------


def test_what_every_round_explains_names_no_round() -> None:
    """Harm: 27 of 27 rounds explain it, and the first of them is blamed."""
    rounds = [replace(of((1, 2_000, -2_000, "lost", None)), number=number, seq=number * 40) for number in range(1, 28)]
    suspects = payout_errors.suspects(rounds, [], -2_000, VALUES)
    result = payout_errors.Findings(
        -2_000, 0, 1, len(rounds), tuple(suspects), len(suspects), rounds_that_fit=len(suspects)
    )
    assert len(suspects) == 27
    assert result.named is None
    assert "27 of 27 rounds" in result.verdict
    assert "cannot be told" in result.verdict
    assert sum(suspect.share for suspect in suspects) < 1


def test_what_only_one_round_explains_well_is_named() -> None:
    """Harm: a finder that never says anything."""
    won, lost = of((1, 3_700, 3_700, "won", None)), of((1, 1_000, -1_000, "lost", None))
    rounds = [replace(won, number=1, seq=40), *(replace(lost, number=n, seq=40 * n) for n in range(2, 20))]
    suspects = payout_errors.suspects(rounds, [], -100, VALUES)
    assert suspects[0].share <= 1
    [only] = payout_errors.suspects(rounds, [], 7_400, VALUES)
    assert only.round == 1
    assert only.share < payout_errors.NAMED_FROM, "it is so rare that something else is as likely"


def test_chips_by_worth_tell_a_wrong_colour_from_a_forgotten_payment() -> None:
    """Harm: the search ignores the colours of the missing chips, or fails where a chip of 2.50 does not break into
    chips of 1."""
    large, small = of((1, 10_000, 10_000, "won", None)), of((1, 7_500, 7_500, "won", None))
    rounds = [replace(large, number=1, seq=40), replace(small, number=2, seq=80)]
    amount_alone = payout_errors.suspects(rounds, [], 7_500, VALUES)
    colour = payout_errors.VarianceCount(99, {}, ((2_500, -1), (10_000, 1)))
    not_paid = payout_errors.VarianceCount(99, {}, ((2_500, 3),))
    assert {suspect.round for suspect in amount_alone} == {1, 2}
    assert payout_errors.suspects(rounds, [], 7_500, VALUES, colour)[0].round == 1
    assert payout_errors.suspects(rounds, [], 7_500, VALUES, not_paid)[0].round == 2
    even = of((1, 1_000, 1_000, "won", None))
    [suspect] = payout_errors.suspects(
        [even], [], 1_000, (100, 250, 500), payout_errors.VarianceCount(99, {}, ((500, 2),))
    )
    assert suspect.round == 1


def test_bets_that_lay_in_smaller_chips_do_not_hide_a_forgotten_payment() -> None:
    """Harm: two players bet in fives, the rack has 4 greens fewer and 20 reds more, and that is taken for the mistake's
    own trace. A forgotten payment of 75 leaves three greens, and the rest is nothing but broken greens."""
    chips = (100, 500, 2_500, 10_000)
    rounds = [
        replace(of((1, bet, won, "won", None)), number=number, seq=40 * number)
        for number, (bet, won) in enumerate([(10_000, 10_000), (7_500, 7_500), *[(2_500, -2_500)] * 20], 1)
    ]
    off = payout_errors.VarianceCount(99, {}, ((500, 20), (2_500, 3 - 4)))
    paid = payout_errors.suspects(rounds, [], 7_500, chips, off)
    assert paid[0].round == 2
    assert paid[0].share > payout_errors.suspects(rounds, [], 7_500, chips)[0].share
    assert sum(suspect.weight for suspect in paid) == pytest.approx(
        sum(suspect.weight for suspect in payout_errors.suspects(rounds, [], 7_500, chips))
    ), "the chips choose among the mistakes; whether it was none of them they do not say"


def test_how_chips_break_is_reckoned_exactly() -> None:
    """Harm: a number that makes one round of two hundred a hundred times as likely, and is wrong."""
    chips = (100, 500, 2_500)
    assert chip_evidence.broken({2_500: -2, 500: 10 - 3, 100: 15}, chips) == {2_500: 2, 500: 3}
    assert chip_evidence.broken({500: 1, 100: -5}, chips) == {2_500: 0, 500: -1}
    assert chip_evidence.broken({100: 1}, chips) is None, "what is worth something was not broken"
    assert sum(chip_evidence.skellam(count, 1.5, 0.5) for count in range(-40, 41)) == pytest.approx(1)
    drawn = [poisson(chance, 1.5) - poisson(chance, 0.5) for chance in [random.Random(3)] for _ in range(20_000)]
    for count in (-1, 0, 1, 3):
        assert chip_evidence.skellam(count, 1.5, 0.5) == pytest.approx(drawn.count(count) / len(drawn), abs=0.012)
    near, far = chip_evidence.skellam(3, 30, 30), chip_evidence.skellam(3, 19.9, 19.9)
    assert near == pytest.approx(exp(-9 / 120) / sqrt(120 * pi), rel=0.02)
    assert far == pytest.approx(exp(-9 / 79.6) / sqrt(79.6 * pi), rel=0.02)
    loads = payout_errors.loads_of([2_500, 3_000, -2_500, -100], chips)
    assert loads == {2_500: (1.5, 1.0), 500: (0.5, 0.0)}


def poisson(chance: random.Random, mean: float) -> int:
    """By the waits between events."""
    count, waited = 0, chance.expovariate(1)
    while waited < mean:
        count, waited = count + 1, waited + chance.expovariate(1)
    return count


# --- What else is known of a round ----------------------------------------------------------------------------


def three_alike() -> list[Dealt]:
    """Three rounds, far from each other, in each of which 20 may not have been paid."""
    won = of((1, 2_000, 2_000, "won", None))
    return [replace(won, number=number, seq=40 * number, dealer="101 Dora") for number in (10, 20, 30)]


@pytest.mark.parametrize("mark", [round_evidence.DISPUTED, round_evidence.BOOKMARKED])
def test_a_round_that_somebody_looked_at_twice_comes_first(mark: str) -> None:
    """Harm: the player disputes round 10, and the finder names round 30, which is as likely and later."""
    rounds = three_alike()
    assert payout_errors.suspects(rounds, [], 2_000, VALUES)[0].round == 30
    rounds[0] = replace(rounds[0], marks=frozenset({mark}))
    suspect, runner_up, _ = payout_errors.suspects(rounds, [], 2_000, VALUES)
    assert suspect.round == 10
    assert suspect.weight == pytest.approx(runner_up.weight * (10 if mark == round_evidence.DISPUTED else 5))
    assert suspect.reasons


def test_a_round_beside_one_with_a_take_back_is_likelier() -> None:
    """Harm: whoever is put out of step is so for a while, and nobody looks at the next round."""
    rounds = three_alike()
    beside = replace(rounds[0], number=11, seq=441, troubled=True, payouts=())
    suspect, runner_up, _ = payout_errors.suspects([rounds[0], beside, *rounds[1:]], [], 2_000, VALUES)
    assert (suspect.round, suspect.reasons) == (10, ("beside a round with a take-back",))
    assert suspect.weight == pytest.approx(runner_up.weight * 1.5)


def test_a_dealer_who_takes_back_often_errs_often_but_three_rounds_say_little() -> None:
    """Harm: whoever dealt three rounds and took one back is blamed for everything."""
    plain = replace(three_alike()[0], payouts=())
    by = [("101 Dora", number % 5 == 0) for number in range(40)] + [("102 Dan", False)] * 40 + [("103 Di", True)]
    rounds = [
        replace(plain, number=number, dealer=dealer, troubled=troubled)
        for number, (dealer, troubled) in enumerate(by, 1)
    ]
    dealers = round_evidence.dealers_times(rounds)
    assert dealers["102 Dan"] < 0.5 < 1.4 < dealers["103 Di"] < dealers["101 Dora"] < 2
    assert round_evidence.dealers_times(rounds[:40]) == {"101 Dora": pytest.approx(1)}, "nobody to compare with"


def test_the_houses_own_figures_are_believed() -> None:
    """Harm: a house that counted its mispays for a year is told what we guess."""
    won = of((1, 2_000, 2_000, "won", None), (2, 2_000, -2_000, "lost", None))
    never = replace(DEFAULTS, rates={**DEFAULTS.rates, "not_paid": 0.0})
    assert ("not_paid", 1) in names(payout_errors.suspects([won], [], 2_000, VALUES)[0].slips)
    assert ("not_paid", 1) not in names(payout_errors.suspects([won], [], 2_000, VALUES, priors=never)[0].slips)
    loud = replace(DEFAULTS, notice=0.04)
    [quiet], [heard] = (
        payout_errors.suspects([won], [], 2_000, VALUES, priors=figures) for figures in (DEFAULTS, loud)
    )
    assert heard.weight == pytest.approx(quiet.weight / 10)


def test_what_has_to_be_worked_out_goes_wrong_more_often() -> None:
    """Harm: three to two is paid wrongly more often than even money, and is looked at last."""
    even = of((1, 3_000, 3_000, "won", None))
    odd = of((1, 2_000, 3_000, "blackjack", None))
    rounds = [replace(odd, number=1, seq=40), replace(even, number=2, seq=80)]
    assert [suspect.round for suspect in payout_errors.suspects(rounds, [], -3_000, VALUES)] == [1, 2]


def test_a_count_may_be_wrong_itself() -> None:
    """Harm: a stack that was counted twice is looked for in every round."""
    [suspect] = payout_errors.suspects([], [], 50_000, VALUES, payout_errors.VarianceCount(99, {2_500: 10}))
    assert suspect.is_count
    assert "stack of 20" in suspect.slips[0].says


def test_each_mistake_of_a_round_is_found_by_its_own_amount() -> None:
    """Harm: what is measured is another search than the one that people use."""
    chance = random.Random(4)
    for round_ in rocket_day.day(3, chance):
        every = payout_errors.slips(round_, None, VALUES)
        assert every
        for cents in {slip.rack_cents for slip in every}:
            assert [slip for slip in every if slip.rack_cents == cents] == list(
                payout_errors.slips(round_, cents, VALUES)
            )


@pytest.mark.slow("deals rounds and searches them")
@pytest.mark.parametrize("game", payout_error_trials.BANKED)
def test_the_finder_is_measured_on_every_game_against_the_house(game: str) -> None:
    """Harm: a figure in the docs that was never measured for the game that is dealt."""
    lines = (
        list(payout_error_trials.measure([game], searches=1, seed=1, pool_rounds=180)) if game == "dragon_tiger" else []
    )
    pool = payout_error_trials.pool(game, 3, random.Random(1))
    assert all(round_.payouts for round_ in pool.rounds)
    assert all(slip.rack_cents for mistakes in pool.mistakes for slip in mistakes)
    assert any(pool.mistakes)
    for line in lines:
        assert line.tally.first <= line.tally.three <= line.tally.five <= line.tally.searches
