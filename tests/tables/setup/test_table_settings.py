"""What an operator may set about a table, when it may change, and what the log says of it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection
from msgspec import UNSET, structs

from ledger.models import Account, LogEntry
from tables.approvals import proposals
from tables.audit import condition, proofs
from tables.cage import denominations
from tables.edge import cached_sheets, favour
from tables.games.catalog import GAMES
from tables.games.protocol import MOST_CENTS
from tables.log.catalog import read
from tables.log.message import text_of
from tables.log.terms import Settings, rounding_words, rules_of
from tables.models import Denomination, Staff, Table
from tables.refusals import Refused
from tables.roles import Role
from tables.setup import payouts, table_settings
from tables.state import table_state
from tests import floor
from tests.tables.at_once import at_once

SETTINGS = Settings(
    options={"decks": 2}, unit_cents=100, min_cents=1_000, max_cents=10_000, denominations=(100, 500, 2_500)
)


@pytest.fixture
def operator(db: None) -> Staff:
    """Somebody who sets up tables, in a house that has chips."""
    for value, colour, face in floor.CHIPS:
        Denomination.objects.create(value_cents=value, colour=colour, face=face)
    return floor.staff(Role.OPERATOR, "omar")


@pytest.fixture
def dealt(operator: Staff) -> floor.Hand:
    """A table of the floor's own, ready for bets."""
    return floor.dealt()[0]


def entries(table: Table) -> list[dict[str, Any]]:
    """The bodies of the entries about a table's settings."""
    rows = LogEntry.objects.filter(book=table.book, subject="table", kind="settings_changed").order_by("seq")
    return [{"by": entry.by, "content": entry.content} for entry in rows]


def latest_entry(table: Table) -> str:
    """What the newest entry of a table's book says."""
    entry = LogEntry.objects.filter(book=table.book).latest("seq")
    return text_of(read(entry.subject, entry.kind, entry.body).description())


def fields(refused: Any) -> dict[str, str]:
    return dict(refused.value.facts["fields"])


# --- A new table ----------------------------------------------------------------------------------------------


def test_a_new_table_has_its_places_for_chips_and_its_log_has_the_operator_and_the_settings(operator: Staff) -> None:
    """Harm: the log does not contain the settings of the first rounds; or the default of a later version changes an
    option that was not named."""
    table = table_settings.create_table("Rocket 9", SETTINGS, by=operator)
    assert rules_of(table).unit == 100
    (entry,) = entries(table)
    assert entry["by"] == "omar Omar"
    assert entry["content"]["before"] == {}
    assert entry["content"]["after"]["denominations"] == [2_500, 500, 100]
    assert entry["content"]["after"]["options"] == {"decks": 2, "burn": 5, "reshuffle_at": 0.2, "start": "dealer_left"}
    layout = Account.objects.filter(book=table.book, place="layout").values_list("seat", flat=True)
    assert sorted(layout) == [1, 2, 3, 4, 5, 6]
    assert table_settings.settings_of(Table.objects.get(pk=table.pk)) == replace(
        SETTINGS, options=entry["content"]["after"]["options"], denominations=(2_500, 500, 100)
    )
    assert proofs.verify(table.book).fault is None


