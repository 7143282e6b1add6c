"""The rule for distinct people, and the comparison of an entry's author with its signer."""

import msgspec
import pytest

from tables.log.signatory import Signatory, author_fault, pair_fault, same_person_fault, with_badge_from

BELLA = Signatory("bella", "Bella", "201", "pit_boss")


@pytest.mark.parametrize(
    ("other", "is_same"),
    [
        (Signatory("bella", "Bella Brandt", "202", "operator"), True),
        (Signatory("bert", "Bert", "201", "cashier"), True),
        (Signatory("bella2", "Bella", "202", "pit_boss"), False),
        (Signatory("bert", "Bert", None, "cashier"), False),
    ],
)
def test_a_person_is_known_by_user_name_and_by_badge(other: Signatory, is_same: bool) -> None:
    """Harm: one person signs twice with a new badge or a second user name; or two people of one name cannot sign."""
    assert (BELLA.is_same_person(other), other.is_same_person(BELLA)) == (is_same, is_same)
    assert bool(same_person_fault(other, [BELLA])) is is_same
    assert bool(pair_fault((BELLA, other))) is is_same


def test_two_people_without_badges_are_two() -> None:
    """Harm: a missing badge number counts as one that both people share, and nobody without a badge signs second."""
    assert not pair_fault((Signatory("olga", "Olga", None, "operator"), Signatory("omar", "Omar", None, "operator")))


def test_the_sentence_says_what_was_done_and_what_is_due() -> None:
    """Harm: the second signer reads a refusal that does not say who has to sign instead."""
    fault = same_person_fault(BELLA, [BELLA], did="proposed it", to="approve it")
    assert fault == "Bella proposed it: another person has to approve it."
    alias = Signatory("bert", "Bert", "201", "pit_boss")
    assert same_person_fault(alias, [BELLA]) == (
        "Bella signed already under badge 201, which Bert has: another person has to sign."
    )


def test_the_author_is_compared_by_the_complete_signature() -> None:
    """Harm: an entry of another Bella, or under another badge, passes for Bella's signature."""
    assert not author_fault(BELLA, "201 Bella")
    for by in ("201 Maria Bella", "202 Bella", "bella Bella", "Bella", "201 Bella "):
        assert author_fault(BELLA, by) == f"it is signed by 201 Bella, and {by} wrote it"
    assert not author_fault(BELLA, "117 Bella", at_the_table="117 Bella")


def test_a_badge_is_read_from_the_heading_where_an_entry_stores_none() -> None:
    """Harm: a person with a numeric user name is taken for the holder of that badge."""
    assert with_badge_from("201 Bella", "bella", "Bella", "pit_boss") == BELLA
    assert with_badge_from("205 Dan", "205", "Dan") == Signatory("205", "Dan", None, "")
    assert with_badge_from("dan Dan", "dan", "Dan").badge is None


def test_entries_store_a_second_signer_in_the_form_of_earlier_releases() -> None:
    """Harm: the hash of an entry of an earlier release no longer fits its content."""
    stored = b'{"username":"bella","name":"Bella","badge":null,"role":"pit_boss"}'
    assert msgspec.json.encode(msgspec.json.decode(stored, type=Signatory)) == stored
