"""The log's vocabulary: what every kept entry says, again as it was written, and in plain words for people."""

from collections.abc import Mapping
from typing import Any

import pytest

from ledger.proof import spelling
from ledger.proof.spelling import canonical
from tables.log import catalog
from tables.log.event import Unreadable
from tables.log.message import text_of
from tests.carried.day import ONLY_BY_AN_UPGRADE, SINCE_THE_LATEST_KEPT_HOUSE
from tests.tables.log.examples import HOUSES, bodies, examples, whole
from tests.tiers import sampled


def tell(subject: str, kind: str, content: Mapping[str, Any], *, house: bool = False) -> str:
    """The words of an entry with this content, and the rest as in a kept house."""
    spelled = spelling.spell(subject, whole(subject, kind, content, house=house), ())
    return text_of(catalog.described(catalog.read(subject, kind, spelled, house=house)))


@pytest.mark.parametrize("name", sampled(HOUSES, "reads every entry of a saved site"))
def test_every_kept_entry_is_read_whole_and_spelled_as_it_was(name: str) -> None:
    """Harm: a change of the vocabulary loses a field of entries that were written before it, or spells it otherwise:
    the log would not hold any more, or a proof would pass over what it no longer sees."""
    for body in bodies(name):
        house = body["book"] == catalog.HOUSE
        spelled = spelling.spell(body["subject"], body["content"], body["moves"])
        event = catalog.read(body["subject"], body["kind"], spelled, house=house)
        assert canonical(event.content()) == canonical(body["content"])
        assert (event.subject, event.kind) == (body["subject"], body["kind"])
        assert {move[0] for move in body["moves"]} <= event.may_make()
        assert text_of(catalog.described(event))


def test_the_kept_house_has_every_kind_of_entry() -> None:
    """Harm: a new kind of entry is in no kept house, so no later release is held to reading it; or is not said to be
    new."""
    kinds = {(event.subject, kind, event.of_the_house) for event in catalog.EVENTS for kind in event.kinds}
    without = {(*name, house) for house, *name in ONLY_BY_AN_UPGRADE | SINCE_THE_LATEST_KEPT_HOUSE}
    new = sorted(kinds - without - examples().keys())
    assert new == [], "add them to SINCE_THE_LATEST_KEPT_HOUSE of tests/carried/day.py; True first: log of the site"
    assert kinds - without == examples().keys()


@pytest.mark.parametrize(
    ("subject", "kind", "content"),
    [
        ("dispute", "ruled", {}),
        ("chips", "vanished", {}),
        ("chips", "issued", {}),
        ("round", "play", {}),
        ("round", "play", {"actions": [7]}),
        ("round", "play", {"actions": [], "sealed": True}),
        ("round", "paid", {"seat": True}),
        ("shoe", "loaded", {"shoe": None}),
    ],
    ids=str,
)
def test_what_no_table_can_have_written_is_not_read(subject: str, kind: str, content: dict[str, Any]) -> None:
    """Harm: an entry of another kind, of another book, with a field too many or too few, or with true for 1 is taken
    for one that the house wrote."""
    with pytest.raises(Unreadable):
        catalog.read(subject, kind, spelling.spell(subject, content, ()))


