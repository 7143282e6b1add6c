"""The sentences that the dealer's screen says by itself: their one test."""

import pytest
from django.templatetags.static import static

from tests.fixtures.browser import Looking

pytestmark = pytest.mark.django_db(transaction=True)

HERE = "The table has moved on"
UNCONFIRMED = "“Card 5” is not confirmed yet: it is sent again until the table answers, and recorded once."
AWAY = "The house does not answer."
SAID = [
    ({"code": "next", "keys": "4 10"}, "Next: 4 10"),
    ({"code": "came_twice", "key": "8"}, "8 came twice at once and was entered once."),
    ({"code": "not_entered", "keys": "4 10"}, "Not entered: 4 10. Something else came before."),
    ({"code": "still_answering"}, "Not entered: the table is still answering."),
    ({"code": "still_answering", "key": "2"}, "2 was not entered: the table is still answering."),
    ({"code": "seat_comes_first", "seat": "1"}, "Not entered: seat 1 comes first."),
    ({"code": "seat_comes_first", "key": "F", "seat": "1"}, "F was not entered: seat 1 comes first."),
    ({"code": "keyboard_elsewhere"}, "The table does not have the keyboard: Esc gives it back."),
    ({"code": "no_step", "sentence": "No bet yet."}, "No bet yet."),
    ({"code": "no_step_back", "sentence": "Nothing can be taken back now."}, "Nothing can be taken back now."),
    ({"code": "no_card_due"}, "No card is due now."),
    ({"code": "no_meaning", "key": "F"}, "F stands for nothing now."),
    ({"code": "choice_dropped"}, f"{HERE}: what was half chosen is dropped."),
    ({"code": "amount_dropped", "amount": "5"}, f"{HERE}: “5” was not entered."),
    ({"code": "field_gone"}, f"{HERE} while you typed."),
    ({"code": "amount_in_hand", "amount": "50"}, "50 is in hand: lay it on a spot, or clear it with Esc."),
    ({"code": "amount_first"}, "Tap or type the amount first."),
    ({"code": "amount_first_for_spots"}, "Tap or type the amount first, then each spot that it lies on."),
    ({"code": "seat_first", "takes": "bet"}, "Choose a seat first, then its bet."),
    ({"code": "seat_with_chips_first"}, "Choose a seat with chips first: the arrow keys move along the seats."),
    ({"code": "no_earlier_bet"}, "This seat has no earlier bet to repeat."),
    ({"code": "dealt_in", "seat": "3"}, "Seat 3 is dealt in."),
    ({"code": "sits_out", "seat": "3"}, "Seat 3 sits out."),
    ({"code": "count_first"}, "Type how many first."),
    ({"code": "count_impossible", "count": "99"}, "99 cannot be chosen."),
    ({"code": "column_first"}, "Count this column first."),
    ({"code": "no_connection", "input": "Card 5"}, f"No connection. {UNCONFIRMED}"),
    ({"code": "no_connection", "input": ""}, "No connection."),
    ({"code": "no_answer", "input": "Card 5"}, f"The table does not answer. {UNCONFIRMED}"),
    ({"code": "put_off", "sentence": "One moment.", "input": "Card 5"}, f"One moment. {UNCONFIRMED}"),
    ({"code": "put_off", "sentence": "", "input": "Card 5"}, f"{AWAY} {UNCONFIRMED}"),
    ({"code": "out_of_date", "input": ""}, "This page is out of date: reload it."),
    ({"code": "dropped"}, "Dropped here. If the table had it already, the board will show it."),
    (
        {"code": "form_lost"},
        f"{AWAY} What is typed is still here: press the button again, and it is recorded once.",
    ),
    (
        {"code": "form_put_off", "sentence": "One moment."},
        "One moment. What is typed is still here, and this goes on by itself.",
    ),
    ({"code": "page_lost"}, f"{AWAY} This page comes by itself as soon as it does."),
]


def test_every_message_has_its_sentence(looking: Looking) -> None:
    """Harm: a key does nothing, and the screen says `undefined` or nothing about it."""
    page = looking(None, "/sign-in/")
    said, codes = page.evaluate(
        "async ([address, messages]) => {"
        " const { SENTENCES, sentenceOf } = await import(address);"
        " return [messages.map(sentenceOf), Object.keys(SENTENCES)]; }",
        [static("dealer_ui/dealer/messages.js"), [message for message, _ in SAID]],
    )
    assert said == [sentence for _, sentence in SAID]
    assert set(codes) == {message["code"] for message, _ in SAID}
