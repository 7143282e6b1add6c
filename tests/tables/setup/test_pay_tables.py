"""Pay tables that operators make: what may be one, what a table pays by it, and who finds one that was changed."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import override_settings
from msgspec import to_builtins

from ledger.models import LogEntry
from ledger.proof import seals
from tables.audit import day_seals, proofs
from tables.audit.outside import verifier
from tables.audit.outside.bundle import Wrong
from tables.floor import recorder
from tables.games.catalog import GAMES
from tables.games.house_layout import HouseLayout
from tables.games.odds import Odds
from tables.games.record import judge, record_of
from tables.log.catalog import read
from tables.log.message import text_of
from tables.models import PayTable, Staff, Table
from tables.refusals import Refused
from tables.reports import gaming_hours
from tables.roles import Role
from tables.setup import pay_tables, table_settings
from tests import floor
from tests.clock import travelling
from tests.floor import Hand
from tests.tables.bundles import ONE, exported

pytestmark = pytest.mark.slow("sets up a house for each test")

SIDES = {"tie": {"tie": "17:2"}, "player_pair": {"player_pair": "12:1"}}


@pytest.fixture
def olga(db: None) -> Staff:
    return floor.staff(Role.OPERATOR, "olga")


def fields(refused: Any) -> dict[str, str]:
    return dict(refused.value.facts["fields"])


def table_as_shipped() -> Hand:
    """A table of baccarat with its standard pay table, ready for bets."""
    return floor.dealt(name="Table 1", game="baccarat", source="keyed", options={"decks": 8}, seats=3)[0]


def baccarat(by: Staff, **options: Any) -> Hand:
    """A table of baccarat that pays by the newest pay table of the house, ready for bets."""
    dealer = table_as_shipped()
    row = PayTable.objects.filter(game="baccarat").latest("seq")
    set_to(dealer.table, row, by=by, **options)
    return dealer


def set_to(table: Table, row: PayTable | None, *, by: Staff, **options: Any) -> None:
    own = {"pays": pay_tables.option_of(row)} if row else {}
    table_settings.change_table(table, {"options": {"decks": 8} | own | options}, by=by)


def deal_a_tie(dealer: Hand) -> None:
    """Seat 1 has 15 on the tie, and it is one: 8 to 8."""
    dealer("bet", seat=1, amount_cents=1_500, wager="tie")
    dealer("close_bets")
    dealer.cards("7", "4", "A", "4")
    dealer.pay()


def last_round(dealer: Hand) -> Any:
    current = dealer.now.round
    assert current is not None
    return current


def fault(table: Table) -> str:
    broken = proofs.verify(table.book).fault
    return broken.what if broken else ""


# --- Making one ------------------------------------------------------------------------------------------------


def test_versions_of_a_name_rise_and_stand_in_the_houses_book(olga: Staff) -> None:
    """Harm: two pay tables of one name, and nobody can say by which of them a table pays."""
    version_1 = pay_tables.make("baccarat", "Sides", SIDES, by=olga)
    version_2 = pay_tables.make("baccarat", "Sides", {"tie": {"tie": "9:1"}}, by=olga)
    of_war = pay_tables.make("casino_war", "Sides", {"tie": {"tie": "11:1"}}, by=olga)
    assert [(row.game, row.version) for row in (version_1, version_2, of_war)] == [
        ("baccarat", 1), ("baccarat", 2), ("casino_war", 1),
    ]  # fmt: skip
    entry = LogEntry.objects.get(book__name="house", seq=version_1.seq)
    assert (entry.subject, entry.kind, entry.by) == ("pay_table", "made", "olga Olga")
    assert entry.content == {
        "game": "baccarat", "name": "Sides", "version": 1, "wagers": SIDES, "sha256": version_1.sha256,
    }  # fmt: skip
    assert len({version_1.sha256, version_2.sha256, of_war.sha256}) == 3
    words = "Pay table Sides version 1 of baccarat: player pair 12:1; tie 17:2"
    assert text_of(read(entry.subject, entry.kind, entry.body, house=True).description()) == words
    assert proofs.verify(entry.book).fault is None


def test_an_operator_alone_makes_one(db: None) -> None:
    """Harm: who runs a table sets what it pays."""
    with pytest.raises(Refused, match="Only an operator"):
        pay_tables.make("baccarat", "Sides", SIDES, by=floor.staff(Role.PIT_BOSS, "bea"))
    assert not PayTable.objects.exists()


WRONG: list[tuple[str, str, Any, dict[str, str]]] = [
    ("baccarat", "Sides", {}, {"wagers": "Fill in the lines of a wager at least."}),
    ("rocket", "Sides", SIDES, {"game": "Pay tables are made of baccarat, blackjack, casino_war,"}),
    ("baccarat", " Sides", SIDES, {"name": "A pay table's name has 1 to 40 characters"}),
    (
        "baccarat",
        "Sides",
        {"tie": {"tie": "90:1"}, "player_pair": {"player_pair": "11"}, "banker_pair": {"banker_pair": "22:2"}},
        {
            "wagers.tie.tie": "Tie, both have the same points: pays 5:1 to 12:1, not 90:1.",
            "wagers.player_pair.player_pair": "Odds are written as 9:1 or 3:2, not '11'.",
            "wagers.banker_pair.banker_pair": "Odds are written in lowest terms: 11:1.",
        },
    ),
    (
        "three_card_poker",
        "Bonus",
        {"ante_bonus": {"straight": "4:1", "three_of_a_kind": "", "straight_flush": "5:1"}},
        {
            "wagers.ante_bonus.straight": "Ante bonus, straight: pays 1:1 to 3:1, or 0:1, not 4:1.",
            "wagers.ante_bonus.three_of_a_kind": "Odds are missing: a table has all lines of a wager, or none.",
        },
    ),
    ("casino_war", "T", {"tie": {"tie": "1001:101"}}, {"wagers.tie.tie": "Tie, the first cards have one rank"}),
    ("casino_war", "T", {"tie": {}}, {"wagers.tie": "It leaves out the line tie."}),
    ("casino_war", "T", {"raise": {"raise": "2:1"}}, {"wagers": "Casino_war pays tie by a table, not 'raise'."}),
]


def test_what_is_not_of_the_form_is_refused_with_its_place(olga: Staff) -> None:
    """Harm: 90 to 1 for 9 to 1, found when the first tie is paid."""
    for game, name, wagers, wrong in WRONG:
        with pytest.raises(Refused) as refusal:
            pay_tables.make(game, name, wagers, by=olga)
        sentences = fields(refusal)
        assert sentences.keys() == wrong.keys()
        assert all(sentences[place].startswith(opening) for place, opening in wrong.items()), sentences
    assert not PayTable.objects.exists()
    assert not LogEntry.objects.filter(subject="pay_table").exists()


def test_a_version_that_pays_as_the_last_one_is_none(olga: Staff) -> None:
    """Harm: a second press of the button makes a version that differs in nothing."""
    pay_tables.make("baccarat", "Sides", SIDES, by=olga)
    with pytest.raises(Refused, match="Sides version 1 pays just so already"):
        pay_tables.make("baccarat", "Sides", dict(reversed(SIDES.items())), by=olga)


# --- In use ----------------------------------------------------------------------------------------------------


def test_a_table_pays_by_it_and_each_round_pins_its_lines(olga: Staff) -> None:
    """Harm: a round of which nobody can say years later what it should have paid."""
    row = pay_tables.make("baccarat", "Sides", SIDES, by=olga)
    dealer = baccarat(olga, tie_pays=9)
    entry = LogEntry.objects.filter(book=dealer.table.book, subject="table").latest("seq")
    assert words_of(entry) == "Changed: pays Sides version 1, tie pays 8 → 9"
    deal_a_tie(dealer)
    played = last_round(dealer)
    assert played.house_payouts[0].wagers[0].returned_cents == 1_500 + 12_700  # 17 to 2 on 15.00 is 127.50
    assert played.game.explain(played.house_payouts[0].wagers[0]) == "tie at 8, pays 17 to 2"
    record = record_of(
        played.game, played.rules, played.opening, [action for play in played.plays for action in play.actions]
    )
    assert record["options"]["pays"] == {"name": "Sides", "version": 1, "wagers": SIDES, "sha256": row.sha256}
    assert judge(json.dumps(record))["house_net"] == played.house_net_cents
    assert fault(dealer.table) == ""


def words_of(entry: LogEntry) -> str:
    return text_of(read(entry.subject, entry.kind, entry.body).description())


def test_a_table_accepts_only_pay_tables_that_were_made_for_its_game(olga: Staff) -> None:
    """Harm: odds come into force without a review, by another way; or Casino War pays by a pay table of baccarat."""
    option = pay_tables.option_of(pay_tables.make("baccarat", "Sides", SIDES, by=olga))
    tie = pay_tables.option_of(pay_tables.make("baccarat", "Tie", {"tie": {"tie": "9:1"}}, by=olga))
    table, war = floor.table(game="baccarat", options={"decks": 8}), floor.table("War 1", game="casino_war", options={})
    other_lines = "Pays.sha256: Sides version 1 has other lines than its digest names."
    wrong: list[tuple[Table, dict[str, Any], str]] = [
        (table, {"wagers": {"tie": {"tie": "9:1"}}}, other_lines),
        (table, {"name": "Others"}, "There is no pay table Others version 1 of Baccarat."),
        (table, {"version": 2}, "There is no pay table Sides version 2 of Baccarat."),
        (table, {"sha256": None}, "Pays: Expected str, got null - at $.sha256."),
        (war, tie, other_lines.replace("Sides", "Tie")),
    ]
    for felt, changes, sentence in wrong:
        with pytest.raises(Refused) as refusal:
            table_settings.change_table(felt, {"options": felt.options | {"pays": option | changes}}, by=olga)
        assert fields(refusal) == {"pays": sentence}


# --- Found -----------------------------------------------------------------------------------------------------


def test_a_row_that_was_changed_is_not_taken_into_use(olga: Staff) -> None:
    """Harm: somebody with all rights over the database makes a tie pay 12 to 1."""
    row = pay_tables.make("baccarat", "Sides", {"tie": {"tie": "9:1"}}, by=olga)
    row.wagers = {"tie": {"tie": "12:1"}}
    with pytest.raises(Refused, match="has other lines than its digest names"):
        pay_tables.option_of(row)
    row.sha256 = GAMES["baccarat"].pay_form.table_of("Sides", 1, row.wagers).sha256  # matches the forged lines
    with pytest.raises(Refused, match="The lines of Sides version 1 are not those that it was made with"):
        pay_tables.option_of(row)


def test_a_table_that_pays_by_what_nobody_made_is_named(olga: Staff, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: whoever has the application's code sets a table to a pay table that was never shown to anybody."""
    pay_tables.make("baccarat", "Sides", SIDES, by=olga)
    row = PayTable.objects.get()
    form = GAMES["baccarat"].pay_form
    option = to_builtins(form.table_of("Sides", 1, {"tie": {"tie": "7:1"}}))
    dealer = table_as_shipped()
    with monkeypatch.context() as patched:
        patched.setattr(pay_tables, "option_fault", lambda game, option: "")
        table_settings.change_table(dealer.table, {"options": {"decks": 8, "pays": option}}, by=olga)
    assert row.sha256 != option["sha256"]
    assert "nobody made the pay table Sides version 1 with such lines" in fault(dealer.table)


