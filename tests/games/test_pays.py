"""Pay tables in the pure room: what ships, what a form admits, and what names the lines."""

import json
from typing import Any, get_args, get_type_hints

import msgspec
import pytest
from msgspec import UNSET

from tables.games.catalog import DEALT
from tables.games.odds import HouseRules, Odds, PayTable
from tables.games.pays import PayForm, odds_of, spelled
from tables.games.protocol import Illegal

BY_TABLE = [name for name, game in DEALT.items() if game.pay_form.wagers]

SHIPPED = {
    "baccarat": "5cca9bfae2ac14433cacd7c06f35b595cb77bee780adfba86258b56198952d26",
    "blackjack": "935d3afe270183f15746d05481877b86da8fd3c8b08ede37b46a16f2cb9ea9ce",
    "casino_war": "a264dd876570316ffac8a1e531d9eb77e9d4039a9b02adbed1770159214fd70d",
    "dragon_tiger": "0bd252037314d50a08d79455d7b3c74be97b3c6822dd4bc5504aaecf3b6a2c35",
    "three_card_poker": "605bb24eb29ee76365b5cd21c929f069631a0a096eaadfeb71e79a581f8f102e",
}
"""The digest of what a game pays by default, with each version of its rules so far."""
BEFORE = {
    "baccarat": (
        ("dragon_bonus_player", "dragon_bonus_banker"),
        "9f08e4f9c5031f5e0811828d6743a9761e788baf4de48b67f05f4f2666cd82db",
    ),
}
"""Wagers that a version gained, and the digest without them: no round of before has one."""
VERSIONS = {"blackjack": 2, "three_card_poker": 2}


def form_of(game: str) -> PayForm:
    return DEALT[game].pay_form


def rules_of(game: str, **options: Any) -> Any:
    return DEALT[game].rules_type(**options)


@pytest.mark.parametrize("game", BY_TABLE)
def test_what_ships_is_changed_with_a_version_of_the_rules_only(game: str) -> None:
    """Harm: a table that ships is made another, and rounds of years ago are told otherwise. Whoever means it counts the
    game's version up, and writes both here."""
    form = form_of(game)
    assert DEALT[game].version == VERSIONS.get(game, 1)
    shipped = form.in_force(rules_of(game))
    assert form.digest(shipped) == SHIPPED[game]
    if game in BEFORE:
        gained, digest = BEFORE[game]
        assert form.digest({name: lines for name, lines in shipped.items() if name not in gained}) == digest


@pytest.mark.parametrize("game", BY_TABLE)
def test_what_ships_is_of_the_form(game: str) -> None:
    """Harm: an operator cannot make the table that the house has, or an option chooses none."""
    form = form_of(game)
    assert form.game == game
    for wager in form.wagers:
        assert (wager.on or wager.name) in DEALT[game].spots
        for odds in wager.shipped.values():
            assert all(line.admits(pays) for line, pays in zip(wager.lines, odds, strict=True))
        if wager.option:
            hints = get_type_hints(DEALT[game].rules_type)
            assert set(map(str, get_args(hints[wager.option]))) == wager.shipped.keys()
        else:
            assert wager.shipped.keys() == {""}
    own = form.table_of("The house's", 1, spelled(form.in_force(rules_of(game))))
    assert form.in_force(rules_of(game, pays=own)) == form.in_force(rules_of(game))


@pytest.mark.parametrize("game", BY_TABLE)
def test_options_choose_among_what_ships_for_the_wagers_that_no_table_has(game: str) -> None:
    """Harm: a pay table of one wager changes another, or an option that it stands in for is paid after all."""
    form = form_of(game)
    for wager in form.wagers:
        highest = {wager.name: {line.name: line.most.spelled for line in wager.lines}}
        for value in wager.shipped:
            chosen = {wager.option: type(getattr(rules_of(game), wager.option))(value)} if wager.option else {}
            rules = rules_of(game, **chosen)
            pays = form.in_force(msgspec.structs.replace(rules, pays=form.table_of("Most", 1, highest)))
            assert spelled(pays) == spelled(form.in_force(rules)) | highest


@pytest.mark.parametrize("game", BY_TABLE)
def test_the_digest_is_of_the_game_and_of_every_line(game: str) -> None:
    """Harm: two tables that pay otherwise have one name."""
    form = form_of(game)
    lines = spelled(form.in_force(rules_of(game)))
    digests = {form.digest(form.lines(lines))}
    for wager in form.wagers:
        for line in wager.lines:
            odds = line.least if lines[wager.name][line.name] != line.least.spelled else line.most
            changed = {**lines, wager.name: {**lines[wager.name], line.name: odds.spelled}}
            digests.add(form.digest(form.lines(changed)))
        digests.add(form.digest(form.lines({wager.name: lines[wager.name]})))
    count = sum(len(wager.lines) for wager in form.wagers)
    assert len(digests) == 1 + count + (len(form.wagers) if len(form.wagers) > 1 else 0)
    backwards = {wager: dict(reversed(lines[wager].items())) for wager in reversed(lines)}
    assert form.digest(form.lines(backwards)) == form.digest(form.lines(lines))
    assert PayForm("another", form.wagers).digest(form.lines(lines)) not in digests


def test_rules_without_a_table_are_spelled_as_they_were() -> None:
    """Harm: a field that nobody uses is in every entry, and in what it is hashed to."""
    for game in DEALT.values():
        assert b'"pays"' not in msgspec.json.encode(game.rules_type())
    assert HouseRules().pays is UNSET
    assert msgspec.to_builtins(rules_of("casino_war")) == {
        "unit": 1, "rounding": "down", "decks": 6, "surrender": True, "second_tie": "raise_only", "spread": ("tie",),
    }  # fmt: skip


@pytest.mark.parametrize(
    "text", ["9", "9:0", "09:1", "9:01", "-9:1", "9.5:1", "9:1 ", "９:1", "10000:1", "1:1000", "", ":"]
)
def test_odds_are_written_in_one_way(text: str) -> None:
    """Harm: one table with two spellings, and so with two digests."""
    with pytest.raises(ValueError, match="odds are"):
        odds_of(text)


def test_odds_are_read_as_they_are_written() -> None:
    """Harm: 3 to 2 read as 2 to 3."""
    assert (odds_of("3:2"), odds_of("0:1"), odds_of("100:1")) == (Odds(3, 2), Odds(0), Odds(100))
    for text in ("18:2", "0:2", "200:100"):
        with pytest.raises(ValueError, match="lowest terms"):
            odds_of(text)


def test_a_game_that_pays_nothing_by_a_table_refuses_one() -> None:
    """Harm: a pay table that is pinned and never asked."""
    table = PayTable("Sides", 1, {"tie": {"tie": "9:1"}}, "0" * 64)
    with pytest.raises(Illegal, match="pays nothing by a pay table"):
        DEALT["rocket"].pay_form.in_force(HouseRules(pays=table))
    with pytest.raises(msgspec.ValidationError, match="unknown field `pays`"):
        msgspec.json.decode(json.dumps({"pays": {}}), type=DEALT["rocket"].rules_type)
