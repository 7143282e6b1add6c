"""Messages: their templates can be extracted and translated, and every description of an entry is one."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import Final

import pytest

from ledger.proof.spelling import canonical
from tables.games.cards import STANDARD
from tables.log import message
from tables.log.entries.rounds import clauses_at, clauses_of
from tables.log.message import (
    CardFace,
    Description,
    Joined,
    Label,
    Message,
    Parameter,
    Timestamp,
    counted,
    from_fields,
    joined,
    placeholders,
    text_of,
    values_of,
)
from tests.tables.log import kind_answers
from tests.tables.log.kind_answers import Example

ROOT: Final = Path(message.__file__).parents[2]
TEMPLATES: Final = {"Message": 1, "counted": 2, "from_fields": 1}
"""The calls that have templates, and how many."""
LETTER: Final = re.compile(r"[^\W\d_]")


def calls() -> Iterator[tuple[str, ast.Call]]:
    """The place and syntax tree of each call with templates."""
    for path in [*ROOT.glob("tables/**/*.py"), *ROOT.glob("dealer_ui/**/*.py")]:
        text = path.read_text()
        if path.name == "message.py" or "tables.log.message" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in TEMPLATES:
                yield f"{path.relative_to(ROOT)}:{node.lineno}", node


def templates(call: ast.Call) -> list[str]:
    """The literals of a call."""
    return [str(literal.value) for literal in call.args if isinstance(literal, ast.Constant)]


def test_every_template_is_a_literal() -> None:
    """Harm: a template is put together by code, so that xgettext does not extract it and no one can translate it."""
    assert {word.partition(":")[0] for word in message.KEYWORDS} == TEMPLATES.keys()
    every = dict(calls())
    assert len(every) > 200
    assert [place for place, call in every.items() if len(templates(call)) != len(call.args)] == []
    counts = {place: (len(call.args), TEMPLATES[ast.unparse(call.func)]) for place, call in every.items()}
    assert [place for place, (count, due) in counts.items() if count != due] == []


def test_every_template_names_the_parameters_of_its_call() -> None:
    """Harm: a placeholder is misspelled in a branch that no test reaches, and the page of an entry fails."""
    wrong = []
    for place, call in calls():
        names = frozenset().union(*map(placeholders, templates(call)))
        names |= {name.rpartition(".")[2] for name in names if ast.unparse(call.func) == "from_fields"}
        keywords = {keyword.arg for keyword in call.keywords}
        is_complete = None not in keywords and ast.unparse(call.func) != "from_fields"
        if (is_complete and names != keywords) or not names >= keywords - {None, "otherwise"}:
            wrong.append(place)
    assert wrong == []


@pytest.mark.parametrize("parameters", [{}, {"seats": 3}, {"seat": 3, "amount": 5}])
def test_a_parameter_without_a_placeholder_is_refused(parameters: dict[str, int]) -> None:
    """Harm: a value is left out of a description, and only the people who read it notice."""
    with pytest.raises(TypeError, match=re.escape("The placeholders of 'Seat {seat}' are ['seat']")):
        Message("Seat {seat}", **parameters)


# --- Translated -------------------------------------------------------------------------------------------------------


class Dots:
    """A language that writes a dot for each letter."""

    def gettext(self, message: str) -> str:
        parts = Formatter().parse(message)
        return "".join(LETTER.sub(".", text) + (f"{{{name}}}" if name else "") for text, name, _, _ in parts)

    def ngettext(self, singular: str, plural: str, number: int) -> str:
        return self.gettext(singular if number == 1 else plural)


def without_values(parameter: Parameter) -> Parameter:
    """The parameter with a sign in place of each value that no catalog translates."""
    match parameter:
        case Message():
            named = {name: without_values(value) for name, value in parameter.parameters.items()}
            count = parameter.parameters.get("count")
            named |= {"count": count} if isinstance(count, int) else {}
            return Message(parameter.template, parameter.plural, **named)
        case Joined(items, separator, is_sentence):
            return Joined(tuple(map(without_values, items)), separator, is_sentence)
        case str() | CardFace() | Timestamp():
            return "#"
    return parameter


def descriptions() -> Iterator[tuple[Example, Description]]:
    """The descriptions of all examples."""
    for examples in kind_answers.examples().values():
        yield from ((example, example.event.description()) for example in examples)


def test_no_word_of_a_description_is_outside_a_template() -> None:
    """Harm: in a translated casino a part of an entry's description stays English, because code glues it on."""
    every = [(example.label, text_of(without_values(description), translations=Dots())) for example, description
             in descriptions()]  # fmt: skip
    assert len(every) > 300
    assert [(label, text) for label, text in every if LETTER.search(text)] == []


