"""Entries are compared with the person that they name as their author."""

import pytest

from ledger.proof.chain import Entry
from tables.log.event import AuditFailure, refuse_other_author
from tables.log.signatory import with_badge_from


def entry(by: str) -> Entry:
    return Entry(
        book_id=1, book="house", seq=1, at=None, subject="day", kind="proposed", round=None, by=by, key=None, legs=0,
        body=b"", hash=b"",
    )  # fmt: skip


@pytest.mark.parametrize("by", ["101 Dora", "dora Dora"])
def test_an_entry_is_signed_by_badge_or_user_name_and_name(by: str) -> None:
    """Harm: a genuine signature under a day's figures or a proposal fails verification."""
    refuse_other_author(with_badge_from(by, "dora", "Dora"), entry(by).by)


@pytest.mark.parametrize(
    "by", ["102 Maria Dora", "maria Dora", "Maria Dora", "Dora", " Dora", "101 Dora ", "101  Dora"]
)
def test_a_name_that_only_ends_alike_is_another_person(by: str) -> None:
    """Harm: an entry by Maria Dora passes for the second signature of Dora."""
    with pytest.raises(AuditFailure, match="signed by"):
        refuse_other_author(with_badge_from(by, "dora", "Dora"), entry(by).by)
