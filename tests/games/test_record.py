"""Round records in process: every document is answered or refused in one line that names the place and the rule."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tables.games.catalog import DEALT
from tables.games.odds import PayTable
from tables.games.protocol import Action, Bet, Card, Choose, CloseBets, Limits, Opening
from tables.games.record import judge, record_as_logged, record_of
from tables.games.record_document import FORMAT, RecordError
from tables.games.rocket import Rocket, Rules
from tests.games.goldens import goldens

RECORD: dict[str, Any] = {
    "format": FORMAT,
    "game": "rocket",
    "options": {"decks": 1},
    "seats": [{"seat": 1, "bet": 2000}, {"seat": 4, "bet": 5000}],
    "dealt": [0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
    "button": 2,
    "cards": [8, 4, 10, 8, 7, 10],
    "actions": [{"seat": 1, "do": "hit"}, {"seat": 4, "do": "hit"}],
}
TEXT = json.dumps(RECORD)
GOLDEN_RECORDS = [golden["record"] for golden in goldens("rocket").values()]


def refusal_of(document: bytes | str) -> str:
    with pytest.raises(RecordError) as refusal:
        judge(document)
    return str(refusal.value)


# --- documents ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("document", "line"),
    [
        (b"", "record: not JSON: Input data was truncated"),
        (b"\x00", "record: not JSON: invalid character (byte 0)"),
        (b"\xef\xbb\xbf" + TEXT.encode(), "record: not JSON: invalid character (byte 0)"),
        (TEXT.encode("utf-16"), "record: not JSON: invalid character (byte 0)"),
        (TEXT.replace("rocket", "\xff").encode("latin-1"), "record: not JSON: not in UTF-8"),
        (TEXT.replace("rocket", "\ud800"), "record: not JSON: not in UTF-8"),
        (b"null", "record: expected `object`, got `null`"),
        (b"[" * 100_000, "record: expected `object`, got `array`"),
        (b"{}", "record: object missing required field `format`"),
    ],
    ids=range(9),
)
def test_what_is_no_record_is_refused(document: bytes | str, line: str) -> None:
    """Harm: a damaged file is judged as if it were a round, or ends in a traceback."""
    assert refusal_of(document) == line


@pytest.mark.parametrize(
    ("value", "becomes", "line"),
    [
        ("2000", "2000.0", "seats[0].bet: expected `int`, got `float`"),
        ("2000", "1" * 5_000, "seats[0].bet: integer value out of range"),
        ("2000", "NaN", "record: not JSON: invalid character (byte 101)"),
        ("2000", "true", "seats[0].bet: expected `int`, got `bool`"),
        ('"rocket"', "7", "game: expected `str`, got `int`"),
        ('{"decks": 1}', "null", "options: expected `object`, got `null`"),
        ('{"decks": 1}', '{"decks": 1.0}', "options.decks: expected `int`, got `float`"),
        ('{"decks": 1}', '{"unit": ' + "1" * 5_000 + "}", "options.unit: integer value out of range"),
        ('{"decks": 1}', "[" * 100_000, "record: nested too deeply"),
        ('{"decks": 1}', '{"decks": 1, "decks": 2}', "decks: this key is given twice in one object"),
        ('{"decks": 1}', '{"": 1, "": 2}', '"": this key is given twice in one object'),
        ('"button": 2', '"button": 2, "\\u0062utton": 3', "button: this key is given twice in one object"),
        ('"bet": 5000', '"bet": 5000, "bet": 10', "bet: this key is given twice in one object"),
        ('"button"', '"but\\nton"', "record: object contains unknown field `but�ton`"),
        ('"button"', '"\\u001b[31mbutton"', "record: object contains unknown field `�[31mbutton`"),
        ('"hit"}]', '"hi\\nt"}]', "actions[1]: seat 4 may hit or fold, not 'hi\\nt'"),
        ("[8, 4,", '["8", 4,', "cards[0]: expected `int`, got `str`"),
        ("[8, 4,", "[8, [4],", "cards[1]: expected `int`, got `array`"),
        ("[8, 4,", f"[{10**30}, 4,", f"cards[0]: there is no card {10**30}: ranks are 1 to 10"),
        ('"button": 2', '"button": 100', "button: expected `int` <= 99"),
    ],
    ids=range(20),
)
def test_a_wrong_value_is_named_by_its_place(value: str, becomes: str, line: str) -> None:
    """Harm: whoever sends a record must guess what is wrong with it; or a guess of ours is paid."""
    assert TEXT.count(value) == 1
    assert refusal_of(TEXT.replace(value, becomes)) == line


def test_an_unknown_game_is_told_which_there_are() -> None:
    """Harm: a misspelt game is taken for another."""
    line = refusal_of(TEXT.replace("rocket", "Rocket"))
    assert line.startswith("game: 'Rocket' is not in the catalog, which has ")
    assert all(name in line for name in DEALT)


@pytest.mark.parametrize("key", ["dealt", "button"])
def test_a_key_that_the_game_has_no_use_for_is_refused(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: a record carries in what its game ignores, and two readers judge it differently."""
    monkeypatch.setattr(Rocket, "carries", frozenset({"dealt", "button"} - {key}))
    assert refusal_of(TEXT) == f"{key}: rocket has no use for it"


