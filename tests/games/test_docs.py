"""The pages of the games say what the games say."""

from tables.games.catalog import DEALT
from tables.games.game import BankedGame
from tables.management.commands.game_docs import END, PAGES, START, every_wager, pages
from tests.games.test_every_game import on_standard_cards


def test_the_pages_of_the_games_are_up_to_date() -> None:
    """Harm: an operator sets a table by options, or a dealer deals by choices, that the game does not have any more.

    `./run manage game_docs` writes them.
    """
    for path, text in pages():
        assert text.count(START) == text.count(END) == 1
        assert path.read_text() == text, f"{path.name} is out of date: ./run manage game_docs"


def test_every_game_is_in_the_index_and_no_other() -> None:
    """Harm: a game is spread that no page explains, or a page explains a game that was taken away."""
    index = (PAGES / "README.md").read_text()
    assert {path.stem for path in PAGES.glob("*.md")} == {"README", *DEALT}
    for game in DEALT.values():
        low, high = game.seat_counts[0], game.seat_counts[-1]
        played = "against the house" if game.kind == "banked" else "for coins" if game.coins else "for points"
        players = str(low) if low == high else f"{low} to {high}"
        assert f"| [{game.title}]({game.name}.md) | {players} | {played} |" in index


def test_every_option_and_choice_is_explained_on_its_page() -> None:
    """Harm: a page leaves out what the game asks."""
    for game in DEALT.values():
        page = (PAGES / f"{game.name}.md").read_text()
        assert all(f"| {words.label} |" in page for words in game.words.values())
        assert all(heading in page for heading in ("## Rules as implemented", "## Dealing it", "## House rulings"))
        if on_standard_cards(game):
            assert isinstance(game, BankedGame)
            assert all(f"| {wager.title} | `{wager.name}` |" in page for wager in every_wager(game))
        else:
            assert "James Ernest and Paul Peterson" in page


def test_pages_of_trade_names_say_so() -> None:
    """Harm: the house seems to speak for the owner of a name."""
    named = [
        ("casino_war", "Casino War is a trade name of its"),
        ("three_card_poker", "Three Card Poker is a trade name of its"),
    ]
    for name, sentence in (*named, ("baccarat", "Dragon Bonus, Dragon 7 and Panda 8 are trade names of their")):
        page = (PAGES / f"{name}.md").read_text()
        assert f"{sentence} owner" in page
        assert "not affiliated with the owner" in page


def test_every_side_bet_has_a_row_whatever_the_table_spreads() -> None:
    """Harm: an operator spreads a side bet that no page explains."""
    baccarat = DEALT["baccarat"]
    assert isinstance(baccarat, BankedGame)
    names = [wager.name for wager in every_wager(baccarat)]
    assert names[:5] == ["player", "banker", "tie", "player_pair", "banker_pair"]
    assert sorted(names[5:]) == ["dragon_7", "dragon_bonus_banker", "dragon_bonus_player", "panda_8", "super_6"]