def test_a_text_that_is_not_translated_is_stored_in_the_entry() -> None:
    """Harm: English words of the code are passed as a parameter, as if a person had typed them, and stay English."""
    foreign = []
    for example, description in descriptions():
        stored = _plain(canonical(example.event.content()).decode())
        texts = [value for _, value in values_of(description) if isinstance(value, str) and LETTER.search(value)]
        foreign += [(example.label, text) for text in texts if _plain(text) not in stored]
    assert foreign == []


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text).casefold()


class German(Dots):
    """A catalog with two entries."""

    entries: Final = {
        "Seat {seat} pays {amount}": "{amount} zahlt Platz {seat}",
        "pit boss": "Saalchef",
        "{count} card": "{count} Karte",
        "{count} cards": "{count} Karten",
    }

    def gettext(self, message: str) -> str:
        return self.entries[message]


def test_a_translation_orders_the_parameters_by_itself() -> None:
    """Harm: a translated description has the English word order, or an English role or plural within it."""
    paid = Message("Seat {seat} pays {amount}", seat=3, amount=message.Money(250))
    assert text_of(paid) == "Seat 3 pays 2.50"
    assert text_of(paid, translations=German()) == "2.50 zahlt Platz 3"
    cards = [counted("{count} card", "{count} cards", count=number) for number in (1, 2)]
    several = joined([*cards, Label("pit boss")])
    assert text_of(several, translations=German()) == "1 Karte, 2 Karten, Saalchef"


def test_a_card_is_written_by_its_own_pack_or_that_of_the_round() -> None:
    """Harm: a card of a standard shoe is shown as a number, or the list of entries fails on a card that no other pack
    has."""
    assert text_of(joined([CardFace(9), CardFace(37, STANDARD)])) == f"9, {STANDARD.spell(37)}"
    assert text_of(CardFace(9), STANDARD) == STANDARD.spell(9)


# --- From the fields of an entry -------------------------------------------------------------------------------------


class Shoe:
    """An entry with fields of several kinds."""

    number = 2
    amount_cents = 250
    tables = ("Rocket 1", "Rocket 2")
    keys: Final = {"second": 1, "first": 2}
    second: "Shoe | None" = None
    note = ""


class Noted(Shoe):
    """An entry with its optional fields."""

    second = Shoe()
    note = "torn"


def test_a_description_from_fields_takes_the_template_whose_fields_are_set() -> None:
    """Harm: a description reads "signed by None", or leaves out a reason that the entry has."""
    described = from_fields(
        "{number}: {note}, by {second.number}",
        otherwise=from_fields("{number}: {note}", otherwise=from_fields("{number}")),
    )
    assert [text_of(described(event)) for event in (Shoe(), Noted())] == ["2", "2: torn, by 2"]
    values = from_fields("{amount_cents} at {tables} with {keys}, {second.note}", note=str.upper)
    assert text_of(values(Noted())) == "2.50 at Rocket 1, Rocket 2 with first, second, "
    assert text_of(from_fields("{note}", note=str.upper)(Noted())) == "TORN"


BET: Final = {"do": "bet", "seat": 3, "amount_cents": 500}
HIT: Final = {"do": "choose", "seat": 3, "choice": "hit"}
CARD: Final = {"do": "card", "to": 3, "rank": 7}


@pytest.mark.parametrize(
    ("actions", "whole", "at_seat"),
    [
        ([BET], "Seat 3 bets 5", "bets 5"),
        ([BET | {"amount_cents": 0}], "Seat 3 takes its bet off", "takes its bet off"),
        ([BET | {"approved": True}], "Seat 3 bets 5, over the limit: it stands, as the pit signed",
         "bets 5, over the limit: it stands, as the pit signed"),
        ([{"do": "choose", "seat": 3}], "Seat 3 has chosen", "has chosen"),
        ([HIT, CARD], "Seat 3: hit, draws 7", "hit, draws 7"),
        ([CARD, CARD], "Seat 3: 7, seat 3: 7", "7, 7"),
        ([{"do": "card", "to": 3}], "1 card facedown", "1 card facedown"),
    ],
)  # fmt: skip
def test_an_input_at_the_place_of_its_seat(actions: list[dict[str, object]], whole: str, at_seat: str) -> None:
    """Harm: the dealer's screen shows at a seat what another seat did, because it cuts the name of the seat from a
    sentence."""
    assert text_of(clauses_of(actions)) == whole
    assert text_of(clauses_at(3, actions)) == at_seat