def test_a_refusal_is_never_longer_than_a_line() -> None:
    """Harm: a record with a key of megabytes fills the terminal, or the log, with it."""
    for document in (TEXT.replace("button", "b" * 5_000_000), TEXT.replace("rocket", "r" * 5_000_000)):
        line = refusal_of(document)
        assert len(line) == 300
        assert line.endswith("…")


# --- any document at all --------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from([0, 1, 10, 11, "hit", "fold"]),
    lambda children: st.lists(children, max_size=12) | st.dictionaries(st.text(max_size=9), children, max_size=5),
    max_leaves=12,
)


def mutated(draw: Callable[[Any], Any], node: Any) -> Any:
    """The JSON value with one place of it replaced, left out, or given twice."""
    if isinstance(node, dict | list) and node and draw(st.integers(0, 3)):
        keys = list(node) if isinstance(node, dict) else range(len(node))
        place = draw(st.sampled_from(keys))
        change = draw(st.sampled_from(["deeper", "deeper", "deeper", "drop", "add"]))
        if isinstance(node, list):
            changed: Any = [mutated(draw, node[place])] if change == "deeper" else []
            return (
                node[:place]
                + changed
                + node[place + (change != "add") :]
                + (node[place:][:1] if change == "add" else [])
            )
        if change == "drop":
            return {key: value for key, value in node.items() if key != place}
        if change == "add":
            return node | {draw(st.sampled_from(["pot", "first", "seat", "bet", "x"])): draw(JSON)}
        return node | {place: mutated(draw, node[place])}
    if isinstance(node, int) and draw(st.booleans()):
        return node + draw(st.sampled_from([-1, 1, 10, -10, 10**18, -(10**18)]))
    return draw(JSON)


@st.composite
def mutated_records(draw: st.DrawFn) -> str:
    """A golden record with one to three places changed."""
    record = draw(st.sampled_from(GOLDEN_RECORDS))
    for _ in range(draw(st.integers(1, 3))):
        record = mutated(draw, record)
    return json.dumps(record)


def answered_or_refused(document: bytes | str) -> None:
    try:
        answer = judge(document)
    except RecordError as refusal:
        line = str(refusal)
        place, _, rule = line.partition(": ")
        assert place
        assert rule
        assert line.isprintable()
        assert len(line) <= 300
    else:
        assert json.loads(json.dumps(answer)) == answer
        assert answer["house_net"] + sum(result["net"] for result in answer["results"]) == 0


@given(mutated_records())
def test_any_changed_record_is_answered_or_refused(document: str) -> None:
    """Harm: a record that nobody thought of ends in a traceback."""
    answered_or_refused(document)