WRONG: list[tuple[str, dict[str, Any], str, str]] = [
    ("an unknown game", {"game": "poker"}, "game", "There is no game 'poker'; there is baccarat, "),
    ("no seat", {"seats": 0}, "seats", "Rocket is played with 1 to 6 seats."),
    ("too many seats", {"seats": 7}, "seats", "Rocket is played with 1 to 6 seats."),
    ("an unknown shoe", {"source": "magic"}, "source", "A shoe is one of keyed, house, csm, batch."),
    ("a unit of nothing", {"unit_cents": 0}, "unit_cents", "The smallest chip is more than 0"),
    ("a unit beyond all chips", {"unit_cents": 10**18}, "unit_cents", "The smallest chip is more than 0"),
    (
        "a unit beyond the game's",
        {"unit_cents": 10**13},
        "unit_cents",
        "Rocket does not take so large a smallest chip.",
    ),
    ("a minimum of nothing", {"min_cents": 0}, "min_cents", "The minimum is more than 0"),
    ("a minimum between two bets", {"min_cents": 1_500}, "min_cents", "a multiple of 10, ten chip units: 10 or 20."),
    ("a minimum under ten units", {"min_cents": 500}, "min_cents", "a multiple of 10, ten chip units: 10."),
    ("a maximum between two bets", {"max_cents": 10_001}, "max_cents", "ten chip units: 100 or 110."),
    ("a maximum beyond the ledger", {"max_cents": 10**30}, "max_cents", "at most 10,000,000,000,000."),
    ("a maximum under the minimum", {"min_cents": 20_000}, "max_cents", "The maximum is under the minimum of 200."),
    ("a cap that no bet fits under", {"cap_cents": 900}, "cap_cents", "The cap is at least the minimum of 10"),
    ("a cap beyond the ledger", {"cap_cents": 10**16}, "cap_cents", "and at most 10,000,000,000,000"),
    ("a bet step between chips", {"bet_step_cents": 1_500}, "bet_step_cents", "The bet step is a multiple of 10, ten "),
    ("a bet step over the maximum", {"bet_step_cents": 20_000}, "bet_step_cents", "and at most the maximum; or empty."),
    ("a minimum between two steps", {"bet_step_cents": 2_000}, "min_cents", "a multiple of 20, the bet step: 20."),
    ("no chips", {"denominations": ()}, "denominations", "A table needs chips."),
    ("chips that are not the house's", {"denominations": (100, 777)}, "denominations", "no chip worth 7.77."),
    ("chips too large to pay with", {"denominations": (500,)}, "denominations", "These chips cannot pay 1,"),
    ("an unknown option", {"options": {"jokers": 2}}, "options", "Object contains unknown field jokers."),
    ("an option out of range", {"options": {"decks": 9}}, "options", "Decks: expected int <= 8."),
    ("an option of another kind", {"options": {"decks": "two"}}, "options", "Decks: expected int, got str."),
    ("the unit typed twice", {"options": {"unit": 100}}, "options", "The unit is the table's smallest chip"),
]


def test_settings_that_could_not_be_dealt_are_refused_and_nothing_is_written(operator: Staff) -> None:
    """Harm: wrong settings are accepted, and the fault appears at the table with players waiting."""
    for name, changes, field, sentence in WRONG:
        with pytest.raises(Refused) as refusal:
            table_settings.create_table("Rocket 9", replace(SETTINGS, **changes), by=operator)
        assert sentence in fields(refusal)[field], name
    assert not Table.objects.exists()
    assert not LogEntry.objects.filter(subject="table").exists()
    largest = replace(SETTINGS, max_cents=MOST_CENTS, cap_cents=MOST_CENTS)
    assert table_settings.create_table("High", largest, by=operator).max_cents == MOST_CENTS


BLACKJACK = replace(
    SETTINGS, game="blackjack", options={}, unit_cents=50, bet_step_cents=500, denominations=(50, 100, 500, 2_500)
)


def test_a_new_table_pays_what_it_posts_and_an_old_one_is_named_until_it_does(operator: Staff) -> None:
    """Harm: a blackjack of 15 at a 3:2 table is paid 20; or a table of an earlier release goes on so, and nobody is
    told."""
    denominations.add_denomination(value_cents=50, colour="pink", face="#e5a0bb", by=operator)
    table = table_settings.create_table("Blackjack 1", BLACKJACK, by=operator)
    assert rules_of(table).rounding == "exact"
    assert payouts.underpaying(Table.objects.order_by("name")) == []
    before = replace(BLACKJACK, options={"rounding": "down"}, unit_cents=500)
    old = table_settings.create_table("Blackjack 2", before, by=operator)
    table_settings.create_table("Blackjack 3", replace(before, options={"rounding": "up"}), by=operator)
    table_settings.create_table(
        "Blackjack 4", replace(before, options={"rounding": "down"}, unit_cents=50), by=operator
    )
    assert payouts.underpaying(Table.objects.order_by("name")) == [old]
    assert condition.CHECKS["Payouts"]().says.endswith("because winnings are rounded: Blackjack 2.")
    assert rounding_words(old) == "Winnings are rounded down to whole chips of 5"
    table_settings.change_table(old, {"options": {"rounding": "exact"}}, by=operator)
    assert payouts.underpaying(Table.objects.order_by("name")) == []
    assert condition.CHECKS["Payouts"]().state == condition.Urgency.WELL
    table_settings.change_table(old, {"game": "casino_war", "options": {}}, by=operator)
    assert rules_of(old).rounding == "exact", "another game begins as at a new table"