SHOE = {"number": 3, "decks": 6, "source": "keyed", "burn": 5}
RELIEF = {"name": "Dan", "relieves": "dora"}
PAYMENT = {"slip": "correction/2026/4", "round": 17, "seat": 2, "due_cents": 1_600, "handed_cents": 0}
WORDS: list[tuple[str, str, dict[str, Any], str]] = [
    ("round", "paid", {"seat": 4}, "Seat 4 is done"),
    ("round", "take_back", {"corrects": 41, "actions": [{"do": "card", "rank": 3, "to": 0}]},
     "Takes back entry 41: Dealer: 3"),
    ("round", "take_back", {"corrects": 41, "seat": 4}, "Takes back entry 41: seat 4 is not done"),
    ("shoe", "cut_card_back", {"shoe": SHOE, "corrects": 41}, "Takes back entry 41: the cut card is not out"),
    ("shoe", "loaded", {"shoe": SHOE}, "Shoe 3 is loaded: 6 decks, keyed"),
    ("shoe", "burned", {"shoe": SHOE}, "Shoe 3: 5 cards burned, ready"),
    ("shoe", "cut_card_out", {"shoe": SHOE}, "Shoe 3: the cut card is out, last round"),
    ("shoe", "deck_check_failed", {"shoe": SHOE, "counts": [6, 11]}, "Deck check of shoe 3 failed: counted 6, 11"),
    ("dealer", "signed_in", {"name": "Dan", "relieves": None}, "Dan takes the table"),
    ("dealer", "signed_in", RELIEF, "Dan takes the table, relieving dora"),
    ("dealer", "signed_in", RELIEF | {"confirmed_by": "bella"}, "Dan takes the table, relieving dora; bella agreed"),
    ("dealer", "signed_in", RELIEF | {"relieved": "Dora", "confirmed_by": "bella", "agreed": "Bella"},
     "Dan takes the table, relieving Dora; Bella agreed"),
    ("staff", "emergency_sign_in", {"username": "olga", "with": "omar"},
     "olga comes in by emergency codes, with that of omar"),
    ("table", "closed", {"rack_cents": 896_600}, "The table closes, 8,966 in the rack"),
    ("table", "settings_changed",
     {"before": {"min_cents": 1_000, "cap_cents": None, "options": {"decks": 1, "burn": 5}},
      "after": {"min_cents": 2_000, "cap_cents": 50_000, "options": {"decks": 6, "burn": 5}}},
     "Changed: cap 500, min 10 → 20, decks 1 → 6"),
    ("table", "settings_changed",
     {"before": {}, "after": {"game": "rocket", "denominations": [500, 100], "options": {"start": "low_card"}}},
     "Set up: denominations 5 1, game rocket, start low card"),
    ("alert", "card_refused", {"rank": 1, "says": "no 1 is left"}, "A 1 is keyed, and refused: no 1 is left"),
    ("dispute", "opened",
     {"dispute": {"number": 3, "round": 17, "seat": 2, "claimant": "Seat 2", "claim": "not paid"}},
     "Dispute 3 about round 17, seat 2 is opened: Seat 2 claims: not paid"),
    ("dispute", "noted", {"dispute": {"number": 3}, "heard": "Dealer", "text": "does not remember"},
     "Dispute 3, Dealer: does not remember"),
    ("dispute", "ruled", {"dispute": {"number": 3, "ruling": "void", "reason": "An exposed card."}},
     "Dispute 3 is ruled: the round is void. An exposed card."),
    ("dispute", "closed", {"dispute": {"number": 3}, "corrections": ["correction/2026/4"], "text": ""},
     "Dispute 3 is closed: correction/2026/4"),
    ("correction", "signed", {"correction": PAYMENT, "name": "Boris"},
     "correction/2026/4: pay seat 2 16 for round 17, signed by Boris"),
    ("correction", "declined", {"correction": PAYMENT | {"due_cents": -400}, "text": "Taken already"},
     "correction/2026/4: take 4 from seat 2 for round 17, declined: Taken already"),
]  # fmt: skip


@pytest.mark.parametrize(("subject", "kind", "content", "words"), WORDS, ids=str)
def test_an_entry_in_words(subject: str, kind: str, content: dict[str, Any], words: str) -> None:
    """Harm: a reader who was not present does not understand the entry."""
    house = (subject, kind, False) not in examples()
    assert tell(subject, kind, content, house=house) == words


@pytest.mark.parametrize(
    ("actions", "words"),
    [
        ([{"do": "bet", "seat": 2, "amount_cents": 2_050}], "Seat 2 bets 20.50"),
        ([{"do": "bet", "seat": 2, "amount_cents": 0}], "Seat 2 takes its bet off"),
        ([{"do": "close_bets"}], "No more bets"),
        ([{"do": "card", "rank": 8, "to": 1}], "Seat 1: 8"),
        ([{"do": "card", "rank": 8, "to": 1}, {"do": "card", "rank": 3, "to": 0}], "Seat 1: 8, dealer: 3"),
        ([{"do": "choose", "seat": 4, "choice": "hit"}, {"do": "card", "rank": 7, "to": 4}], "Seat 4: hit, draws 7"),
        ([{"do": "choose", "seat": 4, "choice": "fold"}], "Seat 4: fold"),
        ([{"do": "shuffle"}], "The discards are shuffled"),
    ],
    ids=str,
)
def test_an_input_of_a_round_in_words(actions: list[dict[str, Any]], words: str) -> None:
    """Harm: somebody who was not there does not understand what happened."""
    assert tell("round", "play", {"actions": actions}) == words