@pytest.fixture
def by_other_odds(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An engine whose ties pay 20 to 1, whatever the table says."""
    monkeypatch.setattr(HouseLayout, "odds", lambda self, wager, line="": Odds(20))
    return monkeypatch


def test_a_round_paid_by_other_odds_than_it_pinned_is_named(olga: Staff, by_other_odds: pytest.MonkeyPatch) -> None:
    """Harm: a table pays more than its pay table says, to somebody who shares it."""
    pay_tables.make("baccarat", "Sides", SIDES, by=olga)
    dealer = baccarat(olga)
    deal_a_tie(dealer)
    by_other_odds.undo()
    assert "was decided, the rules say" in fault(dealer.table)


@pytest.mark.django_db(transaction=True)
def test_an_outsider_proves_the_odds_of_a_round_from_the_bundle_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: an auditor without the house believes what a round of a table of the house's own was paid."""
    key_file = tmp_path / "audit.pem"
    seals.make_key(key_file)
    with override_settings(AUDIT_KEY_FILE=str(key_file)), travelling() as clock:
        olga = floor.staff(Role.OPERATOR, "olga")
        pay_tables.make("baccarat", "Sides", SIDES, by=olga)
        dealers = []
        boss = floor.staff(Role.PIT_BOSS, "bella")
        for number, is_forged in enumerate((False, True), 1):
            felt = floor.table(f"Table {number}", game="baccarat", source="keyed", options={"decks": 8}, seats=3)
            Hand(felt, boss)("open_table")
            dealer = Hand(felt, floor.staff(Role.DEALER, f"dealer{number}", f"10{number}"))
            recorder.sign_in(felt, dealer.by)
            set_to(felt, PayTable.objects.get(), by=olga)
            dealer.ready_shoe()
            with monkeypatch.context() as patched:
                if is_forged:
                    patched.setattr(HouseLayout, "odds", lambda self, wager, line="": Odds(20))
                deal_a_tie(dealer)
            dealers.append(dealer)
        clock.pass_until(gaming_hours.span(ONE)[1] + timedelta(hours=1))
        day_seals.seal_finished()
        path = tmp_path / "day.zip"
        path.write_bytes(exported(ONE, ONE))
    lines: list[str] = []
    with pytest.raises(Wrong, match=r"Table 2.*was decided, the rules say"):
        verifier.verify(path, say=lines.append, key=seals.public_of(seals.load_key(key_file)))
