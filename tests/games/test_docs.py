"""The pages of the games say what the games say."""

from tables.games.catalog import GAMES
from tables.management.commands.game_docs import END, PAGES, START, pages


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
    assert {path.stem for path in PAGES.glob("*.md")} == {"README", *GAMES}
    for game in GAMES.values():
        low, high = game.seat_counts[0], game.seat_counts[-1]
        played = "against the house" if game.kind == "banked" else "for coins" if game.coins else "for points"
        players = str(low) if low == high else f"{low} to {high}"
        assert f"| [{game.title}]({game.name}.md) | {players} | {played} |" in index


def test_every_option_and_choice_is_explained_on_its_page() -> None:
    """Harm: a page leaves out what the game asks."""
    for game in GAMES.values():
        page = (PAGES / f"{game.name}.md").read_text()
        assert all(f"| {words.label} |" in page for words in game.words.values())
        assert all(heading in page for heading in ("## Rules as implemented", "## Dealing it", "## House rulings"))
        assert "James Ernest and Paul Peterson" in page