def test_a_wager_that_favours_the_player_takes_two_people_who_read_by_how_much(
    operator: Staff, terms: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: one operator sets up a game that the casino loses, without dual control and without knowing it; or an
    approval does not say what the casino gives away; or a table of an earlier release loses for years."""
    terms(two_people=False)
    denominations.add_denomination(value_cents=50, colour="pink", face="#e5a0bb", by=operator)
    favoured = replace(BLACKJACK, options={"decks": 1})
    monkeypatch.setattr(table_settings, "_edges", lambda game, rules: {"main": "0.1441 %"} if rules.decks == 1 else {})
    with pytest.raises(Refused) as refusal:
        table_settings.create_table("Blackjack 1", favoured, by=operator)
    assert refusal.value.code == "second_person"
    table = table_settings.create_table("Blackjack 1", BLACKJACK, by=operator)
    with pytest.raises(Refused):
        table_settings.change_table(table, {"options": {"decks": 1}}, by=operator)
    draft = table_settings.draft_of_change(table, {"options": {"decks": 1}})
    assert draft is not None
    proposal = proposals.propose(draft, "A promotion", by=operator)
    assert ("What the player wins on average", "none", "main 0.1441 %") in proposals.changes(proposal)
    with pytest.raises(Refused):
        proposals.approve(proposal, by=operator)
    proposals.approve(proposal, by=floor.staff(Role.OPERATOR, "olga", "302"))
    table.refresh_from_db()
    assert table.player_edges == {"main": "0.1441 %"}
    text = latest_entry(table)
    assert "main favours the player by 0.1441 %" in text
    table_settings.change_table(table, {"max_cents": 5_000}, by=operator)
    table_settings.change_table(table, {"options": {"decks": 6}}, by=operator)
    assert table.player_edges == {}
    assert proofs.verify(table.book).fault is None


PAIR_PLUS = {"pair": "2:1", "flush": "4:1", "straight": "6:1", "three_of_a_kind": "30:1", "straight_flush": "40:1"}


@pytest.mark.parametrize(
    ("game", "wager", "lines", "edge"),
    [("baccarat", "tie", {"tie": "12:1"}, "23.7028 %"), ("three_card_poker", "pair_plus", PAIR_PLUS, "14.6244 %")],
)
def test_a_side_bet_is_judged_as_a_main_wager_is(
    db: None, game: str, wager: str, lines: dict[str, str], edge: str
) -> None:
    """Harm: one operator makes a pay table by which players win a fourth of what they bet on a tie."""
    generous = GAMES[game].pay_form.table_of("Generous", 1, {wager: lines})
    rules = GAMES[game].rules_type(spread=(wager,), pays=generous)
    assert favour.player_edges(game, rules) == {wager: edge}
    assert favour.player_edges(game, structs.replace(rules, spread=())) == {}, "it is not spread"
    assert favour.player_edges(game, structs.replace(rules, pays=UNSET)) == {}


def test_the_database_waits_while_options_are_valued(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: the database ends the idle transaction, and the operator reads that the database does not answer."""
    limits: list[str] = []

    def idle_limit(game: str, rules: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SHOW idle_in_transaction_session_timeout")
            limits.extend(cursor.fetchone())

    monkeypatch.setattr(favour.providers, "full_shoe", idle_limit)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL idle_in_transaction_session_timeout = '15s'")
    assert favour.player_edges("blackjack", GAMES["blackjack"].rules_type(decks=1)) == {}
    assert limits == ["2min"]


@pytest.mark.trial(
    "solves blackjack",
    covered_by="tests/tables/setup/test_table_settings.py::"
    "test_a_wager_that_favours_the_player_takes_two_people_who_read_by_how_much",
)
def test_a_favoured_table_of_an_earlier_release_is_named(operator: Staff) -> None:
    """Harm: the casino loses at a table that an earlier release set up, without a warning."""
    table = floor.table("Blackjack 1", game="blackjack", options={"decks": 1})
    assert favour.player_edges("blackjack", rules_of(table)) == {"main": "0.1441 %"}
    early = structs.replace(rules_of(table), decks=6, surrender="early", hole="none")
    assert favour.player_edges("blackjack", early) == {"main": "0.1261 %"}
    assert favour.player_edges("blackjack", structs.replace(early, surrender="late")) == {}
    assert favour.unapproved([table]) == {}, "no page waits for a worker to value it"
    cached_sheets.value_games()
    assert favour.unapproved([table]) == {table: {"main": "0.1441 %"}}
    says = "Wagers favour the player, and no two people approved that: main at Blackjack 1 by 0.1441 %."
    assert says in condition.CHECKS["Payouts"]().says


def test_bets_go_by_the_bet_step_and_are_paid_in_smaller_chips(operator: Staff) -> None:
    """Harm: a table of half-dollar chips takes bets of 15.50, or a bet of 15 cannot be paid 3 to 2."""
    dealer, _ = floor.dealt(
        name="Blackjack 1",
        game="blackjack",
        unit_cents=50,
        bet_step_cents=500,
        options={"decks": 1, "rounding": "exact"},
    )
    for cents, nearest in ((1_550, [1_500, 2_000]), (1_200, [1_000, 1_500])):
        with pytest.raises(Refused) as refusal:
            dealer("bet", seat=1, amount_cents=cents, wager="main")
        assert "is no multiple of 5, the bet step" in refusal.value.sentence
        assert refusal.value.facts["nearest_cents"] == nearest
    dealer("bet", seat=1, amount_cents=1_500, wager="main")
    dealer("close_bets")
    dealer.cards("A", "9", "K", "8")
    assert [payout.net_cents for payout in dealer.now.round.house_payouts] == [2_250]
    assert proofs.verify(dealer.table.book).fault is None


def test_a_name_that_is_not_unique_in_the_log_is_refused(operator: Staff) -> None:
    """Harm: two tables of one name are mistaken for each other, since a table keeps its name in the log permanently."""
    table_settings.create_table("Rocket 1", SETTINGS, by=operator)
    for name in ("", " ", " Rocket", "Rocket ", "R" * 41, "house", "a\nb", "rocket 1"):
        with pytest.raises(Refused) as refusal:
            table_settings.create_table(name, SETTINGS, by=operator)
        assert set(fields(refusal)) == {"name"}, name


def test_only_operators_set_tables_and_chips(operator: Staff) -> None:
    """Harm: a pit boss who calls the function without the admin sets tables and chips."""
    boss, table = floor.staff(Role.PIT_BOSS, "bella"), table_settings.create_table("Rocket 9", SETTINGS, by=operator)
    chip: dict[str, Any] = {"value_cents": 250, "colour": "pink", "face": "#ffaacc"}
    for act in (
        lambda: table_settings.create_table("Rocket 8", SETTINGS, by=boss),
        lambda: table_settings.change_table(table, {"min_cents": 2_000}, by=boss),
        lambda: denominations.add_denomination(**chip, by=boss),
        lambda: denominations.change_denomination(Denomination.objects.all()[0], {"colour": "rose"}, by=boss),
    ):
        with pytest.raises(Refused) as refusal:
            act()
        assert refusal.value.status == 403


# --- Changes --------------------------------------------------------------------------------------------------


def test_a_change_is_in_the_log_with_what_was_before_and_nothing_else(dealt: floor.Hand, operator: Staff) -> None:
    """A limit that moved without a trace is how a dispute is lost."""
    table_settings.change_table(dealt.table, {"min_cents": 2_000, "max_cents": 10_000}, by=operator)
    assert entries(dealt.table)[-1]["content"] == {
        "before": {"min_cents": 1_000}, "after": {"min_cents": 2_000}, "notice_minutes": 30, "effective_maxima": True
    }  # fmt: skip
    assert proofs.verify(dealt.table.book).fault is None


def test_a_change_of_nothing_is_no_entry(dealt: floor.Hand, operator: Staff) -> None:
    """Entries that say nothing hide those that do."""
    before = dealt.now.seq
    table_settings.change_table(
        dealt.table, {"min_cents": 1_000, "denominations": (100, 500, 2_500, 10_000)}, by=operator
    )
    assert dealt.now.seq == before


def test_new_limits_hold_from_the_next_round_on(dealt: floor.Hand, operator: Staff, terms: Callable[..., None]) -> None:
    """A player who bet under the old limits keeps them until the round is over."""
    terms(limits_notice_minutes=0)
    dealt("bet", seat=1, amount_cents=1_000)
    table_settings.change_table(dealt.table, {"min_cents": 5_000}, by=operator)
    dealt.table.refresh_from_db()
    dealt("bet", seat=2, amount_cents=1_000)
    dealt("close_bets")
    dealt.cards(5, 6, 3)
    dealt.pay()
    with pytest.raises(Refused) as refused:
        dealt("bet", seat=1, amount_cents=1_000)
    assert "under the minimum of 50" in refused.value.sentence
    dealt("bet", seat=1, amount_cents=5_000)
    assert proofs.verify(dealt.table.book).fault is None


WAITS: dict[str, dict[str, Any]] = {
    "options": {"options": {"decks": 2}},
    "seats": {"seats": 4},
    "source": {"source": "house"},
    "denominations": {"denominations": (100, 500)},
    "unit_cents": {"unit_cents": 200, "min_cents": 2_000},
}


def test_settings_that_a_round_depends_on_change_after_it(
    dealt: floor.Hand, operator: Staff, terms: Callable[..., None]
) -> None:
    """Harm: the cards left, the active seats or the chips for payouts change in mid-round and no longer fit it."""
    terms(limits_notice_minutes=0)
    dealt.bets(seat1=1_000)
    seq = dealt.now.seq
    for setting, changes in WAITS.items():
        with pytest.raises(Refused) as refusal:
            table_settings.change_table(dealt.table, changes, by=operator)
        assert set(fields(refusal)) == {setting}
        assert fields(refusal)[setting].startswith("Round 1 is open at Rocket 1: the ")
        assert fields(refusal)[setting].endswith(" can change when it is over.")
    assert dealt.now.seq == seq
    dealt.cards(5, 3)
    dealt.pay()
    for setting, changes in WAITS.items():
        table_settings.change_table(dealt.table, changes, by=operator)
        assert setting in entries(dealt.table)[-1]["content"]["after"]


def test_a_table_that_gains_seats_gains_their_places_on_the_layout(dealt: floor.Hand, operator: Staff) -> None:
    """Else the first stake on the new seat had nowhere to go."""
    table_settings.change_table(dealt.table, {"seats": 2}, by=operator)
    small = table_settings.create_table("Rocket 8", replace(SETTINGS, seats=1), by=operator)
    table_settings.change_table(small, {"seats": 3}, by=operator)
    assert Account.objects.filter(book=small.book, place="layout").count() == 3
    assert Account.objects.filter(book=dealt.table.book, place="layout").count() == 6


@pytest.mark.django_db(transaction=True)
def test_a_round_that_opens_at_the_same_moment_comes_before_or_after_a_change_never_into_it(
    transactional_db: None,
) -> None:
    """Harm: without the lock of the log, a round opens while the seats of its table change."""
    dealer, operator = floor.dealt()[0], floor.staff(Role.OPERATOR, "omar")
    answers = at_once(
        lambda: dealer("bet", seat=6, amount_cents=1_000),
        lambda: table_settings.change_table(Table.objects.get(pk=dealer.table.pk), {"seats": 4}, by=operator),
    )
    [refusal] = [answer for answer in answers if isinstance(answer, Exception)]
    assert isinstance(refusal, Refused), refusal
    table = Table.objects.get(pk=dealer.table.pk)
    assert table_state.of(table).round_open is (table.seats == 6)


# --- Chips ----------------------------------------------------------------------------------------------------


def test_a_new_kind_of_chip_and_another_look_are_in_the_houses_log(operator: Staff) -> None:
    """What a chip is called is what dealers say when they pay: a change without a trace would confuse both."""
    chip = denominations.add_denomination(value_cents=250, colour="pink", face="#ffaacc", by=operator)
    denominations.change_denomination(chip, {"colour": "rose"}, by=operator)
    added, changed = [entry.content for entry in LogEntry.objects.filter(subject="chips").order_by("seq")]
    assert added == {"value_cents": 250, "colour": "pink", "face": "#ffaacc"}
    assert changed == {"value_cents": 250, "before": {"colour": "pink"}, "after": {"colour": "rose"}}


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("value_cents", (0, 500)),
        ("colour", ("red", "R3D", "")),
        ("face", ("pink", "#FFAACC", '#ffaacc" onload="')),
    ],
)
def test_a_chip_that_could_be_taken_for_another_is_refused(operator: Staff, field: str, wrong: tuple[Any, ...]) -> None:
    """Harm: a casino has two red chips, or two chips of 5, and the dealer pays with the wrong one."""
    for value in wrong:
        chip: dict[str, Any] = {"value_cents": 250, "colour": "pink", "face": "#ffaacc"} | {field: value}
        with pytest.raises(Refused) as refusal:
            denominations.add_denomination(**chip, by=operator)
        assert set(fields(refusal)) == {field}, value
