"""The verifier for outsiders compares two signatures in the log of the house, if a bundle has both."""

from collections.abc import Sequence

import pytest

from ledger.proof.chain import Entry
from tables.audit.outside.house_pairs import HousePairs
from tables.log.entries.days import DayClosed, DayProposed
from tables.log.entries.proposals import ProposalApproved, ProposalDeclined, Proposed
from tables.log.entries.staff import CodeAsked, CodeConfirmed
from tables.log.event import AuditFailure, Event, refuse_signers

OLGA = {"username": "olga", "name": "Olga", "role": "operator"}
OMAR = {"username": "omar", "name": "Omar", "role": "operator"}
FIGURES = {"day": "2026-11-27", "figures": (), "digest": "00", "through": {}}
CODE = {"username": "dora", "secret": "pin", "half": "00"}

PROPOSED = Proposed(number=1, **OLGA, matter="chips", about="", before={}, after={}, comment="", expires="")
ASKED = CodeAsked(**CODE, signer="olga", signer_role="operator")
SIGNED = DayProposed(**FIGURES, **OLGA)


def entry(event: Event, seq: int, by: str) -> Entry:
    return Entry(
        book_id=1, book="house", seq=seq, at=None, subject=event.subject, kind=event.kind, round=None, by=by, key=None,
        legs=0, body=b"", hash=b"",
    )  # fmt: skip


def follow(*signed: tuple[Event, str]) -> None:
    """Follow entries of one bundle. Raises AuditFailure."""
    pairs = HousePairs()
    for seq, (event, by) in enumerate(signed, 1):
        refuse_signers(event, by, None)
        pairs.follow(event, entry(event, seq, by))


def confirmed(signer: str, *, alone: bool = False) -> CodeConfirmed:
    return CodeConfirmed(**CODE, signer=signer, signer_role="operator", asked=1, until="", alone=alone)


def closed(person: dict[str, str], proposed_by: str = "olga") -> DayClosed:
    return DayClosed(**FIGURES, **person, proposal=1, proposed_by=proposed_by)


HONEST: Sequence[Sequence[tuple[Event, str]]] = [
    [(PROPOSED, "301 Olga"), (ProposalApproved(number=1, **OMAR), "302 Omar")],
    [(ProposalApproved(number=1, **OMAR), "302 Omar")],
    [(ASKED, "301 Olga"), (confirmed("omar"), "302 Omar")],
    [(ASKED, "301 Olga"), (confirmed("olga", alone=True), "301 Olga")],
    [(confirmed("omar"), "302 Omar")],
    [(SIGNED, "301 Olga"), (closed(OMAR), "302 Omar")],
    [(closed(OMAR), "302 Omar")],
]


@pytest.mark.parametrize("signed", HONEST)
def test_two_people_are_verified(signed: Sequence[tuple[Event, str]]) -> None:
    """Harm: an honest bundle is not verified, or one whose first signature is of an earlier day."""
    follow(*signed)


FORGED: Sequence[tuple[Sequence[tuple[Event, str]], str]] = [
    ([(PROPOSED, "301 Olga"), (ProposalApproved(number=1, **OLGA), "301 Olga")], "not of two people"),
    ([(PROPOSED, "301 Olga"), (ProposalDeclined(number=1, **OMAR), "301 Omar")], "not of two people"),
    ([(ProposalApproved(number=1, **OMAR), "301 Olga")], "301 Olga wrote it"),
    ([(ASKED, "301 Olga"), (confirmed("olga"), "301 Olga")], "another person has to confirm it"),
    ([(ASKED, "301 Olga"), (confirmed("omar"), "301 Omar")], "another person has to confirm it"),
    ([(confirmed("dora"), "101 Dora")], "another person has to confirm it"),
    ([(confirmed("omar"), "olga Olga")], "olga Olga wrote it"),
    ([(closed(OLGA), "301 Olga")], "not of two people"),
    ([(SIGNED, "301 Olga"), (closed(OMAR), "301 Omar")], "not of two people"),
    ([(closed(OMAR), "302 Otto")], "302 Otto wrote it"),
]


@pytest.mark.parametrize(("signed", "sentence"), FORGED)
def test_one_person_is_found(signed: Sequence[tuple[Event, str]], sentence: str) -> None:
    """Harm: the casino seals a proposal, a code or a day that one person signed twice, and no outsider can tell."""
    with pytest.raises(AuditFailure, match=sentence):
        follow(*signed)
