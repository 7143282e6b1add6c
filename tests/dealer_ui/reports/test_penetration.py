"""The page of the cut card: what it draws is what was measured, for whatever is asked."""

import io
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from openpyxl import load_workbook

from tables.maths.advantage.penetration import results
from tables.models import Staff
from tests import floor
from tests.load import whole

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


@pytest.fixture
def office(operator: Staff) -> Client:
    return floor.client(operator)


def get_page(office: Client, **query: Any) -> tuple[int, str]:
    answer = office.get(reverse("pit:penetration"), query)
    return answer.status_code, " ".join(answer.content.decode().split())


def test_the_page_says_what_was_measured(office: Client) -> None:
    """Harm: a cut card that is placed by the numbers of another shoe."""
    status, page = get_page(office, decks=1, seats=3, spread=12, round_seconds="30.5", shuffle_seconds=60)
    cell = results().cell(1, 3, 0.2)
    wins, error = cell.wins(12)
    assert status == 200
    assert f"<td>{wins:+.2f} ± {error:.2f}</td>".replace("-", "−") in page
    assert f"<td>{100 * cell.positive:.2f} %</td>" in page
    assert "a practical count wins" in page
    assert page.count('<polyline class="plot__line') == 16
    assert "30.5 seconds a round" in page


@pytest.mark.parametrize(
    ("game", "sentences"),
    [
        (
            "blackjack main",
            ["How deep a shoe of Blackjack is dealt", "T-K: −1", "plays the best chart for the cards left"],
        ),
        ("baccarat dragon_7", ["How deep a shoe of Baccarat is dealt", "14 cards", "any bet", "bets where that pays"]),
        ("baccarat player_pair", ["no count of one number tells anything of it"]),
    ],
)
def test_the_page_lets_one_choose_the_game(office: Client, game: str, sentences: list[str]) -> None:
    """Harm: a cut card of blackjack that is placed by the numbers of Rocket."""
    status, page = get_page(office, game=game)
    assert status == 200
    for sentence in sentences:
        assert sentence in page
    name, _, wager = game.partition(" ")
    measured = results(name, wager)
    subject = measured.subject
    cell = measured.cell(subject.typical, subject.seats[-1], subject.usual)
    wins, error = cell.wins(10 if subject.lowest else 1)
    assert f"<td>{wins:+.2f} ± {error:.2f}</td>".replace("-", "−") in page


def test_the_list_has_every_shoe_with_every_digit(office: Client) -> None:
    """Harm: somebody plots what was rounded for a page."""
    answer = office.get(reverse("pit:penetration-csv"), {"spread": 12, "as": "xlsx"})
    head, *rows = load_workbook(io.BytesIO(whole(answer))).active.values
    assert len(rows) == len(results().cells)
    assert rows[0][head.index("perfect_counter")] == results().cells[0].wins(12)[0]
    assert office.get(reverse("pit:penetration-csv"), {"spread": 0}).status_code == 422


def test_an_invalid_query_gets_a_sentence_and_the_default_shoe(office: Client) -> None:
    """Harm: an error page, or the numbers of another shoe than the requested one."""
    for query, sentence in (
        ({"decks": 9}, "A shoe of 9 decks is not dealt"),
        ({"decks": "x"}, "&#x27;x&#x27; is no number of decks."),
        ({"spread": 0}, "A spread of 1 to 0 is not bet"),
        ({"shuffle_seconds": "inf"}, "A shuffle of inf seconds cannot be"),
        ({"seats": "7"}, "Rocket is not dealt to 7 seats"),
        ({"game": "whist"}, "Shoes of &#x27;whist&#x27; were not measured"),
    ):
        status, page = get_page(office, **query)
        assert (status, sentence in page, "6 decks, 6 seats" in page) == (422, True, True), sentence