@given(st.data())
def test_any_changed_bytes_are_answered_or_refused(data: st.DataObject) -> None:
    """Harm: a file that was damaged on the way ends in a traceback."""
    document = bytearray(json.dumps(data.draw(st.sampled_from(GOLDEN_RECORDS))).encode())
    for _ in range(data.draw(st.integers(1, 5))):
        offset = data.draw(st.integers(0, len(document) - 1))
        document[offset : offset + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    answered_or_refused(bytes(document))


# --- what is judged ---------------------------------------------------------------------------------------------


def test_bytes_and_text_are_judged_alike() -> None:
    """Harm: the API, which has bytes, and the screens, which have text, judge differently."""
    assert judge(TEXT) == judge(TEXT.encode()) == judge(f" \r\n{TEXT}\r\n ")


def test_the_order_of_keys_does_not_matter() -> None:
    """Harm: a record that another program wrote is judged otherwise."""
    keys = list(RECORD)
    random.Random(1).shuffle(keys)
    assert judge(json.dumps({key: RECORD[key] for key in keys})) == judge(TEXT)


def test_a_record_of_a_log_says_what_was_carried_in() -> None:
    """Harm: an exported round is judged from a full shoe and without the button that it started from."""
    opening = Opening((1, 2, 3), Limits(10, 500, 900), (0, 0, 3, 0, 0, 0, 0, 0, 0, 1), 2)
    actions: list[Action] = [
        Bet(3, 20),
        Bet(1, 50),
        Bet(2, 10),
        Bet(2, 0),
        Bet(1, 30),
        CloseBets(),
        Card(6, 1),
        Card(5, 3),
        Card(4, 0),
        Choose(3, "fold"),
    ]
    assert record_of(Rocket(), Rules(start="low_card"), opening, actions) == {
        "format": "round-record/1",
        "game": "rocket",
        "options": {"decks": 6, "burn": 5, "reshuffle_at": 0.2, "start": "low_card", "unit": 1},
        "seats": [{"seat": 1, "bet": 30}, {"seat": 3, "bet": 20}],
        "cards": [6, 5, 4],
        "actions": [{"seat": 3, "do": "fold"}],
        "dealt": [0, 0, 3, 0, 0, 0, 0, 0, 0, 1],
        "button": 2,
    }


LEFT_OUT: list[Action] = [
    *(Card(rank, seat) for rank, seat in zip((9, 8, 10, 4, 8, 5, 6, 7, 9), (1, 2, 3) * 3, strict=True)),
    Choose(1, "gift", card=9),
]
"""Only seat 2 may get the 9, and an older log does not say so."""


def test_a_record_names_what_an_older_log_leaves_out() -> None:
    """Harm: a game of an older log is exported as a record that nobody judges."""
    game = DEALT["regent"]
    record = record_of(game, game.rules_type(), Opening((1, 2, 3)), LEFT_OUT)
    assert record["actions"] == [{"seat": 1, "do": "gift", "card": 9, "target": 2}]
    assert [ask["seat"] for ask in judge(json.dumps(record))["next"]] == [2]


def test_a_record_to_the_letter_of_the_log_is_refused_where_that_leaves_something_out() -> None:
    """Harm: two readers of a record work out what it means, and come to different games."""
    game = DEALT["regent"]
    record = record_as_logged(game, game.rules_type(), Opening((1, 2, 3)), LEFT_OUT)
    assert record["actions"] == [{"seat": 1, "do": "gift", "card": 9}]
    line = "actions[0]: seat 1: 'gift' leaves out 'target', which a record names even where only one is possible"
    assert refusal_of(json.dumps(record)) == line


@pytest.mark.parametrize("name", [name for name, game in DEALT.items() if game.kind == "pot"])
def test_no_record_is_judged_that_leaves_out_what_a_decision_names(name: str) -> None:
    """Harm: one game takes a decision at its word, and guesses at the next."""
    met = 0
    for golden in goldens(name).values():
        record = golden["record"]
        for index, decision in enumerate(record["actions"] if "answer" in golden else ()):
            for key in decision.keys() - {"seat", "do"}:
                trimmed = {word: value for word, value in decision.items() if word != key}
                changed = record | {"actions": [*record["actions"][:index], trimmed, *record["actions"][index + 1 :]]}
                assert refusal_of(json.dumps(changed)).startswith(f"actions[{index}]: ")
                met += 1
    assert met or name in ("port", "starboard"), "no golden round has a decision that names something"


def test_the_format_is_described_as_it_is_read() -> None:
    """Harm: the description promises another answer, or another refusal, than a record gets."""
    described = (Path(__file__).parents[2] / "docs" / "round-record.md").read_text()
    blocks = [block.partition("\n")[2] for block in described.split("```")[1::2]]
    record, answer, decision, refusals, *standard = (block for block in blocks if "replay" not in block)
    assert judge(record) == json.loads(answer)
    record, pays, answer, due = standard
    assert judge(record) == json.loads(answer)
    table = json.loads(f"{{{pays.strip().rstrip(',')}}}")["pays"]
    assert DEALT["baccarat"].pay_form.read(msgspec.convert(table, PayTable))["tie"]["tie"] == (9, 1)
    wars = [golden["answer"]["next"] for golden in goldens("casino_war").values() if "answer" in golden]
    assert [json.loads(due)] in wars
    asks = [ask for golden in goldens("rocket").values() for ask in golden.get("answer", {}).get("next", ())]
    assert json.loads(decision) in asks
    pinned = {golden.get("refused") for golden in goldens("rocket").values()} | {refusal_of("")}
    assert set(refusals.splitlines()) <= pinned
